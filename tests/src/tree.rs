//! What a folder holds, so that two moments can be compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Each path below a folder with its kind, time of change and, for a file, its bytes.
/// A folder's own time changes with what is added to it or removed, so that a
/// file which came and went is noticed too.
#[derive(Debug, PartialEq, Eq)]
pub struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    folder: bool,
    modified: SystemTime,
    bytes: Vec<u8>,
}

impl Tree {
    pub fn of(folder: &Path) -> Self {
        let mut entries = BTreeMap::new();
        collect(folder, folder, &mut entries);
        Self(entries)
    }

    /// One line for each path that is not as it was.
    pub fn changes_since(&self, before: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        for (path, entry) in &self.0 {
            match before.0.get(path) {
                None => changes.push(format!("new: {}", path.display())),
                Some(was) if was.bytes != entry.bytes => {
                    changes.push(format!("other bytes: {}", path.display()));
                }
                Some(was) if was != entry => changes.push(format!("touched: {}", path.display())),
                Some(_) => {}
            }
        }
        for path in before.0.keys().filter(|path| !self.0.contains_key(*path)) {
            changes.push(format!("gone: {}", path.display()));
        }
        changes
    }
}

fn collect(base: &Path, path: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    let facts =
        path.symlink_metadata().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let bytes = if facts.is_file() {
        fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    } else {
        Vec::new()
    };
    let relative = path.strip_prefix(base).expect("it lies below").to_path_buf();
    let modified = facts.modified().expect("the system keeps times of change");
    entries.insert(relative, Entry { folder: facts.is_dir(), modified, bytes });
    if facts.is_dir() {
        for entry in
            fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        {
            collect(base, &entry.expect("it can be listed").path(), entries);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_came_and_went_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("kept"), "one").unwrap();
        let before = Tree::of(folder.path());
        assert_eq!(Tree::of(folder.path()).changes_since(&before), [""; 0]);

        // Longer than the clock that stamps files takes to tick.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(folder.path().join("passing"), "").unwrap();
        fs::remove_file(folder.path().join("passing")).unwrap();
        assert_eq!(Tree::of(folder.path()).changes_since(&before), ["touched: "]);

        fs::write(folder.path().join("kept"), "two").unwrap();
        fs::write(folder.path().join("new"), "").unwrap();
        let changes = Tree::of(folder.path()).changes_since(&before);
        assert_eq!(changes, ["touched: ", "other bytes: kept", "new: new"]);
    }
}
