//! What a runner has seen, for `cargo xtask test` to compare the doors with one another.
//! Node's and Python's runners write the same file.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;

/// Names the folder; without it nothing is written.
const FOLDER: &str = "LOOPX_VECTORS_TALLY";

/// What a door came to, vector by vector.
#[derive(Default)]
pub(super) struct Tally {
    /// Each vector that passed, with `answer` or the code of the refusal.
    vectors: BTreeMap<String, String>,
    /// How many of each class were refused.
    classes: BTreeMap<String, usize>,
}

impl Tally {
    /// A vector that passed.
    pub(super) fn passed(&mut self, name: String, says: &Map<String, Value>) {
        let of = |key: &str| says.get("error").and_then(|error| error.get(key)?.as_str());
        if let Some(class) = of("class") {
            *self.classes.entry(class.to_owned()).or_default() += 1;
        }
        self.vectors.insert(name, of("error_code").unwrap_or("answer").to_owned());
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
