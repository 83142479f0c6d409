//! Words that hold digits without being drawn: terms of technique, measures, and names
//! in the styles that code is written in. Not for single letters: see `randomness`.

use super::bytes::{cut, is_one_of, run_end};
use super::randomness::{count, is_random, is_word};

/// Letters that may stand before digits in a word of technique: `sha256`, `oauth2`.
const STEMS: &[&str] = &[
    "sha", "md", "aes", "rsa", "rs", "hs", "es", "ps", "utf", "ucs", "base", "int", "uint",
    "float", "double", "bytes", "byte", "argon", "bcrypt", "pbkdf", "scrypt", "oauth", "saml",
    "oidc", "tls", "ssl", "ed", "x", "curve", "secp", "prime", "blake", "hmac", "http", "rfc",
    "ipv", "k", "s", "ec", "v", "u", "i", "f", "p", "r", "ascii", "iso", "win", "arm", "amd",
    "ripemd", "keccak", "crc", "murmur", "xxh", "fido", "totp", "step", "phase", "tier", "level",
    "line", "page", "rule", "item", "case", "chapter", "section", "attempt", "round", "issue",
    "pr", "q", "todo",
];

/// What may follow a number: `30d`, `4096tokens`.
const UNITS: &[&str] = &[
    "s", "ms", "us", "ns", "m", "min", "mins", "h", "hr", "hrs", "hour", "hours", "d", "day",
    "days", "w", "week", "weeks", "months", "years", "k", "kb", "mb", "gb", "b", "bit", "bits",
    "byte", "bytes", "char", "chars", "x", "tok", "tokens", "words", "th", "nd", "st",
];

/// A word of technique, a number, or a number with a unit.
pub(super) fn is_term(piece: &[u8]) -> bool {
    let counts = count(piece);
    if counts.digits == 0 || counts.letters == 0 {
        return true;
    }
    let head = run_end(piece, 0, |b| b.is_ascii_alphabetic());
    let digits = run_end(piece, head, |b| b.is_ascii_digit());
    let tail = cut(piece, digits..piece.len());
    if head == 0 {
        return is_one_of(tail, UNITS) && digits <= 6;
    }
    let words = tail.iter().all(u8::is_ascii_alphabetic) && tail.len() <= 8 && !is_random(tail);
    is_one_of(cut(piece, 0..head), STEMS) && digits - head <= if head == 1 { 3 } else { 5 } && words
}

/// Is this made of words that somebody could read out: `kebab-case`, `camelCase`,
/// `RS256/ES256`, `gpt-4o-mini`? A value behind the name of a secret that is not was
/// drawn, also where it is too short or too broken up for [`is_random`].
pub(super) fn is_readable(body: &[u8]) -> bool {
    readable_share(body) >= 62
}

/// How much of this can be read out, in percent; numbers between words do not count.
pub(super) fn readable_share(body: &[u8]) -> usize {
    let (mut good, mut total) = (0, 0);
    for piece in body.split(|b| !b.is_ascii_alphanumeric()) {
        if piece.iter().all(u8::is_ascii_digit) {
            continue;
        }
        total += piece.len();
        if is_term(piece) && count(piece).digits > 0 {
            good += piece.len();
            continue;
        }
        if piece.len() >= 8 && count(piece).numbers >= 2 {
            continue;
        }
        let mut at = 0;
        while at < piece.len() {
            let digits = run_end(piece, at, |b| b.is_ascii_digit());
            let capitals = run_end(piece, digits, |b| b.is_ascii_uppercase());
            let small = run_end(piece, capitals, |b| b.is_ascii_lowercase());
            // Of several capitals the last begins the word behind them.
            let start = if small > capitals && capitals > digits { capitals - 1 } else { digits };
            let word = cut(piece, start..small);
            good += if word.len() >= 3 && is_word(word) { word.len() } else { 0 };
            let lead = start - digits;
            good += if (2..=4).contains(&lead) && word.len() >= 3 { lead } else { 0 };
            at = small;
        }
    }
    (good * 100usize).checked_div(total).unwrap_or(100)
}
