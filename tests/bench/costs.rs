//! Costs in process: a decision on unchanged and on changed state, a commit against a
//! bare SQLite commit, and a projection by itself.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::time::{Duration, Instant as Watch};

use loopx_core::command::refresh::RefreshStateRequest;
use loopx_core::command::todo::{TodoListRequest, TodoUpdateRequest};
use loopx_core::kernel::Kernel;
use loopx_core::model::{CommitRecord, EffectId, GoalUid, Instant};
use loopx_core::operation::Addressed;
use loopx_core::store::{Read as _, SqliteStore, Store as _};
use nix::sys::resource::{UsageWho, getrusage};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::fill;

fn cpu_us() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let us = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 * 1e6 + t.tv_usec() as f64;
    us(usage.user_time()) + us(usage.system_time())
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Times that what is compared is measured in turn.
const ROUNDS: usize = 9;

/// Wall (median) and CPU (mean) in microseconds of `runs` calls.
fn cost(runs: usize, mut call: impl FnMut()) -> (f64, f64) {
    call();
    let before = cpu_us();
    let walls: Vec<f64> = (0..runs)
        .map(|_| {
            let watch = Watch::now();
            call();
            watch.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    let cpu = (cpu_us() - before) / runs as f64;
    (median(walls), cpu)
}

/// [`cost`] of calls that each come after something that is not counted.
fn cost_after(runs: usize, mut first: impl FnMut(), call: impl Fn()) -> (f64, f64) {
    let (mut walls, mut cpu) = (Vec::with_capacity(runs), 0.0);
    for _ in 0..runs {
        first();
        let (watch, before) = (Watch::now(), cpu_us());
        call();
        cpu += cpu_us() - before;
        walls.push(watch.elapsed().as_secs_f64() * 1e6);
    }
    (median(walls), cpu / runs as f64)
}

/// A commit as another process makes it: by another connection.
fn commit_nothing(store: &mut SqliteStore) {
    let n = store.last_commit().unwrap() + 1;
    let mut tx = store.begin("bench").unwrap();
    tx.record(&CommitRecord {
        n,
        effect_id: EffectId::trusted(format!("bench|{n}")),
        verb: "bench.nothing".into(),
        agent: None,
        at: Instant::system_now(),
        fixed_clock: false,
        body_digest: String::new(),
        receipt: json!({}),
    })
    .unwrap();
    drop(tx.commit().unwrap());
}

fn first_todo(kernel: &Kernel, at: &Addressed) -> String {
    let one = TodoListRequest { limit: Some(1), ..TodoListRequest::default() };
    let listed = kernel.todo_list(at, &one).unwrap();
    listed["todos"][0]["todo_id"].as_str().unwrap().to_owned()
}

fn reworded(todo_id: &str, turn: u32) -> TodoUpdateRequest {
    TodoUpdateRequest {
        todo_id: todo_id.to_owned(),
        agent_id: Some("agent-a".to_owned()),
        text: Some(format!("[P1] Changed {turn} times")),
        ..TodoUpdateRequest::default()
    }
}

pub fn measure(folder: &Path) -> Value {
    let kernel = fill::kernel(folder);
    let at = Addressed::to("bench");
    let shown = kernel.goal_show(&at).unwrap();
    let uid = GoalUid::trusted(shown["goal_uid"].as_str().unwrap());
    let agent = || Some("agent-a".to_owned());
    // As a host in process asks: for the text that it hands on.
    let ask = json!({"goal_id": "bench", "agent_id": "agent-a"});
    let decide = || {
        let said = kernel.call_text("quota.should_run", &ask).unwrap();
        assert!(said.starts_with("{\"ok\":true"), "{said}");
    };
    // Files that were written a moment ago are read again, as the next write may come in the
    // same tick of the clock.
    std::thread::sleep(Duration::from_secs(3));
    let decision = cost(300, decide);
    let mut other = fill::store(folder, &uid);
    let changed = cost_after(100, || commit_nothing(&mut other), decide);
    drop(other);
    // What is compared is measured in turns, as the machine is not equally fast all the time.
    let mut bare_commit = bare_commit(folder, &uid);
    let note = RefreshStateRequest { agent_id: agent(), ..RefreshStateRequest::default() };
    let todo_id = first_todo(&kernel, &at);
    let mut turn = 0;
    let mut rounds = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        let [bare, write, shown] = &mut rounds;
        bare.push(cost(40, &mut bare_commit));
        write.push(cost(40, || drop(kernel.refresh_state(&at, &note).unwrap())));
        // The same with a changed todo: what is more is the projection of the state file.
        shown.push(cost(20, || {
            turn += 1;
            kernel.todo_update(&at, &reworded(&todo_id, turn)).unwrap();
        }));
    }
    let [bare, write, shown] = &rounds;
    let wall = |(wall, _): &(f64, f64)| *wall;
    let cpu = |(_, cpu): &(f64, f64)| *cpu;
    let middle = |of: &[(f64, f64)]| {
        let each = |by: fn(&(f64, f64)) -> f64| median(of.iter().map(by).collect());
        (each(wall), each(cpu))
    };
    let more = |than: &[(f64, f64)], of: &[(f64, f64)], by: fn(&(f64, f64)) -> f64| {
        median(of.iter().zip(than).map(|(of, than)| by(of) - by(than)).collect())
    };
    let surface = folder.join(".loopx/goals/bench/ACTIVE_GOAL_STATE.md");
    let pair = |(wall, cpu): (f64, f64)| json!({"wall_us": wall, "cpu_us": cpu});
    json!({
        "decision_in_process": pair(decision),
        "decision_after_change": pair(changed),
        "bare_sqlite_commit": pair(middle(bare)),
        "committed_write": pair(middle(write)),
        "write_cpu_over_bare_us": more(bare, write, cpu),
        "write_with_projection": pair(middle(shown)),
        "projection_wall_us": more(write, shown, wall),
        "projection_cpu_us": more(write, shown, cpu),
        "state_file_bytes": std::fs::metadata(surface).unwrap().len(),
    })
}

/// The same call again and again, for a profiler or an instruction counter to look at.
pub fn spin(folder: &Path, what: &str, times: usize) -> Value {
    let kernel = fill::kernel(folder);
    let at = Addressed::to("bench");
    let ask = json!({"goal_id": "bench", "agent_id": "agent-a"});
    let note = RefreshStateRequest { agent_id: Some("agent-a".into()), ..Default::default() };
    let shown = kernel.goal_show(&at).unwrap();
    let uid = GoalUid::trusted(shown["goal_uid"].as_str().unwrap());
    let bare = RefCell::new(bare_commit(folder, &uid));
    let todo_id = first_todo(&kernel, &at);
    let turn = Cell::new(0);
    let call = || match what {
        "decide" => drop(kernel.call_text("quota.should_run", &ask).unwrap()),
        "write" => drop(kernel.refresh_state(&at, &note).unwrap()),
        "project" => {
            turn.set(turn.get() + 1);
            drop(kernel.todo_update(&at, &reworded(&todo_id, turn.get())).unwrap());
        }
        "bare" => bare.borrow_mut()(),
        _ => panic!("decide, write, project or bare, not {what}"),
    };
    // As in `measure`: only a file that has been left alone for a while is trusted.
    call();
    std::thread::sleep(Duration::from_secs(3));
    let (wall, cpu) = cost(times, call);
    json!({"what": what, "wall_us": wall, "cpu_us": cpu})
}

/// The bare commit: the same two rows into a copy of the same store, nothing around it.
fn bare_commit(folder: &Path, uid: &GoalUid) -> impl FnMut() {
    let path = folder.join("bare.db");
    std::fs::copy(folder.join(".loopx/goals").join(uid.as_str()).join("goal.db"), &path).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL").unwrap();
    let body = "x".repeat(400);
    let mut n = 1_000_000_i64;
    move || {
        n += 1;
        conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        conn.prepare_cached("INSERT INTO outcomes(id, agent, todo, delivered, spent, doc) VALUES (?1, 'agent-a', '', 0, 0, ?2)")
            .unwrap()
            .execute((n, &body))
            .unwrap();
        conn.prepare_cached("INSERT INTO commits(n, effect, doc) VALUES (?1, ?2, ?3)")
            .unwrap()
            .execute((n, format!("once|{:032x}", n * 7919), &body))
            .unwrap();
        conn.execute_batch("COMMIT").unwrap();
    }
}
