//! Torture and fuzzing: both run engines of the `loopx-tests` crate on a dev build, whose
//! assertions are on.

use crate::failure::Result;
use crate::workspace::{Workspace, must_succeed};

#[derive(clap::Args)]
pub struct Arguments {
    /// How long, in minutes
    #[arg(long, default_value_t = 1)]
    minutes: u64,
    /// How long, in seconds, instead of minutes
    #[arg(long)]
    seconds: Option<u64>,
}

#[derive(clap::Args)]
pub struct FuzzArguments {
    /// What is fuzzed
    #[arg(long, value_parser = ["registry", "state-file", "metadata", "request"])]
    target: String,
    /// How long, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Many processes on one goal, killed, stopped and given faults; fails on a violation.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    must_succeed(&mut workspace.cargo(["build", "--locked", "-p", "loopx-cli"]))?;
    let seconds = arguments.seconds.unwrap_or(arguments.minutes * 60).to_string();
    let words = ["run", "--locked", "-p", "loopx-tests", "--bin", "loopx-torture", "--"];
    let mut command = workspace.cargo(words);
    let binary = workspace.target.join("debug/loopx");
    must_succeed(command.arg(seconds).env("LOOPX_BIN_UNDER_TEST", binary))
}

/// One fuzz target for a while; an input that makes it panic is kept in the corpus.
pub fn fuzz(workspace: &Workspace, arguments: &FuzzArguments) -> Result<()> {
    let words = ["run", "--locked", "-p", "loopx-tests", "--bin", "loopx-fuzz", "--"];
    let mut command = workspace.cargo(words);
    must_succeed(command.arg(&arguments.target).arg(arguments.seconds.to_string()))
}
