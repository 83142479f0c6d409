//! The reads that show: what they say in JSON, that they write nothing, and that an
//! explanation decides as the decision does.

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
use std::time::Duration;

const NOW: &str = "2026-11-29T21:00:00Z";

fn run(sandbox: &Sandbox, args: &[&str]) -> Value {
    sandbox.at(NOW).json(args)
}

fn project() -> (Sandbox, String, String) {
    let sandbox = Sandbox::new();
    run(&sandbox, &["goal", "create", "--goal-id", "g", "--agent-id", "agent-a,agent-b"]);
    let add = |text: &str, more: &[&str]| {
        let args = ["todo", "add", "--goal-id", "g", "--text", text];
        run(&sandbox, &[&args[..], more].concat())["todo_id"].as_str().unwrap().to_owned()
    };
    let work = add("[P1] one", &["--role", "agent"]);
    let gate =
        add("ok?", &["--role", "user", "--task-class", "user_gate", "--blocks-agent", "agent-b"]);
    (sandbox, work, gate)
}

fn words(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|v| v[key].as_str().unwrap_or("-").to_owned()).collect()
}

/// X10 for every read of this family, over a goal of this tool and one of the earlier's.
#[test]
fn reports_write_nothing() {
    let (ours, work, _) = project();
    let earlier =
        Sandbox::with_files(&earlier::files(&[earlier::Goal::new("g", &["agent-a", "agent-b"])
            .agent_todo("todo_000000000001", "[P1] one", "task_class=advancement_task")]));
    for (sandbox, todo) in [(ours, work.as_str()), (earlier, "todo_000000000001")] {
        let before = Tree::of(sandbox.base());
        for args in [
            vec!["status"],
            vec!["status", "--goal-id", "g"],
            vec!["history"],
            vec!["evidence-log", "--goal-id", "g", "--agent-id", "agent-a", "--todo-id", todo],
            vec!["diagnose"],
            vec!["diagnose", "--goal-id", "g"],
            vec!["explain", "--goal-id", "g", "--agent-id", "agent-a"],
            vec!["explain", "--goal-id", "g", "--agent-id", "agent-a", "--todo-id", todo],
            vec!["quota", "plan"],
            vec!["quota", "status"],
        ] {
            run(&sandbox, &args);
        }
        let changes = Tree::of(sandbox.base()).changes_since(&before);
        assert!(changes.is_empty(), "{changes:#?}");
    }
}

/// The same question has the same answer, whichever command asks it.
#[test]
fn an_explanation_decides_as_should_run_does() {
    let (sandbox, work, gate) = project();
    let steps: [&[&str]; 7] = [
        &["status"],
        &["todo", "complete", "--goal-id", "g", "--todo-id", &gate, "--decision-outcome", "reject"],
        &["todo", "update", "--goal-id", "g", "--todo-id", &work, "--required-capability", "gpu"],
        &[
            "todo",
            "update",
            "--goal-id",
            "g",
            "--todo-id",
            &work,
            "--status",
            "blocked",
            "--reason",
            "x",
        ],
        &["todo", "update", "--goal-id", "g", "--todo-id", &work, "--status", "open"],
        &["todo", "complete", "--goal-id", "g", "--todo-id", &work, "--agent-id", "agent-a"],
        &["goal", "stop", "--goal-id", "g"],
    ];
    for step in steps {
        run(&sandbox, step);
        for who in [
            vec![],
            vec!["--agent-id", "agent-a"],
            vec!["--agent-id", "agent-b", "--available-capability", "gpu"],
        ] {
            let packet =
                run(&sandbox, &[&["quota", "should-run", "--goal-id", "g"], &who[..]].concat());
            let said = run(&sandbox, &[&["explain", "--goal-id", "g"], &who[..]].concat());
            for key in [
                "rule",
                "rule_order",
                "decision",
                "should_run",
                "effective_action",
                "state",
                "reason",
            ] {
                assert_eq!(said["decision"][key], packet[key], "{key} after {step:?} for {who:?}");
            }
            let selected = packet.pointer("/selected_todo/todo_id").unwrap_or(&Value::Null);
            assert_eq!(&said["decision"]["selected_todo_id"], selected);
            assert_eq!(said["steps"].as_array().unwrap().is_empty(), packet["should_run"] == true);
        }
    }
    let refused = sandbox.at(NOW).refusal(["explain", "--goal-id", "g", "--agent-id", "nobody"]);
    assert_eq!(refused["error_code"], "quota_agent_not_registered");
    let refused = sandbox.at(NOW).refusal([
        "explain",
        "--goal-id",
        "g",
        "--agent-id",
        "agent-a",
        "--todo-id",
        "todo_none",
    ]);
    assert_eq!(refused["error_code"], "todo_not_found");
}

#[test]
fn a_status_says_who_may_run_what_waits_and_what_was_used() {
    let (sandbox, work, gate) = project();
    run(
        &sandbox,
        &[
            "refresh-state",
            "--goal-id",
            "g",
            "--agent-id",
            "agent-a",
            "--todo-id",
            &work,
            "--delivery-outcome",
            "outcome_progress",
            "--input-tokens",
            "10",
            "--output-tokens",
            "4",
        ],
    );
    let later = sandbox.at("2026-11-29T23:30:00Z");
    let status = later.json(["status", "--goal-id", "g"]);
    assert_eq!(words(&status["agents"], "rule"), ["run", "gate"]);
    assert_eq!(status["gates"][0]["todo_id"], gate.as_str());
    assert_eq!(status["gates"][0]["waited_minutes"], 150);
    assert_eq!(status["gates"][0]["blocks"], "agent-b");
    assert_eq!(status["usage"]["input_tokens"], 10);
    assert_eq!(status["usage"]["agents"][0]["agent_id"], "agent-a");
    assert_eq!(status["usage"]["last_turns"][0]["output_tokens"], 4);
    assert_eq!(status["counts"]["user_gate"], 1);
    run(&sandbox, &["goal", "create", "--goal-id", "h"]);
    let all = later.json(["status"]);
    assert_eq!(words(&all["goals"], "goal_id"), ["g", "h"]);
    assert_eq!(all["goals"][0]["run_agents"], json!(["agent-a"]));
    assert_eq!(all["goals"][0]["gates"], 1);
}

#[test]
fn history_goes_back_page_by_page() {
    let (sandbox, work, _) = project();
    run(
        &sandbox,
        &["todo", "claim", "--goal-id", "g", "--todo-id", &work, "--claimed-by", "agent-a"],
    );
    let page = run(&sandbox, &["history", "--limit", "3"]);
    let numbers = |page: &Value| -> Vec<u64> {
        page["commits"].as_array().unwrap().iter().map(|c| c["commit"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&page), [4, 3, 2]);
    assert_eq!(page["next_before"], 2);
    let older = run(&sandbox, &["history", "--goal-id", "g", "--limit", "3", "--before", "2"]);
    assert_eq!((numbers(&older), older.get("next_before")), (vec![1], None));
    let mine = run(&sandbox, &["history", "--agent-id", "agent-a"]);
    assert_eq!(numbers(&mine), [4]);
    run(&sandbox, &["goal", "create", "--goal-id", "h"]);
    let all = run(&sandbox, &["history", "--limit", "2"]);
    assert_eq!(words(&all["commits"], "goal_id").len(), 2);
    let refused = sandbox.at(NOW).refusal(["history", "--before", "2"]);
    assert_eq!(refused["error_code"], "goal_required");
}

#[test]
fn the_evidence_log_merges_and_filters() {
    let (sandbox, work, _) = project();
    for (n, agent) in ["agent-a", "agent-b", "agent-a"].into_iter().enumerate() {
        sandbox.at(&format!("2026-11-29T21:0{n}:00Z")).json([
            "refresh-state",
            "--goal-id",
            "g",
            "--agent-id",
            agent,
            "--todo-id",
            &work,
            "--delivery-outcome",
            "outcome_progress",
            "--evidence",
            &format!("proof {n}"),
        ]);
    }
    sandbox.at("2026-11-29T21:05:00Z").json([
        "quota",
        "spend-slot",
        "--goal-id",
        "g",
        "--agent-id",
        "agent-a",
        "--execute",
    ]);
    let log = run(&sandbox, &["evidence-log", "--goal-id", "g"]);
    assert_eq!(
        words(&log["ledger"], "kind"),
        ["spend", "outcome", "evidence", "outcome", "evidence", "outcome", "evidence"]
    );
    let of_b = run(&sandbox, &["evidence-log", "--goal-id", "g", "--agent-id", "agent-b"]);
    assert_eq!(words(&of_b["ledger"], "kind"), ["outcome", "evidence"]);
    assert_eq!(of_b["ledger"][1]["text"], "proof 1");
    let short = run(&sandbox, &["evidence-log", "--goal-id", "g", "--limit", "2"]);
    assert_eq!((short["ledger"].as_array().unwrap().len(), &short["truncated"]), (2, &json!(true)));
}

#[test]
fn a_plan_groups_by_urgency_and_names_the_next_turn() {
    let sandbox = Sandbox::new();
    for (goal, compute) in [("a", "0.5"), ("b", "1"), ("c", "1"), ("d", "0")] {
        run(
            &sandbox,
            &["goal", "create", "--goal-id", goal, "--agent-id", "agent-a", "--compute", compute],
        );
        run(&sandbox, &["todo", "add", "--goal-id", goal, "--role", "agent", "--text", "[P1] one"]);
    }
    run(
        &sandbox,
        &[
            "todo",
            "add",
            "--goal-id",
            "b",
            "--role",
            "user",
            "--task-class",
            "user_gate",
            "--text",
            "ok?",
            "--global-gate",
        ],
    );
    let plan = run(&sandbox, &["quota", "plan"]);
    assert_eq!(words(&plan["groups"], "state"), ["operator_gate", "eligible", "paused"]);
    assert_eq!(words(&plan["groups"][1]["goals"], "goal_id"), ["c", "a"]);
    let next = &plan["summary"]["next_automatic_turn"];
    assert_eq!((&next["goal_id"], &next["agent_id"]), (&json!("c"), &json!("agent-a")));
    assert_eq!(plan["summary"]["states"]["waiting"], 0);
}

fn codes(answer: &Value) -> Vec<String> {
    words(&answer["problems"], "code")
}

#[test]
fn a_diagnosis_names_what_is_wrong_and_how_to_go_on() {
    let (sandbox, ..) = project();
    let well = sandbox.call().json(["diagnose"]);
    // Everything so far was made under LOOPX_NOW.
    assert_eq!((codes(&well), &well["blocking"]), (vec!["fixed_clock".to_owned()], &json!(false)));

    let state = sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
    let text = fs::read_to_string(&state).unwrap();
    fs::write(&state, format!("{text}\n")).unwrap();
    let uid = run(&sandbox, &["goal", "show"])["goal_uid"].as_str().unwrap().to_owned();
    let folder = sandbox.runtime_root().join("goals").join(&uid);
    let orphan = sandbox.runtime_root().join("goals/g-0000");
    fs::create_dir_all(&orphan).unwrap();
    fs::copy(folder.join("goal.db"), orphan.join("goal.db")).unwrap();
    let note = HolderNote {
        operation: "test".into(),
        agent: Some("agent-a".into()),
        pid: 7,
        acquired_at: None,
    };
    let lock = FileLock::acquire(
        &folder.join("goal.db"),
        LockMode::Exclusive,
        &note,
        Duration::from_secs(1),
    )
    .unwrap();
    let found = sandbox.call().json(["diagnose"]);
    assert_eq!(
        codes(&found),
        ["fixed_clock", "store_orphaned", "state_file_edited", "lock_acquire_timeout"]
    );
    let held = &found["problems"][3]["message"];
    assert_eq!(held, "process 7 holds the lock for test agent agent-a");
    for problem in found["problems"].as_array().unwrap() {
        assert!(problem["next_command"].as_str().is_some_and(|c| !c.is_empty()), "{problem}");
    }
    assert!(!found.to_string().contains(sandbox.base().to_str().unwrap()), "a local path: {found}");
    drop(lock);

    fs::remove_file(&state).unwrap();
    assert!(codes(&sandbox.call().json(["diagnose"])).contains(&"state_file_missing".to_owned()));

    fs::write(folder.join("goal.db"), [7_u8; 4096]).unwrap();
    let broken = sandbox.call().refusal(["diagnose"]);
    assert_eq!((&broken["ok"], &broken["blocking"]), (&json!(false), &json!(true)));
    assert_eq!(broken["error_code"], "store_unreadable");
    assert_eq!(broken["problems"][0]["level"], "blocking");
}

#[test]
fn many_goals_keep_their_order_and_one_bad_entry_hides_no_other() {
    let goals: Vec<earlier::Goal> = (0..40)
        .map(|n| {
            earlier::Goal::new(&format!("g{n:02}"), &["agent-a"]).agent_todo(
                "todo_000000000001",
                "[P1] one",
                "task_class=advancement_task",
            )
        })
        .collect();
    let sandbox = Sandbox::with_files(&earlier::files(&goals));
    let registry = sandbox.registry();
    let mut document: Value = serde_json::from_slice(&fs::read(&registry).unwrap()).unwrap();
    document["goals"][7]["id"] = json!("g08");
    fs::write(&registry, document.to_string()).unwrap();
    let all = run(&sandbox, &["status"]);
    let names = words(&all["goals"], "goal_id");
    assert_eq!(names.len(), 40);
    assert!(names.is_sorted(), "{names:?}");
    let bad: Vec<&str> =
        all["goals"].as_array().unwrap().iter().filter_map(|g| g["error_code"].as_str()).collect();
    assert_eq!(bad, ["goal_duplicated", "goal_duplicated"]);
    assert_eq!(
        all["goals"].as_array().unwrap().iter().filter(|g| g["should_run"] == true).count(),
        38
    );
}
