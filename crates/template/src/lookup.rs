//! Looks up the value of a name, and collects missing names.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::error::TemplateError;
use super::eval::Renderer;
use super::node::{Base, NamePath};

/// A value; `None` if it is missing, which was noted at its name.
pub(super) type MaybeValue<'a> = Option<Cow<'a, Value>>;

/// The names and context that a block adds.
#[derive(Default)]
pub(super) struct ScopeFrame<'a> {
    pub(super) context: Option<MaybeValue<'a>>,
    pub(super) locals: BTreeMap<&'a str, MaybeValue<'a>>,
}

/// The result of looking a name up.
enum NameLookup<'a> {
    Known(Cow<'a, Value>),
    /// It depends on a missing value, so that nothing is known about it.
    Unknown,
    Absent,
}

impl<'a> From<&MaybeValue<'a>> for NameLookup<'a> {
    fn from(found: &MaybeValue<'a>) -> NameLookup<'a> {
        found.clone().map_or(NameLookup::Unknown, NameLookup::Known)
    }
}

impl<'a> Renderer<'a> {
    pub(super) fn find(&mut self, path: &'a NamePath<'a>) -> Result<MaybeValue<'a>, TemplateError> {
        self.budget.spend(self.frames.len() + path.steps.len())?;
        let (place, is_root, rest) = match (path.base, path.steps.as_slice()) {
            (Base::Name, [first, rest @ ..]) => (self.named(first), true, rest),
            (Base::Nearest, [first, rest @ ..]) => (self.nearest(first), true, rest),
            (Base::Context(up), steps) => {
                let (place, is_root) = self.context(up);
                (place, is_root, steps)
            }
            (Base::Root, steps) => (NameLookup::Known(Cow::Borrowed(self.root)), true, steps),
            (Base::Name | Base::Nearest, []) => (self.context(0).0, true, &[][..]),
        };
        let mut value = match place {
            NameLookup::Known(value) => value,
            NameLookup::Unknown => return Ok(None),
            NameLookup::Absent => return Ok(self.note(path.steps.first().unwrap_or(&path.text))),
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

    /// Records a missing name.
    pub(super) fn note(&mut self, name: &str) -> MaybeValue<'a> {
        if !self.quiet {
            self.missing.insert(name.to_owned());
        }
        None
    }

    fn named(&self, name: &str) -> NameLookup<'a> {
        let local = self.frames.iter().rev().find_map(|frame| frame.locals.get(name));
        local.map_or_else(|| self.given(name), NameLookup::from)
    }

    fn given(&self, name: &str) -> NameLookup<'a> {
        self.root
            .get(name)
            .map_or(NameLookup::Absent, |value| NameLookup::Known(Cow::Borrowed(value)))
    }

    /// The member of this name in the innermost context that has one.
    fn nearest(&self, name: &str) -> NameLookup<'a> {
        let mut unknown = false;
        for context in self.frames.iter().rev().filter_map(|frame| frame.context.as_ref()) {
            match context {
                Some(value) if value.get(name).is_some() => {
                    return member(value.clone(), name)
                        .map_or(NameLookup::Absent, NameLookup::Known);
                }
                Some(_) => {}
                None => unknown = true,
            }
        }
        match self.given(name) {
            NameLookup::Absent if unknown => NameLookup::Unknown,
            place => place,
        }
    }

    /// The context this many levels above the innermost, and whether it is the root.
    fn context(&self, up: usize) -> (NameLookup<'a>, bool) {
        let mut contexts = self.frames.iter().rev().filter_map(|frame| frame.context.as_ref());
        let mut left = up;
        loop {
            match (contexts.next(), left) {
                (Some(found), 0) => return (NameLookup::from(found), false),
                (Some(_), _) => left -= 1,
                (None, 0) => return (NameLookup::Known(Cow::Borrowed(self.root)), true),
                (None, _) => return (NameLookup::Absent, true),
            }
        }
    }
}

/// A member of an object, or the list item at this index.
pub(super) fn member<'a>(of: Cow<'a, Value>, step: &str) -> MaybeValue<'a> {
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
