//! `store.backup`: a consistent copy of a goal in a folder of its own, and what is in it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::Kernel;
use super::super::goal::Goal;
use super::super::import::random_hex;
use super::super::snapshot::MAX_STATE_FILE;
use super::{Progress, Step, imported, with_first_failure};
use crate::error::{Error, ErrorCode, Result};
use crate::file::{FileLock, read_bounded, sha256_of};
use crate::model::{GoalId, GoalUid, Instant};
use crate::operation::Addressed;
use crate::store::{Read, SqliteStore};

/// Names the layout of a backup; the number grows with it.
pub(super) const FORMAT: &str = "loopx_store_backup_v1";

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

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// What a backup says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) goal_id: GoalId,
    pub(super) goal_uid: GoalUid,
    pub(super) commit: u64,
    pub(super) at: Instant,
    pub(super) files: Vec<Listed>,
}

impl Kernel {
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

pub(super) fn list(folder: &Path, name: &str) -> Result<Listed> {
    list_as(&folder.join(name), name)
}

pub(super) fn list_as(path: &Path, name: &str) -> Result<Listed> {
    let (bytes, sha256) = File::open(path)
        .and_then(|mut file| sha256_of(&mut file))
        .map_err(|e| Error::from_io(&e, name, path))?;
    Ok(Listed { name: name.to_owned(), bytes, sha256 })
}
