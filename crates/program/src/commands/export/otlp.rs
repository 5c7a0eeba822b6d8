//! An export as OpenTelemetry traces: a trace per session, with the session, its prompts and its actions as spans. Each
//! line is one document of the OTLP JSON encoding, as the file exporter of OpenTelemetry writes it.

use std::collections::HashMap;
use std::io::{self, Write as _};

use model::origin::Origin;
use model::portable::{PortableObservation, PortablePrompt, PortableRecord, PortableSession};
use serde_json::{Value, json};

use super::target::ExportTarget;
use super::{RecordWriter, error_of};

pub(super) struct Traces<'t> {
    target: &'t mut ExportTarget,
    /// Names of projects by their keys.
    projects: HashMap<String, String>,
    trace: Option<Trace>,
}

/// The trace of a session that is being read.
struct Trace {
    session: Box<PortableSession>,
    id: String,
    spans: Vec<Value>,
    /// The places of prompts in `spans` by their first origins, and the time of the last record that each one caused.
    prompts: HashMap<String, (usize, i64)>,
}

impl<'t> Traces<'t> {
    pub(super) fn new(target: &'t mut ExportTarget) -> Traces<'t> {
        Traces { target, projects: HashMap::new(), trace: None }
    }

    /// Writes the trace of the session that ended.
    fn end(&mut self) -> io::Result<()> {
        let Some(mut trace) = self.trace.take() else { return Ok(()) };
        for (place, end) in trace.prompts.values() {
            trace.spans[*place]["endTimeUnixNano"] = nanos(*end);
        }
        let project = &trace.session.project;
        let name = self.projects.get(project).unwrap_or(project);
        let resource = attributes(&[
            ("service.name", json!("rekindle")),
            ("rekindle.project", json!(name)),
            ("rekindle.agent", json!(trace.session.agent)),
        ]);
        let scope = json!({ "name": "rekindle", "version": env!("CARGO_PKG_VERSION") });
        let document = json!({ "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{ "scope": scope, "spans": trace.spans }],
        }] });
        serde_json::to_writer(&mut *self.target, &document)?;
        self.target.write_all(b"\n")
    }
}

impl Trace {
    fn begin(session: &PortableSession) -> Trace {
        let id = Origin::of(&["trace", &session.id]).to_string();
        let mut trace = Trace {
            session: Box::new(session.clone()),
            id,
            spans: Vec::new(),
            prompts: HashMap::new(),
        };
        let label = session.label.as_ref().map_or("session", |label| label.as_str());
        let root = trace.root();
        let attributes = attributes(&[("rekindle.session", json!(session.id))]);
        let times = (session.started_at, session.last_at);
        let span = trace.span(&root, None, label, times, attributes);
        trace.spans.push(span);
        trace
    }

    fn root(&self) -> String {
        span_id(&Origin::of(&["span", &self.session.id]).to_string())
    }

    fn span(
        &self,
        id: &str,
        parent: Option<&str>,
        name: &str,
        (start, end): (i64, i64),
        attributes: Vec<Value>,
    ) -> Value {
        let mut span = json!({
            "traceId": self.id,
            "spanId": id,
            "name": name,
            "kind": 1,
            "startTimeUnixNano": nanos(start),
            "endTimeUnixNano": nanos(end.max(start)),
            "attributes": attributes,
        });
        if let Some(parent) = parent {
            span["parentSpanId"] = json!(parent);
        }
        span
    }

    fn prompt(&mut self, prompt: &PortablePrompt) {
        let Some(origin) = prompt.origins.first() else { return };
        let attributes = attributes(&[("rekindle.text", json!(prompt.content))]);
        let times = (prompt.at, prompt.at);
        let span = self.span(&span_id(origin), Some(&self.root()), "prompt", times, attributes);
        self.prompts.insert(origin.clone(), (self.spans.len(), prompt.at));
        self.spans.push(span);
    }

    fn action(&mut self, one: &PortableObservation) {
        let Some(origin) = one.origins.first() else { return };
        let end = one.last_at.unwrap_or(one.at);
        let cause = one.prompt.as_ref().filter(|prompt| self.prompts.contains_key(*prompt));
        let parent = cause.map_or_else(|| self.root(), |prompt| span_id(prompt));
        if let Some((_, last)) = cause.cloned().and_then(|prompt| self.prompts.get_mut(&prompt)) {
            *last = end.max(*last);
        }
        let mut members =
            vec![("rekindle.kind", json!(one.kind)), ("rekindle.text", json!(one.content))];
        members.extend(one.file.as_ref().map(|file| ("rekindle.file", json!(file))));
        members.extend((one.count > 1).then(|| ("rekindle.count", json!(one.count))));
        members.extend(one.agent_id.as_ref().map(|id| ("rekindle.subagent", json!(id))));
        let name = one.tool.as_deref().unwrap_or(one.kind.word());
        let times = (one.at, end);
        let mut span =
            self.span(&span_id(origin), Some(&parent), name, times, attributes(&members));
        if one.failed {
            span["status"] = json!({ "code": 2 });
            if let Some(error) = error_of(one) {
                span["status"]["message"] = json!(error);
            }
        }
        self.spans.push(span);
    }
}

/// The first 8 bytes of a hash, which identify a span.
fn span_id(origin: &str) -> String {
    origin.chars().take(16).collect()
}

/// A time as OTLP has it: nanoseconds since 1970 as text.
fn nanos(at_ms: i64) -> Value {
    json!(i128::from(at_ms.max(0)).saturating_mul(1_000_000).to_string())
}

fn attributes(members: &[(&str, Value)]) -> Vec<Value> {
    let value = |value: &Value| match value.as_i64() {
        Some(number) => json!({ "intValue": number.to_string() }),
        None => json!({ "stringValue": value }),
    };
    members.iter().map(|(key, of)| json!({ "key": key, "value": value(of) })).collect()
}

impl RecordWriter for Traces<'_> {
    /// A memory is no part of a session, and so of no trace.
    fn has(&self, record: &PortableRecord) -> bool {
        !matches!(record, PortableRecord::Memory(_))
    }

    fn record(&mut self, record: &PortableRecord) -> io::Result<()> {
        match (record, &mut self.trace) {
            (PortableRecord::Project(project), _) => {
                self.projects.insert(project.key.clone(), project.name.clone());
            }
            (PortableRecord::Session(session), _) => {
                self.end()?;
                self.trace = Some(Trace::begin(session));
            }
            (PortableRecord::Prompt(prompt), Some(trace)) => trace.prompt(prompt),
            (PortableRecord::Observation(one), Some(trace)) => trace.action(one),
            // A memory is no part of a trace.
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.end()
    }
}
