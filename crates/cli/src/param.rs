//! A parameter of an operation on the command line: its kind, read from the JSON Schema, and the conversion of its
//! text to a value.

use contract::{CliShape, Flattened, Operation};
use model::OpError;
use serde_json::{Map, Value};

/// One value of an enumerated parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) doc: String,
}

/// The kind of value that a parameter accepts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParamKind {
    Text,
    Choice(Vec<Choice>),
    Integer,
    Number,
    Boolean,
    /// Several values of one scalar kind.
    List(Box<ParamKind>),
    /// One text, or several alternatives.
    OneOrMany,
    /// Values by name, all of one kind.
    Map(Box<ParamKind>),
    /// JSON that is an object.
    Object,
    /// JSON that is an array, of items that a list on the line cannot express.
    Array,
    /// JSON if it is an object or an array, else the text itself.
    Any,
}

/// One parameter.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    /// Path of the flattened object that it is a member of; empty for a top-level parameter.
    pub(crate) within: &'static str,
    /// Prefix of its flag.
    prefix: &'static str,
    /// Whether it is itself an object whose members are flags of their own.
    pub(crate) whole: bool,
    /// Its index among the positional parameters.
    pub(crate) position: Option<usize>,
    /// Its flag as typed, if that is an alias.
    pub(crate) typed: Option<String>,
    /// Whether it takes all remaining words of the line: joined by spaces, or each as an item.
    pub(crate) rest: bool,
    /// Whether its JSON is in a file that the line names.
    pub(crate) from_file: bool,
    pub(crate) kind: ParamKind,
    pub(crate) required: bool,
    pub(crate) doc: String,
}

impl Param {
    /// The parameters of the operation in the order of its schema. The members of a flattened object precede that
    /// object.
    pub(crate) fn all(op: &Operation) -> Vec<Param> {
        let shape = &op.info.cli;
        let mut params = Vec::new();
        for mut param in members(&op.params_schema(), "", "") {
            param.position = shape.positional.iter().position(|name| *name == param.name);
            param.rest = shape.rest && param.position == shape.positional.len().checked_sub(1);
            param.from_file = shape.file.is_some_and(|name| name == param.name);
            if param.from_file {
                param.kind = ParamKind::Object;
            }
            param.required &= shape.defaults.iter().all(|(name, _)| *name != param.name);
            param.spread(shape, &mut params);
        }
        for param in &mut params {
            let path = param.path();
            if let Some((_, help)) = shape.help.iter().find(|(name, _)| *name == path) {
                param.doc = (*help).to_owned();
            }
        }
        params
    }

    /// Adds the parameter, preceded by those of its members that are flags.
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
            self.kind = ParamKind::Object;
        }
        params.push(self);
    }

    /// The top-level parameters, without flattening, for `rekindle ops NAME`.
    pub(crate) fn of_schema(schema: &Value) -> Vec<Param> {
        members(schema, "", "")
    }

    /// The name of its flag, without the dashes.
    pub(crate) fn flag(&self) -> String {
        format!("{}{}", self.prefix, self.name.replace('_', "-"))
    }

    /// Its id in clap, distinct from those of the global flags.
    pub(crate) fn id(&self) -> String {
        Param::id_of(self.within, &self.name)
    }

    /// The id in clap of a member of the object at the path `within`.
    pub(crate) fn id_of(within: &str, name: &str) -> String {
        format!("param:{within}:{name}")
    }

    /// The value of these texts.
    pub(crate) fn value(&self, texts: &[String]) -> Result<Value, OpError> {
        match &self.kind {
            ParamKind::List(item) => self.list(item, texts),
            ParamKind::OneOrMany => match self.list(&ParamKind::Text, texts)? {
                Value::Array(mut items) if items.len() == 1 => Ok(items.remove(0)),
                items => Ok(items),
            },
            ParamKind::Map(of) => self.map(of, texts),
            kind if self.rest => self.scalar(kind, &texts.join(" ")),
            kind => self.scalar(kind, texts.first().map_or("", String::as_str)),
        }
    }

    fn list(&self, item: &ParamKind, texts: &[String]) -> Result<Value, OpError> {
        // A word of its own may have commas, as the name of a file does.
        if self.rest {
            return texts.iter().map(|text| self.scalar(item, text)).collect();
        }
        let items = texts.iter().flat_map(|text| split_list(text)).filter(|text| !text.is_empty());
        items.map(|text| self.scalar(item, text)).collect()
    }

    /// `NAME=VALUE` for each text, or one JSON object.
    fn map(&self, of: &ParamKind, texts: &[String]) -> Result<Value, OpError> {
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
                Some((_, values)) if *of == ParamKind::OneOrMany => values.push(value.to_owned()),
                Some(_) => return Err(self.wants(&format!("'{name}' once"), text)),
                None => given.push((name, vec![value.to_owned()])),
            }
        }
        let member = |(name, mut values): (&str, Vec<String>)| {
            let value = match (of, values.len()) {
                (ParamKind::OneOrMany, 1) => values.remove(0).into(),
                (ParamKind::OneOrMany, _) => values.into(),
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

    fn scalar(&self, kind: &ParamKind, text: &str) -> Result<Value, OpError> {
        let value = match kind {
            ParamKind::Text | ParamKind::OneOrMany | ParamKind::Choice(_) => Some(text.into()),
            ParamKind::Integer => integer(text.trim()).or_else(|| self.written_id(text)),
            ParamKind::Number => number(text),
            ParamKind::Boolean => text.parse().ok().map(Value::Bool),
            ParamKind::Object | ParamKind::Map(_) => {
                Some(self.json(text)?).filter(Value::is_object)
            }
            ParamKind::Array | ParamKind::List(_) => Some(self.json(text)?).filter(Value::is_array),
            ParamKind::Any => structure(text).or_else(|| Some(text.into())),
        };
        value.ok_or_else(|| self.wants(&kind.word(), text))
    }

    /// The id of a record as our tables and entries print it (`#24`, `obs://24`). The operation gets it as text: it
    /// reads the text if the parameter is an id, and else refuses it. A parameter that is an id gets any text, because
    /// the operation knows best how an id is written; all integers without a flag are ids.
    fn written_id(&self, text: &str) -> Option<Value> {
        let is_id = self.position.is_some()
            || ["id", "ids"].contains(&self.name.as_str())
            || self.name.ends_with("_id");
        (is_id || text.starts_with('#') || text.contains("://")).then(|| text.into())
    }

    fn wants(&self, what: &str, text: &str) -> OpError {
        let (label, text) = (self.label(), text::one_line(text, 60));
        OpError::invalid(&self.path(), format!("{label} wants {what}, not '{text}'"))
    }

    fn json(&self, text: &str) -> Result<Value, OpError> {
        read_json(&self.path(), &self.label(), text)
    }

    /// Its path among all parameters, for example `meta.reason`.
    pub(crate) fn path(&self) -> String {
        match self.within {
            "" => self.name.clone(),
            outer => format!("{outer}.{}", self.name),
        }
    }

    /// Its name on the line.
    pub(crate) fn label(&self) -> String {
        match &self.typed {
            _ if self.position.is_some() => self.name.to_uppercase(),
            Some(typed) => typed.clone(),
            None => format!("--{}", self.flag()),
        }
    }
}

impl ParamKind {
    /// The kind that a schema allows, apart from `null`.
    pub(crate) fn of(schema: &Value) -> ParamKind {
        if let Some(choices) = choices(schema) {
            return ParamKind::Choice(choices);
        }
        if let Some(alternatives) = alternatives(schema) {
            let kinds: Vec<ParamKind> = alternatives.into_iter().map(ParamKind::of).collect();
            return match &kinds[..] {
                [one] => one.clone(),
                [ParamKind::Text, ParamKind::List(item)] if **item == ParamKind::Text => {
                    ParamKind::OneOrMany
                }
                _ => ParamKind::Any,
            };
        }
        match types(schema)[..] {
            ["string"] => ParamKind::Text,
            ["integer"] => ParamKind::Integer,
            ["number"] => ParamKind::Number,
            ["boolean"] => ParamKind::Boolean,
            ["object"] => match (schema.get("properties"), schema.get("additionalProperties")) {
                (None, Some(of)) if *of != Value::Bool(false) => {
                    ParamKind::Map(Box::new(ParamKind::of(of)))
                }
                _ => ParamKind::Object,
            },
            ["array"] => match ParamKind::of(schema.get("items").unwrap_or(&Value::Null)) {
                item @ (ParamKind::Text
                | ParamKind::Choice(_)
                | ParamKind::Integer
                | ParamKind::Number) => ParamKind::List(Box::new(item)),
                _ => ParamKind::Array,
            },
            _ => ParamKind::Any,
        }
    }

    /// The kind in words, with its article.
    pub(crate) fn word(&self) -> String {
        match self {
            ParamKind::Text => "a text".into(),
            ParamKind::Choice(choices) => {
                let values: Vec<&str> =
                    choices.iter().map(|choice| choice.value.as_str()).collect();
                format!("one of {}", values.join(", "))
            }
            ParamKind::Integer => "an integer".into(),
            ParamKind::Number => "a number".into(),
            ParamKind::Boolean => "true or false".into(),
            ParamKind::List(item) => format!("a list, each {}", item.word()),
            ParamKind::OneOrMany => "a text or a list of texts".into(),
            ParamKind::Object | ParamKind::Map(_) => "a JSON object".into(),
            ParamKind::Array => "a JSON array".into(),
            ParamKind::Any => "a text or JSON".into(),
        }
    }
}

/// Parses JSON; the error has the line and column.
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

/// Parses a JSON object or array; `None` for other text.
pub(crate) fn structure(text: &str) -> Option<Value> {
    let looks_like_one = text.trim_start().starts_with(['{', '[']);
    if looks_like_one { serde_json::from_str(text).ok() } else { None }
}

fn integer(text: &str) -> Option<Value> {
    let signed = text.parse::<i64>().ok().map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Value::from))
}

fn number(text: &str) -> Option<Value> {
    // `from_f64` refuses infinities and NaN, which JSON lacks.
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
        kind: ParamKind::of(schema),
        // The operation itself checks that a given object has its required members.
        required: within.is_empty() && is_required(name),
        doc: doc(schema),
    };
    properties.into_iter().flat_map(Map::iter).map(member).collect()
}

/// Splits a list on the line at commas, except between braces, as in the glob `**/{a,b}`.
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
    // An unclosed brace is a plain character.
    if depth > 0 {
        return text.split(',').collect();
    }
    items.push(&text[start..]);
    items
}

/// The description as one paragraph, with the default if it has one.
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

/// The alternatives of `anyOf` or `oneOf`, apart from `null`.
fn alternatives(schema: &Value) -> Option<Vec<&Value>> {
    let list = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    Some(list.iter().filter(|schema| types(schema) != ["null"]).collect())
}

/// The types that a schema names, without `null` if there are several.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect()
        }
        _ => Vec::new(),
    }
}

/// The values of a schema that allows only certain strings: an `enum`, or a `const` for each.
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
