//! Acknowledgements of app hosts: the hint is made again inside the transaction, and
//! what the host says is held against it. Bookkeeping of a host, no work of an agent: it
//! spends nothing, and counts as no attempt at what the agent was offered.

use serde_json::{Value, json};

use super::super::goal::Goal;
use super::super::snapshot::Snapshot;
use super::super::{Kernel, admission_request, receipt};
use super::{Call, Done, Once, replay};
use crate::admission::decision::decide_facts;
use crate::admission::facts::Facts;
use crate::admission::facts::GoalFacts;
use crate::admission::packet::cut;
use crate::admission::{AdmissionRequest, View, ViewQuery};
use crate::command::schedule::{
    CurrentHint, HostAsks, Judged, SchedulerAckRequest, SchedulerFailRequest,
};
use crate::command::turn::{ShouldRunRequest, seen_now};
use crate::command::{Effect, actor};
use crate::error::{Error, ErrorCode, Result};
use crate::host_loop::receipt::Poll;
use crate::model::{AgentId, AgentSeen, Instant};
use crate::operation::Addressed;
use crate::schedule::facts::input_for;
use crate::store::Change;

/// Most bytes of why a poll was not recorded.
const ERROR_CAP: usize = 200;

impl Kernel {
    /// An app host has set its schedule; a preview without `execute`.
    ///
    /// Errors: [`ErrorCode::SchedulerHintChanged`] when what it followed is not the hint
    /// that is current, [`ErrorCode::RequestInvalid`] when it does not say enough.
    pub fn scheduler_ack(&self, at: &Addressed, request: &SchedulerAckRequest) -> Result<Value> {
        let call = Call::new("quota.scheduler_ack", at, request)?;
        self.host_says(&call, &request.host, |hint| hint.acknowledge(request))
    }

    /// An app host could not set its schedule; a preview without `execute`.
    ///
    /// Errors: as [`Kernel::scheduler_ack`].
    pub fn scheduler_fail(&self, at: &Addressed, request: &SchedulerFailRequest) -> Result<Value> {
        let call = Call::new("quota.scheduler_fail", at, request)?;
        self.host_says(&call, &request.host, |hint| hint.fail(request))
    }

    /// Decides as [`Kernel::should_run`] does, and records that a host polled for the agent:
    /// in the store when it was last seen, beside the state file the receipt that `status`
    /// reads back. The decision is the same whether or not that could be recorded.
    pub fn host_poll(&self, at: &Addressed, request: &ShouldRunRequest) -> Value {
        let mut packet = self.should_run(at, request);
        if packet.get("ok") != Some(&Value::Bool(true)) {
            return packet;
        }
        let receipt = self.record_poll(at, request, &packet).unwrap_or_else(
            |error| json!({"recorded": false, "error": cut(&error.text(), ERROR_CAP)}),
        );
        if let Some(map) = packet.as_object_mut() {
            map.insert("host_poll_receipt".into(), receipt);
        }
        packet
    }

    fn record_poll(
        &self,
        at: &Addressed,
        request: &ShouldRunRequest,
        packet: &Value,
    ) -> Result<Value> {
        let minutes = packet
            .pointer("/scheduler_hint/next_check_minutes")
            .and_then(Value::as_u64)
            .and_then(|m| u32::try_from(m).ok())
            .unwrap_or(0);
        // The effect of the caller is the decision's, if it is one.
        let to = Addressed { goal_id: at.goal_id.clone(), effect_id: None };
        // No agent acts: a poll is no attempt at anything.
        let call = Call::new("quota.host_poll", &to, request)?;
        self.write(&call, |scene| {
            let agent = scene.actor(request.agent_id.as_deref())?.ok_or_else(|| {
                Error::new(ErrorCode::AgentRequired, "agent")
                    .message("a poll is an agent's: name it with --agent-id")
            })?;
            let before = seen_now(scene, &agent, minutes)?;
            let polls = before.polls.saturating_add(1);
            let seen = AgentSeen { polls, ..before };
            Ok(Effect::new(vec![Change::PutSeen(seen)], json!({"polls": polls})))
        })?;
        let goal = self.goal(at.goal_id.as_deref())?;
        let agent = actor(&goal.policy, request.agent_id.as_deref())?;
        let goal_id = goal.raw_id.clone();
        let poll =
            Poll { goal_id: &goal_id, agent: agent.as_ref(), at: self.now(), packet: Some(packet) };
        Ok(self.put_receipt(&goal, &poll, None))
    }

    fn host_says(
        &self,
        call: &Call<'_>,
        host: &HostAsks,
        judge: impl Fn(&CurrentHint<'_>) -> Result<Judged>,
    ) -> Result<Value> {
        let found = self.goal_again(call.goal)?;
        let (asked, agent) = asked(&found, host)?;
        if !host.execute {
            let now = self.now();
            let query = ViewQuery { now, quota: found.policy.quota, complete: false };
            let view = Snapshot::take(self, &found, Some(&agent))?.view(&query)?;
            let (_, answer) = judged(&found, &view, &asked, &agent, now, &judge)?;
            let mut value = receipt(found.policy.goal_id.as_str(), 0, now, answer);
            if let Some(map) = value.as_object_mut() {
                map.shift_remove("commit");
            }
            return Ok(value);
        }
        let mut open = self.open_to_write(found)?;
        let effect_id = call.effect()?;
        let once = Once {
            verb: call.verb,
            effect_id: &effect_id,
            replay: &|done| replay(&done, &call.digest, &effect_id),
            editor: Some(&agent),
        };
        self.transact(&mut open, &once, |stage| {
            let view = self.admission_view(stage, &asked)?;
            let (state, answer) = judged(stage.goal, &view, &asked, &agent, stage.now, &judge)?;
            let goal_id = stage.goal.policy.goal_id.as_str();
            let commit = stage.scene()?.commit;
            let Some(state) = state else {
                let answer = receipt(goal_id, commit - 1, stage.now, answer);
                return Ok(Done { answer, puts: Vec::new(), idle: true });
            };
            let answer = receipt(goal_id, commit, stage.now, answer);
            stage.tx.apply(&[Change::PutSchedule(state)])?;
            let by = Some(agent.clone());
            let record = self.record(call, &effect_id, commit, by, stage.now, &answer);
            stage.tx.record(&record)?;
            Ok(Done { answer, puts: Vec::new(), idle: false })
        })
    }
}

/// The question that the hint is made again from, and whose schedule it is.
fn asked(goal: &Goal, host: &HostAsks) -> Result<(AdmissionRequest, AgentId)> {
    let context = host.context()?;
    let mut asked = admission_request(
        &goal.policy,
        &ShouldRunRequest {
            agent_id: host.agent_id.clone(),
            available_capabilities: host.available_capabilities.clone(),
            independent_worktree: host.independent_worktree,
            execution_context: Some(context),
            app_automation_current_rrule: host.app_automation_current_rrule.clone(),
            ..ShouldRunRequest::default()
        },
    )?;
    if asked.agent.is_none() {
        asked.agent = actor(&goal.policy, None)?;
    }
    let agent = asked.agent.clone().ok_or_else(|| {
        Error::new(ErrorCode::AgentRequired, "agent")
            .message("a schedule is an agent's: name it with --agent-id")
    })?;
    Ok((asked, agent))
}

fn judged(
    goal: &Goal,
    view: &View,
    asked: &AdmissionRequest,
    agent: &AgentId,
    now: Instant,
    judge: &impl Fn(&CurrentHint<'_>) -> Result<Judged>,
) -> Result<Judged> {
    let facts = Facts::Goal(Box::new(GoalFacts::of(&goal.policy, view, asked, now)));
    let decision = decide_facts(&facts);
    let Facts::Goal(facts) = &facts else {
        return Err(Error::new(ErrorCode::Internal, "facts"));
    };
    let input = input_for(facts, &decision.verdict);
    let cadence = input.cadence();
    let Some((ladder, step)) = input.app_step(&cadence) else {
        return Err(Error::new(ErrorCode::SchedulerHintChanged, "scheduler_hint").message(format!(
            "the current hint is {}: pause or delete the automation, there is no schedule to keep",
            cadence.class.action
        )));
    };
    let surface = asked.execution_context.as_ref().map_or("", |c| c.host_surface.as_str());
    judge(&CurrentHint { cadence: &cadence, ladder: &ladder, step: &step, agent, surface, now })
}
