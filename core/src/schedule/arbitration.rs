//! From an interaction contract to a cadence class: the contract alone decides, and one
//! that contradicts itself is to be repaired, not waited on (reference scheduler.md 2).

use serde::Serialize;
use serde_json::Value;

use super::class::{self, CadenceClass};

const CONTRACT: &str = "interaction_contract";
/// Modes that end or only watch: nothing may be open beside them.
const QUIET_MODES: [&str; 3] =
    ["terminal_no_followup", "peer_coordination_blocked", "agent_monitor_only"];

/// What a class is chosen from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arbitration {
    /// The contract's mode.
    pub mode: String,
    /// A person must act before anything goes on.
    pub user_required: bool,
    /// The agent must work now.
    pub must_attempt: bool,
    /// It may deliver.
    pub delivery_allowed: bool,
    /// Doing nothing, silently, is right.
    pub quiet_noop_allowed: bool,
    /// A run that is offered once, asked about without a turn.
    pub offered: bool,
    /// What was wrong with the contract as written.
    pub unreadable: Vec<String>,
}

/// Why a hint asks for a repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConsistencyError {
    /// `scheduler_arbitration_v0`, for a contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<&'static str>,
    /// `scheduler_execution_context`, for a context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
    /// One word, for a contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<&'static str>,
    /// The contract's mode, when it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// What contradicts what.
    pub errors: Vec<String>,
    /// What to do.
    pub repair_action: &'static str,
}

impl ConsistencyError {
    /// For a context.
    pub fn of_context(errors: Vec<String>) -> Self {
        Self {
            schema_version: None,
            source: Some("scheduler_execution_context"),
            reason_code: None,
            mode: None,
            errors,
            repair_action: "name a runtime profile, or three words that go together",
        }
    }
}

impl Arbitration {
    /// Reads a contract as written; what is malformed counts as false and is named.
    pub fn read(contract: &Value) -> Self {
        let mut wrong = Vec::new();
        if contract.get("schema_version").and_then(Value::as_str)
            != Some("loopx_interaction_contract_v0")
        {
            wrong.push(format!("{CONTRACT}.schema_version_mismatch"));
        }
        let mode = contract.get("mode").and_then(Value::as_str).unwrap_or_default().trim();
        if mode.is_empty() {
            wrong.push(format!("{CONTRACT}.mode_missing"));
        }
        for channel in ["user_channel", "agent_channel"] {
            if contract.get(channel).and_then(Value::as_object).is_none_or(|c| c.is_empty()) {
                wrong.push(format!("{CONTRACT}.{channel}_missing"));
            }
        }
        let mut flag = |channel: &str, name: &str| {
            contract.get(channel).and_then(|c| c.get(name)).and_then(Value::as_bool).unwrap_or_else(
                || {
                    wrong.push(format!("{CONTRACT}.{channel}.{name}_must_be_boolean"));
                    false
                },
            )
        };
        Self {
            mode: mode.to_owned(),
            user_required: flag("user_channel", "action_required"),
            must_attempt: flag("agent_channel", "must_attempt"),
            delivery_allowed: flag("agent_channel", "delivery_allowed"),
            quiet_noop_allowed: flag("agent_channel", "quiet_noop_allowed"),
            offered: false,
            unreadable: wrong,
        }
    }

    /// What contradicts itself, in a fixed order.
    pub fn errors(&self) -> Vec<String> {
        let mut errors = self.unreadable.clone();
        let open = self.must_attempt || self.delivery_allowed || self.user_required;
        if self.delivery_allowed && !self.must_attempt {
            errors.push(format!("{CONTRACT}.delivery_without_attempt"));
        }
        let terminal = QUIET_MODES.contains(&self.mode.as_str());
        if self.quiet_noop_allowed && open {
            errors.push(format!("{CONTRACT}.quiet_noop_conflicts_with_required_action"));
        }
        if terminal && (open || !self.quiet_noop_allowed) {
            errors.push(format!("{CONTRACT}.terminal_conflicts_with_open_action"));
        }
        errors
    }

    /// The error of a contract that contradicts itself.
    pub fn consistency_error(&self) -> Option<ConsistencyError> {
        let errors = self.errors();
        (!errors.is_empty()).then(|| ConsistencyError {
            schema_version: Some("scheduler_arbitration_v0"),
            source: None,
            reason_code: Some(class::CONSISTENCY.reason_code),
            mode: Some(self.mode.clone()).filter(|m| !m.is_empty()),
            errors,
            repair_action: "ask for the decision again; apply no cadence from this one",
        })
    }

    /// The class: the first row that fits.
    pub fn class(&self) -> CadenceClass {
        if !self.errors().is_empty() {
            return class::CONSISTENCY;
        }
        match self.mode.as_str() {
            "terminal_no_followup" => class::TERMINAL,
            "peer_coordination_blocked" => class::PEER_BLOCKED,
            "agent_monitor_only" => class::MONITOR_ONLY,
            _ if self.offered => class::OFFER,
            _ if self.user_required && !self.must_attempt => class::HUMAN,
            "monitor_quiet_skip" => class::MONITOR,
            "successor_replan_required" if self.must_attempt => class::SUCCESSOR,
            "agent_scope_exhausted"
            | "agent_scope_wait"
            | "reassignment_required"
            | "successor_replan_required" => class::SCOPE,
            "mapped_noop_if_unchanged" => class::UNCHANGED,
            _ if self.must_attempt => class::ACTIVE,
            _ if self.quiet_noop_allowed => class::QUIET,
            _ => class::NOT_ALLOWED,
        }
    }
}
