//! Where a goal's records are kept: the trait that the kernel speaks, the changes that
//! a command may make, and one test suite that every backend passes. The store knows
//! tables, not rules.
//!
//! Invariants every backend keeps:
//! 1. a transaction lands whole or not at all, and is durable before `commit` returns;
//! 2. commit numbers grow by one, and an effect id is unique for ever;
//! 3. a todo id, once stored, is never given to another todo;
//! 4. `view` equals [`GoalRecords::view`] over all records (representative or complete);
//! 5. an attempt whose causing todo is closed and not dangling is gone, and so is a
//!    stall of a closed todo.

pub(crate) mod forward;
pub mod memory;
mod prune;
mod rows;
pub mod sqlite;
#[cfg(test)]
mod suite;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::admission::view::{GoalRecords, View, ViewQuery};
use crate::error::Result;
use crate::model::{
    AgentId, AgentSeen, Attempt, CommitRecord, Counters, EffectId, Evidence, Feedback, Finding,
    GoalUid, Grant, HandoffMode, HostRow, JournalRow, Lease, LegacyWitness, Outcome, Role,
    SchedulerState, Signal, Spend, Stall, Todo, TodoId, TodoStatus, Turn, TurnId, UsageTotal,
};

pub use memory::MemoryStore;
pub use prune::{PruneLimits, Pruned, is_pruned};
pub use sqlite::SqliteStore;

/// Version of the stored form. A store with a higher one is refused by name.
pub const SCHEMA_VERSION: u32 = 3;

/// One change of a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Stores a todo, new or changed.
    PutTodo(Box<Todo>),
    /// Adds feedback, or replaces the one of that id.
    PutFeedback(Feedback),
    /// Something follows now: no completed todo is dangling and no feedback unanswered
    /// any more.
    FollowDangling,
    /// Adds a spend, or replaces the one of that id (a void).
    PutSpend(Spend),
    /// Adds a refresh-state, or replaces the one of that id (its spend).
    PutOutcome(Outcome),
    /// Adds evidence.
    AddEvidence(Evidence),
    /// Stores a turn's binding.
    PutTurn(Turn),
    /// Stores an attempt; it replaces an earlier one of the same agent, rule and cause.
    PutAttempt(Attempt),
    /// Stores a stall.
    PutStall(Stall),
    /// Forgets the stalls of a todo.
    ClearStalls(TodoId),
    /// Adds a grant, or replaces the one of that id.
    PutGrant(Grant),
    /// Stores a lease.
    PutLease(Lease),
    /// Sets how work is handed over.
    SetHandoff(HandoffMode),
    /// Stores when an agent was last seen.
    PutSeen(AgentSeen),
    /// Stores what a host keeps; it replaces the row of that kind and key.
    PutHostRow(HostRow),
    /// Forgets what a host kept.
    DropHostRow {
        /// What it was.
        kind: String,
        /// Whose.
        key: String,
    },
    /// Stores what an app host says about its schedule; one row per agent, surface and key.
    PutSchedule(SchedulerState),
    /// Adds an outside fact.
    AddSignal(Signal),
    /// Stores a standing finding.
    PutFinding(Finding),
    /// Forgets the findings of a code.
    ClearFindings(String),
    /// Notes the earlier tool's ledger as it is now.
    SetLegacy(LegacyWitness),
}

impl Change {
    /// The todo that this change stores, if it stores one.
    pub fn put(&self) -> Option<&Todo> {
        match self {
            Self::PutTodo(todo) => Some(todo),
            _ => None,
        }
    }
}

/// Which todos to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoFilter {
    /// One role only.
    pub role: Option<Role>,
    /// One status only.
    pub status: Option<TodoStatus>,
    /// With archived ones.
    pub archived: bool,
}

impl TodoFilter {
    /// Whether `todo` passes.
    pub fn passes(&self, todo: &Todo) -> bool {
        self.role.is_none_or(|r| r == todo.role)
            && self.status.is_none_or(|s| s == todo.status)
            && (self.archived || !todo.archived)
    }
}

/// What can be asked of a store, inside a transaction and outside one.
pub trait Read {
    /// Whose records these are.
    fn goal_uid(&self) -> Result<GoalUid>;
    /// Number of the last commit; 0 before the first.
    fn last_commit(&self) -> Result<u64>;
    /// What a decision looks at.
    fn view(&self, query: &ViewQuery) -> Result<View>;
    /// One todo.
    fn todo(&self, id: &TodoId) -> Result<Option<Todo>>;
    /// Todos in (position, id) order.
    fn todos(&self, filter: &TodoFilter) -> Result<Vec<Todo>>;
    /// What the state file shows: every open todo and the last `done` closed ones that
    /// are not archived, in (position, id) order.
    fn shown_todos(&self, done: usize) -> Result<Vec<Todo>>;
    /// Ids of the closed todos among [`Read::shown_todos`], in any order.
    fn shown_closed(&self, done: usize) -> Result<Vec<TodoId>>;
    /// An unfinished todo of that role with exactly that text.
    fn open_todo_by_text(&self, role: Role, text: &str) -> Result<Option<Todo>>;
    /// The highest position in use.
    fn max_order(&self) -> Result<i64>;
    /// Totals.
    fn counters(&self) -> Result<Counters>;
    /// The commit of an effect.
    fn commit_of(&self, effect: &EffectId) -> Result<Option<CommitRecord>>;
    /// Commits after number `after`, oldest first, at most `limit`.
    fn commits(&self, after: u64, limit: usize) -> Result<Vec<CommitRecord>>;
    /// Commits before number `before` (all when absent), newest first, at most `limit`.
    fn commits_before(&self, before: Option<u64>, limit: usize) -> Result<Vec<CommitRecord>>;
    /// Evidence on a todo and by an agent, where they are named, newest first.
    fn evidence(
        &self,
        todo: Option<&TodoId>,
        agent: Option<&AgentId>,
        limit: usize,
    ) -> Result<Vec<Evidence>>;
    /// The newest outcomes, at most `limit`.
    fn last_outcomes(&self, limit: usize) -> Result<Vec<Outcome>>;
    /// Model usage by agent.
    fn usage(&self) -> Result<Vec<UsageTotal>>;
    /// A spend by its position.
    fn spend(&self, id: u64) -> Result<Option<Spend>>;
    /// The newest spends, at most `limit`.
    fn last_spends(&self, limit: usize) -> Result<Vec<Spend>>;
    /// A turn's binding.
    fn turn(&self, id: &TurnId) -> Result<Option<Turn>>;
    /// The lease row of a todo, live or not: its epoch never goes back.
    fn lease(&self, todo: &TodoId) -> Result<Option<Lease>>;
    /// What a host keeps under that kind and key.
    fn host_row(&self, kind: &str, key: &str) -> Result<Option<HostRow>>;
    /// All that hosts keep of a kind, by key.
    fn host_rows(&self, kind: &str) -> Result<Vec<HostRow>>;
    /// When an agent was last seen.
    fn seen(&self, agent: &AgentId) -> Result<Option<AgentSeen>>;
    /// How work is handed over; `None` is legacy.
    fn handoff(&self) -> Result<Option<HandoffMode>>;
    /// Admitted turns that are not settled or released, lapsed ones included.
    fn open_turns(&self) -> Result<Vec<Turn>>;
    /// The delivered outcome of a turn that is not spent; the newest one.
    fn delivery_of_turn(&self, turn: &TurnId) -> Result<Option<Outcome>>;
    /// The newest delivered outcome of `agent`, on `todo` when one is named.
    fn last_delivery(
        &self,
        agent: Option<&AgentId>,
        todo: Option<&TodoId>,
    ) -> Result<Option<Outcome>>;
    /// The unspent delivered outcomes of `agent` on the same todo as `outcome`, up to it.
    fn unspent_up_to(&self, outcome: &Outcome) -> Result<Vec<Outcome>>;
    /// Sums over spends: (all slots ever, live).
    fn spend_totals(&self) -> Result<(u64, u64)>;
    /// The command that a crash left between registry and store, if any.
    fn journal(&self) -> Result<Option<JournalRow>>;
    /// The earlier tool's ledger at import; `None` for a goal that was never its.
    fn legacy(&self) -> Result<Option<LegacyWitness>>;
    /// The digest of the last projection.
    fn last_projection(&self) -> Result<Option<String>>;
    /// The digest of the last projection that was drawn. A state file that an import took
    /// as it was counts as projected and was not drawn: not every line of it is ours.
    fn last_drawn(&self) -> Result<Option<String>>;
    /// Whether a state file of that digest was ever projected.
    fn was_projected(&self, digest: &str) -> Result<bool>;
    /// All records.
    fn records(&self) -> Result<GoalRecords>;
    /// Every row of every table as `(table, row)`, in a fixed order: the export.
    fn dump(&self, sink: &mut dyn FnMut(&str, Value) -> Result<()>) -> Result<()>;
}

/// A write in progress; dropping it without `commit` undoes everything.
pub trait Transaction: Read {
    /// Applies changes in order.
    fn apply(&mut self, changes: &[Change]) -> Result<()>;
    /// Notes the digest of a projected state file.
    fn note_projection(&mut self, digest: &str) -> Result<()>;
    /// Notes the digest of a projection that is drawn; `None` when todos changed and no
    /// projection shows it.
    fn note_drawn(&mut self, digest: Option<&str>) -> Result<()>;
    /// Writes or clears the journal row.
    fn set_journal(&mut self, row: Option<&JournalRow>) -> Result<()>;
    /// Takes away history that no decision needs; see [`PruneLimits`].
    fn prune(&mut self, limits: &PruneLimits) -> Result<Pruned>;
    /// Loads one dumped row (import).
    fn load(&mut self, table: &str, row: &Value) -> Result<()>;
    /// Adds a commit to the log; its number must be the next one and its effect new.
    fn record(&mut self, record: &CommitRecord) -> Result<()>;
    /// Makes everything durable, and keeps the writer's turn until the answer is dropped,
    /// so that what follows a commit (the projection) keeps the order of commits.
    fn commit(self: Box<Self>) -> Result<WritersTurn>;
}

/// A writer's place at the head of the queue; dropping it lets the next one in.
#[derive(Debug, Default)]
pub struct WritersTurn(Option<crate::file::FileLock>);

impl WritersTurn {
    /// The turn that a queue lock stands for.
    pub fn held_by(lock: Option<crate::file::FileLock>) -> Self {
        Self(lock)
    }

    /// The queue lock.
    pub fn into_lock(self) -> Option<crate::file::FileLock> {
        self.0
    }
}

/// One goal's store.
pub trait Store: Read {
    /// Begins a write; waits its turn behind other writers, at most the store's deadline.
    fn begin<'a>(&'a mut self, operation: &str) -> Result<Box<dyn Transaction + 'a>>;
    /// Begins another write in the same turn, nobody between the two.
    fn begin_again<'a>(&'a mut self, turn: WritersTurn) -> Result<Box<dyn Transaction + 'a>>;
}
