//! What `--include-detail scheduler` adds: ladders, what follows an unchanged limit for
//! each host family, and how a reset works.

use serde::Serialize;

use super::context::ContextProjection;
use super::hint::ExecutionPhase;
use super::wait::{FrontierRecheck, MonitorWait};

/// Ladders, on request (`--include-detail scheduler`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColdPathDetail {
    /// `scheduler_hint_detail_v0`.
    pub schema_version: &'static str,
    /// Always `quota.should-run`.
    pub source: &'static str,
    /// For local schedulers.
    pub local_scheduler: LocalLadder,
    /// For Codex CLI.
    pub codex_cli_tui: NativeGoal,
    /// For Codex App over SSH.
    pub codex_app_ssh_goal: NativeGoal,
    /// For Claude Code.
    pub claude_code_loop: ClaudeLoop,
    /// The one recheck.
    pub final_quota_replan_check: FinalCheck,
    /// How a reset works.
    pub reset_policy_detail: ResetDetail,
    /// App hosts: how their schedule climbs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stateful_backoff_detail: Option<BackoffDetail>,
    /// Monitor waits: what they are measured by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cadence_context: Option<MonitorWait>,
    /// The next instant at which time alone changes the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frontier_recheck: Option<FrontierRecheck>,
    /// App hosts: who wakes the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<ContextProjection>,
    /// App hosts: where the host stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_phase: Option<ExecutionPhase>,
}

/// The ladder of a local scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LocalLadder {
    /// First step.
    pub recommended_interval_minutes: u32,
    /// Last step.
    pub max_interval_minutes: u32,
    /// What the ladder roughly grows by.
    pub unchanged_poll_backoff_multiplier: u32,
    /// Steps by number of unchanged polls.
    pub example_progression_minutes: Vec<u32>,
    /// Polls allowed.
    pub unchanged_poll_limit: Option<u32>,
    /// What follows.
    pub after_limit: &'static str,
    /// The one recheck before it follows.
    pub final_quota_replan_check: FinalCheck,
    /// Always true.
    pub no_spend_for_cadence_change: bool,
}

/// Hosts with a goal of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NativeGoal {
    /// Polls allowed.
    pub unchanged_poll_limit: Option<u32>,
    /// What follows.
    pub after_limit: &'static str,
    /// The one recheck before it follows.
    pub final_quota_replan_check: FinalCheck,
    /// `remains_active`: the host's goal is blocked, ours is not.
    pub loopx_goal_state: &'static str,
    /// `explicit_codex_goal_resume`.
    pub resume_trigger: &'static str,
    /// Always true.
    pub no_spend_for_block: bool,
    /// Codex CLI: always true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_spend_for_exit: Option<bool>,
}

/// Claude Code's loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaudeLoop {
    /// Polls allowed.
    pub unchanged_poll_limit: Option<u32>,
    /// What follows.
    pub after_limit: &'static str,
    /// The one recheck before it follows.
    pub final_quota_replan_check: FinalCheck,
    /// Always true.
    pub no_spend_for_stop: bool,
}

/// The one recheck before an unchanged limit has consequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FinalCheck {
    /// There is a limit.
    pub enabled: bool,
    /// When.
    pub trigger: &'static str,
    /// What.
    pub action: &'static str,
    /// Another answer came.
    pub if_changed: &'static str,
    /// The agent may run now.
    pub if_run_now: &'static str,
    /// The same answer came.
    pub if_unchanged: &'static str,
}

impl FinalCheck {
    /// The recheck of a wait with or without a limit.
    pub const fn of(enabled: bool) -> Self {
        Self {
            enabled,
            trigger: "before_unchanged_poll_after_limit",
            action: "rerun_quota_should_run_once",
            if_changed: "follow_new_scheduler_hint",
            if_run_now: "execute_new_quota_contract",
            if_unchanged: "apply_after_limit_without_spend",
        }
    }
}

/// How a reset works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResetDetail {
    /// `scheduler_reset_policy_v0`.
    pub schema_version: &'static str,
    /// Always `quota.should-run`.
    pub source: &'static str,
    /// `profile_initial_interval`.
    pub reset_to: &'static str,
    /// What the host does.
    pub profile_action: &'static str,
    /// Token.
    pub reset_token: String,
    /// Where a host keeps it.
    pub host_state_key: &'static str,
    /// Minutes that a local scheduler goes back to.
    pub local_scheduler_initial_interval_minutes: u32,
    /// Always true.
    pub clear_unchanged_poll_state: bool,
    /// How many paths make the identity.
    pub identity_key_count: usize,
    /// Digest of the identity.
    pub identity_signature: String,
    /// Digest of class and ladder.
    pub profile_signature: String,
    /// Digest of what of them a reset depends on.
    pub reset_profile_signature: String,
    /// What changes a token, joined by `|`.
    pub reset_condition_summary: &'static str,
    /// What follows a reset.
    pub after_reset: &'static str,
    /// Always true.
    pub no_spend_for_reset: bool,
    /// App hosts: minutes that a reset goes back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_automation_initial_interval_minutes: Option<u32>,
    /// App hosts: the same as a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_automation_initial_rrule: Option<String>,
    /// App hosts: the tool that sets a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_automation_tool: Option<&'static str>,
    /// App hosts: what a reset has them do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_automation_apply: Option<&'static str>,
}

/// How the schedule of an app host climbs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BackoffDetail {
    /// The host acknowledges what it set.
    pub ack_required_after_apply: bool,
    /// The host acknowledges what it has already.
    pub ack_required_from_host_match: bool,
    /// What an update may touch.
    pub automation_update_scope: &'static str,
    /// Who waits longer than the host can.
    pub coarser_wait_fallback: &'static str,
    /// Minutes of the step.
    pub current_interval_minutes: u32,
    /// Minutes of the last step.
    pub host_max_interval_minutes: u32,
    /// What becomes of a failed update.
    pub host_update_failure: &'static str,
    /// What is kept between polls, joined by `|`.
    pub persist: &'static str,
    /// The ladder.
    pub progression_minutes: Vec<u32>,
    /// What a reset does.
    pub reset_action: &'static str,
    /// What the same identity does.
    pub same_identity_action: &'static str,
}
