//! Open stores that a long-lived kernel keeps: a lent one goes back when it is dropped.
//! A store whose file was replaced, or that another process opened before a fork, is
//! not used again.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::admission::view::{GoalRecords, View, ViewQuery};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{
    AgentId, CommitRecord, Counters, EffectId, GoalUid, JournalRow, LegacyWitness, Outcome, Role,
    Todo, TodoId, Turn, TurnId,
};
use crate::store::forward::forward_reads;
use crate::store::sqlite::SqliteOptions;
use crate::store::{Read, SqliteStore, TodoFilter};

/// Most stores that are kept open.
const KEPT: usize = 8;

/// How a store is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    access: Access,
    process: u32,
    store: SqliteStore,
}

/// The stores that are open and not in use.
#[derive(Debug, Default)]
pub(super) struct Stores(Mutex<Vec<Kept>>);

/// A store in use.
#[derive(Debug)]
pub(super) struct Lent<'s> {
    home: &'s Stores,
    path: PathBuf,
    access: Access,
    process: u32,
    // `None` only while `drop` moves it back.
    store: Option<SqliteStore>,
}

impl Stores {
    /// A store to read.
    pub fn reader(
        &self,
        path: &Path,
        uid: &GoalUid,
        options: impl FnOnce() -> SqliteOptions,
    ) -> Result<Lent<'_>> {
        self.lend(path, uid, Access::Read, || SqliteStore::open_read_only(path, uid, options()))
    }

    /// A store to write.
    pub fn writer(&self, path: &Path, uid: &GoalUid, options: SqliteOptions) -> Result<Lent<'_>> {
        self.lend(path, uid, Access::Write, || SqliteStore::open(path, uid, options))
    }

    fn lend(
        &self,
        path: &Path,
        uid: &GoalUid,
        access: Access,
        open: impl FnOnce() -> Result<SqliteStore>,
    ) -> Result<Lent<'_>> {
        let process = std::process::id();
        let found = {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let at = kept.iter().position(|k| k.path == path && k.access == access);
            at.map(|at| kept.swap_remove(at))
        };
        let store = match found {
            Some(k) if k.process != process => {
                // Closing it would drop the locks that the parent holds on the file.
                std::mem::forget(k);
                open()?
            }
            Some(mut k) if k.store.goal_uid()? == *uid && k.store.is_current() => {
                k.store.lend()?;
                k.store
            }
            _ => open()?,
        };
        Ok(Lent { home: self, path: path.to_path_buf(), access, process, store: Some(store) })
    }
}

impl Lent<'_> {
    fn inner(&self) -> Result<&SqliteStore> {
        self.store.as_ref().ok_or_else(gone)
    }

    /// The store, to begin a write.
    pub fn store(&mut self) -> Result<&mut SqliteStore> {
        self.store.as_mut().ok_or_else(gone)
    }
}

/// A lent store is there until it is dropped, so this is never seen.
fn gone() -> Error {
    Error::new(ErrorCode::Internal, "store").message("a store was used after it was given back")
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let Some(store) = self.store.take() else { return };
        let mut kept = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT && !std::thread::panicking() {
            kept.push(Kept {
                path: std::mem::take(&mut self.path),
                access: self.access,
                process: self.process,
                store,
            });
        }
    }
}

forward_reads!(Lent<'_>, inner()?);
