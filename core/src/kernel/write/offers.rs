//! The brake for doors that poll without a turn id (contract.md 2.5).

use super::super::goal::Goal;
use crate::admission::facts::feedback_cause;
use crate::admission::offer::Offer;
use crate::admission::{AdmissionRequest, Situation, Subject, View, ViewQuery, decide};
use crate::command::Scene;
use crate::error::Result;
use crate::model::todo::ResumeCondition;
use crate::model::{AgentId, AttemptState, Declared, Feedback, GoalPolicy, Instant, TodoId};
use crate::store::{Change, Transaction};

/// Who writes, and what is known of the place that it works in: a write declares nothing.
pub(super) struct Writer<'w> {
    pub agent: &'w AgentId,
    /// The door of this write works in a checkout of its own.
    pub independent_worktree: bool,
}

/// The offer that the agent's own question would be answered with now. An offer that stands
/// or falls with what a door declares, of an agent that has never declared anything, is
/// nobody's to judge here.
fn standing(
    policy: &GoalPolicy,
    view: &View,
    writer: &Writer<'_>,
    declared: Option<Declared>,
    now: Instant,
) -> Option<Offer> {
    let offer = |Declared { capabilities, independent_worktree }: Declared| {
        let asked = AdmissionRequest {
            agent: Some(writer.agent.clone()),
            capabilities,
            independent_worktree,
            ..AdmissionRequest::default()
        };
        let situation = Situation { subject: Subject::Goal { policy, view }, request: &asked, now };
        decide(&situation).verdict.offer
    };
    let known = declared.is_some();
    let mut said = declared.unwrap_or_default();
    said.independent_worktree |= writer.independent_worktree;
    let stands = offer(said)?;
    (known || offer(everything(view)).as_ref() == Some(&stands)).then_some(stands)
}

/// Whatever a door could declare that makes a difference to a todo.
fn everything(view: &View) -> Declared {
    let capabilities = view.todos.iter().flat_map(|todo| {
        let waits = match &todo.resume_when {
            Some(ResumeCondition::CapacityAvailable(name)) => Some(name.clone()),
            _ => None,
        };
        todo.required_capabilities.iter().cloned().chain(waits)
    });
    Declared { capabilities: capabilities.collect(), independent_worktree: true }
}

/// A door that polls without a turn id counts as attempting an offer at its next write.
/// An offer that stood at an earlier write and still stands was answered by what the
/// agent does now; one that stands for the first time is noted. A spend only closes the
/// turn before, so it notes and never counts. A write from which something follows
/// resolves a replan about a todo, whose cause may stand on (a monitor that still does
/// not change) or is gone with this commit.
pub(super) fn note(
    scene: &Scene<'_>,
    writer: &Writer<'_>,
    spends: bool,
    followed: bool,
) -> Result<Vec<Change>> {
    let agent = writer.agent;
    if !scene.policy.roster.contains(agent) {
        return Ok(Vec::new());
    }
    let declared = scene.read.seen(agent)?.and_then(|s| s.declared);
    let query = ViewQuery { now: scene.now, quota: scene.policy.quota, complete: false };
    let view = scene.read.view(&query)?;
    let Some(offer) = standing(scene.policy, &view, writer, declared, scene.now) else {
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
    writer: &Writer<'_>,
    now: Instant,
) -> Result<()> {
    let agent = writer.agent;
    if !goal.policy.roster.contains(agent) {
        return Ok(());
    }
    let query = ViewQuery { now, quota: goal.policy.quota, complete: false };
    let view = tx.view(&query)?;
    let declared = tx.seen(agent)?.and_then(|s| s.declared);
    match standing(&goal.policy, &view, writer, declared, now) {
        Some(offer) if offer.noted(&view, Some(agent)).is_none() => {
            let noted = offer.record(Some(agent), AttemptState::Offered, now, None);
            tx.apply(&[Change::PutAttempt(noted)])
        }
        _ => Ok(()),
    }
}
