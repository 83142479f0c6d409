//! Where a goal lies on this machine, for a door that stays: it keeps one route to itself
//! and notices from the files that somebody else has written. Local paths, never part of
//! a public packet.

use std::path::PathBuf;

use super::Kernel;
use crate::command::registered;
use crate::error::Result;
use crate::model::{AgentId, GoalId, GoalUid};
use crate::registry::place;

/// Where a goal lies, and for whom it is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    /// The registry that owns the goal, links followed.
    pub registry: PathBuf,
    /// Its runtime root, links followed.
    pub runtime_root: PathBuf,
    /// The goal.
    pub goal_id: GoalId,
    /// Its instance, once it has a store.
    pub goal_uid: Option<GoalUid>,
    /// The agent, in its canonical spelling.
    pub agent: AgentId,
    /// The files in which a change of the goal shows: registry, store, state file.
    pub files: Vec<PathBuf>,
}

impl Kernel {
    /// Finds the goal for a registered agent. Writes nothing.
    ///
    /// Errors: those of finding a goal, and of an agent that is not in its roster.
    pub fn whereabouts(&self, goal: Option<&str>, agent: &str) -> Result<Whereabouts> {
        let found = self.goal(goal)?;
        let registry = place::identity(found.registry.path());
        let store = found.policy.goal_uid.as_ref().map(|uid| found.store_path(uid));
        let files = [Some(registry.clone()), store, found.state_path()];
        Ok(Whereabouts {
            runtime_root: place::identity(&found.runtime_root),
            goal_id: found.policy.goal_id.clone(),
            goal_uid: found.policy.goal_uid.clone(),
            agent: registered(&found.policy, agent)?,
            files: files.into_iter().flatten().collect(),
            registry,
        })
    }
}
