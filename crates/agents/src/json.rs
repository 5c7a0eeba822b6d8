//! JSON read where it stands: texts are borrowed from what was sent, and the few members of an object are
//! looked for one by one. Of an event little is kept, and a tree of [`Value`] would copy all of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::{Number, Value};

use crate::encoding::with_valid_encoding;

/// More members than most events have.
const EVENT_MEMBERS: usize = 16;

/// Any JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Members<'a>),
}

/// The members of an object, in the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Members<'a> {
    /// A member; of one that is there twice, the last.
    pub(crate) fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.0.iter().rev().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Puts a value in the place of all members of this name.
    pub(crate) fn set(&mut self, name: &'a str, value: Json<'a>) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.into(), value));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }
}

impl<'a> Json<'a> {
    /// The JSON inside a text, repaired if its encoding is damaged.
    pub(crate) fn inside(text: &'a str) -> Option<Json<'a>> {
        let repaired = || -> Option<Value> {
            let built = text.trim_start().starts_with(['{', '[']);
            let event = built.then(|| with_valid_encoding(text.as_bytes()))?;
            serde_json::from_slice(&event).ok()
        };
        serde_json::from_str(text).ok().or_else(|| repaired().map(Json::from))
    }

    /// A member, if this is an object that has it.
    pub(crate) fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.as_object()?.get(name)
    }

    pub(crate) fn as_object(&self) -> Option<&Members<'a>> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Json<'a>]> {
        match self {
            Json::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<&Number> {
        match self {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }
}

impl<'a> From<Members<'a>> for Json<'a> {
    fn from(members: Members<'a>) -> Json<'a> {
        Json::Object(members)
    }
}

impl<'a> From<&'a Value> for Json<'a> {
    fn from(value: &'a Value) -> Json<'a> {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::String(text) => Json::Text(text.into()),
            Value::Array(items) => Json::List(items.iter().map(Json::from).collect()),
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (name.into(), value.into()));
                Json::Object(Members(members.collect()))
            }
        }
    }
}

impl From<Value> for Json<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(value),
            Value::Number(number) => Json::Number(number),
            Value::String(text) => Json::Text(text.into()),
            Value::Array(items) => Json::List(items.into_iter().map(Json::from).collect()),
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, value)| (name.into(), value.into()));
                Json::Object(Members(members.collect()))
            }
        }
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::Text(text) => serializer.serialize_str(text),
            Json::List(items) => serializer.collect_seq(items),
            Json::Object(Members(members)) => {
                let places = members.iter().enumerate();
                let last: HashMap<&str, usize> =
                    places.clone().map(|(at, (name, _))| (&**name, at)).collect();
                let counts =
                    |(at, (name, _)): &(usize, &(Cow<'_, str>, _))| last.get(&**name) == Some(at);
                serializer
                    .collect_map(places.filter(counts).map(|(_, (name, value))| (name, value)))
            }
        }
    }
}

impl<'a, 'de: 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json<'a>, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

impl<'a, 'de: 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        deserializer.deserialize_map(MembersReader { expected: EVENT_MEMBERS })
    }
}

/// A member's name.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct MembersReader {
    expected: usize,
}

impl<'de> Visitor<'de> for MembersReader {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::with_capacity(self.expected);
        while let Some((Name(name), value)) = map.next_entry()? {
            members.push((name, value));
        }
        Ok(Members(members))
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Json<'de>, A::Error> {
        MembersReader { expected: 0 }.visit_map(map).map(Json::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_sent_is_read_as_every_reader_of_json_would() {
        let texts = [
            r#"{"a":1,"b":[true,null,-2,1.5,"\u00e9\n"],"c":{"d":{}},"e\"f":"plain"}"#,
            "[]",
            "\"text\"",
            "18446744073709551615",
            "null",
        ];
        for text in texts {
            let value: Value = serde_json::from_str(text).unwrap();
            let json: Json<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(json, Json::from(&value), "{text}");
            assert_eq!(serde_json::to_value(&json).unwrap(), value, "{text}");
        }
        let wrong = ["{", "[1,]", "{\"a\":1}x", "1e999", "\"\\ud800\"", "nul"];
        for text in wrong {
            assert!(serde_json::from_str::<Json<'_>>(text).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(serde_json::from_str::<Json<'_>>(&deep).is_err());
    }

    #[test]
    fn of_a_member_that_is_there_twice_the_last_counts() {
        let json: Json<'_> = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(json.get("a").and_then(Json::as_number), Some(&3.into()));
        assert_eq!(json.get("c"), None);
        assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"b":2,"a":3}"#);
        let Json::Object(mut members) = json else { unreachable!("it is an object") };
        members.set("a", Json::Null);
        assert_eq!((members.get("a"), members.len()), (Some(&Json::Null), 2));
    }

    #[test]
    fn texts_without_escapes_are_not_copied() {
        let json: Json<'_> = serde_json::from_str(r#"{"plain":"text"}"#).unwrap();
        let Some(Json::Text(text)) = json.get("plain") else { unreachable!("it is a text") };
        assert!(matches!(text, Cow::Borrowed("text")));
    }
}
