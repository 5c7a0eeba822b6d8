//! Flags that several hint commands share: a hint's scope, the caller's situation, the guard.

use contract::{Flattened, RestName};
use model::hint::{HintMeta, HintScope};
use model::situation::Situation;

/// The caller's situation: `--cwd`, `--branch`, …
pub(crate) const CONTEXT: Flattened = Flattened::of::<Situation>("context", "");

/// A hint's meta: `--tags`, …, and its scope as `--scope-os`, …
pub(crate) const META: &[Flattened] = &[
    Flattened::of::<HintMeta>("meta", ""),
    Flattened::of::<HintScope>("meta.scope", SCOPE_PREFIX),
];

/// The selected variant: by its scope, or by the caller's situation.
pub(crate) const POINTER: &[Flattened] =
    &[Flattened::of::<HintScope>("scope", SCOPE_PREFIX), CONTEXT];

/// The alias of `--allow-secret`, named like the server's flag that turns the guard off. Here names are still checked.
pub(crate) const GUARD: &[(&str, &str)] = &[("allow_secret", "no-secret-guard")];

const SCOPE_PREFIX: &str = "scope-";

/// The REST path of a hint.
pub(crate) const REST_PATH: &str = "/api/hints/{component}/{key}";

/// The caller's situation, in a query.
pub(crate) const REST_CONTEXT: &[RestName] = &[
    ("cwd", "context.cwd"),
    ("repo", "context.repo"),
    ("branch", "context.branch"),
    ("os", "context.os"),
];

/// The selected variant, in a query: by its scope, or by the caller's situation.
pub(crate) const REST_POINTER: &[RestName] = &[
    ("scope", "scope"),
    ("cwd", "context.cwd"),
    ("repo", "context.repo"),
    ("branch", "context.branch"),
    ("os", "context.os"),
];
