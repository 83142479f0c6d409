//! `todo archive` and `todo archive-completed`: done todos leave the state file. They
//! stay in the store, and whatever waits for them or follows from them is as before.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Effect, Scene, registered};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{Role, Todo, TodoId};
use crate::store::{Change, TodoFilter};

/// Done todos that stay when nothing else is said.
pub const KEEP: u32 = 10;
/// Most ids that an answer lists.
const LISTED: usize = 50;

/// `todo.archive`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoArchiveRequest {
    /// Which.
    pub todo_id: String,
    /// Who acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// `todo.archive_completed`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoArchiveCompletedRequest {
    /// Whose list; the agents' when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// How many done todos stay; [`KEEP`] when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<u32>,
    /// Who acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Act; without it the answer is a preview.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub execute: bool,
}

/// The gates whose approval still grants something: they stay in sight.
fn standing(scene: &Scene<'_>) -> Result<BTreeSet<TodoId>> {
    Ok(scene.view(false)?.grants.into_iter().filter_map(|g| g.gate).collect())
}

/// Archives one done todo.
pub fn archive(scene: &Scene<'_>, request: &TodoArchiveRequest) -> Result<Effect> {
    let goal = &scene.policy.goal_id;
    request.agent_id.as_deref().map(|a| registered(scene.policy, a)).transpose()?;
    let mut todo = scene.todo(&request.todo_id)?;
    if todo.is_open() {
        return Err(Error::new(ErrorCode::TodoInvalid, todo.todo_id.as_str())
            .message(format!("{} is {}; only done todos are archived", todo.todo_id, todo.status))
            .next(format!("loopx todo complete --goal-id {goal} --todo-id {}", todo.todo_id)));
    }
    if standing(scene)?.contains(&todo.todo_id) {
        return Err(Error::new(ErrorCode::TodoInvalid, todo.todo_id.as_str())
            .message(format!("the approval of {} still grants its scope", todo.todo_id))
            .next(format!("loopx gate grants --goal-id {goal}")));
    }
    let changed = !todo.archived;
    todo.archived = true;
    let answer = json!({
        "archived": true,
        "changed": changed,
        "todo_id": todo.todo_id,
        "status": todo.status,
        "todo": todo.text,
    });
    let changes = if changed { vec![Change::PutTodo(Box::new(todo))] } else { Vec::new() };
    Ok(Effect::new(changes, answer))
}

/// Archives the done todos of a list that were finished first, all but the last `keep`.
pub fn archive_completed(
    scene: &Scene<'_>,
    request: &TodoArchiveCompletedRequest,
) -> Result<Effect> {
    request.agent_id.as_deref().map(|a| registered(scene.policy, a)).transpose()?;
    let role = request.role.unwrap_or(Role::Agent);
    let keep = usize::try_from(request.keep.unwrap_or(KEEP)).unwrap_or(usize::MAX);
    let filter = TodoFilter { role: Some(role), ..TodoFilter::default() };
    let mut done = scene.read.todos(&filter)?;
    done.retain(|t| !t.is_open());
    done.sort_by(|a, b| {
        (a.completed_at, a.order, &a.todo_id).cmp(&(b.completed_at, b.order, &b.todo_id))
    });
    let before = done.len();
    done.truncate(before.saturating_sub(keep));
    let standing = standing(scene)?;
    let (retained, moved): (Vec<Todo>, Vec<Todo>) =
        done.into_iter().partition(|t| standing.contains(&t.todo_id));
    let ids: Vec<&TodoId> = moved.iter().map(|t| &t.todo_id).take(LISTED).collect();
    let answer = json!({
        "dry_run": !request.execute,
        "role": role,
        "max_active_done": keep,
        "active_done_before": before,
        "active_done_after": before - moved.len(),
        "moved_count": moved.len(),
        "moved_todo_ids": ids,
        "retained_standing_decision_count": retained.len(),
    });
    let changes = moved
        .into_iter()
        .map(|t| Change::PutTodo(Box::new(Todo { archived: true, ..t })))
        .collect();
    Ok(Effect::new(changes, answer))
}
