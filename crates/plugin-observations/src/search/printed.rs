//! A search on the command line: the table, what an empty answer says, and which words stand out.

use std::ops::Range;

use serde_json::Value;
use text::query;

use crate::show;

/// Shown with a partial answer.
const NARROW: &str =
    "Not everything was looked at: narrow the search to a project, a type or a time.";

/// Shown for a query without words.
const NO_WORDS: &str = "Type the words to search for. `rekindle recent` lists the last records.";

pub(super) fn pretty(params: &Value, result: &Value) -> String {
    let records: Vec<&Value> = show::list(result, "results").iter().collect();
    if records.is_empty() {
        let query = show::line(params["query"].as_str().unwrap_or_default());
        if query.trim().is_empty() {
            return NO_WORDS.to_owned();
        }
        // A partial search cannot claim that nothing matches.
        let what = match result["partial"] == true {
            true => format!("Nothing was found in time for \"{query}\""),
            false => format!("Nothing matches \"{query}\""),
        };
        let past_the_end = params["offset"].as_u64().filter(|offset| *offset > 0).map(|offset| {
            format!("No results for \"{query}\" from offset {offset} on; a smaller offset may have some.")
        });
        let said = past_the_end
            .or_else(|| excluded(&what, params, result))
            .unwrap_or_else(|| show::nothing(&what, params, result));
        let said =
            [said].into_iter().chain(show::shared_name(result)).collect::<Vec<_>>().join("\n");
        return match incomplete(result) {
            Some(why) => format!("{said}\n{why}"),
            None => said,
        };
    }
    let mut lines = Vec::new();
    if result["only_similar"] == true {
        lines.push("Nothing contains these words; closest in meaning:".to_owned());
    }
    lines.push(show::records(&records, show::answered_at(result), |_| ""));
    if result["merely_similar"] == true && result["only_similar"] != true {
        lines.push(
            "None of these is likely to be what you asked for; they are merely similar.".to_owned(),
        );
    }
    if params["explain"] == true {
        lines.extend(records.iter().map(|record| explained(record)));
    }
    if result["query_form"] == "prefix" {
        lines.push("No record has these words; in these, words begin alike.".to_owned());
    }
    if result["query_form"] == "any_term"
        && query::rewrite(params["query"].as_str().unwrap_or_default()).name().is_some()
    {
        lines.push(match result["partial"] == true {
            true => {
                "No record was found yet that contains it as it was typed; these have parts of it."
                    .to_owned()
            }
            false => "No record contains it as it was typed; these have parts of it.".to_owned(),
        });
    }
    if let Some(offset) = result["next_offset"].as_u64() {
        lines.push(format!("There is more: --offset {offset}"));
    }
    lines.extend(incomplete(result).map(str::to_owned));
    lines.extend(show::shared_name(result));
    lines.join("\n")
}

/// Why the answer may lack results, if it may.
fn incomplete(result: &Value) -> Option<&str> {
    result["warning"].as_str().or((result["partial"] == true).then_some(NARROW))
}

/// The answer where filters are the reason that nothing was found: which ones, by their flags.
fn excluded(what: &str, params: &Value, result: &Value) -> Option<String> {
    let filters: Vec<&str> =
        show::list(result, "excluded_by").iter().filter_map(Value::as_str).collect();
    let given = |name: &str| match params[name].as_str() {
        Some(text) => show::line(text),
        None => params[name].to_string(),
    };
    let flags: Vec<String> = filters
        .iter()
        .filter(|name| **name != "project")
        .map(|name| format!("--{} {}", flag(name), given(name)))
        .collect();
    let project = result["project"].as_str().map(|project| format!(" in {}", show::line(project)));
    let project = project.unwrap_or_default();
    Some(match (flags.is_empty(), filters.contains(&"project")) {
        (true, false) => return None,
        (true, true) => format!("{what}{project}. `--project '*'` finds it in other projects."),
        (false, false) => {
            format!("{what}{project} with {}. Without it there are hits.", flags.join(" or "))
        }
        (false, true) => format!(
            "{what}{project} with {}. Without it, or with `--project '*'`, there are hits.",
            flags.join(" or ")
        ),
    })
}

/// The flag of a filter as people type it.
fn flag(param: &str) -> &str {
    match param {
        "obs_type" => "type",
        "session_id" => "session",
        "file_path" => "file",
        other => other,
    }
}

/// The parts of a score, in one line.
fn explained(record: &Value) -> String {
    let explain = &record["match_explain"];
    let parts = explain["parts"].as_object().into_iter().flatten();
    let parts: Vec<String> = parts
        .map(|(name, part)| format!("{name} {:.2}", part.as_f64().unwrap_or_default()))
        .collect();
    let reasons = explain["reasons"].as_array().into_iter().flatten();
    let reasons: Vec<&str> = reasons.filter_map(Value::as_str).collect();
    let score = explain["score"].as_f64().unwrap_or_default();
    let why = show::line(&reasons.join("; "));
    format!("#{} {score:.2} = {} ({why})", record["id"], parts.join(", "))
}

/// The positions of the query's words: in the last column of a table, or anywhere in whole records.
pub(super) fn matched(params: &Value, result: &Value, text: &str) -> Vec<Range<usize>> {
    if show::list(result, "results").is_empty() {
        return Vec::new();
    }
    let query = query::rewrite(params["query"].as_str().unwrap_or_default());
    let begins = if result["query_form"] == "prefix" { query.prefix() } else { None };
    let query = begins.unwrap_or(query);
    let heading = text.lines().take(2).find(|line| line.starts_with("id "));
    let column = heading.and_then(|heading| heading.rfind("text"));
    let (mut places, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let skipped = match column {
            None => 0,
            Some(_) if !line.starts_with('#') => line.len(),
            Some(column) => line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte),
        };
        let begin = at + skipped;
        let found = query.matched(line.get(skipped..).unwrap_or_default());
        places.extend(found.into_iter().map(|place| begin + place.start..begin + place.end));
        at += line.len();
    }
    places
}
