//! What the system says of a file beside its bytes, and when that is enough to know that
//! the bytes are still the same.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::filesystem::is_local;

/// Longer than a tick of any clock that files are stamped with.
const TICK: Duration = Duration::from_secs(2);

/// Which file lies at a path, and when it was last written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    /// Moves with every write, and no program can set it.
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of the regular file at `path`, behind links.
    pub fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        Some(Self {
            file: (meta.dev(), meta.ino()),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }

    /// Which file it is: device and inode.
    pub fn file(&self) -> (u64, u64) {
        self.file
    }

    /// Whether a write from now on gives the file, which is at `path`, another stamp: one in
    /// the tick of the last write would not, nor one by way of a network that is yet to say
    /// so. What is read after a settled stamp was taken is what stands in the file for as
    /// long as it has that stamp.
    pub fn is_settled(&self, path: &Path) -> bool {
        let (Ok(seconds), Ok(nanos)) =
            (u64::try_from(self.changed.0), u32::try_from(self.changed.1))
        else {
            return false;
        };
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos);
        // A clock that was set back says nothing, and that is not settled.
        SystemTime::now().duration_since(changed).is_ok_and(|age| age > TICK) && is_local(path)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_settled_only_when_a_write_would_change_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "one").unwrap();
        let fresh = Stamp::of(&path).unwrap();
        assert!(!fresh.is_settled(&path), "another write may come in this tick");
        let old = Stamp { changed: (fresh.changed.0 - 60, 0), ..fresh.clone() };
        assert!(old.is_settled(&path));
        let ahead = Stamp { changed: (fresh.changed.0 + 60, 0), ..fresh.clone() };
        assert!(!ahead.is_settled(&path));
        std::fs::rename(&path, dir.path().join("g")).unwrap();
        assert_eq!(Stamp::of(&path), None);
        assert_eq!(Stamp::of(dir.path()), None);
        std::fs::write(&path, "one").unwrap();
        assert_ne!(Stamp::of(&path).unwrap(), fresh, "another file of the same name");
    }
}
