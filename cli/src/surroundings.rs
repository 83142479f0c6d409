//! What lies on the search path: programs named `loopx` and those of hosts. Versions come
//! from the package file beside a program; a program is started only when that was asked for.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use loopx_core::host::Host;
use loopx_core::kernel::{OnPath, program_of};
use serde_json::Value;

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);
/// Folders upward in which a package file is looked for.
const UPWARD: usize = 5;

/// The programs on the search path, in its order; each file once.
pub fn programs(path: &[PathBuf], ask: bool) -> Vec<OnPath> {
    let this = std::env::current_exe().and_then(fs::canonicalize).ok();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut found = Vec::new();
    let hosts = Host::ALL.iter().filter_map(|h| Some((Some(*h), program_of(*h)?)));
    let names: Vec<_> = std::iter::once((None, "loopx")).chain(hosts).collect();
    for folder in path.iter().filter(|folder| folder.is_absolute()) {
        for (host, name) in &names {
            let file = folder.join(name);
            let Ok(real) = fs::canonicalize(&file) else { continue };
            if !runs(&real) || seen.contains(&real) {
                continue;
            }
            let version = match host {
                Some(_) => packaged(&real).or_else(|| ask.then(|| says(&file)).flatten()),
                None => None,
            };
            let this = this.as_ref() == Some(&real);
            found.push(OnPath { host: *host, program: (*name).to_owned(), version, this });
            seen.push(real);
        }
    }
    found
}

fn runs(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The version that the package of a program states.
fn packaged(file: &Path) -> Option<String> {
    file.ancestors().skip(1).take(UPWARD).find_map(|folder| {
        let text = fs::read(folder.join("package.json")).ok()?;
        let package: Value = serde_json::from_slice(&text).ok()?;
        package.get("version")?.as_str().and_then(plain)
    })
}

/// What a program answers to `--version`.
fn says(file: &Path) -> Option<String> {
    let mut child = Command::new(file)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
            _ => {
                drop(child.kill());
                drop(child.wait());
                return None;
            }
        }
    }
    let mut said = String::new();
    child.stdout.take()?.take(4_096).read_to_string(&mut said).ok()?;
    said.split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .and_then(plain)
}

/// A version as it may be shown: one short word.
fn plain(text: &str) -> Option<String> {
    let fits =
        text.len() <= 40 && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-+_".contains(c));
    fits.then(|| text.to_owned())
}
