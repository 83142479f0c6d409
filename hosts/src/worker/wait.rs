//! Waiting for an instant: in slices, because a clock can be set and a machine can sleep,
//! and because somebody may change the goal meanwhile. Between slices nothing runs.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant as Stopwatch, SystemTime};

use loopx_core::kernel::Clock;
use loopx_core::model::Instant;

use super::hands::Hands;

/// The longest slice: how late a change of the clock or of the goal is noticed.
const SLICE: Duration = Duration::from_secs(10);

/// Why a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// It is time: by the clock, or as long has passed as it was meant to take.
    Due,
    /// The goal's files have changed, in a way that `matters`.
    Changed,
    /// This process was asked to stop.
    Stopped,
}

/// When files were written last, as far as that shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seen(Vec<Option<(SystemTime, u64)>>);

impl Seen {
    /// The files as they are now.
    pub fn of(files: &[PathBuf]) -> Self {
        let look = |file: &PathBuf| {
            let meta = fs::metadata(file).ok()?;
            Some((meta.modified().ok()?, meta.len()))
        };
        Self(files.iter().map(look).collect())
    }
}

/// The instant of a clock.
pub fn now(clock: Clock) -> Instant {
    match clock {
        Clock::System => Instant::system_now(),
        Clock::Fixed(at) => at,
    }
}

/// Waits until `until`. Each time one of `files` has changed `matters` is asked whether
/// that ends the wait.
pub fn until(
    until: Instant,
    clock: Clock,
    hands: &mut dyn Hands,
    files: &[PathBuf],
    mut matters: impl FnMut() -> bool,
) -> Over {
    // A stopwatch beside the clock: one that is set back must not make the wait longer.
    let begun = Stopwatch::now();
    let meant = left(until, clock);
    let mut seen = Seen::of(files);
    loop {
        let rest = left(until, clock).min(meant.saturating_sub(begun.elapsed()));
        hands.sleep(rest.min(SLICE));
        if hands.stopped().is_some() {
            return Over::Stopped;
        }
        if left(until, clock).is_zero() || begun.elapsed() >= meant {
            return Over::Due;
        }
        let present = Seen::of(files);
        if present != seen {
            seen = present;
            if matters() {
                return Over::Changed;
            }
        }
    }
}

fn left(until: Instant, clock: Clock) -> Duration {
    let micros = until.micros().saturating_sub(now(clock).micros());
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::super::hands::Own;
    use super::*;
    use crate::alarm::Alarm;

    #[test]
    fn a_wait_ends_when_it_is_due_whatever_the_clock_does() {
        let (alarm, out) = (Alarm::new(), &mut std::io::sink());
        let mut own = Own { alarm: std::sync::Arc::clone(&alarm), out };
        let soon = || Instant::system_now().plus_micros(60_000);
        let never = || false;
        assert_eq!(until(soon(), Clock::System, &mut own, &[], never), Over::Due);
        assert_eq!(until(Instant::default(), Clock::System, &mut own, &[], never), Over::Due);
        // A clock that stands still: the stopwatch ends the wait.
        let fixed = Instant::parse("2026-11-29T20:57:33Z").unwrap();
        let over = until(fixed.plus_micros(60_000), Clock::Fixed(fixed), &mut own, &[], never);
        assert_eq!(over, Over::Due);
        alarm.stop(15);
        let over =
            until(Instant::system_now().plus_minutes(9), Clock::System, &mut own, &[], never);
        assert_eq!(over, Over::Stopped);
    }
}
