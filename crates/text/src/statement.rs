//! Statements of prompts and answers, and whether a newer one replaces an older one. A false mark on a decision
//! that still holds is worse than a missing one, so that every condition here has to be met. English only.

use crate::amendment::{self, Amendment, Amends, Stated, change};
use crate::decision::{decision, sentences_of};
use crate::decision_numbers::DecisionNumbers;
use crate::decisions::{self, asks};
use crate::gist::sentences;
use crate::lexicon::Lists;
use crate::quantity;
use crate::siblings::Things;
use crate::subject::{self, Stems, WordHash, WordSet, subject};
use crate::words;

/// A longer text is judged by the sentence that decides or changes something.
const WHOLE_CHARS_MAX: usize = 400;
/// Two statements are about one subject if they share at least this many words, and this share of the words of the
/// shorter statement. Two words are enough only if the shorter statement has no others.
const SHARED: [(usize, f64); 2] = [(2, 1.0), (3, 0.5)];
/// The least share of words for a statement in which only "from now on" announces a change.
const SHARED_FROM_NOW: f64 = 0.8;

/// If a statement also cites a number of the other one: the fewest digits of that number, the fewest shared words, and
/// their least share: "250 ms is too long after all".
const SHARED_AND_CITED: [(u32, usize, f64); 2] = [(3, 2, 0.25), (2, 3, 0.3)];

const FROM_NOW_ON: &str = "from now on";

/// A text, reduced to the facts by which it is compared with another text.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    /// The stems of the words that say something.
    subject: WordSet,
    /// The stems of the thing that the statement is about, if its form shows the thing.
    topic: WordSet,
    /// The words that begin with a digit, each by [`number`].
    numbers: WordSet,
    asks: bool,
    /// Whether a sentence of it states a decision in so many words.
    is_decision: bool,
    /// Whether it settles something at all.
    decides: bool,
    changes: bool,
    /// Whether nothing but "from now on" says that it changes something.
    only_from_now: bool,
    states_now: bool,
    /// Whether it forbids or denies something.
    negates: bool,
    /// The statements of its sentences, and those that change something in free wording.
    stated: Vec<Stated>,
    amendments: Vec<Amendment>,
    decision_numbers: DecisionNumbers,
    things: Things,
}

/// How a statement replaces an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// It says that it changes something, and the older one decides.
    Changes,
    /// It says how something is now.
    StatesNow,
    /// It names what the older one states, and changes it in free wording.
    Amends,
    /// It changes something of the thing that the older one is about.
    AmendsTopic,
    /// Both decide on a value for the same thing, and it decides on another one.
    Decides,
    /// It says that something changes, in words that the older one has too. The caller compares their embeddings.
    AmendsNear,
}

impl Statement {
    pub fn of(text: &str) -> Statement {
        let text = text.trim();
        let long = text.len() > WHOLE_CHARS_MAX;
        let decided = decision(text);
        let key = decided.or_else(|| change(text));
        let decision_numbers = DecisionNumbers::of(sentences_of(text));
        let Some(judged) = (if long { key } else { Some(text) }) else {
            return Statement { decision_numbers, ..Statement::default() };
        };
        let (stated, amendments) = amendment::read(judged);
        let subject = subject(judged);
        let things = Things::of(key.unwrap_or(judged));
        // A statement with fewer words cannot be compared by them.
        if subject.len() < SHARED[0].0 {
            return Statement {
                stated,
                amendments,
                decision_numbers,
                things,
                ..Statement::default()
            };
        }
        let changes = decisions::changes(judged);
        let words = || words::words(judged).map(|(_, word)| word);
        Statement {
            stated,
            amendments,
            decision_numbers,
            things,
            subject,
            topic: topic(key.unwrap_or(judged)),
            numbers: words().filter_map(number).collect(),
            asks: asks(judged),
            is_decision: decided.is_some(),
            decides: decided.is_some() || decisions::settles(judged),
            changes,
            only_from_now: changes && changes_from_now_only(judged),
            negates: words().any(|word| Lists::of(word).any(Lists::NEGATING)),
            states_now: sentences(judged).any(decisions::states_now),
        }
    }

    /// Whether it states a decision in so many words.
    pub fn states_decision(&self) -> bool {
        self.is_decision
    }

    /// Whether another statement could replace it.
    pub fn may_be_replaced(&self) -> bool {
        let says_something = !self.subject.is_empty()
            || !self.stated.is_empty()
            || !self.decision_numbers.recorded.is_empty();
        says_something && !self.asks
    }

    /// Whether it could replace another statement.
    pub fn may_replace(&self) -> bool {
        let by_words = !self.subject.is_empty() && (self.changes || self.states_now);
        let in_free_wording =
            || !self.amendments.is_empty() || self.stated.iter().any(Stated::may_reclaim);
        let gives_value = |one: &Stated| one.gives_value() || one.decides();
        !self.asks
            && (by_words
                || in_free_wording()
                || self.stated.iter().any(gives_value)
                || self.changes_by_number())
    }

    /// Whether it changes a decision that it names by number.
    pub fn changes_by_number(&self) -> bool {
        !self.decision_numbers.changed.is_empty()
    }

    /// Whether it records a decision under a number.
    pub fn records_number(&self) -> bool {
        !self.decision_numbers.recorded.is_empty()
    }

    /// Whether it changes a decision, named by number, that the older text records.
    pub fn changes_recorded(&self, older: &Statement) -> bool {
        let recorded = &older.decision_numbers.recorded;
        self.decision_numbers.changed.shared(recorded).next().is_some()
    }

    /// Whether it could replace another statement, if only by words that both have. True for every statement for
    /// which [`Statement::replaces`] returns a replacement.
    pub fn may_replace_near(&self) -> bool {
        self.may_replace() || (!self.asks && self.stated.iter().any(Stated::is_signed))
    }

    /// Whether it could change a decision by stating another one.
    pub fn may_replace_as_decision(&self) -> bool {
        self.is_decision && self.changes && !self.asks && !self.subject.is_empty()
    }

    /// Whether and how this statement replaces an older one.
    pub fn replaces(&self, older: &Statement) -> Option<Replacement> {
        if self.agrees_with(older) || self.is_about_sibling_of(older) {
            return None;
        }
        let decides = || self.decides_other(older).then_some(Replacement::Decides);
        let replaces = self.replaces_by_words(older).or_else(|| self.amends(older));
        let replaces = replaces.or_else(decides);
        debug_assert!(replaces.is_none() || self.may_replace_near(), "it was not compared");
        replaces
    }

    /// Whether both are about siblings: the basic plan and the premium plan. Neither replaces the other.
    pub fn is_about_sibling_of(&self, other: &Statement) -> bool {
        self.things.are_siblings(&other.things)
    }

    /// Whether both choose a value for the same thing, and the values differ.
    pub fn chooses_other(&self, older: &Statement) -> bool {
        let differs = |new: &Stated| older.stated.iter().any(|old| new.chooses_other(old));
        !self.asks && !older.asks && self.stated.iter().any(differs)
    }

    fn decides_other(&self, older: &Statement) -> bool {
        let differs = |new: &Stated| older.stated.iter().any(|old| new.decides_other(old));
        !self.asks && !older.asks && self.stated.iter().any(differs)
    }

    /// Whether it rejects a thing that the older statement gave up itself, and so agrees with it.
    fn agrees_with(&self, older: &Statement) -> bool {
        let agrees = |new: &Amendment| older.stated.iter().any(|old| new.agrees_with(old));
        self.amendments.iter().any(agrees)
    }

    /// Whether a sentence of a text repeats what this statement says and the newer one, which replaces it, no longer
    /// does. Two words of the sentence, or half of its words, are of this statement. If the newer statement has numbers and
    /// gives up one of this statement's, the sentence must contain such a number; if the sentence has fewer than two
    /// words of content, it need not share a word. Otherwise a shared word is not in the newer statement. The text is
    /// of the same turn, so that few words are enough.
    pub fn is_repeated_in(&self, newer: &Statement, text: &str) -> bool {
        let has_new = newer.numbers.iter().any(|number| !self.numbers.contains(number));
        let cites = has_new && newer.numbers.shared(&self.numbers).next().is_some();
        // A number that the newer one cites beside a new one is the old value: "listen on 9105, 7070 is taken".
        let gone = |number: &WordHash| newer.numbers.contains(*number) == cites;
        let gives_number = !newer.numbers.is_empty() && self.numbers.iter().any(|one| gone(&one));
        sentences(text).any(|sentence| {
            let words = subject(sentence);
            let shared = words.shared(&self.subject).count();
            let numbers = words::words(sentence).filter_map(|(_, word)| number(word));
            let is_about = shared >= SHARED[0].0 || (shared > 0 && 2 * shared >= words.len());
            match gives_number {
                // "They are kept for 35 days."
                true => {
                    (is_about || words.len() < SHARED[0].0)
                        && numbers.filter(gone).any(|one| self.numbers.contains(one))
                }
                false => {
                    let gone = |word| !newer.subject.contains(word);
                    is_about && words.shared(&self.subject).any(gone)
                }
            }
        })
    }

    /// Whether a sentence of it changes what one of the older statement states.
    fn amends(&self, older: &Statement) -> Option<Replacement> {
        if self.asks || older.asks {
            return None;
        }
        let is_beside = |new: &Stated| older.stated.iter().any(|old| new.gives_value_beside(old));
        if self.stated.iter().any(is_beside) {
            return None;
        }
        let pairs =
            self.amendments.iter().flat_map(|new| older.stated.iter().map(move |old| (new, old)));
        let found: Vec<Amends> = pairs.filter_map(|(new, old)| new.changes(old)).collect();
        if found.contains(&Amends::Named) {
            return Some(Replacement::Amends);
        }
        if !found.is_empty() {
            return Some(Replacement::AmendsTopic);
        }
        let reclaims = |new: &Stated| older.stated.iter().any(|old| new.reclaims(old));
        let revalues = |new: &Stated| older.stated.iter().any(|old| new.gives_other_value(old));
        let reschedules = |new: &Stated| older.stated.iter().any(|old| new.reschedules(old));
        if self.stated.iter().any(|new| reclaims(new) || revalues(new) || reschedules(new)) {
            return Some(Replacement::Amends);
        }
        let changes_all = |new: &Stated| older.stated.iter().any(|old| new.changes_all_values(old));
        if self.stated.iter().any(changes_all) {
            return Some(Replacement::AmendsTopic);
        }
        // The statement names the thing that it rejects, and the older one is about another thing.
        if self.amendments.iter().any(Amendment::is_rejection) {
            return None;
        }
        let denies = |new: &Stated| older.stated.iter().any(|old| new.denies(old));
        if self.things.is_other_thing(&older.things) && !self.stated.iter().any(denies) {
            return None;
        }
        let near = |new: &Stated| older.stated.iter().any(|old| new.changes_near(old));
        // The lifetime of refresh tokens is not that of all tokens.
        let is_no_narrower = self.topic.is_subset(&older.subject);
        (is_no_narrower && self.is_on_topic_of(older) && self.stated.iter().any(near))
            .then_some(Replacement::AmendsNear)
    }

    fn replaces_by_words(&self, older: &Statement) -> Option<Replacement> {
        let may = (self.changes || self.states_now) && !self.asks && !older.asks;
        // "250 ms is too long, change the batch window to 80 ms" names the thing by its value.
        let cites = || self.numbers.shared(&older.numbers).any(|number| digits(number) >= 2);
        let is_about = || {
            self.is_about_subject_of(older)
                && (cites() || !self.things.is_other_thing(&older.things))
        };
        if !may || self.subject.is_empty() || !is_about() {
            return None;
        }
        // A repeated decision does not replace itself.
        let is_new = self.negates != older.negates
            || !self.numbers.is_subset(&older.numbers)
            || !self.subject.is_subset(&older.subject);
        match (is_new, self.changes && older.decides) {
            (false, _) => None,
            (true, true) => Some(Replacement::Changes),
            (true, false) => self.states_now.then_some(Replacement::StatesNow),
        }
    }

    /// Whether both have enough words in common, and name the same thing where both name one: the timeout of a
    /// download is not that of an upload.
    fn is_about_subject_of(&self, older: &Statement) -> bool {
        let shared = self.subject.shared(&older.subject).count();
        let least = self.subject.len().min(older.subject.len()) as f64;
        // A rule "from now on" may be the first about its subject.
        if self.only_from_now && (shared as f64) < SHARED_FROM_NOW * least {
            return false;
        }
        let cited = self.numbers.shared(&older.numbers).map(digits).max();
        let enough = SHARED
            .iter()
            .any(|(count, share)| shared >= *count && shared as f64 >= share * least)
            || SHARED_AND_CITED.iter().any(|(least_digits, count, share)| {
                cited >= Some(*least_digits) && shared >= *count && shared as f64 >= share * least
            });
        enough && self.is_on_topic_of(older)
    }

    fn is_on_topic_of(&self, older: &Statement) -> bool {
        let (own, other) = (&self.topic, &older.topic);
        own.is_empty() || other.is_empty() || own.is_subset(other) || other.is_subset(own)
    }
}

/// Whether a text changes a decision that it names by number.
pub fn changes_decision_by_number(text: &str) -> bool {
    !DecisionNumbers::of(sentences_of(text)).changed.is_empty()
}

/// Whether a question is about another part of the older text than the one that the newer text changes: its words that
/// the newer text lacks are in parts that have less in common with the newer text than others, and no other word of it
/// is in the changed part alone. A question for an amount is about a part with a value.
pub fn asks_for_another_part(question: &str, older: &str, newer: &str) -> bool {
    let for_amount = asks_for_amount(question);
    let (question, newer) = (subject(question), subject_and_numbers(newer));
    let asked: WordSet = question.iter().filter(|word| !newer.contains(*word)).collect();
    let parts = parts(older);
    let nearest = |words: &WordSet| -> Vec<usize> {
        let shared: Vec<usize> =
            parts.iter().map(|part| part.words.shared(words).count()).collect();
        let most = shared.iter().copied().max().filter(|most| *most > 0);
        (0..parts.len()).filter(|part| most.is_some_and(|most| shared[*part] == most)).collect()
    };
    let (asked, changed) = (nearest(&asked), nearest(&newer));
    let names_changed = question.shared(&newer).any(|word| {
        let having = (0..parts.len()).filter(|part| parts[*part].words.contains(word));
        let having: Vec<usize> = having.collect();
        !having.is_empty() && having.iter().all(|part| changed.contains(part))
    });
    let is_apart = asked.iter().all(|part| !changed.contains(part));
    let answers = !for_amount || asked.iter().any(|part| parts[*part].has_value);
    !asked.is_empty() && !changed.is_empty() && is_apart && answers && !names_changed
}

/// Words that ask for an amount behind "how".
const AMOUNTS: &[&str] = &["long", "many", "much", "often", "big", "large", "high", "fast"];

/// "how long do we keep them", "for how many days".
fn asks_for_amount(question: &str) -> bool {
    let said: Vec<String> =
        words::words(question).map(|(_, word)| word.to_ascii_lowercase()).collect();
    said.windows(2).any(|pair| pair[0] == "how" && AMOUNTS.contains(&pair[1].as_str()))
}

/// A sentence, or a part of one.
struct SentencePart {
    words: WordSet,
    has_value: bool,
}

/// The sentences of a text, each divided at semicolons and "and": "Postgres on 5432 and Redis on 6379" says two things. A
/// sentence with several values is divided at commas too; else more words on one thing follow a comma. A part that begins with a verb ("and are kept in Redis") is about the thing of its sentence.
fn parts(text: &str) -> Vec<SentencePart> {
    let mut parts = Vec::new();
    for sentence in text.lines().flat_map(|line| sentences(line.trim())) {
        let is_list = quantity::values(sentence) > 1;
        let pieces = sentence.split(|c| c == ';' || is_list && c == ',');
        let pieces = pieces.flat_map(|piece| piece.split(" and "));
        for (place, piece) in pieces.enumerate() {
            let own = subject_and_numbers(piece);
            let words = match place > 0 && begins_with_verb(piece) {
                true => own.iter().chain(topic(sentence).iter()).collect(),
                false => own,
            };
            parts.push(SentencePart { words, has_value: quantity::values(piece) > 0 });
        }
    }
    parts
}

fn begins_with_verb(piece: &str) -> bool {
    words::words(piece).next().is_some_and(|(_, word)| Lists::of(word).any(Lists::VERBS))
}

fn subject_and_numbers(text: &str) -> WordSet {
    let numbers = words::words(text).filter_map(|(_, word)| number(word));
    subject(text).iter().chain(numbers).collect()
}

/// Whether nothing but "from now on" says that a text changes something.
fn changes_from_now_only(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains(FROM_NOW_ON) && !decisions::changes(&text.replace(FROM_NOW_ON, ""))
}

/// The bits of a [`number`] that hold its length, and the greatest length that they hold.
const DIGITS: WordHash = 0xf;

/// A word that begins with a digit, as a hash whose lowest bits are its length.
fn number(word: &str) -> Option<WordHash> {
    let length = WordHash::try_from(word.len()).map_or(DIGITS, |length| length.min(DIGITS));
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| subject::hash(word) & !DIGITS | length)
}

/// The length of a [`number`].
fn digits(number: WordHash) -> u32 {
    number & DIGITS
}

/// The thing that a sentence is about: the words before its verb, else those after `for`.
fn topic(sentence: &str) -> WordSet {
    // "We decided: …" and "Change of plan: …" introduce the statement.
    let sentence = sentence.split_once(": ").map_or(sentence, |(_, rest)| rest);
    let all = || words::words(sentence).map(|(_, word)| word);
    let is_in = |word: &str, lists: Lists| Lists::of(word).any(lists);
    let verb = all().position(|word| is_in(word, Lists::VERBS)).unwrap_or_default();
    let mut stems = Stems::default();
    let before: WordSet = all().take(verb).filter_map(|word| stems.telling(word)).collect();
    if !before.is_empty() {
        return before;
    }
    let after = all().skip_while(|word| !word.eq_ignore_ascii_case("for")).skip(1);
    // "for indentation in the scripts" is about the scripts too.
    let goes_on = |word: &str| word == "in" || !is_in(word, Lists::ENDS_PHRASE);
    let phrase = after.take_while(|word| goes_on(word));
    phrase.filter_map(|word| stems.telling(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_may_be_about_a_part_that_a_newer_text_leaves_alone() {
        let ports = "The API listens on port 8080, the admin page on 9090, Postgres on 5432 and Redis on 6379. \
                     Start everything with `just up`. The test user is demo@example.com.";
        let moved = "move Redis to port 6380, 6379 is taken on my machine";
        for question in [
            "who is the test user",
            "which port does Postgres use",
            "how do I start everything",
            "which port does the API listen on",
        ] {
            assert!(asks_for_another_part(question, ports, moved), "{question}");
        }
        for question in ["on which port is Redis", "which port", "what does kafka do"] {
            assert!(!asks_for_another_part(question, ports, moved), "{question}");
        }
        let tokens = "Access tokens live one hour, refresh tokens live 30 days.";
        let changed = "security wants refresh tokens to expire after 7 days now";
        assert!(asks_for_another_part("how long do access tokens live", tokens, changed));
        assert!(!asks_for_another_part("how long do refresh tokens live", tokens, changed));
        let kept = "Let us decide: session tokens live 14 days and are kept in Redis.";
        let longer = "Change of plan: session tokens live 30 days instead of 14.";
        assert!(asks_for_another_part("in which store are session tokens, Redis?", kept, longer));
        assert!(!asks_for_another_part("how long do session tokens live", kept, longer));
        assert!(!asks_for_another_part("for how many days are session tokens kept", kept, longer));
        let hook =
            "The checkout creates a Stripe intent; the signature of the webhook is not verified.";
        let adyen = "Change of plan: payments go through Adyen, not Stripe, because of the fees.";
        assert!(asks_for_another_part("is the webhook signature verified", hook, adyen));
        assert!(!asks_for_another_part("which provider does the checkout use", hook, adyen));
        let batch = "Decision for the ingest: we collect readings for 250 ms before we write a batch. Put \
                     that into the config with a comment.";
        let shorter = "250 ms is too long after all, change the batch window to 80 ms";
        assert!(!asks_for_another_part("how long do we collect readings", batch, shorter));
    }

    fn replaces(old: &str, new: &str) -> bool {
        Statement::of(new).replaces(&Statement::of(old)).is_some()
    }

    #[test]
    fn a_changed_decision_replaces_the_one_about_its_subject() {
        for (old, new) in [
            (
                "use tabs for indentation in the lua scripts",
                "changed my mind: lua scripts are indented with two spaces",
            ),
            (
                "We decided to use Postgres for the job queue.",
                "We changed our mind: the job queue uses Redis, not Postgres.",
            ),
            (
                "From now on the session timeout is 15 minutes.",
                "The session timeout is 60 minutes from now on, 15 was too short for support.",
            ),
            (
                "We agreed: deploy only from the release branch.",
                "Change: we deploy from main from now on instead of the release branch.",
            ),
            (
                "Decision: prices are stored as floats with two digits.",
                "New decision: prices are stored as integer cents, no floats any more.",
            ),
            (
                "The timeout of the upload is 30 seconds, agreed.",
                "The upload timeout is 120 seconds now, 30 was too short.",
            ),
            (
                "Let us deploy on Fridays at 18:00.",
                "Never deploy on Fridays again, deploy on Tuesday morning.",
            ),
            (
                "From now on the API is versioned by a header.",
                "Actually, version the API by the path /v2, not by a header.",
            ),
            (
                "Keep rendered PDFs in the cache for 7 days.",
                "Keep rendered PDFs in the cache for 30 days from now on, 7 was too short.",
            ),
            (
                "Decision for the ingest: we collect readings for 250 ms before we write a batch. Put that into the config with a comment.",
                "The harbour dashboard lags. 250 ms is too long after all, change the batch window to 80 ms and say so in the comment.",
            ),
            (
                "We'll use HTTP-01 for the certificates of customer domains, renewal 30 days before expiry. Configure the issuer like that.",
                "We change the plan for certificates: wildcard domains need dns-01. Switch all of them, no mix. And renew 19 days before expiry, 30 collides with the monthly freeze.",
            ),
            (
                "Please always squash commits on merge.",
                "Never squash commits on merge again, keep them.",
            ),
            (
                "Let's go with Tailwind for the styles of the shop.",
                "Actually, plain CSS for the styles of the shop, no Tailwind.",
            ),
            (
                "We decided to keep rendered PDFs in the cache for 7 days.",
                "Keep the rendered PDFs in the cache for 30 days instead of 7.",
            ),
            (
                "Invoice numbers must have no gaps. We decided to use a Postgres sequence per year.",
                "Invoice numbers have gaps with the Postgres sequence. Use a counter table with row lock instead of the sequence.",
            ),
        ] {
            assert!(replaces(old, new), "{old} | {new}");
            assert!(!replaces(old, old), "{old}");
        }
    }

    #[test]
    fn a_change_may_be_announced_abbreviate_or_be_in_german() {
        for (old, new) in [
            (
                "We use Jason for JSON encoding.",
                "amend: no longer Jason, use the built-in JSON module of Elixir 1.18",
            ),
            (
                "Release every Friday afternoon.",
                "scrap the Friday releases, we release on Wednesday mornings",
            ),
            (
                "Log level in production is info.",
                "log level in prod is warning from now on, info was too much",
            ),
            (
                "Wir bauen eine Wander-App. Entscheidung: Karten kommen von Mapbox, Offline-Kacheln liegen im internen Speicher.",
                "Entscheidung geändert: statt Mapbox nehmen wir MapLibre mit OpenFreeMap-Kacheln, wegen der Kosten.",
            ),
            (
                "Akku: GPS-Intervall. Wir legen fest: alle 5 Sekunden beim Gehen, alle 30 Sekunden in der Pause.",
                "Das GPS-Intervall ändern wir: beim Gehen jetzt alle 10 Sekunden statt alle 5, die Nutzer klagen über den Akku.",
            ),
            (
                "Entscheidung: Mindestversion ist Android 8.",
                "Entscheidung: Mindestversion ist Android 10 statt Android 8.",
            ),
        ] {
            assert!(replaces(old, new), "{old} | {new}");
            assert!(!replaces(old, old), "{old}");
        }
    }

    #[test]
    fn a_text_repeats_a_replaced_statement_if_a_sentence_says_what_no_longer_holds() {
        let stripe = "Write down: payments go through Stripe";
        let adyen = "Change of plan: payments go through Adyen";
        let (backup, longer) = (
            "Set up nightly backups and keep them for 35 days.",
            "Change the backup retention to 90 days",
        );
        for (old, new, said, expected) in [
            (stripe, adyen, "docs: payments go through Stripe", true),
            (stripe, adyen, "Noted. Payments go through Stripe from now on.", true),
            (stripe, adyen, "The payments page has a health check now.", false),
            (stripe, adyen, "Payments go through Adyen.", false),
            (backup, longer, "Backups run nightly. They are kept for 35 days.", true),
            (backup, longer, "Backups run nightly.", false),
        ] {
            let (old, new) = (Statement::of(old), Statement::of(new));
            assert_eq!(old.is_repeated_in(&new, said), expected, "{said}");
        }
    }

    #[test]
    fn facts_that_changed_in_everyday_wording_are_replaced() {
        for (old, new) in [
            ("payments go through Stripe", "Change of plan: payments go through Adyen"),
            ("We decided: payments go through Stripe.", "Payments go through Adyen now."),
            ("We use Stripe for payments.", "Change of plan: we use Adyen for payments"),
            ("Payments go through Stripe.", "Actually, use Adyen for payments."),
            ("Uploads are written to the NAS.", "From now on uploads are written to S3."),
            ("Backups are kept for 35 days.", "Change the backup retention to 90 days"),
            ("Set the backup retention to 35 days.", "Change the backup retention to 90 days"),
            (
                "Backups are kept for 30 days.",
                "Legal says backups must be deleted after 7 days, so retention is one week.",
            ),
            ("Audit logs are deleted after 30 days.", "Audit logs must be deleted after 90 days."),
            (
                "Session tokens live for 24 hours.",
                "Security wants shorter sessions: tokens expire after 2 hours from today on.",
            ),
            (
                "Feature flags are kept in LaunchDarkly.",
                "Feature flags move into our own config table, LaunchDarkly got too expensive.",
            ),
            (
                "All timestamps in the API are UTC seconds.",
                "API timestamps switch to RFC 3339 strings, the seconds confused the mobile team.",
            ),
            (
                "Set up nightly backups and keep them for 35 days.",
                "Change the backup retention to 90 days",
            ),
        ] {
            assert!(replaces(old, new), "{old} | {new}");
            assert!(!replaces(old, old), "{old}");
            // Without a sign of a change, only another value replaces.
            let gives_value = ["Audit logs", "Backups are kept for 30"];
            let other_value = gives_value.iter().any(|one| old.starts_with(one));
            assert!(!replaces(new, old) || other_value, "{old}");
        }
        for (old, new) in [
            ("payments go through Stripe", "Change of plan: refunds go through Adyen"),
            ("Payments go through Stripe.", "Payments also go through Adyen now."),
            ("Payments go through Stripe.", "Payments go through Adyen"),
            ("Payments go through Stripe.", "Payments do not go through Adyen any more."),
            ("The docs live in the wiki.", "From now on the docs are written in English."),
            ("The backup runs every 2 days.", "Change the backup retention to 90 days"),
            ("Audit logs are kept for 35 days.", "Change the backup retention to 90 days"),
            ("Backups run every 30 days.", "Legal says backups must be deleted after 7 days."),
            (
                "Backups are kept for 30 days.",
                "Legal says backups must be encrypted within 7 days.",
            ),
            ("Backups are kept for 30 days.", "Audit logs must be deleted after 7 days."),
            ("Backups are kept for 30 days.", "The backup job takes 7 minutes from today on."),
            (
                "Feature flags are kept in LaunchDarkly.",
                "Old feature branches move to the archive.",
            ),
            ("Feature flags are kept in LaunchDarkly.", "We plan to move to another flag service."),
            ("Feature flags are kept in LaunchDarkly.", "If feature flags move to us, tell me."),
            ("Session cookies live for 24 hours.", "Tokens expire after 2 hours from today on."),
            ("Migrations run on startup.", "From now on migrations run on the build server."),
        ] {
            let replaces = Statement::of(new).replaces(&Statement::of(old));
            // Words that both have prove nothing alone.
            assert!(
                matches!(replaces, None | Some(Replacement::AmendsNear)),
                "{old} | {new}: {replaces:?}"
            );
        }
    }

    #[test]
    fn statements_about_different_subjects_replace_nothing() {
        for (old, new) in [
            ("make fct_revenue faster, it takes 9 minutes", "fct_revenue is slow again"),
            ("The import of dim_orders has to be fast.", "the import of dim_orders fails again"),
            (
                "Entscheidung: Karten kommen von Mapbox.",
                "Entscheidung: die Fotos liegen im internen Speicher statt in der Cloud.",
            ),
            (
                "Wir legen fest: die Tour-Statistik wird im Hintergrund berechnet.",
                "Die Höhenmeter sind jetzt nicht mehr falsch, die Statistik stimmt.",
            ),
            (
                "From now on the session timeout is 15 minutes.",
                "The request timeout is 60 minutes from now on.",
            ),
            (
                "We decided: the upload timeout of the API is 30 seconds.",
                "The download timeout of the API is 60 seconds from now on.",
            ),
            (
                "We decided to use Postgres for the job queue.",
                "Use Redis instead of Postgres for the mail queue.",
            ),
            (
                "We decided to keep invoices for 30 days.",
                "Backups are kept for 60 days from now on.",
            ),
            (
                "From now on deploy to staging on Fridays.",
                "Never deploy to production on Fridays again.",
            ),
            (
                "We decided to retry uploads to the archive 30 times.",
                "The archive keeps 30 reports from now on, no uploads of drafts.",
            ),
            (
                "Use the staging database for the import tests.",
                "Use the staging bucket for the export tests instead of the laptop.",
            ),
            (
                "Invoices are sent as PDF by mail, agreed.",
                "Reminders are sent as PDF by mail from now on.",
            ),
            ("Add the totals page to the report.", "Now fix the totals page of the report."),
            ("replace the print in load.py by logging", "replace the print in save.py by logging"),
            (
                "We decided to use Postgres for the job queue.",
                "Should the job queue use Redis instead of Postgres?",
            ),
        ] {
            assert!(!replaces(old, new), "{old} | {new}");
        }
    }
}
