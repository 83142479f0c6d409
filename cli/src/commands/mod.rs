//! Command lines to requests, one file per command family.

pub mod accept;
pub mod agent;
pub mod call;
pub mod feedback;
pub mod gate;
pub mod goal;
pub mod host;
pub mod install;
pub mod lease;
pub mod loops;
pub mod manual;
pub mod monitor;
pub mod quota;
pub mod refresh;
pub mod report;
pub mod schedule;
pub mod start;
pub mod store;
pub mod todo;
pub mod todo_verbs;
pub mod transfer;
pub mod turn;
pub mod void;
pub mod worker;

use loopx_core::kernel::Kernel;
use loopx_core::operation::Addressed;
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

use self::todo::RoleArg;
use crate::args::{At, Cli, Command, WriteAt};

/// Runs the command.
pub fn run(kernel: &Kernel, cli: &Cli) -> Result<Value> {
    match &cli.command {
        Command::Init(command) => start::init(kernel, command),
        Command::Doctor(command) => install::doctor(kernel, command),
        Command::StartGoal(command) => start::start_goal(kernel, command),
        Command::AgentOnboard(command) => start::onboard(kernel, command),
        Command::BootstrapCommandPack(command) => start::command_pack(kernel, command),
        Command::CodexCliBootstrapMessage(command) => start::codex_cli_message(kernel, command),
        Command::BindAgentThread(command) => start::bind(kernel, command),
        Command::UnbindAgentThread(command) => start::unbind(kernel, command),
        Command::ResolveAgentThread(command) => start::resolve(kernel, command),
        Command::Todo(command) => todo::run(kernel, command),
        Command::Gate(command) => gate::run(kernel, command),
        Command::Monitor(command) => monitor::run(kernel, command),
        Command::Feedback(command) => feedback::run(kernel, command),
        Command::Quota(command) => quota::run(kernel, command),
        Command::Turn(command) => turn::run(kernel, command),
        Command::Worker(worker::Worker::Install(args)) => {
            worker::install(kernel, &cli.global, args)
        }
        Command::TaskLease(command) => lease::run(kernel, command),
        Command::HandoffMode(command) => lease::handoff(kernel, command),
        Command::Loop(command) => loops::run(kernel, command),
        Command::Goal(command) => goal::run(kernel, command),
        Command::Agent(command) => agent::run(kernel, command),
        Command::Status(command) => report::status(kernel, command),
        Command::Explain(command) => report::explain(kernel, command),
        Command::History(command) => report::history(kernel, command),
        Command::EvidenceLog(command) => report::evidence_log(kernel, command),
        Command::Diagnose(command) => report::diagnose(kernel, command),
        Command::RefreshState(command) => refresh::run(kernel, command),
        Command::Export(command) => transfer::export(kernel, command),
        Command::Import(command) => transfer::import(kernel, command),
        Command::Store(command) => store::run(kernel, command),
        Command::Migrate(command) => store::migrate(kernel, command),
        Command::HostModePlan(command) => host::mode_plan(kernel, command),
        Command::HeartbeatPrompt(command) => host::heartbeat_prompt(kernel, command),
        Command::Call(command) => call::run(kernel, command),
        Command::RegisterAgent(command) => agent::register_reference(kernel, command),
        Command::GoalLifecycle(command) => goal::lifecycle_reference(kernel, command),
        // `main` has run them: a worker prints its own lines, the others need no kernel.
        Command::Worker(worker::Worker::Run(_))
        | Command::Errors(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Connectors(_)
        | Command::Install(_)
        | Command::SlashCommands(_)
        | Command::ValueConnectors(_) => Err(Error::new(ErrorCode::Internal, "command")),
    }
}

fn at(at: &At) -> Addressed {
    Addressed { goal_id: at.goal_id.clone(), effect_id: None }
}

fn write_at(at: &WriteAt) -> Addressed {
    Addressed { goal_id: at.goal_id.clone(), effect_id: at.effect_id.clone() }
}

fn role(role: RoleArg) -> loopx_core::model::Role {
    match role {
        RoleArg::User => loopx_core::model::Role::User,
        RoleArg::Agent => loopx_core::model::Role::Agent,
    }
}

/// A word that clap has already checked against the same list.
fn word<T>(parse: fn(&str) -> Option<T>, field: &str, text: Option<&str>) -> Result<Option<T>> {
    text.map(|t| {
        parse(t).ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, field).message(format!("{field} cannot be {t:?}"))
        })
    })
    .transpose()
}
