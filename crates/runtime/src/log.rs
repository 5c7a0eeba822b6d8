//! The daemon's log: one line per event, rotated by size, without user text.

use std::fmt::{Arguments, Write as _};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::limits;
use model::time::rfc3339;

use crate::clock;

/// The log level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

impl Level {
    pub fn parse(text: &str) -> Option<Level> {
        match text {
            "error" => Some(Level::Error),
            "warn" => Some(Level::Warn),
            "info" => Some(Level::Info),
            "debug" => Some(Level::Debug),
            _ => None,
        }
    }
}

/// A log file, or none for a one-shot command.
pub struct Log {
    level: Level,
    file: Option<Mutex<LogFile>>,
}

struct LogFile {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
    /// Buffered lines, and the number of open [`LogBatch`] guards.
    waiting: String,
    holds: usize,
}

/// While a guard exists, lines are buffered, up to a limit. A warning is written at once.
pub struct LogBatch<'l>(&'l Log);

impl Drop for LogBatch<'_> {
    fn drop(&mut self) {
        if let Some(mut file) = self.0.lock() {
            file.holds -= 1;
            file.write();
        }
    }
}

impl Log {
    /// A log that discards everything.
    pub fn none() -> Log {
        Log { level: Level::Error, file: None }
    }

    /// A log in this file. If the file cannot be written, lines are lost, but the daemon continues.
    pub fn to_file(path: &Path, level: Level) -> Log {
        let mut log = LogFile {
            path: path.to_owned(),
            file: None,
            bytes: 0,
            waiting: String::new(),
            holds: 0,
        };
        log.open();
        Log { level, file: Some(Mutex::new(log)) }
    }

    pub fn error(&self, topic: &str, message: Arguments<'_>) {
        self.line(Level::Error, topic, message);
    }

    pub fn warn(&self, topic: &str, message: Arguments<'_>) {
        self.line(Level::Warn, topic, message);
    }

    pub fn info(&self, topic: &str, message: Arguments<'_>) {
        self.line(Level::Info, topic, message);
    }

    pub fn debug(&self, topic: &str, message: Arguments<'_>) {
        self.line(Level::Debug, topic, message);
    }

    /// Buffers the following lines, so that they are written with one system call: many calls end at once, and a
    /// system call for each line takes longer than some of them.
    pub fn batch(&self) -> LogBatch<'_> {
        if let Some(mut file) = self.lock() {
            file.holds += 1;
        }
        LogBatch(self)
    }

    fn lock(&self) -> Option<MutexGuard<'_, LogFile>> {
        Some(self.file.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn keeps(&self, level: Level) -> bool {
        self.file.is_some() && level <= self.level
    }

    pub fn line(&self, level: Level, topic: &str, message: Arguments<'_>) {
        if level > self.level {
            return;
        }
        let Some(mut file) = self.lock() else { return };
        let word = match level {
            Level::Error => "ERROR",
            Level::Warn => "WARN",
            Level::Info => "INFO",
            Level::Debug => "DEBUG",
        };
        let now = rfc3339(clock::now_ms());
        // Writing to memory does not fail.
        let _ = writeln!(file.waiting, "{now} {word} {topic}: {message}");
        let alarms = level <= Level::Warn;
        if file.holds == 0 || alarms || file.waiting.len() > limits::LOG_WAITING_BYTES_MAX {
            file.write();
        }
    }
}

impl LogFile {
    fn open(&mut self) {
        if let Some(folder) = self.path.parent() {
            let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        self.file = regular::open_with(&mut options, &self.path).ok();
        self.bytes = self.file.as_ref().and_then(|f| f.metadata().ok()).map_or(0, |m| m.len());
    }

    /// Writes the buffered lines.
    fn write(&mut self) {
        let waiting = self.waiting.len() as u64;
        if self.bytes + waiting > limits::LOG_BYTES_MAX {
            self.rotate();
        }
        if let Some(file) = &mut self.file
            && file.write_all(self.waiting.as_bytes()).is_ok()
        {
            self.bytes += waiting;
        }
        self.waiting.clear();
    }

    /// `daemon.log` becomes `daemon.log.1` and so on; the oldest file is deleted.
    fn rotate(&mut self) {
        let numbered = |n: usize| self.path.with_extension(format!("log.{n}"));
        for n in (1..limits::LOG_FILES_KEPT).rev() {
            let _ = std::fs::rename(numbered(n), numbered(n + 1));
        }
        let _ = std::fs::rename(&self.path, numbered(1));
        self.open();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_rotated_by_size_and_keeps_three() {
        let folder = std::env::temp_dir().join(format!("rekindle-log-{}", std::process::id()));
        let path = folder.join("daemon.log");
        let log = Log::to_file(&path, Level::Info);
        let chunk = "x".repeat(1024 * 1024);
        for _ in 0..30 {
            log.info("test", format_args!("{chunk}"));
        }
        log.debug("test", format_args!("not kept"));
        let mut names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"]);
        assert!(std::fs::metadata(&path).unwrap().len() <= limits::LOG_BYTES_MAX);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn buffered_lines_are_written_together_but_a_warning_at_once() {
        let folder = std::env::temp_dir().join(format!("rekindle-lines-{}", std::process::id()));
        let path = folder.join("daemon.log");
        let log = Log::to_file(&path, Level::Info);
        let written = || {
            let text = std::fs::read_to_string(&path).unwrap();
            text.lines().filter_map(|line| line.rsplit(' ').next()).collect::<String>()
        };
        let (one, two) = (log.batch(), log.batch());
        log.info("test", format_args!("a"));
        assert_eq!(written(), "");
        drop(one);
        assert_eq!(written(), "a", "what has ended is written though others go on");
        log.info("test", format_args!("b"));
        log.warn("test", format_args!("c"));
        assert_eq!(written(), "abc");
        log.info("test", format_args!("{}", "d".repeat(limits::LOG_WAITING_BYTES_MAX)));
        assert!(written().ends_with('d'), "many do not wait");
        drop(two);
        log.info("test", format_args!("e"));
        assert!(written().ends_with("de"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_log_keeps_lines_up_to_its_level_with_their_word() {
        let folder = std::env::temp_dir().join(format!("rekindle-levels-{}", std::process::id()));
        let all = ["error", "warn", "info", "debug"];
        let levels = all.map(|word| Level::parse(word).unwrap());
        assert!(levels.is_sorted());
        assert_eq!(Level::parse("loud"), None);
        for (number, level) in levels.into_iter().enumerate() {
            let path = folder.join(all[number]).join("daemon.log");
            let log = Log::to_file(&path, level);
            log.error("t", format_args!("e"));
            log.warn("t", format_args!("w"));
            log.info("t", format_args!("i"));
            log.debug("t", format_args!("d"));
            let text = std::fs::read_to_string(&path).unwrap();
            let kept: Vec<&str> =
                text.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
            let expected = ["ERROR t: e", "WARN t: w", "INFO t: i", "DEBUG t: d"];
            assert_eq!(kept, expected[..=number]);
            assert!(levels.iter().all(|other| log.keeps(*other) == (*other <= level)));
            assert!(!Log::none().keeps(level), "there is no file");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_log_goes_on_in_the_file_that_is_there_and_counts_its_bytes() {
        let folder = std::env::temp_dir().join(format!("rekindle-goes-on-{}", std::process::id()));
        let path = folder.join("daemon.log");
        std::fs::create_dir_all(&folder).unwrap();
        let before = "x".repeat(usize::try_from(limits::LOG_BYTES_MAX).unwrap() - 100);
        std::fs::write(&path, &before).unwrap();
        let log = Log::to_file(&path, Level::Info);
        log.info("t", format_args!("short"));
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("short\n"));
        assert!(!folder.join("daemon.log.1").exists());
        log.info("t", format_args!("{}", "y".repeat(100)));
        assert!(folder.join("daemon.log.1").exists(), "the file was full");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
