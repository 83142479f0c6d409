//! Whether a folder is in a git worktree of its own, apart from a main checkout. Found from
//! files, without starting git.

use std::path::{Path, PathBuf};

/// Whether `cwd` is in one. A linked worktree has a `.git` file that points into `<main>/.git/worktrees/<name>`.
pub fn is_independent(cwd: &Path) -> bool {
    cwd.ancestors().find_map(linked).unwrap_or(false)
}

/// `Some(true)` for the root of a linked worktree, `Some(false)` for a main checkout.
fn linked(folder: &Path) -> Option<bool> {
    let mark = folder.join(".git");
    let meta = std::fs::metadata(&mark).ok()?;
    if meta.is_dir() {
        return Some(false);
    }
    let text = std::fs::read_to_string(&mark).ok()?;
    let target = folder.join(PathBuf::from(text.trim().strip_prefix("gitdir:")?.trim()));
    let parent = target.parent()?;
    Some(parent.file_name().is_some_and(|n| n == "worktrees") && target.join("commondir").is_file())
}
