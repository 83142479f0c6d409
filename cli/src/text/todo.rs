//! `todo list`.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::time::relative;
use super::value::{count, instant, items, number, text, word};

pub fn list(page: &mut Page, value: &Value) {
    let todos = items(value, "todos");
    if todos.is_empty() {
        let about = text(value, "about");
        let what = if about.is_empty() { String::new() } else { format!("no todo {about}") };
        page.head(Tone::Dim, "no todos", &what);
        page.command("next", text(value, "next_command"));
        return;
    }
    page.head(
        Tone::Plain,
        text(value, "goal_id"),
        &format!(
            "{}, {} open",
            count(number(value, "todo_count"), "todo"),
            number(value, "open_count")
        ),
    );
    if let ([todo], true) = (todos, value.get("matched").is_some()) {
        return one(page, todo);
    }
    let rows = todos
        .iter()
        .map(|t| {
            vec![
                Cell::from(word(t, "todo_id")),
                status(text(t, "status")),
                Cell::from(text(t, "task_class")),
                Cell::from(word(t, "claimed_by")),
                Cell::from(text(t, "text")),
            ]
        })
        .collect();
    page.table(&["todo", "status", "class", "claimed by", "text"], rows);
}

fn status(word: &str) -> Cell {
    let tone = match word {
        "done" => Tone::Dim,
        "blocked" => Tone::Bad,
        "deferred" => Tone::Wait,
        _ => Tone::Plain,
    };
    Cell::toned(word, tone)
}

/// One todo: every field that is set.
fn one(page: &mut Page, todo: &Value) {
    page.line("text", text(todo, "text"));
    for (key, field) in todo.as_object().into_iter().flatten() {
        if matches!(key.as_str(), "text" | "title" | "done") || field.is_null() {
            continue;
        }
        match instant(todo, key) {
            Some(at) if key.ends_with("_at") => {
                page.line(&key.replace('_', " "), relative(page.now(), at))
            }
            _ => page.line(&key.replace('_', " "), super::value::shown(field)),
        }
    }
}
