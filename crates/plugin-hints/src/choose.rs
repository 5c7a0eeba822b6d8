//! The variant of a key that an operation is about: by scope, by the caller's situation, or all of them.

use model::OpError;
use model::hint::{HintName, HintScope};
use model::limits;
use model::situation::Situation;

use crate::gate::HintSituation;
use crate::held::{Held, best, best_eligible};

/// How the caller selects a variant.
#[derive(Clone)]
pub(crate) struct Pointer {
    pub(crate) scope: Option<HintScope>,
    pub(crate) context: Option<Situation>,
    /// The situation as the surface observed it.
    pub(crate) seen: Situation,
}

impl Pointer {
    pub(crate) fn new(
        scope: Option<HintScope>,
        context: Option<Situation>,
        seen: &Situation,
    ) -> Result<Pointer, OpError> {
        if scope.is_some() && context.is_some() {
            return Err(OpError::invalid("context", "both a scope and a context are given").hint(
                "Give the scope of the variant, or the context in which it is the best one.",
            ));
        }
        // An invalid context is reported before any lookup.
        HintSituation::new(context.as_ref(), seen)?;
        Ok(Pointer { scope, context, seen: seen.clone() })
    }

    /// Whether it selects one variant, and not the whole key.
    pub(crate) fn is_exact(&self) -> bool {
        self.scope.is_some() || self.context.is_some()
    }

    pub(crate) fn place(&self) -> Result<HintSituation<'_>, OpError> {
        HintSituation::new(self.context.as_ref(), &self.seen)
    }

    /// The selected variant. Without scope and context that is the best one that applies here; if none does, the best
    /// of all.
    pub(crate) fn choose<'h>(
        &self,
        name: &HintName,
        variants: &'h [Held],
        now: i64,
    ) -> Result<&'h Held, OpError> {
        if variants.is_empty() {
            return Err(not_found(name));
        }
        let place = self.place()?;
        if let Some(scope) = &self.scope {
            let wanted = scope.canonical();
            return variants.iter().find(|held| held.variant == wanted).ok_or_else(|| {
                OpError::not_found(format!(
                    "{}/{} has no hint of this scope",
                    name.component, name.key
                ))
                .hint("`rekindle hint export` shows the scopes of its variants.")
            });
        }
        let here = best_eligible(variants.iter(), &place, now);
        let any = || if self.is_exact() { None } else { best(variants.iter(), &place, now) };
        here.or_else(any)
            .map(|ranked| ranked.held)
            .ok_or_else(|| not_here(name, variants.iter(), &place))
    }
}

/// There is no hint of this name.
pub(crate) fn not_found(name: &HintName) -> OpError {
    OpError::not_found(format!("no hint {}/{}", name.component, name.key))
        .hint("`rekindle hint ls` lists the components that have hints; `rekindle hint set COMPONENT KEY VALUE` stores one.")
}

/// There are hints of this name, but none applies to the caller's situation.
pub(crate) fn not_here<'h>(
    name: &HintName,
    variants: impl Iterator<Item = &'h Held>,
    place: &HintSituation<'_>,
) -> OpError {
    let misses = misses(variants, place);
    OpError::not_found(format!(
        "no hint {}/{} applies here: {}",
        name.component,
        name.key,
        misses.join("; ")
    ))
    .with("reasons", misses)
    .hint("Give your situation in `context`, or set a hint that applies here.")
}

/// The reasons why these hints do not apply here, each once, at most `HINT_MISSES_TOLD`.
pub(crate) fn misses<'h>(
    variants: impl Iterator<Item = &'h Held>,
    place: &HintSituation<'_>,
) -> Vec<String> {
    let mut misses: Vec<String> = variants.filter_map(|held| held.miss(place)).collect();
    misses.sort();
    misses.dedup();
    misses.truncate(limits::HINT_MISSES_TOLD);
    misses
}
