//! What an app host says about its own schedule: it was set, or it could not be.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, Instant, SchedulerState};
use crate::schedule::ExecutionContext;
use crate::schedule::ack::{AckClaim, Scope, TOLERANCE_MINUTES, ack_plan, failure_plan};
use crate::schedule::app::STATE_KEY;
use crate::schedule::backoff::Step;
use crate::schedule::build::Cadence;

/// Who asks and from where: what the hint is made again from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostAsks {
    /// Whose schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Capabilities that the door declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_capabilities: Vec<String>,
    /// The door works in a worktree of its own.
    pub independent_worktree: bool,
    /// Which app host; `surface` may stand for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<ExecutionContext>,
    /// `codex_app` or `trae_app`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    /// The RRULE that the host's automation has now.
    #[serde(skip_serializing_if = "Option::is_none", alias = "codex_app_current_rrule")]
    pub app_automation_current_rrule: Option<String>,
    /// The state key of the hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_key: Option<String>,
    /// Act; else only show what would be written.
    pub execute: bool,
}

impl HostAsks {
    /// The app host that speaks.
    ///
    /// Errors: none is named, the one that is holds no schedule, or two are named.
    pub fn context(&self) -> Result<ExecutionContext> {
        let of_surface = self.surface.as_deref().map(|surface| match surface {
            "codex_app" => ExecutionContext::of_profile("codex_app_heartbeat"),
            other => ExecutionContext::of_profile(other),
        });
        let context = match (&self.execution_context, of_surface) {
            (Some(context), None) => Some(context.clone()),
            (Some(context), Some(Some(named))) if named.host_surface == context.host_surface => {
                Some(context.clone())
            }
            (None, Some(named)) => named,
            _ => None,
        };
        context.filter(|c| c.is_app() && c.errors().is_empty()).ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, "execution_context").message(
                "an app host that keeps its own schedule acknowledges it: name it with -A or --runtime-profile trae_app",
            )
        })
    }
}

/// `quota.scheduler_ack`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulerAckRequest {
    /// Who asks.
    #[serde(flatten)]
    pub host: HostAsks,
    /// The RRULE that the host has set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_rrule: Option<String>,
    /// Token of the hint that it followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_token: Option<String>,
    /// Identity of that hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_signature: Option<String>,
    /// The host has looked: the rule is in force.
    pub host_match_observed: bool,
    /// Take token and identity from the hint that is current where they are not named.
    pub use_current_hint: bool,
}

/// `quota.scheduler_fail`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulerFailRequest {
    /// Who asks.
    #[serde(flatten)]
    pub host: HostAsks,
    /// The RRULE that the host could not set.
    pub failed_rrule: String,
    /// `host_tool_failure` (the default), `timeout`, `rejected` or `unavailable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_kind: Option<String>,
}

/// What is written, if anything, and what is answered.
pub type Judged = (Option<SchedulerState>, Map<String, Value>);

/// The hint that is current, as far as it is about an app's schedule.
#[derive(Clone, Copy, Debug)]
pub struct CurrentHint<'a> {
    /// Class and tokens.
    pub cadence: &'a Cadence,
    /// The ladder.
    pub ladder: &'a [u32],
    /// Where the walk stands.
    pub step: &'a Step,
    /// Whose schedule.
    pub agent: &'a AgentId,
    /// Host surface.
    pub surface: &'a str,
    /// When.
    pub now: Instant,
}

impl CurrentHint<'_> {
    fn scope(&self) -> Scope<'_> {
        Scope { agent: self.agent, surface: self.surface }
    }

    /// What an acknowledgement writes, if anything, and what it is answered.
    pub fn acknowledge(&self, request: &SchedulerAckRequest) -> Result<Judged> {
        let Self { cadence, step, .. } = *self;
        let named = request.reset_token.is_some() && request.identity_signature.is_some();
        if !(named || request.use_current_hint) {
            return Err(Error::new(ErrorCode::RequestInvalid, "reset_token").message(
                "name the hint's reset token and identity, or use `quota scheduler-ack-current`",
            ));
        }
        let plan = ack_plan(
            cadence,
            step,
            &AckClaim {
                applied_rrule: request.applied_rrule.as_deref(),
                reset_token: request.reset_token.as_deref(),
                identity_signature: request.identity_signature.as_deref(),
                state_key: request.host.state_key.as_deref(),
                host_match_observed: request.host_match_observed,
            },
        )?;
        let state = (!plan.already_applied)
            .then(|| self.scope().acknowledged(cadence, self.ladder, step, &plan, self.now));
        let mut answer =
            self.envelope("scheduler-ack", "quota_scheduler_ack", state.is_some(), &request.host);
        answer.insert("already_applied".into(), json!(plan.already_applied));
        answer.insert("applied_rrule".into(), json!(plan.applied_rrule));
        answer.insert("expected_rrule".into(), json!(plan.expected_rrule));
        answer.insert("host_match_ack".into(), json!(request.host_match_observed));
        answer.insert("used_current_hint".into(), json!(request.use_current_hint));
        answer.insert("current_hint_source".into(), json!("quota.should-run.scheduler_hint"));
        if plan.stale_hint_accepted {
            answer.insert("stale_hint_accepted".into(), json!(true));
            answer.insert("stale_hint_tolerance_minutes".into(), json!(TOLERANCE_MINUTES));
        }
        answer.insert(
            "post_ack_contract".into(),
            json!({
                "next_action": "wait_for_next_scheduler_tick_or_material_state_transition",
                "do_not_apply_successor_rrule_from_ack_response": true,
                "next_rrule_source": "future_quota_should-run_only",
            }),
        );
        answer.insert(
            "scheduler_ack_event".into(),
            json!({
                "event_type": "quota_scheduler_ack",
                "surface": self.surface,
                "state_key": STATE_KEY,
                "applied_rrule": plan.applied_rrule,
                "scheduler_state": state.as_ref().map(shown),
            }),
        );
        Ok((state, answer))
    }

    /// What a failed update writes, if anything, and what it is answered.
    pub fn fail(&self, request: &SchedulerFailRequest) -> Result<Judged> {
        let Self { cadence, step, .. } = *self;
        let kind = request.failure_kind.as_deref().unwrap_or("host_tool_failure");
        let news =
            failure_plan(step, &request.failed_rrule, kind, request.host.state_key.as_deref())?;
        let state = news.then(|| self.scope().failed(cadence, self.ladder, step, kind, self.now));
        let word = "quota_scheduler_host_update_failure";
        let mut answer =
            self.envelope("scheduler-fail-current", word, state.is_some(), &request.host);
        answer.insert("already_recorded".into(), json!(!news));
        answer.insert("failed_rrule".into(), json!(step.rrule));
        answer.insert("failure_kind".into(), json!(kind));
        answer.insert("observed_host_rrule".into(), json!(step.host_rrule));
        answer.insert(
            "scheduler_failure_event".into(),
            json!({
                "event_type": word,
                "surface": self.surface,
                "state_key": STATE_KEY,
                "scheduler_state": state.as_ref().map(shown),
            }),
        );
        Ok((state, answer))
    }

    /// What both answers say: nothing of this is work, and nothing spends.
    fn envelope(
        &self,
        mode: &str,
        word: &str,
        writes: bool,
        host: &HostAsks,
    ) -> Map<String, Value> {
        object(json!({
            "mode": mode,
            "agent_id": self.agent,
            "classification": word,
            "delivery_outcome": "surface_only",
            "appended": false,
            "registry_mutated": false,
            "scheduler_state_mutated": writes && host.execute,
            "dry_run": !host.execute,
            "spent_slots": 0,
        }))
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => Map::from_iter([("result".to_owned(), other)]),
    }
}

fn shown(state: &SchedulerState) -> Map<String, Value> {
    let mut value = object(json!({
        "schema_version": "loopx_scheduler_state_v0",
        "agent_id": state.agent,
        "surface": state.surface,
        "state_key": state.state_key,
        "reset_token": state.reset_token,
        "identity_signature": state.identity_signature,
        "progression_index": state.progression_index,
        "progression_minutes": state.progression_minutes,
        "last_applied_rrule": state.last_applied_rrule,
        "updated_at": state.updated_at,
        "source": state.source,
    }));
    let failures: Vec<Value> =
        state.host_update_failures.iter().map(crate::schedule::failure::shown).collect();
    if let Some(last) = failures.last() {
        value.insert("host_update_failure".into(), last.clone());
        value.insert("host_update_failures".into(), json!(failures));
    }
    value
}
