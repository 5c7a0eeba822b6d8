//! Where Cursor keeps its conversations: in the database of the editor, and in JSON lines of its agent.
//!
//! The database also holds sign-in tokens. Only the keys that are named here are read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Row};
use serde_json::{Value, json};
use transcripts::SessionPlace;

use crate::foreign_db::{DbProblem, ForeignDb, integer, text};
use crate::rows::{DbSession, Environment, Problem, RowSink, RowSource};

/// How the rows of the editor's database are read.
pub(crate) const ROWS: RowSource =
    RowSource { databases, tables: &["ItemTable", "cursorDiskKV"], sessions, rows };

/// The folder of the agent's transcripts in a project's folder.
const TRANSCRIPTS: &str = "agent-transcripts";

/// The editor's database, in each of the folders that an operating system has for it.
fn databases(var: &Environment<'_>) -> Vec<PathBuf> {
    let home = var("HOME").map(PathBuf::from);
    let config = var("XDG_CONFIG_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let config = config.or_else(|| Some(home.clone()?.join(".config")));
    let library = home.map(|home| home.join("Library/Application Support"));
    let users = [config, library].into_iter().flatten();
    users.map(|dir| dir.join("Cursor/User/globalStorage/state.vscdb")).collect()
}

/// The folder of the agent's projects.
pub(crate) fn folders(var: &Environment<'_>) -> Vec<PathBuf> {
    var("HOME").map(|home| PathBuf::from(home).join(".cursor/projects")).into_iter().collect()
}

/// Whether a file is a transcript of the agent: `agent-transcripts/ID/ID.jsonl`, in older versions
/// `agent-transcripts/ID.jsonl`.
pub(crate) fn is_transcript(path: &Path) -> bool {
    let is_inside = path.components().any(|part| part.as_os_str() == TRANSCRIPTS);
    is_inside && path.extension().is_some_and(|extension| extension == "jsonl")
}

/// The conversation of an agent's transcript, by its name, and that of its parent.
pub(crate) fn place(path: &Path) -> Option<SessionPlace> {
    let stem = |path: &Path| Some(path.file_stem()?.to_string_lossy().into_owned());
    let folder = path.parent()?;
    let is_child = folder.file_name().is_some_and(|name| name == "subagents");
    let parent = folder.parent().filter(|_| is_child).and_then(stem);
    let project =
        path.ancestors().find(|above| above.file_name().is_some_and(|name| name == TRANSCRIPTS));
    let project = project.and_then(Path::parent).and_then(Path::file_name);
    let cwd = project.and_then(|name| directory(&name.to_string_lossy()));
    Some(SessionPlace { cwd, parent, session: stem(path) })
}

/// The directory of a project's folder, whose name is the path with `-` for each separator. A `-` may also be in a
/// name, so the longest directories that exist are tried first.
fn directory(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    let mut found = PathBuf::from("/");
    let mut from = 0;
    while from < parts.len() {
        let longest = (from + 1..=parts.len()).rev().find_map(|to| {
            let below = found.join(parts[from..to].join("-"));
            below.is_dir().then_some((below, to))
        });
        (found, from) = longest?;
    }
    (!parts.is_empty()).then(|| found.to_string_lossy().into_owned())
}

/// All conversations with the time of their last change and the folder of their workspace.
fn sessions(db: &mut ForeignDb) -> Result<Vec<DbSession>, DbProblem> {
    // The keys are between these two, because `;` follows `:`.
    const CONVERSATIONS: &str = "SELECT substr(key, 14), CASE WHEN json_valid(CAST(value AS TEXT)) THEN \
         max(coalesce(json_extract(CAST(value AS TEXT), '$.lastUpdatedAt'), 0), \
             coalesce(json_extract(CAST(value AS TEXT), '$.createdAt'), 0)) END, \
         CASE WHEN json_valid(CAST(value AS TEXT)) THEN \
         json_extract(CAST(value AS TEXT), '$.subComposerIds') END \
         FROM cursorDiskKV WHERE key > 'composerData:' AND key < 'composerData;' AND value IS NOT NULL";
    let found: Vec<(String, i64, Option<String>)> = db.read(&mut |db| {
        let read = |row: &Row<'_>| {
            let (id, modified) = (text(row, 0), integer(row, 1));
            Ok((id.unwrap_or_default(), modified.unwrap_or_default(), text(row, 2)))
        };
        db.prepare(CONVERSATIONS)?.query_map([], read)?.collect()
    })?;
    let folders = workspaces(db.path());
    let mut parents: BTreeMap<String, &str> = BTreeMap::new();
    for (parent, _, children) in &found {
        let children = children.as_deref().and_then(|list| serde_json::from_str(list).ok());
        let children: Vec<String> = children.unwrap_or_default();
        parents.extend(children.into_iter().map(|child| (child, parent.as_str())));
    }
    let session = |(id, modified, _): &(String, i64, Option<String>)| {
        let parent = root_of(&parents, id);
        DbSession {
            cwd: folders.get(id).or_else(|| folders.get(parent?)).cloned(),
            id: id.clone(),
            modified: *modified,
            parent: parent.map(str::to_owned),
        }
    };
    Ok(found.iter().map(session).collect())
}

/// The conversation of the user that a conversation of a subagent works for; `None` for one of the user's own.
fn root_of<'p>(parents: &BTreeMap<String, &'p str>, id: &str) -> Option<&'p str> {
    /// Levels of subagents; a damaged database may have a cycle.
    const DEPTH: usize = 16;
    let mut root = *parents.get(id)?;
    for _ in 0..DEPTH {
        match parents.get(root) {
            Some(above) => root = above,
            None => return (root != id).then_some(root),
        }
    }
    None
}

/// The folder of each conversation: the database of a workspace lists its conversations.
fn workspaces(global: &Path) -> BTreeMap<String, String> {
    let storage = global.ancestors().nth(2).map(|user| user.join("workspaceStorage"));
    let entries = storage.and_then(|storage| fs::read_dir(storage).ok());
    let mut found = BTreeMap::new();
    for workspace in entries.into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Some(folder) = folder_of(&workspace) else { continue };
        for id in conversations_of(&workspace).unwrap_or_default() {
            found.insert(id, folder.clone());
        }
    }
    found
}

/// The folder of a workspace, if it is on this machine.
fn folder_of(workspace: &Path) -> Option<String> {
    /// Bytes of the description of a workspace; real ones have a hundred.
    const BYTES_MAX: u64 = 64 * 1024;
    let about = regular::read(&workspace.join("workspace.json"), BYTES_MAX).ok()?;
    let about: Value = serde_json::from_slice(&about).ok()?;
    let address = about["folder"].as_str()?.strip_prefix("file://")?;
    Some(decoded(address))
}

/// An address without its escapes, such as `%20` for a blank.
fn decoded(address: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = address.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn conversations_of(workspace: &Path) -> Result<Vec<String>, DbProblem> {
    const LIST: &str = "SELECT value FROM ItemTable WHERE key = 'composer.composerData'";
    let mut db = ForeignDb::open(&workspace.join("state.vscdb"))?;
    let list = db.read(&mut |db| db.query_row(LIST, [], |row| Ok(text(row, 0))).optional())?;
    let list: Value =
        list.flatten().and_then(|list| serde_json::from_str(&list).ok()).unwrap_or_default();
    let all = list["allComposers"].as_array().into_iter().flatten();
    Ok(all.filter_map(|one| one["composerId"].as_str().map(str::to_owned)).collect())
}

/// Hands over a conversation and its messages.
fn rows(db: &mut ForeignDb, session: &str, sink: &mut RowSink<'_>) -> Result<(), DbProblem> {
    let Some(about) = value_of(db, &format!("composerData:{session}"))? else {
        sink(Err(Problem::TooLong));
        return Ok(());
    };
    let valid = agents::with_valid_encoding(about.as_bytes());
    let Ok(conversation) = serde_json::from_slice::<Value>(&valid) else {
        sink(Err(Problem::NotJson));
        return Ok(());
    };
    let name = json!({ "name": conversation["name"] });
    sink(Ok(row("composer", session, &name.to_string()).as_bytes()));
    // Older versions keep the messages in the conversation.
    for message in conversation["conversation"].as_array().into_iter().flatten() {
        let id = message["bubbleId"].as_str().unwrap_or_default();
        sink(Ok(row("bubble", id, &message.to_string()).as_bytes()));
    }
    for header in conversation["fullConversationHeadersOnly"].as_array().into_iter().flatten() {
        let Some(id) = header["bubbleId"].as_str() else { continue };
        if let Some(message) = value_of(db, &format!("bubbleId:{session}:{id}"))? {
            sink(Ok(row("bubble", id, &message).as_bytes()));
        }
    }
    Ok(())
}

/// The value of a key; `None` if it is missing or too long.
fn value_of(db: &mut ForeignDb, key: &str) -> Result<Option<String>, DbProblem> {
    const VALUE: &str = "SELECT value FROM cursorDiskKV WHERE key = ?1";
    let found = db.read(&mut |db| {
        db.prepare_cached(VALUE)?.query_row([key], |row| Ok(text(row, 0))).optional()
    })?;
    Ok(found.flatten())
}

/// A row as one JSON object. The data of the agent is not parsed here: it may be damaged.
fn row(kind: &str, id: &str, data: &str) -> String {
    format!(r#"{{"kind":"{kind}","id":{},"data":{data}}}"#, json!(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_becomes_a_path() {
        assert_eq!(decoded("/home/kim/my%20shop/%C3%A9%zz%2"), "/home/kim/my shop/é%zz%2");
    }
}
