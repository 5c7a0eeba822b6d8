//! The only place that opens SQLite: recognises our files, refuses others, and configures connections.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::database::{APPLICATION_ID, FileHead, HEADER_BYTES};
use model::limits;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::aggregate::Registry;
use crate::companions;
use crate::deadline;
use crate::error::StoreError;
use crate::files;
use crate::index_state::MERGE;
use crate::known::KnownFiles;
use crate::leftovers::is_repair_unfinished;
use crate::lost_id;
use crate::recover;

/// Increased with each change of the schema that an older build cannot handle.
pub(crate) const SCHEMA_VERSION: i32 = 1;

/// Prepared statements that a connection caches: more than are in frequent use. Preparing a statement costs more than
/// running it.
const STATEMENTS_KEPT: usize = 160;
/// Kibibytes of pages that the writer keeps in memory, as far as they are used.
const WRITER_CACHE_KIB: i32 = 16 * 1024;
/// Kibibytes of pages that a reader keeps in memory, as far as they are used. A search reads some sixty records and the
/// posting lists of its words; with SQLite's default most of these pages are read again each time.
const READER_CACHE_KIB: i32 = 8 * 1024;
/// Kibibytes for a reader that is opened while another one is in use. Such a reader is used rarely, and a large cache
/// for each would add 24 MB to the daemon after a burst of calls.
const FURTHER_READER_CACHE_KIB: i32 = 2 * 1024;
/// Steps of SQLite's virtual machine between two checks of the [`deadline`]. The number is small
/// because a full-text query reads much in few steps.
const STEPS_PER_LOOK: i32 = 64;

/// How the writer's connection is set up.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) registry: Arc<Registry>,
    pub(crate) one_shot: bool,
    /// Read-only: this process writes nothing.
    pub(crate) to_read: bool,
    pub(crate) page_count_max: Option<u32>,
    pub(crate) busy: Duration,
}

/// Refuses a path unless a database of ours, an empty file or no file is there. Reads the file only; creates and
/// changes nothing. `records` are the directories of [`crate::Options::records`].
pub fn check_file(path: &Path, records: &[PathBuf]) -> Result<(), StoreError> {
    if !is_missing(path) {
        return refuse_foreign(path, &KnownFiles::in_dirs(records));
    }
    // The next opening finishes an interrupted repair, and moves the WAL to the damaged database.
    if is_repair_unfinished(path) { Ok(()) } else { companions::check(path, true) }
}

/// The entries for the database at this path in these record directories.
pub fn record_entries(path: &Path, records: &[PathBuf]) -> Vec<PathBuf> {
    KnownFiles::in_dirs(records).entries(path)
}

/// Scratch files of interrupted operations beside the database and among its backups.
pub fn leftovers(path: &Path, backups: &Path) -> Vec<PathBuf> {
    crate::leftovers::find(path, backups)
}

fn is_missing(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Refuses a file by its content and by the files beside it, without SQLite, which would create files there. If the
/// file was opened before and still has pages of a database, a damaged header is left to SQLite: the WAL may contain
/// a good one.
pub(crate) fn refuse_foreign(path: &Path, known: &KnownFiles) -> Result<(), StoreError> {
    companions::check(path, files::bytes(path) == 0)?;
    refuse_foreign_head(path, known)
}

/// Refuses a file by its content, whatever is beside it.
pub(crate) fn refuse_foreign_head(path: &Path, known: &KnownFiles) -> Result<(), StoreError> {
    match head(path)? {
        FileHead::Empty => Ok(()),
        FileHead::Database { application_id, .. }
            if application_id != APPLICATION_ID && lost_id::is_ours(path, known) =>
        {
            Err(StoreError::LostId { path: path.display().to_string() })
        }
        FileHead::Database { application_id, schema_version } => {
            refuse(path, application_id, schema_version)
        }
        FileHead::Other if is_known_database(path, known) => Ok(()),
        FileHead::Other => Err(refused(path, "is not an SQLite database")),
    }
}

/// Whether a file without a sound header is a database that was opened before. Its inode alone does not say so:
/// another program may have written over it in place, and a deleted file's inode is used again.
fn is_known_database(path: &Path, known: &KnownFiles) -> bool {
    known.holds(path) && recover::has_pages(path)
}

/// Whether a damaged file may be moved aside and salvaged: its header is ours, or it was opened before and still
/// has pages of a database.
pub(crate) fn may_salvage(path: &Path, known: &KnownFiles) -> bool {
    match head(path) {
        Ok(FileHead::Database { application_id, .. }) => application_id == APPLICATION_ID,
        Ok(FileHead::Other) => is_known_database(path, known),
        Ok(FileHead::Empty) | Err(_) => false,
    }
}

fn head(path: &Path) -> Result<FileHead, StoreError> {
    let bytes = regular::read(path, HEADER_BYTES as u64).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if !is_missing(path) => {
            refused(path, "is a symbolic link that leads nowhere")
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => {
            refused(path, &format!("is not a database: {error}"))
        }
        // A read error says nothing about the content.
        _ => StoreError::Io(format!("{}: {error}", path.display())),
    })?;
    Ok(FileHead::of(&bytes))
}

fn refused(path: &Path, why: &str) -> StoreError {
    StoreError::Refused { path: path.display().to_string(), why: why.to_owned() }
}

fn refuse(path: &Path, application_id: i32, schema_version: i32) -> Result<(), StoreError> {
    if application_id != APPLICATION_ID {
        return Err(refused(path, "is a database of another application"));
    }
    if schema_version > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema { found: schema_version, ours: SCHEMA_VERSION });
    }
    Ok(())
}

/// Opens an existing file with the settings that every connection has. Closing the connection neither checkpoints nor
/// deletes the WAL: by then, the file with that name may belong to another database.
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub(crate) fn connect(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| StoreError::of_any(&e))?;
    let set_up = || {
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // The schema has no triggers. A trigger that another program added could copy purged texts elsewhere.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        // Otherwise SQLite recompiles statements that might use a partial index for every bound value.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        db.busy_timeout(busy)?;
        db.pragma_update(None, "temp_store", "MEMORY")
    };
    set_up().map_err(|e| StoreError::of_any(&e))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    Ok(db)
}

/// Opens a copy that no process uses, for reading: SQLite creates no lock, WAL or `-shm` file
/// beside it.
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub(crate) fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped = bytes.map(|&byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    let uri = format!("file:{}?immutable=1", escaped.collect::<String>());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(uri, flags)
}

/// Refuses a foreign database whose newest header is still in the WAL.
pub(crate) fn refuse_foreign_content(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let number = |pragma: &str| {
        db.pragma_query_value(None, pragma, |row| row.get(0)).map_err(|e| StoreError::of_any(&e))
    };
    refuse(path, number("application_id")?, number("user_version")?)
}

/// Opens the existing database as it is, without changes to its schema; the connection refuses
/// writes.
fn open_to_read(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    let db = connect(path, busy)?;
    refuse_foreign_content(&db, path)?;
    db.pragma_update(None, "query_only", true).map_err(|e| StoreError::of_any(&e))?;
    Ok(db)
}

/// Creates the file for a new database, or checks the existing one.
pub(crate) fn prepare_file(path: &Path, known: &KnownFiles) -> Result<(), StoreError> {
    files::make_folder(files::folder(path))?;
    if is_missing(path) {
        companions::check(path, true)?;
    }
    match files::create_private(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refuse_foreign(path, known)?,
        Err(error) => return Err(error.into()),
    }
    files::unlock_sidecars(path);
    Ok(())
}

/// Opens the prepared file for the writer. Also returns whether the database is new.
pub(crate) fn open_writer(path: &Path, setup: &Setup) -> Result<(Connection, bool), StoreError> {
    if setup.to_read {
        return Ok((open_to_read(path, setup.busy)?, false));
    }
    let db = connect(path, setup.busy)?;
    let pages: i64 = db
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .map_err(|e| StoreError::of_any(&e))?;
    let new = pages == 0;
    if new {
        create(&db, &setup.registry).map_err(|e| StoreError::of_any(&e))?;
    } else {
        refuse_foreign_content(&db, path)?;
    }
    files::make_private(path);
    set_up_writer(&db, setup, new).map_err(|e| StoreError::of_any(&e))?;
    Ok((db, new))
}

fn set_up_writer(db: &Connection, setup: &Setup, new: bool) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "foreign_keys", true)?;
    // A negative value is in kibibytes. Inserted ids and hashes are spread over their indices: with SQLite's small
    // default cache, most inserts into a large store would first have to read pages.
    db.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    let checkpoint_at = if setup.one_shot { 0 } else { limits::WAL_PAGES_MAX };
    db.pragma_update(None, "wal_autocheckpoint", checkpoint_at)?;
    db.pragma_update(None, "journal_size_limit", limits::WAL_BYTES_IN_USE)?;
    if let Some(pages) = setup.page_count_max {
        db.pragma_update(None, "max_page_count", pages)?;
    }
    if !new {
        // Until the first release the schema grows in place: this adds the missing tables and indexes.
        db.execute_batch(setup.registry.schema())?;
        renew_view(db, &setup.registry);
    }
    Ok(())
}

/// Replaces the view of all records if the registry has other kinds than the database. If another process holds the
/// lock for writing, the next opening does it.
fn renew_view(db: &Connection, registry: &Registry) {
    const STORED: &str = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = 'documents'";
    let stored: Option<String> = db.query_row(STORED, [], |row| row.get(0)).ok();
    let create = registry.documents();
    if stored.as_deref() != Some(create) {
        let renew = format!("BEGIN IMMEDIATE; DROP VIEW IF EXISTS documents; {create}; COMMIT");
        if db.execute_batch(&renew).is_err() && !db.is_autocommit() {
            let _ = db.execute_batch("ROLLBACK");
        }
    }
}

/// Creates the schema in an empty database. The database is not yet in WAL mode, so the file itself has our application
/// id from the first moment. The transaction does not wait for the disk: after a crash, an empty database is simply
/// created again.
pub(crate) fn create(db: &Connection, registry: &Registry) -> rusqlite::Result<()> {
    let schema = registry.schema();
    db.pragma_update(None, "synchronous", "OFF")?;
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; \
         PRAGMA user_version = {SCHEMA_VERSION}; {schema} {MERGE} COMMIT;"
    ))
}

/// Opens the database once more for reading.
pub(crate) fn open_reader(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    open_caching_reader(path, busy, false)
}

/// Opens the database for reading, with a large cache if this is the pool's first reader.
pub(crate) fn open_caching_reader(
    path: &Path,
    busy: Duration,
    is_first: bool,
) -> Result<Connection, StoreError> {
    let kib = if is_first { READER_CACHE_KIB } else { FURTHER_READER_CACHE_KIB };
    let mut db = connect(path, busy)?;
    db.pragma_update(None, "query_only", true)
        .and_then(|()| db.pragma_update(None, "cache_size", -kib))
        .and_then(|()| db.progress_handler(STEPS_PER_LOOK, Some(deadline::look)))
        .map_err(|e| StoreError::of_any(&e))?;
    Ok(db)
}

/// Checkpoints and truncates the WAL; `Busy` if another connection's snapshot prevents it.
pub(crate) fn checkpoint(db: &Connection) -> Result<(), StoreError> {
    let busy: i64 = db
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .map_err(|e| StoreError::of_any(&e))?;
    if busy == 0 { Ok(()) } else { Err(StoreError::Busy) }
}

/// The length of a WAL.
pub(crate) struct WalLength {
    pub(crate) pages: u32,
    /// Pages that are checkpointed already.
    pub(crate) moved: u32,
}

/// Reads the length of the WAL without a checkpoint.
pub(crate) fn log(db: &Connection) -> rusqlite::Result<WalLength> {
    let mut look = db.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
    // SQLite reports -1 for a database without a WAL.
    let number = |pages: i64| u32::try_from(pages).unwrap_or_default();
    look.query_row([], |row| {
        Ok(WalLength { pages: number(row.get(1)?), moved: number(row.get(2)?) })
    })
}

/// Checkpoints the part of the WAL that no snapshot needs, without waiting for readers or writers.
pub(crate) fn move_log(db: &Connection) -> rusqlite::Result<()> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Checkpoints and truncates the WAL unless a reader needs it at this moment. Returns whether the WAL is empty now.
pub(crate) fn shorten_log(db: &Connection, busy: Duration) -> rusqlite::Result<bool> {
    db.busy_timeout(Duration::ZERO)?;
    let was_busy = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    db.busy_timeout(busy)?;
    Ok(was_busy? == 0)
}

/// Makes SQLite delete the `-wal` and `-shm` files when this connection closes, as it does by default.
pub(crate) fn tidy_on_close(db: &Connection) {
    // If this fails the files stay, and the next opening uses them.
    let _ = db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
}

/// Overwrites the damaged header of `copy` with that of `sound`, a new database, so that SQLite
/// reads the pages behind it. Neither file may be open.
pub(crate) fn replace_header(copy: &Path, sound: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let mut header = [0; HEADER_BYTES];
    File::open(sound)?.read_exact(&mut header)?;
    // Size in pages and the list of free pages: zero means "see the file" and "none".
    header[28..40].fill(0);
    std::fs::OpenOptions::new().write(true).open(copy)?.write_all_at(&header, 0)
}
