//! Apps that wake a thread on a schedule of their own.

use super::super::row::{
    Activation, BodyKind, Catalog, ConnectorOf, Host, HostRow, InstallFile, InstallKind, Place,
    SkillOwner, SpendSource, StopRule,
};

/// Codex App.
pub(super) const CODEX_APP: HostRow = HostRow {
    host: Host::CodexApp,
    display: "Codex App",
    aliases: &["chat-box", "codex-desktop", "codex-app-heartbeat"],
    connector: ConnectorOf::Own(Catalog {
        id: "codex_app_heartbeat",
        surface: "Codex App automation",
        execution_mode: "App thread that an automation wakes, without a window of its own",
        wake_triggers: "RRULE of the automation; a new `scheduler_hint.reset_policy.reset_token`",
        state_writeback: "`turn settle`: todo, evidence, refresh and one slot in one commit, after validation",
        liveness_signal: "A run of the automation and the admission that it made",
        stop_reset_policy: "The host applies `scheduler_hint.app_automation`; a change of cadence never spends",
        budget_meter: "One slot of the goal's window per settled delivery of an agent",
        human_visibility: "The thread, the heartbeat XML of a wake, and the todo that asks the user something",
        boundary: "Generated body only, with its `--agent-id`; nothing of one project's own in it",
        smoke_expectation: "Prompt: identity, hint, reset token, and a change of cadence that spends nothing",
    }),
    profile: Some("codex_app_heartbeat"),
    body: BodyKind::AppHeartbeat,
    spend: SpendSource::Heartbeat,
    stop: StopRule::AppAutomation,
    activation: Activation {
        surface: "codex_app_heartbeat_automation",
        method: "create_or_update_codex_app_automation",
        owner: "Codex App",
        tool: Some("automation_update"),
        command: None,
        cli_can_mutate: false,
        thread_env: Some("CODEX_THREAD_ID"),
        initial_minutes: Some(3),
    },
    skills: SkillOwner::Installer,
    install: CODEX_FILES,
};

/// What every Codex surface reads.
pub(super) const CODEX_FILES: &[InstallFile] = &[InstallFile {
    kind: InstallKind::Skill,
    place: Place::CodexHome,
    path: "skills/loopx/SKILL.md",
}];

/// Trae App.
pub(super) const TRAE_APP: HostRow = HostRow {
    host: Host::TraeApp,
    display: "Trae App",
    aliases: &["trae-desktop", "trae-app-heartbeat"],
    connector: ConnectorOf::Own(Catalog {
        id: "trae_app",
        surface: "Trae App automation",
        execution_mode: "App thread that an automation wakes",
        wake_triggers: "Schedule of the automation; a new `scheduler_hint.reset_policy.reset_token`",
        state_writeback: "`turn settle`: todo, evidence, refresh and one slot in one commit, after validation",
        liveness_signal: "A run of the automation and the admission that it made",
        stop_reset_policy: "Trae's `automation_update` applies `scheduler_hint.app_automation` with `host_surface=trae_app`; a settled turn that is not terminal leaves the automation active; neither a packet nor a store of Codex is a fallback",
        budget_meter: "One slot of the goal's window per settled delivery of an agent",
        human_visibility: "The Trae thread, and the todo that asks the user something",
        boundary: "Generated body only, with its `--agent-id`; thread from `TRAECLI_THREAD_ID`; Codex's automation store is never touched",
        smoke_expectation: "Activation: an identity of its own, the automation, three minutes at first, and going on after a turn that is not terminal",
    }),
    profile: Some("trae_app"),
    body: BodyKind::AppHeartbeat,
    spend: SpendSource::Heartbeat,
    stop: StopRule::AppAutomation,
    activation: Activation {
        surface: "trae_app_heartbeat_automation",
        method: "create_or_update_trae_app_automation",
        owner: "Trae App",
        tool: Some("automation_update"),
        command: None,
        cli_can_mutate: false,
        thread_env: Some("TRAECLI_THREAD_ID"),
        initial_minutes: Some(3),
    },
    skills: SkillOwner::HostIntegration,
    install: &[],
};
