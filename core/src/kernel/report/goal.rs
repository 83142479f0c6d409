//! `goal show`: policy, window, last commits.

use serde_json::{Value, json};

use super::super::Kernel;
use super::{Look, windows};
use crate::error::Result;
use crate::operation::Addressed;

/// Commits that are shown.
const COMMITS: usize = 5;

impl Kernel {
    /// Shows one goal.
    pub fn goal_show(&self, at: &Addressed) -> Result<Value> {
        let look = Look::at(self, self.goal(at.goal_id.as_deref())?, false);
        let policy = &look.goal.policy;
        Ok(json!({
            "ok": true,
            "goal_id": policy.goal_id,
            "goal_uid": policy.goal_uid,
            "imported": look.goal.has_store,
            "objective": policy.objective,
            "status": policy.status,
            "stopped": policy.is_stopped(),
            "agents": policy.roster,
            "write_scope": policy.write_scope,
            "state_file": policy.state_file,
            "quota": windows::row(&look),
            "commit": look.view.commit,
            "commits": look.commits(COMMITS)?,
        }))
    }
}
