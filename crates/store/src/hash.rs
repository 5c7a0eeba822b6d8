//! A hash that is the same for equal texts in every build: FNV-1a, to recognise repeats, not for security.

/// The hash of these parts in this order.
pub(crate) fn of(parts: &[&str]) -> i64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    i64::from_ne_bytes(hash.to_ne_bytes())
}
