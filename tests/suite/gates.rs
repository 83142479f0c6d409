//! Gates: what they hold back while they are open, what a decision does to admission,
//! and the grants that approvals leave behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::{Goal, id};
use serde_json::{Value, json};

const SCOPE: &str = "production:goal:deploy";
const A: &str = "agent-a";
const B: &str = "agent-b";

fn pair() -> Goal {
    Goal::new(&[A, B])
}

#[track_caller]
fn decide(goal: &Goal, gate: &str, outcome: &str, rest: &[&str]) -> Value {
    let mut words = vec!["--todo-id", gate, "--outcome", outcome];
    words.extend(rest);
    goal.ok("gate decide", &words)
}

fn rule(goal: &Goal, agent: &str) -> String {
    goal.rule(agent).0
}

#[test]
fn the_list_shows_what_waits_oldest_first_in_every_goal() {
    let goal = pair();
    let work = goal.todo("[P1] Deploy", &["--required-decision-scope", SCOPE]);
    let scope = goal.at("12:10").gate("Deploy?", &["--decision-scope", SCOPE]);
    let all = goal.at("12:20").gate("[P0] Budget?", &["--global-gate"]);
    goal.ok(
        "todo add",
        &["--role", "user", "--task-class", "user_action", "--goal-bound", "--text", "Read it"],
    );
    goal.sandbox.at("2026-11-29T12:30:00Z").json([
        "goal",
        "create",
        "--goal-id",
        "h",
        "--agent-id",
        "c",
    ]);
    let other = id(&goal.sandbox.at("2026-11-29T12:05:00Z").json([
        "gate",
        "open",
        "--goal-id",
        "h",
        "--question",
        "Licence?",
        "--note",
        "MIT or not",
    ]));

    let list = goal.sandbox.at("2026-11-29T13:10:00Z").json(["gate", "list"]);
    let ids: Vec<&str> =
        list["gates"].as_array().unwrap().iter().map(|g| g["todo_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&other, &scope, &all]);
    let row = |n: usize| &list["gates"][n];
    assert_eq!(row(0)["goal_id"], "h");
    assert_eq!(row(0)["blocks"], "agent c", "the only agent waits when nothing is named");
    assert_eq!(row(0)["note"], "MIT or not");
    assert_eq!(row(1)["question"], "Deploy?");
    assert_eq!(row(1)["age_minutes"], 60);
    assert_eq!(row(1)["blocks"], format!("every todo that requires {SCOPE}"));
    assert_eq!(row(1)["blocked_todo_ids"], json!([work]));
    assert_eq!(row(2)["blocks"], "every agent");
    assert_eq!(row(2)["question"], "Budget?");
    assert_eq!(row(2)["priority"], "P0");
    assert_eq!(row(2)["agents"], json!([A, B]));
    assert_eq!(list["actions"][0]["question"], "Read it");
    let command = row(1)["next_command"].as_str().unwrap();
    assert!(command.starts_with("loopx gate decide --goal-id g"), "{command}");

    let one = goal.ok("gate list", &[]);
    assert_eq!(one["gates"].as_array().unwrap().len(), 2);
    // A goal that cannot be read does not hide the others.
    std::fs::write(goal.sandbox.project().join(".loopx/goals/h/ACTIVE_GOAL_STATE.md"), b"\xff")
        .unwrap();
    let list = goal.sandbox.json(["gate", "list"]);
    assert_eq!(list["gates"].as_array().unwrap().len(), 2, "{list}");
    assert_eq!(list["unreadable_goals"][0]["goal_id"], "h");
}

#[test]
fn what_a_gate_names_is_held_and_nothing_else() {
    let goal = pair();
    let first = goal.todo("[P0] First", &[]);
    let second = goal.todo("[P1] Second", &[]);
    goal.gate("First?", &["--unblocks-todo-id", &first]);
    assert_eq!(goal.rule(A), ("gate_fallback".into(), second.clone()));
    let agent = goal.gate("May A go on?", &["--blocks-agent", A]);
    assert_eq!(rule(&goal, A), "gate");
    assert_eq!(goal.rule(B), ("gate_fallback".into(), second));
    goal.gate("All?", &["--global-gate"]);
    assert_eq!((rule(&goal, A), rule(&goal, B)), ("gate".into(), "gate".into()));
    let rows = goal.ok("gate list", &[]);
    let row =
        rows["gates"].as_array().unwrap().iter().find(|g| g["todo_id"] == agent.as_str()).unwrap();
    assert_eq!((row["blocks"].as_str(), &row["agents"]), (Some("agent agent-a"), &json!([A])));
}

#[test]
fn a_gate_that_nobody_could_answer_is_not_opened() {
    let goal = pair();
    let work = goal.todo("Work", &[]);
    assert_eq!(goal.refused("gate open", &["--question", "What?"]), "todo_invalid");
    assert_eq!(goal.refused("gate open", &["--question", " ", "--global-gate"]), "todo_invalid");
    assert_eq!(
        goal.refused("gate open", &["--question", "What?", "--decision-scope", "deploy"]),
        "todo_invalid"
    );
    assert_eq!(
        goal.refused("gate open", &["--question", "What?", "--unblocks-todo-id", "todo_nothere"]),
        "todo_not_found"
    );
    assert_eq!(
        goal.refused("gate open", &["--question", "What?", "--blocks-agent", "nobody"]),
        "quota_agent_not_registered"
    );
    goal.ok("todo complete", &["--todo-id", &work, "--agent-id", A, "--no-follow-up"]);
    assert_eq!(
        goal.refused("gate open", &["--question", "What?", "--unblocks-todo-id", &work]),
        "todo_not_open"
    );
    // An agent that asks and names nothing waits itself.
    let own = goal.gate("What now?", &["--agent-id", B]);
    assert_eq!(goal.shown(&own)["blocks_agent"], B);
}

#[test]
fn the_same_question_is_asked_once_and_an_effect_once() {
    let goal = pair();
    let words = ["--question", "Deploy?", "--decision-scope", SCOPE, "--effect-id", "e1"];
    let first = goal.ok("gate open", &words);
    assert_eq!((&first["added"], &first["commit"]), (&json!(true), &json!(2)));
    assert_eq!(goal.ok("gate open", &words)["idempotent_replay"], true);
    assert_eq!(goal.ok("gate open", &words[..4])["added"], false);
    let gate = id(&first);
    let done = decide(&goal, &gate, "approve", &["--effect-id", "e2"]);
    assert_eq!(decide(&goal, &gate, "approve", &["--effect-id", "e2"])["commit"], done["commit"]);
    assert_eq!(decide(&goal, &gate, "approve", &[])["idempotent_replay"], true);
    let words = ["--todo-id", &gate, "--outcome", "reject", "--effect-id", "e2"];
    assert_eq!(goal.refused("gate decide", &words), "effect_conflict");
}

#[test]
fn approving_frees_what_the_gate_named() {
    // A todo, also one that was set to blocked for the gate.
    let goal = pair();
    let work = goal.todo("[P0] Work", &["--status", "blocked", "--reason", "asked"]);
    let gate = goal.gate("Go?", &["--unblocks-todo-id", &work]);
    let answer = decide(&goal, &gate, "approve", &[]);
    assert_eq!(answer["resumed_todo_ids"], json!([work]));
    assert_eq!(answer.get("grant"), None);
    assert_eq!(goal.rule(A), ("run".into(), work));
    // An agent, and every agent.
    for (flags, before) in [(&["--blocks-agent", A][..], "run"), (&["--global-gate"][..], "gate")] {
        let goal = pair();
        goal.todo("Work", &[]);
        let gate = goal.gate("Go?", flags);
        assert_eq!(rule(&goal, A), "gate");
        assert_eq!(rule(&goal, B), before);
        decide(&goal, &gate, "approve", &[]);
        assert_eq!((rule(&goal, A), rule(&goal, B)), ("run".into(), "run".into()));
    }
}

#[test]
fn rejecting_blocks_what_the_gate_named_until_it_is_reopened() {
    let goal = pair();
    let work = goal.todo("[P0] Work", &["--required-decision-scope", SCOPE]);
    let named = goal.todo("[P1] Named", &[]);
    let free = goal.todo("[P2] Free", &["--claimed-by", B]);
    let gate = goal.gate("Go?", &["--unblocks-todo-id", &named, "--decision-scope", SCOPE]);
    let answer = decide(&goal, &gate, "reject", &["--note", "not yet"]);
    assert_eq!(answer["blocked_todo_ids"], json!([work, named]));
    for todo in [&work, &named] {
        let shown = goal.shown(todo);
        assert_eq!(
            (&shown["status"], &shown["reason"]),
            (&json!("blocked"), &json!("gate_rejected"))
        );
    }
    assert_eq!(goal.shown(&gate)["note"], "not yet");
    // Not offered for repair, and no stranger to the others.
    assert_eq!(rule(&goal, A), "reassignment_required");
    assert_eq!(goal.rule(B), ("run".into(), free));
    goal.ok("todo update", &["--todo-id", &named, "--status", "open"]);
    assert_eq!(goal.rule(A), ("run".into(), named));

    // An agent: what it holds. Everybody: everything.
    let goal = pair();
    let held = goal.todo("Held", &["--claimed-by", A]);
    let other = goal.todo("Other", &["--claimed-by", B]);
    let gate = goal.gate("A?", &["--blocks-agent", A]);
    assert_eq!(decide(&goal, &gate, "reject", &[])["blocked_todo_ids"], json!([held]));
    assert_eq!(goal.rule(B), ("run".into(), other.clone()));
    let gate = goal.gate("All?", &["--global-gate"]);
    decide(&goal, &gate, "reject", &[]);
    assert_eq!(goal.shown(&other)["status"], "blocked");
    assert_eq!(goal.decision(B)["should_run"], false);
}

#[test]
fn cancelling_only_takes_the_question_away() {
    let goal = pair();
    let work = goal.todo("Work", &["--required-decision-scope", SCOPE]);
    let gate = goal.gate("Go?", &["--decision-scope", SCOPE]);
    assert_eq!(rule(&goal, A), "gate");
    decide(&goal, &gate, "cancel", &[]);
    assert_eq!(goal.shown(&work)["status"], "open");
    assert_eq!(goal.ok("gate grants", &[])["grants"], json!([]));
    assert_eq!(rule(&goal, A), "repair", "nobody asks for the scope any more");

    let goal = pair();
    let work = goal.todo("Work", &[]);
    for flags in [&["--blocks-agent", A][..], &["--global-gate"], &["--unblocks-todo-id", &work]] {
        let gate = goal.gate("Go?", flags);
        assert_eq!(rule(&goal, A), "gate");
        decide(&goal, &gate, "cancel", &[]);
        assert_eq!(rule(&goal, A), "run", "{flags:?}");
    }
}

#[test]
fn a_scope_is_granted_once_until_or_for_good() {
    // For good, also to work that comes later, until it is withdrawn.
    let goal = pair();
    let first = goal.todo("First", &["--required-decision-scope", SCOPE]);
    let gate = goal.gate("Go?", &["--decision-scope", SCOPE]);
    let grant = decide(&goal, &gate, "approve", &["--standing"])["grant"].clone();
    assert_eq!((&grant["life"], &grant["agent_id"]), (&json!("standing"), &Value::Null));
    goal.ok("todo complete", &["--todo-id", &first, "--agent-id", A]);
    let second = goal.todo("Second", &["--required-decision-scope", SCOPE]);
    assert_eq!(goal.rule(A), ("run".into(), second.clone()));
    let listed = goal.ok("gate grants", &[]);
    assert_eq!(listed["grants"], json!([grant]));
    let number = grant["grant_id"].to_string();
    let answer = goal.ok("gate withdraw", &["--grant-id", &number]);
    assert_eq!(answer["held_todo_ids"], json!([second]));
    assert_eq!(rule(&goal, A), "repair");
    assert_eq!(goal.ok("gate withdraw", &["--grant-id", &number])["changed"], false);
    assert_eq!(goal.refused("gate withdraw", &["--grant-id", "999"]), "grant_not_found");

    // Once: one completion uses it up.
    let goal = pair();
    let first = goal.todo("[P0] First", &["--required-decision-scope", SCOPE]);
    goal.todo("[P1] Second", &["--required-decision-scope", SCOPE]);
    let gate = goal.gate("Go?", &["--decision-scope", SCOPE]);
    decide(&goal, &gate, "approve", &["--once"]);
    assert_eq!(goal.rule(A), ("run".into(), first.clone()));
    goal.ok("todo complete", &["--todo-id", &first, "--agent-id", A]);
    assert_eq!(rule(&goal, A), "repair");
    assert_eq!(decide(&goal, &gate, "approve", &["--once"])["idempotent_replay"], true);
    let words = ["--todo-id", &gate, "--outcome", "approve", "--standing"];
    assert_eq!(goal.refused("gate decide", &words), "todo_not_open", "other terms");

    // Until an instant.
    let goal = pair();
    let work = goal.todo("Work", &["--required-decision-scope", SCOPE]);
    let gate = goal.gate("Go?", &["--decision-scope", SCOPE]);
    let past = ["--todo-id", &gate, "--outcome", "approve", "--until", "2026-11-29T11:00:00Z"];
    assert_eq!(goal.refused("gate decide", &past), "request_invalid");
    decide(&goal, &gate, "approve", &["--until", "2026-11-29T15:00:00+01:00"]);
    assert_eq!(goal.at("13:59").rule(A), ("run".into(), work));
    assert_eq!(rule(goal.at("14:00"), A), "repair");
    assert_eq!(goal.ok("gate grants", &[])["grants"], json!([]));
}

#[test]
fn one_completion_uses_up_one_grant_and_none_where_a_lasting_one_answers() {
    let goal = pair();
    let work: Vec<String> = ["[P0] a", "[P1] b", "[P2] c"]
        .iter()
        .map(|t| goal.todo(t, &["--required-decision-scope", SCOPE]))
        .collect();
    for question in ["Once?", "Twice?"] {
        let gate = goal.gate(question, &["--decision-scope", SCOPE]);
        decide(&goal, &gate, "approve", &["--once"]);
    }
    let left = |goal: &Goal| goal.ok("gate grants", &[])["grants"].as_array().unwrap().len();
    goal.ok("todo complete", &["--todo-id", &work[0], "--agent-id", A]);
    assert_eq!(left(&goal), 1);
    let gate = goal.gate("Always?", &["--decision-scope", SCOPE]);
    decide(&goal, &gate, "approve", &[]);
    goal.ok("todo complete", &["--todo-id", &work[1], "--agent-id", A]);
    assert_eq!(left(&goal), 2);
}

#[test]
fn a_grant_for_one_agent_is_nothing_to_another() {
    let goal = pair();
    let work = goal.todo("Work", &["--required-decision-scope", SCOPE]);
    let gate = goal.gate("Go?", &["--decision-scope", SCOPE]);
    let words = ["--todo-id", &gate, "--outcome", "approve", "--for-agent", "nobody"];
    assert_eq!(goal.refused("gate decide", &words), "quota_agent_not_registered");
    let answer = decide(&goal, &gate, "approve", &["--for-agent", B, "--once"]);
    assert_eq!(answer["grant"]["agent_id"], B);
    assert_eq!(rule(&goal, A), "repair");
    assert_eq!(goal.rule(B), ("run".into(), work));
}

#[test]
fn terms_without_a_scope_or_an_approval_are_refused() {
    let goal = pair();
    let work = goal.todo("Work", &[]);
    let gate = goal.gate("Go?", &["--unblocks-todo-id", &work]);
    let scoped = goal.gate("Scope?", &["--decision-scope", SCOPE]);
    for (gate, outcome, terms) in [
        (&gate, "approve", &["--once"][..]),
        (&gate, "approve", &["--for-agent", A]),
        (&scoped, "reject", &["--standing"]),
        (&scoped, "cancel", &["--for-agent", A]),
    ] {
        let mut words = vec!["--todo-id", gate, "--outcome", outcome];
        words.extend(terms);
        assert_eq!(goal.refused("gate decide", &words), "todo_invalid", "{words:?}");
    }
    assert_eq!(
        goal.refused("gate decide", &["--todo-id", &work, "--outcome", "approve"]),
        "decision_outcome_forbidden"
    );
    assert_eq!(
        goal.refused("gate decide", &["--todo-id", "todo_nothere", "--outcome", "approve"]),
        "todo_not_found"
    );
    decide(&goal, &gate, "cancel", &[]);
    assert_eq!(
        goal.refused("gate decide", &["--todo-id", &gate, "--outcome", "approve"]),
        "todo_not_open"
    );
}

#[test]
fn an_open_gate_can_be_mended_and_does_not_become_something_else() {
    let goal = pair();
    let work = goal.todo("Work", &[]);
    let gate = goal.gate("Go?", &["--blocks-agent", A]);
    assert_eq!(rule(&goal, B), "run");
    let update = |rest: &[&str]| {
        let mut words = vec!["--todo-id", gate.as_str()];
        words.extend(rest);
        goal.ok("todo update", &words)
    };
    assert_eq!(goal.refused("todo update", &["--todo-id", &gate, "--global-gate"]), "todo_invalid");
    update(&["--clear-blocks-agent", "--global-gate", "--note", "n"]);
    assert_eq!(rule(&goal, B), "gate");
    update(&["--clear-global-gate", "--unblocks-todo-id", &work, "--clear-note"]);
    assert_eq!(goal.shown(&gate).get("note"), None);
    assert_eq!(goal.ok("gate list", &[])["gates"][0]["blocked_todo_ids"], json!([work]));
    assert_eq!(
        goal.refused("todo update", &["--todo-id", &gate, "--clear-unblocks-todo-id"]),
        "todo_invalid"
    );
    assert_eq!(
        goal.refused("todo update", &["--todo-id", &gate, "--task-class", "user_action"]),
        "todo_invalid"
    );
    let words = ["--role", "user", "--text", "Go?", "--task-class", "user_action", "--goal-bound"];
    assert_eq!(goal.refused("todo add", &words), "todo_invalid");
    assert_eq!(
        goal.refused("todo supersede", &["--todo-id", &gate, "--by", &work, "--reason", "r"]),
        "todo_invalid"
    );
}

#[test]
fn a_gate_on_a_stalled_todo_brings_it_back() {
    let goal = pair();
    let work = goal.todo("Work", &[]);
    for _ in 0..3 {
        goal.ok(
            "refresh-state",
            &["--agent-id", A, "--todo-id", &work, "--delivery-outcome", "no_change"],
        );
    }
    assert_eq!(rule(&goal, A), "stalled");
    let gate = goal.gate("Another way?", &["--unblocks-todo-id", &work]);
    decide(&goal, &gate, "approve", &[]);
    assert_eq!(goal.rule(A), ("run".into(), work));
}
