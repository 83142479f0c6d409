//! A goal on a real store with a clock of its own, and the loop of one session.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::PathBuf;
use std::time::Duration;

use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::registry::RouteInput;
use serde_json::{Value, json};

pub struct World {
    pub folder: tempfile::TempDir,
    pub now: Instant,
    pub surface: &'static str,
    pub session: &'static str,
}

impl World {
    pub fn new(surface: &'static str) -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
            now: Instant::parse("2026-11-29T12:00:00Z").unwrap(),
            surface,
            session: "s-1",
        };
        world.goal("g");
        world
    }

    pub fn goal(&self, id: &str) {
        self.call("goal.create", json!({"goal_id": id, "objective": "x", "agents": ["ada"]}));
    }

    pub fn kernel(&self) -> Kernel {
        self.kernel_waiting(Duration::from_secs(30))
    }

    /// Waits no longer than that for what others hold.
    pub fn kernel_waiting(&self, deadline: Duration) -> Kernel {
        let project = self.folder.path().join("p");
        std::fs::create_dir_all(project.join(".loopx")).unwrap();
        let route = RouteInput {
            flag: Some(project.join(".loopx/registry.json")),
            cwd: project,
            home: Some(self.folder.path().join("home")),
            ..RouteInput::default()
        };
        let clock = Clock::Fixed(self.now);
        Kernel::open(KernelOptions { clock, deadline, ..KernelOptions::new(route) }).unwrap()
    }

    /// The file of a goal's store.
    pub fn store(&self, goal: &str) -> PathBuf {
        let shown = self.call("goal.show", json!({"goal_id": goal}));
        let uid = shown["goal_uid"].as_str().unwrap_or_else(|| panic!("{shown}"));
        let goals = self.folder.path().join("p/.loopx/goals");
        goals.join(uid).join("goal.db")
    }

    pub fn call(&self, operation: &str, request: Value) -> Value {
        self.kernel().call(operation, &request).unwrap()
    }

    pub fn todo(&self, text: &str) -> String {
        let request = json!({"goal_id": "g", "role": "agent", "text": text});
        self.call("todo.add", request)["todo_id"].as_str().unwrap().to_owned()
    }

    pub fn gate(&self) -> String {
        let request = json!({"goal_id": "g", "question": "May we?", "blocks_agent": "ada"});
        self.call("gate.open", request)["todo_id"].as_str().unwrap().to_owned()
    }

    pub fn step(&self, event: Value) -> Value {
        self.step_with(event, json!({}))
    }

    pub fn step_with(&self, event: Value, more: Value) -> Value {
        let event = match event {
            Value::String(kind) => json!({"kind": kind}),
            other => other,
        };
        let mut request = json!({
            "goal_id": "g", "surface": self.surface, "session": self.session, "event": event,
        });
        let map = request.as_object_mut().unwrap();
        map.extend(more.as_object().unwrap().clone());
        self.call("loop.step", request)
    }

    pub fn later(&mut self, minutes: i64) {
        self.now = self.now.plus_minutes(minutes);
    }

    pub fn stored(&self) -> Value {
        let shown =
            self.call("loop.show", json!({"surface": self.surface, "session": self.session}));
        shown["loops"][0].clone()
    }

    /// Activates and settles, which asks for the first decision.
    pub fn start(&self) -> Value {
        self.step(json!("activated"));
        self.step(json!("settled"))
    }

    pub fn settle(&self, turn: &str, outcome: &str) {
        self.call(
            "turn.settle",
            json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": turn,
                   "outcome": outcome, "evidence": ["tests pass"], "no_follow_up": outcome == "completed"}),
        );
    }

    pub fn turn_state(&self, turn: &str) -> Value {
        self.call("turn.show", json!({"goal_id": "g", "turn_instance_id": turn}))["turn"]["state"]
            .clone()
    }

    pub fn admissions(&self) -> usize {
        let history = self.call("history", json!({"goal_id": "g", "limit": 500}));
        history["commits"].as_array().unwrap().iter().filter(|c| c["verb"] == "turn.admit").count()
    }
}

pub fn kind(answer: &Value) -> &str {
    answer["action"]["kind"].as_str().unwrap()
}

pub fn turn(answer: &Value) -> String {
    answer["action"]["turn_id"].as_str().unwrap().to_owned()
}

pub fn minutes(world: &World, answer: &Value) -> i64 {
    let until = Instant::parse(answer["action"]["until"].as_str().unwrap()).unwrap();
    (until.micros() - world.now.micros()) / 60_000_000
}

impl World {
    pub fn gate_two(&self) {
        self.call(
            "gate.open",
            json!({"goal_id": "g", "question": "And this?", "blocks_agent": "ada"}),
        );
    }
}

/// The prompt has come into the session.
pub fn echo(world: &World, answer: &Value) -> Value {
    world.step(json!({"kind": "user_prompt", "prompt": answer["action"]["text"]}))
}
