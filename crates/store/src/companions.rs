//! Checks the files beside a database before anything opens, changes or deletes them. A user may have a file at
//! one of these names, or a link to a file elsewhere.

use std::fs;
use std::io;
use std::path::Path;

use model::database::{COMPANION_HEAD_BYTES, Companion};

use crate::error::StoreError;

/// Refuses a database beside which a symbolic link, a directory, a pipe or a file of another program has the name of a
/// companion. `is_new` says that the database is missing or empty.
pub(crate) fn check(database: &Path, is_new: bool) -> Result<(), StoreError> {
    for companion in Companion::ALL {
        let path = companion.beside(database);
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let occupied = |why: &str| {
            Err(StoreError::Occupied { path: path.display().to_string(), why: why.to_owned() })
        };
        if meta.is_symlink() {
            return occupied("is a symbolic link, which is not followed");
        }
        // SQLite would block on a pipe.
        if !meta.is_file() {
            return occupied(&format!("is {}", regular::kind(meta.file_type())));
        }
        match regular::read_unlinked(&path, COMPANION_HEAD_BYTES as u64) {
            Ok(head) => companion.check(&head, is_new).or_else(occupied)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if is_new => return occupied(&format!("cannot be read: {error}")),
            // Beside a database of ours the file is ours too; opening the database reports the error.
            Err(_) => {}
        }
    }
    Ok(())
}
