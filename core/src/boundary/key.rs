//! Private keys that a block or a field name gives away.

use std::ops::Range;

use super::bytes::{before, begins, byte, cut, holds, run_end, run_start};
use super::kind::Kind;
use super::pattern::Set;

/// A block that says it is a private key; `end` is behind the word `BEGIN`. The range
/// reaches over the body to the end line, or as far as something like a body goes.
pub(super) fn pem(text: &[u8], end: usize) -> Option<(Kind, Range<usize>)> {
    let word = end.checked_sub(5)?;
    let space = run_start(text, word, 2, |b| b == b' ');
    let start = run_start(text, space, 64, |b| b == b'-');
    if space - start < 4 {
        return None;
    }
    let line = cut(text, end..end + 64);
    let label = cut(line, 0..run_end(line, 0, |b| b != b'-' && b != b'\n'));
    if !holds(label, "private key") {
        return None;
    }
    let mut at = run_end(text, end + label.len(), |b| b == b'-');
    loop {
        at = run_end(text, at, |b| Set::Base64.has(b) && b != b'-' || is_filler(b));
        let dashes = run_end(text, at, |b| b == b'-');
        if dashes - at >= 4 {
            // Head lines of the body are within; the end line closes the block.
            let close = begins(text, run_end(text, dashes, |b| b == b' '), "END");
            at = if close { run_end(text, dashes, |b| b != b'-' && b != b'\n') } else { at };
            return Some((Kind::PrivateKey, start..run_end(text, at, |b| b == b'-')));
        }
        // `Proc-Type: 4,ENCRYPTED`, `DEK-Info: ...`, `Comment: ...`
        let head = cut(text, at..at + 1);
        if head.first().is_some_and(|&b| matches!(b, b':' | b',' | b'-')) && at - start < 4096 {
            at += 1;
        } else {
            return Some((Kind::PrivateKey, start..at));
        }
    }
}

/// What stands between the lines of a body, also where the text is escaped.
fn is_filler(b: u8) -> bool {
    b.is_ascii_whitespace() || matches!(b, b'\\' | b'"' | b'\'')
}

/// The private exponent or secret of a JSON web key: field `d` or `k` in a text that
/// says `kty` nearby. `colon` is behind the field's name.
pub(super) fn jwk(text: &[u8], colon: usize) -> Option<(Kind, Range<usize>)> {
    let name = run_start(text, colon, 8, |b| !b.is_ascii_alphanumeric());
    if !matches!(before(text, name), b'd' | b'k')
        || before(text, name - 1).is_ascii_alphanumeric()
        || name == colon
    {
        return None;
    }
    let start = run_end(text, colon + 1, |b| matches!(b, b' ' | b'"' | b'\\'));
    let end = run_end(text, start, |b| Set::Url.has(b));
    if end - start < 32 || byte(text, colon) != b':' {
        return None;
    }
    let near = cut(text, colon.saturating_sub(1024)..end + 1024);
    holds(near, "\"kty").then_some((Kind::PrivateKey, start..end))
}
