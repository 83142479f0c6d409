//! The registry: which goals exist, their agents and policy, where they are found, and
//! the global projection. Not the todos: those are the store's.
//!
//! A registry is a JSON document that other tools read and write too, so it is kept as
//! a document: unknown fields and the order of keys survive every change.

pub mod acceptance;
pub mod change;
pub mod document;
pub mod lifecycle;
pub mod merge;
pub mod place;
pub mod policy;
pub mod projection;
pub mod quota;
pub mod route;

pub use change::{Change, Rendered, Witnesses, begin_change, change};
pub use document::{Lookup, Registry, entry_digest};
pub use lifecycle::{
    GoalSpec, QuotaSpec, Transition, create_entry, mark_imported, register_agents, resume, stop,
};
pub use merge::observation_digest;
pub use policy::policy;
pub use projection::{Projected, Projection};
pub use route::{Followed, FoundBy, Route, RouteInput, follow};
