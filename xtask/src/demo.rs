//! The main job on the sample project, with the real binary, step by step. Every answer
//! is shown as a person sees it, and checked as a machine reads it.

use crate::failure::{Failure, Result, While};
use crate::steps;
use crate::workspace::Workspace;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(clap::Args)]
pub struct Arguments {
    /// Leave the throwaway folder there, and say where it is
    #[arg(long)]
    keep: bool,
}

/// Todos of `examples/sample-project`.
const GATE: &str = "todo_5a0000000001";
const WAYPOINTS: &str = "todo_5a0000000003";
const CAPTIONS: &str = "todo_5a0000000004";
/// What `mapper` finds to come next.
const NEXT: &str = "[P1] Draw the waypoints on the map";
/// The goal's state file in the project.
const STATE_FILE: &str = ".codex/goals/trail-map/ACTIVE_GOAL_STATE.md";

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    eprintln!("building the release binary (a few minutes the first time)");
    steps::build(workspace)?;
    let place = Place::new(&workspace.root.join("examples/sample-project"), arguments.keep)?;
    let demo = Demo::new(workspace.release_binary(), place);
    demo.play().map_err(|failure| {
        let hint = if arguments.keep { "" } else { "; `--keep` leaves the folder to look at" };
        Failure::new(format!("demo, step {}: {failure}{hint}", demo.step.get()))
    })
}

/// A folder of this run alone: a copy of the sample project, and a home folder.
struct Place {
    base: PathBuf,
    project: PathBuf,
    home: PathBuf,
    keep: bool,
}

impl Place {
    fn new(sample: &Path, keep: bool) -> Result<Self> {
        // The clock keeps a run apart from the folder that an earlier one left with `--keep`.
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
        let base = env::temp_dir().join(format!("loopx-demo-{}-{nanos}", process::id()));
        fs::create_dir(&base).while_doing(|| format!("making {}", base.display()))?;
        let place = Self { project: base.join("trail-map"), home: base.join("home"), base, keep };
        fs::create_dir(&place.home).while_doing(|| "making a home folder".into())?;
        copy(sample, &place.project)?;
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.keep {
            println!("\nThe folder is kept: {}", self.project.display());
        } else if let Err(error) = fs::remove_dir_all(&self.base) {
            eprintln!("xtask: {} is still there: {error}", self.base.display());
        }
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let reading = || format!("copying {}", from.display());
    fs::create_dir(to).while_doing(reading)?;
    for entry in fs::read_dir(from).while_doing(reading)? {
        let entry = entry.while_doing(reading)?;
        let target = to.join(entry.file_name());
        if entry.file_type().while_doing(reading)?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).while_doing(reading)?;
        }
    }
    Ok(())
}

/// Every file below a folder with what it holds.
fn contents(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    let reading = || format!("reading {}", folder.display());
    for entry in fs::read_dir(folder).while_doing(reading)? {
        let path = entry.while_doing(reading)?.path();
        if path.is_dir() {
            contents(&path, found)?;
        } else {
            let bytes = fs::read(&path).while_doing(|| format!("reading {}", path.display()))?;
            found.insert(path, bytes);
        }
    }
    Ok(())
}

struct Demo {
    binary: PathBuf,
    place: Place,
    /// Standard output is a terminal: `loopx` then answers in text of its own accord.
    terminal: bool,
    colour: bool,
    step: Cell<u32>,
    commands: Cell<u32>,
    time: Cell<Duration>,
}

impl Demo {
    fn new(binary: PathBuf, place: Place) -> Self {
        let terminal = io::stdout().is_terminal();
        let plain = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
            || env::var_os("TERM").is_some_and(|t| t == "dumb");
        Self {
            binary,
            place,
            terminal,
            colour: terminal && !plain,
            step: Cell::new(0),
            commands: Cell::new(0),
            time: Cell::new(Duration::ZERO),
        }
    }

    fn play(&self) -> Result<()> {
        self.say(
            "A goal of the earlier tool: a registry and a Markdown state file. Two agents,\n\
             `mapper` and `reviewer`, work on it; here is what they find.",
        );
        if !self.terminal {
            self.say(
                "(On a terminal `loopx` answers in text, elsewhere in JSON. This is elsewhere,\n\
                 so every command below was also given `--format text`.)",
            );
        }

        self.title("The todos");
        self.show(&["todo", "list"])?;
        let todos = self.ask(&["todo", "list"])?;
        let count = todos.pointer("/todos").and_then(Value::as_array).map(Vec::len);
        same("the number of todos", &count.into(), &6.into())?;

        self.title("May mapper run, and on what?");
        let before = self.files()?;
        let decision = self.decide("mapper")?;
        check(&decision, "/should_run", true)?;
        check(&decision, "/rule", "run")?;
        check(&decision, "/selected_todo/todo_id", WAYPOINTS)?;
        if self.files()? != before {
            return Err(Failure::new("a decision has changed files"));
        }
        self.say("Read in place: no file of the project has changed.");

        self.title("mapper claims it");
        self.show(&["todo", "claim", "--todo-id", WAYPOINTS, "--claimed-by", "mapper"])?;
        check(&self.todo(WAYPOINTS)?, "/claimed_by", "mapper")?;
        check(&self.ask(&["goal", "show"])?, "/imported", true)?;
        self.say(
            "The first write imported the goal as commit 1, so this is commit 2. From here\n\
             on the store is the truth and the Markdown file its surface.",
        );

        self.title("mapper works, then completes it: evidence, and what follows");
        let notes = self.place.project.join("notes");
        fs::create_dir(&notes)
            .and_then(|()| fs::write(notes.join("waypoints.md"), "1 gate, 2 spring, 3 saddle\n"))
            .while_doing(|| "writing the notes".into())?;
        self.show(&[
            "todo",
            "complete",
            "--todo-id",
            WAYPOINTS,
            "--agent-id",
            "mapper",
            "--evidence",
            "notes/waypoints.md names three waypoints",
            "--next-agent-todo",
            NEXT,
            "--next-claimed-by",
            "mapper",
        ])?;
        check(&self.todo(WAYPOINTS)?, "/status", "done")?;
        let successor = self.successor()?;

        self.title("mapper says what was delivered");
        self.show(&[
            "refresh-state",
            "--agent-id",
            "mapper",
            "--todo-id",
            WAYPOINTS,
            "--delivery-outcome",
            "outcome_progress",
        ])?;
        let preview = self.ask(&["quota", "spend-slot", "--agent-id", "mapper"])?;
        check(&preview, "/dry_run", true)?;
        check(&preview, "/todo_id", WAYPOINTS)?;

        self.title("and spends one slot for it");
        self.show(&["quota", "spend-slot", "--agent-id", "mapper", "--execute"])?;
        let status = self.ask(&["quota", "status"])?;
        check(&status, "/goals/0/spent_slots", 1)?;
        let again = self.json(&["quota", "spend-slot", "--agent-id", "mapper", "--execute"])?;
        check(&again, "/ok", false)?;
        self.say("A second spend for the same delivery was tried and refused.");

        self.title("The next decision");
        let decision = self.decide("mapper")?;
        check(&decision, "/should_run", true)?;
        check(&decision, "/selected_todo/todo_id", successor.as_str())?;

        self.title("The other agent waits for a person");
        let decision = self.decide("reviewer")?;
        check(&decision, "/should_run", false)?;
        check(&decision, "/rule", "gate")?;
        check(&decision, "/interaction_contract/user_channel/notify", "NOTIFY")?;

        self.title("The person decides");
        self.show(&["todo", "complete", "--todo-id", GATE, "--decision-outcome", "approve"])?;
        check(&self.todo(GATE)?, "/status", "done")?;

        self.title("and the other agent runs");
        let decision = self.decide("reviewer")?;
        check(&decision, "/should_run", true)?;
        check(&decision, "/selected_todo/todo_id", CAPTIONS)?;

        self.title("The state file, as a person sees it now");
        self.surface(&successor)?;
        self.say(&format!(
            "All {} steps answered as expected; {} commands took {} ms together.",
            self.step.get(),
            self.commands.get(),
            self.time.get().as_millis(),
        ));
        Ok(())
    }

    /// Prints the headings and todo lines of the state file, without their comments.
    fn surface(&self, successor: &str) -> Result<()> {
        let path = self.place.project.join(STATE_FILE);
        let text = fs::read_to_string(path).while_doing(|| "reading the state file".into())?;
        if !text.contains(successor) {
            return Err(Failure::new(format!("the state file does not show {successor}")));
        }
        let section = |line: &&str| line.starts_with("## ") && line.contains("Todo");
        for line in text.lines().filter(|line| section(line) || line.starts_with("- [")) {
            println!("{line}");
        }
        Ok(())
    }

    fn title(&self, text: &str) {
        self.step.set(self.step.get() + 1);
        println!("\n{}", self.paint("1", &format!("{}. {text}", self.step.get())));
    }

    fn say(&self, text: &str) {
        println!("\n{}", self.paint("2", text));
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// The decision for `agent`: shown, and for the checks asked again.
    fn decide(&self, agent: &str) -> Result<Value> {
        let args = ["quota", "should-run", "--agent-id", agent];
        self.show(&args)?;
        self.ask(&args)
    }

    fn todo(&self, id: &str) -> Result<Value> {
        let answer = self.ask(&["todo", "list", "--todo-id", id])?;
        answer
            .pointer("/todos/0")
            .cloned()
            .ok_or_else(|| Failure::new(format!("there is no todo {id}")))
    }

    fn successor(&self) -> Result<String> {
        let answer = self.ask(&["todo", "list", "--status", "open"])?;
        let todos = answer.pointer("/todos").and_then(Value::as_array);
        todos
            .into_iter()
            .flatten()
            .find(|todo| todo.get("text").and_then(Value::as_str) == Some(NEXT))
            .and_then(|todo| todo.get("todo_id")?.as_str().map(str::to_owned))
            .ok_or_else(|| Failure::new("the todo that follows was not added"))
    }

    fn files(&self) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
        let mut found = BTreeMap::new();
        contents(&self.place.base, &mut found)?;
        Ok(found)
    }

    /// Runs `loopx` in the project, with nothing of this machine's own settings.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(&self.place.project).env("HOME", &self.place.home);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("LOOPX_") {
                command.env_remove(name);
            }
        }
        command.stdin(Stdio::null());
        command
    }

    /// Shows a command line and its answer, which must be a success.
    fn show(&self, args: &[&str]) -> Result<()> {
        let line = command_line(args);
        println!("{}", self.paint("36", &format!("$ {line}")));
        // The answer goes to the same stream, from another process.
        io::stdout().flush().while_doing(|| "writing".into())?;
        let mut command = self.command(args);
        if !self.terminal {
            command.args(["--format", "text"]);
        }
        let begun = Instant::now();
        let status = command.status().while_doing(|| format!("starting `{line}`"))?;
        self.time.set(self.time.get() + begun.elapsed());
        self.commands.set(self.commands.get() + 1);
        if status.success() {
            Ok(())
        } else {
            Err(Failure::new(format!("`{line}` ended with {status}")))
        }
    }

    /// Asks without showing; a refusal is a failure.
    fn ask(&self, args: &[&str]) -> Result<Value> {
        let answer = self.json(args)?;
        check(&answer, "/ok", true)?;
        Ok(answer)
    }

    fn json(&self, args: &[&str]) -> Result<Value> {
        let line = command_line(args);
        let output = self
            .command(args)
            .args(["--format", "json"])
            .output()
            .while_doing(|| format!("starting `{line}`"))?;
        serde_json::from_slice(&output.stdout).while_doing(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("`{line}` did not answer in JSON ({}): {}", output.status, said.trim())
        })
    }
}

/// Columns after which a command line goes on in the next one.
const WIDTH: usize = 96;

/// A command line as it would be typed into a shell; a long one is broken before a flag.
fn command_line(args: &[&str]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    let mut line = "loopx".to_owned();
    let mut column = line.len();
    for (index, arg) in args.iter().enumerate() {
        let word = if arg.chars().all(is_plain) { (*arg).to_owned() } else { format!("\"{arg}\"") };
        let value = args.get(index + 1).filter(|next| !next.starts_with("--"));
        let width = 1 + word.len() + value.map_or(0, |value| value.len() + 3);
        if arg.starts_with("--") && column + width > WIDTH {
            line.push_str(" \\\n   ");
            column = 3;
        }
        line.push(' ');
        line.push_str(&word);
        column += 1 + word.len();
    }
    line
}

fn check(answer: &Value, pointer: &str, want: impl Into<Value>) -> Result<()> {
    same(pointer, answer.pointer(pointer).unwrap_or(&Value::Null), &want.into())
}

fn same(what: &str, got: &Value, want: &Value) -> Result<()> {
    if got == want {
        Ok(())
    } else {
        Err(Failure::new(format!("{what} is {got}, expected {want}")))
    }
}
