//! A report for people: percentages side by side, and the differences with their intervals.

use crate::bootstrap::Interval;
use crate::formats::Omitted;
use crate::metrics::METRICS;
use crate::report::{ALL, EvalReport, Measured, QuestionGroup, UnitScores};

/// Characters of a question type that are shown.
const TYPE_CHARS: usize = 28;

/// The means of a group that a block shows.
type Of = fn(&QuestionGroup) -> Option<&UnitScores>;

impl EvalReport {
    pub fn table(&self) -> String {
        let questions = self.configs.first().map_or(0, |measured| measured.all.questions);
        let count = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            many => format!("{many} {noun}s"),
        };
        let mut blocks = vec![format!(
            "{} over {} in {}",
            count(questions, "question"),
            count(self.documents, "document"),
            count(self.scopes, "scope"),
        )];
        if self.left_out != Omitted::default() {
            let Omitted { questions, evidence } = self.left_out;
            let nowhere = count(evidence, "name");
            blocks.push(format!(
                "omitted: {} without evidence, {nowhere} of evidence that the file does not have",
                count(questions, "question"),
            ));
        }
        let units: [(&str, Of); 2] = [
            ("documents", |group| group.documents.as_ref()),
            ("sessions", |group| group.sessions.as_ref()),
        ];
        for (name, unit) in units {
            blocks.extend(self.means(name, unit));
            blocks.extend(self.differences(name, unit));
        }
        blocks.extend(self.silence());
        blocks.push(self.costs());
        blocks.join("\n\n")
    }

    /// Means in percent: a row for each group and configuration.
    fn means(&self, name: &str, unit: Of) -> Option<String> {
        let mut heading = vec![format!("{name}, %"), "questions".to_owned(), String::new()];
        heading.extend(METRICS.map(str::to_owned));
        let mut rows = vec![heading];
        let types = self.configs.first().map_or(&[][..], |measured| &measured.types);
        for group in [ALL].into_iter().chain(types.iter().map(|(kind, _)| kind.as_str())) {
            for (place, measured) in self.configs.iter().enumerate() {
                let Some(unit) = measured.group(group).and_then(unit) else { continue };
                let first = place == 0;
                let shown = if first { text::one_line(group, TYPE_CHARS) } else { String::new() };
                let count = if first { unit.questions.to_string() } else { String::new() };
                let mut row = vec![shown, count, measured.config.word().to_owned()];
                row.extend(unit.means.map(percent));
                rows.push(row);
            }
        }
        (rows.len() > 1).then(|| aligned(&rows, &[0, 2]))
    }

    /// Differences over all questions: a row for each metric, a column for each configuration.
    fn differences(&self, name: &str, unit: Of) -> Option<String> {
        let others: Vec<(&Measured, [Interval; METRICS.len()])> = self
            .configs
            .iter()
            .filter_map(|measured| Some((measured, unit(&measured.all)?.difference?)))
            .collect();
        if others.is_empty() {
            return None;
        }
        let mut heading = vec![String::new()];
        heading.extend(others.iter().map(|(measured, _)| measured.config.word().to_owned()));
        let mut rows = vec![heading];
        for (at, metric) in METRICS.iter().enumerate() {
            let mut row = vec![(*metric).to_owned()];
            row.extend(others.iter().filter_map(|(_, intervals)| intervals.get(at)).map(points));
            rows.push(row);
        }
        let first = self.configs.first().map_or("", |measured| measured.config.word());
        let title = format!("{name}, points above {first} (95 % interval)");
        Some(format!("{title}\n{}", aligned(&rows, &[0])))
    }

    /// The share of questions about something that never happened whose answer says so.
    fn silence(&self) -> Option<String> {
        let mut rows =
            vec![vec!["nothing to be found, %".to_owned(), String::new(), "silent".into()]];
        for measured in &self.configs {
            let types = measured.types.iter().map(|(kind, group)| (kind.as_str(), group));
            for (name, group) in [(ALL, &measured.all)].into_iter().chain(types) {
                let Some(silent) = group.silent else { continue };
                let name = text::one_line(name, TYPE_CHARS);
                rows.push(vec![name, measured.config.word().to_owned(), percent(silent)]);
            }
        }
        (rows.len() > 1).then(|| aligned(&rows, &[0, 1]))
    }

    fn costs(&self) -> String {
        let heading = ["", "p50 ms", "p95 ms", "index"].map(str::to_owned).to_vec();
        let mut rows = vec![heading];
        for measured in &self.configs {
            rows.push(vec![
                measured.config.word().to_owned(),
                format!("{:.2}", measured.latency.p50),
                format!("{:.2}", measured.latency.p95),
                format!("{:.1} MB", measured.index_bytes as f64 / 1e6),
            ]);
        }
        aligned(&rows, &[0])
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn points(Interval { mean, low, high }: &Interval) -> String {
    let [mean, low, high] = [mean, low, high].map(|share| format!("{:+.1}", share * 100.0 + 0.0));
    format!("{mean} ({low} to {high})")
}

/// Aligns cells in columns: numbers to the right, these columns to the left.
fn aligned(rows: &[Vec<String>], left: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let width = *width;
            if left.contains(&column) {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
