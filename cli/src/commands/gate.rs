//! `loopx gate ...`

use clap::{Args, Subcommand};
use loopx_core::command::gate::{GateDecideRequest, GateOpenRequest, GateWithdrawRequest};
use loopx_core::kernel::Kernel;
use loopx_core::model::{GrantLife, Instant};
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

use super::todo::{OUTCOMES, outcome};
use super::{at, write_at};
use crate::args::{At, WriteAt};

/// `gate ...`
#[derive(Debug, Subcommand)]
pub enum Gate {
    /// List what waits for a person, oldest first, and what it blocks
    #[command(
        after_help = "Example:\n  loopx gate list\n  loopx gate list --goal-id demo\n\nWithout --goal-id it shows every goal of the registry."
    )]
    List(GateList),
    /// Ask a person, and hold back what the gate names until the decision
    #[command(
        after_help = "Example:\n  loopx gate open --goal-id demo \\\n      --question \"Release 1.0 to everybody?\" \\\n      --decision-scope production:goal:release"
    )]
    Open(GateOpen),
    /// Decide a gate
    #[command(
        after_help = "Example:\n  loopx gate decide --goal-id demo --todo-id todo_4d5e6f \\\n      --outcome approve --once\n  loopx gate decide --goal-id demo --todo-id todo_4d5e6f \\\n      --outcome reject --note \"after the audit\""
    )]
    Decide(GateDecide),
    /// List the grants that hold
    #[command(after_help = "Example:\n  loopx gate grants --goal-id demo")]
    Grants(At),
    /// Withdraw a grant: what needs its scope waits for a new decision
    #[command(after_help = "Example:\n  loopx gate withdraw --goal-id demo --grant-id 12")]
    Withdraw(GateWithdraw),
}

/// `gate list`
#[derive(Debug, Args)]
pub struct GateList {
    /// Goal [default: every goal of the registry]
    #[arg(long, value_name = "GOAL")]
    pub goal_id: Option<String>,
}

/// `gate open`
#[derive(Debug, Args)]
pub struct GateOpen {
    #[command(flatten)]
    pub at: WriteAt,
    /// What the person is asked; begin it with `[P0]` to `[P4]` for a priority
    #[arg(long, value_name = "TEXT")]
    pub question: String,
    /// Who asks
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// The todo that waits for the answer
    #[arg(long, value_name = "TODO")]
    pub unblocks_todo_id: Option<String>,
    /// The scope that is decided, kind:granularity:key
    #[arg(long, value_name = "SCOPE")]
    pub decision_scope: Option<String>,
    /// The agent that waits for the answer
    #[arg(long, value_name = "AGENT")]
    pub blocks_agent: Option<String>,
    /// Every agent waits for the answer
    #[arg(long, conflicts_with = "blocks_agent")]
    pub global_gate: bool,
    /// Remark
    #[arg(long)]
    pub note: Option<String>,
}

/// `gate decide`
#[derive(Debug, Args)]
pub struct GateDecide {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which gate
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
    /// approve frees what waits; reject blocks it until it is reopened; cancel withdraws the question
    #[arg(long, value_name = "OUTCOME", value_parser = OUTCOMES)]
    pub outcome: String,
    /// The scope stays granted until it is withdrawn (the default)
    #[arg(long, conflicts_with_all = ["once", "until"])]
    pub standing: bool,
    /// The scope is granted for one completion
    #[arg(long, conflicts_with = "until")]
    pub once: bool,
    /// The scope is granted until then, RFC 3339
    #[arg(long, value_name = "INSTANT")]
    pub until: Option<String>,
    /// To whom the scope is granted [default: the agent that the gate blocks, else every agent]
    #[arg(long, value_name = "AGENT")]
    pub for_agent: Option<String>,
    /// Remark
    #[arg(long)]
    pub note: Option<String>,
}

/// `gate withdraw`
#[derive(Debug, Args)]
pub struct GateWithdraw {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which, as `gate grants` shows it
    #[arg(long, value_name = "N")]
    pub grant_id: u64,
}

pub fn run(kernel: &Kernel, command: &Gate) -> Result<Value> {
    match command {
        Gate::List(args) => kernel.gate_list(&at(&At { goal_id: args.goal_id.clone() })),
        Gate::Open(args) => open(kernel, args),
        Gate::Decide(args) => decide(kernel, args),
        Gate::Grants(args) => kernel.gate_grants(&at(args)),
        Gate::Withdraw(args) => kernel
            .gate_withdraw(&write_at(&args.at), &GateWithdrawRequest { grant_id: args.grant_id }),
    }
}

fn open(kernel: &Kernel, args: &GateOpen) -> Result<Value> {
    let request = GateOpenRequest {
        question: args.question.clone(),
        agent_id: args.agent_id.clone(),
        unblocks_todo_id: args.unblocks_todo_id.clone(),
        decision_scope: args.decision_scope.clone(),
        blocks_agent: args.blocks_agent.clone(),
        global_gate: args.global_gate,
        note: args.note.clone(),
    };
    kernel.gate_open(&write_at(&args.at), &request)
}

fn decide(kernel: &Kernel, args: &GateDecide) -> Result<Value> {
    let life = match (&args.until, args.once, args.standing) {
        (Some(text), ..) => Some(GrantLife::Until(Instant::parse(text).ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, "until")
                .message(format!("{text:?} is not an RFC 3339 instant"))
                .next("write it like 2026-11-29T20:57:33Z")
        })?)),
        (None, true, _) => Some(GrantLife::Once),
        (None, false, true) => Some(GrantLife::Standing),
        (None, false, false) => None,
    };
    let request = GateDecideRequest {
        todo_id: args.todo_id.clone(),
        outcome: outcome(&args.outcome)?,
        life,
        for_agent: args.for_agent.clone(),
        note: args.note.clone(),
    };
    kernel.gate_decide(&write_at(&args.at), &request)
}
