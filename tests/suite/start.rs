//! From an empty folder to a loop: `init`, `start-goal`, and what hosts are handed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use std::fs;
use std::process::Command;

use loopx_core::start::GUIDE_LIMIT;
use loopx_tests::tree::Tree;
use loopx_tests::{Call, Sandbox, binary, earlier, repository};
use proptest::prelude::*;
use serde_json::{Value, json};

const NOON: &str = "2026-11-29T12:00:00Z";

fn call(sandbox: &Sandbox) -> Call<'_> {
    sandbox.at(NOON).unlocated()
}

fn json_of(sandbox: &Sandbox, args: &[&str]) -> Value {
    call(sandbox).json(args.iter().chain(&["--format", "json"]))
}

fn refusal(sandbox: &Sandbox, args: &[&str]) -> Value {
    call(sandbox).refusal(args.iter().chain(&["--format", "json"]))
}

/// The commands of the README's first section, as a person copies them.
fn readme() -> Vec<String> {
    let text = fs::read_to_string(repository().join("README.md")).unwrap();
    let section = text.split("## From an empty folder").nth(1).expect("the section is there");
    let block = section.split("```console").nth(1).unwrap().split("```").next().unwrap();
    let joined = block.replace(" \\\n", " ");
    joined.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

/// The README's three commands, typed into a shell by a new user, for three hosts.
#[test]
fn three_commands_from_an_empty_folder_as_the_readme_has_them() {
    let commands = readme();
    assert_eq!(commands.len(), 4, "a folder and three commands: {commands:?}");
    for host in ["codex-cli", "claude-code", "shell"] {
        let sandbox = Sandbox::new();
        let bin = sandbox.base().join("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(binary(), bin.join("loopx")).unwrap();
        let script = commands.join("\n").replace("codex-cli", host);
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-e", "-c", &script])
            .current_dir(sandbox.home())
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", sandbox.home())
            .env("LANG", "C.UTF-8")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{host}: {said}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.stderr, b"", "{host}");
        let answers: Vec<Value> =
            said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [init, start, ask] = &answers[..] else { panic!("{answers:#?}") };
        assert_eq!(init["created"], true);
        assert_eq!(start["host_loop_activation"]["host_surface"], host);
        assert_eq!(start["host_loop_activation"]["activated"], true);
        assert!(start["task_body"].as_str().unwrap().contains("loopx turn admit"));
        assert_eq!(ask["should_run"], true, "{ask:#}");
        assert_eq!(ask["selected_todo"]["todo_id"], start["todos"][0]["todo_id"]);
        // And the two calls of a turn, as the body has them.
        let turn = |line: &str| {
            let line = format!("cd shop && {line} --format json");
            let output = Command::new("sh")
                .args(["-e", "-c", &line])
                .current_dir(sandbox.home())
                .env("PATH", format!("{}:{path}", bin.display()))
                .env("HOME", sandbox.home())
                .output()
                .unwrap();
            serde_json::from_slice::<Value>(&output.stdout)
                .unwrap_or_else(|e| panic!("{line}: {e}"))
        };
        let admitted = turn(start["admit_command"].as_str().unwrap());
        assert_eq!(admitted["should_run"], true, "{admitted:#}");
        let settle = start["settle_command"].as_str().unwrap();
        let settle =
            settle.replace("OUTCOME", "progress").replace("\"EVIDENCE\"", "\"a check passed\"");
        assert_eq!(turn(&settle)["ok"], true);
    }
}

/// The README's lines for a shell, as a script that a cron line could run: one wake, one todo.
#[test]
fn the_lines_for_a_shell_deliver_a_turn_a_wake() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let lines = readme.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(lines.lines().count(), 5);
    let sandbox = Sandbox::new();
    let goal = ["goal", "create", "--goal-id", "g", "--objective", "x", "--agent-id", "ada"];
    json_of(&sandbox, &goal);
    json_of(&sandbox, &["todo", "add", "--role", "agent", "--text", "[P1] First"]);
    let bin = sandbox.base().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(binary(), bin.join("loopx")).unwrap();
    let agent = sandbox.project().join("agent.sh");
    fs::write(&agent, "#!/bin/sh\nif [ -e worked ]; then echo progress; else echo completed; fi\necho worked >> worked\n").unwrap();
    fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // The second wake is to say what follows, and has no todo that could be completed.
    for wake in 1..=2 {
        let status = Command::new("sh")
            .args(["-e", "-c", lines])
            .current_dir(sandbox.project())
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("HOME", sandbox.home())
            .status()
            .unwrap();
        assert!(status.success(), "wake {wake}");
        let done = json_of(&sandbox, &["todo", "list", "--status", "done"]);
        assert_eq!(done["todos"].as_array().unwrap().len(), 1, "{done:#}");
    }
    assert_eq!(fs::read_to_string(sandbox.project().join("worked")).unwrap(), "worked\nworked\n");
}

#[test]
fn init_makes_a_goal_once_and_then_finds_it() {
    let sandbox = Sandbox::new();
    let made = json_of(&sandbox, &["init", "--objective", "Ship"]);
    assert_eq!((&made["created"], &made["goal_id"]), (&json!(true), &json!("project")));
    let registry = fs::read(sandbox.registry()).unwrap();
    let state = sandbox.project().join(".loopx/goals/project/ACTIVE_GOAL_STATE.md");
    let text = fs::read(&state).unwrap();
    let found = json_of(&sandbox, &["init", "--objective", "Something else"]);
    assert_eq!((&found["created"], &found["objective"]), (&json!(false), &json!("Ship")));
    assert_eq!(fs::read(sandbox.registry()).unwrap(), registry, "it was overwritten");
    assert_eq!(fs::read(&state).unwrap(), text);
    // From a folder below, the same goal.
    fs::create_dir(sandbox.project().join("src")).unwrap();
    let below = call(&sandbox).in_folder("src").json(["init", "--format", "json"]);
    assert_eq!(below["goal_id"], "project");
    assert!(!sandbox.project().join("src/.loopx").exists());
    let with = json_of(&sandbox, &["init", "--agent-id", "ada,bob"]);
    assert_eq!(with["registered"], json!(["ada", "bob"]));
    let second = json_of(&sandbox, &["init", "--goal-id", "other"]);
    assert_eq!(second["created"], true);
    assert_eq!(refusal(&sandbox, &["init"])["error_code"], "goal_required");
}

/// Two projects whose folders have one name are two goals.
#[test]
fn a_name_that_another_project_has_is_not_taken() {
    let sandbox = Sandbox::new();
    let name = |folder: &str| {
        let path = sandbox.base().join(folder);
        fs::create_dir_all(&path).unwrap();
        call(&sandbox).in_folder(&path).json(["init", "--format", "json"])["goal_id"].clone()
    };
    assert_eq!(name("x/site"), "site");
    assert_eq!(name("y/site"), "site-2");
    assert_eq!(name("z/Site"), "site-3");
    assert_eq!(name("x/site"), "site");
}

#[test]
fn init_connects_an_earlier_project_and_changes_nothing_of_it() {
    let sandbox = Sandbox::new();
    let goal = earlier::Goal::new("g", &["agent-a"]);
    loopx_tests::lay_out(&sandbox.project(), &earlier::files(&[goal]));
    let before = fs::read(sandbox.registry()).unwrap();
    let found = json_of(&sandbox, &["init"]);
    assert_eq!((&found["goal_id"], &found["imported"]), (&json!("g"), &json!(false)));
    assert_eq!(fs::read(sandbox.registry()).unwrap(), before);
    let guide = json_of(&sandbox, &["start-goal", "--host", "pi", "--goal-text", "x"]);
    assert_eq!(guide["connection_state"], "earlier_project");
}

#[test]
fn a_preview_writes_nothing_and_its_next_command_does_it() {
    let sandbox = Sandbox::new();
    let before = Tree::of(sandbox.base());
    let text = "Ship \"it\" & `more`, don't <stop>";
    let guide = json_of(
        &sandbox,
        &[
            "start-goal",
            "--guided",
            "--host",
            "claude-code",
            "--goal-text",
            text,
            "--todo",
            "[P1] One",
        ],
    );
    let changes = Tree::of(sandbox.base()).changes_since(&before);
    assert!(changes.is_empty(), "{changes:?}");
    assert_eq!(guide["host_loop_activation_required_after_todo_writeback"], true);
    let steps = guide["guided_transaction"]["ordered_steps"].as_array().unwrap();
    let ids: Vec<&str> = steps.iter().map(|s| s["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "inspect_connection",
            "connect_if_needed",
            "register_fresh_agent",
            "plan_ranked_todos",
            "write_ordered_todos",
            "activate_host_loop",
            "quota_guard"
        ]
    );
    // As a person pastes it into a shell.
    let bin = sandbox.base().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(binary(), bin.join("loopx")).unwrap();
    let output = Command::new("bash")
        .args(["-c", guide["next_command"].as_str().unwrap()])
        .current_dir(sandbox.project())
        .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()))
        .env("HOME", sandbox.home())
        .output()
        .unwrap();
    let done: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&done["executed"], &done["objective"]), (&json!(true), &json!(text)));
    assert_eq!(done["agent_id"], "claude-code");
}

#[test]
fn a_start_again_does_nothing_twice_and_undoes_nothing() {
    let sandbox = Sandbox::new();
    let line = [
        "start-goal",
        "--host",
        "codex-cli",
        "--goal-text",
        "Ship",
        "--todo",
        "[P1] One",
        "--todo",
        "[P2] Two",
        "--execute",
    ];
    let first = json_of(&sandbox, &line);
    let commits = || json_of(&sandbox, &["history"])["commits"].as_array().unwrap().len();
    let before = commits();
    let again = json_of(&sandbox, &line);
    assert_eq!(commits(), before);
    for key in ["goal_uid", "agent_id", "todos", "recorded_at", "task_body"] {
        assert_eq!(first[key], again[key], "{key}");
    }
    assert!(again["steps"].as_array().unwrap().iter().all(|s| s["state"] == "done_before"));
    // A todo that is done stays done, and a loop that was switched off is switched on again.
    let todo = first["todos"][0]["todo_id"].as_str().unwrap();
    json_of(
        &sandbox,
        &[
            "todo",
            "complete",
            "--todo-id",
            todo,
            "--agent-id",
            "codex-cli",
            "--no-follow-up",
            "--evidence",
            "seen",
        ],
    );
    json_of(
        &sandbox,
        &["heartbeat-prompt", "--host", "codex-cli", "--agent-id", "codex-cli", "--deactivate"],
    );
    json_of(&sandbox, &line);
    let todos = json_of(&sandbox, &["todo", "list"]);
    let open: Vec<&str> = todos["todos"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|t| t["status"] == "open")
        .map(|t| t["text"].as_str().unwrap())
        .collect();
    assert_eq!(open, ["[P2] Two"]);
    let told =
        json_of(&sandbox, &["heartbeat-prompt", "--host", "codex-cli", "--agent-id", "codex-cli"]);
    assert_eq!(told["host_loop_activation"]["state"], "active");
    // Another text on the goal is work, not a new objective.
    json_of(
        &sandbox,
        &["start-goal", "--host", "codex-cli", "--goal-text", "And a blog", "--execute"],
    );
    let shown = json_of(&sandbox, &["goal", "show"]);
    assert_eq!(shown["objective"], "Ship");
    let todos = json_of(&sandbox, &["todo", "list"]).to_string();
    assert!(todos.contains("And a blog"), "{todos}");
}

/// What would refuse a step refuses the start before its first write.
#[test]
fn a_start_that_is_refused_writes_nothing() {
    let sandbox = Sandbox::new();
    json_of(&sandbox, &["init", "--agent-id", "ada,bob"]);
    json_of(&sandbox, &["heartbeat-prompt", "--host", "pi", "--agent-id", "ada", "--activate"]);
    let before = Tree::of(sandbox.base());
    let start = |rest: &[&str]| {
        refusal(&sandbox, &[&["start-goal", "--goal-text", "x", "--execute"], rest].concat())
    };
    for (rest, code) in [
        (vec![], "host_unknown"),
        (vec!["--host", "codex"], "host_unknown"),
        (vec!["--host", "pi"], "agent_required"),
        (vec!["--host", "pi", "--agent-id", "eve"], "quota_agent_not_registered"),
        (vec!["--host", "codex-cli", "--agent-id", "ada"], "activation_conflict"),
        (
            vec!["--host", "pi", "--agent-id", "ada", "--todo", "fine", "--todo", " "],
            "request_invalid",
        ),
        (
            vec![
                "--host",
                "pi",
                "--agent-id",
                "ada",
                "--todo",
                "key ghp_0123456789abcdefghijABCDEFGHIJ456789",
            ],
            "text_refused",
        ),
    ] {
        let said = start(&rest);
        assert_eq!(said["error_code"], code, "{rest:?}: {said}");
        assert!(!said["next_command"].as_str().unwrap().is_empty());
    }
    let changes = Tree::of(sandbox.base()).changes_since(&before);
    assert!(changes.is_empty(), "{changes:?}");
    let peer = json_of(
        &sandbox,
        &["start-goal", "--host", "codex-cli", "--agent-id", "eve", "--new-peer", "--execute"],
    );
    assert_eq!(peer["agent_id"], "eve");
}

/// Every host has a preview, onboarding and commands; none panics, none names a path.
#[test]
fn every_host_is_onboarded() {
    let sandbox = Sandbox::new();
    json_of(&sandbox, &["init", "--agent-id", "ada"]);
    let types = json_of(&sandbox, &["agent-onboard", "--list-agent-types"]);
    let hosts = types["canonical_agent_types"].as_array().unwrap();
    assert_eq!(hosts.len(), 22);
    for row in hosts {
        let host = row["agent_type"].as_str().unwrap();
        let onboard =
            json_of(&sandbox, &["agent-onboard", "--agent-type", host, "--agent-id", "ada"]);
        assert_eq!(onboard["host_loop_activation"]["host_surface"], host);
        assert_eq!(onboard["host_loop_activation"]["activation_allowed"], true);
        assert_eq!(onboard["skill_delivery"]["status"], "waits_for_host_loop_activation");
        let fresh = json_of(&sandbox, &["agent-onboard", "--host", host]);
        assert_eq!(fresh["identity_selection"]["state"], "fresh_agent_registration_required");
        assert_eq!(fresh["commands"]["quota_guard"], Value::Null);
        let pack = json_of(&sandbox, &["bootstrap-command-pack", "--host", host]);
        for answer in [&onboard, &fresh, &pack] {
            let text = answer.to_string();
            assert!(text.len() < 4_096, "{host}: {} bytes", text.len());
            assert!(!text.contains(sandbox.base().to_str().unwrap()), "{text}");
        }
    }
    let message = call(&sandbox).run(["codex-cli-bootstrap-message", "--message-only"]);
    assert!(message.stdout.starts_with("Set up LoopX here, then stop.\n"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A preview keeps its budget whatever people call things.
    #[test]
    fn a_preview_fits_its_budget(
        goal in "[a-z][a-z0-9-]{0,120}",
        agent in "[a-z][a-z0-9-]{0,79}",
        text in prop_oneof![
            "[\u{4e00}-\u{4fff}]{1,3000}", "[\u{1f600}-\u{1f640}]{1,800}", "['`<>&\\\\\"]{1,4000}",
            "[\u{5d0}-\u{5ea} ]{1,3000}", "a{1,7000}",
        ],
        todos in prop::collection::vec("['`<> a\u{4e00}-\u{4f00}]{1,400}x", 0..20),
        executed in any::<bool>(),
    ) {
        let sandbox = Sandbox::new();
        if executed {
            json_of(&sandbox, &["init", "--goal-id", &goal, "--agent-id", "ada"]);
        }
        let mut args = vec!["start-goal", "--goal-id", &goal, "--agent-id", &agent, "--new-peer",
            "--host", "codex-app-ssh", "--goal-text", &text, "--format", "json"];
        for todo in &todos {
            args.extend(["--todo", todo.as_str()]);
        }
        let output = call(&sandbox).run(&args);
        prop_assert!(output.stdout.len() <= GUIDE_LIMIT, "{} bytes", output.stdout.len());
        let guide = output.json();
        if output.code == 0 {
            prop_assert_eq!(guide["guided_transaction"]["ordered_steps"].as_array().unwrap().len(), 7);
        }
    }
}
