//! The directory of a run under the temporary directory: private to the user, and deleted when the run ends or
//! fails.

use std::io;
use std::path::{Path, PathBuf};

use model::OpError;

/// Attempts to find an unused name.
const NAMES_TRIED: usize = 1_000;

pub(crate) struct RunDir(PathBuf);

impl RunDir {
    pub(crate) fn new(within: &Path) -> Result<RunDir, OpError> {
        for number in 0..NAMES_TRIED {
            let name = format!("rekindle-eval-{}-{number}", std::process::id());
            let folder = within.join(name);
            match make_private(&folder) {
                Ok(()) => return Ok(RunDir(folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let message =
                        format!("cannot create a directory in {}: {error}", within.display());
                    return Err(OpError::unavailable(message)
                        .hint("Set TMPDIR to a directory with room for the documents."));
                }
            }
        }
        let message = format!("{} has too many directories of other runs", within.display());
        Err(OpError::unavailable(message).hint("Delete its rekindle-eval-* directories."))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // A directory that cannot be deleted is in the temporary directory anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
