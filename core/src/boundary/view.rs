//! Other readings of a text, each with the way back to where it came from: what a
//! person reads once tricks of Unicode are undone, what escapes stand for, and what
//! base64 and hexadecimal runs hold. Finds nothing itself but hidden characters.

use std::ops::Range;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::bytes::{byte, cut, run_end};
use crate::model::id::is_hidden;

/// A stretch of a reading and what it stands for.
struct Piece {
    /// Where the stretch begins in the reading.
    at: usize,
    /// What it stands for in the original.
    from: Range<usize>,
    /// Byte for byte the same as the original.
    same: bool,
}

/// A reading of a text.
pub(super) struct View {
    /// The reading.
    pub bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

impl View {
    fn with_capacity(len: usize) -> Self {
        Self { bytes: Vec::with_capacity(len), pieces: Vec::new() }
    }

    /// Appends `from` of `text` as it stands.
    fn keep(&mut self, text: &[u8], from: Range<usize>) {
        if from.is_empty() {
            return;
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(cut(text, from.clone()));
        match self.pieces.last_mut() {
            Some(last) if last.same && last.from.end == from.start => last.from.end = from.end,
            _ => self.pieces.push(Piece { at, from, same: true }),
        }
    }

    /// Appends `bytes`, which stand for `from`.
    fn put(&mut self, bytes: &[u8], from: Range<usize>) {
        self.pieces.push(Piece { at: self.bytes.len(), from, same: false });
        self.bytes.extend_from_slice(bytes);
    }

    /// The range of the original that `range` of this reading stands for.
    pub fn lift(&self, range: Range<usize>) -> Range<usize> {
        let of = |at: usize| -> Range<usize> {
            let next = self.pieces.partition_point(|piece| piece.at <= at);
            let Some(piece) = next.checked_sub(1).and_then(|i| self.pieces.get(i)) else {
                return 0..0;
            };
            if piece.same {
                let from = piece.from.start + (at - piece.at);
                from..from + 1
            } else {
                piece.from.clone()
            }
        };
        let last = range.end.saturating_sub(1).max(range.start);
        of(range.start).start..of(last).end
    }
}

/// Letters of other scripts that look like Latin ones.
const LOOK_ALIKES: &[(&str, &str)] = &[
    ("аеорсухіѕјԁһкАВЕКМНОРСТХІЅЈ", "aeopcyxisjdhkABEKMHOPCTXISJ"),
    ("οαρνΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oapvABEZHIKMNOPTYX"),
];

/// Signs that look like ASCII ones and that NFKC leaves alone.
fn sign(c: char) -> Option<char> {
    Some(match c {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{02bc}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' | '\u{00ab}'
        | '\u{00bb}' => '"',
        '\u{2010}'..='\u{2013}' | '\u{2015}' | '\u{2212}' | '\u{fe58}' => '-',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
        '\u{2216}' | '\u{29f5}' => '\\',
        '\u{2236}' | '\u{a789}' | '\u{02d0}' => ':',
        '\u{a78a}' | '\u{ff1d}' | '\u{2192}' => '=',
        '\u{2028}' | '\u{2029}' | '\u{0085}' => '\n',
        _ => return None,
    })
}

/// Scripts in which nothing looks like ASCII: not worth a look at the tables.
fn is_plain(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{24f}' | '\u{5d0}'..='\u{5ff}' | '\u{620}'..='\u{6ff}' | '\u{900}'..='\u{dff}'
        | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{2014}'
        | '\u{3001}' | '\u{3002}' | '\u{2190}' | '\u{2191}' | '\u{2193}'..='\u{21ff}' | '\u{2500}'..='\u{27bf}')
}

/// The text as it is read: compatibility forms folded (full width, styled letters),
/// invisible characters, accents laid over and terminal sequences dropped, quotes,
/// dashes and look-alikes made plain. `None` if it reads as it stands.
pub(super) fn fold(text: &[u8]) -> Option<View> {
    let mut view = View::with_capacity(text.len());
    let mut changed = false;
    let mut base = 0;
    // What stands as it is, up to here, is taken over in one go.
    let mut kept = 0;
    for chunk in text.utf8_chunks() {
        let mut chars = chunk.valid().char_indices().peekable();
        let mut last = ' ';
        while let Some((offset, c)) = chars.next() {
            let control = c.is_ascii_control() && !matches!(c, '\n' | '\r' | '\t');
            if is_plain(c) || c.is_ascii() && !control {
                last = c;
                continue;
            }
            let from = base + offset..base + offset + c.len_utf8();
            let next = chars.peek().map_or(' ', |next| next.1);
            let latin = last.is_ascii_alphanumeric() || next.is_ascii_alphanumeric();
            let plain = sign(c).or_else(|| if latin { look_alike(c) } else { None });
            let (mut folded, mut len, mut same) = ([0u8; 96], 0, false);
            let mut put = |part: char| {
                if let Some(place) = folded.get_mut(len..len + part.len_utf8()) {
                    part.encode_utf8(place);
                    len += part.len_utf8();
                }
                last = part;
            };
            if let Some(plain) = plain {
                put(plain);
            } else if !control && !is_hidden(c) && !is_combining_mark(c) {
                same = true;
                decompose_compatible(c, |part| {
                    same &= part == c;
                    put(part);
                });
            }
            if same {
                continue;
            }
            changed = true;
            view.keep(text, kept..from.start);
            view.put(cut(&folded, 0..len), from.clone());
            kept = from.end;
            if c == '\u{1b}' && chars.next_if(|next| next.1 == '[').is_some() {
                // A terminal sequence: `ESC [ ... letter`.
                while chars.next_if(|next| matches!(next.1, '0'..='?')).is_some() {}
                chars.next_if(|next| next.1.is_ascii_alphabetic());
                kept = chars.peek().map_or(base + chunk.valid().len(), |next| base + next.0);
            }
        }
        base += chunk.valid().len() + chunk.invalid().len();
    }
    view.keep(text, kept..text.len());
    changed.then_some(view)
}

fn look_alike(c: char) -> Option<char> {
    LOOK_ALIKES.iter().find_map(|(theirs, ours)| {
        theirs.chars().zip(ours.chars()).find_map(|(from, to)| (from == c).then_some(to))
    })
}

/// Where the text has characters that hide or reorder text: direction overrides, tag
/// characters outside flags, four or more invisible characters in a row.
pub(super) fn hidden(text: &str) -> Option<Range<usize>> {
    if text.is_ascii() {
        return None;
    }
    let mut run = 0..0;
    let mut count = 0;
    let mut flag = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let tag = matches!(c, '\u{e0000}'..='\u{e007f}');
        if matches!(c, '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}') || tag && !flag {
            return Some(at..end);
        }
        flag = c == '\u{1f3f4}' || flag && tag;
        if is_hidden(c) && !tag {
            run = if count == 0 { at..end } else { run.start..end };
            count += 1;
            if count >= 4 {
                return Some(run);
            }
        } else {
            count = 0;
        }
    }
    None
}

fn hex(b: u8) -> Option<u32> {
    (b as char).to_digit(16)
}

/// A number of `digits` hexadecimal digits at `at`.
fn number(text: &[u8], at: usize, digits: usize) -> Option<u32> {
    (at..at + digits).try_fold(0, |sum, i| Some(sum * 16 + hex(byte(text, i))?))
}

/// The text with `%XX`, `\xXX`, `\uXXXX` and `&#N;` replaced by what they stand for;
/// `None` if it has none of them.
pub(super) fn unescape(text: &[u8]) -> Option<View> {
    let escape = |at: usize| -> Option<(u32, usize)> {
        match (byte(text, at), byte(text, at + 1)) {
            (b'%', _) => Some((number(text, at + 1, 2)?, 3)),
            (b'\\', b'x') => Some((number(text, at + 2, 2)?, 4)),
            (b'\\', b'u') => match byte(text, at + 2) {
                b'{' => {
                    let end = run_end(cut(text, 0..at + 9), at + 3, |b| hex(b).is_some());
                    (byte(text, end) == b'}').then_some(())?;
                    Some((number(text, at + 3, end - at - 3)?, end + 1 - at))
                }
                _ => Some((number(text, at + 2, 4)?, 6)),
            },
            (b'&', b'#') => {
                let sixteen = matches!(byte(text, at + 2), b'x' | b'X');
                let start = if sixteen { at + 3 } else { at + 2 };
                let end = run_end(cut(text, 0..start + 7), start, |b| b.is_ascii_hexdigit());
                let digits = std::str::from_utf8(cut(text, start..end)).ok()?;
                let value = u32::from_str_radix(digits, if sixteen { 16 } else { 10 }).ok()?;
                (byte(text, end) == b';').then_some((value, end + 1 - at))
            }
            _ => None,
        }
    };
    let mut view: Option<View> = None;
    let mut kept = 0;
    for (at, &b) in text.iter().enumerate() {
        if at < kept || !matches!(b, b'%' | b'\\' | b'&') {
            continue;
        }
        let Some((value, len)) = escape(at) else { continue };
        let view = view.get_or_insert_with(|| View::with_capacity(text.len()));
        view.keep(text, kept..at);
        kept = at + len;
        if b == b'%' || byte(text, at + 1) == b'x' {
            // One byte of UTF-8, maybe of several.
            view.put(&[u8::try_from(value).unwrap_or(b'?')], at..kept);
        } else {
            let c = char::from_u32(value).unwrap_or('\u{fffd}');
            view.put(c.encode_utf8(&mut [0; 4]).as_bytes(), at..kept);
        }
    }
    let mut view = view?;
    view.keep(text, kept..text.len());
    Some(view)
}
