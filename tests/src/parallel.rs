//! Many processes at one moment.

use crate::process::{self, LIMIT, Output};
use std::process::Command;
use std::sync::Barrier;
use std::thread;

/// Starts all commands together, waits for each, and gives what they left in the same
/// order.
pub fn at_once(commands: Vec<Command>) -> Vec<Output> {
    let start = Barrier::new(commands.len());
    thread::scope(|scope| {
        let runs: Vec<_> = commands
            .into_iter()
            .map(|mut command| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    process::finish(&mut command, b"", LIMIT)
                        .unwrap_or_else(|| panic!("not over after {LIMIT:?}: {command:?}"))
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().expect("a command runs to its end")).collect()
    })
}
