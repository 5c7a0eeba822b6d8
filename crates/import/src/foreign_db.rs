//! SQLite databases of other programs, read without a trace: no byte or time of theirs changes, no file appears beside
//! them, and no lock of theirs is waited for.
//!
//! A database without a write-ahead log is opened as an immutable file, and is read again if it changed meanwhile. If
//! it has a log and the log's index, both are used without being written to. A log without an index would have to be
//! recovered, and recovery writes, so a private copy is recovered instead. A database with a rollback journal is
//! copied, too.

use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

use model::limits;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

/// Why a database, or a part of it, was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DbProblem {
    /// It is encrypted, or no database at all: the two look alike.
    NoDatabase,
    /// Its format or its tables are of a version that is not known.
    Unknown,
    Damaged,
    /// Another program does not allow others to read it now.
    Locked,
    /// Another program wrote to it each time that it was read.
    Changing,
    /// A private copy would be needed, and it is too large for one.
    TooLarge,
    /// The file could not be opened.
    Unreadable(String),
}

impl fmt::Display for DbProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DbProblem::NoDatabase => "not an SQLite database, or an encrypted one",
            DbProblem::Unknown => "a database of an unknown version",
            DbProblem::Damaged => "the database is damaged",
            DbProblem::Locked => "the database is locked by another program",
            DbProblem::Changing => "the database changes while it is read",
            DbProblem::TooLarge => {
                "the database can only be read from a copy and is too large for one"
            }
            DbProblem::Unreadable(why) => why,
        })
    }
}

impl DbProblem {
    fn of_sqlite(error: &rusqlite::Error) -> DbProblem {
        if let rusqlite::Error::SqlInputError { .. } = error {
            return DbProblem::Unknown;
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DbProblem::Locked,
            Some(ErrorCode::NotADatabase) => DbProblem::NoDatabase,
            // An SQL statement of ours names a table or a column that does not exist.
            Some(ErrorCode::Unknown) => DbProblem::Unknown,
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                DbProblem::Unreadable("the database could not be opened".to_owned())
            }
            _ => DbProblem::Damaged,
        }
    }

    fn of_io(error: &io::Error) -> DbProblem {
        DbProblem::Unreadable(error.to_string())
    }
}

/// A database of another program.
pub struct ForeignDb {
    path: PathBuf,
    db: Connection,
    /// The size and time of the file when it was opened; none if SQLite itself notices changes, or a copy is read.
    seen: Option<FileState>,
}

/// The size and the time of a file and of the log beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileState([Option<(u64, SystemTime)>; 2]);

impl FileState {
    fn of(path: &Path) -> FileState {
        let state = |path: &Path| {
            let meta = fs::metadata(path).ok()?;
            // An empty log is treated as no log, and its time does not count.
            (meta.len() > 0).then(|| Some((meta.len(), meta.modified().ok()?)))?
        };
        FileState([state(path), state(&beside(path, WAL))])
    }
}

const WAL: &str = "-wal";
const SHM: &str = "-shm";
const JOURNAL: &str = "-journal";

/// How many times at most a database is read, if it changes during each read.
const ATTEMPTS: usize = 3;

impl ForeignDb {
    /// Opens the database at this path.
    pub fn open(path: &Path) -> Result<ForeignDb, DbProblem> {
        let path = fs::canonicalize(path).map_err(|error| DbProblem::of_io(&error))?;
        check_header(&path)?;
        let (db, seen) = connect(&path)?;
        Ok(ForeignDb { path, db, seen })
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs queries that see one state of the database. They run again if the database changed during the run; only the
    /// result of the last run counts.
    pub fn read<T>(
        &mut self,
        work: &mut dyn FnMut(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DbProblem> {
        for _ in 0..ATTEMPTS {
            let result = self.attempt(work);
            let is_same = self.seen.is_none_or(|seen| seen == FileState::of(&self.path));
            if is_same {
                return result.map_err(|error| DbProblem::of_sqlite(&error));
            }
            (self.db, self.seen) = connect(&self.path)?;
        }
        Err(DbProblem::Changing)
    }

    fn attempt<T>(
        &self,
        work: &mut dyn FnMut(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let reading = self.db.unchecked_transaction()?;
        let result = work(&self.db);
        // An open reader would keep the other program from emptying its log.
        reading.rollback()?;
        result
    }

    /// The columns of a table; none if there is no such table.
    pub fn columns(&mut self, table: &str) -> Result<Vec<String>, DbProblem> {
        const COLUMNS: &str = "SELECT name FROM pragma_table_info(?1)";
        self.read(&mut |db| {
            let name = |row: &Row<'_>| Ok(text(row, 0).unwrap_or_default());
            db.prepare(COLUMNS)?.query_map([table], name)?.collect()
        })
    }
}

/// A cell as text; bytes that are not UTF-8 are replaced. `None` if it is NULL, a number, or over the limit of a line.
pub fn text(row: &Row<'_>, column: usize) -> Option<String> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes)
            if bytes.len() <= limits::TRANSCRIPT_LINE_MAX =>
        {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        _ => None,
    }
}

/// A cell as a whole number; `None` if it is something else.
pub fn integer(row: &Row<'_>, column: usize) -> Option<i64> {
    match row.get_ref(column).ok()? {
        ValueRef::Integer(number) => Some(number),
        _ => None,
    }
}

/// Tells an encrypted or newer file from a damaged one, before SQLite opens it.
fn check_header(path: &Path) -> Result<(), DbProblem> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    /// The versions of the file format and of the schema that our SQLite reads.
    const FORMAT_MAX: u8 = 2;
    const SCHEMA_MAX: u32 = 4;
    let mut header = [0; 100];
    let mut file = regular::open(path).map_err(|error| DbProblem::of_io(&error))?;
    match file.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(DbProblem::NoDatabase);
        }
        Err(error) => return Err(DbProblem::of_io(&error)),
    }
    if !header.starts_with(MAGIC) {
        return Err(DbProblem::NoDatabase);
    }
    let schema = u32::from_be_bytes([header[44], header[45], header[46], header[47]]);
    match header[19] > FORMAT_MAX || schema > SCHEMA_MAX {
        true => Err(DbProblem::Unknown),
        false => Ok(()),
    }
}

/// Opens the database in the way that its companions allow.
fn connect(path: &Path) -> Result<(Connection, Option<FileState>), DbProblem> {
    let bytes = |ending: &str| fs::metadata(beside(path, ending)).map_or(0, |meta| meta.len());
    if bytes(JOURNAL) > 0 {
        return Ok((copied(path, JOURNAL)?, None));
    }
    let seen = FileState::of(path);
    if bytes(WAL) == 0 {
        let db = checked(uri(path, "immutable=1"), OpenFlags::SQLITE_OPEN_READ_ONLY);
        return Ok((db.map_err(|error| DbProblem::of_sqlite(&error))?, Some(seen)));
    }
    if bytes(SHM) == 0 {
        return Ok((copied(path, WAL)?, None));
    }
    match checked(uri(path, "mode=ro&readonly_shm=1"), OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Ok(db) => Ok((db, None)),
        // The index is of no use without being rebuilt.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
            Ok((copied(path, WAL)?, None))
        }
        Err(error) => Err(DbProblem::of_sqlite(&error)),
    }
}

/// A connection through which nothing is written, and whose schema can be read.
#[expect(clippy::disallowed_methods, reason = "the only place that opens databases of others")]
fn checked(address: String, access: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = access | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(address, flags)?;
    db.busy_timeout(Duration::ZERO)?;
    db.pragma_update(None, "trusted_schema", false)?;
    if access.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        // Then SQLite needs no index of the log beside the copy.
        db.pragma_update(None, "locking_mode", "exclusive")?;
    }
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    db.pragma_update(None, "query_only", true)?;
    Ok(db)
}

/// Opens a private copy of the database and of a companion, which SQLite recovers. The files are removed at once: the
/// connection keeps them open, and nothing is left behind if this process is killed.
fn copied(path: &Path, companion: &str) -> Result<Connection, DbProblem> {
    let folder = PrivateFolder::create().map_err(|error| DbProblem::of_io(&error))?;
    let copy = folder.0.join("copy.db");
    for _ in 0..ATTEMPTS {
        let before = FileState::of(path);
        let parts =
            [(path.to_owned(), copy.clone()), (beside(path, companion), beside(&copy, companion))];
        for (from, to) in parts {
            copy_file(&from, &to)?;
        }
        if before == FileState::of(path) {
            let address = uri(&copy, "mode=rw");
            return checked(address, OpenFlags::SQLITE_OPEN_READ_WRITE)
                .map_err(|error| DbProblem::of_sqlite(&error));
        }
    }
    Err(DbProblem::Changing)
}

fn copy_file(from: &Path, to: &Path) -> Result<(), DbProblem> {
    let copy = || -> io::Result<u64> {
        let mut source = regular::open(from)?.take(limits::FOREIGN_DB_COPY_MAX + 1);
        io::copy(&mut source, &mut File::create(to)?)
    };
    match copy() {
        Ok(bytes) if bytes > limits::FOREIGN_DB_COPY_MAX => Err(DbProblem::TooLarge),
        Ok(_) => Ok(()),
        Err(error) => Err(DbProblem::of_io(&error)),
    }
}

/// A folder that only this user can enter, removed when dropped.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    fn create() -> io::Result<PrivateFolder> {
        /// How many names are tried, because a killed process with the same id may have left some.
        const NAMES: u32 = 1_000;
        let mut failed = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..NAMES {
            let name = format!("rekindle-import-{}-{number}", process::id());
            let path = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(PrivateFolder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => failed = error,
                Err(error) => return Err(error),
            }
        }
        Err(failed)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The path of a file that SQLite keeps beside a database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The address of a file for SQLite, which reads `%`, `?` and `#` in it.
fn uri(path: &Path, parameters: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped = bytes.map(|&byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file:{}?{parameters}", escaped.collect::<String>())
}

#[cfg(test)]
mod tests;
