//! The hint: an action, a cadence class, a ladder of minutes and a reset token
//! (reference scheduler.md 1 to 3). Hosts keep the loop; the hint says the pace.

use serde::Serialize;
use serde_json::json;

use super::context::ExecutionContext;
use crate::admission::facts::GoalFacts;
use crate::admission::holds::{Due, due_at, is_expired};
use crate::admission::offer::{goal_identity, short_digest};
use crate::admission::rules::Verdict;
use crate::model::time::MICROS_PER_MINUTE;
use crate::model::{AgentId, Instant, TaskClass};

/// Polls with the same identity after which a loop rechecks once and then stops.
pub const UNCHANGED_LIMIT: u32 = 3;

/// One cadence class: how a kind of answer is waited on (reference scheduler.md 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CadenceClass {
    /// What the host does.
    pub action: &'static str,
    /// Name.
    pub class: &'static str,
    /// Why.
    pub reason_code: &'static str,
    /// Minutes to the next look, by number of unchanged polls; empty for a stop.
    pub ladder: &'static [u32],
    /// Unchanged polls allowed; `None` without a limit.
    pub limit: Option<u32>,
}

const ACTIVE: CadenceClass = CadenceClass {
    action: "run_now",
    class: "active_work",
    reason_code: "interaction_agent_attempt_required",
    ladder: &[3, 6, 10],
    limit: None,
};
const SUCCESSOR: CadenceClass =
    CadenceClass { reason_code: "interaction_successor_replan_required", ..ACTIVE };
/// A run that is offered once: a plain read climbs this ladder instead of running at
/// once again and again (contract.md 2.5).
const OFFER: CadenceClass = CadenceClass {
    action: "backoff_until_state_change",
    class: "quiet_wait",
    reason_code: "offer_pending",
    ladder: &[3, 10, 30, 60],
    limit: None,
};
const HUMAN: CadenceClass = CadenceClass {
    action: "backoff_waiting_for_user",
    class: "human_gate",
    reason_code: "interaction_blocking_user_gate",
    ladder: &[30, 60, 120],
    limit: Some(UNCHANGED_LIMIT),
};
const QUIET: CadenceClass = CadenceClass {
    action: "backoff_until_state_change",
    class: "quiet_wait",
    reason_code: "interaction_quiet_noop_allowed",
    ladder: &[30, 60, 120],
    limit: Some(UNCHANGED_LIMIT),
};
const NOT_ALLOWED: CadenceClass =
    CadenceClass { reason_code: "interaction_delivery_not_allowed", ..QUIET };
const SCOPE: CadenceClass = CadenceClass {
    action: "backoff_until_reassigned",
    class: "agent_scope_wait",
    reason_code: "interaction_agent_scope_wait",
    ladder: &[10, 20, 30, 60],
    limit: Some(UNCHANGED_LIMIT),
};
const MONITOR: CadenceClass = CadenceClass {
    action: "backoff_until_material_transition",
    class: "monitor_wait",
    reason_code: "interaction_monitor_quiet_wait",
    ladder: &[15, 30, 60],
    limit: Some(UNCHANGED_LIMIT),
};
const MONITOR_ONLY: CadenceClass = CadenceClass {
    action: "backoff_agent_monitor_only",
    class: "agent_monitor_only",
    reason_code: "agent_monitor_only",
    ladder: &[15, 30, 60],
    limit: Some(UNCHANGED_LIMIT),
};
const TERMINAL: CadenceClass = CadenceClass {
    action: "stop_until_explicit_resume",
    class: "terminal_no_followup",
    reason_code: "terminal_no_followup",
    ladder: &[],
    limit: None,
};
const STOPPED: CadenceClass =
    CadenceClass { class: "goal_stopped", reason_code: "goal_stopped", ..TERMINAL };
const PAUSED: CadenceClass =
    CadenceClass { class: "quota_paused", reason_code: "quota_paused", ..TERMINAL };

/// The class of a verdict; `binding` when it is admitted with it.
pub fn class_of(verdict: &Verdict, binding: bool) -> CadenceClass {
    match (verdict.mode, verdict.pause_cause) {
        (_, Some("goal_stopped")) => STOPPED,
        (_, Some(_)) => PAUSED,
        ("terminal_no_followup", _) => TERMINAL,
        ("agent_monitor_only", _) => MONITOR_ONLY,
        _ if verdict.offer.is_some() && !binding => OFFER,
        ("successor_replan_required", _) if verdict.run => SUCCESSOR,
        ("agent_scope_exhausted" | "agent_scope_wait" | "reassignment_required", _) => SCOPE,
        ("monitor_quiet_skip", _) => MONITOR,
        _ if verdict.run => ACTIVE,
        ("user_gate" | "user_action_required", _) => HUMAN,
        ("quota_throttled", _) => QUIET,
        _ => NOT_ALLOWED,
    }
}

/// Limits of the three host families that count unchanged polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PerHost<T> {
    /// Shell worker and other local schedulers.
    pub local_scheduler: T,
    /// Codex CLI.
    pub codex_cli_tui: T,
    /// Claude Code.
    pub claude_code_loop: T,
}

/// What repeated unchanged polls lead to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum UnchangedPoll {
    /// A wait or a run.
    Counted {
        /// Polls allowed.
        limits: PerHost<Option<u32>>,
        /// What follows.
        after_limits: PerHost<&'static str>,
        /// One recheck before it follows.
        final_quota_replan_check_enabled: bool,
        /// What the recheck is.
        #[serde(skip_serializing_if = "Option::is_none")]
        final_quota_replan_check_action: Option<&'static str>,
    },
    /// A stop.
    Stop {
        /// Directive for local schedulers.
        local_scheduler: &'static str,
        /// Directive for Codex CLI.
        codex_cli_tui: &'static str,
        /// Directive for Codex App over SSH.
        codex_app_ssh_goal: &'static str,
        /// Directive for Claude Code.
        claude_code_loop: &'static str,
        /// Never.
        final_quota_replan_check_enabled: bool,
    },
}

/// Tokens that tell a host whether what it waits for is still the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetPolicy {
    /// Changes when the wait is another one; only equality matters.
    pub reset_token: String,
    /// Digest of what is waited on, without the ladder.
    pub identity_signature: String,
}

/// The hint of one decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulerHint {
    /// `scheduler_hint_v0`.
    pub schema_version: &'static str,
    /// Always `quota.should-run`.
    pub source: &'static str,
    /// What the host does.
    pub action: &'static str,
    /// Class.
    pub cadence_class: &'static str,
    /// Why.
    pub reason_code: &'static str,
    /// Minutes to the first next look: the ladder's first step, earlier when a monitor
    /// comes due or a slot comes free before; absent for a stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_check_minutes: Option<u32>,
    /// Unchanged polls.
    pub unchanged_poll: UnchangedPoll,
    /// Who wakes the agent, when the door said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<ExecutionContext>,
    /// Tokens; absent for a stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_policy: Option<ResetPolicy>,
    /// The ladder, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_path_detail: Option<ColdPathDetail>,
}

/// Ladders, on request (`--include-detail scheduler`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColdPathDetail {
    /// `scheduler_hint_detail_v0`.
    pub schema_version: &'static str,
    /// For local schedulers.
    pub local_scheduler: LocalLadder,
}

/// The ladder of a local scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LocalLadder {
    /// First step.
    pub recommended_interval_minutes: u32,
    /// Last step.
    pub max_interval_minutes: u32,
    /// Steps by number of unchanged polls.
    pub example_progression_minutes: Vec<u32>,
    /// Polls allowed.
    pub unchanged_poll_limit: Option<u32>,
    /// What follows.
    pub after_limit: &'static str,
}

/// The hint for a verdict about a goal.
pub fn hint_for(facts: &GoalFacts<'_>, verdict: &Verdict, with_detail: bool) -> SchedulerHint {
    let class = class_of(verdict, facts.request.binding);
    let stop = class.ladder.is_empty();
    let ladder = bounded_ladder(class, next_event(facts, verdict), facts.now);
    let identity = json!([
        goal_identity(facts.policy),
        facts.agent().map(AgentId::as_str),
        verdict.effective_action,
        verdict.mode,
        verdict.reason_code,
        verdict.selected,
        verdict.user_items,
        verdict.offer.as_ref().map(|o| &o.digest),
    ]);
    let identity_signature: String = short_digest(&identity.to_string()).chars().take(12).collect();
    SchedulerHint {
        schema_version: "scheduler_hint_v0",
        source: "quota.should-run",
        action: class.action,
        cadence_class: class.class,
        reason_code: class.reason_code,
        next_check_minutes: ladder.first().copied(),
        execution_context: facts.request.execution_context.clone(),
        unchanged_poll: if stop { stop_directives() } else { counted(class.limit) },
        reset_policy: (!stop).then(|| ResetPolicy {
            reset_token: short_digest(&json!([class.action, class.class, identity]).to_string()),
            identity_signature,
        }),
        cold_path_detail: (with_detail && !stop).then(|| ColdPathDetail {
            schema_version: "scheduler_hint_detail_v0",
            local_scheduler: LocalLadder {
                recommended_interval_minutes: ladder.first().copied().unwrap_or(3),
                max_interval_minutes: ladder.iter().copied().max().unwrap_or(3),
                example_progression_minutes: ladder.clone(),
                unchanged_poll_limit: class.limit,
                after_limit: if class.limit.is_some() { "stop_tick_loop" } else { "continue" },
            },
        }),
    }
}

/// The next instant at which time alone changes the answer of a wait: a monitor of the
/// agent comes due, or a slot comes free.
fn next_event(facts: &GoalFacts<'_>, verdict: &Verdict) -> Option<Instant> {
    if verdict.run {
        return None;
    }
    let due = facts
        .of_agent()
        .filter(|c| c.todo.task_class == TaskClass::Monitor && !is_expired(c.todo, facts.now))
        .filter_map(|c| match due_at(c.todo) {
            Due::At(at) if at > facts.now => Some(at),
            _ => None,
        })
        .min();
    let slot = facts.view.window.next_free_at.filter(|_| verdict.state == "throttled");
    due.into_iter().chain(slot).min()
}

/// The class's ladder, no step longer than the time to `event`, at least one minute.
fn bounded_ladder(class: CadenceClass, event: Option<Instant>, now: Instant) -> Vec<u32> {
    let bound = event.map(|at| {
        let minutes =
            (at.micros().saturating_sub(now.micros()) + MICROS_PER_MINUTE - 1) / MICROS_PER_MINUTE;
        u32::try_from(minutes.max(1)).unwrap_or(u32::MAX)
    });
    class.ladder.iter().map(|step| bound.map_or(*step, |b| b.min(*step))).collect()
}

fn counted(limit: Option<u32>) -> UnchangedPoll {
    let after = |word: &'static str| if limit.is_some() { word } else { "continue" };
    UnchangedPoll::Counted {
        limits: PerHost { local_scheduler: limit, codex_cli_tui: limit, claude_code_loop: limit },
        after_limits: PerHost {
            local_scheduler: after("stop_tick_loop"),
            codex_cli_tui: after("update_goal_blocked_keep_loopx_active"),
            claude_code_loop: after("stop_loop"),
        },
        final_quota_replan_check_enabled: limit.is_some(),
        final_quota_replan_check_action: limit.map(|_| "rerun_quota_should_run_once"),
    }
}

const fn stop_directives() -> UnchangedPoll {
    UnchangedPoll::Stop {
        local_scheduler: "stop",
        codex_cli_tui: "exit",
        codex_app_ssh_goal: "complete_host_goal",
        claude_code_loop: "stop",
        final_quota_replan_check_enabled: false,
    }
}
