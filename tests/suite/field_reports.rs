//! What went wrong in the field with tools of this kind (`reference/field-reports.md`,
//! B9), tried here. `tests/FIELD_REPORTS.md` says which test answers which row.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::ErrorCode;
use loopx_core::admission::packet::{PACKET_BUDGET, answer};
use loopx_core::admission::{AdmissionRequest, GoalRecords, Situation, Subject, ViewQuery};
use loopx_core::command::todo::TodoAddRequest;
use loopx_core::command::turn::ShouldRunRequest;
use loopx_core::file::holder::HolderNote;
use loopx_core::kernel::{GoalStopRequest, Kernel, KernelOptions};
use loopx_core::model::{
    AgentId, Cadence, Finding, GoalId, GoalPolicy, GoalUid, Instant, QuotaPolicy, ResumeCondition,
    Role, ScopeRequirement, Spend, TaskClass, Todo, TodoId, TodoStatus,
};
use loopx_core::operation::Addressed;
use loopx_core::registry::RouteInput;
use loopx_core::store::sqlite::SqliteOptions;
use loopx_core::store::{Change, Read, SqliteStore};
use loopx_tests::{Sandbox, earlier, process, skip};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant as Stopwatch};

const NOW: &str = "2026-11-29T21:00:00+00:00";
const ASK: &str = "quota should-run --goal-id g --agent-id agent-a";
const NEUTRAL: &str = "refresh-state --goal-id g --agent-id agent-a";

fn new_goal() -> Sandbox {
    let sandbox = Sandbox::new();
    let now = sandbox.at(NOW);
    now.json("goal create --goal-id g --objective o --agent-id agent-a".split(' '));
    now.json("todo add --goal-id g --role agent --text one".split(' '));
    sandbox
}

// ---- 119: seconds for a command over a hundred items

/// A goal with this many open todos and past spends, brought in from the earlier tool.
fn goal_of_size(todos: usize, spends: usize) -> Sandbox {
    let mut goal = earlier::Goal::new("g", &["agent-a"]);
    goal.entry["quota"] = json!({"compute": 1.0, "allowed_slots": 1_000_000});
    for n in 0..todos {
        let text = format!("[P{}] work {n}", n % 5);
        goal = goal.agent_todo(&format!("todo_{n:012x}"), &text, "task_class=advancement_task");
    }
    let mut files = earlier::files(&[goal]);
    let mut index = String::new();
    for n in 0..spends {
        let at = format!("2026-11-29T{:02}:{:02}:{:02}+00:00", n / 3600 % 20, n / 60 % 60, n % 60);
        let row = json!({"generated_at": at, "json_path": n.to_string(), "agent_id": "agent-a",
            "classification": "quota_slot_spent", "quota_event": {"slots": 1}});
        writeln!(index, "{row}").unwrap();
    }
    files.insert("rt/goals/g/runs/index.jsonl".into(), index.into());
    let sandbox = Sandbox::with_files(&files);
    sandbox.at(NOW).json(NEUTRAL.split(' '));
    sandbox
}

fn decide(sandbox: &Sandbox) -> Duration {
    let begun = Stopwatch::now();
    let packet = sandbox.at(NOW).json(ASK.split(' '));
    let took = begun.elapsed();
    assert_eq!((&packet["rule"], &packet["should_run"]), (&json!("run"), &json!(true)));
    took
}

#[test]
fn row_119_ten_thousand_todos_decide_like_ten() {
    let (small, large) = (goal_of_size(10, 10), goal_of_size(10_000, 20_000));
    let packet = large.at(NOW).json(ASK.split(' '));
    assert_eq!(
        (&packet["open_count"], &packet["quota"]["spent_slots"]),
        (&json!(10_000), &json!(20_000))
    );

    // What a decision is shown does not grow: one todo of each shape.
    let uid = large.entry("g")["goal_uid"].as_str().unwrap().to_owned();
    let options = SqliteOptions { deadline: Duration::from_secs(5), holder: HolderNote::default() };
    let path = large.store_folder("g").join("goal.db");
    let store = SqliteStore::open_read_only(&path, &GoalUid::trusted(uid), options).unwrap();
    let query = ViewQuery {
        now: Instant::parse(NOW).unwrap(),
        quota: QuotaPolicy::default(),
        complete: false,
    };
    let view = store.view(&query).unwrap();
    assert_eq!((view.todos.len(), view.counters.agent_open), (1, 10_000));

    // And neither does its time, turn and turn about on the same machine.
    let mut ratios: Vec<f64> =
        (0..9).map(|_| decide(&large).as_secs_f64() / decide(&small).as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    assert!(ratios[4] < 4.0, "ten thousand todos take {:.1} times as long as ten", ratios[4]);
}

// ---- 121: a daemon that wedges, writes that were never flushed

/// One call of each kind.
const CALLS: [&str; 7] = [
    "todo add --goal-id g --role agent --text two",
    NEUTRAL,
    "goal stop --goal-id g",
    "goal resume --goal-id g",
    "agent register --goal-id g --agent-id agent-b",
    "quota should-run --goal-id g --agent-id agent-a --turn-instance-id turn-1",
    ASK,
];

#[test]
#[cfg(target_os = "linux")]
fn row_121_nothing_of_ours_runs_after_a_command() {
    let sandbox = new_goal();
    let mark = format!("probe-{}-{}", std::process::id(), sandbox.base().display());
    for words in CALLS {
        let call = sandbox.at(NOW).env("LOOPX_AGENT_ID", &mark);
        let output = call.run(words.split(' '));
        assert_eq!(output.code, 0, "{output}");
        for entry in fs::read_dir("/proc").unwrap() {
            let environment = entry.unwrap().path().join("environ");
            // Processes of others, and those that end in this moment, cannot be read.
            let Ok(bytes) = fs::read(&environment) else { continue };
            let ours = bytes.windows(mark.len()).any(|window| window == mark.as_bytes());
            assert!(!ours, "{words}: {} still runs", environment.display());
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn row_121_a_write_starts_no_process_and_opens_no_socket() {
    let sandbox = new_goal();
    let log = sandbox.base().join("strace.log");
    let traced =
        "trace=execve,execveat,fork,vfork,clone,?clone3,socket,socketpair,connect,bind,listen";
    let words = ["strace", "-f", "-e", traced, "-o", log.to_str().unwrap()];
    match Command::new(words[0]).args(&words[1..]).arg("true").output() {
        Ok(done) if done.status.success() => {}
        other => return skip("which system calls a write makes", &format!("no strace: {other:?}")),
    }
    for call in CALLS {
        let now = sandbox.at(NOW);
        let output = now.finish(&mut now.command_under(words, call.split(' ')));
        assert_eq!(output.code, 0, "{output}");
        let log = fs::read_to_string(&log).unwrap();
        let calls: Vec<_> = log.lines().filter(|line| line.contains('(')).collect();
        assert!(calls.len() == 1 && calls[0].contains("execve("), "{call}: {calls:#?}");
    }
}

/// What was acknowledged is in the file itself: no log that somebody still has to apply.
#[test]
fn row_121_nothing_is_pending_after_a_write() {
    let sandbox = new_goal();
    let folder = sandbox.store_folder("g");
    for words in CALLS {
        sandbox.at(NOW).json(words.split(' '));
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let pending = name.ends_with("-wal")
                || name.ends_with("-shm")
                || name.contains(".new")
                || (name.ends_with("-journal") && entry.metadata().unwrap().len() > 0);
            assert!(!pending, "{words} left {name}");
        }
    }
    // The store alone, on another machine, has it all.
    let other = sandbox.base().join("copy.db");
    fs::copy(folder.join("goal.db"), &other).unwrap();
    let store = Connection::open(other).unwrap();
    let commits: i64 =
        store.query_row("SELECT count(*) FROM commits", [], |row| row.get(0)).unwrap();
    assert_eq!(commits, 8);
}

// ---- 122: a lock that is held for ever

const DEADLINE: Duration = Duration::from_millis(300);

/// A kernel in this process, because the command line's deadline is long.
fn kernel(sandbox: &Sandbox) -> Kernel {
    let mut options = KernelOptions::new(RouteInput {
        flag: Some(sandbox.registry()),
        runtime_root_flag: Some(sandbox.runtime_root()),
        cwd: sandbox.project(),
        home: Some(sandbox.home()),
        ..RouteInput::default()
    });
    options.deadline = DEADLINE;
    Kernel::open(options).unwrap()
}

/// Takes the lock of a file as another process would hold it.
fn hold(protected: &Path) -> File {
    let mut name = protected.as_os_str().to_owned();
    name.push(".lock");
    let file = File::options().read(true).write(true).open(name).unwrap();
    file.lock().unwrap();
    file
}

/// The code of a refusal that came no earlier than the deadline and soon after it.
#[track_caller]
fn waited(run: impl FnOnce() -> loopx_core::Result<Value>) -> ErrorCode {
    let begun = Stopwatch::now();
    let error = run().unwrap_err();
    let took = begun.elapsed();
    assert!(took >= DEADLINE && took < DEADLINE + Duration::from_secs(5), "waited {took:?}");
    assert!(!error.next_command().is_empty());
    error.code
}

fn add_request() -> TodoAddRequest {
    serde_json::from_value(json!({"role": "agent", "text": "three"})).unwrap()
}

#[test]
fn row_122_a_held_lock_makes_a_writer_wait_its_deadline_and_no_longer() {
    let sandbox = new_goal();
    let (kernel, g) = (kernel(&sandbox), Addressed::to("g"));
    let before = fs::read(sandbox.store_folder("g").join("goal.db")).unwrap();

    let queue = hold(&sandbox.store_folder("g").join("goal.db"));
    let code = waited(|| kernel.todo_add(&g, &add_request()));
    assert_eq!(code, ErrorCode::LockTimeout);
    drop(queue);

    let registry = hold(&sandbox.registry());
    let code = waited(|| kernel.goal_stop(&g, &GoalStopRequest::default()));
    assert_eq!(code, ErrorCode::LockTimeout);
    // An admission waits for it too, because it must not run beside a stop.
    let request = ShouldRunRequest {
        agent_id: Some("agent-a".into()),
        turn_instance_id: Some("turn-1".into()),
        ..ShouldRunRequest::default()
    };
    let begun = Stopwatch::now();
    let packet = kernel.turn_admit(&g, &request);
    assert!(begun.elapsed() < DEADLINE + Duration::from_secs(5));
    assert_eq!(packet["should_run"], false, "{packet:#}");
    assert!(packet.to_string().contains("lock_acquire_timeout"), "{packet:#}");
    drop(registry);

    // Somebody else's transaction, past the queue.
    let store = Connection::open(sandbox.store_folder("g").join("goal.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    let code = waited(|| kernel.todo_add(&g, &add_request()));
    assert_eq!(code, ErrorCode::StoreBusy);
    store.execute_batch("ROLLBACK").unwrap();
    drop(store);

    assert!(before == fs::read(sandbox.store_folder("g").join("goal.db")).unwrap());
    kernel.todo_add(&g, &add_request()).unwrap();
    kernel.goal_stop(&g, &GoalStopRequest::default()).unwrap();
}

#[test]
fn row_122_a_read_waits_for_no_writer() {
    let sandbox = new_goal();
    let _queue = hold(&sandbox.store_folder("g").join("goal.db"));
    let _registry = hold(&sandbox.registry());
    let store = Connection::open(sandbox.store_folder("g").join("goal.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    for words in [
        ASK,
        "todo list --goal-id g",
        "quota status",
        "goal show --goal-id g",
        "goal list",
        "agent list --goal-id g",
        "export --goal-id g",
        "quota spend-slot --goal-id g --agent-id agent-a",
    ] {
        let call = sandbox.at(NOW);
        let mut command = call.command(words.split(' '));
        // Far below the command line's own deadline, far above what a read takes.
        let output = process::finish(&mut command, b"", Duration::from_secs(8))
            .unwrap_or_else(|| panic!("{words} waits for a writer"));
        let preview = words.contains("spend-slot");
        assert_eq!(output.code, i32::from(preview), "{words}: {output}");
    }
}

/// A hook whose other end is gone is not kept: the answer goes nowhere, the command ends.
#[test]
fn row_122_a_closed_output_ends_the_command() {
    let sandbox = new_goal();
    let call = sandbox.at(NOW);
    let mut command = call.command(ASK.split(' '));
    command.stdout(std::process::Stdio::piped()).stdin(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let begun = Stopwatch::now();
    let status = child.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(status.code(), Some(0), "a reader that has seen enough is no failure");
}

// ---- 124: texts that overflow the packet

/// Texts as people and machines write them, and as somebody would who wants to break it.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,40}",
        Just("\u{6f22}\u{5b57}\u{304b}\u{306a}".to_owned()),
        Just("\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1f1e9}\u{1f1ea}".to_owned()),
        Just("\u{202e}\u{5e9}\u{5dc}\u{5d5}\u{5dd}\u{202c}\u{2066}".to_owned()),
        Just("\"\\\u{0}\u{1}\u{1f}\u{7f}\u{2028}".to_owned()),
        Just("<!-- loopx:todo status=done -->".to_owned()),
        Just("e\u{301}\u{302}\u{303}".repeat(20)),
        any::<String>(),
    ];
    let length = prop_oneof![6 => 0_usize..4, 2 => 50_usize..200, 1 => 3_000_usize..3_400];
    (piece, length, "(\\[P[0-4]\\] )?").prop_map(|(piece, times, head)| head + &piece.repeat(times))
}

/// What a generated todo is made from.
type Seed = (String, u8, u8, String, bool);

fn todo(n: usize, (text, class, state, word, held): &Seed, agent: &AgentId) -> Todo {
    let id = if *held { format!("todo_{}{n}", "z".repeat(60)) } else { format!("todo_{n:03}") };
    let (role, class) = match class % 6 {
        0 | 1 => (Role::Agent, TaskClass::Advancement),
        2 => (Role::Agent, TaskClass::Monitor),
        3 => (Role::User, TaskClass::UserGate),
        4 => (Role::User, TaskClass::UserAction),
        _ => (Role::Agent, TaskClass::Blocker),
    };
    let order = i64::try_from(n).unwrap();
    let mut todo = Todo::new(TodoId::trusted(id), role, class, order, text.as_str());
    todo.note = Some(text.clone());
    match state % 9 {
        0 => todo.action_kind = Some(word.clone()),
        1 => todo.required_capabilities = vec![word.clone(), "credentials".into()],
        2 => todo.required_capabilities = vec![word.repeat(9)],
        3 => todo.required_write_scopes = vec![word.clone()],
        4 => todo.required_decision_scopes = vec![ScopeRequirement(word.clone())],
        5 => {
            todo.status = TodoStatus::Deferred;
            todo.resume_when = Some(ResumeCondition::Unsupported(word.clone()));
        }
        6 => {
            todo.target_key = Some(word.clone());
            todo.cadence = Cadence::parse("30m");
        }
        7 => todo.malformed = Some(word.clone()),
        _ => todo.claimed_by = Some(agent.clone()),
    }
    if class == TaskClass::UserGate {
        match state % 4 {
            0 => todo.global_gate = true,
            1 => todo.decision_scope = Some(ScopeRequirement(word.clone())),
            2 => todo.blocks_agent = Some(agent.clone()),
            _ => todo.bound_agent = Some(agent.clone()),
        }
    }
    todo
}

/// A goal and everything that is said about it.
#[derive(Debug)]
struct Said {
    seeds: Vec<Seed>,
    goal: String,
    agent: String,
    findings: Vec<(String, String, String)>,
    spent: u64,
    problem: Option<String>,
    named: bool,
}

fn said(goal: &'static str, agent: &'static str, long_ids: bool) -> impl Strategy<Value = Said> {
    let seed = (hostile_text(), any::<u8>(), any::<u8>(), hostile_text(), Just(long_ids));
    (
        vec(seed, 0..8),
        vec((hostile_text(), hostile_text(), hostile_text()), 0..4),
        0_u64..4,
        proptest::option::weighted(0.1, hostile_text()),
        proptest::bool::weighted(0.9),
    )
        .prop_map(move |(seeds, findings, spent, problem, named)| Said {
            seeds,
            goal: goal.into(),
            agent: agent.into(),
            findings,
            spent,
            problem,
            named,
        })
}

/// The packet is within its budget, valid, and cut only at characters.
fn check_packet(said: &Said) -> Result<(), TestCaseError> {
    let agent = AgentId::trusted(said.agent.as_str());
    let mut policy = GoalPolicy::new(GoalId::trusted(said.goal.as_str()));
    policy.roster = vec![agent.clone(), AgentId::trusted("b")];
    policy.quota.allowed_slots = 3;
    policy.activation_problem.clone_from(&said.problem);
    policy.acceptance_gaps = said.seeds.iter().take(1).map(|seed| seed.0.clone()).collect();
    let mut records = GoalRecords::default();
    for (n, seed) in said.seeds.iter().enumerate() {
        records.apply(&Change::PutTodo(Box::new(todo(n, seed, &agent))));
    }
    for (about, message, next) in &said.findings {
        let finding = Finding::new("f", about.as_str(), message.as_str()).next(next.as_str());
        records.apply(&Change::PutFinding(finding));
    }
    let now = Instant::parse(NOW).unwrap();
    records.apply(&Change::PutSpend(Spend {
        id: 1,
        at: now,
        slots: said.spent,
        voided: 0,
        agent: None,
        todo_id: None,
        turn_id: None,
        source: String::new(),
    }));
    let view = records.view(&ViewQuery { now, quota: policy.quota, complete: true });
    let request =
        AdmissionRequest { agent: said.named.then_some(agent), ..AdmissionRequest::default() };
    let subject = Subject::Goal { policy: &policy, view: &view };
    let answered = answer(&Situation { subject, request: &request, now }, &said.goal);
    let (packet, decision) = (answered.to_value(), answered.decision.clone());
    let text = packet.to_string();
    prop_assert_eq!(&answered.into_text(), &text, "as it was written when it was measured");
    let bytes = text.len();
    prop_assert!(bytes <= PACKET_BUDGET, "{bytes} bytes by rule {}: {text}", decision.rule);
    let back: Value = serde_json::from_str(&text).unwrap();
    prop_assert_eq!(&back, &packet);
    prop_assert_eq!(back["should_run"].as_bool(), Some(decision.verdict.run));
    // A cut text is a beginning of the whole one, as it is shown.
    if let (Some(shown), Some(id)) =
        (packet["selected_todo"]["text"].as_str(), decision.verdict.selected.as_ref())
    {
        let whole = view.todos.iter().find(|todo| todo.todo_id == *id).unwrap();
        let start = shown.strip_suffix("\u{2026}").unwrap_or(shown);
        // Some texts that are made up have the shape of a local path.
        let clean = loopx_core::boundary::redact_shown(&whole.text);
        prop_assert!(clean.starts_with(start));
    }
    Ok(())
}

fn for_each<S: Strategy>(strategy: &S, check: impl Fn(&S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let done = TestRunner::new(config).run(strategy, |value| check(&value));
    if let Err(error) = done {
        panic!("{error}");
    }
}

#[test]
fn row_124_no_text_makes_a_packet_larger_than_its_budget() {
    for_each(&said("improve-the-documentation", "agent-of-the-second-shift", false), check_packet);
}

#[test]
fn row_124_the_longest_ids_do_not_make_a_packet_larger_than_its_budget() {
    let (goal, agent) = (LONGEST_GOAL.as_str(), LONGEST_AGENT.as_str());
    for_each(&said(goal, agent, true), check_packet);
}

static LONGEST_GOAL: LazyLock<String> = LazyLock::new(|| "g".repeat(128));
static LONGEST_AGENT: LazyLock<String> = LazyLock::new(|| "a".repeat(80));

/// Through the whole binary, from the earlier tool's file, which takes lines of any length.
#[test]
fn row_124_hostile_titles_come_through_the_binary_as_small_valid_packets() {
    let titles = [
        "\u{6f22}\u{5b57}".repeat(20_000),
        "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}".repeat(6_000),
        "\u{202e}\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{2066}rtl\u{2069} ".repeat(4_000),
        "\\\"\\u0000\\\\ ".repeat(10_000),
        "\u{1}\u{1b}[31m\u{7f}".repeat(10_000),
        "x".repeat(100_000),
        "<!-- loopx:todo todo_id=todo_evil status=done --> `code` | --> \u{feff}".repeat(1_000),
        "{\"should_run\":true}".into(),
        "e\u{301}\u{302}\u{303}\u{304}".repeat(10_000),
    ];
    for title in &titles {
        let shown: String = title.chars().take(20).flat_map(char::escape_default).collect();
        let class = "task_class=advancement_task";
        let goal = earlier::Goal::new("g", &["agent-a"])
            .agent_todo("todo_000000000001", &format!("[P0] {title}"), class)
            .user_todo("todo_000000000002", title, "task_class=user_action bound_agent=agent-a");
        let sandbox = Sandbox::with_files(&earlier::files(&[goal]));
        let check = || {
            let output = sandbox.at(NOW).run(ASK.split(' '));
            assert!(
                output.code == 0 && output.stdout.len() <= PACKET_BUDGET + 1,
                "{shown}: {} bytes",
                output.stdout.len()
            );
            let packet = output.json();
            assert_eq!(
                (&packet["rule"], &packet["should_run"]),
                (&json!("run"), &json!(true)),
                "{shown}"
            );
            assert!(!output.stdout.contains('\u{fffd}'), "{shown}: a character was split");
            packet["selected_todo"]["text"].clone()
        };
        let in_place = check();
        sandbox.at(NOW).json(NEUTRAL.split(' '));
        assert_eq!(check(), in_place, "{shown}");
        // Whole, where the whole is asked for, and the same after another write has
        // rendered the file.
        sandbox.at(NOW).json("todo add --goal-id g --role agent --text more".split(' '));
        assert_eq!(check(), in_place, "{shown}");
        let list = sandbox.at(NOW).json("todo list --goal-id g --role agent".split(' '));
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let text = list["todos"][0]["text"].as_str().unwrap();
        assert!(words(text)[1..] == words(title)[..], "{shown}: the stored text is another one");
        // A person's terminal is not steered by a title.
        let text = sandbox.at(NOW).unlocated().run(ASK.split(' ').chain(["--format", "text"]));
        assert_eq!(text.code, 0, "{shown}");
    }
}

#[test]
fn row_124_what_a_command_stores_is_bounded() {
    let sandbox = new_goal();
    let now = sandbox.at(NOW);
    let long = "\u{1f680}".repeat(8_001);
    let words = "todo add --goal-id g --role agent --text".split(' ');
    let refused = now.refusal(words.chain([long.as_str()]));
    assert_eq!(refused["error_code"], "text_too_long");
    assert!(refused.to_string().len() < 1_000, "a refusal does not repeat what it refuses");
    let refused =
        now.refusal(["todo", "add", "--goal-id", "g", "--role", "agent", "--text", "a\u{1b}[2J"]);
    assert_eq!(refused["error_code"], "text_refused");
}

/// Who wakes the agent is said by the door, in words of any length.
#[test]
fn row_124_the_words_of_a_door_do_not_make_the_packet_larger_than_its_budget() {
    let sandbox = new_goal();
    let long = "x".repeat(4_000);
    let door = ["-H", &long, "-O", &long, "-M", &long];
    let output = sandbox.at(NOW).run(ASK.split(' ').chain(door));
    assert!(
        output.code == 2 || output.stdout.len() <= PACKET_BUDGET + 1,
        "{} bytes",
        output.stdout.len()
    );
}

#[test]
fn row_124_a_refusal_does_not_repeat_a_goal_id_of_any_length() {
    let sandbox = new_goal();
    let long = "x".repeat(100_000);
    let output = sandbox.at(NOW).run(["quota", "should-run", "--goal-id", &long]);
    assert!(output.stdout.len() <= PACKET_BUDGET + 1, "{} bytes", output.stdout.len());
}
