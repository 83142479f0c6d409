//! The cadence classes: one row for each way of waiting (reference scheduler.md 2.4).

/// Polls with the same identity after which a loop rechecks once and then stops.
pub const UNCHANGED_LIMIT: u32 = 3;

/// One cadence class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CadenceClass {
    /// What the host does.
    pub action: &'static str,
    /// Name.
    pub class: &'static str,
    /// Why.
    pub reason_code: &'static str,
    /// Why, one sentence.
    pub reason: &'static str,
    /// Minutes to the next look, by number of unchanged polls; empty for a stop.
    pub ladder: &'static [u32],
    /// Unchanged polls allowed; `None` without a limit.
    pub limit: Option<u32>,
    /// The same identity climbs the ladder of a host's own schedule.
    pub advances: bool,
}

impl CadenceClass {
    /// Nothing more is to be woken.
    pub fn is_stop(&self) -> bool {
        self.ladder.is_empty()
    }

    /// The longest step.
    pub fn max_minutes(&self) -> u32 {
        self.ladder.iter().copied().max().unwrap_or(0)
    }
}

/// The agent works now; the ladder is only advertised.
pub const ACTIVE: CadenceClass = CadenceClass {
    action: "run_now",
    class: "active_work",
    reason_code: "interaction_agent_attempt_required",
    reason: "the agent has work to do now",
    ladder: &[3, 6, 10],
    limit: None,
    advances: false,
};
/// A deferred todo's condition holds.
pub const SUCCESSOR: CadenceClass =
    CadenceClass { reason_code: "interaction_successor_replan_required", ..ACTIVE };
/// A run that is offered once: a plain read climbs this ladder instead of running at
/// once again and again (contract.md 2.5).
pub const OFFER: CadenceClass = CadenceClass {
    action: "backoff_until_state_change",
    class: "quiet_wait",
    reason_code: "offer_pending",
    reason: "a run is offered once; admit a turn to take it",
    ladder: &[3, 10, 30, 60],
    limit: None,
    advances: true,
};
/// A person decides.
pub const HUMAN: CadenceClass = CadenceClass {
    action: "backoff_waiting_for_user",
    class: "human_gate",
    reason_code: "interaction_blocking_user_gate",
    reason: "a person has to act first",
    ladder: &[30, 60, 120],
    limit: Some(UNCHANGED_LIMIT),
    advances: true,
};
/// Nothing to do, silently.
pub const QUIET: CadenceClass = CadenceClass {
    action: "backoff_until_state_change",
    class: "quiet_wait",
    reason_code: "interaction_quiet_noop_allowed",
    reason: "nothing is to be done until something changes",
    ladder: &[30, 60, 120],
    limit: Some(UNCHANGED_LIMIT),
    advances: true,
};
/// Delivery is held back.
pub const NOT_ALLOWED: CadenceClass =
    CadenceClass { reason_code: "interaction_delivery_not_allowed", ..QUIET };
/// What was looked at has not changed.
pub const UNCHANGED: CadenceClass = CadenceClass {
    action: "backoff_until_fresh_evidence",
    class: "unchanged_noop",
    reason_code: "interaction_unchanged_wait",
    reason: "nothing has changed since the last look",
    ladder: &[60, 120, 240],
    limit: Some(UNCHANGED_LIMIT),
    advances: true,
};
/// The work is another's, or waits on something.
pub const SCOPE: CadenceClass = CadenceClass {
    action: "backoff_until_reassigned",
    class: "agent_scope_wait",
    reason_code: "interaction_agent_scope_wait",
    reason: "nothing is within this agent's scope now",
    ladder: &[10, 20, 30, 60],
    limit: Some(UNCHANGED_LIMIT),
    advances: true,
};
/// A monitor is not due.
pub const MONITOR: CadenceClass = CadenceClass {
    action: "backoff_until_material_transition",
    class: "monitor_wait",
    reason_code: "interaction_monitor_quiet_wait",
    reason: "the next monitor is not due yet",
    ladder: &[15, 30, 60],
    limit: Some(UNCHANGED_LIMIT),
    advances: true,
};
/// The agent only watches.
pub const MONITOR_ONLY: CadenceClass = CadenceClass {
    action: "backoff_agent_monitor_only",
    class: "agent_monitor_only",
    reason_code: "agent_monitor_only",
    reason: "the agent only watches, and nothing is due",
    ladder: &[15, 30, 60],
    limit: Some(UNCHANGED_LIMIT),
    advances: true,
};
/// The goal has ended.
pub const TERMINAL: CadenceClass = CadenceClass {
    action: "stop_until_explicit_resume",
    class: "terminal_no_followup",
    reason_code: "terminal_no_followup",
    reason: "the goal has ended and nothing follows",
    ladder: &[],
    limit: None,
    advances: false,
};
/// A person stopped the goal.
pub const STOPPED: CadenceClass = CadenceClass {
    class: "goal_stopped",
    reason_code: "goal_stopped",
    reason: "the goal is stopped",
    ..TERMINAL
};
/// The goal has no compute.
pub const PAUSED: CadenceClass = CadenceClass {
    class: "quota_paused",
    reason_code: "quota_paused",
    reason: "the goal's compute is zero",
    ..TERMINAL
};
/// Another agent owns what comes next.
pub const PEER_BLOCKED: CadenceClass = CadenceClass {
    action: "return_to_owner_until_material_change",
    class: "peer_coordination_blocked",
    reason_code: "peer_coordination_blocked",
    reason: "the work goes back to the agent that owns it",
    ..TERMINAL
};
/// The contract contradicts itself.
pub const CONSISTENCY: CadenceClass = CadenceClass {
    action: "repair_interaction_contract_projection",
    class: "control_plane_repair",
    reason_code: "scheduler_interaction_contract_inconsistent",
    reason: "the decision contradicts itself: decide again before any cadence is applied",
    ladder: &[3, 6, 10],
    limit: None,
    advances: false,
};
/// The execution context cannot be.
pub const CONTEXT_REPAIR: CadenceClass = CadenceClass {
    action: "repair_scheduler_execution_context",
    class: "control_plane_repair",
    reason_code: "invalid_scheduler_execution_context",
    reason: "the execution context names what does not go together",
    ladder: &[],
    limit: None,
    advances: false,
};
