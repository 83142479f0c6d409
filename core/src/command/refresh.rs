//! `refresh-state`: what was delivered, before it is spent.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{EVIDENCE_LIMIT, Effect, Scene, TEXT_LIMIT, one_line};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{Evidence, Outcome, OutcomeKind, Stall, TaskClass, TurnId, TurnState, Usage};
use crate::store::Change;

/// `refresh_state`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefreshStateRequest {
    /// Who acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What was worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<String>,
    /// What was delivered; `neutral` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_outcome: Option<OutcomeKind>,
    /// The caller's word for it, `state_refreshed` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended_action: Option<String>,
    /// What shows the delivery.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Model usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Records an outcome. A delivered one may be spent; three fruitless ones in a row on
/// one todo make it stalled for the agent (contract.md 2.5).
pub fn refresh_state(scene: &Scene<'_>, request: &RefreshStateRequest) -> Result<Effect> {
    let agent = scene.actor(request.agent_id.as_deref())?;
    let todo = request.todo_id.as_deref().map(|id| scene.todo(id)).transpose()?;
    let turn_id = request.turn_instance_id.as_deref().map(TurnId::parse).transpose()?;
    let bound = turn_id
        .as_ref()
        .map(|turn| {
            super::turn::require_bound(
                scene,
                turn,
                agent.as_ref(),
                todo.as_ref().map(|t| &t.todo_id),
            )
        })
        .transpose()?;
    let kind = request.delivery_outcome.unwrap_or(OutcomeKind::Neutral);
    if let Some(turn) = &bound
        && kind.is_delivered()
        && matches!(turn.state, TurnState::Skipped | TurnState::Settled)
    {
        let how = if turn.state == TurnState::Skipped {
            "answered with a skip"
        } else {
            "settled already"
        };
        return Err(Error::new(ErrorCode::TurnNotLive, turn.turn_id.as_str())
            .message(format!("turn {} was {how}: it delivers nothing", turn.turn_id)));
    }
    // What a turn delivers belongs to what it was admitted for.
    let todo_id =
        todo.as_ref().map(|t| t.todo_id.clone()).or_else(|| bound.and_then(|t| t.todo_id));
    let outcome = Outcome {
        id: scene.row,
        at: scene.now,
        agent: agent.clone(),
        todo_id: todo_id.clone(),
        turn_id,
        kind,
        classification: one_line(
            "classification",
            request.classification.as_deref().unwrap_or("state_refreshed"),
            120,
        )?,
        spent_by: None,
        usage: request.usage.clone(),
        recommended_action: request
            .recommended_action
            .as_deref()
            .map(|t| one_line("recommended_action", t, TEXT_LIMIT))
            .transpose()?,
    };
    let mut changes = Vec::new();
    for text in &request.evidence {
        changes.push(Change::AddEvidence(Evidence {
            id: scene.row,
            at: scene.now,
            agent: agent.clone(),
            todo_id: todo_id.clone(),
            text: one_line("evidence", text, EVIDENCE_LIMIT)?,
        }));
    }
    if let Some(id) = &todo_id {
        let on = scene.read.todo(id)?;
        let is_look = on.is_some_and(|t| t.task_class == TaskClass::Monitor);
        match kind {
            OutcomeKind::Progress | OutcomeKind::Primary => {
                changes.push(Change::ClearStalls(id.clone()));
            }
            // A look at a monitor that has not changed is a look that worked.
            OutcomeKind::NoChange if is_look => changes.push(Change::ClearStalls(id.clone())),
            OutcomeKind::NoChange | OutcomeKind::Failed => {
                let query = crate::admission::ViewQuery {
                    now: scene.now,
                    quota: scene.policy.quota,
                    complete: false,
                };
                let before = scene
                    .read
                    .view(&query)?
                    .stalls
                    .into_iter()
                    .find(|s| s.todo_id == *id && s.agent == agent);
                changes.push(Change::PutStall(fruitless(
                    before,
                    id.clone(),
                    agent.clone(),
                    scene.now,
                )));
            }
            OutcomeKind::SurfaceOnly | OutcomeKind::Neutral => {}
        }
    } else if !request.evidence.is_empty()
        && kind.is_delivered()
        && agent.is_none()
        && !scene.policy.roster.is_empty()
    {
        return Err(Error::new(ErrorCode::AgentRequired, "agent"));
    }
    changes.push(Change::PutOutcome(outcome.clone()));
    Ok(Effect::new(
        changes,
        json!({
            "appended": true,
            "outcome_id": outcome.id,
            "delivery_outcome": kind,
            "classification": outcome.classification,
            "agent_id": agent,
            "todo_id": todo_id,
            "turn_instance_id": outcome.turn_id,
            "spendable": kind.is_delivered(),
        }),
    ))
}

/// The stall after one more fruitless settle: the streak grows to the limit, then the
/// number of re-offers does.
pub fn fruitless(
    before: Option<Stall>,
    todo_id: crate::model::TodoId,
    agent: Option<crate::model::AgentId>,
    now: crate::model::Instant,
) -> Stall {
    match before {
        None => Stall { todo_id, agent, streak: 1, at: now, reoffers: 0 },
        Some(s) if s.streak < Stall::LIMIT => Stall { streak: s.streak + 1, at: now, ..s },
        Some(s) => Stall { reoffers: s.reoffers.saturating_add(1), at: now, ..s },
    }
}
