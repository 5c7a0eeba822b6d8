//! A cache of the records that are read while hits are put in order.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::OpError;
use model::observation::{ObsType, Observation};
use serde_json::Value;
use store::search::{Hit, Hits, TermSet};
use store::{Rx, observations};

/// The records that a search has read, and the terms of the query in them.
#[derive(Default)]
pub(crate) struct RecordsRead {
    /// By id; none for an id whose record is gone.
    records: HashMap<i64, Option<Observation>>,
    /// The terms of the query that records have.
    terms: HashMap<i64, TermSet>,
}

impl RecordsRead {
    /// Reads a record unless that has been done.
    pub(crate) fn read(&mut self, rx: &Rx<'_>, id: i64) -> Result<Option<&Observation>, OpError> {
        Ok(match self.records.entry(id) {
            Entry::Occupied(known) => known.into_mut().as_ref(),
            Entry::Vacant(place) => place.insert(observations::one(rx, id)?).as_ref(),
        })
    }

    /// Reads the record of a hit unless that has been done.
    pub(crate) fn read_hit(
        &mut self,
        rx: &Rx<'_>,
        hit: Hit,
    ) -> Result<Option<&Observation>, OpError> {
        Ok(match self.records.entry(hit.id) {
            Entry::Occupied(known) => known.into_mut().as_ref(),
            Entry::Vacant(place) => {
                place.insert(observations::one_of_kind(rx, hit.id, hit.kind.obs_type())?).as_ref()
            }
        })
    }

    /// Reads the record whose id is that of a turn (the prompt, or a record without a turn), unless that has been done.
    pub(crate) fn read_turn(
        &mut self,
        rx: &Rx<'_>,
        id: i64,
    ) -> Result<Option<&Observation>, OpError> {
        Ok(match self.records.entry(id) {
            Entry::Occupied(known) => known.into_mut().as_ref(),
            Entry::Vacant(place) => {
                place.insert(observations::one_of_kind(rx, id, ObsType::UserPrompt)?).as_ref()
            }
        })
    }

    /// A record that has been read.
    pub(crate) fn get(&self, id: i64) -> Option<&Observation> {
        self.records.get(&id)?.as_ref()
    }

    /// The terms of the query by which a hit is found. The index has less of a summary than its record.
    pub(crate) fn terms_of_hit(
        &mut self,
        rx: &Rx<'_>,
        hits: &Hits,
        hit: &Hit,
    ) -> Result<TermSet, OpError> {
        let kind = hit.kind.obs_type();
        if hit.kind != kind || kind == ObsType::SessionSummary {
            return hits.terms_of(rx, hit.id);
        }
        self.read_hit(rx, *hit)?;
        self.terms(rx, hits, hit.id)
    }

    /// The terms of the query by which a record is found.
    pub(crate) fn terms(&mut self, rx: &Rx<'_>, hits: &Hits, id: i64) -> Result<TermSet, OpError> {
        if let Some(known) = self.terms.get(&id) {
            return Ok(*known);
        }
        let Some(record) = self.read(rx, id)? else { return Ok(TermSet::default()) };
        let metadata = record.metadata.as_ref().unwrap_or(&Value::Null);
        let text = Observation::searched(&record.content, record.file_path.as_deref(), metadata);
        let found = hits.evidence.terms_in(&text);
        self.terms.insert(id, found);
        Ok(found)
    }
}
