//! Admitting a turn: the decision, bound to the turn's id for ever.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Effect, Scene};
use crate::admission::decision::Decision;
use crate::error::{Error, ErrorCode, Result};
use crate::file::sha256_hex;
use crate::model::{AgentId, AgentSeen, AttemptState, TodoId, Turn, TurnId, TurnState};
use crate::store::Change;

/// `quota.should_run` and `turn.admit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShouldRunRequest {
    /// Who asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Capabilities that the door declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_capabilities: Vec<String>,
    /// The door works in a worktree of its own.
    pub independent_worktree: bool,
    /// Who wakes the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<crate::schedule::ExecutionContext>,
    /// Sections to add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include_detail: Vec<crate::admission::Detail>,
    /// The turn; makes it an admission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<String>,
}

/// Digest of what a turn id stands for: the agent. The rest of the request (declared
/// capabilities, details) may differ between a call and its repeat.
pub fn body_digest(agent: Option<&AgentId>) -> String {
    sha256_hex(format!("turn.admit|{}", agent.map_or("", AgentId::as_str)).as_bytes())
}

/// The turn's binding when it exists: replayed for the same agent, refused for another.
pub fn bound(scene: &Scene<'_>, turn: &TurnId, agent: Option<&AgentId>) -> Result<Option<Turn>> {
    match scene.read.turn(turn)? {
        None => Ok(None),
        Some(found) if found.agent.as_ref() == agent => Ok(Some(found)),
        Some(found) => Err(conflict(
            turn,
            &format!("agent {}", found.agent.as_ref().map_or("nobody", |a| a.as_str())),
        )),
    }
}

fn conflict(turn: &TurnId, what: &str) -> Error {
    Error::new(ErrorCode::TurnConflict, turn.as_str())
        .message(format!("turn {turn} is bound to {what}"))
}

/// A turn that must have been admitted for this agent and, where both name one, todo.
pub fn require_bound(
    scene: &Scene<'_>,
    turn: &TurnId,
    agent: Option<&AgentId>,
    todo: Option<&TodoId>,
) -> Result<Turn> {
    let found = bound(scene, turn, agent)?.ok_or_else(|| {
        Error::new(ErrorCode::TurnUnknown, turn.as_str())
            .message(format!("turn {turn} was never admitted"))
            .next(format!(
                "loopx quota should-run --goal-id {}{} --turn-instance-id {turn}",
                scene.policy.goal_id,
                agent.map(|a| format!(" --agent-id {a}")).unwrap_or_default()
            ))
    })?;
    match (todo, &found.todo_id) {
        (Some(todo), Some(bound)) if todo != bound => Err(conflict(turn, bound.as_str())),
        _ => Ok(found),
    }
}

/// Binds a turn to a decision just made: a run to its todo, a skip as a no-spend
/// receipt; an offer becomes the one attempt at it.
pub fn admit(
    scene: &Scene<'_>,
    turn: &TurnId,
    agent: Option<&AgentId>,
    decision: &Decision,
    packet: Value,
    hint_minutes: u32,
) -> Effect {
    let verdict = &decision.verdict;
    let mut changes = vec![Change::PutTurn(Turn {
        turn_id: turn.clone(),
        agent: agent.cloned(),
        todo_id: verdict.selected.clone().filter(|_| verdict.run),
        rule: decision.rule.to_owned(),
        body_digest: body_digest(agent),
        state: if verdict.run { TurnState::Live } else { TurnState::Skipped },
        at: scene.now,
        reserved: 0,
        expires_at: None,
    })];
    if let Some(offer) = &verdict.offer {
        changes.push(Change::PutAttempt(offer.record(
            agent,
            AttemptState::Attempted,
            scene.now,
            Some(turn.clone()),
        )));
    }
    if let Some(agent) = agent {
        changes.push(Change::PutSeen(AgentSeen {
            agent: agent.clone(),
            at: scene.now,
            hint_minutes,
        }));
    }
    Effect::new(changes, packet)
}
