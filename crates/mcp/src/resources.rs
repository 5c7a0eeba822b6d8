//! The address space as MCP resources: entries listed, described by templates and read by URI.

use model::OpError;
use model::entry::{Entry, EntryLine, EntryPath};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::errors::protocol_error;
use crate::inert;

/// Operation that lists the entries and the templates of all schemes.
pub(crate) const LIST: &str = "list_resources";
/// Operation that reads one entry.
pub(crate) const READ: &str = "get";

/// The parsed result of [`LIST`].
#[derive(Deserialize)]
struct Listing {
    resources: Vec<EntryLine>,
    templates: Vec<SchemeTemplate>,
}

#[derive(Deserialize)]
struct SchemeTemplate {
    template: String,
    summary: String,
}

/// The parsed result of [`READ`].
#[derive(Deserialize)]
struct ReadEntry {
    entry: Entry,
}

/// The entries of the answer to [`LIST`].
pub(crate) fn resources(listing: Value) -> Result<Vec<Resource>, ErrorData> {
    let listing: Listing = read_answer(LIST, listing)?;
    let resource = |line: EntryLine| {
        let name = EntryPath::parse(&line.path).map_or(line.path.clone(), |p| p.segments.join("/"));
        Resource::new(line.path.clone(), name)
            .with_description(line.summary)
            .with_mime_type(line.media_type)
    };
    Ok(listing.resources.into_iter().map(resource).collect())
}

/// The templates of the answer to [`LIST`].
pub(crate) fn templates(listing: Value) -> Result<Vec<ResourceTemplate>, ErrorData> {
    let listing: Listing = read_answer(LIST, listing)?;
    let template = |template: SchemeTemplate| {
        let text = template.template;
        let scheme = text.split_once("://").map_or(text.as_str(), |(scheme, _)| scheme).to_owned();
        ResourceTemplate::new(text, scheme).with_description(template.summary)
    };
    Ok(listing.templates.into_iter().map(template).collect())
}

/// The answer to [`READ`] under the URI that was asked for.
pub(crate) fn contents(uri: &str, answer: Value) -> Result<ReadResourceResult, ErrorData> {
    let entry = read_answer::<ReadEntry>(READ, answer)?.entry;
    let text = ResourceContents::TextResourceContents {
        uri: inert::line(uri.to_owned()),
        mime_type: Some(entry.media_type),
        text: entry.body,
        meta: None,
    };
    Ok(ReadResourceResult::new(vec![text]))
}

/// Why the resource of this URI cannot be read.
pub(crate) fn unreadable(uri: &str, error: &OpError) -> ErrorData {
    let mut unreadable = protocol_error(error);
    if let Some(Value::Object(data)) = &mut unreadable.data {
        data.insert("uri".to_owned(), json!(uri));
    }
    inert::protocol_error(unreadable)
}

fn read_answer<T: for<'de> Deserialize<'de>>(op: &str, answer: Value) -> Result<T, ErrorData> {
    serde_json::from_value(answer).map_err(|error| {
        ErrorData::internal_error(format!("{op} gave an unexpected answer: {error}"), None)
    })
}
