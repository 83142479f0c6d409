//! What an app host was told about its schedule and did with it: one row per agent,
//! surface and state key.

use serde::{Deserialize, Serialize};

use super::id::AgentId;
use super::time::Instant;

/// A schedule that a host would not take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostUpdateFailure {
    /// What it was to be set to.
    pub target_rrule: String,
    /// What it was instead; empty when nobody looked.
    pub observed_host_rrule: String,
    /// `host_tool_failure`, `timeout`, `rejected` or `unavailable`.
    pub failure_kind: String,
    /// How often in a row, at least one.
    pub failure_count: u32,
    /// When last.
    pub failed_at: Instant,
}

/// What an app host acknowledged last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerState {
    /// Whose schedule.
    pub agent: AgentId,
    /// Host surface.
    pub surface: String,
    /// Which schedule of that surface.
    pub state_key: String,
    /// Token of the hint that was acknowledged.
    pub reset_token: String,
    /// Its identity.
    pub identity_signature: String,
    /// Step of the ladder that was acknowledged.
    pub progression_index: u32,
    /// The ladder then, in minutes.
    pub progression_minutes: Vec<u32>,
    /// The rule that the host has; empty when only failures are known.
    pub last_applied_rrule: String,
    /// When.
    pub updated_at: Instant,
    /// `quota_scheduler_ack` or `quota_scheduler_host_update_failure`.
    pub source: String,
    /// Recent failures, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_update_failures: Vec<HostUpdateFailure>,
}
