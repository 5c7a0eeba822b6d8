//! Ids of records as people and models write them: `24`, `"24"`, `"#24"`, `"obs://24"`.
//!
//! The schema says integer: that is the form to prefer. The others are what our own tables and entries
//! print, so that an id can be pasted as it was shown.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads one id.
pub(crate) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    Ok(WrittenId::deserialize(from)?.0)
}

/// Reads an id that may be null.
pub(crate) fn maybe_one<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Ok(Option::<WrittenId>::deserialize(from)?.map(|id| id.0))
}

/// Reads a list of ids.
pub(crate) fn many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<i64>, D::Error> {
    Ok(Vec::<WrittenId>::deserialize(from)?.into_iter().map(|id| id.0).collect())
}

/// Reads a list of ids that may be null.
pub(crate) fn some<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<i64>>, D::Error> {
    let ids = Option::<Vec<WrittenId>>::deserialize(from)?;
    Ok(ids.map(|ids| ids.into_iter().map(|id| id.0).collect()))
}

struct WrittenId(i64);

impl<'de> Deserialize<'de> for WrittenId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<WrittenId, D::Error> {
        from.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = WrittenId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a record, such as 24")
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<WrittenId, E> {
        Ok(WrittenId(id))
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<WrittenId, E> {
        i64::try_from(id).map(WrittenId).map_err(|_| E::custom("no record has an id that large"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<WrittenId, E> {
        let digits = text.strip_prefix('#').or_else(|| text.strip_prefix("obs://")).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let id = if is_number { digits.parse().ok() } else { None };
        id.map(WrittenId).ok_or_else(|| {
            let shown = text::one_line(text, 60);
            E::custom(format!("'{shown}' is not the id of a record; write 24, #24 or obs://24"))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_id_is_read_as_our_tables_and_entries_print_it() {
        for written in [json!(24), json!("24"), json!("#24"), json!("obs://24")] {
            assert_eq!(one(&written).ok(), Some(24), "{written}");
        }
        assert_eq!(many(&json!([3, "#4", "obs://5"])).unwrap(), [3, 4, 5]);
        assert_eq!(some(&Value::Null).unwrap(), None);
        for wrong in
            ["", "#", "obs://", "##24", "hint://24", "-24", "#-24", "2 4", "99999999999999999999"]
        {
            let error = one(&json!(wrong)).unwrap_err().to_string();
            assert!(error.contains("is not the id of a record"), "{wrong}: {error}");
        }
        for wrong in [json!(1.5), json!(true), json!(null), json!(u64::MAX)] {
            assert!(one(&wrong).is_err(), "{wrong}");
        }
    }
}
