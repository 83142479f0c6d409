//! The facts behind each rule: one row per rule, each fact a probe that reads what the
//! rule's test reads. Whether a rule passes is its test's to say, not the probes'.

use serde::Serialize;

use super::name;
use crate::admission::facts::{Candidate, Facts, GoalFacts};
use crate::admission::holds::Hold;
use crate::admission::rules::Rule;
use crate::model::{AttemptState, Finding, Instant, Todo, TodoId, WorkMode};

/// Most ids that one fact names.
const IDS: usize = 5;

/// One fact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// Stable word.
    pub fact: &'static str,
    /// It is so.
    pub holds: bool,
    /// One sentence.
    pub text: String,
    /// The todos, agents or codes behind it, at most five.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// The instant behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Instant>,
}

impl Fact {
    fn new(fact: &'static str, holds: bool, text: impl Into<String>) -> Self {
        Self { fact, holds, text: text.into(), ids: Vec::new(), at: None }
    }

    /// A fact that is so when there are any of `ids`: `none` says there are none,
    /// `some` what they are, after their number.
    fn of(fact: &'static str, ids: Vec<String>, none: &str, one: &str, many: &str) -> Self {
        let text = match ids.len() {
            0 => none.to_owned(),
            1 => one.to_owned(),
            n => format!("{n} {many}"),
        };
        let holds = !ids.is_empty();
        Self { ids: ids.into_iter().take(IDS).collect(), ..Self::new(fact, holds, text) }
    }

    fn at(self, at: Option<Instant>) -> Self {
        Self { at, ..self }
    }
}

type Probe = fn(&GoalFacts<'_>) -> Fact;

/// Number and name of each rule that looks at a goal, and its probes.
const BEHIND: &[(u8, &str, &[Probe])] = &[
    (4, "goal_stopped", &[activation]),
    (5, "quota_paused", &[compute]),
    (6, "health", &[health, self_repair, slot]),
    (7, "identity_missing", &[roster, named]),
    (8, "gate", &[blocking, concerning, eligible, slot]),
    (9, "gate_fallback", &[concerning, eligible, slot]),
    (10, "terminal", &[ever, open_work, people, no_followup, acceptance]),
    (11, "throttled", &[slot]),
    (12, "replan", &[obligations, brake]),
    (13, "monitor_only", &[work_mode, monitor_due]),
    (14, "successor", &[successors, eligible]),
    (15, "run", &[eligible]),
    (16, "repair", &[mendable]),
    (17, "owner_capability", &[owner_held]),
    (18, "run", &[unscheduled]),
    (19, "user_action", &[actions]),
    (20, "monitor_quiet", &[quiet]),
    (21, "agent_scope_wait", &[planning, waits]),
    (22, "reassignment_required", &[held_by_others]),
    (23, "stalled", &[blocked, brake, attempted]),
    (24, "run", &[ever, plan]),
    (25, "agent_scope_exhausted", &[peers]),
];

/// The facts behind `rule`.
pub(super) fn facts_of(rule: &Rule, facts: &Facts<'_>) -> Vec<Fact> {
    match facts {
        Facts::Refused(error) if rule.order <= 3 => vec![Fact {
            ids: vec![error.row().text.to_owned()],
            ..Fact::new("refusal", (rule.test)(facts).is_some(), error.text())
        }],
        Facts::Refused(_) => {
            vec![Fact::new("goal_reached", false, "the question did not get as far as the goal")]
        }
        Facts::Goal(_) if rule.order <= 3 => {
            let text = match rule.name {
                "request_invalid" => "the request was understood",
                "goal_unknown" => "the goal is in the registry",
                "goal_duplicated" => "the goal is there once",
                "identity" => "the agent is registered, or none was named",
                _ => "the registry was read",
            };
            vec![Fact::new("refusal", false, text)]
        }
        Facts::Goal(goal) => BEHIND
            .iter()
            .find(|(order, name, _)| *order == rule.order && *name == rule.name)
            .map(|(_, _, probes)| probes.iter().map(|probe| probe(goal)).collect())
            .unwrap_or_default(),
    }
}

fn count(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

fn ids<'t>(todos: impl Iterator<Item = &'t Todo>) -> Vec<String> {
    todos.map(|t| name(&t.todo_id).to_owned()).collect()
}

fn ids_of<'c, 'a: 'c>(candidates: impl Iterator<Item = &'c Candidate<'a>>) -> Vec<String> {
    ids(candidates.map(|c| c.todo))
}

fn activation(f: &GoalFacts<'_>) -> Fact {
    let text = if f.policy.activation_stopped {
        "the activation is stopped".to_owned()
    } else {
        format!("the activation is not stopped and the status is {}", f.policy.status)
    };
    Fact::new("stopped", f.policy.is_stopped(), text)
}

fn compute(f: &GoalFacts<'_>) -> Fact {
    let compute = f.policy.quota.compute;
    Fact::new("compute_zero", compute <= 0.0, format!("compute is {compute}"))
}

fn health(f: &GoalFacts<'_>) -> Fact {
    let text = match f.health.first() {
        Some(Finding { code, message, .. }) => format!("{code}: {message}"),
        None => "store and state file can be trusted".to_owned(),
    };
    Fact {
        ids: f.health.iter().take(IDS).map(|h| h.about.clone()).collect(),
        ..Fact::new("unhealthy", !f.health.is_empty(), text)
    }
}

fn self_repair(f: &GoalFacts<'_>) -> Fact {
    let allowed = f.policy.self_repair.may_repair_health();
    let tried = f.health_offer().is_some_and(|o| f.is_attempted(&o));
    let text = match (allowed, tried) {
        (false, _) => "the owner has not allowed agents to repair health",
        (true, false) => "the owner has allowed agents to repair health",
        (true, true) => "a repair of these problems was tried once already",
    };
    Fact::new("self_repair", allowed && !tried, text)
}

fn slot(f: &GoalFacts<'_>) -> Fact {
    let w = &f.view.window;
    let q = &f.policy.quota;
    let free = w.next_free_at.map(|at| format!("; the next comes free {at}")).unwrap_or_default();
    let text = format!(
        "{} of {} slots of the last {} h are spent, {} reserved{free}",
        w.spent, q.allowed_slots, q.window_hours, w.reserved
    );
    Fact::new("slot_free", f.slot_free(), text).at(w.next_free_at)
}

fn roster(f: &GoalFacts<'_>) -> Fact {
    Fact::of(
        "roster",
        f.policy.roster.iter().map(ToString::to_string).collect(),
        "the goal has no roster",
        "the goal has one registered agent",
        "agents are registered",
    )
}

fn named(f: &GoalFacts<'_>) -> Fact {
    match f.agent() {
        Some(agent) => Fact {
            ids: vec![agent.to_string()],
            ..Fact::new("agent_named", true, format!("{agent} asks"))
        },
        None => Fact::new("agent_named", false, "nobody was named"),
    }
}

fn blocking(f: &GoalFacts<'_>) -> Fact {
    Fact::of(
        "gate_blocks",
        ids(f.gates_blocking()),
        "no open gate blocks the agent",
        "an open gate blocks the agent",
        "open gates block the agent",
    )
}

fn concerning(f: &GoalFacts<'_>) -> Fact {
    Fact::of(
        "gate_concerns",
        ids(f.gates_concerning()),
        "no open gate concerns the agent",
        "an open gate concerns the agent",
        "open gates concern the agent",
    )
}

fn eligible(f: &GoalFacts<'_>) -> Fact {
    let found = ids_of(f.candidates.iter().filter(|c| c.is_eligible()));
    let first = f.selected().map(|c| name(&c.todo.todo_id).to_owned());
    let mut fact = Fact::of(
        "eligible",
        found,
        "nothing is eligible",
        "one todo is eligible",
        "todos are eligible",
    );
    if let Some(first) = first {
        fact.ids.retain(|id| *id != first);
        fact.ids.insert(0, first);
        fact.ids.truncate(IDS);
    }
    fact
}

fn ever(f: &GoalFacts<'_>) -> Fact {
    let n = f.view.counters.agent_ever;
    Fact::new("agent_todos_ever", n > 0, format!("the goal has had {}", count(n, "agent todo")))
}

fn open_work(f: &GoalFacts<'_>) -> Fact {
    let n = f.open_work();
    Fact::new("work_open", n > 0, format!("{} open", count(n, "agent todo")))
}

fn people(f: &GoalFacts<'_>) -> Fact {
    let n = f.view.counters.user_open;
    Fact::new("user_todos_open", n > 0, format!("{} open", count(n, "user todo")))
}

fn no_followup(f: &GoalFacts<'_>) -> Fact {
    let n = f.view.counters.agent_no_followup;
    Fact::new("no_followup", n > 0, format!("{} done with no follow-up", count(n, "todo")))
}

fn acceptance(f: &GoalFacts<'_>) -> Fact {
    Fact::of(
        "acceptance_gap",
        f.policy.acceptance_gaps.iter().map(|g| super::cut(g, 80)).collect(),
        "no acceptance entry is unmet",
        "one acceptance entry is unmet",
        "acceptance entries are unmet",
    )
}

fn obligations(f: &GoalFacts<'_>) -> Fact {
    let open: Vec<String> = f
        .obligations
        .iter()
        .filter(|o| !o.attempted)
        .map(|o| format!("{} {}", o.trigger, o.offer.cause))
        .collect();
    let tried = f.obligations.len() - open.len();
    let mut fact = Fact::of(
        "obligation",
        open,
        "no obligation to replan stands",
        "one obligation to replan stands",
        "obligations to replan stand",
    );
    if tried > 0 {
        fact.text.push_str(&format!("; {tried} were tried once already"));
    }
    fact
}

fn brake(f: &GoalFacts<'_>) -> Fact {
    let state = f.replan_brake();
    let turn =
        f.view.attempts.iter().find(|a| {
            a.rule == "replan" && Some(a.state) == state && a.agent.as_ref() == f.agent()
        });
    let text = match state {
        None => "no replan was stopped before it ended",
        Some(AttemptState::Paused) => "a replan was paused",
        Some(_) => "a replan ended with an unknown outcome",
    };
    Fact {
        ids: turn.and_then(|a| a.turn_id.as_ref()).map(ToString::to_string).into_iter().collect(),
        ..Fact::new("replan_held", state.is_some(), text)
    }
    .at(turn.map(|a| a.at))
}

fn work_mode(f: &GoalFacts<'_>) -> Fact {
    let mode = f.policy.work_mode(f.agent());
    Fact::new("monitor_only", mode == WorkMode::MonitorOnly, format!("the work mode is {mode}"))
}

fn monitor_due(f: &GoalFacts<'_>) -> Fact {
    let due = f.monitor_due();
    Fact::new("monitor_due", due, if due { "a monitor is due" } else { "no monitor is due" })
}

fn successors(f: &GoalFacts<'_>) -> Fact {
    let offers = f.successor_offers();
    let tried = offers.iter().filter(|(_, o)| f.is_attempted(o)).count();
    let mut fact = Fact::of(
        "successor_ready",
        ids_of(offers.iter().filter(|(_, o)| !f.is_attempted(o)).map(|(c, _)| *c)),
        "no deferred todo is ready before the eligible ones",
        "a deferred todo is ready",
        "deferred todos are ready",
    );
    if tried > 0 {
        fact.text.push_str(&format!("; {tried} were offered once already"));
    }
    fact
}

fn mendable(f: &GoalFacts<'_>) -> Fact {
    let offers = f.repair_offers();
    let tried = offers.iter().filter(|(_, o)| f.is_attempted(o)).count();
    let mut fact = Fact::of(
        "mendable",
        ids_of(offers.iter().filter(|(_, o)| !f.is_attempted(o)).map(|(c, _)| *c)),
        "no todo is held only by what the agent may mend",
        "one todo is held only by what the agent may mend",
        "todos are held only by what the agent may mend",
    );
    if tried > 0 {
        fact.text.push_str(&format!("; {tried} were tried once already"));
    }
    fact
}

fn owner_held(f: &GoalFacts<'_>) -> Fact {
    let held =
        f.of_agent().filter(|c| matches!(c.reason(), Some(Hold::Capability { owner: true, .. })));
    Fact::of(
        "owner_capability",
        ids_of(held),
        "no todo waits for credentials or production access",
        "one todo waits for what only the owner can give",
        "todos wait for what only the owner can give",
    )
}

fn unscheduled(f: &GoalFacts<'_>) -> Fact {
    let offers = f.schedule_offers();
    let tried = offers.iter().filter(|(_, o)| f.is_attempted(o)).count();
    let mut fact = Fact::of(
        "no_schedule",
        ids_of(offers.iter().filter(|(_, o)| !f.is_attempted(o)).map(|(c, _)| *c)),
        "no monitor lacks a schedule",
        "one monitor lacks a schedule",
        "monitors lack a schedule",
    );
    if tried > 0 {
        fact.text.push_str(&format!("; {tried} were offered once already"));
    }
    fact
}

fn actions(f: &GoalFacts<'_>) -> Fact {
    Fact::of(
        "user_action",
        ids(f.user_actions.iter().copied()),
        "no user action of the agent is open",
        "one user action of the agent is open",
        "user actions of the agent are open",
    )
}

fn quiet(f: &GoalFacts<'_>) -> Fact {
    let waiting: Vec<(&TodoId, Instant)> = f
        .of_agent()
        .filter_map(|c| match c.holds.as_slice() {
            [Hold::NotDue { at }] => Some((&c.todo.todo_id, *at)),
            _ => None,
        })
        .collect();
    let next = waiting.iter().map(|(_, at)| *at).min();
    let mut fact = Fact::of(
        "monitor_waits",
        waiting.iter().map(|(id, _)| name(id).to_owned()).collect(),
        "no monitor of the agent waits for its time",
        "one monitor of the agent waits for its time",
        "monitors of the agent wait for their time",
    );
    if let Some(next) = next {
        fact.text.push_str(&format!("; the next is due {next}"));
    }
    fact.at(next)
}

fn planning(f: &GoalFacts<'_>) -> Fact {
    let yes = f.peer_is_planning();
    Fact::new(
        "peer_plans",
        yes,
        if yes {
            "another agent is planning the goal"
        } else {
            "no other agent is planning the goal"
        },
    )
}

fn waits(f: &GoalFacts<'_>) -> Fact {
    let waiting = f.of_agent().filter(|c| {
        matches!(
            c.reason(),
            Some(
                Hold::Deferred { .. }
                    | Hold::ConditionWaiting
                    | Hold::Gated { .. }
                    | Hold::LeasedByOther { own_turn: true, .. }
            )
        )
    });
    Fact::of(
        "waits",
        ids_of(waiting),
        "no todo of the agent waits on a condition, a gate or a turn",
        "one todo of the agent waits on a condition, a gate or a turn",
        "todos of the agent wait on a condition, a gate or a turn",
    )
}

fn held_by_others(f: &GoalFacts<'_>) -> Fact {
    let held = f.candidates.iter().filter(|c| {
        matches!(
            c.reason(),
            Some(Hold::ClaimedByOther { .. } | Hold::LeasedByOther { own_turn: false, .. })
        )
    });
    Fact::of(
        "held_by_others",
        ids_of(held),
        "no other agent holds anything",
        "another agent holds one todo",
        "todos are held by other agents",
    )
}

fn blocked(f: &GoalFacts<'_>) -> Fact {
    let held = f
        .of_agent()
        .filter(|c| c.holds.iter().any(|h| matches!(h, Hold::Blocked | Hold::Stalled { .. })));
    Fact::of(
        "blocked_or_stalled",
        ids_of(held),
        "no todo of the agent is blocked or stalled",
        "one todo of the agent is blocked or stalled",
        "todos of the agent are blocked or stalled",
    )
}

fn attempted(f: &GoalFacts<'_>) -> Fact {
    let yes = f.has_attempted_offer();
    Fact::new(
        "offer_attempted",
        yes,
        if yes {
            "what the agent could do by itself was tried once and the facts are the same"
        } else {
            "nothing that the agent could do by itself was tried before"
        },
    )
}

fn plan(f: &GoalFacts<'_>) -> Fact {
    let offer = f.plan_offer();
    let tried = offer.as_ref().is_some_and(|o| f.is_attempted(o));
    let text = match (offer.is_some(), tried) {
        (false, _) => "the goal has been planned",
        (true, false) => "the goal is still to be planned",
        (true, true) => "planning was offered once already",
    };
    Fact::new("plan_first", offer.is_some() && !tried, text)
}

fn peers(f: &GoalFacts<'_>) -> Fact {
    let yes = f.peer_has_work();
    Fact::new(
        "peer_has_work",
        yes,
        if yes { "another agent has work" } else { "no other agent has work" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::RULES;

    #[test]
    fn every_rule_that_looks_at_a_goal_has_its_row_in_order() {
        let rules: Vec<(u8, &str)> =
            RULES.iter().filter(|r| r.order >= 4).map(|r| (r.order, r.name)).collect();
        let rows: Vec<(u8, &str)> = BEHIND.iter().map(|(order, name, _)| (*order, *name)).collect();
        assert_eq!(rows, rules);
        assert!(BEHIND.iter().all(|(_, _, probes)| !probes.is_empty()));
    }
}
