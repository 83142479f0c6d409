//! The value behind a name: where it begins and ends, and whether it is a literal
//! secret or a placeholder, a reference, a type, a measure or a word of prose.

use std::ops::Range;

use super::bytes::{begins, byte, cut, holds, is_stop, run_end, starts_with_word};
use super::randomness::{count, entropy, is_random};
use super::term::{is_readable, is_term, readable_share};

/// Bytes of a value that are looked at to judge it; keeps hostile text linear.
const JUDGED: usize = 256;

/// Bytes within which a closing quote is looked for.
const LONGEST: usize = 4096;

/// Where a value stands.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// What is judged.
    pub body: Range<usize>,
    /// Between quotes.
    pub quoted: bool,
    /// Where the value is known to end so far.
    end: usize,
}

impl Value {
    /// What has to go when it is a secret: to the closing quote, or to the next space.
    /// Only asked for a hit, so that a text full of names costs no second look.
    pub(super) fn whole(&self, text: &[u8]) -> Range<usize> {
        let open = self.end >= self.body.start + LONGEST || !self.quoted;
        let goes_on = byte(text, self.end).is_ascii_whitespace();
        let end = match (open, self.quoted) {
            (true, true) => run_end(text, self.end, |b| b != b'\n' && b != b'"' && b != b'\''),
            (true, false) if !goes_on => run_end(text, self.end, |b| !is_stop(b)),
            _ => self.end,
        };
        self.body.start..end.max(self.body.end)
    }
}

/// The value that begins at or behind `at`, on the same line.
pub(super) fn value_at(text: &[u8], at: usize) -> Value {
    let marks = run_end(text, at, |b| b == b'*');
    let at = if marks > at && byte(text, marks) == b' ' { marks } else { at };
    let mut start = run_end(cut(text, 0..at + 64), at, |b| matches!(b, b' ' | b'\t'));
    if matches!(byte(text, start), b'|' | b'>') && block_follows(text, start + 1) {
        // A block scalar: the value stands on the next line.
        let line = run_end(cut(text, 0..start + 8), start, |b| b != b'\n');
        start = run_end(cut(text, 0..line + 64), line, |b| b.is_ascii_whitespace());
    }
    // b"", r"", f"", $"", @""
    let letter = matches!(byte(text, start), b'b' | b'r' | b'f' | b'u' | b'L' | b'$' | b'@');
    if letter && matches!(byte(text, start + 1), b'"' | b'\'') {
        start += 1;
    }
    let slashes = run_end(cut(text, 0..start + 8), start, |b| b == b'\\');
    let quote = byte(text, slashes);
    if !matches!(quote, b'"' | b'\'' | b'`') {
        let end = unquoted_end(cut(text, 0..start + JUDGED), start);
        return Value { body: trim_end(text, start..end), quoted: false, end };
    }
    let escaped = slashes > start;
    let open = run_end(cut(text, 0..slashes + 3), slashes, |b| b == quote);
    // An empty pair of quotes is an empty value, three are a long string.
    let open = if open - slashes == 2 { slashes + 1 } else { open };
    let mut end = open;
    let text = cut(text, 0..open + LONGEST);
    loop {
        end = run_end(text, end, |b| b != quote && b != b'\n' && b != b'\\');
        if byte(text, end) != b'\\' || end >= text.len() {
            break;
        }
        let slash = run_end(text, end, |b| b == b'\\');
        if escaped && byte(text, slash) == quote {
            break;
        }
        end = if byte(text, slash) == b'\n' { slash } else { slash + 1 };
    }
    let end = end.min(text.len());
    Value { body: open..end.min(open + JUDGED), quoted: true, end }
}

/// Where a value without quotes ends. `&` ends it before the next pair of an address,
/// `=` behind what is itself a name; elsewhere they are signs like others.
fn unquoted_end(text: &[u8], start: usize) -> usize {
    let ends = |b: u8| is_stop(b) || matches!(b, b',' | b';' | b'&' | b')' | b']' | b'}' | b'=');
    let is_name = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.');
    let mut at = start;
    loop {
        at = run_end(text, at, |b| !ends(b));
        let next = byte(text, at + 1);
        let goes_on = match byte(text, at) {
            b'&' => {
                let name = run_end(text, at + 1, |b| is_name(&b) || b.is_ascii_digit());
                let pair = name > at + 1 && matches!(byte(text, name), b'=' | b';');
                !pair && !is_stop(next)
            }
            b'=' => !next.is_ascii_alphanumeric() || !cut(text, start..at).iter().all(is_name),
            _ => false,
        };
        if !goes_on || at >= text.len() {
            return at;
        }
        at += 1;
    }
}

fn block_follows(text: &[u8], at: usize) -> bool {
    let sign = if matches!(byte(text, at), b'-' | b'+') { at + 1 } else { at };
    byte(text, sign) == b'\n' && byte(text, sign + 1) == b' '
}

/// Without the punctuation of the sentence around it.
fn trim_end(text: &[u8], range: Range<usize>) -> Range<usize> {
    let body = cut(text, range.clone());
    let keep = body.iter().rposition(|b| !matches!(b, b'.' | b',' | b':' | b'*' | b'\\'));
    range.start..range.start + keep.map_or(0, |last| last + 1)
}

/// A body that stands for a token without being one: one character again and again, or
/// words that say so.
pub(super) fn is_mask(body: &[u8]) -> bool {
    let filler = body.iter().filter(|b| matches!(b, b'x' | b'X' | b'*' | b'.')).count();
    let first = body.first().copied().unwrap_or(b'x');
    let words = [
        "your",
        "placeholder",
        "redacted",
        "xxxxxx",
        "-here",
        "_here",
        "insert",
        "replace",
        "changeme",
        "dummy",
    ];
    // Chance writes short words into what was drawn.
    filler * 5 >= body.len() * 3
        || body.iter().all(|&b| b == first)
        || words.iter().any(|word| holds(body, word)) && !is_random(body)
}

/// Signs of a template, a mask, an address or a rule.
const SIGNS: &[&str] = &[
    "${",
    "{{",
    "}}",
    "<%",
    "%>",
    "$(",
    "#{",
    "%(",
    "...",
    "\u{2026}",
    "***",
    "\u{2022}\u{2022}",
    "://",
    "removed]",
    "\\x",
    "abcdefghijklmnopqrstuvwxyz",
    "\\d",
    "\\w",
    "[a-z",
    "[0-9",
    "(?",
];

/// Words that stand for a value. A long random value that has one of them inside by
/// chance is still a value.
const STAND_INS: &[&str] = &[
    "xxxx",
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "changeit",
    "redacted",
    "your",
    "dummy",
    "replaceme",
    "replace-me",
    "replace_me",
    "sample",
    "notreal",
    "not-a-",
    "not_a_",
    "fixme",
    "masked",
    "required",
    "process.env",
];

/// Where a value is said to be kept, or what it is made from.
const REFERENCES: &[&str] = &[
    "./",
    "../",
    "~/",
    "file:",
    "env:",
    "fifo:",
    "pass:",
    "env.",
    "env/",
    "vault:",
    "vault/",
    "op:",
    "arn:",
    "ref+",
    "sm:",
    "secret/",
    "secrets/",
    "secrets.",
    "secret:",
    "projects/",
    "keychain:",
    "kms:",
    "ssm:",
    "gcp:",
    "aws:",
    "sops:",
    "self.",
    "this.",
    "sha256:",
    "sha256-",
    "sha512-",
    "sha384-",
    "sha1:",
    "md5:",
    "sha512:",
];

/// The name says what kind of value to expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grade {
    /// Chosen by a person: short, often with words in it.
    Password,
    /// Chosen or drawn.
    Secret,
    /// Drawn by a machine.
    Token,
    /// A signature in an address, which opens it.
    Signature,
    /// Twelve words or more.
    Phrase,
}

/// How name and value are tied together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// `name=value` without spaces, `--name value`, or a value between quotes.
    Tight,
    /// `name: value` or `name = value`.
    Loose,
    /// A sentence, a list of arguments.
    Prose,
}

/// Is this text the literal value of something of `grade`?
pub(super) fn is_secret(body: &[u8], quoted: bool, grade: Grade, tie: Tie) -> bool {
    if grade == Grade::Phrase {
        let words = body.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        return words.clone().all(|w| w.len() >= 3 && w.iter().all(u8::is_ascii_lowercase))
            && words.count() >= 12;
    }
    let least = if grade == Grade::Password { 6 } else { 8 };
    if body.len() < least {
        return false;
    }
    let counts = count(body);
    let spaces = body.iter().filter(|b| b.is_ascii_whitespace()).count();
    if spaces > 0 {
        // A sentence between quotes; a pass phrase has its digits and signs in words.
        let words = body.split(u8::is_ascii_whitespace);
        let key =
            |word: &[u8]| word.len() >= 8 && is_random(word) || word.len() >= 6 && dense(word);
        return spaces <= 8 && words.into_iter().any(key) && !is_reference(body, quoted);
    }
    let random = is_random(body);
    // What it looks like is cheaper to say than what it refers to.
    let mixed_case = counts.upper >= 2 && counts.letters - counts.upper >= 2;
    let random = random || body.len() >= 10 && dense(body);
    // `alljoyn_credentials`: small letters in pieces are somebody's name for a thing.
    let name = counts.digits + counts.upper + counts.symbols == 0
        && body.iter().any(|b| matches!(b, b'_' | b'-' | b'.'));
    let drawn = plain_mix(body) || counts.letters >= 3 && !name && !is_readable(body);
    let random = random || body.len() >= 12 && drawn && (counts.digits > 0 || mixed_case);
    let stated = random && body.len() >= 10 && (counts.digits > 0 || mixed_case);
    let looks = match (grade, tie) {
        (Grade::Signature, _) => {
            body.len() >= 24 && counts.digits >= 2 && (counts.numbers >= 3 || counts.symbols > 0)
        }
        (Grade::Token | Grade::Secret, Tie::Prose) => stated,
        (Grade::Token, Tie::Loose) => random || drawn && (body.len() >= 10 || counts.digits >= 2),
        (Grade::Secret, Tie::Loose) => random || drawn || chosen(body, tie),
        (Grade::Token, Tie::Tight) => random || drawn || dense(body),
        (Grade::Secret, Tie::Tight) => random || drawn || chosen(body, tie),
        (Grade::Password, Tie::Prose) => {
            stated || chosen(body, tie) || (random || drawn) && body.len() >= 8 && counts.digits > 0
        }
        (_, Tie::Loose) => random || chosen(body, tie) || body.len() >= 8 && drawn,
        _ => random || chosen(body, tie) || drawn || number(body),
    };
    looks && !is_reference(body, quoted)
}

/// Letters and at least three digits in one piece: `abcd1234`.
fn plain_mix(body: &[u8]) -> bool {
    let counts = count(body);
    let letters = if body.len() >= 10 { 1 } else { 3 };
    // 20240501T120000Z
    let time = body.iter().all(|b| b.is_ascii_digit() || matches!(b, b'T' | b'Z'));
    body.iter().all(u8::is_ascii_alphanumeric)
        && counts.digits >= 3
        && counts.letters >= letters
        && !time
        && !is_term(body)
}

/// Letters, digits and signs that neither code nor prose put side by side.
fn dense(body: &[u8]) -> bool {
    let counts = count(body);
    let strong = body.iter().filter(|b| b"!@#$%^&*?~+".contains(b)).count();
    body.iter().all(u8::is_ascii_graphic)
        && counts.digits >= 1
        && counts.letters >= 3
        && strong >= 1
        && (counts.upper > 0 || counts.digits >= 2)
        && !body.iter().any(|b| matches!(b, b'(' | b')' | b'[' | b'{' | b'<' | b'|'))
        && entropy(body) >= 2.5
}

/// Eight digits or more as a password; a date has separators or is a day of this age.
fn number(body: &[u8]) -> bool {
    body.len() >= 6 && body.iter().all(u8::is_ascii_digit) && !begins(body, 0, "20")
}

/// A password as people choose them: letters with digits or signs in one piece, or a
/// pass phrase of several words.
fn chosen(body: &[u8], tie: Tie) -> bool {
    let counts = count(body);
    let strong = body.iter().filter(|b| b"!@#$%^&*?~+".contains(b)).count();
    let mut pieces = body.split(|b| !b.is_ascii_alphanumeric());
    let mixed = pieces.clone().any(|piece| !is_term(piece));
    let known = ["password", "passwd", "secret", "token", "_key", "-key"];
    let names_itself = known.iter().any(|word| holds(body, word));
    if mixed && counts.digits > 0 {
        // `password2` is the next variable, `password123` is somebody's password.
        return !names_itself || counts.digits >= 3 || strong > 0;
    }
    // `bxbaOva_05`: a capital inside a word that is none of camel case.
    let hump = |piece: &[u8]| {
        let inner = piece
            .windows(2)
            .any(|pair| byte(pair, 0).is_ascii_alphabetic() && byte(pair, 1).is_ascii_uppercase());
        inner && !piece.iter().all(u8::is_ascii_uppercase)
    };
    if counts.digits >= 2 && counts.letters >= 4 && body.len() >= 8 && !names_itself {
        let humps = pieces.clone().any(hump);
        if humps && (tie != Tie::Prose || counts.switches > 0 || !is_readable(body)) {
            return true;
        }
    }
    if counts.letters >= 3 && strong > 0 && tie != Tie::Prose {
        // `Summer!Time`, but neither `a + b` nor `a|b`.
        return body.iter().all(|b| b.is_ascii_graphic())
            && !names_itself
            && counts.symbols <= 4
            && (counts.digits > 0 || counts.upper > 0 || tie == Tie::Tight)
            && !body.ends_with(b"?")
            && !body.ends_with(b"!");
    }
    let words = pieces.clone().filter(|p| p.len() >= 4).count();
    let phrase = words >= 4 && pieces.all(|p| p.iter().all(u8::is_ascii_lowercase) && p.len() >= 3);
    tie == Tie::Tight && phrase && !names_itself
}

/// A placeholder, a variable, a call, a path, a type, a number or a rule.
fn is_reference(body: &[u8], quoted: bool) -> bool {
    let rest = cut(body, 1..body.len());
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_{}.:-()[]'\"/\\>".contains(b);
    let random = is_random(rest);
    let format = matches!(byte(body, 1), b's' | b'd' | b'v' | b'w' | b'{' | b'(');
    let sign = match byte(body, 0) {
        b'<' | b'{' | b'[' | b'(' => true,
        b'$' => {
            let hash = byte(body, 1).is_ascii_digit()
                && byte(body, 2 + usize::from(byte(body, 2) != b'$')) == b'$';
            hash || starts_with_word(rest, "argon") || !random && rest.iter().all(plain)
        }
        b'%' => rest.ends_with(b"%") || format && !random,
        b'@' | b'!' | b':' => !quoted && !random && count(rest).digits == 0,
        b'&' => !quoted && !random && count(rest).digits == 0 || rest.contains(&b'='),
        b'*' => byte(body, 1) == b'*' || rest.iter().all(|b| b.is_ascii_lowercase() || *b == b'_'),
        b'=' | b'?' | b'|' => !quoted,
        b'-' => rest.iter().all(|&b| matches!(b, b'-' | b' ')),
        _ => false,
    };
    if sign
        || is_mask(body)
        || SIGNS.iter().any(|word| holds(body, word))
        || (body.len() < 24 || !is_random(body)) && STAND_INS.iter().any(|word| holds(body, word))
        || REFERENCES.iter().any(|start| starts_with_word(body, start))
        || body.iter().all(|b| b.is_ascii_digit() || b".,:/-+TZ%_ ".contains(b)) && !number(body)
    {
        return true;
    }
    let parts = || body.split(|b| matches!(b, b'.' | b'_' | b'-' | b':' | b'/'));
    let name = body.iter().all(|b| b.is_ascii_alphanumeric() || b"._-:/".contains(b));
    // `MY_DB_PASSWORD2`: the name of an environment variable.
    let capitals = body.contains(&b'_')
        && body.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    // `user.password2`, `secrets/db/v2`, `std::env::var2`: reaches into something.
    let reaches = name
        && body.iter().any(|b| matches!(b, b'.' | b'/' | b':'))
        && (!quoted || body.contains(&b'/'))
        && parts().all(|p| p.first().is_none_or(u8::is_ascii_alphabetic) || is_term(p));
    // Base64 may begin with a slash; a path has words between its slashes.
    let absolute = byte(body, 0) == b'/' && (!random || is_readable(body));
    let address = body.len() <= 18
        && starts_with_word(body, "0x")
        && rest.iter().skip(1).all(u8::is_ascii_hexdigit);
    let constant = capitals && !random && count(body).numbers < 3;
    if constant || reaches && readable_share(body) >= 70 || absolute || address {
        return true;
    }
    // `read_token(path2)`, `env["X1"]`, `value?`
    let call = body.iter().position(|b| matches!(b, b'(' | b'['));
    let called = call.is_some_and(|at| {
        let callee = cut(body, 0..at);
        !callee.is_empty()
            && callee.iter().all(|b| b.is_ascii_alphanumeric() || b"_.:!".contains(b))
    });
    !quoted && called
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_where_its_quotes_or_its_line_do() {
        let body = |text: &str, at: usize| {
            let value = value_at(text.as_bytes(), at);
            text.get(value.body).unwrap().to_owned()
        };
        assert_eq!(body("a=\"b c\" d", 2), "b c");
        assert_eq!(body("a=b c", 2), "b");
        assert_eq!(body("a: **b**.", 2), "**b");
        assert_eq!(body("a: \\\"b\\\" c", 2), "b");
        assert_eq!(body("a='b\\'c' d", 2), "b\\'c");
        assert_eq!(body("a: |\n  b\n", 2), "b");
        assert_eq!(body("a=", 2), "");
        assert_eq!(body("a=\"b", 2), "b");
        assert_eq!(body("a='b\\", 2), "b\\");
    }
}
