//! Requests: JSON's values from Python's objects.

use loopx_core::{Error, ErrorCode};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::raised;

/// As deep as a text of JSON may be; an object that holds itself ends here.
const DEPTH: usize = 127;

fn refused(py: Python<'_>, sentence: String) -> PyErr {
    raised(py, &Error::new(ErrorCode::RequestInvalid, "request").message(sentence))
}

fn text(found: &Bound<'_, PyString>) -> PyResult<String> {
    match found.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(refused(found.py(), "a text of the request is not valid Unicode".into())),
    }
}

/// A request.
pub fn object(given: &Bound<'_, PyDict>) -> PyResult<Value> {
    members(given, DEPTH)
}

fn members(given: &Bound<'_, PyDict>, depth: usize) -> PyResult<Value> {
    let mut map = Map::with_capacity(given.len());
    for (key, value) in given.iter() {
        let Ok(key) = key.cast::<PyString>() else {
            return Err(refused(given.py(), "a name in the request is not a text".into()));
        };
        map.insert(text(key)?, value_of(&value, depth)?);
    }
    Ok(Value::Object(map))
}

fn list<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<Value> {
    items.map(|item| value_of(&item, depth)).collect::<PyResult<Vec<_>>>().map(Value::Array)
}

fn value_of(given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let py = given.py();
    let Some(left) = depth.checked_sub(1) else {
        return Err(refused(py, "the request is nested too deeply".into()));
    };
    if let Ok(found) = given.cast::<PyString>() {
        return text(found).map(Value::String);
    }
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(found) = given.cast::<PyBool>() {
        return Ok(Value::Bool(found.is_true()));
    }
    if given.is_instance_of::<PyInt>() {
        return given
            .extract::<i64>()
            .map(Number::from)
            .or_else(|_| given.extract::<u64>().map(Number::from))
            .map(Value::Number)
            .map_err(|_| refused(py, format!("{given} is too large a number")));
    }
    if let Ok(found) = given.cast::<PyFloat>() {
        return Number::from_f64(found.value())
            .map(Value::Number)
            .ok_or_else(|| refused(py, format!("{given} is no number of JSON")));
    }
    if let Ok(found) = given.cast::<PyDict>() {
        return members(found, left);
    }
    if let Ok(found) = given.cast::<PyList>() {
        return list(found.iter(), left);
    }
    if let Ok(found) = given.cast::<PyTuple>() {
        return list(found.iter(), left);
    }
    let kind = given.get_type();
    let kind = kind.name()?;
    Err(refused(py, format!("the request holds a {kind}, which is nothing of JSON")))
}
