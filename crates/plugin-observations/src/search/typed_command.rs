//! Command lines that contain the query as a phrase: `cargo build` looks for the runs of that command, however much
//! they printed.

use std::cmp::Reverse;
use std::collections::HashSet;

use model::observation::ObsType;
use model::{OpError, limits};
use store::search::{Hit, Hits};
use store::{Rx, observations};
use text::query::{Form, Query};
use text::words;

use crate::records_read::RecordsRead;

/// Words of the longest query that is compared with command lines; a longer one is a question.
const WORDS_MAX: usize = 8;

/// The hits whose command line contains the words of the query one after the other: first those that begin with
/// them, then the newest, up to a number of different lines.
pub(super) fn among(
    rx: &Rx<'_>,
    query: &Query,
    found: &Hits,
    records: &mut RecordsRead,
) -> Result<HashSet<i64>, OpError> {
    let phrase = phrase(query.typed());
    let may_be_command = query.form == Form::AnyTerm
        && (2..=WORDS_MAX).contains(&phrase.len())
        && !text::decisions::asks(query.typed());
    if !may_be_command {
        return Ok(HashSet::new());
    }
    let hits = &found.hits;
    // The index has each of the words once, and all of them as pairs.
    let has_pairs = query.words.len() == phrase.len() && query.pairs.len() + 1 == phrase.len();
    let is_candidate = |hit: &&Hit| {
        hit.lexical > 0.0
            && is_run(hit.kind.obs_type())
            && (!has_pairs || found.may_have_phrase(hit))
    };
    let ids: Vec<i64> = hits.iter().filter(is_candidate).map(|hit| hit.id).collect();
    let typed: Vec<&str> = query.typed().split_whitespace().collect();
    // Few records contain the phrase, and reading whole records costs more than this check.
    let containing = observations::containing(rx, &ids, &typed.join(" ").to_lowercase())?;
    let mut runs = Vec::new();
    for hit in hits.iter().filter(|hit| containing.contains(&hit.id)) {
        let Some(run) = records.read_hit(rx, *hit)? else { continue };
        let said = self::phrase(&run.content);
        if let Some(at) = said.windows(phrase.len()).position(|part| part == phrase) {
            runs.push((at > 0, Reverse((hit.at, hit.id)), said));
        }
    }
    runs.sort();
    let mut lines: HashSet<&[String]> = HashSet::new();
    let first = runs.iter().take_while(|(_, _, line)| {
        lines.insert(line);
        lines.len() <= limits::SEARCH_COMMANDS_FIRST
    });
    Ok(first.map(|(_, Reverse((_, id)), _)| *id).collect())
}

/// The kinds of records whose text is a command line.
fn is_run(kind: ObsType) -> bool {
    use ObsType as O;
    matches!(kind, O::Command | O::CommandError | O::GitCommit | O::GitPush | O::Github)
}

fn phrase(text: &str) -> Vec<String> {
    words::words(text).map(|(_, word)| word.to_lowercase()).collect()
}
