//! A turn is admitted once and settled once: what each outcome does, what late, fenced
//! and repeated settlements come to, and what frees a turn that nobody settles.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::Goal;
use loopx_tests::{Output, at_once};
use serde_json::{Value, json};
use std::process::Command;

const A: &str = "agent-a";
const B: &str = "agent-b";

/// Words, split at blanks.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[track_caller]
fn admit(goal: &Goal, agent: &str, turn: &str) -> Value {
    goal.ok("turn admit", &["--agent-id", agent, "--turn-instance-id", turn])
}

#[track_caller]
fn settle(goal: &Goal, agent: &str, turn: &str, rest: &str) -> Value {
    let mut all = vec!["--agent-id", agent, "--turn-instance-id", turn, "--outcome"];
    all.extend(words(rest));
    goal.ok("turn settle", &all)
}

#[track_caller]
fn settle_refused(goal: &Goal, agent: &str, turn: &str, rest: &str) -> String {
    let mut all = vec!["--agent-id", agent, "--turn-instance-id", turn, "--outcome"];
    all.extend(words(rest));
    goal.refused("turn settle", &all)
}

#[track_caller]
fn shown(goal: &Goal, turn: &str) -> Value {
    goal.ok("turn show", &["--turn-instance-id", turn])
}

#[track_caller]
fn state(goal: &Goal, turn: &str) -> String {
    shown(goal, turn)["turn"]["state"].as_str().unwrap().to_owned()
}

#[track_caller]
fn quota(goal: &Goal) -> Value {
    goal.ok("quota status", &[])["goals"][0].clone()
}

/// (spent, reserved, overrun).
#[track_caller]
fn slots(goal: &Goal) -> (u64, u64, u64) {
    let row = quota(goal);
    let of = |key: &str| row[key].as_u64().unwrap();
    (of("spent_slots"), of("reserved_slots"), of("overrun_slots"))
}

#[track_caller]
fn commits(goal: &Goal) -> u64 {
    goal.ok("goal show", &[])["commit"].as_u64().unwrap()
}

#[track_caller]
fn leased(goal: &Goal, todo: &str) -> bool {
    let found = goal.ok("task-lease inspect", &["--todo-id", todo]);
    found["active"].as_bool().unwrap()
}

/// Without the remark that it is a repeat.
fn receipt(mut value: Value) -> Value {
    let map = value.as_object_mut().unwrap();
    map.remove("idempotent_replay");
    if let Some(receipt) = map.get_mut("heartbeat_receipt").and_then(Value::as_object_mut) {
        receipt.remove("status");
    }
    value
}

/// Two agents, so many slots, one open todo.
fn world(allowed: &str) -> (Goal, String) {
    let goal = Goal::new(&[A, B]);
    allow(&goal, allowed);
    let todo = goal.todo("[P1] one", &[]);
    (goal, todo)
}

fn allow(goal: &Goal, allowed: &str) {
    let path = goal.sandbox.registry();
    let mut registry: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    registry["goals"][0]["quota"]["allowed_slots"] = json!(allowed.parse::<u64>().unwrap());
    std::fs::write(&path, serde_json::to_vec_pretty(&registry).unwrap()).unwrap();
    assert_eq!(quota(goal)["allowed_slots"], json!(allowed.parse::<u64>().unwrap()));
}

fn parallel(goal: &Goal, times: usize, of: impl Fn(usize) -> String) -> Vec<Output> {
    let call = goal.sandbox.at("2026-11-29T12:00:00Z");
    let commands: Vec<Command> =
        (0..times).map(|n| call.command(of(n).split_whitespace())).collect();
    at_once(commands)
}

// ---- admission ----

#[test]
fn an_admission_takes_slot_claim_and_lease_in_one_commit() {
    let (goal, todo) = world("3");
    let before = commits(&goal);
    let packet = admit(&goal, A, "t-1");
    assert_eq!((&packet["should_run"], &packet["rule"]), (&json!(true), &json!("run")));
    assert_eq!(packet["selected_todo"]["todo_id"], todo);
    assert_eq!(commits(&goal), before + 1);
    assert_eq!(slots(&goal), (0, 1, 0));
    assert_eq!(goal.shown(&todo)["claimed_by"], A);
    let turn = shown(&goal, "t-1");
    assert_eq!(turn["turn"]["todo_id"], todo);
    assert_eq!(turn["turn"]["expires_at"], "2026-11-29T13:00:00Z", "60 minutes by default");
    assert_eq!(turn["lease"]["owner"], A);
    assert_eq!(turn["lease"]["turn_id"], "t-1");
    assert_eq!(turn["lease"]["expires_at"], "2026-11-29T13:00:00Z");
    // And nobody else is sent to it.
    assert_eq!(goal.rule(B).0, "reassignment_required");
}

#[test]
fn a_repeated_admission_is_the_first_one_whatever_has_happened_since() {
    let (goal, _) = world("3");
    let first = receipt(admit(&goal, A, "t-1"));
    goal.todo("[P0] more urgent", &[]);
    assert_eq!(receipt(admit(&goal, A, "t-1")), first);
    // should-run with the turn is the same write.
    let asked = goal.ok("quota should-run", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    assert_eq!(asked["heartbeat_receipt"]["status"], "replayed");
    assert_eq!(receipt(asked), first);
    settle(&goal, A, "t-1", "no_change");
    goal.at("12:30");
    assert_eq!(receipt(admit(&goal, A, "t-1")), first);
    assert_eq!(slots(&goal), (0, 0, 0));
    // For another agent it is refused.
    let other = goal.refused("turn admit", &["--agent-id", B, "--turn-instance-id", "t-1"]);
    assert_eq!(other, "turn_conflict");
}

#[test]
fn a_skip_is_a_receipt_that_holds_nothing_and_is_not_settled() {
    let goal = Goal::new(&[A, B]);
    let todo = goal.todo("[P1] one", &["--claimed-by", B]);
    let packet = admit(&goal, A, "t-1");
    assert_eq!(packet["should_run"], false);
    assert_eq!(state(&goal, "t-1"), "skipped");
    assert_eq!(slots(&goal), (0, 0, 0));
    assert!(!leased(&goal, &todo));
    for outcome in ["progress --evidence e", "no_change", "failed", "blocked --reason r"] {
        assert_eq!(settle_refused(&goal, A, "t-1", outcome), "turn_not_live", "{outcome}");
    }
    // The repeat is the skip, also when there is work now: a new wake is a new turn.
    goal.todo("[P1] two", &[]);
    assert_eq!(admit(&goal, A, "t-1")["should_run"], false);
    assert_eq!(admit(&goal, A, "t-2")["should_run"], true);
}

#[test]
fn a_time_to_live_is_a_second_to_a_day() {
    let (goal, _) = world("3");
    for ttl in ["0", "86401"] {
        let rest = ["--agent-id", A, "--turn-instance-id", "t-1", "--ttl-seconds", ttl];
        assert_eq!(goal.refused("turn admit", &rest), "invalid_ttl", "{ttl}");
    }
    let rest = ["--agent-id", A, "--turn-instance-id", "t-1", "--ttl-seconds", "86400"];
    goal.ok("turn admit", &rest);
    assert_eq!(shown(&goal, "t-1")["turn"]["expires_at"], "2026-11-30T12:00:00Z");
}

/// X2.
#[test]
fn with_one_slot_left_parallel_admissions_give_one_run() {
    let (goal, _) = world("1");
    for n in 0..8 {
        goal.todo(&format!("[P1] more {n}"), &[]);
    }
    let outputs = parallel(&goal, 8, |n| {
        let agent = [A, B][n % 2];
        format!("turn admit --goal-id g --agent-id {agent} --turn-instance-id t-{n}")
    });
    let packets: Vec<Value> = outputs.iter().map(Output::json).collect();
    let runs = packets.iter().filter(|p| p["should_run"] == true).count();
    assert_eq!(runs, 1, "{:?}", packets.iter().map(|p| &p["rule"]).collect::<Vec<_>>());
    for packet in packets.iter().filter(|p| p["should_run"] == false) {
        assert_eq!(packet["rule"], "throttled");
    }
    assert_eq!(slots(&goal), (0, 1, 0));
}

#[test]
fn parallel_repeats_of_one_admission_give_one_receipt() {
    let (goal, _) = world("3");
    let outputs = parallel(&goal, 16, |_| {
        format!("turn admit --goal-id g --agent-id {A} --turn-instance-id t-1")
    });
    let first = receipt(outputs[0].json());
    for output in &outputs {
        assert_eq!(receipt(output.json()), first);
    }
    assert_eq!(slots(&goal), (0, 1, 0));
}

#[test]
fn two_agents_at_one_moment_take_two_todos() {
    for round in 0..4 {
        let (goal, _) = world("9");
        goal.todo("[P1] two", &[]);
        let outputs = parallel(&goal, 2, |n| {
            format!("turn admit --goal-id g --agent-id {} --turn-instance-id t-{n}", [A, B][n])
        });
        let taken: Vec<Value> =
            outputs.iter().map(|o| o.json()["selected_todo"]["todo_id"].clone()).collect();
        assert!(taken.iter().all(Value::is_string), "round {round}: {taken:?}");
        assert_ne!(taken[0], taken[1], "round {round}");
    }
}

// ---- the table of outcomes ----

#[test]
fn progress_keeps_todo_claim_and_lease_and_spends_one() {
    let (goal, todo) = world("3");
    admit(&goal, A, "t-1");
    let before = commits(&goal);
    let said = settle(&goal, A, "t-1", "progress --evidence one --evidence two");
    assert_eq!(commits(&goal), before + 1);
    assert_eq!((&said["spent_slots"], &said["status"]), (&json!(1), &json!("open")));
    assert_eq!(slots(&goal), (1, 0, 0));
    assert_eq!(goal.shown(&todo)["status"], "open");
    assert_eq!(goal.shown(&todo)["claimed_by"], A);
    assert!(leased(&goal, &todo), "the lease is kept");
    let evidence = goal.ok("export", &[]).to_string();
    assert!(evidence.contains("\"text\":\"one\"") && evidence.contains("\"text\":\"two\""));
    // The advice is what a poll would answer.
    let polled = goal.decision(A);
    for key in ["rule", "should_run", "decision", "effective_action", "selected_todo"] {
        assert_eq!(said["next"][key], polled[key], "{key}");
    }
    assert!(said["next"]["scheduler_hint"]["next_check_minutes"].is_u64());
}

#[test]
fn completed_ends_todo_and_lease_and_spends_one() {
    for (flags, continuation) in [
        ("--no-follow-up", "no_followup"),
        ("--next-agent-todo more", "successor"),
        ("", "active_goal"),
    ] {
        let (goal, todo) = world("3");
        admit(&goal, A, "t-1");
        let said = settle(&goal, A, "t-1", &format!("completed --evidence e {flags}"));
        assert_eq!(said["completion_continuation"], continuation);
        assert_eq!(said["spent_slots"], 1);
        assert_eq!(slots(&goal), (1, 0, 0));
        assert_eq!(goal.shown(&todo)["status"], "done");
        assert!(!leased(&goal, &todo));
        let next = match continuation {
            "no_followup" => "terminal",
            "successor" => "run",
            _ => "replan",
        };
        assert_eq!(said["next"]["rule"], next);
    }
}

#[test]
fn completed_with_an_existing_successor_links_it() {
    let (goal, todo) = world("3");
    let second = goal.todo("[P2] two", &[]);
    admit(&goal, A, "t-1");
    settle(&goal, A, "t-1", &format!("completed --evidence e --successor-todo-id {second}"));
    assert_eq!(goal.shown(&todo)["successor_todo_ids"], json!([second]));
}

#[test]
fn blocked_keeps_the_reason_spends_nothing_and_frees_the_lease() {
    let (goal, todo) = world("3");
    admit(&goal, A, "t-1");
    assert_eq!(settle_refused(&goal, A, "t-1", "blocked"), "reason_required");
    let said = settle(&goal, A, "t-1", "blocked --reason upstream");
    assert_eq!(said["spent_slots"], 0);
    assert_eq!(slots(&goal), (0, 0, 0));
    let shown = goal.shown(&todo);
    assert_eq!((&shown["status"], &shown["reason"]), (&json!("blocked"), &json!("upstream")));
    assert!(!leased(&goal, &todo));
}

#[test]
fn no_change_and_failed_leave_the_todo_and_spend_nothing() {
    for outcome in ["no_change", "failed"] {
        let (goal, todo) = world("3");
        admit(&goal, A, "t-1");
        let before = goal.shown(&todo);
        let said = settle(&goal, A, "t-1", outcome);
        assert_eq!(said["spent_slots"], 0);
        assert_eq!(slots(&goal), (0, 0, 0));
        assert_eq!(goal.shown(&todo), before);
        assert_eq!(state(&goal, "t-1"), "settled");
        assert_eq!(goal.rule(A), ("run".to_owned(), todo), "the agent may go on with it");
    }
}

#[test]
fn delivery_needs_evidence() {
    let (goal, todo) = world("3");
    admit(&goal, A, "t-1");
    for outcome in ["progress", "completed"] {
        assert_eq!(settle_refused(&goal, A, "t-1", outcome), "evidence_required");
        let all = [
            "--agent-id",
            A,
            "--turn-instance-id",
            "t-1",
            "--outcome",
            outcome,
            "--evidence",
            "  ",
        ];
        assert_eq!(goal.refused("turn settle", &all), "evidence_required");
    }
    assert_eq!(slots(&goal), (0, 1, 0), "a refused settlement changes nothing");
    assert_eq!(goal.shown(&todo)["status"], "open");
}

#[test]
fn a_turn_that_was_never_admitted_is_not_settled_and_the_way_is_named() {
    let (goal, _) = world("3");
    let all = words(
        "turn settle --goal-id g --agent-id agent-a --turn-instance-id t-9 --outcome no_change",
    );
    let refused = goal.sandbox.at("2026-11-29T12:00:00Z").refusal(all);
    assert_eq!(refused["error_code"], "turn_unknown");
    assert_eq!(
        refused["next_command"],
        "loopx turn admit --goal-id g --agent-id agent-a --turn-instance-id t-9"
    );
    admit(&goal, A, "t-1");
    assert_eq!(settle_refused(&goal, B, "t-1", "no_change"), "turn_conflict");
}

#[test]
fn a_turn_on_a_monitor_is_a_poll_in_every_outcome() {
    for outcome in [
        "progress --evidence e",
        "no_change",
        "failed",
        "blocked --reason r",
        "completed --evidence e --no-follow-up",
    ] {
        let goal = Goal::new(&[A]);
        let rest = words(
            "--task-class continuous_monitor --cadence 30m --next-due-at 2026-11-29T12:00:00Z",
        );
        let monitor = goal.todo("watch", &rest);
        let packet = admit(&goal, A, "t-1");
        assert_eq!(packet["selected_todo"]["todo_id"], monitor, "{outcome}");
        goal.at("12:05");
        settle(&goal, A, "t-1", outcome);
        if outcome.starts_with("completed") {
            assert_eq!(goal.shown(&monitor)["status"], "done");
            continue;
        }
        let shown = goal.shown(&monitor);
        assert_eq!(shown["last_checked_at"], "2026-11-29T12:05:00Z", "{outcome}: {shown}");
        assert_eq!(shown["next_due_at"], "2026-11-29T12:35:00Z", "{outcome}: {shown}");
    }
}

// ---- replan attempts ----

/// A goal whose agent has to think again; the turn of that.
fn replan(turn: &str) -> Goal {
    let (goal, _) = world("9");
    admit(&goal, A, "t-0");
    settle(&goal, A, "t-0", "completed --evidence e");
    let packet = admit(&goal, A, turn);
    assert_eq!(packet["rule"], "replan");
    goal
}

#[test]
fn a_replan_is_resolved_by_an_accepted_delta_and_by_nothing_else() {
    let goal = replan("t-1");
    settle(&goal, A, "t-1", "progress --evidence e --next-agent-todo more");
    assert_eq!(goal.rule(A).0, "run");

    // Without a delta it stays attempted: not offered again, and the user is told.
    for outcome in ["progress --evidence e", "no_change"] {
        let goal = replan("t-1");
        settle(&goal, A, "t-1", outcome);
        assert_eq!(goal.rule(A).0, "stalled", "{outcome}");
        assert_eq!(goal.decision(A)["reason_code"], "replan_paused", "{outcome}");
        // Other work goes on.
        let todo = goal.todo("[P1] other", &[]);
        assert_eq!(goal.rule(A), ("run".to_owned(), todo));
    }
    for outcome in ["completed --evidence e", "blocked --reason r"] {
        let goal = replan("t-1");
        let code = settle_refused(&goal, A, "t-1", outcome);
        assert_eq!(code, "nothing_to_complete", "{outcome}");
    }
}

/// Its outcome is known: the attempt was made and failed. It is not offered again, other
/// obligations are, and the loop goes on.
#[test]
fn a_replan_settled_as_failed_is_an_attempt_and_holds_no_other_back() {
    let goal = replan("t-1");
    settle(&goal, A, "t-1", "failed");
    assert_eq!(goal.rule(A).0, "stalled");
    assert_eq!(goal.decision(A)["reason_code"], "replan_paused");
    goal.ok("feedback", &["--agent-id", A, "--text", "think again"]);
    assert_eq!(goal.rule(A).0, "replan", "another obligation matches");
    assert_eq!(admit(&goal, A, "t-2")["rule"], "replan");
    settle(&goal, A, "t-2", "failed");
    assert_eq!(goal.decision(A)["reason_code"], "replan_paused", "each is tried once");
    let todo = goal.todo("[P1] other", &[]);
    assert_eq!(goal.rule(A), ("run".to_owned(), todo));

    // Also late, of a turn whose outcome nobody knew.
    let goal = replan("t-1");
    goal.at("13:01");
    assert_eq!(goal.decision(A)["reason_code"], "replan_outcome_unknown");
    assert_eq!(settle(&goal, A, "t-1", "failed")["late"], true);
    assert_eq!(goal.decision(A)["reason_code"], "replan_paused");
}

#[test]
fn an_unknown_replan_is_cleared_by_settling_that_exact_turn() {
    type End = fn(&Goal);
    let ends: [(&str, End); 2] = [
        ("released", |goal| {
            goal.ok("turn release", &["--agent-id", A, "--turn-instance-id", "t-1"]);
        }),
        ("expired", |goal| {
            goal.at("13:01");
        }),
    ];
    for (name, end) in ends {
        let goal = replan("t-1");
        end(&goal);
        let asked = goal.decision(A);
        assert_eq!(asked["rule"], "stalled", "{name}");
        assert_eq!(asked["reason_code"], "replan_outcome_unknown", "{name}");
        // No other obligation matches while it is unknown; other work goes on.
        goal.ok("feedback", &["--agent-id", A, "--text", "think again"]);
        assert_eq!(goal.rule(A).0, "stalled", "{name}");
        let todo = goal.todo("[P1] other", &[]);
        assert_eq!(goal.rule(A), ("run".to_owned(), todo.clone()), "{name}");
        goal.ok("todo complete", &["--agent-id", A, "--todo-id", &todo, "--evidence", "e"]);
        assert_eq!(goal.decision(A)["reason_code"], "replan_outcome_unknown", "{name}");
        let said = settle(&goal, A, "t-1", "no_change");
        assert_eq!(said["late"], true, "{name}");
        assert_eq!(goal.rule(A).0, "replan", "the newer obligation matches now ({name})");
    }
}

// ---- repeats, next admission, resume ----

#[test]
fn a_repeated_settlement_is_the_first_receipt_and_another_body_a_conflict() {
    let (goal, _) = world("3");
    admit(&goal, A, "t-1");
    let first = settle(&goal, A, "t-1", "progress --evidence e");
    goal.at("12:20");
    let again = settle(&goal, A, "t-1", "progress --evidence e");
    assert_eq!(again["idempotent_replay"], true);
    assert_eq!(receipt(again), receipt(first));
    assert_eq!(slots(&goal), (1, 0, 0));
    for other in ["progress --evidence f", "no_change", "completed --evidence e"] {
        assert_eq!(settle_refused(&goal, A, "t-1", other), "effect_conflict", "{other}");
    }
}

/// X1.
#[test]
fn sixteen_parallel_settlements_debit_once_and_answer_alike() {
    let (goal, _) = world("9");
    admit(&goal, A, "t-1");
    let outputs = parallel(&goal, 16, |_| {
        format!(
            "turn settle --goal-id g --agent-id {A} --turn-instance-id t-1 --outcome progress --evidence e"
        )
    });
    for output in &outputs {
        assert_eq!(output.code, 0, "{output}");
        assert_eq!(receipt(output.json()), receipt(outputs[0].json()));
    }
    let replays = outputs.iter().filter(|o| o.json()["idempotent_replay"] == true).count();
    assert_eq!(replays, 15);
    assert_eq!(slots(&goal), (1, 0, 0));
}

/// X3: the whole turn is two calls, and each is one commit.
#[test]
fn a_whole_turn_is_two_calls_and_two_commits() {
    let (goal, todo) = world("3");
    let before = commits(&goal);
    admit(&goal, A, "t-1");
    settle(&goal, A, "t-1", "completed --evidence e --no-follow-up");
    assert_eq!(commits(&goal), before + 2);
    assert_eq!(goal.shown(&todo)["status"], "done");
    assert_eq!(slots(&goal), (1, 0, 0));
    assert_eq!(goal.rule(A).0, "terminal");
}

#[test]
fn the_next_turn_is_admitted_in_the_same_write() {
    let (goal, first) = world("2");
    let second = goal.todo("[P2] two", &[]);
    admit(&goal, A, "t-1");
    let said = settle(&goal, A, "t-1", "completed --evidence e --no-follow-up --admit-next t-2");
    assert_eq!(said["next"]["should_run"], true);
    assert_eq!(said["next"]["selected_todo"]["todo_id"], second);
    assert_eq!(goal.shown(&first)["status"], "done");
    assert_eq!(slots(&goal), (1, 1, 0));
    assert_eq!(goal.shown(&second)["claimed_by"], A);
    assert!(leased(&goal, &second));
    let replayed = admit(&goal, A, "t-2");
    assert_eq!(replayed["heartbeat_receipt"]["status"], "replayed");
    assert_eq!(receipt(replayed), receipt(said["next"].clone()));
    // The window is full with the next one: it is answered with a skip, and settled still.
    goal.todo("[P2] three", &[]);
    let said = settle(&goal, A, "t-2", "progress --evidence e --admit-next t-3");
    assert_eq!(said["next"]["rule"], "throttled");
    assert_eq!(state(&goal, "t-3"), "skipped");
    let again = settle(&goal, A, "t-2", "progress --evidence e --admit-next t-3");
    assert_eq!(receipt(again), receipt(said));
}

#[test]
fn a_next_turn_that_exists_already_is_refused_and_nothing_is_settled() {
    let (goal, _) = world("9");
    goal.todo("[P2] two", &[]);
    admit(&goal, A, "t-1");
    admit(&goal, A, "t-2");
    for next in ["t-1", "t-2"] {
        let rest = format!("progress --evidence e --admit-next {next}");
        assert_eq!(settle_refused(&goal, A, "t-1", &rest), "turn_conflict", "{next}");
    }
    assert_eq!(state(&goal, "t-1"), "live");
    assert_eq!(slots(&goal).0, 0);
}

/// X5: whoever resumes asks anew; what was true at the admission does not run again.
#[test]
fn a_resumed_turn_is_decided_anew() {
    let (goal, todo) = world("9");
    admit(&goal, A, "t-1");
    // The host died; meanwhile a person finished the todo.
    goal.at("13:30");
    goal.ok(
        "todo complete",
        &["--agent-id", B, "--todo-id", &todo, "--evidence", "e", "--no-follow-up"],
    );
    assert_eq!(goal.decision(A)["should_run"], false);
    let renewed = goal.refused("turn renew", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    assert_eq!(renewed, "turn_not_live");
    assert_eq!(admit(&goal, A, "t-2")["should_run"], false);
    assert_eq!(shown(&goal, "t-1")["turn"]["state"], "released");
}

/// X6.
#[test]
fn a_recreated_goal_inherits_no_turn_and_no_id() {
    let (goal, todo) = world("9");
    admit(&goal, A, "t-1");
    let uid = goal.sandbox.entry("g")["goal_uid"].clone();
    let path = goal.sandbox.registry();
    let mut registry: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    registry["goals"] = json!([]);
    std::fs::write(&path, registry.to_string()).unwrap();
    // A state file that is left over is a person's; this is about the store.
    let _ = std::fs::remove_dir_all(goal.sandbox.project().join(".loopx/goals"));
    goal.sandbox
        .at("2026-11-29T12:00:00Z")
        .json(words("goal create --goal-id g --objective o --agent-id agent-a --agent-id agent-b"));
    assert_ne!(goal.sandbox.entry("g")["goal_uid"], uid);
    assert_eq!(slots(&goal), (0, 0, 0));
    assert_eq!(settle_refused(&goal, A, "t-1", "no_change"), "turn_unknown");
    let again = goal.todo("[P1] one", &[]);
    assert_ne!(again, todo);
    let packet = admit(&goal, A, "t-1");
    assert_eq!(packet["heartbeat_receipt"]["status"], "committed");
}

/// X8, one after the other; `registry.rs` races them.
#[test]
fn a_stopped_goal_starts_nothing_and_what_runs_is_recorded() {
    let (goal, _) = world("9");
    goal.todo("[P2] two", &[]);
    admit(&goal, A, "t-1");
    goal.ok("goal stop", &[]);
    assert_eq!(admit(&goal, B, "t-2")["rule"], "goal_stopped");
    let said = settle(&goal, A, "t-1", "progress --evidence e --admit-next t-3");
    assert_eq!(said["spent_slots"], 1);
    assert_eq!(said["next"]["rule"], "goal_stopped");
    assert_eq!(state(&goal, "t-3"), "skipped");
    assert_eq!(slots(&goal), (1, 0, 0));
}

// ---- renew, release, expiry, death ----

#[test]
fn renewing_extends_reservation_and_lease_and_never_shortens() {
    let (goal, _) = world("3");
    admit(&goal, A, "t-1");
    goal.at("12:50");
    let renew = |ttl: &str| {
        goal.ok("turn renew", &["--agent-id", A, "--turn-instance-id", "t-1", "--ttl-seconds", ttl])
    };
    assert_eq!(renew("3600")["expires_at"], "2026-11-29T13:50:00Z");
    assert_eq!(renew("60")["expires_at"], "2026-11-29T13:50:00Z");
    let turn = shown(&goal, "t-1");
    assert_eq!(turn["lease"]["expires_at"], "2026-11-29T13:50:00Z");
    goal.at("13:40");
    assert_eq!(state(&goal, "t-1"), "live");
    assert_eq!(slots(&goal), (0, 1, 0));
    settle(&goal, A, "t-1", "no_change");
    let late = goal.refused("turn renew", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    assert_eq!(late, "turn_not_live");
}

#[test]
fn releasing_frees_slot_lease_and_the_claim_that_it_took() {
    let (goal, todo) = world("1");
    admit(&goal, A, "t-1");
    let release = || goal.ok("turn release", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    assert_eq!(release()["changed"], true);
    assert_eq!(slots(&goal), (0, 0, 0));
    assert!(!leased(&goal, &todo));
    assert_eq!(goal.shown(&todo)["claimed_by"], Value::Null);
    assert_eq!(goal.rule(B), ("run".to_owned(), todo.clone()));
    release();
    // A claim that was there before stays.
    goal.ok("todo claim", &["--todo-id", &todo, "--claimed-by", A]);
    admit(&goal, A, "t-2");
    goal.ok("turn release", &["--agent-id", A, "--turn-instance-id", "t-2"]);
    assert_eq!(goal.shown(&todo)["claimed_by"], A);
}

#[test]
fn an_expired_turn_frees_slot_lease_and_claim_and_counts_as_failed() {
    let (goal, todo) = world("1");
    for (turn, at, later) in
        [("t-1", "12:00", "13:00"), ("t-2", "13:00", "14:00"), ("t-3", "14:00", "15:00")]
    {
        goal.at(at);
        assert_eq!(admit(&goal, A, turn)["should_run"], true, "{turn}");
        goal.at(later);
        assert_eq!(slots(&goal), (0, 0, 0), "{turn}: a read sees it at once");
        assert_eq!(goal.rule(B), ("run".to_owned(), todo.clone()), "{turn}");
    }
    // Three in a row: stalled for that agent, not for the other.
    let asked = goal.decision(A);
    assert_eq!(
        (&asked["rule"], &asked["reason_code"]),
        (&json!("stalled"), &json!("todo_blocked"))
    );
    assert_eq!(admit(&goal, B, "t-4")["selected_todo"]["todo_id"], todo);
    assert_eq!(goal.shown(&todo)["claimed_by"], B);
    assert_eq!(state(&goal, "t-1"), "released");
}

#[test]
fn a_late_settlement_is_recorded_and_what_no_longer_fits_is_an_overrun() {
    let (goal, _) = world("1");
    goal.todo("[P2] two", &[]);
    admit(&goal, A, "t-1");
    goal.at("13:30");
    assert_eq!(admit(&goal, B, "t-2")["should_run"], true);
    let late = settle(&goal, A, "t-1", "progress --evidence e");
    assert_eq!(
        (&late["late"], &late["overrun"], &late["spent_slots"]),
        (&json!(true), &json!(true), &json!(1))
    );
    assert_eq!(slots(&goal), (1, 1, 0));
    settle(&goal, B, "t-2", "progress --evidence e");
    assert_eq!(slots(&goal), (2, 0, 1), "the overrun is in quota status");
    assert_eq!(goal.rule(B).0, "throttled");
    // A day later nothing is left of it.
    let later = goal.sandbox.at("2026-12-01T12:00:00Z").json(words("quota status --goal-id g"));
    assert_eq!(later["goals"][0]["overrun_slots"], 0);
}

#[test]
fn a_completion_by_an_earlier_holder_leaves_the_todo_to_its_present_one() {
    for outcome in ["completed --evidence e --no-follow-up", "blocked --reason r"] {
        let (goal, todo) = world("9");
        admit(&goal, A, "t-1");
        goal.at("13:30");
        assert_eq!(admit(&goal, B, "t-2")["selected_todo"]["todo_id"], todo);
        let late = settle(&goal, A, "t-1", outcome);
        assert_eq!((&late["late"], &late["fenced"]), (&json!(true), &json!(true)), "{outcome}");
        assert_eq!(goal.shown(&todo)["status"], "open");
        assert_eq!(goal.shown(&todo)["claimed_by"], B);
        assert!(leased(&goal, &todo), "the present lease is not the earlier holder's to end");
        let done = settle(&goal, B, "t-2", "completed --evidence e --no-follow-up");
        assert_eq!(done["status"], "done");
        assert_eq!(done.get("fenced"), None);
    }
}

/// The same where the other agent only claimed it, and where there are no leases.
#[test]
fn a_late_completion_is_recorded_also_when_the_todo_was_only_claimed_since() {
    for mode in ["legacy", "soft_claim", "hard_lease"] {
        for outcome in ["completed --evidence e --no-follow-up", "blocked --reason r"] {
            let goal = Goal::new(&[A, B]);
            goal.ok("handoff-mode set", &["--mode", mode]);
            let todo = goal.todo("[P1] one", &[]);
            assert_eq!(admit(&goal, A, "t-1")["should_run"], true, "{mode}");
            goal.at("13:30");
            if mode == "hard_lease" {
                let rest = ["--todo-id", &todo, "--owner", B, "--idempotency-key", "k"];
                goal.ok("task-lease acquire", &rest);
            } else {
                goal.ok("todo claim", &["--todo-id", &todo, "--claimed-by", B]);
            }
            let late = settle(&goal, A, "t-1", outcome);
            assert_eq!(late["fenced"], true, "{mode} {outcome}");
            assert_eq!(goal.shown(&todo)["status"], "open", "{mode} {outcome}");
            let spent = u64::from(outcome.starts_with("completed"));
            assert_eq!(slots(&goal), (spent, 0, 0), "{mode} {outcome}");
        }
    }
}

/// Nobody has had it since: the late completion completes.
#[test]
fn a_late_completion_of_a_todo_that_nobody_took_completes_it() {
    for mode in ["legacy", "soft_claim", "hard_lease"] {
        let goal = Goal::new(&[A, B]);
        goal.ok("handoff-mode set", &["--mode", mode]);
        let todo = goal.todo("[P1] one", &[]);
        admit(&goal, A, "t-1");
        goal.at("13:30");
        let late = settle(&goal, A, "t-1", "completed --evidence e --no-follow-up");
        assert_eq!(late["late"], true, "{mode}");
        assert_eq!(late.get("fenced"), None, "{mode}");
        assert_eq!(goal.shown(&todo)["status"], "done", "{mode}");
    }
}

#[test]
fn the_death_of_the_holder_frees_the_turn_at_once() {
    let (goal, todo) = world("2");
    let mut holder = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = holder.id().to_string();
    let rest = ["--agent-id", A, "--turn-instance-id", "t-1", "--holder-pid", &pid];
    goal.ok("turn admit", &rest);
    assert_eq!(goal.rule(B).0, "reassignment_required");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(slots(&goal), (0, 0, 0));
    assert_eq!(goal.rule(B), ("run".to_owned(), todo.clone()));
    let packet = admit(&goal, B, "t-2");
    assert_eq!(packet["selected_todo"]["todo_id"], todo);
    assert_eq!(goal.shown(&todo)["claimed_by"], B);
    assert_eq!(state(&goal, "t-1"), "released");
    // A process that is not there holds nothing.
    let rest = ["--agent-id", A, "--turn-instance-id", "t-3", "--holder-pid", &pid];
    assert_eq!(goal.refused("turn admit", &rest), "request_invalid");
}

#[test]
fn a_clock_that_is_set_back_expires_nothing_and_counts_nothing_twice() {
    let (goal, todo) = world("2");
    admit(&goal, A, "t-1");
    settle(&goal, A, "t-1", "progress --evidence e");
    admit(&goal, A, "t-2");
    goal.at("03:00");
    assert_eq!(slots(&goal), (1, 1, 0));
    assert_eq!(state(&goal, "t-2"), "live");
    assert!(leased(&goal, &todo));
    assert_eq!(goal.rule(B).0, "throttled");
    settle(&goal, A, "t-2", "progress --evidence e");
    assert_eq!(slots(&goal), (2, 0, 0));
    goal.at("12:00");
    assert_eq!(slots(&goal), (2, 0, 0));
}

// ---- the separate commands ----

#[test]
fn the_separate_commands_are_the_same_turn() {
    let (goal, todo) = world("9");
    admit(&goal, A, "t-1");
    let turn = ["--agent-id", A, "--turn-instance-id", "t-1"];
    let with = |rest: &[&'static str]| [&turn[..], rest].concat();
    assert_eq!(goal.refused("quota spend-slot", &with(&["--execute"])), "writeback_missing");
    let refresh = with(&["--delivery-outcome", "outcome_progress"]);
    let first = goal.ok("refresh-state", &refresh);
    assert_eq!(first["todo_id"], todo);
    assert_eq!(receipt(goal.ok("refresh-state", &refresh)), receipt(first));
    let done = [&turn[..], &["--todo-id", &todo, "--evidence", "e", "--no-follow-up"]].concat();
    let first = goal.ok("todo complete", &done);
    assert_eq!(receipt(goal.ok("todo complete", &done)), receipt(first));
    let first = goal.ok("quota spend-slot", &with(&["--execute"]));
    assert_eq!(receipt(goal.ok("quota spend-slot", &with(&["--execute"]))), receipt(first));
    assert_eq!(slots(&goal), (1, 0, 0));
    assert_eq!(state(&goal, "t-1"), "settled");
    assert!(!leased(&goal, &todo), "what is done is not leased");
    // And settling it as well spends nothing more.
    let code = settle_refused(&goal, A, "t-1", "progress --evidence e");
    assert_eq!(code, "turn_not_live");
    assert_eq!(slots(&goal), (1, 0, 0));
}

#[test]
fn after_a_settlement_the_separate_commands_spend_nothing_more() {
    let (goal, _) = world("9");
    admit(&goal, A, "t-1");
    settle(&goal, A, "t-1", "progress --evidence e");
    let turn = ["--agent-id", A, "--turn-instance-id", "t-1", "--execute"];
    assert_eq!(goal.refused("quota spend-slot", &turn), "outcome_already_spent");
    let untied = goal.refused("quota spend-slot", &["--agent-id", A, "--execute"]);
    assert_eq!(untied, "outcome_already_spent");
    assert_eq!(slots(&goal), (1, 0, 0));
}

#[test]
fn a_completion_inside_a_turn_then_settled_spends_once_and_keeps_the_completion() {
    let (goal, todo) = world("9");
    admit(&goal, A, "t-1");
    let done = [
        "--agent-id",
        A,
        "--turn-instance-id",
        "t-1",
        "--todo-id",
        &todo,
        "--evidence",
        "e",
        "--no-follow-up",
    ];
    goal.ok("todo complete", &done);
    let said = settle(&goal, A, "t-1", "completed --evidence e --no-follow-up");
    assert_eq!((&said["status"], &said["spent_slots"]), (&json!("done"), &json!(1)));
    assert_eq!(slots(&goal), (1, 0, 0));
    assert!(!leased(&goal, &todo));
    // Another todo is not this turn's.
    let (goal, _) = world("9");
    let other = goal.todo("[P3] other", &[]);
    admit(&goal, A, "t-1");
    let done =
        ["--agent-id", A, "--turn-instance-id", "t-1", "--todo-id", &other, "--evidence", "e"];
    assert_eq!(goal.refused("todo complete", &done), "turn_conflict");
}

// ---- the brake ----

#[test]
fn after_three_fruitless_settles_a_todo_comes_back_on_a_ladder_and_then_the_user_is_told() {
    let (goal, todo) = world("99");
    let mut turn = 0;
    let mut fruitless = |goal: &Goal| {
        turn += 1;
        let id = format!("t-{turn}");
        assert_eq!(admit(goal, A, &id)["selected_todo"]["todo_id"], todo, "{id}");
        settle(goal, A, &id, if turn % 2 == 0 { "failed" } else { "no_change" });
    };
    for _ in 0..3 {
        assert_eq!(goal.rule(A).0, "run");
        fruitless(&goal);
    }
    // Offered again after 30, 60, 120 and 240 minutes, not a minute earlier.
    for (early, due) in
        [("12:29", "12:30"), ("13:29", "13:30"), ("15:29", "15:30"), ("19:29", "19:30")]
    {
        goal.at(early);
        let asked = goal.decision(A);
        assert_eq!(asked["rule"], "stalled", "{early}");
        assert_eq!(asked["should_run"], false, "{early}");
        goal.at(due);
        fruitless(&goal);
    }
    // The fifth time the user is told, and it is not offered any more.
    goal.at("23:59");
    let asked = goal.decision(A);
    assert_eq!(asked["rule"], "stalled");
    assert_eq!(asked["interaction_contract"]["user_channel"]["notify"], "NOTIFY");
    // It was never stalled for the other agent; a change of it ends the stall for this one.
    goal.ok("todo update", &["--todo-id", &todo, "--agent-id", A, "--text", "[P1] one, better"]);
    assert_eq!(goal.rule(A), ("run".to_owned(), todo));
}

#[test]
fn progress_ends_a_streak() {
    let (goal, _) = world("99");
    for n in 0..6 {
        let id = format!("t-{n}");
        assert_eq!(admit(&goal, A, &id)["should_run"], true, "{id}");
        settle(&goal, A, &id, if n % 3 == 2 { "progress --evidence e" } else { "failed" });
    }
    assert_eq!(goal.rule(A).0, "run");
}
