//! What the doors of other languages share: how a kernel is opened, how one survives a fork, and
//! that a panic is an error. No rule is here, and nothing of a language.

#![warn(missing_docs)]

mod handle;
mod options;

use std::panic::{AssertUnwindSafe, catch_unwind};

use loopx_core::kernel::Kernel;
use loopx_core::{Error, ErrorCode, Result};
use serde_json::{Value, json};

pub use handle::Handle;
pub use options::{instant, read};

/// Runs `work`; a panic becomes [`ErrorCode::Internal`]. What a kernel shares between calls is
/// behind locks that a panic does not close.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::new(ErrorCode::Internal, "kernel")
            .message("the kernel failed in the middle of a call; the process goes on"))
    })
}

/// The JSON of a text that a caller gave; `what` names it where it is none.
pub fn parsed(what: &str, text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|e| {
        Error::new(ErrorCode::RequestInvalid, what).message(format!("the {what} is not JSON: {e}"))
    })
}

/// Calls an operation between JSON texts; a refusal calls a request that is none `what`.
pub fn call(kernel: &Kernel, what: &str, operation: &str, request: &str) -> Result<String> {
    kernel.call_text(operation, &parsed(what, request)?)
}

/// A refusal with all that its row says: the public JSON, and beside it `class` and `retry`.
pub fn refusal(error: &Error) -> Value {
    let row = error.row();
    let mut said = error.to_json();
    if let Some(map) = said.as_object_mut() {
        map.insert("class".into(), json!(row.class));
        map.insert("retry".into(), json!(row.retry));
    }
    said
}
