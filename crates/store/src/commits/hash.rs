//! The form of commit hashes.

use model::limits;

/// Whether this may be the hash of a commit, or a long enough prefix of one.
pub fn is_hash(word: &str) -> bool {
    (limits::COMMIT_HASH_CHARS_MIN..=limits::COMMIT_HASH_CHARS_MAX).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}
