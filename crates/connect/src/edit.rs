//! Adds our entries to the text of an agent's file, and removes them, in any format.

use std::path::Path;

use agents::wiring::{Format, Part, Wired};
use model::{Code, OpError};
use serde_json::{Value, json};

use crate::ours::Ours;
use crate::place::{broken, position};
use crate::{json as in_json, toml as in_toml};

/// Why a text cannot be edited, and at which position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

impl EditError {
    pub(crate) fn at(text: &str, byte: usize, what: String) -> EditError {
        let (line, column) = position(text, byte);
        EditError { line, column, what }
    }
}

/// An entry of ours in a text.
#[derive(Clone, Debug)]
pub(crate) struct OurEntry {
    /// The event of a hook, or the name of the server or the plugin.
    pub(crate) name: String,
    pub(crate) entry: Value,
    /// Whether it is as we write it. A hook may be narrowed, for example by a matcher.
    pub(crate) whole: bool,
}

impl OurEntry {
    pub(crate) fn whole(name: &str, entry: Value) -> OurEntry {
        OurEntry { name: name.to_owned(), entry, whole: true }
    }
}

const BOM: char = '\u{feff}';

/// The text with our entries.
pub(crate) fn wire(
    path: &Path,
    text: Option<&str>,
    file: &Wired,
    ours: &Ours<'_>,
) -> Result<String, OpError> {
    let text = text.unwrap_or_default();
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    let edited = match file.format {
        Format::Toml => in_toml::wire(bare, file.parts, ours),
        Format::Text => return whole(path, text, file, ours),
        format => in_json::wire(bare, format, file.parts, ours),
    };
    marked(path, text, edited)
}

/// The text without our entries; `None` if the whole file is ours.
pub(crate) fn unwire(
    path: &Path,
    text: &str,
    file: &Wired,
    before: Option<&str>,
) -> Result<Option<String>, OpError> {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    let before = before.map(|before| before.strip_prefix(BOM).unwrap_or(before));
    let edited = match file.format {
        Format::Toml => in_toml::unwire(bare, file.parts, before),
        Format::Text => return Ok((!is_ours(text)).then(|| text.to_owned())),
        format => in_json::unwire(bare, format, file.parts, before),
    };
    marked(path, text, edited).map(Some)
}

/// Our entries in an agent's file: hooks by event, and our server by its name.
pub(crate) fn wired(text: &str, file: &Wired, agent: &str) -> Vec<OurEntry> {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    match file.format {
        Format::Toml => in_toml::wired(bare, file.parts),
        Format::Text if is_ours(text) => {
            let command = agents::opencode_command(text);
            // A file with other content, or with missing content, was edited by the user.
            let whole = command.as_deref().is_some_and(|path| rendered(file, path) == text);
            let entry = json!({ "command": [command] });
            vec![OurEntry { name: "plugin".to_owned(), entry, whole }]
        }
        Format::Text => Vec::new(),
        format => in_json::wired(bare, format, file.parts, agent),
    }
}

/// The parsed value of a text, to compare texts apart from their formatting; `None` if it is not valid.
pub(crate) fn value(text: &str, format: Format) -> Option<Value> {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    match format {
        Format::Toml => in_toml::meaning(bare),
        Format::Text => Some(text.into()),
        // Agents read an empty file as empty settings.
        _ if bare.trim().is_empty() => Some(json!({})),
        format => in_json::meaning(bare, format),
    }
}

fn marked(path: &Path, text: &str, edited: Result<String, EditError>) -> Result<String, OpError> {
    let edited = edited.map_err(|t| broken(path, t.line, t.column, &t.what))?;
    Ok(if text.starts_with(BOM) { format!("{BOM}{edited}") } else { edited })
}

/// Whether a whole file is ours: one of its first lines names us.
pub(crate) fn is_ours(text: &str) -> bool {
    text.lines().take(3).any(|line| line.contains("rekindle"))
}

fn whole(path: &Path, text: &str, file: &Wired, ours: &Ours<'_>) -> Result<String, OpError> {
    let rendered = rendered(file, ours.binary);
    // An incomplete file may lack the lines that identify it.
    if !rendered.starts_with(text) {
        refuse_foreign(path, text)?;
    }
    Ok(rendered)
}

/// The content of a whole file of ours that starts the program at this path.
fn rendered(file: &Wired, binary: &str) -> String {
    let texts = file.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text(binary)),
        _ => None,
    });
    texts.collect()
}

/// Refuses to replace a whole file that is not ours.
pub(crate) fn refuse_foreign(path: &Path, text: &str) -> Result<(), OpError> {
    if text.trim().is_empty() || is_ours(text) {
        return Ok(());
    }
    let message = format!("{} already exists and is not ours", path.display());
    Err(OpError::new(Code::Conflict, message)
        .hint("Move it away, then run the command again; nothing was changed."))
}
