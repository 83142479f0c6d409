//! From what a decision says to its hint. Pure: the vectors of the earlier tool are
//! replayed on [`HintInput`], the kernel fills it from a verdict.

use serde::Serialize;
use serde_json::Value;

use super::app::{AppAutomation, AppSource, HOST_TOOL, Name};
use super::arbitration::{Arbitration, ConsistencyError};
use super::backoff::{Step, Walk};
use super::class::{self, CadenceClass};
use super::context::ExecutionContext;
use super::detail::{
    BackoffDetail, ClaudeLoop, ColdPathDetail, FinalCheck, LocalLadder, NativeGoal, ResetDetail,
};
use super::failure::GateCooldown;
use super::hint::{
    DetailRef, ExecutionPhase, GoalRuntimeContinuation, ResetPolicy, SchedulerHint, ShownContext,
    UnchangedPoll,
};
use super::rrule::{interval_minutes, rrule_for_minutes};
use super::wait::{
    Deadline, FrontierRecheck, MonitorReset, MonitorWait, Watched, app_ladder, bounded_ladder,
    frontier, minutes_until, monitor_wait,
};
use crate::file::digest::short_digest;
use crate::model::{Instant, SchedulerState};

const DETAIL_SCHEMA: &str = "scheduler_hint_detail_v0";
const SOURCE: &str = "quota.should-run";
const HOST_STATE_KEY: &str = "scheduler_hint.reset_policy.reset_token";
const SPEND_POLICY: &str = "waking, waiting, acknowledging and stopping spend nothing";
const BASE_KEYS: [&str; 5] = [
    "goal_id",
    "agent_identity.agent_id",
    "effective_action",
    "heartbeat_recommendation.recommended_mode",
    "interaction_contract.mode",
];
/// What an answer is about, as typed fields: a change of wording is no change.
const SUBJECT_KEYS: [&str; 3] =
    ["reason_code", "selected_todo.todo_id", "interaction_contract.user_channel.actions"];
const SELECTED_KEYS: [&str; 5] = [
    "selected_todo.todo_id",
    "selected_todo.action_kind",
    "selected_todo.target_key",
    "selected_todo.claimed_by",
    "selected_todo.capability_binding_ref",
];

/// How much a hint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HintSize {
    /// What a loop cannot do without.
    Least,
    /// With what an app host is to say back.
    Lean,
    /// Everything but the detail.
    Whole,
    /// With the detail.
    Full,
}

/// What a hint is made from.
#[derive(Clone, Debug, Default)]
pub struct HintInput<'a> {
    /// Goal.
    pub goal_id: &'a str,
    /// What tells the goal from another of the same name; the name where nothing does.
    pub goal_identity: &'a str,
    /// Agent.
    pub agent_id: Option<&'a str>,
    /// The decision's `effective_action`.
    pub effective_action: &'a str,
    /// The decision's `heartbeat_recommendation.recommended_mode`.
    pub recommended_mode: &'a str,
    /// What the class is chosen from.
    pub arbitration: Arbitration,
    /// Typed ids and words of what the answer is about.
    pub subject: Value,
    /// The selected todo's fields that a goal runtime tells turns apart by.
    pub selected: [Option<&'a str>; 5],
    /// Monitors of the agent.
    pub monitors: Vec<Watched>,
    /// Instants at which time alone changes the answer, monitors included.
    pub deadlines: Vec<Deadline>,
    /// Who wakes the agent.
    pub context: Option<&'a ExecutionContext>,
    /// What the app host acknowledged last.
    pub state: Option<&'a SchedulerState>,
    /// The schedule that the app host said it has.
    pub observed_rrule: Option<&'a str>,
    /// Capabilities that the door declared beside those that every agent has.
    pub capabilities: Vec<String>,
    /// When.
    pub now: Instant,
}

/// What a wait or a run comes to, before it is put into words.
#[derive(Clone, Debug)]
pub struct Cadence {
    /// Class.
    pub class: CadenceClass,
    /// Minutes by number of unchanged polls; empty for a stop.
    pub ladder: Vec<u32>,
    /// The longest step.
    pub max_minutes: u32,
    /// Monitor waits: what they are measured by.
    pub monitor: Option<MonitorWait>,
    /// The next instant at which time alone changes the answer.
    pub frontier: Option<FrontierRecheck>,
    /// Token; empty for a stop.
    pub reset_token: String,
    /// Identity; empty for a stop.
    pub identity_signature: String,
    /// What is to be repaired.
    pub error: Option<ConsistencyError>,
}

/// What a reset depends on.
#[derive(Serialize)]
#[serde(untagged)]
enum ResetProfile<'a> {
    Measured(&'a str, Option<u32>, Option<u32>, &'a MonitorReset),
    /// The bound moves with the clock; what is waited for does not.
    Fixed(&'a str, &'a [u32], Option<u32>),
}

fn signature(value: &impl Serialize) -> String {
    let mut digits = short_digest(value);
    digits.truncate(12);
    digits
}

impl Cadence {
    fn reset_profile(&self) -> ResetProfile<'_> {
        let CadenceClass { class, ladder, limit, .. } = self.class;
        let measured = self.monitor.as_ref().and_then(|m| m.progression_minutes.as_ref()?.first());
        match self.monitor.as_ref().and_then(|m| m.reset_profile.as_ref()) {
            Some(reset) => {
                let initial = measured.or(self.ladder.first()).copied();
                ResetProfile::Measured(class, initial, limit, reset)
            }
            None => ResetProfile::Fixed(class, ladder, limit),
        }
    }

    /// Digest of class and ladder.
    fn profile_signature(&self) -> String {
        signature(&(self.class.class, &self.ladder, self.class.limit))
    }
}

impl HintInput<'_> {
    /// The class: a context that cannot be comes before everything, then what ends a
    /// goal, then the contract.
    fn class(&self) -> (CadenceClass, Option<ConsistencyError>) {
        let wrong = self.context.map(ExecutionContext::errors).unwrap_or_default();
        if !wrong.is_empty() {
            return (class::CONTEXT_REPAIR, Some(ConsistencyError::of_context(wrong)));
        }
        match self.recommended_mode {
            "goal_stopped" => (class::STOPPED, None),
            "quota_paused" => (class::PAUSED, None),
            _ => (self.arbitration.class(), self.arbitration.consistency_error()),
        }
    }

    /// Class, ladder and tokens.
    pub fn cadence(&self) -> Cadence {
        let (class, error) = self.class();
        let is_monitor = class.class == class::MONITOR.class;
        let monitor = is_monitor.then(|| monitor_wait(&self.monitors, self.now)).flatten();
        let frontier_at = frontier(&self.deadlines, self.now);
        let measured = monitor.as_ref().and_then(|m| m.progression_minutes.clone());
        // A run waits for nothing, and the steps of an offer are its brake.
        let bounded = class.limit.is_some();
        let until = self.deadlines.iter().map(|d| d.at).filter(|at| *at > self.now).min();
        let until = until.filter(|_| bounded).map(|at| minutes_until(at, self.now));
        let steps = measured.unwrap_or_else(|| class.ladder.to_vec());
        let ladder = bounded_ladder(&steps, until);
        let mut cadence = Cadence {
            max_minutes: if is_monitor {
                class.max_minutes()
            } else {
                ladder.iter().copied().max().unwrap_or(0)
            },
            reset_token: String::new(),
            identity_signature: String::new(),
            class,
            ladder,
            monitor,
            frontier: frontier_at,
            error,
        };
        if !class.is_stop() {
            let keyed = (
                self.goal_identity,
                self.agent_id,
                self.effective_action,
                self.recommended_mode,
                &self.arbitration.mode,
                (!is_monitor).then_some(&self.subject),
                self.context
                    .is_some_and(ExecutionContext::is_goal_runtime)
                    .then_some(&self.selected),
            );
            cadence.reset_token = short_digest(&(class.action, &keyed, cadence.reset_profile()));
            cadence.identity_signature = signature(&keyed);
        }
        cadence
    }

    /// Where an app host's schedule stands; `None` where no app holds it, or for a stop.
    pub fn app_step(&self, cadence: &Cadence) -> Option<(Vec<u32>, Step)> {
        let app = self.context.is_some_and(ExecutionContext::is_app);
        if !app || cadence.class.is_stop() {
            return None;
        }
        let ladder = app_ladder(&cadence.ladder, cadence.max_minutes);
        let advances = cadence.class.advances
            || (self.arbitration.mode == "capability_bridge_repair"
                && !self.arbitration.delivery_allowed);
        let step = Walk {
            ladder: &ladder,
            reset_token: &cadence.reset_token,
            identity_signature: &cadence.identity_signature,
            advances,
            monitor_wait: cadence.class.class == class::MONITOR.class,
            state: self.state,
            observed: self.observed_rrule,
            now: self.now,
        }
        .step();
        Some((ladder, step))
    }

    fn identity_keys(&self) -> Vec<&'static str> {
        let mut keys = BASE_KEYS.to_vec();
        let selected = self.context.is_some_and(ExecutionContext::is_goal_runtime);
        if selected {
            keys.extend(SELECTED_KEYS);
        }
        let monitor = self.arbitration.class().class == class::MONITOR.class;
        if !monitor {
            keys.extend(SUBJECT_KEYS.iter().filter(|k| !selected || !SELECTED_KEYS.contains(k)));
        }
        keys
    }

    /// The hint.
    pub fn hint(&self, size: HintSize) -> SchedulerHint {
        self.hint_of(&self.cadence(), size)
    }

    /// The hint of a cadence that is known already.
    pub fn hint_of(&self, cadence: &Cadence, size: HintSize) -> SchedulerHint {
        let class = cadence.class;
        let whole = size >= HintSize::Whole;
        let stop = class.is_stop();
        let repair = class.action == class::CONTEXT_REPAIR.action;
        let app = self.app_step(cadence);
        let initial = app.as_ref().and_then(|(ladder, _)| ladder.first().copied());
        let (app_automation, codex_app) = self.app_packets(cadence, app.as_ref(), size);
        let phase = self.phase(app.as_ref().map(|(_, step)| step), repair);
        // What an app host is told has all of it; the context is in the detail.
        let hosted = !repair && self.context.is_some_and(ExecutionContext::is_app);
        SchedulerHint {
            schema_version: "scheduler_hint_v0",
            source: SOURCE,
            action: class.action,
            cadence_class: class.class,
            reason_code: class.reason_code,
            reason: whole.then_some(class.reason),
            spend_policy: whole.then_some(SPEND_POLICY),
            next_check_minutes: cadence.ladder.first().copied(),
            unchanged_poll: if repair {
                UnchangedPoll::until_repaired()
            } else if stop {
                UnchangedPoll::stop(class.action == class::PEER_BLOCKED.action)
            } else {
                UnchangedPoll::counted(class.limit, whole)
            },
            unchanged_identity_keys: if whole && !repair {
                self.identity_keys()
            } else {
                Vec::new()
            },
            // A short packet does not repeat what the door has said, unless it is wrong.
            execution_context: self
                .context
                .filter(|_| !hosted && (whole || (repair && size > HintSize::Least)))
                .map(|context| match whole {
                    true => ShownContext::Projected(context.projection()),
                    false => ShownContext::Words(context.clone()),
                }),
            execution_phase: phase.clone().filter(|_| whole && !hosted),
            reset_policy: (!stop).then(|| ResetPolicy {
                reset_token: cadence.reset_token.clone(),
                identity_signature: cadence.identity_signature.clone(),
                host_state_key: whole.then_some(HOST_STATE_KEY),
                app_automation_initial_interval_minutes: initial.filter(|_| whole),
                app_automation_initial_rrule: initial
                    .filter(|_| whole)
                    .map(|m| rrule_for_minutes(i64::from(m))),
            }),
            app_automation,
            codex_app,
            goal_runtime_continuation: self.continuation(cadence),
            user_gate_notification_cooldown: self.cooldown(&class, app.as_ref().map(|(_, s)| s)),
            consistency_error: cadence.error.clone().map(|mut error| {
                if size == HintSize::Least {
                    error.errors.truncate(1);
                }
                error
            }),
            detail_ref: (whole && !stop).then(|| detail_ref(class.limit.is_some())),
            cold_path_detail: (size == HintSize::Full && !stop).then(|| {
                let mut detail = self.detail(cadence, app.as_ref());
                if hosted {
                    detail.execution_context = self.context.map(ExecutionContext::projection);
                    detail.execution_phase = phase;
                }
                Box::new(detail)
            }),
        }
    }

    fn app_packets(
        &self,
        cadence: &Cadence,
        app: Option<&(Vec<u32>, Step)>,
        size: HintSize,
    ) -> (Option<Box<AppAutomation>>, Option<Box<AppAutomation>>) {
        let Some(context) = self.context else { return (None, None) };
        // A short packet is said once; the copy comes with the whole one.
        let codex = context.host_surface == "codex_app" && size >= HintSize::Whole;
        let both = |packet: AppAutomation| {
            let copy = codex.then(|| Box::new(packet.clone()));
            (Some(Box::new(packet)), copy)
        };
        if !context.errors().is_empty() {
            let whole = size >= HintSize::Whole;
            return if whole { both(AppAutomation::blocked()) } else { (None, None) };
        }
        if !context.is_app() {
            let said = AppAutomation::not_applicable(&context.scheduler_owner);
            return ((size >= HintSize::Whole).then(|| Box::new(said)), None);
        }
        let Some((ladder, step)) = app else {
            let returned = cadence.class.action == class::PEER_BLOCKED.action;
            return both(AppAutomation::stop(returned));
        };
        let source = AppSource {
            goal_id: self.goal_id,
            agent_id: self.agent_id,
            context,
            ladder,
            max_minutes: cadence.max_minutes.min(60),
            step,
            observed: self.observed_rrule,
            capabilities: &self.capabilities,
            reset_token: &cadence.reset_token,
            identity_signature: &cadence.identity_signature,
        };
        let copy = codex.then(|| Box::new(source.packet(Name::CodexApp, size)));
        (Some(Box::new(source.packet(Name::App, size))), copy)
    }

    fn phase(&self, step: Option<&Step>, repair: bool) -> Option<ExecutionPhase> {
        let context = self.context?;
        let (apply_needed, ack_needed) =
            step.map_or((false, false), |s| (s.apply_needed(), s.ack_needed()));
        let disposition = match (repair, context.is_app(), apply_needed || ack_needed) {
            (true, ..) => "contract_error".to_owned(),
            (_, true, true) => "host_action_required".to_owned(),
            (_, true, false) => "not_required".to_owned(),
            _ => format!("{}_owned", context.scheduler_owner),
        };
        Some(ExecutionPhase {
            schema_version: "scheduler_execution_phase_v0",
            host_surface: context.host_surface.clone(),
            scheduler_owner: context.scheduler_owner.clone(),
            disposition,
            completed: !(repair || apply_needed || ack_needed),
            apply_needed,
            ack_needed,
            acknowledged: false,
        })
    }

    fn continuation(&self, cadence: &Cadence) -> Option<GoalRuntimeContinuation> {
        let context = self.context.filter(|c| c.is_goal_runtime() && c.errors().is_empty())?;
        debug_assert_eq!(context.scheduler_owner, "goal_runtime");
        let disposition = match cadence.class.action {
            "run_now" => "continue_now",
            "stop_until_explicit_resume" => "complete",
            "return_to_owner_until_material_change" => "return_to_owner",
            _ => "defer",
        };
        let defer = disposition == "defer";
        let frontier = cadence.frontier.as_ref().map(|f| f.frontier_recheck_after_seconds);
        let interval = app_ladder(&cadence.ladder, cadence.max_minutes).first().copied();
        Some(GoalRuntimeContinuation {
            schema_version: "goal_runtime_continuation_v0",
            disposition,
            recheck_after_seconds: frontier
                .or_else(|| interval.map(|m| u64::from(m) * 60))
                .filter(|_| defer),
            recheck_source: frontier
                .filter(|_| defer)
                .map(|_| "frontier_earliest_material_transition"),
            wake_policy: defer.then_some("state_change_or_deadline"),
        })
    }

    fn cooldown(&self, class: &CadenceClass, step: Option<&Step>) -> Option<GateCooldown> {
        let step = step.filter(|_| class.class == class::HUMAN.class)?;
        let failure = step.suppressed_by.as_ref()?;
        let host = interval_minutes(&step.host_rrule);
        GateCooldown::after(failure, host, i64::from(step.minutes), self.now)
    }

    fn detail(&self, cadence: &Cadence, app: Option<&(Vec<u32>, Step)>) -> ColdPathDetail {
        let class = cadence.class;
        let limit = class.limit;
        let check = FinalCheck::of(limit.is_some());
        let after = |word: &'static str| if limit.is_some() { word } else { "continue" };
        let first = cadence.ladder.first().copied().unwrap_or(1);
        let initial = app.and_then(|(ladder, _)| ladder.first().copied());
        let native = NativeGoal {
            unchanged_poll_limit: limit,
            after_limit: after("update_goal_blocked_keep_loopx_active"),
            final_quota_replan_check: check,
            loopx_goal_state: "remains_active",
            resume_trigger: "explicit_codex_goal_resume",
            no_spend_for_block: true,
            no_spend_for_exit: None,
        };
        ColdPathDetail {
            schema_version: DETAIL_SCHEMA,
            source: SOURCE,
            local_scheduler: LocalLadder {
                recommended_interval_minutes: first,
                max_interval_minutes: cadence.max_minutes,
                unchanged_poll_backoff_multiplier: 2,
                example_progression_minutes: cadence.ladder.clone(),
                unchanged_poll_limit: limit,
                after_limit: after("stop_tick_loop"),
                final_quota_replan_check: check,
                no_spend_for_cadence_change: true,
            },
            codex_cli_tui: NativeGoal { no_spend_for_exit: Some(true), ..native.clone() },
            codex_app_ssh_goal: native,
            claude_code_loop: ClaudeLoop {
                unchanged_poll_limit: limit,
                after_limit: after("stop_loop"),
                final_quota_replan_check: check,
                no_spend_for_stop: true,
            },
            final_quota_replan_check: check,
            reset_policy_detail: ResetDetail {
                schema_version: "scheduler_reset_policy_v0",
                source: SOURCE,
                reset_to: "profile_initial_interval",
                profile_action: class.action,
                reset_token: cadence.reset_token.clone(),
                host_state_key: HOST_STATE_KEY,
                local_scheduler_initial_interval_minutes: first,
                clear_unchanged_poll_state: true,
                identity_key_count: self.identity_keys().len(),
                identity_signature: cadence.identity_signature.clone(),
                profile_signature: cadence.profile_signature(),
                reset_profile_signature: signature(&cadence.reset_profile()),
                reset_condition_summary: "token_changed|user_feedback|new_or_reassigned_todo|gate_or_material_transition|active_work_projected",
                after_reset: "apply_initial_interval_before_backoff",
                no_spend_for_reset: true,
                app_automation_initial_interval_minutes: initial,
                app_automation_initial_rrule: initial.map(|m| rrule_for_minutes(i64::from(m))),
                app_automation_tool: initial.map(|_| HOST_TOOL),
                app_automation_apply: initial
                    .map(|_| "call_automation_update_to_restore_initial_rrule_on_token_change"),
            },
            stateful_backoff_detail: app.map(|(ladder, step)| BackoffDetail {
                ack_required_after_apply: step.apply_needed(),
                ack_required_from_host_match: step.ack_needed() && !step.apply_needed(),
                automation_update_scope: "rrule_only_preserve_body_name_status",
                coarser_wait_fallback: "local_scheduler_only",
                current_interval_minutes: step.minutes,
                host_max_interval_minutes: cadence.max_minutes.min(60),
                host_update_failure: "cache_recent_failed_target_and_observed_host_pairs_then_suppress_each_exact_repeat_until_host_changes_ack_or_expiry",
                persist: "reset_token|identity_signature|progression_index|last_applied_rrule|host_update_failures",
                progression_minutes: ladder.clone(),
                reset_action: "clear_progression_index_apply_initial_rrule",
                same_identity_action: if class.advances {
                    "advance_index_after_applied_interval_elapsed"
                } else {
                    "keep_initial_interval_while_active_work"
                },
            }),
            cadence_context: cadence.monitor.clone(),
            frontier_recheck: cadence.frontier.clone(),
            execution_context: None,
            execution_phase: None,
        }
    }
}

fn detail_ref(limited: bool) -> DetailRef {
    let mut contains = vec!["local_scheduler", "codex_cli_tui"];
    if limited {
        contains.push("codex_app_ssh_goal");
    }
    contains.extend([
        "claude_code_loop",
        "final_quota_replan_check",
        "reset_policy_detail",
        "stateful_backoff_detail",
    ]);
    DetailRef {
        schema_version: DETAIL_SCHEMA,
        omitted_by_default: true,
        execution_required: false,
        request: "loopx quota should-run --include-detail scheduler",
        hot_path_runtime_fields: ["app_automation", "unchanged_poll", "reset_policy"],
        contains,
    }
}
