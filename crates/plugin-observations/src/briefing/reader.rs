//! The store and the situation that a briefing is read for, and rows about single records.

use contract::{Candidate, Slot};
use model::hook::Source;
use model::observation::{ObsType, Observation};
use model::{OpError, limits, rank, time};
use place::{Place, Scope};
use store::{Rx, pauses, projects};

/// Briefings round the time down to a minute, so that an unchanged store gives equal texts within that minute.
pub(super) const MINUTE_MS: i64 = 60_000;

/// The store and the situation that a briefing is read for.
pub(super) struct BriefingReader<'a> {
    pub(super) rx: &'a Rx<'a>,
    pub(super) now: i64,
    /// The session whose own records are left out.
    pub(super) without: Option<&'a str>,
    /// The session that is briefed, if it is known.
    pub(super) session: Option<&'a str>,
    pub(super) source: Source,
    /// The directory of the session; empty if the briefing is for another project.
    pub(super) place: &'a Place,
    /// Whether answers are stored. Without them a prompt without an answer is not open work.
    pub(super) answers: bool,
}

impl BriefingReader<'_> {
    /// The other projects. Paused ones are left out: their records are shown nowhere.
    pub(super) fn others(&self, scope: &Scope, now: i64) -> Result<Vec<i64>, OpError> {
        let own = scope.ids().unwrap_or_default();
        let paused = pauses::list(self.rx, now)?;
        let is_paused = |id: i64| paused.iter().any(|pause| pause.project == Some(id));
        let mut others = projects::ids(self.rx)?;
        others.retain(|id| !own.contains(id) && !is_paused(*id));
        Ok(others)
    }

    /// Whether a record may be a row. Bare session markers, read-only actions and the session's own records
    /// may not.
    pub(super) fn is_worth_telling(&self, seen: &Observation) -> bool {
        let looked = matches!(
            seen.obs_type.kind(),
            ObsType::Command | ObsType::CommandError | ObsType::Github
        ) && agents::is_read_only(&seen.content);
        !seen.obs_type.kind().is_mark() && !looked && self.is_of_another(&seen.session_id)
    }

    pub(super) fn is_of_another(&self, session: &str) -> bool {
        self.without.is_none_or(|own| own != session)
    }

    pub(super) fn row(&self, seen: &Observation, (slot, title): (Slot, Option<&str>)) -> Candidate {
        let at = seen.at_ms;
        let mut summary = text::one_line(&seen.content, limits::BRIEFING_SUMMARY_CHARS);
        let mut kind = seen.obs_type.kind();
        if has_failed(seen) {
            summary.push_str(" (failed)");
            kind = ObsType::ToolOther;
        }
        let score = rank::recent(kind, at, None, self.now);
        if slot == Slot::OtherRecords {
            summary = format!("{summary} [{}]", seen.project);
        }
        let mut reasons = vec![score.parts()];
        if seen.is_pinned {
            reasons.insert(0, "pinned".to_owned());
        }
        Candidate {
            path: format!("obs://{}", seen.id),
            stamp: seen.timestamp,
            title: title.map(str::to_owned),
            score: score.total,
            reasons,
            cells: vec![
                format!("#{}", seen.id),
                time::age(at, self.now),
                seen.obs_type.word().to_owned(),
                summary,
            ],
            labels: 2,
            same_as: seen.file_path.clone().filter(|_| seen.obs_type != ObsType::CommandError),
            pinned: seen.is_pinned,
            ..Candidate::new(slot)
        }
    }
}

/// Whether the record says that something failed. Such a record has the low weight of one of no special type.
pub(super) fn has_failed(seen: &Observation) -> bool {
    seen.metadata.as_ref().is_some_and(|metadata| metadata["failed"] == true)
}
