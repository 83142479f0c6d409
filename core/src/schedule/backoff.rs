//! Where a host's own schedule stands on the ladder, and whether the host has to do
//! something about it (reference scheduler.md 5.4). A step is climbed only after the
//! step before it was acknowledged and has passed.

use super::failure::{of_pair, retained};
use super::rrule::{interval_minutes, normalize, rrule_for_minutes};
use crate::model::{HostUpdateFailure, Instant, SchedulerState};

/// Minutes by which a monitor's schedule may be longer than the hint that is current:
/// the time to a due instant shrinks between hint and acknowledgement.
pub const STALE_TOLERANCE: i64 = 2;

/// What the walk is made on.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'a> {
    /// The ladder of the app, in minutes; never empty.
    pub ladder: &'a [u32],
    /// Token of the hint.
    pub reset_token: &'a str,
    /// Its identity.
    pub identity_signature: &'a str,
    /// The same identity climbs.
    pub advances: bool,
    /// The class is `monitor_wait`.
    pub monitor_wait: bool,
    /// What the host acknowledged last.
    pub state: Option<&'a SchedulerState>,
    /// The schedule that the host has, when it said so.
    pub observed: Option<&'a str>,
    /// When.
    pub now: Instant,
}

/// What the host has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostTransition {
    /// Set the schedule, then acknowledge.
    Apply,
    /// It has the schedule already: acknowledge.
    AckObserved,
    /// Nothing.
    Settled,
    /// Nothing: exactly this update has failed lately.
    Suppressed,
}

/// Where the walk stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Step of the ladder.
    pub index: usize,
    /// Its minutes.
    pub minutes: u32,
    /// Its rule.
    pub rrule: String,
    /// `missing`, `reset_required`, `same_identity` or `host_update_failure_suppressed`.
    pub status: &'static str,
    /// What the host has to do.
    pub transition: HostTransition,
    /// The schedule that the host is taken to have.
    pub host_rrule: String,
    /// Failures of the last day.
    pub failures: Vec<HostUpdateFailure>,
    /// The failure that suppresses the update.
    pub suppressed_by: Option<HostUpdateFailure>,
}

impl Step {
    /// The host has to set its schedule.
    pub fn apply_needed(&self) -> bool {
        self.transition == HostTransition::Apply
    }

    /// The host has to acknowledge.
    pub fn ack_needed(&self) -> bool {
        matches!(self.transition, HostTransition::Apply | HostTransition::AckObserved)
    }
}

impl Walk<'_> {
    /// Where the walk stands now.
    pub fn step(&self) -> Step {
        let state = self.state;
        let failures =
            state.map_or_else(Vec::new, |s| retained(&s.host_update_failures, self.now, None));
        let same = state.is_some_and(|s| {
            s.reset_token == self.reset_token && s.identity_signature == self.identity_signature
        });
        let status = match (state, same) {
            (None, _) => "missing",
            (Some(_), false) => "reset_required",
            (Some(_), true) => "same_identity",
        };
        let last = self.ladder.len().saturating_sub(1);
        let index = state.filter(|_| same).map_or(0, |s| self.climbed(s)).min(last);
        let minutes = self.ladder.get(index).copied().unwrap_or(1);
        let rrule = rrule_for_minutes(i64::from(minutes));
        let host_rrule = self
            .observed
            .map(normalize)
            .or_else(|| state.map(|s| normalize(&s.last_applied_rrule)))
            .unwrap_or_default();
        let applied = host_rrule == rrule
            || (same && self.observed.is_none() && self.is_close(&host_rrule, minutes));
        let acknowledged = same
            && state.is_some_and(|s| normalize(&s.last_applied_rrule) == rrule)
            && !failures.iter().any(|f| normalize(&f.target_rrule) == rrule);
        let suppressed_by = of_pair(&failures, &rrule, &host_rrule).cloned();
        let transition = match (applied, self.observed.is_some()) {
            (true, true) if !acknowledged => HostTransition::AckObserved,
            (true, _) if same => HostTransition::Settled,
            _ if suppressed_by.is_some() => HostTransition::Suppressed,
            _ => HostTransition::Apply,
        };
        let suppressed = transition == HostTransition::Suppressed;
        Step {
            index,
            minutes,
            rrule,
            status: if suppressed { "host_update_failure_suppressed" } else { status },
            transition,
            host_rrule,
            failures,
            suppressed_by: suppressed_by.filter(|_| suppressed),
        }
    }

    /// The step that the same identity is on.
    fn climbed(&self, state: &SchedulerState) -> usize {
        if !self.advances {
            return 0;
        }
        let at = usize::try_from(state.progression_index).unwrap_or(usize::MAX);
        // A ladder that has become shorter starts anew.
        let Some(minutes) = self.ladder.get(at).copied() else { return 0 };
        let applied = normalize(&state.last_applied_rrule);
        if applied != rrule_for_minutes(i64::from(minutes)) && !self.is_close(&applied, minutes) {
            return at;
        }
        let passed = interval_minutes(&applied)
            .is_none_or(|interval| self.now >= state.updated_at.plus_minutes(interval));
        if passed { at.saturating_add(1) } else { at }
    }

    /// Whether a monitor's host schedule is as good as `minutes`.
    fn is_close(&self, rrule: &str, minutes: u32) -> bool {
        self.monitor_wait && is_close(rrule, minutes)
    }
}

/// Whether a rule fires not before `minutes` and at most the tolerance after it.
pub fn is_close(rrule: &str, minutes: u32) -> bool {
    let target = i64::from(minutes);
    interval_minutes(rrule).is_some_and(|n| (target..=target + STALE_TOLERANCE).contains(&n))
}
