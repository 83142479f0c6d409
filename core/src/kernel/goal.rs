//! Finding a goal: the registry entry, its policy, and where its records lie.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::Kernel;
use crate::error::{Error, ErrorCode, Result};
use crate::file::Stamp;
use crate::model::{GoalId, GoalPolicy, GoalUid};
use crate::registry::document::entry_id;
use crate::registry::{Registry, follow, place, policy};

/// A goal that was found.
#[derive(Debug)]
pub(super) struct Goal {
    /// Policy.
    pub policy: GoalPolicy,
    /// The registry that owns it (global entries are followed).
    pub registry: Registry,
    /// Its entry in that registry.
    pub index: usize,
    /// The id as the registry writes it; the earlier tool's paths use it.
    pub raw_id: String,
    /// Runtime root.
    pub runtime_root: PathBuf,
    /// This tool has a store for it.
    pub has_store: bool,
}

impl Goal {
    /// The registry entry.
    pub fn entry(&self) -> Result<&Value> {
        self.registry
            .entry(self.index)
            .ok_or_else(|| Error::new(ErrorCode::GoalUnknown, self.raw_id.as_str()))
    }

    /// Whether nothing but the bytes of the registry says what it is: it is not found by
    /// way of another registry, nor its store by looking.
    fn is_of_registry_alone(&self) -> bool {
        self.registry.entry(self.index).is_some_and(|entry| {
            entry.get("store").is_some_and(Value::is_object)
                && entry.get("source_registry").is_none_or(Value::is_null)
        })
    }

    /// The folder of the goal's store.
    pub fn folder(&self, uid: &GoalUid) -> PathBuf {
        self.runtime_root.join("goals").join(uid.as_str())
    }

    /// The store's file.
    pub fn store_path(&self, uid: &GoalUid) -> PathBuf {
        self.folder(uid).join("goal.db")
    }

    /// The bytes of the state file as they were last written.
    pub fn base_path(&self, uid: &GoalUid) -> PathBuf {
        self.folder(uid).join("projection.base")
    }

    /// The folder of the earlier tool's ledger.
    pub fn legacy_folder(&self) -> PathBuf {
        self.runtime_root.join("goals").join(&self.raw_id)
    }

    /// The state file, when one is declared: relative to the goal's `repo`, which is
    /// relative to the project. None where [`Goal::require_state_path`] refuses it.
    pub fn state_path(&self) -> Option<PathBuf> {
        let declared = self.policy.state_file.as_deref().filter(|path| !leads_out(path))?;
        let project = place::project_root(self.registry.path());
        let repo = match self.policy.repo.as_deref() {
            Some(repo) => project.join(repo),
            None => project.to_path_buf(),
        };
        Some(repo.join(declared))
    }

    /// [`Goal::state_path`], for whoever reads or writes it. Neither tool declares a state file
    /// by a way out of the goal's folder; a cloned registry could, and would have a file of the
    /// user's written over.
    pub fn require_state_path(&self) -> Result<Option<PathBuf>> {
        match self.policy.state_file.as_deref() {
            Some(declared) if leads_out(declared) => Err(strayed()),
            _ => Ok(self.state_path()),
        }
    }
}

/// Whether a path has more `..` than folders before them.
pub(super) fn leads_out(path: &str) -> bool {
    let path = Path::new(path);
    let mut depth = 0_i64;
    path.is_relative()
        && path.components().any(|component| {
            match component {
                Component::ParentDir => depth -= 1,
                Component::Normal(_) => depth += 1,
                _ => {}
            }
            depth < 0
        })
}

fn strayed() -> Error {
    Error::new(ErrorCode::StateFileUnreadable, "state file")
        .message("the state file is declared by a path that leads out of the goal's folder")
        .next("declare it inside of the folder, or by its whole path if that is meant")
}

/// Goals that a long-lived kernel has found, each with the name that it was asked by and the
/// stamp of the registry that it is in.
#[derive(Debug, Default)]
pub(super) struct Found(Mutex<Vec<FoundGoal>>);

/// A name, the registry's stamp, and the goal.
type FoundGoal = (Option<String>, Stamp, Arc<Goal>);

impl Found {
    /// Most goals that are kept.
    const KEPT: usize = 8;

    /// The goal of that name while the registry has the stamp that it had, else what `find` finds.
    fn or_find(
        &self,
        name: Option<&str>,
        registry: &Path,
        find: impl FnOnce() -> Result<Goal>,
    ) -> Result<Arc<Goal>> {
        // Taken before the registry is read, so that what is written meanwhile changes it; and
        // whether it is settled is asked then, too: afterwards the tick may be over in which
        // somebody wrote.
        let stamp = Stamp::of(registry);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _, _)| known.as_deref() == name);
        if let Some((_, of, goal)) = at.and_then(|at| kept.get(at))
            && stamp.as_ref() == Some(of)
        {
            return Ok(Arc::clone(goal));
        }
        if let Some(at) = at {
            kept.swap_remove(at);
        }
        let stamp = stamp.filter(|stamp| stamp.is_settled(registry));
        let goal = Arc::new(find()?);
        if let Some(stamp) = stamp
            && kept.len() < Self::KEPT
            && goal.is_of_registry_alone()
        {
            kept.push((name.map(str::to_owned), stamp, Arc::clone(&goal)));
        }
        Ok(goal)
    }

    /// Whether `goal` is kept and its registry has not been written since it was read.
    fn is_as_found(&self, goal: &Arc<Goal>) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().any(|(_, stamp, known)| {
            Arc::ptr_eq(known, goal) && Stamp::of(goal.registry.path()).as_ref() == Some(stamp)
        })
    }
}

impl Kernel {
    /// [`Kernel::goal`] for a question that a host asks again and again.
    pub(super) fn goal_again(&self, name: Option<&str>) -> Result<Arc<Goal>> {
        self.found.or_find(name, &self.route.registry, || self.goal(name))
    }

    /// The goal as its registry has it now: behind the registry's lock, where it was found
    /// before that.
    pub(super) fn goal_in_force(&self, found: Arc<Goal>) -> Result<Arc<Goal>> {
        if self.found.is_as_found(&found) {
            return Ok(found);
        }
        let current = Registry::read(found.registry.path())?;
        match current.witness() == found.registry.witness() {
            true => Ok(found),
            false => self.goal_in(current, &found.policy.goal_id).map(Arc::new),
        }
    }

    /// The goal of that name, or the registry's only one.
    pub(super) fn goal(&self, name: Option<&str>) -> Result<Goal> {
        let registry = self.registry()?;
        let id = match name {
            Some(text) => GoalId::parse(text)?,
            None => registry.only_goal()?,
        };
        self.goal_in(registry, &id)
    }

    /// The goal in a registry already read.
    pub(super) fn goal_in(&self, registry: Registry, id: &GoalId) -> Result<Goal> {
        let found = follow(registry, id)?;
        let runtime_root = self.options.route.runtime_root(&found.registry)?;
        let entry = found
            .registry
            .entry(found.index)
            .ok_or_else(|| Error::new(ErrorCode::GoalUnknown, id.as_str()))?;
        let policy = policy(entry)?;
        let raw_id = entry_id(entry).unwrap_or_default().to_owned();
        let marked = entry.get("store").is_some_and(Value::is_object);
        // A store whose mark was lost with a field of the registry is still the goal's store:
        // a second import beside it would forget what was spent.
        let has_store = policy.goal_uid.as_ref().is_some_and(|uid| {
            marked || runtime_root.join("goals").join(uid.as_str()).join("goal.db").exists()
        });
        if raw_id.is_empty()
            || Path::new(&raw_id).components().count() != 1
            || raw_id == ".."
            || raw_id == "."
        {
            return Err(Error::new(ErrorCode::RegistryShape, "goal id")
                .message("a goal id of the registry is not one path segment"));
        }
        Ok(Goal {
            policy,
            registry: found.registry,
            index: found.index,
            raw_id,
            runtime_root,
            has_store,
        })
    }
}
