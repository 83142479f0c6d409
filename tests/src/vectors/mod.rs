//! The vectors that every door agrees on, `tests/vectors/*.json`: what a file says, how its
//! project comes about, and what a door has to answer. `tests/vectors/README.md` has the format.
//!
//! The runners of Node and Python are written for themselves
//! (`tests/node_vectors.test.mjs`, `tests/python/test_vectors.py`), so that a mistake of this
//! one is not theirs.

mod doors;
mod record;
mod tally;
mod world;

pub use doors::{Library, Program, Rust};
pub use record::record;
pub use tally::skipped;
pub use world::World;

use crate::repository;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tally::Tally;

/// What a door said.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// An answer, also one that begins with `"ok":false`.
    Answer(Value),
    /// A refusal, with the members of it that the door passes on.
    Refusal(Value),
}

/// One call as a door is told: how the kernel is opened, the clock included, and the request.
pub struct Asked<'a> {
    /// The members of `loopx_open`'s options.
    pub open: &'a Map<String, Value>,
    /// The operation's name.
    pub operation: &'a str,
    /// Any JSON value.
    pub request: &'a Value,
}

/// A way to the kernel.
pub trait Door {
    /// As it is printed.
    fn name(&self) -> &'static str;
    /// One call.
    fn call(&mut self, asked: &Asked<'_>) -> Said;
    /// What a door of this kind says of a refusal: a part of what the vector has of it.
    fn refusal(&self, whole: &Value) -> Value;
}

/// One vector with the file that it is in.
#[derive(Clone)]
pub struct Vector {
    /// The file's name without its end.
    pub file: String,
    /// What the file says of it.
    pub says: Map<String, Value>,
}

impl Vector {
    fn text(&self, key: &str) -> &str {
        let found = self.says.get(key).and_then(Value::as_str);
        found
            .unwrap_or_else(|| panic!("a vector of {} without `{key}`: {:?}", self.file, self.says))
    }

    /// What it is called, unique among all.
    pub fn name(&self) -> String {
        format!("{}: {}", self.file, self.text("name"))
    }

    /// The operation that is asked.
    pub fn operation(&self) -> &str {
        self.text("operation")
    }
}

/// Everything that the files say.
pub struct Vectors {
    /// Projects that many vectors begin with.
    pub states: Map<String, Value>,
    /// In the order of the files.
    pub vectors: Vec<Vector>,
    /// Codes of the catalogue that no vector can have, each with `reason` and `test`.
    pub elsewhere: Map<String, Value>,
    /// How many vectors there are, as `index.json` has it for every runner.
    pub count: usize,
    /// How many are refused, for each class of the catalogue, from the same file.
    pub classes: Map<String, Value>,
}

/// The folder of the files.
pub fn folder() -> PathBuf {
    repository().join("tests/vectors")
}

/// The files with their content, by name.
pub fn files() -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder()).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "json") {
            let text = fs::read_to_string(&path).expect("it can be read");
            let value = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            found.insert(name, value);
        }
    }
    found
}

impl Vectors {
    /// Reads them all.
    pub fn read() -> Self {
        let mut all = Self {
            states: Map::new(),
            vectors: Vec::new(),
            elsewhere: Map::new(),
            count: 0,
            classes: Map::new(),
        };
        let object =
            |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
        for (file, value) in files() {
            all.states.extend(object(value.get("states")));
            all.elsewhere.extend(object(value.get("elsewhere")));
            all.classes.extend(object(value.get("classes")));
            if let Some(count) = value.get("count").and_then(Value::as_u64) {
                all.count = usize::try_from(count).expect("a count");
            }
            for says in value.get("vectors").and_then(Value::as_array).into_iter().flatten() {
                let says = object(Some(says));
                all.vectors.push(Vector { file: file.clone(), says });
            }
        }
        all
    }

    /// Runs every vector through a door; the number that passed. Stops with all differences.
    #[track_caller]
    pub fn through(&self, door: &mut dyn Door) -> usize {
        let mut report = String::new();
        let mut tally = Tally::default();
        for vector in &self.vectors {
            match self.differences(vector, door) {
                Ok(said) => tally.passed(vector.name(), &said),
                Err(what) => report.push_str(&format!("\nFAIL {}\n{what}\n", vector.name())),
            }
        }
        let total = self.vectors.len();
        let passed = tally.count();
        tally.write(door.name(), total);
        println!("vectors through {}: {passed} of {total}", door.name());
        assert!(
            report.is_empty(),
            "{report}\nvectors through {}: {passed} of {total}",
            door.name()
        );
        assert_eq!(total, self.count, "index.json says how many there are");
        assert_eq!(tally.classes(), Value::Object(self.classes.clone()), "index.json, too");
        passed
    }

    /// What a door says to a vector, and the world in which it said it.
    pub fn said(&self, vector: &Vector, door: &mut dyn Door) -> (World, Said) {
        let mut world = World::new();
        if let Some(name) = vector.says.get("state").and_then(Value::as_str) {
            let state = self.states.get(name).and_then(Value::as_object);
            let state = state.unwrap_or_else(|| panic!("{}: no state {name}", vector.name()));
            world.build(state, door);
        }
        world.build(&vector.says, door);
        match world.ask(&vector.says, door) {
            Said::Answer(answer) => {
                world.take(&vector.says, &answer);
                let said = Said::Answer(World::without_aside(&vector.says, answer));
                (world, said)
            }
            refusal @ Said::Refusal(_) => (world, refusal),
        }
    }

    /// What a door said, where that is what the vector has; else what differs.
    fn differences(&self, vector: &Vector, door: &mut dyn Door) -> Result<Said, String> {
        let (world, said) = self.said(vector, door);
        let expected = match (vector.says.get("answer"), vector.says.get("error")) {
            (Some(answer), None) => Said::Answer(world.filled(answer)),
            (None, Some(error)) => Said::Refusal(door.refusal(&world.filled(error))),
            _ => return Err("neither an answer nor an error: cargo xtask vectors".into()),
        };
        if said == expected { Ok(said) } else { Err(difference(&said, &expected)) }
    }
}

/// What differs, by the paths in both.
fn difference(said: &Said, expected: &Said) -> String {
    let (Said::Answer(got) | Said::Refusal(got)) = said;
    let (Said::Answer(want) | Said::Refusal(want)) = expected;
    let mut lines = Vec::new();
    if std::mem::discriminant(said) != std::mem::discriminant(expected) {
        lines.push(format!("said {got}\nexpected {want}"));
    } else {
        compare("", got, want, &mut lines);
    }
    lines.join("\n")
}

fn compare(at: &str, got: &Value, want: &Value, lines: &mut Vec<String>) {
    match (got, want) {
        (Value::Object(left), Value::Object(right)) => {
            let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            let absent = json!("<absent>");
            for key in keys {
                let (left, right) = (left.get(key), right.get(key));
                let (left, right) = (left.unwrap_or(&absent), right.unwrap_or(&absent));
                compare(&format!("{at}/{key}"), left, right, lines);
            }
        }
        _ if got == want => {}
        _ => lines.push(format!("  {at}: {got}\n    expected {want}")),
    }
}
