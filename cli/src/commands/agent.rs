//! `loopx agent ...`

use loopx_core::Result;
use loopx_core::kernel::{AgentListRequest, AgentRegisterRequest, Kernel};
use serde_json::{Value, json};

use super::{at, write_at};
use crate::args::{Agent, AgentRegister, RegisterAgent};

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
