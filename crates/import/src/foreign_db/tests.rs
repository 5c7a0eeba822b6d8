//! Databases of other programs in each state in which an import may find them.

#![expect(clippy::disallowed_methods, reason = "the tests play the other program")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A folder with the database of another program.
struct OtherProgram {
    folder: PathBuf,
    file: PathBuf,
}

impl OtherProgram {
    /// An odd name, because SQLite reads signs of it in an address.
    fn new(journal_mode: &str) -> (OtherProgram, Connection) {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("foreign-db-{}-{number}", process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("50% of? #1.db");
        let db = Connection::open(&file).unwrap();
        db.pragma_update(None, "journal_mode", journal_mode).unwrap();
        db.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        db.pragma_update(None, "synchronous", "off").unwrap();
        db.execute_batch("CREATE TABLE notes (words TEXT); INSERT INTO notes VALUES ('zebra')")
            .unwrap();
        (OtherProgram { folder, file }, db)
    }

    /// The names, bytes and times of all files in the folder.
    fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        let state = |path: PathBuf| {
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            (path.clone(), (fs::read(&path).unwrap(), modified))
        };
        fs::read_dir(&self.folder).unwrap().map(|entry| state(entry.unwrap().path())).collect()
    }

    /// Reads the database, and checks that nothing of the other program changes.
    fn words(&self) -> Result<Vec<String>, DbProblem> {
        let before = self.files();
        let words = ForeignDb::open(&self.file).and_then(|mut db| db.read(&mut |db| words(db)));
        assert!(before == self.files(), "{:?}", self.files().keys());
        words
    }

    /// Reads the database in another process. Within one process SQLite shares the index of the log among connections, so that the
    /// test could not tell whether the reader alone would write to it.
    fn words_in_another_process(&self) -> Vec<String> {
        let before = self.files();
        let test = "foreign_db::tests::this_process_may_read_for_another_test";
        let output = process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(DB_TO_READ, &self.file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(before == self.files(), "{:?}", self.files().keys());
        let said = String::from_utf8(output.stdout).unwrap();
        said.lines().filter_map(|line| line.strip_prefix("read: ")).map(str::to_owned).collect()
    }
}

impl Drop for OtherProgram {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn words(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let word = |row: &Row<'_>| Ok(text(row, 0).unwrap());
    db.prepare("SELECT words FROM notes ORDER BY rowid")?.query_map([], word)?.collect()
}

/// Names the database that the process of a test is to read.
const DB_TO_READ: &str = "FOREIGN_DB_TO_READ";

#[test]
fn this_process_may_read_for_another_test() {
    let Some(file) = std::env::var_os(DB_TO_READ) else { return };
    let mut db = ForeignDb::open(Path::new(&file)).unwrap();
    for word in db.read(&mut |db| words(db)).unwrap() {
        println!("\nread: {word}");
    }
}

#[test]
fn a_closed_database_is_read_without_a_trace() {
    for mode in ["delete", "wal"] {
        let (other, db) = OtherProgram::new(mode);
        drop(db);
        assert_eq!(other.words().unwrap(), ["zebra"]);
        assert_eq!(other.files().len(), 1);
    }
}

#[test]
fn rows_that_are_only_in_the_log_of_a_running_program_are_read() {
    let (other, db) = OtherProgram::new("wal");
    assert_eq!(other.files().len(), 3);
    assert_eq!(other.words_in_another_process(), ["zebra"]);
    // An open transaction of the other program is not waited for.
    db.execute_batch("BEGIN IMMEDIATE; INSERT INTO notes VALUES ('gnu')").unwrap();
    assert_eq!(other.words_in_another_process(), ["zebra"]);
    db.execute_batch("COMMIT").unwrap();
    assert_eq!(other.words_in_another_process(), ["zebra", "gnu"]);
}

#[test]
fn a_left_over_log_is_read_with_and_without_its_index() {
    let (running, db) = OtherProgram::new("wal");
    let (other, gone) = OtherProgram::new("wal");
    drop(gone);
    for ending in ["", WAL, SHM] {
        fs::copy(beside(&running.file, ending), beside(&other.file, ending)).unwrap();
    }
    assert_eq!(other.words().unwrap(), ["zebra"]);
    fs::remove_file(beside(&other.file, SHM)).unwrap();
    assert_eq!(other.words().unwrap(), ["zebra"]);
    drop(db);
}

#[test]
fn a_half_written_transaction_of_a_killed_program_is_not_read() {
    let (running, db) = OtherProgram::new("persist");
    db.execute_batch("PRAGMA cache_size = 2; BEGIN IMMEDIATE").unwrap();
    for _ in 0..500 {
        db.execute("INSERT INTO notes VALUES (?1)", ["gnu ".repeat(100)]).unwrap();
    }
    let (other, gone) = OtherProgram::new("delete");
    drop(gone);
    for ending in ["", JOURNAL] {
        fs::copy(beside(&running.file, ending), beside(&other.file, ending)).unwrap();
    }
    assert_eq!(other.words().unwrap(), ["zebra"]);
}

#[test]
fn queries_run_again_if_the_database_changed_meanwhile() {
    let (other, db) = OtherProgram::new("delete");
    let mut foreign = ForeignDb::open(&other.file).unwrap();
    let mut runs = 0;
    let found = foreign.read(&mut |own| {
        runs += 1;
        if runs == 1 {
            // Larger than a page, so that the size of the file shows it.
            db.execute("INSERT INTO notes VALUES (?1)", ["g".repeat(9_000)]).unwrap();
        }
        words(own)
    });
    assert_eq!((found.unwrap().len(), runs), (2, 2));
    let mut rows = 0;
    let never = foreign.read(&mut |own| {
        rows += 1;
        db.execute("INSERT INTO notes VALUES (?1)", ["g".repeat(9_000)]).unwrap();
        words(own)
    });
    assert_eq!((never.unwrap_err(), rows), (DbProblem::Changing, ATTEMPTS));
}

#[test]
fn a_lock_of_another_program_is_not_waited_for() {
    for mode in ["delete", "truncate", "wal"] {
        let (other, db) = OtherProgram::new(mode);
        db.execute_batch("BEGIN EXCLUSIVE").unwrap();
        assert_eq!(other.words_in_another_process(), ["zebra"], "{mode}");
        db.execute_batch("INSERT INTO notes VALUES ('gnu')").unwrap();
        assert_eq!(other.words_in_another_process(), ["zebra"], "{mode}");
    }
    let locked = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
    let locked = DbProblem::of_sqlite(&rusqlite::Error::SqliteFailure(locked, None));
    assert_eq!(locked, DbProblem::Locked);
}

#[test]
fn encrypted_newer_and_damaged_databases_have_different_problems() {
    let (other, db) = OtherProgram::new("delete");
    for number in 0..500 {
        db.execute("INSERT INTO notes VALUES (?1)", [format!("{number} zebras").repeat(9)])
            .unwrap();
    }
    drop(db);
    let sound = fs::read(&other.file).unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sound.clone();
        change(&mut bytes);
        fs::write(&other.file, bytes).unwrap();
        other.words().map(|words| words.len())
    };
    assert_eq!(with(&|_| {}), Ok(501));
    assert_eq!(with(&|bytes| bytes[..16].copy_from_slice(&[7; 16])), Err(DbProblem::NoDatabase));
    assert_eq!(with(&|bytes| bytes.truncate(50)), Err(DbProblem::NoDatabase));
    assert_eq!(with(&|bytes| bytes.clear()), Err(DbProblem::NoDatabase));
    assert_eq!(with(&|bytes| bytes[19] = 9), Err(DbProblem::Unknown));
    assert_eq!(with(&|bytes| bytes[47] = 9), Err(DbProblem::Unknown));
    assert_eq!(with(&|bytes| bytes[4_096..].fill(0xff)), Err(DbProblem::Damaged));
    assert_eq!(with(&|bytes| bytes.truncate(5_000)), Err(DbProblem::Damaged));
}

#[test]
fn tables_of_another_version_and_paths_that_are_no_file_are_named() {
    let (other, db) = OtherProgram::new("delete");
    let mut foreign = ForeignDb::open(&other.file).unwrap();
    let asked = foreign.read(&mut |db| db.prepare("SELECT colour FROM notes").map(drop));
    assert_eq!(asked.unwrap_err(), DbProblem::Unknown);
    assert_eq!(foreign.columns("notes").unwrap(), ["words"]);
    assert_eq!(foreign.columns("letters").unwrap(), [""; 0]);
    drop(db);
    let folder = ForeignDb::open(&other.folder).err().unwrap();
    assert_eq!(folder.to_string(), "it is a directory, not a regular file");
    let missing = ForeignDb::open(&other.folder.join("none.db")).err().unwrap();
    assert!(matches!(missing, DbProblem::Unreadable(_)), "{missing}");
}
