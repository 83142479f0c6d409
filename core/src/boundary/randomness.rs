//! Is a piece of text a word that somebody chose to be read, or was it drawn at random?
//! Three cheap measures: pairs of letters that words do not have, changes between
//! letters, digits and cases, and Shannon entropy. Not for placeholders: see `value`.

use super::bytes::cut;

/// Which letter may follow which in words: bit `n` of row `a` says that the pair of
/// letter `a` and letter `n` is common. Counted over 17,000 words of the documentation
/// and identifiers of the crates of this workspace; the 350 of 676 pairs that make up
/// 96.5 % of all pairs there.
const PAIRS: [u32; 26] = [
    0x1febd7f, 0x11e493f, 0x13efdbf, 0x07ed93f, 0x1fffdff, 0x01ec93d, 0x01679d1, 0x01e5119,
    0x2aefc7f, 0x0100010, 0x0040111, 0x13cd93d, 0x01cf91f, 0x13efdff, 0x07efd7f, 0x11ed9bd,
    0x0100000, 0x13efd7f, 0x35efdfd, 0x1def9bf, 0x00ef97f, 0x0044111, 0x0066191, 0x0088135,
    0x00cb900, 0x0000111,
];

fn common_pair(a: u8, b: u8) -> bool {
    let row = a.to_ascii_lowercase().wrapping_sub(b'a');
    let bit = b.to_ascii_lowercase().wrapping_sub(b'a');
    PAIRS.get(usize::from(row)).is_some_and(|pairs| bit < 26 && pairs >> bit & 1 == 1)
}

/// Counts over one piece of text.
#[derive(Default)]
pub(super) struct Counts {
    /// ASCII letters.
    pub letters: usize,
    /// ASCII digits.
    pub digits: usize,
    /// Bytes that are neither, without `-`, `_`, `.` and white space.
    pub symbols: usize,
    /// Upper case letters.
    pub upper: usize,
    /// Changes inside a word between letter and digit, or from lower to upper case
    /// where no word of `camelCase` begins.
    pub switches: usize,
    /// Of those, the ones between letter and digit.
    pub numbers: usize,
    /// Pairs of neighbouring letters.
    pairs: usize,
    /// Of those, the ones that words do not have.
    odd: usize,
}

/// Counts over `text`.
pub(super) fn count(text: &[u8]) -> Counts {
    let mut counts = Counts::default();
    let mut last = b' ';
    let mut small = 0;
    for &b in text {
        match b {
            b'0'..=b'9' => counts.digits += 1,
            b'a'..=b'z' => counts.letters += 1,
            b'A'..=b'Z' => {
                counts.letters += 1;
                counts.upper += 1;
            }
            b'-' | b'_' | b'.' | b' ' | b'\t' => {}
            _ => counts.symbols += 1,
        }
        let both = last.is_ascii_alphanumeric() && b.is_ascii_alphanumeric();
        if both && last.is_ascii_digit() != b.is_ascii_digit() {
            counts.switches += 1;
            counts.numbers += 1;
        }
        if last.is_ascii_alphabetic() && b.is_ascii_alphabetic() {
            let rises = last.is_ascii_lowercase() && b.is_ascii_uppercase();
            // Behind three small letters a capital begins the next word.
            counts.switches += usize::from(rises && small < 3);
            if !rises {
                counts.pairs += 1;
                counts.odd += usize::from(!common_pair(last, b));
            }
        }
        small = if b.is_ascii_lowercase() { small + 1 } else { 0 };
        last = b;
    }
    counts
}

/// Could these letters be a word? Abbreviations of up to four
/// letters may have one pair that words do not have, or are capitals.
pub(super) fn is_word(letters: &[u8]) -> bool {
    let counts = count(letters);
    let short =
        letters.len() <= 4 && (counts.upper == counts.letters || counts.odd * 2 <= counts.pairs);
    short || counts.odd * 100 <= counts.pairs * 25
}

/// One piece without separators: is it drawn at random?
fn random_piece(piece: &[u8]) -> bool {
    let len = piece.len();
    if len < 8 {
        return false;
    }
    let counts = count(piece);
    if counts.letters == 0 {
        return false;
    }
    // Only `a` to `f` and digits: no word is that long.
    let hex = piece.iter().all(u8::is_ascii_hexdigit)
        && len >= 12
        && counts.digits.min(counts.letters) >= if len >= 16 { 1 } else { 2 };
    let capitals = counts.upper == counts.letters;
    // Abbreviations and short names have odd pairs too.
    let share = if capitals {
        35
    } else if len >= 14 {
        17
    } else {
        22
    };
    let odd = counts.pairs >= 4
        && counts.odd * 100 >= counts.pairs * share
        && (len >= 10 || counts.digits > 0 || counts.switches > 1);
    let mixed = counts.switches * 100 >= len * 24
        || (len >= 16 && counts.digits >= 4 && counts.numbers >= 3);
    let mixed_case = counts.upper >= 2
        && !capitals
        && counts.switches * 100 >= len * 15
        && counts.odd * 100 >= counts.pairs * 12;
    (hex || mixed || mixed_case || odd) && entropy(piece) >= 2.2
}

/// Was `text`, or a piece of it between separators, drawn at random?
pub(super) fn is_random(text: &[u8]) -> bool {
    let text = cut(text, 0..256);
    if text.split(|b| !b.is_ascii_alphanumeric()).any(random_piece) {
        return true;
    }
    // Short groups, as licence keys have them; and base64 broken up by its signs.
    let counts = count(text);
    let total = counts.letters + counts.digits;
    let groups = text.split(|b| matches!(b, b'-' | b'_')).all(|g| g.len() >= 3 && g.len() < 8);
    let base64 = text.iter().any(|b| matches!(b, b'+' | b'/' | b'='));
    let both = counts.upper >= 2 && counts.letters - counts.upper >= 2;
    let enough =
        if both { total >= 10 && counts.digits >= 1 } else { total >= 16 && counts.digits >= 3 };
    enough
        && counts.switches * 100 >= total * 30
        && (groups || base64 || both)
        && entropy(text) >= 3.0
}

/// Shannon entropy of `text` in bits per byte.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut seen = [0u32; 256];
    for &b in text {
        if let Some(count) = seen.get_mut(usize::from(b)) {
            *count += 1;
        }
    }
    #[allow(clippy::cast_precision_loss)]
    let total = text.len().max(1) as f64;
    seen.iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = f64::from(count) / total;
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_random_and_keys_are() {
        for word in [
            "internationalization2024",
            "kebab-case-identifier-number-12",
            "SomeCamelCaseTypeName",
            "snake_case_function_name",
            "require_safe_and_sound",
            "SCREAMING_SNAKE_CASE",
            "2024-05-01T10:00:00Z",
            "x86_64-unknown-linux-gnu",
            "k8s-prod-eu1",
            "getElementsByTagName",
        ] {
            assert!(!is_random(word.as_bytes()), "{word}");
        }
        for key in [
            "kXvQzTbWmLpR",
            "9f86d081884c7d65",
            "qzxkvjwpfhgt",
            "A1B2-C3D4-E5F6-G7H8",
            "tR0ub4dor3xQ",
            "wJalrXUtnFEMIK7MDENG",
        ] {
            assert!(is_random(key.as_bytes()), "{key}");
        }
    }
}
