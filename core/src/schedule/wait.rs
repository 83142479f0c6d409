//! Waits that end with an instant: the ladder of a monitor wait, and the next instant
//! at which time alone changes an answer (reference scheduler.md 6.1 to 6.3).

use serde::Serialize;

use super::class::MONITOR;
use crate::model::time::MICROS_PER_MINUTE;
use crate::model::{Cadence, Instant};

/// Minutes that a host need not be faster than while a monitor is further away.
pub const HOST_FLOOR: u32 = 15;
/// Minutes within which a due instant is near.
const NEAR: u32 = 60;

/// One monitor that is waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Its id, or what else names it.
    pub identity: String,
    /// Its id, when it has one.
    pub todo_id: Option<String>,
    /// What is watched.
    pub target_key: Option<String>,
    /// How often.
    pub cadence: Option<Cadence>,
    /// When next.
    pub next_due_at: Option<Instant>,
    /// Until when.
    pub expires_at: Option<Instant>,
    /// When it was looked at last.
    pub last_checked_at: Option<Instant>,
}

/// An instant at which time alone changes the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// When.
    pub at: Instant,
    /// `continuous_monitor` or `quota_window`.
    pub source: &'static str,
    /// What comes due.
    pub identity: String,
}

/// [`Deadline`] as a packet says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrontierRecheck {
    /// Seconds until then, at least one.
    pub frontier_recheck_after_seconds: u64,
    /// What kind of thing comes due.
    pub frontier_recheck_source: &'static str,
    /// Which.
    pub frontier_recheck_identity: String,
    /// How many things have an instant.
    pub frontier_recheck_candidate_count: usize,
}

/// The earliest of `deadlines` after `now`.
pub fn frontier(deadlines: &[Deadline], now: Instant) -> Option<FrontierRecheck> {
    let ahead = || deadlines.iter().filter(|d| d.at > now);
    let first = ahead().min_by_key(|d| (d.at, &d.identity))?;
    let micros = first.at.micros().saturating_sub(now.micros());
    let seconds = u64::try_from(micros.div_ceil_positive(1_000_000)).unwrap_or(1);
    Some(FrontierRecheck {
        frontier_recheck_after_seconds: seconds.max(1),
        frontier_recheck_source: first.source,
        frontier_recheck_identity: first.identity.clone(),
        frontier_recheck_candidate_count: ahead().count(),
    })
}

/// Rounded up; the standard library has it for unsigned numbers only.
trait DivCeil {
    fn div_ceil_positive(self, by: i64) -> i64;
}

impl DivCeil for i64 {
    fn div_ceil_positive(self, by: i64) -> i64 {
        self / by + i64::from(self % by > 0)
    }
}

/// Whole minutes until `at`, rounded up, at least one.
pub fn minutes_until(at: Instant, now: Instant) -> u32 {
    let micros = at.micros().saturating_sub(now.micros());
    u32::try_from(micros.div_ceil_positive(MICROS_PER_MINUTE).max(1)).unwrap_or(u32::MAX)
}

/// The monitor that a wait is measured by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MonitorWait {
    /// `active_window`, `near_window`, `far_window`, `cadence_only` or `expired`.
    pub phase: &'static str,
    /// The ladder without a monitor.
    pub base_progression_minutes: Vec<u32>,
    /// The ladder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progression_minutes: Option<Vec<u32>>,
    /// Minutes that no step exceeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap_minutes: Option<u32>,
    /// Minutes that no step goes below.
    pub host_floor_minutes: u32,
    /// Monitors that could be waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate_count: Option<usize>,
    /// Monitors that are past their end.
    pub expired_monitor_count: usize,
    /// Which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_monitor_identity: Option<String>,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_todo_id: Option<String>,
    /// What is watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_target_key: Option<String>,
    /// How often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cadence_minutes: Option<u32>,
    /// When next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_due_at: Option<Instant>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Instant>,
    /// When it was looked at last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_checked_at: Option<Instant>,
    /// What a reset of the wait depends on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_profile: Option<MonitorReset>,
}

/// What another wait is told from this one by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MonitorReset {
    /// Phase.
    pub monitor_wait_phase: &'static str,
    /// Minutes that no step goes below.
    pub monitor_wait_host_floor_minutes: u32,
    /// Which monitor.
    pub monitor_wait_selected_identity: String,
    /// How often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor_wait_cadence_minutes: Option<u32>,
    /// When its time comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor_wait_window_start_at: Option<Instant>,
    /// When its time is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor_wait_window_end_at: Option<Instant>,
}

/// A monitor with the minutes that it allows.
struct Candidate<'a> {
    watched: &'a Watched,
    cap: u32,
    /// Place among the phases, and the phase.
    phase: (u8, &'static str),
    window_start: Option<Instant>,
}

fn candidate(watched: &Watched, now: Instant) -> Option<Candidate<'_>> {
    let cadence = watched.cadence.map(|c| c.seconds().div_ceil(60));
    let due = watched.next_due_at.filter(|at| *at > now);
    let minutes = due.map(|at| minutes_until(at, now));
    let active = watched.expires_at.is_some()
        && watched.last_checked_at.is_some_and(|checked| checked <= now);
    let (cap, phase, window_start) = match (active, minutes) {
        (true, _) => (cadence.into_iter().chain(minutes).min()?, (0, "active_window"), None),
        (false, Some(minutes)) if minutes <= NEAR => (minutes, (1, "near_window"), due),
        (false, Some(minutes)) => (minutes, (3, "far_window"), due),
        (false, None) => (cadence?, (2, "cadence_only"), None),
    };
    Some(Candidate { watched, cap: cap.max(1), phase, window_start })
}

/// The wait for the first of `monitors`; `None` when there is none to measure by.
pub fn monitor_wait(monitors: &[Watched], now: Instant) -> Option<MonitorWait> {
    let expired = monitors.iter().filter(|w| w.expires_at.is_some_and(|end| end <= now)).count();
    let candidates: Vec<Candidate<'_>> = monitors
        .iter()
        .filter(|w| w.expires_at.is_none_or(|end| end > now))
        .filter_map(|w| candidate(w, now))
        .collect();
    let base = MONITOR.ladder.to_vec();
    let Some(first) =
        candidates.iter().min_by_key(|c| (c.cap, c.phase.0, c.watched.identity.as_str()))
    else {
        return (expired > 0).then(|| MonitorWait {
            phase: "expired",
            base_progression_minutes: base.clone(),
            host_floor_minutes: HOST_FLOOR,
            expired_monitor_count: expired,
            ..MonitorWait::default()
        });
    };
    let floor = HOST_FLOOR.min(first.cap);
    let mut ladder: Vec<u32> =
        base.iter().copied().filter(|step| *step <= first.cap).map(|s| s.max(floor)).collect();
    if ladder.is_empty() {
        ladder.push(floor);
    }
    let watched = first.watched;
    let cadence = watched.cadence.map(|c| c.seconds().div_ceil(60));
    Some(MonitorWait {
        phase: first.phase.1,
        base_progression_minutes: base,
        progression_minutes: Some(ladder),
        cap_minutes: Some(first.cap),
        host_floor_minutes: floor,
        candidate_count: Some(candidates.len()),
        expired_monitor_count: expired,
        selected_monitor_identity: Some(watched.identity.clone()),
        selected_todo_id: watched.todo_id.clone(),
        selected_target_key: watched.target_key.clone(),
        cadence_minutes: cadence,
        next_due_at: watched.next_due_at,
        expires_at: watched.expires_at,
        last_checked_at: watched.last_checked_at,
        reset_profile: Some(MonitorReset {
            monitor_wait_phase: first.phase.1,
            monitor_wait_host_floor_minutes: floor,
            monitor_wait_selected_identity: watched.identity.clone(),
            monitor_wait_cadence_minutes: cadence,
            monitor_wait_window_start_at: first.window_start,
            monitor_wait_window_end_at: watched
                .expires_at
                .filter(|_| first.phase.1 == "active_window"),
        }),
    })
}

/// A ladder without a step past `deadline` and without repeats of a step.
pub fn bounded_ladder(steps: &[u32], deadline: Option<u32>) -> Vec<u32> {
    let mut ladder: Vec<u32> =
        steps.iter().map(|step| deadline.map_or(*step, |d| d.min(*step))).collect();
    ladder.dedup();
    ladder
}

/// The ladder of a host's own schedule: nothing longer than an hour.
pub fn app_ladder(ladder: &[u32], max: u32) -> Vec<u32> {
    let mut steps: Vec<u32> = ladder.iter().map(|m| (*m).clamp(1, max.clamp(1, 60))).collect();
    steps.dedup();
    steps
}
