//! Decompresses zlib streams, in which git stores objects.

/// The text of a zlib stream; `None` if it is damaged or longer than `max`. Bytes behind the stream are not read.
pub(crate) fn zlib(bytes: &[u8], max: usize) -> Option<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, max).ok()
}
