//! `loopx call`: the door for programs that speak JSON and cannot load the library.

use std::io::Read as _;

use clap::Args;
use clap::builder::PossibleValuesParser;
use loopx_core::kernel::Kernel;
use loopx_core::operation::Operation;
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

/// Bytes of a request on standard input, at most.
const LIMIT: u64 = 64 * 1024 * 1024;

/// `call`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx call goal.list\n\nA request is a JSON object: loopx call goal.show '{\"goal_id\":\"demo\"}'. What it may\nsay is printed by `loopx schema OPERATION`."
)]
pub struct Call {
    /// The operation
    #[arg(value_name = "OPERATION", value_parser = operations(), hide_possible_values = true)]
    pub operation: String,
    /// The request, a JSON object; `-` reads standard input
    #[arg(value_name = "REQUEST", default_value = "{}")]
    pub request: String,
}

fn operations() -> PossibleValuesParser {
    PossibleValuesParser::new(Operation::TABLE.iter().map(|(_, name, ..)| *name))
}

pub fn run(kernel: &Kernel, args: &Call) -> Result<Value> {
    let text = match args.request.as_str() {
        "-" => piped()?,
        given => given.to_owned(),
    };
    let request: Value = serde_json::from_str(&text).map_err(|e| {
        Error::new(ErrorCode::RequestInvalid, "request")
            .message(format!("the request is not JSON: {e}"))
            .next(format!("loopx schema {}", args.operation))
    })?;
    kernel.call(&args.operation, &request)
}

fn piped() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().take(LIMIT).read_to_string(&mut text).map_err(|e| {
        Error::new(ErrorCode::RequestInvalid, "request")
            .message("standard input is not text")
            .detail(e)
    })?;
    Ok(text)
}
