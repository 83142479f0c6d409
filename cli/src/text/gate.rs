//! `gate list` and `gate grants`.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::quota::problems;
use super::time::{distance, minute, relative, span};
use super::value::{count, instant, items, text, word};

/// How many there are of a list.
pub fn many(list: &[Value], one: &str) -> String {
    count(u64::try_from(list.len()).unwrap_or(u64::MAX), one)
}

pub fn list(page: &mut Page, value: &Value) {
    let goal = text(value, "goal_id");
    let (gates, actions) = (items(value, "gates"), items(value, "actions"));
    if gates.is_empty() {
        page.head(Tone::Dim, "no gates", goal);
    } else {
        page.head(
            Tone::Plain,
            if goal.is_empty() { "all goals" } else { goal },
            &format!("{}, oldest first", many(gates, "gate") + " open"),
        );
    }
    // Where one goal was asked for, every row is of it.
    let of = |row: &Value| if goal.is_empty() { word(row, "goal_id") } else { "-".to_owned() };
    if !gates.is_empty() {
        let rows = gates
            .iter()
            .map(|g| {
                vec![
                    Cell::from(word(g, "todo_id")),
                    Cell::from(of(g)),
                    Cell::from(word(g, "priority")),
                    Cell::from(waits(g)),
                    Cell::from(text(g, "blocks")),
                    Cell::from(text(g, "question")),
                ]
            })
            .collect();
        page.table(&["gate", "goal", "priority", "waits", "blocks", "question"], rows);
    }
    if let Some(first) = gates.first() {
        page.command("decide", text(first, "next_command"));
    }
    if !actions.is_empty() {
        page.section("for a person to do");
        let rows = actions
            .iter()
            .map(|a| {
                vec![
                    Cell::from(word(a, "todo_id")),
                    Cell::from(of(a)),
                    Cell::from(waits(a)),
                    Cell::from(word(a, "agent_id")),
                    Cell::from(text(a, "question")),
                ]
            })
            .collect();
        page.table(&["todo", "goal", "waits", "for agent", "text"], rows);
    }
    problems(page, items(value, "unreadable_goals"));
}

/// `3 h (since 2026-11-29T17:57Z)`.
fn waits(row: &Value) -> String {
    let since = instant(row, "opened_at").map(minute).unwrap_or_default();
    match row.get("age_minutes").and_then(Value::as_u64) {
        Some(minutes) => format!("{} (since {since})", span(minutes)),
        None => "-".to_owned(),
    }
}

pub fn grants(page: &mut Page, value: &Value) {
    let goal = text(value, "goal_id");
    let grants = items(value, "grants");
    if grants.is_empty() {
        page.head(Tone::Dim, "no grants", goal);
        return;
    }
    page.head(Tone::Plain, goal, &many(grants, "grant"));
    let rows = grants
        .iter()
        .map(|g| {
            let agent = word(g, "agent_id");
            vec![
                Cell::from(word(g, "grant_id")),
                Cell::from(word(g, "scope")),
                Cell::from(if agent == "-" { "every agent".to_owned() } else { agent }),
                Cell::from(lasts(page, g)),
                Cell::from(word(g, "gate")),
                Cell::from(
                    instant(g, "granted_at")
                        .map_or_else(|| "-".to_owned(), |at| relative(page.now(), at)),
                ),
            ]
        })
        .collect();
    page.table(&["grant", "scope", "to", "lasts", "gate", "granted"], rows);
}

/// How long a grant holds, in words.
pub fn lasts(page: &Page, grant: &Value) -> String {
    match (text(grant, "life"), instant(grant, "until")) {
        (_, Some(at)) => format!("until {}, {}", minute(at), distance(page.now(), at)),
        ("once", _) => "for one completion".to_owned(),
        ("standing", _) => "until it is withdrawn".to_owned(),
        (other, _) => other.to_owned(),
    }
}
