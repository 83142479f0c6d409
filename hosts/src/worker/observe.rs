//! A worker that only looks: a plain decision each time, the pace kept in its own file.
//! Nothing of the goal is written, so it works on goals that are yet to be imported, and
//! nobody takes it for the agent.

use loopx_core::admission::Detail;
use loopx_core::command::turn::ShouldRunRequest;
use loopx_core::host_loop::{Action, Binding, Reading, Reason, SessionKey, conclude};
use loopx_core::model::Instant;
use loopx_core::model::time::MICROS_PER_MINUTE;
use loopx_core::schedule::UNCHANGED_LIMIT;
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

use super::status::Line;
use super::wait::{Over, until};
use super::{Next, Worker};

impl Worker<'_> {
    pub(super) fn observe_loop(&mut self) -> u8 {
        let mut rechecking = false;
        loop {
            let (packet, reading) = match self.look() {
                Ok(looked) => looked,
                Err(error) => match self.failed(&error) {
                    Next::Go(()) => continue,
                    Next::Exit(status) => return status,
                },
            };
            self.failures = 0;
            let now = self.now();
            let before = match self.observed() {
                Ok(before) => before.by_clock(now),
                Err(error) => match self.failed(&error) {
                    Next::Go(()) => continue,
                    Next::Exit(status) => return status,
                },
            };
            // A look before its time, by a worker that was started again, is not counted:
            // else `--once` every minute would be at its limit at once.
            let token = Some(reading.identity.reset_token.as_str());
            let early =
                before.due_at.filter(|due| *due > now && before.reset_token.as_deref() == token);
            let (mut after, action) = match early {
                Some(until) => (before.clone(), Action::Wait { until }),
                None => conclude(&before, &reading, None, now),
            };
            let mut line = self.seen_line(&packet);
            if rechecking {
                let changed = after.reason != Some(Reason::UnchangedLimit);
                let probe = self.line("final_quota_replan_probe").with("changed", changed);
                self.say(decided(probe, &packet));
            }
            rechecking = action == Action::Recheck;
            let due = match action {
                Action::Recheck => {
                    line = line
                        .with("phase", phase(before.unchanged + 1))
                        .with("unchanged_count", before.unchanged);
                    None
                }
                Action::Wait { until } => {
                    let left = until.micros().saturating_sub(now.micros());
                    let minutes = (left + 59_999_999) / MICROS_PER_MINUTE;
                    let looks = after.unchanged.saturating_sub(1);
                    line = line
                        .with("phase", phase(after.unchanged))
                        .with("unchanged_count", looks)
                        .with("next_check_minutes", minutes)
                        .with("next_check_at", until.to_string());
                    Some(until)
                }
                _ if reading.identity.should_run && after.pending.is_none() => {
                    let minutes = reading.step_minutes(0);
                    after.due_at = Some(now.plus_minutes(i64::from(minutes)));
                    line = decided(self.line("should_run").with("phase", "would_wake"), &packet)
                        .with("next_check_minutes", minutes);
                    after.due_at
                }
                _ => None,
            };
            let over = match &action {
                Action::Stop { .. } => Some("terminal"),
                Action::Pause { reason: Reason::UnchangedLimit, .. } => {
                    Some("stop_after_unchanged_limit")
                }
                Action::Pause { .. } => Some("terminal"),
                _ => None,
            };
            let limit = limit(&packet);
            line = match over {
                None => line.with("unchanged_limit", limit),
                Some("terminal") => decided(self.line("terminal"), &packet),
                Some(kind) => self
                    .line(kind)
                    .with("unchanged_limit", limit)
                    .with("next", "explicit_resume_or_fresh_evidence"),
            };
            self.route.state.observed = Some(after);
            self.say(line);
            match (over, rechecking, due) {
                (Some(_), ..) => return 0,
                (_, true, _) => {}
                _ if self.options.once => return 0,
                (_, _, Some(due)) => {
                    if self.wait_until(due, true) == Over::Stopped {
                        return self.stopped();
                    }
                }
                // There is always an instant; a packet without one is looked at again.
                (_, _, None) => {
                    let error = Error::new(ErrorCode::Internal, "loop");
                    if let Next::Exit(status) = self.failed(&error) {
                        return status;
                    }
                }
            }
        }
    }

    /// The decision as any reader gets it.
    fn look(&self) -> Result<(Value, Reading)> {
        let packet = self.kernel.should_run(&self.at, &self.question());
        if packet.get("ok") == Some(&Value::Bool(false)) {
            return Err(refusal(&packet));
        }
        let reading = Reading::of(&packet, self.surface, self.now()).map_err(|error| {
            Error::new(ErrorCode::Internal, "decision").message(error.to_string())
        })?;
        Ok((packet, reading))
    }

    pub(super) fn question(&self) -> ShouldRunRequest {
        ShouldRunRequest {
            agent_id: Some(self.options.agent_id.clone()),
            available_capabilities: self.options.capabilities.clone(),
            independent_worktree: self.options.independent_worktree,
            execution_context: self.options.context.clone(),
            include_detail: vec![Detail::Scheduler],
            ..ShouldRunRequest::default()
        }
    }

    fn observed(&self) -> Result<Binding> {
        if let Some(binding) = &self.route.state.observed {
            return Ok(binding.clone());
        }
        let key =
            SessionKey::of(self.surface.name, &format!("observe-{}", self.route.state.session))?;
        Ok(Binding::new(key, self.surface.name, Some(self.place.agent.clone()), self.now()))
    }

    fn seen_line(&self, packet: &Value) -> Line {
        decided(self.line("waiting"), packet)
    }

    /// Waits; where it `watches`, the wait ends early when the goal has changed so that the
    /// answer to this agent has changed too.
    pub(super) fn wait_until(&mut self, due: Instant, watches: bool) -> Over {
        if !watches {
            return until(due, self.options.clock, self.hands, &[], || false);
        }
        let question = self.question();
        let ask = || answer_key(&self.kernel.should_run(&self.at, &question));
        let before = ask();
        until(due, self.options.clock, self.hands, &self.place.files, || ask() != before)
    }
}

/// What makes two plain answers the same for somebody who waits.
fn answer_key(packet: &Value) -> (Option<Value>, Option<Value>) {
    let of = |pointer: &str| packet.pointer(pointer).cloned();
    (of("/should_run"), of("/scheduler_hint/reset_policy/reset_token"))
}

/// The words of a decision.
pub(super) fn decided(line: Line, packet: &Value) -> Line {
    let word = |pointer: &str| packet.pointer(pointer).cloned().unwrap_or(Value::Null);
    line.with("action", word("/scheduler_hint/action"))
        .with("class", word("/scheduler_hint/cadence_class"))
        .with("effective_action", word("/effective_action"))
        .with("todo", word("/selected_todo/todo_id"))
        .with("rule", word("/rule"))
        .with("reason", word("/reason_code"))
}

/// Which look at one wait it is; those after the limit are told as the last one.
pub(super) fn phase(look: u32) -> String {
    format!("unchanged#{}", look.min(UNCHANGED_LIMIT))
}

fn limit(packet: &Value) -> Value {
    packet
        .pointer("/scheduler_hint/unchanged_poll/limits/local_scheduler")
        .cloned()
        .unwrap_or(Value::Null)
}

/// A refused question as the error that it tells.
fn refusal(packet: &Value) -> Error {
    let text = |key: &str| packet.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let code = loopx_core::error::CATALOGUE
        .iter()
        .find(|row| row.text == text("error_code"))
        .map_or(ErrorCode::Internal, |row| row.code);
    let sentence = [text("error"), text("reason")].into_iter().find(|t| !t.is_empty());
    let error = Error::new(code, text("about"));
    match sentence {
        Some(sentence) => error.message(sentence),
        None => error,
    }
}
