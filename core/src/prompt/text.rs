//! Texts of people inside a body. They are data: one line, without characters that hide or
//! steer, escaped for where they stand, and cut at a character, never inside an escape.

use crate::boundary::redact_shown;
use crate::model::id::is_hidden;

/// How a text is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// For CommonMark: what would format is behind a backslash.
    Markdown,
    /// For the text of an XML element.
    Xml,
}

/// Characters of a raw text that are looked at: more never fits, and costs.
const LOOKED_AT: usize = 2_000;

/// What marks a cut.
const MARK: &str = "...";

/// The text as it may stand in a body, at most `limit` characters with its escapes.
pub fn prose(text: &str, escape: Escape, limit: usize) -> String {
    let start: String = text.chars().take(LOOKED_AT).collect();
    let safe = redact_shown(&start);
    let line = safe.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    let mut length = 0;
    let room = limit.saturating_sub(MARK.len());
    // Where a cut text would end, so that the mark still fits.
    let mut cut_at = 0;
    let mut unit = String::new();
    for c in line.chars().filter(|c| is_kept(*c)) {
        unit.clear();
        escaped(c, escape, &mut unit);
        let more = unit.chars().count();
        if length + more > limit {
            out.truncate(cut_at);
            out.push_str(MARK.get(..limit.min(MARK.len())).unwrap_or_default());
            return out;
        }
        out.push_str(&unit);
        length += more;
        if length <= room {
            cut_at = out.len();
        }
    }
    if text.chars().nth(LOOKED_AT).is_some() {
        out.truncate(cut_at);
        out.push_str(MARK.get(..limit.min(MARK.len())).unwrap_or_default());
    }
    out
}

/// Joiners and variation marks make emoji what they are; everything else that is not seen
/// goes, and with it what XML cannot hold.
fn is_kept(c: char) -> bool {
    let joins = matches!(c, '\u{200d}' | '\u{fe0f}');
    let no_character = (u32::from(c) & 0xfffe) == 0xfffe || matches!(c, '\u{fdd0}'..='\u{fdef}');
    joins || !(c.is_control() || is_hidden(c) || no_character)
}

fn escaped(c: char, escape: Escape, out: &mut String) {
    match (escape, c) {
        (Escape::Xml, '&') => out.push_str("&amp;"),
        (Escape::Xml, '<') => out.push_str("&lt;"),
        (Escape::Xml, '>') => out.push_str("&gt;"),
        (Escape::Xml, '"') => out.push_str("&quot;"),
        (Escape::Xml, '\'') => out.push_str("&apos;"),
        (Escape::Markdown, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '|') => {
            out.push('\\');
            out.push(c);
        }
        (_, c) => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_escaped_and_cut_between_escapes() {
        assert_eq!(prose(" a\r\n\tb\u{202e}c\0 ", Escape::Markdown, 40), "a bc");
        assert_eq!(prose("`rm` <b> & *x*", Escape::Markdown, 40), r"\`rm\` \<b\> \& \*x\*");
        assert_eq!(prose("a<b>&\"'", Escape::Xml, 40), "a&lt;b&gt;&amp;&quot;&apos;");
        assert_eq!(prose("<<<<", Escape::Xml, 12), "&lt;&lt;...");
        assert_eq!(prose("日本語のタイトル", Escape::Xml, 6), "日本語...");
        assert_eq!(prose("abcdef", Escape::Xml, 6), "abcdef");
        assert_eq!(prose("abcdef", Escape::Xml, 2), "..");
        assert_eq!(prose(&"x".repeat(100_000), Escape::Xml, 5_000).len(), 2_003);
    }
}
