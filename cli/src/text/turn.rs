//! `turn show` and `turn settle`; `turn admit` is shown as the decision that it is.

use serde_json::{Value, json};

use super::decision::decision;
use super::page::{Page, Tone};
use super::receipt::foot;
use super::time::relative;
use super::value::{count, instant, items, number, shown, text, word, yes};

fn who(value: &Value, agent: &str) -> String {
    let goal = text(value, "goal_id");
    if agent.is_empty() { goal.to_owned() } else { format!("{goal} / {agent}") }
}

pub fn show(page: &mut Page, value: &Value) {
    let turn = value.get("turn").unwrap_or(&Value::Null);
    let lapsed = yes(value, "lapsed");
    let state = if lapsed { "lapsed" } else { text(turn, "state") };
    let tone = match state {
        "live" => Tone::Good,
        "lapsed" => Tone::Bad,
        _ => Tone::Plain,
    };
    page.head(
        tone,
        state,
        &format!("{} of {}", word(turn, "turn_id"), who(value, text(turn, "agent"))),
    );
    page.line("todo", text(turn, "todo_id"));
    page.line("rule", text(turn, "rule"));
    if let Some(at) = instant(turn, "at") {
        page.line("admitted", relative(page.now(), at));
    }
    if let Some(at) = instant(turn, "expires_at") {
        page.line(if lapsed { "ended" } else { "ends" }, relative(page.now(), at));
    }
    if number(turn, "reserved") > 0 {
        page.line("reserved", count(number(turn, "reserved"), "slot"));
    }
    if yes(turn, "took_claim") {
        page.line("claim", "it claimed the todo, which nobody had claimed");
    }
    if let Some(lease) = value.get("lease").filter(|l| l.is_object()) {
        let until = instant(lease, "expires_at")
            .map_or_else(String::new, |at| format!(", ends {}", relative(page.now(), at)));
        let free = if yes(lease, "released") { ", given back".to_owned() } else { until };
        page.line(
            "lease",
            format!("held by {}, epoch {}{free}", word(lease, "owner"), word(lease, "epoch")),
        );
    }
    if let Some(holder) = turn.get("holder").filter(|h| h.is_object()) {
        page.line("holder", shown(holder));
    }
}

pub fn settled(page: &mut Page, value: &Value) {
    let agent = text(value, "agent_id");
    page.head(
        Tone::Good,
        "settled",
        &format!(
            "{} of {}: {}",
            word(value, "turn_instance_id"),
            who(value, agent),
            text(value, "outcome").replace('_', " ")
        ),
    );
    let status = match text(value, "status") {
        "" => String::new(),
        status => format!(" is {status}"),
    };
    match text(value, "todo_id") {
        "" => {}
        id => page.line("todo", format!("{id}{status}")),
    }
    for next in items(value, "next_todos") {
        page.line("follows", format!("{}  {}", word(next, "todo_id"), text(next, "todo")));
    }
    let spent = match number(value, "spent_slots") {
        0 => "nothing".to_owned(),
        n => count(n, "slot"),
    };
    page.line("spent", spent);
    for (key, said) in [
        ("late", "it was settled after its reservation had ended"),
        ("overrun", "the window is overrun"),
        ("fenced", "somebody else has taken the todo since; it stays as it is"),
    ] {
        if yes(value, key) {
            page.line(key, said);
        }
    }
    foot(page, value);
    let Some(next) = value.get("next").filter(|n| n.is_object()) else { return };
    page.section("next decision");
    let mut next = next.clone();
    if let Some(map) = next.as_object_mut() {
        map.entry("goal_id").or_insert_with(|| json!(text(value, "goal_id")));
        map.entry("agent_identity").or_insert_with(|| json!({ "agent_id": agent }));
    }
    decision(page, &next);
}
