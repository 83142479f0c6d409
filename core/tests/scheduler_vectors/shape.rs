//! How a recorded packet and one of ours are brought to one form: what is only a name, a
//! token or prose is not compared. `tests/vectors/DIFFERENCES.md` lists each of these.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value, json};

/// Texts for people, and fields that only ours has.
const PROSE: [&str; 4] = ["reason", "spend_policy", "repair_action", "resume_trigger"];
const ONLY_OURS: [&str; 1] = ["next_check_minutes"];

/// The ids that the first section of rows names.
pub fn named(list: &str) -> BTreeSet<String> {
    list.lines()
        .skip_while(|line| *line != "### Rows")
        .skip(1)
        .take_while(|line| !line.starts_with("##"))
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'))
        .map(|(id, _)| id.to_owned())
        .collect()
}

/// One of ours.
pub fn ours<T: Serialize>(said: &T) -> Value {
    let mut value = serde_json::to_value(said).unwrap();
    if let Some(map) = value.as_object_mut() {
        for key in ONLY_OURS {
            map.remove(key);
        }
        // Codex App has the packet under both names; the earlier tool has the one for it,
        // and says to every host that it does not apply.
        if let Some(copy) = map.remove("codex_app") {
            map.insert("app_automation".into(), copy);
        }
    }
    tokens(&mut value);
    clean(&value)
}

/// A recorded one.
pub fn theirs(recorded: &Value) -> Value {
    let mut value = recorded.clone();
    if let Some(map) = value.as_object_mut() {
        if let Some(app) = map.remove("codex_app") {
            map.insert("app_automation".into(), app);
        }
        subject_keys(map);
    }
    tokens(&mut value);
    rename(clean(&value))
}

/// The free text of the identity is three typed fields with us; a goal runtime has one of
/// them already.
fn subject_keys(map: &mut Map<String, Value>) {
    let Some(Value::Array(keys)) = map.get_mut("unchanged_identity_keys") else { return };
    let selected = keys.contains(&json!("selected_todo.todo_id"));
    let before = keys.len();
    if keys.last() == Some(&json!("recommended_action")) {
        keys.pop();
        keys.push(json!("reason_code"));
        if !selected {
            keys.push(json!("selected_todo.todo_id"));
        }
        keys.push(json!("interaction_contract.user_channel.actions"));
    }
    let added = keys.len() - before;
    if let Some(count) = map
        .get_mut("cold_path_detail")
        .and_then(|d| d.pointer_mut("/reset_policy_detail/identity_key_count"))
    {
        *count = json!(count.as_u64().unwrap() + added as u64);
    }
}

/// Digests are opaque: each is replaced by its name, wherever it is said.
fn tokens(value: &mut Value) {
    let mut known: Vec<(String, &str)> = Vec::new();
    let mut find = |path: &str, name: &'static str| {
        if let Some(text) = value.pointer(path).and_then(Value::as_str)
            && !text.is_empty()
        {
            known.push((text.to_owned(), name));
        }
    };
    find("/reset_policy/reset_token", "TOKEN");
    find("/reset_policy/identity_signature", "IDENTITY");
    let detail = "/cold_path_detail/reset_policy_detail";
    find(&format!("{detail}/reset_profile_signature"), "PROFILE");
    find(&format!("{detail}/profile_signature"), "PROFILE");
    replace(value, &known);
}

fn replace(value: &mut Value, known: &[(String, &str)]) {
    match value {
        Value::String(text) => {
            if let Some((_, name)) = known.iter().find(|(token, _)| token == text) {
                *text = (*name).to_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, known)),
        Value::Object(map) => map.values_mut().for_each(|item| replace(item, known)),
        _ => {}
    }
}

/// Without nulls and prose, with instants in one spelling.
fn clean(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(key, item)| !item.is_null() && !PROSE.contains(&key.as_str()))
                .map(|(key, item)| (key.clone(), clean(item)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(clean).collect()),
        Value::String(text) => json!(
            text.strip_suffix("+00:00")
                .map_or_else(|| text.clone(), |instant| format!("{instant}Z"))
        ),
        other => other.clone(),
    }
}

/// Names that the seed replaced.
fn rename(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, item)| {
                    let key = match key.as_str() {
                        "codex_app_initial_interval_minutes"
                        | "codex_app_initial_rrule"
                        | "codex_app_tool"
                        | "codex_app_apply"
                        | "codex_app_applicability" => {
                            key.replacen("codex_app", "app_automation", 1)
                        }
                        _ => key,
                    };
                    let item = match (key.as_str(), item) {
                        ("hot_path_runtime_fields", _) => {
                            json!(["app_automation", "unchanged_poll", "reset_policy"])
                        }
                        // The scalar of an older record is not kept any more.
                        ("persist", Value::String(text)) => {
                            json!(text.replace("|host_update_failure_compat", ""))
                        }
                        (_, item) => rename(item),
                    };
                    (key, item)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(rename).collect()),
        other => other,
    }
}

/// The fields of a `hint_core` row, and the same of ours.
pub fn core_row(row: &Value, said: &Value) -> (Value, Value) {
    let detail = &said["cold_path_detail"];
    let local = &detail["local_scheduler"];
    let app = &said["app_automation"];
    let phase = match &said["execution_phase"] {
        Value::Null => &detail["execution_phase"],
        phase => phase,
    };
    let picked: Map<String, Value> = row["codex_app"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| (key.clone(), app.get(key).cloned().unwrap_or_default()))
        .collect();
    let ours = json!({
        "action": said["action"],
        "cadence_class": said["cadence_class"],
        "reason_code": said["reason_code"],
        "unchanged_poll": said["unchanged_poll"],
        "unchanged_identity_keys": said["unchanged_identity_keys"],
        "consistency_error": said["consistency_error"],
        "local_initial": local["recommended_interval_minutes"],
        "local_max": local["max_interval_minutes"],
        "local_progression": local["example_progression_minutes"],
        "unchanged_limit": local["unchanged_poll_limit"],
        "after_limit": local["after_limit"],
        "cadence_context": detail["cadence_context"],
        "frontier_recheck": detail["frontier_recheck"],
        "goal_runtime_continuation": said["goal_runtime_continuation"],
        "execution_phase": phase,
        "reset_policy": said["reset_policy"],
        "codex_app": picked,
    });
    let mut recorded = Map::new();
    for key in ours.as_object().unwrap().keys() {
        let from = if key == "unchanged_identity_keys" { "identity_keys" } else { key.as_str() };
        recorded.insert(key.clone(), row.get(from).cloned().unwrap_or_default());
    }
    subject_keys(&mut recorded);
    let mut recorded = Value::Object(recorded);
    tokens(&mut recorded);
    let mut ours = ours;
    tokens(&mut ours);
    // The packet is compared by the fields that the row has of it.
    let restored = recorded["codex_app"].take();
    let mut recorded = rename(clean(&recorded));
    let mut ours = clean(&ours);
    recorded["codex_app"] = clean(&restored);
    ours["codex_app"] = clean(&json!(picked));
    (recorded, ours)
}

/// Where two values part.
pub fn first_difference(theirs: &Value, ours: &Value, at: &str) -> String {
    if let (Value::Object(a), Value::Object(b)) = (theirs, ours) {
        let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        let parts: Vec<String> = keys
            .into_iter()
            .filter(|k| a.get(*k) != b.get(*k))
            .map(|k| {
                let (a, b) = (a.get(k).unwrap_or(&Value::Null), b.get(k).unwrap_or(&Value::Null));
                first_difference(a, b, &format!("{at}.{k}"))
            })
            .collect();
        return parts.join("; ");
    }
    format!("{at}: {theirs} but {ours}")
}
