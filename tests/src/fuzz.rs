//! Made-up input for the parsers and for the kernel's door: whatever comes, never a panic.
//!
//! The mutator knows the words of each format and nothing of coverage: the stable
//! toolchain has no libFuzzer runtime of its own. What it finds is kept in
//! `tests/fuzz/corpus/<target>`, which `tests/suite/fuzz_corpus.rs` replays.

use crate::{Sandbox, repository};
use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::model::{Instant, Todo};
use loopx_core::operation::Operation;
use loopx_core::registry::{Registry, RouteInput, policy};
use loopx_core::state_file::{Document, render};
use serde_json::{Map, Value, json};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

/// What is fuzzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A registry file, read, rendered and decided on.
    Registry,
    /// A state file, parsed and drawn again.
    StateFile,
    /// The metadata comment of one todo.
    Metadata,
    /// Operations with JSON objects, one a line, on a small goal.
    Request,
}

impl Target {
    /// All.
    pub const ALL: [Self; 4] = [Self::Registry, Self::StateFile, Self::Metadata, Self::Request];

    /// Its name, and its folder in the corpus.
    pub fn name(self) -> &'static str {
        match self {
            Self::Registry => "registry",
            Self::StateFile => "state-file",
            Self::Metadata => "metadata",
            Self::Request => "request",
        }
    }

    /// The target of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    fn folder(self) -> PathBuf {
        repository().join("tests/fuzz/corpus").join(self.name())
    }

    /// The committed inputs.
    pub fn corpus(self) -> Vec<(PathBuf, Vec<u8>)> {
        let folder = self.folder();
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.into_iter().filter_map(|path| Some((path.clone(), fs::read(path).ok()?))).collect()
    }
}

/// What stands for the first todo in requests.
const FIRST: &str = "todo_000000000001";

/// Feeds inputs to one target, which keeps a project for those that need one.
pub struct Harness {
    target: Target,
    sandbox: Sandbox,
    kernel: Option<Kernel>,
    todo: String,
    calls: usize,
}

impl Harness {
    /// For one target.
    pub fn new(target: Target) -> Self {
        Self { target, sandbox: Sandbox::in_memory(), kernel: None, todo: String::new(), calls: 0 }
    }

    fn kernel(&self) -> Kernel {
        let mut options = KernelOptions::new(RouteInput {
            flag: Some(self.sandbox.registry()),
            runtime_root_flag: Some(self.sandbox.runtime_root()),
            cwd: self.sandbox.project(),
            home: Some(self.sandbox.home()),
            ..RouteInput::default()
        });
        options.clock = Clock::Fixed(Instant::parse("2026-11-29T12:00:00Z").expect("an instant"));
        Kernel::open(options).expect("the kernel opens")
    }

    /// One input; `Err` when it panicked or broke a promise, with what was said.
    pub fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        catch_unwind(AssertUnwindSafe(|| match self.target {
            Target::Registry => self.registry(input),
            Target::StateFile => state_file(input),
            Target::Metadata => {
                let mut text =
                    b"---\nstatus: active\n---\n\n## Agent Todo\n\n- [ ] one\n  <!-- loopx:todo "
                        .to_vec();
                text.extend_from_slice(input);
                text.extend_from_slice(b" -->\n");
                state_file(&text);
            }
            Target::Request => self.requests(input),
        }))
        .map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
                .unwrap_or_else(|| "it panicked".into())
        })
    }

    fn registry(&self, input: &[u8]) {
        let path = self.sandbox.registry();
        fs::create_dir_all(path.with_file_name("")).expect("a folder");
        fs::write(&path, input).expect("a registry");
        if let Ok(registry) = Registry::read(&path) {
            for entry in registry.goals() {
                let _ = policy(entry);
            }
            let rendered = registry.render().expect("what was read can be written");
            fs::write(&path, &rendered).expect("a registry");
            let again = Registry::read(&path).expect("what was written can be read");
            assert_eq!(again.root(), registry.root(), "written and read again it is the same");
        }
        let kernel = self.kernel();
        for operation in ["goal.list", "quota.should_run", "quota.status", "todo.list"] {
            let _ = kernel.call(operation, &json!({"goal_id": "g", "agent_id": "agent-a"}));
        }
    }

    fn requests(&mut self, input: &[u8]) {
        // A goal that has grown makes every call slower.
        if self.calls.is_multiple_of(500) || self.kernel.is_none() {
            self.sandbox = Sandbox::in_memory();
            let kernel = self.kernel();
            let create =
                json!({"goal_id": "g", "objective": "o", "agents": ["agent-a", "agent-b"]});
            kernel.call("goal.create", &create).expect("a goal");
            let add = json!({"goal_id": "g", "role": "agent", "text": "one"});
            let added = kernel.call("todo.add", &add).expect("a todo");
            let id = added.get("todo_id").and_then(Value::as_str);
            self.todo = id.expect("it has an id").to_owned();
            self.kernel = Some(kernel);
        }
        let kernel = self.kernel.as_ref().expect("it was just made");
        for line in input.split(|byte| *byte == b'\n') {
            // In an input the goal's first todo has a name of its own.
            let line = String::from_utf8_lossy(line).replace(FIRST, &self.todo);
            let Ok(Value::Array(pair)) = serde_json::from_str(&line) else { continue };
            let [Value::String(operation), request] = pair.as_slice() else { continue };
            self.calls += 1;
            if let Err(error) = kernel.call(operation, request) {
                let told = error.to_json();
                assert!(error.row().text != "internal", "an internal error: {told}");
                assert!(!error.text().is_empty(), "an error without a sentence");
            }
        }
    }
}

fn state_file(input: &[u8]) {
    let Ok(document) = Document::parse(input) else { return };
    assert_eq!(document.to_bytes(), input, "unchanged it is the same bytes");
    let todos: Vec<&Todo> = document.todos().iter().map(|parsed| &parsed.todo).collect();
    for parsed in document.todos() {
        let _ = document.metadata_of(parsed);
    }
    let drawn = render(&document, &todos, None);
    let again = Document::parse(&drawn).expect("what was drawn can be read");
    let todos: Vec<&Todo> = again.todos().iter().map(|parsed| &parsed.todo).collect();
    let twice = render(&again, &todos, None);
    Document::parse(&twice).expect("what was drawn twice can be read");
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(n.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        list.get(self.below(list.len())).expect("the list is not empty")
    }
}

const WORDS: &[&str] = &[
    "- [ ] ",
    "- [x] ",
    "* [-] ",
    "\n",
    "\r\n",
    "\u{feff}",
    "\0",
    "é",
    "e\u{301}",
    "\u{202e}",
    "👩‍👩‍👧",
    "## Agent Todo\n",
    "## User Todo / Owner Review Reading Queue\n",
    "## Done\n",
    "---\n",
    "```\n",
    "<!-- loopx:todo ",
    " -->",
    "<!--",
    "todo_id=",
    "todo_000000000001",
    "status=done",
    "status=",
    "claimed_by=agent-a",
    "task_class=user_gate",
    "next_due_at=2026-11-29T12:00:00Z",
    "cadence=",
    "resume_when=todo_done:",
    "required_write_scopes=",
    "%",
    "%20",
    "%ff",
    "=",
    "\"",
    "\\",
    ",",
    ";",
    "updated_at: 9999-12-31T23:59:59Z",
    "{",
    "}",
    "[",
    "]",
    ":",
    "null",
    "true",
    "-1",
    "1e400",
    "18446744073709551616",
    "0.1",
    "\"goals\"",
    "\"id\"",
    "\"coordination\"",
    "\"quota\"",
    "\"compute\"",
    "\"registered_agents\"",
    "\"activation\"",
    "\"state_file\"",
    "\"../../x\"",
    "\"goal_uid\"",
    "[P0] ",
];

const FIELDS: &[&str] = &[
    "goal_id",
    "effect_id",
    "agent_id",
    "todo_id",
    "text",
    "role",
    "status",
    "priority",
    "claimed_by",
    "task_class",
    "action_kind",
    "turn_instance_id",
    "outcome",
    "evidence",
    "reason",
    "note",
    "slots",
    "source",
    "ttl_seconds",
    "delivery_outcome",
    "classification",
    "agents",
    "objective",
    "compute",
    "allowed_slots",
    "window_hours",
    "slot_minutes",
    "admit_next",
    "available_capabilities",
    "include_detail",
    "successor_todo_ids",
    "next_agent_todo",
    "next_user_todo",
    "decision_outcome",
    "no_follow_up",
    "owner",
    "idempotency_key",
    "mode",
    "question",
    "unblocks_todo_id",
    "blocks_agent",
    "global_gate",
    "decision_scope",
    "cadence_minutes",
    "next_due_at",
    "resume_when",
    "spend_id",
    "result_hash",
    "usage",
    "execution_context",
    "blocks",
    "until",
    "entry",
    "index",
    "keep",
    "limit",
    "required_write_scopes",
    "required_capabilities",
    "excluded_agents",
    "execute",
    "dry_run",
    "fields",
];

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(16) {
        0 => Value::Null,
        1 => json!(dice.below(2) == 0),
        2 => json!(dice.below(100)),
        3 => json!(-1),
        4 => json!(u64::MAX),
        5 => json!(i64::MIN),
        6 => json!(1e300),
        7 if depth < 3 => (0..dice.below(3)).map(|_| value(dice, depth + 1)).collect(),
        8 if depth < 3 => Value::Object(object(dice, depth + 1)),
        9 => json!(*dice.of(WORDS)),
        10 => json!("x".repeat(dice.below(5000))),
        11 => json!(format!("todo_{:012x}", dice.below(3))),
        _ => json!(*dice.of(&[
            "g",
            "agent-a",
            "agent-b",
            "agent",
            "user",
            "open",
            "done",
            "t-1",
            "e-1",
            "P0",
            "completed",
            "progress",
            "blocked",
            "advancement_task",
            "user_gate",
            "continuous_monitor",
            "approve",
            "outcome_progress",
            "2026-11-29T12:00:00Z",
            "0001-01-01T00:00:00Z",
            "hard_lease",
            "**",
        ])),
    }
}

fn object(dice: &mut Dice, depth: usize) -> Map<String, Value> {
    (0..dice.below(7)).map(|_| ((*dice.of(FIELDS)).to_owned(), value(dice, depth))).collect()
}

fn made_up_requests(dice: &mut Dice) -> Vec<u8> {
    let mut lines = Vec::new();
    for _ in 0..1 + dice.below(4) {
        let (_, operation, ..) = dice.of(Operation::TABLE);
        let mut request = object(dice, 0);
        let usual = [
            ("goal_id", "g"),
            ("agent_id", "agent-a"),
            ("todo_id", FIRST),
            ("text", "t"),
            ("role", "agent"),
        ];
        for (field, value) in usual {
            if dice.below(4) > 0 {
                request.insert(field.into(), json!(value));
            }
        }
        lines.extend_from_slice(json!([operation, request]).to_string().as_bytes());
        lines.push(b'\n');
    }
    lines
}

fn mutated(dice: &mut Dice, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = dice.of(seeds).clone();
    for _ in 0..1 + dice.below(6) {
        let at = dice.below(input.len() + 1);
        let end = (at + dice.below(40)).min(input.len());
        match dice.below(6) {
            0 => drop(input.splice(at..end, [])),
            1 | 2 => drop(input.splice(at..at, dice.of(WORDS).bytes())),
            3 => {
                let piece: Vec<u8> = input.get(at..end).unwrap_or_default().to_vec();
                let to = dice.below(input.len() + 1);
                input.splice(to..to, piece);
            }
            4 => {
                let other = dice.of(seeds);
                let from = dice.below(other.len() + 1);
                let piece = other.get(from..(from + 60).min(other.len())).unwrap_or_default();
                input.splice(at..end, piece.iter().copied());
            }
            _ => {
                let byte = u8::try_from(dice.below(256)).unwrap_or(0);
                if let Some(place) = input.get_mut(at) {
                    *place = byte;
                }
            }
        }
    }
    input
}

/// Fuzzes for a while: how many inputs, and where those that panicked are kept.
pub fn campaign(target: Target, time: Duration) -> (usize, Vec<PathBuf>) {
    let begun = std::time::Instant::now();
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut dice = Dice(seed.map_or(1, |d| u64::from(d.subsec_nanos()) | 1 << 40));
    let seeds: Vec<Vec<u8>> = target.corpus().into_iter().map(|(_, bytes)| bytes).collect();
    let mut harness = Harness::new(target);
    let (mut inputs, mut found, mut said) = (0, Vec::new(), Vec::<String>::new());
    while begun.elapsed() < time && found.len() < 10 {
        let input = match target {
            Target::Request if dice.below(8) > 0 => made_up_requests(&mut dice),
            _ => mutated(&mut dice, &seeds),
        };
        inputs += 1;
        let Err(why) = harness.feed(&input) else { continue };
        // One of each kind.
        let kind: String = why.chars().take(60).collect();
        if said.contains(&kind) {
            continue;
        }
        let path = target.folder().join(format!("found-{:08x}", dice.below(1 << 32)));
        fs::write(&path, &input).expect("the input is kept");
        eprintln!("{}: {why}", path.display());
        said.push(kind);
        found.push(path);
        harness = Harness::new(target);
    }
    (inputs, found)
}
