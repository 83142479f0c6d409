//! Between metadata keys and the fields of a todo, in both directions. The order of
//! `write` is the order of the earlier tool (reference state.md 2.4).

use serde_json::Value;

use super::grammar::{collapse, is_key, push_encoded};
use super::is_provisional;
use crate::model::todo::canonical_capability;
use crate::model::{
    AgentId, Cadence, Continuation, Instant, ResumeCondition, ScopeRequirement, TaskClass, Todo,
    TodoId, TodoStatus,
};

/// Keys that have a field of their own; they never stand in `extra`.
const TYPED: &[&str] = &[
    "todo_id",
    "status",
    "task_class",
    "action_kind",
    "required_write_scopes",
    "required_capabilities",
    "target_capabilities",
    "decision_scope",
    "required_decision_scopes",
    "claimed_by",
    "bound_agent",
    "blocks_agent",
    "goal_bound",
    "global_gate",
    "excluded_agents",
    "unblocks_todo_id",
    "superseded_by",
    "successor_todo_ids",
    "completion_continuation",
    "resume_when",
    "no_followup",
    "target_key",
    "cadence",
    "next_due_at",
    "expires_at",
    "last_checked_at",
    "result_hash",
    "consecutive_no_change",
    "watch_only",
    "note",
    "evidence",
    "reason",
    "completed_at",
    "updated_at",
];

/// Keys of the earlier tool without a field here; `write` puts them at their place.
const KNOWN_EXTRA: &[&str] = &[
    "task_domain",
    "capability_binding_ref",
    "task_repository",
    "continuation_policy",
    "explore_result_node_refs",
    "decision_outcome",
    "decision_scope_outcomes",
    "completion_recovery",
    "replan_obligation_id",
    "material_change",
    "max_no_change_before_replan",
    "completion_turn_key",
    "validation_command",
    "validation_command_argv",
    "validation_label",
    "validation_timeout_seconds",
];

/// Keys that a hand edit does not set: who holds a todo, how it ended, what was decided.
pub(super) const AUTHORITY: &[&str] = &[
    "claimed_by",
    "no_followup",
    "decision_outcome",
    "decision_scope_outcomes",
    "completed_at",
    "completion_continuation",
    "completion_recovery",
    "completion_turn_key",
    "superseded_by",
    "successor_todo_ids",
];

/// What the metadata of one block states beside the todo's plain fields.
#[derive(Default)]
pub(super) struct Stated {
    pub todo_id: Option<TodoId>,
    pub status: Option<TodoStatus>,
    pub task_class: Option<TaskClass>,
}

/// Sets what `key` says. `Err` names the field whose value is not valid, without the
/// value; the field keeps what it had.
pub(super) fn read(
    key: &str,
    value: &str,
    todo: &mut Todo,
    stated: &mut Stated,
) -> Result<(), String> {
    let wrong = |what: &str| format!("`{key}` is not {what}");
    let text = || Some(value.trim()).filter(|v| !v.is_empty()).map(str::to_owned);
    macro_rules! parsed {
        ($place:expr, $parse:expr, $what:literal) => {
            if value.trim().is_empty() {
                $place = None;
            } else {
                $place = Some($parse(value).ok_or_else(|| wrong($what))?);
            }
        };
    }
    let todo_id = |v: &str| TodoId::parse(v).ok();
    let agent = |v: &str| AgentId::parse(v).ok();
    match key {
        "todo_id" => parsed!(stated.todo_id, todo_id, "a todo id"),
        "status" => parsed!(stated.status, |v: &str| TodoStatus::parse(v.trim()), "a status"),
        "task_class" => {
            parsed!(stated.task_class, |v: &str| TaskClass::parse(v.trim()), "a task class")
        }
        "action_kind" => todo.action_kind = text(),
        "required_write_scopes" => {
            todo.required_write_scopes = list(value).map(str::to_owned).collect()
        }
        "required_capabilities" => {
            todo.required_capabilities = list(value).map(canonical_capability).collect()
        }
        "target_capabilities" => {
            todo.target_capabilities = list(value).map(canonical_capability).collect()
        }
        "decision_scope" => todo.decision_scope = text().map(ScopeRequirement),
        "required_decision_scopes" => {
            todo.required_decision_scopes =
                list(value).map(|v| ScopeRequirement(v.to_owned())).collect();
        }
        "claimed_by" => parsed!(todo.claimed_by, agent, "an agent id"),
        "bound_agent" => parsed!(todo.bound_agent, agent, "an agent id"),
        "blocks_agent" => parsed!(todo.blocks_agent, agent, "an agent id"),
        "goal_bound" => todo.goal_bound = flag(value).ok_or_else(|| wrong("true or false"))?,
        "global_gate" => todo.global_gate = flag(value).ok_or_else(|| wrong("true or false"))?,
        "no_followup" => todo.no_followup = flag(value).ok_or_else(|| wrong("true or false"))?,
        "watch_only" => todo.watch_only = flag(value).ok_or_else(|| wrong("true or false"))?,
        "excluded_agents" => {
            let agents: Option<Vec<_>> = list(value).map(agent).collect();
            todo.excluded_agents = agents.ok_or_else(|| wrong("a list of agent ids"))?;
            todo.excluded_agents.sort_unstable();
            todo.excluded_agents.dedup();
        }
        "successor_todo_ids" => {
            let ids: Option<Vec<_>> = list(value).map(todo_id).collect();
            todo.successor_todo_ids = ids.ok_or_else(|| wrong("a list of todo ids"))?;
        }
        "unblocks_todo_id" => parsed!(todo.unblocks_todo_id, todo_id, "a todo id"),
        "superseded_by" => parsed!(todo.superseded_by, todo_id, "a todo id"),
        "completion_continuation" => {
            parsed!(
                todo.completion_continuation,
                |v: &str| Continuation::parse(v.trim()),
                "a continuation"
            );
        }
        "resume_when" => todo.resume_when = ResumeCondition::parse(value),
        "target_key" => todo.target_key = text(),
        "cadence" => parsed!(todo.cadence, Cadence::parse, "a cadence"),
        "next_due_at" => parsed!(todo.next_due_at, Instant::parse, "an instant"),
        "expires_at" => parsed!(todo.expires_at, Instant::parse, "an instant"),
        "last_checked_at" => parsed!(todo.last_checked_at, Instant::parse, "an instant"),
        "completed_at" => parsed!(todo.completed_at, Instant::parse, "an instant"),
        "updated_at" => parsed!(todo.updated_at, Instant::parse, "an instant"),
        "result_hash" => todo.result_hash = text(),
        "consecutive_no_change" => parsed!(todo.consecutive_no_change, count, "a count"),
        "note" => todo.note = text(),
        "evidence" => todo.evidence = text(),
        "reason" => todo.reason = text(),
        _ => {
            todo.extra.insert(key.to_owned(), Value::String(value.to_owned()));
        }
    }
    Ok(())
}

fn list(value: &str) -> impl Iterator<Item = &str> {
    value.split([',', ';', '|']).map(str::trim).filter(|item| !item.is_empty())
}

fn flag(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" | "" => Some(false),
        _ => None,
    }
}

/// A count, also when something has written it as `3.0`.
fn count(value: &str) -> Option<u32> {
    let digits = value.trim();
    digits
        .split_once('.')
        .filter(|(_, zeros)| zeros.bytes().all(|b| b == b'0'))
        .map_or(digits, |(whole, _)| whole)
        .parse()
        .ok()
}

/// Words of `action_kind` that make an agent todo without a class a monitor.
const MONITOR_KINDS: [&str; 5] = ["external_evidence", "monitor", "observe", "poll", "watch"];

/// The class of an agent todo that states none: from its action kind, never from prose.
pub(super) fn agent_class(todo: &Todo) -> TaskClass {
    match todo.action_kind.as_deref() {
        Some(kind) if MONITOR_KINDS.contains(&kind) => TaskClass::Monitor,
        _ => TaskClass::Advancement,
    }
}

/// Appends ` key=value` tokens.
struct Tokens<'o> {
    out: &'o mut String,
}

impl Tokens<'_> {
    fn key(&mut self, key: &str) {
        self.out.push(' ');
        self.out.push_str(key);
        self.out.push('=');
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        push_encoded(self.out, value);
    }

    fn maybe(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value.map(collapse).filter(|v| !v.is_empty()) {
            self.text(key, &value);
        }
    }

    fn shown(&mut self, key: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.text(key, &value.to_string());
        }
    }

    fn flag(&mut self, key: &str, value: bool) {
        if value {
            self.text(key, "true");
        }
    }

    fn list<'v>(&mut self, key: &str, values: impl Iterator<Item = &'v str>) {
        let mut first = true;
        for value in values {
            if first {
                self.key(key);
                first = false;
            } else {
                self.out.push_str("%2C");
            }
            push_encoded(self.out, &collapse(value));
        }
    }

    fn extra(&mut self, todo: &Todo, key: &str) {
        // Values are kept to the byte: what no rule reads is not ours to tidy.
        match todo.extra.get(key) {
            Some(Value::String(text)) => self.text(key, text),
            Some(Value::Null) | None => {}
            Some(other) => self.text(key, &other.to_string()),
        }
    }
}

/// Appends every metadata field of a todo as ` key=value`, in canonical order.
pub(super) fn write(todo: &Todo, out: &mut String) {
    let mut t = Tokens { out };
    if !is_provisional(&todo.todo_id) {
        t.text("todo_id", todo.todo_id.as_str());
    }
    t.text("status", todo.status.as_str());
    t.text("task_class", todo.task_class.as_str());
    t.maybe("action_kind", todo.action_kind.as_deref());
    for key in ["task_domain", "capability_binding_ref", "task_repository", "continuation_policy"] {
        t.extra(todo, key);
    }
    t.list("required_write_scopes", todo.required_write_scopes.iter().map(String::as_str));
    t.list("required_capabilities", todo.required_capabilities.iter().map(String::as_str));
    t.list("target_capabilities", todo.target_capabilities.iter().map(String::as_str));
    t.extra(todo, "explore_result_node_refs");
    t.maybe("decision_scope", todo.decision_scope.as_ref().map(|s| s.0.as_str()));
    t.list("required_decision_scopes", todo.required_decision_scopes.iter().map(|s| s.0.as_str()));
    t.extra(todo, "decision_outcome");
    t.extra(todo, "decision_scope_outcomes");
    t.maybe("claimed_by", todo.claimed_by.as_ref().map(AgentId::as_str));
    t.maybe("bound_agent", todo.bound_agent.as_ref().map(AgentId::as_str));
    t.maybe("blocks_agent", todo.blocks_agent.as_ref().map(AgentId::as_str));
    t.flag("goal_bound", todo.goal_bound);
    t.flag("global_gate", todo.global_gate);
    t.list("excluded_agents", todo.excluded_agents.iter().map(AgentId::as_str));
    t.maybe("unblocks_todo_id", todo.unblocks_todo_id.as_ref().map(TodoId::as_str));
    t.maybe("superseded_by", todo.superseded_by.as_ref().map(TodoId::as_str));
    t.list("successor_todo_ids", todo.successor_todo_ids.iter().map(TodoId::as_str));
    t.maybe("completion_continuation", todo.completion_continuation.map(Continuation::as_str));
    t.extra(todo, "completion_recovery");
    t.extra(todo, "replan_obligation_id");
    t.shown("resume_when", todo.resume_when.as_ref());
    t.flag("no_followup", todo.no_followup);
    t.maybe("target_key", todo.target_key.as_deref());
    t.shown("cadence", todo.cadence);
    t.shown("next_due_at", todo.next_due_at);
    t.shown("expires_at", todo.expires_at);
    t.shown("last_checked_at", todo.last_checked_at);
    t.maybe("result_hash", todo.result_hash.as_deref());
    t.shown("consecutive_no_change", todo.consecutive_no_change);
    t.extra(todo, "material_change");
    t.extra(todo, "max_no_change_before_replan");
    t.flag("watch_only", todo.watch_only);
    t.maybe("note", todo.note.as_deref());
    t.maybe("evidence", todo.evidence.as_deref());
    t.maybe("reason", todo.reason.as_deref());
    t.shown("completed_at", todo.completed_at);
    t.shown("updated_at", todo.updated_at);
    for key in [
        "completion_turn_key",
        "validation_command",
        "validation_command_argv",
        "validation_label",
        "validation_timeout_seconds",
    ] {
        t.extra(todo, key);
    }
    for key in todo.extra.keys().map(String::as_str) {
        if is_key(key) && !KNOWN_EXTRA.contains(&key) && !TYPED.contains(&key) {
            t.extra(todo, key);
        }
    }
}

/// Whether two todos have the same metadata, field by field. Taken apart in full, so
/// that a new field cannot be forgotten here.
pub(super) fn same(a: &Todo, b: &Todo) -> bool {
    let Todo {
        todo_id,
        role: _,
        order: _,
        text: _,
        status,
        task_class,
        archived: _,
        action_kind,
        claimed_by,
        bound_agent,
        blocks_agent,
        goal_bound,
        global_gate,
        excluded_agents,
        unblocks_todo_id,
        decision_scope,
        required_decision_scopes,
        required_capabilities,
        target_capabilities,
        required_write_scopes,
        resume_when,
        superseded_by,
        successor_todo_ids,
        completion_continuation,
        no_followup,
        target_key,
        cadence,
        next_due_at,
        expires_at,
        last_checked_at,
        result_hash,
        consecutive_no_change,
        watch_only,
        reason,
        evidence,
        note,
        created_at: _,
        updated_at,
        completed_at,
        dangling: _,
        malformed: _,
        extra,
    } = a;
    *todo_id == b.todo_id
        && *status == b.status
        && *task_class == b.task_class
        && *action_kind == b.action_kind
        && *claimed_by == b.claimed_by
        && *bound_agent == b.bound_agent
        && *blocks_agent == b.blocks_agent
        && *goal_bound == b.goal_bound
        && *global_gate == b.global_gate
        && *excluded_agents == b.excluded_agents
        && *unblocks_todo_id == b.unblocks_todo_id
        && *decision_scope == b.decision_scope
        && *required_decision_scopes == b.required_decision_scopes
        && *required_capabilities == b.required_capabilities
        && *target_capabilities == b.target_capabilities
        && *required_write_scopes == b.required_write_scopes
        && *resume_when == b.resume_when
        && *superseded_by == b.superseded_by
        && *successor_todo_ids == b.successor_todo_ids
        && *completion_continuation == b.completion_continuation
        && *no_followup == b.no_followup
        && *target_key == b.target_key
        && *cadence == b.cadence
        && *next_due_at == b.next_due_at
        && *expires_at == b.expires_at
        && *last_checked_at == b.last_checked_at
        && *result_hash == b.result_hash
        && *consecutive_no_change == b.consecutive_no_change
        && *watch_only == b.watch_only
        && *reason == b.reason
        && *evidence == b.evidence
        && *note == b.note
        && *updated_at == b.updated_at
        && *completed_at == b.completed_at
        && *extra == b.extra
}

/// Undoes what the metadata of a new line says about an authority field; says whether
/// it said anything.
pub(super) fn clear_authority(todo: &mut Todo, key: &str) -> bool {
    match key {
        "claimed_by" => todo.claimed_by.take().is_some(),
        "no_followup" => std::mem::take(&mut todo.no_followup),
        "completed_at" => todo.completed_at.take().is_some(),
        "completion_continuation" => todo.completion_continuation.take().is_some(),
        "superseded_by" => todo.superseded_by.take().is_some(),
        "successor_todo_ids" => !std::mem::take(&mut todo.successor_todo_ids).is_empty(),
        // `shift_remove` keeps the order of the keys that stay.
        _ => todo.extra.shift_remove(key).is_some(),
    }
}

/// Gives `todo` the authority fields of `from`.
pub(super) fn keep_authority(todo: &mut Todo, from: &Todo) {
    for key in AUTHORITY {
        clear_authority(todo, key);
        if let Some(value) = from.extra.get(*key) {
            todo.extra.insert((*key).to_owned(), value.clone());
        }
    }
    todo.claimed_by.clone_from(&from.claimed_by);
    todo.no_followup = from.no_followup;
    todo.completed_at = from.completed_at;
    todo.completion_continuation = from.completion_continuation;
    todo.superseded_by.clone_from(&from.superseded_by);
    todo.successor_todo_ids.clone_from(&from.successor_todo_ids);
}
