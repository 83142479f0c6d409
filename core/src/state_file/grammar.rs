//! The grammar of single lines: line ends, headings, fences, checkboxes, metadata
//! comments and their tokens. Nothing here knows a document or a todo's fields.

use std::borrow::Cow;
use std::ops::Range;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::document::SectionKind;
use crate::model::TodoStatus;

/// Where one line stands: `start..end` without its line end, `start..next` with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub start: usize,
    pub end: usize,
    pub next: usize,
}

/// Splits at LF only; a CR before it belongs to the line end. Form feeds, U+2028 and
/// their like are characters of the line, as every Markdown editor shows them.
pub(super) fn lines(text: &str, from: usize) -> Vec<Line> {
    let bytes = text.as_bytes();
    let rest = bytes.get(from..).unwrap_or_default();
    // A guess that is seldom too low: growing the list of a large file is slow.
    let mut lines = Vec::with_capacity(rest.len() / 64 + 16);
    let mut start = from;
    for lf in memchr::memchr_iter(b'\n', rest).map(|at| from + at) {
        let cr = lf > start && bytes.get(lf - 1) == Some(&b'\r');
        lines.push(Line { start, end: lf - usize::from(cr), next: lf + 1 });
        start = lf + 1;
    }
    if start < bytes.len() {
        lines.push(Line { start, end: bytes.len(), next: bytes.len() });
    }
    lines
}

/// The line end that most lines have.
pub(super) fn newline(lines: &[Line]) -> &'static str {
    let ends = |width: usize| lines.iter().filter(|line| line.next - line.end == width).count();
    if ends(2) > ends(1) { "\r\n" } else { "\n" }
}

/// The id of the open todo that two lines are, when they have the form that a projection
/// writes.
pub(super) fn written_block<'t>(text: &'t str, first: &Line, second: &Line) -> Option<&'t str> {
    if first.next - first.end != 1 || second.next - second.end != 1 {
        return None;
    }
    text.get(first.start..first.end)?.strip_prefix("- [ ] ")?;
    let tokens = text.get(second.start..second.end)?.strip_prefix("  <!-- loopx:todo todo_id=")?;
    let (id, rest) = tokens.split_once(' ')?;
    rest.ends_with(" -->").then_some(id)
}

/// White space runs become one space; ends are trimmed.
pub(super) fn collapse(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let mut after_space = false;
    let clean = trimmed.chars().all(|c| {
        let bad = c.is_whitespace() && (c != ' ' || after_space);
        after_space = c == ' ';
        !bad
    });
    if clean {
        return Cow::Borrowed(trimmed);
    }
    let mut out = String::with_capacity(trimmed.len());
    push_collapsed(&mut out, trimmed);
    Cow::Owned(out)
}

/// Appends the words of `text`, one space between all words.
pub(super) fn push_collapsed(out: &mut String, text: &str) {
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
}

/// What stands in the brackets of a todo line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkbox {
    /// `[ ]`.
    Open,
    /// `[x]` or `[X]`.
    Done,
    /// `[-]`.
    Deferred,
}

impl Checkbox {
    /// The box that shows a status; a blocked todo has an open box.
    pub fn of(status: TodoStatus) -> Self {
        match status {
            TodoStatus::Open | TodoStatus::Blocked => Self::Open,
            TodoStatus::Done => Self::Done,
            TodoStatus::Deferred => Self::Deferred,
        }
    }

    /// The status that a box states when no metadata states another.
    pub fn status(self) -> TodoStatus {
        match self {
            Self::Open => TodoStatus::Open,
            Self::Done => TodoStatus::Done,
            Self::Deferred => TodoStatus::Deferred,
        }
    }

    pub(super) fn mark(self) -> char {
        match self {
            Self::Open => ' ',
            Self::Done => 'x',
            Self::Deferred => '-',
        }
    }
}

/// A todo line taken apart.
pub(super) struct TodoLine<'t> {
    pub checkbox: Checkbox,
    pub text: &'t str,
}

/// Reads `- [ ] text`. An empty text is read too: whether it is a todo depends on
/// the lines below it.
pub(super) fn todo_line(content: &str) -> Option<TodoLine<'_>> {
    let rest = content.trim_start().strip_prefix(['-', '*'])?;
    let boxed = rest.trim_start();
    if boxed.len() == rest.len() {
        return None;
    }
    let mut chars = boxed.strip_prefix('[')?.chars();
    let checkbox = match chars.next()? {
        ' ' => Checkbox::Open,
        'x' | 'X' => Checkbox::Done,
        '-' => Checkbox::Deferred,
        _ => return None,
    };
    let text = chars.as_str().strip_prefix(']')?;
    (text.is_empty() || text.starts_with(char::is_whitespace))
        .then(|| TodoLine { checkbox, text: text.trim() })
}

/// Indentation and bullet of a todo line, to be kept when the line is written again.
pub(super) fn bullet(content: &str) -> &str {
    content.find(['-', '*']).and_then(|at| content.get(..=at)).unwrap_or("-")
}

/// A line that may be a metadata comment.
pub(super) enum Comment<'t> {
    /// The tokens between `loopx:` and `-->`.
    Metadata(&'t str),
    /// It begins as one and does not close at the line's end.
    Broken,
}

/// Reads `<!-- loopx:todo k=v -->` and `<!-- loopx: k=v -->`; `None` for any other line.
pub(super) fn comment(content: &str) -> Option<Comment<'_>> {
    let body = content.trim().strip_prefix("<!--")?.trim_start().strip_prefix("loopx:")?;
    // The next action's binding is another kind of comment; it says nothing of a todo.
    if body.starts_with("next-action") {
        return None;
    }
    let Some(body) = body.strip_suffix("-->") else {
        return Some(Comment::Broken);
    };
    let tokens = match body.strip_prefix("todo") {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => rest,
        _ => body,
    };
    Some(Comment::Metadata(tokens))
}

/// Splits metadata into keys and decoded values; an `Err` says what is wrong with a
/// token and never repeats it.
pub(super) fn tokens(
    body: &str,
) -> impl Iterator<Item = Result<(&str, Cow<'_, str>), &'static str>> {
    body.split_ascii_whitespace().map(|token| {
        let (key, value) = token.split_once('=').ok_or("a metadata token has no `=`")?;
        if !is_key(key) {
            return Err("a metadata key has a character that is not allowed");
        }
        // White space beyond ASCII does not part tokens and may not stand in one either.
        let wide_space = || value.contains(char::is_whitespace);
        if value.bytes().any(|b| matches!(b, b'"' | b'<' | b'>' | 0x0b))
            || (!value.is_ascii() && wide_space())
        {
            return Err("a metadata value has a character that must be percent-encoded");
        }
        Ok((key, decode(value).ok_or("a metadata value has a bad percent escape")?))
    })
}

/// `[a-z_][a-z0-9_]*`.
pub(super) fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn decode(value: &str) -> Option<Cow<'_, str>> {
    if !value.contains('%') {
        return Some(Cow::Borrowed(value));
    }
    let escapes_are_whole = value.split('%').skip(1).all(|rest| {
        let mut bytes = rest.bytes();
        let mut hex = || bytes.next().is_some_and(|b| b.is_ascii_hexdigit());
        hex() && hex()
    });
    escapes_are_whole.then(|| percent_decode_str(value).decode_utf8().ok())?
}

/// What the earlier tool leaves unescaped in a value.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'.').remove(b':').remove(b'-');

/// Appends a value in its escaped form.
pub(super) fn push_encoded(out: &mut String, value: &str) {
    out.extend(utf8_percent_encode(value, VALUE));
}

/// The text of a level-two heading.
pub(super) fn heading(content: &str) -> Option<&str> {
    content.strip_prefix("## ").map(str::trim)
}

/// Headings by part, case-insensitively; archive goes first because its headings may
/// hold the words of the others.
const MARKERS: [(SectionKind, &[&str]); 3] = [
    (
        SectionKind::Archive,
        &[
            "todo archive",
            "work archive",
            "completed archive",
            "completed work",
            "完成归档",
            "待办归档",
        ],
    ),
    (SectionKind::User, &["user todo", "owner review reading queue", "owner reading queue"]),
    (SectionKind::Agent, &["agent todo", "codex todo", "project agent todo"]),
];

/// Which section a heading opens.
pub(super) fn section_kind(heading: &str) -> SectionKind {
    let folded = heading.to_lowercase();
    MARKERS
        .iter()
        .find(|(_, markers)| markers.iter().any(|marker| folded.contains(marker)))
        .map_or(SectionKind::Other, |(kind, _)| *kind)
}

/// A line of backticks or tildes.
struct Fence {
    line: usize,
    mark: char,
    length: usize,
    opens: bool,
    closes: bool,
}

/// Whether a line could open or close a fenced block.
pub(super) fn is_fence(content: &str) -> bool {
    fence(0, content).is_some()
}

fn fence(line: usize, content: &str) -> Option<Fence> {
    let trimmed = content.trim();
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = trimmed.trim_start_matches(mark);
    let length = trimmed.len() - rest.len();
    (length >= 3).then(|| Fence {
        line,
        mark,
        length,
        opens: mark == '~' || !rest.contains('`'),
        closes: rest.is_empty(),
    })
}

/// The lines of fenced blocks, fences included, in order.
///
/// A fence that is never closed is no fence: hiding every todo below it behind one
/// forgotten line would be worse than reading a checkbox of a code sample.
pub(super) fn fenced(text: &str, lines: &[Line], from: usize) -> Vec<Range<usize>> {
    let marks: Vec<Fence> = lines
        .iter()
        .enumerate()
        .skip(from)
        .filter_map(|(i, line)| fence(i, text.get(line.start..line.end)?))
        .collect();
    // Longest closer at or after each mark, so that an opener knows in one step
    // whether its closer exists.
    let mut longest = vec![(0, 0); marks.len() + 1];
    for (i, mark) in marks.iter().enumerate().rev() {
        let (mut tick, mut tilde) = longest.get(i + 1).copied().unwrap_or_default();
        if mark.closes {
            let best = if mark.mark == '`' { &mut tick } else { &mut tilde };
            *best = mark.length.max(*best);
        }
        if let Some(place) = longest.get_mut(i) {
            *place = (tick, tilde);
        }
    }
    let mut out = Vec::new();
    let mut open: Option<&Fence> = None;
    for (i, mark) in marks.iter().enumerate() {
        match open {
            Some(opener)
                if mark.closes && mark.mark == opener.mark && mark.length >= opener.length =>
            {
                out.push(opener.line..mark.line + 1);
                open = None;
            }
            Some(_) => {}
            None => {
                let (tick, tilde) = longest.get(i + 1).copied().unwrap_or_default();
                let closer = if mark.mark == '`' { tick } else { tilde };
                if mark.opens && closer >= mark.length {
                    open = Some(mark);
                }
            }
        }
    }
    out
}
