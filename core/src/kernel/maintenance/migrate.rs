//! `migrate`: what an import of the earlier tool's goals would do, and the import.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::goal::Goal;
use super::super::{Kernel, import};
use super::{Progress, with_first_failure};
use crate::command::turn::ShouldRunRequest;
use crate::error::{Error, ErrorCode, Result};
use crate::model::{TaskClass, Todo};
use crate::operation::Addressed;
use crate::store::{Read, SqliteStore};

/// `migrate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MigrateRequest {
    /// Every goal of the registry.
    pub all: bool,
    /// Import now; without it the answer says what an import would do.
    pub execute: bool,
}

impl Kernel {
    /// Says what an import of the earlier tool's goals would do, or imports them.
    pub fn migrate(
        &self,
        at: &Addressed,
        request: &MigrateRequest,
        progress: Progress<'_>,
    ) -> Result<Value> {
        let mut rows = Vec::new();
        let mut failed = None;
        for (name, goal) in self.chosen(at, request.all)? {
            let done = goal.and_then(|goal| match request.execute {
                true => self.import_now(goal, progress),
                false => self.import_plan(&goal),
            });
            match done {
                Ok(row) => rows.push(row),
                Err(error) if request.all => {
                    let mut row = error.to_json();
                    if let Some(map) = row.as_object_mut() {
                        map.insert("goal_id".into(), json!(name));
                    }
                    rows.push(row);
                    failed = failed.or(Some(error));
                }
                Err(error) => return Err(error),
            }
        }
        let refused = |row: &&Value| row.get("ok") == Some(&Value::Bool(false));
        if let (None, Some(row)) = (&failed, rows.iter().find(refused)) {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
            failed = Some(
                Error::new(ErrorCode::GoalNotImported, text("about"))
                    .message(text("error"))
                    .next(text("next_command")),
            );
        }
        let mut answer = with_first_failure(json!({"dry_run": !request.execute}), rows, failed);
        let todo = rows_to_do(&answer);
        if let (false, Some(goal), Some(map)) = (request.execute, todo, answer.as_object_mut())
            && !map.contains_key("next_command")
        {
            map.insert(
                "next_command".into(),
                json!(format!("loopx migrate --goal-id {goal} --execute")),
            );
        }
        Ok(answer)
    }

    fn import_now(&self, goal: Goal, progress: Progress<'_>) -> Result<Value> {
        let id = goal.policy.goal_id.clone();
        let had_store = goal.has_store;
        let (goal, uid) = self.with_store_shown(Arc::new(goal), progress)?;
        let store = SqliteStore::open_read_only(&goal.store_path(&uid), &uid, self.sqlite())?;
        let first = store.commits(0, 1)?.into_iter().next();
        let mut row = json!({"ok": true, "goal_id": id, "goal_uid": uid, "changed": !had_store});
        if let (Some(map), Some(Value::Object(receipt))) =
            (row.as_object_mut(), first.map(|c| c.receipt).filter(|_| !had_store))
        {
            for key in ["commit", "todos", "spends", "outcomes", "findings"] {
                if let Some(value) = receipt.get(key) {
                    map.insert(key.to_owned(), value.clone());
                }
            }
        }
        Ok(row)
    }

    fn import_plan(&self, goal: &Goal) -> Result<Value> {
        let id = &goal.policy.goal_id;
        if goal.has_store {
            return Ok(json!({"ok": true, "goal_id": id, "imported": true, "changed": false}));
        }
        let project = import::read(goal)?;
        let now = self.now();
        let start = crate::quota::window_start(&goal.policy.quota, now);
        let window = |inside: bool| {
            let spends = project.ledger.spends.iter().filter(|s| (s.at >= start) == inside);
            spends.fold((0_u64, 0_u64), |(n, slots), s| (n + 1, slots.saturating_add(s.live())))
        };
        let (inside, before) = (window(true), window(false));
        let of_class =
            |class: TaskClass| project.todos.iter().filter(move |t| t.task_class == class);
        let line = |t: &Todo| json!({"todo_id": t.todo_id, "text": t.text, "status": t.status});
        let open = |t: &&Todo| t.is_open();
        let mut decisions = Map::new();
        let roster = &goal.policy.roster;
        let askers: Vec<Option<String>> = match roster.is_empty() {
            true => vec![None],
            false => roster.iter().map(|a| Some(a.to_string())).collect(),
        };
        for agent in askers {
            let request = ShouldRunRequest { agent_id: agent.clone(), ..Default::default() };
            let decision = self.decide_now(&Addressed::to(id.as_str()), &request).decision;
            decisions.insert(
                agent.unwrap_or_else(|| "-".to_owned()),
                json!({
                    "rule": decision.rule,
                    "should_run": decision.verdict.run,
                    "decision": decision.verdict.decision,
                    "todo_id": decision.verdict.selected,
                }),
            );
        }
        let mut row = json!({
            "ok": project.health.is_empty(),
            "goal_id": id,
            "imported": false,
            "changed": project.health.is_empty(),
            "todos": project.todos.len(),
            "todos_by_class": by_class(&project.todos),
            "open_gates": of_class(TaskClass::UserGate).filter(open).map(line).collect::<Vec<_>>(),
            "monitors": of_class(TaskClass::Monitor).filter(open).map(line).collect::<Vec<_>>(),
            "spends_in_window": {"spends": inside.0, "slots": inside.1},
            "spends_before": {"spends": before.0, "slots": before.1},
            "outcomes": project.ledger.outcomes.len(),
            "turns": project.ledger.turns.len(),
            "findings": project.findings,
            "health": project.health,
            "decisions": decisions,
        });
        if let (Some(problem), Some(map)) = (project.health.first(), row.as_object_mut()) {
            map.insert("error_code".into(), json!(problem.code));
            map.insert("error".into(), json!(problem.message));
            map.insert("about".into(), json!(problem.about));
            map.insert("next_command".into(), json!(problem.next_command));
        }
        Ok(row)
    }
}

/// The first goal that an import would change.
fn rows_to_do(answer: &Value) -> Option<String> {
    let rows = answer.get("goals")?.as_array()?;
    let row = rows.iter().find(|row| row.get("changed") == Some(&Value::Bool(true)))?;
    row.get("goal_id")?.as_str().map(str::to_owned)
}

fn by_class(todos: &[Todo]) -> Value {
    let mut counts: std::collections::BTreeMap<&str, std::collections::BTreeMap<&str, u64>> =
        std::collections::BTreeMap::new();
    for todo in todos {
        *counts
            .entry(todo.task_class.as_str())
            .or_default()
            .entry(todo.status.as_str())
            .or_default() += 1;
    }
    json!(counts)
}
