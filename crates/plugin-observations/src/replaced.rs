//! Records of talk that a newer record replaced. Search, lists and the briefing use this one rule, whichever other
//! records they show. In a search, a record keeps its place if the question is about a part of it that is still true.

mod constants;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::sync::Arc;

use model::OpError;
use model::observation::{ObsType, Observation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::search::{self, Filter, Hit, TalkText};
use store::{Rx, TextQuestion, observations, passages, prompts, superseded_by};
use text::{Replacement, Statement};

use crate::note::{self, Note};
use crate::records_read::RecordsRead;
use crate::show::RecordRow;

/// The least cosine between a statement and one that says that it changes a decision.
const CHANGES_FROM: f64 = 0.6;
/// The least cosine between a statement and a prompt that says how something is now.
const STATES_NOW_FROM: f64 = 0.7;
/// The least cosines between a statement and a prompt that changes it in free wording: one that names what it changes, one
/// about the same thing, and one that only has words in common with it.
const AMENDS_FROM: f64 = 0.5;
const AMENDS_TOPIC_FROM: f64 = 0.6;
const AMENDS_NEAR_FROM: f64 = 0.8;
/// The least cosine between a decision and a record that changes it by its number: another list may have that number too.
const CHANGES_BY_NUMBER_FROM: f64 = 0.2;

/// Cosines from which on two records of talk have the same subject. The newer record is put first if its score is at
/// least the given share of the older one's: a newer record that hardly matches is no better answer. Two records that
/// say nearly the same (0.9) both match, so a small share is enough.
const SAME_SUBJECT: [(f64, f64); 2] = [(0.8, 0.9), (0.9, 0.3)];

/// Whether the newer of two records of talk comes before the older one, given their scores. Two records that choose
/// different values for one thing are about the same subject, whatever their cosine.
pub(crate) fn is_newer_first(
    (older, newer): (f64, f64),
    chooses_other: impl FnOnce() -> bool,
    cosine: impl FnOnce() -> Result<f64, OpError>,
) -> Result<bool, OpError> {
    let [_, (_, least_share)] = SAME_SUBJECT;
    if newer >= least_share * older && chooses_other() {
        return Ok(true);
    }
    let counts = |(_, share): &&(f64, f64)| newer >= share * older;
    let Some(least) = SAME_SUBJECT.iter().filter(counts).map(|(least, _)| *least).reduce(f64::min)
    else {
        return Ok(false);
    };
    Ok(cosine()? >= least)
}

/// Summaries among the first hits whose statements are looked up.
const SUMMARIES_LOOKED_UP: usize = 5;

/// The data of a prompt, an answer or a mark that decide which records it replaces.
#[derive(Clone, Debug)]
pub(crate) struct TalkStatement {
    id: i64,
    at: i64,
    kind: ObsType,
    /// The prompt of its turn.
    turn: Option<i64>,
    /// Whether it is a prompt that agrees to what the agent proposed.
    accepts: bool,
    statement: Arc<Statement>,
}

impl TalkStatement {
    pub(crate) fn new(
        rx: &Rx<'_>,
        (id, at): (i64, i64),
        kind: ObsType,
        turn: Option<i64>,
        text: &str,
    ) -> TalkStatement {
        let statement = if kind.is_talk() { rx.statement(id, text) } else { Arc::default() };
        let accepts = kind == ObsType::UserPrompt && text::accepts(text);
        TalkStatement { id, at, kind, turn, accepts, statement }
    }

    pub(crate) fn of(rx: &Rx<'_>, record: &Observation) -> TalkStatement {
        let turn = turn_of(record);
        let (at, kind) = (record.at_ms, record.obs_type.kind());
        TalkStatement::new(rx, (record.id, at), kind, turn, &record.content)
    }

    /// Whether both are about siblings, such as reads and writes.
    pub(crate) fn is_about_sibling_of(&self, other: &TalkStatement) -> bool {
        self.statement.is_about_sibling_of(&other.statement)
    }

    /// Whether it may replace another statement. True if [`TalkStatement::replaces_from`] finds something.
    pub(crate) fn may_replace(&self) -> bool {
        match self.kind {
            ObsType::UserPrompt => self.statement.may_replace_near(),
            ObsType::Answer => {
                self.statement.may_replace_as_decision() || self.statement.changes_by_number()
            }
            _ => self.statement.may_replace(),
        }
    }

    /// The statement of a record if it may replace another one.
    fn replacing(rx: &Rx<'_>, record: &Observation) -> Option<TalkStatement> {
        // Few answers state a decision, and answers are long, so only those few are parsed.
        let said = record.content.as_str();
        let is_open = record.obs_type != ObsType::Answer
            || text::decision(said).is_some()
            || text::changes_decision_by_number(said);
        is_open.then(|| TalkStatement::of(rx, record)).filter(TalkStatement::may_replace)
    }

    /// The least cosine of the two records at which this one replaces the older one; none if its words do not replace
    /// it. An answer has to state a decision, or the number of the decision that it changes: agents report changes all
    /// the time.
    fn replaces_from(&self, rx: &Rx<'_>, older: &TalkStatement) -> Result<Option<f64>, OpError> {
        let is_newer = (self.at, self.id) > (older.at, older.id);
        let is_same_turn = self.turn.is_some() && self.turn == older.turn;
        // "ok, do that: watch the directory instead of the file" repeats what it agrees to.
        let agrees = self.accepts && older.kind == ObsType::Answer;
        if !is_newer || is_same_turn || agrees {
            return Ok(None);
        }
        let mut least = self.statement.replaces(&older.statement).and_then(|how| self.from(how));
        if least.is_none() && self.changes_by_number(rx, older)? {
            least = Some(CHANGES_BY_NUMBER_FROM);
        }
        debug_assert!(least.is_none() || self.may_replace(), "it would not be compared");
        Ok(least)
    }

    /// The least cosine at which this record replaces another one in this way; none if records of its kind do not.
    fn from(&self, how: Replacement) -> Option<f64> {
        let is_prompt = self.kind == ObsType::UserPrompt;
        match how {
            Replacement::Changes if self.kind != ObsType::Answer => Some(CHANGES_FROM),
            Replacement::Changes => self.statement.states_decision().then_some(CHANGES_FROM),
            Replacement::StatesNow => is_prompt.then_some(STATES_NOW_FROM),
            // Agents sum up decisions in other words.
            Replacement::Amends | Replacement::Decides => {
                (self.kind != ObsType::Answer).then_some(AMENDS_FROM)
            }
            Replacement::AmendsTopic => is_prompt.then_some(AMENDS_TOPIC_FROM),
            Replacement::AmendsNear => is_prompt.then_some(AMENDS_NEAR_FROM),
        }
    }

    /// Whether this record refers by number to a decision of the older record and changes it. The number of a prompt's
    /// decision is in the answer: "written down as decision 7".
    fn changes_by_number(&self, rx: &Rx<'_>, older: &TalkStatement) -> Result<bool, OpError> {
        if !self.statement.changes_by_number() {
            return Ok(false);
        }
        if self.statement.changes_recorded(&older.statement) {
            return Ok(true);
        }
        if older.kind != ObsType::UserPrompt || !older.statement.states_decision() {
            return Ok(false);
        }
        let answer = prompts::answer_to(rx, older.id)?;
        let answer = answer.map(|id| observations::one(rx, id)).transpose()?.flatten();
        Ok(answer.is_some_and(|answer| {
            self.statement.changes_recorded(&rx.statement(answer.id, &answer.content))
        }))
    }

    /// Whether this record replaces another one of its project. If the cosine is unknown, because embeddings are
    /// missing, the words decide alone; a record that only has words in common with the other one then does not
    /// replace it.
    pub(crate) fn replaces(&self, rx: &Rx<'_>, older: &TalkStatement) -> Result<bool, OpError> {
        let Some(least) = self.replaces_from(rx, older)? else { return Ok(false) };
        let cosine = passages::cosine(rx, self.id, older.id)?;
        Ok(cosine >= least || (cosine == 0.0 && least < AMENDS_NEAR_FROM))
    }
}

/// Whether a record of this type can be a mere repetition of another record of its turn.
fn repeats_talk(kind: ObsType) -> bool {
    matches!(kind, ObsType::Answer | ObsType::GitCommit)
}

/// The prompt that a record belongs to.
pub(crate) fn turn_of(record: &Observation) -> Option<i64> {
    match record.obs_type.kind() {
        ObsType::UserPrompt => Some(record.id),
        _ => record.prompt_id,
    }
}

/// Whether `said` repeats the part of `old`, a record of its turn or session, that `new` replaces.
fn repeats(rx: &Rx<'_>, said: &Observation, (old, new): (&Observation, &Observation)) -> bool {
    let message = said.metadata.as_ref().and_then(|metadata| metadata["commit_message"].as_str());
    let [old, new] = [old, new].map(|record| rx.statement(record.id, &record.content));
    old.is_repeated_in(&new, message.unwrap_or(&said.content))
}

/// The newest of these records, which all replace one record; its prompt instead, if that is among them.
fn newest<'s>(replacing: &[&'s TalkStatement]) -> Option<&'s TalkStatement> {
    let newest = replacing.iter().max_by_key(|one| (one.at, one.id))?;
    let prompt = replacing.iter().find(|one| Some(one.id) == newest.turn);
    Some(prompt.unwrap_or(newest))
}

/// The records that replace hits of a search.
#[derive(Default)]
pub(crate) struct Replacements {
    /// The question of the search. A hit keeps its place if the part that the question is about still holds.
    question: String,
    /// Hits that keep their place, each with the newer record that changed another part of the hit.
    partly: HashMap<i64, i64>,
    /// For each hit that was looked up, the record that replaces it.
    by: HashMap<i64, Option<i64>>,
    /// The answers and commits that only repeat a replaced hit of their turn, and the summaries that repeat a replaced
    /// statement of their session, each with the replaced record and the record that replaces it.
    repeating: HashMap<i64, (i64, i64)>,
    /// Records that were compared with hits; `None` for one whose text cannot replace another, like most.
    replacing: HashMap<i64, Option<TalkStatement>>,
}

impl Replacements {
    pub(crate) fn of_question(question: &str) -> Replacements {
        Replacements { question: question.to_owned(), ..Replacements::default() }
    }

    /// The note on a hit that was replaced, or of which a part was.
    pub(crate) fn note(&self, id: i64) -> Option<Note> {
        let by = self.of_said(id).map(Note::ReplacedBy);
        by.or_else(|| self.partly.get(&id).copied().map(Note::PartlyReplacedBy))
    }

    /// The record that changed another part of a hit than the question is about.
    pub(crate) fn partly_by(&self, id: i64) -> Option<i64> {
        self.partly.get(&id).copied()
    }

    /// The record that replaces a hit; `None` if no record does, or if the hit was not looked up.
    pub(crate) fn of(&self, id: i64) -> Option<i64> {
        self.by.get(&id).copied().flatten()
    }

    /// The record that replaces a hit, or the statement that the hit repeats.
    pub(crate) fn of_said(&self, id: i64) -> Option<i64> {
        self.of(id).or_else(|| self.repeating.get(&id).map(|(_, new)| *new))
    }

    /// The statement that a hit only repeats, and the record that replaces it.
    pub(crate) fn repeated_by(&self, id: i64) -> Option<(i64, i64)> {
        self.repeating.get(&id).copied()
    }

    /// Finds the records that replace these hits.
    pub(crate) fn look_up(
        &mut self,
        rx: &Rx<'_>,
        hits: impl IntoIterator<Item = Hit>,
        records: &mut RecordsRead,
    ) -> Result<(), OpError> {
        let hits: Vec<Hit> = hits.into_iter().collect();
        self.look_up_statements(rx, &hits, records)?;
        self.look_up_numbered(rx, &hits, records)?;
        self.look_up_prompts(rx, &hits, records)?;
        self.look_up_repeating(rx, &hits, records)?;
        self.look_up_constants(rx, &hits, records)?;
        self.look_up_summaries(rx, &hits, records)
    }

    /// Finds the summaries among the hits that repeat a replaced statement of their session: of its first prompt, or of
    /// the answer to its last one, which are what a summary quotes.
    fn look_up_summaries(
        &mut self,
        rx: &Rx<'_>,
        hits: &[Hit],
        records: &mut RecordsRead,
    ) -> Result<(), OpError> {
        let is_open = |hit: &&Hit| {
            hit.kind == ObsType::SessionSummary && !self.repeating.contains_key(&hit.id)
        };
        let open = hits.iter().filter(is_open).take(SUMMARIES_LOOKED_UP).copied();
        let mut quoted: HashMap<i64, i64> = HashMap::new();
        for summary in open.collect::<Vec<Hit>>() {
            let first = prompts::of_session(rx, summary.session, 1)?.pop().map(|(id, _)| id);
            let last = prompts::last_of_session(rx, summary.session, 1)?.pop().map(|(id, ..)| id);
            let answer = last.map(|id| prompts::answer_to(rx, id)).transpose()?.flatten();
            quoted.extend(first.into_iter().chain(answer).map(|id| (id, summary.id)));
        }
        let ids: Vec<i64> = quoted.keys().copied().collect();
        let said: Vec<Hit> =
            search::admitted(rx, &Filter::default(), &ids)?.into_values().collect();
        self.look_up_statements(rx, &said, records)?;
        self.look_up_numbered(rx, &said, records)?;
        for (old, summary) in quoted {
            let Some(new) = self.of(old) else { continue };
            for id in [summary, old, new] {
                records.read(rx, id)?;
            }
            let [said, was, by] = [summary, old, new].map(|id| records.get(id));
            if let (Some(said), Some(was), Some(by)) = (said, was, by)
                && said.session_id != by.session_id
                && repeats(rx, said, (was, by))
            {
                self.repeating.insert(summary, (old, new));
            }
        }
        Ok(())
    }

    /// Finds the decisions among the hits that were changed by the number under which their answer records them: "written
    /// down as decision 7". Such an answer is similar to the text that changes the decision; the decision need not be.
    fn look_up_numbered(
        &mut self,
        rx: &Rx<'_>,
        hits: &[Hit],
        records: &mut RecordsRead,
    ) -> Result<(), OpError> {
        let mut recording: Vec<(i64, i64)> = Vec::new();
        let is_open = |hit: &&Hit| hit.kind == ObsType::UserPrompt && self.of(hit.id).is_none();
        for hit in hits.iter().filter(is_open) {
            let Some(prompt) = records.read_hit(rx, *hit)? else { continue };
            if !rx.statement(prompt.id, &prompt.content).states_decision() {
                continue;
            }
            let Some(answer) = prompts::answer_to(rx, hit.id)? else { continue };
            let Some(said) = records.read(rx, answer)? else { continue };
            if rx.statement(answer, &said.content).records_number() {
                recording.push((hit.id, answer));
            }
        }
        let answers: Vec<i64> = recording.iter().map(|(_, answer)| *answer).collect();
        let said: Vec<Hit> =
            search::admitted(rx, &Filter::default(), &answers)?.into_values().collect();
        self.look_up_statements(rx, &said, records)?;
        for (prompt, answer) in recording {
            if let Some(new) = self.of(answer) {
                self.by.insert(prompt, Some(new));
            }
        }
        Ok(())
    }

    /// Looks up the prompts whose answers and commits are hits: they need not be hits themselves.
    fn look_up_prompts(
        &mut self,
        rx: &Rx<'_>,
        hits: &[Hit],
        records: &mut RecordsRead,
    ) -> Result<(), OpError> {
        let is_open = |hit: &&Hit| repeats_talk(hit.kind.obs_type()) && self.of(hit.id).is_none();
        let mut prompts: Vec<i64> = Vec::new();
        for hit in hits.iter().filter(is_open) {
            prompts.extend(records.read_hit(rx, *hit)?.and_then(turn_of));
        }
        prompts.retain(|id| !self.by.contains_key(id));
        let said: Vec<Hit> =
            search::admitted(rx, &Filter::default(), &prompts)?.into_values().collect();
        self.look_up_statements(rx, &said, records)
    }

    /// Finds the answers and commits among the hits that repeat a replaced record of their turn.
    fn look_up_repeating(
        &mut self,
        rx: &Rx<'_>,
        hits: &[Hit],
        records: &mut RecordsRead,
    ) -> Result<(), OpError> {
        let replaced = self.by.iter().filter_map(|(old, new)| Some((*old, (*new)?)));
        let mut turns: HashMap<i64, (i64, i64)> = HashMap::new();
        for (old, new) in replaced.collect::<Vec<_>>() {
            // An edit is no statement that an answer could repeat.
            let said = records.read(rx, old)?.filter(|said| said.obs_type.kind().is_talk());
            let turn = said.and_then(turn_of);
            turns.extend(turn.map(|turn| (turn, (old, new))));
        }
        let is_open = |hit: &&Hit| repeats_talk(hit.kind.obs_type()) && self.of(hit.id).is_none();
        let open = hits.iter().filter(|_| !turns.is_empty()).filter(is_open);
        for hit in open.copied().collect::<Vec<_>>() {
            let turn = records.read_hit(rx, hit)?.and_then(turn_of);
            let Some((old, new)) = turn.and_then(|turn| turns.get(&turn)).copied() else {
                continue;
            };
            records.read(rx, old)?;
            records.read(rx, new)?;
            let [said, was, by] = [hit.id, old, new].map(|id| records.get(id));
            let (Some(said), Some(was), Some(by)) = (said, was, by) else { continue };
            if !repeats(rx, said, (was, by)) {
                continue;
            }
            match self.holds_as_asked(rx, (hit.id, new), records)? {
                true => self.partly.insert(hit.id, new).map(drop),
                false => self.repeating.insert(hit.id, (old, new)).map(drop),
            };
        }
        Ok(())
    }

    fn look_up_statements(
        &mut self,
        rx: &Rx<'_>,
        hits: &[Hit],
        records: &mut RecordsRead,
    ) -> Result<(), OpError> {
        let mut open: Vec<Hit> = Vec::new();
        for hit in hits.iter().copied() {
            if self.by.contains_key(&hit.id) {
                continue;
            }
            // Records of other kinds, such as memories, store which record supersedes them.
            if hit.kind != hit.kind.obs_type() {
                self.by.insert(hit.id, superseded_by(rx, hit.id)?);
                continue;
            }
            self.by.insert(hit.id, None);
            let may_be_replaced =
                |said: &Observation| TalkStatement::of(rx, said).statement.may_be_replaced();
            let judge = || Ok(records.read_hit(rx, hit)?.is_some_and(may_be_replaced));
            if rx.verdict(TextQuestion::MayBeReplaced, (hit.id, 0), judge)? {
                open.push(hit);
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        for (hit, near) in open.iter().zip(search::newer_talk(rx, &open, AMENDS_FROM)?) {
            for other in &near {
                self.read_replacing(rx, other.id, records)?;
            }
            let newer: Vec<(&TalkStatement, f64)> = (near.iter())
                .filter_map(|other| Some((self.replacing.get(&other.id)?.as_ref()?, other.cosine)))
                .collect();
            // For most hits no similar record replaces anything; then the text of the hit need not be read.
            if newer.is_empty() {
                continue;
            }
            let Some(older) = records.read_hit(rx, *hit)? else { continue };
            let older = TalkStatement::of(rx, older);
            let mut replacing: Vec<&TalkStatement> = Vec::new();
            for (one, cosine) in newer {
                if one.replaces_from(rx, &older)?.is_some_and(|least| cosine >= least) {
                    replacing.push(one);
                }
            }
            let Some(by) = newest(&replacing).map(|one| one.id) else { continue };
            match self.holds_as_asked(rx, (hit.id, by), records)? {
                true => self.partly.insert(hit.id, by).map(drop),
                false => self.by.insert(hit.id, Some(by)).map(drop),
            };
        }
        Ok(())
    }

    /// Whether the part of a record that the question is about still holds.
    pub(crate) fn holds_as_asked(
        &self,
        rx: &Rx<'_>,
        (old, new): (i64, i64),
        records: &mut RecordsRead,
    ) -> Result<bool, OpError> {
        if self.question.is_empty() {
            return Ok(false);
        }
        records.read(rx, old)?;
        records.read(rx, new)?;
        let texts = records.get(old).zip(records.get(new));
        Ok(texts.is_some_and(|(old, new)| {
            text::asks_for_another_part(&self.question, &old.content, &new.content)
        }))
    }

    /// Reads the statement of a record, unless that has been done.
    fn read_replacing(
        &mut self,
        rx: &Rx<'_>,
        id: i64,
        records: &mut RecordsRead,
    ) -> Result<(), OpError> {
        if let Entry::Vacant(place) = self.replacing.entry(id) {
            let mut read = None;
            let judge = || {
                read = records.read(rx, id)?.and_then(|said| TalkStatement::replacing(rx, said));
                Ok(read.is_some())
            };
            if rx.verdict(TextQuestion::MayReplace, (id, 0), judge)? && read.is_none() {
                read = records.read(rx, id)?.map(|said| TalkStatement::of(rx, said));
            }
            place.insert(read);
        }
        Ok(())
    }
}

/// A whole record, with a note if a newer one replaced it or, where that is read, if it replaces an older one.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct MarkedRecord {
    #[serde(flatten)]
    record: Observation,
    /// `replaced by #ID` if a newer record says that this is no longer so; `replaces #ID` if this one says so of an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl MarkedRecord {
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}

impl Deref for MarkedRecord {
    type Target = Observation;

    fn deref(&self) -> &Observation {
        &self.record
    }
}

impl<'r> From<&'r MarkedRecord> for RecordRow<'r> {
    fn from(marked: &'r MarkedRecord) -> RecordRow<'r> {
        RecordRow { aside: marked.note.clone(), ..RecordRow::from(&marked.record) }
    }
}

/// Adds to each record which one replaced it and which one it replaces.
pub(crate) fn linked(rx: &Rx<'_>, records: Vec<Observation>) -> Result<Vec<MarkedRecord>, OpError> {
    let mut all = marked(rx, records)?;
    for one in &mut all {
        let older = replaced_by(rx, &one.record)?.map(|older| Note::Replaces(older).text());
        let notes: Vec<String> = one.note.take().into_iter().chain(older).collect();
        one.note = (!notes.is_empty()).then(|| notes.join("; "));
    }
    Ok(all)
}

/// The newest record that this one replaces. Older talk of its project is compared with it, up to a bound.
fn replaced_by(rx: &Rx<'_>, record: &Observation) -> Result<Option<i64>, OpError> {
    let newer = Some(record).filter(|record| record.obs_type.kind().is_talk());
    let Some(newer) = newer.and_then(|record| TalkStatement::replacing(rx, record)) else {
        return Ok(None);
    };
    let mut before = search::talk_before(rx, record.project_row, record.at_ms)?;
    before.sort_by_key(|one| std::cmp::Reverse((one.at, one.id)));
    for TalkText { id, at, kind, turn, text } in before {
        let older = TalkStatement::new(rx, (id, at), kind, turn, &text);
        if older.statement.may_be_replaced() && newer.replaces(rx, &older)? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Adds a note to each record that another one replaced. The newest talk of its project is read for that, by index.
pub(crate) fn marked(rx: &Rx<'_>, records: Vec<Observation>) -> Result<Vec<MarkedRecord>, OpError> {
    let is_listed = |id: &i64| records.iter().any(|record| record.id == *id);
    let repeating = || records.iter().filter(|record| repeats_talk(record.obs_type.kind()));
    let mut prompts: Vec<i64> =
        repeating().filter_map(turn_of).filter(|id| !is_listed(id)).collect();
    prompts.dedup();
    let prompts = observations::get(rx, &prompts)?;
    let all = || records.iter().chain(&prompts);
    let said = all().map(|record| (record.project_row, TalkStatement::of(rx, record)));
    let mut by = replacing(rx, said)?;
    let mut repeated: Vec<(i64, i64)> = Vec::new();
    for said in repeating().filter(|said| !by.contains_key(&said.id)) {
        let of_turn =
            |old: &&Observation| by.contains_key(&old.id) && turn_of(old) == turn_of(said);
        let Some(old) = all().find(of_turn).filter(|_| said.prompt_id.is_some()) else { continue };
        let Some(new) = by.get(&old.id).copied() else { continue };
        if observations::one(rx, new)?.is_some_and(|new| repeats(rx, said, (old, &new))) {
            repeated.push((said.id, new));
        }
    }
    by.extend(repeated);
    for other in records.iter().filter(|record| record.obs_type != record.obs_type.kind()) {
        by.extend(superseded_by(rx, other.id)?.map(|current| (other.id, current)));
    }
    let marked = records.into_iter().map(|record| {
        let note = by.get(&record.id).map(|newer| Note::ReplacedBy(*newer).text());
        let note = note.or_else(|| note::doubt(&record).map(str::to_owned));
        MarkedRecord { record, note }
    });
    Ok(marked.collect())
}

/// The record that replaces each of these statements, by the statement's id. `said` has each statement with its
/// project.
pub(crate) fn replacing(
    rx: &Rx<'_>,
    said: impl Iterator<Item = (i64, TalkStatement)>,
) -> Result<HashMap<i64, i64>, OpError> {
    let open: Vec<(i64, TalkStatement)> =
        said.filter(|(_, said)| said.statement.may_be_replaced()).collect();
    let mut projects: Vec<i64> = open.iter().map(|(project, _)| *project).collect();
    projects.sort_unstable();
    projects.dedup();
    let mut by: HashMap<i64, i64> = HashMap::new();
    for project in projects {
        let open = || open.iter().filter(|(of, _)| *of == project).map(|(_, said)| said);
        let since = open().map(|said| said.at).min().unwrap_or(i64::MAX);
        let newer: Vec<TalkStatement> = (search::talk_since(rx, project, since)?.into_iter())
            .filter(|one| one.kind != ObsType::Answer || text::decisions::updates(&one.text))
            .map(|TalkText { id, at, kind, turn, text }| {
                TalkStatement::new(rx, (id, at), kind, turn, &text)
            })
            .filter(|one| one.statement.may_replace())
            .collect();
        for older in open() {
            let mut replacing: Vec<&TalkStatement> = Vec::new();
            for one in &newer {
                if one.replaces(rx, older)? {
                    replacing.push(one);
                }
            }
            by.extend(newest(&replacing).map(|one| (older.id, one.id)));
        }
    }
    Ok(by)
}
