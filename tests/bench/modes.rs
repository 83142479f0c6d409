//! The SQLite modes side by side: what a commit costs, what a cold process pays to read
//! after 1,000 commits, and whether it reads on a read-only folder and writes nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant as Watch;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::costs::median;

const MODES: [&str; 4] = ["DELETE", "TRUNCATE", "PERSIST", "WAL"];
const COMMITS: usize = 1_000;

/// What `loopx-bench read FILE` does in a process of its own.
pub fn read(file: &Path) -> Value {
    let conn = Connection::open_with_flags(
        file,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .unwrap();
    match conn.query_row(
        "SELECT count(*), max(length(doc)) FROM t WHERE id > 10 AND id < 40",
        [],
        |r| r.get::<_, i64>(0),
    ) {
        Ok(rows) => json!({"rows": rows}),
        Err(error) => json!({"error": error.to_string()}),
    }
}

fn cold_read(file: &Path) -> (f64, bool) {
    let me = std::env::current_exe().unwrap();
    let watch = Watch::now();
    let out = Command::new(me).arg("read").arg(file).stderr(Stdio::inherit()).output().unwrap();
    let ms = watch.elapsed().as_secs_f64() * 1e3;
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap_or(Value::Null);
    (ms, answer.get("rows").is_some())
}

fn listing(folder: &Path) -> Vec<(String, u64)> {
    let mut names: Vec<(String, u64)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().to_string_lossy().into_owned(), e.metadata().unwrap().len()))
        .collect();
    names.sort();
    names
}

pub fn compare(folder: &Path) -> Value {
    let mut rows = Vec::new();
    for mode in MODES {
        let home = folder.join(mode.to_lowercase());
        std::fs::create_dir_all(&home).unwrap();
        let file = home.join("goal.db");
        let conn = Connection::open(&file).unwrap();
        conn.execute_batch(&format!(
            "PRAGMA journal_mode={mode}; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;
             CREATE TABLE t(id INTEGER PRIMARY KEY, doc TEXT); CREATE TABLE c(n INTEGER PRIMARY KEY, doc TEXT);"
        ))
        .unwrap();
        let doc = "d".repeat(300);
        let mut commits = Vec::new();
        let mut empty = Vec::new();
        for n in 0..COMMITS {
            if n == 1 {
                empty = (0..20).map(|_| cold_read(&file).0).collect();
            }
            let watch = Watch::now();
            conn.execute_batch("BEGIN IMMEDIATE").unwrap();
            conn.execute("INSERT INTO t(doc) VALUES (?1)", [&doc]).unwrap();
            conn.execute("INSERT INTO c(doc) VALUES (?1)", [&doc]).unwrap();
            conn.execute_batch("COMMIT").unwrap();
            commits.push(watch.elapsed().as_secs_f64() * 1e3);
        }
        // The writer is killed, not closed: closing would checkpoint a log.
        std::mem::forget(conn);
        let before = listing(&home);
        let mut reads = Vec::new();
        for _ in 0..40 {
            let (ms, ok) = cold_read(&file);
            assert!(ok, "{mode}: a reader failed");
            reads.push(ms);
        }
        let wrote = listing(&home) != before;
        rows.push(json!({
            "mode": mode,
            "commit_ms": median(commits),
            "cold_read_after_1_commit_ms": median(empty),
            "cold_read_after_1000_commits_ms": median(reads),
            "reading_changed_files": wrote,
        }));
    }
    json!({"modes": rows, "commits": COMMITS})
}
