//! The external worker with hands in Python: its loop, its route and its lines are those of
//! `loopx worker run`; what sleeps, hears signals and runs children is the caller's.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use loopx_bindings::parsed;
use loopx_core::kernel::Kernel;
use loopx_core::schedule::ExecutionContext;
use loopx_core::{Error, ErrorCode, Result};
use loopx_hosts::process::{self, Ending, Family, Remains, Report, Spec, words};
use loopx_hosts::worker::{self, Form, Hands, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use crate::{NativeKernel, detached};

/// What stands for a stop signal once the hands have raised: SIGTERM.
const GIVEN_UP: i32 = 15;

/// Options as `loopx.worker.run` hands them on; `None` is the default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    goal_id: Option<String>,
    agent_id: String,
    state_file: Option<PathBuf>,
    wake: Option<Vec<String>>,
    #[serde(default)]
    once: bool,
    error_backoff_seconds: Option<u64>,
    wake_timeout_seconds: Option<f64>,
    wake_stop_exit_code: Option<u8>,
    wake_grace_seconds: Option<f64>,
    wake_output_limit_bytes: Option<u64>,
    #[serde(default)]
    available_capabilities: Vec<String>,
    #[serde(default)]
    independent_worktree: bool,
    runtime_profile: Option<String>,
    execution_context: Option<ExecutionContext>,
    #[serde(default)]
    json_lines: bool,
}

fn invalid(about: &str, sentence: impl Into<String>) -> Error {
    Error::new(ErrorCode::RequestInvalid, about).message(sentence)
}

fn seconds(about: &str, given: f64) -> Result<Duration> {
    let shortest = process::SHORTEST_TIMEOUT;
    match Duration::try_from_secs_f64(given) {
        Ok(length) if length >= shortest => Ok(length),
        _ => Err(invalid(about, format!("it is at least {} seconds", shortest.as_secs_f64()))),
    }
}

impl Asked {
    fn read(text: &str) -> Result<Self> {
        serde_json::from_value(parsed("options", text)?)
            .map_err(|e| invalid("options", format!("the options are malformed: {e}")))
    }

    fn context(&self) -> Result<Option<ExecutionContext>> {
        if let Some(context) = &self.execution_context {
            context.check()?;
            return Ok(Some(context.clone()));
        }
        let name = self.runtime_profile.as_deref().unwrap_or("generic_cli");
        ExecutionContext::of_profile(name).map(Some).ok_or_else(|| {
            let known: Vec<&str> =
                loopx_core::schedule::context::PROFILES.iter().map(|p| p.name).collect();
            let known = known.join(", ");
            invalid("runtime_profile", format!("there is no profile {name:?}; known: {known}"))
        })
    }

    fn options(self, kernel: &Kernel) -> Result<Options> {
        let length = |about: &str, given: Option<f64>| given.map(|s| seconds(about, s)).transpose();
        if self.wake_stop_exit_code == Some(0) {
            return Err(invalid("wake_stop_exit_code", "it is one of 1..=255"));
        }
        Ok(Options {
            context: self.context()?,
            wake_timeout: length("wake_timeout_seconds", self.wake_timeout_seconds)?,
            wake_grace: length("wake_grace_seconds", self.wake_grace_seconds)?
                .unwrap_or(process::GRACE),
            goal_id: self.goal_id,
            agent_id: self.agent_id,
            state_file: self.state_file,
            wake: self.wake,
            once: self.once,
            error_backoff_seconds: self.error_backoff_seconds.unwrap_or(60),
            wake_stop_exit_code: self.wake_stop_exit_code,
            wake_output_limit: self.wake_output_limit_bytes.unwrap_or(process::OUTPUT_LIMIT),
            capabilities: self.available_capabilities,
            independent_worktree: self.independent_worktree,
            clock: kernel.clock(),
            form: if self.json_lines { Form::Json } else { Form::Text },
        })
    }
}

/// A Python object as the worker's hands. Once a method of it has raised none is called any
/// more, and the worker ends as after a stop signal, so that its turn ends with it.
struct PyHands {
    hands: Py<PyAny>,
    raised: Option<PyErr>,
}

impl PyHands {
    fn ask<T>(&mut self, otherwise: T, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        if self.raised.is_some() {
            return otherwise;
        }
        match Python::attach(|py| call(self.hands.bind(py))) {
            Ok(answer) => answer,
            Err(error) => {
                self.raised = Some(error);
                otherwise
            }
        }
    }

    fn child(&mut self, spec: &Spec) -> Report {
        let given_up = Report {
            ending: Ending::Stopped(GIVEN_UP),
            status: None,
            stdout_bytes: 0,
            stderr_bytes: 0,
            remains: Remains::None,
            took: Duration::ZERO,
        };
        self.ask(given_up, |hands| {
            let told = hands.call_method("run", (), Some(&child_of(hands.py(), spec)?))?;
            report_of(&told)
        })
    }
}

/// A child as keywords of `Hands.run`.
fn child_of<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Bound<'py, PyDict>> {
    let child = PyDict::new(py);
    let set = PyDict::new(py);
    for (name, value) in &spec.env {
        set.set_item(name, value)?;
    }
    child.set_item("words", &spec.words)?;
    child.set_item("env", set)?;
    child.set_item("without", &spec.without)?;
    child.set_item("timeout", spec.timeout.map(|t| t.as_secs_f64()))?;
    child.set_item("output_limit", spec.output_limit)?;
    child.set_item("grace", spec.grace.as_secs_f64())?;
    child.set_item("everything", spec.family == Family::Everything)?;
    Ok(child)
}

/// What `Hands.run` answers.
fn report_of(told: &Bound<'_, PyAny>) -> PyResult<Report> {
    let number = || told.getattr("number")?.extract::<i32>();
    let ending: String = told.getattr("ending")?.extract()?;
    let ending = match ending.as_str() {
        "exited" => Ending::Exited(number()?),
        "signal" => Ending::Signal(number()?),
        "timeout" => Ending::Timeout,
        "output_limit" => Ending::OutputLimit,
        "stopped" => Ending::Stopped(number()?),
        "spawn_failed" => Ending::SpawnFailed(io::ErrorKind::Other),
        other => return Err(PyValueError::new_err(format!("no ending is called {other:?}"))),
    };
    let remains: String = told.getattr("remains")?.extract()?;
    let remains = match remains.as_str() {
        "none" => Remains::None,
        "ended" => Remains::Ended,
        "left" => Remains::Left,
        other => return Err(PyValueError::new_err(format!("no remains are called {other:?}"))),
    };
    let took: f64 = told.getattr("seconds")?.extract()?;
    Ok(Report {
        ending,
        status: told.getattr("status")?.extract()?,
        stdout_bytes: told.getattr("stdout_bytes")?.extract()?,
        stderr_bytes: told.getattr("stderr_bytes")?.extract()?,
        remains,
        took: Duration::try_from_secs_f64(took).unwrap_or_default(),
    })
}

impl Hands for PyHands {
    fn say(&mut self, line: &str) {
        self.ask((), |hands| hands.call_method1("say", (line,)).map(drop));
    }

    fn sleep(&mut self, longest: Duration) {
        let seconds = longest.as_secs_f64();
        self.ask((), |hands| hands.call_method1("sleep", (seconds,)).map(drop));
    }

    fn stopped(&mut self) -> Option<i32> {
        self.ask(Some(GIVEN_UP), |hands| hands.call_method0("stopped")?.extract())
    }

    fn run(&mut self, spec: &Spec, tick: &mut (dyn FnMut() + Send)) -> Report {
        let (over, listen) = channel::<()>();
        let every = spec.tick;
        thread::scope(|scope| {
            // Without a thread the turn is not renewed, and lives as long as it was given.
            let ticking = thread::Builder::new().name("loopx-renew".into());
            let _ = ticking.spawn_scoped(scope, move || {
                while listen.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                    tick();
                }
            });
            let report = self.child(spec);
            drop(over);
            report
        })
    }

    fn end_marked(&mut self, mark: &str, grace: Duration) -> usize {
        let seconds = grace.as_secs_f64();
        self.ask(0, |hands| hands.call_method1("end_marked", (mark, seconds))?.extract())
    }
}

/// Runs a worker to its end and answers the exit status of its process.
#[pyfunction]
pub fn run_worker(
    py: Python<'_>,
    kernel: &NativeKernel,
    options: &str,
    hands: Py<PyAny>,
) -> PyResult<u8> {
    let mut hands = PyHands { hands, raised: None };
    let status = detached(py, || {
        let kernel = kernel.handle.kernel()?;
        let options = Asked::read(options)?.options(kernel)?;
        Ok(worker::run_with(kernel, &options, &mut hands))
    })?;
    match hands.raised {
        Some(error) => Err(error),
        None => Ok(status),
    }
}

/// The words of a command line, which no shell reads; a `ValueError` says what only one can do.
#[pyfunction]
pub fn command_words(text: &str) -> PyResult<Vec<OsString>> {
    match words::split(text) {
        Ok(words) => Ok(words.into_iter().map(OsString::from).collect()),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}

/// Whether a folder is in a git worktree of its own.
#[pyfunction]
pub fn in_own_worktree(folder: PathBuf) -> bool {
    loopx_core::file::worktree::is_independent(&folder)
}

/// A text without secrets and local paths, as it may be shown; whole when it has none.
#[pyfunction]
pub fn redacted(text: &str) -> String {
    loopx_core::boundary::redact_shown(text).into_owned()
}
