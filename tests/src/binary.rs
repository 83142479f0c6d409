//! Which `loopx` is under test.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is a folder of the repository")
}

/// The binary under test: `LOOPX_BIN_UNDER_TEST` where that is set; else the one in
/// the build folder of this test, release or dev, whichever was built last; else one
/// that is built now.
///
/// Only `cargo xtask test` makes sure that it is up to date.
pub fn binary() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(find).clone()
}

/// The interpreter whose worker is under test instead of `loopx worker run`:
/// `LOOPX_WORKER_PYTHON`, an interpreter that has the wheel.
pub fn python_worker() -> Option<OsString> {
    env::var_os("LOOPX_WORKER_PYTHON").filter(|python| !python.is_empty())
}

fn find() -> PathBuf {
    if let Some(named) = env::var_os("LOOPX_BIN_UNDER_TEST") {
        let path = repository().join(named);
        assert!(path.is_file(), "LOOPX_BIN_UNDER_TEST names no file: {}", path.display());
        return path;
    }
    let target = build_folder();
    if let Some(path) = newest_in(&target) {
        return path;
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--package", "loopx-cli", "--target-dir"])
        .arg(&target)
        .current_dir(repository())
        .status()
        .expect("cargo starts");
    assert!(status.success(), "`cargo build -p loopx-cli` ended with {status}");
    newest_in(&target).unwrap_or_else(|| {
        panic!("`cargo build -p loopx-cli` left no loopx in {}", target.display())
    })
}

/// This test is `<build folder>/<profile>/deps/<name>`; a program lies above `deps`.
fn build_folder() -> PathBuf {
    let test = env::current_exe().expect("a test knows its own path");
    let in_deps = test.parent().is_some_and(|folder| folder.ends_with("deps"));
    test.ancestors()
        .nth(if in_deps { 3 } else { 2 })
        .expect("a test lies in a build folder")
        .to_path_buf()
}

fn newest_in(target: &Path) -> Option<PathBuf> {
    let file = format!("loopx{}", env::consts::EXE_SUFFIX);
    ["release", "debug"]
        .into_iter()
        .map(|profile| target.join(profile).join(&file))
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .max()
        .map(|(_, path)| path)
}
