//! Reads JSON into a type, and names the member that is wrong.
//!
//! `serde_json` names no member when it reads a [`Value`]. A wrapper around its reader would, but it is compiled
//! once more for every type of every operation: that was a megabyte of the program. This reader also names the member.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected,
    IntoDeserializer, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Number, Value};

/// Reads a value of this type.
pub(crate) fn read<T: DeserializeOwned>(value: Value) -> Result<T, WrongMember> {
    T::deserialize(ValueReader(value))
}

/// The member that is not of its type.
#[derive(Debug)]
pub(crate) struct WrongMember {
    pub(crate) message: String,
    /// The members that lead to it, the innermost first.
    path: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Member(String),
    Place(usize),
}

impl WrongMember {
    /// The path to it, such as `items[1].name`; empty for the value itself.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for step in self.path.iter().rev() {
            path.push_str(&match step {
                Step::Member(name) if path.is_empty() => name.clone(),
                Step::Member(name) => format!(".{name}"),
                Step::Place(place) => format!("[{place}]"),
            });
        }
        path
    }

    fn within(mut self, step: Step) -> WrongMember {
        self.path.push(step);
        self
    }
}

impl fmt::Display for WrongMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WrongMember {}

impl serde::de::Error for WrongMember {
    fn custom<T: fmt::Display>(message: T) -> WrongMember {
        WrongMember { message: message.to_string(), path: Vec::new() }
    }
}

/// Reads one value. A method that needs one kind of JSON compiles no code for the others: it is compiled for every
/// type of every operation, and reading them all as "any kind" made the program larger by a megabyte.
struct ValueReader(Value);

impl ValueReader {
    fn flag<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
        match self.0 {
            Value::Bool(flag) => visitor.visit_bool(flag),
            other => Err(wrong_kind(&other, &visitor)),
        }
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
        match self.0 {
            Value::Number(number) => visit_number(&number, visitor),
            other => Err(wrong_kind(&other, &visitor)),
        }
    }

    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
        match self.0 {
            Value::String(text) => visitor.visit_string(text),
            other => Err(wrong_kind(&other, &visitor)),
        }
    }

    fn list<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
        match self.0 {
            Value::Array(items) => visit_items(items, visitor),
            other => Err(wrong_kind(&other, &visitor)),
        }
    }

    fn object<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
        match self.0 {
            Value::Object(members) => visit_members(members, visitor),
            other => Err(wrong_kind(&other, &visitor)),
        }
    }
}

/// Methods of the deserializer for types that are one kind of JSON.
macro_rules! read_as {
    ($($kind:ident: $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
            self.$kind(visitor)
        }
    )*)*};
}

impl<'de> Deserializer<'de> for ValueReader {
    type Error = WrongMember;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(flag),
            Value::Number(number) => visit_number(&number, visitor),
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => visit_items(items, visitor),
            Value::Object(members) => visit_members(members, visitor),
        }
    }

    read_as! {
        flag: deserialize_bool;
        number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
            deserialize_f32 deserialize_f64;
        text: deserialize_char deserialize_str deserialize_string deserialize_identifier;
        list: deserialize_seq;
        object: deserialize_map;
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, WrongMember> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, WrongMember> {
        self.list(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WrongMember> {
        self.object(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            value => visitor.visit_some(ValueReader(value)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, WrongMember> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WrongMember> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Variant { name, value: None }),
            Value::Object(members) => visitor.visit_enum(Variant::of(members)?),
            other => Err(wrong_kind(&other, &"string or map")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongMember> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

fn visit_number<'de, V: Visitor<'de>>(
    number: &Number,
    visitor: V,
) -> Result<V::Value, WrongMember> {
    match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => visitor.visit_u64(number),
        (None, Some(number)) => visitor.visit_i64(number),
        (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
    }
}

fn visit_items<'de, V: Visitor<'de>>(
    items: Vec<Value>,
    visitor: V,
) -> Result<V::Value, WrongMember> {
    let mut items = Items { rest: items.into_iter(), place: 0 };
    let read = visitor.visit_seq(&mut items)?;
    all_read(items.rest.len(), items.place + items.rest.len(), "list")?;
    Ok(read)
}

fn visit_members<'de, V: Visitor<'de>>(
    members: Map<String, Value>,
    visitor: V,
) -> Result<V::Value, WrongMember> {
    let count = members.len();
    let mut members = Members { rest: members.into_iter(), next: None };
    let read = visitor.visit_map(&mut members)?;
    all_read(members.rest.len(), count, "object")?;
    Ok(read)
}

/// The error for a value of another kind than expected.
fn wrong_kind(value: &Value, expected: &dyn Expected) -> WrongMember {
    let unexpected = match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(flag) => Unexpected::Bool(*flag),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Unexpected::Unsigned(number),
            (None, Some(number)) => Unexpected::Signed(number),
            (None, None) => Unexpected::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    };
    WrongMember::invalid_type(unexpected, expected)
}

fn all_read(rest: usize, count: usize, kind: &str) -> Result<(), WrongMember> {
    match rest {
        0 => Ok(()),
        _ => {
            let fewer = format!("a shorter {kind}");
            Err(WrongMember::invalid_length(count, &fewer.as_str()))
        }
    }
}

/// The items of a list.
struct Items {
    rest: std::vec::IntoIter<Value>,
    place: usize,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = WrongMember;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, WrongMember> {
        let Some(value) = self.rest.next() else { return Ok(None) };
        let place = self.place;
        self.place += 1;
        seed.deserialize(ValueReader(value))
            .map(Some)
            .map_err(|error| error.within(Step::Place(place)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The members of an object.
struct Members {
    rest: serde_json::map::IntoIter,
    /// The member whose name was read.
    next: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Members {
    type Error = WrongMember;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, WrongMember> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        let read = seed.deserialize(name.as_str().into_deserializer())?;
        self.next = Some((name, value));
        Ok(Some(read))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, WrongMember> {
        let (name, value) = self.next.take().unwrap_or_default();
        seed.deserialize(ValueReader(value)).map_err(|error| error.within(Step::Member(name)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A value of an enum: its name, and what belongs to it.
struct Variant {
    name: String,
    value: Option<Value>,
}

impl Variant {
    fn of(members: Map<String, Value>) -> Result<Variant, WrongMember> {
        let mut members = members.into_iter();
        match (members.next(), members.next()) {
            (Some((name, value)), None) => Ok(Variant { name, value: Some(value) }),
            _ => Err(WrongMember::invalid_value(Unexpected::Map, &"map with a single key")),
        }
    }

    fn read<T>(self, read: impl FnOnce(Value) -> Result<T, WrongMember>) -> Result<T, WrongMember> {
        let Variant { name, value } = self;
        read(value.unwrap_or_default()).map_err(|error| error.within(Step::Member(name)))
    }
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = WrongMember;
    type Variant = Variant;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Variant), WrongMember> {
        let name = seed.deserialize(self.name.as_str().into_deserializer())?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant {
    type Error = WrongMember;

    fn unit_variant(self) -> Result<(), WrongMember> {
        match self.value {
            None => Ok(()),
            Some(_) => Err(WrongMember::invalid_type(Unexpected::Map, &"a string")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, WrongMember> {
        self.read(|value| seed.deserialize(ValueReader(value)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, WrongMember> {
        self.read(|value| ValueReader(value).deserialize_any(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WrongMember> {
        self.read(|value| ValueReader(value).deserialize_any(visitor))
    }
}
