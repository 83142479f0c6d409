//! A process that holds one kernel open and runs what it is told, line by line: the library
//! as a long-lived host has it.
//!
//! In: `{"operation": "todo.add", "request": {...}}`. Out: the answer, or the refusal as JSON,
//! written at once, so that what a killed process has acknowledged is in the pipe.

use loopx_core::kernel::{Kernel, KernelOptions};
use loopx_core::registry::RouteInput;
use serde_json::Value;
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

/// Runs until its input ends. `arguments` are registry and runtime root.
pub fn run(mut arguments: impl Iterator<Item = PathBuf>) {
    let options = KernelOptions::new(RouteInput {
        flag: arguments.next(),
        runtime_root_flag: arguments.next(),
        cwd: std::env::current_dir().expect("a working folder"),
        home: std::env::var_os("HOME").map(PathBuf::from),
        ..RouteInput::default()
    });
    let kernel = Kernel::open(options).expect("the kernel opens");
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.expect("a line")).expect("it is JSON");
        let operation = asked.get("operation").and_then(Value::as_str).unwrap_or_default();
        let request = asked.get("request").unwrap_or(&Value::Null);
        let answer = kernel.call(operation, request).unwrap_or_else(|error| {
            let mut refusal = error.to_json();
            if let Some(map) = refusal.as_object_mut() {
                map.insert("detail".into(), error.detail.clone().into());
            }
            refusal
        });
        let mut out = std::io::stdout().lock();
        // One write of a pipe: all of the line, or none of it.
        out.write_all(format!("{answer}\n").as_bytes()).expect("somebody listens");
        out.flush().expect("somebody listens");
    }
}
