//! `store.restore`: a backup in the place of a goal's store, and what that loses.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::goal::Goal;
use super::super::import::random_hex;
use super::super::snapshot::MAX_STATE_FILE;
use super::super::{Kernel, receipt};
use super::backup::{FORMAT, Manifest, list, list_as};
use super::imported;
use crate::error::{Error, ErrorCode, Result};
use crate::file::{Durability, read_bounded, refuse_network, replace, sha256_hex};
use crate::model::{CommitRecord, EffectId, GoalId, GoalUid, Instant};
use crate::operation::Addressed;
use crate::store::sqlite::maintain;
use crate::store::{Read, SqliteStore, Transaction};

/// Largest manifest that is read.
const MAX_MANIFEST: u64 = 1024 * 1024;

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

impl Kernel {
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

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let copied = File::open(from).and_then(|mut source| {
        let mut target = File::create_new(to)?;
        std::io::copy(&mut source, &mut target)?;
        target.sync_all()
    });
    copied.map_err(|e| Error::from_io(&e, "store", to))
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
