//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::agent::{Agent, RegisterAgent};
use crate::commands::call::Call;
use crate::commands::feedback::Feedback;
use crate::commands::gate::Gate;
use crate::commands::goal::{Goal, GoalLifecycle};
use crate::commands::host::{Connectors, HeartbeatPrompt, HostModePlan, ValueConnectors};
use crate::commands::install::{Doctor, Install, SlashCommands};
use crate::commands::lease::{Handoff, TaskLease};
use crate::commands::loops::Loop;
use crate::commands::manual::{Completions, Errors, Man, Schema};
use crate::commands::monitor::Monitor;
use crate::commands::quota::Quota;
use crate::commands::refresh::RefreshState;
use crate::commands::report::{Diagnose, EvidenceLog, Explain, History, Status};
use crate::commands::start::{
    AgentOnboard, BindThread, CodexCliMessage, CommandPack, Init, ResolveThread, StartGoal,
    UnbindThread,
};
use crate::commands::store::{Migrate, Store};
use crate::commands::todo::Todo;
use crate::commands::transfer::{Export, Import};
use crate::commands::turn::Turn;
use crate::commands::worker::Worker;

/// Decides whether an agent may run, on which todo, and when to look again.
///
/// Before each wake of an agent ask `loopx quota should-run`; after the work record it
/// with `loopx todo complete` and `loopx refresh-state`, and spend one slot with
/// `loopx quota spend-slot --execute`.
#[derive(Debug, Parser)]
#[command(
    name = "loopx",
    version,
    about,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "Example:\n  loopx status"
)]
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
    /// Connect this project: make its goal, or find it
    Init(Init),
    /// Start a goal on a host: agent, todos, activation and prompt (a preview
    /// without --execute)
    StartGoal(Box<StartGoal>),
    /// Work with todos
    #[command(subcommand, after_help = "Example:\n  loopx todo list --goal-id demo")]
    Todo(Box<Todo>),
    /// See and decide what waits for a person
    #[command(subcommand, after_help = "Example:\n  loopx gate list --goal-id demo")]
    Gate(Gate),
    /// See what is watched, and when it is looked at next
    #[command(subcommand, after_help = "Example:\n  loopx monitor list --goal-id demo")]
    Monitor(Monitor),
    /// Say something about the work: an agent is to think again
    Feedback(Feedback),
    /// Ask, spend and look at the window
    #[command(subcommand, after_help = "Example:\n  loopx quota status")]
    Quota(Quota),
    /// Admit, renew, release and settle turns
    #[command(
        subcommand,
        after_help = "Example:\n  loopx turn show --goal-id demo --turn-instance-id t-1"
    )]
    Turn(Turn),
    /// Run an agent's loop in a process of its own, and have it started
    #[command(
        subcommand,
        after_help = "Example:\n  loopx worker run --goal-id demo --agent-id agent-a --once"
    )]
    Worker(Worker),
    /// Take, renew, hand over and give back leases
    #[command(
        subcommand,
        after_help = "Example:\n  loopx task-lease inspect --goal-id demo --todo-id todo_1a2b3c"
    )]
    TaskLease(TaskLease),
    /// Show and set how work is handed over
    #[command(subcommand, after_help = "Example:\n  loopx handoff-mode show --goal-id demo")]
    HandoffMode(Handoff),
    /// Run the loop of a host that has no module of ours
    #[command(subcommand, after_help = "Example:\n  loopx loop show --goal-id demo")]
    Loop(Loop),
    /// Create, stop, resume and look at goals
    #[command(subcommand, after_help = "Example:\n  loopx goal list")]
    Goal(Goal),
    /// Register and list agents
    #[command(subcommand, after_help = "Example:\n  loopx agent list --goal-id demo")]
    Agent(Agent),
    /// Show one goal in whole, or a row of every goal
    Status(Status),
    /// Say why an agent may or may not run, and what would change it
    Explain(Explain),
    /// List commits, newest first
    History(History),
    /// List evidence, outcomes and spends, newest first
    EvidenceLog(EvidenceLog),
    /// Say what is wrong and how to mend it
    Diagnose(Diagnose),
    /// Record what was delivered
    RefreshState(RefreshState),
    /// Write a goal as one JSON file
    Export(Export),
    /// Take an exported goal in
    Import(Import),
    /// Check, back up, restore and prune stores
    #[command(subcommand, after_help = "Example:\n  loopx store check --goal-id demo")]
    Store(Store),
    /// Show what an import of an earlier project would do, or import it
    Migrate(Migrate),
    /// Say what a host's agent is told at each wake
    HeartbeatPrompt(Box<HeartbeatPrompt>),
    /// Say which way of running a host fits what is wanted, and what is missing
    HostModePlan(Box<HostModePlan>),
    /// List and show the connectors of hosts
    #[command(subcommand, after_help = "Example:\n  loopx connectors list")]
    Connectors(Connectors),
    /// List what brings something in from outside
    ValueConnectors(ValueConnectors),
    /// Put the files of hosts in place, or take them away
    Install(Install),
    /// List the commands that installed files bring to hosts, or install them
    SlashCommands(SlashCommands),
    /// Say what is wrong with installation, routes, goals and hosts
    Doctor(Doctor),
    /// Say how an agent comes to loop on a host
    AgentOnboard(AgentOnboard),
    /// List the commands that set a host up
    BootstrapCommandPack(CommandPack),
    /// Say what is pasted into Codex CLI first
    CodexCliBootstrapMessage(CodexCliMessage),
    /// Bind a host's thread to an agent (a preview without --execute)
    BindAgentThread(BindThread),
    /// Take a thread's binding away (a preview without --execute)
    UnbindAgentThread(UnbindThread),
    /// Say which agent a host's thread stands for
    ResolveAgentThread(ResolveThread),
    /// Call an operation by name with a JSON request
    Call(Call),
    /// Register agents (form of the earlier tool; a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx register-agent --goal-id demo --agent-id agent-c --execute"
    )]
    RegisterAgent(RegisterAgent),
    /// Stop or resume a goal (form of the earlier tool; a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx goal-lifecycle --goal-id demo --operation stop --execute"
    )]
    GoalLifecycle(GoalLifecycle),
    /// Print the catalogue of errors
    Errors(Errors),
    /// Print JSON Schemas of requests and of the packet
    Schema(Schema),
    /// Print a shell's completions
    Completions(Completions),
    /// Print the manual page
    Man(Man),
}

impl Command {
    /// Whether the answer's text is a document that is printed as it is, so that it can be
    /// piped or saved.
    pub fn is_document(&self) -> bool {
        match self {
            Self::Export(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Worker(Worker::Install(_)) => true,
            Self::HeartbeatPrompt(prompt) => prompt.body_only,
            Self::BootstrapCommandPack(args) => args.pack.message_only,
            Self::CodexCliBootstrapMessage(args) => args.pack.message_only,
            _ => false,
        }
    }
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
