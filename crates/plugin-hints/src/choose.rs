//! Which variant of a key an operation means: by scope, by where the caller stands, or all of them.

use model::OpError;
use model::hint::{HintName, HintScope};
use model::limits;
use model::situation::Situation;

use crate::gate::Place;
use crate::held::{Held, best, best_eligible};

/// How the caller points at a variant.
#[derive(Clone)]
pub(crate) struct Pointer {
    pub(crate) scope: Option<HintScope>,
    pub(crate) context: Option<Situation>,
    /// Where the surface saw the caller.
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
        // A context that makes no sense is told before anything is looked up.
        Place::new(context.as_ref(), seen)?;
        Ok(Pointer { scope, context, seen: seen.clone() })
    }

    /// Whether it points at one variant rather than at the key.
    pub(crate) fn is_exact(&self) -> bool {
        self.scope.is_some() || self.context.is_some()
    }

    pub(crate) fn place(&self) -> Result<Place<'_>, OpError> {
        Place::new(self.context.as_ref(), &self.seen)
    }

    /// The variant it points at. Without scope and context that is the best one here, or if none
    /// holds here, the best one.
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

/// The name leads to nothing.
pub(crate) fn not_found(name: &HintName) -> OpError {
    OpError::not_found(format!("no hint {}/{}", name.component, name.key))
        .hint("`rekindle hint set COMPONENT KEY VALUE` stores one.")
}

/// The name leads to hints that do not hold where the caller stands.
pub(crate) fn not_here<'h>(
    name: &HintName,
    variants: impl Iterator<Item = &'h Held>,
    place: &Place<'_>,
) -> OpError {
    let misses = misses(variants, place);
    OpError::not_found(format!(
        "no hint {}/{} holds here: {}",
        name.component,
        name.key,
        misses.join("; ")
    ))
    .with("reasons", misses)
    .hint("Say where you stand in `context`, or set a hint that holds here.")
}

/// Why each of these hints does not hold here.
pub(crate) fn misses<'h>(
    variants: impl Iterator<Item = &'h Held>,
    place: &Place<'_>,
) -> Vec<String> {
    let mut misses: Vec<String> = variants.filter_map(|held| held.miss(place)).collect();
    misses.sort();
    misses.dedup();
    misses.truncate(limits::HINT_MISSES_TOLD);
    misses
}
