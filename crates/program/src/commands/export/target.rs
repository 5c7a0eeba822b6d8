//! The place that an export is written to: a new file, a new folder, or stdout.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use model::{Code, OpError};

/// The destination of an export. Until the export is complete it has another name, and without [`ExportTarget::keep`] it is
/// deleted.
pub(super) struct ExportTarget {
    out: BufWriter<Box<dyn Write>>,
    /// The final path; none for stdout.
    path: Option<PathBuf>,
    partial: Option<PathBuf>,
    is_folder: bool,
}

impl ExportTarget {
    pub(super) fn printed() -> ExportTarget {
        ExportTarget {
            out: BufWriter::new(Box::new(io::stdout())),
            path: None,
            partial: None,
            is_folder: false,
        }
    }

    pub(super) fn file(path: &Path) -> Result<ExportTarget, OpError> {
        let mut target = ExportTarget::new(path, false)?;
        let partial = target.partial.clone().unwrap_or_default();
        let opened = private_file(&partial).map_err(|error| target.unwritable(&error))?;
        target.out = BufWriter::with_capacity(256 * 1024, Box::new(opened));
        Ok(target)
    }

    pub(super) fn folder(path: &Path) -> Result<ExportTarget, OpError> {
        let target = ExportTarget::new(path, true)?;
        let partial = target.partial.clone().unwrap_or_default();
        DirBuilder::new().mode(0o700).create(partial).map_err(|error| target.unwritable(&error))?;
        Ok(target)
    }

    fn new(path: &Path, is_folder: bool) -> Result<ExportTarget, OpError> {
        let absolute = std::path::absolute(path)
            .map_err(|error| OpError::invalid("file", format!("not a path: {error}")))?;
        let Some(name) = absolute.file_name() else {
            return Err(OpError::invalid(
                "file",
                "the path is `/` or ends in `..`, so it has no name",
            ));
        };
        refuse_existing(&absolute)?;
        let name = format!(".{}.{}.partial", name.to_string_lossy(), std::process::id());
        Ok(ExportTarget {
            out: BufWriter::new(Box::new(io::sink())),
            partial: Some(absolute.with_file_name(name)),
            path: Some(absolute),
            is_folder,
        })
    }

    /// Begins another page: a new file of the folder. On stdout, pages follow each other.
    pub(super) fn page(&mut self, name: &str) -> io::Result<()> {
        self.out.flush()?;
        if let Some(folder) = self.partial.as_ref().filter(|_| self.is_folder) {
            let opened = private_file(&folder.join(name))?;
            self.out = BufWriter::new(Box::new(opened));
        }
        Ok(())
    }

    /// Gives the complete export its name.
    pub(super) fn keep(&mut self) -> io::Result<()> {
        self.out.flush()?;
        let (Some(path), Some(partial)) = (&self.path, &self.partial) else { return Ok(()) };
        if !self.is_folder {
            File::open(partial)?.sync_all()?;
        }
        if path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(partial, path)?;
        self.partial = None;
        Ok(())
    }

    /// Whether the program that reads our output closed it: it has read enough.
    pub(super) fn is_closed_pipe(&self, error: &io::Error) -> bool {
        self.path.is_none() && error.kind() == io::ErrorKind::BrokenPipe
    }

    pub(super) fn unwritable(&self, error: &io::Error) -> OpError {
        let shown =
            self.path.as_ref().map_or_else(|| "stdout".into(), |path| path.display().to_string());
        match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&shown),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                OpError::invalid("file", format!("the folder of {shown} does not exist"))
                    .hint("Make the folder first, or name a file in another one.")
            }
            io::ErrorKind::PermissionDenied => {
                OpError::invalid("file", format!("{shown} cannot be written"))
                    .hint("Name a file in a folder that you may write to.")
            }
            _ => OpError::unavailable(format!("cannot write {shown}: {error}")),
        }
    }
}

impl Write for ExportTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for ExportTarget {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Nothing can be done about a file that cannot be deleted; the error that led here is reported.
            let _ = match self.is_folder {
                true => fs::remove_dir_all(partial),
                false => fs::remove_file(partial),
            };
        }
    }
}

fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn refuse_existing(path: &Path) -> Result<(), OpError> {
    match path.symlink_metadata() {
        Ok(_) => Err(exists(&path.display().to_string())),
        Err(_) => Ok(()),
    }
}

fn exists(shown: &str) -> OpError {
    OpError::new(Code::Conflict, format!("{shown} exists already"))
        .with("param", "file")
        .hint("Name a file that does not exist yet.")
}
