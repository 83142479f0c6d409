//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::agent::{Agent, RegisterAgent};
use crate::commands::goal::{Goal, GoalLifecycle};
use crate::commands::quota::Quota;
use crate::commands::refresh::RefreshState;
use crate::commands::store::{Migrate, Store};
use crate::commands::todo::Todo;
use crate::commands::transfer::{Export, Import};

/// Decides whether an agent may run, on which todo, and when to look again.
///
/// Before each wake of an agent ask `loopx quota should-run`; after the work record it
/// with `loopx todo complete` and `loopx refresh-state`, and spend one slot with
/// `loopx quota spend-slot --execute`.
#[derive(Debug, Parser)]
#[command(name = "loopx", version, about, propagate_version = true, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Registry file [default: the nearest .loopx/registry.json upward, else the global one]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub registry: Option<PathBuf>,
    /// Folder of stores and ledgers [default: the registry's]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub runtime_root: Option<PathBuf>,
    /// Answer as JSON or as text [default: text on a terminal, JSON elsewhere]
    #[arg(long, global = true, value_enum, help_heading = "Global options")]
    pub format: Option<FormatArg>,
    /// Show the local cause of an error on stderr
    #[arg(long, global = true, help_heading = "Global options")]
    pub verbose: bool,
}

/// How to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// One JSON object.
    Json,
    /// For people.
    #[value(alias = "markdown")]
    Text,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Work with todos
    #[command(subcommand)]
    Todo(Box<Todo>),
    /// Ask, spend and look at the window
    #[command(subcommand)]
    Quota(Quota),
    /// Create, stop, resume and look at goals
    #[command(subcommand)]
    Goal(Goal),
    /// Register and list agents
    #[command(subcommand)]
    Agent(Agent),
    /// Record what was delivered
    RefreshState(RefreshState),
    /// Write a goal as one JSON file
    Export(Export),
    /// Take an exported goal in
    Import(Import),
    /// Check, back up, restore and prune stores
    #[command(subcommand)]
    Store(Store),
    /// Show what an import of an earlier project would do, or import it
    Migrate(Migrate),
    /// Register agents (form of the earlier tool; a preview without --execute)
    RegisterAgent(RegisterAgent),
    /// Stop or resume a goal (form of the earlier tool; a preview without --execute)
    GoalLifecycle(GoalLifecycle),
}

/// Which goal, and the identity of a write.
#[derive(Clone, Debug, Args)]
pub struct At {
    /// Goal [default: the registry's only one]
    #[arg(long, value_name = "GOAL")]
    pub goal_id: Option<String>,
}

/// Which goal, and the identity of a write.
#[derive(Clone, Debug, Args)]
pub struct WriteAt {
    /// Goal [default: the registry's only one]
    #[arg(long, value_name = "GOAL")]
    pub goal_id: Option<String>,
    /// Identity of this write: repeating it answers the first receipt
    #[arg(long, value_name = "ID")]
    pub effect_id: Option<String>,
}
