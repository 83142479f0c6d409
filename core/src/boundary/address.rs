//! Credentials inside addresses: `scheme://user:password@host`, and data source names
//! that leave out the scheme.

use std::ops::Range;

use super::bytes::{before, begins, byte, cut, is_stop, run_end, run_start};
use super::kind::Kind;
use super::randomness::{count, is_random};
use super::token;
use super::value::is_mask;

type Found = Option<(Kind, Range<usize>)>;

/// Longest authority that is looked at.
const LONGEST: usize = 1024;

/// What stands before the host of the address whose `//` begins at `at`.
pub(super) fn credentials(text: &[u8], at: usize) -> Found {
    let start = at + 2;
    let window = cut(text, 0..start + LONGEST);
    let authority =
        run_end(window, start, |b| !is_stop(b) && !matches!(b, b'/' | b'?' | b'#' | b'\\'));
    let mut end = authority;
    if !cut(text, start..authority).contains(&b'@') && byte(text, authority) == b'/' {
        // A password may have a slash in it, a port may not.
        let colon = cut(text, start..authority).iter().position(|&b| b == b':');
        let port = colon.map(|colon| cut(text, start + colon + 1..authority));
        if port.is_some_and(|port| !port.is_empty() && !port.iter().all(u8::is_ascii_digit)) {
            end = run_end(window, authority, |b| !is_stop(b));
        }
    }
    let whole = cut(text, start..end);
    let Some(sign) = whole.iter().rposition(|&b| b == b'@') else {
        return token::hook(text, start);
    };
    let user_info = cut(whole, 0..sign);
    let found = Some((Kind::UrlCredentials, start..start + sign));
    match user_info.iter().position(|&b| b == b':') {
        Some(colon) => {
            let password = cut(user_info, colon + 1..user_info.len());
            // `[user:password@]` is a line of a manual.
            let optional = byte(user_info, 0) == b'[';
            if optional || is_placeholder(password) { None } else { found }
        }
        None => {
            let counts = count(user_info);
            let token = user_info.len() >= 16 && counts.digits >= 3 && is_random(user_info);
            if token { found } else { None }
        }
    }
}

/// `user:password@tcp(host)/name`; `at` is the `@`.
pub(super) fn source_name(text: &[u8], at: usize) -> Found {
    if !begins(text, at, "@tcp(") && !begins(text, at, "@unix(") {
        return None;
    }
    let start = run_start(text, at, 256, |b| !is_stop(b) && b != b'=' && b != b'(');
    let user_info = cut(text, start..at);
    let colon = user_info.iter().position(|&b| b == b':')?;
    let password = cut(user_info, colon + 1..user_info.len());
    (!is_placeholder(password) && before(text, start + colon) != b'/')
        .then_some((Kind::UrlCredentials, start..at))
}

/// An empty password, a variable, a mask, or the word for it in capitals.
fn is_placeholder(password: &[u8]) -> bool {
    let first = byte(password, 0);
    let last = byte(password, password.len().saturating_sub(1));
    let variable = matches!(first, b'<' | b'{' | b'[' | b'$' | b'(' | b'.')
        || first == b'%' && matches!(last, b's' | b'd' | b'%' | b'v');
    let capitals = password.iter().all(|b| b.is_ascii_uppercase() || *b == b'_');
    password.is_empty() || variable || capitals || is_mask(password) || password.ends_with(b"...")
}
