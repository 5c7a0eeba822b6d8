//! The end of a group of writes, just before COMMIT: each aggregate does the work that the writes deferred.

use model::OpError;
use rusqlite::Connection;

use crate::batch_cache::BatchCache;
use crate::deferred::{DeferredWork, LogWipe};
use crate::error::StoreError;
use crate::index_state::IndexState;
use crate::tx::{Effect, Tx};

/// The consequences of a group of writes, once it is committed.
pub(crate) struct Finished {
    pub(crate) index: IndexState,
    /// Effects of the deferred work, to be run after COMMIT.
    pub(crate) effects: Vec<Effect>,
    /// Whether the log is to be emptied at once.
    pub(crate) wiped: bool,
}

/// Does all deferred work of a group.
pub(crate) fn finish(
    db: &Connection,
    cache: &BatchCache,
    work: DeferredWork,
) -> Result<Finished, StoreError> {
    // Deferred work notes no events, so their time does not matter.
    let tx = Tx::with_deferred(db, cache, 0, work);
    let all = || -> Result<(), OpError> {
        cache.facts.registry.iter().try_for_each(|aggregate| aggregate.before_commit(&tx))
    };
    if let Err(error) = all() {
        return Err(tx.take_fault().unwrap_or(StoreError::Io(error.message)));
    }
    let (mut work, effects, _) = tx.into_rest();
    Ok(Finished { index: work.take(), effects, wiped: work.take::<LogWipe>().0 })
}
