//! Reads the paths of tracked files from a repository's index.
//!
//! Formats 2, 3 and 4 with hashes of either length. A split index has its paths in a second file; it is not
//! read, and neither is a damaged one.

use crate::Facts;

/// Bytes of an index that are read, about 80,000 paths. Further paths are not listed.
pub const INDEX_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Signature, version and number of entries.
const HEADER_BYTES: usize = 12;
/// Times, device, inode, mode, owner and size of an entry, before its hash.
const STAT_BYTES: usize = 40;
/// Set in an entry's flags if two more bytes of flags follow them.
const EXTENDED: u8 = 0x40;

impl Facts {
    /// The paths of the tracked files relative to `root`, in the order of the index; `None` if they cannot be
    /// read.
    pub fn tracked_files(&self) -> Option<Vec<String>> {
        let bytes = regular::read(&self.git_dir.join("index"), INDEX_BYTES_MAX).ok()?;
        // The length of a hash is in the configuration. An index that is read with the wrong length is invalid.
        entries(&bytes, 20).or_else(|| entries(&bytes, 32))
    }
}

/// The paths of an index whose hashes have this length.
fn entries(bytes: &[u8], hash_bytes: usize) -> Option<Vec<String>> {
    let is_cut = u64::try_from(bytes.len()).is_ok_and(|length| length >= INDEX_BYTES_MAX);
    let number = |at: usize| {
        let four = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(four.try_into().ok()?))
    };
    if !bytes.starts_with(b"DIRC") {
        return None;
    }
    let version = number(4).filter(|version| (2..=4).contains(version))?;
    let count = number(8)?;
    let (mut paths, mut path, mut at) = (Vec::new(), Vec::new(), HEADER_BYTES);
    for _ in 0..count {
        let Some((next, found)) = entry(bytes, at, version, hash_bytes, &path) else {
            return is_cut.then_some(paths);
        };
        // Entries are sorted, and no path is empty; stages of a conflict have equal paths.
        if found.is_empty() || found < path {
            return None;
        }
        if found != path {
            paths.push(String::from_utf8_lossy(&found).into_owned());
        }
        (path, at) = (found, next);
    }
    // Extensions: a name, a length, and content. The checksum is last.
    let end = bytes.len().checked_sub(hash_bytes)?;
    while at < end && !is_cut {
        if bytes.get(at..)?.starts_with(b"link") {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at.checked_add(4)?)?).ok()?)?;
    }
    (is_cut || at == end).then_some(paths)
}

/// The path of the entry at an offset, and the offset of the next one.
fn entry(
    bytes: &[u8],
    start: usize,
    version: u32,
    hash_bytes: usize,
    before: &[u8],
) -> Option<(usize, Vec<u8>)> {
    let flags = start.checked_add(STAT_BYTES + hash_bytes)?;
    let has_more_flags = version > 2 && bytes.get(flags)? & EXTENDED != 0;
    let mut at = flags + if has_more_flags { 4 } else { 2 };
    let mut path = Vec::new();
    if version == 4 {
        // The path shares a prefix with the previous one: this many bytes of that are cut off.
        let (cut, next) = varint(bytes, at)?;
        path.extend_from_slice(before.get(..before.len().checked_sub(cut)?)?);
        at = next;
    }
    let rest = bytes.get(at..)?;
    let length = rest.iter().position(|&byte| byte == 0)?;
    path.extend_from_slice(rest.get(..length)?);
    // Formats 2 and 3 fill an entry with 1 to 8 zeros, up to a multiple of 8.
    let end = at + length + 1;
    let next = if version == 4 { end } else { start + (end - start).next_multiple_of(8) };
    let filled = bytes.get(end..next)?.iter().all(|&byte| byte == 0);
    filled.then_some((next, path))
}

/// A number in git's offset encoding, and the offset behind it.
fn varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, at + 1))
}
