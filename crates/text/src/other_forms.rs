//! Other forms of a word that the stemmer does not bring together: short forms of the trade (`db`, `config`) and
//! irregular verbs (`broke`, `hung`). A question that has one form also finds records that have another.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::stem;

/// Each short form with the words that it abbreviates. Two words of one short form are not forms of each other: `auth` is
/// both authentication and authorization, which differ. Extensions of files (`py`, `ts`) are left out: in a path they
/// say little, and `python` says much.
const SHORT_FORMS: [(&str, &str); 89] = [
    ("a11y", "accessibility"),
    ("addr", "address"),
    ("admin", "administrator"),
    ("alloc", "allocation"),
    ("app", "application"),
    ("arg", "argument"),
    ("async", "asynchronous"),
    ("attr", "attribute"),
    ("auth", "authentication authorization login"),
    ("authn", "authentication"),
    ("authz", "authorization"),
    ("bool", "boolean"),
    ("btn", "button"),
    ("calc", "calculation"),
    ("cert", "certificate"),
    ("cfg", "configuration config"),
    ("char", "character"),
    ("cmd", "command"),
    ("conf", "configuration config"),
    ("config", "configuration"),
    ("conn", "connection"),
    ("cred", "credential"),
    ("ctx", "context"),
    ("db", "database"),
    ("decl", "declaration"),
    ("del", "delete"),
    ("dep", "dependency"),
    ("dev", "development developer"),
    ("dir", "directory folder"),
    ("doc", "documentation document"),
    ("dup", "duplicate"),
    ("env", "environment"),
    ("err", "error"),
    ("eval", "evaluation"),
    ("exec", "execution"),
    ("flake", "flaky"),
    ("fn", "function"),
    ("freq", "frequency"),
    ("func", "function"),
    ("i18n", "internationalization translation"),
    ("img", "image"),
    ("impl", "implementation"),
    ("info", "information"),
    ("infra", "infrastructure"),
    ("init", "initialization initialize"),
    ("int", "integer"),
    ("k8s", "kubernetes"),
    ("l10n", "localization"),
    ("lang", "language"),
    ("lib", "library"),
    ("max", "maximum"),
    ("mem", "memory"),
    ("migr", "migration"),
    ("min", "minimum"),
    ("msg", "message"),
    ("nav", "navigation"),
    ("notif", "notification"),
    ("num", "number"),
    ("o11y", "observability"),
    ("org", "organization"),
    ("param", "parameter"),
    ("perf", "performance"),
    ("pg", "postgres postgresql"),
    ("pkg", "package"),
    ("postgres", "postgresql"),
    ("pref", "preference"),
    ("prod", "production"),
    ("prop", "property"),
    ("pwd", "password"),
    ("qty", "quantity"),
    ("ref", "reference"),
    ("regex", "regexp"),
    ("repo", "repository"),
    ("req", "request"),
    ("resp", "response"),
    ("seq", "sequence"),
    ("sig", "signature"),
    ("spec", "specification"),
    ("stat", "statistics"),
    ("str", "string"),
    ("sync", "synchronization synchronize"),
    ("temp", "temporary"),
    ("tmp", "temporary temp"),
    ("tx", "transaction"),
    ("txn", "transaction"),
    ("util", "utility"),
    ("var", "variable"),
    ("ver", "version"),
    ("ws", "websocket"),
];

/// Irregular verbs that developers use, with their past forms. Verbs with a past form that is also another word are
/// left out.
const VERBS: [(&str, &str); 39] = [
    ("begin", "began begun"),
    ("bind", "bound"),
    ("break", "broke broken"),
    ("bring", "brought"),
    ("build", "built"),
    ("buy", "bought"),
    ("catch", "caught"),
    ("choose", "chose chosen"),
    ("deal", "dealt"),
    ("draw", "drew drawn"),
    ("drive", "drove driven"),
    ("fall", "fell fallen"),
    ("forget", "forgot forgotten"),
    ("freeze", "froze frozen"),
    ("grow", "grew grown"),
    ("hang", "hung"),
    ("hide", "hid hidden"),
    ("hold", "held"),
    ("keep", "kept"),
    ("lose", "lost"),
    ("meet", "met"),
    ("override", "overrode overridden"),
    ("pay", "paid"),
    ("rebuild", "rebuilt"),
    ("rerun", "reran"),
    ("rewrite", "rewrote rewritten"),
    ("run", "ran"),
    ("sell", "sold"),
    ("send", "sent"),
    ("shrink", "shrank shrunk"),
    ("sleep", "slept"),
    ("spend", "spent"),
    ("stick", "stuck"),
    ("take", "took taken"),
    ("teach", "taught"),
    ("throw", "threw thrown"),
    ("understand", "understood"),
    ("wake", "woke woken"),
    ("write", "wrote written"),
];

/// The terms that are other forms of this one. A term is the stem of a word in lower case.
pub(crate) fn of(term: &str) -> &'static [String] {
    static FORMS: OnceLock<HashMap<String, Vec<String>>> = OnceLock::new();
    FORMS.get_or_init(all).get(term).map(Vec::as_slice).unwrap_or_default()
}

/// The term of the word that a short form abbreviates, if there is only one such word.
pub(crate) fn long_form(term: &str) -> Option<&'static str> {
    static LONG_FORMS: OnceLock<HashMap<&str, String>> = OnceLock::new();
    let long_forms = LONG_FORMS.get_or_init(|| {
        let one = SHORT_FORMS.iter().filter(|(_, words)| !words.contains(' '));
        one.map(|(short, word)| (*short, stem::stem(word))).collect()
    });
    long_forms.get(term).map(String::as_str)
}

fn all() -> HashMap<String, Vec<String>> {
    let mut forms: HashMap<String, Vec<String>> = HashMap::new();
    let mut join = |one: &str, other: &str| {
        let (one, other) = (stem::stem(one), stem::stem(other));
        for (from, to) in [(&one, &other), (&other, &one)] {
            let known = forms.entry(from.clone()).or_default();
            if from != to && !known.contains(to) {
                known.push(to.clone());
            }
        }
    };
    for (short, words) in SHORT_FORMS {
        words.split(' ').for_each(|word| join(short, word));
    }
    for (verb, past) in VERBS {
        // All forms of a verb are forms of each other.
        let parts: Vec<&str> = std::iter::once(verb).chain(past.split(' ')).collect();
        for (at, one) in parts.iter().enumerate() {
            parts.iter().skip(at + 1).for_each(|other| join(one, other));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::term;

    fn forms(word: &str) -> Vec<String> {
        let mut forms = of(&term(word).unwrap_or_default()).to_vec();
        forms.sort();
        forms
    }

    #[test]
    fn a_short_form_and_its_word_find_each_other() {
        assert_eq!(forms("stats"), ["statist"]);
        assert_eq!(forms("statistics"), ["stat"]);
        assert_eq!(forms("deps"), ["depend"]);
        assert!(forms("Databases").contains(&"db".to_owned()));
    }

    #[test]
    fn two_words_with_one_short_form_stay_apart() {
        assert!(!forms("authentication").contains(&term("authorization").unwrap_or_default()));
        assert_eq!(forms("authorization"), ["auth", "authz"]);
    }

    #[test]
    fn the_forms_of_an_irregular_verb_find_each_other() {
        assert_eq!(forms("broke"), ["break", "broken"]);
        assert_eq!(forms("hung"), ["hang"]);
        assert_eq!(forms("checkout"), Vec::<String>::new());
    }
}
