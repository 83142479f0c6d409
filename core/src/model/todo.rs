//! One todo: what is to be done, by whom, under which conditions.
//!
//! Field names are the metadata keys of the state file (reference state.md 2.4).
//! Keys that no rule reads travel in `extra`, unknown ones included, so that a
//! newer or a foreign tool's fields survive a round trip.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::id::{AgentId, TodoId};
use super::time::{Cadence, Instant};

macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every value with its text, in declaration order.
            pub const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $text)),*];

            /// The text form.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Reads the text form.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().find(|(_, t)| *t == text).map(|(v, _)| *v)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use text_enum;

text_enum! {
    /// Whose list a todo is on.
    Role {
        /// A person's: gates and actions.
        User = "user",
        /// The agents'.
        Agent = "agent",
    }
}

text_enum! {
    /// Where a todo stands. Everything but `done` is open in the sense of contract 2.1.
    TodoStatus {
        /// To be done.
        Open = "open",
        /// Finished, or replaced when `superseded_by` is set.
        Done = "done",
        /// Held until its owner or a gate reopens it.
        Blocked = "blocked",
        /// Waiting for its `resume_when`.
        Deferred = "deferred",
    }
}

text_enum! {
    /// What kind of todo it is.
    TaskClass {
        /// Work that moves the goal.
        Advancement = "advancement_task",
        /// Something to look at again and again.
        Monitor = "continuous_monitor",
        /// A decision of a person that blocks what it names.
        UserGate = "user_gate",
        /// A person's own task; never blocks.
        UserAction = "user_action",
        /// A stated obstacle; not work.
        Blocker = "blocker",
    }
}

text_enum! {
    /// How a completed todo continues.
    Continuation {
        /// The goal goes on; a replan may follow.
        ActiveGoal = "active_goal",
        /// Another todo follows it.
        Successor = "successor",
        /// Nothing follows.
        NoFollowup = "no_followup",
    }
}

/// What a deferred or conditional todo waits for (reference state.md 2.8).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResumeCondition {
    /// `todo_done:<todo id>`.
    TodoDone(TodoId),
    /// `pr_merged:<ref>`.
    PrMerged(String),
    /// `capacity_available:<capability>`.
    CapacityAvailable(String),
    /// A token of another kind; it can never be seen to hold.
    Unsupported(String),
}

impl ResumeCondition {
    /// Reads a condition; any non-empty token parses, unknown kinds as `Unsupported`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        Some(match text.split_once(':') {
            Some(("todo_done", id)) => match TodoId::parse(id) {
                Ok(id) => Self::TodoDone(id),
                Err(_) => Self::Unsupported(text.to_owned()),
            },
            Some(("pr_merged", reference)) if !reference.is_empty() => {
                Self::PrMerged(reference.to_owned())
            }
            Some(("capacity_available", name)) if !name.is_empty() => {
                Self::CapacityAvailable(canonical_capability(name))
            }
            _ => Self::Unsupported(text.to_owned()),
        })
    }
}

impl fmt::Display for ResumeCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TodoDone(id) => write!(f, "todo_done:{id}"),
            Self::PrMerged(reference) => write!(f, "pr_merged:{reference}"),
            Self::CapacityAvailable(name) => write!(f, "capacity_available:{name}"),
            Self::Unsupported(text) => f.write_str(text),
        }
    }
}

impl Serialize for ResumeCondition {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ResumeCondition {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("empty condition"))
    }
}

/// Lower case, `-` and white space as `_`: the form in which capabilities compare.
pub fn canonical_capability(text: &str) -> String {
    text.trim().to_lowercase().replace(['-', ' '], "_")
}

/// A decision scope `kind:granularity:key`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DecisionScope(String);

impl DecisionScope {
    const KINDS: [&'static str; 7] = [
        "private_read",
        "write_scope",
        "resource",
        "production",
        "public_claim",
        "direction",
        "other",
    ];
    const GRANULARITIES: [&'static str; 5] = ["action", "lane", "goal", "project", "global"];

    /// Reads a well-formed scope.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut parts = text.splitn(3, ':');
        let (kind, granularity, key) = (parts.next()?, parts.next()?, parts.next()?);
        let mut chars = key.chars();
        let key_ok = key == "*"
            || (key.len() <= 96
                && chars.next().is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                && chars.all(|c| {
                    c.is_ascii_lowercase()
                        || c.is_ascii_digit()
                        || matches!(c, '_' | '.' | ':' | '@' | '*' | '/' | '-')
                }));
        (Self::KINDS.contains(&kind) && Self::GRANULARITIES.contains(&granularity) && key_ok)
            .then(|| Self(text.to_owned()))
    }

    /// The text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a grant or gate of this scope answers a requirement of `other`:
    /// equal, or the same kind and granularity with key `*`.
    pub fn covers(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self.0.strip_suffix(":*"), other.0.match_indices(':').nth(1)) {
            (Some(head), Some((at, _))) => other.0.get(..at) == Some(head),
            _ => false,
        }
    }
}

impl fmt::Display for DecisionScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A required decision scope as it was written. A malformed one still requires
/// something: it holds the todo until somebody mends it, it never vanishes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScopeRequirement(pub String);

impl ScopeRequirement {
    /// The scope, when the text is one.
    pub fn scope(&self) -> Option<DecisionScope> {
        DecisionScope::parse(&self.0)
    }
}

/// Which index a todo lives in; derived, never set by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Open work whose eligibility follows from its [`Todo::shape_key`] alone.
    Plain,
    /// Everything else that is open: gates, actions, monitors, conditions.
    Special,
    /// Done.
    Closed,
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// One todo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Todo {
    /// Identity.
    pub todo_id: TodoId,
    /// Whose list.
    pub role: Role,
    /// Position in the state file; smaller is earlier. Gaps leave room for insertions.
    pub order: i64,
    /// The whole line, priority prefix included, white space collapsed.
    pub text: String,
    /// Where it stands.
    pub status: TodoStatus,
    /// What kind it is.
    pub task_class: TaskClass,
    /// In the archive section: no longer shown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub archived: bool,
    /// Machine word for the kind of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_kind: Option<String>,
    /// The agent that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<AgentId>,
    /// User todos: the agent it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_agent: Option<AgentId>,
    /// Gates: the agent it blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_agent: Option<AgentId>,
    /// User todos: it concerns every agent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub goal_bound: bool,
    /// Gates: it blocks every agent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub global_gate: bool,
    /// Agents that may not take it, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded_agents: Vec<AgentId>,
    /// Gates: the todo it blocks until decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unblocks_todo_id: Option<TodoId>,
    /// Gates: the scope it decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_scope: Option<ScopeRequirement>,
    /// Scopes that must be granted first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_decision_scopes: Vec<ScopeRequirement>,
    /// Capabilities that the agent must have, canonical.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_capabilities: Vec<String>,
    /// Capabilities that this todo is there to obtain; never missing for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_capabilities: Vec<String>,
    /// Path globs that the goal's write scope must cover.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_write_scopes: Vec<String>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_when: Option<ResumeCondition>,
    /// What replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<TodoId>,
    /// What follows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub successor_todo_ids: Vec<TodoId>,
    /// How its completion continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_continuation: Option<Continuation>,
    /// Nothing follows it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_followup: bool,
    /// Monitors: what is watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_key: Option<String>,
    /// Monitors: how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cadence: Option<Cadence>,
    /// Monitors: when next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_due_at: Option<Instant>,
    /// Monitors: not after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Instant>,
    /// Monitors: when last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checked_at: Option<Instant>,
    /// Monitors: digest of what was seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_hash: Option<String>,
    /// Monitors: unchanged polls in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consecutive_no_change: Option<u32>,
    /// Monitors: only watched, never closed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub watch_only: bool,
    /// Why it is blocked or superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Evidence of completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// First stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Instant>,
    /// Last effective change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Instant>,
    /// First done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Instant>,
    /// Completed with neither successor nor no-follow-up, and nothing has followed
    /// since: raises a replan obligation while nothing is open (contract 2.4).
    #[serde(default, skip_serializing_if = "is_false")]
    pub dangling: bool,
    /// Why its stored metadata cannot be read, when it cannot: it is never eligible
    /// and the goal is unhealthy until mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
    /// Metadata that no rule reads, as written (decoded), in order.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Words that make an `action_kind` a write (contract 2.1, `workspace`).
const WRITE_KINDS: [&str; 5] = ["fix", "implement", "rebuild", "repair", "writeback"];

impl Todo {
    /// A new open todo with nothing but identity, role, class, position and text.
    pub fn new(
        todo_id: TodoId,
        role: Role,
        task_class: TaskClass,
        order: i64,
        text: impl Into<String>,
    ) -> Self {
        Self {
            todo_id,
            role,
            order,
            text: text.into(),
            status: TodoStatus::Open,
            task_class,
            archived: false,
            action_kind: None,
            claimed_by: None,
            bound_agent: None,
            blocks_agent: None,
            goal_bound: false,
            global_gate: false,
            excluded_agents: Vec::new(),
            unblocks_todo_id: None,
            decision_scope: None,
            required_decision_scopes: Vec::new(),
            required_capabilities: Vec::new(),
            target_capabilities: Vec::new(),
            required_write_scopes: Vec::new(),
            resume_when: None,
            superseded_by: None,
            successor_todo_ids: Vec::new(),
            completion_continuation: None,
            no_followup: false,
            target_key: None,
            cadence: None,
            next_due_at: None,
            expires_at: None,
            last_checked_at: None,
            result_hash: None,
            consecutive_no_change: None,
            watch_only: false,
            reason: None,
            evidence: None,
            note: None,
            created_at: None,
            updated_at: None,
            completed_at: None,
            dangling: false,
            malformed: None,
            extra: Map::new(),
        }
    }

    /// Not done.
    pub fn is_open(&self) -> bool {
        self.status != TodoStatus::Done
    }

    /// `0` to `4` from a `[P0]`..`[P4]` prefix of the text; `None` without one.
    pub fn priority(&self) -> Option<u8> {
        split_priority(&self.text).0
    }

    /// Priority as a sort key: none sorts last.
    pub fn rank(&self) -> u8 {
        self.priority().unwrap_or(9)
    }

    /// The text without its priority prefix.
    pub fn title(&self) -> &str {
        split_priority(&self.text).1
    }

    /// Whether the action kind is a write, alone or as the first part of the word.
    pub fn is_write_action(&self) -> bool {
        self.action_kind.as_deref().is_some_and(|kind| {
            let first = kind.split(['_', '-']).next().unwrap_or(kind);
            WRITE_KINDS.contains(&first)
        })
    }

    /// Which index it lives in.
    pub fn lane(&self) -> Lane {
        if !self.is_open() {
            return Lane::Closed;
        }
        let plain = self.role == Role::Agent
            && self.task_class == TaskClass::Advancement
            && self.status == TodoStatus::Open
            && self.resume_when.is_none()
            && self.malformed.is_none();
        if plain { Lane::Plain } else { Lane::Special }
    }

    /// Everything that decides the eligibility of a plain todo, as one text: two
    /// plain todos of one shape differ only in priority and position.
    pub fn shape_key(&self) -> String {
        serde_json::json!([
            self.claimed_by,
            self.excluded_agents,
            self.required_decision_scopes,
            self.required_capabilities,
            self.target_capabilities,
            self.required_write_scopes,
            self.is_write_action(),
        ])
        .to_string()
    }
}

/// Splits `[P1] text` into priority and rest. `[P1 foo] text` is read as P1, as the
/// earlier tool does.
pub fn split_priority(text: &str) -> (Option<u8>, &str) {
    let trimmed = text.trim_start();
    let bytes = trimmed.as_bytes();
    if let [b'[', b'P' | b'p', digit @ b'0'..=b'4', next, ..] = bytes
        && (*next == b']' || *next == b' ')
        && let Some(close) = trimmed.find(']')
    {
        let rest = trimmed.get(close + 1..).unwrap_or_default().trim_start();
        return (Some(digit - b'0'), rest);
    }
    (None, text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn priority_prefix_is_read_and_nothing_else() {
        assert_eq!(split_priority("[P0] a"), (Some(0), "a"));
        assert_eq!(split_priority("[p3] a"), (Some(3), "a"));
        assert_eq!(split_priority("[P1 soon] a"), (Some(1), "a"));
        assert_eq!(split_priority("[P5] a"), (None, "[P5] a"));
        assert_eq!(split_priority("[P10] a"), (None, "[P10] a"));
        assert_eq!(split_priority("[P1"), (None, "[P1"));
    }

    #[test]
    fn scopes_cover_themselves_and_a_star_covers_its_granularity() {
        let scope = |t: &str| DecisionScope::parse(t).unwrap();
        assert!(scope("direction:goal:*").covers(&scope("direction:goal:prod")));
        assert!(!scope("direction:lane:*").covers(&scope("direction:goal:prod")));
        assert!(!scope("direction:goal:prod").covers(&scope("direction:goal:*")));
        assert!(DecisionScope::parse("release:prod").is_none());
        assert!(DecisionScope::parse("release").is_none());
    }

    #[test]
    fn a_write_is_its_word_or_its_first_part() {
        let mut todo =
            Todo::new(TodoId::trusted("todo_abc"), Role::Agent, TaskClass::Advancement, 0, "x");
        for (kind, write) in [
            ("implement", true),
            ("implement_parser", true),
            ("fix-it", true),
            ("prefix", false),
            ("fixture", false),
        ] {
            todo.action_kind = Some(kind.into());
            assert_eq!(todo.is_write_action(), write, "{kind}");
        }
    }
}
