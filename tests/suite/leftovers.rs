//! What killed processes leave is found, and taken away when it is old and only then; what may
//! be somebody's is never taken.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use loopx_tests::faults::{Fault, Kind, Library, litter, orphans};
use loopx_tests::{Sandbox, skip};
use serde_json::Value;
use std::fs;

const NOW: &str = "2026-11-29T12:00:00Z";
const MUCH_LATER: &str = "2200-01-01T00:00:00Z";
/// Whatever the machine's clock says, no file is older than this.
const LONG_AGO: &str = "1990-01-01T00:00:00Z";
const PRUNE: &str = "store prune --goal-id g --keep-days 36500 --execute";

fn goal(sandbox: &Sandbox, id: &str) {
    let words = format!("goal create --goal-id {id} --objective o --agent-id a");
    sandbox.at(NOW).json(words.split(' '));
}

fn problems(sandbox: &Sandbox) -> Vec<String> {
    let answer = sandbox.at(NOW).run("store check --goal-id g".split(' ')).json();
    let problems = answer["goals"][0]["problems"].as_array().unwrap().iter();
    problems.map(|p| p["code"].as_str().unwrap().to_owned()).collect()
}

/// `goal create h` killed at each of its calls, until it is not killed any more.
fn killed_creations(library: &Library, sandbox: &Sandbox) -> usize {
    let words = "goal create --goal-id h --objective o --agent-id a";
    for at in 1..200 {
        let fault = Fault { kind: Kind::Kill, at, sticky: false };
        if library.run(sandbox, NOW, fault, words.split(' ')).0.code != 137 {
            return at;
        }
    }
    panic!("it was always killed");
}

#[test]
fn stores_that_were_never_finished_are_told_and_go_when_they_are_old() {
    let library = match Library::built() {
        Ok(library) => library,
        Err(why) => return skip("orphaned stores", &why),
    };
    let sandbox = Sandbox::in_memory();
    goal(&sandbox, "g");
    assert_eq!(problems(&sandbox), Vec::<String>::new());
    let kills = killed_creations(&library, &sandbox);
    let (left, orphaned) = (litter(&sandbox), orphans(&sandbox));
    println!("{kills} kills left {left} files and {orphaned} stores");
    assert!(orphaned > 10, "{orphaned}");
    let told = problems(&sandbox);
    assert!(told.contains(&"orphaned_store".to_owned()), "{told:?}");
    // They are young: a process that is slow may still be at work.
    sandbox.at(LONG_AGO).json(PRUNE.split(' '));
    assert_eq!(orphans(&sandbox), orphaned);
    let said = sandbox.at(MUCH_LATER).json(PRUNE.split(' '));
    assert!(said["leftovers_removed"].as_u64().unwrap() as usize >= orphaned, "{said}");
    // What lies beside the other goal's state file is that goal's.
    sandbox.at(MUCH_LATER).json(PRUNE.replace("-id g", "-id h").split(' '));
    assert_eq!((litter(&sandbox), orphans(&sandbox)), (0, 0));
    assert_eq!(problems(&sandbox), Vec::<String>::new());
    // Both goals are there with all they had.
    for id in ["g", "h"] {
        let words = format!("todo add --goal-id {id} --role agent --text one");
        sandbox.at(NOW).json(words.split(' '));
    }
}

#[test]
fn a_store_that_holds_work_or_is_of_another_registry_is_never_an_orphan() {
    let sandbox = Sandbox::in_memory();
    goal(&sandbox, "g");
    goal(&sandbox, "h");
    sandbox.at(NOW).json("todo add --goal-id h --role agent --text work".split(' '));
    let folder = sandbox.store_folder("h");
    // The registry of an earlier day is brought back, and the mark was left by a crash.
    let registry = fs::read_to_string(sandbox.registry()).unwrap();
    let mut earlier: Value = serde_json::from_str(&registry).unwrap();
    earlier["goals"].as_array_mut().unwrap().retain(|g| g["id"] == "g");
    fs::write(sandbox.registry(), earlier.to_string()).unwrap();
    let path = sandbox.registry();
    let owner = loopx_core::file::sha256_hex(path.as_os_str().as_encoded_bytes());
    fs::write(folder.join("create.draft"), format!("{owner} -\n")).unwrap();
    sandbox.at(MUCH_LATER).json(PRUNE.split(' '));
    assert!(folder.join("goal.db").exists(), "it has commits beside the first");
    // One that another registry makes.
    let other = sandbox.runtime_root().join("goals").join(format!("g-{:032x}", 7));
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("create.draft"), "0000 -\n").unwrap();
    fs::write(other.join("goal.db"), "of another").unwrap();
    sandbox.at(MUCH_LATER).json(PRUNE.split(' '));
    assert!(other.join("goal.db").exists());
    // Its mark goes once the registry names it again.
    fs::write(sandbox.registry(), &registry).unwrap();
    sandbox.at(MUCH_LATER).json(PRUNE.split(' '));
    assert!(!folder.join("create.draft").exists());
    sandbox.at(NOW).json("todo list --goal-id h".split(' '));
}

#[test]
fn a_write_tidies_up_now_and_then_and_touches_nothing_else() {
    let sandbox = Sandbox::in_memory();
    goal(&sandbox, "g");
    let folder = sandbox.project().join(".loopx/goals/g");
    let mine = folder.join(".loopx-note-1-2.tmp");
    fs::write(&mine, "a person's").unwrap();
    let of = |name: &str| {
        let digest = loopx_core::file::sha256_hex(name.as_bytes());
        format!(".loopx-{}-4294967295-{:024x}.tmp", &digest[..8], 9)
    };
    let dead = folder.join(of("ACTIVE_GOAL_STATE.md"));
    let draft = sandbox.store_folder("g").join(".goal.db.4294967295.new");
    fs::write(&dead, "half a projec").unwrap();
    fs::write(&draft, "x").unwrap();
    assert!(problems(&sandbox).iter().filter(|c| *c == "leftover_file").count() >= 2);
    for n in 0..70 {
        let words = format!("todo update --goal-id g --todo-id x{n} --text y");
        sandbox.at(MUCH_LATER).run(words.split(' '));
        let words = format!("todo add --goal-id g --role agent --text t{n}");
        sandbox.at(MUCH_LATER).json(words.split(' '));
        if !dead.exists() {
            break;
        }
    }
    assert!(!dead.exists() && !draft.exists());
    assert!(mine.exists());
}
