//! Todos that a connection has read before, for a long-lived host that reads the same few todos
//! at every commit: those of the last view for as long as no todo was written, and each by the
//! text of its row, as of one text there is one todo.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::read::parse;
use crate::admission::view::Target;
use crate::error::Result;
use crate::model::{Todo, TodoId};

/// The todos of a view that is not complete.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// The plain ones that a record names, and so are shown by themselves.
    pub named: BTreeSet<TodoId>,
    /// Special ones, those, and of each shape the first, in (position, id) order.
    pub todos: Arc<Vec<Todo>>,
    /// Where the todos stand that their conditions name.
    pub targets: BTreeMap<TodoId, Target>,
}

/// What the database says of how often it was written: the first number moves with a commit of
/// another connection, the second with every row that this one writes.
pub(super) type Written = (i64, u64);

/// Todos that were read before.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    shown: Option<(Written, Shown)>,
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

    /// The last view's, when nothing has been written since but what has passed.
    pub(super) fn shown(&self, written: Written) -> Option<&Shown> {
        self.shown.as_ref().filter(|(at, _)| *at == written).map(|(_, shown)| shown)
    }

    /// A view was read.
    pub(super) fn show(&mut self, written: Written, shown: &Shown) {
        self.shown = self.keeps.then(|| (written, shown.clone()));
    }

    /// The rows that this connection has written between two counts are no todos.
    pub(super) fn pass(&mut self, before: u64, after: u64) {
        if let Some(((_, rows), _)) = &mut self.shown
            && *rows == before
        {
            *rows = after;
        }
    }

    /// What was read inside a transaction may never have been.
    pub(super) fn forget(&mut self) {
        self.shown = None;
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
