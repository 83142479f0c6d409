//! One write: wait for the turn, recover, replay or adopt and run, one commit, project.

mod admit;
mod both;
mod land;
mod loops;
mod offers;
mod schedule;
mod settle;
mod unnamed;

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::goal::Goal;
use super::import::{self, random_hex};
use super::leftovers;
use super::snapshot::{Snapshot, health_of};
use super::stores::Lent;
use super::{Kernel, receipt, to_json};
use crate::admission::ViewQuery;
use crate::command::feedback::closed_by;
use crate::command::{Effect, Scene};
use crate::error::{Error, ErrorCode, Result};
use crate::file::process::is_dead;
use crate::file::sha256_hex;
use crate::model::{AgentId, CommitRecord, EffectId, GoalUid, Instant, Todo, TurnId};
use crate::operation::Addressed;
use crate::store::sqlite::sync_committed;
use crate::store::{Change, Read, Store as _, Transaction};
use crate::turn::lapse::lapse;

pub(super) use self::both::recover;
use self::land::SurfaceNow;
pub(super) use self::loops::session;

/// A write that was asked for.
pub(super) struct Call<'a> {
    verb: &'static str,
    goal: Option<&'a str>,
    given_effect: Option<EffectId>,
    agent: Option<&'a str>,
    turn: Option<TurnId>,
    pub digest: String,
    once_a_turn: bool,
    spends: bool,
    hint_minutes: Option<u32>,
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
            once_a_turn: false,
            spends: false,
            hint_minutes: None,
        })
    }

    /// The agent that acts.
    pub fn by(mut self, agent: Option<&'a str>) -> Self {
        self.agent = agent;
        self
    }

    /// Its agent was seen, and waits that many minutes now.
    pub fn seen(mut self, hint_minutes: u32) -> Self {
        self.hint_minutes = Some(hint_minutes);
        self
    }

    /// Inside a turn.
    pub fn in_turn(mut self, turn: Option<&str>) -> Result<Self> {
        self.turn = turn.map(TurnId::parse).transpose()?;
        Ok(self)
    }

    /// It happens once a turn, whatever the body: another body is a conflict.
    pub fn once_a_turn(mut self) -> Self {
        self.once_a_turn = true;
        self
    }

    /// It spends: refused while another writer of the ledger is active.
    pub fn spending(mut self) -> Self {
        self.spends = true;
        self.once_a_turn()
    }

    /// The identity of the write: the caller's, the turn's, or one that nothing else has.
    pub fn effect(&self) -> Result<EffectId> {
        Ok(match (&self.given_effect, &self.turn) {
            (Some(given), _) => given.clone(),
            (None, Some(turn)) if self.once_a_turn => EffectId::of_turn(turn, self.verb, ""),
            (None, Some(turn)) => EffectId::of_turn(turn, self.verb, &self.digest),
            (None, None) => EffectId::unique(&random_hex()?),
        })
    }
}

/// A goal whose store is open to write.
pub(super) struct Open<'k> {
    pub goal: Arc<Goal>,
    pub uid: GoalUid,
    pub store: Lent<'k>,
}

/// What a command works on, inside its transaction.
struct Stage<'s> {
    goal: &'s Goal,
    tx: &'s mut dyn Transaction,
    surface: &'s SurfaceNow,
    now: Instant,
}

impl Stage<'_> {
    /// The receipt of a command; it says so where the state file will not show what was done.
    fn receipt(&self, commit: u64, answer: serde_json::Map<String, Value>) -> Value {
        let goal = self.goal.policy.goal_id.as_str();
        let mut value = receipt(goal, commit, self.now, answer);
        if let (Some(problem), Some(map)) = (&self.surface.problem, value.as_object_mut()) {
            let finding = json!(health_of(problem));
            match map.get_mut("findings").and_then(Value::as_array_mut) {
                Some(findings) => findings.push(finding),
                None => drop(map.insert("findings".into(), json!([finding]))),
            }
        }
        value
    }

    fn scene(&self) -> Result<Scene<'_>> {
        scene(self.tx, self.goal, self.now)
    }
}

/// What a command did.
struct Done {
    answer: Value,
    /// Todos that it stored.
    puts: Vec<Todo>,
    /// It did nothing, so there is nothing to commit.
    idle: bool,
}

/// Identity of a transaction, and what a repeat of it answers.
struct Once<'c> {
    verb: &'c str,
    effect_id: &'c EffectId,
    replay: &'c dyn Fn(CommitRecord) -> Result<Value>,
    editor: Option<&'c AgentId>,
}

impl Kernel {
    pub(super) fn open_to_write(&self, found: Arc<Goal>) -> Result<Open<'_>> {
        let (goal, uid) = self.with_store(found)?;
        let store = self.stores.writer(&goal.store_path(&uid), &uid, self.sqlite())?;
        Ok(Open { goal, uid, store })
    }

    /// Runs `body` inside one transaction of the goal, and projects what it changed.
    fn transact(
        &self,
        open: &mut Open<'_>,
        once: &Once<'_>,
        body: impl FnOnce(&mut Stage<'_>) -> Result<Done>,
    ) -> Result<Value> {
        // One body for every command: what surrounds a command is long.
        let mut body = Some(body);
        self.transact_once(open, once, &mut |stage| match body.take() {
            Some(body) => body(stage),
            None => Err(Error::new(ErrorCode::Internal, "transaction")),
        })
    }

    fn transact_once(
        &self,
        open: &mut Open<'_>,
        once: &Once<'_>,
        body: &mut dyn FnMut(&mut Stage<'_>) -> Result<Done>,
    ) -> Result<Value> {
        let Open { goal, uid, store } = open;
        let mut tx = store.store()?.begin(once.verb)?;
        let recovered = recover(goal, tx.as_mut())?;
        let now = self.now();
        if let Some(done) = tx.commit_of(once.effect_id)? {
            let answer = (once.replay)(done)?;
            sync_committed(&goal.store_path(uid))?;
            let caught_up = self.catch_up(goal, uid, tx, once.editor, recovered, now);
            match caught_up {
                Ok(Some(first)) => self.land_displaced(open, first, now)?,
                // What is acknowledged here has to stand.
                Err(error) if recovered => return Err(error),
                // The receipt stands whatever happens to the surface.
                Ok(None) | Err(_) => {}
            }
            return Ok(answer);
        }
        leftovers::rescue(goal, uid, tx.as_ref(), now)?;
        leftovers::tidy_now_and_then(goal, uid, tx.as_ref(), now)?;
        let left_over = self.adopt_left_over(goal, uid, tx.as_mut(), now)?;
        let mut surface = self.adopt(goal, uid, tx.as_mut(), once.editor, left_over, now)?;
        // What was taken in beside the file is not in its last projection.
        surface.adopted |= left_over;
        let mut puts = self.sweep(goal, tx.as_mut(), now)?;
        let swept = puts.is_some();
        let done = body(&mut Stage { goal, tx: tx.as_mut(), surface: &surface, now })?;
        if done.idle && !surface.adopted && !left_over && !swept {
            return Ok(done.answer);
        }
        let mut all = puts.take().unwrap_or_default();
        all.extend(done.puts);
        let first = self.land(goal, uid, tx, surface, &all, now)?;
        if left_over {
            land::forget_displaced(goal, uid)?;
        }
        self.land_displaced(open, first, now)?;
        Ok(done.answer)
    }

    /// Runs a command as one commit and answers its receipt.
    pub(super) fn write(
        &self,
        call: &Call<'_>,
        run: impl Fn(&Scene<'_>) -> Result<Effect>,
    ) -> Result<Value> {
        self.write_by(call, &run)
    }

    fn write_by(
        &self,
        call: &Call<'_>,
        run: &dyn Fn(&Scene<'_>) -> Result<Effect>,
    ) -> Result<Value> {
        let found = self.goal_again(call.goal)?;
        if !found.has_store {
            // What refuses the command refuses it before the project is imported for it.
            let snapshot = Snapshot::take(self, &found, None)?;
            run(&scene(snapshot.read(), &found, self.now())?)?;
        }
        let mut open = self.open_to_write(found)?;
        let effect_id = call.effect()?;
        let actor = call.agent.and_then(|a| AgentId::parse(a).ok());
        let once = Once {
            verb: call.verb,
            effect_id: &effect_id,
            replay: &|done| replay(&done, &call.digest, &effect_id),
            editor: actor.as_ref(),
        };
        self.transact(&mut open, &once, |stage| {
            if call.spends && import::grew(stage.goal, stage.tx.legacy()?.as_ref())? {
                return Err(import::still_written(stage.goal));
            }
            let scene = stage.scene()?;
            let commit = scene.commit;
            let mut effect = run(&scene)?;
            if effect.changes.contains(&Change::FollowDangling) {
                effect.changes.extend(closed_by(&scene, actor.as_ref())?);
            }
            if let (false, Some(agent), None) = (effect.changes.is_empty(), &actor, &call.turn) {
                let followed = effect.changes.contains(&Change::FollowDangling);
                // First, so that what the command settles takes its attempt with it.
                let noted = offers::note(&scene, &self.writer(agent), call.spends, followed)?;
                effect.changes.splice(0..0, noted);
            }
            if effect.changes.is_empty() && call.given_effect.is_none() {
                let answer = stage.receipt(commit - 1, effect.answer);
                return Ok(Done { answer, puts: Vec::new(), idle: true });
            }
            let answer = stage.receipt(commit, effect.answer);
            stage.tx.apply(&effect.changes)?;
            if let (true, Some(agent)) = (call.spends, &actor) {
                offers::note_standing(stage.goal, stage.tx, &self.writer(agent), stage.now)?;
            }
            let record = self.record(call, &effect_id, commit, actor.clone(), stage.now, &answer);
            stage.tx.record(&record)?;
            Ok(Done { answer, puts: puts_of(&effect.changes), idle: false })
        })
    }

    fn writer<'w>(&self, agent: &'w AgentId) -> offers::Writer<'w> {
        offers::Writer { agent, independent_worktree: self.options.independent_worktree }
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
        run: impl Fn(&Scene<'_>) -> Result<Effect>,
    ) -> Result<Value> {
        self.preview_by(at, &run)
    }

    fn preview_by(
        &self,
        at: &Addressed,
        run: &dyn Fn(&Scene<'_>) -> Result<Effect>,
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

    /// Reads on the store's records without hand edits: for commands that only look.
    pub(super) fn look(
        &self,
        at: &Addressed,
        run: impl Fn(&Scene<'_>) -> Result<Value>,
    ) -> Result<Value> {
        self.look_by(at, &run)
    }

    fn look_by(&self, at: &Addressed, run: &dyn Fn(&Scene<'_>) -> Result<Value>) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let snapshot = Snapshot::take(self, &goal, None)?;
        run(&scene(snapshot.read(), &goal, self.now())?)
    }

    /// Commits what lapsed turns lead to; `None` when there is none.
    fn sweep(
        &self,
        goal: &Goal,
        tx: &mut dyn Transaction,
        now: Instant,
    ) -> Result<Option<Vec<Todo>>> {
        let ended = |t: &crate::model::Turn| {
            crate::admission::view::is_lapsed_turn(t, now) || t.holder.as_ref().is_some_and(is_dead)
        };
        if !tx.open_turns()?.iter().any(ended) {
            return Ok(None);
        }
        let query = ViewQuery { now, quota: goal.policy.quota, complete: false };
        let mut view = tx.view(&query)?;
        view.bury(is_dead, &goal.policy.quota);
        let changes = lapse(&view, now);
        tx.apply(&changes)?;
        let n = tx.last_commit()? + 1;
        let turns: Vec<&TurnId> = view.lapsed.iter().map(|t| &t.turn_id).collect();
        let answer = json!({"lapsed_turns": turns});
        tx.record(&CommitRecord {
            n,
            effect_id: EffectId::derived("lapse", &[&n.to_string()]),
            verb: "turn.lapse".into(),
            agent: None,
            at: now,
            fixed_clock: self.fixed_clock(),
            body_digest: String::new(),
            receipt: receipt(
                goal.policy.goal_id.as_str(),
                n,
                now,
                answer.as_object().cloned().unwrap_or_default(),
            ),
        })?;
        Ok(Some(puts_of(&changes)))
    }
}

fn puts_of(changes: &[Change]) -> Vec<Todo> {
    changes.iter().filter_map(Change::put).cloned().collect()
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
