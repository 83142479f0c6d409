//! The line that says that a file is ours: version, and the digest of what stands above it.

use crate::file::sha256_hex;

const WORD: &str = "loopx-managed:v1";
/// What the earlier tool marks its files with.
const EARLIER: &str = "loopx-managed-slash-command";

/// Whose a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Ours, and as it was written by that version.
    Intact(String),
    /// Ours, and edited since.
    Edited,
    /// The earlier tool's.
    Earlier,
    /// Somebody else's.
    Foreign,
}

/// How a comment stands in a file of that name.
fn comment(path: &str) -> (&'static str, &'static str) {
    match path.rsplit('.').next() {
        Some("js" | "mjs" | "ts") => ("// ", ""),
        _ => ("<!-- ", " -->"),
    }
}

/// The text with its mark as the last line.
pub fn mark(text: &str, path: &str, version: &str) -> Vec<u8> {
    let (open, close) = comment(path);
    let body = format!("{}\n", text.trim_end());
    let digest = sha256_hex(body.as_bytes());
    format!("{body}\n{open}{WORD} version={version} sha256={digest}{close}\n").into_bytes()
}

/// Whose the bytes are.
pub fn read(bytes: &[u8]) -> Found {
    let Ok(text) = std::str::from_utf8(bytes) else { return Found::Foreign };
    if !text.contains(WORD) {
        return if text.contains(EARLIER) { Found::Earlier } else { Found::Foreign };
    }
    intact(text).map_or(Found::Edited, |version| Found::Intact(version.to_owned()))
}

fn intact(text: &str) -> Option<&str> {
    let (above, line) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let (_, said) = line.split_once(WORD)?;
    let mut words = said.split_whitespace();
    let version = words.next()?.strip_prefix("version=")?;
    let digest = words.next()?.strip_prefix("sha256=")?;
    // The empty line above the mark belongs to it.
    (sha256_hex(above.as_bytes()) == digest).then_some(version)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_text_is_ours_until_it_is_edited() {
        for path in ["skills/x/SKILL.md", "a/b.ts", "b.js"] {
            let made = mark("---\nname: x\n---\n\nText.", path, "1.2.3");
            assert_eq!(read(&made), Found::Intact("1.2.3".into()), "{path}");
            let text = String::from_utf8(made).unwrap();
            for edited in [
                text.replace("Text", "Mine"),
                format!("{text}more\n"),
                format!("{text}\n"),
                text.replace('\n', "\r\n"),
                text.replace("sha256=", "sha256=0"),
                text.trim_end().to_owned(),
            ] {
                assert_eq!(read(edited.as_bytes()), Found::Edited, "{path}: {edited}");
            }
        }
        assert_eq!(read(b"# Mine\n"), Found::Foreign);
        assert_eq!(read(b""), Found::Foreign);
        assert_eq!(read(b"\xff loopx-managed:v1"), Found::Foreign);
        let earlier = b"<!-- loopx-managed-slash-command:v1 command=/loopx -->";
        assert_eq!(read(earlier), Found::Earlier);
    }
}
