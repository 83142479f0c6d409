//! One session's loop as a host module holds it: the generation that it saw, the failures
//! that the store could not be told about, what a person did that is yet to be stored, and
//! what has to be told again.

use serde_json::{Value, json};

use super::Kernel;
use crate::command::loops::LoopStepRequest;
use crate::error::{Error, ErrorCode};
use crate::host_loop::{Action, LoopEvent, retry};
use crate::operation::Addressed;

/// A loop in a host's memory. Everything that matters is in the store; this is what lies
/// between the host and a store that cannot be reached.
#[derive(Clone, Debug)]
pub struct LoopSession {
    goal_id: String,
    /// Host, session, agent and what the door declares; the event is put in for each step.
    template: LoopStepRequest,
    generation: Option<u64>,
    failures: u32,
    owed: Vec<LoopEvent>,
    /// What could not be told and nobody says twice: the session is idle, it was resumed. The
    /// store knows nothing of the wait after it, so that a timer alone would lead nowhere.
    untold: Option<LoopEvent>,
}

impl LoopSession {
    /// A session of a host that follows `goal_id`. `template` says who and where; its
    /// event and generation do not count.
    pub fn new(goal_id: impl Into<String>, template: LoopStepRequest) -> Self {
        Self {
            goal_id: goal_id.into(),
            template,
            generation: None,
            failures: 0,
            owed: Vec::new(),
            untold: None,
        }
    }

    /// Tells the loop what happened; answers as [`Kernel::loop_step`] does.
    ///
    /// A step that fails is an answer, too: `{"ok":false,...}` with the refusal's fields
    /// and the action to wait, on the ladder of [`retry`]. What a person did (an abort, a
    /// pause, a prompt) is then stored before any later event is looked at, so that no
    /// timer goes on over it. Any other event that led to a wait this way is told again by
    /// the `timer` or `changed` that ends it.
    pub fn step(&mut self, kernel: &Kernel, event: LoopEvent) -> Value {
        let event = match (event, self.untold.take()) {
            (LoopEvent::Timer | LoopEvent::Changed, Some(untold)) => untold,
            (event @ (LoopEvent::Delivered | LoopEvent::Compacted), untold) => {
                self.untold = untold;
                event
            }
            (event, _) => event,
        };
        kernel.as_one_call(|| self.stepped(kernel, event))
    }

    fn stepped(&mut self, kernel: &Kernel, event: LoopEvent) -> Value {
        while let Some(owed) = self.owed.first().cloned() {
            match self.send(kernel, &owed) {
                Ok(_) => {
                    self.owed.remove(0);
                }
                Err(error) => {
                    self.owe(event);
                    return self.failed(kernel, &error);
                }
            }
        }
        match self.send(kernel, &event) {
            Ok(answer) => answer,
            Err(error) => {
                self.owe(event);
                self.failed(kernel, &error)
            }
        }
    }

    /// Events of a person that are not stored yet.
    pub fn owed(&self) -> &[LoopEvent] {
        &self.owed
    }

    fn owe(&mut self, event: LoopEvent) {
        let by_person =
            matches!(event, LoopEvent::Aborted | LoopEvent::Paused | LoopEvent::UserPrompt { .. });
        if by_person {
            if self.owed.last() != Some(&event) {
                self.owed.push(event);
            }
        } else if matches!(
            event,
            LoopEvent::Activated
                | LoopEvent::Settled { .. }
                | LoopEvent::Resumed
                | LoopEvent::SessionReplaced
                | LoopEvent::HostError { .. }
        ) {
            self.untold = Some(event);
        }
    }

    fn send(&mut self, kernel: &Kernel, event: &LoopEvent) -> crate::error::Result<Value> {
        // What a person does counts whoever has the session by now.
        let conditional = !matches!(
            event,
            LoopEvent::Activated
                | LoopEvent::Aborted
                | LoopEvent::Paused
                | LoopEvent::Resumed
                | LoopEvent::UserPrompt { .. }
                | LoopEvent::SessionReplaced
        );
        let request = LoopStepRequest {
            event: event.clone(),
            generation: self.generation.filter(|_| conditional),
            ..self.template.clone()
        };
        let answer = kernel.loop_step(&Addressed::to(&self.goal_id), &request)?;
        self.failures = 0;
        self.generation = answer.pointer("/loop/generation").and_then(Value::as_u64);
        Ok(answer)
    }

    fn failed(&mut self, kernel: &Kernel, error: &Error) -> Value {
        let action = if error.code == ErrorCode::LoopUnknown {
            self.owed.clear();
            self.untold = None;
            Action::Idle
        } else {
            self.failures = self.failures.saturating_add(1);
            Action::Wait { until: retry::until(kernel.now(), self.failures, None) }
        };
        let mut said = error.to_json();
        if let Some(map) = said.as_object_mut() {
            map.insert("action".into(), json!(action));
        }
        said
    }
}
