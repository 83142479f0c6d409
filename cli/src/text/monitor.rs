//! `monitor list` and `quota monitor-poll`.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::receipt::foot;
use super::time::relative;
use super::value::{instant, items, number, text, word, yes};

pub fn list(page: &mut Page, value: &Value) {
    let goal = text(value, "goal_id");
    let monitors = items(value, "monitors");
    if monitors.is_empty() {
        page.head(Tone::Dim, "no monitors", goal);
        return;
    }
    let due = number(value, "due_count");
    page.head(
        Tone::Plain,
        goal,
        &format!("{} open, {due} due", super::gate::many(monitors, "monitor")),
    );
    let rows = monitors
        .iter()
        .map(|m| {
            let status = text(m, "status");
            vec![
                Cell::from(word(m, "todo_id")),
                when(page, m),
                Cell::from(word(m, "cadence")),
                Cell::from(
                    instant(m, "last_checked_at")
                        .map_or_else(|| "never".to_owned(), |at| relative(page.now(), at)),
                ),
                Cell::from(format!(
                    "{} of {}",
                    number(m, "consecutive_no_change"),
                    word(m, "unchanged_limit")
                )),
                Cell::from(if status == "open" { "-" } else { status }),
                Cell::from(word(m, "claimed_by")),
                Cell::from(text(m, "text")),
            ]
        })
        .collect();
    page.table(
        &["monitor", "due", "every", "last look", "unchanged", "status", "claimed by", "text"],
        rows,
    );
}

fn when(page: &Page, monitor: &Value) -> Cell {
    if yes(monitor, "expired") {
        return Cell::toned("expired", Tone::Dim);
    }
    match (yes(monitor, "due"), instant(monitor, "next_due_at")) {
        (true, Some(at)) => Cell::toned(format!("due {}", relative(page.now(), at)), Tone::Good),
        (true, None) => Cell::toned("due now", Tone::Good),
        (false, Some(at)) => Cell::from(relative(page.now(), at)),
        (false, None) => Cell::toned("no schedule", Tone::Wait),
    }
}

pub fn polled(page: &mut Page, value: &Value) {
    let id = text(value, "todo_id");
    let seen = if yes(value, "changed") { "it has changed" } else { "nothing changed" };
    if yes(value, "dry_run") {
        page.head(Tone::Wait, "preview", &format!("{id}: {seen}; nothing was recorded"));
    } else {
        page.head(Tone::Good, "recorded", &format!("{id}: {seen}"));
    }
    page.line("agent", text(value, "agent_id"));
    let unchanged = number(value, "consecutive_no_change");
    if unchanged > 0 {
        let replan = if yes(value, "replan_required") { "; it is to be planned anew" } else { "" };
        page.line(
            "unchanged",
            format!("{} in a row{replan}", super::value::count(unchanged, "look")),
        );
    }
    if let Some(at) = instant(value, "next_due_at") {
        page.line("next look", relative(page.now(), at));
    }
    page.line("every", text(value, "cadence"));
    page.line("seen", text(value, "result_hash"));
    for next in items(value, "next_todos") {
        page.line("follows", format!("{}  {}", word(next, "todo_id"), text(next, "todo")));
    }
    if yes(value, "dry_run") {
        page.line("act", "add --execute");
    }
    foot(page, value);
}
