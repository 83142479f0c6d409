//! The loop of a host, written once: Pi, OpenCode, the shell worker and every other host
//! bring what happened, the kernel answers what to do next.
//!
//! ```text
//! event -> step(binding) -> done: action
//!                        -> evaluate: decide -> conclude(binding, reading) -> action
//! ```
//!
//! Both halves are pure. The kernel runs them with the decision between them inside one
//! transaction (`kernel/write/loops.rs`): the binding is changed by compare-and-swap on
//! its generation, and a run is admitted before its prompt is handed out, so a restart
//! neither loses a prompt nor repeats one. A host keeps what is the host's: registering,
//! timers, sending.

pub mod binding;
pub mod event;
pub mod plan;
pub mod prompt;
pub mod receipt;
pub mod retry;
pub mod step;
pub mod surface;

pub use binding::{Binding, Door, LoopState, Pending, Reason, SessionKey};
pub use event::{Action, LoopEvent, Notice};
pub use plan::{DecisionIdentity, Plan, Reading};
pub use step::{Step, TurnEnd, conclude, standing, step};
pub use surface::{OnUserPrompt, Surface};
