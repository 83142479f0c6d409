//! What a runner has seen, for `cargo xtask test` to compare the doors with one another.
//! Node's and Python's runners write the same file.

use super::Said;
use loopx_core::error::CATALOGUE;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;

/// Names the folder; without it nothing is written.
const FOLDER: &str = "LOOPX_VECTORS_TALLY";

/// What a door came to, vector by vector: what it said itself, not what the files have.
#[derive(Default)]
pub(super) struct Tally {
    /// Each vector that passed, with `answer` or the code of the refusal.
    vectors: BTreeMap<String, String>,
    /// How many of each class were refused.
    classes: BTreeMap<String, usize>,
}

impl Tally {
    /// A vector that passed, with what the door said to it.
    pub(super) fn passed(&mut self, name: String, said: &Said) {
        let outcome = match said {
            Said::Answer(_) => "answer",
            Said::Refusal(refusal) => {
                let code = code(refusal);
                *self.classes.entry(class(code, refusal)).or_default() += 1;
                code
            }
        };
        self.vectors.insert(name, outcome.to_owned());
    }

    /// How many passed.
    pub(super) fn count(&self) -> usize {
        self.vectors.len()
    }

    /// How many of each class were refused.
    pub(super) fn classes(&self) -> Value {
        json!(self.classes)
    }

    /// Writes it, where somebody asked for it.
    pub(super) fn write(&self, door: &str, total: usize) {
        lay_down(
            door,
            &json!({
                "door": door,
                "count": total,
                "passed": self.count(),
                "classes": self.classes,
                "vectors": self.vectors,
            }),
        );
    }
}

/// The code that a door answered. Wrong usage of the command line is told to a person and has none:
/// what another door has instead of it is a request that is malformed.
fn code(refusal: &Value) -> &str {
    let wrong_usage = json!({"exit": 2});
    let code = if *refusal == wrong_usage { "request_invalid" } else { "" };
    refusal.get("error_code").and_then(Value::as_str).unwrap_or(code)
}

/// The class that a door answered; of one that answers none, that of its code.
fn class(code: &str, refusal: &Value) -> String {
    let said = refusal.get("class").cloned();
    let row = || CATALOGUE.iter().find(|row| row.text == code).map(|row| json!(row.class));
    let class = said.or_else(row).unwrap_or_default();
    class.as_str().unwrap_or("none").to_owned()
}

/// Says to the same reader why a door is not asked here.
pub fn skipped(door: &str, why: &str) {
    lay_down(door, &json!({"door": door, "skipped": why}));
}

fn lay_down(door: &str, said: &Value) {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return };
    fs::create_dir_all(&folder).expect("a folder for the tallies");
    let path = folder.join(format!("{}.json", door.to_lowercase()));
    fs::write(&path, said.to_string()).expect("a tally to write");
}
