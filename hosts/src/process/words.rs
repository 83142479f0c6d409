//! A command line as text, parted into words by the quoting rules of the POSIX shell and
//! by nothing else: nothing is expanded and nothing is run. What only a shell can do is
//! refused, never passed on as a word that means something else than it says.

use std::fmt;

/// Words that begin a construct of the shell, not a command.
const RESERVED: [&str; 16] = [
    "!", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then",
    "until", "while",
];

/// Why a text is no command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotWords {
    /// There is no word in it.
    Empty,
    /// A quote is not closed.
    OpenQuote(char),
    /// It ends in a backslash.
    TrailingBackslash,
    /// It holds a NUL.
    Nul,
    /// What only a shell can do.
    Shell {
        /// The text that asks for it.
        what: String,
        /// What it would be.
        kind: &'static str,
    },
}

impl fmt::Display for NotWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it names no program"),
            Self::OpenQuote(quote) => write!(f, "the quote {quote} is not closed"),
            Self::TrailingBackslash => f.write_str("it ends in a backslash"),
            Self::Nul => f.write_str("it holds a NUL"),
            Self::Shell { what, kind } => write!(
                f,
                "`{what}` is {kind}, and no shell runs this command: quote it, or say sh -c '...'"
            ),
        }
    }
}

fn shell(what: impl Into<String>, kind: &'static str) -> NotWords {
    NotWords::Shell { what: what.into(), kind }
}

/// The word that is being read.
#[derive(Default)]
struct Word {
    text: String,
    /// It has begun, though it may be empty: `''` is a word.
    begun: bool,
    /// Some of it was quoted, so that it is no construct of the shell.
    quoted: bool,
    /// Where an unquoted `=` stands.
    equals: Option<usize>,
}

/// The words of a command line: program and arguments.
pub fn split(line: &str) -> Result<Vec<String>, NotWords> {
    if line.contains('\0') {
        return Err(NotWords::Nul);
    }
    let mut words: Vec<String> = Vec::new();
    let mut word = Word::default();
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        match c {
            ' ' | '\t' => finish(&mut words, std::mem::take(&mut word))?,
            '\n' | '\r' => {
                // At its end it is what an editor or `$(cat file)` left there.
                if rest.clone().any(|c| !c.is_whitespace()) {
                    return Err(shell("a line break", "for a shell"));
                }
                finish(&mut words, std::mem::take(&mut word))?;
            }
            '\'' => {
                (word.begun, word.quoted) = (true, true);
                loop {
                    match rest.next() {
                        Some('\'') => break,
                        Some(c) => word.text.push(c),
                        None => return Err(NotWords::OpenQuote('\'')),
                    }
                }
            }
            '"' => {
                (word.begun, word.quoted) = (true, true);
                in_double_quotes(&mut rest, &mut word.text)?;
            }
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(c) => {
                    (word.begun, word.quoted) = (true, true);
                    word.text.push(c);
                }
                None => return Err(NotWords::TrailingBackslash),
            },
            '$' if expands(next) || matches!(next, Some('\'' | '"')) => {
                return Err(shell(format!("${}", next.unwrap_or_default()), "an expansion"));
            }
            '`' => return Err(shell("`", "a command substitution")),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' => {
                let both = next.filter(|n| *n == c && matches!(c, '|' | '&' | ';' | '<' | '>'));
                let what: String = std::iter::once(c).chain(both).collect();
                return Err(shell(what, "a shell operator"));
            }
            '*' | '?' | '[' => return Err(shell(c, "a file name pattern")),
            '~' if !word.begun => return Err(shell("~", "an expansion")),
            '#' if !word.begun => return Err(shell("#", "the begin of a comment")),
            c => {
                if c == '=' && !word.quoted && word.equals.is_none() {
                    word.equals = Some(word.text.len());
                }
                word.begun = true;
                word.text.push(c);
            }
        }
    }
    finish(&mut words, word)?;
    if words.first().is_none_or(String::is_empty) {
        return Err(NotWords::Empty);
    }
    Ok(words)
}

fn in_double_quotes(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    text: &mut String,
) -> Result<(), NotWords> {
    loop {
        let Some(c) = rest.next() else { return Err(NotWords::OpenQuote('"')) };
        let next = rest.peek().copied();
        match c {
            '"' => return Ok(()),
            '\\' => match next {
                // A backslash before anything else is itself.
                Some(n @ ('$' | '`' | '"' | '\\')) => {
                    rest.next();
                    text.push(n);
                }
                Some('\n') => {
                    rest.next();
                }
                _ => text.push('\\'),
            },
            '$' if expands(next) => {
                return Err(shell(format!("${}", next.unwrap_or_default()), "an expansion"));
            }
            '`' => return Err(shell("`", "a command substitution")),
            c => text.push(c),
        }
    }
}

/// Whether a dollar sign before this is more than a dollar sign.
fn expands(next: Option<char>) -> bool {
    next.is_some_and(|c| c.is_ascii_alphanumeric() || "_{(@*#?-$!".contains(c))
}

fn finish(words: &mut Vec<String>, word: Word) -> Result<(), NotWords> {
    if !word.begun {
        return Ok(());
    }
    if words.is_empty() {
        if !word.quoted && RESERVED.contains(&word.text.as_str()) {
            return Err(shell(word.text, "a word of the shell"));
        }
        let name = word.equals.and_then(|at| word.text.get(..at)).unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name {
            return Err(shell(word.text, "an assignment (env NAME=value program sets one)"));
        }
    }
    words.push(word.text);
    Ok(())
}

/// A word in single quotes where a shell would read it as more than itself.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(line: &str) -> String {
        split(line).expect_err(line).to_string()
    }

    #[test]
    fn the_quoting_table() {
        for (line, words) in [
            ("a b  c", &["a", "b", "c"][..]),
            ("\ta\t'b c' ", &["a", "b c"]),
            ("a 'it'\\''s'", &["a", "it's"]),
            ("a \"x y\" \"\"", &["a", "x y", ""]),
            ("a ''", &["a", ""]),
            ("a b'c'\"d\"\\ e", &["a", "bcd e"]),
            ("a \"\\\"\\\\\\$\\`\\n\"", &["a", "\"\\$`\\n"]),
            ("a '$HOME `x` * | \\'", &["a", "$HOME `x` * | \\"]),
            ("a \\$HOME \\* \\| \\~ \\#", &["a", "$HOME", "*", "|", "~", "#"]),
            ("a 5$ $ \"$\" x#y x~", &["a", "5$", "$", "$", "x#y", "x~"]),
            ("a \"* ? [x] ~ # ; & | < > ( )\"", &["a", "* ? [x] ~ # ; & | < > ( )"]),
            ("a b\\\nc", &["a", "bc"]),
            ("a b\n", &["a", "b"]),
            ("a x=1 --k=v {a,b}", &["a", "x=1", "--k=v", "{a,b}"]),
            ("sh -c 'a | b && c > d'", &["sh", "-c", "a | b && c > d"]),
            ("'if' x", &["if", "x"]),
            ("/opt/my\\ tool --flag='a b'", &["/opt/my tool", "--flag=a b"]),
            ("日本 'é è'", &["日本", "é è"]),
        ] {
            assert_eq!(
                split(line).as_deref(),
                Ok(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()[..]),
                "{line}"
            );
        }
    }

    #[test]
    fn what_only_a_shell_can_do_is_refused_and_the_way_is_named() {
        for (line, what) in [
            ("a | b", "|"),
            ("a || b", "||"),
            ("a && b", "&&"),
            ("a &", "&"),
            ("a; b", ";"),
            ("a > f", ">"),
            ("a 2>> f", ">>"),
            ("a < f", "<"),
            ("(a)", "("),
            ("a $HOME", "$H"),
            ("a ${X}", "${"),
            ("a \"$(b)\"", "$("),
            ("a \"$1\"", "$1"),
            ("a $'b'", "$'"),
            ("a `b`", "`"),
            ("a \"`b`\"", "`"),
            ("a *.txt", "*"),
            ("a fil?", "?"),
            ("a [ab]", "["),
            ("a ~/x", "~"),
            ("~/bin/a", "~"),
            ("a # c", "#"),
            ("a\nb", "a line break"),
            ("if true", "if"),
            ("! a", "!"),
            ("X=1 a", "X=1"),
            ("X= a", "X="),
        ] {
            let sentence = refused(line);
            assert!(sentence.contains(&format!("`{what}`")), "{line}: {sentence}");
            assert!(sentence.contains("sh -c"), "{line}: {sentence}");
        }
        for (line, part) in [
            ("", "no program"),
            ("  ", "no program"),
            ("'' a", "no program"),
            ("a 'b", "not closed"),
            ("a \"b", "not closed"),
            ("a \\", "backslash"),
            ("a\0b", "NUL"),
        ] {
            assert!(refused(line).contains(part), "{line:?}: {}", refused(line));
        }
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[^\\x00]{0,12}", 1..6)) {
            prop_assume!(!words[0].is_empty());
            let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
            // What is not quoted may be an assignment or a word of the shell in the first place.
            let plain = line.starts_with(&words[0]);
            match split(&line) {
                Ok(found) => prop_assert_eq!(found, words),
                Err(error) => prop_assert!(plain, "{}", error),
            }
        }

        /// A line is parted as the shell parts it, or refused.
        #[test]
        fn no_line_is_parted_otherwise_than_by_a_shell(line in "[ab '\"\\\\=x]{0,14}") {
            if let Ok(words) = split(&line) {
                let script = format!("printf '%s\\n' {line}");
                let shell = std::process::Command::new("/bin/sh").args(["-c", &script]).output();
                let printed = String::from_utf8(shell.unwrap().stdout).unwrap();
                prop_assert_eq!(printed, words.iter().map(|w| format!("{w}\n")).collect::<String>());
            }
        }
    }
}
