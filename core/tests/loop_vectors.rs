//! What hosts make of packets, as it was recorded and as the seeds correct it: every host
//! comes to the plan of the bounded wait, and no real wait ends a loop.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "host_loop/world.rs"]
mod world;

use loopx_core::host_loop::surface::SURFACES;
use loopx_core::host_loop::{Plan, Reading, Surface};
use serde_json::{Value, json};
use world::{World, kind, minutes};

fn rows(kinds: &[&str]) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/scheduler.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| kinds.iter().any(|k| row["kind"] == *k))
        .collect()
}

/// A goal in the state that a recorded packet was made in.
fn world_of(packet: &str) -> World {
    let world = World::new("pi");
    match packet {
        "work_ready" => drop(world.todo("one")),
        "waiting_user" => {
            world.todo("one");
            world.gate();
        }
        "monitor_wait" => {
            let request = json!({
                "goal_id": "g", "role": "agent", "text": "watch", "task_class": "continuous_monitor",
                "cadence": "12h",
            });
            world.call("todo.add", request);
        }
        "terminal" => {
            let todo = world.todo("one");
            world.call(
                "todo.complete",
                json!({"goal_id": "g", "agent_id": "ada", "todo_id": todo, "no_follow_up": true}),
            );
        }
        other => panic!("no world for {other}"),
    }
    world
}

fn packet(world: &World) -> Value {
    world.call(
        "quota.should_run",
        json!({"goal_id": "g", "agent_id": "ada", "include_detail": ["scheduler"]}),
    )
}

#[test]
fn every_host_comes_to_the_plan_of_the_bounded_wait() {
    let world = world_of("waiting_user");
    let packet = packet(&world);
    let mut replayed = 0;
    for row in rows(&["seed_expected"])
        .iter()
        .filter(|r| r["contract"].as_str().is_some_and(|c| c.starts_with("bounded_wait_parity(")))
    {
        let detail = &packet["scheduler_hint"]["cold_path_detail"]["local_scheduler"];
        assert_eq!(detail["example_progression_minutes"], row["progression"]);
        assert_eq!(detail["unchanged_poll_limit"], row["limit"]);
        let before = u32::try_from(row["prior_unchanged"].as_u64().unwrap()).unwrap();
        for surface in SURFACES {
            let reading = Reading::of(&packet, surface, world.now).unwrap();
            let token = reading.identity.reset_token.clone();
            let token = row["same_token"].as_bool().unwrap().then_some(token.as_str());
            match reading.plan(token, before) {
                Plan::Wait { minutes, unchanged } => {
                    assert_eq!(row["result"]["minutes"], minutes, "{}", surface.name);
                    assert_eq!(row["result"]["stored_unchanged"], unchanged, "{}", surface.name);
                }
                Plan::Limit { recheck, .. } => {
                    assert_eq!(row["result"]["final_recheck"], recheck, "{}", surface.name);
                }
                other => panic!("{} plans {other:?} for {row}", surface.name),
            }
        }
        replayed += 1;
    }
    assert_eq!(replayed, 3);
}

/// Three looks at a gate: the next step is the recheck.
fn at_the_recheck() -> (World, String) {
    let mut world = World::new("pi");
    world.todo("one");
    let gate = world.gate();
    world.start();
    for minutes in [30, 60] {
        world.later(minutes);
        world.step(json!("timer"));
    }
    (world, gate)
}

#[test]
fn the_recheck_leads_where_the_seeds_say() {
    let mut replayed = 0;
    for row in rows(&["seed_expected"]).iter().filter(|r| r["contract"] == "bounded_wait_parity") {
        let (world, gate) = at_the_recheck();
        let spends = |world: &World| {
            world.call("quota.status", json!({"goal_id": "g"}))["goals"][0]["spent_slots"].clone()
        };
        let before = spends(&world);
        let result = &row["result"];
        match row["final_recheck_result"].as_str().unwrap() {
            "same 6-tuple" => {
                let answer = world.step(json!("timer"));
                assert_eq!((kind(&answer), &result["stop"]), ("pause", &json!(true)), "{answer}");
            }
            "changed to run_now" => {
                world.call(
                    "gate.decide",
                    json!({"goal_id": "g", "todo_id": gate, "outcome": "approve"}),
                );
                let answer = world.step(json!("timer"));
                assert_eq!((kind(&answer), &result["wake_or_send"]), ("prompt", &json!(true)));
            }
            "changed token, still waiting" => {
                world.gate_two();
                let answer = world.step(json!("timer"));
                assert_eq!((kind(&answer), minutes(&world, &answer)), ("wait", 30), "{answer}");
                assert_eq!(world.stored()["unchanged"], result["stored_unchanged"]);
            }
            "probe failed" => {
                let answer = world.step(json!("probe_failed"));
                assert_eq!((kind(&answer), minutes(&world, &answer)), ("wait", 3));
            }
            other => panic!("{other}"),
        }
        assert_eq!(spends(&world), before, "nothing of it spends");
        replayed += 1;
    }
    assert_eq!(replayed, 4);
}

/// The rows record loops that a real wait ended, and name the defect; ours do not end.
#[test]
fn no_real_packet_ends_a_loop_but_the_terminal_one() {
    let mut replayed = 0;
    for row in rows(&["pi_runtime", "opencode_runtime", "opencode2_runtime"]) {
        let name = row["packet"].as_str().unwrap();
        let surface = match row["kind"].as_str().unwrap() {
            "pi_runtime" => "pi",
            "opencode_runtime" => "opencode",
            _ => "opencode2",
        };
        let mut world = world_of(name);
        world.surface = surface;
        let answer = world.start();
        let expected = match name {
            "work_ready" => "prompt",
            "terminal" => "stop",
            _ => "wait",
        };
        assert_eq!(kind(&answer), expected, "{surface} {name}: {answer}");
        if row["defect"] == false {
            let sent = usize::from(kind(&answer) == "prompt");
            assert_eq!(row["checkout_result"]["sent"], sent, "{name}");
        }
        replayed += 1;
    }
    assert_eq!(replayed, 6);
}

#[test]
fn a_local_tick_gets_the_producers_intervals() {
    for row in rows(&["local_tick"]) {
        let surface = Surface::find("shell").unwrap();
        let mut seconds = Vec::new();
        for name in row["packets"].as_array().unwrap() {
            let world = world_of(name.as_str().unwrap());
            let reading = Reading::of(&packet(&world), surface, world.now).unwrap();
            seconds.push(json!(reading.step_minutes(0) * 60));
        }
        assert_eq!(row["expected_interval_seconds"], json!(seconds));
    }
}
