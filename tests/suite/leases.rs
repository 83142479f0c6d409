//! Leases that an agent takes by itself, and the handoff modes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::at_once;
use loopx_tests::goal::Goal;
use serde_json::{Value, json};
use std::process::Command;

const A: &str = "agent-a";
const B: &str = "agent-b";

/// A goal with two agents and a todo, and its lease.
struct World {
    goal: Goal,
    todo: String,
}

impl World {
    fn new() -> Self {
        let goal = Goal::new(&[A, B]);
        let todo = goal.todo("[P1] one", &[]);
        Self { goal, todo }
    }

    fn rest<'a>(&'a self, owner: &'a str, key: &'a str, more: &'a str) -> Vec<&'a str> {
        let mut rest = vec!["--todo-id", &self.todo, "--owner", owner, "--idempotency-key", key];
        rest.extend(more.split_whitespace());
        rest
    }

    #[track_caller]
    fn ok(&self, verb: &str, owner: &str, key: &str, more: &str) -> Value {
        self.goal.ok(&format!("task-lease {verb}"), &self.rest(owner, key, more))
    }

    #[track_caller]
    fn refused(&self, verb: &str, owner: &str, key: &str, more: &str) -> String {
        self.goal.refused(&format!("task-lease {verb}"), &self.rest(owner, key, more))
    }

    #[track_caller]
    fn inspect(&self) -> Value {
        self.goal.ok("task-lease inspect", &["--todo-id", &self.todo])
    }

    #[track_caller]
    fn commits(&self) -> Value {
        self.goal.ok("goal show", &[])["commit"].clone()
    }
}

#[test]
fn a_lease_is_taken_renewed_handed_over_and_given_back() {
    let world = World::new();
    assert_eq!(
        (&world.inspect()["active"], &world.inspect()["lease"]),
        (&json!(false), &Value::Null)
    );
    let taken = world.ok("acquire", A, "k1", "");
    assert_eq!(taken["lease"]["expires_at"], "2026-11-29T12:45:00Z", "45 minutes by default");
    assert_eq!((&taken["lease"]["epoch"], &taken["lease"]["version"]), (&json!(1), &json!(1)));
    world.goal.at("12:30");
    let renewed = world.ok("renew", A, "k1", "--expected-version 1 --ttl-seconds 1800");
    assert_eq!(renewed["lease"]["expires_at"], "2026-11-29T13:00:00Z");
    let shorter = world.ok("renew", A, "k1", "--expected-version 2 --ttl-seconds 60");
    assert_eq!(shorter["lease"]["expires_at"], "2026-11-29T13:00:00Z", "never shortened");
    let given = "--expected-version 3 --new-owner agent-b --new-idempotency-key k2";
    let given = world.ok("transfer", A, "k1", given);
    assert_eq!((&given["lease"]["owner"], &given["lease"]["epoch"]), (&json!(B), &json!(2)));
    // The earlier holder can do nothing with it.
    assert_eq!(world.refused("renew", A, "k1", "--expected-version 4"), "todo_lease_conflict");
    assert_eq!(world.refused("release", A, "k1", "--expected-version 4"), "todo_lease_conflict");
    let back = world.ok("release", B, "k2", "--expected-version 4");
    assert_eq!(back["released"], true);
    assert_eq!(world.inspect()["active"], false);
    // The epoch goes on growing.
    assert_eq!(world.ok("acquire", A, "k3", "")["lease"]["epoch"], 3);
}

#[test]
fn repeats_answer_the_same_lease_and_change_nothing() {
    let world = World::new();
    let first = world.ok("acquire", A, "k1", "--ttl-seconds 600");
    let commits = world.commits();
    world.goal.at("12:05");
    let again = world.ok("acquire", A, "k1", "--ttl-seconds 600");
    assert_eq!((&again["idempotent"], &again["changed"]), (&json!(true), &json!(false)));
    assert_eq!(again["lease"], first["lease"]);
    assert_eq!(world.commits(), commits);
    for other in ["--ttl-seconds 700", "--ttl-seconds 600 --write-scope src/**"] {
        assert_eq!(world.refused("acquire", A, "k1", other), "idempotency_key_reuse", "{other}");
    }
    world.ok("release", A, "k1", "--expected-version 1");
    let again = world.ok("release", A, "k1", "--expected-version 1");
    assert_eq!((&again["idempotent"], &again["changed"]), (&json!(true), &json!(false)));
    // What was never leased is not given back, and that is no fault.
    let world = World::new();
    assert_eq!(world.ok("release", A, "k1", "")["missing"], true);
}

#[test]
fn a_live_lease_is_changed_only_in_the_version_that_was_read() {
    let world = World::new();
    world.ok("acquire", A, "k1", "");
    for more in ["", "--expected-version 2", "--expected-version 0"] {
        assert_eq!(world.refused("renew", A, "k1", more), "version_mismatch", "{more}");
        assert_eq!(world.refused("release", A, "k1", more), "version_mismatch", "{more}");
        // Its own holder takes it anew under another key only in the version it read.
        assert_eq!(world.refused("acquire", A, "k2", more), "version_mismatch", "{more}");
    }
    assert_eq!(world.refused("renew", A, "k2", "--expected-version 1"), "lease_not_active");
    let anew = world.ok("acquire", A, "k2", "--expected-version 1");
    assert_eq!((&anew["lease"]["epoch"], &anew["lease"]["version"]), (&json!(2), &json!(2)));
    assert_eq!(world.refused("renew", A, "k1", "--expected-version 2"), "lease_not_active");
}

#[test]
fn keys_times_and_owners_are_checked() {
    let world = World::new();
    assert_eq!(world.refused("acquire", "ghost", "k", ""), "quota_agent_not_registered");
    for ttl in ["0", "86401"] {
        let more = format!("--ttl-seconds {ttl}");
        assert_eq!(world.refused("acquire", A, "k", &more), "invalid_ttl");
    }
    for key in ["", "a b", "ü", &"k".repeat(161)] {
        let rest = ["--todo-id", &world.todo, "--owner", A, "--idempotency-key", key];
        let code = world.goal.refused("task-lease acquire", &rest);
        assert_eq!(code, "id_invalid", "{key:?}");
    }
    world.ok("acquire", A, &"k".repeat(160), "");
    let same =
        format!("--expected-version 1 --new-owner {B} --new-idempotency-key {}", "k".repeat(160));
    assert_eq!(world.refused("transfer", A, &"k".repeat(160), &same), "idempotency_key_reuse");
}

#[test]
fn a_lease_that_has_ended_is_not_renewed_and_the_next_one_says_whose_it_was() {
    let world = World::new();
    world.ok("acquire", A, "k1", "--ttl-seconds 60");
    world.goal.at("12:01");
    assert_eq!(world.inspect()["active"], false);
    assert_eq!(world.refused("renew", A, "k1", "--expected-version 1"), "lease_not_active");
    let next = world.ok("acquire", B, "k2", "");
    assert_eq!((&next["reclaimed_from"], &next["lease"]["epoch"]), (&json!(A), &json!(2)));
    assert_eq!(world.refused("renew", A, "k1", "--expected-version 2"), "todo_lease_conflict");
}

#[test]
fn a_clock_that_is_set_back_ends_no_lease_early() {
    let world = World::new();
    world.ok("acquire", A, "k1", "--ttl-seconds 600");
    world.goal.at("03:00");
    assert_eq!(world.inspect()["active"], true);
    assert_eq!(world.refused("acquire", B, "k2", ""), "todo_lease_conflict");
    assert_eq!(world.goal.rule(B).0, "reassignment_required");
}

#[test]
fn a_leased_todo_is_nobody_elses() {
    let world = World::new();
    world.ok("acquire", A, "k1", "");
    let (goal, todo) = (&world.goal, world.todo.as_str());
    assert_eq!(goal.rule(B).0, "reassignment_required");
    assert_eq!(goal.rule(A), ("run".to_owned(), world.todo.clone()));
    assert_eq!(world.refused("acquire", B, "k2", ""), "todo_lease_conflict");
    let claim = ["--todo-id", todo, "--claimed-by", B];
    assert_eq!(goal.refused("todo claim", &claim), "todo_lease_conflict");
    let done = ["--todo-id", todo, "--agent-id", B, "--evidence", "e"];
    assert_eq!(goal.refused("todo complete", &done), "todo_lease_conflict");
    // Its holder completes, and the lease ends with that.
    goal.ok(
        "todo complete",
        &["--todo-id", todo, "--agent-id", A, "--evidence", "e", "--no-follow-up"],
    );
    assert_eq!(world.inspect()["active"], false);
    assert_eq!(world.refused("acquire", A, "k3", ""), "todo_not_open");
}

#[test]
fn a_lease_goes_with_its_claim() {
    let world = World::new();
    let (goal, todo) = (&world.goal, world.todo.as_str());
    goal.ok("todo claim", &["--todo-id", todo, "--claimed-by", A]);
    assert_eq!(world.refused("acquire", B, "k2", ""), "already_claimed");
    world.ok("acquire", A, "k1", "");
    let given = "--expected-version 1 --new-owner agent-b --new-idempotency-key k2";
    world.ok("transfer", A, "k1", given);
    assert_eq!(goal.shown(todo)["claimed_by"], B);
    assert_eq!(goal.rule(B), ("run".to_owned(), world.todo.clone()));
    assert_eq!(goal.rule(A).0, "reassignment_required");
}

#[test]
fn an_admission_renews_the_agents_own_lease_in_a_new_epoch() {
    let world = World::new();
    world.ok("acquire", A, "k1", "");
    let goal = &world.goal;
    goal.ok("turn admit", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    let lease = world.inspect()["lease"].clone();
    assert_eq!((&lease["epoch"], &lease["turn_id"]), (&json!(2), &json!("t-1")));
}

#[test]
fn write_scopes_of_two_holders_do_not_overlap() {
    let world = World::new();
    let goal = &world.goal;
    world.ok("acquire", A, "k1", "--write-scope core/src/**");
    let second = World { goal: Goal::new(&[A]), todo: goal.todo("[P2] two", &[]) };
    let acquire = |scope: &str| {
        let rest = [
            "--todo-id",
            &second.todo,
            "--owner",
            B,
            "--idempotency-key",
            "k2",
            "--write-scope",
            scope,
        ];
        goal.sandbox
            .at("2026-11-29T12:00:00Z")
            .run(["task-lease", "acquire", "--goal-id", "g"].iter().chain(rest.iter()))
    };
    for scope in ["core/src/lib.rs", "core/**", "**", "core/src/**"] {
        let output = acquire(scope);
        assert_eq!(output.code, 1, "{scope}: {output}");
        assert_eq!(output.json()["error_code"], "write_scope_conflict", "{scope}");
    }
    assert_eq!(acquire("docs/**").code, 0);
}

#[test]
fn eight_parallel_acquires_have_one_winner() {
    for round in 0..3 {
        let world = World::new();
        let call = world.goal.sandbox.at("2026-11-29T12:00:00Z");
        let commands: Vec<Command> = (0..8)
            .map(|n| {
                let (owner, key) = ([A, B][n % 2], format!("k{n}"));
                call.command([
                    "task-lease",
                    "acquire",
                    "--goal-id",
                    "g",
                    "--todo-id",
                    &world.todo,
                    "--owner",
                    owner,
                    "--idempotency-key",
                    &key,
                ])
            })
            .collect();
        let outputs = at_once(commands);
        let won = outputs.iter().filter(|o| o.code == 0).count();
        assert_eq!(won, 1, "round {round}");
        for lost in outputs.iter().filter(|o| o.code != 0) {
            let code = lost.json()["error_code"].as_str().unwrap().to_owned();
            assert!(["todo_lease_conflict", "version_mismatch"].contains(&code.as_str()), "{code}");
        }
        assert_eq!(world.inspect()["lease"]["epoch"], 1);
    }
}

#[test]
fn the_death_of_the_holder_frees_the_lease_at_once() {
    let world = World::new();
    let (goal, todo) = (&world.goal, world.todo.as_str());
    let hold = |owner: &str, key: &str| {
        let mut holder = Command::new("sleep").arg("600").spawn().unwrap();
        world.ok("acquire", owner, key, &format!("--holder-pid {}", holder.id()));
        holder.kill().unwrap();
        holder.wait().unwrap();
    };
    hold(A, "k1");
    assert_eq!(world.inspect()["active"], false);
    assert_eq!(goal.rule(B), ("run".to_owned(), world.todo.clone()));
    let next = world.ok("acquire", B, "k2", "");
    assert_eq!(next["reclaimed_from"], A);
    world.ok("release", B, "k2", "--expected-version 2");
    // Every other way to the todo agrees.
    hold(A, "k3");
    goal.ok("todo claim", &["--todo-id", todo, "--claimed-by", B]);
    goal.ok("todo update", &["--todo-id", todo, "--agent-id", B, "--clear-claim"]);
    hold(A, "k4");
    let packet = goal.ok("turn admit", &["--agent-id", B, "--turn-instance-id", "t-1"]);
    assert_eq!(packet["selected_todo"]["todo_id"], todo);
    goal.ok(
        "turn settle",
        &["--agent-id", B, "--turn-instance-id", "t-1", "--outcome", "blocked", "--reason", "r"],
    );
    // Nor does a dead holder stand in the way of another mode.
    let world = World::new();
    let mut holder = Command::new("sleep").arg("600").spawn().unwrap();
    world.ok("acquire", A, "k1", &format!("--holder-pid {}", holder.id()));
    holder.kill().unwrap();
    holder.wait().unwrap();
    world.goal.ok("handoff-mode set", &["--mode", "soft_claim"]);
}

// ---- handoff modes ----

#[test]
fn the_mode_changes_only_while_nothing_is_in_anybodys_hands() {
    let world = World::new();
    let (goal, todo) = (&world.goal, world.todo.as_str());
    assert_eq!(goal.ok("handoff-mode show", &[])["mode"], "legacy");
    let set = |mode: &'static str| ["--mode", mode];
    goal.ok("todo claim", &["--todo-id", todo, "--claimed-by", A]);
    for mode in ["soft_claim", "hard_lease"] {
        assert_eq!(goal.refused("handoff-mode set", &set(mode)), "handoff_mode_not_quiescent");
    }
    goal.ok("todo update", &["--todo-id", todo, "--agent-id", A, "--clear-claim"]);
    world.ok("acquire", A, "k1", "");
    assert_eq!(goal.refused("handoff-mode set", &set("soft_claim")), "handoff_mode_not_quiescent");
    assert_eq!(goal.ok("handoff-mode set", &set("legacy"))["changed"], false);
    goal.at("13:00");
    assert_eq!(goal.ok("handoff-mode set", &set("soft_claim"))["changed"], true);
    assert_eq!(goal.ok("handoff-mode show", &[])["mode"], "soft_claim");
}

#[test]
fn under_soft_claim_there_are_no_leases() {
    let world = World::new();
    let goal = &world.goal;
    goal.ok("handoff-mode set", &["--mode", "soft_claim"]);
    for verb in ["acquire", "release"] {
        assert_eq!(world.refused(verb, A, "k1", ""), "handoff_mode_forbids_lease", "{verb}");
    }
    let packet = goal.ok("turn admit", &["--agent-id", A, "--turn-instance-id", "t-1"]);
    assert_eq!(packet["should_run"], true);
    assert_eq!(world.inspect()["lease"], Value::Null);
    assert_eq!(goal.shown(&world.todo)["claimed_by"], A, "the claim is what holds it");
    assert_eq!(goal.rule(B).0, "reassignment_required");
    let said = goal.ok(
        "turn settle",
        &[
            "--agent-id",
            A,
            "--turn-instance-id",
            "t-1",
            "--outcome",
            "completed",
            "--evidence",
            "e",
            "--no-follow-up",
        ],
    );
    assert_eq!(said["status"], "done");
}

#[test]
fn under_hard_lease_claiming_and_completing_need_a_live_lease() {
    let world = World::new();
    let (goal, todo) = (&world.goal, world.todo.as_str());
    goal.ok("handoff-mode set", &["--mode", "hard_lease"]);
    let claim = ["--todo-id", todo, "--claimed-by", A];
    let done = ["--todo-id", todo, "--agent-id", A, "--evidence", "e", "--no-follow-up"];
    assert_eq!(goal.refused("todo claim", &claim), "handoff_mode_requires_lease");
    assert_eq!(goal.refused("todo complete", &done), "handoff_mode_requires_lease");
    world.ok("acquire", A, "k1", "--ttl-seconds 600");
    goal.ok("todo claim", &claim);
    goal.at("12:10");
    assert_eq!(goal.refused("todo complete", &done), "handoff_mode_requires_lease", "it has ended");
    world.ok("acquire", A, "k2", "");
    goal.ok("todo complete", &done);
    // An admission brings its own lease.
    let second = goal.todo("[P1] two", &[]);
    goal.ok("turn admit", &["--agent-id", B, "--turn-instance-id", "t-1"]);
    let done = ["--todo-id", &second, "--agent-id", B, "--evidence", "e", "--no-follow-up"];
    goal.ok("todo complete", &done);
}

#[test]
fn of_two_commands_that_change_a_lease_in_one_version_one_lands() {
    let world = World::new();
    world.ok("acquire", A, "k1", "");
    let call = world.goal.sandbox.at("2026-11-29T12:01:00Z");
    let commands: Vec<Command> = (0..6)
        .map(|n| {
            let verb = ["renew", "release"][n % 2];
            call.command([
                "task-lease",
                verb,
                "--goal-id",
                "g",
                "--todo-id",
                &world.todo,
                "--owner",
                A,
                "--idempotency-key",
                "k1",
                "--expected-version",
                "1",
            ])
        })
        .collect();
    let outputs = at_once(commands);
    let changed = outputs.iter().filter(|o| o.code == 0 && o.json()["changed"] == true).count();
    assert_eq!(changed, 1);
    assert_eq!(world.inspect()["lease"]["version"], 2);
}

/// Found by torture: an agent claims what its turn has claimed for it, and the turn lapses, is
/// released or loses its holder. What was acknowledged stands.
#[test]
fn a_claim_that_was_asked_for_outlives_the_turn_that_took_one() {
    let ends: [fn(&Goal); 2] = [
        |goal| drop(goal.ok("turn release", &["--agent-id", A, "--turn-instance-id", "t-1"])),
        |goal| {
            goal.at("13:30");
        },
    ];
    for asked in [true, false] {
        for end in ends {
            let World { goal, todo } = World::new();
            let turn = ["--agent-id", A, "--turn-instance-id", "t-1"];
            assert_eq!(goal.ok("turn admit", &turn)["selected_todo"]["todo_id"], todo.as_str());
            if asked {
                let said = goal.ok("todo claim", &["--todo-id", &todo, "--claimed-by", A]);
                assert_eq!(said["claimed"], true);
            }
            end(&goal);
            let rule = goal.rule(B).0;
            assert_eq!(rule != "run", asked, "{rule}: the todo is A's if it was asked for");
        }
    }
}
