//! Which hits say the same, and how near two of them are to each other.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use index::{Passages, RecordKind};
use model::observation::ObsType;
use model::{OpError, limits};

use super::alike::Said;
use super::filter::Conditions;
use super::newer_talk::{self, NewerTalk, OlderRecord};
use super::{Filter, Hit};
use crate::aggregate::json_ids;
use crate::cells::Cells as _;
use crate::commits::hash::is_hash;
use crate::passages;
use crate::tx::Rx;
use crate::verdicts::TextQuestion;

/// Cosine from which on two texts are read to see whether they say the same. The hashes of commits always differ, and
/// lower the cosine of two commits that say the same.
const MAYBE_SAME: f64 = 0.95;
const MAYBE_SAME_COMMIT: f64 = 0.75;

/// The texts of records that a search compared, so that each is read once.
#[derive(Default)]
pub struct TextsRead(HashMap<i64, Said<'static>>);

impl TextsRead {
    /// Reads a text, unless that has been done; that of a commit without its hash.
    fn read(&mut self, rx: &Rx<'_>, id: i64, is_commit: bool) -> Result<(), OpError> {
        if let Entry::Vacant(place) = self.0.entry(id) {
            let text = passages::text(rx, id)?.unwrap_or_default();
            let text = if is_commit { unhashed(&text) } else { text };
            place.insert(Said::without_vector(Cow::Owned(text)));
        }
        Ok(())
    }

    /// Whether two texts say the same. A command line has to be equal but for white space: another argument is another
    /// command.
    fn repeat(&self, a: i64, b: i64, kind: ObsType) -> bool {
        let is_command = matches!(kind, ObsType::Command | ObsType::GitPush | ObsType::Github);
        self.0.get(&a).zip(self.0.get(&b)).is_some_and(|(a, b)| match is_command {
            true => a.words_as_written().eq(b.words_as_written()),
            false => a.repeats(b),
        })
    }
}

/// For each hit, the position of the first hit that says the same; its own position if no earlier hit does. Only
/// records of one kind and project are compared. Vectors select the candidates and texts decide, because numbers hardly
/// affect a vector. After a number of texts, further hits are not compared.
pub fn same_texts(rx: &Rx<'_>, hits: &[Hit], texts: &mut TextsRead) -> Result<Vec<usize>, OpError> {
    let known = rx.passages()?;
    let mut first: Vec<usize> = (0..hits.len()).collect();
    // The positions of the hits that do not repeat an earlier hit.
    let mut leaders: HashMap<(i64, RecordKind), Vec<usize>> = HashMap::new();
    let mut compared: HashSet<i64> = HashSet::new();
    for (place, hit) in hits.iter().enumerate() {
        let leaders = leaders.entry((hit.project, hit.kind)).or_default();
        let mut same = None;
        for leader in leaders.iter() {
            let Some(other) = hits.get(*leader).filter(|other| may_be_same(&known, other, hit))
            else {
                continue;
            };
            let is_compared = [other.id, hit.id].into_iter().all(|id| {
                compared.contains(&id)
                    || (compared.len() < limits::FOLDED_READ_MAX && compared.insert(id))
            });
            if is_compared
                && rx.verdict(TextQuestion::Repeats, (other.id, hit.id), || {
                    let is_commit = hit.kind == ObsType::GitCommit;
                    texts.read(rx, other.id, is_commit)?;
                    texts.read(rx, hit.id, is_commit)?;
                    Ok(texts.repeat(other.id, hit.id, hit.kind.obs_type()))
                })?
            {
                same = Some(*leader);
                break;
            }
        }
        match (same, first.get_mut(place)) {
            (Some(leader), Some(of)) => *of = leader,
            _ => leaders.push(place),
        }
    }
    Ok(first)
}

/// The text of a commit without its hash.
fn unhashed(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !is_hash(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Whether the vectors and lengths of two hits leave it open that they say the same.
fn may_be_same(passages: &Passages, a: &Hit, b: &Hit) -> bool {
    let (long, other) = (passages.words(a.passage), passages.words(b.passage));
    let near = if b.kind == ObsType::GitCommit { MAYBE_SAME_COMMIT } else { MAYBE_SAME };
    long.abs_diff(other) <= long.max(other) / 8
        && between(passages, a.passage, b.passage).is_some_and(|cosine| cosine >= near)
}

/// The cosine between two passages; none if one has no vector.
fn between(passages: &Passages, a: usize, b: usize) -> Option<f64> {
    Some(meaning::cosine(&passages.vector(a)?, &passages.vector(b)?).into())
}

/// The cosine between the passages by which two hits were found; 0 if it is not known.
pub fn cosine(rx: &Rx<'_>, a: &Hit, b: &Hit) -> Result<f64, OpError> {
    Ok(between(&*rx.passages()?, a.passage, b.passage).unwrap_or_default())
}

const FIRST_PASSAGES: &str = "SELECT doc, min(id) FROM passages \
     WHERE doc IN (SELECT value FROM json_each(?1)) GROUP BY doc";

/// Those of these records that the filter lets through, by id, without a score and with their first passage.
pub fn admitted(
    rx: &Rx<'_>,
    filter: &Filter<'_>,
    ids: &[i64],
) -> Result<HashMap<i64, Hit>, OpError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let conditions = Conditions::of(rx, filter)?;
    let mut found = conditions.documents(rx, ids.iter().copied())?;
    for (doc, passage) in first_passages(rx, ids)? {
        if let Some(hit) = found.get_mut(&doc) {
            hit.passage = passage;
        }
    }
    Ok(found)
}

/// The first passage of each of these documents.
fn first_passages(rx: &Rx<'_>, docs: &[i64]) -> Result<HashMap<i64, usize>, OpError> {
    let docs = json_ids(docs.iter().copied());
    rx.sql(|db| {
        let mut select = db.prepare_cached(FIRST_PASSAGES)?;
        select.query_map([docs], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })
}

/// For each hit the newer records of talk in its project with at least this cosine, the nearest first.
pub fn newer_talk(rx: &Rx<'_>, hits: &[Hit], least: f64) -> Result<Vec<Vec<NewerTalk>>, OpError> {
    // A hit of a list by time was not found by a passage.
    let without: Vec<i64> = hits.iter().filter(|hit| hit.passage == 0).map(|hit| hit.id).collect();
    let passages = if without.is_empty() { HashMap::new() } else { first_passages(rx, &without)? };
    let records = hits.iter().map(|hit| {
        let passage = passages.get(&hit.id).copied().unwrap_or(hit.passage);
        OlderRecord { id: hit.id, at: hit.at, project: hit.project, passage }
    });
    newer_talk::newer_than(rx, &records.collect::<Vec<_>>(), least)
}
