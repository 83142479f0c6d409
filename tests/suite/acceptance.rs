//! Acceptance: a goal is not over while something that has to be so is not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::Goal;
use serde_json::{Value, json};
use std::fs;

const A: &str = "agent-a";

#[test]
fn a_gap_keeps_a_finished_goal_from_ending() {
    let goal = Goal::new(&[A]);
    let work = goal.todo("Work", &[]);
    let added = goal.ok("goal accept add", &["--text", "Docs are written"]);
    assert_eq!((&added["index"], &added["changed"]), (&json!(1), &json!(true)));
    assert_eq!(goal.ok("goal accept add", &["--text", "Docs are  written"])["changed"], false);
    assert_eq!(goal.rule(A), ("run".into(), work.clone()), "work goes on first");
    goal.ok("todo complete", &["--todo-id", &work, "--agent-id", A, "--no-follow-up"]);
    let decision = goal.decision(A);
    assert_eq!(
        (&decision["rule"], &decision["reason_code"]),
        (&json!("replan"), &json!("acceptance_gap"))
    );
    goal.ok("goal accept meet", &["--text", "Docs are written"]);
    assert_eq!(goal.rule(A).0, "terminal");
    // What is asked for again is not met any more.
    goal.ok("goal accept add", &["--text", "Docs are written"]);
    assert_eq!(goal.rule(A).0, "replan");
}

#[test]
fn entries_are_listed_and_met_by_number_or_text() {
    let goal = Goal::new(&[A]);
    for text in ["Tests pass", "Docs are written"] {
        goal.ok("goal accept add", &["--text", text]);
    }
    assert_eq!(goal.ok("goal accept meet", &["--index", "2"])["text"], "Docs are written");
    assert_eq!(goal.ok("goal accept meet", &["--index", "2"])["changed"], false);
    let list = goal.ok("goal accept list", &[]);
    assert_eq!(list["unmet_count"], 1);
    assert_eq!(
        list["acceptance"],
        json!([{"index": 1, "text": "Tests pass", "met": false}, {"index": 2, "text": "Docs are written", "met": true}])
    );
    assert_eq!(goal.refused("goal accept meet", &["--index", "3"]), "acceptance_not_found");
    assert_eq!(goal.refused("goal accept meet", &["--text", "No such"]), "acceptance_not_found");
    assert_eq!(
        goal.refused("goal accept meet", &["--index", "1", "--text", "Docs are written"]),
        "acceptance_not_found"
    );
    assert_eq!(goal.refused("goal accept add", &["--text", " "]), "request_invalid");
}

#[test]
fn an_effect_is_once_and_what_else_the_registry_holds_stays() {
    let goal = Goal::new(&[A]);
    let path = goal.sandbox.registry();
    let mut registry: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    registry["goals"][0]["acceptance"] = json!(["By hand", {"text": "Bench", "owner": "me"}]);
    fs::write(&path, registry.to_string()).unwrap();
    let words = ["--text", "Bench", "--effect-id", "m1"];
    let met = goal.ok("goal accept meet", &words);
    assert_eq!(met["index"], 2);
    let again = goal.ok("goal accept meet", &words);
    assert_eq!((&again["idempotent_replay"], &again["commit"]), (&json!(true), &met["commit"]));
    let registry: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let entry = &registry["goals"][0]["acceptance"];
    assert_eq!(
        (&entry[0], &entry[1]["owner"], &entry[1]["met"]),
        (&json!("By hand"), &json!("me"), &json!(true))
    );
}
