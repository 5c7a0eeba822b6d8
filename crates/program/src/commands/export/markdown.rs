//! An export as Markdown: a page per session, and one for the memories.

use std::io::{self, Write as _};

use model::observation::ObsType;
use model::portable::{PortableMemory, PortableObservation, PortableRecord, PortableSession};
use model::time::rfc3339;

use super::target::ExportTarget;
use super::{RecordWriter, error_of};

pub(super) struct MarkdownPages<'t> {
    target: &'t mut ExportTarget,
    pages: u64,
    has_memories: bool,
}

impl<'t> MarkdownPages<'t> {
    pub(super) fn new(target: &'t mut ExportTarget) -> MarkdownPages<'t> {
        MarkdownPages { target, pages: 0, has_memories: false }
    }

    fn session(&mut self, session: &PortableSession) -> io::Result<()> {
        self.pages += 1;
        let day: String = rfc3339(session.started_at).chars().take(10).collect();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let id: String = session.id.chars().filter(|c| is_plain(*c)).take(36).collect();
        // Ids may differ only in characters that are left out here, so the name also has a number.
        self.target.page(&format!("{day}-{:05}-{id}.md", self.pages))?;
        let intent = session.summary.as_ref().and_then(|summary| summary.get("intent"));
        let intent = intent.and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
        let title = session.label.as_ref().map(|label| label.as_str()).or(intent);
        let title = line(title.unwrap_or(&session.id));
        let PortableSession { agent, project, started_at, last_at, .. } = session;
        writeln!(self.target, "# {title}\n")?;
        writeln!(self.target, "- project: {}", line(project))?;
        writeln!(self.target, "- agent: {}", line(agent))?;
        writeln!(self.target, "- session: `{}`", line(&session.id).replace('`', "'"))?;
        writeln!(self.target, "- from {} to {}\n", rfc3339(*started_at), rfc3339(*last_at))
    }

    fn observation(&mut self, one: &PortableObservation) -> io::Result<()> {
        let title = match (one.kind, &one.tool) {
            (ObsType::Answer, _) => "Answer".to_owned(),
            (kind, Some(tool)) => format!("{} ({})", kind.word(), line(tool)),
            (kind, None) => kind.word().to_owned(),
        };
        let failed = if one.failed { ", failed" } else { "" };
        let pinned = if one.pinned { ", pinned" } else { "" };
        writeln!(self.target, "### {title}{failed}{pinned}, {}\n", rfc3339(one.at))?;
        if let Some(file) = &one.file {
            writeln!(self.target, "File: `{}`\n", line(file).replace('`', "'"))?;
        }
        self.block(&one.content)?;
        let Some(error) = error_of(one) else { return Ok(()) };
        writeln!(self.target, "Error:\n")?;
        self.block(error)
    }

    fn memory(&mut self, memory: &PortableMemory) -> io::Result<()> {
        if !self.has_memories {
            self.has_memories = true;
            self.target.page("memories.md")?;
            writeln!(self.target, "# Memories\n")?;
        }
        let PortableMemory { project, category, at, tags, .. } = memory;
        let tags = tags.iter().map(|tag| format!(" #{}", line(tag))).collect::<String>();
        let (category, at) = (category.word(), rfc3339(*at));
        writeln!(self.target, "## {category}, {}, {at}{tags}\n", line(project))?;
        self.block(&memory.content)
    }

    /// A text between fences that are longer than any in it, so that it cannot end them.
    fn block(&mut self, text: &str) -> io::Result<()> {
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat(longest.max(2) + 1);
        writeln!(self.target, "{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
    }
}

fn line(text: &str) -> String {
    text::one_line(text, model::limits::PREVIEW_CHARS)
}

impl RecordWriter for MarkdownPages<'_> {
    fn record(&mut self, record: &PortableRecord) -> io::Result<()> {
        match record {
            PortableRecord::Rekindle { .. } | PortableRecord::Project(_) => Ok(()),
            PortableRecord::Session(session) => self.session(session),
            PortableRecord::Prompt(prompt) => {
                writeln!(self.target, "## Prompt, {}\n", rfc3339(prompt.at))?;
                self.block(&prompt.content)
            }
            PortableRecord::Observation(one) => self.observation(one),
            PortableRecord::Memory(memory) => self.memory(memory),
        }
    }
}
