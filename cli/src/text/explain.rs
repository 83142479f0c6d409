//! `explain`.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::time::relative;
use super::value::{instant, items, text, word, yes};

pub fn explanation(page: &mut Page, value: &Value) {
    let decision = value.get("decision").unwrap_or(&Value::Null);
    let agent = text(value, "agent_id");
    let goal = text(value, "goal_id");
    let who = if agent.is_empty() { goal.to_owned() } else { format!("{goal} / {agent}") };
    let (tone, said) =
        if yes(decision, "should_run") { (Tone::Good, "run") } else { (Tone::Wait, "wait") };
    page.head(tone, said, &format!("{who}: {}", text(decision, "reason")));
    page.line("rule", format!("{} {}", word(decision, "rule_order"), text(decision, "rule")));
    page.line("action", text(decision, "effective_action"));
    let unread = value.get("records_readable") == Some(&Value::Bool(false));
    if unread {
        page.line(
            "note",
            "the records cannot be read: what the rules after health would say is not known",
        );
    }
    let shown: Vec<&Value> = items(value, "rules")
        .iter()
        .take_while(|r| !unread || super::value::number(r, "order") <= 6)
        .collect();
    rules(page, &shown);
    todos(page, value);
    let steps = items(value, "steps");
    if steps.is_empty() {
        return;
    }
    page.section("what would change it");
    for step in steps {
        page.line(
            text(step, "blocked_by"),
            format!("{}: {}", text(step, "about"), text(step, "because")),
        );
        page.line(
            "",
            match instant(step, "at") {
                Some(at) => format!(
                    "-> {} ({})",
                    text(step, "change"),
                    super::time::distance(page.now(), at)
                ),
                None => format!("-> {}", text(step, "change")),
            },
        );
        page.command("", text(step, "next_command"));
    }
}

fn rules(page: &mut Page, rules: &[&Value]) {
    page.section("rules, in order; the first that passes decides");
    let mut rows = Vec::new();
    for rule in rules {
        let verdict = match (yes(rule, "decides"), yes(rule, "passes")) {
            (true, _) => Cell::toned("decides", Tone::Good),
            (false, true) => Cell::from("passes"),
            (false, false) => Cell::toned("fails", Tone::Dim),
        };
        let facts: Vec<String> = items(rule, "facts")
            .iter()
            .map(|fact| {
                let ids = items(fact, "ids");
                let mut said = text(fact, "text").to_owned();
                if !ids.is_empty()
                    && !said.contains(ids.first().and_then(Value::as_str).unwrap_or_default())
                {
                    said.push_str(&format!(" ({})", word(fact, "ids")));
                }
                if let Some(at) = instant(fact, "at")
                    && !said.contains(text(fact, "at"))
                {
                    said.push_str(&format!(", {}", relative(page.now(), at)));
                }
                said
            })
            .collect();
        rows.push(vec![
            Cell::from(word(rule, "order")),
            Cell::from(text(rule, "rule")),
            verdict,
            Cell::from(facts.join("; ")),
        ]);
    }
    page.wrapped_table(&["#", "rule", "result", "facts"], rows);
}

fn todos(page: &mut Page, value: &Value) {
    let todos = items(value, "todos");
    if todos.is_empty() {
        return;
    }
    let more = match value.get("todos_in_all").and_then(Value::as_u64) {
        Some(all) => format!(" (the first {} of {all})", todos.len()),
        None => String::new(),
    };
    page.section(&format!("todos, in selection order{more}"));
    let mut rows = Vec::new();
    for todo in todos {
        let state = match (yes(todo, "selected"), yes(todo, "eligible"), text(todo, "role")) {
            (true, ..) => Cell::toned("selected", Tone::Good),
            (false, true, _) => Cell::toned("eligible", Tone::Good),
            (false, false, "user") => Cell::from("person"),
            _ => Cell::toned("held", Tone::Wait),
        };
        rows.push(vec![
            Cell::from(word(todo, "todo_id")),
            state,
            Cell::from(text(todo, "text")),
            Cell::from(text(todo, "why").split("; and ").next().unwrap_or_default()),
        ]);
        for hold in items(todo, "holds").iter().skip(1) {
            rows.push(vec![
                Cell::from(""),
                Cell::from(""),
                Cell::from(""),
                Cell::from(text(hold, "text")),
            ]);
        }
    }
    page.wrapped_table(&["todo", "state", "text", "why"], rows);
}
