//! Tokens that their shape alone gives away. Looks at runs of at least
//! [`SHORTEST`] token characters, so that prose costs nothing here.

use std::ops::Range;

use super::bytes::{before, begins, byte, cut, is_one_of, run_end, run_start, word_starts};
use super::kind::Kind;
use super::pattern::{BUCKETS, How, NONE, PATTERNS, Pattern, SECONDS, Set, Weight};
use super::randomness::{count, is_random};
use super::value::is_mask;

/// No row matches fewer characters than these, prefix included.
pub(super) const SHORTEST: usize = 16;

/// Bytes of a body that are looked at to judge it; keeps hostile text linear.
const JUDGED: usize = 96;

/// The first token in the run `run` of `text`.
pub(super) fn in_run(text: &[u8], run: Range<usize>) -> Option<(Kind, Range<usize>)> {
    // The next dot, found once for all places before it.
    let mut dot = run.start;
    let whole = cut(text, 0..run.end);
    for (at, &b) in whole.iter().enumerate().skip(run.start) {
        if may_begin(b, byte(text, at + 1)) {
            let bucket = BUCKETS.get(usize::from(b));
            for &row in bucket.into_iter().flatten().take_while(|&&row| row != NONE) {
                let Some(pattern) = PATTERNS.get(usize::from(row)) else { break };
                if let Some(end) = prefix(text, at, pattern) {
                    return Some((pattern.kind, at..with_split_rest(text, end)));
                }
            }
        }
        if b == b'.' && begins(text, at, ".atlasv1.") {
            if let Some(hit) = terraform(text, at) {
                return Some(hit);
            }
        } else if b == b'e' && begins(text, at, "eyJ") && word_starts(text, at) {
            if dot <= at {
                dot = run_end(whole, at, |b| b != b'.');
            }
            if let Some(end) = jwt(text, at, dot) {
                return Some((Kind::Jwt, at..end));
            }
        } else if (at == run.start || word_starts(text, at))
            && let Some(hit) = shape(text, at, &run)
        {
            return Some(hit);
        }
    }
    let tail = byte(text, run.end) == b'~' && whole.ends_with(b"Q");
    if tail { azure_client(text, run.end) } else { None }
}

/// Does a prefix of the table begin with these two bytes?
fn may_begin(first: u8, second: u8) -> bool {
    SECONDS.get(usize::from(first)).is_some_and(|bits| second < 128 && bits >> second & 1 == 1)
}

/// Where the token of `pattern` that begins at `at` ends.
fn prefix(text: &[u8], at: usize, pattern: &Pattern) -> Option<usize> {
    let How::Prefix { starts, set, min, weight } = pattern.how else { return None };
    let start = starts.iter().find(|start| begins(text, at, start))?;
    if weight != Weight::Loud && !word_starts(text, at) {
        return None;
    }
    let body = at + start.len();
    let judged = cut(text, body..body + min.max(JUDGED));
    let judged = cut(judged, 0..run_end(judged, 0, |b| set.has(b)));
    if judged.len() < min || is_mask(judged) {
        return None;
    }
    let good = match weight {
        Weight::Random => drawn(judged),
        // A prefix may still begin an identifier: `npm_` and `hf_` need a digit or
        // a change of case in what follows.
        Weight::Word => set == Set::Hex || !is_word(judged),
        Weight::Loud => true,
    };
    good.then(|| run_end(text, body, |b| set.has(b)))
}

/// A body with a piece that was drawn at random, with digits or mixed case in it.
fn drawn(body: &[u8]) -> bool {
    let counts = count(body);
    let small = counts.letters - counts.upper;
    let long = body.len() >= 20 && (counts.digits >= 1 || counts.upper.min(small) >= 3);
    counts.letters >= 2 && (counts.digits >= 2 || long) && is_random(body)
}

/// An identifier of words: no digits beyond a trailing number, and nothing random.
fn is_word(body: &[u8]) -> bool {
    count(body).digits <= 2 && !is_random(body) && body.iter().any(|b| matches!(b, b'-' | b'_'))
}

/// A token that was cut by one space or line end: takes the rest along, so that no
/// part of it stays behind.
fn with_split_rest(text: &[u8], end: usize) -> usize {
    let next = if begins(text, end, "\r\n") { end + 2 } else { end + 1 };
    if !byte(text, end).is_ascii_whitespace() {
        return end;
    }
    let rest = run_end(text, next, |b| Set::Url.has(b));
    let piece = cut(text, next..rest.min(next + 256));
    let counts = count(piece);
    if piece.len() >= 8 && counts.digits >= 3 && counts.letters >= 3 { rest } else { end }
}

/// Tokens that begin at a word and need more than a prefix.
fn shape(text: &[u8], at: usize, run: &Range<usize>) -> Option<(Kind, Range<usize>)> {
    let vendor = |name: &'static str, end: usize| Some((Kind::VendorToken(name), at..end));
    match byte(text, at) {
        b's' if begins(text, at, "sk-") => vendor("OpenAI", sk(text, at)?),
        b'S' if begins(text, at, "SG.") => vendor("SendGrid", dotted(text, at + 3, &[16, 16])?),
        b'p' if begins(text, at, "pat") => {
            let dot = at + 17;
            let id = cut(text, at + 3..dot);
            let good = id.iter().all(|b| Set::Alnum.has(*b)) && byte(text, dot) == b'.';
            let end = run_end(text, dot + 1, |b| Set::Hex.has(b));
            if good && end - dot > 40 { vendor("Airtable", end) } else { None }
        }
        b'0' if cut(text, at.saturating_sub(3)..at) == b"1//" => {
            let end = run_end(text, at, |b| Set::Url.has(b));
            let body = cut(text, at..end.min(at + JUDGED));
            (body.len() >= 30 && drawn(body))
                .then(|| (Kind::VendorToken("Google"), at.saturating_sub(3)..end))
        }
        b'M'..=b'O' => discord(text, at).and_then(|end| vendor("Discord", end)),
        b'0'..=b'9' | b'a'..=b'f' => hex_families(text, at, run),
        _ => None,
    }
}

/// Head and payload of a web token; a head alone is documentation. `dot` is where the
/// head ends.
fn jwt(text: &[u8], at: usize, dot: usize) -> Option<usize> {
    let payload = cut(text, dot + 1..dot + 1 + JUDGED);
    let payload = cut(payload, 0..run_end(payload, 0, |b| Set::Url.has(b)));
    let good = byte(text, dot) == b'.' && dot - at >= 12 && payload.len() >= 12;
    (good && !is_mask(payload)).then(|| run_end(text, dot, |b| Set::Dotted.has(b)))
}

/// `sk-` also begins names of style classes: asks for one long piece with digits, or
/// a very long one without.
fn sk(text: &[u8], at: usize) -> Option<usize> {
    let body = cut(text, at + 3..at + 3 + JUDGED);
    let body = cut(body, 0..run_end(body, 0, |b| Set::Url.has(b)));
    let strong = |piece: &[u8]| {
        let counts = count(piece);
        (piece.len() >= 12 && counts.digits >= 2 && counts.letters >= 2) || piece.len() >= 22
    };
    let good = body.len() >= 16 && !is_mask(body);
    (good && body.split(|b| matches!(b, b'-' | b'_')).any(strong))
        .then(|| run_end(text, at + 3, |b| Set::Url.has(b)))
}

/// Parts of at least so many characters each, separated by dots.
fn dotted(text: &[u8], at: usize, parts: &[usize]) -> Option<usize> {
    let mut next = at;
    for (i, &least) in parts.iter().enumerate() {
        let end = run_end(text, next, |b| Set::Url.has(b));
        let last = i + 1 == parts.len();
        if end - next < least || is_mask(cut(text, next..end.min(next + JUDGED))) {
            return None;
        }
        if last {
            return Some(end);
        }
        if byte(text, end) != b'.' {
            return None;
        }
        next = end + 1;
    }
    None
}

/// Three parts of about 24, 6 and 27 characters.
fn discord(text: &[u8], at: usize) -> Option<usize> {
    let first = run_end(cut(text, 0..at + 31), at, |b| Set::Url.has(b));
    if !(23..=30).contains(&(first - at)) || byte(text, first) != b'.' {
        return None;
    }
    let second = run_end(cut(text, 0..first + 9), first + 1, |b| Set::Url.has(b));
    let third = run_end(text, second + 1, |b| Set::Url.has(b));
    let good = second - first == 7 && byte(text, second) == b'.' && third - second > 26;
    (good && is_random(cut(text, at..third))).then_some(third)
}

/// Keys of 32 hexadecimal digits that a suffix tells apart from digests.
fn hex_families(text: &[u8], at: usize, run: &Range<usize>) -> Option<(Kind, Range<usize>)> {
    if run.end < at + 35 {
        return None;
    }
    let hex = |from: usize| run_end(cut(text, from..from + 33), 0, |b| Set::Hex.has(b)) + from;
    let end = hex(at);
    if end != at + 32 || byte(text, end) != b'-' {
        return None;
    }
    if begins(text, end, "-us") && byte(text, end + 3).is_ascii_digit() {
        let end = run_end(text, end + 3, |b| b.is_ascii_digit());
        return Some((Kind::VendorToken("Mailchimp"), at..end));
    }
    let (second, third) = (hex(end + 1), hex(end + 10));
    (second == end + 9 && byte(text, second) == b'-' && third == second + 9)
        .then_some((Kind::VendorToken("Mailgun"), at..third))
}

/// Tokens of Terraform Cloud have a marker in their middle, at `at`.
fn terraform(text: &[u8], at: usize) -> Option<(Kind, Range<usize>)> {
    let start = run_start(text, at, 32, |b| Set::Alnum.has(b));
    let body = cut(text, at + 9..at + 9 + JUDGED);
    let long = run_end(body, 0, |b| Set::Url.has(b)) >= 30;
    (at - start >= 8 && long).then(|| {
        (Kind::VendorToken("Terraform"), start..run_end(text, at + 9, |b| Set::Url.has(b)))
    })
}

/// Three characters, a digit, `Q~` and at least 30 more.
pub(super) fn azure_client(text: &[u8], tilde: usize) -> Option<(Kind, Range<usize>)> {
    let start = tilde.checked_sub(5)?;
    let end = run_end(text, tilde + 1, |b| Set::Dotted.has(b) || b == b'~');
    let digit = byte(text, start + 3).is_ascii_digit();
    let head = cut(text, start..start + 3).iter().all(|&b| Set::Dotted.has(b) || b == b'~');
    (digit && head && begins(text, start + 4, "Q~") && end - tilde > 30)
        .then_some((Kind::VendorToken("Azure"), start..end))
}

/// A bot token of Telegram; `at` is the colon between number and secret.
pub(super) fn telegram(text: &[u8], at: usize) -> Option<(Kind, Range<usize>)> {
    let start = run_start(text, at, 12, |b| b.is_ascii_digit());
    let end = run_end(text, at + 1, |b| Set::Url.has(b));
    let body = cut(text, at + 1..end.min(at + 1 + JUDGED));
    let letter = before(text, start);
    let alone =
        !letter.is_ascii_alphanumeric() || cut(text, start.saturating_sub(3)..start) == b"bot";
    ((7..=11).contains(&(at - start)) && alone && (32..=40).contains(&body.len()) && drawn(body))
        .then_some((Kind::VendorToken("Telegram"), start..end))
}

/// An address whose path is the credential; `at` is where the host begins.
pub(super) fn hook(text: &[u8], at: usize) -> Option<(Kind, Range<usize>)> {
    let host_end = run_end(text, at, |b| Set::Dotted.has(b));
    if !is_one_of(cut(text, host_end.saturating_sub(4)..host_end), &[".com", "k.cn", "u.cn"]) {
        return None;
    }
    PATTERNS.iter().find_map(|pattern| {
        let How::Hook(start) = pattern.how else { return None };
        let host = start.find('/').unwrap_or(start.len());
        // The host may have a tenant before it, as Teams has.
        let from = host_end.checked_sub(host).filter(|&from| from >= at)?;
        if !begins(text, from, start) {
            return None;
        }
        let body = from + start.len();
        let end = run_end(text, body, |b| Set::Base64.has(b) || b == b'@' || b == b'.');
        let judged = cut(text, body..end.min(body + JUDGED));
        let counts = count(judged);
        (judged.len() >= 10 && counts.digits >= 2 && !is_mask(judged))
            .then_some((pattern.kind, from..end))
    })
}
