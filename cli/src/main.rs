//! `loopx`: arguments to requests, answers to text. No rule and no default of a decision
//! lives here; see `loopx-core`.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod doors;
mod output;
mod progress;
mod surroundings;
mod text;

use std::process::ExitCode;

use clap::Parser;
use serde_json::Value;

use crate::args::Command;
use crate::commands::worker::Worker;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    if let Command::Worker(Worker::Run(args)) = &cli.command {
        return commands::worker::run(&cli.global, args);
    }
    let format = output::Format::choose(cli.global.format);
    let result = commands::manual::run(&cli.command).unwrap_or_else(|| {
        doors::kernel(&cli.global).and_then(|kernel| {
            let answer = kernel.as_one_call(|| commands::run(&kernel, &cli))?;
            Ok(safe(&cli, answer))
        })
    });
    output::finish(format, &cli, result)
}

/// An export is the goal as it is, and a service file needs its paths; every other answer
/// is for eyes and logs.
fn safe(cli: &args::Cli, answer: Value) -> Value {
    match cli.command {
        Command::Export(_) | Command::Worker(_) => answer,
        _ => loopx_core::boundary::shown(answer),
    }
}
