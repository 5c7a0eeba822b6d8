//! `receipts`: the texts that agents got, with their reasons, their cost, and whether the agents used them.

use contract::pretty::{notes, pretty};
use contract::{CliShape, Count, Cx, Example, Op, OpInfo, Pretty, TimeBound};
use model::time::{parse_rfc3339, rfc3339};
use model::{OpError, limits};
use place::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::receipts::{ReceiptFilter, SourceUse};
use store::{receipts, sessions};

pub(super) struct Receipts;

/// Lines that are read beyond the limit, to count all tokens of a text that the limit divides. A text has fewer lines.
const LINES_OF_TEXT: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReceiptsParams {
    /// Only the texts of this session: its id; on the command line its first characters will do.
    #[serde(default)]
    session_id: Option<String>,
    /// Only the texts of the sessions of this project; all projects if left out.
    #[serde(default = "all_projects")]
    project: Wanted,
    /// Only the items that the session used, or only those that it did not.
    #[serde(default)]
    used: Option<bool>,
    /// Only since this time: a date, an RFC 3339 time, `3d` ago or `yesterday`.
    #[serde(default)]
    from: Option<TimeBound>,
    /// Only up to this time.
    #[serde(default)]
    to: Option<TimeBound>,
    /// The next page: `next_cursor` of the page before.
    #[serde(default)]
    cursor: Option<i64>,
    /// Number of items to list, from 1 to 1,000.
    #[serde(default = "default_limit")]
    limit: Count,
    /// Totals of each source instead of the texts: how often it was shown and used, and its tokens.
    #[serde(default)]
    summary: bool,
}

impl ReceiptsParams {
    /// Refuses a time span that ends before it begins.
    fn check_span(&self, now: i64) -> Result<(), OpError> {
        let (Some(from), Some(to)) = (&self.from, &self.to) else { return Ok(()) };
        // A day as `to` ends where the next day begins.
        if from.before(now) < to.until(now) {
            return Ok(());
        }
        Err(OpError::invalid("from", "`from` is later than `to`")
            .hint("No text can match. Exchange the two, or leave one out."))
    }

    fn has_filter(&self) -> bool {
        let has_time = self.from.is_some() || self.to.is_some();
        let is_of_all = self.session_id.is_none() && self.project == Wanted::All;
        has_time || !is_of_all || self.used.is_some() || self.cursor.is_some()
    }
}

fn all_projects() -> Wanted {
    Wanted::All
}

fn default_limit() -> Count {
    Count::new(limits::RECEIPTS_DEFAULT)
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct ReceiptsOutput {
    /// The newest first.
    receipts: Vec<SessionTexts>,
    /// When this was answered, RFC 3339: ages count from here.
    #[serde(default, with = "model::time::seconds_as_rfc3339")]
    #[schemars(with = "String")]
    answered_at: i64,
    /// Pass it as `cursor` for the next page; left out on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_cursor: Option<i64>,
    /// Only with `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<UseSummary>,
    /// Characters of the sessions' ids that tell them from all others, if the usual eight do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    id_chars: Option<usize>,
}

/// How much of the injected text the sessions used.
#[derive(Serialize, Deserialize, JsonSchema)]
struct UseSummary {
    /// Most often shown first.
    sources: Vec<SourceTotals>,
    /// Entries that five sessions or more got and none used: they rank half as high at hooks.
    ignored: Vec<IgnoredEntry>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct SourceTotals {
    /// The scheme of its entries; of ghaps `check-in`, `outcome` and `orphan` by themselves.
    source: String,
    shown: u64,
    used: u64,
    /// The used share of the shown entries, from 0 to 1.
    share: f64,
    tokens: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct IgnoredEntry {
    path: String,
    /// Sessions that got it.
    sessions: u64,
}

/// The text that a session got at one time.
#[derive(Serialize, Deserialize, JsonSchema)]
struct SessionTexts {
    session_id: String,
    /// The name of the session's project.
    #[serde(default)]
    project: String,
    at: String,
    /// Tokens of the whole text, as far as it matches.
    tokens: u64,
    items: Vec<SessionTextLine>,
    /// Lines of the text that the limit left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct SessionTextLine {
    #[serde(default)]
    id: i64,
    path: String,
    reason: String,
    tokens: u64,
    /// Whether the agent then acted on it.
    used: bool,
}

impl Op for Receipts {
    const INFO: OpInfo = OpInfo {
        name: "receipts",
        summary: "List the injected text, with its reason and its cost",
        doc: "Every row that a hook injected has a receipt: the entry it came from, the reason, its \
              tokens, and whether the session made use of it.",
        toolset: "system",
        cli: CliShape {
            path: &["receipts"],
            flag_aliases: &[("session_id", "session")],
            pretty: Some(pretty::<Self>),
            notes: Some(notes::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example { title: "The last injected items", before: &[], params: r#"{"limit":20}"# },
            Example { title: "The use of each source", before: &[], params: r#"{"summary":true}"# },
        ],
        ..OpInfo::BASE
    };
    type Params = ReceiptsParams;
    type Output = ReceiptsOutput;

    fn run(&self, cx: &Cx<'_>, params: ReceiptsParams) -> Result<ReceiptsOutput, OpError> {
        let limit = params.limit.of_caller(cx.caller, "limit", 1..=limits::RECEIPTS_MAX)?;
        params.check_span(cx.now)?;
        let question = cx.caller.projects(params.project.clone());
        let filter = cx.store.read(|rx| {
            let session = match &params.session_id {
                None => None,
                Some(given) => Some(sessions::find(rx, given, cx.caller.session_id_form())?.id),
            };
            Ok(ReceiptFilter {
                session,
                projects: question.scope(rx)?.ids(),
                used: params.used,
                before: params.cursor,
                from: params.from.as_ref().map(|from| from.before(cx.now)),
                to: params.to.as_ref().map(|to| to.until(cx.now)),
            })
        })?;
        if params.summary {
            return summary(cx, &filter);
        }
        // The limit may divide a text, whose tokens are counted as a whole.
        let most = limit + LINES_OF_TEXT;
        let rows = cx.store.read(|rx| receipts::list(rx, &filter, most))?;
        let last = limit.checked_sub(1).and_then(|last| rows.get(last));
        let next_cursor = last.filter(|_| rows.len() > limit).map(|row| row.id);
        let mut tellings: Vec<SessionTexts> = Vec::new();
        for (place, row) in rows.into_iter().enumerate() {
            let is_listed = place < limit;
            let at = rfc3339(row.at);
            let same =
                |last: &&mut SessionTexts| last.at == at && last.session_id == row.session_id;
            let item = SessionTextLine {
                id: row.id,
                path: row.path,
                reason: row.reason,
                tokens: row.tokens,
                used: row.used,
            };
            match tellings.last_mut().filter(same) {
                Some(telling) => {
                    telling.tokens += item.tokens;
                    match is_listed {
                        true => telling.items.push(item),
                        false => telling.left_out += 1,
                    }
                }
                None if !is_listed => break,
                None => tellings.push(SessionTexts {
                    session_id: row.session_id,
                    project: row.project,
                    at,
                    tokens: item.tokens,
                    items: vec![item],
                    left_out: 0,
                }),
            }
        }
        // The rows are newest first; within one text they are in the order of its lines.
        tellings.iter_mut().for_each(|telling| telling.items.reverse());
        let answered_at = cx.now.div_euclid(1000);
        let ids = tellings.iter().map(|telling| telling.session_id.as_str());
        let id_chars = cx.store.read(|rx| contract::listing::id_chars(cx, rx, ids))?;
        Ok(ReceiptsOutput { receipts: tellings, answered_at, next_cursor, summary: None, id_chars })
    }
}

/// The totals of each source in the receipts that match.
fn summary(cx: &Cx<'_>, filter: &ReceiptFilter) -> Result<ReceiptsOutput, OpError> {
    let (sources, ignored) = cx.store.read(|rx| {
        let sources = receipts::by_source(rx, filter)?;
        let (least, limit) = (limits::IGNORED_SESSIONS, limits::IGNORED_SHOWN);
        Ok((sources, receipts::never_used(rx, filter, least, limit)?))
    })?;
    let totals = |one: SourceUse| {
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        let share = one.used as f64 / one.shown.max(1) as f64;
        let SourceUse { source, shown, used, tokens } = one;
        SourceTotals { source, shown, used, share: (share * 1000.0).round() / 1000.0, tokens }
    };
    let ignored = ignored.into_iter().map(|(path, sessions)| IgnoredEntry { path, sessions });
    let summary = UseSummary {
        sources: sources.into_iter().map(totals).collect(),
        ignored: ignored.collect(),
    };
    let answered_at = cx.now.div_euclid(1000);
    let (receipts, next_cursor, summary) = (Vec::new(), None, Some(summary));
    Ok(ReceiptsOutput { receipts, answered_at, next_cursor, summary, id_chars: None })
}

/// The totals as a table, and the entries that no session used.
fn told_summary(summary: &UseSummary, width: usize) -> String {
    if summary.sources.is_empty() {
        return "No text was injected so far.".to_owned();
    }
    let head = ["Source", "Shown", "Used", "Share", "Tokens"].map(str::to_owned).to_vec();
    let row = |one: &SourceTotals| {
        let share = format!("{:.0} %", one.share * 100.0);
        vec![
            one.source.clone(),
            one.shown.to_string(),
            one.used.to_string(),
            share,
            one.tokens.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(summary.sources.iter().map(row)).collect();
    let mut lines = vec![text::table::table(&rows, &[], width)];
    if !summary.ignored.is_empty() {
        lines.push(
            "\nShown in five sessions or more and never used; they rank half as high:".to_owned(),
        );
        let line = |one: &IgnoredEntry| {
            format!("  {} ({})", text::printable(&one.path), text::counted(one.sessions, "session"))
        };
        lines.extend(summary.ignored.iter().map(line));
    }
    lines.join("\n")
}

impl Pretty for Receipts {
    fn pretty(params: &ReceiptsParams, output: &ReceiptsOutput, width: usize) -> String {
        let ReceiptsOutput { receipts, answered_at, summary, id_chars, .. } = output;
        if let Some(summary) = summary {
            return told_summary(summary, width);
        }
        if receipts.is_empty() {
            return match params.has_filter() {
                true => "Nothing was injected that matches these filters.".to_owned(),
                false => "Nothing was injected yet.".to_owned(),
            };
        }
        let mut lines = Vec::new();
        let ids: Vec<&str> = receipts.iter().map(|texts| texts.session_id.as_str()).collect();
        let ids = contract::listing::session_ids(ids.into_iter(), *id_chars);
        for (texts, session_id) in receipts.iter().zip(ids) {
            let SessionTexts { at, tokens, items, left_out, .. } = texts;
            let at = parse_rfc3339(at).map_or_else(
                || at.clone(),
                |at| zone::shown_with_age(at, answered_at.saturating_mul(1000)),
            );
            lines.push(format!("{at}  session {session_id}, {tokens} tokens"));
            if *left_out > 0 {
                lines.push(format!("  … {} before these", text::counted(*left_out, "item")));
            }
            for SessionTextLine { path, reason, tokens, used, .. } in items {
                let used = if *used { ", used" } else { "" };
                lines.push(format!("  {path}  {tokens} tokens{used}: {reason}"));
            }
        }
        lines.join("\n")
    }

    fn notes(params: &ReceiptsParams, output: &ReceiptsOutput) -> Vec<String> {
        let count: usize = output.receipts.iter().map(|texts| texts.items.len()).sum();
        let older = output.next_cursor.map(|next| format!("; --cursor {next} shows older ones"));
        let counted = text::counted(count, "item") + &older.unwrap_or_default();
        let reduced = contract::listing::limit_note(params.limit, limits::RECEIPTS_MAX);
        (count > 0).then_some(counted).into_iter().chain(reduced).collect()
    }
}
