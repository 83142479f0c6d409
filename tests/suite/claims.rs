//! Many writers at once, and writers that are killed: one winner, nothing lost, nothing
//! twice, and the store whole.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::{Output, Sandbox, at_once};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

fn world(agents: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let roster: Vec<_> = (0..agents).map(|n| format!("agent-{n}")).collect();
    let words = "goal create --goal-id g --objective o --agent-id".split(' ');
    sandbox.json(words.map(str::to_owned).chain([roster.join(",")]));
    sandbox
}

fn add(sandbox: &Sandbox, text: &str) -> String {
    let words = "todo add --goal-id g --role agent --text".split(' ');
    sandbox.json(words.chain([text]))["todo_id"].as_str().unwrap().to_owned()
}

fn many(sandbox: &Sandbox, words: impl IntoIterator<Item = String>) -> Vec<Output> {
    let call = sandbox.call();
    at_once(words.into_iter().map(|words| call.command(words.split_whitespace())).collect())
}

fn todos(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.json("todo list --goal-id g --archived".split(' '))["todos"].as_array().unwrap().clone()
}

fn state_file(sandbox: &Sandbox) -> String {
    let shown = sandbox.entry("g")["state_file"].as_str().unwrap().to_owned();
    fs::read_to_string(sandbox.project().join(shown)).unwrap()
}

/// What SQLite itself says of a store, and that the log of commits has no gap.
#[track_caller]
fn assert_whole(sandbox: &Sandbox, goal: &str) {
    let path = sandbox.store_folder(goal).join("goal.db");
    let store = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let said: String = store.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok", "{}", path.display());
    let (count, last): (i64, i64) = store
        .query_row("SELECT count(*), max(n) FROM commits", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(count, last, "the commits of {goal} have gaps");
}

fn assert_one_winner(agents: usize) {
    let sandbox = world(agents);
    let todo = add(&sandbox, "[P1] one");
    let outputs = many(
        &sandbox,
        (0..agents)
            .map(|n| format!("todo claim --goal-id g --todo-id {todo} --claimed-by agent-{n}")),
    );
    let (won, lost): (Vec<_>, Vec<_>) = outputs.iter().partition(|output| output.code == 0);
    assert_eq!(won.len(), 1, "{agents} claims have {} winners", won.len());
    let winner = won[0].json()["claimed_by"].as_str().unwrap().to_owned();
    for output in lost {
        let refused = output.json();
        assert_eq!(refused["error_code"], "already_claimed", "{output}");
        let said = refused["error"].as_str().unwrap();
        assert!(said.ends_with(&format!("claimed by {winner}")), "{said:?} does not name {winner}");
    }
    assert_eq!(todos(&sandbox)[0]["claimed_by"], winner.as_str());
    assert!(state_file(&sandbox).contains(&format!("claimed_by={winner} ")));
    assert_whole(&sandbox, "g");
    // Claiming one's own again is no error and no commit.
    let words = format!("todo claim --goal-id g --todo-id {todo} --claimed-by {winner}");
    assert_eq!(sandbox.json(words.split(' '))["changed"], false);
}

#[test]
fn eight_claims_of_one_todo_have_one_winner() {
    assert_one_winner(8);
}

#[test]
fn thirty_two_claims_of_one_todo_have_one_winner() {
    assert_one_winner(32);
}

#[test]
fn sixteen_processes_that_add_todos_lose_none() {
    let sandbox = world(2);
    let outputs = many(
        &sandbox,
        (0..16).map(|n| format!("todo add --goal-id g --role agent --text work-{n}")),
    );
    let ids: BTreeSet<String> = outputs
        .iter()
        .map(|output| {
            assert_eq!(output.code, 0, "{output}");
            output.json()["todo_id"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(ids.len(), 16, "ids are unique");
    let listed: BTreeSet<String> =
        todos(&sandbox).iter().map(|todo| todo["todo_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(listed, ids);
    let file = state_file(&sandbox);
    for (n, output) in outputs.iter().enumerate() {
        let id = output.json()["todo_id"].as_str().unwrap().to_owned();
        assert!(
            file.contains(&format!("- [ ] work-{n}\n  <!-- loopx:todo todo_id={id} ")),
            "work-{n} is not in the state file:\n{file}"
        );
    }
    assert_whole(&sandbox, "g");
}

#[test]
fn sixteen_processes_that_add_the_same_todo_make_one() {
    let sandbox = world(2);
    let outputs =
        many(&sandbox, (0..16).map(|_| "todo add --goal-id g --role agent --text same".to_owned()));
    let ids: BTreeSet<String> = outputs
        .iter()
        .map(|output| output.json()["todo_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((ids.len(), todos(&sandbox).len()), (1, 1));
}

#[test]
fn sixteen_goals_made_at_once_in_one_registry_are_all_there() {
    let sandbox = Sandbox::new();
    let outputs = many(
        &sandbox,
        (0..16).map(|n| format!("goal create --goal-id g-{n} --objective o --agent-id agent-a")),
    );
    for output in &outputs {
        assert_eq!(output.code, 0, "{output}");
        assert!(output.json().get("global_projection").is_none(), "{output}");
    }
    let global = sandbox.runtime_root().join("registry.global.json");
    for path in [sandbox.registry(), global] {
        let registry: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let ids: BTreeSet<_> = registry["goals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|goal| goal["id"].as_str().unwrap().to_owned())
            .collect();
        let all: BTreeSet<_> = (0..16).map(|n| format!("g-{n}")).collect();
        assert_eq!(ids, all, "{}", path.display());
    }
    for n in 0..16 {
        assert_whole(&sandbox, &format!("g-{n}"));
    }
}

/// The same goal from sixteen processes: one makes it.
#[test]
fn one_goal_made_sixteen_times_at_once_is_made_once() {
    let sandbox = Sandbox::new();
    let outputs = many(
        &sandbox,
        (0..16).map(|_| "goal create --goal-id g --objective o --agent-id agent-a".to_owned()),
    );
    let (made, refused): (Vec<_>, Vec<_>) = outputs.iter().partition(|output| output.code == 0);
    assert_eq!(made.len(), 1);
    assert!(refused.iter().all(|output| output.json()["error_code"] == "goal_exists"));
    let stores = fs::read_dir(sandbox.runtime_root().join("goals")).unwrap().count();
    assert_eq!(stores, 1, "a refused creation leaves nothing behind");
}

#[test]
fn sixteen_registrations_at_once_lose_no_agent() {
    let sandbox = world(1);
    let outputs =
        many(&sandbox, (0..16).map(|n| format!("agent register --goal-id g --agent-id new-{n}")));
    for output in &outputs {
        assert_eq!(output.code, 0, "{output}");
    }
    let agents = sandbox.json("agent list --goal-id g".split(' '));
    assert_eq!(agents["agents"].as_array().unwrap().len(), 17);
    assert_whole(&sandbox, "g");
}

#[test]
fn registry_changes_beside_other_writes_keep_their_receipts() {
    let sandbox = world(1);
    for round in 0..4 {
        let outputs = many(
            &sandbox,
            (0..12).map(|n| match n % 2 {
                0 => format!(
                    "agent register --goal-id g --agent-id a-{round}-{n} --effect-id r-{round}-{n}"
                ),
                _ => format!("todo add --goal-id g --role agent --text t-{round}-{n}"),
            }),
        );
        for output in &outputs {
            assert_eq!(output.code, 0, "{output}");
        }
    }
    assert_whole(&sandbox, "g");
}

// ---- killed writers

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn start(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The answer, when the process lived to give one.
fn acknowledged(child: Child) -> Option<Value> {
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice::<Value>(&output.stdout).ok().filter(|answer| answer["ok"] == true)
}

/// Microseconds that a whole write takes here, so that kills fall into all of it.
fn one_write(sandbox: &Sandbox) -> u64 {
    let begun = std::time::Instant::now();
    for n in 0..4 {
        add(sandbox, &format!("warm-{n}"));
    }
    u64::try_from(begun.elapsed().as_micros()).unwrap() / 4
}

#[test]
fn thirty_killed_writers_lose_nothing_that_was_acknowledged() {
    let sandbox = world(1);
    let span = one_write(&sandbox) * 5 / 4;
    let mut dice = Dice(7);
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut cut_off = 0;
    let call = sandbox.call();
    let words = |n: usize| -> Vec<String> {
        format!("todo add --goal-id g --role agent --text work-{n} --effect-id e-{n}")
            .split(' ')
            .map(str::to_owned)
            .collect()
    };
    for n in 0..30 {
        let mut victim = start(call.command(words(n)));
        thread::sleep(Duration::from_micros(dice.below(span)));
        // It may be over already; then it was acknowledged.
        let _ = victim.kill();
        match acknowledged(victim) {
            Some(answer) => {
                kept.insert(answer["todo_id"].as_str().unwrap().to_owned());
            }
            None => cut_off += 1,
        }
        let asked = sandbox.json("quota should-run --goal-id g --agent-id agent-0".split(' '));
        assert_eq!(asked["rule"], "run", "after kill {n}: {asked:#}");
        assert_whole(&sandbox, "g");
        let there: BTreeSet<String> = todos(&sandbox)
            .iter()
            .map(|todo| todo["todo_id"].as_str().unwrap().to_owned())
            .collect();
        assert!(kept.is_subset(&there), "after kill {n}: acknowledged and gone");
    }
    println!("{cut_off} of 30 were cut off");
    assert!(cut_off > 0, "no kill fell into a write");

    // Each command again: what was done answers its receipt, the rest is done now.
    for n in 0..30 {
        let answer = sandbox.json(words(n));
        assert_eq!(answer["todo"], format!("work-{n}"));
    }
    let texts: Vec<String> = todos(&sandbox)
        .iter()
        .map(|todo| todo["text"].as_str().unwrap().to_owned())
        .filter(|text| text.starts_with("work-"))
        .collect();
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), 30);
    assert_eq!(texts.len(), 30, "nothing twice");
    let file = state_file(&sandbox);
    for text in texts {
        assert!(file.contains(&format!("- [ ] {text}\n")), "{text} is not in the state file");
    }
    assert_whole(&sandbox, "g");
}

/// A registry change is two commits around the replacement of a file: killed anywhere,
/// it is there or not there, and repeating it gives the one receipt.
#[test]
fn killed_registry_changes_are_finished_or_dropped() {
    let sandbox = world(1);
    let span = one_write(&sandbox) * 3;
    let mut dice = Dice(11);
    let call = sandbox.call();
    let registered = || -> BTreeSet<String> {
        let agents = sandbox.json("agent list --goal-id g".split(' '));
        let agents = agents["agents"].as_array().unwrap();
        agents.iter().map(|agent| agent["agent_id"].as_str().unwrap().to_owned()).collect()
    };
    for n in 0..15 {
        let words = format!("agent register --goal-id g --agent-id new-{n} --effect-id r-{n}");
        let mut victim = start(call.command(words.split(' ')));
        thread::sleep(Duration::from_micros(dice.below(span)));
        let _ = victim.kill();
        let answer = acknowledged(victim);
        let there = registered().contains(&format!("new-{n}"));
        assert!(there || answer.is_none(), "new-{n} was acknowledged and is not there");
        // Another write finishes or drops it.
        add(&sandbox, &format!("after-{n}"));
        assert_eq!(registered().contains(&format!("new-{n}")), there, "new-{n}");
        assert_whole(&sandbox, "g");
        let again = sandbox.json(words.split(' '));
        assert!(registered().contains(&format!("new-{n}")));
        // Whichever way, the receipt is that of the call that registered the agent.
        assert_eq!(again["registered"], serde_json::json!([format!("new-{n}")]), "{again:#}");
        assert_eq!(again["idempotent_replay"] == true, there, "{again:#}");
    }
    assert_whole(&sandbox, "g");
}

/// Killed while making a goal: it is there as a whole or not at all, and the same name
/// can be used.
#[test]
fn killed_creations_leave_a_goal_or_none() {
    let sandbox = Sandbox::new();
    let span = {
        let begun = std::time::Instant::now();
        sandbox.json("goal create --goal-id first --objective o --agent-id agent-0".split(' '));
        u64::try_from(begun.elapsed().as_micros()).unwrap() * 5 / 4
    };
    let mut dice = Dice(13);
    let call = sandbox.call();
    for n in 0..10 {
        let words = format!("goal create --goal-id g-{n} --objective o --agent-id agent-0");
        let mut victim = start(call.command(words.split(' ')));
        thread::sleep(Duration::from_micros(dice.below(span)));
        let _ = victim.kill();
        let answer = acknowledged(victim);
        let again = sandbox.run(words.split(' '));
        match again.code {
            0 => assert!(answer.is_none(), "g-{n} was acknowledged and is made again"),
            _ => assert_eq!(again.json()["error_code"], "goal_exists", "{again}"),
        }
        let asked = format!("quota should-run --goal-id g-{n} --agent-id agent-0");
        assert_eq!(sandbox.json(asked.split(' '))["reason_code"], "plan_first");
        assert_whole(&sandbox, &format!("g-{n}"));
    }
}
