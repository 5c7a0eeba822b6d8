//! The bytes of a transcript, decompressed if they are compressed.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ruzstd::decoding::StreamingDecoder;

use crate::sources::Transcript;

/// The name of a compressed file ends like this.
const COMPRESSED: &str = ".zst";

/// Whether a file is compressed, by its name.
pub(crate) fn is_compressed(file: &Transcript) -> bool {
    is_compressed_path(&file.path)
}

/// Whether a file is one JSON document, by its name, and not one of lines.
pub(crate) fn is_document(file: &Transcript) -> bool {
    file.path.extension().is_some_and(|extension| extension == "json")
}

/// Opens a transcript at a position of its text, up to the size that it had when it was listed.
pub(crate) fn open(file: &Transcript, start: u64) -> io::Result<Box<dyn Read>> {
    open_counted(file, start, &Rc::default())
}

/// Opens a transcript like [`open`], and counts the bytes of the file that are read. Of a compressed file, compressed
/// bytes are counted.
pub(crate) fn open_counted(
    file: &Transcript,
    start: u64,
    read: &Rc<Cell<u64>>,
) -> io::Result<Box<dyn Read>> {
    let (path, mut opened) = open_either(&file.path)?;
    let counted = |from: u64, inner: File| {
        read.set(from);
        CountedFile { inner, read: read.clone() }
    };
    if is_compressed_path(&path) {
        return decompressed(counted(0, opened), start);
    }
    opened.seek(SeekFrom::Start(start))?;
    Ok(Box::new(counted(start, opened).take(file.bytes.saturating_sub(start))))
}

/// A file of which the bytes that are read are counted.
struct CountedFile {
    inner: File,
    read: Rc<Cell<u64>>,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read.set(self.read.get() + count as u64);
        Ok(count)
    }
}

/// Opens a file by its path, for its first bytes.
pub(crate) fn open_path(path: &Path) -> io::Result<Box<dyn Read>> {
    let opened = regular::open(path)?;
    match is_compressed_path(path) {
        true => decompressed(opened, 0),
        false => Ok(Box::new(opened)),
    }
}

fn decompressed(opened: impl Read + 'static, start: u64) -> io::Result<Box<dyn Read>> {
    let text = StreamingDecoder::new(opened).map_err(|_| damaged())?;
    let mut text = DecompressedFile { inner: text };
    io::copy(&mut text.by_ref().take(start), &mut io::sink())?;
    Ok(Box::new(text))
}

fn damaged() -> io::Error {
    io::Error::other("the compressed file is damaged or incomplete")
}

/// A compressed file. Errors of the decoder, which say nothing to a user, are replaced by [`damaged`].
struct DecompressedFile<R> {
    inner: R,
}

impl<R: Read> Read for DecompressedFile<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|_| damaged())
    }
}

fn is_compressed_path(path: &Path) -> bool {
    path.to_string_lossy().ends_with(COMPRESSED)
}

/// Opens a file that may have been compressed or decompressed since it was listed.
fn open_either(path: &Path) -> io::Result<(PathBuf, File)> {
    match regular::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = path.to_string_lossy();
            let other = match name.strip_suffix(COMPRESSED) {
                Some(plain) => PathBuf::from(plain),
                None => PathBuf::from(format!("{name}{COMPRESSED}")),
            };
            let opened = regular::open(&other).map_err(|_| error)?;
            Ok((other, opened))
        }
        opened => Ok((path.to_owned(), opened?)),
    }
}
