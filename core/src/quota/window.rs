//! Window arithmetic (reference quota.md 6, contract.md 1 and 3).
//!
//! A spend counts from its instant until the window's length later, that end
//! included; a spend dated after now counts too, so that a clock that steps back
//! frees nothing. Nothing is ever reset.

use serde::Serialize;

use crate::model::time::{MICROS_PER_HOUR, MICROS_PER_SECOND};
use crate::model::{Instant, QuotaPolicy};

/// The earliest instant whose spends still count at `now`.
pub fn window_start(policy: &QuotaPolicy, now: Instant) -> Instant {
    now.plus_micros(-i64::from(policy.window_hours).saturating_mul(MICROS_PER_HOUR))
}

/// What of the window is used at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WindowUse {
    /// Slots spent inside the window, voids taken off.
    pub spent: u64,
    /// Slots that live turns hold.
    pub reserved: u64,
    /// When a slot comes free if none is now: the earliest instant at which
    /// spent + reserved is below the allowance, nothing new happening.
    pub next_free_at: Option<Instant>,
}

impl WindowUse {
    /// Whether one more slot fits.
    pub fn has_free_slot(&self, policy: &QuotaPolicy) -> bool {
        self.left(policy) > 0
    }

    /// Slots that still fit.
    pub fn left(&self, policy: &QuotaPolicy) -> u64 {
        policy.allowed_slots.saturating_sub(self.spent.saturating_add(self.reserved))
    }

    /// Builds the figures from sums and, when the window is full, from the releases
    /// still to come in time order: `(when, slots)`, produced lazily because only the
    /// first few are needed.
    pub fn from_parts(
        policy: &QuotaPolicy,
        spent: u64,
        reserved: u64,
        releases: impl Iterator<Item = (Instant, u64)>,
    ) -> Self {
        let mut figures = Self { spent, reserved, next_free_at: None };
        if policy.allowed_slots == 0 || figures.has_free_slot(policy) {
            return figures;
        }
        let mut used = spent.saturating_add(reserved);
        for (at, slots) in releases {
            used = used.saturating_sub(slots);
            if used < policy.allowed_slots {
                figures.next_free_at = Some(at);
                break;
            }
        }
        figures
    }

    /// The figures by looking at every spend and reservation: the definition that the
    /// store's indexed sums are held equal to.
    pub fn by_scan(
        policy: &QuotaPolicy,
        now: Instant,
        spends: impl Iterator<Item = (Instant, u64)>,
        reservations: impl Iterator<Item = (Instant, u64)>,
    ) -> Self {
        let start = window_start(policy, now);
        let mut releases: Vec<(Instant, u64)> = Vec::new();
        let mut spent = 0_u64;
        for (at, slots) in spends.filter(|(at, slots)| *at >= start && *slots > 0) {
            spent = spent.saturating_add(slots);
            releases.push((leaves_at(policy, at), slots));
        }
        let mut reserved = 0_u64;
        for (until, slots) in reservations.filter(|(until, slots)| *until > now && *slots > 0) {
            reserved = reserved.saturating_add(slots);
            releases.push((until, slots));
        }
        releases.sort_by_key(|(at, _)| *at);
        Self::from_parts(policy, spent, reserved, releases.into_iter())
    }
}

/// The first whole second at which a spend of `at` no longer counts.
pub fn leaves_at(policy: &QuotaPolicy, at: Instant) -> Instant {
    let end = at.plus_micros(i64::from(policy.window_hours).saturating_mul(MICROS_PER_HOUR));
    // The window includes its end, so the spend leaves just after it; whole seconds
    // keep the instant readable and are never early.
    Instant::from_micros(
        (end.micros().div_euclid(MICROS_PER_SECOND))
            .saturating_add(1)
            .saturating_mul(MICROS_PER_SECOND),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn policy(hours: u32, allowed: u64) -> QuotaPolicy {
        QuotaPolicy { compute: 1.0, window_hours: hours, slot_minutes: 1, allowed_slots: allowed }
    }

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    #[test]
    fn both_ends_of_the_window_count_and_the_future_counts() {
        let now = at("2026-11-29T20:00:00Z");
        let spends = [
            at("2026-11-29T19:00:00Z"),
            at("2026-11-29T18:59:59.999999Z"),
            at("2026-11-29T21:00:00Z"),
        ];
        let figures = WindowUse::by_scan(
            &policy(1, 10),
            now,
            spends.iter().map(|a| (*a, 1)),
            std::iter::empty(),
        );
        assert_eq!(figures.spent, 2);
        assert_eq!(figures.next_free_at, None);
    }

    #[test]
    fn a_full_window_names_the_instant_at_which_enough_has_left() {
        let now = at("2026-11-29T20:00:00Z");
        let spends =
            [("2026-11-29T19:10:00Z", 1), ("2026-11-29T19:20:00Z", 3), ("2026-11-29T19:30:00Z", 1)];
        let spends = spends.iter().map(|(t, n)| (at(t), *n));
        let figures = WindowUse::by_scan(&policy(1, 3), now, spends.clone(), std::iter::empty());
        assert_eq!(figures.next_free_at, Some(at("2026-11-29T20:20:01Z")));
        let later = figures.next_free_at.unwrap();
        let then = WindowUse::by_scan(&policy(1, 3), later, spends.clone(), std::iter::empty());
        assert!(then.has_free_slot(&policy(1, 3)));
        let before = WindowUse::by_scan(
            &policy(1, 3),
            later.plus_micros(-MICROS_PER_SECOND),
            spends,
            std::iter::empty(),
        );
        assert!(!before.has_free_slot(&policy(1, 3)));
    }

    #[test]
    fn reservations_hold_slots_until_they_end() {
        let now = at("2026-11-29T20:00:00Z");
        let until = at("2026-11-29T20:30:00Z");
        let figures =
            WindowUse::by_scan(&policy(1, 1), now, std::iter::empty(), [(until, 1)].into_iter());
        assert_eq!((figures.reserved, figures.next_free_at), (1, Some(until)));
    }
}
