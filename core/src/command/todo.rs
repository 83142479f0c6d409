//! `todo add`, `list`, `claim`, `update`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::todo_fields::{TodoFields, check};
use super::{Effect, Scene, TEXT_LIMIT, one_line, registered};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, Continuation, Role, TaskClass, Todo, TodoId, TodoStatus, Turn};
use crate::store::{Change, Read, TodoFilter};

/// `todo.add`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoAddRequest {
    /// Whose list.
    pub role: Role,
    /// The line, with `[P0]` to `[P4]` in front for a priority.
    pub text: String,
    /// `open`, `blocked` or `deferred`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TodoStatus>,
    /// Who adds it; for user todos also whom it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Other fields.
    #[serde(flatten)]
    pub fields: TodoFields,
}

/// `todo.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoListRequest {
    /// One role only.
    pub role: Option<Role>,
    /// One status only.
    pub status: Option<TodoStatus>,
    /// One todo only.
    pub todo_id: Option<String>,
    /// What this agent may see: unclaimed or its own, not excluded; user todos that
    /// concern it.
    pub agent_id: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
    /// With archived ones.
    pub archived: bool,
}

/// `todo.claim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoClaimRequest {
    /// Which.
    pub todo_id: String,
    /// For whom; the acting agent when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    /// Who acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// `todo.update`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoUpdateRequest {
    /// Which.
    pub todo_id: String,
    /// Who acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// New text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// New status; an agent todo is completed with `todo complete`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TodoStatus>,
    /// Fields to take off: `claim`, `blocks-agent`, `excluded-agents`, `global-gate`,
    /// `unblocks-todo-id`, `decision-scope`, `resume-when`, `note`, `reason`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<String>,
    /// Todos that follow it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub successor_todo_ids: Vec<String>,
    /// Nothing follows it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_follow_up: bool,
    /// Other fields.
    #[serde(flatten)]
    pub fields: TodoFields,
}

/// A todo as answers show it: every set field, the priority and the title apart.
pub fn shown(todo: &Todo) -> Value {
    let mut value = serde_json::to_value(todo).unwrap_or(Value::Null);
    if let Some(map) = value.as_object_mut() {
        map.remove("order");
        if map.get("todo_id").and_then(Value::as_str).is_some_and(|id| id.starts_with('?')) {
            map.insert("todo_id".into(), Value::Null);
        }
        let extra = map.shift_remove("extra");
        if let Some(Value::Object(extra)) = extra {
            for (key, value) in extra {
                map.entry(key).or_insert(value);
            }
        }
        map.insert("priority".into(), json!(todo.priority().map(|p| format!("P{p}"))));
        map.insert("title".into(), json!(todo.title()));
        map.insert("done".into(), json!(!todo.is_open()));
    }
    value
}

/// Marks a new or reopened advancement todo: something follows what was completed.
pub fn follows(todo: &Todo) -> bool {
    todo.role == Role::Agent && todo.task_class == TaskClass::Advancement && todo.is_open()
}

/// Adds a todo. An unfinished one of the same role and text is not added again: its
/// given fields are updated instead.
pub fn add(scene: &Scene<'_>, request: &TodoAddRequest) -> Result<Effect> {
    let text = one_line("text", &request.text, TEXT_LIMIT)?;
    let actor = request.agent_id.as_deref().map(|a| registered(scene.policy, a)).transpose()?;
    let class = request.fields.task_class.unwrap_or(match request.role {
        // A user todo must say which it is; `check` refuses this one with the way out.
        Role::User | Role::Agent => TaskClass::Advancement,
    });
    let existing = scene.read.open_todo_by_text(request.role, &text)?;
    let already = existing.is_some();
    let mut todo = match existing.clone() {
        Some(todo) => todo,
        None => {
            let mut todo =
                Todo::new(scene.mint_todo(0)?, request.role, class, scene.next_order()?, text);
            todo.created_at = Some(scene.now);
            todo
        }
    };
    match request.status {
        None => {}
        Some(TodoStatus::Done) => {
            return Err(Error::new(ErrorCode::TodoInvalid, "status")
                .message("a todo is added open, blocked or deferred, not done"));
        }
        Some(status) => todo.status = status,
    }
    if request.role == Role::User {
        bind_user_todo(scene, &mut todo, request, actor.as_ref());
    }
    request.fields.apply(scene, &mut todo)?;
    if let Some(existing) = &existing {
        keep_gate(scene, existing, &todo)?;
    }
    check(scene, &todo)?;
    let changed = existing.as_ref() != Some(&todo);
    let mut changes = Vec::new();
    if changed {
        todo.updated_at = Some(scene.now);
        if !already && (follows(&todo) || todo.task_class == TaskClass::UserGate) {
            changes.push(Change::FollowDangling);
        }
        changes.push(Change::ClearStalls(todo.todo_id.clone()));
        changes.push(Change::PutTodo(Box::new(todo.clone())));
    }
    Ok(Effect::new(
        changes,
        json!({
            "added": !already,
            "already_exists": already,
            "metadata_updated": already && changed,
            "role": todo.role,
            "todo_id": todo.todo_id,
            "status": todo.status,
            "task_class": todo.task_class,
            "todo": todo.text,
        }),
    ))
}

/// Whom a user todo concerns, when the caller did not say: the agent that adds it, the
/// only registered one, or everybody.
fn bind_user_todo(
    scene: &Scene<'_>,
    todo: &mut Todo,
    request: &TodoAddRequest,
    actor: Option<&AgentId>,
) {
    let f = &request.fields;
    let said = f.bound_agent.is_some()
        || f.goal_bound.is_some()
        || f.blocks_agent.is_some()
        || f.global_gate.is_some();
    if said || todo.bound_agent.is_some() || todo.goal_bound {
        return;
    }
    let only = match scene.policy.roster.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let names_target = f.unblocks_todo_id.is_some() || f.decision_scope.is_some();
    match actor.or(only) {
        Some(agent) => {
            todo.bound_agent = Some(agent.clone());
            if f.task_class == Some(TaskClass::UserGate) && !names_target {
                todo.blocks_agent = Some(agent.clone());
            }
        }
        None => todo.goal_bound = true,
    }
}

/// Lists todos.
pub fn list(
    read: &dyn Read,
    policy: &crate::model::GoalPolicy,
    todos: Option<Vec<Todo>>,
    request: &TodoListRequest,
) -> Result<Value> {
    let filter =
        TodoFilter { role: request.role, status: request.status, archived: request.archived };
    let agent = request.agent_id.as_deref().map(|a| registered(policy, a)).transpose()?;
    let wanted = request.todo_id.as_deref().map(TodoId::parse).transpose()?;
    let mut found = match (todos, &wanted) {
        (Some(all), _) => all,
        (None, Some(id)) => read.todo(id)?.into_iter().collect(),
        (None, None) => read.todos(&filter)?,
    };
    found.retain(|t| wanted.as_ref().map_or_else(|| filter.passes(t), |id| t.todo_id == *id));
    if let Some(agent) = &agent {
        found.retain(|t| is_visible(t, agent, policy));
    }
    let count = found.len();
    let open = found.iter().filter(|t| t.is_open()).count();
    if let Some(limit) = request.limit {
        found.truncate(limit);
    }
    let mut answer = json!({
        "ok": true,
        "goal_id": policy.goal_id,
        "todo_count": count,
        "open_count": open,
        "todos": found.iter().map(shown).collect::<Vec<_>>(),
    });
    if let (Some(id), Some(map)) = (&wanted, answer.as_object_mut()) {
        map.insert("matched".into(), json!(count > 0));
        if count == 0 {
            map.insert("not_found".into(), json!(true));
            map.insert(
                "next_command".into(),
                json!(format!("loopx todo list --goal-id {}", policy.goal_id)),
            );
            map.insert("about".into(), json!(id));
        }
    }
    Ok(answer)
}

fn is_visible(todo: &Todo, agent: &AgentId, policy: &crate::model::GoalPolicy) -> bool {
    match todo.role {
        Role::Agent => {
            !todo.excluded_agents.contains(agent)
                && todo.claimed_by.as_ref().is_none_or(|c| c == agent || !policy.roster.contains(c))
        }
        Role::User => {
            todo.global_gate
                || todo.goal_bound
                || (todo.bound_agent.is_none() && todo.blocks_agent.is_none())
                || todo.bound_agent.as_ref() == Some(agent)
                || todo.blocks_agent.as_ref() == Some(agent)
        }
    }
}

/// Refuses what another agent holds.
pub fn require_free(scene: &Scene<'_>, todo: &Todo, agent: Option<&AgentId>) -> Result<()> {
    let goal = &scene.policy.goal_id;
    if let Some(claimant) = todo.claimed_by.as_ref().filter(|c| scene.policy.roster.contains(c))
        && agent != Some(claimant)
    {
        return Err(Error::new(ErrorCode::AlreadyClaimed, todo.todo_id.as_str())
            .message(format!("{} is claimed by {claimant}", todo.todo_id))
            .next(format!("loopx quota should-run --goal-id {goal}{}", agent_flag(agent))));
    }
    if let Some(agent) = agent
        && todo.excluded_agents.contains(agent)
    {
        return Err(Error::new(ErrorCode::AgentExcluded, todo.todo_id.as_str())
            .message(format!("{} excludes {agent}", todo.todo_id)));
    }
    let query =
        crate::admission::ViewQuery { now: scene.now, quota: scene.policy.quota, complete: false };
    let mut view = scene.read.view(&query)?;
    view.bury(crate::file::process::is_dead, &scene.policy.quota);
    if let Some(lease) =
        view.leases.iter().find(|l| l.todo_id == todo.todo_id && agent != Some(&l.owner))
    {
        return Err(Error::new(ErrorCode::LeasedByOther, todo.todo_id.as_str()).message(format!(
            "{} is leased by {} until {}",
            todo.todo_id, lease.owner, lease.expires_at
        )));
    }
    Ok(())
}

fn agent_flag(agent: Option<&AgentId>) -> String {
    agent.map(|a| format!(" --agent-id {a}")).unwrap_or_default()
}

/// Claims a todo: one winner, ever; claiming one's own again changes nothing.
pub fn claim(scene: &Scene<'_>, request: &TodoClaimRequest) -> Result<Effect> {
    let named = request.claimed_by.as_deref().or(request.agent_id.as_deref());
    let agent = scene.actor(named)?.ok_or_else(|| {
        Error::new(ErrorCode::RosterMissing, "claimed_by").message(format!(
            "goal {} has no registered agents, so nobody can claim",
            scene.policy.goal_id
        ))
    })?;
    if let Some(acting) = request.agent_id.as_deref()
        && registered(scene.policy, acting)? != agent
    {
        return Err(Error::new(ErrorCode::TodoInvalid, "claimed_by")
            .message("an agent claims for itself: --agent-id and --claimed-by differ"));
    }
    let mut todo = scene.todo(&request.todo_id)?;
    if todo.role != Role::Agent {
        return Err(Error::new(ErrorCode::TodoInvalid, todo.todo_id.as_str())
            .message("only agent todos are claimed"));
    }
    require_free(scene, &todo, Some(&agent))?;
    if todo.status != TodoStatus::Open {
        return Err(Error::new(ErrorCode::TodoNotOpen, todo.todo_id.as_str())
            .message(format!("{} is {}", todo.todo_id, todo.status)));
    }
    let changed = todo.claimed_by.as_ref() != Some(&agent);
    if changed {
        super::lease::require_lease(scene, &todo, Some(&agent))?;
    }
    let mut changes = Vec::new();
    if changed {
        todo.claimed_by = Some(agent.clone());
        todo.updated_at = Some(scene.now);
        changes.push(Change::PutTodo(Box::new(todo.clone())));
    } else {
        // A claim that the agent's turn took ends with the turn; one that is asked for stays.
        let took = |t: &Turn| {
            t.took_claim
                && t.agent.as_ref() == Some(&agent)
                && t.todo_id.as_ref() == Some(&todo.todo_id)
        };
        let turns = scene.read.open_turns()?.into_iter().filter(took);
        changes.extend(turns.map(|turn| Change::PutTurn(Turn { took_claim: false, ..turn })));
    }
    Ok(Effect::new(
        changes,
        json!({"claimed": true, "changed": changed, "todo_id": todo.todo_id, "claimed_by": agent, "status": todo.status}),
    ))
}

/// An open gate ends by a person's decision, not by becoming something else.
fn keep_gate(scene: &Scene<'_>, old: &Todo, new: &Todo) -> Result<()> {
    let gate = TaskClass::UserGate;
    if old.task_class != gate || !old.is_open() || new.task_class == gate {
        return Ok(());
    }
    Err(Error::new(ErrorCode::TodoInvalid, old.todo_id.as_str())
        .message(format!("{} is an open gate and stays one until it is decided", old.todo_id))
        .next(format!(
            "loopx gate decide --goal-id {} --todo-id {} --outcome cancel",
            scene.policy.goal_id, old.todo_id
        )))
}

/// Changes a todo.
pub fn update(scene: &Scene<'_>, request: &TodoUpdateRequest) -> Result<Effect> {
    let old = scene.todo(&request.todo_id)?;
    let agent = request.agent_id.as_deref().map(|a| registered(scene.policy, a)).transpose()?;
    if old.role == Role::Agent
        && scene.policy.roster.len() > 1
        && agent.is_none()
        && old.claimed_by.is_some()
    {
        // Several agents: a claimed todo is changed by its claimant.
        scene.actor(None)?;
    }
    if old.role == Role::Agent && agent.is_some() {
        require_free(scene, &old, agent.as_ref())?;
    }
    let mut todo = old.clone();
    for name in &request.clear {
        match name.as_str() {
            "claim" => todo.claimed_by = None,
            "blocks-agent" => todo.blocks_agent = None,
            "excluded-agents" => todo.excluded_agents.clear(),
            "global-gate" => todo.global_gate = false,
            "resume-when" => todo.resume_when = None,
            "unblocks-todo-id" => todo.unblocks_todo_id = None,
            "decision-scope" => todo.decision_scope = None,
            "note" => todo.note = None,
            "reason" => todo.reason = None,
            _ => {
                return Err(Error::new(ErrorCode::TodoInvalid, "clear").message(format!(
                    "nothing to clear by the name {name:?}; there are claim, blocks-agent, excluded-agents, global-gate, unblocks-todo-id, decision-scope, resume-when, note, reason"
                )));
            }
        }
    }
    if let Some(text) = &request.text {
        todo.text = one_line("text", text, TEXT_LIMIT)?;
    }
    request.fields.apply(scene, &mut todo)?;
    if let Some(status) = request.status {
        set_status(scene, &mut todo, status)?;
    }
    if request.no_follow_up && !request.successor_todo_ids.is_empty() {
        return Err(Error::new(ErrorCode::TodoInvalid, "no_follow_up")
            .message("either nothing follows or a successor does"));
    }
    if request.no_follow_up {
        if todo.is_open() {
            return Err(Error::new(ErrorCode::TodoInvalid, "no_follow_up")
                .message("an open todo is closed with `loopx todo complete --no-follow-up`"));
        }
        todo.no_followup = true;
        todo.completion_continuation = Some(Continuation::NoFollowup);
        todo.dangling = false;
    }
    for id in &request.successor_todo_ids {
        let successor = scene.todo(id)?.todo_id;
        if successor == todo.todo_id {
            return Err(Error::new(ErrorCode::TodoInvalid, "successor_todo_ids")
                .message("a todo does not follow itself"));
        }
        if !todo.successor_todo_ids.contains(&successor) {
            todo.successor_todo_ids.push(successor);
        }
        if !todo.is_open() {
            todo.completion_continuation = Some(Continuation::Successor);
            todo.dangling = false;
        }
    }
    keep_gate(scene, &old, &todo)?;
    check(scene, &todo)?;
    let changed = todo != old;
    let mut changes = Vec::new();
    if changed {
        todo.updated_at = Some(scene.now);
        if todo.task_class == TaskClass::UserGate {
            changes.extend(super::gate::clear_stalls(scene, &todo)?);
        }
        let linked = request.no_follow_up || !request.successor_todo_ids.is_empty();
        if linked && (agent.is_some() || scene.policy.roster.is_empty()) {
            changes.extend(super::feedback::closed_by(scene, agent.as_ref())?);
        }
        if follows(&todo) && !follows(&old) {
            changes.push(Change::FollowDangling);
        }
        changes.push(Change::ClearStalls(todo.todo_id.clone()));
        changes.push(Change::PutTodo(Box::new(todo.clone())));
    }
    Ok(Effect::new(
        changes,
        json!({
            "changed": changed,
            "status_changed": todo.status != old.status,
            "text_changed": todo.text != old.text,
            "todo_id": todo.todo_id,
            "status": todo.status,
            "todo": todo.text,
        }),
    ))
}

fn set_status(scene: &Scene<'_>, todo: &mut Todo, status: TodoStatus) -> Result<()> {
    if status == TodoStatus::Done && todo.is_open() {
        return Err(Error::new(ErrorCode::TodoInvalid, "status")
            .message("a todo is finished with `loopx todo complete`")
            .next(format!(
                "loopx todo complete --goal-id {} --todo-id {}",
                scene.policy.goal_id, todo.todo_id
            )));
    }
    if todo.task_class == TaskClass::UserGate && !todo.is_open() {
        return Err(Error::new(ErrorCode::TodoNotOpen, todo.todo_id.as_str())
            .message("a decided gate stays decided; open a new one"));
    }
    if todo.status == TodoStatus::Blocked && status == TodoStatus::Open {
        todo.reason = None;
    }
    todo.status = status;
    if status != TodoStatus::Done {
        todo.completed_at = None;
        todo.completion_continuation = None;
        todo.no_followup = false;
        todo.superseded_by = None;
        todo.dangling = false;
        todo.archived = false;
        todo.extra.shift_remove("completed_by");
    }
    Ok(())
}
