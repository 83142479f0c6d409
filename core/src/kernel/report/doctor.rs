//! `doctor`: `diagnose`, and beside it what lies around the goals: the program itself, the
//! routes, activations, installed files and hosts. What the system says about them is handed
//! in; nothing is started and nothing is written.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::Kernel;
use super::super::goal::Goal;
use super::diagnose::{Level, Problem};
use super::every_goal;
use crate::error::{ErrorCode, Result};
use crate::host::activation::{self, Standing};
use crate::host::install::{Managed, Places, Status};
use crate::host::{Host, find};
use crate::model::{AgentId, Finding};
use crate::operation::Addressed;
use crate::registry::{FoundBy, Projection, Registry};

/// `doctor`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorRequest {
    /// The host to which skills are to be delivered: without its activation doctor refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Whose loop; every agent's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// A program that a command's name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnPath {
    /// The host whose program it is; `None` for one named `loopx`.
    pub host: Option<Host>,
    /// The command's name.
    pub program: String,
    /// Its version, where a file beside it or the program itself says one.
    pub version: Option<String>,
    /// It is the program that runs now.
    pub this: bool,
}

/// What the system says around the goals, as far as a door has looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Programs in the order of the search path; `None` when nobody has looked.
    pub on_path: Option<Vec<OnPath>>,
    /// Where hosts keep their files.
    pub places: Places,
}

/// How an agent's loop stands.
struct Loop {
    goal: String,
    agent: AgentId,
    on: Option<Host>,
}

impl Kernel {
    /// Everything that is wrong, worst first; a refusal when something blocks, and when a
    /// host is named whose loop is not switched on.
    pub fn doctor(
        &self,
        at: &Addressed,
        request: &DoctorRequest,
        around: &Surroundings,
    ) -> Result<Value> {
        let host = request.host.as_deref().map(find).transpose()?;
        let agent = request.agent_id.as_deref().map(AgentId::parse).transpose()?;
        let mut problems = program(around);
        let registry = self.registry();
        let mut checked = 0;
        let mut loops = Vec::new();
        match &registry {
            Ok(registry) if registry.exists() => {
                let (found, goals) = self.problems(at)?;
                problems.extend(found);
                checked = goals;
                problems.extend(self.routes(registry));
                self.loops(at, &mut loops, &mut problems)?;
            }
            Ok(_) => problems.push(Problem::new(
                Level::Note,
                None,
                Finding::new("registry_missing", "registry", "this folder has no goal yet")
                    .next("loopx init"),
            )),
            Err(error) => problems.push(Problem::new(
                Level::Blocking,
                None,
                Finding::new(error.row().text, "registry", error.text()).next(error.next_command()),
            )),
        }
        if let Some(host) = host {
            problems.extend(delivery(host, agent.as_ref(), &loops));
        } else {
            problems.extend(loops.iter().filter(|l| l.on.is_none()).map(|l| {
                Problem::new(
                    Level::Note,
                    Some(&l.goal),
                    Finding::new(
                        ErrorCode::ActivationMissing.row().text,
                        l.agent.as_str(),
                        format!("the loop of {} is switched on on no host", l.agent),
                    )
                    .next(format!(
                        "loopx heartbeat-prompt --host <host> --goal-id {} --agent-id {} --thin --activate",
                        l.goal, l.agent
                    )),
                )
            }));
        }
        let hosts = hosts(around, &loops, host, &mut problems);
        let mut answer = self.verdict("doctor", problems, checked);
        if let Some(map) = answer.as_object_mut() {
            map.insert("version".into(), json!(crate::host::install::VERSION));
            // A kernel that was opened before the project had a registry has found one since.
            let now_there =
                self.options.route.registry().map_or(self.route.found_by, |r| r.found_by);
            map.insert("route".into(), json!(found_by(now_there)));
            map.insert("hosts".into(), json!(hosts));
            let rows = loops
                .iter()
                .map(|l| json!({"goal_id": l.goal, "agent_id": l.agent, "host_surface": l.on}));
            map.insert("activations".into(), json!(rows.collect::<Vec<_>>()));
        }
        Ok(answer)
    }

    fn loops(
        &self,
        at: &Addressed,
        loops: &mut Vec<Loop>,
        problems: &mut Vec<Problem>,
    ) -> Result<()> {
        let of = |goal: Goal| -> Result<(Vec<Loop>, usize)> {
            let entry = goal.entry()?;
            let rows = goal.policy.roster.iter().map(|agent| Loop {
                goal: goal.policy.goal_id.to_string(),
                agent: agent.clone(),
                on: Standing::anywhere(entry, agent).and_then(|r| r.host),
            });
            Ok((rows.collect(), activation::unreadable(entry)))
        };
        let read = match at.goal_id.as_deref() {
            Some(name) => vec![(name.to_owned(), of(self.goal(Some(name))?))],
            None => every_goal(self, of)?,
        };
        for (name, made) in read {
            // A goal that cannot be read is among the problems already.
            let Ok((rows, unreadable)) = made else { continue };
            loops.extend(rows);
            if unreadable > 0 {
                problems.push(Problem::new(
                    Level::Warning,
                    Some(&name),
                    Finding::new(
                        "activation_unreadable",
                        activation::FIELD,
                        format!("{unreadable} activation records cannot be read; they are kept as they are"),
                    )
                    .next(format!("loopx goal show --goal-id {name}")),
                ));
            }
        }
        Ok(())
    }

    /// Whether the global registry says what this one says, and could be written.
    fn routes(&self, registry: &Registry) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut say = |level, code: &'static str, message: String, next: &str| {
            let finding = Finding::new(code, "global registry", message).next(next);
            found.push(Problem::new(level, None, finding));
        };
        let Ok(global) = self.options.route.global_registry() else { return found };
        if global == registry.path() {
            return found;
        }
        let now = self.now();
        let projection = Projection {
            source: registry,
            goals: None,
            global: &global,
            replace_state: false,
            now,
        };
        match projection.preview() {
            Ok(done) => {
                let stale: Vec<&str> = done
                    .actions
                    .iter()
                    .filter_map(|action| action.rsplit_once(':'))
                    .filter(|(_, what)| *what != "unchanged")
                    .map(|(goal, _)| goal)
                    .collect();
                if let Some(first) = stale.first() {
                    say(
                        Level::Note,
                        "global_projection_stale",
                        format!("the global registry is behind for {}", stale.join(", ")),
                        &format!("loopx init --goal-id {first}"),
                    );
                }
            }
            Err(error) => {
                say(Level::Warning, error.row().text, error.text(), &error.next_command());
            }
        }
        let denied = std::fs::metadata(&global).is_ok_and(|m| m.permissions().readonly());
        if denied {
            let row = ErrorCode::GlobalRegistryDenied.row();
            say(Level::Warning, row.text, row.meaning.to_owned(), row.next_command);
        }
        found
    }
}

const fn found_by(route: FoundBy) -> &'static str {
    match route {
        FoundBy::Flag => "flag",
        FoundBy::Environment => "environment",
        FoundBy::Project => "project",
        FoundBy::Global => "global",
        FoundBy::Nothing => "none",
    }
}

/// What the search path says about this very program: commands in prompts say `loopx`.
fn program(around: &Surroundings) -> Vec<Problem> {
    let Some(path) = &around.on_path else { return Vec::new() };
    let ours: Vec<&OnPath> = path.iter().filter(|p| p.host.is_none()).collect();
    let say = |level, code: &'static str, message: &str, next: &str| {
        vec![Problem::new(level, None, Finding::new(code, "PATH", message).next(next))]
    };
    match ours.as_slice() {
        [] => say(
            Level::Warning,
            "not_on_path",
            "prompts and skills say `loopx`, and no program of that name is on PATH",
            "put the folder of this program on PATH",
        ),
        [first, ..] if !first.this => say(
            Level::Warning,
            "other_program_first",
            "another program named loopx comes first on PATH: that is the one which agents would run",
            "type -a loopx",
        ),
        [_, rest @ ..] if rest.iter().any(|p| !p.this) => say(
            Level::Note,
            "other_program",
            "another program named loopx is on PATH, behind this one",
            "type -a loopx",
        ),
        _ => Vec::new(),
    }
}

/// Skills go where a loop is switched on; whose they are is said.
fn delivery(host: Host, agent: Option<&AgentId>, loops: &[Loop]) -> Vec<Problem> {
    let row = host.row();
    let refuse = |goal: Option<&str>, who: &str, next: String| {
        Problem::new(
            Level::Blocking,
            goal,
            Finding::new(
                ErrorCode::ActivationMissing.row().text,
                who,
                format!(
                    "skill delivery is owned by the selected host integration ({}), and no host-loop activation of {who} is on file for it",
                    row.activation.owner
                ),
            )
            .next(next),
        )
    };
    let meant: Vec<&Loop> =
        loops.iter().filter(|l| agent.is_none_or(|agent| l.agent == *agent)).collect();
    // Nobody in particular is meant: one loop on the host is enough.
    if meant.iter().any(|l| l.on == Some(host)) && agent.is_none() {
        return Vec::new();
    }
    if meant.is_empty() {
        let who = agent.map_or("any agent", AgentId::as_str);
        let next = format!("loopx start-goal --host {} --goal-text \"...\"", row.name());
        return vec![refuse(None, who, next)];
    }
    meant
        .iter()
        .filter(|l| l.on != Some(host))
        .map(|l| {
            let next = format!(
                "loopx heartbeat-prompt --host {} --goal-id {} --agent-id {} --thin --activate",
                row.name(),
                l.goal,
                l.agent
            );
            refuse(Some(&l.goal), l.agent.as_str(), next)
        })
        .collect()
}

/// The hosts that matter here: found, named, looping, or with files of ours.
fn hosts(
    around: &Surroundings,
    loops: &[Loop],
    named: Option<Host>,
    problems: &mut Vec<Problem>,
) -> Vec<Value> {
    let mut rows = Vec::new();
    for host in Host::ALL {
        let programs = around.on_path.iter().flatten().filter(|p| p.host == Some(*host));
        let program = programs.clone().next();
        let looping = loops.iter().any(|l| l.on == Some(*host));
        let files: Vec<(Managed, Result<Status>)> = Managed::of(*host, &around.places)
            .into_iter()
            .map(|managed| {
                let status = managed.look();
                (managed, status)
            })
            .filter(|(_, status)| !matches!(status, Ok(Status::NotInThisVersion)))
            .collect();
        let there = |status: &Result<Status>| !matches!(status, Ok(Status::Created));
        let has_files = files.iter().any(|(_, status)| there(status));
        // Codex surfaces share their files; the program says which one is meant.
        let wanted = looping || named == Some(*host) || program.is_some();
        if !wanted {
            continue;
        }
        let install = format!("loopx install --host {}", host.name());
        for (managed, status) in &files {
            let (level, code, message) = match status {
                Ok(Status::Unchanged) => continue,
                Ok(Status::Created) => {
                    (Level::Note, "install_missing", "LoopX's file is not installed for this host")
                }
                Ok(Status::Updated) => {
                    (Level::Note, "install_outdated", "LoopX's file is of another version")
                }
                Ok(Status::KeptUserEdits) => (
                    Level::Note,
                    "install_edited",
                    "LoopX's file was edited by hand and is kept as it is",
                ),
                Ok(_) => (
                    Level::Warning,
                    ErrorCode::InstallIncomplete.row().text,
                    ErrorCode::InstallIncomplete.row().meaning,
                ),
                Err(error) => {
                    (Level::Warning, error.row().text, "LoopX's file cannot be looked at")
                }
            };
            let finding = Finding::new(code, managed.shown.as_str(), message).next(install.clone());
            problems.push(Problem::new(level, None, finding));
        }
        if looping && program.is_none() && around.on_path.is_some() && program_of(*host).is_some() {
            problems.push(Problem::new(
                Level::Warning,
                None,
                Finding::new(
                    "host_not_found",
                    host.name(),
                    format!(
                        "a loop is switched on on {}, and its program is not on PATH",
                        host.row().display
                    ),
                )
                .next(format!("loopx connectors show {}", host.name())),
            ));
        }
        rows.push(json!({
            "host": host,
            "program": program.map(|p| &p.program),
            "version": program.and_then(|p| p.version.as_ref()),
            "looping": looping,
            "files": if has_files { json!(files.iter().map(|(managed, status)| json!({
                "path": managed.shown,
                "state": match status {
                    Ok(Status::Unchanged) => "current",
                    Ok(Status::Created) => "missing",
                    Ok(Status::Updated) => "outdated",
                    Ok(Status::KeptUserEdits) => "edited",
                    _ => "not_ours",
                },
            })).collect::<Vec<_>>()) } else { json!([]) },
        }));
    }
    rows
}

/// The command that runs a host, where it is one.
pub const fn program_of(host: Host) -> Option<&'static str> {
    Some(match host {
        Host::CodexCli => "codex",
        Host::ClaudeCode => "claude",
        Host::Opencode => "opencode",
        Host::Pi => "pi",
        Host::GeminiCli => "gemini",
        Host::CursorAgent => "cursor-agent",
        Host::Dsh => "dsh",
        _ => return None,
    })
}
