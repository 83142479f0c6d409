//! `loopx goal ...`

use loopx_core::Result;
use loopx_core::kernel::{GoalCreateRequest, GoalStopRequest, Kernel};
use serde_json::{Value, json};

use super::{at, write_at};
use crate::args::{Goal, GoalCreate, GoalLifecycle, GoalStop, LifecycleArg};

pub fn run(kernel: &Kernel, command: &Goal) -> Result<Value> {
    match command {
        Goal::Create(args) => create(kernel, args),
        Goal::Stop(args) => stop(kernel, args),
        Goal::Resume(args) => kernel.goal_resume(&write_at(args)),
        Goal::List => kernel.goal_list(),
        Goal::Show(args) => kernel.goal_show(&at(args)),
        Goal::AdoptLegacy(args) => kernel.adopt_legacy(&write_at(args)),
    }
}

fn create(kernel: &Kernel, args: &GoalCreate) -> Result<Value> {
    let request = GoalCreateRequest {
        objective: args.objective.clone(),
        agents: args.agents.clone(),
        state_file: args.state_file.clone(),
        write_scope: args.write_scope.clone(),
        compute: args.compute,
        window_hours: args.window_hours,
        slot_minutes: args.slot_minutes,
        allowed_slots: args.allowed_slots,
    };
    kernel.goal_create(&write_at(&args.at), &request)
}

fn stop(kernel: &Kernel, args: &GoalStop) -> Result<Value> {
    kernel.goal_stop(&write_at(&args.at), &GoalStopRequest { reason: args.reason.clone() })
}

/// The earlier tool's form: a preview until `--execute`.
pub fn lifecycle_reference(kernel: &Kernel, args: &GoalLifecycle) -> Result<Value> {
    let write = &args.stop.at;
    if !args.execute {
        let address =
            loopx_core::operation::Addressed { goal_id: write.goal_id.clone(), effect_id: None };
        let shown = kernel.goal_show(&address)?;
        return Ok(json!({
            "ok": true,
            "dry_run": true,
            "goal_id": shown.get("goal_id"),
            "stopped": shown.get("stopped"),
            "operation": if args.operation == LifecycleArg::Stop { "stop" } else { "resume" },
        }));
    }
    match args.operation {
        LifecycleArg::Stop => stop(kernel, &args.stop),
        LifecycleArg::Resume => kernel.goal_resume(&write_at(write)),
    }
}
