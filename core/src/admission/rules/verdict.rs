//! What a rule says: a verdict, and the words that build one.

use super::super::offer::Offer;
use crate::model::{Todo, TodoId};

/// What a matching rule says.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The reference's `decision`.
    pub decision: &'static str,
    /// The reference's `effective_action`; empty where nothing was decided.
    pub effective_action: &'static str,
    /// The reference's `state`.
    pub state: &'static str,
    /// The reference's `interaction_contract.mode`.
    pub mode: &'static str,
    /// The agent may run, and then must attempt.
    pub run: bool,
    /// It may deliver work, not only mend.
    pub delivery: bool,
    /// A person is to be told.
    pub notify: bool,
    /// Machine word that tells verdicts of one rule apart.
    pub reason_code: Option<&'static str>,
    /// One sentence.
    pub reason: String,
    /// The todo to work on.
    pub selected: Option<TodoId>,
    /// `goal_stopped` or `compute_quota_zero`.
    pub pause_cause: Option<&'static str>,
    /// The offer that this run is, when it is one.
    pub offer: Option<Offer>,
    /// What a person is asked to do: gates, then actions.
    pub user_items: Vec<TodoId>,
}

impl Verdict {
    /// `decision / effective_action / state / mode`, saying no.
    pub(super) fn new(
        decision: &'static str,
        effective_action: &'static str,
        state: &'static str,
        mode: &'static str,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            decision,
            effective_action,
            state,
            mode,
            run: false,
            delivery: false,
            notify: false,
            reason_code: None,
            reason: reason.into(),
            selected: None,
            pause_cause: None,
            offer: None,
            user_items: Vec::new(),
        }
    }

    /// Decision, effective action and mode are one word.
    pub(super) fn word(word: &'static str, reason: impl Into<String>) -> Self {
        Self::new(word, word, "eligible", word, reason)
    }

    pub(super) fn normal_run(reason: impl Into<String>) -> Self {
        Self::new("run", "normal_run", "eligible", "bounded_delivery", reason).running(true)
    }

    pub(super) fn user_action(reason: impl Into<String>) -> Self {
        Self {
            notify: true,
            ..Self::new("skip", "user_action_required", "eligible", "user_action_required", reason)
        }
    }

    pub(super) fn running(self, delivery: bool) -> Self {
        Self { run: true, delivery, ..self }
    }

    pub(super) fn on(self, todo: &Todo) -> Self {
        Self { selected: Some(todo.todo_id.clone()), ..self }
    }

    pub(super) fn offering(self, offer: Offer) -> Self {
        Self { offer: Some(offer), ..self }
    }

    pub(super) fn telling(self, notify: bool) -> Self {
        Self { notify, ..self }
    }

    pub(super) fn coded(self, code: &'static str) -> Self {
        Self { reason_code: Some(code), ..self }
    }

    pub(super) fn asking<'a>(self, items: impl Iterator<Item = &'a Todo>) -> Self {
        Self { user_items: items.map(|t| t.todo_id.clone()).collect(), ..self }
    }
}
