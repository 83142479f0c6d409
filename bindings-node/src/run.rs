//! One call: parse, run, say. A panic is an error, and the next call goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loopx_core::kernel::Kernel;
use loopx_core::operation::{Access, Operation};
use loopx_core::{Error, ErrorCode, Result};
use napi::{Env, Task};
use serde_json::Value;

/// Runs `work`; a panic becomes [`ErrorCode::Internal`]. What a kernel shares between
/// calls is behind locks that a panic does not close.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::new(ErrorCode::Internal, "kernel")
            .message("the kernel failed in the middle of a call; the process goes on"))
    })
}

/// An answer as it goes to JavaScript.
pub fn said(answer: Result<Value>) -> String {
    match answer {
        Ok(value) => value.to_string(),
        Err(error) => format!("!{}", error.to_json()),
    }
}

fn parsed(request: &str) -> Result<Value> {
    serde_json::from_str(request).map_err(|e| {
        Error::new(ErrorCode::RequestInvalid, "request")
            .message(format!("the request is not JSON: {e}"))
    })
}

/// A read on the JavaScript thread; a write would make it wait.
pub fn read(kernel: &Kernel, operation: &str, request: &str) -> Result<Value> {
    let found = Operation::TABLE.iter().find(|(_, name, ..)| *name == operation);
    if let Some((_, name, Access::Write, _)) = found {
        return Err(Error::new(ErrorCode::RequestInvalid, "operation")
            .message(format!("{name} writes, and does not run on the JavaScript thread"))
            .next("await kernel.call(operation, request)"));
    }
    kernel.call(operation, &parsed(request)?)
}

/// A call off the JavaScript thread.
pub struct Call {
    kernel: Arc<Kernel>,
    operation: String,
    request: String,
}

impl Call {
    /// Of any operation.
    pub fn new(kernel: Arc<Kernel>, operation: String, request: String) -> Self {
        Self { kernel, operation, request }
    }
}

impl Task for Call {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        Ok(said(guarded(|| self.kernel.call(&self.operation, &parsed(&self.request)?))))
    }

    fn resolve(&mut self, _: Env, output: String) -> napi::Result<String> {
        Ok(output)
    }
}
