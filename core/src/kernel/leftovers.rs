//! What a killed process leaves behind, found by the next one that holds the same lock: a
//! person's text is brought back, and what nobody needs is taken away when it is old.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Kernel;
use super::goal::Goal;
use super::snapshot::MAX_STATE_FILE;
use crate::error::{Error, ErrorCode, Result};
use crate::file::leftover::{Leftover, is_leftover, is_old, leftovers_of, sweep};
use crate::file::{Durability, process, read_bounded, replace, resolve_target, sha256_hex};
use crate::model::{GoalUid, Instant};
use crate::registry::{Registry, place};
use crate::store::{Read, SqliteStore};

/// Leftovers of a goal are looked for at every commit whose number divides by it.
const TIDY_EVERY: u64 = 64;

/// Says, while a projection is being written, what the state file was an edit of before.
const BEFORE: &str = "projection.before";

/// Marks a store whose goal is being made.
const CREATING: &str = "create.draft";

/// What a folder of a goal that was never made may hold, beside drafts of its store.
const OF_A_STORE: &[&str] =
    &["goal.db", "goal.db-journal", "goal.db.lock", "projection.base", BEFORE];

/// Says that a projection is being written over a state file that was drawn as `before`.
/// `kept` says that those are the bytes of `projection.base`, which stands until it is
/// replaced.
pub(super) fn mark(goal: &Goal, uid: &GoalUid, before: Option<&[u8]>, kept: bool) -> Result<()> {
    let mark = goal.folder(uid).join(BEFORE);
    if kept {
        let link = || fs::hard_link(goal.base_path(uid), &mark);
        match link() {
            Ok(()) => return Ok(()),
            // Of a projection that was cut off.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                remove(&mark)?;
                if link().is_ok() {
                    return Ok(());
                }
            }
            Err(_) => {}
        }
    }
    replace(&mark, before.unwrap_or_default(), Durability::Unsynced)
}

/// The projection is written, and nothing that it displaced is in danger.
pub(super) fn unmark(goal: &Goal, uid: &GoalUid) {
    // Left behind, it only makes the next writer look.
    let _ = fs::remove_file(goal.folder(uid).join(BEFORE));
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::from_io(&error, "projection.before", path))
        }
        _ => Ok(()),
    }
}

/// Brings back a text that a writer took out of the state file's place and was killed before
/// it could keep it: it becomes the displaced text beside the store, which is taken in next.
/// The caller holds the store's queue.
pub(super) fn rescue(goal: &Goal, uid: &GoalUid, read: &dyn Read, now: Instant) -> Result<()> {
    let mark = goal.folder(uid).join(BEFORE);
    if !fs::exists(&mark).unwrap_or(true) {
        return Ok(());
    }
    let Some(path) = goal.state_path() else { return Ok(()) };
    let mut pending = false;
    for found in swaps(&path) {
        let text = match persons_text(&found, read) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(_) => {
                // Too large, or not to be read: a person will know.
                let name = found.path.file_stem().unwrap_or_default().as_encoded_bytes();
                let _ = fs::rename(&found.path, beside(&path, name));
                continue;
            }
        };
        let kept = goal.folder(uid).join("displaced.md");
        let there = read_bounded(&kept, MAX_STATE_FILE, "displaced state file")?;
        if !(found.is_abandoned() || found.is_old(now)) || there.is_some_and(|t| t != text) {
            // Its writer lives, or another text is to be taken in first.
            pending = true;
            continue;
        }
        let before = read_bounded(&mark, MAX_STATE_FILE, "projection.before")?;
        keep_displaced(goal, uid, &text, before.as_deref().filter(|b| !b.is_empty()))?;
        // Safe beside the store.
        let _ = fs::remove_file(&found.path);
    }
    if !pending {
        unmark(goal, uid);
    }
    Ok(())
}

fn swaps(state_file: &Path) -> Vec<Leftover> {
    let Ok(target) = resolve_target(state_file) else { return Vec::new() };
    leftovers_of(&target).into_iter().filter(|l| l.swap).collect()
}

/// What a displaced file holds, unless that is a projection of ours.
fn persons_text(found: &Leftover, read: &dyn Read) -> Result<Option<Vec<u8>>> {
    let Some(text) = read_bounded(&found.path, MAX_STATE_FILE, "displaced state file")? else {
        return Ok(None);
    };
    let ours = text.is_empty() || read.was_projected(&sha256_hex(&text))?;
    Ok((!ours).then_some(text))
}

/// Keeps a displaced text beside the store, with what it was an edit of.
pub(super) fn keep_displaced(
    goal: &Goal,
    uid: &GoalUid,
    text: &[u8],
    base: Option<&[u8]>,
) -> Result<()> {
    let folder = goal.folder(uid);
    if let Some(base) = base {
        replace(&folder.join("displaced.base"), base, Durability::Synced)?;
    }
    replace(&folder.join("displaced.md"), text, Durability::Synced)
}

/// A displaced text that cannot be taken in is laid beside the state file, where a person
/// finds it.
pub(super) fn lay_beside(goal: &Goal, text: &[u8]) -> Result<()> {
    let Some(path) = goal.state_path() else { return Ok(()) };
    replace(&beside(&path, text), text, Durability::Synced)
}

fn beside(state_file: &Path, text: &[u8]) -> PathBuf {
    let mut name = state_file.file_name().unwrap_or_default().to_owned();
    let digest = sha256_hex(text);
    name.push(format!(".displaced-{}", digest.get(..8).unwrap_or_default()));
    state_file.with_file_name(name)
}

/// Whether a file is a text that [`lay_beside`] made for that state file.
pub(super) fn is_laid_beside(name: &str, state_file: &Path) -> bool {
    let of = state_file.file_name().map(|n| n.to_string_lossy().into_owned());
    of.is_some_and(|of| name.strip_prefix(&of).is_some_and(|r| r.starts_with(".displaced-")))
}

/// Now and then, what killed writers of a goal have left is taken away. The caller holds the
/// store's queue.
pub(super) fn tidy_now_and_then(
    goal: &Goal,
    uid: &GoalUid,
    read: &dyn Read,
    now: Instant,
) -> Result<()> {
    if (read.last_commit()? + 1).is_multiple_of(TIDY_EVERY) {
        tidy(goal, uid, read, now)?;
    }
    Ok(())
}

/// Takes away what killed writers of a goal have left, when it is old; how many files. The
/// caller holds the store's queue.
pub(super) fn tidy(goal: &Goal, uid: &GoalUid, read: &dyn Read, now: Instant) -> Result<usize> {
    let folder = goal.folder(uid);
    let mut gone = 0;
    for name in ["projection.base", BEFORE, "displaced.md", "displaced.base"] {
        gone += sweep(&folder.join(name), now);
    }
    if let Some(target) = goal.state_path().and_then(|p| resolve_target(&p).ok()) {
        gone += sweep(&target, now);
        for found in leftovers_of(&target).iter().filter(|l| l.swap && l.is_old(now)) {
            match persons_text(found, read) {
                Ok(None) => gone += usize::from(fs::remove_file(&found.path).is_ok()),
                // The next write brings it back, or what cannot be read stays.
                Ok(Some(_)) => mark(goal, uid, None, true)?,
                Err(_) => {}
            }
        }
    }
    Ok(gone + drafts(&folder, now))
}

/// Drafts of stores whose maker is gone.
fn drafts(folder: &Path, now: Instant) -> usize {
    let mut gone = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = draft_of(&name) else { continue };
        if process::is_gone(pid) && is_old(&entry.path(), now) {
            gone += usize::from(fs::remove_file(entry.path()).is_ok());
        }
    }
    gone
}

/// Whose draft of a store that name is: `.goal.db.<pid>.new`, or its journal.
pub(super) fn draft_of(name: &str) -> Option<u32> {
    let name = name.strip_suffix("-journal").unwrap_or(name);
    name.strip_prefix(".goal.db.")?.strip_suffix(".new")?.parse().ok()
}

/// Makes a goal whose store comes before its registry entry: marks the store while `make`
/// works, and takes it away again when that fails. The caller holds the lock of the goal's
/// registry until then.
pub(super) fn creating<T>(
    goal: &Goal,
    uid: &GoalUid,
    make: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let folder = goal.folder(uid);
    fs::create_dir_all(&folder).map_err(|e| Error::from_io(&e, "store folder", &folder))?;
    let content = format!("{} -\n", owner(goal.registry.path()));
    let mark = folder.join(CREATING);
    let made = replace(&mark, content.as_bytes(), Durability::Unsynced).and_then(|()| make());
    match &made {
        Err(error) if error.code != ErrorCode::DurabilityUnknown => {
            // Nobody knows of it. What stays of it all the same is an orphan.
            let _ = remove_orphan(&folder);
        }
        // The registry names the store, so that the mark means nothing any more.
        _ => drop(fs::remove_file(&mark)),
    }
    made
}

/// Digest of where a registry lies.
pub(super) fn owner(registry: &Path) -> String {
    sha256_hex(place::absolute(registry).as_os_str().as_encoded_bytes())
}

/// A folder that a killed process began for a goal of this registry, and whether the
/// registry names it by now.
fn begun(registry: &Registry, runtime_root: &Path) -> Vec<(PathBuf, bool)> {
    let owner = format!("{} ", owner(registry.path()));
    let named: Vec<&str> =
        registry.goals().iter().filter_map(|g| g.get("goal_uid")?.as_str()).collect();
    let mut found = Vec::new();
    for entry in fs::read_dir(runtime_root.join("goals")).into_iter().flatten().flatten() {
        let mark = read_bounded(&entry.path().join(CREATING), 4096, CREATING).ok().flatten();
        let mine = mark.is_some_and(|text| text.starts_with(owner.as_bytes()));
        if mine || is_shell(&entry.path()) {
            let name = entry.file_name();
            found.push((entry.path(), named.iter().any(|uid| name == *uid)));
        }
    }
    found.sort();
    found
}

/// A store's folder that holds nothing but content that never reached its file: its maker was
/// killed before it could mark it.
fn is_shell(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let of_store = name.as_deref().and_then(|name| name.strip_prefix("g-"));
    let hex = |text: &str| text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    of_store.is_some_and(hex)
        && fs::read_dir(folder).is_ok_and(|entries| {
            entries.flatten().all(|e| is_leftover(&e.file_name().to_string_lossy()))
        })
}

/// Stores whose goal a killed process was about to make in this registry and never did.
pub(super) fn orphans(registry: &Registry, runtime_root: &Path) -> Vec<PathBuf> {
    let begun = begun(registry, runtime_root).into_iter();
    begun.filter(|(_, named)| !named).map(|(folder, _)| folder).collect()
}

impl Kernel {
    /// Takes away old [`orphans`]; how many. Nothing of them was ever acknowledged, and what
    /// they were made from lies where it lay. The caller holds the registry's lock, which their
    /// maker held.
    pub(super) fn remove_orphans(&self, registry: &Registry, runtime_root: &Path) -> usize {
        let mut gone = 0;
        for (folder, named) in begun(registry, runtime_root) {
            if named {
                let _ = fs::remove_file(folder.join(CREATING));
            } else if is_old(&folder, self.now()) && self.is_bare(&folder) {
                gone += usize::from(remove_orphan(&folder).is_ok());
            }
        }
        gone
    }

    /// Nothing has been written to that store since it was made, as far as it can be read.
    fn is_bare(&self, folder: &Path) -> bool {
        let path = folder.join("goal.db");
        if !fs::exists(&path).unwrap_or(true) {
            return true;
        }
        let uid = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(uid) = uid.map(GoalUid::trusted) else { return false };
        let store = SqliteStore::open_read_only(&path, &uid, self.sqlite());
        store.and_then(|store| store.last_commit()).is_ok_and(|n| n <= 1)
    }
}

fn remove_orphan(folder: &Path) -> std::io::Result<()> {
    // The marks last: what a crash leaves of this is an orphan still.
    let mut marks = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == CREATING {
            marks.push(entry.path());
        } else if OF_A_STORE.contains(&name.as_str())
            || draft_of(&name).is_some()
            || is_leftover(&name)
        {
            fs::remove_file(entry.path())?;
        } else {
            return Err(std::io::Error::other("something else lies there"));
        }
    }
    marks.iter().try_for_each(fs::remove_file)?;
    fs::remove_dir(folder)
}
