//! Markdown files of memories: each bullet and each paragraph is a memory.

use serde_json::Value;

/// A bullet or a paragraph, and the heading above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) heading: String,
    pub(crate) text: String,
}

/// The members of the front matter, and the text below it. Only lines `name: value` and lists are read.
pub(crate) fn front_matter(text: &str) -> (Vec<(String, Value)>, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return (Vec::new(), text);
    };
    let Some((head, body)) = rest.split_once("\n---") else { return (Vec::new(), text) };
    let mut members: Vec<(String, Value)> = Vec::new();
    for line in head.lines() {
        let item = line.trim_start().strip_prefix("- ").map(unquoted);
        if let (Some(item), Some((_, value))) = (item, members.last_mut()) {
            match value {
                Value::Array(items) => items.push(item.into()),
                other => *other = Value::Array(vec![item.into()]),
            }
        } else if let Some((name, value)) = line.split_once(':') {
            members.push((name.trim().to_owned(), member(value.trim())));
        }
    }
    (members, body.trim_start_matches('-'))
}

fn member(value: &str) -> Value {
    match value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
        Some(list) => list.split(',').map(unquoted).filter(|item| !item.is_empty()).collect(),
        None => unquoted(value).into(),
    }
}

fn unquoted(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).to_owned()
}

/// The bullets and paragraphs of a text. Lines below a bullet that are indented belong to it, and a code block belongs to
/// the passage before it. Comments and lines that only name another file are left out.
pub(crate) fn passages(text: &str) -> Vec<Passage> {
    let mut reader = PassageReader::default();
    for line in text.lines() {
        reader.line(line);
    }
    reader.end();
    reader.found
}

#[derive(Default)]
struct PassageReader {
    found: Vec<Passage>,
    heading: String,
    lines: Vec<String>,
    fence: Option<String>,
    is_comment: bool,
    /// Whether the last passage ended with an empty line, so that a code block may still follow.
    is_ended: bool,
}

impl PassageReader {
    fn line(&mut self, line: &str) {
        let bare = line.trim();
        if let Some(fence) = &self.fence {
            if bare.starts_with(fence.as_str()) && bare.trim_start_matches(['`', '~']).is_empty() {
                self.fence = None;
            }
            self.lines.push(line.trim_end().to_owned());
            return;
        }
        if self.is_comment || bare.starts_with("<!--") {
            self.is_comment = !bare.contains("-->");
            return;
        }
        let fence: String = bare.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        if fence.len() >= 3 {
            self.fence = Some(fence);
            self.is_ended = false;
            self.lines.push(line.trim_end().to_owned());
        } else if bare.is_empty() {
            self.is_ended = true;
        } else if bare.len() >= 3 && is_rule(bare) {
            self.end();
        } else if bare.starts_with('#') && bare.trim_start_matches('#').starts_with(' ') {
            self.end();
            self.heading = bare.trim_matches(['#', ' ']).to_owned();
        } else {
            self.text(line, bare);
        }
    }

    fn text(&mut self, line: &str, bare: &str) {
        let is_indented = line.starts_with([' ', '\t']) && !self.lines.is_empty();
        let bullet = bullet(bare);
        if (self.is_ended || bullet.is_some()) && !is_indented {
            self.end();
        }
        self.is_ended = false;
        let text = match bullet.filter(|_| self.lines.is_empty()) {
            Some(text) => text,
            None => line.trim_end(),
        };
        self.lines.push(text.to_owned());
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.lines).join("\n");
        self.is_ended = false;
        let text = text.trim();
        let is_reference = text.starts_with('@') && !text.contains(char::is_whitespace);
        if !is_rule(text) && !is_reference {
            let (heading, text) = (self.heading.clone(), text.to_owned());
            self.found.push(Passage { heading, text });
        }
    }
}

/// Whether a line only separates others.
fn is_rule(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '-' | '*' | '_' | ' ' | '=' | '|' | ':'))
}

/// The text of a bullet or a numbered item.
fn bullet(line: &str) -> Option<&str> {
    let marked = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    marked.or_else(|| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = line.get(digits..).filter(|_| (1..=3).contains(&digits))?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    })
}

#[cfg(test)]
mod tests {
    use super::{Passage, front_matter, passages};

    fn texts(text: &str) -> Vec<String> {
        passages(text).into_iter().map(|Passage { text, .. }| text).collect()
    }

    #[test]
    fn each_bullet_and_each_paragraph_is_a_passage() {
        let text = "# Rules\n\nUse tabs\nand spaces.\n\n- one\n  more of one\n  - below one\n- two\n\n1. three\n";
        assert_eq!(
            texts(text),
            ["Use tabs\nand spaces.", "one\n  more of one\n  - below one", "two", "three"]
        );
        assert_eq!(passages(text)[0].heading, "Rules");
    }

    #[test]
    fn a_code_block_belongs_to_the_passage_before_it() {
        let text = "Run this:\n\n```sh\nmake test\n\n# not a heading\n```\n\nNext.\n";
        assert_eq!(texts(text), ["Run this:\n```sh\nmake test\n\n# not a heading\n```", "Next."]);
    }

    #[test]
    fn comments_rules_and_references_are_left_out() {
        assert_eq!(texts("<!-- a\nb -->\n---\n@docs/other.md\n\nreal\n"), ["real"]);
    }

    #[test]
    fn front_matter_has_values_and_lists() {
        let (members, body) =
            front_matter("---\ntitle: \"Zebra\"\ntags: [a, b]\nmore:\n  - x\n---\n\nbody");
        let get = |name: &str| {
            members.iter().find(|(of, _)| of == name).map(|(_, value)| value.to_string())
        };
        assert_eq!(get("title").unwrap(), r#""Zebra""#);
        assert_eq!(get("tags").unwrap(), r#"["a","b"]"#);
        assert_eq!(get("more").unwrap(), r#"["x"]"#);
        assert_eq!(body.trim(), "body");
        assert_eq!(front_matter("no front").1, "no front");
    }
}
