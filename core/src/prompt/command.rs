//! Command lines inside a body. A line is made of words and is never cut: a word is quoted
//! for the shell so that it stays one word, and so that neither Markdown nor XML changes it.

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Our own text, exactly as it stands; it may be a placeholder in capitals.
    Own(&'static str),
    /// Something given: quoted where a shell would read it otherwise.
    Given(String),
    /// A path below the home folder, written with `$HOME`.
    Home(String),
}

impl Word {
    fn push(&self, out: &mut String) {
        match self {
            Self::Own(text) => out.push_str(text),
            Self::Given(text) => out.push_str(&quoted(text)),
            Self::Home(rest) if rest.chars().all(is_plain) => {
                out.push_str("\"$HOME/");
                out.push_str(rest);
                out.push('"');
            }
            Self::Home(rest) => {
                out.push_str("\"$HOME\"");
                out.push_str(&quoted(&format!("/{rest}")));
            }
        }
    }
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '/' | ':' | '=' | '@' | '+' | ',' | '%' | '-')
}

/// A word for a POSIX shell. Letters of any script stand as they are; what Markdown or XML
/// would read is written as an escape of `$'...'`.
fn quoted(text: &str) -> String {
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let special = |c: char| {
        c.is_control()
            || crate::model::id::is_hidden(c)
            || matches!(c, '\'' | '\\' | '<' | '>' | '&' | '`')
    };
    if !text.chars().any(special) {
        return format!("'{text}'");
    }
    let mut out = String::from("$'");
    for c in text.chars() {
        if special(c) {
            let mut bytes = [0_u8; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("\\{byte:03o}"));
            }
        } else {
            out.push(c);
        }
    }
    out.push('\'');
    out
}

/// One command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine(Vec<Word>);

impl CommandLine {
    /// Begins with the program and the words that lead to the goal's registry.
    pub fn begin(route: &Route, words: &'static str) -> Self {
        let mut line = Self(vec![Word::Given(route.program.clone())]);
        line.0.extend(route.words.iter().cloned());
        line.own(words)
    }

    /// With words of our own.
    #[must_use]
    pub fn own(mut self, words: &'static str) -> Self {
        self.0.push(Word::Own(words));
        self
    }

    /// With a flag and what is given for it.
    #[must_use]
    pub fn flag(self, flag: &'static str, value: &str) -> Self {
        let mut line = self.own(flag);
        line.0.push(Word::Given(value.to_owned()));
        line
    }

    /// With more words.
    #[must_use]
    pub fn words(mut self, words: &[Word]) -> Self {
        self.0.extend(words.iter().cloned());
        self
    }

    /// The line, without an end of line.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for word in &self.0 {
            if !out.is_empty() {
                out.push(' ');
            }
            word.push(&mut out);
        }
        out
    }
}

/// How commands reach the goal from where the agent works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The program's name.
    pub program: String,
    /// `--registry` and `--runtime-root`, where the working folder does not say it.
    pub words: Vec<Word>,
}

impl Default for Route {
    fn default() -> Self {
        Self { program: "loopx".into(), words: Vec::new() }
    }
}

impl Route {
    /// Characters that it adds to a command, beside the name `loopx`.
    pub fn length(&self) -> usize {
        CommandLine::begin(self, "").text().chars().count().saturating_sub("loopx ".len())
    }

    /// Whether that is a program's name: letters, digits and `.`, `_`, `/`, `-`, at most 64.
    pub fn is_program(name: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-');
        (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('-')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(quoted("agent-a"), "agent-a");
        assert_eq!(quoted("目標-1"), "目標-1");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"$'it\047s'");
        assert_eq!(quoted("a&b<c>`d`\n"), r"$'a\046b\074c\076\140d\140\012'");
        let home = |rest: &str| {
            let mut out = String::new();
            Word::Home(rest.into()).push(&mut out);
            out
        };
        assert_eq!(home(".loopx/registry.global.json"), "\"$HOME/.loopx/registry.global.json\"");
        assert_eq!(home("my work/r.json"), "\"$HOME\"'/my work/r.json'");
    }
}
