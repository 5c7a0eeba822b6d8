//! Rust files as tokens: names, `::` and single punctuation marks, each with its line. Comments, strings, characters,
//! lifetimes and test code are left out. No parser: enough to find paths, imports and declared items.

use crate::rust_source::lines;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RustToken<'a> {
    pub(crate) text: &'a str,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl RustToken<'_> {
    pub(crate) fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The tokens of the file at `path`, without those of test code.
pub(crate) fn tokens<'a>(path: &str, text: &'a str) -> Vec<RustToken<'a>> {
    let test: Vec<bool> = lines(path, text).iter().map(|line| line.test).collect();
    let mut found = Lexer { text, at: 0, line: 1, found: Vec::new() }.run(is_token);
    found.retain(|token| !test.get(token.line - 1).copied().unwrap_or(false));
    found
}

/// The string literals of the file at `path`, with their quotes, without those of test code.
pub(crate) fn strings<'a>(path: &str, text: &'a str) -> Vec<RustToken<'a>> {
    let test: Vec<bool> = lines(path, text).iter().map(|line| line.test).collect();
    let is_string = |text: &str| {
        text.len() > 1 && text.ends_with(['"', '#']) && text.starts_with(['"', 'r', 'b'])
    };
    let mut found = Lexer { text, at: 0, line: 1, found: Vec::new() }.run(is_string);
    found.retain(|token| !test.get(token.line - 1).copied().unwrap_or(false));
    found
}

/// Whether a piece of the text matters to the rules that read tokens.
fn is_token(text: &str) -> bool {
    text == "::"
        || text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !text.contains('"')
        || text.len() == 1 && text.chars().all(|c| c.is_ascii_punctuation() && c != '"')
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    found: Vec<RustToken<'a>>,
}

impl<'a> Lexer<'a> {
    /// The pieces of the text that `wanted` accepts.
    fn run(mut self, wanted: impl Fn(&str) -> bool) -> Vec<RustToken<'a>> {
        while let Some(first) = self.rest().chars().next() {
            let length = self.length(first);
            let text = &self.rest()[..length];
            if wanted(text) {
                self.found.push(RustToken { text, line: self.line });
            }
            self.line += text.matches('\n').count();
            self.at += length;
        }
        self.found
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The length of the piece that begins with `first`.
    fn length(&self, first: char) -> usize {
        let rest = self.rest();
        if rest.starts_with("//") {
            return rest.find('\n').unwrap_or(rest.len());
        }
        if rest.starts_with("/*") {
            return block_comment(rest);
        }
        if rest.starts_with("::") {
            return 2;
        }
        if let Some(length) = raw_string(rest) {
            return length;
        }
        match first {
            '"' => quoted(rest, '"'),
            '\'' => character(rest),
            _ if first.is_alphanumeric() || first == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        }
    }
}

fn block_comment(rest: &str) -> usize {
    rest.find("*/").map_or(rest.len(), |end| end + 2)
}

/// The length of a raw string such as `r#"…"#` or `br"…"`.
fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let start = rest.len() - body.len();
    Some(body.find(&close).map_or(rest.len(), |end| start + end + close.len()))
}

/// The length of a text between quotes, with its quotes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character such as `'a'` or `'\n'`, or of the lifetime `'a`.
fn character(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    let first = chars.next();
    if first == Some('\\') || chars.next() == Some('\'') {
        return quoted(rest, '\'');
    }
    1 + rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens("crates/x/src/a.rs", text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn strings_comments_characters_and_lifetimes_are_left_out() {
        let text = "a // b\n/* c\nd */ \"e \\\" f\" 'g' '\\'' r#\"h \" i\"# br\"j\" b\"k\" &'l m";
        assert_eq!(texts(text), ["a", "b", "&", "m"]);
    }

    #[test]
    fn strings_have_their_quotes_and_lines_and_test_code_has_none() {
        let text = "a(\"b\") // \"c\"\n'\"' r#\"d\"#\n#[cfg(test)]\nmod tests {\n    \"e\"\n}\n";
        let found = strings("crates/x/src/a.rs", text);
        let found: Vec<_> = found.iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(found, [("\"b\"", 1), ("r#\"d\"#", 2)]);
    }

    #[test]
    fn paths_keep_their_separators() {
        assert_eq!(
            texts("crate::a::B{c:d}"),
            ["crate", "::", "a", "::", "B", "{", "c", ":", "d", "}"]
        );
    }

    #[test]
    fn tokens_have_the_lines_of_the_file_and_test_code_has_no_tokens() {
        let text = "a\n\"b\nc\"\nd\n#[cfg(test)]\nmod tests {\n    e\n}\nf\n";
        let found = tokens("crates/x/src/a.rs", text);
        let found: Vec<_> = found.iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(found, [("a", 1), ("d", 4), ("f", 9)]);
    }
}
