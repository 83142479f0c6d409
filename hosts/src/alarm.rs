//! The one thing that a waiting thread waits on. Whoever has news rings it: a child that
//! ended, a stream that overflowed, a signal. Waiting costs nothing until then.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Stopwatch};

/// A bell, and the stop signals that have come so far.
#[derive(Debug, Default)]
pub struct Alarm {
    stops: Mutex<Vec<i32>>,
    bell: Condvar,
}

impl Alarm {
    /// A bell that nobody has rung.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// There is news: whoever waits looks again.
    pub fn ring(&self) {
        // Held for a moment, so that nobody looks, finds nothing, and then misses the bell.
        drop(self.stops());
        self.bell.notify_all();
    }

    /// A stop signal has come.
    pub fn stop(&self, signal: i32) {
        self.stops().push(signal);
        self.bell.notify_all();
    }

    /// The first stop signal, if any.
    pub fn stopped(&self) -> Option<i32> {
        self.stops().first().copied()
    }

    /// How many stop signals have come.
    pub fn stop_count(&self) -> usize {
        self.stops().len()
    }

    /// Waits until `ready`, which is asked at each ring and sees how many stop signals
    /// have come; at most `longest`. Whether it was ready.
    pub fn wait(&self, longest: Duration, mut ready: impl FnMut(usize) -> bool) -> bool {
        // A stopwatch for the length of the wait, not the time of day.
        let begun = Stopwatch::now();
        let mut stops = self.stops();
        loop {
            if ready(stops.len()) {
                return true;
            }
            let left = longest.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            stops = self.bell.wait_timeout(stops, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn stops(&self) -> MutexGuard<'_, Vec<i32>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_ring_ends_the_wait_and_a_wait_without_one_ends_by_itself() {
        let alarm = Alarm::new();
        assert!(!alarm.wait(Duration::from_millis(20), |_| false));
        let news = Arc::new(AtomicBool::new(false));
        let (other, told) = (Arc::clone(&alarm), Arc::clone(&news));
        let thread = std::thread::spawn(move || {
            told.store(true, Ordering::Release);
            other.ring();
        });
        assert!(alarm.wait(Duration::from_secs(20), |_| news.load(Ordering::Acquire)));
        thread.join().unwrap();
        assert_eq!(alarm.stopped(), None);
    }

    #[test]
    fn the_first_signal_is_the_one_that_is_told() {
        let alarm = Alarm::new();
        alarm.stop(15);
        alarm.stop(2);
        assert!(alarm.wait(Duration::ZERO, |stops| stops == 2));
        assert_eq!(alarm.stopped(), Some(15));
    }
}
