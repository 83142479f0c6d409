//! Fields of the packet that hosts of the earlier tool read, said from the same verdict.

use serde::Serialize;

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
    heartbeat_recommendation: HeartbeatRecommendation,
    execution_obligation: ExecutionObligation,
    automation_liveness: AutomationLiveness,
    protocol_action_packet: ProtocolActionPacket,
    plan_summary: PlanSummary,
    todo_write_hint: TodoWriteHint,
    /// Only when the goal is proven ended: hosts stop on nothing less.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal_frontier_projection: Option<FrontierProjection>,
    rollout_event: Option<()>,
}

const SPEND_POLICY: &str = "only validated, written back work spends";

/// How an automation takes the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeartbeatRecommendation {
    /// Mode.
    recommended_mode: &'static str,
    /// `NOTIFY` or `DONT_NOTIFY`.
    notify: &'static str,
    /// The agent works now.
    agent_must_attempt: bool,
    #[serde(flatten)]
    explained: Option<Explained>,
}

/// What says why, beside a recommendation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explained {
    source: &'static str,
    spend_policy: &'static str,
    reason: String,
}

/// What the agent owes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecutionObligation {
    /// It works now.
    must_attempt_work: bool,
    /// Same as the packet's `effective_action`.
    kind: &'static str,
    /// It may deliver, not only mend.
    delivery_allowed: bool,
    /// Never: telling a person and working are apart.
    notify_is_execution_gate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Whether an automation goes on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AutomationLiveness {
    keep_active: bool,
    pause_allowed: bool,
    automation_action: &'static str,
}

/// The answer in one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProtocolActionPacket {
    /// `protocol_action_packet_v0`.
    schema_version: &'static str,
    summary: String,
}

/// Open todos by who does them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanSummary {
    agent_open: u64,
    user_open: u64,
}

/// Whether todos are to be written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoWriteHint {
    required: bool,
}

/// The proof that a goal has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrontierProjection {
    terminal_state: TerminalState,
    source_completeness: SourceCompleteness,
}

/// What kind of end it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TerminalState {
    /// `goal_terminal_state_v0`.
    schema_version: &'static str,
    kind: &'static str,
    derived: bool,
    source: &'static str,
}

/// What the end was derived from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceCompleteness {
    /// `goal_terminal_source_completeness_v0`.
    schema_version: &'static str,
    user_todos: &'static str,
    agent_todos: &'static str,
}

/// An end that is proven: no other one is said.
const PROVEN_END: FrontierProjection = FrontierProjection {
    terminal_state: TerminalState {
        schema_version: "goal_terminal_state_v0",
        kind: "no_followup",
        derived: true,
        source: "validated_goal_closure",
    },
    source_completeness: SourceCompleteness {
        schema_version: "goal_terminal_source_completeness_v0",
        user_todos: "valid",
        agent_todos: "valid",
    },
};

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
        heartbeat_recommendation: HeartbeatRecommendation {
            recommended_mode: recommended_mode(verdict),
            notify: notify_word(verdict, hint),
            agent_must_attempt: verdict.run,
            explained: size.stable.then(|| Explained {
                source: "quota.should-run",
                spend_policy: SPEND_POLICY,
                reason: reason.clone(),
            }),
        },
        execution_obligation: ExecutionObligation {
            must_attempt_work: verdict.run,
            kind: action,
            delivery_allowed: verdict.run && verdict.delivery,
            notify_is_execution_gate: false,
            reason: size.stable.then_some(reason),
        },
        automation_liveness: AutomationLiveness {
            keep_active: !stop,
            pause_allowed: stop,
            automation_action: match (verdict.pause_cause, terminal, verdict.run) {
                (Some("goal_stopped"), ..) => "stop_goal_stopped",
                (Some(_), ..) => "stop_quota_paused",
                (None, true, _) => "stop_terminal",
                (None, false, true) => "execute_bounded_work",
                (None, false, false) => "keep_waiting",
            },
        },
        protocol_action_packet: ProtocolActionPacket {
            schema_version: "protocol_action_packet_v0",
            summary: format!("should_run={} action={action}", verdict.run),
        },
        plan_summary: PlanSummary {
            agent_open: facts.view.counters.agent_open,
            user_open: facts.view.counters.user_open,
        },
        todo_write_hint: TodoWriteHint { required: decision.order == 24 },
        goal_frontier_projection: terminal.then_some(PROVEN_END),
        rollout_event: None,
    }
}
