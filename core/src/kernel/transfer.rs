//! `export` and `import`: one goal as one JSON file that comes back byte-equal.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Kernel;
use super::goal::Goal;
use super::snapshot::MAX_STATE_FILE;
use crate::error::{Error, ErrorCode, Result};
use crate::file::{Durability, read_bounded, replace, sha256_hex};
use crate::model::{GoalId, GoalUid};
use crate::operation::Addressed;
use crate::registry::{Lookup, Projection, begin_change, place};
use crate::store::{Read, SqliteStore, Transaction};

/// Names the format; the number grows with it.
const FORMAT: &str = "loopx_goal_export_v1";
/// Largest export that is read.
const MAX_EXPORT: u64 = 8 * 1024 * 1024 * 1024;

/// Registry fields that say where a goal lies on this machine.
const LOCAL_FIELDS: [&str; 4] =
    ["repo", "source_registry", "synced_at", "attention_override_synced_from"];

/// `export`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportRequest {
    /// The file to write; the answer carries the text when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// `import`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportRequest {
    /// The file that `export` wrote.
    pub file: PathBuf,
}

impl Kernel {
    /// Writes a goal as one JSON document: its registry entry without local paths, its
    /// state file as last written, and every record. An unimported goal is imported first
    /// by any write, so it is refused here.
    pub fn export(&self, at: &Addressed, request: &ExportRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let Some(uid) = goal.policy.goal_uid.clone().filter(|_| goal.has_store) else {
            return Err(Error::new(ErrorCode::GoalNotImported, goal.raw_id.as_str())
                .message(
                    "the goal is still in the earlier tool's files; the first write imports it",
                )
                .next(format!("loopx goal adopt-legacy --goal-id {}", goal.policy.goal_id)));
        };
        let store = SqliteStore::open_read_only(&goal.store_path(&uid), &uid, self.sqlite())?;
        let surface = read_bounded(&goal.base_path(&uid), MAX_STATE_FILE, "projection.base")?
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let mut entry = goal.entry()?.clone();
        if let Some(map) = entry.as_object_mut() {
            for field in LOCAL_FIELDS {
                map.shift_remove(field);
            }
            if map
                .get("state_file")
                .and_then(Value::as_str)
                .is_some_and(|p| Path::new(p).is_absolute())
            {
                map.insert("state_file".into(), json!(usual_state_file(&goal.policy.goal_id)));
            }
        }
        let text = write_document(&uid, &entry, surface.as_deref(), &store)?;
        let bytes = text.len();
        match &request.file {
            Some(file) => {
                replace(file, text.as_bytes(), Durability::Synced)?;
                Ok(
                    json!({"ok": true, "goal_id": goal.policy.goal_id, "exported": true, "bytes": bytes}),
                )
            }
            None => Ok(
                json!({"ok": true, "goal_id": goal.policy.goal_id, "exported": true, "bytes": bytes, "text": text}),
            ),
        }
    }

    /// Takes an exported goal into this registry; the goal and its uid must be new here.
    pub fn import(&self, request: &ImportRequest) -> Result<Value> {
        let bytes = read_bounded(&request.file, MAX_EXPORT, "export file")?.ok_or_else(|| {
            Error::new(ErrorCode::ExportInvalid, "export file").message("the file is not there")
        })?;
        let document: Value = serde_json::from_slice(&bytes).map_err(|e| {
            Error::new(ErrorCode::ExportInvalid, "export file")
                .message(format!("the file is not JSON: {e}"))
        })?;
        let (entry, tables, surface) = parts(&document)?;
        let mut entry = entry.clone();
        let policy = crate::registry::policy(&entry)?;
        let id: GoalId = policy.goal_id.clone();
        let uid = policy.goal_uid.clone().ok_or_else(|| invalid("goal.goal_uid"))?;
        if document.get("goal_uid").and_then(Value::as_str) != Some(uid.as_str()) {
            return Err(Error::new(ErrorCode::ExportInvalid, "goal_uid")
                .message("the export is of one goal and its registry entry of another"));
        }
        let home = self.options.route.registry_to_create_in(&self.route);
        let mut change = begin_change(&home, &self.holder("import"), self.options.deadline)?;
        let registry = change.registry();
        let same_uid = registry
            .goals()
            .iter()
            .any(|g| g.get("goal_uid").and_then(Value::as_str) == Some(uid.as_str()));
        if same_uid || !matches!(registry.find(&id), Lookup::Unknown) {
            return Err(Error::new(ErrorCode::GoalExists, id.as_str())
                .message(format!("goal {id} is in this registry already"))
                .next(format!("loopx goal show --goal-id {id}")));
        }
        if let Some(map) = entry.as_object_mut() {
            let project = place::absolute(place::project_root(&home));
            map.insert("repo".into(), json!(project.display().to_string()));
            let declared = map.get("state_file").and_then(Value::as_str);
            // A file from elsewhere does not say where outside the project something is written.
            if declared.is_some_and(|p| !inside(Path::new(p))) {
                map.insert("state_file".into(), json!(usual_state_file(&id)));
            }
        }
        change.registry_mut().add(&id, entry)?;
        // What would refuse the projection refuses the import, before anything is written.
        if let Ok(global) = self.options.route.global_registry() {
            let goals = Some(std::slice::from_ref(&id));
            let now = self.now();
            let projection = Projection {
                source: change.registry(),
                goals,
                global: &global,
                replace_state: false,
                now,
            };
            projection.preview()?;
            projection.probe()?;
        }
        let goal = self.goal_in(change.registry().clone(), &id)?;
        let state_path = goal.state_path();
        if let (Some(path), Some(text)) = (&state_path, surface) {
            let there = read_bounded(path, MAX_STATE_FILE, "state file")?;
            if there.is_some_and(|b| b != text.as_bytes()) {
                return Err(Error::new(ErrorCode::GoalExists, "state file")
                    .message("another state file lies where the goal's would go")
                    .next("move it away, then import again"));
            }
        }
        let path = goal.store_path(&uid);
        let draft = Draft::of(&goal, &uid, &bytes);
        draft.begin(&path)?;
        let mut rows = 0_u64;
        SqliteStore::create(&path, &uid, self.sqlite(), &mut |tx: &mut dyn Transaction| {
            for (table, list) in tables {
                for row in list.as_array().ok_or_else(|| invalid(table))? {
                    tx.load(table, row)?;
                    rows += 1;
                }
            }
            Ok(())
        })?;
        if let Some(text) = surface {
            replace(&goal.base_path(&uid), text.as_bytes(), Durability::Unsynced)?;
            if let Some(path) = &state_path {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)
                        .map_err(|e| Error::from_io(&e, "folder of the state file", folder))?;
                }
                replace(path, text.as_bytes(), Durability::Synced)?;
            }
        }
        change.commit()?;
        draft.end();
        let now = self.now();
        let projected = self.project_global(change.registry(), std::slice::from_ref(&id), now);
        let mut answer =
            json!({"ok": true, "goal_id": id, "goal_uid": uid, "imported": true, "rows": rows});
        if let (Err(error), Some(map)) = (projected, answer.as_object_mut()) {
            map.insert("global_projection".into(), error.to_json());
        }
        Ok(answer)
    }
}

/// Where a goal's state file lies when nothing else is declared.
pub(super) fn usual_state_file(id: &GoalId) -> String {
    format!(".loopx/goals/{id}/ACTIVE_GOAL_STATE.md")
}

/// Relative, and not above where it starts.
fn inside(path: &Path) -> bool {
    path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
}

/// Marks a store that an import is making, so that an import which was killed can be run
/// again, and no other file is ever taken for its remains.
struct Draft {
    marker: PathBuf,
    content: String,
}

impl Draft {
    fn of(goal: &Goal, uid: &GoalUid, export: &[u8]) -> Self {
        let registry =
            sha256_hex(place::absolute(goal.registry.path()).as_os_str().as_encoded_bytes());
        let content = format!("{registry} {}\n", sha256_hex(export));
        Self { marker: goal.folder(uid).join("import.draft"), content }
    }

    /// Errors: [`ErrorCode::GoalExists`] when a store lies there that is not this import's.
    fn begin(&self, store: &Path) -> Result<()> {
        if store.exists() {
            let marker = read_bounded(&self.marker, 4096, "import.draft")?;
            if marker.is_none_or(|m| m != self.content.as_bytes()) {
                return Err(Error::new(ErrorCode::GoalExists, "store")
                    .message(
                        "the runtime root has a store of this goal already, of another registry",
                    )
                    .next("set LOOPX_RUNTIME_ROOT to another folder, then import again"));
            }
            std::fs::remove_file(store).map_err(|e| Error::from_io(&e, "store", store))?;
        }
        if let Some(folder) = self.marker.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|e| Error::from_io(&e, "store folder", folder))?;
        }
        replace(&self.marker, self.content.as_bytes(), Durability::Synced)
    }

    /// Left behind when it fails: only the same import into the same registry would heed it,
    /// and that one finds the goal there.
    fn end(&self) {
        let _ = std::fs::remove_file(&self.marker);
    }
}

fn invalid(about: &str) -> Error {
    Error::new(ErrorCode::ExportInvalid, about)
        .message(format!("the export has no readable {about}"))
}

/// One line a record: exports of one goal can be compared line by line.
fn write_document(
    uid: &GoalUid,
    entry: &Value,
    surface: Option<&str>,
    store: &dyn Read,
) -> Result<String> {
    let mut text = format!(
        "{{\"format\":\"{FORMAT}\",\"goal_uid\":{},\n\"goal\":{entry},\n\"state_file\":{},\n\"tables\":{{",
        json!(uid),
        json!(surface)
    );
    let mut open: Option<String> = None;
    store.dump(&mut |table, row| {
        match open.as_deref() {
            Some(current) if current == table => text.push_str(",\n"),
            other => {
                text.push_str(if other.is_some() { "\n],\n" } else { "\n" });
                text.push_str(&format!("\"{table}\":[\n"));
                open = Some(table.to_owned());
            }
        }
        text.push_str(&row.to_string());
        Ok(())
    })?;
    text.push_str(if open.is_some() { "\n]\n}}\n" } else { "}}\n" });
    Ok(text)
}

type Parts<'a> = (&'a Value, &'a Map<String, Value>, Option<&'a str>);

fn parts(document: &Value) -> Result<Parts<'_>> {
    if document.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(Error::new(ErrorCode::ExportInvalid, "format")
            .message(format!("the file does not say \"format\":\"{FORMAT}\"")));
    }
    let entry = document.get("goal").filter(|g| g.is_object()).ok_or_else(|| invalid("goal"))?;
    let tables =
        document.get("tables").and_then(Value::as_object).ok_or_else(|| invalid("tables"))?;
    Ok((entry, tables, document.get("state_file").and_then(Value::as_str)))
}
