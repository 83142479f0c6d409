//! Waits after something failed: a ladder with a cap, so that nothing fails every few
//! seconds for days (field report 85) and nothing gives up either.

use crate::model::Instant;
use crate::model::time::MICROS_PER_SECOND;

/// Minutes after the first, second, ... failure in a row.
pub const LADDER_MINUTES: [u64; 5] = [3, 6, 12, 24, 30];
/// The least wait after a failure, in seconds.
pub const FLOOR_SECONDS: u64 = 5;
/// The longest wait after a failure, in seconds.
pub const CAP_SECONDS: u64 = 30 * 60;

/// Seconds to wait after the `failures`-th failure in a row (from 1). `base` is the
/// door's own first step in seconds; it doubles up to the cap, or stays where it is when
/// it begins above the cap.
pub fn after(failures: u32, base: Option<u64>) -> u64 {
    let step = failures.saturating_sub(1);
    match base {
        None => {
            let at = usize::try_from(step).unwrap_or(usize::MAX).min(LADDER_MINUTES.len() - 1);
            LADDER_MINUTES.get(at).copied().unwrap_or(30) * 60
        }
        Some(base) => {
            let base = base.max(FLOOR_SECONDS);
            let doubled = base.saturating_mul(1u64 << step.min(32));
            doubled.min(CAP_SECONDS.max(base))
        }
    }
}

/// The instant at which the wait after the `failures`-th failure ends.
pub fn until(now: Instant, failures: u32, base: Option<u64>) -> Instant {
    let seconds = i64::try_from(after(failures, base)).unwrap_or(i64::MAX / MICROS_PER_SECOND);
    now.plus_micros(seconds.saturating_mul(MICROS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn the_ladder_has_a_cap_and_the_doors_own_step_a_floor() {
        let minutes: Vec<u64> = (1..=7).map(|n| after(n, None) / 60).collect();
        assert_eq!(minutes, [3, 6, 12, 24, 30, 30, 30]);
        let seconds: Vec<u64> = (1..=8).map(|n| after(n, Some(60))).collect();
        assert_eq!(seconds, [60, 120, 240, 480, 960, 1800, 1800, 1800]);
        assert_eq!(after(1, Some(0)), 5);
        assert_eq!(after(u32::MAX, Some(1)), 1800);
        assert_eq!((after(1, Some(7200)), after(9, Some(7200))), (7200, 7200));
    }
}
