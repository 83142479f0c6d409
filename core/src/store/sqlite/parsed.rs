//! Todos that a connection has read before, by the text of their rows: of one text there is one
//! todo. A long-lived host reads the same few todos at every commit, its own or another's.

use std::collections::HashMap;

use super::read::parse;
use crate::error::Result;
use crate::model::Todo;

/// Todos by the text that they were read from.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    known: HashMap<String, Todo>,
    /// A process that reads once keeps nothing.
    read_before: bool,
    keeps: bool,
}

impl Parsed {
    /// Most todos that are kept; a view that is not complete has a few dozen.
    const KEPT: usize = 256;

    /// A view is read.
    pub(super) fn begin(&mut self) {
        self.keeps = std::mem::replace(&mut self.read_before, true);
    }

    /// The todo of that row.
    pub(super) fn todo(&mut self, doc: &str) -> Result<Todo> {
        if let Some(todo) = self.known.get(doc) {
            return Ok(todo.clone());
        }
        let todo: Todo = parse(doc)?;
        if self.keeps {
            if self.known.len() >= Self::KEPT {
                self.known.clear();
            }
            self.known.insert(doc.to_owned(), todo.clone());
        }
        Ok(todo)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use crate::model::{Role, TaskClass, TodoId};

    fn doc(n: usize) -> String {
        let id = TodoId::trusted(format!("todo_{n}"));
        serde_json::to_string(&Todo::new(id, Role::Agent, TaskClass::Advancement, 1, "one"))
            .unwrap()
    }

    #[test]
    fn what_is_kept_is_bounded_and_is_what_parsing_finds() {
        let mut parsed = Parsed::default();
        parsed.begin();
        parsed.todo(&doc(0)).unwrap();
        assert!(parsed.known.is_empty(), "a first view keeps nothing");
        parsed.begin();
        for n in (0..3 * Parsed::KEPT).chain(0..3) {
            let todo: Todo = serde_json::from_str(&doc(n)).unwrap();
            assert_eq!(parsed.todo(&doc(n)).unwrap(), todo);
            assert_eq!(parsed.todo(&doc(n)).unwrap(), todo);
            assert!(parsed.known.len() <= Parsed::KEPT);
        }
        assert_eq!(parsed.todo("{").unwrap_err().code, ErrorCode::StoreUnreadable);
    }
}
