//! Recorded rows about the worker, replayed with the real one: kind `worker`, and of kind
//! `seed_expected` the contracts `wake_stop_exit_code` and `post_success`. A row that is
//! answered otherwise is in `tests/vectors/DIFFERENCES.md`, under "worker", with the reason.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::goal::Goal;
use loopx_tests::worker::{Live, lines, members, pid_in, run};
use loopx_tests::{binary, repository};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs;

const A: &str = "agent-a";

fn rows(wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let file = repository().join("tests/vectors/scheduler.jsonl");
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).filter(wanted).collect()
}

fn of_contract(contract: &str) -> Vec<Value> {
    rows(|row| row["kind"] == "seed_expected" && row["contract"] == contract)
}

fn working(todos: usize) -> Goal {
    let goal = Goal::new(&[A]);
    for n in 1..=todos {
        goal.todo(&format!("[P1] Part {n}"), &[]);
    }
    goal
}

/// `status phase_or_kind key=value ...` of a row against a line.
fn matches(line: &Value, recorded: &str) -> bool {
    let mut words = recorded.split(' ');
    let status = words.next().unwrap_or_default();
    line["status"] == status
        && words.all(|word| match word.split_once('=') {
            // A signal is told as a shell tells it, and the last step of a ladder that ends
            // there is no wait.
            Some(("wake_rc", number)) => {
                let recorded: i64 = number.parse().unwrap();
                let told = if recorded < 0 { 128 - recorded } else { recorded };
                line["wake_rc"] == told
            }
            Some(("next_check_minutes", "120")) => line["next_check_minutes"].is_null(),
            Some((key, value)) => {
                line[key].as_str().map_or_else(|| line[key].to_string(), str::to_owned) == value
            }
            None => line["phase"] == word,
        })
}

#[track_caller]
fn compare(row: &Value, code: i32, said: &[Value]) {
    let recorded = row.get("seed_expected").unwrap_or(row);
    let status = match recorded["rc"].as_i64().unwrap() {
        // 256 - 9, which is what an exit with -9 comes to.
        247 => 137,
        other => other,
    };
    assert_eq!(i64::from(code), status, "{row}\n{said:#?}");
    let lines: Vec<&str> =
        recorded["status"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    assert_eq!(said.len(), lines.len(), "{row}\n{said:#?}");
    for (line, recorded) in said.iter().zip(lines) {
        assert!(matches(line, recorded), "{row}\n{recorded}: {line}");
    }
}

/// Looks of an observer at a gate, each when it is due; what the last one says.
fn looks_at_a_gate(prior: u64) -> (i32, Vec<Value>) {
    let goal = working(1);
    goal.gate("May we?", &["--global-gate"]);
    // The steps of the ladder, and one look after the limit.
    let instants = ["12:00", "12:30", "13:30", "13:31"];
    let mut last = (0, Vec::new());
    for time in &instants[..=usize::try_from(prior).unwrap()] {
        let said = run(&goal.sandbox, Some(&format!("2026-11-29T{time}:00Z")), A, &["--once"]);
        last = (said.code, lines(&said.stdout));
    }
    last
}

#[test]
fn rows_of_the_earlier_worker() {
    let mut replayed = 0;
    for row in rows(|row| row["kind"] == "worker") {
        let packet = row["packet"].as_str().unwrap_or_default();
        let flags: Vec<&str> =
            row["flags"].as_array().into_iter().flatten().map(|f| f.as_str().unwrap()).collect();
        let wake = flags.iter().find_map(|flag| flag.strip_prefix("--wake-cmd "));
        let (code, said) = match (packet, wake) {
            ("waiting_user", _) => looks_at_a_gate(row["prior_unchanged"].as_u64().unwrap()),
            ("work_ready", Some("long")) => {
                // The defect: the child outlived the worker.
                let goal = working(1);
                let wake = "sh -c 'echo $$ > group; sleep 60 & wait'";
                let mut worker = Live::start(&goal.sandbox, A, &["--wake-cmd", wake]);
                let group = pid_in(&goal.sandbox.project().join("group"));
                worker.signal(Signal::SIGTERM);
                assert_eq!(i64::from(worker.end()), row["rc"].as_i64().unwrap());
                assert_eq!(members(group), Vec::<String>::new());
                replayed += 1;
                continue;
            }
            ("work_ready", wake) => {
                let goal = working(1);
                let command = wake.map(|script| format!("sh -c '{script}'"));
                let timeout =
                    flags.iter().find_map(|flag| flag.strip_prefix("--wake-timeout-seconds "));
                let mut rest = vec!["--once"];
                for (flag, value) in
                    [("--wake-cmd", command.as_deref()), ("--wake-timeout-seconds", timeout)]
                {
                    rest.extend(value.into_iter().flat_map(|value| [flag, value]));
                }
                let said = run(&goal.sandbox, None, A, &rest);
                (said.code, lines(&said.stdout))
            }
            ("quota CLI exits 1", _) => {
                let goal = working(1);
                fs::write(goal.sandbox.registry(), "[]").unwrap();
                let said = run(&goal.sandbox, None, A, &["--once"]);
                (said.code, lines(&said.stdout))
            }
            (packet, _) if packet.starts_with("terminal") => {
                let goal = working(1);
                let todo = goal.ok("todo list", &[])["todos"][0]["todo_id"].clone();
                let done = ["--todo-id", todo.as_str().unwrap(), "--agent-id", A];
                goal.ok(
                    "todo complete",
                    &[&done[..], &["--no-follow-up", "--evidence", "x"]].concat(),
                );
                let said = run(&goal.sandbox, None, A, &["--once"]);
                (said.code, lines(&said.stdout))
            }
            // The flag exists now, and the route is another: DIFFERENCES.md.
            _ => continue,
        };
        compare(&row, code, &said);
        replayed += 1;
    }
    assert_eq!(replayed, 12);
}

#[test]
fn rows_of_the_stop_code() {
    let mut replayed = 0;
    for row in of_contract("wake_stop_exit_code") {
        if let Some(values) = row["option_values_rejected"].as_array() {
            for value in values {
                let given = format!("--wake-stop-exit-code={value}");
                let goal = working(1);
                let said = run(&goal.sandbox, None, A, &["--wake-cmd", "true", &given]);
                assert_eq!(said.code, 2, "{row} {said}");
            }
            replayed += 1;
            continue;
        }
        if row["once"] == false {
            // In a loop: `rows_after_a_success`.
            continue;
        }
        let exit = row["child_exit"].as_i64().unwrap();
        let timeout = row["failure_kind"] == "timeout";
        let script = match timeout {
            true => format!("trap \"exit {exit}\" TERM; while :; do sleep 0.05; done"),
            false => format!("exit {exit}"),
        };
        let wake = format!("sh -c '{script}'");
        let option = row["option"].as_i64().map(|o| o.to_string());
        let mut rest = vec!["--once", "--wake-cmd", &wake];
        rest.extend(option.iter().flat_map(|o| ["--wake-stop-exit-code", o.as_str()]));
        if timeout {
            rest.extend(["--wake-timeout-seconds", "0.3"]);
        }
        let goal = working(1);
        let said = run(&goal.sandbox, None, A, &rest);
        assert_eq!(json!(said.code), row["result"], "{row} {said}");
        replayed += 1;
    }
    assert_eq!(replayed, 5);
}

#[test]
fn rows_after_a_success() {
    let mut replayed = 0;
    for row in of_contract("post_success") {
        let sequence: Vec<&str> =
            row["sequence"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
        let runs = sequence.iter().filter(|s| s.starts_with("run_now")).count();
        // Waits of minutes are not slept through here; see `worker_wakes` and the unit
        // tests of waiting.
        if sequence.iter().any(|s| s.contains("1m")) {
            continue;
        }
        let failing = row["wake"] == "exit 1";
        let goal = working(runs);
        let settle = format!(
            "{} turn settle --goal-id g --agent-id agent-a --turn-instance-id \"$LOOPX_TURN\" \
             --outcome completed --evidence x --no-follow-up; exit {}",
            binary().display(),
            u8::from(failing)
        );
        let wake = format!("sh -c '{settle}'");
        let rest = ["--wake-cmd", &wake, "--error-backoff-seconds", "5"];
        let said = run(&goal.sandbox, None, A, &rest);
        assert_eq!(said.code, 0, "{row} {said}");
        let lines = lines(&said.stdout);
        let of = |status: &str| lines.iter().filter(|l| l["status"] == status).count();
        assert_eq!(json!(of("should_run")), row["wakes"], "{row} {said}");
        assert_eq!(of("terminal"), 1, "{row} {said}");
        let sleeps: Vec<Value> = lines
            .iter()
            .filter(|l| l["status"] == "wake_failed_backoff")
            .map(|l| l["backoff_seconds"].clone())
            .collect();
        assert_eq!(json!(sleeps), row["sleeps"], "{row} {said}");
        replayed += 1;
    }
    assert_eq!(replayed, 3);
}
