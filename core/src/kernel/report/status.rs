//! `status`: one goal in whole, or a row of every goal.

use serde_json::{Value, json};

use super::super::Kernel;
use super::{Look, every_goal, failed, windows};
use crate::admission::facts::GoalFacts;
use crate::admission::gates::{self, Reach};
use crate::admission::holds::{Due, due_at, is_expired};
use crate::admission::packet::cut;
use crate::admission::{AdmissionRequest, Decision};
use crate::error::Result;
use crate::model::time::MICROS_PER_MINUTE;
use crate::model::{AgentId, Instant, TaskClass, Todo, TodoStatus, Usage};
use crate::operation::Addressed;
use crate::state_file::is_provisional;

/// Items of one list.
const ITEMS: usize = 20;
/// Commits and turns that are shown.
const LAST: usize = 5;
/// Outcomes that are searched for the last turns that reported usage.
const OUTCOMES: usize = 100;
/// Bytes of one text.
const TEXT_CAP: usize = 240;

impl Kernel {
    /// One goal in whole when it is named or the only one; else a row of every goal. A
    /// goal that cannot be read is a row with its error.
    pub fn status(&self, at: &Addressed) -> Result<Value> {
        let single = at.goal_id.is_some() || self.registry()?.only_goal().is_ok();
        if single {
            let look = Look::at(self, self.goal(at.goal_id.as_deref())?, false);
            let mut answer = one(&look)?;
            if let (Some(receipt), Some(map)) =
                (self.receipt_of(&look.goal), answer.as_object_mut())
            {
                map.insert("host_poll".into(), receipt);
            }
            return Ok(answer);
        }
        let rows: Vec<Value> = every_goal(self, |goal| Ok(row(&Look::at(self, goal, false))))?
            .into_iter()
            .map(|(name, made)| made.unwrap_or_else(|error| failed(&name, &error)))
            .collect();
        Ok(json!({"ok": true, "mode": "status_all", "at": self.now(), "goals": rows}))
    }
}

/// One row of all goals.
fn row(look: &Look<'_>) -> Value {
    let policy = &look.goal.policy;
    let decisions = decisions(look);
    let first = decisions.first().map(|(_, d)| d);
    let running: Vec<&AgentId> =
        decisions.iter().filter(|(_, d)| d.verdict.run).filter_map(|(a, _)| *a).collect();
    let gates: Vec<&Todo> = look.view.todos.iter().filter(|t| gates::is_open_gate(t)).collect();
    let monitors = monitors(look);
    let window = &look.view.window;
    let mut row = json!({
        "goal_id": policy.goal_id,
        "objective": policy.objective.as_deref().map(|o| cut(o, 120)),
        "state": first.map(|d| d.verdict.state),
        "rule": first.map(|d| d.rule),
        "should_run": decisions.iter().any(|(_, d)| d.verdict.run),
        "run_agents": running,
        "agents": policy.roster,
        "spent_slots": window.spent,
        "reserved_slots": window.reserved,
        "allowed_slots": policy.quota.allowed_slots,
        "open_agent_todos": look.view.counters.agent_open,
        "open_user_todos": look.view.counters.user_open,
        "gates": gates.len(),
        "oldest_gate_at": gates.iter().filter_map(|g| opened(g)).min(),
        "monitors_due": monitors.iter().filter(|(_, due)| is_due(*due, look.now)).count(),
        "last_seen": look.view.seen.iter().map(|s| s.at).max(),
        "findings": look.view.findings.len(),
        "commit": look.view.commit,
    });
    if let (false, Some(map)) = (look.view.health.is_empty(), row.as_object_mut()) {
        map.insert("health".into(), json!(look.view.health));
        if look.snapshot.is_none() {
            // What cannot be read is not zero.
            for figure in [
                "spent_slots",
                "reserved_slots",
                "open_agent_todos",
                "open_user_todos",
                "gates",
                "monitors_due",
                "commit",
            ] {
                map.insert(figure.into(), Value::Null);
            }
        }
    }
    row
}

fn decisions<'l>(look: &'l Look<'_>) -> Vec<(Option<&'l AgentId>, Decision)> {
    look.askers().into_iter().map(|asker| (asker, look.decide(asker))).collect()
}

fn one(look: &Look<'_>) -> Result<Value> {
    let policy = &look.goal.policy;
    let decisions = decisions(look);
    let request = AdmissionRequest::default();
    let facts = GoalFacts::of(policy, &look.view, &request, look.now);
    let mut answer = json!({
        "ok": true,
        "mode": "status",
        "goal_id": policy.goal_id,
        "goal_uid": policy.goal_uid,
        "objective": policy.objective,
        "status": policy.status,
        "stopped": policy.is_stopped(),
        "imported": look.goal.has_store,
        "at": look.now,
        "commit": look.view.commit,
        "state": decisions.first().map(|(_, d)| d.verdict.state),
        "agents": decisions.iter().map(|(agent, d)| agent_row(look, *agent, d)).collect::<Vec<_>>(),
        "window": windows::row(look),
        "counts": look.snapshot.is_some().then(|| counts(look)),
    });
    let sections = json!({
        "gates": gates_waiting(look),
        "user_actions": user_actions(look),
        "monitors": monitor_section(look),
        "turns": turns(look),
        "usage": usage(look)?,
        "health": facts.health,
        "findings": facts.findings,
        "commits": look.commits(LAST)?,
    });
    if let (Some(map), Value::Object(sections)) = (answer.as_object_mut(), sections) {
        map.extend(sections);
        if let Some((Some(agent), _)) =
            decisions.iter().find(|(a, d)| a.is_some() && !d.verdict.run)
        {
            map.insert(
                "next_command".into(),
                json!(format!("loopx explain --goal-id {} --agent-id {agent}", policy.goal_id)),
            );
        }
    }
    Ok(answer)
}

fn agent_row(look: &Look<'_>, agent: Option<&AgentId>, decision: &Decision) -> Value {
    let verdict = &decision.verdict;
    let seen = look.view.seen.iter().find(|s| Some(&s.agent) == agent);
    json!({
        "agent_id": agent,
        "work_mode": look.goal.policy.work_mode(agent),
        "state": verdict.state,
        "rule": decision.rule,
        "rule_order": decision.order,
        "decision": verdict.decision,
        "should_run": verdict.run,
        "reason": cut(&verdict.reason, TEXT_CAP),
        "selected_todo_id": verdict.selected.as_ref().filter(|id| !is_provisional(id)),
        "last_seen": seen.map(|s| s.at),
        "absent": seen.map(|s| s.is_absent(look.now)),
    })
}

/// Open todos by class and by status. Everything but plain work is in every view; plain
/// work is counted by the store.
fn counts(look: &Look<'_>) -> Value {
    let open = |class: TaskClass| look.view.todos.iter().filter(|t| t.task_class == class).count();
    let status = |status: TodoStatus| look.view.todos.iter().filter(|t| t.status == status).count();
    let counters = &look.view.counters;
    json!({
        "advancement_task": counters.advancement_open,
        "continuous_monitor": open(TaskClass::Monitor),
        "blocker": open(TaskClass::Blocker),
        "user_gate": open(TaskClass::UserGate),
        "user_action": open(TaskClass::UserAction),
        "blocked": status(TodoStatus::Blocked),
        "deferred": status(TodoStatus::Deferred),
        "agent_open": counters.agent_open,
        "agent_done": counters.agent_done,
        "user_open": counters.user_open,
        "user_done": counters.user_done,
    })
}

/// Since when a todo stands, as far as that is known.
fn opened(todo: &Todo) -> Option<Instant> {
    todo.created_at.or(todo.updated_at)
}

fn shown_id(todo: &Todo) -> Option<&str> {
    Some(todo.todo_id.as_str()).filter(|_| !is_provisional(&todo.todo_id))
}

/// Gates that wait for a person, oldest first.
fn gates_waiting(look: &Look<'_>) -> Vec<Value> {
    let mut open: Vec<&Todo> = look.view.todos.iter().filter(|t| gates::is_open_gate(t)).collect();
    open.sort_by_key(|g| (opened(g).is_none(), opened(g)));
    let goal = &look.goal.policy.goal_id;
    open.iter()
        .take(ITEMS)
        .map(|gate| {
            let since = opened(gate);
            let blocks = match gates::reach(gate) {
                Reach::Everyone | Reach::Nothing => "every agent".to_owned(),
                Reach::Agent(agent) => agent.to_string(),
                Reach::Named => {
                    let todo = gate.unblocks_todo_id.as_ref().map(ToString::to_string);
                    let scope = gate.decision_scope.as_ref().map(|s| s.0.clone());
                    todo.into_iter().chain(scope).collect::<Vec<_>>().join(" and ")
                }
            };
            json!({
                "todo_id": shown_id(gate),
                "text": cut(&gate.text, TEXT_CAP),
                "blocks": blocks,
                "since": since,
                "waited_minutes": since.map(|at| minutes_between(at, look.now)),
                "next_command": format!(
                    "loopx gate decide --goal-id {goal} --todo-id {} --outcome OUTCOME",
                    gate.todo_id
                ),
            })
        })
        .collect()
}

fn minutes_between(from: Instant, to: Instant) -> i64 {
    to.micros().saturating_sub(from.micros()).max(0) / MICROS_PER_MINUTE
}

fn user_actions(look: &Look<'_>) -> Vec<Value> {
    look.view
        .todos
        .iter()
        .filter(|t| t.task_class == TaskClass::UserAction)
        .take(ITEMS)
        .map(|t| json!({"todo_id": shown_id(t), "text": cut(&t.text, TEXT_CAP), "agent_id": t.bound_agent, "since": opened(t)}))
        .collect()
}

fn is_due(due: Due, now: Instant) -> bool {
    match due {
        Due::Now => true,
        Due::At(at) => at <= now,
        Due::Never => false,
    }
}

/// Monitors that are not past their end, the next due first.
fn monitors<'l>(look: &'l Look<'_>) -> Vec<(&'l Todo, Due)> {
    let mut found: Vec<(&Todo, Due)> = look
        .view
        .todos
        .iter()
        .filter(|t| t.task_class == TaskClass::Monitor && t.status == TodoStatus::Open)
        .filter(|t| !is_expired(t, look.now))
        .map(|t| (t, due_at(t)))
        .collect();
    found.sort_by_key(|(_, due)| match due {
        Due::Now => (0, None),
        Due::At(at) => (1, Some(*at)),
        Due::Never => (2, None),
    });
    found
}

fn monitor_section(look: &Look<'_>) -> Value {
    let all = monitors(look);
    let next = all.iter().find_map(|(_, due)| match due {
        Due::At(at) if *at > look.now => Some(*at),
        _ => None,
    });
    let items: Vec<Value> = all
        .iter()
        .take(ITEMS)
        .map(|(todo, due)| {
            json!({
                "todo_id": shown_id(todo),
                "text": cut(&todo.text, TEXT_CAP),
                "claimed_by": todo.claimed_by,
                "due": is_due(*due, look.now),
                "due_at": match due { Due::At(at) => Some(*at), Due::Now | Due::Never => None },
                "cadence": todo.cadence,
                "unchanged": todo.consecutive_no_change,
            })
        })
        .collect();
    json!({
        "open": all.len(),
        "due": all.iter().filter(|(_, due)| is_due(*due, look.now)).count(),
        "next_due_at": next,
        "items": items,
    })
}

/// Turns that hold a reservation now.
fn turns(look: &Look<'_>) -> Vec<Value> {
    look.view
        .turns
        .iter()
        .map(|t| {
            json!({
                "turn_instance_id": t.turn_id,
                "agent_id": t.agent,
                "todo_id": t.todo_id,
                "rule": t.rule,
                "reserved_slots": t.reserved,
                "since": t.at,
                "until": t.expires_at,
            })
        })
        .collect()
}

/// Model usage: in all, by agent, and of the last turns that reported any.
fn usage(look: &Look<'_>) -> Result<Value> {
    let Some(snapshot) = &look.snapshot else { return Ok(Value::Null) };
    let by_agent = snapshot.read().usage()?;
    let mut total = Usage::default();
    let mut reports = 0_u64;
    for agent in &by_agent {
        total.add(&agent.usage);
        reports = reports.saturating_add(agent.reports);
    }
    let last: Vec<Value> = snapshot
        .read()
        .last_outcomes(OUTCOMES)?
        .iter()
        .filter_map(|o| {
            let usage = o.usage.as_ref()?;
            Some(json!({
                "at": o.at,
                "turn_instance_id": o.turn_id,
                "agent_id": o.agent,
                "todo_id": o.todo_id,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cost_micros": usage.cost_micros,
            }))
        })
        .take(LAST)
        .collect();
    let agents: Vec<Value> = by_agent
        .iter()
        .map(|a| {
            json!({
                "agent_id": Some(a.agent.as_str()).filter(|a| !a.is_empty()),
                "input_tokens": a.usage.input_tokens,
                "output_tokens": a.usage.output_tokens,
                "cost_micros": a.usage.cost_micros,
                "reports": a.reports,
            })
        })
        .collect();
    Ok(json!({
        "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens,
        "cost_micros": total.cost_micros,
        "reports": reports,
        "agents": agents,
        "last_turns": last,
    }))
}
