//! The wheel: built from its sources, installed into a fresh environment of each CPython that is
//! here, and tested there; its types checked.

use crate::failure::{Failure, Result, While};
use crate::skips::Skips;
use crate::tools::{NEXTEST, on_path};
use crate::workspace::{Workspace, must_succeed};
use clap::Args;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Args)]
pub struct Arguments {
    /// Use a build of the dev profile, which is quicker to make
    #[arg(long)]
    debug: bool,
    /// Only make the wheel
    #[arg(long, conflicts_with = "bench")]
    pack: bool,
    /// Measure the wheel instead of testing it
    #[arg(long)]
    bench: bool,
    /// Only this interpreter, such as 3.12
    #[arg(long, value_name = "VERSION")]
    python: Option<String>,
    /// Only tests whose file name has this in it
    #[arg(value_name = "NAME")]
    only: Option<String>,
}

/// What builds and checks, from the package index.
const TOOLS: [&str; 3] = ["maturin>=1.14,<2", "mypy>=1.19", "pyright>=1.1.400"];

/// Minor versions of Python 3 that are looked for.
const MINORS: std::ops::RangeInclusive<u32> = 10..=16;

/// An interpreter that runs.
struct Python {
    version: String,
    program: PathBuf,
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut skips = Skips::default();
    skips.begin("python");
    let mut found = interpreters(workspace, &mut skips);
    if let Some(version) = &arguments.python {
        found.retain(|python| python.version == *version);
    }
    let Some(first) = found.first() else {
        return Err(Failure::new(
            "there is no CPython of that kind on PATH: install 3.10 or later",
        ));
    };
    let tools = Tools::ready(workspace, first)?;
    let wheel = tools.wheel(workspace, first, arguments.debug)?;
    eprintln!("   {}", wheel.display());
    if arguments.pack {
        return Ok(());
    }
    if arguments.bench {
        let python = environment(workspace, &tools, first, &wheel)?;
        let script = workspace.root.join("tests/python/bench.py");
        return must_succeed(workspace.program(&python).arg(script));
    }
    must_succeed(&mut workspace.cargo(["build", "--locked", "-p", "loopx-cli"]))?;
    let binary = workspace.target.join("debug").join(format!("loopx{}", env::consts::EXE_SUFFIX));
    for python in &found {
        tests(workspace, &tools, python, &wheel, &binary, arguments.only.as_deref())?;
    }
    if arguments.only.is_some() {
        return Ok(());
    }
    worker(workspace, first, &binary)?;
    tools.types(workspace, &wheel, &mut skips)?;
    for line in skips.lines() {
        eprintln!("   SKIPPED: {line}");
    }
    Ok(())
}

/// The suite of `loopx worker run` once more, with the Python worker in its place.
fn worker(workspace: &Workspace, python: &Python, binary: &Path) -> Result<()> {
    let inside = program_in(&workspace.target.join("python").join(&python.version), "python");
    let program = NEXTEST.ready(workspace)?;
    let suites = ["worker", "worker_wakes", "worker_replan", "worker_vectors"];
    must_succeed(
        workspace
            .program(program)
            .args(["nextest", "run", "--locked", "--no-fail-fast", "-p", "loopx-tests"])
            .args(suites.iter().flat_map(|suite| ["--test", suite]))
            .env("LOOPX_BIN_UNDER_TEST", binary)
            .env("LOOPX_WORKER_PYTHON", inside),
    )
}

/// The step of `cargo xtask test`: says what is absent, and passes without it.
pub fn test(workspace: &Workspace, skips: &mut Skips) -> Result<()> {
    let found = interpreters(workspace, skips);
    let Some(first) = found.first() else {
        skips.whole("there is no CPython from 3.10 on PATH, the wheel is not tested");
        return Ok(());
    };
    let tools = match Tools::ready(workspace, first) {
        Ok(tools) => tools,
        Err(failure) => {
            let tools = TOOLS.join(", ");
            skips.whole(format!(
                "{tools} cannot be installed ({failure}); the wheel is neither built nor tested"
            ));
            return Ok(());
        }
    };
    let wheel = tools.wheel(workspace, first, false)?;
    for python in &found {
        tests(workspace, &tools, python, &wheel, &workspace.release_binary(), None)?;
    }
    worker(workspace, first, &workspace.release_binary())?;
    tools.types(workspace, &wheel, skips)
}

/// Every CPython from 3.10, the usual one first; says what it passes over.
fn interpreters(workspace: &Workspace, skips: &mut Skips) -> Vec<Python> {
    let names = MINORS.map(|minor| format!("python3.{minor}"));
    let mut found: Vec<Python> = Vec::new();
    let named = ["python3".to_owned()].into_iter().chain(names).filter_map(|name| on_path(&name));
    for program in named.chain(of_pyenv()) {
        match ask(workspace, &program) {
            Some((version, true)) => {
                skips.part(format!("{version}t needs a wheel of its own, which releases bring"));
            }
            Some((version, false)) if found.iter().all(|python| python.version != version) => {
                found.push(Python { version, program });
            }
            _ => {}
        }
    }
    let here = |version: &String| found.iter().any(|python| python.version == *version);
    let absent: Vec<String> =
        MINORS.map(|minor| format!("3.{minor}")).filter(|version| !here(version)).collect();
    if !absent.is_empty() {
        skips.part(format!("not here: Python {}", absent.join(", ")));
    }
    found
}

/// Interpreters that pyenv keeps, whichever of them it has put on PATH.
fn of_pyenv() -> Vec<PathBuf> {
    let root = env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".pyenv")));
    let listed = root.and_then(|root| fs::read_dir(root.join("versions")).ok());
    let mut found: Vec<PathBuf> =
        listed.into_iter().flatten().flatten().map(|e| e.path().join("bin/python3")).collect();
    found.sort();
    found
}

/// The version of an interpreter that runs and is wanted, and whether it is free-threaded.
fn ask(workspace: &Workspace, program: &Path) -> Option<(String, bool)> {
    let script = "import sys, sysconfig\n\
        assert sys.implementation.name == 'cpython' and sys.version_info >= (3, 10)\n\
        print('%d.%d' % sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)";
    let said = workspace
        .program(program)
        .args(["-c", script])
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|said| said.status.success())?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let (version, free) = said.trim().split_once(' ')?;
    Some((version.to_owned(), free == "1"))
}

/// An environment with what builds and checks, kept beside the builds.
struct Tools {
    home: PathBuf,
}

fn program_in(environment: &Path, name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    environment.join(folder).join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

impl Tools {
    fn ready(workspace: &Workspace, python: &Python) -> Result<Self> {
        let home = workspace.target.join("python/tools");
        let tools = Self { home };
        let works = |name: &str| quiet(workspace.program(tools.program(name)).arg("--version"));
        // Written last: an environment of another list, or of half of one, is made anew.
        let stamp = tools.home.join("tools.txt");
        let list = TOOLS.join("\n");
        let is_this = fs::read_to_string(&stamp).is_ok_and(|text| text == list);
        if is_this && works("maturin") && works("mypy") && works("pip") {
            return Ok(tools);
        }
        eprintln!("   installing {} into {}", TOOLS.join(", "), tools.home.display());
        must_succeed(
            workspace.program(&python.program).args(["-m", "venv", "--clear"]).arg(&tools.home),
        )?;
        must_succeed(
            workspace
                .program(tools.program("pip"))
                .args(["install", "--quiet", "--disable-pip-version-check"])
                .args(TOOLS),
        )?;
        fs::write(&stamp, list).while_doing(|| format!("writing {}", stamp.display()))?;
        Ok(tools)
    }

    fn program(&self, name: &str) -> PathBuf {
        program_in(&self.home, name)
    }

    fn wheel(&self, workspace: &Workspace, python: &Python, debug: bool) -> Result<PathBuf> {
        let to = workspace.target.join("python/wheels");
        emptied(&to)?;
        must_succeed(
            workspace
                .program(self.program("maturin"))
                .args([
                    "build",
                    "--quiet",
                    "--locked",
                    "--profile",
                    if debug { "dev" } else { "release" },
                ])
                .arg("--manifest-path")
                .arg(workspace.root.join("bindings-python/Cargo.toml"))
                .arg("--interpreter")
                .arg(&python.program)
                .arg("--out")
                .arg(&to),
        )?;
        let made = fs::read_dir(&to).while_doing(|| format!("listing {}", to.display()))?;
        let wheels: Vec<PathBuf> = made.flatten().map(|entry| entry.path()).collect();
        // One wheel is for every version; a build that is bound to one is a mistake that only
        // its name shows.
        match wheels.as_slice() {
            [wheel] if wheel.to_string_lossy().contains("-cp310-abi3-") => Ok(wheel.clone()),
            other => Err(Failure::new(format!("the build left {other:?}, not one abi3 wheel"))),
        }
    }

    /// Puts the wheel, and nothing else, into an environment.
    fn install(&self, workspace: &Workspace, into: &Path, wheel: &Path) -> Result<()> {
        must_succeed(
            workspace
                .program(self.program("pip"))
                .arg("--python")
                .arg(into)
                .args(["install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"])
                .arg("--disable-pip-version-check")
                .arg(wheel),
        )
    }

    /// The package and the sample by mypy and pyright, and the stubs against what is there.
    fn types(&self, workspace: &Workspace, wheel: &Path, skips: &mut Skips) -> Result<()> {
        self.install(workspace, &self.home, wheel)?;
        let sample = workspace.root.join("tests/python/typed");
        let inside = |name: &str| {
            let mut command = workspace.program(self.program(name));
            // Not the root, whose folders would be taken for packages.
            command.current_dir(&sample);
            command
        };
        eprintln!("   mypy --strict, and its stubtest");
        must_succeed(inside("mypy").args(["--strict", "--package", "loopx"]))?;
        must_succeed(inside("mypy").args(["--strict", "sample.py"]))?;
        let stubs = ["-m", "mypy.stubtest", "--concise", "--ignore-disjoint-bases"];
        must_succeed(inside("python").args(stubs).args(["--allowlist", "allowed.txt", "loopx"]))?;
        if !quiet(inside("pyright").arg("--version")) {
            skips.part("pyright cannot be started here, its check is not made");
            return Ok(());
        }
        eprintln!("   pyright");
        let python = self.program("python");
        must_succeed(inside("pyright").arg("--pythonpath").arg(&python).arg("sample.py"))?;
        let package = workspace
            .program(&python)
            .args(["-c", "import loopx, os; print(os.path.dirname(loopx.__file__))"])
            .output()
            .while_doing(|| "asking where the package is".into())?;
        let package = String::from_utf8_lossy(&package.stdout).trim().to_owned();
        must_succeed(inside("pyright").arg("--pythonpath").arg(&python).arg(package))
    }
}

/// A fresh environment with the wheel; its interpreter.
fn environment(
    workspace: &Workspace,
    tools: &Tools,
    python: &Python,
    wheel: &Path,
) -> Result<PathBuf> {
    let home = workspace.target.join("python").join(&python.version);
    must_succeed(
        workspace
            .program(&python.program)
            .args(["-m", "venv", "--clear", "--without-pip"])
            .arg(&home),
    )?;
    let inside = program_in(&home, "python");
    tools.install(workspace, &inside, wheel)?;
    Ok(inside)
}

fn tests(
    workspace: &Workspace,
    tools: &Tools,
    python: &Python,
    wheel: &Path,
    binary: &Path,
    only: Option<&str>,
) -> Result<()> {
    let inside = environment(workspace, tools, python, wheel)?;
    let mut command = workspace.program(&inside);
    // What is named here has to be there: the tests pass over it only where nobody names it.
    match on_path("node") {
        Some(_) => {
            command.env("LOOPX_NATIVE", crate::node::native(workspace)?);
        }
        None => eprintln!("   SKIPPED: node is not on PATH, worker and Pi are not compared"),
    }
    must_succeed(
        command
            .arg(workspace.root.join("tests/python/run.py"))
            .args(only)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // Some of them panic on purpose.
            .env("RUST_BACKTRACE", "0")
            .env("LOOPX_FOLLOW", crate::node::follow(workspace)?)
            .env("LOOPX_BIN_UNDER_TEST", binary),
    )
}

/// Whether a program runs to a good end; what it says is left out.
fn quiet(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

fn emptied(folder: &Path) -> Result<()> {
    let doing = || format!("emptying {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).while_doing(doing)?;
    }
    fs::create_dir_all(folder).while_doing(doing)
}
