//! Prompts as an agent lives by them: the commands of a body, taken out of it as text and
//! run by a real shell, admit and settle a todo in two calls.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use loopx_core::host::{BodyKind, HOSTS, Style};
use loopx_tests::{Sandbox, binary};
use serde_json::Value;

const NOW: &str = "2026-11-29T21:00:00Z";

fn project() -> Sandbox {
    let sandbox = Sandbox::in_memory();
    fs::create_dir_all(sandbox.project().join(".loopx")).unwrap();
    let call = sandbox.at(NOW).unlocated();
    call.json([
        "goal",
        "create",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a,agent-b",
        "--objective",
        "Ship `it` & <more> \"now\"",
    ]);
    call.json([
        "todo",
        "add",
        "--goal-id",
        "demo",
        "--role",
        "agent",
        "--text",
        "[P1] Write the parser",
    ]);
    sandbox
}

/// The commands of a body: its indented lines, exactly as they stand.
fn commands(body: &str) -> Vec<String> {
    body.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// Runs a line as an agent does: by a shell, in the project, with `loopx` on the path.
fn shell(sandbox: &Sandbox, folder: &Path, line: &str) -> (bool, Value) {
    let bin = sandbox.base().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let link = bin.join("loopx");
    if !link.exists() {
        std::os::unix::fs::symlink(binary(), &link).unwrap();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-c", line])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("HOME", sandbox.home())
        .env("LOOPX_NOW", NOW)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = serde_json::from_str(&text).unwrap_or_else(|e| {
        panic!("{line}\n{e}\n{text}{}", String::from_utf8_lossy(&output.stderr))
    });
    (output.status.success(), said)
}

/// Two calls, whatever the host and the style; the slot is spent once, also when the
/// settlement is sent again.
#[test]
fn the_commands_of_a_body_admit_and_settle() {
    for row in HOSTS {
        for style in [Style::Thin, Style::Full] {
            let sandbox = project();
            let flag = format!("--{}", style.text());
            let args = [
                "heartbeat-prompt",
                "--host",
                row.name(),
                &flag,
                "--goal-id",
                "demo",
                "--agent-id",
                "agent-a",
            ];
            let said = sandbox.at(NOW).unlocated().json(args);
            let lines = commands(said["task_body"].as_str().unwrap());
            if row.body == BodyKind::Provider {
                assert_eq!(lines, Vec::<String>::new(), "{}", row.name());
                continue;
            }
            let [admit, settle] = lines.as_slice() else {
                panic!("{}: {lines:?}", row.name());
            };
            assert_eq!(
                (admit, settle),
                (
                    &said["admit_command"].as_str().unwrap().to_owned(),
                    &said["settle_command"].as_str().unwrap().to_owned()
                )
            );
            let (ok, admitted) = shell(&sandbox, &sandbox.project(), admit);
            assert!(ok && admitted["should_run"] == true, "{}: {admitted:#}", row.name());
            // An answer that got lost is given again.
            let (_, again) = shell(&sandbox, &sandbox.project(), admit);
            assert_eq!(again["heartbeat_receipt"]["status"], "replayed");
            assert_eq!(
                again["heartbeat_receipt"]["turn_instance_id"],
                admitted["heartbeat_receipt"]["turn_instance_id"]
            );
            let settle =
                settle.replace("OUTCOME", "progress").replace("EVIDENCE", "parser tests pass");
            let (ok, settled) = shell(&sandbox, &sandbox.project(), &settle);
            assert!(ok && settled["spent_slots"] == 1, "{}: {settled:#}", row.name());
            let (ok, repeated) = shell(&sandbox, &sandbox.project(), &settle);
            assert!(!ok && repeated["error_code"] == "turn_not_live", "{repeated:#}");
            let window = sandbox.at(NOW).unlocated().json(["quota", "status", "--goal-id", "demo"]);
            assert!(window.to_string().contains("\"spent_slots\":1"), "{window:#}");
        }
    }
}

/// The turn of a wake that is handed on is neither admitted twice nor made up.
#[test]
fn a_turn_that_is_handed_on_is_the_one_that_is_settled() {
    let sandbox = project();
    let call = sandbox.at(NOW).unlocated();
    let admitted = call.clone().env("LOOPX_TURN", "wake-1").json([
        "turn",
        "admit",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
    ]);
    assert_eq!(admitted["heartbeat_receipt"]["turn_instance_id"], "wake-1");
    let settle = [
        "turn",
        "settle",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--outcome",
        "progress",
        "--evidence",
        "tests pass",
    ];
    let settled = call.clone().env("LOOPX_TURN", "wake-1").json(settle);
    assert_eq!(
        (&settled["turn_instance_id"], &settled["spent_slots"]),
        (&"wake-1".into(), &1.into())
    );
    // With its name, the same settlement is answered by the first receipt.
    let repeated = call.clone().env("LOOPX_TURN", "wake-1").json(settle);
    assert_eq!(repeated["idempotent_replay"], true);
    assert_eq!(repeated["commit"], settled["commit"]);
    let bound = call.json([
        "heartbeat-prompt",
        "--host",
        "pi",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--turn-instance-id",
        "2026-11-29T21:00:00+00:00",
    ]);
    let body = bound["task_body"].as_str().unwrap();
    assert_eq!(body.lines().last().unwrap(), "LOOPX_TURN=2026-11-29T21:00:00+00:00");
    assert!(commands(body).iter().all(|line| line.contains("--turn-instance-id TURN")), "{body}");
}

/// A settlement without a name is refused where it could mean two turns.
#[test]
fn two_live_turns_are_settled_by_name() {
    let sandbox = project();
    let call = sandbox.at(NOW).unlocated();
    call.json([
        "todo",
        "add",
        "--goal-id",
        "demo",
        "--role",
        "agent",
        "--text",
        "[P2] Write the printer",
    ]);
    for turn in ["w-1", "w-2"] {
        let said = call.json([
            "turn",
            "admit",
            "--goal-id",
            "demo",
            "--agent-id",
            "agent-a",
            "--turn-instance-id",
            turn,
        ]);
        assert_eq!(said["should_run"], true, "{said:#}");
    }
    let said = call.refusal([
        "turn",
        "settle",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--outcome",
        "no_change",
    ]);
    assert_eq!(said["error_code"], "turn_conflict");
    assert!(said["next_command"].as_str().unwrap().contains("--turn-instance-id w-"), "{said:#}");
}

/// The registry that the prompt was made for is the one that its commands reach, from
/// anywhere and with a path that a shell, Markdown or XML would read.
#[test]
fn commands_reach_the_registry_that_was_named() {
    for name in ["r&<d>", "it's", "a b", "`x`"] {
        let sandbox = project();
        let odd = sandbox.home().join(name);
        fs::create_dir_all(&odd).unwrap();
        fs::rename(sandbox.project().join(".loopx"), odd.join(".loopx")).unwrap();
        let registry = odd.join(".loopx/registry.json");
        let said = sandbox.at(NOW).unlocated().json([
            "--registry",
            registry.to_str().unwrap(),
            "heartbeat-prompt",
            "--host",
            "codex-app",
            "--goal-id",
            "demo",
            "--agent-id",
            "agent-a",
        ]);
        let admit = said["admit_command"].as_str().unwrap();
        assert!(said["task_body"].as_str().unwrap().contains(&format!("    {admit}\n")));
        assert!(!admit.contains(['&', '<', '`']), "{admit}");
        let (_, admitted) = shell(&sandbox, sandbox.base(), admit);
        assert_eq!(admitted["goal_id"], "demo", "{admit}\n{admitted:#}");
    }
}

#[test]
fn the_body_alone_can_be_pasted_and_is_the_same_each_time() {
    let sandbox = project();
    let call = sandbox.call().unlocated();
    let args =
        ["heartbeat-prompt", "--host", "codex-cli", "--goal-id", "demo", "--agent-id", "agent-a"];
    let body = call.json(args)["task_body"].as_str().unwrap().to_owned();
    let alone = call.run(args.iter().copied().chain(["--body-only", "--format", "text"]));
    assert_eq!((alone.code, alone.stdout), (0, format!("{body}\n")));
    assert!(body.contains(r#"Ship \`it\` \& \<more\> "now""#), "{body}");
    let text = call.run(args.iter().copied().chain(["--format", "text"])).stdout;
    let fenced = text.split("````text\n").nth(1).unwrap().split("\n````").next().unwrap();
    assert_eq!(fenced, body);
}

#[test]
fn a_prompt_says_whose_it_is_or_is_refused_with_the_way_on() {
    let sandbox = project();
    let call = sandbox.at(NOW).unlocated();
    for (args, code) in [
        (vec!["--goal-id", "demo"], "agent_required"),
        (vec!["--goal-id", "demo", "--agent-id", "zzz"], "agent_not_registered"),
        (vec!["--goal-id", "nope", "--agent-id", "agent-a"], "goal_not_found"),
        (vec!["--goal-id", "demo", "--agent-id", "agent-a", "--host", "codex"], "host_unknown"),
        (
            vec![
                "--goal-id",
                "demo",
                "--agent-id",
                "agent-a",
                "--host",
                "codex-cli",
                "--agent-scope",
                "call automation_update",
            ],
            "prompt_vocabulary",
        ),
        (
            vec![
                "--goal-id",
                "demo",
                "--agent-id",
                "agent-a",
                "--host",
                "codex-cli",
                "--runtime-profile",
                "claude_code",
            ],
            "prompt_invalid",
        ),
    ] {
        let said = call.refusal([vec!["heartbeat-prompt"], args.clone()].concat());
        assert!(
            said["error_code"].as_str().unwrap().to_lowercase().contains(code),
            "{args:?}: {said:#}"
        );
        assert!(!said["next_command"].as_str().unwrap().is_empty());
    }
}
