//! Edits of one goal entry: create, stop, resume, register agents, mark as imported.
//! Pure: no file, no lock, no clock.

use serde_json::{Map, Value, json};

use super::policy::{ACTIVATION_SCHEMA, activation, roster};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, GoalId, GoalUid, Instant};

/// The longest reason of a stop, in characters.
pub const MAX_REASON: usize = 600;

/// Schema number of the `store` mark in a goal entry.
const STORE_SCHEMA: u32 = 1;

/// The window as a creator states it; what is left out is not written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuotaSpec {
    /// Share of the window, 0 to 1.
    pub compute: Option<f64>,
    /// Hours of the window.
    pub window_hours: Option<u32>,
    /// Minutes of a slot.
    pub slot_minutes: Option<u32>,
    /// Slots of the window, instead of the share.
    pub allowed_slots: Option<u64>,
}

/// What a new goal is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalSpec {
    /// Name.
    pub goal_id: GoalId,
    /// Freshly minted identity.
    pub goal_uid: GoalUid,
    /// Name for people.
    pub display_name: Option<String>,
    /// Kind of goal; the earlier tool's default when absent.
    pub domain: Option<String>,
    /// What is to be reached.
    pub objective: Option<String>,
    /// Project folder, absolute.
    pub repo: String,
    /// State file, relative to `repo` when inside.
    pub state_file: String,
    /// Roster; may be empty.
    pub agents: Vec<AgentId>,
    /// Path globs that agents may write.
    pub write_scope: Vec<String>,
    /// Window.
    pub quota: QuotaSpec,
    /// Now.
    pub now: Instant,
}

/// A change of activation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// `active`, `stopped`, or `unknown` where it could not be read.
    pub before: &'static str,
    /// `active` or `stopped`.
    pub after: &'static str,
    /// Whether the entry was changed; repeating a stop changes nothing.
    pub changed: bool,
}

/// The entry of a new goal: the earlier tool's fields in its order, then ours, so that
/// its readers find what they expect.
pub fn create_entry(spec: &GoalSpec) -> Value {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| {
        entry.insert(key.to_owned(), value);
    };
    put("id", json!(spec.goal_id));
    if let Some(name) = &spec.display_name {
        put("display_name", json!(name));
    }
    put("domain", json!(spec.domain.as_deref().unwrap_or("project-goal-control-plane")));
    put("status", json!("active"));
    put("role", json!("controller"));
    put("parent_goal_id", Value::Null);
    put("repo", json!(spec.repo));
    put("state_file", json!(spec.state_file));
    put("authority_sources", json!([]));
    put("adapter", json!({"kind": "generic_project_goal_v0", "status": "connected"}));
    put(
        "spawn_policy",
        json!({"mode": "default", "allowed": false, "max_children": 3, "allowed_domains": []}),
    );
    put("coordination", coordination(spec));
    put("execution_profile", execution_profile());
    put(
        "next_probe",
        json!("Look at the state file and the repository, then name the next bounded step."),
    );
    put(
        "guards",
        json!([
            "Stay inside the goal's write scope.",
            "Ask the owner before publishing or touching production.",
            "Spend a slot only after checked work is written back.",
        ]),
    );
    if let Some(quota) = quota_object(&spec.quota) {
        put("quota", quota);
    }
    if let Some(objective) = &spec.objective {
        put("objective", json!(objective));
    }
    put("goal_uid", json!(spec.goal_uid));
    put("store", store_mark(spec.now));
    Value::Object(entry)
}

/// Stops the goal. A reason of more than [`MAX_REASON`] characters is
/// [`ErrorCode::TextTooLong`].
pub fn stop(entry: &mut Value, reason: Option<&str>, now: Instant) -> Result<Transition> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    if reason.is_some_and(|reason| reason.chars().count() > MAX_REASON) {
        return Err(Error::new(ErrorCode::TextTooLong, "reason")
            .message(format!("the reason is longer than {MAX_REASON} characters")));
    }
    transition(entry, "stopped", reason, now)
}

/// Lets the goal run again.
pub fn resume(entry: &mut Value, now: Instant) -> Result<Transition> {
    transition(entry, "active", None, now)
}

/// Appends agents to the goal's own roster and answers which were new; agents that any
/// of the roster's places names already are left where they are.
pub fn register_agents(entry: &mut Value, agents: &[AgentId]) -> Result<Vec<AgentId>> {
    let entry = object(entry)?;
    let mut known = roster(entry);
    let mut added = Vec::new();
    for agent in agents {
        if !known.contains(agent) {
            known.push(agent.clone());
            added.push(agent.clone());
        }
    }
    if added.is_empty() {
        return Ok(added);
    }
    let coordination = entry
        .entry("coordination")
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .ok_or_else(|| shape("`coordination` of the goal is not an object"))?;
    coordination
        .entry("registered_agents")
        .or_insert_with(|| json!([]))
        .as_array_mut()
        .ok_or_else(|| shape("`registered_agents` of the goal is not a list"))?
        .extend(added.iter().map(|agent| json!(agent)));
    coordination.insert("agent_model".into(), json!("peer_v1"));
    Ok(added)
}

/// Marks the entry as kept in our store under `uid`; answers whether that is new.
/// Another uid in the entry is [`ErrorCode::StoreForeign`]: an identity is never
/// changed.
pub fn mark_imported(entry: &mut Value, uid: &GoalUid, now: Instant) -> Result<bool> {
    let entry = object(entry)?;
    if let Some(present) = entry.get("goal_uid").filter(|present| !present.is_null()) {
        if present.as_str() != Some(uid.as_str()) {
            return Err(Error::new(ErrorCode::StoreForeign, "goal_uid")
                .message("the registry gives the goal another identity"));
        }
        if entry.get("store").is_some_and(Value::is_object) {
            return Ok(false);
        }
    }
    entry.insert("goal_uid".into(), json!(uid));
    entry.insert("store".into(), store_mark(now));
    Ok(true)
}

fn transition(
    entry: &mut Value,
    after: &'static str,
    reason: Option<&str>,
    now: Instant,
) -> Result<Transition> {
    let entry = object(entry)?;
    let before = match activation(entry) {
        Ok(true) => "stopped",
        Ok(false) => "active",
        Err(_) => "unknown",
    };
    if before == after {
        return Ok(Transition { before, after, changed: false });
    }
    // Fields of the object that we do not know stay; a stop's reason ends with it.
    let mut written = match entry.get_mut("activation").map(Value::take) {
        Some(Value::Object(old)) => old,
        _ => Map::new(),
    };
    written.insert("schema_version".into(), json!(ACTIVATION_SCHEMA));
    written.insert("state".into(), json!(after));
    written.insert("updated_at".into(), json!(now));
    match reason {
        Some(reason) => written.insert("reason".into(), json!(reason)),
        None => written.shift_remove("reason"),
    };
    entry.insert("activation".into(), Value::Object(written));
    entry.shift_remove("activation_state");
    Ok(Transition { before, after, changed: true })
}

fn object(entry: &mut Value) -> Result<&mut Map<String, Value>> {
    entry.as_object_mut().ok_or_else(|| shape("a goal entry of the registry is not an object"))
}

fn shape(sentence: &str) -> Error {
    Error::new(ErrorCode::RegistryShape, "registry").message(sentence)
}

fn store_mark(now: Instant) -> Value {
    json!({"schema": STORE_SCHEMA, "since": now})
}

fn coordination(spec: &GoalSpec) -> Value {
    let mut coordination = Map::new();
    coordination.insert("write_scope".into(), json!(spec.write_scope));
    coordination.insert(
        "requires_parent_approval".into(),
        json!(["write", "publish", "production-action"]),
    );
    if !spec.agents.is_empty() {
        coordination.insert("registered_agents".into(), json!(spec.agents));
        coordination.insert("agent_model".into(), json!("peer_v1"));
    }
    Value::Object(coordination)
}

fn execution_profile() -> Value {
    json!({
        "cadence": "bounded_progress_segment",
        "minimum_scale": "multi_surface_or_implementation",
        "must_include": ["coherent_artifact", "targeted_validation", "state_writeback"],
        "spend_rule": "spend_only_after_artifact_validation_writeback",
        "outcome_floor": {
            "required_when": "after_surface_progress_streak",
            "surface_streak_threshold": 3,
            "outcome_markers": [],
            "surface_only_hints": [],
            "must_advance": ["primary_goal_outcome"],
            "avoid": ["surface_only_progress_loop"],
            "if_unavailable": "report_blocker_without_spend",
        },
        "degradation_policy": {
            "small_scale_streak_threshold": 2,
            "on_degradation": "require_blocker_or_expand_next_batch",
        },
    })
}

fn quota_object(quota: &QuotaSpec) -> Option<Value> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(key.to_owned(), value);
        }
    };
    put("compute", quota.compute.map(|v| json!(v)));
    put("window_hours", quota.window_hours.map(|v| json!(v)));
    put("slot_minutes", quota.slot_minutes.map(|v| json!(v)));
    put("allowed_slots", quota.allowed_slots.map(|v| json!(v)));
    (!object.is_empty()).then_some(Value::Object(object))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::registry::policy::policy;

    fn now() -> Instant {
        Instant::parse("2026-11-29T20:57:33Z").unwrap()
    }

    fn spec() -> GoalSpec {
        GoalSpec {
            goal_id: GoalId::trusted("g"),
            goal_uid: GoalUid::trusted("u1"),
            display_name: None,
            domain: None,
            objective: Some("ship".into()),
            repo: "/r".into(),
            state_file: "GOAL.md".into(),
            agents: vec![AgentId::trusted("a")],
            write_scope: vec![],
            quota: QuotaSpec { compute: Some(0.5), ..QuotaSpec::default() },
            now: now(),
        }
    }

    #[test]
    fn a_created_entry_reads_back_as_its_spec() {
        let entry = create_entry(&spec());
        let policy = policy(&entry).unwrap();
        assert_eq!(policy.roster, spec().agents);
        assert_eq!(policy.quota.allowed_slots, 720);
        assert_eq!(policy.goal_uid, Some(spec().goal_uid));
        assert_eq!(policy.objective.as_deref(), Some("ship"));
        assert!(!policy.is_stopped());
        let keys: Vec<_> = entry.as_object().unwrap().keys().take(4).cloned().collect();
        assert_eq!(keys, ["id", "domain", "status", "role"]);
        assert_eq!(entry["store"], json!({"schema": 1, "since": "2026-11-29T20:57:33Z"}));
    }

    #[test]
    fn stop_and_resume_write_the_object_and_drop_the_flat_field() {
        let mut entry = json!({"id": "g", "activation_state": "active", "activation": {"x": 1}});
        let change = stop(&mut entry, Some(" enough "), now()).unwrap();
        assert!(change.changed && change.before == "active");
        assert_eq!(
            entry,
            json!({"id": "g", "activation": {"x": 1, "schema_version": ACTIVATION_SCHEMA,
                "state": "stopped", "updated_at": "2026-11-29T20:57:33Z", "reason": "enough"}})
        );
        let before = entry.clone();
        assert!(!stop(&mut entry, Some("again"), now()).unwrap().changed);
        assert_eq!(entry, before);
        assert!(resume(&mut entry, now()).unwrap().changed);
        assert_eq!(entry["activation"]["state"], "active");
        assert!(entry["activation"].get("reason").is_none());
    }

    #[test]
    fn a_reason_of_600_characters_fits_and_one_more_does_not() {
        let mut entry = json!({"id": "g"});
        let error = stop(&mut entry, Some(&"é".repeat(601)), now()).unwrap_err();
        assert_eq!(error.code, ErrorCode::TextTooLong);
        assert_eq!(entry, json!({"id": "g"}));
        stop(&mut entry, Some(&"é".repeat(600)), now()).unwrap();
    }

    #[test]
    fn an_unreadable_activation_can_be_stopped_and_resumed() {
        let mut entry = json!({"id": "g", "activation_state": "paused"});
        assert_eq!(resume(&mut entry, now()).unwrap().before, "unknown");
        assert!(policy(&entry).unwrap().activation_problem.is_none());
    }

    #[test]
    fn only_new_agents_are_appended() {
        let mut entry = json!({"id": "g", "registered_agents": ["a"], "coordination": {"registered_agents": ["B"]}});
        let ids = ["a", "b", "c", "c"].map(AgentId::trusted);
        let added = register_agents(&mut entry, &ids).unwrap();
        assert_eq!(added, [AgentId::trusted("c")]);
        assert_eq!(
            entry["coordination"],
            json!({"registered_agents": ["B", "c"], "agent_model": "peer_v1"})
        );
        let before = entry.clone();
        assert!(register_agents(&mut entry, &ids).unwrap().is_empty());
        assert_eq!(entry, before);
        let mut odd = json!({"id": "g", "coordination": []});
        assert_eq!(register_agents(&mut odd, &ids).unwrap_err().code, ErrorCode::RegistryShape);
    }

    #[test]
    fn an_identity_is_given_once() {
        let mut entry = json!({"id": "g"});
        let uid = GoalUid::trusted("u1");
        assert!(mark_imported(&mut entry, &uid, now()).unwrap());
        assert!(!mark_imported(&mut entry, &uid, Instant::default()).unwrap());
        let error = mark_imported(&mut entry, &GoalUid::trusted("u2"), now()).unwrap_err();
        assert_eq!(error.code, ErrorCode::StoreForeign);
    }
}
