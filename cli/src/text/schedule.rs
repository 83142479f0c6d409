//! `quota scheduler-ack`, `scheduler-ack-current` and `scheduler-fail-current`.

use serde_json::Value;

use super::page::{Page, Tone};
use super::receipt::foot;
use super::value::{text, yes};

pub fn acknowledged(page: &mut Page, value: &Value) {
    let rrule = text(value, "applied_rrule");
    match (yes(value, "already_applied"), yes(value, "dry_run")) {
        (true, _) => page.head(Tone::Good, "settled", "no acknowledgement was asked for"),
        (false, true) => page.head(Tone::Wait, "preview", rrule),
        (false, false) => page.head(Tone::Good, "acknowledged", rrule),
    }
    page.line("agent", text(value, "agent_id"));
    if yes(value, "stale_hint_accepted") {
        page.line("asked", text(value, "expected_rrule"));
    }
    page.line("then", "wait for the next wake; it names the next rule");
    foot(page, value);
}

pub fn failed(page: &mut Page, value: &Value) {
    let rrule = text(value, "failed_rrule");
    match (yes(value, "already_recorded"), yes(value, "dry_run")) {
        (true, _) => page.head(Tone::Wait, "known", "this failure is on record already"),
        (false, true) => page.head(Tone::Wait, "preview", rrule),
        (false, false) => page.head(Tone::Wait, "recorded", rrule),
    }
    page.line("agent", text(value, "agent_id"));
    page.line("why", text(value, "failure_kind").replace('_', " "));
    page.line("then", "wait at the host's own pace; the same update is not asked for again");
    foot(page, value);
}
