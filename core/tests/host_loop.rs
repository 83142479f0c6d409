//! The loop of a host on a real store, with a clock of its own: what each event does, what
//! survives a restart, and what never happens twice. The names follow the behaviours that
//! hosts rely on (reference scheduler.md 9, 11.2).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "host_loop/world.rs"]
mod world;

use loopx_core::command::loops::LoopStepRequest;
use loopx_core::host_loop::LoopEvent;
use loopx_core::kernel::LoopSession;
use serde_json::{Value, json};
use world::{World, echo, kind, minutes, turn};

#[test]
fn a_run_injects_one_prompt_with_an_admitted_turn() {
    let world = World::new("pi");
    let todo = world.todo("write it");
    let run = world.start();
    assert_eq!((kind(&run), &run["action"]["todo_id"]), ("prompt", &json!(todo)));
    assert_eq!(world.turn_state(&turn(&run)), "live");
    let text = run["action"]["text"].as_str().unwrap();
    assert!(text.ends_with(&format!("LOOPX_TURN={}", turn(&run))), "{text}");
    assert!(text.contains("write it") && text.contains("loopx turn settle"), "{text}");
    // Idleness that was on its way already, and a duplicate of it.
    assert_eq!(kind(&world.step(json!("settled"))), "wait");
    assert_eq!(kind(&world.step(json!("settled"))), "wait");
    assert_eq!(world.admissions(), 1);
}

#[test]
fn a_delivered_and_settled_turn_leads_to_the_next_todo_and_the_end_stops_the_loop() {
    let world = World::new("pi");
    world.todo("one");
    world.todo("two");
    let mut run = world.start();
    for _ in 0..2 {
        assert_eq!(kind(&run), "prompt", "{run}");
        assert_eq!(kind(&echo(&world, &run)), "wait");
        world.settle(&turn(&run), "completed");
        run = world.step(json!("settled"));
    }
    assert_eq!((kind(&run), &run["action"]["reason"]), ("stop", &json!("terminal")), "{run}");
    assert!(run["notice"]["text"].as_str().unwrap().contains("done"));
    assert_eq!(world.admissions(), 2);
    for event in ["settled", "timer", "changed", "session_replaced"] {
        assert_eq!(kind(&world.step(json!(event))), "idle", "{event}");
    }
    // Something new, and a person who says so.
    world.todo("three");
    assert_eq!(kind(&world.step(json!("resumed"))), "prompt");
}

#[test]
fn a_turn_that_its_agent_left_unsettled_ends_with_the_session_turn() {
    let world = World::new("pi");
    world.todo("one");
    let mut turns = Vec::new();
    let mut answer = world.start();
    while kind(&answer) == "prompt" {
        turns.push(turn(&answer));
        assert!(turns.len() < 10, "an agent that does nothing is not prompted for ever");
        echo(&world, &answer);
        answer = world.step(json!("settled"));
        assert_eq!(world.turn_state(turns.last().unwrap()), "released");
    }
    // Three in a row stall the todo; the person is told once.
    assert_eq!(turns.len(), 3);
    assert_eq!(
        (kind(&answer), &answer["decision"]["rule"]),
        ("wait", &json!("stalled")),
        "{answer}"
    );
    assert!(answer["notice"].is_object(), "{answer}");
}

#[test]
fn a_wait_climbs_its_ladder_and_an_unchanged_limit_leads_to_exactly_one_recheck() {
    let mut world = World::new("pi");
    world.todo("one");
    world.gate();
    let mut answer = world.start();
    assert_eq!((kind(&answer), minutes(&world, &answer)), ("wait", 30));
    assert!(answer["notice"]["text"].as_str().unwrap().contains("May we?"), "{answer}");
    world.later(10);
    assert_eq!(kind(&world.step(json!("timer"))), "wait", "too early changes nothing");
    assert_eq!(world.stored()["unchanged"], 1);
    world.later(20);
    answer = world.step(json!("timer"));
    assert_eq!((kind(&answer), minutes(&world, &answer)), ("wait", 60));
    assert!(answer.get("notice").is_none(), "one notice for one question: {answer}");
    world.later(60);
    answer = world.step(json!("timer"));
    assert_eq!(kind(&answer), "recheck", "{answer}");
    answer = world.step(json!("timer"));
    assert_eq!((kind(&answer), &answer["action"]["reason"]), ("pause", &json!("unchanged_limit")));
    assert_eq!(answer["action"]["directive"], "stop_tick_loop");
    world.later(600);
    for event in ["timer", "settled", "session_replaced"] {
        assert_eq!(kind(&world.step(json!(event))), "idle", "{event}");
    }
    assert_eq!(world.admissions(), 0);
}

/// A clock that ran ahead, or is set back, makes no wait longer than it was meant to be.
#[test]
fn a_wait_outlives_a_clock_that_is_set_back_by_no_more_than_its_step() {
    let mut world = World::new("pi");
    world.todo("one");
    world.gate();
    world.later(365 * 24 * 60);
    let answer = world.start();
    assert_eq!(minutes(&world, &answer), 30);
    world.later(10);
    assert_eq!(minutes(&world, &world.step(json!("timer"))), 20);
    world.later(-365 * 24 * 60);
    for event in ["timer", "session_replaced", "timer"] {
        let answer = world.step(json!(event));
        assert_eq!((kind(&answer), minutes(&world, &answer)), ("wait", 30), "{event}: {answer}");
    }
    assert_eq!(world.stored()["unchanged"], 1);
    world.later(30);
    assert_eq!(minutes(&world, &world.step(json!("timer"))), 60);
}

#[test]
fn a_recheck_that_finds_a_run_follows_it() {
    let mut world = World::new("pi");
    world.todo("one");
    let gate = world.gate();
    world.start();
    for minutes in [30, 60] {
        world.later(minutes);
        world.step(json!("timer"));
    }
    world.call("gate.decide", json!({"goal_id": "g", "todo_id": gate, "outcome": "approve"}));
    assert_eq!(kind(&world.step(json!("timer"))), "prompt");
    assert_eq!(world.stored()["unchanged"], 0);
}

#[test]
fn a_decided_gate_wakes_a_waiting_loop_at_once() {
    let world = World::new("opencode");
    world.todo("one");
    let gate = world.gate();
    assert_eq!(kind(&world.start()), "wait");
    assert_eq!(kind(&world.step(json!("changed"))), "wait");
    world.call("gate.decide", json!({"goal_id": "g", "todo_id": gate, "outcome": "approve"}));
    assert_eq!(kind(&world.step(json!("changed"))), "prompt");
}

#[test]
fn a_new_token_begins_the_ladder_anew() {
    let mut world = World::new("pi");
    world.todo("one");
    world.gate();
    world.start();
    world.later(30);
    world.step(json!("timer"));
    world.gate_two();
    world.later(60);
    let answer = world.step(json!("timer"));
    assert_eq!((kind(&answer), minutes(&world, &answer)), ("wait", 30), "{answer}");
    assert_eq!(world.stored()["unchanged"], 1);
}

#[test]
fn codex_ends_a_blocked_stretch_with_its_native_goal_and_comes_back_on_resume() {
    let mut world = World::new("codex-cli");
    world.todo("one");
    let gate = world.gate();
    world.start();
    for minutes in [30, 60] {
        world.later(minutes);
        world.step(json!("timer"));
    }
    let answer = world.step(json!("timer"));
    assert_eq!(answer["action"]["directive"], "update_goal_blocked_keep_loopx_active", "{answer}");
    world.call("gate.decide", json!({"goal_id": "g", "todo_id": gate, "outcome": "approve"}));
    assert_eq!(kind(&world.step(json!("timer"))), "idle", "only /goal resume brings it back");
    assert_eq!(kind(&world.step(json!("resumed"))), "prompt");
}

#[test]
fn an_abort_and_a_user_prompt_pause_durably_and_a_restart_stays_paused() {
    for (event, reason) in [
        (json!("aborted"), "aborted"),
        (json!("paused"), "user_paused"),
        (json!({"kind": "user_prompt", "prompt": "do something else"}), "user_prompt"),
    ] {
        let world = World::new("pi");
        world.todo("one");
        let run = world.start();
        echo(&world, &run);
        let answer = world.step(event.clone());
        assert_eq!((kind(&answer), &answer["action"]["reason"]), ("pause", &json!(reason)));
        for event in ["settled", "timer", "changed", "session_replaced", "settled"] {
            assert_eq!(kind(&world.step(json!(event))), "idle", "{event} after {reason}");
        }
        assert_eq!(world.stored()["state"], "paused");
        assert_ne!(world.turn_state(&turn(&run)), "live", "{reason}");
        assert_eq!(world.admissions(), 1);
        assert_eq!(kind(&world.step(json!("resumed"))), "prompt");
    }
}

#[test]
fn a_user_prompt_before_ours_arrived_pauses_and_gives_the_turn_back() {
    let world = World::new("pi");
    world.todo("one");
    let run = world.start();
    assert_eq!(kind(&world.step(json!({"kind": "user_prompt", "prompt": "wait"}))), "pause");
    assert_eq!(world.turn_state(&turn(&run)), "released");
    // Text that merely mentions the turn is not the prompt.
    let run = world.step(json!("resumed"));
    let quoted = format!("what is LOOPX_TURN={} about?\nplease stop", turn(&run));
    assert_eq!(kind(&world.step(json!({"kind": "user_prompt", "prompt": quoted}))), "pause");
}

#[test]
fn an_earlier_prompt_of_the_loop_that_comes_back_late_is_nobodys_message() {
    for surface in ["pi", "opencode"] {
        let world = World::new(surface);
        world.todo("one");
        let first = world.start();
        // The loop begins anew, and the prompt was on its way.
        world.step(json!("activated"));
        assert_eq!(world.turn_state(&turn(&first)), "released");
        assert_eq!(kind(&echo(&world, &first)), "idle", "{surface}");
        assert_eq!(
            (&world.stored()["state"], kind(&world.step(json!("settled")))),
            (&json!("armed"), "prompt")
        );
        // Nor is it the prompt that is out now.
        assert_eq!(kind(&echo(&world, &first)), "wait");
        assert_eq!(world.stored()["pending"]["delivered"], Value::Null);
        let end = world.step(json!({"kind": "user_prompt", "prompt": "LOOPX_TURN=loop-another"}));
        assert_eq!(kind(&end), if surface == "pi" { "pause" } else { "wait" });
    }
}

#[test]
fn a_look_of_another_runtime_after_the_settlement_does_not_stop_the_one_that_has_the_session() {
    for look in ["changed", "timer"] {
        let world = World::new("opencode");
        world.todo("one");
        let run = world.start();
        let seen = echo(&world, &run)["loop"]["generation"].clone();
        world.settle(&turn(&run), "completed");
        // The session's turn is not over yet, and another window looks.
        world.step(json!(look));
        let end = world.step_with(json!("settled"), json!({"generation": seen}));
        assert_eq!((kind(&end), &end["stale"]), ("stop", &Value::Null), "{look}: {end}");
    }
}

#[test]
fn on_opencode_a_user_message_takes_the_turn_and_the_loop_goes_on() {
    let world = World::new("opencode");
    world.todo("one");
    world.gate();
    world.start();
    let taken = world.step(json!({"kind": "user_prompt", "prompt": "what is up?"}));
    assert_eq!(kind(&taken), "idle", "the timer is off: {taken}");
    assert_eq!(kind(&world.step(json!("timer"))), "idle");
    let settled = world.step(json!("settled"));
    assert_eq!((kind(&settled), minutes(&world, &settled)), ("wait", 30));
}

#[test]
fn a_restart_rebuilds_the_wait_and_repeats_no_prompt() {
    let mut world = World::new("pi");
    let todo = world.todo("one");
    // Stored and never seen in the session: the same prompt with the same turn.
    let run = world.start();
    let again = world.step(json!("session_replaced"));
    assert_eq!(again["action"], run["action"], "word for word");
    assert_eq!(world.admissions(), 1);
    // Under way when the host went: that turn is over, another one is admitted.
    echo(&world, &again);
    let after = world.step(json!("session_replaced"));
    assert_eq!((kind(&after), &after["action"]["todo_id"]), ("prompt", &json!(todo)));
    assert_ne!(turn(&after), turn(&run));
    assert_eq!(world.turn_state(&turn(&run)), "released");
    // Waiting.
    world.step(json!("aborted"));
    world.gate();
    world.step(json!("resumed"));
    world.later(10);
    let waiting = world.step(json!("session_replaced"));
    assert_eq!((kind(&waiting), minutes(&world, &waiting)), ("wait", 20));
    world.later(25);
    let due = world.step(json!("session_replaced"));
    assert_eq!((kind(&due), minutes(&world, &due)), ("wait", 60), "it came due meanwhile");
}

#[test]
fn two_runtimes_on_one_session_continue_once() {
    let world = World::new("opencode");
    world.todo("one");
    world.step(json!("activated"));
    let seen = world.stored()["generation"].clone();
    let with = json!({"generation": seen});
    let first = world.step_with(json!("settled"), with.clone());
    let second = world.step_with(json!("settled"), with);
    assert_eq!((kind(&first), kind(&second)), ("prompt", "wait"));
    assert_eq!(second["stale"], true);
    assert_eq!(world.admissions(), 1);
}

/// A process of this machine that lives until it is told to go.
fn process() -> std::process::Child {
    std::process::Command::new("sleep").arg("600").spawn().unwrap()
}

#[test]
fn a_second_runtime_joins_a_session_whose_first_one_lives_and_takes_it_over_when_it_died() {
    let world = World::new("opencode");
    world.todo("one");
    world.todo("two");
    let mut first = process();
    let mine = json!({"holder_pid": first.id()});
    world.step_with(json!("activated"), mine.clone());
    let run = world.step_with(json!("settled"), mine.clone());
    echo(&world, &run);
    let theirs = json!({"holder_pid": std::process::id()});
    for event in ["session_replaced", "timer", "changed", "compacted"] {
        let joined = world.step_with(json!(event), theirs.clone());
        assert_eq!(kind(&joined), "wait", "{event}: {joined}");
        assert_eq!(joined.get("joined").is_some(), event == "session_replaced");
    }
    assert_eq!(world.turn_state(&turn(&run)), "live", "the first one's turn goes on");
    first.kill().unwrap();
    first.wait().unwrap();
    let after = world.step_with(json!("session_replaced"), theirs);
    assert_eq!(kind(&after), "prompt", "{after}");
    assert_ne!(turn(&after), turn(&run));
    assert_eq!(world.turn_state(&turn(&run)), "released");
}

#[test]
fn a_look_of_another_runtime_does_not_make_the_first_ones_end_stale() {
    let world = World::new("opencode");
    world.todo("one");
    let mut first = process();
    let run = world.step_with(json!("activated"), json!({"holder_pid": first.id()}));
    let with = json!({"holder_pid": first.id(), "generation": run["loop"]["generation"]});
    let run = world.step_with(json!("settled"), with);
    let echoed = echo(&world, &run);
    world.step_with(json!("timer"), json!({"holder_pid": std::process::id()}));
    world.settle(&turn(&run), "completed");
    let with = json!({"holder_pid": first.id(), "generation": echoed["loop"]["generation"]});
    let end = world.step_with(json!("settled"), with);
    assert_eq!((kind(&end), end.get("stale")), ("stop", None), "{end}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_turn_whose_end_nobody_tells_is_over_when_it_lapses() {
    let mut world = World::new("pi");
    world.todo("one");
    let run = world.start();
    let waiting = echo(&world, &run);
    assert_eq!((kind(&waiting), minutes(&world, &waiting)), ("wait", 60));
    world.later(61);
    let after = world.step(json!("timer"));
    assert_eq!(kind(&after), "prompt", "{after}");
    assert_ne!(turn(&after), turn(&run));
    assert_eq!(world.turn_state(&turn(&run)), "released");
}

#[test]
fn the_end_of_another_turn_ends_nothing() {
    let world = World::new("opencode");
    world.todo("one");
    let run = world.start();
    echo(&world, &run);
    let other = world.step(json!({"kind": "settled", "turn_instance_id": "loop-0"}));
    assert_eq!(kind(&other), "wait", "{other}");
    assert_eq!(world.turn_state(&turn(&run)), "live");
}

#[test]
fn loops_that_only_look_do_not_wake_each_other_and_everything_else_does() {
    let mut world = World::new("pi");
    world.todo("one");
    let gate = world.gate();
    let waiting = world.start();
    let since = |commit: &Value| {
        world.call("goal.changed_since", json!({"goal_id": "g", "commit": commit}))
    };
    let commit = waiting["commit"].clone();
    assert_eq!(
        (&since(&commit)["changed"], &since(&json!(0))["changed"]),
        (&json!(false), &json!(true))
    );
    world.later(30);
    let looked = world.step(json!("timer"));
    assert!(looked["commit"].as_u64() > commit.as_u64(), "the look is kept");
    let since = |commit: &Value| {
        world.call("goal.changed_since", json!({"goal_id": "g", "commit": commit}))
    };
    assert_eq!(since(&commit)["changed"], false);
    world.call("gate.decide", json!({"goal_id": "g", "todo_id": gate, "outcome": "approve"}));
    let seen = since(&commit);
    assert_eq!((&seen["changed"], &seen["edited"]), (&json!(true), &json!(false)), "{seen}");
    let file = world.folder.path().join("p/.loopx/goals/g/ACTIVE_GOAL_STATE.md");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("## Agent Todo", "## Agent Todo\n\n- [ ] [P1] another"))
        .unwrap();
    let edited = since(&seen["commit"]);
    assert_eq!((&edited["changed"], &edited["edited"]), (&json!(true), &json!(true)), "{edited}");
    assert_ne!(edited["mark"], seen["mark"]);
    // A turn that ends frees what it held: others look at once.
    let run = world.step(json!("changed"));
    assert_eq!(kind(&run), "prompt", "{run}");
    echo(&world, &run);
    let commit = json!(world.call("history", json!({"goal_id": "g"}))["last_commit"]);
    world.step(json!("aborted"));
    let since = world.call("goal.changed_since", json!({"goal_id": "g", "commit": commit}));
    assert_eq!(since["changed"], true, "{since}");
}

#[test]
fn a_stale_evaluation_never_acts_after_a_re_activation() {
    let world = World::new("pi");
    world.todo("one");
    let run = world.start();
    let seen = world.stored()["generation"].clone();
    world.step(json!("activated"));
    assert_eq!(world.turn_state(&turn(&run)), "released");
    for event in ["settled", "timer", "aborted", "host_error"] {
        let late = world.step_with(json!(event), json!({"generation": seen}));
        assert_eq!((kind(&late), &late["stale"]), ("idle", &json!(true)), "{event}");
    }
    assert_eq!(world.stored()["state"], "armed");
    assert_eq!(world.admissions(), 1);
}

#[test]
fn failures_climb_a_ladder_with_a_cap_and_a_settled_turn_ends_it() {
    let mut world = World::new("pi");
    world.todo("one");
    world.step(json!("activated"));
    let mut waits = Vec::new();
    for _ in 0..6 {
        let answer = world.step(json!("probe_failed"));
        waits.push(minutes(&world, &answer));
        world.later(waits[waits.len() - 1]);
    }
    assert_eq!(waits, [3, 6, 12, 24, 30, 30]);
    let run = world.step(json!("timer"));
    echo(&world, &run);
    let broken = world.step(json!("host_error"));
    assert_eq!(minutes(&world, &broken), 30, "a run that breaks does not begin it anew");
    assert_eq!(world.turn_state(&turn(&run)), "released");
    world.later(30);
    let run = world.step(json!("timer"));
    echo(&world, &run);
    world.settle(&turn(&run), "progress");
    world.step(json!("settled"));
    assert_eq!(world.stored()["failures"], 0);
}

#[test]
fn a_permanently_failing_host_asks_at_most_so_often_a_day() {
    let mut world = World::new("pi");
    world.todo("one");
    let mut answer = world.start();
    let (mut prompts, end) = (0, world.now.plus_minutes(24 * 60));
    while world.now < end {
        if kind(&answer) == "prompt" {
            prompts += 1;
            answer = world.step(json!("host_error"));
            continue;
        }
        let wait = minutes(&world, &answer);
        world.later(wait.max(1));
        answer = world.step(json!("timer"));
        if kind(&answer) == "recheck" {
            answer = world.step(json!("timer"));
        }
        if kind(&answer) == "pause" {
            break;
        }
    }
    assert!((3..=12).contains(&prompts), "{prompts} prompts");
}

#[test]
fn compaction_continues_once_and_the_next_prompt_has_the_whole_body() {
    let world = World::new("opencode");
    world.todo("one");
    world.todo("two");
    let run = world.start();
    assert!(run["action"]["text"].as_str().unwrap().contains("Other outcomes"));
    echo(&world, &run);
    world.settle(&turn(&run), "completed");
    for _ in 0..2 {
        assert_ne!(kind(&world.step(json!("compacted"))), "prompt");
    }
    let next = world.step(json!("settled"));
    assert!(next["action"]["text"].as_str().unwrap().contains("Other outcomes"));
    assert_ne!(kind(&world.step(json!("compacted"))), "prompt");
    assert_eq!(world.admissions(), 2);
}

#[test]
fn without_compaction_a_session_gets_the_body_once() {
    let world = World::new("opencode");
    world.todo("one");
    world.todo("two");
    let run = world.start();
    echo(&world, &run);
    world.settle(&turn(&run), "completed");
    let next = world.step(json!("settled"));
    assert!(!next["action"]["text"].as_str().unwrap().contains("Other outcomes"));
}

#[test]
fn a_stopped_goal_and_a_goal_without_quota_pause_the_loop_and_a_resumed_one_goes_on() {
    let world = World::new("pi");
    world.todo("one");
    world.step(json!("activated"));
    world.call("goal.stop", json!({"goal_id": "g"}));
    let answer = world.step(json!("settled"));
    assert_eq!((kind(&answer), &answer["action"]["reason"]), ("pause", &json!("goal_stopped")));
    assert_eq!(kind(&world.step(json!("timer"))), "idle");
    world.call("goal.resume", json!({"goal_id": "g"}));
    assert_eq!(kind(&world.step(json!("changed"))), "prompt");
}

#[test]
fn a_session_follows_one_goal() {
    let world = World::new("pi");
    world.goal("h");
    world.todo("one");
    let run = world.start();
    world.call(
        "loop.step",
        json!({"goal_id": "h", "surface": "pi", "session": "s-1", "event": {"kind": "activated"}}),
    );
    let shown = world.call("loop.show", json!({"surface": "pi", "session": "s-1"}));
    assert_eq!(shown["loops"].as_array().unwrap().len(), 1, "{shown}");
    assert_eq!(shown["loops"][0]["goal_id"], "h");
    assert_eq!(world.turn_state(&turn(&run)), "released");
    let error = world.kernel().call(
        "loop.step",
        &json!({"goal_id": "g", "surface": "pi", "session": "s-1", "event": {"kind": "timer"}}),
    );
    assert_eq!(error.unwrap_err().row().text, "loop_unknown");
}

#[test]
fn an_empty_session_an_unknown_host_and_a_foreign_agent_are_refused() {
    let world = World::new("pi");
    world.step(json!("activated"));
    for (surface, session, agent) in [
        ("pi", "", None),
        ("pi", "  ", None),
        ("emacs", "s", None),
        ("pi", "a\0b", None),
        ("pi", "s-1", Some("bob")),
    ] {
        let mut request = json!({
            "goal_id": "g", "surface": surface, "session": session, "event": {"kind": "timer"},
        });
        if let Some(agent) = agent {
            request["agent_id"] = json!(agent);
        }
        assert!(world.kernel().call("loop.step", &request).is_err(), "{request}");
    }
    let long = "x".repeat(5_000);
    let request =
        json!({"goal_id": "g", "surface": "pi", "session": long, "event": {"kind": "activated"}});
    assert!(world.kernel().call("loop.step", &request).is_err());
}

#[test]
fn session_names_are_not_kept_and_do_not_collide() {
    let mut world = World::new("pi");
    world.session = "/home/someone/secret-project/session-canary.jsonl";
    world.step(json!("activated"));
    let dump = world.call("export", json!({"goal_id": "g"})).to_string();
    assert!(!dump.contains("canary") && !dump.contains("someone"), "a digest is kept, no name");
    let first = world.stored()["session_key"].clone();
    world.session = "/home/someone/secret-project/session-canary.jsonl2";
    world.step(json!("activated"));
    assert_ne!(first, world.stored()["session_key"]);
    world.surface = "opencode";
    world.step(json!("activated"));
    assert_ne!(first, world.stored()["session_key"]);
}

#[test]
fn an_observer_looks_and_admits_nothing() {
    let mut world = World::new("shell");
    world.todo("one");
    let observe = json!({"observe": true});
    world.step(json!("activated"));
    for event in ["settled", "timer", "timer"] {
        let answer = world.step_with(json!(event), observe.clone());
        assert_eq!((kind(&answer), &answer["decision"]["should_run"]), ("wait", &json!(true)));
        assert_eq!(minutes(&world, &answer), 3);
        world.later(3);
    }
    assert_eq!(world.admissions(), 0);
}

#[test]
fn a_replan_whose_host_died_is_not_dispatched_again_until_its_turn_is_settled() {
    let world = World::new("shell");
    let todo = world.todo("one");
    let run = world.start();
    world.step(json!("delivered"));
    world.call(
        "turn.settle",
        json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": turn(&run),
               "outcome": "completed", "evidence": ["done"]}),
    );
    let _ = todo;
    let replan = world.step(json!({"kind": "settled", "turn_instance_id": turn(&run)}));
    assert_eq!(
        (kind(&replan), &replan["decision"]["rule"]),
        ("prompt", &json!("replan")),
        "{replan}"
    );
    world.step(json!("delivered"));
    // kill -9; the worker is started again.
    let after = world.step(json!("session_replaced"));
    assert_ne!(kind(&after), "prompt", "{after}");
    assert_eq!(after["decision"]["reason_code"], "replan_outcome_unknown", "{after}");
    world.call("feedback", json!({"goal_id": "g", "agent_id": "ada", "text": "think again"}));
    let other = world.step(json!("changed"));
    assert_ne!(kind(&other), "prompt", "a new obligation does not make it safe: {other}");
    world.call(
        "turn.settle",
        json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": turn(&replan),
               "outcome": "progress", "evidence": ["planned"], "next_agent_todo": "two"}),
    );
    assert_eq!(kind(&world.step(json!("changed"))), "prompt");
}

#[test]
fn a_replan_whose_child_ended_well_and_resolved_nothing_is_paused() {
    let world = World::new("shell");
    world.todo("one");
    let run = world.start();
    world.call(
        "turn.settle",
        json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": turn(&run),
               "outcome": "completed", "evidence": ["done"]}),
    );
    let replan = world.step(json!({"kind": "settled", "turn_instance_id": turn(&run)}));
    let after = world.step(json!({"kind": "settled", "turn_instance_id": turn(&replan)}));
    assert_ne!(kind(&after), "prompt");
    assert_eq!(after["decision"]["reason_code"], "replan_paused", "{after}");
    // Other work goes on.
    world.todo("independent");
    assert_eq!(kind(&world.step(json!("changed"))), "prompt");
}

#[test]
fn what_became_of_a_replan_is_read_back_and_goes_stale_with_its_source() {
    let world = World::new("shell");
    world.todo("one");
    let run = world.start();
    world.call(
        "turn.settle",
        json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": turn(&run),
               "outcome": "completed", "evidence": ["done"]}),
    );
    let status = |world: &World| world.call("status", json!({"goal_id": "g"}))["host_poll"].clone();
    let replan = world.step(json!({"kind": "settled", "turn_instance_id": turn(&run)}));
    assert!(status(&world).is_null(), "nothing to read back yet");
    world.step(json!("delivered"));
    let after = world.step(json!("session_replaced"));
    assert_eq!(after["host_poll_receipt"]["recorded"], true, "{after}");
    let shown = status(&world);
    let row = &shown["replans"][0];
    assert_eq!(
        (&row["kind"], &row["freshness"], &row["turn_instance_id"], &row["cost"], &row["agent_id"]),
        (
            &json!("replan_outcome_unknown"),
            &json!("current"),
            &json!(turn(&replan)),
            &json!("unknown"),
            &json!("ada")
        )
    );
    // A sync of the mirror changes nothing; a change of the goal does.
    let registry = world.folder.path().join("p/.loopx/registry.json");
    let edit = |change: &dyn Fn(&mut Value)| {
        let mut root: Value = serde_json::from_slice(&std::fs::read(&registry).unwrap()).unwrap();
        change(&mut root["goals"][0]);
        std::fs::write(&registry, serde_json::to_vec_pretty(&root).unwrap()).unwrap();
    };
    edit(&|goal| {
        goal["synced_at"] = json!("2026-11-29T13:00:00Z");
        goal["clear_attention_override"] = json!(true);
    });
    assert_eq!(status(&world)["replans"][0]["freshness"], "current");
    edit(&|goal| goal["objective"] = json!("something else"));
    assert_eq!(status(&world)["replans"][0]["freshness"], "stale");
    // Verified settlement of exactly that turn clears it.
    world.call(
        "turn.settle",
        json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": turn(&replan),
               "outcome": "progress", "evidence": ["planned"], "next_agent_todo": "two"}),
    );
    assert_eq!(kind(&world.step(json!("changed"))), "prompt");
    assert_eq!(status(&world)["replans"], json!([]));
}

/// A worker's `--once` ends with the step that ends its child, so nobody looks again soon.
#[test]
fn the_step_that_ends_a_replan_says_so_at_once() {
    for (event, kind, polls) in [
        (json!({"kind": "host_error"}), json!("replan_outcome_unknown"), 0),
        (json!({"kind": "disposed", "ended_turn": true}), json!("replan_outcome_unknown"), 0),
        (
            json!({"kind": "disposed", "ended_turn": true, "finished": true}),
            json!("replan_paused"),
            0,
        ),
        (json!("aborted"), json!("replan_outcome_unknown"), 0),
        // Looked at again in the same step: that is a poll.
        (json!("session_replaced"), json!("replan_outcome_unknown"), 1),
    ] {
        let world = World::new("shell");
        world.todo("one");
        let run = world.start();
        world.call(
            "turn.settle",
            json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": turn(&run),
                   "outcome": "completed", "evidence": ["done"]}),
        );
        let replan = world.step(json!({"kind": "settled", "turn_instance_id": turn(&run)}));
        world.step(json!("delivered"));
        let ended = world.step(event.clone());
        assert_eq!(ended["host_poll_receipt"]["recorded"], true, "{event} {ended}");
        let shown = world.call("status", json!({"goal_id": "g"}))["host_poll"].clone();
        let row = &shown["replans"][0];
        assert_eq!(
            (&row["kind"], &row["turn_instance_id"], &row["freshness"], &shown["poll_count"]),
            (&kind, &json!(turn(&replan)), &json!("current"), &json!(polls)),
            "{event} {shown}"
        );
    }
}

#[test]
fn an_unreadable_receipt_is_kept_until_the_store_knows_better() {
    let world = World::new("shell");
    world.todo("one");
    let run = world.start();
    let folder = world.folder.path().join("p/.loopx/goals/g/.loopx-host-poll-receipts");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("g.json");
    std::fs::write(&path, b"{bad \xff").unwrap();
    let read_back =
        |world: &World| world.call("status", json!({"goal_id": "g"}))["host_poll"].clone();
    assert_eq!(read_back(&world)["state"], "unreadable");
    world.call(
        "turn.settle",
        json!({"goal_id": "g", "agent_id": "ada", "turn_instance_id": turn(&run),
               "outcome": "completed", "evidence": ["done"]}),
    );
    world.step(json!({"kind": "settled", "turn_instance_id": turn(&run)}));
    assert_eq!(std::fs::read(&path).unwrap(), b"{bad \xff");
    world.step(json!("delivered"));
    world.step(json!("session_replaced"));
    assert_eq!(read_back(&world)["replans"][0]["kind"], "replan_outcome_unknown");
}

/// The session of [`World`] as a host in process has it.
fn pi_session() -> LoopSession {
    let template = LoopStepRequest {
        surface: "pi".into(),
        session: "s-1".into(),
        event: LoopEvent::Activated,
        generation: None,
        agent_id: Some("ada".into()),
        available_capabilities: None,
        independent_worktree: None,
        execution_context: None,
        ttl_seconds: None,
        holder_pid: None,
        ephemeral: false,
        observe: false,
    };
    LoopSession::new("g", template)
}

#[test]
fn what_nobody_says_twice_is_told_again_by_the_timer_of_its_failure() {
    let world = World::new("pi");
    world.todo("one");
    let kernel = world.kernel();
    let registry = world.folder.path().join("p/.loopx/registry.json");
    let away = registry.with_extension("away");
    let settled = LoopEvent::Settled { turn_instance_id: None };
    for (event, beside, then) in [
        (settled.clone(), None, LoopEvent::Timer),
        (settled.clone(), Some(LoopEvent::Compacted), LoopEvent::Changed),
        (LoopEvent::Resumed, None, LoopEvent::Timer),
        (LoopEvent::SessionReplaced, None, LoopEvent::Timer),
    ] {
        let mut session = pi_session();
        assert_eq!(kind(&session.step(&kernel, LoopEvent::Activated)), "idle");
        std::fs::rename(&registry, &away).unwrap();
        assert_eq!(minutes(&world, &session.step(&kernel, event)), 3);
        assert_eq!(minutes(&world, &session.step(&kernel, LoopEvent::Timer)), 6);
        std::fs::rename(&away, &registry).unwrap();
        if let Some(beside) = beside {
            session.step(&kernel, beside);
        }
        let answer = session.step(&kernel, then);
        assert_eq!(kind(&answer), "prompt", "{answer}");
        assert_eq!(kind(&session.step(&kernel, LoopEvent::Timer)), "wait", "told once");
    }
    // What a person did meanwhile stands.
    let mut session = pi_session();
    session.step(&kernel, LoopEvent::Activated);
    std::fs::rename(&registry, &away).unwrap();
    session.step(&kernel, settled);
    session.step(&kernel, LoopEvent::Paused);
    std::fs::rename(&away, &registry).unwrap();
    assert_eq!(kind(&session.step(&kernel, LoopEvent::Timer)), "idle");
    assert_eq!(world.stored()["reason"], "user_paused");
}

#[test]
fn a_session_keeps_what_a_person_did_while_the_store_cannot_be_written() {
    let world = World::new("pi");
    world.todo("one");
    world.gate();
    let kernel = world.kernel();
    let mut session = pi_session();
    session.step(&kernel, LoopEvent::Activated);
    let settled = session.step(&kernel, LoopEvent::Settled { turn_instance_id: None });
    assert_eq!(kind(&settled), "wait");
    // The registry is gone for a moment.
    let registry = world.folder.path().join("p/.loopx/registry.json");
    let away = registry.with_extension("away");
    std::fs::rename(&registry, &away).unwrap();
    let mut waits = Vec::new();
    for event in [LoopEvent::Aborted, LoopEvent::Timer, LoopEvent::Timer] {
        let answer = session.step(&kernel, event);
        assert_eq!(answer["ok"], false, "{answer}");
        assert!(answer["error_code"].is_string(), "{answer}");
        waits.push(minutes(&world, &answer));
    }
    assert_eq!(waits, [3, 6, 12]);
    assert_eq!(session.owed(), [LoopEvent::Aborted]);
    std::fs::rename(&away, &registry).unwrap();
    let answer = session.step(&kernel, LoopEvent::Timer);
    assert_eq!((kind(&answer), &answer["loop"]["reason"]), ("idle", &json!("aborted")), "{answer}");
    assert!(session.owed().is_empty());
    assert_eq!(world.stored()["state"], "paused");
}

#[test]
fn a_binding_that_cannot_be_read_is_named_and_is_none_that_is_absent() {
    let world = World::new("pi");
    world.goal("h");
    world.step(json!("activated"));
    let asked = json!({"surface": "pi", "session": "s-1"});
    assert_eq!(world.call("loop.show", asked.clone())["unreadable_goals"], json!([]));
    for doc in ["{", "{\"state\":5}"] {
        let store = rusqlite::Connection::open(world.store("g")).unwrap();
        store.execute("UPDATE host_rows SET doc = ?1 WHERE kind = 'loop'", [doc]).unwrap();
        let shown = world.call("loop.show", asked.clone());
        assert_eq!(shown["loops"], json!([]));
        let unread = shown["unreadable_goals"].as_array().unwrap();
        assert_eq!(unread.len(), 1, "{shown}");
        assert_eq!(unread[0]["goal_id"], "g");
        assert_eq!(unread[0]["error_code"], "store_unreadable");
        // Another session's loop is not in doubt.
        let other = world.call("loop.show", json!({"surface": "pi", "session": "s-2"}));
        assert_eq!(other["unreadable_goals"], json!([]));
        let error = world
            .kernel()
            .call("loop.show", &json!({"goal_id": "g", "surface": "pi", "session": "s-1"}))
            .unwrap_err();
        assert_eq!(error.row().text, "store_unreadable");
    }
    // The session begins anew elsewhere, and lets the broken row go where that can be done.
    world.call(
        "loop.step",
        json!({"goal_id": "h", "surface": "pi", "session": "s-1", "event": {"kind": "activated"}}),
    );
    let shown = world.call("loop.show", asked);
    assert_eq!(shown["loops"][0]["goal_id"], "h");
    assert_eq!(shown["unreadable_goals"], json!([]));
}

#[test]
fn a_session_whose_other_goal_is_busy_is_not_activated_beside_it() {
    let world = World::new("pi");
    world.goal("h");
    world.step(json!("activated"));
    let holder = rusqlite::Connection::open(world.store("g")).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let activated =
        json!({"goal_id": "h", "surface": "pi", "session": "s-1", "event": {"kind": "activated"}});
    let quick = world.kernel_waiting(std::time::Duration::from_millis(20));
    assert_eq!(quick.call("loop.step", &activated).unwrap_err().row().text, "store_busy");
    let shown = quick.call("loop.show", &json!({"surface": "pi", "session": "s-1"})).unwrap();
    assert_eq!(shown["unreadable_goals"][0]["error_code"], "store_busy", "{shown}");
    holder.execute_batch("ROLLBACK").unwrap();
    quick.call("loop.step", &activated).unwrap();
    let shown = world.call("loop.show", json!({"surface": "pi", "session": "s-1"}));
    assert_eq!(shown["loops"].as_array().unwrap().len(), 1, "{shown}");
}

#[test]
fn a_session_that_its_host_does_not_keep_is_over_with_its_process() {
    let world = World::new("pi");
    world.todo("one");
    let rows = || {
        let store = rusqlite::Connection::open(world.store("g")).unwrap();
        let sql = "SELECT count(*) FROM host_rows WHERE kind = 'loop'";
        store.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap()
    };
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let begin = |session: &str, ephemeral: bool, pid: u32| {
        let step = |event: &str| {
            world.call(
                "loop.step",
                json!({"goal_id": "g", "surface": "pi", "session": session, "event": {"kind": event},
                       "holder_pid": pid, "ephemeral": ephemeral}),
            )
        };
        step("activated");
        step("settled")
    };
    let run = begin("unkept", true, child.id());
    begin("kept", false, child.id());
    let shown = |world: &World| world.call("loop.show", json!({"goal_id": "g"}))["loops"].clone();
    assert_eq!(shown(&world).as_array().unwrap().len(), 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let left = shown(&world);
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left[0]["ephemeral"], Value::Null, "the one that its host keeps");
    assert_eq!(rows(), 2, "a read takes nothing away");
    let next = begin("next", true, std::process::id());
    assert_eq!(rows(), 2, "the dead one is gone, the next one is there");
    assert_eq!(shown(&world).as_array().unwrap().len(), 2);
    assert_eq!(world.turn_state(&turn(&run)), "released");
    assert_eq!(kind(&next), "prompt", "{next}");
}
