//! Rows of other tools' databases, whose columns come and go between versions.

use std::io;
use std::path::Path;

use model::origin::Origin;
use model::portable::{PortableProject, PortablePrompt, PortableRecord, PortableSession};
use model::session::PromptSource;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use text::secrets::{Profile, redact};

use crate::foreign_db::{self, DbProblem, ForeignDb};
use crate::memory_files;
use crate::record_report::RecordReport;
use crate::rows::Problem;

/// A database of a tool.
pub(super) struct ToolDb {
    db: ForeignDb,
    pub(super) report: RecordReport,
}

impl ToolDb {
    pub(super) fn open(path: &Path) -> io::Result<ToolDb> {
        let db = ForeignDb::open(path).map_err(|problem| failed(&problem))?;
        let cursor = crate::record_report::cursor_of(path).ok();
        Ok(ToolDb { db, report: RecordReport { cursor, ..RecordReport::default() } })
    }

    /// Hands over the rows of a table. A column that the table lacks is NULL; without the table there are no rows. A row
    /// that `each` refuses is counted.
    pub(super) fn rows(
        &mut self,
        table: &str,
        columns: &[&str],
        order: &str,
        each: &mut dyn FnMut(&Row<'_>) -> Option<()>,
    ) -> io::Result<()> {
        let known = self.db.columns(table).map_err(|problem| failed(&problem))?;
        if known.is_empty() {
            return Ok(());
        }
        let column = |name: &&str| match known.iter().any(|known| known == name) {
            true => (*name).to_owned(),
            false => "NULL".to_owned(),
        };
        let columns: Vec<String> = columns.iter().map(column).collect();
        let order = if known.iter().any(|known| known == order) { order } else { "1" };
        let select = format!("SELECT {} FROM {table} ORDER BY {order}", columns.join(", "));
        let mut refused = (0, 0);
        let read = self.db.read(&mut |db| {
            refused = (0, 0);
            let mut select = db.prepare(&select)?;
            let mut rows = select.query([])?;
            let mut number = 0;
            while let Some(row) = rows.next()? {
                number += 1;
                if each(row).is_none() {
                    refused = (if refused.1 == 0 { number } else { refused.0 }, refused.1 + 1);
                }
            }
            Ok(())
        });
        for _ in 0..refused.1 {
            self.report.problem(Problem::Malformed, refused.0);
        }
        read.map_err(|problem| failed(&problem))
    }
}

fn failed(problem: &DbProblem) -> io::Error {
    io::Error::other(problem.to_string())
}

pub(super) fn text(row: &Row<'_>, column: usize) -> Option<String> {
    foreign_db::text(row, column).filter(|text| !text.trim().is_empty())
}

/// A number as text, or a text: some versions store ids as numbers, some as text.
pub(super) fn id(row: &Row<'_>, column: usize) -> Option<String> {
    foreign_db::text(row, column)
        .or_else(|| foreign_db::integer(row, column).map(|number| number.to_string()))
}

/// A time in milliseconds since 1970 from a number of seconds or milliseconds, or from a text in UTC.
pub(super) fn time(row: &Row<'_>, column: usize) -> Option<i64> {
    /// Seconds of the year 5138; greater numbers are milliseconds.
    const SECONDS_MAX: i64 = 100_000_000_000;
    let of_number = |number: i64| match number.abs() < SECONDS_MAX {
        true => number.saturating_mul(1_000),
        false => number,
    };
    match row.get_ref(column).ok()? {
        ValueRef::Integer(number) => Some(of_number(number)),
        #[expect(clippy::cast_possible_truncation, reason = "a time fits, and `as` saturates")]
        ValueRef::Real(number) if number.abs() < SECONDS_MAX as f64 => {
            Some((number * 1_000.0) as i64)
        }
        ValueRef::Text(bytes) => utc(std::str::from_utf8(bytes).ok()?),
        _ => None,
    }
}

/// `2026-11-18 09:12:00` or RFC 3339.
pub(super) fn utc(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<i64>() {
        return Some(seconds.saturating_mul(1_000));
    }
    let text = text.replacen(' ', "T", 1);
    let has_zone =
        text.ends_with('Z') || text.get(19..).is_some_and(|rest| rest.contains(['+', '-']));
    let text = if text.len() == 10 { format!("{text}T00:00:00") } else { text };
    model::time::parse_rfc3339(&if has_zone { text } else { format!("{text}Z") })
}

pub(super) fn origin(tool: &str, parts: &[&str]) -> Origin {
    let parts: Vec<&str> = [tool].iter().chain(parts).copied().collect();
    Origin::of(&parts)
}

/// The line about a project that is named by a directory or by its name.
pub(super) fn project(key: &str) -> PortableRecord {
    if key.starts_with('/') {
        return memory_files::project(key);
    }
    PortableRecord::Project(PortableProject {
        key: key.to_owned(),
        name: key.to_owned(),
        ..PortableProject::default()
    })
}

/// A session of another tool, which is over.
pub(super) fn session(id: &str, project: &str, agent: &str, times: (i64, i64)) -> PortableRecord {
    PortableRecord::Session(Box::new(PortableSession::ended(id, project, agent, times)))
}

/// A prompt of the user.
pub(super) fn prompt(session: &str, at: i64, text: &str, origin: Origin) -> PortablePrompt {
    PortablePrompt {
        session: session.to_owned(),
        at,
        source: PromptSource::User,
        event: "import".to_owned(),
        content: redact(text, Profile::Strict),
        agent_prompt_id: None,
        actions: 0,
        pinned: false,
        origins: vec![origin.to_string()],
    }
}

/// A list that is stored as JSON.
pub(super) fn list(text: Option<String>) -> Vec<String> {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// A name that lines can have; none if it is empty, too long or has control characters.
pub(super) fn name(text: Option<String>) -> Option<String> {
    text.filter(|name| {
        !name.trim().is_empty()
            && name.len() <= model::limits::HOOK_NAME_BYTES_MAX
            && !name.chars().any(char::is_control)
    })
}
