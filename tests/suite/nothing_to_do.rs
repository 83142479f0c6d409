//! Commands that find everything as they would make it: a receipt that says so, and no commit.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use loopx_tests::Sandbox;
use serde_json::Value;

const NOW: &str = "2026-11-29T12:00:00Z";

fn commits(sandbox: &Sandbox) -> usize {
    let history = sandbox.at(NOW).json("history --goal-id g --limit 100".split(' '));
    history["commits"].as_array().unwrap().len()
}

#[test]
fn a_stop_of_a_stopped_goal_and_its_like_commit_nothing() {
    let sandbox = Sandbox::new();
    let run = |words: &str| -> Value { sandbox.at(NOW).json(words.split(' ')) };
    run("goal create --goal-id g --objective o --agent-id a");
    for (first, words) in [
        (true, "goal stop --goal-id g"),
        (true, "goal resume --goal-id g"),
        (true, "agent register --goal-id g --agent-id b"),
        // The goal was never one of the earlier tool's.
        (false, "goal adopt-legacy --goal-id g"),
    ] {
        if first {
            assert_eq!(run(words)["changed"], true, "{words}");
        }
        let before = commits(&sandbox);
        for _ in 0..2 {
            let said = run(words);
            assert_eq!((&said["ok"], &said["changed"]), (&true.into(), &false.into()), "{words}");
            assert_eq!(said["commit"], before, "{words}: the commit that stands");
        }
        assert_eq!(commits(&sandbox), before, "{words}");
        // With an effect id the receipt is kept, so that a repeat finds it.
        let once = format!("{words} --effect-id e{before}");
        let kept = run(&once);
        assert_eq!(run(&once)["commit"], kept["commit"]);
        assert_eq!(commits(&sandbox), before + 1, "{words}");
    }
}

#[test]
fn a_todo_is_not_added_as_done_and_help_does_not_say_that_it_could_be() {
    let sandbox = Sandbox::new();
    let run = |words: &str| sandbox.at(NOW).run(words.split(' '));
    run("goal create --goal-id g --objective o --agent-id a");
    let help = run("todo add --help").stdout;
    assert!(help.contains("[possible values: open, blocked, deferred]"), "{help}");
    let refused = run("todo add --goal-id g --role agent --text x --status done");
    assert_eq!(refused.code, 1, "{refused}");
    assert_eq!(refused.json()["error_code"], "todo_invalid");
}
