//! Comparing everything that a store keeps twice with what it is made from.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::Row;
use serde::de::DeserializeOwned;

use super::super::read::{Db, key_of, parse, signed, text_hash};
use super::super::{SqliteStore, sql_error};
use crate::admission::view::{ViewQuery, count};
use crate::error::Result;
use crate::model::{
    AgentSeen, Attempt, AttemptState, CommitRecord, Counters, Evidence, Feedback, Finding, Grant,
    Instant, JournalRow, Lane, Lease, Outcome, QuotaPolicy, SchedulerState, Spend, Stall, Todo,
    TodoId, Turn, TurnState, UsageTotal,
};
use crate::store::Read;

/// Findings of one code that are listed; more are counted.
const LISTED: usize = 20;

/// What a check has found so far.
#[derive(Default)]
struct Problems {
    found: Vec<Finding>,
    counts: BTreeMap<&'static str, usize>,
}

impl Problems {
    fn add(&mut self, code: &'static str, about: impl Into<String>, message: impl Into<String>) {
        let n = self.counts.entry(code).or_default();
        *n += 1;
        if *n <= LISTED {
            self.found.push(Finding::new(code, about, message));
        }
    }

    fn finish(mut self) -> Vec<Finding> {
        for (code, n) in self.counts {
            if n > LISTED {
                self.found.push(Finding::new(
                    code,
                    "store",
                    format!("and {} more of this kind", n - LISTED),
                ));
            }
        }
        self.found
    }
}

/// The sizes that a check reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Checked {
    /// Number of the last commit.
    pub commit: u64,
    /// Todos.
    pub todos: u64,
    /// Records of every table.
    pub records: u64,
}

impl SqliteStore {
    /// Compares everything that is kept twice with what it is made from: pages, index
    /// columns, totals, shapes, views, the commit log. Reads only; the commits of others
    /// wait while it looks, so that all of it is one state. `beside` is run inside the
    /// same state.
    pub fn check(
        &self,
        quota: QuotaPolicy,
        now: Instant,
        beside: &mut dyn FnMut(&dyn Read) -> Result<Vec<Finding>>,
    ) -> Result<(Checked, Vec<Finding>)> {
        let db = self.db();
        db.snapshot(|| {
            let mut problems = Problems::default();
            let mut checked = Checked::default();
            integrity(&db, &mut problems)?;
            if !problems.found.is_empty() {
                // What is on damaged pages says nothing about itself.
                return Ok((checked, problems.finish()));
            }
            if tables(&db, &mut checked, &mut problems)? {
                views(&db, quota, now, &mut problems)?;
                for finding in beside(&db)? {
                    problems.found.push(finding);
                }
            }
            Ok((checked, problems.finish()))
        })
    }
}

fn integrity(db: &Db<'_>, problems: &mut Problems) -> Result<()> {
    let mut statement = db.conn.prepare("PRAGMA integrity_check(20)").map_err(sql_error)?;
    let mut rows = statement.query([]).map_err(sql_error)?;
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let text: String = row.get(0).map_err(sql_error)?;
                if text != "ok" {
                    problems.add("store_damaged", "goal.db", one_line(&text));
                }
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                problems.add("store_damaged", "goal.db", one_line(&error.to_string()));
                return Ok(());
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

/// Reads one table: `doc` is the last column. `check` names the columns that differ.
fn each<T: DeserializeOwned>(
    db: &Db<'_>,
    table: &'static str,
    columns: &str,
    checked: &mut Checked,
    problems: &mut Problems,
    mut check: impl FnMut(&Row<'_>, T) -> rusqlite::Result<Option<String>>,
) -> Result<bool> {
    let sql = format!("SELECT {columns}, doc FROM {table}");
    let last = columns.split(',').count();
    let mut statement = db.conn.prepare(&sql).map_err(sql_error)?;
    let mut rows = statement.query([]).map_err(sql_error)?;
    let mut readable = true;
    let mut n = 0_u64;
    while let Some(row) = rows.next().map_err(sql_error)? {
        n += 1;
        checked.records += 1;
        let doc = row.get_ref(last).ok().and_then(|v| v.as_str().ok().map(str::to_owned));
        let Some(record) = doc.as_deref().and_then(|d| parse::<T>(d).ok()) else {
            readable = false;
            problems.add(
                "record_unreadable",
                format!("{table} row {n}"),
                "a record cannot be read",
            );
            continue;
        };
        // A column of another type differs, too.
        if let Some(about) = check(row, record).unwrap_or_else(|_| Some(format!("row {n}"))) {
            problems.add(
                "columns_differ",
                format!("{table} {about}"),
                "an index column differs from its record",
            );
        }
    }
    Ok(readable)
}

/// Whether column `at` holds `value`.
fn is<T: rusqlite::types::FromSql + PartialEq>(
    row: &Row<'_>,
    at: usize,
    value: T,
) -> rusqlite::Result<bool> {
    Ok(row.get::<_, T>(at)? == value)
}

/// Compares the tables with their documents. `false` when a record cannot be read.
fn tables(db: &Db<'_>, checked: &mut Checked, problems: &mut Problems) -> Result<bool> {
    let mut readable = true;
    let mut shapes: HashMap<i64, (String, i64)> = HashMap::new();
    {
        let mut statement =
            db.conn.prepare("SELECT id, key, open FROM shapes").map_err(sql_error)?;
        let mut rows = statement.query([]).map_err(sql_error)?;
        while let Some(row) = rows.next().map_err(sql_error)? {
            let get = || -> rusqlite::Result<_> { Ok((row.get(0)?, (row.get(1)?, row.get(2)?))) };
            let (id, shape) = get().map_err(sql_error)?;
            shapes.insert(id, shape);
        }
    }
    let mut counters = Counters::default();
    let mut open: HashMap<i64, i64> = HashMap::new();
    let mut closed: BTreeSet<TodoId> = BTreeSet::new();
    let mut settled: BTreeSet<TodoId> = BTreeSet::new();
    let mut lanes: Vec<String> = Vec::new();
    let mut todos = 0_u64;
    let columns = "id, ord, role, rank, dangling, completed_at, archived, text_hash, lane, shape";
    readable &= each::<Todo>(db, "todos", columns, checked, problems, |row, todo| {
        count(&mut counters, &todo, 1);
        if !todo.is_open() {
            closed.insert(todo.todo_id.clone());
            if !todo.dangling {
                settled.insert(todo.todo_id.clone());
            }
        }
        let lane = match todo.lane() {
            Lane::Plain => 0_i64,
            Lane::Special => 1,
            Lane::Closed => 2,
        };
        let shape: Option<i64> = row.get(9)?;
        let shaped = match (lane, shape) {
            (0, Some(id)) => {
                *open.entry(id).or_default() += 1;
                shapes.get(&id).is_some_and(|(key, _)| *key == todo.shape_key())
            }
            (0, None) => false,
            _ => true,
        };
        if !is(row, 8, lane)? || !shaped {
            lanes.push(todo.todo_id.to_string());
        }
        let same = is(row, 0, todo.todo_id.as_str().to_owned())?
            && is(row, 1, todo.order)?
            && is(row, 2, todo.role.as_str().to_owned())?
            && is(row, 3, i64::from(todo.rank()))?
            && is(row, 4, todo.dangling)?
            && is(row, 5, todo.completed_at.map(Instant::micros))?
            && is(row, 6, todo.archived)?
            && is(row, 7, text_hash(&todo.text))?;
        todos += 1;
        Ok((!same).then(|| todo.todo_id.to_string()))
    })?;
    checked.todos = todos;
    for id in lanes {
        problems.add("lane_differs", id, "a todo is not indexed where its record says");
    }
    for (id, (_, stored)) in &shapes {
        let counted = open.get(id).copied().unwrap_or(0);
        if counted != *stored {
            problems.add(
                "shape_count_differs",
                format!("shape {id}"),
                format!("a shape counts {stored} open todos and has {counted}"),
            );
        }
    }
    if readable {
        match db.counters() {
            Ok(stored) if stored == counters => {}
            Ok(_) => problems.add("counters_differ", "totals", "the totals differ from the todos"),
            Err(_) => problems.add("counters_differ", "totals", "the totals cannot be read"),
        }
    }
    readable &= each::<Spend>(db, "spends", "id, at, live, slots", checked, problems, |r, s| {
        let same = is(r, 0, signed(s.id))?
            && is(r, 1, s.at.micros())?
            && is(r, 2, signed(s.live()))?
            && is(r, 3, signed(s.slots))?;
        Ok((!same).then(|| s.id.to_string()))
    })?;
    let mut usage: BTreeMap<String, UsageTotal> = BTreeMap::new();
    readable &= each::<Outcome>(
        db,
        "outcomes",
        "id, agent, todo, delivered, spent",
        checked,
        problems,
        |r, o| {
            if let Some(report) = &o.usage {
                let agent = key_of(o.agent.as_ref()).to_owned();
                let total = usage.entry(agent.clone()).or_insert_with(|| UsageTotal {
                    agent,
                    usage: Default::default(),
                    reports: 0,
                });
                total.usage.add(report);
                total.reports += 1;
            }
            let same = is(r, 0, signed(o.id))?
                && is(r, 1, key_of(o.agent.as_ref()).to_owned())?
                && is(r, 2, o.todo_id.as_ref().map_or("", TodoId::as_str).to_owned())?
                && is(r, 3, o.kind.is_delivered())?
                && is(r, 4, o.spent_by.is_some())?;
            Ok((!same).then(|| o.id.to_string()))
        },
    )?;
    readable &= each::<Evidence>(db, "evidence", "id, todo", checked, problems, |r, e| {
        let same = is(r, 0, signed(e.id))?
            && is(r, 1, e.todo_id.as_ref().map_or("", TodoId::as_str).to_owned())?;
        Ok((!same).then(|| e.id.to_string()))
    })?;
    readable &= each::<Turn>(db, "turns", "id, live, expires_at", checked, problems, |r, t| {
        let same = is(r, 0, t.turn_id.as_str().to_owned())?
            && is(r, 1, t.state == TurnState::Live)?
            && is(r, 2, t.expires_at.map(Instant::micros))?;
        Ok((!same).then(|| t.turn_id.to_string()))
    })?;
    let mut hanging: Vec<String> = Vec::new();
    readable &= each::<Attempt>(
        db,
        "attempts",
        "agent, rule, cause, sticky",
        checked,
        problems,
        |r, a| {
            let sticky = matches!(a.state, AttemptState::OutcomeUnknown | AttemptState::Paused);
            if !sticky && settled.contains(&TodoId::trusted(a.cause.as_str())) {
                hanging.push(format!("attempt of {}", a.cause));
            }
            let same = is(r, 0, key_of(a.agent.as_ref()).to_owned())?
                && is(r, 1, a.rule.clone())?
                && is(r, 2, a.cause.clone())?
                && is(r, 3, sticky)?;
            Ok((!same).then_some(a.cause))
        },
    )?;
    readable &= each::<Stall>(db, "stalls", "todo, agent", checked, problems, |r, s| {
        if closed.contains(&s.todo_id) {
            hanging.push(format!("stall of {}", s.todo_id));
        }
        let same = is(r, 0, s.todo_id.as_str().to_owned())?
            && is(r, 1, key_of(s.agent.as_ref()).to_owned())?;
        Ok((!same).then(|| s.todo_id.to_string()))
    })?;
    for about in hanging {
        problems.add("leftover_record", about, "a record hangs on a todo that is closed");
    }
    readable &= each::<Grant>(db, "grants", "id, used", checked, problems, |r, g| {
        let same = is(r, 0, signed(g.id))? && is(r, 1, g.used)?;
        Ok((!same).then(|| g.id.to_string()))
    })?;
    readable &= each::<Feedback>(db, "feedback", "id, answered", checked, problems, |r, f| {
        let same = is(r, 0, signed(f.id))? && is(r, 1, f.answered)?;
        Ok((!same).then(|| f.id.to_string()))
    })?;
    let mut totals: BTreeMap<String, UsageTotal> = BTreeMap::new();
    readable &= each::<UsageTotal>(db, "usage", "agent", checked, problems, |r, u| {
        let same = is(r, 0, u.agent.clone())?;
        let agent = u.agent.clone();
        totals.insert(agent.clone(), u);
        Ok((!same).then_some(agent))
    })?;
    if readable && totals != usage {
        problems.add("usage_differs", "usage", "the usage totals differ from the outcomes");
    }
    readable &=
        each::<Lease>(db, "leases", "todo, live, expires_at", checked, problems, |r, l| {
            let same = is(r, 0, l.todo_id.as_str().to_owned())?
                && is(r, 1, !l.released)?
                && is(r, 2, l.expires_at.micros())?;
            Ok((!same).then(|| l.todo_id.to_string()))
        })?;
    readable &= each::<AgentSeen>(db, "seen", "agent", checked, problems, |r, s| {
        Ok((!is(r, 0, s.agent.as_str().to_owned())?).then(|| s.agent.to_string()))
    })?;
    if db.has_schedules()? {
        readable &= each::<SchedulerState>(
            db,
            "schedules",
            "agent, surface, key",
            checked,
            problems,
            |r, s| {
                let same = is(r, 0, s.agent.as_str().to_owned())?
                    && is(r, 1, s.surface.clone())?
                    && is(r, 2, s.state_key.clone())?;
                Ok((!same).then(|| s.agent.to_string()))
            },
        )?;
    }
    readable &= each::<Finding>(db, "findings", "code, about", checked, problems, |r, f| {
        let same = is(r, 0, f.code.clone())? && is(r, 1, f.about.clone())?;
        Ok((!same).then_some(f.code))
    })?;
    let (mut numbers, mut effects) = (BTreeSet::new(), BTreeSet::new());
    let mut twice: Vec<u64> = Vec::new();
    readable &= each::<CommitRecord>(db, "commits", "n, effect", checked, problems, |r, c| {
        numbers.insert(c.n);
        if !effects.insert(c.effect_id.as_str().to_owned()) {
            twice.push(c.n);
        }
        let same = is(r, 0, signed(c.n))? && is(r, 1, c.effect_id.as_str().to_owned())?;
        Ok((!same).then(|| c.n.to_string()))
    })?;
    checked.commit = numbers.last().copied().unwrap_or(0);
    for n in twice {
        problems.add("effect_twice", format!("commit {n}"), "an effect id was recorded twice");
    }
    let missing = checked.commit.saturating_sub(u64::try_from(numbers.len()).unwrap_or(0));
    if missing > 0 {
        let first = (1..=checked.commit).find(|n| !numbers.contains(n)).unwrap_or(0);
        problems.add(
            "commit_gap",
            format!("commit {first}"),
            format!("{missing} of {} commits are missing", checked.commit),
        );
    }
    readable &= each::<JournalRow>(db, "journal", "effect", checked, problems, |_, _| Ok(None))?;
    if let Ok(Some(row)) = db.journal() {
        problems.add(
            "journal_pending",
            row.commit.verb.as_str(),
            "a command was interrupted between registry and store; the next write finishes it",
        );
    }
    Ok(readable)
}

/// Views by index and by full scan.
fn views(db: &Db<'_>, quota: QuotaPolicy, now: Instant, problems: &mut Problems) -> Result<()> {
    let records = db.records()?;
    for complete in [true, false] {
        let query = ViewQuery { now, quota, complete };
        // By index it may not even be readable.
        if db.view(&query).ok() != Some(records.view(&query)) {
            let which = if complete { "complete view" } else { "representative view" };
            problems.add("view_differs", which, "what a decision sees differs from the records");
        }
    }
    Ok(())
}
