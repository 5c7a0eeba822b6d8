//! `store_memory`: stores a text, lets it supersede the memories that the call names, and returns memories about the
//! same thing.

use contract::pretty::pretty;
use contract::{Access, CallTarget, CliShape, Cx, Example, Op, OpInfo, Pretty};
use model::event::Event;
use model::memory::{self, MemoryCategory, MemoryStatus};
use model::observation::RecordType;
use model::{OpError, limits, time};
use place::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::memories::{self as stored, KIND, NearestMemories, NewMemory};
use store::search::{self, ComparedText, Filter, Recipe};
use store::{Rx, receipts};
use text::secrets::{self, Profile, Redacted};

use super::example::A_MEMORY;
use super::found::rounded;
use super::named;
use crate::declared::refuse_secrets;

pub(crate) struct StoreMemory;

/// The least cosine, or share of common words, of two memories about the same thing.
const SAME_MEANING: f64 = 0.6;
/// Memories with a lower cosine are not compared by words: they hardly ever share half of them.
const MAYBE_SAME_MEANING: f64 = 0.45;
const SAME_WORDS: f64 = 0.5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreMemoryParams {
    content: String,
    category: MemoryCategory,
    /// From 0 to 1.
    #[serde(default = "medium")]
    importance: f64,
    /// Up to 20, of 50 characters each.
    #[serde(default)]
    tags: Vec<String>,
    /// Ids of memories that it replaces.
    #[serde(default)]
    supersedes: Vec<String>,
    /// Yours if left out.
    #[serde(default)]
    session_id: Option<String>,
    /// Directory of its project; that of the session, or yours, if left out.
    #[serde(default)]
    cwd: Option<String>,
}

fn medium() -> f64 {
    0.5
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StoreMemoryOutput {
    id: String,
    status: MemoryStatus,
    category: MemoryCategory,
    importance: f64,
    created_at: String,
    project: String,
    /// The memories that it replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    superseded: Vec<String>,
    /// Up to three memories about the same thing. If one is no longer true, store this memory again with `supersedes`, and
    /// delete the first copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    similar: Vec<SimilarMemory>,
}

/// A memory about the same thing.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SimilarMemory {
    id: String,
    category: MemoryCategory,
    /// The first 120 characters.
    preview: String,
    /// The cosine of the two, or the share of common words if that is higher and the cosine is below 0.6.
    similarity: f64,
}

impl Op for StoreMemory {
    const INFO: OpInfo = OpInfo {
        name: "store_memory",
        summary: "Store a text that later sessions recall",
        doc: "For a preference, a fact, a decision, a way to work. The answer names memories about the same thing.",
        access: Access::Write { destructive: false, idempotent: false },
        toolset: "memory",
        core: true,
        advanced: &["tags", "session_id", "cwd"],
        typed_errors: true,
        cli: CliShape {
            path: &["memory", "add"],
            positional: &["content"],
            rest: true,
            defaults: &[("category", r#""fact""#)],
            flag_aliases: &[("session_id", "session"), ("tags", "tag")],
            pretty: Some(pretty::<Self>),
            ..CliShape::CALL_ONLY
        },
        examples: &[
            Example { title: "A way to work", before: &[], params: A_MEMORY.1 },
            Example {
                title: "An important decision, with tags",
                before: &[A_MEMORY],
                params: r#"{"content":"The session tokens stay in Redis; Postgres was too slow","category":"decision","importance":0.9,"tags":["auth"],"cwd":"/home/you/web"}"#,
            },
        ],
        ..OpInfo::BASE
    };
    type Params = StoreMemoryParams;
    type Output = StoreMemoryOutput;

    fn run(&self, cx: &Cx<'_>, params: StoreMemoryParams) -> Result<StoreMemoryOutput, OpError> {
        memory::check_content(&params.content)?;
        memory::check_importance("importance", params.importance)?;
        memory::check_tags(&params.tags)?;
        let content = declared("content", params.content.trim())?;
        let tags: Vec<Redacted<String>> =
            params.tags.iter().map(|tag| declared("tags", tag.trim())).collect::<Result<_, _>>()?;
        let supersedes = superseded_ids(cx, &params.supersedes)?;
        let target = CallTarget::of(cx, params.session_id.as_deref(), params.cwd.as_deref())?;
        let question = target.projects(Wanted::Here);
        let meaning = cx.config.boolean("search.meaning");
        let (category, importance, now) = (params.category, params.importance, cx.now);
        let (text, ids) = (content.clone(), supersedes.clone());
        let write = cx.store.start_write(move |tx| {
            let to = target.resolve(tx)?;
            let session = to.session.as_ref().map(|(id, _)| *id);
            let mut old = Vec::new();
            for id in &supersedes {
                old.push(stored::by_uuid(tx, id)?.ok_or_else(|| unknown(id))?);
            }
            let new = NewMemory {
                project: to.project.id,
                stored_in: session,
                root: target.root(),
                at: now,
                category,
                importance,
                tags: &tags,
                content: &content,
            };
            let (row, id) = stored::add(tx, &new)?;
            let of_project = |event: Event| Event { project: Some(to.project.id), ..event };
            let mut superseded = Vec::new();
            for old in &old {
                let Some(old) = stored::supersede(tx, old, row)? else { continue };
                let path = memory::path(&old.uuid);
                if let Some(session) = session {
                    receipts::mark_used(tx, session, &path)?;
                }
                let event = Event::new("memory/superseded", path).with_data(json!({ "by": id }));
                tx.note(of_project(event))?;
                superseded.push(old.uuid);
            }
            let event = Event::new("memory/stored", memory::path(&id));
            tx.note(of_project(event.with_data(json!({ "category": category }))))?;
            Ok(StoreMemoryOutput {
                id,
                status: MemoryStatus::Stored,
                category,
                importance,
                created_at: time::rfc3339(now),
                project: to.project.name.clone(),
                superseded,
                similar: Vec::new(),
            })
        })?;
        let find = |rx: &Rx<'_>| {
            let projects = question.scope(rx)?.ids();
            similar(rx, (&text, meaning), projects.as_deref(), &ids)
        };
        // Embeddings of unindexed memories are computed; words are found through the index only.
        let similar = match meaning {
            true => cx.store.read(find),
            false => cx.store.search(find).map(|(similar, _)| similar),
        };
        let output = write.wait()?;
        // The memory is stored even if the comparison failed, and the comparison may have met it.
        let mut similar = similar.unwrap_or_default();
        similar.retain(|other| other.id != output.id);
        similar.truncate(limits::MEMORIES_SIMILAR_MAX);
        Ok(StoreMemoryOutput { similar, ..output })
    }
}

/// The redacted text. One that looks like a secret is refused.
fn declared(param: &str, text: &str) -> Result<Redacted<String>, OpError> {
    refuse_secrets(&[(param, text)])?;
    Ok(secrets::redact(text, Profile::Declared))
}

/// The ids of the memories to supersede, each once.
fn superseded_ids(cx: &Cx<'_>, given: &[String]) -> Result<Vec<String>, OpError> {
    let max = limits::MEMORY_SUPERSEDES_MAX;
    if given.len() > max {
        let message = format!("{} memories to supersede are more than {max}", given.len());
        return Err(OpError::invalid("supersedes", message).with("max", max));
    }
    let mut ids: Vec<String> = Vec::new();
    for id in given {
        let id = named::id(cx, "supersedes", id)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

pub(super) fn unknown(id: &str) -> OpError {
    OpError::not_found(format!("there is no memory {id}")).hint("`list_memories` lists them.")
}

/// The current memories about the same thing as a text, the most similar first, without those that the text supersedes.
/// Without embeddings, those that share half of its words.
fn similar(
    rx: &Rx<'_>,
    (content, meaning): (&str, bool),
    projects: Option<&[i64]>,
    supersedes: &[String],
) -> Result<Vec<SimilarMemory>, OpError> {
    // If a memory was superseded before, its current successor is superseded.
    let mut without: Vec<i64> = Vec::new();
    for id in supersedes {
        let old = stored::by_uuid(rx, id)?.map(|old| stored::current(rx, old.id)).transpose()?;
        without.extend(old);
    }
    let candidates: Vec<(i64, f64)> = match meaning {
        true => {
            let (least, count) = (MAYBE_SAME_MEANING, limits::MEMORIES_COMPARED + 1);
            stored::nearest(rx, content, NearestMemories { projects, least, count })?
        }
        false => {
            let filter = Filter { projects, kind: RecordType::of(KIND), ..Filter::default() };
            let found = search::similar(
                rx,
                Recipe::Lexical,
                content,
                &filter,
                limits::MEMORIES_COMPARED + 1,
            )?;
            found.into_iter().map(|found| (found.hit.id, found.alike.meaning)).collect()
        }
    };
    let compared = ComparedText::new(content.to_owned());
    let mut named: Vec<SimilarMemory> = Vec::new();
    for (id, cosine) in candidates {
        // One more than are named: one of them may be the new memory.
        if named.len() > limits::MEMORIES_SIMILAR_MAX {
            break;
        }
        let Some(found) = stored::get(rx, id)? else { continue };
        let mut similarity = cosine;
        if cosine < SAME_MEANING {
            let overlap = compared.overlap(&found.content);
            if overlap < SAME_WORDS {
                continue;
            }
            similarity = overlap.max(cosine);
        }
        let holds = match found.superseded_by {
            Some(_) => stored::get(rx, stored::current(rx, id)?)?,
            None => Some(found),
        };
        let Some(holds) = holds.filter(|one| !without.contains(&one.id)) else { continue };
        if named.iter().all(|known| known.id != holds.uuid) {
            named.push(SimilarMemory {
                category: holds.category,
                preview: text::one_line(&holds.content, limits::PREVIEW_CHARS),
                similarity: rounded(similarity),
                id: holds.uuid,
            });
        }
    }
    Ok(named)
}

impl Pretty for StoreMemory {
    fn pretty(_: &StoreMemoryParams, output: &StoreMemoryOutput, _: usize) -> String {
        let StoreMemoryOutput { id, category, project, superseded, similar, .. } = output;
        let project = text::one_line(project, limits::PREVIEW_CHARS);
        let mut lines = vec![format!("✔ stored memory {id} ({}) in {project}", category.word())];
        lines.extend(superseded.iter().map(|old| format!("  supersedes {old}")));
        lines.extend(
            similar.iter().map(|one| {
                format!("  similar memory: {}  {}", one.id, text::printable(&one.preview))
            }),
        );
        lines.join("\n")
    }
}
