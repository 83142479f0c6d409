//! `diagnose`: what is wrong with goals, files and locks, each with the command that leads
//! on. It looks and mends nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::surface::{self, Equal, Surface};
use super::super::{Kernel, snapshot};
use super::{Look, every_goal};
use crate::admission::AdmissionRequest;
use crate::admission::facts::GoalFacts;
use crate::error::{Error, ErrorCode, Result};
use crate::file::{is_held, read_holder};
use crate::model::{Finding, Instant};
use crate::operation::Addressed;
use crate::registry::Registry;

/// Commits under a fixed clock that are named.
const NAMED: usize = 5;
/// Commits that are read at once.
const PAGE: usize = 1_000;

/// How bad a problem is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Nothing of the goal runs until it is mended.
    Blocking,
    /// Something is not as it should be.
    Warning,
    /// Worth knowing.
    Note,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One problem.
pub(super) struct Problem {
    pub level: Level,
    pub goal: Option<String>,
    pub finding: Finding,
}

impl Problem {
    pub(super) fn new(level: Level, goal: Option<&str>, finding: Finding) -> Self {
        Self { level, goal: goal.map(str::to_owned), finding }
    }

    /// The finding's own next command, else a look at what it is about.
    fn next_command(&self) -> String {
        self.finding.next_command.clone().unwrap_or_else(|| match &self.goal {
            Some(goal) => format!("loopx status --goal-id {goal}"),
            None => "loopx goal list".to_owned(),
        })
    }

    fn to_json(&self) -> Value {
        json!({
            "level": self.level.word(),
            "goal_id": self.goal,
            "code": self.finding.code,
            "about": self.finding.about,
            "message": self.finding.message,
            "next_command": self.next_command(),
        })
    }
}

impl Kernel {
    /// Everything that is wrong with one goal, or with every goal of the registry and
    /// what lies beside them. `"blocking":true`, and with it `"ok":false` and the first
    /// problem as the refusal's fields, when something keeps a goal from running.
    pub fn diagnose(&self, at: &Addressed) -> Result<Value> {
        let (problems, checked) = self.problems(at)?;
        Ok(self.verdict("diagnose", problems, checked))
    }

    /// The problems, and how many goals were looked at.
    pub(super) fn problems(&self, at: &Addressed) -> Result<(Vec<Problem>, usize)> {
        let registry = self.registry()?;
        let mut problems = Vec::new();
        let mut checked = 0_usize;
        match at.goal_id.as_deref() {
            Some(name) => {
                let look = Look::at(self, self.goal(Some(name))?, true);
                problems.extend(self.of_goal(&look)?);
                checked = 1;
            }
            None => {
                let goals = every_goal(self, |goal| self.of_goal(&Look::at(self, goal, true)))?;
                for (name, made) in goals {
                    checked += 1;
                    match made {
                        Ok(found) => problems.extend(found),
                        Err(error) => problems.push(Problem::new(
                            Level::Blocking,
                            Some(&name),
                            snapshot::health_of(&error),
                        )),
                    }
                }
                problems.extend(self.orphans(&registry)?);
            }
        }
        problems.extend(self.registry_locks(&registry));
        Ok((problems, checked))
    }

    /// The answer: worst first, and a refusal's fields when something blocks.
    pub(super) fn verdict(&self, mode: &str, mut problems: Vec<Problem>, checked: usize) -> Value {
        problems.sort_by_key(|p| p.level);
        let first = problems.first().filter(|p| p.level == Level::Blocking);
        let mut answer = json!({
            "ok": first.is_none(),
            "mode": mode,
            "at": self.now(),
            "blocking": first.is_some(),
            "goals_checked": checked,
            "problems": problems.iter().map(Problem::to_json).collect::<Vec<_>>(),
        });
        if let (Some(first), Some(map)) = (first, answer.as_object_mut()) {
            map.insert("error_code".into(), json!(first.finding.code));
            map.insert("error".into(), json!(first.finding.message));
            map.insert("about".into(), json!(first.finding.about));
            map.insert("next_command".into(), json!(first.next_command()));
        }
        answer
    }

    fn of_goal(&self, look: &Look<'_>) -> Result<Vec<Problem>> {
        let policy = &look.goal.policy;
        let name = Some(policy.goal_id.as_str());
        let request = AdmissionRequest::default();
        let facts = GoalFacts::of(policy, &look.view, &request, look.now);
        let mut problems: Vec<Problem> = facts
            .health
            .iter()
            .map(|f| Problem::new(Level::Blocking, name, f.clone()))
            .chain(facts.findings.iter().map(|f| Problem::new(Level::Warning, name, f.clone())))
            .collect();
        let any_write = format!(
            "loopx refresh-state --goal-id {}{}",
            policy.goal_id,
            policy.roster.first().map(|a| format!(" --agent-id {a}")).unwrap_or_default()
        );
        if !look.goal.has_store {
            problems.push(Problem::new(
                Level::Note,
                name,
                Finding::new(
                    "not_imported",
                    policy.goal_id.as_str(),
                    "the goal is still in the earlier tool's files; the first write imports it",
                )
                .next(any_write.as_str()),
            ));
        }
        let (Some(uid), Some(snapshot)) =
            (policy.goal_uid.as_ref().filter(|_| look.goal.has_store), &look.snapshot)
        else {
            return Ok(problems);
        };
        let read = snapshot.read();
        // Of a file that cannot be read nothing is taken in.
        let unreadable = ErrorCode::StateFileUnreadable.row().text;
        if !look.view.health.iter().any(|finding| finding.code == unreadable)
            && let Ok(state) = surface::look(&look.goal, uid, read, &Equal::default())
            && let Some(finding) = of_surface(&state)
        {
            problems.push(Problem::new(Level::Note, name, finding.next(any_write.as_str())));
        }
        if look.goal.folder(uid).join("displaced.md").exists() {
            problems.push(Problem::new(
                Level::Note,
                name,
                Finding::new(
                    "displaced_edits",
                    "state file",
                    "edits of the state file were displaced by a projection; the next write takes them in",
                )
                .next(any_write.as_str()),
            ));
        }
        if let Some(row) = read.journal()? {
            problems.push(Problem::new(
                Level::Note,
                name,
                Finding::new(
                    "command_unfinished",
                    row.commit.verb.as_str(),
                    "a command was stopped between registry and store; the next write finishes it",
                )
                .next(any_write.as_str()),
            ));
        }
        problems.extend(fixed_clock(look)?.map(|f| Problem::new(Level::Warning, name, f)));
        let store = look.goal.store_path(uid);
        problems.extend(lock(&store, "store").map(|f| Problem::new(Level::Note, name, f)));
        Ok(problems)
    }

    fn registry_locks(&self, registry: &Registry) -> Vec<Problem> {
        let global = self.options.route.global_registry().ok();
        let here = lock(registry.path(), "registry");
        let there = global
            .filter(|path| path.as_path() != registry.path())
            .and_then(|path| lock(&path, "global registry"));
        here.into_iter().chain(there).map(|f| Problem::new(Level::Note, None, f)).collect()
    }

    /// Stores under the runtime roots that no goal of this registry or of the global one
    /// names.
    fn orphans(&self, registry: &Registry) -> Result<Vec<Problem>> {
        let uids = |registry: &Registry| -> Vec<String> {
            let uid =
                |entry: &Value| entry.get("goal_uid").and_then(Value::as_str).map(str::to_owned);
            registry.goals().iter().filter_map(uid).collect()
        };
        let mut named: BTreeSet<String> = uids(registry).into_iter().collect();
        if let Ok(path) = self.options.route.global_registry()
            && let Ok(global) = Registry::read_as(&path, "global registry")
        {
            named.extend(uids(&global));
        }
        let root: PathBuf = self.options.route.runtime_root(registry)?.join("goals");
        let mut found: Vec<String> = std::fs::read_dir(&root)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().join("goal.db").is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !named.contains(name))
            .collect();
        found.sort();
        Ok(found
            .into_iter()
            .map(|uid| {
                Problem::new(
                    Level::Warning,
                    None,
                    Finding::new(
                        "store_orphaned",
                        format!("goals/{uid}"),
                        "no goal of the registry has this store: its creation was cut short, or its entry is gone",
                    )
                    .next("loopx goal list"),
                )
            })
            .collect())
    }
}

fn of_surface(state: &Surface) -> Option<Finding> {
    let (code, message) = match state {
        Surface::None | Surface::Clean => return None,
        Surface::Missing => {
            ("state_file_missing", "the state file is not there; the next write makes it again")
        }
        Surface::Stale { .. } => (
            "projection_stale",
            "the state file is an earlier projection; the next write brings it up to date",
        ),
        Surface::Edited { .. } => (
            "state_file_edited",
            "the state file has edits that no write has taken in yet; decisions count them already",
        ),
    };
    Some(Finding::new(code, "state file", message))
}

/// Commits that were made under `LOOPX_NOW`.
fn fixed_clock(look: &Look<'_>) -> Result<Option<Finding>> {
    let Some(snapshot) = &look.snapshot else { return Ok(None) };
    let mut before = None;
    let mut last: Vec<(u64, Instant)> = Vec::new();
    let mut count = 0_u64;
    loop {
        let commits = snapshot.read().commits_before(before, PAGE)?;
        let Some(oldest) = commits.last().map(|c| c.n) else { break };
        for commit in commits.iter().filter(|c| c.fixed_clock) {
            count += 1;
            if last.len() < NAMED {
                last.push((commit.n, commit.at));
            }
        }
        before = Some(oldest);
    }
    if count == 0 {
        return Ok(None);
    }
    let named: Vec<String> = last.iter().map(|(n, at)| format!("{n} ({at})")).collect();
    let goal = &look.goal.policy.goal_id;
    Ok(Some(
        Finding::new(
            "fixed_clock",
            format!("{count} commits"),
            format!("commits were made under LOOPX_NOW, the last ones {}", named.join(", ")),
        )
        .next(format!("loopx history --goal-id {goal}")),
    ))
}

/// Who holds the lock beside a file now.
fn lock(protected: &Path, what: &'static str) -> Option<Finding> {
    if !is_held(protected) {
        return None;
    }
    let message = match read_holder(protected) {
        Some(holder) => {
            let mut said = match holder.pid {
                Some(pid) => format!("process {pid} holds the lock"),
                None => "a process holds the lock".to_owned(),
            };
            for (label, value) in
                [("for", holder.operation), ("agent", holder.agent), ("since", holder.acquired_at)]
            {
                if let Some(value) = value {
                    said.push_str(&format!(" {label} {value}"));
                }
            }
            said
        }
        None => "a process that left no record holds the lock".to_owned(),
    };
    Some(
        Finding::new(ErrorCode::LockTimeout.row().text, what, message)
            .next(Error::new(ErrorCode::LockTimeout, what).next_command()),
    )
}
