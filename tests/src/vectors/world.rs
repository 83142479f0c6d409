//! The project of one vector, built from its files and earlier calls.

use super::{Asked, Door, Said};
use crate::Sandbox;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;

/// Where the clock stands until something says otherwise.
const BEGIN: &str = "2026-11-29T12:00:00Z";

/// A folder with the project and the user's home in it, the clock, and what was taken from
/// earlier answers.
pub struct World {
    sandbox: Sandbox,
    now: String,
    open: Map<String, Value>,
    /// Names and what they stand for.
    taken: Vec<(String, String)>,
    /// Those of them that are different in every run.
    varies: Vec<(String, String)>,
}

impl World {
    pub(super) fn new() -> Self {
        let sandbox = Sandbox::in_memory();
        let open = json!({
            "cwd": "{root}/project",
            "home": "{root}/home",
        });
        let open = open.as_object().expect("an object").clone();
        Self { sandbox, now: BEGIN.into(), open, taken: Vec::new(), varies: Vec::new() }
    }

    fn root(&self) -> &str {
        self.sandbox.base().to_str().expect("a temporary folder has a UTF-8 name")
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.sandbox.base().join(self.text(relative))
    }

    /// A text of a file with `{root}` and the names that were taken.
    fn text(&self, text: &str) -> String {
        let mut text = text.replace("{root}", self.root());
        for (name, value) in &self.taken {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text
    }

    /// A value of a file with the same.
    pub(super) fn filled(&self, value: &Value) -> Value {
        map_texts(value, &|text| self.text(text))
    }

    /// An answer as a file has it: what differs from run to run by its name.
    pub(super) fn named(&self, value: &Value) -> Value {
        map_texts(value, &|text| {
            assert!(!text.contains("{root}"), "a text that a file cannot have: {text}");
            let mut text = text.replace(self.root(), "{root}");
            for (name, value) in &self.varies {
                text = text.replace(value, &format!("{{{name}}}"));
            }
            text
        })
    }

    /// Lays down files and makes the earlier calls of a state or of a vector.
    pub(super) fn build(&mut self, says: &Map<String, Value>, door: &mut dyn Door) {
        if let Some(open) = says.get("open").and_then(Value::as_object) {
            self.open.extend(open.clone());
        }
        if let Some(files) = says.get("files").and_then(Value::as_object) {
            self.write(files);
        }
        for step in says.get("steps").and_then(Value::as_array).into_iter().flatten() {
            let step = step.as_object().expect("a step is an object");
            if let Some(files) = step.get("write").and_then(Value::as_object) {
                self.write(files);
            } else if let Some(path) = step.get("remove").and_then(Value::as_str) {
                fs::remove_file(self.path(path)).expect("a file to remove");
            } else if let Some([from, to]) =
                step.get("copy").and_then(Value::as_array).map(Vec::as_slice)
            {
                let path = |value: &Value| self.path(value.as_str().expect("a path"));
                fs::copy(path(from), path(to)).expect("a file to copy");
            } else if let Some(path) = step.get("patch").and_then(Value::as_str) {
                self.patch(path, step);
            } else {
                match self.ask(step, door) {
                    Said::Answer(answer) => self.take(step, &answer),
                    Said::Refusal(why) => panic!("{step:?}\nwas refused: {why:#}"),
                }
            }
        }
    }

    fn write(&self, files: &Map<String, Value>) {
        for (relative, body) in files {
            let path = self.path(relative);
            fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
            let bytes = match (body, body.get("base64").and_then(Value::as_str)) {
                (Value::String(text), _) => self.text(text).into_bytes(),
                (_, Some(text)) => STANDARD.decode(text).expect("base64"),
                (other, None) => self.filled(other).to_string().into_bytes(),
            };
            fs::write(&path, bytes).expect("a file to write");
        }
    }

    fn patch(&self, path: &str, step: &Map<String, Value>) {
        let path = self.path(path);
        let mut bytes = fs::read(&path).expect("a file to patch");
        let at = step.get("at").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
        let new = step.get("base64").and_then(Value::as_str).map(|text| STANDARD.decode(text));
        let (at, new) = (at.expect("`at`"), new.expect("`base64`").expect("base64"));
        bytes.get_mut(at..at + new.len()).expect("the file is long enough").copy_from_slice(&new);
        fs::write(&path, bytes).expect("a file to write");
    }

    /// A value without what depends on the folder's name: `aside` has JSON pointers to it.
    pub(super) fn without_aside(says: &Map<String, Value>, mut value: Value) -> Value {
        for pointer in says.get("aside").and_then(Value::as_array).into_iter().flatten() {
            let found = pointer.as_str().and_then(|pointer| value.pointer_mut(pointer));
            *found.unwrap_or_else(|| panic!("nothing at {pointer}")) = Value::Null;
        }
        value
    }

    /// Asks what a step or a vector asks.
    pub(super) fn ask(&mut self, says: &Map<String, Value>, door: &mut dyn Door) -> Said {
        if let Some(now) = says.get("now").and_then(Value::as_str) {
            now.clone_into(&mut self.now);
        }
        let mut open = self.open.clone();
        open.retain(|_, value| !value.is_null());
        open.insert("now".into(), json!(self.now));
        let open = self.filled(&Value::Object(open));
        let request = says.get("request").map_or_else(|| json!({}), |r| self.filled(r));
        let operation = says.get("operation").and_then(Value::as_str).expect("an operation");
        let open = open.as_object().expect("an object");
        door.call(&Asked { open, operation, request: &request })
    }

    /// Keeps what later requests name: `take` has a name and a JSON pointer, `varies` for what
    /// is made up anew in each run a pointer and what it begins with, 32 hex digits following.
    pub(super) fn take(&mut self, says: &Map<String, Value>, answer: &Value) {
        let at = |pointer: &Value| {
            let pointer = pointer.as_str().expect("a JSON pointer");
            let found = answer.pointer(pointer).and_then(Value::as_str);
            found.unwrap_or_else(|| panic!("no text at {pointer} of {answer:#}")).to_owned()
        };
        for (name, pointer) in says.get("take").and_then(Value::as_object).into_iter().flatten() {
            self.taken.push((name.clone(), at(pointer)));
        }
        for (name, row) in says.get("varies").and_then(Value::as_object).into_iter().flatten() {
            let value = at(row.get("at").expect("`at`"));
            let begins = row.get("begins").and_then(Value::as_str).expect("`begins`");
            let digits = value.strip_prefix(begins).unwrap_or_default();
            let made_up = digits.len() == 32
                && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
            assert!(made_up, "{value} is not {begins} and 32 hex digits");
            self.taken.push((name.clone(), value.clone()));
            self.varies.push((name.clone(), value));
        }
    }
}

fn map_texts(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(list) => list.iter().map(|v| map_texts(v, change)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, v)| (change(key), map_texts(v, change))).collect()
        }
        other => other.clone(),
    }
}
