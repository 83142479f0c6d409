//! The last view of a connection, for as long as it is what reading again would find: a
//! long-lived host asks about the same state many times.

use super::read::Db;
use super::sql_error;
use crate::admission::view::{View, ViewQuery};
use crate::error::Result;
use crate::model::{GrantLife, Instant};
use crate::quota::window_start;

/// A view and what it depends on.
#[derive(Debug)]
struct Kept {
    view: View,
    query: ViewQuery,
    state: (i64, u64),
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
#[derive(Debug, Default)]
pub(super) struct Views {
    last: Option<Kept>,
    /// A process that asks once keeps nothing.
    asked: bool,
}

impl Views {
    pub(super) fn view(&mut self, db: Db<'_>, query: &ViewQuery) -> Result<View> {
        if !std::mem::replace(&mut self.asked, true) {
            return db.snapshot(|| db.read_view(query));
        }
        if let Some(kept) = self.last.as_ref().filter(|kept| kept.holds(query))
            && kept.state == state(db)?
        {
            return Ok(kept.view.clone());
        }
        self.last = None;
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
            Ok(Kept { view, query: query.clone(), state: state(db)?, ends, oldest })
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
