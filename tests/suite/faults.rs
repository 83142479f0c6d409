//! Writes that fail: no space, a broken device, a denied write, half a write. The error is
//! of the catalogue, nothing is half written, and afterwards everything works again.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::faults::{Copy, Fault, Kind, Library, State, check_whole, litter};
use loopx_tests::{Output, Sandbox, skip};
use serde_json::Value;
use std::collections::BTreeMap;

const NOW: &str = "2026-11-29T12:00:00Z";

/// What may be answered when a write fails in that way: the code that says so, of the global
/// copy its own, and of a change that stands that its durability is not known.
fn codes(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::NoSpace => &["ok", "disk_full", "durability_unknown"],
        Kind::Denied => {
            &["ok", "write_denied", "global_registry_write_denied", "durability_unknown"]
        }
        Kind::Io => &["ok", "io_failed", "global_registry_write_denied", "durability_unknown"],
        _ => &["ok"],
    }
}

const COMMANDS: &[&str] = &[
    "todo add --goal-id g --role agent --text new --effect-id e",
    "turn settle --goal-id g --agent-id agent-a --turn-instance-id t-1 --outcome completed \
     --evidence done --next-agent-todo next",
    "turn admit --goal-id g --agent-id agent-b --turn-instance-id t-2",
    "goal stop --goal-id g --effect-id e",
    "goal create --goal-id h --objective o --agent-id agent-a --effect-id e",
];

fn stand() -> Sandbox {
    let sandbox = Sandbox::in_memory();
    for command in [
        "goal create --goal-id g --objective o --agent-id agent-a,agent-b --allowed-slots 9",
        "todo add --goal-id g --role agent --text one",
        "todo add --goal-id g --role agent --text two --claimed-by agent-b",
        "turn admit --goal-id g --agent-id agent-a --turn-instance-id t-1",
    ] {
        sandbox.at(NOW).json(command.split_whitespace());
    }
    sandbox
}

fn receipt(output: &Output) -> Result<String, String> {
    if output.code != 0 {
        return Err(format!("it ended with {output}"));
    }
    let mut value = output.json();
    for key in ["idempotent_replay", "heartbeat_receipt", "goal_uid"] {
        value.as_object_mut().unwrap().remove(key);
    }
    Ok(value.to_string())
}

/// The records of goal `g`: its export without the text that was projected.
fn records(state: &State) -> Vec<&str> {
    let (_, export) = state.parts.last().unwrap();
    export.lines().filter(|line| !line.starts_with("\"state_file\"")).collect()
}

/// One fault: `Ok` with the code that was answered, or "ok" when the command went through.
fn one(
    library: &Library,
    sandbox: &Sandbox,
    (words, call, fault): (&[&str], &str, Fault),
    (receipt_of, before, after): (&str, &State, &State),
) -> Result<String, String> {
    let (failed, _) = library.run(sandbox, NOW, fault, words);
    let answer: Value = serde_json::from_str(&failed.stdout)
        .map_err(|error| format!("no answer: {error}\n{failed}"))?;
    if failed.stderr.contains("panicked") {
        return Err(format!("it panicked: {failed}"));
    }
    let code = match failed.code {
        0 => "ok".to_owned(),
        1 => answer["error_code"].as_str().unwrap_or_default().to_owned(),
        _ => return Err(format!("{failed}")),
    };
    // SQLite tries to open its journal in another way when the disk is full, and says why that
    // failed; on a disk that stays full what it says is right.
    let once = call == "open" && fault.kind == Kind::NoSpace && !fault.sticky;
    let told = codes(fault.kind).contains(&code.as_str()) || (once && code == "io_failed");
    if !told {
        return Err(format!("code {code}: {failed}"));
    }
    let left = litter(sandbox);
    if left > 0 && fault.kind != Kind::Io && fault.kind != Kind::Denied {
        return Err(format!("{left} temporary files left; {failed}"));
    }
    check_whole(sandbox)?;
    let is = State::of(sandbox, NOW, false);
    // A refusal changed nothing, or says that it may have changed the whole; what went through
    // stands.
    let (store, stored) = (records(&is), records(after));
    if ["disk_full", "write_denied"].contains(&code.as_str())
        && store == stored
        && store != records(before)
        && !["stop", "create"].contains(&words[1])
    {
        return Err(format!("{code} is told of a change that stands: {failed}"));
    }
    if store != records(before) && store != stored && words[1] != "stop" {
        return Err(format!("half a commit: {code}, {}", is.differs_from(after).unwrap()));
    }
    if code == "ok" && store != stored && !words.contains(&"h") {
        return Err(format!("acknowledged and not there: {failed}"));
    }
    let again = sandbox.at(NOW).run(words);
    let repeated = receipt(&again)?;
    if repeated != receipt_of {
        return Err(format!("receipt:\n  is       {repeated}\n  should be {receipt_of}"));
    }
    check_whole(sandbox)?;
    match State::of(sandbox, NOW, false).differs_from(after) {
        // A goal made anew has another uid in the registry.
        Some(difference) if !words.contains(&"h") => Err(format!("after {code}: {difference}")),
        _ => Ok(code),
    }
}

#[test]
fn a_write_that_fails_is_told_and_leaves_nothing_half_done() {
    let library = match Library::built() {
        Ok(library) => library,
        Err(why) => return skip("faults of writes", &why),
    };
    let sandbox = stand();
    let start = Copy::of(&sandbox);
    let before = State::of(&sandbox, NOW, false);
    let mut told: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut points, mut failures) = (0, Vec::new());
    for command in COMMANDS {
        let words: Vec<&str> = command.split_whitespace().collect();
        start.restore(&sandbox);
        let none = Fault { kind: Kind::Short, at: 0, sticky: false };
        let (output, calls) = library.run(&sandbox, NOW, none, &words);
        let receipt_of = receipt(&output).unwrap();
        let after = State::of(&sandbox, NOW, false);
        for (index, call) in calls.iter().enumerate() {
            for (kind, sticky) in [
                (Kind::NoSpace, false),
                (Kind::NoSpace, true),
                (Kind::Io, false),
                (Kind::Denied, true),
                (Kind::Short, false),
            ] {
                // One in five, each kind at other places; every call that is not a write.
                let place = index + kind as usize + usize::from(sticky);
                if call == "write" && !place.is_multiple_of(5) {
                    continue;
                }
                if kind == Kind::Short && call != "write" || kind == Kind::Denied && call == "write"
                {
                    continue;
                }
                points += 1;
                start.restore(&sandbox);
                let fault = Fault { kind, at: index + 1, sticky };
                let expected = (receipt_of.as_str(), &before, &after);
                match one(&library, &sandbox, (&words, call, fault), expected) {
                    Ok(code) => {
                        *told.entry((format!("{kind:?}"), code)).or_default() += 1;
                    }
                    Err(why) => failures.push(format!(
                        "{}: {kind:?}{} at {} ({call}): {why}",
                        words[..2].join(" "),
                        if sticky { " from there on" } else { "" },
                        index + 1
                    )),
                }
            }
        }
    }
    for ((kind, code), times) in &told {
        println!("{times:>5}  {kind}: {code}");
    }
    println!("{points:>5} faults in all");
    let unknown = ("NoSpace".to_owned(), "durability_unknown".to_owned());
    assert!(told.contains_key(&unknown), "no sync after the change was met: {told:?}");
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {points} faults:\n{shown}", failures.len());
}
