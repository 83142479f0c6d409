//! The earlier tool's recorded prompts and plans (`tests/vectors/prompt.jsonl`): names, exit
//! statuses, budgets and choices are kept, apart from what `DIFFERENCES.md` names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use loopx_core::host;
use loopx_tests::Sandbox;
use serde_json::{Value, json};

fn vectors() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

fn rows(kind: &str) -> Vec<Value> {
    let text = fs::read_to_string(vectors().join("prompt.jsonl")).unwrap();
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|row: &Value| row["kind"] == kind)
        .collect();
    assert!(!rows.is_empty(), "no rows of {kind}");
    rows
}

/// Labels of the section `prompts`.
fn differences() -> Vec<String> {
    let text = fs::read_to_string(vectors().join("DIFFERENCES.md")).unwrap();
    let section = text.split("\n## ").find(|s| s.starts_with("prompts\n")).unwrap();
    section
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once("`:"))
        .map(|(label, _)| label.to_owned())
        .collect()
}

/// A project with the recorded goal; with its two agents where they matter.
fn project(agents: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join(".loopx")).unwrap();
    let mut args = vec!["goal", "create", "--goal-id", "demo-goal"];
    for agent in agents {
        args.extend(["--agent-id", agent]);
    }
    sandbox.at("2026-11-29T21:00:00Z").unlocated().json(args);
    sandbox
}

/// What does not match, by label.
fn replay(kind: &str, check: impl Fn(&Value) -> Result<(), String>) -> BTreeMap<String, String> {
    rows(kind)
        .iter()
        .filter_map(|row| {
            check(row).err().map(|why| (row["label"].as_str().unwrap().to_owned(), why))
        })
        .collect()
}

fn same(what: &str, ours: &Value, recorded: &Value) -> Result<(), String> {
    if ours == recorded { Ok(()) } else { Err(format!("{what}: {ours} instead of {recorded}")) }
}

fn argv(row: &Value) -> Vec<String> {
    row["argv"].as_array().unwrap().iter().map(|a| a.as_str().unwrap().to_owned()).collect()
}

fn mode_plan(row: &Value) -> Result<(), String> {
    let sandbox = project(&[]);
    let mut args = argv(row);
    args.extend(["--format".into(), "json".into()]);
    let output = sandbox.at("2026-11-29T21:00:00Z").unlocated().run(&args);
    same("exit", &json!(output.code), &row["rc"])?;
    if output.code == 2 {
        return Ok(());
    }
    let said = output.json();
    if output.code == 1 {
        return same("field", &said["about"], &row["field"]);
    }
    let kinds: Vec<&Value> =
        said["operator_next_steps"].as_array().unwrap().iter().map(|s| &s["kind"]).collect();
    same("mode", &said["selected_mode"], &row["selected_mode"])?;
    same("connector", &said["selected_connector_id"], &row["connector"])?;
    same("ready", &said["selected_capability_ready"], &row["ready"])?;
    same("missing", &said["selected_missing_host_capabilities"], &row["missing"])?;
    same("steps", &json!(kinds), &row["step_kinds"])?;
    same("identity", &said["identity_contract"]["state"], &row["identity"])?;
    same("agent", &said["agent_id"], &row["agent"])
}

fn prompt_case(row: &Value) -> Result<(), String> {
    let sandbox = project(&["agent-a", "agent-b"]);
    let output = sandbox.at("2026-11-29T21:00:00Z").unlocated().run(argv(row));
    same("exit", &json!(output.code), &row["rc"])?;
    match row.get("max_chars") {
        None => Ok(()),
        Some(most) => {
            let budget = &output.json()["interface_budget"];
            same("within", &budget["within_budget"], &json!(true))?;
            same("budget", &budget["max_chars"], most)
        }
    }
}

fn prompt(row: &Value) -> Result<(), String> {
    let sandbox = project(&["agent-a", "agent-b"]);
    let mut args = vec!["heartbeat-prompt", "--goal-id", "demo-goal", "--agent-id", "agent-a"];
    args.push(row["style"].as_str().unwrap());
    match row["profile"].as_str() {
        Some("generic_cli+traex") => {
            args.extend(["--runtime-profile", "generic_cli", "--visible-goal-host", "traex-cli"]);
        }
        Some(profile) => args.extend(["--runtime-profile", profile]),
        None => {}
    }
    let said = sandbox.at("2026-11-29T21:00:00Z").unlocated().json(&args);
    let body = said["task_body"].as_str().unwrap();
    same("mode", &said["interface_budget"]["mode"], &row["budget_mode"])?;
    same("budget", &said["interface_budget"]["max_chars"], &row["max_chars"])?;
    same("update_goal", &json!(body.contains("update_goal")), &row["has_update_goal"])?;
    same("resume", &json!(body.contains("/goal resume")), &row["has_goal_resume"])?;
    same("--codex-app", &json!(body.contains("--codex-app")), &row["has_codexapp_flag"])?;
    let most = row["chars"].as_u64().unwrap() / 2;
    let chars = body.chars().count() as u64;
    if chars > most { Err(format!("{chars} characters, more than {most}")) } else { Ok(()) }
}

#[test]
fn recorded_prompts_and_plans() {
    let mut found = replay("heartbeat-prompt-case", prompt_case);
    found.extend(replay("heartbeat-prompt", prompt));
    found.extend(replay("host-mode-plan", mode_plan));
    let known = differences();
    let unknown: Vec<_> = found.iter().filter(|(label, _)| !known.contains(label)).collect();
    assert!(unknown.is_empty(), "not in DIFFERENCES.md: {unknown:#?}");
    let stale: Vec<_> = known.iter().filter(|label| !found.contains_key(*label)).collect();
    assert!(stale.is_empty(), "in DIFFERENCES.md, and not different: {stale:?}");
}

#[test]
fn every_recorded_name_leads_to_its_host() {
    for row in rows("agent-type") {
        let kind = row["agent_type"].as_str().unwrap();
        let host = host::find(kind).unwrap();
        for name in row["accepted"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            assert_eq!(host::find(name).unwrap(), host, "{name}");
        }
    }
    for row in rows("activation") {
        let host = host::find(row["agent_type"].as_str().unwrap()).unwrap();
        let activation = host.row().activation;
        assert_eq!(activation.surface, row["host_surface"].as_str().unwrap());
        assert_eq!(activation.method, row["activation_method"].as_str().unwrap());
        assert_eq!(json!(activation.cli_can_mutate), row["cli_can_mutate"], "{}", host.name());
    }
}
