//! A body as named parts. Those that must stay are bounded by what may be put into them;
//! the others go, the last first, until the rest fits.

use serde::Serialize;

/// Whether a part may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// It goes; among those that do, the highest number first.
    Until(u8),
    /// It stays.
    Always,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Whether it may go.
    pub keep: Keep,
    /// Its lines, without an end of line.
    pub text: String,
}

/// A body within its budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Body {
    /// The text, without an end of line.
    pub text: String,
    /// Its characters (Unicode scalar values).
    pub chars: usize,
    /// What they may be.
    pub limit: usize,
    /// Parts that are in it, in order.
    pub parts: Vec<&'static str>,
    /// Parts that had to go, in the order in which they went.
    pub dropped: Vec<&'static str>,
}

/// Puts parts together, one empty line between two; `None` when those that must stay are
/// too long already.
pub(super) fn assemble(mut parts: Vec<Part>, limit: usize) -> Option<Body> {
    parts.retain(|part| !part.text.is_empty());
    let mut dropped = Vec::new();
    loop {
        let gaps = parts.len().saturating_sub(1) * 2;
        let chars = parts.iter().map(|p| p.text.chars().count()).sum::<usize>() + gaps;
        if chars <= limit {
            let text = parts.iter().map(|p| p.text.as_str()).collect::<Vec<_>>().join("\n\n");
            let parts = parts.iter().map(|p| p.name).collect();
            return Some(Body { text, chars, limit, parts, dropped });
        }
        let last = |part: &Part| match part.keep {
            Keep::Until(n) => Some(n),
            Keep::Always => None,
        };
        let (at, _) = parts
            .iter()
            .enumerate()
            .filter_map(|(at, part)| last(part).map(|n| (at, n)))
            .max_by_key(|(_, n)| *n)?;
        dropped.push(parts.remove(at).name);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_last_goes_first_and_what_must_stay_stays() {
        let part = |name, keep, text: &str| Part { name, keep, text: text.into() };
        let parts = vec![
            part("rule", Keep::Always, "rule"),
            part("title", Keep::Until(2), "title"),
            part("more", Keep::Until(9), "more"),
        ];
        let whole = assemble(parts.clone(), 17).unwrap();
        assert_eq!((whole.text.as_str(), whole.chars), ("rule\n\ntitle\n\nmore", 17));
        assert_eq!(assemble(parts.clone(), 16).unwrap().dropped, ["more"]);
        assert_eq!(assemble(parts.clone(), 4).unwrap().dropped, ["more", "title"]);
        assert_eq!(assemble(parts, 3), None);
    }
}
