//! Writing the SQLite store: one transaction, its changes, its commit.

use std::cell::RefCell;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::parsed::Parsed;
use super::read::{Db, key_of, signed, text_hash};
use super::sql_error;
use crate::admission::view::{GoalRecords, View, ViewQuery, count};
use crate::error::{Error, ErrorCode, Result};
use crate::file::lock::FileLock;
use crate::model::{
    AgentId, AttemptState, CommitRecord, Counters, EffectId, GoalUid, JournalRow, Lane,
    LegacyWitness, Outcome, Role, Todo, TodoId, Turn, TurnId, TurnState, Usage, UsageTotal,
};
use crate::store::forward::forward_reads;
use crate::store::memory::commit_taken;
use crate::store::rows::{change_of_row, from_value};
use crate::store::{Change, PruneLimits, Pruned, Read, TodoFilter, Transaction, WritersTurn};

/// A write in progress; dropped without commit it is rolled back.
pub(super) struct SqliteTransaction<'a> {
    conn: &'a Connection,
    uid: &'a GoalUid,
    parsed: &'a RefCell<Parsed>,
    counters: Counters,
    counted: bool,
    done: bool,
    /// The last effect that it recorded.
    recorded: Option<EffectId>,
    turn: Option<FileLock>,
}

fn text<T: serde::Serialize>(row: &T) -> Result<String> {
    serde_json::to_string(row).map_err(|e| Error::new(ErrorCode::Internal, "record").detail(e))
}

impl<'a> SqliteTransaction<'a> {
    pub(super) fn begin(
        conn: &'a mut Connection,
        uid: &'a GoalUid,
        parsed: &'a RefCell<Parsed>,
        turn: Option<FileLock>,
    ) -> Result<Self> {
        conn.execute_batch("BEGIN IMMEDIATE").map_err(sql_error)?;
        let mut transaction = Self {
            conn,
            uid,
            parsed,
            counters: Counters::default(),
            counted: false,
            done: false,
            recorded: None,
            turn,
        };
        transaction.counters = transaction.db().counters()?;
        Ok(transaction)
    }

    fn db(&self) -> Db<'_> {
        Db { conn: self.conn, uid: self.uid, views: None, parsed: self.parsed }
    }

    fn run(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize> {
        let mut statement = self.conn.prepare_cached(sql).map_err(sql_error)?;
        statement.execute(params).map_err(sql_error)
    }

    fn shape(&self, todo: &Todo, change: i64) -> Result<Option<i64>> {
        if todo.lane() != Lane::Plain {
            return Ok(None);
        }
        let key = todo.shape_key();
        let id: Option<i64> = self
            .conn
            .prepare_cached("UPDATE shapes SET open = open + ?2 WHERE key = ?1 RETURNING id")
            .and_then(|mut s| s.query_row(params![key, change], |r| r.get(0)).optional())
            .map_err(sql_error)?;
        match id {
            Some(id) => Ok(Some(id)),
            None => {
                self.run("INSERT INTO shapes(key, open) VALUES (?1, ?2)", params![key, change])?;
                Ok(Some(self.conn.last_insert_rowid()))
            }
        }
    }

    /// A commit that failed may stand: what comes after its instant, the sync of the emptied
    /// journal, fails too. The file says which.
    fn failed(&mut self, error: Error) -> Error {
        if !self.conn.is_autocommit() {
            return error;
        }
        self.done = true;
        self.parsed.borrow_mut().forget();
        let Some(effect) = &self.recorded else { return error };
        match self.db().commit_of(effect) {
            Ok(None) => error,
            Ok(Some(_)) => error.after_the_change(),
            // What lies in the journal is rolled back by whoever opens the file next.
            Err(_) if self.journal_holds() => error,
            Err(unread) => error.after_the_change().message(format!(
                "whether the change was made is not known ({})",
                unread.row().text
            )),
        }
    }

    fn journal_holds(&self) -> bool {
        let path = self.conn.path().map(|path| format!("{path}-journal"));
        path.and_then(|path| std::fs::metadata(path).ok()).is_some_and(|meta| meta.len() > 0)
    }

    /// Runs `write`, which writes no todo.
    fn beside_todos<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.conn.total_changes();
        let written = write(self)?;
        self.parsed.borrow_mut().pass(before, self.conn.total_changes());
        Ok(written)
    }

    fn store_counters(&mut self) -> Result<()> {
        if self.counted {
            self.set_meta("counters", &text(&self.counters)?)?;
            self.counted = false;
        }
        Ok(())
    }

    fn put_todo(&mut self, todo: &Todo) -> Result<()> {
        if let Some(old) = self.db().todo(&todo.todo_id)? {
            count(&mut self.counters, &old, -1);
            self.shape(&old, -1)?;
        }
        count(&mut self.counters, todo, 1);
        self.counted = true;
        let shape = self.shape(todo, 1)?;
        let lane = match todo.lane() {
            Lane::Plain => 0,
            Lane::Special => 1,
            Lane::Closed => 2,
        };
        self.run(
            "INSERT INTO todos(id, ord, role, lane, shape, rank, dangling, completed_at, archived, text_hash, doc)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT(id) DO UPDATE SET ord = ?2, role = ?3, lane = ?4, shape = ?5, rank = ?6, dangling = ?7,
               completed_at = ?8, archived = ?9, text_hash = ?10, doc = ?11",
            params![
                todo.todo_id.as_str(),
                todo.order,
                todo.role.as_str(),
                lane,
                shape,
                todo.rank(),
                todo.dangling,
                todo.completed_at.map(|at| at.micros()),
                todo.archived,
                text_hash(&todo.text),
                text(todo)?
            ],
        )?;
        if !todo.is_open() {
            self.run("DELETE FROM stalls WHERE todo = ?1", [todo.todo_id.as_str()])?;
            if !todo.dangling {
                self.run(
                    "DELETE FROM attempts WHERE cause = ?1 AND sticky = 0",
                    [todo.todo_id.as_str()],
                )?;
            }
        }
        Ok(())
    }

    fn follow_dangling(&mut self) -> Result<()> {
        let ids: Vec<String> = {
            let mut statement = self
                .conn
                .prepare_cached("SELECT id FROM todos WHERE dangling = 1")
                .map_err(sql_error)?;
            let rows = statement.query_map([], |r| r.get(0)).map_err(sql_error)?;
            rows.collect::<rusqlite::Result<_>>().map_err(sql_error)?
        };
        for id in ids {
            if let Some(mut todo) = self.db().todo(&TodoId::trusted(id))? {
                todo.dangling = false;
                self.put_todo(&todo)?;
            }
        }
        Ok(())
    }

    /// Keeps the sums per agent; an outcome that is replaced keeps its first report.
    fn count_usage(&self, outcome: &Outcome) -> Result<()> {
        let Some(usage) = &outcome.usage else { return Ok(()) };
        let known: Option<i64> = self
            .conn
            .prepare_cached("SELECT 1 FROM outcomes WHERE id = ?1")
            .and_then(|mut s| s.query_row([signed(outcome.id)], |r| r.get(0)).optional())
            .map_err(sql_error)?;
        if known.is_some() {
            return Ok(());
        }
        let agent = key_of(outcome.agent.as_ref());
        let mut total =
            self.db().usage()?.into_iter().find(|t| t.agent == agent).unwrap_or_else(|| {
                UsageTotal { agent: agent.to_owned(), usage: Usage::default(), reports: 0 }
            });
        total.usage.add(usage);
        total.reports += 1;
        self.run(
            "INSERT INTO usage(agent, doc) VALUES (?1, ?2) ON CONFLICT(agent) DO UPDATE SET doc = ?2",
            params![agent, text(&total)?],
        )
        .map(drop)
    }

    fn apply_one(&mut self, change: &Change) -> Result<()> {
        match change {
            Change::PutTodo(todo) => self.put_todo(todo),
            Change::FollowDangling => self.follow_dangling(),
            Change::PutSpend(s) => self
                .run(
                    "INSERT INTO spends(id, at, live, slots, doc) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT(id) DO UPDATE SET at = ?2, live = ?3, slots = ?4, doc = ?5",
                    params![signed(s.id), s.at.micros(), signed(s.live()), signed(s.slots), text(s)?],
                )
                .map(drop),
            Change::PutOutcome(o) => {
                self.count_usage(o)?;
                self

                .run(
                    "INSERT INTO outcomes(id, agent, todo, delivered, spent, turn, doc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                     ON CONFLICT(id) DO UPDATE SET agent = ?2, todo = ?3, delivered = ?4, spent = ?5, turn = ?6, doc = ?7",
                    params![
                        signed(o.id),
                        key_of(o.agent.as_ref()),
                        o.todo_id.as_ref().map_or("", TodoId::as_str),
                        o.kind.is_delivered(),
                        o.spent_by.is_some(),
                        o.turn_id.as_ref().map_or("", TurnId::as_str),
                        text(o)?
                    ],
                )
                .map(drop)
            }
            Change::PutFeedback(f) => self
                .run(
                    "INSERT INTO feedback(id, answered, doc) VALUES (?1, ?2, ?3)
                     ON CONFLICT(id) DO UPDATE SET answered = ?2, doc = ?3",
                    params![signed(f.id), f.answered, text(f)?],
                )
                .map(drop),
            Change::AddEvidence(e) => self
                .run(
                    "INSERT INTO evidence(id, todo, doc) VALUES (?1, ?2, ?3)",
                    params![signed(e.id), e.todo_id.as_ref().map_or("", TodoId::as_str), text(e)?],
                )
                .map(drop),
            Change::PutTurn(t) => self
                .run(
                    "INSERT INTO turns(id, live, expires_at, doc) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT(id) DO UPDATE SET live = ?2, expires_at = ?3, doc = ?4",
                    params![t.turn_id.as_str(), t.state == TurnState::Live, t.expires_at.map(|at| at.micros()), text(t)?],
                )
                .map(drop),
            Change::PutAttempt(a) => self
                .run(
                    "INSERT INTO attempts(agent, rule, cause, sticky, doc) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT(agent, rule, cause) DO UPDATE SET sticky = ?4, doc = ?5",
                    params![
                        key_of(a.agent.as_ref()),
                        a.rule,
                        a.cause,
                        matches!(a.state, AttemptState::OutcomeUnknown | AttemptState::Paused),
                        text(a)?
                    ],
                )
                .map(drop),
            Change::PutStall(s) => self
                .run(
                    "INSERT INTO stalls(todo, agent, doc) VALUES (?1, ?2, ?3)
                     ON CONFLICT(todo, agent) DO UPDATE SET doc = ?3",
                    params![s.todo_id.as_str(), key_of(s.agent.as_ref()), text(s)?],
                )
                .map(drop),
            Change::ClearStalls(id) => self.run("DELETE FROM stalls WHERE todo = ?1", [id.as_str()]).map(drop),
            Change::PutGrant(g) => self
                .run(
                    "INSERT INTO grants(id, used, doc) VALUES (?1, ?2, ?3) ON CONFLICT(id) DO UPDATE SET used = ?2, doc = ?3",
                    params![signed(g.id), g.used, text(g)?],
                )
                .map(drop),
            Change::PutLease(l) => self
                .run(
                    "INSERT INTO leases(todo, live, expires_at, doc) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT(todo) DO UPDATE SET live = ?2, expires_at = ?3, doc = ?4",
                    params![l.todo_id.as_str(), !l.released, l.expires_at.micros(), text(l)?],
                )
                .map(drop),
            Change::PutSeen(s) => self
                .run(
                    "INSERT INTO seen(agent, doc) VALUES (?1, ?2) ON CONFLICT(agent) DO UPDATE SET doc = ?2",
                    params![s.agent.as_str(), text(s)?],
                )
                .map(drop),
            Change::PutHostRow(r) => self
                .run(
                    "INSERT INTO host_rows(kind, key, doc) VALUES (?1, ?2, ?3) ON CONFLICT(kind, key) DO UPDATE SET doc = ?3",
                    params![r.kind, r.key, text(r)?],
                )
                .map(drop),
            Change::DropHostRow { kind, key } => {
                self.run("DELETE FROM host_rows WHERE kind = ?1 AND key = ?2", params![kind, key]).map(drop)
            }
            Change::PutSchedule(s) => self
                .run(
                    "INSERT INTO schedules(agent, surface, key, doc) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT(agent, surface, key) DO UPDATE SET doc = ?4",
                    params![s.agent.as_str(), s.surface, s.state_key, text(s)?],
                )
                .map(drop),
            Change::AddSignal(s) => self
                .run("INSERT OR IGNORE INTO signals(kind, reference) VALUES (?1, ?2)", params![s.kind, s.reference])
                .map(drop),
            Change::PutFinding(f) => self
                .run(
                    "INSERT INTO findings(code, about, doc) VALUES (?1, ?2, ?3)
                     ON CONFLICT(code, about) DO UPDATE SET doc = ?3",
                    params![f.code, f.about, text(f)?],
                )
                .map(drop),
            Change::ClearFindings(code) => self.run("DELETE FROM findings WHERE code = ?1", [code]).map(drop),
            Change::SetLegacy(witness) => self.set_meta("legacy", &text(witness)?),
            Change::SetHandoff(mode) => self.set_meta("handoff", &text(mode)?),
        }
    }

    fn set_meta(&self, key: &str, value: &str) -> Result<()> {
        self.run(
            "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2",
            params![key, value],
        )
        .map(drop)
    }

    fn insert_commit(&self, record: &CommitRecord) -> Result<()> {
        self.run(
            "INSERT INTO commits(n, effect, doc) VALUES (?1, ?2, ?3)",
            params![signed(record.n), record.effect_id.as_str(), text(record)?],
        )
        .map(drop)
    }
}

forward_reads!(SqliteTransaction<'_>, db());

impl Transaction for SqliteTransaction<'_> {
    fn apply(&mut self, changes: &[Change]) -> Result<()> {
        for change in changes {
            match change {
                Change::PutTodo(_) | Change::FollowDangling => self.apply_one(change)?,
                _ => self.beside_todos(|tx| tx.apply_one(change))?,
            }
        }
        // A view inside this transaction counts what was just applied.
        self.store_counters()
    }

    fn note_projection(&mut self, digest: &str) -> Result<()> {
        self.run("INSERT OR IGNORE INTO projections(digest) VALUES (?1)", [digest])?;
        self.set_meta("projected", digest)
    }

    fn note_drawn(&mut self, digest: Option<&str>) -> Result<()> {
        digest.map_or(Ok(()), |digest| self.note_projection(digest))?;
        self.set_meta("drawn", digest.unwrap_or_default())
    }

    fn set_journal(&mut self, row: Option<&JournalRow>) -> Result<()> {
        self.run("DELETE FROM journal", [])?;
        match row {
            Some(row) => self
                .run(
                    "INSERT INTO journal(effect, doc) VALUES (?1, ?2)",
                    params![row.effect_id.as_str(), text(row)?],
                )
                .map(drop),
            None => Ok(()),
        }
    }

    fn prune(&mut self, limits: &PruneLimits) -> Result<Pruned> {
        super::maintain::prune(&self.db(), limits, true)
    }

    fn load(&mut self, table: &str, row: &Value) -> Result<()> {
        if let Some(change) = change_of_row(table, row)? {
            return self.apply_one(&change);
        }
        match table {
            "commits" => self.insert_commit(&from_value(table, row)?),
            "projections" => self.note_projection(row.as_str().unwrap_or_default()),
            _ => Err(Error::new(ErrorCode::ExportInvalid, table)
                .message(format!("unknown table {table}"))),
        }
    }

    fn record(&mut self, record: &CommitRecord) -> Result<()> {
        if record.n != self.db().last_commit()? + 1
            || self.db().commit_of(&record.effect_id)?.is_some()
        {
            return Err(commit_taken());
        }
        self.beside_todos(|tx| tx.insert_commit(record))?;
        self.recorded = Some(record.effect_id.clone());
        Ok(())
    }

    fn commit(mut self: Box<Self>) -> Result<WritersTurn> {
        self.store_counters()?;
        if let Err(error) = self.conn.execute_batch("COMMIT").map_err(sql_error) {
            return Err(self.failed(error));
        }
        self.done = true;
        Ok(WritersTurn::held_by(self.turn.take()))
    }
}

impl Drop for SqliteTransaction<'_> {
    fn drop(&mut self) {
        if !self.done {
            // Nothing was acknowledged; if the rollback itself fails, the journal undoes
            // it when the file is opened next.
            let _ = self.conn.execute_batch("ROLLBACK");
            self.parsed.borrow_mut().forget();
        }
    }
}
