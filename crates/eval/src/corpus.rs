//! Documents and questions, checked and sorted. Texts of documents stay in their file until they are written into a
//! store, so that a corpus of any size fits into memory.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use model::OpError;
use text::one_line;

use crate::RunWatch;
use crate::input::{InputFile, InputLine, InputLines};

/// Where the clock starts. A document without a time is a millisecond later than the document before it.
const UNDATED_FROM_MS: i64 = 946_684_800_000;
/// Lines between two reports of progress.
const LINES_PER_LOOK: usize = 1_000;
/// Characters of a name that an error quotes.
const NAME_CHARS_TOLD: usize = 80;
/// The role whose documents are prompts.
const USER: &str = "user";

/// Documents and questions to measure.
pub(crate) struct EvalCorpus<'s> {
    pub(crate) scopes: Vec<EvalScope>,
    pub(crate) texts: DocumentTexts<'s>,
}

/// A set of documents that is searched on its own.
#[derive(Default)]
pub(crate) struct EvalScope {
    /// Empty for a pool of all scopes, and if the documents name none.
    pub(crate) name: String,
    /// In the order of writing: sessions by their start, and each in its own order.
    pub(crate) documents: Vec<EvalDocument>,
    /// The number of sessions with a name.
    pub(crate) sessions: usize,
    pub(crate) questions: Vec<EvalQuestion>,
}

pub(crate) struct EvalDocument {
    /// Its id in questions.
    pub(crate) number: usize,
    /// The session that it belongs to; `None` for a document on its own.
    pub(crate) session: Option<usize>,
    /// Milliseconds since 1970; later than that of the previous document in its session.
    pub(crate) at: i64,
    pub(crate) is_prompt: bool,
    line: usize,
    begin: u64,
}

pub(crate) struct EvalQuestion {
    pub(crate) text: String,
    pub(crate) kind: Option<String>,
    /// Indices of documents and of sessions in its scope.
    pub(crate) gold: Vec<usize>,
    pub(crate) gold_sessions: Vec<usize>,
}

/// Reads the text of a document on demand.
pub(crate) struct DocumentTexts<'s> {
    lines: InputLines<'s>,
}

impl DocumentTexts<'_> {
    pub(crate) fn of(&mut self, document: &EvalDocument) -> Result<String, OpError> {
        self.lines.line_at(document.begin, document.line)?.text("text").map(str::to_owned)
    }
}

impl<'s> EvalCorpus<'s> {
    /// Reads and checks both files; an error in either fails both.
    pub(crate) fn read(
        documents: &'s InputFile,
        questions: &InputFile,
        pooled: bool,
        watch: &mut RunWatch<'_>,
    ) -> Result<EvalCorpus<'s>, OpError> {
        let mut drafts = Drafts { pooled, ..Drafts::default() };
        let mut lines = documents.lines()?;
        let mut count = 0;
        while let Some(line) = lines.next()? {
            drafts.add_document(&line)?;
            count += 1;
            if count % LINES_PER_LOOK == 0 {
                watch.reached("reading", lines.at(), lines.bytes)?;
            }
        }
        if count == 0 {
            return Err(documents.wrong("has no documents: no line has a JSON object"));
        }
        let mut lines = questions.lines()?;
        let mut ids: HashMap<String, usize> = HashMap::new();
        while let Some(line) = lines.next()? {
            let id = line.id()?;
            if let Some(first) = ids.get(&id) {
                return Err(twice(&line, &id, *first));
            }
            drafts.add_question(&line)?;
            ids.insert(id, line.number);
        }
        if ids.is_empty() {
            return Err(questions.wrong("has no questions: no line has a JSON object"));
        }
        let scopes = drafts.scopes.into_iter().map(DraftScope::arranged).collect();
        Ok(EvalCorpus { scopes, texts: DocumentTexts { lines: documents.lines()? } })
    }

    pub(crate) fn documents(&self) -> usize {
        self.scopes.iter().map(|scope| scope.documents.len()).sum()
    }

    pub(crate) fn questions(&self) -> usize {
        self.scopes.iter().map(|scope| scope.questions.len()).sum()
    }

    /// Takes a scope out.
    pub(crate) fn take(&mut self, number: usize) -> EvalScope {
        self.scopes.get_mut(number).map(std::mem::take).unwrap_or_default()
    }
}

fn twice(line: &InputLine<'_>, id: &str, first: usize) -> OpError {
    line.wrong(&format!("the id `{}` is already in line {first}", told(id)))
}

fn told(name: &str) -> String {
    one_line(name, NAME_CHARS_TOLD)
}

/// Scopes while their lines are read.
#[derive(Default)]
struct Drafts {
    pooled: bool,
    names: HashMap<String, usize>,
    scopes: Vec<DraftScope>,
}

#[derive(Default)]
struct DraftScope {
    name: String,
    documents: Vec<Drafted>,
    ids: HashMap<String, usize>,
    sessions: HashMap<String, usize>,
    questions: Vec<EvalQuestion>,
}

struct Drafted {
    session: Option<usize>,
    pos: Option<f64>,
    at: Option<i64>,
    is_prompt: bool,
    line: usize,
    begin: u64,
    /// Its scope, and the key by which a document in another scope is recognised as equal.
    scope: String,
    same: u64,
}

impl Drafts {
    fn add_document(&mut self, line: &InputLine<'_>) -> Result<(), OpError> {
        let (id, text) = (line.id()?, line.text("text")?);
        let scope = line.name("scope")?.unwrap_or_default();
        let (session, role) = (line.name("session")?, line.name("role")?);
        let mut same = DefaultHasher::new();
        (text, &session, &role).hash(&mut same);
        let same = same.finish();
        let (pos, at) = (line.number("pos")?, line.time("time")?);
        let draft = self.scope(&scope);
        if let Some(first) = draft.ids.get(&id).and_then(|known| draft.documents.get(*known)) {
            if first.scope == scope {
                return Err(twice(line, &id, first.line));
            }
            // Scopes may share documents; a pool contains such a document once.
            if first.same == same {
                return Ok(());
            }
            return Err(line.wrong(&format!(
                "the id `{}` has another text in line {}, and --pooled merges all scopes",
                told(&id),
                first.line
            )));
        }
        let session = session.map(|name| {
            let next = draft.sessions.len();
            *draft.sessions.entry(name).or_insert(next)
        });
        draft.ids.insert(id, draft.documents.len());
        draft.documents.push(Drafted {
            session,
            pos,
            at,
            is_prompt: role.as_deref() == Some(USER),
            line: line.number,
            begin: line.begin,
            scope,
            same,
        });
        Ok(())
    }

    fn add_question(&mut self, line: &InputLine<'_>) -> Result<(), OpError> {
        let text = line.text("text")?.to_owned();
        let kind = line.name("type")?.filter(|kind| !kind.is_empty());
        let gold = line.required_names("gold")?;
        let gold_sessions = line.names("gold_sessions")?.unwrap_or_default();
        let scope = line.name("scope")?.unwrap_or_default();
        let named = if scope.is_empty() {
            "the question has no `scope`, but every document has one; add the `scope` of its documents, or use --pooled"
                .to_owned()
        } else {
            format!("no document has the scope `{}` of this question", told(&scope))
        };
        let draft = self.scope(&scope);
        if draft.documents.is_empty() {
            return Err(line.wrong(&named));
        }
        let find =
            |member: &str, what: &str, names: Vec<String>, known: &HashMap<String, usize>| {
                let find = |name: String| {
                    known.get(&name).copied().ok_or_else(|| {
                        let name = told(&name);
                        line.wrong(&format!(
                            "`{member}` names `{name}`, which is no {what} in the question's scope"
                        ))
                    })
                };
                names.into_iter().map(find).collect::<Result<Vec<usize>, OpError>>()
            };
        let gold = find("gold", "document", gold, &draft.ids)?;
        let gold_sessions = find("gold_sessions", "session", gold_sessions, &draft.sessions)?;
        draft.questions.push(EvalQuestion { text, kind, gold, gold_sessions });
        Ok(())
    }

    fn scope(&mut self, name: &str) -> &mut DraftScope {
        let name = if self.pooled { "" } else { name };
        let next = self.scopes.len();
        let number = match self.names.get(name) {
            Some(number) => *number,
            None => *self.names.entry(name.to_owned()).or_insert(next),
        };
        if number == next {
            self.scopes.push(DraftScope { name: name.to_owned(), ..DraftScope::default() });
        }
        // The index exists: it was looked up or just added.
        &mut self.scopes[number]
    }
}

impl DraftScope {
    /// The scope with its documents in the order of writing.
    fn arranged(self) -> EvalScope {
        let mut begins: Vec<usize> = Vec::with_capacity(self.sessions.len());
        let mut sizes: Vec<usize> = vec![0; self.sessions.len()];
        let mut order: Vec<(usize, f64, usize)> = Vec::with_capacity(self.documents.len());
        for (number, document) in self.documents.iter().enumerate() {
            // Sessions are numbered in the order in which they start.
            let (begin, place) = match document.session {
                None => (number, 0),
                Some(session) => {
                    if session == begins.len() {
                        begins.push(number);
                    }
                    let size = sizes.get_mut(session);
                    let place = size.map_or(0, |size| std::mem::replace(size, *size + 1));
                    (begins.get(session).copied().unwrap_or(number), place)
                }
            };
            order.push((begin, document.pos.unwrap_or(place as f64), number));
        }
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let (mut clock, mut before) = (UNDATED_FROM_MS, None);
        let mut documents = Vec::with_capacity(order.len());
        for (begin, _, number) in order {
            let Some(draft) = self.documents.get(number) else { continue };
            let goes_on = before == Some(begin);
            let earliest = if goes_on { clock + 1 } else { i64::MIN };
            clock = draft.at.unwrap_or(clock + 1).max(earliest);
            before = Some(begin);
            documents.push(EvalDocument {
                number,
                session: draft.session,
                at: clock,
                is_prompt: draft.is_prompt,
                line: draft.line,
                begin: draft.begin,
            });
        }
        let DraftScope { name, sessions, questions, .. } = self;
        EvalScope { name, documents, sessions: sessions.len(), questions }
    }
}
