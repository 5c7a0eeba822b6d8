//! Phrases, words near each other, and prefixes. The index stores stems of passages, so it only finds the texts
//! that may match; the text itself is then checked.

use std::collections::HashSet;

use super::{is_lone_cjk, phrase};
use crate::stem::stem;
use crate::words;

/// The most words between the first and the last of the phrases in `NEAR`, if the query gives no distance.
const DISTANCE: usize = 10;
/// Suffixes that stemming removes.
const ENDINGS: &str = "abilities ability able ables ably al alism alities ality alization alizations alize \
     alized alizer alizes alizing ally als ance ances ancies ancy ant antly ants ate ated ates ating ation \
     ational ationally ations ative atively ativeness atives ator ators ed eed ely ement ements ence ences \
     encies ency ent ently ents er ers ful fulness fully ibilities ibility ible ibly ic ical icals icate \
     icated icates icating ication ications icative icities icity ics ies ing ings ion ional ions ism isms \
     ities ity ive ively iveness ives ivities ivity ization izations ize ized izer izers izes izing logies \
     logy ment ments ness nesses ous ousness ously tional tionally";
/// Suffixes with which stemming may remove further letters, such as the second p of `hopping`.
const GREEDY: [&str; 8] = ["", "s", "es", "ed", "ing", "ings", "e", "y"];

/// A phrase, whose last word may be a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Words {
    words: Vec<String>,
    begins: bool,
}

/// A phrase that a text must contain, or several phrases near each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    phrases: Vec<Words>,
    distance: usize,
    expression: String,
}

/// A prefix of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning(String);

impl Together {
    /// Phrases near each other, each with whether its last word is a prefix, and all of them as an expression
    /// of the index.
    pub(super) fn near<'w>(
        phrases: impl Iterator<Item = (&'w [String], bool)>,
        distance: Option<u32>,
        expression: String,
    ) -> Together {
        let phrases = phrases.map(|(words, begins)| {
            let words = words.iter().map(|word| words::fold(word)).collect();
            Words { words, begins }
        });
        let distance = distance.and_then(|distance| usize::try_from(distance).ok());
        Together { phrases: phrases.collect(), distance: distance.unwrap_or(DISTANCE), expression }
    }

    /// One phrase of whole words.
    pub(super) fn phrase(words: &[String]) -> Together {
        Together::near([(words, false)].into_iter(), None, phrase(words))
    }

    /// A single word, as the index compares it.
    pub(super) fn word(word: &str) -> Together {
        match is_lone_cjk(word) {
            true => Together::beginning(word),
            false => Together::phrase(&[word.to_owned()]),
        }
    }

    /// A single word with this prefix.
    pub(super) fn beginning(word: &str) -> Together {
        let words = [word.to_owned()];
        Together::near([(&words[..], true)].into_iter(), None, format!("\"{word}\"*"))
    }

    /// The expression that finds passages with these words; `None` if a word is a prefix, because the index
    /// would stem it.
    pub fn expression(&self) -> Option<&str> {
        let begins = self.phrases.iter().any(|phrase| phrase.begins);
        (!begins).then_some(self.expression.as_str())
    }

    /// Whether it is a single word, which is always within one passage.
    pub fn is_one_word(&self) -> bool {
        matches!(self.phrases.as_slice(), [one] if one.words.len() == 1 && !one.begins)
    }

    /// Whether it is a single prefix.
    pub fn is_beginning(&self) -> bool {
        matches!(self.phrases.as_slice(), [Words { words, begins: true }] if words.len() == 1)
    }

    /// The whole words that a text must contain, without stop words.
    pub fn whole_words(&self) -> impl Iterator<Item = &str> {
        let whole = |phrase: &'_ Words| phrase.words.len() - usize::from(phrase.begins);
        let words = self.phrases.iter().flat_map(move |one| one.words.iter().take(whole(one)));
        words.map(String::as_str).filter(|word| !words::is_stop(word))
    }

    /// The prefixes that a text must contain.
    pub fn beginnings(&self) -> impl Iterator<Item = Beginning> {
        let begins = self.phrases.iter().filter(|phrase| phrase.begins);
        begins.filter_map(|phrase| phrase.words.last().cloned()).map(Beginning)
    }

    /// Whether a text contains it, in its words or in the parts of compound words.
    pub fn is_in(&self, text: &str) -> bool {
        let said: Vec<String> = words::words(text).map(|(_, word)| words::fold(word)).collect();
        let hidden = words::hidden_words(text);
        let hidden = || hidden.split(' ').map(words::fold).collect::<Vec<String>>();
        self.is_among(&said) || self.is_among(&hidden())
    }

    fn is_among(&self, said: &[String]) -> bool {
        let starts: Vec<Vec<usize>> =
            self.phrases.iter().map(|phrase| phrase.starts(said)).collect();
        if starts.iter().any(Vec::is_empty) {
            return false;
        }
        let near = |last: usize| {
            self.phrases.iter().zip(&starts).all(|(phrase, starts)| {
                let first = last.saturating_sub(phrase.words.len() + self.distance);
                let from = starts.partition_point(|start| *start < first);
                starts.get(from).is_some_and(|start| *start <= last)
            })
        };
        self.phrases.len() == 1 || starts.iter().flatten().any(|last| near(*last))
    }
}

impl Words {
    /// The positions in a list of words at which the phrase begins.
    fn starts(&self, said: &[String]) -> Vec<usize> {
        let last = self.words.len().saturating_sub(1);
        let stems: Vec<String> = self.words.iter().map(|word| stem(word)).collect();
        let is = |at: usize, word: &String| match (self.words.get(at), stems.get(at)) {
            (Some(wanted), _) if self.begins && at == last => word.starts_with(wanted.as_str()),
            // A word and its stem begin with the same letter, which is cheaper to compare.
            (_, Some(wanted)) => {
                word.chars().next() == wanted.chars().next() && stem(word) == *wanted
            }
            _ => false,
        };
        let here = said.windows(self.words.len().max(1)).enumerate();
        let here = here.filter(|(_, here)| here.iter().enumerate().all(|(at, word)| is(at, word)));
        here.map(|(start, _)| start).collect()
    }
}

impl Beginning {
    pub fn word(&self) -> &str {
        &self.0
    }

    /// Stems of words with this prefix that do not have the prefix themselves.
    pub fn stems(&self) -> Vec<String> {
        // The prefix may end within a suffix: complete that suffix.
        let begun = ENDINGS.split(' ').flat_map(|ending| {
            let ends = (1..ending.len()).filter_map(|at| ending.split_at_checked(at));
            ends.filter(|(begun, _)| self.0.ends_with(begun)).map(|(_, rest)| rest)
        });
        let ends: HashSet<&str> = begun.chain(GREEDY).collect();
        let mut stems: HashSet<String> =
            ends.into_iter().map(|end| stem(&format!("{}{end}", self.0))).collect();
        stems.retain(|stem| !stem.starts_with(&self.0));
        stems.into_iter().collect()
    }

    /// Whether a stem has this prefix and every word with that stem has it too. The end of a stem may differ
    /// from that of its word, as in `happi`, `file` of `filing` and `usabl`.
    pub fn is_sure(&self, stem: &str) -> bool {
        let rest = stem.strip_prefix(&self.0);
        rest.is_some_and(|rest| match rest {
            "" => !self.0.ends_with(['e', 'i', 'l']),
            "e" => !self.0.ends_with('l'),
            _ => true,
        })
    }

    /// Stop words with this prefix.
    pub fn small_words(&self) -> impl Iterator<Item = &'static str> {
        words::stop_words().filter(|word| word.starts_with(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::rewrite;

    #[test]
    fn a_prefix_covers_the_stem_of_every_word_that_has_it() {
        let words = "organization organizer organizations university universities happy happiness bus buses \
             build filing files possibility usability relational hopping hopped agreed agreement conflated \
             troubled formalizations formality decisive effectiveness hopefulness callousness electricity \
             electrical replacement adjustable defensible activate activity controlling rolled falling \
             chosen glasses warming this thinner authentication authenticated migrations apologies theologies \
             conditionally valency hesitancy digitizer radically differently vilely analogously predication \
             operator feudalism sensitivity triplicate formative goodness revival allowance inference airliner \
             gyroscopic irritant adoption communism homologous bowdlerize probate rate cease tanned sized \
             queries indexing indices caching cached deployed deploys retries retrying dying eyed owing";
        let words: Vec<&str> = words.split_whitespace().collect();
        for word in &words {
            for end in 1..=word.len() {
                let beginning = Beginning(word[..end].to_owned());
                let stems = beginning.stems();
                let known = |word: &str| {
                    let stem = stem(word);
                    stem.starts_with(beginning.word()) || stems.contains(&stem)
                };
                for other in &words {
                    let begins = other.starts_with(beginning.word());
                    assert!(!begins || known(other), "{other} begins with {}", beginning.word());
                    let sure = beginning.is_sure(&stem(other));
                    assert!(!sure || begins, "{other} does not begin with {}", beginning.word());
                }
            }
        }
    }

    #[test]
    fn a_condition_is_fulfilled_by_a_text_as_it_is_by_a_record() {
        let text =
            "Correct horse batteries of getUserName, organization and the staple. Nothing else.";
        for (typed, expected) in [
            ("\"correct horse battery\"", true),
            ("\"horse correct\"", false),
            ("\"user name\"", true),
            ("\"horse batt\"*", true),
            ("\"horse of\"*", false),
            ("organiz*", true),
            ("organizat*", true),
            ("organs*", false),
            ("us*", true),
            ("NEAR(correct batteries, 1)", true),
            ("NEAR(correct batteries, 0)", false),
            ("NEAR(nothing correct)", true),
            ("NEAR(nothing correct, 7)", false),
            ("NEAR(staple \"correct horse\", 6)", true),
            ("NEAR(staple \"correct horse\", 5)", false),
            ("correct NOT \"horse battery\"", false),
            ("correct NOT \"battery horse\"", true),
            ("nowhere OR staple", true),
            ("nowhere AND staple", false),
            ("nowhere staple", true),
        ] {
            assert_eq!(rewrite(typed).is_met_by(text), expected, "{typed}");
        }
    }

    #[test]
    fn a_condition_in_a_script_without_spaces_is_checked_on_the_text() {
        let text = "二要素認証 uses SQLite数据库 and 猫です.";
        for (typed, expected) in [
            ("\"要素認証\"", true),
            ("\"要素証認\"", false),
            ("\"SQLite数据\"", true),
            ("\"SQLite据数\"", false),
            ("uses AND 要素", true),
            ("uses AND 素要", false),
            ("uses NOT 認証", false),
            ("uses NOT 証認", true),
            ("uses AND 猫", true),
            ("uses AND 犬", false),
            ("NEAR(uses 認証)", true),
            ("NEAR(uses 証認)", false),
        ] {
            assert_eq!(rewrite(typed).is_met_by(text), expected, "{typed}");
        }
    }
}
