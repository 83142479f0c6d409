//! What the tool says about itself, without a goal or a registry: `errors`, `schema`,
//! `completions`, `man`.

use clap::{Args, CommandFactory as _, ValueEnum};
use clap_complete::Shell;
use loopx_core::error::{CATALOGUE, ErrorCode};
use loopx_core::operation::{Access, Operation};
use loopx_core::{Error, Result};
use serde_json::{Value, json};

use crate::args::{Cli, Command};

/// `errors`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx errors --code goal_not_found")]
pub struct Errors {
    /// One code only
    #[arg(long, value_name = "CODE", value_parser = codes(), hide_possible_values = true)]
    pub code: Option<String>,
}

fn codes() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(CATALOGUE.iter().map(|row| row.text))
}

/// `schema`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx schema todo.add")]
pub struct Schema {
    /// An operation, or `packet` for what quota.should_run answers [default: list them]
    #[arg(value_name = "OPERATION", value_parser = operations(), hide_possible_values = true)]
    pub operation: Option<String>,
}

fn operations() -> clap::builder::PossibleValuesParser {
    let names = Operation::TABLE.iter().map(|(_, name, ..)| *name).chain(["packet"]);
    clap::builder::PossibleValuesParser::new(names)
}

/// A shell that completions are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShellArg {
    Bash,
    Zsh,
    Fish,
}

/// `completions`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx completions bash\n\nTo use them: source <(loopx completions bash)"
)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: ShellArg,
}

/// `man`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx man\n\nTo read it: loopx man > loopx.1 && man ./loopx.1")]
pub struct Man {
    /// The page of one command, such as quota
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// Runs a command that needs no kernel; `None` for one that does.
pub fn run(command: &Command) -> Option<Result<Value>> {
    Some(match command {
        Command::Errors(args) => errors(args),
        Command::Schema(args) => Ok(schema_of(args)),
        Command::Completions(args) => Ok(completions(args)),
        Command::Man(args) => man(args),
        Command::Install(command) => super::install::run(command),
        Command::SlashCommands(command) => super::install::slash(command),
        Command::Connectors(command) => super::host::connectors(command),
        Command::ValueConnectors(args) => super::host::value_connectors(args),
        _ => return None,
    })
}

fn errors(args: &Errors) -> Result<Value> {
    let rows: Vec<_> = CATALOGUE
        .iter()
        .filter(|row| args.code.as_deref().is_none_or(|code| code == row.text))
        .collect();
    Ok(json!({"ok": true, "errors": rows}))
}

/// Every schema, as `cargo xtask generate` wrote it: what makes schemas stays out of the
/// binary.
const SCHEMAS: &str = include_str!("../../../docs/schemas.json");

fn schema_of(args: &Schema) -> Value {
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    let requests = schemas.get("requests");
    let request = |operation: Operation| requests.and_then(|all| all.get(operation.name()));
    let packet = schemas.get("packet");
    let one = |operation: Operation, access: Access, about: &str| {
        let mut value = json!({
            "ok": true,
            "operation": operation.name(),
            "access": access,
            "about": about,
            "request": request(operation),
        });
        if let (Operation::QuotaShouldRun | Operation::TurnAdmit, Some(map)) =
            (operation, value.as_object_mut())
        {
            map.insert("answer".into(), json!(packet));
        }
        value
    };
    match args.operation.as_deref() {
        Some("packet") => json!({"ok": true, "packet": packet}),
        Some(name) => Operation::TABLE
            .iter()
            .find(|(_, n, ..)| *n == name)
            .map_or(Value::Null, |(op, _, access, about)| one(*op, *access, about)),
        None => {
            let list: Vec<Value> = Operation::TABLE
                .iter()
                .map(|(_, name, access, about)| json!({"operation": name, "access": access, "about": about}))
                .collect();
            json!({"ok": true, "operations": list, "requests": requests, "packet": packet})
        }
    }
}

fn document(text: String) -> Value {
    json!({"ok": true, "text": text})
}

fn completions(args: &Completions) -> Value {
    let shell = match args.shell {
        ShellArg::Bash => Shell::Bash,
        ShellArg::Zsh => Shell::Zsh,
        ShellArg::Fish => Shell::Fish,
    };
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "loopx", &mut out);
    document(String::from_utf8_lossy(&out).into_owned())
}

/// The page of the whole tool with every command, or of one command.
fn man(args: &Man) -> Result<Value> {
    let mut root = Cli::command();
    root.build();
    let failed = |e: std::io::Error| Error::new(ErrorCode::Internal, "man page").detail(e);
    let mut out = Vec::new();
    match args.command.as_deref() {
        None => {
            let page = clap_mangen::Man::new(root.clone());
            page.render(&mut out).map_err(failed)?;
        }
        Some(name) => {
            let found = root.get_subcommands().find(|c| c.get_name() == name).ok_or_else(|| {
                Error::new(ErrorCode::RequestInvalid, "command")
                    .message(format!("there is no command {name:?}"))
                    .next("loopx --help")
            })?;
            let page = clap_mangen::Man::new(found.clone().name(format!("loopx-{name}")));
            page.render(&mut out).map_err(failed)?;
        }
    }
    Ok(document(String::from_utf8_lossy(&out).into_owned()))
}
