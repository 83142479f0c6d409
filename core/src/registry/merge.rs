//! What one project's goals become in the global registry: the entries' transformation
//! and the rules by which they join what is there. Pure but for comparing paths;
//! files and locks are `projection`'s.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::document::{entry_id, is_goal, shown, text_field};
use super::place::same_place;
use crate::error::{Error, ErrorCode, Result};
use crate::file::sha256_hex;
use crate::model::{GoalId, Instant};

/// Fields by which a person may override what a goal waits on.
const ATTENTION: &[&str] = &[
    "waiting_on",
    "attention_status",
    "operator_question",
    "recommended_action",
    "next_handoff_condition",
];

/// Fields that say whose goal an entry is.
const ROUTE: &[&str] = &["source_registry", "repo", "state_file"];

/// What became of one goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// New in the global registry.
    Added,
    /// Replaced an earlier state of the same goal.
    Updated,
    /// Replaced another project's goal, as asked.
    ReplacedRoute,
    /// Said nothing new; left where it is.
    Unchanged,
}

impl Action {
    /// Text in action strings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Action::Added => "added",
            Action::Updated => "updated",
            Action::ReplacedRoute => "replaced-route",
            Action::Unchanged => "unchanged",
        }
    }
}

/// A goal entry on its way from a source registry.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Name; also of entries that have it in another spelling.
    pub goal: GoalId,
    /// The entry as the global registry will hold it.
    pub entry: Map<String, Value>,
}

/// The global form of a source entry: what only the project needs is counted instead
/// of copied, and where it came from is added.
pub fn transform(
    entry: &Map<String, Value>,
    source_registry: &str,
    now: Instant,
) -> Map<String, Value> {
    let mut entry = entry.clone();
    let sources = entry.shift_remove("authority_sources");
    let authority = entry.shift_remove("authority_registry");
    entry.insert("source_registry".into(), json!(source_registry));
    entry.insert("synced_at".into(), json!(now));
    entry.insert("authority_source_count".into(), json!(sources.as_ref().map_or(0, length)));
    entry.insert("authority_registry".into(), authority_counters(authority.as_ref()));
    entry
}

/// Witness of a source goal and its route: sha256 over the global form of its entry
/// without what a sync changes by itself (`synced_at`, a `clear_attention_override` that
/// the merge uses up). Readback of what was observed about a goal is held against it.
pub fn observation_digest(entry: &Value, source_registry: &Path, runtime_root: &str) -> String {
    let route = source_registry.to_string_lossy();
    let mut entry = match entry.as_object() {
        Some(entry) => transform(entry, &route, Instant::default()),
        None => Map::new(),
    };
    entry.shift_remove("synced_at");
    entry.shift_remove("clear_attention_override");
    let sorted: BTreeMap<&String, &Value> = entry.iter().collect();
    sha256_hex(json!([sorted, runtime_root]).to_string().as_bytes())
}

/// Merges `incoming` into the global `goals` and answers what became of each.
///
/// Other goals keep their place; changed ones go to the end, so that the order is least
/// recently synced first. A goal whose route differs from the one that is there is
/// [`ErrorCode::RouteCollision`] unless `replace_route`.
pub fn merge(
    goals: &mut Vec<Value>,
    incoming: Vec<Incoming>,
    replace_route: bool,
) -> Result<Vec<(GoalId, Action)>> {
    let mut actions = Vec::new();
    for Incoming { goal, entry } in incoming {
        let present: Vec<&Map<String, Value>> =
            goals.iter().filter(|item| is_goal(item, &goal)).filter_map(Value::as_object).collect();
        let differing = present
            .iter()
            .map(|existing| route_difference(existing, &entry))
            .find(|fields| !fields.is_empty());
        if let (Some(fields), false) = (&differing, replace_route) {
            return Err(collision(&goal, fields));
        }
        let merged = match present.last() {
            Some(existing) => with_attention(existing, entry),
            None => {
                let mut entry = entry;
                entry.shift_remove("clear_attention_override");
                entry
            }
        };
        let action = match (present.as_slice(), differing) {
            ([], _) => Action::Added,
            (_, Some(_)) => Action::ReplacedRoute,
            ([existing], None) if same_but_for_time(existing, &merged) => Action::Unchanged,
            _ => Action::Updated,
        };
        if action != Action::Unchanged {
            goals.retain(|item| !is_goal(item, &goal));
            goals.push(Value::Object(merged));
        }
        actions.push((goal, action));
    }
    Ok(actions)
}

/// Carries the project records that the incoming goals name from `source` to `global`.
///
/// A record that is missing in the source is [`ErrorCode::RegistryShape`]; one that
/// differs from the global one is taken over when only goals of this source name it,
/// else [`ErrorCode::RouteCollision`]. Call it after [`merge`].
pub fn carry_projects(
    global: &mut Map<String, Value>,
    source: &Map<String, Value>,
    incoming: &[Value],
    source_registry: &str,
) -> Result<()> {
    let named = incoming
        .iter()
        .filter_map(|goal| goal.as_object())
        .filter_map(|goal| text_field(goal, "project_id"));
    for project in named {
        let Some(record) = records(source).iter().find(|record| is_project(record, project)) else {
            return Err(Error::new(ErrorCode::RegistryShape, "projects").message(format!(
                "project \"{}\" of a goal has no record in the registry",
                shown(project)
            )));
        };
        let shared = global
            .get("goals")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .filter(|goal| text_field(goal, "project_id") == Some(project))
            .any(|goal| {
                !text_field(goal, "source_registry")
                    .is_some_and(|registry| same_place(registry, source_registry))
            });
        let mut kept = records(global).to_vec();
        match kept.iter_mut().find(|present| is_project(present, project)) {
            Some(present) if present == record => continue,
            Some(_) if shared => {
                return Err(Error::new(ErrorCode::RouteCollision, "projects").message(format!(
                    "another project has a different record of project \"{}\"",
                    shown(project)
                )));
            }
            Some(present) => *present = record.clone(),
            None => kept.push(record.clone()),
        }
        global.insert("projects".into(), Value::Array(kept));
    }
    Ok(())
}

/// The overriding fields of a goal that came from elsewhere outlive a sync that does
/// not set them; the source's own clearing of them counts.
fn with_attention(
    existing: &Map<String, Value>,
    mut incoming: Map<String, Value>,
) -> Map<String, Value> {
    let clear = incoming.shift_remove("clear_attention_override");
    let same_source =
        match (text_field(existing, "source_registry"), text_field(&incoming, "source_registry")) {
            (Some(a), Some(b)) => same_place(a, b),
            _ => false,
        };
    if clear.as_ref().is_some_and(is_set) || same_source {
        return incoming;
    }
    let mut carried = false;
    for field in ATTENTION {
        let Some(value) = existing.get(*field).filter(|value| is_set(value)) else {
            continue;
        };
        if !incoming.get(*field).is_some_and(is_set) {
            incoming.insert((*field).to_owned(), value.clone());
            carried = true;
        }
    }
    if let (true, Some(from)) =
        (carried, existing.get("attention_override_synced_from").filter(|v| is_set(v)))
    {
        incoming.insert("attention_override_synced_from".into(), from.clone());
    }
    incoming
}

/// Route fields that both entries state, differently.
fn route_difference(
    existing: &Map<String, Value>,
    incoming: &Map<String, Value>,
) -> Vec<&'static str> {
    ROUTE
        .iter()
        .copied()
        .filter(|field| match (text_field(existing, field), text_field(incoming, field)) {
            (Some(a), Some(b)) => !same_place(a, b),
            _ => false,
        })
        .collect()
}

fn collision(goal: &GoalId, fields: &[&str]) -> Error {
    Error::new(ErrorCode::RouteCollision, goal.as_str()).message(format!(
        "the global registry has another goal \"{goal}\": {} would change",
        fields.join(", ")
    ))
}

fn same_but_for_time(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    let without = |map: &Map<String, Value>| {
        let mut map = map.clone();
        map.shift_remove("synced_at");
        map
    };
    without(a) == without(b)
}

/// Counters in place of the project's authority registry. The file that it may name is
/// not opened: a projection must not depend on files of the project's working tree.
fn authority_counters(authority: Option<&Value>) -> Value {
    let count = |key: &str| authority.and_then(|authority| authority.get(key)).map_or(0, length);
    let path = authority
        .and_then(|authority| authority.get("path").or(authority.is_string().then_some(authority)))
        .and_then(Value::as_str);
    json!({
        "declared": authority.is_some_and(is_set),
        "required": authority.and_then(|a| a.get("required")) == Some(&Value::Bool(true)),
        "path": path,
        "read_status": "not_read",
        "default_entry_count": count("default_entries"),
        "topic_authority_count": count("topic_authorities"),
        "deprecated_source_count": count("deprecated_sources"),
    })
}

fn length(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    }
}

/// What the earlier tool calls true: anything but nothing.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(set) => *set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => length(value) > 0,
    }
}

fn records(registry: &Map<String, Value>) -> &[Value] {
    registry.get("projects").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_project(record: &Value, project: &str) -> bool {
    record.get("project_id").and_then(Value::as_str).map(str::trim) == Some(project)
}

/// The goal id under which a source entry is projected.
pub fn goal_of(entry: &Value) -> Option<Result<GoalId>> {
    entry_id(entry).map(GoalId::parse)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn run(existing: Value, incoming: Value, replace: bool) -> Result<(Value, Action)> {
        let mut goals = vec![existing];
        let incoming = Incoming { goal: GoalId::trusted("g"), entry: map(incoming) };
        let actions = merge(&mut goals, vec![incoming], replace)?;
        Ok((goals.last().unwrap().clone(), actions.first().unwrap().1))
    }

    #[test]
    fn transformation_counts_authority_and_keeps_unknown_fields() {
        let source = map(json!({
            "id": "g", "new": [1], "authority_sources": [{}, {}],
            "authority_registry": {"path": "a.json", "required": true, "default_entries": [1]},
            "coordination": {"registered_agents": ["a"]},
        }));
        let entry = transform(&source, "/p/.loopx/registry.json", Instant::default());
        assert!(entry.get("authority_sources").is_none());
        assert_eq!(entry["authority_source_count"], 2);
        assert_eq!(entry["authority_registry"]["declared"], true);
        assert_eq!(entry["authority_registry"]["default_entry_count"], 1);
        assert_eq!(
            (&entry["new"], &entry["coordination"]),
            (&source["new"], &source["coordination"])
        );
        assert_eq!(entry["source_registry"], "/p/.loopx/registry.json");
    }

    #[test]
    fn others_keep_their_place_and_changed_goals_go_last() {
        let mut goals = vec![json!({"id": "g", "n": 1}), json!("odd"), json!({"id": "x"})];
        let incoming = |n| {
            vec![Incoming {
                goal: GoalId::trusted("g"),
                entry: map(json!({"id": "g", "n": n, "synced_at": n})),
            }]
        };
        assert_eq!(merge(&mut goals, incoming(1), false).unwrap()[0].1, Action::Unchanged);
        assert_eq!(goals[0]["id"], "g");
        assert_eq!(merge(&mut goals, incoming(2), false).unwrap()[0].1, Action::Updated);
        assert_eq!(goals[2], json!({"id": "g", "n": 2, "synced_at": 2}));
        assert_eq!(goals.len(), 3);
    }

    #[test]
    fn overrides_from_elsewhere_are_carried_and_own_ones_can_be_cleared() {
        let existing = |source: Value| {
            json!({"id": "g", "source_registry": source,
            "waiting_on": "codex", "operator_question": "Which?", "attention_override_synced_from": "there"})
        };
        let plain =
            json!({"id": "g", "source_registry": "/a", "waiting_on": "", "attention_status": "x"});
        // Unknown source: carried.
        let (merged, _) = run(existing(Value::Null), plain.clone(), false).unwrap();
        assert_eq!(
            (&merged["waiting_on"], &merged["operator_question"]),
            (&json!("codex"), &json!("Which?"))
        );
        assert_eq!(merged["attention_override_synced_from"], "there");
        assert_eq!(merged["attention_status"], "x");
        // Same source: what it cleared is cleared.
        let (merged, _) = run(existing(json!("/a")), plain.clone(), false).unwrap();
        assert_eq!(merged, plain);
        // Another source with an explicit clear: the incoming entry as it is.
        let mut clearing = plain.clone();
        clearing["clear_attention_override"] = json!(true);
        let (merged, action) = run(existing(json!("/b")), clearing, true).unwrap();
        assert_eq!((merged, action), (plain.clone(), Action::ReplacedRoute));
        // A value that the incoming entry sets wins, and then nothing was carried.
        let mut setting = plain.clone();
        setting["waiting_on"] = json!("controller");
        setting["operator_question"] = json!("Mine?");
        setting["clear_attention_override"] = json!(false);
        let (merged, _) = run(existing(Value::Null), setting, false).unwrap();
        assert_eq!(merged["waiting_on"], "controller");
        assert!(merged.get("attention_override_synced_from").is_none());
        assert!(merged.get("clear_attention_override").is_none());
    }

    #[test]
    fn another_projects_goal_collides_in_each_route_field() {
        for field in ROUTE {
            let error =
                run(json!({"id": "G", *field: "/one"}), json!({"id": "g", *field: "/two"}), false)
                    .unwrap_err();
            assert_eq!(error.code, ErrorCode::RouteCollision);
            assert!(error.text().contains(field) && !error.text().contains("/one"));
            let (_, action) =
                run(json!({"id": "g", *field: "/one"}), json!({"id": "g", *field: "/two"}), true)
                    .unwrap();
            assert_eq!(action, Action::ReplacedRoute);
            run(json!({"id": "g", *field: ""}), json!({"id": "g", *field: "/two"}), false).unwrap();
        }
    }

    #[test]
    fn project_records_travel_and_a_foreign_one_is_not_overwritten() {
        let source = map(json!({"projects": [{"project_id": "p", "v": 2}, {"project_id": "q"}]}));
        let goals = [json!({"id": "g", "project_id": "p", "source_registry": "/a"})];
        let mut global = map(json!({ "goals": goals }));
        carry_projects(&mut global, &source, &goals, "/a").unwrap();
        assert_eq!(global["projects"], json!([{"project_id": "p", "v": 2}]));
        global.insert("projects".into(), json!([{"project_id": "p", "v": 1}]));
        carry_projects(&mut global, &source, &goals, "/a").unwrap();
        assert_eq!(global["projects"], json!([{"project_id": "p", "v": 2}]));
        global["goals"]
            .as_array_mut()
            .unwrap()
            .push(json!({"project_id": "p", "source_registry": "/b"}));
        global.insert("projects".into(), json!([{"project_id": "p", "v": 1}]));
        let error = carry_projects(&mut global, &source, &goals, "/a").unwrap_err();
        assert_eq!(error.code, ErrorCode::RouteCollision);
        let error = carry_projects(&mut global, &Map::new(), &goals, "/a").unwrap_err();
        assert_eq!(error.code, ErrorCode::RegistryShape);
    }
}
