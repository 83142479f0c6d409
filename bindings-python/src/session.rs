//! A host's loop in its process: `loopx_core::kernel::LoopSession` behind JSON texts.

use std::sync::{Mutex, PoisonError};

use loopx_bindings::parsed;
use loopx_core::kernel::LoopSession;
use loopx_core::{Error, ErrorCode, Result};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{NativeKernel, detached};

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
    fn open(py: Python<'_>, request: &str) -> PyResult<Self> {
        let session = detached(py, || {
            let mut request = parsed("session", request)?;
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
    fn step(&self, py: Python<'_>, kernel: &NativeKernel, event: &str) -> PyResult<String> {
        detached(py, || -> Result<String> {
            let event = serde_json::from_value(parsed("event", event)?)
                .map_err(|e| malformed("event", &e))?;
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(session.step(kernel.handle.kernel()?, event).to_string())
        })
    }

    /// What a person did that is not stored yet.
    fn owed(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || {
            let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(json!(session.owed()).to_string())
        })
    }
}
