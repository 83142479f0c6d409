//! Three doors: the kernel in this process, the program, and the C library behind a C program.

use super::{Asked, Door, Said};
use crate::binary::binary;
use crate::process::{self, LIMIT};
use loopx_core::error::ErrorClass;
use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::registry::RouteInput;
use loopx_core::{Error, Result};
use serde_json::{Map, Value, json};
use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The members of a refusal that every door has, and others.
fn part(whole: &Value, more: &[&str]) -> Map<String, Value> {
    let usual = ["error_code", "error", "about", "next_command"];
    let keys = usual.iter().chain(more);
    keys.filter_map(|key| Some(((*key).to_owned(), whole.get(*key)?.clone()))).collect()
}

/// The kernel in process.
#[derive(Default)]
pub struct Rust {
    opened: Option<(Map<String, Value>, Kernel)>,
}

impl Rust {
    fn kernel(&mut self, open: &Map<String, Value>) -> Result<&Kernel> {
        if self.opened.as_ref().is_none_or(|(as_now, _)| as_now != open) {
            let path = |key: &str| open.get(key).and_then(Value::as_str).map(PathBuf::from);
            let mut options = KernelOptions::new(RouteInput {
                flag: path("registry"),
                runtime_root_flag: path("runtime_root"),
                cwd: path("cwd").expect("a working folder"),
                home: path("home"),
                ..RouteInput::default()
            });
            let now = open.get("now").and_then(Value::as_str).and_then(Instant::parse);
            options.clock = Clock::Fixed(now.expect("an instant"));
            self.opened = Some((open.clone(), Kernel::open(options)?));
        }
        Ok(self.opened.as_ref().map(|(_, kernel)| kernel).expect("it was opened"))
    }
}

/// All that is known of a refusal.
fn whole(error: &Error) -> Value {
    let row = error.row();
    json!({
        "error_code": row.text,
        "class": row.class,
        "exit": row.exit,
        "retry": row.retry,
        "error": error.text(),
        "about": error.about,
        "next_command": error.next_command(),
    })
}

impl Door for Rust {
    fn name(&self) -> &'static str {
        "Rust"
    }

    fn call(&mut self, asked: &Asked<'_>) -> Said {
        match self.kernel(asked.open).and_then(|k| k.call(asked.operation, asked.request)) {
            Ok(answer) => Said::Answer(answer),
            Err(error) => Said::Refusal(whole(&error)),
        }
    }

    fn refusal(&self, whole: &Value) -> Value {
        whole.clone()
    }
}

/// The program, a process for each call: `loopx call OPERATION -`.
#[derive(Default)]
pub struct Program;

impl Door for Program {
    fn name(&self) -> &'static str {
        "CLI"
    }

    fn call(&mut self, asked: &Asked<'_>) -> Said {
        let open = |key: &str| asked.open.get(key).and_then(Value::as_str);
        let mut command = Command::new(binary());
        command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
        command.env("HOME", open("home").unwrap_or_default()).env("LANG", "C.UTF-8");
        command.env("LOOPX_NOW", open("now").expect("an instant"));
        command.current_dir(open("cwd").expect("a working folder"));
        for (flag, key) in [("--registry", "registry"), ("--runtime-root", "runtime_root")] {
            if let Some(path) = open(key) {
                command.arg(flag).arg(path);
            }
        }
        command.args(["--format", "json", "call", asked.operation, "-"]);
        let request = asked.request.to_string();
        let output = process::finish(&mut command, request.as_bytes(), LIMIT)
            .unwrap_or_else(|| panic!("not over after {LIMIT:?}: {command:?}"));
        if output.code == 2 && output.stdout.is_empty() {
            return Said::Refusal(json!({"exit": output.code}));
        }
        let mut said = output.json();
        // A refused admission is an answer; all else that is not `ok` is a refusal, and has
        // these members alone.
        let members = said.as_object().map_or(0, Map::len);
        if said.get("error_code").is_some() && said.get("ok") == Some(&json!(false)) && members == 5
        {
            said.as_object_mut().expect("an object").remove("ok");
            said.as_object_mut().expect("an object").insert("exit".into(), json!(output.code));
            return Said::Refusal(said);
        }
        let expected = i32::from(said.get("ok") == Some(&json!(false)));
        assert_eq!(output.code, expected, "{command:?}\n{output}");
        Said::Answer(said)
    }

    fn refusal(&self, whole: &Value) -> Value {
        // An operation is a word of the command line: one that there is not is wrong usage.
        if whole.get("about") == Some(&json!("operation")) {
            return json!({"exit": 2});
        }
        Value::Object(part(whole, &["exit"]))
    }
}

/// The C library, through `tests/c/door.c`: a line for each call, and a line back.
pub struct Library {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Library {
    /// Starts that program, which was compiled to `program`, with the library in `lib`.
    pub fn start(program: &Path, lib: &Path) -> Self {
        let mut command = Command::new(program);
        command.env_clear().env("LD_LIBRARY_PATH", lib);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, to, from }
    }

    /// Ends it; whether it ended well.
    pub fn end(mut self) -> bool {
        drop(self.to.take());
        self.child.wait().expect("a child can be waited for").success()
    }
}

impl Door for Library {
    fn name(&self) -> &'static str {
        "C"
    }

    fn call(&mut self, asked: &Asked<'_>) -> Said {
        let open = Value::Object(asked.open.clone());
        let line = format!("{open}\t{}\t{}\n", asked.operation, asked.request);
        let to = self.to.as_mut().expect("it runs");
        to.write_all(line.as_bytes()).expect("it reads");
        let mut line = String::new();
        self.from.read_line(&mut line).expect("it writes");
        let (status, text) = line.trim_end().split_once('\t').unwrap_or_else(|| {
            panic!("the C program ended at {}: {line:?}", asked.operation);
        });
        let mut said: Value = serde_json::from_str(text).expect("JSON");
        if status == "0" {
            return Said::Answer(said);
        }
        assert_eq!(said.get("status").map(Value::to_string).as_deref(), Some(status), "{said}");
        said.as_object_mut().expect("an object").remove("ok");
        Said::Refusal(said)
    }

    fn refusal(&self, whole: &Value) -> Value {
        let mut said = part(whole, &["class", "retry"]);
        let class = whole.get("class").expect("a class");
        let status = CLASSES.iter().position(|c| json!(c) == *class).expect("a known class");
        said.insert("status".into(), json!(status + 1));
        Value::Object(said)
    }
}

/// In the order of the numbers in `loopx.h`, which begin with 1.
const CLASSES: [ErrorClass; 7] = [
    ErrorClass::Usage,
    ErrorClass::Identity,
    ErrorClass::Refused,
    ErrorClass::Busy,
    ErrorClass::State,
    ErrorClass::Boundary,
    ErrorClass::Internal,
];
