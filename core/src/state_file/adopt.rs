//! Takes over what a person or an agent has edited in the state file: a three-way
//! comparison of the last projection, the file as it is, and the store. Pure; the
//! caller commits what comes back, or only looks at it.
//!
//! The store wins wherever both have changed, a gate is never decided by a tick, and
//! no todo is dropped or brought back because of a line.

use std::collections::{HashMap, VecDeque};

use super::derive::ends_open;
use super::document::{Document, ParsedTodo};
use super::grammar::Checkbox;
use super::{edits, is_provisional, metadata};
use crate::model::{
    AgentId, Continuation, Finding, GoalId, Instant, Role, TaskClass, Todo, TodoId, TodoStatus,
};

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// The goal, for the commands that findings name.
    pub goal_id: &'a GoalId,
    /// The bytes last written by a projection.
    pub base: &'a Document,
    /// The file as it is.
    pub edited: &'a Document,
    /// The store's todos: at least each one whose id stands in one of the documents.
    pub current: &'a [Todo],
    /// Who is taken to have edited; its own claims may be ticked.
    pub editor: Option<&'a AgentId>,
    /// The goal's agents; a claim by anybody else counts for nothing.
    pub roster: &'a [AgentId],
    /// When.
    pub now: Instant,
}

/// What follows from an edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adoption {
    /// New and changed todos, each whole.
    pub put: Vec<Todo>,
    /// What was not taken over, and how to get it.
    pub findings: Vec<Finding>,
}

/// Which todo a block of the edited file is about.
#[derive(Clone, Copy)]
enum Identity<'a> {
    Known { base: Option<&'a ParsedTodo>, id: &'a TodoId },
    New { copied: bool },
}

/// Adopts an edit. `mint` gives a fresh id, or `None` where nothing is written; a new
/// todo then has a provisional id (see [`is_provisional`]).
pub fn adopt(edit: &Edit<'_>, mint: &mut dyn FnMut() -> Option<TodoId>) -> Adoption {
    let mut out = Adoption::default();
    if edit.base.text() == edit.edited.text() {
        return out;
    }
    let store: HashMap<&TodoId, &Todo> =
        edit.current.iter().map(|todo| (&todo.todo_id, todo)).collect();
    let identities = identify(edit, &store);
    let orders = orders_of_new(edit, &store, &identities);
    let mut provisional = 0;
    for ((parsed, identity), order) in edit.edited.todos().iter().zip(&identities).zip(orders) {
        match *identity {
            Identity::Known { base, id } => {
                edits::compare(edit, base, parsed, id, store.get(id).copied(), &mut out);
            }
            Identity::New { copied } => {
                let written = parsed.written_id.clone().filter(|_| !copied);
                let id = written.or_else(&mut *mint).unwrap_or_else(|| {
                    provisional += 1;
                    TodoId::trusted(format!("?{provisional}"))
                });
                add(edit, parsed, id, copied, order, &mut out);
            }
        }
    }
    out
}

/// Settles for every block of the edited file whether it is a todo that exists.
///
/// By stated id first. Of several blocks with one id the todo is the one whose text is
/// unchanged, else the first: who copies a line and edits the upper copy has not
/// renamed the lower. Then by text, against the lines that have vanished: a line whose
/// comment was deleted or whose id was overwritten is still the same todo.
fn identify<'a>(edit: &Edit<'a>, store: &HashMap<&'a TodoId, &'a Todo>) -> Vec<Identity<'a>> {
    let base: HashMap<&TodoId, &'a ParsedTodo> =
        edit.base.todos().iter().map(|p| (&p.todo.todo_id, p)).collect();
    let blocks = edit.edited.todos();
    let mut of_id: HashMap<&'a TodoId, usize> = HashMap::with_capacity(blocks.len());
    for (i, parsed) in blocks.iter().enumerate() {
        let Some(id) = &parsed.written_id else {
            continue;
        };
        let unchanged = |p: &ParsedTodo| base.get(id).is_some_and(|b| b.todo.text == p.todo.text);
        match of_id.get(id).and_then(|first| blocks.get(*first)) {
            Some(first) if unchanged(first) || !unchanged(parsed) => {}
            _ => {
                of_id.insert(id, i);
            }
        }
    }
    let mut vanished: HashMap<(Option<Role>, &str), VecDeque<&'a ParsedTodo>> = HashMap::new();
    for parsed in edit.base.todos() {
        if !of_id.contains_key(&parsed.todo.todo_id) && store.contains_key(&parsed.todo.todo_id) {
            vanished
                .entry((parsed.section.role(), &parsed.todo.text))
                .or_default()
                .push_back(parsed);
        }
    }
    blocks
        .iter()
        .enumerate()
        .map(|(i, parsed)| {
            let written = parsed.written_id.as_ref();
            let owns = written.is_some_and(|id| of_id.get(id) == Some(&i));
            if let Some(id) = written.filter(|id| base.contains_key(id) || store.contains_key(id)) {
                if owns {
                    return Identity::Known { base: base.get(id).copied(), id };
                }
                return Identity::New { copied: true };
            }
            // An open line with the text of a finished one is new work of the same name.
            let same = vanished
                .get_mut(&(parsed.section.role(), parsed.todo.text.as_str()))
                .and_then(|lines| {
                    let fits = |b: &&ParsedTodo| {
                        b.checkbox != Checkbox::Done || parsed.checkbox == Checkbox::Done
                    };
                    lines.iter().position(fits).and_then(|at| lines.remove(at))
                });
            match same {
                Some(base) => Identity::Known { base: Some(base), id: &base.todo.todo_id },
                None => Identity::New { copied: written.is_some() && !owns },
            }
        })
        .collect()
}

use super::ORDER_STEP as STEP;

/// Positions of new lines: spread between the neighbours of the same role, or the
/// upper neighbour's own position when there is no room.
fn orders_of_new(
    edit: &Edit<'_>,
    store: &HashMap<&TodoId, &Todo>,
    identities: &[Identity<'_>],
) -> Vec<i64> {
    let end = edit.current.iter().map(|todo| todo.order).max().unwrap_or(0).saturating_add(STEP);
    let mut orders = vec![end; identities.len()];
    for role in [Role::User, Role::Agent] {
        let mut above: Option<i64> = None;
        let mut run: Vec<usize> = Vec::new();
        let places = edit.edited.todos().iter().zip(identities).enumerate();
        for (i, (_, identity)) in places.filter(|(_, (p, _))| p.section.role() == Some(role)) {
            match identity {
                Identity::New { .. } => run.push(i),
                Identity::Known { id, .. } => {
                    let Some(todo) = store.get(id).filter(|todo| todo.role == role) else {
                        continue;
                    };
                    spread(&mut orders, &run, above, Some(todo.order), end);
                    run.clear();
                    above = Some(todo.order);
                }
            }
        }
        spread(&mut orders, &run, above, None, end);
    }
    orders
}

fn spread(orders: &mut [i64], run: &[usize], above: Option<i64>, below: Option<i64>, end: i64) {
    let count = i64::try_from(run.len()).unwrap_or(i64::MAX);
    let (start, step) = match (above, below) {
        (Some(above), Some(below)) => {
            (above, below.saturating_sub(above).max(0) / count.saturating_add(1))
        }
        (Some(above), None) => (above, STEP),
        (None, Some(below)) => {
            (below.saturating_sub(STEP.saturating_mul(count.saturating_add(1))), STEP)
        }
        (None, None) => (end.saturating_sub(STEP), STEP),
    };
    let mut order = start;
    for at in run {
        order = order.saturating_add(step);
        if let Some(place) = orders.get_mut(*at) {
            *place = order;
        }
    }
}

/// A line that no todo had: a new todo.
fn add(
    edit: &Edit<'_>,
    parsed: &ParsedTodo,
    id: TodoId,
    copied: bool,
    order: i64,
    out: &mut Adoption,
) {
    let mut todo = parsed.todo.clone();
    todo.todo_id = id;
    todo.order = order;
    todo.created_at = Some(edit.now);
    todo.updated_at = Some(edit.now);
    todo.dangling = false;
    let about = if is_provisional(&todo.todo_id) {
        format!("line {}", parsed.line)
    } else {
        todo.todo_id.to_string()
    };
    if copied {
        out.findings.push(
            Finding::new(
                "todo_id_duplicated",
                &about,
                format!(
                    "line {} states the id of another todo and is a todo of its own",
                    parsed.line
                ),
            )
            .next(format!("loopx todo list --goal-id {}", edit.goal_id)),
        );
    }
    for key in metadata::AUTHORITY {
        if metadata::clear_authority(&mut todo, key) {
            out.findings.push(edits::ignored(edit, &todo.todo_id, &about, key));
        }
    }
    let ticked = parsed.checkbox == Checkbox::Done;
    if todo.status == TodoStatus::Done && !ticked {
        out.findings.push(edits::ignored(edit, &todo.todo_id, &about, "status"));
        todo.status = parsed.checkbox.status();
    }
    if ticked {
        todo.status = TodoStatus::Open;
        tick(edit, &mut todo, &about, out);
    }
    // What is still to be done is not hidden away, wherever the line stands.
    todo.archived &= !todo.is_open();
    let stated = edit.edited.metadata_of(parsed).iter().any(|(key, _)| key == "task_class");
    if todo.role == Role::User && !stated && todo.is_open() {
        out.findings.push(
            Finding::new(
                "user_todo_unclassified",
                &about,
                "a user todo without a task class counts as a gate",
            )
            .next(format!(
                "{} --task-class user_gate|user_action",
                edits::command(edit, "update", &todo.todo_id)
            )),
        );
    }
    out.put.push(todo);
}

/// A tick on an open todo: done, unless it is a decision or somebody else's work.
pub(super) fn tick(edit: &Edit<'_>, todo: &mut Todo, about: &str, out: &mut Adoption) {
    if todo.task_class == TaskClass::UserGate {
        out.findings.push(
            Finding::new(
                "gate_tick_ignored",
                about,
                "a gate is decided with an outcome, not with a tick",
            )
            .next(edits::decide(edit, &todo.todo_id)),
        );
        return;
    }
    let other = todo
        .claimed_by
        .as_ref()
        .filter(|agent| Some(*agent) != edit.editor && edit.roster.contains(agent));
    if let Some(agent) = other.filter(|_| todo.role == Role::Agent) {
        out.findings.push(
            Finding::new(
                "tick_of_claimed_todo",
                about,
                format!("{agent} has claimed this todo and completes it"),
            )
            .next(format!(
                "{} --agent-id {agent}",
                edits::command(edit, "complete", &todo.todo_id)
            )),
        );
        return;
    }
    todo.status = TodoStatus::Done;
    todo.completed_at.get_or_insert(edit.now);
    if todo.role == Role::Agent {
        let continuation = if todo.no_followup {
            Continuation::NoFollowup
        } else if todo.successor_todo_ids.is_empty() {
            Continuation::ActiveGoal
        } else {
            Continuation::Successor
        };
        todo.completion_continuation.get_or_insert(continuation);
        todo.dangling = ends_open(todo);
    }
}
