//! Reading the SQLite store, but for views.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Params, Row};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::kept::Views;
use super::parsed::{Parsed, Written};
use super::sql_error;
use crate::admission::view::{GoalRecords, View, ViewQuery};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{
    AgentId, AgentSeen, CommitRecord, Counters, EffectId, Evidence, GoalUid, HandoffMode, HostRow,
    JournalRow, Lease, LegacyWitness, Outcome, Role, SchedulerState, Spend, Todo, TodoId, Turn,
    TurnId, UsageTotal,
};
use crate::store::rows::to_value;
use crate::store::{Read, TodoFilter};

/// The reading half of a connection.
#[derive(Clone, Copy)]
pub(super) struct Db<'c> {
    pub conn: &'c Connection,
    pub uid: &'c GoalUid,
    /// Views that are kept; none inside a transaction.
    pub views: Option<&'c RefCell<Views>>,
    /// Todos of rows that were read before.
    pub parsed: &'c RefCell<Parsed>,
}

pub(super) fn parse<T: DeserializeOwned>(doc: &str) -> Result<T> {
    serde_json::from_str(doc).map_err(|e| {
        Error::new(ErrorCode::StoreUnreadable, "store")
            .message("a record of goal.db cannot be read")
            .detail(e)
    })
}

/// A number that equal texts share: finds a todo by its text without indexing the text.
pub(super) fn text_hash(text: &str) -> i64 {
    let digest = crate::file::digest::sha256_hex(text.as_bytes());
    digest.get(..15).and_then(|head| i64::from_str_radix(head, 16).ok()).unwrap_or(0)
}

pub(super) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn key_of(agent: Option<&AgentId>) -> &str {
    agent.map_or("", AgentId::as_str)
}

impl Db<'_> {
    pub(super) fn docs<T: DeserializeOwned>(
        &self,
        sql: &str,
        params: impl Params,
    ) -> Result<Vec<T>> {
        self.docs_by(sql, params, parse)
    }

    /// The rows' first columns, each read by `parse`.
    pub(super) fn docs_by<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut parse: impl FnMut(&str) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.conn.prepare_cached(sql).map_err(sql_error)?;
        let mut rows = statement.query(params).map_err(sql_error)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(sql_error)? {
            let doc =
                row.get_ref(0).map_err(sql_error)?.as_str().map_err(|e| sql_error(e.into()))?;
            found.push(parse(doc)?);
        }
        Ok(found)
    }

    pub(super) fn doc<T: DeserializeOwned>(
        &self,
        sql: &str,
        params: impl Params,
    ) -> Result<Option<T>> {
        let text: Option<String> = self.one(sql, params, |r| r.get(0))?;
        text.map(|t| parse(&t)).transpose()
    }

    pub(super) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.conn.prepare_cached(sql).map_err(sql_error)?;
        statement.query_row(params, map).optional().map_err(sql_error)
    }

    /// Runs `read` on one snapshot.
    pub(super) fn snapshot<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        if !self.conn.is_autocommit() {
            return read();
        }
        self.conn.execute_batch("BEGIN").map_err(sql_error)?;
        let answer = read();
        let ended = self.conn.execute_batch("COMMIT").map_err(sql_error);
        answer.and_then(|value| ended.map(|()| value))
    }

    /// What changes with every commit.
    pub(super) fn written(&self) -> Result<Written> {
        let mut statement = self.conn.prepare_cached("PRAGMA data_version").map_err(sql_error)?;
        let version = statement.query_row([], |row| row.get(0)).map_err(sql_error)?;
        Ok((version, self.conn.total_changes()))
    }

    /// The witness of the earlier tool's ledger.
    pub(super) fn read_legacy(&self) -> Result<Option<LegacyWitness>> {
        self.doc("SELECT value FROM meta WHERE key = 'legacy'", [])
    }
}

impl Read for Db<'_> {
    fn goal_uid(&self) -> Result<GoalUid> {
        Ok(self.uid.clone())
    }

    fn last_commit(&self) -> Result<u64> {
        let n: Option<i64> = self.one("SELECT max(n) FROM commits", [], |r| r.get(0))?.flatten();
        Ok(unsigned(n.unwrap_or(0)))
    }

    fn view(&self, query: &ViewQuery) -> Result<View> {
        match self.views.map(RefCell::try_borrow_mut) {
            Some(Ok(mut views)) if self.conn.is_autocommit() => views.view(*self, query),
            _ => self.snapshot(|| self.read_view(query)),
        }
    }

    fn todo(&self, id: &TodoId) -> Result<Option<Todo>> {
        self.doc("SELECT doc FROM todos WHERE id = ?1", [id.as_str()])
    }

    fn todos(&self, filter: &TodoFilter) -> Result<Vec<Todo>> {
        let mut todos: Vec<Todo> = self.docs("SELECT doc FROM todos ORDER BY ord, id", [])?;
        todos.retain(|t| filter.passes(t));
        Ok(todos)
    }

    fn shown_todos(&self, done: usize) -> Result<Vec<Todo>> {
        self.snapshot(|| {
            let mut shown: Vec<Todo> = self.docs("SELECT doc FROM todos WHERE lane < 2", [])?;
            shown.extend(self.docs::<Todo>(
                "SELECT doc FROM todos WHERE lane = 2 AND archived = 0 ORDER BY completed_at DESC, ord DESC, id DESC LIMIT ?1",
                [i64::try_from(done).unwrap_or(i64::MAX)],
            )?);
            shown.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
            Ok(shown)
        })
    }

    fn shown_closed(&self, done: usize) -> Result<Vec<TodoId>> {
        let mut statement = self
            .conn
            .prepare_cached(
                "SELECT id FROM todos WHERE lane = 2 AND archived = 0 ORDER BY completed_at DESC, ord DESC, id DESC LIMIT ?1",
            )
            .map_err(sql_error)?;
        let rows = statement
            .query_map([i64::try_from(done).unwrap_or(i64::MAX)], |r| r.get::<_, String>(0))
            .map_err(sql_error)?;
        rows.map(|id| id.map(TodoId::trusted).map_err(sql_error)).collect()
    }

    fn open_todo_by_text(&self, role: Role, text: &str) -> Result<Option<Todo>> {
        let found: Vec<Todo> = self.docs(
            "SELECT doc FROM todos WHERE text_hash = ?1 AND lane < 2 ORDER BY ord, id",
            [text_hash(text)],
        )?;
        Ok(found.into_iter().find(|t| t.role == role && t.text == text))
    }

    fn max_order(&self) -> Result<i64> {
        Ok(self
            .one("SELECT max(ord) FROM todos", [], |r| r.get::<_, Option<i64>>(0))?
            .flatten()
            .unwrap_or(0))
    }

    fn counters(&self) -> Result<Counters> {
        let text: Option<String> =
            self.one("SELECT value FROM meta WHERE key = 'counters'", [], |r| r.get(0))?;
        match text.as_deref() {
            None | Some("{}") => Ok(Counters::default()),
            Some(text) => parse(text),
        }
    }

    fn commit_of(&self, effect: &EffectId) -> Result<Option<CommitRecord>> {
        self.doc("SELECT doc FROM commits WHERE effect = ?1", [effect.as_str()])
    }

    fn commits(&self, after: u64, limit: usize) -> Result<Vec<CommitRecord>> {
        self.docs(
            "SELECT doc FROM commits WHERE n > ?1 ORDER BY n LIMIT ?2",
            [signed(after), i64::try_from(limit).unwrap_or(i64::MAX)],
        )
    }

    fn commits_before(&self, before: Option<u64>, limit: usize) -> Result<Vec<CommitRecord>> {
        self.docs(
            "SELECT doc FROM commits WHERE n < ?1 ORDER BY n DESC LIMIT ?2",
            [before.map_or(i64::MAX, signed), i64::try_from(limit).unwrap_or(i64::MAX)],
        )
    }

    fn evidence(
        &self,
        todo: Option<&TodoId>,
        agent: Option<&AgentId>,
        limit: usize,
    ) -> Result<Vec<Evidence>> {
        let mut found: Vec<Evidence> = Vec::new();
        let sql = match todo {
            Some(_) => "SELECT doc FROM evidence WHERE todo = ?1 ORDER BY seq DESC",
            None => "SELECT doc FROM evidence WHERE ?1 = '' ORDER BY seq DESC",
        };
        let mut statement = self.conn.prepare_cached(sql).map_err(sql_error)?;
        let mut rows = statement.query([todo.map_or("", TodoId::as_str)]).map_err(sql_error)?;
        while let Some(row) = rows.next().map_err(sql_error)? {
            if found.len() >= limit {
                break;
            }
            let doc: String = row.get(0).map_err(sql_error)?;
            let evidence: Evidence = parse(&doc)?;
            if agent.is_none_or(|a| evidence.agent.as_ref() == Some(a)) {
                found.push(evidence);
            }
        }
        Ok(found)
    }

    fn last_outcomes(&self, limit: usize) -> Result<Vec<Outcome>> {
        self.docs(
            "SELECT doc FROM outcomes ORDER BY id DESC LIMIT ?1",
            [i64::try_from(limit).unwrap_or(i64::MAX)],
        )
    }

    fn usage(&self) -> Result<Vec<UsageTotal>> {
        self.docs("SELECT doc FROM usage ORDER BY agent", [])
    }

    fn spend(&self, id: u64) -> Result<Option<Spend>> {
        self.doc("SELECT doc FROM spends WHERE id = ?1", [signed(id)])
    }

    fn last_spends(&self, limit: usize) -> Result<Vec<Spend>> {
        self.docs(
            "SELECT doc FROM spends ORDER BY id DESC LIMIT ?1",
            [i64::try_from(limit).unwrap_or(i64::MAX)],
        )
    }

    fn turn(&self, id: &TurnId) -> Result<Option<Turn>> {
        self.doc("SELECT doc FROM turns WHERE id = ?1", [id.as_str()])
    }

    fn lease(&self, todo: &TodoId) -> Result<Option<Lease>> {
        self.doc("SELECT doc FROM leases WHERE todo = ?1", [todo.as_str()])
    }

    fn host_row(&self, kind: &str, key: &str) -> Result<Option<HostRow>> {
        if !self.keeps_host_rows()? {
            return Ok(None);
        }
        self.doc("SELECT doc FROM host_rows WHERE kind = ?1 AND key = ?2", [kind, key])
    }

    fn host_rows(&self, kind: &str) -> Result<Vec<HostRow>> {
        if !self.keeps_host_rows()? {
            return Ok(Vec::new());
        }
        self.docs("SELECT doc FROM host_rows WHERE kind = ?1 ORDER BY key", [kind])
    }

    fn seen(&self, agent: &AgentId) -> Result<Option<AgentSeen>> {
        self.doc("SELECT doc FROM seen WHERE agent = ?1", [agent.as_str()])
    }

    fn handoff(&self) -> Result<Option<HandoffMode>> {
        self.doc("SELECT value FROM meta WHERE key = 'handoff'", [])
    }

    fn open_turns(&self) -> Result<Vec<Turn>> {
        self.docs("SELECT doc FROM turns WHERE live = 1 ORDER BY id", [])
    }

    fn delivery_of_turn(&self, turn: &TurnId) -> Result<Option<Outcome>> {
        self.doc(
            "SELECT doc FROM outcomes WHERE turn = ?1 AND turn <> '' AND delivered = 1 ORDER BY id DESC LIMIT 1",
            [turn.as_str()],
        )
    }

    fn last_delivery(
        &self,
        agent: Option<&AgentId>,
        todo: Option<&TodoId>,
    ) -> Result<Option<Outcome>> {
        match todo {
            None => self.doc(
                "SELECT doc FROM outcomes WHERE delivered = 1 AND agent = ?1 ORDER BY id DESC LIMIT 1",
                [key_of(agent)],
            ),
            Some(todo) => self.doc(
                "SELECT doc FROM outcomes WHERE delivered = 1 AND agent = ?1 AND todo = ?2 ORDER BY id DESC LIMIT 1",
                [key_of(agent), todo.as_str()],
            ),
        }
    }

    fn unspent_up_to(&self, outcome: &Outcome) -> Result<Vec<Outcome>> {
        self.docs(
            "SELECT doc FROM outcomes WHERE delivered = 1 AND spent = 0 AND agent = ?1 AND todo = ?2 AND id <= ?3 ORDER BY id",
            rusqlite::params![
                key_of(outcome.agent.as_ref()),
                outcome.todo_id.as_ref().map_or("", TodoId::as_str),
                signed(outcome.id)
            ],
        )
    }

    fn spend_totals(&self) -> Result<(u64, u64)> {
        let sums: Option<(i64, i64)> = self.one(
            "SELECT coalesce(sum(slots), 0), coalesce(sum(live), 0) FROM spends",
            [],
            |r| Ok((r.get(0)?, r.get(1)?)),
        )?;
        Ok(sums.map_or((0, 0), |(all, live)| (unsigned(all), unsigned(live))))
    }

    fn journal(&self) -> Result<Option<JournalRow>> {
        self.doc("SELECT doc FROM journal LIMIT 1", [])
    }

    fn legacy(&self) -> Result<Option<LegacyWitness>> {
        match self.views.map(RefCell::try_borrow_mut) {
            Some(Ok(mut views)) if self.conn.is_autocommit() => views.legacy(*self),
            _ => self.read_legacy(),
        }
    }

    fn last_drawn(&self) -> Result<Option<String>> {
        self.one("SELECT value FROM meta WHERE key = 'drawn' AND value <> ''", [], |r| r.get(0))
    }

    fn last_projection(&self) -> Result<Option<String>> {
        self.one("SELECT value FROM meta WHERE key = 'projected'", [], |r| r.get(0))
    }

    fn was_projected(&self, digest: &str) -> Result<bool> {
        Ok(self.one("SELECT 1 FROM projections WHERE digest = ?1", [digest], |_| Ok(()))?.is_some())
    }

    fn records(&self) -> Result<GoalRecords> {
        self.snapshot(|| {
            Ok(GoalRecords {
                goal_uid: Some(self.uid.clone()),
                commit: self.last_commit()?,
                todos: self
                    .docs::<Todo>("SELECT doc FROM todos", [])?
                    .into_iter()
                    .map(|t| (t.todo_id.clone(), t))
                    .collect(),
                spends: self.docs("SELECT doc FROM spends ORDER BY id", [])?,
                outcomes: self.docs("SELECT doc FROM outcomes ORDER BY id", [])?,
                signals: self.signals()?,
                leases: self
                    .docs::<Lease>("SELECT doc FROM leases", [])?
                    .into_iter()
                    .map(|l| (l.todo_id.clone(), l))
                    .collect(),
                handoff: self.handoff()?,
                turns: self
                    .docs::<Turn>("SELECT doc FROM turns", [])?
                    .into_iter()
                    .map(|t| (t.turn_id.to_string(), t))
                    .collect(),
                attempts: self.docs("SELECT doc FROM attempts ORDER BY agent, rule, cause", [])?,
                stalls: self.docs("SELECT doc FROM stalls ORDER BY todo, agent", [])?,
                grants: self.docs("SELECT doc FROM grants ORDER BY id", [])?,
                feedback: self.docs("SELECT doc FROM feedback ORDER BY id", [])?,
                seen: self
                    .docs::<AgentSeen>("SELECT doc FROM seen", [])?
                    .into_iter()
                    .map(|s| (s.agent.clone(), s))
                    .collect(),
                host_rows: self.all_host_rows()?,
                schedules: self.schedules()?,
                findings: self.docs("SELECT doc FROM findings ORDER BY code, about", [])?,
                health: Vec::new(),
            })
        })
    }

    fn dump(&self, sink: &mut dyn FnMut(&str, Value) -> Result<()>) -> Result<()> {
        self.snapshot(|| {
            for (table, sql) in [
                ("todos", "SELECT doc FROM todos ORDER BY id"),
                ("spends", "SELECT doc FROM spends ORDER BY id"),
                ("outcomes", "SELECT doc FROM outcomes ORDER BY id"),
                ("evidence", "SELECT doc FROM evidence ORDER BY seq"),
                ("turns", "SELECT doc FROM turns ORDER BY id"),
                ("attempts", "SELECT doc FROM attempts ORDER BY agent, rule, cause"),
                ("stalls", "SELECT doc FROM stalls ORDER BY todo, agent"),
                ("grants", "SELECT doc FROM grants ORDER BY id"),
                ("feedback", "SELECT doc FROM feedback ORDER BY id"),
                ("leases", "SELECT doc FROM leases ORDER BY todo"),
                ("seen", "SELECT doc FROM seen ORDER BY agent"),
                ("host_rows", "SELECT doc FROM host_rows ORDER BY kind, key"),
            ] {
                if table == "host_rows" && !self.keeps_host_rows()? {
                    continue;
                }
                self.dump_docs(sink, table, sql)?;
            }
            for schedule in self.schedules()? {
                sink("schedules", to_value(&schedule)?)?;
            }
            for signal in self.signals()? {
                sink("signals", to_value(&signal)?)?;
            }
            self.dump_docs(sink, "findings", "SELECT doc FROM findings ORDER BY code, about")?;
            self.dump_docs(sink, "handoff", "SELECT value FROM meta WHERE key = 'handoff'")?;
            self.dump_docs(sink, "commits", "SELECT doc FROM commits ORDER BY n")?;
            self.dump_docs(sink, "legacy", "SELECT value FROM meta WHERE key = 'legacy'")?;
            let mut statement = self
                .conn
                .prepare_cached("SELECT digest FROM projections ORDER BY digest")
                .map_err(sql_error)?;
            let mut rows = statement.query([]).map_err(sql_error)?;
            while let Some(row) = rows.next().map_err(sql_error)? {
                sink("projections", Value::String(row.get(0).map_err(sql_error)?))?;
            }
            Ok(())
        })
    }
}

impl Db<'_> {
    /// A store of schema 1 that was only ever read has no such table yet.
    fn keeps_host_rows(&self) -> Result<bool> {
        let found: Option<i64> =
            self.one("SELECT 1 FROM sqlite_master WHERE name = 'host_rows'", [], |r| r.get(0))?;
        Ok(found.is_some())
    }

    fn all_host_rows(&self) -> Result<BTreeMap<(String, String), HostRow>> {
        if !self.keeps_host_rows()? {
            return Ok(BTreeMap::new());
        }
        let rows: Vec<HostRow> = self.docs("SELECT doc FROM host_rows", [])?;
        Ok(rows.into_iter().map(|r| ((r.kind.clone(), r.key.clone()), r)).collect())
    }

    /// Whether the store has the table of schedules: one that was only read since it was
    /// made by an earlier release has not.
    pub(super) fn has_schedules(&self) -> Result<bool> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'schedules'";
        Ok(self.one(sql, [], |r| r.get::<_, i64>(0))?.is_some())
    }

    pub(super) fn schedules(&self) -> Result<Vec<SchedulerState>> {
        match self.docs("SELECT doc FROM schedules ORDER BY agent, surface, key", []) {
            Err(_) if !self.has_schedules()? => Ok(Vec::new()),
            other => other,
        }
    }

    fn dump_docs(
        &self,
        sink: &mut dyn FnMut(&str, Value) -> Result<()>,
        table: &str,
        sql: &str,
    ) -> Result<()> {
        let mut statement = self.conn.prepare_cached(sql).map_err(sql_error)?;
        let mut rows = statement.query([]).map_err(sql_error)?;
        while let Some(row) = rows.next().map_err(sql_error)? {
            let doc =
                row.get_ref(0).map_err(sql_error)?.as_str().map_err(|e| sql_error(e.into()))?;
            sink(table, parse(doc)?)?;
        }
        Ok(())
    }
}
