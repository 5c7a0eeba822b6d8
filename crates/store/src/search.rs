//! Finding documents: the one scorer of words and meaning, and the one filter below every surface.
//!
//! Any of several words is looked up in the postings ([`any_term`]), exactly; adjacent words and whatever
//! has operators in the full-text index, within a bounded time, and an answer says if that made a
//! difference. What documents then come to stands in [`recipe`].

mod alike;
mod any_term;
mod evidence;
pub(crate) mod filter;
mod named;
mod nearest;
pub(crate) mod newer_talk;
mod parts;
mod ranking;
mod recipe;
mod records;
mod same;
mod sift;
mod similar;
mod waiting;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use meaning::Vector;
use model::observation::ObsType;
use model::{OpError, limits};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, params_from_iter};
use text::query::{self, Condition, Form, Query};

use crate::catalogue::Passages;
use crate::cells::Cells as _;
use crate::deadline::{self, Deadline};
use crate::index_health::is_index_fault;
use crate::kinds::RecordKind;
use crate::passages;
use crate::tx::Rx;

pub use alike::{Alike, ComparedText};
use any_term::Word;
pub use evidence::{Evidence, TermSet, related};
pub(crate) use filter::Conditions;
pub use filter::Filter;
use named::Named;
use nearest::Begun;
pub use newer_talk::{NewerTalk, TalkText, talk_since};
use recipe::Candidates;
use records::Look;
pub use same::{TextsRead, admitted, cosine, newer_talk, same_texts};
use sift::{CANDIDATES_AT_MOST, Sift};
pub use similar::{Similar, similar};
use waiting::Waiting;

/// How much adjacent words count beside the words.
const PAIRS_WEIGHT: f64 = 0.5;

/// Which documents are wanted if there are more than the limit, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Those with the highest score.
    #[default]
    Best,
    Newest,
    /// Those with the highest score, and beside them the newest: what is recent may be worth more than its
    /// words alone.
    BestAndNewest,
}

/// How many documents are wanted, and which.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    pub order: Order,
    pub limit: usize,
    pub spread: Option<Spread>,
}

impl Wanted {
    pub fn of(order: Order, limit: usize) -> Wanted {
        Wanted { order, limit, spread: None }
    }
}

/// More than the limit are wanted if a few sessions have most of them: until there are so many of which none
/// is one too many of its session.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub per_session: usize,
    pub count: usize,
}

impl Spread {
    /// How many hits of these sessions it takes, from the first on; none if all of them do not do.
    fn reach(&self, mut sessions: impl Iterator<Item = i64>) -> Option<usize> {
        let mut counts: HashMap<i64, usize> = HashMap::new();
        let mut missing = self.count;
        let last = sessions.position(|session| {
            let count = counts.entry(session).or_default();
            *count += 1;
            missing -= usize::from(*count <= self.per_session);
            missing == 0
        });
        last.map(|last| last + 1)
    }
}

/// What counts for the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recipe {
    /// Its words, which of them are adjacent, its neighbours and its session.
    Lexical,
    /// All of this and what it means.
    #[default]
    Table,
}

/// A document that was found, and what its score is made of. Scores are comparable only with those of
/// the same answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub id: i64,
    pub score: f64,
    /// By its own words.
    pub lexical: f64,
    /// By what stands before and after it in its session.
    pub neighbours: f64,
    /// By the best that its session has.
    pub in_session: f64,
    /// How near it is in meaning, from 0 to 1.
    pub meaning: f64,
    /// Whether it contains a path, a hash or the like exactly as it was typed.
    pub exact: bool,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub kind: RecordKind,
    pub project: i64,
    /// Its own id if it is in no session, so that it counts as a session of its own.
    pub session: i64,
    /// Its passage by which it was found; 0 if it was found otherwise.
    pub(crate) passage: usize,
}

impl Hit {
    /// A document of which nothing else is known yet.
    fn new(id: i64, session: i64, project: i64) -> Hit {
        Hit {
            id,
            score: 0.0,
            lexical: 0.0,
            neighbours: 0.0,
            in_session: 0.0,
            meaning: 0.0,
            exact: false,
            at: 0,
            kind: ObsType::Marker.into(),
            project,
            session,
            passage: 0,
        }
    }

    /// What words say for it: its own, its neighbours' and its session's.
    pub fn words(&self) -> f64 {
        self.lexical + self.neighbours + self.in_session
    }
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    pub hits: Vec<Hit>,
    /// The query that ran, for its form and for reasons: the one given, or that for words which begin
    /// like its words.
    pub query: Query,
    /// How many of them, from the first on, were weighed against each other: the same ones however many are
    /// wanted.
    pub weighed: usize,
    /// Whether more may be there, because looking for it took too long.
    pub partial: bool,
    /// The evidence that a hit needs to be a likely answer.
    pub evidence: Evidence,
}

/// Documents that match the query and the filter, best or newest first.
pub fn hits(
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    order: Order,
    limit: usize,
) -> Result<Hits, OpError> {
    hits_by(Recipe::default(), rx, query, filter, Wanted::of(order, limit))
}

/// The same by another recipe.
pub fn hits_by(
    recipe: Recipe,
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    wanted: Wanted,
) -> Result<Hits, OpError> {
    // The first search of a process reads the catalogue. That takes nothing of the query's own time.
    drop(rx.passages()?);
    let effort = match query.form {
        Form::AnyTerm if query.name().is_none() => Effort::for_a_question(),
        _ => Effort::default(),
    };
    hits_within(&Effort { recipe, ..effort }, rx, query, filter, wanted)
}

/// The sessions that match the query and the filter best, as ids in the store.
pub fn sessions(
    recipe: Recipe,
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    limit: usize,
) -> Result<Vec<i64>, OpError> {
    let found =
        hits_by(recipe, rx, query, filter, Wanted::of(Order::Best, limits::SEARCH_CANDIDATES))?;
    let conditions = Conditions::of(rx, filter)?;
    let vector = Vector::of(query.typed()).filter(|_| recipe == Recipe::Table);
    let passages = rx.passages()?;
    let mut words = any_term::words(rx, &passages, &query.words)?.unwrap_or_default();
    words.truncate(limits::QUERY_WORDS_MAX);
    let whole = any_term::whole_sessions(&passages, &words);
    let mut sessions =
        recipe::sessions(&passages, &found.hits, &conditions, &whole, vector.as_ref());
    sessions.truncate(limit);
    Ok(sessions)
}

/// How much work a query may make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) rows: usize,
    pub(crate) entries: usize,
    pub(crate) scope_documents: usize,
    /// When whatever costs more than anybody can foresee has to end: all of it has this time together.
    pub(crate) until: Instant,
    /// Time that may be taken to ask the database which of many records the filter lets through.
    pub(crate) sifting: Duration,
    pub(crate) recipe: Recipe,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            rows: limits::SEARCH_ROWS_MAX,
            entries: limits::SEARCH_ENTRIES_MAX,
            scope_documents: limits::SEARCH_SCOPE_DOCUMENTS,
            until: Instant::now() + limits::OPERATORS_PATIENCE,
            sifting: limits::FILTER_PATIENCE,
            recipe: Recipe::default(),
        }
    }
}

impl Effort {
    /// Less time, because words and meaning take their own.
    fn for_a_question() -> Effort {
        Effort { until: Instant::now() + limits::QUESTION_PATIENCE, ..Effort::default() }
    }
}

/// The same with another effort.
pub(crate) fn hits_within(
    effort: &Effort,
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
    wanted: Wanted,
) -> Result<Hits, OpError> {
    let conditions = Conditions::of(rx, filter)?;
    if conditions.admit_nothing() {
        let query = query.relaxed().unwrap_or_else(|| query.clone());
        let evidence = Evidence::default();
        return Ok(Hits { hits: Vec::new(), query, weighed: 0, partial: false, evidence });
    }
    let Attempt { mut found, left } = find(rx, query, &conditions, effort, wanted)?;
    // A second attempt has what the first left of the time.
    let effort = &Effort { sifting: left, ..*effort };
    if let Some(relaxed) = query.relaxed().filter(|_| found.hits.is_empty()) {
        let second = find(rx, &relaxed, &conditions, effort, wanted)?.found;
        return Ok(Hits { partial: found.partial || second.partial, ..second });
    }
    // When no word is there, words that begin alike may be. Where there was no time to look at all that has
    // one, nobody knows that none is there.
    let no_word = !found.partial
        && found.query.form == query.form
        && found.hits.iter().all(|hit| hit.lexical == 0.0);
    if let Some(beginnings) = query.prefix().filter(|_| no_word) {
        let begun = find(rx, &beginnings, &conditions, effort, wanted)?.found;
        if !begun.hits.is_empty() {
            return Ok(begun);
        }
        // Nor is it known that none begins so.
        found.partial |= begun.partial;
    }
    Ok(found)
}

/// What looking for one reading of a query came to.
struct Attempt {
    found: Hits,
    /// The time that is left to ask the filter about more.
    left: Duration,
}

/// All documents that match, in order of their ids, for an operation that changes every one of them. Each text is
/// read and checked, however long that takes: a damaged index must not decide what is deleted.
pub fn all(rx: &Rx<'_>, query: &Query, filter: &Filter<'_>) -> Result<Vec<i64>, OpError> {
    let mut found = Vec::new();
    for id in Conditions::of(rx, filter)?.admitted(rx)? {
        if passages::text(rx, id)?.is_some_and(|text| query.is_met_by(&text)) {
            found.push(id);
        }
    }
    Ok(found)
}

/// The result of [`all`] according to the index.
#[cfg(test)]
pub(crate) fn all_by_index(
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
) -> Result<Vec<i64>, OpError> {
    let conditions = Conditions::of(rx, filter)?;
    let passages = rx.passages()?;
    let found = Look::for_all(rx, &passages, &conditions).documents(&query.condition())?;
    let mut ids: Vec<i64> = conditions.documents(rx, found.ids())?.into_keys().collect();
    ids.sort_unstable();
    Ok(ids)
}

fn find(
    rx: &Rx<'_>,
    query: &Query,
    conditions: &Conditions,
    effort: &Effort,
    wanted: Wanted,
) -> Result<Attempt, OpError> {
    let passages = rx.passages()?;
    let is_weighed = query.form == Form::AnyTerm && wanted.order != Order::Newest;
    let means = is_weighed && effort.recipe == Recipe::Table;
    let vector = means.then(|| Vector::of(query.typed())).flatten();
    let more = asks_for_meaning(query);
    let near = vector.as_ref().filter(|_| more);
    nearest::beside(&passages, conditions, near, |scan| {
        let meant = Meant { vector: vector.as_ref(), scan, more };
        let search = Search { rx, query, conditions, effort, passages: &passages };
        search.run(wanted, is_weighed.then_some(meant))
    })
}

/// What a query means.
struct Meant<'m> {
    vector: Option<&'m Vector>,
    /// The look for what is nearest to it, if that is wanted.
    scan: Option<Begun<'m>>,
    /// Whether what has none of its words is listed too.
    more: bool,
}

/// One reading of a query, and what it is looked for in.
struct Search<'s, 'r> {
    rx: &'s Rx<'r>,
    query: &'s Query,
    conditions: &'s Conditions,
    effort: &'s Effort,
    passages: &'s Passages,
}

impl Search<'_, '_> {
    /// What is found, weighed by more than its words if it is known what the query means.
    fn run(&self, wanted: Wanted, meant: Option<Meant<'_>>) -> Result<Attempt, OpError> {
        let Wanted { order, limit, spread } = wanted;
        let Search { rx, query, conditions, effort, passages } = *self;
        let named = Named::of(rx, query, conditions, passages, effort)?;
        let mut found = self.found(&named, meant.is_some())?;
        let whole = std::mem::take(&mut found.whole);
        let evidence = std::mem::take(&mut found.evidence);
        // If what was typed is a name that some document contains, those that do not are not meant.
        let mut waiting = Waiting::of(rx, passages, query, conditions)?;
        let name = query.name().filter(|_| !named.exact.is_empty() || waiting.any_exact());
        if let Some(name) = &name {
            found.keep(&named);
            waiting.keep(name);
        }
        // Of what contains a name it was looked for all, whatever became of its words one by one.
        let mut partial = (found.partial && name.is_none()) || named.partial || waiting.partial;
        let exact: HashSet<i64> = named.exact.iter().filter_map(|at| passages.doc(*at)).collect();
        let scored = ranking::added_up(found.scored);
        let most = limits::SEARCH_CANDIDATES;
        let mut sift = Sift::new(rx, passages, conditions, effort.sifting);
        let newest = match order {
            Order::BestAndNewest => {
                sift.documents(Wanted::of(Order::Newest, most), latest(&scored))?
            }
            Order::Best | Order::Newest => Vec::new(),
        };
        let by = if order == Order::Newest { Order::Newest } else { Order::Best };
        let typed = among_scored(&scored, &named.exact);
        // Those that are weighed against each other are always the same, however many are wanted.
        let mut documents =
            sift.documents(Wanted { order: by, limit: limit.max(most), spread }, scored)?;
        let mut others = documents.split_off(most.min(documents.len()));
        add(&mut documents, newest);
        let (mut hits, weighed) = if let Some(meant) = meant {
            let mut hits = self.weighed(documents, &whole, &named, waiting, meant)?;
            hits.iter_mut().for_each(|hit| hit.exact |= exact.contains(&hit.id));
            hits.sort_by_key(|hit| !hit.exact);
            let weighed = if order == Order::Best { most.min(hits.len()) } else { hits.len() };
            let most = hits.iter().map(|hit| hit.lexical).fold(0.0, f64::max);
            behind(&mut hits, others, most);
            (hits, weighed)
        } else {
            match by {
                Order::Newest => add(&mut documents, std::mem::take(&mut others)),
                _ => {
                    let most = limits::SEARCH_EXACT_READ;
                    add(&mut documents, sift.documents(Wanted::of(by, most), typed)?);
                }
            }
            let mut hits = in_order(documents, waiting, by, &exact);
            let weighed = hits.len();
            // Whatever they are, they stay behind: else a further page would begin otherwise than this one ends.
            behind(&mut hits, others, 1.0);
            (hits, weighed)
        };
        hits.iter_mut().for_each(|hit| hit.exact |= exact.contains(&hit.id));
        partial |= sift.partial;
        // Of what was weighed nothing is left out where whoever asks weighs on.
        let all = match order {
            Order::BestAndNewest => weighed,
            Order::Best if limit >= most => weighed,
            Order::Best | Order::Newest => 0,
        };
        let reach = spread.map_or(0, |spread| {
            let reach = spread.reach(hits.iter().map(|hit| hit.session));
            reach.unwrap_or(hits.len()).min(limits::SEARCH_SPREAD_MAX)
        });
        hits.truncate(limit.max(all).max(reach));
        let weighed = weighed.min(hits.len());
        let query = if name.is_some() { query.named() } else { query.clone() };
        let found = Hits { hits, query, weighed, partial, evidence };
        Ok(Attempt { found, left: sift.left })
    }

    /// The passages that have what is asked for, with what that is worth.
    fn found(&self, named: &Named, weighs: bool) -> Result<Found<'_>, OpError> {
        let Search { rx, query, conditions, effort, passages } = *self;
        let mut found = Found { weighs, ..Found::new(passages) };
        match query.form {
            Form::Empty => {}
            // What contains a name has its words side by side, all of it.
            Form::AnyTerm if query.name().is_some() && !named.exact.is_empty() => {
                found.with_words_alone(rx, query, conditions, effort)?;
            }
            Form::AnyTerm => found.with_words(rx, query, conditions, effort)?,
            Form::Operators | Form::AllTerms | Form::Prefix => match query.condition() {
                Condition::Has(..) | Condition::Word(_) => {
                    found.by_index(rx, query, conditions, effort)?;
                }
                condition => found.by_record(rx, query, &condition, conditions, effort)?,
            },
        }
        Ok(found)
    }

    /// Weighs documents against each other, by their words, by what is around them and by what they mean.
    fn weighed(
        &self,
        documents: Vec<(Hit, usize)>,
        whole: &[f64],
        named: &Named,
        waiting: Waiting,
        meant: Meant<'_>,
    ) -> Result<Vec<Hit>, OpError> {
        let Search { rx, conditions, passages, .. } = *self;
        let Meant { vector, scan, more } = meant;
        let mut candidates = Candidates::new(passages, documents);
        candidates.admit(rx, conditions, &named.exact)?;
        candidates.look_around(rx, conditions, whole, more)?;
        if let Some(vector) = vector {
            let nearest = scan.map(Begun::finish).unwrap_or_default();
            candidates.compare(rx, conditions, vector, &nearest)?;
        }
        candidates.wait_for(waiting.compared(vector));
        Ok(candidates.ranked())
    }
}

/// Adds documents that were not weighed behind those that were, as far as they are not among them, in the
/// order of their own words, which count as a share of the most that words say.
fn behind(hits: &mut Vec<Hit>, others: Vec<(Hit, usize)>, most: f64) {
    let known: HashSet<i64> = hits.iter().map(|hit| hit.id).collect();
    let least = hits.iter().map(|hit| hit.score).fold(f64::INFINITY, f64::min);
    let new = others.into_iter().map(|(hit, _)| hit).filter(|hit| !known.contains(&hit.id));
    hits.extend(new.map(|hit| Hit { score: least.min(hit.lexical / most), ..hit }));
}

/// The documents, and those that the index does not know yet, in their order; where that is not by time, what
/// was typed just so comes first.
fn in_order(
    found: Vec<(Hit, usize)>,
    waiting: Waiting,
    by: Order,
    exact: &HashSet<i64>,
) -> Vec<Hit> {
    let hits = found.into_iter().map(|(hit, _)| Hit { exact: exact.contains(&hit.id), ..hit });
    let mut hits = among(hits.collect(), waiting, by);
    if by == Order::Best {
        hits.sort_by_key(|hit| !hit.exact);
    }
    hits
}

/// The hits and the documents that the index does not know yet, in their order.
fn among(mut hits: Vec<Hit>, waiting: Waiting, order: Order) -> Vec<Hit> {
    if !waiting.found.is_empty() {
        let known: HashSet<i64> = waiting.found.iter().map(|(hit, _)| hit.id).collect();
        hits.retain(|hit| !known.contains(&hit.id));
        hits.extend(waiting.found.into_iter().map(|(hit, _)| hit));
        hits.sort_by(|a, b| {
            let newer = (b.at, b.id).cmp(&(a.at, a.id));
            match order {
                Order::Newest => newer,
                Order::Best | Order::BestAndNewest => b.lexical.total_cmp(&a.lexical).then(newer),
            }
        });
    }
    hits.iter_mut().for_each(|hit| hit.score = hit.lexical);
    hits
}

/// Whether the query is a question rather than a name: only then is it worth to list what has none of
/// its words. It has two different words then that say something.
pub fn asks_for_meaning(query: &Query) -> bool {
    let said = |part: &str| -> Vec<String> {
        let words = text::words::words(part).map(|(_, word)| word.to_lowercase());
        words.filter(|word| !text::words::is_stop(word)).collect()
    };
    let mut said = query.typed().split_whitespace().map(said).filter(|said| !said.is_empty());
    said.next().is_some_and(|first| said.any(|other| other != first))
}

/// Passages with their scores, as they are found.
struct Found<'p> {
    passages: &'p Passages,
    scored: Vec<Scored>,
    partial: bool,
    /// Whether documents are weighed by their sessions too, and what these are worth as whole texts.
    weighs: bool,
    whole: Vec<f64>,
    evidence: Evidence,
}

#[derive(Clone, Copy)]
struct Scored {
    passage: usize,
    score: f64,
}

impl<'p> Found<'p> {
    fn new(passages: &'p Passages) -> Found<'p> {
        Found {
            passages,
            scored: Vec::new(),
            partial: false,
            weighs: false,
            whole: Vec::new(),
            evidence: Evidence::default(),
        }
    }

    /// Leaves only what contains what was typed.
    fn keep(&mut self, named: &Named) {
        let passages = self.passages;
        self.scored.retain(|one| passages.doc(one.passage).is_some_and(|doc| named.admits(doc)));
        let exact = named.exact.iter().map(|passage| Scored { passage: *passage, score: 0.0 });
        self.scored.extend(exact);
    }

    /// Whatever the full-text index finds, within the time that there is.
    fn by_index(
        &mut self,
        rx: &Rx<'_>,
        query: &Query,
        conditions: &Conditions,
        effort: &Effort,
    ) -> Result<(), OpError> {
        let scope = conditions.scope(rx, effort.scope_documents)?;
        let scope = scope.map(|scope| filter::list(scope.into_iter()));
        let _deadline = Deadline::at(effort.until);
        self.newest(rx, &query.expression(), scope.as_deref(), effort.rows)
    }

    /// The documents that fulfil a condition as a whole, within the time that there is. Each counts as
    /// much as the words that it may have.
    fn by_record(
        &mut self,
        rx: &Rx<'_>,
        query: &Query,
        condition: &Condition,
        conditions: &Conditions,
        effort: &Effort,
    ) -> Result<(), OpError> {
        let passages = self.passages;
        let scope = conditions.scope(rx, effort.scope_documents)?;
        let scope: Option<HashSet<i64>> = scope.map(|scope| scope.into_iter().collect());
        let in_scope = |passage: usize| {
            scope
                .as_ref()
                .is_none_or(|scope| i64::try_from(passage).is_ok_and(|p| scope.contains(&p)))
        };
        let asked: Vec<String> = query.whole_words().cloned().collect();
        let mut words = any_term::words(rx, passages, &asked)?.unwrap_or_default();
        let mut look = Look::within(effort, rx, passages, conditions, &words);
        let chosen = look.documents(condition)?;
        self.partial |= look.partial;
        let others = look.scored;
        let admits = |passage: usize| {
            passages.doc(passage).is_some_and(|doc| chosen.has(doc))
                && conditions.admits(passages, passage)
                && in_scope(passage)
        };
        let newest = (0..passages.end()).rev().filter(|passage| admits(*passage));
        let newest: Vec<usize> = newest.take(effort.rows).collect();
        self.partial |= newest.len() == effort.rows;
        let first = newest.last().copied().unwrap_or_default();
        words.truncate(limits::QUERY_WORDS_MAX);
        self.scored = any_term::score(passages, &words, first, conditions, &admits);
        let others = others.into_iter();
        self.scored.extend(others.filter(|one| one.passage >= first && admits(one.passage)));
        // Also documents that count for nothing, because all of their words are small ones.
        self.scored.extend(newest.into_iter().map(|passage| Scored { passage, score: 0.0 }));
        Ok(())
    }

    /// Passages with any of the words, and more for those in which two of them are adjacent.
    fn with_words(
        &mut self,
        rx: &Rx<'_>,
        query: &Query,
        conditions: &Conditions,
        effort: &Effort,
    ) -> Result<(), OpError> {
        let Some(words) = self.with_words_alone(rx, query, conditions, effort)? else {
            return Ok(());
        };
        let passages = self.passages;
        let (pairs, too_dear) = affordable_pairs(query, &words, effort.rows);
        self.partial |= too_dear;
        let without_pairs = self.scored.len();
        let _deadline = Deadline::at(effort.until);
        self.newest(rx, &pairs.join(" OR "), None, effort.rows)?;
        let pairs: Vec<Scored> = self.scored.drain(without_pairs..).collect();
        let admits = |pair: &Scored| conditions.admits(passages, pair.passage);
        let admitted = pairs.into_iter().filter(admits);
        self.scored.extend(
            admitted
                .map(|Scored { passage, score }| Scored { passage, score: score * PAIRS_WEIGHT }),
        );
        Ok(())
    }

    /// Passages with any of the words. Gives the words that some passage has; none if no word says anything.
    fn with_words_alone<'q>(
        &mut self,
        rx: &Rx<'_>,
        query: &'q Query,
        conditions: &Conditions,
        effort: &Effort,
    ) -> Result<Option<Vec<Word<'q>>>, OpError> {
        let passages = self.passages;
        let Some(mut words) = any_term::words(rx, passages, &query.words)? else {
            // Only the full-text index knows words that say nothing.
            self.by_index(rx, query, conditions, effort)?;
            return Ok(None);
        };
        self.partial |= words.len() > limits::QUERY_WORDS_MAX;
        words.truncate(limits::QUERY_WORDS_MAX);
        let of_run = |passage: usize| conditions.admits_of_run(passages, passage);
        self.scored = any_term::score(passages, &words, 0, conditions, &of_run);
        self.evidence = Evidence::of(passages, query, &words, effort.recipe);
        if self.weighs {
            self.whole = any_term::whole_sessions(passages, &words);
        }
        Ok(Some(words))
    }

    /// Adds the passages that match, the newest if there are too many. A scope says which passages
    /// count at all.
    fn newest(
        &mut self,
        rx: &Rx<'_>,
        expression: &str,
        scope: Option<&str>,
        max: usize,
    ) -> Result<(), OpError> {
        const NEWEST: &str = "SELECT rowid, bm25(passage_fts, 1.0, 0.5) FROM passage_fts \
             WHERE passage_fts MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        // The plus keeps the index from looking up every word for every single passage.
        const NEWEST_IN_SCOPE: &str = "SELECT rowid, bm25(passage_fts, 1.0, 0.5) FROM passage_fts \
             WHERE passage_fts MATCH ?1 AND +rowid IN (SELECT value FROM json_each(?3)) \
             ORDER BY rowid DESC LIMIT ?2";
        if expression.is_empty() || scope == Some(filter::NOTHING) {
            return Ok(());
        }
        let before = self.scored.len();
        let mut values: Vec<Value> =
            vec![expression.to_owned().into(), i64::try_from(max).unwrap_or(i64::MAX).into()];
        values.extend(scope.map(|scope| scope.to_owned().into()));
        let sql = if scope.is_some() { NEWEST_IN_SCOPE } else { NEWEST };
        rx.sql(|db| match self.collect(db, sql, &values) {
            // What was found until time was up stays.
            Err(error) if deadline::is_up() && is_interrupt(&error) => {
                self.partial = true;
                Ok(())
            }
            // The postings still find single words.
            Err(error) if is_index_fault(&error) => {
                rx.note_damaged_index();
                self.partial = true;
                Ok(())
            }
            done => done,
        })?;
        self.partial |= self.scored.len() - before == max;
        Ok(())
    }

    /// Runs the statement and adds its rows.
    fn collect(&mut self, db: &Connection, sql: &str, values: &[Value]) -> rusqlite::Result<()> {
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            // The index counts downwards: the better, the smaller.
            let score = -row.cell::<f64>(1)?;
            self.scored.push(Scored { passage: row.cell(0)?, score });
        }
        Ok(())
    }
}

/// These passages with the scores that they have.
fn among_scored(scored: &[Scored], wanted: &[usize]) -> Vec<Scored> {
    let wanted: HashSet<usize> = wanted.iter().copied().collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    scored.iter().filter(|one| wanted.contains(&one.passage)).copied().collect()
}

/// The passages that came last, among which the newest documents are: these come in about the order in which
/// they happened.
fn latest(scored: &[Scored]) -> Vec<Scored> {
    scored.get(scored.len().saturating_sub(CANDIDATES_AT_MOST)..).unwrap_or_default().to_vec()
}

/// Adds the documents that are not there yet.
fn add(documents: &mut Vec<(Hit, usize)>, more: Vec<(Hit, usize)>) {
    let known: HashSet<i64> = documents.iter().map(|(hit, _)| hit.id).collect();
    documents.extend(more.into_iter().filter(|(hit, _)| !known.contains(&hit.id)));
}

fn is_interrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

/// Pairs of adjacent words that some passage may have, and whether others were left out. Finding them
/// costs as much as finding the rarer of the two.
fn affordable_pairs(query: &Query, words: &[Word<'_>], max: usize) -> (Vec<String>, bool) {
    let known: HashMap<&str, usize> = words.iter().map(|word| (word.word, word.count)).collect();
    let rarer = |pair: &[String; 2]| {
        let counts = pair.iter().map(|word| known.get(word.as_str()).copied());
        counts.reduce(|a, b| Some(a?.min(b?))).flatten()
    };
    let costs: Vec<_> = query.pairs.iter().filter_map(|pair| Some((pair, rarer(pair)?))).collect();
    let affordable = costs.iter().filter(|(_, cost)| *cost <= max);
    let phrases: Vec<String> = affordable.map(|(pair, _)| query::phrase(*pair)).collect();
    let left_out = phrases.len() < costs.len();
    (phrases, left_out)
}
