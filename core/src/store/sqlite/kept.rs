//! What a connection read last, for as long as it is what reading again would find: a
//! long-lived host asks about the same state many times.
//!
//! Every commit writes to the store's file. While the file has the stamp that it had before
//! it was read, a question costs no lock and no statement; else SQLite is asked whether
//! somebody has committed.

use std::path::PathBuf;

use super::read::Db;
use super::sql_error;
use crate::admission::view::{View, ViewQuery};
use crate::error::Result;
use crate::file::Stamp;
use crate::model::{GrantLife, Instant, LegacyWitness};
use crate::quota::window_start;

/// A view and what it depends on.
#[derive(Debug)]
struct Kept {
    view: View,
    query: ViewQuery,
    state: (i64, u64),
    /// The file's stamp before it was read; `None` where a write may leave it as it is.
    stamp: Option<Stamp>,
    /// The earliest instant after which a lease, a turn or a grant has ended.
    ends: Option<Instant>,
    /// The oldest spend inside the window.
    oldest: Option<Instant>,
}

impl Kept {
    /// Whether time alone has changed nothing: no instant that it was read by has passed.
    fn holds(&self, query: &ViewQuery) -> bool {
        let ViewQuery { now, quota, complete } = query;
        *complete == self.query.complete
            && *quota == self.query.quota
            && *now >= self.query.now
            && self.ends.is_none_or(|end| *now < end)
            && self.oldest.is_none_or(|at| at >= window_start(quota, *now))
    }
}

/// The views of one connection.
#[derive(Debug)]
pub(super) struct Views {
    path: PathBuf,
    last: Option<Kept>,
    legacy: Option<(Stamp, Option<LegacyWitness>)>,
    /// A process that asks once keeps nothing.
    asked: bool,
}

impl Views {
    /// Of a connection to the store at `path`; nothing is kept yet.
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path, last: None, legacy: None, asked: false }
    }

    /// The stamp of the file, if every write from now on gives it another.
    fn settled(&self, stamp: Option<&Stamp>) -> Option<Stamp> {
        stamp.filter(|stamp| stamp.is_settled(&self.path)).cloned()
    }

    /// The witness of the earlier tool's ledger.
    pub(super) fn legacy(&mut self, db: Db<'_>) -> Result<Option<LegacyWitness>> {
        if !self.asked {
            return db.read_legacy();
        }
        let stamp = Stamp::of(&self.path);
        if let Some((kept, witness)) = &self.legacy
            && stamp.as_ref() == Some(kept)
        {
            return Ok(witness.clone());
        }
        let witness = db.read_legacy()?;
        self.legacy = self.settled(stamp.as_ref()).map(|stamp| (stamp, witness.clone()));
        Ok(witness)
    }

    pub(super) fn view(&mut self, db: Db<'_>, query: &ViewQuery) -> Result<View> {
        if !std::mem::replace(&mut self.asked, true) {
            return db.snapshot(|| db.read_view(query));
        }
        // Taken before anything is read, so that what is committed meanwhile changes it.
        let stamp = Stamp::of(&self.path);
        if let Some(kept) = self.last.as_ref().filter(|kept| kept.holds(query)) {
            if kept.stamp.is_some() && kept.stamp == stamp {
                return Ok(kept.view.clone());
            }
            if kept.state == state(db)? {
                let stamp = self.settled(stamp.as_ref());
                let view = kept.view.clone();
                self.last.iter_mut().for_each(|kept| kept.stamp.clone_from(&stamp));
                return Ok(view);
            }
        }
        self.last = None;
        let stamp = self.settled(stamp.as_ref());
        let kept = db.snapshot(|| {
            let view = db.read_view(query)?;
            let grants = view.grants.iter().filter_map(|grant| match grant.life {
                GrantLife::Until(end) => Some(end),
                GrantLife::Once | GrantLife::Standing => None,
            });
            let leases = view.leases.iter().map(|lease| lease.expires_at);
            let turns = view.turns.iter().filter_map(|turn| turn.expires_at);
            let ends = leases.chain(turns).chain(grants).min();
            let oldest = db.oldest_spend(window_start(&query.quota, query.now))?;
            Ok(Kept { view, query: query.clone(), state: state(db)?, stamp, ends, oldest })
        })?;
        let view = kept.view.clone();
        self.last = Some(kept);
        Ok(view)
    }
}

/// What changes with every commit: the first number with one of another connection, the
/// second with a row of this one.
fn state(db: Db<'_>) -> Result<(i64, u64)> {
    let mut statement = db.conn.prepare_cached("PRAGMA data_version").map_err(sql_error)?;
    let version = statement.query_row([], |row| row.get(0)).map_err(sql_error)?;
    Ok((version, db.conn.total_changes()))
}
