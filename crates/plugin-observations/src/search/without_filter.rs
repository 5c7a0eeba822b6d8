//! Why a search found no likely answer: the filters without which it would have found one.

use std::borrow::Cow;

use model::OpError;
use store::Rx;
use store::search::{Filter, Recipe};
use text::query::{Form, Query};

use super::{Named, Ranked, SearchParams};

impl SearchParams {
    /// The filters that exclude all likely hits: each filter without which alone there is a likely hit or, if there is
    /// none, all filters together if there is one without all of them. Searches again once for each filter, so it is
    /// called only for answers without a likely hit.
    pub(super) fn excluded_by(
        &self,
        rx: &Rx<'_>,
        filter: &Filter<'_>,
        query: &Query,
        recipe: Recipe,
        (now, own_session): (i64, Option<i64>),
    ) -> Result<Vec<Cow<'static, str>>, OpError> {
        if query.form == Form::Empty {
            return Ok(Vec::new());
        }
        let given: Vec<Relaxed> = RELAXED.into_iter().filter(|(_, is, _)| is(filter)).collect();
        let finds = |filter: &Filter<'_>| -> Result<bool, OpError> {
            let found = self.find(rx, filter, query, recipe, (now, own_session))?;
            // Records that have only parts of a name, or words that begin alike, are not what was searched for.
            let is_part = |one: &Ranked| match found.query.form {
                Form::AnyTerm => query.name().is_some() && one.named == Named::No,
                form => form == Form::Prefix,
            };
            let is_it = |one: &Ranked| one.has_words() && !is_part(one);
            Ok(!found.merely_similar && found.ranked.iter().any(is_it))
        };
        let mut reasons = Vec::new();
        for (name, _, relax) in &given {
            let mut relaxed = *filter;
            relax(&mut relaxed);
            if finds(&relaxed)? {
                reasons.push(Cow::Borrowed(*name));
            }
        }
        if reasons.is_empty() && given.len() > 1 && finds(&Filter::default())? {
            reasons = given.into_iter().map(|(name, ..)| name.into()).collect();
        }
        Ok(reasons)
    }
}

/// A filter by its parameter: whether it is given, and how to leave it out.
type Relaxed = (&'static str, fn(&Filter<'_>) -> bool, fn(&mut Filter<'_>));

const RELAXED: [Relaxed; 8] = [
    ("obs_type", |of| of.kind.is_some(), |of| of.kind = None),
    ("session_id", |of| of.session.is_some(), |of| of.session = None),
    ("file_path", |of| of.file.is_some(), |of| (of.file, of.also) = (None, &[])),
    ("agent", |of| of.agent.is_some(), |of| of.agent = None),
    ("failed", |of| of.failed.is_some(), |of| of.failed = None),
    ("before", |of| of.before.is_some(), |of| of.before = None),
    ("after", |of| of.after.is_some(), |of| of.after = None),
    ("project", |of| of.projects.is_some(), |of| of.projects = None),
];
