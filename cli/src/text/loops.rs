//! `loop step`, `loop show` and `loop unbind`.

use serde_json::Value;

use super::page::{Page, Tone};
use super::quota::problems;
use super::time::relative;
use super::value::{instant, items, number, text, word, yes};

fn action(page: &Page, value: &Value) -> String {
    let action = value.get("action").unwrap_or(&Value::Null);
    match text(action, "kind") {
        "prompt" => format!("send the prompt of turn {}", word(action, "turn_id")),
        "wait" => match instant(action, "until") {
            Some(at) => format!("look again {}", relative(page.now(), at)),
            None => "wait".into(),
        },
        "recheck" => "look again at once".into(),
        kind @ ("pause" | "stop") => {
            format!("{kind}: {}", text(action, "reason").replace('_', " "))
        }
        _ => "nothing".into(),
    }
}

fn tone(state: &str) -> Tone {
    match state {
        "armed" => Tone::Good,
        _ => Tone::Plain,
    }
}

fn one(page: &mut Page, value: &Value, row: &Value) {
    let reason = text(row, "reason").replace('_', " ");
    let who = [text(value, "goal_id"), text(row, "agent_id")].map(str::to_owned);
    let who: Vec<String> = who.into_iter().filter(|w| !w.is_empty()).collect();
    let state = text(row, "state");
    page.head(tone(state), state, &format!("{} ({})", word(row, "session_key"), who.join(" / ")));
    page.line("because", reason);
    let next = action(page, value);
    page.line("next", next);
    if let Some(pending) = row.get("pending").filter(|p| p.is_object()) {
        let todo = text(pending, "todo_id");
        let on = if todo.is_empty() { String::new() } else { format!(" on {todo}") };
        page.line("turn", format!("{}{on}", word(pending, "turn_id")));
    }
    if number(row, "unchanged") > 0 {
        page.line("unchanged", format!("{} looks in a row", number(row, "unchanged")));
    }
    if number(row, "failures") > 0 {
        page.line("failures", format!("{} in a row", number(row, "failures")));
    }
}

pub fn step(page: &mut Page, value: &Value) {
    one(page, value, value.get("loop").unwrap_or(&Value::Null));
    if yes(value, "stale") {
        page.line("stale", "another runtime has gone on since; nothing was changed");
    }
    let decision = value.get("decision").unwrap_or(&Value::Null);
    page.line("why", text(decision, "reason"));
    if let Some(notice) = value.get("notice") {
        page.line("tell", text(notice, "text"));
        for command in items(notice, "commands") {
            page.line("", command.as_str().unwrap_or_default());
        }
    }
    if let Some(prompt) = value.get("action").map(|a| text(a, "text")).filter(|t| !t.is_empty()) {
        for line in prompt.lines() {
            page.line("prompt", line);
        }
    }
}

pub fn list(page: &mut Page, value: &Value) {
    let rows = items(value, "loops");
    if rows.is_empty() && items(value, "unreadable_goals").is_empty() {
        page.head(Tone::Plain, "no loops", text(value, "goal_id"));
    }
    for row in rows {
        one(page, row, row);
    }
    let unreadable = items(value, "unreadable_goals");
    if !unreadable.is_empty() {
        page.section("goals that cannot be read, whose loops are not known");
        problems(page, unreadable);
    }
}

pub fn unbound(page: &mut Page, value: &Value) {
    let said = if yes(value, "unbound") { "unbound" } else { "no such loop" };
    page.head(Tone::Plain, said, text(value, "goal_id"));
}
