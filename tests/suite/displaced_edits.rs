//! A person saves the state file while a command writes it, at every instant, and the command
//! is killed at every later one: the edit is there afterwards, once.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::faults::{Copy, Fault, Kind, Library, check_whole, litter};
use loopx_tests::{Sandbox, skip};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

const NOW: &str = "2026-11-29T12:00:00Z";
const MUCH_LATER: &str = "2200-01-01T00:00:00Z";
const EDIT: &str = "by the hand of a person";

fn state_file(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md")
}

/// A goal with three todos, and a command that changes one and adds one.
fn stand() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::in_memory();
    sandbox.at(NOW).json("goal create --goal-id g --objective o --agent-id a".split(' '));
    let mut first = None;
    for text in ["one", "two", "three"] {
        let words = format!("todo add --goal-id g --role agent --text {text}");
        let added = sandbox.at(NOW).json(words.split(' '));
        first = first.or_else(|| added["todo_id"].as_str().map(str::to_owned));
    }
    let words = format!(
        "todo complete --goal-id g --agent-id a --todo-id {} --next-agent-todo after --effect-id e",
        first.unwrap()
    );
    (sandbox, words.split(' ').map(str::to_owned).collect())
}

fn todos(sandbox: &Sandbox) -> Vec<(String, String)> {
    let listed = sandbox.at(NOW).json("todo list --goal-id g --role agent".split(' '));
    let text = |todo: &Value, key: &str| todo[key].as_str().unwrap_or_default().to_owned();
    let todos = listed["todos"].as_array().unwrap().iter();
    let mut todos: Vec<_> = todos.map(|t| (text(t, "text"), text(t, "status"))).collect();
    todos.sort();
    todos
}

/// What a person may save, from what the file held.
fn saved(text: &str, whole: bool) -> Vec<u8> {
    if !whole {
        // Not text at all: it can be kept, not taken in.
        return b"\xff\xfe of a person".to_vec();
    }
    let heading = "## Agent Todo\n";
    assert!(text.contains(heading), "{text}");
    text.replacen(heading, &format!("{heading}\n- [ ] {EDIT}\n"), 1).into_bytes()
}

struct Point {
    save: usize,
    kill: usize,
}

fn one(
    library: &Library,
    sandbox: &Sandbox,
    words: &[String],
    start: &Copy,
    point: &Point,
    whole: bool,
) -> Result<bool, String> {
    start.restore(sandbox);
    let path = state_file(sandbox);
    let draft = path.with_extension("editor");
    let text = saved(&fs::read_to_string(&path).unwrap(), whole);
    fs::write(&draft, &text).unwrap();
    let number = point.save.to_string();
    let more: [(&str, &OsStr); 3] = [
        ("LOOPX_FAULT_SAVE", number.as_ref()),
        ("LOOPX_FAULT_SAVE_FROM", draft.as_ref()),
        ("LOOPX_FAULT_SAVE_TO", path.as_ref()),
    ];
    let fault = Fault { kind: Kind::Kill, at: point.kill, sticky: false };
    let (output, _) = library.run_with(sandbox, NOW, fault, &more, words);
    if point.kill > 0 && output.code != 137 {
        // After a save there may be fewer calls than without one.
        return Ok(false);
    }
    let again = sandbox.at(NOW).run(words);
    let write = "todo add --goal-id g --role agent --text afterwards";
    sandbox.at(NOW).json(write.split(' '));
    check_whole(sandbox)?;
    if !whole {
        // It lies in its place, or beside it.
        let folder = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
        let named = |e: &fs::DirEntry| !e.file_name().to_string_lossy().starts_with('.');
        let kept = folder
            .filter(|e| named(e) && fs::read(e.path()).is_ok_and(|bytes| bytes == text))
            .count();
        return if kept > 0 { Ok(true) } else { Err(format!("the text is lost; {again}")) };
    }
    if again.code != 0 {
        return Err(format!("the repeat: {again}"));
    }
    let todos = todos(sandbox);
    let expected = [
        ("after", "open"),
        ("afterwards", "open"),
        (EDIT, "open"),
        ("one", "done"),
        ("three", "open"),
        ("two", "open"),
    ];
    let is: Vec<_> = todos.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    if is != expected {
        return Err(format!("todos are {is:?}"));
    }
    let shown = fs::read_to_string(&path).unwrap();
    if let Some((text, _)) = expected.iter().find(|(t, s)| {
        shown.lines().filter(|l| l.starts_with("- [") && l.ends_with(&format!("] {t}"))).count()
            != 1
            && *s == "open"
    }) {
        return Err(format!("{text:?} is not shown once:\n{shown}"));
    }
    sandbox.at(MUCH_LATER).json("store prune --goal-id g --keep-days 36500 --execute".split(' '));
    match litter(sandbox) {
        0 => Ok(true),
        left => Err(format!("{left} files are left")),
    }
}

fn sweep(whole: bool, every: usize) {
    let library = match Library::built() {
        Ok(library) => library,
        Err(why) => return skip("edits that are displaced in a crash", &why),
    };
    let (sandbox, words) = stand();
    let start = Copy::of(&sandbox);
    let none = Fault { kind: Kind::Kill, at: 0, sticky: false };
    let (output, calls) = library.run(&sandbox, NOW, none, &words);
    assert_eq!(output.code, 0, "{output}");
    let (mut points, mut killed, mut failures) = (0, 0, Vec::new());
    // The commit's own calls come before: from the last sync of the store on.
    let from = calls.iter().rposition(|c| c == "fsync").unwrap() - 2;
    for save in from..=calls.len() {
        // Without a kill, and killed at each later call; a save makes for more of them.
        for kill in std::iter::once(0).chain(save..calls.len() + 40) {
            // One in so many, at other calls for each save.
            if kill > save + 1 && !(save + kill).is_multiple_of(every) {
                continue;
            }
            let done = one(&library, &sandbox, &words, &start, &Point { save, kill }, whole);
            let at = calls.get(save - 1).map_or("-", String::as_str);
            match done {
                Ok(true) => killed += usize::from(kill > 0),
                Ok(false) => break,
                Err(why) => {
                    failures.push(format!("saved at {save} ({at}), killed at {kill}: {why}"))
                }
            }
            points += 1;
        }
    }
    println!("{points} points, {killed} of them killed, {} calls", calls.len());
    let shown = failures.iter().take(8).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {points} points:\n{shown}", failures.len());
    assert!(killed > 20, "{killed}");
}

#[test]
fn an_edit_saved_while_a_killed_command_wrote_is_taken_in_once() {
    sweep(true, 3);
}

#[test]
fn a_text_that_cannot_be_taken_in_is_kept_where_a_person_finds_it() {
    sweep(false, 5);
}
