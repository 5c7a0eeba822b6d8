//! A ghap: a goal, a hypothesis, the action that tests it and the predicted result. The runs that follow are its evidence. A
//! resolved ghap is an experience.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use text::words::{Stretch, stretches};

use crate::limits;
use crate::{OpError, time};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $($(#[$about])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            pub fn parse(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// The kind of work.
    GhapDomain {
        Debugging "debugging",
        Refactoring "refactoring",
        Feature "feature",
        Testing "testing",
        Configuration "configuration",
        Documentation "documentation",
        Performance "performance",
        Security "security",
        Integration "integration",
    }
}

words! {
    /// The way of working.
    GhapStrategy {
        SystematicElimination "systematic-elimination",
        TrialAndError "trial-and-error",
        ResearchFirst "research-first",
        DivideAndConquer "divide-and-conquer",
        RootCauseAnalysis "root-cause-analysis",
        CopyFromSimilar "copy-from-similar",
        CheckAssumptions "check-assumptions",
        ReadTheError "read-the-error",
        AskUser "ask-user",
    }
}

words! {
    /// Why a hypothesis was wrong.
    RootCauseCategory {
        WrongAssumption "wrong-assumption",
        MissingKnowledge "missing-knowledge",
        Oversight "oversight",
        EnvironmentIssue "environment-issue",
        MisleadingSymptom "misleading-symptom",
        IncompleteFix "incomplete-fix",
        WrongScope "wrong-scope",
        TestIsolation "test-isolation",
        TimingIssue "timing-issue",
    }
}

words! {
    /// Whether a ghap is active, or how it ended.
    GhapStatus {
        /// It is active.
        Hypothesis "hypothesis",
        Confirmed "confirmed",
        Falsified "falsified",
        Abandoned "abandoned",
    }
}

words! {
    /// How a ghap ended.
    GhapOutcome {
        Confirmed "confirmed",
        Falsified "falsified",
        Abandoned "abandoned",
    }
}

impl From<GhapOutcome> for GhapStatus {
    fn from(outcome: GhapOutcome) -> GhapStatus {
        match outcome {
            GhapOutcome::Confirmed => GhapStatus::Confirmed,
            GhapOutcome::Falsified => GhapStatus::Falsified,
            GhapOutcome::Abandoned => GhapStatus::Abandoned,
        }
    }
}

words! {
    /// How far an experience can be trusted.
    ConfidenceTier {
        /// The last run agrees with the resolution.
        Gold "gold",
        /// The agent says so, and no run proves it.
        Silver "silver",
        /// The hypothesis or the prediction said too little to be tested.
        Bronze "bronze",
        Abandoned "abandoned",
    }
}

impl ConfidenceTier {
    /// The weight of such an experience, from 0 to 1.
    pub fn weight(self) -> f64 {
        match self {
            ConfidenceTier::Gold => 1.0,
            ConfidenceTier::Silver => 0.8,
            ConfidenceTier::Bronze => 0.5,
            ConfidenceTier::Abandoned => 0.2,
        }
    }
}

words! {
    /// A side of an experience, by which experiences are searched and clustered.
    ExperienceAxis {
        /// All of it.
        Full "full",
        /// The way of working and its result.
        Strategy "strategy",
        /// The unexpected part; only of falsified ones.
        Surprise "surprise",
        /// Why the hypothesis was wrong; only of falsified ones.
        RootCause "root_cause",
    }
}

/// Why a hypothesis was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RootCause {
    pub category: RootCauseCategory,
    pub description: String,
}

/// The lesson of an experience.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takeaway: Option<String>,
    pub what_worked: String,
}

/// The end of a ghap, as an agent or a user declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub outcome: GhapOutcome,
    pub result: String,
    pub surprise: Option<String>,
    pub root_cause: Option<RootCause>,
    pub lesson: Option<Lesson>,
}

impl Resolution {
    /// The resolution without a lesson, for an abandoned ghap.
    pub fn abandoned(reason: String) -> Resolution {
        Resolution {
            outcome: GhapOutcome::Abandoned,
            result: reason,
            surprise: None,
            root_cause: None,
            lesson: None,
        }
    }

    /// Refuses a resolution with a missing, blank or over-long part.
    pub fn check(&self) -> Result<(), OpError> {
        let max = limits::GHAP_LONG_CHARS_MAX;
        let texts = self.texts();
        texts.iter().try_for_each(|(param, text)| check_text(param, text, max))?;
        let missing = match self {
            Resolution { outcome: GhapOutcome::Falsified, surprise: None, .. } => "surprise",
            Resolution { outcome: GhapOutcome::Falsified, root_cause: None, .. } => "root_cause",
            _ => return Ok(()),
        };
        Err(OpError::invalid(missing, format!("a falsified hypothesis needs `{missing}`"))
            .hint("Say what was unexpected (surprise) and why (root_cause)."))
    }

    /// Its texts by the names of their parameters.
    pub fn texts(&self) -> Vec<(&'static str, &str)> {
        let mut texts = vec![("result", self.result.as_str())];
        texts.extend(self.surprise.as_deref().map(|text| ("surprise", text)));
        let cause = self.root_cause.as_ref();
        texts.extend(cause.map(|cause| ("root_cause.description", cause.description.as_str())));
        if let Some(Lesson { what_worked, takeaway }) = &self.lesson {
            texts.push(("lesson.what_worked", what_worked));
            texts.extend(takeaway.as_deref().map(|text| ("lesson.takeaway", text)));
        }
        texts
    }
}

/// An earlier hypothesis with its action and prediction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierVersion {
    /// When it was replaced, in milliseconds since 1970.
    pub at: i64,
    pub hypothesis: String,
    pub action: String,
    pub prediction: String,
}

/// A note on a ghap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GhapNote {
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub text: String,
}

words! {
    /// The known result of a run.
    RunResult {
        Passed "passed",
        Failed "failed",
    }
}

/// Beginnings of the reasons in receipts of ghaps, which tell their sources apart.
pub mod reason {
    pub const CHECK_IN: &str = "check-in";
    pub const OUTCOME: &str = "outcome";
    pub const ORPHAN: &str = "orphan";
}

/// The outcome of a run as a session with hooks gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    Passed,
    Failed,
    /// The result is hidden.
    Hidden,
    /// It failed, and the session has no ghap.
    FailedWithoutGhap,
}

impl RunOutcome {
    const ALL: [RunOutcome; 4] =
        [RunOutcome::Passed, RunOutcome::Failed, RunOutcome::Hidden, RunOutcome::FailedWithoutGhap];

    /// The reason in the receipt.
    pub fn reason(self) -> String {
        let what = match self {
            RunOutcome::Passed => "passed",
            RunOutcome::Failed => "failed",
            RunOutcome::Hidden => "hidden",
            RunOutcome::FailedWithoutGhap => "failed without a ghap",
        };
        format!("{}: {what}", reason::OUTCOME)
    }

    /// The outcome of a receipt with this reason.
    pub fn of_reason(given: &str) -> Option<RunOutcome> {
        RunOutcome::ALL.into_iter().find(|outcome| outcome.reason() == given)
    }

    /// The step that follows from it, as `--format seed` names it.
    pub fn suggested_action(self) -> Option<&'static str> {
        match self {
            RunOutcome::Passed => Some("resolve_confirmed"),
            RunOutcome::Failed => Some("resolve_falsified"),
            RunOutcome::Hidden => None,
            RunOutcome::FailedWithoutGhap => Some("start_ghap"),
        }
    }
}

/// A run of tests or a build in the session and project of a ghap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunEvidence {
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    /// The iteration that it belongs to.
    pub iteration: u64,
    /// The command line, shortened.
    pub command: String,
    pub program: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subcommand: String,
    pub result: RunResult,
    /// How many tests passed, if the output says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// How many failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
}

impl RunEvidence {
    /// `3 passed, 0 failed`, or the result if the output has no counts.
    pub fn counts(&self) -> String {
        let count = |count: Option<u64>, word: &str| count.map(|count| format!("{count} {word}"));
        let counts = [count(self.passed, "passed"), count(self.failed, "failed")];
        match counts.into_iter().flatten().collect::<Vec<_>>() {
            none if none.is_empty() => self.result.word().to_owned(),
            counts => counts.join(", "),
        }
    }
}

/// A stored ghap.
#[derive(Clone, Debug, PartialEq)]
pub struct Ghap {
    /// The record id.
    pub id: i64,
    /// `ghap_YYYYMMDD_HHMMSS_xxxxxx`.
    pub name: String,
    /// The session that works on it, in the store; the session itself may be deleted.
    pub owner: i64,
    /// The agent's own id of that session; empty if it is deleted.
    pub session_id: String,
    /// Its project in the store, and the project's name.
    pub project: i64,
    pub project_name: String,
    /// When it was started, in milliseconds since 1970.
    pub started_at: i64,
    /// When it was started or, if it is resolved, when that happened.
    pub at: i64,
    /// When hypothesis, action or prediction last changed, or it was adopted. Only later runs count.
    pub changed_at: i64,
    pub status: GhapStatus,
    pub domain: GhapDomain,
    pub strategy: GhapStrategy,
    pub goal: String,
    pub hypothesis: String,
    pub action: String,
    pub prediction: String,
    /// 1, and one more with each change of hypothesis, action or prediction.
    pub iteration: u64,
    pub history: Vec<EarlierVersion>,
    pub notes: Vec<GhapNote>,
    /// The oldest first.
    pub evidence: Vec<RunEvidence>,
    /// Present if it is resolved.
    pub result: Option<String>,
    pub surprise: Option<String>,
    pub root_cause: Option<RootCause>,
    pub lesson: Option<Lesson>,
    pub tier: Option<ConfidenceTier>,
}

impl Ghap {
    /// The last run that counts for a resolution at this time: of the current iteration, after the last change, and not
    /// longer ago than [`limits::GHAP_EVIDENCE_MS`]. A run whose time is still to come was recorded by a clock that was
    /// ahead: it proves nothing, and hides no other run.
    pub fn last_run(&self, now: i64) -> Option<&RunEvidence> {
        let counts = |run: &&RunEvidence| {
            run.iteration == self.iteration
                && run.at >= self.changed_at
                && now.saturating_sub(run.at) <= limits::GHAP_EVIDENCE_MS
        };
        self.evidence.iter().rfind(|run| run.at <= now).filter(counts)
    }

    /// The tier that a resolution with this outcome has now.
    pub fn tier_of(&self, outcome: GhapOutcome, now: i64) -> ConfidenceTier {
        let expected = match outcome {
            GhapOutcome::Abandoned => return ConfidenceTier::Abandoned,
            GhapOutcome::Confirmed => RunResult::Passed,
            GhapOutcome::Falsified => RunResult::Failed,
        };
        if poor_text(&self.goal, &self.hypothesis, &self.prediction).is_some() {
            return ConfidenceTier::Bronze;
        }
        match self.last_run(now) {
            Some(run) if run.result == expected => ConfidenceTier::Gold,
            _ => ConfidenceTier::Silver,
        }
    }

    /// The lesson in one text: the takeaway, else what worked, else the result.
    pub fn lesson_text(&self) -> &str {
        let lesson = self.lesson.as_ref();
        let takeaway = lesson.and_then(|lesson| lesson.takeaway.as_deref());
        let worked = lesson.map(|lesson| lesson.what_worked.as_str());
        takeaway.or(worked).or(self.result.as_deref()).unwrap_or_default()
    }

    /// The text of an experience on an axis; none if it has nothing to say there, or is not resolved.
    pub fn axis_text(&self, axis: ExperienceAxis) -> Option<String> {
        let result = self.result.as_deref()?;
        let outcome = format!("Outcome: {}, {result}", self.status.word());
        let lesson = self.lesson.as_ref().map(|Lesson { what_worked, takeaway }| {
            let takeaway = takeaway.as_ref().map(|text| format!("\n{text}")).unwrap_or_default();
            format!("Lesson: {what_worked}{takeaway}")
        });
        let falsified = self.status == GhapStatus::Falsified && self.surprise.is_some();
        let lines = match axis {
            ExperienceAxis::Full => {
                let surprise = self.surprise.as_ref().map(|text| format!("Surprise: {text}"));
                let own = [
                    format!("Goal: {}", self.goal),
                    format!("Hypothesis: {}", self.hypothesis),
                    format!("Action: {}", self.action),
                    format!("Prediction: {}", self.prediction),
                    outcome,
                ];
                own.into_iter().chain(surprise).chain(lesson).collect::<Vec<_>>()
            }
            ExperienceAxis::Strategy => {
                let own = [
                    format!("Strategy: {}", self.strategy.word()),
                    format!("Goal: {}", self.goal),
                    outcome,
                    format!("Iterations: {}", self.iteration),
                ];
                own.into_iter().chain(lesson).collect()
            }
            ExperienceAxis::Surprise => vec![self.surprise.clone().filter(|_| falsified)?],
            ExperienceAxis::RootCause => {
                let cause = self.root_cause.as_ref().filter(|_| falsified)?;
                vec![format!("{}: {}", cause.category.word(), cause.description)]
            }
        };
        Some(lines.join("\n"))
    }

    /// The text that its author declared, without our labels and the words of our enumerations. Every experience has the labels
    /// and many share a strategy, so those words do not say what one is about.
    pub fn declared_text(&self) -> String {
        let stated = [&self.goal, &self.hypothesis, &self.action, &self.prediction];
        let lesson = self.lesson.as_ref();
        let came_of_it = [
            self.result.as_deref(),
            self.surprise.as_deref(),
            self.root_cause.as_ref().map(|cause| cause.description.as_str()),
            lesson.map(|lesson| lesson.what_worked.as_str()),
            lesson.and_then(|lesson| lesson.takeaway.as_deref()),
        ];
        let all = stated.into_iter().map(String::as_str).chain(came_of_it.into_iter().flatten());
        all.collect::<Vec<_>>().join("\n")
    }

    /// All of its words, for search: one text for each axis, or the open hypothesis.
    pub fn searched_texts(&self) -> Vec<String> {
        let axes = ExperienceAxis::ALL.iter().filter_map(|axis| self.axis_text(*axis));
        match self.status {
            GhapStatus::Hypothesis => vec![format!(
                "Goal: {}\nHypothesis: {}\nAction: {}\nPrediction: {}",
                self.goal, self.hypothesis, self.action, self.prediction
            )],
            _ => axes.collect(),
        }
    }
}

/// The text of a ghap that says too little to be tested, `hypothesis` or `prediction`: it has too few words, or equals the
/// goal. A path or the name of a test has several words, as in `cart::tests::total`.
pub fn poor_text(goal: &str, hypothesis: &str, prediction: &str) -> Option<&'static str> {
    let goal = plain(goal);
    let is_poor = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
        let words = words.filter(|word| word.contains(char::is_alphanumeric));
        words.map(words_within).sum::<usize>() < limits::GHAP_WORDS_MIN || plain(text) == goal
    };
    let texts = [("hypothesis", hypothesis), ("prediction", prediction)];
    texts.into_iter().find_map(|(name, text)| is_poor(text).then_some(name))
}

/// Says to the caller that a resolution will be bronze, if one of the texts says too little.
pub fn poor_warning(goal: &str, hypothesis: &str, prediction: &str) -> Option<String> {
    let name = poor_text(goal, hypothesis, prediction)?;
    Some(format!(
        "the {name} has fewer than {} words or equals the goal, so the result will be bronze whatever the runs show; \
         update_ghap changes it",
        limits::GHAP_WORDS_MIN
    ))
}

/// The number of words in a run of letters and digits. In a script without spaces, two characters count as a word.
fn words_within(run: &str) -> usize {
    let count = |stretch: Stretch<'_>| match stretch.cjk {
        true => stretch.text.chars().count().div_ceil(2),
        false => 1,
    };
    stretches(run).map(count).sum()
}

/// A text for comparison: its words in lower case.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Refuses a text that is blank or has more than `max` characters.
pub fn check_text(param: &str, text: &str, max: usize) -> Result<(), OpError> {
    if text::is_blank(text) {
        return Err(
            OpError::invalid(param, format!("`{param}` is blank")).hint("Say it in a sentence.")
        );
    }
    let count = text.chars().count();
    if count > max {
        let message = format!("`{param}` has {count} characters, more than {max}");
        return Err(OpError::invalid(param, message).with("max", max));
    }
    Ok(())
}

/// The name of the ghap with this record id that was started at this time. Record ids are unique, so names are too.
pub fn ghap_name(id: i64, started_at: i64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    const LENGTH: u32 = 6;
    let numbers = 36_u64.pow(LENGTH);
    // Coprime to 36, so that different ids below `numbers` stay different.
    let mut number = id.unsigned_abs().wrapping_mul(1_640_531_527) % numbers;
    let mut letters = String::new();
    for _ in 0..LENGTH {
        let digit = usize::try_from(number % 36).unwrap_or_default();
        letters.insert(0, DIGITS.get(digit).copied().map_or('0', char::from));
        number /= 36;
    }
    let stamp = time::file_stamp(started_at).replace('T', "_").replace('Z', "");
    format!("ghap_{stamp}_{letters}")
}

#[cfg(test)]
mod tests;
