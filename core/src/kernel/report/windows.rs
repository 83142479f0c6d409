//! `quota status` and `quota plan`: the windows of one goal or of all, and whose turn is
//! next.

use serde_json::{Map, Value, json};

use super::super::Kernel;
use super::{Look, every_goal, failed};
use crate::command::quota::status_row;
use crate::error::Result;
use crate::operation::Addressed;

/// States in the order in which a plan groups them (reference quota.md 4).
pub const PLAN_ORDER: [&str; 8] = [
    "blocked_health",
    "operator_gate",
    "focus_wait",
    "eligible",
    "waiting",
    "throttled",
    "paused",
    "unknown",
];

/// The group of a state: what is in no group of the plan waits.
fn group_of(state: &str) -> &'static str {
    PLAN_ORDER.into_iter().find(|group| *group == state).unwrap_or("waiting")
}

/// The window of one goal. State and rule are the first agent's: a goal's state does not
/// differ between its agents; what each may do is in `run_agents`.
pub(super) fn row(look: &Look<'_>) -> Value {
    let policy = &look.goal.policy;
    let decision = look.decide(policy.roster.first());
    let mut row = status_row(policy, &look.view, decision.verdict.state, decision.rule);
    if let (false, Some(map)) = (look.view.health.is_empty(), row.as_object_mut()) {
        map.insert("health".into(), json!(look.view.health));
        if look.snapshot.is_none() {
            // What cannot be read is not zero.
            for figure in COUNTED {
                map.insert(figure.into(), Value::Null);
            }
        }
    }
    row
}

/// Figures that are counted from records.
const COUNTED: [&str; 6] = [
    "spent_slots",
    "reserved_slots",
    "left_slots",
    "overrun_slots",
    "open_agent_todos",
    "open_user_todos",
];

/// The window with the agents that may run now.
fn plan_row(look: &Look<'_>) -> Value {
    let mut row = row(look);
    let mut agents = Vec::new();
    let mut turn = Value::Null;
    for asker in look.askers() {
        let decision = look.decide(asker);
        if decision.verdict.run {
            agents.push(json!(asker));
            if turn.is_null() {
                turn = next_turn(look, asker, &decision);
            }
        }
    }
    if let Some(map) = row.as_object_mut() {
        map.insert("run_agents".into(), Value::Array(agents));
        map.insert("next_turn".into(), turn);
    }
    row
}

fn next_turn(
    look: &Look<'_>,
    agent: Option<&crate::model::AgentId>,
    decision: &crate::admission::Decision,
) -> Value {
    let goal = &look.goal.policy.goal_id;
    let who = agent.map(|a| format!(" --agent-id {a}")).unwrap_or_default();
    json!({
        "goal_id": goal,
        "agent_id": agent,
        "rule": decision.rule,
        "todo_id": decision.verdict.selected.as_ref().filter(|id| !crate::state_file::is_provisional(id)),
        "next_command": format!("loopx quota should-run --goal-id {goal}{who}"),
    })
}

impl Kernel {
    /// The window of one goal, or of every goal of the registry. A goal that cannot be
    /// read is a row with its error, and the others are still shown.
    pub fn quota_status(&self, at: &Addressed) -> Result<Value> {
        let rows = match at.goal_id.as_deref() {
            Some(name) => vec![row(&Look::at(self, self.goal(Some(name))?, false))],
            None => every_goal(self, |goal| Ok(row(&Look::at(self, goal, false))))?
                .into_iter()
                .map(|(name, made)| made.unwrap_or_else(|error| failed(&name, &error)))
                .collect(),
        };
        Ok(json!({"ok": true, "mode": "status", "goals": rows}))
    }

    /// Goals grouped by state in the order of urgency, inside a group by compute (most
    /// first), spent slots (fewest first) and name; and the next automatic turn: the
    /// first eligible goal of which an agent may run, else the first that lets an agent
    /// work beside an open gate or mend something.
    pub fn quota_plan(&self, at: &Addressed) -> Result<Value> {
        let mut rows: Vec<Value> = match at.goal_id.as_deref() {
            Some(name) => vec![plan_row(&Look::at(self, self.goal(Some(name))?, false))],
            None => every_goal(self, |goal| Ok(plan_row(&Look::at(self, goal, false))))?
                .into_iter()
                .map(|(name, made)| made.unwrap_or_else(|error| failed(&name, &error)))
                .collect(),
        };
        rows.sort_by(|a, b| {
            plan_key(a).partial_cmp(&plan_key(b)).unwrap_or(std::cmp::Ordering::Equal)
        });
        let state =
            |row: &Value| group_of(row.get("state").and_then(Value::as_str).unwrap_or("unknown"));
        let turn = |eligible: bool| {
            rows.iter()
                .filter(|row| (state(row) == "eligible") == eligible)
                .filter_map(|row| row.get("next_turn"))
                .find(|turn| !turn.is_null())
                .cloned()
        };
        let next = turn(true).or_else(|| turn(false));
        let mut counts = Map::new();
        let mut groups = Vec::new();
        for group in PLAN_ORDER {
            let goals: Vec<&Value> = rows.iter().filter(|row| state(row) == group).collect();
            counts.insert(group.into(), json!(goals.len()));
            if !goals.is_empty() {
                groups.push(json!({"state": group, "goals": goals}));
            }
        }
        Ok(json!({
            "ok": true,
            "mode": "plan",
            "summary": {
                "registered_goals": rows.len(),
                "states": counts,
                "next_automatic_turn": next,
            },
            "groups": groups,
        }))
    }
}

fn plan_key(row: &Value) -> (usize, f64, u64, String) {
    let state = group_of(row.get("state").and_then(Value::as_str).unwrap_or("unknown"));
    let place = PLAN_ORDER.iter().position(|s| *s == state).unwrap_or(PLAN_ORDER.len());
    let compute = row.get("compute").and_then(Value::as_f64).unwrap_or(0.0);
    let spent = row.get("spent_slots").and_then(Value::as_u64).unwrap_or(0);
    let name = row.get("goal_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    (place, -compute, spent, name)
}
