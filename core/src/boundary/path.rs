//! Paths that name a person or a machine: home folders and network shares. Paths of the
//! system, relative paths and the paths of web addresses are none of them.

use std::ops::Range;

use super::bytes::{before, byte, cut, is_one_of, is_stop, run_end, run_start};
use super::kind::Kind;

type Found = Option<(Kind, Range<usize>)>;

fn is_slash(b: u8) -> bool {
    matches!(b, b'/' | b'\\')
}

/// Ends a segment of a path.
fn ends_segment(b: u8) -> bool {
    is_slash(b)
        || is_stop(b)
        || matches!(b, b':' | b';' | b',' | b')' | b']' | b'}' | b'&' | b'?' | b'#' | b'=')
}

/// Homes that are the same on every machine of their sort: runners of continuous
/// integration, folders that all users share, and names that stand for a name.
const NOBODY: &[&str] = &[
    "runner",
    "runneradmin",
    "shared",
    "public",
    "default",
    "all users",
    "linuxbrew",
    "username",
    "yourname",
    "your-name",
    "your_name",
    "youruser",
    "your-user",
    "your_user",
    "your-username",
    "yourusername",
    "your_username",
    "you",
    "user-name",
    "user_name",
    "xxx",
    "someuser",
    "$user",
    "me.",
];

/// What stands behind `/home/` in the routes of web applications.
const ROUTES: &[&str] = &[
    "dashboard",
    "index",
    "index.html",
    "index.htm",
    "index.php",
    "index.tsx",
    "index.ts",
    "index.js",
    "index.vue",
    "settings",
    "profile",
    "feed",
    "about",
    "login",
    "logout",
    "page",
    "main",
    "news",
    "search",
    "help",
    "welcome",
    "hero",
    "banner",
    "home",
    "overview",
    "contact",
    "products",
    "cart",
];

/// Words before a path that make it a route.
const VERBS: &[&str] = &[
    "get", "post", "put", "delete", "patch", "head", "options", "route", "routes", "endpoint",
    "redirect", "navigate", "url", "uri", "href",
];

/// Schemes whose paths are files of a machine.
const FILE_SCHEMES: &[&str] = &[
    "file",
    "ssh",
    "sftp",
    "scp",
    "rsync",
    "vscode",
    "vscode-remote",
    "cursor",
    "nfs",
    "smb",
    "git+ssh",
    "git+file",
    "sqlite",
    "sqlite3",
    "idea",
    "docker",
    "unix",
];

/// A home path at the slash `at`.
pub(super) fn home(text: &[u8], at: usize) -> Found {
    let slash = byte(text, at);
    if before(text, at) == slash {
        return None;
    }
    let segment = run_end(cut(text, 0..at + 8), at, is_slash);
    // Told apart by its first letter: nearly every slash ends here.
    if !matches!(byte(text, segment), b'h' | b'H' | b'U' | b'u' | b'r' | b'D' | b'd') {
        return None;
    }
    let end = run_end(cut(text, 0..segment + 32), segment, |b| !ends_segment(b) || b == b' ');
    let word = cut(text, segment..end);
    let user = run_end(cut(text, 0..end + 8), end, is_slash);
    if user == end {
        return None;
    }
    let windows = slash == b'\\' || drive_before(text, at).is_some();
    let start = if windows {
        if !is_one_of(word, &["users", "documents and settings"]) {
            return None;
        }
        drive_before(text, at).unwrap_or(at)
    } else {
        match word {
            b"home" | b"HOME" | b"Users" | b"root" => {}
            _ => return None,
        }
        root_of(text, at, segment - at, word)?
    };
    let name_end = run_end(cut(text, 0..user + 64), user, |b| !ends_segment(b));
    let name = cut(text, user..name_end);
    if word == b"root" {
        let good = name.first().is_some_and(|&b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        return good.then(|| (Kind::HomePath, start..path_end(text, start, name_end)));
    }
    if !is_person(name) || (slash == b'/' && !windows && is_one_of(name, ROUTES)) {
        return None;
    }
    Some((Kind::HomePath, start..path_end(text, start, name_end)))
}

/// Where the drive `C:` before a slash begins.
fn drive_before(text: &[u8], at: usize) -> Option<usize> {
    let colon = at.checked_sub(1)?;
    let letter = colon.checked_sub(1)?;
    (byte(text, colon) == b':'
        && byte(text, letter).is_ascii_alphabetic()
        && !before(text, letter).is_ascii_alphanumeric())
    .then_some(letter)
}

/// Is this the name of a person, not a placeholder?
fn is_person(name: &[u8]) -> bool {
    let first = name.first().copied().unwrap_or(b'<');
    let good = first.is_ascii_alphanumeric() || first == b'_' || first >= 0x80;
    let ellipsis = name.starts_with("\u{2026}".as_bytes());
    let variable = name.iter().any(|b| b"<>{}$%*()[]".contains(b));
    let capitals = name.iter().all(|b| b.is_ascii_uppercase() || *b == b'_') && name.len() > 3;
    good && !ellipsis && !variable && !capitals && !is_one_of(name, NOBODY)
}

/// Where the absolute path begins that has its home folder at the slash `at`; none if
/// the path is relative or the path of a web address.
fn root_of(text: &[u8], at: usize, slashes: usize, word: &[u8]) -> Option<usize> {
    let last = before(text, at);
    let token = run_start(text, at, 256, |b| !is_stop(b));
    let lead = cut(text, token..at);
    if last == b':' && slashes >= 2 {
        let scheme = scheme_start(text, at - 1);
        let files = is_one_of(cut(text, scheme..at - 1), FILE_SCHEMES);
        return (slashes >= 3 && files || slashes >= 4).then_some(scheme);
    }
    if let Some(scheme_end) = lead.windows(3).rposition(|part| part == b"://") {
        // Behind a scheme; `https://home/x` has a host of that name.
        let colon = token + scheme_end;
        let scheme = scheme_start(text, colon);
        if is_one_of(cut(text, scheme..colon), FILE_SCHEMES) {
            return Some(scheme);
        }
        // `?file=/home/ann/x` hands a path over, `?next=/home/feed` a route.
        let query = cut(lead, scheme_end..lead.len()).contains(&b'?');
        let segment = run_end(cut(text, 0..at + 96), at, |b| !is_stop(b) && b != b'&');
        let deep = cut(text, at..segment).iter().filter(|&&b| b == b'/').count() >= 3;
        if !query || !deep {
            return None;
        }
    }
    if last.is_ascii_alphanumeric()
        || matches!(
            last,
            b'.' | b'_'
                | b'-'
                | b')'
                | b']'
                | b'}'
                | b'~'
                | b'%'
                | b'@'
                | b'#'
                | b'*'
                | b'$'
                | b'+'
        )
    {
        return known_root(text, at, word);
    }
    if slashes > 1 && word == b"root" {
        // `//root/x` is a query over a tree.
        return None;
    }
    let gap =
        run_start(text, at, 4, |b| matches!(b, b' ' | b'"' | b'\'' | b'`' | b'=' | b'(' | b':'));
    let verb = run_start(text, gap, 10, |b| b.is_ascii_alphabetic());
    (!is_one_of(cut(text, verb..gap), VERBS)).then_some(at)
}

/// Where the scheme that ends at `colon` begins.
fn scheme_start(text: &[u8], colon: usize) -> usize {
    run_start(text, colon, 16, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

/// `/mnt/c/Users`, `/var/home`, `-I/home`, `\n/home`: homes that do not begin a word.
fn known_root(text: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    let part = run_start(text, at, 24, |b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let folder = cut(text, part..at);
    let lead = before(text, part);
    if folder.len() == 1 && lead == b'\\' && matches!(folder, b"n" | b"t" | b"r") {
        return Some(at);
    }
    if folder.len() == 2 && folder.first() == Some(&b'-') && (lead == b' ' || is_stop(lead)) {
        return Some(at);
    }
    if lead != b'/' || word == b"root" {
        return None;
    }
    let known = is_one_of(
        folder,
        &[
            "var", "usr", "export", "srv", "net", "nfs", "host", "data", "mnt", "media", "private",
            "nfshome",
        ],
    ) || folder.len() == 1
        || folder.starts_with(b"data");
    let slash = part - 1;
    let outer = run_start(text, slash, 24, |b| b.is_ascii_alphanumeric() || b == b'/');
    let absolute =
        outer == slash && !before(text, slash).is_ascii_alphanumeric() || byte(text, outer) == b'/';
    (known && absolute).then_some(outer.min(slash))
}

/// Where the path ends. Between quotes it may have spaces; a Windows path may have one
/// inside a name (`C:\Users\Ann Lee\x`).
fn path_end(text: &[u8], start: usize, from: usize) -> usize {
    let quote = before(text, start);
    let mut end = run_end(text, from, |b| !is_stop(b));
    if matches!(quote, b'"' | b'\'' | b'`') {
        let close = run_end(cut(text, 0..end + 256), end, |b| b != quote && b != b'\n');
        return if byte(text, close) == quote { close } else { end };
    }
    while byte(text, end) == b' ' {
        let next = run_end(cut(text, 0..end + 25), end + 1, |b| b.is_ascii_alphanumeric());
        if byte(text, next) != b'\\' || next == end + 1 {
            break;
        }
        end = run_end(text, next, |b| !is_stop(b));
    }
    // The full stop or bracket behind it belongs to the sentence.
    let tail = cut(text, from..end).iter().rev().take_while(|b| b".,;:)]}".contains(b)).count();
    end - tail
}

/// Folders that bundlers write `~name/` for, and what "about so many per" is followed by.
const ALIASES: &[&str] = &[
    "components",
    "assets",
    "lib",
    "src",
    "app",
    "shared",
    "styles",
    "utils",
    "pages",
    "server",
    "public",
    "node_modules",
    "bootstrap",
    "icons",
    "virtual",
    "build",
];

/// `~name/folder` at the tilde `at`; `~/` alone names nobody.
pub(super) fn tilde(text: &[u8], at: usize) -> Found {
    let last = before(text, at);
    let free = last.is_ascii_whitespace()
        || matches!(last, b'"' | b'\'' | b'`' | b'=' | b':' | b'(' | b',' | b'[' | b'<' | b'>');
    let name_end = run_end(cut(text, 0..at + 34), at + 1, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
    });
    let name = cut(text, at + 1..name_end);
    let letter = name.first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_');
    if !free
        || !letter
        || byte(text, name_end) != b'/'
        || is_one_of(name, ALIASES)
        || !is_person(name)
    {
        return None;
    }
    let next = run_end(cut(text, 0..name_end + 64), name_end + 1, |b| !ends_segment(b));
    let folder = cut(text, name_end + 1..next);
    let rate = [
        "h", "s", "hr", "hour", "day", "week", "month", "year", "sec", "second", "min", "minute",
        "request",
    ];
    if folder.is_empty() || is_one_of(folder, &rate) {
        return None;
    }
    // `@import "~theme/colours"`
    let lead = cut(text, at.saturating_sub(12)..at);
    let import = ["import ", "use ", "require(", "url(", "from "];
    if import.iter().any(|word| super::bytes::holds(lead, word)) {
        return None;
    }
    Some((Kind::HomePath, at..path_end(text, at, next)))
}

/// `\\host\share` at the first backslash `at`, also with every backslash doubled.
pub(super) fn unc(text: &[u8], at: usize) -> Found {
    let lead = before(text, at);
    if lead == b'\\'
        || lead.is_ascii_alphanumeric() && lead != b'n'
        || matches!(lead, b'.' | b'}' | b')' | b']' | b'_' | b'%' | b'+' | b'*' | b'$' | b'?')
    {
        return None;
    }
    if lead == b'n'
        || lead == b':'
            && before(text, at - 1).is_ascii_alphabetic()
            && !before(text, at - 2).is_ascii_alphanumeric()
    {
        // A drive before it, or the end of a word.
        return None;
    }
    let host = run_end(cut(text, 0..at + 9), at, |b| b == b'\\');
    let count = host - at;
    if !matches!(count, 2 | 4 | 8) {
        return None;
    }
    let mark = byte(text, host);
    if matches!(mark, b'?' | b'.') && byte(text, host + 1) == b'\\' {
        // `\\?\C:\x` and `\\.\pipe\x` stay on this machine; `\\?\UNC\host\share` does not.
        let next = run_end(cut(text, 0..host + 6), host + 1, |b| b == b'\\');
        let unc = cut(text, next..next + 3).eq_ignore_ascii_case(b"unc");
        return (unc
            && run_end(text, next + 3, |b| b == b'\\') < run_end(text, next + 3, |b| !is_stop(b)))
        .then(|| (Kind::UncPath, at..path_end(text, at, next)));
    }
    let is_host = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'$' | b'@') || b >= 0x80
    };
    let end = run_end(cut(text, 0..host + 256), host, is_host);
    let share = run_end(cut(text, 0..end + 5), end, |b| b == b'\\');
    let first = byte(text, share);
    let good = end - host >= 2
        && mark.is_ascii_alphanumeric()
        && share - end == count / 2
        && (first.is_ascii_alphanumeric() || matches!(first, b'$' | b'_') || first >= 0x80)
        // `\\\\par\\n` is code; a share has more than one letter, or is `c$`.
        && !ends_segment(byte(text, share + 1));
    good.then(|| (Kind::UncPath, at..path_end(text, at, share)))
}
