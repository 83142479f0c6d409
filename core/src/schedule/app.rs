//! For hosts that keep the schedule themselves (Codex App, Trae App): the rule to set,
//! and how to say that it was set or could not be (reference scheduler.md 5).

use serde::Serialize;
use serde_json::{Value, json};

use super::backoff::{HostTransition, Step};
use super::build::HintSize;
use super::context::ExecutionContext;
use super::failure::shown;

/// The state key of every app schedule.
pub const STATE_KEY: &str = "scheduler_hint.app_automation.stateful_backoff";
/// The name that Codex App's automations of the earlier tool have for it.
pub const LEGACY_STATE_KEY: &str = "scheduler_hint.codex_app.stateful_backoff";
/// The tool that sets a schedule.
pub const HOST_TOOL: &str = "automation_update";
/// Longest automation id.
const AUTOMATION_ID_MAX: usize = 128;

/// What an app host is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppAutomation {
    /// `applicable`, `not_applicable` or `blocked_invalid_context`.
    pub applicability: &'static str,
    /// Which app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_surface: Option<String>,
    /// Why it is not applicable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<String>,
    /// What becomes of the schedule.
    pub apply: &'static str,
    /// What the host does.
    pub host_action: &'static str,
    /// The order of what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_action_contract: Option<&'static str>,
    /// The tool that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_tool: Option<&'static str>,
    /// Not through a wait: whether an acknowledgement is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_required: Option<bool>,
    /// Minutes of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended_interval_minutes: Option<u32>,
    /// Minutes of the last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_interval_minutes: Option<u32>,
    /// What the ladder roughly grows by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged_poll_backoff_multiplier: Option<u32>,
    /// The ladder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub example_progression_minutes: Vec<u32>,
    /// The rule to set, when one is to be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended_rrule: Option<String>,
    /// Where a host reads the rule from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rrule_source: Option<&'static str>,
    /// Where the walk stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stateful_backoff: Option<Value>,
    /// How to say that the rule was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_hint: Option<Value>,
    /// How to say that it could not be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_hint: Option<Value>,
    /// Codex App: the earlier tool's bridge, where it is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_hint: Option<Value>,
    /// Stops: the host must act.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_action_required: Option<bool>,
    /// Stops: how often it tries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_limit: Option<u32>,
    /// Stops: it looks whether it worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_host_result: Option<bool>,
    /// Stops: what starts it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_trigger: Option<&'static str>,
    /// Stops: always true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_spend_for_host_action: Option<bool>,
    /// Always true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_spend_for_cadence_change: Option<bool>,
}

impl AppAutomation {
    /// Another owner holds the schedule.
    pub fn not_applicable(owner: &str) -> Self {
        Self {
            applicability: "not_applicable",
            reason_code: Some(format!("cadence_owned_by_{owner}")),
            no_spend_for_cadence_change: Some(true),
            ..Self::none()
        }
    }

    /// The context cannot be.
    pub fn blocked() -> Self {
        Self { applicability: "blocked_invalid_context", ..Self::none() }
    }

    fn none() -> Self {
        Self { apply: "none", host_action: "none", ack_required: Some(false), ..Self::default() }
    }

    /// Nothing is to be woken any more.
    pub fn stop(returned: bool) -> Self {
        Self {
            applicability: "applicable",
            apply: "pause_or_delete_current_heartbeat_if_possible",
            host_action: "pause_or_delete_current_heartbeat",
            host_tool: Some(HOST_TOOL),
            host_action_required: Some(true),
            attempt_limit: Some(1),
            verify_host_result: Some(true),
            ack_required: Some(false),
            resume_trigger: Some(if returned {
                "the owner hands work back, or new local work appears"
            } else {
                "a person resumes the goal, or new work appears"
            }),
            no_spend_for_host_action: Some(true),
            ..Self::default()
        }
    }
}

/// What the packet of an app is made from.
#[derive(Clone, Copy, Debug)]
pub struct AppSource<'a> {
    /// Goal.
    pub goal_id: &'a str,
    /// Agent.
    pub agent_id: Option<&'a str>,
    /// Who wakes it.
    pub context: &'a ExecutionContext,
    /// The ladder.
    pub ladder: &'a [u32],
    /// Minutes of its longest step, whatever comes due before.
    pub max_minutes: u32,
    /// Where the walk stands.
    pub step: &'a Step,
    /// The schedule that the host said it has.
    pub observed: Option<&'a str>,
    /// Capabilities that the door declared beside those that every agent has.
    pub capabilities: &'a [String],
    /// Token.
    pub reset_token: &'a str,
    /// Identity.
    pub identity_signature: &'a str,
}

/// One of the two names under which the packet is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// `app_automation`.
    App,
    /// `codex_app`.
    CodexApp,
}

impl AppSource<'_> {
    /// The packet. A short one has the rule and how to acknowledge it.
    pub fn packet(&self, name: Name, size: HintSize) -> AppAutomation {
        let step = self.step;
        let whole = size >= HintSize::Whole;

        let (apply, host_action, contract) = match step.transition {
            HostTransition::Apply => (
                "update_automation_cadence_if_possible",
                "update_current_heartbeat_rrule",
                "automation_update_rrule_then_quota_scheduler_ack",
            ),
            HostTransition::AckObserved => (
                "none_already_applied",
                "ack_observed_rrule_without_update",
                "quota_scheduler_ack_from_matching_host_observation",
            ),
            HostTransition::Settled => {
                ("none_already_applied", "none", "skip_automation_update_when_apply_needed_false")
            }
            HostTransition::Suppressed => (
                "none_recorded_host_failure",
                "none_recorded_host_failure",
                "skip_automation_update_for_recorded_host_failure",
            ),
        };
        let apply_needed = step.apply_needed();
        let commands = self.agent_id.filter(|_| size >= HintSize::Lean);
        AppAutomation {
            applicability: "applicable",
            host_surface: (name == Name::App && whole).then(|| self.context.host_surface.clone()),
            apply,
            host_action,
            host_action_contract: whole.then_some(contract),
            host_tool: (whole || apply_needed).then_some(HOST_TOOL),
            recommended_interval_minutes: Some(step.minutes),
            max_interval_minutes: whole.then_some(self.max_minutes),
            unchanged_poll_backoff_multiplier: whole.then_some(2),
            example_progression_minutes: if whole { self.ladder.to_vec() } else { Vec::new() },
            recommended_rrule: apply_needed.then(|| step.rrule.clone()),
            rrule_source: (whole && apply_needed).then_some(match name {
                Name::App => "scheduler_hint.app_automation.recommended_rrule",
                Name::CodexApp => "scheduler_hint.codex_app.recommended_rrule",
            }),
            stateful_backoff: Some(self.backoff(name, whole)),
            ack_hint: commands.filter(|_| step.ack_needed()).map(|a| self.ack_hint(a, name, whole)),
            failure_hint: commands
                .filter(|_| whole && apply_needed)
                .map(|a| self.failure_hint(a, name)),
            fallback_hint: commands
                .filter(|_| whole && apply_needed && name == Name::CodexApp)
                .map(|a| self.fallback_hint(a)),
            no_spend_for_cadence_change: whole.then_some(true),
            ..AppAutomation::default()
        }
    }

    fn backoff(&self, name: Name, whole: bool) -> Value {
        let step = self.step;
        let mut value = json!({"progression_index": step.index, "state_status": step.status});
        let Some(map) = value.as_object_mut() else { return value };
        if whole {
            map.insert("current_rrule".into(), json!(step.rrule));
            map.insert("apply_needed".into(), json!(step.apply_needed()));
            map.insert("ack_needed".into(), json!(step.ack_needed()));
            let (schema, key) = match name {
                Name::App => ("app_automation_stateful_backoff_v0", STATE_KEY),
                Name::CodexApp => ("codex_app_stateful_backoff_v0", LEGACY_STATE_KEY),
            };
            map.insert("schema_version".into(), json!(schema));
            map.insert("state_key".into(), json!(key));
            map.insert("identity_signature".into(), json!(self.identity_signature));
            map.insert("reset_token".into(), json!(self.reset_token));
            if !step.failures.is_empty() {
                let failures: Vec<Value> = step.failures.iter().map(shown).collect();
                map.insert("host_update_failures".into(), json!(failures));
            }
        }
        if let (true, Some(failure)) = (whole, &step.suppressed_by) {
            map.insert("host_update_failure".into(), shown(failure));
        }
        if let (true, Some(_)) = (whole, self.observed) {
            let status = if step.host_rrule == step.rrule {
                "matches_recommended"
            } else {
                "drift_detected"
            };
            map.insert(
                "host_observation".into(),
                json!({
                    "source": "quota_should_run_host_observation",
                    "current_rrule": step.host_rrule,
                    "status": status,
                }),
            );
        }
        value
    }

    /// `quota <verb> --goal-id G --agent-id A <context> <capabilities>`.
    fn command(&self, verb: &str, agent: &str) -> Vec<String> {
        let mut args: Vec<String> = ["quota", verb, "--goal-id", self.goal_id, "--agent-id", agent]
            .map(str::to_owned)
            .into();
        args.extend(self.context.flags());
        for capability in self.capabilities {
            args.extend(["--available-capability".to_owned(), capability.clone()]);
        }
        args
    }

    fn ack_hint(&self, agent: &str, name: Name, whole: bool) -> Value {
        let step = self.step;
        let mut args = self.command("scheduler-ack-current", agent);
        args.extend(["--applied-rrule".to_owned(), step.rrule.clone()]);
        // Without them the rule alone is compared with the hint that is current.
        if whole {
            let token = ["--host-match-observed", "--reset-token", self.reset_token];
            args.extend(token.map(str::to_owned));
            let identity = ["--identity-signature", self.identity_signature];
            args.extend(identity.map(str::to_owned));
        }
        args.push("--execute".to_owned());
        if !whole {
            return json!({"cli_args": args});
        }
        let (schema, key) = match name {
            Name::App => ("app_automation_scheduler_ack_hint_v0", STATE_KEY),
            Name::CodexApp => ("codex_app_scheduler_ack_hint_v0", LEGACY_STATE_KEY),
        };
        json!({
            "schema_version": schema,
            "after": if step.apply_needed() {
                "automation_update_rrule_success"
            } else {
                "matching_host_rrule_observed"
            },
            "command": "quota scheduler-ack-current",
            "execute": true,
            "uses_current_hint": true,
            "no_spend": true,
            "cli_args": args,
            "args": {
                "goal_id": self.goal_id,
                "agent_id": agent,
                "surface": self.context.host_surface,
                "state_key": key,
                "applied_rrule": step.rrule,
                "host_match_observed": true,
                "reset_token": self.reset_token,
                "identity_signature": self.identity_signature,
            },
        })
    }

    fn failure_hint(&self, agent: &str, name: Name) -> Value {
        let mut args = self.command("scheduler-fail-current", agent);
        args.extend(["--failed-rrule".to_owned(), self.step.rrule.clone()]);
        if self.observed.is_some() {
            let flag = match name {
                Name::App => "--app-automation-current-rrule",
                Name::CodexApp => "--codex-app-current-rrule",
            };
            args.extend([flag.to_owned(), self.step.host_rrule.clone()]);
        }
        args.push("--execute".to_owned());
        let schema = match name {
            Name::App => "app_automation_scheduler_failure_hint_v0",
            Name::CodexApp => "codex_app_scheduler_failure_hint_v0",
        };
        json!({"schema_version": schema, "cli_args": args})
    }

    fn fallback_hint(&self, agent: &str) -> Value {
        let id = projected_automation_id(self.goal_id, agent);
        let turn = "${LOOPX_TURN:?}";
        json!({
            "schema_version": "codex_app_scheduler_fallback_hint_v0",
            "available": true,
            "action": "create_then_apply_rrule_via_fallback",
            "command": "loopx-apply-rrule",
            "after": "automation_update_unavailable_or_failed",
            "automation_id_projected": true,
            "no_spend": true,
            "cli_args": ["loopx-apply-rrule", "--goal-id", self.goal_id, "--agent-id", agent,
                "--automation-id", id, "--turn-instance-id", turn],
            "args": {"goal_id": self.goal_id, "agent_id": agent, "automation_id": id, "turn_instance_id": turn},
        })
    }
}

/// The automation id that a goal and an agent stand for, where none is installed: letters,
/// digits, `.`, `_`, `:` and `-`, at most 128.
pub fn projected_automation_id(goal_id: &str, agent_id: &str) -> String {
    let mut id = String::new();
    for c in format!("loopx-{goal_id}-{agent_id}").chars() {
        let kept = if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':') { c } else { '-' };
        if kept != '-' || !id.ends_with('-') {
            id.push(kept);
        }
    }
    let id: String = id.trim_matches('-').chars().take(AUTOMATION_ID_MAX).collect();
    let id = id.trim_end_matches('-');
    if id.is_empty() { "loopx-fallback".to_owned() } else { id.to_owned() }
}
