//! Schedules that a host would not take: a small cache of (target, observed) pairs, so
//! that the same failing update is not asked for again and again, and the bounded
//! reminder that a person gets meanwhile (reference scheduler.md 5.5, 6.4).

use serde::Serialize;
use serde_json::{Value, json};

use super::rrule::normalize;
use crate::model::time::MICROS_PER_MINUTE;
use crate::model::{HostUpdateFailure, Instant};

/// What can have gone wrong.
pub const FAILURE_KINDS: [&str; 4] = ["host_tool_failure", "timeout", "rejected", "unavailable"];
/// Pairs that are kept.
const KEPT: usize = 4;
/// Minutes that a pair is kept.
const KEPT_MINUTES: i64 = 24 * 60;

fn is_pair(failure: &HostUpdateFailure, target: &str, observed: &str) -> bool {
    normalize(&failure.target_rrule) == target
        && normalize(&failure.observed_host_rrule) == observed
}

/// One entry per pair, the newest last, at most four.
pub fn deduplicate(failures: &[HostUpdateFailure]) -> Vec<HostUpdateFailure> {
    let mut kept: Vec<HostUpdateFailure> = Vec::new();
    for failure in failures {
        let (target, observed) =
            (normalize(&failure.target_rrule), normalize(&failure.observed_host_rrule));
        kept.retain(|k| !is_pair(k, &target, &observed));
        kept.push(failure.clone());
    }
    kept.split_off(kept.len().saturating_sub(KEPT))
}

/// Those of the last 24 hours, and with `observed` only those of that host schedule.
pub fn retained(
    failures: &[HostUpdateFailure],
    now: Instant,
    observed: Option<&str>,
) -> Vec<HostUpdateFailure> {
    let observed = observed.map(normalize);
    deduplicate(failures)
        .into_iter()
        .filter(|f| f.failed_at.plus_minutes(KEPT_MINUTES) >= now)
        .filter(|f| observed.as_ref().is_none_or(|o| normalize(&f.observed_host_rrule) == *o))
        .collect()
}

/// The entry of exactly that pair.
pub fn of_pair<'a>(
    failures: &'a [HostUpdateFailure],
    target: &str,
    observed: &str,
) -> Option<&'a HostUpdateFailure> {
    failures.iter().find(|f| is_pair(f, target, observed))
}

/// The failures with one more of that pair.
pub fn with_one_more(
    failures: &[HostUpdateFailure],
    target: &str,
    observed: &str,
    kind: &str,
    now: Instant,
) -> Vec<HostUpdateFailure> {
    let mut kept = retained(failures, now, None);
    let before = of_pair(&kept, target, observed).map_or(0, |f| f.failure_count);
    kept.push(HostUpdateFailure {
        target_rrule: target.to_owned(),
        observed_host_rrule: observed.to_owned(),
        failure_kind: kind.to_owned(),
        failure_count: before.saturating_add(1),
        failed_at: now,
    });
    deduplicate(&kept)
}

/// A failure as a packet says it.
pub fn shown(failure: &HostUpdateFailure) -> Value {
    json!({
        "schema_version": "scheduler_host_update_failure_v0",
        "target_rrule": failure.target_rrule,
        "observed_host_rrule": failure.observed_host_rrule,
        "failure_kind": failure.failure_kind,
        "failure_count": failure.failure_count,
        "failed_at": failure.failed_at,
    })
}

/// When a person is reminded of a gate, while a host keeps polling faster than it
/// should because its schedule could not be slowed down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateCooldown {
    /// `user_gate_notification_cooldown_v0`.
    pub schema_version: &'static str,
    /// Always true.
    pub active: bool,
    /// This poll may tell the person.
    pub notification_due: bool,
    /// This poll is silent.
    pub notification_suppressed: bool,
    /// `failed_host_update_bounded_reminder_window`.
    pub policy: &'static str,
    /// Minutes between reminders: what the schedule should have been.
    pub cooldown_minutes: i64,
    /// Minutes in which one poll falls: what the schedule is.
    pub reminder_window_minutes: i64,
    /// When the update failed.
    pub failed_at: Instant,
    /// The next reminder.
    pub next_reminder_at: Instant,
}

impl GateCooldown {
    /// The cooldown after `failure`; `None` when the host is not faster than it should be.
    pub fn after(
        failure: &HostUpdateFailure,
        host_minutes: Option<i64>,
        target_minutes: i64,
        now: Instant,
    ) -> Option<Self> {
        let host_minutes = host_minutes.filter(|host| *host < target_minutes)?;
        let elapsed =
            now.micros().saturating_sub(failure.failed_at.micros()).max(0) / MICROS_PER_MINUTE;
        let cycle = elapsed / target_minutes;
        let due = cycle >= 1 && elapsed % target_minutes < host_minutes;
        Some(Self {
            schema_version: "user_gate_notification_cooldown_v0",
            active: true,
            notification_due: due,
            notification_suppressed: !due,
            policy: "failed_host_update_bounded_reminder_window",
            cooldown_minutes: target_minutes,
            reminder_window_minutes: host_minutes,
            failed_at: failure.failed_at,
            next_reminder_at: failure
                .failed_at
                .plus_minutes((cycle + 1).saturating_mul(target_minutes)),
        })
    }
}
