//! `store.check`: a store against itself and against what lies beside it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::goal::Goal;
use super::super::leftovers::{draft_of, is_laid_beside, orphans};
use super::super::snapshot::{MAX_STATE_FILE, health_of};
use super::super::surface::{self, Equal};
use super::super::{Kernel, import};
use super::{Progress, Step};
use crate::error::{ErrorCode, Result};
use crate::file::leftover::{MIN_AGE_SECONDS, is_leftover};
use crate::file::read_bounded;
use crate::model::{Finding, GoalUid, Instant, Todo};
use crate::operation::Addressed;
use crate::state_file::Document;
use crate::store::{Read, SqliteStore};

/// How long a file that a running writer may own is looked at again.
const SETTLE: Duration = Duration::from_millis(150);

/// `store.check`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreCheckRequest {}

impl Kernel {
    /// Compares stores with themselves and with what lies beside them. Reads only. An
    /// answer with problems has `"ok":false`.
    pub fn store_check(
        &self,
        at: &Addressed,
        _request: &StoreCheckRequest,
        progress: Progress<'_>,
    ) -> Result<Value> {
        let goals = self.named_or_all(at)?;
        let of = goals.len();
        let mut rows = Vec::new();
        let mut first: Option<Finding> = None;
        let mut count = 0_usize;
        for (done, (name, goal)) in goals.into_iter().enumerate() {
            progress(Step { what: "check", done, of });
            let (row, problems) = match goal {
                Ok(goal) => self.check_goal(&goal),
                Err(error) => (json!({"goal_id": name}), vec![health_of(&error)]),
            };
            count += problems.len();
            let mut row = row;
            if let Some(map) = row.as_object_mut() {
                map.insert("ok".into(), json!(problems.is_empty()));
                map.insert("problems".into(), json!(problems));
            }
            first = first.or_else(|| problems.into_iter().next());
            rows.push(row);
        }
        progress(Step { what: "check", done: of, of });
        let mut answer = json!({"ok": first.is_none(), "problem_count": count, "goals": rows});
        if let (Some(first), Some(map)) = (first, answer.as_object_mut()) {
            let code = ErrorCode::StoreProblems.row();
            map.insert("error_code".into(), json!(code.text));
            let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
            map.insert("error".into(), json!(format!("{}{more}", first.message)));
            map.insert("about".into(), json!(first.about));
            map.insert(
                "next_command".into(),
                json!(first.next_command.unwrap_or_else(|| code.next_command.to_owned())),
            );
        }
        Ok(answer)
    }

    fn check_goal(&self, goal: &Goal) -> (Value, Vec<Finding>) {
        let id = goal.policy.goal_id.as_str();
        let Some(uid) = goal.policy.goal_uid.as_ref().filter(|_| goal.has_store) else {
            let problems = match import::read(goal) {
                Ok(project) => project.health,
                Err(error) => vec![health_of(&error)],
            };
            return (json!({"goal_id": id, "imported": false}), problems);
        };
        let mut row = json!({"goal_id": id, "imported": true});
        let mut problems = Vec::new();
        let path = goal.store_path(uid);
        let looked = SqliteStore::open_read_only(&path, uid, self.sqlite()).and_then(|store| {
            store.check(goal.policy.quota, self.now(), &mut |read| check_surface(goal, uid, read))
        });
        match looked {
            Ok((checked, found)) => {
                if let (Some(map), Ok(Value::Object(sizes))) =
                    (row.as_object_mut(), serde_json::to_value(checked))
                {
                    map.extend(sizes);
                }
                problems.extend(found);
            }
            Err(error) => problems.push(health_of(&error)),
        }
        problems.extend(leftovers(goal, uid));
        for folder in orphans(&goal.registry, &goal.runtime_root) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            problems.push(Finding::new(
                "orphaned_store",
                name,
                "a process was killed before the goal of this store was made",
            ));
        }
        for problem in &mut problems {
            let next = next_of(&problem.code, id);
            problem.next_command = Some(match problem.next_command.take() {
                Some(own) if next.is_none() => own.replace("<goal>", id),
                _ => next.unwrap_or_else(|| {
                    format!("loopx export --goal-id {id} --file <file>, then report the problem")
                }),
            });
        }
        (row, problems)
    }
}

/// The base beside the store against a projection of the store.
fn check_surface(goal: &Goal, uid: &GoalUid, read: &dyn Read) -> Result<Vec<Finding>> {
    if goal.state_path().is_none() {
        return Ok(Vec::new());
    }
    let mut found = None;
    // A writer that has just committed may not have written its projection yet.
    for _ in 0..3 {
        found = match read_bounded(&goal.base_path(uid), MAX_STATE_FILE, "projection.base") {
            Ok(None) => Some(Finding::new(
                "projection_base_missing",
                "projection.base",
                "what was last written to the state file is not kept",
            )),
            Ok(Some(bytes)) => match Document::parse(&bytes) {
                Ok(base) => differs(read, &base, &bytes)?,
                Err(error) => {
                    Some(Finding::new("projection_base_differs", "projection.base", error.text()))
                }
            },
            Err(error) => Some(health_of(&error)),
        };
        if found.is_none() {
            break;
        }
        std::thread::sleep(SETTLE);
    }
    let mut findings: Vec<Finding> = found.into_iter().collect();
    let looked = surface::look(goal, uid, read, &Equal::default());
    let looked = looked.and_then(|surface| match surface {
        surface::Surface::Edited { bytes, .. } => Document::parse(&bytes).map(drop),
        _ => Ok(()),
    });
    if let Err(error) = looked {
        findings.push(health_of(&error));
    }
    Ok(findings)
}

fn differs(read: &dyn Read, base: &Document, bytes: &[u8]) -> Result<Option<Finding>> {
    let drawn = surface::project(read, base, false, Instant::default())?;
    // An imported file stays as the earlier tool wrote it until a todo changes; its
    // todos are compared then, not its bytes.
    let again = Document::parse(&drawn)?;
    let todos = |document: &Document| -> Vec<Todo> {
        document.todos().iter().map(|p| p.todo.clone()).collect()
    };
    if drawn == bytes || todos(&again) == todos(base) {
        return Ok(None);
    }
    Ok(Some(Finding::new(
        "projection_base_differs",
        "projection.base",
        "the last projection is not what the store would write",
    )))
}

/// The command that helps with a problem of that code, where one does.
fn next_of(code: &str, goal: &str) -> Option<String> {
    Some(match code {
        "store_damaged" | "store_unreadable" | "record_unreadable" | "commit_gap" => {
            format!("loopx store restore --goal-id {goal} --from <backup folder>")
        }
        "journal_pending"
        | "projection_base_missing"
        | "projection_base_differs"
        | "displaced_edits" => {
            format!("any write mends it, for example: loopx refresh-state --goal-id {goal}")
        }
        "leftover_file" | "orphaned_store" => format!(
            "writers take it away when it is {} minutes old; at once then: loopx store prune --goal-id {goal} --execute",
            MIN_AGE_SECONDS / 60
        ),
        "displaced_text" => "take from it what is yours, then move it out of the folder".to_owned(),
        _ => return None,
    })
}

/// Files that a killed process has left.
fn leftovers(goal: &Goal, uid: &GoalUid) -> Vec<Finding> {
    let mut folders = vec![("store folder", goal.folder(uid))];
    if let Some(folder) = goal.registry.path().parent() {
        folders.push(("registry folder", folder.to_path_buf()));
    }
    let state_file = goal.state_path();
    if let Some(folder) = state_file.as_deref().and_then(Path::parent) {
        folders.push(("folder of the state file", folder.to_path_buf()));
    }
    let names = || -> Vec<(String, &'static str)> {
        let mut names = Vec::new();
        for (role, folder) in &folders {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let displaced = name == "displaced.md" && *role == "store folder"
                    || state_file.as_deref().is_some_and(|f| is_laid_beside(&name, f));
                if draft_of(&name).is_some() || is_leftover(&name) || displaced {
                    names.push((name, *role));
                }
            }
        }
        names.sort();
        names.dedup();
        names
    };
    let first = names();
    if first.is_empty() {
        return Vec::new();
    }
    // What a running writer owns is gone a moment later.
    std::thread::sleep(SETTLE);
    let still = names();
    first
        .into_iter()
        .filter(|name| still.contains(name))
        .map(|(name, role)| match name.as_str() {
            "displaced.md" => Finding::new(
                "displaced_edits",
                "displaced.md",
                "edits that a projection displaced are yet to be taken in",
            ),
            _ if !is_leftover(&name) && draft_of(&name).is_none() => Finding::new(
                "displaced_text",
                name,
                "a text that was saved while a projection was written could not be taken in",
            ),
            _ => Finding::new(
                "leftover_file",
                name,
                format!("a process that was killed has left this file in the {role}"),
            ),
        })
        .collect()
}
