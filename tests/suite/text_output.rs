//! Answers as a person reads them: one snapshot of a goal's life, command by command, and
//! what a terminal gets that a pipe does not.
//!
//! Ids that are made on the way are replaced by their order: `todo_A`, `todo_B`, `<uid>`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::{Output, Sandbox, skip};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// A story: commands, each written down with its answer.
struct Story {
    sandbox: Sandbox,
    now: &'static str,
    told: String,
    ids: Vec<String>,
}

impl Story {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        fs::create_dir_all(sandbox.project().join(".loopx")).unwrap();
        Self { sandbox, now: "2026-11-29T20:57:33Z", told: String::new(), ids: Vec::new() }
    }

    fn run(&self, args: &[&str]) -> Output {
        self.sandbox.at(self.now).unlocated().run(args)
    }

    /// Runs a command and writes it down.
    fn tell(&mut self, args: &[&str]) {
        let output = self.run(&[&["--format", "text"], args].concat());
        assert_eq!(output.stderr, "", "{args:?}");
        assert!(!output.stdout.contains("{\""), "raw JSON in the text of {args:?}\n{output}");
        let words: Vec<String> = args
            .iter()
            .map(|a| if a.contains(' ') { format!("\"{a}\"") } else { (*a).to_owned() })
            .collect();
        let exit = if output.code == 0 { String::new() } else { format!("exit {}\n", output.code) };
        let _ = write!(self.told, "$ loopx {}\n{}{exit}\n", words.join(" "), output.stdout);
    }

    /// Runs a command and gives the id that it made.
    fn make(&mut self, args: &[&str]) -> String {
        let output = self.run(&[&["--format", "json"], args].concat());
        assert_eq!(output.code, 0, "{args:?}\n{output}");
        self.tell(&[
            "todo",
            "list",
            "--goal-id",
            "demo",
            "--todo-id",
            output.json()["todo_id"].as_str().unwrap(),
        ]);
        output.json()["todo_id"].as_str().unwrap().to_owned()
    }

    /// Runs a command as it is typed, with `--goal-id demo`, and writes it down.
    fn say(&mut self, line: &str) {
        let words = typed(line);
        self.tell(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Runs a command as it is typed, and gives the id of the todo that it made.
    fn quietly(&self, line: &str) -> String {
        let words = typed(&format!("{line} --format json"));
        let output = self.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(output.code, 0, "{line}\n{output}");
        output.json()["todo_id"].as_str().unwrap_or_default().to_owned()
    }

    /// The story with ids by their order.
    fn end(mut self) -> String {
        self.ids = found(&self.told, "todo_", 12);
        for (n, id) in self.ids.iter().enumerate() {
            // As wide as the id, so that tables stay aligned.
            let name = format!("todo_{}............", char::from(b'A' + u8::try_from(n).unwrap()));
            self.told = self.told.replace(id, &name[..id.len()]);
        }
        for uid in found(&self.told, "g-", 32) {
            self.told = self.told.replace(&uid, "<uid>");
        }
        self.told
    }
}

/// The words of a line, parted at spaces outside quotes.
fn typed(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('"').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words.extend(["--goal-id".to_owned(), "demo".to_owned()]);
    words
}

/// Words of hexadecimal digits behind a prefix, in order of appearance.
fn found(text: &str, prefix: &str, digits: usize) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let id: String = text[at..].chars().take(prefix.len() + digits).collect();
        let rest = &id[prefix.len()..];
        if rest.len() == digits && rest.chars().all(|c| c.is_ascii_hexdigit()) && !ids.contains(&id)
        {
            ids.push(id);
        }
    }
    ids
}

#[test]
fn a_goal_from_its_creation_to_its_end() {
    let mut s = Story::new();
    s.tell(&["status"]);
    s.tell(&["goal", "list"]);
    s.tell(&[
        "goal",
        "create",
        "--goal-id",
        "demo",
        "--objective",
        "Ship the demo",
        "--agent-id",
        "agent-a,agent-b",
        "--allowed-slots",
        "3",
    ]);
    s.tell(&["todo", "list", "--goal-id", "demo"]);
    s.tell(&["quota", "should-run", "--goal-id", "demo", "--agent-id", "agent-a"]);
    let parser = s.make(&[
        "todo",
        "add",
        "--goal-id",
        "demo",
        "--role",
        "agent",
        "--text",
        "[P1] Write the パーサ 👩\u{200d}💻 parser",
    ]);
    let writer = s.make(&[
        "todo",
        "add",
        "--goal-id",
        "demo",
        "--role",
        "agent",
        "--text",
        "[P2] Implement the writer",
        "--action-kind",
        "implement",
        "--required-write-scope",
        "src/**",
    ]);
    let monitor = s.make(&[
        "todo",
        "add",
        "--goal-id",
        "demo",
        "--role",
        "agent",
        "--text",
        "[P3] Watch the build",
        "--task-class",
        "continuous_monitor",
        "--cadence",
        "30m",
        "--target-key",
        "ci",
    ]);
    let gate = s.make(&[
        "todo",
        "add",
        "--goal-id",
        "demo",
        "--role",
        "user",
        "--task-class",
        "user_gate",
        "--text",
        "May we publish?",
        "--unblocks-todo-id",
        &writer,
    ]);
    s.tell(&[
        "todo",
        "add",
        "--goal-id",
        "demo",
        "--role",
        "user",
        "--task-class",
        "user_action",
        "--text",
        "Buy a domain",
        "--goal-bound",
    ]);
    s.tell(&[
        "todo",
        "add",
        "--goal-id",
        "demo",
        "--role",
        "user",
        "--task-class",
        "user_action",
        "--text",
        "Buy a domain",
        "--goal-bound",
    ]);
    s.now = "2026-11-29T21:10:00Z";
    s.tell(&["quota", "should-run", "--goal-id", "demo", "--agent-id", "agent-a"]);
    s.tell(&[
        "quota",
        "should-run",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-b",
        "--include-detail",
        "all",
    ]);
    s.tell(&["quota", "should-run", "--goal-id", "demo"]);
    s.tell(&["explain", "--goal-id", "demo", "--agent-id", "agent-b"]);
    s.tell(&[
        "todo",
        "claim",
        "--goal-id",
        "demo",
        "--todo-id",
        &parser,
        "--claimed-by",
        "agent-a",
    ]);
    s.tell(&[
        "todo",
        "claim",
        "--goal-id",
        "demo",
        "--todo-id",
        &parser,
        "--claimed-by",
        "agent-a",
    ]);
    s.tell(&[
        "todo",
        "claim",
        "--goal-id",
        "demo",
        "--todo-id",
        &parser,
        "--claimed-by",
        "agent-b",
    ]);
    s.tell(&[
        "quota",
        "should-run",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--turn-instance-id",
        "turn-1",
    ]);
    s.tell(&[
        "refresh-state",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--todo-id",
        &parser,
        "--turn-instance-id",
        "turn-1",
        "--delivery-outcome",
        "outcome_progress",
        "--evidence",
        "42 tests pass",
        "--input-tokens",
        "1200",
        "--output-tokens",
        "300",
    ]);
    let spend =
        ["quota", "spend-slot", "--goal-id", "demo", "--agent-id", "agent-a", "--todo-id", &parser];
    s.tell(&spend);
    s.tell(&[&spend[..], &["--execute"]].concat());
    s.tell(&[&spend[..], &["--execute"]].concat());
    s.tell(&[
        "todo",
        "complete",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--todo-id",
        &parser,
        "--evidence",
        "merged",
        "--next-agent-todo",
        "Polish the parser",
    ]);
    s.tell(&[
        "todo",
        "update",
        "--goal-id",
        "demo",
        "--todo-id",
        &writer,
        "--note",
        "after the gate",
    ]);
    s.tell(&["status", "--goal-id", "demo"]);
    s.tell(&["explain", "--goal-id", "demo", "--agent-id", "agent-b", "--todo-id", &writer]);
    s.tell(&["explain", "--goal-id", "demo", "--agent-id", "agent-b", "--todo-id", &parser]);
    s.tell(&["history", "--goal-id", "demo", "--limit", "4"]);
    s.tell(&["history", "--goal-id", "demo", "--agent-id", "agent-a", "--before", "10"]);
    s.tell(&["evidence-log", "--goal-id", "demo", "--agent-id", "agent-a"]);
    s.tell(&["evidence-log", "--goal-id", "demo", "--todo-id", &monitor]);
    s.tell(&["quota", "status"]);
    s.tell(&["quota", "plan"]);
    s.tell(&["diagnose"]);
    s.tell(&["goal", "show", "--goal-id", "demo"]);
    s.tell(&["agent", "list", "--goal-id", "demo"]);
    s.tell(&["todo", "complete", "--goal-id", "demo", "--todo-id", &gate]);
    s.tell(&[
        "todo",
        "complete",
        "--goal-id",
        "demo",
        "--todo-id",
        &gate,
        "--decision-outcome",
        "reject",
    ]);
    s.tell(&["todo", "list", "--goal-id", "demo"]);
    s.tell(&["export", "--goal-id", "demo", "--file", "demo.json"]);
    s.tell(&["import", "--file", "demo.json"]);
    s.tell(&["goal-lifecycle", "--goal-id", "demo", "--operation", "stop"]);
    s.tell(&["goal", "stop", "--goal-id", "demo", "--reason", "holidays"]);
    s.tell(&["quota", "should-run", "--goal-id", "demo", "--agent-id", "agent-a"]);
    s.tell(&["explain", "--goal-id", "demo", "--agent-id", "agent-a"]);
    s.tell(&["goal", "resume", "--goal-id", "demo"]);
    s.tell(&["register-agent", "--goal-id", "demo", "--agent-id", "agent-d"]);
    s.tell(&["agent", "register", "--goal-id", "demo", "--agent-id", "Agent C"]);
    s.tell(&["goal", "create", "--goal-id", "other"]);
    s.tell(&["agent", "list", "--goal-id", "other"]);
    s.tell(&["goal", "list"]);
    s.tell(&["status"]);
    s.tell(&["history", "--limit", "3"]);
    s.tell(&["todo", "list"]);
    s.tell(&["quota", "should-run", "--goal-id", "demo", "--agent-id", "nobody"]);
    s.tell(&["errors", "--code", "goal_not_found"]);
    s.tell(&["schema", "todo.claim"]);
    // The size of an export depends on ids that are random.
    let told = s.end();
    let told: Vec<String> =
        told.lines()
            .map(|l| {
                if l.ends_with(" bytes") { "  size  <size> bytes".to_owned() } else { l.to_owned() }
            })
            .collect();
    insta::assert_snapshot!("a_goal", told.join("\n"));
}

/// What waits, what is watched, what is missing, and a turn from its admission on.
#[test]
fn gates_monitors_gaps_and_a_turn() {
    let mut s = Story::new();
    s.quietly("goal create --objective \"Ship the demo\" --agent-id agent-a,agent-b");
    for line in ["gate list", "gate grants", "monitor list", "goal accept list"] {
        s.say(line);
    }
    let work = s.quietly("todo add --role agent --text \"[P1] Write the parser\"");
    let watch = "--task-class continuous_monitor --cadence 30m --target-key ci";
    s.quietly(&format!("todo add --role agent --text \"[P3] Watch the build\" {watch}"));
    s.quietly("goal accept add --text \"every file of the corpus is read\"");
    s.quietly("goal accept add --text \"the manual is written\"");
    s.quietly("goal accept meet --index 2");
    let scope = "--decision-scope production:goal:release";
    s.say(&format!("gate open --question \"[P0] Release 1.0?\" {scope}"));
    let gate = s.quietly("gate open --question \"Which licence?\" --blocks-agent agent-b");
    s.quietly("todo add --role user --task-class user_action --text \"Buy a domain\" --goal-bound");
    s.now = "2026-11-30T00:27:33Z";
    for line in ["gate list", "monitor list", "goal accept list", "todo suggest"] {
        s.say(line);
    }
    s.tell(&["gate", "list"]);
    s.say(&format!("gate decide --todo-id {gate} --outcome reject"));
    let gate = s.quietly(&format!("gate open --question \"Release 1.1?\" {scope}"));
    s.say(&format!("gate decide --todo-id {gate} --outcome approve --until 2026-12-01T00:00:00Z"));
    let scope = "--decision-scope production:goal:rename";
    let gate = s.quietly(&format!("gate open --question \"Rename it?\" {scope}"));
    s.quietly(&format!("gate decide --todo-id {gate} --outcome approve --for-agent agent-a"));
    s.say("gate grants");
    let poll = "quota monitor-poll --agent-id agent-b --target-key ci --result-hash 9f2c";
    s.say(poll);
    s.say(&format!("{poll} --execute"));
    s.say(&format!("feedback --text \"Keep comments\" --todo-id {work}"));
    let turn = "--agent-id agent-a --turn-instance-id";
    s.say(&format!("turn admit {turn} t-1"));
    s.say("turn show --turn-instance-id t-1");
    let next = "--next-agent-todo \"[P2] Fuzz the parser\" --admit-next t-2";
    let settle = format!("turn settle {turn} t-1 --outcome completed --evidence merged");
    s.say(&format!("{settle} {next}"));
    s.say("turn show --turn-instance-id t-1");
    s.say(&format!("turn settle {turn} t-2 --outcome no_change"));
    s.say("todo suggest --agent-id agent-a --limit 1");
    insta::assert_snapshot!("lists_and_turns", s.end());
}

#[test]
fn what_the_tool_says_about_itself() {
    let mut s = Story::new();
    s.tell(&["errors"]);
    s.tell(&["schema"]);
    s.tell(&["schema", "packet"]);
    insta::assert_snapshot!("manual", s.end());
}

#[test]
fn a_window_that_is_full_and_a_goal_that_cannot_be_read() {
    let mut s = Story::new();
    s.run(&[
        "goal",
        "create",
        "--goal-id",
        "demo",
        "--agent-id",
        "agent-a",
        "--allowed-slots",
        "1",
    ]);
    s.run(&["todo", "add", "--goal-id", "demo", "--role", "agent", "--text", "[P1] one"]);
    s.run(&["refresh-state", "--goal-id", "demo", "--delivery-outcome", "outcome_progress"]);
    s.run(&["quota", "spend-slot", "--goal-id", "demo", "--execute"]);
    s.now = "2026-11-29T23:57:33Z";
    s.tell(&["quota", "should-run", "--goal-id", "demo", "--agent-id", "agent-a"]);
    s.tell(&["explain", "--goal-id", "demo", "--agent-id", "agent-a"]);
    s.tell(&["quota", "status"]);
    let uid = s.run(&["goal", "show", "--format", "json"]).json()["goal_uid"]
        .as_str()
        .unwrap()
        .to_owned();
    let store = s.sandbox.project().join(".loopx/goals").join(uid).join("goal.db");
    fs::write(store, [7_u8; 4096]).unwrap();
    s.tell(&["status"]);
    s.tell(&["diagnose"]);
    s.tell(&["quota", "plan"]);
    s.tell(&["evidence-log", "--goal-id", "demo"]);
    s.tell(&["explain", "--goal-id", "demo", "--agent-id", "agent-a"]);
    insta::assert_snapshot!("trouble", s.end());
}

/// What the story above has no place for: an import that succeeds, acts of the earlier
/// tool's forms, and a file of the earlier tool's.
#[test]
fn a_goal_that_comes_from_elsewhere() {
    let there = Story::new();
    there.run(&[
        "goal",
        "create",
        "--goal-id",
        "demo",
        "--objective",
        "Ship",
        "--agent-id",
        "agent-a",
    ]);
    there.run(&["export", "--goal-id", "demo", "--file", "demo.json"]);
    let mut s = Story::new();
    let file = "demo.json";
    fs::copy(there.sandbox.project().join(file), s.sandbox.project().join(file)).unwrap();
    s.tell(&["import", "--file", file]);
    s.tell(&["register-agent", "--goal-id", "demo", "--agent-id", "agent-b", "--execute"]);
    s.tell(&["goal-lifecycle", "--goal-id", "demo", "--operation", "stop", "--execute"]);
    s.tell(&["goal", "adopt-legacy", "--goal-id", "demo"]);
    s.tell(&["goal", "stop", "--goal-id", "demo"]);
    insta::assert_snapshot!("elsewhere", s.end());
}

/// Colour is a terminal's; `NO_COLOR` takes it away and `CLICOLOR_FORCE` gives it.
#[test]
fn colour_is_where_it_was_asked_for() {
    let s = Story::new();
    let call = s.sandbox.call().unlocated();
    let coloured = |call: &loopx_tests::Call<'_>| {
        call.run(["status", "--format", "text"]).stdout.contains('\u{1b}')
    };
    assert!(!coloured(&call));
    assert!(coloured(&call.clone().env("CLICOLOR_FORCE", "1")));
    assert!(!coloured(&call.clone().env("CLICOLOR_FORCE", "0")));
    assert!(!coloured(&call.clone().env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")));
}

/// Runs a command on a terminal of its own, made by `script`.
fn on_a_terminal(s: &Story, env: &[(&str, &str)], line: &str) -> Option<String> {
    let there = Command::new("script").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        skip("what a terminal gets", "there is no script(1)");
        return None;
    }
    let log = s.sandbox.base().join("tmp/typescript");
    let loopx = loopx_tests::binary();
    let mut call = s.sandbox.at(s.now).unlocated();
    for (name, value) in env {
        call = call.env(name, value);
    }
    let mut command = call.command([] as [&str; 0]);
    let mut script = Command::new("script");
    script
        .args(["-qec", &format!("{} {line}", loopx.display())])
        .arg(&log)
        .current_dir(s.sandbox.project())
        .env_clear()
        .envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let _ = command.stdin(std::process::Stdio::null());
    let output = call.finish(&mut script);
    Some(output.stdout.replace("\r\n", "\n"))
}

#[test]
fn a_terminal_gets_text_in_colour_cut_to_its_width() {
    let s = Story::new();
    let long = "[P1] A text that is much longer than the terminal is wide, with 日本語 in it and more words after that";
    s.run(&["goal", "create", "--goal-id", "demo", "--agent-id", "agent-a"]);
    s.run(&["todo", "add", "--goal-id", "demo", "--role", "agent", "--text", long]);
    let line = "todo list --goal-id demo";
    let Some(wide) = on_a_terminal(&s, &[("COLUMNS", "60"), ("TERM", "xterm")], line) else {
        return;
    };
    assert!(wide.contains("\u{1b}[2m") && wide.contains('…'), "{wide:?}");
    let plain = [("COLUMNS", "60"), ("TERM", "dumb")];
    let dumb = on_a_terminal(&s, &plain, line).unwrap();
    assert!(!dumb.contains('\u{1b}') && dumb.contains('…'), "{dumb:?}");
    for row in dumb.lines() {
        assert!(
            row.chars().map(|c| if c > '\u{2fff}' { 2 } else { 1 }).sum::<usize>() <= 60,
            "{row}"
        );
    }
    let none = on_a_terminal(&s, &[("COLUMNS", "60"), ("NO_COLOR", "1")], line).unwrap();
    assert!(!none.contains('\u{1b}'), "{none:?}");
    // A pipe gets everything.
    let piped = s.run(&["todo", "list", "--goal-id", "demo", "--format", "text"]).stdout;
    assert!(piped.contains("and more words after that"), "{piped}");
}

/// A command that waits shows that it goes on: on the terminal, and gone at the end.
#[test]
fn long_work_shows_itself_on_a_terminal() {
    use loopx_core::file::{FileLock, HolderNote, LockMode};
    let s = Story::new();
    s.run(&["goal", "create", "--goal-id", "demo", "--agent-id", "agent-a"]);
    s.run(&["export", "--goal-id", "demo", "--file", "demo.json"]);
    let registry = s.sandbox.project().join(".loopx/registry.json");
    let wait = std::time::Duration::from_secs(5);
    let lock =
        FileLock::acquire(&registry, LockMode::Exclusive, &HolderNote::default(), wait).unwrap();
    let holding = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(1_800));
        drop(lock);
    });
    let said = on_a_terminal(&s, &[("TERM", "xterm")], "import --file demo.json");
    holding.join().unwrap();
    let Some(said) = said else { return };
    assert!(said.contains("importing, 1 s"), "{said:?}");
    assert!(said.contains("refused"), "{said:?}");
}
