//! The rest of `loopx todo ...`: supersede, archive, follow-ups, suggest.

use clap::Args;
use loopx_core::Result;
use loopx_core::command::archive::{TodoArchiveCompletedRequest, TodoArchiveRequest};
use loopx_core::command::followups::CaptureFollowupsRequest;
use loopx_core::command::suggest::TodoSuggestRequest;
use loopx_core::command::supersede::TodoSupersedeRequest;
use loopx_core::command::todo_fields::TodoFields;
use loopx_core::kernel::Kernel;
use loopx_core::model::TaskClass;
use serde_json::Value;

use super::todo::{RoleArg, classes};
use super::{at, role, word, write_at};
use crate::args::{At, WriteAt};

/// `todo supersede`
#[derive(Debug, Args)]
pub struct TodoSupersede {
    #[command(flatten)]
    pub at: WriteAt,
    /// What is replaced
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
    /// What replaces it: a todo that exists
    #[arg(long, value_name = "TODO", required_unless_present = "next_agent_todo")]
    pub by: Option<String>,
    /// What replaces it: a new agent todo
    #[arg(long, value_name = "TEXT", conflicts_with = "by")]
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
    /// Why
    #[arg(long)]
    pub reason: String,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
}

/// `todo archive`
#[derive(Debug, Args)]
pub struct TodoArchive {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
}

/// `todo archive-completed`
#[derive(Debug, Args)]
pub struct TodoArchiveCompleted {
    #[command(flatten)]
    pub at: WriteAt,
    /// Whose list
    #[arg(long, value_enum, default_value = "agent")]
    pub role: RoleArg,
    /// How many done todos stay
    #[arg(long, alias = "max-active-done", value_name = "N", default_value_t = loopx_core::command::archive::KEEP)]
    pub keep: u32,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Act
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

/// `todo capture-followups`
#[derive(Debug, Args)]
pub struct CaptureFollowups {
    #[command(flatten)]
    pub at: WriteAt,
    /// The todo that was worked on
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// What shows that it is needed
    #[arg(long, value_name = "TEXT")]
    pub evidence: String,
    /// What is to be done (at most twice)
    #[arg(long = "followup", value_name = "TEXT", required = true)]
    pub followups: Vec<String>,
}

/// `todo suggest`
#[derive(Debug, Args)]
pub struct TodoSuggest {
    #[command(flatten)]
    pub at: At,
    /// Who plans
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// Most todos to propose
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
    pub limit: u8,
}

pub fn supersede(kernel: &Kernel, args: &TodoSupersede) -> Result<Value> {
    let request = TodoSupersedeRequest {
        todo_id: args.todo_id.clone(),
        by: args.by.clone(),
        next_agent_todo: args.next_agent_todo.clone(),
        next_fields: TodoFields {
            claimed_by: args.next_claimed_by.clone(),
            task_class: word(TaskClass::parse, "next_task_class", args.next_task_class.as_deref())?,
            action_kind: args.next_action_kind.clone(),
            ..TodoFields::default()
        },
        reason: args.reason.clone(),
        agent_id: args.agent_id.clone(),
    };
    kernel.todo_supersede(&write_at(&args.at), &request)
}

pub fn archive(kernel: &Kernel, args: &TodoArchive) -> Result<Value> {
    let request =
        TodoArchiveRequest { todo_id: args.todo_id.clone(), agent_id: args.agent_id.clone() };
    kernel.todo_archive(&write_at(&args.at), &request)
}

pub fn archive_completed(kernel: &Kernel, args: &TodoArchiveCompleted) -> Result<Value> {
    let request = TodoArchiveCompletedRequest {
        role: Some(role(args.role)),
        keep: Some(args.keep),
        agent_id: args.agent_id.clone(),
        execute: args.execute,
    };
    kernel.todo_archive_completed(&write_at(&args.at), &request)
}

pub fn capture_followups(kernel: &Kernel, args: &CaptureFollowups) -> Result<Value> {
    let request = CaptureFollowupsRequest {
        todo_id: args.todo_id.clone(),
        agent_id: args.agent_id.clone(),
        evidence: args.evidence.clone(),
        followups: args.followups.clone(),
    };
    kernel.todo_capture_followups(&write_at(&args.at), &request)
}

pub fn suggest(kernel: &Kernel, args: &TodoSuggest) -> Result<Value> {
    let request = TodoSuggestRequest { agent_id: args.agent_id.clone(), limit: Some(args.limit) };
    kernel.todo_suggest(&at(&args.at), &request)
}
