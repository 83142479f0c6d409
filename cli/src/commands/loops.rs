//! `loopx loop ...`: the loop of a host, for hosts without a module of ours.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use loopx_core::command::loops::{LoopRequest, LoopStepRequest};
use loopx_core::host_loop::LoopEvent;
use loopx_core::host_loop::surface::SURFACES;
use loopx_core::kernel::Kernel;
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

use super::{at, write_at};
use crate::args::{At, WriteAt};

/// `loop ...`
#[derive(Debug, Subcommand)]
pub enum Loop {
    /// Tell a loop what happened; get what to do next
    #[command(
        after_help = "Example:\n  loopx loop step --goal-id demo --host shell --session nightly \\\n      --agent-id agent-a --event activated"
    )]
    Step(Step),
    /// Show how the loops of hosts stand
    #[command(after_help = "Example:\n  loopx loop show --goal-id demo")]
    Show(Show),
    /// Take a host's session off its goal
    #[command(
        after_help = "Example:\n  loopx loop unbind --goal-id demo --host shell --session nightly"
    )]
    Unbind(Unbind),
}

fn hosts() -> PossibleValuesParser {
    PossibleValuesParser::new(SURFACES.iter().map(|s| s.name))
}

/// What happened, by its name in the protocol.
const EVENTS: [&str; 13] = [
    "activated",
    "settled",
    "user_prompt",
    "delivered",
    "aborted",
    "paused",
    "resumed",
    "timer",
    "changed",
    "probe_failed",
    "compacted",
    "session_replaced",
    "host_error",
];

/// `loop step`
#[derive(Debug, Args)]
pub struct Step {
    #[command(flatten)]
    pub at: WriteAt,
    /// Host
    #[arg(long, value_parser = hosts())]
    pub host: String,
    /// The host's session: its file, its id; only a digest is kept
    #[arg(long)]
    pub session: String,
    /// What happened
    #[arg(long, value_parser = PossibleValuesParser::new(EVENTS))]
    pub event: String,
    /// activated: for whom the loop asks
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// settled: the turn that is over
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// user_prompt: its text; compared with the turn that is out, never kept
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// probe_failed, host_error: seconds of the first wait
    #[arg(long, value_name = "SECONDS")]
    pub retry_seconds: Option<u64>,
    /// The generation that you saw last
    #[arg(long, value_name = "N")]
    pub generation: Option<u64>,
    /// Capability that the door declares (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// Seconds that an admitted turn lives [default: 3600]
    #[arg(long, value_name = "SECONDS")]
    pub ttl_seconds: Option<u64>,
    /// Process that outlives this call and whose death frees the turn
    #[arg(long, value_name = "PID")]
    pub holder_pid: Option<u32>,
    /// Only look: admit nothing
    #[arg(long)]
    pub observe: bool,
}

/// `loop show`
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    pub at: At,
    /// Host
    #[arg(long, value_parser = hosts())]
    pub host: Option<String>,
    /// One session; without --goal-id it is looked for in every goal
    #[arg(long, requires = "host")]
    pub session: Option<String>,
}

/// `loop unbind`
#[derive(Debug, Args)]
pub struct Unbind {
    #[command(flatten)]
    pub at: WriteAt,
    /// Host
    #[arg(long, value_parser = hosts())]
    pub host: String,
    /// The host's session
    #[arg(long)]
    pub session: String,
}

fn event(args: &Step) -> Result<LoopEvent> {
    let turn_instance_id = args.turn_instance_id.clone();
    let retry_seconds = args.retry_seconds;
    Ok(match args.event.as_str() {
        "activated" => LoopEvent::Activated,
        "settled" => LoopEvent::Settled { turn_instance_id },
        "user_prompt" => LoopEvent::UserPrompt { prompt: args.prompt.clone() },
        "delivered" => LoopEvent::Delivered,
        "aborted" => LoopEvent::Aborted,
        "paused" => LoopEvent::Paused,
        "resumed" => LoopEvent::Resumed,
        "timer" => LoopEvent::Timer,
        "changed" => LoopEvent::Changed,
        "probe_failed" => LoopEvent::ProbeFailed { retry_seconds },
        "compacted" => LoopEvent::Compacted,
        "session_replaced" => LoopEvent::SessionReplaced,
        "host_error" => LoopEvent::HostError { retry_seconds },
        other => {
            return Err(Error::new(ErrorCode::RequestInvalid, "event")
                .message(format!("there is no event {other}")));
        }
    })
}

/// Runs the command.
pub fn run(kernel: &Kernel, command: &Loop) -> Result<Value> {
    match command {
        Loop::Step(args) => {
            let capabilities = args.available_capabilities.clone();
            let request = LoopStepRequest {
                surface: args.host.clone(),
                session: args.session.clone(),
                event: event(args)?,
                generation: args.generation,
                agent_id: args.agent_id.clone(),
                available_capabilities: Some(capabilities).filter(|c| !c.is_empty()),
                independent_worktree: None,
                execution_context: None,
                ttl_seconds: args.ttl_seconds,
                holder_pid: args.holder_pid,
                ephemeral: false,
                observe: args.observe,
            };
            kernel.loop_step(&write_at(&args.at), &request)
        }
        Loop::Show(args) => {
            let request = LoopRequest { surface: args.host.clone(), session: args.session.clone() };
            kernel.loop_show(&at(&args.at), &request)
        }
        Loop::Unbind(args) => {
            let request = LoopRequest {
                surface: Some(args.host.clone()),
                session: Some(args.session.clone()),
            };
            kernel.loop_unbind(&write_at(&args.at), &request)
        }
    }
}
