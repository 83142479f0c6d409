//! Many processes on one goal and in one registry.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::Goal;
use loopx_tests::process::{self, LIMIT};
use loopx_tests::{Output, Sandbox, at_once};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const NOW: &str = "2026-11-29T12:00:00Z";

/// A test that measures and one that loads the machine do not run together.
static ALONE: Mutex<()> = Mutex::new(());

/// One write by a process of its own, and how long it took.
fn write(goal: &Goal, text: &str) -> Duration {
    let words = ["todo", "add", "--goal-id", "g", "--role", "agent", "--text", text];
    let mut command = goal.sandbox.at(NOW).command(words);
    let begun = Instant::now();
    let output = process::finish(&mut command, b"", LIMIT)
        .unwrap_or_else(|| panic!("timed out: {command:?}"));
    assert_eq!(output.code, 0, "{output}");
    begun.elapsed()
}

#[test]
fn sixty_four_processes_on_one_goal_all_get_their_turn() {
    const PROCESSES: u32 = 64;
    const EACH: u32 = 3;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let single = Goal::new(&["agent-a"]);
    let begun = Instant::now();
    for n in 0..PROCESSES {
        write(&single, &format!("single {n}"));
    }
    let mean = begun.elapsed() / PROCESSES;

    let goal = Goal::new(&["agent-a"]);
    let start = Barrier::new(64);
    let begun = Instant::now();
    let longest = thread::scope(|scope| {
        let (goal, start) = (&goal, &start);
        let writers: Vec<_> = (0..PROCESSES)
            .map(|writer| {
                let calls: Vec<_> = (0..EACH)
                    .map(|n| {
                        let text = format!("writer {writer} {n}");
                        let words =
                            ["todo", "add", "--goal-id", "g", "--role", "agent", "--text", &text];
                        goal.sandbox.at(NOW).command(words)
                    })
                    .collect();
                scope.spawn(move || {
                    start.wait();
                    calls
                        .into_iter()
                        .map(|mut command| {
                            let begun = Instant::now();
                            let output = process::finish(&mut command, b"", LIMIT)
                                .unwrap_or_else(|| panic!("timed out: {command:?}"));
                            assert_eq!(output.code, 0, "{output}");
                            begun.elapsed()
                        })
                        .max()
                        .unwrap()
                })
            })
            .collect();
        writers.into_iter().map(|w| w.join().unwrap()).max().unwrap()
    });
    let elapsed = begun.elapsed();
    let writes = PROCESSES * EACH;
    let alone = 1.0 / mean.as_secs_f64();
    let together = f64::from(writes) / elapsed.as_secs_f64();
    println!(
        "single writer: {alone:.0} writes/s, mean {mean:.1?}; {PROCESSES} processes: {together:.0} writes/s, longest wait {longest:.1?} (allowed {:.1?})",
        mean * PROCESSES * 10
    );
    assert!(together * 2.0 >= alone, "{together:.0} of {alone:.0} writes a second");
    assert!(longest <= mean * PROCESSES * 10, "longest wait {longest:?}, mean {mean:?}");
    let list = goal.ok("todo list", &["--limit", "1000"]);
    let texts: BTreeSet<&str> =
        list["todos"].as_array().unwrap().iter().map(|t| t["text"].as_str().unwrap()).collect();
    assert_eq!(texts.len(), usize::try_from(writes).unwrap(), "nothing acknowledged is lost");
}

#[test]
fn thirty_two_processes_in_one_registry_lose_no_goal_and_no_agent() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let sandbox = Sandbox::new();
    let now = sandbox.at(NOW);
    now.json("goal create --goal-id base --objective o --agent-id agent-a".split(' '));
    let commands = (0..32)
        .map(|n| {
            let words = match n % 2 {
                0 => format!("goal create --goal-id goal-{n} --objective o --agent-id agent-{n}"),
                _ => format!("agent register --goal-id base --agent-id agent-{n}"),
            };
            now.command(words.split(' ').map(str::to_owned))
        })
        .collect();
    let outputs: Vec<Output> = at_once(commands);
    for output in &outputs {
        assert_eq!(output.code, 0, "{output}");
    }
    let registry: Value =
        serde_json::from_slice(&std::fs::read(sandbox.registry()).unwrap()).unwrap();
    assert_eq!(registry["goals"].as_array().unwrap().len(), 17);
    let agents = now.json("agent list --goal-id base".split(' '));
    let text = agents.to_string();
    for n in (1..32).step_by(2) {
        assert!(text.contains(&format!("\"agent-{n}\"")), "agent-{n} of {text}");
    }
    for n in (0..32).step_by(2) {
        let goal = format!("goal-{n}");
        now.json(["quota", "should-run", "--goal-id", &goal, "--agent-id", &format!("agent-{n}")]);
    }
}
