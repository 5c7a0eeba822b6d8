//! Writes a scope into a store of its own: each document as a prompt or a mark in its session, as capture would have
//! written it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::project::ProjectFacts;
use model::session::PromptSource;
use model::{OpError, limits};
use store::observations;
use store::plain::Plain;
use store::prompts::{self, NewPrompt};
use store::sessions::{self, Sighting};
use store::{Options, Store, Tx, Write, Written, projects, totals};
use text::secrets::{Profile, Redacted, redact};

use crate::corpus::{DocumentTexts, EvalDocument, EvalScope};

const AGENT: &str = "eval";
/// The name of the project, if the scope has none.
const PROJECT: &str = "eval";

/// A store with the documents of a scope. Its directory is deleted on drop.
pub(crate) struct Indexed {
    pub(crate) store: Store,
    /// The record of each document, and the session of each that has a name, by index.
    pub(crate) records: Vec<i64>,
    pub(crate) sessions: Vec<i64>,
    /// The session of each record.
    pub(crate) session_of: HashMap<i64, i64>,
    /// Growth of the database in bytes, without the texts themselves.
    pub(crate) index_bytes: u64,
    /// The documents in a plain full-text index, if that is measured.
    pub(crate) plain: Option<Plain>,
    project: String,
    folder: PathBuf,
}

impl Indexed {
    /// Writes all documents of the scope. `told` is called for every batch, and may stop the run.
    pub(crate) fn make(
        folder: &Path,
        (scope, texts): (&EvalScope, &mut DocumentTexts<'_>),
        plain: bool,
        clock: fn() -> i64,
        told: &mut dyn FnMut(usize) -> Result<(), OpError>,
    ) -> Result<Indexed, OpError> {
        let options = Options {
            path: folder.join("eval.db"),
            one_shot: false,
            backups: folder.to_owned(),
            records: Vec::new(),
            spools: Vec::new(),
            identity_locks: None,
            page_count_max: None,
            meaning: true,
            more: Vec::new(),
            clock,
        };
        let store = Store::open(options, Box::new(|_, _| Ok(())), Box::new(|_| ()))?;
        let empty = store.read(totals::bytes)?;
        let plain = plain.then(|| Plain::make(&folder.join("plain.db"))).transpose()?;
        let mut indexed = Indexed {
            store,
            records: vec![0; scope.documents.len()],
            sessions: vec![0; scope.sessions],
            session_of: HashMap::new(),
            index_bytes: 0,
            plain,
            project: if scope.name.is_empty() { PROJECT.to_owned() } else { scope.name.clone() },
            folder: folder.to_owned(),
        };
        let mut batch = DocumentBatch::default();
        for document in &scope.documents {
            batch.add(document, &texts.of(document)?);
            if batch.is_full() {
                let full = std::mem::take(&mut batch);
                let count = full.records.len();
                indexed.write(full, clock)?;
                told(count)?;
            }
        }
        let count = batch.records.len();
        indexed.write(batch, clock)?;
        told(count)?;
        indexed.store.catch_up(limits::CARE_DEADLINE);
        indexed.index_bytes = indexed.store.read(|rx| {
            let grown = totals::bytes(rx)?.saturating_sub(empty);
            // A small set fits into the pages of an empty database.
            let beyond = grown.saturating_sub(totals::text_bytes(rx)?);
            Ok(beyond.max(totals::search_bytes(rx)?))
        })?;
        Ok(indexed)
    }

    fn write(&mut self, batch: DocumentBatch, clock: fn() -> i64) -> Result<(), OpError> {
        let DocumentBatch { records, places, .. } = batch;
        let records = Arc::new(records);
        let written = records.clone();
        let write = Write { at: clock(), ..Write::default() };
        let name = self.project.clone();
        let done = self.store.write(write, move |tx| {
            let facts = ProjectFacts { name: name.clone(), ..ProjectFacts::default() };
            let project = projects::resolve(tx, &facts, 0)?.id;
            written.iter().map(|record| record.add(tx, project)).collect::<Result<Vec<_>, _>>()
        })?;
        let Written::Done(ids) = done else {
            return Err(OpError::internal("a write without a call was repeated"));
        };
        if let Some(plain) = &self.plain {
            let texts = records.iter().map(|record| record.text.as_str());
            plain.add(ids.iter().map(|(record, _)| *record).zip(texts))?;
        }
        self.session_of.extend(ids.iter().copied());
        for ((document, session), (record, of)) in places.into_iter().zip(ids) {
            if let Some(place) = self.records.get_mut(document) {
                *place = record;
            }
            if let Some(place) = session.and_then(|session| self.sessions.get_mut(session)) {
                *place = of;
            }
        }
        Ok(())
    }
}

impl Drop for Indexed {
    fn drop(&mut self) {
        self.store.close();
        // The directory of the whole run is deleted too, with everything in it.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Documents that share a transaction.
#[derive(Default)]
struct DocumentBatch {
    records: Vec<NewRecord>,
    /// The indices of each document and of its session.
    places: Vec<(usize, Option<usize>)>,
    bytes: usize,
}

impl DocumentBatch {
    fn add(&mut self, document: &EvalDocument, text: &str) {
        self.bytes += text.len();
        self.places.push((document.number, document.session));
        self.records.push(NewRecord {
            session: match document.session {
                Some(session) => format!("session {session}"),
                None => format!("document {}", document.number),
            },
            at: document.at,
            is_prompt: document.is_prompt,
            text: redact(text, Profile::Strict),
        });
    }

    fn is_full(&self) -> bool {
        self.records.len() >= limits::EVAL_BATCH_DOCUMENTS || self.bytes >= limits::EVAL_BATCH_BYTES
    }
}

/// A document to write.
struct NewRecord {
    session: String,
    at: i64,
    is_prompt: bool,
    text: Redacted<String>,
}

impl NewRecord {
    /// The ids of the record and of its session.
    fn add(&self, tx: &Tx<'_>, project: i64) -> Result<(i64, i64), OpError> {
        let sighting = Sighting {
            name: &self.session,
            agent: AGENT,
            project,
            root: None,
            at: self.at,
            starts: false,
            works: true,
        };
        let session = sessions::touch(tx, &sighting)?.id;
        let id = if self.is_prompt {
            let prompt = NewPrompt {
                session,
                project,
                at: self.at,
                source: PromptSource::User,
                source_event: AGENT,
                content: &self.text,
                agent_prompt_id: None,
            };
            prompts::add(tx, &prompt)?
        } else {
            observations::mark(tx, (session, project), None, &self.text, self.at)?
        };
        Ok((id, session))
    }
}
