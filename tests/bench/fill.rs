//! A goal with so many open todos and past spends.

use std::path::Path;

use loopx_core::command::todo::TodoAddRequest;
use loopx_core::command::todo_fields::TodoFields;
use loopx_core::file::HolderNote;
use loopx_core::kernel::{Clock, GoalCreateRequest, Kernel, KernelOptions};
use loopx_core::model::{
    AgentId, CommitRecord, EffectId, GoalUid, Instant, Role, Spend, TaskClass, Todo, TodoId,
};
use loopx_core::operation::Addressed;
use loopx_core::registry::RouteInput;
use loopx_core::store::sqlite::SqliteOptions;
use loopx_core::store::{Change, Read as _, SqliteStore, Store as _};
use serde_json::{Value, json};

/// A kernel on the project in `folder`, with its own home.
pub fn kernel(folder: &Path) -> Kernel {
    let mut options = KernelOptions::new(RouteInput {
        flag: Some(folder.join(".loopx/registry.json")),
        cwd: folder.to_path_buf(),
        home: Some(folder.join("home")),
        ..RouteInput::default()
    });
    options.clock = Clock::System;
    Kernel::open(options).unwrap()
}

/// The goal's store, open to write.
pub fn store(folder: &Path, uid: &GoalUid) -> SqliteStore {
    let path = folder.join(".loopx/goals").join(uid.as_str()).join("goal.db");
    let options = SqliteOptions {
        deadline: std::time::Duration::from_secs(60),
        holder: HolderNote::default(),
    };
    SqliteStore::open(&path, uid, options).unwrap()
}

/// A todo of a backlog: most are plain, some have an owner, a kind or a condition.
fn todo(n: usize, previous: &TodoId) -> Todo {
    let id = TodoId::trusted(format!("todo_b{n:011}"));
    let text =
        format!("[P{}] Work item {n} of the backlog, described in a dozen words or so", n % 4 + 1);
    let mut todo = Todo::new(id, Role::Agent, TaskClass::Advancement, (n as i64 + 1) * 1024, text);
    todo.action_kind = Some(["analyze", "docs", "implement", "test"][n % 4].into());
    todo.created_at = Instant::parse("2026-01-01T00:00:00Z");
    if n % 10 == 3 {
        todo.claimed_by = Some(AgentId::trusted(if n % 20 == 3 { "agent-a" } else { "agent-b" }));
    }
    if n % 100 == 7 {
        todo.resume_when = Some(loopx_core::model::ResumeCondition::TodoDone(previous.clone()));
    }
    if n % 250 == 9 {
        todo.task_class = TaskClass::Monitor;
        todo.cadence = loopx_core::model::Cadence::parse("30m");
        todo.next_due_at = Instant::parse("2099-01-01T00:00:00Z");
    }
    todo
}

pub fn goal(folder: &Path, todos: usize, spends: u64) -> Value {
    std::fs::create_dir_all(folder.join("home")).unwrap();
    let kernel = kernel(folder);
    let at = Addressed::to("bench");
    let made = kernel
        .goal_create(
            &at,
            &GoalCreateRequest {
                objective: Some("Measure".into()),
                agents: vec!["agent-a".into(), "agent-b".into()],
                ..GoalCreateRequest::default()
            },
        )
        .unwrap();
    let uid = GoalUid::trusted(made["goal_uid"].as_str().unwrap());
    let mut store = store(folder, &uid);
    let now = Instant::system_now();
    let mut changes = Vec::new();
    let mut previous = TodoId::trusted("todo_b00000000000");
    for n in 0..todos {
        let todo = todo(n, &previous);
        previous = todo.todo_id.clone();
        changes.push(Change::PutTodo(Box::new(todo)));
    }
    // Two years of spends, evenly: about a thousandth of them inside the window.
    let step = 2 * 365 * 24 * 60 * 60 * 1_000_000 / spends.max(1);
    for n in 0..spends {
        changes.push(Change::PutSpend(Spend {
            id: n + 1,
            at: now.plus_micros(-((step * (n + 1)) as i64)),
            slots: 1,
            voided: 0,
            agent: Some(AgentId::trusted("agent-a")),
            todo_id: None,
            turn_id: None,
            source: "heartbeat".into(),
        }));
    }
    let next = store.last_commit().unwrap() + 1;
    let mut tx = store.begin("bench").unwrap();
    tx.apply(&changes).unwrap();
    tx.record(&CommitRecord {
        n: next,
        effect_id: EffectId::trusted("bench|fill"),
        verb: "bench.fill".into(),
        agent: None,
        at: now,
        fixed_clock: false,
        body_digest: String::new(),
        receipt: json!({}),
    })
    .unwrap();
    drop(tx.commit().unwrap());
    drop(store);
    // One real command, so that the state file shows what the store holds.
    kernel
        .todo_add(
            &at,
            &TodoAddRequest {
                role: Role::Agent,
                text: "[P0] The next thing to do".into(),
                status: None,
                agent_id: None,
                fields: TodoFields::default(),
            },
        )
        .unwrap();
    json!({"goal_uid": uid, "todos": todos, "spends": spends})
}
