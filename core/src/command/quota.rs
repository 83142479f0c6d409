//! `quota spend-slot` and `quota status`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Effect, Scene, actor};
use crate::admission::{View, ViewQuery};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, GoalPolicy, Outcome, Spend, TodoId, Turn, TurnId, TurnState};
use crate::store::Change;

/// Where a spend comes from (reference quota.md 1).
pub const SOURCES: [&str; 4] = ["heartbeat", "controller", "adapter", "visible-goal"];

/// `quota.spend_slot`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpendSlotRequest {
    /// Who spends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// For which todo; the last delivered one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<String>,
    /// How many; one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<i64>,
    /// `heartbeat`, `controller`, `adapter` or `visible-goal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<String>,
    /// Act; without it the answer is a preview.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub execute: bool,
}

/// Spends slots for the delivered, unspent outcome of the agent.
pub fn spend_slot(scene: &Scene<'_>, request: &SpendSlotRequest) -> Result<Effect> {
    let policy = scene.policy;
    let goal = &policy.goal_id;
    let slots = match request.slots.unwrap_or(1) {
        n if n >= 1 => n.unsigned_abs(),
        n => {
            return Err(Error::new(ErrorCode::SlotsInvalid, "slots")
                .message(format!("{n} slots cannot be spent")));
        }
    };
    let source = request.source.as_deref().unwrap_or("heartbeat");
    if !SOURCES.contains(&source) {
        return Err(Error::new(ErrorCode::RequestInvalid, "source")
            .message(format!("source is one of {}", SOURCES.join(", "))));
    }
    let agent = actor(policy, request.agent_id.as_deref())?;
    let wanted =
        request.todo_id.as_deref().map(|id| scene.todo(id).map(|t| t.todo_id)).transpose()?;
    let turn = request.turn_instance_id.as_deref().map(TurnId::parse).transpose()?;
    let bound = turn
        .as_ref()
        .map(|t| super::turn::require_bound(scene, t, agent.as_ref(), wanted.as_ref()))
        .transpose()?;
    match bound.as_ref().map(|t| t.state) {
        Some(TurnState::Skipped) => {
            return Err(Error::new(ErrorCode::TurnNotLive, "turn_instance_id")
                .message("the turn was answered with a skip: it has nothing to spend"));
        }
        Some(TurnState::Settled) => {
            return Err(Error::new(ErrorCode::AlreadySpent, "turn_instance_id")
                .message("the turn is settled already")
                .next(format!("loopx quota status --goal-id {goal}")));
        }
        _ => {}
    }
    if policy.is_stopped() {
        return Err(Error::new(ErrorCode::GoalStopped, goal.as_str()));
    }
    if policy.quota.compute <= 0.0 {
        return Err(Error::new(ErrorCode::QuotaPaused, goal.as_str()));
    }
    let outcome = unspent(scene, agent.as_ref(), wanted.as_ref(), bound.as_ref())?;
    // What a turn delivered is that turn's spend, also when the turn is not named.
    let bound = match (bound, &outcome.turn_id) {
        (None, Some(id)) => scene
            .read
            .turn(id)?
            .filter(|t| matches!(t.state, TurnState::Live | TurnState::Released)),
        (bound, _) => bound,
    };
    let turn = turn.or_else(|| bound.as_ref().map(|t| t.turn_id.clone()));
    let query = ViewQuery { now: scene.now, quota: policy.quota, complete: false };
    let window = scene.read.view(&query)?.window;
    // The turn's own reservation is what it spends, so it does not stand in its way.
    let own = bound.as_ref().filter(|t| t.state == TurnState::Live).map_or(0, |t| t.reserved);
    let left = window.left(&policy.quota).saturating_add(own);
    if slots > left {
        return Err(Error::new(ErrorCode::WindowFull, "slots")
            .message(format!(
                "{slots} slots do not fit: {} of {} are spent, {} reserved{}",
                window.spent,
                policy.quota.allowed_slots,
                window.reserved,
                window
                    .next_free_at
                    .map(|at| format!("; the next comes free {at}"))
                    .unwrap_or_default()
            ))
            .next(format!("loopx quota status --goal-id {goal}")));
    }
    let spend = Spend {
        id: scene.row,
        at: scene.now,
        slots,
        voided: 0,
        agent: agent.clone(),
        todo_id: outcome.todo_id.clone(),
        turn_id: turn,
        source: source.to_owned(),
    };
    let mut changes: Vec<Change> = scene
        .read
        .unspent_up_to(&outcome)?
        .into_iter()
        .map(|o| Change::PutOutcome(Outcome { spent_by: Some(spend.id), ..o }))
        .collect();
    if let Some(bound) = bound {
        changes.push(Change::PutTurn(Turn {
            state: TurnState::Settled,
            reserved: 0,
            expires_at: None,
            ..bound
        }));
    }
    changes.push(Change::PutSpend(spend.clone()));
    let spent_after = window.spent.saturating_add(slots);
    Ok(Effect::new(
        changes,
        json!({
            "dry_run": !request.execute,
            "appended": request.execute,
            "spend_id": spend.id,
            "slots": slots,
            "agent_id": agent,
            "todo_id": spend.todo_id,
            "turn_instance_id": spend.turn_id,
            "source": source,
            "outcome_id": outcome.id,
            "before": quota_figures(policy, window.spent, window.reserved),
            "after": quota_figures(policy, spent_after, window.reserved.saturating_sub(own)),
            "window": {
                "from": crate::quota::window_start(&policy.quota, scene.now),
                "to": scene.now,
            },
        }),
    ))
}

pub(super) fn quota_figures(policy: &GoalPolicy, spent: u64, reserved: u64) -> Value {
    json!({
        "spent_slots": spent,
        "reserved_slots": reserved,
        "allowed_slots": policy.quota.allowed_slots,
        "window_hours": policy.quota.window_hours,
    })
}

/// The outcome that a spend takes.
fn unspent(
    scene: &Scene<'_>,
    agent: Option<&AgentId>,
    todo: Option<&TodoId>,
    turn: Option<&Turn>,
) -> Result<Outcome> {
    let goal = &scene.policy.goal_id;
    let who = agent.map(|a| format!(" --agent-id {a}")).unwrap_or_default();
    let last = match turn {
        // A turn spends what it delivered itself.
        Some(turn) => scene.read.delivery_of_turn(&turn.turn_id)?,
        None => scene.read.last_delivery(agent, todo)?,
    };
    let last = last.ok_or_else(|| match turn {
        Some(turn) => Error::new(ErrorCode::NotDelivered, turn.turn_id.as_str())
            .message(format!("turn {} has delivered nothing", turn.turn_id))
            .next(format!(
                "loopx refresh-state --goal-id {goal}{who} --turn-instance-id {} --delivery-outcome outcome_progress",
                turn.turn_id
            )),
        None => Error::new(ErrorCode::NotDelivered, todo.map_or("outcome", |t| t.as_str())).next(format!(
            "loopx refresh-state --goal-id {goal}{who}{} --delivery-outcome outcome_progress",
            todo.map(|t| format!(" --todo-id {t}")).unwrap_or_default()
        )),
    })?;
    match last.spent_by {
        None => Ok(last),
        Some(spend) => Err(Error::new(ErrorCode::AlreadySpent, "outcome")
            .message(format!("the last delivered outcome is spent already (spend {spend})"))
            .next(format!("loopx quota status --goal-id {goal}"))),
    }
}

/// The window of one goal as `quota status` shows it.
pub fn status_row(policy: &GoalPolicy, view: &View, state: &str, rule: &str) -> Value {
    // What cannot be read is not zero.
    let known = !view.unreadable;
    json!({
        "goal_id": policy.goal_id,
        "state": state,
        "rule": rule,
        "compute": policy.quota.compute,
        "window_hours": policy.quota.window_hours,
        "slot_minutes": policy.quota.slot_minutes,
        "allowed_slots": policy.quota.allowed_slots,
        "spent_slots": known.then_some(view.window.spent),
        "reserved_slots": known.then_some(view.window.reserved),
        "left_slots": known.then(|| view.window.left(&policy.quota)),
        "overrun_slots": known.then(|| view.window.spent.saturating_sub(policy.quota.allowed_slots)),
        "next_eligible_at": view.window.next_free_at,
        "open_agent_todos": known.then_some(view.counters.agent_open),
        "open_user_todos": known.then_some(view.counters.user_open),
        "agents": policy.roster,
    })
}
