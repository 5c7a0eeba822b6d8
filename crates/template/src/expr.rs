//! Evaluates expressions: operators, members, filters and tests, each charged by its result.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::budget::check_length;
use super::error::{TemplateError, wrong};
use super::eval::Renderer;
use super::filters;
use super::lookup::{MaybeValue, member};
use super::node::{Expr, Operator, Post};

impl<'a> Renderer<'a> {
    pub(super) fn eval(&mut self, expr: &'a Expr<'a>) -> Result<MaybeValue<'a>, TemplateError> {
        self.budget.spend(1)?;
        Ok(match expr {
            Expr::Value(value) => Some(Cow::Borrowed(value)),
            Expr::Path(path) => self.find(path)?,
            Expr::List(items) => self.list(items)?.map(|items| made(Value::Array(items))),
            Expr::Not(expr) => self.eval(expr)?.map(|value| made(Value::Bool(!truthy(&value)))),
            Expr::Negative(expr) => match self.eval(expr)? {
                Some(value) => Some(made(calculate(Operator::Subtract, &Value::from(0), &value)?)),
                None => None,
            },
            Expr::Chain(first, rest) => self.chain(first, rest)?,
            Expr::Then(subject, posts) => self.then(subject, posts)?,
            Expr::Choose { condition, then, otherwise } => {
                match (self.eval(condition)?.map(|value| truthy(&value)), otherwise) {
                    (Some(true), _) => self.eval(then)?,
                    (Some(false), Some(otherwise)) => self.eval(otherwise)?,
                    (Some(false), None) => Some(made(Value::from(""))),
                    (None, otherwise) => {
                        self.eval(then)?;
                        otherwise.as_ref().map(|expr| self.eval(expr)).transpose()?;
                        None
                    }
                }
            }
            Expr::Range(bounds) => self.range(bounds)?,
        })
    }

    /// The values as a list; `None` if one of them is missing.
    fn list(&mut self, exprs: &'a [Expr<'a>]) -> Result<Option<Vec<Value>>, TemplateError> {
        let mut values = Vec::new();
        for expr in exprs {
            let value = self.eval(expr)?;
            if let Some(value) = &value {
                self.budget.spend_value(value)?;
            }
            values.push(value.map(Cow::into_owned));
        }
        Ok(values.into_iter().collect())
    }

    fn chain(
        &mut self,
        first: &'a Expr<'a>,
        rest: &'a [(Operator, Expr<'a>)],
    ) -> Result<MaybeValue<'a>, TemplateError> {
        let mut left = self.eval(first)?;
        for (op, right) in rest {
            let decided = match (op, &left) {
                (Operator::And, Some(value)) => !truthy(value),
                (Operator::Or, Some(value)) => truthy(value),
                _ => false,
            };
            if decided {
                continue;
            }
            let right = self.eval(right)?;
            left = match (op, left, right) {
                (Operator::And | Operator::Or, Some(_), right) => right,
                (op, Some(left), Some(right)) => Some(made(self.apply(*op, &left, &right)?)),
                _ => None,
            };
        }
        Ok(left)
    }

    fn apply(&mut self, op: Operator, left: &Value, right: &Value) -> Result<Value, TemplateError> {
        match op {
            Operator::Join => {
                let (left, right) = (text_of(left), text_of(right));
                self.budget.spend_text(left.len() + right.len())?;
                Ok(Value::String(format!("{left}{right}")))
            }
            Operator::Add if left.is_string() && right.is_string() => {
                self.apply(Operator::Join, left, right)
            }
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::DivideWhole
            | Operator::Remainder => calculate(op, left, right),
            op => {
                self.budget.spend_value(left)?;
                self.budget.spend_value(right)?;
                compare(op, left, right).map(Value::Bool)
            }
        }
    }

    fn then(
        &mut self,
        subject: &'a Expr<'a>,
        posts: &'a [Post<'a>],
    ) -> Result<MaybeValue<'a>, TemplateError> {
        let last_cure = posts.iter().rposition(|post| match post {
            Post::Default(_) => true,
            Post::Test { name, .. } => matches!(*name, "defined" | "undefined"),
            Post::Member(_) | Post::Filter(..) => false,
        });
        let mut value = self.allow_missing(last_cure.is_some(), |all| all.eval(subject))?;
        for (at, post) in posts.iter().enumerate() {
            let cured = last_cure.is_some_and(|cure| at < cure);
            value = self.allow_missing(cured, |all| all.post(value, post))?;
        }
        Ok(value)
    }

    /// Runs a step; if `quiet`, names may be missing.
    fn allow_missing<T>(
        &mut self,
        quiet: bool,
        act: impl FnOnce(&mut Self) -> Result<T, TemplateError>,
    ) -> Result<T, TemplateError> {
        let before = self.quiet;
        self.quiet |= quiet;
        let result = act(self);
        self.quiet = before;
        result
    }

    fn post(
        &mut self,
        value: MaybeValue<'a>,
        post: &'a Post<'a>,
    ) -> Result<MaybeValue<'a>, TemplateError> {
        self.budget.spend(1)?;
        match post {
            Post::Member(step) => {
                let step = self.eval(step)?;
                let (Some(value), Some(step)) = (value, step) else { return Ok(None) };
                let step = text_of(&step);
                Ok(match member(value, &step) {
                    None => self.note(&step),
                    found => found,
                })
            }
            Post::Filter(name, args) => {
                let args = self.list(args)?;
                let (Some(value), Some(args)) = (value, args) else { return Ok(None) };
                self.budget.spend_value(&value)?;
                let value = filters::apply(&mut self.budget, name, &value, &args)?;
                check_length(value.as_str().map_or(0, str::len))?;
                Ok(Some(made(value)))
            }
            Post::Default(args) => {
                let also_empty = match args.get(1) {
                    Some(flag) => self.eval(flag)?.is_some_and(|flag| truthy(&flag)),
                    None => false,
                };
                match (value, args.first()) {
                    (Some(value), _) if !also_empty || truthy(&value) => Ok(Some(value)),
                    (_, Some(default)) => self.eval(default),
                    (_, None) => Ok(Some(made(Value::from("")))),
                }
            }
            Post::Test { name, negated } => {
                let holds = filters::test(name, value.as_deref());
                Ok(holds.map(|holds| made(Value::Bool(holds != *negated))))
            }
        }
    }

    fn range(&mut self, bounds: &'a [Expr<'a>]) -> Result<MaybeValue<'a>, TemplateError> {
        let Some(bounds) = self.list(bounds)? else { return Ok(None) };
        let bounds: Option<Vec<i64>> = bounds.iter().map(Value::as_i64).collect();
        let (from, to) = match bounds.as_deref() {
            Some([to]) => (0, *to),
            Some([from, to]) => (*from, *to),
            _ => return Err(wrong("range takes one or two whole numbers")),
        };
        self.budget.spend(usize::try_from(to.saturating_sub(from)).unwrap_or(0))?;
        Ok(Some(made(Value::Array((from..to).map(Value::from).collect()))))
    }
}

fn made<'a>(value: Value) -> Cow<'a, Value> {
    Cow::Owned(value)
}

/// Whether a value counts as true: not if it is `false`, `null`, 0 or empty.
pub(super) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// A value as text: a list or an object as JSON, `null` as nothing.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "".into(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// The type of a value, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (left, right) => left == right,
    }
}

pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn compare(op: Operator, left: &Value, right: &Value) -> Result<bool, TemplateError> {
    let unlike = || wrong(format!("cannot compare {} with {}", kind(left), kind(right)));
    let within = || match right {
        Value::Array(items) => Ok(items.iter().any(|item| equal(item, left))),
        Value::Object(members) => Ok(left.as_str().is_some_and(|name| members.contains_key(name))),
        Value::String(text) => Ok(text.contains(&*text_of(left))),
        _ => Err(unlike()),
    };
    let ordered = || order(left, right).ok_or_else(unlike);
    Ok(match op {
        Operator::Unequal => !equal(left, right),
        Operator::Less => ordered()?.is_lt(),
        Operator::LessOrEqual => ordered()?.is_le(),
        Operator::Greater => ordered()?.is_gt(),
        Operator::GreaterOrEqual => ordered()?.is_ge(),
        Operator::In => within()?,
        Operator::NotIn => !within()?,
        _ => equal(left, right),
    })
}

fn calculate(op: Operator, left: &Value, right: &Value) -> Result<Value, TemplateError> {
    let (Value::Number(first), Value::Number(second)) = (left, right) else {
        return Err(wrong(format!("cannot calculate with {} and {}", kind(left), kind(right))));
    };
    if let (Some(first), Some(second)) = (first.as_i64(), second.as_i64())
        && op != Operator::Divide
    {
        let result = match op {
            Operator::Add => first.checked_add(second),
            Operator::Subtract => first.checked_sub(second),
            Operator::Multiply => first.checked_mul(second),
            Operator::DivideWhole => floor_of_quotient(first, second),
            _ => floor_of_quotient(first, second)
                .and_then(|whole| first.checked_sub(whole.checked_mul(second)?)),
        };
        return result.map(Value::from).ok_or_else(|| wrong("a number is out of range"));
    }
    let (first, second) = (first.as_f64().unwrap_or(f64::NAN), second.as_f64().unwrap_or(f64::NAN));
    let result = match op {
        Operator::Add => first + second,
        Operator::Subtract => first - second,
        Operator::Multiply => first * second,
        Operator::Divide => first / second,
        Operator::DivideWhole => (first / second).floor(),
        _ => first - second * (first / second).floor(),
    };
    let number = Number::from_f64(result);
    number.map(Value::Number).ok_or_else(|| wrong("a number is out of range"))
}

fn floor_of_quotient(first: i64, second: i64) -> Option<i64> {
    let whole = first.checked_div(second)?;
    let inexact = first.checked_rem(second)? != 0;
    Some(if inexact && (first < 0) != (second < 0) { whole - 1 } else { whole })
}
