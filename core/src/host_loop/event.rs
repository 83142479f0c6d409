//! What a host tells its loop, and what the loop tells the host.

use serde::{Deserialize, Serialize};

use super::binding::Reason;
use crate::model::{Instant, TodoId, TurnId};

/// Something that happened to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LoopEvent {
    /// The session follows this goal from now on.
    Activated,
    /// The agent has finished what it was doing and the session is idle. A turn that the
    /// agent left unsettled ends here.
    Settled {
        /// The turn that is over, from a host that knows; a host that only knows that the
        /// session is idle leaves it out, and the loop goes by whether the prompt arrived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_instance_id: Option<String>,
    },
    /// The session got a prompt: the loop's own coming back, or one of the person.
    UserPrompt {
        /// Its text. Compared with the turn that is out, never kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
    },
    /// The host has begun the turn that it was handed.
    Delivered,
    /// The person stopped the agent.
    Aborted,
    /// The person pauses the loop.
    Paused,
    /// The person resumes the loop.
    Resumed,
    /// A timer of the host fired.
    Timer,
    /// The goal changed: somebody else committed.
    Changed,
    /// The host could not ask.
    ProbeFailed {
        /// Seconds of the first wait, of a host that has its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_seconds: Option<u64>,
    },
    /// The session's context was compacted.
    Compacted,
    /// Another runtime has the session: the host was restarted or reloaded.
    SessionReplaced,
    /// The turn broke in the host: the model failed, a child timed out.
    HostError {
        /// Seconds of the first wait, of a host that has its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_seconds: Option<u64>,
    },
    /// The runtime is going away.
    Disposed {
        /// The turn that was out is over: the runtime has stopped it, or it ended.
        #[serde(default)]
        ended_turn: bool,
        /// It ended by itself and well; nobody stopped it.
        #[serde(default)]
        finished: bool,
    },
}

/// What the host does next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Action {
    /// Send this prompt; the turn is admitted. Sent again after a restart it is the same
    /// prompt with the same turn.
    Prompt {
        /// The turn.
        turn_id: TurnId,
        /// What it is bound to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        todo_id: Option<TodoId>,
        /// What the agent reads; its last line names the turn.
        text: String,
    },
    /// Nothing to do until then.
    Wait {
        /// When to send a `timer` event.
        until: Instant,
    },
    /// Send a `timer` event at once: the one recheck before the unchanged limit ends the loop.
    Recheck,
    /// The loop is paused.
    Pause {
        /// Why.
        reason: Reason,
        /// What the hint tells this host to do, such as
        /// `update_goal_blocked_keep_loopx_active`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        directive: Option<String>,
    },
    /// The loop is over.
    Stop {
        /// Why.
        reason: Reason,
        /// What the hint tells this host to do, such as `exit`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        directive: Option<String>,
    },
    /// Nothing: the agent is at work, or the loop does not go on by itself.
    Idle,
}

/// What a person is told, once per key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notice {
    /// Shown once; another key is another notice.
    pub key: String,
    /// One sentence.
    pub text: String,
    /// What they can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}
