//! Handlebars: `if`, `unless`, `each`, `with`, `lookup` and comparisons. There are no partials, decorators
//! and other helpers: nothing to include and nothing to run.

mod words;

use super::error::{TemplateError, broken, check_nesting, shown};
use super::node::{Bind, Expr, Node};
use super::tags::{Dialect, Piece, Tag, is_else, pieces};
use words::Words;

pub(super) fn read(text: &str) -> Result<Vec<Node<'_>>, TemplateError> {
    let mut reader = Reader { text, nodes: Vec::new(), open: Vec::new() };
    for piece in pieces(text, Dialect::Handlebars)? {
        match piece {
            Piece::Text(text) => reader.nodes.push(Node::Text(text)),
            Piece::Tag(tag) => reader.tag(&tag)?,
        }
    }
    match reader.open.pop() {
        Some(block) => {
            Err(broken(text, block.at, format!("'{}' is not closed", shown(block.name))))
        }
        None => Ok(reader.nodes),
    }
}

struct Reader<'t> {
    text: &'t str,
    /// What was read of the innermost block or branch.
    nodes: Vec<Node<'t>>,
    open: Vec<Open<'t>>,
}

/// A block that is not closed yet.
struct Open<'t> {
    name: &'t str,
    at: usize,
    kind: Kind<'t>,
    /// The branches before the one that is being read.
    arms: Vec<(Expr<'t>, Vec<Node<'t>>)>,
    /// What `each` and `with` call their value.
    params: Vec<&'t str>,
    /// What stands before it.
    before: Vec<Node<'t>>,
}

/// What is being read of a block.
enum Kind<'t> {
    If(Expr<'t>),
    Each(Expr<'t>),
    With(Expr<'t>),
    Section(Expr<'t>),
    /// The last branch, and what the block is made of.
    Else(Block<'t>),
}

enum Block<'t> {
    If,
    Each(Expr<'t>, Vec<Node<'t>>),
    With(Expr<'t>, Vec<Node<'t>>),
    Section(Expr<'t>, Vec<Node<'t>>),
}

impl<'t> Reader<'t> {
    fn tag(&mut self, tag: &Tag<'t>) -> Result<(), TemplateError> {
        let refuse = |why: String| Err(broken(self.text, tag.at, why));
        match tag.sigil {
            Some('!') => Ok(()),
            Some('#') if tag.body.starts_with(['*', '>']) => {
                refuse("there are no partials and decorators".to_owned())
            }
            Some('#') => self.open(tag),
            Some('/') => self.close(tag),
            Some('^') if tag.body.is_empty() => self.branch(tag, ""),
            Some('^') => {
                let of = self.words(tag, tag.body).only()?;
                self.push(tag, tag.body, Kind::Else(Block::Section(of, Vec::new())), Vec::new())
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
            Some('>' | '*') => refuse("there are no partials and decorators".to_owned()),
            Some(_) => refuse("there are no raw blocks".to_owned()),
        }
    }

    /// The words of a tag. A name that a block around it gave to its value is a local one.
    fn words(&self, tag: &Tag<'t>, body: &'t str) -> Words<'t> {
        let locals = self.open.iter().flat_map(|block| block.params.iter().copied()).collect();
        Words::new(self.text, tag.at, body, locals, self.open.len())
    }

    fn push(
        &mut self,
        tag: &Tag<'t>,
        name: &'t str,
        kind: Kind<'t>,
        params: Vec<&'t str>,
    ) -> Result<(), TemplateError> {
        let before = std::mem::take(&mut self.nodes);
        self.open.push(Open { name, at: tag.at, kind, arms: Vec::new(), params, before });
        check_nesting(self.open.len())
    }

    fn open(&mut self, tag: &Tag<'t>) -> Result<(), TemplateError> {
        let end = tag.body.find(char::is_whitespace).unwrap_or(tag.body.len());
        let (name, rest) = tag.body.split_at(end);
        let mut words = self.words(tag, rest);
        let (kind, params) = match name {
            "if" => (Kind::If(words.only()?), Vec::new()),
            "unless" => (Kind::If(Expr::Not(Box::new(words.only()?))), Vec::new()),
            "each" => {
                let over = words.value()?;
                (Kind::Each(over), words.params()?)
            }
            "with" => {
                let of = words.value()?;
                (Kind::With(of), words.params()?)
            }
            _ => (Kind::Section(self.words(tag, tag.body).name()?), Vec::new()),
        };
        self.push(tag, name, kind, params)
    }

    /// `else`, or `else if` with its condition.
    fn branch(&mut self, tag: &Tag<'t>, rest: &'t str) -> Result<(), TemplateError> {
        let next =
            match rest.strip_prefix("if").filter(|rest| rest.starts_with(char::is_whitespace)) {
                Some(condition) => Some(self.words(tag, condition).only()?),
                None if rest.is_empty() => None,
                None => return Err(broken(self.text, tag.at, "only `if` can follow `else`")),
            };
        let body = std::mem::take(&mut self.nodes);
        let Some(block) = self.open.last_mut() else {
            return Err(broken(self.text, tag.at, "`else` is in no block"));
        };
        let kind = std::mem::replace(&mut block.kind, Kind::Else(Block::If));
        block.kind = match (kind, next) {
            (Kind::If(condition), next) => {
                block.arms.push((condition, body));
                next.map_or(Kind::Else(Block::If), Kind::If)
            }
            (Kind::Each(over), None) => Kind::Else(Block::Each(over, body)),
            (Kind::With(of), None) => Kind::Else(Block::With(of, body)),
            (Kind::Section(of), None) => Kind::Else(Block::Section(of, body)),
            _ => return Err(broken(self.text, tag.at, "this `else` does not fit its block")),
        };
        Ok(())
    }

    fn close(&mut self, tag: &Tag<'t>) -> Result<(), TemplateError> {
        let Some(block) = self.open.pop().filter(|block| block.name == tag.body) else {
            let why = format!("'{}' is closed and not open", shown(tag.body));
            return Err(broken(self.text, tag.at, why));
        };
        let Open { kind, mut arms, params, before, .. } = block;
        let last = std::mem::replace(&mut self.nodes, before);
        let none = Vec::new();
        let bind = Bind::Context(params.clone());
        self.nodes.push(match kind {
            Kind::If(condition) => {
                arms.push((condition, last));
                Node::If { arms, otherwise: none }
            }
            Kind::Else(Block::If) => Node::If { arms, otherwise: last },
            Kind::Each(over) => Node::Each { over, bind, body: last, otherwise: none },
            Kind::Else(Block::Each(over, body)) => Node::Each { over, bind, body, otherwise: last },
            Kind::With(of) => Node::With { of, params, body: last, otherwise: none },
            Kind::Else(Block::With(of, body)) => Node::With { of, params, body, otherwise: last },
            Kind::Section(of) => Node::Section { of, body: last, otherwise: none },
            Kind::Else(Block::Section(of, body)) => Node::Section { of, body, otherwise: last },
        });
        Ok(())
    }
}
