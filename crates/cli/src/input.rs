//! Input that a command line refers to: stdin, and a file that contains a document.

use std::io::{ErrorKind, Read};
use std::path::Path;

use model::{OpError, limits};
use serde_json::Value;

use crate::param::read_json;

/// Stdin, which one argument may refer to.
pub(crate) struct Stdin<'s> {
    source: &'s mut dyn Read,
    used: bool,
}

impl<'s> Stdin<'s> {
    pub(crate) fn new(source: &'s mut dyn Read) -> Stdin<'s> {
        Stdin { source, used: false }
    }

    /// All of stdin, as text.
    pub(crate) fn text(&mut self) -> Result<String, OpError> {
        if std::mem::replace(&mut self.used, true) {
            return Err(OpError::invalid("", "two arguments are '-', and stdin can be read once")
                .hint("Give one of them as a value on the command line."));
        }
        let mut text = text("stdin", &mut self.source)?;
        // Echo and editors end a text with a newline that is not part of it.
        if text.ends_with('\n') {
            text.truncate(text.len() - if text.ends_with("\r\n") { 2 } else { 1 });
        }
        Ok(text)
    }
}

/// The JSON object that an argument refers to: the name of a file, `-` for stdin, or the object itself. The output of
/// `--json` wraps it in a member of its name, which is removed.
pub(crate) fn document(name: &str, given: &str, stdin: &mut Stdin<'_>) -> Result<Value, OpError> {
    let (label, text) = match given {
        "-" => ("stdin".to_owned(), stdin.text()?),
        json if json.trim_start().starts_with('{') => ("FILE".to_owned(), json.to_owned()),
        path => (text::one_line(path, 200), file(path)?),
    };
    let json = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let value = read_json(name, &label, json)
        .map_err(|error| error.hint("Nothing was changed. Correct the JSON, then try again."))?;
    match value {
        Value::Object(mut members) if members.len() == 1 && members.contains_key(name) => {
            Ok(members.remove(name).unwrap_or_default())
        }
        Value::Object(members) => Ok(Value::Object(members)),
        _ => Err(OpError::invalid(name, format!("{label} holds no JSON object"))),
    }
}

/// The text of a file.
fn file(path: &str) -> Result<String, OpError> {
    let shown = text::one_line(path, 200);
    let trouble = |error: std::io::Error| {
        match error.kind() {
        ErrorKind::NotFound => OpError::not_found(format!("there is no file {shown}"))
            .hint("Give the path of a file, or - for stdin."),
        ErrorKind::IsADirectory => OpError::invalid("", format!("{shown} is a directory"))
            .hint("Give the path of a file, or - for stdin."),
        ErrorKind::InvalidInput => OpError::invalid("", format!("cannot read {shown}: {error}"))
            .hint("Give the path of a regular file, or pipe the output of a command: `COMMAND | rekindle … -`."),
        _ => OpError::unavailable(format!("cannot read {shown}: {error}"))
            .hint("Check that you may read the file."),
    }
    };
    let mut file = regular::open(Path::new(path)).map_err(&trouble)?;
    text(&shown, &mut file)
}

/// Reads a text up to its size limit.
fn text(label: &str, source: &mut dyn Read) -> Result<String, OpError> {
    let max = limits::BODY_BYTES_MAX;
    let mut bytes = Vec::new();
    let bounded = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    source
        .take(bounded)
        .read_to_end(&mut bytes)
        .map_err(|error| OpError::unavailable(format!("cannot read {label}: {error}")))?;
    if bytes.len() > max {
        return Err(OpError::over_size(label, max));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        OpError::invalid("", format!("{label} is not UTF-8 at byte {at}"))
            .hint("Convert it to UTF-8 first.")
    })
}
