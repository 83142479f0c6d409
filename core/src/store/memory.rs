//! The store in memory: for tests, the model check and simulations. Every answer is a
//! full scan, so it is also the definition that other backends are compared with.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::forward::forward_reads;
use super::prune::{self, PruneLimits, Pruned};
use super::rows::{change_of_row, from_value, to_value};
use super::{Change, Read, Store, TodoFilter, Transaction, WritersTurn};
use crate::admission::view::{GoalRecords, View, ViewQuery};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{
    AgentId, AgentSeen, AttemptState, CommitRecord, Counters, EffectId, Evidence, GoalUid,
    HandoffMode, HostRow, JournalRow, Lease, LegacyWitness, Outcome, Role, Spend, Todo, TodoId,
    Turn, TurnId, TurnState, Usage, UsageTotal,
};

/// Everything that one goal's store holds.
#[derive(Clone, Debug, PartialEq)]
struct Tables {
    uid: GoalUid,
    records: GoalRecords,
    evidence: Vec<Evidence>,
    commits: Vec<CommitRecord>,
    journal: Option<JournalRow>,
    legacy: Option<LegacyWitness>,
    projections: BTreeSet<String>,
    last_projection: Option<String>,
    last_drawn: Option<String>,
}

/// A goal's store in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryStore {
    tables: Tables,
}

impl MemoryStore {
    /// An empty store for a goal.
    pub fn new(uid: GoalUid) -> Self {
        Self::of(uid, GoalRecords::default())
    }

    /// A store that holds `records` and no commits: how an earlier project is read in
    /// place.
    pub fn of(uid: GoalUid, records: GoalRecords) -> Self {
        let records = GoalRecords { goal_uid: Some(uid.clone()), ..records };
        Self {
            tables: Tables {
                uid,
                records,
                evidence: Vec::new(),
                commits: Vec::new(),
                journal: None,
                legacy: None,
                projections: BTreeSet::new(),
                last_projection: None,
                last_drawn: None,
            },
        }
    }
}

/// Rules of invariant 5 on a record set: forgets what hangs on a closed todo.
fn forget_for_closed(records: &mut GoalRecords, closed: impl Fn(&TodoId) -> bool) {
    records.attempts.retain(|a| {
        matches!(a.state, AttemptState::OutcomeUnknown | AttemptState::Paused)
            || !closed(&TodoId::trusted(a.cause.as_str()))
    });
}

impl GoalRecords {
    /// Applies one change to plain records (no evidence, no bookkeeping).
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::PutTodo(todo) => {
                if !todo.is_open() {
                    self.stalls.retain(|s| s.todo_id != todo.todo_id);
                    if !todo.dangling {
                        forget_for_closed(self, |id| *id == todo.todo_id);
                    }
                }
                self.todos.insert(todo.todo_id.clone(), (**todo).clone());
            }
            Change::FollowDangling => {
                let mut followed: BTreeSet<TodoId> = BTreeSet::new();
                for todo in self.todos.values_mut().filter(|t| t.dangling) {
                    todo.dangling = false;
                    followed.insert(todo.todo_id.clone());
                }
                forget_for_closed(self, |id| followed.contains(id));
            }
            Change::PutFeedback(feedback) => upsert(&mut self.feedback, feedback, |f| f.id),
            Change::PutSpend(spend) => upsert(&mut self.spends, spend, |s| s.id),
            Change::PutOutcome(outcome) => upsert(&mut self.outcomes, outcome, |o| o.id),
            Change::PutTurn(turn) => {
                self.turns.insert(turn.turn_id.to_string(), turn.clone());
            }
            Change::PutAttempt(attempt) => {
                self.attempts.retain(|a| {
                    a.agent != attempt.agent || a.rule != attempt.rule || a.cause != attempt.cause
                });
                self.attempts.push(attempt.clone());
                self.attempts.sort_by(|a, b| {
                    (&a.agent, &a.rule, &a.cause).cmp(&(&b.agent, &b.rule, &b.cause))
                });
            }
            Change::PutStall(stall) => {
                self.stalls.retain(|s| s.todo_id != stall.todo_id || s.agent != stall.agent);
                self.stalls.push(stall.clone());
                self.stalls.sort_by(|a, b| (&a.todo_id, &a.agent).cmp(&(&b.todo_id, &b.agent)));
            }
            Change::ClearStalls(id) => self.stalls.retain(|s| s.todo_id != *id),
            Change::PutGrant(grant) => upsert(&mut self.grants, grant, |g| g.id),
            Change::PutLease(lease) => {
                self.leases.insert(lease.todo_id.clone(), lease.clone());
            }
            Change::SetHandoff(mode) => self.handoff = Some(*mode),
            Change::PutSeen(seen) => {
                self.seen.insert(seen.agent.clone(), seen.clone());
            }
            Change::PutHostRow(row) => {
                self.host_rows.insert((row.kind.clone(), row.key.clone()), row.clone());
            }
            Change::DropHostRow { kind, key } => {
                self.host_rows.remove(&(kind.clone(), key.clone()));
            }
            Change::PutSchedule(state) => {
                self.schedules.retain(|s| {
                    (&s.agent, &s.surface, &s.state_key)
                        != (&state.agent, &state.surface, &state.state_key)
                });
                self.schedules.push(state.clone());
                self.schedules.sort_by(|a, b| {
                    (&a.agent, &a.surface, &a.state_key).cmp(&(&b.agent, &b.surface, &b.state_key))
                });
            }
            Change::AddSignal(signal) => {
                self.signals.insert(signal.clone());
            }
            Change::PutFinding(finding) => {
                self.findings.retain(|f| (&f.code, &f.about) != (&finding.code, &finding.about));
                self.findings.push(finding.clone());
                self.findings.sort();
            }
            Change::ClearFindings(code) => self.findings.retain(|f| f.code != *code),
            Change::AddEvidence(_) | Change::SetLegacy(_) => {}
        }
    }
}

fn upsert<T: Clone>(rows: &mut Vec<T>, row: &T, id: fn(&T) -> u64) {
    match rows.iter_mut().find(|r| id(r) == id(row)) {
        Some(old) => *old = row.clone(),
        None => rows.push(row.clone()),
    }
}

impl Tables {
    fn commit_index(&self, effect: &EffectId) -> Option<&CommitRecord> {
        self.commits.iter().find(|c| c.effect_id == *effect)
    }
}

impl Read for Tables {
    fn goal_uid(&self) -> Result<GoalUid> {
        Ok(self.uid.clone())
    }

    fn last_commit(&self) -> Result<u64> {
        Ok(self.records.commit)
    }

    fn view(&self, query: &ViewQuery) -> Result<View> {
        Ok(self.records.view(query))
    }

    fn todo(&self, id: &TodoId) -> Result<Option<Todo>> {
        Ok(self.records.todos.get(id).cloned())
    }

    fn todos(&self, filter: &TodoFilter) -> Result<Vec<Todo>> {
        let mut todos: Vec<Todo> =
            self.records.todos.values().filter(|t| filter.passes(t)).cloned().collect();
        todos.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
        Ok(todos)
    }

    fn shown_todos(&self, done: usize) -> Result<Vec<Todo>> {
        let closed = self.shown_closed(done)?;
        let mut shown: Vec<Todo> = self
            .records
            .todos
            .values()
            .filter(|t| t.is_open() || closed.contains(&t.todo_id))
            .cloned()
            .collect();
        shown.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
        Ok(shown)
    }

    fn shown_closed(&self, done: usize) -> Result<Vec<TodoId>> {
        let mut closed: Vec<&Todo> =
            self.records.todos.values().filter(|t| !t.is_open() && !t.archived).collect();
        closed.sort_by(|a, b| {
            (b.completed_at, b.order, &b.todo_id).cmp(&(a.completed_at, a.order, &a.todo_id))
        });
        closed.truncate(done);
        Ok(closed.into_iter().map(|t| t.todo_id.clone()).collect())
    }

    fn open_todo_by_text(&self, role: Role, text: &str) -> Result<Option<Todo>> {
        let mut found: Vec<&Todo> = self
            .records
            .todos
            .values()
            .filter(|t| t.is_open() && t.role == role && t.text == text)
            .collect();
        found.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
        Ok(found.first().map(|t| (*t).clone()))
    }

    fn max_order(&self) -> Result<i64> {
        Ok(self.records.todos.values().map(|t| t.order).max().unwrap_or(0))
    }

    fn counters(&self) -> Result<Counters> {
        Ok(self.records.counters())
    }

    fn commit_of(&self, effect: &EffectId) -> Result<Option<CommitRecord>> {
        Ok(self.commit_index(effect).cloned())
    }

    fn commits(&self, after: u64, limit: usize) -> Result<Vec<CommitRecord>> {
        Ok(self.commits.iter().filter(|c| c.n > after).take(limit).cloned().collect())
    }

    fn commits_before(&self, before: Option<u64>, limit: usize) -> Result<Vec<CommitRecord>> {
        let earlier = self.commits.iter().rev().filter(|c| before.is_none_or(|b| c.n < b));
        Ok(earlier.take(limit).cloned().collect())
    }

    fn evidence(
        &self,
        todo: Option<&TodoId>,
        agent: Option<&AgentId>,
        limit: usize,
    ) -> Result<Vec<Evidence>> {
        let matching = self.evidence.iter().rev().filter(|e| {
            todo.is_none_or(|t| e.todo_id.as_ref() == Some(t))
                && agent.is_none_or(|a| e.agent.as_ref() == Some(a))
        });
        Ok(matching.take(limit).cloned().collect())
    }

    fn last_outcomes(&self, limit: usize) -> Result<Vec<Outcome>> {
        let mut outcomes: Vec<Outcome> = self.records.outcomes.clone();
        outcomes.sort_by_key(|o| std::cmp::Reverse(o.id));
        outcomes.truncate(limit);
        Ok(outcomes)
    }

    fn usage(&self) -> Result<Vec<UsageTotal>> {
        let mut totals: BTreeMap<String, UsageTotal> = BTreeMap::new();
        for outcome in &self.records.outcomes {
            let Some(usage) = &outcome.usage else { continue };
            let agent = outcome.agent.as_ref().map_or_else(String::new, ToString::to_string);
            let total = totals.entry(agent.clone()).or_insert_with(|| UsageTotal {
                agent,
                usage: Usage::default(),
                reports: 0,
            });
            total.usage.add(usage);
            total.reports += 1;
        }
        Ok(totals.into_values().collect())
    }

    fn spend(&self, id: u64) -> Result<Option<Spend>> {
        Ok(self.records.spends.iter().find(|s| s.id == id).cloned())
    }

    fn last_spends(&self, limit: usize) -> Result<Vec<Spend>> {
        let mut spends: Vec<Spend> = self.records.spends.clone();
        spends.sort_by_key(|s| std::cmp::Reverse(s.id));
        spends.truncate(limit);
        Ok(spends)
    }

    fn turn(&self, id: &TurnId) -> Result<Option<Turn>> {
        Ok(self.records.turns.get(id.as_str()).cloned())
    }

    fn lease(&self, todo: &TodoId) -> Result<Option<Lease>> {
        Ok(self.records.leases.get(todo).cloned())
    }

    fn host_row(&self, kind: &str, key: &str) -> Result<Option<HostRow>> {
        Ok(self.records.host_rows.get(&(kind.to_owned(), key.to_owned())).cloned())
    }

    fn host_rows(&self, kind: &str) -> Result<Vec<HostRow>> {
        Ok(self.records.host_rows.values().filter(|r| r.kind == kind).cloned().collect())
    }

    fn seen(&self, agent: &AgentId) -> Result<Option<AgentSeen>> {
        Ok(self.records.seen.get(agent).cloned())
    }

    fn handoff(&self) -> Result<Option<HandoffMode>> {
        Ok(self.records.handoff)
    }

    fn open_turns(&self) -> Result<Vec<Turn>> {
        Ok(self.records.turns.values().filter(|t| t.state == TurnState::Live).cloned().collect())
    }

    fn delivery_of_turn(&self, turn: &TurnId) -> Result<Option<Outcome>> {
        Ok(self
            .records
            .outcomes
            .iter()
            .filter(|o| o.kind.is_delivered() && o.turn_id.as_ref() == Some(turn))
            .max_by_key(|o| o.id)
            .cloned())
    }

    fn last_delivery(
        &self,
        agent: Option<&AgentId>,
        todo: Option<&TodoId>,
    ) -> Result<Option<Outcome>> {
        Ok(self
            .records
            .outcomes
            .iter()
            .filter(|o| o.kind.is_delivered() && o.agent.as_ref() == agent)
            .filter(|o| todo.is_none_or(|t| o.todo_id.as_ref() == Some(t)))
            .max_by_key(|o| o.id)
            .cloned())
    }

    fn unspent_up_to(&self, outcome: &Outcome) -> Result<Vec<Outcome>> {
        let mut rows: Vec<Outcome> = self
            .records
            .outcomes
            .iter()
            .filter(|o| o.kind.is_delivered() && o.spent_by.is_none() && o.id <= outcome.id)
            .filter(|o| o.agent == outcome.agent && o.todo_id == outcome.todo_id)
            .cloned()
            .collect();
        rows.sort_by_key(|o| o.id);
        Ok(rows)
    }

    fn spend_totals(&self) -> Result<(u64, u64)> {
        Ok(self.records.spends.iter().fold((0, 0), |(all, live), s| {
            (all.saturating_add(s.slots), live.saturating_add(s.live()))
        }))
    }

    fn journal(&self) -> Result<Option<JournalRow>> {
        Ok(self.journal.clone())
    }

    fn legacy(&self) -> Result<Option<LegacyWitness>> {
        Ok(self.legacy.clone())
    }

    fn last_drawn(&self) -> Result<Option<String>> {
        Ok(self.last_drawn.clone())
    }

    fn last_projection(&self) -> Result<Option<String>> {
        Ok(self.last_projection.clone())
    }

    fn was_projected(&self, digest: &str) -> Result<bool> {
        Ok(self.projections.contains(digest))
    }

    fn records(&self) -> Result<GoalRecords> {
        Ok(self.records.clone())
    }

    fn dump(&self, sink: &mut dyn FnMut(&str, Value) -> Result<()>) -> Result<()> {
        let r = &self.records;
        dump_rows(sink, "todos", r.todos.values())?;
        dump_rows(sink, "spends", sorted(&r.spends, |s| s.id))?;
        dump_rows(sink, "outcomes", sorted(&r.outcomes, |o| o.id))?;
        dump_rows(sink, "evidence", self.evidence.iter())?;
        dump_rows(sink, "turns", r.turns.values())?;
        dump_rows(sink, "attempts", r.attempts.iter())?;
        dump_rows(sink, "stalls", r.stalls.iter())?;
        dump_rows(sink, "grants", sorted(&r.grants, |g| g.id))?;
        dump_rows(sink, "feedback", sorted(&r.feedback, |f| f.id))?;
        dump_rows(sink, "leases", r.leases.values())?;
        dump_rows(sink, "seen", r.seen.values())?;
        dump_rows(sink, "host_rows", r.host_rows.values())?;
        dump_rows(sink, "schedules", r.schedules.iter())?;
        dump_rows(sink, "signals", r.signals.iter())?;
        dump_rows(sink, "findings", r.findings.iter())?;
        dump_rows(sink, "handoff", r.handoff.iter())?;
        dump_rows(sink, "commits", self.commits.iter())?;
        dump_rows(sink, "legacy", self.legacy.iter())?;
        dump_rows(sink, "projections", self.projections.iter())
    }
}

fn sorted<T>(rows: &[T], id: fn(&T) -> u64) -> impl Iterator<Item = &T> {
    let mut rows: Vec<&T> = rows.iter().collect();
    rows.sort_by_key(|r| id(r));
    rows.into_iter()
}

fn dump_rows<'a, T: serde::Serialize + 'a>(
    sink: &mut dyn FnMut(&str, Value) -> Result<()>,
    table: &str,
    rows: impl Iterator<Item = &'a T>,
) -> Result<()> {
    for row in rows {
        sink(table, to_value(row)?)?;
    }
    Ok(())
}

struct MemoryTransaction<'a> {
    target: &'a mut Tables,
    work: Tables,
}

forward_reads!(MemoryStore, tables);
forward_reads!(MemoryTransaction<'_>, work);

impl Transaction for MemoryTransaction<'_> {
    fn apply(&mut self, changes: &[Change]) -> Result<()> {
        for change in changes {
            match change {
                Change::AddEvidence(evidence) => self.work.evidence.push(evidence.clone()),
                Change::SetLegacy(witness) => self.work.legacy = Some(witness.clone()),
                other => self.work.records.apply(other),
            }
        }
        Ok(())
    }

    fn note_projection(&mut self, digest: &str) -> Result<()> {
        self.work.projections.insert(digest.to_owned());
        self.work.last_projection = Some(digest.to_owned());
        Ok(())
    }

    fn note_drawn(&mut self, digest: Option<&str>) -> Result<()> {
        self.work.last_drawn = digest.map(str::to_owned);
        digest.map_or(Ok(()), |digest| self.note_projection(digest))
    }

    fn set_journal(&mut self, row: Option<&JournalRow>) -> Result<()> {
        self.work.journal = row.cloned();
        Ok(())
    }

    fn prune(&mut self, limits: &PruneLimits) -> Result<Pruned> {
        let mut gone = Pruned::default();
        let Tables { records, evidence, commits, .. } = &mut self.work;
        let size = |value: Value| value.to_string().len();
        let attempted = prune::attempted(&records.attempts);
        let effects: BTreeSet<&str> = commits.iter().map(|c| c.effect_id.as_str()).collect();
        let mut turns = Vec::new();
        for turn in records.turns.values() {
            if prune::turn_goes(turn, limits, &attempted, |e| effects.contains(e.as_str())) {
                gone.turns += 1;
                gone.took(size(to_value(turn)?));
                turns.push(turn.turn_id.to_string());
            }
        }
        turns.iter().for_each(|id| drop(records.turns.remove(id)));
        let kept = prune::kept_admissions(records.turns.values());
        for spend in records.spends.iter().filter(|s| prune::spend_goes(s, limits)) {
            gone.spends += 1;
            gone.took(size(to_value(spend)?));
        }
        records.spends.retain(|s| !prune::spend_goes(s, limits));
        let newest = prune::newest_deliveries(records.outcomes.iter());
        for outcome in records.outcomes.iter().filter(|o| prune::outcome_goes(o, limits, &newest)) {
            gone.outcomes += 1;
            gone.took(size(to_value(outcome)?));
        }
        records.outcomes.retain(|o| !prune::outcome_goes(o, limits, &newest));
        let closed = |id: &TodoId| records.todos.get(id).is_some_and(|t| !t.is_open());
        for row in evidence.iter().filter(|e| prune::evidence_goes(e, limits, closed)) {
            gone.evidence += 1;
            gone.took(size(to_value(row)?));
        }
        evidence.retain(|e| !prune::evidence_goes(e, limits, closed));
        for record in commits.iter_mut() {
            if let Some(short) = prune::shortened(record, limits, &kept) {
                let saved = size(to_value(record)?).saturating_sub(size(to_value(&short)?));
                if saved > 0 {
                    gone.receipts += 1;
                    gone.took(saved);
                    *record = short;
                }
            }
        }
        for todo in records.todos.values_mut() {
            if let Some(left) = prune::tombstone(todo, limits) {
                gone.todos += 1;
                gone.took(size(to_value(todo)?).saturating_sub(size(to_value(&left)?)));
                *todo = left;
            }
        }
        Ok(gone)
    }

    fn load(&mut self, table: &str, row: &Value) -> Result<()> {
        if let Some(change) = change_of_row(table, row)? {
            return self.apply(&[change]);
        }
        match table {
            "commits" => {
                let record: CommitRecord = from_value(table, row)?;
                self.work.records.commit = record.n;
                self.work.commits.push(record);
                Ok(())
            }
            "projections" => self.note_projection(row.as_str().unwrap_or_default()),
            _ => Err(Error::new(ErrorCode::ExportInvalid, table)
                .message(format!("unknown table {table}"))),
        }
    }

    fn record(&mut self, record: &CommitRecord) -> Result<()> {
        let taken = self.work.commit_index(&record.effect_id).is_some();
        if taken || record.n != self.work.records.commit + 1 {
            return Err(commit_taken());
        }
        self.work.records.commit = record.n;
        self.work.commits.push(record.clone());
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<WritersTurn> {
        *self.target = self.work;
        Ok(WritersTurn::default())
    }
}

/// A commit number or effect id that is in use: a defect of the caller, which looked
/// both up inside the transaction.
pub(super) fn commit_taken() -> Error {
    Error::new(ErrorCode::Internal, "commit").message("the commit number or the effect id is taken")
}

impl Store for MemoryStore {
    fn begin<'a>(&'a mut self, _operation: &str) -> Result<Box<dyn Transaction + 'a>> {
        let work = self.tables.clone();
        Ok(Box::new(MemoryTransaction { target: &mut self.tables, work }))
    }

    fn begin_again<'a>(&'a mut self, _turn: WritersTurn) -> Result<Box<dyn Transaction + 'a>> {
        self.begin("again")
    }
}
