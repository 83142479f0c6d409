//! Named regressions; the corpus is in `core/tests/boundary.rs`.

use super::*;

fn kind(text: &str) -> Option<&'static str> {
    scan(text).map(|hit| hit.kind.code())
}

#[test]
fn every_earlier_bypass_is_closed() {
    // Reference tool: each of these passed every one of its scanners.
    for text in [
        "passwd=hunter2hunter2",
        "pwd: hunter2hunter2",
        "postgres://app:s3cr3tpw@db.internal:5432/x",
        "https://user:hunter2pass@example.com/x",
        "Cookie: session=abcdef1234567890abcdef",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----MIIE",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----",
        "see \\\\fileserver\\share\\x.txt",
        "see %2Fhome%2Falice%2Fx.txt",
        "L2hvbWUvYWxpY2Uvc2VjcmV0L3gudHh0",
        "see \u{ff0f}home\u{ff0f}alice\u{ff0f}x",
        "see /ho\u{200b}me/alice/x",
        "see /HOME/alice/x",
        "path:/home/alice/x",
        "//home/alice/x",
        "see /mnt/c/Users/alice/x",
        "Bearer abc123",
        "Authorization: Basic dXNlcjpwYXNz",
    ] {
        assert!(scan(text).is_some(), "{text}");
    }
}

#[test]
fn words_addresses_and_public_keys_pass() {
    for text in [
        "keep the secret ingredient",
        "the bearer of news",
        "token: budget",
        "https://example.com/home/page",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC",
        "see /tmp/abc/x and ~/work/x.txt",
        "git@github.com:org/repo",
        "C:\\Users\\<name>\\x and /home/$USER/x",
        "[AWS token removed]",
    ] {
        assert_eq!(kind(text), None, "{text}");
    }
}

#[test]
fn the_whole_value_goes() {
    assert_eq!(redact("password='my w0rd!x9 K2f' ok"), "password='[named secret removed]' ok");
    assert_eq!(redact("pwd=hunter2&x,y;z end"), "pwd=[named secret removed] end");
    assert_eq!(
        redact("see \"/home/ann lee/x.txt\", then go on"),
        "see \"[home path removed]\", then go on"
    );
    assert_eq!(redact("(C:\\Users\\Ann Lee\\x.txt)."), "([home path removed]).");
    let gone = redact("-----BEGIN PRIVATE KEY-----\nMIIE\nAAAA\n-----END PRIVATE KEY-----\nok");
    assert_eq!(gone, "[private key removed]\nok");
}

#[test]
fn what_hides_text_is_refused_and_emoji_are_not() {
    assert_eq!(kind("safe\u{202e}txt"), Some("hidden_characters"));
    assert_eq!(kind("read\u{e0041}\u{e0042}"), Some("hidden_characters"));
    assert_eq!(kind("a\u{200b}\u{200c}\u{200b}\u{200c}b"), Some("hidden_characters"));
    assert_eq!(kind("\u{feff}caf\u{e9} 👩\u{200d}💻 \u{2764}\u{fe0f}"), None);
    assert_eq!(kind("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"), None);
    assert_eq!(
        redact("a\u{202e}b\u{202e}c"),
        "a[hidden characters removed]b[hidden characters removed]c"
    );
}

#[test]
fn a_hit_points_into_the_text_as_given() {
    let text = "note: \u{ff50}\u{ff57}\u{ff44}=\u{ff48}unter2x9 end";
    let hit = scan(text).expect("a hit");
    assert_eq!(&text[hit.at], "\u{ff48}unter2x9");
    let text = "é %70assword%3Dhunter2 é";
    let hit = scan(text).expect("a hit");
    assert_eq!(&text[hit.at], "hunter2");
}
