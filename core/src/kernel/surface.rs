//! The state file on disk: is it what was last written, an earlier projection, or
//! edited; and writing the next projection (contract.md 4).

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::goal::Goal;
use super::leftovers;
use super::snapshot::MAX_STATE_FILE;
use crate::error::{Error, Result};
use crate::file::{Durability, Exchanged, Stamp, exchange, read_bounded, replace, sha256_hex};
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
    Stale {
        /// As it is.
        bytes: Vec<u8>,
    },
    /// Edited since it was last written.
    Edited {
        /// As last written; `None` when that is lost.
        base: Option<Vec<u8>>,
        /// As it is.
        bytes: Vec<u8>,
    },
}

/// Pairs of files that a long-lived kernel has found to be equal, with their stamps: as long
/// as both have theirs, they are equal still.
#[derive(Debug, Default)]
pub(super) struct Equal(Mutex<Vec<(PathBuf, Stamp, Stamp)>>);

impl Equal {
    /// Most pairs that are kept.
    const KEPT: usize = 8;

    fn are(&self, a: &Path, b: &Path) -> bool {
        // Taken before the bytes are read, so that what is written meanwhile changes them.
        let (Some(of_a), Some(of_b)) = (Stamp::of(a), Stamp::of(b)) else { return false };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|(path, _, _)| path == a);
        if at.and_then(|at| known.get(at)).is_some_and(|k| k.1 == of_a && k.2 == of_b) {
            return true;
        }
        if let Some(at) = at {
            known.swap_remove(at);
        }
        // Asked before the bytes are read: afterwards the tick of a write may be over.
        let settled = of_a.is_settled(a) && of_b.is_settled(b);
        if !same_content(a, b) {
            return false;
        }
        if known.len() < Self::KEPT && settled {
            known.push((a.to_path_buf(), of_a, of_b));
        }
        true
    }
}

/// Looks at the state file.
///
/// Errors: not readable, not a file, too large.
pub(super) fn look(goal: &Goal, uid: &GoalUid, store: &dyn Read, equal: &Equal) -> Result<Surface> {
    let Some(path) = goal.require_state_path()? else { return Ok(Surface::None) };
    let base = goal.base_path(uid);
    if equal.are(&path, &base) {
        return Ok(Surface::Clean);
    }
    let Some(bytes) = read_bounded(&path, MAX_STATE_FILE, "state file")? else {
        return Ok(Surface::Missing);
    };
    if bytes.is_empty() || store.was_projected(&sha256_hex(&bytes))? {
        return Ok(Surface::Stale { bytes });
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

/// The projection after `puts`, when `last` is the last projection, byte for byte: what
/// did not change is taken from there instead of being read again. `None` when a todo
/// comes back whose place only the store knows.
pub(super) fn project_changes(
    store: &dyn Read,
    last: &[u8],
    puts: &[&Todo],
    now: Instant,
) -> Result<Option<Vec<u8>>> {
    /// After every place in a file.
    const END: i64 = i64::MAX / 4;
    let template =
        Document::parse_around(last, &puts.iter().map(|put| put.todo_id.as_str()).collect())?;
    let closed = store.shown_closed(DONE_SHOWN)?;
    let standing: HashMap<&TodoId, &Todo> =
        template.todos().iter().map(|p| (&p.todo.todo_id, &p.todo)).collect();
    let mut changed: HashMap<&TodoId, Todo> = HashMap::with_capacity(puts.len());
    for put in puts {
        let mut put = (*put).clone();
        match standing.get(&put.todo_id) {
            // A todo that stands in the file keeps its place there.
            Some(there) if there.role == put.role => put.order = there.order,
            // A new one goes to the end.
            None if put.created_at == Some(now) => put.order = put.order.saturating_add(END),
            _ if put.is_open() || closed.contains(&put.todo_id) => return Ok(None),
            _ => {}
        }
        let id = puts.iter().find(|p| p.todo_id == put.todo_id).map(|p| &p.todo_id);
        changed.extend(id.map(|id| (id, put)));
    }
    if closed.iter().any(|id| !standing.contains_key(id) && !changed.contains_key(id)) {
        return Ok(None);
    }
    let is_shown = |t: &&Todo| t.is_open() || closed.contains(&t.todo_id);
    let unchanged = standing.iter().filter(|(id, _)| !changed.contains_key(*id)).map(|(_, t)| *t);
    let shown: Vec<&Todo> = unchanged.chain(changed.values()).filter(is_shown).collect();
    Ok(Some(draw(&template, &shown, !puts.is_empty(), now)))
}

/// A projection that is to be written.
pub(super) struct Projection<'p> {
    /// It.
    pub bytes: &'p [u8],
    /// What the state file was seen to hold.
    pub expected: Option<&'p [u8]>,
    /// What a text that is displaced was an edit of.
    pub before: Option<&'p [u8]>,
    /// The state file was the last projection, and so is `before`.
    pub clean: bool,
}

/// Somebody's text that a projection took out of the state file's place.
pub(super) struct Displacement {
    /// It.
    pub text: Vec<u8>,
    /// Its only copy, until it is kept.
    pub file: Exchanged,
}

/// Writes a projection: first what will have been written, then the state file. The
/// answer is what the state file held when it was displaced, if it was not what was expected.
pub(super) fn write(
    goal: &Goal,
    uid: &GoalUid,
    projection: &Projection<'_>,
) -> Result<Option<Displacement>> {
    let Projection { bytes, expected, before, clean } = *projection;
    let Some(path) = goal.state_path() else { return Ok(None) };
    leftovers::mark(goal, uid, before, clean)?;
    replace(&goal.base_path(uid), bytes, Durability::Unsynced)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::from_io(&e, "folder of the state file", folder))?;
    }
    let exchanged = exchange(&path, bytes)?;
    let foreign = |d: &&Vec<u8>| Some(d.as_slice()) != expected && d.as_slice() != bytes;
    match exchanged.displaced.as_ref().filter(foreign).cloned() {
        Some(text) => Ok(Some(Displacement { text, file: exchanged })),
        None => {
            exchanged.discard();
            leftovers::unmark(goal, uid);
            Ok(None)
        }
    }
}

/// The template for a state file that is missing.
pub(super) fn fresh_template(goal: &Goal, now: Instant) -> Result<Document> {
    let objective = goal.policy.objective.as_deref().unwrap_or_default();
    Document::parse(&crate::state_file::new_document(&goal.policy.goal_id, objective, now))
}
