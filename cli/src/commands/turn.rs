//! `loopx turn ...`

use clap::{Args, Subcommand};
use loopx_core::Result;
use loopx_core::command::settle::{SettleOutcome, TurnSettleRequest};
use loopx_core::command::todo_fields::TodoFields;
use loopx_core::command::turn::{ShouldRunRequest, TurnRequest};
use loopx_core::kernel::Kernel;
use loopx_core::model::{TaskClass, Usage};
use serde_json::Value;

use super::quota::{HostArgs, context, details, sections};
use super::todo::classes;
use super::{at, word, write_at};
use crate::args::{At, WriteAt};
use crate::doors;

/// `turn ...`
#[derive(Debug, Subcommand)]
pub enum Turn {
    /// Decide, and bind this turn to the answer with its slot, claim and lease
    #[command(
        after_help = "Example:\n  loopx turn admit --goal-id demo --agent-id agent-a \\\n      --turn-instance-id t-1"
    )]
    Admit(Box<Admit>),
    /// Extend a live turn
    #[command(
        after_help = "Example:\n  loopx turn renew --goal-id demo --agent-id agent-a \\\n      --turn-instance-id t-1 --ttl-seconds 1800"
    )]
    Renew(Renew),
    /// End a turn without a settlement: what it holds is free
    #[command(
        after_help = "Example:\n  loopx turn release --goal-id demo --agent-id agent-a \\\n      --turn-instance-id t-1"
    )]
    Release(One),
    /// Settle a turn: todo, evidence, spend and receipt in one commit, and the next decision
    #[command(
        after_help = "Example:\n  loopx turn settle --goal-id demo --agent-id agent-a \\\n      --turn-instance-id t-1 --outcome progress --evidence \"tests pass\""
    )]
    Settle(Box<Settle>),
    /// Show a turn
    #[command(after_help = "Example:\n  loopx turn show --goal-id demo --turn-instance-id t-1")]
    Show(Show),
}

/// `turn admit`
#[derive(Debug, Args)]
pub struct Admit {
    #[command(flatten)]
    pub at: At,
    /// The turn [default: LOOPX_TURN, else one that is made up]
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// Who asks
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Capability that the agent has beside shell and file access (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// Seconds that the reservation lives, at most 86400 [default: 3600]
    #[arg(long, value_name = "SECONDS")]
    pub ttl_seconds: Option<u64>,
    /// Process that outlives this call and whose death frees the turn
    #[arg(long, value_name = "PID")]
    pub holder_pid: Option<u32>,
    /// Add a section (repeat)
    #[arg(long, value_name = "SECTION", value_parser = details())]
    pub include_detail: Vec<String>,
    /// The agent works in a worktree of its own [default: found from the working directory]
    #[arg(long)]
    pub independent_worktree: bool,
    #[command(flatten)]
    pub host: HostArgs,
}

/// One turn.
#[derive(Debug, Args)]
pub struct One {
    #[command(flatten)]
    pub at: WriteAt,
    /// The turn
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: String,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
}

/// `turn renew`
#[derive(Debug, Args)]
pub struct Renew {
    #[command(flatten)]
    pub one: One,
    /// Seconds from now, at most 86400 [default: 3600]
    #[arg(long, value_name = "SECONDS")]
    pub ttl_seconds: Option<u64>,
}

/// `turn show`
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    pub at: At,
    /// The turn
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: String,
}

/// `turn settle`
#[derive(Debug, Args)]
pub struct Settle {
    #[command(flatten)]
    pub at: WriteAt,
    /// The turn [default: LOOPX_TURN, else the agent's only live one]
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// progress, completed, blocked, no_change or failed
    #[arg(long, value_name = "OUTCOME", value_parser = outcomes())]
    pub outcome: String,
    /// What shows it; needed for progress and completed (repeat)
    #[arg(long, value_name = "TEXT")]
    pub evidence: Vec<String>,
    /// Remark
    #[arg(long)]
    pub note: Option<String>,
    /// Why it is blocked
    #[arg(long)]
    pub reason: Option<String>,
    /// For the next decision: the agent works in a worktree of its own
    #[arg(long)]
    pub independent_worktree: bool,
    /// Completed: nothing follows
    #[arg(long)]
    pub no_follow_up: bool,
    /// Existing todo that follows (repeat)
    #[arg(long = "successor-todo-id", value_name = "TODO")]
    pub successor_todo_ids: Vec<String>,
    /// New agent todo that follows
    #[arg(long, value_name = "TEXT")]
    pub next_agent_todo: Option<String>,
    /// New user todo that follows
    #[arg(long, value_name = "TEXT")]
    pub next_user_todo: Option<String>,
    /// user_gate or user_action
    #[arg(long, value_name = "CLASS", requires = "next_user_todo", value_parser = classes())]
    pub next_user_task_class: Option<String>,
    /// Monitors: digest of what was seen
    #[arg(long, value_name = "HASH")]
    pub result_hash: Option<String>,
    /// Admit this turn in the same commit
    #[arg(long, value_name = "TURN")]
    pub admit_next: Option<String>,
    /// For the next decision: capability (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// Tokens that the model read
    #[arg(long, value_name = "N")]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote
    #[arg(long, value_name = "N")]
    pub output_tokens: Option<u64>,
    /// Cost in millionths of the host's currency
    #[arg(long, value_name = "N")]
    pub cost_micros: Option<u64>,
}

fn outcomes() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(SettleOutcome::ALL.iter().map(|(_, text)| *text))
}

pub fn run(kernel: &Kernel, command: &Turn) -> Result<Value> {
    match command {
        Turn::Admit(args) => Ok(admit(kernel, args)),
        Turn::Renew(args) => {
            kernel.turn_renew(&write_at(&args.one.at), &request(&args.one, args.ttl_seconds))
        }
        Turn::Release(args) => kernel.turn_release(&write_at(&args.at), &request(args, None)),
        Turn::Settle(args) => settle(kernel, args),
        Turn::Show(args) => {
            let turn_instance_id = args.turn_instance_id.clone();
            kernel.turn_show(
                &at(&args.at),
                &TurnRequest { turn_instance_id, ..TurnRequest::default() },
            )
        }
    }
}

fn request(args: &One, ttl_seconds: Option<u64>) -> TurnRequest {
    TurnRequest {
        turn_instance_id: args.turn_instance_id.clone(),
        agent_id: args.agent_id.clone(),
        ttl_seconds,
        reason: None,
    }
}

fn admit(kernel: &Kernel, args: &Admit) -> Value {
    let request = ShouldRunRequest {
        agent_id: args.agent_id.clone(),
        available_capabilities: args.available_capabilities.clone(),
        independent_worktree: args.independent_worktree || doors::in_own_worktree(),
        execution_context: context(&args.host),
        app_automation_current_rrule: args.host.app_automation_current_rrule.clone(),
        include_detail: sections(&args.include_detail),
        turn_instance_id: args.turn_instance_id.clone().or_else(doors::turn),
        ttl_seconds: args.ttl_seconds,
        holder_pid: args.holder_pid,
    };
    kernel.turn_admit(&at(&args.at), &request)
}

fn settle(kernel: &Kernel, args: &Settle) -> Result<Value> {
    let outcome = word(SettleOutcome::parse, "outcome", Some(&args.outcome))?;
    let usage = [args.input_tokens, args.output_tokens, args.cost_micros];
    let request = TurnSettleRequest {
        turn_instance_id: args.turn_instance_id.clone().or_else(doors::turn).unwrap_or_default(),
        agent_id: args.agent_id.clone(),
        outcome: outcome.unwrap_or(SettleOutcome::NoChange),
        evidence: args.evidence.clone(),
        note: args.note.clone(),
        reason: args.reason.clone(),
        no_follow_up: args.no_follow_up,
        successor_todo_ids: args.successor_todo_ids.clone(),
        next_agent_todo: args.next_agent_todo.clone(),
        next_user_todo: args.next_user_todo.clone(),
        next_user_task_class: word(
            TaskClass::parse,
            "next_user_task_class",
            args.next_user_task_class.as_deref(),
        )?,
        next_fields: TodoFields::default(),
        result_hash: args.result_hash.clone(),
        usage: usage.iter().any(Option::is_some).then(|| Usage {
            input_tokens: args.input_tokens.unwrap_or(0),
            output_tokens: args.output_tokens.unwrap_or(0),
            cost_micros: args.cost_micros,
        }),
        admit_next: args.admit_next.clone(),
        available_capabilities: args.available_capabilities.clone(),
        independent_worktree: args.independent_worktree || doors::in_own_worktree(),
    };
    kernel.turn_settle(&write_at(&args.at), &request)
}
