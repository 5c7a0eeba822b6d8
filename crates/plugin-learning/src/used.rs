//! The use of items that sessions got at hooks: a session that got an experience, a memory, a value or a record then touches
//! a file or runs a command which the item names, in a tool of its own or through the shell.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agents::shell::{self, Simple};
use model::hook::{Happening, ToldEntry, ToolUse};
use model::{OpError, limits};
use place::Captured;
use store::{Rx, Tx, ghaps, memories, observations, receipts, sessions, values};

/// Programs that print their arguments and do not open them.
const PRINTERS: [&str; 2] = ["echo", "printf"];

/// The scheme of records.
const RECORD: &str = "obs";

/// An item that a session got and has not used.
struct ShownItem {
    path: String,
    /// The file names and paths in its text.
    files: Vec<String>,
    /// The parts of its text in backticks, each as the words of its commands.
    quoted: Vec<Vec<Vec<String>>>,
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
        for path in receipts::unused_items(rx, session)? {
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

    /// Drops the cached items of a session after COMMIT, so that its next event reads them again.
    fn renew(&self, tx: &Tx<'_>, session: i64) {
        let items = self.clone();
        tx.after_commit(Box::new(move || {
            items.lock().remove(&session);
        }));
    }
}

/// The text of an item; none if it is gone.
fn text_of(rx: &Rx<'_>, path: &str) -> Result<Option<String>, OpError> {
    let Some((scheme, name)) = path.split_once("://") else { return Ok(None) };
    Ok(match scheme {
        ghaps::SCHEME => ghaps::by_name(rx, name)?.map(|ghap| ghap.searched_texts().join("\n")),
        memories::KIND => memories::by_uuid(rx, name)?.map(|memory| memory.content),
        values::KIND => values::by_name(rx, name)?.map(|value| value.text),
        RECORD => record_text(rx, name)?,
        _ => None,
    })
}

/// The text of a record and its file. The line of a command is in backticks, as in other texts.
fn record_text(rx: &Rx<'_>, id: &str) -> Result<Option<String>, OpError> {
    let Ok(id) = id.parse::<i64>() else { return Ok(None) };
    let record = observations::get(rx, &[id])?.pop();
    Ok(record.map(|record| {
        let is_command = record.metadata.as_ref().is_some_and(|known| known["program"].is_string());
        match (is_command, record.file_path) {
            (true, _) => format!("`{}`", record.content.replace('`', " ")),
            (false, Some(file)) => format!("{} {file}", record.content),
            (false, None) => record.content,
        }
    }))
}

impl ShownItem {
    fn new(path: String, text: &str) -> ShownItem {
        let (mut quoted, mut plain) = (Vec::new(), Vec::new());
        for (place, part) in text.split('`').enumerate() {
            match place % 2 {
                1 => quoted.push(shell::commands(part).iter().map(all_words).collect()),
                _ => plain.extend(part.split_whitespace()),
            }
        }
        quoted.retain(|commands: &Vec<Vec<String>>| !commands.is_empty());
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

    /// Whether one of these commands opens or runs a file that the item names.
    fn names_file_of(&self, commands: &[Simple]) -> bool {
        let mut directory = String::new();
        commands.iter().any(|command| {
            if command.program == "cd" {
                directory = command.args.first().map_or(String::new(), |to| format!("{to}/"));
                return false;
            }
            let is_named = |word: &str| self.names_file(&format!("{directory}{word}"));
            let words = command.args.iter().map(|arg| arg.rsplit('=').next().unwrap_or_default());
            let opens =
                !PRINTERS.contains(&command.program.as_str()) && words.into_iter().any(is_named);
            opens
                || self
                    .files
                    .iter()
                    .any(|file| is_file(&command.program) && file.ends_with(&command.program))
        })
    }

    /// Whether the item names one of these commands, each as its words.
    fn names_command(&self, commands: &[Vec<String>]) -> bool {
        let is_run = |named: &Vec<Vec<String>>| {
            let is_each = |run: &[Vec<String>]| named.iter().zip(run).all(|(a, b)| runs(a, b));
            commands.windows(named.len()).any(is_each)
        };
        self.quoted.iter().any(is_run) || commands.iter().any(|command| self.says(command))
    }

    /// Whether the text contains a command word by word. Options and assignments at the command's end may be missing.
    fn says(&self, command: &[String]) -> bool {
        let most = command.len();
        let least = command.iter().rposition(|word| !is_modifier(word)).map_or(most, |at| at + 1);
        (least.max(limits::NAMED_COMMAND_WORDS_MIN)..=most).any(|words| {
            let line = command[..words].join(" ");
            self.plain.match_indices(&line).any(|(at, _)| {
                let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
                is_end(self.plain[..at].chars().next_back())
                    && is_end(self.plain[at + line.len()..].chars().next())
            })
        })
    }
}

/// The program and the arguments of a command.
fn all_words(command: &Simple) -> Vec<String> {
    std::iter::once(&command.program).chain(&command.args).cloned().collect()
}

/// Whether a command is the named one, with more options and assignments at most: `make invoices DEBUG=1`.
fn runs(named: &[String], command: &[String]) -> bool {
    command.strip_prefix(named).is_some_and(|rest| rest.iter().all(|word| is_modifier(word)))
}

/// Whether a word of a command is an option or an assignment.
fn is_modifier(word: &str) -> bool {
    word.starts_with('-') || word.contains('=')
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
    let commands = shell::commands(line);
    let words: Vec<Vec<String>> = commands.iter().map(all_words).collect();
    let file = tool.file_path.as_ref().map(|path| path.as_str());
    let is_used = |item: &&ShownItem| {
        file.is_some_and(|file| item.names_file(file))
            || item.names_file_of(&commands)
            || item.names_command(&words)
    };
    items.iter().filter(is_used).map(|item| item.path.as_str()).collect()
}

/// Notes that a session got items.
pub(crate) fn delivered(
    tx: &Tx<'_>,
    session: &str,
    entries: &[ToldEntry],
    shown: &ShownItems,
) -> Result<(), OpError> {
    let is_item = |entry: &ToldEntry| {
        let scheme = entry.path.split("://").next().unwrap_or_default();
        receipts::READ_IS_USE.contains(&scheme)
    };
    if entries.iter().any(is_item)
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
            let commands: Vec<Vec<String>> = shell::commands(line).iter().map(all_words).collect();
            item.names_command(&commands)
        };
        assert!(names("cargo test -p login"));
        assert!(names("cd web && make frozen"));
        assert!(!names("cargo test -p log"), "a part of a word");
        assert!(!names("make all"));
        assert!(names("cd . && make frozen DEBUG=1"));
        assert!(names("cargo test -p login --release"));
        assert!(!names("cargo test -p login::form"), "another test");
    }

    #[test]
    fn a_command_that_opens_or_runs_a_file_touches_it() {
        let text = "Totals are in templates/invoice.html; scripts/extract.sh collects the strings";
        let item = ShownItem::new("memory://x".to_owned(), text);
        let touches = |line: &str| item.names_file_of(&shell::commands(line));
        for line in [
            "cat templates/invoice.html",
            "sed -n 1,20p ./templates/invoice.html | head",
            "cd templates && grep -n total invoice.html",
            "diff --from-file=templates/invoice.html a.html",
            "./scripts/extract.sh --all",
        ] {
            assert!(touches(line), "{line}");
        }
        for line in [
            "cat templates/invoice.html.bak",
            "cat invoice.html",
            "echo templates/invoice.html",
            "git commit -m 'change templates/invoice.html'",
            "ls templates",
        ] {
            assert!(!touches(line), "{line}");
        }
    }
}
