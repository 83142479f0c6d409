//! Fields of the packet that hosts of the earlier tool read, said from the same verdict.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::decision::Decision;
use super::super::facts::GoalFacts;
use super::super::rules::Verdict;
use super::{Size, Texts, primary_action};
use crate::schedule::SchedulerHint;
use crate::schedule::facts::{recommended_mode, user_required};

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
    /// A person is to act, and was told a short while ago.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pending_user_action: bool,
    /// The agent is to work or a person to act.
    action_required: bool,
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

const SPEND_POLICY: &str = "only validated, written back work spends";

/// `fields` and, where there are any, more of them.
fn with(mut fields: Value, more: Option<Value>) -> Value {
    if let (Some(map), Some(Value::Object(more))) = (fields.as_object_mut(), more) {
        map.extend(more);
    }
    fields
}

/// The one notify word of a packet: silent where the verdict is, and between the
/// reminders of a gate that a host polls too often.
pub(super) fn notify_word(verdict: &Verdict, hint: &SchedulerHint) -> &'static str {
    if verdict.notify && !hint.silences_gate() { "NOTIFY" } else { "DONT_NOTIFY" }
}

pub(super) fn reference_fields(
    facts: &GoalFacts<'_>,
    decision: &Decision,
    hint: &SchedulerHint,
    size: Size,
    texts: &Texts,
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
    let required = verdict.notify && !verdict.run && !verdict.user_items.is_empty();
    let silent = hint.silences_gate();
    let reason = texts.cut(&verdict.reason, size.short);
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
        recommended_action: primary_action(facts, verdict, size, texts),
        requires_user_action: required && !silent,
        pending_user_action: required && silent,
        action_required: verdict.run || user_required(verdict),
        open_count: facts.view.counters.agent_open + facts.view.counters.user_open,
        heartbeat_recommendation: with(
            json!({
                "recommended_mode": recommended_mode(verdict),
                "notify": notify_word(verdict, hint),
                "agent_must_attempt": verdict.run,
            }),
            size.stable.then(|| {
                json!({"source": "quota.should-run", "spend_policy": SPEND_POLICY, "reason": reason})
            }),
        ),
        execution_obligation: with(
            json!({
                "must_attempt_work": verdict.run,
                "kind": action,
                "delivery_allowed": verdict.run && verdict.delivery,
                "notify_is_execution_gate": false,
            }),
            size.stable.then(|| json!({"reason": reason})),
        ),
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
