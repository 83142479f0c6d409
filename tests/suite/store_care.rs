//! Check, backup, restore, prune and migrate, as somebody uses them: on goals with work in
//! them, after damage, and twice.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::file::{FileLock, HolderNote, LockMode};
use loopx_tests::tree::Tree;
use loopx_tests::{Sandbox, earlier};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

const DAY_1: &str = "2026-01-01T12:00:00Z";
const DAY_2: &str = "2026-01-02T12:00:00Z";
const LATE: &str = "2026-11-29T12:00:00Z";

fn store(sandbox: &Sandbox) -> PathBuf {
    let goals = fs::read_dir(sandbox.runtime_root().join("goals")).unwrap();
    goals.map(|e| e.unwrap().path().join("goal.db")).find(|p| p.exists()).expect("a store")
}

fn add(sandbox: &Sandbox, at: &str, text: &str) -> String {
    let words = ["todo", "add", "--goal-id", "g", "--role", "agent", "--text", text];
    sandbox.at(at).json(words)["todo_id"].as_str().unwrap().to_owned()
}

fn admit(sandbox: &Sandbox, at: &str, turn: &str) -> Value {
    let words = ["quota", "should-run", "--goal-id", "g", "--agent-id", "agent-a"];
    sandbox.at(at).run(words.iter().chain(&["--turn-instance-id", turn])).json()
}

fn turn(sandbox: &Sandbox, at: &str, turn: &str, todo: &str) {
    let call = sandbox.at(at);
    let who = ["--goal-id", "g", "--agent-id", "agent-a", "--todo-id", todo];
    let turn_id = ["--turn-instance-id", turn];
    admit(sandbox, at, turn);
    let refresh = ["refresh-state", "--delivery-outcome", "outcome_progress", "--evidence", "seen"];
    call.json(refresh.iter().chain(&who).chain(&turn_id));
    call.json(["quota", "spend-slot", "--execute"].iter().chain(&who).chain(&turn_id));
}

fn complete(sandbox: &Sandbox, at: &str, todo: &str) {
    sandbox.at(at).json([
        "todo",
        "complete",
        "--goal-id",
        "g",
        "--agent-id",
        "agent-a",
        "--todo-id",
        todo,
        "--no-follow-up",
    ]);
}

/// A goal with three turns on the first day, one finished todo and one open.
fn busy() -> (Sandbox, String, String) {
    let sandbox = Sandbox::new();
    let create = ["goal", "create", "--goal-id", "g", "--objective", "o", "--agent-id", "agent-a"];
    sandbox.at(DAY_1).json(create);
    let done = add(&sandbox, DAY_1, "[P1] done soon");
    let open = add(&sandbox, DAY_1, "[P2] open");
    for n in 0..3 {
        turn(&sandbox, DAY_1, &format!("t{n}"), &done);
    }
    complete(&sandbox, DAY_1, &done);
    (sandbox, done, open)
}

fn check(sandbox: &Sandbox) -> Value {
    sandbox.at(LATE).run(["store", "check"]).json()
}

#[track_caller]
fn assert_sound(sandbox: &Sandbox) {
    let answer = check(sandbox);
    assert_eq!(answer["ok"], json!(true), "{answer}");
}

/// What a check finds after `sql` was run on the store behind the kernel's back.
fn found_after(sql: &str) -> Vec<String> {
    let (sandbox, ..) = busy();
    let conn = rusqlite::Connection::open(store(&sandbox)).unwrap();
    conn.execute_batch(sql).unwrap();
    drop(conn);
    let output = sandbox.at(LATE).run(["store", "check", "--goal-id", "g"]);
    assert_eq!(output.code, 1, "{output}");
    let answer = output.json();
    let problems = answer["goals"][0]["problems"].as_array().unwrap();
    for problem in problems {
        let next = problem["next_command"].as_str().unwrap();
        assert!(!next.is_empty() && !next.contains("<goal>"), "{answer}");
    }
    problems.iter().map(|p| p["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_check_finds_what_was_changed_behind_the_kernel() {
    for (sql, code) in [
        (
            "UPDATE meta SET value = replace(value, ':1', ':7') WHERE key = 'counters'",
            "counters_differ",
        ),
        ("UPDATE shapes SET open = open + 1", "shape_count_differs"),
        ("UPDATE todos SET lane = 1, shape = NULL WHERE lane = 0", "lane_differs"),
        ("UPDATE todos SET ord = ord + 1", "columns_differ"),
        ("UPDATE todos SET text_hash = 1", "columns_differ"),
        ("UPDATE spends SET live = 0", "columns_differ"),
        ("UPDATE outcomes SET spent = 0", "columns_differ"),
        ("UPDATE turns SET live = 1", "columns_differ"),
        ("DELETE FROM commits WHERE n = 3", "commit_gap"),
        (
            r#"UPDATE commits SET doc = replace(doc, '"' || effect || '"', '"once|x"')"#,
            "effect_twice",
        ),
        ("UPDATE todos SET doc = '{}'", "record_unreadable"),
        ("UPDATE todos SET lane = 2, shape = NULL WHERE lane = 0", "view_differs"),
        (
            r#"UPDATE todos SET doc = replace(doc, '"text":"', '"text":"other ')"#,
            "projection_base_differs",
        ),
        (
            r#"INSERT INTO journal SELECT effect, '{"effect_id":"' || effect || '","witness_before":"a","witness_after":"b","entry_after":"c","commit":' || doc || '}' FROM commits LIMIT 1"#,
            "journal_pending",
        ),
        (
            "INSERT INTO usage VALUES('agent-a', '{\"agent\":\"agent-a\",\"input_tokens\":3,\"reports\":1}')",
            "usage_differs",
        ),
        (
            r#"INSERT INTO stalls SELECT id, '', '{"todo_id":"' || id || '","streak":1,"at":"2026-01-01T00:00:00Z","reoffers":0}' FROM todos WHERE lane = 2"#,
            "leftover_record",
        ),
        (
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'seen'",
            "store_damaged",
        ),
    ] {
        let found = found_after(sql);
        assert!(found.iter().any(|f| f == code), "{sql}\n{found:?} has no {code}");
    }
}

#[test]
fn a_check_finds_what_a_killed_process_left_and_writes_nothing() {
    let (sandbox, ..) = busy();
    assert_sound(&sandbox);
    let folder = store(&sandbox).parent().unwrap().to_path_buf();
    for name in [".loopx-00ff.tmp", ".goal.db.77.new", "displaced.md"] {
        fs::write(folder.join(name), "- [ ] x\n").unwrap();
    }
    fs::remove_file(folder.join("projection.base")).unwrap();
    let before = Tree::of(sandbox.base());
    let answer = check(&sandbox);
    let codes: Vec<&str> = answer["goals"][0]["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["code"].as_str().unwrap())
        .collect();
    for code in ["leftover_file", "displaced_edits", "projection_base_missing"] {
        assert!(codes.contains(&code), "{codes:?}");
    }
    assert_eq!(codes.iter().filter(|c| **c == "leftover_file").count(), 2);
    let changes = Tree::of(sandbox.base()).changes_since(&before);
    assert!(changes.is_empty(), "{changes:?}");
}

#[test]
fn one_goal_that_cannot_be_read_does_not_hide_the_others() {
    let (sandbox, ..) = busy();
    sandbox.at(LATE).json(["goal", "create", "--goal-id", "h", "--objective", "o"]);
    fs::write(store(&sandbox), "x").unwrap();
    let answer = check(&sandbox);
    let oks: Vec<&Value> = answer["goals"].as_array().unwrap().iter().map(|g| &g["ok"]).collect();
    assert!(oks.contains(&&json!(true)) && oks.contains(&&json!(false)), "{answer}");
    let backup = sandbox.at(LATE).run(["store", "backup", "--all", "--dir", "b"]);
    assert_eq!(backup.code, 1, "{backup}");
    let rows = backup.json()["goals"].as_array().unwrap().len();
    assert_eq!(rows, 2);
    let made = fs::read_dir(sandbox.project().join("b")).unwrap().count();
    assert_eq!(made, 1, "the readable one is backed up");
}

#[test]
fn a_backup_comes_back_after_the_store_was_lost() {
    let (sandbox, ..) = busy();
    let call = sandbox.at(DAY_2);
    let before = call.json(["export", "--goal-id", "g"]);
    let untouched = Tree::of(&sandbox.runtime_root());
    let made = call.json(["store", "backup", "--goal-id", "g", "--dir", "b"]);
    let commit = made["goals"][0]["commit"].as_u64().unwrap();
    // The copy reads only; a lock file is all that it may make.
    let changes = Tree::of(&sandbox.runtime_root()).changes_since(&untouched);
    assert!(changes.iter().all(|c| c.contains(".lock") || c.starts_with("touched")), "{changes:?}");
    let again = call.run(["store", "backup", "--goal-id", "g", "--dir", "b"]);
    assert_eq!(again.json()["error_code"], json!("backup_exists"), "{again}");

    let path = store(&sandbox);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    let lost = call.run(["todo", "list", "--goal-id", "g"]).json();
    assert_eq!(lost["error_code"], json!("store_unreadable"), "{lost}");
    assert!(lost["next_command"].as_str().unwrap().contains("store restore"), "{lost}");
    let plan = Tree::of(sandbox.base());
    let preview = call.json(["store", "restore", "--goal-id", "g", "--from", "b"]);
    assert_eq!((&preview["store"], &preview["dry_run"]), (&json!("missing"), &json!(true)));
    assert!(Tree::of(sandbox.base()).changes_since(&plan).is_empty(), "a preview writes nothing");
    call.json(["store", "restore", "--goal-id", "g", "--from", "b", "--execute"]);
    assert_sound(&sandbox);
    let mut after = call.json(["export", "--goal-id", "g"]);
    // One commit more: the restore itself.
    let commits = after["tables"]["commits"].as_array_mut().unwrap();
    assert_eq!(commits.len() as u64, commit + 1);
    assert_eq!(commits.pop().unwrap()["verb"], json!("store.restore"));
    assert_eq!(after, before);
}

#[test]
fn a_restore_says_what_it_loses_and_keeps_what_it_replaces() {
    let (sandbox, _, _) = busy();
    let call = sandbox.at(DAY_2);
    call.json(["store", "backup", "--goal-id", "g", "--dir", "b"]);
    let lost = add(&sandbox, DAY_2, "[P3] after the backup");
    let before = fs::read(store(&sandbox)).unwrap();
    let restore = ["store", "restore", "--goal-id", "g", "--from", "b", "--execute"];
    for more in [&[][..], &["--losing-commits", "7"]] {
        let refused = call.run(restore.iter().chain(more)).json();
        assert_eq!(refused["error_code"], json!("restore_loses_commits"), "{refused}");
        assert_eq!(fs::read(store(&sandbox)).unwrap(), before);
    }
    let done = call.json(restore.iter().chain(&["--losing-commits", "1"]));
    let kept = store(&sandbox).with_file_name(done["replaced_store"].as_str().unwrap());
    assert_eq!(fs::read(kept).unwrap(), before, "the replaced store stays beside");
    // The state file still shows the todo that the store has lost: it is taken in again,
    // under its id, and no id is given out twice.
    let next = add(&sandbox, DAY_2, "[P4] next");
    assert_ne!(next, lost);
    let list = call.json(["todo", "list", "--goal-id", "g"]).to_string();
    assert!(list.contains(&lost) && list.contains("after the backup"), "{list}");
    assert_sound(&sandbox);
    // Without the line in the state file the id is not used again either.
    call.json(["store", "backup", "--goal-id", "g", "--dir", "b2"]);
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(add(&sandbox, DAY_2, "[P4] again"));
        let state = sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
        fs::remove_file(state).unwrap();
        let back = ["store", "restore", "--goal-id", "g", "--from", "b2", "--execute"];
        let agree = call.run(back).json();
        assert_eq!(agree["error_code"], json!("restore_loses_commits"), "{agree}");
        let lost = agree["next_command"].as_str().unwrap().rsplit(' ').next().unwrap().to_owned();
        call.json(back.iter().chain(&["--losing-commits", lost.as_str()]));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3, "{ids:?}");
}

/// What waits behind a restore writes into what the restore has put in place.
#[test]
fn a_writer_that_waited_behind_a_restore_writes_into_the_restored_store() {
    let (sandbox, _, _) = busy();
    let call = sandbox.at(DAY_2);
    call.json(["store", "backup", "--goal-id", "g", "--dir", "b"]);
    add(&sandbox, DAY_2, "[P3] after the backup");
    let note = HolderNote::default();
    let second = Duration::from_secs(1);
    let held = FileLock::acquire(&store(&sandbox), LockMode::Queued, &note, second).unwrap();
    let start = |words: &str| {
        let child = call.command(words.split(' ')).stdout(Stdio::piped()).spawn().unwrap();
        // Both queue in this order.
        std::thread::sleep(Duration::from_millis(700));
        child
    };
    let restore =
        start("store restore --goal-id g --from b --losing-commits 1 --execute --format json");
    let writer = start("todo add --goal-id g --role agent --text behind --format json");
    drop(held);
    let said = |child: Child| -> Value {
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
    };
    let restored = said(restore);
    assert_eq!(restored["ok"], json!(true), "{restored}");
    let written = said(writer);
    assert_eq!(written["added"], json!(true), "{written}");
    let list = call.json(["todo", "list", "--goal-id", "g"]).to_string();
    assert!(list.contains("behind"), "{list}");
    assert_sound(&sandbox);
}

#[test]
fn a_damaged_or_foreign_backup_is_refused_and_changes_nothing() {
    let (sandbox, ..) = busy();
    let call = sandbox.at(DAY_2);
    call.json(["store", "backup", "--goal-id", "g", "--dir", "b"]);
    let restore = ["store", "restore", "--goal-id", "g", "--from", "b", "--execute"];
    let folder = sandbox.project().join("b/g");
    let original = fs::read(folder.join("goal.db")).unwrap();
    let manifest = fs::read(folder.join("manifest.json")).unwrap();
    let before = Tree::of(&sandbox.runtime_root());
    let refuse = |code: &str| {
        let refused = call.run(restore).json();
        assert_eq!(refused["error_code"], json!(code), "{refused}");
        let changes = Tree::of(&sandbox.runtime_root()).changes_since(&before);
        assert!(changes.is_empty(), "{changes:?}");
    };
    let mut flipped = original.clone();
    flipped[9_000] ^= 1;
    fs::write(folder.join("goal.db"), flipped).unwrap();
    refuse("backup_invalid");
    fs::write(folder.join("goal.db"), &original[..8_192]).unwrap();
    refuse("backup_invalid");
    fs::remove_file(folder.join("goal.db")).unwrap();
    refuse("backup_invalid");
    fs::write(folder.join("goal.db"), &original).unwrap();
    for text in [&b"{}"[..], b"x", b""] {
        fs::write(folder.join("manifest.json"), text).unwrap();
        refuse("backup_invalid");
    }
    let text = String::from_utf8(manifest.clone()).unwrap();
    fs::write(folder.join("manifest.json"), text.replace("goal.db", "../../goal.db")).unwrap();
    refuse("backup_invalid");
    fs::write(
        folder.join("manifest.json"),
        text.replace("\"goal_uid\": \"g-", "\"goal_uid\": \"h-"),
    )
    .unwrap();
    refuse("store_foreign");
    fs::write(folder.join("manifest.json"), manifest).unwrap();
    call.json(restore.iter().chain(&["--losing-commits", "0"]));
    assert_sound(&sandbox);
}

#[test]
fn a_restore_works_on_a_damaged_store() {
    let (sandbox, ..) = busy();
    let call = sandbox.at(DAY_2);
    call.json(["store", "backup", "--goal-id", "g", "--dir", "b"]);
    let path = store(&sandbox);
    for bytes in [&b""[..], &[0; 8_192], &[0x5a; 70_000]] {
        fs::write(&path, bytes).unwrap();
        // A journal of the damaged store must not be rolled back into the restored one.
        fs::write(path.with_file_name("goal.db-journal"), [7; 4_096]).unwrap();
        let done = call.json(["store", "restore", "--goal-id", "g", "--from", "b", "--execute"]);
        assert_eq!(done["store"], json!("unreadable"));
        assert_sound(&sandbox);
    }
}

#[test]
fn pruned_history_is_gone_and_answers_for_itself() {
    let (sandbox, done, open) = busy();
    let old = fs::metadata(store(&sandbox)).unwrap().len();
    add(&sandbox, LATE, "[P2] recent");
    let prune = ["store", "prune", "--goal-id", "g", "--keep-days", "30"];
    let before = Tree::of(sandbox.base());
    let preview = sandbox.at(LATE).json(prune);
    assert!(Tree::of(sandbox.base()).changes_since(&before).is_empty(), "a preview writes nothing");
    let ask = |at: &str| {
        sandbox.at(at).json(["quota", "should-run", "--goal-id", "g", "--agent-id", "agent-a"])
    };
    let asked = ask(LATE);
    let pruned = sandbox.at(LATE).json(prune.iter().chain(&["--execute", "--effect-id", "p1"]));
    assert_eq!(pruned["prune"], preview["prune"]);
    assert_eq!(pruned["prune"]["turns"], json!(3));
    assert_eq!(pruned["prune"]["spends"], json!(3));
    assert_eq!(pruned["prune"]["evidence"], json!(3));
    assert!(pruned["store_bytes"].as_u64().unwrap() <= old, "{pruned}");
    assert_sound(&sandbox);
    let without_commit = |v: &Value| {
        let mut v = v.clone();
        if let Some(map) = v.as_object_mut() {
            map.remove("commit");
            map.remove("heartbeat_receipt");
        }
        v
    };
    assert_eq!(without_commit(&ask(LATE)), without_commit(&asked));
    // Repeats never run again: they say that they were done.
    let replay = sandbox.at(LATE).json(prune.iter().chain(&["--execute", "--effect-id", "p1"]));
    assert_eq!(replay["idempotent_replay"], json!(true), "{replay}");
    let admitted = admit(&sandbox, LATE, "t1");
    assert_eq!(
        (&admitted["error_code"], &admitted["should_run"]),
        (&json!("receipt_pruned"), &json!(false)),
        "{admitted}"
    );
    let spend = sandbox.at(LATE).json([
        "quota",
        "spend-slot",
        "--goal-id",
        "g",
        "--agent-id",
        "agent-a",
        "--todo-id",
        &done,
        "--turn-instance-id",
        "t1",
        "--execute",
    ]);
    assert_eq!(spend["receipt_pruned"], json!(true), "{spend}");
    let status = sandbox.at(LATE).json(["quota", "status", "--goal-id", "g"]);
    assert_eq!(status["goals"][0]["spent_slots"], json!(0));
    // The open todo and the done one are as they were, and the next turn runs.
    let list = sandbox.at(LATE).json(["todo", "list", "--goal-id", "g"]).to_string();
    assert!(list.contains(&done) && list.contains(&open), "{list}");
    turn(&sandbox, LATE, "t9", &open);
    assert_sound(&sandbox);
    // Nothing is left to prune, and that is no commit.
    let none = sandbox.at(LATE).json(prune.iter().chain(&["--execute"]));
    assert_eq!(none["prune"]["bytes"], json!(0), "{none}");
    for days in ["0", "-1", "x"] {
        let words = ["store", "prune", "--goal-id", "g", "--keep-days", days];
        assert_eq!(sandbox.at(LATE).run(words).code, 2);
    }
}

fn earlier_project() -> Sandbox {
    let goal = earlier::Goal::new("g", &["agent-a", "agent-b"])
        .user_todo("todo_aaa001", "[P0] approve", "task_class=user_gate blocks_agent=agent-b")
        .agent_todo("todo_aaa002", "[P1] one", "task_class=advancement_task")
        .agent_todo("todo_aaa002", "[P2] the same id", "task_class=advancement_task")
        .agent_todo("todo_aaa003", "[P2] watch", "task_class=continuous_monitor cadence=30m");
    let mut files = earlier::files(&[goal]);
    let spend = |at: &str| {
        json!({"generated_at": at, "goal_id": "g", "classification": "quota_slot_spent",
            "json_path": "/nowhere/x.json", "agent_id": "agent-a"})
        .to_string()
    };
    let index =
        format!("{}\n{}\nnot json\n", spend("2026-11-29T11:00:00Z"), spend("2026-11-20T11:00:00Z"));
    files.insert("rt/goals/g/runs/index.jsonl".into(), index.into());
    Sandbox::with_files(&files)
}

#[test]
fn migrate_says_what_an_import_would_do_and_then_does_that() {
    let sandbox = earlier_project();
    let call = sandbox.at(LATE);
    let before = Tree::of(sandbox.base());
    let plan = call.json(["migrate", "--goal-id", "g", "--dry-run"]);
    assert!(Tree::of(sandbox.base()).changes_since(&before).is_empty(), "a plan writes nothing");
    let row = &plan["goals"][0];
    assert_eq!(row["todos"], json!(4), "{plan}");
    assert_eq!(row["todos_by_class"]["advancement_task"]["open"], json!(2), "{plan}");
    assert_eq!(row["open_gates"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!(row["monitors"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!(row["spends_in_window"]["spends"], json!(1), "{plan}");
    assert_eq!(row["spends_before"]["spends"], json!(1), "{plan}");
    let findings = row["findings"].to_string();
    assert!(findings.contains("todo_id_duplicated"), "{findings}");
    assert_eq!(row["decisions"]["agent-a"]["should_run"], json!(true), "{plan}");
    assert_eq!(row["decisions"]["agent-b"]["rule"], json!("gate"), "{plan}");
    let done = call.json(["migrate", "--goal-id", "g", "--execute"]);
    assert_eq!(done["goals"][0]["commit"], json!(1), "{done}");
    assert_eq!(done["goals"][0]["todos"], row["todos"], "{done}");
    assert_sound(&sandbox);
    for agent in ["agent-a", "agent-b"] {
        let now = call.json(["quota", "should-run", "--goal-id", "g", "--agent-id", agent]);
        assert_eq!(now["rule"], row["decisions"][agent]["rule"], "{now}");
    }
    let again = call.json(["migrate", "--all", "--execute"]);
    assert_eq!(again["goals"][0]["changed"], json!(false), "{again}");
    add(&sandbox, LATE, "[P3] goes on");
    assert_sound(&sandbox);
}

#[test]
fn every_command_has_help_with_an_example() {
    let sandbox = Sandbox::new();
    for words in [
        &["store", "check"][..],
        &["store", "backup"],
        &["store", "restore"],
        &["store", "prune"],
        &["migrate"],
    ] {
        let help = sandbox.run(words.iter().chain(&["--help"]));
        assert!(help.code == 0 && help.stdout.contains("Example:"), "{help}");
    }
}
