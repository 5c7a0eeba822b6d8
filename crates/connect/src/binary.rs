//! The copy of our program that agents start. Its path stays valid when the build directory is deleted.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use model::{Code, OpError};

use crate::apply::{self, old};
use crate::place::unusable;
use crate::plan::FileAction;

/// The running program, and the path of its copy.
#[derive(Clone, Debug)]
pub struct Copy {
    pub from: PathBuf,
    pub to: PathBuf,
}

/// Bytes that every build of our program contains, to recognise it.
const MARK: &[u8] = b"rekindle, the memory runtime: this very program";

/// Whether a program is in a build directory, where the next build replaces or removes it.
pub fn build_folder(program: &Path) -> bool {
    let Some(folder) = program.parent() else { return false };
    [".fingerprint", "deps", "incremental"].iter().any(|name| folder.join(name).is_dir())
}

fn has_mark(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|bytes| bytes == MARK)
}

/// Whether the file at this path is a build of our program, and not a file of the user.
pub(crate) fn is_ours(path: &Path) -> bool {
    read(path).is_ok_and(|bytes| has_mark(&bytes))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    regular::read(path, u64::MAX)
}

/// The effect of copying on a file that is at the path of the copy.
pub(crate) fn plan(copy: &Copy) -> Result<FileAction, OpError> {
    let failed = |path: &Path, error: io::Error| unusable(path, &error);
    if !copy.to.exists() && !copy.to.is_symlink() {
        return Ok(FileAction::Made);
    }
    let ours = read(&copy.from).map_err(|error| failed(&copy.from, error))?;
    let there = read(&copy.to).map_err(|error| failed(&copy.to, error))?;
    if ours == there {
        let runs = fs::metadata(&copy.to).is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0);
        return Ok(if runs { FileAction::Kept } else { FileAction::Changed });
    }
    if !has_mark(&there) {
        let message = format!("{} already exists and is not ours", copy.to.display());
        return Err(OpError::new(Code::Conflict, message)
            .hint("Move it away, or choose another path with --bin PATH."));
    }
    Ok(FileAction::Changed)
}

/// Puts the copy in place atomically.
pub(crate) fn place(copy: &Copy) -> Result<(), OpError> {
    let failed = |error: io::Error| unusable(&copy.to, &error);
    let folder = copy.to.parent().unwrap_or(Path::new("/"));
    apply::make_folders(folder).map_err(failed)?;
    if copy.to.exists() {
        let _ = fs::remove_file(old(&copy.to));
        let _ = fs::hard_link(&copy.to, old(&copy.to));
    }
    let bytes = read(&copy.from).map_err(|error| unusable(&copy.from, &error))?;
    apply::replace(&copy.to, &bytes, 0o755).map_err(failed)?;
    let runs = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&copy.to, runs).map_err(failed)
}

/// Removes the copy that this run made.
pub(crate) fn take_back(copy: &Copy, doing: FileAction, folders: &[PathBuf]) {
    let _ = match doing {
        FileAction::Made => fs::remove_file(&copy.to),
        FileAction::Changed if old(&copy.to).exists() => fs::rename(old(&copy.to), &copy.to),
        _ => Ok(()),
    };
    apply::remove_scratch_files(&copy.to);
    if doing == FileAction::Made {
        apply::remove_folders(folders);
    }
}
