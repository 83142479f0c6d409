//! What the npm package says of the operations: its type declarations, and the table that
//! its methods are made from.

use super::typescript::{comment, fields, of};
use loopx_core::host_loop::retry::LADDER_MINUTES;
use loopx_core::operation::{Access, Operation};
use loopx_core::schema;
use serde_json::{Value, json};

/// Reads that go through everything that is stored: they do not run on the JavaScript
/// thread.
const LONG: &[&str] = &["export", "store.check", "store.backup"];

/// Shorter names of operations that hosts ask all the time.
const SHORT: &[(&str, &str)] = &[("quota.should_run", "shouldRun")];

/// `task_lease.acquire` as `taskLeaseAcquire`.
fn method(operation: &str) -> String {
    if let Some((_, short)) = SHORT.iter().find(|(name, _)| *name == operation) {
        return (*short).to_owned();
    }
    let mut words = operation.split(['.', '_']);
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

fn type_name(operation: &str) -> String {
    let name = method(operation);
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).chain("Request".chars()).collect()
}

fn on_the_thread(name: &str, access: Access) -> bool {
    access == Access::Read && !LONG.contains(&name)
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

/// `lib/operations.json`: name, method, and whether it runs on the JavaScript thread.
pub fn operations() -> String {
    let rows: Vec<String> = Operation::TABLE
        .iter()
        .map(|(_, name, access, _)| {
            let row = json!({"name": name, "method": method(name), "access": access,
                "sync": on_the_thread(name, *access)});
            format!("  {row}")
        })
        .collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}

/// `lib/version.json`: what the native module has to be.
pub fn version() -> String {
    format!("{{ \"version\": {:?} }}\n", env!("CARGO_PKG_VERSION"))
}

/// `lib/retry.json`: how long is waited where the kernel cannot be asked.
pub fn retry() -> String {
    format!("{{ \"minutes\": {} }}\n", json!(LADDER_MINUTES))
}

fn declared(name: &str, doc: &str, schema: &Value) -> String {
    let empty = schema.get("properties").and_then(Value::as_object).is_none_or(|p| p.is_empty());
    let head = comment(doc, "");
    if schema.get("oneOf").is_some() || schema.get("anyOf").is_some() {
        return format!("{head}export type {name} = {};\n\n", of(schema, ""));
    }
    if empty {
        return format!("{head}export type {name} = Record<string, never>;\n\n");
    }
    format!("{head}export interface {name} {{\n{}}}\n\n", fields(schema, "  "))
}

/// `index.d.ts`.
pub fn declarations() -> String {
    let mut out = String::from(HEAD);
    let doc = |schema: &Value| {
        schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let packet = schema::packet();
    out.push_str(&declared("Packet", "What `quota.should_run` and `turn.admit` answer.", &packet));
    for (name, schema) in schema::loops() {
        out.push_str(&declared(name, &doc(&schema), &schema));
    }
    for (operation, name, ..) in Operation::TABLE {
        let Some(schema) = schema::request(*operation) else { continue };
        let title = format!("Request of `{name}`.");
        out.push_str(&declared(&type_name(name), &title, &schema));
    }
    out.push_str(
        "/** Request and answer of every operation, by name. */\nexport interface Operations {\n",
    );
    for (_, name, _, sentence) in Operation::TABLE {
        out.push_str(&comment(sentence, "  "));
        let (request, answer) = (type_name(name), answer(name));
        out.push_str(&format!("  {name:?}: {{ request: {request}; answer: {answer} }};\n"));
    }
    out.push_str("}\n\n/** An operation that only reads. */\nexport type ReadOperation =\n");
    for (_, name, access, _) in Operation::TABLE {
        if *access == Access::Read {
            out.push_str(&format!("  | {name:?}\n"));
        }
    }
    out.pop();
    out.push_str(";\n\n");
    out.push_str(KERNEL);
    for (_, name, access, sentence) in Operation::TABLE {
        let (of, request, answer) = (method(name), type_name(name), answer(name));
        let here = on_the_thread(name, *access);
        let how = if here { "Read, on this thread." } else { "Off this thread." };
        let said = if here { answer.to_owned() } else { format!("Promise<{answer}>") };
        out.push_str(&comment(&format!("{sentence} `{name}`\n\n{how}"), "  "));
        out.push_str(&format!("  {of}(request?: {request}): {said};\n"));
    }
    out.push_str(TAIL);
    out
}

const HEAD: &str = include_str!("node/head.d.ts");
const KERNEL: &str = include_str!("node/kernel.d.ts");
const TAIL: &str = include_str!("node/tail.d.ts");
