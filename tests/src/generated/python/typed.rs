//! JSON Schemas as Python's typed dictionaries. Knows what schemars writes for the kernel's own
//! types (everything inline), and says `Any` for what it does not know.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Longest line that is written as one.
pub const WIDTH: usize = 96;

/// A text in double quotes, as Python reads it.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A docstring, or nothing.
pub fn docstring(text: &str, indent: &str) -> String {
    let text = text.trim().replace('\\', "\\\\").replace("\"\"\"", "'''");
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match lines.as_slice() {
        [one] if one.len() + indent.len() + 6 <= WIDTH => format!("{indent}\"\"\"{one}\"\"\"\n"),
        _ => {
            let mut out = format!("{indent}\"\"\"");
            for (at, line) in lines.iter().enumerate() {
                let indent = if at == 0 || line.is_empty() { "" } else { indent };
                let _ = writeln!(out, "{indent}{line}");
            }
            out + indent + "\"\"\"\n"
        }
    }
}

/// `task_lease.acquire` and `selected_todo` as `TaskLeaseAcquire` and `SelectedTodo`.
pub fn camel(words: &str) -> String {
    let mut name = String::new();
    for word in words.split(['.', '_', '-']) {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn members(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object).filter(|members| !members.is_empty())
}

fn required(schema: &Value) -> Vec<&str> {
    let list = schema.get("required").and_then(Value::as_array);
    list.map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

/// What cannot name a field of a class.
fn is_keyword(key: &str) -> bool {
    matches!(key, "from" | "import" | "in" | "is" | "not" | "or" | "and" | "if" | "class" | "pass")
}

/// The types that were made so far, in the order in which they are needed.
#[derive(Default)]
pub struct Types {
    text: String,
    // What follows the name, by name: the same thing twice is one type.
    bodies: BTreeMap<String, String>,
}

impl Types {
    /// All of them.
    pub fn text(self) -> String {
        self.text
    }

    /// Makes a type of that very name.
    pub fn declare(&mut self, name: &str, doc: &str, schema: &Value) {
        let union = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array());
        if let Some(list) = union {
            let of = self.union(list, name, "");
            let doc = docstring(doc, "");
            let _ = writeln!(self.text, "{name}: TypeAlias = {of}\n{doc}");
            return;
        }
        let body = self.body(name, doc, schema);
        self.put(name, body);
    }

    fn put(&mut self, name: &str, body: String) {
        let _ = writeln!(self.text, "{}", body.replace('\0', name));
        self.bodies.insert(name.to_owned(), body);
    }

    /// The class, with a NUL where its name stands.
    fn body(&mut self, name: &str, doc: &str, schema: &Value) -> String {
        let needed = required(schema);
        let Some(members) = members(schema) else {
            return format!("class \0(TypedDict):\n{}", docstring(doc, "    "));
        };
        let all = members.keys().all(|key| needed.contains(&key.as_str()));
        let total = if all { "" } else { ", total=False" };
        let mut fields = Vec::new();
        for (key, field) in members {
            let of = self.of(field, name, key);
            let of =
                if all || !needed.contains(&key.as_str()) { of } else { format!("Required[{of}]") };
            fields.push((key, of, description(field)));
        }
        if members.keys().any(|key| is_keyword(key)) {
            let mut out = String::from("\0 = TypedDict(\n    \"\0\",\n    {\n");
            for (key, of, _) in fields {
                let _ = writeln!(out, "        {}: {},", quoted(key), quoted(&of));
            }
            let total = if all { "" } else { "    total=False,\n" };
            return out + "    },\n" + total + ")\n" + &docstring(doc, "");
        }
        let mut out = format!("class \0(TypedDict{total}):\n{}", docstring(doc, "    "));
        if !doc.trim().is_empty() {
            out.push('\n');
        }
        for (key, of, said) in fields {
            let _ = write!(out, "    {key}: {of}\n{}", docstring(said, "    "));
        }
        out
    }

    /// A type for an object that stands in a field: one that is there already, else one with
    /// the field's name, else one with the whole way to it.
    fn nested(&mut self, schema: &Value, parent: &str, field: &str) -> String {
        let short = camel(field);
        let long = format!("{parent}{short}");
        let body = self.body(&long, description(schema), schema);
        if let Some((name, _)) = self.bodies.iter().find(|(_, known)| **known == body) {
            return name.clone();
        }
        let free = |name: &String| !self.bodies.contains_key(name);
        let name = [short, long].into_iter().find(free).expect("no two fields have one way");
        self.put(&name, body);
        name
    }

    /// A type for one of the objects that a value is, told apart by their `kind`.
    fn variant(&mut self, schema: &Value, parent: &str, kind: &str) -> String {
        let name = format!("{parent}{}", camel(kind));
        if !self.bodies.contains_key(&name) {
            let body = self.body(&name, description(schema), schema);
            self.put(&name, body);
        }
        name
    }

    fn union(&mut self, list: &[Value], parent: &str, field: &str) -> String {
        let words: Vec<&Value> = list.iter().filter_map(|part| part.get("const")).collect();
        if words.len() == list.len() {
            return literal(&words);
        }
        let mut parts: Vec<String> = Vec::new();
        for part in list {
            let tag = part.pointer("/properties/kind/const").and_then(Value::as_str);
            let text = match tag {
                Some(tag) => self.variant(part, parent, tag),
                _ => self.of(part, parent, field),
            };
            if !parts.contains(&text) {
                parts.push(text);
            }
        }
        parts.join(" | ")
    }

    fn plain(&mut self, kind: &str, schema: &Value, parent: &str, field: &str) -> String {
        match kind {
            "string" => "str".into(),
            "integer" => "int".into(),
            "number" => "float".into(),
            "boolean" => "bool".into(),
            "null" => "None".into(),
            "array" => match schema.get("items") {
                Some(items) => format!("list[{}]", self.of(items, parent, field)),
                None => "list[Any]".into(),
            },
            "object" if members(schema).is_some() => self.nested(schema, parent, field),
            "object" => match schema.get("additionalProperties") {
                Some(values @ Value::Object(_)) => {
                    format!("dict[str, {}]", self.of(values, parent, field))
                }
                _ => "dict[str, Any]".into(),
            },
            _ => "Any".into(),
        }
    }

    /// The type of a schema that stands in a field of `parent`.
    fn of(&mut self, schema: &Value, parent: &str, field: &str) -> String {
        if let Some(one) = schema.get("const") {
            return literal(&[one]);
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return literal(&words.iter().collect::<Vec<_>>());
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(list) = schema.get(key).and_then(Value::as_array) {
                return self.union(list, parent, field);
            }
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.plain(kind, schema, parent, field),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                kinds
                    .map(|kind| self.plain(kind, schema, parent, field))
                    .collect::<Vec<_>>()
                    .join(" | ")
            }
            _ if members(schema).is_some() => self.nested(schema, parent, field),
            _ => "Any".into(),
        }
    }
}

/// `Literal[...]`, and `None` beside it where that is among the words.
fn literal(words: &[&Value]) -> String {
    let said = |word: &&Value| match word {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    };
    format!("Literal[{}]", words.iter().map(said).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_of_schemas() {
        for (schema, said) in [
            (json!({"type": "string"}), "str"),
            (json!({"type": ["integer", "null"]}), "int | None"),
            (
                json!({"type": "array", "items": {"enum": ["a", "b"]}}),
                "list[Literal[\"a\", \"b\"]]",
            ),
            (
                json!({"anyOf": [{"oneOf": [{"const": "x"}, {"const": "y"}]}, {"type": "null"}]}),
                "Literal[\"x\", \"y\"] | None",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "number"}}),
                "dict[str, float]",
            ),
            (json!(true), "Any"),
        ] {
            assert_eq!(Types::default().of(&schema, "P", "f"), said, "{schema}");
        }
    }

    #[test]
    fn a_nested_object_is_a_type_and_the_same_one_is_made_once() {
        let inner = json!({"type": "object", "properties": {"a": {"type": "boolean", "description": "Why."}}, "required": ["a"]});
        let other = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        let mut types = Types::default();
        types.declare("One", "", &json!({"properties": {"part": inner, "kind": {"type": "string"}}, "required": ["kind"]}));
        types.declare("Two", "", &json!({"properties": {"part": inner}}));
        types.declare(
            "Three",
            "",
            &json!({"properties": {"part": other, "from": {"type": "string"}}}),
        );
        let text = types.text();
        assert_eq!(text.matches("class Part(TypedDict)").count(), 1, "{text}");
        for line in [
            "class One(TypedDict, total=False):",
            "    part: Part",
            "    kind: Required[str]",
            "    \"\"\"Why.\"\"\"",
            "class ThreePart(TypedDict, total=False):",
            "        \"from\": \"str\",",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
