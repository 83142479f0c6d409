//! Instants and cadences. An instant is UTC microseconds; nothing here reads a clock.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorCode};

/// Microseconds in one second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds in one minute.
pub const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
/// Microseconds in one hour.
pub const MICROS_PER_HOUR: i64 = 60 * MICROS_PER_MINUTE;

/// A point in time: microseconds since 1970-01-01T00:00:00Z.
///
/// Text form is RFC 3339 in UTC. Parsing also takes any offset, and a date-time
/// without one, which is read as UTC (the earlier tool wrote such values).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(i64);

impl Instant {
    /// The instant `micros` microseconds after the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The system clock's present reading. Only doors and `Kernel` call this.
    pub fn system_now() -> Self {
        Self(jiff::Timestamp::now().as_microsecond())
    }

    /// This instant moved by a signed number of microseconds, saturating.
    pub const fn plus_micros(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// This instant moved by a signed number of minutes, saturating.
    pub const fn plus_minutes(self, minutes: i64) -> Self {
        self.plus_micros(minutes.saturating_mul(MICROS_PER_MINUTE))
    }

    /// Reads RFC 3339, or a date-time without an offset as UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
            return Some(Self(stamp.as_microsecond()));
        }
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        let stamp = jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()?;
        Some(Self(stamp.as_microsecond()))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(stamp) => write!(f, "{stamp}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl FromStr for Instant {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, "instant")
                .message(format!("{text:?} is not an RFC 3339 instant"))
                .next("write it like 2026-11-29T20:57:33Z")
        })
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not an instant")))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Instant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Instant".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "format": "date-time",
            "description": "RFC 3339, UTC",
        })
    }
}

/// How often a monitor is looked at: a whole number of seconds, at least one.
///
/// Text form is a count of 1 to 99999 with a unit: `30s`, `5m`, `2h`, `1d`, or the
/// English words for them (`15 minutes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cadence(u32);

impl Cadence {
    /// Reads the text form; `None` when it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let split = text.find(|c: char| !c.is_ascii_digit())?;
        let (count, unit) = text.split_at(split);
        let count: u32 = count.parse().ok().filter(|n| (1..=99_999).contains(n))?;
        let seconds = match unit.trim() {
            "s" | "sec" | "secs" | "second" | "seconds" => 1,
            "m" | "min" | "mins" | "minute" | "minutes" => 60,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600,
            "d" | "day" | "days" => 86_400,
            _ => return None,
        };
        count.checked_mul(seconds).map(Self)
    }

    /// Length in seconds.
    pub const fn seconds(self) -> u32 {
        self.0
    }

    /// Length in microseconds.
    pub const fn micros(self) -> i64 {
        self.0 as i64 * MICROS_PER_SECOND
    }
}

impl fmt::Display for Cadence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, seconds) in [("d", 86_400), ("h", 3_600), ("m", 60)] {
            if self.0.is_multiple_of(seconds) {
                return write!(f, "{}{unit}", self.0 / seconds);
            }
        }
        write!(f, "{}s", self.0)
    }
}

impl Serialize for Cadence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cadence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not a cadence")))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn instants_of_every_offset_compare_as_one_line() {
        let zulu = Instant::parse("2026-11-29T20:57:33Z").unwrap();
        assert_eq!(Instant::parse("2026-11-30T04:57:33+08:00").unwrap(), zulu);
        assert_eq!(Instant::parse("2026-11-29T13:57:33-07:00").unwrap(), zulu);
        assert_eq!(Instant::parse("2026-11-29T20:57:33").unwrap(), zulu);
        assert!(Instant::parse("2026-11-29T20:57:33.000001Z").unwrap() > zulu);
        assert_eq!(zulu.to_string(), "2026-11-29T20:57:33Z");
        assert!(Instant::parse("yesterday").is_none());
    }

    #[test]
    fn cadence_takes_short_and_word_units_and_refuses_zero() {
        assert_eq!(Cadence::parse("30m").unwrap().seconds(), 1_800);
        assert_eq!(Cadence::parse("2 hours").unwrap().to_string(), "2h");
        assert_eq!(Cadence::parse("90s").unwrap().to_string(), "90s");
        assert!(Cadence::parse("0m").is_none());
        assert!(Cadence::parse("m").is_none());
        assert!(Cadence::parse("100000s").is_none());
    }
}
