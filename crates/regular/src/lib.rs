//! Opens regular files and nothing else. A path that a user, a repository or a directory listing names
//! may lead to a pipe, a device, a socket or a directory; opening a pipe blocks until its other end is opened,
//! and opening a device can have side effects. These are refused at once.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a regular file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a regular file or a pipe for reading, for input that may come from another command. A pipe
/// without a writer reads as empty instead of blocking.
pub fn open_file_or_pipe(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.file_type().is_fifo() {
        return open(path);
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Opens a regular file with these options. They may create it.
pub fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // The check before opening keeps devices from being opened; the check after it covers a file that was
    // replaced in between. Without `NONBLOCK` the replacement could be a pipe and block the open.
    match std::fs::metadata(path) {
        Ok(meta) => refuse_irregular(meta.file_type())?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            let text = "it is a symbolic link that leads to itself";
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        Err(error) => return Err(error),
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = options.custom_flags(flags.cast_signed()).open(path)?;
    refuse_irregular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opens a regular file that is at the path itself: a symbolic link is refused. For files of ours in directories
/// of others, where a link could lead to any file of the user.
pub fn open_unlinked(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => refuse_irregular(meta.file_type())?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits();
    let file = options.custom_flags(flags.cast_signed()).open(path)?;
    refuse_irregular(file.metadata()?.file_type())?;
    Ok(file)
}

/// The bytes of a regular file at the path itself, at most `max` of them; a symbolic link is refused.
pub fn read_unlinked(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_unlinked(OpenOptions::new().read(true), path)?.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a regular file, at most `max` of them.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The whole text of a regular file; one over `max` bytes is an error.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    let bytes = read(path, max.saturating_add(1))?;
    if bytes.len() as u64 > max {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is over {}", size(max))));
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// A size limit in the largest unit of which it is a multiple.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "0 bytes".to_owned(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

/// Whether this is a directory of the user, and not a link to one, that no other user can enter.
pub fn is_private_dir(path: &Path) -> bool {
    let uid = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(path)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == uid && meta.mode() & 0o077 == 0)
}

/// The name of a file type with its article, for messages: `a pipe`.
pub fn kind(of: FileType) -> &'static str {
    match of {
        _ if of.is_file() => "a regular file",
        _ if of.is_dir() => "a directory",
        _ if of.is_fifo() => "a pipe",
        _ if of.is_socket() => "a socket",
        _ if of.is_symlink() => "a symbolic link",
        _ => "a device",
    }
}

fn refuse_irregular(file_type: FileType) -> io::Result<()> {
    if file_type.is_file() {
        return Ok(());
    }
    let error = if file_type.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
    Err(io::Error::new(error, format!("it is {}, not a regular file", kind(file_type))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_no_open_blocks() {
        let dir = std::env::temp_dir().join(format!("regular-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let pipe = dir.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let said = |path: &Path| open(path).unwrap_err().to_string();
        assert_eq!(said(&pipe), "it is a pipe, not a regular file");
        assert_eq!(said(&dir), "it is a directory, not a regular file");
        assert_eq!(said(Path::new("/dev/zero")), "it is a device, not a regular file");
        let link = dir.join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        assert_eq!(said(&link), "it is a pipe, not a regular file");
        let append = open_with(OpenOptions::new().append(true).create(true), &pipe);
        assert_eq!(append.unwrap_err().kind(), ErrorKind::InvalidInput);
        let file = dir.join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(read_text(&file, 4).unwrap(), "text");
        assert_eq!(read_text(&file, 3).unwrap_err().to_string(), "it is over 3 bytes");
        let link = dir.join("link to a file");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_unlinked(&file, 4).unwrap(), b"text");
        let refused = open_unlinked(OpenOptions::new().write(true).truncate(true), &link);
        let told = "it is a symbolic link, not a regular file";
        assert_eq!(refused.unwrap_err().to_string(), told);
        assert_eq!(read_text(&file, 4).unwrap(), "text");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
