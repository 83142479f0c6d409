//! When to look again: the scheduler hint of a decision.

pub mod context;
pub mod hint;

pub use context::ExecutionContext;
pub use hint::{SchedulerHint, hint_for};
