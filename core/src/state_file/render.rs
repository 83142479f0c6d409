//! Writes todos into a state file's text and leaves every other line alone. It decides
//! nothing about todos; what is shown is the caller's choice.

use super::document::{Document, LineKind};
use super::grammar::{self, Checkbox};
use super::metadata;
use super::slots::{self, Insertion, Layout, Slot};
use crate::model::{Instant, Role, Todo};

/// Heading of a section that had to be added.
const fn section_heading(role: Role) -> &'static str {
    match role {
        Role::User => "## User Todo / Owner Review Reading Queue",
        Role::Agent => "## Agent Todo",
    }
}

/// Renders `shown` into `template`.
///
/// Every line that is not a todo's stays where it is, with its line end, and so does
/// the byte order mark. A block that already shows its todo keeps its bytes; others
/// are written again in their place. Todos are in `order` inside their role's section;
/// archived ones are left out, and blocks of todos that are not in `shown` go, with
/// their metadata. `updated_at` replaces or adds the front matter's line of that name
/// when there is front matter.
///
/// Rendering the result again changes nothing.
pub fn render(template: &Document, shown: &[&Todo], updated_at: Option<Instant>) -> Vec<u8> {
    let layout = slots::lay_out(template, shown);
    let stamp = updated_at.and_then(|at| stamp(template, at));
    let mut page = Page::new(template);
    write_lines(&mut page, template, &layout, stamp.as_ref());
    page.finish(template)
}

/// The front matter's new `updated_at` line, and where it goes: in place of a line or
/// before the closing one.
struct Stamp {
    line: usize,
    replaces: bool,
    text: String,
}

fn stamp(template: &Document, at: Instant) -> Option<Stamp> {
    const KEY: &str = "updated_at:";
    let end = template.front_end?;
    let text = format!("{KEY} {at}");
    let Some(line) = (1..end).find(|i| template.content(*i).starts_with(KEY)) else {
        return Some(Stamp { line: end, replaces: false, text });
    };
    // The same instant in another form stays as it was written.
    let old = template.content(line).strip_prefix(KEY).map(|v| v.trim().trim_matches(['"', '\'']));
    (old.and_then(Instant::parse) != Some(at)).then_some(Stamp { line, replaces: true, text })
}

/// The text under construction and what the blank-line rules need to know of it.
struct Page {
    text: String,
    newline: &'static str,
    /// The last line has no line end yet.
    open: bool,
    last_blank: bool,
    /// A blank line is due before the next line that is not blank.
    blank_due: bool,
    any_line: bool,
}

impl Page {
    fn new(template: &Document) -> Self {
        let mut text = String::with_capacity(template.text().len() + 1024);
        text.push_str(template.bom());
        Self {
            text,
            newline: template.newline,
            open: false,
            last_blank: false,
            blank_due: false,
            any_line: false,
        }
    }

    fn before_line(&mut self, blank: bool) {
        if self.open {
            self.text.push_str(self.newline);
            self.open = false;
        }
        if std::mem::take(&mut self.blank_due) && !blank {
            self.text.push_str(self.newline);
        }
        self.last_blank = blank;
        self.any_line = true;
    }

    /// A line of the template with its own line end.
    fn raw(&mut self, raw: &str, blank: bool) {
        self.before_line(blank);
        self.text.push_str(raw);
        self.open = !raw.ends_with('\n');
    }

    /// A line of ours.
    fn line(&mut self, content: &str) {
        self.before_line(content.is_empty());
        self.text.push_str(content);
        self.text.push_str(self.newline);
    }

    fn blank_unless_there(&mut self) {
        if self.any_line && !self.last_blank {
            self.line("");
        }
    }

    fn todo(&mut self, todo: &Todo, bullet: &str) {
        let mut line = format!("{bullet} [{}]", Checkbox::of(todo.status).mark());
        let box_end = line.len();
        // Collapsed, a text is one line, and behind the box it can be nothing but text.
        line.push(' ');
        line.push_str(&grammar::collapse(&todo.text));
        line.truncate(line.trim_end().len().max(box_end));
        self.line(&line);
        let mut tokens = String::from("  <!-- loopx:todo");
        metadata::write(todo, &mut tokens);
        tokens.push_str(" -->");
        self.line(&tokens);
    }

    fn finish(mut self, template: &Document) -> Vec<u8> {
        // A file without a final line end keeps doing without.
        let without = !template.lines.is_empty() && !template.text().ends_with('\n');
        if let Some(shorter) = self.text.strip_suffix('\n').filter(|_| without) {
            let length = shorter.strip_suffix('\r').unwrap_or(shorter).len();
            self.text.truncate(length);
        }
        self.text.into_bytes()
    }
}

fn write_lines(page: &mut Page, template: &Document, layout: &Layout<'_>, stamp: Option<&Stamp>) {
    let mut blocks = template.todos().iter().enumerate().peekable();
    // What the current block's own lines become, until the next block or section.
    let mut slot = Slot::Kept;
    let mut after_drop = false;
    let mut taken_blank = None;
    for i in 0..template.lines.len() {
        let left_out = template.left_out(i);
        if !left_out.is_empty() {
            page.raw(left_out, false);
            after_drop = false;
        }
        write_sections(page, layout, i);
        if let Some(stamp) = stamp.filter(|stamp| stamp.line == i) {
            page.line(&stamp.text);
            if stamp.replaces {
                continue;
            }
        }
        if let Some((at, _)) = blocks.next_if(|(_, block)| block.lines.start == i) {
            if let Some(insertion) = layout.before.get(&i) {
                write_todos(page, insertion);
            }
            slot = layout.slots.get(at).copied().unwrap_or(Slot::Kept);
            if let Slot::Written { todo, from, raw } = slot {
                write_slot(page, template, todo, from, raw);
            }
        }
        let blank = template.is_blank(i);
        match (template.kind(i), slot) {
            (LineKind::Free | LineKind::Heading, _) => {
                // A blank line that only parted a dropped block from the next goes with it.
                if taken_blank != Some(i) && !(blank && after_drop && page.last_blank) {
                    page.raw(template.raw_line(i), blank);
                }
                after_drop &= blank;
            }
            (_, Slot::Kept) => {
                page.raw(template.raw_line(i), false);
                after_drop = false;
            }
            (_, Slot::Dropped) => after_drop = true,
            (_, Slot::Written { .. }) => after_drop = false,
        }
        if let Some(insertion) = layout.after.get(&i) {
            if insertion.alone && !page.last_blank {
                if template.is_blank(i + 1) && i + 1 < template.lines.len() {
                    page.raw(template.raw_line(i + 1), true);
                    taken_blank = Some(i + 1);
                } else {
                    page.line("");
                }
            }
            write_todos(page, insertion);
        }
    }
    write_sections(page, layout, template.lines.len());
}

fn write_todos(page: &mut Page, insertion: &Insertion<'_>) {
    for todo in &insertion.todos {
        page.todo(todo, "-");
    }
    page.blank_due |= insertion.alone;
}

/// Writes a todo at a block's place: the bytes of its own block, or in its style.
fn write_slot(page: &mut Page, template: &Document, todo: &Todo, from: usize, raw: bool) {
    let Some(block) = template.todos().get(from) else {
        return;
    };
    if !raw {
        page.todo(todo, grammar::bullet(template.content(block.lines.start)));
    }
    let bad_stays = todo.malformed.is_some() && todo.is_open();
    for i in block.lines.clone() {
        let own = match template.kind(i) {
            LineKind::Todo | LineKind::Continuation | LineKind::Metadata => raw,
            // Behind the line of ours, so that mending it takes effect.
            LineKind::BadMetadata => raw || bad_stays,
            LineKind::Free | LineKind::Heading => false,
        };
        if own {
            page.raw(template.raw_line(i), false);
        }
    }
}

fn write_sections(page: &mut Page, layout: &Layout<'_>, line: usize) {
    for (role, todos) in layout.sections.get(&line).into_iter().flatten() {
        page.blank_unless_there();
        page.line(section_heading(*role));
        page.line("");
        for todo in todos {
            page.todo(todo, "-");
        }
        page.blank_due = true;
    }
}
