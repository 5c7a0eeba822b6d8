//! Where Gemini CLI keeps its sessions, and the working directory of one, which its file does not name.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use agents::digest::sha256;
use serde_json::Value;
use transcripts::SessionPlace;

use crate::sources::Transcript;

/// The folder of a project's sessions.
const CHATS: &str = "chats";

/// Whether a file is a session or a subagent: `chats/session-TIME-ID.jsonl`, or `chats/PARENT/ID.jsonl`.
pub(crate) fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_json = name.ends_with(".json") || name.ends_with(".jsonl");
    let is_session = name.starts_with("session-") && is_named(path.parent(), CHATS);
    is_json && (is_session || is_of_subagent(path))
}

/// Whether a file is that of a subagent: its folder is named after its session.
pub(crate) fn is_of_subagent(path: &Path) -> bool {
    is_named(path.parent().and_then(Path::parent), CHATS)
}

fn is_named(folder: Option<&Path>, name: &str) -> bool {
    folder.and_then(Path::file_name).is_some_and(|own| own == name)
}

/// The working directory of a session, from the files beside it, and the session that a subagent works for.
pub(crate) fn place(path: &Path) -> Option<SessionPlace> {
    let chats = path.ancestors().find(|above| is_named(Some(above), CHATS))?;
    let parent = path.parent().filter(|folder| *folder != chats).and_then(Path::file_name);
    let parent = parent.map(|name| name.to_string_lossy().into_owned());
    Some(SessionPlace { cwd: chats.parent().and_then(directory), parent, session: None })
}

/// Notes the directories of sessions in folders of older versions, whose name is the SHA-256 of the directory. Only known
/// directories can be recognised.
pub(crate) fn place_in(roots: &[PathBuf], files: &mut [Transcript]) {
    let mut hashes: Option<HashMap<String, &PathBuf>> = None;
    for file in files {
        let Some(mut place) = place(&file.path).filter(|place| place.cwd.is_none()) else {
            continue;
        };
        let chats = file.path.ancestors().find(|above| is_named(Some(above), CHATS));
        let folder = chats.and_then(Path::parent).and_then(Path::file_name);
        let Some(folder) = folder.map(|name| name.to_string_lossy()) else { continue };
        let hashes = hashes.get_or_insert_with(|| {
            let hash = |root: &PathBuf| sha256(root.as_os_str().as_encoded_bytes());
            roots.iter().map(|root| (hash(root), root)).collect()
        });
        if let Some(root) = hashes.get(&*folder) {
            place.cwd = Some(root.to_string_lossy().into_owned());
            file.place = Some(place);
        }
    }
}

/// The directory of a project's folder: it is in a file there, else the list of all projects has its name.
fn directory(project: &Path) -> Option<String> {
    if let Ok(root) = fs::read_to_string(project.join(".project_root")) {
        return Some(root.trim().to_owned()).filter(|root| !root.is_empty());
    }
    let slug = project.file_name()?.to_string_lossy();
    let list = fs::read(project.parent()?.parent()?.join("projects.json")).ok()?;
    let list: Value = serde_json::from_slice(&list).ok()?;
    let mut projects = list.get("projects")?.as_object()?.iter();
    projects.find(|(_, name)| name.as_str() == Some(&slug)).map(|(path, _)| path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_named_after_the_hash_of_a_known_directory_belongs_to_it() {
        let roots = [PathBuf::from("/srv/shop"), PathBuf::from("/srv/mill")];
        let session = |folder: &str| Transcript {
            path: format!("/home/.gemini/tmp/{folder}/chats/session-2026-10-05T09-00-g1.json")
                .into(),
            session: None,
            bytes: 0,
            modified: 0,
            created: 0,
            is_of_subagent: false,
            is_in_database: false,
            place: None,
        };
        let mut files = [session(&sha256(b"/srv/mill")), session(&sha256(b"/srv/other"))];
        place_in(&roots, &mut files);
        let cwd = |file: &Transcript| file.place.as_ref().and_then(|place| place.cwd.clone());
        assert_eq!(files.each_ref().map(cwd), [Some("/srv/mill".to_owned()), None]);
    }
}
