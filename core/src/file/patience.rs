//! How long a call waits for what others hold. A call may meet many locks (each goal of a
//! registry has its store), and all of its waits together have one limit. What the call
//! itself takes does not count: long work is not refused a lock because it was long.

use std::cell::Cell;
use std::time::{Duration, Instant as Stopwatch};

thread_local! {
    /// What the call on this thread may still wait; none where no call is.
    static LEFT: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// Ends the call also when it panics.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        LEFT.set(None);
    }
}

/// Lets all waits of `work` take `limit` together. A call inside a call has what that one has.
pub fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    if LEFT.get().is_some() {
        return work();
    }
    LEFT.set(Some(limit));
    let _ends = Ends;
    work()
}

/// Whether a call on this thread counts its waits.
pub fn is_counted() -> bool {
    LEFT.get().is_some()
}

/// How long a wait may be whose own limit is `limit`.
pub fn left(limit: Duration) -> Duration {
    LEFT.get().map_or(limit, |left| left.min(limit))
}

/// Waits with `wait`, and counts it.
pub fn counted<T>(wait: impl FnOnce() -> T) -> T {
    // A stopwatch for the waiting budget, not the time of day.
    let began = Stopwatch::now();
    let came = wait();
    if let Some(left) = LEFT.get() {
        LEFT.set(Some(left.saturating_sub(began.elapsed())));
    }
    came
}

/// Milliseconds of SQLite's own pauses between two attempts.
const PAUSES: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// SQLite found its file locked for the `attempt`th time: pauses, and whether to try again.
pub fn again(attempt: i32) -> bool {
    let left = LEFT.get().unwrap_or_default();
    if left.is_zero() {
        return false;
    }
    let at = usize::try_from(attempt).unwrap_or(0).min(PAUSES.len() - 1);
    let pause = PAUSES.get(at).copied().unwrap_or(100);
    counted(|| std::thread::sleep(Duration::from_millis(pause).min(left)));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: Duration = Duration::from_millis(20);

    #[test]
    fn the_waits_of_one_call_share_its_limit_and_the_next_call_has_its_own() {
        assert_eq!((left(TINY), again(0)), (TINY, false), "nothing is counted outside");
        for _ in 0..2 {
            let attempts = within(TINY, || {
                assert_eq!(left(Duration::MAX), TINY);
                let attempts = (0..).take_while(|n| again(*n)).count();
                assert_eq!(within(TINY, || left(Duration::MAX)), Duration::ZERO);
                attempts
            });
            // 1, 2, 5, 10 and the rest; on a slow machine each is longer.
            assert!((1..=5).contains(&attempts), "{attempts}");
        }
        let broken = std::panic::catch_unwind(|| within(TINY, || -> () { panic!("on purpose") }));
        assert!(broken.is_err() && !is_counted());
    }
}
