//! Changing a registry file: under its lock, from what it holds then, replaced as a
//! whole and synced. What is changed is the caller's.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::document::Registry;
use super::place;
use crate::error::{Error, ErrorCode, Result};
use crate::file::leftover::sweep;
use crate::file::{self, Durability, FileLock, HolderNote, LockMode, sha256_hex};
use crate::model::Instant;

/// A registry's witness before and after a change; equal when nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witnesses {
    /// sha256 (hex) of the bytes before.
    pub before: String,
    /// sha256 (hex) of the bytes after.
    pub after: String,
}

impl Witnesses {
    /// Whether the file was or will be written.
    pub fn differ(&self) -> bool {
        self.before != self.after
    }
}

/// What [`Change::commit`] would write now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The file's bytes after the commit.
    pub bytes: Vec<u8>,
    /// Witnesses before and after it.
    pub witnesses: Witnesses,
}

/// A change under way. It holds the registry's exclusive lock until it is dropped, also
/// after the commit, so that a store commit that belongs to it can follow.
#[derive(Debug)]
pub struct Change {
    registry: Registry,
    /// Behind any links; resolved once, so that lock, reading and writing agree.
    target: PathBuf,
    /// What the document would be written as, unchanged: only a difference from this
    /// is a change, the layout of somebody else's writer is not.
    unchanged: Vec<u8>,
    lock: FileLock,
}

/// Locks and reads the registry at `path`; a missing folder is made.
pub fn begin_change(path: &Path, holder: &HolderNote, deadline: Duration) -> Result<Change> {
    begin_change_as(path, "registry", holder, deadline)
}

/// [`begin_change`], with what the file is for as errors should call it.
pub fn begin_change_as(
    path: &Path,
    role: &'static str,
    holder: &HolderNote,
    deadline: Duration,
) -> Result<Change> {
    let target = file::resolve_target(path).map_err(|error| about(error, role))?;
    let folder = place::folder(&target);
    fs::create_dir_all(folder)
        .map_err(|error| Error::from_io(&error, &format!("folder of the {role}"), folder))?;
    let lock = FileLock::acquire(&target, LockMode::Exclusive, holder, deadline)
        .map_err(|error| about(error, role))?;
    // What writers that were killed have left; nobody else writes this file now.
    sweep(&target, holder.acquired_at.unwrap_or_else(Instant::system_now));
    let registry = Registry::read_as(path, role)?;
    let unchanged = registry.render()?;
    Ok(Change { registry, target, unchanged, lock })
}

/// Applies `f` to the registry at `path` and writes it when that changed anything.
/// Nothing is written when `f` fails.
pub fn change<T>(
    path: &Path,
    holder: &HolderNote,
    deadline: Duration,
    f: impl FnOnce(&mut Registry) -> Result<T>,
) -> Result<(T, Witnesses)> {
    let mut change = begin_change(path, holder, deadline)?;
    let answer = f(change.registry_mut())?;
    let witnesses = change.commit()?;
    Ok((answer, witnesses))
}

impl Change {
    /// The registry with the changes so far.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The registry, to change.
    pub fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// What a commit would write; for a caller that must note the witnesses first.
    pub fn render(&self) -> Result<Rendered> {
        let bytes = self.registry.render()?;
        let before = self.registry.witness().to_owned();
        let after = if bytes == self.unchanged { before.clone() } else { sha256_hex(&bytes) };
        Ok(Rendered { bytes, witnesses: Witnesses { before, after } })
    }

    /// Writes the change, if there is one, synced to the disk.
    ///
    /// [`ErrorCode::RegistryChanged`] when the file is no longer the one that was read:
    /// writers of the earlier tool do not all take the lock.
    pub fn commit(&mut self) -> Result<Witnesses> {
        let Rendered { bytes, witnesses } = self.render()?;
        if !witnesses.differ() {
            return Ok(witnesses);
        }
        let role = self.registry.role();
        let now = Registry::read_as(&self.target, role);
        let untouched = now.is_ok_and(|now| {
            now.exists() == self.registry.exists() && now.witness() == self.registry.witness()
        });
        if !untouched || !self.lock.is_current() {
            return Err(Error::new(ErrorCode::RegistryChanged, role)
                .message(format!("the {role} changed between reading and writing"))
                .detail(self.target.display()));
        }
        file::replace(&self.target, &bytes, Durability::Synced)
            .map_err(|error| about(error, role))?;
        self.registry.written(witnesses.after.clone());
        self.unchanged = bytes;
        Ok(witnesses)
    }
}

fn about(mut error: Error, role: &str) -> Error {
    error.about = match error.code {
        ErrorCode::LockTimeout => format!("lock of the {role}"),
        _ => role.to_owned(),
    };
    error
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use serde_json::json;

    use super::*;

    const LATE: Duration = Duration::from_secs(20);

    fn set(registry: &mut Registry, key: &str, value: serde_json::Value) -> Result<()> {
        registry.root_mut().insert(key.into(), value);
        Ok(())
    }

    #[test]
    fn unknown_fields_order_mode_and_link_survive_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real.json");
        fs::write(&real, r#"{"zeta":{"b":1,"a":"é"},"goals":[{"new_field":[1],"id":"g"}]}"#)
            .unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        let link = dir.path().join("registry.json");
        symlink("real.json", &link).unwrap();
        let (_, witnesses) =
            change(&link, &HolderNote::default(), LATE, |r| set(r, "last", json!(1))).unwrap();
        assert!(witnesses.differ());
        let text = fs::read_to_string(&real).unwrap();
        assert_eq!(sha256_hex(text.as_bytes()), witnesses.after);
        let expected =
            json!({"zeta":{"b":1,"a":"é"},"goals":[{"new_field":[1],"id":"g"}],"last":1});
        assert_eq!(text, serde_json::to_string_pretty(&expected).unwrap() + "\n");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn no_change_no_write_and_failing_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/registry.json");
        change(&path, &HolderNote::default(), LATE, |_| Ok(())).unwrap();
        assert!(!path.exists());
        fs::write(&path, "{\"goals\":   []}").unwrap();
        let (_, same) = change(&path, &HolderNote::default(), LATE, |_| Ok(())).unwrap();
        assert!(!same.differ());
        let failed = change(&path, &HolderNote::default(), LATE, |r| {
            set(r, "x", json!(1))?;
            Err::<(), _>(Error::new(ErrorCode::GoalExists, "g"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"goals\":   []}");
    }

    #[test]
    fn a_damaged_registry_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.json");
        for damaged in [&b""[..], b"{\"goals\":[", b"[]", b"\xff"] {
            fs::write(&path, damaged).unwrap();
            change(&path, &HolderNote::default(), LATE, |r| set(r, "x", json!(1))).unwrap_err();
            assert_eq!(fs::read(&path).unwrap(), damaged);
        }
    }

    #[test]
    fn threads_with_many_changes_lose_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.json");
        let threads: Vec<_> = (0..4)
            .map(|who| {
                let path = path.clone();
                std::thread::spawn(move || {
                    for n in 0..15 {
                        change(&path, &HolderNote::default(), LATE, |registry| {
                            registry.goals_mut()?.push(json!({ "id": format!("g{who}-{n}") }));
                            Ok(())
                        })
                        .unwrap();
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(Registry::read(&path).unwrap().goals().len(), 60);
    }

    #[test]
    fn two_steps_tell_the_witness_before_writing_and_keep_the_lock_after() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.json");
        let mut change = begin_change(&path, &HolderNote::default(), LATE).unwrap();
        set(change.registry_mut(), "x", json!(1)).unwrap();
        let rendered = change.render().unwrap();
        assert!(!path.exists());
        assert_eq!(change.commit().unwrap(), rendered.witnesses);
        assert_eq!(fs::read(&path).unwrap(), rendered.bytes);
        assert_eq!(change.registry().witness(), rendered.witnesses.after);
        assert!(!change.commit().unwrap().differ());
        let other = FileLock::try_acquire(&path, LockMode::Exclusive, &HolderNote::default());
        assert!(other.unwrap().is_none());
    }

    #[test]
    fn a_writer_without_the_lock_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.json");
        fs::write(&path, "{}").unwrap();
        let mut change = begin_change(&path, &HolderNote::default(), LATE).unwrap();
        set(change.registry_mut(), "x", json!(1)).unwrap();
        fs::write(&path, "{\"theirs\":1}").unwrap();
        assert_eq!(change.commit().unwrap_err().code, ErrorCode::RegistryChanged);
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"theirs\":1}");
    }
}
