//! One registry as a JSON document: read with typed refusals, searched, written back
//! with everything it held. What the entries mean is `policy`; changing the file is
//! `change`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorCode, Result};
use crate::file::{read_bounded, sha256_hex};
use crate::model::{GoalId, Instant};

/// The largest registry that is read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// How many goal ids a question for `--goal-id` lists.
const MAX_LISTED: usize = 10;

/// A registry as it was read.
#[derive(Clone, Debug)]
pub struct Registry {
    path: PathBuf,
    role: &'static str,
    root: Map<String, Value>,
    witness: String,
    exists: bool,
}

/// Where a goal is in a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// At this index.
    Found(usize),
    /// Nowhere.
    Unknown,
    /// More than once, so that nobody can say which is meant.
    Duplicated,
}

impl Registry {
    /// Reads the registry at `path`. No file is an empty registry that does not exist;
    /// a file that is empty, cut short or of another shape is an error, because
    /// unreadable is not empty.
    ///
    /// Errors: [`ErrorCode::RegistryInvalidJson`], [`ErrorCode::RegistryShape`],
    /// [`ErrorCode::RegistryDenied`], [`ErrorCode::RegistryIo`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_as(path, "registry")
    }

    /// [`Registry::read`], with what the file is for as errors should call it.
    pub fn read_as(path: &Path, role: &'static str) -> Result<Self> {
        let bytes = read_bounded(path, MAX_BYTES, role).map_err(|mut error| {
            if error.code == ErrorCode::IoFailed {
                error.code = ErrorCode::RegistryIo;
            }
            error
        })?;
        let (root, exists) = match &bytes {
            Some(bytes) => (parse(bytes, role, path)?, true),
            None => (Map::new(), false),
        };
        Ok(Self {
            path: path.to_path_buf(),
            role,
            root,
            witness: sha256_hex(bytes.as_deref().unwrap_or_default()),
            exists,
        })
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What errors call this file: `registry` or `global registry`.
    pub fn role(&self) -> &'static str {
        self.role
    }

    /// sha256 (hex) of the bytes that were read; of no bytes when there was no file,
    /// which no valid registry has.
    pub fn witness(&self) -> &str {
        &self.witness
    }

    /// Whether there was a file.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// The document's top level.
    pub fn root(&self) -> &Map<String, Value> {
        &self.root
    }

    /// The document's top level, to change.
    pub fn root_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.root
    }

    /// A text field of the top level, when present and not empty.
    pub fn text(&self, key: &str) -> Option<&str> {
        text_field(&self.root, key)
    }

    /// The goal entries in file order.
    pub fn goals(&self) -> &[Value] {
        self.root.get("goals").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The goal entries, to change; an empty list is made where there was none.
    /// [`ErrorCode::RegistryShape`] when a change has put something else there.
    pub fn goals_mut(&mut self) -> Result<&mut Vec<Value>> {
        let role = self.role;
        self.root
            .entry("goals")
            .or_insert_with(|| Value::Array(Vec::new()))
            .as_array_mut()
            .ok_or_else(|| {
                Error::new(ErrorCode::RegistryShape, role)
                    .message(format!("`goals` in the {role} is not a list"))
            })
    }

    /// The entry at `index`.
    pub fn entry(&self, index: usize) -> Option<&Value> {
        self.goals().get(index)
    }

    /// The entry at `index`, to change.
    pub fn entry_mut(&mut self, index: usize) -> Option<&mut Value> {
        self.root.get_mut("goals")?.as_array_mut()?.get_mut(index)
    }

    /// This registry with the entry at `index` alone: to look at one goal of many without
    /// copying all of them. It is for reading; the witness is the whole file's.
    pub fn only(&self, index: usize) -> Self {
        let mut root: Map<String, Value> = self
            .root
            .iter()
            .filter(|(key, _)| key.as_str() != "goals")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        root.insert("goals".into(), Value::Array(self.entry(index).cloned().into_iter().collect()));
        Self {
            path: self.path.clone(),
            role: self.role,
            root,
            witness: self.witness.clone(),
            exists: self.exists,
        }
    }

    /// Where `goal` is. An entry is it when its id is the same text or the same goal
    /// id in canonical form; two such entries are one goal stated twice.
    pub fn find(&self, goal: &GoalId) -> Lookup {
        let mut hits = self
            .goals()
            .iter()
            .enumerate()
            .filter(|(_, entry)| is_goal(entry, goal))
            .map(|(index, _)| index);
        match (hits.next(), hits.next()) {
            (None, _) => Lookup::Unknown,
            (Some(index), None) => Lookup::Found(index),
            (Some(_), Some(_)) => Lookup::Duplicated,
        }
    }

    /// Index of `goal`, or [`ErrorCode::GoalUnknown`] or [`ErrorCode::GoalDuplicated`].
    pub fn locate(&self, goal: &GoalId) -> Result<usize> {
        match self.find(goal) {
            Lookup::Found(index) => Ok(index),
            Lookup::Unknown => Err(Error::new(ErrorCode::GoalUnknown, goal.as_str())
                .message(format!("no goal \"{goal}\" is in the {}", self.role))
                .detail(self.path.display())),
            Lookup::Duplicated => Err(Error::new(ErrorCode::GoalDuplicated, goal.as_str())
                .message(format!("the {} has two goals \"{goal}\"", self.role))
                .detail(self.path.display())),
        }
    }

    /// The goal of a command that was given none: the only one there is.
    ///
    /// Errors: [`ErrorCode::GoalUnknown`] without goals, [`ErrorCode::GoalRequired`]
    /// with several, naming them.
    pub fn only_goal(&self) -> Result<GoalId> {
        let ids: Vec<&str> = self.goals().iter().filter_map(entry_id).collect();
        match ids.as_slice() {
            [] => Err(Error::new(ErrorCode::GoalUnknown, "goal")
                .message(format!("the {} has no goal", self.role))
                .detail(self.path.display())),
            // Nobody has asked for it: what is wrong is wrong in the registry.
            [one] => GoalId::parse(one).map_err(|error| {
                Error::new(ErrorCode::RegistryShape, "goal id")
                    .message(format!("the {} has a goal id that none can be", self.role))
                    .detail(error)
            }),
            several => {
                let mut listed = several
                    .iter()
                    .take(MAX_LISTED)
                    .map(|id| shown(id))
                    .collect::<Vec<_>>()
                    .join(", ");
                let more = several.len().saturating_sub(MAX_LISTED);
                if more > 0 {
                    listed.push_str(&format!(" and {more} more"));
                }
                Err(Error::new(ErrorCode::GoalRequired, "goal")
                    .message(format!("the {} has several goals: {listed}", self.role))
                    .detail(self.path.display()))
            }
        }
    }

    /// Appends a goal entry, or [`ErrorCode::GoalExists`].
    pub fn add(&mut self, goal: &GoalId, entry: Value) -> Result<()> {
        if self.find(goal) != Lookup::Unknown {
            return Err(Error::new(ErrorCode::GoalExists, goal.as_str())
                .message(format!("the {} has a goal \"{goal}\" already", self.role)));
        }
        self.goals_mut()?.push(entry);
        Ok(())
    }

    /// Sets `updated_at`, and the schema version of a registry that has none.
    pub fn stamp(&mut self, now: Instant) {
        self.root.entry("schema_version").or_insert_with(|| json!("0.1"));
        self.root.insert("updated_at".into(), json!(now));
    }

    /// The bytes to write: two spaces of indent, text as it is, a line feed at the end.
    pub fn render(&self) -> Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(&self.root)
            .map_err(|error| Error::new(ErrorCode::Internal, self.role).detail(error))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Takes note of what was written.
    pub(super) fn written(&mut self, witness: String) {
        self.witness = witness;
        self.exists = true;
    }
}

/// sha256 (hex) of one entry, independent of how the file is laid out.
pub fn entry_digest(entry: &Value) -> String {
    sha256_hex(entry.to_string().as_bytes())
}

/// The id of an entry that has one.
pub fn entry_id(entry: &Value) -> Option<&str> {
    entry.get("id").and_then(Value::as_str).filter(|id| !id.trim().is_empty())
}

/// Whether `entry` is of `goal`.
pub fn is_goal(entry: &Value, goal: &GoalId) -> bool {
    entry_id(entry).is_some_and(|id| {
        // Canonicalising costs more than comparing, and of ASCII text only case and
        // outer space can differ.
        id == goal.as_str()
            || if id.is_ascii() {
                id.trim().eq_ignore_ascii_case(goal.as_str())
            } else {
                GoalId::parse(id).is_ok_and(|id| id == *goal)
            }
    })
}

/// Text of a field, when present and not empty.
pub(super) fn text_field<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    map.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// Text from a file, fit for a message.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .take(40)
        .flat_map(|c| {
            let plain = c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | ':' | '-');
            let (plain, escaped) =
                if plain { (Some(c), None) } else { (None, Some(c.escape_default())) };
            plain.into_iter().chain(escaped.into_iter().flatten())
        })
        .collect()
}

fn parse(bytes: &[u8], role: &'static str, path: &Path) -> Result<Map<String, Value>> {
    let invalid = |sentence: String| {
        Error::new(ErrorCode::RegistryInvalidJson, role).message(sentence).detail(path.display())
    };
    let shape = |sentence: String| {
        Error::new(ErrorCode::RegistryShape, role).message(sentence).detail(path.display())
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.is_empty() {
        return Err(invalid(format!("the {role} is an empty file")));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(format!("the {role} is not UTF-8: {error}")))?;
    let value: Value = serde_json::from_str(text).map_err(|error| {
        invalid(format!(
            "the {role} is not JSON (line {}, column {})",
            error.line(),
            error.column()
        ))
    })?;
    let Value::Object(root) = value else {
        return Err(shape(format!("the {role} is not a JSON object")));
    };
    match root.get("goals") {
        None | Some(Value::Array(_)) => Ok(root),
        Some(_) => Err(shape(format!("`goals` in the {role} is not a list"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Registry> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.json");
        std::fs::write(&path, bytes).unwrap();
        Registry::read(&path)
    }

    fn id(text: &str) -> GoalId {
        GoalId::parse(text).unwrap()
    }

    #[test]
    fn unreadable_is_never_empty() {
        for (bytes, code) in [
            (&b""[..], ErrorCode::RegistryInvalidJson),
            (b"\xef\xbb\xbf", ErrorCode::RegistryInvalidJson),
            (b"{\"goals\": [{\"id\"", ErrorCode::RegistryInvalidJson),
            (b"{\"a\":\"\xff\"}", ErrorCode::RegistryInvalidJson),
            (b"[]", ErrorCode::RegistryShape),
            (b"null", ErrorCode::RegistryShape),
            (b"{\"goals\":{}}", ErrorCode::RegistryShape),
            (b"{\"goals\":null}", ErrorCode::RegistryShape),
        ] {
            let error = read(bytes).unwrap_err();
            assert_eq!(error.code, code, "{bytes:?}");
            assert!(!error.to_json().to_string().contains('/'), "a path in {error:?}");
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Registry::read(dir.path()).unwrap_err().code, ErrorCode::RegistryIo);
        let missing = Registry::read(&dir.path().join("none")).unwrap();
        assert!(!missing.exists() && missing.goals().is_empty());
    }

    #[test]
    fn byte_order_mark_is_tolerated_and_witness_is_of_the_bytes() {
        let bytes = b"\xef\xbb\xbf{\"goals\":[]}";
        let registry = read(bytes).unwrap();
        assert_eq!(registry.witness(), sha256_hex(bytes));
        assert!(registry.exists());
    }

    #[test]
    fn goals_are_found_by_text_and_by_canonical_form_and_twice_is_refused() {
        let registry = read(
            r#"{"goals":[1,{"x":1},{"id":" Demo "},{"id":"ÉTÉ"},{"id":"a"},{"id":"A"},{"id":"odd id"}]}"#
                .as_bytes(),
        )
        .unwrap();
        assert_eq!(registry.find(&id("demo")), Lookup::Found(2));
        assert_eq!(registry.find(&id("e\u{301}te\u{301}")), Lookup::Found(3));
        assert_eq!(registry.find(&id("a")), Lookup::Duplicated);
        assert_eq!(registry.find(&GoalId::trusted("odd id")), Lookup::Found(6));
        assert_eq!(registry.locate(&id("none")).unwrap_err().code, ErrorCode::GoalUnknown);
    }

    #[test]
    fn the_only_goal_is_taken_and_several_are_listed() {
        assert_eq!(
            read(b"{\"goals\":[{\"id\":\"One\"}]}").unwrap().only_goal().unwrap(),
            id("one")
        );
        assert_eq!(read(b"{}").unwrap().only_goal().unwrap_err().code, ErrorCode::GoalUnknown);
        let goals: Vec<_> = (0..12).map(|n| json!({ "id": format!("g{n}") })).collect();
        let text = json!({ "goals": goals }).to_string();
        let error = read(text.as_bytes()).unwrap().only_goal().unwrap_err();
        assert_eq!(error.code, ErrorCode::GoalRequired);
        assert!(error.text().ends_with("g8, g9 and 2 more"), "{}", error.text());
    }

    #[test]
    fn order_unknown_fields_and_text_survive_rendering() {
        let text = "{\n  \"z\": 1,\n  \"a\": \"é\u{1f600}\",\n  \"goals\": [\n    {\n      \"x\": null,\n      \"id\": \"g\"\n    }\n  ]\n}\n";
        let rendered = read(text.as_bytes()).unwrap().render().unwrap();
        assert_eq!(String::from_utf8(rendered).unwrap(), text);
    }
}
