//! Switching a host's loop on and off through the command line, and the threads of hosts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use std::fs;

use loopx_tests::tree::Tree;
use loopx_tests::{Call, Sandbox};
use serde_json::{Value, json};

const NOON: &str = "2026-11-29T12:00:00Z";
const LATER: &str = "2026-11-29T12:07:00Z";

fn goal() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join(".loopx")).unwrap();
    at(&sandbox, NOON).json(words("goal create --goal-id g --objective o --agent-id a,b"));
    at(&sandbox, NOON).json(words("todo add --role agent --text one"));
    sandbox
}

fn at<'s>(sandbox: &'s Sandbox, now: &str) -> Call<'s> {
    sandbox.at(now).unlocated()
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn prompt(rest: &str) -> Vec<String> {
    let line = format!("heartbeat-prompt --goal-id g {rest} --format json");
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn asking_reads_and_names_the_way_to_switch_on() {
    let sandbox = goal();
    let before = Tree::of(sandbox.base());
    let asked = at(&sandbox, NOON).json(prompt("--host codex-app --agent-id a --thin"));
    assert_eq!(Tree::of(sandbox.base()), before, "asking wrote");
    assert_eq!(asked["host_loop_activation"], json!({"state": "missing", "activated": false}));
    let activate = asked["activate_command"].as_str().unwrap().to_owned();
    assert!(activate.contains("--thin") && activate.ends_with("--activate"), "{activate}");
    // The command that is named is the one that does it.
    let line = format!("{} --format json", activate.strip_prefix("loopx ").unwrap());
    let done = at(&sandbox, NOON).json(words(&line));
    assert_eq!(
        done["host_loop_activation"],
        json!({"schema_version": "loopx_host_loop_activation_v1", "agent_id": "a",
            "host_surface": "codex-app", "activated": true})
    );
    let hint = &done["scheduler_hint"];
    assert_eq!(hint["next_check_minutes"], 3);
    assert_eq!(hint["initial_minutes"], 3);
    assert_eq!(hint["app_automation"]["recommended_rrule"], "FREQ=MINUTELY;INTERVAL=3");
    assert_eq!(done["task_body"], asked["task_body"], "what is told does not change");
    let asked = at(&sandbox, LATER).json(prompt("--host codex-app --agent-id a"));
    assert_eq!(asked["host_loop_activation"]["state"], "active");
    assert_eq!(asked["host_loop_activation"]["recorded_at"], NOON);
    assert!(asked.get("activate_command").is_none());
}

#[test]
fn the_record_stands_in_the_registry_and_its_copy_and_moves_only_its_instant() {
    let sandbox = goal();
    let mut registry: Value =
        serde_json::from_slice(&fs::read(sandbox.registry()).unwrap()).unwrap();
    registry["theirs"] = json!({"kept": [1]});
    registry["goals"][0]["host_loop_activation"] =
        json!([{"agent_id": "b", "host_surface": "quantum-pad", "activated": true, "x": 1}]);
    fs::write(sandbox.registry(), registry.to_string()).unwrap();
    let activate = "--host claude-code --agent-id a --activate";
    at(&sandbox, NOON).json(prompt(activate));
    let first = sandbox.entry("g")["host_loop_activation"].clone();
    at(&sandbox, LATER).json(prompt(activate));
    let second = sandbox.entry("g")["host_loop_activation"].clone();
    let record = |at: &str| {
        json!({"schema_version": "loopx_host_loop_activation_v1", "agent_id": "a",
            "host_surface": "claude-code", "activated": true, "recorded_at": at})
    };
    assert_eq!((&first[1], &second[1]), (&record(NOON), &record(LATER)));
    assert_eq!(
        second[0],
        json!({"agent_id": "b", "host_surface": "quantum-pad", "activated": true, "x": 1})
    );
    let global = fs::read(sandbox.home().join(".loopx/registry.global.json")).unwrap();
    let global: Value = serde_json::from_slice(&global).unwrap();
    assert_eq!(global["goals"][0]["host_loop_activation"], second);
    let kept: Value = serde_json::from_slice(&fs::read(sandbox.registry()).unwrap()).unwrap();
    assert_eq!(kept["theirs"], json!({"kept": [1]}));
    // What cannot be known still holds a second surface back.
    let refused = at(&sandbox, LATER).refusal(prompt("--host pi --agent-id b --activate"));
    assert_eq!(refused["error_code"], "activation_conflict");
}

#[test]
fn one_agent_loops_on_one_surface_until_it_is_switched_off_there() {
    let sandbox = goal();
    at(&sandbox, NOON).json(prompt("--host codex-cli --agent-id a --activate"));
    let before = Tree::of(&sandbox.project());
    let refused = at(&sandbox, LATER).refusal(prompt("--host pi --agent-id a --activate"));
    assert_eq!(refused["error_code"], "activation_conflict");
    assert_eq!(Tree::of(&sandbox.project()), before, "a refusal wrote");
    let next = refused["next_command"].as_str().unwrap().strip_prefix("loopx ").unwrap();
    let off = at(&sandbox, LATER).json(words(&format!("{next} --format json")));
    assert_eq!(off["host_loop_activation"]["activated"], false);
    at(&sandbox, LATER).json(prompt("--host pi --agent-id a --activate"));
    at(&sandbox, LATER).json(prompt("--host codex-cli --agent-id b --activate"));
    for (line, code) in [
        ("--host pi --agent-id nobody --activate", "quota_agent_not_registered"),
        ("--host pi --activate", "agent_required"),
        ("--host pie9 --agent-id a --activate", "host_unknown"),
        ("--host trae --agent-id a --activate", "host_unknown"),
    ] {
        assert_eq!(at(&sandbox, LATER).refusal(prompt(line))["error_code"], code, "{line}");
    }
}

#[test]
fn a_repeat_with_its_effect_id_answers_the_first_receipt() {
    let sandbox = goal();
    let line = "--host codex-app --agent-id a --activate --effect-id e1";
    let first = at(&sandbox, NOON).json(prompt(line));
    let again = at(&sandbox, LATER).json(prompt(line));
    assert_eq!(again["idempotent_replay"], true);
    assert_eq!(
        (&again["commit"], &again["recorded_at"]),
        (&first["commit"], &first["recorded_at"])
    );
    let other = "--host codex-app --agent-id b --activate --effect-id e1";
    assert_eq!(at(&sandbox, LATER).refusal(prompt(other))["error_code"], "effect_conflict");
}

/// The first wake comes after three minutes, also where a decision would wait longer; a stop
/// is a stop.
#[test]
fn the_first_cadence_of_an_app_is_three_minutes() {
    let sandbox = goal();
    let gate = "gate open --question Ship? --global-gate --format json";
    at(&sandbox, NOON).json(words(gate));
    let hint = |host: &str| {
        let line = format!("--host {host} --agent-id a --activate");
        let hint = at(&sandbox, NOON).json(prompt(&line))["scheduler_hint"].clone();
        at(&sandbox, NOON).json(prompt(&line.replace("--activate", "--deactivate")));
        hint
    };
    let app = hint("codex-app");
    assert_eq!(app["next_check_minutes"], 3, "{app:#}");
    assert_eq!(app["app_automation"]["recommended_interval_minutes"], 3);
    assert_eq!(hint("codex-cli")["next_check_minutes"], 30);
    at(&sandbox, NOON).json(words("goal stop --goal-id g"));
    let stopped = hint("codex-app");
    assert_eq!(stopped["action"], "stop_until_explicit_resume", "{stopped:#}");
    assert!(stopped.get("initial_minutes").is_none());
}

/// Contract 3: last seen is written by activation, and never by a plain read.
#[test]
fn an_activation_is_a_sign_of_life_and_a_read_is_none() {
    let sandbox = goal();
    let seen = |now: &str| {
        let status = at(&sandbox, now).json(words("status --goal-id g --format json"));
        let agents = status["agents"].as_array().unwrap().clone();
        agents.into_iter().find(|a| a["agent_id"] == "a").unwrap()["last_seen"].clone()
    };
    at(&sandbox, NOON).json(prompt("--host codex-app --agent-id a"));
    assert_eq!(seen(NOON), Value::Null);
    at(&sandbox, NOON).json(prompt("--host codex-app --agent-id a --activate"));
    at(&sandbox, LATER).json(prompt("--host codex-app --agent-id a"));
    assert_eq!(seen(LATER), NOON);
    at(&sandbox, LATER).json(prompt("--host codex-app --agent-id a --activate"));
    assert_eq!(seen(LATER), LATER);
}

/// Trae names its thread in a variable of its own; Codex's says nothing about it.
#[test]
fn the_thread_of_a_host_says_whose_loop_it_is() {
    let sandbox = goal();
    let trae = |thread: &str| {
        at(&sandbox, NOON).env("TRAECLI_THREAD_ID", thread).env("CODEX_THREAD_ID", "c-9")
    };
    let bind = "bind-agent-thread --host trae-app --agent-id b --format json";
    let preview = trae("t-1").json(words(bind));
    assert_eq!(
        (&preview["dry_run"], &preview["binding"]["thread_id"]),
        (&json!(true), &json!("t-1"))
    );
    assert!(sandbox.entry("g")["coordination"].get("thread_agent_bindings").is_none());
    trae("t-1").json(words(&format!("{bind} --execute")));
    assert_eq!(
        sandbox.entry("g")["coordination"]["thread_agent_bindings"],
        json!([{"thread_id": "t-1", "host_surface": "trae-app", "agent_id": "b"}])
    );
    let resolved = trae("t-1").json(words("resolve-agent-thread --host trae-app --format json"));
    assert_eq!((&resolved["status"], &resolved["agent_id"]), (&json!("bound"), &json!("b")));
    let codex = trae("t-1").json(words("resolve-agent-thread --host codex-app --format json"));
    assert_eq!((&codex["status"], &codex["thread_id"]), (&json!("missing"), &json!("c-9")));
    // Nobody has to name the agent in that thread, and the record says which thread it is.
    let on = trae("t-1").json(prompt("--host trae-app --activate"));
    assert_eq!(on["host_loop_activation"]["agent_id"], "b");
    assert_eq!(on["scheduler_hint"]["app_automation"]["host_surface"], "trae_app");
    assert_eq!(on["scheduler_hint"]["next_check_minutes"], 3);
    assert_eq!(sandbox.entry("g")["host_loop_activation"][0]["thread_id"], "t-1");
    let other = trae("t-2").refusal(prompt("--host trae-app --agent-id b --activate"));
    assert_eq!(other["error_code"], "activation_conflict");
    let taken =
        trae("t-1").refusal(words("bind-agent-thread --host trae-app --agent-id a --execute"));
    assert_eq!(taken["error_code"], "thread_binding_conflict");
    trae("t-1").json(words("unbind-agent-thread --host trae-app --execute --format json"));
    let gone = trae("t-1").json(words("resolve-agent-thread --host trae-app --format json"));
    assert_eq!(gone["status"], "missing");
}

/// Seeds 002: no skill goes to a host on which no loop is switched on.
#[test]
fn doctor_refuses_skill_delivery_without_an_activation() {
    let sandbox = goal();
    let ask = |line: &str| {
        let line = format!("doctor --host codex-app {line} --format json");
        at(&sandbox, NOON).run(line.split_whitespace().collect::<Vec<_>>())
    };
    let refused = ask("--agent-id a");
    assert_eq!(refused.code, 1, "{refused}");
    let said = refused.json();
    assert_eq!(said["error_code"], "activation_missing");
    let sentence = said["error"].as_str().unwrap();
    assert!(
        sentence.contains("skill delivery is owned by the selected host integration (Codex App)"),
        "{sentence}"
    );
    let next = said["next_command"].as_str().unwrap().strip_prefix("loopx ").unwrap();
    at(&sandbox, NOON).json(words(&format!("{next} --format json")));
    assert_eq!(ask("--agent-id a").code, 0);
    assert_eq!(ask("").code, 0, "one loop on the host is enough when nobody is named");
    assert_eq!(ask("--agent-id b").code, 1);
    at(&sandbox, NOON).json(prompt("--host codex-app --agent-id a --deactivate"));
    assert_eq!(ask("--agent-id a").code, 1);
}
