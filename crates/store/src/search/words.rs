//! The words of a query with their posting lists.

use index::bm25::Word;
use model::OpError;
use rusqlite::Connection;
use text::words::is_cjk;

use crate::tx::Rx;
use crate::{index_health, postings};

/// The words with a stem that some passage has, the rarest first. None if the query has only stop words.
pub(super) fn words<'q>(
    rx: &Rx<'_>,
    end: usize,
    terms: Vec<(&'q str, String)>,
) -> Result<Option<Vec<Word<'q>>>, OpError> {
    if terms.is_empty() {
        return Ok(None);
    }
    let mut words: Vec<Word<'q>> = Vec::with_capacity(terms.len());
    let blocks = || postings::blocks(end);
    let read = |db: &Connection| {
        for (word, term) in terms {
            let mut chars = term.chars();
            // A single character of a script without spaces matches all pairs that begin with it.
            let lone = chars.next().filter(|c| is_cjk(*c) && chars.next().is_none());
            let lists = match lone.and_then(|c| char::from_u32(u32::from(c) + 1)) {
                Some(behind) => postings::of_range(db, blocks(), (&term, &behind.to_string()))?,
                None => postings::of_term(db, blocks(), &term)?,
            };
            let count = lists.count();
            if count > 0 {
                words.push(Word { word, term, count, postings: lists });
            }
        }
        Ok(())
    };
    index_health::read_index(rx, read)?;
    words.sort_by_key(|word| word.count);
    Ok(Some(words))
}
