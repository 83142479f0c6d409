//! Loops of hosts as reads: one session's, or all of a goal.

use serde_json::{Value, json};

use super::Kernel;
use super::snapshot::Snapshot;
use super::write::session;
use crate::command::loops::{LoopRequest, UnreadableGoal};
use crate::error::{Error, Result};
use crate::file::process;
use crate::host_loop::binding::ROW_KIND;
use crate::host_loop::{Binding, SessionKey, standing};
use crate::model::GoalId;
use crate::operation::Addressed;
use crate::registry::document::entry_id;

/// Whether nobody can come back to the loop: its session was not kept, and its process is dead.
/// The next activation in the goal takes it away.
pub(super) fn is_over(binding: &Binding) -> bool {
    binding.ephemeral && binding.holder.as_ref().is_some_and(process::is_dead)
}

/// What is known of a session's loops.
pub(super) struct Followed {
    /// Goal and row of each.
    pub rows: Vec<(String, Value)>,
    /// Goals of which nobody can tell.
    pub unreadable: Vec<(String, Error)>,
}

impl Kernel {
    /// Shows loops: those of the goal, or, with a session and no goal, that session's
    /// wherever in the registry it is. A goal that cannot be read is then named in
    /// `unreadable_goals`, and the session may follow it all the same; of one goal alone that
    /// is an error.
    pub fn loop_show(&self, at: &Addressed, request: &LoopRequest) -> Result<Value> {
        let key = match (&request.surface, &request.session) {
            (Some(surface), Some(text)) => Some(session(surface, text)?.1),
            (None, Some(text)) => Some(session("", text)?.1),
            _ => None,
        };
        if at.goal_id.is_none()
            && let Some(key) = &key
        {
            let Followed { rows, unreadable } = self.loops_of(key)?;
            let unreadable: Vec<UnreadableGoal> =
                unreadable.iter().map(|(name, error)| UnreadableGoal::of(name, error)).collect();
            let loops: Vec<Value> = rows.into_iter().map(|(_, row)| row).collect();
            return Ok(json!({"ok": true, "loops": loops, "unreadable_goals": unreadable}));
        }
        let goal = self.goal(at.goal_id.as_deref())?;
        let rows = self.loops_in(&goal, key.as_ref(), request.surface.as_deref())?;
        let goal_id = &goal.policy.goal_id;
        Ok(json!({"ok": true, "goal_id": goal_id, "loops": rows, "unreadable_goals": []}))
    }

    /// The loops of that session, with their goals.
    pub(super) fn loops_of(&self, key: &SessionKey) -> Result<Followed> {
        let registry = self.registry()?;
        let mut found = Followed { rows: Vec::new(), unreadable: Vec::new() };
        for entry in registry.goals() {
            let name = entry_id(entry).unwrap_or_default();
            let rows = GoalId::parse(name)
                .and_then(|id| self.goal_in(registry.clone(), &id))
                .and_then(|goal| match goal.has_store {
                    true => self.loops_in(&goal, Some(key), None),
                    // One that is yet to be imported has no loops.
                    false => Ok(Vec::new()),
                });
            match rows {
                Ok(rows) => found.rows.extend(rows.into_iter().map(|row| (name.to_owned(), row))),
                Err(error) => found.unreadable.push((name.to_owned(), error)),
            }
        }
        Ok(found)
    }

    fn loops_in(
        &self,
        goal: &super::Goal,
        key: Option<&SessionKey>,
        surface: Option<&str>,
    ) -> Result<Vec<Value>> {
        let snapshot = Snapshot::take(self, goal, None)?;
        let read = snapshot.read();
        let rows = match key {
            Some(key) => read.host_row(ROW_KIND, key.as_str())?.into_iter().collect(),
            None => read.host_rows(ROW_KIND)?,
        };
        let mut shown = Vec::new();
        for row in &rows {
            let binding = Binding::of_row(row)?;
            if surface.is_some_and(|s| s != binding.surface) || is_over(&binding) {
                continue;
            }
            let out =
                binding.pending.as_ref().map(|p| read.turn(&p.turn_id)).transpose()?.flatten();
            let action = standing(&binding, out.and_then(|t| t.expires_at), self.now());
            let mut row = binding.shown();
            if let Some(map) = row.as_object_mut() {
                map.insert("goal_id".into(), json!(goal.policy.goal_id));
                map.insert("action".into(), json!(action));
            }
            shown.push(row);
        }
        Ok(shown)
    }
}
