//! What a worker costs while it waits: its share of a processor, to the nanosecond as the
//! scheduler counts it, and its resident memory.

use crate::failure::{Failure, Result, While};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What it takes to come to the wait.
const START: Duration = Duration::from_secs(2);
/// How long it is watched: several of the slices in which it waits.
const WATCHED: Duration = Duration::from_secs(45);

/// A table for a worker that only observes and one that would wake.
pub fn report(binary: &Path, project: &Path) -> Result<String> {
    if !cfg!(target_os = "linux") {
        return Ok("\nA waiting worker is measured on Linux only.\n".into());
    }
    let mut text = String::from(
        "\nA waiting worker (budget: under 0.1 % and 10 MiB):\n\n\
         | worker | % of a processor | resident MiB |\n|---|--:|--:|\n",
    );
    for (name, more) in
        [("observing", &[][..]), ("while its wake runs", &["--wake-cmd", "sleep 3600"])]
    {
        let mut worker = start(binary, project, more)?;
        let measured = watch(worker.id());
        // It ends its child and itself.
        let _ = Command::new("kill").arg(worker.id().to_string()).status();
        worker.wait().while_doing(|| "waiting for the worker".into())?;
        let (share, resident) = measured?;
        text.push_str(&format!("| {name} | {:.4} | {resident:.1} |\n", share * 100.0));
    }
    Ok(text)
}

fn start(binary: &Path, project: &Path, more: &[&str]) -> Result<Child> {
    let mut command = Command::new(binary);
    command
        .args(["worker", "run", "--goal-id", "bench", "--agent-id", "agent-a"])
        .args(more)
        .current_dir(project)
        .env("HOME", project.join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.spawn().while_doing(|| format!("starting {}", binary.display()))
}

fn watch(pid: u32) -> Result<(f64, f64)> {
    thread::sleep(START);
    let before = cpu_ns(pid)?;
    let begun = Instant::now();
    thread::sleep(WATCHED);
    let used = cpu_ns(pid)?.saturating_sub(before);
    let share = used as f64 / begun.elapsed().as_nanos() as f64;
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).while_doing(|| format!("reading {path}"))?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<f64>().ok())
        .ok_or_else(|| Failure::new(format!("{path} tells no VmRSS")))?;
    Ok((share, kib / 1024.0))
}

/// Time on a processor of all its threads.
fn cpu_ns(pid: u32) -> Result<u64> {
    let folder = format!("/proc/{pid}/task");
    let threads = fs::read_dir(&folder).while_doing(|| format!("reading {folder}"))?;
    Ok(threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .sum())
}
