//! A host's loop in its process: `loopx_core::kernel::LoopSession` with Python's objects.

use std::sync::{Mutex, PoisonError};

use loopx_core::kernel::LoopSession;
use loopx_core::{Error, ErrorCode};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::built::built;
use crate::{NativeKernel, asked, detached};

/// A session of a host that follows one goal. Its steps happen one after the other.
#[pyclass(frozen, module = "loopx._native")]
pub struct NativeLoop {
    session: Mutex<LoopSession>,
}

fn malformed(what: &str, why: &serde_json::Error) -> Error {
    Error::new(ErrorCode::RequestInvalid, what).message(format!("the {what} is malformed: {why}"))
}

#[pymethods]
impl NativeLoop {
    /// `request` is what `loop.step` takes, with `goal_id` and without an event.
    #[new]
    fn open(py: Python<'_>, request: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut request = asked::object(request)?;
        let session = detached(py, || {
            let goal = request.get("goal_id").and_then(Value::as_str).unwrap_or_default();
            let goal = goal.to_owned();
            if let Some(map) = request.as_object_mut() {
                map.insert("event".into(), json!({"kind": "activated"}));
            }
            let template = serde_json::from_value(request).map_err(|e| malformed("session", &e))?;
            Ok(LoopSession::new(goal, template))
        })?;
        Ok(Self { session: Mutex::new(session) })
    }

    /// Tells the loop what happened.
    fn step<'py>(
        &self,
        py: Python<'py>,
        kernel: &NativeKernel,
        event: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let event = asked::object(event)?;
        let said = detached(py, || {
            let event = serde_json::from_value(event).map_err(|e| malformed("event", &e))?;
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(session.step(kernel.handle.kernel()?, event).to_string())
        })?;
        built(py, &said)
    }

    /// What a person did that is not stored yet.
    fn owed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let owed = detached(py, || {
            let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(json!(session.owed()).to_string())
        })?;
        built(py, &owed)
    }
}
