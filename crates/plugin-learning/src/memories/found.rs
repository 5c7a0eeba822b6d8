//! Finds memories by their words and meaning, and lists the successor of a superseded one before it.

use std::collections::{HashMap, HashSet};

use model::memory::{MemoryCategory, MemoryStatus};
use model::observation::{ObsType, RecordType};
use model::{OpError, limits, rank, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Rx;
use store::memories::{self, KIND, Memory};
use store::search::{self, Filter, Hit, Hits, Order, Recipe};
use text::query::{self, Query};

/// A memory in an answer.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShownMemory {
    pub(crate) id: String,
    pub(crate) content: String,
    pub(crate) category: MemoryCategory,
    pub(crate) importance: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
    pub(crate) created_at: String,
    /// From 0 to 1; that of a memory it supersedes, if that one matches better.
    pub(crate) score: f64,
    pub(crate) status: MemoryStatus,
    /// The memory that superseded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) superseded_by: Option<String>,
}

impl ShownMemory {
    pub(crate) fn read(rx: &Rx<'_>, memory: Memory, score: f64) -> Result<ShownMemory, OpError> {
        let status = memory.status();
        let superseded_by = successor(rx, &memory)?;
        let Memory { uuid: id, at, category, importance, tags, content, .. } = memory;
        let created_at = time::rfc3339(at);
        Ok(ShownMemory {
            id,
            content,
            category,
            importance,
            tags,
            created_at,
            score: rounded(score),
            status,
            superseded_by,
        })
    }
}

/// The id of the memory that supersedes this one.
pub(crate) fn successor(rx: &Rx<'_>, memory: &Memory) -> Result<Option<String>, OpError> {
    let by = memory.superseded_by.map(|id| memories::get(rx, id)).transpose()?.flatten();
    Ok(by.map(|by| by.uuid))
}

/// A score to three decimal places.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

/// The conditions on memories.
#[derive(Clone, Copy, Default)]
pub(crate) struct MemoryFilter<'a> {
    /// None for all projects.
    pub(crate) projects: Option<&'a [i64]>,
    pub(crate) category: Option<MemoryCategory>,
    /// The least importance.
    pub(crate) min_importance: f64,
}

impl MemoryFilter<'_> {
    fn admits(&self, memory: &Memory) -> bool {
        self.category.is_none_or(|category| category == memory.category)
            && memory.importance >= self.min_importance
    }

    /// Whether rows have to be read, because the index has no category and no importance.
    fn reads_rows(&self) -> bool {
        self.category.is_some() || self.min_importance > 0.0
    }
}

/// A memory that was found.
pub(crate) struct FoundMemory {
    pub(crate) memory: Memory,
    pub(crate) score: f64,
    /// The hit of the search; none for a successor that has no word of the query.
    pub(crate) hit: Option<Hit>,
}

/// The memories of an answer, best first, and the hits of the search.
pub(crate) struct FoundMemories {
    pub(crate) rows: Vec<FoundMemory>,
    pub(crate) hits: Hits,
    pub(crate) query: Query,
}

impl FoundMemories {
    /// Whether none of the first hits is likely to be what was asked for.
    pub(crate) fn are_merely_similar(&self, rx: &Rx<'_>) -> Result<bool, OpError> {
        let first: Vec<Hit> = self.rows.iter().filter_map(|row| row.hit).collect();
        let terms = |hit: &Hit| self.hits.terms_of(rx, hit.id);
        Ok(!first.is_empty() && !self.hits.is_answered(rx, &self.query, &first, terms)?)
    }
}

/// The memories that match a query, best first, by the search of all records. A superseded memory comes right after its
/// successor, which takes its place even if it has no word of the query.
pub(crate) fn find(
    rx: &Rx<'_>,
    asked: &str,
    filter: &MemoryFilter<'_>,
    (recipe, now): (Recipe, i64),
    limit: usize,
) -> Result<FoundMemories, OpError> {
    let query = query::rewrite(asked);
    let most =
        if filter.reads_rows() { limits::MEMORY_HITS_READ } else { limits::SEARCH_CANDIDATES };
    let wanted = search::Wanted::of(Order::Best, most);
    let of_kind =
        Filter { projects: filter.projects, kind: RecordType::of(KIND), ..Filter::default() };
    let hits = search::hits_by(recipe, rx, &query, &of_kind, wanted)?;
    let best = hits.hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
    let mut scored: Vec<(f64, Hit)> = (hits.hits.iter())
        .map(|hit| {
            let score = rank::best(hit.score, best, ObsType::Marker, hit.at, now).total;
            (if hit.exact { 1.0 } else { score }, *hit)
        })
        .collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then((y.at, y.id).cmp(&(x.at, x.id))));
    let by_id: HashMap<i64, (f64, Hit)> =
        scored.iter().map(|(score, hit)| (hit.id, (*score, *hit))).collect();
    let mut rows: Vec<FoundMemory> = Vec::new();
    let mut placed: HashSet<i64> = HashSet::new();
    for (score, hit) in scored {
        if rows.len() >= limit {
            break;
        }
        if placed.contains(&hit.id) {
            continue;
        }
        let mut chain = memories::successors(rx, hit.id)?;
        let is_important = |memory: &Memory| memory.importance >= filter.min_importance;
        if !chain.first().is_some_and(|memory| filter.admits(memory))
            || !chain.last().is_some_and(is_important)
        {
            continue;
        }
        chain.retain(is_important);
        // The current memory comes first, then each one that it supersedes.
        chain.reverse();
        for memory in chain {
            if placed.insert(memory.id) {
                let own = by_id.get(&memory.id);
                let score = own.map_or(score, |(own, _)| own.max(score));
                let hit = own.map(|(_, hit)| *hit);
                rows.push(FoundMemory { memory, score, hit });
            }
        }
    }
    rows.truncate(limit);
    Ok(FoundMemories { rows, hits, query })
}
