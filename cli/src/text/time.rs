//! Instants as a person reads them: how far away, and when exactly.

use loopx_core::model::Instant;
use loopx_core::model::time::MICROS_PER_MINUTE;

/// `in 12 min (2026-11-29T21:09Z)`, `3 h ago (2026-11-29T17:57Z)`.
pub fn relative(now: Instant, at: Instant) -> String {
    format!("{} ({})", distance(now, at), minute(at))
}

/// `in 12 min`, `3 h ago`, `now`.
pub fn distance(now: Instant, at: Instant) -> String {
    let micros = at.micros().saturating_sub(now.micros());
    let minutes = micros.unsigned_abs() / MICROS_PER_MINUTE.unsigned_abs();
    let length = span(minutes);
    match (minutes, micros < 0) {
        (0, _) => "now".to_owned(),
        (_, true) => format!("{length} ago"),
        (_, false) => format!("in {length}"),
    }
}

/// A length of time in its largest fitting unit.
pub fn span(minutes: u64) -> String {
    match minutes {
        0..=119 => format!("{minutes} min"),
        120..=2879 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1440),
    }
}

/// To the minute, UTC.
pub fn minute(at: Instant) -> String {
    let text = at.to_string();
    match text.get(..16) {
        Some(head) if text.ends_with('Z') => format!("{head}Z"),
        _ => text,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_one_unit_and_the_instant_beside_them() {
        let now = Instant::parse("2026-11-29T20:57:33Z").unwrap();
        for (at, said) in [
            ("2026-11-29T21:09:33Z", "in 12 min (2026-11-29T21:09Z)"),
            ("2026-11-29T20:57:00Z", "now (2026-11-29T20:57Z)"),
            ("2026-11-29T17:57:33.000001Z", "2 h ago (2026-11-29T17:57Z)"),
            ("2026-12-09T20:57:33Z", "in 10 d (2026-12-09T20:57Z)"),
        ] {
            assert_eq!(relative(now, Instant::parse(at).unwrap()), said);
        }
    }
}
