//! The words of the product as types: identifiers, instants, goals, todos and
//! the records that commands leave behind. No storage and no decisions here.

pub mod goal;
pub mod id;
pub mod record;
pub mod schedule;
pub mod time;
pub mod todo;

pub use goal::{GoalPolicy, QuotaPolicy, SelfRepair, WorkMode};
pub use id::{AgentId, EffectId, GoalId, GoalUid, TodoId, TurnId};
pub use record::{
    AgentSeen, Attempt, AttemptState, CommitRecord, Counters, Declared, Evidence, Feedback,
    Finding, Grant, GrantLife, HandoffMode, HolderEvidence, HostRow, JournalRow, Lease,
    LegacyWitness, Outcome, OutcomeKind, Signal, Spend, Stall, Turn, TurnState, Usage, UsageTotal,
};
pub use schedule::{HostUpdateFailure, SchedulerState};
pub use time::{Cadence, Instant};
pub use todo::{
    Continuation, DecisionScope, Lane, ResumeCondition, Role, ScopeRequirement, TaskClass, Todo,
    TodoStatus,
};
