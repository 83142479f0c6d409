//! The hint of a verdict: what of a goal's facts a wait depends on.

use serde_json::json;

use super::app::STATE_KEY;
use super::arbitration::Arbitration;
use super::build::HintInput;
use super::wait::{Deadline, Watched};
use crate::admission::facts::GoalFacts;
use crate::admission::holds::{BASIC_CAPABILITIES, Due, Hold, due_at};
use crate::admission::offer::goal_identity;
use crate::admission::rules::Verdict;
use crate::model::{AgentId, TaskClass, TodoId};

/// `heartbeat_recommendation.recommended_mode` of a verdict.
pub fn recommended_mode(verdict: &Verdict) -> &'static str {
    match verdict.pause_cause {
        Some("goal_stopped") => "goal_stopped",
        Some(_) => "quota_paused",
        None => verdict.mode,
    }
}

/// Whether nothing goes on until a person acts.
pub fn user_required(verdict: &Verdict) -> bool {
    let asked = matches!(verdict.mode, "user_gate" | "user_action_required");
    verdict.notify && !verdict.run && (asked || !verdict.user_items.is_empty())
}

/// Todos that time alone gives back to the agent: a stalled one is offered again, a lease
/// that nobody renews ends.
fn released<'f>(facts: &'f GoalFacts<'_>) -> impl Iterator<Item = Deadline> + 'f {
    let lease_end = |id: &TodoId| {
        let leases = facts.view.leases.iter().filter(|l| l.todo_id == *id);
        let turns = facts.view.turns.iter().filter(|t| t.todo_id.as_ref() == Some(id));
        leases.map(|l| l.expires_at).chain(turns.filter_map(|t| t.expires_at)).max()
    };
    facts.of_agent().flat_map(move |c| {
        let id = &c.todo.todo_id;
        c.holds.iter().filter_map(move |hold| match hold {
            Hold::Stalled { until } => {
                let at = (*until)?;
                Some(Deadline { at, source: "todo_reoffer", identity: id.to_string() })
            }
            Hold::LeasedByOther { .. } => {
                let at = lease_end(id)?;
                Some(Deadline { at, source: "lease_end", identity: id.to_string() })
            }
            _ => None,
        })
    })
}

/// What the hint of a verdict is made from.
pub fn input_for<'a>(facts: &'a GoalFacts<'_>, verdict: &'a Verdict) -> HintInput<'a> {
    let request = facts.request;
    let agent = facts.agent();
    let selected = verdict
        .selected
        .as_ref()
        .and_then(|id| facts.candidates.iter().find(|c| c.todo.todo_id == *id))
        .map(|c| c.todo);
    let monitors: Vec<Watched> = facts
        .of_agent()
        .filter(|c| c.todo.task_class == TaskClass::Monitor)
        .map(|c| Watched {
            identity: c.todo.todo_id.to_string(),
            todo_id: Some(c.todo.todo_id.to_string()),
            target_key: c.todo.target_key.clone(),
            cadence: c.todo.cadence,
            next_due_at: match due_at(c.todo) {
                Due::At(at) => Some(at),
                Due::Now | Due::Never => None,
            },
            expires_at: c.todo.expires_at,
            last_checked_at: c.todo.last_checked_at,
        })
        .collect();
    let slot = facts.view.window.next_free_at.filter(|_| verdict.state == "throttled");
    let deadlines = monitors
        .iter()
        .filter(|w| w.expires_at.is_none_or(|end| end > facts.now))
        .filter_map(|w| {
            let identity = w.identity.clone();
            w.next_due_at.map(|at| Deadline { at, source: "continuous_monitor", identity })
        })
        .chain(slot.map(|at| Deadline { at, source: "quota_window", identity: "slot".into() }))
        .chain(released(facts))
        .collect();
    let surface = request.execution_context.as_ref().map(|c| c.host_surface.as_str());
    HintInput {
        goal_id: facts.policy.goal_id.as_str(),
        goal_identity: goal_identity(facts.policy),
        agent_id: agent.map(AgentId::as_str),
        effective_action: verdict.effective_action,
        recommended_mode: recommended_mode(verdict),
        arbitration: Arbitration {
            mode: verdict.mode.to_owned(),
            user_required: user_required(verdict),
            must_attempt: verdict.run,
            delivery_allowed: verdict.run && verdict.delivery,
            quiet_noop_allowed: !verdict.run && !verdict.notify,
            offered: verdict.offer.is_some() && !request.binding,
            unreadable: Vec::new(),
        },
        subject: json!([
            verdict.reason_code,
            verdict.selected,
            verdict.user_items,
            verdict.offer.as_ref().map(|o| &o.digest),
        ]),
        selected: [
            selected.map(|t| t.todo_id.as_str()),
            selected.and_then(|t| t.action_kind.as_deref()),
            selected.and_then(|t| t.target_key.as_deref()),
            selected.and_then(|t| t.claimed_by.as_ref()).map(AgentId::as_str),
            None,
        ],
        monitors,
        deadlines,
        context: request.execution_context.as_ref(),
        state: facts.view.schedules.iter().find(|s| {
            Some(&s.agent) == agent
                && Some(s.surface.as_str()) == surface
                && s.state_key == STATE_KEY
        }),
        observed_rrule: request.observed_rrule.as_deref(),
        capabilities: request
            .capabilities
            .iter()
            .filter(|c| !BASIC_CAPABILITIES.contains(&c.as_str()))
            .cloned()
            .collect(),
        now: facts.now,
    }
}
