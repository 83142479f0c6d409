//! A worker that wakes its agent: events to the kernel's loop, its actions carried out.

use std::time::Duration;

use loopx_core::command::loops::{LoopRequest, LoopStepRequest};
use loopx_core::command::turn::TurnRequest;
use loopx_core::file::Durability;
use loopx_core::host_loop::{Action, LoopEvent, LoopState, Reason};
use loopx_core::model::Instant;
use loopx_core::model::time::{MICROS_PER_MINUTE, MICROS_PER_SECOND};
use loopx_core::operation::Addressed;
use loopx_core::turn::{DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS};
use loopx_core::{Error, ErrorCode, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use super::observe::phase;
use super::status::Line;
use super::wait::Over;
use super::{FAILED, Next, Worker, signals};
use crate::process::{Ending, Family, Report, Spec};

/// The variable that hands the admitted turn to the child.
pub(super) const TURN: &str = "LOOPX_TURN";
/// The variable that hands over the prompt, where it is short enough for one.
const PROMPT: &str = "LOOPX_PROMPT";
/// The longest prompt in the environment, in bytes.
const LONGEST_PROMPT: usize = 8 * 1024;
/// How often a turn is renewed while its child runs.
const RENEWAL: Duration = Duration::from_secs(DEFAULT_TTL_SECONDS / 3);

/// The session has nothing to do.
const IDLE: LoopEvent = LoopEvent::Settled { turn_instance_id: None };

/// An answer of `loop.step`.
#[derive(Clone, Debug, Deserialize)]
struct Answer {
    action: Action,
    #[serde(rename = "loop")]
    stands: Stands,
    #[serde(default)]
    decision: Value,
    #[serde(default)]
    notice: Option<NoticeKey>,
}

#[derive(Clone, Debug, Deserialize)]
struct NoticeKey {
    key: String,
}

/// What of a loop the worker goes by.
#[derive(Clone, Debug, Deserialize)]
struct Stands {
    state: LoopState,
    #[serde(default)]
    reason: Option<Reason>,
    #[serde(default)]
    unchanged: u32,
    #[serde(default)]
    failures: u32,
    #[serde(default)]
    pending: Option<OutTurn>,
}

#[derive(Clone, Debug, Deserialize)]
struct OutTurn {
    rule: String,
}

/// A turn that is to be carried out.
struct Wake {
    turn: String,
    todo: Option<String>,
    prompt: String,
    replan: bool,
}

impl Worker<'_> {
    pub(super) fn wake_loop(&mut self, words: &[String]) -> u8 {
        let mut event = loop {
            match self.first_event() {
                Ok(Next::Go(event)) => break event,
                Ok(Next::Exit(status)) => return status,
                Err(error) => {
                    if let Next::Exit(status) = self.failed(&error) {
                        return status;
                    }
                }
            }
        };
        let mut rechecking = false;
        loop {
            let mut answer = match self.step(&event) {
                Ok(answer) => answer,
                // Somebody took this route off the goal.
                Err(error) if error.code == ErrorCode::LoopUnknown => {
                    self.say(self.line("terminal").with("class", "unbound"));
                    return 0;
                }
                // The event has still happened: it is told again.
                Err(error) => match self.failed(&error) {
                    Next::Go(()) => continue,
                    Next::Exit(status) => return status,
                },
            };
            self.failures = 0;
            self.know_the_store();
            if answer.decision.is_null() && matches!(answer.action, Action::Wait { .. }) {
                // A wait that went on: what it waits for is asked as any reader asks. When it
                // has come meanwhile the loop is told so, but not to cut a backoff short.
                answer.decision = compact(&self.kernel.should_run(&self.at, &self.question()));
                let come = answer.decision.get("action").is_some_and(|action| action == "run_now")
                    && answer.stands.failures == 0;
                if come && event != LoopEvent::Changed {
                    event = LoopEvent::Changed;
                    continue;
                }
            }
            if rechecking {
                let changed = answer.stands.reason != Some(Reason::UnchangedLimit);
                let probe = self.line("final_quota_replan_probe").with("changed", changed);
                self.say(words_of(probe, &answer));
            }
            rechecking = answer.action == Action::Recheck;
            self.say_replan(&answer);
            let next = match &answer.action {
                Action::Prompt { turn_id, todo_id, text } => {
                    let wake = Wake {
                        turn: turn_id.to_string(),
                        todo: todo_id.as_ref().map(ToString::to_string),
                        prompt: text.clone(),
                        replan: answer.stands.pending.as_ref().is_some_and(|p| p.rule == "replan"),
                    };
                    self.carry_out(&wake, words, &answer)
                }
                Action::Wait { until } => {
                    let failed = matches!(event, LoopEvent::HostError { .. });
                    self.wait_for(*until, &answer, failed)
                }
                Action::Recheck => {
                    let looks = answer.stands.unchanged;
                    let line = words_of(self.line("waiting"), &answer)
                        .with("phase", phase(looks + 1))
                        .with("unchanged_count", looks);
                    self.say(line);
                    Next::Go(LoopEvent::Timer)
                }
                Action::Pause { .. } | Action::Stop { .. } => Next::Exit(self.over(&answer)),
                Action::Idle => match answer.stands.state {
                    // Nothing runs here, so the session is idle.
                    LoopState::Armed if event != IDLE => Next::Go(IDLE),
                    // Another runtime carries a turn of this route out.
                    LoopState::Armed => self.wait_for(self.now().plus_minutes(3), &answer, false),
                    _ => Next::Exit(self.over(&answer)),
                },
            };
            event = match next {
                Next::Go(event) => event,
                Next::Exit(status) => return status,
            };
        }
    }

    /// How the loop stands decides with what it begins. Starting the worker is a look by
    /// somebody who wants one, but no answer to a person who paused it.
    fn first_event(&mut self) -> Result<Next<LoopEvent>> {
        let request = LoopRequest {
            surface: Some(self.surface.name.to_owned()),
            session: Some(self.route.state.session.clone()),
        };
        // A goal that is yet to be imported has no loops.
        let shown = match self.place.goal_uid {
            Some(_) => self.kernel.loop_show(&self.at, &request)?,
            None => Value::Null,
        };
        let Some(row) = shown.pointer("/loops/0") else {
            return Ok(Next::Go(LoopEvent::Activated));
        };
        let stands: Stands = read(row.clone())?;
        Ok(match stands.reason {
            Some(Reason::UserPaused | Reason::UserPrompt | Reason::Aborted) => {
                let reason = stands.reason.map(|r| r.as_str()).unwrap_or_default();
                let line =
                    self.line("paused").with("reason", reason).with_own("next", &self.resume());
                self.say(line);
                Next::Exit(0)
            }
            Some(Reason::Replaced) => Next::Go(LoopEvent::Activated),
            _ => Next::Go(LoopEvent::SessionReplaced),
        })
    }

    /// How a person lets the loop go on.
    fn resume(&self) -> String {
        format!(
            "loopx loop step --goal-id {} --agent-id {} --host {} --session {} --event resumed",
            self.place.goal_id, self.place.agent, self.surface.name, self.route.state.session
        )
    }

    /// The first step imports an earlier project; from then on there is a store to watch.
    fn know_the_store(&mut self) {
        if self.place.goal_uid.is_none() {
            let goal = self.place.goal_id.to_string();
            if let Ok(found) = self.kernel.whereabouts(Some(&goal), &self.options.agent_id) {
                self.place = found;
            }
        }
    }

    fn step(&self, event: &LoopEvent) -> Result<Answer> {
        let options = self.options;
        let ttl = options.wake_timeout.map(|limit| {
            let longest = limit.as_secs() + options.wake_grace.as_secs() + 60;
            longest.clamp(DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS)
        });
        let request = LoopStepRequest {
            surface: self.surface.name.to_owned(),
            session: self.route.state.session.clone(),
            event: event.clone(),
            generation: None,
            agent_id: Some(options.agent_id.clone()),
            available_capabilities: Some(options.capabilities.clone()),
            independent_worktree: Some(options.independent_worktree),
            execution_context: options.context.clone(),
            ttl_seconds: ttl,
            holder_pid: Some(std::process::id()),
            ephemeral: false,
            observe: false,
        };
        read(self.kernel.loop_step(&self.at, &request)?)
    }

    /// Waits for an instant that the loop named.
    fn wait_for(&mut self, until: Instant, answer: &Answer, failed: bool) -> Next<LoopEvent> {
        let left = until.micros().saturating_sub(self.now().micros()).max(0);
        let line = match (failed, answer.stands.unchanged) {
            (true, _) => self
                .line("wake_failed_backoff")
                .with("backoff_seconds", (left + MICROS_PER_SECOND / 2) / MICROS_PER_SECOND),
            (false, 0) => words_of(self.line("waiting"), answer),
            (false, n) => words_of(self.line("waiting"), answer)
                .with("phase", phase(n))
                .with("unchanged_count", n - 1),
        };
        let line = match failed {
            true => line,
            false => line.with("next_check_minutes", (left + 59_999_999) / MICROS_PER_MINUTE),
        };
        self.say(line.with("next_check_at", until.to_string()));
        if self.options.once {
            return Next::Exit(0);
        }
        match self.wait_until(until, answer.stands.failures == 0) {
            Over::Due => Next::Go(LoopEvent::Timer),
            Over::Changed => Next::Go(LoopEvent::Changed),
            Over::Stopped => {
                // The loop stays as it is; only its holder goes.
                let _ = self.step(&LoopEvent::Disposed { ended_turn: false, finished: false });
                Next::Exit(self.stopped())
            }
        }
    }

    /// The loop has ended or is held back.
    fn over(&mut self, answer: &Answer) -> u8 {
        let line = match answer.stands.reason {
            Some(Reason::UnchangedLimit) => self
                .line("stop_after_unchanged_limit")
                .with("unchanged_limit", answer.stands.unchanged)
                .with("next", "explicit_resume_or_fresh_evidence"),
            Some(r @ (Reason::UserPaused | Reason::UserPrompt | Reason::Aborted)) => {
                self.line("paused").with("reason", r.as_str()).with_own("next", &self.resume())
            }
            reason => words_of(self.line("terminal"), answer)
                .with("class", reason.map(|r| r.as_str()).unwrap_or_default()),
        };
        self.say(line);
        0
    }

    /// A replan of this agent that has resolved nothing, or whose outcome nobody knows, is
    /// said once a look, for as long as the kernel says so.
    fn say_replan(&mut self, answer: &Answer) {
        let code = answer.decision.get("reason_code").and_then(Value::as_str).unwrap_or_default();
        if matches!(code, "replan_paused" | "replan_outcome_unknown") {
            self.say(self.line(code).with("agent", self.place.agent.to_string()));
        }
    }

    /// Starts the command for an admitted turn, and tells the loop how it ended.
    fn carry_out(&mut self, wake: &Wake, words: &[String], answer: &Answer) -> Next<LoopEvent> {
        let backoff = Some(self.options.error_backoff_seconds);
        let failed = LoopEvent::HostError { retry_seconds: backoff };
        // What must not be repeated is written down before it happens.
        self.route.state.wake = Some(wake.turn.clone());
        let ready = self
            .route
            .save(Durability::Synced)
            .and_then(|()| self.step(&LoopEvent::Delivered).map(drop));
        if let Err(error) = ready {
            let line = super::failure(self.options, "tick_error", &error);
            self.say(line.with("turn", wake.turn.as_str()));
            let refused = LoopEvent::Disposed { ended_turn: true, finished: false };
            return match self.options.once || error.code == ErrorCode::WorkerLocked {
                true => {
                    let _ = self.step(&refused);
                    Next::Exit(error.row().exit.max(FAILED))
                }
                false => Next::Go(failed),
            };
        }
        let report = self.run_child(wake, words);
        self.route.state.wake = None;
        let stop_code = self.options.wake_stop_exit_code.map(i32::from);
        let wanted = match report.ending {
            Ending::Exited(code) => stop_code == Some(code),
            _ => false,
        };
        let phase = match report.ending {
            Ending::Exited(_) if wanted => "wake_stop",
            ending if ending.is_success() => "wake_ok",
            Ending::Stopped(_) => "wake_stopped",
            _ => "wake_failed",
        };
        let line = words_of(self.line("should_run").with("phase", phase), answer)
            .with("turn", wake.turn.as_str())
            .with("ending", report.ending.word())
            .with("wake_rc", report.status)
            .with("group", report.remains.word())
            .with("stdout_bytes", report.stdout_bytes)
            .with("stderr_bytes", report.stderr_bytes)
            .with("wake_seconds", report.took.as_secs());
        self.say(line);
        let well = report.ending.is_success();
        if let Ending::Stopped(signal) = report.ending {
            self.end_turn_and_go(wake, LoopEvent::Disposed { ended_turn: true, finished: false });
            self.say(self.line("stopped").with("signal", signals::name(signal)));
            return Next::Exit(super::stop_status(self.hands));
        }
        if wanted || (well && self.options.once) {
            self.end_turn_and_go(wake, LoopEvent::Disposed { ended_turn: true, finished: well });
            return Next::Exit(0);
        }
        if well {
            self.say_if_unresolved(wake, true);
            return Next::Go(LoopEvent::Settled { turn_instance_id: Some(wake.turn.clone()) });
        }
        if self.options.once {
            self.end_turn_and_go(wake, failed);
            return Next::Exit(child_status(&report));
        }
        self.say_if_unresolved(wake, false);
        Next::Go(failed)
    }

    /// The last event of this process about a turn. What cannot be told now is found when
    /// the turn's holder is found dead.
    fn end_turn_and_go(&mut self, wake: &Wake, event: LoopEvent) {
        let well = matches!(event, LoopEvent::Disposed { finished: true, .. });
        self.say_if_unresolved(wake, well);
        if let Err(error) = self.step(&event) {
            let line = super::failure(self.options, "tick_error", &error);
            self.say(line.with("turn", wake.turn.as_str()));
        }
    }

    /// A replan whose child has ended without settling it.
    fn say_if_unresolved(&mut self, wake: &Wake, well: bool) {
        if !wake.replan || self.is_settled(&wake.turn) {
            return;
        }
        let kind = if well { "replan_paused" } else { "replan_outcome_unknown" };
        let line = self.line(kind).with("agent", self.place.agent.to_string());
        self.say(line.with("turn", wake.turn.as_str()));
    }

    fn is_settled(&self, turn: &str) -> bool {
        let shown = self.kernel.turn_show(&self.at, &of_turn(turn));
        shown.is_ok_and(|s| s.pointer("/turn/state").and_then(Value::as_str) == Some("settled"))
    }

    fn run_child(&mut self, wake: &Wake, words: &[String]) -> Report {
        let options = self.options;
        let mut spec = Spec::new(words.to_vec());
        spec.timeout = options.wake_timeout;
        spec.grace = options.wake_grace;
        spec.output_limit = options.wake_output_limit;
        spec.family = Family::Everything;
        spec.tick = RENEWAL;
        let place = &self.place;
        let mut set = |name: &str, value: &std::ffi::OsStr| {
            spec.env.push((name.into(), value.to_owned()));
        };
        set(TURN, wake.turn.as_ref());
        set("LOOPX_GOAL_ID", place.goal_id.as_str().as_ref());
        set("LOOPX_AGENT_ID", place.agent.as_str().as_ref());
        set("LOOPX_REGISTRY", place.registry.as_os_str());
        set("LOOPX_RUNTIME_ROOT", place.runtime_root.as_os_str());
        for (name, value) in [
            ("LOOPX_TODO_ID", wake.todo.as_deref()),
            (PROMPT, Some(wake.prompt.as_str()).filter(|p| p.len() <= LONGEST_PROMPT)),
        ] {
            match value {
                Some(value) => set(name, value.as_ref()),
                // What is inherited is another turn's.
                None => spec.without.push(name.into()),
            }
        }
        // A turn lives as long as its child, within what a reservation may live in one go.
        let agent_id = Some(options.agent_id.clone());
        let request = TurnRequest { agent_id, ..of_turn(&wake.turn) };
        let (kernel, at) = (self.kernel, renewal(&self.at));
        let mut renew = || {
            // A turn that its agent has settled meanwhile needs none.
            let _ = kernel.turn_renew(&at, &request);
        };
        self.hands.run(&spec, &mut renew)
    }
}

fn of_turn(turn: &str) -> TurnRequest {
    TurnRequest { turn_instance_id: turn.to_owned(), ..TurnRequest::default() }
}

/// Every renewal is one of its own.
fn renewal(at: &Addressed) -> Addressed {
    Addressed { effect_id: None, ..at.clone() }
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|e| Error::new(ErrorCode::Internal, "loop").detail(e))
}

/// The words of an answer's decision, as far as there was one.
fn words_of(line: Line, answer: &Answer) -> Line {
    let word = |key: &str| answer.decision.get(key).cloned().unwrap_or(Value::Null);
    let notice = answer.notice.as_ref().map(|n| n.key.clone());
    line.with("action", word("action"))
        .with("class", word("cadence_class"))
        .with("effective_action", word("effective_action"))
        .with("todo", word("todo_id"))
        .with("rule", word("rule"))
        .with("reason", word("reason_code"))
        .with("notice", notice)
}

/// A packet's words in the shape in which `loop.step` gives them.
fn compact(packet: &Value) -> Value {
    let word = |pointer: &str| packet.pointer(pointer).cloned().unwrap_or(Value::Null);
    json!({
        "action": word("/scheduler_hint/action"),
        "cadence_class": word("/scheduler_hint/cadence_class"),
        "effective_action": word("/effective_action"),
        "todo_id": word("/selected_todo/todo_id"),
        "rule": word("/rule"),
        "reason_code": word("/reason_code"),
    })
}

/// The exit status of a worker whose one wake failed: the child's own where it exited or
/// a signal ended it, else 2.
fn child_status(report: &Report) -> u8 {
    match (report.ending, report.status) {
        (Ending::Exited(_) | Ending::Signal(_), Some(status)) => {
            u8::try_from(status).ok().filter(|s| *s != 0).unwrap_or(FAILED)
        }
        _ => FAILED,
    }
}
