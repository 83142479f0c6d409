//! `goal list`, `goal show`, `agent list`.

use serde_json::Value;

use super::decision::window;
use super::history::commit_table;
use super::page::{Cell, Page, Tone};
use super::status::state_cell;
use super::time::relative;
use super::value::{instant, items, number, text, word, yes};

/// `goal changed-since`.
pub fn changed(page: &mut Page, value: &Value) {
    let (tone, said) = match (yes(value, "changed"), yes(value, "edited")) {
        (true, true) => (Tone::Wait, "changed, with hand edits of the state file"),
        (true, false) => (Tone::Wait, "changed"),
        (false, _) => (Tone::Good, "unchanged"),
    };
    page.head(tone, said, text(value, "goal_id"));
    page.line("commit", number(value, "commit").to_string());
}

pub fn list(page: &mut Page, value: &Value) {
    let goals = items(value, "goals");
    if goals.is_empty() {
        page.head(Tone::Dim, "no goals", "");
        page.command("next", "loopx goal create --goal-id NAME --objective TEXT --agent-id AGENT");
        return;
    }
    let rows = goals
        .iter()
        .map(|g| {
            let state = match (text(g, "error_code"), yes(g, "stopped")) {
                ("", true) => Cell::toned("stopped", Tone::Wait),
                ("", false) => Cell::from(word(g, "status")),
                (code, _) => Cell::toned(code, Tone::Bad),
            };
            let about = match text(g, "error") {
                "" => text(g, "objective"),
                error => error,
            };
            vec![
                Cell::from(word(g, "goal_id")),
                state,
                Cell::from(word(g, "allowed_slots")),
                Cell::from(word(g, "agents")),
                Cell::from(about),
            ]
        })
        .collect();
    page.table(&["goal", "state", "slots", "agents", "objective"], rows);
}

pub fn show(page: &mut Page, value: &Value) {
    page.head(Tone::Plain, text(value, "goal_id"), text(value, "objective"));
    let quota = value.get("quota").unwrap_or(&Value::Null);
    let state = if yes(value, "stopped") { "stopped" } else { text(quota, "state") };
    page.line("state", format!("{state} (rule {})", text(quota, "rule")));
    page.line("status", text(value, "status"));
    page.line("agents", word(value, "agents"));
    window(page, quota);
    if let Some(at) = instant(quota, "next_eligible_at") {
        page.line("slot free", relative(page.now(), at));
    }
    page.line(
        "open",
        format!(
            "{} of agents, {} of people",
            number(quota, "open_agent_todos"),
            number(quota, "open_user_todos")
        ),
    );
    page.line("may write", word(value, "write_scope"));
    page.line("state file", word(value, "state_file"));
    page.line("goal uid", word(value, "goal_uid"));
    if !yes(value, "imported") {
        page.line("store", "none yet: the first write imports the earlier tool's files");
    }
    for problem in items(quota, "health") {
        page.line("problem", format!("{}: {}", text(problem, "code"), text(problem, "message")));
        page.command("mend", text(problem, "next_command"));
    }
    commit_table(page, items(value, "commits"));
}

pub fn agents(page: &mut Page, value: &Value) {
    let agents = items(value, "agents");
    let goal = text(value, "goal_id");
    if agents.is_empty() {
        page.head(Tone::Dim, "no agents", &format!("goal {goal} has no roster"));
        page.command("next", format!("loopx agent register --goal-id {goal} --agent-id AGENT"));
        return;
    }
    let rows = agents
        .iter()
        .map(|a| {
            let mut row = vec![Cell::from(word(a, "agent_id")), Cell::from(word(a, "work_mode"))];
            if let Some(state) = a.get("state").and_then(Value::as_str) {
                row.push(state_cell(state));
            }
            row
        })
        .collect();
    page.table(&["agent", "work mode", "state"], rows);
}

pub fn acceptance(page: &mut Page, value: &Value) {
    let goal = text(value, "goal_id");
    let entries = items(value, "acceptance");
    if entries.is_empty() {
        page.head(Tone::Dim, "nothing has to be so", goal);
        page.command("next", format!("loopx goal accept add --goal-id {goal} --text TEXT"));
        return;
    }
    let met = entries.iter().filter(|e| yes(e, "met")).count();
    page.head(Tone::Plain, goal, &format!("{met} of {} met", entries.len()));
    let rows = entries
        .iter()
        .map(|e| {
            let state = if yes(e, "met") { ("met", Tone::Good) } else { ("open", Tone::Wait) };
            vec![
                Cell::from(word(e, "index")),
                Cell::toned(state.0, state.1),
                Cell::from(text(e, "text")),
            ]
        })
        .collect();
    page.wrapped_table(&["n", "state", "text"], rows);
}
