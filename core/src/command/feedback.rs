//! `feedback`: what a person says about the work. It brings a stalled todo back and
//! obliges an agent to think again (contract.md 2.4).

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Effect, Scene, TEXT_LIMIT, one_line, registered};
use crate::admission::facts::feedback_cause;
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, Feedback, Role};
use crate::store::Change;

/// `feedback`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FeedbackRequest {
    /// What is said.
    pub text: String,
    /// The todo that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<String>,
    /// The agent that is to answer; who holds the todo, else any agent, when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// Records feedback. The same words that still wait for an answer are not said twice.
pub fn feedback(scene: &Scene<'_>, request: &FeedbackRequest) -> Result<Effect> {
    let text = one_line("text", &request.text, TEXT_LIMIT)?;
    if text.is_empty() {
        return Err(Error::new(ErrorCode::RequestInvalid, "text").message("say something"));
    }
    let todo = request.todo_id.as_deref().map(|id| scene.todo(id)).transpose()?;
    let named = request.agent_id.as_deref().map(|a| registered(scene.policy, a)).transpose()?;
    let holder = todo
        .as_ref()
        .filter(|t| t.role == Role::Agent)
        .and_then(|t| t.claimed_by.clone())
        .filter(|a| scene.policy.roster.contains(a));
    let said = Feedback {
        id: scene.row,
        at: scene.now,
        agent: named.or(holder),
        todo_id: todo.map(|t| t.todo_id),
        text,
        answered: false,
    };
    let view = scene.view(false)?;
    let before = view
        .feedback
        .iter()
        .find(|f| f.text == said.text && f.agent == said.agent && f.todo_id == said.todo_id);
    let id = before.map_or(said.id, |f| f.id);
    let stalls = view.stalls.iter().filter(|s| Some(&s.todo_id) == said.todo_id.as_ref()).count();
    let mut changes = Vec::new();
    if stalls > 0 {
        changes.extend(said.todo_id.clone().map(Change::ClearStalls));
    }
    if before.is_none() {
        changes.push(Change::PutFeedback(said.clone()));
    }
    Ok(Effect::new(
        changes,
        json!({
            "recorded": true,
            "changed": before.is_none() || stalls > 0,
            "feedback_id": id,
            "agent_id": said.agent,
            "todo_id": said.todo_id,
            "cleared_stalls": stalls,
        }),
    ))
}

/// Feedback that an agent answers by what follows, or by saying that nothing does: only what
/// it was asked to think about before, so that words which came in between are not lost.
/// In a goal without a roster there is one agent, and all of it was for that one.
pub(crate) fn closed_by(scene: &Scene<'_>, agent: Option<&AgentId>) -> Result<Vec<Change>> {
    let view = scene.view(false)?;
    let only_one = agent.is_none() && scene.policy.roster.is_empty();
    let was_asked = |f: &Feedback| {
        let cause = feedback_cause(f.id);
        only_one || view.attempts.iter().any(|a| a.cause == cause && a.agent.as_ref() == agent)
    };
    Ok(view
        .feedback
        .iter()
        .filter(|f| was_asked(f))
        .map(|f| Change::PutFeedback(Feedback { answered: true, ..f.clone() }))
        .collect())
}
