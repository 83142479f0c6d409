//! Base64 and hexadecimal runs: finds them and hands out the readable pieces inside.

use std::ops::Range;

use super::bytes::{byte, cut};

/// Shortest run that is decoded; 16 characters hold 12 bytes.
const SHORTEST: usize = 16;

/// Shortest readable piece that is worth a look.
const READABLE: usize = 9;

const OTHER: u8 = 64;

/// The value of each character of either alphabet of base64.
const SEXTETS: [u8; 256] = sextets();

// Runs in the compiler only: past the end is a failed build.
#[allow(clippy::indexing_slicing)]
const fn sextets() -> [u8; 256] {
    let mut table = [OTHER; 256];
    let mut i = 0;
    while i < 26 {
        table[b'A' as usize + i] = i as u8;
        table[b'a' as usize + i] = i as u8 + 26;
        i += 1;
    }
    let mut i = 0;
    while i < 10 {
        table[b'0' as usize + i] = i as u8 + 52;
        i += 1;
    }
    table[b'+' as usize] = 62;
    table[b'-' as usize] = 62;
    table[b'/' as usize] = 63;
    table[b'_' as usize] = 63;
    table
}

fn sextet(b: u8) -> u8 {
    SEXTETS.get(usize::from(b)).copied().unwrap_or(OTHER)
}

/// Calls `look` with each readable piece that a run of `text` holds, and the range of
/// the whole run. A run may begin with characters that are none of it (a path, a word),
/// so that all four alignments are tried.
pub(super) fn pieces(text: &[u8], mut look: impl FnMut(&[u8], Range<usize>)) {
    let mut at = 0;
    while at + SHORTEST <= text.len() {
        // A byte outside the alphabet this far ahead rules out all places before it:
        // prose is passed over in leaps of a word or more.
        let ahead = cut(text, at..at + SHORTEST);
        if let Some(last) = ahead.iter().rposition(|&b| sextet(b) == OTHER) {
            at += last + 1;
            continue;
        }
        let start = at;
        let mut line = at;
        // Upper and lower case: base64 of a text has both, prose and paths seldom.
        let (mut upper, mut lower, mut all_hex) = (false, false, true);
        while at < text.len() {
            let b = byte(text, at);
            if sextet(b) != OTHER {
                upper |= b.is_ascii_uppercase();
                lower |= b.is_ascii_lowercase();
                all_hex &= b.is_ascii_hexdigit();
                at += 1;
                continue;
            }
            // Long lines of base64 are wrapped.
            let wrapped = matches!(b, b'\n' | b'\r') && at - line >= 60;
            let next = if cut(text, at..at + 2) == b"\r\n" { at + 2 } else { at + 1 };
            if !wrapped || sextet(byte(text, next)) == OTHER {
                break;
            }
            at = next;
            line = next;
        }
        let run = start..at;
        at = at.max(start + 1);
        if run.len() < SHORTEST {
            continue;
        }
        // Chance makes short readable pieces in a long run of noise.
        let least = if run.len() <= 64 { READABLE } else { 2 * READABLE };
        if all_hex && run.len() >= 2 * READABLE {
            let bytes = unhex(cut(text, run.clone()));
            readable(&bytes, least, |piece| look(piece, run.clone()));
        }
        if upper && lower {
            let padding =
                cut(text, run.end..run.end + 2).iter().take_while(|&&b| b == b'=').count();
            let whole = run.start..run.end + padding;
            let body = cut(text, run.clone());
            let sextets: Vec<u8> =
                body.iter().map(|&b| sextet(b)).filter(|&s| s != OTHER).collect();
            for skip in 0..4 {
                let body = cut(&sextets, skip..sextets.len());
                if may_be_text(body) {
                    let bytes = join(body);
                    readable(&bytes, least, |piece| look(piece, whole.clone()));
                }
            }
        }
    }
}

/// Hands over what `body` holds if all of it is base64 and can be read.
pub(super) fn whole(body: &[u8], mut look: impl FnMut(&[u8])) {
    let sextets: Vec<u8> = body.iter().filter(|&&b| b != b'=').map(|&b| sextet(b)).collect();
    let bytes = join(&sextets);
    if !sextets.contains(&OTHER) && bytes.iter().all(|b| b.is_ascii_graphic() || *b == b' ') {
        look(&bytes);
    }
}

/// Are there two quads in a row that make ASCII? Each piece that is long enough has
/// them; noise has them seldom. Looks at the bits that become the high bits of bytes.
fn may_be_text(sextets: &[u8]) -> bool {
    let mut streak = 0;
    sextets.chunks_exact(4).any(|quad| {
        let high = match quad {
            [a, b, c, _] => a & 32 | b & 8 | c & 2,
            _ => 1,
        };
        streak = if high == 0 { streak + 1 } else { 0 };
        streak >= 2
    })
}

fn join(sextets: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sextets.len() / 4 * 3 + 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for &sextet in sextets {
        bits = bits << 6 | u32::from(sextet);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

fn unhex(body: &[u8]) -> Vec<u8> {
    let digit = |b: u8| (b as char).to_digit(16).unwrap_or_default() as u8;
    body.chunks_exact(2).map(|pair| digit(byte(pair, 0)) << 4 | digit(byte(pair, 1))).collect()
}

/// Hands over the pieces of `bytes` that can be read. Zero bytes are left out, so that
/// wide characters read like narrow ones.
fn readable(bytes: &[u8], least: usize, mut look: impl FnMut(&[u8])) {
    let narrow: Vec<u8> = bytes.iter().copied().filter(|&b| b != 0).collect();
    let control = |c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
    for chunk in narrow.utf8_chunks() {
        for piece in chunk.valid().split(control).filter(|piece| piece.len() >= least) {
            look(piece.as_bytes());
        }
    }
    if (bytes.len() - narrow.len()) * 4 >= bytes.len() {
        // Wide characters of other scripts: UTF-16, low byte first.
        let units =
            bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([byte(pair, 0), byte(pair, 1)]));
        let wide: String = char::decode_utf16(units).map(|c| c.unwrap_or('\n')).collect();
        look(wide.as_bytes());
    }
}
