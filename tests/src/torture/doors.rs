//! The two ways in: a process for each command, and a process that holds a kernel open.

use super::check::Acknowledged;
use super::{Dice, Door, World, text};
use crate::faults::{Fault, Kind};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// After so long an operation is held to hang.
const LIMIT: Duration = Duration::from_secs(60);

/// What is answered when a system call fails.
const OF_A_FAULT: [&str; 4] = ["disk_full", "io_failed", "write_denied", "durability_unknown"];

/// An operation, as each of the doors says it. Both mean the same effect with the same body.
pub(super) struct Ask {
    /// As a command line.
    pub words: String,
    /// As an operation of the kernel.
    pub operation: &'static str,
    /// Its request.
    pub request: Value,
    /// The effect, as the store names it.
    pub effect: String,
}

/// How one operation ended.
pub(super) enum End {
    Receipt(Value),
    Refused,
    Unknown,
}

/// A process that holds a kernel open, seen from outside. The process is in its slot.
pub(super) struct Session {
    input: ChildStdin,
    answers: Receiver<String>,
    faulty: bool,
    /// An operation on it has failed.
    failed: bool,
}

/// A worker's way to its doors.
pub(super) struct Doors {
    pub me: usize,
    pub dice: Dice,
    pub session: Option<Session>,
}

impl World<'_> {
    /// Runs an operation until it answers; one that was cut off is left alone every other
    /// time, and else repeated at either door.
    pub(super) fn call(&self, doors: &mut Doors, ask: &Ask) -> End {
        let mut door = *Door::ALL.get(doors.dice.below(2)).unwrap_or(&Door::Command);
        let first = door;
        loop {
            match self.through(doors, door, ask) {
                End::Unknown if doors.dice.below(2) == 0 => return End::Unknown,
                End::Unknown if doors.dice.below(2) == 0 => door = door.other(),
                End::Unknown => {}
                End::Receipt(receipt) => {
                    self.acknowledged.lock().expect("no panic").push(Acknowledged {
                        effect: ask.effect.clone(),
                        receipt: receipt.clone(),
                    });
                    let mut report = self.report();
                    report.of(door).acknowledged += 1;
                    report.across += usize::from(door != first);
                    return End::Receipt(receipt);
                }
                End::Refused => return End::Refused,
            }
        }
    }

    fn through(&self, doors: &mut Doors, door: Door, ask: &Ask) -> End {
        self.report().of(door).operations += 1;
        match door {
            Door::Command => self.command(doors.me, &mut doors.dice, ask),
            Door::Handle => self.handle(doors, ask),
        }
    }

    fn kind(dice: &mut Dice, kinds: &[Kind]) -> Kind {
        kinds.get(dice.below(kinds.len())).copied().unwrap_or(Kind::Io)
    }

    fn command(&self, me: usize, dice: &mut Dice, ask: &Ask) -> End {
        let words = &ask.words;
        let out = self.sandbox.base().join(format!("tmp/out-{me}"));
        let file = File::create(&out).expect("a file for the answer");
        let mut command = self.sandbox.call().command(words.split_whitespace());
        let faulty = match &self.library {
            Some(library) if dice.below(16) == 0 => {
                let kind = Self::kind(dice, &[Kind::NoSpace, Kind::Io, Kind::Short, Kind::Torn]);
                let at = 1 + dice.below(60);
                library.attach(&mut command, Fault { kind, at, sticky: false });
                true
            }
            _ => false,
        };
        command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
        let child = command.spawn().expect("loopx starts");
        *self.slot(me, Door::Command) = Some(child);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.ended(me, Door::Command) {
                break Some(status);
            }
            if begun.elapsed() > LIMIT {
                break None;
            }
            thread::sleep(Duration::from_micros(500));
        };
        if let (None, Some(child)) = (status, self.slot(me, Door::Command).as_mut()) {
            // It is over with either way.
            let _ = child.kill();
        }
        *self.slot(me, Door::Command) = None;
        self.report().commands.faulty += usize::from(faulty);
        let Some(status) = status else {
            self.violation(format!("not over after a minute: {words}"));
            return End::Unknown;
        };
        let answer: Option<Value> =
            fs::read(&out).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match (status.code(), answer) {
            (None, _) => End::Unknown,
            (Some(0), Some(answer)) => End::Receipt(answer),
            (Some(1), Some(answer)) => self.refused(Door::Command, words, &answer, faulty),
            (code, answer) => {
                self.violation(format!("{words}: exit {code:?}, answer {answer:?}"));
                End::Unknown
            }
        }
    }

    fn refused(&self, door: Door, words: &str, answer: &Value, faulty: bool) -> End {
        let code = answer.get("error_code").and_then(Value::as_str).unwrap_or("none");
        let mut report = self.report();
        *report.refused.entry(code.to_owned()).or_default() += 1;
        let broken = ["internal", "none", "effect_conflict", "store_unreadable"];
        if broken.contains(&code) || code.starts_with("quota_state") {
            report.violations.push(format!("{door:?} {words}: {answer}"));
        }
        if OF_A_FAULT.contains(&code) {
            report.of(door).failed += 1;
            if !faulty {
                report.violations.push(format!("{door:?} without a fault, {words}: {answer}"));
            }
        }
        // A write that failed may have happened all the same.
        if faulty { End::Unknown } else { End::Refused }
    }

    fn handle(&self, doors: &mut Doors, ask: &Ask) -> End {
        let me = doors.me;
        if doors.session.is_none() {
            doors.session = Some(self.open(me, &mut doors.dice));
        }
        let Some(session) = &mut doors.session else { return End::Unknown };
        let mut request = ask.request.clone();
        if ask.operation == "turn.admit" && doors.dice.below(2) == 0 {
            // Its death frees the turn.
            let pid = self.slot(me, Door::Handle).as_ref().map(std::process::Child::id);
            if let Some(map) = request.as_object_mut() {
                map.insert("holder_pid".into(), json!(pid));
            }
        }
        let line = json!({"operation": ask.operation, "request": request});
        // It may be gone, which the missing answer shows.
        let _ = session.input.write_all(format!("{line}\n").as_bytes());
        let answer = session.answers.recv_timeout(LIMIT);
        if answer == Err(RecvTimeoutError::Timeout) {
            self.violation(format!("not over after a minute: {line}"));
        }
        let Ok(answer) = answer else {
            doors.session = None;
            self.close(me);
            return End::Unknown;
        };
        // The last line of a killed process may be cut.
        let Ok(answer) = serde_json::from_str::<Value>(&answer) else { return End::Unknown };
        // A refusal of an admission is a packet with a code.
        if answer.get("ok") == Some(&Value::Bool(false)) {
            session.failed |= OF_A_FAULT.contains(&text(&answer, "error_code"));
            return self.refused(Door::Handle, &line.to_string(), &answer, session.faulty);
        }
        self.report().went_on += usize::from(session.failed);
        End::Receipt(answer)
    }

    /// Starts a process that holds a kernel open; every other one with a fault in some of its
    /// system calls, again and again.
    fn open(&self, me: usize, dice: &mut Dice) -> Session {
        let sandbox = &self.sandbox;
        let mut command = Command::new(&self.options.holder);
        command.arg("hold").arg(sandbox.registry()).arg(sandbox.runtime_root());
        command.current_dir(sandbox.project()).env("HOME", sandbox.home());
        let mut faulty = false;
        if let Some(library) = self.library.as_ref().filter(|_| dice.below(2) == 0) {
            let kind = Self::kind(dice, &[Kind::NoSpace, Kind::Io, Kind::Short, Kind::Torn]);
            let at = 1 + dice.below(400);
            library.attach(&mut command, Fault { kind, at, sticky: false });
            command.env("LOOPX_FAULT_EVERY", (40 + dice.below(200)).to_string());
            faulty = true;
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the holder starts");
        let input = child.stdin.take().expect("its input");
        let output = child.stdout.take().expect("its output");
        let (send, answers) = channel();
        // It ends with the process.
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        *self.slot(me, Door::Handle) = Some(child);
        let mut report = self.report();
        report.held += 1;
        report.handles.faulty += usize::from(faulty);
        Session { input, answers, faulty, failed: false }
    }

    /// Ends a worker's held process.
    pub(super) fn close(&self, me: usize) {
        let child = self.slot(me, Door::Handle).take();
        if let Some(mut child) = child {
            let _ = child.kill();
            let status = child.wait().expect("it can be waited for");
            if let Some(code) = status.code().filter(|code| *code != 0) {
                self.violation(format!("a process that held the kernel ended with {code}"));
            }
        }
    }
}
