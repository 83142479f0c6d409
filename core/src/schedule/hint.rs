//! The hint as a packet says it: an action, a cadence class, limits, tokens, and on
//! request the ladders (reference scheduler.md 1). Hosts keep the loop; the hint says
//! the pace.

use serde::Serialize;

use super::app::AppAutomation;
use super::arbitration::ConsistencyError;
use super::context::{ContextProjection, ExecutionContext};
use super::detail::ColdPathDetail;
use super::failure::GateCooldown;

/// A value for each host family that counts unchanged polls; none where there is nothing
/// to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PerHost<T> {
    /// Shell worker and other local schedulers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_scheduler: Option<T>,
    /// Codex CLI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codex_cli_tui: Option<T>,
    /// Claude Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claude_code_loop: Option<T>,
    /// Codex App over SSH.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codex_app_ssh_goal: Option<T>,
}

/// What repeated unchanged polls lead to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum UnchangedPoll {
    /// A wait or a run.
    Counted {
        /// Polls allowed; empty where there is no limit.
        limits: PerHost<u32>,
        /// What follows; a short packet says nothing where there is no limit.
        after_limits: PerHost<&'static str>,
        /// One recheck before it follows.
        final_quota_replan_check_enabled: bool,
        /// What the recheck is.
        #[serde(skip_serializing_if = "Option::is_none")]
        final_quota_replan_check_action: Option<&'static str>,
    },
    /// A stop, or a context that is to be repaired.
    Stop {
        /// Directive for local schedulers; `stop` is the one word that ends them.
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

impl UnchangedPoll {
    /// Of a wait or a run; `whole` also where there is no limit.
    pub fn counted(limit: Option<u32>, whole: bool) -> Self {
        let after = |word: &'static str| match (limit.is_some(), whole) {
            (true, _) => Some(word),
            (false, true) => Some("continue"),
            (false, false) => None,
        };
        let blocked = "update_goal_blocked_keep_loopx_active";
        Self::Counted {
            limits: PerHost {
                local_scheduler: limit,
                codex_cli_tui: limit,
                claude_code_loop: limit,
                codex_app_ssh_goal: limit,
            },
            after_limits: PerHost {
                local_scheduler: after("stop_tick_loop"),
                codex_cli_tui: after(blocked),
                claude_code_loop: after("stop_loop"),
                codex_app_ssh_goal: limit.map(|_| blocked),
            },
            final_quota_replan_check_enabled: limit.is_some(),
            final_quota_replan_check_action: limit.map(|_| "rerun_quota_should_run_once"),
        }
    }

    /// Of a stop; `returned` when the work goes back to its owner.
    pub const fn stop(returned: bool) -> Self {
        Self::Stop {
            local_scheduler: "stop",
            codex_cli_tui: "exit",
            codex_app_ssh_goal: if returned { "return_to_owner" } else { "complete_host_goal" },
            claude_code_loop: "stop",
            final_quota_replan_check_enabled: false,
        }
    }

    /// Of a context that is to be repaired.
    pub const fn until_repaired() -> Self {
        const WORD: &str = "stop_until_context_repaired";
        Self::Stop {
            local_scheduler: WORD,
            codex_cli_tui: WORD,
            codex_app_ssh_goal: WORD,
            claude_code_loop: WORD,
            final_quota_replan_check_enabled: false,
        }
    }
}

/// Tokens that tell a host whether what it waits for is still the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetPolicy {
    /// Changes when the wait is another one; only equality matters.
    pub reset_token: String,
    /// Digest of what is waited on, without the ladder.
    pub identity_signature: String,
    /// Where a host keeps the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_state_key: Option<&'static str>,
    /// App hosts: minutes that a reset goes back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_automation_initial_interval_minutes: Option<u32>,
    /// App hosts: the same as a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_automation_initial_rrule: Option<String>,
}

/// Where the host stands with what it was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecutionPhase {
    /// `scheduler_execution_phase_v0`.
    pub schema_version: &'static str,
    /// Host surface.
    pub host_surface: String,
    /// Who owns the schedule.
    pub scheduler_owner: String,
    /// `host_action_required`, `not_required`, `<owner>_owned` or `contract_error`.
    pub disposition: String,
    /// Nothing is left to do.
    pub completed: bool,
    /// The host has to set its schedule.
    pub apply_needed: bool,
    /// The host has to acknowledge.
    pub ack_needed: bool,
    /// Never: a hint acknowledges nothing.
    pub acknowledged: bool,
}

/// How a goal runtime goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalRuntimeContinuation {
    /// `goal_runtime_continuation_v0`.
    pub schema_version: &'static str,
    /// `continue_now`, `defer`, `return_to_owner` or `complete`.
    pub disposition: &'static str,
    /// Deferred: seconds to the next look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recheck_after_seconds: Option<u64>,
    /// Deferred to an instant: `frontier_earliest_material_transition`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recheck_source: Option<&'static str>,
    /// Deferred: `state_change_or_deadline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_policy: Option<&'static str>,
}

/// Where the rest of a hint is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetailRef {
    /// `scheduler_hint_detail_v0`.
    pub schema_version: &'static str,
    /// Always true.
    pub omitted_by_default: bool,
    /// Never: the hint alone is enough to act.
    pub execution_required: bool,
    /// The command that shows it.
    pub request: &'static str,
    /// What a loop reads from the hint alone.
    pub hot_path_runtime_fields: [&'static str; 3],
    /// What the detail has.
    pub contains: Vec<&'static str>,
}

/// The context in a hint: the words alone, or with what follows from them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ShownContext {
    /// With validity.
    Projected(ContextProjection),
    /// The words.
    Words(ExecutionContext),
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
    /// Why, one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// What may be spent for it: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spend_policy: Option<&'static str>,
    /// Minutes to the first next look: the ladder's first step, earlier when a monitor
    /// comes due or a slot comes free before; absent for a stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_check_minutes: Option<u32>,
    /// Unchanged polls.
    pub unchanged_poll: UnchangedPoll,
    /// What makes two polls the same: paths into the decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchanged_identity_keys: Vec<&'static str>,
    /// Who wakes the agent, when the door said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<ShownContext>,
    /// Where the host stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_phase: Option<ExecutionPhase>,
    /// Tokens; absent for a stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_policy: Option<ResetPolicy>,
    /// For hosts that keep the schedule themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_automation: Option<Box<AppAutomation>>,
    /// The same under the name that Codex App's automations of the earlier tool read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codex_app: Option<Box<AppAutomation>>,
    /// For goal runtimes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_runtime_continuation: Option<GoalRuntimeContinuation>,
    /// Gates: when a person is reminded, while a host polls too fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_gate_notification_cooldown: Option<GateCooldown>,
    /// What is to be repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency_error: Option<ConsistencyError>,
    /// Where the rest is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail_ref: Option<DetailRef>,
    /// The ladder and all that goes with it, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_path_detail: Option<Box<ColdPathDetail>>,
}

impl SchedulerHint {
    /// Nothing more is to be woken: the one directive that loops end on.
    pub fn is_stop(&self) -> bool {
        matches!(self.unchanged_poll, UnchangedPoll::Stop { local_scheduler: "stop", .. })
    }

    /// A poll of this hint is not to be told to a person.
    pub fn silences_gate(&self) -> bool {
        self.user_gate_notification_cooldown.as_ref().is_some_and(|c| c.notification_suppressed)
    }
}
