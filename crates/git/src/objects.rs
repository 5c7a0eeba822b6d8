//! Reads objects of a repository: loose ones, and those in packs.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::inflate;

/// Bytes of an object that is read; a longer one is left out.
const OBJECT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Directories of objects that are read: the repository's own and those that it borrows; further ones are ignored.
const ALTERNATES_MAX: usize = 16;
/// The longest chain of deltas by which an object is stored.
const DELTAS_MAX: usize = 4_096;
const FANOUT_AT: u64 = 8;
const FANOUT_BYTES: u64 = 256 * 4;

/// The objects of a repository.
pub(crate) struct Objects {
    folders: Vec<PathBuf>,
    packs: Vec<Pack>,
    hash_bytes: usize,
}

/// The kind of an object, as packs number it.
const COMMIT: u8 = 1;
const BASE_AT: u8 = 6;
const BASE_NAMED: u8 = 7;

struct Pack {
    index: File,
    objects: File,
    count: u32,
}

impl Objects {
    /// The objects below a `.git` that all working trees share. Packs that cannot be read are left out.
    pub(crate) fn open(common: &Path, hash_bytes: usize) -> Objects {
        let mut folders = vec![common.join("objects")];
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            let borrowed = fs::read_to_string(folder.join("info/alternates")).unwrap_or_default();
            for line in borrowed.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let path = folder.join(line);
                if folders.len() < ALTERNATES_MAX && !folders.contains(&path) {
                    folders.push(path);
                }
            }
        }
        let entries = folders.iter().filter_map(|folder| fs::read_dir(folder.join("pack")).ok());
        let paths = entries.flatten().flatten().map(|entry| entry.path());
        let indexes = paths.filter(|path| path.extension().is_some_and(|ending| ending == "idx"));
        let packs = indexes.filter_map(|index| Pack::open(&index).ok()).collect();
        Objects { folders, packs, hash_bytes }
    }

    /// The text of a commit; `None` if there is none, or it cannot be read.
    pub(crate) fn commit(&self, hash: &[u8]) -> Option<Vec<u8>> {
        let (kind, text) = self.object(hash)?;
        (kind == COMMIT).then_some(text)
    }

    fn object(&self, hash: &[u8]) -> Option<(u8, Vec<u8>)> {
        self.loose(hash).or_else(|| {
            self.packs.iter().find_map(|pack| {
                let at = pack.find(hash, self.hash_bytes)?;
                self.packed(pack, at)
            })
        })
    }

    fn loose(&self, hash: &[u8]) -> Option<(u8, Vec<u8>)> {
        let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let (folder, file) = name.split_at_checked(2)?;
        let paths = self.folders.iter().map(|objects| objects.join(folder).join(file));
        let bytes =
            paths.filter_map(|path| regular::read(&path, OBJECT_BYTES_MAX as u64).ok()).next()?;
        let text = inflate::zlib(&bytes, OBJECT_BYTES_MAX)?;
        let end = text.iter().position(|byte| *byte == 0)?;
        let kind = if text.starts_with(b"commit ") { COMMIT } else { 0 };
        Some((kind, text.get(end + 1..)?.to_vec()))
    }

    /// An object of a pack. One that is stored as a delta of another object is reconstructed.
    fn packed(&self, pack: &Pack, at: u64) -> Option<(u8, Vec<u8>)> {
        let mut deltas = Vec::new();
        let mut at = at;
        let (kind, mut text) = loop {
            let header = pack.header(at)?;
            let PackedHeader { kind, size, data } = header;
            match kind {
                BASE_AT => {
                    let (distance, length) = pack.distance(data)?;
                    deltas.push(pack.text(data + length, size)?);
                    at = at.checked_sub(distance)?;
                }
                BASE_NAMED => {
                    let mut name = vec![0; self.hash_bytes];
                    pack.objects.read_exact_at(&mut name, data).ok()?;
                    deltas.push(pack.text(data + self.hash_bytes as u64, size)?);
                    match pack.find(&name, self.hash_bytes) {
                        Some(base) => at = base,
                        None => break self.loose(&name)?,
                    }
                }
                kind => break (kind, pack.text(data, size)?),
            }
            if deltas.len() > DELTAS_MAX {
                return None;
            }
        };
        for delta in deltas.iter().rev() {
            text = changed(&text, delta)?;
        }
        Some((kind, text))
    }
}

/// The beginning of an object in a pack.
struct PackedHeader {
    kind: u8,
    size: usize,
    /// Where its data begin.
    data: u64,
}

impl Pack {
    fn open(index: &Path) -> io::Result<Pack> {
        let objects = regular::open(&index.with_extension("pack"))?;
        let index = regular::open(index)?;
        let mut head = [0; 8];
        index.read_exact_at(&mut head, 0)?;
        // Version 2, which git has written since 2007.
        if head != [0xff, b't', b'O', b'c', 0, 0, 0, 2] {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut pack = Pack { index, objects, count: 0 };
        pack.count = pack.number(FANOUT_AT + FANOUT_BYTES - 4).ok_or(io::ErrorKind::InvalidData)?;
        Ok(pack)
    }

    /// The number in four bytes of the index.
    fn number(&self, at: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.index.read_exact_at(&mut bytes, at).ok()?;
        Some(u32::from_be_bytes(bytes))
    }

    /// Where the object with this hash is in the pack.
    fn find(&self, hash: &[u8], hash_bytes: usize) -> Option<u64> {
        let first = u64::from(*hash.first()?);
        let mut low = match first {
            0 => 0,
            first => self.number(FANOUT_AT + (first - 1) * 4)?,
        };
        let mut high = self.number(FANOUT_AT + first * 4)?.min(self.count);
        let (names, width) = (FANOUT_AT + FANOUT_BYTES, hash_bytes as u64);
        let mut name = vec![0; hash_bytes];
        while low < high {
            let middle = low + (high - low) / 2;
            self.index.read_exact_at(&mut name, names + u64::from(middle) * width).ok()?;
            match name.as_slice().cmp(hash) {
                std::cmp::Ordering::Equal => return self.offset(middle, width),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn offset(&self, place: u32, width: u64) -> Option<u64> {
        let count = u64::from(self.count);
        // Names, then checksums of four bytes, then offsets of four bytes.
        let offsets = FANOUT_AT + FANOUT_BYTES + count * (width + 4);
        let offset = self.number(offsets + u64::from(place) * 4)?;
        if offset & 0x8000_0000 == 0 {
            return Some(u64::from(offset));
        }
        // An offset beyond 2 GiB is in a table of its own.
        let at = offsets + count * 4 + u64::from(offset & 0x7fff_ffff) * 8;
        Some(u64::from(self.number(at)?) << 32 | u64::from(self.number(at + 4)?))
    }

    fn header(&self, at: u64) -> Option<PackedHeader> {
        let mut byte = self.byte(at)?;
        let kind = byte >> 4 & 7;
        let (mut size, mut shift, mut data) = (usize::from(byte & 15), 4, at + 1);
        while byte & 0x80 != 0 {
            byte = self.byte(data)?;
            data += 1;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
        }
        (size <= OBJECT_BYTES_MAX).then_some(PackedHeader { kind, size, data })
    }

    /// The distance back to the object that this one is a delta of, and the number of bytes that encode it.
    fn distance(&self, at: u64) -> Option<(u64, u64)> {
        let mut byte = self.byte(at)?;
        let (mut distance, mut length) = (u64::from(byte & 0x7f), 1);
        while byte & 0x80 != 0 {
            byte = self.byte(at + length)?;
            length += 1;
            distance =
                distance.checked_add(1)?.checked_mul(128)?.checked_add(u64::from(byte & 0x7f))?;
        }
        Some((distance, length))
    }

    fn byte(&self, at: u64) -> Option<u8> {
        let mut byte = [0];
        self.objects.read_exact_at(&mut byte, at).ok()?;
        Some(byte[0])
    }

    /// The decompressed text of this size at a place of the pack.
    fn text(&self, at: u64, size: usize) -> Option<Vec<u8>> {
        // Compressed data are longer than the text only by the frames of stored blocks.
        let mut bytes = vec![0; size + size / 1_000 + 128];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.objects.read_at(&mut bytes[filled..], at + filled as u64).ok()? {
                0 => break,
                count => filled += count,
            }
        }
        let text = inflate::zlib(&bytes[..filled], size)?;
        (text.len() == size).then_some(text)
    }
}

/// Applies a delta of a pack to its base: copies parts of the base and inserts new bytes. `None` if the delta is
/// damaged or belongs to another base.
fn changed(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta.iter().copied();
    let mut number = || {
        let (mut value, mut shift) = (0usize, 0);
        loop {
            let byte = rest.next()?;
            value |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    };
    let (before, after) = (number()?, number()?);
    if before != base.len() || after > OBJECT_BYTES_MAX {
        return None;
    }
    let mut text = Vec::with_capacity(after);
    while let Some(code) = rest.next() {
        if code & 0x80 == 0 {
            for _ in 0..code {
                text.push(rest.next()?);
            }
            continue;
        }
        let mut member = |bits: std::ops::Range<u8>| {
            let mut value = 0usize;
            for (shift, bit) in bits.enumerate() {
                if code >> bit & 1 == 1 {
                    value |= usize::from(rest.next()?) << (8 * shift);
                }
            }
            Some(value)
        };
        let (start, length) = (member(0..4)?, member(4..7)?);
        let length = if length == 0 { 0x10000 } else { length };
        text.extend_from_slice(base.get(start..start.checked_add(length)?)?);
        if text.len() > after {
            return None;
        }
    }
    (text.len() == after).then_some(text)
}
