//! The checks, one function each, and the order in which `cargo xtask test` runs them.

use crate::failure::{Failure, Result, While};
use crate::skips::Skips;
use crate::tools::{self, DENY, NEXTEST};
use crate::workspace::{Workspace, must_succeed};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

struct Step {
    name: &'static str,
    run: fn(&Workspace, &mut Skips) -> Result<()>,
    /// Left out by `--quick`.
    slow: bool,
}

/// Every step but the last one. Clippy, the docs and the tests share the dev
/// profile, and with it build scripts and the C build of SQLite; only the
/// binary under test is built with the release profile.
const STEPS: [Step; 11] = [
    Step { name: "fmt-check", run: |workspace, _| fmt_check(workspace), slow: false },
    Step { name: "clippy", run: |workspace, _| lint(workspace), slow: false },
    Step { name: "docs", run: |workspace, _| docs(workspace), slow: true },
    Step { name: "install", run: |workspace, _| install(workspace), slow: false },
    Step { name: "deny", run: licences, slow: true },
    Step { name: "build the binary", run: |workspace, _| build(workspace), slow: false },
    Step { name: "build the tests", run: |workspace, _| build_tests(workspace), slow: false },
    Step { name: "doc tests", run: |workspace, _| doc_tests(workspace), slow: false },
    Step { name: "node", run: crate::node::test, slow: true },
    Step { name: "python", run: crate::python::test, slow: true },
    // After those: it holds what all doors have seen against one another.
    Step { name: "doors", run: doors, slow: true },
];

/// Everything, in order, up to the first step that fails. What was left out is said before the
/// tests, which come last: the output ends with the runner's own totals.
pub fn test(workspace: &mut Workspace, quick: bool) -> Result<()> {
    workspace.tallies = Some(emptied(workspace.target.join("vectors"))?);
    let workspace = &*workspace;
    let mut skips = Skips::default();
    let mut times = Vec::new();
    for step in &STEPS {
        skips.begin(step.name);
        if quick && step.slow {
            skips.whole("left out by --quick");
            continue;
        }
        times.push((step.name, announced(step, workspace, &mut skips)?));
    }
    eprintln!("\n== times so far");
    for (name, time) in &times {
        let skipped = skips.reason(name).map(|reason| format!("   SKIPPED: {reason}"));
        eprintln!("   {:>7.1} s  {name}{}", time.as_secs_f64(), skipped.unwrap_or_default());
    }
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    eprintln!("   {:>7.1} s  in all; the tests say their own time", total.as_secs_f64());
    skips.begin("tests");
    for (tool, loses) in [
        ("strace", "that a decision opens nothing for writing and starts nothing"),
        ("unshare", "that a decision answers from a read-only mount"),
        ("gcc", "that the examples of the C library compile and work"),
        ("valgrind", "that the C library neither loses memory nor reads beyond it"),
    ] {
        if tools::on_path(tool).is_none() {
            skips.part(format!("{tool} is not on PATH: it will not be tested {loses}"));
        }
    }
    let lines = skips.lines();
    eprintln!(
        "\n== SKIPPED: {}",
        if lines.is_empty() { "nothing" } else { "not everything was run" }
    );
    for line in lines {
        eprintln!("   {line}");
    }
    eprintln!("\n== tests");
    tests(workspace, &["--no-fail-fast"]).map_err(|failure| named("tests", &failure))
}

/// The shared vectors through Rust, the command line and C; Node and Python have steps of their
/// own. Then all of them are held against one another.
fn doors(workspace: &Workspace, skips: &mut Skips) -> Result<()> {
    tests(workspace, &["-E", "binary(vectors)"])?;
    let mut left_out = BTreeMap::new();
    for (door, step) in [("Node", "node"), ("Python", "python")] {
        if let Some(reason) = skips.reason(step) {
            left_out.insert(door, reason.clone());
        }
    }
    if !cfg!(target_os = "linux") {
        left_out.insert("C", "its runner is built for Linux only".to_owned());
    }
    crate::doors::compare(workspace, &left_out)
}

fn emptied(folder: PathBuf) -> Result<PathBuf> {
    let doing = || format!("emptying {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).while_doing(doing)?;
    }
    fs::create_dir_all(&folder).while_doing(doing)?;
    Ok(folder)
}

fn announced(step: &Step, workspace: &Workspace, skips: &mut Skips) -> Result<Duration> {
    let name = step.name;
    eprintln!("\n== {name}");
    let begun = Instant::now();
    let result = (step.run)(workspace, skips);
    let time = begun.elapsed();
    match result {
        Ok(()) => {
            let how = if skips.reason(name).is_some() { "SKIPPED" } else { "ok" };
            eprintln!("== {name}: {how}, {:.1} s", time.as_secs_f64());
            Ok(time)
        }
        Err(failure) => {
            eprintln!("== {name}: FAILED, {:.1} s", time.as_secs_f64());
            Err(named(name, &failure))
        }
    }
}

fn named(step: &str, failure: &Failure) -> Failure {
    Failure::new(format!("step `{step}` failed: {failure}"))
}

pub fn fmt(workspace: &Workspace) -> Result<()> {
    tools::need_component(workspace, "fmt", "rustfmt")?;
    must_succeed(&mut workspace.cargo(["fmt", "--all"]))
}

pub fn fmt_check(workspace: &Workspace) -> Result<()> {
    tools::need_component(workspace, "fmt", "rustfmt")?;
    must_succeed(&mut workspace.cargo(["fmt", "--all", "--", "--check"]))
}

pub fn lint(workspace: &Workspace) -> Result<()> {
    tools::need_component(workspace, "clippy", "clippy")?;
    must_succeed(&mut workspace.cargo([
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))
}

pub fn docs(workspace: &Workspace) -> Result<()> {
    must_succeed(
        workspace
            .cargo(["doc", "--workspace", "--no-deps", "--locked"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}

pub fn deny(workspace: &Workspace) -> Result<()> {
    licences(workspace, &mut Skips::default())
}

/// Licences, bans and sources always; advisories where their database already is
/// on this machine, because it comes from a host that a build need not reach.
fn licences(workspace: &Workspace, skips: &mut Skips) -> Result<()> {
    let program = DENY.ready(workspace)?;
    must_succeed(workspace.program(&program).args([
        "--locked",
        "check",
        "--hide-inclusion-graph",
        "licenses",
        "bans",
        "sources",
    ]))?;
    let Some(database) = advisory_database() else {
        skips.part(
            "advisories are not checked, there is no database of them on this machine \
             (`cargo deny fetch db` brings one)",
        );
        return Ok(());
    };
    eprintln!("   advisories: checked against {}", database.display());
    let offline = ["--locked", "--offline", "check", "advisories"];
    must_succeed(workspace.program(&program).args(offline))
}

/// Where cargo-deny keeps its clones of advisory databases.
fn advisory_database() -> Option<PathBuf> {
    let home = match env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => env::home_dir()?.join(".cargo"),
    };
    let databases = home.join("advisory-dbs");
    let mut entries = fs::read_dir(&databases).ok()?.flatten();
    entries.find(|entry| entry.path().is_dir()).map(|entry| entry.path())
}

fn install(workspace: &Workspace) -> Result<()> {
    let program = NEXTEST.ready(workspace)?;
    must_succeed(workspace.program(program).args(["nextest", "--version"]))
}

/// Files that are made from the sources and committed; a test finds stale ones.
pub fn generate(workspace: &Workspace) -> Result<()> {
    let root = workspace.root.clone();
    must_succeed(
        workspace
            .cargo([
                "run",
                "--quiet",
                "--locked",
                "-p",
                "loopx-tests",
                "--bin",
                "loopx-generate",
                "--",
            ])
            .arg(root),
    )
}

/// Writes the kernel's answers into `tests/vectors`.
pub fn vectors(workspace: &Workspace, only: Option<&str>) -> Result<()> {
    let words = ["run", "--quiet", "--locked", "-p", "loopx-tests", "--bin", "loopx-record", "--"];
    must_succeed(workspace.cargo(words).args(only))
}

/// The binary that the tests run and that `bench` measures.
pub fn build(workspace: &Workspace) -> Result<()> {
    must_succeed(&mut workspace.cargo(["build", "--release", "--locked", "-p", "loopx-cli"]))?;
    let binary = workspace.release_binary();
    if binary.is_file() {
        Ok(())
    } else {
        Err(Failure::new(format!("the build left no {}", binary.display())))
    }
}

fn build_tests(workspace: &Workspace) -> Result<()> {
    let program = NEXTEST.ready(workspace)?;
    must_succeed(workspace.program(program).args([
        "nextest",
        "run",
        "--workspace",
        "--locked",
        "--no-run",
    ]))?;
    // No test links the C library, so that it is not built with them; beside the tests' own
    // library it shares their build of the kernel.
    let words = ["build", "--locked", "-p", "loopx-ffi", "-p", "loopx-tests", "--lib"];
    must_succeed(&mut workspace.cargo(words))
}

fn doc_tests(workspace: &Workspace) -> Result<()> {
    must_succeed(&mut workspace.cargo(["test", "--doc", "--workspace", "--locked", "--quiet"]))
}

fn tests(workspace: &Workspace, which: &[&str]) -> Result<()> {
    let program = NEXTEST.ready(workspace)?;
    must_succeed(
        workspace
            .program(program)
            .args(["nextest", "run", "--workspace", "--locked"])
            .args(which)
            .env("LOOPX_BIN_UNDER_TEST", workspace.release_binary()),
    )
}
