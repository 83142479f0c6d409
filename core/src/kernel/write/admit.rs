//! Admitting a turn: decide and bind in one commit, ordered against stop by the
//! registry's lock and witness (contract X8).

use serde_json::{Value, json};

use super::super::goal::Goal;
use super::super::{Kernel, admission_request, import, is_health, snapshot};
use super::{Done, Once, Stage, puts_of};
use crate::admission::packet::answer;
use crate::admission::{AdmissionRequest, Detail, Situation, Subject, View, ViewQuery};
use crate::command::Effect;
use crate::command::turn::{self, ShouldRunRequest, Terms};
use crate::error::{Error, ErrorCode, Result};
use crate::file::process;
use crate::model::{AgentId, CommitRecord, EffectId, TurnId};
use crate::operation::Addressed;

impl Kernel {
    /// Decides and binds, in one commit.
    pub(in super::super) fn admit(
        &self,
        at: &Addressed,
        request: &ShouldRunRequest,
    ) -> Result<Value> {
        let turn_id = self.turn_to_admit(at, request)?;
        let found = self.goal_again(at.goal_id.as_deref())?;
        // Rules 1 to 3 refuse before anything is imported or written.
        let agent = admission_request(&found.policy, request)?.agent;
        let terms = self.terms(request)?;
        turn::until(self.now(), terms.ttl_seconds)?;
        let unbound = || {
            let plain = ShouldRunRequest { turn_instance_id: None, ..request.clone() };
            self.decide_now(at, &plain).to_value()
        };
        if agent.is_none() && !found.policy.roster.is_empty() {
            return Ok(unbound());
        }
        // Stop holds the registry lock alone; behind the shared lock the policy that is
        // decided on is the one that is in force. An import needs the lock for itself, so
        // it comes first.
        let opened = self.open_in_force(found, "turn.admit");
        let (mut open, _lock) = match opened {
            Ok(opened) => opened,
            // Records that cannot be read are rule 6's: say so, bind nothing. An answer that
            // is not bound never says run.
            Err(error) => {
                let answer = unbound();
                let says_run = answer.get("should_run") != Some(&Value::Bool(false));
                return if is_health(&error) && !says_run { Ok(answer) } else { Err(error) };
            }
        };
        let asked = admission_request(&open.goal.policy, request)?;
        let effect_id = EffectId::of_turn(&turn_id, "turn.admit", "");
        let once = Once {
            verb: "turn.admit",
            effect_id: &effect_id,
            replay: &|done| replayed(done, &turn_id, agent.as_ref()),
            editor: agent.as_ref(),
        };
        self.transact(&mut open, &once, |stage| {
            let decided = self.decide_bound(stage, &turn_id, &asked, &terms)?;
            self.bind(stage, &turn_id, agent.as_ref(), decided)
        })
    }

    /// The terms of a request.
    pub(super) fn terms(&self, request: &ShouldRunRequest) -> Result<Terms> {
        let holder = request.holder_pid.map(holder).transpose()?;
        Ok(Terms { ttl_seconds: request.ttl_seconds, holder, ..Terms::default() })
    }

    /// Decides inside a transaction: the changes that bind the turn to the answer, and the
    /// answer.
    pub(super) fn decide_bound(
        &self,
        stage: &Stage<'_>,
        turn_id: &TurnId,
        asked: &AdmissionRequest,
        terms: &Terms,
    ) -> Result<(Effect, Value)> {
        let asked =
            &AdmissionRequest { binding: true, turn_id: Some(turn_id.clone()), ..asked.clone() };
        let agent = asked.agent.as_ref();
        let scene = stage.scene()?;
        // A turn of the earlier tool may be bound already; it is decided anew here.
        turn::bound(&scene, turn_id, agent)?;
        let view = self.admission_view(stage, asked)?;
        let subject = Subject::Goal { policy: &stage.goal.policy, view: &view };
        let situation = Situation { subject, request: asked, now: stage.now };
        let answered = answer(&situation, stage.goal.policy.goal_id.as_str());
        let (packet, decision) = (answered.to_value(), answered.decision);
        let minutes = packet
            .pointer("/scheduler_hint/next_check_minutes")
            .and_then(Value::as_u64)
            .and_then(|m| u32::try_from(m).ok())
            .unwrap_or(0);
        let value = with_receipt(packet, turn_id, "committed");
        let terms = Terms { declared: asked.declared(), ..terms.clone() };
        let effect =
            turn::admit(&scene, turn_id, agent, &decision, value.clone(), minutes, &terms)?;
        Ok((effect, value))
    }

    /// Makes a bound decision durable, as a commit of its own.
    pub(super) fn bind(
        &self,
        stage: &mut Stage<'_>,
        turn_id: &TurnId,
        agent: Option<&AgentId>,
        (effect, value): (Effect, Value),
    ) -> Result<Done> {
        let n = stage.scene()?.commit;
        stage.tx.apply(&effect.changes)?;
        stage.tx.record(&CommitRecord {
            n,
            effect_id: EffectId::of_turn(turn_id, "turn.admit", ""),
            verb: "turn.admit".into(),
            agent: agent.cloned(),
            at: stage.now,
            fixed_clock: self.fixed_clock(),
            body_digest: turn::body_digest(agent),
            receipt: value.clone(),
        })?;
        Ok(Done { answer: value, puts: puts_of(&effect.changes), idle: false })
    }

    /// What an admission decides on, inside the transaction.
    pub(super) fn admission_view(
        &self,
        stage: &Stage<'_>,
        asked: &AdmissionRequest,
    ) -> Result<View> {
        let Goal { policy, .. } = stage.goal;
        let complete = asked.wants(Detail::AgentTodos) || asked.wants(Detail::UserTodos);
        let query = ViewQuery { now: stage.now, quota: policy.quota, complete };
        let mut view = stage.tx.view(&query)?;
        // Dead holders' turns were swept; a lease may have one of its own.
        view.bury(process::is_dead, &policy.quota);
        view.health.extend(stage.surface.problem.iter().map(snapshot::health_of));
        view.findings.extend(stage.surface.findings.iter().cloned());
        if import::grew(stage.goal, stage.tx.legacy()?.as_ref())? {
            view.health.push(snapshot::health_of(&import::still_written(stage.goal)));
        }
        Ok(view)
    }
}

/// Evidence about a holder that the caller names.
pub(in super::super) fn holder(pid: u32) -> Result<crate::model::HolderEvidence> {
    process::evidence(pid).ok_or_else(|| {
        Error::new(ErrorCode::RequestInvalid, "holder_pid")
            .message(format!("there is no process {pid} here that could hold the turn"))
            .next("name a process that outlives this call, or leave --holder-pid out")
    })
}

fn replayed(done: CommitRecord, turn: &TurnId, agent: Option<&AgentId>) -> Result<Value> {
    if done.body_digest != turn::body_digest(agent) {
        return Err(Error::new(ErrorCode::TurnConflict, turn.as_str())
            .message(format!("turn {turn} was admitted for another agent")));
    }
    if crate::store::is_pruned(&done.receipt) {
        return Err(Error::new(ErrorCode::ReceiptPruned, turn.as_str())
            .message(format!("turn {turn} was admitted and is over; its receipt is no longer kept"))
            .next("use a new turn id"));
    }
    Ok(with_receipt(done.receipt, turn, "replayed"))
}

fn with_receipt(mut packet: Value, turn: &TurnId, status: &str) -> Value {
    if let Some(map) = packet.as_object_mut() {
        map.insert("heartbeat_receipt".into(), json!({"turn_instance_id": turn, "status": status}));
    }
    packet
}
