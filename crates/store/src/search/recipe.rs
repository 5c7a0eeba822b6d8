//! From passages that have the words to documents in their order: what stands around a document in its
//! session counts, and so does what it means.

use std::collections::{HashMap, HashSet};

use meaning::Vector;
use model::OpError;

use super::nearest::each_cosine;
use super::{Conditions, Hit};
use crate::catalogue::Passages;
use crate::tx::Rx;

/// How much a document's neighbours count; the longer it is, the more it speaks for itself.
const NEIGHBOURS_WEIGHT: f64 = 0.5;
const NEIGHBOURS_WORDS: f64 = 40.0;
/// How much the best documents of its session count, and what the second and the third add.
const SESSION_WEIGHT: f64 = 0.15;
const SESSION_BEST: [f64; 3] = [1.0, 0.5, 0.25];
/// How much meaning counts beside words.
const MEANING_WEIGHT: f64 = 0.7;

/// The documents that are weighed against each other.
pub(super) struct Candidates<'p> {
    passages: &'p Passages,
    /// Each with one of its passages.
    found: HashMap<i64, (Hit, usize)>,
    /// Those that have none yet.
    waiting: Vec<Hit>,
}

impl<'p> Candidates<'p> {
    /// Documents with their own lexical scores.
    pub(super) fn new(passages: &'p Passages, hits: Vec<(Hit, usize)>) -> Candidates<'p> {
        let found = hits.into_iter().map(|(hit, passage)| (hit.id, (hit, passage))).collect();
        Candidates { passages, found, waiting: Vec::new() }
    }

    /// Adds documents that the index does not know yet, or not as they are now. Nothing stands beside them.
    pub(super) fn wait_for(&mut self, waiting: Vec<Hit>) {
        for hit in &waiting {
            self.found.remove(&hit.id);
        }
        self.waiting = waiting;
    }

    /// Adds what neighbours and the session say. With `more` also documents come in that have none of
    /// the words themselves.
    pub(super) fn look_around(
        &mut self,
        rx: &Rx<'_>,
        conditions: &Conditions,
        more: bool,
    ) -> Result<(), OpError> {
        let own: HashMap<i64, f64> =
            self.found.values().map(|(hit, _)| (hit.id, hit.lexical)).collect();
        if more {
            let beside = self.found.values().flat_map(|(_, at)| self.passages.neighbours(*at));
            let beside: Vec<usize> = beside.flatten().collect();
            self.admit(rx, conditions, &beside)?;
        }
        let passages = self.passages;
        for (hit, at) in self.found.values_mut() {
            let beside = passages.neighbours(*at).into_iter().flatten();
            let beside = beside.filter_map(|at| own.get(&passages.doc(at)?));
            let beside = beside.fold(0.0, |sum, score| sum + score);
            let words = f64::from(passages.words(*at));
            let weight = NEIGHBOURS_WEIGHT * NEIGHBOURS_WORDS / (NEIGHBOURS_WORDS + words);
            hit.neighbours = weight * beside;
        }
        let mut best: HashMap<u32, [f64; 3]> = HashMap::new();
        for (hit, at) in self.found.values() {
            let best = best.entry(passages.session(*at)).or_default();
            let mut score = hit.lexical + hit.neighbours;
            for place in best {
                if score > *place {
                    std::mem::swap(place, &mut score);
                }
            }
        }
        for (hit, at) in self.found.values_mut() {
            let alone = [hit.lexical + hit.neighbours, 0.0, 0.0];
            let best = match passages.session(*at) {
                0 => &alone,
                session => best.get(&session).unwrap_or(&alone),
            };
            let sum: f64 =
                best.iter().zip(SESSION_BEST).map(|(score, weight)| score * weight).sum();
            hit.in_session = SESSION_WEIGHT * sum;
        }
        Ok(())
    }

    /// Adds how near in meaning each document is; those that are nearest of all come in.
    pub(super) fn compare(
        &mut self,
        rx: &Rx<'_>,
        conditions: &Conditions,
        vector: &Vector,
        nearest: &[usize],
    ) -> Result<(), OpError> {
        self.admit(rx, conditions, nearest)?;
        let passages = self.passages;
        let mut cosines = Vec::new();
        for (hit, at) in self.found.values_mut() {
            let own = passages.siblings(*at);
            cosines.clear();
            cosines.resize(own.len(), 0.0);
            let (cells, reciprocals) = passages.vectors(own.start, own.len());
            meaning::scan(vector, cells, reciprocals, &mut cosines);
            hit.meaning = cosines.iter().copied().fold(0.0, f32::max).into();
        }
        Ok(())
    }

    /// Takes documents in by one of their passages, if the conditions let them through.
    pub(super) fn admit(
        &mut self,
        rx: &Rx<'_>,
        conditions: &Conditions,
        passages: &[usize],
    ) -> Result<(), OpError> {
        let mut new: HashMap<i64, usize> = HashMap::new();
        for passage in passages {
            if let Some(doc) = self.passages.doc(*passage)
                && !self.found.contains_key(&doc)
                && conditions.admits(self.passages, *passage)
            {
                new.insert(doc, *passage);
            }
        }
        let of: Vec<usize> = new.values().copied().collect();
        let hits = conditions.hits(rx, self.passages, &of)?;
        for (doc, passage) in new {
            if let Some(hit) = hits.get(&doc) {
                self.found.insert(doc, (*hit, passage));
            }
        }
        Ok(())
    }

    /// The documents with their scores, best first; of equal ones the newer.
    pub(super) fn ranked(self) -> Vec<Hit> {
        let found = self.found.into_values().map(|(hit, _)| hit);
        let mut hits: Vec<Hit> = found.chain(self.waiting).collect();
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

/// Sessions in their order: by the best that their documents have to say in words, and by the nearest
/// in meaning of everything that they hold.
pub(super) fn sessions(
    passages: &Passages,
    hits: &[Hit],
    conditions: &Conditions,
    vector: Option<&Vector>,
) -> Vec<i64> {
    let mut words: HashMap<i64, (f64, i64)> = HashMap::new();
    for hit in hits {
        let best = words.entry(hit.session).or_default();
        *best = (best.0.max(hit.words()), best.1.max(hit.at));
    }
    let mut near: HashMap<i64, f64> = HashMap::new();
    if let Some(vector) = vector {
        each_cosine(passages, 0..passages.end(), vector, |passage, cosine| {
            let session = i64::from(passages.session(passage));
            if session != 0 && conditions.admits(passages, passage) {
                let best = near.entry(session).or_insert(f64::MIN);
                *best = best.max(cosine);
            }
        });
    }
    let most = words.values().map(|(best, _)| *best).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let (low, high) = near
        .values()
        .fold((f64::MAX, f64::MIN), |(low, high), cosine| (low.min(*cosine), high.max(*cosine)));
    let spread = if high > low { high - low } else { 1.0 };
    let all: HashSet<i64> = words.keys().chain(near.keys()).copied().collect();
    let mut ranked: Vec<(f64, i64, i64)> = all
        .into_iter()
        .map(|session| {
            let (best, at) = words.get(&session).copied().unwrap_or_default();
            let near = near.get(&session).map_or(0.0, |cosine| (cosine - low) / spread);
            (best / most + MEANING_WEIGHT * near, at, session)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then((b.1, b.2).cmp(&(a.1, a.2))));
    ranked.into_iter().map(|(_, _, session)| session).collect()
}
