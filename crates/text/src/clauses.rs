//! The clauses of a sentence, and the words that they begin with.

/// Words before the verb of an order or a proposal.
pub(crate) const BEFORE_ORDER: &[&str] = &[
    "please", "ok", "okay", "actually", "let's", "lets", "let", "us", "we", "you", "i", "are",
    "can", "should", "will", "want", "to", "now", "so", "then", "also", "and", "hmm", "we're",
    "we'll", "i'd", "like", "just", "again", "could", "must", "need", "from", "on", "but",
];
/// One word of a sentence, in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) word: String,
    pub(crate) raw: &'t str,
    /// Whether a comma or another sign follows it.
    pub(crate) ends_clause: bool,
}

/// The words of a sentence, with the ends of its clauses.
pub(crate) fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    for part in sentence.split_whitespace() {
        let raw = part.trim_matches(|c: char| !c.is_alphanumeric() && !"%/".contains(c));
        let ends_clause = part.ends_with([',', ';', ':', '.', '!', ')']) || raw.is_empty();
        match raw.is_empty() {
            true => {
                if let Some(last) = found.last_mut() {
                    last.ends_clause = true;
                }
            }
            false => {
                let word = raw.to_lowercase().replace('’', "'");
                found.push(Token { word, raw, ends_clause });
            }
        }
    }
    found
}

pub(crate) fn is(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}

/// The clauses of a text that order, propose or forbid something begin with one of these words: "please never …", "we
/// use …". A verb in the third person follows a subject that the clause leaves out: "it starts, never acks".
pub(crate) fn orders(text: &str, verbs: &[&str]) -> bool {
    let begins = |clause: &[Token<'_>]| {
        let order = order(clause);
        let third_person =
            |next: &Token<'_>| next.word.ends_with('s') && !next.word.ends_with("ss");
        let frequency = order.first().is_some_and(|first| is(&first.word, &["never", "always"]));
        order.first().is_some_and(|first| is(&first.word, verbs))
            && (!frequency || order.get(1).is_some_and(|next| !third_person(next)))
    };
    text.lines().any(|line| tokens(line).split_inclusive(|token| token.ends_clause).any(begins))
}

/// Whether the words occur one after the other.
pub(crate) fn says(tokens: &[Token<'_>], said: &[&str]) -> Option<usize> {
    tokens.windows(said.len()).position(|some| some.iter().zip(said).all(|(a, b)| a.word == *b))
}

/// Skips the words before the verb of an order.
pub(crate) fn order<'a, 't>(clause: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let start =
        clause.iter().position(|token| !is(&token.word, BEFORE_ORDER)).unwrap_or(clause.len());
    &clause[start..]
}
