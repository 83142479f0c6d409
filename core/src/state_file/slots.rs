//! Which todo is shown where: the places that a template's blocks offer, and the
//! places of todos that have no block yet. Nothing is written here.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::document::{Document, LineKind, ParsedTodo, Section, SectionKind};
use super::grammar::{self, Checkbox};
use super::metadata;
use crate::model::{Role, Todo};

/// What happens at a block's place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot<'a> {
    /// The block's own lines are left out, its free lines stay.
    Dropped,
    /// It stays as it is, byte for byte.
    Kept,
    /// A todo is written here, in the style of the block `from`.
    Written { todo: &'a Todo, from: usize, raw: bool },
}

/// Todos without a block that go to one place.
#[derive(Debug, Default)]
pub(super) struct Insertion<'a> {
    pub todos: Vec<&'a Todo>,
    /// They are the only todos of their section and want a blank line around them.
    pub alone: bool,
}

/// The whole layout of one rendering.
#[derive(Debug, Default)]
pub(super) struct Layout<'a> {
    /// By block of the template.
    pub slots: Vec<Slot<'a>>,
    /// To be written before a line.
    pub before: BTreeMap<usize, Insertion<'a>>,
    /// To be written after a line.
    pub after: BTreeMap<usize, Insertion<'a>>,
    /// Sections to be added before a line (or at the end), in this order.
    pub sections: BTreeMap<usize, Vec<(Role, Vec<&'a Todo>)>>,
}

/// A todo that is to be shown, and the block that has shown it so far.
struct Entry<'a> {
    todo: &'a Todo,
    block: Option<usize>,
}

/// Lays out `shown` over the blocks of `template`.
pub(super) fn lay_out<'a>(template: &Document, shown: &[&'a Todo]) -> Layout<'a> {
    let entries = match_blocks(template, shown);
    let mut layout =
        Layout { slots: vec![Slot::Dropped; template.todos().len()], ..Layout::default() };
    for role in [Role::User, Role::Agent] {
        let (mut kept, mut fresh): (Vec<&Entry<'a>>, Vec<&Entry<'a>>) =
            entries.iter().filter(|e| e.todo.role == role).partition(|e| e.block.is_some());
        let mut places: Vec<usize> = kept.iter().filter_map(|e| e.block).collect();
        places.sort_unstable();
        kept.sort_by_key(|e| (e.todo.order, e.block));
        fresh.sort_by(|a, b| (a.todo.order, &a.todo.todo_id).cmp(&(b.todo.order, &b.todo.todo_id)));
        for (place, entry) in places.iter().zip(&kept) {
            let Some(from) = entry.block else { continue };
            if let Some(slot) = layout.slots.get_mut(*place) {
                *slot = fill(template, entry.todo, *place, from);
            }
        }
        if kept.is_empty() {
            insert_alone(&mut layout, template, role, fresh.iter().map(|e| e.todo).collect());
            continue;
        }
        for entry in fresh {
            let above = kept.partition_point(|k| k.todo.order <= entry.todo.order);
            let (map, line) =
                match above.checked_sub(1).and_then(|at| template.todos().get(*places.get(at)?)) {
                    Some(block) => (&mut layout.after, last_line(template, block)),
                    None => match places.first().and_then(|at| template.todos().get(*at)) {
                        Some(first) => (&mut layout.before, first.lines.start),
                        None => continue,
                    },
                };
            map.entry(line).or_default().todos.push(entry.todo);
        }
    }
    layout
}

/// Finds each todo's block: by id, else, for a block that states no id of its own, by
/// role and text (a line that was just adopted has its id only in the store).
fn match_blocks<'a>(template: &Document, shown: &[&'a Todo]) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = Vec::with_capacity(shown.len());
    let mut by_id: HashMap<&str, usize> = HashMap::with_capacity(shown.len());
    for todo in shown.iter().copied().filter(|todo| !todo.archived) {
        by_id.entry(todo.todo_id.as_str()).or_insert_with(|| {
            entries.push(Entry { todo, block: None });
            entries.len() - 1
        });
    }
    let mut without_todo = Vec::new();
    for (i, parsed) in template.todos().iter().enumerate() {
        let Some(role) = parsed.section.role() else {
            continue;
        };
        let entry = by_id.get(parsed.todo.todo_id.as_str()).and_then(|at| entries.get_mut(*at));
        match entry.filter(|entry| entry.todo.role == role) {
            Some(entry) => entry.block = Some(i),
            None if !parsed.had_id || parsed.id_duplicated => {
                without_todo.push((i, role, parsed.todo.text.as_str()))
            }
            None => {}
        }
    }
    if without_todo.is_empty() || entries.iter().all(|entry| entry.block.is_some()) {
        return entries;
    }
    let mut by_text: HashMap<(Role, String), VecDeque<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.block.is_none()) {
        let text = grammar::collapse(&entry.todo.text).into_owned();
        by_text.entry((entry.todo.role, text)).or_default().push_back(at);
    }
    for (block, role, text) in without_todo {
        let found = by_text.get_mut(&(role, text.to_owned())).and_then(VecDeque::pop_front);
        if let Some(entry) = found.and_then(|at| entries.get_mut(at)) {
            entry.block = Some(block);
        }
    }
    entries
}

fn fill<'a>(template: &Document, todo: &'a Todo, place: usize, from: usize) -> Slot<'a> {
    let raw = template.todos().get(from).is_some_and(|block| shows(block, todo));
    if raw && place == from {
        return Slot::Kept;
    }
    // An indented fence that is never closed is text of its todo; moved, it could
    // meet a closer.
    let movable = template.todos().get(from).is_some_and(|block| {
        !block.lines.clone().any(|i| {
            template.kind(i) == LineKind::Continuation && grammar::is_fence(template.content(i))
        })
    });
    Slot::Written { todo, from, raw: raw && movable }
}

/// Whether the block shows the todo in everything that rendering would write.
fn shows(block: &ParsedTodo, todo: &Todo) -> bool {
    if !block.had_id || block.id_duplicated || block.checkbox != Checkbox::of(todo.status) {
        return false;
    }
    if block.todo.text != todo.text && block.todo.text != grammar::collapse(&todo.text) {
        return false;
    }
    let unreadable = todo.malformed.is_some() && todo.is_open();
    if unreadable != (block.todo.malformed.is_some() && block.todo.is_open()) {
        return false;
    }
    if metadata::same(&block.todo, todo) {
        return true;
    }
    // Fields that differ can still be written alike: white space in a note, say.
    let (mut here, mut there) = (String::with_capacity(256), String::with_capacity(256));
    metadata::write(&block.todo, &mut here);
    metadata::write(todo, &mut there);
    here == there
}

/// The last line of a block that is not blank.
fn last_line(template: &Document, block: &ParsedTodo) -> usize {
    block.lines.clone().rev().find(|i| !template.is_blank(*i)).unwrap_or(block.lines.start)
}

/// Places todos of a role that has no block left: in its first section, else in a new one.
fn insert_alone<'a>(
    layout: &mut Layout<'a>,
    template: &Document,
    role: Role,
    todos: Vec<&'a Todo>,
) {
    if todos.is_empty() {
        return;
    }
    if let Some(section) = template.sections.iter().find(|s| s.kind.role() == Some(role)) {
        let line = section
            .lines
            .clone()
            .rev()
            .find(|i| match template.kind(*i) {
                LineKind::Heading => true,
                LineKind::Free => !template.is_blank(*i),
                _ => false,
            })
            .unwrap_or(section.lines.start);
        layout.after.insert(line, Insertion { todos, alone: true });
        return;
    }
    let first = |wanted: &dyn Fn(&Section) -> bool| {
        template.sections.iter().find(|s| wanted(s)).map(|s| s.lines.start)
    };
    let agent = first(&|s| s.kind == SectionKind::Agent).filter(|_| role == Role::User);
    let next_action = || {
        first(&|s| {
            s.kind == SectionKind::Other
                && template.heading(s).to_lowercase().contains("next action")
        })
    };
    let line = agent.or_else(next_action).unwrap_or(template.lines.len());
    layout.sections.entry(line).or_default().push((role, todos));
}
