//! engram: observations become memories, prompts become prompts. Deleted observations stay out.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use model::memory::MemoryCategory;
use model::portable::PortableRecord;

use super::rows::{self, ToolDb};
use crate::memory_files::{NewMemory, category_of};
use crate::record_report::{RecordReport, RecordSink};

const NAME: &str = "engram";

pub(super) fn read(
    path: &Path,
    home: &Path,
    sink: &mut RecordSink<'_>,
) -> io::Result<RecordReport> {
    let mut db = ToolDb::open(path)?;
    let places = EngramPlaces::read(&mut db, home)?;
    observations(&mut db, &places, sink)?;
    prompts(&mut db, &places, sink)?;
    Ok(db.report)
}

/// Which directories sessions and projects belong to.
struct EngramPlaces {
    home: String,
    /// The key of the project, and when the session began.
    sessions: HashMap<String, (String, i64)>,
    /// Directories by the names of projects.
    directories: HashMap<String, String>,
}

impl EngramPlaces {
    fn read(db: &mut ToolDb, home: &Path) -> io::Result<EngramPlaces> {
        let home = home.to_string_lossy().into_owned();
        let (mut sessions, mut directories) = (HashMap::new(), HashMap::new());
        let columns = ["id", "project", "directory", "started_at"];
        db.rows("sessions", &columns, "started_at", &mut |row| {
            let id = rows::name(rows::id(row, 0))?;
            let name = rows::name(rows::text(row, 1));
            let directory = rows::name(rows::text(row, 2)).filter(|path| path.starts_with('/'));
            if let (Some(name), Some(directory)) = (&name, &directory) {
                directories.insert(name.clone(), directory.clone());
            }
            let key = directory.or(name).unwrap_or_else(|| home.clone());
            sessions.insert(id, (key, rows::time(row, 3).unwrap_or_default()));
            Some(())
        })?;
        Ok(EngramPlaces { home, sessions, directories })
    }

    /// The key of a row's project.
    fn key(&self, session: Option<&String>, project: Option<String>) -> String {
        let named = project.map(|name| self.directories.get(&name).cloned().unwrap_or(name));
        let of_session = || Some(self.sessions.get(session?)?.0.clone());
        named.or_else(of_session).unwrap_or_else(|| self.home.clone())
    }
}

fn observations(
    db: &mut ToolDb,
    places: &EngramPlaces,
    sink: &mut RecordSink<'_>,
) -> io::Result<()> {
    let columns = [
        "id",
        "session_id",
        "type",
        "title",
        "content",
        "project",
        "scope",
        "topic_key",
        "created_at",
        "updated_at",
        "deleted_at",
    ];
    db.rows("observations", &columns, "id", &mut |row| {
        if rows::id(row, 10).is_some_and(|deleted| !deleted.is_empty()) {
            return Some(());
        }
        let id = rows::id(row, 0)?;
        let at = rows::time(row, 9).or_else(|| rows::time(row, 8))?;
        let project = places.key(rows::id(row, 1).as_ref(), rows::name(rows::text(row, 5)));
        let kind = rows::text(row, 2).unwrap_or_default();
        let parts = [rows::text(row, 3), rows::text(row, 4)].into_iter().flatten();
        let content = parts.collect::<Vec<String>>().join("\n");
        let tags = [Some(kind.clone()), rows::text(row, 7), rows::text(row, 6)];
        let new = NewMemory {
            project: &project,
            at,
            category: category_of(&kind).unwrap_or(MemoryCategory::Fact),
            tags: tags.into_iter().flatten().collect(),
            content: &content,
            source: NAME,
            // A revision replaces the text: it is another memory.
            origin: rows::origin(NAME, &["observation", &id, &content]),
            file: None,
        };
        let memory = new.portable()?;
        sink(rows::project(&project));
        sink(memory);
        Some(())
    })
}

fn prompts(db: &mut ToolDb, places: &EngramPlaces, sink: &mut RecordSink<'_>) -> io::Result<()> {
    let mut begun = HashSet::new();
    let columns = ["id", "session_id", "content", "project", "created_at"];
    db.rows("user_prompts", &columns, "id", &mut |row| {
        let (id, session) = (rows::id(row, 0)?, rows::name(rows::id(row, 1))?);
        let (text, at) = (rows::text(row, 2)?, rows::time(row, 4)?);
        let project = places.key(Some(&session), rows::name(rows::text(row, 3)));
        if begun.insert(session.clone()) {
            let known = places.sessions.get(&session).map(|(_, start)| *start);
            let start = known.filter(|start| *start > 0).unwrap_or(at);
            sink(rows::project(&project));
            sink(rows::session(&session, &project, NAME, (start, at)));
        }
        let origin = rows::origin(NAME, &["prompt", &id, &at.to_string()]);
        sink(PortableRecord::Prompt(rows::prompt(&session, at, &text, origin)));
        Some(())
    })
}
