//! The holder record: one line of JSON in a lock file that explains who has the lock.
//! It decides nothing; empty or garbage, it is simply nobody.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::lock::{OPEN, lock_path};
use super::read::{flags, read_open};
use crate::model::Instant;

/// The longest holder record that is read.
const MAX_RECORD: u64 = 4096;

/// Who wants a lock, as written into the lock file by an exclusive holder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HolderNote {
    /// What is being done, for example `goal stop`.
    pub operation: String,
    /// The acting agent, when known.
    pub agent: Option<String>,
    /// Process id of the holder.
    pub pid: u32,
    /// When the lock was asked for, when the caller has a clock.
    pub acquired_at: Option<Instant>,
}

/// What a lock file says about its last exclusive holder. Anything may stand in the
/// file, so every field is optional and cleaned for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: Option<u64>,
    /// What it does.
    pub operation: Option<String>,
    /// The acting agent.
    pub agent: Option<String>,
    /// Since when, as written.
    pub acquired_at: Option<String>,
}

/// What the lock file of `protected` says about its holder; `None` when there is no
/// file or nothing readable in it.
pub fn read_holder(protected: &Path) -> Option<Holder> {
    holder_in(&lock_path(protected).ok()?)
}

pub(super) fn record(note: &HolderNote) -> String {
    let mut fields = Map::new();
    fields.insert("pid".into(), json!(note.pid));
    fields.insert("operation".into(), json!(note.operation));
    if let Some(agent) = &note.agent {
        fields.insert("agent".into(), json!(agent));
    }
    if let Some(at) = note.acquired_at {
        fields.insert("acquired_at".into(), json!(at));
    }
    format!("{}\n", Value::Object(fields))
}

pub(super) fn holder_in(lock_file: &Path) -> Option<Holder> {
    let file = OpenOptions::new().read(true).custom_flags(flags(OPEN)).open(lock_file).ok()?;
    let bytes = read_open(&file, MAX_RECORD, "lock file", lock_file).ok()?;
    // The first line is one record; what follows may be the rest of a longer old one.
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let value: Value = serde_json::from_slice(line).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).and_then(shown);
    let holder = Holder {
        pid: value.get("pid").and_then(Value::as_u64),
        operation: text("operation"),
        agent: text("agent").or_else(|| text("agent_id")),
        acquired_at: text("acquired_at"),
    };
    (holder != Holder::default()).then_some(holder)
}

/// Record text that may be shown: words, no path, no control characters.
fn shown(text: &str) -> Option<String> {
    let clean: String = text
        .chars()
        .filter(|c| {
            c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | ':' | '@' | '+')
        })
        .take(80)
        .collect();
    (!clean.trim().is_empty()).then(|| clean.trim().to_owned())
}
