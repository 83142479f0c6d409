//! Work that takes long shows that it goes on: on standard error, only on a terminal, and
//! only after one second. Standard output stays the answer's.
//!
//! ```ignore
//! progress::during("checking stores", |meter| {
//!     for (n, goal) in goals.iter().enumerate() {
//!         meter.at(n, goals.len());
//!         check(goal)?;
//!     }
//!     Ok(())
//! })
//! ```

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the work stays silent.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is drawn again.
const TICK: Duration = Duration::from_millis(120);
/// What turns.
const SPINNER: [&str; 4] = ["|", "/", "-", "\\"];
/// Columns of the bar.
const BAR: usize = 24;

/// How far the work is.
#[derive(Debug, Default)]
pub struct Meter {
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Meter {
    /// `done` of `total` steps are over; a total of 0 shows the time alone.
    #[allow(dead_code, reason = "for work whose steps the door sees; a transfer is one step")]
    pub fn at(&self, done: usize, total: usize) {
        self.total.store(total, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }

    fn line(&self, label: &str, turn: usize, elapsed: Duration) -> String {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        let spinner = SPINNER.get(turn % SPINNER.len()).copied().unwrap_or_default();
        let seconds = elapsed.as_secs();
        match (done * BAR).checked_div(total) {
            None => format!("{spinner} {label}, {seconds} s"),
            Some(full) => {
                let bar = format!("{}{}", "=".repeat(full), " ".repeat(BAR - full));
                format!("{spinner} {label} [{bar}] {done} of {total}, {seconds} s")
            }
        }
    }
}

/// Runs `work`, and while it runs says so. The line is gone when it is over.
pub fn during<T>(label: &str, work: impl FnOnce(&Meter) -> T) -> T {
    let meter = Meter::default();
    if !io::stderr().is_terminal() {
        return work(&meter);
    }
    let (over, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let drawn = &meter;
        scope.spawn(move || {
            let begun = Instant::now();
            let mut wait = PATIENCE;
            let mut turn = 0;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
                // A terminal that is gone is no reason to stop the work.
                let line = drawn.line(label, turn, begun.elapsed());
                let _ = write!(io::stderr(), "\r\u{1b}[K{line}");
                let _ = io::stderr().flush();
                turn += 1;
                wait = TICK;
            }
            if turn > 0 {
                let _ = write!(io::stderr(), "\r\u{1b}[K");
                let _ = io::stderr().flush();
            }
        });
        let answer = work(&meter);
        drop(over);
        answer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_shows_time_until_it_knows_how_much_there_is() {
        let meter = Meter::default();
        assert_eq!(meter.line("importing", 0, Duration::from_secs(2)), "| importing, 2 s");
        meter.at(3, 4);
        assert_eq!(
            meter.line("importing", 1, Duration::from_secs(3)),
            "/ importing [==================      ] 3 of 4, 3 s"
        );
        meter.at(9, 4);
        assert!(meter.line("importing", 1, PATIENCE).contains("4 of 4"));
    }

    #[test]
    fn the_answer_of_the_work_comes_back() {
        assert_eq!(during("working", |_| 7), 7);
    }
}
