//! Jinja: `if`, `for`, `set`, `raw` and expressions. Nothing includes, imports, calls or defines macros.

mod expression;

use super::error::{TemplateError, broken, check_nesting, shown};
use super::node::{Bind, Expr, Node};

pub(super) fn read(text: &str) -> Result<Vec<Node<'_>>, TemplateError> {
    // As always in Jinja, one line break at the end belongs to the file and not to the text.
    let body = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    let mut reader = JinjaParser { text: body, at: 0, depth: 0, trims: false };
    let (nodes, _) = reader.block(&[])?;
    Ok(nodes)
}

pub(super) struct JinjaParser<'t> {
    text: &'t str,
    at: usize,
    /// Nesting depth of blocks and brackets at the current position.
    depth: usize,
    /// Whether the last tag strips the white space behind it.
    trims: bool,
}

impl<'t> JinjaParser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn refuse<T>(&self, why: impl AsRef<str>) -> Result<T, TemplateError> {
        Err(broken(self.text, self.at, why))
    }

    /// Parses up to a statement that begins with one of these words, and returns that word. Without words, parses to
    /// the end.
    fn block(&mut self, ends: &[&str]) -> Result<(Vec<Node<'t>>, &'t str), TemplateError> {
        let began = self.at;
        let mut nodes = Vec::new();
        while let Some(kind) = self.text_before_tag(&mut nodes) {
            match kind {
                b'#' => {
                    let Some(end) = self.rest().find("#}") else {
                        return self.refuse("a comment is not closed");
                    };
                    self.trims = self.rest()[..end].ends_with('-');
                    self.at += end + 2;
                }
                b'{' => {
                    let value = self.expression()?;
                    self.close("}}")?;
                    nodes.push(Node::Emit(value));
                }
                _ => {
                    let Some(word) = self.word() else {
                        return self.refuse("a statement has no name");
                    };
                    if ends.contains(&word) {
                        return Ok((nodes, word));
                    }
                    self.statement(word, &mut nodes)?;
                }
            }
        }
        match ends.last() {
            Some(end) => Err(broken(self.text, began, format!("there is no `{end}`"))),
            None => Ok((nodes, "")),
        }
    }

    /// Consumes the text before the next tag and the tag's opening; returns its second character, which tells its
    /// kind.
    fn text_before_tag(&mut self, nodes: &mut Vec<Node<'t>>) -> Option<u8> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let is_tag = |at: usize| matches!(bytes.get(at + 1), Some(b'{' | b'%' | b'#'));
        let tag = rest.match_indices('{').map(|(at, _)| at).find(|at| is_tag(*at));
        let mut text = &rest[..tag.unwrap_or(rest.len())];
        if std::mem::take(&mut self.trims) {
            text = text.trim_start();
        }
        let kind = tag.and_then(|tag| bytes.get(tag + 1).copied());
        if let Some(tag) = tag {
            self.at += tag + 2;
            if self.rest().starts_with('-') {
                self.at += 1;
                text = text.trim_end();
            }
        } else {
            self.at = self.text.len();
        }
        if !text.is_empty() {
            nodes.push(Node::Text(text));
        }
        kind
    }

    fn statement(&mut self, word: &'t str, nodes: &mut Vec<Node<'t>>) -> Result<(), TemplateError> {
        self.depth += 1;
        check_nesting(self.depth)?;
        nodes.push(match word {
            "if" => self.if_block()?,
            "for" => self.for_block()?,
            "set" => {
                let name = self.name()?;
                if !self.eat("=") {
                    return self.refuse("`set` takes a name, `=` and a value");
                }
                let value = self.expression()?;
                self.close("%}")?;
                Node::Set { name, value }
            }
            "raw" => self.raw()?,
            word => return self.refuse(format!("there is no statement `{}`", shown(word))),
        });
        self.depth -= 1;
        Ok(())
    }

    fn if_block(&mut self) -> Result<Node<'t>, TemplateError> {
        let mut arms = Vec::new();
        loop {
            let condition = self.expression()?;
            self.close("%}")?;
            let (body, end) = self.block(&["elif", "else", "endif"])?;
            arms.push((condition, body));
            let mut otherwise = Vec::new();
            match end {
                "elif" => continue,
                "else" => {
                    self.close("%}")?;
                    (otherwise, _) = self.block(&["endif"])?;
                }
                _ => {}
            }
            self.close("%}")?;
            return Ok(Node::If { arms, otherwise });
        }
    }

    fn for_block(&mut self) -> Result<Node<'t>, TemplateError> {
        let mut names = vec![self.name()?];
        while self.eat(",") {
            names.push(self.name()?);
        }
        if !self.eat_word("in") {
            return self.refuse("`for` takes names, `in` and a value");
        }
        let over: Expr<'t> = self.either()?;
        if self.eat_word("if") || self.eat_word("recursive") {
            return self.refuse("`if` and `recursive` are not supported in `for`");
        }
        self.close("%}")?;
        let (body, end) = self.block(&["else", "endfor"])?;
        let mut otherwise = Vec::new();
        if end == "else" {
            self.close("%}")?;
            (otherwise, _) = self.block(&["endfor"])?;
        }
        self.close("%}")?;
        Ok(Node::Each { over, bind: Bind::Names(names), body, otherwise })
    }

    /// Literal text up to the end tag.
    fn raw(&mut self) -> Result<Node<'t>, TemplateError> {
        self.close("%}")?;
        let trims = std::mem::take(&mut self.trims);
        let began = self.at;
        while let Some(tag) = self.rest().find("{%") {
            let end = self.at + tag;
            self.at = end + 2;
            let trims_before = self.rest().starts_with('-');
            self.at += usize::from(trims_before);
            if self.eat_word("endraw") {
                self.close("%}")?;
                let text = &self.text[began..end];
                let text = if trims { text.trim_start() } else { text };
                return Ok(Node::Text(if trims_before { text.trim_end() } else { text }));
            }
        }
        Err(broken(self.text, began, "there is no `endraw`"))
    }

    /// The end of a tag, with or without the `-` that strips the white space behind it.
    fn close(&mut self, end: &str) -> Result<(), TemplateError> {
        self.trims = self.rest().trim_start().strip_prefix('-').is_some_and(|r| r.starts_with(end));
        if self.trims {
            self.eat("-");
        }
        if self.eat(end) { Ok(()) } else { self.refuse(format!("`{end}` is missing")) }
    }
}
