//! Values that their names give away: `name=value`, `name: value`, `--name value`,
//! `<name>value</name>`, `name is value`, `f("name", "value")`.

use std::ops::Range;

use super::bytes::{before, begins, byte, cut, holds, is_one_of, run_end, run_start};
use super::header;
use super::kind::Kind;
use super::name::{Announced, Name, announce, name_before};
use super::value::{Grade, Tie, is_secret, value_at};

type Found = Option<(Kind, Range<usize>)>;

/// An assignment whose operator holds the byte at `at`, a `:` or a `=`.
pub(super) fn assignment(text: &[u8], at: usize) -> Found {
    let sign = |b: u8| matches!(b, b'=' | b':');
    if sign(before(text, at)) {
        // The first sign of an operator has been through here.
        return None;
    }
    let start = run_start(text, at, 2, |b| matches!(b, b'!' | b'+' | b'|' | b'?' | b'~'));
    let end = run_end(cut(text, 0..at + 4), at, |b| matches!(b, b'=' | b':' | b'>' | b'~'));
    if begins(text, at, "::") || matches!(before(text, start), b'<' | b'>') {
        return None;
    }
    let Some(name) = name_before(text, start) else { return after_clause(text, start, end) };
    match name.announced {
        Announced::Authorization => header::authorization(text, end),
        Announced::Cookies => header::cookies(text, end),
        Announced::SessionCookie => {
            let value = value_at(text, end);
            let body = cut(text, value.body.clone());
            let good = body.len() >= 8 && header::is_cookie_value(body, true);
            good.then(|| (Kind::Cookie, value.whole(text)))
        }
        Announced::Value => {
            let grade = paired_name(text, name.start)?;
            judge(text, end, grade, Tie::Loose, false)
        }
        Announced::Secret(grade) => {
            let spaced = byte(text, end).is_ascii_whitespace();
            let loose = byte(text, at) == b':' && spaced || before(text, start) == b' ';
            // A quoted name is data: JSON, or an environment in code.
            let tie = if loose && !name.quoted { Tie::Loose } else { Tie::Tight };
            judge(text, end, grade, tie, false)
        }
        Announced::Weak(grade) => {
            let quoted = value_at(text, end).quoted;
            let tight = byte(text, at) == b'=' || name.quoted;
            let tie = if quoted || tight { Tie::Tight } else { Tie::Prose };
            // `PASS: tests/x.rs` and `session: 12 turns` are reports.
            let report = tie == Tie::Prose && !begins(text, name.start, "pw");
            (!report).then(|| judge(text, end, grade, tie, true)).flatten()
        }
    }
}

fn judge(text: &[u8], at: usize, grade: Grade, tie: Tie, weak: bool) -> Found {
    let value = value_at(text, at);
    let body = cut(text, value.body.clone());
    if grade == Grade::Phrase {
        // Words run on to the end of the line.
        let end = if value.quoted {
            value.body.end
        } else {
            run_end(cut(text, 0..value.body.start + 400), value.body.start, |b| {
                b.is_ascii_lowercase() || b == b' '
            })
        };
        let whole = value.body.start..end;
        return is_secret(cut(text, whole.clone()), true, grade, tie)
            .then_some((Kind::NamedSecret, whole));
    }
    if !value.quoted
        && byte(text, value.body.end) == b' '
        && is_one_of(body, &["bearer", "basic", "token"])
    {
        return header::credential(text, value.body.end, true);
    }
    if let Some(space) = body.iter().position(|&b| b == b' ')
        && is_one_of(cut(body, 0..space), &["bearer", "basic", "token"])
    {
        return header::credential(text, value.body.start + space, true);
    }
    let tie = if value.quoted && tie == Tie::Loose { Tie::Tight } else { tie };
    // A weak name asks for a value that nothing else explains.
    let good = is_secret(body, value.quoted, grade, tie)
        && (!weak || is_secret(body, value.quoted, grade, Tie::Prose) || body.len() >= 8);
    good.then(|| (Kind::NamedSecret, value.whole(text)))
}

/// `password for the staging box: value`
fn after_clause(text: &[u8], start: usize, end: usize) -> Found {
    if !byte(text, end).is_ascii_whitespace() {
        return None;
    }
    let value = value_at(text, end);
    let body = cut(text, value.body.clone());
    // Cheap first: nearly every clause is followed by a word.
    let key = |b: &u8| b.is_ascii_digit() || b.is_ascii_uppercase();
    if body.len() < 6 || !body.iter().skip(1).any(key) {
        return None;
    }
    let mut at = start;
    for _ in 0..6 {
        let word = run_start(text, at, 24, |b| {
            b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'\'')
        });
        let which = is_one_of(cut(text, word..at), &["for", "of", "on", "at", "from"]);
        if word == at || before(text, word) != b' ' {
            return None;
        }
        at = word - 1;
        if which {
            let name = name_before(text, at)?;
            let Announced::Secret(grade) = name.announced else { return None };
            return is_secret(body, value.quoted, grade, Tie::Prose)
                .then(|| (Kind::NamedSecret, value.whole(text)));
        }
    }
    None
}

/// The grade of `X` in `name: X` or `"key": "X"` shortly before `value:`.
fn paired_name(text: &[u8], value: usize) -> Option<Grade> {
    let window = cut(text, value.saturating_sub(96)..value);
    let base = value - window.len();
    let at = window
        .windows(4)
        .rposition(|part| is_one_of(part, &["name"]) || is_one_of(cut(part, 0..3), &["key"]))?;
    let word = base + at;
    let behind = run_end(text, word, |b| b.is_ascii_alphabetic());
    let start = run_end(cut(text, 0..behind + 8), behind, |b| {
        matches!(b, b'"' | b'\'' | b':' | b'=' | b' ')
    });
    let end =
        run_end(text, start, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    if start == behind || end > value {
        return None;
    }
    match announce(text, start, end)? {
        Announced::Secret(grade) if grade != Grade::Phrase => Some(grade),
        _ => None,
    }
}

/// `--name value`; `run` is the flag.
pub(super) fn flag(text: &[u8], run: Range<usize>) -> Found {
    if !matches!(byte(text, run.end), b' ' | b'\t') {
        return None;
    }
    let lead = cut(text, run.start.saturating_sub(24)..run.start);
    if begins(text, run.start, "-p") && holds(lead, "sshpass ") {
        return judge(text, run.end, Grade::Password, Tie::Tight, false);
    }
    let name = run_end(text, run.start, |b| b == b'-');
    if is_one_of(cut(text, run.clone()), &["-u", "--user", "-U"]) {
        // curl: -u user:password
        let value = value_at(text, run.end);
        let body = cut(text, value.body.clone());
        let colon = body.iter().position(|&b| b == b':')?;
        let secret = cut(body, colon + 1..body.len());
        return (colon > 0 && is_secret(secret, value.quoted, Grade::Password, Tie::Loose))
            .then(|| (Kind::NamedSecret, value.whole(text)));
    }
    if run.end - name < 4 {
        return None;
    }
    match announce(text, name, run.end)? {
        Announced::Secret(grade) => judge(text, run.end, grade, Tie::Tight, false),
        Announced::Weak(grade) => judge(text, run.end, grade, Tie::Prose, true),
        Announced::Cookies => header::cookies(text, run.end),
        _ => None,
    }
}

/// `name -> value`, and a row of a table `| name | value |`; `start..end` is the sign.
pub(super) fn arrow(text: &[u8], start: usize, end: usize) -> Found {
    let name = name_before(text, start)?;
    let Announced::Secret(grade) = name.announced else { return None };
    judge(text, end, grade, Tie::Prose, false)
}

/// `the password is value`; `run` is the verb.
pub(super) fn sentence(text: &[u8], run: Range<usize>) -> Found {
    if byte(text, run.end) != b' ' || before(text, run.start) != b' ' {
        return None;
    }
    let name = name_before(text, run.start)?;
    let Announced::Secret(grade) = name.announced else { return None };
    judge(text, run.end, grade, Tie::Prose, false)
}

/// `login anna password value`, `IDENTIFIED BY 'value'`; `run` is the word.
pub(super) fn juxtaposed(text: &[u8], run: Range<usize>) -> Found {
    if !matches!(byte(text, run.end), b' ' | b'\t') {
        return None;
    }
    let quoted = matches!(byte(text, run.end + 1), b'"' | b'\'' | b'`');
    let word = run_start(text, run.start.saturating_sub(1), 24, |b| !b.is_ascii_whitespace());
    let earlier = run_start(text, word.saturating_sub(1), 24, |b| !b.is_ascii_whitespace());
    // A login of netrc stands two words before.
    let netrc =
        is_one_of(cut(text, earlier..word.saturating_sub(1)), &["login", "user", "account"]);
    let value = value_at(text, run.end);
    let body = cut(text, value.body.clone());
    let strict = body.len() >= 8
        && body.iter().any(u8::is_ascii_digit)
        && body.iter().any(|b| b.is_ascii_uppercase() || b"!@#$%^&*".contains(b));
    let statement = quoted && cut(text, run).eq_ignore_ascii_case(b"by");
    let tie = if statement || netrc { Tie::Tight } else { Tie::Prose };
    (is_secret(body, quoted, Grade::Password, tie) && (quoted || netrc || strict))
        .then(|| (Kind::NamedSecret, value.whole(text)))
}

/// `setenv("NAME", "value")`, `set_password("value")`; `at` is the comma or bracket.
pub(super) fn argument(text: &[u8], at: usize) -> Found {
    let next = run_end(cut(text, 0..at + 3), at + 1, |b| b == b' ');
    let quote = run_end(cut(text, 0..next + 4), next, |b| b == b'\\');
    if !matches!(byte(text, quote), b'"' | b'\'') {
        return None;
    }
    let comma = byte(text, at) == b',';
    if comma && !matches!(before(text, at), b'"' | b'\'') {
        return None;
    }
    let Name { announced, .. } = name_before(text, at)?;
    match announced {
        Announced::Secret(grade) => judge(text, next, grade, Tie::Prose, false),
        Announced::Authorization if comma => header::authorization(text, next),
        Announced::Cookies if comma => header::cookies(text, next),
        _ => None,
    }
}

/// `<name>value</name>`; `at` is the first `>`.
pub(super) fn element(text: &[u8], at: usize) -> Found {
    let start = run_start(text, at, 48, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':')
    });
    if before(text, start) != b'<' || start == at {
        return None;
    }
    match announce(text, start, at)? {
        Announced::Secret(grade) => judge(text, at + 1, grade, Tie::Tight, false),
        _ => None,
    }
}
