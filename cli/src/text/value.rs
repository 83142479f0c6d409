//! Reading an answer's fields as text.

use loopx_core::model::Instant;
use serde_json::Value;

/// A text field; empty when it is not there.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A field as one word or a list of words; `-` for nothing.
pub fn word(value: &Value, key: &str) -> String {
    value.get(key).map_or_else(|| "-".to_owned(), shown)
}

/// A number field; 0 when it is not there.
pub fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// A field that says yes.
pub fn yes(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}

/// The items of a list field.
pub fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// An instant field.
pub fn instant(value: &Value, key: &str) -> Option<Instant> {
    Instant::parse(value.get(key)?.as_str()?)
}

/// Any value in words: `-` for nothing, lists by comma, the fields of an object by name.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(map) => map
            .iter()
            .filter(|(_, v)| !v.is_null())
            .map(|(k, v)| format!("{k} {}", shown(v)))
            .collect::<Vec<_>>()
            .join(", "),
        Value::Number(number) => number.to_string(),
    }
}

/// `1 todo`, `2 todos`.
pub fn count(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}
