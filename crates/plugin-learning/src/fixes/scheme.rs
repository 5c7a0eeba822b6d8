//! `fix://ID`: a failure and its fix, as an entry of the one address space.

use contract::{Cx, OpError, Scheme};
use model::entry::{Entry, EntryLine, EntryPath};
use model::limits;
use place::Wanted;
use serde_json::{Value, json};
use store::failures;

use super::account::{KnownFailure, path};

const TEXT: &str = "text/plain";

pub(crate) struct FixScheme;

impl Scheme for FixScheme {
    fn name(&self) -> &'static str {
        failures::SCHEME
    }

    fn template(&self) -> &'static str {
        "fix://{id}"
    }

    fn summary(&self) -> &'static str {
        "A failed test or build, how often it was seen, and the run that fixed it"
    }

    fn list(&self, cx: &Cx<'_>) -> Result<Vec<EntryLine>, OpError> {
        let question = cx.caller.projects(Wanted::Here);
        cx.store.read(|rx| {
            let projects = question.scope(rx)?.ids();
            let mut lines = Vec::new();
            for failure in failures::list(rx, projects.as_deref(), None, limits::FIXES_MAX)? {
                let Some(known) = KnownFailure::read(rx, &failure, None, None)? else { continue };
                lines.push(EntryLine {
                    path: known.path,
                    summary: if known.error.is_empty() { known.command } else { known.error },
                    media_type: TEXT.to_owned(),
                });
            }
            Ok(lines)
        })
    }

    fn read(&self, cx: &Cx<'_>, entry: &EntryPath) -> Result<Entry, OpError> {
        let id: Option<i64> = match entry.segments.as_slice() {
            [id] => id.parse().ok(),
            _ => None,
        };
        let id = id.ok_or_else(|| {
            OpError::invalid("path", "the path of a fix is a number").hint("Write it as fix://42.")
        })?;
        let known = cx.store.read(|rx| match failures::get(rx, id, None)? {
            Some(failure) => KnownFailure::read(rx, &failure, None, None),
            None => Ok(None),
        })?;
        let known = known.ok_or_else(|| {
            OpError::not_found(format!("there is no fix://{id}"))
                .hint("`rekindle fixes` lists the failures of this project.")
        })?;
        let mut body = format!("{}\nfailed: {}", known.command, known.error);
        if let Some(fix) = &known.fix {
            body = format!("{body}\npassed: {}\nin between: {}", fix.command, fix.in_between());
        }
        let Value::Object(attributes) = json!(known) else {
            return Err(OpError::internal("a failure is not an object"));
        };
        Ok(Entry { path: path(id), body, media_type: TEXT.to_owned(), attributes })
    }
}
