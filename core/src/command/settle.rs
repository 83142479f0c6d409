//! `turn settle`: what a turn came to, in one commit (contract.md 3, the table of
//! outcomes).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::monitor::record_look;
use super::todo_complete::{TodoCompleteRequest, finish};
use super::todo_fields::TodoFields;
use super::turn::{require_bound, seen};
use super::{EVIDENCE_LIMIT, Effect, Scene, TEXT_LIMIT, one_line};
use crate::admission::{View, ViewQuery};
use crate::command::refresh::fruitless;
use crate::error::{Error, ErrorCode, Result};
use crate::model::todo::text_enum;
use crate::model::{
    Attempt, AttemptState, Evidence, Lease, Outcome, OutcomeKind, Spend, TaskClass, Todo,
    TodoStatus, Turn, TurnId, TurnState, Usage,
};
use crate::store::Change;
use std::fmt;

text_enum! {
    /// What a turn came to.
    SettleOutcome {
        /// Validated progress; the todo stays open.
        Progress = "progress",
        /// The todo is done.
        Completed = "completed",
        /// The todo cannot go on.
        Blocked = "blocked",
        /// Nothing has changed.
        NoChange = "no_change",
        /// The work failed.
        Failed = "failed",
    }
}

impl SettleOutcome {
    /// Whether it spends the slot.
    pub fn spends(self) -> bool {
        matches!(self, Self::Progress | Self::Completed)
    }
}

/// `turn.settle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnSettleRequest {
    /// Which; the agent's only live one when empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub turn_instance_id: String,
    /// Who acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What it came to.
    pub outcome: SettleOutcome,
    /// What shows it; needed for progress and completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why; needed for blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Completed: nothing follows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_follow_up: bool,
    /// Existing todos that follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub successor_todo_ids: Vec<String>,
    /// A new agent todo that follows, or that a replan decided on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_agent_todo: Option<String>,
    /// A new user todo that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_user_todo: Option<String>,
    /// Class of that user todo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_user_task_class: Option<TaskClass>,
    /// Fields of the new agent todo.
    #[serde(default, skip_serializing_if = "TodoFields::is_empty")]
    pub next_fields: TodoFields,
    /// Monitors: digest of what was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_hash: Option<String>,
    /// Model usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Admit this turn in the same commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admit_next: Option<String>,
    /// For the next decision: capabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub available_capabilities: Vec<String>,
    /// For the next decision: a worktree of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub independent_worktree: bool,
}

/// What is settled, found once.
struct Case<'s> {
    scene: &'s Scene<'s>,
    request: &'s TurnSettleRequest,
    turn: Turn,
    todo: Option<Todo>,
    lease: Option<Lease>,
    view: View,
}

/// Settles an admitted turn. A late settlement is recorded too: what no longer fits the
/// window is an overrun, and a todo that another agent has taken since is left alone.
pub fn settle(scene: &Scene<'_>, request: &TurnSettleRequest) -> Result<Effect> {
    let agent = scene.actor(request.agent_id.as_deref())?;
    let id = TurnId::parse(&request.turn_instance_id)?;
    let turn = require_bound(scene, &id, agent.as_ref(), None)?;
    match turn.state {
        TurnState::Live | TurnState::Released => {}
        TurnState::Skipped => {
            return Err(Error::new(ErrorCode::TurnNotLive, id.as_str()).message(format!(
                "turn {id} was answered with a skip: there is nothing to settle"
            )));
        }
        TurnState::Settled => {
            return Err(Error::new(ErrorCode::TurnNotLive, id.as_str())
                .message(format!("turn {id} is settled already")));
        }
    }
    let query = ViewQuery { now: scene.now, quota: scene.policy.quota, complete: false };
    let case = Case {
        scene,
        request,
        todo: turn.todo_id.as_ref().map(|t| scene.read.todo(t)).transpose()?.flatten(),
        lease: turn.todo_id.as_ref().map(|t| scene.read.lease(t)).transpose()?.flatten(),
        view: scene.read.view(&query)?,
        turn,
    };
    case.check()?;
    let mut effect = case.settle()?;
    if effect.changes.contains(&Change::FollowDangling) {
        effect.changes.extend(super::feedback::closed_by(scene, case.turn.agent.as_ref())?);
    }
    Ok(effect)
}

impl Case<'_> {
    fn check(&self) -> Result<()> {
        let id = self.turn.turn_id.as_str();
        let outcome = self.request.outcome;
        if outcome.spends() && self.request.evidence.iter().all(|e| e.trim().is_empty()) {
            return Err(Error::new(ErrorCode::EvidenceRequired, id)
                .message(format!("{outcome} is settled with at least one evidence item")));
        }
        if outcome == SettleOutcome::Blocked
            && self.request.reason.as_deref().is_none_or(|r| r.trim().is_empty())
        {
            return Err(Error::new(ErrorCode::ReasonRequired, id));
        }
        if matches!(outcome, SettleOutcome::Completed | SettleOutcome::Blocked)
            && self.turn.todo_id.is_none()
        {
            return Err(Error::new(ErrorCode::NothingToComplete, id).message(format!(
                "turn {id} was admitted by rule {} without a todo, so nothing can be {outcome}",
                self.turn.rule
            )));
        }
        Ok(())
    }

    /// Another agent has had the todo since this turn took it, or has claimed it.
    fn is_fenced(&self) -> bool {
        let agent = self.turn.agent.as_ref();
        let leased = match (&self.lease, self.turn.epoch) {
            (Some(lease), Some(epoch)) => lease.epoch != epoch && Some(&lease.owner) != agent,
            _ => {
                let id = self.turn.todo_id.as_ref();
                let live = self.view.leases.iter().find(|l| Some(&l.todo_id) == id);
                live.is_some_and(|l| Some(&l.owner) != agent)
            }
        };
        let roster = &self.scene.policy.roster;
        let claimant = self.todo.as_ref().and_then(|t| t.claimed_by.as_ref());
        leased || claimant.is_some_and(|c| roster.contains(c) && Some(c) != agent)
    }

    fn settle(&self) -> Result<Effect> {
        let (scene, request, turn) = (self.scene, self.request, &self.turn);
        let outcome = request.outcome;
        let late = turn.state == TurnState::Released;
        let mut changes = Vec::new();
        let mut said = Map::new();
        let fenced = self.is_fenced();
        self.transition(fenced, &mut changes, &mut said)?;
        for text in &request.evidence {
            changes.push(Change::AddEvidence(Evidence {
                id: scene.row,
                at: scene.now,
                agent: turn.agent.clone(),
                todo_id: turn.todo_id.clone(),
                text: one_line("evidence", text, EVIDENCE_LIMIT)?,
            }));
        }
        let spends = outcome.spends();
        // What the turn delivered before (a refreshed state) is settled with it, and what
        // was spent for it is this turn's slot.
        let before = scene.read.delivery_of_turn(&turn.turn_id)?;
        let spent = before.as_ref().and_then(|o| o.spent_by);
        if let (true, None, Some(delivered)) = (spends, spent, &before) {
            changes.extend(
                scene
                    .read
                    .unspent_up_to(delivered)?
                    .into_iter()
                    .filter(|o| o.turn_id.as_ref() == Some(&turn.turn_id))
                    .map(|o| Change::PutOutcome(Outcome { spent_by: Some(scene.row), ..o })),
            );
        }
        changes.push(Change::PutOutcome(Outcome {
            spent_by: spends.then_some(spent.unwrap_or(scene.row)),
            ..self.outcome()
        }));
        let spends = spends && spent.is_none();
        let mut overrun = false;
        if spends {
            let quota = &scene.policy.quota;
            let left =
                self.view.window.left(quota).saturating_add(if late { 0 } else { turn.reserved });
            overrun = left == 0;
            changes.push(Change::PutSpend(Spend {
                id: scene.row,
                at: scene.now,
                slots: 1,
                voided: 0,
                agent: turn.agent.clone(),
                todo_id: turn.todo_id.clone(),
                turn_id: Some(turn.turn_id.clone()),
                source: "settlement".into(),
            }));
        }
        changes.push(Change::PutTurn(Turn {
            state: TurnState::Settled,
            reserved: 0,
            expires_at: None,
            ..turn.clone()
        }));
        if matches!(outcome, SettleOutcome::Completed | SettleOutcome::Blocked)
            && let Some(lease) =
                self.lease.as_ref().filter(|l| Some(l.epoch) == turn.epoch && !l.released)
        {
            let version = lease.version + 1;
            changes.push(Change::PutLease(Lease { released: true, version, ..lease.clone() }));
        }
        self.brake(&mut changes);
        if let Some(agent) = &turn.agent {
            changes.push(seen(scene, agent, 0)?);
        }
        let mut answer = Map::from_iter([
            ("settled".to_owned(), json!(true)),
            ("turn_instance_id".to_owned(), json!(turn.turn_id)),
            ("agent_id".to_owned(), json!(turn.agent)),
            ("outcome".to_owned(), json!(outcome)),
            ("todo_id".to_owned(), json!(turn.todo_id)),
            ("spent_slots".to_owned(), json!(u64::from(spends))),
        ]);
        for (key, flag) in [("late", late), ("overrun", overrun), ("fenced", fenced)] {
            if flag {
                answer.insert(key.to_owned(), json!(true));
            }
        }
        answer.extend(said);
        Ok(Effect { changes, answer })
    }

    /// What becomes of the todo.
    fn transition(
        &self,
        fenced: bool,
        changes: &mut Vec<Change>,
        said: &mut Map<String, Value>,
    ) -> Result<()> {
        let (scene, request) = (self.scene, self.request);
        let Some(todo) = &self.todo else {
            // A replan or a plan: what it decided on is new work.
            return self.new_work(None, changes, said);
        };
        match request.outcome {
            SettleOutcome::Completed if todo.is_open() && !fenced => {
                // What nobody else has had since is the turn's to complete, also late, when its
                // lease has ended.
                let effect = finish(
                    scene,
                    &TodoCompleteRequest {
                        todo_id: todo.todo_id.to_string(),
                        agent_id: self.turn.agent.as_ref().map(ToString::to_string),
                        note: request.note.clone(),
                        no_follow_up: request.no_follow_up,
                        successor_todo_ids: request.successor_todo_ids.clone(),
                        next_agent_todo: request.next_agent_todo.clone(),
                        next_user_todo: request.next_user_todo.clone(),
                        next_user_task_class: request.next_user_task_class,
                        next_fields: request.next_fields.clone(),
                        ..TodoCompleteRequest::default()
                    },
                )?;
                changes.extend(effect.changes);
                for key in ["completion_continuation", "next_todos"] {
                    if let Some(value) = effect.answer.get(key) {
                        said.insert(key.to_owned(), value.clone());
                    }
                }
                said.insert("status".into(), json!(TodoStatus::Done));
                Ok(())
            }
            SettleOutcome::Blocked if todo.is_open() && !fenced => {
                let mut blocked = todo.clone();
                blocked.status = TodoStatus::Blocked;
                let reason = request.reason.as_deref().unwrap_or_default();
                blocked.reason = Some(one_line("reason", reason, TEXT_LIMIT)?);
                blocked.updated_at = Some(scene.now);
                self.poll(&mut blocked)?;
                said.insert("status".into(), json!(blocked.status));
                changes.push(Change::PutTodo(Box::new(blocked)));
                Ok(())
            }
            _ => {
                let mut kept = todo.clone();
                if todo.is_open() && self.poll(&mut kept)? {
                    changes.push(Change::PutTodo(Box::new(kept)));
                }
                said.insert("status".into(), json!(todo.status));
                self.new_work(Some(todo), changes, said)
            }
        }
    }

    /// New todos beside one that stays as it is.
    fn new_work(
        &self,
        source: Option<&Todo>,
        changes: &mut Vec<Change>,
        said: &mut Map<String, Value>,
    ) -> Result<()> {
        let request = self.request;
        if request.next_agent_todo.is_none() && request.next_user_todo.is_none() {
            return Ok(());
        }
        let ask = TodoCompleteRequest {
            next_agent_todo: request.next_agent_todo.clone(),
            next_user_todo: request.next_user_todo.clone(),
            next_user_task_class: request.next_user_task_class,
            next_fields: request.next_fields.clone(),
            ..TodoCompleteRequest::default()
        };
        let next =
            super::todo_complete::next_todos(self.scene, source, &ask, self.turn.agent.as_ref())?;
        // New work or a gate is what a replan asks for.
        changes.push(Change::FollowDangling);
        said.insert(
            "next_todos".into(),
            json!(
                next.iter()
                    .map(|t| json!({"todo_id": t.todo_id, "todo": t.text}))
                    .collect::<Vec<_>>()
            ),
        );
        changes.extend(next.into_iter().map(|t| Change::PutTodo(Box::new(t))));
        Ok(())
    }

    /// A turn on a monitor is a poll, whatever it came to.
    fn poll(&self, todo: &mut Todo) -> Result<bool> {
        if todo.task_class != TaskClass::Monitor {
            return Ok(false);
        }
        let hash = self
            .request
            .result_hash
            .as_deref()
            .map(|h| one_line("result_hash", h, 200))
            .transpose()?;
        let seen_anew = hash.is_some() && todo.result_hash.is_some() && hash != todo.result_hash;
        let material = self.request.outcome.spends();
        // Without a cadence it was due once; rule 18 then offers to give it a schedule.
        todo.next_due_at = todo.cadence.map(|c| self.scene.now.plus_micros(c.micros()));
        record_look(todo, self.scene.now, hash, material || seen_anew, material);
        Ok(true)
    }

    fn outcome(&self) -> Outcome {
        Outcome {
            id: self.scene.row,
            at: self.scene.now,
            agent: self.turn.agent.clone(),
            todo_id: self.turn.todo_id.clone(),
            turn_id: Some(self.turn.turn_id.clone()),
            kind: match self.request.outcome {
                SettleOutcome::Progress | SettleOutcome::Completed => OutcomeKind::Progress,
                SettleOutcome::Blocked => OutcomeKind::Neutral,
                SettleOutcome::NoChange => OutcomeKind::NoChange,
                SettleOutcome::Failed => OutcomeKind::Failed,
            },
            classification: format!("settled_{}", self.request.outcome),
            spent_by: None,
            usage: self.request.usage.clone(),
            recommended_action: None,
        }
    }

    /// Stalls and attempts (contract.md 2.4, 2.5).
    fn brake(&self, changes: &mut Vec<Change>) {
        let outcome = self.request.outcome;
        if let Some(todo) = self.todo.as_ref().filter(|t| t.is_open()) {
            match outcome {
                SettleOutcome::Progress | SettleOutcome::Completed => {
                    changes.push(Change::ClearStalls(todo.todo_id.clone()));
                }
                // A look at a monitor that has not changed is a look that worked.
                SettleOutcome::NoChange if todo.task_class == TaskClass::Monitor => {
                    changes.push(Change::ClearStalls(todo.todo_id.clone()));
                }
                SettleOutcome::NoChange | SettleOutcome::Failed
                    if self.turn.state == TurnState::Live =>
                {
                    let before = self
                        .view
                        .stalls
                        .iter()
                        .find(|s| s.todo_id == todo.todo_id && s.agent == self.turn.agent)
                        .cloned();
                    let id = todo.todo_id.clone();
                    changes.push(Change::PutStall(fruitless(
                        before,
                        id,
                        self.turn.agent.clone(),
                        self.scene.now,
                    )));
                }
                // A late one was counted when its reservation ended.
                _ => {}
            }
        }
        let mine =
            self.view.attempts.iter().find(|a| a.turn_id.as_ref() == Some(&self.turn.turn_id));
        if let Some(attempt) = mine {
            let accepted = changes.iter().any(|c| matches!(c, Change::FollowDangling));
            let state = match outcome {
                SettleOutcome::Progress | SettleOutcome::Completed if accepted => {
                    AttemptState::Resolved
                }
                // Settled, whatever it came to, so that the outcome is known: the attempt was
                // made. A failed one would else hold every replan of the agent back for good,
                // since a turn is settled once.
                _ => AttemptState::Attempted,
            };
            // Before what follows, which forgets attempts that are answered.
            changes.insert(0, Change::PutAttempt(Attempt { state, ..attempt.clone() }));
        }
    }
}
