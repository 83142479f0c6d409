//! Identifiers, canonical at the edge (contract X7): trimmed, NFC, case folded
//! where the kind folds, one path segment, no control or format characters.
//!
//! `parse` canonicalises what a person or an agent typed. Whether the canonical
//! form differs from the input can be asked with `!=`; doors say so when it does.

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, ErrorCode};

/// Characters that change how text is read without being seen: bidi controls,
/// zero-width marks, joiners, tags and the byte order mark.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn invalid(kind: &'static str, given: &str, why: &str) -> Error {
    // The given text is shown escaped and cut: an identifier may carry anything.
    let shown: String = given.chars().take(40).flat_map(char::escape_default).collect();
    Error::new(ErrorCode::IdInvalid, kind).message(format!("{kind} \"{shown}\" {why}"))
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name(String);

        impl $name {
            /// Takes text that is already canonical: read back from the store or the
            /// registry, or minted by the kernel.
            pub fn trusted(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The canonical text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

id_type! {
    /// A goal's name inside its registry: one path segment of at most 128 characters.
    GoalId
}
id_type! {
    /// A goal's identity for ever. A goal that is created again under the same
    /// [`GoalId`] has another uid and inherits nothing (contract X6).
    GoalUid
}
id_type! {
    /// An agent: `[a-z][a-z0-9_.:@-]{0,79}` after trimming, folding case and turning
    /// runs of white space into `-`.
    AgentId
}
id_type! {
    /// A todo: `todo_[a-z0-9_-]{3,64}`, unique for ever within its goal.
    TodoId
}
id_type! {
    /// One wake of a host: `[A-Za-z0-9][A-Za-z0-9._:+-]{0,127}`, case kept; an RFC 3339
    /// instant is one.
    TurnId
}
id_type! {
    /// The identity of one mutating command; the store holds it unique per goal.
    EffectId
}

impl GoalId {
    /// Canonical goal id: NFC, trimmed, lower case, first character alphanumeric,
    /// then alphanumerics (of any script) and `.`, `_`, `:`, `-`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let canonical: String = text.trim().nfc().collect::<String>().to_lowercase();
        let bad = |why: &str| Err(invalid("goal id", text, why));
        if canonical.is_empty() {
            return bad("is empty");
        }
        if canonical.chars().count() > 128 || canonical.len() > 255 {
            return bad("is longer than 128 characters");
        }
        if canonical.chars().any(|c| c.is_control() || is_hidden(c)) {
            return bad("has a control or invisible character");
        }
        if !canonical.chars().next().is_some_and(char::is_alphanumeric) {
            return bad("must begin with a letter or a digit");
        }
        if let Some(c) =
            canonical.chars().find(|c| !(c.is_alphanumeric() || matches!(c, '.' | '_' | ':' | '-')))
        {
            return bad(&format!("may not contain {c:?}"));
        }
        if canonical.ends_with(['.', ':']) || canonical.contains("..") {
            return bad("may not end in a dot or colon or contain \"..\"");
        }
        let stem = canonical.split('.').next().unwrap_or_default();
        let device = matches!(stem, "con" | "prn" | "aux" | "nul")
            || (stem.len() == 4
                && (stem.starts_with("com") || stem.starts_with("lpt"))
                && stem.ends_with(|c: char| c.is_ascii_digit()));
        if device {
            return bad("is a reserved device name");
        }
        Ok(Self(canonical))
    }
}

impl AgentId {
    /// Canonical agent id; `Agent A` becomes `agent-a`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        // Stored ids come by here in thousands, canonical already.
        let is_rest = |b: &u8| {
            b.is_ascii_lowercase()
                || b.is_ascii_digit()
                || matches!(b, b'_' | b'.' | b':' | b'@' | b'-')
        };
        if let [b'a'..=b'z', rest @ ..] = text.as_bytes()
            && rest.len() < 80
            && rest.iter().all(is_rest)
        {
            return Ok(Self(text.to_owned()));
        }
        let folded: String = text.nfc().collect::<String>();
        let canonical = folded.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
        let mut chars = canonical.chars();
        let first = chars.next().is_some_and(|c| c.is_ascii_lowercase());
        let rest = chars.all(|c| {
            c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.' | ':' | '@' | '-')
        });
        if first && rest && canonical.len() <= 80 {
            Ok(Self(canonical))
        } else {
            Err(Error {
                code: ErrorCode::AgentIdInvalid,
                ..invalid(
                    "agent id",
                    text,
                    "must begin with a letter a to z, then letters, digits and _ . : @ -, at most 80 in all",
                )
            })
        }
    }
}

impl TodoId {
    /// Canonical todo id.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let canonical = text.trim().to_ascii_lowercase();
        let body = canonical.strip_prefix("todo_").unwrap_or_default();
        let ok = (3..=64).contains(&body.len())
            && body
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'));
        if ok {
            Ok(Self(canonical))
        } else {
            Err(invalid("todo id", text, "must look like todo_1a2b3c"))
        }
    }
}

fn token(kind: &'static str, text: &str, max: usize) -> Result<String, Error> {
    let trimmed = text.trim();
    let mut chars = trimmed.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphanumeric());
    let rest =
        chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-' | '+' | '/'));
    if first && rest && trimmed.len() <= max {
        Ok(trimmed.to_owned())
    } else {
        Err(invalid(
            kind,
            text,
            &format!(
                "must begin with a letter or digit, then letters, digits and . _ : - + /, at most {max} in all"
            ),
        ))
    }
}

impl TurnId {
    /// Checks a turn id (no slash).
    pub fn parse(text: &str) -> Result<Self, Error> {
        match token("turn id", text, 128) {
            Ok(turn) if !turn.contains('/') => Ok(Self(turn)),
            Ok(_) => Err(invalid("turn id", text, "may not contain '/'")),
            Err(error) => Err(error),
        }
    }
}

impl EffectId {
    /// Checks an effect id that a caller chose.
    pub fn parse(text: &str) -> Result<Self, Error> {
        // The kernel's own ids hold a NUL-free separator that a caller cannot type.
        token("effect id", text, 200).map(|id| Self(format!("caller|{id}")))
    }

    /// The id of `verb` inside a turn. Parts are percent-escaped, so that no two
    /// identities concatenate to one.
    pub fn of_turn(turn: &TurnId, verb: &str, body_digest: &str) -> Self {
        Self(format!("turn|{}|{}|{body_digest}", escape_part(turn.as_str()), escape_part(verb)))
    }

    /// An id that nothing else has: `seed` is fresh randomness.
    pub fn unique(seed: &str) -> Self {
        Self(format!("once|{}", escape_part(seed)))
    }

    /// An id derived from a kind and its parts, each escaped.
    pub fn derived(kind: &str, parts: &[&str]) -> Self {
        let mut text = escape_part(kind);
        for part in parts {
            text.push('|');
            text.push_str(&escape_part(part));
        }
        Self(text)
    }
}

fn escape_part(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn goal_ids_are_one_segment_and_folded() {
        assert_eq!(GoalId::parse(" Demo ").unwrap().as_str(), "demo");
        assert_eq!(
            GoalId::parse("e\u{301}t\u{e9}").unwrap(),
            GoalId::parse("\u{e9}te\u{301}").unwrap()
        );
        for bad in [
            "",
            "..",
            "a/../b",
            "..%2f",
            "C:\\x",
            "a\0b",
            "con",
            "nul.txt",
            "trail.",
            "\u{202e}abc",
            "a b",
        ] {
            assert!(GoalId::parse(bad).is_err(), "{bad:?}");
        }
        assert!(GoalId::parse(&"x".repeat(300)).is_err());
    }

    #[test]
    fn agent_ids_fold_case_and_space() {
        assert_eq!(AgentId::parse(" Agent A ").unwrap().as_str(), "agent-a");
        assert!(AgentId::parse("bad agent!").is_err());
        assert!(AgentId::parse("\u{430}gent").is_err(), "Cyrillic look-alike");
        assert!(AgentId::parse("").is_err());
    }

    #[test]
    fn no_two_identities_make_one_effect_id() {
        let a = EffectId::derived("x", &["a:b", "c"]);
        let b = EffectId::derived("x", &["a", "b:c"]);
        let c = EffectId::derived("x", &["a|b", "c"]);
        assert!(a != b && b != c && a != c);
    }
}
