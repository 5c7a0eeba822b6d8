//! JSON Lines files, and the members of a line. Errors name the file and the line.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use model::{Code, OpError, limits, time};
use serde_json::{Map, Value};

/// The expected lines of each file, for error messages.
const EXAMPLES: [(&str, &str); 2] = [
    ("docs", r#"{"id":"d1","text":"We chose SQLite because it is one file."}"#),
    ("questions", r#"{"id":"q1","text":"Which database did we choose?","gold":["d1"]}"#),
];

/// A file of lines.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// The argument that named it.
    param: &'static str,
    /// Its name in errors.
    name: String,
    path: PathBuf,
}

impl InputFile {
    /// A file that the user named. Input that can be read only once, such as a pipe, is copied to `copy`.
    pub(crate) fn given(
        param: &'static str,
        path: &Path,
        copy: &Path,
    ) -> Result<InputFile, OpError> {
        let source = InputFile { param, name: path.display().to_string(), path: path.to_owned() };
        let meta = std::fs::metadata(path).map_err(|error| source.unreadable(&error))?;
        if meta.is_file() {
            return Ok(source);
        }
        let copied = regular::open_file_or_pipe(path)
            .and_then(|mut from| io::copy(&mut from, &mut File::create(copy)?))
            .map_err(|error| source.unreadable(&error));
        copied.map(|_| InputFile { path: copy.to_owned(), ..source })
    }

    /// A file that was generated from another.
    pub(crate) fn made(what: &'static str, of: &Path, path: PathBuf) -> InputFile {
        InputFile { param: "docs", name: format!("the {what} of {}", of.display()), path }
    }

    pub(crate) fn lines(&self) -> Result<InputLines<'_>, OpError> {
        let file = regular::open(&self.path).map_err(|error| self.unreadable(&error))?;
        let bytes = file.metadata().map_or(0, |meta| meta.len());
        let reader = BufReader::with_capacity(1 << 16, file);
        Ok(InputLines { source: self, reader, at: 0, number: 0, bytes })
    }

    /// An error about the file as a whole.
    pub(crate) fn wrong(&self, what: &str) -> OpError {
        let error = OpError::invalid(self.param, format!("{} {what}", self.name));
        self.with_example(error)
    }

    fn wrong_at(&self, line: usize, what: &str) -> OpError {
        let message = format!("{} line {line}: {what}", self.name);
        let error = OpError::invalid(self.param, message);
        self.with_example(error.with("file", self.name.as_str()).with("line", line))
    }

    fn with_example(&self, error: OpError) -> OpError {
        match EXAMPLES.iter().find(|(param, _)| *param == self.param) {
            Some((_, example)) => {
                error.hint(format!("One JSON object per line, such as {example}"))
            }
            None => error,
        }
    }

    fn unreadable(&self, error: &io::Error) -> OpError {
        unreadable(self.param, &self.name, error)
    }
}

/// A file that cannot be read.
pub(crate) fn unreadable(param: &str, name: &str, error: &io::Error) -> OpError {
    let code = match error.kind() {
        io::ErrorKind::NotFound => Code::NotFound,
        _ => Code::Invalid,
    };
    OpError::new(code, format!("cannot read {name}: {error}"))
        .with("param", param)
        .hint("Give the path of a file that you may read; `rekindle eval --help` shows its format.")
}

/// The lines of a file in order, without empty ones.
pub(crate) struct InputLines<'s> {
    source: &'s InputFile,
    reader: BufReader<File>,
    at: u64,
    number: usize,
    /// Bytes of the whole file.
    pub(crate) bytes: u64,
}

impl<'s> InputLines<'s> {
    /// Bytes that were read.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    pub(crate) fn next(&mut self) -> Result<Option<InputLine<'s>>, OpError> {
        let mut bytes = Vec::new();
        loop {
            let begin = self.at;
            bytes.clear();
            self.number += 1;
            if self.read(&mut bytes)? == 0 {
                return Ok(None);
            }
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| begin == 0);
            let text = text.unwrap_or(&bytes).trim_ascii();
            if !text.is_empty() {
                return InputLine::new(self.source, self.number, begin, text).map(Some);
            }
        }
    }

    /// Reads the line at this offset again.
    pub(crate) fn line_at(&mut self, begin: u64, number: usize) -> Result<InputLine<'s>, OpError> {
        let fail = |error: io::Error| self.source.unreadable(&error);
        if begin != self.at {
            self.reader.seek(SeekFrom::Start(begin)).map_err(fail)?;
        }
        (self.at, self.number) = (begin, number);
        let mut bytes = Vec::new();
        self.read(&mut bytes)?;
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii();
        InputLine::new(self.source, number, begin, text)
    }

    fn read(&mut self, bytes: &mut Vec<u8>) -> Result<usize, OpError> {
        let max = limits::LINE_BYTES_MAX;
        let mut bounded = (&mut self.reader).take(max as u64 + 1);
        let read =
            bounded.read_until(b'\n', bytes).map_err(|error| self.source.unreadable(&error))?;
        if read > max {
            let what = format!("it is over {}", text::size(max as u64));
            return Err(self.source.wrong_at(self.number, &what).with("max", max));
        }
        self.at += read as u64;
        Ok(read)
    }
}

/// One line and its members. A member that is `null` counts as missing.
pub(crate) struct InputLine<'s> {
    source: &'s InputFile,
    pub(crate) number: usize,
    /// Its offset in bytes.
    pub(crate) begin: u64,
    members: Map<String, Value>,
}

impl<'s> InputLine<'s> {
    fn new(source: &'s InputFile, number: usize, begin: u64, text: &[u8]) -> Result<Self, OpError> {
        let value = serde_json::from_slice(text).map_err(|error| {
            let what = format!("not JSON, at column {}", error.column());
            source.wrong_at(number, &what)
        })?;
        let Value::Object(members) = value else {
            return Err(source.wrong_at(number, "not a JSON object"));
        };
        Ok(InputLine { source, number, begin, members })
    }

    /// An error about this line.
    pub(crate) fn wrong(&self, what: &str) -> OpError {
        self.source.wrong_at(self.number, what)
    }

    fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    fn missing(&self, name: &str) -> OpError {
        self.wrong(&format!("`{name}` is missing"))
    }

    /// A required text.
    pub(crate) fn text(&self, name: &str) -> Result<&str, OpError> {
        let value = self.member(name).ok_or_else(|| self.missing(name))?;
        value.as_str().ok_or_else(|| self.wrong(&format!("`{name}` is not a string")))
    }

    /// A name, which may be written as a number.
    pub(crate) fn name(&self, name: &str) -> Result<Option<String>, OpError> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let read = a_name(value);
        read.map(Some).ok_or_else(|| self.wrong(&format!("`{name}` is not a string")))
    }

    /// A required id.
    pub(crate) fn id(&self) -> Result<String, OpError> {
        let id = self.name("id")?.ok_or_else(|| self.missing("id"))?;
        if id.is_empty() { Err(self.wrong("`id` is empty")) } else { Ok(id) }
    }

    /// A list of distinct names.
    pub(crate) fn names(&self, name: &str) -> Result<Option<Vec<String>>, OpError> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let read = || -> Option<Vec<String>> { value.as_array()?.iter().map(a_name).collect() };
        let read =
            read().ok_or_else(|| self.wrong(&format!("`{name}` is not a list of strings")))?;
        let mut names: Vec<String> = Vec::with_capacity(read.len());
        for one in read {
            if !names.contains(&one) {
                names.push(one);
            }
        }
        Ok(Some(names))
    }

    /// A required list of names.
    pub(crate) fn required_names(&self, name: &str) -> Result<Vec<String>, OpError> {
        self.names(name)?.ok_or_else(|| self.missing(name))
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, OpError> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let read = value.as_f64();
        read.map(Some).ok_or_else(|| self.wrong(&format!("`{name}` is not a number")))
    }

    /// A time in RFC 3339 as milliseconds since 1970.
    pub(crate) fn time(&self, name: &str) -> Result<Option<i64>, OpError> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let read = value.as_str().and_then(time::parse_rfc3339);
        let wrong = || {
            let what = format!("`{name}` is not an RFC 3339 time such as 2026-11-15T05:18:43Z");
            self.wrong(&what)
        };
        read.map(Some).ok_or_else(wrong)
    }
}

fn a_name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}
