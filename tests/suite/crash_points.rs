//! Every command that writes is killed at each system call that writes, then repeated:
//! the state and the receipt are those of an undisturbed run.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::faults::{
    Copy, Fault, Kind, Library, State, check_whole, litter, masked, orphans,
};
use loopx_tests::{Call, Output, Sandbox, earlier, skip};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

const NOW: &str = "2026-11-29T12:00:00Z";
/// When every file that was made today is old.
const MUCH_LATER: &str = "2200-01-01T00:00:00Z";

/// A command and the state in which it is given. `{todo}` stands for the first todo.
struct Case {
    name: &'static str,
    /// Commands that come before.
    before: &'static [&'static str],
    command: &'static str,
    edited: bool,
    earlier: bool,
    /// Given in the project's folder without naming the registry: what a host is told has
    /// no room for a long path.
    from_project: bool,
}

const GOAL: &str = "goal create --goal-id g --objective o --agent-id agent-a,agent-b \
                    --allowed-slots 9";
const ONE: &str = "todo add --goal-id g --role agent --text one";
const TWO: &str = "todo add --goal-id g --role agent --text two --claimed-by agent-b";
const ADMIT: &str = "turn admit --goal-id g --agent-id agent-a --turn-instance-id t-1";
const REFRESH: &str = "refresh-state --goal-id g --agent-id agent-a --todo-id {todo} \
                       --delivery-outcome outcome_progress";

const fn case(name: &'static str, before: &'static [&'static str], command: &'static str) -> Case {
    Case { name, before, command, edited: false, earlier: false, from_project: false }
}

const CASES: &[Case] = &[
    case(
        "goal create",
        &[],
        "goal create --goal-id g --objective o --agent-id agent-a --effect-id e",
    ),
    case("todo add", &[GOAL, ONE], "todo add --goal-id g --role agent --text new --effect-id e"),
    case(
        "todo claim",
        &[GOAL, ONE, TWO],
        "todo claim --goal-id g --todo-id {todo} --claimed-by agent-a --effect-id e",
    ),
    case(
        "todo update",
        &[GOAL, ONE, TWO],
        "todo update --goal-id g --todo-id {todo} --text other --effect-id e",
    ),
    case(
        "todo complete",
        &[GOAL, ONE, TWO],
        "todo complete --goal-id g --todo-id {todo} --agent-id agent-a --next-agent-todo next \
         --effect-id e",
    ),
    Case {
        edited: true,
        ..case(
            "a write that adopts a hand edit",
            &[GOAL, ONE, TWO],
            "todo add --goal-id g --role agent --text new --effect-id e",
        )
    },
    case(
        "refresh-state",
        &[GOAL, ONE],
        "refresh-state --goal-id g --agent-id agent-a --todo-id {todo} --delivery-outcome outcome_progress --effect-id e",
    ),
    case(
        "quota spend-slot",
        &[GOAL, ONE, REFRESH],
        "quota spend-slot --goal-id g --agent-id agent-a --execute --effect-id e",
    ),
    case("turn admit", &[GOAL, ONE, TWO], ADMIT),
    case(
        "turn settle",
        &[GOAL, ONE, TWO, ADMIT],
        "turn settle --goal-id g --agent-id agent-a --turn-instance-id t-1 --outcome completed \
         --evidence done --next-agent-todo next --admit-next t-2",
    ),
    case(
        "turn release",
        &[GOAL, ONE, TWO, ADMIT],
        "turn release --goal-id g --agent-id agent-a --turn-instance-id t-1 --effect-id e",
    ),
    case("goal stop", &[GOAL, ONE], "goal stop --goal-id g --reason enough --effect-id e"),
    case(
        "goal resume",
        &[GOAL, ONE, "goal stop --goal-id g"],
        "goal resume --goal-id g --effect-id e",
    ),
    case(
        "agent register",
        &[GOAL, ONE],
        "agent register --goal-id g --agent-id agent-c --effect-id e",
    ),
    Case {
        from_project: true,
        ..case(
            "an activation",
            &[GOAL, ONE],
            "heartbeat-prompt --goal-id g --agent-id agent-a --host codex-app --activate --effect-id e",
        )
    },
    Case {
        from_project: true,
        ..case(
            "start-goal from nothing",
            &[],
            "start-goal --goal-id g --agent-id agent-a --host codex-cli --goal-text ship \
             --todo one --execute",
        )
    },
    Case {
        from_project: true,
        ..case(
            "start-goal of a new peer",
            &["goal create --goal-id g --agent-id agent-a", ONE],
            "start-goal --goal-id g --agent-id agent-c --new-peer --host claude-code --goal-text ship \
             --todo three --execute",
        )
    },
    Case {
        earlier: true,
        ..case(
            "the first write of an earlier project",
            &[],
            "todo add --goal-id g --role agent --text new --effect-id e",
        )
    },
    Case {
        earlier: true,
        ..case("stop of an earlier project", &[], "goal stop --goal-id g --effect-id e")
    },
];

/// A case, ready to be run again and again from the same state.
struct Stand {
    sandbox: Sandbox,
    words: Vec<String>,
    start: Copy,
    /// Names that are drawn at random differ between runs.
    random: bool,
    from_project: bool,
}

impl Stand {
    fn new(case: &Case) -> Self {
        let sandbox = Sandbox::in_memory();
        if case.earlier {
            let goal = earlier::Goal::new("g", &["agent-a", "agent-b"])
                .agent_todo("todo_000000000001", "[P1] one", "task_class=advancement_task")
                .user_todo("todo_000000000002", "ask", "task_class=user_action");
            loopx_tests::lay_out(&sandbox.project(), &earlier::files(&[goal]));
        }
        let mut todo = "todo_000000000001".to_owned();
        let mut known = false;
        for command in case.before {
            let command = command.replace("{todo}", &todo);
            let call = sandbox.at(NOW);
            let call = if case.from_project { call.from_project() } else { call };
            let answer = call.json(command.split_whitespace());
            if let (Some(id), false) = (answer["todo_id"].as_str(), known) {
                todo = id.to_owned();
                known = true;
            }
        }
        if case.edited {
            let path = sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains("two"), "{text}");
            let text = text.replacen("- [ ] one", "- [ ] by hand\n- [ ] one, better", 1);
            fs::write(&path, text).unwrap();
        }
        let command = case.command.replace("{todo}", &todo);
        let words = command.split_whitespace().map(str::to_owned).collect();
        let start = Copy::of(&sandbox);
        let random = case.earlier || case.before.is_empty();
        Self { sandbox, words, start, random, from_project: case.from_project }
    }

    fn call(&self) -> Call<'_> {
        let call = self.sandbox.at(NOW);
        if self.from_project { call.from_project() } else { call }
    }

    fn under(&self, library: &Library, fault: Fault) -> (Output, Vec<String>) {
        library.run_command(&self.sandbox, fault, self.call().command(&self.words))
    }

    fn receipt(&self, output: &Output) -> Result<String, String> {
        if output.code != 0 {
            return Err(format!("the command ended with {output}"));
        }
        let mut value = output.json();
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("idempotent_replay");
            // An admission says in its own place whether it is a repeat.
            map.shift_remove("heartbeat_receipt");
            // And a start, which of its steps were done before.
            map.shift_remove("steps");
            if self.random {
                // Its tokens are digests of the goal's random identity.
                map.shift_remove("scheduler_hint");
            }
        }
        let text = value.to_string();
        Ok(if self.random { masked(&text, &mut HashMap::new()) } else { text })
    }

    /// The state now, and after one more write.
    fn state(&self) -> [State; 2] {
        let now = State::of(&self.sandbox, NOW, self.random);
        let more = "todo add --goal-id g --role agent --text afterwards --effect-id z";
        self.call().json(more.split(' '));
        [now, State::of(&self.sandbox, NOW, self.random)]
    }

    /// The undisturbed run: its calls, its receipt, its state.
    fn undisturbed(&self, library: &Library) -> (Vec<String>, String, [State; 2]) {
        self.start.restore(&self.sandbox);
        let none = Fault { kind: Kind::Kill, at: 0, sticky: false };
        let (output, calls) = self.under(library, none);
        let receipt = self.receipt(&output).unwrap_or_else(|why| panic!("{:?}: {why}", self.words));
        (calls, receipt, self.state())
    }

    /// One point.
    fn point(
        &self,
        library: &Library,
        (kind, at): (Kind, usize),
        (receipt, state): (&str, &[State; 2]),
    ) -> Result<usize, String> {
        self.start.restore(&self.sandbox);
        let fault = Fault { kind, at, sticky: false };
        let (killed, _) = self.under(library, fault);
        if killed.code != 137 {
            return Err(format!("it was not killed: {killed}"));
        }
        // Every other time the next writer is the first to see what was left.
        if at.is_multiple_of(2) {
            let asked =
                self.call().run("quota should-run --goal-id g --agent-id agent-a".split(' '));
            let answer: Value = serde_json::from_str(&asked.stdout)
                .map_err(|e| format!("no answer after the crash: {e}\n{asked}"))?;
            let code = answer["error_code"].as_str().unwrap_or_default();
            let unmade = ["goal_not_found", "registry_missing"].contains(&code)
                || self.random && !code.is_empty() && !self.sandbox.registry().exists();
            if asked.code != 0 && !unmade {
                return Err(format!("no decision after the crash: {asked}"));
            }
            check_whole(&self.sandbox)?;
        }
        let again = self.call().run(&self.words);
        let repeated = self.receipt(&again)?;
        if repeated != receipt {
            return Err(format!("receipt:\n  is       {repeated}\n  should be {receipt}"));
        }
        check_whole(&self.sandbox)?;
        let is = self.state();
        let pairs = is.iter().zip(state).zip(["", "after one more write, "]);
        match pairs.filter_map(|((a, b), when)| Some((when, a.differs_from(b)?))).next() {
            Some((when, difference)) => Err(format!("{when}{difference}")),
            None => self.tidied(),
        }
    }

    /// Leftovers, which are gone once they are old; nothing else is.
    fn tidied(&self) -> Result<usize, String> {
        let left = litter(&self.sandbox) + orphans(&self.sandbox);
        if left == 0 {
            return Ok(0);
        }
        let before = State::of(&self.sandbox, NOW, self.random);
        let prune = "store prune --goal-id g --keep-days 36500 --execute";
        let call = self.sandbox.at(MUCH_LATER);
        let call = if self.from_project { call.from_project() } else { call };
        let said = call.json(prune.split(' '));
        let still = litter(&self.sandbox) + orphans(&self.sandbox);
        if still > 0 {
            return Err(format!("{still} of {left} leftovers stay when they are old: {said}"));
        }
        match State::of(&self.sandbox, NOW, self.random).differs_from(&before) {
            Some(difference) => Err(format!("tidying up changed more: {difference}")),
            None => Ok(left),
        }
    }
}

#[test]
fn a_command_that_is_killed_at_any_write_is_repeated_to_the_same_end() {
    let library = match Library::built() {
        Ok(library) => library,
        Err(why) => return skip("crash points", &why),
    };
    let only = std::env::var("LOOPX_CRASH_CASE").unwrap_or_default();
    let cases: Vec<&Case> = CASES.iter().filter(|case| case.name.contains(&only)).collect();
    let begun = Instant::now();
    let next = AtomicUsize::new(0);
    let report = Mutex::new((0_usize, 0_usize, Vec::<String>::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (points, left, mut failures) = sweep(&library, case);
                    let mut report = report.lock().unwrap();
                    println!("{points:>5} points  {}  ({left} left a file or a store)", case.name);
                    report.0 += points;
                    report.1 += left;
                    report.2.append(&mut failures);
                }
            });
        }
    });
    let (points, left, failures) = report.into_inner().unwrap();
    println!(
        "{points:>5} points in all, {left} left a file or a store, {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {points} points:\n{shown}", failures.len());
}

fn sweep(library: &Library, case: &Case) -> (usize, usize, Vec<String>) {
    let stand = Stand::new(case);
    let (calls, receipt, state) = stand.undisturbed(library);
    assert!(calls.len() > 5, "{}: {calls:?}", case.name);
    let (mut points, mut left, mut failures) = (0, 0, Vec::new());
    for (index, call) in calls.iter().enumerate() {
        // In the draft of a new store one page follows another; the file has its name only
        // when it is whole. Inside such a run one write in eight is enough.
        let run_of_writes = index >= 4
            && index + 4 < calls.len()
            && call == "write"
            && calls[index - 4..index + 4].iter().all(|c| c == "write");
        if run_of_writes && calls.len() > 90 && !index.is_multiple_of(8) {
            continue;
        }
        let torn = (call == "write" && index.is_multiple_of(3)).then_some(Kind::Torn);
        for kind in [Some(Kind::Kill), torn].into_iter().flatten() {
            points += 1;
            // Torn counts no answers, which come last.
            match stand.point(library, (kind, index + 1), (&receipt, &state)) {
                Ok(litter) => left += usize::from(litter > 0),
                Err(why) => failures.push(format!(
                    "{}: {kind:?} at {} ({call}): {why}",
                    case.name,
                    index + 1
                )),
            }
        }
    }
    (points, left, failures)
}
