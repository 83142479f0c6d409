//! Asking for a decision changes nothing: no file is written, nothing is started,
//! nobody is called. So it works on a read-only mount, with the same answer.
//!
//! Each property is held over a project of the earlier tool, which is read in
//! place, and over a goal of this one.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::strace::{self, offences};
use loopx_tests::tree::Tree;
use loopx_tests::{Output, Sandbox, earlier, skip};
use std::fs;
use std::process::Command;

const NOW: &str = "2026-11-29T21:00:00+00:00";
const QUESTION: [&str; 6] = ["quota", "should-run", "--goal-id", "g", "--agent-id", "agent-a"];

fn project_of_the_earlier_tool() -> Sandbox {
    let goal = earlier::Goal::new("g", &["agent-a", "agent-b"]).agent_todo(
        "todo_000000000001",
        "[P1] one",
        "task_class=advancement_task",
    );
    Sandbox::with_files(&earlier::files(&[goal]))
}

fn goal_of_this_tool() -> Sandbox {
    let sandbox = Sandbox::new();
    let now = sandbox.at(NOW);
    now.json(["goal", "create", "--goal-id", "g", "--objective", "o", "--agent-id", "agent-a"]);
    now.json(["todo", "add", "--goal-id", "g", "--role", "agent", "--text", "[P1] one"]);
    sandbox
}

/// A decision that found work: an answer that says less may have read less.
#[track_caller]
fn assert_runs(output: &Output) {
    let answer = output.json();
    assert!(
        output.code == 0 && answer.get("should_run") == Some(&true.into()),
        "there is an open todo, so the agent should run\n{output}"
    );
}

/// Runs the question as a plain process and holds that the sandbox is as it was.
#[track_caller]
fn assert_changes_nothing(sandbox: &Sandbox) -> Output {
    let before = Tree::of(sandbox.base());
    let output = sandbox.at(NOW).run(QUESTION);
    assert_runs(&output);
    let changes = Tree::of(sandbox.base()).changes_since(&before);
    assert!(changes.is_empty(), "the decision changed files: {changes:#?}");
    output
}

#[track_caller]
fn assert_no_offence_under_strace(sandbox: &Sandbox) {
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("strace.log");
    let traceable = Command::new("strace")
        .args(["-f", "-e", strace::CALLS, "-o"])
        .arg(&log)
        .arg("true")
        .output();
    match traceable {
        Ok(done) if done.status.success() => {}
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            return skip("which system calls a decision makes", &format!("strace fails: {said}"));
        }
        Err(error) => {
            return skip("which system calls a decision makes", &format!("no strace: {error}"));
        }
    }
    let words = ["strace", "-f", "-s", "512", "-e", strace::CALLS, "-o", log.to_str().unwrap()];
    let call = sandbox.at(NOW);
    let output = call.finish(&mut call.command_under(words, QUESTION));
    assert_runs(&output);
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("execve("), "strace saw nothing start:\n{log}");
    let offences = offences(&log);
    assert!(offences.is_empty(), "a decision only reads, but:\n{}", offences.join("\n"));
}

/// Makes the sandbox a read-only mount, in a mount namespace of its own that ends
/// with the command, then becomes that command.
const READ_ONLY: &str = r#"
set -e
folder=$1; shift
mount --bind "$folder" "$folder"
mount -o remount,bind,ro "$folder"
cd "$PWD"
if touch "$folder/probe" 2>/dev/null; then echo "the mount can be written" >&2; exit 125; fi
exec "$@"
"#;

/// The words that put a command on a read-only sandbox, or why that cannot be here.
fn read_only_wrapper(sandbox: &Sandbox) -> Result<Vec<String>, String> {
    let folder = sandbox.base().to_str().unwrap();
    let mut said = String::new();
    for namespace in ["-m", "-rm"] {
        let words = ["unshare", namespace, "sh", "-c", READ_ONLY, "sh", folder];
        let (program, args) = words.split_first().unwrap();
        match Command::new(program).args(args).arg("true").current_dir(folder).output() {
            Ok(done) if done.status.success() => {
                return Ok(words.map(str::to_owned).to_vec());
            }
            Ok(done) => said.push_str(&String::from_utf8_lossy(&done.stderr)),
            Err(error) => return Err(format!("no unshare: {error}")),
        }
    }
    Err(said)
}

#[track_caller]
fn assert_same_answer_on_a_read_only_mount(sandbox: &Sandbox) {
    let writable = assert_changes_nothing(sandbox);
    let wrapper = match read_only_wrapper(sandbox) {
        Ok(wrapper) => wrapper,
        Err(why) => return skip("a decision on a read-only mount", &why),
    };
    let before = Tree::of(sandbox.base());
    let call = sandbox.at(NOW);
    let read_only = call.finish(&mut call.command_under(wrapper, QUESTION));
    assert_eq!(read_only, writable, "\nread-only: {read_only}\nwritable: {writable}");
    let changes = Tree::of(sandbox.base()).changes_since(&before);
    assert!(changes.is_empty(), "files changed on a read-only mount: {changes:#?}");
}

/// What a host asks before it runs writes nothing either, also for a project that is yet to
/// be imported.
#[test]
fn a_prompt_and_a_plan_only_read() {
    for sandbox in [goal_of_this_tool(), project_of_the_earlier_tool()] {
        let before = Tree::of(sandbox.base());
        let now = sandbox.at(NOW);
        now.json(["heartbeat-prompt", "--host", "pi", "--goal-id", "g", "--agent-id", "agent-a"]);
        now.json(["host-mode-plan", "--host", "pi", "--goal-id", "g"]);
        now.json(["connectors", "list"]);
        let changes = Tree::of(sandbox.base()).changes_since(&before);
        assert!(changes.is_empty(), "files changed: {changes:#?}");
    }
}

#[test]
fn a_decision_over_a_project_of_the_earlier_tool_only_reads() {
    assert_no_offence_under_strace(&project_of_the_earlier_tool());
}

#[test]
fn a_decision_over_a_goal_of_this_tool_only_reads() {
    assert_no_offence_under_strace(&goal_of_this_tool());
}

#[test]
fn a_project_of_the_earlier_tool_is_decided_from_a_read_only_mount() {
    assert_same_answer_on_a_read_only_mount(&project_of_the_earlier_tool());
}

#[test]
fn a_goal_of_this_tool_is_decided_from_a_read_only_mount() {
    assert_same_answer_on_a_read_only_mount(&goal_of_this_tool());
}
