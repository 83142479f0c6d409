//! The rest of the todo verbs, voids, and stopping every goal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::{Goal, id};
use serde_json::{Value, json};
use std::fs;

const A: &str = "agent-a";
const B: &str = "agent-b";

fn state_file(goal: &Goal) -> String {
    fs::read_to_string(goal.sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md")).unwrap()
}

#[test]
fn a_superseded_todo_is_closed_and_what_waits_for_it_never_comes_true() {
    let goal = Goal::new(&[A]);
    let old = goal.todo("[P1] Old", &[]);
    let by = goal.todo("[P2] New", &[]);
    let waits = goal.todo("[P0] After", &["--resume-when", &format!("todo_done:{old}")]);
    assert_eq!(goal.rule(A), ("run".into(), old.clone()));
    let words = ["--todo-id", &old, "--by", &by, "--reason", "better", "--agent-id", A];
    let answer = goal.ok("todo supersede", &words);
    assert_eq!(answer["superseded_by"], by.as_str());
    assert_eq!(answer["unsatisfiable_todo_ids"], json!([waits]));
    let shown = goal.shown(&old);
    assert_eq!((&shown["status"], &shown["reason"]), (&json!("done"), &json!("better")));
    assert_eq!(shown["completion_continuation"], "successor");
    assert_eq!(goal.rule(A), ("run".into(), by.clone()));
    let found = goal.decision(A)["findings"].clone();
    assert!(found.to_string().contains("condition_unsatisfiable"), "{found}");
    assert_eq!(goal.ok("todo supersede", &words)["idempotent_replay"], true);
    let other = goal.todo("Other", &[]);
    assert_eq!(
        goal.refused("todo supersede", &["--todo-id", &old, "--by", &other, "--reason", "r"]),
        "todo_not_open"
    );
    // The advice that it gives mends the one that waits.
    let advice = answer["next_command"].as_str().unwrap().to_owned();
    let words: Vec<&str> = advice.split(' ').skip(1).collect();
    goal.sandbox.json(words);
    goal.ok("todo complete", &["--todo-id", &by, "--agent-id", A]);
    assert_eq!(goal.rule(A), ("run".into(), waits));
}

#[test]
fn a_new_todo_takes_the_place_and_the_priority() {
    let goal = Goal::new(&[A, B]);
    let old = goal.todo("[P0] Old", &["--claimed-by", A]);
    let words = [
        "--todo-id",
        &old,
        "--next-agent-todo",
        "New",
        "--reason",
        "r",
        "--agent-id",
        A,
        "--next-claimed-by",
        B,
    ];
    let answer = goal.ok("todo supersede", &words);
    let new = id(&answer["next_todos"][0]);
    assert_eq!(goal.shown(&new)["text"], "[P0] New");
    assert_eq!(goal.shown(&new)["claimed_by"], B);
    assert_eq!(goal.ok("todo supersede", &words)["changed"], false);
    assert_eq!(goal.ok("todo list", &[])["todo_count"], 2);
    assert!(state_file(&goal).contains(&format!("superseded_by={new}")), "{}", state_file(&goal));
}

#[test]
fn what_cannot_replace_or_be_replaced_is_refused() {
    let goal = Goal::new(&[A, B]);
    let one = goal.todo("One", &["--claimed-by", A]);
    let two = goal.todo("Two", &[]);
    let action = id(&goal.ok(
        "todo add",
        &["--role", "user", "--task-class", "user_action", "--goal-bound", "--text", "Read"],
    ));
    let refused = |todo: &str, by: &str, agent: &str| {
        goal.refused(
            "todo supersede",
            &["--todo-id", todo, "--by", by, "--reason", "r", "--agent-id", agent],
        )
    };
    assert_eq!(refused(&one, &two, B), "already_claimed");
    assert_eq!(refused(&one, &one, A), "todo_invalid");
    assert_eq!(refused(&one, &action, A), "todo_invalid");
    assert_eq!(refused(&one, "todo_nothere", A), "todo_not_found");
    assert_eq!(
        goal.refused(
            "todo supersede",
            &["--todo-id", &one, "--by", &two, "--reason", " ", "--agent-id", A]
        ),
        "request_invalid"
    );
    assert_eq!(
        goal.refused("todo supersede", &["--todo-id", &two, "--by", &one, "--reason", "r"]),
        "agent_required"
    );
    assert_eq!(
        goal.refused(
            "todo supersede",
            &["--todo-id", &action, "--next-agent-todo", "x", "--reason", "r"]
        ),
        "todo_invalid"
    );
    goal.ok("todo supersede", &["--todo-id", &two, "--by", &one, "--reason", "r", "--agent-id", A]);
    assert_eq!(refused(&one, &two, A), "todo_invalid", "it was replaced itself");
}

#[test]
fn the_oldest_done_todos_are_archived_and_standing_decisions_stay() {
    let goal = Goal::new(&[A]);
    let done: Vec<String> = (0..5)
        .map(|n| {
            let todo = goal.at(&format!("12:0{n}")).todo(&format!("T{n}"), &[]);
            goal.ok("todo complete", &["--todo-id", &todo, "--agent-id", A]);
            todo
        })
        .collect();
    let open = goal.todo("Open", &[]);
    let preview = goal.ok("todo archive-completed", &["--keep", "2"]);
    assert_eq!((&preview["dry_run"], &preview["moved_count"]), (&json!(true), &json!(3)));
    assert_eq!(goal.ok("todo list", &[])["todo_count"], 6);
    assert_eq!(
        goal.ok("todo archive-completed", &["--execute"])["moved_count"],
        0,
        "ten stay by default"
    );
    let answer = goal.ok("todo archive-completed", &["--max-active-done", "2", "--execute"]);
    assert_eq!(answer["moved_todo_ids"], json!(done[..3]));
    assert_eq!(
        (&answer["active_done_before"], &answer["active_done_after"]),
        (&json!(5), &json!(2))
    );
    assert_eq!(goal.ok("todo list", &[])["todo_count"], 3);
    assert_eq!(goal.shown(&done[0])["archived"], true);
    let file = state_file(&goal);
    assert!(!file.contains("T2") && file.contains("T3") && file.contains("Open"), "{file}");

    let words = ["--question", "Deploy?", "--decision-scope", "production:goal:deploy"];
    let standing = id(&goal.ok("gate open", &words));
    goal.ok("gate decide", &["--todo-id", &standing, "--outcome", "approve"]);
    let asked = goal.gate("Now?", &["--global-gate"]);
    goal.ok("gate decide", &["--todo-id", &asked, "--outcome", "cancel"]);
    let answer = goal.ok("todo archive-completed", &["--role", "user", "--keep", "0", "--execute"]);
    assert_eq!(answer["moved_todo_ids"], json!([asked]));
    assert_eq!(answer["retained_standing_decision_count"], 1);

    assert_eq!(goal.ok("todo archive", &["--todo-id", &done[4]])["changed"], true);
    assert_eq!(goal.ok("todo archive", &["--todo-id", &done[4]])["changed"], false);
    assert_eq!(goal.refused("todo archive", &["--todo-id", &open]), "todo_invalid");
    assert_eq!(goal.refused("todo archive", &["--todo-id", &standing]), "todo_invalid");
    // What is archived still counts as done.
    let after = goal.todo(
        "After",
        &["--status", "deferred", "--resume-when", &format!("todo_done:{}", done[0])],
    );
    goal.ok("todo complete", &["--todo-id", &open, "--agent-id", A, "--no-follow-up"]);
    assert_eq!(goal.rule(A), ("successor".into(), after));
}

#[test]
fn follow_ups_come_after_the_todo_they_came_from() {
    let goal = Goal::new(&[A, B]);
    let source = goal.todo("[P1] Parse", &["--claimed-by", A]);
    let words = [
        "--todo-id",
        &source,
        "--agent-id",
        A,
        "--evidence",
        "two tests are skipped",
        "--followup",
        "Unskip",
        "--followup",
        "[P3] Tidy",
    ];
    let answer = goal.ok("todo capture-followups", &words);
    let new: Vec<String> = answer["next_todos"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(goal.shown(&new[0])["text"], "[P1] Unskip");
    assert_eq!(goal.shown(&new[1])["text"], "[P3] Tidy");
    assert_eq!(goal.shown(&new[0]).get("claimed_by"), None);
    let again = goal.ok("todo capture-followups", &words);
    assert_eq!((&again["captured"], &again["known_todo_ids"]), (&json!(0), &json!(new)));
    // They follow it also once it is completed.
    let done = goal.ok("todo complete", &["--todo-id", &source, "--agent-id", A]);
    assert_eq!(done["completion_continuation"], "successor");
    assert_eq!(goal.shown(&source)["successor_todo_ids"], json!(new));
    // From a finished one as well: nothing hangs on it any more.
    let last = goal.todo("Last", &[]);
    for todo in [&new[0], &new[1], &last] {
        goal.ok("todo complete", &["--todo-id", todo, "--agent-id", A]);
    }
    assert_eq!(goal.rule(A).0, "replan");
    let words = ["--todo-id", &last, "--agent-id", A, "--evidence", "e", "--followup", "More"];
    goal.ok("todo capture-followups", &words);
    assert_eq!(goal.rule(A).0, "run");
    assert_eq!(goal.shown(&last)["completion_continuation"], "successor");
}

#[test]
fn follow_ups_need_evidence_and_are_two_at_most() {
    let goal = Goal::new(&[A, B]);
    let source = goal.todo("Parse", &["--claimed-by", A]);
    let refused = |agent: &str, evidence: &str, texts: &[&str]| {
        let mut words =
            vec!["--todo-id", source.as_str(), "--agent-id", agent, "--evidence", evidence];
        words.extend(texts.iter().flat_map(|t| ["--followup", t]));
        goal.refused("todo capture-followups", &words)
    };
    assert_eq!(refused(A, " ", &["x"]), "request_invalid");
    assert_eq!(refused(A, "e", &["x", "y", "z"]), "request_invalid");
    assert_eq!(refused(A, "e", &[" "]), "todo_invalid");
    assert_eq!(refused(B, "e", &["x"]), "already_claimed");
    assert_eq!(goal.ok("todo list", &[])["todo_count"], 1);
    goal.ok("todo complete", &["--todo-id", &source, "--agent-id", A, "--no-follow-up"]);
    assert_eq!(refused(A, "e", &["x"]), "todo_invalid");
}

#[test]
fn a_suggestion_is_a_small_packet_that_changes_nothing() {
    let goal = Goal::new(&[A]);
    let first = goal.todo("[P2] First", &[]);
    for n in 0..12 {
        goal.todo(&format!("[P3] {n} {}", "long ".repeat(100)), &[]);
    }
    goal.ok("todo complete", &["--todo-id", &first, "--agent-id", A, "--evidence", "tests pass"]);
    goal.ok("goal accept add", &["--text", "Docs are written"]);
    goal.ok("feedback", &["--text", "Think of Windows"]);
    let before = goal.ok("goal show", &[])["commit"].clone();
    let packet = goal.ok("todo suggest", &["--agent-id", A, "--limit", "2"]);
    assert_eq!(packet["recent_done"][0]["evidence"], "tests pass");
    assert_eq!((&packet["open_count"], packet["open"].as_array().unwrap().len()), (&json!(12), 10));
    assert_eq!(packet["gaps"]["acceptance"], json!(["Docs are written"]));
    assert_eq!(packet["gaps"]["feedback"][0]["text"], "Think of Windows");
    assert!(packet["prompt"].as_str().unwrap().contains("at most 2 todos"));
    assert!(packet.to_string().len() < 6_000, "{} bytes", packet.to_string().len());
    assert_eq!(goal.ok("goal show", &[])["commit"], before);
    assert_eq!(
        goal.refused("todo suggest", &["--agent-id", "nobody"]),
        "quota_agent_not_registered"
    );
}

fn spend(goal: &Goal, todo: &str) -> Value {
    goal.ok(
        "refresh-state",
        &["--agent-id", A, "--todo-id", todo, "--delivery-outcome", "outcome_progress"],
    );
    goal.ok("quota spend-slot", &["--agent-id", A, "--todo-id", todo, "--slots", "3", "--execute"])
}

#[test]
fn a_void_takes_back_what_is_live_of_a_spend_once() {
    let goal = Goal::new(&[A]);
    let todo = goal.todo("Work", &[]);
    let spent = goal.at("12:10");
    let number = spend(spent, &todo)["spend_id"].to_string();
    let slots = || goal.ok("quota status", &[])["goals"][0]["spent_slots"].clone();
    let words = ["--spend-id", &number, "--reason-summary", "by mistake"];
    let preview = goal.ok("quota void-slot", &words);
    assert_eq!((&preview["dry_run"], &preview["slots"]), (&json!(true), &json!(3)));
    assert_eq!(
        (&preview["before"]["spent_slots"], &preview["after"]["spent_slots"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(slots(), 3);
    let executed = [&words[..], &["--execute"]].concat();
    assert_eq!(goal.ok("quota void-slot", &executed)["slots"], 3);
    assert_eq!(slots(), 0);
    let again = goal.ok("quota void-slot", &executed);
    assert_eq!((&again["changed"], &again["slots"]), (&json!(false), &json!(0)));

    spend(goal.at("12:20"), &todo);
    let by_time =
        ["--void-generated-at", "2026-11-29T13:20:00+01:00", "--reason-summary", "r", "--execute"];
    assert_eq!(goal.ok("quota void-slot", &by_time)["changed"], true);
    assert_eq!(slots(), 0);
    let unknown = |words: &[&str]| {
        goal.refused("quota void-slot", &[words, &["--reason-summary", "r"]].concat())
    };
    assert_eq!(unknown(&["--spend-id", "99"]), "spend_not_found");
    assert_eq!(unknown(&["--void-generated-at", "2026-11-29T01:00:00Z"]), "spend_not_found");
    assert_eq!(unknown(&["--void-generated-at", "yesterday"]), "request_invalid");
    assert_eq!(
        goal.refused("quota void-slot", &["--spend-id", &number, "--reason-summary", " "]),
        "request_invalid"
    );
    // Also of a goal that is stopped.
    let number = spend(goal.at("12:30"), &todo)["spend_id"].to_string();
    goal.ok("goal stop", &[]);
    goal.ok("quota void-slot", &["--spend-id", &number, "--reason-summary", "r", "--execute"]);
    assert_eq!(slots(), 0);
}

#[test]
fn every_goal_is_stopped_and_one_that_cannot_be_does_not_save_the_others() {
    let goal = Goal::new(&[A]);
    let sandbox = &goal.sandbox;
    for name in ["h", "i"] {
        sandbox.json(["goal", "create", "--goal-id", name, "--agent-id", A]);
    }
    sandbox.json(["goal", "stop", "--goal-id", "h"]);
    assert_eq!(sandbox.run(["goal", "stop", "--all", "--goal-id", "g"]).code, 2);
    let words = ["goal", "stop", "--all", "--reason", "lunch", "--effect-id", "s1"];
    let answer = sandbox.json(words);
    assert_eq!((&answer["stopped_count"], &answer["failed_count"]), (&json!(3), &json!(0)));
    let changed: Vec<&Value> =
        answer["goals"].as_array().unwrap().iter().map(|g| &g["changed"]).collect();
    assert_eq!(changed, [&json!(true), &json!(false), &json!(true)]);
    assert_eq!(goal.rule(A).0, "goal_stopped");
    assert_eq!(sandbox.json(words)["goals"][0]["idempotent_replay"], true);

    sandbox.json(["goal", "resume", "--goal-id", "g"]);
    sandbox.json(["goal", "resume", "--goal-id", "i"]);
    let registry: Value = serde_json::from_slice(&fs::read(sandbox.registry()).unwrap()).unwrap();
    let uid = registry["goals"][1]["goal_uid"].as_str().unwrap();
    fs::write(sandbox.runtime_root().join("goals").join(uid).join("goal.db"), b"broken").unwrap();
    let answer = sandbox.call().refusal(["goal", "stop", "--all"]);
    assert_eq!((&answer["stopped_count"], &answer["failed_count"]), (&json!(2), &json!(1)));
    assert_eq!(answer["goals"][1]["error_code"], answer["error_code"]);
    assert!(answer["error"].as_str().unwrap().starts_with("1 of 3 goals"), "{answer}");
    for (n, name) in ["g", "i"].iter().enumerate() {
        let shown = sandbox.json(["goal", "list"])["goals"][n * 2].clone();
        assert_eq!((&shown["goal_id"], &shown["stopped"]), (&json!(name), &json!(true)));
    }
}

#[test]
fn usage_and_cost_are_taken_with_what_was_delivered() {
    let goal = Goal::new(&[A]);
    goal.ok("refresh-state", &["--agent-id", A, "--cost-micros", "1200", "--input-tokens", "10"]);
    let exported: Value =
        serde_json::from_str(&goal.sandbox.call().run(["export", "--goal-id", "g"]).stdout)
            .unwrap();
    assert!(exported.to_string().contains("\"cost_micros\":1200"), "{exported}");
}
