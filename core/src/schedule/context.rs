//! Who wakes the agent: runtime profiles and what they stand for (reference
//! scheduler.md 4.2).

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode, Result};

/// One profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name.
    pub name: &'static str,
    /// Host surface.
    pub host_surface: &'static str,
    /// Who owns the schedule.
    pub scheduler_owner: &'static str,
    /// How the host runs.
    pub execution_mode: &'static str,
}

const fn profile(
    name: &'static str,
    host_surface: &'static str,
    scheduler_owner: &'static str,
    execution_mode: &'static str,
) -> Profile {
    Profile { name, host_surface, scheduler_owner, execution_mode }
}

/// Every profile.
pub const PROFILES: &[Profile] = &[
    profile("codex_app_heartbeat", "codex_app", "host_automation", "hosted_automation"),
    profile("trae_app", "trae_app", "host_automation", "hosted_automation"),
    profile("codex_app_ssh_goal", "codex_app_ssh", "agent_cli_loop", "interactive"),
    profile("codex_cli", "codex_cli", "agent_cli_loop", "interactive"),
    profile("claude_code", "claude_code", "agent_cli_loop", "interactive"),
    profile("kunluncode", "kunluncode", "agent_cli_loop", "interactive"),
    profile("kiro_cli", "kiro_cli", "agent_cli_loop", "interactive"),
    profile("generic_cli", "generic_cli", "agent_cli_loop", "interactive"),
    profile("outer_controller", "generic_cli", "outer_controller", "isolated_headless"),
    profile("ark_managed_agent_goal", "ark_managed_agent", "goal_runtime", "interactive"),
];

/// Who wakes the agent, as the packet says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecutionContext {
    /// Host surface.
    pub host_surface: String,
    /// Who owns the schedule.
    pub scheduler_owner: String,
    /// How the host runs.
    pub execution_mode: String,
    /// `runtime_profile:<name>` or `explicit`.
    pub source: String,
}

impl ExecutionContext {
    /// Words of a door are words: lower-case letters, digits and `_`, at most 40.
    pub fn check(&self) -> Result<()> {
        for (field, text) in [
            ("host_surface", &self.host_surface),
            ("scheduler_owner", &self.scheduler_owner),
            ("execution_mode", &self.execution_mode),
        ] {
            let ok = (1..=40).contains(&text.len())
                && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            if !ok {
                return Err(Error::new(ErrorCode::QuotaValidationFailed, field).message(format!(
                    "{field} is a word such as codex_cli, at most 40 characters"
                )));
            }
        }
        Ok(())
    }

    /// The context of a profile.
    pub fn of_profile(name: &str) -> Option<Self> {
        PROFILES.iter().find(|p| p.name == name).map(|p| Self {
            host_surface: p.host_surface.to_owned(),
            scheduler_owner: p.scheduler_owner.to_owned(),
            execution_mode: p.execution_mode.to_owned(),
            source: format!("runtime_profile:{name}"),
        })
    }
}
