//! The kernel inside Node and Bun. JSON texts go in and come out; the npm package's own
//! JavaScript turns them into objects, typed methods and errors.
//!
//! An answer that begins with `!` is an error's JSON behind it. An operation that panics
//! is one, too: the process lives.

mod run;
mod session;
mod threads;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use loopx_bindings::{guarded, instant};
use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::{Error, ErrorCode};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;

use crate::run::{said, told};

/// How long a read on the JavaScript thread waits for a lock.
const QUICK: Duration = Duration::from_millis(50);

/// A kernel on one registry: one that waits long, off the JavaScript thread, and one for
/// reads on it.
#[napi]
pub struct NativeKernel {
    options: KernelOptions,
    /// None once it is closed.
    doors: RwLock<Option<Doors>>,
}

#[derive(Clone)]
struct Doors {
    patient: Arc<Kernel>,
    quick: Arc<Kernel>,
}

impl Doors {
    fn open(options: &KernelOptions) -> loopx_core::Result<Self> {
        let with = |deadline| Kernel::open(KernelOptions { deadline, ..options.clone() });
        let quick = QUICK.min(options.deadline);
        Ok(Self { patient: Arc::new(with(options.deadline)?), quick: Arc::new(with(quick)?) })
    }
}

impl NativeKernel {
    fn doors(&self) -> loopx_core::Result<Doors> {
        let doors = self.doors.read().unwrap_or_else(PoisonError::into_inner);
        doors.clone().ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, "kernel")
                .message("the kernel is closed")
                .next("open another one: Kernel.open()")
        })
    }
}

#[napi]
impl NativeKernel {
    /// Opens the kernel; `null` and the error's text in `failure` where that is refused.
    #[napi(factory)]
    pub fn open(request: String) -> napi::Result<Self> {
        let opened = guarded(|| {
            let options = loopx_bindings::read("options", &request)?;
            let doors = Doors::open(&options)?;
            Ok((options, doors))
        });
        match opened {
            Ok((options, doors)) => Ok(Self { options, doors: RwLock::new(Some(doors)) }),
            Err(error) => Err(napi::Error::from_reason(error.to_json().to_string())),
        }
    }

    /// A read, here and now. It waits at most 50 ms for a lock.
    #[napi]
    pub fn call_sync(&self, operation: String, request: String) -> String {
        told(guarded(|| run::read(&self.doors()?.quick, &operation, &request)))
    }

    /// Any operation, off the JavaScript thread: a promise of the text.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn call<'e>(
        &self,
        env: &'e Env,
        operation: String,
        request: String,
    ) -> napi::Result<Object<'e>> {
        let doors = self.doors();
        threads::promise(env, move || {
            told(guarded(|| loopx_bindings::call(&doors?.patient, "request", &operation, &request)))
        })
    }

    /// Lets go of what is open. Calls that are under way end as they would have; every later one
    /// is refused. Once more is nothing.
    #[napi]
    pub fn close(&self) {
        self.doors.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Fixes the clock for tests and replays, or lets it go with `null`.
    #[napi]
    pub fn fix_clock(&self, now: Option<String>) -> String {
        said(guarded(|| {
            let clock = match now.as_deref() {
                Some(text) => Clock::Fixed(instant(text)?),
                None => Clock::System,
            };
            self.doors()?;
            let doors = Doors::open(&KernelOptions { clock, ..self.options.clone() })?;
            *self.doors.write().unwrap_or_else(PoisonError::into_inner) = Some(doors);
            Ok(serde_json::json!({"ok": true}))
        }))
    }

    /// Panics where an operation would run; the tests see what becomes of it.
    #[napi]
    pub fn panic_for_tests(&self) -> String {
        #[allow(clippy::panic, reason = "that is what it is for")]
        let broken = || -> loopx_core::Result<serde_json::Value> { panic!("on purpose") };
        said(guarded(broken))
    }
}

/// The version that this file was built as.
#[napi]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
