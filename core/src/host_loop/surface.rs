//! How hosts differ in their loop; nothing else in this room asks which host it is.

/// What a message of the person means to a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnUserPrompt {
    /// The person takes over: the loop pauses until it is resumed.
    Pauses,
    /// The message takes the turn; the loop goes on when the host has settled it.
    TakesTheTurn,
}

/// One host as its loop sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// `--host` word (contract.md 6).
    pub name: &'static str,
    /// A message of the person.
    pub on_user_prompt: OnUserPrompt,
    /// Key of `scheduler_hint.unchanged_poll` that speaks to this host.
    pub limit_key: &'static str,
    /// The runtime is a process that an operator or a supervisor starts on purpose: its
    /// start is a fresh look also when the unchanged limit had ended the loop before.
    pub start_is_a_look: bool,
    /// Every turn begins a session of its own, which knows nothing of the one before.
    pub new_session_each_turn: bool,
}

const fn surface(
    name: &'static str,
    on_user_prompt: OnUserPrompt,
    limit_key: &'static str,
    a_process: bool,
) -> Surface {
    Surface {
        name,
        on_user_prompt,
        limit_key,
        start_is_a_look: a_process,
        new_session_each_turn: a_process,
    }
}

use OnUserPrompt::{Pauses, TakesTheTurn};

/// Every host that loops through this machine.
pub const SURFACES: &[Surface] = &[
    surface("pi", Pauses, "local_scheduler", false),
    surface("opencode", TakesTheTurn, "local_scheduler", false),
    surface("opencode2", TakesTheTurn, "local_scheduler", false),
    surface("shell", TakesTheTurn, "local_scheduler", true),
    surface("turn", TakesTheTurn, "local_scheduler", true),
    surface("dsh", TakesTheTurn, "local_scheduler", false),
    surface("codex-cli", Pauses, "codex_cli_tui", false),
    surface("codex-app-ssh", Pauses, "codex_app_ssh_goal", false),
    surface("claude-code", TakesTheTurn, "claude_code_loop", false),
    surface("other-agent", TakesTheTurn, "local_scheduler", false),
];

impl Surface {
    /// The host of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        SURFACES.iter().find(|s| s.name == name)
    }
}
