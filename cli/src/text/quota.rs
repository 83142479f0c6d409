//! `quota status` and `quota plan`.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::status::state_cell;
use super::time::relative;
use super::value::{count, instant, items, number, text, word};

const HEAD: [&str; 8] =
    ["goal", "state", "spent", "allowed", "reserved", "window", "slot free", "rule"];

pub fn windows(page: &mut Page, value: &Value) {
    let goals = items(value, "goals");
    if goals.is_empty() {
        page.head(Tone::Dim, "no goals", "");
        return;
    }
    let rows = goals.iter().map(|g| row(page, g)).collect();
    page.table(&HEAD, rows);
    problems(page, goals);
}

fn row(page: &Page, goal: &Value) -> Vec<Cell> {
    let hours = word(goal, "window_hours");
    vec![
        Cell::from(word(goal, "goal_id")),
        state_cell(text(goal, "state")),
        Cell::from(word(goal, "spent_slots")),
        Cell::from(word(goal, "allowed_slots")),
        Cell::from(word(goal, "reserved_slots")),
        Cell::from(if hours == "-" { hours } else { format!("{hours} h") }),
        Cell::from(
            instant(goal, "next_eligible_at")
                .map_or_else(|| "-".to_owned(), |at| relative(page.now(), at)),
        ),
        Cell::from(match text(goal, "error_code") {
            "" => word(goal, "rule"),
            code => code.to_owned(),
        }),
    ]
}

/// What keeps goals from running, with the command that mends it.
pub fn problems(page: &mut Page, goals: &[Value]) {
    for goal in goals {
        let name = text(goal, "goal_id");
        if !text(goal, "error").is_empty() {
            page.line(name, text(goal, "error"));
            page.command("", text(goal, "next_command"));
        }
        for problem in items(goal, "health") {
            page.line(name, format!("{}: {}", text(problem, "code"), text(problem, "message")));
            page.command("", text(problem, "next_command"));
        }
    }
}

pub fn plan(page: &mut Page, value: &Value) {
    let summary = value.get("summary").unwrap_or(&Value::Null);
    let goals = count(number(summary, "registered_goals"), "goal");
    match summary.get("next_automatic_turn").filter(|t| t.is_object()) {
        Some(turn) => {
            let agent = word(turn, "agent_id");
            let who = if agent == "-" { String::new() } else { format!(" / {agent}") };
            page.head(Tone::Good, "next", &format!("{}{who}", text(turn, "goal_id")));
            page.line("todo", text(turn, "todo_id"));
            page.line("rule", text(turn, "rule"));
            page.command("ask", text(turn, "next_command"));
        }
        None => page.head(Tone::Wait, "nothing to run", &goals),
    }
    for group in items(value, "groups") {
        let goals = items(group, "goals");
        page.section(text(group, "state"));
        let rows = goals
            .iter()
            .map(|g| {
                vec![
                    Cell::from(word(g, "goal_id")),
                    Cell::from(word(g, "run_agents")),
                    Cell::from(word(g, "compute")),
                    Cell::from(format!(
                        "{} / {}",
                        word(g, "spent_slots"),
                        word(g, "allowed_slots")
                    )),
                    Cell::from(match text(g, "error_code") {
                        "" => word(g, "rule"),
                        code => code.to_owned(),
                    }),
                ]
            })
            .collect();
        page.table(&["goal", "may run", "compute", "spent", "rule"], rows);
        problems(page, goals);
    }
}
