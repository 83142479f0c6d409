//! When to look again, through the binary: the recorded end-to-end rows, hosts that follow
//! their hints, and what a host says back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use loopx_core::admission::packet::PACKET_BUDGET;
use loopx_tests::{Sandbox, repository};

use loopx_tests::goal::{Goal, id};
use serde_json::{Map, Value, json};

const A: &str = "agent-a";
const B: &str = "agent-b";
const APP: &str = "codex_app_heartbeat";

fn vectors(name: &str) -> String {
    fs::read_to_string(repository().join("tests/vectors").join(name)).unwrap()
}

fn rows(kind: &str) -> Vec<Value> {
    vectors("scheduler.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| row["kind"] == kind)
        .collect()
}

/// The decision of a door with that profile, ladders included.
#[track_caller]
fn decide(goal: &Goal, profile: &str, rest: &[&str]) -> Value {
    let mut words =
        vec!["--agent-id", A, "--runtime-profile", profile, "--include-detail", "scheduler"];
    words.extend(rest);
    goal.ok("quota should-run", &words)
}

#[track_caller]
fn app(goal: &Goal, rest: &[&str]) -> Value {
    decide(goal, APP, rest)["scheduler_hint"]["app_automation"].clone()
}

/// What a hint names to be run, run.
#[track_caller]
fn run_named(goal: &Goal, time: &str, hint: &Value) -> Value {
    let words: Vec<&str> =
        hint["cli_args"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    goal.at(time).sandbox.at(&format!("2026-11-29T{time}:00Z")).json(words)
}

/// A goal in the state that a row's setup names, and what the door adds to its question.
fn set_up(case: &str, nth: usize) -> (Goal, Vec<&'static str>) {
    let agents: &[&str] = if case == "other-agent" { &[A, B] } else { &[A] };
    let goal = Goal::new(agents);
    let mut door = Vec::new();
    match case {
        "no-task" => {}
        "work-ready" | "sched-ack" => {
            let todo = goal.todo("[P1] Work", &[]);
            if case == "work-ready" && nth == 1 {
                goal.ok("todo claim", &["--todo-id", &todo, "--claimed-by", A]);
            }
        }
        "work-hostpoll" => {
            goal.todo("[P1] Work", &[]);
            door.push("--record-host-poll");
        }
        "quota-paused" | "quota-exhausted" => {
            goal.todo("[P1] Work", &[]);
            let path = goal.sandbox.registry();
            let mut registry: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let quota = &mut registry["goals"][0]["quota"];
            if case == "quota-paused" {
                quota["compute"] = json!(0);
            } else {
                quota["allowed_slots"] = json!(1);
            }
            fs::write(&path, registry.to_string()).unwrap();
            if case == "quota-exhausted" {
                let outcome = ["--agent-id", A, "--delivery-outcome", "outcome_progress"];
                goal.ok("refresh-state", &outcome);
                goal.ok("quota spend-slot", &["--agent-id", A, "--execute"]);
            }
        }
        "other-agent" => {
            let todo = goal.todo("[P1] Work", &[]);
            goal.ok("todo claim", &["--todo-id", &todo, "--claimed-by", B]);
        }
        "cap-gap" => {
            goal.todo("[P1] Work", &["--required-capability", "network"]);
            if nth == 1 {
                door.extend(["--available-capability", "network"]);
            }
        }
        "waiting-user" => {
            goal.gate("Go on?", &["--global-gate"]);
        }
        "user-gate-bound" => {
            goal.gate("Go on?", &["--blocks-agent", A]);
        }
        "monitor-wait" | "monitor-due" => {
            let due = if case == "monitor-wait" { "2099" } else { "2020" };
            let due = format!("{due}-01-01T00:00:00Z");
            let words =
                ["--task-class", "continuous_monitor", "--target-key", "ci", "--next-due-at", &due];
            goal.todo("Watch", &words);
        }
        "blocked" => {
            let todo = goal.todo("[P1] Work", &[]);
            let words = ["--todo-id", &todo, "--status", "blocked", "--reason", "waits"];
            goal.ok("todo update", &words);
        }
        "terminal" => {
            let todo = goal.todo("[P1] Work", &[]);
            let words = ["--todo-id", &todo, "--agent-id", A, "--evidence", "e", "--no-follow-up"];
            goal.ok("todo complete", &words);
        }
        "stopped3" => {
            goal.todo("[P1] Work", &[]);
            goal.ok("goal stop", &[]);
        }
        "deferred" => {
            let todo = goal.todo("[P1] Work", &[]);
            let words = [
                "--todo-id",
                &todo,
                "--status",
                "deferred",
                "--resume-when",
                "capacity_available:gpu",
            ];
            goal.ok("todo update", &words);
        }
        other => panic!("no setup {other}"),
    }
    (goal, door)
}

fn of_row(row: &Value) -> Value {
    let mut unchanged = row["unchanged_poll"].clone();
    strip_nulls(&mut unchanged);
    let app = &row["codex_app"];
    json!({
        "ok": row["ok"],
        "decision": row["decision"],
        "should_run": row["should_run"],
        "effective_action": row["effective_action"],
        "state": row["state"],
        "mode": row["mode"],
        "notify": row["notify"],
        "user_action_required": row["user_action_required"],
        "action": row["action"],
        "cadence_class": row["cadence_class"],
        "reason_code": row["reason_code"],
        "progression": row["progression"],
        "limit": row["limit"],
        "unchanged_poll": unchanged,
        "frontier_terminal": row["frontier_terminal"],
        "app": [app["apply"], app["host_action"], app["reason_code"], app["recommended_rrule"]],
    })
}

fn of_packet(packet: &Value) -> Value {
    let hint = &packet["scheduler_hint"];
    let local = &hint["cold_path_detail"]["local_scheduler"];
    let channel = &packet["interaction_contract"]["user_channel"];
    let app = &hint["app_automation"];
    let mut unchanged = hint["unchanged_poll"].clone();
    strip_nulls(&mut unchanged);
    json!({
        "ok": packet["ok"],
        "decision": packet["decision"],
        "should_run": packet["should_run"],
        "effective_action": packet["effective_action"],
        "state": packet["state"],
        "mode": packet["interaction_contract"]["mode"],
        "notify": channel["notify"],
        "user_action_required": channel["action_required"],
        "action": hint["action"],
        "cadence_class": hint["cadence_class"],
        "reason_code": hint["reason_code"],
        "progression": local["example_progression_minutes"],
        "limit": local["unchanged_poll_limit"],
        "unchanged_poll": unchanged,
        "frontier_terminal": packet["goal_frontier_projection"]["terminal_state"],
        "app": [app["apply"], app["host_action"], app["reason_code"], app["recommended_rrule"]],
    })
}

fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, item| !item.is_null());
            map.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}

fn compare(found: &mut BTreeMap<String, String>, id: String, theirs: &Value, ours: &Value) {
    let keys: BTreeSet<&String> =
        theirs.as_object().into_iter().chain(ours.as_object()).flat_map(Map::keys).collect();
    let parts: Vec<String> = keys
        .into_iter()
        .filter(|key| theirs[key.as_str()] != ours[key.as_str()])
        .map(|key| format!("{key}: {} but {}", theirs[key.as_str()], ours[key.as_str()]))
        .collect();
    if !parts.is_empty() {
        found.insert(id, parts.join("; "));
    }
}

#[test]
fn recorded_runs_are_answered_alike_or_named() {
    let mut found = BTreeMap::new();
    let mut nth: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = 0;
    for row in rows("e2e") {
        let (case, profile) = (row["case"].as_str().unwrap(), row["profile"].as_str().unwrap());
        let name = format!("{case}+{profile}");
        let n = *nth.entry(name.clone()).and_modify(|n| *n += 1).or_default();
        let (goal, door) = set_up(case, n);
        if case == "sched-ack" && n > 0 {
            let hint = app(&goal, &[]);
            if n == 1 {
                run_named(&goal, "12:00", &hint["ack_hint"]);
            } else {
                let observed = ["--app-automation-current-rrule", "FREQ=MINUTELY;INTERVAL=7"];
                let hint = app(&goal, &observed);
                run_named(&goal, "12:00", &hint["failure_hint"]);
            }
        }
        let packet = decide(&goal, profile, &door);
        compare(&mut found, format!("e2e/{name}+{n}"), &of_row(&row), &of_packet(&packet));
        count += 1;
    }
    let raw = &rows("e2e_raw")[0];
    let sandbox = Sandbox::new();
    let goal = Goal::new(&[A]);
    let refused = goal.sandbox.run(["quota", "should-run", "--goal-id", "nope", "--agent-id", A]);
    assert_eq!(i64::from(refused.code), raw["rc"].as_i64().unwrap());
    let said: Value = serde_json::from_str(&refused.stdout).unwrap();
    for key in ["ok", "decision", "goal_id", "mode", "should_run", "state", "status"] {
        assert_eq!(said[key], raw["payload"][key], "{key}");
    }
    assert!(said.get("scheduler_hint").is_none());
    drop(sandbox);
    let listed: BTreeSet<String> = vectors("DIFFERENCES.md")
        .lines()
        .skip_while(|line| *line != "### Rows through the command line")
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'))
        .map(|(id, _)| id.to_owned())
        .collect();
    println!("{count} rows, {} of them listed as different", found.len());
    let new: Vec<_> = found.iter().filter(|(id, _)| !listed.contains(*id)).collect();
    assert!(new.is_empty(), "rows that differ and are not listed:\n{new:#?}");
    let found: BTreeSet<String> = found.into_keys().collect();
    let stale: Vec<_> = listed.difference(&found).collect();
    assert!(stale.is_empty(), "rows that are listed and do not differ: {stale:#?}");
}

/// The recorded acknowledgement and failure, and that nothing is spent for either.
#[test]
fn an_acknowledgement_and_a_failure_are_recorded_as_the_earlier_tool_did() {
    let goal = Goal::new(&[A]);
    goal.todo("[P1] Work", &[]);
    let hint = app(&goal, &[]);
    let answer = run_named(&goal, "12:00", &hint["ack_hint"]);
    let recorded = &rows("e2e_ack")[0]["payload"];
    same_but_tokens(recorded, &answer, &["current_hint_source"]);
    assert_eq!(app(&goal, &[])["apply"], "none_already_applied");

    let goal = Goal::new(&[A]);
    goal.todo("[P1] Work", &[]);
    let words = [
        "--agent-id",
        A,
        "-A",
        "--failed-rrule",
        "FREQ=MINUTELY;INTERVAL=3",
        "--failure-kind",
        "rejected",
        "--codex-app-current-rrule",
        "FREQ=MINUTELY;INTERVAL=7",
        "--execute",
    ];
    let answer = goal.ok("quota scheduler-fail-current", &words);
    let recorded = &rows("e2e_fail")[0]["payload"];
    same_but_tokens(recorded, &answer, &[]);
    // Said again, it is on record already.
    let again = goal.ok("quota scheduler-fail-current", &words);
    assert_eq!((&again["already_recorded"], &again["ok"]), (&json!(true), &json!(true)));
    let window = goal.ok("quota status", &[])["goals"][0].clone();
    assert_eq!(window["spent_slots"], 0);
}

/// Every recorded field is answered, and is equal where it is no digest, id or instant.
#[track_caller]
fn same_but_tokens(recorded: &Value, said: &Value, prose: &[&str]) {
    for (key, value) in recorded.as_object().unwrap() {
        let ours = said.get(key).unwrap_or_else(|| panic!("no {key} in {said}"));
        let opaque = [
            "reset_token",
            "identity_signature",
            "updated_at",
            "failed_at",
            "goal_id",
            "state_key",
        ];
        if opaque.contains(&key.as_str()) || prose.contains(&key.as_str()) {
            continue;
        }
        match (value, ours) {
            (Value::Object(_), Value::Object(_)) => same_but_tokens_inner(value, ours),
            _ => assert_eq!(ours, value, "{key}"),
        }
    }
}

#[track_caller]
fn same_but_tokens_inner(recorded: &Value, said: &Value) {
    let mut trimmed = recorded.clone();
    // The goal is the answer's; the state is a row of its store.
    for value in [&mut trimmed] {
        if let Some(map) = value.as_object_mut() {
            map.remove("goal_id");
            if let Some(list) = map.remove("host_update_failures") {
                assert_eq!(
                    list.as_array().map(Vec::len),
                    said["host_update_failures"].as_array().map(Vec::len)
                );
            }
        }
    }
    same_but_tokens(&trimmed, said, &[]);
}

/// Row 76: a cadence that was lowered in a wait is restored when the wait ends. Row 83:
/// nothing is climbed that was not acknowledged.
#[test]
fn rows_76_and_83_a_host_climbs_what_it_acknowledged_and_is_reset_at_once() {
    let goal = Goal::new(&[A]);
    let gate = goal.gate("Go on?", &["--global-gate"]);
    let first = app(&goal, &[]);
    assert_eq!(first["recommended_rrule"], "FREQ=MINUTELY;INTERVAL=30");
    // The host crashed before it acknowledged: hours later it is the first step still.
    let late = app(goal.at("15:00"), &[]);
    assert_eq!(late["recommended_rrule"], "FREQ=MINUTELY;INTERVAL=30");
    assert_eq!(late["stateful_backoff"]["progression_index"], 0);
    run_named(&goal, "15:00", &late["ack_hint"]);
    let early = app(goal.at("15:29"), &[]);
    assert_eq!(
        (&early["host_action"], &early["recommended_rrule"]),
        (&json!("none"), &Value::Null)
    );
    let next = app(goal.at("15:30"), &[]);
    assert_eq!(next["recommended_rrule"], "FREQ=MINUTELY;INTERVAL=60");
    // Unacknowledged again, and asked for again.
    assert_eq!(app(goal.at("18:00"), &[])["recommended_rrule"], "FREQ=MINUTELY;INTERVAL=60");
    run_named(&goal, "18:00", &next["ack_hint"]);
    // The host says what it has; another rule is set right without a step.
    let drift = ["--app-automation-current-rrule", "RRULE:FREQ=MINUTELY;INTERVAL=7"];
    let drift = app(goal.at("18:10"), &drift);
    assert_eq!(drift["recommended_rrule"], "FREQ=MINUTELY;INTERVAL=60");
    assert_eq!(drift["stateful_backoff"]["host_observation"]["status"], "drift_detected");

    goal.todo("[P1] Work", &[]);
    goal.ok("gate decide", &["--todo-id", &gate, "--outcome", "approve"]);
    let packet = decide(&goal, APP, &[]);
    let hint = &packet["scheduler_hint"];
    assert_eq!(hint["action"], "run_now");
    assert_eq!(hint["app_automation"]["recommended_rrule"], "FREQ=MINUTELY;INTERVAL=3");
    assert_eq!(hint["app_automation"]["stateful_backoff"]["state_status"], "reset_required");
    // What the hint before asked for is no longer acknowledged.
    let words = next["ack_hint"]["cli_args"].as_array().unwrap().clone();
    let words = words.iter().map(|w| w.as_str().unwrap());
    let refused = goal.sandbox.at("2026-11-29T18:10:00Z").refusal(words);
    assert_eq!(refused["error_code"], "scheduler_hint_changed");
}

/// Row 77: the next look is never later than a monitor that comes due.
#[test]
fn row_77_no_step_is_later_than_the_next_due_monitor() {
    for (minutes, ladder) in [
        (3, json!([3])),
        (7, json!([7])),
        (20, json!([15])),
        (45, json!([15, 30])),
        (180, json!([15, 30, 60])),
    ] {
        let goal = Goal::new(&[A]);
        let due = format!("2026-11-29T{:02}:{:02}:00Z", 12 + minutes / 60, minutes % 60);
        let words =
            ["--task-class", "continuous_monitor", "--target-key", "ci", "--next-due-at", &due];
        goal.todo("Watch", &words);
        let packet = decide(&goal, "generic_cli", &[]);
        let hint = &packet["scheduler_hint"];
        assert_eq!(hint["cadence_class"], "monitor_wait");
        let local = &hint["cold_path_detail"]["local_scheduler"];
        assert_eq!(local["example_progression_minutes"], ladder, "due in {minutes} minutes");
        assert_eq!(hint["next_check_minutes"], ladder[0]);
        let recheck = &hint["cold_path_detail"]["frontier_recheck"];
        assert_eq!(recheck["frontier_recheck_after_seconds"], minutes * 60);
        // Another wait of the same agent is bounded by it, too.
        goal.gate("Go on?", &["--global-gate"]);
        let packet = decide(&goal, "generic_cli", &[]);
        let hint = &packet["scheduler_hint"];
        assert_eq!(hint["cadence_class"], "human_gate");
        let steps = hint["cold_path_detail"]["local_scheduler"]["example_progression_minutes"]
            .as_array()
            .unwrap();
        assert!(steps.iter().all(|m| m.as_u64().unwrap() <= minutes), "{steps:?}");
    }
}

/// A loop that follows its ladder step by step looks at a monitor when it is due, and not
/// more often than the floor.
#[test]
fn a_loop_that_follows_the_ladder_is_there_when_the_monitor_is_due() {
    for due in [4_u64, 14, 15, 16, 31, 46, 59, 60, 61, 100, 119] {
        let goal = Goal::new(&[A]);
        let at = |minute: u64| format!("{:02}:{:02}", 12 + minute / 60, minute % 60);
        let instant = format!("2026-11-29T{}:00Z", at(due));
        let words =
            ["--task-class", "continuous_monitor", "--target-key", "ci", "--next-due-at", &instant];
        goal.todo("Watch", &words);
        let (mut minute, mut unchanged, mut token, mut polls) = (0, 0, String::new(), 0);
        loop {
            let packet = decide(goal.at(&at(minute)), "generic_cli", &[]);
            let hint = &packet["scheduler_hint"];
            if packet["should_run"] == true {
                break;
            }
            polls += 1;
            let said = hint["reset_policy"]["reset_token"].as_str().unwrap().to_owned();
            unchanged = if said == token { unchanged + 1 } else { 0 };
            token = said;
            let ladder =
                &hint["cold_path_detail"]["local_scheduler"]["example_progression_minutes"];
            let ladder = ladder.as_array().unwrap();
            let step = ladder[unchanged.min(ladder.len() - 1)].as_u64().unwrap();
            assert!(step >= 15.min(due - minute), "a step of {step} with {} to go", due - minute);
            minute += step;
            assert!(minute <= due, "due in {due}, looked at in {minute}");
        }
        assert_eq!(minute, due);
        assert!(polls <= due / 15 + 2, "{polls} polls for {due} minutes");
    }
}

/// Row 79: an update that fails again and again is told once in a while, and the failing
/// update is not asked for again.
#[test]
fn row_79_a_failing_host_update_gives_one_notice_and_no_repeat() {
    let goal = Goal::new(&[A]);
    goal.gate("Go on?", &["--global-gate"]);
    let observed = ["--app-automation-current-rrule", "FREQ=MINUTELY;INTERVAL=5"];
    let hint = app(&goal, &observed);
    assert_eq!(hint["apply"], "update_automation_cadence_if_possible");
    run_named(&goal, "12:00", &hint["failure_hint"]);
    let mut told = Vec::new();
    for minute in (5..65).step_by(5) {
        let time = format!("{:02}:{:02}", 12 + minute / 60, minute % 60);
        let packet = decide(goal.at(&time), APP, &observed);
        let hint = &packet["scheduler_hint"];
        assert_eq!(hint["app_automation"]["apply"], "none_recorded_host_failure");
        assert!(hint["app_automation"].get("failure_hint").is_none());
        let notify = packet["interaction_contract"]["user_channel"]["notify"].as_str().unwrap();
        assert_eq!(packet["heartbeat_recommendation"]["notify"], notify, "one notify word");
        assert_eq!(packet["requires_user_action"], notify == "NOTIFY");
        assert_eq!(packet["pending_user_action"] == true, notify == "DONT_NOTIFY");
        if notify == "NOTIFY" {
            told.push(minute);
        }
    }
    assert_eq!(told, [30, 60]);
    // The host changed: it is asked again.
    let changed = ["--app-automation-current-rrule", "FREQ=MINUTELY;INTERVAL=10"];
    assert_eq!(app(&goal, &changed)["apply"], "update_automation_cadence_if_possible");
    // A day later the failure is forgotten.
    let tomorrow = goal.sandbox.at("2026-11-30T12:00:01Z").json([
        "quota",
        "should-run",
        "--goal-id",
        "g",
        "--agent-id",
        A,
        "-A",
        "--app-automation-current-rrule",
        "FREQ=MINUTELY;INTERVAL=5",
    ]);
    let app = &tomorrow["scheduler_hint"]["app_automation"];
    assert_eq!(app["apply"], "update_automation_cadence_if_possible");
}

#[test]
fn each_surface_and_agent_has_its_own_schedule() {
    let goal = Goal::new(&[A, B]);
    goal.gate("Go on?", &["--global-gate"]);
    let ack = |agent: &str, profile: &str| {
        let words = [
            "--agent-id",
            agent,
            "--runtime-profile",
            profile,
            "--applied-rrule",
            "FREQ=MINUTELY;INTERVAL=30",
            "--execute",
        ];
        goal.ok("quota scheduler-ack-current", &words)
    };
    let needed = |agent: &str, profile: &str| {
        let words = ["--agent-id", agent, "--runtime-profile", profile];
        let packet = goal.ok("quota should-run", &words);
        packet["scheduler_hint"]["app_automation"]["host_action"] != "none"
    };
    assert_eq!(ack(A, APP)["scheduler_state_mutated"], true);
    assert!(!needed(A, APP));
    assert!(needed(A, "trae_app") && needed(B, APP));
    assert_eq!(ack(A, "trae_app")["scheduler_ack_event"]["surface"], "trae_app");
    assert!(!needed(A, APP) && !needed(A, "trae_app") && needed(B, APP));
    // A second acknowledgement is answered and writes nothing.
    let commit = goal.ok("history", &[])["commits"][0]["n"].clone();
    let again = ack(A, APP);
    assert_eq!(
        (&again["already_applied"], &again["scheduler_state_mutated"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(goal.ok("history", &[])["commits"][0]["n"], commit);
    // What was acknowledged comes through export and import.
    let file = goal.sandbox.base().join("g.json");
    goal.ok("export", &["--file", file.to_str().unwrap()]);
    let copy = Sandbox::new();
    let now = copy.at("2026-11-29T12:00:00Z");
    now.json(["import", "--file", file.to_str().unwrap()]);
    for profile in [APP, "trae_app"] {
        let words = ["quota", "should-run", "--goal-id", "g", "--agent-id", A];
        let packet = now.json(words.iter().chain(&["--runtime-profile", profile]));
        assert_eq!(
            packet["scheduler_hint"]["app_automation"]["stateful_backoff"]["state_status"],
            "same_identity"
        );
        assert_eq!(packet["scheduler_hint"]["app_automation"]["host_action"], "none");
    }
    assert_eq!(goal.ok("store check", &[])["ok"], true);
}

#[test]
fn a_trae_host_is_told_nothing_of_codex() {
    let goal = Goal::new(&[A]);
    goal.todo("[P1] Work", &[]);
    let packet = decide(&goal, "trae_app", &[]);
    assert!(!packet["scheduler_hint"].to_string().contains("codex_app\":{"));
    assert!(packet["scheduler_hint"].get("codex_app").is_none());
    let app = &packet["scheduler_hint"]["app_automation"];
    assert!(app.get("fallback_hint").is_none());
    assert_eq!(
        (&app["host_surface"], &app["recommended_interval_minutes"]),
        (&json!("trae_app"), &json!(3))
    );
    let same = goal
        .ok("quota should-run", &["--agent-id", A, "--trae_app", "--include-detail", "scheduler"]);
    assert_eq!(same["scheduler_hint"]["app_automation"], *app);
    let codex = decide(&goal, APP, &[]);
    let hint = &codex["scheduler_hint"];
    assert_eq!(hint["codex_app"]["recommended_rrule"], hint["app_automation"]["recommended_rrule"]);
    assert_eq!(hint["codex_app"]["fallback_hint"]["command"], "loopx-apply-rrule");
}

#[test]
fn what_a_host_says_without_need_or_sense_is_refused_and_writes_nothing() {
    let goal = Goal::new(&[A]);
    goal.todo("[P1] Work", &[]);
    let good = ["--applied-rrule", "FREQ=MINUTELY;INTERVAL=3", "--execute"];
    let refused = |words: &[&str]| goal.refused("quota scheduler-ack-current", words);
    let with = |door: &[&'static str], rest: &[&'static str]| -> Vec<&'static str> {
        [&["--agent-id", A][..], door, rest].concat()
    };
    // A loop of its own has no schedule to acknowledge; nor has an unknown surface.
    assert_eq!(refused(&with(&["--runtime-profile", "generic_cli"], &good)), "request_invalid");
    assert_eq!(refused(&with(&[], &good)), "request_invalid");
    assert_eq!(refused(&with(&["--surface", "slack"], &good)), "request_invalid");
    assert_eq!(refused(&with(&["-A", "--surface", "trae_app"], &good)), "request_invalid");
    let other = ["--applied-rrule", "FREQ=MINUTELY;INTERVAL=4", "--execute"];
    assert_eq!(refused(&with(&["-A"], &other)), "scheduler_hint_changed");
    assert_eq!(refused(&with(&["-A"], &["--execute"])), "request_invalid");
    let token = [&good[..], &["--reset-token", "bad"]].concat();
    assert_eq!(refused(&with(&["-A"], &token)), "scheduler_hint_changed");
    let key = [&good[..], &["--state-key", "other"]].concat();
    assert_eq!(refused(&with(&["-A"], &key)), "request_invalid");
    let looked = [&good[..], &["--host-match-observed"]].concat();
    assert_eq!(refused(&with(&["-A"], &looked)), "request_invalid");
    let strange = ["--agent-id", A, "-A", "--app-automation-current-rrule", "/home/x;$(rm)"];
    let said = goal
        .sandbox
        .at("2026-11-29T12:00:00Z")
        .run(["quota", "should-run", "--goal-id", "g"].iter().chain(&strange));
    assert_eq!(said.code, 1);
    assert!(!said.stdout.contains("/home/x"));
    // Without the token or the word for it, which hint is meant is not known.
    let plain = with(&["-A"], &good);
    assert_eq!(goal.refused("quota scheduler-ack", &plain), "request_invalid");
    let failed = with(&["-A"], &["--failed-rrule", "FREQ=MINUTELY;INTERVAL=9", "--execute"]);
    assert_eq!(goal.refused("quota scheduler-fail-current", &failed), "scheduler_hint_changed");
    // A preview writes nothing.
    let preview = goal.ok("quota scheduler-ack-current", &with(&["-A"], &good[..2]));
    assert_eq!(
        (&preview["dry_run"], &preview["scheduler_state_mutated"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(app(&goal, &[])["stateful_backoff"]["state_status"], "missing");
    // A stopped goal has no schedule: its automation is to be deleted.
    goal.ok("goal stop", &[]);
    let stopped = app(&goal, &[]);
    assert_eq!(stopped["host_action"], "pause_or_delete_current_heartbeat");
    assert_eq!(refused(&with(&["-A"], &good)), "scheduler_hint_changed");
}

/// A host's bookkeeping is no work: the run that an agent is offered once stands after it.
#[test]
fn an_acknowledgement_is_no_attempt_at_what_was_offered() {
    let goal = Goal::new(&[A]);
    assert_eq!(goal.rule(A).0, "run", "an empty goal is planned");
    for (n, minute) in ["12:00", "12:05", "12:30"].iter().enumerate() {
        let hint = app(goal.at(minute), &[]);
        let rrule = hint["stateful_backoff"]["current_rrule"].as_str().unwrap().to_owned();
        let words = ["--agent-id", A, "-A", "--applied-rrule", &rrule, "--execute"];
        let effect = format!("ack-{n}");
        let words = [&words[..], &["--effect-id", &effect]].concat();
        goal.ok("quota scheduler-ack-current", &words);
        goal.ok("quota should-run", &["--agent-id", A, "--record-host-poll"]);
        assert_eq!(goal.rule(A).0, "run", "{minute}");
    }
}

/// Row 124, for every door: no profile makes a packet larger than its budget, and what a
/// host needs to act is in it.
#[test]
fn no_door_makes_a_packet_larger_than_its_budget() {
    let sandbox = Sandbox::new();
    let now = sandbox.at("2026-11-29T12:00:00Z");
    let (short, long) = (("g", A), ("g".repeat(128), "a".repeat(80)));
    for (goal, agent) in [(short.0, short.1), (long.0.as_str(), long.1.as_str())] {
        now.json(["goal", "create", "--goal-id", goal, "--objective", "o", "--agent-id", agent]);
        let text = format!("[P1] {}", "\"\u{1f680} long \\ ".repeat(400));
        now.json(["todo", "add", "--goal-id", goal, "--role", "agent", "--text", &text]);
        for profile in loopx_core::schedule::context::PROFILES {
            let words = ["quota", "should-run", "--goal-id", goal, "--agent-id", agent];
            let output = now.run(words.iter().chain(&["--runtime-profile", profile.name]));
            let bytes = output.stdout.len();
            assert!(bytes <= PACKET_BUDGET + 1, "{}: {bytes} bytes", profile.name);
            let packet: Value = serde_json::from_str(&output.stdout).unwrap();
            let app = &packet["scheduler_hint"]["app_automation"];
            let is_app = profile.scheduler_owner == "host_automation";
            assert_eq!(app["recommended_rrule"].is_string(), is_app, "{}", profile.name);
            if goal == "g" && is_app {
                assert!(app["ack_hint"]["cli_args"].is_array(), "{}", profile.name);
            }
        }
        let words = ["quota", "should-run", "--goal-id", goal, "--agent-id", agent];
        let wrong = ["-H", "ark_managed_agent", "-O", "agent_cli_loop", "-M", "hosted_automation"];
        let output = now.run(words.iter().chain(&wrong));
        assert!(output.stdout.len() <= PACKET_BUDGET + 1, "{} bytes", output.stdout.len());
        let packet: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(packet["should_run"], true, "the decision stands");
        let hint = &packet["scheduler_hint"];
        assert_eq!(hint["action"], "repair_scheduler_execution_context");
        assert_eq!(hint["unchanged_poll"]["local_scheduler"], "stop_until_context_repaired");
        let errors = |packet: &Value| {
            let error = &packet["scheduler_hint"]["consistency_error"];
            error["errors"].as_array().map_or(0, Vec::len)
        };
        assert!((1..=5).contains(&errors(&packet)), "{hint}");
        let whole = words.iter().chain(&wrong).chain(&["--include-detail", "scheduler"]);
        assert_eq!(errors(&now.json(whole)), 5);
    }
}

/// Rule 9 tells a person and gives the agent other work: its packet has both.
#[test]
fn a_packet_with_gates_beside_work_keeps_its_commands() {
    let goal = Goal::new(&[A]);
    let blocked = goal.todo("[P0] Ship the first part of the release to everybody", &[]);
    for n in 0..3 {
        let question = format!("May part {n} of the release go out to all customers this week?");
        goal.gate(&question, &["--unblocks-todo-id", &blocked]);
    }
    goal.todo("[P1] Write the release notes for the second part of the release", &[]);
    let words = ["--agent-id", A, "--runtime-profile", "generic_cli"];
    let packet = goal.ok("quota should-run", &words);
    assert_eq!(packet["rule"], "gate_fallback");
    let commands = &packet["interaction_contract"]["cli_channel"]["next_cli_actions"];
    assert!(packet.to_string().len() <= PACKET_BUDGET);
    // One that leads to the others, where there is no room for them.
    let first = commands[0].as_str().unwrap_or_else(|| panic!("no command in {packet}"));
    let words: Vec<String> =
        first.replace("TURN", "t-1").split(' ').skip(1).map(Into::into).collect();
    let admitted = goal.sandbox.at("2026-11-29T12:00:00Z").json(&words);
    assert_eq!(admitted["selected_todo"]["todo_id"], packet["selected_todo"]["todo_id"]);
    let next = &admitted["interaction_contract"]["cli_channel"]["next_cli_actions"];
    assert!(next[0].as_str().is_some_and(|c| c.starts_with("loopx turn settle")), "{admitted}");
    let receipt = admitted["heartbeat_receipt"].to_string().len() + "\"heartbeat_receipt\":,".len();
    assert!(admitted.to_string().len() <= PACKET_BUDGET + receipt);
}

/// The rest of the stable block comes where there is room, and always on request.
#[test]
fn the_stable_block_is_whole_where_it_fits_and_on_request() {
    let goal = Goal::new(&[A, B]);
    goal.todo("[P1] Work", &[]);
    let packet = goal.ok("quota should-run", &["--agent-id", A, "--include-detail", "scheduler"]);
    let fields = [
        "/quota/reason",
        "/heartbeat_recommendation/source",
        "/heartbeat_recommendation/spend_policy",
        "/heartbeat_recommendation/reason",
        "/execution_obligation/reason",
        "/agent_identity/schema_version",
        "/agent_identity/agent_model",
        "/agent_identity/registered_agents",
        "/action_required",
        "/scheduler_hint/detail_ref",
        "/scheduler_hint/unchanged_identity_keys",
    ];
    for path in fields {
        assert!(packet.pointer(path).is_some_and(|v| !v.is_null()), "{path}");
    }
    assert_eq!(packet["agent_identity"]["registered_agents"], json!([A, B]));
    // Paths of the identity lead somewhere in the packet, or to what is not there.
    goal.ok("goal stop", &[]);
    let stopped = goal.ok("quota should-run", &["--agent-id", A]);
    assert!(stopped.pointer("/quota/reason").is_some(), "there is room: {stopped}");
}

#[test]
fn a_host_poll_is_counted_and_changes_no_decision() {
    let recorded: BTreeMap<String, Value> = rows("host_poll_receipt")
        .into_iter()
        .map(|row| (row["case"].as_str().unwrap().to_owned(), row["seed_expected"].clone()))
        .collect();
    let goal = Goal::new(&[A]);
    goal.todo("[P1] Work", &[]);
    let poll = |words: &[&str]| {
        goal.ok("quota should-run", &[&["--agent-id", A, "--record-host-poll"], words].concat())
    };
    let plain = goal.decision(A);
    let mut packet = poll(&[]);
    let receipt = packet["host_poll_receipt"].clone();
    assert_eq!(receipt["poll_count"], recorded["absent"]["poll_count"]);
    assert_eq!(receipt["recorded"], recorded["absent"]["recorded"]);
    assert_eq!(receipt["expected_continuation"], true);
    packet.as_object_mut().unwrap().remove("host_poll_receipt");
    assert_eq!(packet, plain);
    assert_eq!(goal.ok("status", &[])["agents"][0]["last_seen"], "2026-11-29T12:00:00Z");
    let state =
        goal.sandbox.project().join(goal.sandbox.entry("g")["state_file"].as_str().unwrap());
    let left = state.parent().unwrap().join(".loopx-host-poll-receipts/g.json");
    let first: Value = serde_json::from_slice(&fs::read(&left).unwrap()).unwrap();
    let with = |key: &str, value: Value| {
        let mut receipt = first.clone();
        receipt[key] = value;
        receipt.to_string().into_bytes()
    };
    for (case, bytes) in [
        ("valid count 3", with("poll_count", json!(3))),
        ("invalid JSON bytes {bad", b"{bad".to_vec()),
        ("undecodable UTF-8", b"\xff\xfe".to_vec()),
        ("schema_version other", with("schema_version", json!("other"))),
        ("other goal_id, count 1", with("goal_id", json!("h"))),
    ] {
        fs::write(&left, &bytes).unwrap();
        let packet = poll(&[]);
        let (receipt, expected) = (&packet["host_poll_receipt"], &recorded[case]);
        assert_eq!(receipt["recorded"], expected["recorded"], "{case}");
        if expected["recorded"] == true {
            assert_eq!(receipt["poll_count"], expected["poll_count"], "{case}");
        } else {
            assert_eq!(fs::read(&left).unwrap(), bytes, "{case}: the bytes are kept");
        }
        assert_eq!(packet["rule"], plain["rule"], "{case}");
    }
    fs::remove_file(&left).unwrap();
    // A terminal goal is not expected to come back.
    let todo = id(&goal.ok("todo list", &[])["todos"][0]);
    let words = ["--todo-id", &todo, "--agent-id", A, "--evidence", "e", "--no-follow-up"];
    goal.ok("todo complete", &words);
    assert_eq!(poll(&[])["host_poll_receipt"]["expected_continuation"], false);
    // Where it cannot be recorded, the decision is given all the same.
    let goal = Goal::new(&[A, B]);
    goal.todo("[P1] Work", &[]);
    let nobody = goal.ok("quota should-run", &["--record-host-poll"]);
    assert_eq!(nobody["host_poll_receipt"]["recorded"], false);
    assert!(nobody["host_poll_receipt"]["error"].as_str().is_some_and(|e| !e.is_empty()));
    assert_eq!(nobody["effective_action"], "automation_prompt_upgrade_required");
}

/// Row 64: an agent that is always told to go on is stopped by the window. Row 74: one that
/// does nothing comes to an end by itself.
#[test]
fn rows_64_and_74_nothing_runs_for_ever() {
    let goal = Goal::new(&[A]);
    let offer = goal.ok("quota should-run", &["--agent-id", A, "--include-detail", "scheduler"]);
    let hint = &offer["scheduler_hint"];
    assert_eq!(hint["reason_code"], "offer_pending", "a plain read is not told to run at once");
    let ladder = &hint["cold_path_detail"]["local_scheduler"]["example_progression_minutes"];
    assert_eq!(*ladder, json!([3, 10, 30, 60]));
    // Bound, it is the one attempt; unsettled, it is not offered again.
    let words = ["--agent-id", A, "--turn-instance-id", "t-1"];
    let bound = goal.ok("turn admit", &words);
    assert_eq!(bound["scheduler_hint"]["action"], "run_now");
    let next = decide(goal.at("13:30"), "generic_cli", &[]);
    assert_eq!((&next["rule"], &next["should_run"]), (&json!("stalled"), &json!(false)));
    assert_eq!(next["scheduler_hint"]["cadence_class"], "human_gate");
    assert_eq!(next["scheduler_hint"]["unchanged_poll"]["limits"]["local_scheduler"], 3);
    assert_eq!(next["interaction_contract"]["user_channel"]["action_required"], true);
}

/// Rows 70 and 71: what somebody writes ends nothing; the typed completion does. Row 73:
/// the turn that takes the last slot may end the goal.
#[test]
fn rows_70_71_and_73_only_a_typed_completion_ends_a_goal_also_with_the_last_slot() {
    let sandbox = Sandbox::new();
    let now = sandbox.at("2026-11-29T12:00:00Z");
    let create = ["goal", "create", "--goal-id", "g", "--objective", "o", "--agent-id", A];
    now.json(create.iter().chain(&["--allowed-slots", "1"]));
    let say = |words: &[&str]| now.json(words.iter().chain(&["--goal-id", "g", "--agent-id", A]));
    let todo =
        id(&now.json(["todo", "add", "--goal-id", "g", "--role", "agent", "--text", "DONE"]));
    for text in ["DONE", "<promise>COMPLETE</promise>", " ", "terminal_no_followup"] {
        if !text.trim().is_empty() {
            say(&["todo", "update", "--todo-id", &todo, "--note", text]);
        }
        let said = say(&["quota", "should-run"]);
        assert_eq!(
            (&said["rule"], &said["scheduler_hint"]["action"]),
            (&json!("run"), &json!("run_now"))
        );
    }
    say(&["turn", "admit", "--turn-instance-id", "t-1"]);
    let settle = ["turn", "settle", "--turn-instance-id", "t-1", "--outcome", "completed"];
    let settled = say(&[&settle[..], &["--evidence", "e", "--no-follow-up"]].concat());
    assert_eq!(settled["next"]["rule"], "terminal");
    let said = say(&["quota", "should-run"]);
    assert_eq!(said["quota"]["spent_slots"], said["quota"]["allowed_slots"]);
    assert_eq!(said["scheduler_hint"]["unchanged_poll"]["local_scheduler"], "stop");
    assert_eq!(said["goal_frontier_projection"]["terminal_state"]["kind"], "no_followup");
}
