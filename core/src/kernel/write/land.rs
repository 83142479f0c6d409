//! The state file around a commit: hand edits are taken in before it, the projection is
//! written after it while it is still this writer's turn, and what a projection
//! displaced is taken in at once.

use std::borrow::Cow;

use serde_json::json;

use super::super::goal::Goal;
use super::super::surface::{self, Displacement, Projection, Surface};
use super::super::{Kernel, is_health, leftovers, receipt, snapshot};
use super::Open;
use crate::command::mint;
use crate::command::todo::follows;
use crate::error::{Error, ErrorCode, Result};
use crate::file::{read_bounded, sha256_hex};
use crate::model::{AgentId, CommitRecord, EffectId, Finding, GoalUid, Instant, Todo, TodoId};
use crate::state_file::Document;
use crate::store::{Change, Read, Store as _, Transaction, WritersTurn};

/// Times that edits made while a projection was being written are taken in before the
/// rest is left to the next write.
const MAX_ROUNDS: usize = 4;

/// The bytes of a projection, and what the state file is expected to hold until then.
type Projected = (Vec<u8>, Option<Vec<u8>>);

/// How the state file stood when the transaction began.
#[derive(Default)]
pub(super) struct SurfaceNow {
    /// It was the last projection.
    pub clean: bool,
    /// It is to be written whatever the command does.
    pub must_write: bool,
    /// Hand edits were taken in.
    pub adopted: bool,
    /// What was not taken in.
    pub findings: Vec<Finding>,
    /// What the projection is drawn onto, when that is a person's text.
    pub template: Option<Document>,
    /// What the file was seen to hold, when it is not the last projection.
    pub holds: Option<Vec<u8>>,
    /// The same text with the ids that its new lines were given: what a later edit of it
    /// is compared with.
    pub taken_in: Option<Vec<u8>>,
    /// Why it cannot be read.
    pub problem: Option<Error>,
}

/// A commit that was made, its turn still held, and what its projection displaced.
pub(super) struct Landed {
    turn: WritersTurn,
    displaced: Option<Displaced>,
}

/// Text that somebody saved between our reading and our writing of the state file.
struct Displaced {
    /// It.
    found: Displacement,
    /// What it was an edit of.
    base: Option<Vec<u8>>,
    /// What lies in its place now.
    ours: Vec<u8>,
}

impl Kernel {
    /// Takes hand edits into the transaction, as a commit of their own.
    pub(super) fn adopt(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        tx: &mut dyn Transaction,
        editor: Option<&AgentId>,
        left_over: bool,
        now: Instant,
    ) -> Result<SurfaceNow> {
        let looked = surface::look(goal, uid, tx, &self.equal);
        match looked {
            Ok(Surface::None) => Ok(SurfaceNow::default()),
            Ok(Surface::Clean) => Ok(SurfaceNow { clean: true, ..SurfaceNow::default() }),
            Ok(Surface::Missing) => Ok(SurfaceNow { must_write: true, ..SurfaceNow::default() }),
            Ok(Surface::Stale { bytes }) => {
                Ok(SurfaceNow { must_write: true, holds: Some(bytes), ..SurfaceNow::default() })
            }
            Ok(Surface::Edited { base, bytes }) => {
                // What was taken in beside the file may stand in it too, without an id yet.
                let base = match base {
                    Some(base) if left_over => {
                        Some(surface::project(tx, &Document::parse(&base)?, false, now)?)
                    }
                    base => base,
                };
                self.adopt_edit(goal, tx, base.as_deref(), bytes, editor, now)
            }
            // A file that cannot be read is left alone; the store goes on without it.
            Err(error) if is_health(&error) => {
                Ok(SurfaceNow { problem: Some(error), ..SurfaceNow::default() })
            }
            Err(error) => Err(error),
        }
    }

    fn adopt_edit(
        &self,
        goal: &Goal,
        tx: &mut dyn Transaction,
        base: Option<&[u8]>,
        bytes: Vec<u8>,
        editor: Option<&AgentId>,
        now: Instant,
    ) -> Result<SurfaceNow> {
        let commit = tx.last_commit()? + 1;
        let edits = {
            let read: &dyn Read = tx;
            let mut minted = 0;
            let mut taken: Vec<TodoId> = Vec::new();
            surface::compare(goal, read, base, &bytes, editor, now, &mut || {
                // An id that cannot be minted leaves a provisional one, which is refused below.
                let id = mint(read, commit, minted).ok().filter(|id| !taken.contains(id))?;
                minted += 1;
                taken.push(id.clone());
                Some(id)
            })
        };
        let edits = match edits {
            Ok(edits) => edits,
            Err(error) if is_health(&error) => {
                return Ok(SurfaceNow { problem: Some(error), ..SurfaceNow::default() });
            }
            Err(error) => return Err(error),
        };
        let mut state = SurfaceNow {
            must_write: true,
            findings: edits.adoption.findings,
            template: Some(edits.document),
            holds: Some(bytes.clone()),
            ..SurfaceNow::default()
        };
        if edits.adoption.put.is_empty() {
            state.taken_in = Some(bytes);
            return Ok(state);
        }
        let mut changes: Vec<Change> = Vec::new();
        for put in &edits.adoption.put {
            if crate::state_file::is_provisional(&put.todo_id) {
                return Err(
                    Error::new(ErrorCode::Internal, "todo id").message("no free todo id was found")
                );
            }
            let old = edits.current.iter().find(|t| t.todo_id == put.todo_id);
            if follows(put) && !old.is_some_and(follows) {
                changes.push(Change::FollowDangling);
            }
            changes.push(Change::ClearStalls(put.todo_id.clone()));
        }
        changes.extend(edits.adoption.put.iter().cloned().map(|t| Change::PutTodo(Box::new(t))));
        tx.apply(&changes)?;
        let digest = sha256_hex(&bytes);
        // It may still lie there after a crash: then it is behind, not edited once more.
        tx.note_projection(&digest)?;
        let ids: Vec<&TodoId> = edits.adoption.put.iter().map(|t| &t.todo_id).collect();
        let answer = json!({"adopted_todo_ids": ids, "findings": state.findings});
        tx.record(&CommitRecord {
            n: commit,
            effect_id: EffectId::derived("adopt", &[&commit.to_string(), &digest]),
            verb: "state_file.adopt".into(),
            agent: editor.cloned(),
            at: now,
            fixed_clock: self.fixed_clock(),
            body_digest: digest,
            receipt: receipt(
                goal.policy.goal_id.as_str(),
                commit,
                now,
                answer.as_object().cloned().unwrap_or_default(),
            ),
        })?;
        if let Some(document) = &state.template {
            state.taken_in = Some(surface::project(tx, document, false, now)?);
        }
        state.adopted = true;
        Ok(state)
    }

    /// A repeat finishes what a crash cut off after the commit: the end of a command on
    /// registry and store, and the projection.
    pub(super) fn catch_up(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        mut tx: Box<dyn Transaction + '_>,
        editor: Option<&AgentId>,
        recovered: bool,
        now: Instant,
    ) -> Result<Option<Landed>> {
        leftovers::rescue(goal, uid, tx.as_ref(), now)?;
        let left_over = self.adopt_left_over(goal, uid, tx.as_mut(), now)?;
        let mut surface = self.adopt(goal, uid, tx.as_mut(), editor, left_over, now)?;
        surface.adopted |= left_over;
        if surface.clean {
            let base =
                read_bounded(&goal.base_path(uid), snapshot::MAX_STATE_FILE, "projection.base")?;
            surface.must_write |= base.map(|b| sha256_hex(&b)) != tx.last_projection()?;
        }
        // A person's text of which nothing was taken in is left to the next command.
        let behind = surface.must_write && surface.template.is_none();
        if !recovered && !surface.adopted && !behind {
            return Ok(None);
        }
        let landed = self.land(goal, uid, tx, surface, &[], now)?;
        if left_over {
            forget_displaced(goal, uid)?;
        }
        Ok(Some(landed))
    }

    /// Commits, and writes the projection while it is still this writer's turn.
    pub(super) fn land(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        mut tx: Box<dyn Transaction + '_>,
        surface: SurfaceNow,
        puts: &[Todo],
        now: Instant,
    ) -> Result<Landed> {
        let touched = surface.adopted || surface.must_write || !puts.is_empty();
        let projection = if touched && surface.problem.is_none() && goal.state_path().is_some() {
            self.project(goal, uid, tx.as_ref(), &surface, puts, now)?
        } else {
            None
        };
        match &projection {
            Some((bytes, _)) => tx.note_drawn(Some(&sha256_hex(bytes)))?,
            // The next projection shows it, also when the file comes back as it was.
            None if touched && surface.problem.is_some() => tx.note_drawn(None)?,
            None => {}
        }
        let turn = tx.commit()?;
        let mut displaced = None;
        if let Some((ours, base)) = projection {
            // The commit stands whatever happens to its surface: a projection that could
            // not be written is made up by the next write.
            let before = surface.taken_in.as_deref().or(base.as_deref());
            let projection = Projection {
                bytes: &ours,
                expected: base.as_deref(),
                before,
                clean: surface.clean && surface.taken_in.is_none(),
            };
            if let Ok(Some(found)) = surface::write(goal, uid, &projection) {
                displaced = Some(Displaced { found, base: surface.taken_in.or(base), ours });
            }
        }
        Ok(Landed { turn, displaced })
    }

    /// Takes in what a projection displaced, in the same turn, until nothing more comes.
    pub(super) fn land_displaced(
        &self,
        open: &mut Open<'_>,
        first: Landed,
        now: Instant,
    ) -> Result<()> {
        let Open { goal, uid, store } = open;
        let Landed { mut turn, mut displaced } = first;
        for _ in 0..MAX_ROUNDS {
            let Some(Displaced { found, base, ours }) = displaced.take() else { return Ok(()) };
            let text = keep(goal, uid, found, base.as_deref())?;
            let mut tx = store.store()?.begin_again(turn)?;
            let mut surface =
                self.adopt_displaced(goal, tx.as_mut(), base.as_deref(), text, now)?;
            // Drawn onto the person's own text; in the file lies our projection.
            surface.holds = Some(ours);
            let landed = self.land(goal, uid, tx, surface, &[], now)?;
            forget_displaced(goal, uid)?;
            (turn, displaced) = (landed.turn, landed.displaced);
        }
        match displaced {
            Some(Displaced { found, base, .. }) => {
                keep(goal, uid, found, base.as_deref()).map(drop)
            }
            None => Ok(()),
        }
    }

    /// Takes a displaced text in. One that cannot be is laid beside the state file, where a
    /// person finds it; in its place lies our projection.
    fn adopt_displaced(
        &self,
        goal: &Goal,
        tx: &mut dyn Transaction,
        base: Option<&[u8]>,
        text: Vec<u8>,
        now: Instant,
    ) -> Result<SurfaceNow> {
        let surface = self.adopt_edit(goal, tx, base, text.clone(), None, now)?;
        if surface.problem.is_none() {
            return Ok(surface);
        }
        leftovers::lay_beside(goal, &text)?;
        Ok(SurfaceNow { must_write: true, ..SurfaceNow::default() })
    }

    /// Takes in a displaced text that a crash left beside the store.
    pub(super) fn adopt_left_over(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        tx: &mut dyn Transaction,
        now: Instant,
    ) -> Result<bool> {
        let read = |name: &str| {
            read_bounded(
                &goal.folder(uid).join(name),
                snapshot::MAX_STATE_FILE,
                "displaced state file",
            )
        };
        let Some(text) = read("displaced.md")? else { return Ok(false) };
        let base = read("displaced.base")?;
        self.adopt_displaced(goal, tx, base.as_deref(), text, now)?;
        Ok(true)
    }

    fn project(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        read: &dyn Read,
        surface: &SurfaceNow,
        puts: &[Todo],
        now: Instant,
    ) -> Result<Option<Projected>> {
        // What was last written is the template, unless a person has saved another text.
        // The file itself is not read again: what somebody saved since it was looked at
        // must show up as displaced.
        let base = read_bounded(&goal.base_path(uid), snapshot::MAX_STATE_FILE, "projection.base")?
            .filter(|b| !b.is_empty());
        // Only what this transaction changed is drawn anew, if the file shows everything
        // that was stored before it; a writer that was killed may have left it behind.
        let shows_all = |base: &[u8]| -> Result<bool> {
            if !surface.clean || surface.adopted {
                return Ok(false);
            }
            let digest = Some(sha256_hex(base));
            Ok(digest == read.last_projection()? && digest == read.last_drawn()?)
        };
        let drawn = match &base {
            Some(base) if shows_all(base)? => {
                surface::project_changes(read, base, &puts.iter().collect::<Vec<_>>(), now)?
            }
            _ => None,
        };
        let expected = if surface.clean { base.clone() } else { surface.holds.clone() };
        let whole = || {
            let last = base.as_ref().or(expected.as_ref()).filter(|b| !b.is_empty());
            let template = match (&surface.template, last) {
                (Some(document), _) => Cow::Borrowed(document),
                (None, Some(bytes)) => Cow::Owned(Document::parse(bytes)?),
                (None, None) => Cow::Owned(surface::fresh_template(goal, now)?),
            };
            surface::project(read, &template, !puts.is_empty(), now)
        };
        let bytes = match drawn {
            Some(bytes) => {
                debug_assert_eq!(
                    String::from_utf8_lossy(&bytes),
                    String::from_utf8_lossy(&whole()?),
                    "a projection of the changes equals a whole one"
                );
                bytes
            }
            None => whole()?,
        };
        if Some(&bytes) == expected.as_ref() && surface.clean {
            return Ok(None);
        }
        Ok(Some((bytes, expected)))
    }
}

/// Keeps a displaced text beside the store: a crash from here on finds it there.
fn keep(goal: &Goal, uid: &GoalUid, found: Displacement, base: Option<&[u8]>) -> Result<Vec<u8>> {
    let Displacement { text, file } = found;
    leftovers::keep_displaced(goal, uid, &text, base)?;
    file.discard();
    leftovers::unmark(goal, uid);
    Ok(text)
}

/// Forgets a displaced text that has been taken in.
pub(super) fn forget_displaced(goal: &Goal, uid: &GoalUid) -> Result<()> {
    // The text first: a base alone is nothing.
    for name in ["displaced.md", "displaced.base"] {
        let path = goal.folder(uid).join(name);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::from_io(&e, "displaced state file", &path));
            }
            _ => {}
        }
    }
    Ok(())
}
