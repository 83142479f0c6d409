//! What stands, what happened, what is wrong, and why: `status`, `history`,
//! `evidence-log`, `diagnose`, `explain`.

use clap::Args;
use loopx_core::Result;
use loopx_core::kernel::{EvidenceLogRequest, ExplainRequest, HistoryRequest, Kernel};
use serde_json::Value;

use super::at;
use crate::args::At;
use crate::doors;

/// `status`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx status --goal-id demo")]
pub struct Status {
    #[command(flatten)]
    pub at: AtAny,
}

/// One goal, or all of them.
#[derive(Clone, Debug, Args)]
pub struct AtAny {
    /// Goal [default: the registry's only one, else a row of every goal]
    #[arg(long, value_name = "GOAL")]
    pub goal_id: Option<String>,
}

impl AtAny {
    fn addressed(&self) -> loopx_core::operation::Addressed {
        loopx_core::operation::Addressed { goal_id: self.goal_id.clone(), effect_id: None }
    }
}

/// `history`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx history --goal-id demo --limit 20")]
pub struct History {
    /// Goal [default: the registry's only one, else all of them]
    #[arg(long, value_name = "GOAL")]
    pub goal_id: Option<String>,
    /// Commits of this agent only
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Commits before this number only
    #[arg(long, value_name = "COMMIT")]
    pub before: Option<u64>,
    /// At most so many
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
}

/// `evidence-log`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx evidence-log --goal-id demo --agent-id agent-a")]
pub struct EvidenceLog {
    #[command(flatten)]
    pub at: At,
    /// Of this agent only
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// On this todo only
    #[arg(long, value_name = "TODO")]
    pub todo_id: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
}

/// `diagnose`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx diagnose --goal-id demo\n\nExit status 0 means that nothing keeps a goal from running; remarks may be listed."
)]
pub struct Diagnose {
    /// Goal [default: every goal of the registry]
    #[arg(long, value_name = "GOAL")]
    pub goal_id: Option<String>,
}

/// `explain`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx explain --goal-id demo --agent-id agent-a")]
pub struct Explain {
    #[command(flatten)]
    pub at: At,
    /// Who asks
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// This todo only
    #[arg(long, value_name = "TODO")]
    pub todo_id: Option<String>,
    /// Capability that the agent has beside shell and file access (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// The agent works in a worktree of its own [default: found from the working directory]
    #[arg(long)]
    pub independent_worktree: bool,
}

fn size(limit: u32) -> Option<usize> {
    usize::try_from(limit).ok()
}

pub fn status(kernel: &Kernel, args: &Status) -> Result<Value> {
    kernel.status(&args.at.addressed())
}

pub fn history(kernel: &Kernel, args: &History) -> Result<Value> {
    let request = HistoryRequest {
        agent_id: args.agent_id.clone(),
        before: args.before,
        limit: size(args.limit),
    };
    kernel.history(&AtAny { goal_id: args.goal_id.clone() }.addressed(), &request)
}

pub fn evidence_log(kernel: &Kernel, args: &EvidenceLog) -> Result<Value> {
    let request = EvidenceLogRequest {
        agent_id: args.agent_id.clone(),
        todo_id: args.todo_id.clone(),
        limit: size(args.limit),
    };
    kernel.evidence_log(&at(&args.at), &request)
}

pub fn diagnose(kernel: &Kernel, args: &Diagnose) -> Result<Value> {
    kernel.diagnose(&AtAny { goal_id: args.goal_id.clone() }.addressed())
}

pub fn explain(kernel: &Kernel, args: &Explain) -> Result<Value> {
    let request = ExplainRequest {
        agent_id: args.agent_id.clone(),
        todo_id: args.todo_id.clone(),
        available_capabilities: args.available_capabilities.clone(),
        independent_worktree: args.independent_worktree || doors::in_own_worktree(),
    };
    kernel.explain(&at(&args.at), &request)
}
