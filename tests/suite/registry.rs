//! The registry as other tools and people share it, the way to it, and what a goal says
//! when its store is not what the registry promises.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::file::sha256_hex;
use loopx_core::registry::entry_digest;
use loopx_tests::tree::Tree;
use loopx_tests::{Call, Sandbox, at_once, earlier};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const NOW: &str = "2026-11-29T21:00:00+00:00";
const ASK: &str = "quota should-run --goal-id g --agent-id agent-a";
const ADD: &str = "todo add --goal-id g --role agent --text";

#[track_caller]
fn json(sandbox: &Sandbox, words: &str) -> Value {
    sandbox.at(NOW).json(words.split_whitespace())
}

#[track_caller]
fn refusal(sandbox: &Sandbox, words: &str) -> Value {
    sandbox.at(NOW).refusal(words.split_whitespace())
}

fn new_goal() -> Sandbox {
    let sandbox = Sandbox::new();
    json(&sandbox, "goal create --goal-id g --objective o --agent-id agent-a");
    json(&sandbox, &format!("{ADD} one"));
    sandbox
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

// ---- the document

/// A registry that a newer and a foreign tool have written fields into, in an order of
/// their own.
fn foreign() -> Sandbox {
    let mut goal = earlier::Goal::new("g", &["agent-a"]).agent_todo(
        "todo_000000000001",
        "[P1] one",
        "task_class=advancement_task",
    );
    let entry = goal.entry.as_object_mut().unwrap();
    entry.insert("zeta".into(), json!({"b": [1, 2.50, null], "a": "\u{e9}\u{1f680}"}));
    entry.insert("alpha".into(), json!(12_345_678_901_234_567_890_u64));
    entry["coordination"]["theirs"] = json!({"y": 1, "x": 2});
    let other = earlier::Goal::new("other", &["agent-z"]);
    let mut files = earlier::files(&[goal, other]);
    let text = files[".loopx/registry.json"].as_str().unwrap();
    let mut registry: Value = serde_json::from_str(text).unwrap();
    let root = registry.as_object_mut().unwrap();
    root.insert("zz_top".into(), json!({"z": 1, "a": 2}));
    root.insert("aa".into(), json!([]));
    root["goals"].as_array_mut().unwrap().push(json!("not even an object"));
    files.insert(".loopx/registry.json".into(), format!("{registry:#}").into());
    Sandbox::with_files(&files)
}

/// `after` has everything of `before`, in the order of before, except `changed`.
#[track_caller]
fn assert_kept(before: &Value, after: &Value, changed: &[&str]) {
    let order: Vec<_> = keys(after).into_iter().filter(|key| before.get(key).is_some()).collect();
    assert_eq!(order, keys(before));
    for (key, value) in before.as_object().unwrap() {
        if !changed.contains(&key.as_str()) {
            // As text, so that the order of keys and the form of numbers count.
            assert_eq!(after[key].to_string(), value.to_string(), "{key}");
        }
    }
}

#[test]
fn unknown_fields_and_the_order_of_keys_survive_every_change() {
    let sandbox = foreign();
    let before = read(&sandbox.registry());
    for words in [
        "goal stop --goal-id g --reason pause",
        "goal resume --goal-id g",
        "agent register --goal-id g --agent-id agent-b",
        "goal create --goal-id new --objective o",
        "todo add --goal-id g --role agent --text two",
    ] {
        json(&sandbox, words);
        let after = read(&sandbox.registry());
        assert_kept(&before, &after, &["goals", "updated_at"]);
        let (old, new) = (&before["goals"], &after["goals"]);
        assert_kept(&old[0], &new[0], &["coordination"]);
        assert_kept(
            &old[0]["coordination"],
            &new[0]["coordination"],
            &["registered_agents", "agent_model"],
        );
        // What is not the command's goal is not the command's business.
        assert_eq!(old[1].to_string(), new[1].to_string(), "{words}");
        assert_eq!(old[2], new[2], "{words}");
    }
    let agents = &read(&sandbox.registry())["goals"][0]["coordination"]["registered_agents"];
    assert_eq!(*agents, json!(["agent-a", "agent-b"]));
}

#[test]
fn a_link_stays_a_link_and_the_mode_stays_the_mode() {
    let sandbox = new_goal();
    let real = sandbox.base().join("kept-elsewhere.json");
    fs::rename(sandbox.registry(), &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, sandbox.registry()).unwrap();
    for words in [
        "goal stop --goal-id g",
        "goal resume --goal-id g",
        "agent register --goal-id g --agent-id agent-b",
        "goal create --goal-id h --objective o",
    ] {
        let before = fs::read(&real).unwrap();
        json(&sandbox, words);
        assert!(fs::symlink_metadata(sandbox.registry()).unwrap().is_symlink(), "{words}");
        assert_eq!(fs::read_link(sandbox.registry()).unwrap(), real);
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o7777, 0o640, "{words}");
        assert_ne!(fs::read(&real).unwrap(), before, "{words}: it was written through the link");
    }
    assert_eq!(json(&sandbox, ASK)["rule"], "run");
}

// ---- stop and resume

#[test]
fn a_stopped_goal_is_paused_until_it_is_resumed() {
    let sandbox = new_goal();
    let stopped = json(&sandbox, "goal stop --goal-id g --reason pause");
    assert_eq!((&stopped["state"], &stopped["changed"]), (&json!("stopped"), &json!(true)));
    assert_eq!(json(&sandbox, "goal stop --goal-id g")["changed"], false);
    for agent in ["--agent-id agent-a", ""] {
        let packet = json(&sandbox, &format!("quota should-run --goal-id g {agent}"));
        assert_eq!(packet["rule"], "goal_stopped");
        assert_eq!(
            (&packet["state"], &packet["should_run"], &packet["pause_cause"]),
            (&json!("paused"), &json!(false), &json!("goal_stopped"))
        );
    }
    // Work can still be written down.
    json(&sandbox, &format!("{ADD} two"));
    let resumed = json(&sandbox, "goal resume --goal-id g");
    assert_eq!((&resumed["state"], &resumed["changed"]), (&json!("active"), &json!(true)));
    assert_eq!(json(&sandbox, ASK)["rule"], "run");
}

#[test]
fn a_status_typed_by_hand_stops_and_what_cannot_be_read_does_not_run() {
    let sandbox = new_goal();
    let text = fs::read_to_string(sandbox.registry()).unwrap();
    for status in ["stopped", "Complete", "completed", " archived "] {
        let typed =
            text.replacen("\"status\": \"active\"", &format!("\"status\": \"{status}\""), 1);
        assert_ne!(typed, text);
        fs::write(sandbox.registry(), typed).unwrap();
        assert_eq!(json(&sandbox, ASK)["rule"], "goal_stopped", "{status:?}");
    }
    json(&sandbox, "goal resume --goal-id g");
    assert_eq!(json(&sandbox, ASK)["rule"], "run", "resuming means the typed word too");
    for activation in [json!({"state": "perhaps"}), json!("stopped"), json!({}), json!(7)] {
        let mut registry: Value = serde_json::from_str(&text).unwrap();
        registry["goals"][0]["activation"] = activation.clone();
        fs::write(sandbox.registry(), registry.to_string()).unwrap();
        let packet = json(&sandbox, ASK);
        assert_eq!(packet["should_run"], false, "{activation}: {packet:#}");
    }
}

/// Stop and admission are ordered: what is admitted after a stop does not run.
#[test]
fn nothing_is_admitted_to_run_after_a_stop() {
    let sandbox = new_goal();
    for round in 0..4 {
        let call = sandbox.call();
        let mut commands: Vec<_> = (0..8)
            .map(|n| {
                let words = format!("{ASK} --turn-instance-id t-{round}-{n}");
                call.command(words.split_whitespace())
            })
            .collect();
        commands.insert(4, call.command(["goal", "stop", "--goal-id", "g"]));
        for output in at_once(commands) {
            assert_eq!(output.code, 0, "{output}");
        }
        let store = Connection::open(sandbox.store_folder("g").join("goal.db")).unwrap();
        let mut rows = store.prepare("SELECT doc FROM commits ORDER BY n DESC LIMIT 9").unwrap();
        let mut stopped = true;
        for doc in rows.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            let commit: Value = serde_json::from_str(&doc.unwrap()).unwrap();
            match commit["verb"].as_str().unwrap() {
                "goal.stop" => stopped = false,
                "turn.admit" => {
                    let ran = commit["receipt"]["should_run"] == true;
                    // Before the stop one turn runs and holds the todo; after it none does.
                    assert!(!(ran && stopped), "{commit:#}");
                }
                other => panic!("{other}"),
            }
        }
        json(&sandbox, "goal resume --goal-id g");
    }
}

// ---- routes

/// Two project folders and one HOME; the binary finds its own way.
fn in_folder<'s>(sandbox: &'s Sandbox, folder: &str) -> Call<'s> {
    let path = sandbox.base().join(folder);
    fs::create_dir_all(&path).unwrap();
    sandbox.at(NOW).unlocated().in_folder(path)
}

const CREATE: &str = "goal create --goal-id g --objective o --agent-id agent-a";

#[test]
fn a_goal_of_another_project_is_not_taken_over_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    in_folder(&sandbox, "one").json(CREATE.split(' '));
    let there = in_folder(&sandbox, "two");
    let own = ["--registry", ".loopx/registry.json"];
    let before = Tree::of(sandbox.base());
    let refused = there.refusal(CREATE.split(' ').chain(own));
    assert_eq!(refused["error_code"], "route_collision", "{refused:#}");
    // The lock that it looked behind.
    let lock = ["new: two/.loopx", "new: two/.loopx/registry.json.lock", "touched: two"];
    let mut changes = Tree::of(sandbox.base()).changes_since(&before);
    changes.retain(|line| !lock.contains(&line.as_str()));
    assert!(changes.is_empty(), "{changes:#?}");
    // Another name is free.
    let other = CREATE.replace("--goal-id g", "--goal-id h");
    there.json(other.split(' ').chain(own));
    let global = read(&sandbox.home().join(".loopx/registry.global.json"));
    let ids: Vec<_> = global["goals"].as_array().unwrap().iter().map(|goal| &goal["id"]).collect();
    assert_eq!(ids, ["g", "h"]);
}

#[test]
fn a_goal_is_created_in_the_folder_where_it_is_asked_for() {
    let sandbox = Sandbox::new();
    for (folder, goal) in [("one", "g"), ("two", "h")] {
        in_folder(&sandbox, folder)
            .json(CREATE.replace("-id g", &format!("-id {goal}")).split(' '));
        let made = sandbox.base().join(folder).join(".loopx/registry.json");
        assert!(made.is_file(), "no {}", made.display());
    }
}

#[test]
fn of_two_goals_one_must_be_named() {
    let sandbox = new_goal();
    json(&sandbox, "quota should-run --agent-id agent-a");
    json(&sandbox, "goal create --goal-id h --objective o --agent-id agent-a");
    for words in ["todo list", "refresh-state", "goal stop", "agent list", "export"] {
        assert_eq!(refusal(&sandbox, words)["error_code"], "goal_required", "{words}");
    }
    let asked = sandbox.at(NOW).run("quota should-run --agent-id agent-a".split(' '));
    let packet = asked.json();
    assert_eq!((asked.code, &packet["error_code"]), (1, &json!("goal_required")), "{asked}");
    assert_eq!((&packet["should_run"], &packet["rule"]), (&json!(false), &json!("goal_unknown")));
    // Windows are shown for all.
    assert_eq!(json(&sandbox, "quota status")["goals"].as_array().unwrap().len(), 2);
}

#[test]
fn two_global_registries_and_none_named_is_an_error_that_names_both() {
    let sandbox = Sandbox::new();
    let home = sandbox.home();
    for folder in [".loopx", ".codex/loopx"] {
        fs::create_dir_all(home.join(folder)).unwrap();
        fs::write(home.join(folder).join("registry.global.json"), r#"{"goals":[]}"#).unwrap();
    }
    let elsewhere = in_folder(&sandbox, "elsewhere");
    let refused = elsewhere.refusal(["goal", "list"]);
    assert_eq!(refused["error_code"], "registry_ambiguous");
    let said = refused["error"].as_str().unwrap();
    assert!(said.contains("~/.loopx") && said.contains("~/.codex/loopx"), "{said}");
    assert!(!said.contains(sandbox.base().to_str().unwrap()), "no path of the machine: {said}");
    let named = home.join(".codex/loopx/registry.global.json");
    elsewhere.json(["--registry", named.to_str().unwrap(), "goal", "list"]);
    // Where only the earlier tool's exists, it is the one.
    fs::remove_file(home.join(".loopx/registry.global.json")).unwrap();
    elsewhere.json(["goal", "list"]);
    // And with a project's own above, none of it matters.
    fs::write(home.join(".loopx/registry.global.json"), r#"{"goals":[]}"#).unwrap();
    fs::create_dir_all(sandbox.base().join("elsewhere/.loopx")).unwrap();
    fs::write(sandbox.base().join("elsewhere/.loopx/registry.json"), r#"{"goals":[]}"#).unwrap();
    in_folder(&sandbox, "elsewhere/deep/inside").json(["goal", "list"]);
}

#[test]
fn a_global_entry_leads_to_the_project_that_owns_the_goal() {
    let sandbox = Sandbox::new();
    let project = in_folder(&sandbox, "one");
    project.json(CREATE.split(' '));
    project.json(format!("{ADD} inside").split(' '));
    let elsewhere = in_folder(&sandbox, "elsewhere");
    let (here, there) = (project.json(ASK.split(' ')), elsewhere.json(ASK.split(' ')));
    assert_eq!(here, there);
    elsewhere.json(format!("{ADD} outside").split(' '));
    elsewhere.json("goal stop --goal-id g".split(' '));
    assert_eq!(project.json(ASK.split(' '))["rule"], "goal_stopped");
    assert_eq!(elsewhere.json(ASK.split(' '))["rule"], "goal_stopped");
    let list = project.json("todo list --goal-id g".split(' '));
    assert_eq!(list["todo_count"], 2);
    assert!(!sandbox.base().join("elsewhere/.loopx").exists());
    assert!(!sandbox.home().join(".loopx/goals").exists(), "no second store");

    // The project is gone: nobody pretends that the copy is the goal.
    fs::remove_dir_all(sandbox.base().join("one")).unwrap();
    let asked = elsewhere.run(ASK.split(' '));
    assert_eq!((asked.code, &asked.json()["error_code"]), (1, &json!("route_missing")));
    let refused = elsewhere.refusal(format!("{ADD} x").split(' '));
    assert_eq!(refused["error_code"], "route_missing");
}

#[test]
fn source_registries_that_lead_in_a_circle_are_refused() {
    let sandbox = Sandbox::new();
    let path = |name: &str| sandbox.base().join(name).join(".loopx/registry.json");
    for (name, source) in [("one", "two"), ("two", "three"), ("three", "one")] {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        let entry = json!({"id": "g", "source_registry": path(source), "coordination": {"registered_agents": ["agent-a"]}});
        fs::write(path(name), json!({"goals": [entry]}).to_string()).unwrap();
    }
    let asked = in_folder(&sandbox, "one").run(ASK.split(' '));
    let packet = asked.json();
    assert_eq!((asked.code, &packet["error_code"]), (1, &json!("route_cycle")), "{asked}");
    assert_eq!(packet["should_run"], false);
    for words in [format!("{ADD} x"), "goal stop --goal-id g".into()] {
        let refused = in_folder(&sandbox, "two").refusal(words.split(' '));
        assert_eq!(refused["error_code"], "route_cycle");
    }
}

// ---- the store is not there

const WRITES: [&str; 6] = [
    "todo add --goal-id g --role agent --text x",
    "refresh-state --goal-id g --agent-id agent-a",
    "quota spend-slot --goal-id g --agent-id agent-a --execute",
    "goal stop --goal-id g",
    "agent register --goal-id g --agent-id agent-b",
    "export --goal-id g",
];

/// What has the error, and that nothing was made or changed by trying.
#[track_caller]
fn assert_unhealthy(sandbox: &Sandbox, code: &str) {
    let before = Tree::of(sandbox.base());
    let asked = sandbox.at(NOW).run(ASK.split(' '));
    assert_eq!(asked.code, 0, "{asked}");
    let packet = asked.json();
    assert_eq!((&packet["rule"], &packet["should_run"]), (&json!("health"), &json!(false)));
    assert_eq!(packet["status_health_ok"], false);
    assert_eq!(packet["findings"][0]["code"], code, "{packet:#}");
    assert!(!asked.stdout.contains(sandbox.base().to_str().unwrap()), "a path: {asked}");
    let admitted = sandbox.at(NOW).run(format!("{ASK} --turn-instance-id turn-1").split(' '));
    assert_eq!(admitted.json()["should_run"], false, "{admitted}");
    for words in WRITES {
        let refused = refusal(sandbox, words);
        assert_eq!(refused["error_code"], code, "{words}");
        let next = refused["next_command"].as_str().unwrap();
        for destructive in ["--force", "rm ", "delete", "init", "reset"] {
            assert!(!next.contains(destructive), "{next}");
        }
    }
    let changes: Vec<_> = Tree::of(sandbox.base())
        .changes_since(&before)
        .into_iter()
        .filter(|line| !line.ends_with(".lock") && !line.starts_with("touched: "))
        .collect();
    assert!(changes.is_empty(), "{changes:#?}");
}

#[test]
fn a_store_that_is_gone_is_reported_and_never_made_anew() {
    let sandbox = new_goal();
    let store = sandbox.store_folder("g").join("goal.db");
    let kept = fs::read(&store).unwrap();
    fs::remove_file(&store).unwrap();
    assert_unhealthy(&sandbox, "store_unreadable");
    for damaged in [&b""[..], &[7; 4096], &kept[..100]] {
        fs::write(&store, damaged).unwrap();
        assert_unhealthy(&sandbox, "store_unreadable");
    }
    fs::remove_dir_all(sandbox.store_folder("g")).unwrap();
    assert_unhealthy(&sandbox, "store_unreadable");
    // A backup put back is enough.
    fs::create_dir_all(sandbox.store_folder("g")).unwrap();
    fs::write(&store, kept).unwrap();
    assert_eq!(json(&sandbox, ASK)["rule"], "run");
}

#[test]
fn an_admission_over_an_unreadable_store_is_answered_by_the_health_rule() {
    let sandbox = new_goal();
    fs::remove_file(sandbox.store_folder("g").join("goal.db")).unwrap();
    let admitted = sandbox.at(NOW).run(format!("{ASK} --turn-instance-id turn-1").split(' '));
    assert_eq!((admitted.code, &admitted.json()["rule"]), (0, &json!("health")), "{admitted}");
}

#[test]
fn a_store_of_a_newer_release_is_refused_by_its_name() {
    let sandbox = new_goal();
    let path = sandbox.store_folder("g").join("goal.db");
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version=7").unwrap();
    assert_unhealthy(&sandbox, "store_schema_newer");
    let refused = refusal(&sandbox, WRITES[0]);
    assert!(refused["error"].as_str().unwrap().contains("schema 7"), "{refused:#}");
}

#[test]
fn a_store_of_another_goal_is_refused() {
    let sandbox = new_goal();
    json(&sandbox, "goal create --goal-id h --objective o --agent-id agent-a");
    fs::copy(sandbox.store_folder("h").join("goal.db"), sandbox.store_folder("g").join("goal.db"))
        .unwrap();
    assert_unhealthy(&sandbox, "store_foreign");
}

// ---- a crash between registry and store

/// A goal whose `goal stop` was killed between its two commits: the journal row is there,
/// the commit is not. `replaced` says whether the registry was already replaced.
struct Crashed {
    sandbox: Sandbox,
    old: Vec<u8>,
    new: Vec<u8>,
}

const STOP: &str = "goal stop --goal-id g --effect-id stop-1";

impl Crashed {
    fn new(replaced: bool) -> Self {
        let sandbox = new_goal();
        let old = fs::read(sandbox.registry()).unwrap();
        json(&sandbox, STOP);
        let new = fs::read(sandbox.registry()).unwrap();
        let store = Connection::open(sandbox.store_folder("g").join("goal.db")).unwrap();
        let doc: String = store
            .query_row("SELECT doc FROM commits ORDER BY n DESC LIMIT 1", [], |row| row.get(0))
            .unwrap();
        let commit: Value = serde_json::from_str(&doc).unwrap();
        assert_eq!(commit["verb"], "goal.stop");
        store.execute("DELETE FROM commits WHERE n = ?1", [commit["n"].as_i64().unwrap()]).unwrap();
        let row = json!({
            "effect_id": commit["effect_id"],
            "witness_before": sha256_hex(&old),
            "witness_after": sha256_hex(&new),
            "entry_after": entry_digest(&sandbox.entry("g")),
            "commit": commit,
        });
        let effect = commit["effect_id"].as_str().unwrap();
        store
            .execute("INSERT INTO journal(effect, doc) VALUES (?1, ?2)", [effect, &row.to_string()])
            .unwrap();
        if !replaced {
            fs::write(sandbox.registry(), &old).unwrap();
        }
        Self { sandbox, old, new }
    }

    fn verbs(&self) -> Vec<String> {
        let goal = json(&self.sandbox, "goal show --goal-id g");
        let commits = goal["commits"].as_array().unwrap();
        commits.iter().rev().map(|commit| commit["verb"].as_str().unwrap().to_owned()).collect()
    }

    fn journal_rows(&self) -> i64 {
        let store = Connection::open(self.sandbox.store_folder("g").join("goal.db")).unwrap();
        store.query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).unwrap()
    }
}

const NEXT: [&str; 4] = [
    "todo add --goal-id g --role agent --text two",
    "refresh-state --goal-id g --agent-id agent-a",
    "agent register --goal-id g --agent-id agent-b",
    "quota should-run --goal-id g --agent-id agent-a --turn-instance-id turn-1",
];

#[test]
fn a_stop_that_had_replaced_the_registry_is_finished_by_the_next_write() {
    for next in NEXT {
        let crashed = Crashed::new(true);
        assert_eq!(json(&crashed.sandbox, ASK)["rule"], "goal_stopped", "reading waits for nobody");
        json(&crashed.sandbox, next);
        let verbs = crashed.verbs();
        assert_eq!(verbs[2], "goal.stop", "{next}: {verbs:?}");
        assert_eq!(verbs.len(), 4, "{next}: {verbs:?}");
        assert_eq!(crashed.journal_rows(), 0, "{next}");
        let again = json(&crashed.sandbox, STOP);
        assert_eq!((&again["idempotent_replay"], &again["changed"]), (&json!(true), &json!(true)));
        assert_eq!(again["state"], "stopped");
        assert_eq!(json(&crashed.sandbox, ASK)["rule"], "goal_stopped");
    }
}

#[test]
fn repeating_a_stop_that_was_cut_off_gives_its_receipt_at_once() {
    let crashed = Crashed::new(true);
    let again = json(&crashed.sandbox, STOP);
    assert_eq!((&again["idempotent_replay"], &again["changed"]), (&json!(true), &json!(true)));
    assert!(fs::read(crashed.sandbox.registry()).unwrap() == crashed.new);
    json(&crashed.sandbox, &format!("{ADD} two"));
    assert_eq!(crashed.verbs(), ["goal.create", "todo.add", "goal.stop", "todo.add"]);
}

#[test]
fn a_stop_that_had_not_replaced_the_registry_is_dropped() {
    for next in NEXT {
        let crashed = Crashed::new(false);
        assert_eq!(json(&crashed.sandbox, ASK)["rule"], "run");
        json(&crashed.sandbox, next);
        let verbs = crashed.verbs();
        assert!(!verbs.contains(&"goal.stop".to_owned()), "{next}: {verbs:?}");
        assert_eq!(crashed.journal_rows(), 0, "{next}");
        // Where the next write was an admission, its turn holds the todo.
        assert_ne!(json(&crashed.sandbox, ASK)["rule"], "goal_stopped");
        // Asked again, it is done now.
        let again = json(&crashed.sandbox, STOP);
        assert_eq!((again.get("idempotent_replay"), &again["changed"]), (None, &json!(true)));
        assert_eq!(json(&crashed.sandbox, ASK)["rule"], "goal_stopped");
    }
    let crashed = Crashed::new(false);
    assert!(fs::read(crashed.sandbox.registry()).unwrap() == crashed.old);
}

/// Since the crash another goal's command has changed the file: the goal's own entry
/// still says what had happened.
#[test]
fn a_registry_that_was_changed_since_is_judged_by_the_goals_own_entry() {
    let crashed = Crashed::new(true);
    json(&crashed.sandbox, "goal create --goal-id h --objective o --agent-id agent-a");
    json(&crashed.sandbox, NEXT[0]);
    assert_eq!(crashed.verbs(), ["goal.create", "todo.add", "goal.stop", "todo.add"]);

    let crashed = Crashed::new(false);
    json(&crashed.sandbox, "goal create --goal-id h --objective o --agent-id agent-a");
    json(&crashed.sandbox, NEXT[0]);
    assert_eq!(crashed.verbs(), ["goal.create", "todo.add", "todo.add"]);
}
