//! Monitors: looked at by cadence, never paid for, and thought about again when nothing
//! changes for long.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::{Goal, id};
use serde_json::{Value, json};

const A: &str = "agent-a";

fn watched(flags: &[&str]) -> (Goal, String) {
    let goal = Goal::new(&[A]);
    let mut words = vec!["--task-class", "continuous_monitor", "--target-key", "ci"];
    words.extend(flags);
    let monitor = goal.todo("[P1] Watch CI", &words);
    (goal, monitor)
}

#[track_caller]
fn poll(goal: &Goal, monitor: &str, rest: &[&str]) -> Value {
    let mut words = vec!["--agent-id", A, "--todo-id", monitor, "--execute"];
    words.extend(rest);
    goal.ok("quota monitor-poll", &words)
}

#[test]
fn a_monitor_is_due_by_its_cadence_and_quiet_between() {
    let (goal, monitor) = watched(&["--cadence", "30m"]);
    assert_eq!(goal.rule(A).0, "monitor_quiet");
    assert_eq!(goal.at("12:30").rule(A), ("run".into(), monitor.clone()));
    let list = goal.ok("monitor list", &[]);
    assert_eq!((&list["due_count"], &list["monitors"][0]["due"]), (&json!(1), &json!(true)));

    let answer = poll(goal.at("12:40"), &monitor, &["--result-hash", "h1"]);
    assert_eq!(answer["last_checked_at"], "2026-11-29T12:40:00Z");
    assert_eq!(answer["next_due_at"], "2026-11-29T13:10:00Z");
    assert_eq!(answer["consecutive_no_change"], 1);
    assert_eq!(goal.rule(A).0, "monitor_quiet");
    let row = goal.at("12:50").ok("monitor list", &[])["monitors"][0].clone();
    assert_eq!((&row["due"], &row["next_due_at"]), (&json!(false), &json!("2026-11-29T13:10:00Z")));
    assert_eq!((&row["target_key"], &row["consecutive_no_change"]), (&json!("ci"), &json!(1)));
    assert_eq!(goal.at("13:10").rule(A), ("run".into(), monitor.clone()));

    // Another cadence, and an instant instead of one.
    assert_eq!(poll(&goal, &monitor, &["--cadence", "2h"])["next_due_at"], "2026-11-29T15:10:00Z");
    let given = poll(&goal, &monitor, &["--next-due-at", "2026-11-29T14:00:00Z"]);
    assert_eq!(given["next_due_at"], "2026-11-29T14:00:00Z");
    assert_eq!(goal.ok("quota status", &[])["goals"][0]["spent_slots"], 0, "a poll spends nothing");
}

#[test]
fn without_execute_a_poll_is_a_preview() {
    let (goal, monitor) = watched(&["--cadence", "30m"]);
    let answer = goal.ok("quota monitor-poll", &["--agent-id", A, "--todo-id", &monitor]);
    assert_eq!((&answer["dry_run"], &answer["consecutive_no_change"]), (&json!(true), &json!(1)));
    assert_eq!(goal.shown(&monitor).get("last_checked_at"), None);
    let by_key = goal.ok("quota monitor-poll", &["--agent-id", A, "--target-key", "ci"]);
    assert_eq!(id(&by_key), monitor);
    assert_eq!(
        goal.refused("quota monitor-poll", &["--agent-id", A, "--target-key", "no"]),
        "todo_not_found"
    );
}

#[test]
fn five_looks_without_change_ask_for_a_replan_once() {
    let (goal, monitor) = watched(&["--cadence", "30m"]);
    for n in 1..=4 {
        let answer = poll(&goal, &monitor, &["--result-hash", "same"]);
        assert_eq!(
            (&answer["consecutive_no_change"], &answer["replan_required"]),
            (&json!(n), &json!(false))
        );
        assert_eq!(goal.rule(A).0, "monitor_quiet");
    }
    assert_eq!(poll(&goal, &monitor, &["--result-hash", "same"])["replan_required"], true);
    let decision = goal.decision(A);
    assert_eq!(
        (&decision["rule"], &decision["reason_code"]),
        (&json!("replan"), &json!("monitor_unchanged"))
    );
    // What follows answers it, though the monitor still does not change.
    let work = goal.todo("Look elsewhere", &["--agent-id", A]);
    assert_eq!(goal.rule(A), ("run".into(), work.clone()));
    poll(&goal, &monitor, &["--result-hash", "same"]);
    assert_eq!(goal.rule(A), ("run".into(), work.clone()));
    // A material change, and five more: another obligation.
    poll(goal.at("14:00"), &monitor, &["--material-change"]);
    assert_eq!(goal.shown(&monitor)["material_change_at"], "2026-11-29T14:00:00Z");
    for _ in 0..5 {
        assert_eq!(goal.rule(A), ("run".into(), work.clone()));
        poll(&goal, &monitor, &[]);
    }
    assert_eq!(goal.rule(A).0, "replan");
}

#[test]
fn a_change_resets_the_count_and_may_bring_work() {
    let (goal, monitor) = watched(&["--cadence", "30m"]);
    poll(&goal, &monitor, &["--result-hash", "h1"]);
    poll(&goal, &monitor, &["--result-hash", "h1"]);
    let other = poll(&goal, &monitor, &["--result-hash", "h2"]);
    assert_eq!((&other["changed"], &other["consecutive_no_change"]), (&json!(true), &json!(0)));
    let words = ["--agent-id", A, "--todo-id", &monitor, "--execute", "--next-agent-todo", "Fix"];
    assert_eq!(
        goal.sandbox
            .call()
            .run([&["quota", "monitor-poll", "--goal-id", "g"], &words[..]].concat())
            .code,
        2
    );
    let answer = poll(
        &goal,
        &monitor,
        &[
            "--material-change",
            "--next-agent-todo",
            "Fix CI",
            "--next-claimed-by",
            A,
            "--next-action-kind",
            "fix",
        ],
    );
    let work = id(&answer["next_todos"][0]);
    assert_eq!(answer["next_todos"][0]["todo"], "[P1] Fix CI", "the priority is inherited");
    let shown = goal.shown(&work);
    assert_eq!((&shown["claimed_by"], &shown["action_kind"]), (&json!(A), &json!("fix")));
    assert_eq!(goal.rule(A), ("run".into(), work));
    let gate = poll(
        &goal,
        &monitor,
        &[
            "--material-change",
            "--next-user-todo",
            "Stop it?",
            "--next-user-task-class",
            "user_gate",
        ],
    );
    assert_eq!(goal.rule(A).0, "gate");
    assert_eq!(goal.shown(&id(&gate["next_todos"][0]))["blocks_agent"], A);
}

#[test]
fn a_monitor_without_a_cadence_is_not_due_for_ever() {
    let (goal, monitor) = watched(&["--next-due-at", "2026-11-29T12:30:00Z"]);
    assert_eq!(goal.at("12:30").rule(A), ("run".into(), monitor.clone()));
    let answer = poll(&goal, &monitor, &[]);
    assert_eq!(answer["next_due_at"], Value::Null);
    assert!(answer["next_command"].as_str().unwrap().contains("--cadence"), "{answer}");
    let late = [
        "--agent-id",
        A,
        "--todo-id",
        &monitor,
        "--execute",
        "--next-due-at",
        "2026-11-29T12:30:00Z",
    ];
    assert_eq!(goal.refused("quota monitor-poll", &late), "request_invalid");
    // To give it a schedule is offered once, however often it is looked at.
    assert_eq!(goal.decision(A)["reason_code"], "monitor_without_schedule");
    poll(&goal, &monitor, &[]);
    poll(&goal, &monitor, &[]);
    assert_eq!(goal.decision(A)["should_run"], false);
}

#[test]
fn only_an_open_monitor_of_ones_own_is_polled() {
    let goal = Goal::new(&[A, "agent-b"]);
    let work = goal.todo("Work", &[]);
    let flags = [
        "--task-class",
        "continuous_monitor",
        "--cadence",
        "1h",
        "--expires-at",
        "2026-11-29T13:00:00Z",
    ];
    let monitor = goal.todo("Watch", &[&flags[..], &["--claimed-by", A]].concat());
    let refused = |agent: &str, todo: &str| {
        goal.refused("quota monitor-poll", &["--agent-id", agent, "--todo-id", todo, "--execute"])
    };
    assert_eq!(refused(A, &work), "todo_invalid");
    assert_eq!(refused("agent-b", &monitor), "already_claimed");
    assert_eq!(refused("nobody", &monitor), "quota_agent_not_registered");
    assert_eq!(
        goal.refused("quota monitor-poll", &["--todo-id", &monitor, "--execute"]),
        "agent_required"
    );
    poll(&goal, &monitor, &[]);
    goal.at("13:00");
    assert_eq!(refused(A, &monitor), "todo_not_open");
    assert_eq!(goal.ok("monitor list", &[])["monitors"][0]["expired"], true);
    goal.ok("todo complete", &["--todo-id", &monitor, "--agent-id", A, "--no-follow-up"]);
    assert_eq!(refused(A, &monitor), "todo_not_open");
    assert_eq!(goal.ok("monitor list", &[])["monitors"], json!([]));
}

#[test]
fn a_repeat_of_a_poll_is_one_poll() {
    let (goal, monitor) = watched(&["--cadence", "30m"]);
    for _ in 0..2 {
        assert_eq!(poll(&goal, &monitor, &["--effect-id", "p1"])["consecutive_no_change"], 1);
    }
    let words = ["--agent-id", A, "--todo-id", &monitor, "--execute", "--turn-instance-id", "t1"];
    assert_eq!(goal.refused("quota monitor-poll", &words), "turn_unknown");
    goal.at("12:30").ok("quota should-run", &["--agent-id", A, "--turn-instance-id", "t1"]);
    for _ in 0..2 {
        assert_eq!(goal.ok("quota monitor-poll", &words)["consecutive_no_change"], 2);
    }
    assert_eq!(goal.shown(&monitor)["consecutive_no_change"], 2);
}

#[test]
fn looks_that_find_nothing_do_not_stall_a_monitor_and_failing_ones_do() {
    for (outcome, then) in [("no_change", "run"), ("failed", "stalled")] {
        let (goal, monitor) = watched(&["--cadence", "5m"]);
        for n in 0..3 {
            let turn = format!("t-{n}");
            goal.at(&format!("{}:30", 13 + n));
            let packet = goal.ok("turn admit", &["--agent-id", A, "--turn-instance-id", &turn]);
            assert_eq!(packet["selected_todo"]["todo_id"], monitor, "{n} {packet}");
            let words = ["--agent-id", A, "--turn-instance-id", &turn, "--outcome", outcome];
            goal.ok("turn settle", &words);
        }
        assert_eq!(goal.at("15:40").rule(A).0, then, "{outcome}");
    }
}
