//! When to look again: the scheduler hint of a decision.
//!
//! [`build`] makes a hint from a [`build::HintInput`]; [`facts`] fills that from a
//! verdict. [`arbitration`] chooses the class, [`class`] is the table of classes,
//! [`wait`] measures waits by the clock, [`backoff`], [`failure`] and [`app`] are for
//! hosts that keep the schedule themselves.

pub mod ack;
pub mod app;
pub mod arbitration;
pub mod backoff;
pub mod build;
pub mod class;
pub mod context;
pub mod detail;
pub mod facts;
pub mod failure;
pub mod hint;
pub mod rrule;
pub mod wait;

pub use build::{Cadence, HintInput, HintSize};
pub use class::UNCHANGED_LIMIT;
pub use context::ExecutionContext;
pub use hint::SchedulerHint;
