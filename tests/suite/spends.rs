//! One slot for one delivery, exactly once: repeats, races, windows and clocks.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::{Output, Sandbox, at_once, earlier};
use serde_json::{Value, json};
use std::fs;

const NOW: &str = "2026-11-29T21:00:00+00:00";

/// A goal with two agents, three slots a day and one todo of each agent.
struct World {
    sandbox: Sandbox,
    todo: String,
}

impl World {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let now = sandbox.at(NOW);
        now.json(
            "goal create --goal-id g --objective o --agent-id agent-a,agent-b --allowed-slots 3"
                .split(' '),
        );
        let add = |text: &str, agent: &str| {
            let words = "todo add --goal-id g --role agent --claimed-by".split(' ');
            let added = now.json(words.chain([agent, "--text", text]));
            added["todo_id"].as_str().unwrap().to_owned()
        };
        let todo = add("[P1] one", "agent-a");
        add("[P1] two", "agent-b");
        Self { sandbox, todo }
    }

    #[track_caller]
    fn json(&self, words: &str) -> Value {
        self.sandbox.at(NOW).json(words.split_whitespace())
    }

    #[track_caller]
    fn refusal(&self, words: &str) -> String {
        let refused = self.sandbox.at(NOW).refusal(words.split_whitespace());
        for field in ["error", "about", "next_command"] {
            assert!(refused[field].as_str().is_some_and(|text| !text.is_empty()), "{refused:#}");
        }
        refused["error_code"].as_str().unwrap().to_owned()
    }

    /// `agent-a` delivers.
    fn deliver(&self) -> Value {
        self.json(&format!("{REFRESH} --todo-id {}", self.todo))
    }

    fn spent_at(&self, now: &str) -> Value {
        let status = self.sandbox.at(now).json("quota status --goal-id g".split(' '));
        status["goals"][0]["spent_slots"].clone()
    }

    fn spent(&self) -> Value {
        self.spent_at(NOW)
    }

    fn commits(&self) -> Value {
        self.json("goal show --goal-id g")["commit"].clone()
    }

    /// The same command many times at one moment.
    fn at_once(&self, times: usize, words: impl Fn(usize) -> String) -> Vec<Output> {
        let call = self.sandbox.at(NOW);
        at_once((0..times).map(|n| call.command(words(n).split_whitespace())).collect())
    }
}

const REFRESH: &str =
    "refresh-state --goal-id g --agent-id agent-a --delivery-outcome outcome_progress";
const SPEND: &str = "quota spend-slot --goal-id g --agent-id agent-a --execute";
const ASK: &str = "quota should-run --goal-id g --agent-id agent-a";

/// What makes two receipts the same one: everything but the remark that it is a repeat.
fn receipt(output: &Output) -> Value {
    assert_eq!(output.code, 0, "{output}");
    let mut value = output.json();
    value.as_object_mut().unwrap().remove("idempotent_replay");
    value
}

fn error_code(output: &Output) -> String {
    assert_eq!(output.code, 1, "{output}");
    output.json()["error_code"].as_str().unwrap().to_owned()
}

#[test]
fn sixteen_identical_spends_with_one_effect_id_debit_once() {
    let world = World::new();
    world.deliver();
    let outputs = world.at_once(16, |_| format!("{SPEND} --effect-id e-1"));
    let first = receipt(&outputs[0]);
    for output in &outputs {
        assert_eq!(receipt(output), first);
    }
    let replays = outputs.iter().filter(|o| o.json()["idempotent_replay"] == true).count();
    assert_eq!(replays, 15);
    assert_eq!(world.spent(), 1);
    // And much later, from another process, still the same receipt.
    let later = world.sandbox.at("2026-12-29T21:00:00Z");
    let later = later.run(format!("{SPEND} --effect-id e-1").split(' '));
    assert_eq!(receipt(&later), first);
}

#[test]
fn an_effect_id_with_another_body_is_a_conflict() {
    let world = World::new();
    world.deliver();
    world.json(&format!("{SPEND} --effect-id e-1"));
    for other in [
        format!("{SPEND} --effect-id e-1 --slots 2"),
        format!("{SPEND} --effect-id e-1 --source adapter"),
        "quota spend-slot --goal-id g --agent-id agent-b --execute --effect-id e-1".into(),
        format!("{REFRESH} --effect-id e-1"),
        "todo add --goal-id g --role agent --text x --effect-id e-1".into(),
        "goal stop --goal-id g --effect-id e-1".into(),
    ] {
        assert_eq!(world.refusal(&other), "effect_conflict", "{other}");
    }
    assert_eq!(world.spent(), 1);
    assert_eq!(world.json(ASK)["rule"], "run", "the refused stop stopped nothing");
}

#[test]
fn parallel_spends_of_one_outcome_debit_it_once() {
    let world = World::new();
    world.deliver();
    let outputs = world.at_once(16, |_| SPEND.to_owned());
    let (won, lost): (Vec<_>, Vec<_>) = outputs.iter().partition(|output| output.code == 0);
    assert_eq!(won.len(), 1);
    for output in lost {
        assert_eq!(error_code(output), "outcome_already_spent");
    }
    assert_eq!(world.spent(), 1);
}

#[test]
fn parallel_deliveries_and_spends_never_overfill_the_window() {
    let world = World::new();
    let outputs = world.at_once(24, |n| match n % 2 {
        0 => format!("{REFRESH} --todo-id {}", world.todo),
        _ => SPEND.to_owned(),
    });
    let spent = outputs.iter().skip(1).step_by(2).filter(|output| output.code == 0).count();
    assert!(spent <= 3, "{spent} spends in a window of three");
    assert_eq!(world.spent(), spent);
    for output in outputs.iter().filter(|output| output.code != 0) {
        let code = error_code(output);
        assert!(
            ["outcome_already_spent", "writeback_missing", "window_full"].contains(&code.as_str()),
            "{code}"
        );
    }
}

#[test]
fn slots_are_at_least_one_and_fit() {
    let world = World::new();
    world.deliver();
    for (slots, code) in [
        ("50", "window_full"),
        ("4", "window_full"),
        ("0", "slots_invalid"),
        ("-1", "slots_invalid"),
    ] {
        assert_eq!(world.refusal(&format!("{SPEND} --slots {slots}")), code, "{slots}");
    }
    for slots in ["99999999999999999999", "1.5", "one", ""] {
        let words: Vec<_> = SPEND.split(' ').chain(["--slots", slots]).collect();
        let output = world.sandbox.at(NOW).run(words);
        assert_eq!(output.code, 2, "{slots}: {output}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{output}");
    }
    let largest = i64::MAX.to_string();
    assert_eq!(world.refusal(&format!("{SPEND} --slots {largest}")), "window_full");
    assert_eq!(world.spent(), 0);
    world.json(&format!("{SPEND} --slots 3"));
    assert_eq!(world.spent(), 3);
}

#[test]
fn nothing_is_spent_without_a_delivery() {
    let world = World::new();
    assert_eq!(world.refusal(SPEND), "writeback_missing");
    for outcome in ["surface_only", "no_change", "failed", "neutral"] {
        world.json(&format!(
            "refresh-state --goal-id g --agent-id agent-a --delivery-outcome {outcome}"
        ));
        assert_eq!(world.refusal(SPEND), "writeback_missing", "{outcome}");
    }
    // What another agent delivered, or on another todo, is not this spend's.
    world.json("refresh-state --goal-id g --agent-id agent-b --delivery-outcome outcome_progress");
    assert_eq!(world.refusal(SPEND), "writeback_missing");
    world.json(REFRESH);
    assert_eq!(world.refusal(&format!("{SPEND} --todo-id {}", world.todo)), "writeback_missing");
    assert_eq!(world.spent(), 0);
}

#[test]
fn a_preview_spends_nothing() {
    let world = World::new();
    world.deliver();
    let before = (world.commits(), world.spent());
    let shown = world.json("quota spend-slot --goal-id g --agent-id agent-a");
    assert_eq!((&shown["dry_run"], &shown["appended"]), (&json!(true), &json!(false)));
    assert_eq!(shown["after"]["spent_slots"], 1);
    assert_eq!((world.commits(), world.spent()), before);
}

/// Fills the window of three at [`NOW`].
fn throttled() -> World {
    let world = World::new();
    for _ in 0..3 {
        world.deliver();
        world.json(SPEND);
    }
    world
}

#[test]
fn a_full_window_throttles_until_the_first_spend_leaves_it() {
    let world = throttled();
    let asked = world.json(ASK);
    assert_eq!((&asked["rule"], &asked["should_run"]), (&json!("throttled"), &json!(false)));
    let free = asked["next_eligible_at"].as_str().unwrap().to_owned();
    world.deliver();
    assert_eq!(world.refusal(SPEND), "window_full");
    assert_eq!(world.spent(), 3);

    let ask = |now: &str| world.sandbox.at(now).json(ASK.split(' '))["rule"].clone();
    assert_eq!(ask("2026-11-30T21:00:00Z"), "throttled", "the end of the window counts");
    assert_eq!(ask(&free), "run", "a slot is free at the instant that the packet names");
    assert!(free.starts_with("2026-11-30T21:00:0"), "{free}");
}

#[test]
fn a_clock_that_is_set_back_frees_nothing() {
    let world = throttled();
    for earlier in ["2026-11-29T20:59:59Z", "2026-11-01T00:00:00Z", "1999-01-01T00:00:00Z"] {
        assert_eq!(world.spent_at(earlier), 3, "{earlier}");
        let asked = world.sandbox.at(earlier).json(ASK.split(' '));
        assert_eq!(asked["rule"], "throttled", "{earlier}");
        world.sandbox.at(earlier).json(REFRESH.split(' '));
        let refused = world.sandbox.at(earlier).refusal(SPEND.split(' '));
        assert_eq!(refused["error_code"], "window_full", "{earlier}");
    }
}

/// A spend dated after now counts inside the window, and the commits that were made
/// under a fixed clock are marked.
#[test]
fn a_spend_from_the_future_counts_and_is_marked() {
    let world = World::new();
    world.deliver();
    let future = world.sandbox.at("2031-01-01T00:00:00Z");
    future.json(SPEND.split(' '));
    assert_eq!(world.spent(), 1);
    let goal = world.json("goal show --goal-id g");
    let last = goal["commits"].as_array().unwrap().first().unwrap().clone();
    assert_eq!((&last["verb"], &last["fixed_clock"]), (&json!("quota.spend_slot"), &json!(true)));
}

#[test]
fn the_earlier_tools_future_spends_count_too() {
    let goal = earlier::Goal::new("g", &["agent-a"]).agent_todo(
        "todo_000000000001",
        "[P1] one",
        "task_class=advancement_task",
    );
    let mut files = earlier::files(&[goal]);
    let row = json!({"generated_at": "2027-11-29T21:00:00+00:00", "classification": "quota_slot_spent",
        "agent_id": "agent-a", "json_path": "x", "quota_event": {"slots": 7}});
    files.insert("rt/goals/g/runs/index.jsonl".into(), format!("{row}\n").into());
    let sandbox = Sandbox::with_files(&files);
    let status = sandbox.at(NOW).json(["quota", "status"]);
    assert_eq!(status["goals"][0]["spent_slots"], 7);
}

#[test]
fn a_turn_is_admitted_delivered_and_spent_once() {
    let world = World::new();
    let turn = "--turn-instance-id turn-1";
    let admitted = world.json(&format!("{ASK} {turn}"));
    assert_eq!(admitted["selected_todo"]["todo_id"], world.todo.as_str());
    world.json(&format!("{REFRESH} {turn} --todo-id {}", world.todo));
    let outputs = world.at_once(8, |_| format!("{SPEND} {turn}"));
    let first = receipt(&outputs[0]);
    assert!(outputs.iter().all(|output| receipt(output) == first));
    assert_eq!(first["turn_instance_id"], "turn-1");
    assert_eq!(world.spent(), 1);
    // A turn spends once, whatever the body says the second time.
    assert_eq!(world.refusal(&format!("{SPEND} {turn} --slots 2")), "effect_conflict");
    // Not even under an effect id of its own.
    assert_eq!(
        world.refusal(&format!("{SPEND} {turn} --effect-id other")),
        "outcome_already_spent"
    );
    assert_eq!(world.spent(), 1);
}

#[test]
fn a_delivery_in_a_turn_belongs_to_what_the_turn_was_admitted_for() {
    let world = World::new();
    let turn = "--turn-instance-id turn-1";
    world.json(&format!("{ASK} {turn}"));
    world.json(&format!("{REFRESH} {turn}"));
    let spend = world.json(&format!("{SPEND} {turn}"));
    assert_eq!(spend["todo_id"], world.todo.as_str());
}

#[test]
fn a_turn_id_is_one_agents_and_one_todos() {
    let world = World::new();
    let turn = "--turn-instance-id turn-1";
    assert_eq!(world.refusal(&format!("{SPEND} {turn}")), "turn_unknown");
    assert_eq!(world.refusal(&format!("{REFRESH} {turn}")), "turn_unknown");
    world.json(&format!("{ASK} {turn}"));
    let b = "--goal-id g --agent-id agent-b --turn-instance-id turn-1";
    for words in [
        format!("quota should-run {b}"),
        format!("quota spend-slot {b} --execute"),
        format!("refresh-state {b} --delivery-outcome outcome_progress"),
    ] {
        assert_eq!(world.refusal(&words), "turn_conflict", "{words}");
    }
    let other = world.json("todo list --goal-id g --agent-id agent-b")["todos"]
        .as_array()
        .unwrap()
        .iter()
        .find(|todo| todo["claimed_by"] == "agent-b")
        .unwrap()["todo_id"]
        .clone();
    let words = format!("{REFRESH} {turn} --todo-id {}", other.as_str().unwrap());
    assert_eq!(world.refusal(&words), "turn_conflict");
    assert_eq!(world.spent(), 0);
}

#[test]
fn sixteen_admissions_of_one_turn_are_one_and_a_replay_writes_nothing() {
    let world = World::new();
    let before = world.commits().as_u64().unwrap();
    let ask = format!("{ASK} --turn-instance-id turn-1");
    let outputs = world.at_once(16, |_| ask.clone());
    let mut statuses = Vec::new();
    let packet = |output: &Output| -> Value {
        assert_eq!(output.code, 0, "{output}");
        let mut value = output.json();
        value.as_object_mut().unwrap().remove("heartbeat_receipt");
        value
    };
    for output in &outputs {
        statuses.push(output.json()["heartbeat_receipt"]["status"].as_str().unwrap().to_owned());
        assert_eq!(packet(output), packet(&outputs[0]));
    }
    statuses.sort_unstable();
    assert_eq!(statuses[0], "committed");
    assert!(statuses[1..].iter().all(|status| status == "replayed"), "{statuses:?}");
    assert_eq!(world.commits(), before + 1);

    // Whatever has happened since, the turn's answer is the one that was given.
    world.json("goal stop --goal-id g");
    world.json("agent register --goal-id g --agent-id agent-c");
    let store = world.sandbox.store_folder("g").join("goal.db");
    let bytes = fs::read(&store).unwrap();
    for now in [NOW, "2028-01-01T00:00:00Z"] {
        let again = world.sandbox.at(now).run(ask.split(' '));
        assert_eq!(again.json()["heartbeat_receipt"]["status"], "replayed");
        assert_eq!(packet(&again), packet(&outputs[0]));
    }
    assert!(bytes == fs::read(&store).unwrap(), "a replay wrote to the store");
}

#[test]
fn a_skip_leaves_a_receipt_that_cannot_be_spent() {
    let world = throttled();
    let skipped = world.json(&format!("{ASK} --turn-instance-id turn-1"));
    assert_eq!(skipped["rule"], "throttled");
    let later = world.sandbox.at("2026-12-10T00:00:00Z");
    let again = later.json(format!("{ASK} --turn-instance-id turn-1").split(' '));
    assert_eq!(again["rule"], "throttled", "the turn's answer stands");
    let refused = later.refusal(format!("{SPEND} --turn-instance-id turn-1").split(' '));
    assert_eq!(refused["error_code"], "turn_not_live", "{refused:#}");
}

#[test]
fn nothing_is_spent_in_a_stopped_goal() {
    let world = World::new();
    world.deliver();
    world.json("goal stop --goal-id g");
    assert_eq!(world.refusal(SPEND), "goal_stopped");
    world.json("goal resume --goal-id g");
    world.json(SPEND);
    assert_eq!(world.spent(), 1);
}

#[test]
fn a_turn_that_was_told_not_to_run_spends_nothing_later() {
    let world = throttled();
    world.json(&format!("{ASK} --turn-instance-id turn-1"));
    // The window is free again, and something was delivered outside of that turn.
    let later = world.sandbox.at("2026-12-10T00:00:00Z");
    later.json(REFRESH.split(' '));
    let refused = later.run(format!("{SPEND} --turn-instance-id turn-1").split(' '));
    assert_eq!(refused.code, 1, "{refused}");
}

#[test]
fn a_turn_spends_once_also_when_more_was_delivered_since() {
    let world = World::new();
    let turn = "--turn-instance-id turn-1";
    world.json(&format!("{ASK} {turn}"));
    world.json(&format!("{REFRESH} {turn} --todo-id {}", world.todo));
    world.json(&format!("{SPEND} {turn}"));
    world.deliver();
    let again = world.sandbox.at(NOW).run(format!("{SPEND} {turn} --effect-id other").split(' '));
    assert_eq!(again.code, 1, "{again}");
    assert_eq!(world.spent(), 1);
}
