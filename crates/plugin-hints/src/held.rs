//! A hint in memory, with the data to gate and rank it.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use model::OpError;
use model::hint::rank::{self, Usage};
use model::hint::{Hint, HintScope};
use model::time::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::hints::StoredHint;
use text::secrets::{Profile, redact};

use crate::gate::{Gate, HintSituation};
use crate::moment;

/// A stored hint with its globs compiled.
pub(crate) struct Held {
    pub(crate) stored: StoredHint,
    /// Its scope in canonical form: which variant of its key it is.
    pub(crate) variant: String,
    pub(crate) rank_data: RankData,
    gate: Gate,
    /// The words that match it to a command, and among them those of its own command.
    words: BTreeSet<String>,
    command_words: BTreeSet<String>,
}

/// The part of a hint that every query checks. It is small, so that lists of hints have a copy of it.
#[derive(Clone, Copy)]
pub(crate) struct RankData {
    expires_at: Option<i64>,
    rank: f64,
    usage: Usage,
}

impl RankData {
    fn of(stored: &StoredHint) -> RankData {
        let specificity = stored.meta.scope.as_ref().map_or(0.0, HintScope::specificity);
        RankData {
            expires_at: stored.expires_at(),
            rank: rank::standing(&stored.meta, specificity),
            usage: stored.usage(),
        }
    }

    pub(crate) fn is_alive(&self, now: i64) -> bool {
        self.expires_at.is_none_or(|end| end > now)
    }
}

/// Why a hint matched, or why none did.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct MatchExplain {
    pub(crate) matched: bool,
    /// From 0 to 1, with two decimals.
    pub(crate) score: f64,
    pub(crate) reasons: Vec<String>,
}

impl Held {
    /// Refuses a scope whose globs do not compile.
    pub(crate) fn new(stored: StoredHint) -> Result<Held, OpError> {
        let gate = Gate::new(stored.meta.scope.as_ref())?;
        Ok(Held::with(stored, gate))
    }

    /// Loads a stored hint.
    pub(crate) fn load(stored: StoredHint) -> Held {
        let gate = Gate::load(stored.meta.scope.as_ref());
        Held::with(stored, gate)
    }

    pub(crate) fn with(stored: StoredHint, gate: Gate) -> Held {
        let variant = stored.meta.variant();
        let rank_data = RankData::of(&stored);
        let command_words = moment::command_words_of(&stored.value);
        let words = moment::words(&stored, &command_words);
        Held { stored, variant, rank_data, gate, words, command_words }
    }

    pub(crate) fn is_alive(&self, now: i64) -> bool {
        self.rank_data.is_alive(now)
    }

    /// The words of its component, key, tags and command.
    pub(crate) fn words(&self) -> &BTreeSet<String> {
        &self.words
    }

    pub(crate) fn command_words(&self) -> &BTreeSet<String> {
        &self.command_words
    }

    pub(crate) fn has_tag(&self, tag: &str) -> bool {
        self.stored.meta.tags.iter().any(|one| one == tag)
    }

    pub(crate) fn is_eligible(&self, place: &HintSituation<'_>) -> bool {
        self.stored.meta.scope.as_ref().is_none_or(|scope| self.gate.check(scope, place).is_ok())
    }

    /// Redacts a text about a secret hint, because its scope may contain a credential.
    fn safe(&self, said: String) -> String {
        if self.stored.meta.is_secret() {
            redact(&said, Profile::Declared).into_inner()
        } else {
            said
        }
    }

    /// The first condition that fails, in words.
    pub(crate) fn miss(&self, place: &HintSituation<'_>) -> Option<String> {
        let scope = self.stored.meta.scope.as_ref()?;
        let miss = self.gate.check(scope, place).err().map(|miss| miss.text(scope, place));
        miss.map(|miss| self.safe(miss))
    }

    fn fits_open_file(&self, place: &HintSituation<'_>) -> bool {
        let component = &self.stored.name.component;
        place.has_open_files()
            && self.gate.open_file(component, self.stored.meta.scope.as_ref(), place)
    }

    pub(crate) fn score(&self, place: &HintSituation<'_>, now: i64) -> f64 {
        RankedHint::with(self, &self.rank_data, place, now).score
    }

    /// Why it matched, for an eligible hint with this score.
    pub(crate) fn explain(&self, place: &HintSituation<'_>, score: f64, now: i64) -> MatchExplain {
        let meta = &self.stored.meta;
        let mut reasons = self.gate.reasons(meta.scope.as_ref(), place);
        if self.fits_open_file(place) {
            reasons.push("an open file belongs to it".to_owned());
        }
        reasons.extend(rank::reasons(meta, self.rank_data.usage, now));
        let reasons = reasons.into_iter().map(|reason| self.safe(reason)).collect();
        MatchExplain { matched: true, score: rank::shown_score(score), reasons }
    }

    /// The hint as surfaces show it.
    pub(crate) fn shown(&self) -> Hint {
        let stored = &self.stored;
        Hint {
            value: stored.value.clone(),
            meta: stored.meta.clone(),
            version: stored.version,
            created_at: rfc3339(stored.created_at),
            updated_at: rfc3339(stored.updated_at),
            last_used_at: stored.last_used_at.map(rfc3339),
            use_count: stored.use_count,
        }
    }
}

/// A hint with its score.
pub(crate) struct RankedHint<'h> {
    pub(crate) held: &'h Held,
    pub(crate) score: f64,
}

impl<'h> RankedHint<'h> {
    pub(crate) fn new(held: &'h Held, place: &HintSituation<'_>, now: i64) -> RankedHint<'h> {
        RankedHint::with(held, &held.rank_data, place, now)
    }

    /// Ranks a hint by the copy of its rank data in a list, without access to the hint.
    pub(crate) fn with(
        held: &'h Held,
        rank_data: &RankData,
        place: &HintSituation<'_>,
        now: i64,
    ) -> RankedHint<'h> {
        let open_file = place.has_open_files() && held.fits_open_file(place);
        RankedHint { held, score: rank::score(rank_data.rank, rank_data.usage, open_file, now) }
    }
}

impl Ord for RankedHint<'_> {
    /// The better one is first: by score, priority, time of change, then by name.
    fn cmp(&self, other: &Self) -> Ordering {
        let (ours, theirs) = (&self.held.stored, &other.held.stored);
        let by_score = other.score.total_cmp(&self.score);
        by_score
            .then_with(|| rank::priority(&theirs.meta).cmp(&rank::priority(&ours.meta)))
            .then_with(|| theirs.updated_at.cmp(&ours.updated_at))
            .then_with(|| ours.name.cmp(&theirs.name))
            .then_with(|| self.held.variant.cmp(&other.held.variant))
    }
}

impl PartialOrd for RankedHint<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedHint<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedHint<'_> {}

/// The best few of all offered hints.
pub(crate) struct BestHints<'h> {
    limit: usize,
    offered: usize,
    /// The worst of them is on top.
    found: BinaryHeap<RankedHint<'h>>,
}

impl<'h> BestHints<'h> {
    pub(crate) fn new(limit: usize) -> BestHints<'h> {
        BestHints { limit, offered: 0, found: BinaryHeap::new() }
    }

    pub(crate) fn offer(&mut self, ranked: RankedHint<'h>) {
        self.offered += 1;
        if self.found.len() < self.limit {
            self.found.push(ranked);
        } else if let Some(mut worst) = self.found.peek_mut()
            && ranked < *worst
        {
            *worst = ranked;
        }
    }

    /// How many were offered and are not among the best.
    pub(crate) fn left_out(&self) -> usize {
        self.offered - self.found.len()
    }

    /// The best one is first.
    pub(crate) fn into_sorted(self) -> Vec<RankedHint<'h>> {
        self.found.into_sorted_vec()
    }
}

/// The best of these hints by rank alone, whether they apply or not.
pub(crate) fn best<'h>(
    hints: impl Iterator<Item = &'h Held>,
    place: &HintSituation<'_>,
    now: i64,
) -> Option<RankedHint<'h>> {
    hints.map(|held| RankedHint::new(held, place, now)).min()
}

/// The best of those that apply to the caller's situation.
pub(crate) fn best_eligible<'h>(
    hints: impl Iterator<Item = &'h Held>,
    place: &HintSituation<'_>,
    now: i64,
) -> Option<RankedHint<'h>> {
    best(hints.filter(|held| held.is_eligible(place)), place, now)
}
