//! The calls by which an import asks the daemon and sends to it.

use std::collections::BTreeMap;

use model::import::{FileCursor, ImportCounts, ProjectImport};
use model::{Code, OpError, Road};
use serde::Deserialize;
use serde_json::json;

use crate::calls;

/// Bytes of the events of one call. It has to fit in a line of the socket.
pub(super) const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The answer of the daemon to events or records.
#[derive(Deserialize)]
pub(super) struct SentBatch {
    pub(super) batch: Option<i64>,
    pub(super) counts: ImportCounts,
    pub(super) projects: BTreeMap<String, ProjectImport>,
    /// How many of the last events have to be sent again, because hooks or searches come first.
    #[serde(default)]
    pub(super) left: usize,
}

/// How far files were imported before, by the hashes of their paths. A database that `--db` names and that does not
/// exist knows no file; the import creates it.
pub(super) fn known_cursors(road: &dyn Road, files: &[String]) -> Result<Vec<FileCursor>, OpError> {
    #[derive(Deserialize)]
    struct Known {
        cursors: Vec<FileCursor>,
    }
    match road.call(calls::request("import_cursors", json!({ "files": files }))) {
        Ok(reply) => Known::deserialize(&reply)
            .map(|known| known.cursors)
            .map_err(|error| OpError::internal(error.to_string())),
        Err(error) if error.code == Code::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
