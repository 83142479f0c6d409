//! Commands that change the registry and the store: a journal row brackets the atomic
//! replace of the registry, and the next writer finishes or drops what a crash left.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::goal::Goal;
use super::super::{Kernel, receipt};
use super::{Call, replay};
use crate::error::{Error, ErrorCode, Result};
use crate::file::sync_replaced;
use crate::model::{AgentId, AgentSeen, CommitRecord, GoalId, Instant, JournalRow};
use crate::registry::{Registry, begin_change, entry_digest};
use crate::store::sqlite::sync_committed;
use crate::store::{Change, Store as _, Transaction};

/// What a command does to a goal's registry entry; its answer.
type Edit<'e> = dyn Fn(&mut Value, Instant) -> Result<Map<String, Value>> + 'e;

impl Kernel {
    /// Runs a command that changes the registry and the store: a journal row brackets the
    /// atomic replace of the registry.
    pub(in super::super) fn write_both(
        &self,
        call: &Call<'_>,
        edit: impl Fn(&mut Value, Instant) -> Result<Map<String, Value>>,
    ) -> Result<Value> {
        self.write_both_by(call, &edit)
    }

    fn write_both_by(&self, call: &Call<'_>, edit: &Edit<'_>) -> Result<Value> {
        let found = Arc::new(self.goal(call.goal)?);
        if !found.has_store {
            edit(&mut found.entry()?.clone(), self.now())?;
        }
        let (goal, uid) = self.with_store(found)?;
        let id = goal.policy.goal_id.clone();
        let mut change =
            begin_change(goal.registry.path(), &self.holder(call.verb), self.options.deadline)?;
        let index = change.registry().locate(&id)?;
        let effect_id = call.effect()?;
        let now = self.now();
        let mut store = self.stores.writer(&goal.store_path(&uid), &uid, self.sqlite())?;
        let mut tx = store.store()?.begin(call.verb)?;
        let recovered = recover_with(change.registry(), index, tx.as_mut())?;
        if let Some(done) = tx.commit_of(&effect_id)? {
            let answer = replay(&done, &call.digest, &effect_id)?;
            sync_replaced(goal.registry.path())?;
            sync_committed(&goal.store_path(&uid))?;
            if recovered {
                // What is acknowledged here has to stand, whatever the registry says later.
                drop(tx.commit()?);
            }
            // A crash may have come before the global copy.
            return Ok(self.with_global_copy(answer, change.registry(), &id, now));
        }
        let entry = change
            .registry_mut()
            .entry_mut(index)
            .ok_or_else(|| Error::new(ErrorCode::GoalUnknown, id.as_str()))?;
        let answer = edit(entry, now)?;
        let entry_after = entry_digest(entry);
        let commit = tx.last_commit()? + 1;
        let answer = receipt(id.as_str(), commit, now, answer);
        let rendered = change.render()?;
        let changed = answer.get("changed") != Some(&Value::Bool(false));
        if !changed && !rendered.witnesses.differ() && !recovered && call.given_effect.is_none() {
            // Nothing to commit.
            let answer = receipt_at(answer, commit - 1);
            return Ok(self.with_global_copy(answer, change.registry(), &id, now));
        }
        let actor = call.agent.and_then(|a| AgentId::parse(a).ok());
        let seen = match (&actor, call.hint_minutes) {
            (Some(agent), Some(minutes)) => {
                let (polls, declared) =
                    tx.seen(agent)?.map_or((0, None), |seen| (seen.polls, seen.declared));
                Some(AgentSeen {
                    agent: agent.clone(),
                    at: now,
                    hint_minutes: minutes,
                    polls,
                    declared,
                })
            }
            _ => None,
        };
        let record = self.record(call, &effect_id, commit, actor, now, &answer);
        if rendered.witnesses.differ() {
            tx.set_journal(Some(&JournalRow {
                effect_id,
                witness_before: rendered.witnesses.before.clone(),
                witness_after: rendered.witnesses.after.clone(),
                entry_after,
                commit: record.clone(),
                seen: seen.clone(),
            }))?;
            // Nobody writes between the two commits, so the numbers stay as noted.
            let turn = tx.commit()?;
            change.commit()?;
            tx = store.store()?.begin_again(turn)?;
            tx.set_journal(None)?;
        }
        if let Some(seen) = seen {
            tx.apply(&[Change::PutSeen(seen)])?;
        }
        tx.record(&record)?;
        drop(tx.commit()?);
        Ok(self.with_global_copy(answer, change.registry(), &id, now))
    }

    /// Projects a goal to the global registry. The project's registry is the truth; when
    /// the global copy stays behind, the answer says so.
    pub(in super::super) fn with_global_copy(
        &self,
        mut answer: Value,
        registry: &Registry,
        id: &GoalId,
        now: Instant,
    ) -> Value {
        let projected = self.project_global(registry, std::slice::from_ref(id), now);
        if let (Err(error), Some(map)) = (projected, answer.as_object_mut()) {
            map.insert("global_projection".into(), error.to_json());
        }
        answer
    }
}

/// The receipt of a command that changed nothing: it names the commit that stands.
fn receipt_at(mut answer: Value, commit: u64) -> Value {
    if let Some(n) = answer.get_mut("commit") {
        *n = commit.into();
    }
    answer
}

/// Finishes or drops a command that a crash left between registry and store; whether
/// there was one.
pub(in super::super) fn recover(goal: &Goal, tx: &mut dyn Transaction) -> Result<bool> {
    if tx.journal()?.is_none() {
        return Ok(false);
    }
    let current = Registry::read(goal.registry.path())?;
    let index = current.locate(&goal.policy.goal_id)?;
    recover_with(&current, index, tx)
}

fn recover_with(registry: &Registry, index: usize, tx: &mut dyn Transaction) -> Result<bool> {
    let Some(row) = tx.journal()? else { return Ok(false) };
    let replaced = registry.witness() == row.witness_after
        || (registry.witness() != row.witness_before
            && registry.entry(index).is_some_and(|entry| entry_digest(entry) == row.entry_after));
    tx.set_journal(None)?;
    if replaced && tx.commit_of(&row.effect_id)?.is_none() {
        let n = tx.last_commit()? + 1;
        if let Some(seen) = row.seen {
            tx.apply(&[Change::PutSeen(seen)])?;
        }
        tx.record(&CommitRecord { n, ..row.commit })?;
    }
    Ok(true)
}
