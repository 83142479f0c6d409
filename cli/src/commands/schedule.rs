//! `loopx quota scheduler-...`: what an app host says about its own schedule

use clap::Args;
use loopx_core::Result;
use loopx_core::command::schedule::{HostAsks, SchedulerAckRequest, SchedulerFailRequest};
use loopx_core::kernel::Kernel;
use loopx_core::schedule::failure::FAILURE_KINDS;
use serde_json::Value;

use super::quota::{HostArgs, context};
use super::write_at;
use crate::args::WriteAt;
use crate::doors;

/// Whose schedule, on which host.
#[derive(Debug, Args)]
pub struct Host {
    #[command(flatten)]
    pub at: WriteAt,
    /// Whose schedule
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Capability that the agent has beside shell and file access (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// The agent works in a worktree of its own [default: found from the working directory]
    #[arg(long)]
    pub independent_worktree: bool,
    #[command(flatten)]
    pub host: HostArgs,
    /// The app host, instead of a profile: codex_app or trae_app
    #[arg(long, value_name = "SURFACE")]
    pub surface: Option<String>,
    /// State key of the hint [default: the one that there is]
    #[arg(long, value_name = "KEY")]
    pub state_key: Option<String>,
    /// Act
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

/// `quota scheduler-ack` and `quota scheduler-ack-current`
#[derive(Debug, Args)]
pub struct SchedulerAck {
    #[command(flatten)]
    pub host: Host,
    /// The RRULE that was set
    #[arg(long, value_name = "RRULE")]
    pub applied_rrule: Option<String>,
    /// Reset token of the hint that was followed
    #[arg(long, value_name = "TOKEN")]
    pub reset_token: Option<String>,
    /// Identity signature of that hint
    #[arg(long, value_name = "DIGEST")]
    pub identity_signature: Option<String>,
    /// The host was looked at and has this rule, token and identity
    #[arg(long)]
    pub host_match_observed: bool,
    /// Take token and identity from the hint that is current now
    #[arg(long)]
    pub use_current_hint: bool,
}

/// `quota scheduler-fail-current`
#[derive(Debug, Args)]
pub struct SchedulerFail {
    #[command(flatten)]
    pub host: Host,
    /// The RRULE that could not be set
    #[arg(long, value_name = "RRULE")]
    pub failed_rrule: String,
    /// What went wrong
    #[arg(long, value_name = "KIND", default_value = "host_tool_failure", value_parser = FAILURE_KINDS)]
    pub failure_kind: String,
}

fn asks(args: &Host) -> HostAsks {
    HostAsks {
        agent_id: args.agent_id.clone(),
        available_capabilities: args.available_capabilities.clone(),
        independent_worktree: args.independent_worktree || doors::in_own_worktree(),
        execution_context: context(&args.host),
        surface: args.surface.clone(),
        app_automation_current_rrule: args.host.app_automation_current_rrule.clone(),
        state_key: args.state_key.clone(),
        execute: args.execute,
    }
}

pub fn ack(kernel: &Kernel, args: &SchedulerAck, current: bool) -> Result<Value> {
    let request = SchedulerAckRequest {
        host: asks(&args.host),
        applied_rrule: args.applied_rrule.clone(),
        reset_token: args.reset_token.clone(),
        identity_signature: args.identity_signature.clone(),
        host_match_observed: args.host_match_observed,
        use_current_hint: current || args.use_current_hint,
    };
    kernel.scheduler_ack(&write_at(&args.host.at), &request)
}

pub fn fail(kernel: &Kernel, args: &SchedulerFail) -> Result<Value> {
    let request = SchedulerFailRequest {
        host: asks(&args.host),
        failed_rrule: args.failed_rrule.clone(),
        failure_kind: Some(args.failure_kind.clone()),
    };
    kernel.scheduler_fail(&write_at(&args.host.at), &request)
}
