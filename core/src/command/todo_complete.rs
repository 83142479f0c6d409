//! `todo complete`: finishing work, and deciding a gate.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::todo::{follows, require_free};
use super::todo_fields::{TodoFields, check};
use super::{EVIDENCE_LIMIT, Effect, Scene, TEXT_LIMIT, one_line};
use crate::admission::gates::{Reach, blocks_todo, reach};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{
    AgentId, Continuation, Evidence, Grant, GrantLife, Role, TaskClass, Todo, TodoId, TodoStatus,
};
use crate::store::{Change, TodoFilter};

/// How a gate was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DecisionOutcome {
    /// Yes: its scope is granted, what it held is free.
    Approve,
    /// No: what it named stays blocked until its owner reopens it.
    Reject,
    /// The question is withdrawn.
    Cancel,
}

/// `todo.complete`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoCompleteRequest {
    /// Which.
    pub todo_id: String,
    /// Who acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What shows that it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Nothing follows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_follow_up: bool,
    /// Existing todos that follow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub successor_todo_ids: Vec<String>,
    /// Text of a new agent todo that follows; inherits the priority when it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_agent_todo: Option<String>,
    /// Text of a new user todo that follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_user_todo: Option<String>,
    /// Class of that user todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_user_task_class: Option<TaskClass>,
    /// Fields of the new agent todo.
    #[serde(skip_serializing_if = "TodoFields::is_empty")]
    pub next_fields: TodoFields,
    /// Gates: the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_outcome: Option<DecisionOutcome>,
    /// The turn in which it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<String>,
}

/// Completes a todo. Completing a done one again changes nothing.
pub fn complete(scene: &Scene<'_>, request: &TodoCompleteRequest) -> Result<Effect> {
    let todo = scene.todo(&request.todo_id)?;
    let gate = todo.task_class == TaskClass::UserGate;
    match (gate, request.decision_outcome) {
        (true, None) => {
            return Err(Error::new(ErrorCode::GateNeedsOutcome, todo.todo_id.as_str()).next(format!(
                "loopx todo complete --goal-id {} --todo-id {} --decision-outcome approve|reject|cancel",
                scene.policy.goal_id, todo.todo_id
            )));
        }
        (false, Some(_)) => {
            return Err(Error::new(ErrorCode::OutcomeNotForGate, todo.todo_id.as_str()));
        }
        _ => {}
    }
    if !todo.is_open() {
        return replay(&todo, request);
    }
    let actor = match todo.role {
        // A person decides and finishes user todos; an agent may be named, none is required.
        Role::User => {
            request.agent_id.as_deref().map(|a| super::registered(scene.policy, a)).transpose()?
        }
        Role::Agent => scene.actor(request.agent_id.as_deref())?,
    };
    if todo.role == Role::Agent {
        require_free(scene, &todo, actor.as_ref())?;
    }
    let continuations = usize::from(request.no_follow_up)
        + usize::from(!request.successor_todo_ids.is_empty())
        + usize::from(request.next_agent_todo.is_some() || request.next_user_todo.is_some());
    if continuations > 1 {
        return Err(Error::new(ErrorCode::TodoInvalid, "continuation")
            .message("one of --no-follow-up, --successor-todo-id and --next-*-todo, not several"));
    }
    let mut done = todo.clone();
    done.status = TodoStatus::Done;
    done.completed_at = Some(scene.now);
    done.updated_at = Some(scene.now);
    done.reason = None;
    if let Some(text) = &request.note {
        done.note = Some(one_line("note", text, TEXT_LIMIT)?);
    }
    if let Some(agent) = &actor {
        done.extra.insert("completed_by".into(), Value::String(agent.to_string()));
    }
    let mut changes = Vec::new();
    if let Some(text) = &request.evidence {
        let text = one_line("evidence", text, EVIDENCE_LIMIT)?;
        done.evidence = Some(text.clone());
        changes.push(Change::AddEvidence(Evidence {
            id: scene.row,
            at: scene.now,
            agent: actor.clone(),
            todo_id: Some(todo.todo_id.clone()),
            text,
        }));
    }
    let next = next_todos(scene, &todo, request, actor.as_ref())?;
    done.successor_todo_ids = request
        .successor_todo_ids
        .iter()
        .map(|id| scene.todo(id).map(|t| t.todo_id))
        .chain(next.iter().map(|t| Ok(t.todo_id.clone())))
        .collect::<Result<Vec<TodoId>>>()?;
    if done.successor_todo_ids.contains(&done.todo_id) {
        return Err(Error::new(ErrorCode::TodoInvalid, "successor_todo_ids")
            .message("a todo does not follow itself"));
    }
    let continuation = if request.no_follow_up {
        Continuation::NoFollowup
    } else if done.successor_todo_ids.is_empty() {
        Continuation::ActiveGoal
    } else {
        Continuation::Successor
    };
    if done.role == Role::Agent {
        done.completion_continuation = Some(continuation);
        done.no_followup = request.no_follow_up;
        done.dangling =
            continuation == Continuation::ActiveGoal && done.task_class == TaskClass::Advancement;
    }
    if next.iter().any(follows) || continuation == Continuation::Successor {
        changes.push(Change::FollowDangling);
    }
    let mut resumed = Vec::new();
    if let Some(outcome) = request.decision_outcome {
        done.extra.insert(
            "decision_outcome".into(),
            serde_json::to_value(outcome).unwrap_or(Value::Null),
        );
        decide_gate(scene, &done, outcome, &mut changes, &mut resumed)?;
    }
    use_up_grants(scene, &todo, actor.as_ref(), &mut changes)?;
    changes.push(Change::PutTodo(Box::new(done.clone())));
    changes.extend(next.iter().cloned().map(|t| Change::PutTodo(Box::new(t))));
    Ok(Effect::new(
        changes,
        json!({
            "completed": true,
            "changed": true,
            "todo_id": done.todo_id,
            "status": done.status,
            "todo": done.text,
            "completion_continuation": done.completion_continuation,
            "decision_outcome": request.decision_outcome,
            "next_todos": next.iter().map(|t| json!({"todo_id": t.todo_id, "todo": t.text})).collect::<Vec<_>>(),
            "resumed_todo_ids": resumed,
        }),
    ))
}

fn replay(todo: &Todo, request: &TodoCompleteRequest) -> Result<Effect> {
    let decided = todo.extra.get("decision_outcome").cloned();
    if let Some(outcome) = request.decision_outcome {
        let asked = serde_json::to_value(outcome).unwrap_or(Value::Null);
        if decided.as_ref() != Some(&asked) {
            return Err(Error::new(ErrorCode::TodoNotOpen, todo.todo_id.as_str())
                .message(format!("{} was decided already", todo.todo_id))
                .next("open a new gate to ask again"));
        }
    }
    if request.no_follow_up && !todo.no_followup {
        return Err(Error::new(ErrorCode::TodoNotOpen, todo.todo_id.as_str())
            .message(format!("{} is done already", todo.todo_id))
            .next(format!("loopx todo update --todo-id {} --no-follow-up", todo.todo_id)));
    }
    Ok(Effect::new(
        Vec::new(),
        json!({
            "completed": true,
            "changed": false,
            "idempotent_replay": true,
            "todo_id": todo.todo_id,
            "status": todo.status,
            "todo": todo.text,
            "completion_continuation": todo.completion_continuation,
            "decision_outcome": decided,
        }),
    ))
}

fn next_todos(
    scene: &Scene<'_>,
    source: &Todo,
    request: &TodoCompleteRequest,
    actor: Option<&AgentId>,
) -> Result<Vec<Todo>> {
    let mut next = Vec::new();
    let order = scene.next_order()?;
    let new = |ordinal: usize, role, class, text: &str| -> Result<Todo> {
        let mut text = one_line("next_todo", text, TEXT_LIMIT)?;
        if let (None, Some(priority)) =
            (crate::model::todo::split_priority(&text).0, source.priority())
        {
            text = format!("[P{priority}] {text}");
        }
        let step = i64::try_from(ordinal).unwrap_or(0) * crate::state_file::ORDER_STEP;
        let mut todo =
            Todo::new(scene.mint_todo(ordinal)?, role, class, order.saturating_add(step), text);
        todo.created_at = Some(scene.now);
        todo.updated_at = Some(scene.now);
        Ok(todo)
    };
    if let Some(text) = &request.next_agent_todo {
        let mut todo = new(0, Role::Agent, TaskClass::Advancement, text)?;
        request.next_fields.apply(scene, &mut todo)?;
        check(scene, &todo)?;
        next.push(todo);
    }
    if let Some(text) = &request.next_user_todo {
        let class = request.next_user_task_class.ok_or_else(|| {
            Error::new(ErrorCode::TodoInvalid, "next_user_task_class")
                .message("say whether the next user todo is a user_gate or a user_action")
        })?;
        let mut todo = new(1, Role::User, class, text)?;
        match actor {
            Some(agent) => {
                todo.bound_agent = Some(agent.clone());
                if class == TaskClass::UserGate {
                    todo.blocks_agent = Some(agent.clone());
                }
            }
            None => todo.goal_bound = true,
        }
        check(scene, &todo)?;
        next.push(todo);
    }
    Ok(next)
}

/// What a decision does to what the gate named (contract.md 2.2).
fn decide_gate(
    scene: &Scene<'_>,
    gate: &Todo,
    outcome: DecisionOutcome,
    changes: &mut Vec<Change>,
    resumed: &mut Vec<TodoId>,
) -> Result<()> {
    match outcome {
        DecisionOutcome::Cancel => Ok(()),
        DecisionOutcome::Approve => {
            if let Some(scope) = &gate.decision_scope {
                changes.push(Change::PutGrant(Grant {
                    id: scene.row,
                    scope: scope.0.clone(),
                    agent: gate.blocks_agent.clone(),
                    life: GrantLife::Standing,
                    gate: Some(gate.todo_id.clone()),
                    used: false,
                    at: scene.now,
                }));
            }
            if let Some(mut target) =
                gate.unblocks_todo_id.as_ref().map(|id| scene.read.todo(id)).transpose()?.flatten()
                && target.status == TodoStatus::Blocked
                && !is_gated_elsewhere(scene, gate, &target)?
            {
                target.status = TodoStatus::Open;
                target.reason = None;
                target.updated_at = Some(scene.now);
                resumed.push(target.todo_id.clone());
                if follows(&target) {
                    changes.push(Change::FollowDangling);
                }
                changes.push(Change::PutTodo(Box::new(target)));
            }
            Ok(())
        }
        DecisionOutcome::Reject => {
            for mut todo in rejected(scene, gate)? {
                todo.status = TodoStatus::Blocked;
                todo.reason = Some("gate_rejected".into());
                todo.updated_at = Some(scene.now);
                changes.push(Change::PutTodo(Box::new(todo)));
            }
            Ok(())
        }
    }
}

fn is_gated_elsewhere(scene: &Scene<'_>, gate: &Todo, target: &Todo) -> Result<bool> {
    let filter = TodoFilter { role: Some(Role::User), ..TodoFilter::default() };
    Ok(scene.read.todos(&filter)?.iter().any(|t| {
        t.is_open()
            && t.todo_id != gate.todo_id
            && t.unblocks_todo_id.as_ref() == Some(&target.todo_id)
    }))
}

/// The open agent todos that the gate named.
fn rejected(scene: &Scene<'_>, gate: &Todo) -> Result<Vec<Todo>> {
    let filter = TodoFilter { role: Some(Role::Agent), ..TodoFilter::default() };
    let open = scene.read.todos(&filter)?.into_iter().filter(Todo::is_open);
    Ok(match reach(gate) {
        Reach::Named => open.filter(|t| blocks_todo(gate, t)).collect(),
        Reach::Agent(agent) => open.filter(|t| t.claimed_by.as_ref() == Some(&agent)).collect(),
        Reach::Everyone | Reach::Nothing => open.collect(),
    })
}

/// Grants for one completion are used up by the todo that needed them.
fn use_up_grants(
    scene: &Scene<'_>,
    todo: &Todo,
    actor: Option<&AgentId>,
    changes: &mut Vec<Change>,
) -> Result<()> {
    if todo.required_decision_scopes.is_empty() {
        return Ok(());
    }
    let query =
        crate::admission::ViewQuery { now: scene.now, quota: scene.policy.quota, complete: false };
    for mut grant in scene.read.view(&query)?.grants {
        let answers = crate::model::DecisionScope::parse(&grant.scope).is_some_and(|scope| {
            todo.required_decision_scopes.iter().filter_map(|r| r.scope()).any(|r| scope.covers(&r))
        });
        if grant.life == GrantLife::Once
            && answers
            && grant.agent.as_ref().is_none_or(|a| actor == Some(a))
        {
            grant.used = true;
            changes.push(Change::PutGrant(grant));
        }
    }
    Ok(())
}
