//! One todo that exists: what its line says differently than before, and what of that
//! is taken over.

use super::adopt::{Adoption, Edit, tick};
use super::document::ParsedTodo;
use super::grammar::{self, Checkbox};
use super::{is_provisional, metadata};
use crate::model::{Finding, Role, TaskClass, Todo, TodoId, TodoStatus};

type Pairs = Vec<(String, String)>;

/// Compares a block with its todo and with what the last projection showed of it.
pub(super) fn compare(
    edit: &Edit<'_>,
    base: Option<&ParsedTodo>,
    edited: &ParsedTodo,
    id: &TodoId,
    store: Option<&Todo>,
    out: &mut Adoption,
) {
    if base.is_some_and(|b| same_block(edit, b, edited)) {
        return;
    }
    let about = id.as_str();
    let Some(store) = store else {
        // A line of a projection that the store does not know: restored from a backup,
        // most likely. Bringing it back would be a decision.
        out.findings.push(
            Finding::new(
                "edit_conflict",
                about,
                "the edited todo is not in the store; the edit is left alone",
            )
            .next(format!("loopx todo list --goal-id {}", edit.goal_id)),
        );
        return;
    };
    let mut todo = store.clone();
    let stored = written(store);
    let before = base.map_or_else(|| stored.clone(), |b| edit.base.metadata_of(b));
    let after = edit.edited.metadata_of(edited);

    text(edit, base, edited, &mut todo, out);
    let unreadable = edited.todo.malformed.is_some();
    if unreadable && base.is_none_or(|b| b.todo.malformed.is_none()) {
        let problem = edited.problems.join("; ");
        out.findings.push(
            Finding::new(
                "metadata_unreadable",
                about,
                format!("line {}: {problem}; the store's values stay", edited.line),
            )
            .next(format!("mend the metadata below line {} of the state file", edited.line)),
        );
    }
    if !unreadable && store.malformed.is_some() && before != after {
        mend(edited, &mut todo);
    }
    boxes(edit, base, edited, &mut todo, out);
    if base.is_some_and(|b| b.section != edited.section)
        && edited.section.role().is_some_and(|r| r != todo.role)
    {
        out.findings.push(ignored(edit, id, about, "role"));
    }
    if !unreadable {
        fields(edit, id, (&before, &after), &todo, out);
    }
    if todo != *store {
        todo.updated_at = Some(edit.now);
        out.put.push(todo);
    }
}

fn same_block(edit: &Edit<'_>, base: &ParsedTodo, edited: &ParsedTodo) -> bool {
    base.section == edited.section
        && edit.base.text().get(base.raw_range.clone())
            == edit.edited.text().get(edited.raw_range.clone())
}

fn text(
    edit: &Edit<'_>,
    base: Option<&ParsedTodo>,
    edited: &ParsedTodo,
    todo: &mut Todo,
    out: &mut Adoption,
) {
    let stored = grammar::collapse(&todo.text).into_owned();
    let before = base.map_or(stored.as_str(), |b| b.todo.text.as_str());
    let after = edited.todo.text.as_str();
    if after == before || after == stored {
        return;
    }
    let about = todo.todo_id.as_str();
    if after.is_empty() {
        out.findings.push(
            Finding::new(
                "empty_text_ignored",
                about,
                "a todo without a text says nothing; its text stays",
            )
            .next(command(edit, "update", &todo.todo_id) + " --text <text>"),
        );
    } else if stored == before {
        todo.text = after.to_owned();
    } else {
        out.findings.push(
            Finding::new(
                "edit_conflict",
                about,
                "the text was changed in the file and in the store; the store's stays",
            )
            .next(command(edit, "update", &todo.todo_id) + " --text <text>"),
        );
    }
}

/// Takes over metadata that was unreadable and now is not; who holds the todo and how
/// it ended stay as they are.
fn mend(edited: &ParsedTodo, todo: &mut Todo) {
    let mut mended = edited.todo.clone();
    metadata::keep_authority(&mut mended, todo);
    mended.todo_id = todo.todo_id.clone();
    mended.role = todo.role;
    // What a person must do may be a decision; another class would make an open gate
    // something that nobody waits for.
    let of_person = matches!(mended.task_class, TaskClass::UserGate | TaskClass::UserAction);
    if (todo.role == Role::User) != of_person {
        mended.task_class = todo.task_class;
    }
    mended.order = todo.order;
    mended.text = std::mem::take(&mut todo.text);
    mended.status = todo.status;
    mended.archived = todo.archived;
    mended.dangling = todo.dangling;
    mended.created_at = todo.created_at;
    mended.updated_at = todo.updated_at;
    mended.malformed = None;
    *todo = mended;
}

fn boxes(
    edit: &Edit<'_>,
    base: Option<&ParsedTodo>,
    edited: &ParsedTodo,
    todo: &mut Todo,
    out: &mut Adoption,
) {
    let before = base.map_or(Checkbox::of(todo.status), |b| b.checkbox);
    let after = edited.checkbox;
    // Also when the store has come to the same on its own way.
    if after == before || after == Checkbox::of(todo.status) {
        return;
    }
    let about = todo.todo_id.to_string();
    match (before, after) {
        (_, Checkbox::Done) => tick(edit, todo, &about, out),
        (Checkbox::Done, _) => out.findings.push(
            Finding::new("untick_ignored", about, "a done todo is not opened again by its box")
                .next(command(edit, "update", &todo.todo_id) + " --status open"),
        ),
        _ if todo.status != TodoStatus::Done => {
            out.findings.push(ignored(edit, &todo.todo_id, &about, "status"))
        }
        _ => {}
    }
}

/// One finding for each field whose value the file states anew and the todo does not have.
fn fields(
    edit: &Edit<'_>,
    id: &TodoId,
    (before, after): (&Pairs, &Pairs),
    todo: &Todo,
    out: &mut Adoption,
) {
    // A comment that is gone as a whole was deleted, not edited; it comes back.
    if after.is_empty() || before == after {
        return;
    }
    let now = written(todo);
    let value =
        |pairs: &Pairs, key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
    let mut keys: Vec<&str> = after.iter().map(|(key, _)| key.as_str()).collect();
    keys.extend(
        before.iter().map(|(key, _)| key.as_str()).filter(|key| value(after, key).is_none()),
    );
    for key in keys {
        let stated = value(after, key);
        if stated != value(before, key) && stated != value(&now, key) {
            out.findings.push(ignored(edit, id, id.as_str(), key));
        }
    }
}

/// The metadata that a rendering of the todo would carry.
fn written(todo: &Todo) -> Pairs {
    let mut text = String::new();
    metadata::write(todo, &mut text);
    grammar::tokens(&text)
        .flatten()
        .map(|(key, value)| (key.to_owned(), value.into_owned()))
        .collect()
}

/// The finding for a value that a line may not set.
pub(super) fn ignored(edit: &Edit<'_>, id: &TodoId, about: &str, field: &str) -> Finding {
    let next = match field {
        "claimed_by" => command(edit, "claim", id) + " --claimed-by <agent>",
        "superseded_by" => command(edit, "supersede", id),
        "decision_outcome" | "decision_scope_outcomes" => decide(edit, id),
        "no_followup" => command(edit, "complete", id) + " --no-follow-up",
        "successor_todo_ids" => command(edit, "complete", id) + " --successor-todo-id <todo>",
        "completed_at"
        | "completion_continuation"
        | "completion_recovery"
        | "completion_turn_key" => command(edit, "complete", id),
        _ => command(edit, "update", id),
    };
    Finding::new(
        "authority_edit_ignored",
        about,
        format!("`{field}` is not set by editing the file; it stays as it is"),
    )
    .next(next)
}

/// A todo command about `id`.
pub(super) fn command(edit: &Edit<'_>, verb: &str, id: &TodoId) -> String {
    of(edit, &format!("todo {verb}"), id)
}

/// How a person decides a gate; OUTCOME stands for the decision.
pub(super) fn decide(edit: &Edit<'_>, id: &TodoId) -> String {
    of(edit, "gate decide", id) + " --outcome OUTCOME"
}

fn of(edit: &Edit<'_>, words: &str, id: &TodoId) -> String {
    let id = if is_provisional(id) { "<todo>" } else { id.as_str() };
    format!("loopx {words} --goal-id {} --todo-id {id}", edit.goal_id)
}
