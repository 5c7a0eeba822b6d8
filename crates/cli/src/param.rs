//! A parameter of an operation as the command line sees it: its kind, read from the JSON Schema,
//! and the value that a text on the line stands for.

use contract::{CliShape, Flattened, Operation};
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
    /// One text, or several of which any will do.
    OneOrMany,
    /// Values by name, all of one kind.
    Map(Box<Kind>),
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
    /// Where the flattened object stands whose member it is; empty for a parameter itself.
    pub(crate) within: &'static str,
    /// What its flag begins with.
    prefix: &'static str,
    /// Whether it is itself an object whose members are flags of their own.
    pub(crate) whole: bool,
    /// Its place among the parameters given by position.
    pub(crate) position: Option<usize>,
    /// Its flag as it stands on the line, where that has another of its names.
    pub(crate) typed: Option<String>,
    /// Whether it takes all further words of the line, joined by spaces.
    pub(crate) rest: bool,
    /// Whether its JSON stands in a file that the line names.
    pub(crate) from_file: bool,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) doc: String,
}

impl Param {
    /// The parameters of the operation in the order of its schema; the members of an object that
    /// its CLI shape flattens stand before that object.
    pub(crate) fn all(op: &Operation) -> Vec<Param> {
        let shape = &op.info.cli;
        let mut params = Vec::new();
        for mut param in members(&op.params_schema(), "", "") {
            param.position = shape.positional.iter().position(|name| *name == param.name);
            param.rest = shape.rest && param.position == shape.positional.len().checked_sub(1);
            param.from_file = shape.file.is_some_and(|name| name == param.name);
            if param.from_file {
                param.kind = Kind::Object;
            }
            param.spread(shape, &mut params);
        }
        params
    }

    /// Adds the parameter, and before it the members that are flags of their own.
    fn spread(mut self, shape: &CliShape, params: &mut Vec<Param>) {
        let path = self.path();
        if let Some(Flattened { object, prefix, schema }) =
            shape.flatten.iter().find(|flattened| flattened.object == path)
        {
            for member in members(&schema(), object, prefix) {
                member.spread(shape, params);
            }
            self.whole = true;
            self.required = false;
            self.kind = Kind::Object;
        }
        params.push(self);
    }

    /// The top-level parameters, nothing flattened: what `rekindle ops NAME` shows.
    pub(crate) fn of_schema(schema: &Value) -> Vec<Param> {
        members(schema, "", "")
    }

    /// The name of its flag, without the dashes.
    pub(crate) fn flag(&self) -> String {
        format!("{}{}", self.prefix, self.name.replace('_', "-"))
    }

    /// Its name inside clap: apart from those of the global flags.
    pub(crate) fn id(&self) -> String {
        Param::id_of(self.within, &self.name)
    }

    /// The same of a member of the object that stands there.
    pub(crate) fn id_of(within: &str, name: &str) -> String {
        format!("param:{within}:{name}")
    }

    /// The value that these texts stand for.
    pub(crate) fn value(&self, texts: &[String]) -> Result<Value, OpError> {
        match &self.kind {
            Kind::List(item) => self.list(item, texts),
            Kind::OneOrMany => match self.list(&Kind::Text, texts)? {
                Value::Array(mut items) if items.len() == 1 => Ok(items.remove(0)),
                items => Ok(items),
            },
            Kind::Map(of) => self.map(of, texts),
            kind if self.rest => self.scalar(kind, &texts.join(" ")),
            kind => self.scalar(kind, texts.first().map_or("", String::as_str)),
        }
    }

    fn list(&self, item: &Kind, texts: &[String]) -> Result<Value, OpError> {
        let items = texts.iter().flat_map(|text| split_list(text)).filter(|text| !text.is_empty());
        items.map(|text| self.scalar(item, text)).collect()
    }

    /// `NAME=VALUE` for each text, or one JSON object.
    fn map(&self, of: &Kind, texts: &[String]) -> Result<Value, OpError> {
        if let [one] = texts
            && one.trim_start().starts_with('{')
        {
            return self.json(one);
        }
        let mut given: Vec<(&str, Vec<String>)> = Vec::new();
        for text in texts {
            let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
            let (name, value) = pair.ok_or_else(|| self.wants("NAME=VALUE", text))?;
            match given.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) if *of == Kind::OneOrMany => values.push(value.to_owned()),
                Some(_) => return Err(self.wants(&format!("'{name}' once"), text)),
                None => given.push((name, vec![value.to_owned()])),
            }
        }
        let member = |(name, mut values): (&str, Vec<String>)| {
            let value = match (of, values.len()) {
                (Kind::OneOrMany, 1) => values.remove(0).into(),
                (Kind::OneOrMany, _) => values.into(),
                (kind, _) => self.scalar(kind, &values.remove(0))?,
            };
            Ok((name.to_owned(), value))
        };
        given
            .into_iter()
            .map(member)
            .collect::<Result<Map<String, Value>, OpError>>()
            .map(Value::Object)
    }

    fn scalar(&self, kind: &Kind, text: &str) -> Result<Value, OpError> {
        let value = match kind {
            Kind::Text | Kind::OneOrMany | Kind::Choice(_) => Some(text.into()),
            Kind::Integer => integer(text),
            Kind::Number => number(text),
            Kind::Boolean => text.parse().ok().map(Value::Bool),
            Kind::Object | Kind::Map(_) => Some(self.json(text)?).filter(Value::is_object),
            Kind::Array | Kind::List(_) => Some(self.json(text)?).filter(Value::is_array),
            Kind::Any => structure(text).or_else(|| Some(text.into())),
        };
        value.ok_or_else(|| self.wants(&kind.word(), text))
    }

    fn wants(&self, what: &str, text: &str) -> OpError {
        let (label, text) = (self.label(), text::one_line(text, 60));
        OpError::invalid(&self.path(), format!("{label} wants {what}, not '{text}'"))
    }

    fn json(&self, text: &str) -> Result<Value, OpError> {
        read_json(&self.path(), &self.label(), text)
    }

    /// Its name among all parameters, for example `meta.reason`.
    pub(crate) fn path(&self) -> String {
        match self.within {
            "" => self.name.clone(),
            outer => format!("{outer}.{}", self.name),
        }
    }

    /// What it is called on the line.
    pub(crate) fn label(&self) -> String {
        match &self.typed {
            _ if self.position.is_some() => self.name.to_uppercase(),
            Some(typed) => typed.clone(),
            None => format!("--{}", self.flag()),
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
            let kinds: Vec<Kind> = alternatives.into_iter().map(Kind::of).collect();
            return match &kinds[..] {
                [one] => one.clone(),
                [Kind::Text, Kind::List(item)] if **item == Kind::Text => Kind::OneOrMany,
                _ => Kind::Any,
            };
        }
        match types(schema)[..] {
            ["string"] => Kind::Text,
            ["integer"] => Kind::Integer,
            ["number"] => Kind::Number,
            ["boolean"] => Kind::Boolean,
            ["object"] => match (schema.get("properties"), schema.get("additionalProperties")) {
                (None, Some(of)) if *of != Value::Bool(false) => Kind::Map(Box::new(Kind::of(of))),
                _ => Kind::Object,
            },
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
            Kind::OneOrMany => "a text or a list of texts".into(),
            Kind::Object | Kind::Map(_) => "a JSON object".into(),
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

/// The members of an object schema.
fn members(schema: &Value, within: &'static str, prefix: &'static str) -> Vec<Param> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|list| list.iter().any(|item| item == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let member = |(name, schema): (&String, &Value)| Param {
        name: name.clone(),
        within,
        prefix,
        whole: false,
        position: None,
        typed: None,
        rest: false,
        from_file: false,
        kind: Kind::of(schema),
        // A member of a flattened object is required only once the object is there at all,
        // which the operation itself checks.
        required: within.is_empty() && is_required(name),
        doc: doc(schema),
    };
    properties.into_iter().flat_map(Map::iter).map(member).collect()
}

/// The items of a list on the line: commas part them, unless they stand between braces, as in the
/// glob `**/{a,b}`.
pub(crate) fn split_list(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    // A brace that is never closed holds nothing together.
    if depth > 0 {
        return text.split(',').collect();
    }
    items.push(&text[start..]);
    items
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
