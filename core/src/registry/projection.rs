//! Projecting a project's goals into the global registry, under the global file's own
//! lock. How entries merge is `merge`; when to project is the command's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::change::{Witnesses, begin_change_as};
use super::document::{Registry, is_goal};
use super::merge::{Action, Incoming, carry_projects, goal_of, merge, transform};
use super::place;
use crate::error::{Error, ErrorCode, Result};
use crate::file::{self, Durability, HolderNote, read_bounded};
use crate::model::{GoalId, Instant};

/// What errors call the global file.
pub const GLOBAL_ROLE: &str = "global registry";

/// The largest global registry that is backed up.
const MAX_BACKUP: u64 = 64 * 1024 * 1024;

/// A projection to be made. The caller holds the source registry's lock, which comes
/// before the global one.
#[derive(Clone, Copy, Debug)]
pub struct Projection<'a> {
    /// The project's registry.
    pub source: &'a Registry,
    /// The goals to project; `None` for all.
    pub goals: Option<&'a [GoalId]>,
    /// The global registry's file.
    pub global: &'a Path,
    /// Whether a goal of another project with the same id is replaced, after a backup.
    pub replace_state: bool,
    /// Now.
    pub now: Instant,
}

/// What a projection did, or in a preview would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projected {
    /// The source is the global registry itself; there was nothing to do.
    pub skipped: bool,
    /// Whether the global file was written.
    pub wrote: bool,
    /// `<goal id>:added|updated|replaced-route|unchanged`, in source order.
    pub actions: Vec<String>,
    /// The goals that were projected.
    pub goals: Vec<GoalId>,
    /// Goal entries of the source.
    pub source_goal_count: usize,
    /// Goal entries of the global registry afterwards.
    pub global_goal_count: usize,
    /// Local path of the backup that a replaced route left.
    pub backup: Option<PathBuf>,
    /// Witnesses of the global file.
    pub witnesses: Witnesses,
}

impl Projection<'_> {
    /// Projects, and syncs the global file.
    ///
    /// Errors: [`ErrorCode::RouteCollision`]; [`ErrorCode::GlobalRegistryDenied`] when
    /// the global file may not be written; the source is not touched by either.
    pub fn run(&self, holder: &HolderNote, deadline: Duration) -> Result<Projected> {
        if let Some(skipped) = self.onto_itself() {
            return Ok(skipped);
        }
        self.run_locked(holder, deadline).map_err(denied)
    }

    /// What [`Projection::run`] would do, writing nothing.
    pub fn preview(&self) -> Result<Projected> {
        if let Some(skipped) = self.onto_itself() {
            return Ok(skipped);
        }
        let mut global = Registry::read_as(self.global, GLOBAL_ROLE)?;
        let before = global.witness().to_owned();
        let actions = self.apply(&mut global)?;
        let witnesses = Witnesses { before: before.clone(), after: before };
        Ok(self.answer(&actions, global.goals().len(), None, witnesses))
    }

    /// Whether [`Projection::run`] could write: tried out in the folder, of which nothing
    /// is left. What is made together with a projection asks before it writes anything,
    /// so that no goal is half connected.
    pub fn probe(&self) -> Result<()> {
        if self.onto_itself().is_some() {
            return Ok(());
        }
        let target = file::resolve_target(self.global)?;
        let folder = place::folder(&target);
        let mut made: Vec<&Path> = Vec::new();
        let tried = folder
            .ancestors()
            .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .try_for_each(|above| std::fs::create_dir(above).map(|()| made.push(above)))
            .and_then(|()| file::replace::try_folder(&target));
        for folder in made.iter().rev() {
            // Another process may use it by now, and then it stays.
            let _ = std::fs::remove_dir(folder);
        }
        tried.map_err(|error| {
            let mut typed = Error::from_io(&error, GLOBAL_ROLE, folder);
            if typed.code != ErrorCode::DiskFull {
                typed.code = ErrorCode::GlobalRegistryDenied;
            }
            typed
        })
    }

    fn run_locked(&self, holder: &HolderNote, deadline: Duration) -> Result<Projected> {
        let mut change = begin_change_as(self.global, GLOBAL_ROLE, holder, deadline)?;
        let actions = self.apply(change.registry_mut())?;
        let replaced = actions.iter().any(|(_, action)| *action == Action::ReplacedRoute);
        let backup = if replaced { self.back_up()? } else { None };
        let witnesses = change.commit()?;
        Ok(self.answer(&actions, change.registry().goals().len(), backup, witnesses))
    }

    fn apply(&self, global: &mut Registry) -> Result<Vec<(GoalId, Action)>> {
        let source_path = place::absolute(self.source.path());
        let source_text = source_path.to_string_lossy().into_owned();
        let incoming = self.incoming(&source_text)?;
        let entries: Vec<Value> =
            incoming.iter().map(|goal| Value::Object(goal.entry.clone())).collect();
        if !global.exists() {
            // Before the goals, so that a person who opens a new file sees it on top.
            self.head(global);
        }
        let actions = merge(global.goals_mut()?, incoming, self.replace_state)?;
        carry_projects(global.root_mut(), self.source.root(), &entries, &source_text)?;
        if actions.iter().any(|(_, action)| *action != Action::Unchanged) {
            self.head(global);
        }
        Ok(actions)
    }

    fn head(&self, global: &mut Registry) {
        let schema = self.source.root().get("schema_version").cloned();
        let folder = place::folder(&place::absolute(self.global)).to_path_buf();
        let root = global.root_mut();
        root.entry("schema_version").or_insert_with(|| schema.unwrap_or_else(|| json!("0.1")));
        root.insert("updated_at".into(), json!(self.now));
        root.insert("common_runtime_root".into(), json!(folder.to_string_lossy()));
        root.insert("registry_role".into(), json!("global-local"));
    }

    fn incoming(&self, source_text: &str) -> Result<Vec<Incoming>> {
        let global_form = |goal: GoalId, entry: &Value| {
            entry
                .as_object()
                .map(|entry| Incoming { goal, entry: transform(entry, source_text, self.now) })
        };
        match self.goals {
            Some(goals) => {
                let mut incoming: Vec<Incoming> = Vec::new();
                for goal in goals {
                    let index = self.source.locate(goal)?;
                    let entry = self.source.entry(index);
                    incoming.extend(entry.and_then(|entry| global_form(goal.clone(), entry)));
                }
                Ok(incoming)
            }
            None => {
                let mut incoming: Vec<Incoming> = Vec::new();
                for entry in self.source.goals() {
                    let Some(goal) = goal_of(entry) else { continue };
                    let goal = goal?;
                    if incoming.iter().any(|other| is_goal(entry, &other.goal)) {
                        // Says that the id stands twice.
                        self.source.locate(&goal)?;
                    }
                    incoming.extend(global_form(goal, entry));
                }
                Ok(incoming)
            }
        }
    }

    fn onto_itself(&self) -> Option<Projected> {
        let same = place::identity(self.source.path()) == place::identity(self.global);
        same.then(|| {
            let witness = self.source.witness().to_owned();
            let witnesses = Witnesses { before: witness.clone(), after: witness };
            let count = self.source.goals().len();
            Projected { skipped: true, ..self.answer(&[], count, None, witnesses) }
        })
    }

    fn answer(
        &self,
        actions: &[(GoalId, Action)],
        global_goal_count: usize,
        backup: Option<PathBuf>,
        witnesses: Witnesses,
    ) -> Projected {
        Projected {
            skipped: false,
            wrote: witnesses.differ(),
            actions: actions
                .iter()
                .map(|(goal, action)| format!("{goal}:{}", action.as_str()))
                .collect(),
            goals: actions.iter().map(|(goal, _)| goal.clone()).collect(),
            source_goal_count: self.source.goals().len(),
            global_goal_count,
            backup,
            witnesses,
        }
    }

    /// Copies the global file beside itself before another project's route is replaced.
    fn back_up(&self) -> Result<Option<PathBuf>> {
        let target = file::resolve_target(self.global)?;
        let Some(bytes) = read_bounded(&target, MAX_BACKUP, GLOBAL_ROLE)? else {
            return Ok(None);
        };
        let stamp: String =
            self.now.to_string().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        for attempt in 0..100 {
            let suffix = if attempt == 0 { String::new() } else { format!("-{attempt}") };
            let backup =
                target.with_file_name(format!("{name}.route-collision-backup-{stamp}{suffix}.bak"));
            if backup.symlink_metadata().is_err() {
                file::replace(&backup, &bytes, Durability::Synced)?;
                return Ok(Some(backup));
            }
        }
        Err(Error::new(ErrorCode::IoFailed, GLOBAL_ROLE)
            .message("the folder of the global registry holds too many backups of this instant"))
    }
}

fn denied(mut error: Error) -> Error {
    if error.code == ErrorCode::WriteDenied {
        error.code = ErrorCode::GlobalRegistryDenied;
        error.about = GLOBAL_ROLE.to_owned();
    }
    error
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use std::fs;

    use super::*;

    const LATE: Duration = Duration::from_secs(20);

    struct Home {
        dir: tempfile::TempDir,
    }

    impl Home {
        fn new() -> Self {
            Self { dir: tempfile::tempdir().unwrap() }
        }

        fn project(&self, name: &str, registry: &Value) -> Registry {
            let folder = self.dir.path().join(name).join(".loopx");
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join("registry.json");
            fs::write(&path, registry.to_string()).unwrap();
            Registry::read(&path).unwrap()
        }

        fn global(&self) -> PathBuf {
            self.dir.path().join("home/.loopx/registry.global.json")
        }

        fn run(&self, source: &Registry, replace_state: bool, at: i64) -> Result<Projected> {
            Projection {
                source,
                goals: None,
                global: &self.global(),
                replace_state,
                now: Instant::from_micros(at),
            }
            .run(&HolderNote::default(), LATE)
        }
    }

    #[test]
    fn added_unchanged_updated_then_refused_then_replaced_with_a_backup() {
        let home = Home::new();
        let source =
            home.project("a", &json!({"goals": [{"id": "G", "repo": "/a"}, {"id": "h"}, 5]}));
        let first = home.run(&source, false, 0).unwrap();
        assert_eq!(first.actions, ["g:added", "h:added"]);
        assert!(first.wrote);
        let global = Registry::read(&home.global()).unwrap();
        assert_eq!(global.root().keys().next_back().unwrap(), "goals");
        let text = fs::read(home.global()).unwrap();
        let again = home.run(&source, false, 1).unwrap();
        assert_eq!(again.actions, ["g:unchanged", "h:unchanged"]);
        assert!(!again.wrote && fs::read(home.global()).unwrap() == text);

        let source = home.project("a", &json!({"goals": [{"id": "G", "repo": "/a", "n": 1}]}));
        assert_eq!(home.run(&source, false, 2).unwrap().actions, ["g:updated"]);
        let global = Registry::read(&home.global()).unwrap();
        let ids: Vec<_> = global.goals().iter().map(|g| g["id"].clone()).collect();
        assert_eq!(ids, ["h", "G"]);
        assert_eq!(global.text("registry_role"), Some("global-local"));

        let other = home.project("b", &json!({"goals": [{"id": "g", "repo": "/b"}]}));
        let before = fs::read(home.global()).unwrap();
        let error = home.run(&other, false, 3).unwrap_err();
        assert_eq!(error.code, ErrorCode::RouteCollision);
        assert_eq!(fs::read(home.global()).unwrap(), before);
        let replaced = home.run(&other, true, 3).unwrap();
        assert_eq!(replaced.actions, ["g:replaced-route"]);
        assert_eq!(fs::read(replaced.backup.unwrap()).unwrap(), before);
    }

    #[test]
    fn one_goal_by_name_and_a_preview_that_writes_nothing() {
        let home = Home::new();
        let source = home.project("a", &json!({"goals": [{"id": "g"}, {"id": "h"}]}));
        let goals = [GoalId::trusted("h")];
        let global = home.global();
        let projection = Projection {
            source: &source,
            goals: Some(&goals),
            global: &global,
            replace_state: false,
            now: Instant::default(),
        };
        assert_eq!(projection.preview().unwrap().actions, ["h:added"]);
        assert!(!global.exists() && !global.parent().unwrap().exists());
        assert_eq!(projection.run(&HolderNote::default(), LATE).unwrap().global_goal_count, 1);
        let unknown = [GoalId::trusted("x")];
        let error = Projection { goals: Some(&unknown), ..projection }.preview().unwrap_err();
        assert_eq!(error.code, ErrorCode::GoalUnknown);
    }

    #[test]
    fn the_global_registry_onto_itself_is_skipped() {
        let home = Home::new();
        let source = home.project("home", &json!({"goals": [{"id": "g"}]}));
        let global = source.path().to_path_buf();
        let projected = Projection {
            source: &source,
            goals: None,
            global: &global,
            replace_state: false,
            now: Instant::default(),
        }
        .run(&HolderNote::default(), LATE)
        .unwrap();
        assert!(projected.skipped && !projected.wrote);
    }

    #[test]
    fn a_damaged_global_registry_is_reported_and_kept() {
        let home = Home::new();
        let source = home.project("a", &json!({"goals": [{"id": "g"}]}));
        fs::create_dir_all(home.global().parent().unwrap()).unwrap();
        fs::write(home.global(), "{").unwrap();
        let error = home.run(&source, true, 0).unwrap_err();
        assert_eq!(
            (error.code, error.about.as_str()),
            (ErrorCode::RegistryInvalidJson, GLOBAL_ROLE)
        );
        assert_eq!(fs::read_to_string(home.global()).unwrap(), "{");
    }

    #[test]
    fn a_write_that_is_denied_has_its_own_code() {
        let error = denied(Error::new(ErrorCode::WriteDenied, "file"));
        assert_eq!(error.code, ErrorCode::GlobalRegistryDenied);
    }
}
