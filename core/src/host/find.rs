//! From what somebody typed to a host: aliases, ambiguous words, and the closest name.

use super::row::{Host, HostRow};
use super::table::HOSTS;
use crate::error::{Error, ErrorCode, Result};

/// Words that could mean several hosts, with those that they could mean.
const AMBIGUOUS: &[(&str, &[Host])] = &[
    ("codex", &[Host::CodexApp, Host::CodexAppSsh, Host::CodexIde, Host::CodexCli]),
    ("openai-codex", &[Host::CodexApp, Host::CodexAppSsh, Host::CodexIde, Host::CodexCli]),
    ("trae", &[Host::TraeApp, Host::TraexCli]),
    ("cli", &[Host::CodexCli, Host::Shell, Host::OtherAgent]),
];

/// A name as it is compared: trimmed, lower case, `-` for `_` and for white space.
pub(super) fn fold(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c == '_' || c == '-' || c.is_whitespace())
        .filter(|w| !w.is_empty())
        .collect();
    words.join("-").to_lowercase()
}

/// The host of a name: `--host` names, aliases, connector ids and activation surfaces.
///
/// # Errors
///
/// [`ErrorCode::HostUnknown`], naming the hosts that an ambiguous word could mean, else
/// the closest name.
pub fn find(text: &str) -> Result<Host> {
    let wanted = fold(text);
    let is = |name: &str| fold(name) == wanted;
    let by_name = HOSTS.iter().find(|row| is(row.name()) || row.aliases.iter().any(|a| is(a)));
    let found = by_name.or_else(|| {
        let own = |row: &&&HostRow| {
            is(row.activation.surface)
                || matches!(&row.connector, super::ConnectorOf::Own(c) if is(c.id))
        };
        HOSTS.iter().find(own)
    });
    if let Some(row) = found {
        return Ok(row.host);
    }
    let shown: String = text.chars().take(40).flat_map(char::escape_default).collect();
    if let Some((_, hosts)) = AMBIGUOUS.iter().find(|(word, _)| *word == wanted) {
        let names: Vec<&str> = hosts.iter().map(|h| h.name()).collect();
        return Err(Error::new(ErrorCode::HostUnknown, "host")
            .message(format!("host \"{shown}\" could be any of {}", names.join(", ")))
            .next(format!("say --host {}", names.join(" or --host "))));
    }
    let mut names: Vec<&str> = Vec::new();
    for row in HOSTS {
        names.push(row.name());
        names.extend(row.aliases);
    }
    let error = Error::new(ErrorCode::HostUnknown, "host");
    Err(match closest(&wanted, names.iter().copied()).and_then(|name| find(name).ok()) {
        Some(near) => error
            .message(format!("there is no host \"{shown}\"; the closest is {}", near.name()))
            .next(format!("say --host {}", near.name())),
        None => error.message(format!("there is no host \"{shown}\"")),
    })
}

/// The candidate that is the fewest edits away, if that is close enough to be a slip: at
/// most a third of the letters.
pub fn closest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Long texts are no slips, and comparing them costs.
    let text: Vec<char> = fold(text).chars().take(64).collect();
    candidates
        .map(|candidate| (distance(&text, &fold(candidate).chars().collect::<Vec<_>>()), candidate))
        .filter(|(edits, candidate)| {
            *edits <= text.len().max(candidate.chars().count()).div_ceil(3)
        })
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, drop or replace.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let cost = |at: usize, from: &[usize]| from.get(at).copied().unwrap_or(usize::MAX - 1);
            let replaced = cost(j, &row) + usize::from(x != y);
            let dropped = cost(j + 1, &row) + 1;
            let added = cost(j, &next) + 1;
            next.push(replaced.min(dropped).min(added));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_aliases_connectors_and_surfaces_are_found_however_written() {
        for row in HOSTS {
            for name in std::iter::once(&row.name()).chain(row.aliases) {
                assert_eq!(find(name).unwrap(), row.host, "{name}");
                assert_eq!(find(&format!(" {} ", name.to_uppercase())).unwrap(), row.host);
                assert_eq!(find(&name.replace('-', "_")).unwrap(), row.host);
                assert_eq!(find(&name.replace('-', " ")).unwrap(), row.host);
            }
            assert_eq!(find(row.activation.surface).unwrap(), row.host);
        }
        assert_eq!(find("codex_cli_tui").unwrap(), Host::CodexCli);
        assert_eq!(find("loopx_turn").unwrap(), Host::Turn);
    }

    #[test]
    fn a_slip_is_answered_with_the_closest_and_a_vague_word_with_the_choices() {
        let said = |text: &str| find(text).unwrap_err();
        assert_eq!(said("codex-cil").next_command(), "say --host codex-cli");
        assert!(
            said("codex").text().contains("codex-app, codex-app-ssh, codex-ide-plugin, codex-cli")
        );
        assert!(said("trae").text().contains("trae-app"));
        for nothing in ["", "xyzzy-frobnicate", &"x".repeat(100_000)] {
            let error = said(nothing);
            assert_eq!(error.code, ErrorCode::HostUnknown);
            assert!(error.text().len() < 200);
        }
    }
}
