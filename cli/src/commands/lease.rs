//! `loopx task-lease ...` and `loopx handoff-mode ...`

use clap::{Args, Subcommand};
use loopx_core::Result;
use loopx_core::command::lease::{HandoffSetRequest, LeaseRequest};
use loopx_core::kernel::Kernel;
use loopx_core::model::HandoffMode;
use serde_json::Value;

use super::{at, word, write_at};
use crate::args::{At, WriteAt};

/// `task-lease ...`
#[derive(Debug, Subcommand)]
pub enum TaskLease {
    /// Take a lease on a todo
    #[command(
        after_help = "Example:\n  loopx task-lease acquire --goal-id demo --todo-id todo_1a2b3c \\\n      --owner agent-a --idempotency-key k1"
    )]
    Acquire(Lease),
    /// Extend a live lease
    #[command(
        after_help = "Example:\n  loopx task-lease renew --goal-id demo --todo-id todo_1a2b3c \\\n      --owner agent-a --idempotency-key k1 --expected-version 1"
    )]
    Renew(Lease),
    /// Hand a live lease to another agent
    #[command(
        after_help = "Example:\n  loopx task-lease transfer --goal-id demo --todo-id todo_1a2b3c \\\n      --owner agent-a --idempotency-key k1 --expected-version 1 \\\n      --new-owner agent-b --new-idempotency-key k2"
    )]
    Transfer(Transfer),
    /// Give a lease back
    #[command(
        after_help = "Example:\n  loopx task-lease release --goal-id demo --todo-id todo_1a2b3c \\\n      --owner agent-a --idempotency-key k1 --expected-version 1"
    )]
    Release(Lease),
    /// Show a todo's lease
    #[command(
        after_help = "Example:\n  loopx task-lease inspect --goal-id demo --todo-id todo_1a2b3c"
    )]
    Inspect(Inspect),
}

/// One lease.
#[derive(Debug, Args)]
pub struct Lease {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which todo
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
    /// Holder
    #[arg(long, value_name = "AGENT")]
    pub owner: String,
    /// Your key: repeating an acquire with it answers the same lease
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: String,
    /// Seconds, at most 86400 [default: 2700]
    #[arg(long, value_name = "SECONDS")]
    pub ttl_seconds: Option<u64>,
    /// Path glob that nobody else's lease may overlap (repeat)
    #[arg(long = "write-scope", value_name = "GLOB")]
    pub write_scopes: Vec<String>,
    /// The version that you read
    #[arg(long, value_name = "N")]
    pub expected_version: Option<u64>,
    /// Process that outlives this call and whose death frees the lease
    #[arg(long, value_name = "PID")]
    pub holder_pid: Option<u32>,
}

/// `task-lease transfer`
#[derive(Debug, Args)]
pub struct Transfer {
    #[command(flatten)]
    pub lease: Lease,
    /// To whom
    #[arg(long, value_name = "AGENT")]
    pub new_owner: String,
    /// The new holder's key
    #[arg(long, value_name = "KEY")]
    pub new_idempotency_key: String,
}

/// `task-lease inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    #[command(flatten)]
    pub at: At,
    /// Which todo
    #[arg(long, value_name = "TODO")]
    pub todo_id: String,
}

/// `handoff-mode ...`
#[derive(Debug, Subcommand)]
pub enum Handoff {
    /// Show how work is handed over
    #[command(after_help = "Example:\n  loopx handoff-mode show --goal-id demo")]
    Show(At),
    /// Set how work is handed over
    #[command(after_help = "Example:\n  loopx handoff-mode set --goal-id demo --mode soft_claim")]
    Set(HandoffSet),
}

/// `handoff-mode set`
#[derive(Debug, Args)]
pub struct HandoffSet {
    #[command(flatten)]
    pub at: WriteAt,
    /// legacy, soft_claim or hard_lease
    #[arg(long, value_parser = modes())]
    pub mode: String,
}

fn modes() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(HandoffMode::ALL.iter().map(|(_, text)| *text))
}

fn request(args: &Lease) -> LeaseRequest {
    LeaseRequest {
        todo_id: args.todo_id.clone(),
        owner: Some(args.owner.clone()),
        idempotency_key: Some(args.idempotency_key.clone()),
        ttl_seconds: args.ttl_seconds,
        write_scopes: args.write_scopes.clone(),
        expected_version: args.expected_version,
        holder_pid: args.holder_pid,
        ..LeaseRequest::default()
    }
}

pub fn run(kernel: &Kernel, command: &TaskLease) -> Result<Value> {
    match command {
        TaskLease::Acquire(args) => kernel.lease_acquire(&write_at(&args.at), &request(args)),
        TaskLease::Renew(args) => kernel.lease_renew(&write_at(&args.at), &request(args)),
        TaskLease::Transfer(args) => {
            let request = LeaseRequest {
                new_owner: Some(args.new_owner.clone()),
                new_idempotency_key: Some(args.new_idempotency_key.clone()),
                ..request(&args.lease)
            };
            kernel.lease_transfer(&write_at(&args.lease.at), &request)
        }
        TaskLease::Release(args) => kernel.lease_release(&write_at(&args.at), &request(args)),
        TaskLease::Inspect(args) => {
            let todo_id = args.todo_id.clone();
            kernel
                .lease_inspect(&at(&args.at), &LeaseRequest { todo_id, ..LeaseRequest::default() })
        }
    }
}

pub fn handoff(kernel: &Kernel, command: &Handoff) -> Result<Value> {
    match command {
        Handoff::Show(args) => kernel.handoff_show(&at(args)),
        Handoff::Set(args) => {
            let mode =
                word(HandoffMode::parse, "mode", Some(&args.mode))?.unwrap_or(HandoffMode::Legacy);
            kernel.handoff_set(&write_at(&args.at), &HandoffSetRequest { mode })
        }
    }
}
