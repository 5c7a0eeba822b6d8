//! Renders the nodes of a template to text, and collects every missing name on the way.
//!
//! If a condition or a list is missing, the nodes that depend on it are still evaluated, so that one error lists all
//! missing names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use model::limits;
use serde_json::{Value, json};

use super::budget::{RenderBudget, check_length};
use super::error::{TemplateError, wrong};
use super::expr::{kind, text_of, truthy};
use super::lookup::{MaybeValue, ScopeFrame};
use super::node::{Bind, Expr, Node};

pub(super) struct Renderer<'a> {
    pub(super) root: &'a Value,
    /// The innermost block is last; the first holds the locals outside of all blocks.
    pub(super) frames: Vec<ScopeFrame<'a>>,
    pub(super) budget: RenderBudget,
    pub(super) missing: BTreeSet<String>,
    /// Whether names may be missing, because a default follows.
    pub(super) quiet: bool,
    out: String,
}

/// The position of an item in its loop.
struct LoopPosition<'k> {
    index: usize,
    count: usize,
    key: Option<&'k str>,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(root: &'a Value) -> Renderer<'a> {
        Renderer {
            root,
            frames: vec![ScopeFrame::default()],
            budget: RenderBudget::new(),
            missing: BTreeSet::new(),
            quiet: false,
            out: String::new(),
        }
    }

    pub(super) fn render(mut self, nodes: &'a [Node<'a>]) -> Result<String, TemplateError> {
        let end = self.nodes(nodes);
        // Errors that follow from a missing name are less useful than the name.
        if self.missing.is_empty() {
            return end.map(|()| self.out);
        }
        Err(TemplateError::Missing(self.missing.into_iter().collect()))
    }

    fn nodes(&mut self, nodes: &'a [Node<'a>]) -> Result<(), TemplateError> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'a Node<'a>) -> Result<(), TemplateError> {
        self.budget.spend(1)?;
        match node {
            Node::Text(text) => self.emit(text),
            Node::Emit(expr) => match self.eval(expr)? {
                Some(value) => self.emit(&text_of(&value)),
                None => Ok(()),
            },
            Node::If { arms, otherwise } => self.choose(arms, otherwise),
            Node::Each { over, bind, body, otherwise } => {
                let over = self.eval(over)?;
                self.each(over, bind, body, otherwise)
            }
            Node::With { of, params, body, otherwise } => match self.eval(of)? {
                Some(value) if !truthy(&value) => self.nodes(otherwise),
                context => self.with(context, params, body),
            },
            Node::Section { of, body, otherwise } => self.section(of, body, otherwise),
            Node::Set { name, value } => {
                let value = self.eval(value)?;
                let frame = self.frames.last_mut();
                frame.map(|frame| frame.locals.insert(name, value));
                Ok(())
            }
        }
    }

    fn emit(&mut self, text: &str) -> Result<(), TemplateError> {
        self.budget.spend(text.len() / limits::HINT_RENDER_BYTES_PER_STEP)?;
        check_length(self.out.len() + text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    fn choose(
        &mut self,
        arms: &'a [(Expr<'a>, Vec<Node<'a>>)],
        otherwise: &'a [Node<'a>],
    ) -> Result<(), TemplateError> {
        for (condition, body) in arms {
            match self.eval(condition)? {
                Some(value) if truthy(&value) => return self.nodes(body),
                Some(_) => {}
                None => self.nodes(body)?,
            }
        }
        self.nodes(otherwise)
    }

    fn with(
        &mut self,
        context: MaybeValue<'a>,
        params: &[&'a str],
        body: &'a [Node<'a>],
    ) -> Result<(), TemplateError> {
        let locals = params.first().map(|name| (*name, context.clone()));
        let frame = ScopeFrame { context: Some(context), locals: locals.into_iter().collect() };
        self.inside(frame, body)
    }

    fn section(
        &mut self,
        of: &'a Expr<'a>,
        body: &'a [Node<'a>],
        otherwise: &'a [Node<'a>],
    ) -> Result<(), TemplateError> {
        match self.eval(of)? {
            None => {
                self.with(None, &[], body)?;
                self.nodes(otherwise)
            }
            Some(value) if !truthy(&value) => self.nodes(otherwise),
            Some(value) if *value == Value::Bool(true) => self.nodes(body),
            Some(value) if value.is_array() => {
                self.each(Some(value), &Bind::Context(Vec::new()), body, otherwise)
            }
            context => self.with(context, &[], body),
        }
    }

    fn each(
        &mut self,
        over: MaybeValue<'a>,
        bind: &Bind<'a>,
        body: &'a [Node<'a>],
        otherwise: &'a [Node<'a>],
    ) -> Result<(), TemplateError> {
        let Some(over) = over else {
            let turn = LoopPosition { index: 0, count: 1, key: Some("") };
            let frame = frame(bind, None, &turn)?;
            self.inside(frame, body)?;
            return self.nodes(otherwise);
        };
        if !truthy(&over) {
            return self.nodes(otherwise);
        }
        if over.is_object() {
            // The keys are copied.
            self.budget.spend_value(&over)?;
        }
        let members = members(over, bind)?;
        let count = members.len();
        self.budget.spend(count)?;
        for (index, (key, item)) in members.into_iter().enumerate() {
            if let Cow::Owned(made) = &item {
                self.budget.spend_value(made)?;
            }
            let turn = LoopPosition { index, count, key: key.as_deref() };
            let frame = frame(bind, Some(item), &turn)?;
            self.inside(frame, body)?;
        }
        Ok(())
    }

    fn inside(&mut self, frame: ScopeFrame<'a>, body: &'a [Node<'a>]) -> Result<(), TemplateError> {
        self.budget.spend(1 + frame.locals.len())?;
        self.frames.push(frame);
        let end = self.nodes(body);
        self.frames.pop();
        end
    }
}

/// An item of a loop, with its key if it has one.
type LoopItem<'a> = (Option<String>, Cow<'a, Value>);

/// The items of a loop, with their keys for an object. A loop that binds names iterates over the keys of an object,
/// one that sets the context over its values.
fn members<'a>(over: Cow<'a, Value>, bind: &Bind<'_>) -> Result<Vec<LoopItem<'a>>, TemplateError> {
    let names_only = matches!(bind, Bind::Names(_));
    let name = |name: &String| (None, Cow::Owned(Value::String(name.clone())));
    Ok(match over {
        Cow::Borrowed(Value::Array(items)) => {
            items.iter().map(|item| (None, Cow::Borrowed(item))).collect()
        }
        Cow::Owned(Value::Array(items)) => {
            items.into_iter().map(|item| (None, Cow::Owned(item))).collect()
        }
        Cow::Borrowed(Value::Object(members)) if names_only => members.keys().map(name).collect(),
        Cow::Owned(Value::Object(members)) if names_only => members.keys().map(name).collect(),
        Cow::Borrowed(Value::Object(members)) => {
            members.iter().map(|(name, value)| (Some(name.clone()), Cow::Borrowed(value))).collect()
        }
        Cow::Owned(Value::Object(members)) => {
            members.into_iter().map(|(name, value)| (Some(name), Cow::Owned(value))).collect()
        }
        over => return Err(wrong(format!("a loop cannot go over {}", kind(&over)))),
    })
}

fn frame<'a>(
    bind: &Bind<'a>,
    item: MaybeValue<'a>,
    turn: &LoopPosition<'_>,
) -> Result<ScopeFrame<'a>, TemplateError> {
    let LoopPosition { index, count, key } = *turn;
    let mut frame = ScopeFrame::default();
    let known = |value: Value| Some(Cow::Owned(value));
    match bind {
        Bind::Context(params) => {
            let place = || known(key.map_or_else(|| json!(index), |key| json!(key)));
            frame.locals.extend([
                ("@index", known(json!(index))),
                ("@first", known(json!(index == 0))),
                ("@last", known(json!(index + 1 == count))),
                ("@key", place()),
            ]);
            frame.locals.extend(params.first().map(|name| (*name, item.clone())));
            frame.locals.extend(params.get(1).map(|name| (*name, place())));
            frame.context = Some(item);
        }
        Bind::Names(names) => {
            let number = json!({ "index": index + 1, "index0": index, "length": count,
                "first": index == 0, "last": index + 1 == count });
            frame.locals.insert("loop", known(number));
            match (names.as_slice(), item) {
                ([name], item) => {
                    frame.locals.insert(name, item);
                }
                (names, None) => frame.locals.extend(names.iter().map(|name| (*name, None))),
                (names, Some(item)) => {
                    let parts = item.as_array().filter(|parts| parts.len() == names.len());
                    let parts = parts.ok_or_else(|| {
                        wrong(format!("a member of the loop is not a list of {}", names.len()))
                    })?;
                    let parts = parts.iter().map(|part| known(part.clone()));
                    frame.locals.extend(names.iter().copied().zip(parts));
                }
            }
        }
    }
    Ok(frame)
}
