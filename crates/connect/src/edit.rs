//! One file's text with what is ours, and without, whatever its format.

use std::path::Path;

use agents::wiring::{Format, Part, Wired};
use model::{Code, OpError};
use serde_json::{Value, json};

use crate::ours::Ours;
use crate::place::{broken, position};
use crate::{json as in_json, toml as in_toml};

/// Why a text is not edited, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

impl Trouble {
    pub(crate) fn at(text: &str, byte: usize, what: String) -> Trouble {
        let (line, column) = position(text, byte);
        Trouble { line, column, what }
    }
}

/// Something of ours that stands in a text.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The event of a hook, or what the server or the plugin is called.
    pub(crate) name: String,
    pub(crate) entry: Value,
    /// Whether it is as we write it; a hook may be narrowed, by a matcher for one.
    pub(crate) whole: bool,
}

impl Piece {
    pub(crate) fn whole(name: &str, entry: Value) -> Piece {
        Piece { name: name.to_owned(), entry, whole: true }
    }
}

const BOM: char = '\u{feff}';

/// The text with what is ours in it.
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

/// The text without what is ours; none if the file itself is.
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

/// What of ours stands in a text of an agent, by event; our server is there under its name.
pub(crate) fn wired(text: &str, file: &Wired, agent: &str) -> Vec<Piece> {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    match file.format {
        Format::Toml => in_toml::wired(bare, file.parts),
        Format::Text if is_ours(text) => {
            let command = agents::opencode_command(text);
            // Whatever else is in it, or is not any more, was not written by us.
            let whole = command.as_deref().is_some_and(|path| rendered(file, path) == text);
            let entry = json!({ "command": [command] });
            vec![Piece { name: "plugin".to_owned(), entry, whole }]
        }
        Format::Text => Vec::new(),
        format => in_json::wired(bare, format, file.parts, agent),
    }
}

/// What a text means, without how it is written; none if it is not valid.
pub(crate) fn value(text: &str, format: Format) -> Option<Value> {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    match format {
        Format::Toml => in_toml::meaning(bare),
        Format::Text => Some(text.into()),
        // Nothing is what an agent takes for no settings.
        _ if bare.trim().is_empty() => Some(json!({})),
        format => in_json::meaning(bare, format),
    }
}

fn marked(path: &Path, text: &str, edited: Result<String, Trouble>) -> Result<String, OpError> {
    let edited = edited.map_err(|t| broken(path, t.line, t.column, &t.what))?;
    Ok(if text.starts_with(BOM) { format!("{BOM}{edited}") } else { edited })
}

/// Whether a whole file was made by us: its first lines name us.
pub(crate) fn is_ours(text: &str) -> bool {
    text.lines().take(3).any(|line| line.contains("rekindle"))
}

fn whole(path: &Path, text: &str, file: &Wired, ours: &Ours<'_>) -> Result<String, OpError> {
    let rendered = rendered(file, ours.binary);
    // One that was cut off may lack the lines by which it is known.
    if !rendered.starts_with(text) {
        refuse_foreign(path, text)?;
    }
    Ok(rendered)
}

/// The whole file of ours that starts the program at this path.
fn rendered(file: &Wired, binary: &str) -> String {
    let texts = file.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text(binary)),
        _ => None,
    });
    texts.collect()
}

/// Refuses to replace a whole file that somebody else made.
pub(crate) fn refuse_foreign(path: &Path, text: &str) -> Result<(), OpError> {
    if text.trim().is_empty() || is_ours(text) {
        return Ok(());
    }
    let message = format!("{} is there already and is not ours", path.display());
    Err(OpError::new(Code::Conflict, message)
        .hint("Move it away, then run the command again; nothing was changed."))
}
