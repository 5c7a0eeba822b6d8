//! A search as models get it: an agent pays for every character, so a hit is little more than its text.

use contract::brief;
use serde_json::{Map, Value};

use crate::show;

/// Reduces each hit to id, time, type and text. The text begins with the file unless it names the file, and ends with
/// the hit's relation to other records, in brackets. Hits of other projects than the one that was searched are listed
/// by project. `get_observations` has the session, and with `explain` a hit keeps everything.
pub(super) fn brief(params: &Value, result: &mut Value) {
    if params["explain"] != true {
        shorten(result);
    }
    brief::plain(params, result);
}

fn shorten(result: &mut Value) {
    let searched = result["project"].clone();
    // A name of a project may be as long as a text: it is stated once, with the ids of its hits.
    let mut by_project: Map<String, Value> = Map::new();
    for hit in result["results"].as_array_mut().into_iter().flatten() {
        if let Some(aside) = show::aside(hit["count"].as_u64(), hit["note"].as_str()) {
            let text = hit["content_preview"].as_str().unwrap_or_default();
            hit["content_preview"] = format!("{text} [{aside}]").into();
        }
        let Some(members) = hit.as_object_mut() else { continue };
        let project = members.remove("project").filter(|project| *project != searched);
        if let Some(Value::String(project)) = project {
            let ids = by_project.entry(project).or_insert_with(|| Vec::<Value>::new().into());
            ids.as_array_mut().into_iter().for_each(|ids| ids.push(members["id"].clone()));
        }
        members.retain(|name, value| match name.as_str() {
            "score" | "match_explain" | "count" | "note" | "session_id" => false,
            _ => *value != false,
        });
        if let Some(path) = members.remove("file_path") {
            let text = &mut members["content_preview"];
            if let (Some(path), false) = (path.as_str(), is_named(&path, text)) {
                *text = format!("{}: {}", tail(path), text.as_str().unwrap_or_default()).into();
            }
        }
    }
    let Some(members) = result.as_object_mut() else { return };
    members.remove("answered_at");
    if !by_project.is_empty() {
        members.insert("by_project".to_owned(), by_project.into());
    }
    members.retain(|_, value| *value != false);
}

/// The last two parts of a path.
fn tail(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at + 1);
    slashes.nth(1).map_or(path, |from| &path[from..])
}

/// Whether the text shows which file it is about.
pub(crate) fn is_named(path: &Value, text: &Value) -> bool {
    let (Some(path), Some(text)) = (path.as_str(), text.as_str()) else { return false };
    path.rsplit('/').next().is_some_and(|name| text.contains(name))
}
