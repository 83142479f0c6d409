//! A project folder, a HOME and a runtime root that belong to one test.

use crate::binary::{binary, python_worker, repository};
use crate::layout::lay_out;
use crate::process::{self, LIMIT, Output};
use serde_json::{Map, Value};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder that is gone with the value. Everything that the binary is told about
/// lies in it: `project` (with the runtime root `rt`), `home` and `tmp`.
pub struct Sandbox {
    _folder: TempDir,
    base: PathBuf,
}

impl Sandbox {
    #[expect(clippy::new_without_default, reason = "it makes folders, which a default should not")]
    pub fn new() -> Self {
        Self::below(&env::temp_dir())
    }

    /// A sandbox in memory where the system has such a file system: for many short runs
    /// that would wait for the disk most of the time.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::below(memory) } else { Self::new() }
    }

    fn below(parent: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("loopx-").tempdir_in(parent);
        let folder = folder.expect("a folder");
        // The real path, because the binary may print the real path.
        let base = folder.path().canonicalize().expect("the folder is there");
        for name in ["project/rt", "home", "tmp"] {
            fs::create_dir_all(base.join(name)).expect("a folder in it");
        }
        Self { _folder: folder, base }
    }

    /// A sandbox whose project has these files; see [`lay_out`].
    pub fn with_files(files: &Map<String, Value>) -> Self {
        let sandbox = Self::new();
        lay_out(&sandbox.project(), files);
        sandbox
    }

    /// The folder above the project and HOME: everything that a command could touch.
    pub fn base(&self) -> &Path {
        &self.base
    }

    pub fn project(&self) -> PathBuf {
        self.base.join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    pub fn registry(&self) -> PathBuf {
        self.project().join(".loopx/registry.json")
    }

    pub fn runtime_root(&self) -> PathBuf {
        self.project().join("rt")
    }

    /// The registry's entry of a goal.
    pub fn entry(&self, goal: &str) -> Value {
        let path = self.registry();
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let registry: Value = serde_json::from_slice(&bytes).expect("the registry is JSON");
        let goals = registry.get("goals").and_then(Value::as_array).expect("it has goals");
        goals
            .iter()
            .find(|entry| entry.get("id").and_then(Value::as_str) == Some(goal))
            .unwrap_or_else(|| panic!("no goal {goal} in {registry:#}"))
            .clone()
    }

    /// The folder of a goal's store, which holds `goal.db`.
    pub fn store_folder(&self, goal: &str) -> PathBuf {
        let entry = self.entry(goal);
        let uid = entry.get("goal_uid").and_then(Value::as_str);
        let uid = uid.unwrap_or_else(|| panic!("no goal_uid in {entry:#}"));
        self.runtime_root().join("goals").join(uid)
    }

    /// A call with nothing set beside the sandbox itself.
    pub fn call(&self) -> Call<'_> {
        Call {
            sandbox: self,
            env: Vec::new(),
            stdin: Vec::new(),
            cwd: self.project(),
            located: true,
        }
    }

    /// A call at an instant: `LOOPX_NOW`.
    pub fn at(&self, instant: &str) -> Call<'_> {
        self.call().at(instant)
    }

    pub fn env(&self, name: &str, value: impl AsRef<OsStr>) -> Call<'_> {
        self.call().env(name, value)
    }

    pub fn stdin(&self, bytes: impl Into<Vec<u8>>) -> Call<'_> {
        self.call().stdin(bytes)
    }

    /// [`Call::run`] with nothing else set.
    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.call().run(args)
    }

    /// [`Call::json`] with nothing else set.
    #[track_caller]
    pub fn json<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Value {
        self.call().json(args)
    }
}

/// How the binary is called. It can be used again: `let noon = sandbox.at("...")`.
///
/// The environment holds `PATH`, `HOME`, `LANG`, `TMPDIR` and what [`Call::env`] adds.
#[derive(Clone)]
pub struct Call<'s> {
    sandbox: &'s Sandbox,
    env: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
    cwd: PathBuf,
    located: bool,
}

impl Call<'_> {
    pub fn at(self, instant: &str) -> Self {
        self.env("LOOPX_NOW", instant)
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().into()));
        self
    }

    /// What the process reads. Without it, or empty, its input is at its end at once.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// The working folder, the project's unless said; a relative one is below the project.
    pub fn in_folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.cwd = self.sandbox.project().join(folder);
        self
    }

    /// Without `--registry`, `--runtime-root` and `--format json`, so that the binary
    /// has to find its own way.
    pub fn unlocated(mut self) -> Self {
        self.located = false;
        self
    }

    /// Without `--registry`, found from the project's folder as a person would; stores stay
    /// where the sandbox has them.
    pub fn from_project(mut self) -> Self {
        self.located = false;
        let root = self.sandbox.runtime_root();
        self.env("LOOPX_RUNTIME_ROOT", root)
    }

    /// The command line and its environment, to be run by the test itself.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut words = self.words(args).into_iter();
        let program = words.next().expect("there is at least the binary");
        self.command_of(program, words)
    }

    /// Another program that runs this command line: `program args... loopx ...`.
    pub fn command_under<A: AsRef<OsStr>, W: AsRef<OsStr>>(
        &self,
        wrapper: impl IntoIterator<Item = W>,
        args: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut words: Vec<OsString> =
            wrapper.into_iter().map(|word| word.as_ref().to_owned()).collect();
        words.extend(self.words(args));
        let mut words = words.into_iter();
        let program = words.next().expect("there is at least the binary");
        self.command_of(program, words)
    }

    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        let mut command = self.command(args);
        self.finish(&mut command)
    }

    /// Runs a command made by [`Call::command`] or [`Call::command_under`].
    pub fn finish(&self, command: &mut Command) -> Output {
        process::finish(command, &self.stdin, LIMIT)
            .unwrap_or_else(|| panic!("not over after {LIMIT:?}: {command:?}"))
    }

    /// The answer of a command that succeeds.
    #[track_caller]
    pub fn json<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Value {
        let mut command = self.command(args);
        let output = self.finish(&mut command);
        assert!(output.code == 0, "{command:?}\n{output}");
        output.json()
    }

    /// The answer of a command that is refused.
    #[track_caller]
    pub fn refusal<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Value {
        let mut command = self.command(args);
        let output = self.finish(&mut command);
        assert!(output.code != 0, "{command:?}\nwas not refused\n{output}");
        output.json()
    }

    /// The binary and its arguments. For `worker run` the worker under test, where another
    /// one is.
    fn words<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Vec<OsString> {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let (mut words, args) = match (python_worker(), args.as_slice()) {
            (Some(python), [first, second, rest @ ..]) if first == "worker" && second == "run" => {
                let script = repository().join("scripts/external_scheduler_worker.py");
                (vec![python, script.into()], rest)
            }
            _ => (vec![binary().into()], args.as_slice()),
        };
        if self.located {
            words.extend(["--format".into(), "json".into(), "--registry".into()]);
            words.push(self.sandbox.registry().into());
            words.push("--runtime-root".into());
            words.push(self.sandbox.runtime_root().into());
        }
        words.extend_from_slice(args);
        words
    }

    fn command_of(
        &self,
        program: impl AsRef<OsStr>,
        args: impl IntoIterator<Item = OsString>,
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.cwd)
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.sandbox.home())
            .env("LANG", "C.UTF-8")
            .env("TMPDIR", self.sandbox.base().join("tmp"))
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}
