//! `store.prune`: takes away history that no decision needs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::goal::Goal;
use super::super::write::{Call, Open, recover, replay};
use super::super::{Kernel, leftovers, receipt};
use super::{Progress, Step, imported};
use crate::error::{Error, ErrorCode, Result};
use crate::file::leftover::leftovers_of;
use crate::model::Instant;
use crate::model::time::MICROS_PER_HOUR;
use crate::operation::Addressed;
use crate::registry::begin_change;
use crate::registry::change::begin_change_as;
use crate::store::{PruneLimits, Read, SqliteStore, Store};

/// `store.prune`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorePruneRequest {
    /// Days of history that stay, at least 1.
    pub keep_days: u32,
    /// Act; without it the answer is a preview.
    pub execute: bool,
}

impl Kernel {
    /// Takes away history that no decision needs and that is older than the kept days,
    /// or says what that would be. Days are counted back from the newest commit, or from
    /// now when that is earlier, so that a clock that runs ahead ages nothing.
    pub fn store_prune(
        &self,
        at: &Addressed,
        request: &StorePruneRequest,
        progress: Progress<'_>,
    ) -> Result<Value> {
        if request.keep_days == 0 {
            return Err(Error::new(ErrorCode::RequestInvalid, "keep_days")
                .message("at least one day of history stays")
                .next("loopx store prune --keep-days 90"));
        }
        let goal = self.goal(at.goal_id.as_deref())?;
        let uid = imported(&goal)?;
        let id = goal.policy.goal_id.clone();
        let now = self.now();
        if !request.execute {
            let store = SqliteStore::open_read_only(&goal.store_path(&uid), &uid, self.sqlite())?;
            let limits = limits(&goal, &store, now, request.keep_days)?;
            let gone = store.prunable(&limits)?;
            return Ok(json!({
                "ok": true,
                "goal_id": id,
                "dry_run": true,
                "before": limits.before,
                "spends_before": limits.spends_before,
                "prune": gone,
                "store_bytes": store.bytes()?,
                "next_command": format!(
                    "loopx store prune --goal-id {id} --keep-days {} --execute",
                    request.keep_days
                ),
            }));
        }
        let call = Call::new("store.prune", at, request)?;
        let effect_id = call.effect()?;
        let mut tidied = self.tidy_registry(&goal)?;
        let mut open = self.open_to_write(Arc::new(goal))?;
        let Open { goal, store, .. } = &mut open;
        progress(Step { what: "prune", done: 0, of: 2 });
        let bytes_before = store.store()?.bytes()?;
        let (answer, turn) = {
            let mut tx = store.store()?.begin("store.prune")?;
            recover(goal, tx.as_mut())?;
            if let Some(done) = tx.commit_of(&effect_id)? {
                return replay(&done, &call.digest, &effect_id);
            }
            tidied += leftovers::tidy(goal, &uid, tx.as_ref(), now)?;
            let limits = limits(goal, tx.as_ref(), now, request.keep_days)?;
            let gone = tx.prune(&limits)?;
            let n = tx.last_commit()? + 1;
            let nothing = gone.is_empty() && at.effect_id.is_none();
            let answer = Map::from_iter([
                ("dry_run".to_owned(), json!(false)),
                ("before".to_owned(), json!(limits.before)),
                ("spends_before".to_owned(), json!(limits.spends_before)),
                ("prune".to_owned(), json!(gone)),
            ]);
            let answer =
                receipt(id.as_str(), if nothing { n.saturating_sub(1) } else { n }, now, answer);
            if nothing {
                return Ok(with_tidied(answer, tidied));
            }
            tx.record(&self.record(&call, &effect_id, n, None, now, &answer))?;
            (answer, tx.commit()?)
        };
        progress(Step { what: "prune", done: 1, of: 2 });
        let compacted = store.store()?.compact();
        let bytes_after = store.store()?.bytes()?;
        drop(turn);
        progress(Step { what: "prune", done: 2, of: 2 });
        let mut answer = answer;
        if let Some(map) = answer.as_object_mut() {
            map.insert("store_bytes_before".into(), json!(bytes_before));
            map.insert("store_bytes".into(), json!(bytes_after));
            if let Err(error) = compacted {
                // What was pruned is gone; the file only keeps its free pages.
                map.insert("compaction".into(), error.to_json());
            }
        }
        Ok(with_tidied(answer, tidied))
    }

    /// Takes away what writers of the goal's registry have left, and stores whose goal was
    /// never made; how many.
    fn tidy_registry(&self, goal: &Goal) -> Result<usize> {
        let path = goal.registry.path();
        let left = leftovers_of(path).len();
        let holder = self.holder("store.prune");
        let change = begin_change(path, &holder, self.options.deadline)?;
        let mut swept = left.saturating_sub(leftovers_of(path).len());
        swept += self.remove_orphans(change.registry(), &goal.runtime_root);
        // Who may not write the global registry has left nothing there.
        if let Ok(global) = self.options.route.global_registry()
            && global.exists()
        {
            let left = leftovers_of(&global).len();
            drop(begin_change_as(&global, "global registry", &holder, self.options.deadline));
            swept += left.saturating_sub(leftovers_of(&global).len());
        }
        Ok(swept)
    }
}

/// Says of this call what it tidied up, which is not part of the receipt.
fn with_tidied(mut answer: Value, tidied: usize) -> Value {
    if let (true, Some(map)) = (tidied > 0, answer.as_object_mut()) {
        map.insert("leftovers_removed".into(), json!(tidied));
    }
    answer
}

fn limits(goal: &Goal, read: &dyn Read, now: Instant, days: u32) -> Result<PruneLimits> {
    let newest = read.commits_before(None, 1)?.first().map_or(now, |c| c.at);
    let kept = i64::from(days).saturating_mul(24).saturating_mul(MICROS_PER_HOUR);
    let before = newest.min(now).plus_micros(-kept);
    let window = i64::from(goal.policy.quota.window_hours).saturating_mul(MICROS_PER_HOUR);
    Ok(PruneLimits { before, spends_before: before.plus_micros(-window) })
}
