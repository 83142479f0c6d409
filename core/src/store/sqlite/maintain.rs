//! Looking after a store: checking it, copying it, taking history away. Nothing here is
//! on the way of a command.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Row, ToSql, params};
use serde::de::DeserializeOwned;

use super::read::{Db, key_of, parse, signed, text_hash, unsigned};
use super::{SqliteOptions, SqliteStore, connect, remove_draft, sql_error, sync_folder};
use crate::admission::view::{ViewQuery, count};
use crate::error::{Error, ErrorCode, Result};
use crate::file::holder::HolderNote;
use crate::file::lock::{FileLock, LockMode};
use crate::model::{
    AgentSeen, Attempt, AttemptState, CommitRecord, Counters, EffectId, Evidence, Feedback,
    Finding, GoalUid, Grant, Instant, JournalRow, Lane, Lease, Outcome, QuotaPolicy, Spend, Stall,
    Todo, TodoId, Turn, TurnState, UsageTotal,
};
use crate::store::prune::{self, PruneLimits, Pruned};
use crate::store::{Read, Transaction};

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

    /// Writes a consistent copy to `copy`, which must not exist, and syncs it.
    pub fn copy_to(&self, copy: &Path) -> Result<()> {
        let name = copy.to_str().ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, "backup folder")
                .message("the name of the backup folder is not UTF-8")
        })?;
        self.conn.execute("VACUUM INTO ?1", [name]).map_err(sql_error)?;
        let file = std::fs::File::open(copy).map_err(|e| Error::from_io(&e, "backup", copy))?;
        file.sync_all().map_err(|e| Error::from_io(&e, "backup", copy))
    }

    /// What [`Transaction::prune`] would take away.
    pub fn prunable(&self, limits: &PruneLimits) -> Result<Pruned> {
        let db = self.db();
        db.snapshot(|| prune(&db, limits, false))
    }

    /// Gives free pages back to the file system. The caller keeps its writer's turn.
    pub fn compact(&self) -> Result<()> {
        self.conn.execute_batch("VACUUM").map_err(sql_error)
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> Result<u64> {
        std::fs::metadata(&self.path)
            .map(|m| m.len())
            .map_err(|e| Error::from_io(&e, "store", &self.path))
    }

    /// The number up to which this store and `other` have the same commits.
    pub fn common_commit(&self, other: &Self) -> Result<u64> {
        let effects = |store: &Self| -> Result<BTreeMap<u64, String>> {
            let mut statement =
                store.conn.prepare("SELECT n, effect FROM commits").map_err(sql_error)?;
            let rows = statement
                .query_map([], |r| Ok((unsigned(r.get(0)?), r.get::<_, String>(1)?)))
                .map_err(sql_error)?;
            rows.collect::<rusqlite::Result<_>>().map_err(sql_error)
        };
        let (mine, theirs) = (effects(self)?, effects(other)?);
        let mut common = 0;
        for (n, effect) in &mine {
            if theirs.get(n) != Some(effect) {
                break;
            }
            common = *n;
        }
        Ok(common)
    }
}

/// A writer's place at a store whose file may be missing or damaged: nobody else writes
/// or replaces it meanwhile.
pub fn queue_at(path: &Path, note: &HolderNote, options: &SqliteOptions) -> Result<FileLock> {
    FileLock::acquire(path, LockMode::Exclusive, note, options.deadline)
}

/// Opens a copied store that nobody else knows, applies `fill` as one transaction and
/// syncs it.
pub fn amend_draft(
    draft: &Path,
    uid: &GoalUid,
    options: &SqliteOptions,
    fill: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
) -> Result<()> {
    let conn = connect(draft, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?;
    conn.execute_batch("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF").map_err(sql_error)?;
    let mut store = SqliteStore::checked(conn, draft, uid, options.clone())?;
    let mut transaction = Box::new(store.begin_unqueued()?);
    fill(transaction.as_mut())?;
    drop(transaction.commit()?);
    drop(store);
    std::fs::File::open(draft)
        .and_then(|file| file.sync_all())
        .map_err(|e| Error::from_io(&e, "store", draft))
}

/// Puts a finished draft in the store's place. What lies there is first given the name
/// `kept`, with a journal that belongs to it, so that it can be opened there.
pub fn put_in_place(draft: &Path, path: &Path, kept: Option<&Path>) -> Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let io = |e: std::io::Error| Error::from_io(&e, "store", path);
    let beside = |of: &Path| {
        let mut name = of.as_os_str().to_owned();
        name.push("-journal");
        std::path::PathBuf::from(name)
    };
    if let Some(kept) = kept {
        let journal = beside(path);
        if std::fs::metadata(&journal).is_ok_and(|m| m.len() > 0) {
            // A journal left here would be rolled back into the new store.
            std::fs::rename(&journal, beside(kept)).map_err(io)?;
        }
        std::fs::hard_link(path, kept).map_err(io)?;
        sync_folder(folder)?;
    } else {
        match std::fs::remove_file(beside(path)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(io(e)),
            _ => {}
        }
    }
    std::fs::rename(draft, path).map_err(io)?;
    sync_folder(folder)
}

/// Removes a draft and its journal.
pub fn discard(draft: &Path) {
    remove_draft(draft);
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

struct Docs<'c> {
    statement: rusqlite::CachedStatement<'c>,
}

impl<'c> Docs<'c> {
    fn of(db: &Db<'c>, sql: &str) -> Result<Self> {
        Ok(Self { statement: db.conn.prepare_cached(sql).map_err(sql_error)? })
    }

    /// Calls `take` with each key, size and record.
    fn each<K: rusqlite::types::FromSql, T: DeserializeOwned>(
        &mut self,
        mut take: impl FnMut(K, usize, T) -> Result<()>,
    ) -> Result<()> {
        let mut rows = self.statement.query([]).map_err(sql_error)?;
        while let Some(row) = rows.next().map_err(sql_error)? {
            let key: K = row.get(0).map_err(sql_error)?;
            let doc = row.get_ref(1).map_err(sql_error)?;
            let doc = doc.as_str().map_err(|e| sql_error(e.into()))?;
            take(key, doc.len(), parse(doc)?)?;
        }
        Ok(())
    }
}

fn delete<K: ToSql>(conn: &Connection, sql: &str, keys: &[K], apply: bool) -> Result<u64> {
    if apply {
        let mut statement = conn.prepare_cached(sql).map_err(sql_error)?;
        for key in keys {
            statement.execute([key]).map_err(sql_error)?;
        }
    }
    Ok(u64::try_from(keys.len()).unwrap_or(u64::MAX))
}

fn text<T: serde::Serialize>(row: &T) -> Result<String> {
    Ok(crate::store::memory::to_value(row)?.to_string())
}

/// Counts what goes, and takes it away when `apply` says so.
pub(super) fn prune(db: &Db<'_>, limits: &PruneLimits, apply: bool) -> Result<Pruned> {
    let mut gone = Pruned::default();
    let conn = db.conn;
    let attempts: Vec<Attempt> = db.docs("SELECT doc FROM attempts", [])?;
    let attempted = prune::attempted(&attempts);
    let mut has_commit =
        conn.prepare("SELECT 1 FROM commits WHERE effect = ?1").map_err(sql_error)?;
    let mut keys: Vec<String> = Vec::new();
    let mut kept: Vec<Turn> = Vec::new();
    Docs::of(db, "SELECT id, doc FROM turns")?.each(|id: String, bytes, turn: Turn| {
        let known = |e: &EffectId| has_commit.exists([e.as_str()]).unwrap_or(false);
        if prune::turn_goes(&turn, limits, &attempted, known) {
            gone.took(bytes);
            keys.push(id);
        } else {
            kept.push(turn);
        }
        Ok(())
    })?;
    gone.turns = delete(conn, "DELETE FROM turns WHERE id = ?1", &keys, apply)?;
    let admissions = prune::kept_admissions(kept.iter());

    let mut keys: Vec<i64> = Vec::new();
    Docs::of(db, "SELECT id, doc FROM spends")?.each(|id: i64, bytes, spend: Spend| {
        if prune::spend_goes(&spend, limits) {
            gone.took(bytes);
            keys.push(id);
        }
        Ok(())
    })?;
    gone.spends = delete(conn, "DELETE FROM spends WHERE id = ?1", &keys, apply)?;

    let outcomes: Vec<Outcome> = db.docs("SELECT doc FROM outcomes", [])?;
    let newest = prune::newest_deliveries(outcomes.iter());
    drop(outcomes);
    let mut keys: Vec<i64> = Vec::new();
    Docs::of(db, "SELECT id, doc FROM outcomes")?.each(|id: i64, bytes, outcome: Outcome| {
        if prune::outcome_goes(&outcome, limits, &newest) {
            gone.took(bytes);
            keys.push(id);
        }
        Ok(())
    })?;
    gone.outcomes = delete(conn, "DELETE FROM outcomes WHERE id = ?1", &keys, apply)?;

    let mut closed: BTreeSet<TodoId> = BTreeSet::new();
    let mut left: Vec<Todo> = Vec::new();
    Docs::of(db, "SELECT id, doc FROM todos WHERE lane = 2")?.each(
        |id: String, bytes, todo: Todo| {
            closed.insert(TodoId::trusted(id));
            if let Some(tombstone) = prune::tombstone(&todo, limits) {
                gone.todos += 1;
                gone.took(bytes.saturating_sub(text(&tombstone)?.len()));
                left.push(tombstone);
            }
            Ok(())
        },
    )?;
    if apply {
        let mut statement = conn
            .prepare_cached("UPDATE todos SET doc = ?2, rank = ?3, text_hash = ?4 WHERE id = ?1")
            .map_err(sql_error)?;
        for todo in &left {
            let hash = text_hash(&todo.text);
            statement
                .execute(params![todo.todo_id.as_str(), text(todo)?, todo.rank(), hash])
                .map_err(sql_error)?;
        }
    }

    let mut keys: Vec<i64> = Vec::new();
    Docs::of(db, "SELECT seq, doc FROM evidence")?.each(|seq: i64, bytes, row: Evidence| {
        if prune::evidence_goes(&row, limits, |id| closed.contains(id)) {
            gone.took(bytes);
            keys.push(seq);
        }
        Ok(())
    })?;
    gone.evidence = delete(conn, "DELETE FROM evidence WHERE seq = ?1", &keys, apply)?;

    let mut update = conn.prepare("UPDATE commits SET doc = ?2 WHERE n = ?1").map_err(sql_error)?;
    let mut n = 0_i64;
    loop {
        // In pages: receipts are the largest part of a store.
        let page: Vec<CommitRecord> =
            db.docs("SELECT doc FROM commits WHERE n > ?1 ORDER BY n LIMIT 500", [n])?;
        let Some(last) = page.last() else { break };
        n = signed(last.n);
        for record in &page {
            let Some(short) = prune::shortened(record, limits, &admissions) else { continue };
            let doc = text(&short)?;
            let saved = text(record)?.len().saturating_sub(doc.len());
            if saved == 0 {
                continue;
            }
            gone.receipts += 1;
            gone.took(saved);
            if apply {
                update.execute(params![signed(record.n), doc]).map_err(sql_error)?;
            }
        }
    }
    Ok(gone)
}
