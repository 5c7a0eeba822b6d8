//! The folder of a run under the temporary directory: nobody else can look into it, and it is gone when
//! the run ends, however it does.

use std::io;
use std::path::{Path, PathBuf};

use model::OpError;

/// Folders of other runs that may be in the way.
const NAMES_TRIED: usize = 1_000;

pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(within: &Path) -> Result<Scratch, OpError> {
        for number in 0..NAMES_TRIED {
            let name = format!("rekindle-eval-{}-{number}", std::process::id());
            let folder = within.join(name);
            match make_private(&folder) {
                Ok(()) => return Ok(Scratch(folder)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let message = format!("cannot make a folder in {}: {error}", within.display());
                    return Err(OpError::unavailable(message)
                        .hint("Set TMPDIR to a folder with room for the documents."));
                }
            }
        }
        let message = format!("{} is full of folders of other runs", within.display());
        Err(OpError::unavailable(message).hint("Remove its rekindle-eval-* folders."))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is in the temporary directory anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
