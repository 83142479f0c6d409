//! Credentials of HTTP: the Authorization header, bearer tokens, cookies.

use std::ops::Range;

use super::bytes::{byte, cut, is_one_of, is_stop, run_end};
use super::encoded;
use super::kind::Kind;
use super::pattern::Set;
use super::randomness::{count, is_random};
use super::value::{Grade, Tie, is_mask, is_secret, value_at};

type Found = Option<(Kind, Range<usize>)>;

/// Schemes that stand before a credential.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "bot",
    "negotiate",
    "ssws",
    "hmac",
    "jwt",
    "key",
    "pat",
];

/// The value of an Authorization header that begins at or behind `at`.
pub(super) fn authorization(text: &[u8], at: usize) -> Found {
    let start =
        run_end(cut(text, 0..at + 16), at, |b| matches!(b, b' ' | b'"' | b'\'' | b'\\' | b'`'));
    let word = run_end(text, start, |b| b.is_ascii_alphabetic() || b == b'-');
    if is_one_of(cut(text, start..word.min(start + 16)), SCHEMES) && byte(text, word) == b' ' {
        return credential(text, word, true);
    }
    let value = value_at(text, at);
    let body = cut(text, value.body.clone());
    is_secret(body, value.quoted, Grade::Token, Tie::Tight)
        .then(|| (Kind::Authorization, value.whole(text)))
}

/// What stands behind a scheme, from the space at `at` on. `header` says that the
/// scheme stands in a header; in prose `basic` and `bearer` are words.
pub(super) fn credential(text: &[u8], at: usize, header: bool) -> Found {
    let start = run_end(cut(text, 0..at + 8), at, |b| matches!(b, b' ' | b'"' | b'\'' | b':'));
    let ends = |b: u8| is_stop(b) || matches!(b, b',' | b';' | b')' | b']' | b'}');
    let body = cut(text, start..start + 200);
    let body = cut(body, 0..run_end(body, 0, |b| !ends(b)));
    let counts = count(body);
    // `bearer abc123` is one; `bearer tokens/hour` and `Basic ProxyAgent` are not.
    let pair = body.len() >= 8 && body.len().is_multiple_of(4) && counts.upper > 0 && is_pair(body);
    let good = if header {
        is_secret(body, false, Grade::Token, Tie::Tight)
            || counts.digits > 0 && is_secret(body, false, Grade::Password, Tie::Tight)
    } else {
        let random = (counts.digits > 0 || body.len() >= 20) && is_random(body);
        let mixed = counts.digits >= 2 && counts.letters >= 3;
        (random || mixed) && is_secret(body, false, Grade::Password, Tie::Tight)
    };
    if !(pair || good) || is_mask(body) {
        return None;
    }
    let end = run_end(text, start, |b| !ends(b));
    Some((Kind::Authorization, start..end))
}

/// Base64 of `user:password`?
fn is_pair(body: &[u8]) -> bool {
    let mut pair = false;
    encoded::whole(body, |plain| pair |= plain.contains(&b':'));
    pair
}

/// Attributes of a cookie, and words that pairs of prose have on their left.
const ATTRIBUTES: &[&str] = &[
    "path",
    "domain",
    "expires",
    "max-age",
    "samesite",
    "priority",
    "version",
    "comment",
    "secure",
    "httponly",
    "partitioned",
];

/// Is this the value of a cookie that opens something? `opens` says that the cookie's
/// name speaks of a session.
pub(super) fn is_cookie_value(value: &[u8], opens: bool) -> bool {
    let counts = count(value);
    let plain =
        value.iter().all(|&b| Set::Base64.has(b) || matches!(b, b'.' | b':' | b'~' | b'|' | b'!'));
    if !plain || is_mask(value) || value.len() < 6 {
        return false;
    }
    let tie = if opens { Tie::Tight } else { Tie::Loose };
    let long = value.len() >= if opens { 6 } else { 12 };
    let number = opens && value.len() >= 12 && counts.digits >= 8;
    let mixed = opens && counts.digits >= 2 && counts.letters >= 2;
    long && (number || mixed || is_secret(value, false, Grade::Token, tie))
}

fn opens(name: &[u8]) -> bool {
    [
        "sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "secure",
        "host", "key",
    ]
    .iter()
    .any(|word| super::bytes::holds(name, word))
}

/// The cookies of a header, from behind its colon at `at` to the end of the line.
pub(super) fn cookies(text: &[u8], at: usize) -> Found {
    let start = run_end(cut(text, 0..at + 8), at, |b| matches!(b, b' ' | b'"' | b'\'' | b'\\'));
    let line = cut(text, start..start + 512);
    let line = cut(line, 0..run_end(line, 0, |b| !matches!(b, b'\n' | b'"' | b'\'' | b'`')));
    let hit = line.split(|b| matches!(b, b';' | b' ')).any(|pair| {
        let Some(sign) = pair.iter().position(|&b| b == b'=') else { return false };
        let name = cut(pair, 0..sign);
        let value = cut(pair, sign + 1..pair.len().min(sign + 201));
        !is_one_of(name, ATTRIBUTES) && !name.is_empty() && is_cookie_value(value, opens(name))
    });
    hit.then(|| {
        let end = run_end(text, start, |b| !matches!(b, b'\n' | b'"' | b'\'' | b'`'));
        (Kind::Cookie, start..end)
    })
}
