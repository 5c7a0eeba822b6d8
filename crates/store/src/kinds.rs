//! Kinds of records by the words that the database has for them.

use model::observation::ObsType;

/// The type with this name. Only damage leads to a name that this build does not know.
pub(crate) fn kind_of(word: &str) -> ObsType {
    ObsType::parse(word).unwrap_or(ObsType::ToolOther)
}
