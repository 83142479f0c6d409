//! The recurrence rules that app hosts keep: only `FREQ=MINUTELY` is spoken (reference
//! scheduler.md 5.3).

/// The rule that fires every `minutes`, at least one.
pub fn rrule_for_minutes(minutes: i64) -> String {
    format!("FREQ=MINUTELY;INTERVAL={}", minutes.max(1))
}

/// A rule without its `RRULE:` prefix and with folded white space, so that two writings
/// of one rule compare equal.
pub fn normalize(rule: &str) -> String {
    let folded = rule.split_whitespace().collect::<Vec<_>>().join(" ");
    match folded.get(..6) {
        Some(prefix) if prefix.eq_ignore_ascii_case("rrule:") => {
            folded.get(6..).unwrap_or_default().trim_start().to_owned()
        }
        _ => folded,
    }
}

/// Minutes between two firings; `None` for a rule that is not minutely or has no
/// positive whole interval.
pub fn interval_minutes(rule: &str) -> Option<i64> {
    let rule = normalize(rule);
    let mut minutely = false;
    let mut interval = None;
    for part in rule.split(';') {
        let (name, value) = part.split_once('=')?;
        match name.trim().to_ascii_uppercase().as_str() {
            "FREQ" => minutely = value.trim().eq_ignore_ascii_case("minutely"),
            "INTERVAL" => interval = value.trim().parse::<i64>().ok().filter(|n| *n > 0),
            _ => {}
        }
    }
    interval.filter(|_| minutely)
}
