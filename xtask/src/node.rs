//! The npm package: staged from its sources and a build of its native module, packed,
//! installed from the tarball into an empty folder, and tested there.

use crate::failure::{Failure, Result, While};
use crate::skips::Skips;
use crate::tools::on_path;
use crate::workspace::{Workspace, must_succeed};
use clap::Args;
use std::env::consts::{ARCH, OS};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args)]
pub struct Arguments {
    /// Use a build of the dev profile, which is quicker to make
    #[arg(long)]
    debug: bool,
    /// Only make the tarball
    #[arg(long, conflicts_with = "bench")]
    pack: bool,
    /// Measure the packed module instead of testing it
    #[arg(long)]
    bench: bool,
    /// Only tests whose file name has this in it
    #[arg(value_name = "NAME")]
    only: Option<String>,
}

/// Files of the package, beside the native module and the licences.
const SOURCES: &[&str] =
    &["package.json", "README.md", "index.cjs", "index.mjs", "index.d.ts", "lib", "extensions"];

/// The platform's folder below `native`, as `lib/native.cjs` looks for it.
fn triple() -> Option<String> {
    let arch = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    match OS {
        "linux" => {
            let libc = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
            Some(format!("linux-{arch}-{libc}"))
        }
        "macos" => Some(format!("darwin-{arch}")),
        "windows" => Some(format!("win32-{arch}-msvc")),
        _ => None,
    }
}

fn library() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    format!("{DLL_PREFIX}loopx_node{DLL_SUFFIX}")
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    for program in ["node", "npm"] {
        if on_path(program).is_none() {
            return Err(Failure::new(format!(
                "{program} is not on PATH: install Node 20 or later"
            )));
        }
    }
    let tarball = pack(workspace, arguments.debug)?;
    eprintln!("   {}", tarball.display());
    if arguments.pack {
        return Ok(());
    }
    let package = install(workspace, &tarball)?;
    if arguments.bench {
        let script = workspace.root.join("tests/node/bench.mjs");
        return must_succeed(
            workspace.program("node").arg("--expose-gc").arg(script).env("LOOPX_PACKAGE", package),
        );
    }
    must_succeed(&mut workspace.cargo(["build", "--locked", "-p", "loopx-cli"]))?;
    let binary =
        workspace.target.join("debug").join(format!("loopx{}", std::env::consts::EXE_SUFFIX));
    tests(workspace, &package, &binary, arguments.only.as_deref())
}

/// The step of `cargo xtask test`: says what is absent, and passes without it.
pub fn test(workspace: &Workspace, skips: &mut Skips) -> Result<()> {
    if on_path("node").is_none() || on_path("npm").is_none() {
        skips.whole("node and npm are not on PATH, the npm package is not tested");
        return Ok(());
    }
    let package = install(workspace, &pack(workspace, false)?)?;
    tests(workspace, &package, &workspace.release_binary(), None)
}

fn pack(workspace: &Workspace, debug: bool) -> Result<PathBuf> {
    let mut build = workspace.cargo(["build", "--locked", "-p", "loopx-node"]);
    if !debug {
        build.arg("--release");
    }
    must_succeed(&mut build)?;
    let Some(triple) = triple() else {
        return Err(Failure::new(format!("no native module is made for {OS} on {ARCH}")));
    };
    let sources = workspace.root.join("bindings-node");
    let staged = workspace.target.join("node/package");
    empty(&staged)?;
    for name in SOURCES {
        copy(&sources.join(name), &staged.join(name))?;
    }
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&workspace.root.join(name), &staged.join(name))?;
    }
    let built = workspace.target.join(if debug { "debug" } else { "release" }).join(library());
    copy(&built, &staged.join("native").join(triple).join("loopx.node"))?;
    let packed = npm(workspace, &staged)
        .args(["pack", "--silent", "--pack-destination", ".."])
        .output()
        .while_doing(|| "packing the npm package".into())?;
    let name = String::from_utf8_lossy(&packed.stdout).trim().to_owned();
    if !packed.status.success() || name.is_empty() {
        let said = String::from_utf8_lossy(&packed.stderr).into_owned();
        return Err(Failure::new(format!("npm pack failed: {said}")));
    }
    Ok(workspace.target.join("node").join(name))
}

fn install(workspace: &Workspace, tarball: &Path) -> Result<PathBuf> {
    let folder = workspace.target.join("node/installed");
    empty(&folder)?;
    write(&folder.join("package.json"), "{\"private\":true}\n")?;
    must_succeed(
        npm(workspace, &folder)
            .args(["install", "--offline", "--no-audit", "--no-fund", "--silent"])
            .arg(tarball),
    )?;
    Ok(folder.join("node_modules/loopx"))
}

fn tests(workspace: &Workspace, package: &Path, binary: &Path, only: Option<&str>) -> Result<()> {
    let mut files = Vec::new();
    for folder in ["tests", "tests/e2e"] {
        let folder = workspace.root.join(folder);
        let listed =
            fs::read_dir(&folder).while_doing(|| format!("listing {}", folder.display()))?;
        files.extend(listed.flatten().map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            name.ends_with(".test.mjs") && only.is_none_or(|part| name.contains(part))
        }));
    }
    files.sort();
    let follow = follow(workspace)?;
    must_succeed(
        workspace
            .program("node")
            // Hosts are heavy: one file at a time.
            .args(["--test", "--test-reporter=spec", "--test-concurrency=1"])
            .args(files)
            .env("LOOPX_PACKAGE", package)
            .env("LOOPX_FOLLOW", follow)
            .env("LOOPX_BIN_UNDER_TEST", binary),
    )
}

/// Builds the program that follows decisions which no rule makes (`tests/follow`).
pub fn follow(workspace: &Workspace) -> Result<PathBuf> {
    let name = "loopx-follow";
    must_succeed(&mut workspace.cargo(["build", "--locked", "-p", "loopx-tests", "--bin", name]))?;
    Ok(workspace.target.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Builds the native module alone, for comparisons with other doors.
pub fn native(workspace: &Workspace) -> Result<PathBuf> {
    must_succeed(&mut workspace.cargo(["build", "--locked", "-p", "loopx-node"]))?;
    Ok(workspace.target.join("debug").join(library()))
}

fn npm(workspace: &Workspace, folder: &Path) -> Command {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = workspace.program(program);
    command.current_dir(folder);
    command
}

fn empty(folder: &Path) -> Result<()> {
    let doing = || format!("emptying {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).while_doing(doing)?;
    }
    fs::create_dir_all(folder).while_doing(doing)
}

fn write(path: &Path, content: &str) -> Result<()> {
    fs::write(path, content).while_doing(|| format!("writing {}", path.display()))
}

/// A file or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let doing = || format!("copying {}", from.display());
    if from.is_dir() {
        for entry in fs::read_dir(from).while_doing(doing)? {
            let entry = entry.while_doing(doing)?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).while_doing(doing)?;
    }
    fs::copy(from, to).while_doing(doing).map(drop)
}
