//! REST: operations at HTTP paths of their own. [`RestRoute`] declares a path, [`RestTable`] finds the path of a
//! request, and [`RestEndpoint`] turns the request into the parameters of its operation. No HTTP is spoken here.

use std::collections::BTreeMap;

use model::OpError;
use model::entry::decode;
use serde_json::{Map, Value, json};

use crate::op::{OpInfo, Operation};
use crate::table::Table;

/// The HTTP method of a route. GET also answers HEAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RestMethod {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl RestMethod {
    pub fn name(self) -> &'static str {
        match self {
            RestMethod::Get => "GET",
            RestMethod::Post => "POST",
            RestMethod::Put => "PUT",
            RestMethod::Patch => "PATCH",
            RestMethod::Delete => "DELETE",
        }
    }
}

/// A name in a request and the parameter that it sets. The parameter may be a member of another: `context.cwd`.
pub type RestName = (&'static str, &'static str);

/// A method and a path that call an operation, and where its parameters are in the request.
#[derive(Clone, Copy, Debug)]
pub struct RestRoute {
    pub method: RestMethod,
    /// For example `/api/hints/{component}/{key}`: a segment in braces is the parameter of that name.
    pub path: &'static str,
    /// Names in the query. Their values are text, so they are read as the type in the operation's schema.
    pub query: &'static [RestName],
    /// Members of the JSON object in the body.
    pub body: &'static [RestName],
    /// Values, as JSON, of parameters that a request leaves out.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Gives the result the form of this path; none for the result as the operation has it.
    pub answer: Option<fn(Value) -> Value>,
}

impl RestRoute {
    /// A route whose parameters are all in the path.
    pub const fn new(method: RestMethod, path: &'static str) -> RestRoute {
        RestRoute { method, path, query: &[], body: &[], defaults: &[], answer: None }
    }

    #[must_use]
    pub const fn query(self, query: &'static [RestName]) -> RestRoute {
        RestRoute { query, ..self }
    }

    #[must_use]
    pub const fn body(self, body: &'static [RestName]) -> RestRoute {
        RestRoute { body, ..self }
    }

    #[must_use]
    pub const fn defaults(self, defaults: &'static [(&'static str, &'static str)]) -> RestRoute {
        RestRoute { defaults, ..self }
    }

    #[must_use]
    pub const fn answer(self, answer: fn(Value) -> Value) -> RestRoute {
        RestRoute { answer: Some(answer), ..self }
    }

    /// The route as data, for the reference.
    pub(crate) fn describe(&self) -> Value {
        let names = |names: &[RestName]| -> Vec<Value> {
            names.iter().map(|(name, param)| json!({ "name": name, "param": param })).collect()
        };
        json!({ "method": self.method.name(), "path": self.path, "query": names(self.query),
            "body": names(self.body) })
    }
}

/// A segment of a route's path. Literals are ordered before parameters, so that they are tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PathSegment {
    Literal(&'static str),
    Param,
}

/// The parameter's name, if the segment is one.
fn param_name(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

fn shape(path: &'static str) -> Vec<PathSegment> {
    let of = |segment| match param_name(segment) {
        Some(_) => PathSegment::Param,
        None => PathSegment::Literal(segment),
    };
    path.split('/').map(of).collect()
}

fn matches(shape: &[PathSegment], path: &str) -> bool {
    let mut segments = path.split('/');
    let all = shape.iter().all(|part| match (part, segments.next()) {
        (PathSegment::Literal(text), Some(segment)) => *text == segment,
        (PathSegment::Param, Some(_)) => true,
        (_, None) => false,
    });
    all && segments.next().is_none()
}

/// The REST routes of all operations, by path.
#[derive(Default)]
pub struct RestTable(BTreeMap<Vec<PathSegment>, RestPath>);

/// One path with an endpoint for each of its methods.
#[derive(Default)]
pub struct RestPath {
    endpoints: Vec<RestEndpoint>,
}

impl RestTable {
    pub fn new(table: &Table) -> RestTable {
        let mut paths = RestTable::default();
        for op in table.iter().filter(|op| !op.info.rest.is_empty()) {
            let schema = op.params_schema();
            for route in op.info.rest {
                let endpoints = &mut paths.0.entry(shape(route.path)).or_default().endpoints;
                endpoints.push(RestEndpoint::new(op, route, &schema));
                endpoints.sort_by_key(|endpoint| endpoint.route.method);
            }
        }
        paths
    }

    /// Finds the path of a request, still percent-encoded. If several match, the one with a literal first wins.
    pub fn find(&self, path: &str) -> Option<&RestPath> {
        self.0.iter().find(|(shape, _)| matches(shape, path)).map(|(_, path)| path)
    }
}

impl RestPath {
    /// The methods that the path takes, as in the header `Allow`.
    pub fn allow(&self) -> String {
        let methods = self.endpoints.iter().map(|endpoint| match endpoint.route.method {
            RestMethod::Get => "GET, HEAD",
            other => other.name(),
        });
        methods.collect::<Vec<_>>().join(", ")
    }

    /// The endpoint of a method by its HTTP name.
    pub fn endpoint(&self, method: &str) -> Option<&RestEndpoint> {
        let method = if method == "HEAD" { "GET" } else { method };
        self.endpoints.iter().find(|endpoint| endpoint.route.method.name() == method)
    }
}

/// One route of one operation, with the types of its parameters.
pub struct RestEndpoint {
    pub op: &'static OpInfo,
    route: &'static RestRoute,
    /// Types of the path's parameters, in the order of its segments; none for a literal.
    path: Vec<Option<(&'static str, TextType)>>,
    /// Types of the query's parameters, in the order of the route.
    query: Vec<TextType>,
}

impl RestEndpoint {
    fn new(op: &Operation, route: &'static RestRoute, schema: &Value) -> RestEndpoint {
        let part =
            |segment| param_name(segment).map(|param| (param, TextType::of_param(schema, param)));
        RestEndpoint {
            op: op.info,
            route,
            path: route.path.split('/').map(part).collect(),
            query: route.query.iter().map(|(_, param)| TextType::of_param(schema, param)).collect(),
        }
    }

    /// The parameters of a call from a request's path and query, both still percent-encoded, and its body. Each value
    /// is decoded once. Unknown and repeated names are `invalid`.
    pub fn params(&self, path: &str, query: &str, body: &[u8]) -> Result<Value, OpError> {
        let mut params = Map::new();
        for (part, segment) in self.path.iter().zip(path.split('/')) {
            let Some((param, kind)) = part else { continue };
            let text = decode(segment).ok_or_else(|| not_encoded(param))?;
            // Clients and proxies resolve `.` and `..`, so no id can be called that.
            if matches!(text.as_str(), "" | "." | "..") {
                return Err(OpError::invalid(param, format!("`{param}` is empty, `.` or `..`")));
            }
            put(&mut params, param, kind.read(param, text)?);
        }
        let mut seen = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = of_query(name).ok_or_else(|| not_encoded("query"))?;
            let at = self.route.query.iter().position(|(known, _)| *known == name);
            let Some(at) = at else {
                return Err(self.unknown(&name, "query", self.route.query));
            };
            if seen.contains(&at) {
                return Err(OpError::invalid(&name, format!("`{name}` is in the query twice")));
            }
            seen.push(at);
            let text = of_query(value).ok_or_else(|| not_encoded(&name))?;
            put(&mut params, self.route.query[at].1, self.query[at].read(&name, text)?);
        }
        for (name, value) in members(body)? {
            match self.route.body.iter().find(|(known, _)| *known == name) {
                Some((_, param)) => put(&mut params, param, value),
                None => return Err(self.unknown(&name, "body", self.route.body)),
            }
        }
        for (param, value) in self.route.defaults {
            let value = || serde_json::from_str(value).unwrap_or_default();
            params.entry(*param).or_insert_with(value);
        }
        Ok(Value::Object(params))
    }

    /// The result of the operation in the form of this path.
    pub fn answer(&self, result: Value) -> Value {
        match self.route.answer {
            Some(form) => form(result),
            None => result,
        }
    }

    /// An error of the operation in the names of this path: `envHint` for the parameter `env_hint`.
    pub fn error(&self, error: OpError) -> OpError {
        let names = || self.route.query.iter().chain(self.route.body);
        let renamed = |text: String| {
            names().filter(|(name, param)| name != param).fold(text, |text, (name, param)| {
                // A word such as `query` may also be plain English.
                match param.contains('_') {
                    true => replace_word(&text, param, name),
                    false => text.replace(&format!("`{param}`"), &format!("`{name}`")),
                }
            })
        };
        OpError { message: renamed(error.message), hint: error.hint.map(renamed), ..error }
    }

    fn unknown(&self, name: &str, place: &str, known: &[RestName]) -> OpError {
        let (method, path) = (self.route.method.name(), self.route.path);
        let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let hint = match known.is_empty() {
            true => format!("{method} {path} takes nothing in its {place}."),
            false => format!("{method} {path} accepts these in its {place}: {}.", known.join(", ")),
        };
        OpError::invalid(name, format!("unknown parameter `{name}` in the {place}")).hint(hint)
    }
}

/// Replaces a word wherever it is not a part of a longer one.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let is_part = |found: Option<char>| found.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let is_inside = is_part(before.chars().next_back().or(out.chars().next_back()))
            || is_part(after.chars().next());
        out.push_str(before);
        out.push_str(if is_inside { word } else { by });
        rest = after;
    }
    out + rest
}

fn not_encoded(param: &str) -> OpError {
    OpError::invalid(param, format!("`{param}` is not percent-encoded UTF-8"))
        .hint("Write each byte of a reserved character as % and two hexadecimal digits.")
}

/// A name or value of a query, in which a plus is a space.
fn of_query(text: &str) -> Option<String> {
    decode(&text.replace('+', " "))
}

/// The members of a body; none if it is empty.
fn members(body: &[u8]) -> Result<Map<String, Value>, OpError> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(OpError::invalid("", "the body is not a JSON object")),
        Err(error) => Err(OpError::invalid("", format!("the body is not JSON: {error}"))),
    }
}

/// Sets a parameter, or a member of one.
fn put(params: &mut Map<String, Value>, param: &str, value: Value) {
    let Some((outer, inner)) = param.split_once('.') else {
        params.insert(param.to_owned(), value);
        return;
    };
    let object = params.entry(outer).or_insert_with(|| json!({}));
    if let Value::Object(object) = object {
        put(object, inner, value);
    }
}

/// How a text in a path or a query becomes JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextType {
    Text,
    Integer,
    Number,
    Boolean,
    /// Lists and objects are written as JSON.
    Json,
}

impl TextType {
    /// The type of a parameter in the operation's schema. A parameter that may be text is text, and so is one without
    /// a type.
    fn of_param(schema: &Value, param: &str) -> TextType {
        let schemas = param.split('.').fold(vec![schema], |schemas, name| {
            let inner = schemas.into_iter().flat_map(alternatives);
            inner.filter_map(|schema| schema["properties"].get(name)).collect()
        });
        let types: Vec<&str> =
            schemas.into_iter().flat_map(alternatives).flat_map(types_of).collect();
        let has = |name: &str| types.contains(&name);
        let known = types.iter().any(|name| *name != "null");
        if !known || has("string") {
            return TextType::Text;
        }
        let simple = [
            ("number", TextType::Number),
            ("integer", TextType::Integer),
            ("boolean", TextType::Boolean),
        ];
        let found = simple.into_iter().find(|(name, _)| has(name));
        found.map_or(TextType::Json, |(_, kind)| kind)
    }

    fn read(self, name: &str, text: String) -> Result<Value, OpError> {
        let (value, wanted) = match self {
            TextType::Text => (Some(Value::String(text)), ""),
            TextType::Integer => {
                let signed = text.parse::<i64>().ok().map(Value::from);
                (signed.or_else(|| text.parse::<u64>().ok().map(Value::from)), "a whole number")
            }
            TextType::Number => {
                let number = text.parse().ok().and_then(serde_json::Number::from_f64);
                (number.map(Value::Number), "a number")
            }
            TextType::Boolean => (text.parse::<bool>().ok().map(Value::Bool), "true or false"),
            TextType::Json => (serde_json::from_str(&text).ok(), "JSON"),
        };
        value.ok_or_else(|| OpError::invalid(name, format!("`{name}` is not {wanted}")))
    }
}

/// A schema and the schemas that it is a choice of: an optional object is one of two.
fn alternatives(schema: &Value) -> Vec<&Value> {
    let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key));
    let choices = choices.filter_map(Value::as_array).flatten();
    std::iter::once(schema).chain(choices).collect()
}

fn types_of(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
