//! `gate ...`: the questions that wait for a person, their decisions, and the grants that
//! approvals leave behind. What a gate blocks is decided in `admission/gates.rs`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::todo::TodoAddRequest;
use super::todo_complete::{DecisionOutcome, TodoCompleteRequest, complete};
use super::todo_fields::TodoFields;
use super::{Effect, Scene, TEXT_LIMIT, one_line};
use crate::admission::View;
use crate::admission::gates::{Reach, blocks_todo, concerns, is_open_gate, reach};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{
    DecisionScope, GoalId, GoalPolicy, Grant, GrantLife, Instant, Role, TaskClass, Todo, TodoId,
};
use crate::state_file::is_provisional;
use crate::store::Change;

/// Most ids that a list of todos names; the count beside it says how many there are.
const LISTED: usize = 20;

/// `gate.open`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateOpenRequest {
    /// What a person is asked.
    pub question: String,
    /// Who asks; blocks itself when the gate names nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The todo that waits for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unblocks_todo_id: Option<String>,
    /// The scope that is decided, `kind:granularity:key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_scope: Option<String>,
    /// The agent that waits for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks_agent: Option<String>,
    /// Every agent waits for the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub global_gate: bool,
    /// Remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `gate.decide`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateDecideRequest {
    /// Which gate.
    pub todo_id: String,
    /// The decision.
    pub outcome: DecisionOutcome,
    /// How long an approved scope stays granted: `once`, `standing` or
    /// `{"until": instant}`; standing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<GrantLife>,
    /// To whom an approved scope is granted; the agent that the gate blocks, else every
    /// agent, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_agent: Option<String>,
    /// Remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `gate.withdraw`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateWithdrawRequest {
    /// Which grant.
    pub grant_id: u64,
}

/// What of one goal waits for a person, each with the instant since when.
#[derive(Debug, Default)]
pub struct Waiting {
    /// Open gates.
    pub gates: Vec<(Option<Instant>, Value)>,
    /// Open actions, which block nothing.
    pub actions: Vec<(Option<Instant>, Value)>,
}

/// Finds what waits for a person. The view must be complete.
pub fn waiting(policy: &GoalPolicy, view: &View, now: Instant) -> Waiting {
    let mut found = Waiting::default();
    for todo in view.todos.iter().filter(|t| t.role == Role::User && t.is_open()) {
        let since = todo.created_at.or(todo.updated_at);
        let mut row = json!({
            "goal_id": policy.goal_id,
            "todo_id": Some(&todo.todo_id).filter(|id| !is_provisional(id)),
            "question": todo.title(),
            "priority": todo.priority().map(|p| format!("P{p}")),
            "opened_at": since,
            "age_minutes": since.map(|at| minutes_between(at, now)),
        });
        let Some(map) = row.as_object_mut() else { continue };
        if is_open_gate(todo) {
            let held: Vec<&Todo> = view.todos.iter().filter(|t| is_held(todo, t)).collect();
            map.insert("blocks".into(), json!(words(todo, &view.todos)));
            map.insert("blocked_count".into(), json!(held.len()));
            map.insert(
                "blocked_todo_ids".into(),
                json!(held.iter().map(|t| &t.todo_id).take(LISTED).collect::<Vec<_>>()),
            );
            map.insert(
                "agents".into(),
                json!(policy.roster.iter().filter(|a| concerns(todo, Some(a))).collect::<Vec<_>>()),
            );
            map.insert("decision_scope".into(), json!(todo.decision_scope));
            map.insert("note".into(), json!(todo.note));
            map.insert("next_command".into(), json!(decide_command(&policy.goal_id, todo)));
            found.gates.push((since, row));
        } else {
            map.insert("agent_id".into(), json!(todo.bound_agent));
            map.insert("next_command".into(), json!(done_command(&policy.goal_id, todo)));
            found.actions.push((since, row));
        }
    }
    found
}

fn minutes_between(from: Instant, to: Instant) -> i64 {
    to.micros().saturating_sub(from.micros()).max(0) / crate::model::time::MICROS_PER_MINUTE
}

/// Whether the open gate keeps this open agent todo from being worked on, directly or
/// through the agent that holds it.
fn is_held(gate: &Todo, todo: &Todo) -> bool {
    todo.role == Role::Agent
        && todo.is_open()
        && match reach(gate) {
            Reach::Everyone | Reach::Nothing => true,
            Reach::Named => blocks_todo(gate, todo),
            Reach::Agent(agent) => todo.claimed_by.as_ref() == Some(&agent),
        }
}

/// What an open gate blocks, in words.
fn words(gate: &Todo, todos: &[Todo]) -> String {
    match reach(gate) {
        Reach::Everyone => "every agent".to_owned(),
        Reach::Nothing => "every agent, because it names nothing".to_owned(),
        Reach::Agent(agent) => format!("agent {agent}"),
        Reach::Named => {
            let todo = gate.unblocks_todo_id.as_ref().map(|id| {
                match todos.iter().find(|t| t.todo_id == *id) {
                    Some(todo) => format!("{id} ({})", todo.title()),
                    None => format!("{id}, which is not open"),
                }
            });
            let scope =
                gate.decision_scope.as_ref().map(|s| format!("every todo that requires {}", s.0));
            [todo, scope].into_iter().flatten().collect::<Vec<_>>().join("; ")
        }
    }
}

fn decide_command(goal: &GoalId, gate: &Todo) -> String {
    let id = &gate.todo_id;
    match is_provisional(id) {
        // The next write gives a hand-written line its id.
        true => format!("loopx gate list --goal-id {goal}"),
        false => format!("loopx gate decide --goal-id {goal} --todo-id {id} --outcome OUTCOME"),
    }
}

fn done_command(goal: &GoalId, action: &Todo) -> String {
    let id = &action.todo_id;
    match is_provisional(id) {
        true => format!("loopx gate list --goal-id {goal}"),
        false => format!("loopx todo complete --goal-id {goal} --todo-id {id}"),
    }
}

/// Opens a gate; an open one with the same question is changed instead.
pub fn open(scene: &Scene<'_>, request: &GateOpenRequest) -> Result<Effect> {
    let goal = &scene.policy.goal_id;
    let question = one_line("question", &request.question, TEXT_LIMIT)?;
    let named = request.global_gate
        || request.blocks_agent.is_some()
        || request.unblocks_todo_id.is_some()
        || request.decision_scope.is_some();
    let several = scene.policy.roster.len() > 1;
    if !named && several && request.agent_id.is_none() {
        return Err(Error::new(ErrorCode::TodoInvalid, "gate")
            .message("say what waits for the answer: a todo (--unblocks-todo-id), a scope (--decision-scope), one agent (--blocks-agent) or every agent (--global-gate)")
            .next("loopx gate open --help"));
    }
    if let Some(target) =
        request.unblocks_todo_id.as_deref().map(|id| scene.todo(id)).transpose()?
        && (target.role != Role::Agent || !target.is_open())
    {
        return Err(Error::new(ErrorCode::TodoNotOpen, target.todo_id.as_str())
            .message(format!("{} is no open agent todo, so no gate can hold it", target.todo_id))
            .next(format!("loopx todo list --goal-id {goal} --role agent --status open")));
    }
    if let Some(same) = scene.read.open_todo_by_text(Role::User, &question)?
        && same.task_class != TaskClass::UserGate
    {
        return Err(Error::new(ErrorCode::TodoInvalid, same.todo_id.as_str())
            .message(format!("{} is open with that text and is no gate", same.todo_id))
            .next("word the question differently"));
    }
    let mut effect = super::todo::add(
        scene,
        &TodoAddRequest {
            role: Role::User,
            text: question,
            status: None,
            agent_id: request.agent_id.clone(),
            fields: TodoFields {
                task_class: Some(TaskClass::UserGate),
                note: request.note.clone(),
                unblocks_todo_id: request.unblocks_todo_id.clone(),
                decision_scope: request.decision_scope.clone(),
                blocks_agent: request.blocks_agent.clone(),
                // Without a roster nobody in particular can be named.
                global_gate: (request.global_gate || (!named && scene.policy.roster.is_empty()))
                    .then_some(true),
                ..TodoFields::default()
            },
        },
    )?;
    let put = effect.changes.iter().find_map(Change::put).cloned();
    if let Some(gate) = put {
        effect.changes.extend(clear_stalls(scene, &gate)?);
        let target = gate.unblocks_todo_id.as_ref().map(|id| scene.read.todo(id)).transpose()?;
        let known: Vec<Todo> = target.flatten().into_iter().collect();
        effect.answer.insert("blocks".into(), json!(words(&gate, &known)));
        effect.answer.insert("next_command".into(), json!(decide_command(goal, &gate)));
    }
    Ok(effect)
}

/// Decides a gate: [`complete`] with an outcome.
pub fn decide(scene: &Scene<'_>, request: &GateDecideRequest) -> Result<Effect> {
    let gate = scene.todo(&request.todo_id)?;
    if gate.task_class != TaskClass::UserGate {
        return Err(Error::new(ErrorCode::OutcomeNotForGate, gate.todo_id.as_str())
            .message(format!("{} is no gate", gate.todo_id))
            .next(format!("loopx gate list --goal-id {}", scene.policy.goal_id)));
    }
    complete(
        scene,
        &TodoCompleteRequest {
            todo_id: request.todo_id.clone(),
            note: request.note.clone(),
            decision_outcome: Some(request.outcome),
            grant_life: request.life,
            grant_agent: request.for_agent.clone(),
            ..TodoCompleteRequest::default()
        },
    )
}

/// A gate on a todo that changes brings the todo back where it had stalled.
pub fn clear_stalls(scene: &Scene<'_>, gate: &Todo) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    let mut seen: Vec<TodoId> = Vec::new();
    for stall in scene.view(false)?.stalls {
        if seen.contains(&stall.todo_id) {
            continue;
        }
        if scene.read.todo(&stall.todo_id)?.is_some_and(|t| blocks_todo(gate, &t)) {
            changes.push(Change::ClearStalls(stall.todo_id.clone()));
        }
        seen.push(stall.todo_id);
    }
    Ok(changes)
}

/// A grant as answers show it.
pub fn shown(grant: &Grant) -> Value {
    let (life, until) = match grant.life {
        GrantLife::Once => ("once", None),
        GrantLife::Until(at) => ("until", Some(at)),
        GrantLife::Standing => ("standing", None),
    };
    json!({
        "grant_id": grant.id,
        "scope": grant.scope,
        "agent_id": grant.agent,
        "life": life,
        "until": until,
        "gate": grant.gate,
        "granted_at": grant.at,
    })
}

/// Lists the grants that hold.
pub fn grants(policy: &GoalPolicy, view: &View) -> Value {
    json!({
        "ok": true,
        "goal_id": policy.goal_id,
        "grants": view.grants.iter().map(shown).collect::<Vec<_>>(),
    })
}

/// Withdraws a grant: what requires its scope waits for a new decision.
pub fn withdraw(scene: &Scene<'_>, request: &GateWithdrawRequest) -> Result<Effect> {
    let goal = &scene.policy.goal_id;
    let view = scene.view(true)?;
    let Some(grant) = view.grants.iter().find(|g| g.id == request.grant_id) else {
        let ended = scene.read.records()?.grants.into_iter().find(|g| g.id == request.grant_id);
        let ended = ended.ok_or_else(|| {
            Error::new(ErrorCode::GrantUnknown, request.grant_id.to_string())
                .message(format!("goal {goal} has no grant {}", request.grant_id))
                .next(format!("loopx gate grants --goal-id {goal}"))
        })?;
        return Ok(Effect::new(
            Vec::new(),
            json!({"withdrawn": true, "changed": false, "grant": shown(&ended)}),
        ));
    };
    let scope = DecisionScope::parse(&grant.scope);
    let answers = |other: &Grant, required: &DecisionScope| {
        DecisionScope::parse(&other.scope).is_some_and(|s| s.covers(required))
    };
    let held: Vec<&TodoId> = view
        .todos
        .iter()
        .filter(|t| t.role == Role::Agent)
        .filter(|t| {
            t.required_decision_scopes.iter().filter_map(|r| r.scope()).any(|required| {
                scope.as_ref().is_some_and(|s| s.covers(&required))
                    && !view.grants.iter().any(|g| g.id != grant.id && answers(g, &required))
            })
        })
        .map(|t| &t.todo_id)
        .collect();
    Ok(Effect::new(
        vec![Change::PutGrant(Grant { used: true, ..grant.clone() })],
        json!({
            "withdrawn": true,
            "changed": true,
            "grant": shown(grant),
            "held_count": held.len(),
            "held_todo_ids": held.iter().take(LISTED).collect::<Vec<_>>(),
            "next_command": format!(
                "loopx gate open --goal-id {goal} --question \"...\" --decision-scope {}",
                grant.scope
            ),
        }),
    ))
}
