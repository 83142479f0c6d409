//! Window arithmetic against naive recomputation, over random ledgers and instants.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use loopx_core::model::{Instant, QuotaPolicy, Spend};
use loopx_core::quota::WindowUse;

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;

/// splitmix64: the ledgers are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn near(&mut self, micros: i64) -> i64 {
        micros
            + match self.roll(8) {
                0 => 0,
                1 => 1,
                2 => -1,
                3 => SECOND,
                4 => -SECOND,
                _ => i64::try_from(self.roll(20 * SECOND as u64)).unwrap() - 10 * SECOND,
            }
    }
}

#[derive(Debug)]
struct Ledger {
    quota: QuotaPolicy,
    spends: Vec<Spend>,
    /// Until when, how many slots.
    reservations: Vec<(Instant, u64)>,
}

fn ledger(dice: &mut Dice, now: i64) -> Ledger {
    let hours = [1, 2, 24][dice.roll(3) as usize];
    let window = i64::from(hours) * HOUR;
    let quota = QuotaPolicy {
        compute: 1.0,
        window_hours: hours,
        slot_minutes: 1,
        allowed_slots: dice.roll(7),
    };
    let spends = (0..dice.roll(6))
        .map(|id| {
            let around = match dice.roll(4) {
                // Boundaries: the window's start, now, the future; else anywhere.
                0 => dice.near(now - window),
                1 => dice.near(now),
                2 => now + i64::try_from(dice.roll(HOUR as u64)).unwrap(),
                _ => now - i64::try_from(dice.roll(2 * window as u64)).unwrap(),
            };
            let whole = around.div_euclid(SECOND) * SECOND;
            Spend {
                id,
                at: Instant::from_micros(if dice.roll(2) == 0 { whole } else { around }),
                slots: dice.roll(4) + 1,
                voided: dice.roll(9).saturating_sub(4),
                agent: None,
                todo_id: None,
                turn_id: None,
                source: String::new(),
            }
        })
        .collect();
    let reservations = (0..dice.roll(4).saturating_sub(1))
        .map(|_| {
            let from = if dice.roll(3) == 0 { now } else { now + HOUR / 2 };
            let until = dice.near(from);
            let whole = until.div_euclid(SECOND) * SECOND;
            let until = if dice.roll(2) == 0 { whole } else { until };
            (Instant::from_micros(until), dice.roll(3))
        })
        .collect();
    Ledger { quota, spends, reservations }
}

impl Ledger {
    fn kernel(&self, now: i64) -> WindowUse {
        let spends = self.spends.iter().map(|s| (s.at, s.live()));
        WindowUse::by_scan(
            &self.quota,
            Instant::from_micros(now),
            spends,
            self.reservations.iter().copied(),
        )
    }

    /// Spent and reserved at an instant, by the words: a spend counts from its instant
    /// until the window's length later, and before its instant as well.
    fn used(&self, now: i64) -> (u64, u64) {
        let window = i64::from(self.quota.window_hours) * HOUR;
        let mut spent = 0;
        for s in &self.spends {
            if now - s.at.micros() <= window {
                spent += s.slots - s.voided.min(s.slots);
            }
        }
        let reserved = self
            .reservations
            .iter()
            .filter(|(until, _)| now < until.micros())
            .map(|(_, n)| n)
            .sum();
        (spent, reserved)
    }

    fn is_free(&self, now: i64) -> bool {
        let (spent, reserved) = self.used(now);
        spent + reserved < self.quota.allowed_slots
    }

    fn check(&self, now: i64, dice: &mut Dice) {
        let got = self.kernel(now);
        let (spent, reserved) = self.used(now);
        let allowed = self.quota.allowed_slots;
        assert_eq!((got.spent, got.reserved), (spent, reserved), "at {now}: {self:?}");
        assert_eq!(
            got.left(&self.quota),
            allowed.saturating_sub(spent + reserved),
            "at {now}: {self:?}"
        );
        assert_eq!(got.has_free_slot(&self.quota), self.is_free(now), "at {now}: {self:?}");
        match got.next_free_at {
            None => assert!(allowed == 0 || self.is_free(now), "full for ever? at {now}: {self:?}"),
            Some(at) => {
                let at = at.micros();
                assert!(at > now && !self.is_free(now), "free already at {now}: {self:?}");
                assert!(self.is_free(at), "not free at {at}, asked at {now}: {self:?}");
                // Use only falls as time passes, so the whole second before it suffices.
                assert!(
                    !self.is_free((at - 1).div_euclid(SECOND) * SECOND),
                    "free before {at}, asked at {now}: {self:?}"
                );
                // Only a reservation that ends between two seconds may be named as it is.
                let whole = at % SECOND == 0;
                assert!(
                    whole || self.reservations.iter().any(|(u, _)| u.micros() == at),
                    "{at}: {self:?}"
                );
            }
        }
        // A clock that steps back frees nothing, and names no other second.
        let back = now - i64::try_from(dice.roll(3 * HOUR as u64)).unwrap();
        let then = self.kernel(back);
        assert!(
            then.spent >= got.spent && then.reserved >= got.reserved,
            "{back} before {now}: {self:?}"
        );
        assert!(then.left(&self.quota) <= got.left(&self.quota), "{back} before {now}: {self:?}");
        if !self.is_free(now) {
            let second = |figures: WindowUse| {
                figures.next_free_at.map(|at| (at.micros() - 1).div_euclid(SECOND))
            };
            assert_eq!(second(then), second(got), "{back} before {now}: {self:?}");
        }
    }
}

#[test]
fn the_window_equals_naive_recomputation() {
    let mut dice = Dice(1);
    let mut full = 0_u32;
    for _ in 0..1_000_000 {
        let base = 1_795_953_600 * SECOND;
        let now = if dice.roll(2) == 0 { base } else { dice.near(base) };
        let ledger = ledger(&mut dice, now);
        ledger.check(now, &mut dice);
        full += u32::from(!ledger.is_free(now));
    }
    assert!(full > 100_000, "only {full} ledgers were full");
}

/// Second by second, without leaning on "use only falls".
#[test]
fn no_earlier_second_is_free() {
    let mut dice = Dice(2);
    for _ in 0..300 {
        let now = dice.near(1_795_953_600 * SECOND);
        let mut ledger = ledger(&mut dice, now);
        ledger.quota.window_hours = 1;
        let Some(at) = ledger.kernel(now).next_free_at else {
            continue;
        };
        let mut second = (now.div_euclid(SECOND) + 1) * SECOND;
        while second < at.micros() {
            assert!(!ledger.is_free(second), "free at {second} before {at}: {ledger:?}");
            second += SECOND;
        }
        assert!(ledger.is_free(at.micros()), "{ledger:?}");
    }
}

/// Voids: what was taken back counts no more, and never more than was spent.
#[test]
fn a_void_gives_back_at_most_what_was_spent() {
    let mut dice = Dice(3);
    for _ in 0..20_000 {
        let now = 1_795_953_600 * SECOND;
        let mut ledger = ledger(&mut dice, now);
        let before = ledger.kernel(now);
        let Some(spend) = ledger.spends.first_mut() else {
            continue;
        };
        let live = spend.live();
        spend.voided += dice.roll(4);
        let given = live - spend.live();
        let counts = now - spend.at.micros() <= i64::from(ledger.quota.window_hours) * HOUR;
        let after = ledger.kernel(now);
        assert!(given <= live);
        assert_eq!(after.spent, before.spent - if counts { given } else { 0 }, "{ledger:?}");
        if let (Some(a), Some(b)) = (after.next_free_at, before.next_free_at) {
            assert!(a <= b, "{ledger:?}");
        }
    }
}
