//! Looking after goals: check, backup, restore, prune, and what an import would do.
//! None of these decides anything or changes what a decision sees, except a restore,
//! which says what it loses before it does.

mod backup;
mod check;
mod migrate;
mod prune;
mod restore;

use serde_json::{Value, json};

use super::Kernel;
use super::goal::Goal;
use crate::error::{Error, ErrorCode, Result};
use crate::model::{GoalId, GoalUid};
use crate::operation::Addressed;
use crate::registry::document::entry_id;

pub use backup::StoreBackupRequest;
pub use check::StoreCheckRequest;
pub use migrate::MigrateRequest;
pub use prune::StorePruneRequest;
pub use restore::StoreRestoreRequest;

/// How far a long piece of work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is being done, one word.
    pub what: &'static str,
    /// Pieces done.
    pub done: usize,
    /// Pieces in all.
    pub of: usize,
}

/// Is told how far a long piece of work has come.
pub type Progress<'a> = &'a dyn Fn(Step);

impl Kernel {
    /// The goals that are meant: the named one, else all of the registry. What is wrong
    /// with one is its own affair.
    fn named_or_all(&self, at: &Addressed) -> Result<Vec<(String, Result<Goal>)>> {
        if let Some(name) = at.goal_id.as_deref() {
            let goal = self.goal(Some(name))?;
            return Ok(vec![(goal.policy.goal_id.to_string(), Ok(goal))]);
        }
        let registry = self.registry()?;
        Ok(registry
            .goals()
            .iter()
            .map(|entry| {
                let name = entry_id(entry).unwrap_or_default().to_owned();
                let goal = GoalId::parse(&name).and_then(|id| self.goal_in(registry.clone(), &id));
                (name, goal)
            })
            .collect())
    }

    /// One goal, or all of them when that is said: several goals are never guessed.
    fn chosen(&self, at: &Addressed, all: bool) -> Result<Vec<(String, Result<Goal>)>> {
        if at.goal_id.is_some() && all {
            return Err(Error::new(ErrorCode::RequestInvalid, "goal_id")
                .message("name one goal or all of them, not both"));
        }
        if all || at.goal_id.is_some() {
            return self.named_or_all(at);
        }
        let goal = self.goal(None)?;
        Ok(vec![(goal.policy.goal_id.to_string(), Ok(goal))])
    }
}

fn imported(goal: &Goal) -> Result<GoalUid> {
    let id = &goal.policy.goal_id;
    goal.policy.goal_uid.clone().filter(|_| goal.has_store).ok_or_else(|| {
        Error::new(ErrorCode::GoalNotImported, id.as_str())
            .message(format!("goal {id} is still in the earlier tool's files"))
            .next(format!("loopx migrate --goal-id {id} --execute"))
    })
}

/// An answer over several goals: not ok when one failed, and then a refusal like any.
fn with_first_failure(answer: Value, rows: Vec<Value>, failed: Option<Error>) -> Value {
    let mut all = match &failed {
        None => json!({"ok": true}),
        Some(error) => error.to_json(),
    };
    if let (Some(map), Value::Object(rest)) = (all.as_object_mut(), answer) {
        map.extend(rest);
        map.insert("goals".into(), json!(rows));
    }
    all
}
