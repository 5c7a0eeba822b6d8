//! Strict objects. A derived deserialiser also accepts a list, whose items it assigns to the members in order: a
//! hidden wire format, in which `[]` would clear everything.

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

/// Reads an object or `null`, for `#[serde(deserialize_with = "model::object::optional")]`.
pub fn optional<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::<Object<T>>::deserialize(from)?.map(|object| object.0))
}

struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(MapOnly(from)).map(Object)
    }
}

/// Requires a map for a struct, and passes everything else through.
struct MapOnly<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for MapOnly<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Inner {
        a: u8,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        #[serde(default, deserialize_with = "optional")]
        inner: Option<Inner>,
    }

    #[test]
    fn a_list_is_refused_where_an_object_is_required() {
        let read = |text: &str| serde_json::from_str::<Outer>(text).map(|outer| outer.inner);
        assert_eq!(read(r#"{"inner":{"a":1}}"#).unwrap(), Some(Inner { a: 1 }));
        assert_eq!(read(r#"{"inner":null}"#).unwrap(), None);
        assert_eq!(read("{}").unwrap(), None);
        let error = read(r#"{"inner":[1]}"#).unwrap_err().to_string();
        assert!(error.starts_with("invalid type: sequence, expected struct Inner"), "{error}");
        assert!(read(r#"{"inner":{"a":"x"}}"#).is_err());
    }
}
