//! Finds records that contain a text byte for byte, even inside a longer word, where no index finds it.
//!
//! Only a purge uses this. It reads every row, so its time is linear in the size of the store.

use std::collections::BTreeSet;

use model::OpError;
use rusqlite::{Row, params};
use serde_json::Value;
use text::query::Query;

use crate::cells::Cells as _;
use crate::sessions;
use crate::table_info::TextColumns;
use crate::tx::{Rx, Tx};

/// The records and sessions that contain the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiteralMatches {
    /// Records of all kinds, session summaries included, in order of their ids.
    pub records: Vec<i64>,
    /// Sessions whose name or directory contains it: all their records are in [`Self::records`].
    pub sessions: Vec<i64>,
}

/// How many entries of other aggregates contain the text, by the name of the aggregate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiteralElsewhere(Vec<(&'static str, usize)>);

impl LiteralElsewhere {
    pub fn count(&self, aggregate: &str) -> usize {
        self.0.iter().find(|(name, _)| *name == aggregate).map_or(0, |(_, count)| *count)
    }
}

/// A text in its two stored forms: plain, and as a string in JSON.
pub(crate) struct Needle {
    pub(crate) raw: Vec<u8>,
    pub(crate) json: Vec<u8>,
}

impl Needle {
    pub(crate) fn of(text: &str) -> Needle {
        let quoted = Value::from(text).to_string();
        let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        Needle { raw: text.into(), json: inner.into() }
    }

    /// Whether the text is in these bytes of a file that an agent wrote, perhaps in JSON and perhaps with `\u00e9`
    /// for `é`.
    fn is_in_any_json(&self, bytes: &[u8]) -> bool {
        let has = |part: &[u8]| bytes.windows(part.len().max(1)).any(|window| window == part);
        let in_ascii = |digits: fn(u16) -> String| {
            let escaped = |letter: char| match letter.is_ascii() {
                true => letter.to_string(),
                false => {
                    letter.encode_utf16(&mut [0; 2]).iter().map(|unit| digits(*unit)).collect()
                }
            };
            let json = String::from_utf8_lossy(&self.json);
            has(json.chars().map(escaped).collect::<String>().as_bytes())
        };
        let is_ascii = self.json.is_ascii();
        has(&self.raw)
            || has(&self.json)
            || (!is_ascii && in_ascii(|unit| format!("\\u{unit:04x}")))
            || (!is_ascii && in_ascii(|unit| format!("\\u{unit:04X}")))
    }

    fn ids(&self, rx: &Rx<'_>, select: &str) -> Result<Vec<i64>, OpError> {
        let read = |row: &Row<'_>| row.cell(0);
        rx.sql(|db| db.prepare(select)?.query_map(params![self.raw, self.json], read)?.collect())
    }

    /// Runs a statement and returns how many rows it changed.
    fn run(&self, tx: &Tx<'_>, statement: &str) -> Result<usize, OpError> {
        tx.sql(|db| db.prepare(statement)?.execute(params![self.raw, self.json]))
    }
}

/// The condition that one of these columns contains the text: `?1` is the plain form, `?2` the JSON form. The
/// columns are cast to blobs, so that `instr` compares bytes. A statement has to mention both parameters.
fn has(plain: &[&str], json: &[&str]) -> String {
    let found = |column: &str, needle| format!("instr(CAST({column} AS BLOB), {needle}) > 0");
    let plain = plain.iter().map(|column| found(column, "?1"));
    let json = json.iter().map(|column| found(column, "?2"));
    let all: Vec<String> = plain.chain(json).collect();
    format!("(({}) AND ?1 IS NOT NULL AND ?2 IS NOT NULL)", all.join(" OR "))
}

/// A query for the ids of the rows that contain the text.
fn select(columns: &TextColumns) -> String {
    let TextColumns { id, from, plain, json, .. } = columns;
    format!("SELECT {id} FROM {from} WHERE {}", has(plain, json))
}

/// The records that contain this text.
pub fn matches(rx: &Rx<'_>, text: &str) -> Result<LiteralMatches, OpError> {
    let needle = Needle::of(text);
    let sessions = needle.ids(rx, &select(&sessions::NAMES))?;
    let mut records = Vec::new();
    for kind in rx.registry().records() {
        records.extend(needle.ids(rx, &select(&kind.text_columns()))?);
    }
    for session in &sessions {
        records.extend(of_session(rx, *session)?);
    }
    records.sort_unstable();
    records.dedup();
    Ok(LiteralMatches { records, sessions })
}

/// The records that contain one of these words where a search does not find it, in order of their ids: inside a longer
/// word, or in a column that is not indexed, such as metadata or the name and directory of the session. Words are
/// compared as a search compares them: without case and accents.
pub fn missed_by_search(rx: &Rx<'_>, words: &[String]) -> Result<Vec<i64>, OpError> {
    let folded = folded(words);
    let having = |columns: &TextColumns| -> Result<Vec<i64>, OpError> {
        let TextColumns { id, from, indexed, unindexed, .. } = columns;
        let all = [*indexed, *unindexed].concat();
        let sql = format!("SELECT {id}, {} FROM {from}", all.join(", "));
        let has = |row: &Row<'_>| {
            let mut found = false;
            for place in 0..all.len() {
                let is_indexed = place < indexed.len();
                let whole = if is_indexed { WholeWords::Ignore } else { WholeWords::Count };
                let text = row.text_or_null(place + 1)?;
                found |= text.is_some_and(|text| has_word(&text, &folded, whole));
            }
            Ok(if found { Some(row.cell::<i64>(0)?) } else { None })
        };
        rx.sql(|db| db.prepare(&sql)?.query_map([], has)?.filter_map(Result::transpose).collect())
    };
    let mut records = Vec::new();
    for kind in rx.registry().records() {
        records.extend(having(&kind.text_columns())?);
    }
    for session in having(&sessions::NAMES)? {
        records.extend(of_session(rx, session)?);
    }
    records.sort_unstable();
    records.dedup();
    Ok(records)
}

/// Whether a text has one of these words, alone or inside a longer one.
fn contains_words(text: &str, words: &[String]) -> bool {
    has_word(text, &folded(words), WholeWords::Count)
}

fn folded(words: &[String]) -> Vec<String> {
    words.iter().map(|word| text::words::fold(word)).collect()
}

/// Whether a text also matches by a whole word, and not only by a word inside a longer one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WholeWords {
    Count,
    Ignore,
}

/// Whether a text, or a string in it if it is JSON, has one of the words.
fn has_word(text: &str, folded: &[String], whole: WholeWords) -> bool {
    if text.starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(text)
    {
        return has_word_in_json(&value, folded, whole);
    }
    text::words::words(text).any(|(_, word)| {
        let word = text::words::fold(word);
        let counts = |part: &String| whole == WholeWords::Count || word.len() > part.len();
        folded.iter().any(|part| counts(part) && word.contains(part.as_str()))
    })
}

fn has_word_in_json(value: &Value, folded: &[String], whole: WholeWords) -> bool {
    match value {
        Value::String(text) => has_word(text, folded, whole),
        Value::Array(items) => items.iter().any(|item| has_word_in_json(item, folded, whole)),
        Value::Object(members) => members.iter().any(|(name, value)| {
            has_word(name, folded, whole) || has_word_in_json(value, folded, whole)
        }),
        _ => false,
    }
}

/// A session and all its records.
fn of_session(rx: &Rx<'_>, session: i64) -> Result<Vec<i64>, OpError> {
    let mut found = Vec::new();
    for kind in rx.registry().records() {
        let select = format!("SELECT id FROM ({}) WHERE session = ?1", kind.documents());
        let ids: Vec<i64> = rx.sql(|db| {
            db.prepare_cached(&select)?.query_map([session], |row| row.cell(0))?.collect()
        })?;
        found.extend(ids);
    }
    Ok(found)
}

/// Counts the entries of other aggregates that contain this text.
pub fn elsewhere(rx: &Rx<'_>, text: &str) -> Result<LiteralElsewhere, OpError> {
    let needle = Needle::of(text);
    count_left(rx, &|columns| needle.ids(rx, &select(columns)))
}

/// Counts the entries of other aggregates that contain one of these words, alone or inside a longer one.
pub fn elsewhere_by_words(rx: &Rx<'_>, words: &[String]) -> Result<LiteralElsewhere, OpError> {
    let folded = folded(words);
    count_left(rx, &|TextColumns { id, from, plain, .. }| {
        let sql = format!("SELECT {id}, {} FROM {from}", plain.join(", "));
        let has = |row: &Row<'_>| {
            let mut found = false;
            for column in 1..=plain.len() {
                let text = row.text_or_null(column)?;
                found |= text.is_some_and(|text| has_word(&text, &folded, WholeWords::Count));
            }
            Ok(if found { Some(row.cell::<i64>(0)?) } else { None })
        };
        rx.sql(|db| db.prepare(&sql)?.query_map([], has)?.filter_map(Result::transpose).collect())
    })
}

/// Counts the entries that a purge leaves, by aggregate. `ids` finds those with the text in some columns.
fn count_left(
    rx: &Rx<'_>,
    ids: &dyn Fn(&TextColumns) -> Result<Vec<i64>, OpError>,
) -> Result<LiteralElsewhere, OpError> {
    let mut counts = Vec::new();
    for aggregate in rx.registry().iter() {
        let mut found = BTreeSet::new();
        for columns in aggregate.texts_left() {
            found.extend(ids(columns)?);
        }
        counts.push((aggregate.name(), found.len()));
    }
    Ok(LiteralElsewhere(counts))
}

/// Counts the rows about records and sessions that contain this text, such as receipts, stored answers of calls, notices,
/// subjects of events and the names of sessions.
pub(crate) fn count_notes(rx: &Rx<'_>, text: &str) -> Result<usize, OpError> {
    let needle = Needle::of(text);
    let mut count = 0;
    for aggregate in rx.registry().iter() {
        let notes = aggregate.notes().iter().map(|one| (one.from, has(one.plain, one.json)));
        let emptied = aggregate.emptied_notes().iter();
        let emptied = emptied.map(|(table, column)| (*table, has(&[*column], &[])));
        for (table, condition) in notes.chain(emptied) {
            let select = format!("SELECT count(*) FROM {table} WHERE {condition}");
            count += needle.ids(rx, &select)?.first().map_or(0, |count| *count);
        }
    }
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Deletes the rows that [`count_notes`] counts, or empties the cell in rows that are still needed. Returns how many
/// there were.
pub(crate) fn forget_notes(tx: &Tx<'_>, text: &str) -> Result<usize, OpError> {
    let needle = Needle::of(text);
    let mut count = 0;
    for aggregate in tx.registry().iter() {
        for TextColumns { from, plain, json, .. } in aggregate.notes() {
            count += needle.run(tx, &format!("DELETE FROM {from} WHERE {}", has(plain, json)))?;
        }
        for (table, column) in aggregate.emptied_notes() {
            let condition = has(&[*column], &[]);
            let empty = format!("UPDATE {table} SET {column} = '' WHERE {condition}");
            count += needle.run(tx, &empty)?;
        }
    }
    Ok(count)
}

/// The text that files are searched for.
pub enum SpoolText<'a> {
    /// These characters, byte for byte.
    Literal(&'a str),
    /// The query, and those of its words that also match inside a longer word.
    Words(&'a Query, &'a [String]),
}

impl SpoolText<'_> {
    /// Whether a file contains the text: `Some(false)` if it only contains a word inside a longer one.
    pub fn is_in(&self, bytes: &[u8]) -> Option<bool> {
        match self {
            SpoolText::Literal(text) => Needle::of(text).is_in_any_json(bytes).then_some(true),
            SpoolText::Words(query, words) => {
                let text = plain_text(bytes);
                if query.is_met_by(&text) {
                    return Some(true);
                }
                contains_words(&text, words).then_some(false)
            }
        }
    }
}

/// The text of a file without JSON escapes: valid JSON is parsed; in any other text, escapes are replaced with blanks.
fn plain_text(bytes: &[u8]) -> String {
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        let mut text = String::new();
        add_strings(&value, &mut text);
        return text;
    }
    let text = String::from_utf8_lossy(bytes);
    ["\\n", "\\t", "\\r", "\\\"", "\\\\"]
        .iter()
        .fold(text.into_owned(), |text, escape| text.replace(escape, " "))
}

fn add_strings(value: &Value, text: &mut String) {
    let mut add = |part: &str| {
        text.push_str(part);
        text.push('\n');
    };
    match value {
        Value::String(part) => add(part),
        Value::Array(items) => items.iter().for_each(|item| add_strings(item, text)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            text.push_str(name);
            text.push('\n');
            add_strings(value, text);
        }),
        _ => {}
    }
}
