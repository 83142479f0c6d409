//! Printing an answer: JSON for machines, text for people. Standard output carries the
//! answer only; what is about the call goes to standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use loopx_core::{Error, Result};
use serde_json::Value;

use crate::args::{Cli, FormatArg};
use crate::text::Style;
use crate::{doors, text};

/// How to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object on one line.
    Json,
    /// Text, with colour and cut to its width when it goes to a terminal.
    Text(Style),
}

impl Format {
    /// The chosen format; JSON when standard output is not a terminal.
    pub fn choose(given: Option<FormatArg>) -> Self {
        let terminal = io::stdout().is_terminal();
        match given {
            Some(FormatArg::Json) => Self::Json,
            None if !terminal => Self::Json,
            _ => Self::Text(Style {
                colour: doors::colour(terminal),
                width: if terminal { doors::columns() } else { None },
                now: doors::now(),
            }),
        }
    }
}

/// Prints the answer and gives the exit status: 0 when an answer was reached, 1 for a
/// typed refusal.
pub fn finish(format: Format, cli: &Cli, result: Result<Value>) -> ExitCode {
    let (value, status) = match result {
        Ok(value) => {
            let ok = value.get("ok").and_then(Value::as_bool).unwrap_or(true);
            (value, u8::from(!ok))
        }
        Err(error) => {
            explain(cli, &error);
            (error.to_json(), error.row().exit)
        }
    };
    let document = match (cli.command.is_document(), value.get("text").and_then(Value::as_str)) {
        (true, Some(document)) => Some(document.to_owned()),
        _ => None,
    };
    let shown = match (document, format) {
        (Some(document), _) => document,
        (None, Format::Json) => format!("{value}\n"),
        (None, Format::Text(style)) => text::render(&value, style),
    };
    let mut out = io::stdout().lock();
    match out.write_all(shown.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(status),
        // A reader that has seen enough is no failure of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(status),
        Err(error) => {
            let _ = writeln!(io::stderr(), "loopx: the answer could not be written: {error}");
            ExitCode::from(1)
        }
    }
}

fn explain(cli: &Cli, error: &Error) {
    if let (true, Some(detail)) = (cli.global.verbose, &error.detail) {
        let _ = writeln!(io::stderr(), "loopx: {detail}");
    }
}
