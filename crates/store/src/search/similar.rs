//! Records similar to a text, by words and embedding, and which of them are duplicates of it.

use std::cell::Cell;

use index::recipe::Candidates;
use index::{Hit, Order, added_up, nearest};
use model::observation::ObsType;
use model::{OpError, limits};
use text::query::{self, Form};

use super::alike::{self, Alike, Said};
use super::{Conditions, Effort, Filter, Recipe, Search, Wanted};
use crate::passages;
use crate::tx::Rx;

/// A record that is similar to a text. Its score has the parts for its words and its embedding; its
/// neighbours and session do not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similar {
    pub hit: Hit,
    pub alike: Alike,
}

/// The records most similar to a text, the most similar first, by the words of its beginning and, with
/// [`Recipe::Table`], by its embedding.
pub fn similar(
    rx: &Rx<'_>,
    recipe: Recipe,
    text: &str,
    filter: &Filter<'_>,
    limit: usize,
) -> Result<Vec<Similar>, OpError> {
    let query = query::any_of(alike::head(text, limits::SIMILAR_TEXT_CHARS));
    if query.form == Form::Empty {
        return Ok(Vec::new());
    }
    let conditions = Conditions::of(rx, filter)?;
    let said = Said::of(text);
    let found = {
        let known = rx.passages()?;
        let vector = said.vector.as_ref().filter(|_| recipe == Recipe::Table);
        let ranked = nearest::beside(&known, &conditions.on_passages, vector, |scan| {
            let (effort, completeness) = (Effort::default(), Cell::default());
            let search = Search::new(rx, &query, &conditions, &known, &effort, &completeness);
            let most = limit.max(limits::SEARCH_CANDIDATES);
            let scored = added_up(search.words_and_pairs(false)?.scored);
            let hits = search.filter(Wanted::of(Order::Best, most), scored)?;
            let admit = |passages: &[usize]| search.admit(passages);
            let mut candidates = Candidates::new(&known, &admit, hits);
            if let (Some(vector), Some(scan)) = (vector, scan) {
                candidates.compare(vector, &scan.finish())?;
            }
            Ok::<_, OpError>(candidates.ranked())
        });
        let mut ranked = ranked?;
        ranked.truncate(limit);
        ranked
    };
    let mut similar = Vec::new();
    for hit in found {
        if let Some(other) = passages::text(rx, hit.id)? {
            let kept = kept_of(hit.kind.obs_type());
            // Capture stored only the beginning of a long text (of an answer, beginning and end), so it is
            // compared with the beginning of this one.
            let alike = if other.chars().count() == kept {
                Alike::of(alike::head(text, kept), &other)
            } else {
                said.alike(&Said::of(&other))
            };
            similar.push(Similar { hit, alike });
        }
    }
    Ok(similar)
}

/// How many characters capture keeps of a text of this kind.
fn kept_of(kind: ObsType) -> usize {
    match kind {
        ObsType::UserPrompt => limits::PROMPT_CHARS_MAX,
        ObsType::Answer => limits::ANSWER_HEAD_CHARS + limits::ANSWER_TAIL_CHARS,
        _ => limits::OBSERVED_CHARS_MAX,
    }
}
