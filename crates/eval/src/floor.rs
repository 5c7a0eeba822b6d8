//! Minimum values of a run, to guard the quality of search.

use model::OpError;

use crate::find::SearchConfig;
use crate::metrics::METRICS;
use crate::report::{EvalReport, Measured};

const DOCUMENTS: &str = "documents";
const SESSIONS: &str = "sessions";

/// The minimum of a metric: `[CONFIG:]GROUP.UNIT.METRIC=NUMBER`, for example `table:all.documents.R@5=0.8`. Without a
/// configuration it applies to all that are measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    config: Option<SearchConfig>,
    group: String,
    unit: &'static str,
    metric: usize,
    least: f64,
}

impl Floor {
    pub fn parse(text: &str) -> Result<Floor, OpError> {
        let wrong = |what: String| {
            OpError::invalid("at_least", format!("'{text}' is not a floor: {what}"))
                .hint("For example --at-least all.documents.R@5=0.8, or table:all.sessions.MRR=0.5")
        };
        let shape = || wrong("it is not GROUP.UNIT.METRIC=NUMBER".to_owned());
        let (path, least) = text.rsplit_once('=').ok_or_else(shape)?;
        let least = least.trim().parse::<f64>().ok().filter(|least| (0.0..=1.0).contains(least));
        let least = least.ok_or_else(|| wrong("its number is not from 0 to 1".to_owned()))?;
        let named = path
            .split_once(':')
            .and_then(|(config, rest)| Some((SearchConfig::parse(config)?, rest)));
        let (config, path) = named.map_or((None, path), |(config, rest)| (Some(config), rest));
        let (path, metric) = path.rsplit_once('.').ok_or_else(shape)?;
        let metric = METRICS.iter().position(|name| *name == metric.trim());
        let metric =
            metric.ok_or_else(|| wrong(format!("it names none of {}", METRICS.join(", "))))?;
        let (group, unit) = path.rsplit_once('.').ok_or_else(shape)?;
        let unit = [DOCUMENTS, SESSIONS].into_iter().find(|known| *known == unit);
        let unit =
            unit.ok_or_else(|| wrong(format!("it names neither {DOCUMENTS} nor {SESSIONS}")))?;
        Ok(Floor { config, group: group.to_owned(), unit, metric, least })
    }

    /// The violations of this floor.
    fn short(&self, report: &EvalReport) -> Vec<String> {
        let meant =
            |measured: &&Measured| self.config.is_none_or(|wanted| wanted == measured.config);
        let measured: Vec<&Measured> = report.configs.iter().filter(meant).collect();
        if measured.is_empty() {
            let config = self.config.map_or("", SearchConfig::word);
            return vec![format!("{config} was not measured, at least {} is wanted", self.least)];
        }
        measured.into_iter().filter_map(|measured| self.short_in(measured)).collect()
    }

    fn short_in(&self, measured: &Measured) -> Option<String> {
        let group = measured.group(&self.group);
        let unit = group.and_then(|group| match self.unit {
            DOCUMENTS => group.documents.as_ref(),
            _ => group.sessions.as_ref(),
        });
        let value = unit.and_then(|unit| unit.means.get(self.metric));
        let metric = METRICS.get(self.metric).copied().unwrap_or_default();
        let name = format!("{}:{}.{}.{metric}", measured.config.word(), self.group, self.unit);
        let least = self.least;
        match value {
            None => Some(format!("{name} was not measured, at least {least} is wanted")),
            Some(value) if *value < least => {
                Some(format!("{name} is {value:.4}, at least {least} is wanted"))
            }
            Some(_) => None,
        }
    }
}

impl EvalReport {
    /// The violations of these floors, a sentence each.
    pub fn short_of(&self, floors: &[Floor]) -> Vec<String> {
        floors.iter().flat_map(|floor| floor.short(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_names_a_number_of_a_group_and_maybe_a_configuration() {
        let floor = Floor::parse("all.documents.R@5=0.8").unwrap();
        let wanted =
            Floor { config: None, group: "all".to_owned(), unit: DOCUMENTS, metric: 1, least: 0.8 };
        assert_eq!(floor, wanted);
        let floor = Floor::parse("table:error: v1.2.sessions.nDCG@10=1").unwrap();
        let group = "error: v1.2".to_owned();
        let wanted = Floor {
            config: Some(SearchConfig::Table),
            group,
            unit: SESSIONS,
            metric: 8,
            least: 1.0,
        };
        assert_eq!(floor, wanted);
    }

    #[test]
    fn an_invalid_floor_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "it is not GROUP.UNIT.METRIC=NUMBER"),
            ("all.documents.R@5", "it is not GROUP.UNIT.METRIC=NUMBER"),
            ("documents.R@5=0.5", "it is not GROUP.UNIT.METRIC=NUMBER"),
            ("all.documents.R@5=80", "its number is not from 0 to 1"),
            ("all.documents.R@5=NaN", "its number is not from 0 to 1"),
            ("all.documents.R@7=0.5", "it names none of R@1, R@5"),
            ("all.words.R@5=0.5", "it names neither documents nor sessions"),
        ] {
            let error = Floor::parse(text).unwrap_err();
            assert!(error.message.contains(why), "{text}: {error}");
        }
    }
}
