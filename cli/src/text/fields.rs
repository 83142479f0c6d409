//! Any other answer, field by field: what is plain as a line, a list of objects as a
//! table, an object as a section.

use serde_json::{Map, Value};

use super::page::{Cell, Page, Tone};
use super::time::relative;
use super::value::{instant, shown, text};

pub fn fields(page: &mut Page, value: &Value) {
    page.head(Tone::Good, "ok", text(value, "goal_id"));
    let Some(map) = value.as_object() else { return };
    lines(page, value, map, &["ok", "goal_id", "next_command"]);
    page.command("next", text(value, "next_command"));
    for (key, field) in map {
        match field {
            Value::Array(items) if items.iter().any(Value::is_object) => {
                page.section(&key.replace('_', " "));
                table(page, items);
            }
            Value::Object(inner) => {
                page.section(&key.replace('_', " "));
                lines(page, field, inner, &[]);
            }
            _ => {}
        }
    }
}

fn is_section(field: &Value) -> bool {
    field.is_object() || field.as_array().is_some_and(|items| items.iter().any(Value::is_object))
}

fn lines(page: &mut Page, value: &Value, map: &Map<String, Value>, without: &[&str]) {
    for (key, field) in map.iter().filter(|(key, _)| !without.contains(&key.as_str())) {
        let nothing = field.is_null() || field.as_array().is_some_and(Vec::is_empty);
        if nothing || (is_section(field) && !without.is_empty()) {
            continue;
        }
        match instant(value, key) {
            Some(at) => page.line(&key.replace('_', " "), relative(page.now(), at)),
            None => page.line(&key.replace('_', " "), shown(field)),
        }
    }
}

fn table(page: &mut Page, items: &[Value]) {
    let mut keys: Vec<&str> = Vec::new();
    for key in items.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    // A long text goes last, where a terminal can cut it.
    keys.sort_by_key(|key| matches!(*key, "text" | "message" | "error" | "next_command"));
    let rows = items
        .iter()
        .map(|item| {
            keys.iter()
                .map(|key| match instant(item, key) {
                    Some(at) => Cell::from(relative(page.now(), at)),
                    None => Cell::from(item.get(*key).map_or_else(String::new, shown)),
                })
                .collect()
        })
        .collect();
    let head: Vec<String> = keys.iter().map(|key| key.replace('_', " ")).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    page.table(&head, rows);
}
