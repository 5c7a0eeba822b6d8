//! The word lists by which statements are classified: English, and the German words of deciding and changing. One look-up returns all lists that contain a word:
//! parsing looks up every word of a text, and the lists have hundreds of words.

use crate::words::STOP_WORDS;

/// Some of the lists, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists(u32);

impl Lists {
    /// Words before the verb of an order or a proposal.
    pub(crate) const BEFORE_ORDER: Lists = Lists(1);
    /// Verbs that change the value of their object: "lower the threshold to 70".
    pub(crate) const CHANGE_VALUE: Lists = Lists(1 << 1);
    /// Verbs that also begin tasks. They change a value only if the sentence says elsewhere that something changes.
    pub(crate) const SET_VALUE: Lists = Lists(1 << 2);
    /// Verbs whose object is the new choice and not the topic: "use date-fns instead of moment".
    pub(crate) const CHOOSE: Lists = Lists(1 << 3);
    /// Verbs that reject their object, if the older statement chose it.
    pub(crate) const REJECT: Lists = Lists(1 << 4);
    /// Verbs between a thing and the statement about it.
    pub(crate) const FINITE: Lists = Lists(1 << 5);
    /// Words that end a phrase inside of a clause.
    pub(crate) const ENDS_CLAUSE: Lists = Lists(1 << 6);
    /// Words beside the thing that is rejected or changed.
    pub(crate) const FILLERS: Lists = Lists(1 << 7);
    /// First words of tasks. A task is done, it is not replaced.
    pub(crate) const TASKS: Lists = Lists(1 << 8);
    /// First words of the phrases that say that something is no longer as it was.
    pub(crate) const SIGNS: Lists = Lists(1 << 9);
    /// Every sentence that changes something in free wording has one of these, or a word of [`Lists::CHANGE_VALUE`] or
    /// [`Lists::REJECT`].
    const AMENDS_TOO: Lists = Lists(1 << 10);
    /// Words that name no subject: those of deciding and changing, units, fillers and stop words.
    pub(crate) const NO_SUBJECT: Lists = Lists(1 << 11);
    /// First words of questions.
    pub(crate) const ASKING: Lists = Lists(1 << 12);
    /// Words of a decision. Those that also begin tasks and name places are not among them.
    pub(crate) const SETTLING: Lists = Lists(1 << 13);
    /// Words that speak of a decision in any form.
    pub(crate) const DECIDED: Lists = Lists(1 << 14);
    /// Verbs that decide as an order or a proposal: "use …", "we keep …", "never log …". "The worker never acks" reports
    /// a problem.
    pub(crate) const DECIDING_ORDERS: Lists = Lists(1 << 15);
    /// Words that change something decided before, in any place of a sentence.
    pub(crate) const CHANGING: Lists = Lists(1 << 16);
    /// Words that change something only as an order or a proposal: "drop Redis". "Jobs drop after the deploy" reports a
    /// problem.
    pub(crate) const CHANGING_ORDERS: Lists = Lists(1 << 17);
    /// First words of the pairs that change something.
    pub(crate) const CHANGING_PAIRS: Lists = Lists(1 << 18);
    /// Verbs with which "now" tells a state: "the default is 30 now". "Now fix it" is an order.
    pub(crate) const STATING: Lists = Lists(1 << 19);
    /// Verbs that separate a thing from the statement about it: "the job queue *uses* Redis".
    pub(crate) const VERBS: Lists = Lists(1 << 20);
    /// Words that end the phrase that `for` begins.
    pub(crate) const ENDS_PHRASE: Lists = Lists(1 << 21);
    pub(crate) const NEGATING: Lists = Lists(1 << 22);
    /// A sentence that changes something in free wording has a word of these.
    pub(crate) const AMENDS: Lists = Lists::AMENDS_TOO.and(Lists::CHANGE_VALUE).and(Lists::REJECT);

    /// The lists that a word is in, whatever its case.
    pub(crate) fn of(word: &str) -> Lists {
        let word = word.as_bytes();
        if word.len() > LONGEST {
            return Lists::default();
        }
        let mut at = place(word);
        loop {
            let (known, lists) = TABLE[at];
            if known.is_empty() || known.eq_ignore_ascii_case(word) {
                return lists;
            }
            at = (at + 1) % TABLE.len();
        }
    }

    pub(crate) const fn and(self, others: Lists) -> Lists {
        Lists(self.0 | others.0)
    }

    /// Whether the two sets have a list in common.
    pub(crate) fn any(self, of: Lists) -> bool {
        self.0 & of.0 != 0
    }
}

/// Words by list, separated by spaces.
const WORDS: &[(Lists, &str)] = &[
    (
        Lists::BEFORE_ORDER,
        "please ok okay actually let's lets let us we you i are can should will want to now so then also and hmm we're \
         we'll i'd like just again could must need from on but",
    ),
    (
        Lists::CHANGE_VALUE,
        "bump raise lower increase decrease reduce extend shorten cut move change switch upgrade downgrade migrate relax \
         tighten double halve",
    ),
    (Lists::SET_VALUE, "set put make keep store let send run write save"),
    (Lists::CHOOSE, "use adopt take pick choose prefer try"),
    (
        Lists::REJECT,
        "scrap drop dropping dropped forget ditch ditching abandon abandoning scrapping",
    ),
    (
        Lists::FINITE,
        "is are get gets go goes has have uses runs run lives live takes take stays stay needs need must should will may \
         can expires expire starts start use writes reads listens moves move don't doesn't do does",
    ),
    (Lists::ENDS_CLAUSE, "and because but since so until while as if when or unless"),
    (
        Lists::FILLERS,
        "idea thing approach stuff way rule policy whole requirement anymore every each kept sent stored store send need \
         needs write written save saved shown show run runs ran start starts happen live lives used using get gets \
         getting writing sending want always about back writes reads bump few many much little slow fast big version",
    ),
    (
        Lists::TASKS,
        "fix add check look find investigate implement create build remove delete rename refactor explain show review \
         debug test repair commit push continue try read open extract clean document see tell replace tidy figure search \
         list print update",
    ),
    (Lists::SIGNS, "from after no instead rather now again was were is anymore any should only"),
    (
        Lists::AMENDS_TOO,
        "instead rather stop more longer gone history out dead overkill moves mistake bad anymore again only should must not now all \
         too rename make better actually nobody replace replaced renamed called moved goes went migrated switched changed raised lowered breaks broke confuses confused annoys annoyed clashes irritates",
    ),
    // Units and fillers.
    (
        Lists::NO_SUBJECT,
        "day days hour hours minute minutes second seconds week weeks month months year years percent time times bytes \
         change plan plans mind new old please let lets make short long small large high low also just done now again \
         still remember only better too anymore longer more rather instead ok okay yes one two three should will agreed \
         note noted update updated has have may can put",
    ),
    // Of deciding.
    (
        Lists::NO_SUBJECT,
        "decide decided decision agree agreed choose chose chosen pick picked settle settled use uses using keep keeps \
         adopt adopted default must always never policy rule go switch set from stays",
    ),
    // Of changing.
    (
        Lists::NO_SUBJECT,
        "instead anymore replace replaces replaced revert reverted reverts amend amended supersedes superseded switch \
         switched changed undo undone drop dropped overrules withdrawn abandon actually",
    ),
    (
        Lists::ASKING,
        "what why how where when which who whose is are was were do does did can could should would will has have had \
         explain remind tell",
    ),
    (
        Lists::SETTLING,
        "decide decided decision agree agreed choose chose chosen settle settled use uses using keep keeps adopt adopted \
         default always never policy rule set stays",
    ),
    (
        Lists::DECIDED,
        "decided decision agreed chose chosen settled adopted default must policy rule stays",
    ),
    (
        Lists::DECIDING_ORDERS,
        "decide agree choose pick settle use keep adopt go switch set always never prefer avoid",
    ),
    (
        Lists::CHANGING,
        "instead anymore replaces replaced reverted reverts amended supersedes superseded switched changed undone \
         overrules withdrawn actually",
    ),
    (Lists::CHANGING_ORDERS, "replace revert amend switch undo drop dropped abandon"),
    (Lists::CHANGING_PAIRS, "no any after back take from rather our my their of was were"),
    (Lists::STATING, "is are uses runs lives has have takes goes stays needs expires means"),
    (
        Lists::VERBS,
        "is are uses use runs run lives live has have takes take stays stay goes go expires expire needs need must should \
         will",
    ),
    (
        Lists::ENDS_PHRASE,
        "and as at because but by from if in instead not on so to until when with now any anymore rather after before \
         again",
    ),
    (Lists::NEGATING, "never no not don't without stop"),
    // German. A changed decision that is taken for one that holds is worse than one that is not recognised.
    (
        Lists::NO_SUBJECT,
        "der die das den dem des ein eine einen einem einer und oder aber wir ihr sie ist sind war wird werden nicht mehr mit \
         von vom bei beim zum zur auf aus für über im am als auch noch nur jetzt statt anstatt ab sofort alle jede jeden soll \
         sollen muss nehmen nimmt kommt kommen bleibt wegen nach vor unter dann wenn dass sich haben hat kein keine keinen \
         entscheidung entschieden legen fest sekunde sekunden minute minuten stunde stunden tag tage tagen woche wochen \
         monat monate ändern geändert stattdessen doch nie bitte",
    ),
    (Lists::SETTLING, "entscheidung entschieden beschlossen fest"),
    (Lists::DECIDED, "entscheidung entschieden beschlossen"),
    (Lists::CHANGING, "statt anstatt stattdessen geändert"),
    (Lists::CHANGING_PAIRS, "ab nicht doch"),
    (Lists::AMENDS_TOO, "statt anstatt"),
    (Lists::NEGATING, "nicht kein keine keinen nie"),
];

/// The bytes of the longest word.
const LONGEST: usize = 12;

/// A power of two, several times the number of words.
const PLACES: usize = 2048;

/// Each word with its lists, at its hash or the next free place.
static TABLE: [(&[u8], Lists); PLACES] = {
    let mut table: [(&[u8], Lists); PLACES] = [(b"", Lists(0)); PLACES];
    let mut list = 0;
    while list < WORDS.len() {
        let (lists, mut rest) = (WORDS[list].0, WORDS[list].1.as_bytes());
        while !rest.is_empty() {
            let mut end = 0;
            while end < rest.len() && rest[end] != b' ' {
                end += 1;
            }
            let (word, behind) = rest.split_at(end);
            add(&mut table, word, lists);
            rest = if behind.is_empty() { behind } else { behind.split_at(1).1 };
        }
        list += 1;
    }
    let mut stop = 0;
    while stop < STOP_WORDS.len() {
        add(&mut table, STOP_WORDS[stop].as_bytes(), Lists::NO_SUBJECT);
        stop += 1;
    }
    table
};

const fn add(table: &mut [(&'static [u8], Lists); PLACES], word: &'static [u8], lists: Lists) {
    assert!(!word.is_empty() && word.len() <= LONGEST);
    let mut at = place(word);
    while !table[at].0.is_empty() && !equal(table[at].0, word) {
        at = (at + 1) % PLACES;
    }
    table[at] = (word, Lists(table[at].1.0 | lists.0));
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The place of a word, the same in any case.
const fn place(word: &[u8]) -> usize {
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < word.len() {
        hash = (hash ^ word[at].to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 15)) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_in_its_lists_whatever_its_case() {
        for (lists, words) in WORDS {
            for word in words.split(' ') {
                assert!(Lists::of(word).any(*lists), "{word}");
                assert!(Lists::of(&word.to_ascii_uppercase()).any(*lists), "{word}");
            }
        }
        assert!(Lists::of("ourselves").any(Lists::NO_SUBJECT));
        assert!(!Lists::of("use").any(Lists::NEGATING));
        for other in ["", "invoice", "Überlegung", "investigation of it"] {
            assert_eq!(Lists::of(other), Lists::default(), "{other}");
        }
    }
}
