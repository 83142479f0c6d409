//! A page of text: headings, labelled lines, tables. It knows widths and colours and not
//! what an answer means.

use std::fmt::Write as _;

use loopx_core::model::Instant;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How a page looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour.
    pub colour: bool,
    /// Columns of the terminal; without one nothing is cut or wrapped.
    pub width: Option<usize>,
    /// The instant that relative times count from.
    pub now: Instant,
}

/// What a word stands for; decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It goes on.
    Good,
    /// It waits.
    Wait,
    /// It is wrong or refused.
    Bad,
    /// Less important.
    Dim,
    /// Nothing special.
    Plain,
}

impl Tone {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Good => Some("32;1"),
            Self::Wait => Some("33;1"),
            Self::Bad => Some("31;1"),
            Self::Dim => Some("2"),
            Self::Plain => None,
        }
    }
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell of that tone.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::toned(text, Tone::Plain)
    }
}

/// The narrowest that a cut column becomes.
const NARROWEST: usize = 12;

/// A page that is being written.
#[derive(Debug)]
pub struct Page {
    text: String,
    style: Style,
    /// Labelled lines that wait for their widest label.
    lines: Vec<(String, String, bool)>,
}

impl Page {
    /// An empty page.
    pub fn new(style: Style) -> Self {
        Self { text: String::new(), style, lines: Vec::new() }
    }

    /// The instant that relative times count from.
    pub fn now(&self) -> Instant {
        self.style.now
    }

    /// The text.
    pub fn finish(mut self) -> String {
        self.flush();
        self.text
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        match tone.code() {
            Some(code) if self.style.colour && !text.is_empty() => {
                format!("\u{1b}[{code}m{text}\u{1b}[0m")
            }
            _ => text.to_owned(),
        }
    }

    /// The first line: one word and what it is about.
    pub fn head(&mut self, tone: Tone, word: &str, rest: &str) {
        self.flush();
        let word = self.paint(tone, &visible(word));
        let line = format!("{word}  {}", visible(rest));
        let _ = writeln!(self.text, "{}", line.trim_end());
    }

    /// A labelled line; nothing for an empty text. Long ones are wrapped on a terminal.
    pub fn line(&mut self, label: &str, text: impl AsRef<str>) {
        let text = visible(text.as_ref());
        if !text.trim().is_empty() {
            self.lines.push((label.to_owned(), text, true));
        }
    }

    /// A labelled command: never wrapped, so that it can be copied.
    pub fn command(&mut self, label: &str, command: impl AsRef<str>) {
        let command = visible(command.as_ref());
        if !command.trim().is_empty() {
            self.lines.push((label.to_owned(), command, false));
        }
    }

    /// Lines as they are, to be copied: never wrapped, never cut.
    pub fn verbatim(&mut self, text: &str) {
        self.flush();
        for line in text.lines() {
            let _ = writeln!(self.text, "{}", visible(line));
        }
    }

    /// The title of what follows.
    pub fn section(&mut self, title: &str) {
        self.flush();
        let title = self.paint(Tone::Plain, &visible(title));
        let _ = writeln!(self.text, "\n{title}");
    }

    /// Rows under a head. On a terminal the last column is cut to the width that is left,
    /// and where that is not enough the widest of the others.
    pub fn table(&mut self, head: &[&str], rows: Vec<Vec<Cell>>) {
        self.rows(head, rows, false);
    }

    /// A table whose last column is wrapped instead of cut: nothing of it is lost.
    pub fn wrapped_table(&mut self, head: &[&str], rows: Vec<Vec<Cell>>) {
        self.rows(head, rows, true);
    }

    fn rows(&mut self, head: &[&str], rows: Vec<Vec<Cell>>, wraps: bool) {
        self.flush();
        let rows: Vec<Vec<Cell>> = rows
            .into_iter()
            .map(|row| {
                row.into_iter().map(|c| Cell { text: visible(&c.text), tone: c.tone }).collect()
            })
            .collect();
        // A column in which no row says anything is left out.
        let kept: Vec<usize> = (0..head.len())
            .filter(|at| {
                rows.is_empty()
                    || rows
                        .iter()
                        .any(|r| r.get(*at).is_some_and(|c| !matches!(c.text.as_str(), "" | "-")))
            })
            .collect();
        let pick = |cells: &[Cell]| -> Vec<Cell> {
            kept.iter().filter_map(|at| cells.get(*at).cloned()).collect()
        };
        let head: Vec<Cell> = head.iter().map(|h| Cell::toned(*h, Tone::Dim)).collect();
        let lines: Vec<Vec<Cell>> =
            std::iter::once(pick(&head)).chain(rows.iter().map(|r| pick(r))).collect();
        let mut widths: Vec<usize> = vec![0; kept.len()];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.text.width());
            }
        }
        self.narrow(&mut widths, if wraps { NARROWEST * 3 } else { NARROWEST });
        for line in &lines {
            let last = line.len().saturating_sub(1);
            let mut out = String::from("  ");
            let mut indent = 2;
            let mut rest = Vec::new();
            for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let text = match self.style.width {
                    Some(_) if wraps && at == last => {
                        let mut parts = wrapped(&cell.text, Some(*width)).into_iter();
                        let first = parts.next().unwrap_or_default();
                        rest = parts.collect();
                        first
                    }
                    Some(_) => cut(&cell.text, *width),
                    None => cell.text.clone(),
                };
                let gap = width.saturating_sub(text.width());
                out.push_str(&self.paint(cell.tone, &text));
                if at != last {
                    out.push_str(&" ".repeat(gap + 2));
                    indent += width + 2;
                }
            }
            let _ = writeln!(self.text, "{}", out.trim_end());
            for part in rest {
                let _ = writeln!(self.text, "{}{part}", " ".repeat(indent));
            }
        }
    }

    fn narrow(&self, widths: &mut [usize], least: usize) {
        let Some(room) = self.style.width else { return };
        let gaps = 2 + widths.len().saturating_sub(1) * 2;
        loop {
            let total: usize = widths.iter().sum::<usize>() + gaps;
            let over = total.saturating_sub(room);
            if over == 0 {
                return;
            }
            // The last column holds the long text; after it the widest one gives way.
            let last = widths.len().saturating_sub(1);
            let at = match widths.last() {
                Some(width) if *width > least => last,
                _ => {
                    let others = widths.iter().enumerate().take(last);
                    let widest = others.max_by_key(|(_, w)| **w);
                    match widest {
                        Some((at, width)) if *width > NARROWEST => at,
                        _ => return,
                    }
                }
            };
            let least = if at == last { least } else { NARROWEST };
            if let Some(width) = widths.get_mut(at) {
                *width = width.saturating_sub(over).max(least);
            }
        }
    }

    fn flush(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let width = lines.iter().map(|(label, ..)| label.width()).max().unwrap_or(0);
        for (label, text, wraps) in lines {
            let gap = " ".repeat(width.saturating_sub(label.width()));
            let label = self.paint(Tone::Dim, &label);
            let room = self
                .style
                .width
                .filter(|_| wraps)
                .map(|w| w.saturating_sub(width + 4).max(NARROWEST * 2));
            for (at, part) in wrapped(&text, room).iter().enumerate() {
                if at == 0 {
                    let _ = writeln!(self.text, "  {label}{gap}  {part}");
                } else {
                    let _ = writeln!(self.text, "  {}  {part}", " ".repeat(width));
                }
            }
        }
    }
}

/// Stored text may hold anything; a terminal must not act on it, nor show it in another
/// order than it is stored.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { '\u{fffd}' } else { c }).collect()
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Cuts to so many columns, marking the cut; never inside a sequence that is drawn as one.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut end = 0;
    let mut joined = false;
    for (at, c) in text.char_indices() {
        let begins = !joined && c.width().unwrap_or(0) > 0;
        let Some(before) = text.get(..at) else { break };
        if before.width() > room {
            break;
        }
        if begins {
            end = at;
        }
        joined = c == '\u{200d}';
    }
    let kept = text.get(..end).unwrap_or_default();
    format!("{}\u{2026}", kept.trim_end())
}

/// Breaks at spaces into lines of so many columns; one that has no space stays whole.
fn wrapped(text: &str, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns else { return vec![text.to_owned()] };
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.width() + 1 + word.width() > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: Option<usize>) -> Page {
        Page::new(Style { colour: false, width, now: Instant::default() })
    }

    #[test]
    fn columns_are_aligned_by_what_is_drawn() {
        let mut page = page(None);
        page.table(
            &["a", "b"],
            vec![
                vec!["日本語".into(), "x".into()],
                vec!["👩‍💻 e\u{301}".into(), "y".into()],
                vec!["abcdef".into(), "z".into()],
            ],
        );
        assert_eq!(page.finish(), "  a       b\n  日本語  x\n  👩‍💻 e\u{301}    y\n  abcdef  z\n");
    }

    #[test]
    fn a_terminal_cuts_the_last_column_first_and_a_pipe_nothing() {
        let row = || vec![vec!["todo_000000000001".into(), "a long text that does not fit".into()]];
        let mut narrow = page(Some(40));
        narrow.table(&["todo", "text"], row());
        let text = narrow.finish();
        assert!(text.lines().all(|l| l.width() <= 40), "{text}");
        assert!(text.contains("a long text that d…"), "{text}");
        let mut wide = page(None);
        wide.table(&["todo", "text"], row());
        assert!(wide.finish().contains("a long text that does not fit"));
    }

    #[test]
    fn a_cut_never_parts_what_is_drawn_as_one() {
        assert_eq!(cut("日本語テキスト", 7), "日本語…");
        assert_eq!(cut("日本語テキスト", 6), "日本…");
        assert_eq!(cut("ab👩‍💻cd", 4), "ab…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut("short", 5), "short");
    }

    #[test]
    fn text_cannot_move_the_cursor_or_turn_the_line_round() {
        assert_eq!(
            visible("a\u{1b}[2Jb\r\u{7}\u{202e}c\u{9b}"),
            "a\u{fffd}[2Jb\u{fffd}\u{fffd}\u{fffd}c\u{fffd}"
        );
        assert_eq!(visible("👩‍💻"), "👩‍💻");
    }

    #[test]
    fn lines_wrap_under_their_text_and_commands_stay_whole() {
        let mut page = page(Some(44));
        page.line("reason", "one two three four five six seven eight nine ten");
        page.command("next", "loopx quota should-run --goal-id demo --agent-id agent-a");
        assert_eq!(
            page.finish(),
            "  reason  one two three four five six seven\n          eight nine ten\n  next    loopx quota should-run --goal-id demo --agent-id agent-a\n"
        );
    }
}
