//! What a host's agent reads for one delivered turn: the prompt, the answers of its calls,
//! and how many calls there are; beside the same of the earlier tool. The bench fails where
//! a prompt takes more than half of the earlier characters, or a turn more than two calls.

use crate::failure::{Failure, Result, While};
use crate::workspace::Workspace;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the earlier tool took for one host: version 0.5.1, goal demo-goal, agent-a, thin.
struct Earlier {
    host: &'static str,
    /// Characters of the body.
    chars: u64,
    /// Bytes of the answers that a turn reads: its guard, for goal hosts twice. `None` where
    /// nobody measured it.
    bytes: Option<u64>,
    /// Calls of one delivered turn, at least.
    calls: u64,
}

const fn earlier(host: &'static str, chars: u64, bytes: Option<u64>, calls: u64) -> Earlier {
    Earlier { host, chars, bytes, calls }
}

/// Every host; those without a body of their own then beside the body that they were given.
const EARLIER: &[Earlier] = &[
    earlier("codex-app", 1_554, Some(32_004), 5),
    earlier("trae-app", 1_554, None, 5),
    earlier("codex-app-ssh", 2_734, None, 6),
    earlier("codex-cli", 2_725, Some(50_554), 6),
    earlier("codex-ide-plugin", 2_725, Some(50_554), 6),
    earlier("ark-managed-agent", 2_474, None, 6),
    earlier("traex-cli", 2_403, None, 6),
    earlier("claude-code", 1_572, None, 6),
    earlier("kunluncode", 1_571, None, 6),
    earlier("opencode", 1_572, None, 6),
    earlier("opencode2", 1_572, None, 6),
    earlier("pi", 1_572, None, 6),
    earlier("gemini-cli", 1_572, None, 6),
    earlier("cursor-agent", 1_572, None, 6),
    earlier("shell", 1_577, None, 6),
    earlier("webhook", 1_393, None, 6),
    earlier("worker-bridge", 1_577, None, 6),
    earlier("computer-use", 1_393, None, 6),
    earlier("dsh", 1_577, None, 6),
    earlier("deepseek-harness-native", 1_572, None, 6),
    earlier("turn", 1_577, None, 6),
    earlier("other-agent", 1_572, None, 6),
];

/// Measures every host and gives the table.
pub fn report(workspace: &Workspace, binary: &Path) -> Result<String> {
    let folder = workspace.target.join("bench/prompts");
    let mut text = String::from(
        "One delivered turn (thin body; characters, bytes of all answers, calls):\n\n| host | prompt | before | answers | before | calls | before |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut over = Vec::new();
    for before in EARLIER {
        let now = measure(&folder, binary, before.host)?;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            before.host,
            now.chars,
            before.chars,
            now.bytes,
            before.bytes.map_or_else(|| "not measured".into(), |b| b.to_string()),
            now.calls,
            before.calls,
        );
        if now.chars * 2 > before.chars || now.calls > 2 {
            over.push(before.host);
        }
    }
    fs::write(workspace.target.join("bench/prompts.md"), &text)
        .while_doing(|| "writing prompts.md".into())?;
    if over.is_empty() {
        Ok(text)
    } else {
        print!("{text}");
        Err(Failure::new(format!("more than half, or more than two calls: {}", over.join(", "))))
    }
}

struct Now {
    chars: u64,
    bytes: u64,
    calls: u64,
}

/// Lives one turn by the body that the host is given.
fn measure(folder: &Path, binary: &Path, host: &str) -> Result<Now> {
    if folder.exists() {
        fs::remove_dir_all(folder).while_doing(|| format!("clearing {}", folder.display()))?;
    }
    let project = folder.join("project");
    fs::create_dir_all(project.join(".loopx")).while_doing(|| "making a project".into())?;
    let program = Program { binary: binary.to_owned(), project, home: folder.join("home") };
    program.run(&["goal", "create", "--goal-id", "demo-goal", "--agent-id", "agent-a,agent-b"])?;
    program.run(&[
        "todo",
        "add",
        "--goal-id",
        "demo-goal",
        "--role",
        "agent",
        "--text",
        "[P1] Work",
    ])?;
    let (_, prompt) = program.run(&[
        "heartbeat-prompt",
        "--host",
        host,
        "--goal-id",
        "demo-goal",
        "--agent-id",
        "agent-a",
    ])?;
    let body = prompt.get("task_body").and_then(Value::as_str).unwrap_or_default();
    let mut now = Now { chars: body.chars().count() as u64, bytes: 0, calls: 0 };
    // The commands are the body's indented lines.
    for line in body.lines().filter_map(|line| line.strip_prefix("    loopx ")) {
        let line = line.replace("OUTCOME", "progress").replace("\"EVIDENCE\"", "tests-pass");
        let words: Vec<&str> = line.split(' ').collect();
        let (bytes, answer) = program.run(&words)?;
        if answer.get("ok") != Some(&Value::Bool(true)) {
            return Err(Failure::new(format!("{host}: `{line}` was refused: {answer}")));
        }
        now.bytes += bytes;
        now.calls += 1;
    }
    Ok(now)
}

struct Program {
    binary: PathBuf,
    project: PathBuf,
    home: PathBuf,
}

impl Program {
    /// Bytes of the answer, and the answer.
    fn run(&self, words: &[&str]) -> Result<(u64, Value)> {
        let out = Command::new(&self.binary)
            .args(words)
            .current_dir(&self.project)
            .env_clear()
            .env("HOME", &self.home)
            .output()
            .while_doing(|| format!("running {}", self.binary.display()))?;
        let answer = serde_json::from_slice(&out.stdout).while_doing(|| {
            format!("reading the answer of {words:?}: {}", String::from_utf8_lossy(&out.stderr))
        })?;
        Ok((out.stdout.len() as u64, answer))
    }
}
