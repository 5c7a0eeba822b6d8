//! Published question sets, converted to lines, one sample at a time.

mod locomo;
mod longmemeval;

use std::fmt;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;

use model::OpError;
use serde::Serialize;
use serde::de::{DeserializeOwned, Deserializer as _, Error as _, SeqAccess, Visitor};

use crate::RunWatch;
use crate::input::unreadable;

/// A published question set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedFormat {
    /// Ten long conversations of two people.
    Locomo,
    /// Questions of a user to an assistant, each with sessions of its own.
    Longmemeval,
}

impl PublishedFormat {
    pub const ALL: [PublishedFormat; 2] = [PublishedFormat::Locomo, PublishedFormat::Longmemeval];

    pub fn word(self) -> &'static str {
        match self {
            PublishedFormat::Locomo => "locomo",
            PublishedFormat::Longmemeval => "longmemeval",
        }
    }

    pub fn parse(word: &str) -> Option<PublishedFormat> {
        PublishedFormat::ALL.into_iter().find(|format| format.word() == word)
    }
}

/// A document as a line.
#[derive(Serialize)]
struct DocumentLine<'a> {
    id: &'a str,
    scope: &'a str,
    session: &'a str,
    pos: usize,
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<&'a str>,
    text: &'a str,
}

/// A question as a line.
#[derive(Serialize)]
struct QuestionLine<'a> {
    id: &'a str,
    scope: &'a str,
    r#type: &'a str,
    text: &'a str,
    gold: &'a [String],
    gold_sessions: &'a [String],
}

/// The parts of a published file that are not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Questions without evidence in the file.
    pub questions: usize,
    /// Ids of evidence that are missing in the file.
    pub evidence: usize,
}

/// Converts a published file to lines of documents and of questions, and returns what it omitted.
pub(crate) fn convert(
    format: PublishedFormat,
    file: &Path,
    documents: &Path,
    questions: &Path,
    watch: &mut RunWatch<'_>,
) -> Result<Omitted, OpError> {
    let mut lines = OutputLines {
        documents: create(documents)?,
        questions: create(questions)?,
        left_out: Omitted::default(),
    };
    let mut looked = |number: usize| watch.reached("reading", number as u64, 0);
    match format {
        PublishedFormat::Locomo => each(format, file, |number, sample| {
            looked(number)?;
            locomo::write(number, &sample, &mut lines)
        })?,
        PublishedFormat::Longmemeval => {
            let mut sessions = longmemeval::SessionNames::default();
            each(format, file, |number, question| {
                looked(number)?;
                longmemeval::write(&question, &mut sessions, &mut lines)
            })?;
        }
    }
    let written = lines.documents.flush().and_then(|()| lines.questions.flush());
    written.map(|()| lines.left_out).map_err(|error| full(&error))
}

/// The output files.
struct OutputLines {
    documents: BufWriter<File>,
    questions: BufWriter<File>,
    left_out: Omitted,
}

impl OutputLines {
    fn document(&mut self, line: &DocumentLine<'_>) -> Result<(), OpError> {
        put(&mut self.documents, line)
    }

    fn question(&mut self, line: &QuestionLine<'_>) -> Result<(), OpError> {
        put(&mut self.questions, line)
    }
}

fn put<T: Serialize>(to: &mut BufWriter<File>, line: &T) -> Result<(), OpError> {
    let written = serde_json::to_writer(&mut *to, line).map_err(std::io::Error::from);
    written.and_then(|()| to.write_all(b"\n")).map_err(|error| full(&error))
}

fn create(path: &Path) -> Result<BufWriter<File>, OpError> {
    File::create(path).map(BufWriter::new).map_err(|error| full(&error))
}

fn full(error: &std::io::Error) -> OpError {
    OpError::unavailable(format!("cannot write into the temporary directory: {error}"))
        .hint("Set TMPDIR to a directory with room for the documents.")
}

/// Passes the items of the file's list to `f`, one after the other.
fn each<T: DeserializeOwned>(
    format: PublishedFormat,
    file: &Path,
    f: impl FnMut(usize, T) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let name = file.display().to_string();
    let opened =
        regular::open_file_or_pipe(file).map_err(|error| unreadable("docs", &name, &error))?;
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, opened));
    let mut failed = None;
    let list = Each { f, failed: &mut failed, of: std::marker::PhantomData };
    let read = json.deserialize_seq(list).and_then(|count| json.end().map(|()| count));
    let wrong = |what: String| {
        let message = format!("{name} is not a file of {}: {what}", format.word());
        OpError::invalid("docs", message).hint("Give the file as it was published.")
    };
    match (failed, read) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(wrong(error.to_string())),
        (None, Ok(0)) => Err(wrong("its list is empty".to_owned())),
        (None, Ok(_)) => Ok(()),
    }
}

struct Each<'f, T, F> {
    f: F,
    /// The error of `f`, as opposed to an error of the file.
    failed: &'f mut Option<OpError>,
    of: std::marker::PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(usize, T) -> Result<(), OpError>> Visitor<'de>
    for Each<'_, T, F>
{
    /// The number of items.
    type Value = usize;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<usize, A::Error> {
        let mut count = 0;
        while let Some(one) = list.next_element()? {
            if let Err(error) = (self.f)(count, one) {
                *self.failed = Some(error);
                return Err(A::Error::custom("it was not read to its end"));
            }
            count += 1;
        }
        Ok(count)
    }
}

/// A calendar date and a time of day as RFC 3339.
fn rfc3339((year, month, day): (u32, u32, u32), (hour, minute): (u32, u32)) -> Option<String> {
    let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z");
    model::time::parse_rfc3339(&text).map(|_| text)
}
