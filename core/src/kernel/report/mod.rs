//! Reads that show: what stands, what happened, what is wrong, and why a decision is what
//! it is. Each opens a goal once, to read, and writes nothing.

mod diagnose;
mod doctor;
mod explain;
mod goal;
mod history;
mod status;
mod windows;

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Kernel;
use super::goal::Goal;
use super::snapshot::{self, Snapshot};
use crate::admission::{AdmissionRequest, Decision, Situation, Subject, View, ViewQuery, decide};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, CommitRecord, GoalId, Instant};
use crate::registry::document::entry_id;
use crate::registry::{Lookup, Registry, place};

pub use self::doctor::{DoctorRequest, OnPath, Surroundings, program_of};
pub use self::explain::ExplainRequest;
pub use self::history::{EvidenceLogRequest, HistoryRequest};

/// One goal as it is now, opened once.
struct Look<'k> {
    goal: Goal,
    /// `None` when the records cannot be read; the view then says why.
    snapshot: Option<Snapshot<'k>>,
    view: View,
    now: Instant,
}

impl<'k> Look<'k> {
    fn at(kernel: &'k Kernel, goal: Goal, complete: bool) -> Self {
        Self::by(kernel, goal, None, complete)
    }

    /// Hand edits of the state file count as made by `editor`.
    fn by(kernel: &'k Kernel, goal: Goal, editor: Option<&AgentId>, complete: bool) -> Self {
        let now = kernel.now();
        let query = ViewQuery { now, quota: goal.policy.quota, complete };
        let looked = Snapshot::take(kernel, &goal, editor)
            .and_then(|snapshot| snapshot.view(&query).map(|view| (snapshot, view)));
        match looked {
            Ok((snapshot, view)) => Self { goal, snapshot: Some(snapshot), view, now },
            Err(error) => Self { goal, snapshot: None, view: snapshot::unhealthy(&error), now },
        }
    }

    /// The decision on a plain question of `agent`.
    fn decide(&self, agent: Option<&AgentId>) -> Decision {
        let request = AdmissionRequest { agent: agent.cloned(), ..AdmissionRequest::default() };
        decide(&Situation {
            subject: Subject::Goal { policy: &self.goal.policy, view: &self.view },
            request: &request,
            now: self.now,
        })
    }

    /// Who can ask: every registered agent, or nobody in particular.
    fn askers(&self) -> Vec<Option<&AgentId>> {
        match self.goal.policy.roster.as_slice() {
            [] => vec![None],
            roster => roster.iter().map(Some).collect(),
        }
    }

    /// The newest commits.
    fn commits(&self, limit: usize) -> Result<Vec<Value>> {
        match &self.snapshot {
            Some(snapshot) => {
                Ok(snapshot.read().commits_before(None, limit)?.iter().map(commit_line).collect())
            }
            None => Ok(Vec::new()),
        }
    }
}

/// One commit as lists show it.
fn commit_line(commit: &CommitRecord) -> Value {
    let mut line = json!({
        "commit": commit.n,
        "at": commit.at,
        "verb": commit.verb,
        "agent_id": commit.agent,
    });
    if let Some(map) = line.as_object_mut() {
        let said = |key: &str| commit.receipt.get(key).filter(|v| !v.is_null()).cloned();
        // An admission's receipt is the packet, which names the todo inside.
        let selected = || commit.receipt.pointer("/selected_todo/todo_id").filter(|v| !v.is_null());
        if let Some(todo) = said("todo_id").or_else(|| selected().cloned()) {
            map.insert("todo_id".into(), todo);
        }
        let what = said("todo").or_else(|| said("reason")).or_else(|| said("delivery_outcome"));
        if let Some(Value::String(text)) = what {
            map.insert("summary".into(), json!(crate::admission::packet::cut(&text, 160)));
        } else if let Some(slots) = said("slots") {
            map.insert(
                "summary".into(),
                json!(if slots == json!(1) {
                    "1 slot".to_owned()
                } else {
                    format!("{slots} slots")
                }),
            );
        }
        if commit.fixed_clock {
            map.insert("fixed_clock".into(), json!(true));
        }
    }
    line
}

/// The row of a goal that cannot be read.
fn failed(name: &str, error: &Error) -> Value {
    json!({
        "goal_id": name,
        "state": "blocked_health",
        "error_code": error.row().text,
        "error": error.text(),
        "next_command": error.next_command(),
    })
}

/// What `make` says of every goal of the registry, in its order: the goal's name and the
/// answer. A goal that cannot be read is an error of its own and hides no other.
fn every_goal<T>(
    kernel: &Kernel,
    make: impl Fn(Goal) -> Result<T>,
) -> Result<Vec<(String, Result<T>)>> {
    let registry = kernel.registry()?;
    let goals = narrowed(&registry);
    let answer = |(name, found): Named| {
        let made = found.and_then(|(registry, id)| kernel.goal_in(registry, &id)).and_then(&make);
        (name, made)
    };
    // One after the other: two hundred goals take less than a tenth of a second, and
    // threads were measured to gain nothing.
    Ok(goals.into_iter().map(answer).collect())
}

type Named = (String, Result<(Registry, GoalId)>);

/// Every goal with a registry of its own entry alone, so that many goals do not copy the
/// whole registry each, and a source registry that many entries lead to is read once.
fn narrowed(registry: &Registry) -> Vec<Named> {
    let ids: Vec<Result<GoalId>> = registry
        .goals()
        .iter()
        .map(|entry| GoalId::parse(entry_id(entry).unwrap_or_default()))
        .collect();
    let mut times: HashMap<&GoalId, usize> = HashMap::new();
    for id in ids.iter().flatten() {
        *times.entry(id).or_default() += 1;
    }
    let mut sources: HashMap<PathBuf, Option<Registry>> = HashMap::new();
    registry
        .goals()
        .iter()
        .enumerate()
        .zip(&ids)
        .map(|((index, entry), id)| {
            let name = entry_id(entry).unwrap_or_default().to_owned();
            let found = id.clone().and_then(|id| {
                if times.get(&id).copied().unwrap_or(0) > 1 {
                    return Err(Error::new(ErrorCode::GoalDuplicated, id.as_str())
                        .message(format!("the {} has two goals \"{id}\"", registry.role())));
                }
                let source = entry.get("source_registry").and_then(Value::as_str);
                let source = source.map(str::trim).filter(|s| !s.is_empty()).and_then(|path| {
                    let path = place::project_root(registry.path()).join(path);
                    sources
                        .entry(path.clone())
                        .or_insert_with(|| Registry::read_as(&path, "source registry").ok())
                        .as_ref()
                });
                // What the source does not settle is settled, and refused, the long way.
                match source.map(|s| (s, s.find(&id))) {
                    Some((source, Lookup::Found(at))) => Ok((source.only(at), id)),
                    _ => Ok((registry.only(index), id)),
                }
            });
            (name, found)
        })
        .collect()
}
