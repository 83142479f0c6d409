//! Where a registry lies: its project folder, and whether two paths are one file.
//! Reads folder entries, never contents.

use std::fs;
use std::path::{Path, PathBuf};

/// Name of the folder in a project that holds its registry.
pub const PROJECT_FOLDER: &str = ".loopx";

/// The project that a registry belongs to: the parent of `.loopx`, else the registry's
/// own folder.
pub fn project_root(registry: &Path) -> &Path {
    let folder = folder(registry);
    match folder.parent() {
        Some(project) if folder.file_name().is_some_and(|name| name == PROJECT_FOLDER) => {
            if project.as_os_str().is_empty() { Path::new(".") } else { project }
        }
        _ => folder,
    }
}

/// The folder that holds `registry`.
pub fn folder(registry: &Path) -> &Path {
    match registry.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// `path` with the links of its folder resolved, but not a link in its last part: a
/// registry that is a link still belongs to the project where the link lies.
pub fn absolute(path: &Path) -> PathBuf {
    match (fs::canonicalize(folder(path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}

/// One path per file: every link resolved, as far as the file exists.
pub fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| absolute(path))
}

/// Whether two texts name one place.
pub fn same_place(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim_end_matches('/'), b.trim_end_matches('/'));
    a == b || {
        let (a, b) = (Path::new(a), Path::new(b));
        a.is_absolute() && b.is_absolute() && identity(a) == identity(b)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn project_is_above_the_loopx_folder_or_the_folder_itself() {
        assert_eq!(project_root(Path::new("/p/.loopx/registry.json")), Path::new("/p"));
        assert_eq!(project_root(Path::new("/p/own/r.json")), Path::new("/p/own"));
        assert_eq!(project_root(Path::new(".loopx/registry.json")), Path::new("."));
    }

    #[test]
    fn a_linked_registry_stays_in_its_project_but_is_one_file_with_its_target() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real.json");
        fs::write(&real, "{}").unwrap();
        let link = dir.path().join("link.json");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(absolute(&link).ends_with("link.json"));
        assert_eq!(identity(&link), identity(&real));
        assert!(same_place(link.to_str().unwrap(), real.to_str().unwrap()));
        assert!(same_place("a/b/", "a/b") && !same_place("a", "b"));
    }
}
