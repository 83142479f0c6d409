//! A goal's window from the registry's words, normalised as the earlier tool did, so
//! that a registry allows as many slots here as there. No ledger: what was spent is
//! the store's.

use serde_json::{Map, Value};

use crate::model::QuotaPolicy;

/// Reads `quota` of a goal entry; `compute_quota` beside it stands in for a missing
/// `quota.compute`.
pub fn quota(entry: &Map<String, Value>) -> QuotaPolicy {
    let default = QuotaPolicy::default();
    let field = |name: &str| {
        entry.get("quota").and_then(|quota| quota.get(name)).filter(|value| !value.is_null())
    };
    let compute = field("compute")
        .or_else(|| entry.get("compute_quota").filter(|value| !value.is_null()))
        .map_or(default.compute, |value| number(value).map_or(default.compute, share));
    let window_hours = field("window_hours")
        .map_or(default.window_hours, |value| at_least_one(value, default.window_hours));
    let slot_minutes = field("slot_minutes")
        .map_or(default.slot_minutes, |value| at_least_one(value, default.slot_minutes));
    let allowed_slots = field("allowed_slots")
        .and_then(whole)
        .and_then(|slots| u64::try_from(slots).ok())
        .unwrap_or_else(|| allowed(compute, window_hours, slot_minutes));
    QuotaPolicy { compute, window_hours, slot_minutes, allowed_slots }
}

/// `round(window_hours * 60 / slot_minutes * compute)`, halves to even.
pub fn allowed(compute: f64, window_hours: u32, slot_minutes: u32) -> u64 {
    let slots = f64::from(window_hours) * 60.0 / f64::from(slot_minutes.max(1)) * compute;
    // At most 2^32 * 60, and never negative: the cast cannot cut anything.
    slots.round_ties_even() as u64
}

/// Clamped to 0..=1, two decimals.
fn share(compute: f64) -> f64 {
    // Rounding through text rounds the exact value of the number, as the earlier tool
    // does; multiplying by 100 first would round another number.
    format!("{:.2}", compute.clamp(0.0, 1.0)).parse().unwrap_or(1.0)
}

/// A number or the text of one. Booleans are not numbers, and NaN is none.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number: &f64| !number.is_nan())
}

/// A whole number: of a fraction the whole part, of text only a whole number.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => {
            number.as_i64().or_else(|| number.as_f64().map(|number| number as i64))
        }
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn at_least_one(value: &Value, default: u32) -> u32 {
    whole(value).map_or(default, |number| {
        u32::try_from(number.clamp(1, i64::from(u32::MAX))).unwrap_or(default)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(entry: Value) -> (f64, u32, u32, u64) {
        let policy = quota(entry.as_object().unwrap());
        (policy.compute, policy.window_hours, policy.slot_minutes, policy.allowed_slots)
    }

    #[test]
    fn recorded_numbers_of_the_earlier_tool() {
        assert_eq!(of(json!({})), (1.0, 24, 1, 1440));
        assert_eq!(
            of(json!({"quota": {"compute": "0.333", "window_hours": "0", "slot_minutes": 7}})),
            (0.33, 1, 7, 3)
        );
        assert_eq!(of(json!({"quota": {"compute": -1}})), (0.0, 24, 1, 0));
        assert_eq!(of(json!({"quota": {"compute": 0.5}})).3, 720);
        assert_eq!(of(json!({"compute_quota": 0.25})).3, 360);
        assert_eq!(of(json!({"compute_quota": 0.25, "quota": {"compute": 1}})).3, 1440);
        assert_eq!(of(json!({"quota": {"allowed_slots": 0}})), (1.0, 24, 1, 0));
    }

    #[test]
    fn odd_values_fall_back_and_extremes_are_clamped() {
        for odd in [json!(true), json!("much"), json!([]), json!("nan")] {
            assert_eq!(of(json!({"quota": {"compute": odd}})).0, 1.0);
        }
        assert_eq!(of(json!({"quota": {"compute": 7}})).0, 1.0);
        assert_eq!(of(json!({"quota": {"compute": "inf"}})).0, 1.0);
        assert_eq!(of(json!({"quota": {"allowed_slots": -1}})).3, 1440);
        assert_eq!(of(json!({"quota": {"allowed_slots": "5"}})).3, 5);
        assert_eq!(of(json!({"quota": {"window_hours": 1e300}})).1, u32::MAX);
        assert_eq!(of(json!({"quota": {"slot_minutes": true}})).2, 1);
        assert_eq!(of(json!({"quota": "all"})), (1.0, 24, 1, 1440));
    }

    #[test]
    fn halves_go_to_even() {
        assert_eq!(of(json!({"quota": {"compute": 0.125}})).0, 0.12);
        assert_eq!(of(json!({"quota": {"compute": 0.375}})).0, 0.38);
        // 60 / 40 = 1.5 and 60 / 24 = 2.5
        assert_eq!(allowed(1.0, 1, 40), 2);
        assert_eq!(allowed(1.0, 1, 24), 2);
    }
}
