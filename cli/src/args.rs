//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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

/// Whose list.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleArg {
    /// A person's.
    User,
    /// The agents'.
    Agent,
}

/// `todo ...`
#[derive(Debug, Subcommand)]
pub enum Todo {
    /// Add a todo
    #[command(
        after_help = "Example:\n  loopx todo add --goal-id demo --role agent --text \"[P1] Write the parser\""
    )]
    Add(Box<TodoAdd>),
    /// List todos
    #[command(after_help = "Example:\n  loopx todo list --goal-id demo --status open")]
    List(TodoList),
    /// Claim a todo for one agent
    #[command(
        after_help = "Example:\n  loopx todo claim --goal-id demo --todo-id todo_1a2b3c --claimed-by agent-a"
    )]
    Claim(TodoClaim),
    /// Change a todo
    #[command(
        after_help = "Example:\n  loopx todo update --goal-id demo --todo-id todo_1a2b3c --status blocked --reason \"no access\""
    )]
    Update(Box<TodoUpdate>),
    /// Finish a todo, or decide a gate
    #[command(
        after_help = "Example:\n  loopx todo complete --goal-id demo --todo-id todo_1a2b3c --evidence \"tests pass\" --no-follow-up"
    )]
    Complete(Box<TodoComplete>),
}

/// Fields of a todo.
#[derive(Clone, Debug, Default, Args)]
pub struct FieldArgs {
    /// Remark
    #[arg(long)]
    pub note: Option<String>,
    /// Why it is blocked
    #[arg(long)]
    pub reason: Option<String>,
    /// advancement_task, continuous_monitor, user_gate, user_action or blocker
    #[arg(long, value_name = "CLASS", value_parser = classes())]
    pub task_class: Option<String>,
    /// Kind of work, such as implement or docs
    #[arg(long, value_name = "WORD")]
    pub action_kind: Option<String>,
    /// Domain word
    #[arg(long, value_name = "WORD")]
    pub task_domain: Option<String>,
    /// Repository that the work belongs to
    #[arg(long, value_name = "REPO")]
    pub task_repository: Option<String>,
    /// independent_handoff or same_agent_non_delivery
    #[arg(long, value_name = "POLICY")]
    pub continuation_policy: Option<String>,
    /// Path glob that the work writes (repeat)
    #[arg(long = "required-write-scope", alias = "required-write-scopes", value_name = "GLOB")]
    pub required_write_scopes: Vec<String>,
    /// Capability that the agent must have (repeat)
    #[arg(long = "required-capability", value_name = "NAME")]
    pub required_capabilities: Vec<String>,
    /// Capability that the work is there to obtain (repeat)
    #[arg(long = "target-capability", value_name = "NAME")]
    pub target_capabilities: Vec<String>,
    /// Gates: the scope decided, kind:granularity:key
    #[arg(long, value_name = "SCOPE")]
    pub decision_scope: Option<String>,
    /// Scope that must be granted first (repeat)
    #[arg(long = "required-decision-scope", value_name = "SCOPE")]
    pub required_decision_scopes: Vec<String>,
    /// User todos: the agent it concerns
    #[arg(long, value_name = "AGENT")]
    pub bound_agent: Option<String>,
    /// User todos: it concerns every agent
    #[arg(long)]
    pub goal_bound: bool,
    /// Gates: the agent it blocks
    #[arg(long, value_name = "AGENT")]
    pub blocks_agent: Option<String>,
    /// Gates: it blocks every agent
    #[arg(long)]
    pub global_gate: bool,
    /// Agent that may not take it (repeat)
    #[arg(long = "excluded-agent", value_name = "AGENT")]
    pub excluded_agents: Vec<String>,
    /// Gates: the todo it blocks
    #[arg(long, value_name = "TODO")]
    pub unblocks_todo_id: Option<String>,
    /// todo_done:ID, pr_merged:REF or capacity_available:NAME
    #[arg(long, value_name = "CONDITION")]
    pub resume_when: Option<String>,
    /// Monitors: what is watched
    #[arg(long, value_name = "KEY")]
    pub target_key: Option<String>,
    /// Monitors: how often, such as 30m
    #[arg(long, value_name = "TIME")]
    pub cadence: Option<String>,
    /// Monitors: when next, RFC 3339
    #[arg(long, value_name = "INSTANT")]
    pub next_due_at: Option<String>,
    /// Monitors: until when, RFC 3339
    #[arg(long, value_name = "INSTANT")]
    pub expires_at: Option<String>,
    /// Monitors: only watched, never closed
    #[arg(long)]
    pub watch_only: bool,
}

fn classes() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(
        loopx_core::model::TaskClass::ALL.iter().map(|(_, text)| *text),
    )
}

fn statuses() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(
        loopx_core::model::TodoStatus::ALL.iter().map(|(_, text)| *text),
    )
}

/// `todo add`
#[derive(Debug, Args)]
pub struct TodoAdd {
    #[command(flatten)]
    pub at: WriteAt,
    /// Whose list
    #[arg(long, value_enum)]
    pub role: RoleArg,
    /// The line; begin it with [P0] to [P4] for a priority
    #[arg(long)]
    pub text: String,
    /// open, blocked or deferred
    #[arg(long, value_parser = statuses())]
    pub status: Option<String>,
    /// Who adds it
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Who holds it
    #[arg(long, value_name = "AGENT")]
    pub claimed_by: Option<String>,
    #[command(flatten)]
    pub fields: FieldArgs,
}

/// `todo list`
#[derive(Debug, Args)]
pub struct TodoList {
    #[command(flatten)]
    pub at: At,
    /// One role only
    #[arg(long, value_enum)]
    pub role: Option<RoleArg>,
    /// One status only
    #[arg(long, value_parser = statuses())]
    pub status: Option<String>,
    /// One todo only
    #[arg(long, value_name = "TODO")]
    pub todo_id: Option<String>,
    /// What this agent may see
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// At most so many
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// With archived ones
    #[arg(long)]
    pub archived: bool,
}

/// `todo claim`
#[derive(Debug, Args)]
pub struct TodoClaim {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
    /// For whom
    #[arg(long, value_name = "AGENT")]
    pub claimed_by: Option<String>,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
}

/// `todo update`
#[derive(Debug, Args)]
pub struct TodoUpdate {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// New text
    #[arg(long)]
    pub text: Option<String>,
    /// New status
    #[arg(long, value_parser = statuses())]
    pub status: Option<String>,
    /// Give it to
    #[arg(long, value_name = "AGENT")]
    pub claimed_by: Option<String>,
    /// Take the claim off
    #[arg(long)]
    pub clear_claim: bool,
    /// Take the blocked agent off
    #[arg(long)]
    pub clear_blocks_agent: bool,
    /// Take the exclusions off
    #[arg(long)]
    pub clear_excluded_agents: bool,
    /// It no longer blocks every agent
    #[arg(long)]
    pub clear_global_gate: bool,
    /// Take the condition off
    #[arg(long)]
    pub clear_resume_when: bool,
    /// Todo that follows it (repeat)
    #[arg(long = "successor-todo-id", value_name = "TODO")]
    pub successor_todo_ids: Vec<String>,
    /// Nothing follows it
    #[arg(long)]
    pub no_follow_up: bool,
    #[command(flatten)]
    pub fields: FieldArgs,
}

/// `todo complete`
#[derive(Debug, Args)]
pub struct TodoComplete {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// What shows that it is done
    #[arg(long)]
    pub evidence: Option<String>,
    /// Remark
    #[arg(long)]
    pub note: Option<String>,
    /// Nothing follows
    #[arg(long)]
    pub no_follow_up: bool,
    /// Existing todo that follows (repeat)
    #[arg(long = "successor-todo-id", value_name = "TODO")]
    pub successor_todo_ids: Vec<String>,
    /// New agent todo that follows
    #[arg(long, value_name = "TEXT")]
    pub next_agent_todo: Option<String>,
    /// Who holds the new agent todo
    #[arg(long, value_name = "AGENT", requires = "next_agent_todo")]
    pub next_claimed_by: Option<String>,
    /// Class of the new agent todo
    #[arg(long, value_name = "CLASS", requires = "next_agent_todo", value_parser = classes())]
    pub next_task_class: Option<String>,
    /// Kind of the new agent todo
    #[arg(long, value_name = "WORD", requires = "next_agent_todo")]
    pub next_action_kind: Option<String>,
    /// New user todo that follows
    #[arg(long, value_name = "TEXT")]
    pub next_user_todo: Option<String>,
    /// user_gate or user_action
    #[arg(long, value_name = "CLASS", requires = "next_user_todo", value_parser = classes())]
    pub next_user_task_class: Option<String>,
    /// Gates: the decision
    #[arg(long, value_name = "OUTCOME", value_parser = ["approve", "reject", "cancel"])]
    pub decision_outcome: Option<String>,
    /// The turn in which it was done
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
}

/// `quota ...`
#[derive(Debug, Subcommand)]
pub enum Quota {
    /// May this agent run, on what, and when to look again
    #[command(
        after_help = "Example:\n  loopx quota should-run --goal-id demo --agent-id agent-a\n\nExit status 0 means that an answer was reached, also when it is \"do not run\"."
    )]
    ShouldRun(Box<ShouldRun>),
    /// Show the windows of one goal or of all
    #[command(after_help = "Example:\n  loopx quota status")]
    Status(At),
    /// Spend slots for a delivered outcome (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx quota spend-slot --goal-id demo --agent-id agent-a --todo-id todo_1a2b3c --execute"
    )]
    SpendSlot(SpendSlot),
}

/// `quota should-run`
#[derive(Debug, Args)]
pub struct ShouldRun {
    #[command(flatten)]
    pub at: At,
    /// Who asks
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Capability that the agent has beside shell and file access (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// Bind the answer to this turn: the write `turn admit`
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// Add a section (repeat)
    #[arg(long, value_name = "SECTION", value_parser = details())]
    pub include_detail: Vec<String>,
    /// The agent works in a worktree of its own [default: found from the working directory]
    #[arg(long)]
    pub independent_worktree: bool,
    #[command(flatten)]
    pub host: HostArgs,
}

fn details() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(
        loopx_core::admission::Detail::NAMES.map(|(name, _)| name),
    )
}

/// Who wakes the agent, in the earlier tool's words.
#[derive(Clone, Debug, Default, Args)]
pub struct HostArgs {
    /// Runtime profile of the host
    #[arg(long, value_name = "PROFILE", value_parser = profiles(), conflicts_with_all = ["codex_app", "host_surface", "scheduler_owner", "execution_mode"])]
    pub runtime_profile: Option<String>,
    /// Same as --runtime-profile codex_app_heartbeat
    #[arg(short = 'A', long, conflicts_with_all = ["host_surface", "scheduler_owner", "execution_mode"])]
    pub codex_app: bool,
    /// Host surface
    #[arg(short = 'H', long, value_name = "SURFACE", requires_all = ["scheduler_owner", "execution_mode"])]
    pub host_surface: Option<String>,
    /// Who owns the schedule
    #[arg(short = 'O', long, value_name = "OWNER", requires = "host_surface")]
    pub scheduler_owner: Option<String>,
    /// How the host runs
    #[arg(short = 'M', long, value_name = "MODE", requires = "host_surface")]
    pub execution_mode: Option<String>,
}

fn profiles() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(
        loopx_core::schedule::context::PROFILES.iter().map(|p| p.name),
    )
}

/// `quota spend-slot`
#[derive(Debug, Args)]
pub struct SpendSlot {
    #[command(flatten)]
    pub at: WriteAt,
    /// Who spends
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// For which todo
    #[arg(long, value_name = "TODO")]
    pub todo_id: Option<String>,
    /// How many
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub slots: i64,
    /// heartbeat, controller, adapter or visible-goal
    #[arg(long, default_value = "heartbeat", value_parser = loopx_core::command::quota::SOURCES)]
    pub source: String,
    /// The turn
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// Act
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

/// `refresh-state`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx refresh-state --goal-id demo --agent-id agent-a --todo-id todo_1a2b3c --delivery-outcome outcome_progress"
)]
pub struct RefreshState {
    #[command(flatten)]
    pub at: WriteAt,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// What was worked on
    #[arg(long, value_name = "TODO")]
    pub todo_id: Option<String>,
    /// The turn
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// What was delivered
    #[arg(long, value_name = "OUTCOME", value_parser = outcomes())]
    pub delivery_outcome: Option<String>,
    /// Your word for it
    #[arg(long, value_name = "WORD")]
    pub classification: Option<String>,
    /// What to do next
    #[arg(long, value_name = "TEXT")]
    pub recommended_action: Option<String>,
    /// What shows the delivery (repeat)
    #[arg(long, value_name = "TEXT")]
    pub evidence: Vec<String>,
    /// Tokens that the model read
    #[arg(long, value_name = "N")]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote
    #[arg(long, value_name = "N")]
    pub output_tokens: Option<u64>,
}

fn outcomes() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(
        loopx_core::model::OutcomeKind::ALL.iter().map(|(_, text)| *text),
    )
}

/// `goal ...`
#[derive(Debug, Subcommand)]
pub enum Goal {
    /// Create a goal in this project
    #[command(
        after_help = "Example:\n  loopx goal create --goal-id demo --objective \"Ship the demo\" --agent-id agent-a"
    )]
    Create(GoalCreate),
    /// Stop a goal: nothing of it starts any more
    Stop(GoalStop),
    /// Resume a stopped goal
    Resume(WriteAt),
    /// List goals
    List,
    /// Show one goal
    Show(At),
    /// Take in what the earlier tool wrote after the import
    AdoptLegacy(WriteAt),
}

/// `goal create`
#[derive(Debug, Args)]
pub struct GoalCreate {
    #[command(flatten)]
    pub at: WriteAt,
    /// What the goal is for
    #[arg(long)]
    pub objective: Option<String>,
    /// First agents (repeat, or separate by commas)
    #[arg(long = "agent-id", value_name = "AGENT", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// State file, relative to the project
    #[arg(long, value_name = "FILE")]
    pub state_file: Option<String>,
    /// Path glob that agents may write (repeat)
    #[arg(long = "write-scope", value_name = "GLOB")]
    pub write_scope: Vec<String>,
    /// Share of the window, 0 to 1
    #[arg(long)]
    pub compute: Option<f64>,
    /// Window in hours
    #[arg(long)]
    pub window_hours: Option<u32>,
    /// Slot in minutes
    #[arg(long)]
    pub slot_minutes: Option<u32>,
    /// Slots in the window
    #[arg(long)]
    pub allowed_slots: Option<u64>,
}

/// `goal stop`
#[derive(Debug, Args)]
pub struct GoalStop {
    #[command(flatten)]
    pub at: WriteAt,
    /// Why
    #[arg(long)]
    pub reason: Option<String>,
}

/// `agent ...`
#[derive(Debug, Subcommand)]
pub enum Agent {
    /// Add agents to a goal's roster
    #[command(after_help = "Example:\n  loopx agent register --goal-id demo --agent-id agent-a")]
    Register(AgentRegister),
    /// List a goal's agents
    List(At),
}

/// `agent register`
#[derive(Debug, Args)]
pub struct AgentRegister {
    #[command(flatten)]
    pub at: WriteAt,
    /// Who (repeat, or separate by commas)
    #[arg(long = "agent-id", value_name = "AGENT", required = true)]
    pub agents: Vec<String>,
    /// Refuse agents that are registered already
    #[arg(long)]
    pub require_new: bool,
}

/// `register-agent`
#[derive(Debug, Args)]
pub struct RegisterAgent {
    #[command(flatten)]
    pub register: AgentRegister,
    /// Act
    #[arg(long)]
    pub execute: bool,
}

/// What to do to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LifecycleArg {
    /// Nothing of it starts.
    Stop,
    /// It goes on.
    Resume,
}

/// `goal-lifecycle`
#[derive(Debug, Args)]
pub struct GoalLifecycle {
    #[command(flatten)]
    pub stop: GoalStop,
    /// What to do
    #[arg(long, value_enum)]
    pub operation: LifecycleArg,
    /// Act
    #[arg(long)]
    pub execute: bool,
}

/// `export`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx export --goal-id demo --file demo.json")]
pub struct Export {
    #[command(flatten)]
    pub at: At,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `import`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx import --file demo.json")]
pub struct Import {
    /// The file that `loopx export` wrote
    #[arg(long, value_name = "FILE")]
    pub file: PathBuf,
}
