//! Fields of the packet that hosts of the earlier tool read, said from the same verdict.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::decision::Decision;
use super::super::facts::GoalFacts;
use super::{Size, primary_action};
use crate::schedule::SchedulerHint;

/// The rest of the reference's stable block: derived from the same verdict, so that no
/// two fields can disagree.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReferenceFields {
    normal_delivery_allowed: bool,
    recovery_delivery_allowed: bool,
    self_repair_allowed: bool,
    capability_repair_allowed: bool,
    workspace_repair_allowed: bool,
    actionable_by_codex: bool,
    safe_bypass_allowed: bool,
    waiting_on: &'static str,
    status: &'static str,
    lifecycle_phase: &'static str,
    lifecycle_flags: [&'static str; 0],
    source: &'static str,
    recommended_action: String,
    requires_user_action: bool,
    open_count: u64,
    heartbeat_recommendation: Value,
    execution_obligation: Value,
    automation_liveness: Value,
    protocol_action_packet: Value,
    plan_summary: Value,
    todo_write_hint: Value,
    /// Only when the goal is proven ended: hosts stop on nothing less.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_frontier_projection: Option<Value>,
    rollout_event: Option<()>,
}

pub(super) fn reference_fields(
    facts: &GoalFacts<'_>,
    decision: &Decision,
    hint: &SchedulerHint,
    size: Size,
) -> ReferenceFields {
    let verdict = &decision.verdict;
    let action = verdict.effective_action;
    let normal = verdict.run && verdict.delivery && verdict.decision == "run";
    let capability = verdict.run && action == "capability_bridge_repair";
    let workspace = verdict.run && action == "agent_workspace_repair";
    let self_repair = verdict.run && verdict.decision == "self_repair";
    let gated = verdict.state == "operator_gate";
    let stop = hint.reset_policy.is_none();
    let terminal = decision.rule == "terminal";
    ReferenceFields {
        normal_delivery_allowed: normal,
        recovery_delivery_allowed: false,
        self_repair_allowed: self_repair,
        capability_repair_allowed: capability,
        workspace_repair_allowed: workspace,
        actionable_by_codex: verdict.run,
        safe_bypass_allowed: gated && verdict.run,
        waiting_on: if gated || verdict.mode == "user_action_required" {
            "controller"
        } else if verdict.pause_cause.is_some() {
            "none"
        } else {
            "codex"
        },
        status: match decision.rule {
            "gate" | "gate_fallback" => "active_state_user_gate",
            "user_action" => "active_state_user_todo",
            "health" => "blocked_health",
            _ if verdict.pause_cause.is_some() => "stopped",
            _ => "active",
        },
        lifecycle_phase: if verdict.pause_cause.is_some() { "paused" } else { "active" },
        lifecycle_flags: [],
        source: "quota.should-run",
        recommended_action: primary_action(facts, verdict, size),
        requires_user_action: verdict.notify && !verdict.run && !verdict.user_items.is_empty(),
        open_count: facts.view.counters.agent_open + facts.view.counters.user_open,
        heartbeat_recommendation: json!({
            "recommended_mode": verdict.pause_cause.map_or(verdict.mode, |cause| {
                if cause == "goal_stopped" { "goal_stopped" } else { "quota_paused" }
            }),
            "notify": if verdict.notify { "NOTIFY" } else { "DONT_NOTIFY" },
            "agent_must_attempt": verdict.run,
        }),
        execution_obligation: json!({
            "must_attempt_work": verdict.run,
            "kind": action,
            "delivery_allowed": verdict.run && verdict.delivery,
            "notify_is_execution_gate": false,
        }),
        automation_liveness: json!({
            "keep_active": !stop,
            "pause_allowed": stop,
            "automation_action": match (verdict.pause_cause, terminal, verdict.run) {
                (Some("goal_stopped"), ..) => "stop_goal_stopped",
                (Some(_), ..) => "stop_quota_paused",
                (None, true, _) => "stop_terminal",
                (None, false, true) => "execute_bounded_work",
                (None, false, false) => "keep_waiting",
            },
        }),
        protocol_action_packet: json!({
            "schema_version": "protocol_action_packet_v0",
            "summary": format!("should_run={} action={action}", verdict.run),
        }),
        plan_summary: json!({"agent_open": facts.view.counters.agent_open, "user_open": facts.view.counters.user_open}),
        todo_write_hint: json!({"required": decision.order == 24}),
        goal_frontier_projection: terminal.then(|| {
            json!({
                "terminal_state": {
                    "schema_version": "goal_terminal_state_v0",
                    "kind": "no_followup",
                    "derived": true,
                    "source": "validated_goal_closure",
                },
                "source_completeness": {
                    "schema_version": "goal_terminal_source_completeness_v0",
                    "user_todos": "valid",
                    "agent_todos": "valid",
                },
            })
        }),
        rollout_event: None,
    }
}
