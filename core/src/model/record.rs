//! What commands leave behind: spends, outcomes, turns, attempts, leases, grants,
//! receipts. Plain records; the store keeps them, the rules read them.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::{AgentId, EffectId, TodoId, TurnId};
use super::time::Instant;
use super::todo::text_enum;

/// One commit and its receipt: what a repeat of the same effect answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitRecord {
    /// Order of the goal's commits, from 1, without gaps.
    pub n: u64,
    /// Unique per goal.
    pub effect_id: EffectId,
    /// Operation name.
    pub verb: String,
    /// Acting agent, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// When.
    pub at: Instant,
    /// Made under a fixed clock (`LOOPX_NOW`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_clock: bool,
    /// Digest of the request body; the same effect with another digest is a conflict.
    pub body_digest: String,
    /// The answer that was given.
    pub receipt: Value,
}

/// Spent slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spend {
    /// Position: unique and growing; an import numbers its rows from 1, later rows have
    /// their commit's number moved past those.
    pub id: u64,
    /// When; the window counts it from here.
    pub at: Instant,
    /// How many, at least 1.
    pub slots: u64,
    /// How many of them a void took back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub voided: u64,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// For what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<TodoId>,
    /// In which turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// `heartbeat`, `controller`, `adapter` or `visible-goal`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Spend {
    /// Slots that count: spent less voided, never below zero.
    pub fn live(&self) -> u64 {
        self.slots.saturating_sub(self.voided)
    }
}

text_enum! {
    /// What a refresh-state says was delivered (reference state.md 4.1).
    OutcomeKind {
        /// Validated progress; may be spent.
        Progress = "outcome_progress",
        /// The goal's main outcome; may be spent.
        Primary = "primary_goal_outcome",
        /// Only the surface moved; not spendable.
        SurfaceOnly = "surface_only",
        /// Nothing changed; not spendable.
        NoChange = "no_change",
        /// The work failed; not spendable.
        Failed = "failed",
        /// A note about state, no outcome.
        Neutral = "neutral",
    }
}

impl OutcomeKind {
    /// Whether a slot may be spent for it.
    pub fn is_delivered(self) -> bool {
        matches!(self, Self::Progress | Self::Primary)
    }
}

/// Model usage that a host reported for a piece of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// Cost in micro-units of the host's currency, when it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// Adds another report.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        if let Some(cost) = other.cost_micros {
            self.cost_micros = Some(self.cost_micros.unwrap_or(0).saturating_add(cost));
        }
    }
}

/// Model usage of one agent over all of a goal's outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageTotal {
    /// Who; empty for nobody named.
    pub agent: String,
    /// Sum.
    #[serde(flatten)]
    pub usage: Usage,
    /// Outcomes that reported usage.
    pub reports: u64,
}

/// One refresh-state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Position, as in [`Spend::id`].
    pub id: u64,
    /// When.
    pub at: Instant,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// On what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<TodoId>,
    /// In which turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// What was delivered.
    pub kind: OutcomeKind,
    /// Free word of the caller, `state_refreshed` by default.
    pub classification: String,
    /// The spend that took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_by: Option<u64>,
    /// Model usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What to do next, in the caller's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended_action: Option<String>,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Position, as in [`Spend::id`].
    pub id: u64,
    /// When.
    pub at: Instant,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// For which todo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<TodoId>,
    /// What shows it.
    pub text: String,
}

/// What a person says about the work: an agent is to think again (contract 2.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// Position, as in [`Spend::id`].
    pub id: u64,
    /// When.
    pub at: Instant,
    /// The agent that is to answer; any agent when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The todo that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<TodoId>,
    /// What was said.
    pub text: String,
    /// Something follows from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
}

text_enum! {
    /// Where an admitted turn stands.
    TurnState {
        /// Admitted to run and not settled.
        Live = "live",
        /// Answered with a skip: a no-spend receipt.
        Skipped = "skipped",
        /// Settled or spent.
        Settled = "settled",
        /// Released or expired.
        Released = "released",
    }
}

/// Who holds a turn or a lease beyond the call that took it, so that its death frees
/// what it holds at once. Only a holder that outlives the call gives one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderEvidence {
    /// Process.
    pub pid: u32,
    /// When it started, in the system's own ticks: a reused pid has another.
    pub started: u64,
    /// Which boot of the machine.
    pub boot_id: String,
    /// Which machine.
    pub host: String,
}

/// The binding of one turn id: what it was admitted for, for ever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Identity.
    pub turn_id: TurnId,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// On what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<TodoId>,
    /// The rule that decided.
    pub rule: String,
    /// Digest of the request that it answers; another request with this id is a conflict.
    pub body_digest: String,
    /// State.
    pub state: TurnState,
    /// When admitted.
    pub at: Instant,
    /// Slots that it reserves while live.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved: u64,
    /// When its reservation ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Instant>,
    /// Epoch of the lease that it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// It claimed its todo, which nobody had claimed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub took_claim: bool,
    /// Who holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<HolderEvidence>,
}

text_enum! {
    /// How an attempt at an offer ended.
    AttemptState {
        /// Not made yet: the offer stood at a write of an agent that polls without a turn
        /// id. Its next write while the offer still stands counts as the attempt.
        Offered = "offered",
        /// Made and not settled, or settled without an accepted delta.
        Attempted = "attempted",
        /// Settled with an accepted delta.
        Resolved = "resolved",
        /// Stopped before it ended; cleared by verified settlement of that turn.
        OutcomeUnknown = "outcome_unknown",
        /// Paused by the host.
        Paused = "paused",
    }
}

/// The one attempt at an offer (contract 2.5) or at a replan obligation (2.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The rule that offered.
    pub rule: String,
    /// The causing todo, trigger or finding.
    pub cause: String,
    /// Digest of the facts that the rule read; for an obligation its identity.
    pub digest: String,
    /// State.
    pub state: AttemptState,
    /// When.
    pub at: Instant,
    /// The turn that made it, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}

/// Fruitless settles in a row of one todo by one agent (contract 2.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// Todo.
    pub todo_id: TodoId,
    /// Agent; `None` in a goal without a roster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// No_change, failed or expired in a row.
    pub streak: u32,
    /// When the last one was.
    pub at: Instant,
    /// How often it has been offered again since it stalled.
    #[serde(default)]
    pub reoffers: u32,
}

impl Stall {
    /// Settles in a row that make a todo stalled.
    pub const LIMIT: u32 = 3;
    /// Minutes after which a stalled todo is offered again, by number of re-offers.
    pub const LADDER: [i64; 4] = [30, 60, 120, 240];

    /// Whether the todo is withheld at `now`.
    pub fn holds(&self, now: Instant) -> bool {
        if self.streak < Self::LIMIT {
            return false;
        }
        match self.reoffer_at() {
            Some(at) => now < at,
            None => true,
        }
    }

    /// When it is offered again; `None` when only a change brings it back.
    pub fn reoffer_at(&self) -> Option<Instant> {
        let minutes = Self::LADDER.get(usize::try_from(self.reoffers).ok()?)?;
        Some(self.at.plus_minutes(*minutes))
    }
}

/// How long a grant lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GrantLife {
    /// For one completion of a todo that requires it.
    Once,
    /// Until an instant.
    Until(Instant),
    /// Until withdrawn.
    Standing,
}

/// An approved decision scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// Position, as in [`Spend::id`].
    pub id: u64,
    /// What is granted, as written on the gate.
    pub scope: String,
    /// To whom; `None` for every agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// How long.
    pub life: GrantLife,
    /// The gate that was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<TodoId>,
    /// Used up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub used: bool,
    /// When.
    pub at: Instant,
}

impl Grant {
    /// Whether the grant can still answer a requirement at `now`.
    pub fn is_live(&self, now: Instant) -> bool {
        !self.used && !matches!(self.life, GrantLife::Until(until) if until <= now)
    }
}

/// A lease on a todo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lease {
    /// Todo.
    pub todo_id: TodoId,
    /// Holder.
    pub owner: AgentId,
    /// Strictly growing per todo, for ever.
    pub epoch: u64,
    /// Until when.
    pub expires_at: Instant,
    /// The turn that took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Given back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
    /// Grows with every change, for compare-and-swap.
    #[serde(default)]
    pub version: u64,
    /// The caller's key: repeating an acquire with it answers the same lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Seconds asked for.
    #[serde(default)]
    pub ttl_seconds: u64,
    /// Path globs that nobody else's lease may overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_scopes: Vec<String>,
    /// Who holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<HolderEvidence>,
}

impl Lease {
    /// Whether it holds at `now`.
    pub fn is_live(&self, now: Instant) -> bool {
        !self.released && self.expires_at > now
    }
}

text_enum! {
    /// How work is handed over between agents (reference: goal handoff modes).
    HandoffMode {
        /// Claims, and leases where somebody takes one.
        Legacy = "legacy",
        /// Claims only: no leases.
        SoftClaim = "soft_claim",
        /// Claiming and completing need a live lease of the agent.
        HardLease = "hard_lease",
    }
}

/// When an agent was last seen, and the wait that its last hint named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentSeen {
    /// Who.
    pub agent: AgentId,
    /// When.
    pub at: Instant,
    /// Minutes of its last hint.
    #[serde(default)]
    pub hint_minutes: u32,
    /// How often a host polled for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub polls: u64,
    /// What its door declared when it last admitted a turn; `None` before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Declared>,
}

/// What a door says of the place that an agent works in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// Capabilities, canonical.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub capabilities: BTreeSet<String>,
    /// A checkout of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub independent_worktree: bool,
}

impl AgentSeen {
    /// Whether the agent counts as absent at `now`: older than twice its last hint,
    /// at least 240 minutes (contract 3, "last seen").
    pub fn is_absent(&self, now: Instant) -> bool {
        let minutes = i64::from(self.hint_minutes).saturating_mul(2).max(240);
        self.at.plus_minutes(minutes) < now
    }
}

/// What a host keeps with a goal between its calls: the binding of its loop, what it
/// applied of a hint. No rule reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostRow {
    /// What it is, such as `loop`.
    pub kind: String,
    /// Whose, unique within the kind.
    pub key: String,
    /// The record.
    pub doc: Value,
}

/// An outside fact that a condition may wait for, such as a merged pull request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signal {
    /// `pr_merged`.
    pub kind: String,
    /// Its reference, `owner/repo#N` or `#N`.
    pub reference: String,
}

/// Something that is not as it should be; shown, never acted on by a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Stable word.
    pub code: String,
    /// The todo, field or file that it is about.
    pub about: String,
    /// One sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// How to mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_command: Option<String>,
}

impl Finding {
    /// A finding of `code` about `about`.
    pub fn new(code: &str, about: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            about: about.into(),
            message: message.into(),
            next_command: None,
        }
    }

    /// With the command that mends it.
    #[must_use]
    pub fn next(mut self, command: impl Into<String>) -> Self {
        self.next_command = Some(command.into());
        self
    }
}

/// The earlier tool's ledger as it was when the goal was imported; growth since
/// then means that the earlier tool still writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegacyWitness {
    /// Bytes of `runs/index.jsonl`, 0 when it did not exist.
    pub index_bytes: u64,
    /// sha256 of those bytes, hex.
    pub index_sha256: String,
    /// Highest position of an imported row; later rows are numbered past it.
    #[serde(default)]
    pub rows: u64,
}

/// A command that changes registry and store, between its two store commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalRow {
    /// The command's effect.
    pub effect_id: EffectId,
    /// Registry witness (sha256, hex) before the replace.
    pub witness_before: String,
    /// Registry witness after it.
    pub witness_after: String,
    /// Digest of the goal's own entry after it, for the case that another goal's
    /// command has changed the registry since.
    pub entry_after: String,
    /// The commit to make when the replace happened.
    pub commit: CommitRecord,
    /// The agent that the command has seen, as it is stored with the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<AgentSeen>,
}

/// Running totals of a goal, kept by the store with every commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Agent todos ever stored.
    pub agent_ever: u64,
    /// Agent todos not done.
    pub agent_open: u64,
    /// Agent todos done.
    pub agent_done: u64,
    /// Of those, with no_followup.
    pub agent_no_followup: u64,
    /// Open advancement todos (open, blocked or deferred).
    pub advancement_open: u64,
    /// User todos not done.
    pub user_open: u64,
    /// User todos done.
    pub user_done: u64,
}
