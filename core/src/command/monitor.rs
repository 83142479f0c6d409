//! `quota monitor-poll` and `monitor list`: looking at what is watched. A poll never
//! spends; it says what was seen and when to look again.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::todo::{follows, require_free};
use super::todo_complete::{TodoCompleteRequest, next_todos};
use super::todo_fields::{TodoFields, check};
use super::{Effect, Scene, one_line};
use crate::admission::View;
use crate::admission::facts::unchanged_limit;
use crate::admission::holds::{Due, due_at, is_expired};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{GoalPolicy, Instant, Role, TaskClass, Todo};
use crate::state_file::is_provisional;
use crate::store::Change;

/// `quota.monitor_poll`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MonitorPollRequest {
    /// Who looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The monitor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<String>,
    /// The monitor by what it watches, instead of by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_key: Option<String>,
    /// Digest of what was seen; another one than last time is a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_hash: Option<String>,
    /// What was seen matters: something should be done about it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub material_change: bool,
    /// When to look next, instead of now plus the cadence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_due_at: Option<String>,
    /// How often to look from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cadence: Option<String>,
    /// Material change: text of the agent todo that it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_agent_todo: Option<String>,
    /// Material change: text of the user todo that it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_user_todo: Option<String>,
    /// Class of that user todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_user_task_class: Option<TaskClass>,
    /// Fields of the new agent todo.
    #[serde(skip_serializing_if = "TodoFields::is_empty")]
    pub next_fields: TodoFields,
    /// The turn in which it was looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<String>,
    /// Act; without it the answer is a preview.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub execute: bool,
}

/// Records one look at a monitor.
pub fn poll(scene: &Scene<'_>, request: &MonitorPollRequest) -> Result<Effect> {
    let goal = &scene.policy.goal_id;
    let agent = scene.actor(request.agent_id.as_deref())?;
    let old = find(scene, request)?;
    let id = &old.todo_id;
    if old.task_class != TaskClass::Monitor {
        return Err(Error::new(ErrorCode::TodoInvalid, id.as_str())
            .message(format!("{id} is a {}, not a continuous_monitor", old.task_class))
            .next(format!("loopx monitor list --goal-id {goal}")));
    }
    if !old.is_open() {
        return Err(Error::new(ErrorCode::TodoNotOpen, id.as_str())
            .message(format!("{id} is done; nothing is watched any more"))
            .next(format!("loopx monitor list --goal-id {goal}")));
    }
    if is_expired(&old, scene.now) {
        return Err(Error::new(ErrorCode::TodoNotOpen, id.as_str())
            .message(format!("{id} ended with its expires_at"))
            .next(format!("loopx todo update --goal-id {goal} --todo-id {id} --expires-at ...")));
    }
    require_free(scene, &old, agent.as_ref())?;
    let follow = request.next_agent_todo.is_some() || request.next_user_todo.is_some();
    if follow && !request.material_change {
        return Err(Error::new(ErrorCode::RequestInvalid, "material_change")
            .message("a todo follows from a poll only with --material-change"));
    }

    let mut todo = old.clone();
    let hash = request
        .result_hash
        .as_deref()
        .map(|h| one_line("result_hash", h, 200))
        .transpose()?
        .filter(|h| !h.is_empty());
    let other = matches!((&hash, &old.result_hash), (Some(new), Some(last)) if new != last);
    let changed = request.material_change || other;
    let schedule = TodoFields {
        cadence: request.cadence.clone(),
        next_due_at: request.next_due_at.clone(),
        ..TodoFields::default()
    };
    schedule.apply(scene, &mut todo)?;
    if todo.cadence != old.cadence {
        todo.updated_at = Some(scene.now);
    }
    todo.next_due_at = match (&request.next_due_at, todo.cadence) {
        (Some(_), _) => todo.next_due_at,
        (None, Some(cadence)) => Some(scene.now.plus_micros(cadence.micros())),
        // It was due once. Left as it is, it would stay due for ever.
        (None, None) => None,
    };
    if todo.next_due_at.is_some_and(|at| at <= scene.now) {
        return Err(Error::new(ErrorCode::RequestInvalid, "next_due_at")
            .message("the next look lies in the past; name an instant after now"));
    }
    record_look(&mut todo, scene.now, hash, changed, request.material_change);
    check(scene, &todo)?;

    let next = next_todos(
        scene,
        Some(&todo),
        &TodoCompleteRequest {
            next_agent_todo: request.next_agent_todo.clone(),
            next_user_todo: request.next_user_todo.clone(),
            next_user_task_class: request.next_user_task_class,
            next_fields: request.next_fields.clone(),
            ..TodoCompleteRequest::default()
        },
        agent.as_ref(),
    )?;
    let mut changes = Vec::new();
    if next.iter().any(|t| follows(t) || t.task_class == TaskClass::UserGate) {
        changes.push(Change::FollowDangling);
    }
    if changed {
        changes.push(Change::ClearStalls(id.clone()));
    }
    changes.push(Change::PutTodo(Box::new(todo.clone())));
    changes.extend(next.iter().cloned().map(|t| Change::PutTodo(Box::new(t))));
    let unchanged = todo.consecutive_no_change.unwrap_or(0);
    let mut effect = Effect::new(
        changes,
        json!({
            "dry_run": !request.execute,
            "recorded": request.execute,
            "todo_id": id,
            "agent_id": agent,
            "changed": changed,
            "material_change": request.material_change,
            "last_checked_at": todo.last_checked_at,
            "next_due_at": todo.next_due_at,
            "cadence": todo.cadence,
            "result_hash": todo.result_hash,
            "consecutive_no_change": unchanged,
            "replan_required": unchanged >= unchanged_limit(&todo),
            "spent_slots": 0,
            "next_todos": next.iter().map(|t| json!({"todo_id": t.todo_id, "todo": t.text})).collect::<Vec<_>>(),
        }),
    );
    if todo.next_due_at.is_none() {
        effect.answer.insert(
            "next_command".into(),
            json!(format!("loopx todo update --goal-id {goal} --todo-id {id} --cadence 30m")),
        );
    }
    Ok(effect)
}

/// Notes one look at a monitor: when, what was seen, and whether it had changed. When it
/// is due next is the caller's.
pub fn record_look(
    todo: &mut Todo,
    now: Instant,
    hash: Option<String>,
    changed: bool,
    material: bool,
) {
    todo.last_checked_at = Some(now);
    if hash.is_some() {
        todo.result_hash = hash;
    }
    todo.consecutive_no_change = Some(match changed {
        true => 0,
        false => todo.consecutive_no_change.unwrap_or(0).saturating_add(1),
    });
    if material {
        todo.extra.insert("material_change_at".into(), Value::String(now.to_string()));
    }
}

fn find(scene: &Scene<'_>, request: &MonitorPollRequest) -> Result<Todo> {
    let goal = &scene.policy.goal_id;
    if let Some(id) = &request.todo_id {
        return scene.todo(id);
    }
    let Some(key) = request.target_key.as_deref().map(str::trim) else {
        return Err(Error::new(ErrorCode::RequestInvalid, "todo_id")
            .message("name the monitor with --todo-id or --target-key")
            .next(format!("loopx monitor list --goal-id {goal}")));
    };
    let view = scene.view(false)?;
    let watches =
        |t: &&Todo| t.task_class == TaskClass::Monitor && t.target_key.as_deref() == Some(key);
    let mut found: Vec<Todo> = view.todos.iter().filter(watches).cloned().collect();
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Error::new(ErrorCode::TodoUnknown, "target_key")
            .message(format!("no open monitor watches {key:?}"))
            .next(format!("loopx monitor list --goal-id {goal}"))),
        (Some(_), false) => Err(Error::new(ErrorCode::RequestInvalid, "target_key")
            .message(format!("several monitors watch {key:?}; name one with --todo-id"))
            .next(format!("loopx monitor list --goal-id {goal}"))),
    }
}

/// Lists the open monitors, first what is due longest.
pub fn list(policy: &GoalPolicy, view: &View, now: Instant) -> Value {
    let mut rows: Vec<(bool, Instant, Value)> = view
        .todos
        .iter()
        .filter(|t| t.role == Role::Agent && t.task_class == TaskClass::Monitor && t.is_open())
        .map(|todo| {
            let expired = is_expired(todo, now);
            let (scheduled, at) = match due_at(todo) {
                Due::Now => (true, Some(now)),
                Due::At(at) => (true, Some(at)),
                Due::Never => (false, None),
            };
            let row = json!({
                "todo_id": Some(&todo.todo_id).filter(|id| !is_provisional(id)),
                "text": todo.title(),
                "status": todo.status,
                "target_key": todo.target_key,
                "claimed_by": todo.claimed_by,
                "due": !expired && at.is_some_and(|at| at <= now),
                "next_due_at": at,
                "cadence": todo.cadence,
                "last_checked_at": todo.last_checked_at,
                "consecutive_no_change": todo.consecutive_no_change.unwrap_or(0),
                "unchanged_limit": unchanged_limit(todo),
                "expires_at": todo.expires_at,
                "expired": expired,
                "watch_only": todo.watch_only,
            });
            (expired || !scheduled, at.unwrap_or(now), row)
        })
        .collect();
    rows.sort_by_key(|(last, at, _)| (*last, *at));
    json!({
        "ok": true,
        "goal_id": policy.goal_id,
        "due_count": rows.iter().filter(|(_, _, r)| r.get("due") == Some(&json!(true))).count(),
        "monitors": rows.into_iter().map(|(_, _, row)| row).collect::<Vec<_>>(),
    })
}
