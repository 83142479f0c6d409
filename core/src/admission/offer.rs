//! Offers and the brake (contract.md 2.4, 2.5): a run that may lead nowhere is offered
//! once per set of facts. Its admission is the one attempt.

use serde_json::Value;

use crate::file::digest::short_digest;
use crate::model::{AgentId, Attempt, AttemptState, GoalPolicy, Instant, TurnId};

use super::view::View;

/// A run that is offered once: its identity is (goal, agent, rule, cause, facts).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The rule that offers.
    pub rule: &'static str,
    /// The causing todo, trigger or finding.
    pub cause: String,
    /// Digest of the identity.
    pub digest: String,
}

impl Offer {
    /// The offer of `rule` to `agent` because of `cause`, while `facts` stand.
    pub fn new(
        policy: &GoalPolicy,
        agent: Option<&AgentId>,
        rule: &'static str,
        cause: &str,
        facts: &Value,
    ) -> Self {
        let identity = (goal_identity(policy), agent.map(AgentId::as_str), rule, cause, facts);
        Self { rule, cause: cause.to_owned(), digest: short_digest(&identity) }
    }

    /// What is on record about it, a mere note that it stood included.
    pub fn noted<'a>(&self, view: &'a View, agent: Option<&AgentId>) -> Option<&'a Attempt> {
        view.attempts.iter().find(|a| a.digest == self.digest && a.agent.as_ref() == agent)
    }

    /// How its attempt stands, when one was made.
    pub fn attempt<'a>(&self, view: &'a View, agent: Option<&AgentId>) -> Option<&'a Attempt> {
        self.noted(view, agent).filter(|a| a.state != AttemptState::Offered)
    }

    /// The record that `agent` has this offer in `state`.
    pub fn record(
        &self,
        agent: Option<&AgentId>,
        state: AttemptState,
        at: Instant,
        turn_id: Option<TurnId>,
    ) -> Attempt {
        Attempt {
            agent: agent.cloned(),
            rule: self.rule.to_owned(),
            cause: self.cause.clone(),
            digest: self.digest.clone(),
            state,
            at,
            turn_id,
        }
    }
}

/// The goal's uid; its name while it has none.
pub fn goal_identity(policy: &GoalPolicy) -> &str {
    policy.goal_uid.as_ref().map_or(policy.goal_id.as_str(), |uid| uid.as_str())
}

/// What keeps an agent's obligations from being offered at all.
pub fn replan_brake(view: &View, agent: Option<&AgentId>) -> Option<AttemptState> {
    let of_agent = |state| {
        view.attempts
            .iter()
            .any(|a| a.rule == "replan" && a.state == state && a.agent.as_ref() == agent)
    };
    [AttemptState::OutcomeUnknown, AttemptState::Paused].into_iter().find(|s| of_agent(*s))
}
