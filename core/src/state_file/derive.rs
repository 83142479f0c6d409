//! What follows from all todos of a file together: ids of lines that state none, and
//! which completed work nothing follows. No line is read here.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::document::ParsedTodo;
use crate::model::{Finding, Role, TaskClass, Todo, TodoId, TodoStatus};

/// Stated ids first, then the rest in order: a line without an id can never take
/// one that a later line states.
pub(super) fn assign_ids(todos: &mut [ParsedTodo], findings: &mut Vec<Finding>) {
    let mut taken: HashSet<TodoId> = HashSet::with_capacity(todos.len());
    for parsed in todos.iter_mut() {
        if let Some(id) = &parsed.written_id {
            parsed.id_duplicated = !taken.insert(id.clone());
            if parsed.id_duplicated {
                parsed.todo.todo_id = TodoId::trusted(format!(
                    "{}|{id}|{}|{}",
                    parsed.todo.role, parsed.line, parsed.todo.text
                ));
            } else {
                parsed.todo.todo_id = id.clone();
            }
        }
    }
    for parsed in todos.iter_mut().filter(|p| !p.had_id || p.id_duplicated) {
        let seed = parsed.todo.todo_id.as_str().to_owned();
        let mut id = derived_id(&seed);
        let mut salt = 1;
        while !taken.insert(id.clone()) {
            id = derived_id(&format!("{seed}|{salt}"));
            salt += 1;
        }
        if let Some(written) = parsed.written_id.as_ref().filter(|_| parsed.id_duplicated) {
            findings.push(
                Finding::new(
                    "todo_id_duplicated",
                    written.to_string(),
                    format!(
                        "another todo above has this id; the one in line {} is {id} from now on",
                        parsed.line
                    ),
                )
                .next("loopx todo list --goal-id <goal>"),
            );
        }
        parsed.todo.todo_id = id;
    }
}

/// A completed advancement without a continuation asks for a replan only while no
/// advancement is left (contract 2.4).
pub(super) fn mark_dangling(todos: &mut [ParsedTodo]) {
    let work_left = todos.iter().any(|p| {
        p.todo.task_class == TaskClass::Advancement
            && p.todo.status != TodoStatus::Done
            && !p.todo.archived
    });
    if work_left {
        return;
    }
    for parsed in todos.iter_mut() {
        parsed.todo.dangling = !parsed.todo.archived && ends_open(&parsed.todo);
    }
}

/// Whether a todo is a completed advancement of an agent that names nothing after it.
pub(super) fn ends_open(todo: &Todo) -> bool {
    use crate::model::Continuation::{NoFollowup, Successor};
    todo.role == Role::Agent
        && todo.task_class == TaskClass::Advancement
        && todo.status == TodoStatus::Done
        && todo.superseded_by.is_none()
        && todo.successor_todo_ids.is_empty()
        && !todo.no_followup
        && !matches!(todo.completion_continuation, Some(Successor | NoFollowup))
}

fn derived_id(seed: &str) -> TodoId {
    let digest = Sha256::digest(seed.as_bytes());
    let mut id = String::from("todo_");
    for byte in digest.iter().take(6) {
        for nibble in [byte >> 4, byte & 15] {
            id.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    TodoId::trusted(id)
}
