//! JSON Schemas as TypeScript types. Knows what schemars writes for the kernel's own types
//! (everything inline), and says `unknown` for what it does not know.

use serde_json::{Map, Value};

/// A doc comment, or nothing.
pub fn comment(text: &str, indent: &str) -> String {
    let text = text.trim().replace("*/", "* /");
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match lines.as_slice() {
        [one] if one.len() + indent.len() <= 90 => format!("{indent}/** {one} */\n"),
        _ => {
            let body: String = lines
                .iter()
                .map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n")
                .collect();
            format!("{indent}/**\n{body}{indent} */\n")
        }
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn name(key: &str) -> String {
    let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { key.to_owned() } else { quoted(key) }
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// The fields of an object, each on its line.
pub fn fields(schema: &Value, indent: &str) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut out = String::new();
    for (key, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let optional = if required.contains(&key.as_str()) { "" } else { "?" };
        out.push_str(&comment(description(field), indent));
        let of = of(field, indent);
        out.push_str(&format!("{indent}{}{optional}: {of};\n", name(key)));
    }
    out
}

fn union(list: &[Value], indent: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in list {
        let text = of(part, indent);
        if !parts.contains(&text) {
            parts.push(text);
        }
    }
    parts.join(" | ")
}

fn object(schema: &Map<String, Value>, whole: &Value, indent: &str) -> String {
    if schema.get("properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty()) {
        let deeper = format!("{indent}  ");
        return format!("{{\n{}{indent}}}", fields(whole, &deeper));
    }
    match schema.get("additionalProperties") {
        Some(of_values @ Value::Object(_)) => format!("Record<string, {}>", of(of_values, indent)),
        _ => "Record<string, unknown>".into(),
    }
}

fn plain(kind: &str, schema: &Map<String, Value>, whole: &Value, indent: &str) -> String {
    match kind {
        "string" => "string".into(),
        "integer" | "number" => "number".into(),
        "boolean" => "boolean".into(),
        "null" => "null".into(),
        "array" => match schema.get("items") {
            Some(items) => {
                let of_items = of(items, indent);
                if of_items.contains(" | ") {
                    format!("({of_items})[]")
                } else {
                    format!("{of_items}[]")
                }
            }
            None => "unknown[]".into(),
        },
        "object" => object(schema, whole, indent),
        _ => "unknown".into(),
    }
}

/// The type of a schema.
pub fn of(whole: &Value, indent: &str) -> String {
    let Some(schema) = whole.as_object() else { return "unknown".into() };
    if let Some(one) = schema.get("const") {
        return one.to_string();
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(list) = schema.get(key).and_then(Value::as_array) {
            return union(list, indent);
        }
    }
    if let Some([one]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        return of(one, indent);
    }
    match schema.get("type") {
        Some(Value::String(kind)) => plain(kind, schema, whole, indent),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .map(|kind| plain(kind, schema, whole, indent))
            .collect::<Vec<_>>()
            .join(" | "),
        _ if schema.contains_key("properties") => object(schema, whole, indent),
        _ => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_of_schemas() {
        for (schema, said) in [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["integer", "null"]}), "number | null"),
            (json!({"type": "array", "items": {"enum": ["a", "b"]}}), "(\"a\" | \"b\")[]"),
            (json!({"anyOf": [{"const": "x"}, {"type": "null"}]}), "\"x\" | null"),
            (
                json!({"type": "object", "additionalProperties": {"type": "number"}}),
                "Record<string, number>",
            ),
            (json!(true), "unknown"),
            (
                json!({"type": "object", "properties": {"a-b": {"type": "boolean", "description": "Why."}}, "required": ["a-b"]}),
                "{\n  /** Why. */\n  \"a-b\": boolean;\n}",
            ),
        ] {
            assert_eq!(of(&schema, ""), said, "{schema}");
        }
    }
}
