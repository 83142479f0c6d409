//! The kernel for C: one coarse call, texts in and out.
//!
//! This file is what `include/loopx.h` is made from, so its comments are written for readers
//! of C. Ownership, errors, threads and processes are in the header's first comment, which is
//! in `cbindgen.toml`.

#![warn(missing_docs)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what a caller owes is said once, for C, at the top of the header"
)]

mod text;

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use loopx_bindings::{guarded, refusal};
use loopx_core::Result;
use loopx_core::error::ErrorClass;
use loopx_core::kernel::KernelOptions;
use serde_json::json;

/// An open kernel.
pub struct Handle(loopx_bindings::Handle);

/// What a call came to.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was answered.
    Ok = 0,
    /// The request is malformed, or an argument is NULL or not UTF-8.
    Usage = 1,
    /// Who is asking, or about which goal, is not settled.
    Identity = 2,
    /// A rule says no.
    Refused = 3,
    /// Something else holds what is needed; waiting helps.
    Busy = 4,
    /// Stored state is missing, unreadable or of another version.
    State = 5,
    /// The text may not be stored or shown.
    Boundary = 6,
    /// A defect of LoopX.
    Internal = 7,
}

impl From<ErrorClass> for Status {
    fn from(class: ErrorClass) -> Self {
        match class {
            ErrorClass::Usage => Self::Usage,
            ErrorClass::Identity => Self::Identity,
            ErrorClass::Refused => Self::Refused,
            ErrorClass::Busy => Self::Busy,
            ErrorClass::State => Self::State,
            ErrorClass::Boundary => Self::Boundary,
            ErrorClass::Internal => Self::Internal,
        }
    }
}

/// Opens the kernel on a registry. Reads no file of it yet, and writes none.
///
/// `options_json` is an object; every member may be left out:
///   `registry`              path of the registry; else `LOOPX_REGISTRY`, else the nearest
///                           `.loopx/registry.json` upward from `cwd`, else the user's global one
///   `runtime_root`          folder of the stores; else `LOOPX_RUNTIME_ROOT`, else as the registry says
///   `cwd`                   absolute path that relative ones count from; else the working directory
///   `home`                  the user's home folder; else `HOME`
///   `label`                 who waits and holds, in records of locks; else `LOOPX_AGENT_ID`
///   `now`                   RFC 3339 instant that every call is made at, for tests; else
///                           `LOOPX_NOW`, else the system's clock
///   `deadline_ms`           milliseconds that a call waits for a lock; else 30000
///   `independent_worktree`  whether the caller works in a checkout of its own; else false
/// The environment is read here and never later. `"{}"` opens as the command line does.
///
/// `handle` is given the new handle, which you close with `loopx_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn loopx_open(
    options_json: *const c_char,
    handle: *mut *mut Handle,
    error: *mut *mut c_char,
) -> Status {
    // SAFETY: out pointers are NULL or may be written, as the header asks.
    unsafe {
        text::put(handle, std::ptr::null_mut());
        text::put(error, std::ptr::null_mut());
    }
    door(error, || {
        // SAFETY: NULL or a text that ends with a NUL, as the header asks.
        let given = unsafe { text::read(options_json, "options_json") }?;
        text::there(handle, "handle")?;
        let opened = Box::new(Handle(loopx_bindings::Handle::open(options(given)?)?));
        // SAFETY: not NULL, and to be written.
        unsafe { text::put(handle, Box::into_raw(opened)) };
        Ok(())
    })
}

/// Calls an operation, such as `quota.should_run` or `turn.settle`.
///
/// `request_json` is the operation's request as an object, with `goal_id` (which may be left
/// out where the registry has one goal) and, for a write, `effect_id` beside its own members: a
/// write that is repeated with its effect id answers the first receipt and does nothing twice.
///
/// `answer` is given the answer's JSON, which you free with `loopx_free`. It must not be NULL:
/// then nothing is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn loopx_call(
    handle: *const Handle,
    operation: *const c_char,
    request_json: *const c_char,
    answer: *mut *mut c_char,
    error: *mut *mut c_char,
) -> Status {
    // SAFETY: out pointers are NULL or may be written, as the header asks.
    unsafe {
        text::put(answer, std::ptr::null_mut());
        text::put(error, std::ptr::null_mut());
    }
    door(error, || {
        text::there(handle, "handle")?;
        text::there(answer, "answer")?;
        // SAFETY: the handle is one of `loopx_open` that is not closed, the texts end with a
        // NUL, as the header asks.
        let (handle, operation, request) = unsafe {
            (
                &*handle,
                text::read(operation, "operation")?,
                text::read(request_json, "request_json")?,
            )
        };
        let said = loopx_bindings::call(handle.0.kernel()?, "request_json", operation, request)?;
        // SAFETY: not NULL, and to be written.
        unsafe { text::put(answer, text::give(&said)) };
        Ok(())
    })
}

/// Frees an `answer` or an `error`. NULL is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn loopx_free(text: *mut c_char) {
    // SAFETY: one of ours that was not freed yet, as the header asks.
    unsafe { text::take_back(text) };
}

/// Closes a handle and frees it. No thread may be inside a call with it. NULL is nothing to
/// close. In a forked child it leaves alone what the parent has open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn loopx_close(handle: *mut Handle) {
    if !handle.is_null() {
        // SAFETY: one of `loopx_open` that was not closed yet, as the header asks.
        let handle = unsafe { Box::from_raw(handle) };
        // There is nobody to tell; and it must not unwind into C.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
}

/// The version of the library, such as `0.1.0`. Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn loopx_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The options of `loopx_open`.
fn options(given: &str) -> Result<KernelOptions> {
    loopx_bindings::read("options_json", given).map_err(|refused| match refused.next {
        Some(_) => refused,
        None => refused.next("see loopx_open in loopx.h"),
    })
}

/// Runs `work` and says what became of it; the error's text goes to `error` where that is not
/// NULL.
fn door(error: *mut *mut c_char, work: impl FnOnce() -> Result<()>) -> Status {
    let Err(failure) = guarded(work) else { return Status::Ok };
    let status = Status::from(failure.row().class);
    if !error.is_null() {
        let mut said = refusal(&failure);
        if let Some(map) = said.as_object_mut() {
            map.insert("status".into(), json!(status as i32));
        }
        // SAFETY: not NULL, and to be written, as the header asks.
        unsafe { text::put(error, text::give(&said.to_string())) };
    }
    status
}

#[cfg(test)]
mod tests;
