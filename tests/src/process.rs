//! One process, from start to end, with a limit.

use serde_json::Value;
use std::fmt;
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long any command may take, as in `tests/conformance/run.py`.
pub const LIMIT: Duration = Duration::from_secs(20);

/// What a process left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit status; 128 plus its number for a signal, as a shell has it.
    pub code: i32,
    /// Bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Bytes that are not UTF-8 are replaced.
    pub stderr: String,
}

impl Output {
    /// Standard output as JSON, whatever the exit status.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("stdout is not JSON: {error}\n{self}"),
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr } = self;
        write!(formatter, "exit status {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n---")
    }
}

/// Runs a command to its end; `None` when it was ended for taking longer than `limit`.
pub fn finish(command: &mut Command, stdin: &[u8], limit: Duration) -> Option<Output> {
    let mut child = command
        .stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("{} does not start: {error}", command.get_program().display())
        });
    let deadline = Instant::now() + limit;
    if let Some(mut pipe) = child.stdin.take() {
        let bytes = stdin.to_vec();
        // A process may end without reading its input; that is its own affair.
        thread::spawn(move || drop(pipe.write_all(&bytes)));
    }
    let stdout = read_aside(child.stdout.take().expect("it is piped"));
    let stderr = read_aside(child.stderr.take().expect("it is piped"));
    let streams = (until(&stdout, deadline), until(&stderr, deadline));
    if let (Some(stdout), Some(stderr)) = streams {
        loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                return Some(Output { code: code(status), stdout, stderr });
            }
            if Instant::now() >= deadline {
                break;
            }
            thread::sleep(Duration::from_micros(200));
        }
    }
    // It may have ended in this moment, which is what was wanted.
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Both streams are read at once, so that a full pipe never holds the process up.
fn read_aside(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (done, wait) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.read_to_end(&mut bytes);
        if read.is_ok() {
            let _ = done.send(String::from_utf8_lossy(&bytes).into_owned());
        }
    });
    wait
}

fn until(stream: &Receiver<String>, deadline: Instant) -> Option<String> {
    stream.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

#[cfg(unix)]
fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

#[cfg(not(unix))]
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(-1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_the_input_and_the_status_arrive() {
        let output = finish(&mut shell("cat; echo err >&2; exit 3"), b"in", LIMIT).unwrap();
        let expected = Output { code: 3, stdout: "in".into(), stderr: "err\n".into() };
        assert_eq!(output, expected);
    }

    #[test]
    fn a_signal_is_told_as_a_shell_tells_it() {
        assert_eq!(finish(&mut shell("kill -9 $$"), b"", LIMIT).unwrap().code, 137);
    }

    #[test]
    fn a_process_that_hangs_is_ended() {
        let begun = Instant::now();
        assert_eq!(finish(&mut shell("exec sleep 10"), b"", Duration::from_millis(50)), None);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
