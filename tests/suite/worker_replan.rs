//! A replan is dispatched once: what its child's end means, over restarts, other work and
//! other spellings of the agent (seeds: persistent replan attempts).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::Goal;
use loopx_tests::worker::{Live, kinds, lines, members, pid_in, run};
use loopx_tests::{Output, binary};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;

const A: &str = "agent-a";

/// A goal whose agent owes a replan: its only todo was completed and nothing follows.
fn owing() -> Goal {
    let goal = Goal::new(&[A]);
    let todo = goal.todo("[P1] Write it", &[]);
    goal.ok("todo complete", &["--todo-id", &todo, "--agent-id", A, "--evidence", "x"]);
    assert_eq!(goal.rule(A).0, "replan");
    goal
}

fn sh(script: &str) -> String {
    format!("sh -c '{}'", script.replace('\'', "'\\''"))
}

fn once(goal: &Goal, agent: &str, wake: &str, rest: &[&str]) -> (Output, Vec<Value>) {
    let mut words = vec!["--once", "--wake-cmd", wake];
    words.extend(rest);
    let said = run(&goal.sandbox, None, agent, &words);
    let lines = lines(&said.stdout);
    (said, lines)
}

fn woken(goal: &Goal) -> usize {
    let text = fs::read_to_string(goal.sandbox.project().join("woken")).unwrap_or_default();
    text.lines().count()
}

const WAKE: &str = "echo x >> woken;";

#[test]
fn a_child_that_ends_well_and_resolves_nothing_leaves_the_replan_paused() {
    let goal = owing();
    let wake = sh(&format!("{WAKE} exit 0"));
    let (said, lines) = once(&goal, A, &wake, &[]);
    assert_eq!((said.code, kinds(&lines)), (0, vec!["should_run", "replan_paused"]), "{said}");
    assert_eq!(lines[1]["turn"], lines[0]["turn"]);
    // Neither a restart nor another spelling nor time dispatches it again.
    for agent in [A, "AGENT-A"] {
        let (said, lines) = once(&goal, agent, &wake, &[]);
        assert_eq!((said.code, kinds(&lines)), (0, vec!["replan_paused", "waiting"]), "{said}");
    }
    assert_eq!(woken(&goal), 1);
    // Other work goes on, and does not bring it back.
    goal.sandbox.json(["todo", "add", "--goal-id", "g", "--role", "agent", "--text", "[P2] More"]);
    let settle = format!(
        "{WAKE} {} turn settle --goal-id g --agent-id agent-a --turn-instance-id \"$LOOPX_TURN\" --outcome blocked --reason hard",
        binary().display()
    );
    let said = run(&goal.sandbox, None, A, &["--once", "--wake-cmd", &sh(&settle)]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(woken(&goal), 2, "{said}");
    let (said, _) = once(&goal, A, &wake, &[]);
    assert_eq!((said.code, woken(&goal)), (0, 2), "{said}");
}

#[test]
fn every_other_end_leaves_the_outcome_unknown() {
    for (script, rest, status) in [
        ("exit 1", &[][..], 1),
        ("exit 75", &["--wake-stop-exit-code", "75"], 0),
        ("kill -9 $$", &[], 137),
        ("sleep 60", &["--wake-timeout-seconds", "0.2"], 2),
        ("yes", &[], 2),
    ] {
        let goal = owing();
        let wake = sh(&format!("{WAKE} {script}"));
        let (said, lines) = once(&goal, A, &wake, rest);
        assert_eq!(said.code, status, "{script} {said}");
        assert_eq!(kinds(&lines), ["should_run", "replan_outcome_unknown"], "{script}");
        // A new obligation does not make it safe to begin.
        goal.sandbox.json(["feedback", "--goal-id", "g", "--agent-id", A, "--text", "think again"]);
        let decision =
            goal.sandbox.json(["quota", "should-run", "--goal-id", "g", "--agent-id", A]);
        assert_ne!(decision["rule"], "replan", "{script} {decision}");
        let (_, _) = once(&goal, A, &wake, rest);
        assert_eq!(woken(&goal), 1, "{script}");
    }
}

#[test]
fn a_stop_signal_in_the_middle_leaves_the_outcome_unknown() {
    let goal = owing();
    let wake = sh(&format!("{WAKE} echo $$ > group; sleep 60"));
    let mut worker = Live::start(&goal.sandbox, A, &["--wake-cmd", &wake]);
    let group = pid_in(&goal.sandbox.project().join("group"));
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.end(), 143);
    assert_eq!(members(group), Vec::<String>::new());
    assert_eq!(kinds(&worker.said()), ["should_run", "replan_outcome_unknown", "stopped"]);
    let (said, lines) = once(&goal, A, &wake, &[]);
    assert_eq!(
        (said.code, kinds(&lines)),
        (0, vec!["replan_outcome_unknown", "waiting"]),
        "{said}"
    );
    assert_eq!(woken(&goal), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_is_killed_in_the_middle_does_not_dispatch_the_replan_again() {
    let goal = owing();
    let wake = sh(&format!("{WAKE} echo $$ > group; sleep 60 & wait"));
    let mut worker = Live::start(&goal.sandbox, A, &["--wake-cmd", &wake]);
    let group = pid_in(&goal.sandbox.project().join("group"));
    worker.signal(Signal::SIGKILL);
    assert_eq!(worker.end(), 137);
    let (said, lines) = once(&goal, "Agent-A", &wake, &[]);
    let expected = vec!["orphans_ended", "replan_outcome_unknown", "waiting"];
    assert_eq!((said.code, kinds(&lines)), (0, expected), "{said}");
    assert_eq!(members(group), Vec::<String>::new());
    assert_eq!(woken(&goal), 1);
    // The settlement of that very turn clears it.
    let turn = lines[0]["turn"].as_str().unwrap();
    goal.sandbox.json([
        "turn",
        "settle",
        "--goal-id",
        "g",
        "--agent-id",
        A,
        "--turn-instance-id",
        turn,
        "--outcome",
        "progress",
        "--evidence",
        "planned",
        "--next-agent-todo",
        "[P1] Next",
    ]);
    let (said, lines) = once(&goal, A, &sh("echo x >> woken"), &[]);
    assert_eq!((said.code, kinds(&lines)), (0, vec!["should_run"]), "{said}");
    assert_eq!(woken(&goal), 2);
}

#[test]
fn a_replan_that_settles_its_turn_goes_on_with_what_it_planned() {
    let goal = owing();
    let loopx = binary();
    let wake = sh(&format!(
        "{WAKE} {} turn settle --goal-id g --agent-id agent-a --turn-instance-id \"$LOOPX_TURN\" --outcome $([ -n \"$LOOPX_TODO_ID\" ] && echo completed --no-follow-up || echo progress --next-agent-todo next) --evidence x",
        loopx.display()
    ));
    let said = run(&goal.sandbox, None, A, &["--wake-cmd", &wake]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(kinds(&lines(&said.stdout)), ["should_run", "should_run", "terminal"], "{said}");
    assert_eq!(woken(&goal), 2);
}
