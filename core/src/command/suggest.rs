//! `todo suggest`: what an agent that plans should look at, small enough for a prompt.
//! It proposes nothing itself.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::registered;
use crate::admission::View;
use crate::error::Result;
use crate::model::{GoalPolicy, Role, TaskClass, Todo};
use crate::store::Read;

/// Open todos that are named.
const OPEN: usize = 10;
/// Characters of each text.
const TEXT: usize = 160;

/// `todo.suggest`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoSuggestRequest {
    /// Who plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Most todos to propose, 1 to 5; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u8>,
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

fn line(todo: &Todo) -> Value {
    json!({
        "todo_id": Some(&todo.todo_id).filter(|id| !crate::state_file::is_provisional(id)),
        "text": cut(&todo.text),
        "status": todo.status,
    })
}

/// The packet. The view must be complete.
pub fn suggest(
    read: &dyn Read,
    policy: &GoalPolicy,
    view: &View,
    request: &TodoSuggestRequest,
) -> Result<Value> {
    let agent = request.agent_id.as_deref().map(|a| registered(policy, a)).transpose()?;
    let limit = request.limit.unwrap_or(3).clamp(1, 5);
    let mut done = Vec::new();
    for id in read.shown_closed(20)? {
        done.extend(read.todo(&id)?.filter(|t| t.role == Role::Agent));
    }
    done.truncate(5);
    let mut open: Vec<&Todo> = view.todos.iter().filter(|t| t.role == Role::Agent).collect();
    open.sort_by_key(|t| (t.rank(), t.order));
    let waiting: Vec<Value> =
        view.todos.iter().filter(|t| t.task_class == TaskClass::UserGate).map(line).collect();
    let feedback: Vec<Value> = view
        .feedback
        .iter()
        .filter(|f| f.agent.is_none() || agent.is_none() || f.agent == agent)
        .map(|f| json!({"feedback_id": f.id, "todo_id": f.todo_id, "text": cut(&f.text)}))
        .collect();
    let who = agent.as_ref().map(|a| format!(" --agent-id {a}")).unwrap_or_default();
    let goal = &policy.goal_id;
    let objective = match policy.objective.as_deref() {
        Some(text) => format!(" Its objective: {}.", cut(text)),
        None => String::new(),
    };
    Ok(json!({
        "ok": true,
        "goal_id": goal,
        "agent_id": agent,
        "limit": limit,
        "recent_done": done.iter().map(|t| json!({
            "todo_id": t.todo_id,
            "text": cut(&t.text),
            "evidence": t.evidence.as_deref().map(cut),
        })).collect::<Vec<_>>(),
        "open_count": open.len(),
        "open": open.iter().take(OPEN).map(|t| line(t)).collect::<Vec<_>>(),
        "waiting_gates": waiting,
        "gaps": {
            "acceptance": policy.acceptance_gaps.iter().map(|t| cut(t)).collect::<Vec<_>>(),
            "completed_without_successor": view.dangling.iter().map(|d| &d.todo_id).collect::<Vec<_>>(),
            "feedback": feedback,
        },
        "prompt": format!(
            "You plan the next work on the goal {goal}.{objective} Read what was done last, what is \
             open and which gaps stand above. Propose at most {limit} todos that close a gap or carry \
             on from finished work; each is one outcome that a single turn can reach and check, with \
             a priority in front such as [P1]. Leave out what is open already. Where only a person \
             can decide, open a gate instead. If nothing is missing, say so and add nothing."
        ),
        "next_command": format!(
            "loopx todo add --goal-id {goal}{who} --role agent --text \"[P1] ...\""
        ),
    }))
}
