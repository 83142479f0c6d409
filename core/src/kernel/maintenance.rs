//! Looking after goals: check, backup, restore, prune, and what an import would do.
//! None of these decides anything or changes what a decision sees, except a restore,
//! which says what it loses before it does.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::goal::Goal;
use super::import::{self, random_hex};
use super::snapshot::MAX_STATE_FILE;
use super::surface;
use super::write::{Call, Open, recover, replay};
use super::{Kernel, receipt};
use crate::command::turn::ShouldRunRequest;
use crate::error::{Error, ErrorCode, Result};
use crate::file::{
    Durability, FileLock, read_bounded, refuse_network, replace, sha256_hex, sha256_of,
};
use crate::model::time::MICROS_PER_HOUR;
use crate::model::{CommitRecord, EffectId, Finding, GoalId, GoalUid, Instant, TaskClass, Todo};
use crate::operation::Addressed;
use crate::registry::document::entry_id;
use crate::state_file::Document;
use crate::store::sqlite::maintain;
use crate::store::{PruneLimits, Read, SqliteStore, Store, Transaction};

/// Names the layout of a backup; the number grows with it.
const FORMAT: &str = "loopx_store_backup_v1";
/// Largest manifest that is read.
const MAX_MANIFEST: u64 = 1024 * 1024;
/// How long a file that a running writer may own is looked at again.
const SETTLE: Duration = Duration::from_millis(150);

/// How far a long piece of work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is being done, one word.
    pub what: &'static str,
    /// Pieces done.
    pub done: usize,
    /// Pieces in all.
    pub of: usize,
}

/// Is told how far a long piece of work has come.
pub type Progress<'a> = &'a dyn Fn(Step);

/// `store.check`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreCheckRequest {}

/// `store.backup`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreBackupRequest {
    /// The folder; each goal gets a folder of its own in it.
    pub dir: PathBuf,
    /// Every goal of the registry.
    pub all: bool,
}

/// `store.restore`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreRestoreRequest {
    /// The folder that `store.backup` wrote, or the one above it.
    pub from: PathBuf,
    /// How many commits of the present store are lost: asked for when there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losing_commits: Option<u64>,
    /// Act; without it the answer is a preview.
    pub execute: bool,
}

/// `store.prune`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorePruneRequest {
    /// Days of history that stay, at least 1.
    pub keep_days: u32,
    /// Act; without it the answer is a preview.
    pub execute: bool,
}

/// `migrate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MigrateRequest {
    /// Every goal of the registry.
    pub all: bool,
    /// Import now; without it the answer says what an import would do.
    pub execute: bool,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Listed {
    name: String,
    bytes: u64,
    sha256: String,
}

/// What a backup says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    format: String,
    goal_id: GoalId,
    goal_uid: GoalUid,
    commit: u64,
    at: Instant,
    files: Vec<Listed>,
}

impl Kernel {
    /// The goals that are meant: the named one, else all of the registry. What is wrong
    /// with one is its own affair.
    fn named_or_all(&self, at: &Addressed) -> Result<Vec<(String, Result<Goal>)>> {
        if let Some(name) = at.goal_id.as_deref() {
            let goal = self.goal(Some(name))?;
            return Ok(vec![(goal.policy.goal_id.to_string(), Ok(goal))]);
        }
        let registry = self.registry()?;
        Ok(registry
            .goals()
            .iter()
            .map(|entry| {
                let name = entry_id(entry).unwrap_or_default().to_owned();
                let goal = GoalId::parse(&name).and_then(|id| self.goal_in(registry.clone(), &id));
                (name, goal)
            })
            .collect())
    }

    /// One goal, or all of them when that is said: several goals are never guessed.
    fn chosen(&self, at: &Addressed, all: bool) -> Result<Vec<(String, Result<Goal>)>> {
        if at.goal_id.is_some() && all {
            return Err(Error::new(ErrorCode::RequestInvalid, "goal_id")
                .message("name one goal or all of them, not both"));
        }
        if all || at.goal_id.is_some() {
            return self.named_or_all(at);
        }
        let goal = self.goal(None)?;
        Ok(vec![(goal.policy.goal_id.to_string(), Ok(goal))])
    }

    /// Compares stores with themselves and with what lies beside them. Reads only. An
    /// answer with problems has `"ok":false`.
    pub fn store_check(
        &self,
        at: &Addressed,
        _request: &StoreCheckRequest,
        progress: Progress<'_>,
    ) -> Result<Value> {
        let goals = self.named_or_all(at)?;
        let of = goals.len();
        let mut rows = Vec::new();
        let mut first: Option<Finding> = None;
        let mut count = 0_usize;
        for (done, (name, goal)) in goals.into_iter().enumerate() {
            progress(Step { what: "check", done, of });
            let (row, problems) = match goal {
                Ok(goal) => self.check_goal(&goal),
                Err(error) => (json!({"goal_id": name}), vec![super::snapshot::health_of(&error)]),
            };
            count += problems.len();
            let mut row = row;
            if let Some(map) = row.as_object_mut() {
                map.insert("ok".into(), json!(problems.is_empty()));
                map.insert("problems".into(), json!(problems));
            }
            first = first.or_else(|| problems.into_iter().next());
            rows.push(row);
        }
        progress(Step { what: "check", done: of, of });
        let mut answer = json!({"ok": first.is_none(), "problem_count": count, "goals": rows});
        if let (Some(first), Some(map)) = (first, answer.as_object_mut()) {
            let code = ErrorCode::StoreProblems.row();
            map.insert("error_code".into(), json!(code.text));
            let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
            map.insert("error".into(), json!(format!("{}{more}", first.message)));
            map.insert("about".into(), json!(first.about));
            map.insert(
                "next_command".into(),
                json!(first.next_command.unwrap_or_else(|| code.next_command.to_owned())),
            );
        }
        Ok(answer)
    }

    fn check_goal(&self, goal: &Goal) -> (Value, Vec<Finding>) {
        let id = goal.policy.goal_id.as_str();
        let Some(uid) = goal.policy.goal_uid.as_ref().filter(|_| goal.has_store) else {
            let problems = match import::read(goal) {
                Ok(project) => project.health,
                Err(error) => vec![super::snapshot::health_of(&error)],
            };
            return (json!({"goal_id": id, "imported": false}), problems);
        };
        let mut row = json!({"goal_id": id, "imported": true});
        let mut problems = Vec::new();
        let path = goal.store_path(uid);
        let looked = SqliteStore::open_read_only(&path, uid, self.sqlite()).and_then(|store| {
            store.check(goal.policy.quota, self.now(), &mut |read| check_surface(goal, uid, read))
        });
        match looked {
            Ok((checked, found)) => {
                if let (Some(map), Ok(Value::Object(sizes))) =
                    (row.as_object_mut(), serde_json::to_value(checked))
                {
                    map.extend(sizes);
                }
                problems.extend(found);
            }
            Err(error) => problems.push(super::snapshot::health_of(&error)),
        }
        problems.extend(leftovers(goal, uid));
        for problem in &mut problems {
            let next = next_of(&problem.code, id);
            problem.next_command = Some(match problem.next_command.take() {
                Some(own) if next.is_none() => own.replace("<goal>", id),
                _ => next.unwrap_or_else(|| {
                    format!("loopx export --goal-id {id} --file <file>, then report the problem")
                }),
            });
        }
        (row, problems)
    }

    /// Writes a consistent copy of goals, each into a new folder below `dir`. Nothing of
    /// the goals changes, and nothing that is there is overwritten.
    pub fn store_backup(
        &self,
        at: &Addressed,
        request: &StoreBackupRequest,
        progress: Progress<'_>,
    ) -> Result<Value> {
        if request.dir.as_os_str().is_empty() {
            return Err(Error::new(ErrorCode::RequestInvalid, "dir")
                .message("name the folder for the backup with --dir"));
        }
        let goals = self.chosen(at, request.all)?;
        let of = goals.len();
        let mut rows = Vec::new();
        let mut failed = None;
        for (done, (name, goal)) in goals.into_iter().enumerate() {
            progress(Step { what: "backup", done, of });
            match goal.and_then(|goal| self.backup(&goal, &request.dir)) {
                Ok(manifest) => rows.push(json!({
                    "goal_id": manifest.goal_id,
                    "ok": true,
                    "goal_uid": manifest.goal_uid,
                    "commit": manifest.commit,
                    "files": manifest.files,
                })),
                Err(error) if request.all => {
                    let mut row = error.to_json();
                    if let Some(map) = row.as_object_mut() {
                        map.insert("goal_id".into(), json!(name));
                    }
                    rows.push(row);
                    failed = failed.or(Some(error));
                }
                Err(error) => return Err(error),
            }
        }
        progress(Step { what: "backup", done: of, of });
        Ok(with_first_failure(json!({"backed_up": true, "at": self.now()}), rows, failed))
    }

    fn backup(&self, goal: &Goal, dir: &Path) -> Result<Manifest> {
        let id = &goal.policy.goal_id;
        let uid = imported(goal)?;
        let place = dir.join(id.as_str());
        if fs::symlink_metadata(&place).is_ok() {
            return Err(Error::new(ErrorCode::BackupExists, id.as_str())
                .message(format!("a backup of goal {id} or something else is there already"))
                .detail(place.display()));
        }
        let store = SqliteStore::open_read_only(&goal.store_path(&uid), &uid, self.sqlite())?;
        fs::create_dir_all(dir).map_err(|e| Error::from_io(&e, "backup folder", dir))?;
        let stage = Stage::new(dir)?;
        // Behind the writers' lock the store and its projection belong together. Where
        // no lock file can be made nobody writes either.
        let queue = FileLock::shared_if_possible(
            &goal.store_path(&uid),
            &self.holder("store.backup"),
            self.options.deadline,
        )?;
        let mut files = Vec::new();
        let copy = stage.path.join("goal.db");
        store.copy_to(&copy)?;
        // What counts is what was copied, not what the store has become since.
        let copied = SqliteStore::open_read_only(&copy, &uid, self.sqlite())?;
        let commit = copied.last_commit()?;
        drop(copied);
        let mut surface = vec![
            ("projection.base", goal.base_path(&uid)),
            ("displaced.md", goal.folder(&uid).join("displaced.md")),
            ("displaced.base", goal.folder(&uid).join("displaced.base")),
        ];
        surface.extend(goal.state_path().map(|path| ("state_file.md", path)));
        files.push(list(&stage.path, "goal.db")?);
        for (name, path) in surface {
            if let Some(bytes) = read_bounded(&path, MAX_STATE_FILE, name)? {
                write_new(&stage.path.join(name), &bytes)?;
                files.push(list(&stage.path, name)?);
            }
        }
        drop(queue);
        let entry = serde_json::to_vec_pretty(goal.entry()?)
            .map_err(|e| Error::new(ErrorCode::Internal, "registry entry").detail(e))?;
        write_new(&stage.path.join("registry_entry.json"), &entry)?;
        files.push(list(&stage.path, "registry_entry.json")?);
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            goal_id: id.clone(),
            goal_uid: uid,
            commit,
            at: self.now(),
            files,
        };
        let bytes = serde_json::to_vec_pretty(&manifest)
            .map_err(|e| Error::new(ErrorCode::Internal, "manifest").detail(e))?;
        write_new(&stage.path.join("manifest.json"), &bytes)?;
        stage.rename_to(&place, id)?;
        Ok(manifest)
    }

    /// Puts a backup in the place of a goal's store, or says what that would mean. The
    /// replaced store stays beside it. The state file stays as it is: what it says more
    /// than the restored store counts as hand edits, which the next write takes in.
    pub fn store_restore(&self, at: &Addressed, request: &StoreRestoreRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let id = goal.policy.goal_id.clone();
        let uid = imported(&goal)?;
        let (folder, manifest) = find_backup(&request.from, &id)?;
        if manifest.goal_uid != uid {
            return Err(Error::new(ErrorCode::StoreForeign, "backup").message(format!(
                "the backup is of another goal that was called {} at the time",
                manifest.goal_id
            )));
        }
        verify(&folder, &manifest)?;
        let path = goal.store_path(&uid);
        let store_folder = goal.folder(&uid);
        if !request.execute {
            let plan = self.restore_plan(&path, &uid, &folder.join("goal.db"))?;
            return Ok(self.restored(&id, &manifest, &plan, true));
        }
        refuse_network(&path)?;
        fs::create_dir_all(&store_folder)
            .map_err(|e| Error::from_io(&e, "store folder", &store_folder))?;
        let note = self.holder("store.restore");
        let _queue = maintain::queue_at(&path, &note, &self.sqlite())?;
        let draft = store_folder.join(format!(".goal.db.{}.new", random_hex()?));
        let placed = self.restore_behind_lock(&goal, &uid, &folder, &manifest, request, &draft);
        maintain::discard(&draft);
        let (plan, kept) = placed?;
        let mut answer = self.restored(&id, &manifest, &plan, false);
        if let Some(map) = answer.as_object_mut() {
            map.insert("replaced_store".into(), json!(kept));
            map.insert("commit".into(), json!(manifest.commit + 1));
        }
        Ok(answer)
    }

    fn restore_behind_lock(
        &self,
        goal: &Goal,
        uid: &GoalUid,
        folder: &Path,
        manifest: &Manifest,
        request: &StoreRestoreRequest,
        draft: &Path,
    ) -> Result<(RestorePlan, Option<String>)> {
        let id = &goal.policy.goal_id;
        let path = goal.store_path(uid);
        let now = self.now();
        copy_file(&folder.join("goal.db"), draft)?;
        let copied = list_as(draft, "goal.db")?;
        if !manifest.files.contains(&copied) {
            return Err(invalid_backup("goal.db of the backup changed while it was copied"));
        }
        if path.exists() {
            // A half commit of a killed writer is rolled back first, where that works.
            drop(SqliteStore::open(&path, uid, self.sqlite()));
        }
        let plan = self.restore_plan(&path, uid, draft)?;
        if let Some(lost) = plan.losing.filter(|n| *n > 0)
            && request.losing_commits != Some(lost)
        {
            return Err(Error::new(ErrorCode::RestoreLosesCommits, id.as_str())
                .message(format!(
                    "the store has {lost} commits that the backup lacks (the last is {}); restoring loses them",
                    plan.current_commit.unwrap_or(0)
                ))
                .next(format!(
                    "keep them first: loopx store backup --goal-id {id} --dir <new folder>; or agree with --losing-commits {lost}"
                )));
        }
        let digest = sha256_hex(
            json!(["store.restore", manifest.commit, plan.current_commit]).to_string().as_bytes(),
        );
        maintain::amend_draft(draft, uid, &self.sqlite(), &mut |tx: &mut dyn Transaction| {
            let n = tx.last_commit()? + 1;
            let answer = Map::from_iter([
                ("restored_commit".to_owned(), json!(manifest.commit)),
                ("backup_at".to_owned(), json!(manifest.at)),
                ("lost_commits".to_owned(), json!(plan.losing)),
            ]);
            tx.record(&CommitRecord {
                n,
                effect_id: EffectId::unique(&random_hex()?),
                verb: "store.restore".into(),
                agent: None,
                at: now,
                fixed_clock: self.fixed_clock(),
                body_digest: digest.clone(),
                receipt: receipt(id.as_str(), n, now, answer),
            })
        })?;
        // The base first: with it an edited state file is compared with what the
        // restored store has written, whichever store a crash leaves.
        if let Some(bytes) =
            read_bounded(&folder.join("projection.base"), MAX_STATE_FILE, "projection.base")?
        {
            replace(&goal.base_path(uid), &bytes, Durability::Synced)?;
        }
        let kept = match path.exists() {
            true => Some(kept_name(&goal.folder(uid), now)?),
            false => None,
        };
        let kept_path = kept.as_ref().map(|name| goal.folder(uid).join(name));
        maintain::put_in_place(draft, &path, kept_path.as_deref())?;
        if let Some(state) = goal.state_path()
            && !state.exists()
            && let Some(bytes) =
                read_bounded(&folder.join("state_file.md"), MAX_STATE_FILE, "state file")?
        {
            if let Some(above) = state.parent() {
                fs::create_dir_all(above)
                    .map_err(|e| Error::from_io(&e, "folder of the state file", above))?;
            }
            replace(&state, &bytes, Durability::Synced)?;
        }
        Ok((plan, kept))
    }

    fn restore_plan(&self, path: &Path, uid: &GoalUid, copy: &Path) -> Result<RestorePlan> {
        let backup = SqliteStore::open_read_only(copy, uid, self.sqlite())
            .map_err(|e| invalid_backup("goal.db of the backup cannot be opened").detail(e))?;
        let (_, problems) =
            backup
                .check(crate::model::QuotaPolicy::default(), self.now(), &mut |_| Ok(Vec::new()))?;
        if let Some(problem) = problems.iter().find(|p| p.code != "journal_pending") {
            return Err(invalid_backup(&format!(
                "goal.db of the backup is damaged: {}",
                problem.message
            )));
        }
        if !path.exists() {
            return Ok(RestorePlan { state: "missing", ..RestorePlan::default() });
        }
        match SqliteStore::open_read_only(path, uid, self.sqlite()) {
            Ok(current) => {
                let last = match current.last_commit() {
                    Ok(last) => last,
                    Err(error) if is_damage(&error) => return Ok(RestorePlan::unreadable()),
                    Err(error) => return Err(error),
                };
                let common = current.common_commit(&backup)?;
                Ok(RestorePlan {
                    state: "readable",
                    current_commit: Some(last),
                    losing: Some(last.saturating_sub(common)),
                })
            }
            Err(error) if is_damage(&error) => Ok(RestorePlan::unreadable()),
            // Busy, denied, or written by a newer release: no reason to replace it.
            Err(error) => Err(error),
        }
    }

    fn restored(
        &self,
        id: &GoalId,
        manifest: &Manifest,
        plan: &RestorePlan,
        preview: bool,
    ) -> Value {
        let lost = plan.losing.filter(|n| *n > 0);
        let agree = lost.map(|n| format!(" --losing-commits {n}")).unwrap_or_default();
        let next = match preview {
            true => format!("loopx store restore --goal-id {id} --from <folder>{agree} --execute"),
            false => format!("loopx store check --goal-id {id}"),
        };
        json!({
            "ok": true,
            "goal_id": id,
            "dry_run": preview,
            "restored": !preview,
            "backup_commit": manifest.commit,
            "backup_at": manifest.at,
            "store": plan.state,
            "store_commit": plan.current_commit,
            "losing_commits": plan.losing,
            "next_command": next,
        })
    }

    /// Takes away history that no decision needs and that is older than the kept days,
    /// or says what that would be. Days are counted back from the newest commit, or from
    /// now when that is earlier, so that a clock that runs ahead ages nothing.
    pub fn store_prune(
        &self,
        at: &Addressed,
        request: &StorePruneRequest,
        progress: Progress<'_>,
    ) -> Result<Value> {
        if request.keep_days == 0 {
            return Err(Error::new(ErrorCode::RequestInvalid, "keep_days")
                .message("at least one day of history stays")
                .next("loopx store prune --keep-days 90"));
        }
        let goal = self.goal(at.goal_id.as_deref())?;
        let uid = imported(&goal)?;
        let id = goal.policy.goal_id.clone();
        let now = self.now();
        if !request.execute {
            let store = SqliteStore::open_read_only(&goal.store_path(&uid), &uid, self.sqlite())?;
            let limits = limits(&goal, &store, now, request.keep_days)?;
            let gone = store.prunable(&limits)?;
            return Ok(json!({
                "ok": true,
                "goal_id": id,
                "dry_run": true,
                "before": limits.before,
                "spends_before": limits.spends_before,
                "prune": gone,
                "store_bytes": store.bytes()?,
                "next_command": format!(
                    "loopx store prune --goal-id {id} --keep-days {} --execute",
                    request.keep_days
                ),
            }));
        }
        let call = Call::new("store.prune", at, request)?;
        let effect_id = call.effect()?;
        let mut open = self.open_to_write(goal)?;
        let Open { goal, store, .. } = &mut open;
        progress(Step { what: "prune", done: 0, of: 2 });
        let bytes_before = store.store()?.bytes()?;
        let (answer, turn) = {
            let mut tx = store.store()?.begin("store.prune")?;
            recover(goal, tx.as_mut())?;
            if let Some(done) = tx.commit_of(&effect_id)? {
                return replay(&done, &call.digest, &effect_id);
            }
            let limits = limits(goal, tx.as_ref(), now, request.keep_days)?;
            let gone = tx.prune(&limits)?;
            let n = tx.last_commit()? + 1;
            let nothing = gone.is_empty() && at.effect_id.is_none();
            let answer = Map::from_iter([
                ("dry_run".to_owned(), json!(false)),
                ("before".to_owned(), json!(limits.before)),
                ("spends_before".to_owned(), json!(limits.spends_before)),
                ("prune".to_owned(), json!(gone)),
            ]);
            let answer =
                receipt(id.as_str(), if nothing { n.saturating_sub(1) } else { n }, now, answer);
            if nothing {
                return Ok(answer);
            }
            tx.record(&self.record(&call, &effect_id, n, None, now, &answer))?;
            (answer, tx.commit()?)
        };
        progress(Step { what: "prune", done: 1, of: 2 });
        let compacted = store.store()?.compact();
        let bytes_after = store.store()?.bytes()?;
        drop(turn);
        progress(Step { what: "prune", done: 2, of: 2 });
        let mut answer = answer;
        if let Some(map) = answer.as_object_mut() {
            map.insert("store_bytes_before".into(), json!(bytes_before));
            map.insert("store_bytes".into(), json!(bytes_after));
            if let Err(error) = compacted {
                // What was pruned is gone; the file only keeps its free pages.
                map.insert("compaction".into(), error.to_json());
            }
        }
        Ok(answer)
    }

    /// Says what an import of the earlier tool's goals would do, or imports them.
    pub fn migrate(
        &self,
        at: &Addressed,
        request: &MigrateRequest,
        progress: Progress<'_>,
    ) -> Result<Value> {
        let mut rows = Vec::new();
        let mut failed = None;
        for (name, goal) in self.chosen(at, request.all)? {
            let done = goal.and_then(|goal| match request.execute {
                true => self.import_now(goal, progress),
                false => self.import_plan(&goal),
            });
            match done {
                Ok(row) => rows.push(row),
                Err(error) if request.all => {
                    let mut row = error.to_json();
                    if let Some(map) = row.as_object_mut() {
                        map.insert("goal_id".into(), json!(name));
                    }
                    rows.push(row);
                    failed = failed.or(Some(error));
                }
                Err(error) => return Err(error),
            }
        }
        let refused = |row: &&Value| row.get("ok") == Some(&Value::Bool(false));
        if let (None, Some(row)) = (&failed, rows.iter().find(refused)) {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
            failed = Some(
                Error::new(ErrorCode::GoalNotImported, text("about"))
                    .message(text("error"))
                    .next(text("next_command")),
            );
        }
        let mut answer = with_first_failure(json!({"dry_run": !request.execute}), rows, failed);
        let todo = rows_to_do(&answer);
        if let (false, Some(goal), Some(map)) = (request.execute, todo, answer.as_object_mut())
            && !map.contains_key("next_command")
        {
            map.insert(
                "next_command".into(),
                json!(format!("loopx migrate --goal-id {goal} --execute")),
            );
        }
        Ok(answer)
    }

    fn import_now(&self, goal: Goal, progress: Progress<'_>) -> Result<Value> {
        let id = goal.policy.goal_id.clone();
        let had_store = goal.has_store;
        let (goal, uid) = self.with_store_shown(goal, progress)?;
        let store = SqliteStore::open_read_only(&goal.store_path(&uid), &uid, self.sqlite())?;
        let first = store.commits(0, 1)?.into_iter().next();
        let mut row = json!({"ok": true, "goal_id": id, "goal_uid": uid, "changed": !had_store});
        if let (Some(map), Some(Value::Object(receipt))) =
            (row.as_object_mut(), first.map(|c| c.receipt).filter(|_| !had_store))
        {
            for key in ["commit", "todos", "spends", "outcomes", "findings"] {
                if let Some(value) = receipt.get(key) {
                    map.insert(key.to_owned(), value.clone());
                }
            }
        }
        Ok(row)
    }

    fn import_plan(&self, goal: &Goal) -> Result<Value> {
        let id = &goal.policy.goal_id;
        if goal.has_store {
            return Ok(json!({"ok": true, "goal_id": id, "imported": true, "changed": false}));
        }
        let project = import::read(goal)?;
        let now = self.now();
        let start = crate::quota::window_start(&goal.policy.quota, now);
        let window = |inside: bool| {
            let spends = project.ledger.spends.iter().filter(|s| (s.at >= start) == inside);
            spends.fold((0_u64, 0_u64), |(n, slots), s| (n + 1, slots.saturating_add(s.live())))
        };
        let (inside, before) = (window(true), window(false));
        let of_class =
            |class: TaskClass| project.todos.iter().filter(move |t| t.task_class == class);
        let line = |t: &Todo| json!({"todo_id": t.todo_id, "text": t.text, "status": t.status});
        let open = |t: &&Todo| t.is_open();
        let mut decisions = Map::new();
        let roster = &goal.policy.roster;
        let askers: Vec<Option<String>> = match roster.is_empty() {
            true => vec![None],
            false => roster.iter().map(|a| Some(a.to_string())).collect(),
        };
        for agent in askers {
            let request = ShouldRunRequest { agent_id: agent.clone(), ..Default::default() };
            let (decision, _) = self.decide_now(&Addressed::to(id.as_str()), &request);
            decisions.insert(
                agent.unwrap_or_else(|| "-".to_owned()),
                json!({
                    "rule": decision.rule,
                    "should_run": decision.verdict.run,
                    "decision": decision.verdict.decision,
                    "todo_id": decision.verdict.selected,
                }),
            );
        }
        let mut row = json!({
            "ok": project.health.is_empty(),
            "goal_id": id,
            "imported": false,
            "changed": project.health.is_empty(),
            "todos": project.todos.len(),
            "todos_by_class": by_class(&project.todos),
            "open_gates": of_class(TaskClass::UserGate).filter(open).map(line).collect::<Vec<_>>(),
            "monitors": of_class(TaskClass::Monitor).filter(open).map(line).collect::<Vec<_>>(),
            "spends_in_window": {"spends": inside.0, "slots": inside.1},
            "spends_before": {"spends": before.0, "slots": before.1},
            "outcomes": project.ledger.outcomes.len(),
            "turns": project.ledger.turns.len(),
            "findings": project.findings,
            "health": project.health,
            "decisions": decisions,
        });
        if let (Some(problem), Some(map)) = (project.health.first(), row.as_object_mut()) {
            map.insert("error_code".into(), json!(problem.code));
            map.insert("error".into(), json!(problem.message));
            map.insert("about".into(), json!(problem.about));
            map.insert("next_command".into(), json!(problem.next_command));
        }
        Ok(row)
    }
}

/// What a restore would do to the store that is there.
#[derive(Clone, Debug, Default)]
struct RestorePlan {
    state: &'static str,
    current_commit: Option<u64>,
    losing: Option<u64>,
}

impl RestorePlan {
    fn unreadable() -> Self {
        Self { state: "unreadable", current_commit: None, losing: None }
    }
}

fn is_damage(error: &Error) -> bool {
    matches!(error.code, ErrorCode::StoreUnreadable | ErrorCode::StoreForeign)
}

fn imported(goal: &Goal) -> Result<GoalUid> {
    let id = &goal.policy.goal_id;
    goal.policy.goal_uid.clone().filter(|_| goal.has_store).ok_or_else(|| {
        Error::new(ErrorCode::GoalNotImported, id.as_str())
            .message(format!("goal {id} is still in the earlier tool's files"))
            .next(format!("loopx migrate --goal-id {id} --execute"))
    })
}

/// An answer over several goals: not ok when one failed, and then a refusal like any.
fn with_first_failure(answer: Value, rows: Vec<Value>, failed: Option<Error>) -> Value {
    let mut all = match &failed {
        None => json!({"ok": true}),
        Some(error) => error.to_json(),
    };
    if let (Some(map), Value::Object(rest)) = (all.as_object_mut(), answer) {
        map.extend(rest);
        map.insert("goals".into(), json!(rows));
    }
    all
}

/// The first goal that an import would change.
fn rows_to_do(answer: &Value) -> Option<String> {
    let rows = answer.get("goals")?.as_array()?;
    let row = rows.iter().find(|row| row.get("changed") == Some(&Value::Bool(true)))?;
    row.get("goal_id")?.as_str().map(str::to_owned)
}

fn by_class(todos: &[Todo]) -> Value {
    let mut counts: std::collections::BTreeMap<&str, std::collections::BTreeMap<&str, u64>> =
        std::collections::BTreeMap::new();
    for todo in todos {
        *counts
            .entry(todo.task_class.as_str())
            .or_default()
            .entry(todo.status.as_str())
            .or_default() += 1;
    }
    json!(counts)
}

fn limits(goal: &Goal, read: &dyn Read, now: Instant, days: u32) -> Result<PruneLimits> {
    let newest = read.commits_before(None, 1)?.first().map_or(now, |c| c.at);
    let kept = i64::from(days).saturating_mul(24).saturating_mul(MICROS_PER_HOUR);
    let before = newest.min(now).plus_micros(-kept);
    let window = i64::from(goal.policy.quota.window_hours).saturating_mul(MICROS_PER_HOUR);
    Ok(PruneLimits { before, spends_before: before.plus_micros(-window) })
}

/// The base beside the store against a projection of the store.
fn check_surface(goal: &Goal, uid: &GoalUid, read: &dyn Read) -> Result<Vec<Finding>> {
    if goal.state_path().is_none() {
        return Ok(Vec::new());
    }
    let mut found = None;
    // A writer that has just committed may not have written its projection yet.
    for _ in 0..3 {
        found = match read_bounded(&goal.base_path(uid), MAX_STATE_FILE, "projection.base") {
            Ok(None) => Some(Finding::new(
                "projection_base_missing",
                "projection.base",
                "what was last written to the state file is not kept",
            )),
            Ok(Some(bytes)) => match Document::parse(&bytes) {
                Ok(base) => differs(read, &base, &bytes)?,
                Err(error) => {
                    Some(Finding::new("projection_base_differs", "projection.base", error.text()))
                }
            },
            Err(error) => Some(super::snapshot::health_of(&error)),
        };
        if found.is_none() {
            break;
        }
        std::thread::sleep(SETTLE);
    }
    let mut findings: Vec<Finding> = found.into_iter().collect();
    let looked = surface::look(goal, uid, read).and_then(|surface| match surface {
        surface::Surface::Edited { bytes, .. } => Document::parse(&bytes).map(drop),
        _ => Ok(()),
    });
    if let Err(error) = looked {
        findings.push(super::snapshot::health_of(&error));
    }
    Ok(findings)
}

fn differs(read: &dyn Read, base: &Document, bytes: &[u8]) -> Result<Option<Finding>> {
    let drawn = surface::project(read, base, false, Instant::default())?;
    // An imported file stays as the earlier tool wrote it until a todo changes; its
    // todos are compared then, not its bytes.
    let again = Document::parse(&drawn)?;
    let todos = |document: &Document| -> Vec<Todo> {
        document.todos().iter().map(|p| p.todo.clone()).collect()
    };
    if drawn == bytes || todos(&again) == todos(base) {
        return Ok(None);
    }
    Ok(Some(Finding::new(
        "projection_base_differs",
        "projection.base",
        "the last projection is not what the store would write",
    )))
}

/// The command that helps with a problem of that code, where one does.
fn next_of(code: &str, goal: &str) -> Option<String> {
    Some(match code {
        "store_damaged" | "store_unreadable" | "record_unreadable" | "commit_gap" => {
            format!("loopx store restore --goal-id {goal} --from <backup folder>")
        }
        "journal_pending"
        | "projection_base_missing"
        | "projection_base_differs"
        | "displaced_edits" => {
            format!("any write mends it, for example: loopx refresh-state --goal-id {goal}")
        }
        "leftover_file" => "it may be moved away once no loopx process runs".to_owned(),
        _ => return None,
    })
}

/// Files that a killed process has left.
fn leftovers(goal: &Goal, uid: &GoalUid) -> Vec<Finding> {
    let mut folders = vec![("store folder", goal.folder(uid))];
    if let Some(folder) = goal.registry.path().parent() {
        folders.push(("registry folder", folder.to_path_buf()));
    }
    if let Some(folder) = goal.state_path().as_deref().and_then(Path::parent) {
        folders.push(("folder of the state file", folder.to_path_buf()));
    }
    let names = || -> Vec<(String, &'static str)> {
        let mut names = Vec::new();
        for (role, folder) in &folders {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let draft = name.starts_with(".goal.db.") && name.ends_with(".new");
                let staged = name.starts_with(".loopx-") && name.ends_with(".tmp");
                let displaced = name == "displaced.md" && *role == "store folder";
                if draft || staged || displaced {
                    names.push((name, *role));
                }
            }
        }
        names.sort();
        names.dedup();
        names
    };
    let first = names();
    if first.is_empty() {
        return Vec::new();
    }
    // What a running writer owns is gone a moment later.
    std::thread::sleep(SETTLE);
    let still = names();
    first
        .into_iter()
        .filter(|name| still.contains(name))
        .map(|(name, role)| match name.as_str() {
            "displaced.md" => Finding::new(
                "displaced_edits",
                "displaced.md",
                "edits that a projection displaced are yet to be taken in",
            ),
            _ => Finding::new(
                "leftover_file",
                name,
                format!("a process that was killed has left this file in the {role}"),
            ),
        })
        .collect()
}

/// A backup that is being written: a folder that is gone unless it was renamed.
struct Stage {
    path: PathBuf,
    done: bool,
}

impl Stage {
    fn new(dir: &Path) -> Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let path = dir.join(format!(".loopx-{}.tmp", random_hex()?));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|e| Error::from_io(&e, "backup folder", dir))?;
        Ok(Self { path, done: false })
    }

    fn rename_to(mut self, place: &Path, id: &GoalId) -> Result<()> {
        let sync = |folder: &Path| {
            File::open(folder)
                .and_then(|f| f.sync_all())
                .map_err(|e| Error::from_io(&e, "backup folder", folder))
        };
        sync(&self.path)?;
        rustix::fs::renameat_with(
            rustix::fs::CWD,
            &self.path,
            rustix::fs::CWD,
            place,
            rustix::fs::RenameFlags::NOREPLACE,
        )
        .or_else(|errno| match errno {
            // A folder that is not empty is never replaced by a rename.
            rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS => {
                fs::rename(&self.path, place).map_err(|_| rustix::io::Errno::EXIST)
            }
            other => Err(other),
        })
        .map_err(|errno| match errno {
            rustix::io::Errno::EXIST | rustix::io::Errno::NOTEMPTY => {
                Error::new(ErrorCode::BackupExists, id.as_str()).detail(place.display())
            }
            other => Error::from_io(&other.into(), "backup folder", place),
        })?;
        self.done = true;
        sync(place.parent().unwrap_or_else(|| Path::new(".")))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.done {
            // Only this process knows the name.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write as _;
    let written = File::create_new(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|e| Error::from_io(&e, "backup", path))
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let copied = File::open(from).and_then(|mut source| {
        let mut target = File::create_new(to)?;
        std::io::copy(&mut source, &mut target)?;
        target.sync_all()
    });
    copied.map_err(|e| Error::from_io(&e, "store", to))
}

fn list(folder: &Path, name: &str) -> Result<Listed> {
    list_as(&folder.join(name), name)
}

fn list_as(path: &Path, name: &str) -> Result<Listed> {
    let (bytes, sha256) = File::open(path)
        .and_then(|mut file| sha256_of(&mut file))
        .map_err(|e| Error::from_io(&e, name, path))?;
    Ok(Listed { name: name.to_owned(), bytes, sha256 })
}

fn invalid_backup(why: &str) -> Error {
    Error::new(ErrorCode::BackupInvalid, "backup").message(why)
}

/// The backup of `goal` in `from`, or in the folder of the goal's name there.
fn find_backup(from: &Path, goal: &GoalId) -> Result<(PathBuf, Manifest)> {
    for folder in [from.join(goal.as_str()), from.to_path_buf()] {
        let path = folder.join("manifest.json");
        let found = match read_bounded(&path, MAX_MANIFEST, "manifest.json") {
            Ok(found) => found,
            Err(error) if error.code == ErrorCode::IoFailed && !folder.is_dir() => None,
            Err(error) => return Err(error),
        };
        let Some(bytes) = found else { continue };
        let manifest: Manifest = serde_json::from_slice(&bytes)
            .map_err(|e| invalid_backup("manifest.json of the backup cannot be read").detail(e))?;
        if manifest.format != FORMAT {
            return Err(invalid_backup("manifest.json is of another format"));
        }
        return Ok((folder, manifest));
    }
    Err(invalid_backup("there is no manifest.json in the folder"))
}

/// Every file that the manifest lists is there and as it was written.
fn verify(folder: &Path, manifest: &Manifest) -> Result<()> {
    if !manifest.files.iter().any(|f| f.name == "goal.db") {
        return Err(invalid_backup("the backup lists no goal.db"));
    }
    for file in &manifest.files {
        if file.name.contains(['/', '\\']) || file.name.starts_with('.') {
            return Err(invalid_backup("the backup lists a file outside of its folder"));
        }
        let same = list(folder, &file.name).is_ok_and(|now| now == *file);
        if !same {
            return Err(invalid_backup(&format!(
                "{} of the backup is missing or not as it was written",
                file.name
            )));
        }
    }
    Ok(())
}

/// A name for the replaced store that nothing has.
fn kept_name(folder: &Path, now: Instant) -> Result<String> {
    let stamp: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    for n in 1..1_000_u32 {
        let name = match n {
            1 => format!("goal.db.before-restore-{stamp}"),
            n => format!("goal.db.before-restore-{stamp}-{n}"),
        };
        if fs::symlink_metadata(folder.join(&name)).is_err() {
            return Ok(name);
        }
    }
    Err(Error::new(ErrorCode::IoFailed, "store folder")
        .message("no free name is left for the replaced store"))
}
