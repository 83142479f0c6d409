//! `todo capture-followups`: work that came to light while another todo was worked on.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::todo::{follows, require_free};
use super::todo_fields::check;
use super::{EVIDENCE_LIMIT, Effect, Scene, TEXT_LIMIT, one_line};
use crate::error::{Error, ErrorCode, Result};
use crate::model::todo::split_priority;
use crate::model::{Continuation, Evidence, Role, TaskClass, Todo};
use crate::store::Change;

/// Follow-ups that one call may capture: more is a plan, not a finding.
pub const MOST: usize = 2;

/// `todo.capture_followups`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaptureFollowupsRequest {
    /// The todo that was worked on.
    pub todo_id: String,
    /// Who acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What shows that they are needed.
    pub evidence: String,
    /// Texts, one or two.
    pub followups: Vec<String>,
}

/// Adds the follow-ups as unclaimed todos after the one that was worked on. A text that is
/// open already is not added again.
pub fn capture(scene: &Scene<'_>, request: &CaptureFollowupsRequest) -> Result<Effect> {
    let actor = scene.actor(request.agent_id.as_deref())?;
    let mut source = scene.todo(&request.todo_id)?;
    if source.role != Role::Agent {
        return Err(Error::new(ErrorCode::TodoInvalid, source.todo_id.as_str())
            .message("follow-ups come from an agent todo")
            .next(format!(
                "loopx todo add --goal-id {} --role agent --text ...",
                scene.policy.goal_id
            )));
    }
    if source.is_open() {
        require_free(scene, &source, actor.as_ref())?;
    }
    if source.no_followup {
        return Err(Error::new(ErrorCode::TodoInvalid, source.todo_id.as_str())
            .message(format!("{} was completed with no follow-up", source.todo_id))
            .next(format!(
                "loopx todo add --goal-id {} --role agent --text ...",
                scene.policy.goal_id
            )));
    }
    let evidence = one_line("evidence", &request.evidence, EVIDENCE_LIMIT)?;
    if evidence.is_empty() {
        return Err(Error::new(ErrorCode::RequestInvalid, "evidence")
            .message("say what shows that it is needed: --evidence"));
    }
    if request.followups.is_empty() || request.followups.len() > MOST {
        return Err(Error::new(ErrorCode::RequestInvalid, "followups").message(format!(
            "one or {MOST} follow-ups are captured at a time, not {}",
            request.followups.len()
        )));
    }
    let mut new: Vec<Todo> = Vec::new();
    let mut known = Vec::new();
    for text in &request.followups {
        let mut text = one_line("followup", text, TEXT_LIMIT)?;
        if let (None, Some(priority)) = (split_priority(&text).0, source.priority()) {
            text = format!("[P{priority}] {text}");
        }
        if let Some(there) = scene.read.open_todo_by_text(Role::Agent, &text)? {
            known.push(there.todo_id);
            continue;
        }
        if new.iter().any(|t| t.text == text) {
            continue;
        }
        let step = i64::try_from(new.len()).unwrap_or(0) * crate::state_file::ORDER_STEP;
        let mut todo = Todo::new(
            scene.mint_todo(new.len())?,
            Role::Agent,
            TaskClass::Advancement,
            scene.next_order()?.saturating_add(step),
            text,
        );
        todo.created_at = Some(scene.now);
        todo.updated_at = Some(scene.now);
        check(scene, &todo)?;
        new.push(todo);
    }
    let mut changes = Vec::new();
    if !new.is_empty() {
        source.successor_todo_ids.extend(new.iter().map(|t| t.todo_id.clone()));
        source.updated_at = Some(scene.now);
        if !source.is_open() {
            source.completion_continuation = Some(Continuation::Successor);
            source.dangling = false;
        }
        if new.iter().any(follows) {
            changes.push(Change::FollowDangling);
        }
        changes.push(Change::AddEvidence(Evidence {
            id: scene.row,
            at: scene.now,
            agent: actor,
            todo_id: Some(source.todo_id.clone()),
            text: evidence,
        }));
        changes.push(Change::PutTodo(Box::new(source.clone())));
        changes.extend(new.iter().cloned().map(|t| Change::PutTodo(Box::new(t))));
    }
    Ok(Effect::new(
        changes,
        json!({
            "captured": new.len(),
            "changed": !new.is_empty(),
            "todo_id": source.todo_id,
            "next_todos": new.iter().map(|t| json!({"todo_id": t.todo_id, "todo": t.text})).collect::<Vec<_>>(),
            "known_todo_ids": known,
        }),
    ))
}
