//! The host-poll receipt on disk: written after a poll, shown by `status`. It never
//! changes a decision, and what could not be written is said beside it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::Kernel;
use super::goal::Goal;
use crate::error::{Error, ErrorCode, Result};
use crate::file::{Durability, FileLock, LockMode, read_bounded, replace_with_mode, sha256_hex};
use crate::host_loop::receipt::{self, Found, Observation, Poll, PollReceipt, Source};
use crate::model::{AgentId, Attempt, AttemptState, HostRow, TurnId};
use crate::registry::observation_digest;
use crate::store::Read;

/// Kind of the host rows that say what a replan was dispatched against.
pub(super) const REPLAN_KIND: &str = "replan_source";
/// A receipt is the person's, like the state file beside it, but nobody else's.
const MODE: u32 = 0o600;

impl Goal {
    /// Where the goal's receipt lies: beside its state file.
    fn receipt_path(&self) -> Option<PathBuf> {
        let state = self.state_path()?;
        let name = self.raw_id.replace(['/', '\\'], "_");
        Some(state.parent()?.join(".loopx-host-poll-receipts").join(format!("{name}.json")))
    }

    /// Witnesses of the goal as its source has it now.
    pub(super) fn source(&self) -> Result<Source> {
        let root = self.runtime_root.to_string_lossy();
        let digest = observation_digest(self.entry()?, self.registry.path(), &root);
        Ok(Source { digest, witness: self.registry.witness().to_owned() })
    }
}

/// The row that an admitted replan leaves: against which source it was dispatched.
pub(super) fn replan_row(goal: &Goal, agent: &AgentId, turn: &TurnId) -> Result<HostRow> {
    let source = goal.source()?;
    Ok(HostRow {
        kind: REPLAN_KIND.into(),
        key: agent.to_string(),
        doc: json!({
            "turn_instance_id": turn,
            "source_goal_observation_digest": source.digest,
            "registry_witness": source.witness,
        }),
    })
}

/// What is known of the agent's replan that nobody has settled. `paused` when the decision
/// said that it stands and is not dispatched again.
pub(super) fn replan_observation(
    read: &dyn Read,
    attempts: &[Attempt],
    agent: &AgentId,
    paused: bool,
    now: crate::model::Instant,
) -> Result<Option<Observation>> {
    let of_agent = |state: &[AttemptState]| {
        attempts
            .iter()
            .filter(|a| a.rule == "replan" && a.agent.as_ref() == Some(agent))
            .filter(|a| state.contains(&a.state))
            .max_by_key(|a| a.at)
    };
    let found = match of_agent(&[AttemptState::OutcomeUnknown]) {
        Some(attempt) => Some((attempt, "replan_outcome_unknown")),
        None if paused => of_agent(&[AttemptState::Attempted, AttemptState::Paused])
            .map(|attempt| (attempt, "replan_paused")),
        None => None,
    };
    let Some((attempt, kind)) = found else { return Ok(None) };
    let row = read.host_row(REPLAN_KIND, agent.as_str())?.filter(|row| {
        let turn = row.doc.get("turn_instance_id").and_then(Value::as_str);
        turn.is_some() && turn == attempt.turn_id.as_ref().map(TurnId::as_str)
    });
    let text = |key: &str| {
        row.as_ref().and_then(|r| r.doc.get(key)).and_then(Value::as_str).map(str::to_owned)
    };
    let digest = sha256_hex(attempt.digest.as_bytes());
    Ok(Some(Observation {
        kind: kind.to_owned(),
        agent_id: agent.clone(),
        obligation_id: format!("replan-{}", digest.get(..16).unwrap_or_default()),
        turn_instance_id: attempt.turn_id.clone(),
        observed_at: now,
        source_goal_observation_digest: text("source_goal_observation_digest"),
        registry_witness: text("registry_witness"),
    }))
}

fn unreadable(why: &str) -> Error {
    Error::new(ErrorCode::IoFailed, "host-poll receipt")
        .message(format!("the host-poll receipt is kept as it is: {why}"))
        .next("look at the file, and move it away when nothing in it is needed")
}

impl Kernel {
    /// Puts a poll down, and what is known of the agent's replan where `observed` says so
    /// (`Some(None)`: nothing is open). Answers the `host_poll_receipt` of a decision.
    pub(super) fn put_receipt(
        &self,
        goal: &Goal,
        poll: &Poll<'_>,
        observed: Option<Option<Observation>>,
    ) -> Value {
        match self.try_receipt(goal, poll, observed) {
            Ok(receipt) => json!({
                "recorded": true,
                "poll_count": receipt.poll_count,
                "last_poll_at": receipt.last_poll_at,
                "expected_continuation": receipt.expected_continuation,
            }),
            Err(error) => {
                json!({"recorded": false, "error": crate::admission::packet::cut(&error.text(), 200)})
            }
        }
    }

    fn try_receipt(
        &self,
        goal: &Goal,
        poll: &Poll<'_>,
        observed: Option<Option<Observation>>,
    ) -> Result<PollReceipt> {
        let path = goal.receipt_path().ok_or_else(|| {
            Error::new(ErrorCode::IoFailed, "host-poll receipt")
                .message("the goal has no state file beside which a receipt could lie")
        })?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|e| Error::from_io(&e, "host-poll receipt", folder))?;
        }
        let _lock = FileLock::acquire(
            &path,
            LockMode::Exclusive,
            &self.holder("host_poll"),
            self.options.deadline,
        )?;
        let bytes = read_bounded(&path, receipt::LIMIT, "host-poll receipt")?;
        let before = match receipt::read(bytes.as_deref(), &goal.raw_id) {
            Found::Absent => None,
            Found::Readable(receipt) => Some(*receipt),
            // Only what the store knows of a replan may stand in its place.
            Found::Unreadable(why) => match &observed {
                Some(Some(_)) => None,
                _ => return Err(unreadable(why)),
            },
        };
        let mut receipt = receipt::polled(before, poll);
        if let (Some(seen), Some(agent)) = (observed, poll.agent) {
            receipt::observe(&mut receipt, agent, seen, &goal.source()?);
        }
        let text = serde_json::to_vec_pretty(&receipt)
            .map_err(|e| Error::new(ErrorCode::Internal, "host-poll receipt").detail(e))?;
        replace_with_mode(&path, &text, Durability::Synced, MODE)?;
        Ok(receipt)
    }

    /// Whether the receipt has an observation of the agent's replan.
    pub(super) fn was_observed(&self, goal: &Goal, agent: &AgentId) -> bool {
        let Some(path) = goal.receipt_path() else { return false };
        let bytes = read_bounded(&path, receipt::LIMIT, "host-poll receipt").ok().flatten();
        match receipt::read(bytes.as_deref(), &goal.raw_id) {
            Found::Readable(receipt) => {
                receipt.replan_observations.iter().any(|o| o.agent_id == *agent)
            }
            _ => false,
        }
    }

    /// What the receipt says, for `status`; `None` when no host has polled.
    pub(super) fn receipt_of(&self, goal: &Goal) -> Option<Value> {
        let path = goal.receipt_path()?;
        let found = match read_bounded(&path, receipt::LIMIT, "host-poll receipt") {
            Ok(bytes) => receipt::read(bytes.as_deref(), &goal.raw_id),
            Err(_) => Found::Unreadable("it cannot be read"),
        };
        match found {
            Found::Absent => None,
            Found::Unreadable(why) => {
                Some(json!({"state": "unreadable", "reason": why, "replans": "unknown"}))
            }
            Found::Readable(receipt) => {
                let source = goal.source().ok();
                let observations: Vec<Value> = receipt
                    .replan_observations
                    .iter()
                    .map(|o| {
                        let current = source.as_ref().is_some_and(|s| o.is_current(s));
                        json!({
                            "kind": o.kind,
                            "agent_id": o.agent_id,
                            "obligation_id": o.obligation_id,
                            "turn_instance_id": o.turn_instance_id,
                            "observed_at": o.observed_at,
                            "freshness": if current { "current" } else { "stale" },
                            // Nobody can say what a provider has charged by now.
                            "cost": "unknown",
                        })
                    })
                    .collect();
                Some(json!({
                    "state": "recorded",
                    "agent_id": receipt.agent_id,
                    "poll_count": receipt.poll_count,
                    "last_poll_at": receipt.last_poll_at,
                    "expected_continuation": receipt.expected_continuation,
                    "last_decision_action": receipt.last_decision_action,
                    "replans": observations,
                }))
            }
        }
    }
}
