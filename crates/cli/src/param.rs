//! A parameter of an operation as the command line sees it: its kind, read from the JSON Schema,
//! and the value that a text on the line stands for.

use contract::Operation;
use model::OpError;
use serde_json::{Map, Value};

/// One value of a parameter that has only certain ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) doc: String,
}

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Text,
    Choice(Vec<Choice>),
    Integer,
    Number,
    Boolean,
    /// Several of one scalar kind.
    List(Box<Kind>),
    /// JSON that is an object.
    Object,
    /// JSON that is an array, of what does not fit a list on the line.
    Array,
    /// JSON if it is an object or an array, else the text itself.
    Any,
}

/// One parameter.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    /// The flattened object whose member it is.
    pub(crate) within: Option<&'static str>,
    /// Its place among the parameters given by position.
    pub(crate) position: Option<usize>,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) doc: String,
}

impl Param {
    /// The parameters of the operation in the order of its schema; those of the object that its
    /// CLI shape flattens stand in that object's place.
    pub(crate) fn all(op: &Operation) -> Vec<Param> {
        let shape = &op.info.cli;
        let mut params = Vec::new();
        for (mut param, schema) in members(&op.params_schema(), None) {
            match shape.flatten.filter(|name| *name == param.name) {
                Some(outer) => {
                    let inner = members(object_schema(&schema), Some(outer));
                    params.extend(inner.into_iter().map(|(param, _)| param));
                }
                None => {
                    param.position = shape.positional.iter().position(|name| *name == param.name);
                    params.push(param);
                }
            }
        }
        params
    }

    /// The top-level parameters, nothing flattened: what `rekindle ops NAME` shows.
    pub(crate) fn of_schema(schema: &Value) -> Vec<Param> {
        members(schema, None).into_iter().map(|(param, _)| param).collect()
    }

    /// The name of its flag, without the dashes.
    pub(crate) fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Its name inside clap: apart from those of the global flags.
    pub(crate) fn id(&self) -> String {
        format!("param:{}:{}", self.within.unwrap_or_default(), self.name)
    }

    /// The value that these texts stand for.
    pub(crate) fn value(&self, texts: &[String]) -> Result<Value, OpError> {
        if let Kind::List(item) = &self.kind {
            let items = texts.iter().filter(|text| !text.is_empty());
            return items.map(|text| self.scalar(item, text)).collect();
        }
        self.scalar(&self.kind, texts.first().map_or("", String::as_str))
    }

    fn scalar(&self, kind: &Kind, text: &str) -> Result<Value, OpError> {
        let value = match kind {
            Kind::Text | Kind::Choice(_) => Some(text.into()),
            Kind::Integer => integer(text),
            Kind::Number => number(text),
            Kind::Boolean => text.parse().ok().map(Value::Bool),
            Kind::Object => Some(self.json(text)?).filter(Value::is_object),
            Kind::Array | Kind::List(_) => Some(self.json(text)?).filter(Value::is_array),
            Kind::Any => structure(text).or_else(|| Some(text.into())),
        };
        value.ok_or_else(|| {
            let (label, text) = (self.label(), text::one_line(text, 60));
            let message = format!("{label} wants {}, not '{text}'", kind.word());
            OpError::invalid(&self.path(), message)
        })
    }

    fn json(&self, text: &str) -> Result<Value, OpError> {
        read_json(&self.path(), &self.label(), text)
    }

    /// Its name among all parameters, for example `meta.reason`.
    fn path(&self) -> String {
        self.within.map_or_else(|| self.name.clone(), |outer| format!("{outer}.{}", self.name))
    }

    /// What it is called on the line.
    fn label(&self) -> String {
        if self.position.is_some() {
            self.name.to_uppercase()
        } else {
            format!("--{}", self.flag())
        }
    }
}

impl Kind {
    /// The kind of what this schema allows, `null` aside.
    pub(crate) fn of(schema: &Value) -> Kind {
        if let Some(choices) = choices(schema) {
            return Kind::Choice(choices);
        }
        if let Some(alternatives) = alternatives(schema) {
            return match alternatives[..] {
                [one] => Kind::of(one),
                _ => Kind::Any,
            };
        }
        match types(schema)[..] {
            ["string"] => Kind::Text,
            ["integer"] => Kind::Integer,
            ["number"] => Kind::Number,
            ["boolean"] => Kind::Boolean,
            ["object"] => Kind::Object,
            ["array"] => match Kind::of(schema.get("items").unwrap_or(&Value::Null)) {
                item @ (Kind::Text | Kind::Choice(_) | Kind::Integer | Kind::Number) => {
                    Kind::List(Box::new(item))
                }
                _ => Kind::Array,
            },
            _ => Kind::Any,
        }
    }

    /// The kind in words, with its article.
    pub(crate) fn word(&self) -> String {
        match self {
            Kind::Text => "a text".into(),
            Kind::Choice(choices) => {
                let values: Vec<&str> =
                    choices.iter().map(|choice| choice.value.as_str()).collect();
                format!("one of {}", values.join(", "))
            }
            Kind::Integer => "an integer".into(),
            Kind::Number => "a number".into(),
            Kind::Boolean => "true or false".into(),
            Kind::List(item) => format!("a list, each {}", item.word()),
            Kind::Object => "a JSON object".into(),
            Kind::Array => "a JSON array".into(),
            Kind::Any => "a text or JSON".into(),
        }
    }
}

/// The text as JSON, or an error that names the place where it stops being that.
pub(crate) fn read_json(param: &str, label: &str, text: &str) -> Result<Value, OpError> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        let message = format!("{label} is not JSON: {why} at line {line}, column {column}");
        OpError::invalid(param, message)
            .with("line", line)
            .with("column", column)
            .hint("Quote the whole JSON for the shell, for example '{\"key\":\"value\"}'.")
    })
}

/// The text as a JSON object or array, if it is one.
pub(crate) fn structure(text: &str) -> Option<Value> {
    let looks_like_one = text.trim_start().starts_with(['{', '[']);
    if looks_like_one { serde_json::from_str(text).ok() } else { None }
}

fn integer(text: &str) -> Option<Value> {
    let signed = text.parse::<i64>().ok().map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Value::from))
}

fn number(text: &str) -> Option<Value> {
    // `from_f64` refuses what JSON does not have: infinities and NaN.
    let fraction = || serde_json::Number::from_f64(text.parse::<f64>().ok()?).map(Value::Number);
    integer(text).or_else(fraction)
}

/// The members of an object schema, each with its own schema.
fn members(schema: &Value, within: Option<&'static str>) -> Vec<(Param, Value)> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|list| list.iter().any(|item| item == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let member = |(name, schema): (&String, &Value)| {
        let param = Param {
            name: name.clone(),
            within,
            position: None,
            kind: Kind::of(schema),
            // A member of a flattened object is required only once the object is there at all,
            // which the operation itself checks.
            required: within.is_none() && is_required(name),
            doc: doc(schema),
        };
        (param, schema.clone())
    };
    properties.into_iter().flat_map(Map::iter).map(member).collect()
}

/// The description as one paragraph, with the default where there is one worth telling.
fn doc(schema: &Value) -> String {
    let described = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let doc = described.replace('\n', " ");
    match schema.get("default") {
        Some(default @ (Value::Bool(true) | Value::Number(_))) => {
            format!("{doc} [default: {default}]")
        }
        Some(Value::String(default)) if !default.is_empty() => {
            format!("{doc} [default: {default}]")
        }
        _ => doc,
    }
}

/// The object among what a schema allows: an optional object is that object or `null`.
fn object_schema(schema: &Value) -> &Value {
    match alternatives(schema).as_deref() {
        Some([one]) => object_schema(one),
        _ => schema,
    }
}

/// What `anyOf` or `oneOf` allows, `null` aside.
fn alternatives(schema: &Value) -> Option<Vec<&Value>> {
    let list = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    Some(list.iter().filter(|schema| types(schema) != ["null"]).collect())
}

/// The types a schema names; a list of several is without `null`.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect()
        }
        _ => Vec::new(),
    }
}

/// The values of a schema that allows certain strings only: an `enum`, or a `const` for each.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let doc = doc(schema);
    if let Some(only) = schema.get("const") {
        return Some(vec![Choice { value: only.as_str()?.to_owned(), doc }]);
    }
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        let listed = list.iter().filter(|value| !value.is_null());
        let choice =
            |value: &Value| Some(Choice { value: value.as_str()?.to_owned(), doc: String::new() });
        return listed.map(choice).collect();
    }
    let variants = alternatives(schema)?;
    let choices: Option<Vec<Vec<Choice>>> = variants.into_iter().map(choices).collect();
    choices.map(|choices| choices.concat()).filter(|choices| !choices.is_empty())
}
