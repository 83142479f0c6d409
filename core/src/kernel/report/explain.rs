//! `explain`: the question of `quota should-run` with everything behind its answer.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{Kernel, admission_request};
use super::Look;
use crate::admission::facts::Facts;
use crate::admission::{Subject, explain};
use crate::command::turn::ShouldRunRequest;
use crate::error::{Error, ErrorCode, Result};
use crate::model::TodoId;
use crate::operation::Addressed;

/// `explain`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainRequest {
    /// Who asks.
    pub agent_id: Option<String>,
    /// This todo only.
    pub todo_id: Option<String>,
    /// Capabilities that the door declares.
    pub available_capabilities: Vec<String>,
    /// The door works in a worktree of its own.
    pub independent_worktree: bool,
}

impl Kernel {
    /// Why the agent may or may not run. The decision is that of `quota.should_run` on
    /// the same question; what refuses that refuses this.
    pub fn explain(&self, at: &Addressed, request: &ExplainRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let asked = admission_request(
            &goal.policy,
            &ShouldRunRequest {
                agent_id: request.agent_id.clone(),
                available_capabilities: request.available_capabilities.clone(),
                independent_worktree: request.independent_worktree,
                ..ShouldRunRequest::default()
            },
        )?;
        let only = request.todo_id.as_deref().map(TodoId::parse).transpose()?;
        let look = Look::by(self, goal, asked.agent.as_ref(), true);
        let policy = &look.goal.policy;
        let subject = Subject::Goal { policy, view: &look.view };
        let facts = Facts::find(subject, &asked, look.now);
        let mut explanation = explain(&facts, only.as_ref());
        if let (Some(id), true) = (&only, explanation.todos.is_empty()) {
            let stored = match &look.snapshot {
                Some(snapshot) => snapshot.read().todo(id)?,
                None => None,
            };
            let todo = stored.ok_or_else(|| {
                Error::new(ErrorCode::TodoUnknown, id.as_str())
                    .message(format!("no todo {id} in goal {}", policy.goal_id))
                    .next(format!("loopx todo list --goal-id {}", policy.goal_id))
            })?;
            explanation.add_closed(&policy.goal_id, &todo);
        }
        let mut answer = json!({
            "ok": true,
            "mode": "explain",
            "goal_id": policy.goal_id,
            "agent_id": asked.agent,
            "at": look.now,
            "commit": look.view.commit,
            // Without them the facts behind the rules after `health` are not known.
            "records_readable": look.snapshot.is_some(),
        });
        if let (Some(map), Value::Object(said)) = (answer.as_object_mut(), explanation.to_json()) {
            map.extend(said);
        }
        Ok(answer)
    }
}
