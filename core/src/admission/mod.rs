//! May this agent run, and on what: facts about each open todo, the ordered rules,
//! and the packet that says the answer (contract.md 2). Pure: clock, files and
//! environment are arguments.

pub mod decision;
pub mod explain;
pub mod facts;
pub mod gates;
pub mod holds;
pub mod offer;
pub mod packet;
pub mod request;
pub mod rules;
pub mod view;

pub use decision::{Decision, decide};
pub use explain::{Explanation, explain};
pub use request::{AdmissionRequest, Detail, Situation, Subject};
pub use rules::{RULES, Rule};
pub use view::{Dangling, GoalRecords, Target, View, ViewQuery};
