//! `todo suggest`: what an agent that plans should look at.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::value::{count, items, number, shown, text, word};

pub fn suggest(page: &mut Page, value: &Value) {
    let (goal, agent) = (text(value, "goal_id"), text(value, "agent_id"));
    let who = if agent.is_empty() { goal.to_owned() } else { format!("{goal} / {agent}") };
    let open = number(value, "open_count");
    let most = number(value, "limit");
    page.head(
        Tone::Plain,
        &who,
        &format!("{}, at most {most} more", count(open, "agent todo") + " open"),
    );
    page.line("ask", text(value, "prompt"));
    page.command("add", text(value, "next_command"));
    table(page, "done last", items(value, "recent_done"), "evidence");
    table(page, "open", items(value, "open"), "status");
    let hidden = open.saturating_sub(u64::try_from(items(value, "open").len()).unwrap_or(0));
    if hidden > 0 {
        page.line("", format!("and {hidden} more"));
    }
    table(page, "gates that wait for a person", items(value, "waiting_gates"), "status");
    let gaps = value.get("gaps").unwrap_or(&Value::Null);
    let labelled = [
        ("not met yet", items(gaps, "acceptance")),
        ("nothing follows", items(gaps, "completed_without_successor")),
    ];
    let feedback = items(gaps, "feedback");
    if feedback.is_empty() && labelled.iter().all(|(_, list)| list.is_empty()) {
        return;
    }
    page.section("gaps");
    for (label, list) in labelled {
        for gap in list {
            page.line(label, shown(gap));
        }
    }
    for said in feedback {
        let about = match text(said, "todo_id") {
            "" => String::new(),
            id => format!("{id}  "),
        };
        page.line("a person says", format!("{about}{}", text(said, "text")));
    }
}

fn table(page: &mut Page, title: &str, todos: &[Value], second: &str) {
    if todos.is_empty() {
        return;
    }
    page.section(title);
    let rows = todos
        .iter()
        .map(|t| {
            vec![
                Cell::from(word(t, "todo_id")),
                Cell::from(word(t, second)),
                Cell::from(text(t, "text")),
            ]
        })
        .collect();
    page.table(&["todo", second, "text"], rows);
}
