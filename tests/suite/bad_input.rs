//! Input that is damaged, strange or hostile: each is refused with a typed error or
//! taken for what it is; nothing is lost and nothing is half-written.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::error::CATALOGUE;
use loopx_core::kernel::{Kernel, KernelOptions};
use loopx_core::registry::RouteInput;
use loopx_tests::{Call, Output, Sandbox, earlier, skip};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const NOW: &str = "2026-11-29T21:00:00Z";

// ---- what is compared ----

/// Every path below a folder with its bytes. Lock files are left out: they only say who
/// waited.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(base: &Path, path: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        let facts = path.symlink_metadata().unwrap();
        let kind = facts.file_type();
        let name = path.strip_prefix(base).unwrap().to_path_buf();
        if name.extension().is_some_and(|e| e == "lock") {
            return;
        }
        let bytes = if kind.is_file() {
            fs::read(path).unwrap()
        } else if kind.is_symlink() {
            fs::read_link(path).unwrap().into_os_string().into_encoded_bytes()
        } else if kind.is_fifo() {
            b"fifo".to_vec()
        } else {
            Vec::new()
        };
        // SQLite empties its journal and leaves it; an empty one says nothing.
        if !(bytes.is_empty() && path.to_string_lossy().ends_with("-journal")) {
            found.insert(name, bytes);
        }
        if kind.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                collect(base, &entry.unwrap().path(), found);
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found
}

#[track_caller]
fn assert_same(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    after: &BTreeMap<PathBuf, Vec<u8>>,
    what: &str,
) {
    let names =
        |of: &BTreeMap<PathBuf, Vec<u8>>, other: &BTreeMap<PathBuf, Vec<u8>>| -> Vec<String> {
            of.iter()
                .filter(|(path, bytes)| other.get(*path) != Some(bytes))
                .map(|(path, _)| path.display().to_string())
                .collect()
        };
    let (gone, new) = (names(before, after), names(after, before));
    assert!(
        gone.is_empty() && new.is_empty(),
        "{what}\ngone or changed: {gone:?}\nnew or changed: {new:?}"
    );
}

/// A refusal: exit 1, a code of the catalogue, and everything that a refusal says,
/// without a path of this machine.
#[track_caller]
fn assert_typed(sandbox: &Sandbox, output: &Output, codes: &[&str]) -> Value {
    assert_eq!(output.code, 1, "{output}");
    let answer = output.json();
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    assert_eq!(answer["ok"], json!(false), "{output}");
    let code = text("error_code");
    assert!(CATALOGUE.iter().any(|row| row.text == code), "unknown code {code}\n{output}");
    assert!(codes.contains(&code.as_str()), "{code}, not one of {codes:?}\n{output}");
    for key in ["error", "about", "next_command"] {
        assert!(!text(key).trim().is_empty(), "no {key}\n{output}");
    }
    assert_no_path(sandbox, output);
    answer
}

#[track_caller]
fn assert_no_path(sandbox: &Sandbox, output: &Output) {
    let base = sandbox.base().to_str().unwrap();
    assert!(!output.stdout.contains(base), "a local path\n{output}");
    assert!(!output.stderr.contains("panicked"), "{output}");
    for word in ["--force", "rm -", "git reset", "init"] {
        assert!(!output.json()["next_command"].as_str().unwrap_or_default().contains(word));
    }
}

const QUESTION: [&str; 6] = ["quota", "should-run", "--goal-id", "g", "--agent-id", "agent-a"];
const LIST: [&str; 4] = ["todo", "list", "--goal-id", "g"];
const ADD: [&str; 8] = ["todo", "add", "--goal-id", "g", "--role", "agent", "--text", "[P1] more"];

/// A goal `g` with `agent-a`, one todo and one open gate of `agent-b`.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    let now = sandbox.at(NOW);
    now.json([
        "goal",
        "create",
        "--goal-id",
        "g",
        "--objective",
        "o",
        "--agent-id",
        "agent-a,agent-b",
    ]);
    now.json(["todo", "add", "--goal-id", "g", "--role", "agent", "--text", "[P1] one"]);
    sandbox
}

fn state_file(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md")
}

fn store(sandbox: &Sandbox) -> PathBuf {
    let goals = fs::read_dir(sandbox.runtime_root().join("goals")).unwrap();
    goals.map(|e| e.unwrap().path().join("goal.db")).find(|p| p.exists()).expect("a store")
}

fn todo_id(sandbox: &Sandbox) -> String {
    let list = sandbox.at(NOW).json(LIST);
    list["todos"][0]["todo_id"].as_str().unwrap().to_owned()
}

/// Every command that changes something, as `refuses` runs them.
fn writes(todo: &str) -> Vec<Vec<String>> {
    let words =
        |line: &str| -> Vec<String> { line.split('|').map(|w| w.replace("TODO", todo)).collect() };
    [
        "todo|add|--goal-id|g|--role|agent|--text|[P1] more",
        "todo|claim|--goal-id|g|--todo-id|TODO|--claimed-by|agent-a",
        "todo|update|--goal-id|g|--todo-id|TODO|--agent-id|agent-a|--note|n",
        "todo|complete|--goal-id|g|--todo-id|TODO|--agent-id|agent-a|--no-follow-up",
        "refresh-state|--goal-id|g|--agent-id|agent-a|--delivery-outcome|outcome_progress",
        "quota|should-run|--goal-id|g|--agent-id|agent-a|--turn-instance-id|turn-1",
        "agent|register|--goal-id|g|--agent-id|agent-c",
        "goal|stop|--goal-id|g",
        "goal|create|--goal-id|h|--objective|o",
    ]
    .iter()
    .map(|line| words(line))
    .collect()
}

/// Each command is refused with one of the codes, and the whole sandbox stays as it was.
#[track_caller]
fn refuses(sandbox: &Sandbox, call: &Call<'_>, commands: &[Vec<String>], codes: &[&str]) {
    for command in commands {
        let before = contents(sandbox.base());
        let output = call.run(command);
        assert_typed(sandbox, &output, codes);
        assert_same(&before, &contents(sandbox.base()), &format!("{command:?}\n{output}"));
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

fn reads() -> Vec<Vec<String>> {
    vec![owned(&LIST), owned(&QUESTION), owned(&["agent", "list", "--goal-id", "g"])]
}

// ---- the registry ----

#[track_caller]
fn bad_registry(make: impl FnOnce(&Path), codes: &[&str]) {
    let sandbox = project();
    let todo = todo_id(&sandbox);
    make(&sandbox.registry());
    let call = sandbox.at(NOW);
    refuses(&sandbox, &call, &reads(), codes);
    refuses(&sandbox, &call, &[owned(&["goal", "list"])], codes);
    refuses(&sandbox, &call, &[owned(&["store", "check"])], codes);
    refuses(&sandbox, &call, &writes(&todo), codes);
}

#[track_caller]
fn registry_bytes(bytes: impl FnOnce(Vec<u8>) -> Vec<u8>, codes: &[&str]) {
    bad_registry(|path| fs::write(path, bytes(fs::read(path).unwrap())).unwrap(), codes);
}

#[test]
fn registry_truncated() {
    registry_bytes(|b| b[..b.len() / 2].to_vec(), &["quota_state_invalid_json"]);
}

#[test]
fn registry_empty() {
    registry_bytes(|_| Vec::new(), &["quota_state_invalid_json"]);
}

#[test]
fn registry_an_array() {
    registry_bytes(|_| b"[]".to_vec(), &["quota_state_shape_error"]);
}

#[test]
fn registry_goals_is_no_list() {
    registry_bytes(|_| b"{\"goals\":{\"g\":1}}".to_vec(), &["quota_state_shape_error"]);
}

#[test]
fn registry_not_utf8() {
    registry_bytes(
        |mut b| {
            let at = b.iter().position(|c| *c == b'g').unwrap();
            b[at] = 0xff;
            b
        },
        &["quota_state_invalid_json"],
    );
}

#[test]
fn registry_of_nuls() {
    registry_bytes(|b| vec![0; b.len()], &["quota_state_invalid_json"]);
}

#[test]
fn registry_with_a_byte_order_mark_is_read() {
    let sandbox = project();
    let bytes = [b"\xef\xbb\xbf".to_vec(), fs::read(sandbox.registry()).unwrap()].concat();
    fs::write(sandbox.registry(), bytes).unwrap();
    assert_eq!(sandbox.at(NOW).json(QUESTION)["should_run"], json!(true));
    sandbox.at(NOW).json(ADD);
    sandbox.at(NOW).json(["agent", "register", "--goal-id", "g", "--agent-id", "agent-c"]);
    assert_eq!(sandbox.at(NOW).json(LIST)["open_count"], json!(2));
}

#[test]
fn registry_a_fifo() {
    bad_registry(
        |path| {
            fs::remove_file(path).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        },
        &["quota_state_io_failed"],
    );
}

#[test]
fn registry_a_folder() {
    bad_registry(
        |path| {
            fs::rename(path, path.with_extension("kept")).unwrap();
            fs::create_dir(path).unwrap();
        },
        &["quota_state_io_failed"],
    );
}

#[test]
fn registry_a_loop_of_links() {
    bad_registry(
        |path| {
            fs::rename(path, path.with_extension("kept")).unwrap();
            symlink("registry.json", path).unwrap();
        },
        &["quota_state_io_failed", "io_failed"],
    );
}

#[test]
fn registry_with_the_goal_twice() {
    let sandbox = project();
    let todo = todo_id(&sandbox);
    let mut registry: Value =
        serde_json::from_slice(&fs::read(sandbox.registry()).unwrap()).unwrap();
    let twin = registry["goals"][0].clone();
    registry["goals"].as_array_mut().unwrap().push(twin);
    fs::write(sandbox.registry(), registry.to_string()).unwrap();
    let call = sandbox.at(NOW);
    let mut all = writes(&todo);
    all.retain(|w| w[1] != "create");
    refuses(&sandbox, &call, &reads(), &["goal_duplicated"]);
    refuses(&sandbox, &call, &all, &["goal_duplicated"]);
}

#[test]
fn unknown_goal() {
    let sandbox = project();
    let call = sandbox.at(NOW);
    for words in [&LIST[..], &QUESTION, &ADD] {
        let command: Vec<String> =
            words.iter().map(|w| if *w == "g" { "nope" } else { w }.to_owned()).collect();
        refuses(&sandbox, &call, &[command], &["goal_not_found"]);
    }
}

#[test]
fn two_goals_and_none_named() {
    let sandbox = project();
    let call = sandbox.at(NOW);
    call.json(["goal", "create", "--goal-id", "h", "--objective", "o"]);
    for words in [
        &["todo", "list"][..],
        &["quota", "should-run", "--agent-id", "agent-a"],
        &["todo", "add", "--role", "agent", "--text", "x"],
        &["store", "prune", "--keep-days", "3"],
        &["store", "backup", "--dir", "b"],
        &["migrate"],
    ] {
        refuses(&sandbox, &call, &[owned(words)], &["goal_required"]);
    }
}

// ---- the state file ----

/// A state file that cannot be read: the store goes on, listings refuse, the file is
/// left alone, and a decision says so.
#[track_caller]
fn unreadable_state_file(make: impl FnOnce(&Path), codes: &[&str]) {
    let sandbox = project();
    make(&state_file(&sandbox));
    let call = sandbox.at(NOW);
    let question = call.run(QUESTION);
    let answer = question.json();
    assert_eq!(answer["should_run"], json!(false), "{question}");
    assert_eq!(answer["rule"], json!("health"), "{question}");
    assert_no_path(&sandbox, &question);
    let before = contents(&sandbox.project().join(".loopx/goals"));
    let check = call.run(["store", "check"]);
    assert_eq!(check.code, 1, "{check}");
    let found = check.json()["goals"][0]["problems"].to_string();
    assert!(codes.iter().any(|code| found.contains(code)), "{found}");
    let added = call.run(ADD);
    assert_eq!(added.code, 0, "{added}");
    assert_same(
        &before,
        &contents(&sandbox.project().join(".loopx/goals")),
        "the file is left alone",
    );
    // Once mended by its removal, nothing is lost.
    let path = state_file(&sandbox);
    if fs::symlink_metadata(&path).unwrap().is_dir() {
        fs::remove_dir(&path).unwrap();
    } else {
        fs::remove_file(&path).unwrap();
    }
    call.json(["todo", "add", "--goal-id", "g", "--role", "agent", "--text", "[P1] third"]);
    let text = fs::read_to_string(&path).unwrap();
    for todo in ["one", "more", "third"] {
        assert!(text.contains(&format!("- [ ] [P1] {todo}")), "{text}");
    }
}

#[test]
fn state_file_not_utf8() {
    unreadable_state_file(
        |path| {
            let mut bytes = fs::read(path).unwrap();
            bytes.extend(b"- [ ] caf\xe9\n");
            fs::write(path, bytes).unwrap();
        },
        &["state_file_unreadable"],
    );
}

#[test]
fn state_file_a_fifo() {
    unreadable_state_file(
        |path| {
            fs::remove_file(path).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        },
        &["io_failed"],
    );
}

#[test]
fn state_file_a_folder() {
    unreadable_state_file(
        |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        },
        &["io_failed"],
    );
}

#[test]
fn state_file_a_loop_of_links() {
    unreadable_state_file(
        |path| {
            fs::remove_file(path).unwrap();
            symlink("ACTIVE_GOAL_STATE.md", path).unwrap();
        },
        &["io_failed"],
    );
}

#[test]
fn state_file_missing_or_empty_is_written_again() {
    for empty in [false, true] {
        let sandbox = project();
        let path = state_file(&sandbox);
        match empty {
            true => fs::write(&path, "").unwrap(),
            false => fs::remove_file(&path).unwrap(),
        }
        let before = contents(sandbox.base());
        assert_eq!(sandbox.at(NOW).json(LIST)["open_count"], json!(1));
        assert_eq!(sandbox.at(NOW).json(QUESTION)["should_run"], json!(true));
        assert_same(&before, &contents(sandbox.base()), "reads write nothing");
        sandbox.at(NOW).json(ADD);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("[P1] one") && text.contains("[P1] more"), "{text}");
    }
}

#[test]
fn state_file_missing_empty_or_unreadable_before_the_import_is_not_taken_for_no_work() {
    let cases: [(Option<&[u8]>, &str); 3] = [
        (None, "state_file_missing"),
        (Some(b""), "state_file_missing"),
        (Some(b"- [ ] \xff\n"), "state_file_unreadable"),
    ];
    for (bytes, code) in cases {
        let goal = earlier::Goal::new("g", &["agent-a"]).agent_todo("todo_abc001", "[P1] one", "");
        let sandbox = Sandbox::with_files(&earlier::files(&[goal]));
        let path = sandbox.project().join(".codex/goals/g/ACTIVE_GOAL_STATE.md");
        match bytes {
            Some(bytes) => fs::write(&path, bytes).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let call = sandbox.at(NOW);
        assert_eq!(call.run(QUESTION).json()["rule"], json!("health"));
        refuses(&sandbox, &call, &[owned(&ADD)], &[code]);
        refuses(&sandbox, &call, &[owned(&["migrate", "--execute"])], &[code]);
        let plan = call.run(["migrate"]);
        assert_eq!(plan.json()["goals"][0]["error_code"], json!(code), "{plan}");
    }
}

#[test]
fn state_file_malformed_metadata_is_unhealthy_and_kept() {
    let sandbox = project();
    let path = state_file(&sandbox);
    let text = fs::read_to_string(&path).unwrap();
    let broken = text.replace("task_class=advancement_task", "task_class=\"adv<<>");
    assert_ne!(text, broken);
    fs::write(&path, &broken).unwrap();
    let answer = sandbox.at(NOW).json(LIST);
    assert_eq!(answer["open_count"], json!(1));
    sandbox.at(NOW).json(ADD);
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.contains("[P1] one") && after.contains("[P1] more"), "{after}");
}

#[test]
fn state_file_of_nuls_loses_no_todo() {
    let sandbox = project();
    let path = state_file(&sandbox);
    let length = fs::read(&path).unwrap().len();
    fs::write(&path, vec![0; length]).unwrap();
    assert_eq!(sandbox.at(NOW).run(QUESTION).json()["ok"], json!(true));
    sandbox.at(NOW).json(ADD);
    let list = sandbox.at(NOW).json(LIST);
    assert_eq!(list["open_count"], json!(2), "{list}");
}

#[test]
fn state_file_of_50_mb_is_read() {
    let sandbox = project();
    let path = state_file(&sandbox);
    let mut text = fs::read_to_string(&path).unwrap();
    let line = format!("- {}\n", "x".repeat(997));
    text.push_str("\n## Notes\n\n");
    text.push_str(&line.repeat(52_000));
    text.push_str("\n## Agent Todo\n\n- [ ] [P0] at the end\n");
    fs::write(&path, &text).unwrap();
    let answer = sandbox.at(NOW).json(QUESTION);
    assert_eq!(answer["should_run"], json!(true));
    sandbox.at(NOW).json(ADD);
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.contains(&line.repeat(100)) && after.contains("[P0] at the end"));
    assert_eq!(sandbox.at(NOW).json(LIST)["open_count"], json!(3));
}

#[test]
fn very_long_lines_are_kept() {
    let sandbox = project();
    let path = state_file(&sandbox);
    let long = "y".repeat(1_000_000);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("[P1] one", &format!("[P1] one {long}"))).unwrap();
    sandbox.at(NOW).json(ADD);
    let list = sandbox.at(NOW).json(LIST);
    assert!(
        list["todos"].to_string().contains(&long)
            || fs::read_to_string(&path).unwrap().contains(&long)
    );
    let refused = sandbox.at(NOW).run([
        "todo",
        "add",
        "--goal-id",
        "g",
        "--role",
        "agent",
        "--text",
        &"z".repeat(100_000),
    ]);
    assert_typed(&sandbox, &refused, &["text_too_long"]);
}

// ---- the store ----

#[track_caller]
fn bad_store(make: impl FnOnce(&Path), codes: &[&str]) {
    let sandbox = project();
    let todo = todo_id(&sandbox);
    make(&store(&sandbox));
    let call = sandbox.at(NOW);
    refuses(&sandbox, &call, &[owned(&LIST)], codes);
    // A decision answers: unhealthy, do not run.
    let before = contents(sandbox.base());
    let question = call.run(QUESTION);
    let answer = question.json();
    assert_eq!(
        (question.code, &answer["should_run"], &answer["rule"]),
        (0, &json!(false), &json!("health")),
        "{question}"
    );
    assert_no_path(&sandbox, &question);
    assert_same(&before, &contents(sandbox.base()), "a decision");
    let check = call.run(["store", "check"]);
    assert_typed(&sandbox, &check, &["store_problems"]);
    let mut all = writes(&todo);
    all.retain(|w| w[0] != "goal" || w[1] != "create");
    all.retain(|w| w[0] != "quota");
    refuses(&sandbox, &call, &all, codes);
    // Another goal is not drawn into it.
    call.json(["goal", "create", "--goal-id", "h", "--objective", "o"]);
}

#[test]
fn store_truncated() {
    bad_store(
        |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..5_000]).unwrap();
        },
        &["store_unreadable"],
    );
}

#[test]
fn store_emptied() {
    bad_store(|path| fs::write(path, "").unwrap(), &["store_unreadable"]);
}

#[test]
fn store_of_nuls() {
    bad_store(
        |path| {
            let length = fs::metadata(path).unwrap().len() as usize;
            fs::write(path, vec![0; length]).unwrap();
        },
        &["store_unreadable"],
    );
}

#[test]
fn store_of_garbage() {
    bad_store(|path| fs::write(path, [0x5a; 70_000]).unwrap(), &["store_unreadable"]);
}

#[test]
fn store_missing() {
    bad_store(|path| fs::remove_file(path).unwrap(), &["store_unreadable"]);
}

#[test]
fn store_of_another_goal() {
    let other = project();
    let foreign = fs::read(store(&other)).unwrap();
    bad_store(|path| fs::write(path, foreign).unwrap(), &["store_foreign"]);
}

#[test]
fn store_of_a_newer_release() {
    bad_store(
        |path| {
            let conn = rusqlite::Connection::open(path).unwrap();
            conn.execute_batch("PRAGMA user_version = 99").unwrap();
        },
        &["store_schema_newer"],
    );
}

#[test]
fn store_with_damaged_pages_says_so() {
    let sandbox = project();
    let path = store(&sandbox);
    let mut bytes = fs::read(&path).unwrap();
    for byte in &mut bytes[4096..] {
        *byte = 0xa5;
    }
    fs::write(&path, bytes).unwrap();
    let call = sandbox.at(NOW);
    for words in [&LIST[..], &ADD] {
        refuses(&sandbox, &call, &[owned(words)], &["store_unreadable"]);
    }
    assert_typed(&sandbox, &call.run(["store", "check"]), &["store_problems"]);
}

#[test]
fn store_locked_by_another_program_is_busy_and_then_goes_on() {
    let sandbox = project();
    let route = RouteInput {
        flag: Some(sandbox.registry()),
        runtime_root_flag: Some(sandbox.runtime_root()),
        cwd: sandbox.project(),
        home: Some(sandbox.home()),
        ..RouteInput::default()
    };
    let options =
        KernelOptions { deadline: Duration::from_millis(150), ..KernelOptions::new(route) };
    let kernel = Kernel::open(options).unwrap();
    let request = json!({"goal_id": "g", "role": "agent", "text": "late"});
    let holder = rusqlite::Connection::open(store(&sandbox)).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let before = contents(&sandbox.runtime_root());
    for operation in ["todo.add", "todo.list"] {
        let error = kernel.call(operation, &request).unwrap_err();
        assert_eq!(error.row().text, "store_busy", "{operation}: {error:?}");
    }
    let asked = json!({"goal_id": "g", "agent_id": "agent-a"});
    let answer = kernel.call("quota.should_run", &asked).unwrap();
    assert_eq!(answer["should_run"], json!(false), "{answer}");
    holder.execute_batch("ROLLBACK").unwrap();
    assert_same(&before, &contents(&sandbox.runtime_root()), "a busy store");
    kernel.call("todo.add", &request).unwrap();
}

// ---- identifiers ----

#[test]
fn identifiers_that_are_no_segment_are_refused_by_name() {
    let sandbox = project();
    let todo = todo_id(&sandbox);
    let call = sandbox.at(NOW);
    let long = "x".repeat(300);
    let bad = [
        "..",
        "../x",
        "a/../b",
        "..%2f",
        "a%00b",
        "C:\\x",
        "a\\b",
        "/etc/passwd",
        "trail.",
        "con",
        "nul.txt",
        "\u{202e}abc",
        "a\u{200d}b",
        "a\u{feff}b",
        "a\nb",
        "a\tb\u{7}",
        "",
        " ",
        "a b!",
        "\u{0}x".trim_start_matches('\u{0}').trim(),
        long.as_str(),
    ];
    for text in bad.iter().filter(|t| **t != "x") {
        let goal_codes = ["id_invalid"];
        let create = owned(&["goal", "create", "--objective", "o", "--goal-id", text]);
        refuses(&sandbox, &call, &[create], &goal_codes);
        let list = owned(&["todo", "list", "--goal-id", text]);
        refuses(&sandbox, &call, &[list], &goal_codes);
    }
    let long_todo = format!("todo_{long}");
    for text in [
        "..",
        "todo_../x",
        "todo_a.",
        "todo_c\u{430}b",
        "todo_\u{202e}abc",
        "con",
        "",
        "todo_a\u{301}bc",
        &long_todo,
    ] {
        let claim = owned(&[
            "todo",
            "claim",
            "--goal-id",
            "g",
            "--claimed-by",
            "agent-a",
            "--todo-id",
            text,
        ]);
        refuses(&sandbox, &call, &[claim], &["id_invalid"]);
    }
    for text in
        ["..", "../a", "\u{430}gent-a", "agent-a\u{200b}", "a/b", "", "1a", "\u{202e}a", &long]
    {
        let register = owned(&["agent", "register", "--goal-id", "g", "--agent-id", text]);
        refuses(&sandbox, &call, &[register], &["quota_agent_id_invalid", "request_invalid"]);
        let claim =
            owned(&["todo", "claim", "--goal-id", "g", "--todo-id", &todo, "--claimed-by", text]);
        refuses(&sandbox, &call, &[claim], &["quota_agent_id_invalid"]);
    }
    for text in ["..", "a/b", "\u{202e}a", "t\u{301}", "a b", "", &long] {
        let admit = owned(&[
            "quota",
            "should-run",
            "--goal-id",
            "g",
            "--agent-id",
            "agent-a",
            "--turn-instance-id",
            text,
        ]);
        refuses(&sandbox, &call, &[admit], &["id_invalid"]);
        let mut add = owned(&ADD);
        add.extend(owned(&["--effect-id", text]));
        if text != "a/b" {
            refuses(&sandbox, &call, &[add], &["id_invalid"]);
        }
    }
}

#[test]
fn identifiers_are_one_in_composed_and_decomposed_form_and_in_any_case() {
    let sandbox = Sandbox::new();
    let call = sandbox.at(NOW);
    call.json(["goal", "create", "--goal-id", "\u{e9}t\u{e9}", "--objective", "o"]);
    let listed = call.json(["todo", "list", "--goal-id", "e\u{301}te\u{301}"]);
    assert_eq!(listed["goal_id"], json!("\u{e9}t\u{e9}"));
    let again = call.run(["goal", "create", "--goal-id", "E\u{301}TE\u{301}", "--objective", "o"]);
    assert_typed(&sandbox, &again, &["goal_exists"]);
    call.json(["agent", "register", "--goal-id", "\u{e9}t\u{e9}", "--agent-id", "Agent A"]);
    let agents = call.json(["agent", "list", "--goal-id", "\u{e9}t\u{e9}"]);
    assert_eq!(agents["agents"][0]["agent_id"], json!("agent-a"));
}

#[test]
fn a_goal_id_of_mixed_scripts_is_refused() {
    let sandbox = project();
    let call = sandbox.at(NOW);
    for text in ["d\u{435}mo", "\u{3b1}lpha", "g\u{ff41}"] {
        let create = owned(&["goal", "create", "--objective", "o", "--goal-id", text]);
        refuses(&sandbox, &call, &[create], &["id_invalid"]);
    }
    call.json([
        "goal",
        "create",
        "--goal-id",
        "\u{446}\u{435}\u{43b}\u{44c}-1",
        "--objective",
        "o",
    ]);
}

// ---- the clock ----

#[test]
fn a_clock_that_is_a_year_off_expires_nothing_earlier_and_counts_nothing_twice() {
    let sandbox = project();
    let todo = todo_id(&sandbox);
    let deliver = |at: &str, turn: &str| {
        let call = sandbox.at(at);
        let admitted = call.json([
            "quota",
            "should-run",
            "--goal-id",
            "g",
            "--agent-id",
            "agent-a",
            "--turn-instance-id",
            turn,
        ]);
        call.json([
            "refresh-state",
            "--goal-id",
            "g",
            "--agent-id",
            "agent-a",
            "--todo-id",
            &todo,
            "--turn-instance-id",
            turn,
            "--delivery-outcome",
            "outcome_progress",
        ]);
        call.json([
            "quota",
            "spend-slot",
            "--goal-id",
            "g",
            "--agent-id",
            "agent-a",
            "--todo-id",
            &todo,
            "--turn-instance-id",
            turn,
            "--execute",
        ]);
        admitted
    };
    let spent = |at: &str| {
        sandbox.at(at).json(["quota", "status", "--goal-id", "g"])["goals"][0]["spent_slots"]
            .clone()
    };
    deliver(NOW, "t1");
    assert_eq!(spent(NOW), json!(1));
    let (back, forward) = ("2025-11-29T21:00:00Z", "2027-11-29T21:00:00Z");
    // A year back: the spend is dated after now, and counts.
    assert_eq!(spent(back), json!(1));
    deliver(back, "t2");
    assert_eq!(spent(back), json!(2));
    // Back again: the one made in the past has left the window, the other counts once.
    assert_eq!(spent(NOW), json!(1));
    // A year forward: both have left. And back once more they are as they were.
    assert_eq!(spent(forward), json!(0));
    sandbox.at(forward).json([
        "todo",
        "add",
        "--goal-id",
        "g",
        "--role",
        "agent",
        "--text",
        "[P2] later",
    ]);
    assert_eq!(spent(NOW), json!(1));
    // A prune under the clock that runs ahead takes nothing of this year's window.
    let pruned = sandbox.at("2036-01-01T00:00:00Z").json([
        "store",
        "prune",
        "--goal-id",
        "g",
        "--keep-days",
        "400",
        "--execute",
    ]);
    assert_eq!(pruned["prune"]["spends"], json!(1), "{pruned}");
    assert_eq!(spent(NOW), json!(1));
    let check = sandbox.at(NOW).json(["store", "check"]);
    assert_eq!(check["ok"], json!(true), "{check}");
    // The replay of a turn answers as before, whatever the clock.
    let replay = sandbox.at(back).json([
        "quota",
        "should-run",
        "--goal-id",
        "g",
        "--agent-id",
        "agent-a",
        "--turn-instance-id",
        "t1",
    ]);
    assert_eq!(replay["heartbeat_receipt"]["status"], json!("replayed"));
    let odd = sandbox.at("yesterday").run(LIST);
    assert_typed(&sandbox, &odd, &["request_invalid"]);
}

// ---- disks, mounts, users ----

/// Runs a shell script in a mount namespace of its own. `Err` says why that cannot be.
fn in_namespace(script: &str, args: &[&str], sandbox: &Sandbox) -> Result<String, String> {
    let mut said = String::new();
    for namespace in ["-m", "-rm"] {
        let probe = Command::new("unshare")
            .args([namespace, "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"])
            .output()
            .map_err(|e| format!("no unshare: {e}"))?;
        if !probe.status.success() {
            said.push_str(&String::from_utf8_lossy(&probe.stderr));
            continue;
        }
        let done = Command::new("unshare")
            .args([namespace, "sh", "-c", script, "sh"])
            .args(args)
            .current_dir(sandbox.base())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{text}\n{}", String::from_utf8_lossy(&done.stderr));
        return Ok(text);
    }
    Err(said)
}

/// A command line as one shell word list, with the sandbox's environment.
fn shell_line(call: &Call<'_>, words: &[String]) -> String {
    let command = call.command(words);
    let quote = |s: &std::ffi::OsStr| format!("'{}'", s.to_string_lossy().replace('\'', "'\\''"));
    let mut line = String::from("env -i");
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            line.push_str(&format!(" {}={}", name.to_string_lossy(), quote(value)));
        }
    }
    line.push_str(&format!(" {}", quote(command.get_program())));
    for arg in command.get_args() {
        line.push_str(&format!(" {}", quote(arg)));
    }
    line
}

#[test]
fn disk_full_is_typed_changes_nothing_and_passes() {
    let sandbox = project();
    let todo = todo_id(&sandbox);
    let call = sandbox.at(NOW);
    let project = sandbox.project();
    let mut commands = writes(&todo);
    commands.push(owned(&[
        "store",
        "backup",
        "--goal-id",
        "g",
        "--dir",
        project.join("b").to_str().unwrap(),
    ]));
    let export = shell_line(&call, &owned(&["export", "--goal-id", "g"]));
    // The project lies on a small file system, which is filled to the last byte. Each
    // command is run there, and what it answers and what the store then holds is printed.
    let mut script = String::from(
        "set -e\nproject=$1\nmkdir copy\ncp -a \"$project/.\" copy/\n\
         mount -t tmpfs -o size=900k tmpfs \"$project\"\ncp -a copy/. \"$project/\"\ncd \"$project\"\n\
         fill() { head -c 2000000 /dev/zero > fill 2>/dev/null || true; }\n",
    );
    script.push_str(&format!("{export} > ../before.json\nfill\n"));
    for (n, words) in commands.iter().enumerate() {
        let line = shell_line(&call, words);
        script.push_str(&format!(
            "rc=0; {line} > ../out.{n} 2>&1 || rc=$?\necho $rc > ../rc.{n}\n{export} > ../after.{n}\n\
             find . -name '.loopx-*' -o -name '*.new' > ../left.{n}\n"
        ));
    }
    script.push_str("rm fill\n");
    for (n, words) in commands.iter().enumerate() {
        let line = shell_line(&call, words);
        script.push_str(&format!(
            "rc=0; {line} > ../late.{n} 2>&1 || rc=$?\necho $rc > ../laterc.{n}\n"
        ));
        script.push_str(
            "cp \"$project\"/.loopx/goals/g/ACTIVE_GOAL_STATE.md ../state 2>/dev/null || true\n",
        );
    }
    let args = [project.to_str().unwrap()];
    if let Err(why) = in_namespace(&script, &args, &sandbox) {
        return skip("a full disk", &why);
    }
    let read = |name: String| fs::read_to_string(sandbox.base().join(name)).unwrap();
    let before = read("before.json".into());
    for (n, words) in commands.iter().enumerate() {
        let (code, out) = (read(format!("rc.{n}")), read(format!("out.{n}")));
        let output =
            Output { code: code.trim().parse().unwrap(), stdout: out, stderr: String::new() };
        assert_typed(&sandbox, &output, &["disk_full"]);
        assert_eq!(read(format!("after.{n}")), before, "{words:?}\n{output}");
        assert_eq!(read(format!("left.{n}")), "", "{words:?}");
        let (code, out) = (read(format!("laterc.{n}")), read(format!("late.{n}")));
        // What an earlier one of the list forbids may be refused, for that reason.
        if code.trim() != "0" {
            assert!(!out.contains("disk_full") && !out.contains("internal"), "{words:?}\n{out}");
        }
    }
    assert!(read("state".into()).contains("[P1] more"));
}

/// The words that run a command with folders mounted read-only.
fn read_only(folders: &[&Path]) -> Vec<OsString> {
    let mut script = String::from("set -e\n");
    for folder in folders {
        let folder = folder.to_str().unwrap();
        script.push_str(&format!(
            "mount --bind '{folder}' '{folder}'\nmount -o remount,bind,ro '{folder}'\n"
        ));
    }
    script.push_str("cd \"$PWD\"\nexec \"$@\"\n");
    ["unshare", "-m", "sh", "-c", &script, "sh"].iter().map(OsString::from).collect()
}

fn can_mount() -> Result<(), String> {
    let done = Command::new("unshare")
        .args(["-m", "sh", "-c", "mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp"])
        .output()
        .map_err(|e| format!("no unshare: {e}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

#[test]
fn read_only_mounts_of_registry_runtime_root_and_state_file() {
    if let Err(why) = can_mount() {
        return skip("read-only mounts", &why);
    }
    let sandbox = project();
    let todo = todo_id(&sandbox);
    let call = sandbox.at(NOW);
    let run = |folders: &[&Path], words: &[String]| {
        call.finish(&mut call.command_under(read_only(folders), words))
    };
    let (registry, root) = (sandbox.project().join(".loopx"), sandbox.runtime_root());
    let state = state_file(&sandbox).parent().unwrap().to_path_buf();
    let reads = reads();
    let before = contents(sandbox.base());
    for folders in
        [&[registry.as_path()][..], &[root.as_path()], &[state.as_path()], &[sandbox.base()]]
    {
        for words in &reads {
            let output = run(folders, words);
            assert_eq!(output.code, 0, "{words:?} on {folders:?}\n{output}");
        }
    }
    assert_same(&before, &contents(sandbox.base()), "reads");
    // Everything read-only, or only the store: no command writes.
    for folders in [&[sandbox.base()][..], &[root.as_path()]] {
        for words in writes(&todo)
            .iter()
            .filter(|w| folders.len() == 1 && w[0] != "goal" || folders[0] == sandbox.base())
        {
            let output = run(folders, words);
            assert_typed(&sandbox, &output, &["write_denied", "global_registry_write_denied"]);
            assert_same(&before, &contents(sandbox.base()), &format!("{words:?}\n{output}"));
        }
    }
    // Only the registry: what needs it is refused, the rest goes on.
    for words in writes(&todo).iter().filter(|w| w[0] == "goal" || w[0] == "agent") {
        let output = run(&[&registry], words);
        assert_typed(&sandbox, &output, &["write_denied", "global_registry_write_denied"]);
        assert_same(&before, &contents(sandbox.base()), &format!("{words:?}\n{output}"));
    }
    // Only the state file: the commit stands, and the projection is made up later.
    let output = run(&[&state], &owned(&ADD));
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(call.json(LIST)["open_count"], json!(2));
    call.json([
        "todo",
        "update",
        "--goal-id",
        "g",
        "--todo-id",
        &todo,
        "--agent-id",
        "agent-a",
        "--note",
        "n",
    ]);
    assert!(fs::read_to_string(state_file(&sandbox)).unwrap().contains("[P1] more"));
}

/// The words that run a command as a user without rights.
fn nobody() -> Result<Vec<OsString>, String> {
    let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let binary = loopx_tests::binary();
    let done = Command::new(words[0]).args(&words[1..]).arg(binary).arg("--version").output();
    match done {
        Ok(done) if done.status.success() => Ok(words.iter().map(OsString::from).collect()),
        Ok(done) => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        Err(error) => Err(format!("no setpriv: {error}")),
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_user_without_rights_is_refused_and_told_why() {
    let nobody = match nobody() {
        Ok(words) => words,
        Err(why) => return skip("an unprivileged user", &why),
    };
    let sandbox = project();
    let todo = todo_id(&sandbox);
    mode(sandbox.base(), 0o755);
    let call = sandbox.at(NOW);
    let run = |words: &[String]| call.finish(&mut call.command_under(nobody.clone(), words));
    let before = contents(sandbox.base());
    // Everything may be read, nothing written.
    for words in reads() {
        let output = run(&words);
        assert_eq!(output.code, 0, "{words:?}\n{output}");
    }
    for words in writes(&todo) {
        let output = run(&words);
        assert_typed(&sandbox, &output, &["write_denied", "global_registry_write_denied"]);
        assert_same(&before, &contents(sandbox.base()), &format!("{words:?}\n{output}"));
    }
    // A store that may not be read.
    let path = store(&sandbox);
    mode(&path, 0o600);
    assert_typed(
        &sandbox,
        &run(&owned(&LIST)),
        &["store_unreadable", "write_denied", "quota_state_permission_denied"],
    );
    let answer = run(&owned(&QUESTION)).json();
    assert_eq!(answer["rule"], json!("health"), "{answer}");
    mode(&path, 0o644);
    // A state file that may not be read.
    mode(&state_file(&sandbox), 0o600);
    let answer = run(&owned(&QUESTION)).json();
    assert_eq!(answer["should_run"], json!(false), "{answer}");
    mode(&state_file(&sandbox), 0o644);
    // A registry that may not be read.
    mode(&sandbox.registry(), 0o600);
    for words in reads() {
        assert_typed(&sandbox, &run(&words), &["quota_state_permission_denied"]);
    }
    mode(&sandbox.registry(), 0o644);
    assert_same(&before, &contents(sandbox.base()), "a user without rights");
}

#[test]
fn a_home_that_is_unset_or_cannot_be_written_makes_a_goal_whole_or_not_at_all() {
    let sandbox = Sandbox::new();
    let call = sandbox.at(NOW).unlocated();
    let create = ["goal", "create", "--goal-id", "g", "--objective", "o", "--format", "json"];
    // Unset: there is no global registry, and the goal is made.
    let made = call.clone().env("HOME", "").run(create);
    assert_eq!(made.code, 0, "{made}");
    let listed = call.clone().env("HOME", "").run(["goal", "list", "--format", "json"]);
    assert_eq!(listed.json()["goals"][0]["goal_id"], json!("g"), "{listed}");
    // A home that is a file, one that does not exist, one that may not be written.
    let file = sandbox.base().join("file");
    fs::write(&file, "x").unwrap();
    let create = ["goal", "create", "--goal-id", "h", "--objective", "o", "--format", "json"];
    for home in [file.as_path(), Path::new("/proc/self"), Path::new("/dev/null")] {
        let before = contents(sandbox.base());
        let output = call.clone().env("HOME", home).run(create);
        assert_typed(
            &sandbox,
            &output,
            &["global_registry_write_denied", "write_denied", "io_failed", "quota_state_io_failed"],
        );
        assert_same(&before, &contents(sandbox.base()), &format!("{home:?}\n{output}"));
    }
}

#[test]
fn a_working_directory_that_is_gone_is_told() {
    let sandbox = project();
    let call = sandbox.at(NOW).unlocated();
    let under = ["sh", "-c", "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"", "sh"];
    for words in [&LIST[..], &ADD] {
        let mut all = owned(words);
        all.extend(owned(&["--format", "json"]));
        let before = contents(sandbox.base());
        let output = call.finish(&mut call.command_under(under, &all));
        assert_typed(&sandbox, &output, &["io_failed"]);
        assert_same(&before, &contents(sandbox.base()), "a working directory that is gone");
    }
}
