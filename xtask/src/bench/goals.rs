//! Goals of known sizes, and the figures that need the kernel in process. Made by the
//! `loopx-bench` program of the test crate, so that this crate needs no kernel.

use super::Case;
use crate::failure::{Failure, Result, While};
use crate::workspace::{Workspace, must_succeed};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// (open todos, past spends)
const SIZES: [(u32, u32); 4] = [(10, 0), (1_000, 0), (10_000, 0), (10, 1_000_000)];

/// The goals, in a folder that is made anew each time.
pub struct Goals {
    helper: PathBuf,
    folder: PathBuf,
}

/// Builds the helper and the goals.
pub fn prepare(workspace: &Workspace) -> Result<Goals> {
    must_succeed(&mut workspace.cargo([
        "build",
        "--release",
        "-p",
        "loopx-tests",
        "--bin",
        "loopx-bench",
    ]))?;
    let helper = workspace.target.join("release/loopx-bench");
    let folder = workspace.target.join("bench/goals");
    if folder.exists() {
        fs::remove_dir_all(&folder).while_doing(|| format!("clearing {}", folder.display()))?;
    }
    let goals = Goals { helper, folder };
    for (todos, spends) in SIZES {
        let place = goals.place(todos, spends);
        fs::create_dir_all(&place).while_doing(|| format!("making {}", place.display()))?;
        goals.ask([
            "fill".into(),
            place.display().to_string(),
            todos.to_string(),
            spends.to_string(),
        ])?;
    }
    Ok(goals)
}

impl Goals {
    fn place(&self, todos: u32, spends: u32) -> PathBuf {
        self.folder.join(format!("{todos}-todos-{spends}-spends"))
    }

    /// The project of the smallest goal.
    pub fn smallest(&self) -> PathBuf {
        self.place(10, 0)
    }

    fn ask(&self, args: impl IntoIterator<Item = String>) -> Result<Value> {
        let out = Command::new(&self.helper)
            .args(args)
            .output()
            .while_doing(|| format!("running {}", self.helper.display()))?;
        if !out.status.success() {
            return Err(Failure::new(format!(
                "loopx-bench failed: {}",
                String::from_utf8_lossy(&out.stderr)
            )));
        }
        serde_json::from_slice(&out.stdout)
            .while_doing(|| "reading the answer of loopx-bench".into())
    }

    /// Rows 1, 2 and 5 of the speed budget: one decision, whole process.
    pub fn decisions(&self, runs: usize) -> impl Iterator<Item = Case> + '_ {
        SIZES.into_iter().map(move |(todos, spends)| {
            let place = self.place(todos, spends);
            let registry = place.join(".loopx/registry.json");
            let words = [
                "quota",
                "should-run",
                "--goal-id",
                "bench",
                "--agent-id",
                "agent-a",
                "--registry",
            ];
            Case {
                name: format!("should-run-{todos}-todos-{spends}-spends"),
                argv: words
                    .into_iter()
                    .map(Into::into)
                    .chain([registry.into_os_string()])
                    .collect(),
                env: vec![("HOME".into(), place.join("home").into_os_string())],
                cwd: place,
                runs,
                exit_code: 0,
            }
        })
    }

    /// Rows 3, 4 and 6, and the SQLite modes.
    pub fn report(&self, binary: &Path) -> Result<String> {
        let costs = self.ask(["costs".into(), self.place(1_000, 0).display().to_string()])?;
        let modes_folder = self.folder.join("modes");
        fs::create_dir_all(&modes_folder)
            .while_doing(|| format!("making {}", modes_folder.display()))?;
        let modes = self.ask(["modes".into(), modes_folder.display().to_string()])?;
        let size =
            fs::metadata(binary).while_doing(|| format!("looking at {}", binary.display()))?.len();
        let number = |value: &Value, path: &str| {
            value.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN)
        };
        let mut text = String::from(
            "In process, 1,000 open todos (microseconds, wall median and CPU mean):\n\n| what | wall | CPU |\n|---|--:|--:|\n",
        );
        for (label, key) in [
            ("decision, unchanged state", "decision_in_process"),
            ("decision after a commit of another process", "decision_after_change"),
            ("bare SQLite commit of the same rows", "bare_sqlite_commit"),
            ("committed write (refresh-state)", "committed_write"),
            ("committed write that changes a todo", "write_with_projection"),
        ] {
            let (wall, cpu) = (
                number(&costs, &format!("/{key}/wall_us")),
                number(&costs, &format!("/{key}/cpu_us")),
            );
            let _ = writeln!(text, "| {label} | {wall:.0} | {cpu:.0} |");
        }
        let _ = writeln!(
            text,
            "| what a write costs over the bare commit | | {:.0} |\n| projecting the state file ({} kB) | {:.0} | {:.0} |",
            number(&costs, "/write_cpu_over_bare_us"),
            number(&costs, "/state_file_bytes") as u64 / 1000,
            number(&costs, "/projection_wall_us"),
            number(&costs, "/projection_cpu_us"),
        );
        let _ = writeln!(text, "\nBinary: {:.1} MiB\n", size as f64 / 1_048_576.0);
        text.push_str("SQLite modes (milliseconds, median; a cold reader is a process of its own):\n\n| mode | commit | cold read after 1 commit | after 1,000 commits | reading changes files |\n|---|--:|--:|--:|---|\n");
        for row in modes.get("modes").and_then(Value::as_array).into_iter().flatten() {
            let _ = writeln!(
                text,
                "| {} | {:.2} | {:.2} | {:.2} | {} |",
                row.get("mode").and_then(Value::as_str).unwrap_or_default(),
                number(row, "/commit_ms"),
                number(row, "/cold_read_after_1_commit_ms"),
                number(row, "/cold_read_after_1000_commits_ms"),
                if row.get("reading_changed_files") == Some(&Value::Bool(true)) {
                    "yes"
                } else {
                    "no"
                },
            );
        }
        Ok(text)
    }
}
