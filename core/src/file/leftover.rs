//! What a killed process leaves beside the file that it was replacing: names that say whose
//! they are, and when one may be taken away.
//!
//! `.loopx-<target>-<pid>-<random>.tmp` is content on its way to a file, complete or not, and
//! never a person's. `.swap` is complete: it is about to change places with the file, or has,
//! and then holds what was displaced. `<target>` is a digest of the file's name, so that the
//! lock of that file decides about its leftovers and no other's.

use std::fs;
use std::path::{Path, PathBuf};

use super::digest::sha256_hex;
use super::process;
use crate::model::Instant;

/// A leftover is taken away when it has not changed for so long: longer than any process may
/// wait for a lock, and than a machine is suspended in the middle of a command, mostly.
pub const MIN_AGE_SECONDS: i64 = 10 * 60;

/// Beginning of every such name.
const PREFIX: &str = ".loopx-";

/// Digest of a file's name.
pub(super) fn tag(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default();
    let mut digest = sha256_hex(name.as_encoded_bytes());
    digest.truncate(8);
    digest
}

/// A name for new content of a file with that tag.
pub(super) fn name(tag: &str, random: &str) -> String {
    format!("{PREFIX}{tag}-{}-{random}.tmp", std::process::id())
}

/// Whether a name is one of these.
pub fn is_leftover(name: &str) -> bool {
    name.starts_with(PREFIX) && (name.ends_with(".tmp") || name.ends_with(".swap"))
}

/// A file that a process may have left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Where.
    pub path: PathBuf,
    /// Complete, and perhaps displaced from the file's place.
    pub swap: bool,
    /// Who made it.
    pid: u32,
}

impl Leftover {
    /// Nobody uses it: it has not changed for long. The caller holds the lock of the file that
    /// it belongs to.
    pub fn is_old(&self, now: Instant) -> bool {
        is_old(&self.path, now)
    }

    /// Its maker is gone for certain, or is this process, which holds the lock.
    pub fn is_abandoned(&self) -> bool {
        self.pid == std::process::id() || process::is_gone(self.pid)
    }
}

/// Leftovers of replacing `target`, in the order of their names.
pub fn leftovers_of(target: &Path) -> Vec<Leftover> {
    let of = format!("{PREFIX}{}-", tag(target));
    let mut found = Vec::new();
    let Some(folder) = target.parent() else { return found };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(&of) else { continue };
        let (swap, middle) = match (rest.strip_suffix(".tmp"), rest.strip_suffix(".swap")) {
            (Some(middle), _) => (false, middle),
            (_, Some(middle)) => (true, middle),
            _ => continue,
        };
        let Some(pid) = middle.split('-').next().and_then(|pid| pid.parse().ok()) else { continue };
        found.push(Leftover { path: entry.path(), swap, pid });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Whether a file has not changed for long: neither its content nor its name.
pub fn is_old(path: &Path, now: Instant) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(meta) = fs::symlink_metadata(path) else { return false };
    let changed = meta.ctime().max(meta.mtime());
    now.micros().div_euclid(crate::model::time::MICROS_PER_SECOND) - changed > MIN_AGE_SECONDS
}

/// Removes what is left of writing `target` and is old; how many. The caller holds the lock
/// under which `target` is written. What may be a person's text is not touched.
pub fn sweep(target: &Path, now: Instant) -> usize {
    let old = leftovers_of(target).into_iter().filter(|l| !l.swap && l.is_old(now));
    old.filter(|l| fs::remove_file(&l.path).is_ok()).count()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn later(seconds: i64) -> Instant {
        let second = crate::model::time::MICROS_PER_SECOND;
        Instant::system_now().plus_micros(seconds * second)
    }

    #[test]
    fn only_old_leftovers_of_the_very_file_are_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("registry.json");
        let mine = dir.path().join(name(&tag(&target), "00"));
        let other = dir.path().join(name(&tag(Path::new("x/state.md")), "00"));
        let swap = mine.with_extension("swap");
        let person = dir.path().join(".loopx-mine.tmp");
        for path in [&target, &mine, &other, &swap, &person] {
            fs::write(path, "text").unwrap();
        }
        assert_eq!(sweep(&target, later(0)), 0, "it may be in use");
        assert_eq!(sweep(&target, later(MIN_AGE_SECONDS - 5)), 0);
        // A clock that has stepped back ages nothing.
        assert_eq!(sweep(&target, later(-9_999)), 0);
        let found = leftovers_of(&target);
        assert_eq!(found.iter().map(|l| l.swap).collect::<Vec<_>>(), [true, false]);
        assert!(found.iter().all(Leftover::is_abandoned), "they are this process's");
        assert_eq!(sweep(&target, later(MIN_AGE_SECONDS + 5)), 1);
        assert!(!mine.exists());
        assert!([&target, &other, &swap, &person].iter().all(|p| p.exists()));
    }

    #[test]
    fn a_file_that_was_displaced_is_as_old_as_its_new_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "x").unwrap();
        let then = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
        fs::File::options().write(true).open(&path).unwrap().set_times(then).unwrap();
        fs::rename(&path, dir.path().join("b")).unwrap();
        assert!(!is_old(&dir.path().join("b"), later(5)));
    }
}
