//! Answers: Python's objects straight from the kernel's JSON text, with no tree between.

use std::fmt;

use loopx_core::ErrorCode;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::raised;

/// Builds what it visits.
#[derive(Clone, Copy)]
struct Building<'py>(Python<'py>);

/// A member's name.
struct Name<'py>(Python<'py>);

/// An answer's text as Python's objects.
pub fn built<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut from = serde_json::Deserializer::from_str(text);
    Building(py).deserialize(&mut from).map_err(|broken| {
        let error = loopx_core::Error::new(ErrorCode::Internal, "answer").detail(broken);
        raised(py, &error)
    })
}

impl<'de, 'py> DeserializeSeed<'de> for Building<'py> {
    type Value = Bound<'py, PyAny>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, 'py> DeserializeSeed<'de> for Name<'py> {
    type Value = Bound<'py, PyString>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'py> Visitor<'_> for Name<'py> {
    type Value = Bound<'py, PyString>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(PyString::new(self.0, name))
    }
}

impl<'de, 'py> Visitor<'de> for Building<'py> {
    type Value = Bound<'py, PyAny>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(self.0.None().into_bound(self.0))
    }

    fn visit_bool<E: Error>(self, found: bool) -> Result<Self::Value, E> {
        found.into_bound_py_any(self.0).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, found: i64) -> Result<Self::Value, E> {
        found.into_bound_py_any(self.0).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, found: u64) -> Result<Self::Value, E> {
        found.into_bound_py_any(self.0).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, found: f64) -> Result<Self::Value, E> {
        found.into_bound_py_any(self.0).map_err(E::custom)
    }

    fn visit_str<E>(self, found: &str) -> Result<Self::Value, E> {
        Ok(PyString::new(self.0, found).into_any())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let made = PyList::empty(self.0);
        while let Some(item) = items.next_element_seed(self)? {
            made.append(item).map_err(A::Error::custom)?;
        }
        Ok(made.into_any())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let made = PyDict::new(self.0);
        while let Some(name) = members.next_key_seed(Name(self.0))? {
            let member = members.next_value_seed(self)?;
            made.set_item(name, member).map_err(A::Error::custom)?;
        }
        Ok(made.into_any())
    }
}
