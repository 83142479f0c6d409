//! Random goals through export and import, and random projects of the earlier tool through
//! their import: nothing is another one afterwards, and every decision is as before.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::registry::RouteInput;
use loopx_tests::{Sandbox, earlier, lay_out};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;

const NOW: &str = "2026-11-29T21:00:00Z";
const AGENTS: [&str; 2] = ["agent-a", "agent-b"];

fn kernel(sandbox: &Sandbox) -> Kernel {
    let mut options = KernelOptions::new(RouteInput {
        flag: Some(sandbox.registry()),
        runtime_root_flag: Some(sandbox.runtime_root()),
        cwd: sandbox.project(),
        home: Some(sandbox.home()),
        ..RouteInput::default()
    });
    options.clock = Clock::Fixed(Instant::parse(NOW).unwrap());
    Kernel::open(options).unwrap()
}

/// What every agent is told, without what names the place.
fn decisions(kernel: &Kernel) -> Vec<Value> {
    let told = |agent: &str| {
        let ask = json!({"goal_id": "g", "agent_id": agent, "include_detail": ["agent-todos"]});
        kernel.call("quota.should_run", &ask).unwrap()
    };
    AGENTS.map(told).to_vec()
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        Just("é e\u{301} 漢字".to_owned()),
        Just("a -- b <c> & \"d\"".to_owned()),
        Just("[P0] first".to_owned()),
        Just("`x` *y* _z_ |".to_owned()),
    ]
}

/// A step of somebody who works with the goal; which todo is meant is counted round.
fn step() -> impl Strategy<Value = (u8, usize, String)> {
    (0_u8..10, 0_usize..8, word())
}

fn run(kernel: &Kernel, n: usize, (kind, which, text): &(u8, usize, String)) {
    let listed = kernel.call("todo.list", &json!({"goal_id": "g", "role": "agent"})).unwrap();
    let todos = listed["todos"].as_array().unwrap();
    let todo = (!todos.is_empty()).then(|| todos[which % todos.len()]["todo_id"].clone());
    let agent = AGENTS[which % 2];
    let turn = format!("t{n}");
    let (operation, body) = match (kind, todo) {
        (0..=3, _) | (_, None) => {
            ("todo.add", json!({"role": "agent", "text": format!("{text} {n}")}))
        }
        (4, Some(id)) => ("todo.claim", json!({"todo_id": id, "claimed_by": agent})),
        (5, Some(id)) => (
            "todo.complete",
            json!({"todo_id": id, "agent_id": agent, "next_agent_todo": format!("then {text}")}),
        ),
        (6, _) => (
            "refresh_state",
            json!({"agent_id": agent, "delivery_outcome": "outcome_progress", "evidence": [text]}),
        ),
        (7, _) => (
            "quota.spend_slot",
            json!({"agent_id": agent, "execute": true, "slots": 1, "source": "heartbeat"}),
        ),
        (8, _) => ("gate.open", json!({"question": format!("{text}?")})),
        (_, Some(_)) => ("turn.admit", json!({"agent_id": agent, "turn_instance_id": turn})),
    };
    let mut body = body;
    body["goal_id"] = json!("g");
    // A refusal is a step too.
    let said = kernel.call(operation, &body);
    if operation == "turn.admit" && said.is_ok_and(|s| s["should_run"] == true) && which % 3 > 0 {
        let outcome = if which % 3 == 1 { "progress" } else { "failed" };
        let settle = json!({"goal_id": "g", "agent_id": agent, "turn_instance_id": turn, "outcome": outcome, "evidence": [text]});
        let _ = kernel.call("turn.settle", &settle);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_goal_comes_through_export_and_import_as_it_was(steps in prop::collection::vec(step(), 1..14)) {
        let from = Sandbox::in_memory();
        let made = json!({"goal_id": "g", "objective": "o", "agents": AGENTS, "allowed_slots": 5});
        let first = kernel(&from);
        first.call("goal.create", &made).unwrap();
        for (n, step) in steps.iter().enumerate() {
            run(&first, n, step);
        }
        let export = |kernel: &Kernel| {
            let answer = kernel.call("export", &json!({"goal_id": "g"})).unwrap();
            answer["text"].as_str().unwrap().to_owned()
        };
        let text = export(&first);
        let to = Sandbox::in_memory();
        let file = to.base().join("goal.json");
        fs::write(&file, &text).unwrap();
        let second = kernel(&to);
        second.call("import", &json!({"file": file})).unwrap();
        prop_assert_eq!(export(&second), text);
        prop_assert_eq!(decisions(&second), decisions(&first));
        // And it goes on: the same step leads to the same records.
        let last = (0, 0, "afterwards".to_owned());
        run(&first, 99, &last);
        run(&second, 99, &last);
        prop_assert_eq!(decisions(&second), decisions(&first));
    }

    #[test]
    fn an_earlier_project_decides_alike_before_and_after_its_import(
        todos in prop::collection::vec((word(), 0_u8..9, 0_usize..4), 1..7),
    ) {
        let mut goal = earlier::Goal::new("g", &AGENTS);
        for (n, (text, kind, which)) in todos.iter().enumerate() {
            // Ids that come twice too.
            let id = format!("todo_{:012x}", n.saturating_sub(usize::from(*which == 3)));
            let claim = if *which == 1 { " claimed_by=agent-a" } else { "" };
            let text = format!("[P{which}] {text}");
            goal = match kind {
                0 => goal.user_todo(&id, &text, "task_class=user_gate global_gate=true"),
                1 => goal.user_todo(&id, &text, "task_class=user_action"),
                2 => goal.agent_todo(&id, &text, "task_class=continuous_monitor cadence=30m"),
                3 => goal.agent_todo(&id, &text, "task_class=advancement_task required_write_scopes=docs/**"),
                4 => goal.agent_todo(&id, &text, ""),
                _ => goal.agent_todo(&id, &text, &format!("task_class=advancement_task{claim}")),
            };
        }
        let sandbox = Sandbox::in_memory();
        lay_out(&sandbox.project(), &earlier::files(&[goal]));
        let kernel = kernel(&sandbox);
        let before = decisions(&kernel);
        let listed = |kernel: &Kernel| {
            let listed = kernel.call("todo.list", &json!({"goal_id": "g"})).unwrap();
            let todos = listed["todos"].as_array().unwrap().clone();
            todos.iter().map(|t| (t["text"].clone(), t["status"].clone(), t["claimed_by"].clone())).collect::<Vec<_>>()
        };
        let todos = listed(&kernel);
        // Imports and changes nothing else.
        kernel.call("goal.adopt_legacy", &json!({"goal_id": "g"})).unwrap();
        prop_assert_eq!(listed(&kernel), todos);
        let told = |packet: &Value| {
            ["rule", "decision", "should_run", "selected_todo", "effective_action", "quota"].map(|key| packet[key].clone())
        };
        let after = decisions(&kernel);
        for (before, after) in before.iter().zip(&after) {
            prop_assert_eq!(told(before), told(after));
        }
        // A second look imports nothing more.
        let again = kernel.call("goal.adopt_legacy", &json!({"goal_id": "g"})).unwrap();
        prop_assert_eq!(&again["changed"], &json!(false));
        prop_assert_eq!(decisions(&kernel), after);
    }
}
