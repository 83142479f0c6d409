//! `loopx install`, `slash-commands` and `doctor`.

use std::path::PathBuf;

use clap::Args;
use loopx_core::Result;
use loopx_core::host::install::{InstallRequest, install, slash_commands};
use loopx_core::kernel::{DoctorRequest, Kernel, Surroundings};
use serde_json::Value;

use super::at;
use crate::args::At;
use crate::{doors, surroundings};

/// `install`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx install --host codex --dry-run\n\nA file that LoopX brought says so on its last line. Files of yours, and your edits\nof LoopX's files, are left alone, and the answer names them."
)]
pub struct Install {
    /// The host, such as codex or claude-code (repeat)
    #[arg(long = "host", visible_alias = "surface", value_name = "HOST", required = true)]
    pub hosts: Vec<String>,
    /// Into this project instead of your own folders
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Take the files away
    #[arg(long)]
    pub uninstall: bool,
    /// Only show what would be done
    #[arg(long)]
    pub dry_run: bool,
}

/// `slash-commands`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx slash-commands")]
pub struct SlashCommands {
    /// Install their files
    #[arg(long, conflicts_with = "uninstall")]
    pub install: bool,
    /// Take their files away
    #[arg(long)]
    pub uninstall: bool,
    /// The host (repeat) [default: codex and claude-code]
    #[arg(long = "surface", value_name = "HOST")]
    pub surfaces: Vec<String>,
    /// Into this project instead of your own folders
    #[arg(long, visible_alias = "pi-project", value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Only show what would be done
    #[arg(long)]
    pub dry_run: bool,
}

/// `doctor`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx doctor\n\nIt starts nothing, unless --versions asks the hosts' programs for theirs. With --host\nit refuses skill delivery to a host on which no loop is switched on."
)]
pub struct Doctor {
    #[command(flatten)]
    pub at: At,
    /// The host to which skills are to be delivered
    #[arg(long, visible_alias = "agent-type", value_name = "HOST")]
    pub host: Option<String>,
    /// Whose loop [default: every agent's]
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Run each host's program with --version where no file says it
    #[arg(long)]
    pub versions: bool,
}

/// `install`: it needs no registry.
pub fn run(args: &Install) -> Result<Value> {
    let request = InstallRequest {
        hosts: args.hosts.clone(),
        uninstall: args.uninstall,
        dry_run: args.dry_run,
        project: args.project.clone(),
    };
    install(&request, &doors::places(args.project.as_deref()))
}

/// `slash-commands`
pub fn slash(args: &SlashCommands) -> Result<Value> {
    if !args.install && !args.uninstall {
        return Ok(slash_commands());
    }
    let mut hosts = args.surfaces.clone();
    if hosts.is_empty() {
        hosts = vec!["codex".into(), "claude-code".into()];
    }
    let request = InstallRequest {
        hosts,
        uninstall: args.uninstall,
        dry_run: args.dry_run,
        project: args.project.clone(),
    };
    install(&request, &doors::places(args.project.as_deref()))
}

/// `doctor`
pub fn doctor(kernel: &Kernel, args: &Doctor) -> Result<Value> {
    let request = DoctorRequest { host: args.host.clone(), agent_id: args.agent_id.clone() };
    let around = Surroundings {
        on_path: doors::search_path().map(|path| surroundings::programs(&path, args.versions)),
        places: doors::places(None),
    };
    kernel.doctor(&at(&args.at), &request, &around)
}
