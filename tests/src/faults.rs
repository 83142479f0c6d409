//! Disturbing the writing system calls of the binary: killed at the n-th, or the n-th
//! fails. See `tests/faultlib/faults.c`, which is built here and preloaded.

use crate::process::{self, LIMIT, Output};
use crate::{Sandbox, repository};
use loopx_core::kernel::{Clock, ExportRequest, Kernel, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::operation::Addressed;
use loopx_core::registry::RouteInput;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What happens at the chosen call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The process is killed before it.
    Kill,
    /// Half of a write is made, then the process is killed.
    Torn,
    /// Half of a write is made and told.
    Short,
    /// No space is left.
    NoSpace,
    /// The device fails.
    Io,
    /// It is not allowed.
    Denied,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Torn => "torn",
            Self::Short => "short",
            Self::NoSpace => "enospc",
            Self::Io => "eio",
            Self::Denied => "eacces",
        }
    }
}

/// One disturbance.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// What happens.
    pub kind: Kind,
    /// At which counted call, from 1; 0 for none.
    pub at: usize,
    /// At every later one too.
    pub sticky: bool,
}

/// The preloaded library.
#[derive(Debug, Clone)]
pub struct Library {
    path: PathBuf,
}

impl Library {
    /// Builds it, once; `None`, and why, where that cannot be done.
    pub fn built() -> Result<Self, String> {
        static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        BUILT.get_or_init(build).clone().map(|path| Self { path })
    }

    /// Runs `loopx <args>` in the sandbox under a fault; also the names of the counted
    /// calls, in order.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        sandbox: &Sandbox,
        now: &str,
        fault: Fault,
        args: impl IntoIterator<Item = A>,
    ) -> (Output, Vec<String>) {
        self.run_with(sandbox, now, fault, &[], args)
    }

    /// [`Library::run`] with more for the library to do, as its own source says.
    pub fn run_with<A: AsRef<OsStr>>(
        &self,
        sandbox: &Sandbox,
        now: &str,
        fault: Fault,
        more: &[(&str, &OsStr)],
        args: impl IntoIterator<Item = A>,
    ) -> (Output, Vec<String>) {
        let mut command = sandbox.at(now).command(args);
        command.envs(more.iter().copied());
        self.run_command(sandbox, fault, command)
    }

    /// [`Library::run`] of a command that the test has made.
    pub fn run_command(
        &self,
        sandbox: &Sandbox,
        fault: Fault,
        mut command: Command,
    ) -> (Output, Vec<String>) {
        let log = sandbox.base().join("fault.log");
        let _ = fs::remove_file(&log);
        self.attach(&mut command, fault);
        command.env("LOOPX_FAULT_LOG", &log);
        let output = process::finish(&mut command, b"", LIMIT)
            .unwrap_or_else(|| panic!("not over after {LIMIT:?}: {command:?}"));
        let calls = fs::read_to_string(&log).unwrap_or_default();
        (output, calls.lines().map(str::to_owned).collect())
    }

    /// Makes a command run under a fault.
    pub fn attach(&self, command: &mut Command, fault: Fault) {
        command
            .env("LD_PRELOAD", &self.path)
            .env("LOOPX_FAULT_KIND", fault.kind.name())
            .env("LOOPX_FAULT_AT", fault.at.to_string())
            .env("LOOPX_FAULT_STICKY", if fault.sticky { "1" } else { "0" });
    }
}

fn build() -> Result<PathBuf, String> {
    if !cfg!(target_os = "linux") {
        return Err("the library is for Linux".into());
    }
    let source = repository().join("tests/faultlib/faults.c");
    let text = fs::read(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let folder = tempfile::tempdir().map_err(|e| format!("no folder for the library: {e}"))?;
    let draft = folder.path().join("faults.so");
    // One file for all tests of this source, put in place whole.
    let path = std::env::temp_dir().join(format!("loopx-faults-{:x}.so", hasher.finish()));
    let compiled = Command::new("gcc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(&draft)
        .arg(&source)
        .output()
        .map_err(|e| format!("gcc does not start: {e}"))?;
    if !compiled.status.success() {
        return Err(format!("gcc: {}", String::from_utf8_lossy(&compiled.stderr)));
    }
    fs::rename(&draft, &path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut probe = Command::new("true");
    probe.env("LD_PRELOAD", &path).env("LOOPX_FAULT_KIND", "kill");
    let probed = probe.output().map_err(|e| format!("true does not start: {e}"))?;
    if !probed.status.success() {
        return Err(format!("no seccomp here: {}", String::from_utf8_lossy(&probed.stderr)));
    }
    Ok(path)
}

/// A folder's files, kept in memory, to be laid out again and again.
pub struct Copy(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Copy {
    /// What the sandbox holds now.
    pub fn of(sandbox: &Sandbox) -> Self {
        let mut entries = Vec::new();
        for name in ["project", "home"] {
            collect(&sandbox.base().join(name), &mut entries);
        }
        Self(entries)
    }

    /// Puts the sandbox back to it.
    pub fn restore(&self, sandbox: &Sandbox) {
        for name in ["project", "home"] {
            let folder = sandbox.base().join(name);
            fs::remove_dir_all(&folder)
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        }
        for (path, bytes) in &self.0 {
            let done = match bytes {
                None => fs::create_dir_all(path),
                Some(bytes) => fs::write(path, bytes),
            };
            done.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

fn collect(path: &Path, entries: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    if !path.is_dir() {
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return entries.push((path.to_owned(), Some(bytes)));
    }
    entries.push((path.to_owned(), None));
    for entry in fs::read_dir(path).expect("it can be listed") {
        collect(&entry.expect("it can be listed").path(), entries);
    }
}

/// What makes two states the same one, with random names replaced by the order in which
/// they come up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Each file or document by its role.
    pub parts: Vec<(&'static str, String)>,
}

impl State {
    /// The state of goal `g` in a sandbox. `random` says that ids differ between runs.
    pub fn of(sandbox: &Sandbox, now: &str, random: bool) -> Self {
        let mut names = HashMap::new();
        let mut part = |role, text: String| {
            let text = if random { masked(&text, &mut names) } else { text };
            (role, text)
        };
        let read = |path: PathBuf| match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("{error}"),
        };
        let registry = read(sandbox.registry());
        let parts = vec![
            part("registry", registry.clone()),
            part("global registry", read(sandbox.home().join(".loopx/registry.global.json"))),
            part("beside", read(sandbox.runtime_root().join("registry.global.json"))),
            part("state file", read(state_file(sandbox, &registry))),
            part("export", export(sandbox, now)),
        ];
        let mut parts = parts;
        if let (true, Some((_, export))) = (random, parts.last_mut()) {
            // Its rows are in the order of their ids.
            let mut rows: Vec<String> = export.lines().map(unnumbered).collect();
            rows.sort();
            *export = rows.join("\n");
        }
        Self { parts }
    }

    /// The first part that is not the same, shown.
    pub fn differs_from(&self, other: &Self) -> Option<String> {
        let mut pairs = self.parts.iter().zip(&other.parts);
        pairs.find(|(a, b)| a != b).map(|((role, a), (_, b))| {
            let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
            let (a, b) = line.unwrap_or((a, b));
            format!("{role}:\n  is       {a}\n  should be {b}")
        })
    }
}

/// Goal `g`'s state file.
fn state_file(sandbox: &Sandbox, registry: &str) -> PathBuf {
    let parsed: Value = serde_json::from_str(registry).unwrap_or_default();
    let goals = parsed.get("goals").and_then(Value::as_array).cloned().unwrap_or_default();
    let named = goals
        .iter()
        .find(|g| g.get("id").and_then(Value::as_str) == Some("g"))
        .and_then(|g| g.get("state_file"))
        .and_then(Value::as_str)
        .unwrap_or(".loopx/goals/g/ACTIVE_GOAL_STATE.md")
        .to_owned();
    sandbox.project().join(named)
}

fn kernel(sandbox: &Sandbox, now: &str) -> Kernel {
    let mut options = KernelOptions::new(RouteInput {
        flag: Some(sandbox.registry()),
        runtime_root_flag: Some(sandbox.runtime_root()),
        cwd: sandbox.project(),
        home: Some(sandbox.home()),
        ..RouteInput::default()
    });
    options.clock = Clock::Fixed(Instant::parse(now).expect("an instant"));
    Kernel::open(options).expect("the kernel opens")
}

/// The export of goal `g`, or why there is none.
fn export(sandbox: &Sandbox, now: &str) -> String {
    match kernel(sandbox, now).export(&Addressed::to("g"), &ExportRequest::default()) {
        Ok(answer) => answer.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Err(error) => error.to_json().to_string(),
    }
}

/// `g-<32 hex>`, `todo_<12 hex>` by their order, `<64 hex>` digests as `#`.
pub fn masked(text: &str, names: &mut HashMap<String, usize>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let known = [("g-", 32), ("g%2D", 32), ("todo_", 12), ("", 64)].into_iter().find_map(
            |(prefix, n)| {
                let hex = rest.strip_prefix(prefix)?.get(..n)?;
                hex.bytes().all(|b| b.is_ascii_hexdigit()).then_some((prefix, prefix.len() + n))
            },
        );
        let (head, tail) = rest.split_at(known.map_or(first.len_utf8(), |(_, n)| n));
        match known {
            None => out.push_str(head),
            Some(("", _)) => out.push('#'),
            Some((prefix, _)) => {
                let next = names.len();
                let number = *names.entry(head.replace("%2D", "-")).or_insert(next);
                out.push_str(&format!("{prefix}<{number}>"));
            }
        }
        rest = tail;
    }
    out
}

/// A masked line without the numbers of its names, and without a comma at its end.
fn unnumbered(line: &str) -> String {
    let pieces = line.trim_end_matches(',').split('<').map(|piece| {
        let number =
            piece.find('>').filter(|end| piece.bytes().take(*end).all(|b| b.is_ascii_digit()));
        number.and_then(|end| piece.get(end..)).unwrap_or(piece)
    });
    pieces.collect::<Vec<_>>().join("<")
}

/// What holds after any crash, beside what a repeat shows: each registry parses, and each
/// store is whole.
pub fn check_whole(sandbox: &Sandbox) -> Result<(), String> {
    for path in [
        sandbox.registry(),
        sandbox.home().join(".loopx/registry.global.json"),
        sandbox.runtime_root().join("registry.global.json"),
    ] {
        let Ok(bytes) = fs::read(&path) else { continue };
        serde_json::from_slice::<Value>(&bytes)
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    for store in stores(sandbox) {
        integrity(&store)?;
    }
    Ok(())
}

/// Every goal's store below the runtime root.
pub fn stores(sandbox: &Sandbox) -> Vec<PathBuf> {
    let goals = fs::read_dir(sandbox.runtime_root().join("goals"));
    let folders = goals.into_iter().flatten().flatten();
    folders.map(|entry| entry.path().join("goal.db")).filter(|path| path.is_file()).collect()
}

/// SQLite's own check of a store.
pub fn integrity(store: &Path) -> Result<(), String> {
    let open = || -> rusqlite::Result<String> {
        let conn = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.busy_timeout(LIMIT)?;
        conn.query_row("PRAGMA integrity_check", [], |row| row.get(0))
    };
    match open() {
        Ok(said) if said == "ok" => Ok(()),
        Ok(said) => Err(format!("{}: {said}", store.display())),
        Err(error) => Err(format!("{}: {error}", store.display())),
    }
}

/// Draft and temporary files that a crash left.
pub fn litter(sandbox: &Sandbox) -> usize {
    let mut entries = Vec::new();
    collect(sandbox.base(), &mut entries);
    let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    entries
        .iter()
        .filter_map(|(path, _)| name(path))
        .filter(|n| n.starts_with(".loopx-") || n.starts_with(".goal.db.") || n.ends_with(".draft"))
        .count()
}

/// Stores whose goal no registry of the sandbox has.
pub fn orphans(sandbox: &Sandbox) -> usize {
    let registry = fs::read_to_string(sandbox.registry()).unwrap_or_default();
    let goals = fs::read_dir(sandbox.runtime_root().join("goals"));
    let names = goals.into_iter().flatten().flatten().map(|e| e.file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with("g-") && !registry.contains(name.as_str()))
        .count()
}
