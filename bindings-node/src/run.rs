//! One call: parse, run, say.

use loopx_core::kernel::Kernel;
use loopx_core::operation::{Access, Operation};
use loopx_core::{Error, ErrorCode, Result};
use serde_json::Value;

/// An answer as it goes to JavaScript.
pub fn said(answer: Result<Value>) -> String {
    told(answer.map(|value| value.to_string()))
}

/// [`said`] of an answer that is a text already.
pub fn told(answer: Result<String>) -> String {
    match answer {
        Ok(text) => text,
        Err(error) => format!("!{}", error.to_json()),
    }
}

/// A read on the JavaScript thread; a write would make it wait.
pub fn read(kernel: &Kernel, operation: &str, request: &str) -> Result<String> {
    let found = Operation::TABLE.iter().find(|(_, name, ..)| *name == operation);
    if let Some((_, name, Access::Write, _)) = found {
        return Err(Error::new(ErrorCode::RequestInvalid, "operation")
            .message(format!("{name} writes, and does not run on the JavaScript thread"))
            .next("await kernel.call(operation, request)"));
    }
    loopx_bindings::call(kernel, "request", operation, request)
}
