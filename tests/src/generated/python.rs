//! What the wheel says of the operations: its typed dictionaries, the stubs of its methods, and
//! the table that the methods are made from.

mod typed;

use std::fmt::Write as _;

use loopx_core::operation::{Access, Operation};
use loopx_core::schema;
use serde_json::Value;

use typed::{Types, camel, docstring, quoted};

/// Shorter names of operations that hosts ask all the time.
const SHORT: &[(&str, &str)] = &[("quota.should_run", "should_run")];

/// Names that a method cannot have.
const KEYWORDS: &[&str] = &["import"];

/// `task_lease.acquire` as `task_lease_acquire`.
fn method(operation: &str) -> String {
    if let Some((_, short)) = SHORT.iter().find(|(name, _)| *name == operation) {
        return (*short).to_owned();
    }
    let name = operation.replace('.', "_");
    if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name }
}

fn request(operation: &str) -> String {
    camel(&method(operation)) + "Request"
}

fn answer(operation: &str) -> &'static str {
    match operation {
        "quota.should_run" | "turn.admit" => "Packet",
        "loop.step" => "LoopAnswer",
        "loop.show" => "LoopsShown",
        "goal.changed_since" => "ChangedSince",
        _ => "Answer",
    }
}

fn described(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn fields(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn needs_something(schema: &Value) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
}

/// What a method's docstring says: the sentence, the request with its units, the errors.
fn doc(name: &str, access: Access, sentence: &str, schema: &Value) -> String {
    let kind = if access == Access::Read { "a read" } else { "a write" };
    let mut out = format!("{sentence}\n\n``{name}``, {kind}.\n\nRequest:\n");
    for (key, field) in fields(schema) {
        let said = described(field).split_whitespace().collect::<Vec<_>>().join(" ");
        for (at, line) in folded(&format!("{key}: {said}"), 76).iter().enumerate() {
            let _ = writeln!(out, "{}{line}", if at == 0 { "    " } else { "        " });
        }
    }
    out.push_str("\nRaises:\n");
    out.push_str(match (name, access) {
        ("quota.should_run" | "turn.admit", _) => ASKED,
        (_, Access::Read) => READS,
        (_, Access::Write) => WRITES,
    });
    out
}

const ASKED: &str = "    UsageError: the request is malformed.
    InternalError: a defect of LoopX.
    Every other refusal is an answer with ``ok: False`` and an ``error_code``.
";
const READS: &str = "    UsageError: the request is malformed.
    IdentityError: who asks, or about which goal, is not settled.
    RefusedError: what is asked about is not there, or may not be shown.
    BusyError: a lock was not free within the kernel's deadline.
    StateError: stored state is missing, unreadable or of another version.
    InternalError: a defect of LoopX.
";
const WRITES: &str = "    UsageError: the request is malformed.
    IdentityError: who acts, or on which goal, is not settled.
    RefusedError: a rule says no; nothing was changed.
    BusyError: a lock was not free within the kernel's deadline; nothing was changed.
    StateError: stored state is missing, unreadable or of another version, or cannot be written.
    BoundaryError: a text holds what may not be stored.
    InternalError: a defect of LoopX.
";

/// The words of a text in lines of at most `width` characters where words allow it.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

struct Row {
    name: &'static str,
    method: String,
    doc: String,
    schema: Value,
}

fn rows() -> Vec<Row> {
    let row = |(operation, name, access, sentence): &(Operation, &'static str, Access, &str)| {
        let schema = schema::request(*operation)?;
        let doc = doc(name, *access, sentence, &schema);
        Some(Row { name, method: method(name), doc, schema })
    };
    Operation::TABLE.iter().filter_map(row).collect()
}

/// `loopx/_operations.py`: name, method, docstring and fields of every operation; the options of a
/// session.
pub fn operations() -> String {
    let mut out = format!("{HEAD}\nOPERATIONS = (\n");
    for row in rows() {
        let doc = row.doc.trim_end().replace('\\', "\\\\");
        let of = names(&row.schema, "        ");
        let _ = writeln!(
            out,
            "    (\n        {},\n        {},\n        \"\"\"{doc}\n\"\"\",\n        {of},\n    ),",
            quoted(row.name),
            quoted(&row.method)
        );
    }
    let _ = writeln!(out, ")\n\nSESSION = {}", names(&session(&rows()), ""));
    out
}

/// The names of a schema's fields as a tuple of Python, a line each.
fn names(schema: &Value, indent: &str) -> String {
    let lines: String =
        fields(schema).map(|(key, _)| format!("{indent}    {},\n", quoted(key))).collect();
    if lines.is_empty() { "()".into() } else { format!("(\n{lines}{indent})") }
}

/// `loopx/types.py`: requests and answers as typed dictionaries.
pub fn types() -> String {
    let mut types = Types::default();
    let packet = schema::packet();
    types.declare("Packet", "What `quota.should_run` and `turn.admit` answer.", &packet);
    for (name, schema) in schema::loops() {
        types.declare(name, described(&schema), &schema);
    }
    for row in rows() {
        let title = format!("Request of `{}`.", row.name);
        types.declare(&request(row.name), &title, &row.schema);
    }
    let session = session(&rows());
    types.declare("LoopSessionOptions", "Who loops where, for a `LoopSession`.", &session);
    format!("{HEAD}\n{TYPES}\n\n{}", types.text().replace("\nclass ", "\n\nclass "))
        .trim_end()
        .to_owned()
        + "\n"
}

/// `loop.step` without what a session says itself.
fn session(rows: &[Row]) -> Value {
    let mut schema = rows
        .iter()
        .find(|row| row.name == "loop.step")
        .map(|row| row.schema.clone())
        .unwrap_or_default();
    let own = ["event", "generation", "effect_id", "goal_id"];
    if let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        members.retain(|key, _| !own.contains(&key.as_str()));
    }
    if let Some(list) = schema.get_mut("required").and_then(Value::as_array_mut) {
        list.retain(|key| key.as_str().is_none_or(|key| !own.contains(&key)));
    }
    schema
}

/// `loopx/kernel.pyi`.
pub fn stubs() -> String {
    let rows = rows();
    let mut out = format!("{HEAD}\n{KERNEL}");
    for row in &rows {
        let of = request(row.name);
        let given = if needs_something(&row.schema) {
            format!("request: {of}, /")
        } else {
            format!("request: {of} | None = None, /")
        };
        let _ = writeln!(
            out,
            "    @overload\n    def call(\n        self, operation: Literal[{}], {given}\n    ) -> {}: ...",
            quoted(row.name),
            answer(row.name)
        );
    }
    out.push_str(CALL_JSON);
    for row in &rows {
        let _ = write!(
            out,
            "    def {}(self, /, **request: Unpack[{}]) -> {}:\n{}        ...\n\n",
            row.method,
            request(row.name),
            answer(row.name),
            docstring(&row.doc, "        "),
        );
    }
    let mut names: Vec<String> = rows.iter().map(|row| request(row.name)).collect();
    names.extend(
        [
            "Answer",
            "ChangedSince",
            "LoopAnswer",
            "LoopEvent",
            "LoopSessionOptions",
            "LoopsShown",
            "Packet",
        ]
        .map(str::to_owned),
    );
    names.sort();
    let list: String = names.iter().map(|name| format!("    {name},\n")).collect();
    (out + SESSION).replace("@NAMES@\n", &list)
}

const HEAD: &str =
    "# Made by `cargo xtask generate` from the table of operations and the JSON Schemas of the
# kernel. Do not edit: a test compares it with what the sources say.
";
const TYPES: &str = include_str!("python/types_head.py");
const KERNEL: &str = include_str!("python/kernel_head.pyi");
const CALL_JSON: &str = include_str!("python/kernel_call.pyi");
const SESSION: &str = include_str!("python/kernel_session.pyi");
