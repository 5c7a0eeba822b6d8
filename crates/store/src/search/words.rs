//! The words of a query with their posting lists.

use index::bm25::Word;
use model::OpError;
use rusqlite::Connection;
use text::terms;
use text::words::is_cjk;

use crate::index_health::is_index_fault;
use crate::postings::Layout;
use crate::tx::Rx;

/// The words that some passage has, the rarest first. None if the query has only stop words.
pub(super) fn words<'q>(
    rx: &Rx<'_>,
    end: usize,
    query: &'q [String],
) -> Result<Option<Vec<Word<'q>>>, OpError> {
    let terms: Vec<(&str, String)> =
        query.iter().filter_map(|word| Some((word.as_str(), terms::term(word)?))).collect();
    if terms.is_empty() {
        return Ok(None);
    }
    let mut words: Vec<Word<'q>> = Vec::with_capacity(terms.len());
    let mut read = |db: &Connection| {
        let layout = Layout::of(db, end)?;
        for (word, term) in &terms {
            let mut chars = term.chars();
            // A single character of a script without spaces matches all pairs that begin with it.
            let lone = chars.next().filter(|c| is_cjk(*c) && chars.next().is_none());
            let postings = match lone.and_then(|c| char::from_u32(u32::from(c) + 1)) {
                Some(behind) => layout.of_range(db, (term, &behind.to_string()))?,
                None => layout.of_term(db, term)?,
            };
            let count = postings.count();
            if count > 0 {
                words.push(Word { word, count, postings });
            }
        }
        Ok(())
    };
    rx.sql(|db| match read(db) {
        // The search continues with its other ways of finding documents.
        Err(error) if is_index_fault(&error) => {
            rx.note_damaged_index();
            Ok(())
        }
        read => read,
    })?;
    words.sort_by_key(|word| word.count);
    Ok(Some(words))
}
