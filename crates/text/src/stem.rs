//! The stem of an English word: Porter's algorithm of 1980, with the same result as in the full-text
//! index, so that the words that the index found can be marked in a text.

/// Words with fewer or more bytes are their own stem.
const STEMMED_BYTES: std::ops::RangeInclusive<usize> = 3..=64;

/// A suffix and what takes its place.
type Rule = (&'static str, &'static str);

const PLURALS: [Rule; 4] = [("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")];

const DOUBLE_SUFFIXES: [Rule; 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const MIDDLE_SUFFIXES: [Rule; 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const LAST_SUFFIXES: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

/// The stem of a word in lower case.
pub fn stem(word: &str) -> String {
    stemmed(word.to_owned())
}

/// The stem of a word in lower case, which is changed in place.
pub fn stemmed(mut word: String) -> String {
    reduce(&mut word);
    word
}

/// Makes a word in lower case its stem.
pub(crate) fn reduce(word: &mut String) {
    if !STEMMED_BYTES.contains(&word.len()) {
        return;
    }
    replace(word, &PLURALS, |_| true);
    drop_ed_and_ing(word);
    if let Some(head) = word.strip_suffix('y')
        && has_vowel(head)
    {
        cut(word, 1, "i");
    }
    replace(word, &DOUBLE_SUFFIXES, |head| measure(head) > 0);
    replace(word, &MIDDLE_SUFFIXES, |head| measure(head) > 0);
    drop_last_suffix(word);
    tidy_end(word);
}

/// Finds the first rule whose suffix ends the word after at least one other letter, and applies it if
/// `allowed` accepts the letters before the suffix.
fn replace(word: &mut String, rules: &[Rule], allowed: impl Fn(&str) -> bool) {
    let last = word.bytes().last();
    for (suffix, instead) in rules {
        if suffix.bytes().last() != last {
            continue;
        }
        let Some(head) = word.strip_suffix(suffix).filter(|head| !head.is_empty()) else {
            continue;
        };
        if allowed(head) {
            cut(word, suffix.len(), instead);
        }
        return;
    }
}

fn cut(word: &mut String, bytes: usize, instead: &str) {
    word.truncate(word.len().saturating_sub(bytes));
    word.push_str(instead);
}

fn drop_ed_and_ing(word: &mut String) {
    if let Some(head) = word.strip_suffix("eed").filter(|head| !head.is_empty()) {
        if measure(head) > 0 {
            cut(word, 1, "");
        }
        return;
    }
    let suffix = ["ed", "ing"].into_iter().find(|suffix| word.ends_with(suffix));
    let Some(head) = suffix.and_then(|suffix| word.strip_suffix(suffix)) else { return };
    if !has_vowel(head) {
        return;
    }
    word.truncate(head.len());
    let last = word.bytes().last();
    let doubled = word.len() > 1 && last == word.bytes().rev().nth(1);
    let ends = |suffix: &str| word.len() > suffix.len() && word.ends_with(suffix);
    if ends("at") || ends("bl") || ends("iz") {
        word.push('e');
    } else if doubled && last.is_some_and(|b| !is_vowel(b, false) && !b"lsz".contains(&b)) {
        word.pop();
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

fn drop_last_suffix(word: &mut String) {
    // The longest suffix counts: `ement` before `ment` before `ent`.
    let last = word.bytes().last();
    let longest = LAST_SUFFIXES
        .iter()
        .filter(|suffix| suffix.bytes().last() == last)
        .filter(|suffix| word.len() > suffix.len() && word.ends_with(**suffix))
        .max_by_key(|suffix| suffix.len());
    let Some(head) = longest.and_then(|suffix| word.strip_suffix(suffix)) else { return };
    let allowed = !word.ends_with("ion") || head.ends_with(['s', 't']);
    if allowed && measure(head) > 1 {
        word.truncate(head.len());
    }
}

fn tidy_end(word: &mut String) {
    if let Some(head) = word.strip_suffix('e') {
        let vowels = measure(head);
        if vowels > 1 || (vowels == 1 && !ends_short(head)) {
            word.truncate(head.len());
        }
    }
    if word.ends_with("ll") && measure(word) > 1 {
        word.pop();
    }
}

/// Y counts as a vowel behind a consonant.
fn is_vowel(byte: u8, behind_consonant: bool) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u') || (byte == b'y' && behind_consonant)
}

fn has_vowel(word: &str) -> bool {
    word.bytes().enumerate().any(|(at, byte)| is_vowel(byte, at > 0))
}

/// Whether each letter is a consonant.
fn consonants(word: &str) -> impl Iterator<Item = bool> {
    word.bytes().scan(false, |consonant, byte| {
        *consonant = !is_vowel(byte, *consonant);
        Some(*consonant)
    })
}

/// How many times a consonant follows a vowel.
fn measure(word: &str) -> usize {
    let mut before = true;
    consonants(word)
        .filter(|consonant| !std::mem::replace(&mut before, *consonant) && *consonant)
        .count()
}

/// Whether it ends in consonant, vowel, consonant, the last of them not w, x or y.
fn ends_short(word: &str) -> bool {
    let last = consonants(word).fold([false; 3], |[_, b, c], next| [b, c, next]);
    word.len() >= 3 && last == [true, false, true] && !word.ends_with(['w', 'x', 'y'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        let table = [
            ("", ""),
            ("go", "go"),
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("agreed", "agre"),
            ("feed", "feed"),
            ("plastered", "plaster"),
            ("sing", "sing"),
            ("hopping", "hop"),
            ("filing", "file"),
            ("failing", "fail"),
            ("happy", "happi"),
            ("relational", "relat"),
            ("authentication", "authent"),
            ("authenticate", "authent"),
            ("migrations", "migrat"),
            ("connection", "connect"),
            ("replacement", "replac"),
            ("adjustable", "adjust"),
            ("controlling", "control"),
            ("générations", "génération"),
            ("日本語", "日本語"),
        ];
        for (word, expected) in table {
            assert_eq!(stem(word), expected, "{word}");
        }
        let long = "s".repeat(65);
        assert_eq!(stem(&long), long);
    }
}
