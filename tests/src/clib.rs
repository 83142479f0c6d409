//! The C library as programs have it: built, and found by a compiler and a loader.

use crate::process::{self, Output};
use crate::repository;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How long a program or a compiler may take.
pub const LIMIT: Duration = Duration::from_secs(170);
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// The folder with the built libraries: `LOOPX_LIB_UNDER_TEST`, else the build folder of this
/// test, where they are built now unless they are there.
pub fn built() -> PathBuf {
    if let Some(named) = env::var_os("LOOPX_LIB_UNDER_TEST") {
        return repository().join(named);
    }
    // This test is `<build folder>/<profile>/deps/<name>`.
    let test = env::current_exe().expect("a test knows its own path");
    let folder = test.ancestors().nth(2).expect("it lies in a build folder").to_path_buf();
    if !folder.join("libloopx.so").is_file() || !folder.join("libloopx.a").is_file() {
        let mut build = cargo(["build", "--package", "loopx-ffi", "--target-dir"]);
        let status = build.arg(folder.parent().expect("a folder above")).status();
        assert!(status.expect("cargo starts").success());
    }
    folder
}

/// Cargo in the repository.
pub fn cargo<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(repository());
    command
}

/// Runs a command to its end, whatever that is.
pub fn finished(command: &mut Command) -> Output {
    process::finish(command, &[], LIMIT).unwrap_or_else(|| panic!("too long: {command:?}"))
}

/// Runs a command that is to succeed.
#[track_caller]
pub fn good(command: &mut Command) -> Output {
    let output = finished(command);
    assert!(output.code == 0, "{command:?}\n{output}");
    output
}

/// Whether a program can be run here.
pub fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// A folder in which the linker and the loader find the library under each of its names.
pub struct Linked {
    base: PathBuf,
}

impl Linked {
    /// In a folder that is there.
    pub fn below(base: &Path) -> Self {
        let linked = Self { base: base.to_path_buf() };
        fs::create_dir(linked.lib()).expect("a folder of its own");
        for name in ["libloopx.so", "libloopx.so.0"] {
            symlink(built().join("libloopx.so"), linked.lib().join(name)).expect("a link");
        }
        linked
    }

    /// The folder of those names, for `LD_LIBRARY_PATH`.
    pub fn lib(&self) -> PathBuf {
        self.base.join("lib")
    }

    /// Compiles a source without a warning; the program's path.
    #[track_caller]
    pub fn compiled(&self, compiler: &str, source: &Path, more: &[&str]) -> PathBuf {
        let cpp = source.extension() == Some(OsStr::new("cpp"));
        let program = self.base.join(source.file_stem().expect("a source has a name"));
        let mut command = Command::new(compiler);
        command.arg(if cpp { "-std=c++17" } else { "-std=c99" }).args(STRICT).args(more);
        command.arg(source).arg("-I").arg(repository().join("ffi/include"));
        command.arg("-L").arg(self.lib()).args(["-lloopx", "-pthread", "-o"]).arg(&program);
        let output = good(&mut command);
        assert_eq!(output.stderr, "", "{command:?}");
        program
    }
}
