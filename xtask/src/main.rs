//! The project's own commands, run as `cargo xtask <command>`.

#![forbid(unsafe_code)]

mod bench;
mod demo;
mod dist;
mod doors;
mod failure;
mod node;
mod python;
mod skips;
mod steps;
mod tools;
mod torture;
mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own commands
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the binary and run its main job on a copy of the sample project
    Demo(demo::Arguments),
    /// Run every check and every test, in order, up to the first that fails
    Test {
        /// Leave out the dependency check and the docs
        #[arg(long)]
        quick: bool,
    },
    /// Format the sources
    Fmt,
    /// Fail where the sources are not formatted
    FmtCheck,
    /// Run clippy; a warning is an error
    Lint,
    /// Build the API docs; a warning is an error
    Docs,
    /// Check licences, banned crates and sources of the dependencies
    Deny,
    /// Write the files that are made from the sources: pages, types, tables, the C header
    Generate,
    /// Answer the shared vectors anew; the difference is to be looked at
    Vectors {
        /// Only vectors whose name has this in it
        only: Option<String>,
    },
    /// Measure the release binary: wall and CPU time, peak memory, output size
    Bench(bench::Arguments),
    /// Pack the npm package, install it into an empty folder, and run its tests there
    Node(node::Arguments),
    /// Build the wheel, install it for each Python that is here, and run its tests there
    Python(python::Arguments),
    /// Build the C library, and lay it down with its header and pkg-config file
    Dist(dist::Arguments),
    /// Kill, stop and disturb many processes on one goal, then check what they acknowledged
    Torture(torture::Arguments),
    /// Feed one parser, or the kernel's door, with made-up input: never a panic
    Fuzz(torture::FuzzArguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = workspace::Workspace::find().and_then(|mut workspace| match arguments.command {
        Command::Demo(options) => demo::run(&workspace, &options),
        Command::Test { quick } => steps::test(&mut workspace, quick),
        Command::Fmt => steps::fmt(&workspace),
        Command::FmtCheck => steps::fmt_check(&workspace),
        Command::Lint => steps::lint(&workspace),
        Command::Docs => steps::docs(&workspace),
        Command::Deny => steps::deny(&workspace),
        Command::Generate => steps::generate(&workspace),
        Command::Vectors { only } => steps::vectors(&workspace, only.as_deref()),
        Command::Bench(options) => bench::run(&workspace, &options),
        Command::Dist(options) => dist::run(&workspace, &options),
        Command::Node(options) => node::run(&workspace, &options),
        Command::Python(options) => python::run(&workspace, &options),
        Command::Torture(options) => torture::run(&workspace, &options),
        Command::Fuzz(options) => torture::fuzz(&workspace, &options),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}
