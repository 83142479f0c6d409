//! A view of the SQLite store: it costs what is open. Special todos are read whole, plain ones
//! one per shape through an index; history is never scanned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::parsed::{Parsed, Shown};
use super::read::{Db, parse, unsigned};
use super::sql_error;
use crate::admission::view::{
    Dangling, Target, View, ViewQuery, completed_by, is_live_turn, named_todos, sort_dangling,
};
use crate::error::Result;
use crate::model::{Instant, ResumeCondition, Signal, Todo, TodoId, Turn};
use crate::quota::window::leaves_at;
use crate::quota::{WindowUse, window_start};
use crate::store::Read;

/// Todos, and where those stand that they wait for.
type TodosAndTargets = (Arc<Vec<Todo>>, BTreeMap<TodoId, Target>);

impl Db<'_> {
    fn target(&self, id: &TodoId) -> Result<Target> {
        // An open one is not read.
        let sql = "SELECT CASE WHEN lane = 2 THEN doc END FROM todos WHERE id = ?1";
        Ok(match self.one(sql, [id.as_str()], |row| row.get::<_, Option<String>>(0))? {
            None => Target::Missing,
            Some(None) => Target::Open,
            Some(Some(doc)) if parse::<Todo>(&doc)?.superseded_by.is_some() => Target::Superseded,
            Some(Some(_)) => Target::Done,
        })
    }

    /// Special todos, named plain ones, and of every shape the first that is not named.
    fn representative(
        &self,
        special: Vec<Todo>,
        named: &BTreeSet<TodoId>,
        parsed: &mut Parsed,
    ) -> Result<Vec<Todo>> {
        let mut todos = special;
        for id in named {
            // Special ones are there already; closed ones do not matter.
            let sql = "SELECT doc FROM todos WHERE id = ?1 AND lane = 0";
            todos.extend(self.docs_by(sql, [id.as_str()], |doc| parsed.todo(doc))?);
        }
        if named.is_empty() {
            todos.extend(self.docs_by(
                "SELECT (SELECT doc FROM todos WHERE lane = 0 AND shape = s.id ORDER BY rank, ord, id LIMIT 1) FROM shapes s WHERE s.open > 0",
                [],
                |doc| parsed.todo(doc),
            )?);
        } else {
            let mut shapes = self
                .conn
                .prepare_cached("SELECT id FROM shapes WHERE open > 0")
                .map_err(sql_error)?;
            let mut first = self
                .conn
                .prepare_cached("SELECT id, doc FROM todos WHERE lane = 0 AND shape = ?1 ORDER BY rank, ord, id")
                .map_err(sql_error)?;
            let mut rows = shapes.query([]).map_err(sql_error)?;
            while let Some(row) = rows.next().map_err(sql_error)? {
                let shape: i64 = row.get(0).map_err(sql_error)?;
                let mut members = first.query([shape]).map_err(sql_error)?;
                while let Some(member) = members.next().map_err(sql_error)? {
                    let id: String = member.get(0).map_err(sql_error)?;
                    if !named.contains(&TodoId::trusted(id)) {
                        let doc: String = member.get(1).map_err(sql_error)?;
                        todos.push(parsed.todo(&doc)?);
                        break;
                    }
                }
            }
        }
        todos.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
        Ok(todos)
    }

    /// Where the todos stand that conditions of `todos` name.
    fn targets(&self, todos: &[Todo]) -> Result<BTreeMap<TodoId, Target>> {
        let mut targets = BTreeMap::new();
        for todo in todos {
            if let Some(ResumeCondition::TodoDone(id)) = &todo.resume_when
                && !targets.contains_key(id)
            {
                targets.insert(id.clone(), self.target(id)?);
            }
        }
        Ok(targets)
    }

    /// The todos of a view that is not complete, and where those stand that they wait for.
    /// `named` says which plain ones are shown by themselves, from those that are not plain.
    fn shown(&self, named: impl Fn(&[&Todo]) -> BTreeSet<TodoId>) -> Result<TodosAndTargets> {
        let parsed = &mut *self.parsed.borrow_mut();
        parsed.begin();
        let written = self.written()?;
        if let Some(shown) = parsed.shown(written)
            && shown.named == named(&shown.todos.iter().collect::<Vec<_>>())
        {
            return Ok((Arc::clone(&shown.todos), shown.targets.clone()));
        }
        let sql = "SELECT doc FROM todos WHERE lane = 1 ORDER BY ord, id";
        let special: Vec<Todo> = self.docs_by(sql, [], |doc| parsed.todo(doc))?;
        let named = named(&special.iter().collect::<Vec<_>>());
        let todos = Arc::new(self.representative(special, &named, parsed)?);
        let targets = self.targets(&todos)?;
        let shown = Shown { named, todos, targets };
        parsed.show(written, &shown);
        Ok((shown.todos, shown.targets))
    }

    fn window(&self, query: &ViewQuery, turns: &[Turn]) -> Result<WindowUse> {
        let start = window_start(&query.quota, query.now).micros();
        let spent: i64 = self
            .one("SELECT coalesce(sum(live), 0) FROM spends WHERE at >= ?1", [start], |r| r.get(0))?
            .unwrap_or(0);
        let reserved = turns.iter().fold(0_u64, |sum, t| sum.saturating_add(t.reserved));
        let mut figures = WindowUse { spent: unsigned(spent), reserved, next_free_at: None };
        if query.quota.allowed_slots == 0 || figures.has_free_slot(&query.quota) {
            return Ok(figures);
        }
        let mut held: Vec<(Instant, u64)> = turns
            .iter()
            .filter(|t| t.reserved > 0)
            .filter_map(|t| Some((t.expires_at?, t.reserved)))
            .collect();
        held.sort_by_key(|(at, _)| *at);
        let mut held = held.into_iter().peekable();
        let mut statement = self
            .conn
            .prepare_cached("SELECT at, live FROM spends WHERE at >= ?1 AND live > 0 ORDER BY at")
            .map_err(sql_error)?;
        let mut rows = statement.query([start]).map_err(sql_error)?;
        let mut failure = None;
        let mut next_spend: Option<(Instant, u64)> = None;
        let mut spends_left = true;
        // Spends in the order in which they leave, merged with reservations that end.
        let releases = std::iter::from_fn(|| {
            if next_spend.is_none() && spends_left {
                match rows.next() {
                    Ok(Some(row)) => match (row.get::<_, i64>(0), row.get::<_, i64>(1)) {
                        (Ok(at), Ok(live)) => {
                            next_spend = Some((
                                leaves_at(&query.quota, Instant::from_micros(at)),
                                unsigned(live),
                            ));
                        }
                        (Err(e), _) | (_, Err(e)) => failure = Some(e),
                    },
                    Ok(None) => spends_left = false,
                    Err(e) => failure = Some(e),
                }
            }
            match (next_spend, held.peek()) {
                (Some(spend), Some(turn)) if turn.0 < spend.0 => held.next(),
                (Some(spend), _) => {
                    next_spend = None;
                    Some(spend)
                }
                (None, _) => held.next(),
            }
        });
        figures = WindowUse::from_parts(&query.quota, figures.spent, reserved, releases);
        match failure {
            Some(error) => Err(sql_error(error)),
            None => Ok(figures),
        }
    }

    pub(super) fn read_view(&self, query: &ViewQuery) -> Result<View> {
        let now = query.now.micros();
        let leases = self.docs(
            "SELECT doc FROM leases WHERE live = 1 AND expires_at > ?1 ORDER BY todo",
            [now],
        )?;
        let mut turns: Vec<Turn> = self
            .docs("SELECT doc FROM turns WHERE live = 1 AND expires_at > ?1 ORDER BY id", [now])?;
        turns.retain(|t| is_live_turn(t, query.now));
        let lapsed: Vec<Turn> = self
            .docs("SELECT doc FROM turns WHERE live = 1 AND expires_at <= ?1 ORDER BY id", [now])?;
        let stalls = self.docs("SELECT doc FROM stalls ORDER BY todo, agent", [])?;
        let attempts: Vec<crate::model::Attempt> =
            self.docs("SELECT doc FROM attempts ORDER BY agent, rule, cause", [])?;
        let (todos, targets) = if query.complete {
            let todos: Vec<Todo> =
                self.docs("SELECT doc FROM todos WHERE lane < 2 ORDER BY ord, id", [])?;
            let targets = self.targets(&todos)?;
            (Arc::new(todos), targets)
        } else {
            self.shown(|gates| {
                named_todos(gates, &leases, &[&turns[..], &lapsed[..]].concat(), &stalls, &attempts)
            })?
        };
        let signals: BTreeSet<Signal> =
            if todos.iter().any(|t| matches!(t.resume_when, Some(ResumeCondition::PrMerged(_)))) {
                self.signals()?
            } else {
                BTreeSet::new()
            };
        let mut dangling: Vec<Dangling> = self
            .docs::<Todo>("SELECT doc FROM todos WHERE dangling = 1", [])?
            .iter()
            .map(|t| Dangling {
                todo_id: t.todo_id.clone(),
                owner: completed_by(t),
                completed_at: t.completed_at,
            })
            .collect();
        sort_dangling(&mut dangling);
        let mut grants: Vec<crate::model::Grant> =
            self.docs("SELECT doc FROM grants WHERE used = 0 ORDER BY id", [])?;
        grants.retain(|g| g.is_live(query.now));
        Ok(View {
            unreadable: false,
            goal_uid: Some(self.uid.clone()),
            commit: self.last_commit()?,
            todos,
            counters: self.counters()?,
            targets,
            signals,
            window: self.window(query, &turns)?,
            leases,
            turns,
            lapsed,
            handoff: self.handoff()?,
            attempts,
            stalls,
            grants,
            feedback: self.open_feedback()?,
            seen: self.docs("SELECT doc FROM seen ORDER BY agent", [])?,
            schedules: self.schedules()?,
            dangling,
            findings: self.docs("SELECT doc FROM findings ORDER BY code, about", [])?,
            health: Vec::new(),
        })
    }

    /// When the oldest live spend since `start` was made.
    pub(super) fn oldest_spend(&self, start: Instant) -> Result<Option<Instant>> {
        let sql = "SELECT min(at) FROM spends WHERE at >= ?1";
        let at = self.one(sql, [start.micros()], |row| row.get::<_, Option<i64>>(0))?;
        Ok(at.flatten().map(Instant::from_micros))
    }

    /// Unanswered feedback.
    pub(super) fn open_feedback(&self) -> Result<Vec<crate::model::Feedback>> {
        self.docs("SELECT doc FROM feedback WHERE answered = 0 ORDER BY id", [])
    }

    pub(super) fn signals(&self) -> Result<BTreeSet<Signal>> {
        let mut statement =
            self.conn.prepare_cached("SELECT kind, reference FROM signals").map_err(sql_error)?;
        let rows = statement
            .query_map([], |r| Ok(Signal { kind: r.get(0)?, reference: r.get(1)? }))
            .map_err(sql_error)?;
        rows.collect::<rusqlite::Result<_>>().map_err(sql_error)
    }
}
