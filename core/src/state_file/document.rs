//! A state file taken apart without loss: every byte stays, and the todos in it are
//! read. What is to be done about them is decided elsewhere.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::derive;
use super::grammar::{self, Checkbox, Comment, Line};
use super::metadata::{self, Stated};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{Finding, Role, TaskClass, Todo, TodoId};

/// What a `## ` section is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// The person's todos.
    User,
    /// The agents' todos.
    Agent,
    /// Completed todos that are no longer shown.
    Archive,
    /// Anything else; its checkboxes are not todos.
    Other,
}

impl SectionKind {
    /// The role whose todos are written into the section.
    pub fn role(self) -> Option<Role> {
        match self {
            Self::User => Some(Role::User),
            Self::Agent => Some(Role::Agent),
            Self::Archive | Self::Other => None,
        }
    }
}

/// One section: its heading's line and the line after its last.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub kind: SectionKind,
    pub lines: Range<usize>,
}

/// What a line is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Front matter, headings, prose, blanks, fenced blocks: never changed.
    Free,
    /// `## ` heading.
    Heading,
    /// The first line of a todo.
    Todo,
    /// An indented line that goes on with a todo's text.
    Continuation,
    /// A metadata comment that can be read.
    Metadata,
    /// A metadata comment with something unreadable in it.
    BadMetadata,
}

/// A todo as the file has it.
#[derive(Clone, Debug)]
pub struct ParsedTodo {
    /// The todo, derived fields included. `status` is the metadata's when that states
    /// one; see `checkbox` for what is ticked.
    pub todo: Todo,
    /// The block states a valid id of its own.
    pub had_id: bool,
    /// An earlier block states the same id, so this one was given another.
    pub id_duplicated: bool,
    /// The id as stated, also when it is duplicated.
    pub written_id: Option<TodoId>,
    /// The box.
    pub checkbox: Checkbox,
    /// Its section.
    pub section: SectionKind,
    /// Line of the checkbox, from 1.
    pub line: usize,
    /// Bytes from the checkbox line to the next todo or the section's end.
    pub raw_range: Range<usize>,
    /// Everything that could not be read, first in `todo.malformed` too.
    pub problems: Vec<String>,
    pub(super) lines: Range<usize>,
}

/// A parsed state file.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    /// The line end that most lines have.
    pub(super) newline: &'static str,
    pub(super) lines: Vec<Line>,
    pub(super) kinds: Vec<LineKind>,
    /// Line of the closing `---`, when the file begins with front matter.
    pub(super) front_end: Option<usize>,
    pub(super) sections: Vec<Section>,
    todos: Vec<ParsedTodo>,
    findings: Vec<Finding>,
}

const BOM: &str = "\u{feff}";

impl Document {
    /// Takes a file apart.
    ///
    /// # Errors
    /// `state_file_unreadable` when the bytes are not UTF-8; everything else parses.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::parse_lines(bytes, |_, lines| lines)
    }

    /// [`Document::parse`] for drawing the todos `touched` anew onto a projection that shows
    /// everything else as it is to be. Most lines of such a file stay, and reading what they
    /// mean is most of the work; so blocks that are not touched are left out where nothing
    /// depends on them. They stay in the text, and [`super::render`] keeps them.
    pub fn parse_around(bytes: &[u8], touched: &BTreeSet<&str>) -> Result<Self> {
        Self::parse_lines(bytes, |text, lines| {
            let stays = |i: usize| {
                let pair = lines.get(i).zip(lines.get(i + 1));
                pair.and_then(|(first, second)| grammar::written_block(text, first, second))
                    .is_some_and(|id| !touched.contains(id))
            };
            let mut around = Vec::with_capacity(128);
            let (mut at, mut here) = (0, stays(0));
            while at < lines.len() {
                let end = at + if here { 2 } else { 1 };
                let below = stays(end);
                // A block with another one that stays below it has no further lines, and is
                // not what a new todo goes behind.
                if !(here && below) {
                    around.extend(lines.iter().take(end).skip(at).copied());
                }
                (at, here) = (end, below);
            }
            around
        })
    }

    fn parse_lines(
        bytes: &[u8],
        choose: impl FnOnce(&str, Vec<Line>) -> Vec<Line>,
    ) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            Error::new(ErrorCode::StateFileUnreadable, "state file").message(format!(
                "the state file is not UTF-8 text at byte offset {}",
                error.valid_up_to()
            ))
        })?;
        let from = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let lines = grammar::lines(text, from);
        let newline = grammar::newline(&lines);
        let lines = choose(text, lines);
        let mut document = Self {
            text: text.to_owned(),
            newline,
            kinds: vec![LineKind::Free; lines.len()],
            front_end: None,
            sections: Vec::new(),
            // A todo has two lines as a rule; growing a list of such large items is slow.
            todos: Vec::with_capacity((lines.len() / 2).min(4096)),
            findings: Vec::new(),
            lines,
        };
        document.front_end = document.find_front_end();
        document.find_blocks();
        derive::assign_ids(&mut document.todos, &mut document.findings);
        derive::mark_dangling(&mut document.todos);
        Ok(document)
    }

    /// The file, byte for byte as it was read.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.text.clone().into_bytes()
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The todos in file order, those of archive sections included.
    pub fn todos(&self) -> &[ParsedTodo] {
        &self.todos
    }

    /// What is odd about the file: duplicate ids, user todos without a class.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// A value of the front matter, without its quotes.
    pub fn front_matter(&self, key: &str) -> Option<String> {
        (1..self.front_end?).find_map(|i| {
            let (name, value) = self.content(i).split_once(':')?;
            (name.trim() == key).then(|| unquote(value.trim()))
        })
    }

    /// The metadata of a block as keys and decoded values, the last value of a key
    /// only; unreadable tokens are left out.
    pub fn metadata_of(&self, parsed: &ParsedTodo) -> Vec<(String, String)> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for i in parsed.lines.clone() {
            if !matches!(self.kind(i), LineKind::Metadata | LineKind::BadMetadata) {
                continue;
            }
            let Some(Comment::Metadata(body)) = grammar::comment(self.content(i)) else {
                continue;
            };
            for (key, value) in grammar::tokens(body).flatten() {
                match pairs.iter_mut().find(|(k, _)| k == key) {
                    Some(pair) => pair.1 = value.into_owned(),
                    None => pairs.push((key.to_owned(), value.into_owned())),
                }
            }
        }
        pairs
    }

    /// Every todo id that stands in the file, stated or derived: what an adoption needs
    /// of the store.
    pub fn todo_ids(&self) -> HashSet<TodoId> {
        self.todos
            .iter()
            .flat_map(|p| p.written_id.iter().chain([&p.todo.todo_id]))
            .cloned()
            .collect()
    }

    pub(super) fn bom(&self) -> &str {
        if self.text.starts_with(BOM) { BOM } else { "" }
    }

    /// A line without its line end.
    pub(super) fn content(&self, i: usize) -> &str {
        self.lines.get(i).and_then(|line| self.text.get(line.start..line.end)).unwrap_or_default()
    }

    /// A line with its line end.
    pub(super) fn raw_line(&self, i: usize) -> &str {
        self.lines.get(i).and_then(|line| self.text.get(line.start..line.next)).unwrap_or_default()
    }

    /// The text that [`Document::parse_around`] has left out above a line.
    pub(super) fn left_out(&self, i: usize) -> &str {
        let above = i
            .checked_sub(1)
            .map_or(Some(self.bom().len()), |above| self.lines.get(above).map(|line| line.next));
        let here = self.lines.get(i).map(|line| line.start);
        above.zip(here).and_then(|(from, to)| self.text.get(from..to)).unwrap_or_default()
    }

    pub(super) fn kind(&self, i: usize) -> LineKind {
        self.kinds.get(i).copied().unwrap_or(LineKind::Free)
    }

    pub(super) fn is_blank(&self, i: usize) -> bool {
        self.kind(i) == LineKind::Free && self.content(i).trim().is_empty()
    }

    /// Text after the `## ` of a section.
    pub(super) fn heading(&self, section: &Section) -> &str {
        grammar::heading(self.content(section.lines.start)).unwrap_or_default()
    }

    fn find_front_end(&self) -> Option<usize> {
        if self.content(0) != "---" {
            return None;
        }
        // A whole line, so that an objective with ` --- ` in it ends nothing.
        (1..self.lines.len()).find(|i| self.content(*i) == "---")
    }

    fn set_kind(&mut self, i: usize, kind: LineKind) {
        if let Some(place) = self.kinds.get_mut(i) {
            *place = kind;
        }
    }

    /// Finds sections and blocks, and reads each block.
    fn find_blocks(&mut self) {
        let count = self.lines.len();
        let mut i = self.front_end.map_or(0, |end| end + 1);
        let mut fences = grammar::fenced(&self.text, &self.lines, i).into_iter().peekable();
        let mut block: Option<usize> = None;
        let mut in_section = 0;
        while i < count {
            if let Some(fence) = fences.next_if(|fence| fence.start <= i) {
                i = fence.end.max(i + 1);
                continue;
            }
            let content = self.content(i);
            if let Some(heading) = grammar::heading(content) {
                let kind = grammar::section_kind(heading);
                self.finish_block(block.take(), i, &mut in_section);
                if let Some(open) = self.sections.last_mut() {
                    open.lines.end = i;
                }
                self.sections.push(Section { kind, lines: i..count });
                self.set_kind(i, LineKind::Heading);
                in_section = 0;
            } else if self.sections.last().is_some_and(|s| s.kind != SectionKind::Other) {
                if grammar::todo_line(content).is_some() {
                    self.finish_block(block.replace(i), i, &mut in_section);
                    self.set_kind(i, LineKind::Todo);
                } else if block.is_some() {
                    let kind = self.kind_in_block(content);
                    self.set_kind(i, kind);
                }
            }
            i += 1;
        }
        self.finish_block(block, count, &mut in_section);
    }

    fn kind_in_block(&self, content: &str) -> LineKind {
        match grammar::comment(content) {
            // Whether its tokens can be read is seen when the block is.
            Some(Comment::Metadata(_)) => LineKind::Metadata,
            Some(Comment::Broken) => LineKind::BadMetadata,
            None if content.starts_with([' ', '\t']) && !content.trim().is_empty() => {
                LineKind::Continuation
            }
            None => LineKind::Free,
        }
    }

    fn finish_block(&mut self, start: Option<usize>, end: usize, in_section: &mut usize) {
        let Some(start) = start else { return };
        let Some(parsed) = self.read_block(start..end, *in_section) else {
            // An empty box with nothing below it is no todo; its lines are prose and
            // belong to whatever stands above.
            for i in start..end {
                self.set_kind(i, LineKind::Free);
            }
            let section_start = self.sections.last().map_or(0, |s| s.lines.start);
            let bytes = self.lines.get(end).map_or(self.text.len(), |line| line.start);
            if let Some(above) = self.todos.last_mut().filter(|t| t.lines.start > section_start) {
                above.lines.end = end;
                above.raw_range.end = bytes;
            }
            return;
        };
        *in_section += 1;
        self.todos.push(parsed);
    }

    fn read_block(&mut self, lines: Range<usize>, in_section: usize) -> Option<ParsedTodo> {
        let line = grammar::todo_line(self.content(lines.start))?;
        let checkbox = line.checkbox;
        let mut text = String::with_capacity(line.text.len());
        grammar::push_collapsed(&mut text, line.text);
        let mut todo = Todo::new(TodoId::trusted(""), Role::Agent, TaskClass::Advancement, 0, "");
        let mut stated = Stated::default();
        let mut problems: Vec<String> = Vec::new();
        let mut has_metadata = false;
        for i in lines.clone() {
            let before = problems.len();
            match self.kind(i) {
                LineKind::Continuation => grammar::push_collapsed(&mut text, self.content(i)),
                LineKind::BadMetadata => {
                    has_metadata = true;
                    problems
                        .push("a metadata comment does not close at the end of its line".into());
                }
                LineKind::Metadata => {
                    has_metadata = true;
                    let Some(Comment::Metadata(body)) = grammar::comment(self.content(i)) else {
                        continue;
                    };
                    // A rendering writes its own line first and leaves one that it could
                    // not read behind it; whose block it is, the first says.
                    let first = stated.todo_id.take();
                    for token in grammar::tokens(body) {
                        let read = token.map_err(str::to_owned).and_then(|(key, value)| {
                            metadata::read(key, &value, &mut todo, &mut stated)
                        });
                        if let Err(problem) = read {
                            problems.push(problem);
                        }
                    }
                    stated.todo_id = first.or(stated.todo_id);
                }
                LineKind::Free | LineKind::Heading | LineKind::Todo => {}
            }
            if problems.len() > before {
                self.set_kind(i, LineKind::BadMetadata);
            }
        }
        if text.is_empty() && !has_metadata {
            return None;
        }
        let section = self.sections.last()?.clone();
        let user_class =
            matches!(stated.task_class, Some(TaskClass::UserGate | TaskClass::UserAction));
        todo.role =
            section.kind.role().unwrap_or(if user_class { Role::User } else { Role::Agent });
        todo.archived = section.kind == SectionKind::Archive;
        todo.task_class = stated.task_class.unwrap_or_else(|| match todo.role {
            // Fail closed: what a person must do may be a decision.
            Role::User => TaskClass::UserGate,
            Role::Agent => metadata::agent_class(&todo),
        });
        todo.status = stated.status.unwrap_or_else(|| checkbox.status());
        todo.order = i64::try_from(self.todos.len() + 1)
            .unwrap_or(i64::MAX)
            .saturating_mul(super::ORDER_STEP);
        todo.malformed = problems.first().cloned();
        todo.text = text;
        if stated.todo_id.is_none() {
            // Until ids are assigned the field holds what makes this one unique.
            todo.todo_id = TodoId::trusted(format!(
                "{}|{}|{}|{}",
                todo.role,
                self.heading(&section),
                in_section + 1,
                todo.text
            ));
        }
        if todo.role == Role::User && stated.task_class.is_none() && todo.is_open() {
            self.findings.push(Finding::new(
                "user_todo_unclassified",
                stated
                    .todo_id
                    .as_ref()
                    .map_or_else(|| format!("line {}", lines.start + 1), ToString::to_string),
                "a user todo without a task class counts as a gate",
            ));
        }
        let from = self.lines.get(lines.start)?.start;
        let to = self.lines.get(lines.end).map_or(self.text.len(), |line| line.start);
        Some(ParsedTodo {
            had_id: stated.todo_id.is_some(),
            id_duplicated: false,
            written_id: stated.todo_id,
            checkbox,
            section: section.kind,
            line: lines.start + 1,
            raw_range: from..to,
            problems,
            lines,
            todo,
        })
    }
}

fn unquote(value: &str) -> String {
    if let Ok(text) = serde_json::from_str::<String>(value) {
        return text;
    }
    // The earlier tool escapes quotes and nothing else, so its backslashes are plain.
    match value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
        Some(inner) => inner.replace("\\\"", "\""),
        None => {
            value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')).unwrap_or(value).to_owned()
        }
    }
}
