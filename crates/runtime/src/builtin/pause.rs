//! `pause`: stops capture and injected text, everywhere or in one project, for a time or until the user ends it.

use contract::pretty::pretty;
use contract::{Access, CliShape, Cx, Example, Op, OpInfo, Pretty, Tier, config};
use model::event::Event;
use model::hint::Ttl;
use model::project::Pause as Stored;
use model::{OpError, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Rx, pauses, projects};

use place::{Wanted, path, shown_path, unknown};

use crate::pause_feed::PAUSES_CHANGED;

pub(crate) struct Pause;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PauseParams {
    /// How long, such as `30m`, `2h`, `1d` or `PT90M`; `off` ends the pause. Left out, the pause has no end.
    #[serde(default)]
    duration: Option<String>,
    /// Project to pause; everywhere if left out.
    #[serde(default)]
    project: Wanted,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct PauseOutput {
    /// Whether anything is paused now.
    paused: bool,
    /// All active pauses.
    pauses: Vec<Holding>,
    /// Whether this call started, changed or ended a pause.
    changed: bool,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
}

/// An active pause.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Holding {
    /// The project, as `project://KEY`; left out if the pause is everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// The name of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Seconds since 1970, UTC; left out if the pause has no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_at: Option<i64>,
}

impl Op for Pause {
    const INFO: OpInfo = OpInfo {
        name: "pause",
        summary: "Pause capture and briefings for a while",
        doc: "During a pause no event is recorded and agents get no text; existing records can still be \
              searched. `off` ends one pause: that of `project`, or without it the one for all projects.",
        access: Access::Write { destructive: false, idempotent: true },
        tiers: &[Tier::Person, Tier::Client],
        toolset: "memory",
        cli: CliShape {
            path: &["pause"],
            positional: &["duration"],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example {
                title: "Nothing for half an hour",
                before: &[],
                params: r#"{"duration":"30m"}"#,
            },
            Example {
                title: "Go on with one project",
                before: PAUSED_WEB,
                params: r#"{"duration":"off","project":"web"}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = PauseParams;
    type Output = PauseOutput;

    fn run(&self, cx: &Cx<'_>, params: PauseParams) -> Result<PauseOutput, OpError> {
        let wanted = PauseChange::parse(params.duration.as_deref(), cx.now)?;
        let now = cx.now;
        cx.store.write(move |tx| {
            let before = pauses::list(tx, now)?;
            for project in targets(tx, &params.project)? {
                match wanted {
                    PauseChange::End => drop(pauses::end(tx, project)?),
                    PauseChange::Until(until) => pauses::begin(tx, Stored { project, until })?,
                }
            }
            let after = pauses::list(tx, now)?;
            if before != after {
                tx.note(Event::new(PAUSES_CHANGED, String::new()))?;
            }
            Ok(PauseOutput {
                paused: !after.is_empty(),
                changed: before != after,
                pauses: told(tx, &after)?,
                answered_at: now.div_euclid(1000),
            })
        })
    }
}

const PAUSED_WEB: &[(&str, &str)] = &[
    (
        "hook",
        r#"{"event":"UserPromptSubmit","at":1767261600000,"payload":{"session_id":"s-1","cwd":"/home/you/web","prompt":"Fix the login"}}"#,
    ),
    ("pause", r#"{"project":"web"}"#),
];

/// The requested change.
#[derive(Clone, Copy)]
enum PauseChange {
    End,
    /// Milliseconds since 1970, UTC; `None` for a pause without end.
    Until(Option<i64>),
}

impl PauseChange {
    fn parse(duration: Option<&str>, now: i64) -> Result<PauseChange, OpError> {
        let text = match duration.map(str::trim) {
            None => return Ok(PauseChange::Until(None)),
            Some("off") => return Ok(PauseChange::End),
            Some(text) => text,
        };
        let short = config::duration(text).map(|time| i64::try_from(time.as_millis()));
        let ends_at = match short {
            Some(ms) => Some(now.saturating_add(ms.unwrap_or(i64::MAX))),
            None => Ttl::parse(text).ok().and_then(|long| long.ends_at(now)),
        };
        let Some(until) = ends_at.filter(|until| *until > now) else {
            let text = text::one_line(text, limits::PREVIEW_CHARS);
            let message = format!("'{text}' is neither off nor a duration");
            return Err(OpError::invalid("duration", message)
                .hint("Write 30m, 2h, 1d or PT90M, or leave it out for a pause without end."));
        };
        let max = limits::PAUSE_MS_MAX;
        if until.saturating_sub(now) > max {
            let days = max / 86_400_000;
            return Err(OpError::invalid(
                "duration",
                format!("the pause is longer than {days} days"),
            )
            .with("max", max)
            .hint("Leave the duration out for a pause without end."));
        }
        Ok(PauseChange::Until(Some(until)))
    }
}

/// The projects to pause; `None` means everywhere.
fn targets(rx: &Rx<'_>, wanted: &Wanted) -> Result<Vec<Option<i64>>, OpError> {
    let Wanted::Named(name) = wanted else { return Ok(vec![None]) };
    let found = projects::find(rx, name)?;
    if found.is_empty() {
        return Err(unknown(rx, name)?);
    }
    Ok(found.into_iter().map(|project| Some(project.id)).collect())
}

fn told(rx: &Rx<'_>, held: &[Stored]) -> Result<Vec<Holding>, OpError> {
    let mut told = Vec::with_capacity(held.len());
    for pause in held {
        let project = pause.project.map(|id| projects::by_id(rx, id)).transpose()?.flatten();
        let (project, name) = project.map(|project| (path(&project.key), project.name)).unzip();
        let ends_at = pause.until.map(|until| until.div_euclid(1000));
        told.push(Holding { project, name, ends_at });
    }
    Ok(told)
}

/// The active pauses.
pub(crate) fn active(rx: &Rx<'_>, now: i64) -> Result<Vec<Holding>, OpError> {
    told(rx, &pauses::list(rx, now)?)
}

/// The active pauses as sentences, for `status`.
pub(crate) fn notes(rx: &Rx<'_>, now: i64) -> Result<Vec<String>, OpError> {
    let mut notes = Vec::new();
    for pause in pauses::list(rx, now)? {
        let project = pause.project.map(|id| projects::by_id(rx, id)).transpose()?.flatten();
        let (place, flag) = project.map_or_else(
            || ("everywhere".to_owned(), String::new()),
            |project| (format!("in {}", project.name), format!(" --project {}", project.name)),
        );
        let end = pause.until.map_or_else(
            || format!("`rekindle pause off{flag}`"),
            |until| zone::shown(until.div_euclid(1000)),
        );
        notes.push(format!(
            "paused {place}: nothing is captured and agents get no text until {end}"
        ));
    }
    Ok(notes)
}

impl Pretty for Pause {
    fn pretty(params: &PauseParams, output: &PauseOutput, _: usize) -> String {
        let mut lines: Vec<String> =
            output.pauses.iter().map(|pause| pause.line(output.answered_at)).collect();
        if params.duration.as_deref().map(str::trim) == Some("off") {
            let result = match (&params.project, output.changed) {
                (Wanted::Named(project), true) => format!("capture resumed in {}", shown(project)),
                (Wanted::Named(project), false) => format!("{} was not paused", shown(project)),
                (_, true) => "capture resumed".to_owned(),
                (_, false) => "there was no pause of all projects".to_owned(),
            };
            lines.insert(0, result);
        }
        if lines.is_empty() { "not paused".to_owned() } else { lines.join("\n") }
    }
}

impl Holding {
    fn line(&self, now: i64) -> String {
        let project = self.project.as_deref().map(|path| shown(&shown_path(path)));
        let (place, flag) = match project {
            Some(project) if project.contains(char::is_whitespace) => {
                (format!("in {project}"), format!(" --project '{project}'"))
            }
            Some(project) => (format!("in {project}"), format!(" --project {project}")),
            None => ("everywhere".to_owned(), String::new()),
        };
        match self.ends_at {
            Some(end) => format!("paused {place} for {}", time_left(end.saturating_sub(now))),
            None => format!("paused {place} until `rekindle pause off{flag}`"),
        }
    }
}

/// User text as one line.
fn shown(text: &str) -> String {
    text::one_line(text, limits::SHOWN_LINE_CHARS_MAX)
}

fn time_left(seconds: i64) -> String {
    let seconds = seconds.max(0);
    // `1 hour` is shown only if it is exact: 90 minutes are shown in minutes.
    let fits = |unit: i64| seconds >= 2 * unit || seconds == unit;
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let (unit, noun) = units.into_iter().find(|(unit, _)| fits(*unit)).unwrap_or((1, "second"));
    text::counted(seconds / unit, noun)
}
