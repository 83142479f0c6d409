//! The digest in which witnesses are written. Not for secrets: nothing is keyed.

use sha2::{Digest, Sha256};

/// sha256 of `bytes` as 64 lower-case hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The first 16 digits of the sha256 of `value` as JSON: enough for tokens that are only compared.
pub fn short_digest(value: &impl serde::Serialize) -> String {
    let mut text = Vec::with_capacity(512);
    // What is written into memory is written.
    serde_json::to_writer(&mut text, value).unwrap_or_default();
    Sha256::digest(text).first_chunk::<8>().map(|start| hex(start)).unwrap_or_default()
}

/// Length and sha256 (hex) of what `source` yields, read in pieces.
pub fn sha256_of(source: &mut dyn std::io::Read) -> std::io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut bytes = 0_u64;
    loop {
        let n = source.read(&mut buffer)?;
        let Some(piece) = buffer.get(..n).filter(|p| !p.is_empty()) else {
            return Ok((bytes, hex(&hasher.finalize())));
        };
        hasher.update(piece);
        bytes = bytes.saturating_add(u64::try_from(n).unwrap_or(u64::MAX));
    }
}

/// Lower-case hex digits of `bytes`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            digits.push(char::from(nibble + if nibble < 10 { b'0' } else { b'a' - 10 }));
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_of_nothing_and_of_abc() {
        assert_eq!(
            sha256_hex(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            sha256_hex(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
