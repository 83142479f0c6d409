//! `loopx goal ...`

use clap::{Args, Subcommand, ValueEnum};
use loopx_core::Result;
use loopx_core::kernel::{ChangedSinceRequest, GoalCreateRequest, GoalStopRequest, Kernel};
use serde_json::{Value, json};

use super::accept::Accept;
use super::{at, write_at};
use crate::args::{At, WriteAt};

/// `goal ...`
#[derive(Debug, Subcommand)]
pub enum Goal {
    /// Create a goal in this project
    #[command(
        after_help = "Example:\n  loopx goal create --goal-id demo --objective \"Ship it\" \\\n      --agent-id agent-a"
    )]
    Create(GoalCreate),
    /// Stop a goal, or all of them: nothing of it starts any more
    #[command(
        after_help = "Example:\n  loopx goal stop --goal-id demo --reason \"done for now\"\n  loopx goal stop --all --reason \"machine goes down\""
    )]
    Stop(GoalStop),
    /// Resume a stopped goal
    #[command(after_help = "Example:\n  loopx goal resume --goal-id demo")]
    Resume(WriteAt),
    /// List goals
    #[command(after_help = "Example:\n  loopx goal list")]
    List,
    /// Show one goal
    #[command(after_help = "Example:\n  loopx goal show --goal-id demo")]
    Show(At),
    /// Say whether a goal changed since a commit
    #[command(after_help = "Example:\n  loopx goal changed-since --goal-id demo --commit 3")]
    ChangedSince(ChangedSince),
    /// Take in what the earlier tool wrote after the import
    #[command(after_help = "Example:\n  loopx goal adopt-legacy --goal-id demo")]
    AdoptLegacy(WriteAt),
    /// Say what has to be so before the goal is reached
    #[command(subcommand, after_help = "Example:\n  loopx goal accept list --goal-id demo")]
    Accept(Accept),
}

/// `goal create`
#[derive(Debug, Args)]
pub struct GoalCreate {
    #[command(flatten)]
    pub at: WriteAt,
    /// What the goal is for
    #[arg(long)]
    pub objective: Option<String>,
    /// First agents (repeat, or separate by commas)
    #[arg(long = "agent-id", value_name = "AGENT", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// State file, relative to the project
    #[arg(long, value_name = "FILE")]
    pub state_file: Option<String>,
    /// Path glob that agents may write (repeat)
    #[arg(long = "write-scope", value_name = "GLOB")]
    pub write_scope: Vec<String>,
    /// Share of the window, 0 to 1
    #[arg(long)]
    pub compute: Option<f64>,
    /// Window in hours
    #[arg(long)]
    pub window_hours: Option<u32>,
    /// Slot in minutes
    #[arg(long)]
    pub slot_minutes: Option<u32>,
    /// Slots in the window
    #[arg(long)]
    pub allowed_slots: Option<u64>,
}

/// `goal changed-since`
#[derive(Debug, Args)]
pub struct ChangedSince {
    #[command(flatten)]
    pub at: At,
    /// The last commit that was seen
    #[arg(long, value_name = "NUMBER")]
    pub commit: u64,
}

/// `goal stop`
#[derive(Debug, Args)]
pub struct GoalStop {
    #[command(flatten)]
    pub one: StopOne,
    /// Every goal of the registry
    #[arg(long, conflicts_with = "goal_id")]
    pub all: bool,
}

/// Which goal stops, and why.
#[derive(Debug, Args)]
pub struct StopOne {
    #[command(flatten)]
    pub at: WriteAt,
    /// Why
    #[arg(long)]
    pub reason: Option<String>,
}

/// What to do to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LifecycleArg {
    /// Nothing of it starts.
    Stop,
    /// It goes on.
    Resume,
}

/// `goal-lifecycle`
#[derive(Debug, Args)]
pub struct GoalLifecycle {
    #[command(flatten)]
    pub stop: StopOne,
    /// What to do
    #[arg(long, value_enum)]
    pub operation: LifecycleArg,
    /// Act
    #[arg(long)]
    pub execute: bool,
}

pub fn run(kernel: &Kernel, command: &Goal) -> Result<Value> {
    match command {
        Goal::Create(args) => create(kernel, args),
        Goal::Stop(GoalStop { one, all: true }) => kernel
            .goal_stop_all(&write_at(&one.at), &GoalStopRequest { reason: one.reason.clone() }),
        Goal::Stop(GoalStop { one, all: false }) => stop(kernel, one),
        Goal::Resume(args) => kernel.goal_resume(&write_at(args)),
        Goal::List => kernel.goal_list(),
        Goal::Show(args) => kernel.goal_show(&at(args)),
        Goal::ChangedSince(args) => {
            kernel.goal_changed_since(&at(&args.at), &ChangedSinceRequest { commit: args.commit })
        }
        Goal::AdoptLegacy(args) => kernel.adopt_legacy(&write_at(args)),
        Goal::Accept(command) => super::accept::run(kernel, command),
    }
}

fn create(kernel: &Kernel, args: &GoalCreate) -> Result<Value> {
    let request = GoalCreateRequest {
        objective: args.objective.clone(),
        agents: args.agents.clone(),
        state_file: args.state_file.clone(),
        write_scope: args.write_scope.clone(),
        compute: args.compute,
        window_hours: args.window_hours,
        slot_minutes: args.slot_minutes,
        allowed_slots: args.allowed_slots,
    };
    kernel.goal_create(&write_at(&args.at), &request)
}

fn stop(kernel: &Kernel, args: &StopOne) -> Result<Value> {
    kernel.goal_stop(&write_at(&args.at), &GoalStopRequest { reason: args.reason.clone() })
}

/// The earlier tool's form: a preview until `--execute`.
pub fn lifecycle_reference(kernel: &Kernel, args: &GoalLifecycle) -> Result<Value> {
    let write = &args.stop.at;
    if !args.execute {
        let address =
            loopx_core::operation::Addressed { goal_id: write.goal_id.clone(), effect_id: None };
        let shown = kernel.goal_show(&address)?;
        return Ok(json!({
            "ok": true,
            "dry_run": true,
            "goal_id": shown.get("goal_id"),
            "stopped": shown.get("stopped"),
            "operation": if args.operation == LifecycleArg::Stop { "stop" } else { "resume" },
        }));
    }
    match args.operation {
        LifecycleArg::Stop => stop(kernel, &args.stop),
        LifecycleArg::Resume => kernel.goal_resume(&write_at(write)),
    }
}
