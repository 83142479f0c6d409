//! The kernel inside Python: what `loopx._native` holds. JSON texts come in and go out; the
//! package's own Python makes them objects, typed methods and exceptions.
//!
//! While the kernel works, other threads of the interpreter run. A refusal is the exception that
//! `loopx.errors` makes of it; an operation that panics is one, too, and the process lives.

mod session;

use loopx_bindings::{Handle, guarded, parsed, refusal};
use loopx_core::{Error, Result};
use pyo3::prelude::*;

/// The exception of a refusal.
fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let text = refusal(error).to_string();
    let made = py
        .import("loopx.errors")
        .and_then(|errors| errors.getattr("of_refusal"))
        .and_then(|make| make.call1((text,)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(broken) => broken,
    }
}

/// Runs `work` while other threads may run; a panic is an error.
fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(|| guarded(work)).map_err(|error| raised(py, &error))
}

/// A kernel on one registry, used by any number of threads.
#[pyclass(frozen, module = "loopx._native")]
struct NativeKernel {
    handle: Handle,
}

#[pymethods]
impl NativeKernel {
    #[new]
    fn open(py: Python<'_>, options: &str) -> PyResult<Self> {
        let handle = detached(py, || Handle::open(loopx_bindings::read("options", options)?))?;
        Ok(Self { handle })
    }

    /// Any operation, from JSON to JSON.
    fn call(&self, py: Python<'_>, operation: &str, request: &str) -> PyResult<String> {
        detached(py, || {
            let answer = self.handle.kernel()?.call(operation, &parsed("request", request)?)?;
            Ok(answer.to_string())
        })
    }

    /// Panics where an operation would run; the tests see what becomes of it.
    fn panic_for_tests(&self, py: Python<'_>) -> PyResult<()> {
        #[allow(clippy::panic, reason = "that is what it is for")]
        detached(py, || panic!("on purpose"))
    }
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::NativeKernel;
    #[pymodule_export]
    use super::session::NativeLoop;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "it is a name of Python")]
    const version: &str = env!("CARGO_PKG_VERSION");
}
