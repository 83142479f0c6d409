//! When to look again: the scheduler hint of a decision.

pub mod hint;

pub use hint::{SchedulerHint, hint_for};
