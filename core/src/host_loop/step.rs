//! The two pure halves of a step: what an event does to a loop, and what a decision does.

use super::binding::{Binding, LoopState, Pending, Reason};
use super::event::{Action, LoopEvent};
use super::plan::{Plan, Reading};
use super::retry;
use super::surface::{OnUserPrompt, Surface};
use crate::model::time::MICROS_PER_SECOND;
use crate::model::{Instant, TurnId, TurnState};

/// How a turn that its agent left unsettled has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The agent finished without a settlement. A replan stays what it is, an attempt that
    /// has resolved nothing (seeds: `replan_paused`).
    Finished,
    /// It broke. A replan's outcome is unknown.
    Failed,
    /// A person or the system stopped it. A replan's outcome is unknown; the todo has not
    /// failed.
    Interrupted,
}

/// What an event leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The binding as it is now, and what the host does.
    Done(Box<Binding>, Action),
    /// A decision is needed first.
    Evaluate(Box<Binding>),
    /// The prompt that is out is to be sent once more.
    Resend(Box<Binding>),
}

/// A step, and the turn that ends with it.
pub type Stepped = (Step, Option<(TurnId, TurnEnd)>);

/// What the host does while nothing happens to `binding`.
pub fn standing(binding: &Binding, turn_expires: Option<Instant>, now: Instant) -> Action {
    match (binding.state, &binding.pending) {
        (LoopState::Armed, Some(_)) => match turn_expires.filter(|at| *at > now) {
            // Nobody may ever say that the turn is over.
            Some(until) => Action::Wait { until },
            None => Action::Idle,
        },
        (LoopState::Armed, None) => match binding.due_at {
            Some(until) => Action::Wait { until },
            None => Action::Idle,
        },
        _ => Action::Idle,
    }
}

fn done(binding: Binding, action: Action) -> Step {
    Step::Done(Box::new(binding), action)
}

fn evaluate(mut binding: Binding) -> Step {
    binding.due_at = None;
    Step::Evaluate(Box::new(binding))
}

/// A loop that a person or an event holds back.
fn paused(mut binding: Binding, reason: Reason) -> (Binding, Action) {
    binding.state = LoopState::Paused;
    binding.reason = Some(reason);
    binding.due_at = None;
    binding.recheck = None;
    (binding, Action::Pause { reason, directive: None })
}

fn armed(mut binding: Binding) -> Binding {
    binding.state = LoopState::Armed;
    binding.reason = None;
    binding.recheck = None;
    binding
}

fn ended(pending: Option<&Pending>, how: TurnEnd) -> Option<(TurnId, TurnEnd)> {
    pending.map(|p| (p.turn_id.clone(), how))
}

/// What `event` does. `turn` is the state of the turn that is out, and when its
/// reservation ends. The caller stores the binding, ends the turn where one is named and
/// still live, and decides where an evaluation is asked for.
pub fn step(
    binding: &Binding,
    event: &LoopEvent,
    surface: &Surface,
    turn: Option<(TurnState, Option<Instant>)>,
    now: Instant,
) -> Stepped {
    let (mut stepped, end) = taken(binding, event, surface, turn, now);
    let (Step::Done(next, _) | Step::Evaluate(next) | Step::Resend(next)) = &mut stepped;
    next.earlier = match &binding.pending {
        Some(out) if next.pending.is_none() => Some(out.turn_id.clone()),
        _ => binding.earlier.clone(),
    };
    (stepped, end)
}

/// [`step`], without what is remembered of the turn that was out before.
fn taken(
    binding: &Binding,
    event: &LoopEvent,
    surface: &Surface,
    turn: Option<(TurnState, Option<Instant>)>,
    now: Instant,
) -> Stepped {
    let live = matches!(turn, Some((TurnState::Live, _)));
    let expires = turn.and_then(|(_, at)| at);
    let mut next = binding.clone().by_clock(now);
    let out = next.pending.clone();
    let settled = matches!(turn, Some((TurnState::Settled, _)));
    let lapsed = out.is_some() && !live && !settled;
    if out.is_some() && !live {
        next.pending = None;
        if settled {
            next.failures = 0;
        }
    }
    let stay = |next: Binding| {
        let action = standing(&next, expires, now);
        (done(next, action), None)
    };
    let held = next.state != LoopState::Armed;
    if settled && !held && matches!(event, LoopEvent::Timer | LoopEvent::Changed) {
        // Whoever has the session says in a moment that it is idle. A runtime beside it that
        // only looks takes nothing away: what that one knows would be out of date.
        let action = standing(binding, expires, now);
        return (done(binding.clone(), action), None);
    }
    match event {
        LoopEvent::Activated => {
            let end = ended(next.pending.as_ref(), TurnEnd::Interrupted);
            next = Binding {
                generation: next.generation,
                door: next.door.clone(),
                holder: next.holder.clone(),
                ephemeral: next.ephemeral,
                ..Binding::new(next.session_key.clone(), &next.surface, next.agent.clone(), now)
            };
            (done(next, Action::Idle), end)
        }
        LoopEvent::Settled { turn_instance_id } => {
            let named = |p: &Pending| turn_instance_id.as_deref() == Some(p.turn_id.as_str());
            match &next.pending {
                // Another turn than the one that is out has ended.
                Some(p) if turn_instance_id.is_some() && !named(p) => stay(next),
                // Idleness from before the prompt arrived, told twice.
                Some(p) if !p.delivered && !named(p) => stay(next),
                Some(p) => {
                    let end = Some((p.turn_id.clone(), TurnEnd::Finished));
                    next.pending = None;
                    match held {
                        true => (stay(next).0, end),
                        false => (evaluate(next), end),
                    }
                }
                None if held => stay(next),
                None => (evaluate(next), None),
            }
        }
        LoopEvent::UserPrompt { prompt } => {
            let names = |turn: &TurnId| {
                prompt.as_deref().is_some_and(|text| names_turn(text, turn.as_str()))
            };
            // The turn that was out may be settled by the time its prompt comes back.
            if out.as_ref().is_some_and(|p| names(&p.turn_id)) {
                delivered(&mut next);
                return stay(next);
            }
            if next.earlier.as_ref().is_some_and(names) {
                return stay(next);
            }
            next.reset_token = None;
            next.unchanged = 0;
            next.failures = 0;
            next.recheck = None;
            match surface.on_user_prompt {
                OnUserPrompt::Pauses if next.state == LoopState::Stopped => stay(next),
                OnUserPrompt::Pauses => {
                    // A prompt that never arrived gives its turn back.
                    let end = next.pending.take_if(|p| !p.delivered);
                    let (next, action) = paused(next, Reason::UserPrompt);
                    (done(next, action), end.map(|p| (p.turn_id, TurnEnd::Interrupted)))
                }
                OnUserPrompt::TakesTheTurn => {
                    // What the session settles next is the person's turn.
                    next.due_at = None;
                    if next.reason == Some(Reason::UnchangedLimit) {
                        next = armed(next);
                    }
                    let action = standing(&next, expires, now);
                    (done(next, action), None)
                }
            }
        }
        LoopEvent::Delivered => {
            delivered(&mut next);
            stay(next)
        }
        LoopEvent::Aborted | LoopEvent::Paused => {
            let aborted = *event == LoopEvent::Aborted;
            let reason = if aborted { Reason::Aborted } else { Reason::UserPaused };
            // Pausing leaves a turn that is under way to its agent.
            let ends = next.pending.take_if(|p| aborted || !p.delivered);
            let end = ended(ends.as_ref(), TurnEnd::Interrupted);
            if next.state == LoopState::Stopped {
                return (done(next, Action::Idle), end);
            }
            let (next, action) = paused(next, reason);
            (done(next, action), end)
        }
        LoopEvent::Resumed => {
            next.reset_token = None;
            next.unchanged = 0;
            next.failures = 0;
            let next = armed(next);
            // A prompt that is out stays the one; otherwise it looks at once.
            match &next.pending {
                Some(p) if p.delivered => stay(next),
                Some(_) => (Step::Resend(Box::new(next)), None),
                None => (evaluate(next), None),
            }
        }
        LoopEvent::Timer => match (&next.pending, next.due_at) {
            _ if held => stay(next),
            (Some(_), _) => stay(next),
            (None, Some(due)) if due <= now => (evaluate(next), None),
            // The turn that was out has lapsed, and nobody will say that it is over.
            (None, None) if lapsed => (evaluate(next), None),
            // Early, or a timer from before the session was taken over.
            (None, _) => stay(next),
        },
        LoopEvent::Changed => match (next.state, next.reason) {
            (LoopState::Armed, _) if next.pending.is_none() && next.due_at.is_some() => {
                (evaluate(next), None)
            }
            // Nothing changed is what paused it, and something has.
            (
                LoopState::Paused,
                Some(Reason::UnchangedLimit | Reason::GoalStopped | Reason::QuotaPaused),
            ) => (evaluate(next), None),
            _ => stay(next),
        },
        LoopEvent::ProbeFailed { retry_seconds } => {
            if held || next.pending.is_some() {
                return stay(next);
            }
            let (next, action) = retry_later(next, *retry_seconds, now);
            (done(next, action), None)
        }
        LoopEvent::HostError { retry_seconds } => {
            let end = ended(next.pending.take().as_ref(), TurnEnd::Failed);
            if held {
                return (stay(next).0, end);
            }
            let (next, action) = retry_later(next, *retry_seconds, now);
            (done(next, action), end)
        }
        LoopEvent::Compacted => {
            next.whole_next = true;
            stay(next)
        }
        LoopEvent::SessionReplaced => {
            next.whole_next = true;
            let by_person = matches!(
                next.reason,
                Some(Reason::UserPaused | Reason::UserPrompt | Reason::Aborted)
            );
            let held = held && (by_person || !surface.start_is_a_look);
            match &next.pending {
                // It was under way in a runtime that is gone.
                Some(p) if p.delivered => {
                    let end = ended(Some(p), TurnEnd::Interrupted);
                    next.pending = None;
                    match held {
                        true => (done(next, Action::Idle), end),
                        false => (evaluate(next), end),
                    }
                }
                Some(_) if held => stay(next),
                Some(_) => (Step::Resend(Box::new(next)), None),
                None if held => stay(next),
                None => match next.due_at {
                    Some(due) if due > now => stay(next),
                    Some(_) => (evaluate(next), None),
                    // A session that was busy when its runtime went: it looks now.
                    None => (evaluate(next), None),
                },
            }
        }
        LoopEvent::Disposed { ended_turn, finished } => {
            let end = next.pending.take_if(|_| *ended_turn);
            let how = if *finished { TurnEnd::Finished } else { TurnEnd::Interrupted };
            next.holder = None;
            (done(next, Action::Idle), ended(end.as_ref(), how))
        }
    }
}

/// The host has the prompt that is out, and the body with it.
fn delivered(next: &mut Binding) {
    if let Some(pending) = &mut next.pending {
        pending.delivered = true;
        next.whole_next &= !pending.whole;
    }
}

fn retry_later(mut next: Binding, base: Option<u64>, now: Instant) -> (Binding, Action) {
    next.failures = next.failures.saturating_add(1);
    let until = retry::until(now, next.failures, base);
    next.due_at = Some(until);
    (next, Action::Wait { until })
}

/// Whether a prompt's last line names the turn.
fn names_turn(prompt: &str, turn: &str) -> bool {
    let last = prompt.trim_end().lines().next_back().unwrap_or_default().trim();
    last.strip_prefix(super::prompt::TURN_MARK).is_some_and(|named| named.trim() == turn)
}

/// What a decision does to a loop. `turn` is the turn that was admitted when it runs; the
/// prompt's text is the caller's to fill in.
pub fn conclude(
    binding: &Binding,
    reading: &Reading,
    turn: Option<Pending>,
    now: Instant,
) -> (Binding, Action) {
    let mut next = binding.clone();
    let rechecked = next.recheck.take();
    let same = rechecked.as_ref() == Some(&reading.identity);
    match reading.plan(next.reset_token.as_deref(), next.unchanged) {
        Plan::Terminal => {
            next.state = LoopState::Stopped;
            next.reason = Some(Reason::Terminal);
            next.due_at = None;
            (next, Action::Stop { reason: Reason::Terminal, directive: reading_stop(reading) })
        }
        Plan::Stop { directive, class } => {
            let reason = match class.as_str() {
                "goal_stopped" => Reason::GoalStopped,
                "peer_coordination_blocked" => Reason::ReturnedToOwner,
                _ => Reason::QuotaPaused,
            };
            let (mut next, _) = paused(next, reason);
            next.reset_token = None;
            next.unchanged = 0;
            (next, Action::Pause { reason, directive: Some(directive) })
        }
        Plan::Run => {
            let mut next = armed(next);
            next.reset_token = None;
            next.unchanged = 0;
            next.due_at = None;
            match turn {
                Some(pending) => {
                    let action = Action::Prompt {
                        turn_id: pending.turn_id.clone(),
                        todo_id: pending.todo_id.clone(),
                        text: String::new(),
                    };
                    next.pending = Some(pending);
                    (next, action)
                }
                // Observed only: whoever looks has no turn to hand out.
                None => (next, Action::Idle),
            }
        }
        Plan::Wait { minutes, unchanged } => {
            let mut next = armed(next);
            next.reset_token = Some(reading.identity.reset_token.clone());
            next.unchanged = unchanged;
            next.failures = 0;
            let until = now.plus_minutes(i64::from(minutes));
            next.due_at = Some(until);
            (next, Action::Wait { until })
        }
        Plan::Limit { unchanged, directive, recheck } => {
            next.unchanged = unchanged;
            next.reset_token = Some(reading.identity.reset_token.clone());
            if let Some(seconds) = reading.event_in_seconds {
                // Waiting for a known instant is not polling: the loop looks no more until
                // then, and is there when the monitor is due or the slot is free.
                let mut next = armed(next);
                next.unchanged = unchanged - 1;
                let until = now.plus_micros(seconds.saturating_mul(MICROS_PER_SECOND));
                next.due_at = Some(until);
                return (next, Action::Wait { until });
            }
            if recheck && rechecked.is_none() {
                let mut next = armed(next);
                // The recheck looks at the same count.
                next.unchanged = unchanged - 1;
                next.recheck = Some(reading.identity.clone());
                next.due_at = Some(now);
                return (next, Action::Recheck);
            }
            if rechecked.is_some() && !same {
                // Another answer to the same wait: it is waited for once more, and the
                // count stands.
                let mut next = armed(next);
                let minutes = reading.step_minutes(unchanged - 1);
                let until = now.plus_minutes(i64::from(minutes));
                next.due_at = Some(until);
                return (next, Action::Wait { until });
            }
            let (next, _) = paused(next, Reason::UnchangedLimit);
            let directive = Some(directive);
            (next, Action::Pause { reason: Reason::UnchangedLimit, directive })
        }
    }
}

fn reading_stop(reading: &Reading) -> Option<String> {
    reading.stop_directive().map(str::to_owned)
}
