//! An earlier project: read in place, and imported as commit 1 by the first write.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::goal::Goal;
use super::leftovers::creating;
use super::maintenance::{Progress, Step};
use super::snapshot::{MAX_STATE_FILE, health_of};
use super::{Kernel, receipt};
use crate::admission::view::GoalRecords;
use crate::error::{Error, ErrorCode, Result};
use crate::file::digest::hex;
use crate::file::{Durability, read_bounded, replace, sha256_hex};
use crate::model::{CommitRecord, EffectId, Finding, GoalUid, Instant, LegacyWitness, Todo};
use crate::registry::{begin_change, mark_imported};
use crate::state_file::{Document, Ledger, read_ledger};
use crate::store::{Change, SqliteStore, Transaction};

/// Largest ledger file that is read.
const MAX_LEDGER: u64 = 4 * 1024 * 1024 * 1024;
/// Largest artifact that is read for its slot count.
const MAX_ARTIFACT: u64 = 16 * 1024 * 1024;

/// An earlier project's goal, read.
pub(super) struct Project {
    /// Todos of the state file.
    pub todos: Vec<Todo>,
    /// Its ledger.
    pub ledger: Ledger,
    /// The ledger's witness.
    pub witness: LegacyWitness,
    /// The state file, when there is one.
    pub document: Option<Document>,
    /// What is not as it should be.
    pub findings: Vec<Finding>,
    /// What makes it unhealthy.
    pub health: Vec<Finding>,
}

impl Project {
    /// As records.
    pub fn into_records(self) -> GoalRecords {
        let mut records = GoalRecords::default();
        for change in self.changes() {
            records.apply(&change);
        }
        records.health = self.health;
        records
    }

    /// The changes that store it.
    fn changes(&self) -> Vec<Change> {
        let mut changes: Vec<Change> = Vec::new();
        changes.extend(self.todos.iter().cloned().map(|t| Change::PutTodo(Box::new(t))));
        changes.extend(self.ledger.spends.iter().cloned().map(Change::PutSpend));
        changes.extend(self.ledger.outcomes.iter().cloned().map(Change::PutOutcome));
        changes.extend(self.ledger.signals.iter().cloned().map(Change::AddSignal));
        changes.extend(self.ledger.turns.iter().cloned().map(Change::PutTurn));
        changes.extend(self.findings.iter().cloned().map(Change::PutFinding));
        changes
    }
}

/// Reads the goal's files as they are. A state file that is missing, empty or unreadable
/// is a health problem, not an error.
pub(super) fn read(goal: &Goal) -> Result<Project> {
    let mut project = Project {
        todos: Vec::new(),
        ledger: Ledger::default(),
        witness: LegacyWitness::default(),
        document: None,
        findings: Vec::new(),
        health: Vec::new(),
    };
    if let Err(error) = goal.require_state_path() {
        project.health.push(health_of(&error));
    }
    if let Some(path) = goal.state_path() {
        match read_bounded(&path, MAX_STATE_FILE, "state file") {
            Ok(Some(bytes)) if !bytes.is_empty() => match Document::parse(&bytes) {
                Ok(document) => project.take_document(goal, document),
                Err(error) => project.health.push(health_of(&error)),
            },
            Ok(found) => {
                let what = if found.is_some() { "is empty" } else { "is missing" };
                let error = Error::new(ErrorCode::StateFileMissing, "state file")
                    .message(format!("the state file that the registry declares {what}, and the goal was never imported"));
                project.health.push(health_of(&error));
            }
            Err(error) => project.health.push(health_of(&error)),
        }
    }
    let folder = goal.legacy_folder();
    let index = read_bounded(&folder.join("runs/index.jsonl"), MAX_LEDGER, "runs/index.jsonl")?;
    let rollout = read_bounded(
        &folder.join("rollout-event-log.jsonl"),
        MAX_LEDGER,
        "rollout-event-log.jsonl",
    )?;
    project.ledger =
        read_ledger(index.as_deref(), rollout.as_deref(), &mut |path| artifact(&folder, path));
    project.findings.append(&mut project.ledger.findings);
    let rows = project
        .ledger
        .spends
        .iter()
        .map(|s| s.id)
        .chain(project.ledger.outcomes.iter().map(|o| o.id))
        .max();
    project.witness = witness(index.as_deref(), rows.unwrap_or(0));
    Ok(project)
}

impl Project {
    fn take_document(&mut self, goal: &Goal, document: Document) {
        let (todos, findings) = todos_of(goal.policy.goal_id.as_str(), &document);
        self.todos = todos;
        self.findings.extend(findings);
        self.document = Some(document);
    }
}

/// What a state file that becomes a goal's first commit says.
pub(super) fn todos_of(goal: &str, document: &Document) -> (Vec<Todo>, Vec<Finding>) {
    let mut todos: Vec<Todo> = document.todos().iter().map(|p| p.todo.clone()).collect();
    for todo in &mut todos {
        // The archive is for what is over; an open line there is still to be done.
        todo.archived &= !todo.is_open();
    }
    let findings = document
        .findings()
        .iter()
        .cloned()
        .map(|mut f| {
            f.next_command = f.next_command.map(|c| c.replace("<goal>", goal));
            f
        })
        .collect();
    (todos, findings)
}

/// An artifact is named by the path it had when it was written; a project that has moved
/// has it beside its index.
fn artifact(folder: &Path, written: &str) -> Option<Vec<u8>> {
    let as_written = Path::new(written);
    let beside = as_written.file_name().map(|name| folder.join("runs").join(name));
    [Some(as_written.to_path_buf()), beside]
        .into_iter()
        .flatten()
        .find_map(|path| read_bounded(&path, MAX_ARTIFACT, "run artifact").ok().flatten())
}

fn witness(index: Option<&[u8]>, rows: u64) -> LegacyWitness {
    let bytes = index.unwrap_or_default();
    LegacyWitness {
        index_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        index_sha256: sha256_hex(bytes),
        rows,
    }
}

/// Whether the earlier tool's ledger differs from what was imported.
pub(super) fn grew(goal: &Goal, imported: Option<&LegacyWitness>) -> Result<bool> {
    let Some(imported) = imported else { return Ok(false) };
    let path = goal.legacy_folder().join("runs/index.jsonl");
    match std::fs::metadata(&path) {
        Ok(meta) => Ok(meta.len() != imported.index_bytes),
        // A ledger that was cleared away after the import is nobody writing.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::from_io(&error, "runs/index.jsonl", &path)),
    }
}

/// The refusal while the earlier tool still writes.
pub(super) fn still_written(goal: &Goal) -> Error {
    Error::new(ErrorCode::LegacyWriterActive, "runs/index.jsonl")
        .message("the earlier tool has written to this goal's ledger since it was imported; two writers would not see each other")
        .next(format!("stop the earlier tool, then: loopx goal adopt-legacy --goal-id {}", goal.policy.goal_id))
}

impl Kernel {
    /// The goal with a store: as it is when it has one, else imported now.
    pub(super) fn with_store(&self, goal: Arc<Goal>) -> Result<(Arc<Goal>, GoalUid)> {
        self.with_store_shown(goal, &|_| {})
    }

    /// [`Kernel::with_store`], which says how far an import has come.
    pub(super) fn with_store_shown(
        &self,
        goal: Arc<Goal>,
        progress: Progress<'_>,
    ) -> Result<(Arc<Goal>, GoalUid)> {
        if let (Some(uid), true) = (goal.policy.goal_uid.clone(), goal.has_store) {
            return Ok((goal, uid));
        }
        let path = goal.registry.path().to_path_buf();
        let id = goal.policy.goal_id.clone();
        let mut change = begin_change(&path, &self.holder("import"), self.options.deadline)?;
        // Read again behind the lock: another process may have imported it meanwhile.
        let index = change.registry().locate(&id)?;
        let goal = self.goal_in(change.registry().clone(), &id)?;
        if let (Some(uid), true) = (goal.policy.goal_uid.clone(), goal.has_store) {
            return Ok((Arc::new(goal), uid));
        }
        let now = self.now();
        let project = read(&goal)?;
        if let Some(problem) = project.health.first() {
            return Err(refuse_import(problem));
        }
        let uid = match &goal.policy.goal_uid {
            Some(uid) => uid.clone(),
            None => new_uid()?,
        };
        self.remove_orphans(change.registry(), &goal.runtime_root);
        creating(&goal, &uid, || {
            self.make_store(&goal, &uid, &project, now, progress)?;
            let entry = change
                .registry_mut()
                .entry_mut(index)
                .ok_or_else(|| Error::new(ErrorCode::GoalUnknown, id.as_str()))?;
            mark_imported(entry, &uid, now)?;
            change.commit()
        })?;
        let goal = self.goal_in(change.registry().clone(), &id)?;
        Ok((Arc::new(goal), uid))
    }

    fn make_store(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        project: &Project,
        now: Instant,
        progress: Progress<'_>,
    ) -> Result<()> {
        let path = goal.store_path(uid);
        let answer = json!({
            "imported": true,
            "todos": project.todos.len(),
            "spends": project.ledger.spends.len(),
            "outcomes": project.ledger.outcomes.len(),
            "findings": project.findings,
        });
        let map = answer.as_object().cloned().unwrap_or_default();
        let record = CommitRecord {
            n: 1,
            effect_id: EffectId::derived("import", &[uid.as_str()]),
            verb: "import".into(),
            agent: None,
            at: now,
            fixed_clock: self.fixed_clock(),
            body_digest: project.witness.index_sha256.clone(),
            receipt: receipt(goal.policy.goal_id.as_str(), 1, now, map),
        };
        let projection = project.document.as_ref().map(Document::to_bytes);
        SqliteStore::create(&path, uid, self.sqlite(), &mut |tx: &mut dyn Transaction| {
            let changes = project.changes();
            let mut done = 0;
            for some in changes.chunks(1_000) {
                tx.apply(some)?;
                done += some.len();
                progress(Step { what: "import", done, of: changes.len() });
            }
            tx.apply(&[Change::SetLegacy(project.witness.clone())])?;
            if let Some(bytes) = &projection {
                tx.note_projection(&sha256_hex(bytes))?;
            }
            tx.record(&record)
        })?;
        if let Some(bytes) = &projection {
            replace(&goal.base_path(uid), bytes, Durability::Unsynced)?;
        }
        Ok(())
    }
}

/// An import would write down a state that nobody can trust.
fn refuse_import(problem: &Finding) -> Error {
    let code = [
        ErrorCode::StateFileMissing,
        ErrorCode::StateFileUnreadable,
        ErrorCode::RegistryDenied,
        ErrorCode::IoFailed,
    ]
    .into_iter()
    .find(|c| c.row().text == problem.code)
    .unwrap_or(ErrorCode::StateFileUnreadable);
    let error = Error::new(code, problem.about.as_str()).message(problem.message.as_str());
    match &problem.next_command {
        Some(next) => error.next(next.as_str()),
        None => error,
    }
}

/// A goal uid that no goal has had.
pub(super) fn new_uid() -> Result<GoalUid> {
    Ok(GoalUid::trusted(format!("g-{}", random_hex()?)))
}

/// 128 random bits as hex.
pub(super) fn random_hex() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|e| Error::new(ErrorCode::Internal, "randomness").detail(e))?;
    Ok(hex(&bytes))
}
