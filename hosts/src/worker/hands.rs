//! What a worker has done for it by the process that it runs in: lines, sleeps, children.
//! The loop itself is the same whoever does these; the wheel brings hands in Python.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use crate::alarm::Alarm;
use crate::process::{self, Report, Spec, end_marked};

/// The hands of a worker.
pub trait Hands {
    /// Writes one status line and flushes. A log that is gone is no reason to stop.
    fn say(&mut self, line: &str);

    /// Sleeps, at most so long. A stop signal ends the sleep, and one that has come already
    /// makes none of it.
    fn sleep(&mut self, longest: Duration);

    /// The first stop signal that has come, if any.
    fn stopped(&mut self) -> Option<i32>;

    /// Starts a child and returns when it, and everything below it, has ended, as
    /// [`process::run`] does. `tick` is called every [`Spec::tick`] while it runs.
    fn run(&mut self, spec: &Spec, tick: &mut (dyn FnMut() + Send)) -> Report;

    /// Ends what a worker that was killed left behind, as [`end_marked`] does.
    fn end_marked(&mut self, mark: &str, grace: Duration) -> usize;
}

/// The hands of this process: its standard output, or whatever is written to, and an alarm
/// that its stop signals ring.
pub struct Own<'a> {
    /// Rung by news.
    pub alarm: Arc<Alarm>,
    /// Where lines go.
    pub out: &'a mut dyn Write,
}

impl Hands for Own<'_> {
    fn say(&mut self, line: &str) {
        let _ = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
    }

    fn sleep(&mut self, longest: Duration) {
        self.alarm.wait(longest, |stops| stops > 0);
    }

    fn stopped(&mut self) -> Option<i32> {
        self.alarm.stopped()
    }

    fn run(&mut self, spec: &Spec, tick: &mut (dyn FnMut() + Send)) -> Report {
        process::run(spec, &self.alarm, |_| {}, tick)
    }

    fn end_marked(&mut self, mark: &str, grace: Duration) -> usize {
        end_marked(mark, grace, &self.alarm)
    }
}
