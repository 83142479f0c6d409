//! What a host or a person is handed before a loop runs: the types of agents, onboarding, the
//! commands of a host, and the first message of Codex CLI.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::guide::{begin, shown};
use crate::error::{Error, ErrorCode, Result};
use crate::host::activation::Standing;
use crate::host::identity::IdentitySelection;
use crate::host::{HOSTS, Host, HostRow, SkillOwner};
use crate::model::{AgentId, GoalId};
use crate::prompt::{CommandLine, Route};

/// `agent_onboard`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentOnboardRequest {
    /// The host (the earlier tool's agent type).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// List the hosts instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list_agent_types: bool,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The host's name for its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// `bootstrap_command_pack` and `codex_cli_bootstrap_message`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandPackRequest {
    /// The host; `codex-cli` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What is to be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_text: Option<String>,
}

/// Every host with the words that mean it.
pub fn agent_types() -> Value {
    let types: Vec<Value> = HOSTS
        .iter()
        .map(|row| {
            json!({
                "agent_type": row.host,
                "display_name": row.display,
                "host_loop": row.activation.surface,
                "entry": row.activation.command.or(row.activation.tool),
                "accepted_inputs": row.aliases,
            })
        })
        .collect();
    json!({
        "ok": true,
        "schema_version": "loopx_agent_type_catalog_v0",
        "canonical_agent_types": types,
        "selection_rule": "Name the very host that loops; a word that several hosts could mean is refused with their names.",
    })
}

/// Whom commands are for.
#[derive(Clone, Copy, Debug)]
pub struct For<'a> {
    /// The goal, or what stands for it.
    pub goal: &'a str,
    /// The agent.
    pub agent: Option<&'a AgentId>,
    /// The host.
    pub row: &'static HostRow,
    /// How the registry is reached.
    pub route: &'a Route,
}

impl For<'_> {
    fn line(&self, words: &'static str) -> CommandLine {
        begin(self.route, words, self.goal)
    }

    fn by(&self, words: &'static str) -> CommandLine {
        match self.agent {
            Some(agent) => self.line(words).flag("--agent-id", agent.as_str()),
            None => self.line(words).own("--agent-id AGENT"),
        }
    }

    fn prompt(&self) -> CommandLine {
        self.by("heartbeat-prompt").flag("--host", self.row.name()).own("--thin")
    }

    fn start(&self, text: Option<&str>) -> CommandLine {
        let line = self.by("start-goal").flag("--host", self.row.name());
        match text {
            Some(text) if text.len() <= 240 => line.flag("--goal-text", text),
            _ => line.own("--goal-text TEXT"),
        }
    }

    fn install(&self) -> Option<CommandLine> {
        let wanted = self.row.skills == SkillOwner::Installer && !self.row.install.is_empty();
        wanted.then(|| {
            let program = Route { program: self.route.program.clone(), words: Vec::new() };
            CommandLine::begin(&program, "install").flag("--host", self.row.name())
        })
    }

    /// The commands by what they are for.
    fn commands(&self, text: Option<&str>) -> Map<String, Value> {
        let program = Route { program: self.route.program.clone(), words: Vec::new() };
        let mut lines = vec![
            ("doctor", CommandLine::begin(&program, "doctor").flag("--host", self.row.name())),
            ("init", self.line("init")),
            ("start_goal_preview", self.start(text).own("--guided")),
            ("start_goal_execute", self.start(text).own("--execute")),
            ("heartbeat_prompt", self.prompt()),
            ("host_loop_activation", self.prompt().own("--activate")),
            ("quota_guard", self.by("quota should-run")),
            ("turn_admit", self.by("turn admit")),
            (
                "turn_settle",
                self.by("turn settle").own("--outcome OUTCOME --evidence \"EVIDENCE\""),
            ),
            ("status", self.line("status")),
        ];
        if let Some(install) = self.install() {
            lines.push(("install", install));
        }
        lines.into_iter().map(|(name, line)| (name.to_owned(), json!(line.text()))).collect()
    }
}

/// How skills come to a host, and whether they may.
fn skill_delivery(row: &HostRow, standing: &Standing) -> Value {
    let managed = row.skills == SkillOwner::Installer;
    json!({
        "schema_version": "loopx_host_skill_delivery_v0",
        "mode": if managed { "surface_managed" } else { "host_managed" },
        "owner": row.skills,
        "host_integration": row.activation.owner,
        "status": match (managed, standing.is_active()) {
            (_, false) => "waits_for_host_loop_activation",
            (true, true) => "ready_to_install",
            (false, true) => "pending_host_readback",
        },
        "files": row.install.iter().map(shown).collect::<Vec<_>>(),
    })
}

/// `agent-onboard`: who would loop, how that is switched on, and what comes first.
pub fn onboard(at: &For<'_>, chosen: &IdentitySelection, standing: &Standing) -> Value {
    let row = at.row;
    let allowed = chosen.activation_allowed;
    let mut commands = at.commands(None);
    if !allowed {
        // Nobody is told to run as somebody who has not been chosen.
        for name in
            ["heartbeat_prompt", "host_loop_activation", "quota_guard", "turn_admit", "turn_settle"]
        {
            commands.insert(name.into(), Value::Null);
        }
    }
    json!({
        "ok": true,
        "schema_version": "loopx_agent_onboarding_v0",
        "agent_type": row.host,
        "goal_id": at.goal,
        "agent_id": chosen.selected_agent_id,
        "identity_selection": chosen,
        "host_loop_activation": {
            "schema_version": crate::host::activation::SCHEMA,
            "host_surface": row.host,
            "activation_surface": row.activation.surface,
            "activation_method": if allowed { row.activation.method } else { "select_agent_identity_before_host_loop_activation" },
            "activation_allowed": allowed,
            "activated": standing.is_active(),
            "state": standing.word(),
            "entry_command": row.activation.command,
            "host_mutation": {
                "owner": row.activation.owner,
                "tool": row.activation.tool,
                "cli_can_mutate_directly": row.activation.cli_can_mutate,
            },
            "initial_minutes": row.activation.initial_minutes,
            "activation_required_after_todo_write": true,
        },
        "skill_delivery": skill_delivery(row, standing),
        "commands": commands,
        "setup_complete_requires": ["goal_connected", "todos_written", "host_loop_activation_on_file", "first_quota_guard_answered"],
    })
}

/// `bootstrap-command-pack`.
pub fn command_pack(at: &For<'_>, connected: bool, text: Option<&str>) -> Value {
    json!({
        "ok": true,
        "schema_version": "loopx_bootstrap_command_pack_v0",
        "host_surface": at.row.host,
        "goal_id": at.goal,
        "agent_id": at.agent,
        "connection_state": if connected { "connected" } else { "not_connected" },
        "mutation_confirmation_required": !connected && text.is_none(),
        "host_loop_activation_required_after_todo_writeback": true,
        "commands": at.commands(text),
        "text": message(at, text),
    })
}

/// `codex-cli-bootstrap-message`.
///
/// # Errors
///
/// [`ErrorCode::HostUnknown`] for another host.
pub fn codex_cli_message(at: &For<'_>, text: Option<&str>) -> Result<Value> {
    if at.row.host != Host::CodexCli {
        return Err(Error::new(ErrorCode::HostUnknown, "host")
            .message("this message is for codex-cli")
            .next(format!("loopx bootstrap-command-pack --host {}", at.row.name())));
    }
    let commands = at.commands(text);
    let command = |name: &str| commands.get(name).cloned().unwrap_or_default();
    Ok(json!({
        "ok": true,
        "schema_version": "codex_cli_bootstrap_message_v1",
        "mode": "codex_cli_setup_then_goal_mode",
        "goal_id": at.goal,
        "agent_id": at.agent,
        "codex_cli_goal_prefix": "/goal ",
        "connect_command": command("init"),
        "start_command": command("start_goal_execute"),
        "heartbeat_prompt_command": command("heartbeat_prompt"),
        "quota_guard_command": command("quota_guard"),
        "settle_command": command("turn_settle"),
        "spend_source": at.row.spend,
        "text": message(at, text),
    }))
}

/// What a person pastes into the host's first turn.
fn message(at: &For<'_>, text: Option<&str>) -> String {
    let program = &at.route.program;
    let start = at.start(text);
    let place = match (at.row.activation.command, at.row.activation.tool) {
        (Some(command), _) => format!("type {command} and then the body"),
        (None, Some(tool)) => format!("make it the task of an automation with {tool}"),
        (None, None) => "give it to the loop that wakes you".into(),
    };
    format!(
        "Set up LoopX here, then stop.\n\
         1. Run `{program} --version`. If there is no such program, say so and stop: the user installs it.\n\
         2. Run `{}`. It writes nothing. If it names something that is open, ask the user and run it again with the answer.\n\
         3. Think which steps come first. Run the same command with one `--todo \"[P1] ...\"` for each and `--execute` in the place of `--guided`. It may be run again: it does nothing twice.\n\
         4. From its answer take task_body as it stands and {place}.\n\
         5. Run `{}` once and tell the user what it says. Do no work in this turn.\n\
         Never hand over credentials or private text, and edit no file of LoopX by hand.\n",
        start.own("--guided").text(),
        at.by("quota should-run").text(),
    )
}

/// What stands for a goal that is not known yet.
pub fn goal_or_placeholder(goal: Option<&GoalId>) -> String {
    goal.map_or_else(|| "GOAL".to_owned(), ToString::to_string)
}
