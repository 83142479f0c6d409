//! A host's loop in its process: `loopx_core::kernel::LoopSession` behind JSON texts.

use std::sync::{Arc, Mutex, PoisonError};

use loopx_bindings::{guarded, parsed};
use loopx_core::kernel::LoopSession;
use loopx_core::{Error, ErrorCode, Result};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::NativeKernel;
use crate::run::said;
use crate::threads;

/// A session of a host that follows one goal.
#[napi]
pub struct NativeLoop {
    session: Arc<Mutex<LoopSession>>,
}

fn from_json<T: DeserializeOwned>(what: &str, value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|e| {
        Error::new(ErrorCode::RequestInvalid, what).message(format!("the {what} is malformed: {e}"))
    })
}

#[napi]
impl NativeLoop {
    /// `request` is what `loop.step` takes, with `goal_id` and without an event.
    #[napi(factory)]
    pub fn open(request: String) -> napi::Result<Self> {
        let opened = guarded(|| {
            let mut request = parsed("session", &request)?;
            let goal = request.get("goal_id").and_then(Value::as_str).unwrap_or_default();
            let goal = goal.to_owned();
            if let Some(map) = request.as_object_mut() {
                map.insert("event".into(), json!({"kind": "activated"}));
            }
            Ok(LoopSession::new(goal, from_json("session", request)?))
        });
        match opened {
            Ok(session) => Ok(Self { session: Arc::new(Mutex::new(session)) }),
            Err(error) => Err(napi::Error::from_reason(error.to_json().to_string())),
        }
    }

    /// Tells the loop what happened, off the JavaScript thread: a promise of the text.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn step<'e>(
        &self,
        env: &'e Env,
        kernel: &NativeKernel,
        event: String,
    ) -> napi::Result<Object<'e>> {
        let (session, doors) = (Arc::clone(&self.session), kernel.doors());
        threads::promise(env, move || {
            said(guarded(|| {
                let event = from_json("event", parsed("event", &event)?)?;
                let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(session.step(&doors?.patient, event))
            }))
        })
    }

    /// What a person did that is not stored yet.
    #[napi]
    pub fn owed(&self) -> String {
        said(guarded(|| {
            let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(json!(session.owed()))
        }))
    }
}
