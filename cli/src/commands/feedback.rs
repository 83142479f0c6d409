//! `loopx feedback`

use clap::Args;
use loopx_core::Result;
use loopx_core::command::feedback::FeedbackRequest;
use loopx_core::kernel::Kernel;
use serde_json::Value;

use super::write_at;
use crate::args::WriteAt;

/// `feedback`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx feedback --goal-id demo --todo-id todo_1a2b3c \\\n      --text \"The parser must keep comments\""
)]
pub struct Feedback {
    #[command(flatten)]
    pub at: WriteAt,
    /// What you have to say
    #[arg(long)]
    pub text: String,
    /// The todo that it is about; it is offered again where it had stalled
    #[arg(long, value_name = "TODO")]
    pub todo_id: Option<String>,
    /// The agent that is to think again [default: who holds the todo, else any agent]
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
}

pub fn run(kernel: &Kernel, args: &Feedback) -> Result<Value> {
    let request = FeedbackRequest {
        text: args.text.clone(),
        todo_id: args.todo_id.clone(),
        agent_id: args.agent_id.clone(),
    };
    kernel.feedback(&write_at(&args.at), &request)
}
