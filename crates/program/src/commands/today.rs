//! `rekindle today`, and `rekindle` alone on a terminal: today's sessions and what came of each, open work, and one
//! line of health.

use std::collections::HashMap;

use clap::{ArgMatches, Command};
use model::{OpError, Road as _, limits};
use serde_json::{Value, json};
use text::table::{fitted, table};

use crate::road::{self, CommandRoad};
use crate::world::World;

/// The heading of open work in a briefing.
const OPEN: &str = "## Open";

pub(super) fn command() -> Command {
    Command::new("today")
        .about("Show today's sessions, open work and whether all is well")
        .long_about(
            "Show today's sessions and what came of each, the open work of the projects of the last week, and one \
             line of health. If there was no session today, the last ones are shown.\n\n\
             `rekindle` alone does the same on a terminal.",
        )
}

pub(super) fn run(world: &mut World, _: &[String], _: &ArgMatches) -> u8 {
    show(world)
}

/// Prints the day.
pub(super) fn show(world: &mut World) -> u8 {
    let width = world.out.width();
    match today(world) {
        Ok(result) => world.out.result(&result, Some(&|result| pretty(result, width))),
        Err(error) => world.out.error(&error),
    }
}

fn today(world: &mut World) -> Result<Value, OpError> {
    // Looking creates no database.
    if !world.locations.database.exists() && waiting(world) == 0 {
        let unwired = super::agents::unwired();
        return Ok(
            json!({ "sessions": [], "open": [], "last_at": null, "not_connected": unwired }),
        );
    }
    let waits = waiting(world);
    let runs = matches!(road::connect(world), Ok(Some(_)));
    let road = CommandRoad::new(world, false);
    let ask = |op: &str, params: Value| road.call(crate::calls::request(op, params));
    let stats = ask("memory_stats", json!({}))?;
    let pauses = ask("status", json!({}))?["pauses"].take();
    let of_today = json!({ "project": "*", "after": "today", "limit": limits::TODAY_SESSIONS });
    let mut answer = ask("list_sessions", of_today)?;
    let is_today = answer["sessions"].as_array().is_some_and(|all| all.iter().any(has_work));
    if !is_today {
        let last = json!({ "project": "*", "limit": limits::TODAY_LAST_SESSIONS });
        answer = ask("list_sessions", last)?;
    }
    let (listed, id_chars) = (answer["sessions"].take(), answer["id_chars"].take());
    let summaries =
        ask("session_summaries", json!({ "project": "*", "limit": limits::SUMMARIES_MAX }))?;
    let latest = |session: &str| {
        latest_prompt(&ask("session_trace", json!({ "session_id": session })).ok()?)
    };
    let is_cut = listed.as_array().is_some_and(|all| all.len() >= limits::TODAY_SESSIONS);
    let sessions = told(&listed, &summaries, latest);
    let projects = ask("list_projects", json!({}))?["projects"].take();
    let now = client::clock::now_ms().div_euclid(1000);
    let (open, more_open) =
        open(&projects, now, |project| ask("briefing", json!({ "project": project })).ok());
    Ok(json!({
        "today": is_today,
        "sessions": sessions,
        "id_chars": id_chars,
        // Whether there were more sessions today than these.
        "more": is_today && is_cut,
        "open": open,
        // Projects with open work besides those of `open`.
        "more_open": more_open,
        "daemon": runs,
        "pauses": pauses,
        "last_at": stats["newest_at"],
        "answered_at": now,
        "spooled": if runs { waits } else { 0 },
        "not_connected": super::agents::unwired(),
    }))
}

/// Events in the spool.
fn waiting(world: &World) -> usize {
    runtime::spool::own_files(&world.locations.spools(), world.locations.uid()).len()
}

/// Whether anything happened in a session besides its start.
fn has_work(session: &Value) -> bool {
    session["actions"].as_u64().is_some_and(|actions| actions > 0) || session["intent"].is_string()
}

/// The last prompt of a traced session.
fn latest_prompt(trace: &Value) -> Option<String> {
    let prompts = trace["prompts"].as_array()?.iter().rev();
    prompts.filter_map(|prompt| prompt["content"].as_str()).next().map(str::to_owned)
}

/// The sessions in which something was done, oldest first, each with its intent and what came of it. A session without
/// a summary has not ended a turn yet: its intent is its `latest` prompt.
fn told(listed: &Value, summaries: &Value, latest: impl Fn(&str) -> Option<String>) -> Vec<Value> {
    let summaries = summaries["results"].as_array().into_iter().flatten();
    let summaries: HashMap<&str, &Value> =
        summaries.filter_map(|of| Some((of["session_id"].as_str()?, of))).collect();
    let listed = listed.as_array().into_iter().flatten().rev().filter(|session| has_work(session));
    let told = listed.map(|session| {
        let id = session["session_id"].as_str().unwrap_or_default();
        let summarised = summaries.get(id).copied().unwrap_or(&Value::Null);
        let (answered, came_of_it) = came_of(session, summarised);
        let intent = answered.or(session["intent"].as_str());
        let at_work = summarised.is_null();
        json!({
            "session_id": id,
            "project": session["project"],
            "last_at": session["last_at"],
            "state": session["state"],
            "intent": at_work.then(|| latest(id)).flatten().or(intent.map(str::to_owned)),
            "came_of_it": came_of_it,
        })
    });
    told.collect()
}

/// The outcome of a session: its commits, else the answer to its intent, else its last answer, else its last error, else
/// how much was done. Before it, the prompt that the last answer belongs to, if that is shown and is not the intent.
fn came_of<'v>(session: &Value, summarised: &'v Value) -> (Option<&'v str>, String) {
    let summary = &summarised["summary"];
    let texts = |name: &str| -> Vec<&str> {
        summary[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let said = |value: &'v Value| value.as_str().filter(|text| !text.is_empty());
    let so_far = if session["state"] == "active" { " so far" } else { "" };
    let actions = text::counted(&session["actions"], "action") + so_far;
    let came = match (&texts("completed")[..], &texts("notes")[..]) {
        ([one], _) => format!("committed: {one}"),
        ([_, ..], _) => {
            let several = texts("completed");
            format!("{}: {}", text::counted(several.len(), "commit"), several.join("; "))
        }
        ([], notes) => match (said(&summarised["answer"]), said(&summary["outcome"]), notes) {
            (Some(answer), ..) => answer.to_owned(),
            (None, Some(outcome), _) => {
                return (said(&summarised["last_prompt"]), outcome.to_owned());
            }
            (None, None, [error, ..]) => format!("{actions}; last error: {error}"),
            (None, None, []) => actions,
        },
    };
    (None, came)
}

/// The open work of the projects of the last week, as a briefing lists it, and the number of projects with open work
/// whose rows are left out. `projects` has the one that was active last first.
fn open(projects: &Value, now: i64, brief: impl Fn(&str) -> Option<Value>) -> (Vec<Value>, usize) {
    let since = now.saturating_sub(limits::TODAY_OPEN_SECONDS);
    let projects = projects.as_array().into_iter().flatten();
    let lately =
        projects.filter(|project| project["last_at"].as_i64().is_some_and(|at| at > since));
    let rows = |project: &Value| -> Option<Vec<Value>> {
        let told = brief(project["path"].as_str()?)?;
        let lines = told["text"].as_str()?.lines();
        let rows = lines
            .skip_while(|line| *line != OPEN)
            .skip(1)
            .map_while(|line| line.strip_prefix("- "));
        // Running sessions are listed already.
        let rows = rows.filter(|row| !row.contains(" another session is at work on: "));
        let rows = rows.map(|row| json!({ "project": project["name"], "text": row }));
        Some(rows.take(limits::TODAY_OPEN_ROWS).collect())
    };
    // Most projects have no open work, so these are left out before the number of projects is limited.
    let mut with_rows = lately.filter_map(rows).filter(|rows| !rows.is_empty());
    let shown = with_rows.by_ref().take(limits::TODAY_PROJECTS).flatten().collect();
    (shown, with_rows.count())
}

fn pretty(result: &Value, width: usize) -> String {
    let list = |name: &str| result[name].as_array().cloned().unwrap_or_default();
    let (sessions, open) = (list("sessions"), list("open"));
    if sessions.is_empty() && result["last_at"].is_null() {
        return fitted(&first_steps(&list("not_connected")), width);
    }
    let mut lines = Vec::new();
    lines.push(match (result["today"] == true, sessions.is_empty()) {
        (_, true) => "No session is recorded yet.".to_owned(),
        (true, false) if result["more"] == true => {
            format!("Today, the last {}:", text::counted(sessions.len(), "session"))
        }
        (true, false) => format!("Today: {}", text::counted(sessions.len(), "session")),
        (false, false) => "No session today. The last ones:".to_owned(),
    });
    if !sessions.is_empty() {
        let mut rows = vec![["when", "session", "project", "what"].map(str::to_owned).to_vec()];
        let chars = result["id_chars"].as_u64().and_then(|chars| usize::try_from(chars).ok());
        let ids = sessions.iter().filter_map(|session| session["session_id"].as_str());
        let ids = contract::listing::session_ids(ids, chars);
        let is_today = result["today"] == true;
        rows.extend(
            sessions.iter().zip(ids).map(|(session, id)| session_row(session, id, is_today)),
        );
        let table = table(&rows, &[], width.saturating_sub(2));
        lines.push(indented(&without_heading(&table, "when ")));
    }
    if !open.is_empty() {
        lines.push("\nOpen".to_owned());
        let mut rows = vec![["project", "what"].map(str::to_owned).to_vec()];
        rows.extend(
            open.iter().map(|one| ["project", "text"].map(|name| plain(&one[name])).to_vec()),
        );
        lines.push(indented(&without_heading(
            &table(&rows, &[], width.saturating_sub(2)),
            "project ",
        )));
    }
    if let Some(more) = result["more_open"].as_u64().filter(|more| *more > 0) {
        let projects = text::counted(more, "more project");
        let has = if more == 1 { "has" } else { "have" };
        let line =
            format!("{projects} {has} open work; `rekindle briefing --project NAME` shows it.");
        lines.push(indented(&fitted(&line, width.saturating_sub(2))));
    }
    lines.push(String::new());
    let pauses = result["pauses"].as_array().into_iter().flatten();
    lines.extend(pauses.map(|pause| fitted(&paused(pause), width)));
    lines.push(fitted(&health(result), width));
    let trace = match sessions.is_empty() {
        true => "",
        false => "`rekindle trace SESSION` shows a session; ",
    };
    lines.push(fitted(
        &format!(
            "Search with `rekindle search WORDS`; {trace}`rekindle --help` lists all commands."
        ),
        width,
    ));
    lines.join("\n")
}

/// A session as a row: its time, its id, its project, its intent and what came of it.
fn session_row(session: &Value, id: String, is_today: bool) -> Vec<String> {
    let at = zone::shown(session["last_at"].as_i64().unwrap_or_default());
    let at = if is_today { at.rsplit(' ').next().unwrap_or_default().to_owned() } else { at };
    let intent = session["intent"].as_str().map_or_else(|| "(no prompt)".to_owned(), shown);
    let now = if session["state"] == "active" { " [running]" } else { "" };
    let came = shown(session["came_of_it"].as_str().unwrap_or_default());
    vec![at, id, plain(&session["project"]), format!("{intent}{now} → {came}")]
}

/// A text as one line that ends with a whole word.
fn shown(text: &str) -> String {
    text::line_of_words(text, limits::SHOWN_LINE_CHARS_MAX)
}

fn plain(value: &Value) -> String {
    text::one_line(value.as_str().unwrap_or_default(), limits::SHOWN_LINE_CHARS_MAX)
}

/// A table without its line of headings, if it has one.
fn without_heading(table: &str, heading: &str) -> String {
    match table.split_once('\n') {
        Some((first, rest)) if first.starts_with(heading) => rest.to_owned(),
        _ => table.to_owned(),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// A sentence about a pause, during which the day gets no new sessions.
fn paused(pause: &Value) -> String {
    let name =
        pause["name"].as_str().map(|name| text::one_line(name, limits::PROJECT_NAME_CHARS_TOLD));
    let (place, flag) = match name {
        Some(name) => (format!("in {name}"), format!(" --project {name}")),
        None => ("everywhere".to_owned(), String::new()),
    };
    let end = pause["ends_at"].as_i64();
    let end = end.map_or_else(|| "you resume it".to_owned(), zone::shown);
    format!(
        "Paused {place} until {end}: nothing is captured. `rekindle pause off{flag}` resumes capture."
    )
}

/// One line: whether events arrive, and the command that explains a problem.
fn health(result: &Value) -> String {
    let daemon = match result["daemon"] == true {
        true => "the daemon runs",
        false => "no daemon runs, the next session starts one",
    };
    let ago = |at: i64| {
        let now = result["answered_at"].as_i64().unwrap_or(at);
        model::time::ago(at.saturating_mul(1000), now.saturating_mul(1000))
    };
    let last = result["last_at"].as_i64().map(|at| format!("; last record {}", ago(at)));
    let spooled = result["spooled"].as_u64().filter(|spooled| *spooled > 0);
    let spooled =
        spooled.map(|count| format!("; {} not stored yet", text::counted(count, "event")));
    let agents: Vec<&str> = result["not_connected"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let agents = (!agents.is_empty()).then(|| format!("; not connected: {}", agents.join(", ")));
    let more = match (&spooled, &agents) {
        (None, None) => "",
        (None, Some(_)) => " (`rekindle install` connects agents)",
        (Some(_), _) => " (`rekindle doctor` says why)",
    };
    let parts = [last, spooled, agents].map(Option::unwrap_or_default).concat();
    format!("Health: {daemon}{parts}{more}.")
}

/// The text for a user without a record.
fn first_steps(not_connected: &[Value]) -> String {
    let agents: Vec<&str> = not_connected.iter().filter_map(Value::as_str).collect();
    let found = match agents.is_empty() {
        true => String::new(),
        false => format!(" Agents on this machine that are not connected: {}.", agents.join(", ")),
    };
    format!(
        "Nothing is recorded yet.{found}\n\n\
         `rekindle install` connects your agents; then start a new session.\n\
         `rekindle hint set COMPONENT KEY VALUE` stores a fact by hand.\n\
         `rekindle --help` lists all commands."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(summarised: &Value) -> String {
        let session =
            json!({ "session_id": "s-1", "intent": "why is the export slow?", "actions": 3 });
        let summaries = json!({ "results": [summarised] });
        let told = told(&json!([session]), &summaries, |_| None);
        format!("{} -> {}", plain(&told[0]["intent"]), plain(&told[0]["came_of_it"]))
    }

    #[test]
    fn a_prompt_is_shown_with_the_answer_of_its_own_turn() {
        let (own, last) = ("An index is missing.", "The index is back in migration 0057.");
        let summary = json!({ "outcome": last, "completed": [], "notes": [] });
        let both = json!({ "session_id": "s-1", "summary": summary, "answer": own,
            "last_prompt": "put the index back" });
        assert_eq!(row(&both), format!("why is the export slow? -> {own}"));
        let unanswered = json!({ "session_id": "s-1", "summary": summary,
            "last_prompt": "put the index back" });
        assert_eq!(row(&unanswered), format!("put the index back -> {last}"));
        let alone = json!({ "session_id": "s-1", "summary": summary });
        assert_eq!(row(&alone), format!("why is the export slow? -> {last}"));
    }
}
