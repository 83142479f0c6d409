//! Looking at bytes without ever indexing past an end. Not for decisions.

use std::ops::Range;

/// The byte at `at`, or a line end past the text, which every matcher stops at.
pub(super) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(b'\n')
}

/// The byte before `at`, or a line end at the start of the text.
pub(super) fn before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(b'\n', |i| byte(text, i))
}

/// The part of `text` in `range`, cut to what there is.
pub(super) fn cut(text: &[u8], range: Range<usize>) -> &[u8] {
    let end = range.end.min(text.len());
    text.get(range.start.min(end)..end).unwrap_or_default()
}

/// Where the run of bytes that `keep` holds ends, starting at `from`.
pub(super) fn run_end(text: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    let rest = cut(text, from..text.len());
    from + rest.iter().position(|&b| !keep(b)).unwrap_or(rest.len())
}

/// Where the run of bytes that `keep` holds begins, ending at `end`, looking back
/// over at most `most` bytes.
pub(super) fn run_start(text: &[u8], end: usize, most: usize, keep: impl Fn(u8) -> bool) -> usize {
    let window = cut(text, end.saturating_sub(most)..end);
    end - window.iter().rev().position(|&b| !keep(b)).unwrap_or(window.len())
}

/// Does `text` begin with `start` at `at`?
pub(super) fn begins(text: &[u8], at: usize, start: &str) -> bool {
    cut(text, at..text.len()).starts_with(start.as_bytes())
}

/// Is one of `words` equal to `text`, whatever the case?
pub(super) fn is_one_of(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Does `text` end with `end`, whatever the case?
pub(super) fn ends_with_word(text: &[u8], end: &str) -> bool {
    text.len() >= end.len()
        && cut(text, text.len() - end.len()..text.len()).eq_ignore_ascii_case(end.as_bytes())
}

/// Does `text` begin with `start`, whatever the case?
pub(super) fn starts_with_word(text: &[u8], start: &str) -> bool {
    cut(text, 0..start.len()).eq_ignore_ascii_case(start.as_bytes())
}

/// Does `text` hold `needle`, whatever the case?
pub(super) fn holds(text: &[u8], needle: &str) -> bool {
    let Some((first, _)) = needle.as_bytes().split_first() else { return true };
    // Told apart by the first byte; 0x20 is what upper and lower case differ in.
    text.iter()
        .enumerate()
        .filter(|(_, b)| *b | 0x20 == first | 0x20)
        .any(|(at, _)| cut(text, at..at + needle.len()).eq_ignore_ascii_case(needle.as_bytes()))
}

/// Is there a token boundary before `at`? A letter or a digit there makes it the
/// middle of a word, unless it is the `n` of an escaped line end such as `\n`.
pub(super) fn word_starts(text: &[u8], at: usize) -> bool {
    let last = before(text, at);
    !last.is_ascii_alphanumeric()
        || (matches!(last, b'n' | b't' | b'r') && at >= 2 && before(text, at - 1) == b'\\')
}

/// White space, a quote or a bracket: where a value, a path or an address ends.
pub(super) fn is_stop(b: u8) -> bool {
    b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|')
}
