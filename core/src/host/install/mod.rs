//! Files that a host reads and LoopX brings: put in place, kept up to date, taken away. Each
//! says on its last line that it is ours, of which version, and what its bytes were; so a file
//! of a person's, and a person's edit of ours, are told apart and left alone.

mod file;
mod marker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::find::{find, fold};
use super::row::{Host, HostRow, InstallFile, InstallKind, Place};
use crate::error::{Error, ErrorCode, Result};

pub use file::Status;
pub use marker::{Found, mark, read};

/// The version that files are marked with.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

const SKILL: &str = include_str!("skill.md");
const PI: &str = include_str!("../../../../bindings-node/extensions/pi.js");
const OPENCODE: &str = include_str!("../../../../bindings-node/extensions/opencode.js");
const OPENCODE_COMMAND: &str =
    include_str!("../../../../bindings-node/extensions/opencode/loopx.md");

/// `install`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstallRequest {
    /// Hosts; `codex` stands for every Codex surface.
    pub hosts: Vec<String>,
    /// Take the files away.
    pub uninstall: bool,
    /// Only say what would be done.
    pub dry_run: bool,
    /// The project in which files are put. Without it they go to the user's own folders,
    /// which only the command line knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
}

/// Where hosts look. What the environment says about it is the door's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The project in which files are put instead of the user's own folders.
    pub project: Option<PathBuf>,
    /// The user's folder of each host, and how a person calls it.
    pub homes: Vec<(Place, PathBuf, String)>,
}

impl Places {
    /// Folder and shown name of the folder that a file's path starts from.
    fn of(&self, place: Place) -> Option<(PathBuf, String)> {
        match (&self.project, in_project(place)) {
            (Some(project), Some("")) => Some((project.clone(), String::new())),
            (Some(project), Some(below)) => Some((project.join(below), format!("{below}/"))),
            _ => {
                let (_, folder, shown) = self.homes.iter().find(|(p, ..)| *p == place)?;
                Some((folder.clone(), format!("{shown}/")))
            }
        }
    }
}

/// Where a host looks inside a project.
const fn in_project(place: Place) -> Option<&'static str> {
    Some(match place {
        Place::Project => "",
        Place::CodexHome => ".agents",
        Place::ClaudeHome => ".claude",
        Place::GeminiHome => ".gemini",
        Place::CursorHome => ".cursor",
    })
}

/// What a file says, without its mark; `None` where this version brings none.
fn content(row: &HostRow, file: &InstallFile) -> Option<String> {
    match (row.host, file.kind) {
        (Host::Pi, InstallKind::Extension) => return Some(PI.to_owned()),
        (Host::Opencode, InstallKind::Extension) => return Some(OPENCODE.to_owned()),
        (Host::Opencode, InstallKind::Command) => return Some(OPENCODE_COMMAND.to_owned()),
        _ => {}
    }
    (file.kind == InstallKind::Skill).then(|| {
        let entry = match file.place {
            Place::CodexHome => "`$loopx`",
            _ => "`/loopx`",
        };
        // Every Codex surface reads the same file.
        let (host, also) = match file.place {
            Place::CodexHome => (
                Host::CodexCli.name(),
                " In the Codex App say `codex-app`, in an editor\n`codex-ide-plugin`, in the place of `codex-cli`.",
            ),
            _ => (row.name(), ""),
        };
        SKILL
            .replace("{ENTRY}", entry)
            .replace("{HOST}", host)
            .replace("{ALSO}", also)
    })
}

/// The host whose files are meant. Every Codex surface reads the same.
///
/// # Errors
///
/// [`ErrorCode::HostUnknown`].
pub fn host_of(text: &str) -> Result<Host> {
    if matches!(fold(text).as_str(), "codex" | "openai-codex") {
        return Ok(Host::CodexCli);
    }
    find(text)
}

/// One managed file of a host, where it is and how it stands.
#[derive(Clone, Debug)]
pub struct Managed {
    /// The host.
    pub host: Host,
    /// The row's file.
    pub file: InstallFile,
    /// How a person calls the path.
    pub shown: String,
    /// Its path, and the folder that it may not leave.
    at: Option<(PathBuf, Option<PathBuf>)>,
    /// What it is to say, with its mark.
    wanted: Option<Vec<u8>>,
}

impl Managed {
    /// Every file of a host.
    pub fn of(host: Host, places: &Places) -> Vec<Self> {
        let row = host.row();
        let of = |file: &InstallFile| {
            let found = places.of(file.place);
            Self {
                host,
                file: *file,
                shown: match &found {
                    Some((_, shown)) => format!("{shown}{}", file.path),
                    None => format!("{}/{}", file.place.text(), file.path),
                },
                at: found.map(|(folder, _)| (folder.join(file.path), places.project.clone())),
                wanted: content(row, file).map(|text| mark(&text, file.path, VERSION)),
            }
        };
        row.install.iter().map(of).collect()
    }

    /// What an install would do, and with it how the file stands.
    pub fn look(&self) -> Result<Status> {
        self.run(false, true)
    }

    fn run(&self, uninstall: bool, dry_run: bool) -> Result<Status> {
        let (Some((path, inside)), Some(wanted)) = (&self.at, &self.wanted) else {
            return Ok(Status::NotInThisVersion);
        };
        let step = file::Step { path, inside: inside.as_deref(), wanted, dry_run };
        if uninstall { step.take_away() } else { step.put() }
    }
}

/// Installs or takes away the files of hosts.
///
/// # Errors
///
/// [`ErrorCode::HostUnknown`]; [`ErrorCode::NotInstallable`] for a host without files in this
/// version. What stands in the way of one file is said in its row, and then the answer is a
/// refusal.
pub fn install(request: &InstallRequest, places: &Places) -> Result<Value> {
    if request.hosts.is_empty() {
        return Err(Error::new(ErrorCode::HostUnknown, "host").message("name a host with --host"));
    }
    if let Some(project) = &places.project
        && !project.is_dir()
    {
        return Err(Error::new(ErrorCode::RequestInvalid, "project")
            .message("the project folder is not there"));
    }
    let mut files: Vec<Managed> = Vec::new();
    for name in &request.hosts {
        let host = host_of(name)?;
        let of_host = Managed::of(host, places);
        if !of_host.iter().any(|m| m.wanted.is_some()) {
            return Err(none_for(host));
        }
        if let Some(lost) = of_host.iter().find(|m| m.wanted.is_some() && m.at.is_none()) {
            return Err(Error::new(ErrorCode::RequestInvalid, "project").message(format!(
                "{} is a file of a project; name it with --project",
                lost.shown
            )));
        }
        for managed in of_host {
            if !files.iter().any(|known| known.at == managed.at) {
                files.push(managed);
            }
        }
    }
    let mut rows = Vec::new();
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut first: Option<Error> = None;
    for managed in &files {
        let (status, row, refused) = one(managed, request);
        if let Some(error) = refused {
            first.get_or_insert(error);
        }
        *counts.entry(status).or_default() += 1;
        rows.push(row);
    }
    let mut answer = Map::from_iter([
        ("ok".to_owned(), json!(first.is_none())),
        ("schema_version".to_owned(), json!("loopx_slash_command_install_v0")),
        ("operation".to_owned(), json!(if request.uninstall { "uninstall" } else { "install" })),
        ("dry_run".to_owned(), json!(request.dry_run)),
        ("version".to_owned(), json!(VERSION)),
        ("installed".to_owned(), json!(rows)),
        ("summary".to_owned(), json!(counts)),
    ]);
    if let Some(error) = first
        && let Value::Object(refusal) = error.to_json()
    {
        answer.extend(refusal);
    }
    Ok(Value::Object(answer))
}

/// What becomes of one file: its status, its row, and why the answer is a refusal.
fn one(managed: &Managed, request: &InstallRequest) -> (&'static str, Value, Option<Error>) {
    let shown = managed.shown.as_str();
    let (status, note, refused) = match managed.run(request.uninstall, request.dry_run) {
        Ok(status) => {
            let word = status.word(request.dry_run);
            let left = word.starts_with("skipped") && !request.uninstall;
            let refused = left.then(|| {
                Error::new(ErrorCode::InstallIncomplete, shown)
                    .message(format!("{shown} is not LoopX's and was left alone"))
            });
            (word, Status::note(word).map(str::to_owned), refused)
        }
        Err(error) => ("failed", Some(error.text()), Some(Error { about: shown.into(), ..error })),
    };
    let mut row = Map::from_iter([
        ("host".to_owned(), json!(managed.host)),
        ("kind".to_owned(), json!(managed.file.kind)),
        ("path".to_owned(), json!(shown)),
        ("status".to_owned(), json!(status)),
    ]);
    if let Some(note) = note {
        row.insert("note".into(), json!(note));
    }
    (status, Value::Object(row), refused)
}

fn none_for(host: Host) -> Error {
    let row = host.row();
    let sentence = match row.skills {
        super::SkillOwner::HostIntegration => format!(
            "skill delivery is owned by the selected host integration ({}); LoopX installs nothing there",
            row.activation.owner
        ),
        super::SkillOwner::Installer => {
            format!(
                "this version has no files for {}; its prompt is all that it needs",
                row.display
            )
        }
    };
    Error::new(ErrorCode::NotInstallable, row.name())
        .message(sentence)
        .next(format!("loopx heartbeat-prompt --host {}", row.name()))
}

/// The commands that the installed files bring.
pub fn slash_commands() -> Value {
    let command = |command: &str, intent: &str, writes: bool, cli: &str| json!({"command": command, "intent": intent, "mutation_policy": if writes { "the text is the confirmation for writes in this project" } else { "read_only" }, "cli_reference": cli});
    json!({
        "ok": true,
        "schema_version": "loopx_slash_command_catalog_v0",
        "canonical_prefix": "/loopx",
        "commands": [
            command("/loopx", "show where the goal stands", false, "loopx status"),
            command("/loopx <goal text>", "start the goal", true, "loopx start-goal --guided --slash-command-arguments TEXT"),
        ],
        "agent_contract": {
            "schema_version": "loopx_goal_start_agent_contract_v0",
            "planner_required_before_todo_write": true,
            "todo_write_order_defines_same_priority_rank": true,
            "host_loop_activation_required_after_todo_writeback": true,
            "host_loop_activation_catalog": "loopx agent-onboard --list-agent-types",
        },
        "next_command": "loopx install --host <host>",
    })
}

/// Whether `path` leads outside `folder` through a link of a folder that is there.
fn leaves(path: &Path, folder: &Path) -> bool {
    let there = path.ancestors().skip(1).find(|above| above.exists());
    match (there.map(Path::canonicalize), folder.canonicalize()) {
        (Some(Ok(real)), Ok(folder)) => !real.starts_with(folder),
        _ => true,
    }
}
