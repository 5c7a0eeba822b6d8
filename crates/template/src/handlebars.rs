//! Handlebars: `if`, `unless`, `each`, `with`, `lookup` and comparisons. There are no partials, decorators
//! and other helpers: nothing to include and nothing to run.

mod words;

use super::error::{TemplateError, broken, check_nesting, shown};
use super::node::{Bind, Expr, Node};
use super::tags::{Dialect, TemplatePiece, TemplateTag, is_else, pieces};
use words::TagWords;

pub(super) fn read(text: &str) -> Result<Vec<Node<'_>>, TemplateError> {
    let mut reader = HandlebarsParser { text, nodes: Vec::new(), open: Vec::new() };
    for piece in pieces(text, Dialect::Handlebars)? {
        match piece {
            TemplatePiece::Text(text) => reader.nodes.push(Node::Text(text)),
            TemplatePiece::Tag(tag) => reader.tag(&tag)?,
        }
    }
    match reader.open.pop() {
        Some(block) => {
            Err(broken(text, block.at, format!("'{}' is not closed", shown(block.name))))
        }
        None => Ok(reader.nodes),
    }
}

struct HandlebarsParser<'t> {
    text: &'t str,
    /// The nodes of the innermost block or branch so far.
    nodes: Vec<Node<'t>>,
    open: Vec<OpenBlock<'t>>,
}

/// A block that is not closed yet.
struct OpenBlock<'t> {
    name: &'t str,
    at: usize,
    kind: OpenPart<'t>,
    /// The completed branches.
    arms: Vec<(Expr<'t>, Vec<Node<'t>>)>,
    /// Names of the value of `each` and `with`.
    params: Vec<&'t str>,
    /// The nodes before it.
    before: Vec<Node<'t>>,
}

/// The part of a block that is being parsed.
enum OpenPart<'t> {
    If(Expr<'t>),
    Each(Expr<'t>),
    With(Expr<'t>),
    Section(Expr<'t>),
    /// The last branch, and the conditions of the block.
    Else(BlockKind<'t>),
}

enum BlockKind<'t> {
    If,
    Each(Expr<'t>, Vec<Node<'t>>),
    With(Expr<'t>, Vec<Node<'t>>),
    Section(Expr<'t>, Vec<Node<'t>>),
}

impl<'t> HandlebarsParser<'t> {
    fn tag(&mut self, tag: &TemplateTag<'t>) -> Result<(), TemplateError> {
        let refuse = |why: String| Err(broken(self.text, tag.at, why));
        match tag.sigil {
            Some('!') => Ok(()),
            Some('#') if tag.body.starts_with(['*', '>']) => {
                refuse("partials and decorators are not supported".to_owned())
            }
            Some('#') => self.open(tag),
            Some('/') => self.close(tag),
            Some('^') if tag.body.is_empty() => self.branch(tag, ""),
            Some('^') => {
                let of = self.words(tag, tag.body).only()?;
                self.push(
                    tag,
                    tag.body,
                    OpenPart::Else(BlockKind::Section(of, Vec::new())),
                    Vec::new(),
                )
            }
            None if is_else(tag.body) => self.branch(tag, tag.body["else".len()..].trim()),
            None | Some('&') => {
                let value = self.words(tag, tag.body).only()?;
                self.nodes.push(Node::Emit(value));
                Ok(())
            }
            Some('{') if !tag.body.starts_with('{') => {
                let value = self.words(tag, tag.body).only()?;
                self.nodes.push(Node::Emit(value));
                Ok(())
            }
            Some('>' | '*') => refuse("partials and decorators are not supported".to_owned()),
            Some(_) => refuse("raw blocks are not supported".to_owned()),
        }
    }

    /// The words of a tag. A name that an enclosing block gave to its value is a local one.
    fn words(&self, tag: &TemplateTag<'t>, body: &'t str) -> TagWords<'t> {
        let locals = self.open.iter().flat_map(|block| block.params.iter().copied()).collect();
        TagWords::new(self.text, tag.at, body, locals, self.open.len())
    }

    fn push(
        &mut self,
        tag: &TemplateTag<'t>,
        name: &'t str,
        kind: OpenPart<'t>,
        params: Vec<&'t str>,
    ) -> Result<(), TemplateError> {
        let before = std::mem::take(&mut self.nodes);
        self.open.push(OpenBlock { name, at: tag.at, kind, arms: Vec::new(), params, before });
        check_nesting(self.open.len())
    }

    fn open(&mut self, tag: &TemplateTag<'t>) -> Result<(), TemplateError> {
        let end = tag.body.find(char::is_whitespace).unwrap_or(tag.body.len());
        let (name, rest) = tag.body.split_at(end);
        let mut words = self.words(tag, rest);
        let (kind, params) = match name {
            "if" => (OpenPart::If(words.only()?), Vec::new()),
            "unless" => (OpenPart::If(Expr::Not(Box::new(words.only()?))), Vec::new()),
            "each" => {
                let over = words.value()?;
                (OpenPart::Each(over), words.params()?)
            }
            "with" => {
                let of = words.value()?;
                (OpenPart::With(of), words.params()?)
            }
            _ => (OpenPart::Section(self.words(tag, tag.body).name()?), Vec::new()),
        };
        self.push(tag, name, kind, params)
    }

    /// `else`, or `else if` with its condition.
    fn branch(&mut self, tag: &TemplateTag<'t>, rest: &'t str) -> Result<(), TemplateError> {
        let next =
            match rest.strip_prefix("if").filter(|rest| rest.starts_with(char::is_whitespace)) {
                Some(condition) => Some(self.words(tag, condition).only()?),
                None if rest.is_empty() => None,
                None => return Err(broken(self.text, tag.at, "only `if` can follow `else`")),
            };
        let body = std::mem::take(&mut self.nodes);
        let Some(block) = self.open.last_mut() else {
            return Err(broken(self.text, tag.at, "`else` is outside of a block"));
        };
        let kind = std::mem::replace(&mut block.kind, OpenPart::Else(BlockKind::If));
        block.kind = match (kind, next) {
            (OpenPart::If(condition), next) => {
                block.arms.push((condition, body));
                next.map_or(OpenPart::Else(BlockKind::If), OpenPart::If)
            }
            (OpenPart::Each(over), None) => OpenPart::Else(BlockKind::Each(over, body)),
            (OpenPart::With(of), None) => OpenPart::Else(BlockKind::With(of, body)),
            (OpenPart::Section(of), None) => OpenPart::Else(BlockKind::Section(of, body)),
            _ => return Err(broken(self.text, tag.at, "this `else` does not fit its block")),
        };
        Ok(())
    }

    fn close(&mut self, tag: &TemplateTag<'t>) -> Result<(), TemplateError> {
        let Some(block) = self.open.pop().filter(|block| block.name == tag.body) else {
            let why = format!("'{}' is closed but was not opened", shown(tag.body));
            return Err(broken(self.text, tag.at, why));
        };
        let OpenBlock { kind, mut arms, params, before, .. } = block;
        let last = std::mem::replace(&mut self.nodes, before);
        let none = Vec::new();
        let bind = Bind::Context(params.clone());
        self.nodes.push(match kind {
            OpenPart::If(condition) => {
                arms.push((condition, last));
                Node::If { arms, otherwise: none }
            }
            OpenPart::Else(BlockKind::If) => Node::If { arms, otherwise: last },
            OpenPart::Each(over) => Node::Each { over, bind, body: last, otherwise: none },
            OpenPart::Else(BlockKind::Each(over, body)) => {
                Node::Each { over, bind, body, otherwise: last }
            }
            OpenPart::With(of) => Node::With { of, params, body: last, otherwise: none },
            OpenPart::Else(BlockKind::With(of, body)) => {
                Node::With { of, params, body, otherwise: last }
            }
            OpenPart::Section(of) => Node::Section { of, body: last, otherwise: none },
            OpenPart::Else(BlockKind::Section(of, body)) => {
                Node::Section { of, body, otherwise: last }
            }
        });
        Ok(())
    }
}
