//! The command line as its users meet it: the whole reference as one snapshot, every
//! example run, mistakes answered with what was meant, and output that can be piped.
//!
//! # How examples are run
//!
//! Every line under `Example:` of every `--help` is run in a project of its own and must
//! exit with 0. The project is prepared by [`prepare`]; names in examples stand for
//! what it makes:
//!
//! - `demo` is the goal, `agent-a` and `agent-b` are its agents;
//! - `todo_1a2b3c` is an open agent todo on which agent-a has delivered an unspent outcome;
//! - `todo_4d5e6f` is an open gate that decides a scope, `todo_7a8b9c` a monitor,
//!   `todo_0d9e8f` a done todo;
//! - `t-1` is a turn of agent-a that goes on, and `k1` the key of its lease on
//!   `todo_1a2b3c`; they are there for the examples that name what is to exist;
//! - the grant 12 and the spend 12 stand for the last ones; the first acceptance entry is
//!   unmet;
//! - `demo.json` is an export of `demo`.
//!
//! Examples that make `demo` themselves run where it is not there yet.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::{Call, Sandbox};
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::process::Stdio;

const NOW: &str = "2026-11-29T21:00:00Z";

/// Commands in the order of `--help`, each with its words.
fn commands(sandbox: &Sandbox) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    visit(sandbox, Vec::new(), &mut found);
    found
}

fn visit(sandbox: &Sandbox, words: Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let asked: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let output = sandbox.call().unlocated().run(&asked);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{asked:?}");
    let below: Vec<String> = output
        .stdout
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        // Deeper lines go on with the sentence of the one above.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    found.push((words.clone(), output.stdout));
    for name in below {
        visit(sandbox, words.iter().cloned().chain([name]).collect(), found);
    }
}

#[test]
fn the_whole_reference() {
    let sandbox = Sandbox::new();
    let mut all = String::new();
    for (words, help) in commands(&sandbox) {
        let name = std::iter::once("loopx".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
        let _ = writeln!(all, "### {name}\n\n{}", help.trim_end());
        all.push('\n');
    }
    insta::assert_snapshot!("reference", all);
}

/// The commands under `Example:`, each as one line: a line that ends in a backslash goes
/// on in the next one.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Example:").skip(1);
    let block: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
    for line in &block {
        assert!(line.chars().count() <= 80, "wider than a terminal: {line}");
    }
    let joined = block.join("\n").replace(" \\\n", " ");
    joined.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Words as a shell parts them: at spaces outside double quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    assert!(!quoted, "a quote is left open: {line}");
    words.retain(|w| !w.is_empty());
    words
}

fn call(sandbox: &Sandbox) -> Call<'_> {
    sandbox.at(NOW).unlocated()
}

fn todo(sandbox: &Sandbox, more: &[&str]) -> String {
    let args = ["todo", "add", "--goal-id", "demo", "--format", "json"];
    let added = call(sandbox).json(args.iter().chain(more));
    added["todo_id"].as_str().unwrap().to_owned()
}

/// A project for one example, and what its names stand for.
fn prepare(example: &str) -> (Sandbox, Vec<(&'static str, String)>) {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join(".loopx")).unwrap();
    if example.starts_with("loopx goal create") {
        return (sandbox, Vec::new());
    }
    call(&sandbox).json([
        "goal",
        "create",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--agent-id",
        "agent-b",
    ]);
    let work = todo(&sandbox, &["--role", "agent", "--text", "[P1] Write the parser"]);
    let monitor = ["--task-class", "continuous_monitor", "--cadence", "30m", "--target-key", "ci"];
    let monitor = todo(
        &sandbox,
        &[&["--role", "agent", "--text", "[P3] Watch the build"], &monitor[..]].concat(),
    );
    let gate = ["--task-class", "user_gate", "--text", "May we publish?"];
    let scope = "production:goal:publish";
    let named = ["--unblocks-todo-id", monitor.as_str(), "--decision-scope", scope];
    let gate = todo(&sandbox, &[&["--role", "user"], &gate[..], &named[..]].concat());
    call(&sandbox).json([
        "refresh-state",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--todo-id",
        &work,
        "--delivery-outcome",
        "outcome_progress",
        "--evidence",
        "tests pass",
    ]);
    call(&sandbox).json(["export", "--goal-id", "demo", "--file", "demo.json"]);
    if example.starts_with("loopx store restore") {
        call(&sandbox).json(["store", "backup", "--goal-id", "demo", "--dir", "backups/monday"]);
    }
    if example.starts_with("loopx import") {
        let elsewhere = Sandbox::new();
        fs::create_dir_all(elsewhere.project().join(".loopx")).unwrap();
        fs::copy(sandbox.project().join("demo.json"), elsewhere.project().join("demo.json"))
            .unwrap();
        return (elsewhere, Vec::new());
    }
    let mut names = vec![("todo_1a2b3c", work), ("todo_4d5e6f", gate), ("todo_7a8b9c", monitor)];
    names.extend(needed(&sandbox, example, &names[0].1));
    (sandbox, names)
}

/// What only some examples need to be there.
fn needed(sandbox: &Sandbox, example: &str, work: &str) -> Option<(&'static str, String)> {
    let run = |line: &str| {
        let args = words(line);
        call(sandbox).json(args.iter().map(String::as_str).chain(["--goal-id", "demo"]))
    };
    let is = |command: &str| example.starts_with(&format!("loopx {command} "));
    let leased = format!(
        "task-lease acquire --todo-id {work} --owner agent-a --idempotency-key k1 --ttl-seconds 600"
    );
    match example {
        _ if ["turn renew", "turn release", "turn settle", "turn show"].into_iter().any(is) => {
            run("turn admit --agent-id agent-a --turn-instance-id t-1");
        }
        _ if ["task-lease renew", "task-lease transfer", "task-lease release"]
            .into_iter()
            .any(is) =>
        {
            run(&leased);
        }
        _ if is("goal accept meet") => {
            run("goal accept add --text parses");
        }
        _ if is("todo archive") => {
            let done = todo(sandbox, &["--role", "agent", "--text", "[P2] Read the paper"]);
            run(&format!("todo complete --todo-id {done} --agent-id agent-a --no-follow-up"));
            return Some(("todo_0d9e8f", done));
        }
        _ if is("gate withdraw") => {
            let scope = "production:goal:release";
            let gate = run(&format!("gate open --question Release? --decision-scope {scope}"));
            let gate = gate["todo_id"].as_str().unwrap();
            run(&format!("gate decide --todo-id {gate} --outcome approve"));
            let grant = run("gate grants")["grants"][0]["grant_id"].as_u64().unwrap();
            return Some(("--grant-id 12", format!("--grant-id {grant}")));
        }
        _ if is("quota void-slot") => {
            let spend = format!("quota spend-slot --agent-id agent-a --todo-id {work} --execute");
            let spend = run(&spend)["spend_id"].as_u64().unwrap();
            return Some(("--spend-id 12", format!("--spend-id {spend}")));
        }
        _ => {}
    }
    None
}

#[test]
fn every_help_has_an_example_and_every_example_runs() {
    let pages = commands(&Sandbox::new());
    let without: Vec<String> = pages
        .iter()
        .filter(|(_, help)| examples(help).is_empty())
        .map(|(words, _)| words.join(" "))
        .collect();
    assert!(without.is_empty(), "no example in the help of: {without:?}");
    let mut failed = String::new();
    for example in pages.iter().flat_map(|(_, help)| examples(help)) {
        let (sandbox, names) = prepare(&example);
        let line = names.iter().fold(example.clone(), |line, (name, id)| line.replace(name, id));
        let args = words(line.trim_start_matches("loopx "));
        let output =
            call(&sandbox).run(args.iter().map(String::as_str).chain(["--format", "text"]));
        if output.code != 0 || !output.stderr.is_empty() || output.stdout.is_empty() {
            let _ = writeln!(failed, "{line}\n{output}");
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// Wrong usage: exit 2, on standard error, naming what is closest.
#[test]
fn a_wrong_word_is_answered_with_the_closest() {
    let sandbox = Sandbox::new();
    for (args, meant) in [
        (vec!["todo", "list", "--stauts", "open"], "--status"),
        (vec!["todo", "add", "--role", "agnet", "--text", "x"], "'agent'"),
        (vec!["todo", "list", "--status", "opne"], "'open'"),
        (vec!["quota", "should-rnu"], "'should-run'"),
        (vec!["quota", "should-run", "--agent-idd", "a"], "--agent-id"),
        (vec!["stauts"], "'status'"),
        (vec!["--fromat", "json", "status"], "--format"),
        (vec!["errors", "--code", "goal_not_fuond"], "'goal_not_found'"),
        (vec!["schema", "todo.ad"], "'todo.add'"),
        (vec!["completions", "bahs"], "'bash'"),
        (
            vec!["todo", "complete", "--todo-id", "todo_1", "--decision-outcome", "aprove"],
            "'approve'",
        ),
        (vec!["history", "--limit", "0"], "1..=10000"),
    ] {
        let output = sandbox.call().unlocated().run(&args);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{args:?}\n{output}");
        assert!(output.stderr.contains(meant), "{args:?} should name {meant}\n{output}");
    }
}

#[test]
fn a_flag_with_an_equals_sign_is_the_same_flag() {
    let (sandbox, _) = prepare("");
    let apart = call(&sandbox).run(["status", "--goal-id", "demo", "--format", "json"]);
    let joined = call(&sandbox).run(["status", "--goal-id=demo", "--format=json"]);
    assert_eq!((apart.code, &apart), (0, &joined));
    let markdown = call(&sandbox).run(["status", "--goal-id=demo", "--format=markdown"]);
    let text = call(&sandbox).run(["status", "--goal-id=demo", "--format=text"]);
    assert_eq!((text.code, &text), (0, &markdown));
}

/// A reader that has seen enough is no failure: nothing on standard error, no signal.
#[test]
fn a_broken_pipe_is_silent() {
    let (sandbox, _) = prepare("");
    for args in [
        vec!["schema", "--format", "json"],
        vec!["completions", "bash"],
        vec!["--help"],
        vec!["man"],
    ] {
        let mut child = call(&sandbox)
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = child.wait().unwrap();
        assert_eq!((status.code(), said.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// What is about the call goes to standard error; the answer alone to standard output.
#[test]
fn standard_output_is_the_answer_alone() {
    let (sandbox, _) = prepare("");
    fs::write(sandbox.project().join(".loopx/registry.json"), "{").unwrap();
    let output = call(&sandbox).run(["--verbose", "status", "--format", "json"]);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(output.json()["error_code"], "quota_state_invalid_json");
    assert!(output.stderr.starts_with("loopx: "), "{output}");
    let home = sandbox.base().to_str().unwrap();
    assert!(!output.stdout.contains(home), "a path of this machine is in the answer\n{output}");
    // What says what the tool is needs no registry.
    for args in [vec!["errors"], vec!["schema"], vec!["completions", "fish"], vec!["man", "quota"]]
    {
        assert_eq!(call(&sandbox).run(&args).code, 0, "{args:?}");
    }
}

#[test]
fn completions_and_man_pages_name_every_command() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = commands(&sandbox)
        .iter()
        .filter(|(words, _)| words.len() == 1)
        .map(|(words, _)| words[0].clone())
        .collect();
    assert!(names.len() > 15, "{names:?}");
    for args in [
        vec!["completions", "bash"],
        vec!["completions", "zsh"],
        vec!["completions", "fish"],
        vec!["man"],
    ] {
        let page = sandbox.call().unlocated().run(&args).stdout;
        for name in &names {
            let shown = page.contains(name) || page.contains(&name.replace('-', "\\-"));
            assert!(shown, "{args:?} does not name {name}");
        }
    }
    for name in &names {
        let page = sandbox.call().unlocated().run(["man", name]).stdout;
        assert!(page.contains(".TH"), "{name}: {page}");
    }
}
