//! Starts and onboarding as text.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::receipt::foot;
use super::value::{items, number, text, word, yes};

/// `start-goal` as a preview.
pub fn guide(page: &mut Page, value: &Value) {
    let transaction = value.get("guided_transaction").unwrap_or(&Value::Null);
    let blocked = text(transaction, "blocked_by");
    let tone = if blocked.is_empty() { Tone::Good } else { Tone::Wait };
    let state = if blocked.is_empty() { "ready" } else { "open" };
    page.head(tone, state, &format!("start of {}; nothing is written yet", text(value, "goal_id")));
    page.line("goal text", text(value, "goal_text"));
    page.line("host", word(value, "host_surface"));
    page.line("agent", word(value, "agent_id"));
    if !blocked.is_empty() {
        page.line("open is", blocked.replace('_', " "));
    }
    for key in ["host_choices", "agent_choices"] {
        if value.get(key).is_some() {
            page.line("choices", word(value, key));
        }
    }
    page.section("steps");
    let rows = items(transaction, "ordered_steps")
        .iter()
        .map(|step| {
            vec![
                Cell::from(text(step, "state").replace('_', " ")),
                Cell::from(text(step, "id")),
                Cell::from(text(step, "what")),
            ]
        })
        .collect();
    page.table(&["state", "step", "what"], rows);
    let todos = items(value, "todos");
    if !todos.is_empty() {
        page.section(&format!("todos ({})", number(value, "todo_count")));
        for todo in todos {
            page.line("", todo.as_str().unwrap_or_default());
        }
    }
    page.command("next", text(value, "next_command"));
}

/// `start-goal --execute`.
pub fn started(page: &mut Page, value: &Value) {
    page.head(
        Tone::Good,
        "started",
        &format!(
            "{} / {} on {}",
            text(value, "goal_id"),
            text(value, "agent_id"),
            text(value, "host_surface")
        ),
    );
    page.line("objective", text(value, "objective"));
    for todo in items(value, "todos") {
        page.line("todo", format!("{}  {}", text(todo, "todo_id"), text(todo, "text")));
    }
    page.line("now", format!("put this: {}", text(value, "placement")));
    page.section("````text");
    page.verbatim(text(value, "task_body"));
    page.verbatim("````");
    page.command("ask", text(value, "next_command"));
}

/// `init` where the goal is there already.
pub fn connected(page: &mut Page, value: &Value) {
    page.head(Tone::Good, "connected", text(value, "goal_id"));
    page.line("objective", text(value, "objective"));
    page.line("agents", word(value, "agents"));
    page.line("state file", text(value, "state_file"));
    if !yes(value, "imported") {
        page.line(
            "note",
            "the goal is still in the earlier tool's files; the first write imports it",
        );
    }
    foot(page, value);
}

/// `agent-onboard --list-agent-types`.
pub fn types(page: &mut Page, value: &Value) {
    let rows = items(value, "canonical_agent_types")
        .iter()
        .map(|row| {
            vec![
                Cell::from(text(row, "agent_type")),
                Cell::from(text(row, "display_name")),
                Cell::from(word(row, "entry")),
                Cell::from(word(row, "accepted_inputs")),
            ]
        })
        .collect();
    page.table(&["host", "is", "entry", "also"], rows);
}

/// `agent-onboard`.
pub fn onboarding(page: &mut Page, value: &Value) {
    let identity = value.get("identity_selection").unwrap_or(&Value::Null);
    let activation = value.get("host_loop_activation").unwrap_or(&Value::Null);
    let allowed = yes(identity, "activation_allowed");
    let tone = if allowed { Tone::Good } else { Tone::Wait };
    let state = if allowed { "ready" } else { "open" };
    page.head(tone, state, &format!("{} on {}", text(value, "goal_id"), text(value, "agent_type")));
    page.line("agent", word(value, "agent_id"));
    page.line("identity", text(identity, "state").replace('_', " "));
    page.line("activation", text(activation, "state"));
    let skills = value.get("skill_delivery").unwrap_or(&Value::Null);
    page.line("skills", text(skills, "status").replace('_', " "));
    page.section("commands");
    let commands = value.get("commands").and_then(Value::as_object);
    for (name, command) in commands.into_iter().flatten() {
        page.command(&name.replace('_', " "), command.as_str().unwrap_or_default());
    }
}

/// `bootstrap-command-pack` and `codex-cli-bootstrap-message`.
pub fn pack(page: &mut Page, value: &Value) {
    page.head(Tone::Plain, text(value, "goal_id"), "what is pasted into the host first");
    page.section("````text");
    page.verbatim(text(value, "text").trim_end());
    page.verbatim("````");
    let commands = value.get("commands").and_then(Value::as_object);
    if commands.is_some() {
        page.section("commands");
    }
    for (name, command) in commands.into_iter().flatten() {
        page.command(&name.replace('_', " "), command.as_str().unwrap_or_default());
    }
}

/// `resolve-agent-thread`, and a preview or receipt of binding.
pub fn thread(page: &mut Page, value: &Value) {
    let (tone, head) = match yes(value, "dry_run") {
        true => (Tone::Wait, "preview"),
        false => (Tone::Good, "thread"),
    };
    page.head(tone, head, text(value, "status"));
    let binding = value.get("binding").unwrap_or(value);
    page.line("agent", word(binding, "agent_id"));
    page.line("host", word(binding, "host_surface"));
    page.line("thread", word(binding, "thread_id"));
    foot(page, value);
}
