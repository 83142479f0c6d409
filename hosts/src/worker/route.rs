//! The state route of a worker: one lock and one small file. The lock lets one worker at
//! a time have the route; the file says for whom the route is, what the worker said last,
//! and which child may still be about. What the loop itself knows is in the goal's store.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopx_core::file::{
    Durability, FileLock, HolderNote, LockMode, read_bounded, read_holder, refuse_network,
    replace_with_mode, sha256_hex,
};
use loopx_core::host_loop::Binding;
use loopx_core::kernel::Whereabouts;
use loopx_core::model::Instant;
use loopx_core::{Error, ErrorCode, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Folder of the default route, in the runtime root.
const FOLDER: &str = "workers";
/// `schema_version` of the file.
const SCHEMA: &str = "loopx_external_worker_state_v1";
/// The largest file that is read.
const MAX_BYTES: u64 = 256 * 1024;
/// Keys of the earlier worker's file, which has no schema and no scope.
const EARLIER_KEYS: [&str; 5] = [
    "reset_token",
    "unchanged_count",
    "last_wake_rc",
    "last_wake_status",
    "last_wake_failure_kind",
];

/// For whom a route is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Registry that owns the goal.
    pub registry: String,
    /// Runtime root.
    pub runtime_root: String,
    /// Goal.
    pub goal_id: String,
    /// Agent, canonical.
    pub agent_id: String,
}

impl Scope {
    /// The scope of a goal and an agent.
    pub fn of(place: &Whereabouts) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self {
            registry: text(&place.registry),
            runtime_root: text(&place.runtime_root),
            goal_id: place.goal_id.to_string(),
            agent_id: place.agent.to_string(),
        }
    }

    /// 24 hex digits that stand for it.
    pub fn digest(&self) -> String {
        let Self { registry, runtime_root, goal_id, agent_id } = self;
        let canonical = json!({
            "agent_id": agent_id,
            "goal_id": goal_id,
            "registry": registry,
            "runtime_root": runtime_root,
        });
        sha256_hex(canonical.to_string().as_bytes()).chars().take(24).collect()
    }
}

/// What the file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// [`SCHEMA`].
    schema_version: String,
    /// For whom.
    scope: Scope,
    /// The goal's instance, when it had a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal_uid: Option<String>,
    /// What the kernel knows this route's loop by.
    pub session: String,
    /// The turn whose child may still be about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<String>,
    /// The pace of a worker that only observes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Binding>,
    /// The last status line, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status: Option<Map<String, Value>>,
}

/// A route that this process has to itself.
#[derive(Debug)]
pub struct Route {
    file: PathBuf,
    lock: FileLock,
    /// What the file holds, to be changed and then [`Route::save`]d.
    pub state: State,
}

impl Route {
    /// Takes the route: the file that was named, else the one of the goal and agent in the
    /// runtime root.
    ///
    /// Errors: [`ErrorCode::WorkerLocked`] names the process that has it;
    /// [`ErrorCode::WorkerStateUnreadable`] and [`ErrorCode::WorkerStateForeign`] leave the
    /// file as it is.
    pub fn take(place: &Whereabouts, named: Option<&Path>) -> Result<Self> {
        let scope = Scope::of(place);
        let file = match named {
            Some(file) => file.to_path_buf(),
            None => {
                let folder = place.runtime_root.join(FOLDER);
                let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
                made.map_err(|error| {
                    Error::from_io(&error, "worker folder", &folder)
                        .next("name a file in a folder of yours with --state-file")
                })?;
                folder.join(format!("{}.json", scope.digest()))
            }
        };
        refuse_network(&file)?;
        let lock = lock(&file, &scope)?;
        let uid = place.goal_uid.as_ref().map(ToString::to_string);
        let fresh = State {
            schema_version: SCHEMA.into(),
            session: format!("worker-{}", scope.digest()),
            goal_uid: uid.clone(),
            wake: None,
            observed: None,
            last_status: None,
            scope,
        };
        let state = match read(&file)? {
            None => fresh,
            Some(found) if found.scope != fresh.scope => {
                return Err(Error::new(ErrorCode::WorkerStateForeign, "state file").message(
                    "the state file is that of another registry, runtime root, goal or agent",
                ));
            }
            // The goal was made anew: of the earlier one only its child is of interest.
            Some(found) if found.goal_uid.is_some() && uid.is_some() && found.goal_uid != uid => {
                State { wake: found.wake, ..fresh }
            }
            Some(found) => State { goal_uid: uid.or(found.goal_uid), ..found },
        };
        Ok(Self { file, lock, state })
    }

    /// Writes the file; `Synced` before something that must not happen twice.
    pub fn save(&self, durability: Durability) -> Result<()> {
        if !self.lock.is_current() {
            return Err(Error::new(ErrorCode::WorkerLocked, "state file")
                .message("the lock file of this worker was removed or replaced")
                .next("start the worker anew"));
        }
        let mut bytes = serde_json::to_vec(&self.state)
            .map_err(|error| Error::new(ErrorCode::Internal, "state file").detail(error))?;
        bytes.push(b'\n');
        replace_with_mode(&self.file, &bytes, durability, 0o600)?;
        // One that was there before keeps its mode, and this one says where things are.
        let private = fs::metadata(&self.file).is_ok_and(|m| m.permissions().mode() & 0o077 == 0);
        if !private {
            let denied = |error| Error::from_io(&error, "state file", &self.file);
            fs::set_permissions(&self.file, Permissions::from_mode(0o600)).map_err(denied)?;
        }
        Ok(())
    }
}

/// The route's lock, for the life of the process.
fn lock(file: &Path, scope: &Scope) -> Result<FileLock> {
    let note = HolderNote {
        operation: "worker run".into(),
        agent: Some(scope.agent_id.clone()),
        pid: std::process::id(),
        acquired_at: Some(Instant::system_now()),
    };
    if let Some(lock) = FileLock::try_acquire(file, LockMode::Exclusive, &note)? {
        return Ok(lock);
    }
    // Who has it writes so just after taking it.
    let mut holder = read_holder(file);
    for _ in 0..20 {
        if holder.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
        holder = read_holder(file);
    }
    let since = holder.as_ref().and_then(|h| h.acquired_at.clone());
    let pid =
        holder.and_then(|h| h.pid).map_or_else(|| "a process".into(), |p| format!("process {p}"));
    let since = since.map_or_else(String::new, |at| format!(" since {at}"));
    Err(Error::new(ErrorCode::WorkerLocked, "state route").message(format!(
        "{pid} is the worker of goal {} and agent {} on this route{since}",
        scope.goal_id, scope.agent_id
    )))
}

/// What the file holds; `None` when there is none, or only the earlier worker's counts.
fn read(file: &Path) -> Result<Option<State>> {
    let unreadable = |why: &str| {
        Error::new(ErrorCode::WorkerStateUnreadable, "state file")
            .message(format!("the state file {why}; it is left as it is"))
    };
    let Some(bytes) = read_bounded(file, MAX_BYTES, "state file").map_err(|error| {
        let detail = error.detail.clone().unwrap_or_default();
        unreadable("cannot be read").detail(detail)
    })?
    else {
        return Ok(None);
    };
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|e| unreadable("is not JSON").detail(e))?;
    let schema = value.get("schema_version").and_then(Value::as_str);
    let earlier = value
        .as_object()
        .is_some_and(|map| map.keys().all(|key| EARLIER_KEYS.contains(&key.as_str())));
    match schema {
        Some(SCHEMA) => serde_json::from_value(value)
            .map(Some)
            .map_err(|e| unreadable("has another shape").detail(e)),
        None if earlier => Ok(None),
        _ => Err(unreadable("is of another schema")),
    }
}
