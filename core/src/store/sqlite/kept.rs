//! What a connection read last, for as long as it is what reading again would find: a
//! long-lived host asks about the same state many times.
//!
//! Every commit writes to the store's file. While the file has the stamp that it had before
//! it was read, a question costs no lock and no statement; else SQLite is asked whether
//! somebody has committed.

use std::path::PathBuf;

use super::parsed::Written;
use super::read::Db;
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
    state: Written,
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
    /// The file's stamp as the connection was taken up: what is asked first is asked of it.
    at_hand: AtHand,
}

/// A stamp that each question uses once.
#[derive(Debug, Default)]
struct AtHand {
    view: Option<Stamp>,
    legacy: Option<Stamp>,
}

impl Views {
    /// Of a connection to the store at `path`; nothing is kept yet.
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path, last: None, legacy: None, asked: false, at_hand: AtHand::default() }
    }

    /// Which file lies at the path. Its stamp serves what is asked next.
    pub(super) fn take_up(&mut self) -> Option<(u64, u64)> {
        let stamp = Stamp::of(&self.path);
        self.at_hand = AtHand { view: stamp.clone(), legacy: stamp.clone() };
        stamp.map(|stamp| stamp.file())
    }

    /// What is asked from now on is asked of the file as it will be: it is about to be written.
    pub(super) fn let_go(&mut self) {
        self.at_hand = AtHand::default();
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
        let stamp = self.at_hand.legacy.take().or_else(|| Stamp::of(&self.path));
        if let Some((kept, witness)) = &self.legacy
            && stamp.as_ref() == Some(kept)
        {
            return Ok(witness.clone());
        }
        let stamp = self.settled(stamp.as_ref());
        let witness = db.read_legacy()?;
        self.legacy = stamp.map(|stamp| (stamp, witness.clone()));
        Ok(witness)
    }

    pub(super) fn view(&mut self, db: Db<'_>, query: &ViewQuery) -> Result<View> {
        if !std::mem::replace(&mut self.asked, true) {
            return db.snapshot(|| db.read_view(query));
        }
        // Taken before anything is read, so that what is committed meanwhile changes it.
        let stamp = self.at_hand.view.take().or_else(|| Stamp::of(&self.path));
        if let Some(kept) = self.last.as_ref().filter(|kept| kept.holds(query)) {
            if kept.stamp.is_some() && kept.stamp == stamp {
                return Ok(kept.view.clone());
            }
            // Asked before SQLite is: afterwards the tick of a write may be over.
            let stamp = self.settled(stamp.as_ref());
            if kept.state == db.written()? {
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
            Ok(Kept { view, query: query.clone(), state: db.written()?, stamp, ends, oldest })
        })?;
        let view = kept.view.clone();
        self.last = Some(kept);
        Ok(view)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use rusqlite::Connection;

    use crate::admission::view::ViewQuery;
    use crate::error::ErrorCode;
    use crate::file::holder::HolderNote;
    use crate::model::{CommitRecord, EffectId, GoalUid, Instant, QuotaPolicy};
    use crate::store::sqlite::SqliteOptions;
    use crate::store::{Read as _, SqliteStore, Store as _};

    #[test]
    fn a_settled_file_is_not_asked_again_and_every_commit_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("goal.db");
        let uid = GoalUid::trusted("u1");
        let holder = HolderNote {
            operation: "test".into(),
            agent: None,
            pid: std::process::id(),
            acquired_at: None,
        };
        let options = SqliteOptions { deadline: Duration::from_millis(20), holder };
        let mut writer =
            SqliteStore::create(&path, &uid, options.clone(), &mut |_| Ok(())).unwrap();
        let reader = SqliteStore::open_read_only(&path, &uid, options).unwrap();
        let query =
            ViewQuery { now: Instant::default(), quota: QuotaPolicy::default(), complete: false };
        let look = || reader.view(&query).map(|view| view.commit);
        let locker = Connection::open(&path).unwrap();
        let locked = |work: &dyn Fn()| {
            locker.execute_batch("BEGIN EXCLUSIVE").unwrap();
            work();
            locker.execute_batch("ROLLBACK").unwrap();
        };
        for _ in 0..3 {
            assert_eq!(look().unwrap(), 0);
        }
        // The file was written a moment ago: only SQLite knows whether it is the same.
        locked(&|| assert_eq!(look().unwrap_err().code, ErrorCode::StoreBusy));
        std::thread::sleep(Duration::from_millis(2_100));
        assert_eq!((look().unwrap(), reader.legacy().unwrap()), (0, None));
        locked(&|| assert_eq!((look().unwrap(), reader.legacy().unwrap()), (0, None)));
        for n in 1..=3 {
            let mut tx = writer.begin("test").unwrap();
            tx.record(&CommitRecord {
                n,
                effect_id: EffectId::trusted(format!("e{n}")),
                verb: "test".into(),
                agent: None,
                at: Instant::default(),
                fixed_clock: false,
                body_digest: String::new(),
                receipt: serde_json::Value::Null,
            })
            .unwrap();
            drop(tx.commit().unwrap());
            assert_eq!(look().unwrap(), n);
        }
    }
}
