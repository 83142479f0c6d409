//! A goal's policy as the registry states it: who may work, how much, and whether.

use std::collections::BTreeMap;

use super::id::{AgentId, GoalId, GoalUid};
use super::todo::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// What an agent is used for.
    WorkMode {
        /// Everything.
        Active = "active",
        /// Only monitors are eligible.
        MonitorOnly = "monitor_only",
    }
}

/// The window: how many slots may be spent in how long.
///
/// Normalised as the earlier tool does (reference quota.md 4): compute is clamped to
/// 0..1 and rounded to two decimals, the window is at least an hour, a slot at least a
/// minute; `allowed_slots` is the explicit number or
/// `round(window_hours * 60 / slot_minutes * compute)`, halves to even.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QuotaPolicy {
    /// Share of the window, 0 to 1, two decimals.
    pub compute: f64,
    /// Length of the sliding window in hours, at least 1.
    pub window_hours: u32,
    /// Length of one slot in minutes, at least 1.
    pub slot_minutes: u32,
    /// Slots that fit into the window.
    pub allowed_slots: u64,
}

impl Default for QuotaPolicy {
    fn default() -> Self {
        Self { compute: 1.0, window_hours: 24, slot_minutes: 1, allowed_slots: 1440 }
    }
}

/// Which repairs of its own records the owner has allowed an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelfRepair {
    /// Any at all.
    pub enabled: bool,
    /// Of a blocking health finding.
    pub health_blocker: bool,
}

impl SelfRepair {
    /// Whether rule 6 may run the agent.
    pub fn may_repair_health(self) -> bool {
        self.enabled && self.health_blocker
    }
}

/// One goal's entry of the registry, typed. Unknown fields stay in the registry.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalPolicy {
    /// Name.
    pub goal_id: GoalId,
    /// Identity; absent until the goal is created by or imported into this tool.
    pub goal_uid: Option<GoalUid>,
    /// Free text; `stopped`, `complete`, `completed` and `archived` stop it (rule 4).
    pub status: String,
    /// `activation.state` or `activation_state` is `stopped`.
    pub activation_stopped: bool,
    /// Why the activation is unreadable, when it is; the goal then does not run.
    pub activation_problem: Option<String>,
    /// Registered agents in order, canonical; empty means no roster.
    pub roster: Vec<AgentId>,
    /// Work modes that differ from active.
    pub work_modes: BTreeMap<AgentId, WorkMode>,
    /// Capabilities that the registry grants: to all agents under the empty key, and
    /// to single ones.
    pub capabilities: BTreeMap<Option<AgentId>, Vec<String>>,
    /// Path globs that agents may write.
    pub write_scope: Vec<String>,
    /// `workspace_guard_policy.peer_independent_worktree_required`.
    pub worktree_required: bool,
    /// Window.
    pub quota: QuotaPolicy,
    /// Repairs.
    pub self_repair: SelfRepair,
    /// Unmet entries of the goal's `acceptance` list, by text; empty without a list.
    pub acceptance_gaps: Vec<String>,
    /// The state file as declared, relative to `repo` or absolute; `None` when none is declared.
    pub state_file: Option<String>,
    /// Project folder as declared.
    pub repo: Option<String>,
    /// `execution_profile.minimum_scale` and other texts that the packet repeats.
    pub objective: Option<String>,
}

impl GoalPolicy {
    /// A goal of that name with every default: for tests and for goals about to be created.
    pub fn new(goal_id: GoalId) -> Self {
        Self {
            goal_id,
            goal_uid: None,
            status: "active".into(),
            activation_stopped: false,
            activation_problem: None,
            roster: Vec::new(),
            work_modes: BTreeMap::new(),
            capabilities: BTreeMap::new(),
            write_scope: Vec::new(),
            worktree_required: false,
            quota: QuotaPolicy::default(),
            self_repair: SelfRepair::default(),
            acceptance_gaps: Vec::new(),
            state_file: None,
            repo: None,
            objective: None,
        }
    }

    /// Whether the goal starts nothing (rule 4).
    pub fn is_stopped(&self) -> bool {
        self.activation_stopped
            || matches!(self.status.as_str(), "stopped" | "complete" | "completed" | "archived")
    }

    /// The agent's work mode.
    pub fn work_mode(&self, agent: Option<&AgentId>) -> WorkMode {
        agent.and_then(|a| self.work_modes.get(a)).copied().unwrap_or(WorkMode::Active)
    }
}
