//! What the agents do, and a person beside them.

use super::doors::{Ask, Doors, End};
use super::{Dice, World, agent};
use serde_json::{Value, json};
use std::fs;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// An operation with an effect id of its own.
fn ask(operation: &'static str, words: &str, mut request: Value, effect: &str) -> Ask {
    if let Some(map) = request.as_object_mut() {
        map.insert("goal_id".into(), json!("g"));
        map.insert("effect_id".into(), json!(effect));
    }
    Ask {
        words: format!("{words} --goal-id g --effect-id {effect}"),
        operation,
        request,
        effect: format!("caller|{effect}"),
    }
}

/// An operation that its turn identifies.
fn ask_turn(operation: &'static str, words: &str, mut request: Value, turn: &str) -> Ask {
    if let Some(map) = request.as_object_mut() {
        map.insert("goal_id".into(), json!("g"));
    }
    Ask {
        words: format!("{words} --goal-id g"),
        operation,
        request,
        effect: format!("turn|{turn}|{}|", operation.replace('.', "%2E")),
    }
}

impl World<'_> {
    pub(super) fn work(&self, me: usize) {
        let dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (u64::try_from(me).unwrap_or(0) + 1) << 17);
        let mut doors = Doors { me, dice, session: None };
        while !self.over.load(Ordering::Relaxed) {
            self.one(&mut doors);
        }
        drop(doors.session.take());
        self.close(me);
    }

    fn one(&self, doors: &mut Doors) {
        let n = self.number.fetch_add(1, Ordering::Relaxed);
        let (me, agent) = (doors.me, agent(doors.me));
        let effect = format!("e{n}");
        let todo = {
            let todos = self.todos.lock().expect("no panic");
            let recent = todos.len().saturating_sub(20);
            todos.get(recent + doors.dice.below(todos.len() - recent)).cloned()
        };
        match (doors.dice.below(20), todo) {
            (0..=3, _) | (_, None) => {
                let text = format!("w{n}");
                let add = ask(
                    "todo.add",
                    &format!("todo add --role agent --text {text}"),
                    json!({"role": "agent", "text": text}),
                    &effect,
                );
                if let End::Receipt(value) = self.call(doors, &add) {
                    let id = value.get("todo_id").and_then(Value::as_str).map(str::to_owned);
                    self.todos.lock().expect("no panic").extend(id);
                }
            }
            (4 | 5, Some(todo)) => {
                let claim = ask(
                    "todo.claim",
                    &format!("todo claim --todo-id {todo} --claimed-by {agent}"),
                    json!({"todo_id": todo, "claimed_by": agent}),
                    &effect,
                );
                self.call(doors, &claim);
            }
            (6 | 7, Some(todo)) => {
                let complete = ask(
                    "todo.complete",
                    &format!(
                        "todo complete --agent-id {agent} --todo-id {todo} --next-agent-todo n{n}"
                    ),
                    json!({"agent_id": agent, "todo_id": todo, "next_agent_todo": format!("n{n}")}),
                    &effect,
                );
                self.call(doors, &complete);
            }
            (8 | 9, Some(_)) => {
                let refresh = ask(
                    "refresh_state",
                    &format!(
                        "refresh-state --agent-id {agent} --delivery-outcome outcome_progress"
                    ),
                    json!({"agent_id": agent, "delivery_outcome": "outcome_progress"}),
                    &effect,
                );
                if let End::Receipt(_) = self.call(doors, &refresh) {
                    let spend = ask(
                        "quota.spend_slot",
                        &format!("quota spend-slot --agent-id {agent} --execute"),
                        json!({"agent_id": agent, "execute": true, "slots": 1, "source": "heartbeat"}),
                        &format!("s{n}"),
                    );
                    self.call(doors, &spend);
                }
            }
            (10, Some(_)) if me == 0 => {
                self.call(doors, &ask("goal.stop", "goal stop", json!({}), &effect));
                thread::sleep(Duration::from_millis(50));
                let resume = ask("goal.resume", "goal resume", json!({}), &format!("r{n}"));
                self.call(doors, &resume);
            }
            (10..=12, Some(_)) if me == 0 => self.edit(n),
            (_, Some(_)) => self.turn(doors, &agent, n),
        }
    }

    /// Admit, and one of the ways in which a turn ends; or it is left to itself.
    fn turn(&self, doors: &mut Doors, agent: &str, n: usize) {
        let turn = format!("t{n}");
        let by = format!("--agent-id {agent} --turn-instance-id {turn}");
        let admit = ask_turn(
            "turn.admit",
            &format!("turn admit {by} --ttl-seconds 5"),
            json!({"agent_id": agent, "turn_instance_id": turn, "ttl_seconds": 5}),
            &turn,
        );
        let End::Receipt(packet) = self.call(doors, &admit) else { return };
        if packet.get("should_run") != Some(&Value::Bool(true)) {
            return;
        }
        let mut request = json!({"agent_id": agent, "turn_instance_id": turn});
        let outcome = match doors.dice.below(9) {
            0..=2 => "progress --evidence e".to_owned(),
            3 | 4 => format!("completed --evidence e --next-agent-todo n{n}"),
            5 => "no_change".into(),
            6 => "failed".into(),
            7 => {
                let words = format!("turn release {by}");
                self.call(doors, &ask("turn.release", &words, request, &format!("x{n}")));
                return;
            }
            _ => return,
        };
        let words: Vec<&str> = outcome.split(' ').collect();
        if let (Some(map), Some(outcome)) = (request.as_object_mut(), words.first()) {
            map.insert("outcome".into(), json!(outcome));
            if words.contains(&"--evidence") {
                map.insert("evidence".into(), json!(["e"]));
            }
            if words.contains(&"--next-agent-todo") {
                map.insert("next_agent_todo".into(), json!(format!("n{n}")));
            }
        }
        let words = format!("turn settle {by} --outcome {outcome}");
        self.call(doors, &ask_turn("turn.settle", &words, request, &turn));
    }

    /// A person's editor: reads the state file, adds a line, replaces it.
    fn edit(&self, n: usize) {
        let path = self.sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
        let Ok(text) = fs::read_to_string(&path) else { return };
        let heading = "## Agent Todo\n";
        assert!(text.contains(heading), "the state file has its lists: {text}");
        let edited = text.replacen(heading, &format!("{heading}\n- [ ] by hand {n}.\n"), 1);
        let draft = path.with_extension("editor");
        let saved = fs::write(&draft, edited).and_then(|()| fs::rename(&draft, &path));
        saved.expect("the editor saves");
        self.report().edits += 1;
        self.made.lock().expect("no panic").insert(n);
        thread::sleep(Duration::from_millis(20));
    }
}
