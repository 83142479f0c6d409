//! What a decision is asked, and about what.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::view::View;
use crate::error::Error;
use crate::model::{AgentId, Declared, GoalPolicy, Instant, TurnId};
use crate::schedule::ExecutionContext;

/// Extra sections of the packet, opt-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Detail {
    /// The ladders of the scheduler hint.
    Scheduler,
    /// Every open agent todo with why it is or is not eligible.
    AgentTodos,
    /// Every open user todo.
    UserTodos,
    /// Write scope, capabilities and guards.
    GoalBoundary,
    /// Reserved: accepted for hosts of the earlier tool, adds nothing.
    Vision,
    /// All of them.
    All,
}

impl Detail {
    /// Names on the command line.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("scheduler", Self::Scheduler),
        ("agent-todos", Self::AgentTodos),
        ("user-todos", Self::UserTodos),
        ("goal-boundary", Self::GoalBoundary),
        ("vision", Self::Vision),
        ("all", Self::All),
    ];
}

/// One admission question, canonical.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionRequest {
    /// Who asks.
    pub agent: Option<AgentId>,
    /// Capabilities that the door declares, canonical.
    pub capabilities: BTreeSet<String>,
    /// The door works in a checkout of its own, apart from the goal's main one.
    pub independent_worktree: bool,
    /// Who wakes the agent, when the door said so.
    pub execution_context: Option<ExecutionContext>,
    /// The schedule that an app host said it has.
    pub observed_rrule: Option<String>,
    /// The answer is bound to a turn: a run is to be executed, not looked at again.
    pub binding: bool,
    /// The turn that it is bound to, so that the answer names its settlement.
    pub turn_id: Option<TurnId>,
    /// Sections to add.
    pub details: BTreeSet<Detail>,
}

impl AdmissionRequest {
    /// What the door declares.
    pub fn declared(&self) -> Declared {
        Declared {
            capabilities: self.capabilities.clone(),
            independent_worktree: self.independent_worktree,
        }
    }

    /// Whether a section was asked for.
    pub fn wants(&self, detail: Detail) -> bool {
        self.details.contains(&detail) || self.details.contains(&Detail::All)
    }
}

/// What the question is about: a goal, or the refusal that came before one was reached.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// Rules 1 to 3: there is nothing to look at.
    Refused(&'a Error),
    /// A goal's policy and records.
    Goal {
        /// From the registry.
        policy: &'a GoalPolicy,
        /// From the store.
        view: &'a View,
    },
}

/// Everything that `decide` is given.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// About what.
    pub subject: Subject<'a>,
    /// The question.
    pub request: &'a AdmissionRequest,
    /// When.
    pub now: Instant,
}
