//! Lists in text for people: lines, ages, short ids, and notes about limits and times.

use model::time::ago;
use model::{OpError, Tier, limits};
use place::{About, Wanted};
use store::{Rx, sessions};

use crate::count::Count;
use crate::cx::Cx;
use crate::when::TimeBound;

/// The age of a Unix timestamp relative to `now`, as text.
pub fn age(timestamp: i64, now: i64) -> String {
    ago(timestamp.saturating_mul(1000), now.saturating_mul(1000))
}

/// Recalled text as one line, so that it cannot fake further lines of the output.
pub fn line(text: &str) -> String {
    text::one_line(text, limits::SHOWN_LINE_CHARS_MAX)
}

/// The ids of sessions as tables show them: prefixes that tell them apart and that every command accepts.
pub fn session_ids<'s>(ids: impl Iterator<Item = &'s str>, chars: Option<usize>) -> Vec<String> {
    let ids: Vec<&str> = ids.collect();
    let short = text::table::short_ids(&ids, chars.unwrap_or(limits::SESSION_ID_CHARS_SHOWN));
    short.into_iter().map(line).collect()
}

/// The characters of these sessions' ids that a table has to show, if more than usual. Only users get tables, so it is
/// not computed for other callers.
pub fn id_chars<'s>(
    cx: &Cx<'_>,
    rx: &Rx<'_>,
    ids: impl Iterator<Item = &'s str>,
) -> Result<Option<usize>, OpError> {
    match cx.caller.tier {
        Tier::Person => sessions::prefix_chars(rx, ids),
        _ => Ok(None),
    }
}

/// A table with these headings; the named columns are aligned to the right.
pub fn table(
    headings: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    right: &[&str],
    width: usize,
) -> String {
    let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    text::table::table(&rows, right, width)
}

/// Says that a limit out of its range was changed.
pub fn limit_note(limit: Count, max: usize) -> Option<String> {
    match limit.get() {
        0 => Some("the smallest --limit is 1".to_owned()),
        limit if limit > max => Some(format!("--limit {limit} was reduced to {max}, the maximum")),
        _ => None,
    }
}

/// The time in seconds before which the next page of a list begins. The list shows at most `limit` items, the newest
/// first, with these times; `None` if it is not full. Items of one second may be divided between two pages, so the
/// oldest second is listed again, unless the page has no other.
pub fn next_before(times: &[i64], limit: usize) -> Option<i64> {
    let (newest, oldest) = (times.first()?, times.last()?);
    let again = i64::from(newest != oldest);
    (times.len() >= limit).then_some(oldest.saturating_add(again))
}

/// The items that a list lacks because of its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// Those before this second.
    Before(i64),
    /// This many, which only a larger limit lists.
    Further(usize),
    /// An unknown number, of which only a larger limit lists some.
    Unknown,
    /// Perhaps some: the list is as long as its limit.
    Perhaps,
}

impl Unlisted {
    /// The items that a list of `count` items may lack, if no more than `limit` were read from the store.
    pub fn of_full(count: usize, limit: usize) -> Option<Unlisted> {
        (count >= limit).then_some(Unlisted::Perhaps)
    }
}

/// The note about a list: how many items it has, and how the others are listed.
pub fn count_note(count: usize, noun: &str, unlisted: Option<Unlisted>) -> Option<String> {
    let more = match unlisted {
        None => String::new(),
        Some(Unlisted::Before(at)) => {
            let at = model::time::rfc3339(at.saturating_mul(1000)).replace(".000Z", "Z");
            format!("; --before {at} shows older ones")
        }
        Some(Unlisted::Further(left)) => format!("; a larger --limit shows {left} more"),
        Some(Unlisted::Unknown) => "; a larger --limit shows more".to_owned(),
        Some(Unlisted::Perhaps) => "; a larger --limit may show more".to_owned(),
    };
    (count > 0).then(|| format!("{}{more}", text::counted(count, noun)))
}

/// Notes about a list: [`count_note`], and a limit that was changed.
pub fn list_notes(
    count: usize,
    noun: &str,
    unlisted: Option<Unlisted>,
    (limit, max): (Count, usize),
) -> Vec<String> {
    // No larger limit is accepted.
    let unlisted =
        unlisted.filter(|left| matches!(left, Unlisted::Before(_)) || limit.get().max(1) < max);
    count_note(count, noun, unlisted).into_iter().chain(limit_note(limit, max)).collect()
}

/// Notes about the results of a query, whose number another line says: whether there may be more, and a limit that was
/// changed.
pub fn found_notes(count: usize, (limit, max): (Count, usize)) -> Vec<String> {
    let within = limit.within(1..=max);
    let more =
        (count == within && within < max).then(|| "a larger --limit may show more".to_owned());
    more.into_iter().chain(limit_note(limit, max)).collect()
}

/// Refuses a query of a user that has nothing to search for. `otherwise` is a sentence about the list of everything.
pub fn empty_query(param: &str, query: &str, otherwise: &str) -> Option<OpError> {
    // Signs alone, such as `???`, are no words either.
    let has_words = text::query::rewrite(query).form != text::query::Form::Empty;
    let error = || match line(query) {
        blank if blank.is_empty() => OpError::invalid(param, "there is no word to search for"),
        query => OpError::invalid(param, format!("there is no word to search for in '{query}'")),
    };
    (!has_words).then(|| error().hint(no_words(otherwise)))
}

/// How to search, for a user whose query has no words.
pub fn no_words(otherwise: &str) -> String {
    format!("Type the words to search for. {otherwise}")
}

/// Refuses a time span that ends before it begins.
pub fn empty_time(
    after: Option<&TimeBound>,
    before: Option<&TimeBound>,
    now_ms: i64,
) -> Option<OpError> {
    let (after, before) = (after?, before?);
    (after.before(now_ms) > before.before(now_ms)).then(|| {
        let (from, to) = (line(after.text()), line(before.text()));
        OpError::invalid("after", format!("--after {from} is later than --before {to}"))
            .hint("No record can match. Exchange the two, or leave one out.")
    })
}

/// The bounds in time that were given, as a phrase to append: ` after yesterday`.
pub fn times_given(after: Option<&TimeBound>, before: Option<&TimeBound>) -> String {
    let given = |(name, bound): (&str, Option<&TimeBound>)| {
        bound.map(|bound| format!(" {name} {}", line(bound.text()))).unwrap_or_default()
    };
    [("after", after), ("before", before)].map(given).concat()
}

/// A message that nothing was found, in which project, and how to search all of them.
pub fn nothing(what: &str, wanted: &Wanted, about: &About) -> String {
    match &about.project {
        Some(project) if *wanted == Wanted::Here => format!(
            "{what} in {}, the project of this directory. `--project '*'` looks in all projects.",
            line(project)
        ),
        Some(project) => format!("{what} in {}.", line(project)),
        None => format!("{what}."),
    }
}
