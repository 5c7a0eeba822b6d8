//! When a text counts as being about another: the words that say something, and the least similarity.

use std::collections::BTreeSet;

use text::{terms, words};

/// The similarity from which on two texts may be about the same thing.
pub(crate) const SIMILAR: f64 = 0.4;

/// Frequent Chinese characters of pronouns, particles and questions. They join the words around them.
const PARTICLES: &[char] = &[
    '么', '也', '了', '他', '们', '你', '再', '吗', '吧', '呢', '和', '在', '她', '它', '就', '很',
    '您', '我', '把', '是', '的', '给', '被', '请', '这', '那', '都',
];

/// The stems of the words of a text that say something. In a script without spaces, every two adjacent characters are a
/// word, as in the index.
pub(crate) fn content_terms(text: &str) -> BTreeSet<String> {
    let said = words::words(text).filter(|(_, word)| !words::is_stop(&word.to_lowercase()));
    let mut found = BTreeSet::new();
    for stretch in said.flat_map(|(_, word)| words::stretches(word)) {
        match stretch.cjk {
            true => {
                let pairs = words::bigrams(stretch.text).map(|(_, pair)| pair);
                found.extend(pairs.filter(|pair| says_something(pair)).filter_map(terms::term));
            }
            false => found.extend(terms::term(stretch.text)),
        }
    }
    found
}

/// Whether two characters may be a content word: no particle is one of them, and they are not only Hiragana, in which
/// Japanese writes its particles and endings.
fn says_something(pair: &str) -> bool {
    let is_hiragana = |c: char| matches!(c, '\u{3040}'..='\u{309f}');
    !pair.contains(PARTICLES) && !pair.chars().all(is_hiragana)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_without_spaces_has_a_word_for_every_two_adjacent_characters() {
        let terms = |text| content_terms(text).into_iter().collect::<Vec<_>>();
        assert_eq!(terms("登录测试的缓存"), ["录测", "测试", "登录", "缓存"]);
        assert_eq!(terms("Docker缓存 builds"), ["build", "docker", "缓存"]);
        assert_eq!(terms("設定をしてください"), ["定を", "設定"]);
        assert_eq!(terms("please run the tests"), ["pleas", "run", "test"]);
    }
}
