//! The corpus of the boundary (contract X11): secrets of every shape, plain and wrapped,
//! against sentences that developers write. Prints what was missed and what was refused
//! for nothing.

// Helpers outside of test functions may stop at the first surprise, too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common {
    //! Fills templates and wraps what comes out.

    /// A small generator: the corpus is the same in every run and on every machine.
    pub struct Dice(pub u64);

    impl Dice {
        fn below(&mut self, n: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 16) as usize % n
        }

        fn draw(&mut self, set: &str, len: usize) -> String {
            let set: Vec<char> = set.chars().collect();
            (0..len).map(|_| set[self.below(set.len())]).collect()
        }

        fn hole(&mut self, name: &str, len: usize) -> String {
            const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
            let upper = LOWER.to_uppercase();
            let alnum = format!("{LOWER}{upper}0123456789");
            match name {
                "alnum" => self.draw(&alnum, len),
                "hex" => self.draw("0123456789abcdef", len),
                "upper" => self.draw(&format!("{upper}0123456789"), len),
                "b32" => self.draw(&format!("{upper}234567"), len),
                "b64" => self.draw(&format!("{alnum}+/"), len),
                "url" => self.draw(&format!("{alnum}-_"), len),
                "lowdig" => self.draw(&format!("{LOWER}0123456789"), len),
                "digit" => {
                    let head = self.draw("123456789", 1);
                    head + &self.draw("0123456789", len - 1)
                }
                // A person's password has a digit in it, and begins with a letter.
                "pass" => {
                    let body = self.draw(&format!("{alnum}!^*_-+"), len - 4);
                    self.draw(LOWER, 2) + &body + &self.draw("0123456789", 2)
                }
                "dash" => "-".repeat(len),
                "uuid" => [8, 4, 4, 4, 12].map(|n| self.draw("0123456789abcdef", n)).join("-"),
                "name" => {
                    let names = ["alice", "bob.k", "carol-w", "dmitri", "jsmith", "mei", "o_neil"];
                    names[self.below(names.len())].to_owned()
                }
                _ => panic!("no hole of that name: {name}"),
            }
        }

        pub fn fill(&mut self, template: &str) -> String {
            let mut out = String::new();
            let mut rest = template;
            while let Some(open) = rest.find('{') {
                out.push_str(&rest[..open]);
                let inner = &rest[open + 1..];
                let close = inner.find(['}', '{']).unwrap();
                let (name, len) = inner[..close].split_once(':').unwrap_or((&inner[..close], "0"));
                match len.parse() {
                    Ok(len) if name.chars().all(char::is_alphanumeric) => {
                        out.push_str(&self.hole(name, len));
                        rest = &inner[close + 1..];
                    }
                    // A brace of the text itself.
                    _ => {
                        out.push('{');
                        rest = inner;
                    }
                }
            }
            (out + rest).replace("\\n", "\n")
        }
    }

    pub fn base64(bytes: &[u8], alphabet: &[u8; 64], pad: bool) -> String {
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let of = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
            let bits = of(0) << 16 | of(1) << 8 | of(2);
            for i in 0..4 {
                if i <= chunk.len() {
                    out.push(char::from(alphabet[(bits >> (18 - 6 * i) & 63) as usize]));
                } else if pad {
                    out.push('=');
                }
            }
        }
        out
    }

    pub const STANDARD: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    pub const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    pub fn percent(text: &str, all: bool) -> String {
        let keep = |b: u8| !all && b.is_ascii_alphanumeric();
        text.bytes()
            .map(|b| if keep(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
            .collect()
    }

    fn full_width(text: &str) -> String {
        text.chars()
            .map(|c| match c {
                '!'..='~' => char::from_u32(c as u32 + 0xfee0).unwrap(),
                _ => c,
            })
            .collect()
    }

    fn split(text: &str, mark: char) -> String {
        // One mark after every third letter: nothing stays in one piece.
        text.chars()
            .enumerate()
            .flat_map(|(i, c)| [Some(c), (i % 3 == 2).then_some(mark)])
            .flatten()
            .collect()
    }

    pub type Wrap = (&'static str, fn(&str) -> String);

    /// Ways in which a secret reaches a text.
    pub const WRAPS: &[Wrap] = &[
        ("plain", |s| s.to_owned()),
        ("prose", |s| format!("Please look at {s} before the release.")),
        ("quoted", |s| format!("it printed “{s}”, which we should not keep")),
        ("json", |s| serde_json::json!({ "level": "error", "note": s }).to_string()),
        ("shell", |s| format!("export X_VALUE='{s}' && make deploy")),
        ("yaml", |s| format!("job:\n  note: {s}\n  retries: 3\n")),
        ("log", |s| format!("2024-05-01T10:00:00Z ERROR worker-3 upstream said: {s}")),
        ("header", |s| format!("X-Debug-Note: {s}")),
        ("markdown", |s| format!("- [ ] rotate `{s}` (see issue 12)")),
        ("percent", |s| format!("see {}", percent(s, false))),
        ("percent all", |s| format!("q={}&page=2", percent(s, true))),
        ("percent twice", |s| percent(&percent(s, false), false)),
        ("address", |s| format!("https://example.org/search?q={}", percent(s, false))),
        ("base64", |s| base64(s.as_bytes(), STANDARD, true)),
        ("base64 prose", |s| {
            let inner = format!("the build used {s} and then stopped");
            format!("payload: {}", base64(inner.as_bytes(), STANDARD, true))
        }),
        ("base64 for addresses", |s| format!("/cb/{}", base64(s.as_bytes(), URL, false))),
        ("base64 twice", |s| {
            base64(base64(s.as_bytes(), STANDARD, true).as_bytes(), STANDARD, true)
        }),
        ("base64 of wide characters", |s| {
            let wide: Vec<u8> = s.encode_utf16().flat_map(u16::to_le_bytes).collect();
            format!("powershell -enc {}", base64(&wide, STANDARD, true))
        }),
        ("hexadecimal", |s| s.bytes().map(|b| format!("{b:02x}")).collect()),
        ("escapes", |s| s.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()),
        ("full width", full_width),
        ("zero width", |s| split(s, '\u{200b}')),
        ("soft hyphens", |s| format!("note {}", split(s, '\u{ad}'))),
        ("joiners in base64", |s| split(&base64(s.as_bytes(), STANDARD, true), '\u{2060}')),
        ("terminal colours", |s| {
            format!("\u{1b}[31m{}\u{1b}[0m", s.replacen('a', "a\u{1b}[1m", 1))
        }),
    ];
}

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use common::{Dice, STANDARD, WRAPS, base64};
use loopx_core::ErrorCode;
use loopx_core::boundary::{PATTERNS, redact, require_safe, scan, scan_all};
use proptest::prelude::*;

const SECRETS: &str = include_str!("boundary/secrets.txt");
const HARMLESS: &str = include_str!("boundary/harmless.txt");

fn shapes() -> Vec<(&'static str, &'static str)> {
    SECRETS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').expect("kind, tab, template"))
        .collect()
}

#[test]
fn no_secret_is_missed_and_few_sentences_are_refused() {
    let shapes = shapes();
    assert!(shapes.len() >= 60, "{} shapes", shapes.len());
    let mut dice = Dice(0x1005_e5ca_1ab1_e5ed);
    let mut seen = BTreeSet::new();
    let mut missed = Vec::new();
    let mut wrong = Vec::new();
    for (kind, template) in &shapes {
        for (wrap, wrapped) in WRAPS {
            let secret = dice.fill(template);
            let text = wrapped(&secret);
            if !seen.insert(text.clone()) {
                continue;
            }
            match scan(&text) {
                None => missed.push(format!("{kind} {template} as {wrap}: {text}")),
                Some(hit) if *wrap == "plain" && hit.kind.code() != *kind => {
                    wrong.push(format!("{template} is {:?}", hit.kind));
                }
                Some(_) => {}
            }
            let shown = redact(&text);
            assert!(scan(&shown).is_none(), "{template} as {wrap} is found again in {shown}");
        }
    }
    let sentences: Vec<&str> = HARMLESS.lines().collect();
    let distinct: BTreeSet<&str> = sentences.iter().copied().collect();
    assert_eq!(distinct.len(), 1000, "distinct sentences");
    let named = |line: &&str| {
        let line = line.to_lowercase();
        ["token", "password", "secret", "key"].iter().any(|word| line.contains(word))
    };
    assert!(sentences.iter().copied().filter(|line| named(line)).count() >= 200);
    let alarms: Vec<String> =
        sentences.iter().filter_map(|line| Some(format!("{}: {line}", scan(line)?.kind))).collect();
    println!(
        "boundary: {} secrets, {} missed; {} sentences, {} false alarms",
        seen.len(),
        missed.len(),
        sentences.len(),
        alarms.len()
    );
    for line in missed.iter().chain(&wrong).chain(&alarms) {
        println!("  {line}");
    }
    assert!(seen.len() >= 300);
    assert!(missed.is_empty() && wrong.is_empty());
    assert!(alarms.len() <= 10);
}

#[test]
fn nothing_of_a_secret_stays_behind() {
    let mut dice = Dice(0x5eed_0f0d_dba1_1001);
    for (kind, template) in shapes() {
        let secret = dice.fill(template);
        let shown = redact(&secret).into_owned();
        // The names around a secret may stay; no longer stretch of its holes may.
        let parts = template.split(['{', '}', '\\']).filter(|part| part.len() >= 3);
        let known: Vec<&str> = parts.collect();
        for at in 0..secret.len().saturating_sub(8) {
            let Some(piece) = secret.get(at..at + 8) else { continue };
            let fresh = piece.chars().all(|c| c.is_ascii_alphanumeric())
                && !known.iter().any(|part| part.contains(piece))
                && piece.chars().any(|c| c.is_ascii_digit());
            assert!(!(fresh && shown.contains(piece)), "{kind} {template}: {shown}");
        }
    }
}

#[test]
fn a_refusal_names_field_and_kind_and_never_the_value() {
    let mut dice = Dice(77);
    for (_, template) in shapes() {
        let secret = dice.fill(template);
        let error = require_safe("evidence", &secret).expect_err(template);
        assert_eq!(error.code, ErrorCode::TextRefused);
        assert_eq!(error.about, "evidence");
        let said = format!("{error} {} {:?}", error.to_json(), error.detail);
        assert!(
            said.contains("evidence") && said.contains(&scan(&secret).unwrap().kind.to_string())
        );
        for at in 0..secret.len().saturating_sub(6) {
            let piece = secret.get(at..at + 6).unwrap_or("\0");
            let telling = piece.chars().any(|c| c.is_ascii_digit());
            assert!(!telling || !said.contains(piece), "{template}: {said}");
        }
    }
    require_safe("evidence", "tests pass: 214/214, see docs/testing.md").unwrap();
}

#[test]
fn every_row_says_what_it_finds() {
    for pattern in PATTERNS {
        assert!(pattern.finds.ends_with('.') && pattern.finds.len() > 12, "{}", pattern.finds);
    }
}

/// Texts that make a careless scanner slow.
#[test]
fn hostile_texts_take_time_in_proportion() {
    let fill = |piece: &str, size: usize| piece.repeat(size / piece.len());
    let nested = |size: usize| {
        let mut text = String::from("nothing to see, only nested very often ");
        while text.len() < size {
            text = base64(text.as_bytes(), STANDARD, true);
        }
        text
    };
    let pieces = [
        "a",
        "%25",
        "%",
        "\\",
        "sk-",
        "ghp_",
        "token=",
        "token=a,",
        "password='",
        "password=\"x\\",
        "cookie: ",
        "://",
        "a:b://",
        "/home/",
        "eyJ-",
        "eyJ.",
        "M-",
        "\"d\":",
        "bearer ",
        "name: value: ",
        "for a1b2c3: ",
        "~a/",
        "\\\\a\\",
        "0123456789abcdef-",
        "\u{ff41}",
        "a\u{200b}",
        "\u{202e}",
        "-----BEGIN ",
        "12345678:",
        "@tcp(",
        "password(",
        "-----BEGIN PRIVATE KEY-----",
    ];
    let mut slowest = (Duration::ZERO, "");
    for piece in pieces {
        let text = fill(piece, if ["a", "%25"].contains(&piece) { 1 << 20 } else { 1 << 17 });
        let start = Instant::now();
        let _ = scan_all(&text);
        slowest = slowest.max((start.elapsed(), piece));
    }
    let text = nested(1 << 20);
    let start = Instant::now();
    assert!(scan(&text).is_none());
    slowest = slowest.max((start.elapsed(), "nested base64"));
    println!("boundary: slowest hostile text {:?} of {:?}", slowest.0, slowest.1);
    // A quadratic step over these takes minutes; an unoptimised build seconds.
    assert!(slowest.0 < Duration::from_secs(40), "{slowest:?}");
}

fn pieces() -> impl Strategy<Value = String> {
    let bait = prop::sample::select(vec![
        "password=",
        "token: ",
        "Bearer ",
        "ghp_",
        "AKIA",
        "sk-",
        "eyJ",
        "://u:",
        "@",
        "/home/",
        "\\\\",
        "C:\\Users\\",
        "~",
        "%",
        "%25",
        "\\u00",
        "&#x",
        "-----BEGIN PRIVATE KEY-----",
        "Cookie: ",
        "\u{200b}",
        "\u{202e}",
        "\u{ff1d}",
        "\"",
        "'",
        "[",
        "]",
        " removed]",
        "\n",
        "SG.",
        ".atlasv1.",
        "8Q~",
        "--token ",
        "<secret>",
        "</",
        "{",
        "}",
        "\u{1b}[31m",
        "🏴\u{e0067}",
    ]);
    prop_oneof![
        bait.prop_map(str::to_owned),
        "[a-zA-Z0-9+/=_.-]{0,40}",
        "\\PC{0,12}",
        "[a-z ]{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn redacted_text_has_no_hits(parts in prop::collection::vec(pieces(), 0..14)) {
        let text = parts.concat();
        for hit in scan_all(&text) {
            prop_assert!(text.get(hit.at.clone()).is_some_and(|s| !s.is_empty()), "{:?}", hit);
        }
        let shown = redact(&text).into_owned();
        prop_assert_eq!(scan(&shown), None);
        prop_assert_eq!(redact(&shown).into_owned(), shown.clone());
        prop_assert_eq!(scan(&text).is_some(), !scan_all(&text).is_empty());
        if scan(&text).is_none() { prop_assert_eq!(shown, text); }
    }

    #[test]
    fn any_text_at_all_is_scanned(text in any::<String>()) {
        let _ = (scan(&text), scan_all(&text), redact(&text));
    }
}
