//! Public safety: what may be stored or shown (contract X11). One scanner and one table
//! of patterns for every sink. A refusal names the field and what was found, never the
//! text, not even a part of it. Not here: who may see what, and lengths of fields.
//!
//! A text is read in every way in which it could be meant: as it stands; with the tricks
//! of Unicode undone; with escapes replaced; and what its base64 and hexadecimal runs
//! hold, two layers deep. One pass over a reading takes time in proportion to its
//! length, and so does the whole, whatever the text.

mod address;
mod bytes;
mod encoded;
mod header;
mod key;
mod kind;
mod name;
mod named;
mod path;
mod pattern;
mod randomness;
mod sweep;
mod term;
mod token;
mod value;
mod view;

use std::borrow::Cow;
use std::ops::Range;

pub use kind::Kind;
pub use pattern::{How, PATTERNS, Pattern, Set, Weight};

use serde_json::Value;

use crate::error::{Error, ErrorCode, Result};

/// How many layers of encoding are taken off.
const DEPTH: usize = 2;

/// Something that may be neither stored nor shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// What it is.
    pub kind: Kind,
    /// Which bytes of the text would have to go, on character boundaries. For what was
    /// found inside an encoding, the whole encoded run.
    pub at: Range<usize>,
}

/// What was found first, if anything. "First" is the order of readings, then of place:
/// enough to refuse a text, and cheaper than [`scan_all`].
pub fn scan(text: &str) -> Option<Hit> {
    collect(text, true).pop()
}

/// Everything found, by place; hits that overlap are one, with the kind of the first.
pub fn scan_all(text: &str) -> Vec<Hit> {
    let mut hits = collect(text, false);
    hits.sort_by_key(|hit| (hit.at.start, std::cmp::Reverse(hit.at.end)));
    let mut merged: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.at.start < last.at.end => last.at.end = last.at.end.max(hit.at.end),
            _ => merged.push(hit),
        }
    }
    merged
}

/// Refuses a text of a caller that may not be stored in `field`.
///
/// # Errors
///
/// [`ErrorCode::TextRefused`], about the field, naming the kind and how to go on.
pub fn require_safe(field: &'static str, text: &str) -> Result<()> {
    let Some(hit) = scan(text) else { return Ok(()) };
    Err(Error::new(ErrorCode::TextRefused, field)
        .message(format!("{field} was not stored: {} found in it", hit.kind))
        .next(hit.kind.advice()))
}

/// The text with every hit replaced by its kind, for what is shown or comes from
/// elsewhere. The result has no hits, so that a second call changes nothing.
pub fn redact(text: &str) -> Cow<'_, str> {
    without(text, |_| true)
}

/// [`redact`] for people's own lines: what only hides or reorders stays as it was typed.
pub fn redact_shown(text: &str) -> Cow<'_, str> {
    without(text, |kind| kind != Kind::HiddenCharacters)
}

fn without(text: &str, goes: fn(Kind) -> bool) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    // What stood on both sides of a hit may become one when it goes, hence the rounds;
    // one is the rule.
    for _ in 0..8 {
        let mut hits = scan_all(&clean);
        hits.retain(|hit| goes(hit.kind));
        if hits.is_empty() {
            return clean;
        }
        let mut next = String::with_capacity(clean.len());
        let mut from = 0;
        for hit in hits {
            next.push_str(clean.get(from..hit.at.start).unwrap_or_default());
            next.push('[');
            next.push_str(&hit.kind.to_string());
            next.push_str(" removed]");
            from = hit.at.end;
        }
        next.push_str(clean.get(from..).unwrap_or_default());
        clean = Cow::Owned(next);
    }
    if scan_all(&clean).iter().any(|hit| goes(hit.kind)) {
        Cow::Borrowed("[text removed]")
    } else {
        clean
    }
}

/// Fields of answers that hold what people and agents wrote.
const PROSE: [&str; 10] = [
    "text",
    "todo",
    "title",
    "question",
    "objective",
    "note",
    "reason",
    "evidence",
    "message",
    "primary_action",
];

/// An answer whose texts are safe to show: what a hand edit or the earlier tool brought in
/// was never refused, so it is taken out where it would be printed. Fields that are not
/// prose (ids, commands, where an answer's own file lies) stay as they are.
pub fn shown(mut answer: Value) -> Value {
    clean(&mut answer, false);
    answer
}

fn clean(value: &mut Value, prose: bool) {
    match value {
        Value::String(text) if prose => {
            if let Cow::Owned(safe) = redact_shown(text) {
                *text = safe;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, prose)),
        Value::Object(map) => {
            for (key, item) in map {
                clean(item, PROSE.contains(&key.as_str()));
            }
        }
        _ => {}
    }
}

fn collect(text: &str, first: bool) -> Vec<Hit> {
    let mut hits = Vec::new();
    let whole = Scan { text, first };
    whole.examine(text.as_bytes(), 0, &|range| range, &mut hits);
    if (hits.is_empty() || !first)
        && let Some(at) = view::hidden(text)
    {
        hits.push(Hit { kind: Kind::HiddenCharacters, at });
        if !first {
            whole.more_hidden(&mut hits);
        }
    }
    hits
}

struct Scan<'a> {
    text: &'a str,
    first: bool,
}

impl Scan<'_> {
    /// Looks at `bytes`, which is `depth` layers inside the text; `lift` leads back.
    fn examine(
        &self,
        bytes: &[u8],
        depth: usize,
        lift: &dyn Fn(Range<usize>) -> Range<usize>,
        hits: &mut Vec<Hit>,
    ) {
        let mut classes = self.pass(bytes, lift, hits);
        let folded = if classes & sweep::ODD != 0 { view::fold(bytes) } else { None };
        let lift_folded = |range: Range<usize>| {
            lift(folded.as_ref().map_or(range.clone(), |view| view.lift(range)))
        };
        let read = folded.as_ref().map_or(bytes, |view| &view.bytes);
        if folded.is_some() && self.goes_on(hits) {
            classes |= self.pass(read, &lift_folded, hits);
        }
        if depth >= DEPTH || !self.goes_on(hits) {
            return;
        }
        if classes & sweep::ESCAPES != 0
            && let Some(plain) = view::unescape(read)
        {
            self.examine(&plain.bytes, depth + 1, &|range| lift_folded(plain.lift(range)), hits);
        }
        encoded::pieces(read, |piece, run| {
            if self.goes_on(hits) {
                self.examine(piece, depth + 1, &|_| lift_folded(run.clone()), hits);
            }
        });
    }

    fn goes_on(&self, hits: &[Hit]) -> bool {
        !self.first || hits.is_empty()
    }

    /// One pass over one reading; the classes of its bytes.
    fn pass(
        &self,
        bytes: &[u8],
        lift: &dyn Fn(Range<usize>) -> Range<usize>,
        hits: &mut Vec<Hit>,
    ) -> u8 {
        sweep::sweep(bytes, |kind, range| {
            hits.push(Hit { kind, at: self.on_characters(lift(range)) });
            !self.first
        })
    }

    /// Widens a range to whole characters; an empty one to one character.
    fn on_characters(&self, range: Range<usize>) -> Range<usize> {
        let mut start = range.start.min(self.text.len());
        let mut end = range.end.max(start + 1).min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }

    /// The hidden characters behind the first ones.
    fn more_hidden(&self, hits: &mut Vec<Hit>) {
        while let Some(last) = hits.last().map(|hit| hit.at.end) {
            let Some(at) = view::hidden(self.text.get(last..).unwrap_or_default()) else { return };
            hits.push(Hit { kind: Kind::HiddenCharacters, at: last + at.start..last + at.end });
        }
    }
}

#[cfg(test)]
mod tests;
