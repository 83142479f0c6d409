//! Where the project and its build folder are, and how cargo is called from here.

use crate::failure::{Failure, Result, While};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Workspace {
    pub root: PathBuf,
    /// Absolute, whether it came from `CARGO_TARGET_DIR`, from a cargo config or is the default.
    pub target: PathBuf,
    /// Where the runners of the shared vectors write what they have seen, when that is compared.
    pub tallies: Option<PathBuf>,
}

impl Workspace {
    /// Asks cargo, so that every way to move the build folder is honoured.
    pub fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("Cargo.toml");
        let done = Command::new(cargo_path())
            .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
            .arg(&manifest)
            .output()
            .while_doing(|| "starting `cargo metadata`".into())?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(Failure::new(format!("`cargo metadata` failed: {}", said.trim())));
        }
        let facts: serde_json::Value = serde_json::from_slice(&done.stdout)
            .while_doing(|| "reading `cargo metadata`".into())?;
        let path = |key: &str| {
            facts
                .get(key)
                .and_then(serde_json::Value::as_str)
                .map(PathBuf::from)
                .ok_or_else(|| Failure::new(format!("`cargo metadata` names no {key}")))
        };
        Ok(Self { root: path("workspace_root")?, target: path("target_directory")?, tallies: None })
    }

    /// `cargo`, from the project's root and with this build folder.
    pub fn cargo<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.program(cargo_path());
        command.args(args);
        command
    }

    /// Any program, from the project's root and with this build folder.
    pub fn program(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        if let Some(folder) = &self.tallies {
            command.env("LOOPX_VECTORS_TALLY", folder);
        }
        // `cargo run` describes the xtask package to xtask; the builds that
        // xtask starts are of other packages.
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(describes_a_package) {
                command.env_remove(name);
            }
        }
        command
    }

    /// The binary that the tests and the benchmarks run.
    pub fn release_binary(&self) -> PathBuf {
        self.target.join("release").join(format!("loopx{}", env::consts::EXE_SUFFIX))
    }
}

fn describes_a_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

fn cargo_path() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a program to its end, with this process's streams.
pub fn must_succeed(command: &mut Command) -> Result<()> {
    let name = Path::new(command.get_program())
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let args = command.get_args().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let status = command.status().while_doing(|| format!("starting `{name}`"))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{name} {args}` ended with {status}")))
    }
}
