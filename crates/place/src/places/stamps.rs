//! The files and directories that a cached place was read from. A few `stat` calls check that they are unchanged.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The identities of the directory, its repository and the repository's settings.
#[derive(Clone, Debug, Default)]
pub(super) struct DiskStamps(Vec<(PathBuf, Option<Stamp>)>);

/// A directory changes its stamp if it is recreated, a file also if it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    born: Option<SystemTime>,
    written: Option<(SystemTime, u64)>,
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let found = fs::metadata(path).ok()?;
        let written = found.modified().ok().filter(|_| found.is_file());
        Some(Stamp {
            device: found.dev(),
            inode: found.ino(),
            born: found.created().ok(),
            written: written.map(|at| (at, found.len())),
        })
    }
}

impl DiskStamps {
    /// Stamps the directory and its repository now. The directory is given twice: by the path that the caller names,
    /// which a link may lead elsewhere later, and by its real path.
    pub(super) fn of([given, real]: [&Path; 2], repository: Option<&git::Facts>) -> DiskStamps {
        let mut paths = vec![given.to_owned(), real.to_owned(), real.join(".git")];
        if let Some(git::Facts { root, common_dir, .. }) = repository {
            paths.extend([root.clone(), root.join(".git"), common_dir.clone()]);
            paths.push(common_dir.join("config"));
        }
        paths.sort_unstable();
        paths.dedup();
        let stamped = |path: PathBuf| {
            let stamp = Stamp::of(&path);
            (path, stamp)
        };
        DiskStamps(paths.into_iter().map(stamped).collect())
    }

    /// Whether all of these files and directories are unchanged.
    pub(super) fn hold(&self) -> bool {
        self.0.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }
}
