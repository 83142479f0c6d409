//! What a door declares comes with its question and not with its writes: an offer that a write
//! cannot judge is not counted as tried (contract.md 2.5).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use loopx_tests::goal::Goal;
use serde_json::Value;

const A: &str = "agent-a";
const B: &str = "agent-b";

/// Two agents, and a todo that wants a checkout of its own.
fn goal() -> (Goal, String) {
    let goal = Goal::new(&[A, B]);
    let todo = goal.todo("[P1] build it", &["--action-kind", "implement"]);
    (goal, todo)
}

fn rule(goal: &Goal, agent: &str, more: &[&str]) -> Value {
    let mut words = vec!["--agent-id", agent];
    words.extend(more);
    goal.ok("quota should-run", &words)["rule"].clone()
}

/// Two writes of an agent that polls without a turn: the second counts what it was offered.
fn write_twice(goal: &Goal, agent: &str) {
    for _ in 0..2 {
        goal.ok("refresh-state", &["--agent-id", agent, "--delivery-outcome", "outcome_progress"]);
    }
}

#[test]
fn an_offer_that_the_agent_never_saw_is_not_counted_as_tried() {
    let (goal, _) = goal();
    assert_eq!(rule(&goal, A, &["--independent-worktree"]), "run");
    write_twice(&goal, A);
    assert_eq!(rule(&goal, A, &["--independent-worktree"]), "run");
    // A door without one is offered the repair, which nobody has tried.
    assert_eq!(rule(&goal, A, &[]), "repair");
}

#[test]
fn a_capability_that_was_declared_is_remembered_from_the_last_admission() {
    let goal = Goal::new(&[A, B]);
    let todo = goal.todo("[P1] in the browser", &["--required-capability", "browser"]);
    let declared = ["--agent-id", A, "--available-capability", "browser"];
    assert_eq!(rule(&goal, A, &declared[2..]), "run");
    let admitted = goal.ok("turn admit", &[&declared[..], &["--turn-instance-id", "t-1"]].concat());
    assert_eq!(admitted["selected_todo"]["todo_id"], todo.as_str());
    let settle = ["--agent-id", A, "--turn-instance-id", "t-1", "--outcome", "no_change"];
    goal.ok("turn settle", &settle);
    write_twice(&goal, A);
    assert_eq!(rule(&goal, A, &declared[2..]), "run");
    assert_eq!(rule(&goal, A, &[]), "repair", "it was never offered, and so not tried");
}

#[test]
fn an_agent_that_is_known_to_have_declared_nothing_is_braked_by_its_writes() {
    let goal = Goal::new(&[A, B]);
    goal.todo("[P2] anything", &[]);
    goal.ok("turn admit", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    let settle = ["--agent-id", A, "--turn-instance-id", "t-1", "--outcome", "completed"];
    goal.ok("turn settle", &[&settle[..], &["--evidence", "e", "--no-follow-up"]].concat());
    goal.todo("[P1] build it", &["--action-kind", "implement"]);
    assert_eq!(rule(&goal, A, &[]), "repair");
    write_twice(&goal, A);
    assert_eq!(rule(&goal, A, &[]), "stalled", "the repair was offered and answered");
    // Another agent's is its own.
    assert_eq!(rule(&goal, B, &[]), "repair");
}
