//! The external worker without its wakes: who may have a route, what an observer leaves
//! alone, how a wait ends, what wrong usage is told, and what it costs to wait.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::Goal;
use loopx_tests::worker::{Live, kinds, lines, run, until};
use loopx_tests::{Sandbox, repository};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const A: &str = "agent-a";
const B: &str = "agent-b";

/// A goal with one todo for agents.
fn working() -> Goal {
    let goal = Goal::new(&[A, B]);
    goal.todo("[P1] Write the parser of alpha", &[]);
    goal
}

/// A goal that waits for a person.
fn gated() -> Goal {
    let goal = working();
    goal.gate("May we?", &["--global-gate"]);
    goal
}

fn state_files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.runtime_root().join("workers");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

fn state(sandbox: &Sandbox) -> Value {
    let files = state_files(sandbox);
    assert_eq!(files.len(), 1, "{files:?}");
    serde_json::from_slice(&fs::read(&files[0]).unwrap()).unwrap()
}

/// Everything of the goal as bytes: store, registry, state file.
fn goal_bytes(sandbox: &Sandbox) -> Vec<(PathBuf, Vec<u8>)> {
    let files = [
        sandbox.store_folder("g").join("goal.db"),
        sandbox.registry(),
        sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md"),
    ];
    files.into_iter().map(|file| (file.clone(), fs::read(&file).unwrap())).collect()
}

#[test]
fn observing_admits_nothing_and_leaves_the_goal_as_it_is() {
    let goal = working();
    let before = goal_bytes(&goal.sandbox);
    let said = run(&goal.sandbox, Some("2026-11-29T12:01:00Z"), A, &["--once"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said}");
    let lines = lines(&said.stdout);
    assert_eq!(kinds(&lines), ["should_run"]);
    assert_eq!(lines[0]["phase"], "would_wake");
    assert_eq!(goal_bytes(&goal.sandbox), before);
    assert_eq!(goal.ok("quota status", &[])["goals"][0]["reserved_slots"], 0);
}

#[test]
fn an_observer_whose_clock_ran_ahead_waits_its_step_and_no_longer() {
    let goal = gated();
    for (now, minutes) in
        [("2027-11-29T12:00:00Z", 30), ("2026-11-29T12:00:00Z", 30), ("2026-11-29T12:10:00Z", 20)]
    {
        let said = run(&goal.sandbox, Some(now), A, &["--once"]);
        assert_eq!(lines(&said.stdout)[0]["next_check_minutes"], minutes, "{now}: {said}");
    }
}

/// reference/vectors/scheduler.jsonl, kind `worker`: prior_unchanged 0 to 3, each look when
/// it is due.
#[test]
fn an_observer_counts_looks_at_one_wait_and_stops_after_one_recheck() {
    let goal = gated();
    let at = |time: &str| {
        let said = run(&goal.sandbox, Some(&format!("2026-11-29T{time}:00Z")), A, &["--once"]);
        assert_eq!(said.code, 0, "{said}");
        lines(&said.stdout)
    };
    for (time, phase, count, minutes) in
        [("12:00", "unchanged#1", 0, 30), ("12:30", "unchanged#2", 1, 60)]
    {
        let said = at(time);
        assert_eq!(kinds(&said), ["waiting"]);
        assert_eq!(
            (&said[0]["phase"], &said[0]["unchanged_count"], &said[0]["next_check_minutes"]),
            (&json!(phase), &json!(count), &json!(minutes))
        );
        assert_eq!(said[0]["class"], "human_gate");
    }
    // Looking before it is due is answered and not counted.
    assert_eq!(at("12:31")[0]["phase"], "unchanged#2");
    assert_eq!(at("12:32")[0]["phase"], "unchanged#2");
    for time in ["13:30", "13:31"] {
        let said = at(time);
        let expected = ["waiting", "final_quota_replan_probe", "stop_after_unchanged_limit"];
        assert_eq!(kinds(&said), expected, "{time}");
        assert_eq!(said[1]["changed"], false);
        assert_eq!(said[2]["unchanged_limit"], 3);
    }
    assert_eq!(state(&goal.sandbox)["observed"]["unchanged"], 4);
    // Another wait begins anew, at its first step.
    goal.at("13:40").gate("And may we that?", &["--global-gate"]);
    assert_eq!(at("13:41")[0]["phase"], "unchanged#1");
}

#[test]
fn goals_that_are_over_or_held_end_the_worker_with_0_and_without_a_wake() {
    let stopped = working();
    stopped.ok("goal stop", &[]);
    let done = Goal::new(&[A]);
    let todo = done.todo("[P1] Write it", &[]);
    done.ok(
        "todo complete",
        &["--todo-id", &todo, "--agent-id", A, "--no-follow-up", "--evidence", "x"],
    );
    let paused = working();
    let registry = paused.sandbox.registry();
    let mut value: Value = serde_json::from_slice(&fs::read(&registry).unwrap()).unwrap();
    value["goals"][0]["quota"] = json!({"compute": 0});
    fs::write(&registry, value.to_string()).unwrap();
    for (goal, class) in
        [(stopped, "goal_stopped"), (done, "terminal_no_followup"), (paused, "quota_paused")]
    {
        for rest in
            [&[][..], &["--wake-cmd", "touch woken"], &["--once", "--wake-cmd", "touch woken"]]
        {
            let said = run(&goal.sandbox, Some("2026-11-29T12:01:00Z"), A, rest);
            assert_eq!(said.code, 0, "{class} {rest:?} {said}");
            assert_eq!(kinds(&lines(&said.stdout)), ["terminal"], "{class} {rest:?}");
            assert!(said.stdout.contains("stop_until_explicit_resume"), "{class} {rest:?} {said}");
        }
        assert!(!goal.sandbox.project().join("woken").exists(), "{class}");
    }
}

#[test]
fn a_stopped_goal_that_was_resumed_is_worked_on_by_the_next_start() {
    let goal = working();
    let wake = ["--once", "--wake-cmd", "touch woken"];
    goal.ok("goal stop", &[]);
    let said = run(&goal.sandbox, Some("2026-11-29T12:01:00Z"), A, &wake);
    assert_eq!(kinds(&lines(&said.stdout)), ["terminal"], "{said}");
    goal.at("12:02").ok("goal resume", &[]);
    let said = run(&goal.sandbox, Some("2026-11-29T12:03:00Z"), A, &wake);
    assert_eq!(kinds(&lines(&said.stdout)), ["should_run"], "{said}");
    assert!(goal.sandbox.project().join("woken").exists());
}

#[test]
fn a_route_has_one_worker_and_the_second_is_told_who_has_it() {
    let goal = gated();
    let first = Live::start(&goal.sandbox, A, &[]);
    first.until_said("waiting");
    // Another spelling of the agent is the same route.
    for agent in [A, "AGENT-A", " Agent-A "] {
        let second = run(&goal.sandbox, None, agent, &["--wake-cmd", "touch woken"]);
        assert_eq!(second.code, 3, "{second}");
        let said = lines(&second.stdout);
        assert_eq!(kinds(&said), ["locked"]);
        assert_eq!(said[0]["error"], "worker_locked");
        let reason = said[0]["reason"].as_str().unwrap();
        assert!(reason.contains(&format!("process {}", first.pid())), "{reason}");
    }
    // Another agent is another route.
    let other = run(&goal.sandbox, None, B, &["--once"]);
    assert_eq!(other.code, 0, "{other}");
    drop(first);
    let next = run(&goal.sandbox, None, A, &["--once"]);
    assert_eq!(next.code, 0, "{next}");
    assert!(!goal.sandbox.project().join("woken").exists());
}

#[test]
fn a_named_state_file_is_the_route() {
    let goal = working();
    let file = goal.sandbox.base().join("route.json");
    let named = ["--once", "--state-file", file.to_str().unwrap()];
    assert_eq!(run(&goal.sandbox, None, A, &named).code, 0);
    assert_eq!(state_files(&goal.sandbox), Vec::<PathBuf>::new());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(kept["scope"]["agent_id"], A);
    assert_eq!(kept["last_status"]["status"], "should_run");
    // The counts of the earlier worker are no reason to refuse.
    fs::write(&file, json!({"reset_token": "x", "unchanged_count": 2}).to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(run(&goal.sandbox, None, A, &named).code, 0);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_state_file_that_cannot_be_trusted_refuses_a_wake_and_stays_as_it_is() {
    let goal = working();
    let file = goal.sandbox.base().join("route.json");
    let path = file.to_str().unwrap();
    let named = ["--state-file", path, "--wake-cmd", "touch woken"];
    assert_eq!(run(&goal.sandbox, None, B, &["--once", "--state-file", path]).code, 0);
    let of_other = fs::read(&file).unwrap();
    let mut newer: Value = serde_json::from_slice(&of_other).unwrap();
    newer["schema_version"] = json!("loopx_external_worker_state_v9");
    for (bytes, code) in [
        (of_other, "worker_state_foreign"),
        (b"{".to_vec(), "worker_state_unreadable"),
        (b"".to_vec(), "worker_state_unreadable"),
        (vec![0xff, 0xfe, 0x00], "worker_state_unreadable"),
        (b"[]".to_vec(), "worker_state_unreadable"),
        (newer.to_string().into_bytes(), "worker_state_unreadable"),
        (b"{\"replan_attempts\": []}".to_vec(), "worker_state_unreadable"),
    ] {
        fs::write(&file, &bytes).unwrap();
        let said = run(&goal.sandbox, None, A, &named);
        assert_eq!(said.code, 3, "{code} {said}");
        let line = &lines(&said.stdout)[0];
        assert_eq!((&line["status"], &line["error"]), (&json!("state_refused"), &json!(code)));
        assert!(!said.stdout.contains(path), "{said}");
        assert_eq!(fs::read(&file).unwrap(), bytes, "{code}");
    }
    assert!(!goal.sandbox.project().join("woken").exists());
    assert_eq!(goal.ok("quota status", &[])["goals"][0]["reserved_slots"], 0);
}

#[test]
fn what_cannot_be_asked_is_told_with_its_code() {
    let goal = working();
    let args = |goal: &str| {
        ["worker", "run", "--goal-id", goal, "--agent-id", "nobody", "--wake-cmd", "touch woken"]
            .map(str::to_owned)
    };
    for (goal_id, code) in [("g", "quota_agent_not_registered"), ("other", "goal_not_found")] {
        let said = goal.sandbox.run(args(goal_id));
        assert_eq!(said.code, 2, "{said}");
        let line = &lines(&said.stdout)[0];
        assert_eq!((&line["status"], &line["error"]), (&json!("tick_error"), &json!(code)));
        assert!(line["next"].as_str().is_some_and(|next| !next.is_empty()));
    }
    fs::write(goal.sandbox.registry(), "{").unwrap();
    let said = run(&goal.sandbox, None, A, &["--once"]);
    assert_eq!(said.code, 2, "{said}");
    assert_eq!(lines(&said.stdout)[0]["error"], "quota_state_invalid_json");
}

#[test]
fn a_missing_identity_fails_closed() {
    let goal = working();
    let without =
        goal.sandbox.run(["worker", "run", "--goal-id", "g", "--wake-cmd", "touch woken"]);
    assert_eq!(without.code, 2, "{without}");
    assert!(without.stderr.contains("--agent-id"), "{without}");
    for agent in ["", "  ", "a/b", "../x"] {
        let said = run(&goal.sandbox, None, agent, &["--wake-cmd", "touch woken"]);
        assert_eq!(said.code, 2, "{agent:?} {said}");
        assert_eq!(lines(&said.stdout)[0]["status"], "tick_error");
    }
    assert!(!goal.sandbox.project().join("woken").exists());
}

#[test]
fn a_registry_that_comes_back_is_asked_again() {
    let goal = gated();
    let registry = goal.sandbox.registry();
    let whole = fs::read(&registry).unwrap();
    fs::write(&registry, "{").unwrap();
    let worker = Live::start(&goal.sandbox, A, &["--error-backoff-seconds", "5"]);
    assert_eq!(worker.until_said("tick_error")["backoff_seconds"], 5);
    fs::write(&registry, whole).unwrap();
    worker.until_said("waiting");
}

#[test]
fn wrong_usage_is_told_on_stderr_with_the_way_out() {
    let goal = working();
    for (rest, part) in [
        (&["--wake-cmd", "a | b"][..], "sh -c"),
        (&["--wake-cmd", "a && b"], "sh -c"),
        (&["--wake-cmd", "a > f"], "sh -c"),
        (&["--wake-cmd", "echo $HOME"], "sh -c"),
        (&["--wake-cmd", "ls *.txt"], "sh -c"),
        (&["--wake-cmd", "X=1 true"], "env NAME=value"),
        (&["--wake-cmd", "exit 75"], "sh -c"),
        (&["--wake-cmd", "echo 'a"], "not closed"),
        (&["--wake-cmd", ""], "--wake-cmd"),
        (&["--wake-cmd", "true", "--wake-stop-exit-code", "0"], "1..=255"),
        (&["--wake-cmd", "true", "--wake-stop-exit-code", "256"], "1..=255"),
        (&["--wake-cmd", "true", "--wake-stop-exit-code", "-1"], "-1"),
        (&["--wake-cmd", "true", "--wake-stop-exit-code", "x"], "--wake-stop-exit-code"),
        (&["--wake-cmd", "true", "--wake-timeout-seconds", "0.001"], "0.01"),
        (&["--wake-cmd", "true", "--wake-timeout-seconds", "nan"], "0.01"),
        (&["--wake-cmd", "true", "--wake-timeout-seconds", "0"], "0.01"),
        (&["--wake-cmd", "true", "--wake-output-limit-bytes", "0"], "1.."),
        (&["--wake-timeout-seconds", "5"], "--wake-cmd"),
    ] {
        let said = run(&goal.sandbox, None, A, rest);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{rest:?} {said}");
        assert!(said.stderr.contains(part), "{rest:?} {said}");
    }
    assert_eq!(goal.ok("quota status", &[])["goals"][0]["reserved_slots"], 0);
}

#[test]
fn each_stop_signal_ends_a_wait_at_once_and_is_told() {
    for (signal, name, status) in [
        (Signal::SIGTERM, "SIGTERM", 143),
        (Signal::SIGINT, "SIGINT", 130),
        (Signal::SIGHUP, "SIGHUP", 129),
    ] {
        let goal = gated();
        for rest in [&[][..], &["--wake-cmd", "true"]] {
            let mut worker = Live::start(&goal.sandbox, A, rest);
            worker.until_said("waiting");
            let begun = Instant::now();
            worker.signal(signal);
            assert_eq!(worker.end(), status, "{name}");
            assert!(begun.elapsed() < Duration::from_secs(5), "{name}");
            assert_eq!(worker.said().last().unwrap()["signal"], name);
        }
    }
}

#[test]
fn a_signal_that_the_worker_was_started_to_ignore_stays_ignored() {
    let goal = gated();
    let words = ["worker", "run", "--goal-id", "g", "--agent-id", A];
    let call = goal.sandbox.call();
    let mut command = call.command_under(["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"], words);
    let mut worker = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let pid = nix::unistd::Pid::from_raw(worker.id().cast_signed());
    until("no state", || {
        state_files(&goal.sandbox)
            .first()
            .is_some_and(|file| fs::read(file).is_ok_and(|b| !b.is_empty()))
    });
    nix::sys::signal::kill(pid, Signal::SIGHUP).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(worker.try_wait().unwrap().is_none());
    nix::sys::signal::kill(pid, Signal::SIGTERM).unwrap();
    assert_eq!(worker.wait().unwrap().code(), Some(143));
}

/// A due time may be an hour off; a person's answer is noticed all the same.
#[test]
fn an_answered_gate_ends_the_wait_within_seconds() {
    let goal = working();
    let gate = goal.gate("May we?", &["--global-gate"]);
    let worker = Live::start(&goal.sandbox, A, &["--wake-cmd", "sleep 60"]);
    assert_eq!(worker.until_said("waiting")["next_check_minutes"], 30);
    goal.sandbox.json([
        "gate",
        "decide",
        "--goal-id",
        "g",
        "--todo-id",
        &gate,
        "--outcome",
        "approve",
    ]);
    until("it is not woken", || {
        goal.sandbox.json(["quota", "status", "--goal-id", "g"])["goals"][0]["reserved_slots"] == 1
    });
}

#[test]
fn lines_hold_no_task_text_and_no_path() {
    let goal = working();
    let home = goal.sandbox.base().to_str().unwrap().to_owned();
    let mut said = String::new();
    for rest in [&["--once"][..], &["--once", "--wake-cmd", "sh -c 'echo Sonde; exit 3'"]] {
        said.push_str(&run(&goal.sandbox, None, A, rest).stdout);
        let text = goal
            .sandbox
            .call()
            .unlocated()
            .run(["worker", "run", "--goal-id", "g", "--agent-id", A].iter().chain(rest));
        assert!(text.stdout.lines().all(|l| l.contains("Z status=")), "{text}");
        said.push_str(&text.stdout);
    }
    for private in ["parser of alpha", "Sonde", &home, "exit 3"] {
        assert!(!said.contains(private), "{private}: {said}");
    }
}

/// The figures: under 10 MiB, under 0.1 % of a processor.
#[cfg(target_os = "linux")]
#[test]
fn a_waiting_worker_costs_nothing() {
    let goal = gated();
    for rest in [&[][..], &["--wake-cmd", "true"]] {
        let worker = Live::start(&goal.sandbox, A, rest);
        worker.until_said("waiting");
        std::thread::sleep(Duration::from_millis(500));
        let (ticks, _) = costs(worker.pid());
        std::thread::sleep(Duration::from_secs(11));
        let (later, resident_kib) = costs(worker.pid());
        // A tick is 10 ms: one in 11 s is 0.1 %.
        assert!(later - ticks <= 1, "{rest:?}: {} ticks", later - ticks);
        // A build for debugging maps more of itself, and an interpreter more than both.
        let limit = if loopx_tests::python_worker().is_some() {
            48
        } else if loopx_tests::binary().components().any(|c| c.as_os_str() == "release") {
            10
        } else {
            20
        };
        assert!(resident_kib < limit * 1024, "{rest:?}: {resident_kib} KiB");
        eprintln!("{rest:?}: {resident_kib} KiB, {} ticks in 11 s", later - ticks);
    }
}

#[cfg(target_os = "linux")]
fn costs(pid: u32) -> (u64, u64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let resident = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    (ticks, resident.trim().trim_end_matches(" kB").parse().unwrap())
}

#[test]
fn templates_hold_the_whole_route_and_can_be_run() {
    let goal = working();
    let print = |manager: &str, rest: &[&str]| {
        let mut words = vec![
            "worker",
            "install",
            "--print",
            manager,
            "--goal-id",
            "g",
            "--agent-id",
            "AGENT-A",
        ];
        words.extend(rest);
        let said = goal.sandbox.run(words);
        assert_eq!(said.code, 0, "{said}");
        said.stdout
    };
    let binary = loopx_tests::binary().canonicalize().unwrap();
    let wake = ["--wake-cmd", "sh -c 'echo 100% > \"woken 1\"'"];
    for manager in ["launchd", "systemd", "cron"] {
        let text = print(manager, &wake);
        for part in [&goal.sandbox.registry(), &goal.sandbox.runtime_root(), &binary] {
            assert!(text.contains(part.to_str().unwrap()), "{manager}: {text}");
        }
        assert!(text.contains("agent-a") && !text.contains("AGENT-A"), "{text}");
    }
    let plist = print("launchd", &wake);
    assert!(plist.contains("<key>SuccessfulExit</key>\n    <false/>"), "{plist}");
    let unit = print("systemd", &wake);
    assert!(unit.contains("Restart=on-failure") && unit.contains("StartLimitBurst="), "{unit}");
    // cron turns `\%` into `%` and hands the rest to sh.
    let line = print("cron", &wake);
    let command = line.lines().last().unwrap().strip_prefix("*/3 * * * * ").unwrap();
    let command = command.split(" 2>&1 |").next().unwrap().replace("\\%", "%");
    let shell = std::process::Command::new("/bin/sh")
        .args(["-c", &command])
        .current_dir(goal.sandbox.project())
        .env_clear()
        .env("HOME", goal.sandbox.home())
        .output()
        .unwrap();
    assert_eq!(shell.status.code(), Some(0), "{command}\n{shell:?}");
    assert_eq!(fs::read_to_string(goal.sandbox.project().join("woken 1")).unwrap(), "100%\n");
    assert!(repository().is_absolute());
}

/// Whatever `worker run` is told, `worker install` hands on: a run that the template starts
/// is the run that was asked for.
#[test]
fn templates_hand_on_every_option() {
    let goal = gated();
    let install = ["worker", "install", "--print", "cron", "--goal-id", "g", "--agent-id", A];
    for (given, printed) in [
        (&["-A"][..], "--codex-app"),
        (&["--codex-app"], "--codex-app"),
        (&["--trae_app"], "--trae_app"),
        (&["--runtime-profile", "codex_cli"], "--runtime-profile codex_cli"),
        (
            &["-H", "generic_cli", "-O", "outer_controller", "-M", "isolated_headless"],
            "--host-surface generic_cli --scheduler-owner outer_controller --execution-mode isolated_headless",
        ),
        (
            &["-A", "--codex-app-current-rrule", "FREQ=MINUTELY;INTERVAL=3"],
            "--app-automation-current-rrule 'FREQ=MINUTELY;INTERVAL=3'",
        ),
        (&["--independent-worktree"], "--independent-worktree"),
        (
            &["--available-capability", "x", "--available-capability", "y"],
            "--available-capability x --available-capability y",
        ),
        (&["--error-backoff-seconds", "7"], "--error-backoff-seconds 7"),
        (&["--quota-timeout-seconds", "7"], "--quota-timeout-seconds 7"),
        (
            &["--wake-cmd", "true", "--wake-stop-exit-code", "75", "--wake-timeout-seconds", "0.5"],
            "--wake-cmd true --wake-timeout-seconds 0.5 --wake-stop-exit-code 75",
        ),
        (
            &["--wake-grace-seconds", "2", "--wake-output-limit-bytes", "9"],
            "--wake-grace-seconds 2 --wake-output-limit-bytes 9",
        ),
    ] {
        let said = goal.sandbox.run(install.iter().chain(given));
        assert_eq!(said.code, 0, "{given:?} {said}");
        assert!(said.stdout.contains(printed), "{given:?}: {}", said.stdout);
        let line = said.stdout.lines().last().unwrap().strip_prefix("*/3 * * * * ").unwrap();
        let command = line.split(" 2>&1 |").next().unwrap().replace("\\%", "%");
        let shell = std::process::Command::new("/bin/sh")
            .args(["-c", &command])
            .current_dir(goal.sandbox.project())
            .env("HOME", goal.sandbox.home())
            .output()
            .unwrap();
        assert_eq!(shell.status.code(), Some(0), "{command}\n{shell:?}");
    }
}
