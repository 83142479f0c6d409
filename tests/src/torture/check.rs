//! The history that was acknowledged, held against the store's own.

use super::{Report, World, text};
use crate::faults::{integrity, stores};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

/// A receipt that a process gave out.
pub(super) struct Acknowledged {
    /// As the store names the effect.
    pub effect: String,
    /// It.
    pub receipt: Value,
}

impl World<'_> {
    /// Holds the acknowledged history against the store's own.
    pub(super) fn check(self) -> Report {
        // One more write, so that the state file shows everything.
        self.sandbox.json("todo add --goal-id g --role agent --text last".split(' '));
        for store in stores(&self.sandbox) {
            if let Err(why) = integrity(&store) {
                self.violation(why);
            }
        }
        let export = self.sandbox.base().join("export.json");
        let words = ["export", "--goal-id", "g", "--file"];
        self.sandbox.json(words.iter().map(Path::new).chain([export.as_path()]));
        let text = fs::read(&export).expect("the export");
        let export: Value = serde_json::from_slice(&text).expect("the export is JSON");
        let rows = |table: &str| -> Vec<Value> {
            let rows = export.get("tables").and_then(|t| t.get(table));
            rows.and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let (commits, todos) = (rows("commits"), rows("todos"));
        let mut found = Vec::new();
        acknowledged_is_there(&commits, &self.acknowledged.lock().expect("no panic"), &mut found);
        one_owner(&commits, &mut found);
        spent_once(&commits, &rows("spends"), &mut found);
        self.surface(&todos, &mut found);
        let mut report = self.report.into_inner().expect("no panic");
        report.commits = commits.len();
        report.violations.append(&mut found);
        report
    }

    /// Every hand edit was taken in once, and the state file shows every open todo once.
    fn surface(&self, todos: &[Value], found: &mut Vec<String>) {
        let mut texts: HashMap<&str, usize> = HashMap::new();
        let mut ids = HashSet::new();
        let path = self.sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
        let file = fs::read_to_string(path).expect("the state file");
        for todo in todos {
            *texts.entry(text(todo, "text")).or_default() += 1;
            let id = text(todo, "todo_id");
            if !ids.insert(id) {
                found.push(format!("two todos have the id {id}"));
            }
            let shown = file.matches(&format!("todo_id={id} ")).count();
            if text(todo, "status") == "open" && shown != 1 {
                found.push(format!("open todo {id} is shown {shown} times"));
            }
        }
        let twice =
            texts.iter().filter(|(t, n)| **n > 1 && (t.starts_with('w') || t.contains("by hand")));
        found.extend(twice.map(|(text, n)| format!("{n} todos have the text {text:?}")));
        for n in 0..self.number.load(Ordering::Relaxed) {
            let line = format!("by hand {n}.");
            let made = self.made.lock().expect("no panic").contains(&n);
            if made && !texts.contains_key(line.as_str()) {
                found.push(format!("the hand edit {line:?} is lost"));
            }
        }
    }
}

fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

fn receipt_of(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(map) = value.as_object_mut() {
        // Said of this answer, not of the effect.
        for key in ["idempotent_replay", "heartbeat_receipt", "global_projection"] {
            map.remove(key);
        }
    }
    value
}

fn acknowledged_is_there(commits: &[Value], all: &[Acknowledged], found: &mut Vec<String>) {
    let mut by_effect = HashMap::new();
    for (index, commit) in commits.iter().enumerate() {
        if number(commit, "n") != u64::try_from(index + 1).unwrap_or(0) {
            found.push(format!("commit {} stands at place {}", number(commit, "n"), index + 1));
        }
        if by_effect.insert(text(commit, "effect_id"), commit).is_some() {
            found.push(format!("effect {} was made twice", text(commit, "effect_id")));
        }
    }
    for Acknowledged { effect, receipt } in all {
        let stored = by_effect.get(effect.as_str()).and_then(|commit| commit.get("receipt"));
        match stored {
            Some(stored) if receipt_of(stored) == receipt_of(receipt) => {}
            Some(stored) => {
                found.push(format!("{effect}: acknowledged {receipt}, stored {stored}"))
            }
            // An answer that binds nothing, for example about a stopped goal.
            None if receipt.get("heartbeat_receipt").is_none()
                && receipt.get("rule").is_some()
                && receipt.get("should_run") != Some(&Value::Bool(true)) => {}
            None => found.push(format!("{effect}: acknowledged and lost: {receipt}")),
        }
    }
}

/// In the order of commits: one live turn a todo, one claimant, nothing of a stopped goal.
fn one_owner(commits: &[Value], found: &mut Vec<String>) {
    let nothing = Value::Null;
    let mut live: HashMap<String, String> = HashMap::new();
    let mut claims: HashMap<String, String> = HashMap::new();
    let mut stopped = false;
    for commit in commits {
        let receipt = commit.get("receipt").unwrap_or(&nothing);
        let todo = text(receipt, "todo_id").to_owned();
        let n = number(commit, "n");
        match text(commit, "verb") {
            "goal.stop" => stopped = true,
            "goal.resume" => stopped = false,
            "turn.admit" if receipt.get("should_run") == Some(&Value::Bool(true)) => {
                if stopped {
                    found.push(format!("commit {n} admits a turn of a stopped goal"));
                }
                let effect = text(commit, "effect_id");
                let turn = effect.split('|').nth(1).unwrap_or_default().to_owned();
                let todo = text(receipt.get("selected_todo").unwrap_or(&nothing), "todo_id");
                if todo.is_empty() {
                    continue;
                }
                if let Some(other) = live.insert(todo.to_owned(), turn.clone()) {
                    found.push(format!("commit {n}: turn {turn} gets {todo}, live in {other}"));
                }
                if let Some(owner) = claims.get(todo).filter(|o| *o != text(commit, "agent")) {
                    found.push(format!("commit {n}: turn {turn} gets {todo}, claimed by {owner}"));
                }
            }
            "turn.settle" | "turn.release" => {
                let turn = text(receipt, "turn_instance_id");
                live.retain(|_, t| t != turn);
                if text(receipt, "status") == "done" {
                    claims.remove(&todo);
                }
            }
            "turn.lapse" => {
                let lapsed = receipt.get("lapsed_turns").and_then(Value::as_array);
                for turn in lapsed.into_iter().flatten().filter_map(Value::as_str) {
                    live.retain(|_, t| t != turn);
                }
            }
            "todo.claim" => {
                let agent = text(receipt, "claimed_by").to_owned();
                let before = claims.insert(todo.clone(), agent.clone());
                if let Some(other) = before.filter(|other| *other != agent) {
                    found.push(format!("commit {n}: {agent} claims {todo} of {other}"));
                }
            }
            "todo.complete" => {
                claims.remove(&todo);
                live.remove(&todo);
            }
            _ => {}
        }
    }
}

/// Each commit that spends has its spend, and there is no other.
fn spent_once(commits: &[Value], spends: &[Value], found: &mut Vec<String>) {
    let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
    for commit in commits {
        let Some(receipt) = commit.get("receipt") else { continue };
        let slots = match text(commit, "verb") {
            "quota.spend_slot" => number(receipt, "slots"),
            "turn.settle" => number(receipt, "spent_slots"),
            _ => 0,
        };
        if slots > 0 {
            expected.insert(number(commit, "n"), slots);
        }
    }
    let stored: BTreeMap<u64, u64> =
        spends.iter().map(|spend| (number(spend, "id"), number(spend, "slots"))).collect();
    if stored != expected || stored.len() != spends.len() {
        found.push(format!("spends by commit are {stored:?}, their receipts say {expected:?}"));
    }
    let mut outcomes = HashSet::new();
    for spend in spends.iter().filter_map(|spend| spend.get("outcome_id")) {
        if !outcomes.insert(spend.to_string()) {
            found.push(format!("outcome {spend} was spent twice"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn commit(n: u64, effect: &str, verb: &str, agent: &str, receipt: &Value) -> Value {
        json!({"n": n, "effect_id": effect, "verb": verb, "agent": agent, "receipt": receipt})
    }

    #[test]
    fn a_lost_a_changed_and_a_doubled_effect_are_found() {
        let stored = json!({"todo_id": "t"});
        let commits = [
            commit(1, "caller|a", "todo.add", "x", &stored),
            commit(3, "caller|a", "todo.add", "x", &stored),
        ];
        let told = |effect: &str, receipt: Value| Acknowledged { effect: effect.into(), receipt };
        let all = [
            told("caller|a", json!({"todo_id": "t", "idempotent_replay": true})),
            told("caller|a", json!({"todo_id": "other"})),
            told("caller|b", stored.clone()),
        ];
        let mut found = Vec::new();
        acknowledged_is_there(&commits, &all, &mut found);
        assert_eq!(found.len(), 4, "{found:?}");
    }

    #[test]
    fn two_owners_and_a_turn_of_a_stopped_goal_are_found() {
        let run = json!({"should_run": true, "selected_todo": {"todo_id": "t"}});
        let commits = [
            commit(1, "turn|t1|", "turn.admit", "x", &run),
            commit(2, "turn|t2|", "turn.admit", "y", &run),
            commit(3, "e", "goal.stop", "", &json!({})),
            commit(4, "r", "turn.release", "y", &json!({"turn_instance_id": "t2"})),
            commit(5, "turn|t3|", "turn.admit", "y", &run),
        ];
        let mut found = Vec::new();
        one_owner(&commits, &mut found);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_spend_too_many_and_an_outcome_spent_twice_are_found() {
        let commits = [commit(1, "s", "quota.spend_slot", "x", &json!({"slots": 1}))];
        let spends = [
            json!({"id": 1, "slots": 1, "outcome_id": 7}),
            json!({"id": 2, "slots": 1, "outcome_id": 7}),
        ];
        let mut found = Vec::new();
        spent_once(&commits, &spends, &mut found);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
