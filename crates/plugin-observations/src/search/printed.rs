//! A search on the command line: the table, what an empty answer says, and which words stand out.

use std::ops::Range;

use contract::Pretty;
use model::{OpError, limits};
use text::query;

use super::{FoundRecord, Parts, Search, SearchOutput, SearchParams};
use crate::show::{self, RecordRow};

/// Shown with a partial answer.
const NARROW: &str =
    "Not everything was looked at: narrow the search to a project, a type or a time.";

/// Shown for a query without words.
const LAST_RECORDS: &str = "`rekindle recent` lists the last records.";

impl Pretty for Search {
    fn pretty(params: &SearchParams, output: &SearchOutput, width: usize) -> String {
        if output.results.is_empty() {
            return nothing(params, output);
        }
        let rows = output.results.iter().map(FoundRecord::row);
        let mut lines = vec![show::records_about(rows, &output.about, &params.columns, width)];
        if params.explain {
            lines.extend(output.results.iter().map(FoundRecord::explained));
        }
        // Programs that select columns read the rows alone.
        if params.columns.is_empty() {
            lines.splice(0..0, announced(params, output));
            lines.extend(remarks(params, output));
        }
        lines.join("\n")
    }

    /// The positions of the query's words: in the last column of a table, or anywhere in whole records.
    fn accent(params: &SearchParams, output: &SearchOutput, text: &str) -> Vec<Range<usize>> {
        if output.results.is_empty() {
            return Vec::new();
        }
        let query = query::rewrite(&params.query);
        let begins = if output.query_form == "prefix" { query.prefix() } else { None };
        let query = begins.unwrap_or(query);
        let heading = text.lines().take(3).find(|line| line.starts_with("id "));
        let column = heading.and_then(|heading| heading.rfind("text"));
        let (mut places, mut at) = (Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            // The rest of a wrapped text is below its first line.
            let is_row = |column: usize| {
                line.starts_with('#') || line.chars().take(column).all(|c| c == ' ')
            };
            let skipped = match column {
                None => 0,
                Some(column) if !is_row(column) => line.len(),
                Some(column) => {
                    line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte)
                }
            };
            let begin = at + skipped;
            let found = query.matched(line.get(skipped..).unwrap_or_default());
            places.extend(found.into_iter().map(|place| begin + place.start..begin + place.end));
            at += line.len();
        }
        places
    }

    fn notes(params: &SearchParams, output: &SearchOutput) -> Vec<String> {
        let mut notes = Vec::new();
        if !params.columns.is_empty() && !output.results.is_empty() {
            notes.extend(announced(params, output));
            notes.extend(remarks(params, output));
        }
        notes.extend(show::limit_note(params.limit, limits::SEARCH_MAX));
        notes
    }

    fn refusal(params: &SearchParams, now_ms: i64) -> Option<OpError> {
        show::empty_query("query", &params.query, LAST_RECORDS)
            .or_else(|| show::empty_time(params.after.as_ref(), params.before.as_ref(), now_ms))
    }
}

/// The lines before merely similar hits: the filter that excludes likely ones, if any, and that these are not likely.
fn announced(params: &SearchParams, output: &SearchOutput) -> Vec<String> {
    if !output.merely_similar {
        return Vec::new();
    }
    let what = format!("No likely answer to \"{}\"", show::line(&params.query));
    let sentence = match output.results.iter().any(FoundRecord::has_words) {
        true => "None of these is likely to be what you asked for; they are merely similar:",
        false => "Nothing contains these words; closest in meaning:",
    };
    excluded(&what, params, output).into_iter().chain([sentence.to_owned()]).collect()
}

/// The lines after the hits: how they match, and why some may be missing.
fn remarks(params: &SearchParams, output: &SearchOutput) -> Vec<String> {
    let mut lines = Vec::new();
    if output.query_form == "prefix" {
        lines.push(
            "No record has these words; these records have words with the same beginning."
                .to_owned(),
        );
    }
    if output.query_form == "any_term" && query::rewrite(&params.query).name().is_some() {
        lines.push(match output.partial {
            true => "No record was found yet that contains it as it was typed; these have parts of it.",
            false => "No record contains it as it was typed; these have parts of it.",
        }.to_owned());
    }
    lines.extend(incomplete(output).map(str::to_owned));
    lines.extend(show::shared_name(&output.about));
    lines
}

/// The text of an empty answer.
fn nothing(params: &SearchParams, output: &SearchOutput) -> String {
    let query = show::line(&params.query);
    if output.query_form == "empty" {
        return show::no_words(LAST_RECORDS);
    }
    // A partial search cannot claim that nothing matches.
    let what = match output.partial {
        true => format!("Nothing was found in time for \"{query}\""),
        false => format!("Nothing matches \"{query}\""),
    };
    let said = match params.offset.get() {
        0 => excluded(&what, params, output)
            .unwrap_or_else(|| show::nothing(&what, &params.project, &output.about)),
        offset => format!(
            "No results for \"{query}\" from offset {offset} on; a smaller offset may have some."
        ),
    };
    let mut lines = vec![said];
    lines.extend(show::shared_name(&output.about));
    lines.extend(incomplete(output).map(str::to_owned));
    lines.join("\n")
}

/// Why the answer may lack results, if it may.
fn incomplete(output: &SearchOutput) -> Option<&str> {
    output.warning.as_deref().or(output.partial.then_some(NARROW))
}

/// The answer where filters are the reason that nothing was found: which ones, by their flags.
fn excluded(what: &str, params: &SearchParams, output: &SearchOutput) -> Option<String> {
    let filters = &output.excluded_by;
    let flags: Vec<String> = filters.iter().filter_map(|name| params.flag(name)).collect();
    let project = output.about.project.as_deref();
    let project = project.map(|project| format!(" in {}", show::line(project))).unwrap_or_default();
    Some(match (flags.is_empty(), filters.iter().any(|name| name == "project")) {
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

impl SearchParams {
    /// A filter as people type it, if it was given: `--type git_push`.
    fn flag(&self, param: &str) -> Option<String> {
        let (flag, value) = match param {
            "obs_type" => ("type", self.obs_type.map(|kind| kind.word().to_owned())),
            "session_id" => ("session", self.session_id.clone()),
            "file_path" => ("file", self.file_path.clone()),
            "agent" => ("agent", self.agent.clone()),
            "failed" => ("failed", self.failed.map(|failed| failed.to_string())),
            "before" => ("before", self.before.as_ref().map(|time| time.text().to_owned())),
            "after" => ("after", self.after.as_ref().map(|time| time.text().to_owned())),
            _ => return None,
        };
        Some(format!("--{flag} {}", show::line(&value?)))
    }
}

impl FoundRecord {
    /// Whether it contains a word of the query.
    fn has_words(&self) -> bool {
        self.match_explain.parts.lexical > 0.0
    }

    fn row(&self) -> RecordRow<'_> {
        let count = self.count.and_then(|count| u64::try_from(count).ok());
        RecordRow {
            mark: "",
            id: self.id,
            timestamp: self.timestamp,
            kind: self.obs_type,
            project: &self.project,
            session: &self.session_id,
            file: self.file_path.as_deref(),
            text: &self.content_preview,
            aside: show::aside(count, self.note.as_deref()),
            is_pinned: self.is_pinned,
        }
    }

    /// The parts of the score, in one line.
    fn explained(&self) -> String {
        let Parts { lexical, neighbours, session, meaning, recency, r#type } =
            &self.match_explain.parts;
        let parts = [
            ("lexical", lexical),
            ("neighbours", neighbours),
            ("session", session),
            ("meaning", meaning),
            ("recency", recency),
            ("type", r#type),
        ];
        let parts = parts.map(|(name, part)| format!("{name} {part:.2}")).join(", ");
        let why = show::line(&self.match_explain.reasons.join("; "));
        format!("#{} {:.2} = {parts} ({why})", self.id, self.match_explain.score)
    }
}
