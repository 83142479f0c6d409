//! One step of a host's loop: the event, the decision where one is needed and the swap of
//! the binding in one commit, ordered against stop as an admission is.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::goal::Goal;
use super::super::host_poll::{replan_observation, replan_row};
use super::super::loops::is_over;
use super::super::{Kernel, admission_request, import::random_hex, receipt, to_json};
use super::{Done, Once, Open, Stage, puts_of, replay};
use crate::admission::packet::answer;
use crate::admission::{Detail, Situation, Subject};
use crate::command::loops::{LoopRequest, LoopStepRequest, end_turn};
use crate::command::turn::{ShouldRunRequest, Terms, seen};
use crate::command::{Effect, actor};
use crate::error::{Error, ErrorClass, ErrorCode, Result};
use crate::file::{FileLock, sha256_hex};
use crate::host_loop::binding::ROW_KIND;
use crate::host_loop::prompt::{self, Subject as PromptSubject};
use crate::host_loop::receipt::{Observation, Poll};
use crate::host_loop::{
    Action, Binding, LoopEvent, LoopState, Notice, Pending, Reading, Reason, SessionKey, Step,
    Surface, TurnEnd, conclude, standing, step,
};
use crate::model::{AgentId, CommitRecord, EffectId, HolderEvidence, Instant, TurnId};
use crate::operation::Addressed;
use crate::store::Change;

/// What was found before a step.
struct Asked<'r> {
    request: &'r LoopStepRequest,
    surface: &'static Surface,
    key: SessionKey,
}

/// What is known of an agent's replan at the end of a step.
struct Seen {
    agent: AgentId,
    /// The decision, where the step made one.
    packet: Option<Value>,
    at: Instant,
    replan: Option<Observation>,
}

impl Seen {
    /// `ended` says how a replan's turn ended in this step, where one did.
    fn of(
        stage: &Stage<'_>,
        agent: &AgentId,
        packet: Option<&Value>,
        ended: Option<TurnEnd>,
    ) -> Result<Self> {
        let paused = match packet {
            Some(packet) => {
                packet.get("reason_code").and_then(Value::as_str) == Some("replan_paused")
            }
            // Nobody has asked since; it ended well, and has resolved nothing.
            None => ended == Some(TurnEnd::Finished),
        };
        let attempts = stage.scene()?.view(false)?.attempts;
        let replan = replan_observation(stage.tx, &attempts, agent, paused, stage.now)?;
        Ok(Self { agent: agent.clone(), packet: packet.cloned(), at: stage.now, replan })
    }
}

/// What a step came to, before it is stored.
struct Outcome {
    binding: Binding,
    action: Action,
    packet: Option<Value>,
    /// The turn that was admitted, with its changes.
    admitted: Option<(TurnId, (Effect, Value))>,
}

impl Kernel {
    /// Tells a host's loop what happened; answers what the host does next.
    ///
    /// Errors: [`ErrorCode::LoopUnknown`] for a session that was never activated,
    /// [`ErrorCode::RequestInvalid`] for a host that does not loop this way.
    pub fn loop_step(&self, at: &Addressed, request: &LoopStepRequest) -> Result<Value> {
        let (surface, key) = session(&request.surface, &request.session)?;
        let asked = Asked { request, surface, key };
        let found = self.goal_again(at.goal_id.as_deref())?;
        if request.event == LoopEvent::Activated {
            self.leave_other_goals(&asked, found.policy.goal_id.as_str())?;
        }
        let (mut open, _lock) = self.open_in_force(found, "loop.step")?;
        let effect_id = match at.effect_id.as_deref() {
            Some(given) => EffectId::parse(given)?,
            None => EffectId::unique(&random_hex()?),
        };
        let digest = sha256_hex(to_json(request)?.to_string().as_bytes());
        let once = Once {
            verb: "loop.step",
            effect_id: &effect_id,
            replay: &|done| replay(&done, &digest, &effect_id),
            editor: None,
        };
        let mut seen = None;
        let mut answer = self.transact(&mut open, &once, |stage| {
            self.stepped(stage, &asked, &effect_id, &digest, &mut seen)
        })?;
        if let (Some(seen), Some(map)) = (seen, answer.as_object_mut())
            && let Some(receipt) = self.publish(&open.goal, seen)
        {
            map.insert("host_poll_receipt".into(), receipt);
        }
        Ok(answer)
    }

    /// A goal's store, opened behind the shared registry lock on the policy in force:
    /// stop holds the lock alone. An import needs the lock for itself, so it comes first.
    pub(super) fn open_in_force(
        &self,
        found: Arc<Goal>,
        operation: &str,
    ) -> Result<(Open<'_>, Option<FileLock>)> {
        let (goal, uid) = self.with_store(found)?;
        let lock = FileLock::shared_if_possible(
            goal.registry.path(),
            &self.holder(operation),
            self.options.deadline,
        )?;
        let goal = self.goal_in_force(goal)?;
        let store = self.stores.writer(&goal.store_path(&uid), &uid, self.sqlite())?;
        Ok((Open { goal, uid, store }, lock))
    }

    fn stepped(
        &self,
        stage: &mut Stage<'_>,
        asked: &Asked<'_>,
        effect_id: &EffectId,
        digest: &str,
        seen_replan: &mut Option<Seen>,
    ) -> Result<Done> {
        let request = asked.request;
        let goal_id = stage.goal.policy.goal_id.clone();
        let stored = stage.tx.host_row(ROW_KIND, asked.key.as_str())?;
        let stored = stored.as_ref().map(Binding::of_row).transpose()?;
        let before = self.before(stage, asked, stored.as_ref())?;
        let out = before.pending.as_ref().map(|p| stage.tx.turn(&p.turn_id)).transpose()?.flatten();
        let turn = out.as_ref().map(|t| (t.state, t.expires_at));
        let holder = request.holder_pid.map(super::admit::holder).transpose()?;
        let stale = stored.is_some()
            && request.event != LoopEvent::Activated
            && request.generation.is_some_and(|seen| seen != before.generation);
        let joined = joins(&before, request, holder.as_ref());
        if stale || joined {
            let action = standing(&before, out.and_then(|t| t.expires_at), stage.now);
            let mut said = said(&before, &action);
            said.insert(if stale { "stale" } else { "joined" }.into(), json!(true));
            let answer = receipt(goal_id.as_str(), stage.scene()?.commit - 1, stage.now, said);
            return Ok(Done { answer, puts: Vec::new(), idle: true });
        }
        let (stepped, end) = step(&before, &request.event, asked.surface, turn, stage.now);
        let stepped = held_by(stepped, &request.event, holder);
        let mut changes = match &end {
            Some((turn, how)) => end_turn(&stage.scene()?, turn, *how)?,
            None => Vec::new(),
        };
        stage.tx.apply(&changes)?;
        let swept = match request.event {
            LoopEvent::Activated => sweep(stage, &asked.key)?,
            _ => Vec::new(),
        };
        let mut outcome = match stepped {
            Step::Done(binding, action) => {
                Outcome { binding: *binding, action, packet: None, admitted: None }
            }
            Step::Resend(binding) => self.resend(stage, *binding)?,
            Step::Evaluate(binding) => self.evaluate(stage, asked, *binding)?,
        };
        let of_replan = before.pending.as_ref().is_some_and(|p| p.rule == "replan");
        let ended = end.as_ref().filter(|_| of_replan && !changes.is_empty()).map(|(_, how)| *how);
        if let Some(agent) = &outcome.binding.agent
            && (outcome.packet.is_some() || ended.is_some())
        {
            *seen_replan = Some(Seen::of(stage, agent, outcome.packet.as_ref(), ended)?);
        }
        let notice = notice(&mut outcome);
        let unchanged = stored
            .as_ref()
            .is_some_and(|stored| Binding { at: stored.at, ..outcome.binding.clone() } == *stored);
        let n = stage.scene()?.commit;
        if unchanged && changes.is_empty() && swept.is_empty() && outcome.admitted.is_none() {
            let said = said(&outcome.binding, &outcome.action);
            let answer = receipt(goal_id.as_str(), n - 1, stage.now, said);
            return Ok(Done { answer, puts: Vec::new(), idle: true });
        }
        outcome.binding.generation = before.generation + 1;
        let mut swap = vec![Change::PutHostRow(outcome.binding.to_row()?)];
        if let (Some(agent), None) = (&outcome.binding.agent, &outcome.admitted) {
            let minutes = hint_minutes(&outcome);
            swap.push(seen(&stage.scene()?, agent, minutes)?);
        }
        stage.tx.apply(&swap)?;
        let mut said = said(&outcome.binding, &outcome.action);
        if let (Some((turn, _)), false) = (&end, changes.is_empty()) {
            said.insert("ended_turn".into(), json!(turn));
        }
        changes.extend(swept);
        if let Some(notice) = notice {
            said.insert("notice".into(), json!(notice));
        }
        if let Some(packet) = &outcome.packet {
            said.insert("decision".into(), compact(packet));
        }
        let answer = receipt(goal_id.as_str(), n, stage.now, said);
        let agent = outcome.binding.agent.clone();
        stage.tx.record(&CommitRecord {
            n,
            effect_id: effect_id.clone(),
            verb: "loop.step".into(),
            agent: agent.clone(),
            at: stage.now,
            fixed_clock: self.fixed_clock(),
            body_digest: digest.to_owned(),
            receipt: answer.clone(),
        })?;
        if let Some((turn, decided)) = outcome.admitted {
            let is_replan = outcome.binding.pending.as_ref().is_some_and(|p| p.rule == "replan");
            if let (true, Some(agent)) = (is_replan, &agent) {
                let row = replan_row(stage.goal, agent, &turn)?;
                stage.tx.apply(&[Change::PutHostRow(row)])?;
            }
            let done = self.bind(stage, &turn, agent.as_ref(), decided)?;
            let mut puts = puts_of(&changes);
            puts.extend(done.puts);
            return Ok(Done { answer, puts, idle: false });
        }
        changes.retain(|c| c.put().is_some());
        Ok(Done { answer, puts: puts_of(&changes), idle: false })
    }

    /// The binding that the event meets: the stored one with what the door declares now.
    fn before(
        &self,
        stage: &Stage<'_>,
        asked: &Asked<'_>,
        stored: Option<&Binding>,
    ) -> Result<Binding> {
        let Asked { request, surface, key } = asked;
        let policy = &stage.goal.policy;
        let activated = request.event == LoopEvent::Activated;
        let mut binding = match stored {
            Some(binding) => binding.clone(),
            None if activated => Binding::new(key.clone(), surface.name, None, stage.now),
            None => {
                return Err(Error::new(ErrorCode::LoopUnknown, "session")
                    .message(format!("no loop of goal {} runs in that session", policy.goal_id)));
            }
        };
        let named = actor(policy, request.agent_id.as_deref())?;
        if activated {
            binding.agent = named;
            binding.ephemeral = request.ephemeral;
        } else if request.agent_id.is_some() && named != binding.agent {
            let whose = binding.agent.as_ref().map_or("nobody", AgentId::as_str);
            return Err(Error::new(ErrorCode::LoopUnknown, "agent_id")
                .message(format!("the loop of that session asks for {whose}")));
        }
        if let Some(capabilities) = &request.available_capabilities {
            binding.door.available_capabilities = capabilities.clone();
        }
        if let Some(own) = request.independent_worktree {
            binding.door.independent_worktree = own;
        }
        if let Some(context) = &request.execution_context {
            context.check()?;
            binding.door.execution_context = Some(context.clone());
        }
        Ok(binding)
    }

    /// Decides for the loop, and admits a run.
    fn evaluate(&self, stage: &Stage<'_>, asked: &Asked<'_>, binding: Binding) -> Result<Outcome> {
        let now = stage.now;
        let question = question(&binding, asked.request);
        let admission = admission_request(&stage.goal.policy, &question);
        let turn = TurnId::parse(&format!("loop-{}", random_hex()?))?;
        let (packet, decided) = match admission {
            // Rule 3: the roster has changed since the activation.
            Err(error) => (super::super::refused("", &question, &error), None),
            Ok(ask) if asked.request.observe => {
                let view = self.admission_view(stage, &ask)?;
                let subject = Subject::Goal { policy: &stage.goal.policy, view: &view };
                let situation = Situation { subject, request: &ask, now };
                (answer(&situation, stage.goal.policy.goal_id.as_str()).to_value(), None)
            }
            Ok(ask) => {
                let terms = Terms {
                    ttl_seconds: asked.request.ttl_seconds,
                    holder: binding.holder.clone(),
                    ..Terms::default()
                };
                let decided = self.decide_bound(stage, &turn, &ask, &terms)?;
                (decided.1.clone(), Some(decided))
            }
        };
        let runs = packet.get("should_run") == Some(&Value::Bool(true));
        let Ok(reading) = Reading::of(&packet, asked.surface, now) else {
            let failed = LoopEvent::ProbeFailed { retry_seconds: None };
            let armed = Binding { state: LoopState::Armed, reason: None, ..binding };
            let (stepped, _) = step(&armed, &failed, asked.surface, None, now);
            let Step::Done(binding, action) = stepped else {
                return Err(Error::new(ErrorCode::Internal, "loop"));
            };
            return Ok(Outcome { binding: *binding, action, packet: Some(packet), admitted: None });
        };
        let pending = decided.as_ref().filter(|_| runs).map(|_| Pending {
            turn_id: turn.clone(),
            todo_id: packet
                .pointer("/selected_todo/todo_id")
                .and_then(Value::as_str)
                .map(crate::model::TodoId::trusted),
            rule: packet.get("rule").and_then(Value::as_str).unwrap_or_default().to_owned(),
            at: now,
            delivered: false,
            whole: binding.whole_next || asked.surface.new_session_each_turn,
        });
        let (mut binding, mut action) = conclude(&binding, &reading, pending, now);
        if let (Action::Prompt { text, .. }, Some(pending)) = (&mut action, &binding.pending) {
            let goal = &stage.goal.policy.goal_id;
            let agent = binding.agent.as_ref();
            *text = prompt::text(&PromptSubject { goal, agent, pending, packet: &packet });
        }
        if asked.request.observe && runs {
            let until = now.plus_minutes(i64::from(reading.step_minutes(0)));
            binding.due_at = Some(until);
            action = Action::Wait { until };
        }
        let admitted = match binding.pending.is_some() {
            true => decided.map(|decided| (turn, decided)),
            false => None,
        };
        Ok(Outcome { binding, action, packet: Some(packet), admitted })
    }

    /// The prompt that is out, word for word.
    fn resend(&self, stage: &Stage<'_>, binding: Binding) -> Result<Outcome> {
        let Some(pending) = binding.pending.clone() else {
            return Ok(Outcome { binding, action: Action::Idle, packet: None, admitted: None });
        };
        let effect = EffectId::of_turn(&pending.turn_id, "turn.admit", "");
        let packet = stage.tx.commit_of(&effect)?.map(|c| c.receipt).unwrap_or(Value::Null);
        let subject = PromptSubject {
            goal: &stage.goal.policy.goal_id,
            agent: binding.agent.as_ref(),
            pending: &pending,
            packet: &packet,
        };
        let action = Action::Prompt {
            text: prompt::text(&subject),
            turn_id: pending.turn_id.clone(),
            todo_id: pending.todo_id.clone(),
        };
        Ok(Outcome { binding, action, packet: Some(packet), admitted: None })
    }

    /// Publishes what is known of the agent's replan, and takes back what was known. A step
    /// that has nothing to say leaves the receipt to the polls.
    fn publish(&self, goal: &Goal, seen: Seen) -> Option<Value> {
        if seen.replan.is_none() && !self.was_observed(goal, &seen.agent) {
            return None;
        }
        let poll = Poll {
            goal_id: &goal.raw_id,
            agent: Some(&seen.agent),
            at: seen.at,
            packet: seen.packet.as_ref(),
        };
        Some(self.put_receipt(goal, &poll, Some(seen.replan)))
    }

    /// A session follows one goal: what it followed before lets it go. A row that is broken
    /// goes, too. A goal whose store cannot be read has no loop that could go on; one that is
    /// only busy has, so that is refused and tried again.
    fn leave_other_goals(&self, asked: &Asked<'_>, but: &str) -> Result<()> {
        let followed = self.loops_of(&asked.key)?;
        let leave = |goal: &str| self.unbind(&Addressed::to(goal), &asked.key, Reason::Replaced);
        for (goal_id, _) in followed.rows.iter().filter(|(goal_id, _)| goal_id != but) {
            leave(goal_id)?;
        }
        for (goal_id, error) in followed.unreadable {
            if goal_id == but {
                continue;
            }
            if error.row().class == ErrorClass::Busy {
                return Err(error);
            }
            let _ = leave(&goal_id);
        }
        Ok(())
    }

    /// Takes a session off its goal: its turn ends, its row goes.
    pub fn loop_unbind(&self, at: &Addressed, request: &LoopRequest) -> Result<Value> {
        let surface = request.surface.as_deref().unwrap_or_default();
        let (_, key) = session(surface, request.session.as_deref().unwrap_or_default())?;
        self.unbind(at, &key, Reason::UserPaused)
    }

    fn unbind(&self, at: &Addressed, key: &SessionKey, reason: Reason) -> Result<Value> {
        let call = super::Call::new("loop.unbind", at, &json!([key, reason]))?;
        self.write(&call, |scene| {
            // An unreadable row goes too: nothing can be done with it.
            let binding = match scene.read.host_row(ROW_KIND, key.as_str()) {
                Ok(None) => return Ok(Effect::new(Vec::new(), json!({"unbound": false}))),
                Ok(Some(row)) => Binding::of_row(&row).ok(),
                Err(error) if error.code == ErrorCode::StoreUnreadable => None,
                Err(error) => return Err(error),
            };
            let mut changes = Vec::new();
            if let Some(Binding { pending: Some(pending), .. }) = binding {
                let how = TurnEnd::Interrupted;
                changes.extend(end_turn(scene, &pending.turn_id, how)?);
            }
            changes.push(Change::DropHostRow { kind: ROW_KIND.into(), key: key.as_str().into() });
            Ok(Effect::new(changes, json!({"unbound": true, "session_key": key})))
        })
    }
}

/// Takes away the loops of the goal that are over with their processes, and ends their turns.
/// What cannot be read is left.
fn sweep(stage: &mut Stage<'_>, but: &SessionKey) -> Result<Vec<Change>> {
    let rows = match stage.tx.host_rows(ROW_KIND) {
        Err(error) if error.code == ErrorCode::StoreUnreadable => Vec::new(),
        rows => rows?,
    };
    let mut swept = Vec::new();
    for binding in rows.iter().filter_map(|row| Binding::of_row(row).ok()) {
        if binding.session_key == *but || !is_over(&binding) {
            continue;
        }
        let mut changes = match &binding.pending {
            Some(out) => end_turn(&stage.scene()?, &out.turn_id, TurnEnd::Interrupted)?,
            None => Vec::new(),
        };
        let key = binding.session_key.as_str().to_owned();
        changes.push(Change::DropHostRow { kind: ROW_KIND.into(), key });
        // At once: two of them may have stood for one agent.
        stage.tx.apply(&changes)?;
        swept.extend(changes);
    }
    Ok(swept)
}

/// Whether a runtime that found the session comes beside one that has it and lives: two
/// windows on one session. It takes nothing over; the other one's turn goes on.
fn joins(before: &Binding, request: &LoopStepRequest, new: Option<&HolderEvidence>) -> bool {
    let other = before.holder.as_ref().filter(|h| Some(*h) != new);
    request.event == LoopEvent::SessionReplaced
        && new.is_some()
        && other.is_some_and(|h| crate::file::process::evidence(h.pid).as_ref() == Some(h))
}

/// Who has the session: whoever activates it, takes it over or hands out its next prompt.
/// A runtime that only looks leaves it with the one that has it.
fn held_by(stepped: Step, event: &LoopEvent, new: Option<HolderEvidence>) -> Step {
    let (Some(new), false) = (new, matches!(event, LoopEvent::Disposed { .. })) else {
        return stepped;
    };
    let put = |mut binding: Box<Binding>, takes: bool| {
        if takes || binding.holder.is_none() {
            binding.holder = Some(new.clone());
        }
        binding
    };
    match stepped {
        Step::Evaluate(binding) => Step::Evaluate(put(binding, true)),
        Step::Resend(binding) => Step::Resend(put(binding, true)),
        Step::Done(binding, action) => {
            let takes = matches!(event, LoopEvent::Activated | LoopEvent::SessionReplaced);
            Step::Done(put(binding, takes), action)
        }
    }
}

/// The host and the key of its session.
pub(in super::super) fn session(
    surface: &str,
    session: &str,
) -> Result<(&'static Surface, SessionKey)> {
    let surface = Surface::find(surface).ok_or_else(|| {
        let known: Vec<&str> = crate::host_loop::surface::SURFACES.iter().map(|s| s.name).collect();
        Error::new(ErrorCode::RequestInvalid, "surface")
            .message(format!("no host of that name loops this way; there are {}", known.join(", ")))
    })?;
    Ok((surface, SessionKey::of(surface.name, session)?))
}

fn question(binding: &Binding, request: &LoopStepRequest) -> ShouldRunRequest {
    ShouldRunRequest {
        agent_id: binding.agent.as_ref().map(ToString::to_string),
        available_capabilities: binding.door.available_capabilities.clone(),
        independent_worktree: binding.door.independent_worktree,
        execution_context: binding.door.execution_context.clone(),
        include_detail: vec![Detail::Scheduler],
        ttl_seconds: request.ttl_seconds,
        ..ShouldRunRequest::default()
    }
}

fn said(binding: &Binding, action: &Action) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("action".into(), json!(action));
    map.insert("loop".into(), binding.shown());
    map
}

/// What of a packet a host shows beside the action.
fn compact(packet: &Value) -> Value {
    let mut map = Map::new();
    for key in [
        "should_run",
        "rule",
        "effective_action",
        "state",
        "reason",
        "reason_code",
        "error_code",
        "next_eligible_at",
    ] {
        if let Some(value) = packet.get(key).filter(|v| !v.is_null()) {
            map.insert(key.into(), value.clone());
        }
    }
    for (key, pointer) in [
        ("action", "/scheduler_hint/action"),
        ("cadence_class", "/scheduler_hint/cadence_class"),
        ("mode", "/interaction_contract/mode"),
        ("todo_id", "/selected_todo/todo_id"),
    ] {
        if let Some(value) = packet.pointer(pointer).filter(|v| !v.is_null()) {
            map.insert(key.into(), value.clone());
        }
    }
    Value::Object(map)
}

/// Minutes until the loop looks again, for "last seen".
fn hint_minutes(outcome: &Outcome) -> u32 {
    let Action::Wait { until } = outcome.action else { return 0 };
    let micros = until.micros().saturating_sub(outcome.binding.at.micros());
    u32::try_from(micros / crate::model::time::MICROS_PER_MINUTE).unwrap_or(0)
}

/// What the person is told, when it is something that they have not been told yet.
fn notice(outcome: &mut Outcome) -> Option<Notice> {
    let notice = match (&outcome.action, &outcome.packet) {
        (Action::Pause { reason, .. } | Action::Stop { reason, .. }, _) => {
            let text = match reason {
                Reason::UserPaused => "The loop is paused.",
                Reason::UserPrompt => "You took over: the loop is paused.",
                Reason::Aborted => "You stopped the agent: the loop is paused.",
                Reason::UnchangedLimit => {
                    "Nothing has changed for as long as the hint allows: the loop is paused."
                }
                Reason::GoalStopped => "The goal is stopped: the loop is paused.",
                Reason::QuotaPaused => "The goal has no quota: the loop is paused.",
                Reason::ReturnedToOwner => "The work went back to its owner: the loop is paused.",
                Reason::Terminal => "The goal is done: every todo is finished and nothing follows.",
                Reason::Replaced => "The session follows another goal now.",
            };
            let key = format!("{reason}-{}", outcome.binding.generation + 1);
            Notice { key, text: text.to_owned(), commands: Vec::new() }
        }
        (_, Some(packet)) => {
            let key = packet.get("notify_key").and_then(Value::as_str)?;
            if outcome.binding.notified.as_deref() == Some(key) {
                return None;
            }
            let strings = |pointer: &str, field: Option<&str>| -> Vec<String> {
                let list = packet.pointer(pointer).and_then(Value::as_array);
                list.into_iter()
                    .flatten()
                    .filter_map(|v| field.map_or(Some(v), |f| v.get(f)).and_then(Value::as_str))
                    .map(str::to_owned)
                    .collect()
            };
            let mut text =
                packet.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
            for item in strings("/interaction_contract/user_channel/actions", Some("text")) {
                text.push_str(&format!("\n- {item}"));
            }
            let runs = packet.get("should_run") == Some(&Value::Bool(true));
            let commands = match runs {
                true => Vec::new(),
                false => strings("/interaction_contract/cli_channel/next_cli_actions", None),
            };
            outcome.binding.notified = Some(key.to_owned());
            Notice { key: key.to_owned(), text, commands }
        }
        _ => return None,
    };
    Some(notice)
}
