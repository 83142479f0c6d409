//! Looking after a store: checking it, copying it, taking history away. Nothing here is
//! on the way of a command.

mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags, ToSql, params};
use serde::de::DeserializeOwned;

use super::read::{Db, parse, signed, text_hash, unsigned};
use super::{SqliteOptions, SqliteStore, connect, remove_draft, sql_error, sync_folder};
use crate::error::{Error, ErrorCode, Result};
use crate::file::holder::HolderNote;
use crate::file::lock::{FileLock, LockMode};
use crate::model::{
    Attempt, CommitRecord, EffectId, Evidence, GoalUid, Outcome, Spend, Todo, TodoId, Turn,
};
use crate::store::Transaction;
use crate::store::prune::{self, PruneLimits, Pruned};

pub use check::Checked;

impl SqliteStore {
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
    let mut transaction = Box::new(store.begin_behind(None)?);
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
    Ok(crate::store::rows::to_value(row)?.to_string())
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
