//! `loopx todo ...`

use loopx_core::command::todo::{
    TodoAddRequest, TodoClaimRequest, TodoListRequest, TodoUpdateRequest,
};
use loopx_core::command::todo_complete::{DecisionOutcome, TodoCompleteRequest};
use loopx_core::command::todo_fields::TodoFields;
use loopx_core::kernel::Kernel;
use loopx_core::model::{TaskClass, TodoStatus};
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

use super::{at, role, word, write_at};
use crate::args::{FieldArgs, Todo, TodoAdd, TodoClaim, TodoComplete, TodoList, TodoUpdate};

pub fn run(kernel: &Kernel, command: &Todo) -> Result<Value> {
    match command {
        Todo::Add(args) => add(kernel, args),
        Todo::List(args) => list(kernel, args),
        Todo::Claim(args) => claim(kernel, args),
        Todo::Update(args) => update(kernel, args),
        Todo::Complete(args) => complete(kernel, args),
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
        ("resume-when", args.clear_resume_when),
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

fn complete(kernel: &Kernel, args: &TodoComplete) -> Result<Value> {
    let outcome = args
        .decision_outcome
        .as_deref()
        .map(|text| match text {
            "approve" => Ok(DecisionOutcome::Approve),
            "reject" => Ok(DecisionOutcome::Reject),
            "cancel" => Ok(DecisionOutcome::Cancel),
            _ => Err(Error::new(ErrorCode::RequestInvalid, "decision_outcome")),
        })
        .transpose()?;
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
        turn_instance_id: args.turn_instance_id.clone(),
    };
    kernel.todo_complete(&write_at(&args.at), &request)
}
