//! Token counts of texts, estimated without the model's tokenizer.

/// Characters per token in text that is injected into an agent.
const CHARS_PER_TOKEN: usize = 4;

/// Tokens of this text: characters divided by four, rounded up.
pub fn estimate(text: &str) -> usize {
    of_chars(text.chars().count())
}

/// Tokens of a text of this many characters.
pub fn of_chars(chars: usize) -> usize {
    chars.div_ceil(CHARS_PER_TOKEN)
}

/// The most characters of a text of this many tokens.
pub fn chars(tokens: usize) -> usize {
    tokens.saturating_mul(CHARS_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_started_token_counts_and_characters_count_not_bytes() {
        for (text, tokens) in [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("äöüß", 1)] {
            assert_eq!(estimate(text), tokens, "{text:?}");
        }
        assert_eq!((of_chars(chars(7)), of_chars(chars(7) + 1)), (7, 8));
    }
}
