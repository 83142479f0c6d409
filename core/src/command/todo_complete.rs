//! `todo complete`: finishing work, and deciding a gate.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::todo::{follows, require_free};
use super::todo_fields::{TodoFields, check};
use super::{EVIDENCE_LIMIT, Effect, Scene, TEXT_LIMIT, one_line};
use crate::admission::gates::{Reach, blocks_todo, reach};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{
    AgentId, Continuation, Evidence, Grant, GrantLife, Lease, Role, TaskClass, Todo, TodoId,
    TodoStatus,
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
    /// Gates that approve a scope: how long it stays granted; standing when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_life: Option<GrantLife>,
    /// Gates that approve a scope: to whom; the agent that the gate blocks, else every
    /// agent, when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_agent: Option<String>,
    /// The turn in which it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<String>,
}

/// Completes a todo, which ends its lease. Completing a done one again changes nothing.
pub fn complete(scene: &Scene<'_>, request: &TodoCompleteRequest) -> Result<Effect> {
    let todo = scene.todo(&request.todo_id)?;
    if todo.is_open() && todo.role == Role::Agent {
        let actor = scene.actor(request.agent_id.as_deref())?;
        super::lease::require_lease(scene, &todo, actor.as_ref())?;
    }
    let mut effect = finish(scene, request)?;
    let lease = scene.read.lease(&todo.todo_id)?.filter(|l| todo.is_open() && !l.released);
    if let Some(lease) = lease {
        let version = lease.version + 1;
        effect.changes.push(Change::PutLease(Lease { released: true, version, ..lease }));
    }
    Ok(effect)
}

/// Completes a todo without looking at its lease.
pub(super) fn finish(scene: &Scene<'_>, request: &TodoCompleteRequest) -> Result<Effect> {
    let todo = scene.todo(&request.todo_id)?;
    let gate = todo.task_class == TaskClass::UserGate;
    match (gate, request.decision_outcome) {
        (true, None) => {
            return Err(Error::new(ErrorCode::GateNeedsOutcome, todo.todo_id.as_str()).next(
                format!(
                    "loopx gate decide --goal-id {} --todo-id {} --outcome OUTCOME",
                    scene.policy.goal_id, todo.todo_id
                ),
            ));
        }
        (false, Some(_)) => {
            return Err(Error::new(ErrorCode::OutcomeNotForGate, todo.todo_id.as_str()));
        }
        _ => {}
    }
    let lasting = grant_terms(scene, &todo, request)?;
    if !todo.is_open() {
        return replay(scene, &todo, request);
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
    let next = next_todos(scene, Some(&todo), request, actor.as_ref())?;
    if request.no_follow_up && !todo.successor_todo_ids.is_empty() {
        return Err(Error::new(ErrorCode::TodoInvalid, "no_follow_up").message(format!(
            "{} has a successor already; leave out --no-follow-up",
            todo.todo_id
        )));
    }
    // Successors that were linked while it was open (follow-ups, updates) stay.
    let new = request
        .successor_todo_ids
        .iter()
        .map(|id| scene.todo(id).map(|t| t.todo_id))
        .chain(next.iter().map(|t| Ok(t.todo_id.clone())))
        .collect::<Result<Vec<TodoId>>>()?;
    for id in new {
        if !done.successor_todo_ids.contains(&id) {
            done.successor_todo_ids.push(id);
        }
    }
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
    if request.no_follow_up {
        changes.extend(super::feedback::closed_by(scene, actor.as_ref())?);
    }
    let mut decided = Decided::default();
    if let Some(outcome) = request.decision_outcome {
        done.extra.insert(
            "decision_outcome".into(),
            serde_json::to_value(outcome).unwrap_or(Value::Null),
        );
        decided = decide_gate(scene, &done, outcome, lasting, &mut changes)?;
        changes.extend(super::gate::clear_stalls(scene, &todo)?);
    }
    use_up_grants(scene, &todo, actor.as_ref(), &mut changes)?;
    changes.push(Change::PutTodo(Box::new(done.clone())));
    changes.extend(next.iter().cloned().map(|t| Change::PutTodo(Box::new(t))));
    let mut effect = Effect::new(
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
            "resumed_todo_ids": decided.resumed,
        }),
    );
    if let Some(grant) = &decided.grant {
        effect.answer.insert("grant".into(), super::gate::shown(grant));
    }
    if request.decision_outcome == Some(DecisionOutcome::Reject) {
        effect.answer.insert("blocked_todo_ids".into(), json!(decided.blocked));
    }
    Ok(effect)
}

/// How long an approval's grant lasts and for whom, where the request says it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Terms {
    life: Option<GrantLife>,
    agent: Option<AgentId>,
}

fn grant_terms(scene: &Scene<'_>, gate: &Todo, request: &TodoCompleteRequest) -> Result<Terms> {
    let terms = Terms {
        life: request.grant_life,
        agent: request
            .grant_agent
            .as_deref()
            .map(|a| super::registered(scene.policy, a))
            .transpose()?,
    };
    if terms == Terms::default() {
        return Ok(terms);
    }
    if request.decision_outcome != Some(DecisionOutcome::Approve) {
        return Err(Error::new(ErrorCode::TodoInvalid, "grant")
            .message("only an approval grants something; leave out how long and for whom"));
    }
    if gate.decision_scope.is_none() {
        return Err(Error::new(ErrorCode::TodoInvalid, gate.todo_id.as_str())
            .message(format!(
                "{} decides no scope: approving it frees what it named and grants nothing that could last",
                gate.todo_id
            ))
            .next(format!(
                "loopx gate decide --goal-id {} --todo-id {} --outcome approve",
                scene.policy.goal_id, gate.todo_id
            )));
    }
    if let Some(GrantLife::Until(until)) = terms.life
        && until <= scene.now
        && gate.is_open()
    {
        return Err(Error::new(ErrorCode::RequestInvalid, "until")
            .message(format!("{until} has passed; a grant ends in the future")));
    }
    Ok(terms)
}

fn replay(scene: &Scene<'_>, todo: &Todo, request: &TodoCompleteRequest) -> Result<Effect> {
    let goal = &scene.policy.goal_id;
    let decided = todo.extra.get("decision_outcome").cloned();
    if let Some(outcome) = request.decision_outcome {
        let asked = serde_json::to_value(outcome).unwrap_or(Value::Null);
        if decided.as_ref() != Some(&asked) {
            return Err(Error::new(ErrorCode::TodoNotOpen, todo.todo_id.as_str())
                .message(format!("{} was decided already", todo.todo_id))
                .next(format!("loopx gate open --goal-id {goal} --question \"...\"")));
        }
        require_same_terms(scene, todo, request)?;
    }
    if request.no_follow_up && !todo.no_followup {
        return Err(Error::new(ErrorCode::TodoNotOpen, todo.todo_id.as_str())
            .message(format!("{} is done already", todo.todo_id))
            .next(format!(
                "loopx todo update --goal-id {goal} --todo-id {} --no-follow-up",
                todo.todo_id
            )));
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

/// A repeat that states other terms than were granted is another decision.
fn require_same_terms(scene: &Scene<'_>, gate: &Todo, request: &TodoCompleteRequest) -> Result<()> {
    let terms = grant_terms(scene, gate, request)?;
    if terms == Terms::default() {
        return Ok(());
    }
    let grants = scene.read.records()?.grants;
    let granted = grants.iter().find(|g| g.gate.as_ref() == Some(&gate.todo_id));
    let same = granted.is_some_and(|g| {
        terms.life.is_none_or(|life| life == g.life)
            && terms.agent.as_ref().is_none_or(|agent| g.agent.as_ref() == Some(agent))
    });
    if same {
        return Ok(());
    }
    Err(Error::new(ErrorCode::TodoNotOpen, gate.todo_id.as_str())
        .message(format!("{} was decided already, on other terms", gate.todo_id))
        .next(format!("loopx gate grants --goal-id {}", scene.policy.goal_id)))
}

/// The todos that a completion, a supersession or a poll makes.
pub(super) fn next_todos(
    scene: &Scene<'_>,
    source: Option<&Todo>,
    request: &TodoCompleteRequest,
    actor: Option<&AgentId>,
) -> Result<Vec<Todo>> {
    let mut next = Vec::new();
    let order = scene.next_order()?;
    let new = |ordinal: usize, role, class, text: &str| -> Result<Todo> {
        let mut text = one_line("next_todo", text, TEXT_LIMIT)?;
        if let (None, Some(priority)) =
            (crate::model::todo::split_priority(&text).0, source.and_then(Todo::priority))
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

/// What a decision did.
#[derive(Debug, Default)]
struct Decided {
    grant: Option<Grant>,
    resumed: Vec<TodoId>,
    blocked: Vec<TodoId>,
}

/// What a decision does to what the gate named (contract.md 2.2).
fn decide_gate(
    scene: &Scene<'_>,
    gate: &Todo,
    outcome: DecisionOutcome,
    terms: Terms,
    changes: &mut Vec<Change>,
) -> Result<Decided> {
    let mut decided = Decided::default();
    match outcome {
        DecisionOutcome::Cancel => {}
        DecisionOutcome::Approve => {
            if let Some(scope) = &gate.decision_scope {
                let grant = Grant {
                    id: scene.row,
                    scope: scope.0.clone(),
                    agent: terms.agent.or_else(|| gate.blocks_agent.clone()),
                    life: terms.life.unwrap_or(GrantLife::Standing),
                    gate: Some(gate.todo_id.clone()),
                    used: false,
                    at: scene.now,
                };
                changes.push(Change::PutGrant(grant.clone()));
                decided.grant = Some(grant);
            }
            if let Some(mut target) =
                gate.unblocks_todo_id.as_ref().map(|id| scene.read.todo(id)).transpose()?.flatten()
                && target.status == TodoStatus::Blocked
                && !is_gated_elsewhere(scene, gate, &target)?
            {
                target.status = TodoStatus::Open;
                target.reason = None;
                target.updated_at = Some(scene.now);
                decided.resumed.push(target.todo_id.clone());
                if follows(&target) {
                    changes.push(Change::FollowDangling);
                }
                changes.push(Change::PutTodo(Box::new(target)));
            }
        }
        DecisionOutcome::Reject => {
            for mut todo in rejected(scene, gate)? {
                todo.status = TodoStatus::Blocked;
                todo.reason = Some("gate_rejected".into());
                todo.updated_at = Some(scene.now);
                decided.blocked.push(todo.todo_id.clone());
                changes.push(Change::PutTodo(Box::new(todo)));
            }
        }
    }
    Ok(decided)
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

/// A grant for one completion is used up by the todo that needed it: for each required
/// scope that no lasting grant answers, the oldest such grant.
fn use_up_grants(
    scene: &Scene<'_>,
    todo: &Todo,
    actor: Option<&AgentId>,
    changes: &mut Vec<Change>,
) -> Result<()> {
    if todo.required_decision_scopes.is_empty() {
        return Ok(());
    }
    let mut grants = scene.view(false)?.grants;
    grants.retain(|g| g.agent.as_ref().is_none_or(|a| actor == Some(a)));
    grants.sort_by_key(|g| (g.life == GrantLife::Once, g.id));
    for required in todo.required_decision_scopes.iter().filter_map(|r| r.scope()) {
        let answering = grants.iter_mut().find(|g| {
            crate::model::DecisionScope::parse(&g.scope).is_some_and(|s| s.covers(&required))
        });
        if let Some(grant) = answering.filter(|g| g.life == GrantLife::Once && !g.used) {
            // It stays in the list: one completion uses it up for all that it answers.
            grant.used = true;
            changes.push(Change::PutGrant(grant.clone()));
        }
    }
    Ok(())
}
