//! Runs one case and takes its figures.
//!
//! - **Wall** runs from before the spawn until the child is reaped and its output read.
//! - **CPU** is the difference of `getrusage(RUSAGE_CHILDREN)` around a run. That
//!   sum holds reaped children only, and this process runs one at a time. Linux
//!   scales both parts to the scheduler's exact run time, so the sum is good to
//!   microseconds. It includes the child's share of fork and exec.
//! - **Peak memory** is `VmHWM`, in runs of its own because looking costs time.
//!   `ru_maxrss` will not do: it starts at the parent's size. The child is traced
//!   with `PTRACE_O_TRACEEXIT`, which stops it at its exit while its memory is
//!   still in place, so the mark is the final one, not a sample. The kernel keeps
//!   the page counts per CPU and adds them up lazily, which leaves an error of up to
//!   about 32 pages per CPU and kind.

use super::{Case, Figures, Spread};
use crate::failure::{Failure, Result, While};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs that fill the file cache and are not counted.
const WARM_UP: usize = 3;
/// Runs that look at memory: it hardly varies.
const MEMORY_RUNS: usize = 5;

pub fn figures(binary: &Path, case: &Case) -> Result<Figures> {
    for _ in 0..WARM_UP {
        timed(binary, case)?;
    }
    let mut wall = Vec::with_capacity(case.runs);
    let mut cpu = Vec::with_capacity(case.runs);
    let mut stdout_bytes = 0;
    for _ in 0..case.runs {
        let run = timed(binary, case)?;
        wall.push(run.wall_ms);
        cpu.push(run.cpu_ms);
        stdout_bytes = stdout_bytes.max(run.stdout_bytes);
    }
    let mut hwm_kib = None;
    for _ in 0..MEMORY_RUNS.min(case.runs) {
        hwm_kib = hwm_kib.max(peak_kib(binary, case)?);
    }
    Ok(Figures {
        wall_ms: Spread { median: quantile(&mut wall, 0.5), p90: quantile(&mut wall, 0.9) },
        cpu_ms: quantile(&mut cpu, 0.5),
        hwm_mib: hwm_kib.map(|kib| f64::from(kib) / 1024.0),
        stdout_bytes,
    })
}

struct Run {
    wall_ms: f64,
    cpu_ms: f64,
    stdout_bytes: usize,
}

fn command(binary: &Path, case: &Case) -> Command {
    let mut command = Command::new(binary);
    command.args(&case.argv).current_dir(&case.cwd).env_clear().stdin(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.envs(case.env.iter().map(|(name, value)| (name, value)));
    command
}

fn timed(binary: &Path, case: &Case) -> Result<Run> {
    let mut command = command(binary, case);
    let cpu_before = children_cpu_ms()?;
    let begun = Instant::now();
    let done = command.output().while_doing(|| format!("starting {}", binary.display()))?;
    let wall_ms = begun.elapsed().as_secs_f64() * 1e3;
    let cpu_ms = children_cpu_ms()? - cpu_before;
    if done.status.code() != Some(case.exit_code) {
        return Err(Failure::new(format!(
            "case `{}` ended with {}, expected status {}\nstdout: {}\nstderr: {}",
            case.name,
            done.status,
            case.exit_code,
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr),
        )));
    }
    Ok(Run { wall_ms, cpu_ms, stdout_bytes: done.stdout.len() })
}

/// The value below which `share` of the values lie: the nearest rank.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(unix)]
fn children_cpu_ms() -> Result<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .while_doing(|| "reading the children's CPU time".into())?;
    let micros = (usage.user_time() + usage.system_time()).num_microseconds();
    Ok(micros as f64 / 1e3)
}

#[cfg(not(unix))]
fn children_cpu_ms() -> Result<f64> {
    Ok(f64::NAN)
}

#[cfg(target_os = "linux")]
fn peak_kib(binary: &Path, case: &Case) -> Result<Option<u32>> {
    use nix::errno::Errno;
    use nix::sys::ptrace::{self, Options};
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::Pid;

    // The spawn returns once the child has become the binary. A child that is
    // over before it can be traced is let go and another one started.
    const TRIES: usize = 50;
    for _ in 0..TRIES {
        let mut child = command(binary, case)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .while_doing(|| format!("starting {}", binary.display()))?;
        let pid = Pid::from_raw(child.id().cast_signed());
        match ptrace::seize(pid, Options::PTRACE_O_TRACEEXIT) {
            Ok(()) => {}
            Err(Errno::ESRCH | Errno::EPERM) => {
                child.wait().while_doing(|| "waiting for the child".into())?;
                continue;
            }
            Err(error) => {
                return Err(Failure::new(format!("tracing the child: {error}")));
            }
        }
        let mut peak = None;
        loop {
            let passed_on =
                match waitpid(pid, None).while_doing(|| "waiting for the child".into())? {
                    WaitStatus::Exited(..) | WaitStatus::Signaled(..) => return Ok(peak),
                    WaitStatus::PtraceEvent(_, _, nix::libc::PTRACE_EVENT_EXIT) => {
                        peak = high_water_mark(pid)?;
                        None
                    }
                    WaitStatus::Stopped(_, signal) => Some(signal),
                    _ => None,
                };
            ptrace::cont(pid, passed_on).while_doing(|| "resuming the child".into())?;
        }
    }
    eprintln!("case `{}`: the process may not be traced here, or ends too soon to be", case.name);
    Ok(None)
}

#[cfg(target_os = "linux")]
fn high_water_mark(pid: nix::unistd::Pid) -> Result<Option<u32>> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).while_doing(|| format!("reading {path}"))?;
    let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(mark.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok()))
}

#[cfg(not(target_os = "linux"))]
fn peak_kib(_binary: &Path, _case: &Case) -> Result<Option<u32>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let mut values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut values, 0.5), 5.0);
        assert_eq!(quantile(&mut values, 0.9), 9.0);
        assert_eq!(quantile(&mut [7.0], 0.9), 7.0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_has_a_wall_time_a_cpu_time_and_a_peak() {
        let case = Case {
            name: "shell".into(),
            argv: vec![
                "-c".into(),
                "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; echo four".into(),
            ],
            env: Vec::new(),
            cwd: "/".into(),
            runs: 3,
            exit_code: 0,
        };
        let figures = figures(Path::new("/bin/sh"), &case).unwrap();
        assert!(figures.wall_ms.median > 0.0 && figures.wall_ms.p90 >= figures.wall_ms.median);
        assert!(figures.cpu_ms > 0.0);
        assert_eq!(figures.stdout_bytes, 5);
        // Not this process's own size, which is what `ru_maxrss` would start at.
        assert!(figures.hwm_mib.is_none_or(|mib| mib > 0.1 && mib < 16.0));
    }

    #[test]
    fn a_run_that_ends_otherwise_is_no_measurement() {
        let case = Case {
            name: "refused".into(),
            argv: vec!["-c".into(), "exit 3".into()],
            env: Vec::new(),
            cwd: "/".into(),
            runs: 1,
            exit_code: 0,
        };
        let failure = figures(Path::new("/bin/sh"), &case).err().unwrap().to_string();
        assert!(failure.contains("case `refused`"), "{failure}");
    }
}
