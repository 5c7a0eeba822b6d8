//! SHA-256 digests, which distinguish contents that are not stored.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The digest in hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The first 16 digits of the digest: enough to see that a content is the same as another.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    let mut digest = sha256(bytes);
    digest.truncate(16);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let table = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ];
        for (text, digest) in table {
            assert_eq!(sha256(text.as_bytes()), digest, "{text:?}");
        }
    }
}
