//! The locations of files: data, runtime and configuration directories, from the environment alone.
//!
//! Pure: the environment, the user id and the working directory are arguments. Every process (hook, command, daemon)
//! uses this one function, so that all of them find the same socket.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::limits;

/// Name of the database in a data directory.
const DATABASE: &str = "rekindle.db";

/// The environment of a process that decides where its files are.
pub struct Surroundings<'a> {
    pub var: &'a dyn Fn(&str) -> Option<OsString>,
    pub uid: u32,
    pub cwd: &'a Path,
    pub mac: bool,
    /// Resolves symbolic links of a path as far as it exists, so that two spellings compare equal.
    pub canonical: &'a dyn Fn(&Path) -> PathBuf,
}

/// The locations of one database and its daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    pub data_dir: PathBuf,
    /// The database, with all links resolved.
    pub database: PathBuf,
    /// Whether it is the default database of the data directory.
    is_usual: bool,
    pub runtime_dir: PathBuf,
    pub config_file: PathBuf,
    /// The user's default data directory.
    user_dir: PathBuf,
    uid: u32,
}

impl Locations {
    /// The user id that these locations belong to.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Resolves the locations; `db` is the `--db` flag.
    pub fn resolve(around: &Surroundings<'_>, db: Option<&Path>) -> Locations {
        let dir = |name: &str| (around.var)(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        // Links are followed before `..` is resolved, as the operating system does.
        let absolute = |path: PathBuf| normal(&(around.canonical)(&around.cwd.join(path)));
        let home = dir("HOME").unwrap_or_else(|| PathBuf::from("/"));
        let under_home = |xdg: &str, mac: &str, other: &str| match dir(xdg) {
            _ if around.mac => home.join(mac),
            Some(base) if base.is_absolute() => base,
            _ => home.join(other),
        };
        let explicit_home = dir("REKINDLE_HOME").map(absolute);
        let user_dir = around.cwd.join(
            under_home("XDG_DATA_HOME", "Library/Application Support", ".local/share")
                .join("rekindle"),
        );
        let usual = explicit_home.as_ref().unwrap_or(&user_dir).join(DATABASE);
        // The database may be a link to another disk; its sidecars are beside the target.
        let usual = absolute(usual);
        let named_db = db.map(Path::to_path_buf).or_else(|| dir("NMEM_DB")).map(absolute);
        // A path to the default database, or a link to it, uses the default daemon.
        let explicit_db = named_db.filter(|named| *named != usual);
        let data_dir = match (&explicit_db, &explicit_home) {
            // A database given by path keeps its spool, token and logs next to itself.
            (Some(db), None) => files_beside(db),
            (_, Some(home)) => home.clone(),
            (None, None) => absolute(user_dir.clone()),
        };
        let named = explicit_db.is_some() || explicit_home.is_some();
        let is_usual = explicit_db.is_none();
        let database = explicit_db.unwrap_or(usual);
        let suffix = if named { format!("-{:08x}", short_hash(&database)) } else { String::new() };
        let runtime_dir = match (dir("REKINDLE_RUNTIME_DIR"), dir("XDG_RUNTIME_DIR")) {
            (Some(given), _) => absolute(given),
            (None, Some(base)) if base.is_absolute() => base.join(format!("rekindle{suffix}")),
            _ => temp_dir(around.var).join(format!("rekindle-{}{suffix}", around.uid)),
        };
        let config_file = match dir("REKINDLE_CONFIG").map(absolute) {
            Some(file) if file.extension().is_some_and(|e| e == "toml") => file,
            Some(folder) => folder.join("config.toml"),
            None => under_home("XDG_CONFIG_HOME", "Library/Application Support", ".config")
                .join("rekindle/config.toml"),
        };
        let uid = around.uid;
        Locations { data_dir, database, is_usual, runtime_dir, config_file, user_dir, uid }
    }

    /// Whether the data directory belongs to this database alone.
    pub fn owns_data_dir(&self) -> bool {
        self.is_usual || self.is_beside_database()
    }

    /// The path of the database in the data directory: a link if the database is elsewhere.
    pub fn usual_name(&self) -> Option<PathBuf> {
        self.is_usual.then(|| self.data_dir.join(DATABASE))
    }

    /// Whether spool, token and logs are in a directory beside the database.
    pub fn is_beside_database(&self) -> bool {
        self.data_dir == files_beside(&self.database)
    }

    /// Directories for the record of opened databases, the preferred one first. The user's own directory is the
    /// same for every path and runtime directory that a database is used with; the data directory is the
    /// fallback if the home directory is not writable.
    pub fn records(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.user_dir.join("databases"), self.data_dir.join("databases")];
        dirs.dedup();
        dirs
    }

    /// The directory for the locks of open databases, by the file's identity. All processes of the user have to
    /// find each other's locks, so no environment variable changes this directory.
    pub fn identity_locks(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/rekindle-{}-locks", self.uid))
    }

    pub fn lock(&self) -> PathBuf {
        self.runtime_dir.join("daemon.lock")
    }

    pub fn discovery(&self) -> PathBuf {
        self.runtime_dir.join("daemon.json")
    }

    /// The unix socket: in the runtime directory, or in a short private one if that is too long.
    pub fn socket(&self) -> PathBuf {
        let usual = self.runtime_dir.join("daemon.sock");
        if usual.as_os_str().len() <= limits::SOCKET_PATH_BYTES_MAX {
            return usual;
        }
        let hash = short_hash(&self.runtime_dir);
        PathBuf::from(format!("/tmp/rekindle-{}-s{hash:08x}/daemon.sock", self.uid))
    }

    pub fn token(&self) -> PathBuf {
        self.data_dir.join("token")
    }

    pub fn token_copy(&self) -> PathBuf {
        self.runtime_dir.join("token")
    }

    /// A hash of the database's path, eight hex digits.
    pub fn database_id(&self) -> String {
        format!("{:08x}", short_hash(&self.database))
    }

    /// The file with the authorised browsers. Databases may share a data directory, so each has its own file.
    pub fn browsers(&self) -> PathBuf {
        self.data_dir.join(format!("browsers-{}.json", self.database_id()))
    }

    pub fn backups(&self) -> PathBuf {
        self.data_dir.join("backups")
    }

    pub fn daemon_log(&self) -> PathBuf {
        self.data_dir.join("log/daemon.log")
    }

    pub fn hook_log(&self) -> PathBuf {
        self.data_dir.join("log/hook.log")
    }

    /// Spool directories: the data directory first, else the runtime directory. A database other than the directory's
    /// default has a spool of its own.
    pub fn spools(&self) -> [PathBuf; 2] {
        let name = if self.is_usual {
            "spool".to_owned()
        } else {
            format!("spool-{:08x}", short_hash(&self.database))
        };
        [self.data_dir.join(&name), self.runtime_dir.join(name)]
    }
}

/// The pauses, for hooks that do not open the database. The file exists while something is paused.
pub fn paused_beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-paused");
    PathBuf::from(name)
}

/// The data directory of a database that was given by path: `notes.db.d`.
fn files_beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".d");
    PathBuf::from(name)
}

fn temp_dir(var: &dyn Fn(&str) -> Option<OsString>) -> PathBuf {
    match var("TMPDIR") {
        Some(dir) if Path::new(&dir).is_absolute() => PathBuf::from(dir),
        _ => PathBuf::from("/tmp"),
    }
}

/// Removes `.` and resolves `..` textually.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// FNV-1a over the path's bytes: stable between builds, which std's hasher does not promise.
fn short_hash(path: &Path) -> u32 {
    path.as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(vars: &[(&str, &str)], db: Option<&str>) -> Locations {
        let around = Surroundings {
            var: &|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)),
            uid: 7,
            cwd: Path::new("/proj"),
            mac: false,
            canonical: &|path| path.to_path_buf(),
        };
        Locations::resolve(&around, db.map(Path::new))
    }

    #[test]
    fn by_default_the_platforms_directories_are_used() {
        let l = resolve(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/7")], None);
        assert_eq!(l.database, Path::new("/h/.local/share/rekindle/rekindle.db"));
        assert_eq!(l.runtime_dir, Path::new("/run/user/7/rekindle"));
        assert_eq!(l.config_file, Path::new("/h/.config/rekindle/config.toml"));
        assert_eq!(resolve(&[("HOME", "/h")], None).runtime_dir, Path::new("/tmp/rekindle-7"));
    }

    #[test]
    fn two_homes_have_two_runtime_directories() {
        let a = resolve(&[("REKINDLE_HOME", "/a")], None);
        let b = resolve(&[("REKINDLE_HOME", "/b")], None);
        assert_ne!(a.runtime_dir, b.runtime_dir);
        assert_eq!(a, resolve(&[("REKINDLE_HOME", "/x/../a")], None));
        let given = resolve(&[("REKINDLE_HOME", "/a"), ("REKINDLE_RUNTIME_DIR", "/r")], None);
        assert_eq!(given.runtime_dir, Path::new("/r"));
    }

    #[test]
    fn a_named_database_keeps_its_files_beside_itself() {
        let l = resolve(&[("HOME", "/h")], Some("m.db"));
        assert_eq!(l.database, Path::new("/proj/m.db"));
        assert_eq!(l.data_dir, Path::new("/proj/m.db.d"));
        assert_eq!(l.database, resolve(&[("NMEM_DB", "/proj/m.db")], None).database);
        let home = resolve(&[("REKINDLE_HOME", "/a")], None);
        let beside = resolve(&[("REKINDLE_HOME", "/a"), ("NMEM_DB", "/proj/m.db")], None);
        assert_eq!(home.spools()[0], Path::new("/a/spool"));
        assert_ne!(home.spools(), beside.spools());
    }

    #[test]
    fn a_link_to_the_default_database_uses_its_daemon() {
        let resolve = |vars: &[(&str, &str)], db: Option<&str>| {
            let around = Surroundings {
                var: &|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)),
                uid: 7,
                cwd: Path::new("/proj"),
                mac: false,
                canonical: &|path| match path.to_str() {
                    Some("/proj/link.db" | "/h/.local/share/rekindle/rekindle.db") => {
                        PathBuf::from("/disk/big.db")
                    }
                    Some("/proj/dir/../m.db") => PathBuf::from("/other/m.db"),
                    _ => path.to_path_buf(),
                },
            };
            Locations::resolve(&around, db.map(Path::new))
        };
        let usual = resolve(&[("HOME", "/h")], None);
        assert_eq!(usual.database, Path::new("/disk/big.db"));
        assert_eq!(usual.data_dir, Path::new("/h/.local/share/rekindle"));
        assert_eq!(usual.spools()[0], Path::new("/h/.local/share/rekindle/spool"));
        assert_eq!(resolve(&[("HOME", "/h")], Some("link.db")), usual);
        assert_eq!(resolve(&[("HOME", "/h"), ("NMEM_DB", "/disk/big.db")], None), usual);
        let above = resolve(&[("HOME", "/h")], Some("dir/../m.db"));
        assert_eq!(above.database, Path::new("/other/m.db"), "the system follows the link first");
    }

    #[test]
    fn a_long_runtime_directory_gets_a_short_socket() {
        let long = format!("/{}", "r".repeat(150));
        let l = resolve(&[("REKINDLE_RUNTIME_DIR", &long)], None);
        assert!(l.socket().as_os_str().len() <= limits::SOCKET_PATH_BYTES_MAX);
        assert_eq!(l.discovery(), Path::new(&long).join("daemon.json"));
    }
}
