//! Answers as text for a person at a terminal.

use std::fmt::Write as _;

use serde_json::Value;

struct Page {
    text: String,
    colour: bool,
}

impl Page {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn line(&mut self, label: &str, text: &str) {
        let text = visible(text);
        let label = self.paint("2", &format!("{label:<9}"));
        let _ = writeln!(self.text, "  {label} {text}");
    }

    fn head(&mut self, code: &str, word: &str, rest: &str) {
        let word = self.paint(code, word);
        let rest = visible(rest);
        let _ = writeln!(self.text, "{word}  {rest}");
    }
}

/// Stored text may hold control characters; a terminal must not act on them.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn str_of<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Renders any answer.
pub fn render(value: &Value, colour: bool) -> String {
    let mut page = Page { text: String::new(), colour };
    if value.get("ok") == Some(&Value::Bool(false)) {
        refusal(&mut page, value);
    } else if value.get("should_run").is_some() {
        decision(&mut page, value);
    } else if let Some(todos) = value.get("todos").and_then(Value::as_array) {
        todo_table(&mut page, value, todos);
    } else if let Some(goals) = value.get("goals").and_then(Value::as_array) {
        goal_table(&mut page, goals);
    } else {
        fields(&mut page, value);
    }
    page.text
}

fn refusal(page: &mut Page, value: &Value) {
    page.head("31;1", "refused", str_of(value, "/error"));
    page.line("code", str_of(value, "/error_code"));
    if !str_of(value, "/about").is_empty() {
        page.line("about", str_of(value, "/about"));
    }
    page.line("next", str_of(value, "/next_command"));
    for goal in value.get("goals").and_then(Value::as_array).into_iter().flatten() {
        let problems = goal.get("problems").and_then(Value::as_array);
        for problem in problems.into_iter().flatten() {
            let what = format!(
                "{}  {} ({}): {}",
                str_of(goal, "/goal_id"),
                str_of(problem, "/code"),
                str_of(problem, "/about"),
                str_of(problem, "/message")
            );
            page.line("problem", &what);
            page.line("next", str_of(problem, "/next_command"));
        }
    }
}

fn decision(page: &mut Page, value: &Value) {
    let run = value.get("should_run") == Some(&Value::Bool(true));
    let goal = str_of(value, "/goal_id");
    let agent = str_of(value, "/agent_identity/agent_id");
    let who = if agent.is_empty() { goal.to_owned() } else { format!("{goal} / {agent}") };
    let (code, word) = if run { ("32;1", "run") } else { ("33;1", "wait") };
    page.head(code, word, &format!("{who}: {}", str_of(value, "/reason")));
    if let Some(todo) = value.get("selected_todo").filter(|t| t.is_object()) {
        let id = todo.get("todo_id").map(shown).unwrap_or_default();
        page.line("todo", &format!("{id}  {}", str_of(todo, "/text")));
        if todo.get("claim_required_before_work") == Some(&Value::Bool(true)) {
            page.line("claim", "claim it before working");
        }
    }
    for item in value
        .pointer("/interaction_contract/user_channel/actions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        page.line(
            "person",
            &format!(
                "{}  {}",
                item.get("todo_id").map(shown).unwrap_or_default(),
                str_of(item, "/text")
            ),
        );
    }
    let quota = |key: &str| value.pointer(&format!("/quota/{key}")).map(shown).unwrap_or_default();
    page.line(
        "window",
        &format!(
            "{} of {} slots spent, {} reserved, {} h",
            quota("spent_slots"),
            quota("allowed_slots"),
            quota("reserved_slots"),
            quota("window_hours")
        ),
    );
    if let Some(at) = value.get("next_eligible_at") {
        page.line("free at", &shown(at));
    }
    let hint = str_of(value, "/scheduler_hint/action");
    match value.pointer("/scheduler_hint/next_check_minutes") {
        Some(minutes) => page.line("again", &format!("{hint}, next look in {minutes} min")),
        None => page.line("again", hint),
    }
    for finding in value.get("findings").and_then(Value::as_array).into_iter().flatten() {
        page.line(
            "finding",
            &format!(
                "{} ({}): {}",
                str_of(finding, "/code"),
                str_of(finding, "/about"),
                str_of(finding, "/message")
            ),
        );
    }
    for command in value
        .pointer("/interaction_contract/cli_channel/next_cli_actions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        page.line("next", &shown(command));
    }
    page.line(
        "rule",
        &format!(
            "{} {}",
            value.get("rule_order").map(shown).unwrap_or_default(),
            str_of(value, "/rule")
        ),
    );
}

fn table(page: &mut Page, head: &[&str], rows: &[Vec<String>]) {
    let mut widths: Vec<usize> = head.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut put = |cells: Vec<String>, code: Option<&str>| {
        let last = cells.len().saturating_sub(1);
        let line: String = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(i, (cell, width))| {
                if i == last {
                    cell.clone()
                } else {
                    format!("{cell}{}  ", " ".repeat(width - cell.chars().count()))
                }
            })
            .collect();
        let line = match code {
            Some(code) if page.colour => format!("\u{1b}[{code}m{line}\u{1b}[0m"),
            _ => line,
        };
        let _ = writeln!(page.text, "{}", line.trim_end());
    };
    put(head.iter().map(|h| (*h).to_owned()).collect(), Some("2"));
    for row in rows {
        put(row.iter().map(|c| visible(c)).collect(), None);
    }
}

fn todo_table(page: &mut Page, value: &Value, todos: &[Value]) {
    if todos.is_empty() {
        let next = str_of(value, "/next_command");
        page.head("2", "no todos", next);
        return;
    }
    let rows: Vec<Vec<String>> = todos
        .iter()
        .map(|t| {
            vec![
                t.get("todo_id").map(shown).unwrap_or_default(),
                str_of(t, "/status").to_owned(),
                str_of(t, "/task_class").to_owned(),
                t.get("claimed_by").map(shown).unwrap_or_else(|| "-".into()),
                str_of(t, "/text").to_owned(),
            ]
        })
        .collect();
    table(page, &["todo", "status", "class", "claimed by", "text"], &rows);
}

fn goal_table(page: &mut Page, goals: &[Value]) {
    let rows: Vec<Vec<String>> = goals
        .iter()
        .map(|g| {
            let window = match g.get("spent_slots") {
                Some(spent) => format!(
                    "{} / {}",
                    shown(spent),
                    g.get("allowed_slots").map(shown).unwrap_or_default()
                ),
                None => g.get("allowed_slots").map(shown).unwrap_or_default(),
            };
            let state = match (g.get("state"), g.get("stopped")) {
                (Some(state), _) => shown(state),
                (None, Some(Value::Bool(true))) => "stopped".into(),
                _ => g.get("status").or_else(|| g.get("error_code")).map(shown).unwrap_or_default(),
            };
            vec![
                g.get("goal_id").map(shown).unwrap_or_default(),
                state,
                window,
                g.get("agents").map(shown).unwrap_or_default(),
                g.get("objective").or_else(|| g.get("error")).map(shown).unwrap_or_default(),
            ]
        })
        .collect();
    table(page, &["goal", "state", "slots", "agents", "objective"], &rows);
}

fn fields(page: &mut Page, value: &Value) {
    page.head("32;1", "ok", str_of(value, "/goal_id"));
    let Some(map) = value.as_object() else { return };
    let width = map.keys().map(|k| k.len()).max().unwrap_or(0);
    for (key, field) in map.iter().filter(|(k, _)| !matches!(k.as_str(), "ok" | "goal_id")) {
        if field.is_null() || field.as_array().is_some_and(Vec::is_empty) {
            continue;
        }
        let label = page.paint("2", &format!("{key:<width$}"));
        let _ = writeln!(page.text, "  {label}  {}", visible(&shown(field)));
    }
}
