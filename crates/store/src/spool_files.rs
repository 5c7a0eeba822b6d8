//! Files of the spool that contain user text outside the database: unreadable files, events that could not be stored
//! yet, and stray files. A purge by text deletes those that contain it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::limits;

/// Files of the spool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolFiles {
    /// Files that contain the text and may be deleted.
    pub matching: Vec<PathBuf>,
    /// Files that stay: they contain a word inside a longer one, belong to another user or cannot be read.
    pub near: Vec<PathBuf>,
}

/// How deep directories in the spool are searched.
const DEPTH_MAX: usize = 4;

/// The files for which `is_in` returns something: true if they contain the text, false if they may contain it.
pub(crate) fn find(folders: &[PathBuf], is_in: &dyn Fn(&[u8]) -> Option<bool>) -> SpoolFiles {
    let mut found = SpoolFiles::default();
    for folder in folders {
        let Ok(owner) = fs::metadata(folder).map(|meta| meta.uid()) else { continue };
        let mut files = Vec::new();
        collect(folder, DEPTH_MAX, &mut files);
        for (path, user) in files {
            let text = match regular::read(&path, limits::HOOK_BYTES_MAX as u64) {
                Ok(text) => text,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(_) => {
                    found.near.push(path);
                    continue;
                }
            };
            match is_in(&text) {
                Some(true) if user == owner => found.matching.push(path),
                Some(_) => found.near.push(path),
                None => {}
            }
        }
    }
    for files in [&mut found.matching, &mut found.near] {
        files.sort_unstable();
        // Both directories of the spool may be one.
        files.dedup();
    }
    found
}

/// The regular files in a directory and those below it, with their owners.
fn collect(folder: &Path, depth: usize, files: &mut Vec<(PathBuf, u32)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(meta) if meta.is_file() => files.push((entry.path(), meta.uid())),
            Ok(meta) if meta.is_dir() && depth > 0 => collect(&entry.path(), depth - 1, files),
            _ => {}
        }
    }
}
