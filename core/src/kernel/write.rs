//! One write: queue, recover, replay or adopt and run, one commit, project.

use serde::Serialize;
use serde_json::{Value, json};

use super::goal::Goal;
use super::import::{self, random_hex};
use super::snapshot::Snapshot;
use super::stores::Lent;
use super::surface::{self, Surface};
use super::{Kernel, admission_request, receipt, snapshot, to_json};
use crate::admission::packet::answer;
use crate::admission::{AdmissionRequest, Situation, Subject, View, ViewQuery};
use crate::command::turn::{self, ShouldRunRequest};
use crate::command::{Effect, Scene, mint};
use crate::error::{Error, ErrorCode, Result};
use crate::file::{FileLock, sha256_hex};
use crate::model::{
    AgentId, AttemptState, CommitRecord, EffectId, GoalUid, Instant, JournalRow, Todo, TodoId,
    TurnId,
};
use crate::operation::Addressed;
use crate::registry::{Registry, entry_digest};
use crate::state_file::Document;
use crate::store::{Change, Read, Store, Transaction, WritersTurn};

/// Times that edits made while a projection was being written are taken in before the
/// rest is left to the next write.
const MAX_ROUNDS: usize = 3;

/// A write that was asked for.
pub(super) struct Call<'a> {
    verb: &'static str,
    goal: Option<&'a str>,
    given_effect: Option<EffectId>,
    agent: Option<&'a str>,
    turn: Option<TurnId>,
    pub digest: String,
    spends: bool,
}

impl<'a> Call<'a> {
    /// A call of `verb` with that body.
    pub fn new<T: Serialize>(verb: &'static str, at: &'a Addressed, request: &T) -> Result<Self> {
        let body = json!([verb, to_json(request)?]);
        Ok(Self {
            verb,
            goal: at.goal_id.as_deref(),
            given_effect: at.effect_id.as_deref().map(EffectId::parse).transpose()?,
            agent: None,
            turn: None,
            digest: sha256_hex(body.to_string().as_bytes()),
            spends: false,
        })
    }

    /// The agent that acts.
    pub fn by(mut self, agent: Option<&'a str>) -> Self {
        self.agent = agent;
        self
    }

    /// Inside a turn.
    pub fn in_turn(mut self, turn: Option<&str>) -> Result<Self> {
        self.turn = turn.map(TurnId::parse).transpose()?;
        Ok(self)
    }

    /// It spends: refused while another writer of the ledger is active, and once a turn.
    pub fn spending(mut self) -> Self {
        self.spends = true;
        self
    }

    /// The identity of the write: the caller's, the turn's, or one that nothing else has.
    pub fn effect(&self) -> Result<EffectId> {
        Ok(match (&self.given_effect, &self.turn) {
            (Some(given), _) => given.clone(),
            // A turn spends once, whatever the body: another body is a conflict.
            (None, Some(turn)) if self.spends => EffectId::of_turn(turn, self.verb, ""),
            (None, Some(turn)) => EffectId::of_turn(turn, self.verb, &self.digest),
            (None, None) => EffectId::unique(&random_hex()?),
        })
    }
}

/// A goal whose store is open to write.
pub(super) struct Open<'k> {
    pub goal: Goal,
    pub uid: GoalUid,
    pub store: Lent<'k>,
}

impl Kernel {
    pub(super) fn open_to_write(&self, found: Goal) -> Result<Open<'_>> {
        let (goal, uid) = self.with_store(found)?;
        let store = self.stores.writer(&goal.store_path(&uid), &uid, self.sqlite())?;
        Ok(Open { goal, uid, store })
    }

    /// Runs a command as one commit and answers its receipt.
    pub(super) fn write(
        &self,
        call: &Call<'_>,
        run: impl Fn(&Scene<'_>) -> Result<Effect>,
    ) -> Result<Value> {
        let found = self.goal(call.goal)?;
        if !found.has_store {
            // What refuses the command refuses it before the project is imported for it.
            let snapshot = Snapshot::take(self, &found, None)?;
            run(&scene(snapshot.read(), &found, self.now())?)?;
        }
        let mut open = self.open_to_write(found)?;
        let effect_id = call.effect()?;
        let Open { goal, uid, store } = &mut open;
        let mut tx = store.store()?.begin(call.verb)?;
        recover(goal, tx.as_mut())?;
        if let Some(done) = tx.commit_of(&effect_id)? {
            return replay(&done, &call.digest, &effect_id);
        }
        let now = self.now();
        let actor = call.agent.and_then(|a| AgentId::parse(a).ok());
        let surface = self.adopt(goal, uid, tx.as_mut(), actor.as_ref(), now)?;
        if call.spends && import::grew(goal, tx.legacy()?.as_ref())? {
            return Err(import::still_written(goal));
        }
        let scene = scene(tx.as_ref(), goal, now)?;
        let commit = scene.commit;
        let mut effect = run(&scene)?;
        let noted = match (&actor, &call.turn) {
            // Nothing was asked for, so nothing counts as an attempt.
            _ if effect.changes.is_empty() => Vec::new(),
            (Some(agent), None) if goal.policy.roster.contains(agent) => {
                note_offer(&scene, agent, call.spends)?
            }
            _ => Vec::new(),
        };
        // First, so that what the command settles takes its attempt with it.
        effect.changes.splice(0..0, noted);
        if effect.changes.is_empty() && call.given_effect.is_none() && !surface.adopted {
            // Nothing to do, nothing to commit.
            return Ok(receipt(
                goal.policy.goal_id.as_str(),
                tx.last_commit()?,
                now,
                effect.answer,
            ));
        }
        let answer = receipt(goal.policy.goal_id.as_str(), commit, now, effect.answer);
        tx.apply(&effect.changes)?;
        if call.spends
            && let Some(agent) = &actor
        {
            note_standing_offer(goal, tx.as_mut(), agent, now)?;
        }
        tx.record(&self.record(call, &effect_id, commit, actor, now, &answer))?;
        let puts: Vec<&Todo> = effect.changes.iter().filter_map(Change::put).collect();
        self.land(goal, uid, tx, surface, &puts, now)?;
        self.take_in_displaced(&mut open)?;
        Ok(answer)
    }

    pub(super) fn record(
        &self,
        call: &Call<'_>,
        effect_id: &EffectId,
        n: u64,
        agent: Option<AgentId>,
        at: Instant,
        answer: &Value,
    ) -> CommitRecord {
        CommitRecord {
            n,
            effect_id: effect_id.clone(),
            verb: call.verb.to_owned(),
            agent,
            at,
            fixed_clock: self.fixed_clock(),
            body_digest: call.digest.clone(),
            receipt: answer.clone(),
        }
    }

    /// What a command would do, without doing it.
    pub(super) fn preview(
        &self,
        at: &Addressed,
        run: impl FnOnce(&Scene<'_>) -> Result<Effect>,
    ) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let snapshot = Snapshot::take(self, &goal, None)?;
        let now = self.now();
        let scene = scene(snapshot.read(), &goal, now)?;
        let effect = run(&scene)?;
        let mut value = receipt(goal.policy.goal_id.as_str(), scene.commit, now, effect.answer);
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("commit");
            map.insert("dry_run".into(), json!(true));
        }
        Ok(value)
    }

    /// Decides and binds, in one commit.
    pub(super) fn admit(&self, at: &Addressed, request: &ShouldRunRequest) -> Result<Value> {
        let turn_id = TurnId::parse(request.turn_instance_id.as_deref().unwrap_or_default())?;
        let asked_goal = self.goal(at.goal_id.as_deref())?;
        // Rules 1 to 3 refuse before anything is imported or written.
        let agent = admission_request(&asked_goal.policy, request)?.agent;
        if agent.is_none() && !asked_goal.policy.roster.is_empty() {
            return Ok(self
                .decide_now(at, &ShouldRunRequest { turn_instance_id: None, ..request.clone() })
                .1);
        }
        let (goal, uid) = match self.with_store(asked_goal) {
            Ok(found) => found,
            // A project that cannot be imported is unhealthy: say so, bind nothing.
            Err(error) if super::is_health(&error) => {
                return Ok(self
                    .decide_now(at, &ShouldRunRequest { turn_instance_id: None, ..request.clone() })
                    .1);
            }
            Err(error) => return Err(error),
        };
        // Stop holds the registry lock alone; behind the shared lock the policy that is
        // decided on is the one that is in force (contract X8).
        let _registry = FileLock::shared_if_possible(
            goal.registry.path(),
            &self.holder("turn.admit"),
            self.options.deadline,
        )?;
        let current = Registry::read(goal.registry.path())?;
        let goal = if current.witness() == goal.registry.witness() {
            goal
        } else {
            self.goal_in(current, &goal.policy.goal_id)?
        };
        let asked = admission_request(&goal.policy, request)?;
        let store = self.stores.writer(&goal.store_path(&uid), &uid, self.sqlite())?;
        let mut open = Open { goal, uid, store };
        let Open { goal, uid, store } = &mut open;
        let mut tx = store.store()?.begin("turn.admit")?;
        recover(goal, tx.as_mut())?;
        let effect_id = EffectId::of_turn(&turn_id, "turn.admit", "");
        let digest = turn::body_digest(agent.as_ref());
        if let Some(done) = tx.commit_of(&effect_id)? {
            if done.body_digest != digest {
                return Err(Error::new(ErrorCode::TurnConflict, turn_id.as_str())
                    .message(format!("turn {turn_id} was admitted for another agent")));
            }
            if crate::store::is_pruned(&done.receipt) {
                return Err(Error::new(ErrorCode::ReceiptPruned, turn_id.as_str())
                    .message(format!(
                        "turn {turn_id} was admitted and is over; its receipt is no longer kept"
                    ))
                    .next("use a new turn id"));
            }
            return Ok(with_receipt(done.receipt, &turn_id, "replayed"));
        }
        let now = self.now();
        let surface = self.adopt(goal, uid, tx.as_mut(), agent.as_ref(), now)?;
        let scene = scene(tx.as_ref(), goal, now)?;
        turn::bound(&scene, &turn_id, agent.as_ref())?;
        let view = self.admission_view(goal, tx.as_ref(), &asked, &surface, now)?;
        let situation = Situation {
            subject: Subject::Goal { policy: &goal.policy, view: &view },
            request: &asked,
            now,
        };
        let (decision, packet) = answer(&situation, goal.policy.goal_id.as_str());
        let minutes = packet
            .pointer("/scheduler_hint/next_check_minutes")
            .and_then(Value::as_u64)
            .and_then(|m| u32::try_from(m).ok())
            .unwrap_or(0);
        let value = with_receipt(packet, &turn_id, "committed");
        let effect =
            turn::admit(&scene, &turn_id, agent.as_ref(), &decision, value.clone(), minutes);
        let commit = scene.commit;
        tx.apply(&effect.changes)?;
        tx.record(&CommitRecord {
            n: commit,
            effect_id,
            verb: "turn.admit".into(),
            agent,
            at: now,
            fixed_clock: self.fixed_clock(),
            body_digest: digest,
            receipt: value.clone(),
        })?;
        self.land(goal, uid, tx, surface, &[], now)?;
        self.take_in_displaced(&mut open)?;
        Ok(value)
    }

    fn admission_view(
        &self,
        goal: &Goal,
        read: &dyn Read,
        asked: &AdmissionRequest,
        surface: &SurfaceNow,
        now: Instant,
    ) -> Result<View> {
        use crate::admission::Detail;
        let complete = asked.wants(Detail::AgentTodos) || asked.wants(Detail::UserTodos);
        let mut view = read.view(&ViewQuery { now, quota: goal.policy.quota, complete })?;
        view.health.extend(surface.problem.iter().map(snapshot::health_of));
        view.findings.extend(surface.findings.iter().cloned());
        if import::grew(goal, read.legacy()?.as_ref())? {
            view.health.push(snapshot::health_of(&import::still_written(goal)));
        }
        Ok(view)
    }

    /// Takes hand edits into the transaction, as a commit of their own.
    fn adopt(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        tx: &mut dyn Transaction,
        editor: Option<&AgentId>,
        now: Instant,
    ) -> Result<SurfaceNow> {
        let looked = surface::look(goal, uid, tx);
        match looked {
            Ok(Surface::None) => Ok(SurfaceNow::default()),
            Ok(Surface::Clean) => Ok(SurfaceNow { clean: true, ..SurfaceNow::default() }),
            Ok(Surface::Missing | Surface::Stale) => {
                Ok(SurfaceNow { must_write: true, ..SurfaceNow::default() })
            }
            Ok(Surface::Edited { base, bytes }) => {
                self.adopt_edit(goal, tx, base.as_deref(), bytes, editor, now)
            }
            // A file that cannot be read is left alone; the store goes on without it.
            Err(error) if super::is_health(&error) => {
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
            Err(error) if super::is_health(&error) => {
                return Ok(SurfaceNow { problem: Some(error), ..SurfaceNow::default() });
            }
            Err(error) => return Err(error),
        };
        let mut state = SurfaceNow {
            must_write: true,
            findings: edits.adoption.findings,
            template: Some((edits.document, bytes.clone())),
            ..SurfaceNow::default()
        };
        if edits.adoption.put.is_empty() {
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
            if crate::command::todo::follows(put) && !old.is_some_and(crate::command::todo::follows)
            {
                changes.push(Change::FollowDangling);
            }
            changes.push(Change::ClearStalls(put.todo_id.clone()));
        }
        changes.extend(edits.adoption.put.iter().cloned().map(|t| Change::PutTodo(Box::new(t))));
        tx.apply(&changes)?;
        let ids: Vec<&TodoId> = edits.adoption.put.iter().map(|t| &t.todo_id).collect();
        let digest = sha256_hex(&bytes);
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
        state.adopted = true;
        Ok(state)
    }

    /// Commits, and writes the projection while it is still this writer's turn.
    fn land(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        mut tx: Box<dyn Transaction + '_>,
        surface: SurfaceNow,
        puts: &[&Todo],
        now: Instant,
    ) -> Result<()> {
        let touched = surface.adopted || surface.must_write || !puts.is_empty();
        let projection = if touched && surface.problem.is_none() && goal.state_path().is_some() {
            self.project(goal, uid, tx.as_ref(), &surface, puts, now)?
        } else {
            None
        };
        if let Some((bytes, _)) = &projection {
            tx.note_projection(&sha256_hex(bytes))?;
        }
        let _turn: WritersTurn = tx.commit()?;
        if let Some((bytes, expected)) = projection {
            // The commit stands whatever happens to its surface: a projection that could
            // not be written is made up by the next write.
            if let Ok(Some(displaced)) = surface::write(goal, uid, &bytes, expected.as_deref()) {
                self.keep_displaced(goal, uid, &displaced, expected.as_deref());
            }
        }
        Ok(())
    }

    fn project(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        read: &dyn Read,
        surface: &SurfaceNow,
        puts: &[&Todo],
        now: Instant,
    ) -> Result<Option<Projected>> {
        let on_disk = |path: &std::path::Path| {
            crate::file::read_bounded(path, snapshot::MAX_STATE_FILE, "state file")
        };
        let (template, expected) = match &surface.template {
            Some((document, bytes)) => (document.clone(), Some(bytes.clone())),
            None => {
                let bytes = match goal.state_path() {
                    Some(path) => on_disk(&path)?.filter(|b| !b.is_empty()),
                    None => None,
                };
                // What was last written is the template when the file itself is stale.
                let base = match surface.clean {
                    true => None,
                    false => on_disk(&goal.base_path(uid))?.filter(|b| !b.is_empty()),
                };
                let source = base.as_ref().or(bytes.as_ref());
                match source {
                    Some(source) => (Document::parse(source)?, bytes),
                    None => (surface::fresh_template(goal, now)?, bytes),
                }
            }
        };
        let bytes = if surface.clean && !surface.adopted && expected.is_some() {
            let bytes = surface::project_changes(read, &template, puts, now)?;
            debug_assert_eq!(
                String::from_utf8_lossy(&bytes),
                String::from_utf8_lossy(&surface::project(read, &template, !puts.is_empty(), now)?),
                "a projection of the changes equals a whole one"
            );
            bytes
        } else {
            surface::project(read, &template, !puts.is_empty(), now)?
        };
        if Some(&bytes) == expected.as_ref() && surface.clean {
            return Ok(None);
        }
        Ok(Some((bytes, expected)))
    }

    /// Edits that somebody made between our reading and our writing of the state file lie
    /// in the displaced text: put back beside the store, they are taken in next.
    fn keep_displaced(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        displaced: &[u8],
        expected: Option<&[u8]>,
    ) {
        let folder = goal.folder(uid);
        if let Some(expected) = expected {
            let _ = crate::file::replace(
                &folder.join("displaced.base"),
                expected,
                crate::file::Durability::Synced,
            );
        }
        let _ = crate::file::replace(
            &folder.join("displaced.md"),
            displaced,
            crate::file::Durability::Synced,
        );
    }

    /// Takes in what a projection displaced, now or (after a crash) at the next write.
    fn take_in_displaced(&self, open: &mut Open<'_>) -> Result<()> {
        for _ in 0..MAX_ROUNDS {
            let folder = open.goal.folder(&open.uid);
            let (edited, base) = (folder.join("displaced.md"), folder.join("displaced.base"));
            let Some(bytes) = crate::file::read_bounded(
                &edited,
                snapshot::MAX_STATE_FILE,
                "displaced state file",
            )?
            else {
                return Ok(());
            };
            let base_bytes =
                crate::file::read_bounded(&base, snapshot::MAX_STATE_FILE, "displaced state file")?;
            let Open { goal, uid, store } = &mut *open;
            let now = self.now();
            let mut tx = store.store()?.begin("state_file.adopt")?;
            let mut state =
                self.adopt_edit(goal, tx.as_mut(), base_bytes.as_deref(), bytes, None, now)?;
            // Project onto what the file is now, not onto the text it displaced.
            state.template = None;
            state.clean = true;
            state.must_write = false;
            self.land(goal, uid, tx, state, &[], now)?;
            for path in [edited, base] {
                match std::fs::remove_file(&path) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        return Err(Error::from_io(&e, "displaced state file", &path));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Runs a command that changes the registry and the store: a journal row brackets the
    /// atomic replace of the registry.
    pub(super) fn write_both(
        &self,
        call: &Call<'_>,
        edit: impl Fn(&mut Value, Instant) -> Result<serde_json::Map<String, Value>>,
    ) -> Result<Value> {
        let found = self.goal(call.goal)?;
        if !found.has_store {
            edit(&mut found.entry()?.clone(), self.now())?;
        }
        let (goal, uid) = self.with_store(found)?;
        let id = goal.policy.goal_id.clone();
        let mut change = crate::registry::begin_change(
            goal.registry.path(),
            &self.holder(call.verb),
            self.options.deadline,
        )?;
        let index = change.registry().locate(&id)?;
        let effect_id = call.effect()?;
        let now = self.now();
        let mut store = self.stores.writer(&goal.store_path(&uid), &uid, self.sqlite())?;
        let mut tx = store.store()?.begin(call.verb)?;
        recover_with(change.registry(), index, tx.as_mut())?;
        if let Some(done) = tx.commit_of(&effect_id)? {
            return replay(&done, &call.digest, &effect_id);
        }
        let entry = change
            .registry_mut()
            .entry_mut(index)
            .ok_or_else(|| Error::new(ErrorCode::GoalUnknown, id.as_str()))?;
        let answer = edit(entry, now)?;
        let entry_after = entry_digest(entry);
        let commit = tx.last_commit()? + 1;
        let answer = receipt(id.as_str(), commit, now, answer);
        let rendered = change.render()?;
        let actor = call.agent.and_then(|a| AgentId::parse(a).ok());
        let record = self.record(call, &effect_id, commit, actor, now, &answer);
        if rendered.witnesses.differ() {
            tx.set_journal(Some(&JournalRow {
                effect_id,
                witness_before: rendered.witnesses.before.clone(),
                witness_after: rendered.witnesses.after.clone(),
                entry_after,
                commit: record.clone(),
            }))?;
            // Nobody writes between the two commits, so the numbers stay as noted.
            let turn = tx.commit()?;
            change.commit()?;
            tx = store.store()?.begin_again(turn)?;
            tx.set_journal(None)?;
        }
        tx.record(&record)?;
        drop(tx.commit()?);
        let projected = self.project_global(change.registry(), std::slice::from_ref(&id), now);
        let mut answer = answer;
        if let (Err(error), Some(map)) = (projected, answer.as_object_mut()) {
            // The project's registry is the truth; the global copy is behind and says so.
            map.insert("global_projection".into(), error.to_json());
        }
        Ok(answer)
    }
}

/// The bytes of a projection, and what the state file is expected to hold until then.
type Projected = (Vec<u8>, Option<Vec<u8>>);

/// How the state file stood when the transaction began.
#[derive(Default)]
struct SurfaceNow {
    clean: bool,
    must_write: bool,
    adopted: bool,
    findings: Vec<crate::model::Finding>,
    template: Option<(Document, Vec<u8>)>,
    problem: Option<Error>,
}

fn scene<'a>(read: &'a dyn Read, goal: &'a Goal, now: Instant) -> Result<Scene<'a>> {
    let commit = read.last_commit()? + 1;
    let offset = read.legacy()?.map_or(0, |w| w.rows);
    Ok(Scene { read, policy: &goal.policy, now, commit, row: commit.saturating_add(offset) })
}

pub(super) fn replay(done: &CommitRecord, digest: &str, effect_id: &EffectId) -> Result<Value> {
    if done.body_digest != digest {
        let shown = effect_id.as_str().strip_prefix("caller|").unwrap_or("of this turn");
        return Err(Error::new(ErrorCode::EffectConflict, "effect_id").message(format!(
            "effect id {shown} was used in commit {} with another body",
            done.n
        )));
    }
    let mut value = done.receipt.clone();
    if let Some(map) = value.as_object_mut() {
        map.insert("idempotent_replay".into(), json!(true));
    }
    Ok(value)
}

fn with_receipt(mut packet: Value, turn: &TurnId, status: &str) -> Value {
    if let Some(map) = packet.as_object_mut() {
        map.insert("heartbeat_receipt".into(), json!({"turn_instance_id": turn, "status": status}));
    }
    packet
}

/// Finishes or drops a command that a crash left between registry and store.
pub(super) fn recover(goal: &Goal, tx: &mut dyn Transaction) -> Result<()> {
    if tx.journal()?.is_none() {
        return Ok(());
    }
    let current = Registry::read(goal.registry.path())?;
    let index = current.locate(&goal.policy.goal_id)?;
    recover_with(&current, index, tx)
}

fn recover_with(registry: &Registry, index: usize, tx: &mut dyn Transaction) -> Result<()> {
    let Some(row) = tx.journal()? else { return Ok(()) };
    let replaced = registry.witness() == row.witness_after
        || (registry.witness() != row.witness_before
            && registry.entry(index).is_some_and(|entry| entry_digest(entry) == row.entry_after));
    tx.set_journal(None)?;
    if replaced && tx.commit_of(&row.effect_id)?.is_none() {
        let n = tx.last_commit()? + 1;
        tx.record(&CommitRecord { n, ..row.commit })?;
    }
    Ok(())
}

fn view_for(scene: &Scene<'_>) -> Result<View> {
    let query = ViewQuery { now: scene.now, quota: scene.policy.quota, complete: false };
    scene.read.view(&query)
}

fn standing_offer(
    policy: &crate::model::GoalPolicy,
    view: &View,
    agent: &AgentId,
    now: Instant,
) -> Option<crate::admission::offer::Offer> {
    let asked = AdmissionRequest { agent: Some(agent.clone()), ..AdmissionRequest::default() };
    let situation = Situation { subject: Subject::Goal { policy, view }, request: &asked, now };
    crate::admission::decide(&situation).verdict.offer
}

/// A door that polls without a turn id counts as attempting an offer at its next write
/// (contract.md 2.5). An offer that stood at an earlier write and still stands was
/// answered by what the agent does now; one that stands for the first time is noted. A
/// spend only closes the turn before, so it notes and never counts.
fn note_offer(scene: &Scene<'_>, agent: &AgentId, spends: bool) -> Result<Vec<Change>> {
    let view = view_for(scene)?;
    let Some(offer) = standing_offer(scene.policy, &view, agent, scene.now) else {
        return Ok(Vec::new());
    };
    let noted = offer.noted(&view, Some(agent)).is_some();
    let state = if noted && !spends { AttemptState::Attempted } else { AttemptState::Offered };
    Ok(vec![Change::PutAttempt(offer.record(Some(agent), state, scene.now, None))])
}

/// After a spend: the offer that the next poll will see is noted.
fn note_standing_offer(
    goal: &Goal,
    tx: &mut dyn Transaction,
    agent: &AgentId,
    now: Instant,
) -> Result<()> {
    let query = ViewQuery { now, quota: goal.policy.quota, complete: false };
    let view = tx.view(&query)?;
    if !goal.policy.roster.contains(agent) {
        return Ok(());
    }
    match standing_offer(&goal.policy, &view, agent, now) {
        Some(offer) if offer.noted(&view, Some(agent)).is_none() => {
            tx.apply(&[Change::PutAttempt(offer.record(
                Some(agent),
                AttemptState::Offered,
                now,
                None,
            ))])
        }
        _ => Ok(()),
    }
}
