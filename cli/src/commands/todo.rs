//! `loopx todo ...`

use clap::{Args, Subcommand, ValueEnum};
use loopx_core::command::todo::{
    TodoAddRequest, TodoClaimRequest, TodoListRequest, TodoUpdateRequest,
};
use loopx_core::command::todo_complete::{DecisionOutcome, TodoCompleteRequest};
use loopx_core::command::todo_fields::TodoFields;
use loopx_core::kernel::Kernel;
use loopx_core::model::{TaskClass, TodoStatus};
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

use super::todo_verbs::{
    self, CaptureFollowups, TodoArchive, TodoArchiveCompleted, TodoSuggest, TodoSupersede,
};
use super::{at, role, word, write_at};
use crate::args::{At, WriteAt};

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
        after_help = "Example:\n  loopx todo update --goal-id demo --todo-id todo_1a2b3c \\\n      --status blocked --reason \"no access\""
    )]
    Update(Box<TodoUpdate>),
    /// Finish a todo, or decide a gate
    #[command(
        after_help = "Example:\n  loopx todo complete --goal-id demo --agent-id agent-a \\\n      --todo-id todo_1a2b3c --evidence \"tests pass\" --no-follow-up"
    )]
    Complete(Box<TodoComplete>),
    /// Close a todo in favour of another
    #[command(
        after_help = "Example:\n  loopx todo supersede --goal-id demo --agent-id agent-a \\\n      --todo-id todo_1a2b3c --next-agent-todo \"Use the library's parser\" \\\n      --reason \"it exists already\""
    )]
    Supersede(Box<TodoSupersede>),
    /// Take a done todo off the state file; the store keeps it
    #[command(after_help = "Example:\n  loopx todo archive --goal-id demo --todo-id todo_0d9e8f")]
    Archive(TodoArchive),
    /// Take all but the last done todos off the state file (a preview without --execute)
    #[command(
        after_help = "Example:\n  loopx todo archive-completed --goal-id demo --keep 10 --execute"
    )]
    ArchiveCompleted(TodoArchiveCompleted),
    /// Add what came to light while a todo was worked on
    #[command(
        after_help = "Example:\n  loopx todo capture-followups --goal-id demo --agent-id agent-a \\\n      --todo-id todo_1a2b3c --evidence \"two parser tests are skipped\" \\\n      --followup \"Unskip the parser tests\""
    )]
    CaptureFollowups(CaptureFollowups),
    /// Show what an agent that plans should look at
    #[command(after_help = "Example:\n  loopx todo suggest --goal-id demo --agent-id agent-a")]
    Suggest(TodoSuggest),
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

pub(super) fn classes() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(TaskClass::ALL.iter().map(|(_, text)| *text))
}

fn statuses() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(TodoStatus::ALL.iter().map(|(_, text)| *text))
}

/// The statuses in which a todo can be added. `done` is not among what help shows, and is
/// refused by its code and not as a word that nobody knows.
fn statuses_to_add() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(TodoStatus::ALL.iter().map(|(status, text)| {
        clap::builder::PossibleValue::new(*text).hide(*status == TodoStatus::Done)
    }))
}

/// `todo add`
#[derive(Debug, Args)]
pub struct TodoAdd {
    #[command(flatten)]
    pub at: WriteAt,
    /// Whose list
    #[arg(long, value_enum)]
    pub role: RoleArg,
    /// The line; begin it with `[P0]` to `[P4]` for a priority
    #[arg(long)]
    pub text: String,
    /// open, blocked or deferred
    #[arg(long, value_parser = statuses_to_add())]
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
    /// It no longer blocks that todo
    #[arg(long)]
    pub clear_unblocks_todo_id: bool,
    /// It no longer decides that scope
    #[arg(long)]
    pub clear_decision_scope: bool,
    /// Take the condition off
    #[arg(long)]
    pub clear_resume_when: bool,
    /// Take the remark off
    #[arg(long)]
    pub clear_note: bool,
    /// Take the reason off
    #[arg(long)]
    pub clear_reason: bool,
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
    #[arg(long, value_name = "OUTCOME", value_parser = OUTCOMES)]
    pub decision_outcome: Option<String>,
    /// The turn in which it was done
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
}

pub fn run(kernel: &Kernel, command: &Todo) -> Result<Value> {
    match command {
        Todo::Add(args) => add(kernel, args),
        Todo::List(args) => list(kernel, args),
        Todo::Claim(args) => claim(kernel, args),
        Todo::Update(args) => update(kernel, args),
        Todo::Complete(args) => complete(kernel, args),
        Todo::Supersede(args) => todo_verbs::supersede(kernel, args),
        Todo::Archive(args) => todo_verbs::archive(kernel, args),
        Todo::ArchiveCompleted(args) => todo_verbs::archive_completed(kernel, args),
        Todo::CaptureFollowups(args) => todo_verbs::capture_followups(kernel, args),
        Todo::Suggest(args) => todo_verbs::suggest(kernel, args),
    }
}

/// A flag that was given says yes; one that was not says nothing.
fn flag(given: bool) -> Option<bool> {
    given.then_some(true)
}

fn fields(args: &FieldArgs, claimed_by: Option<&String>) -> Result<TodoFields> {
    Ok(TodoFields {
        note: args.note.clone(),
        reason: args.reason.clone(),
        task_class: word(TaskClass::parse, "task_class", args.task_class.as_deref())?,
        action_kind: args.action_kind.clone(),
        task_domain: args.task_domain.clone(),
        task_repository: args.task_repository.clone(),
        continuation_policy: args.continuation_policy.clone(),
        required_write_scopes: args.required_write_scopes.clone(),
        required_capabilities: args.required_capabilities.clone(),
        target_capabilities: args.target_capabilities.clone(),
        decision_scope: args.decision_scope.clone(),
        required_decision_scopes: args.required_decision_scopes.clone(),
        claimed_by: claimed_by.cloned(),
        bound_agent: args.bound_agent.clone(),
        goal_bound: flag(args.goal_bound),
        blocks_agent: args.blocks_agent.clone(),
        global_gate: flag(args.global_gate),
        excluded_agents: args.excluded_agents.clone(),
        unblocks_todo_id: args.unblocks_todo_id.clone(),
        resume_when: args.resume_when.clone(),
        target_key: args.target_key.clone(),
        cadence: args.cadence.clone(),
        next_due_at: args.next_due_at.clone(),
        expires_at: args.expires_at.clone(),
        watch_only: flag(args.watch_only),
    })
}

fn add(kernel: &Kernel, args: &TodoAdd) -> Result<Value> {
    let request = TodoAddRequest {
        role: role(args.role),
        text: args.text.clone(),
        status: word(TodoStatus::parse, "status", args.status.as_deref())?,
        agent_id: args.agent_id.clone(),
        fields: fields(&args.fields, args.claimed_by.as_ref())?,
    };
    kernel.todo_add(&write_at(&args.at), &request)
}

fn list(kernel: &Kernel, args: &TodoList) -> Result<Value> {
    let request = TodoListRequest {
        role: args.role.map(role),
        status: word(TodoStatus::parse, "status", args.status.as_deref())?,
        todo_id: args.todo_id.clone(),
        agent_id: args.agent_id.clone(),
        limit: args.limit.and_then(|n| usize::try_from(n).ok()),
        archived: args.archived,
    };
    kernel.todo_list(&at(&args.at), &request)
}

fn claim(kernel: &Kernel, args: &TodoClaim) -> Result<Value> {
    let request = TodoClaimRequest {
        todo_id: args.todo_id.clone(),
        claimed_by: args.claimed_by.clone(),
        agent_id: args.agent_id.clone(),
    };
    kernel.todo_claim(&write_at(&args.at), &request)
}

fn update(kernel: &Kernel, args: &TodoUpdate) -> Result<Value> {
    let clear = [
        ("claim", args.clear_claim),
        ("blocks-agent", args.clear_blocks_agent),
        ("excluded-agents", args.clear_excluded_agents),
        ("global-gate", args.clear_global_gate),
        ("unblocks-todo-id", args.clear_unblocks_todo_id),
        ("decision-scope", args.clear_decision_scope),
        ("resume-when", args.clear_resume_when),
        ("note", args.clear_note),
        ("reason", args.clear_reason),
    ];
    let request = TodoUpdateRequest {
        todo_id: args.todo_id.clone(),
        agent_id: args.agent_id.clone(),
        text: args.text.clone(),
        status: word(TodoStatus::parse, "status", args.status.as_deref())?,
        clear: clear
            .iter()
            .filter(|(_, given)| *given)
            .map(|(name, _)| (*name).to_owned())
            .collect(),
        successor_todo_ids: args.successor_todo_ids.clone(),
        no_follow_up: args.no_follow_up,
        fields: fields(&args.fields, args.claimed_by.as_ref())?,
    };
    kernel.todo_update(&write_at(&args.at), &request)
}

/// The outcomes of a decision, as they are written.
pub(super) const OUTCOMES: [&str; 3] = ["approve", "reject", "cancel"];

pub(super) fn outcome(text: &str) -> Result<DecisionOutcome> {
    match text {
        "approve" => Ok(DecisionOutcome::Approve),
        "reject" => Ok(DecisionOutcome::Reject),
        "cancel" => Ok(DecisionOutcome::Cancel),
        _ => Err(Error::new(ErrorCode::RequestInvalid, "decision_outcome")),
    }
}

fn complete(kernel: &Kernel, args: &TodoComplete) -> Result<Value> {
    let outcome = args.decision_outcome.as_deref().map(outcome).transpose()?;
    let request = TodoCompleteRequest {
        todo_id: args.todo_id.clone(),
        agent_id: args.agent_id.clone(),
        evidence: args.evidence.clone(),
        note: args.note.clone(),
        no_follow_up: args.no_follow_up,
        successor_todo_ids: args.successor_todo_ids.clone(),
        next_agent_todo: args.next_agent_todo.clone(),
        next_user_todo: args.next_user_todo.clone(),
        next_user_task_class: word(
            TaskClass::parse,
            "next_user_task_class",
            args.next_user_task_class.as_deref(),
        )?,
        next_fields: TodoFields {
            claimed_by: args.next_claimed_by.clone(),
            task_class: word(TaskClass::parse, "next_task_class", args.next_task_class.as_deref())?,
            action_kind: args.next_action_kind.clone(),
            ..TodoFields::default()
        },
        decision_outcome: outcome,
        grant_life: None,
        grant_agent: None,
        turn_instance_id: args.turn_instance_id.clone(),
    };
    kernel.todo_complete(&write_at(&args.at), &request)
}
