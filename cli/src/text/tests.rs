//! Snapshots of what no command reaches at will: the refusal of every row of the
//! catalogue, as JSON and as text; and any other answer.

use loopx_core::error::CATALOGUE;
use loopx_core::model::Instant;
use loopx_core::{Error, ErrorCode};
use serde_json::json;

use super::{Style, render};

fn plain() -> Style {
    Style {
        colour: false,
        width: None,
        now: Instant::parse("2026-11-29T21:00:00Z").unwrap_or_default(),
    }
}

#[test]
fn every_error_as_json_and_as_text() {
    let mut all = String::new();
    for row in CATALOGUE {
        let value = Error::new(row.code, "what it is about").to_json();
        all.push_str(&format!("{value}\n{}\n", render(&value, plain())));
    }
    insta::assert_snapshot!("every_error", all);
}

#[test]
fn a_refusal_is_red_on_a_terminal_and_acts_on_nothing() {
    let error = Error::new(ErrorCode::TodoUnknown, "todo_1").message("a\u{1b}[2Jb\nc\u{202e}d");
    let text = render(&error.to_json(), Style { colour: true, ..plain() });
    assert!(
        text.starts_with("\u{1b}[31;1mrefused\u{1b}[0m  a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\n"),
        "{text:?}"
    );
}

#[test]
fn an_answer_of_no_known_kind_is_shown_field_by_field() {
    let value = json!({
        "ok": true,
        "goal_id": "demo",
        "checked_at": "2026-11-29T20:30:00Z",
        "stores": 2,
        "empty": [],
        "nothing": null,
        "names": ["a", "b"],
        "rows": [
            {"text": "first", "todo_id": "todo_1", "until": "2026-11-29T21:12:00Z"},
            {"text": "second", "todo_id": "todo_2", "deep": {"a": [1, {"b": true}]}},
        ],
        "inner": {"page_count": 3, "at": {"x": 1}},
        "next_command": "loopx status",
    });
    insta::assert_snapshot!("any_answer", render(&value, plain()));
}

#[test]
fn loops_of_goals_that_cannot_be_read_are_not_said_to_be_none() {
    let value = json!({
        "ok": true,
        "loops": [],
        "unreadable_goals": [{
            "goal_id": "demo", "error_code": "store_unreadable", "error": "a record cannot be read",
            "about": "store", "next_command": "loopx store check",
        }],
    });
    let text = render(&value, plain());
    assert!(text.contains("whose loops are not known"), "{text}");
    assert!(
        text.contains("a record cannot be read") && text.contains("loopx store check"),
        "{text}"
    );
    assert!(!text.contains("no loops"), "{text}");
}
