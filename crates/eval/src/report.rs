//! The results: means over all questions and over those of each type, with the differences between configurations, as
//! data and as JSON.

use serde_json::{Map, Value, json};

use crate::bootstrap::{self, Interval};
use crate::find::SearchConfig;
use crate::formats::Omitted;
use crate::metrics::{self, COUNT, METRICS, Scores};

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalReport {
    pub documents: usize,
    pub scopes: usize,
    pub left_out: Omitted,
    /// In the given order; the others are compared with the first.
    pub configs: Vec<Measured>,
}

/// The results of one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub config: SearchConfig,
    pub all: QuestionGroup,
    /// By question type, sorted by name.
    pub types: Vec<(String, QuestionGroup)>,
    pub latency: Latency,
    /// Growth of the databases in bytes without the texts themselves: the index and the columns of records. Alone for
    /// the plain index.
    pub index_bytes: u64,
}

/// Questions of one type, or all.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionGroup {
    /// The number of questions, including those without evidence.
    pub questions: usize,
    pub documents: Option<UnitScores>,
    pub sessions: Option<UnitScores>,
    /// Of the questions without evidence, the share whose answer says so: it is empty, or its hits are marked as
    /// merely similar.
    pub silent: Option<f64>,
}

/// Means over the questions with expected documents, or sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitScores {
    pub questions: usize,
    pub means: Scores,
    /// Compared with the first configuration; `None` for that one itself.
    pub difference: Option<[Interval; COUNT]>,
}

/// Milliseconds of one search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
}

/// The results of single questions.
pub(crate) struct Tally {
    configs: Vec<SearchConfig>,
    documents: usize,
    scopes: usize,
    pub(crate) asked: Vec<AskedQuestion>,
    pub(crate) index_bytes: u64,
    pub(crate) plain_bytes: u64,
}

/// A question that was asked.
pub(crate) struct AskedQuestion {
    pub(crate) kind: Option<String>,
    /// One for each configuration.
    pub(crate) outcomes: Vec<QuestionOutcome>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct QuestionOutcome {
    pub(crate) documents: Option<Scores>,
    pub(crate) sessions: Option<Scores>,
    /// Whether the answer says that nothing was found, for a question without evidence.
    pub(crate) silent: Option<bool>,
    pub(crate) ms: f64,
}

impl Tally {
    pub(crate) fn new(configs: &[SearchConfig], documents: usize, scopes: usize) -> Tally {
        let configs = configs.to_vec();
        Tally { configs, documents, scopes, asked: Vec::new(), index_bytes: 0, plain_bytes: 0 }
    }

    pub(crate) fn report(self) -> EvalReport {
        let mut types: Vec<&str> =
            self.asked.iter().filter_map(|one| one.kind.as_deref()).collect();
        types.sort_unstable();
        types.dedup();
        let measured = |(place, config): (usize, &SearchConfig)| {
            let of_type = |kind: &str| {
                let group = self.group(place, |one| one.kind.as_deref() == Some(kind));
                (kind.to_owned(), group)
            };
            Measured {
                config: *config,
                all: self.group(place, |_| true),
                types: types.iter().map(|kind| of_type(kind)).collect(),
                latency: self.latency(place),
                index_bytes: match config {
                    SearchConfig::Plain => self.plain_bytes,
                    SearchConfig::Lexical | SearchConfig::Table => self.index_bytes,
                },
            }
        };
        EvalReport {
            documents: self.documents,
            scopes: self.scopes,
            left_out: Omitted::default(),
            configs: self.configs.iter().enumerate().map(measured).collect(),
        }
    }

    fn group(&self, place: usize, belongs: impl Fn(&AskedQuestion) -> bool) -> QuestionGroup {
        let asked: Vec<&AskedQuestion> = self.asked.iter().filter(|one| belongs(one)).collect();
        QuestionGroup {
            questions: asked.len(),
            documents: unit(&asked, place, |outcome| outcome.documents),
            sessions: unit(&asked, place, |outcome| outcome.sessions),
            silent: silence(&asked, place),
        }
    }

    fn latency(&self, place: usize) -> Latency {
        let times = self.asked.iter().filter_map(|one| one.outcomes.get(place));
        let mut times: Vec<f64> = times.map(|outcome| outcome.ms).collect();
        times.sort_by(f64::total_cmp);
        Latency { p50: metrics::percentile(&times, 0.5), p95: metrics::percentile(&times, 0.95) }
    }
}

fn silence(asked: &[&AskedQuestion], place: usize) -> Option<f64> {
    let silent = asked.iter().filter_map(|one| one.outcomes.get(place)?.silent);
    let silent: Vec<bool> = silent.collect();
    let kept = silent.iter().filter(|silent| **silent).count();
    (!silent.is_empty()).then(|| kept as f64 / silent.len() as f64)
}

fn unit(
    asked: &[&AskedQuestion],
    place: usize,
    of: fn(&QuestionOutcome) -> Option<Scores>,
) -> Option<UnitScores> {
    // Whether a question has scores does not depend on the configuration, so the lists of two configurations are
    // paired.
    let scores = |place: usize| -> Vec<Scores> {
        asked.iter().filter_map(|one| one.outcomes.get(place).and_then(of)).collect()
    };
    let ours = scores(place);
    let means = metrics::means(&ours)?;
    let difference = (place > 0).then(|| bootstrap::intervals(&ours, &scores(0)));
    Some(UnitScores { questions: ours.len(), means, difference })
}

impl EvalReport {
    pub fn to_json(&self) -> Value {
        let first = self.configs.first().map_or("", |measured| measured.config.word());
        let configs: Map<String, Value> = self
            .configs
            .iter()
            .map(|measured| (measured.config.word().to_owned(), measured.to_json(first)))
            .collect();
        let mut report = json!({ "configs": configs });
        if self.left_out != Omitted::default() {
            let Omitted { questions, evidence } = self.left_out;
            report["left_out"] = json!({ "questions": questions, "evidence": evidence });
        }
        report
    }
}

impl Measured {
    /// The group of this name: `all`, or a question type.
    pub(crate) fn group(&self, name: &str) -> Option<&QuestionGroup> {
        if name == ALL {
            return Some(&self.all);
        }
        self.types.iter().find(|(kind, _)| kind == name).map(|(_, group)| group)
    }

    fn to_json(&self, first: &str) -> Value {
        let types: Map<String, Value> =
            self.types.iter().map(|(kind, group)| (kind.clone(), group.to_json(first))).collect();
        let Latency { p50, p95 } = self.latency;
        json!({
            "all": self.all.to_json(first),
            "types": types,
            "latency_ms": { "p50": rounded(p50), "p95": rounded(p95) },
            "index_bytes": self.index_bytes,
        })
    }
}

/// The name of the group of all questions.
pub(crate) const ALL: &str = "all";

impl QuestionGroup {
    fn to_json(&self, first: &str) -> Value {
        let mut group = Map::new();
        group.insert("questions".into(), self.questions.into());
        let units = [
            ("documents", "questions_with_gold", &self.documents),
            ("sessions", "questions_with_gold_sessions", &self.sessions),
        ];
        for (_, count, unit) in units {
            let questions = unit.as_ref().map_or(0, |unit| unit.questions);
            group.insert(count.into(), questions.into());
        }
        if let Some(silent) = self.silent {
            group.insert("silent".into(), rounded(silent).into());
        }
        let mut difference = Map::new();
        for (name, _, unit) in units {
            let Some(unit) = unit else { continue };
            group.insert(name.into(), by_name(unit.means.map(|mean| rounded(mean).into())));
            if let Some(intervals) = unit.difference {
                let shown = intervals.map(|Interval { mean, low, high }| {
                    json!({ "mean": rounded(mean), "low": rounded(low), "high": rounded(high) })
                });
                difference.insert(name.into(), by_name(shown));
            }
        }
        if !difference.is_empty() {
            difference.insert("to".into(), first.into());
            group.insert("difference".into(), difference.into());
        }
        group.into()
    }
}

fn by_name(values: [Value; COUNT]) -> Value {
    METRICS.iter().map(|name| (*name).to_owned()).zip(values).collect::<Map<_, _>>().into()
}

/// Rounds to four decimals.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e4).round() / 1e4;
    // Turns -0.0 into 0.0.
    rounded + 0.0
}
