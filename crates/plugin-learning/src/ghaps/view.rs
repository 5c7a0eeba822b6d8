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

    /// The text for people, at this time in milliseconds since 1970. `proof` is what the last run would make of a
    /// resolution.
    pub(super) fn shown(&self, now: i64, proof: Option<&str>) -> String {
        let age = |at: &str| {
            let at = model::time::parse_rfc3339(at).unwrap_or(now);
            spoken(now.saturating_sub(at))
        };
        let end = match (self.confidence_tier, &self.captured_at) {
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
        let mut row = |label: &str, text: &str| {
            lines.push(format!("  {label:<12}{}", contract::listing::line(text)));
        };
        row("Goal", &self.goal);
        row("Hypothesis", &self.hypothesis);
        row("Action", &self.action);
        row("Prediction", &self.prediction);
        for note in &self.notes {
            row("Note", &note.text);
        }
        if let Some(run) = self.evidence.last() {
            let proof = proof.map(|proof| format!(" ({proof})")).unwrap_or_default();
            let (command, ago) = (&run.command, age(&run.at));
            row("Evidence", &format!("{command}, {ago} ago: {}{proof}", run.summary));
        }
        for (label, text) in [("Result", &self.result), ("Surprise", &self.surprise)] {
            if let Some(text) = text.as_ref().filter(|text| !text.is_empty()) {
                row(label, text);
            }
        }
        if let Some(cause) = &self.root_cause {
            row("Root cause", &format!("{}: {}", cause.category.word(), cause.description));
        }
        if let Some(Lesson { what_worked, takeaway }) = &self.lesson {
            row("Worked", what_worked);
            takeaway.iter().for_each(|text| row("Lesson", text));
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
