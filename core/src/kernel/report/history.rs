//! `history` and `evidence-log`: what happened, newest first. Reading leaves no trace.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::Kernel;
use super::{Look, commit_line, every_goal};
use crate::command::registered;
use crate::error::{CATALOGUE, Error, ErrorCode, Result};
use crate::model::{AgentId, CommitRecord, TodoId};
use crate::operation::Addressed;
use crate::store::Read;

/// Commits that `history` shows when nothing else is said.
const HISTORY_LIMIT: usize = 10;
/// Entries that `evidence-log` shows when nothing else is said.
const LOG_LIMIT: usize = 24;
/// Most that either shows.
const MOST: usize = 10_000;

/// `history`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryRequest {
    /// Commits of this agent only.
    pub agent_id: Option<String>,
    /// Commits before this number only; needs the goal to be named.
    pub before: Option<u64>,
    /// At most so many; 10 when absent.
    pub limit: Option<usize>,
}

/// `evidence_log`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceLogRequest {
    /// Of this agent only.
    pub agent_id: Option<String>,
    /// On this todo only.
    pub todo_id: Option<String>,
    /// At most so many; 24 when absent.
    pub limit: Option<usize>,
}

fn limit_of(given: Option<usize>, default: usize) -> Result<usize> {
    match given {
        None => Ok(default),
        Some(n) if (1..=MOST).contains(&n) => Ok(n),
        Some(_) => Err(Error::new(ErrorCode::RequestInvalid, "limit")
            .message(format!("limit is a number from 1 to {MOST}"))),
    }
}

impl Kernel {
    /// Commits, newest first: of one goal by number, of all goals by instant.
    pub fn history(&self, at: &Addressed, request: &HistoryRequest) -> Result<Value> {
        let limit = limit_of(request.limit, HISTORY_LIMIT)?;
        let one = match &at.goal_id {
            Some(name) => Some(self.goal(Some(name))?),
            None => self.registry()?.only_goal().ok().map(|_| self.goal(None)).transpose()?,
        };
        let Some(goal) = one else {
            if request.before.is_some() {
                return Err(Error::new(ErrorCode::GoalRequired, "before").message(
                    "commits are numbered per goal: name the goal whose commits come before that number",
                ));
            }
            return self.history_of_all(request, limit);
        };
        let agent = request.agent_id.as_deref().map(|a| registered(&goal.policy, a)).transpose()?;
        let look = Look::at(self, goal, false);
        let found = commits(&look, agent.as_ref(), request.before, limit.saturating_add(1))?;
        let more = found.len() > limit;
        let shown: Vec<Value> = found.iter().take(limit).map(commit_line).collect();
        let before = found.get(limit.saturating_sub(1)).filter(|_| more).map(|c| c.n);
        let goal_id = &look.goal.policy.goal_id;
        let mut answer = json!({
            "ok": true,
            "goal_id": goal_id,
            "imported": look.goal.has_store,
            "last_commit": look.view.commit,
            "commits": shown,
        });
        if let (Some(before), Some(map)) = (before, answer.as_object_mut()) {
            map.insert("next_before".into(), json!(before));
            map.insert(
                "next_command".into(),
                json!(format!(
                    "loopx history --goal-id {goal_id} --before {before} --limit {limit}"
                )),
            );
        }
        Ok(answer)
    }

    fn history_of_all(&self, request: &HistoryRequest, limit: usize) -> Result<Value> {
        let agent = request.agent_id.as_deref().map(AgentId::parse).transpose()?;
        let goals = every_goal(self, |goal| {
            let look = Look::at(self, goal, false);
            let found = commits(&look, agent.as_ref(), None, limit)?;
            let name = look.goal.policy.goal_id.to_string();
            Ok(found.into_iter().map(|c| (name.clone(), c)).collect::<Vec<_>>())
        })?;
        let mut unread = Vec::new();
        let mut all: Vec<(String, CommitRecord)> = Vec::new();
        for (name, made) in goals {
            match made {
                Ok(found) => all.extend(found),
                Err(error) => unread.push(super::failed(&name, &error)),
            }
        }
        all.sort_by(|(a, x), (b, y)| (y.at, b, y.n).cmp(&(x.at, a, x.n)));
        all.truncate(limit);
        let shown: Vec<Value> = all
            .iter()
            .map(|(goal, commit)| {
                let mut line = commit_line(commit);
                if let Some(map) = line.as_object_mut() {
                    map.insert("goal_id".into(), json!(goal));
                }
                line
            })
            .collect();
        Ok(json!({"ok": true, "commits": shown, "unread": unread}))
    }

    /// Evidence, outcomes and spends of a goal in one list, newest first.
    pub fn evidence_log(&self, at: &Addressed, request: &EvidenceLogRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let limit = limit_of(request.limit, LOG_LIMIT)?;
        let agent = request.agent_id.as_deref().map(|a| registered(&goal.policy, a)).transpose()?;
        let todo = request.todo_id.as_deref().map(TodoId::parse).transpose()?;
        let look = Look::at(self, goal, false);
        let goal_id = &look.goal.policy.goal_id;
        let Some(snapshot) = &look.snapshot else {
            return Err(unreadable(&look));
        };
        let read = snapshot.read();
        if let Some(id) = &todo
            && read.todo(id)?.is_none()
        {
            return Err(Error::new(ErrorCode::TodoUnknown, id.as_str())
                .message(format!("no todo {id} in goal {goal_id}"))
                .next(format!("loopx todo list --goal-id {goal_id}")));
        }
        let mut entries = log(read, agent.as_ref(), todo.as_ref(), limit.saturating_add(1))?;
        let more = entries.len() > limit;
        entries.truncate(limit);
        Ok(json!({
            "ok": true,
            "goal_id": goal_id,
            "agent_id": agent,
            "todo_id": todo,
            "truncated": more,
            "ledger": entries,
        }))
    }
}

/// The refusal of a goal whose records cannot be read.
fn unreadable(look: &Look<'_>) -> Error {
    let unknown = ErrorCode::StoreUnreadable;
    match look.view.health.first() {
        Some(problem) => {
            // As what it is: one that is only busy is not to be restored.
            let code = CATALOGUE.iter().find(|row| row.text == problem.code);
            let code = code.map_or(unknown, |row| row.code);
            let error = Error::new(code, problem.about.as_str()).message(problem.message.as_str());
            match &problem.next_command {
                Some(next) => error.next(next.as_str()),
                None => error,
            }
        }
        None => Error::new(unknown, "store"),
    }
}

/// Commits of one goal, in pages, until there are enough of the agent's.
fn commits(
    look: &Look<'_>,
    agent: Option<&AgentId>,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<CommitRecord>> {
    let Some(snapshot) = &look.snapshot else { return Err(unreadable(look)) };
    let mut before = before;
    let mut found = Vec::new();
    let page = if agent.is_some() { limit.saturating_mul(4).max(200) } else { limit };
    loop {
        let commits = snapshot.read().commits_before(before, page)?;
        let Some(last) = commits.last().map(|c| c.n) else { break };
        let whole = commits.len() == page;
        found.extend(
            commits.into_iter().filter(|c| agent.is_none_or(|a| c.agent.as_ref() == Some(a))),
        );
        if found.len() >= limit || !whole {
            break;
        }
        before = Some(last);
    }
    found.truncate(limit);
    Ok(found)
}

/// The newest rows that pass: more and more are read until there are enough.
fn newest<T>(
    limit: usize,
    fetch: impl Fn(usize) -> Result<Vec<T>>,
    passes: impl Fn(&T) -> bool,
) -> Result<Vec<T>> {
    let mut size = limit;
    loop {
        let rows = fetch(size)?;
        let all = rows.len() < size;
        let mut kept: Vec<T> = rows.into_iter().filter(|row| passes(row)).collect();
        if kept.len() >= limit || all {
            kept.truncate(limit);
            return Ok(kept);
        }
        size = size.saturating_mul(4);
    }
}

fn log(
    read: &dyn Read,
    agent: Option<&AgentId>,
    todo: Option<&TodoId>,
    limit: usize,
) -> Result<Vec<Value>> {
    let passes = |a: &Option<AgentId>, t: &Option<TodoId>| {
        agent.is_none_or(|agent| a.as_ref() == Some(agent))
            && todo.is_none_or(|todo| t.as_ref() == Some(todo))
    };
    // What was recorded in one commit stands in the order in which it came about.
    let mut entries: Vec<((crate::model::Instant, u64, u8), Value)> = Vec::new();
    for e in read.evidence(todo, agent, limit)? {
        entries.push((
            (e.at, e.id, 0),
            json!({"kind": "evidence", "at": e.at, "agent_id": e.agent, "todo_id": e.todo_id, "text": e.text}),
        ));
    }
    for o in newest(limit, |n| read.last_outcomes(n), |o| passes(&o.agent, &o.todo_id))? {
        let mut value = json!({
            "kind": "outcome",
            "at": o.at,
            "agent_id": o.agent,
            "todo_id": o.todo_id,
            "delivery_outcome": o.kind,
            "classification": o.classification,
            "spent": o.spent_by.is_some(),
        });
        if let Some(map) = value.as_object_mut() {
            if let Some(turn) = &o.turn_id {
                map.insert("turn_instance_id".into(), json!(turn));
            }
            if let Some(usage) = &o.usage {
                map.insert("usage".into(), json!(usage));
            }
            if let Some(action) = &o.recommended_action {
                map.insert("recommended_action".into(), json!(action));
            }
        }
        entries.push(((o.at, o.id, 1), value));
    }
    for s in newest(limit, |n| read.last_spends(n), |s| passes(&s.agent, &s.todo_id))? {
        let mut value = json!({
            "kind": "spend",
            "at": s.at,
            "agent_id": s.agent,
            "todo_id": s.todo_id,
            "slots": s.slots,
            "voided_slots": s.voided,
            "source": s.source,
        });
        if let (Some(turn), Some(map)) = (&s.turn_id, value.as_object_mut()) {
            map.insert("turn_instance_id".into(), json!(turn));
        }
        entries.push(((s.at, s.id, 2), value));
    }
    entries.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
    entries.truncate(limit);
    Ok(entries.into_iter().map(|(_, value)| value).collect())
}
