//! Hosts with a goal of their own: they continue by themselves, and a person watches.

use super::super::row::{
    Activation, BodyKind, Catalog, ConnectorOf, Host, HostRow, SkillOwner, SpendSource, StopRule,
};
use super::apps::CODEX_FILES;

/// Codex App over SSH.
pub(super) const CODEX_APP_SSH: HostRow = HostRow {
    host: Host::CodexAppSsh,
    display: "Codex App over SSH",
    aliases: &["codex-ssh", "codex-app-remote", "codex-app-ssh-goal"],
    connector: ConnectorOf::Own(Catalog {
        id: "codex_app_ssh_goal",
        surface: "Codex App on a remote workspace reached over SSH",
        execution_mode: "Interactive goal that stays in view",
        wake_triggers: "The host continues its `/goal`; no automation tool is needed",
        state_writeback: "`turn settle` after validation; a separate spend is booked with `--source visible-goal`",
        liveness_signal: "State of the visible goal, and `loopx status`",
        stop_reset_policy: "Completed only when nothing follows; the third unchanged blocked turn calls `update_goal(status=blocked)`, which stops the host while the LoopX goal stays active; the user's `/goal resume` starts it again",
        budget_meter: "One slot per settled delivery; gates, waits, last looks and a blocked host cost nothing",
        human_visibility: "The running Codex task with its gate or next action",
        boundary: "Body within the 4,000 characters of `/goal`; it makes up no `LOOPX_TURN` and never calls `automation_update`",
        smoke_expectation: "Onboarding: this very host, its typed context, the body's budget, a bounded quiet stop, and no word of a heartbeat",
    }),
    profile: Some("codex_app_ssh_goal"),
    body: BodyKind::VisibleGoal,
    spend: SpendSource::VisibleGoal,
    stop: StopRule::NativeGoal,
    activation: Activation {
        surface: "codex_app_ssh_visible_goal_mode",
        method: "set_visible_goal",
        owner: "Codex App task on the remote workspace",
        tool: None,
        command: Some("/goal"),
        cli_can_mutate: false,
        thread_env: Some("CODEX_THREAD_ID"),
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: CODEX_FILES,
};

/// Codex CLI.
pub(super) const CODEX_CLI: HostRow = HostRow {
    host: Host::CodexCli,
    display: "Codex CLI",
    aliases: &["codex-cli-tui", "codex-tui"],
    connector: ConnectorOf::Own(Catalog {
        id: "codex_cli_tui",
        surface: "Codex CLI in its terminal interface",
        execution_mode: "Interactive terminal loop that stays in view",
        wake_triggers: "The user's first message, `/goal`, or its continuation",
        state_writeback: "`turn settle` after validation; a separate spend is booked with `--source visible-goal`",
        liveness_signal: "The terminal, and `loopx status`",
        stop_reset_policy: "As over SSH: `update_goal(status=blocked)` at the typed unchanged limit, lifted by `/goal resume`",
        budget_meter: "One slot per settled delivery; blocking and last looks cost nothing",
        human_visibility: "The turn in the terminal",
        boundary: "Never moved to a hidden run in silence; transcripts are not copied",
        smoke_expectation: "Prompt and first message: identity, and the native blocked and resume rules",
    }),
    profile: Some("codex_cli"),
    body: BodyKind::VisibleGoal,
    spend: SpendSource::VisibleGoal,
    stop: StopRule::NativeGoal,
    activation: Activation {
        surface: "codex_cli_visible_goal_mode",
        method: "set_visible_goal",
        owner: "Codex CLI",
        tool: None,
        command: Some("/goal"),
        cli_can_mutate: false,
        thread_env: Some("CODEX_THREAD_ID"),
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: CODEX_FILES,
};

/// Codex in an editor.
pub(super) const CODEX_IDE: HostRow = HostRow {
    host: Host::CodexIde,
    display: "Codex IDE plugin",
    aliases: &["codex-ide", "codex-ide-extension", "codex-vscode", "vscode-codex"],
    connector: ConnectorOf::Shared(Host::CodexCli),
    profile: Some("codex_cli"),
    body: BodyKind::VisibleGoal,
    spend: SpendSource::VisibleGoal,
    stop: StopRule::NativeGoal,
    activation: Activation {
        surface: "codex_ide_visible_goal_mode",
        method: "set_visible_goal",
        owner: "Codex IDE plugin",
        tool: None,
        command: Some("/goal"),
        cli_can_mutate: false,
        thread_env: Some("CODEX_THREAD_ID"),
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: CODEX_FILES,
};

/// Ark managed agent.
pub(super) const ARK_AGENT: HostRow = HostRow {
    host: Host::ArkAgent,
    display: "Ark managed agent",
    aliases: &["managed-agent", "ark"],
    connector: ConnectorOf::Uncatalogued,
    profile: Some("ark_managed_agent_goal"),
    body: BodyKind::OneShotGoal,
    spend: SpendSource::VisibleGoal,
    stop: StopRule::GoalRuntime,
    activation: Activation {
        surface: "ark_managed_agent_goal_mode",
        method: "submit_goal_once",
        owner: "Ark goal host",
        tool: None,
        command: None,
        cli_can_mutate: false,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::HostIntegration,
    install: &[],
};

/// TraeX CLI.
pub(super) const TRAEX_CLI: HostRow = HostRow {
    host: Host::TraexCli,
    display: "TraeX CLI",
    aliases: &["traex", "traex-cli-tui", "traex-tui", "trae-cli"],
    connector: ConnectorOf::Uncatalogued,
    profile: Some("generic_cli"),
    body: BodyKind::VisibleGoal,
    spend: SpendSource::VisibleGoal,
    stop: StopRule::GoalRuntime,
    activation: Activation {
        surface: "traex_visible_goal_mode",
        method: "set_visible_goal",
        owner: "TraeX CLI",
        tool: None,
        command: Some("/goal"),
        cli_can_mutate: false,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::HostIntegration,
    install: &[],
};
