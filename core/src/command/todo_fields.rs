//! The fields of a todo that a caller may set, and the rules they must keep together
//! (reference state.md 2.4 and 2.7).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Scene, TEXT_LIMIT, one_line, registered};
use crate::error::{Error, ErrorCode, Result};
use crate::model::todo::canonical_capability;
use crate::model::{
    AgentId, Cadence, DecisionScope, Instant, ResumeCondition, Role, ScopeRequirement, TaskClass,
    Todo, TodoId, TodoStatus,
};

/// Fields of `todo add` and `todo update`; absent ones stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoFields {
    /// Remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why it is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_class: Option<TaskClass>,
    /// Kind of work, `[a-z][a-z0-9_-]{0,63}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_kind: Option<String>,
    /// Domain word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_domain: Option<String>,
    /// Repository the work belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_repository: Option<String>,
    /// `independent_handoff` or `same_agent_non_delivery`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuation_policy: Option<String>,
    /// Path globs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_write_scopes: Vec<String>,
    /// Capabilities needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_capabilities: Vec<String>,
    /// Capabilities to obtain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target_capabilities: Vec<String>,
    /// Gates: scope decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_scope: Option<String>,
    /// Scopes needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_decision_scopes: Vec<String>,
    /// Holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    /// User todos: whom it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_agent: Option<String>,
    /// User todos: everyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_bound: Option<bool>,
    /// Gates: whom it blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks_agent: Option<String>,
    /// Gates: everyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_gate: Option<bool>,
    /// Who may not take it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_agents: Vec<String>,
    /// Gates: what it blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unblocks_todo_id: Option<String>,
    /// Condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_when: Option<String>,
    /// Monitors: what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_key: Option<String>,
    /// Monitors: how often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cadence: Option<String>,
    /// Monitors: when next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_due_at: Option<String>,
    /// Monitors: until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Monitors: never closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_only: Option<bool>,
}

fn invalid(field: &str, why: impl Into<String>) -> Error {
    Error::new(ErrorCode::TodoInvalid, field).message(why)
}

fn word(field: &'static str, text: &str) -> Result<String> {
    let text = text.trim();
    let mut chars = text.chars();
    let ok = chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.' | '-'))
        && text.len() <= 64;
    if ok {
        Ok(text.to_owned())
    } else {
        Err(invalid(
            field,
            format!("{field} is a lower-case word of at most 64 letters, digits, _ . -"),
        ))
    }
}

fn capabilities(field: &'static str, list: &[String]) -> Result<Vec<String>> {
    list.iter()
        .map(|text| {
            let name = canonical_capability(text);
            let mut chars = name.chars();
            let ok = chars.next().is_some_and(|c| c.is_ascii_lowercase())
                && chars.all(|c| {
                    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | ':')
                })
                && name.len() <= 64;
            if ok {
                Ok(name)
            } else {
                Err(invalid(field, format!("{field} takes words such as benchmark_runner")))
            }
        })
        .collect()
}

fn write_scope(text: &str) -> Result<String> {
    let text = text.trim();
    let bad = text.is_empty()
        || text.chars().count() > 160
        || text.starts_with(['/', '~'])
        || text.split(['/', '\\']).any(|part| part == "..")
        || text.contains(char::is_whitespace)
        || text.contains(['<', '>'])
        || text.get(1..2) == Some(":");
    if bad {
        Err(invalid(
            "required_write_scopes",
            "a write scope is a relative path glob of at most 160 characters without '..' or spaces",
        ))
    } else {
        Ok(text.to_owned())
    }
}

fn instant(field: &'static str, text: &str) -> Result<Instant> {
    Instant::parse(text).ok_or_else(|| {
        invalid(field, format!("{field} is an RFC 3339 instant such as 2026-11-29T20:57:33Z"))
    })
}

impl TodoFields {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Sets the fields on `todo`, each checked by itself.
    pub fn apply(&self, scene: &Scene<'_>, todo: &mut Todo) -> Result<()> {
        let agent = |text: &Option<String>| -> Result<Option<AgentId>> {
            text.as_deref().map(|t| registered(scene.policy, t)).transpose()
        };
        if let Some(class) = self.task_class {
            todo.task_class = class;
        }
        if let Some(text) = &self.note {
            todo.note = Some(one_line("note", text, TEXT_LIMIT)?);
        }
        if let Some(text) = &self.reason {
            todo.reason = Some(one_line("reason", text, TEXT_LIMIT)?);
        }
        if let Some(text) = &self.action_kind {
            todo.action_kind = Some(word("action_kind", text)?);
        }
        for (key, value) in [
            (
                "task_domain",
                self.task_domain.as_deref().map(|t| word("task_domain", t)).transpose()?,
            ),
            (
                "task_repository",
                self.task_repository
                    .as_deref()
                    .map(|t| one_line("task_repository", t, 200))
                    .transpose()?,
            ),
            ("continuation_policy", self.continuation_policy()?),
        ] {
            if let Some(value) = value {
                todo.extra.insert(key.to_owned(), Value::String(value));
            }
        }
        if !self.required_write_scopes.is_empty() {
            todo.required_write_scopes =
                self.required_write_scopes.iter().map(|s| write_scope(s)).collect::<Result<_>>()?;
        }
        if !self.required_capabilities.is_empty() {
            todo.required_capabilities =
                capabilities("required_capabilities", &self.required_capabilities)?;
        }
        if !self.target_capabilities.is_empty() {
            todo.target_capabilities =
                capabilities("target_capabilities", &self.target_capabilities)?;
        }
        if let Some(text) = &self.decision_scope {
            todo.decision_scope = Some(scope("decision_scope", text)?);
        }
        if !self.required_decision_scopes.is_empty() {
            todo.required_decision_scopes = self
                .required_decision_scopes
                .iter()
                .map(|t| scope("required_decision_scopes", t))
                .collect::<Result<_>>()?;
        }
        if let Some(claimant) = agent(&self.claimed_by)? {
            todo.claimed_by = Some(claimant);
        }
        if let Some(bound) = agent(&self.bound_agent)? {
            todo.bound_agent = Some(bound);
        }
        if let Some(blocked) = agent(&self.blocks_agent)? {
            todo.blocks_agent = Some(blocked);
        }
        if let Some(flag) = self.goal_bound {
            todo.goal_bound = flag;
        }
        if let Some(flag) = self.global_gate {
            todo.global_gate = flag;
            todo.goal_bound |= flag;
        }
        if !self.excluded_agents.is_empty() {
            let mut excluded: Vec<AgentId> = self
                .excluded_agents
                .iter()
                .map(|t| registered(scene.policy, t))
                .collect::<Result<_>>()?;
            excluded.sort();
            excluded.dedup();
            todo.excluded_agents = excluded;
        }
        if let Some(text) = &self.unblocks_todo_id {
            todo.unblocks_todo_id = Some(scene.todo(text)?.todo_id);
        }
        if let Some(text) = &self.resume_when {
            todo.resume_when = Some(condition(scene, text)?);
        }
        if let Some(text) = &self.target_key {
            todo.target_key = Some(one_line("target_key", text, 200)?);
        }
        if let Some(text) = &self.cadence {
            todo.cadence = Some(Cadence::parse(text).ok_or_else(|| {
                invalid("cadence", "a cadence is a number with s, m, h or d, such as 30m")
            })?);
        }
        if let Some(text) = &self.next_due_at {
            todo.next_due_at = Some(instant("next_due_at", text)?);
        }
        if let Some(text) = &self.expires_at {
            todo.expires_at = Some(instant("expires_at", text)?);
        }
        if let Some(flag) = self.watch_only {
            todo.watch_only = flag;
        }
        Ok(())
    }

    fn continuation_policy(&self) -> Result<Option<String>> {
        match self.continuation_policy.as_deref() {
            None => Ok(None),
            Some(text @ ("independent_handoff" | "same_agent_non_delivery")) => {
                Ok(Some(text.to_owned()))
            }
            Some(_) => Err(invalid(
                "continuation_policy",
                "it is independent_handoff or same_agent_non_delivery",
            )),
        }
    }
}

fn scope(field: &'static str, text: &str) -> Result<ScopeRequirement> {
    DecisionScope::parse(text).map(|s| ScopeRequirement(s.as_str().to_owned())).ok_or_else(|| {
        invalid(
            field,
            format!("{field} has the form kind:granularity:key, such as production:goal:deploy"),
        )
    })
}

fn condition(scene: &Scene<'_>, text: &str) -> Result<ResumeCondition> {
    match ResumeCondition::parse(text) {
        Some(ResumeCondition::TodoDone(id)) => {
            scene.todo(id.as_str())?;
            Ok(ResumeCondition::TodoDone(id))
        }
        Some(known @ (ResumeCondition::PrMerged(_) | ResumeCondition::CapacityAvailable(_))) => {
            Ok(known)
        }
        _ => Err(invalid(
            "resume_when",
            "it is todo_done:ID, pr_merged:REF or capacity_available:NAME",
        )),
    }
}

/// Checks that the fields of one todo agree with each other.
pub fn check(scene: &Scene<'_>, todo: &Todo) -> Result<()> {
    use TaskClass::{Monitor, UserAction, UserGate};
    let several = scene.policy.roster.len() > 1;
    let user_class = matches!(todo.task_class, UserGate | UserAction);
    match todo.role {
        Role::User if !user_class => {
            return Err(invalid(
                "task_class",
                "a user todo is a user_gate or a user_action: add --task-class",
            ));
        }
        Role::Agent if user_class => {
            return Err(invalid(
                "task_class",
                "user_gate and user_action are for user todos: use --role user",
            ));
        }
        _ => {}
    }
    if todo.text.trim().is_empty() || todo.title().trim().is_empty() {
        return Err(invalid("text", "a todo needs a text"));
    }
    if todo.task_class == UserGate {
        if todo.blocks_agent.is_some() && todo.global_gate {
            return Err(invalid("global_gate", "a gate blocks one agent or every agent, not both"));
        }
        let names_something = todo.global_gate
            || todo.blocks_agent.is_some()
            || todo.unblocks_todo_id.is_some()
            || todo.decision_scope.is_some();
        if several && !names_something && todo.is_open() {
            return Err(invalid(
                "task_class",
                "say what the gate blocks: --global-gate, --blocks-agent, --unblocks-todo-id or --decision-scope",
            ));
        }
    } else if todo.global_gate || todo.blocks_agent.is_some() {
        return Err(invalid("blocks_agent", "only a user_gate blocks agents"));
    }
    if todo.role == Role::User && todo.claimed_by.is_some() {
        return Err(invalid("claimed_by", "only agent todos are claimed"));
    }
    if let Some(claimant) = &todo.claimed_by
        && todo.excluded_agents.contains(claimant)
    {
        return Err(invalid(
            "excluded_agents",
            format!("{claimant} is both claimant and excluded"),
        ));
    }
    let scheduled = todo.cadence.is_some()
        || todo.next_due_at.is_some()
        || todo.expires_at.is_some()
        || todo.watch_only;
    if scheduled && todo.task_class != Monitor {
        return Err(invalid(
            "cadence",
            "only a continuous_monitor has a schedule: add --task-class continuous_monitor",
        ));
    }
    if todo.status == TodoStatus::Deferred && todo.resume_when.is_none() {
        return Err(invalid(
            "resume_when",
            "a deferred todo says what it waits for: add --resume-when",
        ));
    }
    if let Some(ResumeCondition::TodoDone(id)) = &todo.resume_when
        && waits_for(scene, id, &todo.todo_id)?
    {
        return Err(invalid("resume_when", format!("{id} waits for {}: a cycle", todo.todo_id)));
    }
    Ok(())
}

/// Whether following the conditions from `from` reaches `end`.
fn waits_for(scene: &Scene<'_>, from: &TodoId, end: &TodoId) -> Result<bool> {
    let mut at = from.clone();
    let mut seen = std::collections::BTreeSet::new();
    loop {
        if at == *end {
            return Ok(true);
        }
        if !seen.insert(at.clone()) {
            return Ok(false);
        }
        match scene.read.todo(&at)?.and_then(|t| t.resume_when) {
            Some(ResumeCondition::TodoDone(next)) => at = next,
            _ => return Ok(false),
        }
    }
}
