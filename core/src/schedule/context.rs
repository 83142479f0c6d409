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

/// Surfaces that are a command line.
const CLI_SURFACES: [&str; 6] =
    ["codex_app_ssh", "codex_cli", "generic_cli", "claude_code", "kunluncode", "kiro_cli"];

impl ExecutionContext {
    /// What does not fit together, each a sentence; empty for a context that can be
    /// (reference prompts.md 1.3).
    pub fn problems(&self) -> Vec<String> {
        let (surface, owner, mode) = (
            self.host_surface.as_str(),
            self.scheduler_owner.as_str(),
            self.execution_mode.as_str(),
        );
        let cli = CLI_SURFACES.contains(&surface);
        let hosted = (owner, mode) == ("host_automation", "hosted_automation");
        let runtime = (owner, mode) == ("goal_runtime", "interactive");
        let known = cli
            || matches!(
                surface,
                "codex_app" | "trae_app" | "ark_managed_agent" | "local_scheduler"
            );
        let mut problems = Vec::new();
        let mut say = |wrong: bool, sentence: &str| {
            if wrong {
                problems.push(sentence.to_owned());
            }
        };
        say(!known, "unsupported host_surface");
        say(
            !["host_automation", "agent_cli_loop", "goal_runtime", "outer_controller", "none"]
                .contains(&owner),
            "unsupported scheduler_owner",
        );
        say(
            !["interactive", "isolated_headless", "hosted_automation"].contains(&mode),
            "unsupported execution_mode",
        );
        say(
            matches!(surface, "codex_app" | "trae_app" | "local_scheduler") && !hosted,
            "an app or a local scheduler is owned by host_automation and runs as hosted_automation",
        );
        say(
            (surface == "ark_managed_agent") != runtime
                && (surface == "ark_managed_agent" || owner == "goal_runtime"),
            "ark_managed_agent goes with goal_runtime and interactive, and only with them",
        );
        say(
            surface == "codex_app_ssh" && (owner, mode) != ("agent_cli_loop", "interactive"),
            "codex_app_ssh goes with agent_cli_loop and interactive",
        );
        say(cli && owner == "host_automation", "a command line is never owned by host_automation");
        say(
            owner == "outer_controller" && !(cli && mode == "isolated_headless"),
            "outer_controller runs a command line as isolated_headless",
        );
        say(
            owner == "none" && !(cli && mode == "interactive"),
            "no owner means an interactive command line",
        );
        say(
            owner == "agent_cli_loop" && (!cli || mode == "hosted_automation"),
            "agent_cli_loop is a command line's, and never hosted_automation",
        );
        say(
            mode == "hosted_automation" && owner != "host_automation",
            "hosted_automation is owned by host_automation",
        );
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_fits_and_mixtures_do_not() {
        for profile in PROFILES {
            let context =
                ExecutionContext::of_profile(profile.name).unwrap_or_else(|| unreachable!());
            assert_eq!(context.problems(), Vec::<String>::new(), "{}", profile.name);
        }
        for (surface, owner, mode) in [
            ("codex_app", "agent_cli_loop", "interactive"),
            ("trae_app", "host_automation", "interactive"),
            ("codex_cli", "host_automation", "hosted_automation"),
            ("codex_cli", "goal_runtime", "interactive"),
            ("ark_managed_agent", "agent_cli_loop", "interactive"),
            ("generic_cli", "outer_controller", "interactive"),
            ("codex_app_ssh", "none", "interactive"),
            ("zed", "none", "interactive"),
        ] {
            let context = ExecutionContext {
                host_surface: surface.into(),
                scheduler_owner: owner.into(),
                execution_mode: mode.into(),
                source: "explicit".into(),
            };
            assert!(!context.problems().is_empty(), "{surface} {owner} {mode}");
        }
        let none = ExecutionContext {
            host_surface: "generic_cli".into(),
            scheduler_owner: "none".into(),
            execution_mode: "interactive".into(),
            source: "explicit".into(),
        };
        assert!(none.problems().is_empty());
    }
}
