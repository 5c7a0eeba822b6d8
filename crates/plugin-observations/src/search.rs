//! `search`: records by their words, best first, each with the reasons why it is there.

mod for_models;
mod look_up;
mod own_session;
mod printed;
mod refine;
mod turns;
mod typed_command;
mod without_filter;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use contract::pretty::{accent, notes, pretty, refusal};
use contract::{CliShape, Cx, Example, Listed, Op, OpInfo};
use model::observation::{ObsType, Observation, RecordType};
use model::rank::{self, Score};
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::search::{self, Completeness, Filter, Hit, Hits, Order, Recipe, Spread, TextsRead};
use store::{Rx, check_type, commits, sessions};
use text::query::{self, Finder, Form, Query};

use crate::examples;
use crate::get_observations::LISTED_RECORDS;
use crate::note::{self, MERELY_SIMILAR, Note};
use crate::records_read::RecordsRead;
use crate::replaced::Replacements;
use crate::show;
use contract::Count;
use contract::TimeBound;
pub(crate) use for_models::is_named;
use place::FileQuestion;
use place::{About, Wanted};
use refine::Folds;

pub(crate) struct Search;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchParams {
    /// A question or words; `AND OR NOT NEAR() "phrase" prefix*` work.
    query: String,
    /// Yours if left out; `*` for all.
    #[serde(default)]
    project: Wanted,
    /// Only this type, for example `user_prompt`, `answer`, `command_error` or `git_commit`.
    #[serde(default)]
    obs_type: Option<RecordType>,
    /// Only this session.
    #[serde(default)]
    session_id: Option<String>,
    /// Only this file; the end of its path is enough.
    #[serde(default)]
    file_path: Option<String>,
    /// Such as `claude-code`.
    #[serde(default)]
    agent: Option<String>,
    /// Only failures, or none.
    #[serde(default)]
    failed: Option<bool>,
    /// A date, `yesterday`, `3d` or an RFC 3339 time.
    #[serde(default)]
    before: Option<TimeBound>,
    /// As `before`.
    #[serde(default)]
    after: Option<TimeBound>,
    /// From 1 to 100.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Hits to skip.
    #[serde(default)]
    offset: Count,
    /// Sort order.
    #[serde(default, alias = "orderBy")]
    order_by: OrderBy,
    /// Fold equal texts; limit weak hits per session.
    #[serde(default = "yes")]
    diverse: bool,
    /// Give reasons and scores.
    #[serde(default)]
    explain: bool,
    /// Which part of a text is shown. Not in the schema: only the name `nmem` asks for another one.
    #[serde(default)]
    #[schemars(skip)]
    preview: Preview,
    /// The columns of the table for people. Not in the schema: the command line adds them.
    #[serde(default)]
    #[schemars(skip)]
    columns: Vec<String>,
}

/// Which part of a record's text a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Preview {
    /// The passage with most words of the query.
    #[default]
    Passage,
    /// Its first characters, without a mark where they end.
    Beginning,
}

/// Shown if the full-text index could not be read.
const DAMAGED_INDEX: &str = "The search index is damaged and is being rebuilt from the records; some results may be \
     missing. Search again in a moment; `rekindle doctor` says whether it is sound.";

fn default_limit() -> Count {
    Count::new(limits::SEARCH_DEFAULT)
}

fn yes() -> bool {
    true
}

/// The order of the hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OrderBy {
    /// Words and meaning; of about equal matches the newer. For a question, answers before questions.
    #[default]
    Best,
    /// Words and meaning alone.
    Relevance,
    /// Half by words and meaning, half by age and type.
    Blended,
    /// The newest record with one of the words.
    Recent,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct SearchOutput {
    /// Present if the results are merely similar: none is likely to be what was asked for, or none contains a word
    /// of the query.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    merely_similar: bool,
    results: Vec<FoundRecord>,
    /// How the query was understood: `operators`, `any_term`, `all_terms` (it is a path, an identifier or
    /// a code, and only what contains it is listed), `prefix` (no word was found, words that begin alike
    /// were) or `empty`.
    query_form: Cow<'static, str>,
    /// Whether hits may be missing, because not everything was checked.
    partial: bool,
    /// Why results may be missing, and what to do, if the full-text index is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<Cow<'static, str>>,
    /// If nothing was found, or only what is merely similar: the filters without which there is an answer, each alone
    /// or, if no single one is the reason, all together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    excluded_by: Vec<Cow<'static, str>>,
    /// The `offset` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
    #[serde(flatten)]
    about: About,
}

/// A record that was found.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct FoundRecord {
    id: i64,
    /// Seconds since 1970, UTC.
    timestamp: i64,
    #[schemars(with = "String")]
    obs_type: RecordType,
    /// The passage that matched, up to 120 characters, with `…` where it was cut; `get_observations` has the
    /// whole text.
    content_preview: String,
    file_path: Option<String>,
    /// Left out for a record that is in no session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    session_id: String,
    project: String,
    is_pinned: bool,
    /// How many records say the same, if there are several; this is the newest of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    /// Its relation to other records: `answers #ID`, `resulted from #ID`, `failed, #ID worked later`, `replaces #ID` or
    /// `replaced by #ID`, or the status of a hypothesis that is not proved; after `merely similar` if no hit is likely to be what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// From 0 to 1.
    score: f64,
    match_explain: MatchExplain,
}

/// Score, reasons and parts.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct MatchExplain {
    score: f64,
    reasons: Vec<String>,
    parts: Parts,
}

/// The scores of a hit before they are combined for the order, each from 0 to 1.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Parts {
    /// Its own words, relative to the best hit, as are the next two.
    lexical: f64,
    /// The records before and after it in its session.
    neighbours: f64,
    /// Its session as a whole.
    session: f64,
    /// How near it is in meaning to the question.
    meaning: f64,
    /// 1 for now, halved every week.
    recency: f64,
    /// By the type of the record.
    r#type: f64,
}

impl Op for Search {
    const INFO: OpInfo = OpInfo {
        name: "search",
        summary: "Search what agents did, said and ran into",
        doc: "Prompts, answers, edits, commands, commits, errors. Call it before you solve something anew. Ask in plain words; get_observations has whole records.",
        toolset: "memory",
        core: true,
        advanced: &["session_id", "agent", "offset", "order_by", "diverse", "explain"],
        hidden: &["preview", "columns"],
        upfront: true,
        cli: CliShape {
            path: &["search"],
            positional: &["query"],
            rest: true,
            flag_aliases: &[("obs_type", "type"), ("session_id", "session"), ("file_path", "file")],
            pretty: Some(pretty::<Self>),
            columns: show::COLUMNS,
            notes: Some(notes::<Self>),
            refusal: Some(refusal::<Self>),
            accent: Some(accent::<Self>),
            listed: Some(Listed { asked: Some("query"), ..LISTED_RECORDS }),
            ..CliShape::CALL_ONLY
        },
        brief: Some(for_models::brief),
        examples: &[
            Example {
                title: "Why did the login fail?",
                before: examples::A_SESSION,
                params: r#"{"query":"login bug","project":"*"}"#,
            },
            Example {
                title: "Edits that mention tokens or a ttl",
                before: examples::A_SESSION,
                params: r#"{"query":"token* OR ttl","project":"*","obs_type":"file_edit","order_by":"recent"}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = SearchParams;
    type Output = SearchOutput;

    fn run(&self, cx: &Cx<'_>, params: SearchParams) -> Result<SearchOutput, OpError> {
        let query = query::rewrite(&params.query);
        let meaning = cx.config.boolean("search.meaning");
        let recipe = if meaning { Recipe::Table } else { Recipe::Lexical };
        let question = cx.caller.projects(params.project.clone());
        // The place is read from the disk before the store is read.
        cx.caller.place();
        let anywhere = params.project == Wanted::All;
        let file = params.file_path.as_deref();
        let file =
            file.map(|path| cx.caller.file(cx.store.whole(), path.trim(), anywhere)).transpose()?;
        let (mut output, whole) = cx.store.search(|rx| {
            let scope = question.scope(rx)?;
            let projects = scope.ids();
            let filter = Filter {
                root: scope.root(),
                ..params.filter(cx, rx, file.as_ref(), projects.as_deref())?
            };
            let own = own_session::of(rx, cx)?;
            let mut found = params.find(rx, &filter, &query, recipe, (cx.now, own))?;
            let ranked = std::mem::take(&mut found.ranked);
            let (mut page, next_offset) = match found.merely_similar {
                true => params.similar(ranked),
                false => params.page(&query, ranked),
            };
            found.mark_replaced(rx, &mut page)?;
            let only_similar =
                found.query.form == Form::AnyTerm && !page.iter().any(Ranked::has_words);
            let results = records(rx, &mut found, page, params.preview)?;
            let merely_similar = found.merely_similar || (only_similar && !results.is_empty());
            // Merely similar hits may hide that another project has the answer.
            let is_missing = results.is_empty() || (merely_similar && params.offset.get() == 0);
            let excluded_by = match is_missing && !found.completeness.is_partial() {
                true => params.excluded_by(rx, &filter, &query, recipe, (cx.now, own))?,
                false => Vec::new(),
            };
            let ids = results.iter().map(|hit| hit.session_id.as_str());
            let about = About { id_chars: show::id_chars(cx, rx, ids)?, ..scope.about(cx.now) };
            Ok(SearchOutput {
                merely_similar,
                results,
                excluded_by,
                query_form: found.query.form.word().into(),
                partial: found.completeness.is_partial() || query.cut,
                warning: rx.met_damaged_index().then_some(DAMAGED_INDEX.into()),
                next_offset,
                about,
            })
        })?;
        output.partial |= !whole;
        if output.warning.is_some() {
            cx.store.whole().mend_index_later();
        }
        Ok(output)
    }
}

impl OrderBy {
    /// The order in which the store finds hits.
    fn in_store(self) -> Order {
        match self {
            OrderBy::Recent => Order::Newest,
            OrderBy::Best | OrderBy::Relevance => Order::Best,
            OrderBy::Blended => Order::BestAndNewest,
        }
    }

    /// The score of a hit in this order.
    fn score(self, relevance: f64, best: f64, hit: &Hit, now: i64) -> Score {
        let score = if self == OrderBy::Best { rank::best } else { rank::blended };
        score(relevance, best, hit.kind.obs_type(), hit.at, now)
    }

    /// The part of the score that this order sorts by.
    fn of(self, score: &Score) -> f64 {
        match self {
            OrderBy::Relevance => score.lexical.unwrap_or_default(),
            OrderBy::Best | OrderBy::Blended => score.total,
            OrderBy::Recent => score.recency,
        }
    }
}

/// How the query names a hit, if it does. Later variants rank first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    No,
    /// The hit is a command line that contains the query as a phrase.
    Command,
    /// The hit contains the path, identifier or code of the query exactly as typed.
    Exactly,
    /// The hit is the commit whose hash the query names.
    Commit,
}

/// A hit with the values that it is ranked by.
#[derive(Clone, Copy)]
struct Ranked {
    hit: Hit,
    score: Score,
    /// The highest word score of all hits.
    words: f64,
    named: Named,
    /// The score that the order sorts by, 1 for a leading exact match. `own` is without that bonus and breaks ties.
    first: f64,
    own: f64,
    /// The number of records that were folded into this hit, itself included.
    count: usize,
    /// The id of the oldest of these records.
    oldest: i64,
    note: Option<Note>,
}

impl Ranked {
    /// Whether the record contains a word of the query, or the query names it.
    fn has_words(&self) -> bool {
        self.hit.lexical > 0.0 || self.named > Named::No
    }

    fn seconds(&self) -> i64 {
        self.hit.at.div_euclid(1_000)
    }
}

/// The hits of a search in the requested order.
struct Found {
    ranked: Vec<Ranked>,
    query: Query,
    completeness: Completeness,
    /// Whether no hit is a likely answer.
    merely_similar: bool,
    records: RecordsRead,
    replaced: Replacements,
}

impl Found {
    /// Marks the hits of a page that a newer record replaced.
    fn mark_replaced(&mut self, rx: &Rx<'_>, page: &mut [Ranked]) -> Result<(), OpError> {
        self.replaced.look_up(rx, page.iter().map(|one| one.hit), &mut self.records)?;
        for one in page {
            one.note = self.replaced.note(one.hit.id).or(one.note);
        }
        Ok(())
    }
}

impl SearchParams {
    /// The filter that the parameters describe, within these projects.
    fn filter<'f>(
        &'f self,
        cx: &Cx<'_>,
        rx: &Rx<'_>,
        file: Option<&'f FileQuestion<'f>>,
        projects: Option<&'f [i64]>,
    ) -> Result<Filter<'f>, OpError> {
        let (form, now) = (cx.caller.session_id_form(), cx.now);
        let session = match &self.session_id {
            Some(given) => Some(sessions::find_with_records(rx, given, form)?.id),
            None => None,
        };
        if let Some(kind) = self.obs_type {
            check_type(rx, "obs_type", kind)?;
        }
        Ok(Filter {
            projects,
            kind: self.obs_type,
            session,
            file: file.map(|file| file.path(rx, projects)).transpose()?,
            also: file.map_or(&[], |file| &file.also),
            agent: self.agent.as_deref(),
            failed: self.failed,
            before: self.before.as_ref().map(|when| when.before(now)),
            after: self.after.as_ref().map(|when| when.after(now)),
            ..Filter::default()
        })
    }

    fn find(
        &self,
        rx: &Rx<'_>,
        filter: &Filter<'_>,
        query: &Query,
        recipe: Recipe,
        (now, own_session): (i64, Option<i64>),
    ) -> Result<Found, OpError> {
        // One hit beyond the page shows whether there are more.
        let wanted = self.offset.get().saturating_add(self.limit()).saturating_add(1);
        let wanted = wanted.max(limits::SEARCH_CANDIDATES);
        let order = self.order_by.in_store();
        let spread =
            self.per_session(query).map(|per_session| Spread { per_session, count: self.limit() });
        let wanted = search::Wanted { order, limit: wanted, spread };
        let mut hits = search::hits_by(recipe, rx, query, filter, wanted)?;
        self.leave_out_own_prompts(&mut hits, own_session);
        // Every page ranks the same hits against each other: else a hit could be on two pages and another one
        // on none.
        let mut others = match order {
            Order::Newest => Vec::new(),
            _ => hits.hits.split_off(hits.weighed.min(hits.hits.len())),
        };
        let named = commits_named(rx, query, filter)?;
        if query.form != Form::Operators {
            hits.hits.retain(|hit| !named.contains_key(&hit.id));
            hits.hits.extend(named.values());
        }
        let known: HashSet<i64> = hits.hits.iter().map(|hit| hit.id).collect();
        others.retain(|other| !known.contains(&other.id));
        let best = highest(&hits.hits, |hit| hit.score);
        let words = highest(&hits.hits, Hit::words);
        let mut records = RecordsRead::default();
        let commands = match self.order_by == OrderBy::Best && self.diverse {
            true => typed_command::among(rx, query, &hits, &mut records)?,
            false => HashSet::new(),
        };
        let rank = |hit: Hit| {
            let named = match hit.exact {
                _ if named.contains_key(&hit.id) => Named::Commit,
                true => Named::Exactly,
                false if commands.contains(&hit.id) => Named::Command,
                false => Named::No,
            };
            let relevance = if named > Named::No { best } else { hit.score };
            let score = self.order_by.score(relevance, best, &hit, now);
            let by_order = self.order_by.of(&score);
            // An exact match of a query with operators, such as one quoted phrase, gets the highest relevance, but
            // not the score 1: age and type still count.
            let leads = named > Named::No
                && self.order_by != OrderBy::Recent
                && query.form != Form::Operators;
            let own = match self.order_by {
                OrderBy::Best if named == Named::Command => score.total,
                OrderBy::Best => self.order_by.score(hit.score, best, &hit, now).total,
                _ => hit.score,
            };
            let first = if leads { 1.0 } else { by_order };
            Ranked { hit, score, words, named, own, first, count: 1, oldest: hit.id, note: None }
        };
        // All records about a file match its path equally well.
        let names_path = self.order_by == OrderBy::Best
            && query.name().is_some_and(|exact| exact.name().contains('/'));
        let mut ranked: Vec<Ranked> = hits.hits.iter().copied().map(rank).collect();
        ranked.sort_by(|a, b| {
            // To the second, as in the store: else a page could have another order than the store.
            let newer = (b.seconds(), b.hit.id).cmp(&(a.seconds(), a.hit.id));
            match self.order_by {
                OrderBy::Recent => newer,
                _ if names_path && a.named == b.named && a.named > Named::No => newer,
                _ => {
                    let first = b.first.total_cmp(&a.first).then(b.own.total_cmp(&a.own));
                    b.named.cmp(&a.named).then(first).then(newer)
                }
            }
        });
        let others: Vec<Ranked> = others.into_iter().map(rank).collect();
        let is_look_up = !asks(query) && query.form != Form::Operators;
        if self.order_by == OrderBy::Best && self.diverse && is_look_up {
            ranked = look_up::in_order(rx, ranked, names_path, &mut records)?;
        }
        self.refined(rx, (filter, own_session), query, (hits, records), (ranked, others))
    }

    /// Removes the prompts of the caller's own session, which answer nothing.
    fn leave_out_own_prompts(&self, hits: &mut Hits, own_session: Option<i64>) {
        if self.order_by != OrderBy::Best || !self.diverse || own_session.is_none() {
            return;
        }
        let is_own =
            |hit: &Hit| hit.kind == ObsType::UserPrompt && own_session == Some(hit.session);
        hits.weighed -= hits.hits.iter().take(hits.weighed).filter(|hit| is_own(hit)).count();
        hits.hits.retain(|hit| !is_own(hit));
    }

    /// Decides whether the hits answer the query at all. In the default order, also folds equal hits into one and
    /// reorders the first hits by their relations. `others` come after all weighed hits.
    fn refined(
        &self,
        rx: &Rx<'_>,
        (filter, own_session): (&Filter<'_>, Option<i64>),
        query: &Query,
        (hits, mut records): (Hits, RecordsRead),
        (mut ranked, mut others): (Vec<Ranked>, Vec<Ranked>),
    ) -> Result<Found, OpError> {
        let is_default = self.diverse && self.order_by == OrderBy::Best;
        let mut first: Vec<Hit> = Vec::new();
        for one in ranked.iter().take(limits::EVIDENCE_HITS) {
            // A question alone does not answer. Its turn, which includes the answer, is judged below.
            let asks = is_default && records.read_hit(rx, one.hit)?.is_some_and(turns::only_asks);
            first.extend((!asks).then_some(one.hit));
        }
        let mut merely_similar = self.diverse
            && self.order_by != OrderBy::Recent
            && !ranked.is_empty()
            && !hits.is_answered(rx, query, &first, |hit| records.terms_of_hit(rx, &hits, hit))?;
        let mut replaced = Replacements::of_question(&self.query);
        if self.diverse && self.order_by == OrderBy::Best {
            let (mut texts, mut folds) = (TextsRead::default(), Folds::default());
            ranked = refine::fold(rx, ranked, (&mut texts, &mut folds), |_| true)?;
            let is_question = hits.query.form == Form::AnyTerm && asks(query);
            if is_question {
                let (scope, asked) = ((filter, own_session), (&hits, self.query.as_str()));
                let is_answered;
                (ranked, is_answered) =
                    turns::by_turns(rx, scope, asked, ranked, (&mut records, &mut folds))?;
                merely_similar &= !is_answered;
                // "Noted." answers many prompts, and the folded hit names only the newest of them, which may be about
                // anything.
                for one in &mut ranked {
                    let other =
                        |note: &Note| matches!(note, Note::Answers(id) if !folds.holds(*id));
                    one.note = one.note.filter(|note| one.count == 1 || !other(note));
                }
                // Answers and commits of turns that were not among the hits may say the same, too.
                ranked = refine::fold(rx, ranked, (&mut texts, &mut folds), |kind| {
                    matches!(kind, ObsType::Answer | ObsType::GitCommit)
                })?;
            }
            let moves = is_question && !turns::quotes_error(&self.query);
            let known = (&mut records, &mut replaced);
            ranked = refine::refine(rx, filter, ranked, (&folds, moves), known)?;
            if is_question {
                leave_out_unlikely(&mut ranked);
                leave_out_unlikely(&mut others);
            }
            // An answer that was added with its turn may be among `others` too.
            let known: HashSet<i64> = ranked.iter().map(|one| one.hit.id).collect();
            others.retain(|other| !known.contains(&folds.shown(other.hit.id)));
        }
        ranked.extend(others);
        let Hits { query, completeness, .. } = hits;
        Ok(Found { ranked, query, completeness, merely_similar, records, replaced })
    }

    fn limit(&self) -> usize {
        self.limit.within(1..=limits::SEARCH_MAX)
    }

    /// The number of weak hits of one session on the first page; `None` for no limit. A search for a word, a
    /// path or a name lists every record that has it.
    fn per_session(&self, query: &Query) -> Option<usize> {
        let narrow = self.session_id.is_some() || self.file_path.is_some();
        (self.diverse && !narrow && !looks_up(query)).then_some(limits::SEARCH_PER_SESSION)
    }

    /// The page if no hit is likely to be an answer: at most a few hits, and no next page.
    fn similar(&self, mut ranked: Vec<Ranked>) -> (Vec<Ranked>, Option<usize>) {
        ranked.truncate(self.limit().min(limits::SEARCH_SIMILAR_MAX));
        (ranked.into_iter().skip(self.offset.get()).collect(), None)
    }

    /// The hits of the page that was asked for, and where the next one begins. On the first page, weak
    /// hits beyond the limit of their session give way to hits of other sessions, and fill the page only if it has room
    /// left. No hit is lost or shown twice.
    fn page(&self, query: &Query, ranked: Vec<Ranked>) -> (Vec<Ranked>, Option<usize>) {
        let limit = self.limit();
        let share = self.per_session(query).unwrap_or(usize::MAX);
        let weak_below = ranked.iter().map(|one| one.own).fold(0.0, f64::max) / 2.0;
        let mut counts: HashMap<i64, usize> = HashMap::new();
        let (mut first, mut behind) = (Vec::new(), Vec::new());
        for (place, one) in ranked.into_iter().enumerate() {
            let count = counts.entry(one.hit.session).or_default();
            let is_weak = one.own < weak_below;
            let has_room = !is_weak || *count < share;
            if first.len() < limit && has_room && place < limits::SEARCH_SPREAD_MAX {
                *count += usize::from(is_weak);
                first.push(one);
            } else {
                behind.push(one);
            }
        }
        let missing = limit.saturating_sub(first.len()).min(behind.len());
        first.extend(behind.drain(..missing));
        let offset = self.offset.get();
        let end = if offset == 0 { first.len() } else { offset.saturating_add(limit) };
        let total = first.len() + behind.len();
        let all = first.into_iter().chain(behind);
        let page = all.skip(offset).take(end - offset).collect();
        (page, (end < total).then_some(end))
    }
}

/// Removes hits of a question, after the first few, that have none of its words, are far from it in meaning, and have
/// no relation to another hit: they were found by their session alone.
fn leave_out_unlikely(ranked: &mut Vec<Ranked>) {
    let mut place = 0;
    ranked.retain(|one| {
        place += 1;
        let is_likely = one.has_words()
            || one.hit.meaning >= limits::SEARCH_LIKELY_MEANING
            || one.note.is_some();
        place <= limits::SEARCH_SIMILAR_MAX || is_likely
    });
}

/// Whether the query looks up a word, a path or a name instead of asking a question.
fn looks_up(query: &Query) -> bool {
    query.exact().is_some() || !search::asks_for_meaning(query)
}

/// Whether the query asks a question: it has two words that say something, and more than a name.
fn asks(query: &Query) -> bool {
    let beside = query.exact().map(|exact| query.typed().replacen(exact.name(), " ", 1));
    let says_more = beside.is_none_or(|rest| {
        let mut words = text::words::words(&rest).map(|(_, word)| word.to_lowercase());
        words.any(|word| !text::words::is_stop(&word))
    });
    search::asks_for_meaning(query) && says_more
}

/// The commits that the query names by their hash.
fn commits_named(
    rx: &Rx<'_>,
    query: &Query,
    filter: &Filter<'_>,
) -> Result<HashMap<i64, Hit>, OpError> {
    let mut named = HashMap::new();
    let hashes = query.words.iter().filter(|word| commits::is_hash(word));
    for hash in hashes.take(limits::QUERY_HASHES_MAX) {
        named.extend(commits::by_hash(rx, hash, filter)?.into_iter().map(|hit| (hit.id, hit)));
    }
    Ok(named)
}

/// The highest value of a measure among the hits; 1 if it is 0 for all of them.
fn highest(hits: &[Hit], of: fn(&Hit) -> f64) -> f64 {
    let most = hits.iter().map(of).fold(0.0, f64::max);
    if most > 0.0 { most } else { 1.0 }
}

/// The records of a page of hits, each with the reasons why it matches.
fn records(
    rx: &Rx<'_>,
    found: &mut Found,
    page: Vec<Ranked>,
    preview: Preview,
) -> Result<Vec<FoundRecord>, OpError> {
    let Found { records, query, merely_similar, .. } = found;
    let finder = query.finder();
    let mut shown = Vec::with_capacity(page.len());
    for one in &page {
        if let Some(record) = records.read_hit(rx, one.hit)? {
            let mut shown_record = FoundRecord::new(record, one, &finder, preview);
            if let Some(doubt) = note::doubt(record) {
                shown_record.note = Some(doubt.to_owned());
            }
            if *merely_similar {
                let note = shown_record.note.map(|note| format!("{MERELY_SIMILAR}; {note}"));
                shown_record.note = note.or_else(|| Some(MERELY_SIMILAR.to_owned()));
            }
            shown.push(shown_record);
        }
    }
    Ok(shown)
}

/// The passage of a record that matched. If only the outcome of an action contains a word of the query, it
/// follows the action: `make deploy: connection refused`. A failed command is followed by the line that names the failure.
fn passage(query: &Finder<'_>, content: &str, metadata: &Value) -> String {
    let contains = |text: &&str| query.is_in(text);
    let member = |name: &str| metadata.get(name)?.as_str();
    let outcome = ["commit_message", "error"].into_iter().filter_map(member).find(contains);
    let finding = member("error").map(text::telling::finding).filter(|line| !line.is_empty());
    match (outcome.filter(|_| !contains(&content)), finding) {
        (Some(outcome), finding) => {
            let done = format!("{}: ", text::one_line(content, limits::PREVIEW_ACTION_CHARS));
            let room = limits::PREVIEW_CHARS.saturating_sub(done.chars().count());
            // Of an error, the most informative line is shown if it contains a word of the query.
            let outcome = finding.filter(|line| contains(line)).unwrap_or(outcome);
            done + &query.excerpt(outcome, room)
        }
        (None, Some(finding)) if metadata["failed"] == true => {
            let done = format!("{}: ", query.excerpt(content, limits::PREVIEW_COMMAND_CHARS));
            let room = limits::PREVIEW_WHOLE_CHARS.saturating_sub(done.chars().count());
            done + &text::one_line(finding, room)
        }
        _ if content.len() <= limits::PREVIEW_WHOLE_CHARS => content.to_owned(),
        _ => query.excerpt(content, limits::PREVIEW_CHARS),
    }
}

impl FoundRecord {
    fn new(
        record: &Observation,
        ranked: &Ranked,
        query: &Finder<'_>,
        preview: Preview,
    ) -> FoundRecord {
        let metadata = record.metadata.as_ref().unwrap_or(&Value::Null);
        let searched =
            Observation::searched(&record.content, record.file_path.as_deref(), metadata);
        let Score { recency, kind, .. } = ranked.score;
        let words = |part: f64| show::rounded(part / ranked.words);
        let score = show::rounded(ranked.first);
        let hash = metadata
            .get("commit_hash")
            .and_then(Value::as_str)
            .filter(|_| ranked.named == Named::Commit);
        let hash = hash.map(|hash| format!("commit {}", show::line(hash)));
        let mut reasons = query.reasons(&searched);
        if ranked.hit.exact {
            reasons.insert(0, "exactly as typed".to_owned());
        }
        if ranked.hit.lexical == 0.0 && ranked.hit.neighbours > 0.0 {
            reasons.push("beside a match in its session".to_owned());
        }
        if ranked.hit.lexical == 0.0 && ranked.hit.meaning > 0.0 {
            reasons.push(format!("near in meaning ({:.2})", ranked.hit.meaning));
        }
        FoundRecord {
            id: record.id,
            timestamp: record.timestamp,
            obs_type: record.obs_type,
            content_preview: match preview {
                Preview::Passage => passage(query, &record.content, metadata),
                Preview::Beginning => record.content.chars().take(limits::PREVIEW_CHARS).collect(),
            },
            file_path: record.file_path.clone(),
            session_id: record.session_id.clone(),
            project: record.project.clone(),
            is_pinned: record.is_pinned,
            count: (ranked.count > 1).then_some(ranked.count),
            note: ranked.note.map(Note::text),
            score,
            match_explain: MatchExplain {
                score,
                reasons: hash.into_iter().chain(reasons).collect(),
                parts: Parts {
                    lexical: words(ranked.hit.lexical),
                    neighbours: words(ranked.hit.neighbours),
                    session: words(ranked.hit.in_session),
                    meaning: show::rounded(ranked.hit.meaning),
                    recency: show::rounded(recency),
                    r#type: kind,
                },
            },
        }
    }
}
