//! A project of the earlier tool, as large as real ones get: 200 todos of every kind,
//! 2,000 rows of ledger with what goes wrong in ledgers, every kind of gate. It decides
//! the same read in place and after the import, and comes through export and import
//! with equal bytes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::tree::Tree;
use loopx_tests::{Sandbox, at_once, earlier};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

const NOW: &str = "2026-11-29T21:00:00+00:00";
const STATE_FILE: &str = ".codex/goals/g/ACTIVE_GOAL_STATE.md";
const AGENTS: [&str; 3] = ["agent-a", "agent-b", "agent-c"];

/// `minutes` before [`NOW`], negative ones after it, as the earlier tool writes instants.
fn minutes_ago(minutes: i64) -> String {
    let of_day = 21 * 60 - minutes;
    let (days, minute) = (of_day.div_euclid(1440), of_day.rem_euclid(1440));
    format!("2026-11-{:02}T{:02}:{:02}:00+00:00", 29 + days, minute / 60, minute % 60)
}

// ---- todos

#[derive(Clone)]
struct Line {
    id: String,
    user: bool,
    mark: char,
    archived: bool,
    text: String,
    facts: Vec<(&'static str, String)>,
}

impl Line {
    fn new(n: usize, user: bool, mark: char, text: &str, facts: &str) -> Self {
        let facts = facts.split_whitespace().map(|fact| fact.split_once('=').unwrap());
        Self {
            id: format!("todo_{n:012x}"),
            user,
            mark,
            archived: false,
            text: text.to_owned(),
            facts: facts.map(|(key, value)| (known(key), value.to_owned())).collect(),
        }
    }

    fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str())
    }

    fn set(&mut self, key: &'static str, value: &str) {
        self.facts.retain(|(name, _)| *name != key);
        self.facts.push((key, value.to_owned()));
    }

    fn is(&self, class: &str) -> bool {
        self.fact("task_class") == Some(class)
    }

    fn is_open(&self) -> bool {
        self.mark != 'x'
    }

    fn write(&self, out: &mut String) {
        let Self { id, mark, text, .. } = self;
        let status = self.fact("status").unwrap_or(match mark {
            'x' => "done",
            '-' => "deferred",
            _ => "open",
        });
        let facts: String = self
            .facts
            .iter()
            .filter(|(key, _)| *key != "status")
            .map(|(key, value)| format!(" {key}={value}"))
            .collect();
        write!(
            out,
            "- [{mark}] {text}\n  <!-- loopx:todo todo_id={id} status={status}{facts} -->\n"
        )
        .unwrap();
    }
}

/// Facts are written in the tests as text; the struct keeps their names as they are.
fn known(key: &str) -> &'static str {
    Box::leak(key.to_owned().into_boxed_str())
}

/// Two hundred todos: ten rounds of twenty kinds. No gate is open.
fn mixed_todos() -> Vec<Line> {
    let mut lines = Vec::new();
    for round in 0..10 {
        let owner = AGENTS[round % 3];
        let done = format!("todo_{:012x}", round * 20 + 15);
        let open = format!("todo_{:012x}", round * 20);
        let priority = ["[P0] ", "[P1] ", "[P2] ", "[P3] ", ""][round % 5];
        let kinds: [(bool, char, String, String); 20] = [
            (false, ' ', format!("{priority}write chapter {round}"), "task_class=advancement_task action_kind=docs x_vendor=some%20value%2C%20kept zz_9=1".into()),
            (false, ' ', format!("[P2] claimed work {round}"), format!("task_class=advancement_task claimed_by={owner} note=see%20issue%20{round}")),
            (false, ' ', format!("implement part {round}"), "task_class=advancement_task action_kind=implement_feature required_write_scopes=src%2F%2A%2A".into()),
            (false, ' ', format!("[P1] outside the scope {round}"), "task_class=advancement_task required_write_scopes=secret%2F%2A%2A action_kind=docs".into()),
            (false, ' ', format!("[P3] 写文档 and emoji \u{1f680} {round}"), "task_class=advancement_task".into()),
            (false, ' ', format!("[P1] not for b {round}"), "task_class=advancement_task excluded_agents=agent-b".into()),
            (false, ' ', format!("[P2] claimed by a stranger {round}"), "task_class=advancement_task claimed_by=agent-gone".into()),
            (false, ' ', format!("no class at all {round}"), "action_kind=research".into()),
            (false, ' ', format!("[P2] watch the build {round}"), format!("task_class=continuous_monitor target_key=build-{round} cadence=30m next_due_at={} last_checked_at={} consecutive_no_change=2", encoded(&minutes_ago(5)), encoded(&minutes_ago(35)))),
            (false, ' ', format!("[P0] watch the mail {round}"), format!("task_class=continuous_monitor cadence=6h next_due_at={}", encoded(&minutes_ago(-60)))),
            (false, ' ', format!("watch what has ended {round}"), format!("task_class=continuous_monitor cadence=1h expires_at={}", encoded(&minutes_ago(90)))),
            (false, '-', format!("[P3] after another {round}"), format!("task_class=advancement_task resume_when=todo_done:{}", if round % 2 == 0 { &done } else { &open })),
            (false, '-', format!("[P4] after a merge {round}"), format!("task_class=advancement_task resume_when=pr_merged:{}", ["acme%2Fproject%237", "%2399"][round % 2])),
            (false, ' ', format!("stuck {round}"), "task_class=advancement_task status=blocked reason=no%20access".into()),
            (false, 'x', format!("finished for good {round}"), format!("task_class=advancement_task no_followup=true completion_continuation=no_followup completed_at={} evidence=it%20works", encoded(&minutes_ago(900 + i64::try_from(round).unwrap())))),
            (false, 'x', format!("finished, more to come {round}"), format!("task_class=advancement_task claimed_by={owner} completed_at={}", encoded(&minutes_ago(800)))),
            (true, ' ', format!("buy a domain {round}"), format!("task_class=user_action bound_agent={owner}")),
            (true, 'x', format!("may we {round}?"), format!("task_class=user_gate decision_scope=direction:goal:area{round} decision_outcome=approve completed_at={}", encoded(&minutes_ago(700)))),
            (false, ' ', format!("[P1] needs the decision {round}"), format!("task_class=advancement_task required_decision_scopes=direction:goal:area{round}")),
            (false, ' ', format!("[P2] needs a login {round}"), format!("task_class=advancement_task required_capabilities={}", ["credentials", "browser"][round % 2])),
        ];
        for (kind, (user, mark, text, facts)) in kinds.into_iter().enumerate() {
            let mut line = Line::new(round * 20 + kind, user, mark, &text, &facts);
            line.archived = kind == 14 && round % 2 == 0;
            lines.push(line);
        }
    }
    lines
}

fn encoded(instant: &str) -> String {
    instant.replace('+', "%2B")
}

fn state_file(lines: &[Line]) -> String {
    let (mut user, mut agent, mut archive) = (String::new(), String::new(), String::new());
    for (n, line) in lines.iter().enumerate() {
        let list = match (line.archived, line.user) {
            (true, _) => &mut archive,
            (false, true) => &mut user,
            (false, false) => &mut agent,
        };
        line.write(list);
        // What people write between todos.
        if n == 40 {
            agent.push_str("\n> a remark that is no todo\n\n");
        }
    }
    format!(
        "---\nstatus: active\nowner_mode: goal\nobjective: \"ship it\"\nupdated_at: {}\n\
         adapter_id: g\n---\n\n# Active Goal State\n\n## Objective\n\nship it\n\n\
         ## User Todo / Owner Review Reading Queue\n\n{user}\n## Agent Todo\n\n{agent}\n\
         ## Completed Work Archive\n\n{archive}\n## Next Action\n\n- [ ] prose, not a todo\n\n\
         ## Progress Ledger\n\n```text\n## Agent Todo\n- [ ] a sample in a fence\n```\n",
        minutes_ago(10),
    )
}

// ---- ledger

struct Ledger {
    index: String,
    rollout: String,
    artifacts: Vec<(String, String)>,
    /// Slots that count at [`NOW`] in a window of 24 hours.
    spent: u64,
}

/// Two thousand rows, a minute apart, the last 1,441 of them in the window.
fn ledger() -> Ledger {
    let mut made =
        Ledger { index: String::new(), rollout: String::new(), artifacts: Vec::new(), spent: 0 };
    for row in 0..2000_i64 {
        let ago = 1999 - row;
        let at = minutes_ago(ago);
        let agent = AGENTS[usize::try_from(row % 3).unwrap()];
        let in_window = ago <= 1440;
        let path = format!("{{root}}/rt/goals/g/runs/run-{row}.json");
        let mut count = |slots: u64| made.spent += if in_window { slots } else { 0 };
        let line = match row % 10 {
            0 => {
                count(2);
                json!({"generated_at": at, "classification": "quota_slot_spent", "agent_id": agent,
                    "json_path": path, "quota_event": {"slots": 2, "source": "heartbeat"}})
            }
            1 => {
                // Three of each four artifacts are there; a missing one counts as one.
                let there = row % 40 != 1;
                count(if there { 3 } else { 1 });
                if there {
                    let event = json!({"quota_event": {"slots": 3, "source": "controller", "agent_id": agent}});
                    made.artifacts
                        .push((format!("rt/goals/g/runs/run-{row}.json"), event.to_string()));
                }
                json!({"generated_at": at, "classification": "quota_slot_spent", "json_path": path})
            }
            // Takes one slot of the spend two rows above back.
            2 => {
                let target = minutes_ago(ago + 2);
                if ago + 2 <= 1440 {
                    made.spent -= 1;
                }
                json!({"generated_at": at, "classification": "quota_slot_voided", "json_path": path,
                    "quota_event": {"slots": 1, "voided_run_generated_at": target}})
            }
            3 => json!({"generated_at": at, "classification": "state_refreshed", "json_path": path,
                "agent_id": agent, "todo_id": "todo_000000000001", "delivery_outcome": "outcome_progress",
                "recommended_action": "go on", "turn_instance_id": format!("old-turn-{row}")}),
            4 => json!({"generated_at": at, "classification": "state_refreshed", "json_path": path,
                "agent_id": agent, "delivery_outcome": "surface_only"}),
            5 => {
                json!({"generated_at": at, "classification": "quota_monitor_poll", "json_path": path,
                "agent_id": agent, "delivery_outcome": "no_change"})
            }
            // The last ten of these lie in the future: a clock had been ahead.
            6 if row > 1900 => {
                made.spent += 1;
                let ahead = minutes_ago(-(row - 1900));
                json!({"generated_at": ahead, "classification": "quota_slot_spent", "json_path": path,
                    "agent_id": agent, "quota_event": {"slots": 1}})
            }
            6 => json!({"generated_at": at, "classification": "something_new", "json_path": path,
                "shape": {"nobody": ["knows"]}}),
            7 => {
                // An append that was cut off, with the next one glued to it: the whole one counts.
                count(1);
                let whole = json!({"generated_at": at, "classification": "quota_slot_spent",
                    "json_path": path, "agent_id": agent, "quota_event": {"slots": 1}});
                writeln!(made.index, "{{\"generated_at\":\"{at}\",\"classifica{whole}").unwrap();
                continue;
            }
            8 => {
                made.index.push_str("{\"generated_at\": broken\n");
                continue;
            }
            _ => {
                // One run in two rows, as the earlier tool appends them.
                let row = json!({"generated_at": at, "classification": "quota_slot_spent",
                    "json_path": path, "agent_id": agent, "quota_event": {"slots": 1}});
                count(1);
                writeln!(made.index, "{row}").unwrap();
                row
            }
        };
        writeln!(made.index, "{line}").unwrap();
    }
    for n in 0..30 {
        let agent = AGENTS[n % 3];
        let line = json!({"agent_id": agent, "event_kind": "quota_should_run", "run_id": format!("seen-{n}"),
            "recorded_at": minutes_ago(60), "details": {"should_run": n % 2 == 0, "todo_id": "todo_000000000001"}});
        writeln!(made.rollout, "{line}").unwrap();
    }
    made.rollout.push_str("{\"agent_id\": torn\n");
    let merged = json!({"agent_id": "agent-a", "event_kind": "pr_merge", "recorded_at": minutes_ago(50),
        "code_refs": ["https://github.com/acme/project/pull/7"]});
    writeln!(made.rollout, "{merged}").unwrap();
    made
}

// ---- projects

/// How the state file's text is written down.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Plain,
    Crlf,
    Bom,
}

struct Project {
    name: &'static str,
    lines: Vec<Line>,
    entry: Value,
    allowed: u64,
    compute: f64,
    encoding: Encoding,
}

impl Project {
    fn new(name: &'static str) -> Self {
        let mut entry = earlier::Goal::new("g", &AGENTS).entry;
        entry["coordination"]["write_scope"] = json!(["docs/**", "src/**"]);
        entry["a_field_of_a_newer_tool"] = json!({"kept": true});
        Self {
            name,
            lines: mixed_todos(),
            entry,
            allowed: 100_000,
            compute: 1.0,
            encoding: Encoding::Plain,
        }
    }

    fn with(mut self, n: usize, user: bool, text: &str, facts: &str) -> Self {
        self.lines.push(Line::new(1000 + n, user, ' ', text, facts));
        self
    }

    fn edited(mut self, edit: impl Fn(&mut Line)) -> Self {
        self.lines.iter_mut().for_each(edit);
        self
    }

    fn keeping(mut self, keep: impl Fn(&Line) -> bool) -> Self {
        self.lines.retain(keep);
        self
    }

    fn entry(mut self, edit: impl Fn(&mut Value)) -> Self {
        edit(&mut self.entry);
        self
    }

    fn lay_out(&self) -> Sandbox {
        let mut goal = earlier::Goal::new("g", &AGENTS);
        goal.entry = self.entry.clone();
        goal.entry["quota"] =
            json!({"compute": self.compute, "window_hours": 24, "allowed_slots": self.allowed});
        let mut files: Map<String, Value> = earlier::files(&[goal]);
        let text = state_file(&self.lines);
        let text = match self.encoding {
            Encoding::Plain => text,
            Encoding::Crlf => text.replace('\n', "\r\n"),
            Encoding::Bom => format!("\u{feff}{text}"),
        };
        files.insert(STATE_FILE.into(), text.into());
        let ledger = ledger();
        files.insert("rt/goals/g/runs/index.jsonl".into(), ledger.index.into());
        files.insert("rt/goals/g/rollout-event-log.jsonl".into(), ledger.rollout.into());
        for (path, body) in ledger.artifacts {
            files.insert(path, body.into());
        }
        Sandbox::with_files(&files)
    }
}

fn is_work(line: &Line) -> bool {
    !line.user && line.is_open()
}

fn projects() -> Vec<Project> {
    let first = "todo_000000000000";
    let blocked = |line: &mut Line| {
        if is_work(line) {
            line.set("status", "blocked");
        }
    };
    vec![
        Project::new("as it is"),
        Project { encoding: Encoding::Crlf, ..Project::new("CRLF") },
        Project { encoding: Encoding::Bom, ..Project::new("byte order mark") },
        Project::new("global gate").with(
            0,
            true,
            "[P0] stop all?",
            "task_class=user_gate global_gate=true",
        ),
        Project::new("gate for one agent").with(
            0,
            true,
            "[P0] stop a?",
            "task_class=user_gate blocks_agent=agent-a bound_agent=agent-a",
        ),
        Project::new("gate on a todo").with(
            0,
            true,
            "[P0] this one?",
            &format!("task_class=user_gate unblocks_todo_id={first}"),
        ),
        Project::new("gate by scope").with(
            0,
            true,
            "area?",
            "task_class=user_gate decision_scope=direction:goal:area0",
        ),
        Project::new("gate that names nothing").with(0, true, "well?", "task_class=user_gate"),
        Project::new("user todo without a class").with(0, true, "hm", "note=x"),
        Project::new("two gates and nothing eligible")
            .edited(blocked)
            .with(0, true, "a?", "task_class=user_gate decision_scope=direction:goal:area1")
            .with(1, true, "b?", "task_class=user_gate blocks_agent=agent-b"),
        Project { allowed: 1, ..Project::new("throttled") },
        Project { compute: 0.0, ..Project::new("no compute") },
        Project::new("stopped").entry(|entry| entry["status"] = json!("archived")),
        Project::new("watches only")
            .entry(|entry| {
                entry["coordination"]["agent_work_modes"] = json!({"agent-a": "monitor_only"});
            })
            .keeping(|line| !(line.is("continuous_monitor") && line.text.contains("build"))),
        Project::new("only monitors that are not due")
            .keeping(|line| !is_work(line) || line.text.contains("watch the mail"))
            .keeping(|line| line.is_open() || line.fact("no_followup").is_some())
            .keeping(|line| !line.is("user_action")),
        Project::new("a monitor without a schedule")
            .keeping(|line| !is_work(line))
            .keeping(|line| !line.is("user_action"))
            .with(0, false, "look now and then", "task_class=continuous_monitor"),
        Project::new("a monitor that never changes")
            .keeping(|line| !is_work(line) || line.text.contains("watch the mail"))
            .edited(|line| {
                if line.is("continuous_monitor") {
                    line.set("consecutive_no_change", "9");
                    line.set("claimed_by", "agent-b");
                }
            }),
        Project::new("deferred and ready").keeping(|line| !is_work(line) || line.mark == '-'),
        Project::new("blocked").edited(blocked).keeping(|line| !line.is("user_action")).edited(
            |line| {
                line.facts.retain(|(key, _)| {
                    !matches!(*key, "claimed_by" | "resume_when" | "excluded_agents")
                })
            },
        ),
        Project::new("done, and what follows is somewhere else")
            .keeping(|line| !is_work(line))
            .edited(|line| {
                line.facts.retain(|(key, _)| *key != "no_followup");
                line.set("completion_continuation", "successor");
            })
            .keeping(|line| !line.is("user_action")),
        Project::new("lacks a capability")
            .keeping(|line| !is_work(line) || line.fact("required_capabilities").is_some())
            .keeping(|line| !line.is("user_action")),
        Project::new("needs a decision")
            .keeping(|line| !is_work(line) || line.fact("required_decision_scopes").is_some()),
        Project::new("needs a worktree")
            .keeping(|line| !is_work(line) || line.text.starts_with("implement")),
        Project::new("all of it held by b").keeping(|line| !line.is("user_action")).edited(
            |line| {
                if is_work(line) {
                    line.set("claimed_by", "agent-b");
                }
            },
        ),
        Project::new("done, and something dangles").keeping(|line| !is_work(line)),
        Project::new("done").keeping(|line| !line.is_open() && line.fact("no_followup").is_some()),
        Project::new("nothing but a user's list").keeping(|line| line.user && !line.is_open()),
        Project::new("two todos with one id").edited(|line| {
            if line.id == "todo_000000000004" {
                line.id = first.to_owned();
            }
        }),
        Project::new("unreadable metadata").with(
            0,
            false,
            "bad",
            "task_class=advancement_task next_due_at=tomorrow",
        ),
        Project::new("unreadable metadata that may be mended")
            .entry(|entry| {
                entry["control_plane"] =
                    json!({"self_repair": {"enabled": true, "allow_health_blocker_repair": true}});
            })
            .with(0, false, "bad", "task_class=advancement_task cadence=often"),
        Project::new("no roster").entry(|entry| {
            entry["coordination"].as_object_mut().unwrap().remove("registered_agents");
        }),
    ]
}

// ---- the questions

fn question(agent: Option<&str>, more: &[&str]) -> Vec<String> {
    let mut words: Vec<String> =
        ["quota", "should-run", "--goal-id", "g"].map(str::to_owned).to_vec();
    words.extend(agent.into_iter().flat_map(|agent| ["--agent-id".into(), agent.into()]));
    words.extend(more.iter().map(|word| (*word).to_owned()));
    words
}

/// A packet without the two tokens that are digests of, among others, the goal's
/// identity. Before the import that is its name and afterwards its `goal_uid`: a loop
/// that waits across the import starts its ladder once more, and a person is told once
/// more. Nothing else may differ.
fn without_tokens(mut packet: Value) -> Value {
    let map = packet.as_object_mut().unwrap();
    map.remove("notify_key");
    if let Some(hint) = map.get_mut("scheduler_hint").and_then(Value::as_object_mut) {
        hint.remove("reset_policy");
        if let Some(detail) = hint.get_mut("cold_path_detail").and_then(Value::as_object_mut) {
            detail.remove("reset_policy_detail");
        }
    }
    packet
}

struct Answers {
    packets: Vec<(String, Value)>,
    status: Value,
    todos: Value,
}

fn answers(sandbox: &Sandbox) -> Answers {
    let now = sandbox.at(NOW);
    let mut packets = Vec::new();
    for agent in [None].into_iter().chain(AGENTS.map(Some)) {
        let plain = (agent == Some("agent-b")).then_some(&["--independent-worktree"][..]);
        for more in [&["--include-detail", "all"][..]].into_iter().chain(plain) {
            let output = now.run(question(agent, more));
            packets.push((format!("{agent:?} {more:?}"), without_tokens(output.json())));
        }
    }
    Answers {
        packets,
        status: now.json(["quota", "status", "--goal-id", "g"]),
        todos: now.json(["todo", "list", "--goal-id", "g", "--archived"]),
    }
}

#[track_caller]
fn assert_same(name: &str, left: &Answers, right: &Answers) {
    for ((asked, left), (_, right)) in left.packets.iter().zip(&right.packets) {
        assert_eq!(left, right, "\n{name}: {asked}\nleft  {left}\nright {right}");
    }
    assert_eq!(left.status, right.status, "{name}: quota status");
    assert_eq!(left.todos, right.todos, "{name}: todo list");
}

/// The first write imports. This one says nothing about any todo and delivers nothing.
fn import_by_a_neutral_write(sandbox: &Sandbox) -> Value {
    let call = sandbox.at(NOW);
    let mut words = vec!["refresh-state", "--goal-id", "g"];
    let roster = !sandbox.entry("g")["coordination"]["registered_agents"].is_null();
    words.extend(["--agent-id", "agent-c"].into_iter().filter(|_| roster));
    call.json(words)
}

fn state_bytes(sandbox: &Sandbox) -> Vec<u8> {
    fs::read(sandbox.project().join(STATE_FILE)).unwrap()
}

/// What each project is expected to be about: a variant that decides by no rule of its
/// own would test nothing.
const RULES: [&str; 18] = [
    "agent_scope_exhausted",
    "gate",
    "gate_fallback",
    "goal_stopped",
    "health",
    "identity",
    "identity_missing",
    "monitor_only",
    "monitor_quiet",
    "quota_paused",
    "reassignment_required",
    "repair",
    "replan",
    "run",
    "stalled",
    "successor",
    "terminal",
    "throttled",
];

/// The rules that a project decides by; it is read in place, imported and asked again.
fn rules_of(project: &Project, spent: u64) -> BTreeSet<String> {
    let sandbox = project.lay_out();
    let name = project.name;
    let before = Tree::of(sandbox.base());
    let in_place = answers(&sandbox);
    let changes = Tree::of(sandbox.base()).changes_since(&before);
    assert!(changes.is_empty(), "{name}: reading in place changed files: {changes:#?}");
    assert_eq!(in_place.status["goals"][0]["spent_slots"], spent, "{name}");

    let shown = state_bytes(&sandbox);
    let imported = import_by_a_neutral_write(&sandbox);
    assert_eq!(imported["ok"], true, "{name}: {imported}");
    assert!(sandbox.store_folder("g").join("goal.db").is_file(), "{name}");
    assert!(shown == state_bytes(&sandbox), "{name}: the import touched the state file");
    assert_same(name, &in_place, &answers(&sandbox));
    let rules = in_place.packets.iter().map(|(_, packet)| packet["rule"].as_str().unwrap());
    rules.map(str::to_owned).collect()
}

#[test]
fn a_project_decides_the_same_in_place_and_after_the_import() {
    let (spent, projects) = (ledger().spent, projects());
    let halves: Vec<_> = projects.chunks(projects.len().div_ceil(2)).collect();
    let rules: BTreeSet<String> = thread::scope(|scope| {
        let runs: Vec<_> = halves
            .into_iter()
            .map(|half| {
                scope.spawn(move || {
                    half.iter().flat_map(|p| rules_of(p, spent)).collect::<BTreeSet<_>>()
                })
            })
            .collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    let missing: Vec<_> = RULES.iter().filter(|rule| !rules.contains(**rule)).collect();
    assert!(missing.is_empty(), "no project decides by {missing:?}, only by {rules:?}");
}

fn export(sandbox: &Sandbox, file: &str) -> Vec<u8> {
    let path = sandbox.base().join(file);
    sandbox.at(NOW).json(["export", "--goal-id", "g", "--file", path.to_str().unwrap()]);
    fs::read(path).unwrap()
}

/// Export, import into an empty folder, export: equal bytes, and the same decisions,
/// tokens included, because the goal keeps its identity.
#[track_caller]
fn assert_comes_through_a_transfer(name: &str, sandbox: &Sandbox) {
    let first = export(sandbox, "first.json");
    let base = sandbox.base().to_str().unwrap();
    assert!(!String::from_utf8_lossy(&first).contains(base), "{name}: a local path is exported");
    let other = Sandbox::new();
    let file = other.base().join("carried.json");
    fs::write(&file, &first).unwrap();
    other.at(NOW).json(["import", "--file", file.to_str().unwrap()]);
    let second = export(&other, "second.json");
    assert!(first == second, "{name}: the second export differs from the first");
    assert_same(name, &answers(sandbox), &answers(&other));
    for agent in AGENTS {
        let asked = question(Some(agent), &[]);
        let (here, there) = (sandbox.at(NOW).run(&asked), other.at(NOW).run(&asked));
        assert_eq!(here.stdout, there.stdout, "{name}: {agent}");
    }
    let shown = other.entry("g")["state_file"].as_str().unwrap().to_owned();
    assert!(
        fs::read(other.project().join(shown)).unwrap() == state_bytes(sandbox),
        "{name}: the state file arrives as it was"
    );
}

#[test]
fn an_imported_project_comes_through_export_and_import_with_equal_bytes() {
    let some = ["as it is", "CRLF", "byte order mark", "gate by scope", "two todos with one id"];
    for project in projects().into_iter().filter(|project| some.contains(&project.name)) {
        let sandbox = project.lay_out();
        import_by_a_neutral_write(&sandbox);
        assert_comes_through_a_transfer(project.name, &sandbox);
    }
}

#[test]
fn a_goal_of_this_tool_comes_through_export_and_import_with_equal_bytes() {
    let sandbox = Sandbox::new();
    let now = sandbox.at(NOW);
    let g = ["--goal-id", "g"];
    let run = |words: &[&str]| {
        let (verb, rest) = words.split_at(2);
        now.json(verb.iter().chain(&g).chain(rest))
    };
    run(&[
        "goal",
        "create",
        "--objective",
        "o",
        "--agent-id",
        "agent-a,agent-b,agent-c",
        "--state-file",
        STATE_FILE,
        "--write-scope",
        "**",
        "--allowed-slots",
        "9",
    ]);
    let add = |words: &[&str]| -> String {
        let added = run(&[&["todo", "add"], words].concat());
        added["todo_id"].as_str().unwrap().to_owned()
    };
    let work = add(&[
        "--role",
        "agent",
        "--text",
        "[P1] work \u{1f680} \u{5d0}x",
        "--action-kind",
        "docs",
        "--task-domain",
        "d",
        "--note",
        "a, b=c % \"q\" -->",
    ]);
    let scoped = add(&[
        "--role",
        "agent",
        "--text",
        "[P0] scoped",
        "--required-decision-scope",
        "direction:goal:release",
    ]);
    let gate = add(&[
        "--role",
        "user",
        "--text",
        "release?",
        "--task-class",
        "user_gate",
        "--decision-scope",
        "direction:goal:release",
    ]);
    let refused = add(&[
        "--role",
        "user",
        "--text",
        "rewrite?",
        "--task-class",
        "user_gate",
        "--unblocks-todo-id",
        &work,
        "--goal-bound",
    ]);
    add(&[
        "--role",
        "user",
        "--text",
        "for b?",
        "--task-class",
        "user_gate",
        "--blocks-agent",
        "agent-b",
    ]);
    add(&[
        "--role",
        "agent",
        "--text",
        "watch",
        "--task-class",
        "continuous_monitor",
        "--cadence",
        "30m",
    ]);
    add(&[
        "--role",
        "agent",
        "--text",
        "later",
        "--status",
        "deferred",
        "--resume-when",
        &format!("todo_done:{work}"),
    ]);
    run(&["todo", "complete", "--todo-id", &gate, "--decision-outcome", "approve"]);
    run(&["todo", "complete", "--todo-id", &refused, "--decision-outcome", "cancel"]);
    run(&["todo", "claim", "--todo-id", &work, "--claimed-by", "agent-a"]);
    let turn = ["--agent-id", "agent-c", "--turn-instance-id", "turn-1"];
    let admitted = run(&[&["quota", "should-run"], &turn[..]].concat());
    assert_eq!(admitted["selected_todo"]["todo_id"], scoped.as_str());
    now.json(
        [
            "refresh-state",
            "--goal-id",
            "g",
            "--todo-id",
            &scoped,
            "--delivery-outcome",
            "outcome_progress",
            "--evidence",
            "e1",
            "--evidence",
            "e2",
            "--input-tokens",
            "7",
            "--recommended-action",
            "go on",
        ]
        .iter()
        .chain(&turn),
    );
    run(&[&["quota", "spend-slot", "--execute", "--slots", "2"], &turn[..]].concat());
    // A skip leaves a receipt, three fruitless outcomes a stall.
    run(&["quota", "should-run", "--agent-id", "agent-b", "--turn-instance-id", "turn-2"]);
    for _ in 0..3 {
        now.json([
            "refresh-state",
            "--goal-id",
            "g",
            "--agent-id",
            "agent-a",
            "--todo-id",
            &work,
            "--delivery-outcome",
            "no_change",
        ]);
    }
    run(&[
        "todo",
        "complete",
        "--todo-id",
        &scoped,
        "--agent-id",
        "agent-c",
        "--evidence",
        "done",
        "--next-agent-todo",
        "and then",
    ]);
    run(&["goal", "stop", "--reason", "a pause"]);
    run(&["goal", "resume", "--effect-id", "resume-1"]);
    run(&["agent", "register", "--agent-id", "agent-d"]);
    assert_comes_through_a_transfer("a goal of this tool", &sandbox);
}

/// A turn id that the earlier tool has used stays bound to its agent.
#[test]
fn turn_ids_of_the_earlier_tool_are_not_free_after_the_import() {
    let sandbox = Project::new("as it is").lay_out();
    let asked = question(Some("agent-b"), &["--turn-instance-id", "seen-0"]);
    let refused = sandbox.at(NOW).refusal(asked);
    assert_eq!(refused["error_code"], "turn_conflict", "{refused:#}");
}

/// The first write may be an admission: it answers what the read in place answered.
#[test]
fn an_admission_that_imports_answers_like_the_read_before_it() {
    let sandbox = Project::new("as it is").lay_out();
    // With the detail there is room for everything, so that both are of one size.
    let whole = ["--include-detail", "scheduler"];
    let bound = ["--include-detail", "scheduler", "--turn-instance-id", "turn-1"];
    let read = sandbox.at(NOW).json(question(Some("agent-b"), &whole));
    let admitted = sandbox.at(NOW).json(question(Some("agent-b"), &bound));
    let (mut admitted, mut read) = (without_tokens(admitted), without_tokens(read));
    // What comes next is another command in a turn.
    for packet in [&mut admitted, &mut read] {
        let channel = packet.pointer_mut("/interaction_contract/cli_channel").unwrap();
        assert!(channel.as_object_mut().unwrap().remove("next_cli_actions").is_some());
    }
    let receipt = admitted.as_object_mut().unwrap().remove("heartbeat_receipt").unwrap();
    assert_eq!(receipt, json!({"turn_instance_id": "turn-1", "status": "committed"}));
    assert_eq!(admitted, read);
}

/// The whole project is one commit, whatever its size.
#[test]
fn an_import_is_commit_one() {
    let sandbox = Project::new("as it is").lay_out();
    let written = import_by_a_neutral_write(&sandbox);
    assert_eq!(written["commit"], 2);
    let goal = sandbox.at(NOW).json(["goal", "show", "--goal-id", "g"]);
    let verbs: Vec<_> = goal["commits"].as_array().unwrap().iter().map(|c| &c["verb"]).collect();
    assert_eq!(verbs, ["refresh_state", "import"]);
}

/// Later growth of the earlier tool's ledger: two writers would not see each other.
#[test]
fn a_ledger_that_grows_after_the_import_stops_spends_and_admissions() {
    let sandbox = Project::new("as it is").lay_out();
    import_by_a_neutral_write(&sandbox);
    let now = sandbox.at(NOW);
    now.json([
        "refresh-state",
        "--goal-id",
        "g",
        "--agent-id",
        "agent-a",
        "--delivery-outcome",
        "outcome_progress",
    ]);
    let index = sandbox.runtime_root().join("goals/g/runs/index.jsonl");
    let mut text = fs::read_to_string(&index).unwrap();
    let row = json!({"generated_at": minutes_ago(0), "classification": "quota_slot_spent",
        "agent_id": "agent-a", "json_path": "x", "quota_event": {"slots": 5}});
    writeln!(text, "{row}").unwrap();
    fs::write(&index, text).unwrap();

    let asked = now.json(question(Some("agent-a"), &[]));
    assert_eq!((&asked["rule"], &asked["should_run"]), (&json!("health"), &json!(false)));
    let admitted = now.json(question(Some("agent-a"), &["--turn-instance-id", "turn-1"]));
    assert_eq!(admitted["rule"], "health");
    let spend = ["quota", "spend-slot", "--goal-id", "g", "--agent-id", "agent-a", "--execute"];
    assert_eq!(now.refusal(spend)["error_code"], "legacy_writer_active");

    let adopted = now.json(["goal", "adopt-legacy", "--goal-id", "g"]);
    assert_eq!(adopted["ok"], true);
    let after = now.json(["quota", "status", "--goal-id", "g"]);
    assert_eq!(after["goals"][0]["spent_slots"], ledger().spent + 5);
    assert_eq!(now.json(question(Some("agent-a"), &[]))["rule"], "run");
}

/// Sixteen first writes at once: one imports, and none of them is lost.
#[test]
fn sixteen_first_writes_import_once() {
    let sandbox = Project::new("as it is").lay_out();
    let call = sandbox.at(NOW);
    let before = call.json(["todo", "list", "--goal-id", "g", "--archived"])["todo_count"].as_u64();
    let words = |n: usize| format!("todo add --goal-id g --role agent --text first-write-{n}");
    let outputs = at_once((0..16).map(|n| call.command(words(n).split(' '))).collect());
    for output in &outputs {
        assert_eq!(output.code, 0, "{output}");
    }
    let after = call.json(["todo", "list", "--goal-id", "g", "--archived"])["todo_count"].as_u64();
    assert_eq!(after.unwrap(), before.unwrap() + 16);
    let goal = call.json(["goal", "show", "--goal-id", "g"]);
    assert_eq!(goal["commit"], 17);
    assert_eq!(goal["quota"]["spent_slots"], ledger().spent);
}

/// An import that is killed left the project as it was, or imported it; either way it
/// decides the same and the next write goes on.
#[test]
fn a_killed_import_changes_no_decision() {
    let project = Project::new("as it is");
    let spent = ledger().spent;
    for wait in [2, 8, 14, 20, 26, 32, 45, 60] {
        let sandbox = project.lay_out();
        let read = without_tokens(sandbox.at(NOW).json(question(Some("agent-b"), &[])));
        let mut victim = sandbox
            .at(NOW)
            .command(["refresh-state", "--goal-id", "g", "--agent-id", "agent-c"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(wait));
        // It may be over already.
        let _ = victim.kill();
        victim.wait().unwrap();
        let after = without_tokens(sandbox.at(NOW).json(question(Some("agent-b"), &[])));
        assert_eq!(read, after, "killed after {wait} ms");
        import_by_a_neutral_write(&sandbox);
        let status = sandbox.at(NOW).json(["quota", "status"]);
        assert_eq!(status["goals"][0]["spent_slots"], spent, "killed after {wait} ms");
        let imported = sandbox.at(NOW).json(question(Some("agent-b"), &[]));
        assert_eq!(read, without_tokens(imported), "killed after {wait} ms");
    }
}
