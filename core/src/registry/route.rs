//! Which registry a command means, its runtime root and the global registry; and the
//! way from a global entry to the project that owns the goal. Everything that the
//! environment says is an argument.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::document::{Lookup, Registry};
use super::place::{self, PROJECT_FOLDER};
use crate::error::{Error, ErrorCode, Result};
use crate::model::GoalId;

/// File name of a project's registry.
pub const PROJECT_FILE: &str = "registry.json";

/// File name of the global registry.
pub const GLOBAL_FILE: &str = "registry.global.json";

/// Registries on the way from a global entry to its owner, at most.
const MAX_HOPS: usize = 8;

/// What decides the route. Empty values of the environment count as unset.
#[derive(Clone, Debug, Default)]
pub struct RouteInput {
    /// `--registry`.
    pub flag: Option<PathBuf>,
    /// `LOOPX_REGISTRY`.
    pub env_registry: Option<PathBuf>,
    /// `--runtime-root`.
    pub runtime_root_flag: Option<PathBuf>,
    /// `LOOPX_RUNTIME_ROOT`.
    pub env_runtime_root: Option<PathBuf>,
    /// Working directory, absolute.
    pub cwd: PathBuf,
    /// Home folder of the user, when there is one.
    pub home: Option<PathBuf>,
}

/// How a registry was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// `--registry`.
    Flag,
    /// `LOOPX_REGISTRY`.
    Environment,
    /// `.loopx/registry.json` in the working directory or above it.
    Project,
    /// The global registry.
    Global,
    /// No registry anywhere; the path is where the project's would be made.
    Nothing,
}

/// A registry's path and why it is that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The registry, which need not exist when it was named.
    pub registry: PathBuf,
    /// Why.
    pub found_by: FoundBy,
}

/// Where a goal's own entry is.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The registry that owns the goal.
    pub registry: Registry,
    /// The goal's index in it.
    pub index: usize,
    /// How many registries were left behind on the way.
    pub hops: usize,
}

impl RouteInput {
    /// The registry of a command: named, else of the nearest project, else global.
    ///
    /// [`ErrorCode::RegistryAmbiguous`] when two global ones exist.
    pub fn registry(&self) -> Result<Route> {
        let route = |registry: PathBuf, found_by| Ok(Route { registry, found_by });
        if let Some(flag) = &self.flag {
            return route(self.named(flag, "--registry")?, FoundBy::Flag);
        }
        if let Some(named) = self.env_registry.as_deref().filter(|path| is_set(path)) {
            return route(self.cwd.join(named), FoundBy::Environment);
        }
        for folder in self.cwd.ancestors() {
            let registry = folder.join(PROJECT_FOLDER).join(PROJECT_FILE);
            if is_there(&registry) {
                return route(registry, FoundBy::Project);
            }
        }
        if let Some(global) = self.existing_global()? {
            return route(global, FoundBy::Global);
        }
        route(self.cwd.join(PROJECT_FOLDER).join(PROJECT_FILE), FoundBy::Nothing)
    }

    /// Where the stores of `registry`'s goals are: named, else as the registry says,
    /// else its own folder.
    pub fn runtime_root(&self, registry: &Registry) -> Result<PathBuf> {
        if let Some(root) = self.named_runtime_root()? {
            return Ok(root);
        }
        let Some(stated) = registry.text("common_runtime_root") else {
            return Ok(self.cwd.join(place::folder(registry.path())));
        };
        if let (Ok(rest), Some(home)) = (Path::new(stated).strip_prefix("~"), &self.home) {
            return Ok(home.join(rest));
        }
        Ok(self.cwd.join(place::project_root(registry.path())).join(stated))
    }

    /// The file that projections go to: under `--runtime-root`, else `~/.loopx`.
    pub fn global_registry(&self) -> Result<PathBuf> {
        if let Some(root) = &self.runtime_root_flag {
            return Ok(self.named(root, "--runtime-root")?.join(GLOBAL_FILE));
        }
        // Where the user's global registry is already: a second one beside it would make
        // every later global route ambiguous.
        if let Ok(Some(existing)) = self.existing_global() {
            return Ok(existing);
        }
        match &self.home {
            Some(home) => Ok(home.join(PROJECT_FOLDER).join(GLOBAL_FILE)),
            None => Err(Error::new(ErrorCode::RequestInvalid, "home")
                .message("there is no home folder for the global registry")
                .next("name a folder with --runtime-root")),
        }
    }

    /// The registry in which a new goal is made: the one that was named or the project's.
    /// Being outside every project is no reason to put a goal into the global registry:
    /// the working directory then becomes a project.
    pub fn registry_to_create_in(&self, found: &Route) -> PathBuf {
        match found.found_by {
            FoundBy::Global => self.cwd.join(PROJECT_FOLDER).join("registry.json"),
            _ => found.registry.clone(),
        }
    }

    fn named_runtime_root(&self) -> Result<Option<PathBuf>> {
        if let Some(root) = &self.runtime_root_flag {
            return self.named(root, "--runtime-root").map(Some);
        }
        let root = self.env_runtime_root.as_deref().filter(|path| is_set(path));
        Ok(root.map(|root| self.cwd.join(root)))
    }

    fn named(&self, path: &Path, flag: &str) -> Result<PathBuf> {
        if is_set(path) {
            Ok(self.cwd.join(path))
        } else {
            Err(Error::new(ErrorCode::RequestInvalid, flag)
                .message(format!("{flag} is empty"))
                .next(format!("give {flag} a path, or leave it out")))
        }
    }

    fn existing_global(&self) -> Result<Option<PathBuf>> {
        let Some(home) = &self.home else {
            return Ok(None);
        };
        let ours = home.join(PROJECT_FOLDER).join(GLOBAL_FILE);
        let earlier = home.join(".codex/loopx").join(GLOBAL_FILE);
        match (is_there(&ours), is_there(&earlier)) {
            (true, true) if place::identity(&ours) != place::identity(&earlier) => {
                Err(Error::new(ErrorCode::RegistryAmbiguous, "registry")
                    .message("global registries exist in `~/.loopx` and in `~/.codex/loopx`")
                    .next("name one: --registry ~/.loopx/registry.global.json"))
            }
            (true, _) => Ok(Some(ours)),
            (false, true) => Ok(Some(earlier)),
            (false, false) => Ok(None),
        }
    }
}

/// Goes from `goal`'s entry in `registry` to the registry that owns the goal: an entry
/// that names a source registry is a copy, one that names none or its own is the goal.
///
/// Errors: [`ErrorCode::GoalUnknown`] here, [`ErrorCode::RouteMissing`] when a source
/// is gone or does not hold the goal, [`ErrorCode::RouteCycle`] when sources lead back
/// or on for ever; an unreadable source is its own error, never skipped.
pub fn follow(registry: Registry, goal: &GoalId) -> Result<Followed> {
    let mut index = registry.locate(goal)?;
    let mut registry = registry;
    let mut visited = HashSet::from([place::identity(registry.path())]);
    for hops in 0..=MAX_HOPS {
        let Some(source) = source_of(&registry, index)? else {
            return Ok(Followed { registry, index, hops });
        };
        let identity = place::identity(&source);
        if identity == place::identity(registry.path()) {
            return Ok(Followed { registry, index, hops });
        }
        if !visited.insert(identity) {
            return Err(Error::new(ErrorCode::RouteCycle, goal.as_str())
                .message(format!("the source registries of goal \"{goal}\" lead in a circle"))
                .detail(source.display()));
        }
        let next = Registry::read_as(&source, "source registry")?;
        let missing = |sentence: String| {
            Error::new(ErrorCode::RouteMissing, goal.as_str())
                .message(sentence)
                .detail(source.display())
        };
        if !next.exists() {
            return Err(missing(format!("the source registry of goal \"{goal}\" is missing")));
        }
        index = match next.find(goal) {
            Lookup::Found(index) => index,
            Lookup::Unknown => {
                return Err(missing(format!("the source registry does not hold goal \"{goal}\"")));
            }
            Lookup::Duplicated => return next.locate(goal).and(Err(missing(String::new()))),
        };
        registry = next;
    }
    Err(Error::new(ErrorCode::RouteCycle, goal.as_str())
        .message(format!("goal \"{goal}\" is more than {MAX_HOPS} source registries away")))
}

fn source_of(registry: &Registry, index: usize) -> Result<Option<PathBuf>> {
    match registry.entry(index).and_then(|entry| entry.get("source_registry")) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(path)) if path.trim().is_empty() => Ok(None),
        Some(Value::String(path)) => {
            Ok(Some(place::project_root(registry.path()).join(path.trim())))
        }
        Some(_) => Err(Error::new(ErrorCode::RegistryShape, registry.role())
            .message("`source_registry` of a goal is not text")
            .detail(registry.path().display())),
    }
}

fn is_set(path: &Path) -> bool {
    !path.as_os_str().is_empty()
}

/// Whether something is at `path`. What cannot be looked at counts: passing over it
/// would quietly use another registry; reading it says what is wrong.
fn is_there(path: &Path) -> bool {
    use std::io::ErrorKind;
    match fs::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    struct World {
        dir: tempfile::TempDir,
        input: RouteInput,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let cwd = dir.path().join("p/a/b");
            fs::create_dir_all(&cwd).unwrap();
            let home = Some(dir.path().join("home"));
            Self { input: RouteInput { cwd, home, ..RouteInput::default() }, dir }
        }

        fn write(&self, path: &str, value: &Value) -> PathBuf {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, value.to_string()).unwrap();
            path
        }

        fn entry(&self, path: &str, source: Option<&Path>) -> PathBuf {
            self.write(path, &json!({"goals": [{"id": "g", "source_registry": source}]}))
        }
    }

    fn goal() -> GoalId {
        GoalId::trusted("g")
    }

    #[test]
    fn the_route_is_flag_then_environment_then_upward_then_global() {
        let mut world = World::new();
        let found = |input: &RouteInput| input.registry().unwrap();
        assert_eq!(found(&world.input).found_by, FoundBy::Nothing);
        let earlier = world.write("home/.codex/loopx/registry.global.json", &json!({}));
        assert_eq!(found(&world.input), Route { registry: earlier, found_by: FoundBy::Global });
        world.write("home/.loopx/registry.global.json", &json!({}));
        let error = world.input.registry().unwrap_err();
        assert_eq!(error.code, ErrorCode::RegistryAmbiguous);
        assert!(error.text().contains("`~/.loopx`") && error.text().contains("`~/.codex/loopx`"));
        let project = world.write("p/.loopx/registry.json", &json!({}));
        assert_eq!(found(&world.input), Route { registry: project, found_by: FoundBy::Project });
        world.input.env_registry = Some("".into());
        assert_eq!(found(&world.input).found_by, FoundBy::Project);
        world.input.env_registry = Some("e.json".into());
        assert_eq!(found(&world.input).registry, world.input.cwd.join("e.json"));
        world.input.flag = Some("/f.json".into());
        assert_eq!(found(&world.input).registry, Path::new("/f.json"));
        world.input.flag = Some("".into());
        assert_eq!(world.input.registry().unwrap_err().code, ErrorCode::RequestInvalid);
    }

    #[test]
    fn a_linked_global_folder_is_not_two_registries() {
        let world = World::new();
        world.write("home/.loopx/registry.global.json", &json!({}));
        fs::create_dir_all(world.dir.path().join("home/.codex")).unwrap();
        std::os::unix::fs::symlink("../.loopx", world.dir.path().join("home/.codex/loopx"))
            .unwrap();
        assert_eq!(world.input.registry().unwrap().found_by, FoundBy::Global);
    }

    #[test]
    fn runtime_root_is_named_then_stated_then_the_registrys_folder() {
        let mut world = World::new();
        let root = |input: &RouteInput, path: &Path| {
            input.runtime_root(&Registry::read(path).unwrap()).unwrap()
        };
        let path = world.write("p/.loopx/registry.json", &json!({}));
        assert_eq!(root(&world.input, &path), world.dir.path().join("p/.loopx"));
        let path = world.write("p/.loopx/registry.json", &json!({"common_runtime_root": "run"}));
        assert_eq!(root(&world.input, &path), world.dir.path().join("p/run"));
        let tilde =
            world.write("p/.loopx/t.json", &json!({"common_runtime_root": "~/.codex/loopx"}));
        assert_eq!(root(&world.input, &tilde), world.dir.path().join("home/.codex/loopx"));
        world.input.env_runtime_root = Some("/env".into());
        assert_eq!(root(&world.input, &path), Path::new("/env"));
        world.input.runtime_root_flag = Some("/flag".into());
        assert_eq!(root(&world.input, &path), Path::new("/flag"));
    }

    #[test]
    fn projections_go_under_the_flag_else_home() {
        let mut world = World::new();
        world.input.env_runtime_root = Some("/env".into());
        let home = world.dir.path().join("home/.loopx/registry.global.json");
        assert_eq!(world.input.global_registry().unwrap(), home);
        world.input.runtime_root_flag = Some("/flag".into());
        let flagged = world.input.global_registry().unwrap();
        assert_eq!(flagged, Path::new("/flag/registry.global.json"));
    }

    #[test]
    fn a_global_entry_leads_to_its_project() {
        let world = World::new();
        let own = world.dir.path().join("p/.loopx/registry.json");
        world.entry("p/.loopx/registry.json", Some(&own));
        let middle = world.entry("m/registry.json", Some(&own));
        let global = world.entry("home/.loopx/registry.global.json", Some(&middle));
        let followed = follow(Registry::read(&global).unwrap(), &goal()).unwrap();
        assert_eq!((followed.registry.path(), followed.hops), (own.as_path(), 2));
    }

    #[test]
    fn circles_gone_and_foreign_sources_are_refused() {
        let world = World::new();
        let a = world.dir.path().join("a.json");
        let b = world.entry("b.json", Some(&a));
        world.entry("a.json", Some(&b));
        let code = |path: &Path| follow(Registry::read(path).unwrap(), &goal()).unwrap_err().code;
        assert_eq!(code(&a), ErrorCode::RouteCycle);
        world.write("a.json", &json!({"goals": []}));
        assert_eq!(code(&b), ErrorCode::RouteMissing);
        fs::remove_file(&a).unwrap();
        assert_eq!(code(&b), ErrorCode::RouteMissing);
        fs::write(&a, "").unwrap();
        assert_eq!(code(&b), ErrorCode::RegistryInvalidJson);
        world.write("a.json", &json!({"goals": [{"id": "g"}, {"id": "G"}]}));
        assert_eq!(code(&b), ErrorCode::GoalDuplicated);
        world.write("a.json", &json!({"goals": [{"id": "g", "source_registry": 1}]}));
        assert_eq!(code(&b), ErrorCode::RegistryShape);
    }

    #[test]
    fn eight_hops_are_followed_and_nine_are_not() {
        let world = World::new();
        let mut next = world.entry("0.json", None);
        for n in 1..=9 {
            next = world.entry(&format!("{n}.json"), Some(&next));
        }
        let eighth = Registry::read(&world.dir.path().join("8.json")).unwrap();
        assert_eq!(follow(eighth, &goal()).unwrap().hops, 8);
        let ninth = Registry::read(&next).unwrap();
        assert_eq!(follow(ninth, &goal()).unwrap_err().code, ErrorCode::RouteCycle);
    }
}
