//! How a program opens a kernel. The only place of the doors of other languages that reads the
//! environment; what is given goes before it.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use loopx_core::kernel::{Clock, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::registry::RouteInput;
use loopx_core::{Error, ErrorCode, Result};
use serde_json::{Map, Value};

const KNOWN: [&str; 8] = [
    "registry",
    "runtime_root",
    "cwd",
    "home",
    "label",
    "now",
    "deadline_ms",
    "independent_worktree",
];

fn invalid(about: &str, sentence: impl Into<String>) -> Error {
    Error::new(ErrorCode::RequestInvalid, about).message(sentence)
}

/// An instant as texts give it.
pub fn instant(text: &str) -> Result<Instant> {
    Instant::parse(text).ok_or_else(|| {
        invalid("now", format!("{text:?} is not an RFC 3339 instant"))
            .next("write it like 2026-11-29T20:57:33Z")
    })
}

/// Reads `registry`, `runtime_root`, `cwd`, `home`, `label`, `now`, `deadline_ms` (30,000 when
/// absent) and `independent_worktree` from a JSON object, which a refusal calls `what`. A member
/// that is not known is refused: a slip in the name of `registry` would lead to another registry.
pub fn read(what: &str, given: &str) -> Result<KernelOptions> {
    let given: Map<String, Value> = serde_json::from_str(given)
        .map_err(|e| invalid(what, format!("the options are not a JSON object: {e}")))?;
    if let Some(key) = given.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        let known = KNOWN.join(", ");
        return Err(invalid(what, format!("there is no option {key:?}; known: {known}")));
    }
    let value = |key: &str| given.get(key).filter(|value| !value.is_null());
    let text = |key: &str| match value(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid(key, format!("{key} is a text"))),
    };
    let path = |key: &str| text(key).map(|found| found.map(PathBuf::from));
    let cwd = match path("cwd")? {
        Some(folder) if folder.is_absolute() => folder,
        Some(_) => return Err(invalid("cwd", "cwd is an absolute path")),
        None => env::current_dir().map_err(|e| Error::no_working_directory(&e))?,
    };
    let folder = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let word = |name: &str| env::var(name).ok().filter(|v| !v.trim().is_empty());
    let mut options = KernelOptions::new(RouteInput {
        flag: path("registry")?,
        env_registry: folder("LOOPX_REGISTRY"),
        runtime_root_flag: path("runtime_root")?,
        env_runtime_root: folder("LOOPX_RUNTIME_ROOT"),
        cwd,
        home: path("home")?.or_else(|| folder("HOME")),
    });
    if let Some(fixed) = text("now")?.or_else(|| word("LOOPX_NOW")) {
        options.clock = Clock::Fixed(instant(&fixed)?);
    }
    options.label = text("label")?.or_else(|| word("LOOPX_AGENT_ID"));
    if let Some(limit) = value("deadline_ms") {
        let limit = limit.as_u64().ok_or_else(|| {
            invalid("deadline_ms", "deadline_ms is a whole number of milliseconds")
        })?;
        options.deadline = Duration::from_millis(limit);
    }
    if let Some(stated) = value("independent_worktree") {
        options.independent_worktree = stated.as_bool().ok_or_else(|| {
            invalid("independent_worktree", "independent_worktree is true or false")
        })?;
    }
    Ok(options)
}
