//! Receipts: what a write has done, in one sentence, and what comes next.

use serde_json::Value;

use super::gate::lasts;
use super::page::{Page, Tone};
use super::time::relative;
use super::value::{count, instant, items, number, shown, text, word, yes};

/// What ends most receipts: the commit and how to go on.
pub fn foot(page: &mut Page, value: &Value) {
    if let Some(commit) = value.get("commit") {
        let at = instant(value, "at")
            .map(|at| format!(", {}", relative(page.now(), at)))
            .unwrap_or_default();
        // Which goal: the one that was found may be another folder's.
        let goal = text(value, "goal_id");
        let of = if goal.is_empty() { String::new() } else { format!(" of {goal}") };
        page.line("commit", format!("{}{of}{at}", shown(commit)));
    }
    if yes(value, "idempotent_replay") {
        page.line("repeat", "this was done before; nothing was done again");
    }
    for finding in items(value, "findings") {
        page.line("finding", format!("{}: {}", text(finding, "code"), text(finding, "message")));
        page.command("mend", text(finding, "next_command"));
    }
    if let Some(problem) = value.get("global_projection").filter(|p| p.get("error").is_some()) {
        page.line("global", format!("not in the global registry: {}", text(problem, "error")));
        page.command("", text(problem, "next_command"));
    }
    page.command("next", text(value, "next_command"));
}

fn head(page: &mut Page, word: &str, rest: &str) {
    page.head(Tone::Good, word, rest);
}

fn preview(page: &mut Page, rest: &str) {
    page.head(Tone::Wait, "preview", rest);
}

fn todo_line(page: &mut Page, value: &Value) {
    page.line("todo", text(value, "todo"));
}

pub fn completed(page: &mut Page, value: &Value) {
    let said = match text(value, "decision_outcome") {
        "approve" => "approved",
        "reject" => "rejected",
        "cancel" => "cancelled",
        _ => "completed",
    };
    head(page, said, text(value, "todo_id"));
    todo_line(page, value);
    page.line(
        "then",
        match text(value, "completion_continuation") {
            "no_followup" => "nothing follows".to_owned(),
            "successor" => "a successor follows".to_owned(),
            "active_goal" => "the goal goes on".to_owned(),
            other => other.to_owned(),
        },
    );
    for next in items(value, "next_todos") {
        page.line("follows", format!("{}  {}", word(next, "todo_id"), text(next, "todo")));
    }
    for id in items(value, "resumed_todo_ids") {
        page.line("opened", shown(id));
    }
    if let Some(grant) = value.get("grant").filter(|g| g.is_object()) {
        page.line("granted", format!("{} {}", word(grant, "scope"), lasts(page, grant)));
    }
    foot(page, value);
}

pub fn added(page: &mut Page, value: &Value) {
    let said = match (yes(value, "added"), yes(value, "metadata_updated")) {
        (true, _) => "added",
        (false, true) => "updated",
        (false, false) => "unchanged",
    };
    head(page, said, text(value, "todo_id"));
    todo_line(page, value);
    page.line(
        "list",
        format!(
            "{}, {}, {}",
            text(value, "role"),
            text(value, "task_class"),
            text(value, "status")
        ),
    );
    page.line("blocks", text(value, "blocks"));
    if yes(value, "already_exists") {
        page.line("note", "an unfinished todo of that text was there already");
    }
    foot(page, value);
}

pub fn claimed(page: &mut Page, value: &Value) {
    head(page, "claimed", &format!("{} by {}", text(value, "todo_id"), text(value, "claimed_by")));
    if value.get("changed") == Some(&Value::Bool(false)) {
        page.line("note", "it was claimed before");
    }
    foot(page, value);
}

pub fn updated(page: &mut Page, value: &Value) {
    head(page, if yes(value, "changed") { "updated" } else { "unchanged" }, text(value, "todo_id"));
    todo_line(page, value);
    page.line("status", text(value, "status"));
    foot(page, value);
}

pub fn spent(page: &mut Page, value: &Value) {
    let slots = count(number(value, "slots"), "slot");
    let agent = word(value, "agent_id");
    let by = if agent == "-" { String::new() } else { format!(" by {agent}") };
    if yes(value, "dry_run") {
        preview(page, &format!("{slots}{by}; nothing was spent"));
    } else {
        head(page, "spent", &format!("{slots}{by}"));
    }
    page.line("todo", text(value, "todo_id"));
    page.line("turn", text(value, "turn_instance_id"));
    page.line("source", text(value, "source"));
    let before = value.get("before").unwrap_or(&Value::Null);
    let after = value.get("after").unwrap_or(&Value::Null);
    page.line(
        "window",
        format!(
            "{} of {} slots before, {} after, last {} h",
            number(before, "spent_slots"),
            number(before, "allowed_slots"),
            number(after, "spent_slots"),
            word(after, "window_hours"),
        ),
    );
    if yes(value, "dry_run") {
        page.line("act", "add --execute");
    }
    foot(page, value);
}

pub fn recorded(page: &mut Page, value: &Value) {
    head(page, "recorded", text(value, "delivery_outcome"));
    page.line("as", text(value, "classification"));
    page.line("agent", text(value, "agent_id"));
    page.line("todo", text(value, "todo_id"));
    page.line("turn", text(value, "turn_instance_id"));
    if yes(value, "spendable") {
        let goal = text(value, "goal_id");
        let flag = |name: &str, key: &str| match text(value, key) {
            "" => String::new(),
            said => format!(" --{name} {said}"),
        };
        page.command(
            "spend",
            format!(
                "loopx quota spend-slot --goal-id {goal}{}{}{} --execute",
                flag("agent-id", "agent_id"),
                flag("todo-id", "todo_id"),
                flag("turn-instance-id", "turn_instance_id"),
            ),
        );
    }
    foot(page, value);
}

pub fn created(page: &mut Page, value: &Value) {
    head(page, "created", text(value, "goal_id"));
    if !items(value, "agents").is_empty() {
        page.line("agents", word(value, "agents"));
    }
    let file = text(value, "state_file");
    let connected = if yes(value, "state_file_connected") {
        format!("{file} (was there; {} taken in)", count(number(value, "todos"), "todo"))
    } else {
        file.to_owned()
    };
    page.line("state file", connected);
    page.line("goal uid", text(value, "goal_uid"));
    foot(page, value);
}

pub fn registered(page: &mut Page, value: &Value) {
    let new = word(value, "registered");
    head(
        page,
        if new == "-" { "unchanged" } else { "registered" },
        if new == "-" { "" } else { &new },
    );
    page.line("goal", text(value, "goal_id"));
    page.line("roster", word(value, "agents"));
    for changed in items(value, "canonicalised") {
        page.line(
            "written",
            format!("{} as {}", word(changed, "given"), word(changed, "agent_id")),
        );
    }
    foot(page, value);
}

pub fn register_preview(page: &mut Page, value: &Value) {
    preview(page, &format!("register {}", word(value, "requested_agents")));
    page.line("goal", text(value, "goal_id"));
    let there: Vec<String> =
        items(value, "existing_agents").iter().map(|a| word(a, "agent_id")).collect();
    page.line("roster", there.join(", "));
    page.line("act", "add --execute");
}

pub fn moved(page: &mut Page, value: &Value) {
    head(
        page,
        if yes(value, "changed") { text(value, "state") } else { "unchanged" },
        text(value, "goal_id"),
    );
    page.line("state", format!("{}, before {}", word(value, "state"), word(value, "before")));
    page.line("reason", text(value, "reason"));
    foot(page, value);
}

pub fn move_preview(page: &mut Page, value: &Value) {
    preview(page, &format!("{} {}", text(value, "operation"), text(value, "goal_id")));
    page.line("now", if yes(value, "stopped") { "stopped" } else { "active" });
    page.line("act", "add --execute");
}

pub fn exported(page: &mut Page, value: &Value) {
    head(page, "exported", text(value, "goal_id"));
    page.line("size", format!("{} bytes", number(value, "bytes")));
}

pub fn imported(page: &mut Page, value: &Value) {
    head(page, "imported", text(value, "goal_id"));
    page.line("records", word(value, "rows"));
    page.line("goal uid", text(value, "goal_uid"));
    page.command("next", format!("loopx status --goal-id {}", text(value, "goal_id")));
    foot(page, value);
}
