//! The kernel inside Python: what `loopx._native` holds. The package's own Python
//! makes typed methods and exceptions of it.
//!
//! While the kernel works, other threads of the interpreter run. A refusal is the exception that
//! `loopx.errors` makes of it; an operation that panics is one, too, and the process lives.

mod asked;
mod built;
mod session;
mod worker;

use std::time::Instant;

use loopx_bindings::{Handle, guarded, refusal};
use loopx_core::host::{build_host_loop_activation_packet, readiness};
use loopx_core::operation;
use loopx_core::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::json;

use crate::built::built;

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
    /// `options` are those of `loopx_bindings::read`.
    #[new]
    fn open(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = asked::object(options)?.to_string();
        // With the interpreter: its threads write the environment that is read here.
        let options = guarded(|| loopx_bindings::read("options", &options))
            .map_err(|error| raised(py, &error))?;
        let handle = detached(py, || Handle::open(options))?;
        Ok(Self { handle })
    }

    /// Any operation, from objects to objects.
    fn call<'py>(
        &self,
        py: Python<'py>,
        operation: &str,
        request: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = asked::object(request)?.to_string();
        let answer = self.call_json(py, operation, &request)?;
        built(py, &answer)
    }

    /// Any operation, from JSON text to JSON text.
    fn call_json(&self, py: Python<'_>, operation: &str, request: &str) -> PyResult<String> {
        detached(py, || loopx_bindings::call(self.handle.kernel()?, "request", operation, request))
    }

    /// Panics where an operation would run; the tests see what becomes of it.
    fn panic_for_tests(&self, py: Python<'_>) -> PyResult<()> {
        #[allow(clippy::panic, reason = "that is what it is for")]
        detached(py, || panic!("on purpose"))
    }

    /// What calls cost without Python around them, in ns each; for the measurement.
    fn times_for_tests(
        &self,
        py: Python<'_>,
        operation: &str,
        request: &Bound<'_, PyDict>,
        calls: usize,
    ) -> PyResult<Vec<u128>> {
        let request = asked::object(request)?.to_string();
        detached(py, || {
            let kernel = self.handle.kernel()?;
            (0..calls)
                .map(|_| {
                    let begun = Instant::now();
                    drop(loopx_bindings::call(kernel, "request", operation, &request)?);
                    Ok(begun.elapsed().as_nanos())
                })
                .collect()
        })
    }
}

/// What `loopx.host_loop_activation` makes.
#[pyfunction]
fn activation_packet<'py>(
    py: Python<'py>,
    agent_id: &str,
    host_surface: &str,
    activated: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let packet =
        detached(py, || build_host_loop_activation_packet(agent_id, host_surface, activated))?;
    built(py, &json!(packet).to_string())
}

/// Refuses a keyword that is no field of an operation; `known` are those that are.
#[pyfunction]
fn refuse_field(
    py: Python<'_>,
    operation: &str,
    field: &Bound<'_, PyString>,
    known: Vec<String>,
) -> PyResult<()> {
    let field = field.to_string_lossy();
    let known = known.iter().map(String::as_str);
    Err(raised(py, &operation::field_unknown(operation, &field, known)))
}

/// The id of a value connector that a turn may name.
#[pyfunction]
fn connector_for_turn(py: Python<'_>, connector: &str) -> PyResult<&'static str> {
    Ok(detached(py, || readiness::for_turn(connector))?.id)
}

/// What a turn with these connectors answers.
#[pyfunction]
fn readiness_packet<'py>(
    py: Python<'py>,
    connectors: Vec<String>,
    admission: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let admission = asked::object(admission)?;
    let packet = detached(py, || readiness::packet(&connectors, admission))?;
    built(py, &packet.to_string())
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::NativeKernel;
    #[pymodule_export]
    use super::activation_packet;
    #[pymodule_export]
    use super::connector_for_turn;
    #[pymodule_export]
    use super::readiness_packet;
    #[pymodule_export]
    use super::refuse_field;
    #[pymodule_export]
    use super::session::NativeLoop;
    #[pymodule_export]
    use super::worker::{command_words, in_own_worktree, redacted, run_worker};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "it is a name of Python")]
    const version: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const ACTIVATION_SCHEMA: &str = loopx_core::host::activation::SCHEMA;
}
