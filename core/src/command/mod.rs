//! Commands: pure functions from what is stored and a request to the changes that are
//! made, or a typed refusal. One file per verb family. Nothing here writes.

pub mod archive;
pub mod feedback;
pub mod followups;
pub mod gate;
pub mod lease;
pub mod loops;
pub mod monitor;
pub mod quota;
pub mod refresh;
pub mod schedule;
pub mod settle;
pub mod suggest;
pub mod supersede;
pub mod todo;
pub mod todo_complete;
pub mod todo_fields;
pub mod turn;
pub mod void;

use serde_json::{Map, Value};

use crate::error::{Error, ErrorCode, Result};
use crate::file::sha256_hex;
use crate::model::{AgentId, GoalPolicy, Instant, TodoId};
use crate::store::{Change, Read};

/// Most characters of a todo's text, a reason or a note.
pub const TEXT_LIMIT: usize = 8_000;
/// Most characters of evidence.
pub const EVIDENCE_LIMIT: usize = 16_000;

/// What a command sees.
pub struct Scene<'a> {
    /// Stored records, inside the transaction.
    pub read: &'a dyn Read,
    /// The goal's policy.
    pub policy: &'a GoalPolicy,
    /// The clock.
    pub now: Instant,
    /// The number that this command's commit will have.
    pub commit: u64,
    /// The position of its spends, outcomes, evidence and grants: the commit's number,
    /// moved past the rows that an import brought.
    pub row: u64,
}

/// What a command does: the changes, and the answer that becomes its receipt.
#[derive(Debug, Default)]
pub struct Effect {
    /// Changes, in order; empty when there was nothing to do.
    pub changes: Vec<Change>,
    /// The answer, without the fields that every answer has.
    pub answer: Map<String, Value>,
}

impl Effect {
    /// An effect with that answer (a JSON object).
    pub fn new(changes: Vec<Change>, answer: Value) -> Self {
        let answer = match answer {
            Value::Object(map) => map,
            other => Map::from_iter([("result".to_owned(), other)]),
        };
        Self { changes, answer }
    }
}

impl Scene<'_> {
    /// The `ordinal`-th new todo id of this commit: derived, so that repeating a command
    /// after a crash mints the same one, and checked against every id ever stored.
    pub fn mint_todo(&self, ordinal: usize) -> Result<TodoId> {
        mint(self.read, self.commit, ordinal)
    }

    /// The position after the last todo.
    pub fn next_order(&self) -> Result<i64> {
        Ok(self.read.max_order()?.saturating_add(crate::state_file::ORDER_STEP))
    }

    /// One todo, or the refusal that it is unknown.
    pub fn todo(&self, text: &str) -> Result<crate::model::Todo> {
        let id = TodoId::parse(text)?;
        self.read.todo(&id)?.ok_or_else(|| {
            Error::new(ErrorCode::TodoUnknown, id.as_str())
                .message(format!("no todo {id} in goal {}", self.policy.goal_id))
                .next(format!("loopx todo list --goal-id {}", self.policy.goal_id))
        })
    }

    /// What a decision would look at; `complete` has every open todo.
    pub fn view(&self, complete: bool) -> Result<crate::admission::View> {
        let quota = self.policy.quota;
        self.read.view(&crate::admission::ViewQuery { now: self.now, quota, complete })
    }

    /// Who acts: the named agent, or the only one there is.
    pub fn actor(&self, given: Option<&str>) -> Result<Option<AgentId>> {
        actor(self.policy, given)
    }
}

/// Derives a todo id nobody has had.
pub fn mint(read: &dyn Read, commit: u64, ordinal: usize) -> Result<TodoId> {
    let uid = read.goal_uid()?;
    // After a restore the commit numbers of the lost commits are used again, the ids that
    // they minted are not.
    let last = read.commits_before(None, 1)?;
    let last = last.first().map_or("", |c| c.effect_id.as_str());
    for salt in 0..1_000_u32 {
        let seed = format!("{uid}|{last}|{commit}|{ordinal}|{salt}");
        let id = TodoId::trusted(format!(
            "todo_{}",
            sha256_hex(seed.as_bytes()).get(..12).unwrap_or_default()
        ));
        if read.todo(&id)?.is_none() {
            return Ok(id);
        }
    }
    Err(Error::new(ErrorCode::Internal, "todo id").message("no free todo id was found"))
}

/// An agent that must be in the roster.
pub fn registered(policy: &GoalPolicy, text: &str) -> Result<AgentId> {
    let agent = AgentId::parse(text)?;
    let goal = &policy.goal_id;
    if policy.roster.is_empty() {
        return Err(Error::new(ErrorCode::RosterMissing, agent.as_str())
            .message(format!("goal {goal} has no registered agents"))
            .next(format!("loopx agent register --goal-id {goal} --agent-id {agent}")));
    }
    if !policy.roster.contains(&agent) {
        return Err(Error::new(ErrorCode::AgentNotRegistered, agent.as_str())
            .message(format!("{agent} is not a registered agent of goal {goal}"))
            .next(format!("loopx agent register --goal-id {goal} --agent-id {agent}")));
    }
    Ok(agent)
}

/// Who acts in a goal: the named agent; without a name the only registered one; with
/// several the name is required; without a roster nobody.
pub fn actor(policy: &GoalPolicy, given: Option<&str>) -> Result<Option<AgentId>> {
    match (given, policy.roster.as_slice()) {
        (Some(text), _) => registered(policy, text).map(Some),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(only.clone())),
        (None, _) => Err(Error::new(ErrorCode::AgentRequired, "agent").message(format!(
            "goal {} has several agents; name the one that acts",
            policy.goal_id
        ))),
    }
}

/// Checks a text that is to be stored and folds its white space into one line.
///
/// Errors: too long, a control character, a secret or a local path.
pub fn one_line(field: &'static str, text: &str, limit: usize) -> Result<String> {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if folded.chars().count() > limit {
        return Err(Error::new(ErrorCode::TextTooLong, field)
            .message(format!("{field} is longer than {limit} characters")));
    }
    if folded.chars().any(|c| c.is_control()) {
        return Err(Error::new(ErrorCode::TextRefused, field)
            .message(format!("{field} has a control character")));
    }
    // Whatever is stored comes through here: secrets and local paths do not.
    crate::boundary::require_safe(field, &folded)?;
    Ok(folded)
}
