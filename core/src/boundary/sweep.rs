//! One pass over one reading of a text: wakes the rule that may match where a byte or
//! the end of a run calls for it. Prose wakes next to nothing.

use std::ops::Range;

use super::bytes::{before, byte, cut, ends_with_word, is_one_of};
use super::kind::Kind;
use super::{address, header, key, named, path, token};

type Found = Option<(Kind, Range<usize>)>;

/// Part of a run: `A-Z a-z 0-9 _ - .`.
const RUN: u8 = 1;
/// Wakes a rule.
const WAKES: u8 = 2;
/// May read as something else: not ASCII, or a control character.
pub(super) const ODD: u8 = 4;
/// May begin an escape.
pub(super) const ESCAPES: u8 = 8;

/// What each byte is to the pass.
const CLASSES: [u8; 256] = classes();

// Runs in the compiler only: past the end is a failed build.
#[allow(clippy::indexing_slicing)]
const fn classes() -> [u8; 256] {
    let mut table = [ODD; 256];
    let mut b = 0;
    while b < 128 {
        let c = b as u8;
        table[b] = match c {
            b'_' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => RUN,
            b':' | b'=' | b'/' | b'~' | b'@' | b'>' | b',' | b'(' | b'|' => WAKES,
            b'\\' => WAKES | ESCAPES,
            b'%' | b'&' => ESCAPES,
            b'\n' | b'\r' | b'\t' => 0,
            _ => {
                if c.is_ascii_control() {
                    ODD
                } else {
                    0
                }
            }
        };
        b += 1;
    }
    table
}

/// Calls `found` with every hit of the reading `text` in order, until it says stop.
/// Returns [`ODD`] and [`ESCAPES`] if any byte seen is one of these.
pub(super) fn sweep(text: &[u8], mut found: impl FnMut(Kind, Range<usize>) -> bool) -> u8 {
    let mut start = 0;
    // What lies inside the last hit has been seen with it.
    let mut seen = 0;
    let mut classes = 0;
    for (at, &b) in text.iter().enumerate() {
        let class = CLASSES.get(usize::from(b)).copied().unwrap_or(ODD);
        classes |= class;
        if class == RUN {
            continue;
        }
        if start < at && !runs(text, start..at, &mut seen, &mut found) {
            return classes;
        }
        start = at + 1;
        if class & WAKES != 0
            && at >= seen
            && let Some((kind, range)) = wake(text, at, b)
        {
            seen = range.end.max(at);
            if !found(kind, range) {
                return classes;
            }
        }
    }
    runs(text, start..text.len(), &mut seen, &mut found);
    classes
}

/// All hits of one run; false when it is enough.
fn runs(
    text: &[u8],
    whole: Range<usize>,
    seen: &mut usize,
    found: &mut impl FnMut(Kind, Range<usize>) -> bool,
) -> bool {
    let mut start = whole.start.max(*seen);
    while start < whole.end {
        let Some((kind, range)) = run(text, start..whole.end) else { return true };
        *seen = range.end;
        start = range.end.max(start + 1);
        if !found(kind, range) {
            return false;
        }
    }
    true
}

fn wake(text: &[u8], at: usize, b: u8) -> Found {
    match b {
        b':' => {
            if byte(text, at + 1) == b'/' && byte(text, at + 2) == b'/' {
                return address::credentials(text, at + 1);
            }
            token::telegram(text, at)
                .or_else(|| named::assignment(text, at))
                .or_else(|| key::jwk(text, at))
        }
        b'=' => named::assignment(text, at),
        b'/' => path::home(text, at),
        b'\\' => path::home(text, at).or_else(|| path::unc(text, at)),
        b'~' => path::tilde(text, at).or_else(|| token::azure_client(text, at)),
        b'@' => address::source_name(text, at),
        b'>' if before(text, at) == b'-' => named::arrow(text, at - 1, at + 1),
        b'>' => named::element(text, at),
        b'|' => named::arrow(text, at, at + 1),
        b',' | b'(' => named::argument(text, at),
        _ => None,
    }
}

fn run(text: &[u8], run: Range<usize>) -> Found {
    let word = cut(text, run.clone());
    let next = byte(text, run.end);
    let long = word.len() >= token::SHORTEST;
    if (long || word.len() >= 4 && matches!(next, b'+' | b'/' | b'%'))
        && let Some(hit) = token::in_run(text, run.clone())
    {
        return Some(hit);
    }
    if next == b'/' && (word.ends_with(b".com") || word.ends_with(b".cn")) {
        return token::hook(text, run.start);
    }
    let last = |b: u8| matches!(b, b'd' | b'D' | b'e' | b'E');
    match (byte(word, 0), word.len()) {
        (b'-', 2..) if !word.ends_with(b"BEGIN") => named::flag(text, run),
        (b'i' | b'w', 2..=3) if is_one_of(word, &["is", "was"]) => named::sentence(text, run),
        (b'B' | b'-', 5..) if word.ends_with(b"BEGIN") => key::pem(text, run.end),
        (b'b' | b'B' | b'F' | b'S', _)
            if next == b' ' && is_one_of(word, &["bearer", "basic", "flyv1", "ssws"]) =>
        {
            header::credential(text, run.end, false)
        }
        (b'b' | b'B', 2) if ends_with_word(cut(text, 0..run.end), "identified by") => {
            named::juxtaposed(text, run)
        }
        (_, 6..=24) if matches!(next, b' ' | b'\t') && last(byte(word, word.len() - 1)) => {
            let known = ["password", "passphrase", "passwd"];
            let named = known.iter().any(|name| ends_with_word(word, name));
            if named { named::juxtaposed(text, run) } else { None }
        }
        _ => None,
    }
}
