//! `loopx init`, `start-goal`, `agent-onboard`, `bootstrap-command-pack`,
//! `codex-cli-bootstrap-message`, and the threads of hosts.

use clap::Args;
use loopx_core::Result;
use loopx_core::kernel::{Kernel, ThreadRequest};
use loopx_core::start::pack::{AgentOnboardRequest, CommandPackRequest};
use loopx_core::start::{InitRequest, StartGoalRequest, slash_arguments};
use serde_json::Value;

use super::{at, write_at};
use crate::args::{At, WriteAt};
use crate::doors;

/// `init`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx init\n\nIn a folder that has a goal already it changes nothing and shows that goal."
)]
pub struct Init {
    #[command(flatten)]
    pub at: WriteAt,
    /// What the goal is for; kept as it is where the goal has one
    #[arg(long, value_name = "TEXT")]
    pub objective: Option<String>,
    /// Agent of the roster (repeat, or separate by commas)
    #[arg(long = "agent-id", value_name = "AGENT")]
    pub agents: Vec<String>,
    /// Slots in the window of a new goal
    #[arg(long, value_name = "N")]
    pub allowed_slots: Option<u64>,
}

/// `start-goal`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx start-goal --host codex-cli --goal-text \"Ship the site\"\n\nIt shows what it would do; --execute does it. The same command may be run again\nafter whatever stopped it: nothing is done twice."
)]
pub struct StartGoal {
    #[command(flatten)]
    pub at: At,
    /// What is to be reached
    #[arg(long, value_name = "TEXT", conflicts_with = "slash_command_arguments")]
    pub goal_text: Option<String>,
    /// The same, as a slash command has it: leading flags of the command are read
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub slash_command_arguments: Option<String>,
    /// A first todo, most important first, such as `[P1] Write it` (repeat)
    #[arg(long = "todo", value_name = "TEXT")]
    pub todos: Vec<String>,
    /// The host, such as codex-app, codex-cli, claude-code, opencode, pi or shell
    #[arg(long, visible_alias = "host-surface", value_name = "HOST")]
    pub host: Option<String>,
    /// Who loops [default: the only agent; in a goal without agents the host's name]
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Register that agent, though the goal has others
    #[arg(long, requires = "agent_id")]
    pub new_peer: bool,
    /// The host's name for its thread [default: what the host sets]
    #[arg(long, value_name = "THREAD")]
    pub thread_id: Option<String>,
    /// Capability that commands declare (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// Only show the steps (the default)
    #[arg(long, conflicts_with = "execute")]
    pub guided: bool,
    /// Act
    #[arg(long)]
    pub execute: bool,
}

/// `agent-onboard`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx agent-onboard --host claude-code --agent-id agent-a")]
pub struct AgentOnboard {
    #[command(flatten)]
    pub at: At,
    /// The host
    #[arg(long, visible_alias = "agent-type", value_name = "HOST")]
    pub host: Option<String>,
    /// List the hosts
    #[arg(long)]
    pub list_agent_types: bool,
    /// The agent
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// The host's name for its thread [default: what the host sets]
    #[arg(long, value_name = "THREAD")]
    pub thread_id: Option<String>,
}

/// `bootstrap-command-pack`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx bootstrap-command-pack --host claude-code --message-only"
)]
pub struct CommandPack {
    #[command(flatten)]
    pub pack: Pack,
    /// The host [default: codex-cli]
    #[arg(long, visible_alias = "host-surface", value_name = "HOST")]
    pub host: Option<String>,
}

/// `codex-cli-bootstrap-message`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx codex-cli-bootstrap-message --message-only")]
pub struct CodexCliMessage {
    #[command(flatten)]
    pub pack: Pack,
}

/// What both packets take.
#[derive(Debug, Args)]
pub struct Pack {
    #[command(flatten)]
    pub at: At,
    /// The agent
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// What is to be reached
    #[arg(long, value_name = "TEXT")]
    pub goal_text: Option<String>,
    /// Print the message alone
    #[arg(long, alias = "copy-only")]
    pub message_only: bool,
}

/// Which thread of which host.
#[derive(Debug, Args)]
pub struct Thread {
    /// The host [default: codex-app]
    #[arg(long, visible_alias = "host-surface", value_name = "HOST")]
    pub host: Option<String>,
    /// The host's name for its thread [default: what the host sets]
    #[arg(long, value_name = "THREAD")]
    pub thread_id: Option<String>,
}

/// `bind-agent-thread`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx bind-agent-thread --thread-id thread-1 --agent-id agent-a --execute"
)]
pub struct BindThread {
    #[command(flatten)]
    pub at: WriteAt,
    #[command(flatten)]
    pub thread: Thread,
    /// The agent
    #[arg(long, value_name = "AGENT", required = true)]
    pub agent_id: String,
    /// Act
    #[arg(long)]
    pub execute: bool,
}

/// `unbind-agent-thread`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx unbind-agent-thread --thread-id thread-1 --execute")]
pub struct UnbindThread {
    #[command(flatten)]
    pub at: WriteAt,
    #[command(flatten)]
    pub thread: Thread,
    /// Act
    #[arg(long)]
    pub execute: bool,
}

/// `resolve-agent-thread`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx resolve-agent-thread --thread-id thread-1")]
pub struct ResolveThread {
    #[command(flatten)]
    pub at: At,
    #[command(flatten)]
    pub thread: Thread,
    /// The agent that is meant
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
}

/// `init`
pub fn init(kernel: &Kernel, args: &Init) -> Result<Value> {
    let request = InitRequest {
        objective: args.objective.clone(),
        agents: args.agents.clone(),
        allowed_slots: args.allowed_slots,
    };
    kernel.init(&write_at(&args.at), &request)
}

/// `start-goal`
pub fn start_goal(kernel: &Kernel, args: &StartGoal) -> Result<Value> {
    let goal_text = match &args.slash_command_arguments {
        Some(arguments) => Some(slash_arguments(arguments)?),
        None => args.goal_text.clone(),
    };
    let request = StartGoalRequest {
        goal_text,
        todos: args.todos.clone(),
        agent_id: args.agent_id.clone(),
        new_peer: args.new_peer,
        host: args.host.clone(),
        thread_id: thread(args.host.as_deref(), args.thread_id.as_deref()),
        available_capabilities: args.available_capabilities.clone(),
    };
    match args.execute {
        true => kernel.start_goal(&at(&args.at), &request),
        false => kernel.start_goal_plan(&at(&args.at), &request),
    }
}

/// `agent-onboard`
pub fn onboard(kernel: &Kernel, args: &AgentOnboard) -> Result<Value> {
    let request = AgentOnboardRequest {
        host: args.host.clone(),
        list_agent_types: args.list_agent_types,
        agent_id: args.agent_id.clone(),
        thread_id: thread(args.host.as_deref(), args.thread_id.as_deref()),
    };
    kernel.agent_onboard(&at(&args.at), &request)
}

/// `bootstrap-command-pack`
pub fn command_pack(kernel: &Kernel, args: &CommandPack) -> Result<Value> {
    kernel.command_pack(&at(&args.pack.at), &request(&args.pack, args.host.clone()))
}

/// `codex-cli-bootstrap-message`
pub fn codex_cli_message(kernel: &Kernel, args: &CodexCliMessage) -> Result<Value> {
    kernel.codex_cli_message(&at(&args.pack.at), &request(&args.pack, None))
}

fn request(pack: &Pack, host: Option<String>) -> CommandPackRequest {
    CommandPackRequest { host, agent_id: pack.agent_id.clone(), goal_text: pack.goal_text.clone() }
}

/// `bind-agent-thread`
pub fn bind(kernel: &Kernel, args: &BindThread) -> Result<Value> {
    let request = ThreadRequest {
        agent_id: Some(args.agent_id.clone()),
        ..named(&args.thread, args.execute)
    };
    kernel.thread_bind(&write_at(&args.at), &request)
}

/// `unbind-agent-thread`
pub fn unbind(kernel: &Kernel, args: &UnbindThread) -> Result<Value> {
    kernel.thread_unbind(&write_at(&args.at), &named(&args.thread, args.execute))
}

/// `resolve-agent-thread`
pub fn resolve(kernel: &Kernel, args: &ResolveThread) -> Result<Value> {
    let request = ThreadRequest { agent_id: args.agent_id.clone(), ..named(&args.thread, false) };
    kernel.thread_resolve(&at(&args.at), &request)
}

fn named(args: &Thread, execute: bool) -> ThreadRequest {
    let host = args.host.as_deref().or(Some("codex-app"));
    ThreadRequest {
        thread_id: thread(host, args.thread_id.as_deref()),
        host: args.host.clone(),
        agent_id: None,
        execute,
    }
}

/// The thread: named, else what the host sets in the environment.
pub fn thread(host: Option<&str>, given: Option<&str>) -> Option<String> {
    given.map(str::to_owned).or_else(|| {
        let row = loopx_core::host::find(host?).ok()?.row();
        doors::thread(row.activation.thread_env?)
    })
}
