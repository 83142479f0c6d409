//! The host-poll receipt: a small file beside the state file that says when a host last
//! polled, and what became of a replan that nobody has settled (reference scheduler.md
//! 7.4, 8.9; seeds). It is readback: no decision reads it.
//!
//! A receipt that is there and cannot be read is not an absent one. Its bytes are kept;
//! only an observation of a loop, which comes from the store, takes its place.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{AgentId, Instant, TurnId};

/// `schema_version` of a receipt.
pub const SCHEMA: &str = "loopx_host_poll_receipt_v0";
/// Most bytes of a receipt that are read.
pub const LIMIT: u64 = 256 * 1024;
/// Agents whose observation is kept.
const OBSERVATIONS: usize = 64;

/// A replan whose turn is over and not settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// `replan_paused` or `replan_outcome_unknown`.
    pub kind: String,
    /// Whose.
    pub agent_id: AgentId,
    /// The obligation.
    pub obligation_id: String,
    /// The turn that dispatched it, when one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<TurnId>,
    /// When.
    pub observed_at: Instant,
    /// Witness of the source goal and its route when the replan was dispatched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_goal_observation_digest: Option<String>,
    /// Witness of the registry's bytes at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry_witness: Option<String>,
}

/// What is true of the source now, to hold an observation against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As [`Observation::source_goal_observation_digest`].
    pub digest: String,
    /// As [`Observation::registry_witness`].
    pub witness: String,
}

impl Observation {
    /// Whether it still speaks about the goal as it is. Without the stronger witness the
    /// narrower one decides; without any it is not current.
    pub fn is_current(&self, source: &Source) -> bool {
        match (&self.source_goal_observation_digest, &self.registry_witness) {
            (Some(digest), _) => *digest == source.digest,
            (None, Some(witness)) => *witness == source.witness,
            (None, None) => false,
        }
    }

    /// The same observation seen again gains the stronger witness, but only while its own
    /// still matches: proof that was lost is not made up.
    #[must_use]
    pub fn upgraded(mut self, source: &Source) -> Self {
        let proven = self.registry_witness.as_deref() == Some(source.witness.as_str());
        if self.source_goal_observation_digest.is_none() && proven {
            self.source_goal_observation_digest = Some(source.digest.clone());
        }
        self
    }
}

/// A receipt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PollReceipt {
    /// [`SCHEMA`].
    pub schema_version: String,
    /// Goal.
    pub goal_id: String,
    /// Who was polled for last.
    pub agent_id: Option<String>,
    /// Polls so far.
    pub poll_count: u64,
    /// The last one.
    pub last_poll_at: Instant,
    /// False once the goal is proven ended.
    pub expected_continuation: bool,
    /// `scheduler_hint.action` of the last decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_decision_action: Option<String>,
    /// Replans that nobody has settled, one an agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replan_observations: Vec<Observation>,
    /// Fields of other releases, kept.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What lies at a receipt's place.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Nothing.
    Absent,
    /// A receipt of the goal.
    Readable(Box<PollReceipt>),
    /// Something else: why it is not a receipt of the goal.
    Unreadable(&'static str),
}

/// Reads the bytes at a receipt's place.
pub fn read(bytes: Option<&[u8]>, goal_id: &str) -> Found {
    let Some(bytes) = bytes else { return Found::Absent };
    let Ok(text) = std::str::from_utf8(bytes) else { return Found::Unreadable("it is not UTF-8") };
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Found::Unreadable("it is not JSON");
    };
    if value.get("schema_version").and_then(Value::as_str) != Some(SCHEMA) {
        return Found::Unreadable("it has another schema");
    }
    if value.get("goal_id").and_then(Value::as_str) != Some(goal_id) {
        return Found::Unreadable("it is of another goal");
    }
    match serde_json::from_value(value) {
        Ok(receipt) => Found::Readable(Box::new(receipt)),
        Err(_) => Found::Unreadable("it has another shape"),
    }
}

/// A poll, as it is put down.
#[derive(Clone, Debug)]
pub struct Poll<'a> {
    /// Goal.
    pub goal_id: &'a str,
    /// For whom.
    pub agent: Option<&'a AgentId>,
    /// When.
    pub at: Instant,
    /// The packet that answered it; none where something ended and nothing was asked, which
    /// is no poll.
    pub packet: Option<&'a Value>,
}

/// The receipt after a poll; what was observed stays.
pub fn polled(before: Option<PollReceipt>, poll: &Poll<'_>) -> PollReceipt {
    let mut receipt = before.unwrap_or_else(|| PollReceipt {
        schema_version: SCHEMA.to_owned(),
        goal_id: poll.goal_id.to_owned(),
        agent_id: None,
        poll_count: 0,
        last_poll_at: poll.at,
        expected_continuation: true,
        last_decision_action: None,
        replan_observations: Vec::new(),
        extra: Map::new(),
    });
    let Some(packet) = poll.packet else { return receipt };
    let word = |pointer: &str| packet.pointer(pointer).and_then(Value::as_str);
    receipt.agent_id = poll.agent.map(ToString::to_string);
    receipt.poll_count = receipt.poll_count.saturating_add(1);
    receipt.last_poll_at = receipt.last_poll_at.max(poll.at);
    receipt.expected_continuation = word("/effective_action") != Some("terminal_no_followup")
        || word("/goal_frontier_projection/terminal_state/kind") != Some("no_followup");
    receipt.last_decision_action = word("/scheduler_hint/action").map(str::to_owned);
    receipt
}

/// Puts down what was observed of an agent's replan, or that there is nothing any more.
pub fn observe(
    receipt: &mut PollReceipt,
    agent: &AgentId,
    seen: Option<Observation>,
    now: &Source,
) {
    let before = receipt.replan_observations.iter().position(|o| o.agent_id == *agent);
    let before = before.map(|at| receipt.replan_observations.remove(at));
    let Some(seen) = seen else { return };
    let kept = match before {
        // Seen before: when it was first observed is what stands.
        Some(old) if old.kind == seen.kind && old.obligation_id == seen.obligation_id => {
            let proof = seen.source_goal_observation_digest.clone();
            let mut old = old.upgraded(now);
            if old.source_goal_observation_digest.is_none() && old.registry_witness.is_none() {
                old.source_goal_observation_digest = proof;
                old.registry_witness = seen.registry_witness.clone();
            }
            old
        }
        _ => seen.upgraded(now),
    };
    receipt.replan_observations.push(kept);
    let over = receipt.replan_observations.len().saturating_sub(OBSERVATIONS);
    receipt.replan_observations.drain(..over);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use serde_json::json;

    fn source(digest: &str, witness: &str) -> Source {
        Source { digest: digest.into(), witness: witness.into() }
    }

    fn seen(digest: Option<&str>, witness: Option<&str>) -> Observation {
        Observation {
            kind: "replan_outcome_unknown".into(),
            agent_id: AgentId::trusted("ada"),
            obligation_id: "replan-1".into(),
            turn_instance_id: None,
            observed_at: Instant::default(),
            source_goal_observation_digest: digest.map(str::to_owned),
            registry_witness: witness.map(str::to_owned),
        }
    }

    fn receipt() -> PollReceipt {
        let packet = json!({"scheduler_hint": {"action": "run_now"}});
        let poll =
            Poll { goal_id: "g", agent: None, at: Instant::default(), packet: Some(&packet) };
        polled(None, &poll)
    }

    #[test]
    fn absent_unreadable_and_foreign_are_told_apart() {
        assert_eq!(read(None, "g"), Found::Absent);
        for bytes in [
            &b"{bad"[..],
            b"\xff\xfe",
            b"{}",
            br#"{"schema_version":"x","goal_id":"g"}"#,
            br#"{"schema_version":"loopx_host_poll_receipt_v0","goal_id":"h","poll_count":1}"#,
            br#"{"schema_version":"loopx_host_poll_receipt_v0","goal_id":"g","poll_count":"x"}"#,
        ] {
            assert!(matches!(read(Some(bytes), "g"), Found::Unreadable(_)), "{bytes:?}");
        }
        let bytes = serde_json::to_vec(&receipt()).unwrap();
        assert_eq!(read(Some(&bytes), "g"), Found::Readable(Box::new(receipt())));
    }

    #[test]
    fn polls_are_counted_and_foreign_fields_and_observations_kept() {
        let mut before = receipt();
        before.extra.insert("later_field".into(), json!(1));
        observe(
            &mut before,
            &AgentId::trusted("ada"),
            Some(seen(Some("d"), None)),
            &source("d", "w"),
        );
        let packet = json!({
            "effective_action": "terminal_no_followup",
            "goal_frontier_projection": {"terminal_state": {"kind": "no_followup"}},
        });
        let poll =
            Poll { goal_id: "g", agent: None, at: Instant::default(), packet: Some(&packet) };
        let after = polled(Some(before.clone()), &poll);
        assert_eq!((after.poll_count, after.expected_continuation), (2, false));
        assert_eq!(after.extra, before.extra);
        assert_eq!(after.replan_observations, before.replan_observations);
    }

    #[test]
    fn a_witness_is_gained_only_while_the_older_one_matches() {
        let ada = AgentId::trusted("ada");
        let now = source("d2", "w2");
        for (witness, gains) in [("w2", true), ("w1", false)] {
            let mut receipt = receipt();
            receipt.replan_observations.push(seen(None, Some(witness)));
            observe(&mut receipt, &ada, Some(seen(Some("d2"), Some("w2"))), &now);
            let kept = &receipt.replan_observations[0];
            assert_eq!(kept.source_goal_observation_digest.is_some(), gains, "{witness}");
            assert_eq!(kept.is_current(&now), gains);
        }
        assert!(seen(Some("d2"), Some("w1")).is_current(&now), "the digest decides");
        assert!(!seen(Some("d1"), Some("w2")).is_current(&now));
        assert!(!seen(None, None).is_current(&now));
    }

    #[test]
    fn another_agents_observation_stays_and_a_resolved_one_goes() {
        let (ada, bob) = (AgentId::trusted("ada"), AgentId::trusted("bob"));
        let now = source("d", "w");
        let mut receipt = receipt();
        observe(&mut receipt, &ada, Some(seen(Some("d"), None)), &now);
        let of_bob = Observation { agent_id: bob.clone(), ..seen(Some("d"), None) };
        observe(&mut receipt, &bob, Some(of_bob), &now);
        observe(&mut receipt, &ada, None, &now);
        let left: Vec<&AgentId> = receipt.replan_observations.iter().map(|o| &o.agent_id).collect();
        assert_eq!(left, [&bob]);
    }
}
