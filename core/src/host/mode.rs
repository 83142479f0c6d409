//! The ways in which a host runs, as a table.

/// One way of running.
pub(super) struct Mode {
    pub name: &'static str,
    pub intent: &'static str,
    /// Its connector; the host's own where `None` and the mode is visible.
    pub connector: Option<&'static str>,
    pub visible: bool,
    pub execution_mode: Option<&'static str>,
    pub scheduler_owner: Option<&'static str>,
    pub profile: Option<&'static str>,
    pub needs: &'static [&'static str],
    pub proofs: &'static [&'static str],
}

const TURN_PROOFS: &[&str] = &[
    "loopx_turn_plan_preview",
    "typed_host_adapter",
    "independent_validation",
    "validated_writeback_before_quota_spend",
    "opaque_session_handle_not_public",
];

/// What has to be shown in every mode.
pub(super) const SHARED_PROOFS: [&str; 4] = [
    "scoped_agent_identity",
    "quota_guard_before_run",
    "turn_envelope_or_connector_contract_preserved",
    "readiness_probe",
];

pub(super) const MODES: &[Mode] = &[
    Mode {
        name: "visible_tui",
        intent: "watch_each_turn",
        connector: None,
        visible: true,
        execution_mode: Some("interactive-visible"),
        scheduler_owner: Some("agent_cli_loop"),
        profile: None,
        needs: &["visible_session"],
        proofs: &["visible_surface_preserved", "clear_gate_handling"],
    },
    Mode {
        name: "isolated_headless_turn",
        intent: "continue_without_ui",
        connector: Some("loopx_turn"),
        visible: false,
        execution_mode: Some("isolated-headless"),
        scheduler_owner: Some("outer_controller"),
        profile: Some("outer_controller"),
        needs: &["loopx_turn", "typed_host_adapter", "independent_validator"],
        proofs: TURN_PROOFS,
    },
    Mode {
        name: "im_gateway",
        intent: "intake_from_chat",
        connector: Some("http_webhook"),
        visible: false,
        execution_mode: None,
        scheduler_owner: None,
        profile: None,
        needs: &["chat_gateway"],
        proofs: &["durable_todo_intake", "text_or_card_fallback", "source_boundary"],
    },
    Mode {
        name: "shell_service",
        intent: "timer_keepalive",
        connector: Some("shell_worker"),
        visible: false,
        execution_mode: Some("isolated-headless"),
        scheduler_owner: Some("outer_controller"),
        profile: Some("outer_controller"),
        needs: &[
            "service_timer",
            "shell",
            "loopx_turn",
            "typed_host_adapter",
            "independent_validator",
        ],
        proofs: &[
            "loopx_turn_plan_preview",
            "typed_host_adapter",
            "independent_validation",
            "validated_writeback_before_quota_spend",
            "opaque_session_handle_not_public",
            "scheduler_hint_backoff",
            "no_spend_quiet_monitor",
        ],
    },
    Mode {
        name: "hybrid_handoff",
        intent: "escalate_between_modes",
        connector: None,
        visible: false,
        execution_mode: None,
        scheduler_owner: None,
        profile: Some("outer_controller"),
        needs: &[],
        proofs: &[
            "explicit_transition_event",
            "target_mode_readiness",
            "shared_agent_id_writeback",
            "visible_escalation_for_user_gate",
        ],
    },
];

/// The name of the mode that only combines others; it is no connector.
pub(super) const HYBRID: &str = "hybrid_handoff";

/// Ways from one mode into another.
pub(super) const TRANSITIONS: [(&str, &str); 4] = [
    ("visible_tui", "isolated_headless_turn"),
    ("isolated_headless_turn", "visible_tui"),
    ("im_gateway", "isolated_headless_turn"),
    ("shell_service", "visible_tui"),
];
