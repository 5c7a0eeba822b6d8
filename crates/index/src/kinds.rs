//! Kinds of records as small numbers: the types of observations first, then the kinds that the registry numbers. Also
//! parses the type names in the database.

use model::observation::ObsType;

/// The kind of a record, as the index has it in memory. The types of observations have the first numbers, in their
/// order; the registry numbers the kinds of further aggregates after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordKind(u8);

impl RecordKind {
    /// The kind with this place in the registry's list; that of an unknown tool if the list is too long.
    pub fn at(place: usize) -> RecordKind {
        u8::try_from(place).map_or(ObsType::ToolOther.into(), RecordKind)
    }

    pub fn place(self) -> usize {
        usize::from(self.0)
    }

    /// Whether it is the kind of a further aggregate. There are few of these records, between many observations.
    pub fn is_further(self) -> bool {
        self.place() >= ObsType::ALL.len()
    }

    /// The type of observation that rules about types apply to. The kind of another aggregate counts as `tool_other`.
    pub fn obs_type(self) -> ObsType {
        ObsType::ALL.get(self.place()).copied().unwrap_or(ObsType::ToolOther)
    }
}

impl From<ObsType> for RecordKind {
    fn from(kind: ObsType) -> RecordKind {
        RecordKind(kind as u8)
    }
}

impl PartialEq<ObsType> for RecordKind {
    fn eq(&self, kind: &ObsType) -> bool {
        *self == RecordKind::from(*kind)
    }
}

/// The type with this name. Only damage leads to a name that this build does not know.
pub fn kind_of(word: &str) -> ObsType {
    ObsType::parse(word).unwrap_or(ObsType::ToolOther)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_observations_survive_their_numbers() {
        for (place, kind) in ObsType::ALL.iter().enumerate() {
            assert_eq!(RecordKind::at(place), *kind);
            assert_eq!(RecordKind::from(*kind).obs_type(), *kind);
        }
        let other = RecordKind::at(ObsType::ALL.len());
        assert!(ObsType::ALL.iter().all(|kind| other != *kind));
        assert_eq!(other.obs_type(), ObsType::ToolOther);
        assert_eq!(RecordKind::at(usize::MAX), ObsType::ToolOther);
    }
}
