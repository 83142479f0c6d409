//! Which history no decision needs any more. Pure predicates; each backend applies them
//! in its own way, and the suite compares.
//!
//! What stays, whatever its age: everything open or live, the binding of a turn that
//! only its own row remembers, the newest delivery of each agent and of each of its
//! todos (spending asks for it), outcomes with model usage (the totals are their sum),
//! leases (their epochs grow for ever), grants, attempts, signals, commit numbers,
//! effect ids and the ids of todos.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::{
    Attempt, CommitRecord, EffectId, Evidence, Instant, Outcome, Spend, Todo, TodoId, Turn, TurnId,
    TurnState,
};

/// How far back history is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneLimits {
    /// What happened before this instant may go.
    pub before: Instant,
    /// Spends before this instant may go: they have left every window long ago.
    pub spends_before: Instant,
}

/// What a prune takes away, or would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Bindings of settled and skipped turns.
    pub turns: u64,
    /// Spends outside every window.
    pub spends: u64,
    /// Outcomes that were spent or cannot be.
    pub outcomes: u64,
    /// Evidence of closed todos.
    pub evidence: u64,
    /// Receipts that were shortened.
    pub receipts: u64,
    /// Archived todos of which only the id and what conditions ask for is left.
    pub todos: u64,
    /// Bytes of the records that go.
    pub bytes: u64,
}

impl Pruned {
    /// Nothing goes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn took(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
}

/// The effect under which a turn was admitted.
fn admission(turn: &TurnId) -> EffectId {
    EffectId::of_turn(turn, "turn.admit", "")
}

/// Turns that a prune leaves alone because an attempt names them.
pub(super) fn attempted(attempts: &[Attempt]) -> HashSet<TurnId> {
    attempts.iter().filter_map(|a| a.turn_id.clone()).collect()
}

/// Whether a turn's binding goes. `has_commit` says whether an effect is in the log: a
/// turn that an import brought is remembered by its row alone.
pub(super) fn turn_goes(
    turn: &Turn,
    limits: &PruneLimits,
    attempted: &HashSet<TurnId>,
    has_commit: impl FnOnce(&EffectId) -> bool,
) -> bool {
    matches!(turn.state, TurnState::Settled | TurnState::Skipped)
        && turn.at < limits.before
        && !attempted.contains(&turn.turn_id)
        && has_commit(&admission(&turn.turn_id))
}

/// Effects whose receipts stay with the turns that stay.
pub(super) fn kept_admissions<'a>(turns: impl Iterator<Item = &'a Turn>) -> HashSet<EffectId> {
    turns.map(|t| admission(&t.turn_id)).collect()
}

/// Whether a spend goes.
pub(super) fn spend_goes(spend: &Spend, limits: &PruneLimits) -> bool {
    spend.at < limits.spends_before
}

/// The outcomes that answer "what was delivered last?".
pub(super) fn newest_deliveries<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> BTreeSet<u64> {
    let mut newest: HashMap<(String, Option<TodoId>), u64> = HashMap::new();
    let mut last: HashMap<String, u64> = HashMap::new();
    for outcome in outcomes {
        let agent = outcome.agent.as_ref().map_or_else(String::new, ToString::to_string);
        let any = last.entry(agent.clone()).or_insert(outcome.id);
        *any = (*any).max(outcome.id);
        if outcome.kind.is_delivered() {
            for key in [(agent.clone(), outcome.todo_id.clone()), (format!("any|{agent}"), None)] {
                let id = newest.entry(key).or_insert(outcome.id);
                *id = (*id).max(outcome.id);
            }
        }
    }
    newest.into_values().chain(last.into_values()).collect()
}

/// Whether an outcome goes.
pub(super) fn outcome_goes(
    outcome: &Outcome,
    limits: &PruneLimits,
    newest: &BTreeSet<u64>,
) -> bool {
    outcome.at < limits.before
        && (outcome.spent_by.is_some() || !outcome.kind.is_delivered())
        && outcome.usage.is_none()
        && !newest.contains(&outcome.id)
}

/// Whether evidence goes; `closed` says whether its todo is there and closed.
pub(super) fn evidence_goes(
    evidence: &Evidence,
    limits: &PruneLimits,
    closed: impl FnOnce(&TodoId) -> bool,
) -> bool {
    evidence.at < limits.before && evidence.todo_id.as_ref().is_some_and(closed)
}

/// What is left of an archived todo: its id, and what conditions, counters and
/// obligations ask for. `None` when it stays as it is.
pub(super) fn tombstone(todo: &Todo, limits: &PruneLimits) -> Option<Todo> {
    let over = !todo.is_open() && todo.archived && !todo.dangling && todo.malformed.is_none();
    let at = todo.completed_at.max(todo.updated_at)?;
    if !over || at >= limits.before || todo.text.is_empty() {
        return None;
    }
    let mut left =
        Todo::new(todo.todo_id.clone(), todo.role, todo.task_class, todo.order, String::new());
    left.status = todo.status;
    left.archived = true;
    left.claimed_by = todo.claimed_by.clone();
    left.superseded_by = todo.superseded_by.clone();
    left.successor_todo_ids = todo.successor_todo_ids.clone();
    left.completion_continuation = todo.completion_continuation;
    left.no_followup = todo.no_followup;
    left.created_at = todo.created_at;
    left.updated_at = todo.updated_at;
    left.completed_at = todo.completed_at;
    if let Some(by) = todo.extra.get("completed_by") {
        left.extra.insert("completed_by".into(), by.clone());
    }
    Some(left)
}

/// The commit with a short receipt; `None` when it stays as it is.
pub(super) fn shortened(
    record: &CommitRecord,
    limits: &PruneLimits,
    kept: &HashSet<EffectId>,
) -> Option<CommitRecord> {
    if record.at >= limits.before || is_pruned(&record.receipt) || kept.contains(&record.effect_id)
    {
        return None;
    }
    let mut receipt = json!({"ok": true});
    if let (Some(map), Some(goal)) = (receipt.as_object_mut(), record.receipt.get("goal_id")) {
        map.insert("goal_id".into(), goal.clone());
    }
    if let Some(map) = receipt.as_object_mut() {
        map.insert("commit".into(), json!(record.n));
        map.insert("at".into(), json!(record.at));
        map.insert("receipt_pruned".into(), json!(true));
    }
    Some(CommitRecord { receipt, ..record.clone() })
}

/// Whether a receipt was shortened: the command was done, its answer is no longer kept.
pub fn is_pruned(receipt: &Value) -> bool {
    receipt.get("receipt_pruned") == Some(&Value::Bool(true))
}
