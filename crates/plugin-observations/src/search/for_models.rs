//! A search as models get it: an agent pays for every character, so that a hit is little more than its text.

use contract::brief;
use serde_json::{Value, json};

use crate::show;

/// Reduces each hit to id, time, type and text; the text ends with the hit's relation to other records, in
/// brackets. Sessions, and projects other than the one that was searched, are listed once for all their
/// hits. With `explain` a hit keeps everything.
pub(super) fn brief(params: &Value, result: &mut Value) {
    if params["explain"] != true {
        shorten(result);
    }
    brief::plain(params, result);
}

fn shorten(result: &mut Value) {
    let searched = result["project"].take();
    let mut sessions: Vec<(Value, Value, Vec<Value>)> = Vec::new();
    for hit in result["results"].as_array_mut().into_iter().flatten() {
        let (session, project) = (hit["session_id"].take(), hit["project"].take());
        match sessions.iter_mut().find(|(known, ..)| *known == session) {
            Some((_, _, hits)) => hits.push(hit["id"].clone()),
            None => sessions.push((session, project, vec![hit["id"].clone()])),
        }
        if let Some(aside) = show::aside(hit) {
            let text = hit["content_preview"].as_str().unwrap_or_default();
            hit["content_preview"] = format!("{text} [{aside}]").into();
        }
        let Some(members) = hit.as_object_mut() else { continue };
        members.retain(|name, value| match name.as_str() {
            "score" | "match_explain" | "count" | "note" => false,
            _ => *value != false,
        });
        if is_named(&members["file_path"], &members["content_preview"]) {
            members.remove("file_path");
        }
    }
    let sessions = sessions.into_iter().map(|(session, project, hits)| match project == searched {
        true => json!({ "session_id": session, "hits": hits }),
        false => json!({ "session_id": session, "project": project, "hits": hits }),
    });
    let sessions: Vec<Value> = sessions.collect();
    let Some(members) = result.as_object_mut() else { return };
    if searched.is_string() {
        members.insert("project".to_owned(), searched);
    }
    if !sessions.is_empty() {
        members.insert("sessions".to_owned(), sessions.into());
    }
    members.remove("answered_at");
    members.retain(|_, value| *value != false);
}

/// Whether the text shows which file it is about.
fn is_named(path: &Value, text: &Value) -> bool {
    let (Some(path), Some(text)) = (path.as_str(), text.as_str()) else { return false };
    path.rsplit('/').next().is_some_and(|name| text.contains(name))
}
