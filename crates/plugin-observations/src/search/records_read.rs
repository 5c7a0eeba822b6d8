//! The records that putting hits in order has read: each is read once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::OpError;
use model::observation::Observation;
use serde_json::Value;
use store::search::{Hits, TermSet};
use store::{Rx, observations};

/// Records by id; none for an id whose record is gone.
#[derive(Default)]
pub(super) struct RecordsRead(HashMap<i64, Option<Observation>>);

impl RecordsRead {
    /// Reads a record unless that has been done.
    pub(super) fn read(&mut self, rx: &Rx<'_>, id: i64) -> Result<Option<&Observation>, OpError> {
        Ok(match self.0.entry(id) {
            Entry::Occupied(known) => known.into_mut().as_ref(),
            Entry::Vacant(place) => place.insert(observations::one(rx, id)?).as_ref(),
        })
    }

    /// A record that has been read.
    pub(super) fn get(&self, id: i64) -> Option<&Observation> {
        self.0.get(&id)?.as_ref()
    }

    /// The terms of the query by which a record is found.
    pub(super) fn terms(&mut self, rx: &Rx<'_>, hits: &Hits, id: i64) -> Result<TermSet, OpError> {
        let Some(record) = self.read(rx, id)? else { return Ok(TermSet::default()) };
        let metadata = record.metadata.as_ref().unwrap_or(&Value::Null);
        let text = Observation::searched(&record.content, record.file_path.as_deref(), metadata);
        Ok(hits.evidence.terms_in(&text))
    }
}
