//! Agents whose loop a person can watch and LoopX gates.

use super::super::row::{
    Activation, BodyKind, Catalog, ConnectorOf, Host, HostRow, InstallFile, InstallKind, Place,
    SkillOwner, SpendSource, StopRule,
};

/// Claude Code.
pub(super) const CLAUDE_CODE: HostRow = HostRow {
    host: Host::ClaudeCode,
    display: "Claude Code",
    aliases: &["cc", "claude", "claude-code-loop"],
    connector: ConnectorOf::Own(Catalog {
        id: "claude_code_loop",
        surface: "Claude Code loop",
        execution_mode: "Local agent loop that stays in view",
        wake_triggers: "Slash command, a tick of the local loop, or the host going on by itself",
        state_writeback: "`turn settle` after validation, on the command line or through the MCP tools",
        liveness_signal: "State of the loop, and a pointer to the transcript",
        stop_reset_policy: "At the unchanged limit one last look for quota and replans, then the loop stops",
        budget_meter: "One slot per settled delivery; stopping and the last look cost nothing",
        human_visibility: "State of the local loop and its answers",
        boundary: "No private material, no credentials, nothing in production, and no hidden way around an approval",
        smoke_expectation: "Loop: identity, the last look when nothing changed, and a stop that spends nothing",
    }),
    profile: Some("claude_code"),
    body: BodyKind::LoopPrompt,
    spend: SpendSource::Heartbeat,
    stop: StopRule::FinalCheck,
    activation: Activation {
        surface: "claude_code_native_loop",
        method: "arm_loopx_then_run_native_loop",
        owner: "Claude Code",
        tool: None,
        command: Some("/loop"),
        cli_can_mutate: false,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    // A skill is its own slash command there.
    install: &[InstallFile {
        kind: InstallKind::Skill,
        place: Place::ClaudeHome,
        path: "skills/loopx/SKILL.md",
    }],
};

/// KunlunCode.
pub(super) const KUNLUN_CODE: HostRow = HostRow {
    host: Host::KunlunCode,
    display: "KunlunCode",
    aliases: &["kunlun-code", "kunlun"],
    connector: ConnectorOf::Uncatalogued,
    profile: Some("kunluncode"),
    body: BodyKind::LoopPrompt,
    spend: SpendSource::Heartbeat,
    stop: StopRule::FinalCheck,
    activation: Activation {
        surface: "kunluncode_native_goal_controller",
        method: "bind_project_then_run_native_goal",
        owner: "the user's MCP configuration",
        tool: None,
        command: None,
        cli_can_mutate: true,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: &[],
};

/// OpenCode.
pub(super) const OPENCODE: HostRow = HostRow {
    host: Host::Opencode,
    display: "OpenCode",
    aliases: &["open-code", "opencode-goal-loop"],
    connector: ConnectorOf::Own(Catalog {
        id: "opencode_goal_loop",
        surface: "OpenCode goal mode",
        execution_mode: "Goal plugin in a visible session, gated by LoopX",
        wake_triggers: "`/loopx <task>` once the goal bridge was installed on purpose",
        state_writeback: "`turn settle` after validation, through the bridge",
        liveness_signal: "State of the bridge, and `loopx status`",
        stop_reset_policy: "At the unchanged limit one last look for quota and replans, then the loop stops",
        budget_meter: "One slot per settled delivery; stopping and the last look cost nothing",
        human_visibility: "The goal's turns and the state of the bridge",
        boundary: "The bridge is installed only when asked for; no transcripts, credentials or session paths are copied",
        smoke_expectation: "Bridge and host-mode plan: identity, and the id that the catalogue has",
    }),
    profile: Some("generic_cli"),
    body: BodyKind::LoopPrompt,
    spend: SpendSource::Heartbeat,
    stop: StopRule::FinalCheck,
    activation: Activation {
        surface: "opencode_visible_goal_mode",
        method: "activate_loopx_opencode_goal_bridge",
        owner: "goal bridge in OpenCode",
        tool: Some("loopx_goal_activate"),
        command: Some("/loopx"),
        cli_can_mutate: false,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: &[
        InstallFile {
            kind: InstallKind::Extension,
            place: Place::Project,
            path: ".opencode/plugin/loopx.js",
        },
        InstallFile {
            kind: InstallKind::Command,
            place: Place::Project,
            path: ".opencode/command/loopx.md",
        },
    ],
};

/// OpenCode 2.
pub(super) const OPENCODE2: HostRow = HostRow {
    host: Host::Opencode2,
    display: "OpenCode 2",
    aliases: &["opencode-2", "open-code-2", "opencode-v2", "opencode2-goal-worker"],
    connector: ConnectorOf::Own(Catalog {
        id: "opencode2_goal_worker",
        surface: "OpenCode 2 goal mode",
        execution_mode: "A worker process that drives a visible session over the host's HTTP interface",
        wake_triggers: "`loopx opencode2-goal-worker --goal-id <id> --directory <dir>`",
        state_writeback: "`turn settle` after validation, through the worker",
        liveness_signal: "The worker's state file and its poll receipt, and `loopx status`",
        stop_reset_policy: "At the unchanged limit the loop stops and says so in the session; a failed probe is tried again with bounded pauses",
        budget_meter: "One slot per settled delivery; waits, notices and last looks cost nothing",
        human_visibility: "The session's turns, the prompts that continue it, and notices of stops and pauses",
        boundary: "State lies under `$XDG_STATE_HOME/loopx/opencode2`; no transcripts, credentials or session paths are copied",
        smoke_expectation: "Worker: its turn loop, stops in view, fenced leases, and a user's message that continues it",
    }),
    profile: Some("generic_cli"),
    body: BodyKind::LoopPrompt,
    spend: SpendSource::Heartbeat,
    stop: StopRule::VisibleNotice,
    activation: Activation {
        surface: "opencode2_goal_worker_mode",
        method: "start_opencode2_goal_worker",
        owner: "the worker process",
        tool: None,
        command: None,
        cli_can_mutate: true,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: &[],
};

/// Pi.
pub(super) const PI: HostRow = HostRow {
    host: Host::Pi,
    display: "Pi",
    aliases: &["pi-agent", "earendil-pi", "pi-tui", "pi-goal-loop"],
    connector: ConnectorOf::Own(Catalog {
        id: "pi_goal_loop",
        surface: "Pi goal mode",
        execution_mode: "Goal extension in a visible session, gated by LoopX",
        wake_triggers: "`/loopx <task>` once the goal extension was installed on purpose",
        state_writeback: "`turn settle` after validation, through the extension",
        liveness_signal: "State of the extension, and `loopx status`",
        stop_reset_policy: "At the unchanged limit one last look for quota and replans, then the loop stops",
        budget_meter: "One slot per settled delivery; stopping and the last look cost nothing",
        human_visibility: "The goal's turns and the state of the extension",
        boundary: "The extension is installed only when asked for; bindings stay in the project's `.loopx`; no transcripts, credentials or session paths are copied",
        smoke_expectation: "Extension and host-mode plan: identity, and the id that the catalogue has",
    }),
    profile: Some("generic_cli"),
    body: BodyKind::LoopPrompt,
    spend: SpendSource::Heartbeat,
    stop: StopRule::FinalCheck,
    activation: Activation {
        surface: "pi_visible_goal_mode",
        method: "activate_loopx_pi_goal_extension",
        owner: "goal extension in Pi",
        tool: Some("loopx_goal_activate"),
        command: Some("/loopx"),
        cli_can_mutate: false,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: &[InstallFile {
        kind: InstallKind::Extension,
        place: Place::Project,
        path: ".pi/extensions/loopx-goal.ts",
    }],
};

/// Gemini CLI.
pub(super) const GEMINI_CLI: HostRow = HostRow {
    host: Host::GeminiCli,
    display: "Gemini CLI",
    aliases: &["gemini", "gemini-code", "google-gemini"],
    connector: ConnectorOf::Uncatalogued,
    profile: Some("generic_cli"),
    body: BodyKind::LoopPrompt,
    spend: SpendSource::Heartbeat,
    stop: StopRule::FinalCheck,
    activation: Activation {
        surface: "gemini_cli_agent_loop",
        method: "run_agent_cli_loop_gated_by_quota",
        owner: "the Gemini CLI session",
        tool: None,
        command: None,
        cli_can_mutate: false,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: &[InstallFile {
        kind: InstallKind::Skill,
        place: Place::GeminiHome,
        path: "skills/loopx/SKILL.md",
    }],
};

/// Cursor's agent.
pub(super) const CURSOR_AGENT: HostRow = HostRow {
    host: Host::CursorAgent,
    display: "Cursor agent",
    aliases: &["cursor", "cursor-cli"],
    connector: ConnectorOf::Uncatalogued,
    profile: Some("generic_cli"),
    body: BodyKind::LoopPrompt,
    spend: SpendSource::Heartbeat,
    stop: StopRule::FinalCheck,
    activation: Activation {
        surface: "cursor_agent_loop",
        method: "run_agent_cli_loop_gated_by_quota",
        owner: "the Cursor agent session",
        tool: None,
        command: None,
        cli_can_mutate: false,
        thread_env: None,
        initial_minutes: None,
    },
    skills: SkillOwner::Installer,
    install: &[
        InstallFile {
            kind: InstallKind::Skill,
            place: Place::CursorHome,
            path: "skills/loopx/SKILL.md",
        },
        InstallFile { kind: InstallKind::ConfigEntry, place: Place::CursorHome, path: "mcp.json" },
    ],
};
