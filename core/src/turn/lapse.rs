//! A turn that was admitted and never settled counts as failed when its reservation ends
//! or its holder dies (contract.md 2.5): its slot, its lease and the claim that it took
//! are free, its todo has failed once more, and a replan's outcome is unknown.
//!
//! The same changes are laid over a view by a read and committed by the next write, so
//! both decide alike.

use std::sync::Arc;

use crate::admission::view::{View, count};
use crate::command::refresh::fruitless;
use crate::model::{Attempt, AttemptState, HolderEvidence, Instant, Lease, Stall, Turn, TurnState};
use crate::store::Change;

impl View {
    /// Turns and leases whose holder has died lapse at once instead of at their end.
    pub fn bury(
        &mut self,
        is_dead: impl Fn(&HolderEvidence) -> bool,
        quota: &crate::model::QuotaPolicy,
    ) {
        let dead = |holder: &Option<HolderEvidence>| holder.as_ref().is_some_and(&is_dead);
        let (gone, alive): (Vec<Turn>, Vec<Turn>) =
            std::mem::take(&mut self.turns).into_iter().partition(|t| dead(&t.holder));
        self.turns = alive;
        self.leases.retain(|l| !dead(&l.holder));
        for turn in gone {
            self.leases.retain(|l| l.turn_id.as_ref() != Some(&turn.turn_id));
            self.window.reserved = self.window.reserved.saturating_sub(turn.reserved);
            self.lapsed.push(turn);
        }
        if self.window.has_free_slot(quota) {
            self.window.next_free_at = None;
        }
    }

    /// Lays lapsed turns over this view.
    pub fn lapse(&mut self, now: Instant) {
        for change in lapse(self, now) {
            match change {
                Change::PutTodo(todo) => {
                    let todos = Arc::make_mut(&mut self.todos);
                    if let Some(old) = todos.iter_mut().find(|t| t.todo_id == todo.todo_id) {
                        count(&mut self.counters, old, -1);
                        count(&mut self.counters, &todo, 1);
                        *old = *todo;
                    }
                }
                Change::PutStall(stall) => {
                    self.stalls.retain(|s| s.todo_id != stall.todo_id || s.agent != stall.agent);
                    self.stalls.push(stall);
                }
                Change::PutAttempt(attempt) => {
                    self.attempts.retain(|a| {
                        a.agent != attempt.agent
                            || a.rule != attempt.rule
                            || a.cause != attempt.cause
                    });
                    self.attempts.push(attempt);
                }
                Change::PutLease(lease) => self.leases.retain(|l| l.todo_id != lease.todo_id),
                _ => {}
            }
        }
        self.lapsed.clear();
    }
}

/// What follows from the lapsed turns of a view.
pub fn lapse(view: &View, now: Instant) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut stalls: Vec<Stall> = view.stalls.clone();
    for turn in &view.lapsed {
        // It ended when its reservation did; a holder's death is noticed only now.
        let ended = turn.expires_at.filter(|at| *at <= now).unwrap_or(now);
        changes.push(Change::PutTurn(Turn {
            state: TurnState::Released,
            reserved: 0,
            ..turn.clone()
        }));
        changes.extend(free(view, turn));
        if let Some(todo_id) = turn.todo_id.as_ref().filter(|_| is_work(turn)) {
            let before = stalls
                .iter()
                .position(|s| s.todo_id == *todo_id && s.agent == turn.agent)
                .map(|at| stalls.remove(at));
            let stall = fruitless(before, todo_id.clone(), turn.agent.clone(), ended);
            stalls.push(stall.clone());
            changes.push(Change::PutStall(stall));
        }
        changes.extend(unknown(view, turn));
    }
    changes
}

/// Whether the turn was admitted to deliver on its todo (rules 9 and 15).
pub fn is_work(turn: &Turn) -> bool {
    matches!(turn.rule.as_str(), "run" | "gate_fallback")
}

/// What ends with a turn that is not settled: its lease, and the claim that it took.
pub fn free(view: &View, turn: &Turn) -> Vec<Change> {
    let mut changes = Vec::new();
    let Some(todo_id) = &turn.todo_id else { return changes };
    let todo = view.todos.iter().find(|t| t.todo_id == *todo_id);
    if let Some(todo) = todo
        && turn.took_claim
        && todo.claimed_by == turn.agent
    {
        let mut free = todo.clone();
        free.claimed_by = None;
        changes.push(Change::PutTodo(Box::new(free)));
    }
    if let Some(lease) = view.leases.iter().find(|l| l.turn_id.as_ref() == Some(&turn.turn_id)) {
        changes.push(Change::PutLease(Lease {
            released: true,
            version: lease.version + 1,
            ..lease.clone()
        }));
    }
    changes
}

/// A replan that ended without a settlement: nobody knows what it did (contract 2.4).
pub fn unknown(view: &View, turn: &Turn) -> Option<Change> {
    let attempt = view.attempts.iter().find(|a| a.turn_id.as_ref() == Some(&turn.turn_id))?;
    (attempt.rule == "replan").then(|| {
        Change::PutAttempt(Attempt { state: AttemptState::OutcomeUnknown, ..attempt.clone() })
    })
}
