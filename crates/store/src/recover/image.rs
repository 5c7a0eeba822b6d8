//! The pages of a database after its last commit: those of the file, overlaid with the committed frames of the
//! WAL. Nothing is written, and both files may be damaged.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::files;

const WAL_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;
const WAL_MAGIC: u32 = 0x377f_0682;
const PAGE_SIZES: std::ops::RangeInclusive<usize> = 512..=65_536;

/// The pages of a database.
pub(super) struct Image {
    file: File,
    log: Option<File>,
    /// Offset in the WAL of the newest committed version of a page.
    frames: HashMap<u32, u64>,
    page_bytes: usize,
    pages: u32,
}

impl Image {
    /// Opens the files; `None` if that fails. `usual` is the page size to use if the header is damaged.
    pub(super) fn open(path: &Path, usual: usize) -> Option<Image> {
        let file = File::open(path).ok()?;
        let mut header = [0; 100];
        let page_bytes = match file.read_exact_at(&mut header, 0) {
            Ok(()) if header.starts_with(b"SQLite format 3\0") => match be16(&header, 16) {
                1 => 65_536,
                bytes => usize::from(bytes),
            },
            _ => usual,
        };
        let fits = PAGE_SIZES.contains(&page_bytes) && page_bytes.is_power_of_two();
        let page_bytes = if fits { page_bytes } else { usual };
        let bytes = file.metadata().ok()?.len();
        let pages = bytes / u64::try_from(page_bytes).ok()?;
        let mut image = Image {
            file,
            log: File::open(files::beside(path, "-wal")).ok(),
            frames: HashMap::new(),
            page_bytes,
            pages: u32::try_from(pages).unwrap_or(u32::MAX),
        };
        image.read_log();
        Some(image)
    }

    /// The number of pages. They are numbered from 1.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        if number == 0 || number > self.pages {
            return None;
        }
        let mut page = vec![0; self.page_bytes];
        let in_file = u64::from(number - 1) * u64::try_from(self.page_bytes).ok()?;
        match (self.frames.get(&number), &self.log) {
            (Some(at), Some(log)) => log.read_exact_at(&mut page, *at).ok()?,
            _ => self.file.read_exact_at(&mut page, in_file).ok()?,
        }
        Some(page)
    }

    /// The pages on the free list, which starts in the header. They may still contain deleted rows.
    pub(super) fn free_pages(&self) -> HashSet<u32> {
        let mut free = HashSet::new();
        let Some(header) = self.page(1).filter(|page| page.starts_with(b"SQLite format 3\0"))
        else {
            return free;
        };
        let mut trunk = be32(&header, 32);
        // Each trunk page is visited once, so that a cycle ends.
        while trunk != 0 && free.insert(trunk) {
            let Some(page) = self.page(trunk) else { break };
            let most = self.page_bytes / 4 - 2;
            let count = usize::try_from(be32(&page, 4)).unwrap_or(most).min(most);
            free.extend((0..count).map(|index| be32(&page, 8 + 4 * index)));
            trunk = be32(&page, 0);
        }
        free
    }

    /// Locates the committed pages in the WAL: up to the last commit frame whose checksum, which covers all
    /// frames before it, is right.
    fn read_log(&mut self) -> Option<()> {
        let log = self.log.as_ref()?;
        let mut header = [0; 32];
        log.read_exact_at(&mut header, 0).ok()?;
        let magic = be32(&header, 0);
        if magic & !1 != WAL_MAGIC || usize::try_from(be32(&header, 8)).ok()? != self.page_bytes {
            return None;
        }
        let big_endian = magic & 1 == 1;
        let mut sum = checksum((0, 0), header.get(..24)?, big_endian);
        if sum != (be32(&header, 24), be32(&header, 28)) {
            return None;
        }
        let salts = header.get(16..24)?.to_vec();
        let page_bytes = u64::try_from(self.page_bytes).ok()?;
        let mut frame = vec![0; usize::try_from(FRAME_HEADER).ok()? + self.page_bytes];
        let (mut at, mut pending) = (WAL_HEADER, HashMap::new());
        while log.read_exact_at(&mut frame, at).is_ok() {
            let (head, page) = frame.split_at(usize::try_from(FRAME_HEADER).ok()?);
            sum = checksum(checksum(sum, head.get(..8)?, big_endian), page, big_endian);
            if head.get(8..16)? != salts || sum != (be32(head, 16), be32(head, 20)) {
                break;
            }
            pending.insert(be32(head, 0), at + FRAME_HEADER);
            let pages_after = be32(head, 4);
            if pages_after != 0 {
                self.frames.extend(pending.drain());
                self.pages = pages_after;
            }
            at += FRAME_HEADER + page_bytes;
        }
        Some(())
    }
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_be_bytes)
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// SQLite's WAL checksum, over pairs of words.
fn checksum((mut a, mut b): (u32, u32), bytes: &[u8], big_endian: bool) -> (u32, u32) {
    for pair in bytes.chunks_exact(8) {
        let word = |at: usize| {
            let four = be32(pair, at);
            if big_endian { four } else { four.swap_bytes() }
        };
        a = a.wrapping_add(word(0)).wrapping_add(b);
        b = b.wrapping_add(word(4)).wrapping_add(a);
    }
    (a, b)
}
