//! What a host says back: that it set a schedule, or that it could not. The hint is
//! made again and compared, so that an acknowledgement of another hint changes nothing
//! (reference scheduler.md 5.6).

use super::app::{LEGACY_STATE_KEY, STATE_KEY};
use super::backoff::{STALE_TOLERANCE, Step, is_close};
use super::build::Cadence;
use super::class::MONITOR;
use super::failure::{FAILURE_KINDS, of_pair, retained, with_one_more};
use super::rrule::{interval_minutes, normalize};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, Instant, SchedulerState};

/// What a host says about the hint that is current.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckClaim<'a> {
    /// The rule that it has set.
    pub applied_rrule: Option<&'a str>,
    /// The token that it was told.
    pub reset_token: Option<&'a str>,
    /// The identity that it was told.
    pub identity_signature: Option<&'a str>,
    /// The state key that it was told.
    pub state_key: Option<&'a str>,
    /// It has looked: the rule is in force, and all three were told.
    pub host_match_observed: bool,
}

/// What an acknowledgement comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckPlan {
    /// Nothing was asked for: nothing is written.
    pub already_applied: bool,
    /// The rule that the host has.
    pub applied_rrule: String,
    /// The rule that the hint asks for.
    pub expected_rrule: String,
    /// A monitor's rule that is up to two minutes longer was taken.
    pub stale_hint_accepted: bool,
}

fn changed(what: &str, why: impl Into<String>) -> Error {
    Error::new(ErrorCode::SchedulerHintChanged, what).message(why.into())
}

fn check_key(given: Option<&str>) -> Result<()> {
    match given {
        None | Some(STATE_KEY | LEGACY_STATE_KEY) => Ok(()),
        Some(other) => Err(Error::new(ErrorCode::RequestInvalid, "state_key")
            .message(format!("there is no schedule {other}; the state key is {STATE_KEY}"))),
    }
}

/// Judges an acknowledgement against the hint that is current.
///
/// Errors: [`ErrorCode::SchedulerHintChanged`] when it is about another hint,
/// [`ErrorCode::RequestInvalid`] when it does not say what it must.
pub fn ack_plan(cadence: &Cadence, step: &Step, claim: &AckClaim<'_>) -> Result<AckPlan> {
    check_key(claim.state_key)?;
    let of_token = claim.reset_token.is_some_and(|t| t == cadence.reset_token);
    let of_identity = claim.identity_signature.is_some_and(|i| i == cadence.identity_signature);
    if claim.reset_token.is_some() && !of_token {
        return Err(changed("reset_token", "the reset token is of another hint"));
    }
    if claim.identity_signature.is_some() && !of_identity {
        return Err(changed("identity_signature", "the identity is of another hint"));
    }
    let applied = normalize(claim.applied_rrule.unwrap_or_default());
    if claim.host_match_observed && (applied.is_empty() || !of_token || !of_identity) {
        return Err(Error::new(ErrorCode::RequestInvalid, "host_match_observed")
            .message("a host that has looked names the rule, the reset token and the identity"));
    }
    let expected = step.rrule.clone();
    if !step.ack_needed() {
        return Ok(AckPlan {
            already_applied: true,
            applied_rrule: step.host_rrule.clone(),
            expected_rrule: expected,
            stale_hint_accepted: false,
        });
    }
    if applied.is_empty() {
        return Err(Error::new(ErrorCode::RequestInvalid, "applied_rrule")
            .message(format!("say which rule was applied; the hint asks for {expected}")));
    }
    let bound = of_token && of_identity && cadence.class.class == MONITOR.class;
    let stale = applied != expected && bound && is_close(&applied, step.minutes);
    if applied != expected && !stale {
        return Err(changed(
            "applied_rrule",
            format!("{applied} was applied, and the current hint asks for {expected}"),
        ));
    }
    Ok(AckPlan {
        already_applied: false,
        applied_rrule: applied,
        expected_rrule: expected,
        stale_hint_accepted: stale,
    })
}

/// Minutes by which an accepted rule may be longer.
pub const TOLERANCE_MINUTES: i64 = STALE_TOLERANCE;

/// Whose schedule is written.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Agent.
    pub agent: &'a AgentId,
    /// Host surface.
    pub surface: &'a str,
}

impl Scope<'_> {
    fn state(
        &self,
        cadence: &Cadence,
        ladder: &[u32],
        step: &Step,
        now: Instant,
    ) -> SchedulerState {
        SchedulerState {
            agent: self.agent.clone(),
            surface: self.surface.to_owned(),
            state_key: STATE_KEY.to_owned(),
            reset_token: cadence.reset_token.clone(),
            identity_signature: cadence.identity_signature.clone(),
            progression_index: u32::try_from(step.index).unwrap_or(u32::MAX),
            progression_minutes: ladder.to_vec(),
            last_applied_rrule: String::new(),
            updated_at: now,
            source: String::new(),
            host_update_failures: Vec::new(),
        }
    }

    /// The state after an acknowledgement.
    pub fn acknowledged(
        &self,
        cadence: &Cadence,
        ladder: &[u32],
        step: &Step,
        plan: &AckPlan,
        now: Instant,
    ) -> SchedulerState {
        let mut failures = retained(&step.failures, now, None);
        failures.retain(|f| {
            let target = normalize(&f.target_rrule);
            target != plan.applied_rrule && target != plan.expected_rrule
        });
        SchedulerState {
            last_applied_rrule: plan.applied_rrule.clone(),
            source: "quota_scheduler_ack".to_owned(),
            host_update_failures: failures,
            ..self.state(cadence, ladder, step, now)
        }
    }

    /// The state after the host could not set the rule.
    pub fn failed(
        &self,
        cadence: &Cadence,
        ladder: &[u32],
        step: &Step,
        kind: &str,
        now: Instant,
    ) -> SchedulerState {
        SchedulerState {
            last_applied_rrule: step.host_rrule.clone(),
            source: "quota_scheduler_host_update_failure".to_owned(),
            host_update_failures: with_one_more(
                &step.failures,
                &step.rrule,
                &step.host_rrule,
                kind,
                now,
            ),
            ..self.state(cadence, ladder, step, now)
        }
    }
}

/// Judges a report that a schedule could not be set: `true` when it is news, `false` when
/// exactly this failure is on record already.
///
/// Errors: [`ErrorCode::SchedulerHintChanged`] when nothing was to be set or something
/// else was, [`ErrorCode::RequestInvalid`] for a kind that is none.
pub fn failure_plan(
    step: &Step,
    failed_rrule: &str,
    kind: &str,
    state_key: Option<&str>,
) -> Result<bool> {
    check_key(state_key)?;
    if !FAILURE_KINDS.contains(&kind) {
        return Err(Error::new(ErrorCode::RequestInvalid, "failure_kind")
            .message(format!("a failure is one of {}", FAILURE_KINDS.join(", "))));
    }
    let failed = normalize(failed_rrule);
    if interval_minutes(&failed).is_none() || failed != step.rrule {
        return Err(changed(
            "failed_rrule",
            format!("{failed} failed, and the current hint asks for {}", step.rrule),
        ));
    }
    if of_pair(&step.failures, &step.rrule, &step.host_rrule).is_some() && !step.apply_needed() {
        return Ok(false);
    }
    if !step.apply_needed() {
        return Err(changed("failed_rrule", "the current hint asks for no update"));
    }
    Ok(true)
}
