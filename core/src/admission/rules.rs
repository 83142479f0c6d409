//! The ordered rules of admission (contract.md 2.3) as one table: the first row whose
//! test matches decides, and the packet names it.

mod verdict;

use super::facts::{Candidate, Facts, GoalFacts};
use super::holds::Hold;
use crate::error::{ErrorClass, ErrorCode};
use crate::model::{AttemptState, Todo, WorkMode};

pub use verdict::Verdict;

/// One rule.
pub struct Rule {
    /// Number in contract.md 2.3; rows that share one differ in name.
    pub order: u8,
    /// Name, as the packet's `rule` says it.
    pub name: &'static str,
    /// When it matches, in words.
    pub when: &'static str,
    /// The test.
    pub test: fn(&Facts<'_>) -> Option<Verdict>,
}

macro_rules! rules {
    ($($order:literal $name:literal $when:literal $test:expr;)*) => {
        /// Every rule in order.
        pub const RULES: &[Rule] = &[$(Rule { order: $order, name: $name, when: $when, test: $test }),*];
    };
}

rules! {
    1 "request_invalid" "the request is malformed"
        |f| refused(f, |code| code.row().class == ErrorClass::Usage && code != ErrorCode::RegistryAmbiguous, "blocked_validation");
    2 "goal_unknown" "no goal of that id is in the registry"
        |f| refused(f, |code| matches!(code, ErrorCode::GoalUnknown | ErrorCode::GoalRequired), "unknown");
    2 "goal_duplicated" "two goals of the registry have that id"
        |f| refused(f, |code| code == ErrorCode::GoalDuplicated, "unknown");
    3 "identity" "the agent id is invalid, the goal has no roster, or the agent is not in it"
        |f| refused(f, |code| code.row().class == ErrorClass::Identity, "blocked_health");
    1 "registry_unreadable" "the registry is not JSON, of another shape, denied, or cannot be read"
        |f| refused(f, ErrorCode::is_of_registry, "blocked_health");
    4 "goal_stopped" "the activation is stopped, or the status is stopped, complete, completed or archived"
        |f| goal(f, goal_stopped);
    5 "quota_paused" "compute is zero"
        |f| goal(f, quota_paused);
    6 "health" "the store or the state file cannot be trusted"
        |f| goal(f, health);
    7 "identity_missing" "the goal has a roster and no agent was named"
        |f| goal(f, identity_missing);
    8 "gate" "a gate blocks the agent; or gates concern it and nothing is eligible, or no slot is free"
        |f| goal(f, gate);
    9 "gate_fallback" "gates concern the agent, something is eligible and a slot is free"
        |f| goal(f, gate_fallback);
    10 "terminal" "agent todos exist, none is open, no user todo is open, one was done with no follow-up, no acceptance gap"
        |f| goal(f, terminal);
    11 "throttled" "spent and reserved slots fill the window"
        |f| goal(f, throttled);
    12 "replan" "an obligation of the agent was not attempted"
        |f| goal(f, replan);
    13 "monitor_only" "the agent only watches monitors and none is due"
        |f| goal(f, monitor_only);
    14 "successor" "a deferred todo's condition holds and no eligible todo has at least its priority"
        |f| goal(f, successor);
    15 "run" "something is eligible"
        |f| goal(f, run);
    16 "repair" "only holds that the agent may mend keep a todo back"
        |f| goal(f, repair);
    17 "owner_capability" "a todo lacks credentials or production access"
        |f| goal(f, owner_capability);
    18 "run" "a monitor has no schedule"
        |f| goal(f, run_schedule);
    19 "user_action" "a user action of the agent is open"
        |f| goal(f, user_action);
    20 "monitor_quiet" "a monitor of the agent is not due"
        |f| goal(f, monitor_quiet);
    21 "agent_scope_wait" "a todo of the agent waits on a condition, another's gate or a live turn"
        |f| goal(f, agent_scope_wait);
    22 "reassignment_required" "another agent holds something"
        |f| goal(f, reassignment_required);
    23 "stalled" "a blocked or stalled todo, an attempted offer, or a paused or unknown replan"
        |f| goal(f, stalled);
    24 "run" "the goal never had an agent todo: plan first"
        |f| goal(f, run_plan);
    25 "agent_scope_exhausted" "nothing above"
        |f| goal(f, agent_scope_exhausted);
}

fn refused(
    facts: &Facts<'_>,
    is_mine: fn(ErrorCode) -> bool,
    state: &'static str,
) -> Option<Verdict> {
    match facts {
        Facts::Refused(error) if is_mine(error.code) => {
            Some(Verdict::new("skip", "", state, "", error.text()))
        }
        _ => None,
    }
}

fn goal(facts: &Facts<'_>, test: fn(&GoalFacts<'_>) -> Option<Verdict>) -> Option<Verdict> {
    match facts {
        Facts::Refused(_) => None,
        Facts::Goal(facts) => test(facts),
    }
}

fn paused(cause: &'static str, reason: String) -> Verdict {
    Verdict {
        pause_cause: Some(cause),
        ..Verdict::new("skip", "quota_skip", "paused", "skip", reason)
    }
}

fn goal_stopped(f: &GoalFacts<'_>) -> Option<Verdict> {
    f.policy.is_stopped().then(|| {
        let why = if f.policy.activation_stopped {
            "the goal is stopped".to_owned()
        } else {
            format!("the goal's status is {}", f.policy.status)
        };
        paused("goal_stopped", why)
    })
}

fn quota_paused(f: &GoalFacts<'_>) -> Option<Verdict> {
    (f.policy.quota.compute <= 0.0)
        .then(|| paused("compute_quota_zero", "the goal's compute is zero".into()))
}

fn health(f: &GoalFacts<'_>) -> Option<Verdict> {
    let first = f.health.first()?;
    let reason = format!("{}: {}", first.code, first.message);
    let repair = f.health_offer().filter(|offer| {
        // A window that cannot be read has no slot that is known to be free.
        f.policy.self_repair.may_repair_health()
            && !f.view.unreadable
            && f.slot_free()
            && !f.is_attempted(offer)
    });
    Some(match repair {
        Some(offer) => Verdict::new(
            "self_repair",
            "control_plane_health_repair",
            "blocked_health",
            "control_plane_self_repair",
            reason,
        )
        .running(true)
        .offering(offer)
        .telling(true),
        None => Verdict::new("skip", "blocked_health", "blocked_health", "health_blocked", reason)
            .telling(true),
    })
}

fn identity_missing(f: &GoalFacts<'_>) -> Option<Verdict> {
    (f.agent().is_none() && !f.policy.roster.is_empty()).then(|| {
        Verdict::new(
            "automation_prompt_upgrade",
            "automation_prompt_upgrade_required",
            "eligible",
            "automation_prompt_upgrade",
            "the goal has a roster; the prompt must name its agent with --agent-id",
        )
        .telling(true)
    })
}

fn gate(f: &GoalFacts<'_>) -> Option<Verdict> {
    let blocking = f.gates_blocking().next();
    let concerning = f.gates_concerning().next();
    let held = concerning.is_some() && (f.selected().is_none() || !f.slot_free());
    let first = blocking.or(if held { concerning } else { None })?;
    Some(
        Verdict::new(
            "skip",
            "operator_gate_notify",
            "operator_gate",
            "user_gate",
            format!("waiting for a person to decide {}", first.todo_id),
        )
        .telling(true)
        .asking(f.gates_concerning()),
    )
}

fn gate_fallback(f: &GoalFacts<'_>) -> Option<Verdict> {
    let gate = f.gates_concerning().next()?;
    let selected = f.selected().filter(|_| f.slot_free())?;
    Some(
        Verdict::new(
            "safe_bypass_user_gate_fallback",
            "scoped_user_gate_fallback",
            "operator_gate",
            "scoped_user_gate_fallback",
            format!("{} waits for a person; other work goes on", gate.todo_id),
        )
        .running(true)
        .telling(true)
        .on(selected.todo)
        .asking(f.gates_concerning()),
    )
}

fn terminal(f: &GoalFacts<'_>) -> Option<Verdict> {
    let counters = &f.view.counters;
    let ended = counters.agent_ever > 0
        && f.open_work() == 0
        && counters.user_open == 0
        && counters.agent_no_followup > 0
        && f.policy.acceptance_gaps.is_empty();
    ended.then(|| {
        Verdict::new(
            "skip",
            "terminal_no_followup",
            "terminal_no_followup",
            "terminal_no_followup",
            "every todo is done and nothing follows",
        )
    })
}

fn throttled(f: &GoalFacts<'_>) -> Option<Verdict> {
    (!f.slot_free()).then(|| {
        let window = &f.view.window;
        Verdict::new(
            "skip",
            "throttled_skip",
            "throttled",
            "quota_throttled",
            format!(
                "{} of {} slots of the last {} h are spent, {} reserved",
                window.spent,
                f.policy.quota.allowed_slots,
                f.policy.quota.window_hours,
                window.reserved
            ),
        )
    })
}

fn replan(f: &GoalFacts<'_>) -> Option<Verdict> {
    let obligation = f.replan_offer()?;
    let reason = match obligation.trigger {
        "completed_without_successor" => {
            format!(
                "{} was completed, nothing follows it and nothing is open: say what comes next",
                obligation.offer.cause
            )
        }
        "feedback" => "a person has given feedback: think again".to_owned(),
        "acceptance_gap" => "nothing is open and the goal's acceptance list is not met".to_owned(),
        _ => format!(
            "{} has not changed for many polls: keep it, change it or end it",
            obligation.offer.cause
        ),
    };
    Some(
        Verdict::new(
            "autonomous_replan_required",
            "autonomous_replan_required",
            "eligible",
            "autonomous_replan",
            reason,
        )
        .running(true)
        .coded(obligation.trigger)
        .offering(obligation.offer.clone()),
    )
}

fn monitor_only(f: &GoalFacts<'_>) -> Option<Verdict> {
    (f.policy.work_mode(f.agent()) == WorkMode::MonitorOnly && !f.monitor_due()).then(|| {
        Verdict::new(
            "skip",
            "agent_monitor_only",
            "eligible",
            "agent_monitor_only",
            "the agent only watches monitors and none is due",
        )
    })
}

fn successor(f: &GoalFacts<'_>) -> Option<Verdict> {
    let (candidate, offer) = f.successor_offers().into_iter().find(|(_, o)| !f.is_attempted(o))?;
    Some(
        Verdict::word(
            "successor_replan_required",
            format!("the condition of {} holds: reopen or replan it", candidate.todo.todo_id),
        )
        .running(false)
        .on(candidate.todo)
        .offering(offer),
    )
}

fn run(f: &GoalFacts<'_>) -> Option<Verdict> {
    let selected = f.selected()?;
    let owner_held = f.of_agent().find(|c| is_owner_held(c));
    let mut verdict = Verdict::normal_run(format!("work on {}", name(selected.todo)))
        .on(selected.todo)
        .telling(owner_held.is_some() || !f.user_actions.is_empty())
        .asking(f.user_actions.iter().copied());
    if owner_held.is_some() {
        verdict.mode = "bounded_delivery_with_user_notice";
    }
    Some(verdict)
}

/// How a reason names a todo: a line that no write has taken in yet has no id.
fn name(todo: &Todo) -> &str {
    if crate::state_file::is_provisional(&todo.todo_id) {
        "a new line of the state file"
    } else {
        todo.todo_id.as_str()
    }
}

fn is_owner_held(candidate: &Candidate<'_>) -> bool {
    matches!(candidate.reason(), Some(Hold::Capability { owner: true, .. }))
}

fn repair(f: &GoalFacts<'_>) -> Option<Verdict> {
    let (candidate, offer) = f.repair_offers().into_iter().find(|(_, o)| !f.is_attempted(o))?;
    let id = &candidate.todo.todo_id;
    let (decision, action, mode, reason) = match candidate.reason()? {
        Hold::Workspace => (
            "workspace_guard",
            "agent_workspace_repair",
            "agent_workspace_repair",
            format!("{id} writes beside other agents: work in a git worktree of your own"),
        ),
        Hold::WriteScope { scope } => (
            "self_repair",
            "boundary_projection_repair",
            "boundary_projection_repair",
            format!("{id} writes {scope}, which the goal's write scope does not cover"),
        ),
        Hold::Capability { missing, .. } => (
            "repair_bridge",
            "capability_bridge_repair",
            "capability_bridge_repair",
            format!("{id} lacks the capability {}", missing.join(", ")),
        ),
        Hold::ConditionUnsatisfiable => (
            "self_repair",
            "todo_decision_scope_projection_repair",
            "control_plane_self_repair",
            format!(
                "the condition of {id} can no longer come true: change it or supersede the todo"
            ),
        ),
        Hold::DecisionScope { scope } => (
            "self_repair",
            "todo_decision_scope_projection_repair",
            "control_plane_self_repair",
            format!(
                "{id} requires the decision {scope}, which no gate asks for and nobody has granted"
            ),
        ),
        _ => return None,
    };
    Some(
        Verdict::new(decision, action, "eligible", mode, reason)
            .running(false)
            .on(candidate.todo)
            .offering(offer),
    )
}

fn owner_capability(f: &GoalFacts<'_>) -> Option<Verdict> {
    let candidate = f.of_agent().find(|c| is_owner_held(c))?;
    let Some(Hold::Capability { missing, .. }) = candidate.reason() else { return None };
    Some(
        Verdict::new(
            "skip",
            "quota_skip",
            "eligible",
            "user_action_required",
            format!(
                "{} needs {}, which only the owner can give",
                candidate.todo.todo_id,
                missing.join(", ")
            ),
        )
        .telling(true)
        .asking(std::iter::once(candidate.todo)),
    )
}

fn run_schedule(f: &GoalFacts<'_>) -> Option<Verdict> {
    let (candidate, offer) = f.schedule_offers().into_iter().find(|(_, o)| !f.is_attempted(o))?;
    Some(
        Verdict::normal_run(format!(
            "the monitor {} has no schedule: look once and give it a cadence",
            candidate.todo.todo_id
        ))
        .on(candidate.todo)
        .coded("monitor_without_schedule")
        .offering(offer),
    )
}

fn user_action(f: &GoalFacts<'_>) -> Option<Verdict> {
    let first = f.user_actions.first()?;
    Some(
        Verdict::user_action(format!("a person has {} to do", first.todo_id))
            .asking(f.user_actions.iter().copied()),
    )
}

fn monitor_quiet(f: &GoalFacts<'_>) -> Option<Verdict> {
    let at = f
        .of_agent()
        .filter_map(|c| match c.holds.as_slice() {
            [Hold::NotDue { at }] => Some(*at),
            _ => None,
        })
        .min()?;
    Some(Verdict::new(
        "skip",
        "monitor_quiet_skip",
        "eligible",
        "monitor_quiet_skip",
        format!("the next monitor is due {at}"),
    ))
}

fn agent_scope_wait(f: &GoalFacts<'_>) -> Option<Verdict> {
    if f.peer_is_planning() {
        return Some(Verdict::word("agent_scope_wait", "another agent is planning the goal"));
    }
    let waiting = f.of_agent().find(|c| {
        matches!(
            c.reason(),
            Some(
                Hold::Deferred { ready: false }
                    | Hold::ConditionWaiting
                    | Hold::Gated { .. }
                    | Hold::LeasedByOther { own_turn: true, .. }
            )
        )
    })?;
    let what = match waiting.reason() {
        Some(Hold::Gated { gate }) => format!("for the gate {gate}"),
        Some(Hold::LeasedByOther { .. }) => "for a turn that is still running".to_owned(),
        _ => "for its condition".to_owned(),
    };
    Some(Verdict::word("agent_scope_wait", format!("{} waits {what}", waiting.todo.todo_id)))
}

fn reassignment_required(f: &GoalFacts<'_>) -> Option<Verdict> {
    let (held, holder) = f.candidates.iter().find_map(|c| match c.reason() {
        Some(Hold::ClaimedByOther { agent }) => Some((c, Some(agent))),
        Some(Hold::LeasedByOther { agent, own_turn: false }) => Some((c, agent.as_ref())),
        _ => None,
    })?;
    let absent = f.candidates.iter().any(|c| match c.reason() {
        Some(Hold::ClaimedByOther { agent }) => f.is_absent(agent),
        Some(Hold::LeasedByOther { agent: Some(agent), .. }) => f.is_absent(agent),
        _ => false,
    });
    let who = holder.map_or("another turn", |a| a.as_str());
    Some(
        Verdict::word("reassignment_required", format!("{} is held by {who}", held.todo.todo_id))
            .telling(absent),
    )
}

fn stalled(f: &GoalFacts<'_>) -> Option<Verdict> {
    let blocked = f
        .of_agent()
        .find(|c| c.holds.iter().any(|h| matches!(h, Hold::Blocked | Hold::Stalled { .. })));
    if let Some(candidate) = blocked {
        return Some(
            Verdict::user_action(format!(
                "{} is blocked and nothing else can be done",
                candidate.todo.todo_id
            ))
            .coded("todo_blocked")
            .asking(std::iter::once(candidate.todo)),
        );
    }
    match f.replan_brake() {
        Some(AttemptState::Paused) => {
            return Some(Verdict::user_action("a replan was paused").coded("replan_paused"));
        }
        Some(_) => {
            return Some(
                Verdict::user_action(
                    "a replan ended with an unknown outcome; its turn must be settled first",
                )
                .coded("replan_outcome_unknown"),
            );
        }
        None if f.obligations.iter().any(|o| o.attempted) => {
            return Some(
                Verdict::user_action(
                    "a replan was tried and resolved nothing; it is not dispatched again",
                )
                .coded("replan_paused"),
            );
        }
        None => {}
    }
    f.has_attempted_offer().then(|| {
        Verdict::user_action("what the agent could do by itself was tried once and did not help")
            .coded("repair_unresolved")
    })
}

fn run_plan(f: &GoalFacts<'_>) -> Option<Verdict> {
    let offer = f.plan_offer()?;
    Some(
        Verdict::normal_run("the goal has no agent todo yet: plan it")
            .coded("plan_first")
            .offering(offer),
    )
}

fn agent_scope_exhausted(f: &GoalFacts<'_>) -> Option<Verdict> {
    Some(
        Verdict::word("agent_scope_exhausted", "there is nothing for this agent to do")
            .telling(!f.peer_has_work()),
    )
}
