//! An answer: a refusal's payload or a packet at the size that fits, with the sections that were
//! asked for on top of it.

use std::io;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::decision::{Decision, decide_facts};
use super::super::facts::{Facts, GoalFacts};
use super::super::gates;
use super::super::holds::{Asker, Hold, is_expired};
use super::super::request::{AdmissionRequest, Detail, Situation};
use super::size::{SIZES, Size, largest_that_fits};
use super::texts::Texts;
use super::{DETAIL_BUDGET, PACKET_BUDGET, Packet, cut, packet, shown_id};
use crate::error::{Error, ErrorClass, ErrorCode};
use crate::model::Role;
use crate::schedule::HintSize;
use crate::schedule::facts::input_for;

/// Bytes of one text in a detail section.
const TEXT_CAP: usize = 240;

/// An answer that was decided and said.
#[derive(Debug)]
pub struct Answer {
    /// What was decided.
    pub decision: Decision,
    said: Said,
}

/// What an answer says: JSON, and its text where that is written already.
#[derive(Debug)]
enum Said {
    /// The failure payload.
    Refusal(Value),
    /// A packet, and the sections that come on top of it.
    Packet { packet: Box<Packet>, text: String, sections: Details },
}

impl Answer {
    /// As JSON: for a refusal the small failure payload with exit status 1, otherwise the
    /// packet with exit status 0.
    pub fn to_value(&self) -> Value {
        match &self.said {
            Said::Refusal(value) => value.clone(),
            Said::Packet { packet, sections, .. } => {
                let mut said = serde_json::to_value(packet).unwrap_or(Value::Null);
                if let (Ok(Value::Object(sections)), Some(map)) =
                    (serde_json::to_value(sections), said.as_object_mut())
                {
                    map.extend(sections);
                }
                said
            }
        }
    }

    /// The text of [`Answer::to_value`]. A packet was written when it was measured, and is
    /// not written again.
    pub fn into_text(self) -> String {
        match self.said {
            Said::Packet { text, sections, .. } if sections == Details::default() => text,
            _ => self.to_value().to_string(),
        }
    }
}

/// Decides and says it.
pub fn answer(situation: &Situation<'_>, goal_id: &str) -> Answer {
    let facts = Facts::find(situation.subject, situation.request, situation.now);
    let decision = decide_facts(&facts);
    let said = match &facts {
        Facts::Refused(error) => {
            Said::Refusal(refusal(error, &decision, goal_id, situation.request))
        }
        Facts::Goal(facts) => say(facts, &decision),
    };
    Answer { decision, said }
}

/// The packet at the largest size that is within the budget. Sections that were asked
/// for come on top of it.
fn say(facts: &GoalFacts<'_>, decision: &Decision) -> Said {
    let input = input_for(facts, &decision.verdict);
    let cadence = input.cadence();
    let texts = Texts::default();
    let detailed = facts.request.wants(Detail::Scheduler);
    let budget = if detailed { DETAIL_BUDGET } else { PACKET_BUDGET };
    let write = |size: Size| {
        let size = match detailed {
            true => Size { stable: true, hint: HintSize::Full, ..size },
            false => size,
        };
        let packet = packet(facts, decision, &input, &cadence, size, &texts);
        let mut page = Page(Vec::with_capacity(2 * budget));
        // What is written into memory is written.
        serde_json::to_writer(&mut page, &packet).unwrap_or_default();
        (packet, page.0)
    };
    let (packet, text) = largest_that_fits(budget, write, |(_, text)| text.len());
    debug_assert_eq!(
        Some(text.len()),
        SIZES.iter().map(|size| write(*size).1.len()).find(|len| *len <= budget),
        "the largest size that fits, whatever was tried first"
    );
    let text = String::from_utf8(text).unwrap_or_default();
    Said::Packet { packet: Box::new(packet), text, sections: details(facts) }
}

/// Text in memory. Of what a serializer writes, two of three pieces are one byte.
struct Page(Vec<u8>);

impl io::Write for Page {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.write_all(piece).map(|()| piece.len())
    }

    #[inline]
    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        match piece {
            [one] => self.0.push(*one),
            more => self.0.extend_from_slice(more),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The failure payload of rules 1 to 3.
fn refusal(error: &Error, decision: &Decision, goal_id: &str, request: &AdmissionRequest) -> Value {
    let status = match error.row().class {
        ErrorClass::Usage => "quota_validation_failed",
        ErrorClass::Identity if error.code == ErrorCode::GoalUnknown => "goal_not_found",
        ErrorClass::Identity => "quota_identity_precondition_failed",
        _ if error.code == ErrorCode::GoalDuplicated => "goal_not_found",
        _ => "quota_collection_failed",
    };
    let mut value = json!({
        "ok": false,
        "mode": "should-run",
        "goal_id": cut(goal_id, 160),
        "decision": decision.verdict.decision,
        "should_run": false,
        "rule": Some(decision.rule).filter(|r| !r.is_empty()),
        "error_code": error.row().text,
        "error": cut(&error.text(), 400),
        "about": cut(&error.about, 160),
        "next_command": error.next_command(),
        "reason": cut(&error.text(), 400),
        "state": decision.verdict.state,
        "waiting_on": "controller",
        "status": status,
        "source": "quota.should-run",
        "recommended_action": error.next_command(),
    });
    let precondition = match error.code {
        ErrorCode::AgentIdInvalid => Some("public_safe_agent_id"),
        ErrorCode::RosterMissing => Some("registered_agent_roster_present"),
        ErrorCode::AgentNotRegistered => Some("requested_agent_registered"),
        _ => None,
    };
    if let (Some(precondition), Some(map)) = (precondition, value.as_object_mut()) {
        map.insert("identity_precondition".into(), json!(precondition));
        map.insert("agent_id".into(), json!(request.agent));
    }
    value
}

/// Opt-in sections.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Details {
    /// Every open agent todo with its holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_todos: Option<Value>,
    /// Every open user todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_todos: Option<Value>,
    /// Scope and capabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_boundary: Option<Value>,
}

/// Most todos that one detail section lists.
const DETAIL_CAP: usize = 200;

fn details(facts: &GoalFacts<'_>) -> Details {
    let request = facts.request;
    let agent_todos = request.wants(Detail::AgentTodos).then(|| {
        let items: Vec<Value> = facts
            .candidates
            .iter()
            .take(DETAIL_CAP)
            .map(|c| {
                json!({
                    "todo_id": shown_id(c.todo),
                    "text": cut(&c.todo.text, TEXT_CAP),
                    "task_class": c.todo.task_class.as_str(),
                    "eligible": c.is_eligible(),
                    "reason": c.reason().map(Hold::word),
                    "expired": is_expired(c.todo, facts.now),
                    "holds": c.holds,
                })
            })
            .collect();
        json!({"count": facts.candidates.len(), "truncated": facts.candidates.len() > DETAIL_CAP, "todos": items})
    });
    let user_todos = request.wants(Detail::UserTodos).then(|| {
        let items: Vec<Value> = facts
            .view
            .todos
            .iter()
            .filter(|t| t.role == Role::User)
            .take(DETAIL_CAP)
            .map(|t| {
                json!({
                    "todo_id": shown_id(t),
                    "text": cut(&t.text, TEXT_CAP),
                    "task_class": t.task_class.as_str(),
                    "blocks_agent": gates::is_open_gate(t) && gates::blocks_agent(t, facts.agent()),
                    "concerns_agent": gates::is_open_gate(t) && gates::concerns(t, facts.agent()),
                })
            })
            .collect();
        json!({"todos": items})
    });
    let goal_boundary = request.wants(Detail::GoalBoundary).then(|| {
        json!({
            "write_scope": facts.policy.write_scope,
            "available_capabilities": Asker::capabilities_of(facts.policy, facts.agent(), &request.capabilities),
            "rule": "stay_in_scope_or_stop",
        })
    });
    Details { agent_todos, user_todos, goal_boundary }
}
