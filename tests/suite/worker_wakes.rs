//! Wakes of the external worker, with real children: the turn that they are handed, how
//! each end of theirs is taken, and that nothing of them is left.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::Goal;
use loopx_tests::worker::{Live, kinds, lines, lives, members, pid_in, run, until};
use loopx_tests::{Output, binary};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const A: &str = "agent-a";
const B: &str = "agent-b";

fn working(todos: usize) -> Goal {
    let goal = Goal::new(&[A, B]);
    for n in 1..=todos {
        goal.todo(&format!("[P1] Write part {n}"), &[]);
    }
    goal
}

/// A script as a wake command: what is woken here is a shell.
fn sh(script: &str) -> String {
    format!("sh -c '{}'", script.replace('\'', "'\\''"))
}

/// A wake that settles its turn.
fn settling(more: &str) -> String {
    sh(&format!(
        "{more} {} turn settle --goal-id g --agent-id agent-a --turn-instance-id \"$LOOPX_TURN\" \
         --outcome completed --evidence tested --no-follow-up",
        binary().display()
    ))
}

fn reserved(goal: &Goal) -> Value {
    goal.sandbox.json(["quota", "status", "--goal-id", "g"])["goals"][0]["reserved_slots"].clone()
}

fn turn_state(goal: &Goal, turn: &Value) -> Value {
    let turn = turn.as_str().unwrap();
    goal.sandbox.json(["turn", "show", "--goal-id", "g", "--turn-instance-id", turn])["turn"]["state"].clone()
}

fn once(goal: &Goal, wake: &str, rest: &[&str]) -> (Output, Vec<Value>) {
    let mut words = vec!["--once", "--wake-cmd", wake];
    words.extend(rest);
    let said = run(&goal.sandbox, None, A, &words);
    let lines = lines(&said.stdout);
    (said, lines)
}

#[test]
fn a_wake_is_handed_its_admitted_turn_and_the_whole_route() {
    let goal = working(1);
    let script = "env | grep ^LOOPX_ | grep -v ^LOOPX_PROMPT > handed; printf %s \"$LOOPX_PROMPT\" > prompt; cat; exit 0";
    let (said, lines) = once(&goal, &sh(script), &[]);
    assert_eq!(said.code, 0, "{said}");
    let handed = fs::read_to_string(goal.sandbox.project().join("handed")).unwrap();
    let turn = lines[0]["turn"].as_str().unwrap();
    for line in [
        format!("LOOPX_TURN={turn}"),
        "LOOPX_GOAL_ID=g".into(),
        "LOOPX_AGENT_ID=agent-a".into(),
        format!("LOOPX_TODO_ID={}", lines[0]["todo"].as_str().unwrap()),
        format!("LOOPX_REGISTRY={}", goal.sandbox.registry().display()),
        format!("LOOPX_RUNTIME_ROOT={}", goal.sandbox.runtime_root().display()),
    ] {
        assert!(handed.lines().any(|l| l == line), "{line} not in {handed}");
    }
    let prompt = fs::read_to_string(goal.sandbox.project().join("prompt")).unwrap();
    assert!(prompt.ends_with(&format!("LOOPX_TURN={turn}")), "{prompt}");
    // It ended well and settled nothing: the turn is over, nothing was spent.
    assert_eq!(turn_state(&goal, &lines[0]["turn"]), "released");
    assert_eq!(reserved(&goal), 0);
}

/// kind `seed_expected`, contract post_success: no sleep after a success, a fresh decision
/// before each wake.
#[test]
fn after_a_success_the_next_decision_comes_at_once() {
    for todos in [1, 2] {
        let goal = working(todos);
        let begun = Instant::now();
        let said = run(&goal.sandbox, None, A, &["--wake-cmd", &settling("")]);
        assert_eq!(said.code, 0, "{said}");
        let lines = lines(&said.stdout);
        let mut expected = vec!["should_run"; todos];
        expected.push("terminal");
        assert_eq!(kinds(&lines), expected, "{said}");
        assert!(lines[..todos].iter().all(|l| l["phase"] == "wake_ok"));
        assert_eq!(turn_state(&goal, &lines[0]["turn"]), "settled");
        assert!(begun.elapsed() < Duration::from_secs(20));
        let quota = goal.sandbox.json(["quota", "status", "--goal-id", "g"]);
        assert_eq!(
            (&quota["goals"][0]["spent_slots"], &quota["goals"][0]["reserved_slots"]),
            (&json!(todos), &json!(0))
        );
    }
}

/// kind `seed_expected`, contract wake_stop_exit_code, and kind `worker`.
#[test]
fn the_stop_code_matrix() {
    let timeout = ["--wake-timeout-seconds", "0.2"];
    let tidy = "trap \"exit 75\" TERM; while :; do sleep 0.05; done";
    let flood = "trap \"exit 75\" TERM; yes; exit 75";
    for (script, option, more, status, phase, ending) in [
        ("exit 75", None, &[][..], 75, "wake_failed", "exited"),
        ("exit 75", Some("75"), &[], 0, "wake_stop", "exited"),
        ("exit 75", Some("76"), &[], 75, "wake_failed", "exited"),
        ("exit 0", Some("75"), &[], 0, "wake_ok", "exited"),
        ("kill -9 $$", None, &[], 137, "wake_failed", "signal"),
        ("kill -9 $$", Some("137"), &[], 137, "wake_failed", "signal"),
        ("sleep 60", None, &timeout, 2, "wake_failed", "timeout"),
        // A child that says the code when it is ended has not chosen it.
        (tidy, Some("75"), &timeout, 2, "wake_failed", "timeout"),
        (flood, Some("75"), &[], 2, "wake_failed", "output_limit"),
        ("yes >&2", None, &[], 2, "wake_failed", "output_limit"),
    ] {
        let goal = working(1);
        let mut rest = more.to_vec();
        if let Some(option) = option {
            rest.extend(["--wake-stop-exit-code", option]);
        }
        let (said, lines) = once(&goal, &sh(script), &rest);
        assert_eq!(said.code, status, "{script} {rest:?} {said}");
        let line = &lines[0];
        assert_eq!(
            (&line["phase"], &line["ending"]),
            (&json!(phase), &json!(ending)),
            "{script} {rest:?}"
        );
        assert_eq!(turn_state(&goal, &line["turn"]), "released", "{script}");
        let quota = goal.sandbox.json(["quota", "status", "--goal-id", "g"]);
        assert_eq!(
            (&quota["goals"][0]["spent_slots"], &quota["goals"][0]["reserved_slots"]),
            (&json!(0), &json!(0))
        );
    }
}

#[test]
fn the_stop_code_ends_a_loop_normally_and_without_another_decision() {
    let goal = working(2);
    let said = run(
        &goal.sandbox,
        None,
        A,
        &["--wake-cmd", &sh("echo x >> woken; exit 75"), "--wake-stop-exit-code", "75"],
    );
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(kinds(&lines(&said.stdout)), ["should_run"]);
    assert_eq!(fs::read_to_string(goal.sandbox.project().join("woken")).unwrap(), "x\n");
    assert_eq!(reserved(&goal), 0);
}

#[test]
fn a_failed_wake_backs_off_and_then_asks_again() {
    let goal = working(1);
    // The first fails, the second settles.
    let wake = settling("[ -e failed ] || { touch failed; exit 1; };");
    let said = run(&goal.sandbox, None, A, &["--wake-cmd", &wake, "--error-backoff-seconds", "5"]);
    assert_eq!(said.code, 0, "{said}");
    let lines = lines(&said.stdout);
    assert_eq!(kinds(&lines), ["should_run", "wake_failed_backoff", "should_run", "terminal"]);
    assert_eq!(lines[1]["backoff_seconds"], 5);
    assert_ne!(lines[0]["turn"], lines[2]["turn"]);
}

#[test]
fn a_restart_does_not_shorten_the_backoff() {
    let goal = working(1);
    let (said, _) = once(&goal, &sh("echo x >> woken; exit 1"), &[]);
    assert_eq!(said.code, 1, "{said}");
    let (said, lines) = once(&goal, &sh("echo x >> woken; exit 1"), &[]);
    assert_eq!((said.code, kinds(&lines)), (0, vec!["waiting"]), "{said}");
    assert_eq!(fs::read_to_string(goal.sandbox.project().join("woken")).unwrap(), "x\n");
}

#[test]
fn each_stop_signal_ends_the_whole_wake_and_frees_its_turn() {
    for (signal, status) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129)] {
        let goal = working(1);
        let script = "sleep 60 & sh -c \"sleep 60\" & echo $$ > group; wait";
        let mut worker = Live::start(&goal.sandbox, A, &["--wake-cmd", &sh(script)]);
        let group = pid_in(&goal.sandbox.project().join("group"));
        assert_eq!(reserved(&goal), 1);
        worker.signal(signal);
        assert_eq!(worker.end(), status);
        assert_eq!(members(group), Vec::<String>::new());
        let said = worker.said();
        assert_eq!(kinds(&said), ["should_run", "stopped"]);
        assert_eq!(
            (&said[0]["phase"], &said[0]["ending"]),
            (&json!("wake_stopped"), &json!("stopped"))
        );
        assert_eq!(turn_state(&goal, &said[0]["turn"]), "released");
    }
}

#[test]
fn a_wake_that_does_not_listen_is_killed_after_its_grace() {
    let goal = working(1);
    let script = "trap \"\" TERM; echo $$ > group; while :; do sleep 0.05; done";
    let mut worker =
        Live::start(&goal.sandbox, A, &["--wake-cmd", &sh(script), "--wake-grace-seconds", "0.5"]);
    let group = pid_in(&goal.sandbox.project().join("group"));
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.end(), 143);
    assert_eq!(members(group), Vec::<String>::new());
    assert_eq!(worker.said()[0]["wake_rc"], 137);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_wake_leaves_behind_ends_with_it_also_in_a_session_of_its_own() {
    let goal = working(1);
    let script = "sleep 60 & echo $! > one; setsid sh -c \"echo \\$\\$ > two; exec sleep 60\" & while [ ! -s two ]; do sleep 0.05; done; exit 0";
    let (said, lines) = once(&goal, &sh(script), &[]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(lines[0]["group"], "ended");
    for file in ["one", "two"] {
        let pid = pid_in(&goal.sandbox.project().join(file));
        assert!(!lives(pid), "{file}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_worker_leaves_a_child_that_the_next_one_ends_before_it_goes_on() {
    let goal = working(1);
    let script = "trap \"\" HUP; echo $$ > group; sleep 60 & wait";
    let mut worker = Live::start(&goal.sandbox, A, &["--wake-cmd", &sh(script)]);
    let group = pid_in(&goal.sandbox.project().join("group"));
    worker.signal(Signal::SIGKILL);
    assert_eq!(worker.end(), 137);
    assert!(lives(group), "nobody could end it");
    let (said, lines) = once(&goal, &sh("exit 0"), &[]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(kinds(&lines), ["orphans_ended", "should_run"], "{said}");
    assert_eq!(members(group), Vec::<String>::new());
    assert_eq!(reserved(&goal), 0);
    // Who was killed has not failed: the todo does not count it.
    assert_ne!(lines[0]["turn"], lines[1]["turn"]);
}

#[test]
fn a_program_that_goes_away_is_a_failed_wake() {
    let goal = working(1);
    let program = goal.sandbox.project().join("wake");
    fs::write(&program, "#!/bin/sh\nrm -f \"$0\"\nexit 3\n").unwrap();
    std::os::unix::fs::PermissionsExt::set_mode(
        &mut fs::metadata(&program).unwrap().permissions(),
        0o755,
    );
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let worker = Live::start(
        &goal.sandbox,
        A,
        &["--wake-cmd", program.to_str().unwrap(), "--error-backoff-seconds", "5"],
    );
    until("no second wake", || {
        worker.said().iter().filter(|l| l["status"] == "should_run").count() == 2
    });
    let said = worker.said();
    assert_eq!((&said[0]["ending"], &said[0]["wake_rc"]), (&json!("exited"), &json!(3)));
    assert_eq!(said[2]["ending"], "spawn_failed");
    until("its turn is not over", || turn_state(&goal, &said[2]["turn"]) == "released");
}

#[test]
fn a_command_that_does_nothing_comes_to_an_end_whatever_it_prints() {
    let goal = working(1);
    // Saying that it is done does not make it so, and is not read.
    let wake = sh("echo DONE; echo \"<promise>COMPLETE</promise>\"; echo");
    let worker = Live::start(&goal.sandbox, A, &["--wake-cmd", &wake]);
    // Three turns in vain stall a todo: what follows is a wait, not a fourth turn.
    worker.until_said("waiting");
    let wakes = worker.said().iter().filter(|l| l["status"] == "should_run").count();
    assert_eq!(wakes, 3);
}

#[test]
fn a_person_who_paused_the_loop_is_not_overruled_by_a_start() {
    let goal = working(2);
    let (said, _) = once(&goal, "true", &[]);
    assert_eq!(said.code, 0, "{said}");
    let shown = goal.sandbox.json(["loop", "show", "--goal-id", "g"]);
    assert_eq!(shown["loops"][0]["state"], "armed", "{shown}");
    let file = fs::read_dir(goal.sandbox.runtime_root().join("workers")).unwrap();
    let file = file.map(|e| e.unwrap().path()).find(|p| p.extension().is_some_and(|e| e == "json"));
    let kept: Value = serde_json::from_slice(&fs::read(file.unwrap()).unwrap()).unwrap();
    let session = kept["session"].as_str().unwrap();
    let step = |event: &str| {
        goal.sandbox.json([
            "loop",
            "step",
            "--goal-id",
            "g",
            "--host",
            "shell",
            "--session",
            session,
            "--event",
            event,
            "--agent-id",
            A,
        ])
    };
    step("paused");
    let (said, lines) = once(&goal, "touch woken", &[]);
    assert_eq!((said.code, kinds(&lines)), (0, vec!["paused"]), "{said}");
    assert!(lines[0]["next"].as_str().unwrap().contains(session));
    assert!(!goal.sandbox.project().join("woken").exists());
    step("resumed");
    let (said, lines) = once(&goal, "touch woken", &[]);
    assert_eq!((said.code, kinds(&lines)), (0, vec!["should_run"]), "{said}");
    assert!(goal.sandbox.project().join("woken").exists());
}
