//! From passages that have the words to ranked documents: the neighbours of a document in its session count,
//! and so does its similarity in meaning.

use std::collections::{HashMap, HashSet};

use meaning::Vector;
use model::OpError;
use model::observation::ObsType;

use crate::nearest::each_cosine;
use crate::{Hit, PassageFilter, Passages};

/// Weight of the scores of a document's neighbours, and the length in words at which the weight is
/// halved: a longer document depends less on its neighbours.
const NEIGHBOURS_WEIGHT: f64 = 0.5;
const NEIGHBOURS_WORDS: f64 = 40.0;
/// Weight of the session as a whole, as a share of the best score by words of any document. A higher
/// weight lifts documents of a long session over better ones of a short one.
const SESSION_WEIGHT: f64 = 0.15;
/// Weight of the embedding relative to the words.
const MEANING_WEIGHT: f64 = 0.7;
/// For the ranking of sessions: the weight of a session as a whole relative to its best document, and the
/// weight of the mean of its three nearest passages in its similarity.
const WHOLE_WEIGHT: f64 = 3.5;
const NEAREST_MEAN_WEIGHT: f64 = 0.7;
/// Up to this average length of passages, in words, the two weights of sessions apply in full. Longer
/// passages are meaningful by themselves, and sessions of them are long enough to contain any word: both
/// weights are divided by the fourth power of the factor by which the passages are longer.
const SHORT_PASSAGE_WORDS: f64 = 36.0;

/// Returns the documents of these passages that may be in the answer, by id. It may have to query
/// the database.
pub type Admit<'a> = dyn Fn(&[usize]) -> Result<HashMap<i64, Hit>, OpError> + 'a;

/// The documents that are ranked against each other.
pub struct Candidates<'p> {
    passages: &'p Passages,
    admits: &'p Admit<'p>,
    found: HashMap<i64, Hit>,
    /// Candidates that are not indexed yet, or changed after they were indexed.
    unindexed: Vec<Hit>,
}

impl<'p> Candidates<'p> {
    /// Documents with their own lexical scores.
    pub fn new(passages: &'p Passages, admits: &'p Admit<'p>, hits: Vec<Hit>) -> Candidates<'p> {
        let found = hits.into_iter().map(|hit| (hit.id, hit)).collect();
        Candidates { passages, admits, found, unindexed: Vec::new() }
    }

    /// Adds documents that are not indexed yet, and documents that changed after they were indexed, which replace their
    /// indexed versions. All of these have no neighbours.
    pub fn add_unindexed(&mut self, unindexed: Vec<Hit>) {
        for hit in &unindexed {
            self.found.remove(&hit.id);
        }
        self.unindexed = unindexed;
    }

    /// Adds the scores of neighbours and of the session; `whole` has the BM25 scores of sessions as whole texts.
    /// With `more`, the neighbours of hits become candidates too, even if they have none of the words.
    pub fn look_around(&mut self, whole: &[f64], more: bool) -> Result<(), OpError> {
        let own: HashMap<i64, f64> = self.found.values().map(|hit| (hit.id, hit.lexical)).collect();
        if more {
            let beside = self.found.values().flat_map(|hit| self.passages.neighbours(hit.passage));
            let beside: Vec<usize> = beside.flatten().collect();
            self.admit(&beside)?;
        }
        let passages = self.passages;
        for hit in self.found.values_mut() {
            let beside = passages.neighbours(hit.passage).into_iter().flatten();
            let beside = beside.filter_map(|at| own.get(&passages.doc(at)?));
            let beside = beside.fold(0.0, |sum, score| sum + score);
            let words = f64::from(passages.words(hit.passage));
            let weight = NEIGHBOURS_WEIGHT * NEIGHBOURS_WORDS / (NEIGHBOURS_WORDS + words);
            hit.neighbours = weight * beside;
        }
        let of_session = |at: usize| whole.get(passages.session_number(at)).copied().unwrap_or(0.0);
        let (mut best, mut most) = (0.0, 0.0);
        for hit in self.found.values() {
            best = f64::max(best, hit.lexical + hit.neighbours);
            most = f64::max(most, of_session(hit.passage));
        }
        for hit in self.found.values_mut() {
            let own = hit.lexical + hit.neighbours;
            hit.in_session = match passages.session(hit.passage) {
                _ if own == 0.0 => 0.0,
                // A document without a session counts as a session of its own.
                0 => SESSION_WEIGHT * own,
                _ if most > 0.0 => SESSION_WEIGHT * best * of_session(hit.passage) / most,
                _ => 0.0,
            };
        }
        Ok(())
    }

    /// Sets the best cosine of each document; the documents of the `nearest` passages become candidates too.
    pub fn compare(&mut self, vector: &Vector, nearest: &[usize]) -> Result<(), OpError> {
        self.admit(nearest)?;
        let passages = self.passages;
        let mut cosines = Vec::new();
        for hit in self.found.values_mut() {
            let own = passages.siblings(hit.passage);
            cosines.clear();
            cosines.resize(own.len(), 0.0);
            let (cells, reciprocals) = passages.vectors(own.start, own.len());
            meaning::scan(vector, cells, reciprocals, &mut cosines);
            hit.meaning = cosines.iter().copied().fold(0.0, f32::max).into();
        }
        Ok(())
    }

    /// Adds the documents of these passages to the candidates if the filter admits them.
    pub fn admit(&mut self, passages: &[usize]) -> Result<(), OpError> {
        let mut new: HashMap<i64, usize> = HashMap::new();
        for passage in passages {
            if let Some(doc) = self.passages.doc(*passage)
                && !self.found.contains_key(&doc)
            {
                new.insert(doc, *passage);
            }
        }
        let of: Vec<usize> = new.values().copied().collect();
        for (doc, hit) in (self.admits)(&of)? {
            let passage = new.get(&doc).copied().unwrap_or_default();
            self.found.insert(doc, Hit { passage, ..hit });
        }
        Ok(())
    }

    /// The documents with their scores, best first; of equal ones the newer.
    pub fn ranked(self) -> Vec<Hit> {
        let mut hits: Vec<Hit> = self.found.into_values().chain(self.unindexed).collect();
        let most = |of: fn(&Hit) -> f64| hits.iter().map(of).fold(0.0, f64::max);
        let (lexical, meaning) = (most(Hit::words), most(|hit| hit.meaning));
        let share = |part: f64, most: f64| if most > 0.0 { part / most } else { 0.0 };
        for hit in &mut hits {
            let meant = MEANING_WEIGHT * share(hit.meaning, meaning);
            hit.score = share(hit.words(), lexical) + meant;
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then((b.at, b.id).cmp(&(a.at, a.id))));
        hits
    }
}

/// The ids of sessions, best first: by the best of their documents, by their words as a whole (`whole`),
/// and by their passages nearest to `vector`.
pub fn sessions(
    passages: &Passages,
    hits: &[Hit],
    filter: &PassageFilter,
    whole: &[f64],
    vector: Option<&Vector>,
) -> Vec<i64> {
    let mut words: HashMap<i64, (f64, i64)> = HashMap::new();
    // A record that is in no session has its own id as session.
    let is_in_session = |hit: &&Hit| hit.session != hit.id || hit.kind == ObsType::SessionSummary;
    for hit in hits.iter().filter(is_in_session) {
        let best = words.entry(hit.session).or_default();
        *best = (best.0.max(hit.lexical + hit.neighbours), best.1.max(hit.at));
    }
    let mut near: HashMap<i64, [f64; 3]> = HashMap::new();
    if let Some(vector) = vector {
        each_cosine(passages, 0..passages.end(), vector, |passage, cosine| {
            let session = i64::from(passages.session(passage));
            if session != 0 && filter.admits(passages, passage) {
                let mut cosine = cosine.max(0.0);
                for place in near.entry(session).or_default() {
                    if cosine > *place {
                        std::mem::swap(place, &mut cosine);
                    }
                }
            }
        });
    }
    let longer = passages.average_length() / SHORT_PASSAGE_WORDS;
    let trust = 1.0 / longer.powi(4).max(1.0);
    let mean_weight = NEAREST_MEAN_WEIGHT * trust;
    let share = |part: f64, most: f64| if most > 0.0 { part / most } else { 0.0 };
    let as_whole =
        |session: i64| whole.get(passages.sessions().number(session)).copied().unwrap_or(0.0);
    let all: HashSet<i64> = words.keys().chain(near.keys()).copied().collect();
    let best = words.values().map(|(best, _)| *best).fold(0.0, f64::max);
    let most = all.iter().map(|session| as_whole(*session)).fold(0.0, f64::max);
    let scored: Vec<(f64, f64, i64, i64)> = all
        .into_iter()
        .map(|session| {
            let (own, at) = words.get(&session).copied().unwrap_or_default();
            let said = share(own, best) + WHOLE_WEIGHT * trust * share(as_whole(session), most);
            let nearest = near.get(&session).copied().unwrap_or_default();
            let mean = nearest.iter().sum::<f64>() / 3.0;
            let meant = (1.0 - mean_weight) * nearest[0] + mean_weight * mean;
            (said, meant, at, session)
        })
        .collect();
    let said_most = scored.iter().map(|one| one.0).fold(0.0, f64::max);
    let (low, high) = scored
        .iter()
        .fold((f64::MAX, f64::MIN), |(low, high), one| (low.min(one.1), high.max(one.1)));
    let mut ranked: Vec<(f64, i64, i64)> = scored
        .into_iter()
        .map(|(said, meant, at, session)| {
            let meant = share(meant - low, high - low);
            (share(said, said_most) + MEANING_WEIGHT * meant, at, session)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then((b.1, b.2).cmp(&(a.1, a.2))));
    ranked.into_iter().map(|(_, _, session)| session).collect()
}
