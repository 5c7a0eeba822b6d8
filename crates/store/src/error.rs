//! Errors of the database as a whole, and how SQLite's errors map to them.

use model::OpError;
use rusqlite::ErrorCode;
use rusqlite::ffi;

/// Why the database cannot be used. Only [`StoreError::Corrupt`] is damage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the database has schema version {found}, this build knows {ours}")]
    NewerSchema { found: i32, ours: i32 },
    /// The file at the path is not a database of ours.
    #[error("{path} {why}")]
    Refused { path: String, why: String },
    /// The file has our tables and was opened before, but its header has another application id.
    #[error("{path} is a database of rekindle whose header lost the application id")]
    LostId { path: String },
    /// A file beside the database has a name that we need, and is not ours.
    #[error("{path} {why}")]
    Occupied { path: String, why: String },
    /// The file was opened under another name (a hard link).
    #[error("{path} is another name of the database {known}")]
    OtherName { path: String, known: String },
    #[error("the database is locked by another process")]
    Busy,
    #[error("the database is read-only")]
    ReadOnly,
    #[error("the disk or the quota is full")]
    Full,
    #[error("the database cannot be read or written: {0}")]
    Io(String),
    #[error("the database is damaged: {0}")]
    Corrupt(String),
}

impl From<StoreError> for OpError {
    fn from(error: StoreError) -> OpError {
        let hint = match &error {
            StoreError::NewerSchema { .. } => "Use the newer rekindle that wrote it.",
            StoreError::Refused { .. } => {
                "Nothing was changed: only a new or empty file and a database of rekindle are opened. Name another one with --db, NMEM_DB or REKINDLE_HOME; if this was your database, move it away and `rekindle restore` a backup."
            }
            StoreError::LostId { .. } => {
                "Nothing was changed. If this is your database, `rekindle doctor --fix` copies it and writes the id again."
            }
            StoreError::Occupied { .. } => {
                "Nothing was changed. The database needs this name for a file of its own: move the file away, or name another database with --db, NMEM_DB or REKINDLE_HOME."
            }
            StoreError::OtherName { .. } => {
                "Use that name, or make a symbolic link to it: SQLite keeps the log of recent writes beside one name, and they would be missed under another."
            }
            StoreError::Busy => "Close the program that holds the lock, then try again.",
            StoreError::ReadOnly => "Make the file and its folder writable for you.",
            StoreError::Full => {
                "Free some space, or raise store.max_pages if it is set, then try again."
            }
            StoreError::Io(_) => "Check the disk and the permissions; `rekindle doctor` says more.",
            StoreError::Corrupt(_) => {
                "The next process that writes to it sets it aside and recovers the readable records; `rekindle doctor --fix` does so now."
            }
        };
        OpError::unavailable(error.to_string()).hint(hint)
    }
}

impl StoreError {
    /// Maps an error of SQLite to a fault of the database; `None` for a defect in our own statement.
    pub(crate) fn of(error: &rusqlite::Error) -> Option<StoreError> {
        let rusqlite::Error::SqliteFailure(failure, text) = error else { return None };
        let text = || text.clone().unwrap_or_else(|| failure.to_string());
        match failure.code {
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed => Some(StoreError::Busy),
            ErrorCode::ReadOnly => Some(StoreError::ReadOnly),
            ErrorCode::DiskFull => Some(StoreError::Full),
            // A virtual table's own trouble leaves the rest of the database sound.
            ErrorCode::DatabaseCorrupt if failure.extended_code == ffi::SQLITE_CORRUPT_VTAB => None,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                Some(StoreError::Corrupt(text()))
            }
            ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::OutOfMemory
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::OperationInterrupted => Some(StoreError::Io(text())),
            // The header has a format number that no version of SQLite writes.
            ErrorCode::Unknown if text() == "unsupported file format" => {
                Some(StoreError::Corrupt(text()))
            }
            _ => None,
        }
    }

    /// Maps any error of SQLite to a fault of the database. For calls in which a defect of our own statement cannot be
    /// the cause.
    pub(crate) fn of_any(error: &rusqlite::Error) -> StoreError {
        StoreError::of(error).unwrap_or_else(|| StoreError::Io(error.to_string()))
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::Full,
            std::io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
            _ => StoreError::Io(error.to_string()),
        }
    }
}

/// Whether SQLite rejected an update because another cell of the row is damaged. Values that our own statements
/// bind always fit the schema.
pub(crate) fn is_damaged_row(error: &rusqlite::Error) -> bool {
    const REFUSED: [i32; 3] = [
        ffi::SQLITE_CONSTRAINT_DATATYPE,
        ffi::SQLITE_CONSTRAINT_NOTNULL,
        ffi::SQLITE_CONSTRAINT_CHECK,
    ];
    error.sqlite_error().is_some_and(|error| REFUSED.contains(&error.extended_code))
}
