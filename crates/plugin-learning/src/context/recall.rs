//! Learned items about a text: values, experiences and current memories, found by the search of all records, each as a
//! row for an agent.

use std::collections::BTreeSet;

use contract::{Candidate, RowCut, Slot};
use model::ghap::{ConfidenceTier, Ghap, GhapStatus};
use model::observation::{ObsType, RecordType};
use model::{OpError, limits, memory, rank, time};
use store::Rx;
use store::ghaps::{self, GhapFilter};
use store::memories::{self, Memory};
use store::search::{self, Filter, Hit, Hits, Order, Recipe};
use store::values::{self, LearnedValue};
use text::query::{self, Form};

use crate::relevance::{SIMILAR, content_terms};

/// The title of each source's section.
pub(crate) const VALUES: &str = "Learned Values";
pub(crate) const MEMORIES: &str = "Memories";
pub(crate) const EXPERIENCES: &str = "Relevant Experiences";

/// The share of its score that an item keeps if no item of its kind is a likely answer.
const SIMILAR_SHARE: f64 = 0.5;

/// The parts of a budget that experiences get; every other source gets one part.
const EXPERIENCES_SHARE: usize = 3;

/// A value, a memory or an experience, as far as rows need it.
pub(crate) struct LearnedItem {
    pub(crate) source: ItemSource,
    /// The score of the search, or the weight and recency without a query; from 0 to 1.
    pub(crate) score: f64,
    pub(crate) reason: String,
}

pub(crate) enum ItemSource {
    Value(Box<LearnedValue>),
    Memory(Box<Memory>),
    Experience(Box<Ghap>),
}

/// The kinds of learned items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LearnedKind {
    Values,
    Memories,
    Experiences,
}

impl LearnedKind {
    pub(crate) const ALL: [LearnedKind; 3] =
        [LearnedKind::Values, LearnedKind::Memories, LearnedKind::Experiences];

    /// The name of the source in questions.
    pub(crate) fn source(self) -> &'static str {
        match self {
            LearnedKind::Values => "values",
            LearnedKind::Memories => "memories",
            LearnedKind::Experiences => "experiences",
        }
    }

    /// The record type of these items in the store.
    fn word(self) -> &'static str {
        match self {
            LearnedKind::Values => values::KIND,
            LearnedKind::Memories => memories::KIND,
            LearnedKind::Experiences => ghaps::EXPERIENCE,
        }
    }

    fn read(self, rx: &Rx<'_>, id: i64) -> Result<Option<ItemSource>, OpError> {
        Ok(match self {
            LearnedKind::Values => {
                values::by_id(rx, id)?.map(|one| ItemSource::Value(Box::new(one)))
            }
            LearnedKind::Memories => {
                memories::get(rx, id)?.map(|one| ItemSource::Memory(Box::new(one)))
            }
            LearnedKind::Experiences => {
                ghaps::by_id(rx, id)?.map(|one| ItemSource::Experience(Box::new(one)))
            }
        })
    }
}

impl ItemSource {
    /// The session that stored or resolved it, in the store, and when.
    fn origin(&self) -> (Option<i64>, i64) {
        match self {
            ItemSource::Value(value) => (value.stored_in, value.at),
            ItemSource::Memory(memory) => (memory.stored_in, memory.at),
            ItemSource::Experience(ghap) => (Some(ghap.owner), ghap.at),
        }
    }
}

impl LearnedItem {
    pub(crate) fn path(&self) -> String {
        match &self.source {
            ItemSource::Value(value) => value_path(value),
            ItemSource::Memory(memory) => memory::path(&memory.uuid),
            ItemSource::Experience(ghap) => format!("{}://{}", ghaps::SCHEME, ghap.name),
        }
    }

    /// The session that stored or resolved it, in the store, and when.
    pub(crate) fn origin(&self) -> (Option<i64>, i64) {
        self.source.origin()
    }

    /// All its texts, as the index has them; the meaning of a prompt is compared with each.
    pub(crate) fn texts(&self) -> Vec<String> {
        match &self.source {
            ItemSource::Value(value) => vec![value.text.clone()],
            ItemSource::Memory(memory) => memory_texts(memory),
            ItemSource::Experience(ghap) => ghap.searched_texts(),
        }
    }

    /// The text whose words a prompt is compared with: without our labels, which every experience has.
    pub(crate) fn declared_text(&self) -> String {
        match &self.source {
            ItemSource::Experience(ghap) => ghap.declared_text(),
            ItemSource::Value(_) | ItemSource::Memory(_) => self.texts().join("\n"),
        }
    }

    /// The row of the item at this time.
    pub(crate) fn into_candidate(self, now: i64) -> Candidate {
        let (_, stamp) = self.origin();
        let (title, share, row) = match &self.source {
            ItemSource::Value(value) => (VALUES, 1, single(value.text.clone())),
            ItemSource::Memory(memory) => (MEMORIES, 1, memory_row(memory)),
            ItemSource::Experience(ghap) => (EXPERIENCES, EXPERIENCES_SHARE, experience_row(ghap)),
        };
        let label = format!("[{}]", rounded_age(stamp, now));
        Candidate {
            path: self.path(),
            stamp,
            title: Some(title.to_owned()),
            share,
            score: self.score,
            reasons: vec![self.reason],
            ..labelled(row, label)
        }
    }

    /// The row of the item with its path, by which an agent reads or supersedes it.
    pub(crate) fn into_candidate_with_path(self, now: i64) -> Candidate {
        let row = self.into_candidate(now);
        let path = row.path.clone();
        labelled(row, path)
    }
}

/// The row with one more label in front.
pub(crate) fn labelled(mut row: Candidate, label: String) -> Candidate {
    row.cells.insert(0, label);
    row.labels += 1;
    if let RowCut::EachCell(yields) = &mut row.cut {
        yields.iter_mut().for_each(|cell| *cell += 1);
    }
    row
}

/// The age in hours or more: it does not change between two equal requests.
pub(crate) fn rounded_age(at: i64, now: i64) -> String {
    const HOUR_MS: i64 = 3_600_000;
    match now.saturating_sub(at) < HOUR_MS {
        true => "under 1h ago".to_owned(),
        false => time::age(at, now),
    }
}

/// The path of a value's entry.
pub(crate) fn value_path(value: &LearnedValue) -> String {
    format!("{}://{}", values::KIND, value.name)
}

/// The texts of a memory, with which a prompt is compared.
pub(crate) fn memory_texts(memory: &Memory) -> Vec<String> {
    vec![memory.content.clone(), memory.tags.join(" ")]
}

fn memory_row(memory: &Memory) -> Candidate {
    single(format!("**{}**: {}", memory.category.word(), memory.content))
}

fn single(line: String) -> Candidate {
    Candidate { cells: vec![line], ..Candidate::new(Slot::Found) }
}

/// The row of an experience. A falsified one is a warning: its status and the lesson are shown however long the other
/// parts are. A confirmed one shows its hypothesis as true. With little room the hypothesis is cut before the lesson,
/// but after a mere result.
pub(crate) fn experience_row(ghap: &Ghap) -> Candidate {
    let sentence = |label: &str, text: &str| format!("{label}: {}.", trimmed(text));
    let status = format!("**{}** ({})", ghap.domain.word(), ghap.status.word());
    let mut cells = vec![sentence(&status, &ghap.goal)];
    let mut yields = Vec::new();
    if ghap.status == GhapStatus::Falsified {
        let surprise = ghap.surprise.as_deref();
        let cause = ghap.root_cause.as_ref().map(|cause| cause.description.as_str());
        let truth = cause.or(surprise).unwrap_or_default();
        cells.push(sentence("Warning, this was believed and is wrong", &ghap.hypothesis));
        cells.push(sentence("True", truth));
        cells.extend(surprise.filter(|_| cause.is_some()).map(|text| sentence("Unexpected", text)));
        // In the order in which the cells are shortened: the surprise, the belief, the truth.
        yields = (3..cells.len()).chain([1, 2]).collect();
    }
    if ghap.status == GhapStatus::Confirmed {
        cells.push(sentence("True", &ghap.hypothesis));
        yields.push(if ghap.lesson.is_some() { 1 } else { 2 });
    }
    let label = if ghap.lesson.is_some() { "Lesson" } else { "Result" };
    cells.extend(
        Some(ghap.lesson_text()).filter(|text| !text.is_empty()).map(|text| sentence(label, text)),
    );
    Candidate { cells, cut: RowCut::EachCell(yields), ..Candidate::new(Slot::Found) }
}

/// A sentence without its full stop.
fn trimmed(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

/// The weight of an item without a query.
fn weight_of(source: &ItemSource) -> f64 {
    match source {
        ItemSource::Value(value) => value.weight,
        ItemSource::Memory(memory) => memory.importance,
        ItemSource::Experience(ghap) => ghap.tier.map_or(0.0, ConfidenceTier::weight),
    }
}

/// Whether the only words that a source shares with a query are our labels and the words of our enumerations.
fn has_only_labels(source: &ItemSource, asked: &BTreeSet<String>) -> bool {
    let ItemSource::Experience(ghap) = source else { return false };
    let shares = |text: &str| !content_terms(text).is_disjoint(asked);
    shares(&ghap.searched_texts().join("\n")) && !shares(&ghap.declared_text())
}

/// Why a hit is an item. Words are searched as prefixes if no record has a whole word of the query.
fn reason(hits: &Hits, score: f64, hit: &Hit) -> String {
    let words = match hits.query.form {
        _ if hit.lexical <= 0.0 => "no word in common",
        Form::Prefix => "the beginning of a word in common",
        _ => "words in common",
    };
    format!("{words}, similarity {:.2}, score {score:.2}", hit.meaning)
}

/// A query for learned items.
pub(crate) struct RecallQuery<'a> {
    pub(crate) text: &'a str,
    /// None for all projects.
    pub(crate) projects: Option<&'a [i64]>,
    pub(crate) recipe: Recipe,
    pub(crate) now: i64,
    pub(crate) limit: usize,
    /// Whether items of a kind without a likely answer are marked, as in `search`. A prompt judges its items itself.
    pub(crate) marks_similar: bool,
}

impl RecallQuery<'_> {
    /// The items of each of these kinds about the text; those with most weight and recency if the text is empty.
    pub(crate) fn items(
        &self,
        rx: &Rx<'_>,
        kinds: &[LearnedKind],
    ) -> Result<Vec<Vec<LearnedItem>>, OpError> {
        if self.text.trim().is_empty() {
            return kinds.iter().map(|kind| self.best(rx, *kind)).collect();
        }
        let query = query::any_of(self.text);
        let filter = Filter { projects: self.projects, ..Filter::default() };
        let words = kinds.iter().filter_map(|kind| RecordType::of(kind.word()));
        let words: Vec<RecordType> = words.collect();
        let wanted = search::Wanted::of(Order::Best, limits::SEARCH_CANDIDATES);
        let found = search::hits_of_kinds(self.recipe, rx, &query, (&filter, &words), wanted)?;
        let mut all = Vec::new();
        for (kind, hits) in kinds.iter().zip(&found) {
            let mut items = self.found(rx, *kind, hits)?;
            let terms = |hit: &Hit| hits.terms_of(rx, hit.id);
            if self.marks_similar && !hits.is_answered(rx, &query, &hits.hits, terms)? {
                for item in &mut items {
                    item.score *= SIMILAR_SHARE;
                    item.reason = format!("merely similar: {}, halved", item.reason);
                }
            }
            all.push(items);
        }
        Ok(all)
    }

    /// The items of a kind with most weight and recency.
    fn best(&self, rx: &Rx<'_>, kind: LearnedKind) -> Result<Vec<LearnedItem>, OpError> {
        let most = limits::MEMORY_HITS_READ;
        let sources: Vec<ItemSource> = match kind {
            LearnedKind::Values => {
                let all = values::best(rx, self.projects, most)?;
                all.into_iter().map(|one| ItemSource::Value(Box::new(one))).collect()
            }
            LearnedKind::Memories => {
                let all = memories::newest(rx, self.projects, usize::MAX)?;
                let current = all.into_iter().filter(|one| one.superseded_by.is_none());
                current.map(|one| ItemSource::Memory(Box::new(one))).collect()
            }
            LearnedKind::Experiences => {
                let filter = GhapFilter { projects: self.projects, ..GhapFilter::default() };
                let all = ghaps::list(rx, &filter, most)?;
                all.into_iter().map(|one| ItemSource::Experience(Box::new(one))).collect()
            }
        };
        Ok(self.by_weight(sources.into_iter()))
    }

    /// The items of the hits of one kind. A superseded memory is replaced by its current successor.
    fn found(
        &self,
        rx: &Rx<'_>,
        kind: LearnedKind,
        hits: &Hits,
    ) -> Result<Vec<LearnedItem>, OpError> {
        let mut items: Vec<LearnedItem> = Vec::new();
        let mut known: BTreeSet<i64> = BTreeSet::new();
        let asked = content_terms(self.text);
        for (score, hit) in self.scored(hits) {
            if items.len() == self.limit {
                break;
            }
            let id = match kind {
                LearnedKind::Memories => memories::current(rx, hit.id)?,
                LearnedKind::Values | LearnedKind::Experiences => hit.id,
            };
            let Some(source) = kind.read(rx, id)?.filter(|_| known.insert(id)) else { continue };
            let is_near = hit.exact || hit.meaning >= SIMILAR;
            if !is_near && has_only_labels(&source, &asked) {
                continue;
            }
            let reason = match id == hit.id {
                true => reason(hits, score, &hit),
                false => format!("supersedes a memory with {}", reason(hits, score, &hit)),
            };
            items.push(LearnedItem { source, score, reason });
        }
        Ok(items)
    }

    /// The hits that are near enough to the text to be about it, best first.
    fn scored(&self, hits: &Hits) -> Vec<(f64, Hit)> {
        let best = hits.hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
        let near = |hit: &&Hit| hit.exact || hit.lexical > 0.0 || hit.meaning >= SIMILAR;
        let mut scored: Vec<(f64, Hit)> = (hits.hits.iter().filter(near))
            .map(|hit| (rank::best(hit.score, best, ObsType::Marker, hit.at, self.now).total, *hit))
            .collect();
        scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then((y.at, y.id).cmp(&(x.at, x.id))));
        scored
    }

    fn by_weight(&self, items: impl Iterator<Item = ItemSource>) -> Vec<LearnedItem> {
        let item = |source: ItemSource| {
            let (_, at) = source.origin();
            let (weight, recency) = (weight_of(&source), rank::recency(at, self.now));
            let reason = format!("weight {weight:.2}, recency {recency:.2}");
            LearnedItem { source, score: 0.5 * weight + 0.5 * recency, reason }
        };
        let mut items: Vec<LearnedItem> = items.map(item).collect();
        items.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| b.origin().1.cmp(&a.origin().1))
        });
        items.truncate(self.limit);
        items
    }
}
