//! Field reports that concern a program which holds the library open (rows 8, 20, 22, 52), and
//! those about file systems and clocks in the form that they have here (58, 89, 91);
//! `FIELD_REPORTS.md` maps the rows.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::registry::RouteInput;
use loopx_core::{ErrorCode, Result};
use loopx_tests::{Sandbox, at_once};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant as Stopwatch};

const NOW: &str = "2026-11-29T12:00:00Z";

fn options(sandbox: &Sandbox) -> KernelOptions {
    let mut options = KernelOptions::new(RouteInput {
        flag: Some(sandbox.registry()),
        runtime_root_flag: Some(sandbox.runtime_root()),
        cwd: sandbox.project(),
        home: Some(sandbox.home()),
        ..RouteInput::default()
    });
    options.clock = Clock::Fixed(Instant::parse(NOW).unwrap());
    options.deadline = Duration::from_secs(10);
    options
}

/// A kernel that stays open in this process.
fn handle(sandbox: &Sandbox) -> Kernel {
    Kernel::open(options(sandbox)).unwrap()
}

fn goal(sandbox: &Sandbox, id: &str) {
    let words = format!("goal create --goal-id {id} --objective o --agent-id a,b");
    sandbox.at(NOW).json(words.split(' '));
}

fn add(kernel: &Kernel, goal: &str, text: &str) -> Result<Value> {
    kernel.call("todo.add", &json!({"goal_id": goal, "role": "agent", "text": text}))
}

fn texts(kernel: &Kernel, goal: &str) -> Vec<String> {
    let listed = kernel.call("todo.list", &json!({"goal_id": goal})).unwrap();
    let todos = listed["todos"].as_array().unwrap().iter();
    todos.map(|t| t["text"].as_str().unwrap().to_owned()).collect()
}

// ---- 8: every door claims in the same way

#[test]
fn row_8_handles_and_commands_that_claim_one_todo_have_one_winner() {
    let sandbox = Sandbox::new();
    let agents: Vec<String> = (0..8).map(|n| format!("agent-{n}")).collect();
    let create = format!("goal create --goal-id g --objective o --agent-id {}", agents.join(","));
    sandbox.at(NOW).json(create.split(' '));
    for round in 0..12 {
        let kernel = handle(&sandbox);
        let todo = add(&kernel, "g", &format!("todo {round}")).unwrap()["todo_id"].clone();
        let id = todo.as_str().unwrap();
        let start = Barrier::new(5);
        let mut answers: Vec<Value> = Vec::new();
        thread::scope(|scope| {
            // Four handles in this process, and four processes.
            let claims: Vec<_> = agents[..4]
                .iter()
                .map(|agent| {
                    let (start, sandbox) = (&start, &sandbox);
                    scope.spawn(move || {
                        let kernel = handle(sandbox);
                        start.wait();
                        let request = json!({"goal_id": "g", "todo_id": id, "claimed_by": agent});
                        let said = kernel.call("todo.claim", &request);
                        said.unwrap_or_else(|error| error.to_json())
                    })
                })
                .collect();
            start.wait();
            let commands = agents[4..].iter().map(|agent| {
                let words = format!("todo claim --goal-id g --todo-id {id} --claimed-by {agent}");
                sandbox.at(NOW).command(words.split(' '))
            });
            answers.extend(at_once(commands.collect()).iter().map(|o| o.json()));
            answers.extend(claims.into_iter().map(|c| c.join().unwrap()));
        });
        let won = answers.iter().filter(|a| a["claimed"] == true).count();
        let lost = answers.iter().filter(|a| a["error_code"] == "already_claimed").count();
        assert_eq!((won, lost), (1, 7), "round {round}: {answers:?}");
    }
}

#[test]
fn row_8_an_effect_of_one_door_is_the_others_first_receipt() {
    let sandbox = Sandbox::new();
    goal(&sandbox, "g");
    let kernel = handle(&sandbox);
    let asked = json!({"goal_id": "g", "effect_id": "e1", "role": "agent", "text": "one"});
    let first = kernel.call("todo.add", &asked).unwrap();
    let words = "todo add --goal-id g --effect-id e1 --role agent --text one";
    let again = sandbox.at(NOW).json(words.split(' '));
    assert_eq!(again["idempotent_replay"], true);
    assert_eq!((&again["todo_id"], &again["commit"]), (&first["todo_id"], &first["commit"]));
    // And the other way round, with a turn.
    let words = "turn admit --goal-id g --agent-id a --turn-instance-id t-1";
    let admitted = sandbox.at(NOW).json(words.split(' '));
    let asked = json!({"goal_id": "g", "agent_id": "a", "turn_instance_id": "t-1"});
    let replayed = kernel.call("turn.admit", &asked).unwrap();
    assert_eq!(replayed["heartbeat_receipt"]["status"], "replayed");
    assert_eq!(replayed["selected_todo"], admitted["selected_todo"]);
    let other = json!({"goal_id": "g", "agent_id": "b", "turn_instance_id": "t-1"});
    assert_eq!(kernel.call("turn.admit", &other).unwrap()["error_code"], "turn_conflict");
}

// ---- 20: no selection stays behind in a handle

#[test]
fn row_20_two_goals_in_one_handle_never_write_into_each_other() {
    let sandbox = Sandbox::new();
    goal(&sandbox, "g");
    goal(&sandbox, "h");
    let kernel = handle(&sandbox);
    thread::scope(|scope| {
        for goal in ["g", "h"] {
            let kernel = &kernel;
            scope.spawn(move || {
                for n in 0..25 {
                    add(kernel, goal, &format!("{goal} {n}")).unwrap();
                }
            });
        }
    });
    for goal in ["g", "h"] {
        let texts = texts(&kernel, goal);
        assert_eq!(texts.len(), 25);
        assert!(texts.iter().all(|t| t.starts_with(goal)), "{texts:?}");
    }
    // What was last used is not used again for a request that names no goal.
    add(&kernel, "h", "last").unwrap();
    let unnamed = kernel.call("todo.add", &json!({"role": "agent", "text": "whose"}));
    assert_eq!(unnamed.unwrap_err().code, ErrorCode::GoalRequired);
}

// ---- 22: a handle answers from what is there now

#[test]
fn row_22_an_open_handle_sees_commands_hand_edits_and_another_registry() {
    let sandbox = Sandbox::new();
    goal(&sandbox, "g");
    let kernel = handle(&sandbox);
    let ask = json!({"goal_id": "g", "agent_id": "a"});
    let rule = || kernel.call("quota.should_run", &ask).unwrap()["rule"].clone();
    assert_eq!(rule(), "run", "the goal is to be planned");
    // A command.
    let words = "todo add --goal-id g --role agent --text one";
    let todo = sandbox.at(NOW).json(words.split(' '))["todo_id"].clone();
    let selected = || kernel.call("quota.should_run", &ask).unwrap()["selected_todo"].clone();
    assert_eq!(selected()["todo_id"], todo);
    assert_eq!(texts(&kernel, "g"), ["one"]);
    // A person's hand.
    let path = sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("- [ ] one", "- [ ] [P0] first\n- [ ] one", 1)).unwrap();
    assert_eq!(selected()["todo_id"], Value::Null, "a line without an id yet is selected");
    assert_eq!(texts(&kernel, "g").len(), 2);
    // The registry.
    sandbox.at(NOW).json("goal stop --goal-id g".split(' '));
    assert_eq!(rule(), "goal_stopped");
    sandbox.at(NOW).json("goal resume --goal-id g".split(' '));
    assert_eq!(rule(), "run");
    // A store that was put back.
    let backup = sandbox.base().join("backup");
    let words = ["store", "backup", "--goal-id", "g", "--dir"].map(PathBuf::from);
    sandbox.at(NOW).json(words.iter().chain([&backup]));
    add(&kernel, "g", "two").unwrap();
    let words = ["store", "restore", "--goal-id", "g", "--execute", "--accept-loss", "--from"];
    let restored = sandbox.at(NOW).run(words.map(PathBuf::from).iter().chain([&backup]));
    if restored.code == 0 {
        add(&kernel, "g", "three").unwrap();
        let listed = sandbox.at(NOW).json("todo list --goal-id g".split(' '));
        let of_command = listed["todos"].as_array().unwrap().len();
        assert_eq!(texts(&kernel, "g").len(), of_command);
    }
}

// ---- 52: files are taken away under a live process

#[test]
fn row_52_a_handle_whose_files_are_taken_away_says_so_and_goes_on_when_they_are_back() {
    let sandbox = Sandbox::new();
    goal(&sandbox, "g");
    let kernel = handle(&sandbox);
    add(&kernel, "g", "one").unwrap();
    let store = sandbox.store_folder("g").join("goal.db");
    // The journal and the lock file are nobody's memory: both are made anew.
    for name in ["goal.db-journal", "goal.db.lock"] {
        let _ = fs::remove_file(store.with_file_name(name));
        add(&kernel, "g", &format!("after {name}")).unwrap();
    }
    // The store itself: nothing is written into the file that has lost its name.
    let aside = store.with_file_name("aside");
    fs::rename(&store, &aside).unwrap();
    let before = fs::read(&aside).unwrap();
    for _ in 0..2 {
        assert_eq!(add(&kernel, "g", "lost").unwrap_err().code, ErrorCode::StoreUnreadable);
        assert!(!store.exists(), "it is not made anew");
    }
    assert_eq!(fs::read(&aside).unwrap(), before);
    fs::rename(&aside, &store).unwrap();
    add(&kernel, "g", "back").unwrap();
    assert_eq!(texts(&kernel, "g"), ["one", "after goal.db-journal", "after goal.db.lock", "back"]);
    // Another file of the same content in its place is the one that counts.
    fs::copy(&store, &aside).unwrap();
    fs::rename(&aside, &store).unwrap();
    add(&kernel, "g", "last").unwrap();
    assert_eq!(
        handle(&sandbox).call("todo.list", &json!({"goal_id": "g"})).unwrap()["todos"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
}

/// An orphan that keeps a lock is named, so that a person can look at it.
#[test]
fn row_52_who_keeps_a_lock_is_named_with_process_and_operation() {
    let sandbox = Sandbox::new();
    goal(&sandbox, "g");
    add(&handle(&sandbox), "g", "one").unwrap();
    let store = sandbox.store_folder("g").join("goal.db");
    let lock =
        fs::File::options().read(true).write(true).open(store.with_file_name("goal.db.lock"));
    let lock = lock.unwrap();
    lock.lock().unwrap();
    let record = json!({"operation": "todo.add", "pid": 4242, "agent": "a"});
    std::os::unix::fs::FileExt::write_all_at(&lock, record.to_string().as_bytes(), 0).unwrap();
    lock.set_len(record.to_string().len() as u64).unwrap();
    let mut options = options(&sandbox);
    options.deadline = Duration::from_millis(200);
    let begun = Stopwatch::now();
    let error = add(&Kernel::open(options).unwrap(), "g", "x").unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(error.code, ErrorCode::LockTimeout);
    assert!(error.text().contains("4242") && error.text().contains("todo.add"), "{}", error.text());
}

// ---- 58: locks that hold on one host only

/// The kinds of file system are made up by the preloaded library, as `statfs` tells them.
#[cfg(target_os = "linux")]
#[test]
fn row_58_a_store_on_a_network_file_system_is_refused_by_every_writer() {
    use loopx_tests::faults::{Fault, Kind, Library};
    let library = match Library::built() {
        Ok(library) => library,
        Err(why) => return loopx_tests::skip("network file systems", &why),
    };
    let sandbox = Sandbox::new();
    goal(&sandbox, "g");
    let none = Fault { kind: Kind::Io, at: 0, sticky: false };
    let before = fs::read(sandbox.store_folder("g").join("goal.db")).unwrap();
    let run = |kind: &str, words: &str| {
        let more = [("LOOPX_FAULT_FS", kind.as_ref())];
        library.run_with(&sandbox, NOW, none, &more, words.split(' ')).0
    };
    for (kind, name) in [("0x6969", "NFS"), ("0xff534d42", "CIFS"), ("0x01021997", "9p")] {
        for words in [
            "todo add --goal-id g --role agent --text x",
            "turn admit --goal-id g --agent-id a --turn-instance-id t",
            "goal create --goal-id h --objective o",
            "goal stop --goal-id g",
        ] {
            let refused = run(kind, words);
            let answer = refused.json();
            assert_eq!(answer["error_code"], "network_file_system", "{words}: {refused}");
            assert!(answer["error"].as_str().unwrap().contains(name), "{answer}");
        }
    }
    assert_eq!(fs::read(sandbox.store_folder("g").join("goal.db")).unwrap(), before);
    let listed = sandbox.at(NOW).json("goal list".split(' '));
    assert_eq!(listed["goals"].as_array().unwrap().len(), 1, "h was not made");
    // A local one, and the same through a plain read, which takes no lock.
    assert_eq!(run("0xef53", "todo add --goal-id g --role agent --text x").code, 0);
    assert_eq!(run("0x6969", "todo list --goal-id g").code, 0);
}

// ---- 89: a machine that was suspended

/// Nothing of ours counts ticks: what is due, what has lapsed and how long a host is told to
/// wait follow from the wall's instant when the next question is asked.
#[test]
fn row_89_after_a_suspend_what_is_due_and_lapsed_follows_from_the_instant() {
    let sandbox = Sandbox::new();
    goal(&sandbox, "g");
    let at =
        |time: &str, words: &str| sandbox.at(&format!("2026-11-29T{time}Z")).json(words.split(' '));
    let monitor = at(
        "12:00:00",
        "todo add --goal-id g --role agent --task-class continuous_monitor --cadence 10m --text watch",
    )["todo_id"]
        .clone();
    let ask = "quota should-run --goal-id g --agent-id a";
    let waits = |time: &str| {
        let hint = at(time, ask)["scheduler_hint"]["next_check_minutes"].clone();
        hint.as_u64().unwrap()
    };
    assert!(waits("12:01:00") <= 9, "{}", waits("12:01:00"));
    // The host sleeps from 12:01 to 12:43 and asks when it wakes, not 9 minutes of its own later.
    let due = at("12:43:00", ask);
    assert_eq!(due["should_run"], true, "{due}");
    assert_eq!(due["selected_todo"]["todo_id"], monitor);
    let admitted = at(
        "12:43:00",
        "turn admit --goal-id g --agent-id a --turn-instance-id t-1 --ttl-seconds 600",
    );
    assert_eq!(admitted["should_run"], true);
    // Suspended once more, in the turn: it has lapsed at its instant, and settles late.
    let words = "turn settle --goal-id g --agent-id a --turn-instance-id t-1 --outcome no_change";
    assert_eq!(at("14:00:00", "quota status --goal-id g")["goals"][0]["reserved_slots"], 0);
    let settled = at("14:00:00", words);
    assert_eq!(settled["settled"], true, "{settled}");
    // One look, however many were missed; the next is a cadence after it.
    assert_eq!(at("14:00:01", ask)["should_run"], false);
    assert!(waits("14:00:01") <= 10);
    assert_eq!(at("14:10:01", ask)["selected_todo"]["todo_id"], monitor);
}

// ---- 91: an hour that comes twice

/// Both passes of the repeated hour, in local offsets, and the hour that is left out: a cadence
/// is a length of time, so every look is due exactly once.
#[test]
fn row_91_a_cadence_goes_on_through_the_repeated_and_the_missing_hour() {
    for (zone, days) in [
        (
            "the clock goes back",
            [("2026-10-25T01:50:00", "+02:00"), ("2026-10-25T03:10:00", "+01:00")],
        ),
        (
            "the clock goes forward",
            [("2026-03-29T01:50:00", "+01:00"), ("2026-03-29T03:10:00", "+02:00")],
        ),
    ] {
        let sandbox = Sandbox::new();
        let [(from, offset), (until, later)] = days;
        let instant =
            |local: &str, offset: &str| Instant::parse(&format!("{local}{offset}")).unwrap();
        let (start, end) = (instant(from, offset), instant(until, later));
        let change =
            if zone.ends_with("back") { "2026-10-25T01:00:00Z" } else { "2026-03-29T01:00:00Z" };
        let change = Instant::parse(change).unwrap();
        // As somebody there reads the clock.
        let local = |at: Instant| {
            let (offset, hours) = match (at < change, zone.ends_with("back")) {
                (true, true) | (false, false) => ("+02:00", 2),
                (true, false) | (false, true) => ("+01:00", 1),
            };
            let shifted = at.plus_micros(hours * 3_600_000_000).to_string();
            format!("{}{offset}", &shifted[..19])
        };
        let run = |at: Instant, words: &str| sandbox.at(&local(at)).json(words.split(' '));
        run(start, "goal create --goal-id g --objective o --agent-id a --allowed-slots 99");
        run(
            start,
            "todo add --goal-id g --role agent --task-class continuous_monitor --cadence 5m --text watch",
        );
        let (mut at, mut looks) = (start.plus_micros(60_000_000), Vec::new());
        let monitor = run(start, "monitor list --goal-id g");
        let id = monitor["monitors"][0]["todo_id"].as_str().unwrap().to_owned();
        while at < end {
            let asked = run(at, "quota should-run --goal-id g --agent-id a");
            if asked["selected_todo"]["todo_id"] == id.as_str() {
                let poll = format!(
                    "quota monitor-poll --goal-id g --agent-id a --todo-id {id} --result-hash h{} --execute",
                    looks.len()
                );
                run(at, &poll);
                looks.push(at);
            }
            at = at.plus_micros(60_000_000);
        }
        let minutes = (end.micros() - start.micros()) / 60_000_000;
        assert_eq!(looks.len() as i64, (minutes - 1) / 5, "{zone}: {minutes} minutes");
        for pair in looks.windows(2) {
            assert_eq!(pair[1].micros() - pair[0].micros(), 5 * 60_000_000, "{zone}");
        }
    }
}
