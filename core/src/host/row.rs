//! The types of a host's row. Words that hosts and doors read have a stable text.

use serde::Serialize;

use crate::schedule::ExecutionContext;

macro_rules! hosts {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// A surface that an agent loop runs on. Its text is the `--host` name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Host {
            $(#[doc = $doc] #[serde(rename = $name)] $variant,)*
        }

        impl Host {
            /// Every host, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The `--host` name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

hosts! {
    CodexApp "codex-app" "Codex App automation.";
    TraeApp "trae-app" "Trae App automation.";
    CodexAppSsh "codex-app-ssh" "Codex App on a workspace reached over SSH.";
    CodexCli "codex-cli" "Codex CLI in its terminal interface.";
    CodexIde "codex-ide-plugin" "The Codex plugin of an editor.";
    ArkAgent "ark-managed-agent" "Ark managed agent.";
    TraexCli "traex-cli" "TraeX CLI in its terminal interface.";
    ClaudeCode "claude-code" "Claude Code.";
    KunlunCode "kunluncode" "KunlunCode.";
    Opencode "opencode" "OpenCode with the goal bridge.";
    Opencode2 "opencode2" "OpenCode 2, driven by the worker.";
    Pi "pi" "Pi with the goal extension.";
    GeminiCli "gemini-cli" "Gemini CLI.";
    CursorAgent "cursor-agent" "Cursor's agent on the command line.";
    Shell "shell" "A shell, cron line, launchd job or service timer.";
    Webhook "webhook" "An HTTP webhook or local daemon.";
    WorkerBridge "worker-bridge" "A task container or remote worker behind a bridge.";
    ComputerUse "computer-use" "A browser, desktop or app automation runtime.";
    Dsh "dsh" "DeepSeek Harness through LoopX Turn.";
    DshNative "deepseek-harness-native" "DeepSeek Harness with the plugin in its own session.";
    Turn "turn" "LoopX Turn with a host adapter.";
    OtherAgent "other-agent" "Any other agent loop.";
}

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub enum $name {
            $($(#[$inner])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its stable text.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

words! {
    /// What kind of text a host is woken with; decides its words, escapes and budgets.
    BodyKind {
        /// The task of a scheduled automation, which the host wraps in heartbeat XML.
        AppHeartbeat = "app_heartbeat",
        /// The text of a native `/goal` that the host continues by itself.
        VisibleGoal = "visible_goal",
        /// A goal that is submitted once; the host's runtime owns the inner turns.
        OneShotGoal = "one_shot_goal",
        /// What an agent loop repeats at every wake.
        LoopPrompt = "loop_prompt",
        /// What a surface is told that acts for somebody else and never writes back itself.
        Provider = "provider",
    }
}

words! {
    /// How much a body says.
    Style {
        /// The rules in one breath.
        Thin = "thin",
        /// With outcomes and waiting.
        Brief = "brief",
        /// With gates, replans and identity.
        Compact = "compact",
        /// With everything an audit would ask for.
        Full = "full",
    }
}

impl BodyKind {
    /// Characters (Unicode scalar values) of a body, at most. A native goal has the host's
    /// own limit, whatever the style.
    pub const fn limit(self, style: Style) -> usize {
        match (self, style) {
            (Self::VisibleGoal | Self::OneShotGoal, _) => 4_000,
            (_, Style::Thin) => 1_900,
            (_, Style::Brief) => 3_500,
            (_, Style::Compact) => 6_200,
            (_, Style::Full) => 12_000,
        }
    }

    /// Whether the host keeps a native goal going.
    pub const fn is_goal(self) -> bool {
        matches!(self, Self::VisibleGoal | Self::OneShotGoal)
    }
}

words! {
    /// What a spend of this host is booked under (`quota spend-slot --source`).
    SpendSource {
        /// A wake on a schedule or of an agent loop.
        Heartbeat = "heartbeat",
        /// A native goal.
        VisibleGoal = "visible-goal",
        /// A controller that runs one bounded turn.
        Controller = "controller",
        /// An adapter that writes back for an executor.
        Adapter = "adapter",
    }
}

words! {
    /// How a loop on this host ends or rests. None of these spends.
    StopRule {
        /// `scheduler_hint.app_automation` names the host's action: change the cadence, or
        /// pause the automation when nothing may follow.
        AppAutomation = "app_automation",
        /// Complete the host's goal only when the work is terminal; at the third unchanged
        /// blocked turn `update_goal(status=blocked)`, which the user's `/goal resume` lifts.
        NativeGoal = "native_goal",
        /// The host's goal runtime defers or completes.
        GoalRuntime = "goal_runtime",
        /// At the unchanged limit one last look, then the loop stops.
        FinalCheck = "final_check",
        /// At the unchanged limit the loop stops with a notice in the session.
        VisibleNotice = "visible_notice",
        /// A controller sleeps along the hint's ladder.
        Controller = "controller",
        /// Nothing loops here: the hint is advice to whoever calls again.
        Advisory = "advisory",
        /// Ends with its one action, and at anything unclear before it.
        SingleAction = "single_action",
    }
}

words! {
    /// Who puts skills and commands where the host finds them.
    SkillOwner {
        /// `loopx install`.
        Installer = "loopx_surface_installer",
        /// The host's own integration.
        HostIntegration = "host_integration",
    }
}

words! {
    /// The folder that a managed file's path starts from.
    Place {
        /// The project.
        Project = "project",
        /// `$CODEX_HOME`, by default `~/.codex`.
        CodexHome = "codex_home",
        /// `$CLAUDE_CONFIG_DIR`, by default `~/.claude`.
        ClaudeHome = "claude_home",
        /// `~/.gemini`.
        GeminiHome = "gemini_home",
        /// `~/.cursor`.
        CursorHome = "cursor_home",
    }
}

words! {
    /// What a managed file is to the host.
    InstallKind {
        /// A skill.
        Skill = "skill",
        /// A slash command.
        Command = "command",
        /// Code that the host loads.
        Extension = "extension",
        /// An entry in a configuration file that belongs to the user.
        ConfigEntry = "config_entry",
    }
}

/// A file that `loopx install` manages for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InstallFile {
    /// What it is.
    pub kind: InstallKind,
    /// Where its path starts.
    pub place: Place,
    /// Path below it.
    pub path: &'static str,
}

/// How a host's loop is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Activation {
    /// The earlier tool's name for the surface; an activation record has the host's.
    pub surface: &'static str,
    /// What is done there.
    pub method: &'static str,
    /// Who alone may change the host's state.
    pub owner: &'static str,
    /// The host's tool for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<&'static str>,
    /// The command that a person types in the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<&'static str>,
    /// Whether the command line may switch it on itself.
    pub cli_can_mutate: bool,
    /// The variable in which the host names its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_env: Option<&'static str>,
    /// Minutes between wakes at first, where the host keeps a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_minutes: Option<u32>,
}

/// A connector as the catalogue shows it: what a person reads before choosing. The fields
/// are those of the catalogue in their order; the id and the surface's host come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Catalog {
    /// Stable id.
    pub id: &'static str,
    /// What it is to a user.
    pub surface: &'static str,
    /// How the loop runs.
    pub execution_mode: &'static str,
    /// What starts a turn.
    pub wake_triggers: &'static str,
    /// How validated work is written back.
    pub state_writeback: &'static str,
    /// How one sees that it is alive.
    pub liveness_signal: &'static str,
    /// How it stops and starts again.
    pub stop_reset_policy: &'static str,
    /// What costs a slot.
    pub budget_meter: &'static str,
    /// What a person sees.
    pub human_visibility: &'static str,
    /// What it must not do.
    pub boundary: &'static str,
    /// What a check of it proves.
    pub smoke_expectation: &'static str,
}

/// A host's connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectorOf {
    /// Its own entry of the catalogue.
    Own(Catalog),
    /// That of a host which runs the same way.
    Shared(Host),
    /// None: the host is told what to do, and not catalogued.
    Uncatalogued,
}

/// One host, whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRow {
    /// Which.
    pub host: Host,
    /// Its name to people.
    pub display: &'static str,
    /// What else `--host` accepts; case, `_`, `-` and spaces make no difference.
    pub aliases: &'static [&'static str],
    /// Its connector.
    pub connector: ConnectorOf,
    /// Profile of `schedule::context` that says who schedules it; `None` where LoopX is
    /// asked by whoever calls.
    pub profile: Option<&'static str>,
    /// What it is woken with.
    pub body: BodyKind,
    /// What its spends are booked under.
    pub spend: SpendSource,
    /// How it ends or rests.
    pub stop: StopRule,
    /// How it is switched on.
    pub activation: Activation,
    /// Who brings the skills.
    pub skills: SkillOwner,
    /// What `loopx install` manages.
    pub install: &'static [InstallFile],
}

impl HostRow {
    /// The `--host` name.
    pub const fn name(&self) -> &'static str {
        self.host.name()
    }

    /// Its entry of the catalogue, its own or the shared one.
    pub fn catalog(&self) -> Option<&Catalog> {
        match &self.connector {
            ConnectorOf::Own(catalog) => Some(catalog),
            // Shared entries are one step away; a test holds them to that.
            ConnectorOf::Shared(host) => match &host.row().connector {
                ConnectorOf::Own(catalog) => Some(catalog),
                ConnectorOf::Shared(_) | ConnectorOf::Uncatalogued => None,
            },
            ConnectorOf::Uncatalogued => None,
        }
    }

    /// The connector's id.
    pub fn connector_id(&self) -> Option<&'static str> {
        self.catalog().map(|catalog| catalog.id)
    }

    /// Who wakes the agent, as admissions are told.
    pub fn context(&self) -> Option<ExecutionContext> {
        self.profile.and_then(ExecutionContext::of_profile)
    }
}

impl Host {
    /// Its row.
    pub const fn row(self) -> &'static HostRow {
        super::table::row(self)
    }
}
