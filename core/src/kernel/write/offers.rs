//! The brake for doors that poll without a turn id (contract.md 2.5).

use super::super::goal::Goal;
use crate::admission::facts::feedback_cause;
use crate::admission::offer::Offer;
use crate::admission::{AdmissionRequest, Situation, Subject, View, ViewQuery, decide};
use crate::command::Scene;
use crate::error::Result;
use crate::model::{AgentId, AttemptState, Feedback, GoalPolicy, Instant, TodoId};
use crate::store::{Change, Transaction};

fn standing(policy: &GoalPolicy, view: &View, agent: &AgentId, now: Instant) -> Option<Offer> {
    let asked = AdmissionRequest { agent: Some(agent.clone()), ..AdmissionRequest::default() };
    let situation = Situation { subject: Subject::Goal { policy, view }, request: &asked, now };
    decide(&situation).verdict.offer
}

/// A door that polls without a turn id counts as attempting an offer at its next write.
/// An offer that stood at an earlier write and still stands was answered by what the
/// agent does now; one that stands for the first time is noted. A spend only closes the
/// turn before, so it notes and never counts. A write from which something follows
/// resolves a replan about a todo, whose cause may stand on (a monitor that still does
/// not change) or is gone with this commit.
pub(super) fn note(
    scene: &Scene<'_>,
    agent: &AgentId,
    spends: bool,
    followed: bool,
) -> Result<Vec<Change>> {
    if !scene.policy.roster.contains(agent) {
        return Ok(Vec::new());
    }
    let query = ViewQuery { now: scene.now, quota: scene.policy.quota, complete: false };
    let view = scene.read.view(&query)?;
    let Some(offer) = standing(scene.policy, &view, agent, scene.now) else {
        return Ok(Vec::new());
    };
    if followed
        && offer.rule == "replan"
        && let Ok(id) = TodoId::parse(&offer.cause)
        && let Some(cause) = scene.read.todo(&id)?
    {
        let resolved = offer.record(Some(agent), AttemptState::Resolved, scene.now, None);
        return Ok(cause.is_open().then_some(Change::PutAttempt(resolved)).into_iter().collect());
    }
    // Words that the agent stood under when it wrote what follows are answered by it.
    let heard = view.feedback.iter().find(|f| followed && feedback_cause(f.id) == offer.cause);
    if let Some(feedback) = heard {
        return Ok(vec![
            Change::PutAttempt(offer.record(Some(agent), AttemptState::Resolved, scene.now, None)),
            Change::PutFeedback(Feedback { answered: true, ..feedback.clone() }),
        ]);
    }
    let noted = offer.noted(&view, Some(agent)).is_some();
    let state = if noted && !spends { AttemptState::Attempted } else { AttemptState::Offered };
    Ok(vec![Change::PutAttempt(offer.record(Some(agent), state, scene.now, None))])
}

/// After a spend: the offer that the next poll will see is noted.
pub(super) fn note_standing(
    goal: &Goal,
    tx: &mut dyn Transaction,
    agent: &AgentId,
    now: Instant,
) -> Result<()> {
    if !goal.policy.roster.contains(agent) {
        return Ok(());
    }
    let query = ViewQuery { now, quota: goal.policy.quota, complete: false };
    let view = tx.view(&query)?;
    match standing(&goal.policy, &view, agent, now) {
        Some(offer) if offer.noted(&view, Some(agent)).is_none() => {
            let noted = offer.record(Some(agent), AttemptState::Offered, now, None);
            tx.apply(&[Change::PutAttempt(noted)])
        }
        _ => Ok(()),
    }
}
