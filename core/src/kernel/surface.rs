//! The state file on disk: is it what was last written, an earlier projection, or
//! edited; and writing the next projection (contract.md 4).

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::goal::Goal;
use super::snapshot::MAX_STATE_FILE;
use crate::error::{Error, Result};
use crate::file::{Durability, exchange, read_bounded, replace, sha256_hex};
use crate::model::{AgentId, GoalUid, Instant, Todo, TodoId};
use crate::state_file::{Adoption, Document, Edit, adopt, render};
use crate::store::Read;

/// How the state file stands to the store.
#[derive(Debug)]
pub(super) enum Surface {
    /// None is declared.
    None,
    /// Declared and not there; the next write makes it.
    Missing,
    /// The last projection.
    Clean,
    /// An earlier projection, or empty: to be overwritten, nothing to adopt.
    Stale,
    /// Edited since it was last written.
    Edited {
        /// As last written; `None` when that is lost.
        base: Option<Vec<u8>>,
        /// As it is.
        bytes: Vec<u8>,
    },
}

/// Looks at the state file.
///
/// Errors: not readable, not a file, too large.
pub(super) fn look(goal: &Goal, uid: &GoalUid, store: &dyn Read) -> Result<Surface> {
    let Some(path) = goal.state_path() else { return Ok(Surface::None) };
    let base = goal.base_path(uid);
    if same_content(&path, &base) {
        return Ok(Surface::Clean);
    }
    let Some(bytes) = read_bounded(&path, MAX_STATE_FILE, "state file")? else {
        return Ok(Surface::Missing);
    };
    if bytes.is_empty() || store.was_projected(&sha256_hex(&bytes))? {
        return Ok(Surface::Stale);
    }
    let base = read_bounded(&base, MAX_STATE_FILE, "projection.base")?;
    Ok(Surface::Edited { base, bytes })
}

/// Whether two files have the same bytes, read side by side in small pieces.
fn same_content(a: &Path, b: &Path) -> bool {
    let (Ok(meta_a), Ok(meta_b)) = (std::fs::metadata(a), std::fs::metadata(b)) else {
        return false;
    };
    if !meta_a.is_file() || !meta_b.is_file() || meta_a.len() != meta_b.len() {
        return false;
    }
    let (Ok(mut a), Ok(mut b)) = (File::open(a), File::open(b)) else { return false };
    let (mut left, mut right) = (vec![0_u8; 64 * 1024], vec![0_u8; 64 * 1024]);
    loop {
        let (Ok(n), Ok(m)) = (fill(&mut a, &mut left), fill(&mut b, &mut right)) else {
            return false;
        };
        if n != m || left.get(..n) != right.get(..m) {
            return false;
        }
        if n == 0 {
            return true;
        }
    }
}

fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut have = 0;
    while let Some(rest) = buffer.get_mut(have..).filter(|r| !r.is_empty()) {
        match file.read(rest)? {
            0 => break,
            n => have += n,
        }
    }
    Ok(have)
}

/// What hand edits amount to.
pub(super) struct Edits {
    /// New and changed todos, and what was not taken over.
    pub adoption: Adoption,
    /// The stored todos that the documents name.
    pub current: Vec<Todo>,
    /// The edited file, parsed.
    pub document: Document,
}

/// Compares base, edited file and store.
pub(super) fn compare(
    goal: &Goal,
    store: &dyn Read,
    base: Option<&[u8]>,
    bytes: &[u8],
    editor: Option<&AgentId>,
    now: Instant,
    mint: &mut dyn FnMut() -> Option<TodoId>,
) -> Result<Edits> {
    let document = Document::parse(bytes)?;
    let mut ids = document.todo_ids();
    let base = match base {
        Some(bytes) => Document::parse(bytes)?,
        // What was last written is lost: compare with what the store would write now.
        None => {
            let shown = store.shown_todos(DONE_SHOWN)?;
            let refs: Vec<&Todo> = shown.iter().collect();
            Document::parse(&render(&document, &refs, None))?
        }
    };
    ids.extend(base.todo_ids());
    let mut current = Vec::with_capacity(ids.len());
    for id in ids {
        current.extend(store.todo(&id)?);
    }
    let adoption = adopt(
        &Edit {
            goal_id: &goal.policy.goal_id,
            base: &base,
            edited: &document,
            current: &current,
            editor,
            roster: &goal.policy.roster,
            now,
        },
        mint,
    );
    Ok(Edits { adoption, current, document })
}

/// Done todos that the state file shows.
pub(super) const DONE_SHOWN: usize = 20;

/// The projection of the store onto `template`.
pub(super) fn project(
    store: &dyn Read,
    template: &Document,
    changed: bool,
    now: Instant,
) -> Result<Vec<u8>> {
    let shown = store.shown_todos(DONE_SHOWN)?;
    Ok(draw(template, &shown.iter().collect::<Vec<_>>(), changed, now))
}

/// Renders. Unless a command changed a todo, the front matter's instant moves only when
/// something else does.
fn draw(template: &Document, shown: &[&Todo], changed: bool, now: Instant) -> Vec<u8> {
    if !changed {
        let same = render(template, shown, None);
        if same == template.to_bytes() {
            return same;
        }
    }
    render(template, shown, Some(now))
}

/// The projection after `puts`, when `template` is the last projection, byte for byte:
/// what did not change is taken from the template instead of being read again.
pub(super) fn project_changes(
    store: &dyn Read,
    template: &Document,
    puts: &[&Todo],
    now: Instant,
) -> Result<Vec<u8>> {
    let closed = store.shown_closed(DONE_SHOWN)?;
    let mut known: HashMap<&TodoId, (i64, &Todo)> =
        template.todos().iter().map(|p| (&p.todo.todo_id, (p.todo.order, &p.todo))).collect();
    let last = known.values().map(|(order, _)| *order).max().unwrap_or(0);
    let mut changed: Vec<Todo> = Vec::with_capacity(puts.len());
    let mut new = 0_usize;
    for put in puts {
        let mut put = (*put).clone();
        // A todo that stands in the file keeps its place there.
        if let Some((order, _)) = known.remove(&put.todo_id) {
            put.order = order;
        } else if let Some(earlier) = changed.iter().find(|c| c.todo_id == put.todo_id) {
            put.order = earlier.order;
        } else {
            new += 1;
            // Positions in the file and in the store are on scales of their own; only
            // the end is the end on both.
            if new > 1 || put.order != store.max_order()? {
                return project(store, template, true, now);
            }
            put.order = last.saturating_add(crate::state_file::ORDER_STEP);
        }
        changed.retain(|c| c.todo_id != put.todo_id);
        changed.push(put);
    }
    if closed.iter().any(|id| !known.contains_key(id) && !changed.iter().any(|c| c.todo_id == *id))
    {
        return project(store, template, !puts.is_empty(), now);
    }
    let is_shown = |t: &&Todo| t.is_open() || closed.contains(&t.todo_id);
    let shown: Vec<&Todo> =
        known.into_values().map(|(_, t)| t).chain(&changed).filter(is_shown).collect();
    Ok(draw(template, &shown, !puts.is_empty(), now))
}

/// Writes a projection: first what will have been written, then the state file. The
/// answer is what the state file held when it was displaced, if it was not `expected`.
pub(super) fn write(
    goal: &Goal,
    uid: &GoalUid,
    bytes: &[u8],
    expected: Option<&[u8]>,
) -> Result<Option<Vec<u8>>> {
    let Some(path) = goal.state_path() else { return Ok(None) };
    replace(&goal.base_path(uid), bytes, Durability::Unsynced)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::from_io(&e, "folder of the state file", folder))?;
    }
    let displaced = exchange(&path, bytes)?.displaced;
    Ok(displaced.filter(|d| Some(d.as_slice()) != expected && d.as_slice() != bytes))
}

/// The template for a state file that is missing.
pub(super) fn fresh_template(goal: &Goal, now: Instant) -> Result<Document> {
    let objective = goal.policy.objective.as_deref().unwrap_or_default();
    Document::parse(&crate::state_file::new_document(&goal.policy.goal_id, objective, now))
}
