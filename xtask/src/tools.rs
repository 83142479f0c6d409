//! The programs that the commands need beside cargo: found on PATH, else built
//! once into `<target>/tools` at the version named here.

use crate::failure::{Failure, Result, While};
use crate::workspace::{Workspace, must_succeed};
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

pub struct Tool {
    pub name: &'static str,
    version: &'static str,
}

pub const NEXTEST: Tool = Tool { name: "cargo-nextest", version: "0.9.143" };
pub const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };

impl Tool {
    /// The path of the program, after installing it where it is missing.
    pub fn ready(&self, workspace: &Workspace) -> Result<PathBuf> {
        if let Some(found) = on_path(self.name) {
            return Ok(found);
        }
        let home = workspace.target.join("tools");
        let installed = home.join("bin").join(format!("{}{}", self.name, env::consts::EXE_SUFFIX));
        if installed.is_file() {
            return Ok(installed);
        }
        eprintln!(
            "   {} is not on PATH: building {} into {} (a few minutes, once)",
            self.name,
            self.version,
            home.display()
        );
        // A build folder of its own: the tool shares nothing with the project,
        // and its hundreds of dependencies are not kept.
        let scratch = home.join("build");
        must_succeed(
            workspace
                .cargo(["install", "--locked", "--quiet", self.name, "--version", self.version])
                .arg("--root")
                .arg(&home)
                .env("CARGO_TARGET_DIR", &scratch),
        )?;
        fs::remove_dir_all(&scratch).while_doing(|| format!("removing {}", scratch.display()))?;
        Ok(installed)
    }
}

/// Refuses, with the way to go on, when a rustup component is missing.
pub fn need_component(workspace: &Workspace, subcommand: &str, component: &str) -> Result<()> {
    let present = workspace
        .cargo([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if present {
        Ok(())
    } else {
        Err(Failure::new(format!(
            "`cargo {subcommand}` is missing; run `rustup component add {component}`"
        )))
    }
}

pub fn on_path(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}
