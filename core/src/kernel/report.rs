//! Reads that show: windows, one goal.

use serde_json::{Value, json};

use super::Kernel;
use super::goal::Goal;
use super::snapshot::{self, Snapshot};
use crate::admission::{AdmissionRequest, Situation, Subject, ViewQuery, decide};
use crate::command::quota::status_row;
use crate::error::{Error, Result};
use crate::model::GoalId;
use crate::operation::Addressed;
use crate::registry::document::entry_id;

/// The window of one goal, or of every goal of the registry. A goal that cannot be read
/// is a row with its error, and the others are still shown.
pub(super) fn quota_status(kernel: &Kernel, at: &Addressed) -> Result<Value> {
    let rows = match at.goal_id.as_deref() {
        Some(name) => vec![row(kernel, &kernel.goal(Some(name))?)?],
        None => {
            let registry = kernel.registry()?;
            registry
                .goals()
                .iter()
                .map(|entry| {
                    let name = entry_id(entry).unwrap_or_default();
                    GoalId::parse(name)
                        .and_then(|id| kernel.goal_in(registry.clone(), &id))
                        .and_then(|goal| row(kernel, &goal))
                        .unwrap_or_else(|error| failed(name, &error))
                })
                .collect()
        }
    };
    Ok(json!({"ok": true, "mode": "status", "goals": rows}))
}

fn failed(name: &str, error: &Error) -> Value {
    json!({"goal_id": name, "state": "blocked_health", "error_code": error.row().text, "error": error.text()})
}

fn row(kernel: &Kernel, goal: &Goal) -> Result<Value> {
    let now = kernel.now();
    let query = ViewQuery { now, quota: goal.policy.quota, complete: false };
    let view = Snapshot::take(kernel, goal, None)
        .and_then(|s| s.view(&query))
        .unwrap_or_else(|error| snapshot::unhealthy(&error));
    // The goal as its first agent sees it: state is per goal, not per agent.
    let asked = AdmissionRequest {
        agent: goal.policy.roster.first().cloned(),
        ..AdmissionRequest::default()
    };
    let decision = decide(&Situation {
        subject: Subject::Goal { policy: &goal.policy, view: &view },
        request: &asked,
        now,
    });
    let mut row = status_row(&goal.policy, &view, decision.verdict.state, decision.rule);
    if let (false, Some(map)) = (view.health.is_empty(), row.as_object_mut()) {
        map.insert("health".into(), json!(view.health));
    }
    Ok(row)
}

/// One goal: policy, totals, window, last commits.
pub(super) fn goal_show(kernel: &Kernel, at: &Addressed) -> Result<Value> {
    let goal = kernel.goal(at.goal_id.as_deref())?;
    let row = row(kernel, &goal)?;
    let policy = &goal.policy;
    let mut commits = Vec::new();
    let mut commit = 0;
    if let Ok(snapshot) = Snapshot::take(kernel, &goal, None) {
        commit = snapshot.read().last_commit()?;
        commits = snapshot
            .read()
            .commits(commit.saturating_sub(5), 5)?
            .into_iter()
            .map(|c| json!({"commit": c.n, "verb": c.verb, "agent_id": c.agent, "at": c.at, "fixed_clock": c.fixed_clock}))
            .collect();
    }
    Ok(json!({
        "ok": true,
        "goal_id": policy.goal_id,
        "goal_uid": policy.goal_uid,
        "imported": goal.has_store,
        "objective": policy.objective,
        "status": policy.status,
        "stopped": policy.is_stopped(),
        "agents": policy.roster,
        "write_scope": policy.write_scope,
        "state_file": policy.state_file,
        "quota": row,
        "commit": commit,
        "commits": commits,
    }))
}
