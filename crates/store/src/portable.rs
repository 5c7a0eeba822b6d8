//! Records as they are exported and read back: pages of all records in a stable order, and records that are stored as
//! they are, without folding. The texts of a page have passed the secret guard again.

use model::OpError;
use model::limits;
use model::memory::{self, MemoryCategory};
use model::observation::ObsType;
use model::origin::Origin;
use model::portable::{
    ExportPart, ExportPosition, PortableMemory, PortableObservation, PortableProject,
    PortablePrompt, PortableRecord, PortableSession,
};
use model::session::{PromptSource, SessionState};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;
use text::secrets::{Profile, Redacted, redact, redact_json, redact_place};

use crate::aggregate::json_ids;
use crate::cells::Cells as _;
use crate::memories::NewMemory;
use crate::origins::{self, KnownOrigin};
use crate::session_details::{self, SessionDetails};
use crate::tx::{Rx, Tx};
use crate::{memories, passages, paths, projects, record_ids, sessions};

/// The records of an export.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportFilter<'a> {
    /// None for all projects.
    pub projects: Option<&'a [i64]>,
    /// Only records after this time, in milliseconds since 1970.
    pub since: Option<i64>,
}

/// Some records of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportPage {
    pub records: Vec<PortableRecord>,
    /// Where the next page begins; none after the last one.
    pub next: Option<ExportPosition>,
    /// The number of texts with a secret that the guard did not know when they were stored. The secret is redacted
    /// here.
    pub redacted: u64,
}

/// The records of an export from a position on: projects, then each session with its records, then memories.
pub fn page(
    rx: &Rx<'_>,
    filter: &ExportFilter<'_>,
    from: ExportPosition,
) -> Result<ExportPage, OpError> {
    let mut page = PageWork { rx, filter, records: Vec::new(), bytes: 0, redacted: 0 };
    let mut next = Some(from);
    while let Some(position) = next.filter(|_| !page.is_full()) {
        next = match position.part {
            ExportPart::Projects => page.projects(position)?,
            ExportPart::Sessions => page.session(position)?,
            ExportPart::Memories => page.memories(position)?,
        };
    }
    Ok(ExportPage { records: page.records, next, redacted: page.redacted })
}

/// A page that is being read.
struct PageWork<'a, 'db> {
    rx: &'a Rx<'db>,
    filter: &'a ExportFilter<'a>,
    records: Vec<PortableRecord>,
    bytes: usize,
    redacted: u64,
}

impl PageWork<'_, '_> {
    fn is_full(&self) -> bool {
        self.records.len() >= limits::EXPORT_PAGE_RECORDS || self.bytes >= limits::EXPORT_PAGE_BYTES
    }

    fn push(&mut self, record: PortableRecord) {
        self.records.push(record);
    }

    fn wanted_projects(&self) -> Option<String> {
        self.filter.projects.map(|ids| json_ids(ids.iter().copied()))
    }

    /// A text that the guard checks again.
    fn safe(&mut self, stored: &str, profile: Profile) -> Redacted<String> {
        let safe = redact(stored, profile);
        self.bytes += stored.len();
        self.redacted += u64::from(safe.as_str() != stored);
        safe
    }

    fn safe_place(&mut self, stored: &str) -> Redacted<String> {
        let safe = redact_place(stored, Profile::Strict);
        self.redacted += u64::from(safe.as_str() != stored);
        safe
    }

    fn safe_json(&mut self, stored: &str) -> Option<Redacted<Value>> {
        let value: Value = serde_json::from_str(stored).ok()?;
        let safe = redact_json(value.clone(), Profile::Strict);
        self.bytes += stored.len();
        self.redacted += u64::from(*safe != value);
        Some(safe)
    }

    /// The next projects that have a session or a memory.
    fn projects(&mut self, from: ExportPosition) -> Result<Option<ExportPosition>, OpError> {
        const PROJECTS: &str = "SELECT id, key, name, root, created_at FROM projects p \
             WHERE id > ?1 AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2))) \
             AND (EXISTS (SELECT 1 FROM sessions s WHERE s.project = p.id AND s.last_at > ?3) \
             OR EXISTS (SELECT 1 FROM memories m WHERE m.project = p.id AND m.at > ?3)) \
             ORDER BY id LIMIT ?4";
        type ProjectRow = (i64, String, String, Option<String>, i64);
        let given = params![from.id, self.wanted_projects(), self.since(), PAGE_ROWS];
        let read = |row: &Row<'_>| {
            Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?, row.cell(3)?, row.cell(4)?))
        };
        let rows: Vec<ProjectRow> =
            self.rx.sql(|db| db.prepare_cached(PROJECTS)?.query_map(given, read)?.collect())?;
        let last = rows.last().map(|row| row.0);
        for (id, key, name, root, created_at) in rows {
            let mut aliases = projects::aliases(self.rx, id)?;
            aliases.retain(|alias| *alias != key);
            let aliases = aliases.iter().map(|alias| self.safe_place(alias).into_inner()).collect();
            let root = root.map(|root| self.safe_place(&root).into_inner());
            let key = self.safe_place(&key).into_inner();
            let project = PortableProject { key, name, root, aliases, created_at };
            self.push(PortableRecord::Project(project));
        }
        Ok(Some(match last {
            Some(id) => ExportPosition { id, ..from },
            None => ExportPosition { part: ExportPart::Sessions, ..ExportPosition::default() },
        }))
    }

    fn since(&self) -> i64 {
        self.filter.since.unwrap_or(i64::MIN)
    }

    /// The next session, or more records of the current one.
    fn session(&mut self, from: ExportPosition) -> Result<Option<ExportPosition>, OpError> {
        if from.session > 0 {
            return Ok(Some(self.session_records(from)?));
        }
        const NEXT: &str = "SELECT id FROM sessions WHERE id > ?1 AND last_at > ?3 \
             AND (?2 IS NULL OR project IN (SELECT value FROM json_each(?2))) \
             ORDER BY id LIMIT 1";
        let given = params![from.id, self.wanted_projects(), self.since()];
        let next: Option<i64> = self
            .rx
            .sql(|db| db.prepare_cached(NEXT)?.query_row(given, |row| row.cell(0)).optional())?;
        let Some(session) = next else {
            let part = ExportPart::Memories;
            return Ok(Some(ExportPosition { part, ..ExportPosition::default() }));
        };
        self.session_line(session)?;
        Ok(Some(ExportPosition { session, at: i64::MIN, id: 0, ..from }))
    }

    fn session_line(&mut self, id: i64) -> Result<(), OpError> {
        const LINE: &str = "SELECT s.name, p.key, s.agent, s.root, \
             (SELECT name FROM sessions t WHERE t.id = s.parent), s.started_at, s.last_at, \
             s.ended_at, s.state, s.pinned, s.signature, s.summary \
             FROM sessions s JOIN projects p ON p.id = s.project WHERE s.id = ?1";
        let details = session_details::of_session(self.rx, id)?;
        let start = session_details::last_start(self.rx, id)?;
        let rx = self.rx;
        let found = rx.sql(|db| {
            let mut select = db.prepare_cached(LINE)?;
            let mut rows = select.query([id])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let key: String = row.cell(1)?;
            let root: Option<String> = row.cell(3)?;
            let state = SessionState::parse(&row.text(8)?);
            let signature = row.text_or_null(10)?.and_then(|text| serde_json::from_str(&text).ok());
            let summary = row.text_or_null(11)?.map(|text| self.safe_json(&text));
            Ok(Some(PortableSession {
                id: row.cell(0)?,
                project: self.safe_place(&key).into_inner(),
                agent: row.cell(2)?,
                root: root.map(|root| self.safe_place(&root)),
                parent: row.cell(4)?,
                started_at: row.cell(5)?,
                last_at: row.cell(6)?,
                ended_at: row.cell(7)?,
                state: state.unwrap_or(SessionState::Ended),
                pinned: row.cell(9)?,
                label: details.label.as_ref().map(|label| self.safe(label, Profile::Strict)),
                env_hint: details.env_hint.as_ref().map(|hint| self.safe(hint, Profile::Strict)),
                cwd: start.cwd.as_ref().map(|cwd| self.safe_place(cwd)),
                model: start.model.clone(),
                summary: summary.flatten(),
                signature: signature.unwrap_or_default(),
            }))
        })?;
        if let Some(session) = found {
            self.push(PortableRecord::Session(Box::new(session)));
        }
        Ok(())
    }

    /// Further prompts and observations of a session in the order of their times.
    fn session_records(&mut self, from: ExportPosition) -> Result<ExportPosition, OpError> {
        const RECORDS: &str = "SELECT at, id, 1 FROM prompts WHERE session = ?1 \
             AND at > ?5 AND (at, id) > (?2, ?3) \
             UNION ALL SELECT at, id, 0 FROM observations WHERE session = ?1 \
             AND at > ?5 AND (at, id) > (?2, ?3) ORDER BY at, id LIMIT ?4";
        let given = params![from.session, from.at, from.id, PAGE_ROWS, self.since()];
        let read = |row: &Row<'_>| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?));
        let rows: Vec<(i64, i64, bool)> =
            self.rx.sql(|db| db.prepare_cached(RECORDS)?.query_map(given, read)?.collect())?;
        let mut last = from;
        for (at, id, is_prompt) in &rows {
            match is_prompt {
                true => self.prompt(*id)?,
                false => self.observation(*id)?,
            }
            last = ExportPosition { at: *at, id: *id, ..from };
            if self.is_full() {
                return Ok(last);
            }
        }
        // The next session is the one after this.
        Ok(match rows.len() < PAGE_ROWS {
            true => ExportPosition { session: 0, at: 0, id: from.session, ..from },
            false => last,
        })
    }

    fn prompt(&mut self, id: i64) -> Result<(), OpError> {
        const PROMPT: &str = "SELECT s.name, q.at, q.source, q.source_event, q.content, \
             q.agent_prompt_id, q.actions, q.pinned FROM prompts q \
             JOIN sessions s ON s.id = q.session WHERE q.id = ?1";
        let origins = self.origins(id, &OriginOf::PROMPT)?;
        let rx = self.rx;
        let found = rx.sql(|db| {
            let mut select = db.prepare_cached(PROMPT)?;
            let mut rows = select.query([id])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            Ok(Some(PortablePrompt {
                session: row.cell(0)?,
                at: row.cell(1)?,
                source: PromptSource::parse(&row.text(2)?).unwrap_or(PromptSource::Agent),
                event: row.cell(3)?,
                content: self.safe(&row.text(4)?, Profile::Strict),
                agent_prompt_id: row.cell(5)?,
                actions: row.cell(6)?,
                pinned: row.cell(7)?,
                origins,
            }))
        })?;
        if let Some(prompt) = found {
            self.push(PortableRecord::Prompt(prompt));
        }
        Ok(())
    }

    fn observation(&mut self, id: i64) -> Result<(), OpError> {
        const OBSERVATION: &str = "SELECT s.name, o.prompt, o.at, o.kind, o.source_event, o.tool, \
             f.path, o.content, o.metadata, o.failed, o.pinned, o.agent_id, o.count, o.last_at \
             FROM observations o JOIN sessions s ON s.id = o.session \
             LEFT JOIN paths f ON f.id = o.file WHERE o.id = ?1";
        let origins = self.origins(id, &OriginOf::OBSERVATION)?;
        let rx = self.rx;
        let found = rx.sql(|db| {
            let mut select = db.prepare_cached(OBSERVATION)?;
            let mut rows = select.query([id])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let Some(kind) = ObsType::parse(&row.text(3)?) else { return Ok(None) };
            let prompt: Option<i64> = row.cell(1)?;
            let file: Option<String> = row.cell(6)?;
            let metadata = row.text_or_null(8)?.map(|text| self.safe_json(&text));
            let one = PortableObservation {
                session: row.cell(0)?,
                prompt: None,
                at: row.cell(2)?,
                kind,
                event: row.cell(4)?,
                tool: row.cell(5)?,
                file: file.map(|file| self.safe_place(&file)),
                content: self.safe(&row.text(7)?, profile(kind)),
                metadata: metadata.flatten(),
                failed: row.cell(9)?,
                pinned: row.cell(10)?,
                agent_id: row.cell(11)?,
                count: row.cell(12)?,
                last_at: row.cell(13)?,
                origins,
            };
            Ok(Some((one, prompt)))
        })?;
        if let Some((mut one, prompt)) = found {
            let cause = prompt.map(|prompt| self.origins(prompt, &OriginOf::PROMPT)).transpose()?;
            one.prompt = cause.and_then(|origins| origins.into_iter().next());
            self.push(PortableRecord::Observation(Box::new(one)));
        }
        Ok(())
    }

    /// The origins of a record. For a record without an origin, one is derived from its session, time, kind, text, and
    /// position among equal records.
    fn origins(&self, id: i64, of: &OriginOf) -> Result<Vec<String>, OpError> {
        let stored = origins::all_of(self.rx, id)?;
        if !stored.is_empty() {
            return Ok(stored.iter().map(Origin::to_string).collect());
        }
        let read = |row: &Row<'_>| {
            let (session, at, kind): (String, i64, String) =
                (row.cell(0)?, row.cell(1)?, row.cell(2)?);
            Ok((session, at, kind, row.cell::<String>(3)?, row.cell::<i64>(4)?))
        };
        let found = self.rx.sql(|db| db.prepare_cached(of.0)?.query_row([id], read).optional())?;
        let Some((session, at, kind, content, place)) = found else { return Ok(Vec::new()) };
        let parts = ["export", &session, &at.to_string(), &kind, &content, &place.to_string()];
        Ok(vec![Origin::of(&parts).to_string()])
    }

    fn memories(&mut self, from: ExportPosition) -> Result<Option<ExportPosition>, OpError> {
        const MEMORIES: &str = "SELECT m.id, m.uuid, p.key, m.root, \
             (SELECT name FROM sessions s WHERE s.id = m.stored_in), m.at, m.category, \
             m.importance, m.tags, m.content, t.source, t.file FROM memories m \
             JOIN projects p ON p.id = m.project LEFT JOIN memory_sources t ON t.id = m.id \
             WHERE m.id > ?1 AND m.at > ?3 \
             AND (?2 IS NULL OR m.project IN (SELECT value FROM json_each(?2))) \
             ORDER BY m.id LIMIT ?4";
        let given = params![from.id, self.wanted_projects(), self.since(), PAGE_ROWS];
        let rx = self.rx;
        let found: Vec<(i64, PortableMemory)> = rx.sql(|db| {
            let mut select = db.prepare_cached(MEMORIES)?;
            let mut rows = select.query(given)?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push((row.cell(0)?, self.memory(row)?));
            }
            Ok(found)
        })?;
        let last = found.last().map(|(id, _)| *id);
        for (id, mut memory) in found {
            memory.supersedes = memories::superseded_uuids(self.rx, id)?;
            let origins = origins::all_of(self.rx, id)?;
            // A memory that was stored here is known by its id.
            let own = Origin::of(&["memory", &memory.id]);
            let origins = origins.iter().filter(|origin| **origin != own);
            memory.origins = origins.map(Origin::to_string).collect();
            self.push(PortableRecord::Memory(memory));
        }
        Ok(last.map(|id| ExportPosition { id, ..from }))
    }

    fn memory(&mut self, row: &Row<'_>) -> rusqlite::Result<PortableMemory> {
        let (key, root): (String, Option<String>) = (row.cell(2)?, row.cell(3)?);
        let tags: Vec<String> = serde_json::from_str(&row.text(8)?).unwrap_or_default();
        let file: Option<[u8; 16]> = row.cell(11)?;
        Ok(PortableMemory {
            id: row.cell(1)?,
            project: self.safe_place(&key).into_inner(),
            root: root.map(|root| self.safe_place(&root)),
            session: row.cell(4)?,
            at: row.cell(5)?,
            category: MemoryCategory::parse(&row.text(6)?).unwrap_or(MemoryCategory::Fact),
            importance: row.cell(7)?,
            tags: tags.iter().map(|tag| self.safe(tag, Profile::Declared).into_inner()).collect(),
            content: self.safe(&row.text(9)?, Profile::Declared).into_inner(),
            supersedes: Vec::new(),
            source: row.cell(10)?,
            file: file.map(|file| Origin(file).to_string()),
            origins: Vec::new(),
        })
    }
}

/// Rows that one query of a page reads.
const PAGE_ROWS: usize = 200;

/// The query for the parts of a record that make its origin: session, time, kind, text, and the number of earlier records
/// that are equal in these.
struct OriginOf(&'static str);

impl OriginOf {
    const PROMPT: OriginOf = OriginOf(
        "SELECT s.name, q.at, 'user_prompt', q.content, (SELECT count(*) FROM prompts e \
         WHERE e.session = q.session AND e.at = q.at AND e.content = q.content AND e.id < q.id) \
         FROM prompts q JOIN sessions s ON s.id = q.session WHERE q.id = ?1",
    );
    const OBSERVATION: OriginOf = OriginOf(
        "SELECT s.name, o.at, o.kind, o.content, (SELECT count(*) FROM observations e \
         WHERE e.session = o.session AND e.at = o.at AND e.kind = o.kind \
         AND e.content = o.content AND e.id < o.id) \
         FROM observations o JOIN sessions s ON s.id = o.session WHERE o.id = ?1",
    );
}

/// The guard's rules for the text of an observation. A user declares marks.
fn profile(kind: ObsType) -> Profile {
    match kind {
        ObsType::Marker => Profile::Declared,
        _ => Profile::Strict,
    }
}

/// Whether a record is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    New(i64),
    Known,
    /// The user purged it.
    Forgotten,
}

/// The import that adds records.
#[derive(Clone, Copy, Debug)]
pub struct RecordBatch {
    pub id: i64,
    /// Whether records that the user purged are stored again.
    pub again: bool,
    /// By how much the time of a record may differ from that of a stored one with equal text, in milliseconds. 0 for an
    /// export, whose records have the origins of the stored ones, if these have any.
    pub tolerance_ms: i64,
}

impl RecordBatch {
    /// `Known` if a record with one of these origins is stored, `Forgotten` if it was purged and this import does not
    /// store it again; else none.
    fn known(self, rx: &Rx<'_>, origins: &[Origin]) -> Result<Option<Placed>, OpError> {
        let mut forgotten = None;
        for origin in origins {
            match origins::find(rx, *origin)? {
                Some(KnownOrigin::Stored(_)) => return Ok(Some(Placed::Known)),
                Some(KnownOrigin::Forgotten) if !self.again => forgotten = Some(Placed::Forgotten),
                _ => {}
            }
        }
        Ok(forgotten)
    }

    fn remember(self, tx: &Tx<'_>, origins: &[Origin], record: i64) -> Result<(), OpError> {
        origins.iter().try_for_each(|origin| origins::add(tx, *origin, record, Some(self.id)))
    }
}

fn parsed(origins: &[String]) -> Vec<Origin> {
    origins.iter().filter_map(|origin| Origin::parse(origin)).collect()
}

/// Stores the session of an exported line, unless it is known. Returns its id in the store and whether it is new.
pub fn put_session(
    tx: &Tx<'_>,
    new: &PortableSession,
    project: i64,
) -> Result<(i64, bool), OpError> {
    const ADD: &str = "INSERT INTO sessions (id, name, project, agent, root, parent, started_at, \
         last_at, ended_at, state, pinned, signature) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    if let Some(known) = sessions::id_of(tx, &new.id)? {
        return Ok((known, false));
    }
    let parent = new.parent.as_deref().map(|name| sessions::id_of(tx, name)).transpose()?;
    let id = record_ids::next(tx)?;
    let signature = serde_json::to_string(&new.signature).ok().filter(|_| new.summary.is_some());
    let given = params![
        id,
        new.id,
        project,
        new.agent,
        new.root.as_ref().map(|root| root.as_str()),
        parent.flatten(),
        new.started_at,
        new.last_at.max(new.started_at),
        new.ended_at,
        new.state.word(),
        new.pinned,
        signature,
    ];
    tx.sql(|db| db.prepare_cached(ADD)?.execute(given))?;
    if let Some(summary) = &new.summary {
        sessions::set_summary(tx, id, Some(&sessions::summary_of(&summary.to_string())))?;
    }
    if new.label.is_some() || new.env_hint.is_some() {
        let text = |text: &Option<Redacted<String>>| text.as_ref().map(|text| text.to_string());
        let (label, env_hint) = (text(&new.label), text(&new.env_hint));
        session_details::put(
            tx,
            id,
            &SessionDetails { label, env_hint, ..SessionDetails::default() },
        )?;
    }
    if new.cwd.is_some() || new.model.is_some() {
        session_details::note_start(tx, id, new.cwd.as_ref(), new.model.as_deref())?;
    }
    Ok((id, true))
}

/// Stores a prompt of a session, unless it is known.
pub fn put_prompt(
    tx: &Tx<'_>,
    new: &PortablePrompt,
    (session, project): (i64, i64),
    batch: RecordBatch,
) -> Result<Placed, OpError> {
    const SAME: &str = "SELECT 1 FROM prompts q WHERE session = ?1 \
         AND at BETWEEN ?2 - ?4 AND ?2 + ?4 AND content = ?3 AND NOT EXISTS \
         (SELECT 1 FROM origins WHERE record = q.id AND (?4 = 0 OR batch = ?5)) LIMIT 1";
    const NAMED: &str = "SELECT 1 FROM prompts WHERE session = ?1 AND agent_prompt_id = ?2";
    const ADD: &str = "INSERT INTO prompts (id, session, project, at, source, source_event, content, \
         agent_prompt_id, actions, pinned) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let origins = parsed(&new.origins);
    if let Some(known) = batch.known(tx, &origins)? {
        return Ok(known);
    }
    let same = params![session, new.at, new.content.as_str(), batch.tolerance_ms, batch.id];
    let is_known = tx.sql(|db| {
        Ok(db.prepare_cached(SAME)?.exists(same)?
            || db.prepare_cached(NAMED)?.exists(params![session, new.agent_prompt_id])?)
    })?;
    if is_known {
        return Ok(Placed::Known);
    }
    let id = record_ids::next(tx)?;
    let given = params![
        id,
        session,
        project,
        new.at,
        new.source.word(),
        new.event,
        new.content.as_str(),
        new.agent_prompt_id,
        new.actions,
        new.pinned,
    ];
    tx.sql(|db| db.prepare_cached(ADD)?.execute(given))?;
    passages::add(tx, id)?;
    batch.remember(tx, &origins, id)?;
    Ok(Placed::New(id))
}

/// Stores an observation of a session, unless it is known.
pub fn put_observation(
    tx: &Tx<'_>,
    new: &PortableObservation,
    (session, project): (i64, i64),
    batch: RecordBatch,
) -> Result<Placed, OpError> {
    const SAME: &str = "SELECT 1 FROM observations o WHERE session = ?1 \
         AND at BETWEEN ?2 - ?4 AND ?2 + ?4 AND content = ?3 AND kind = ?6 AND NOT EXISTS \
         (SELECT 1 FROM origins WHERE record = o.id AND (?4 = 0 OR batch = ?5)) LIMIT 1";
    const ADD: &str = "INSERT INTO observations (id, session, project, prompt, at, kind, \
         source_event, tool, file, content, metadata, failed, pinned, agent_id, count, last_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
    let origins = parsed(&new.origins);
    if let Some(known) = batch.known(tx, &origins)? {
        return Ok(known);
    }
    let content = redact(&new.content, profile(new.kind));
    let RecordBatch { tolerance_ms, id: of_batch, .. } = batch;
    let same = params![session, new.at, content.as_str(), tolerance_ms, of_batch, new.kind.word()];
    if tx.sql(|db| db.prepare_cached(SAME)?.exists(same))? {
        return Ok(Placed::Known);
    }
    let cause = new.prompt.as_deref().and_then(Origin::parse);
    let prompt = match cause.map(|cause| origins::find(tx, cause)).transpose()?.flatten() {
        Some(KnownOrigin::Stored(prompt)) => Some(prompt),
        _ => None,
    };
    let file = new.file.as_ref().map(|file| paths::intern(tx, file)).transpose()?;
    let id = record_ids::next(tx)?;
    let given = params![
        id,
        session,
        project,
        prompt,
        new.at,
        new.kind.word(),
        new.event,
        new.tool,
        file,
        content.as_str(),
        new.metadata.as_ref().map(|metadata| metadata.to_string()),
        new.failed,
        new.pinned,
        new.agent_id,
        new.count.max(1),
        new.last_at,
    ];
    tx.sql(|db| db.prepare_cached(ADD)?.execute(given))?;
    if !new.kind.is_mark() {
        passages::add(tx, id)?;
    }
    batch.remember(tx, &origins, id)?;
    Ok(Placed::New(id))
}

/// The texts of a memory to be stored. The caller has rejected secrets in them.
pub struct MemoryTexts {
    pub content: Redacted<String>,
    pub tags: Vec<Redacted<String>>,
}

/// Stores a memory, unless it is known.
pub fn put_memory(
    tx: &Tx<'_>,
    new: &PortableMemory,
    texts: &MemoryTexts,
    project: i64,
    batch: RecordBatch,
) -> Result<Placed, OpError> {
    let mut origins = parsed(&new.origins);
    let uuid = match (new.id.as_str(), origins.first()) {
        ("", Some(origin)) => memory::id_of(origin.0),
        (id, _) => memory::read_id("id", id)?,
    };
    if origins.is_empty() {
        origins.push(Origin::of(&["memory", &uuid]));
    }
    let known = batch.known(tx, &origins)?;
    let stored = memories::by_uuid(tx, &uuid)?;
    if let (Some(stored), Some(source)) = (&stored, &new.source) {
        memories::rename_source(tx, stored.id, source)?;
    }
    if let Some(known) = known.or(stored.map(|_| Placed::Known)) {
        return Ok(known);
    }
    let stored_in = new.session.as_deref().map(|name| sessions::id_of(tx, name)).transpose()?;
    let row = NewMemory {
        project,
        stored_in: stored_in.flatten(),
        root: new.root.as_ref().map(|root| root.as_str()),
        at: new.at,
        category: new.category,
        importance: new.importance,
        tags: &texts.tags,
        content: &texts.content,
    };
    let id = memories::add_with_uuid(tx, &row, &uuid)?;
    for old in &new.supersedes {
        if let Some(old) = memories::by_uuid(tx, old)? {
            memories::supersede(tx, &old, id)?;
        }
    }
    let file = new.file.as_deref().and_then(Origin::parse);
    memories::set_source(tx, id, new.source.as_deref(), file)?;
    batch.remember(tx, &origins, id)?;
    Ok(Placed::New(id))
}
