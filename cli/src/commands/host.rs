//! `loopx connectors`, `value-connectors`, `host-mode-plan` and `heartbeat-prompt`.

use clap::{Args, Subcommand};
use loopx_core::Result;
use loopx_core::host::Style;
use loopx_core::host::catalog::{self, ConnectorShowRequest, ValueConnectorRunRequest};
use loopx_core::host::mode_plan::HostModePlanRequest;
use loopx_core::kernel::{HostLoopActivateRequest, Kernel};
use loopx_core::prompt::HeartbeatPromptRequest;
use serde_json::{Value, json};

use super::at;
use super::quota::{HostArgs, context};
use crate::args::At;

/// `connectors ...`
#[derive(Debug, Subcommand)]
pub enum Connectors {
    /// List the connectors of hosts, value connectors and candidates
    #[command(after_help = "Example:\n  loopx connectors list")]
    List,
    /// Show one connector, and how its host is run
    #[command(after_help = "Example:\n  loopx connectors show codex_cli_tui")]
    Show(Show),
}

/// `connectors show`
#[derive(Debug, Args)]
pub struct Show {
    /// Id of a connector, value connector or candidate; a host's name means its connector
    #[arg(value_name = "CONNECTOR")]
    pub connector: String,
}

/// `value-connectors`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx value-connectors\n\nNone runs in this version: naming one is answered with connector_execution_unavailable."
)]
pub struct ValueConnectors {
    /// The one to run [default: list them]
    #[arg(value_name = "CONNECTOR")]
    pub connector: Option<String>,
    /// What it looks at
    #[arg(long, requires = "connector")]
    pub url: Option<String>,
}

/// `host-mode-plan`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx host-mode-plan --host opencode --connector github_public_probe"
)]
pub struct HostModePlan {
    #[command(flatten)]
    pub at: At,
    /// What is wanted: watch_each_turn, continue_without_ui, intake_from_chat,
    /// timer_keepalive or escalate_between_modes; the first decides (repeat)
    /// [default: what the host does anyway]
    #[arg(long = "intent", value_name = "INTENT")]
    pub intents: Vec<String>,
    /// The host
    #[arg(long, alias = "host-identity", value_name = "HOST")]
    pub host: Option<String>,
    /// Connector to put into the turn's plan
    #[arg(long, value_name = "CONNECTOR")]
    pub connector: Option<String>,
    /// What the host can do, such as visible_session (repeat)
    #[arg(long = "host-capability", value_name = "NAME")]
    pub host_capabilities: Vec<String>,
    /// The agent
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Agent of the roster (repeat) [default: the goal's roster]
    #[arg(long = "registered-agent", value_name = "AGENT")]
    pub registered_agents: Vec<String>,
    /// Show every mode whole
    #[arg(long)]
    pub all_modes: bool,
}

/// `heartbeat-prompt`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx heartbeat-prompt --host claude-code --goal-id demo --agent-id agent-a\n\nTo paste it: add --body-only. The body alone is then printed. Asking writes\nnothing; --activate records that the agent's loop runs on the host."
)]
pub struct HeartbeatPrompt {
    #[command(flatten)]
    pub at: At,
    /// The host, such as codex-app, codex-cli, claude-code, opencode, pi or shell
    /// [default: other-agent, or what the profile says]
    #[arg(long, value_name = "HOST", conflicts_with = "visible_goal_host")]
    pub host: Option<String>,
    /// Whom the body is for
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Shortest body (the default)
    #[arg(long, group = "length")]
    pub thin: bool,
    /// With outcomes, retries and monitors
    #[arg(long, group = "length")]
    pub brief: bool,
    /// With peers, gates, replans and cadence
    #[arg(long, group = "length")]
    pub compact: bool,
    /// With everything an audit would ask for
    #[arg(long, group = "length")]
    pub full: bool,
    /// What the agent keeps to, at most 180 characters (repeat)
    #[arg(long = "agent-scope", value_name = "TEXT")]
    pub agent_scopes: Vec<String>,
    /// A rule about material, at most 400 characters
    #[arg(long, value_name = "TEXT")]
    pub material_rule: Option<String>,
    /// A rule about permissions, at most 400 characters
    #[arg(long, value_name = "TEXT")]
    pub permission_rule: Option<String>,
    /// Capability that commands declare (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// Turn that this wake is bound to
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// The program's name in commands [default: loopx]
    #[arg(long, value_name = "NAME")]
    pub cli_bin: Option<String>,
    /// State file of a goal that no registry has
    #[arg(long, value_name = "FILE")]
    pub active_state: Option<String>,
    /// traex-cli: same as --host traex-cli
    #[arg(long, value_name = "HOST")]
    pub visible_goal_host: Option<String>,
    /// Print the body alone
    #[arg(long)]
    pub body_only: bool,
    /// Record that the agent's loop is switched on on this host
    #[arg(long, requires = "host", conflicts_with_all = ["active_state", "turn_instance_id"])]
    pub activate: bool,
    /// Record that it is switched off
    #[arg(long, requires = "host", conflicts_with_all = ["activate", "active_state", "turn_instance_id"])]
    pub deactivate: bool,
    /// The host's name for its thread [default: what the host sets]
    #[arg(long, value_name = "THREAD")]
    pub thread_id: Option<String>,
    /// Identity of an activation: repeating it answers the first receipt
    #[arg(long, value_name = "ID")]
    pub effect_id: Option<String>,
    #[command(flatten)]
    pub profile: HostArgs,
}

/// `connectors ...`: the catalogue is the tool's own, whatever the registry.
pub fn connectors(command: &Connectors) -> Result<Value> {
    match command {
        Connectors::List => Ok(catalog::list()),
        Connectors::Show(args) => {
            catalog::show(&ConnectorShowRequest { connector: args.connector.clone() })
        }
    }
}

/// `value-connectors`
pub fn value_connectors(args: &ValueConnectors) -> Result<Value> {
    match &args.connector {
        Some(connector) => catalog::run_value(&ValueConnectorRunRequest {
            connector: connector.clone(),
            url: args.url.clone(),
        }),
        None => {
            let list = catalog::list();
            Ok(json!({"ok": true, "value_connectors": list.get("value_connectors")}))
        }
    }
}

/// `host-mode-plan`
pub fn mode_plan(kernel: &Kernel, args: &HostModePlan) -> Result<Value> {
    let request = HostModePlanRequest {
        intents: args.intents.clone(),
        host: args.host.clone(),
        connector: args.connector.clone(),
        host_capabilities: args.host_capabilities.clone(),
        agent_id: args.agent_id.clone(),
        registered_agents: args.registered_agents.clone(),
        all_modes: args.all_modes,
    };
    kernel.host_mode_plan(&at(&args.at), &request)
}

/// `heartbeat-prompt`
pub fn heartbeat_prompt(kernel: &Kernel, args: &HeartbeatPrompt) -> Result<Value> {
    let style = match (args.brief, args.compact, args.full) {
        (true, ..) => Style::Brief,
        (_, true, _) => Style::Compact,
        (.., true) => Style::Full,
        _ => Style::Thin,
    };
    let request = HeartbeatPromptRequest {
        host: args.host.clone(),
        style: Some(style.text().into()),
        agent_id: args.agent_id.clone(),
        agent_scopes: args.agent_scopes.clone(),
        material_rule: args.material_rule.clone(),
        permission_rule: args.permission_rule.clone(),
        available_capabilities: args.available_capabilities.clone(),
        execution_context: context(&args.profile),
        visible_goal_host: args.visible_goal_host.clone(),
        turn_instance_id: args.turn_instance_id.clone(),
        cli_bin: args.cli_bin.clone(),
        thread_id: super::start::thread(args.host.as_deref(), args.thread_id.as_deref()),
        active_state: args.active_state.clone(),
    };
    let answer = if args.activate || args.deactivate {
        let address =
            loopx_core::operation::Addressed { effect_id: args.effect_id.clone(), ..at(&args.at) };
        let activation = HostLoopActivateRequest { prompt: request, deactivate: args.deactivate };
        kernel.host_loop_activate(&address, &activation)?
    } else {
        kernel.heartbeat_prompt(&at(&args.at), &request)?
    };
    if args.body_only {
        let body = answer.get("task_body").and_then(Value::as_str).unwrap_or_default();
        return Ok(json!({"ok": true, "text": format!("{body}\n")}));
    }
    Ok(answer)
}
