//! The packet of `quota should-run`, with the sections that were asked for.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::time::{relative, span};
use super::value::{count, instant, items, number, shown, text, word, yes};

pub fn decision(page: &mut Page, value: &Value) {
    let run = yes(value, "should_run");
    let goal = text(value, "goal_id");
    let agent =
        value.pointer("/agent_identity/agent_id").and_then(Value::as_str).unwrap_or_default();
    let who = if agent.is_empty() { goal.to_owned() } else { format!("{goal} / {agent}") };
    let (tone, said) = if run { (Tone::Good, "run") } else { (Tone::Wait, "wait") };
    page.head(tone, said, &format!("{who}: {}", text(value, "reason")));
    if let Some(todo) = value.get("selected_todo").filter(|t| t.is_object()) {
        let id = match todo.get("todo_id") {
            Some(Value::String(id)) => id.as_str(),
            _ => "a new line of the state file",
        };
        page.line("todo", format!("{id}  {}", text(todo, "text")));
        if yes(todo, "claim_required_before_work") {
            page.line("claim", "claim it before working");
        }
    }
    let people = value.pointer("/interaction_contract/user_channel").unwrap_or(&Value::Null);
    let actions = items(people, "actions");
    for item in actions {
        page.line("person", format!("{}  {}", word(item, "todo_id"), text(item, "text")));
    }
    let more = number(people, "more");
    let hidden = more.saturating_sub(u64::try_from(actions.len()).unwrap_or(u64::MAX));
    if hidden > 0 {
        page.line("", format!("and {hidden} more"));
    }
    window(page, value.get("quota").unwrap_or(&Value::Null));
    if let Some(at) = instant(value, "next_eligible_at") {
        page.line("slot free", relative(page.now(), at));
    }
    hint(page, value.get("scheduler_hint").unwrap_or(&Value::Null));
    for finding in items(value, "findings") {
        page.line(
            "finding",
            format!(
                "{} ({}): {}",
                text(finding, "code"),
                text(finding, "about"),
                text(finding, "message")
            ),
        );
        page.command("mend", text(finding, "next_command"));
    }
    let commands = value.pointer("/interaction_contract/cli_channel/next_cli_actions");
    for command in commands.and_then(Value::as_array).into_iter().flatten() {
        page.command("next", shown(command));
    }
    let rule = text(value, "rule");
    page.line(
        "rule",
        match value.get("rule_order").and_then(Value::as_u64) {
            Some(order) => format!("{order} {rule}"),
            None => rule.to_owned(),
        },
    );
    if yes(value, "idempotent_replay") {
        page.line("repeat", "this turn was answered before; nothing was done again");
    }
    details(page, value);
}

/// Slots of a window in one line.
pub fn window(page: &mut Page, quota: &Value) {
    if !quota.is_object() {
        return;
    }
    if quota.get("spent_slots").is_some_and(Value::is_null) {
        return page.line(
            "window",
            format!(
                "{}, how many are spent is not known",
                count(number(quota, "allowed_slots"), "slot")
            ),
        );
    }
    page.line(
        "window",
        format!(
            "{} of {} slots spent, {} reserved, last {} h",
            number(quota, "spent_slots"),
            number(quota, "allowed_slots"),
            number(quota, "reserved_slots"),
            word(quota, "window_hours"),
        ),
    );
}

fn hint(page: &mut Page, hint: &Value) {
    let action = text(hint, "action").replace('_', " ");
    match hint.get("next_check_minutes").and_then(Value::as_u64) {
        Some(0) | None => page.line("again", action),
        Some(minutes) => page.line("again", format!("{action}, next look in {}", span(minutes))),
    }
    let Some(app) = hint.get("app_automation") else { return };
    if let Some(rrule) = app.get("recommended_rrule").and_then(Value::as_str) {
        page.line("schedule", format!("set {rrule}, then acknowledge it"));
    } else if app.get("applicability").and_then(Value::as_str) == Some("applicable") {
        page.line("schedule", text(app, "host_action").replace('_', " "));
    }
}

fn details(page: &mut Page, value: &Value) {
    if let Some(section) = value.get("agent_todos").filter(|s| s.is_object()) {
        page.section(&format!("agent todos ({})", count(number(section, "count"), "open todo")));
        let rows = items(section, "todos")
            .iter()
            .map(|t| {
                let eligible = yes(t, "eligible");
                vec![
                    Cell::from(word(t, "todo_id")),
                    if eligible {
                        Cell::toned("eligible", Tone::Good)
                    } else {
                        Cell::toned(held(t), Tone::Wait)
                    },
                    Cell::from(text(t, "task_class")),
                    Cell::from(text(t, "text")),
                ]
            })
            .collect();
        page.table(&["todo", "state", "class", "text"], rows);
    }
    if let Some(section) = value.get("user_todos").filter(|s| s.is_object()) {
        page.section("user todos");
        let rows = items(section, "todos")
            .iter()
            .map(|t| {
                let reach = match (yes(t, "blocks_agent"), yes(t, "concerns_agent")) {
                    (true, _) => "blocks this agent",
                    (false, true) => "concerns this agent",
                    _ => "-",
                };
                vec![
                    Cell::from(word(t, "todo_id")),
                    Cell::from(text(t, "task_class")),
                    Cell::from(reach),
                    Cell::from(text(t, "text")),
                ]
            })
            .collect();
        page.table(&["todo", "class", "reach", "text"], rows);
    }
    if let Some(boundary) = value.get("goal_boundary").filter(|s| s.is_object()) {
        page.section("boundary");
        page.line("may write", word(boundary, "write_scope"));
        page.line("can", word(boundary, "available_capabilities"));
        page.line("rule", text(boundary, "rule").replace('_', " "));
    }
    if let Some(detail) = value.pointer("/scheduler_hint/cold_path_detail") {
        ladders(page, detail);
    }
}

/// The ladder, what an unchanged limit leads to, and what comes due; the rest is for
/// machines.
fn ladders(page: &mut Page, detail: &Value) {
    page.section("ladder");
    let local = detail.get("local_scheduler").unwrap_or(&Value::Null);
    page.line("minutes", word(local, "example_progression_minutes"));
    if let Some(limit) = local.get("unchanged_poll_limit").and_then(Value::as_u64) {
        let then = text(local, "after_limit").replace('_', " ");
        let polls = count(limit, "unchanged poll");
        page.line("limit", format!("{polls}, then one recheck, then {then}"));
    }
    if let Some(recheck) = detail.get("frontier_recheck") {
        let seconds = number(recheck, "frontier_recheck_after_seconds");
        let what = text(recheck, "frontier_recheck_identity");
        page.line("due", format!("{what} in {}", span(seconds.div_ceil(60))));
    }
}

/// Every hold of a todo by its word, with what it names.
fn held(todo: &Value) -> String {
    let holds: Vec<String> = items(todo, "holds")
        .iter()
        .map(|hold| {
            let named = hold
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(key, v)| {
                    matches!(key.as_str(), "agent" | "gate" | "scope" | "missing" | "at" | "until")
                        && !v.is_null()
                })
                .map(|(_, v)| shown(v))
                .next();
            match named {
                Some(named) => format!("{} {named}", text(hold, "reason")),
                None => text(hold, "reason").to_owned(),
            }
        })
        .collect();
    holds.join(", ")
}
