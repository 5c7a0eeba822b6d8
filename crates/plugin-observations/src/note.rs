//! Notes on records in lists: how a record relates to others, and whether a hypothesis is proved.

use model::observation::Observation;

/// The relation of a hit to other records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The agent's answer to the prompt with this id.
    Answers(i64),
    /// A commit of the turn of the prompt with this id.
    CameOf(i64),
    /// The hit is a command that failed; this later run of it worked.
    WorkedLater(i64),
    Replaces(i64),
    ReplacedBy(i64),
    /// This newer record changed a part of the hit, but not the part that the question is about.
    PartlyReplacedBy(i64),
}

/// The status of a hypothesis that does not hold or is not proved, so that it does not read as a fact; none for other
/// records.
pub(crate) fn doubt(record: &Observation) -> Option<&'static str> {
    let metadata = record.metadata.as_ref()?;
    metadata.get("ghap")?;
    match metadata.get("status")?.as_str()? {
        "falsified" => Some("falsified: it was believed and is wrong"),
        "abandoned" => Some("abandoned, not proved"),
        "hypothesis" => Some("not proved yet"),
        _ => None,
    }
}

/// The beginning of the note of a hit if nothing that was found is likely to be what was asked for.
pub(crate) const MERELY_SIMILAR: &str = "merely similar";

impl Note {
    pub(crate) fn text(self) -> String {
        match self {
            Note::Answers(id) => format!("answers #{id}"),
            Note::CameOf(id) => format!("resulted from #{id}"),
            Note::WorkedLater(id) => format!("failed, #{id} worked later"),
            Note::Replaces(id) => format!("replaces #{id}"),
            Note::ReplacedBy(id) => format!("replaced by #{id}"),
            Note::PartlyReplacedBy(id) => format!("partly replaced by #{id}"),
        }
    }
}
