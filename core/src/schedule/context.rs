//! Who wakes the agent: surfaces, owners and modes, which of them go together, and the
//! runtime profiles that name a triple (reference scheduler.md 4).

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

/// What a host surface asks of the other two words.
struct Surface {
    name: &'static str,
    /// The only owner that it can have.
    owner: Option<&'static str>,
    /// The only mode that it can run in.
    mode: Option<&'static str>,
    /// A command line that an agent works in.
    cli: bool,
}

const fn surface(
    name: &'static str,
    owner: Option<&'static str>,
    mode: Option<&'static str>,
    cli: bool,
) -> Surface {
    Surface { name, owner, mode, cli }
}

const SURFACES: &[Surface] = &[
    surface("ark_managed_agent", Some("goal_runtime"), Some("interactive"), false),
    surface("codex_app", Some(HOST_AUTOMATION), Some("hosted_automation"), false),
    surface("trae_app", Some(HOST_AUTOMATION), Some("hosted_automation"), false),
    surface("local_scheduler", Some(HOST_AUTOMATION), Some("hosted_automation"), false),
    surface("codex_app_ssh", Some("agent_cli_loop"), Some("interactive"), true),
    surface("codex_cli", None, None, true),
    surface("generic_cli", None, None, true),
    surface("claude_code", None, None, true),
    surface("kunluncode", None, None, true),
    surface("kiro_cli", None, None, true),
];

const HOST_AUTOMATION: &str = "host_automation";
const OWNERS: [&str; 5] =
    [HOST_AUTOMATION, "agent_cli_loop", "goal_runtime", "outer_controller", "none"];
const MODES: [&str; 3] = ["interactive", "isolated_headless", "hosted_automation"];
/// Surfaces whose own automation holds the schedule, so that they are told an RRULE.
const APPS: [&str; 2] = ["codex_app", "trae_app"];

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
    /// `runtime_profile:<name>`, `explicit` or `loopx_turn`.
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

    /// The context of a turn that `host` runs in `mode`, both as `turn` names them
    /// (`codex-cli`, `isolated-headless`).
    pub fn of_turn(host: &str, mode: &str) -> Self {
        let host_surface = match host {
            "pi" => "generic_cli".to_owned(),
            other => other.replace('-', "_"),
        };
        let scheduler_owner = match host_surface.as_str() {
            "generic_cli" => "outer_controller",
            _ => "agent_cli_loop",
        };
        let execution_mode = match mode {
            "interactive-visible" => "interactive".to_owned(),
            other => other.replace('-', "_"),
        };
        Self {
            host_surface,
            scheduler_owner: scheduler_owner.to_owned(),
            execution_mode,
            source: "loopx_turn".to_owned(),
        }
    }

    /// Why the triple cannot be, in the order of the rules; empty when it can.
    pub fn errors(&self) -> Vec<String> {
        let Self { host_surface, scheduler_owner: owner, execution_mode: mode, .. } = self;
        let mut errors = Vec::new();
        for (field, text, known) in [
            ("host_surface", host_surface, SURFACES.iter().any(|s| s.name == host_surface)),
            ("scheduler_owner", owner, OWNERS.contains(&owner.as_str())),
            ("execution_mode", mode, MODES.contains(&mode.as_str())),
        ] {
            if text.is_empty() {
                errors.push(format!("missing required field: {field}"));
            } else if !known {
                errors.push(format!("unsupported_{field}"));
            }
        }
        let Some(surface) = SURFACES.iter().find(|s| s.name == host_surface) else { return errors };
        if !errors.is_empty() {
            return errors;
        }
        let cli = surface.cli;
        let name = surface.name;
        let mut refuse = |wrong: bool, why: String| {
            if wrong {
                errors.push(why);
            }
        };
        if let Some(only) = surface.owner {
            refuse(owner != only, format!("{name} requires scheduler_owner={only}"));
        }
        if let Some(only) = surface.mode {
            refuse(mode != only, format!("{name} requires execution_mode={only}"));
        }
        match owner.as_str() {
            HOST_AUTOMATION => {
                refuse(cli, "CLI host surfaces cannot be owned by host_automation".into());
            }
            "agent_cli_loop" => {
                refuse(!cli, "agent_cli_loop requires a CLI host surface".into());
                refuse(
                    mode == "hosted_automation",
                    "agent_cli_loop cannot use execution_mode=hosted_automation".into(),
                );
            }
            "goal_runtime" => {
                refuse(
                    name != "ark_managed_agent",
                    "goal_runtime requires host_surface=ark_managed_agent".into(),
                );
                refuse(
                    mode != "interactive",
                    "goal_runtime requires execution_mode=interactive".into(),
                );
            }
            "outer_controller" => {
                refuse(!cli, "outer_controller requires a CLI host surface".into());
                refuse(
                    mode != "isolated_headless",
                    "outer_controller requires execution_mode=isolated_headless".into(),
                );
            }
            _ => {
                refuse(!cli, "scheduler_owner=none requires a CLI host surface".into());
                refuse(
                    mode != "interactive",
                    "scheduler_owner=none requires execution_mode=interactive".into(),
                );
            }
        }
        refuse(
            mode == "hosted_automation" && owner != HOST_AUTOMATION,
            "hosted_automation requires scheduler_owner=host_automation".into(),
        );
        errors
    }

    /// Whether the host's own automation holds the schedule and is told an RRULE.
    pub fn is_app(&self) -> bool {
        self.scheduler_owner == HOST_AUTOMATION && APPS.contains(&self.host_surface.as_str())
    }

    /// Whether the goal's own runtime decides when to go on.
    pub fn is_goal_runtime(&self) -> bool {
        self.scheduler_owner == "goal_runtime"
    }

    /// How a command line names this context: `-A`, a profile, or the triple.
    pub fn flags(&self) -> Vec<String> {
        let profile = PROFILES.iter().find(|p| {
            p.host_surface == self.host_surface
                && p.scheduler_owner == self.scheduler_owner
                && p.execution_mode == self.execution_mode
        });
        let words = match profile.map(|p| p.name) {
            Some("codex_app_heartbeat") => vec!["-A"],
            Some(name) => vec!["--runtime-profile", name],
            None => {
                vec![
                    "-H",
                    &self.host_surface,
                    "-O",
                    &self.scheduler_owner,
                    "-M",
                    &self.execution_mode,
                ]
            }
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// The context as a packet says it.
    pub fn projection(&self) -> ContextProjection {
        let errors = self.errors();
        ContextProjection {
            schema_version: "scheduler_execution_context_v0",
            host_surface: self.host_surface.clone(),
            scheduler_owner: self.scheduler_owner.clone(),
            execution_mode: self.execution_mode.clone(),
            source: self.source.clone(),
            valid: errors.is_empty(),
            app_automation_applicability: match (errors.is_empty(), self.is_app()) {
                (false, _) => "blocked_invalid_context",
                (true, true) => "applicable",
                (true, false) => "not_applicable",
            },
            errors,
        }
    }
}

/// [`ExecutionContext::projection`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextProjection {
    /// `scheduler_execution_context_v0`.
    pub schema_version: &'static str,
    /// Host surface.
    pub host_surface: String,
    /// Who owns the schedule.
    pub scheduler_owner: String,
    /// How the host runs.
    pub execution_mode: String,
    /// Where the context was said.
    pub source: String,
    /// The three go together.
    pub valid: bool,
    /// `applicable`, `not_applicable` or `blocked_invalid_context`.
    pub app_automation_applicability: &'static str,
    /// Why they do not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_fits_and_mixtures_do_not() {
        for profile in PROFILES {
            let context =
                ExecutionContext::of_profile(profile.name).unwrap_or_else(|| unreachable!());
            assert_eq!(context.errors(), Vec::<String>::new(), "{}", profile.name);
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
            assert!(!context.errors().is_empty(), "{surface} {owner} {mode}");
        }
        let none = ExecutionContext {
            host_surface: "generic_cli".into(),
            scheduler_owner: "none".into(),
            execution_mode: "interactive".into(),
            source: "explicit".into(),
        };
        assert!(none.errors().is_empty());
    }
}
