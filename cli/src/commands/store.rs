//! `loopx store ...` and `loopx migrate`

use std::cell::Cell;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use loopx_core::Result;
use loopx_core::kernel::{
    Kernel, MigrateRequest, Step, StoreBackupRequest, StoreCheckRequest, StorePruneRequest,
    StoreRestoreRequest,
};
use loopx_core::operation::Addressed;
use serde_json::Value;

use super::{at, write_at};
use crate::args::{At, WriteAt};

/// `store ...`
#[derive(Debug, Subcommand)]
pub enum Store {
    /// Compare stores with themselves and with what lies beside them (reads only)
    #[command(
        after_help = "Example:\n  loopx store check --goal-id demo\n\nWithout --goal-id every goal of the registry is checked. Exit status 1 means that there is a problem."
    )]
    Check(StoreCheck),
    /// Write a consistent copy of a goal to a folder
    #[command(
        after_help = "Example:\n  loopx store backup --all --dir backups/monday\n\nEach goal gets a new folder of its own in DIR; nothing is overwritten."
    )]
    Backup(StoreBackup),
    /// Put a backup in the place of a goal's store (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx store restore --goal-id demo --from backups/monday\n\nThe replaced store stays beside the new one. Edits of the state file are kept and taken in by the next write."
    )]
    Restore(StoreRestore),
    /// Take away history that no decision needs (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx store prune --goal-id demo --keep-days 90\n\nDays are counted back from the goal's newest commit. What is open, live or inside a window stays, and ids are never used again."
    )]
    Prune(StorePrune),
}

/// `store check`
#[derive(Debug, Args)]
pub struct StoreCheck {
    /// Goal [default: all of the registry]
    #[arg(long, value_name = "GOAL")]
    pub goal_id: Option<String>,
}

/// `store backup`
#[derive(Debug, Args)]
pub struct StoreBackup {
    #[command(flatten)]
    pub at: At,
    /// Every goal of the registry
    #[arg(long, conflicts_with = "goal_id")]
    pub all: bool,
    /// The folder; it is made when it is not there
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
}

/// `store restore`
#[derive(Debug, Args)]
pub struct StoreRestore {
    #[command(flatten)]
    pub at: At,
    /// The folder that `store backup` was given, or the goal's folder in it
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// How many commits of the present store are lost, when there are any
    #[arg(long, value_name = "N")]
    pub losing_commits: Option<u64>,
    /// Act
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

/// `store prune`
#[derive(Debug, Args)]
pub struct StorePrune {
    #[command(flatten)]
    pub at: WriteAt,
    /// Days of history that stay
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep_days: u32,
    /// Act
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

/// `migrate`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx migrate --goal-id demo --dry-run\n\nThe first write to a goal imports it too; --execute does it now and alone."
)]
pub struct Migrate {
    #[command(flatten)]
    pub at: At,
    /// Every goal of the registry
    #[arg(long, conflicts_with = "goal_id")]
    pub all: bool,
    /// Import
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(kernel: &Kernel, command: &Store) -> Result<Value> {
    let meter = Meter::new();
    let shown = |step: Step| meter.show(step);
    match command {
        Store::Check(args) => {
            let address = Addressed { goal_id: args.goal_id.clone(), effect_id: None };
            kernel.store_check(&address, &StoreCheckRequest {}, &shown)
        }
        Store::Backup(args) => {
            let request = StoreBackupRequest { dir: args.dir.clone(), all: args.all };
            kernel.store_backup(&at(&args.at), &request, &shown)
        }
        Store::Restore(args) => {
            let request = StoreRestoreRequest {
                from: args.from.clone(),
                losing_commits: args.losing_commits,
                execute: args.execute,
            };
            kernel.store_restore(&at(&args.at), &request)
        }
        Store::Prune(args) => {
            let request = StorePruneRequest { keep_days: args.keep_days, execute: args.execute };
            kernel.store_prune(&write_at(&args.at), &request, &shown)
        }
    }
}

pub fn migrate(kernel: &Kernel, args: &Migrate) -> Result<Value> {
    let meter = Meter::new();
    let request = MigrateRequest { all: args.all, execute: args.execute };
    kernel.migrate(&at(&args.at), &request, &|step| meter.show(step))
}

/// Progress on a terminal's standard error, once the work has taken a second.
struct Meter {
    begun: Instant,
    terminal: bool,
    shown: Cell<bool>,
}

impl Meter {
    const QUIET: Duration = Duration::from_secs(1);

    fn new() -> Self {
        Self {
            begun: Instant::now(),
            terminal: io::stderr().is_terminal(),
            shown: Cell::new(false),
        }
    }

    fn show(&self, step: Step) {
        let late = self.begun.elapsed() >= Self::QUIET;
        if self.terminal && (late || self.shown.get()) {
            self.shown.set(true);
            let end = if step.done == step.of { "\n" } else { "" };
            let mut out = io::stderr().lock();
            // A terminal that is gone is no failure of the work.
            let _ = write!(out, "\r{} {} of {}{end}", step.what, step.done, step.of);
            let _ = out.flush();
        }
    }
}
