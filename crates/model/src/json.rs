//! Borrowed JSON: strings are not copied out of the input, and the few members of an object are searched linearly.
//! Only a small part of an event is stored, and a tree of [`Value`] would copy all of it.
//!
//! [`Json`] is a whole tree. [`pick`] and [`pick_object`] read a few members by name and skip the others.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde::ser::{Serialize, Serializer};
use serde_json::{Number, Value};

/// Initial capacity for the members of an event: more than most events have.
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
    /// A member; the last one if the name occurs twice.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.0.iter().rev().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Replaces all members of this name by one value.
    pub fn set(&mut self, name: &'a str, value: Json<'a>) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.into(), value));
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }
}

impl<'a> Json<'a> {
    /// A member, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.as_object()?.get(name)
    }

    pub fn as_object(&self) -> Option<&Members<'a>> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Json<'a>]> {
        match self {
            Json::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<&Number> {
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
        deserializer.deserialize_any(TreeReader)
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

struct TreeReader;

impl<'de> Visitor<'de> for TreeReader {
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

/// The requested members of one object, in the order of the requested names. If a name occurs twice, the last member
/// counts.
pub type PickedMembers<T, const N: usize> = [Option<T>; N];

/// JSON of which only some members were read.
pub enum Picked<T, const N: usize> {
    Object(PickedMembers<T, N>),
    List(Vec<Picked<T, N>>),
    /// Neither an object nor a list.
    Other,
}

/// Reads these members of an object, or of each object in a list. Everything else is only checked to be JSON. Of a
/// list longer than `list_max`, one item more is returned, which is enough to refuse it.
pub fn pick<'de, T: Deserialize<'de>, const N: usize>(
    text: &'de [u8],
    names: &[&str; N],
    list_max: usize,
) -> Result<Picked<T, N>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let picked = Picker::new(names, list_max).deserialize(&mut reader)?;
    reader.end().map(|()| picked)
}

/// Reads these members of an object. Other JSON is an error.
pub fn pick_object<'de, T: Deserialize<'de>, const N: usize>(
    text: &'de [u8],
    names: &[&str; N],
) -> Result<PickedMembers<T, N>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let picked = reader.deserialize_map(Picker::new(names, 0))?;
    reader.end()?;
    Ok(match picked {
        Picked::Object(members) => members,
        // `deserialize_map` refuses these.
        Picked::List(_) | Picked::Other => [const { None }; N],
    })
}

struct Picker<'n, T, const N: usize> {
    names: &'n [&'n str; N],
    list_max: usize,
    of: PhantomData<T>,
}

impl<'n, T, const N: usize> Picker<'n, T, N> {
    fn new(names: &'n [&'n str; N], list_max: usize) -> Picker<'n, T, N> {
        Picker { names, list_max, of: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> DeserializeSeed<'de> for Picker<'_, T, N> {
    type Value = Picked<T, N>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Picked<T, N>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Picker<'_, T, N> {
    type Value = Picked<T, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Picked<T, N>, A::Error> {
        let mut members = [const { None }; N];
        while let Some(Name(name)) = map.next_key()? {
            match self.names.iter().position(|known| *known == name) {
                Some(place) => members[place] = Some(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Picked::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Picked<T, N>, A::Error> {
        let mut items = Vec::new();
        while items.len() <= self.list_max {
            let item = Picker::new(self.names, self.list_max);
            let Some(item) = list.next_element_seed(item)? else { return Ok(Picked::List(items)) };
            items.push(item);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Picked::List(items))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Picked<T, N>, E> {
        Ok(Picked::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Picked<T, N>, E> {
        Ok(Picked::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Picked<T, N>, E> {
        Ok(Picked::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Picked<T, N>, E> {
        Ok(Picked::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Picked<T, N>, E> {
        Ok(Picked::Other)
    }

    fn visit_unit<E>(self) -> Result<Picked<T, N>, E> {
        Ok(Picked::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_as_serde_json_reads_it() {
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
    fn the_last_of_two_equal_members_counts() {
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

    #[test]
    fn members_are_picked_by_name_and_the_last_of_two_counts() {
        let text = br#"{"a":1,"x":{"a":2},"b\u0063":[3],"a":4}"#;
        let [a, bc, d]: PickedMembers<Json<'_>, 3> = pick_object(text, &["a", "bc", "d"]).unwrap();
        assert_eq!(a, Some(Json::Number(4.into())));
        assert_eq!(bc, Some(Json::List(vec![Json::Number(3.into())])));
        assert_eq!(d, None);
    }

    #[test]
    fn everything_but_an_object_is_an_error() {
        for text in ["[]", "1", "null", "\"a\"", "{\"a\":1", "{\"a\":1}x", "{\"b\":nul}", ""] {
            let picked = pick_object::<Json<'_>, 1>(text.as_bytes(), &["a"]);
            assert!(picked.is_err(), "{text}");
        }
    }

    #[test]
    fn lists_are_picked_item_by_item_up_to_one_over_their_limit() {
        let count = |text: &str| match pick::<Value, 1>(text.as_bytes(), &["a"], 2) {
            Ok(Picked::List(items)) => items.len(),
            _ => usize::MAX,
        };
        assert_eq!([count("[]"), count("[1,2]"), count("[1,2,3]")], [0, 2, 3]);
        assert_eq!(count("[1,2,3,4,5]"), 3);
        assert_eq!(count("[1,2,3,4,]"), usize::MAX);
        let Ok(Picked::List(items)) = pick::<Value, 1>(br#"[{"a":1},[],2]"#, &["a"], 9) else {
            unreachable!("it is a list");
        };
        assert!(matches!(&items[0], Picked::Object([Some(value)]) if *value == 1));
        assert!(matches!(items[1..], [Picked::List(_), Picked::Other]));
    }
}
