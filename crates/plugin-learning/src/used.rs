//! The use of learned items: a session that got an experience, a memory or a value then touches a file or runs a command
//! which the item names.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agents::shell;
use model::hook::{Happening, ToldEntry, ToolUse};
use model::{OpError, limits};
use place::Captured;
use store::{Rx, Tx, ghaps, memories, receipts, sessions, values};

/// A learned item that a session got and has not used.
struct ShownItem {
    path: String,
    /// The file names and paths in its text.
    files: Vec<String>,
    /// The parts of its text in backticks.
    quoted: Vec<String>,
    /// The rest of its text, with single spaces.
    plain: String,
}

/// The unused items of the sessions, by the session's id in the store. Most sessions have none, and their events read
/// nothing for them.
#[derive(Clone, Default)]
pub(crate) struct ShownItems(Arc<Mutex<HashMap<i64, Arc<Vec<ShownItem>>>>>);

impl ShownItems {
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Arc<Vec<ShownItem>>>> {
        // A panic leaves the map whole: each change is one call.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, rx: &Rx<'_>, session: i64) -> Result<Arc<Vec<ShownItem>>, OpError> {
        if let Some(known) = self.lock().get(&session) {
            return Ok(known.clone());
        }
        let mut items = Vec::new();
        for path in receipts::unused_learned(rx, session)? {
            items.extend(text_of(rx, &path)?.map(|text| ShownItem::new(path, &text)));
        }
        let items = Arc::new(items);
        let mut all = self.lock();
        if all.len() >= limits::SHOWN_SESSIONS_MAX {
            all.clear();
        }
        all.insert(session, items.clone());
        Ok(items)
    }

    /// Reads the items of a session again after COMMIT.
    fn renew(&self, tx: &Tx<'_>, session: i64) {
        let items = self.clone();
        tx.after_commit(Box::new(move || {
            items.lock().remove(&session);
        }));
    }
}

/// The text of a learned item; none if it is gone.
fn text_of(rx: &Rx<'_>, path: &str) -> Result<Option<String>, OpError> {
    let Some((scheme, name)) = path.split_once("://") else { return Ok(None) };
    Ok(match scheme {
        ghaps::SCHEME => ghaps::by_name(rx, name)?.map(|ghap| ghap.searched_texts().join("\n")),
        memories::KIND => memories::by_uuid(rx, name)?.map(|memory| memory.content),
        values::KIND => values::by_name(rx, name)?.map(|value| value.text),
        _ => None,
    })
}

impl ShownItem {
    fn new(path: String, text: &str) -> ShownItem {
        let (mut quoted, mut plain) = (Vec::new(), Vec::new());
        for (place, part) in text.split('`').enumerate() {
            match place % 2 {
                1 => quoted.push(part.to_owned()),
                _ => plain.extend(part.split_whitespace()),
            }
        }
        let plain = plain.join(" ");
        let words = text.split(|c: char| c.is_whitespace() || "`'\"(),;".contains(c));
        let words = words.map(|word| word.trim_matches([':', '.', '!', '?']));
        let files = words.filter(|word| is_file(word)).map(str::to_owned).collect();
        ShownItem { path, files, quoted, plain }
    }

    fn names_file(&self, touched: &str) -> bool {
        let is_it = |file: &String| {
            let before = touched.strip_suffix(file.trim_start_matches("./"));
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        self.files.iter().any(is_it)
    }

    /// `commands` are those of the line, each with its arguments.
    fn names_command(&self, line: &str, commands: &[String]) -> bool {
        let is_named = |command: &String| {
            self.plain.match_indices(command.as_str()).any(|(at, _)| {
                let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
                is_end(self.plain[..at].chars().next_back())
                    && is_end(self.plain[at + command.len()..].chars().next())
            })
        };
        self.quoted.iter().any(|quoted| shell::runs_line(quoted, line))
            || commands.iter().any(is_named)
    }
}

/// Whether a word is a path or the name of a file: `src/login`, `conftest.py`.
fn is_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    let is_named = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_ending = ending.starts_with(char::is_alphabetic) && ending.chars().count() <= 5;
        !stem.is_empty() && is_ending
    });
    word.chars().count() >= limits::NAMED_FILE_CHARS_MIN
        && word.chars().any(char::is_alphabetic)
        && (is_named || word.contains('/'))
        && !word.contains("://")
}

/// Marks the items that a tool use shows to be useful.
pub(crate) fn observe(tx: &Tx<'_>, seen: &Captured<'_>, shown: &ShownItems) -> Result<(), OpError> {
    let Happening::ToolUsed(tool) = &seen.event.what else { return Ok(()) };
    if tool.file_path.is_none() && tool.command.is_none() {
        return Ok(());
    }
    let session = seen.session.id;
    let items = shown.of(tx, session)?;
    if items.is_empty() {
        return Ok(());
    }
    let used = used_by(&items, tool);
    for path in &used {
        receipts::mark_used(tx, session, path)?;
    }
    if !used.is_empty() {
        shown.renew(tx, session);
    }
    Ok(())
}

/// The paths of the items that name the file or a command of a tool use.
fn used_by<'i>(items: &'i [ShownItem], tool: &ToolUse) -> Vec<&'i str> {
    let line = tool.command.as_ref().map(|line| line.as_str()).unwrap_or_default();
    let commands: Vec<String> = shell::commands(line)
        .into_iter()
        .filter(|command| command.args.len() + 1 >= limits::NAMED_COMMAND_WORDS_MIN)
        .map(|command| format!("{} {}", command.program, command.args.join(" ")))
        .collect();
    let file = tool.file_path.as_ref().map(|path| path.as_str());
    let is_used = |item: &&ShownItem| {
        file.is_some_and(|file| item.names_file(file))
            || (!line.is_empty() && item.names_command(line, &commands))
    };
    items.iter().filter(is_used).map(|item| item.path.as_str()).collect()
}

/// Notes that a session got learned items.
pub(crate) fn delivered(
    tx: &Tx<'_>,
    session: &str,
    entries: &[ToldEntry],
    shown: &ShownItems,
) -> Result<(), OpError> {
    let is_learned = |entry: &ToldEntry| {
        let scheme = entry.path.split("://").next().unwrap_or_default();
        [ghaps::SCHEME, memories::KIND, values::KIND].contains(&scheme)
    };
    if entries.iter().any(is_learned)
        && let Some(session) = sessions::id_of(tx, session)?
    {
        shown.renew(tx, session);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_names_files_and_commands_by_whole_words() {
        let text = "The clock in tests/conftest.py (see `make frozen`) ran ahead, e.g. on v1.2; run cargo test -p \
                    login again.";
        let item = ShownItem::new("memory://x".to_owned(), text);
        assert_eq!(item.files, ["tests/conftest.py"]);
        assert!(item.names_file("/srv/web/tests/conftest.py"));
        assert!(!item.names_file("/srv/web/mytests/conftest.py"));
        assert!(!item.names_file("/srv/web/conftest.py"));
        let names = |line: &str| {
            let commands: Vec<String> = vec![line.to_owned()];
            item.names_command(line, &commands)
        };
        assert!(names("cargo test -p login"));
        assert!(names("cd web && make frozen"));
        assert!(!names("cargo test -p log"), "a part of a word");
        assert!(!names("make all"));
    }
}
