//! What came out: means over all questions and over those of each type, with the differences between
//! configurations, as data and as JSON.

use serde_json::{Map, Value, json};

use crate::bootstrap::{self, Interval};
use crate::find::Config;
use crate::formats::LeftOut;
use crate::metrics::{self, COUNT, METRICS, Scores};

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub documents: usize,
    pub scopes: usize,
    pub left_out: LeftOut,
    /// In the order in which they were asked for; the others are compared with the first.
    pub configs: Vec<Measured>,
}

/// What was measured in one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub config: Config,
    pub all: Group,
    /// By the types of questions, in order of their names.
    pub types: Vec<(String, Group)>,
    pub latency: Latency,
    /// What the databases grew by while documents were written, without the texts themselves: the
    /// index and what belongs to records. The plain index is alone.
    pub index_bytes: u64,
}

/// Questions that are looked at together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// All of them, also those without anything to be found.
    pub questions: usize,
    pub documents: Option<Unit>,
    pub sessions: Option<Unit>,
    /// Of the questions without anything to be found, the share whose answer says so: it is empty, or its
    /// hits are marked as merely similar.
    pub silent: Option<f64>,
}

/// Means over the questions that name documents, or sessions, which should be found.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    pub questions: usize,
    pub means: Scores,
    /// Against the first configuration; nothing for that one itself.
    pub difference: Option<[Interval; COUNT]>,
}

/// Milliseconds of one search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
}

/// Everything that is known of single questions.
pub(crate) struct Tally {
    configs: Vec<Config>,
    documents: usize,
    scopes: usize,
    pub(crate) asked: Vec<Asked>,
    pub(crate) index_bytes: u64,
    pub(crate) plain_bytes: u64,
}

/// A question that was asked.
pub(crate) struct Asked {
    pub(crate) kind: Option<String>,
    /// One for each configuration.
    pub(crate) outcomes: Vec<Outcome>,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub(crate) documents: Option<Scores>,
    pub(crate) sessions: Option<Scores>,
    /// Whether the answer says that nothing was found, if there is nothing to be found.
    pub(crate) silent: Option<bool>,
    pub(crate) ms: f64,
}

impl Tally {
    pub(crate) fn new(configs: &[Config], documents: usize, scopes: usize) -> Tally {
        let configs = configs.to_vec();
        Tally { configs, documents, scopes, asked: Vec::new(), index_bytes: 0, plain_bytes: 0 }
    }

    pub(crate) fn report(self) -> Report {
        let mut types: Vec<&str> =
            self.asked.iter().filter_map(|one| one.kind.as_deref()).collect();
        types.sort_unstable();
        types.dedup();
        let measured = |(place, config): (usize, &Config)| {
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
                    Config::Plain => self.plain_bytes,
                    Config::Lexical | Config::Table => self.index_bytes,
                },
            }
        };
        Report {
            documents: self.documents,
            scopes: self.scopes,
            left_out: LeftOut::default(),
            configs: self.configs.iter().enumerate().map(measured).collect(),
        }
    }

    fn group(&self, place: usize, belongs: impl Fn(&Asked) -> bool) -> Group {
        let asked: Vec<&Asked> = self.asked.iter().filter(|one| belongs(one)).collect();
        Group {
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

fn silence(asked: &[&Asked], place: usize) -> Option<f64> {
    let silent = asked.iter().filter_map(|one| one.outcomes.get(place)?.silent);
    let silent: Vec<bool> = silent.collect();
    let kept = silent.iter().filter(|silent| **silent).count();
    (!silent.is_empty()).then(|| kept as f64 / silent.len() as f64)
}

fn unit(asked: &[&Asked], place: usize, of: fn(&Outcome) -> Option<Scores>) -> Option<Unit> {
    // Whether a question has scores depends on the question alone, so that lists of two
    // configurations are pairs.
    let scores = |place: usize| -> Vec<Scores> {
        asked.iter().filter_map(|one| one.outcomes.get(place).and_then(of)).collect()
    };
    let ours = scores(place);
    let means = metrics::means(&ours)?;
    let difference = (place > 0).then(|| bootstrap::intervals(&ours, &scores(0)));
    Some(Unit { questions: ours.len(), means, difference })
}

impl Report {
    pub fn to_json(&self) -> Value {
        let first = self.configs.first().map_or("", |measured| measured.config.word());
        let configs: Map<String, Value> = self
            .configs
            .iter()
            .map(|measured| (measured.config.word().to_owned(), measured.to_json(first)))
            .collect();
        let mut report = json!({ "configs": configs });
        if self.left_out != LeftOut::default() {
            let LeftOut { questions, evidence } = self.left_out;
            report["left_out"] = json!({ "questions": questions, "evidence": evidence });
        }
        report
    }
}

impl Measured {
    /// The group of this name: `all`, or a type of questions.
    pub(crate) fn group(&self, name: &str) -> Option<&Group> {
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

impl Group {
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

/// Four digits behind the point.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e4).round() / 1e4;
    // There is no use in a zero with a sign.
    rounded + 0.0
}
