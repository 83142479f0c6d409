//! The process's surroundings as the kernel's arguments: environment, working directory,
//! clock. The only file of this crate that reads the environment.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopx_core::host::Place;
use loopx_core::host::install::Places;
use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::registry::RouteInput;
use loopx_core::{Error, ErrorCode, Result};

use crate::args::Global;

fn path(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

fn text(name: &str) -> Option<String> {
    env::var(name).ok().filter(|v| !v.trim().is_empty())
}

/// Opens the kernel on the route that flags and environment name.
pub fn kernel(global: &Global) -> Result<Kernel> {
    Kernel::open(options(global)?)
}

/// The same, with another time to wait for locks.
pub fn kernel_waiting(global: &Global, deadline: Duration) -> Result<Kernel> {
    Kernel::open(KernelOptions { deadline, ..options(global)? })
}

fn options(global: &Global) -> Result<KernelOptions> {
    let cwd = env::current_dir().map_err(|e| Error::no_working_directory(&e))?;
    let mut options = KernelOptions::new(RouteInput {
        flag: global.registry.clone(),
        env_registry: path("LOOPX_REGISTRY"),
        runtime_root_flag: global.runtime_root.clone(),
        env_runtime_root: path("LOOPX_RUNTIME_ROOT"),
        cwd,
        home: path("HOME"),
    });
    if let Some(fixed) = text("LOOPX_NOW") {
        let at = Instant::parse(&fixed).ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, "LOOPX_NOW")
                .message(format!("LOOPX_NOW is {fixed:?}, not an RFC 3339 instant"))
                .next("unset LOOPX_NOW, or write it like 2026-11-29T20:57:33Z")
        })?;
        options.clock = Clock::Fixed(at);
    }
    options.label = text("LOOPX_AGENT_ID");
    options.independent_worktree = in_own_worktree();
    Ok(options)
}

/// The clock that the kernel is given.
pub fn clock() -> Clock {
    match text("LOOPX_NOW").and_then(|fixed| Instant::parse(&fixed)) {
        Some(at) => Clock::Fixed(at),
        None => Clock::System,
    }
}

/// `PATH` as it is.
pub fn path_text() -> Option<String> {
    text("PATH")
}

/// The home folder as text.
pub fn home_text() -> Option<String> {
    text("HOME")
}

/// A path from the working directory on.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|e| Error::from_io(&e, "path", path))
}

/// The turn that whoever woke this agent has admitted and handed on.
pub fn turn() -> Option<String> {
    text("LOOPX_TURN")
}

/// The thread that a host names in its own variable.
pub fn thread(variable: &str) -> Option<String> {
    text(variable)
}

/// The folders of the search path.
pub fn search_path() -> Option<Vec<PathBuf>> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect())
}

/// Where hosts keep their files: a folder that a host's own variable names, else its usual
/// one below the home folder.
pub fn places(project: Option<&Path>) -> Places {
    let home = path("HOME");
    let of = |place, variable: Option<&str>, usual: &str| {
        if let Some((name, folder)) = variable.and_then(|name| Some((name, path(name)?))) {
            return Some((place, folder, format!("${name}")));
        }
        home.as_ref().map(|home| (place, home.join(usual), format!("~/{usual}")))
    };
    let homes = [
        of(Place::CodexHome, Some("CODEX_HOME"), ".codex"),
        of(Place::ClaudeHome, Some("CLAUDE_CONFIG_DIR"), ".claude"),
        of(Place::GeminiHome, None, ".gemini"),
        of(Place::CursorHome, None, ".cursor"),
    ];
    let cwd = env::current_dir().unwrap_or_default();
    Places { project: project.map(|p| cwd.join(p)), homes: homes.into_iter().flatten().collect() }
}

/// The clock that relative times count from: the one that the kernel is given.
pub fn now() -> Instant {
    match clock() {
        Clock::Fixed(at) => at,
        Clock::System => Instant::system_now(),
    }
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|v| !v.is_empty())
}

/// Whether text is coloured: on a terminal that can show it, or where `CLICOLOR_FORCE`
/// says so; never where `NO_COLOR` is set.
pub fn colour(terminal: bool) -> bool {
    let forced = env::var_os("CLICOLOR_FORCE").is_some_and(|v| !v.is_empty() && v != "0");
    let able = terminal && env::var_os("TERM").is_none_or(|t| t != "dumb");
    !is_set("NO_COLOR") && (forced || able)
}

/// Columns of the terminal that standard output is: `COLUMNS`, else what it says itself.
pub fn columns() -> Option<usize> {
    let named = text("COLUMNS").and_then(|c| c.trim().parse().ok()).filter(|c| *c > 0);
    named.or_else(|| {
        let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
        Some(usize::from(width.0)).filter(|c| *c > 0)
    })
}

/// Whether the working directory is in a git worktree of its own.
pub fn in_own_worktree() -> bool {
    env::current_dir().is_ok_and(|cwd| loopx_core::file::worktree::is_independent(&cwd))
}
