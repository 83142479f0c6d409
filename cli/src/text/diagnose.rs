//! `diagnose` and `doctor`.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::value::{count, items, number, text, word, yes};

pub fn problems(page: &mut Page, value: &Value) {
    let problems = items(value, "problems");
    let goals = count(number(value, "goals_checked"), "goal");
    let n = u64::try_from(problems.len()).unwrap_or(0);
    match (yes(value, "blocking"), n) {
        (true, _) => {
            page.head(Tone::Bad, "blocked", &format!("{goals} checked, {}", count(n, "problem")))
        }
        (false, 0) => page.head(Tone::Good, "healthy", &format!("{goals} checked")),
        (false, _) => page.head(
            Tone::Wait,
            "nothing blocks",
            &format!("{goals} checked, {}", count(n, "remark")),
        ),
    }
    for problem in problems {
        let goal = text(problem, "goal_id");
        let of = if goal.is_empty() { String::new() } else { format!(" in {goal}") };
        page.section(&format!("{}: {}{of}", text(problem, "level"), text(problem, "code")));
        page.line("about", text(problem, "about"));
        page.line("what", text(problem, "message"));
        page.command("next", text(problem, "next_command"));
    }
}

/// `store check` of stores that have no problem; else it is a refusal.
pub fn checked(page: &mut Page, value: &Value) {
    for goal in items(value, "goals") {
        let name = text(goal, "goal_id");
        match goal.get("commit") {
            Some(commit) => {
                let todos = count(number(goal, "todos"), "todo");
                let commit = commit.as_u64().unwrap_or_default();
                page.head(
                    Tone::Good,
                    "ok",
                    &format!("{name}: commit {commit}, {todos}, no problems"),
                );
            }
            None => page.head(Tone::Good, "ok", &format!("{name}: no problems")),
        }
    }
}

/// `doctor`: the problems, then hosts and loops.
pub fn doctor(page: &mut Page, value: &Value) {
    problems(page, value);
    page.section("here");
    page.line("version", text(value, "version"));
    page.line("registry", text(value, "route"));
    let rows: Vec<Vec<Cell>> = items(value, "hosts")
        .iter()
        .map(|host| {
            let files: Vec<&str> = items(host, "files").iter().map(|f| text(f, "state")).collect();
            vec![
                Cell::from(text(host, "host")),
                Cell::from(word(host, "program")),
                Cell::from(word(host, "version")),
                Cell::from(if yes(host, "looping") { "yes" } else { "-" }),
                Cell::from(if files.is_empty() { "-".to_owned() } else { files.join(", ") }),
            ]
        })
        .collect();
    if !rows.is_empty() {
        page.section("hosts");
        page.table(&["host", "program", "version", "loops", "files"], rows);
    }
    let rows: Vec<Vec<Cell>> = items(value, "activations")
        .iter()
        .map(|row| {
            vec![
                Cell::from(text(row, "goal_id")),
                Cell::from(text(row, "agent_id")),
                Cell::from(word(row, "host_surface")),
            ]
        })
        .collect();
    if !rows.is_empty() {
        page.section("loops");
        page.table(&["goal", "agent", "on"], rows);
    }
}
