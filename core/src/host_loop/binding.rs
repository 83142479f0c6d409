//! What a host's loop keeps between two events: one row of the goal's store.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::DecisionIdentity;
use crate::error::{Error, ErrorCode, Result};
use crate::file::sha256_hex;
use crate::model::todo::text_enum;
use crate::model::{AgentId, HolderEvidence, HostRow, Instant, TodoId, TurnId};
use crate::schedule::ExecutionContext;

/// Kind of the host rows that hold bindings.
pub const ROW_KIND: &str = "loop";
/// Most bytes of the session text that a door gives.
pub const SESSION_LIMIT: usize = 4_096;

/// The session that a loop belongs to. Only a digest of what the door said is kept: a
/// session's name may be a path of the person's machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionKey(String);

impl SessionKey {
    /// The key of `session` on `surface`: `<surface>-` and 24 hex digits.
    ///
    /// Errors: [`ErrorCode::RequestInvalid`] for a session that is empty, has a control
    /// character or is longer than 4,096 bytes. An empty one would bind every session of
    /// a project at once.
    pub fn of(surface: &str, session: &str) -> Result<Self> {
        let bad = |why: &str| {
            Err(Error::new(ErrorCode::RequestInvalid, "session")
                .message(format!("session {why}"))
                .next("name the host's session, for example its file or its id"))
        };
        if session.trim().is_empty() {
            return bad("is empty");
        }
        if session.len() > SESSION_LIMIT {
            return bad("is longer than 4,096 bytes");
        }
        if session.chars().any(char::is_control) {
            return bad("has a control character");
        }
        let digest = sha256_hex(format!("{surface}\0{session}").as_bytes());
        Ok(Self(format!("{surface}-{}", digest.get(..24).unwrap_or_default())))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

text_enum! {
    /// Whether a loop goes on by itself.
    LoopState {
        /// It does.
        Armed = "armed",
        /// Not until somebody resumes it.
        Paused = "paused",
        /// It is over; resuming looks again whether there is something new.
        Stopped = "stopped",
    }
}

text_enum! {
    /// Why a loop is paused or stopped.
    Reason {
        /// The person paused it.
        UserPaused = "user_paused",
        /// The person wrote a message of their own.
        UserPrompt = "user_prompt",
        /// The person stopped the agent in the middle of its turn.
        Aborted = "aborted",
        /// Looked as often as the hint allows, and nothing changed.
        UnchangedLimit = "unchanged_limit",
        /// The goal is stopped.
        GoalStopped = "goal_stopped",
        /// The goal has no quota.
        QuotaPaused = "quota_paused",
        /// Work went back to whoever coordinates the agents.
        ReturnedToOwner = "returned_to_owner",
        /// Every todo is done and nothing follows: the kernel says so.
        Terminal = "terminal",
        /// The session follows another goal now.
        Replaced = "replaced",
    }
}

/// What a door declared when the loop was activated; later events may declare it anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Door {
    /// Capabilities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_capabilities: Vec<String>,
    /// It works in a worktree of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub independent_worktree: bool,
    /// Who wakes the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<ExecutionContext>,
}

/// A prompt that was handed out, or is about to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pending {
    /// The turn that was admitted for it.
    pub turn_id: TurnId,
    /// What the turn is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<TodoId>,
    /// The rule that admitted it.
    pub rule: String,
    /// When.
    pub at: Instant,
    /// The host has it: it was seen in the session, or the host said that it has begun.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delivered: bool,
    /// It carries the whole body, not only what is new.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

/// One loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Whose.
    pub session_key: SessionKey,
    /// `--host` word.
    pub surface: String,
    /// For whom it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Grows with every change: who brings an older one has missed something.
    pub generation: u64,
    /// Whether it goes on.
    pub state: LoopState,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The reset token of the wait that is on; another one begins the ladder anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset_token: Option<String>,
    /// Looks in a row at that same wait.
    #[serde(default)]
    pub unchanged: u32,
    /// Failures in a row.
    #[serde(default)]
    pub failures: u32,
    /// When to look again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Instant>,
    /// The prompt that is out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// The turn that was out before: its prompt may still come back, and is nobody's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<TurnId>,
    /// The answer before the one recheck that the unchanged limit leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck: Option<DecisionIdentity>,
    /// The notice that the person saw last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified: Option<String>,
    /// The next prompt has to carry the whole body: the session is new, or it lost it.
    #[serde(default)]
    pub whole_next: bool,
    /// What the door declared.
    #[serde(default)]
    pub door: Door,
    /// The process that runs the loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<HolderEvidence>,
    /// The host does not keep the session: it ends with that process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
    /// When it changed last.
    pub at: Instant,
}

impl Binding {
    /// A new loop, armed.
    pub fn new(key: SessionKey, surface: &str, agent: Option<AgentId>, now: Instant) -> Self {
        Self {
            session_key: key,
            surface: surface.to_owned(),
            agent,
            generation: 0,
            state: LoopState::Armed,
            reason: None,
            reset_token: None,
            unchanged: 0,
            failures: 0,
            due_at: None,
            pending: None,
            earlier: None,
            recheck: None,
            notified: None,
            whole_next: true,
            door: Door::default(),
            holder: None,
            ephemeral: false,
            at: now,
        }
    }

    /// The binding by a clock that says `now`. One that was ahead when the wait was set, or has
    /// been set back since, must not make it longer: what was left of it is what is left.
    #[must_use]
    pub fn by_clock(mut self, now: Instant) -> Self {
        if self.at > now {
            let left = |due: Instant| due.micros().saturating_sub(self.at.micros()).max(0);
            self.due_at = self.due_at.map(|due| now.plus_micros(left(due)));
        }
        self.at = now;
        self
    }

    /// As a row of the store.
    pub fn to_row(&self) -> Result<HostRow> {
        let doc = serde_json::to_value(self)
            .map_err(|e| Error::new(ErrorCode::Internal, "loop binding").detail(e))?;
        Ok(HostRow { kind: ROW_KIND.into(), key: self.session_key.0.clone(), doc })
    }

    /// From a row of the store. A row that cannot be read is not taken for an absent one:
    /// a loop whose memory is lost must not run again what it had begun.
    pub fn of_row(row: &HostRow) -> Result<Self> {
        serde_json::from_value(row.doc.clone()).map_err(|e| {
            Error::new(ErrorCode::StoreUnreadable, "loop binding")
                .message(format!("the loop {} cannot be read", row.key))
                .detail(e)
                .next("loopx store check")
        })
    }

    /// What a door shows of it.
    pub fn shown(&self) -> Value {
        let mut shown = serde_json::json!({
            "session_key": self.session_key,
            "surface": self.surface,
            "agent_id": self.agent,
            "generation": self.generation,
            "state": self.state,
            "reason": self.reason,
            "unchanged": self.unchanged,
            "failures": self.failures,
            "due_at": self.due_at,
            "pending": self.pending,
            "at": self.at,
        });
        if let (true, Some(map)) = (self.ephemeral, shown.as_object_mut()) {
            map.insert("ephemeral".into(), Value::Bool(true));
        }
        shown
    }
}
