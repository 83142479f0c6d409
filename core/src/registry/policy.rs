//! A goal entry's meaning: roster, modes, capabilities, scopes, activation, window.
//! Reads only; what a rule makes of it is not decided here.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::document::{entry_id, shown, text_field};
use super::quota::quota;
use crate::error::{Error, ErrorCode, Result};
use crate::model::todo::canonical_capability;
use crate::model::{AgentId, GoalId, GoalPolicy, GoalUid, SelfRepair, WorkMode};

/// Schema of the `activation` object.
pub const ACTIVATION_SCHEMA: &str = "loopx_goal_activation_v1";

/// The policy that a goal entry states.
///
/// [`ErrorCode::RegistryShape`] when the entry is no object, or its id or `goal_uid`
/// could not stand as one part of a path, where both are used. Everything else that is
/// odd falls to its default or, where running would be wrong, is said in the policy.
pub fn policy(entry: &Value) -> Result<GoalPolicy> {
    let shape =
        |sentence: &str| Err(Error::new(ErrorCode::RegistryShape, "goal").message(sentence));
    let Some(map) = entry.as_object() else {
        return shape("a goal entry of the registry is not an object");
    };
    let Some(id) = entry_id(entry) else {
        return shape("a goal entry of the registry has no id");
    };
    let goal_id = match GoalId::parse(id) {
        Ok(id) => id,
        // The earlier tool took nearly any text as an id.
        Err(_) if is_path_segment(id) => GoalId::trusted(id),
        Err(_) => return shape("a goal id of the registry cannot name a folder"),
    };
    let mut policy = GoalPolicy::new(goal_id);
    policy.goal_uid = match map.get("goal_uid") {
        None | Some(Value::Null) => None,
        Some(Value::String(uid)) if is_uid(uid) => Some(GoalUid::trusted(uid)),
        Some(_) => return shape("a goal_uid of the registry is malformed"),
    };
    if let Some(status) = text_field(map, "status") {
        policy.status = status.to_lowercase();
    }
    match activation(map) {
        Ok(stopped) => policy.activation_stopped = stopped,
        Err(problem) => policy.activation_problem = Some(problem),
    }
    policy.roster = roster(map);
    policy.work_modes = work_modes(map);
    policy.capabilities = capabilities(map);
    policy.write_scope = write_scope(map);
    policy.worktree_required =
        is_true(map, &["workspace_guard_policy", "peer_independent_worktree_required"]);
    policy.quota = quota(map);
    policy.self_repair = SelfRepair {
        enabled: is_true(map, &["control_plane", "self_repair", "enabled"]),
        health_blocker: is_true(
            map,
            &["control_plane", "self_repair", "allow_health_blocker_repair"],
        ),
    };
    policy.acceptance_gaps = acceptance_gaps(map);
    policy.state_file = text_field(map, "state_file").map(str::to_owned);
    policy.repo = text_field(map, "repo").map(str::to_owned);
    policy.objective = text_field(map, "objective").map(str::to_owned);
    Ok(policy)
}

/// Registered agents in order: `coordination`, then the goal's own list, then
/// `spawn_policy`; texts that are no agent id are left out.
pub fn roster(entry: &Map<String, Value>) -> Vec<AgentId> {
    let mut agents: Vec<AgentId> = Vec::new();
    let lists = [
        entry.get("coordination").and_then(|c| c.get("registered_agents")),
        entry.get("registered_agents"),
        entry.get("spawn_policy").and_then(|s| s.get("registered_agents")),
    ];
    for item in lists.into_iter().flatten().filter_map(Value::as_array).flatten() {
        let name = item.as_str().or_else(|| {
            ["id", "agent_id", "name"].iter().find_map(|key| item.get(key).and_then(Value::as_str))
        });
        if let Some(Ok(agent)) = name.map(AgentId::parse) {
            push_new(&mut agents, agent);
        }
    }
    agents
}

/// Whether the activation is stopped, or why nobody can say. The flat field is what a
/// projection carries and wins.
pub fn activation(entry: &Map<String, Value>) -> Result<bool, String> {
    let state = |value: &Value| match value.as_str() {
        Some("active") => Ok(false),
        Some("stopped") => Ok(true),
        Some(other) => Err(format!("the activation state \"{}\" is unknown", shown(other))),
        None => Err("the activation state is not text".to_owned()),
    };
    if let Some(flat) = entry.get("activation_state").filter(|flat| !flat.is_null()) {
        return state(flat);
    }
    match entry.get("activation") {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Object(activation)) => {
            match activation.get("schema_version") {
                None => {}
                Some(schema) if schema.as_str() == Some(ACTIVATION_SCHEMA) => {}
                Some(_) => return Err("the activation has an unknown schema".to_owned()),
            }
            activation
                .get("state")
                .map_or_else(|| Err("the activation has no state".to_owned()), state)
        }
        Some(_) => Err("the activation is not an object".to_owned()),
    }
}

/// A word that is no work mode holds the agent to monitors: what restricts and cannot
/// be read still restricts.
fn work_modes(entry: &Map<String, Value>) -> BTreeMap<AgentId, WorkMode> {
    let modes = entry
        .get("coordination")
        .and_then(|c| c.get("agent_work_modes"))
        .and_then(Value::as_object);
    modes
        .into_iter()
        .flatten()
        .filter_map(|(agent, mode)| Some((AgentId::parse(agent).ok()?, mode)))
        .filter(|(_, mode)| !mode.is_null() && mode.as_str() != Some(WorkMode::Active.as_str()))
        .map(|(agent, _)| (agent, WorkMode::MonitorOnly))
        .collect()
}

fn capabilities(entry: &Map<String, Value>) -> BTreeMap<Option<AgentId>, Vec<String>> {
    let mut granted: BTreeMap<Option<AgentId>, Vec<String>> = BTreeMap::new();
    let mut grant = |agent: Option<AgentId>, list: &Value| {
        let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        for capability in texts.map(canonical_capability).filter(|c| !c.is_empty()) {
            push_new(granted.entry(agent.clone()).or_default(), capability);
        }
    };
    let coordination = entry.get("coordination");
    let stated = [
        coordination.and_then(|c| c.get("available_capabilities")),
        entry.get("available_capabilities"),
    ];
    for list in stated.into_iter().flatten() {
        grant(None, list);
        for (agent, list) in list.as_object().into_iter().flatten() {
            if let Ok(agent) = AgentId::parse(agent) {
                grant(Some(agent), list);
            }
        }
    }
    let profiles = coordination.and_then(|c| c.get("agent_profiles")).and_then(Value::as_object);
    for (agent, profile) in profiles.into_iter().flatten() {
        if let (Ok(agent), Some(list)) =
            (AgentId::parse(agent), profile.get("available_capabilities"))
        {
            grant(Some(agent), list);
        }
    }
    granted
}

fn write_scope(entry: &Map<String, Value>) -> Vec<String> {
    let mut scopes = Vec::new();
    let coordination = entry.get("coordination");
    let checkpointed = coordination
        .and_then(|c| c.get("checkpointed_boundary_authority"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|item| item.get("active") != Some(&Value::Bool(false)))
        .filter_map(|item| item.get("write_scope"));
    let lists = coordination.and_then(|c| c.get("write_scope")).into_iter().chain(checkpointed);
    for scope in lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str) {
        let scope = scope.trim();
        if !scope.is_empty() {
            push_new(&mut scopes, scope.to_owned());
        }
    }
    scopes
}

fn acceptance_gaps(entry: &Map<String, Value>) -> Vec<String> {
    let entries = entry.get("acceptance").and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter(|item| item.get("met") != Some(&Value::Bool(true)))
        .filter_map(|item| {
            item.as_str().or_else(|| {
                ["text", "id"].iter().find_map(|key| item.get(key).and_then(Value::as_str))
            })
        })
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_true(entry: &Map<String, Value>, keys: &[&str]) -> bool {
    let mut keys = keys.iter();
    let first = keys.next().and_then(|key| entry.get(*key));
    keys.fold(first, |value, key| value.and_then(|value| value.get(key)))
        == Some(&Value::Bool(true))
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn is_uid(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

fn is_path_segment(text: &str) -> bool {
    text.len() <= 255
        && !matches!(text, "." | "..")
        && !text.chars().any(|c| c.is_control() || matches!(c, '/' | '\\'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(mut fields: Value) -> GoalPolicy {
        fields.as_object_mut().unwrap().insert("id".into(), json!("g"));
        policy(&fields).unwrap()
    }

    fn agents(policy: &GoalPolicy) -> Vec<&str> {
        policy.roster.iter().map(AgentId::as_str).collect()
    }

    #[test]
    fn roster_is_the_union_in_order_of_canonical_ids() {
        let policy = of(json!({
            "spawn_policy": {"registered_agents": ["d", "A"]},
            "registered_agents": [{"agent_id": "c"}, {"name": "e"}],
            "coordination": {"registered_agents": ["Agent A", {"id": "b"}, "bad id!", 7, "a"]},
        }));
        assert_eq!(agents(&policy), ["agent-a", "b", "a", "c", "e", "d"]);
    }

    #[test]
    fn activation_flat_wins_and_unknown_words_are_a_problem() {
        let stopped = json!({"schema_version": ACTIVATION_SCHEMA, "state": "stopped"});
        assert!(of(json!({ "activation": stopped })).is_stopped());
        assert!(!of(json!({ "activation": stopped, "activation_state": "active" })).is_stopped());
        assert!(of(json!({ "activation_state": "stopped" })).is_stopped());
        for odd in [
            json!({"activation_state": "paused"}),
            json!({"activation_state": 1}),
            json!({"activation": "stopped"}),
            json!({"activation": {}}),
            json!({"activation": {"schema_version": "v2", "state": "active"}}),
        ] {
            assert!(of(odd.clone()).activation_problem.is_some(), "{odd}");
        }
        assert!(of(json!({"status": "Stopped"})).is_stopped());
    }

    #[test]
    fn capabilities_come_from_all_three_places() {
        let policy = of(json!({
            "available_capabilities": ["Web-Search"],
            "coordination": {
                "available_capabilities": {"A": ["git push"], "bad id!": ["x"]},
                "agent_profiles": {"a": {"available_capabilities": ["git-push", "gpu"]}},
            },
        }));
        let a = Some(AgentId::trusted("a"));
        assert_eq!(policy.capabilities[&None], ["web_search"]);
        assert_eq!(policy.capabilities[&a], ["git_push", "gpu"]);
        assert_eq!(policy.capabilities.len(), 2);
    }

    #[test]
    fn scopes_modes_repairs_and_gaps() {
        let policy = of(json!({
            "coordination": {
                "write_scope": ["src/**"],
                "checkpointed_boundary_authority": [
                    {"write_scope": ["docs/**", "src/**"]},
                    {"write_scope": ["secret/**"], "active": false},
                ],
                "agent_work_modes": {"m": "monitor_only", "a": "active", "t": "monitr"},
            },
            "workspace_guard_policy": {"peer_independent_worktree_required": true},
            "control_plane": {"self_repair": {"enabled": true, "allow_health_blocker_repair": "yes"}},
            "acceptance": ["tests pass", {"text": "docs", "met": true}, {"id": "bench", "met": false}, {"x": 1}],
            "state_file": "GOAL.md", "repo": "/r", "goal_uid": "u-1",
        }));
        assert_eq!(policy.write_scope, ["src/**", "docs/**"]);
        assert_eq!(policy.work_mode(Some(&AgentId::trusted("m"))), WorkMode::MonitorOnly);
        assert_eq!(policy.work_mode(Some(&AgentId::trusted("a"))), WorkMode::Active);
        assert_eq!(policy.work_mode(Some(&AgentId::trusted("t"))), WorkMode::MonitorOnly);
        assert!(policy.worktree_required && policy.self_repair.enabled);
        assert!(!policy.self_repair.health_blocker, "only true is true");
        assert_eq!(policy.acceptance_gaps, ["tests pass", "bench"]);
        assert_eq!(policy.goal_uid, Some(GoalUid::trusted("u-1")));
    }

    #[test]
    fn names_that_would_leave_their_folder_are_refused() {
        for entry in [
            json!({"id": "../x"}),
            json!({"id": "g", "goal_uid": "../../etc"}),
            json!({"id": "g", "goal_uid": 7}),
            json!({}),
            json!([]),
        ] {
            assert_eq!(policy(&entry).unwrap_err().code, ErrorCode::RegistryShape, "{entry}");
        }
        assert_eq!(policy(&json!({"id": "Ünï cödé"})).unwrap().goal_id.as_str(), "Ünï cödé");
    }
}
