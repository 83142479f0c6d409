//! How JavaScript opens a kernel. The only file of this crate that reads the environment;
//! what is given goes before it.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use loopx_core::kernel::{Clock, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::registry::RouteInput;
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

/// How long a read on the JavaScript thread waits for a lock.
pub const QUICK: Duration = Duration::from_millis(50);
/// How long a call off it waits, unless something else is said.
pub const PATIENT: Duration = Duration::from_secs(30);

fn invalid(about: &str, sentence: String) -> Error {
    Error::new(ErrorCode::RequestInvalid, about).message(sentence)
}

/// An instant as texts give it.
pub fn instant(text: &str) -> Result<Instant> {
    Instant::parse(text).ok_or_else(|| {
        invalid("now", format!("{text:?} is not an RFC 3339 instant"))
            .next("write it like 2026-11-29T20:57:33Z")
    })
}

/// Reads `registry`, `runtime_root`, `cwd`, `home`, `label`, `now`, `deadline_ms` and
/// `independent_worktree`.
pub fn options(request: &str) -> Result<KernelOptions> {
    let given: Value = serde_json::from_str(request)
        .map_err(|e| invalid("options", format!("the options are malformed: {e}")))?;
    let text = |key: &str| match given.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid(key, format!("{key} is a text"))),
    };
    let surrounding = |name: &str| env::var_os(name).filter(|v| !v.is_empty());
    let path = |key: &str| text(key).map(|t| t.map(PathBuf::from));
    let cwd = match path("cwd")? {
        Some(folder) => folder,
        None => env::current_dir().map_err(|e| {
            Error::new(ErrorCode::IoFailed, "working directory")
                .message("the working directory is gone")
                .detail(e)
        })?,
    };
    let mut options = KernelOptions::new(RouteInput {
        flag: path("registry")?,
        env_registry: surrounding("LOOPX_REGISTRY").map(PathBuf::from),
        runtime_root_flag: path("runtime_root")?,
        env_runtime_root: surrounding("LOOPX_RUNTIME_ROOT").map(PathBuf::from),
        cwd,
        home: path("home")?.or_else(|| surrounding("HOME").map(PathBuf::from)),
    });
    let word = |name: &str| env::var(name).ok().filter(|v| !v.trim().is_empty());
    options.clock = match text("now")?.or_else(|| word("LOOPX_NOW")) {
        Some(fixed) => Clock::Fixed(instant(&fixed)?),
        None => Clock::System,
    };
    options.label = text("label")?.or_else(|| word("LOOPX_AGENT_ID"));
    options.deadline = match given.get("deadline_ms") {
        None | Some(Value::Null) => PATIENT,
        Some(value) => value
            .as_u64()
            .map(Duration::from_millis)
            .ok_or_else(|| invalid("deadline_ms", "deadline_ms is a number of ms".into()))?,
    };
    options.independent_worktree = given.get("independent_worktree") == Some(&Value::Bool(true));
    Ok(options)
}
