//! The sections of a briefing, in their order.

use contract::Candidate;
use model::OpError;
use place::Scope;

use super::reader::BriefingReader;
use super::sections::SectionWriter;
use super::work::RecentWork;
use super::{files_in_progress, learned, others, past_sessions, this_session};

/// The rows of the own projects, and of others that have to do with them.
pub(super) fn candidates(
    brief: &BriefingReader<'_>,
    scope: &Scope,
    elsewhere: Option<&[i64]>,
) -> Result<Vec<Candidate>, OpError> {
    if scope.is_all() {
        return others::all(brief, elsewhere.unwrap_or_default());
    }
    let own = scope.ids().unwrap_or_default();
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let mut writer = SectionWriter::new(brief, RecentWork::read(brief, &own)?)?;
    writer.marked(&own)?;
    this_session::add(&mut writer)?;
    writer.open()?;
    past_sessions::add(&mut writer)?;
    learned::add(&mut writer);
    files_in_progress::add(&mut writer);
    if let Some(elsewhere) = elsewhere {
        others::add(&mut writer, elsewhere)?;
    }
    Ok(writer.into_candidates())
}
