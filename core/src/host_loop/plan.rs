//! What a decision means for a loop: run, wait that long, look once more, stop. Read from
//! the packet as any door has it, so that every host comes to one plan from one packet
//! (reference scheduler.md 8.5, 8.13, 9.1).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::surface::Surface;
use crate::model::Instant;
use crate::model::time::MICROS_PER_SECOND;

/// A packet that no loop can follow. It is treated like a question that failed: asked
/// again later, never guessed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the decision cannot be followed: {0}")]
pub struct ContractError(pub &'static str);

/// What makes two answers the same answer, for the one recheck before a loop ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionIdentity {
    /// `should_run`.
    pub should_run: bool,
    /// `scheduler_hint.action`.
    pub action: String,
    /// `scheduler_hint.cadence_class`.
    pub cadence_class: String,
    /// `scheduler_hint.reset_policy.reset_token`; empty for a stop.
    pub reset_token: String,
    /// `effective_action`.
    pub effective_action: String,
    /// `selected_todo.todo_id`.
    pub todo_id: Option<String>,
}

/// Polls allowed and what follows them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Limit {
    polls: u32,
    directive: String,
    recheck: bool,
}

/// A decision as a loop reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Its identity.
    pub identity: DecisionIdentity,
    /// The kernel proves that the goal is done.
    pub terminal: bool,
    /// No further wake is legal: what the hint tells this host to do about it.
    stop: Option<String>,
    ladder: Vec<u32>,
    limit: Option<Limit>,
    /// Seconds to the next instant at which time alone changes the answer: a monitor comes
    /// due, a slot comes free.
    pub event_in_seconds: Option<i64>,
    /// Key of what a person is told, when there is something.
    pub notify_key: Option<String>,
}

/// What to do with a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Run now.
    Run,
    /// Look again after so many minutes; `unchanged` looks in a row at this wait by then.
    Wait {
        /// Minutes, at least 1.
        minutes: u32,
        /// To be stored.
        unchanged: u32,
    },
    /// As many looks at the same wait as are allowed.
    Limit {
        /// To be stored.
        unchanged: u32,
        /// What follows when nothing has changed.
        directive: String,
        /// Whether one recheck comes first.
        recheck: bool,
    },
    /// No further wake is legal.
    Stop {
        /// What the hint tells the host.
        directive: String,
        /// `scheduler_hint.cadence_class`.
        class: String,
    },
    /// The goal is done.
    Terminal,
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

fn minutes(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|m| u32::try_from(m).ok()).filter(|m| *m > 0)
}

/// The proof that a goal is done (reference scheduler.md 9, terminal predicate).
fn proves_the_end(packet: &Value) -> bool {
    let is = |pointer: &str, word: &str| text(packet, pointer).as_deref() == Some(word);
    let frontier = "/goal_frontier_projection";
    packet.get("should_run") == Some(&Value::Bool(false))
        && is("/effective_action", "terminal_no_followup")
        && is(&format!("{frontier}/terminal_state/schema_version"), "goal_terminal_state_v0")
        && is(&format!("{frontier}/terminal_state/kind"), "no_followup")
        && packet.pointer(&format!("{frontier}/terminal_state/derived")) == Some(&Value::Bool(true))
        && is(&format!("{frontier}/terminal_state/source"), "validated_goal_closure")
        && is(
            &format!("{frontier}/source_completeness/schema_version"),
            "goal_terminal_source_completeness_v0",
        )
        && is(&format!("{frontier}/source_completeness/user_todos"), "valid")
        && is(&format!("{frontier}/source_completeness/agent_todos"), "valid")
}

impl Reading {
    /// Reads a packet of `quota should-run --include-detail scheduler` for one host.
    pub fn of(packet: &Value, surface: &Surface, now: Instant) -> Result<Self, ContractError> {
        let hint = packet.get("scheduler_hint").ok_or(ContractError("it has no scheduler_hint"))?;
        let identity = DecisionIdentity {
            should_run: packet
                .get("should_run")
                .and_then(Value::as_bool)
                .ok_or(ContractError("it has no should_run"))?,
            action: text(hint, "/action").ok_or(ContractError("its hint has no action"))?,
            cadence_class: text(hint, "/cadence_class").unwrap_or_default(),
            reset_token: text(hint, "/reset_policy/reset_token").unwrap_or_default(),
            effective_action: text(packet, "/effective_action").unwrap_or_default(),
            todo_id: text(packet, "/selected_todo/todo_id"),
        };
        let poll = hint.get("unchanged_poll").unwrap_or(&Value::Null);
        // The one machine test for "no further wake is legal" (reference scheduler.md 8.6).
        let stop = match poll.get("local_scheduler").and_then(Value::as_str) {
            None => None,
            Some("stop") => {
                Some(poll.get(surface.limit_key).and_then(Value::as_str).unwrap_or("stop"))
            }
            Some(_) => return Err(ContractError("its execution context is to be repaired")),
        };
        let detail = hint.pointer("/cold_path_detail/local_scheduler");
        let runs = identity.action == "run_now";
        if stop.is_none() && !runs && detail.is_none() {
            return Err(ContractError("it waits without saying how long"));
        }
        let ladder: Vec<u32> = detail
            .and_then(|d| d.get("example_progression_minutes"))
            .and_then(Value::as_array)
            .map(|steps| steps.iter().filter_map(minutes).collect())
            .unwrap_or_default();
        let recommended = detail.and_then(|d| d.get("recommended_interval_minutes"));
        let ladder = match ladder.is_empty() {
            true => vec![recommended.and_then(minutes).unwrap_or(3)],
            false => ladder,
        };
        let of_host = |section: &str| {
            let section = poll.get(section)?;
            section.get(surface.limit_key).or_else(|| section.get("local_scheduler"))
        };
        let directive = of_host("after_limits").and_then(Value::as_str).unwrap_or("continue");
        let recheck = poll.get("final_quota_replan_check_enabled") == Some(&Value::Bool(true))
            && text(poll, "/final_quota_replan_check_action").as_deref()
                == Some("rerun_quota_should_run_once");
        let limit = of_host("limits")
            .and_then(minutes)
            .filter(|_| directive != "continue")
            .map(|polls| Limit { polls, directive: directive.to_owned(), recheck });
        let free_at = text(packet, "/next_eligible_at").and_then(|t| Instant::parse(&t));
        let free_in = free_at.map(|at| {
            let micros = at.micros().saturating_sub(now.micros());
            (micros + MICROS_PER_SECOND - 1) / MICROS_PER_SECOND
        });
        let due_in = ["/cold_path_detail/frontier_recheck", "/frontier_recheck"]
            .iter()
            .filter_map(|p| hint.pointer(p)?.get("frontier_recheck_after_seconds")?.as_i64())
            .min();
        Ok(Self {
            event_in_seconds: due_in.into_iter().chain(free_in).filter(|s| *s > 0).min(),
            terminal: proves_the_end(packet),
            stop: stop.map(str::to_owned),
            ladder,
            limit,
            notify_key: text(packet, "/notify_key"),
            identity,
        })
    }

    /// The plan, after `unchanged` looks at the wait with `token`.
    pub fn plan(&self, token: Option<&str>, unchanged: u32) -> Plan {
        if self.terminal {
            return Plan::Terminal;
        }
        if let Some(directive) = &self.stop {
            let class = self.identity.cadence_class.clone();
            return Plan::Stop { directive: directive.clone(), class };
        }
        if self.identity.action == "run_now" {
            return Plan::Run;
        }
        let same = !self.identity.reset_token.is_empty()
            && token == Some(self.identity.reset_token.as_str());
        let before = if same { unchanged } else { 0 };
        let unchanged = before.saturating_add(1);
        if let Some(limit) = self.limit.as_ref().filter(|l| unchanged >= l.polls) {
            return Plan::Limit {
                unchanged,
                directive: limit.directive.clone(),
                recheck: limit.recheck,
            };
        }
        let at = usize::try_from(before).unwrap_or(usize::MAX).min(self.ladder.len() - 1);
        Plan::Wait { minutes: self.ladder.get(at).copied().unwrap_or(3), unchanged }
    }

    /// What the hint tells this host to do when no further wake is legal.
    pub fn stop_directive(&self) -> Option<&str> {
        self.stop.as_deref()
    }

    /// Minutes that the wait of `unchanged` looks stands for, also where the limit ends it.
    pub fn step_minutes(&self, unchanged: u32) -> u32 {
        let at = usize::try_from(unchanged).unwrap_or(usize::MAX).min(self.ladder.len() - 1);
        self.ladder.get(at).copied().unwrap_or(3)
    }
}
