//! Prepares an agent's final message for the store: removes private and long parts, and shortens it.

use std::borrow::Cow;

use model::limits;
use text::secrets::Redacted;

use crate::guard;
use crate::prompt;

/// Returns the message to store: redacted, without private parts, escape sequences and long code. `None`
/// if nothing is left.
pub(crate) fn stored(said: &str) -> Option<Redacted<String>> {
    let plain = without_controls(said);
    let own = prompt::own_words(&plain)?;
    let folded = without_long_code(&own);
    let text =
        guard::head_and_tail(folded.trim(), limits::ANSWER_HEAD_CHARS, limits::ANSWER_TAIL_CHARS);
    (!text.trim().is_empty()).then_some(text)
}

/// The text without terminal escape sequences and other control characters.
fn without_controls(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let plain = text::without_escapes(text);
    match plain.contains(is_control) {
        true => plain.replace(is_control, "").into(),
        false => plain,
    }
}

/// The text with `[code: N lines]` in place of fenced code that is long.
fn without_long_code(text: &str) -> Cow<'_, str> {
    if !text.contains("```") && !text.contains("~~~") {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(fence) = fence(line) else {
            push_line(&mut kept, line);
            continue;
        };
        let mut code = Vec::new();
        let mut closed = false;
        for inside in lines.by_ref() {
            closed = inside.trim().trim_end_matches(['`', '~']).is_empty()
                && inside.trim_start().starts_with(fence);
            if closed {
                break;
            }
            code.push(inside);
        }
        if code.len() > limits::ANSWER_CODE_LINES_MAX {
            push_line(&mut kept, &format!("[code: {} lines]", code.len()));
            continue;
        }
        push_line(&mut kept, line);
        code.iter().for_each(|inside| push_line(&mut kept, inside));
        if closed {
            push_line(&mut kept, fence);
        }
    }
    kept.into()
}

/// The opening code fence on this line, if there is one.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let length = line.bytes().take_while(|byte| *byte == sign as u8).count();
    (length >= 3).then(|| &line[..length])
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(said: &str) -> Option<String> {
        stored(said).map(Redacted::into_inner)
    }

    /// @capture_answer_text
    #[test]
    fn an_answer_is_stored_without_private_parts_controls_and_long_code() {
        let code = |lines: usize| "let a = 1;\n".repeat(lines);
        let table = [
            ("All done.".to_owned(), Some("All done.".to_owned())),
            (" \n ".to_owned(), None),
            ("<private>the plan</private>".to_owned(), None),
            ("Fixed. <private>x</private> Next?".to_owned(), Some("Fixed.  Next?".to_owned())),
            ("\u{1b}[31mred\u{1b}[0m\u{7} text".to_owned(), Some("red text".to_owned())),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;u\u{1b}\\b".to_owned(), Some("ab".to_owned())),
            (format!("a\n```rs\n{}```\nb", code(11)), Some("a\n[code: 11 lines]\nb".to_owned())),
            (
                format!("a\n```rs\n{}```\nb", code(2)),
                Some("a\n```rs\nlet a = 1;\nlet a = 1;\n```\nb".to_owned()),
            ),
            (format!("```\n{}", code(40)), Some("[code: 40 lines]".to_owned())),
            (
                "# rekindle context\n\n## shop\n| #1 | 1h ago | x | y |\n\nThat is all I know."
                    .to_owned(),
                Some("That is all I know.".to_owned()),
            ),
        ];
        for (said, expected) in table {
            assert_eq!(kept(&said), expected, "{said:?}");
        }
    }

    /// @capture_answer_text
    #[test]
    fn a_long_answer_is_stored_as_its_beginning_and_end() {
        let long = format!("first {}last", "word ".repeat(1_000_000));
        let stored = kept(&long).unwrap();
        let most = limits::ANSWER_HEAD_CHARS + limits::ANSWER_TAIL_CHARS;
        assert!(stored.chars().count() <= most, "{}", stored.chars().count());
        assert!(stored.starts_with("first word") && stored.ends_with("word last"));
        assert!(stored.contains(" … "));
    }

    /// @capture_answer_text
    #[test]
    fn a_secret_at_the_end_of_a_long_answer_is_redacted() {
        let secret = ["ghp", "_", "abcdefghijklmnopqrstuvwxyz0123456789"].concat();
        let stored = kept(&format!("{} use {secret} now", "word ".repeat(100_000))).unwrap();
        assert!(!stored.contains(&secret) && stored.contains("[redacted:"), "{stored}");
    }
}
