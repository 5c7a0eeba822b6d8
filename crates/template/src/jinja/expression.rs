//! Jinja's expressions, from the lowest precedence to the highest.

use serde_json::Value;

use super::JinjaParser;
use crate::error::{TemplateError, check_nesting, shown};
use crate::filters;
use crate::node::{Base, Expr, NamePath, Operator, Post};

/// Reserved words.
const WORDS: &[&str] =
    &["and", "else", "elif", "endfor", "endif", "for", "if", "in", "is", "not", "or", "recursive"];

const COMPARISONS: &[(&str, Operator)] = &[
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];
const SUMS: &[(&str, Operator)] = &[("+", Operator::Add), ("-", Operator::Subtract)];
const JOINS: &[(&str, Operator)] = &[("~", Operator::Join)];
const PRODUCTS: &[(&str, Operator)] = &[
    ("//", Operator::DivideWhole),
    ("/", Operator::Divide),
    ("*", Operator::Multiply),
    ("%", Operator::Remainder),
];

impl<'t> JinjaParser<'t> {
    /// `a if b else c`, or an expression of higher precedence.
    pub(super) fn expression(&mut self) -> Result<Expr<'t>, TemplateError> {
        self.depth += 1;
        check_nesting(self.depth)?;
        let then = self.either()?;
        let expr = if self.eat_word("if") {
            let condition = Box::new(self.either()?);
            let otherwise = self.eat_word("else").then(|| self.expression()).transpose()?;
            Expr::Choose { condition, then: Box::new(then), otherwise: otherwise.map(Box::new) }
        } else {
            then
        };
        self.depth -= 1;
        Ok(expr)
    }

    pub(super) fn either(&mut self) -> Result<Expr<'t>, TemplateError> {
        let first = self.both()?;
        let mut rest = Vec::new();
        while self.eat_word("or") {
            rest.push((Operator::Or, self.both()?));
        }
        Ok(chain(first, rest))
    }

    fn both(&mut self) -> Result<Expr<'t>, TemplateError> {
        let first = self.negation()?;
        let mut rest = Vec::new();
        while self.eat_word("and") {
            rest.push((Operator::And, self.negation()?));
        }
        Ok(chain(first, rest))
    }

    fn negation(&mut self) -> Result<Expr<'t>, TemplateError> {
        let mut negated = false;
        let mut any = false;
        while self.eat_word("not") {
            (negated, any) = (!negated, true);
        }
        let value = self.comparison()?;
        Ok(match (any, negated) {
            (false, _) => value,
            (true, true) => Expr::Not(Box::new(value)),
            (true, false) => Expr::Not(Box::new(Expr::Not(Box::new(value)))),
        })
    }

    fn comparison(&mut self) -> Result<Expr<'t>, TemplateError> {
        let first = self.sum()?;
        let before = self.at;
        let op = if let Some(op) = self.operator(COMPARISONS) {
            op
        } else if self.eat_word("in") {
            Operator::In
        } else if self.eat_word("not") && self.eat_word("in") {
            Operator::NotIn
        } else {
            self.at = before;
            return Ok(first);
        };
        let second = self.sum()?;
        Ok(chain(first, vec![(op, second)]))
    }

    fn sum(&mut self) -> Result<Expr<'t>, TemplateError> {
        let first = self.join()?;
        let mut rest = Vec::new();
        while let Some(op) = self.operator(SUMS) {
            rest.push((op, self.join()?));
        }
        Ok(chain(first, rest))
    }

    fn join(&mut self) -> Result<Expr<'t>, TemplateError> {
        let first = self.product()?;
        let mut rest = Vec::new();
        while let Some(op) = self.operator(JOINS) {
            rest.push((op, self.product()?));
        }
        Ok(chain(first, rest))
    }

    fn product(&mut self) -> Result<Expr<'t>, TemplateError> {
        let first = self.signed()?;
        let mut rest = Vec::new();
        while let Some(op) = self.operator(PRODUCTS) {
            rest.push((op, self.signed()?));
        }
        Ok(chain(first, rest))
    }

    fn signed(&mut self) -> Result<Expr<'t>, TemplateError> {
        let negative = self.eat("-");
        let value = self.primary()?;
        let value = self.posts(value)?;
        Ok(if negative { Expr::Negative(Box::new(value)) } else { value })
    }

    /// Members, filters and tests after a value.
    fn posts(&mut self, first: Expr<'t>) -> Result<Expr<'t>, TemplateError> {
        let mut posts = Vec::new();
        loop {
            if self.eat("|") {
                posts.push(self.filter()?);
            } else if self.eat_word("is") {
                let negated = self.eat_word("not");
                let word = self.word().unwrap_or_default();
                let Some(name) = filters::test_name(word) else {
                    return self.refuse(format!("there is no test `{}`", shown(word)));
                };
                posts.push(Post::Test { name, negated });
            } else if self.eat("[") {
                let member = self.expression()?;
                self.expect("]")?;
                posts.push(Post::Member(member));
            } else if self.eat(".") {
                let Some(member) = self.step() else { return self.refuse("a member has no name") };
                posts.push(Post::Member(Expr::Value(Value::from(member))));
            } else if self.eat("(") {
                return self.refuse("only `range` can be called");
            } else {
                break;
            }
        }
        Ok(if posts.is_empty() { first } else { Expr::Then(Box::new(first), posts) })
    }

    fn filter(&mut self) -> Result<Post<'t>, TemplateError> {
        let word = self.word().unwrap_or_default();
        let args = if self.eat("(") { self.list(")")? } else { Vec::new() };
        let count = args.len();
        let (name, max) = match word {
            "default" | "d" if count <= 2 => return Ok(Post::Default(args)),
            word => filters::filter(word).unwrap_or_default(),
        };
        if name.is_empty() || count > max {
            let name = shown(word);
            let args = text::counted(count, "argument");
            return self.refuse(format!("there is no filter `{name}` with {args}"));
        }
        Ok(Post::Filter(name, args))
    }

    /// Values separated by commas, up to the closing bracket.
    fn list(&mut self, end: &str) -> Result<Vec<Expr<'t>>, TemplateError> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(self.expression()?);
            if !self.eat(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn primary(&mut self) -> Result<Expr<'t>, TemplateError> {
        self.skip_blanks();
        match self.rest().chars().next() {
            Some('"' | '\'') => self.text_literal(),
            Some(digit) if digit.is_ascii_digit() => {
                let rest = self.rest();
                let is_number = |c: char| c.is_ascii_digit() || c == '.';
                let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
                let number = serde_json::from_str::<Value>(&rest[..end]);
                let Ok(number) = number else { return self.refuse("a number is not valid") };
                self.at += end;
                Ok(Expr::Value(number))
            }
            Some('(') => {
                self.eat("(");
                let value = self.expression()?;
                self.expect(")")?;
                Ok(value)
            }
            Some('[') => {
                self.eat("[");
                self.list("]").map(Expr::List)
            }
            _ => self.named(),
        }
    }

    /// A name with its members, a reserved word, or `range`.
    fn named(&mut self) -> Result<Expr<'t>, TemplateError> {
        let name = self.name()?;
        let began = self.at - name.len();
        match name {
            "true" | "True" => return Ok(Expr::Value(Value::Bool(true))),
            "false" | "False" => return Ok(Expr::Value(Value::Bool(false))),
            "none" | "None" => return Ok(Expr::Value(Value::Null)),
            "range" if self.eat("(") => return self.list(")").map(Expr::Range),
            _ => {}
        }
        let mut steps = vec![name];
        while self.rest().starts_with('.') {
            self.at += 1;
            let Some(step) = self.step() else { return self.refuse("a member has no name") };
            steps.push(step);
        }
        Ok(Expr::Path(NamePath { base: Base::Name, steps, text: &self.text[began..self.at] }))
    }

    fn text_literal(&mut self) -> Result<Expr<'t>, TemplateError> {
        let mut chars = self.rest().char_indices();
        let quote = chars.next().map(|(_, quote)| quote);
        let mut text = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().map(|(_, c)| match c {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    c => c,
                })),
                c if Some(c) == quote => {
                    self.at += at + c.len_utf8();
                    return Ok(Expr::Value(Value::String(text)));
                }
                c => text.push(c),
            }
        }
        self.refuse("a quoted text is not closed")
    }

    /// Consumes one of these operators, unless it begins the end of the tag.
    fn operator(&mut self, among: &[(&str, Operator)]) -> Option<Operator> {
        self.skip_blanks();
        let rest = self.rest();
        if ["-}}", "-%}", "%}"].iter().any(|end| rest.starts_with(end)) {
            return None;
        }
        let (text, op) = among.iter().find(|(text, _)| rest.starts_with(text))?;
        self.at += text.len();
        Some(*op)
    }

    pub(super) fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Consumes these characters if they are next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest().trim_start();
        let found = rest.starts_with(text);
        if found {
            self.at = self.text.len() - rest.len() + text.len();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), TemplateError> {
        if self.eat(text) { Ok(()) } else { self.refuse(format!("`{text}` is missing")) }
    }

    /// Consumes this word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.word() == Some(word);
        if !found {
            self.at = before;
        }
        found
    }

    /// Consumes the next word.
    pub(super) fn word(&mut self) -> Option<&'t str> {
        self.skip_blanks();
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end])
    }

    /// The name or index of a member.
    fn step(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then_some(&rest[..end])
    }

    /// A word that is not reserved.
    pub(super) fn name(&mut self) -> Result<&'t str, TemplateError> {
        let before = self.at;
        match self.word() {
            Some(word) if !WORDS.contains(&word) => Ok(word),
            _ => {
                self.at = before;
                self.refuse("a name or a value is missing")
            }
        }
    }
}

fn chain<'t>(first: Expr<'t>, rest: Vec<(Operator, Expr<'t>)>) -> Expr<'t> {
    if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) }
}
