//! Turns that the caller does not name. A native goal or a loop that nobody hands a turn to
//! has no id to give: the kernel makes one up at admission, and gives it again while that
//! turn lives, so that an answer that was lost costs no second slot.

use super::super::import::random_hex;
use super::super::snapshot::Snapshot;
use super::super::{Kernel, admission_request};
use crate::admission::view::is_lapsed_turn;
use crate::command::settle::TurnSettleRequest;
use crate::command::turn::ShouldRunRequest;
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, Turn, TurnId};
use crate::operation::Addressed;

/// What the kernel's own turn ids begin with.
const MADE_UP: &str = "auto-";

impl Kernel {
    /// The turn that an admission is about: the one that was named, else the agent's live
    /// one that the kernel named before, else a new one.
    pub(super) fn turn_to_admit(
        &self,
        at: &Addressed,
        request: &ShouldRunRequest,
    ) -> Result<TurnId> {
        if let Some(named) = &request.turn_instance_id {
            return TurnId::parse(named);
        }
        let goal = self.goal(at.goal_id.as_deref())?;
        let agent = admission_request(&goal.policy, request)?.agent;
        // Records that cannot be read are the admission's to tell.
        let live = self.live_turns(at, agent.as_ref()).unwrap_or_default();
        let again = live.into_iter().find(|t| t.turn_id.as_str().starts_with(MADE_UP));
        match again {
            Some(turn) => Ok(turn.turn_id),
            None => TurnId::parse(&format!("{MADE_UP}{}", random_hex()?)),
        }
    }

    /// The settlement with its turn: the one that was named, else the agent's only live one.
    pub(super) fn with_turn(
        &self,
        at: &Addressed,
        request: &TurnSettleRequest,
    ) -> Result<TurnSettleRequest> {
        if !request.turn_instance_id.is_empty() {
            return Ok(request.clone());
        }
        let goal = self.goal(at.goal_id.as_deref())?;
        let agent = crate::command::actor(&goal.policy, request.agent_id.as_deref())?;
        let live = self.live_turns(at, agent.as_ref())?;
        let who = agent.as_ref().map_or("nobody", AgentId::as_str);
        let goal = &goal.policy.goal_id;
        match live.as_slice() {
            [only] => Ok(TurnSettleRequest {
                turn_instance_id: only.turn_id.to_string(),
                ..request.clone()
            }),
            [] => Err(Error::new(ErrorCode::TurnNotLive, who)
                .message(format!("{who} has no live turn; what was settled before stands"))
                .next(format!("loopx history --goal-id {goal}"))),
            [first, ..] => Err(Error::new(ErrorCode::TurnConflict, who)
                .message(format!("{who} has {} live turns; name the one to settle", live.len()))
                .next(format!("add --turn-instance-id {}", first.turn_id))),
        }
    }

    fn live_turns(&self, at: &Addressed, agent: Option<&AgentId>) -> Result<Vec<Turn>> {
        let goal = self.goal(at.goal_id.as_deref())?;
        if goal.policy.goal_uid.is_none() || !goal.has_store {
            return Ok(Vec::new());
        }
        let snapshot = Snapshot::take(self, &goal, None)?;
        let now = self.now();
        let mut live = snapshot.read().open_turns()?;
        live.retain(|t| t.agent.as_ref() == agent && !is_lapsed_turn(t, now));
        Ok(live)
    }
}
