//! Where the value of a name is found, and which names are missing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::error::TemplateError;
use super::eval::Renderer;
use super::node::{Base, Path};

/// A value; none if it is missing, which was noted where its name was met.
pub(super) type Found<'a> = Option<Cow<'a, Value>>;

/// What a block adds to what is around it.
#[derive(Default)]
pub(super) struct Frame<'a> {
    pub(super) context: Option<Found<'a>>,
    pub(super) locals: BTreeMap<&'a str, Found<'a>>,
}

/// What is at a place where a name may lead to.
enum Place<'a> {
    Known(Cow<'a, Value>),
    /// It hangs on a value that is missing, so that nothing can be said about it.
    Unknown,
    Absent,
}

impl<'a> From<&Found<'a>> for Place<'a> {
    fn from(found: &Found<'a>) -> Place<'a> {
        found.clone().map_or(Place::Unknown, Place::Known)
    }
}

impl<'a> Renderer<'a> {
    pub(super) fn find(&mut self, path: &'a Path<'a>) -> Result<Found<'a>, TemplateError> {
        self.budget.spend(self.frames.len() + path.steps.len())?;
        let (place, is_root, rest) = match (path.base, path.steps.as_slice()) {
            (Base::Name, [first, rest @ ..]) => (self.named(first), true, rest),
            (Base::Nearest, [first, rest @ ..]) => (self.nearest(first), true, rest),
            (Base::Context(up), steps) => {
                let (place, is_root) = self.context(up);
                (place, is_root, steps)
            }
            (Base::Root, steps) => (Place::Known(Cow::Borrowed(self.root)), true, steps),
            (Base::Name | Base::Nearest, []) => (self.context(0).0, true, &[][..]),
        };
        let mut value = match place {
            Place::Known(value) => value,
            Place::Unknown => return Ok(None),
            Place::Absent => return Ok(self.note(path.steps.first().unwrap_or(&path.text))),
        };
        if let Cow::Owned(copy) = &value {
            self.budget.spend_value(copy)?;
        }
        for (at, step) in rest.iter().enumerate() {
            let given = is_root && at == 0 && rest.len() == path.steps.len();
            value = match member(value, step) {
                Some(value) => value,
                None if given => return Ok(self.note(step)),
                None => return Ok(self.note(path.text)),
            };
        }
        Ok(Some(value))
    }

    /// Remembers that this name leads nowhere.
    pub(super) fn note(&mut self, name: &str) -> Found<'a> {
        if !self.quiet {
            self.missing.insert(name.to_owned());
        }
        None
    }

    fn named(&self, name: &str) -> Place<'a> {
        let local = self.frames.iter().rev().find_map(|frame| frame.locals.get(name));
        local.map_or_else(|| self.given(name), Place::from)
    }

    fn given(&self, name: &str) -> Place<'a> {
        self.root.get(name).map_or(Place::Absent, |value| Place::Known(Cow::Borrowed(value)))
    }

    /// The member of this name in the innermost context that has one.
    fn nearest(&self, name: &str) -> Place<'a> {
        let mut unknown = false;
        for context in self.frames.iter().rev().filter_map(|frame| frame.context.as_ref()) {
            match context {
                Some(value) if value.get(name).is_some() => {
                    return member(value.clone(), name).map_or(Place::Absent, Place::Known);
                }
                Some(_) => {}
                None => unknown = true,
            }
        }
        match self.given(name) {
            Place::Absent if unknown => Place::Unknown,
            place => place,
        }
    }

    /// The context so many above the innermost, and whether it is what was given.
    fn context(&self, up: usize) -> (Place<'a>, bool) {
        let mut contexts = self.frames.iter().rev().filter_map(|frame| frame.context.as_ref());
        let mut left = up;
        loop {
            match (contexts.next(), left) {
                (Some(found), 0) => return (Place::from(found), false),
                (Some(_), _) => left -= 1,
                (None, 0) => return (Place::Known(Cow::Borrowed(self.root)), true),
                (None, _) => return (Place::Absent, true),
            }
        }
    }
}

/// A member of an object, or the member of a list with this number.
pub(super) fn member<'a>(of: Cow<'a, Value>, step: &str) -> Found<'a> {
    match of {
        Cow::Borrowed(Value::Object(members)) => members.get(step).map(Cow::Borrowed),
        Cow::Owned(Value::Object(mut members)) => members.remove(step).map(Cow::Owned),
        Cow::Borrowed(Value::Array(items)) => {
            items.get(step.parse::<usize>().ok()?).map(Cow::Borrowed)
        }
        Cow::Owned(Value::Array(items)) => {
            items.into_iter().nth(step.parse().ok()?).map(Cow::Owned)
        }
        _ => None,
    }
}
