//! The embedded store: one SQLite file per goal.
//!
//! Rollback journal, `synchronous=FULL`: many short processes, reads far more often
//! than writes, and reads must work on a read-only mount and write nothing. The bench
//! prints the comparison that decided it. Writers queue on an OS lock before
//! `BEGIN IMMEDIATE`, so that many of them wait in turn instead of timing out.

mod kept;
pub mod maintain;
mod parsed;
mod read;
mod view;
mod write;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use self::kept::Views;
use self::parsed::Parsed;
use self::read::Db;
use super::forward::forward_reads;
use super::{Read, SCHEMA_VERSION, Store, TodoFilter, Transaction, WritersTurn};
use crate::admission::view::{GoalRecords, View, ViewQuery};
use crate::error::{Error, ErrorCode, Result};
use crate::file::Stamp;
use crate::file::filesystem::refuse_network;
use crate::file::holder::HolderNote;
use crate::file::lock::{FileLock, LockMode};
use crate::file::patience;
use crate::model::{
    AgentId, CommitRecord, Counters, EffectId, GoalUid, JournalRow, LegacyWitness, Outcome, Role,
    Todo, TodoId, Turn, TurnId,
};

/// `LOOP` in ASCII: marks the file as ours.
const APPLICATION_ID: i64 = 0x4c4f_4f50;

/// Statements that a connection keeps prepared: more than a decision and a write need
/// together, so that none is prepared twice.
const STATEMENTS_KEPT: usize = 128;

/// The statements that make an empty store of schema 1.
const SCHEMA_1: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE shapes(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, open INTEGER NOT NULL);
CREATE TABLE todos(
  id TEXT PRIMARY KEY, ord INTEGER NOT NULL, role TEXT NOT NULL, lane INTEGER NOT NULL,
  shape INTEGER, rank INTEGER NOT NULL, dangling INTEGER NOT NULL, completed_at INTEGER,
  archived INTEGER NOT NULL, text_hash INTEGER NOT NULL, doc TEXT NOT NULL);
CREATE INDEX todos_plain ON todos(shape, rank, ord, id) WHERE lane = 0;
CREATE INDEX todos_special ON todos(ord, id) WHERE lane = 1;
CREATE INDEX todos_closed ON todos(completed_at, ord, id) WHERE lane = 2 AND archived = 0;
CREATE INDEX todos_dangling ON todos(completed_at) WHERE dangling = 1;
CREATE INDEX todos_text ON todos(text_hash) WHERE lane < 2;
CREATE INDEX todos_ord ON todos(ord);
CREATE TABLE spends(id INTEGER PRIMARY KEY, at INTEGER NOT NULL, live INTEGER NOT NULL, slots INTEGER NOT NULL, doc TEXT NOT NULL);
CREATE INDEX spends_at ON spends(at, live);
CREATE TABLE outcomes(id INTEGER PRIMARY KEY, agent TEXT NOT NULL, todo TEXT NOT NULL, delivered INTEGER NOT NULL, spent INTEGER NOT NULL, turn TEXT NOT NULL DEFAULT '', doc TEXT NOT NULL);
CREATE INDEX outcomes_turn ON outcomes(turn, id) WHERE turn <> '';
CREATE INDEX outcomes_delivered ON outcomes(agent, id) WHERE delivered = 1;
CREATE INDEX outcomes_todo ON outcomes(agent, todo, id) WHERE delivered = 1;
CREATE TABLE evidence(id INTEGER NOT NULL, seq INTEGER PRIMARY KEY, todo TEXT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX evidence_todo ON evidence(todo, id);
CREATE TABLE turns(id TEXT PRIMARY KEY, live INTEGER NOT NULL, expires_at INTEGER, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX turns_live ON turns(expires_at) WHERE live = 1;
CREATE TABLE attempts(agent TEXT NOT NULL, rule TEXT NOT NULL, cause TEXT NOT NULL, sticky INTEGER NOT NULL, doc TEXT NOT NULL, PRIMARY KEY(agent, rule, cause)) WITHOUT ROWID;
CREATE INDEX attempts_cause ON attempts(cause);
CREATE TABLE stalls(todo TEXT NOT NULL, agent TEXT NOT NULL, doc TEXT NOT NULL, PRIMARY KEY(todo, agent)) WITHOUT ROWID;
CREATE TABLE grants(id INTEGER PRIMARY KEY, used INTEGER NOT NULL, doc TEXT NOT NULL);
CREATE INDEX grants_open ON grants(id) WHERE used = 0;
CREATE TABLE feedback(id INTEGER PRIMARY KEY, answered INTEGER NOT NULL, doc TEXT NOT NULL);
CREATE INDEX feedback_open ON feedback(id) WHERE answered = 0;
CREATE TABLE usage(agent TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE leases(todo TEXT PRIMARY KEY, live INTEGER NOT NULL, expires_at INTEGER NOT NULL, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX leases_live ON leases(expires_at) WHERE live = 1;
CREATE TABLE seen(agent TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE signals(kind TEXT NOT NULL, reference TEXT NOT NULL, PRIMARY KEY(kind, reference)) WITHOUT ROWID;
CREATE TABLE findings(code TEXT NOT NULL, about TEXT NOT NULL, doc TEXT NOT NULL, PRIMARY KEY(code, about)) WITHOUT ROWID;
CREATE TABLE commits(n INTEGER PRIMARY KEY, effect TEXT NOT NULL UNIQUE, doc TEXT NOT NULL);
CREATE TABLE journal(effect TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE projections(digest TEXT PRIMARY KEY) WITHOUT ROWID;
";

/// Migrations: entry `i` takes a store of schema `i + 1` to `i + 2`. A new store is made
/// by all of them. Reads migrate nothing and know how to do without what they add.
const MIGRATIONS: &[&str] = &[
    "CREATE TABLE host_rows(kind TEXT NOT NULL, key TEXT NOT NULL, doc TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT ROWID;",
    // What app hosts said about their schedules.
    "CREATE TABLE schedules(agent TEXT NOT NULL, surface TEXT NOT NULL, key TEXT NOT NULL, doc TEXT NOT NULL, PRIMARY KEY(agent, surface, key)) WITHOUT ROWID;",
];

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// How long a writer waits its turn and a reader waits for a commit to finish.
    pub deadline: Duration,
    /// Who writes, for the holder record.
    pub holder: HolderNote,
}

/// How often a store may be replaced under a waiting writer before that is reported.
const MAX_REOPENED: usize = 8;

/// A goal's store in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    conn: Connection,
    uid: GoalUid,
    path: PathBuf,
    identity: Option<(u64, u64)>,
    options: SqliteOptions,
    views: RefCell<Views>,
    parsed: RefCell<Parsed>,
}

/// Turns a SQLite error into the code that fits.
pub(super) fn sql_error(error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode as Sql;
    let cause = std::io::Error::last_os_error();
    let code = match &error {
        rusqlite::Error::SqliteFailure(e, _) => match e.code {
            Sql::DatabaseBusy | Sql::DatabaseLocked => ErrorCode::StoreBusy,
            Sql::DiskFull => ErrorCode::DiskFull,
            Sql::ReadOnly | Sql::PermissionDenied => ErrorCode::WriteDenied,
            Sql::CannotOpen | Sql::NotADatabase | Sql::DatabaseCorrupt => {
                ErrorCode::StoreUnreadable
            }
            Sql::SystemIoFailure => return of_system(&error, cause),
            _ => ErrorCode::Internal,
        },
        _ => ErrorCode::StoreUnreadable,
    };
    Error::new(code, "store").detail(error)
}

/// SQLite says only that the system failed it, at a sync for example. The number of the call
/// that failed last on this thread is nearly always that call's: an error of that call
/// replaced what stood there before. Only a full disk and a denied write are taken from it.
fn of_system(error: &rusqlite::Error, cause: std::io::Error) -> Error {
    let code = Error::from_io(&cause, "store", Path::new("")).code;
    Error::new(code, "store").detail(format!("{error}: {cause}"))
}

impl SqliteStore {
    /// Opens a store to read and write. The file must exist and belong to `uid`.
    pub fn open(path: &Path, uid: &GoalUid, options: SqliteOptions) -> Result<Self> {
        require_file(path)?;
        refuse_network(path)?;
        let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &options)?;
        let mut store = Self::checked(conn, path, uid, options)?;
        store.migrate(MIGRATIONS, SCHEMA_VERSION)?;
        Ok(store)
    }

    /// Opens a store to read. Nothing is written; only when a killed writer left a half
    /// commit behind is it first rolled back, which needs a writable folder.
    pub fn open_read_only(path: &Path, uid: &GoalUid, options: SqliteOptions) -> Result<Self> {
        require_file(path)?;
        let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, &options)?;
        let checked = Self::checked(conn, path, uid, options.clone()).and_then(|store| {
            store.conn.execute_batch("PRAGMA cache_size=-4096").map_err(sql_error)?;
            Ok(store)
        });
        match checked {
            Err(error) if needs_rollback(path, &error) => {
                let healer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &options)?;
                Self::checked(healer, path, uid, options)
            }
            other => other,
        }
    }

    /// Makes a new store with `fill` as its first content, whole or not at all: it is
    /// built beside its place and renamed into it.
    pub fn create(
        path: &Path,
        uid: &GoalUid,
        options: SqliteOptions,
        fill: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<Self> {
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| Error::from_io(&e, "store folder", folder))?;
        refuse_network(path)?;
        let draft = folder.join(format!(".goal.db.{}.new", std::process::id()));
        remove_draft(&draft);
        let made = Self::build(&draft, uid, &options, fill)
            .and_then(|()| {
                std::fs::hard_link(&draft, path).map_err(|e| Error::from_io(&e, "store", path))
            })
            .and_then(|()| sync_folder(folder));
        remove_draft(&draft);
        made?;
        Self::open(path, uid, options)
    }

    fn build(
        draft: &Path,
        uid: &GoalUid,
        options: &SqliteOptions,
        fill: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        // Made here, because SQLite would not say why it cannot be.
        std::fs::File::create_new(draft).map_err(|e| Error::from_io(&e, "store", draft))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let conn = connect(draft, flags, options)?;
        // The draft is nobody's until it is renamed: no journal and one sync at the end.
        conn.execute_batch(&format!(
            "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={SCHEMA_VERSION}; {SCHEMA_1} {}",
            MIGRATIONS.concat()
        ))
        .map_err(sql_error)?;
        conn.execute(
            "INSERT INTO meta(key, value) VALUES ('goal_uid', ?1), ('counters', '{}')",
            [uid.as_str()],
        )
        .map_err(sql_error)?;
        let mut store = Self {
            conn,
            uid: uid.clone(),
            path: draft.to_path_buf(),
            identity: None,
            options: options.clone(),
            views: RefCell::new(Views::of(draft.to_path_buf())),
            parsed: RefCell::default(),
        };
        let mut transaction = Box::new(store.begin_behind(None)?);
        fill(transaction.as_mut())?;
        transaction.commit()?;
        drop(store);
        std::fs::File::open(draft)
            .and_then(|file| file.sync_all())
            .map_err(|e| Error::from_io(&e, "store", draft))
    }

    fn checked(
        conn: Connection,
        path: &Path,
        uid: &GoalUid,
        options: SqliteOptions,
    ) -> Result<Self> {
        let (application, version): (i64, u32) = conn
            .query_row("SELECT a.application_id, v.user_version FROM pragma_application_id a, pragma_user_version v", [], |r| {
                Ok((r.get(0)?, r.get(1)?))
            })
            .map_err(sql_error)?;
        if application != APPLICATION_ID {
            return Err(Error::new(ErrorCode::StoreUnreadable, "store")
                .message("goal.db is not a LoopX store")
                .detail(path.display()));
        }
        if version > SCHEMA_VERSION {
            return Err(Error::new(ErrorCode::StoreNewer, "store").message(format!(
                "goal.db has schema {version}; this release knows up to {SCHEMA_VERSION}"
            )));
        }
        let stored: String = conn
            .query_row("SELECT value FROM meta WHERE key = 'goal_uid'", [], |r| r.get(0))
            .map_err(sql_error)?;
        if stored != uid.as_str() {
            return Err(Error::new(ErrorCode::StoreForeign, "store").detail(path.display()));
        }
        let identity = Stamp::of(path).map(|stamp| stamp.file());
        Ok(Self {
            conn,
            uid: uid.clone(),
            path: path.to_path_buf(),
            identity,
            options,
            views: RefCell::new(Views::of(path.to_path_buf())),
            parsed: RefCell::default(),
        })
    }

    fn version(&self) -> Result<u32> {
        self.conn.query_row("PRAGMA user_version", [], |r| r.get(0)).map_err(sql_error)
    }

    /// Brings an older store up to `target`, one step a transaction, behind the queue.
    fn migrate(&mut self, steps: &[&str], target: u32) -> Result<()> {
        if self.version()? >= target {
            return Ok(());
        }
        let _turn = self.queue("migrate")?;
        loop {
            // Read again behind the lock: another process may have done it.
            let version = self.version()?;
            if version >= target {
                return Ok(());
            }
            let step = usize::try_from(version)
                .ok()
                .and_then(|v| steps.get(v.checked_sub(1)?))
                .ok_or_else(|| {
                    Error::new(ErrorCode::StoreUnreadable, "store")
                        .message(format!("no migration leads on from schema {version}"))
                })?;
            let next = version + 1;
            self.conn
                .execute_batch(&format!(
                    "BEGIN IMMEDIATE; {step}; PRAGMA user_version={next}; COMMIT"
                ))
                .map_err(|error| {
                    let _ = self.conn.execute_batch("ROLLBACK");
                    sql_error(error)
                })?;
        }
    }

    fn queue(&self, operation: &str) -> Result<FileLock> {
        // Not since when: the options are those of the connection, which may be hours old.
        let note = HolderNote {
            operation: operation.to_owned(),
            acquired_at: None,
            ..self.options.holder.clone()
        };
        FileLock::acquire(&self.path, LockMode::Queued, &note, self.options.deadline)
    }

    fn begin_behind(&mut self, turn: Option<FileLock>) -> Result<write::SqliteTransaction<'_>> {
        self.views.get_mut().let_go();
        write::SqliteTransaction::begin(&mut self.conn, &self.uid, &self.parsed, turn)
    }

    /// Another call takes the store up, which waits as long as that may.
    pub fn lend(&mut self) -> Result<()> {
        wait_as_called(&mut self.conn, self.options.deadline)
    }

    /// Whether the file that is open still lies at its path. Where the system cannot tell,
    /// the answer is no.
    pub fn is_current(&self) -> bool {
        self.identity.is_some() && self.identity == self.views.borrow_mut().take_up()
    }

    fn db(&self) -> Db<'_> {
        Db { conn: &self.conn, uid: &self.uid, views: Some(&self.views), parsed: &self.parsed }
    }
}

fn require_file(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() > 0 => Ok(()),
        Ok(_) => Err(Error::new(ErrorCode::StoreUnreadable, "store")
            .message("goal.db is empty or not a file")
            .detail(path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::new(ErrorCode::StoreUnreadable, "store")
                .message("goal.db is missing though the registry says that the goal has one")
                .detail(path.display()))
        }
        Err(error) => Err(Error::new(ErrorCode::StoreUnreadable, "store")
            .message("goal.db cannot be read")
            .detail(format!("{}: {error}", path.display()))),
    }
}

/// Makes the last commit of a store survive a power cut: what its writer was perhaps told that
/// it could not. The commit's instant is the emptying of the journal. The store's own file is
/// not touched, since closing it would drop the locks of this process on it.
pub fn sync_committed(path: &Path) -> Result<()> {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    match std::fs::File::open(&journal) {
        Ok(file) => file
            .sync_all()
            .map_err(|e| Error::from_io(&e, "store", Path::new(&journal)).after_the_change())?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => {
            return Err(Error::from_io(&error, "store", Path::new(&journal)).after_the_change());
        }
    }
    crate::file::sync_replaced(path)
}

fn sync_folder(folder: &Path) -> Result<()> {
    std::fs::File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(|e| Error::from_io(&e, "store folder", folder))
}

fn remove_draft(draft: &Path) {
    let mut journal = draft.as_os_str().to_owned();
    journal.push("-journal");
    // Best effort: a leftover draft is nobody's store and is removed by the next one.
    let _ = std::fs::remove_file(draft);
    let _ = std::fs::remove_file(journal);
}

/// A killed writer's journal beside the store, and a reader that was refused for it.
fn needs_rollback(path: &Path, error: &Error) -> bool {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    matches!(error.code, ErrorCode::WriteDenied | ErrorCode::StoreUnreadable | ErrorCode::IoFailed)
        && std::fs::metadata(journal).is_ok_and(|m| m.len() > 0)
}

const LONGEST_WAIT: Duration = Duration::from_millis(i32::MAX as u64);

fn connect(path: &Path, flags: OpenFlags, options: &SqliteOptions) -> Result<Connection> {
    let mut conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(sql_error)?;
    wait_as_called(&mut conn, options.deadline)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // A read-only connection cannot set a journal mode and does not need one. Nor does it look at
    // the file yet: whoever uses it finds out in one place that it is locked or cannot be read.
    conn.execute_batch(match flags.contains(OpenFlags::SQLITE_OPEN_READ_ONLY) {
        true => "PRAGMA trusted_schema=OFF",
        false => "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL; PRAGMA cache_size=-4096; PRAGMA trusted_schema=OFF",
    })
    .map_err(sql_error)?;
    Ok(conn)
}

/// Lets the connection wait for locks as the call does that is to use it; outside of calls,
/// each time for as long as `deadline`.
fn wait_as_called(conn: &mut Connection, deadline: Duration) -> Result<()> {
    match patience::is_counted() {
        true => conn.busy_handler(Some(patience::again)),
        // SQLite takes milliseconds as an i32 and no more of them.
        false => conn.busy_timeout(deadline.min(LONGEST_WAIT)),
    }
    .map_err(sql_error)
}

forward_reads!(SqliteStore, db());

impl Store for SqliteStore {
    fn begin<'a>(&'a mut self, operation: &str) -> Result<Box<dyn Transaction + 'a>> {
        // A restore may have put another file in place while this writer waited.
        for _ in 0..MAX_REOPENED {
            let turn = self.queue(operation)?;
            if self.identity.is_none() || self.is_current() {
                return Ok(Box::new(self.begin_behind(Some(turn))?));
            }
            // Opening may queue to migrate, so this turn ends first.
            drop(turn);
            *self = Self::open(&self.path, &self.uid, self.options.clone())?;
        }
        Err(Error::new(ErrorCode::StoreBusy, "store")
            .message("the store is replaced again and again"))
    }

    fn begin_again<'a>(&'a mut self, turn: WritersTurn) -> Result<Box<dyn Transaction + 'a>> {
        let lock = turn.into_lock();
        Ok(Box::new(self.begin_behind(lock)?))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn options() -> SqliteOptions {
        SqliteOptions {
            deadline: Duration::from_secs(5),
            holder: HolderNote {
                operation: "test".into(),
                agent: None,
                pid: std::process::id(),
                acquired_at: None,
            },
        }
    }

    fn fresh(folder: &Path) -> (PathBuf, GoalUid) {
        let path = folder.join("goal.db");
        let uid = GoalUid::trusted("u1");
        SqliteStore::create(&path, &uid, options(), &mut |_| Ok(())).unwrap();
        (path, uid)
    }

    #[test]
    fn a_newer_schema_is_refused_by_name_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (path, uid) = fresh(folder.path());
        Connection::open(&path).unwrap().execute_batch("PRAGMA user_version=7").unwrap();
        let before = std::fs::read(&path).unwrap();
        for error in [
            SqliteStore::open(&path, &uid, options()).unwrap_err(),
            SqliteStore::open_read_only(&path, &uid, options()).unwrap_err(),
        ] {
            assert_eq!(error.code, ErrorCode::StoreNewer);
            assert!(error.text().contains("schema 7"), "{}", error.text());
        }
        assert_eq!(before, std::fs::read(&path).unwrap());
    }

    #[test]
    fn a_store_of_schema_1_is_read_as_it_is_and_brought_up_by_the_next_writer() {
        let folder = tempfile::tempdir().unwrap();
        let (path, uid) = fresh(folder.path());
        Connection::open(&path)
            .unwrap()
            .execute_batch("DROP TABLE host_rows; DROP TABLE schedules; PRAGMA user_version=1")
            .unwrap();
        let old = SqliteStore::open_read_only(&path, &uid, options()).unwrap();
        assert_eq!(old.host_row("loop", "k").unwrap(), None);
        assert_eq!(old.host_rows("loop").unwrap(), Vec::new());
        assert!(old.records().unwrap().host_rows.is_empty());
        assert!(old.records().unwrap().schedules.is_empty());
        old.dump(&mut |_, _| Ok(())).unwrap();
        let mut store = SqliteStore::open(&path, &uid, options()).unwrap();
        assert_eq!(store.version().unwrap(), SCHEMA_VERSION);
        assert_eq!(store.host_rows("loop").unwrap(), Vec::new());
        let state = crate::model::SchedulerState {
            agent: AgentId::trusted("agent-a"),
            surface: "codex_app".into(),
            state_key: "k".into(),
            reset_token: "t".into(),
            identity_signature: "i".into(),
            progression_index: 1,
            progression_minutes: vec![3, 6],
            last_applied_rrule: String::new(),
            updated_at: crate::model::Instant::default(),
            source: "test".into(),
            host_update_failures: Vec::new(),
        };
        let mut tx = store.begin("test").unwrap();
        tx.apply(&[super::super::Change::PutSchedule(state.clone())]).unwrap();
        tx.commit().unwrap();
        assert_eq!(store.records().unwrap().schedules, [state]);
    }

    #[test]
    fn migrations_run_once_in_order_and_a_failing_one_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, uid) = fresh(folder.path());
        let mut store = SqliteStore::open(&path, &uid, options()).unwrap();
        // Steps of releases to come, after those that this one has.
        let after = |steps: &[&'static str]| -> Vec<&'static str> {
            MIGRATIONS.iter().map(|_| "").chain(steps.iter().copied()).collect()
        };
        let steps = after(&["CREATE TABLE two(x)", "INSERT INTO two VALUES (3)"]);
        store.migrate(&steps, SCHEMA_VERSION + 2).unwrap();
        store.migrate(&steps, SCHEMA_VERSION + 2).unwrap();
        let rows: i64 = store.conn.query_row("SELECT count(*) FROM two", [], |r| r.get(0)).unwrap();
        assert_eq!((rows, store.version().unwrap()), (1, SCHEMA_VERSION + 2));
        let bad = after(&["", "", "CREATE TABLE three(x); INSERT INTO nowhere VALUES (1)"]);
        assert!(store.migrate(&bad, SCHEMA_VERSION + 3).is_err());
        assert_eq!(store.version().unwrap(), SCHEMA_VERSION + 2);
        assert!(
            store.conn.query_row("SELECT count(*) FROM three", [], |r| r.get::<_, i64>(0)).is_err()
        );
    }

    #[test]
    fn a_missing_an_empty_a_foreign_and_a_garbage_store_are_refused_and_never_recreated() {
        let folder = tempfile::tempdir().unwrap();
        let (path, uid) = fresh(folder.path());
        let other = SqliteStore::open(&path, &GoalUid::trusted("u2"), options()).unwrap_err();
        assert_eq!(other.code, ErrorCode::StoreForeign);
        for content in [Some(&b""[..]), Some(&[7_u8; 4096][..]), None] {
            match content {
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            for result in [
                SqliteStore::open(&path, &uid, options()),
                SqliteStore::open_read_only(&path, &uid, options()),
            ] {
                assert_eq!(result.unwrap_err().code, ErrorCode::StoreUnreadable);
            }
            assert_eq!(path.exists(), content.is_some());
        }
    }
}
