//! Settling a turn: todo, evidence, spend and receipt in one commit, the next decision
//! with it, and where asked the next admission.

use serde_json::{Value, json};

use super::super::{Kernel, admission_request, import};
use super::{Call, Done, Once, Stage, puts_of, replay};
use crate::admission::packet::answer;
use crate::admission::{Situation, Subject};
use crate::command::settle::{TurnSettleRequest, settle};
use crate::command::turn::{ShouldRunRequest, Terms};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, TurnId};
use crate::operation::Addressed;

impl Kernel {
    /// Settles a turn.
    pub(in super::super) fn settle(
        &self,
        at: &Addressed,
        request: &TurnSettleRequest,
    ) -> Result<Value> {
        let request = &self.with_turn(at, request)?;
        let call = Call::new("turn.settle", at, request)?
            .by(request.agent_id.as_deref())
            .in_turn(Some(&request.turn_instance_id))?
            .once_a_turn();
        let next = request.admit_next.as_deref().map(TurnId::parse).transpose()?;
        let found = self.goal_again(at.goal_id.as_deref())?;
        // As in an admission: what is decided next is decided on the policy in force.
        let (mut open, lock) = self.open_in_force(found, "turn.settle")?;
        let effect_id = call.effect()?;
        let actor = call.agent.and_then(|a| AgentId::parse(a).ok());
        let once = Once {
            verb: call.verb,
            effect_id: &effect_id,
            replay: &|done| replay(&done, &call.digest, &effect_id),
            editor: actor.as_ref(),
        };
        let answer = self.transact(&mut open, &once, |stage| {
            // What was delivered is recorded; only a new admission waits for the earlier tool.
            if next.is_some() && import::grew(stage.goal, stage.tx.legacy()?.as_ref())? {
                return Err(import::still_written(stage.goal));
            }
            let scene = stage.scene()?;
            if let Some(next) = &next
                && scene.read.turn(next)?.is_some()
            {
                return Err(Error::new(ErrorCode::TurnConflict, next.as_str())
                    .message(format!("turn {next} is bound already")));
            }
            let commit = scene.commit;
            let effect = settle(&scene, request)?;
            let mut puts = puts_of(&effect.changes);
            stage.tx.apply(&effect.changes)?;
            let mut answer = stage.receipt(commit, effect.answer);
            let mut bound = None;
            let advice = match &next {
                None => self.advise(stage, request)?,
                Some(next) => {
                    let ask = next_request(request, next);
                    let mut asked = admission_request(&stage.goal.policy, &ask)?;
                    if asked.agent.is_none() {
                        asked.agent = crate::command::actor(&stage.goal.policy, None)?;
                    }
                    if stage.tx.turn(next)?.is_some() {
                        return Err(Error::new(ErrorCode::TurnConflict, next.as_str())
                            .message(format!("turn {next} was admitted already")));
                    }
                    let decided = self.decide_bound(stage, next, &asked, &Terms::default())?;
                    let said = decided.1.clone();
                    bound = Some((next, asked.agent, decided));
                    said
                }
            };
            if let Some(map) = answer.as_object_mut() {
                map.insert("next".into(), advice);
            }
            let record = self.record(&call, &effect_id, commit, actor.clone(), stage.now, &answer);
            stage.tx.record(&record)?;
            if let Some((next, agent, decided)) = bound {
                puts.extend(self.bind(stage, next, agent.as_ref(), decided)?.puts);
            }
            Ok(Done { answer, puts, idle: false })
        });
        drop(lock);
        answer
    }

    /// What `quota should-run` would answer after this settlement.
    fn advise(&self, stage: &Stage<'_>, request: &TurnSettleRequest) -> Result<Value> {
        let plain = ShouldRunRequest {
            agent_id: request.agent_id.clone(),
            available_capabilities: request.available_capabilities.clone(),
            independent_worktree: request.independent_worktree,
            ..ShouldRunRequest::default()
        };
        let mut asked = admission_request(&stage.goal.policy, &plain)?;
        if asked.agent.is_none() {
            asked.agent = crate::command::actor(&stage.goal.policy, None)?;
        }
        let view = self.admission_view(stage, &asked)?;
        let subject = Subject::Goal { policy: &stage.goal.policy, view: &view };
        let situation = Situation { subject, request: &asked, now: stage.now };
        let answered = answer(&situation, stage.goal.policy.goal_id.as_str());
        let (packet, decision) = (answered.to_value(), answered.decision);
        Ok(json!({
            "should_run": decision.verdict.run,
            "rule": decision.rule,
            "decision": decision.verdict.decision,
            "effective_action": decision.verdict.effective_action,
            "state": decision.verdict.state,
            "reason": packet.get("reason"),
            "selected_todo": packet.get("selected_todo"),
            "quota": packet.get("quota"),
            "scheduler_hint": packet.get("scheduler_hint"),
        }))
    }
}

fn next_request(request: &TurnSettleRequest, next: &TurnId) -> ShouldRunRequest {
    ShouldRunRequest {
        agent_id: request.agent_id.clone(),
        available_capabilities: request.available_capabilities.clone(),
        independent_worktree: request.independent_worktree,
        turn_instance_id: Some(next.to_string()),
        ..ShouldRunRequest::default()
    }
}
