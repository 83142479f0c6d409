//! What one decision may look at: the open work of a goal and the records beside it.
//!
//! A view is either complete (every open todo) or representative: all special todos,
//! every plain todo that something names individually, and of each shape of plain
//! todos the first in (priority, position). Both decide alike, because plain todos of
//! one shape share every hold and selection takes the first; a property test holds
//! the two equal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{
    AgentId, AgentSeen, Attempt, Counters, Feedback, Finding, GoalUid, Grant, HandoffMode, HostRow,
    Instant, Lane, Lease, Outcome, QuotaPolicy, ResumeCondition, Role, SchedulerState, Signal,
    Spend, Stall, TaskClass, Todo, TodoId, Turn, TurnState,
};
use crate::quota::WindowUse;

/// Where the todo that a condition names stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Not done yet.
    Open,
    /// Done, not replaced.
    Done,
    /// Replaced by another; it will never be done.
    Superseded,
    /// Not in the goal.
    Missing,
}

/// A completed todo that nothing has followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dangling {
    /// Which.
    pub todo_id: TodoId,
    /// The agent whose commit completed it; imported ones: who had claimed it.
    pub owner: Option<AgentId>,
    /// When.
    pub completed_at: Option<Instant>,
}

/// What a view is asked for.
#[derive(Clone, Debug)]
pub struct ViewQuery {
    /// The instant at which leases, reservations and the window are read.
    pub now: Instant,
    /// Window.
    pub quota: QuotaPolicy,
    /// Every open todo instead of the representative ones.
    pub complete: bool,
}

/// Everything a decision reads from a goal's store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The records could not be read: nothing here is known.
    pub unreadable: bool,
    /// Identity of the goal; `None` while it is not imported.
    pub goal_uid: Option<GoalUid>,
    /// Number of the last commit; 0 before the first.
    pub commit: u64,
    /// Open todos, complete or representative, in (position, id) order.
    pub todos: Arc<Vec<Todo>>,
    /// Totals over all todos.
    pub counters: Counters,
    /// The todos that conditions in `todos` name.
    pub targets: BTreeMap<TodoId, Target>,
    /// Outside facts that conditions may wait for.
    pub signals: BTreeSet<Signal>,
    /// Leases that hold now.
    pub leases: Vec<Lease>,
    /// Turns whose reservation holds now.
    pub turns: Vec<Turn>,
    /// Admitted turns whose reservation has ended or whose holder has died, unsettled and
    /// not yet swept: they count as failed.
    pub lapsed: Vec<Turn>,
    /// How work is handed over.
    pub handoff: Option<HandoffMode>,
    /// Attempts whose cause still stands.
    pub attempts: Vec<Attempt>,
    /// Fruitless settles in a row.
    pub stalls: Vec<Stall>,
    /// Approved scopes that are not used up.
    pub grants: Vec<Grant>,
    /// Feedback that nothing has followed from.
    pub feedback: Vec<Feedback>,
    /// Agents and when they were last seen.
    pub seen: Vec<AgentSeen>,
    /// What app hosts said about their schedules, by agent, surface and key.
    pub schedules: Vec<SchedulerState>,
    /// Completed todos that nothing has followed, latest first.
    pub dangling: Vec<Dangling>,
    /// The window.
    pub window: WindowUse,
    /// What is not as it should be and blocks nothing.
    pub findings: Vec<Finding>,
    /// What makes the goal unhealthy (rule 6), each with an error code's text.
    pub health: Vec<Finding>,
}

/// All records of a goal: what the memory store holds, what an earlier project is
/// read into, and what an edited state file is adopted onto.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoalRecords {
    /// Identity; `None` while it is not imported.
    pub goal_uid: Option<GoalUid>,
    /// Number of the last commit.
    pub commit: u64,
    /// Every todo, done ones included.
    pub todos: BTreeMap<TodoId, Todo>,
    /// Every spend.
    pub spends: Vec<Spend>,
    /// Every refresh-state.
    pub outcomes: Vec<Outcome>,
    /// Outside facts.
    pub signals: BTreeSet<Signal>,
    /// Every lease, released ones included.
    pub leases: BTreeMap<TodoId, Lease>,
    /// Every turn.
    pub turns: BTreeMap<String, Turn>,
    /// How work is handed over; `None` is legacy.
    pub handoff: Option<HandoffMode>,
    /// Attempts by digest and agent.
    pub attempts: Vec<Attempt>,
    /// Stalls.
    pub stalls: Vec<Stall>,
    /// Every grant.
    pub grants: Vec<Grant>,
    /// All feedback.
    pub feedback: Vec<Feedback>,
    /// Last seen.
    pub seen: BTreeMap<AgentId, AgentSeen>,
    /// What hosts keep, by kind and key.
    pub host_rows: BTreeMap<(String, String), HostRow>,
    /// What app hosts said about their schedules.
    pub schedules: Vec<SchedulerState>,
    /// Standing findings.
    pub findings: Vec<Finding>,
    /// Health problems found while reading.
    pub health: Vec<Finding>,
}

/// The agent whose commit completed `todo`.
pub fn completed_by(todo: &Todo) -> Option<AgentId> {
    match todo.extra.get("completed_by").and_then(serde_json::Value::as_str) {
        Some(agent) => Some(AgentId::trusted(agent)),
        None => todo.claimed_by.clone(),
    }
}

/// Adds one todo to the totals.
pub fn count(counters: &mut Counters, todo: &Todo, sign: i64) {
    let add = |field: &mut u64| *field = field.saturating_add_signed(sign);
    match (todo.role, todo.is_open()) {
        (Role::Agent, open) => {
            add(&mut counters.agent_ever);
            if open {
                add(&mut counters.agent_open);
                if todo.task_class == TaskClass::Advancement {
                    add(&mut counters.advancement_open);
                }
            } else {
                add(&mut counters.agent_done);
                if todo.no_followup {
                    add(&mut counters.agent_no_followup);
                }
            }
        }
        (Role::User, true) => add(&mut counters.user_open),
        (Role::User, false) => add(&mut counters.user_done),
    }
}

impl GoalRecords {
    /// Where the todo of that id stands.
    pub fn target(&self, id: &TodoId) -> Target {
        match self.todos.get(id) {
            None => Target::Missing,
            Some(todo) if todo.is_open() => Target::Open,
            Some(todo) if todo.superseded_by.is_some() => Target::Superseded,
            Some(_) => Target::Done,
        }
    }

    /// The totals.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        for todo in self.todos.values() {
            count(&mut counters, todo, 1);
        }
        counters
    }

    /// The view by a full scan: the definition of what every store must answer.
    pub fn view(&self, query: &ViewQuery) -> View {
        let mut open: Vec<&Todo> = self.todos.values().filter(|t| t.is_open()).collect();
        open.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
        let leases: Vec<Lease> =
            self.leases.values().filter(|l| l.is_live(query.now)).cloned().collect();
        let turns: Vec<Turn> =
            self.turns.values().filter(|t| is_live_turn(t, query.now)).cloned().collect();
        let lapsed: Vec<Turn> =
            self.turns.values().filter(|t| is_lapsed_turn(t, query.now)).cloned().collect();
        let todos: Vec<Todo> = if query.complete {
            open.into_iter().cloned().collect()
        } else {
            let named = named_todos(
                &open,
                &leases,
                &[&turns[..], &lapsed[..]].concat(),
                &self.stalls,
                &self.attempts,
            );
            representative(&open, &named)
        };
        let targets = todos
            .iter()
            .filter_map(|t| match &t.resume_when {
                Some(ResumeCondition::TodoDone(id)) => Some((id.clone(), self.target(id))),
                _ => None,
            })
            .collect();
        // Outside facts are read only when something waits for one.
        let waits =
            todos.iter().any(|t| matches!(t.resume_when, Some(ResumeCondition::PrMerged(_))));
        let signals = if waits { self.signals.clone() } else { BTreeSet::new() };
        let mut dangling: Vec<Dangling> = self
            .todos
            .values()
            .filter(|t| t.dangling)
            .map(|t| Dangling {
                todo_id: t.todo_id.clone(),
                owner: completed_by(t),
                completed_at: t.completed_at,
            })
            .collect();
        sort_dangling(&mut dangling);
        let window = WindowUse::by_scan(
            &query.quota,
            query.now,
            self.spends.iter().map(|s| (s.at, s.live())),
            turns.iter().filter_map(|t| Some((t.expires_at?, t.reserved))),
        );
        View {
            unreadable: false,
            goal_uid: self.goal_uid.clone(),
            commit: self.commit,
            todos: Arc::new(todos),
            counters: self.counters(),
            targets,
            signals,
            leases,
            turns,
            lapsed,
            handoff: self.handoff,
            attempts: self.attempts.clone(),
            stalls: self.stalls.clone(),
            grants: self.grants.iter().filter(|g| g.is_live(query.now)).cloned().collect(),
            feedback: self.feedback.iter().filter(|f| !f.answered).cloned().collect(),
            seen: self.seen.values().cloned().collect(),
            schedules: self.schedules.clone(),
            dangling,
            window,
            findings: self.findings.clone(),
            health: self.health.clone(),
        }
    }
}

impl View {
    /// This view with hand edits of the state file on top: `puts` are whole todos, `old`
    /// what the store has under the same ids, `target` where a todo stands that a new
    /// condition names. The view must be complete.
    pub fn overlay(
        &mut self,
        puts: &[Todo],
        old: &[Todo],
        mut target: impl FnMut(&TodoId) -> crate::error::Result<Target>,
    ) -> crate::error::Result<()> {
        let todos = Arc::make_mut(&mut self.todos);
        for put in puts {
            if let Some(before) = old.iter().find(|t| t.todo_id == put.todo_id) {
                count(&mut self.counters, before, -1);
            }
            count(&mut self.counters, put, 1);
            todos.retain(|t| t.todo_id != put.todo_id);
            self.dangling.retain(|d| d.todo_id != put.todo_id);
            if put.is_open() {
                todos.push(put.clone());
            } else {
                self.stalls.retain(|s| s.todo_id != put.todo_id);
                if put.dangling {
                    self.dangling.push(Dangling {
                        todo_id: put.todo_id.clone(),
                        owner: completed_by(put),
                        completed_at: put.completed_at,
                    });
                }
            }
        }
        sort_dangling(&mut self.dangling);
        todos.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
        let now_there = |id: &TodoId| {
            puts.iter().find(|t| t.todo_id == *id).map(|t| match (t.is_open(), &t.superseded_by) {
                (true, _) => Target::Open,
                (false, Some(_)) => Target::Superseded,
                (false, None) => Target::Done,
            })
        };
        let mut targets = BTreeMap::new();
        for todo in self.todos.iter() {
            if let Some(ResumeCondition::TodoDone(id)) = &todo.resume_when
                && !targets.contains_key(id)
            {
                let stands = match now_there(id) {
                    Some(stands) => stands,
                    None => target(id)?,
                };
                targets.insert(id.clone(), stands);
            }
        }
        self.targets = targets;
        Ok(())
    }
}

/// Whether a turn's reservation holds at `now`.
pub fn is_live_turn(turn: &Turn, now: Instant) -> bool {
    turn.state == TurnState::Live && turn.expires_at.is_some_and(|until| until > now)
}

/// Whether a turn was admitted, never settled, and its reservation has ended.
pub fn is_lapsed_turn(turn: &Turn, now: Instant) -> bool {
    turn.state == TurnState::Live && turn.expires_at.is_some_and(|until| until <= now)
}

/// Latest completion first, then id: the order in which obligations are offered.
pub fn sort_dangling(dangling: &mut [Dangling]) {
    dangling.sort_by(|a, b| (b.completed_at, &a.todo_id).cmp(&(a.completed_at, &b.todo_id)));
}

/// The plain todos that a gate, a lease, a live turn, a stall or an attempt names one by
/// one.
pub fn named_todos(
    open: &[&Todo],
    leases: &[Lease],
    turns: &[Turn],
    stalls: &[Stall],
    attempts: &[Attempt],
) -> BTreeSet<TodoId> {
    let mut named: BTreeSet<TodoId> = BTreeSet::new();
    named.extend(
        open.iter()
            .filter(|t| t.task_class == TaskClass::UserGate)
            .filter_map(|t| t.unblocks_todo_id.clone()),
    );
    named.extend(leases.iter().map(|l| l.todo_id.clone()));
    named.extend(turns.iter().filter_map(|t| t.todo_id.clone()));
    named.extend(stalls.iter().map(|s| s.todo_id.clone()));
    named.extend(attempts.iter().filter_map(|a| TodoId::parse(&a.cause).ok()));
    named
}

fn representative(open: &[&Todo], named: &BTreeSet<TodoId>) -> Vec<Todo> {
    let mut first: BTreeMap<String, &Todo> = BTreeMap::new();
    let mut kept: Vec<&Todo> = Vec::new();
    for todo in open {
        if todo.lane() != Lane::Plain || named.contains(&todo.todo_id) {
            kept.push(todo);
            continue;
        }
        let slot = first.entry(todo.shape_key()).or_insert(todo);
        if (todo.rank(), todo.order, &todo.todo_id) < (slot.rank(), slot.order, &slot.todo_id) {
            *slot = todo;
        }
    }
    kept.extend(first.into_values());
    kept.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
    kept.into_iter().cloned().collect()
}
