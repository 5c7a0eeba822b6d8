//! The daemon's log: one line per happening, rotated by size, never with user text.

use std::fmt::Arguments;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use model::limits;
use model::time::rfc3339;

use crate::clock;

/// How much is written.
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

/// A log file, or nothing at all for a one-shot command.
pub struct Log {
    level: Level,
    file: Option<Mutex<LogFile>>,
}

struct LogFile {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
}

impl Log {
    /// A log that keeps nothing.
    pub fn none() -> Log {
        Log { level: Level::Error, file: None }
    }

    /// A log in this file. A file that cannot be written loses its lines, never the daemon.
    pub fn to_file(path: &Path, level: Level) -> Log {
        let mut log = LogFile { path: path.to_owned(), file: None, bytes: 0 };
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

    pub fn keeps(&self, level: Level) -> bool {
        self.file.is_some() && level <= self.level
    }

    pub fn line(&self, level: Level, topic: &str, message: Arguments<'_>) {
        let Some(file) = self.file.as_ref().filter(|_| level <= self.level) else { return };
        let word = match level {
            Level::Error => "ERROR",
            Level::Warn => "WARN",
            Level::Info => "INFO",
            Level::Debug => "DEBUG",
        };
        let line = format!("{} {word} {topic}: {message}\n", rfc3339(clock::now_ms()));
        file.lock().unwrap_or_else(PoisonError::into_inner).append(&line);
    }
}

impl LogFile {
    fn open(&mut self) {
        if let Some(folder) = self.path.parent() {
            let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        }
        self.file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path).ok();
        self.bytes = self.file.as_ref().and_then(|f| f.metadata().ok()).map_or(0, |m| m.len());
    }

    fn append(&mut self, line: &str) {
        if self.bytes + line.len() as u64 > limits::LOG_BYTES_MAX {
            self.rotate();
        }
        let Some(file) = &mut self.file else { return };
        if file.write_all(line.as_bytes()).is_ok() {
            self.bytes += line.len() as u64;
        }
    }

    /// `daemon.log` becomes `daemon.log.1` and so on; the oldest goes.
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
}
