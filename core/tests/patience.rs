//! How long calls wait for what others hold: one limit for all the waits of a call.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "host_loop/world.rs"]
mod world;

use std::time::{Duration, Instant as Stopwatch};

use rusqlite::Connection;
use serde_json::{Value, json};

use self::world::World;

const DEADLINE: Duration = Duration::from_millis(200);
/// Goals beside `g`; each has a store that somebody holds.
const OTHERS: [&str; 3] = ["h", "i", "j"];

fn held(world: &World) -> Vec<Connection> {
    let hold = |goal: &&str| {
        let store = Connection::open(world.store(goal)).unwrap();
        store.execute_batch("BEGIN EXCLUSIVE").unwrap();
        store
    };
    ["g"].iter().chain(&OTHERS).map(hold).collect()
}

/// Every read of the goals, with whether it is refused where all are busy.
fn reads() -> Vec<(&'static str, Value, bool)> {
    let of_g = || json!({"goal_id": "g"});
    vec![
        ("status", json!({}), false),
        ("status", of_g(), false),
        ("quota.status", json!({}), false),
        ("quota.plan", json!({}), false),
        ("diagnose", json!({}), false),
        ("gate.list", json!({}), false),
        ("history", json!({}), false),
        ("history", of_g(), true),
        ("evidence_log", of_g(), true),
        ("loop.show", json!({"surface": "pi", "session": "s-1"}), false),
        ("loop.show", of_g(), true),
        ("todo.list", of_g(), true),
        ("gate.list", of_g(), true),
        ("goal.changed_since", json!({"goal_id": "g", "commit": 0}), true),
        ("quota.should_run", json!({"goal_id": "g", "agent_id": "ada"}), false),
        ("explain", json!({"goal_id": "g", "agent_id": "ada"}), false),
    ]
}

#[test]
fn a_read_waits_its_deadline_once_however_many_stores_are_held() {
    let world = World::new("pi");
    OTHERS.iter().for_each(|goal| world.goal(goal));
    let held = held(&world);
    for opened_before in [false, true] {
        let kept = world.kernel_waiting(DEADLINE);
        if opened_before {
            held.iter().for_each(|store| store.execute_batch("ROLLBACK").unwrap());
            reads().iter().for_each(|(name, request, _)| drop(kept.call(name, request).unwrap()));
            held.iter().for_each(|store| store.execute_batch("BEGIN EXCLUSIVE").unwrap());
        }
        for (name, request, refused) in reads() {
            let once = || {
                let fresh = world.kernel_waiting(DEADLINE);
                let kernel = if opened_before { &kept } else { &fresh };
                let began = Stopwatch::now();
                let answer = kernel.call(name, &request);
                let took = began.elapsed();
                match answer {
                    Ok(answer) => assert!(!refused, "{name}: {answer}"),
                    Err(error) => assert!(
                        refused
                            && error.row().text == "store_busy"
                            && error.next_command() == "call again",
                        "{name}: {:?} {}",
                        error.row().text,
                        error.text()
                    ),
                }
                took
            };
            // A second wait is in each of them; a slow machine is not.
            let bound = DEADLINE * 9 / 5;
            let took = (0..3).map(|_| once()).find(|took| *took < bound);
            let took = took.unwrap_or_else(|| panic!("{name} {request} waits more than once"));
            assert!(took >= DEADLINE * 9 / 10, "{name} {request}: {took:?}, it did not wait");
        }
    }
}

#[test]
fn a_call_waits_for_registry_and_queue_together() {
    use loopx_core::file::{FileLock, HolderNote, LockMode};
    let world = World::new("pi");
    world.todo("one");
    let note = HolderNote {
        operation: "test".into(),
        agent: None,
        pid: std::process::id(),
        acquired_at: None,
    };
    let store = world.store("g");
    let registry = world.folder.path().join("p/.loopx/registry.json");
    let lock = FileLock::acquire(&registry, LockMode::Exclusive, &note, Duration::ZERO).unwrap();
    let queue = FileLock::acquire(&store, LockMode::Queued, &note, Duration::ZERO).unwrap();
    let began = Stopwatch::now();
    let waits = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let kernel = world.kernel_waiting(Duration::from_millis(900));
            let admit = json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": "t-1"});
            kernel.call("turn.admit", &admit)
        });
        std::thread::sleep(Duration::from_millis(600));
        drop(lock);
        waiter.join().unwrap()
    });
    let took = began.elapsed();
    drop(queue);
    let answer = waits.unwrap();
    assert_eq!(answer["error_code"], "lock_acquire_timeout", "{answer}");
    assert!(took >= Duration::from_millis(850) && took < Duration::from_millis(1_400), "{took:?}");
}
