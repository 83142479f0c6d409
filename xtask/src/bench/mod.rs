//! Benchmarks of whole processes: what a host pays for one command.
//!
//! A [`Case`] is one command line of the release binary; [`measure::figures`] runs
//! it with a warm file cache; [`report`] shows the figures and keeps them under
//! `<target>/bench`. What is measured is the process as a host starts it: fork,
//! exec, the work, and the wait.

mod goals;
mod measure;
mod prompts;
mod report;
mod waiting;

use crate::failure::Result;
use crate::steps;
use crate::workspace::Workspace;
use std::ffi::OsString;
use std::path::PathBuf;

/// One command line, run `runs` times.
pub struct Case {
    /// Also the name of the result file, so it keeps to letters, digits, `-` and `_`.
    pub name: String,
    /// The arguments, without the program.
    pub argv: Vec<OsString>,
    /// The whole environment beside `PATH`: nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    pub runs: usize,
    /// A run that ends otherwise makes the figures worthless, so it stops the bench.
    pub exit_code: i32,
}

/// What the runs of one case came to.
pub struct Figures {
    pub wall_ms: Spread,
    /// User and system time of the child: the median over the runs.
    pub cpu_ms: f64,
    /// Peak resident memory: the highest of the runs that looked. `None` where the
    /// system offers no exact way to read it.
    pub hwm_mib: Option<f64>,
    /// The largest standard output of the runs.
    pub stdout_bytes: usize,
}

pub struct Spread {
    pub median: f64,
    pub p90: f64,
}

#[derive(clap::Args)]
pub struct Arguments {
    /// How often each case runs
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Measure this program instead of the release build of loopx
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
    /// The name of the result file, for a command line of your own
    #[arg(long, default_value = "custom", value_parser = file_name)]
    name: String,
    /// Where that command line runs [default: the current folder]
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// The exit status that it must end with
    #[arg(long, default_value_t = 0, value_name = "STATUS")]
    exit_code: i32,
    /// Measure only what an agent reads for one turn, by host
    #[arg(long)]
    prompts: bool,
    /// A command line of your own; without one, the project's cases are measured
    #[arg(last = true, value_name = "ARGUMENT")]
    argv: Vec<OsString>,
}

fn file_name(text: &str) -> std::result::Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !text.is_empty() && text.chars().all(plain) {
        Ok(text.into())
    } else {
        Err("letters, digits, `-` and `_` only".into())
    }
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let binary = match &arguments.bin {
        Some(path) => path.clone(),
        None => {
            steps::build(workspace)?;
            workspace.release_binary()
        }
    };
    if arguments.prompts {
        print!("{}", prompts::report(workspace, &binary)?);
        return Ok(());
    }
    let runs = usize::from(arguments.runs);
    let own = arguments.argv.is_empty();
    let goals = if own { Some(goals::prepare(workspace)?) } else { None };
    let cases = match &goals {
        Some(goals) => cases(workspace, goals, runs),
        None => vec![custom(arguments, runs)],
    };
    let mut rows = Vec::new();
    for case in cases {
        let figures = measure::figures(&binary, &case)?;
        report::keep(workspace, &case, &figures)?;
        rows.push((case, figures));
    }
    print!("{}", report::table(&rows));
    if let Some(goals) = &goals {
        println!("\n{}", goals.report(&binary)?);
        print!("\n{}", prompts::report(workspace, &binary)?);
        print!("{}", waiting::report(&binary, &goals.smallest())?);
    }
    Ok(())
}

/// The project's cases.
fn cases(workspace: &Workspace, goals: &goals::Goals, runs: usize) -> Vec<Case> {
    // What starting and ending the process costs: the floor under every other figure.
    let floor = Case {
        name: "version".into(),
        argv: vec!["--version".into()],
        env: Vec::new(),
        cwd: workspace.root.clone(),
        runs,
        exit_code: 0,
    };
    std::iter::once(floor).chain(goals.decisions(runs)).collect()
}

/// The command line given by hand. It keeps the environment, as it would at a prompt.
fn custom(arguments: &Arguments, runs: usize) -> Case {
    Case {
        name: arguments.name.clone(),
        argv: arguments.argv.clone(),
        env: std::env::vars_os().collect(),
        cwd: arguments.cwd.clone().unwrap_or_else(|| ".".into()),
        runs,
        exit_code: arguments.exit_code,
    }
}
