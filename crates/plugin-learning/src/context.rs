//! Texts about a question or a prompt, out of values, experiences and memories. The assembler builds them; here are their
//! rows.

mod assemble_context;
mod premortem;
mod prompt;
mod recall;

use contract::{Candidate, Moment, Occasion, Operation};
use model::OpError;
use store::search::Recipe;

use recall::{LearnedKind, RecallQuery};

pub(crate) use recall::value_path;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(assemble_context::AssembleContext),
        Operation::new(premortem::GetPremortemContext),
    ]
}

/// The learned items that a prompt is about.
pub(crate) fn at_prompt(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    match moment.occasion {
        Occasion::Prompt(said) => prompt::candidates(moment, said),
        _ => Ok(Vec::new()),
    }
}

/// The learned items that a question asks for.
pub(crate) fn answers(moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
    let Occasion::Question { query, limit, sources, .. } = moment.occasion else {
        return Ok(Vec::new());
    };
    let question = moment.projects();
    moment.store.catch_up(model::limits::INDEX_PATIENCE);
    let meaning = moment.config.boolean("search.meaning");
    moment.store.read(|rx| {
        let projects = question.scope(rx)?.ids();
        if sources.iter().any(|source| source == premortem::SOURCE) {
            return premortem::candidates(rx, query, projects.as_deref(), moment.now);
        }
        let recall = RecallQuery {
            text: query,
            projects: projects.as_deref(),
            recipe: if meaning { Recipe::Table } else { Recipe::Lexical },
            now: moment.now,
            limit,
            marks_similar: true,
        };
        let mut kinds = LearnedKind::ALL.to_vec();
        kinds.retain(|kind| moment.occasion.asks(kind.source()));
        let items = recall.items(rx, &kinds)?.into_iter().flatten();
        Ok(items.map(|item| item.into_candidate(moment.now)).collect())
    })
}
