//! `loopx quota ...`

use loopx_core::Result;
use loopx_core::admission::Detail;
use loopx_core::command::quota::SpendSlotRequest;
use loopx_core::command::turn::ShouldRunRequest;
use loopx_core::kernel::Kernel;
use loopx_core::schedule::ExecutionContext;
use serde_json::Value;

use super::{at, write_at};
use crate::args::{HostArgs, Quota, ShouldRun, SpendSlot};
use crate::worktree;

pub fn run(kernel: &Kernel, command: &Quota) -> Result<Value> {
    match command {
        Quota::ShouldRun(args) => Ok(should_run(kernel, args)),
        Quota::Status(args) => kernel.quota_status(&at(args)),
        Quota::SpendSlot(args) => spend_slot(kernel, args),
    }
}

fn should_run(kernel: &Kernel, args: &ShouldRun) -> Value {
    let in_worktree = || std::env::current_dir().is_ok_and(|cwd| worktree::is_independent(&cwd));
    let request = ShouldRunRequest {
        agent_id: args.agent_id.clone(),
        available_capabilities: args.available_capabilities.clone(),
        independent_worktree: args.independent_worktree || in_worktree(),
        execution_context: context(&args.host),
        include_detail: Detail::NAMES
            .iter()
            .filter(|(name, _)| args.include_detail.iter().any(|d| d == name))
            .map(|(_, detail)| *detail)
            .collect(),
        turn_instance_id: args.turn_instance_id.clone(),
    };
    kernel.should_run(&at(&args.at), &request)
}

fn context(host: &HostArgs) -> Option<ExecutionContext> {
    match (&host.runtime_profile, host.codex_app, &host.host_surface) {
        (Some(name), ..) => ExecutionContext::of_profile(name),
        (None, true, _) => ExecutionContext::of_profile("codex_app_heartbeat"),
        (None, false, Some(surface)) => Some(ExecutionContext {
            host_surface: surface.clone(),
            scheduler_owner: host.scheduler_owner.clone().unwrap_or_default(),
            execution_mode: host.execution_mode.clone().unwrap_or_default(),
            source: "explicit".into(),
        }),
        (None, false, None) => None,
    }
}

fn spend_slot(kernel: &Kernel, args: &SpendSlot) -> Result<Value> {
    let request = SpendSlotRequest {
        agent_id: args.agent_id.clone(),
        todo_id: args.todo_id.clone(),
        slots: Some(args.slots),
        source: Some(args.source.clone()),
        turn_instance_id: args.turn_instance_id.clone(),
        execute: args.execute,
    };
    kernel.spend_slot(&write_at(&args.at), &request)
}
