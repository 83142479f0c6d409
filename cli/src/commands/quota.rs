//! `loopx quota ...`

use clap::{Args, Subcommand};
use loopx_core::Result;
use loopx_core::admission::Detail;
use loopx_core::command::quota::SpendSlotRequest;
use loopx_core::command::turn::ShouldRunRequest;
use loopx_core::kernel::Kernel;
use loopx_core::schedule::ExecutionContext;
use serde_json::Value;

use super::monitor::MonitorPoll;
use super::schedule::{SchedulerAck, SchedulerFail};
use super::void::VoidSlot;
use super::{at, write_at};
use crate::args::{At, WriteAt};
use crate::doors;

/// `quota ...`
#[derive(Debug, Subcommand)]
pub enum Quota {
    /// May this agent run, on what, and when to look again
    #[command(
        after_help = "Example:\n  loopx quota should-run --goal-id demo --agent-id agent-a\n\nExit status 0 means that an answer was reached, also when it is \"do not run\"."
    )]
    ShouldRun(Box<ShouldRun>),
    /// Show the windows of one goal or of all
    #[command(after_help = "Example:\n  loopx quota status")]
    Status(At),
    /// Group goals by urgency and name the next automatic turn
    #[command(after_help = "Example:\n  loopx quota plan")]
    Plan(At),
    /// Spend slots for a delivered outcome (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx quota spend-slot --goal-id demo --agent-id agent-a \\\n      --todo-id todo_1a2b3c --execute"
    )]
    SpendSlot(SpendSlot),
    /// Take back a spend that should not have been made (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx quota void-slot --goal-id demo --spend-id 12 \\\n      --reason-summary \"spent twice\" --execute"
    )]
    VoidSlot(VoidSlot),
    /// Record a look at a monitor; never spends (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx quota monitor-poll --goal-id demo --agent-id agent-a \\\n      --todo-id todo_7a8b9c --result-hash 9f2c --execute"
    )]
    MonitorPoll(Box<MonitorPoll>),
    /// Acknowledge a schedule by the hint's token (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx quota scheduler-ack --goal-id demo --agent-id agent-a -A \\\n      --applied-rrule \"FREQ=MINUTELY;INTERVAL=3\" --use-current-hint"
    )]
    SchedulerAck(Box<SchedulerAck>),
    /// Acknowledge the schedule of the current hint (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx quota scheduler-ack-current --goal-id demo --agent-id agent-a -A \\\n      --applied-rrule \"FREQ=MINUTELY;INTERVAL=3\""
    )]
    SchedulerAckCurrent(Box<SchedulerAck>),
    /// Say that the schedule could not be set (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx quota scheduler-fail-current --goal-id demo --agent-id agent-a -A \\\n      --failed-rrule \"FREQ=MINUTELY;INTERVAL=3\" --failure-kind rejected"
    )]
    SchedulerFailCurrent(Box<SchedulerFail>),
}

/// `quota should-run`
#[derive(Debug, Args)]
pub struct ShouldRun {
    #[command(flatten)]
    pub at: At,
    /// Who asks
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Capability that the agent has beside shell and file access (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// Bind the answer to this turn: the write `turn admit`
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// With a turn: seconds that its reservation lives, at most 86400 [default: 3600]
    #[arg(long, value_name = "SECONDS", requires = "turn_instance_id")]
    pub ttl_seconds: Option<u64>,
    /// Add a section (repeat)
    #[arg(long, value_name = "SECTION", value_parser = details())]
    pub include_detail: Vec<String>,
    /// The agent works in a worktree of its own [default: found from the working directory]
    #[arg(long)]
    pub independent_worktree: bool,
    /// Record that a host polled: when the agent was last seen
    #[arg(long)]
    pub record_host_poll: bool,
    #[command(flatten)]
    pub host: HostArgs,
}

pub(super) fn details() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(Detail::NAMES.map(|(name, _)| name))
}

/// Who wakes the agent, in the earlier tool's words.
#[derive(Clone, Debug, Default, Args)]
pub struct HostArgs {
    /// Runtime profile of the host
    #[arg(long, value_name = "PROFILE", value_parser = profiles(), conflicts_with_all = ["codex_app", "trae_app", "host_surface", "scheduler_owner", "execution_mode"])]
    pub runtime_profile: Option<String>,
    /// Same as --runtime-profile codex_app_heartbeat
    #[arg(short = 'A', long, conflicts_with_all = ["host_surface", "scheduler_owner", "execution_mode"])]
    pub codex_app: bool,
    /// Same as --runtime-profile trae_app
    #[arg(long = "trae_app", conflicts_with_all = ["codex_app", "host_surface", "scheduler_owner", "execution_mode"])]
    pub trae_app: bool,
    /// Host surface
    #[arg(short = 'H', long, value_name = "SURFACE", requires_all = ["scheduler_owner", "execution_mode"])]
    pub host_surface: Option<String>,
    /// Who owns the schedule
    #[arg(short = 'O', long, value_name = "OWNER", requires = "host_surface")]
    pub scheduler_owner: Option<String>,
    /// How the host runs
    #[arg(short = 'M', long, value_name = "MODE", requires = "host_surface")]
    pub execution_mode: Option<String>,
    /// App hosts: the RRULE that the automation has now
    #[arg(long, value_name = "RRULE", alias = "codex-app-current-rrule")]
    pub app_automation_current_rrule: Option<String>,
}

fn profiles() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(
        loopx_core::schedule::context::PROFILES.iter().map(|p| p.name),
    )
}

/// `quota spend-slot`
#[derive(Debug, Args)]
pub struct SpendSlot {
    #[command(flatten)]
    pub at: WriteAt,
    /// Who spends
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// For which todo
    #[arg(long, value_name = "TODO")]
    pub todo_id: Option<String>,
    /// How many
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub slots: i64,
    /// heartbeat, controller, adapter or visible-goal
    #[arg(long, default_value = "heartbeat", value_parser = loopx_core::command::quota::SOURCES)]
    pub source: String,
    /// The turn
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// Act
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(kernel: &Kernel, command: &Quota) -> Result<Value> {
    match command {
        Quota::ShouldRun(args) => Ok(should_run(kernel, args)),
        Quota::Status(args) => kernel.quota_status(&at(args)),
        Quota::Plan(args) => kernel.quota_plan(&at(args)),
        Quota::SpendSlot(args) => spend_slot(kernel, args),
        Quota::VoidSlot(args) => super::void::run(kernel, args),
        Quota::MonitorPoll(args) => super::monitor::poll(kernel, args),
        Quota::SchedulerAck(args) => super::schedule::ack(kernel, args, false),
        Quota::SchedulerAckCurrent(args) => super::schedule::ack(kernel, args, true),
        Quota::SchedulerFailCurrent(args) => super::schedule::fail(kernel, args),
    }
}

/// The sections that were named.
pub(super) fn sections(names: &[String]) -> Vec<Detail> {
    let named = |name: &str| names.iter().any(|d| d == name);
    Detail::NAMES.iter().filter(|(name, _)| named(name)).map(|(_, detail)| *detail).collect()
}

fn should_run(kernel: &Kernel, args: &ShouldRun) -> Value {
    let request = ShouldRunRequest {
        agent_id: args.agent_id.clone(),
        available_capabilities: args.available_capabilities.clone(),
        independent_worktree: args.independent_worktree || doors::in_own_worktree(),
        execution_context: context(&args.host),
        app_automation_current_rrule: args.host.app_automation_current_rrule.clone(),
        include_detail: sections(&args.include_detail),
        turn_instance_id: args.turn_instance_id.clone(),
        ttl_seconds: args.ttl_seconds,
        holder_pid: None,
    };
    if args.record_host_poll {
        return kernel.host_poll(&at(&args.at), &request);
    }
    kernel.should_run(&at(&args.at), &request)
}

pub(super) fn context(host: &HostArgs) -> Option<ExecutionContext> {
    match (&host.runtime_profile, host.codex_app, &host.host_surface) {
        (Some(name), ..) => ExecutionContext::of_profile(name),
        (None, true, _) => ExecutionContext::of_profile("codex_app_heartbeat"),
        (None, false, _) if host.trae_app => ExecutionContext::of_profile("trae_app"),
        (None, false, Some(surface)) => Some(ExecutionContext {
            host_surface: surface.clone(),
            scheduler_owner: host.scheduler_owner.clone().unwrap_or_default(),
            execution_mode: host.execution_mode.clone().unwrap_or_default(),
            source: "explicit".into(),
        }),
        (None, false, None) => None,
    }
}

fn spend_slot(kernel: &Kernel, args: &SpendSlot) -> Result<Value> {
    let request = SpendSlotRequest {
        agent_id: args.agent_id.clone(),
        todo_id: args.todo_id.clone(),
        slots: Some(args.slots),
        source: Some(args.source.clone()),
        turn_instance_id: args.turn_instance_id.clone(),
        execute: args.execute,
    };
    kernel.spend_slot(&write_at(&args.at), &request)
}
