//! `loopx monitor ...` and `loopx quota monitor-poll`

use clap::{Args, Subcommand};
use loopx_core::Result;
use loopx_core::command::monitor::MonitorPollRequest;
use loopx_core::command::todo_fields::TodoFields;
use loopx_core::kernel::Kernel;
use loopx_core::model::TaskClass;
use serde_json::Value;

use super::todo::classes;
use super::{at, word, write_at};
use crate::args::{At, WriteAt};

/// `monitor ...`
#[derive(Debug, Subcommand)]
pub enum Monitor {
    /// List a goal's monitors: which are due, when the next is, how long nothing changed
    #[command(
        after_help = "Example:\n  loopx monitor list --goal-id demo\n\nA monitor is added with\n`loopx todo add --task-class continuous_monitor --cadence 30m`,\nand a look at it is recorded with `loopx quota monitor-poll`."
    )]
    List(At),
}

/// `quota monitor-poll`
#[derive(Debug, Args)]
pub struct MonitorPoll {
    #[command(flatten)]
    pub at: WriteAt,
    /// Who looked
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// The monitor
    #[arg(long, value_name = "TODO", required_unless_present = "target_key")]
    pub todo_id: Option<String>,
    /// The monitor, by what it watches
    #[arg(long, value_name = "KEY", conflicts_with = "todo_id")]
    pub target_key: Option<String>,
    /// Digest of what was seen; another one than last time is a change
    #[arg(long, value_name = "HASH")]
    pub result_hash: Option<String>,
    /// What was seen asks for something to be done
    #[arg(long)]
    pub material_change: bool,
    /// When to look next, RFC 3339 [default: now plus the cadence]
    #[arg(long, value_name = "INSTANT")]
    pub next_due_at: Option<String>,
    /// How often to look from now on, such as 30m
    #[arg(long, value_name = "TIME")]
    pub cadence: Option<String>,
    /// New agent todo that the change asks for
    #[arg(long, value_name = "TEXT", requires = "material_change")]
    pub next_agent_todo: Option<String>,
    /// Who holds the new agent todo
    #[arg(long, value_name = "AGENT", requires = "next_agent_todo")]
    pub next_claimed_by: Option<String>,
    /// Kind of the new agent todo
    #[arg(long, value_name = "WORD", requires = "next_agent_todo")]
    pub next_action_kind: Option<String>,
    /// Repository of the new agent todo
    #[arg(long, value_name = "REPO", requires = "next_agent_todo")]
    pub next_task_repository: Option<String>,
    /// New user todo that the change asks for
    #[arg(
        long,
        value_name = "TEXT",
        requires = "material_change",
        requires = "next_user_task_class"
    )]
    pub next_user_todo: Option<String>,
    /// user_gate or user_action
    #[arg(long, value_name = "CLASS", requires = "next_user_todo", value_parser = classes())]
    pub next_user_task_class: Option<String>,
    /// The turn in which it was looked
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// Act
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(kernel: &Kernel, command: &Monitor) -> Result<Value> {
    match command {
        Monitor::List(args) => kernel.monitor_list(&at(args)),
    }
}

pub fn poll(kernel: &Kernel, args: &MonitorPoll) -> Result<Value> {
    let request = MonitorPollRequest {
        agent_id: args.agent_id.clone(),
        todo_id: args.todo_id.clone(),
        target_key: args.target_key.clone(),
        result_hash: args.result_hash.clone(),
        material_change: args.material_change,
        next_due_at: args.next_due_at.clone(),
        cadence: args.cadence.clone(),
        next_agent_todo: args.next_agent_todo.clone(),
        next_user_todo: args.next_user_todo.clone(),
        next_user_task_class: word(
            TaskClass::parse,
            "next_user_task_class",
            args.next_user_task_class.as_deref(),
        )?,
        next_fields: TodoFields {
            claimed_by: args.next_claimed_by.clone(),
            action_kind: args.next_action_kind.clone(),
            task_repository: args.next_task_repository.clone(),
            ..TodoFields::default()
        },
        turn_instance_id: args.turn_instance_id.clone(),
        execute: args.execute,
    };
    kernel.monitor_poll(&write_at(&args.at), &request)
}
