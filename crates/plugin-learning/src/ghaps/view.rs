//! A ghap on the wire, and as text for people.

use model::ghap::{
    ConfidenceTier, EarlierVersion, Ghap, GhapDomain, GhapNote, GhapOutcome, GhapStatus,
    GhapStrategy, Lesson, RootCause, RunEvidence, RunResult,
};
use model::time::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ghap with all its parts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GhapView {
    pub(super) id: String,
    /// `hypothesis` while it is active.
    pub(super) status: GhapStatus,
    pub(super) domain: GhapDomain,
    pub(super) strategy: GhapStrategy,
    pub(super) goal: String,
    pub(super) hypothesis: String,
    pub(super) action: String,
    pub(super) prediction: String,
    /// 1, and one more with each change of hypothesis, action or prediction.
    pub(super) iteration_count: u64,
    /// When it was started.
    pub(super) created_at: String,
    /// When it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) captured_at: Option<String>,
    /// Earlier versions, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<EarlierView>,
    /// The oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<NoteView>,
    /// Test and build runs of its session and project, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) evidence: Vec<EvidenceView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) surprise: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) root_cause: Option<RootCause>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lesson: Option<Lesson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) confidence_tier: Option<ConfidenceTier>,
}

/// An earlier version.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct EarlierView {
    /// When it was replaced.
    pub(super) at: String,
    pub(super) hypothesis: String,
    pub(super) action: String,
    pub(super) prediction: String,
}

/// A note.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NoteView {
    pub(super) at: String,
    pub(super) text: String,
}

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct EvidenceView {
    pub(super) at: String,
    pub(super) iteration: u64,
    pub(super) command: String,
    pub(super) result: RunResult,
    /// The counts, or the result if the output has none.
    pub(super) summary: String,
}

impl GhapView {
    pub(super) fn of(ghap: Ghap) -> GhapView {
        let is_active = ghap.status == GhapStatus::Hypothesis;
        let earlier = |one: EarlierVersion| {
            let EarlierVersion { at, hypothesis, action, prediction } = one;
            EarlierView { at: rfc3339(at), hypothesis, action, prediction }
        };
        let run = |run: RunEvidence| EvidenceView {
            at: rfc3339(run.at),
            iteration: run.iteration,
            summary: run.counts(),
            command: run.command,
            result: run.result,
        };
        let note = |note: GhapNote| NoteView { at: rfc3339(note.at), text: note.text };
        GhapView {
            id: ghap.name,
            status: ghap.status,
            domain: ghap.domain,
            strategy: ghap.strategy,
            goal: ghap.goal,
            hypothesis: ghap.hypothesis,
            action: ghap.action,
            prediction: ghap.prediction,
            iteration_count: ghap.iteration,
            created_at: rfc3339(ghap.started_at),
            captured_at: (!is_active).then(|| rfc3339(ghap.at)),
            history: ghap.history.into_iter().map(earlier).collect(),
            notes: ghap.notes.into_iter().map(note).collect(),
            evidence: ghap.evidence.into_iter().map(run).collect(),
            result: ghap.result,
            surprise: ghap.surprise,
            root_cause: ghap.root_cause,
            lesson: ghap.lesson,
            confidence_tier: ghap.tier,
        }
    }

    /// The text for people with whole texts and the last run, at this time in milliseconds since 1970. `proof` is what the
    /// last run would make of a resolution.
    pub(super) fn shown(&self, now: i64, proof: Option<&str>, width: usize) -> String {
        let last = self.evidence.len().saturating_sub(1);
        let runs = self.evidence.get(last..).unwrap_or_default();
        self.laid_out(self.rows(now, proof, runs), now, width)
    }

    /// The text for people with earlier versions and all runs.
    pub(super) fn shown_whole(&self, now: i64, proof: Option<&str>, width: usize) -> String {
        let mut rows = self.rows(now, proof, &self.evidence);
        let earlier = self.history.iter().enumerate().map(|(place, one)| {
            let EarlierView { at, hypothesis, action, prediction } = one;
            let until = spoken(now.saturating_sub(model::time::parse_rfc3339(at).unwrap_or(now)));
            let iteration = place + 1;
            ("Earlier", format!("iteration {iteration}, until {until} ago: {hypothesis} | {action} | {prediction}"))
        });
        rows.extend(earlier);
        self.laid_out(rows, now, width)
    }

    /// The text of its entry: everything that is known, with absolute times.
    pub(super) fn body(&self) -> String {
        let mut lines = vec![
            format!("Status: {}", self.status.word()),
            format!("Domain: {}, {}", self.domain.word(), self.strategy.word()),
        ];
        lines.extend(self.confidence_tier.map(|tier| format!("Tier: {}", tier.word())));
        let rows = self.rows(0, None, &[]).into_iter();
        lines.extend(rows.map(|(label, text)| format!("{label}: {text}")));
        for EvidenceView { at, command, summary, iteration, .. } in &self.evidence {
            lines.push(format!("Evidence: {command}, {at}, iteration {iteration}: {summary}"));
        }
        for EarlierView { at, hypothesis, action, prediction } in &self.history {
            lines.push(format!("Earlier, until {at}: {hypothesis} | {action} | {prediction}"));
        }
        lines.join("\n")
    }

    /// Labels and texts, with these runs.
    fn rows(
        &self,
        now: i64,
        proof: Option<&str>,
        runs: &[EvidenceView],
    ) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("Goal", self.goal.clone()),
            ("Hypothesis", self.hypothesis.clone()),
            ("Action", self.action.clone()),
            ("Prediction", self.prediction.clone()),
        ];
        rows.extend(self.notes.iter().map(|note| ("Note", note.text.clone())));
        for (place, run) in runs.iter().enumerate() {
            let is_last = place + 1 == runs.len();
            let aside = match proof.filter(|_| is_last) {
                Some(proof) => format!(" ({proof})"),
                // A new hypothesis, action or prediction begins a new iteration. Adoption deletes the earlier runs.
                None if run.iteration < self.iteration_count => {
                    format!(" (of iteration {}, does not count)", run.iteration)
                }
                None if self.status == GhapStatus::Hypothesis && is_last => {
                    " (too long ago or before the adoption, does not count)".to_owned()
                }
                None => String::new(),
            };
            let at = model::time::parse_rfc3339(&run.at).unwrap_or(now);
            let ago = spoken(now.saturating_sub(at));
            rows.push(("Evidence", format!("{}, {ago} ago: {}{aside}", run.command, run.summary)));
        }
        for (label, text) in [("Result", &self.result), ("Surprise", &self.surprise)] {
            rows.extend(
                text.iter().filter(|text| !text.is_empty()).map(|text| (label, text.clone())),
            );
        }
        if let Some(cause) = &self.root_cause {
            rows.push(("Root cause", format!("{}: {}", cause.category.word(), cause.description)));
        }
        if let Some(Lesson { what_worked, takeaway }) = &self.lesson {
            rows.push(("Worked", what_worked.clone()));
            rows.extend(takeaway.iter().map(|text| ("Lesson", text.clone())));
        }
        rows
    }

    /// The heading and the rows, each wrapped beside its label.
    fn laid_out(&self, rows: Vec<(&'static str, String)>, now: i64, width: usize) -> String {
        const LABEL: usize = 14;
        let age = |at: &str| {
            let at = model::time::parse_rfc3339(at).unwrap_or(now);
            spoken(now.saturating_sub(at))
        };
        let end = match (self.confidence_tier, &self.captured_at) {
            (Some(tier), Some(at)) if tier.word() == self.status.word() => {
                format!("{}, {} ago", tier.word(), age(at))
            }
            (Some(tier), Some(at)) => {
                format!("{}, {}, {} ago", self.status.word(), tier.word(), age(at))
            }
            _ => age(&self.created_at),
        };
        let mut lines = vec![format!(
            "{}  {}, {}, iteration {}, {end}",
            self.id,
            self.domain.word(),
            self.strategy.word(),
            self.iteration_count
        )];
        for (label, text) in rows {
            let text = text::one_line(&text, usize::MAX);
            let wrapped = text::table::wrapped(&text, width.saturating_sub(LABEL).max(LABEL));
            for (place, line) in wrapped.into_iter().enumerate() {
                let label = if place == 0 { label } else { "" };
                lines.push(format!("  {label:<12}{line}"));
            }
        }
        lines.join("\n")
    }
}

/// The outcome that the last run fits, and its tier: `confirmed would be gold`.
pub(super) fn proof(ghap: &Ghap, now: i64) -> Option<String> {
    let outcome = match ghap.last_run(now)?.result {
        RunResult::Passed => GhapOutcome::Confirmed,
        RunResult::Failed => GhapOutcome::Falsified,
    };
    Some(format!("{} would be {}", outcome.word(), ghap.tier_of(outcome, now).word()))
}

/// A duration in one unit: `12 s`, `14 min`, `3 h`, `2 d`.
pub(super) fn spoken(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
