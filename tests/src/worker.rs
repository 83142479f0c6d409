//! A worker as a process that goes on beside the test, and what it says.

#![allow(clippy::indexing_slicing, reason = "an answer of another shape has to stop the test")]

use crate::process::LIMIT;
use crate::{Output, Sandbox};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// `loopx worker run --goal-id g --agent-id <agent> <rest>`, to be run to its end.
pub fn run(sandbox: &Sandbox, now: Option<&str>, agent: &str, rest: &[&str]) -> Output {
    let call = match now {
        Some(now) => sandbox.at(now),
        None => sandbox.call(),
    };
    call.run(words(agent, rest))
}

/// The lines of a worker's output.
#[track_caller]
pub fn lines(output: &str) -> Vec<Value> {
    let parse = |line: &str| match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => panic!("no JSON: {error}: {line}"),
    };
    output.lines().map(parse).collect()
}

/// The kinds of those lines.
pub fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["status"].as_str().unwrap_or_default()).collect()
}

fn words<'a>(agent: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["worker", "run", "--goal-id", "g", "--agent-id", agent];
    words.extend(rest);
    words
}

/// A worker that runs. It is killed with the value.
pub struct Live {
    child: Child,
    log: PathBuf,
}

impl Live {
    pub fn start(sandbox: &Sandbox, agent: &str, rest: &[&str]) -> Self {
        let number = fs::read_dir(sandbox.base()).map(Iterator::count).unwrap_or_default();
        let log = sandbox.base().join(format!("worker-{number}.log"));
        let out = File::create(&log).expect("a log");
        let mut command: Command = sandbox.call().command(words(agent, rest));
        let child = command.stdin(Stdio::null()).stdout(out).stderr(Stdio::inherit()).spawn();
        Self { child: child.expect("it starts"), log }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has said; a line that is being written is left out.
    pub fn said(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        text.rsplit_once('\n').map_or_else(Vec::new, |(whole, _)| lines(whole))
    }

    /// Waits until it has said a line of that kind.
    #[track_caller]
    pub fn until_said(&self, kind: &str) -> Value {
        let mut found = None;
        until(&format!("no line {kind:?}"), || {
            found = self.said().into_iter().find(|line| line["status"] == kind);
            found.is_some()
        });
        found.unwrap_or_default()
    }

    pub fn signal(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(self.pid().cast_signed()), signal);
    }

    /// Its exit status, once it has ended by itself; 128 and the number for a signal.
    #[track_caller]
    pub fn end(&mut self) -> i32 {
        let mut ended = None;
        until("it does not end", || {
            ended = self.child.try_wait().expect("a child can be waited for");
            ended.is_some()
        });
        let status = ended.expect("it has ended");
        status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(-1)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // A worker that is killed cannot end its child, so it is asked first.
        self.signal(Signal::SIGTERM);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(2) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for something, and stops the test when it does not come.
#[track_caller]
pub fn until(complaint: &str, mut there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !there() {
        assert!(begun.elapsed() < LIMIT, "{complaint} after {LIMIT:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The process whose number stands in a file, once it stands there.
#[track_caller]
pub fn pid_in(file: &Path) -> i32 {
    let mut found = None;
    until("no process number", || {
        found = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        found.is_some()
    });
    found.expect("it was found")
}

/// Who is in a process group and not dead, as `ps` says.
pub fn members(group: i32) -> Vec<String> {
    processes(&["pgid=", "stat=", "args="], |fields| {
        fields.first() == Some(&group.to_string().as_str())
            && !fields.get(1).unwrap_or(&"Z").starts_with('Z')
    })
}

/// Whether a process is there and not dead.
pub fn lives(pid: i32) -> bool {
    !processes(&["pid=", "stat="], |fields| {
        fields.first() == Some(&pid.to_string().as_str())
            && !fields.get(1).unwrap_or(&"Z").starts_with('Z')
    })
    .is_empty()
}

fn processes(columns: &[&str], wanted: impl Fn(&[&str]) -> bool) -> Vec<String> {
    let mut ps = Command::new("ps");
    ps.arg("-e");
    for column in columns {
        ps.args(["-o", column]);
    }
    let out = ps.output().expect("ps runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let chosen = |line: &&str| wanted(&line.split_whitespace().collect::<Vec<_>>());
    text.lines().filter(chosen).map(str::to_owned).collect()
}
