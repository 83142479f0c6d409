//! Loops of hosts as reads: one session's, or all of a goal.

use serde_json::{Value, json};

use super::Kernel;
use super::snapshot::Snapshot;
use super::write::session;
use crate::command::loops::LoopRequest;
use crate::error::Result;
use crate::host_loop::binding::ROW_KIND;
use crate::host_loop::{Binding, SessionKey, standing};
use crate::operation::Addressed;
use crate::registry::document::entry_id;

impl Kernel {
    /// Shows loops: those of the goal, or, with a session and no goal, that session's
    /// wherever in the registry it is. What cannot be read is left out and named in
    /// `unreadable_goals`.
    pub fn loop_show(&self, at: &Addressed, request: &LoopRequest) -> Result<Value> {
        let key = match (&request.surface, &request.session) {
            (Some(surface), Some(text)) => Some(session(surface, text)?.1),
            (None, Some(text)) => Some(session("", text)?.1),
            _ => None,
        };
        if at.goal_id.is_none()
            && let Some(key) = &key
        {
            let loops: Vec<Value> = self.loops_of(key)?.into_iter().map(|(_, row)| row).collect();
            return Ok(json!({"ok": true, "loops": loops}));
        }
        let goal = self.goal(at.goal_id.as_deref())?;
        let rows = self.loops_in(&goal, key.as_ref(), request.surface.as_deref())?;
        Ok(json!({"ok": true, "goal_id": goal.policy.goal_id, "loops": rows}))
    }

    /// The loops of that session, with their goals.
    pub(super) fn loops_of(&self, key: &SessionKey) -> Result<Vec<(String, Value)>> {
        let registry = self.registry()?;
        let mut found = Vec::new();
        for entry in registry.goals() {
            let Some(id) = entry_id(entry).map(str::to_owned) else { continue };
            let Ok(goal) = self.goal(Some(&id)) else { continue };
            if !goal.has_store {
                continue;
            }
            // A goal whose records cannot be read has no loop that could go on.
            for row in self.loops_in(&goal, Some(key), None).unwrap_or_default() {
                found.push((id.clone(), row));
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
            if surface.is_some_and(|s| s != binding.surface) {
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
