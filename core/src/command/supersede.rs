//! `todo supersede`: one todo takes the place of another.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::todo::require_free;
use super::todo_complete::{TodoCompleteRequest, next_todos};
use super::todo_fields::TodoFields;
use super::{Effect, Scene, TEXT_LIMIT, one_line, registered};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{Continuation, ResumeCondition, Role, TaskClass, Todo, TodoId, TodoStatus};
use crate::store::Change;

/// `todo.supersede`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoSupersedeRequest {
    /// What is replaced.
    pub todo_id: String,
    /// What replaces it: a todo that exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What replaces it: text of a new agent todo, which inherits the priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_agent_todo: Option<String>,
    /// Fields of that new todo.
    #[serde(skip_serializing_if = "TodoFields::is_empty")]
    pub next_fields: TodoFields,
    /// Why.
    pub reason: String,
    /// Who acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// Closes a todo in favour of another. Repeating it changes nothing.
pub fn supersede(scene: &Scene<'_>, request: &TodoSupersedeRequest) -> Result<Effect> {
    let goal = &scene.policy.goal_id;
    let old = scene.todo(&request.todo_id)?;
    let id = &old.todo_id;
    if old.task_class == TaskClass::UserGate {
        return Err(Error::new(ErrorCode::TodoInvalid, id.as_str())
            .message(format!("{id} is a gate: a person decides it, it is not replaced"))
            .next(format!("loopx gate decide --goal-id {goal} --todo-id {id} --outcome cancel")));
    }
    let reason = one_line("reason", &request.reason, TEXT_LIMIT)?;
    if reason.is_empty() {
        return Err(Error::new(ErrorCode::RequestInvalid, "reason")
            .message("say why it is replaced: --reason"));
    }
    let actor = match old.role {
        Role::User => {
            request.agent_id.as_deref().map(|a| registered(scene.policy, a)).transpose()?
        }
        Role::Agent => scene.actor(request.agent_id.as_deref())?,
    };
    if old.role == Role::User && request.next_agent_todo.is_some() {
        return Err(Error::new(ErrorCode::TodoInvalid, id.as_str())
            .message("a user todo is replaced by another user todo: name it with --by"));
    }
    let (by, new) = match (&request.by, &request.next_agent_todo) {
        (Some(by), None) => (Some(scene.todo(by)?), None),
        (None, Some(text)) => (None, Some(text)),
        _ => {
            return Err(Error::new(ErrorCode::RequestInvalid, "by").message(
                "name what replaces it: either a todo with --by or a new one with --next-agent-todo",
            ));
        }
    };
    if !old.is_open() {
        return replay(scene, &old, by.as_ref(), new.map(String::as_str));
    }
    if old.role == Role::Agent {
        require_free(scene, &old, actor.as_ref())?;
    }
    let mut created = Vec::new();
    let by = match by {
        Some(by) => {
            require_fit(scene, &old, &by)?;
            by
        }
        None => {
            let request = TodoCompleteRequest {
                next_agent_todo: new.cloned(),
                next_fields: request.next_fields.clone(),
                ..TodoCompleteRequest::default()
            };
            created = next_todos(scene, Some(&old), &request, actor.as_ref())?;
            created.first().cloned().ok_or_else(|| {
                Error::new(ErrorCode::RequestInvalid, "next_agent_todo")
                    .message("the new todo needs a text")
            })?
        }
    };
    let mut done = old.clone();
    done.status = TodoStatus::Done;
    done.completed_at = Some(scene.now);
    done.updated_at = Some(scene.now);
    done.reason = Some(reason);
    done.superseded_by = Some(by.todo_id.clone());
    if !done.successor_todo_ids.contains(&by.todo_id) {
        done.successor_todo_ids.push(by.todo_id.clone());
    }
    if done.role == Role::Agent {
        done.completion_continuation = Some(Continuation::Successor);
    }
    if let Some(agent) = &actor {
        done.extra.insert("completed_by".into(), Value::String(agent.to_string()));
    }
    let waiting: Vec<TodoId> = scene
        .view(true)?
        .todos
        .iter()
        .filter(|t| {
            t.todo_id != *id && t.resume_when == Some(ResumeCondition::TodoDone(id.clone()))
        })
        .map(|t| t.todo_id.clone())
        .collect();
    let mut changes = vec![Change::FollowDangling, Change::PutTodo(Box::new(done.clone()))];
    changes.extend(created.iter().cloned().map(|t| Change::PutTodo(Box::new(t))));
    let mut effect = Effect::new(
        changes,
        json!({
            "superseded": true,
            "changed": true,
            "todo_id": id,
            "status": done.status,
            "superseded_by": by.todo_id,
            "next_todos": created.iter().map(|t| json!({"todo_id": t.todo_id, "todo": t.text})).collect::<Vec<_>>(),
            // Their condition can no longer come true.
            "unsatisfiable_todo_ids": waiting,
        }),
    );
    if let Some(first) = waiting.first() {
        effect.answer.insert(
            "next_command".into(),
            json!(format!(
                "loopx todo update --goal-id {goal} --todo-id {first} --resume-when todo_done:{}",
                by.todo_id
            )),
        );
    }
    Ok(effect)
}

/// Refuses what cannot take the todo's place.
fn require_fit(scene: &Scene<'_>, old: &Todo, by: &Todo) -> Result<()> {
    let refuse = |why: String| {
        Err(Error::new(ErrorCode::TodoInvalid, by.todo_id.as_str())
            .message(why)
            .next(format!("loopx todo list --goal-id {}", scene.policy.goal_id)))
    };
    if by.todo_id == old.todo_id {
        return refuse("a todo does not replace itself".into());
    }
    if by.role != old.role {
        return refuse(format!(
            "{} is a todo of the {} list, {} of the {} list",
            by.todo_id, by.role, old.todo_id, old.role
        ));
    }
    if let Some(next) = &by.superseded_by {
        return refuse(format!("{} was itself replaced by {next}; name that one", by.todo_id));
    }
    Ok(())
}

fn replay(scene: &Scene<'_>, old: &Todo, by: Option<&Todo>, text: Option<&str>) -> Result<Effect> {
    let replaced = match &old.superseded_by {
        Some(id) => scene.read.todo(id)?,
        None => None,
    };
    let text = text.map(|t| one_line("next_todo", t, TEXT_LIMIT)).transpose()?;
    let same = replaced.as_ref().is_some_and(|todo| {
        by.is_some_and(|by| by.todo_id == todo.todo_id)
            || text.is_some_and(|text| {
                text == todo.text
                    || (crate::model::todo::split_priority(&text).0.is_none()
                        && text == todo.title())
            })
    });
    if !same {
        let how = match &old.superseded_by {
            Some(id) => format!("{} was replaced by {id} already", old.todo_id),
            None => format!("{} is done already", old.todo_id),
        };
        return Err(Error::new(ErrorCode::TodoNotOpen, old.todo_id.as_str())
            .message(how)
            .next(format!("loopx todo list --goal-id {}", scene.policy.goal_id)));
    }
    Ok(Effect::new(
        Vec::new(),
        json!({
            "superseded": true,
            "changed": false,
            "idempotent_replay": true,
            "todo_id": old.todo_id,
            "status": old.status,
            "superseded_by": old.superseded_by,
        }),
    ))
}
