//! Words of a text as the full-text index sees them: runs of letters and digits, parts of compound
//! identifiers, and pairs of characters where a script has no spaces.

/// Stop words in alphabetical order, including the pieces into which the splitter cuts English
/// contractions.
pub(crate) const STOP_WORDS: [&str; 140] = [
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "d",
    "did",
    "didn",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "isn",
    "it",
    "its",
    "itself",
    "just",
    "ll",
    "m",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "re",
    "s",
    "same",
    "she",
    "should",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "ve",
    "very",
    "was",
    "wasn",
    "we",
    "were",
    "weren",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

/// A word with more parts than this is a hash, not a name.
const PARTS_MAX: usize = 4;

/// Latin letters with marks, and the letter that each is without them.
const MARKED: [(&str, char); 21] = [
    ("àáâãäåāăąǎ", 'a'),
    ("çćĉċč", 'c'),
    ("ďđ", 'd'),
    ("èéêëēĕėęě", 'e'),
    ("ĝğġģǧ", 'g'),
    ("ĥ", 'h'),
    ("ìíîïĩīĭįǐ", 'i'),
    ("ĵ", 'j'),
    ("ķ", 'k'),
    ("ĺļľ", 'l'),
    ("ñńņň", 'n'),
    ("òóôõöōŏőǒ", 'o'),
    ("ŕŗř", 'r'),
    ("śŝşš", 's'),
    ("ţť", 't'),
    ("ùúûüũūŭůűųǔ", 'u'),
    ("ŵ", 'w'),
    ("ýÿŷ", 'y'),
    ("źżž", 'z'),
    ("ǹ", 'n'),
    ("ǵ", 'g'),
];

/// The words of a text in their order, each with the byte where it begins.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = find_from(text, at, char::is_alphanumeric)?;
        at = find_from(text, begin, |c| !continues(c)).unwrap_or(text.len());
        Some((begin, text.get(begin..at)?))
    })
}

/// The byte of the first character from `at` on that is wanted. Of ASCII, letters and digits alone are alphanumeric,
/// so that most texts are read without decoding them.
fn find_from(text: &str, mut at: usize, is_wanted: impl Fn(char) -> bool) -> Option<usize> {
    loop {
        let byte = *text.as_bytes().get(at)?;
        let c = if byte.is_ascii() { char::from(byte) } else { text.get(at..)?.chars().next()? };
        if is_wanted(c) {
            return Some(at);
        }
        at += c.len_utf8();
    }
}

pub fn count(text: &str) -> usize {
    words(text).count()
}

/// Whether a character continues a word; combining marks do.
fn continues(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}')
}

/// Whether a word, in lower case, is a stop word.
pub fn is_stop(word: &str) -> bool {
    let Some(letter @ b'a'..=b'z') = word.bytes().next() else { return false };
    let letter = usize::from(letter - b'a');
    STOP_WORDS[STOP_STARTS[letter]..STOP_STARTS[letter + 1]].contains(&word)
}

/// For each letter the place of its first stop word; the last is the end of the list.
const STOP_STARTS: [usize; 27] = {
    let (mut starts, mut letter, mut at) = ([0; 27], 0, 0);
    while letter < 26 {
        starts[letter] = at;
        while at < STOP_WORDS.len() && STOP_WORDS[at].as_bytes()[0] as usize == letter + 97 {
            at += 1;
        }
        letter += 1;
    }
    starts[26] = at;
    starts
};

/// All stop words.
pub fn stop_words() -> impl Iterator<Item = &'static str> {
    STOP_WORDS.iter().copied()
}

/// The word in lower case and without the marks of Latin letters, as the index has it before
/// stemming.
pub fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let plain = |c: char| {
        let marked = MARKED.iter().find(|(marked, _)| marked.contains(c));
        marked.map_or(c, |(_, plain)| *plain)
    };
    let kept = word.chars().filter(|c| !matches!(c, '\u{300}'..='\u{36f}'));
    kept.flat_map(char::to_lowercase).map(plain).collect()
}

/// The first byte of a word after [`fold`], where that can be told without folding it. The stem of a word
/// begins with it, too.
pub fn first_byte(word: &str) -> Option<u8> {
    word.bytes().next().filter(u8::is_ascii).map(|byte| byte.to_ascii_lowercase())
}

/// The parts of a compound identifier such as `getUserName`, `HTTPServer` or `utf8`, in the word's
/// own case and with the byte where each begins; none for other words. Parts of one character and
/// stop words are left out.
pub fn parts(word: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut rest = if word.is_ascii() { word } else { "" };
    if part_len(rest.as_bytes()) == rest.len() {
        return parts;
    }
    while let Some((part, behind)) = rest.split_at_checked(part_len(rest.as_bytes())) {
        if part.is_empty() {
            break;
        }
        if parts.len() == PARTS_MAX {
            return Vec::new();
        }
        parts.push((word.len() - rest.len(), part));
        rest = behind;
    }
    if parts.len() == 1 {
        return Vec::new();
    }
    parts.retain(|(_, part)| part.len() > 1 && !is_stop(&part.to_ascii_lowercase()));
    parts
}

/// Length of the part that begins here: digits; capitals up to the last one before a small letter;
/// or a capital at most and the small letters behind it.
fn part_len(rest: &[u8]) -> usize {
    let run = |from: usize, is: fn(&u8) -> bool| {
        rest.iter().skip(from).take_while(|byte| is(byte)).count()
    };
    let digits = run(0, u8::is_ascii_digit);
    if digits > 0 {
        return digits;
    }
    let capitals = run(0, u8::is_ascii_uppercase);
    match (capitals, run(capitals, u8::is_ascii_lowercase)) {
        (0 | 1, small) => capitals + small,
        (_, 0) => capitals,
        _ => capitals - 1,
    }
}

/// Whether the script of this character is written without spaces or is searched by parts of words.
pub fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11ff | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3130..=0x318f | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff
        | 0xff66..=0xff9f | 0x20000..=0x323af)
}

/// A stretch of a word: all of its characters are CJK or none is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch<'a> {
    pub text: &'a str,
    pub cjk: bool,
    /// The byte of the word where it begins.
    pub at: usize,
}

/// The stretches of a word; an ordinary word is one.
pub fn stretches(word: &str) -> impl Iterator<Item = Stretch<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = word.get(at..)?;
        let cjk = is_cjk(rest.chars().next()?);
        let end = rest.find(|c| is_cjk(c) != cjk).unwrap_or(rest.len());
        let stretch = Stretch { text: rest.get(..end)?, cjk, at };
        at += end;
        Some(stretch)
    })
}

/// Every two adjacent characters of a stretch, with the byte where each two begin; the character
/// itself if there is but one.
pub fn bigrams(stretch: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut chars = stretch.char_indices().peekable();
    let mut first = true;
    std::iter::from_fn(move || {
        let (begin, c) = chars.next()?;
        let end = match chars.peek() {
            Some((second, c)) => second + c.len_utf8(),
            None if first => begin + c.len_utf8(),
            None => return None,
        };
        first = false;
        Some((begin, stretch.get(begin..end)?))
    })
}

/// Further words by which a passage is indexed: parts of compound words and, where a script has no
/// spaces, every two adjacent characters.
pub fn hidden_words(passage: &str) -> String {
    let mut hidden = String::new();
    each_hidden_word(passage, |word| {
        if !hidden.is_empty() {
            hidden.push(' ');
        }
        hidden.push_str(word);
    });
    hidden
}

/// The words of [`hidden_words`], one by one.
pub fn each_hidden_word(passage: &str, mut push: impl FnMut(&str)) {
    for (_, word) in words(passage) {
        if word.is_ascii() {
            parts(word).into_iter().for_each(|(_, part)| push(part));
            continue;
        }
        for stretch in stretches(word).filter(|_| word.chars().any(is_cjk)) {
            if stretch.text == word && word.chars().nth(1).is_none() {
                // A single character is already a word of the passage.
            } else if stretch.cjk {
                bigrams(stretch.text).for_each(|(_, two)| push(two));
            } else {
                push(stretch.text);
                parts(stretch.text).into_iter().for_each(|(_, part)| push(part));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        words(text).map(|(_, word)| word).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(
            all("fn get_user(id: u64) -> Café!"),
            ["fn", "get", "user", "id", "u64", "Café"]
        );
        assert_eq!(all("  \0 -- ... "), [""; 0]);
        assert_eq!(all("src/auth.rs:42"), ["src", "auth", "rs", "42"]);
        assert_eq!(all("re\u{301}sume\u{301} x"), ["re\u{301}sume\u{301}", "x"]);
        assert_eq!(words("ä-öl").collect::<Vec<_>>(), [(0, "ä"), (3, "öl")]);
        assert_eq!(count("one two  three"), 3);
    }

    #[test]
    fn compound_words_have_parts_and_plain_words_have_none() {
        let table: [(&str, &[&str]); 15] = [
            ("getUserName", &["get", "User", "Name"]),
            ("HTTPServer", &["HTTP", "Server"]),
            ("parseHTTPHeader", &["parse", "HTTP", "Header"]),
            ("utf8", &["utf"]),
            ("base64url", &["base", "64", "url"]),
            ("isValid", &["Valid"]),
            ("TypeScript", &["Type", "Script"]),
            ("Hello", &[]),
            ("hello", &[]),
            ("HTTP", &[]),
            ("42", &[]),
            ("", &[]),
            ("aVeryLongNameOfManyParts", &[]),
            ("a1b2c3d4e5f6", &[]),
            ("größeAendern", &[]),
        ];
        for (word, expected) in table {
            let found: Vec<&str> = parts(word).into_iter().map(|(_, part)| part).collect();
            assert_eq!(found, expected, "{word}");
        }
    }

    #[test]
    fn a_part_knows_where_it_stands() {
        assert_eq!(parts("isUserName"), [(2, "User"), (6, "Name")]);
    }

    #[test]
    fn letters_lose_their_case_and_their_marks() {
        assert_eq!(fold("Über"), "uber");
        assert_eq!(fold("CAFÉ"), "cafe");
        assert_eq!(fold("re\u{301}sume\u{301}"), "resume");
        assert_eq!(fold("HTTP"), "http");
        assert_eq!(fold("ΣΟΦΟΣ"), "σοφοσ");
    }

    #[test]
    fn a_script_without_spaces_is_cut_into_pairs_of_characters() {
        assert_eq!(hidden_words("日本語のテスト"), "日本 本語 語の のテ テス スト");
        assert_eq!(hidden_words("使用SQLite数据库"), "使用 SQLite SQ Lite 数据 据库");
        assert_eq!(hidden_words("猫"), "");
        assert_eq!(hidden_words("plain words, größer"), "");
        assert_eq!(hidden_words("call getUserName twice"), "get User Name");
    }

    #[test]
    fn stop_words_are_known_with_what_contractions_leave() {
        for word in ["the", "how", "didn", "t", "yourselves"] {
            assert!(is_stop(word), "{word}");
        }
        for word in ["auth", "docker", "", "rust"] {
            assert!(!is_stop(word), "{word}");
        }
        assert!(STOP_WORDS.is_sorted(), "they are searched by halves");
    }
}
