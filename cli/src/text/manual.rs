//! What the tool says about itself: errors, operations, schemas.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::value::{items, shown, text, word};

pub fn errors(page: &mut Page, value: &Value) {
    let errors = items(value, "errors");
    if let [error] = errors {
        page.head(Tone::Plain, text(error, "error_code"), text(error, "meaning"));
        page.line("class", text(error, "class"));
        page.line("exit", word(error, "exit"));
        page.line("retry", text(error, "retry").replace('_', " "));
        page.command("next", text(error, "next_command"));
        return;
    }
    let rows = errors
        .iter()
        .map(|e| {
            vec![
                Cell::from(text(e, "error_code")),
                Cell::from(text(e, "class")),
                Cell::from(word(e, "exit")),
                Cell::from(text(e, "retry").replace('_', " ")),
                Cell::from(text(e, "meaning")),
            ]
        })
        .collect();
    page.table(&["code", "class", "exit", "retry", "meaning"], rows);
    page.section("more");
    page.command("one", "loopx errors --code CODE");
}

pub fn operations(page: &mut Page, value: &Value) {
    let rows = items(value, "operations")
        .iter()
        .map(|o| {
            vec![
                Cell::from(text(o, "operation")),
                Cell::from(text(o, "access")),
                Cell::from(text(o, "about")),
            ]
        })
        .collect();
    page.table(&["operation", "access", "what it does"], rows);
    page.section("more");
    page.command("request", "loopx schema todo.add");
    page.command("packet", "loopx schema packet");
    page.command("all", "loopx schema --format json");
}

pub fn schema(page: &mut Page, value: &Value) {
    page.head(Tone::Plain, text(value, "operation"), text(value, "about"));
    page.line("access", text(value, "access"));
    page.section("request");
    properties(page, value.get("request").unwrap_or(&Value::Null));
    if let Some(answer) = value.get("answer").filter(|a| a.is_object()) {
        page.section("answer");
        properties(page, answer);
    }
}

pub fn packet(page: &mut Page, value: &Value) {
    page.head(Tone::Plain, "packet", "the answer of quota.should_run and turn.admit");
    properties(page, value.get("packet").unwrap_or(&Value::Null));
}

/// The fields of an object schema.
fn properties(page: &mut Page, schema: &Value) {
    let required: Vec<String> = items(schema, "required").iter().map(shown).collect();
    let Some(map) = schema.get("properties").and_then(Value::as_object) else { return };
    let rows = map
        .iter()
        .map(|(name, field)| {
            vec![
                Cell::from(name.as_str()),
                Cell::from(kind(field)),
                Cell::from(if required.contains(name) { "required" } else { "-" }),
                Cell::from(
                    text(field, "description").split_whitespace().collect::<Vec<_>>().join(" "),
                ),
            ]
        })
        .collect();
    page.table(&["field", "type", "needed", "what"], rows);
}

/// The type of a field in words; null is every optional field's and left out.
fn kind(field: &Value) -> String {
    if field.get("enum").is_some() {
        return items(field, "enum")
            .iter()
            .filter(|v| !v.is_null())
            .map(shown)
            .collect::<Vec<_>>()
            .join(" | ");
    }
    for key in ["anyOf", "oneOf"] {
        let choices: Vec<String> =
            items(field, key).iter().map(kind).filter(|k| k != "null").collect();
        if !choices.is_empty() {
            return choices.join(" | ");
        }
    }
    if let Some(constant) = field.get("const") {
        return shown(constant);
    }
    let types: Vec<String> = match field.get("type") {
        Some(Value::Array(types)) => types.iter().map(shown).filter(|t| t != "null").collect(),
        Some(one) => vec![shown(one)],
        None => vec!["any".to_owned()],
    };
    match (types.join(" | ").as_str(), field.get("items")) {
        ("array", Some(item)) => format!("list of {}", kind(item)),
        (said, _) => said.to_owned(),
    }
}
