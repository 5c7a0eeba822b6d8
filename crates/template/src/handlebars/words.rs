//! The inside of a Handlebars tag: names, literals, and helpers with their arguments.

use serde_json::Value;

use crate::error::{TemplateError, broken, check_nesting, shown};
use crate::node::{Base, Expr, NamePath, Operator, Post};

pub(super) struct TagWords<'t> {
    text: &'t str,
    /// Position of the tag in the text.
    at: usize,
    rest: &'t str,
    locals: Vec<&'t str>,
    depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TagWord<'t> {
    Open,
    Close,
    Bar,
    Quoted(&'t str),
    Plain(&'t str),
}

impl<'t> TagWords<'t> {
    pub(super) fn new(
        text: &'t str,
        at: usize,
        body: &'t str,
        locals: Vec<&'t str>,
        depth: usize,
    ) -> TagWords<'t> {
        TagWords { text, at, rest: body, locals, depth }
    }

    fn refuse<T>(&self, why: impl AsRef<str>) -> Result<T, TemplateError> {
        Err(broken(self.text, self.at, why))
    }

    /// The whole tag as one value: a name, a literal, or a helper with its arguments.
    pub(super) fn only(mut self) -> Result<Expr<'t>, TemplateError> {
        let value = self.call()?;
        if self.next()?.is_some() {
            return self.refuse("there is an unexpected bracket or bar");
        }
        Ok(value)
    }

    /// The whole tag as a name, the only form of a block without a helper.
    pub(super) fn name(mut self) -> Result<Expr<'t>, TemplateError> {
        let word = self.next()?;
        match (word, self.next()?) {
            (Some(TagWord::Plain(word)), None) => self.plain(word),
            (Some(TagWord::Plain(word)), Some(_)) => {
                self.refuse(format!("there is no helper '{}'", shown(word)))
            }
            _ => self.refuse("the block has no name"),
        }
    }

    /// `as |value key|`, or nothing.
    pub(super) fn params(mut self) -> Result<Vec<&'t str>, TemplateError> {
        let mut params = Vec::new();
        match (self.next()?, self.next()?) {
            (None, None) => return Ok(params),
            (Some(TagWord::Plain("as")), Some(TagWord::Bar)) => {}
            _ => return self.refuse("the block has more than one value"),
        }
        loop {
            match self.next()? {
                Some(TagWord::Plain(name)) if params.len() < 2 => params.push(name),
                Some(TagWord::Bar) if self.rest.trim().is_empty() => return Ok(params),
                _ => return self.refuse("`as` takes one or two names between bars"),
            }
        }
    }

    /// One value: a name, a literal, or a helper in brackets.
    pub(super) fn value(&mut self) -> Result<Expr<'t>, TemplateError> {
        match self.next()? {
            Some(TagWord::Quoted(text)) => Ok(Expr::Value(Value::from(text))),
            Some(TagWord::Plain(word)) => self.plain(word),
            Some(TagWord::Open) => {
                self.depth += 1;
                check_nesting(self.depth)?;
                let value = self.call()?;
                self.depth -= 1;
                match self.next()? {
                    Some(TagWord::Close) => Ok(value),
                    _ => self.refuse("a bracket is not closed"),
                }
            }
            Some(TagWord::Close | TagWord::Bar) | None => self.refuse("a value is missing"),
        }
    }

    /// A helper with its arguments, or one value.
    fn call(&mut self) -> Result<Expr<'t>, TemplateError> {
        let before = self.rest;
        let Some(TagWord::Plain(name)) = self.next()? else {
            self.rest = before;
            return self.value();
        };
        let mut args = Vec::new();
        loop {
            let before = self.rest;
            match self.next()? {
                None => break,
                Some(TagWord::Close | TagWord::Bar) => {
                    self.rest = before;
                    break;
                }
                Some(_) => {
                    self.rest = before;
                    args.push(self.value()?);
                }
            }
        }
        if args.is_empty() { self.plain(name) } else { self.helper(name, args) }
    }

    fn helper(&self, name: &str, args: Vec<Expr<'t>>) -> Result<Expr<'t>, TemplateError> {
        let count = args.len();
        let op = match (name, count) {
            ("eq", 2) => Operator::Equal,
            ("ne", 2) => Operator::Unequal,
            ("lt", 2) => Operator::Less,
            ("lte", 2) => Operator::LessOrEqual,
            ("gt", 2) => Operator::Greater,
            ("gte", 2) => Operator::GreaterOrEqual,
            ("and", 2..) => Operator::And,
            ("or", 2..) => Operator::Or,
            ("lookup", 2) | ("not" | "len", 1) => Operator::Join,
            _ => {
                let name = shown(name);
                let args = text::counted(count, "argument");
                return self.refuse(format!("there is no helper '{name}' with {args}"));
            }
        };
        let mut args = args.into_iter();
        let Some(first) = args.next().map(Box::new) else {
            return self.refuse("a value is missing");
        };
        Ok(match name {
            "not" => Expr::Not(first),
            "len" => Expr::Then(first, vec![Post::Filter("length", Vec::new())]),
            "lookup" => Expr::Then(first, args.map(Post::Member).collect()),
            _ => Expr::Chain(first, args.map(|arg| (op, arg)).collect()),
        })
    }

    /// A literal or a path.
    fn plain(&self, word: &'t str) -> Result<Expr<'t>, TemplateError> {
        let literal = match word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                serde_json::from_str(word).ok().filter(Value::is_number)
            }
            _ => None,
        };
        match literal {
            Some(literal) => Ok(Expr::Value(literal)),
            None => self.path(word).map(Expr::Path),
        }
    }

    fn path(&self, word: &'t str) -> Result<NamePath<'t>, TemplateError> {
        let mut rest = word;
        let mut up = 0;
        while let Some(above) = rest.strip_prefix("..") {
            up += 1;
            rest = above.strip_prefix('/').unwrap_or(above);
        }
        let base = if let Some(below) = rest.strip_prefix("@root") {
            rest = below.strip_prefix(['.', '/']).unwrap_or(below);
            Base::Root
        } else {
            let this = rest.strip_prefix("this").or_else(|| rest.strip_prefix('.'));
            let this = this.filter(|below| below.is_empty() || below.starts_with(['.', '/']));
            rest = this.map_or(rest, |below| below.strip_prefix(['.', '/']).unwrap_or(below));
            let data = matches!(rest, "@index" | "@key" | "@first" | "@last");
            let first = rest.split('.').next().unwrap_or_default();
            let local = up == 0 && this.is_none() && (data || self.locals.contains(&first));
            if local { Base::Name } else { Base::Context(up) }
        };
        let no_name = || self.refuse(format!("'{}' is not a valid name", shown(word)));
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, below) = match rest.strip_prefix('[') {
                Some(quoted) => match quoted.split_once(']') {
                    Some(parts) => parts,
                    None => return no_name(),
                },
                None => rest.split_at(rest.find(['.', '/']).unwrap_or(rest.len())),
            };
            let is_name = |c: char| !c.is_whitespace() && !"!\"#%&'*+,;<=>@[\\]^`{}~".contains(c);
            let local_data = matches!(base, Base::Name) && step.starts_with('@');
            let good = rest.starts_with('[') || local_data || step.chars().all(is_name);
            rest = match below.strip_prefix(['.', '/']) {
                Some("") => return no_name(),
                Some(below) => below,
                None if below.is_empty() => below,
                None => return no_name(),
            };
            if step.is_empty() || !good {
                return no_name();
            }
            steps.push(step);
        }
        Ok(NamePath { base, steps, text: word })
    }

    fn next(&mut self) -> Result<Option<TagWord<'t>>, TemplateError> {
        let rest = self.rest.trim_start();
        let Some(first) = rest.chars().next() else {
            self.rest = "";
            return Ok(None);
        };
        let (word, length) = match first {
            '(' => (TagWord::Open, 1),
            ')' => (TagWord::Close, 1),
            '|' => (TagWord::Bar, 1),
            '"' | '\'' => match rest[1..].find(first) {
                Some(end) => (TagWord::Quoted(&rest[1..=end]), end + 2),
                None => return self.refuse("a quoted text is not closed"),
            },
            _ => {
                let end = end_of_word(rest);
                (TagWord::Plain(&rest[..end]), end)
            }
        };
        self.rest = &rest[length..];
        Ok(Some(word))
    }
}

/// A word ends at a blank, a bracket or a bar, but not inside of `[…]`.
fn end_of_word(rest: &str) -> usize {
    let mut quoted = false;
    rest.find(|c: char| {
        match c {
            '[' => quoted = true,
            ']' => quoted = false,
            _ => {}
        }
        !quoted && (c.is_whitespace() || "()|".contains(c))
    })
    .unwrap_or(rest.len())
}
