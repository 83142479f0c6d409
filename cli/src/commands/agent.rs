//! `loopx agent ...`

use clap::{Args, Subcommand};
use loopx_core::Result;
use loopx_core::kernel::{AgentListRequest, AgentRegisterRequest, Kernel};
use serde_json::{Value, json};

use super::{at, write_at};
use crate::args::{At, WriteAt};

/// `agent ...`
#[derive(Debug, Subcommand)]
pub enum Agent {
    /// Add agents to a goal's roster
    #[command(after_help = "Example:\n  loopx agent register --goal-id demo --agent-id agent-a")]
    Register(AgentRegister),
    /// List a goal's agents
    #[command(after_help = "Example:\n  loopx agent list --goal-id demo")]
    List(At),
}

/// `agent register`
#[derive(Debug, Args)]
pub struct AgentRegister {
    #[command(flatten)]
    pub at: WriteAt,
    /// Who (repeat, or separate by commas)
    #[arg(long = "agent-id", value_name = "AGENT", required = true)]
    pub agents: Vec<String>,
    /// Refuse agents that are registered already
    #[arg(long)]
    pub require_new: bool,
}

/// `register-agent`
#[derive(Debug, Args)]
pub struct RegisterAgent {
    #[command(flatten)]
    pub register: AgentRegister,
    /// Act
    #[arg(long)]
    pub execute: bool,
}

pub fn run(kernel: &Kernel, command: &Agent) -> Result<Value> {
    match command {
        Agent::Register(args) => register(kernel, args),
        Agent::List(args) => kernel.agent_list(&at(args), &AgentListRequest {}),
    }
}

fn register(kernel: &Kernel, args: &AgentRegister) -> Result<Value> {
    let request =
        AgentRegisterRequest { agents: args.agents.clone(), require_new: args.require_new };
    kernel.agent_register(&write_at(&args.at), &request)
}

/// The earlier tool's form: a preview until `--execute`.
pub fn register_reference(kernel: &Kernel, args: &RegisterAgent) -> Result<Value> {
    if args.execute {
        return register(kernel, &args.register);
    }
    let address = loopx_core::operation::Addressed {
        goal_id: args.register.at.goal_id.clone(),
        effect_id: None,
    };
    let listed = kernel.agent_list(&address, &AgentListRequest {})?;
    Ok(json!({
        "ok": true,
        "dry_run": true,
        "goal_id": listed.get("goal_id"),
        "existing_agents": listed.get("agents"),
        "requested_agents": args.register.agents,
    }))
}
