//! The one suite that every backend passes: written against the trait, run for each.

#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::{Change, MemoryStore, Read, SqliteStore, Store, TodoFilter};
use crate::admission::view::ViewQuery;
use crate::file::holder::HolderNote;
use crate::model::{
    AgentId, Attempt, AttemptState, CommitRecord, EffectId, GoalUid, Instant, Outcome, OutcomeKind,
    QuotaPolicy, Role, Spend, Stall, TaskClass, Todo, TodoId, TodoStatus,
};
use crate::store::sqlite::SqliteOptions;

/// A backend that can be made anew and opened again.
pub(super) trait Bench {
    fn store(&mut self) -> &mut dyn Store;
    fn reopen(&mut self);
}

pub(super) struct InMemory(MemoryStore);

impl InMemory {
    pub fn new() -> Self {
        Self(MemoryStore::new(GoalUid::trusted("u1")))
    }
}

impl Bench for InMemory {
    fn store(&mut self) -> &mut dyn Store {
        &mut self.0
    }
    fn reopen(&mut self) {}
}

pub(super) struct OnDisk {
    folder: tempfile::TempDir,
    store: SqliteStore,
}

pub(super) fn options() -> SqliteOptions {
    SqliteOptions {
        deadline: std::time::Duration::from_secs(10),
        holder: HolderNote {
            operation: "test".into(),
            agent: None,
            pid: std::process::id(),
            acquired_at: None,
        },
    }
}

impl OnDisk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("goal.db");
        let store = SqliteStore::create(&path, &GoalUid::trusted("u1"), options(), &mut |_| Ok(()))
            .unwrap();
        Self { folder, store }
    }
}

impl Bench for OnDisk {
    fn store(&mut self) -> &mut dyn Store {
        &mut self.store
    }
    fn reopen(&mut self) {
        let path = self.folder.path().join("goal.db");
        self.store = SqliteStore::open(&path, &GoalUid::trusted("u1"), options()).unwrap();
    }
}

pub(super) fn at(minute: i64) -> Instant {
    Instant::parse("2026-11-29T00:00:00Z").unwrap().plus_minutes(minute)
}

pub(super) fn record(n: u64, effect: &str) -> CommitRecord {
    CommitRecord {
        n,
        effect_id: EffectId::trusted(effect),
        verb: "test".into(),
        agent: None,
        at: at(0),
        fixed_clock: false,
        body_digest: "d".into(),
        receipt: json!({"n": n}),
    }
}

fn todo(name: &str, order: i64, text: &str) -> Todo {
    Todo::new(
        TodoId::trusted(format!("todo_{name}")),
        Role::Agent,
        TaskClass::Advancement,
        order,
        text,
    )
}

fn write(store: &mut dyn Store, effect: &str, changes: &[Change]) {
    let n = store.last_commit().unwrap() + 1;
    let mut tx = store.begin("test").unwrap();
    tx.apply(changes).unwrap();
    tx.record(&record(n, effect)).unwrap();
    tx.commit().unwrap();
}

fn query(complete: bool) -> ViewQuery {
    ViewQuery {
        now: at(100),
        quota: QuotaPolicy { window_hours: 1, ..QuotaPolicy::default() },
        complete,
    }
}

fn commits_are_numbered_unique_and_kept(bench: &mut dyn Bench) {
    write(bench.store(), "e1", &[Change::PutTodo(Box::new(todo("aaa", 1, "one")))]);
    write(bench.store(), "e2", &[]);
    bench.reopen();
    let store = bench.store();
    assert_eq!(store.last_commit().unwrap(), 2);
    assert_eq!(
        store.commit_of(&EffectId::trusted("e1")).unwrap().unwrap().receipt,
        json!({"n": 1})
    );
    assert!(store.commit_of(&EffectId::trusted("e3")).unwrap().is_none());
    assert_eq!(store.commits(1, 10).unwrap().len(), 1);
    for bad in [record(3, "e1"), record(5, "e5"), record(2, "e6")] {
        let mut tx = store.begin("test").unwrap();
        tx.apply(&[Change::PutTodo(Box::new(todo("bbb", 2, "two")))]).unwrap();
        assert!(tx.record(&bad).is_err());
    }
    assert_eq!(store.last_commit().unwrap(), 2);
    assert!(store.todo(&TodoId::trusted("todo_bbb")).unwrap().is_none());
}

fn a_dropped_transaction_leaves_nothing(bench: &mut dyn Bench) {
    {
        let store = bench.store();
        let mut tx = store.begin("test").unwrap();
        tx.apply(&[
            Change::PutTodo(Box::new(todo("aaa", 1, "one"))),
            Change::PutSpend(Spend {
                id: 1,
                at: at(90),
                slots: 3,
                voided: 0,
                agent: None,
                todo_id: None,
                turn_id: None,
                source: String::new(),
            }),
        ])
        .unwrap();
        assert!(tx.todo(&TodoId::trusted("todo_aaa")).unwrap().is_some(), "own changes are seen");
    }
    bench.reopen();
    let view = bench.store().view(&query(true)).unwrap();
    assert!(view.todos.is_empty());
    assert_eq!((view.window.spent, view.counters.agent_ever), (0, 0));
}

fn what_hangs_on_a_closed_todo_goes_with_it(bench: &mut dyn Bench) {
    let agent = Some(AgentId::trusted("agent-a"));
    let attempt = |cause: &str, state| Attempt {
        agent: agent.clone(),
        rule: "repair".into(),
        cause: cause.into(),
        digest: cause.into(),
        state,
        at: at(1),
        turn_id: None,
    };
    let stall = Stall {
        todo_id: TodoId::trusted("todo_aaa"),
        agent: agent.clone(),
        streak: 3,
        at: at(1),
        reoffers: 0,
    };
    write(
        bench.store(),
        "e1",
        &[
            Change::PutTodo(Box::new(todo("aaa", 1, "one"))),
            Change::PutTodo(Box::new(todo("bbb", 2, "two"))),
            Change::PutAttempt(attempt("todo_aaa", AttemptState::Attempted)),
            Change::PutAttempt(attempt("todo_bbb", AttemptState::OutcomeUnknown)),
            Change::PutAttempt(attempt("no_agent_todo", AttemptState::Attempted)),
            Change::PutStall(stall),
        ],
    );
    let mut done = todo("aaa", 1, "one");
    done.status = TodoStatus::Done;
    done.dangling = true;
    write(bench.store(), "e2", &[Change::PutTodo(Box::new(done))]);
    let view = bench.store().view(&query(true)).unwrap();
    assert_eq!((view.attempts.len(), view.stalls.len(), view.dangling.len()), (3, 0, 1));
    let mut other = todo("bbb", 2, "two");
    other.status = TodoStatus::Done;
    write(bench.store(), "e3", &[Change::PutTodo(Box::new(other)), Change::FollowDangling]);
    let view = bench.store().view(&query(true)).unwrap();
    let causes: Vec<&str> = view.attempts.iter().map(|a| a.cause.as_str()).collect();
    assert_eq!(causes, ["no_agent_todo", "todo_bbb"], "an unknown outcome stays");
    assert!(view.dangling.is_empty());
}

fn the_last_delivery_is_found_and_spent_once(bench: &mut dyn Bench) {
    let agent = AgentId::trusted("agent-a");
    let outcome = |id, todo: Option<&str>, kind, spent_by| Outcome {
        id,
        at: at(1),
        agent: Some(agent.clone()),
        todo_id: todo.map(TodoId::trusted),
        turn_id: None,
        kind,
        classification: "c".into(),
        spent_by,
        usage: None,
        recommended_action: None,
    };
    write(
        bench.store(),
        "e1",
        &[
            Change::PutOutcome(outcome(1, Some("todo_aaa"), OutcomeKind::Progress, None)),
            Change::PutOutcome(outcome(2, Some("todo_bbb"), OutcomeKind::Primary, None)),
            Change::PutOutcome(outcome(3, Some("todo_bbb"), OutcomeKind::SurfaceOnly, None)),
        ],
    );
    let store = bench.store();
    let last = store.last_delivery(Some(&agent), None).unwrap().unwrap();
    assert_eq!(last.id, 2);
    assert_eq!(
        store.last_delivery(Some(&agent), Some(&TodoId::trusted("todo_aaa"))).unwrap().unwrap().id,
        1
    );
    assert!(store.last_delivery(None, None).unwrap().is_none());
    assert_eq!(store.unspent_up_to(&last).unwrap().len(), 1);
    write(
        store,
        "e2",
        &[Change::PutOutcome(outcome(2, Some("todo_bbb"), OutcomeKind::Primary, Some(2)))],
    );
    assert!(bench.store().unspent_up_to(&last).unwrap().is_empty());
}

fn listing_and_shown_todos_keep_order(bench: &mut dyn Bench) {
    let mut done = todo("ccc", 3, "three");
    done.status = TodoStatus::Done;
    done.completed_at = Some(at(2));
    let mut older = todo("ddd", 4, "four");
    older.status = TodoStatus::Done;
    older.completed_at = Some(at(1));
    let mut archived = todo("eee", 5, "five");
    archived.status = TodoStatus::Done;
    archived.archived = true;
    write(
        bench.store(),
        "e1",
        &[
            Change::PutTodo(Box::new(todo("bbb", 2, "two"))),
            Change::PutTodo(Box::new(todo("aaa", 1, "one"))),
            Change::PutTodo(Box::new(done)),
            Change::PutTodo(Box::new(older)),
            Change::PutTodo(Box::new(archived)),
        ],
    );
    let store = bench.store();
    let names =
        |todos: Vec<Todo>| todos.into_iter().map(|t| t.todo_id.to_string()).collect::<Vec<_>>();
    assert_eq!(names(store.shown_todos(1).unwrap()), ["todo_aaa", "todo_bbb", "todo_ccc"]);
    assert_eq!(names(store.todos(&TodoFilter::default()).unwrap()).len(), 4);
    let open = TodoFilter { status: Some(TodoStatus::Open), ..TodoFilter::default() };
    assert_eq!(names(store.todos(&open).unwrap()), ["todo_aaa", "todo_bbb"]);
    assert_eq!(
        store.open_todo_by_text(Role::Agent, "two").unwrap().unwrap().todo_id.as_str(),
        "todo_bbb"
    );
    assert!(
        store.open_todo_by_text(Role::Agent, "three").unwrap().is_none(),
        "done ones do not count"
    );
    assert_eq!(store.max_order().unwrap(), 5);
}

fn host_row(key: &str, n: u32) -> crate::model::HostRow {
    crate::model::HostRow { kind: "loop".into(), key: key.into(), doc: json!({"n": n}) }
}

fn a_dump_loads_into_an_equal_store(bench: &mut dyn Bench) {
    let mut gate = todo("ggg", 9, "approve?");
    gate.role = Role::User;
    gate.task_class = TaskClass::UserGate;
    write(
        bench.store(),
        "e1",
        &[
            Change::PutTodo(Box::new(todo("aaa", 1, "one"))),
            Change::PutTodo(Box::new(gate)),
            Change::AddSignal(crate::model::Signal {
                kind: "pr_merged".into(),
                reference: "#1".into(),
            }),
            Change::SetLegacy(crate::model::LegacyWitness {
                index_bytes: 4,
                index_sha256: "x".into(),
                rows: 0,
            }),
            Change::PutHostRow(host_row("a", 1)),
            Change::PutHostRow(host_row("b", 1)),
            Change::PutHostRow(host_row("b", 2)),
            Change::DropHostRow { kind: "loop".into(), key: "a".into() },
        ],
    );
    let store = bench.store();
    assert_eq!(store.host_rows("loop").unwrap(), [host_row("b", 2)]);
    assert_eq!(store.host_row("loop", "b").unwrap(), Some(host_row("b", 2)));
    assert_eq!(store.host_row("loop", "a").unwrap(), None);
    assert_eq!(store.host_rows("other").unwrap(), []);
    let mut tx = store.begin("test").unwrap();
    tx.note_drawn(Some("drawn")).unwrap();
    tx.note_projection("abc").unwrap();
    tx.commit().unwrap();
    assert_eq!(store.last_projection().unwrap().as_deref(), Some("abc"));
    assert_eq!(store.last_drawn().unwrap().as_deref(), Some("drawn"));
    let dump = |store: &dyn Read| {
        let mut rows = Vec::new();
        store
            .dump(&mut |table, row| {
                rows.push((table.to_owned(), row));
                Ok(())
            })
            .unwrap();
        rows
    };
    let rows = dump(store);
    let mut copy = MemoryStore::new(GoalUid::trusted("u1"));
    let mut tx = copy.begin("import").unwrap();
    for (table, row) in &rows {
        tx.load(table, row).unwrap();
    }
    tx.commit().unwrap();
    assert_eq!(rows, dump(&copy));
    assert!(copy.was_projected("abc").unwrap());
    assert_eq!(copy.view(&query(true)).unwrap(), store.view(&query(true)).unwrap());
}

macro_rules! store_suite {
    ($backend:ident, $make:expr) => {
        mod $backend {
            store_suite!(@tests $make, commits_are_numbered_unique_and_kept, a_dropped_transaction_leaves_nothing,
                what_hangs_on_a_closed_todo_goes_with_it, the_last_delivery_is_found_and_spent_once,
                listing_and_shown_todos_keep_order, a_dump_loads_into_an_equal_store);
        }
    };
    (@tests $make:expr, $($name:ident),*) => {
        $(#[test] fn $name() { super::$name(&mut $make); })*
    };
}

store_suite!(memory, crate::store::suite::InMemory::new());
store_suite!(sqlite, crate::store::suite::OnDisk::new());
