//! `loopx worker ...`

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Subcommand, ValueEnum};
use loopx_core::kernel::Kernel;
use loopx_core::{Error, ErrorCode, Result};
use loopx_hosts::process::{self, words};
use loopx_hosts::worker::install::{Manager, Service};
use loopx_hosts::worker::{self, Form, Options};
use serde_json::{Value, json};

use super::quota::{HostArgs, context};
use crate::args::{Cli, FormatArg, Global};
use crate::doors;

/// `worker ...`
#[derive(Debug, Subcommand)]
pub enum Worker {
    /// Run the loop of one agent: wait, ask, wake it with a command
    #[command(
        after_help = "Without --wake-cmd it only observes. Standard output has a line per event,\nand with --format json an object a line:\n  <UTC instant> status=<kind> key=value ...\n\nExit status: 0 after a normal stop, 2 when a question failed with --once or the\nusage is wrong, 3 when another worker has the route or its state file cannot be\ntrusted, 128 and the number after a signal; with --once that of a failed wake,\nwhich is 2 for one that did not start or was ended at a limit, where wake_rc\nsays how its command ended (143 and 137: by a signal).\n\nA stop signal is heard at once in a wait and in a wake. While a question waits\nfor locks it is heard when that wait ends, after --quota-timeout-seconds at\nmost.\n\nExample:\n  loopx worker run --goal-id demo --agent-id agent-a --once"
    )]
    Run(Box<Run>),
    /// Print what a service manager needs to run the worker; installs nothing
    #[command(
        after_help = "Example:\n  loopx worker install --print systemd --goal-id demo --agent-id agent-a"
    )]
    Install(Box<Install>),
}

/// `worker run`
#[derive(Clone, Debug, Args)]
pub struct Run {
    /// Goal [default: the registry's only one]
    #[arg(long, value_name = "GOAL")]
    pub goal_id: Option<String>,
    /// For which agent
    #[arg(long, value_name = "AGENT")]
    pub agent_id: String,
    /// Command that wakes the agent, in the words of a shell but without one; it gets the
    /// admitted turn in LOOPX_TURN and the prompt in LOOPX_PROMPT
    #[arg(long, value_name = "COMMAND", value_parser = wake_words)]
    pub wake_cmd: Option<Words>,
    /// Seconds after which a wake is ended, at least 0.01 [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "wake_cmd")]
    pub wake_timeout_seconds: Option<Duration>,
    /// Exit status of a wake that ends the worker normally, 1 to 255
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u8).range(1..), requires = "wake_cmd")]
    pub wake_stop_exit_code: Option<u8>,
    /// Seconds between SIGTERM and SIGKILL when a wake is ended [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wake_grace_seconds: Option<Duration>,
    /// Bytes that a wake may print on each stream before it is ended
    #[arg(long, value_name = "BYTES", default_value_t = process::OUTPUT_LIMIT, value_parser = clap::value_parser!(u64).range(1..))]
    pub wake_output_limit_bytes: u64,
    /// Look once, then end
    #[arg(long)]
    pub once: bool,
    /// Seconds of the first wait after a failure; it doubles up to half an hour
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub error_backoff_seconds: u64,
    /// Seconds that a question may wait for locks
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub quota_timeout_seconds: u64,
    /// File of the state route [default: one in the runtime root]
    #[arg(long, value_name = "FILE")]
    pub state_file: Option<PathBuf>,
    /// Capability that the agent has beside shell and file access (repeat)
    #[arg(long = "available-capability", value_name = "NAME")]
    pub available_capabilities: Vec<String>,
    /// The agent works in a worktree of its own [default: found from the working directory]
    #[arg(long)]
    pub independent_worktree: bool,
    /// Taken for command lines of the earlier worker; the kernel is in this process
    #[arg(long, value_name = "PROGRAM", hide = true)]
    pub cli_bin: Option<OsString>,
    #[command(flatten)]
    pub host: HostArgs,
}

/// `worker install`
#[derive(Debug, Args)]
pub struct Install {
    /// For which service manager
    #[arg(long, value_enum)]
    pub print: ManagerArg,
    #[command(flatten)]
    pub run: Run,
}

/// A service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ManagerArg {
    /// macOS: a property list.
    Launchd,
    /// Linux: a user's unit and timer.
    Systemd,
    /// A line for crontab.
    Cron,
}

/// A command line and its words.
#[derive(Clone, Debug)]
pub struct Words {
    text: String,
    words: Vec<String>,
}

fn wake_words(text: &str) -> std::result::Result<Words, String> {
    let words = words::split(text).map_err(|error| error.to_string())?;
    Ok(Words { text: text.to_owned(), words })
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "it is a number of seconds".to_owned())?;
    let shortest = process::SHORTEST_TIMEOUT;
    match Duration::try_from_secs_f64(number) {
        Ok(length) if length >= shortest => Ok(length),
        _ => Err(format!("it is at least {} seconds", shortest.as_secs_f64())),
    }
}

/// Runs the worker. Its lines are its answer, so it prints them itself.
pub fn run(global: &Global, args: &Run) -> ExitCode {
    if let Some(words) = &args.wake_cmd {
        require_program(words);
    }
    if args.cli_bin.is_some() {
        let _ =
            writeln!(io::stderr(), "loopx: --cli-bin is not needed: the kernel is in this process");
    }
    let kernel = doors::kernel_waiting(global, Duration::from_secs(args.quota_timeout_seconds));
    let kernel = match kernel {
        Ok(kernel) => kernel,
        Err(error) => {
            let _ = writeln!(io::stderr(), "loopx: {}\n  {}", error.text(), error.next_command());
            return ExitCode::from(2);
        }
    };
    let options = Options {
        goal_id: args.goal_id.clone(),
        agent_id: args.agent_id.clone(),
        state_file: args.state_file.clone(),
        wake: args.wake_cmd.as_ref().map(|words| words.words.clone()),
        once: args.once,
        error_backoff_seconds: args.error_backoff_seconds,
        wake_timeout: args.wake_timeout_seconds,
        wake_stop_exit_code: args.wake_stop_exit_code,
        wake_grace: args.wake_grace_seconds.unwrap_or(process::GRACE),
        wake_output_limit: args.wake_output_limit_bytes,
        capabilities: args.available_capabilities.clone(),
        independent_worktree: args.independent_worktree || doors::in_own_worktree(),
        context: context(&args.host).or_else(default_context),
        clock: doors::clock(),
        form: match global.format {
            Some(FormatArg::Json) => Form::Json,
            _ => Form::Text,
        },
    };
    ExitCode::from(worker::run(&kernel, &options, &mut io::stdout()))
}

fn default_context() -> Option<loopx_core::schedule::ExecutionContext> {
    loopx_core::schedule::ExecutionContext::of_profile("generic_cli")
}

/// A program that is nowhere to be found is a mistake in the command, and to say so now is
/// better than a turn admitted for nothing. Builtins of a shell are such a mistake.
fn require_program(words: &Words) {
    let Some(program) = words.words.first() else { return };
    let found = match program.contains('/') {
        true => Path::new(program).exists(),
        false => doors::search_path()
            .is_some_and(|p| p.iter().any(|folder| folder.join(program).is_file())),
    };
    if !found {
        let message = format!(
            "--wake-cmd: there is no program {program:?} on PATH; what a shell has built in needs one: sh -c '...'"
        );
        Cli::command().error(clap::error::ErrorKind::ValueValidation, message).exit();
    }
}

/// The template, as a document.
pub fn install(kernel: &Kernel, global: &Global, args: &Install) -> Result<Value> {
    let run = &args.run;
    if let Some(words) = &run.wake_cmd {
        require_program(words);
    }
    let place = kernel.whereabouts(run.goal_id.as_deref(), &run.agent_id)?;
    let program = std::env::current_exe().map_err(|error| {
        Error::new(ErrorCode::IoFailed, "program")
            .message("this program does not know its own path")
            .detail(error)
    })?;
    let mut command = vec![text(&program)?];
    command.extend(["worker", "run"].map(str::to_owned));
    let mut option = |name: &str, value: String| command.extend([name.to_owned(), value]);
    option("--registry", text(&place.registry)?);
    option("--runtime-root", text(&place.runtime_root)?);
    option("--goal-id", place.goal_id.to_string());
    option("--agent-id", place.agent.to_string());
    if let Some(file) = &run.state_file {
        option("--state-file", text(&doors::absolute(file)?)?);
    }
    if let Some(words) = &run.wake_cmd {
        option("--wake-cmd", words.text.trim().to_owned());
    }
    if let Some(limit) = run.wake_timeout_seconds {
        option("--wake-timeout-seconds", limit.as_secs_f64().to_string());
    }
    if let Some(status) = run.wake_stop_exit_code {
        option("--wake-stop-exit-code", status.to_string());
    }
    if let Some(grace) = run.wake_grace_seconds {
        option("--wake-grace-seconds", grace.as_secs_f64().to_string());
    }
    if run.wake_output_limit_bytes != process::OUTPUT_LIMIT {
        option("--wake-output-limit-bytes", run.wake_output_limit_bytes.to_string());
    }
    if run.error_backoff_seconds != 60 {
        option("--error-backoff-seconds", run.error_backoff_seconds.to_string());
    }
    if run.quota_timeout_seconds != 30 {
        option("--quota-timeout-seconds", run.quota_timeout_seconds.to_string());
    }
    for capability in &run.available_capabilities {
        option("--available-capability", capability.clone());
    }
    for (name, value) in [
        ("--runtime-profile", &run.host.runtime_profile),
        ("--host-surface", &run.host.host_surface),
        ("--scheduler-owner", &run.host.scheduler_owner),
        ("--execution-mode", &run.host.execution_mode),
        ("--app-automation-current-rrule", &run.host.app_automation_current_rrule),
    ] {
        if let Some(value) = value {
            option(name, value.clone());
        }
    }
    if global.format == Some(FormatArg::Json) {
        option("--format", "json".into());
    }
    for (name, given) in [
        ("--codex-app", run.host.codex_app),
        ("--trae_app", run.host.trae_app),
        ("--independent-worktree", run.independent_worktree),
    ] {
        if given {
            command.push(name.into());
        }
    }
    let service = Service {
        goal_id: place.goal_id.to_string(),
        agent_id: place.agent.to_string(),
        command,
        folder: match run.wake_cmd {
            Some(_) => Some(text(&doors::absolute(Path::new("."))?)?),
            None => None,
        },
        path: run.wake_cmd.is_some().then(doors::path_text).flatten(),
        home: doors::home_text(),
    };
    let manager = match args.print {
        ManagerArg::Launchd => Manager::Launchd,
        ManagerArg::Systemd => Manager::Systemd,
        ManagerArg::Cron => Manager::Cron,
    };
    Ok(json!({"ok": true, "text": worker::install::print(manager, &service)?}))
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::new(ErrorCode::RequestInvalid, "path")
            .message("a path of this route is not UTF-8, and service files are")
            .detail(path.display())
    })
}
