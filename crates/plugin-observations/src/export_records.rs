//! `export_records`: all records, page by page, in the form that `import_records` stores.

use contract::{Cx, Example, Op, OpInfo, Tier, TimeBound};
use model::OpError;
use model::portable::ExportPosition;
use place::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::portable::{self, ExportFilter};

use crate::examples;

pub(crate) struct ExportRecords;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportRecordsParams {
    /// Only records of this project; those of all if left out.
    #[serde(default = "all")]
    project: Wanted,
    /// Only what happened after: a date, `yesterday`, `3d`, `last week` or an RFC 3339 time.
    #[serde(default)]
    since: Option<TimeBound>,
    /// Where the last page ended; left out, the first page is returned.
    #[serde(default)]
    after: Option<ExportPosition>,
}

fn all() -> Wanted {
    Wanted::All
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ExportRecordsOutput {
    /// Lines of an export: projects, then each session with its records, then memories.
    records: Vec<Value>,
    /// Where the next page begins; left out at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<ExportPosition>,
    /// Number of texts in which a stored secret was redacted.
    redacted: u64,
}

impl Op for ExportRecords {
    const INFO: OpInfo = OpInfo {
        name: "export_records",
        summary: "Read all records, page by page",
        doc: "Used by `rekindle export`. The secret guard checks all texts again. `import_records` stores the records in \
              another store without loss.",
        tiers: &[Tier::Person],
        toolset: "memory",
        examples: &[Example {
            title: "The first page",
            before: examples::A_SESSION,
            params: r#"{"project":"*"}"#,
        }],
        ..OpInfo::BASE
    };
    type Params = ExportRecordsParams;
    type Output = ExportRecordsOutput;

    fn run(
        &self,
        cx: &Cx<'_>,
        params: ExportRecordsParams,
    ) -> Result<ExportRecordsOutput, OpError> {
        let question = cx.caller.projects(params.project);
        let since = params.since.map(|since| since.after(cx.now));
        let page = cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            let filter = ExportFilter { projects: projects.as_deref(), since };
            portable::page(rx, &filter, params.after.unwrap_or_default())
        })?;
        let records = page.records.iter().map(serde_json::to_value);
        let records = records.collect::<Result<Vec<Value>, _>>();
        let records = records.map_err(|error| OpError::internal(error.to_string()))?;
        Ok(ExportRecordsOutput { records, next: page.next, redacted: page.redacted })
    }
}
