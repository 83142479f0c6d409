//! One child with everything below it: started in a process group of its own with no
//! input, watched until it ends, and ended as a whole. Nothing of it outlives the call.
//!
//! What a child prints is counted and thrown away; too much of it ends the child, as does
//! its time limit, when one is given, and a stop signal of this process.

mod group;
mod output;
pub mod words;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as Stopwatch};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

pub use self::group::{Family, Remains, end_marked};
use self::output::Stream;
use crate::alarm::Alarm;

/// Bytes that a child may print on each of its two streams.
pub const OUTPUT_LIMIT: u64 = 1_000_000;
/// How long a group is given to end by itself after SIGTERM.
pub const GRACE: Duration = Duration::from_secs(10);
/// The shortest time limit.
pub const SHORTEST_TIMEOUT: Duration = Duration::from_millis(10);
/// Stack of the threads that wait for the child and read its streams.
const STACK: usize = 64 * 1024;
/// What "no time limit" is to a clock.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// A child to be started.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Program and arguments; the program is looked up on `PATH` when it has no slash.
    pub words: Vec<String>,
    /// Set for the child beside what it inherits.
    pub env: Vec<(OsString, OsString)>,
    /// Taken out of what it inherits.
    pub without: Vec<OsString>,
    /// Time limit, none unless given.
    pub timeout: Option<Duration>,
    /// Bytes on each stream, [`OUTPUT_LIMIT`] by default.
    pub output_limit: u64,
    /// Time between SIGTERM and SIGKILL, [`GRACE`] by default.
    pub grace: Duration,
    /// Which processes belong to it.
    pub family: Family,
    /// How often `tick` of [`run`] is called while it runs; practically never by default.
    pub tick: Duration,
}

impl Spec {
    /// A child with the default limits and no time limit.
    pub fn new(words: Vec<String>) -> Self {
        Self {
            words,
            env: Vec::new(),
            without: Vec::new(),
            timeout: None,
            output_limit: OUTPUT_LIMIT,
            grace: GRACE,
            family: Family::Group,
            tick: FOREVER,
        }
    }
}

/// How a child came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited by itself.
    Exited(i32),
    /// A signal that was not ours ended it.
    Signal(i32),
    /// It was ended at its time limit.
    Timeout,
    /// It was ended because it printed too much.
    OutputLimit,
    /// This process was asked to stop, and ended it.
    Stopped(i32),
    /// It could not be started.
    SpawnFailed(io::ErrorKind),
}

impl Ending {
    /// Its word: `exited`, `signal`, `timeout`, `output_limit`, `stopped`, `spawn_failed`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Signal(_) => "signal",
            Self::Timeout => "timeout",
            Self::OutputLimit => "output_limit",
            Self::Stopped(_) => "stopped",
            Self::SpawnFailed(_) => "spawn_failed",
        }
    }

    /// Whether the child ended by itself and with 0.
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
    }
}

/// What is known of a child after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// Its exit status as a shell tells it, 128 plus the number for a signal; `None` when
    /// it never started, or would not end.
    pub status: Option<i32>,
    /// Bytes on standard output.
    pub stdout_bytes: u64,
    /// Bytes on standard error.
    pub stderr_bytes: u64,
    /// What was left of its group.
    pub remains: Remains,
    /// How long it ran.
    pub took: Duration,
}

/// Starts the child and returns when it, and everything below it, has ended. After a stop
/// signal of this process nothing is started.
///
/// `started` is told its process id, which is also the id of its group.
pub fn run(
    spec: &Spec,
    alarm: &Arc<Alarm>,
    started: impl FnOnce(u32),
    mut tick: impl FnMut(),
) -> Report {
    let begun = Stopwatch::now();
    let mut report = Report {
        ending: Ending::SpawnFailed(io::ErrorKind::NotFound),
        status: None,
        stdout_bytes: 0,
        stderr_bytes: 0,
        remains: Remains::None,
        took: Duration::ZERO,
    };
    if let Some(signal) = alarm.stopped() {
        report.ending = Ending::Stopped(signal);
        return report;
    }
    spec.family.prepare();
    let (mut child, pid) = match spawn(spec) {
        Ok(started) => started,
        Err(error) => {
            report.ending = Ending::SpawnFailed(error.kind());
            return report;
        }
    };
    started(child.id());
    let streams = [
        Stream::read(child.stdout.take(), spec.output_limit, alarm),
        Stream::read(child.stderr.take(), spec.output_limit, alarm),
    ];
    let ended = watch(pid, alarm);
    let over = || streams.iter().any(Stream::is_over);
    let gone = || ended.load(Ordering::Acquire);
    let news = loop {
        let left = spec.timeout.map_or(FOREVER, |limit| limit.saturating_sub(begun.elapsed()));
        let slice = left.min(spec.tick);
        let news = alarm.wait(slice, |stops| stops > 0 || over() || gone());
        if news || slice == left {
            break news;
        }
        tick();
    };
    // The first cause counts; an end that has come by itself comes first.
    let cause = match (gone(), over(), news) {
        (true, ..) => None,
        (_, true, _) => Some(Ending::OutputLimit),
        (_, _, false) => Some(Ending::Timeout),
        _ => Some(Ending::Stopped(alarm.stopped().unwrap_or_default())),
    };
    let mut family = group::Members::new(pid, spec.family);
    family.ask_to_end();
    let mut limit = Stopwatch::now() + spec.grace;
    if !gone() {
        // A second stop signal is impatience: it ends the grace.
        let stops = alarm.stop_count();
        alarm.wait(spec.grace, |now| now > stops || gone());
    }
    if !gone() {
        limit = limit.min(Stopwatch::now());
        family.kill();
        alarm.wait(group::LAST_WAIT, |_| gone());
    }
    // Its number is not given to another process before this.
    let status = if gone() { child.wait().ok() } else { child.try_wait().ok().flatten() };
    report.remains = family.end(limit, alarm);
    report.took = begun.elapsed();
    let by_itself = status.map_or(Ending::Signal(9), of_status);
    report.ending = match cause {
        // What it printed before its end counts also when the end was quicker.
        None => match by_itself {
            Ending::Exited(_) if late_flood(&streams, alarm) => Ending::OutputLimit,
            other => other,
        },
        Some(cause) => cause,
    };
    report.status = status.map(shell_status);
    let [stdout, stderr] = &streams;
    (report.stdout_bytes, report.stderr_bytes) = (stdout.bytes(), stderr.bytes());
    report
}

/// Both streams are at their end once everything that could write is gone; a moment is
/// given for what is still in the pipe.
fn late_flood(streams: &[Stream; 2], alarm: &Alarm) -> bool {
    alarm.wait(Duration::from_secs(1), |_| streams.iter().all(Stream::is_at_end));
    streams.iter().any(Stream::is_over)
}

fn spawn(spec: &Spec) -> io::Result<(Child, Pid)> {
    let (program, args) =
        spec.words.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut command = Command::new(program);
    for name in &spec.without {
        command.env_remove(name);
    }
    let child = command
        .args(args)
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let pid = Pid::from_child(&child);
    Ok((child, pid))
}

/// A flag that is set when the child has ended. It is not reaped: as long as it is not,
/// its process id and its group's cannot become another's.
fn watch(pid: Pid, alarm: &Arc<Alarm>) -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    let (told, alarm) = (Arc::clone(&ended), Arc::clone(alarm));
    let look = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        told.store(true, Ordering::Release);
        alarm.ring();
    };
    let thread = std::thread::Builder::new().name("loopx-wait".into()).stack_size(STACK);
    if thread.spawn(look).is_err() {
        // Without a thread there is no waiting: the child is ended at once.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        ended.store(true, Ordering::Release);
    }
    ended
}

fn of_status(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signal(signal.unwrap_or(9)),
    }
}

fn shell_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

#[cfg(test)]
mod tests;
