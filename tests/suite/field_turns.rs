//! Field reports about lost updates, quota, leases and time (rows 1 to 63 and 86 to 93)
//! that no other test covers by itself; `FIELD_REPORTS.md` maps the rows.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::Sandbox;
use loopx_tests::goal::Goal;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

const A: &str = "agent-a";
const NOW: &str = "2026-11-29T12:00:00Z";
const SPEND: &str = "quota spend-slot --goal-id g --agent-id agent-a --execute";
const DELIVER: &str =
    "refresh-state --goal-id g --agent-id agent-a --delivery-outcome outcome_progress";

fn spent(sandbox: &Sandbox, now: &str) -> Value {
    let status = sandbox.at(now).json("quota status --goal-id g".split(' '));
    status["goals"][0]["spent_slots"].clone()
}

#[test]
fn row_4_a_hundred_effects_at_one_instant_have_a_hundred_ids() {
    let goal = Goal::new(&[A]);
    let ids: std::collections::BTreeSet<String> =
        (0..100).map(|n| goal.todo(&format!("todo {n}"), &[])).collect();
    assert_eq!(ids.len(), 100);
}

#[test]
fn row_10_every_acknowledged_update_is_seen_by_the_next_process() {
    let goal = Goal::new(&[A]);
    let todo = goal.todo("[P1] one", &[]);
    for n in 0..60 {
        let text = format!("[P1] one {n}");
        goal.ok("todo update", &["--todo-id", &todo, "--text", &text]);
        assert!(goal.shown(&todo)["text"].as_str().unwrap().ends_with(&format!("one {n}")));
    }
}

#[test]
fn rows_28_and_29_a_registry_that_cannot_be_read_is_not_an_empty_one() {
    let goal = Goal::new(&[A]);
    let path = goal.sandbox.registry();
    let whole = fs::read(&path).unwrap();
    for broken in
        [vec![0; whole.len()], whole[..whole.len() / 2].to_vec(), Vec::new(), b"[]".to_vec()]
    {
        fs::write(&path, &broken).unwrap();
        for words in [
            "todo add --goal-id g --role agent --text x",
            "goal create --goal-id h --objective o",
            "agent register --goal-id g --agent-id agent-b",
            "goal stop --goal-id g",
            "turn admit --goal-id g --agent-id agent-a --turn-instance-id t-1",
        ] {
            let output = goal.sandbox.at(NOW).run(words.split(' '));
            assert_eq!(output.code, 1, "{words}: {output}");
            assert_eq!(fs::read(&path).unwrap(), broken, "{words} wrote over it");
        }
    }
    fs::write(&path, whole).unwrap();
    goal.todo("[P1] one", &[]);
}

#[test]
fn row_38_what_changes_nothing_between_delivery_and_spend_hides_no_delivery() {
    let goal = Goal::new(&[A]);
    let todo = goal.todo("[P1] one", &[]);
    let now = goal.sandbox.at(NOW);
    now.json(DELIVER.split(' ').chain(["--todo-id", &todo]));
    for outcome in ["neutral", "no_change", "surface_only"] {
        let words =
            format!("refresh-state --goal-id g --agent-id agent-a --delivery-outcome {outcome}");
        now.json(words.split(' '));
    }
    assert_eq!(now.json(SPEND.split(' '))["todo_id"], todo);
}

#[test]
fn row_41_a_new_goal_has_its_window_before_its_first_admission() {
    let goal = Goal::new(&[A]);
    let row = goal.ok("quota status", &[])["goals"][0].clone();
    let allowed = row["allowed_slots"].as_u64().unwrap();
    assert!(allowed > 0);
    assert_eq!(row["left_slots"], allowed);
    goal.todo("[P1] one", &[]);
    goal.ok("turn admit", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    assert_eq!(goal.ok("quota status", &[])["goals"][0]["left_slots"], allowed - 1);
}

/// Rows 40 and 44: the window slides over instants; nothing is reset at a boundary.
#[test]
fn row_44_spends_ten_seconds_around_a_boundary_are_counted_by_their_instants() {
    let goal = Goal::new(&[A]);
    for (day, second) in [(28, 50), (28, 59), (29, 60), (29, 65)] {
        let at = format!(
            "2026-11-{day}T{}:{:02}Z",
            if second < 60 { "23:59" } else { "00:00" },
            second % 60
        );
        goal.sandbox.at(&at).json(DELIVER.split(' '));
        let receipt = goal.sandbox.at(&at).json(SPEND.split(' '));
        // Row 37: the receipt says which window its figures are of.
        assert_eq!(receipt["window"]["to"], at);
        assert!(receipt["window"]["from"].is_string(), "{receipt}");
    }
    assert_eq!(spent(&goal.sandbox, "2026-11-29T00:01:00Z"), 4);
    assert_eq!(spent(&goal.sandbox, "2026-11-29T23:59:51Z"), 3);
    assert_eq!(spent(&goal.sandbox, "2026-11-30T00:00:01Z"), 1);
    assert_eq!(spent(&goal.sandbox, "2026-11-30T00:00:06Z"), 0);
}

#[test]
fn row_86_instants_of_every_offset_are_compared_as_instants() {
    let goal = Goal::new(&[A]);
    for at in ["2026-11-29T20:00:00+08:00", "2026-11-29T05:00:00-07:00", "2026-11-29T12:00:00.500Z"]
    {
        goal.sandbox.at(at).json(DELIVER.split(' '));
        goal.sandbox.at(at).json(SPEND.split(' '));
    }
    assert_eq!(spent(&goal.sandbox, "2026-11-30T14:00:00+02:00"), 3);
    assert_eq!(spent(&goal.sandbox, "2026-11-30T12:00:00.400Z"), 1);
    assert_eq!(spent(&goal.sandbox, "2026-11-30T05:00:01-07:00"), 0);
}

#[test]
fn row_88_a_jump_forward_makes_one_due_poll() {
    let goal = Goal::new(&[A]);
    let rest = "--task-class continuous_monitor --cadence 5m --next-due-at 2026-11-29T12:05:00Z";
    let rest: Vec<&str> = rest.split(' ').collect();
    let monitor = goal.todo("watch", &rest);
    goal.at("18:00");
    assert_eq!(goal.rule(A), ("run".to_owned(), monitor.clone()));
    goal.ok("turn admit", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    goal.ok(
        "turn settle",
        &["--agent-id", A, "--turn-instance-id", "t-1", "--outcome", "no_change"],
    );
    assert_eq!(goal.rule(A).0, "monitor_quiet", "the missed ones are not made up for");
    assert_eq!(goal.shown(&monitor)["next_due_at"], "2026-11-29T18:05:00Z");
}

fn locks(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            locks(&path, found);
        } else if path.to_string_lossy().contains("lock") {
            found.push(path);
        }
    }
}

/// Rows 59 and 62: a lock file that is taken away, emptied or filled by somebody.
#[test]
fn rows_59_and_62_lock_files_that_are_removed_or_emptied_lose_no_write() {
    let goal = Goal::new(&[A]);
    let sandbox = &goal.sandbox;
    let done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        let done = &done;
        scope.spawn(move || {
            let mut n = 0_u32;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let mut found = Vec::new();
                locks(&sandbox.project(), &mut found);
                for lock in found {
                    n += 1;
                    let _ = if n.is_multiple_of(2) {
                        fs::write(lock, b"")
                    } else {
                        fs::remove_file(lock)
                    };
                }
                thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let commands = (0..24)
            .map(|n| {
                let text = format!("todo {n}");
                let words = ["todo", "add", "--goal-id", "g", "--role", "agent", "--text", &text];
                sandbox.at(NOW).command(words)
            })
            .collect();
        let outputs = loopx_tests::at_once(commands);
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        for output in outputs {
            assert_eq!(output.code, 0, "{output}");
        }
    });
    let list = goal.ok("todo list", &["--limit", "100"]);
    assert_eq!(list["todos"].as_array().unwrap().len(), 24);
    assert_eq!(goal.ok("goal show", &[])["commit"], json!(25));
}
