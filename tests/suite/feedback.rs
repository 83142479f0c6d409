//! Feedback: a person's words bring a stalled todo back and make an agent think again,
//! once, until something follows from them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::Goal;
use serde_json::json;

const A: &str = "agent-a";
const B: &str = "agent-b";

#[test]
fn feedback_asks_for_a_replan_that_new_work_answers() {
    let goal = Goal::new(&[A, B]);
    let work = goal.todo("[P1] Work", &[]);
    let answer = goal.ok("feedback", &["--text", "Mind  the\ncomments", "--agent-id", A]);
    assert_eq!((&answer["changed"], &answer["agent_id"]), (&json!(true), &json!(A)));
    let decision = goal.decision(A);
    assert_eq!(
        (&decision["rule"], &decision["reason_code"]),
        (&json!("replan"), &json!("feedback"))
    );
    assert_eq!(goal.rule(B), ("run".into(), work.clone()), "the other was not asked");
    goal.todo("[P2] Keep comments", &["--agent-id", A]);
    assert_eq!(goal.rule(A), ("run".into(), work));
    // The same words again are new words, since the first are answered.
    assert_eq!(
        goal.ok("feedback", &["--text", "Mind the comments", "--agent-id", A])["changed"],
        true
    );
    assert_eq!(
        goal.ok("feedback", &["--text", "Mind the comments", "--agent-id", A])["changed"],
        false
    );
    assert_eq!(goal.rule(A).0, "replan");
}

#[test]
fn feedback_on_a_todo_is_for_its_holder_and_brings_it_back() {
    let goal = Goal::new(&[A, B]);
    let work = goal.todo("Work", &["--claimed-by", A]);
    for _ in 0..3 {
        goal.ok(
            "refresh-state",
            &["--agent-id", A, "--todo-id", &work, "--delivery-outcome", "failed"],
        );
    }
    assert_eq!(goal.rule(A).0, "stalled");
    let answer = goal.ok("feedback", &["--text", "Try the other API", "--todo-id", &work]);
    assert_eq!((&answer["agent_id"], &answer["cleared_stalls"]), (&json!(A), &json!(1)));
    assert_eq!(goal.rule(A).0, "replan");
    goal.todo("Spike", &["--agent-id", A]);
    assert_eq!(goal.rule(A), ("run".into(), work));
}

#[test]
fn feedback_that_leads_nowhere_is_offered_once() {
    let goal = Goal::new(&[A]);
    let work = goal.todo("Work", &[]);
    goal.ok("feedback", &["--text", "Hm"]);
    // Its admission in a turn is the attempt.
    let admitted = goal.ok("quota should-run", &["--agent-id", A, "--turn-instance-id", "t1"]);
    assert_eq!(admitted["rule"], "replan");
    assert_eq!(goal.rule(A), ("run".into(), work));
}

#[test]
fn saying_that_nothing_follows_answers_what_was_asked_and_nothing_that_came_between() {
    let goal = Goal::new(&[A]);
    let work = goal.todo("Work", &[]);
    goal.ok("feedback", &["--text", "First"]);
    goal.ok("quota should-run", &["--agent-id", A, "--turn-instance-id", "t1"]);
    goal.ok("feedback", &["--text", "Second"]);
    goal.ok("todo complete", &["--todo-id", &work, "--agent-id", A, "--no-follow-up"]);
    let gaps = goal.ok("todo suggest", &[])["gaps"]["feedback"].clone();
    assert_eq!(gaps.as_array().unwrap().len(), 1, "{gaps}");
    assert_eq!(gaps[0]["text"], "Second");
}

#[test]
fn feedback_is_said_once_per_effect_and_about_what_there_is() {
    let goal = Goal::new(&[A]);
    let words = ["--text", "Hm", "--effect-id", "f1"];
    let first = goal.ok("feedback", &words);
    assert_eq!(goal.ok("feedback", &words)["feedback_id"], first["feedback_id"]);
    assert_eq!(goal.refused("feedback", &["--text", " "]), "request_invalid");
    assert_eq!(
        goal.refused("feedback", &["--text", "x", "--todo-id", "todo_nothere"]),
        "todo_not_found"
    );
    assert_eq!(
        goal.refused("feedback", &["--text", "x", "--agent-id", "nobody"]),
        "quota_agent_not_registered"
    );
    assert_eq!(goal.refused("feedback", &["--text", &"x".repeat(8_001)]), "text_too_long");
}
