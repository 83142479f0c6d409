//! One consistent look at a goal: its store, or the earlier tool's files read in place,
//! with hand edits of the state file on top. Nothing is written.

use super::goal::Goal;
use super::surface::{self, Surface};
use super::{Kernel, import, is_health};
use crate::admission::view::{View, ViewQuery};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, Finding, GoalUid, Todo};
use crate::state_file::Adoption;
use crate::store::{MemoryStore, Read, TodoFilter};

/// Largest state file that is read.
pub(super) const MAX_STATE_FILE: u64 = 256 * 1024 * 1024;

/// A goal as it is now.
pub(super) struct Snapshot<'k> {
    store: Box<dyn Read + 'k>,
    adoption: Adoption,
    old: Vec<Todo>,
    health: Vec<Finding>,
}

/// The health finding that an error is.
pub(super) fn health_of(error: &Error) -> Finding {
    Finding::new(error.row().text, error.about.as_str(), error.text()).next(error.next_command())
}

/// A view of a goal whose records cannot be read: it decides by rule 6, unless an
/// earlier rule needs no records.
pub(super) fn unhealthy(error: &Error) -> View {
    View { unreadable: true, health: vec![health_of(error)], ..View::default() }
}

impl<'k> Snapshot<'k> {
    /// Looks at `goal`; hand edits count as made by `editor`.
    pub fn take(kernel: &'k Kernel, goal: &Goal, editor: Option<&AgentId>) -> Result<Self> {
        match (&goal.policy.goal_uid, goal.has_store) {
            (Some(uid), true) => Self::of_store(kernel, goal, uid, editor),
            _ => Self::in_place(goal),
        }
    }

    fn of_store(
        kernel: &'k Kernel,
        goal: &Goal,
        uid: &GoalUid,
        editor: Option<&AgentId>,
    ) -> Result<Self> {
        let store = kernel.stores.reader(&goal.store_path(uid), uid, || kernel.sqlite())?;
        let mut snapshot = Self {
            store: Box::new(store),
            adoption: Adoption::default(),
            old: Vec::new(),
            health: Vec::new(),
        };
        match snapshot.edits(kernel, goal, uid, editor) {
            Ok(()) => {}
            Err(error) if is_health(&error) => snapshot.health.push(health_of(&error)),
            Err(error) => return Err(error),
        }
        if import::grew(goal, snapshot.store.legacy()?.as_ref())? {
            snapshot.health.push(health_of(&import::still_written(goal)));
        }
        Ok(snapshot)
    }

    fn edits(
        &mut self,
        kernel: &'k Kernel,
        goal: &Goal,
        uid: &GoalUid,
        editor: Option<&AgentId>,
    ) -> Result<()> {
        if let Surface::Edited { base, bytes } =
            surface::look(goal, uid, self.store.as_ref(), &kernel.equal)?
        {
            let edits = surface::compare(
                goal,
                self.store.as_ref(),
                base.as_deref(),
                &bytes,
                editor,
                kernel.now(),
                &mut || None,
            )?;
            self.adoption = edits.adoption;
            self.old = edits.current;
        }
        Ok(())
    }

    fn in_place(goal: &Goal) -> Result<Self> {
        let project = import::read(goal)?;
        let health = project.health.clone();
        let store = MemoryStore::of(GoalUid::trusted("unimported"), project.into_records());
        Ok(Self { store: Box::new(store), adoption: Adoption::default(), old: Vec::new(), health })
    }

    /// The records, without hand edits.
    pub fn read(&self) -> &dyn Read {
        self.store.as_ref()
    }

    /// Refuses a goal whose state file cannot be read, or is gone before it was ever imported:
    /// a listing would leave out what somebody has written there.
    pub fn require_readable(&self) -> Result<()> {
        for code in [ErrorCode::StateFileUnreadable, ErrorCode::StateFileMissing] {
            if let Some(finding) = self.health.iter().find(|f| f.code == code.row().text) {
                return Err(
                    Error::new(code, finding.about.as_str()).message(finding.message.as_str())
                );
            }
        }
        Ok(())
    }

    /// What a decision looks at.
    pub fn view(&self, query: &ViewQuery) -> Result<View> {
        let edited = !self.adoption.put.is_empty();
        let query = ViewQuery { complete: query.complete || edited, ..query.clone() };
        let mut view = self.store.view(&query)?;
        if edited {
            view.overlay(&self.adoption.put, &self.old, |id| {
                Ok(match self.store.todo(id)? {
                    None => crate::admission::Target::Missing,
                    Some(t) if t.is_open() => crate::admission::Target::Open,
                    Some(t) if t.superseded_by.is_some() => crate::admission::Target::Superseded,
                    Some(_) => crate::admission::Target::Done,
                })
            })?;
        }
        view.bury(crate::file::process::is_dead, &query.quota);
        view.lapse(query.now);
        view.findings.extend(self.adoption.findings.iter().cloned());
        view.health.extend(self.health.iter().cloned());
        Ok(view)
    }

    /// All todos with hand edits on top, or `None` when there are none.
    pub fn overlaid_todos(&self) -> Result<Option<Vec<Todo>>> {
        if self.adoption.put.is_empty() {
            return Ok(None);
        }
        let filter = TodoFilter { archived: true, ..TodoFilter::default() };
        let mut todos = self.store.todos(&filter)?;
        todos.retain(|t| !self.adoption.put.iter().any(|p| p.todo_id == t.todo_id));
        todos.extend(self.adoption.put.iter().cloned());
        todos.sort_by(|a, b| (a.order, &a.todo_id).cmp(&(b.order, &b.todo_id)));
        Ok(Some(todos))
    }
}
