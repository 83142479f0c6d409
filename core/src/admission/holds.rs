//! Why a todo is not eligible for an agent (contract.md 2.1): the ordered list of
//! holds, each found from typed facts only.

use std::collections::BTreeSet;

use serde::Serialize;

use super::gates;
use super::view::{Target, View};
use crate::model::{
    AgentId, GoalPolicy, Instant, ResumeCondition, Signal, TaskClass, Todo, TodoId, TodoStatus,
    WorkMode,
};

/// Capabilities that every agent has.
pub const BASIC_CAPABILITIES: [&str; 3] = ["shell", "filesystem_read", "filesystem_write"];
/// Capabilities that only the owner can give.
pub const OWNER_CAPABILITIES: [&str; 2] = ["credentials", "production_access"];

/// One reason why a todo is not eligible. Declaration order is the order in which they
/// are tested; the first is the todo's reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Hold {
    /// Claimed by another agent of the roster.
    ClaimedByOther {
        /// Which.
        agent: AgentId,
    },
    /// Another agent's live lease, or another live turn of this agent.
    LeasedByOther {
        /// Who holds it.
        agent: Option<AgentId>,
        /// It is a turn of the asking agent itself.
        own_turn: bool,
    },
    /// The todo excludes the agent.
    Excluded,
    /// The agent only watches monitors.
    WorkMode,
    /// Blocked, or a stated obstacle.
    Blocked,
    /// Three fruitless settles in a row.
    Stalled {
        /// When it is offered again, if time alone brings it back.
        until: Option<Instant>,
    },
    /// Deferred; `ready` when its condition holds.
    Deferred {
        /// The condition holds.
        ready: bool,
    },
    /// Open, and its condition does not hold yet.
    ConditionWaiting,
    /// Its condition can no longer come true.
    ConditionUnsatisfiable,
    /// An open gate blocks it.
    Gated {
        /// Which gate.
        gate: TodoId,
    },
    /// A required scope is not granted or not readable.
    DecisionScope {
        /// As written.
        scope: String,
    },
    /// Capabilities are missing.
    Capability {
        /// Which.
        missing: Vec<String>,
        /// Only the owner can give one of them.
        owner: bool,
    },
    /// It writes, peers exist, and the agent has no worktree of its own.
    Workspace,
    /// The goal's write scope does not cover it.
    WriteScope {
        /// The first path that is not covered.
        scope: String,
    },
    /// A monitor past its end.
    Expired,
    /// A monitor with neither a cadence nor a due instant.
    NoSchedule,
    /// A monitor whose time has not come.
    NotDue {
        /// When it comes.
        at: Instant,
    },
    /// Its metadata cannot be read.
    Malformed,
}

impl Hold {
    /// The stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::ClaimedByOther { .. } => "claimed_by_other",
            Self::LeasedByOther { .. } => "leased_by_other",
            Self::Excluded => "excluded",
            Self::WorkMode => "work_mode",
            Self::Blocked => "blocked",
            Self::Stalled { .. } => "stalled",
            Self::Deferred { .. } => "deferred",
            Self::ConditionWaiting => "resume_when",
            Self::ConditionUnsatisfiable => "condition_unsatisfiable",
            Self::Gated { .. } => "gated",
            Self::DecisionScope { .. } => "decision_scope",
            Self::Capability { .. } => "capability",
            Self::Workspace => "workspace",
            Self::WriteScope { .. } => "write_scope",
            Self::Expired => "expired",
            Self::NoSchedule => "no_schedule",
            Self::NotDue { .. } => "not_due",
            Self::Malformed => "malformed",
        }
    }

    /// Whether the agent itself may mend it (rule 16).
    pub fn is_mendable(&self) -> bool {
        matches!(
            self,
            Self::DecisionScope { .. }
                | Self::Workspace
                | Self::WriteScope { .. }
                | Self::Capability { owner: false, .. }
                | Self::ConditionUnsatisfiable
        )
    }
}

/// The asking agent and what it has: what holds are found against.
pub struct Asker<'a> {
    /// Who; `None` in a goal without a roster, or when nobody was named.
    pub agent: Option<&'a AgentId>,
    /// Policy of the goal.
    pub policy: &'a GoalPolicy,
    /// Records.
    pub view: &'a View,
    /// When.
    pub now: Instant,
    /// Capabilities it has.
    pub capabilities: BTreeSet<String>,
    /// It has a worktree of its own.
    pub independent_worktree: bool,
    /// Open gates.
    pub gates: Vec<&'a Todo>,
}

impl<'a> Asker<'a> {
    /// The capabilities of `agent`: the basic three, the registry's, and `declared`.
    pub fn capabilities_of(
        policy: &GoalPolicy,
        agent: Option<&AgentId>,
        declared: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let mut all: BTreeSet<String> =
            BASIC_CAPABILITIES.iter().map(|c| (*c).to_owned()).collect();
        all.extend(declared.iter().cloned());
        all.extend(policy.capabilities.get(&None).into_iter().flatten().cloned());
        if let Some(agent) = agent {
            all.extend(
                policy.capabilities.get(&Some(agent.clone())).into_iter().flatten().cloned(),
            );
        }
        all
    }

    /// The agent that holds `todo`, as far as claims count: without a roster they are
    /// ignored, and a claim from outside the roster counts as none.
    pub fn claimant(&self, todo: &'a Todo) -> Option<&'a AgentId> {
        todo.claimed_by.as_ref().filter(|a| self.policy.roster.contains(a))
    }

    /// Whether `todo` is of the agent: claimed by it, or unclaimed.
    pub fn is_of(&self, todo: &'a Todo) -> bool {
        match self.claimant(todo) {
            None => true,
            Some(claimant) => self.agent == Some(claimant),
        }
    }

    /// Whether the agent itself has claimed it.
    pub fn is_own(&self, todo: &'a Todo) -> bool {
        self.agent.is_some() && self.claimant(todo) == self.agent
    }

    /// Every hold on an open agent todo, in order; empty means eligible.
    pub fn holds(&self, todo: &'a Todo) -> Vec<Hold> {
        let mut holds = Vec::new();
        if let Some(claimant) = self.claimant(todo)
            && self.agent != Some(claimant)
        {
            holds.push(Hold::ClaimedByOther { agent: claimant.clone() });
        }
        if let Some(hold) = self.leased(todo) {
            holds.push(hold);
        }
        if self.agent.is_some_and(|a| todo.excluded_agents.contains(a)) {
            holds.push(Hold::Excluded);
        }
        let monitor = todo.task_class == TaskClass::Monitor;
        if !monitor && self.policy.work_mode(self.agent) == WorkMode::MonitorOnly {
            holds.push(Hold::WorkMode);
        }
        if todo.malformed.is_some() {
            holds.push(Hold::Malformed);
        }
        if todo.status == TodoStatus::Blocked || todo.task_class == TaskClass::Blocker {
            holds.push(Hold::Blocked);
        }
        if let Some(stall) = self
            .view
            .stalls
            .iter()
            .find(|s| s.todo_id == todo.todo_id && s.agent.as_ref() == self.agent)
            && stall.holds(self.now)
        {
            holds.push(Hold::Stalled { until: stall.reoffer_at() });
        }
        self.condition(todo, &mut holds);
        if let Some(gate) = self.gates.iter().find(|g| gates::blocks_todo(g, todo)) {
            holds.push(Hold::Gated { gate: gate.todo_id.clone() });
        }
        if let Some(scope) = todo.required_decision_scopes.iter().find(|r| !self.is_granted(r)) {
            holds.push(Hold::DecisionScope { scope: scope.0.clone() });
        }
        let missing: Vec<String> = todo
            .required_capabilities
            .iter()
            .filter(|c| !self.capabilities.contains(*c) && !todo.target_capabilities.contains(c))
            .cloned()
            .collect();
        if !missing.is_empty() {
            let owner = missing.iter().any(|c| OWNER_CAPABILITIES.contains(&c.as_str()));
            holds.push(Hold::Capability { missing, owner });
        }
        if !monitor && self.needs_worktree(todo) {
            holds.push(Hold::Workspace);
        }
        if let Some(scope) = todo.required_write_scopes.iter().find(|required| {
            !self.policy.write_scope.iter().any(|have| scope_covers(have, required))
        }) {
            holds.push(Hold::WriteScope { scope: scope.clone() });
        }
        if monitor {
            self.schedule(todo, &mut holds);
        }
        holds
    }

    fn leased(&self, todo: &Todo) -> Option<Hold> {
        let lease = self
            .view
            .leases
            .iter()
            .find(|l| l.todo_id == todo.todo_id && l.is_live(self.now))
            .filter(|l| self.agent != Some(&l.owner));
        if let Some(lease) = lease {
            return Some(Hold::LeasedByOther { agent: Some(lease.owner.clone()), own_turn: false });
        }
        let turn = self.view.turns.iter().find(|t| t.todo_id.as_ref() == Some(&todo.todo_id))?;
        Some(Hold::LeasedByOther {
            agent: turn.agent.clone(),
            own_turn: turn.agent.as_ref() == self.agent,
        })
    }

    fn condition(&self, todo: &Todo, holds: &mut Vec<Hold>) {
        let state = todo.resume_when.as_ref().map(|c| self.condition_state(todo, c));
        if state == Some(ConditionState::Never) {
            holds.push(Hold::ConditionUnsatisfiable);
        }
        if todo.status == TodoStatus::Deferred {
            // An impossible condition is the one thing to mend: it stands for the deferral.
            if state != Some(ConditionState::Never) {
                holds.push(Hold::Deferred { ready: state == Some(ConditionState::Holds) });
            }
        } else if state == Some(ConditionState::Waits) {
            holds.push(Hold::ConditionWaiting);
        }
    }

    fn condition_state(&self, todo: &Todo, condition: &ResumeCondition) -> ConditionState {
        match condition {
            ResumeCondition::TodoDone(id) => {
                match self.view.targets.get(id).copied().unwrap_or(Target::Missing) {
                    Target::Done => ConditionState::Holds,
                    Target::Missing | Target::Superseded => ConditionState::Never,
                    Target::Open if self.is_cycle(&todo.todo_id, id) => ConditionState::Never,
                    Target::Open => ConditionState::Waits,
                }
            }
            ResumeCondition::PrMerged(reference) => {
                let signal = Signal { kind: "pr_merged".into(), reference: reference.clone() };
                if self.view.signals.contains(&signal) {
                    ConditionState::Holds
                } else {
                    ConditionState::Waits
                }
            }
            ResumeCondition::CapacityAvailable(name) => {
                if self.capabilities.contains(name) {
                    ConditionState::Holds
                } else {
                    ConditionState::Waits
                }
            }
            ResumeCondition::Unsupported(_) => ConditionState::Never,
        }
    }

    /// Whether following the conditions from `next` leads round to a todo already seen.
    fn is_cycle(&self, start: &TodoId, next: &TodoId) -> bool {
        // Most chains are one todo long, and then nothing is gathered.
        let mut seen: BTreeSet<&TodoId> = BTreeSet::new();
        let mut at = next;
        loop {
            if at == start {
                return true;
            }
            // Only todos with a condition lead on, and those are in every view.
            match self.find(at).and_then(|todo| todo.resume_when.as_ref()) {
                Some(ResumeCondition::TodoDone(_)) if !seen.insert(at) => return true,
                Some(ResumeCondition::TodoDone(id)) => at = id,
                _ => return false,
            }
        }
    }

    fn find(&self, id: &TodoId) -> Option<&'a Todo> {
        self.view.todos.iter().find(|t| t.todo_id == *id)
    }

    fn is_granted(&self, required: &crate::model::ScopeRequirement) -> bool {
        let Some(required) = required.scope() else { return false };
        self.view.grants.iter().any(|grant| {
            grant.is_live(self.now)
                && grant.agent.as_ref().is_none_or(|a| self.agent == Some(a))
                && crate::model::DecisionScope::parse(&grant.scope)
                    .is_some_and(|scope| scope.covers(&required))
        })
    }

    fn needs_worktree(&self, todo: &Todo) -> bool {
        self.policy.roster.len() >= 2
            && !self.independent_worktree
            && (!todo.required_write_scopes.is_empty()
                || todo.is_write_action()
                || self.policy.worktree_required)
    }

    fn schedule(&self, todo: &Todo, holds: &mut Vec<Hold>) {
        if is_expired(todo, self.now) {
            holds.push(Hold::Expired);
        }
        match due_at(todo) {
            Due::Now => {}
            Due::Never => holds.push(Hold::NoSchedule),
            Due::At(at) if at <= self.now => {}
            Due::At(at) => holds.push(Hold::NotDue { at }),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ConditionState {
    Holds,
    Waits,
    Never,
}

/// When a monitor is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At once.
    Now,
    /// At an instant, past or future.
    At(Instant),
    /// It says nothing about when.
    Never,
}

/// When `monitor` is due: its `next_due_at`, else last check (or creation) plus
/// cadence. With a cadence and no instant to count from it is due now; with neither
/// cadence nor due instant it has no schedule (rule 18 offers to give it one).
pub fn due_at(monitor: &Todo) -> Due {
    match (monitor.next_due_at, monitor.cadence) {
        (Some(at), _) => Due::At(at),
        (None, Some(cadence)) => match monitor.last_checked_at.or(monitor.created_at) {
            Some(from) => Due::At(from.plus_micros(cadence.micros())),
            None => Due::Now,
        },
        (None, None) => Due::Never,
    }
}

/// Whether a monitor is past its end: it is no longer open work (rule 10).
pub fn is_expired(todo: &Todo, now: Instant) -> bool {
    todo.task_class == TaskClass::Monitor && todo.expires_at.is_some_and(|end| end <= now)
}

/// Whether the goal's scope `have` covers the path glob `required`: equal, a folder
/// prefix, or a glob in which `*` crosses `/` (as the earlier tool matches).
pub fn scope_covers(have: &str, required: &str) -> bool {
    if required.split('/').any(|part| part == "..") {
        return false;
    }
    if have == required || matches!(have, "**" | "*" | "./") {
        return true;
    }
    if let Some(folder) = have.strip_suffix('/') {
        return required.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    }
    let pattern: Vec<char> = have.chars().collect();
    let text: Vec<char> = required.chars().collect();
    glob(&pattern, &text)
}

/// Whether two path globs can name the same file (reference state.md 5.1): equal, one
/// covers the other, or both are globs whose fixed beginnings lead into each other.
pub fn write_scopes_overlap(a: &str, b: &str) -> bool {
    let fixed = |s: &str| s.split(['*', '?', '[']).next().unwrap_or_default().to_owned();
    let (left, right) = (fixed(a), fixed(b));
    let both_globs = left.len() < a.len() && right.len() < b.len();
    let folder = |f: &str, s: &str| s.strip_prefix(f).is_some_and(|rest| rest.starts_with('/'));
    scope_covers(a, b)
        || scope_covers(b, a)
        || folder(a, b)
        || folder(b, a)
        || (both_globs && (left.starts_with(&right) || right.starts_with(&left)))
}

/// Glob with `*` (any run) and `?` (one character), linear back-tracking on the last star.
fn glob(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || Some(c) == text.get(t) => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_scopes_match_equal_folder_and_glob() {
        for (have, required, covered) in [
            ("**", "runner/**", true),
            ("docs/**", "docs/a.md", true),
            ("docs/**", "runner/**", false),
            ("docs/", "docs/a/b.md", true),
            ("docs/", "docs2/a.md", false),
            ("src/*.rs", "src/a/b.rs", true),
            ("src/?.rs", "src/ab.rs", false),
            ("docs/**", "docs/../secret", false),
            ("a", "a", true),
        ] {
            assert_eq!(scope_covers(have, required), covered, "{have} {required}");
        }
    }
}
