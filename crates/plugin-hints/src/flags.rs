//! Flags that several hint commands have: where a hint holds, where the caller stands, the guard.

use contract::{Flattened, RestName};
use model::hint::{HintMeta, HintScope};
use model::situation::Situation;

/// Where the caller stands: `--cwd`, `--branch`, …
pub(crate) const CONTEXT: Flattened = Flattened::of::<Situation>("context", "");

/// What is said about a hint: `--tags`, …, and of its scope `--scope-os`, …
pub(crate) const META: &[Flattened] = &[
    Flattened::of::<HintMeta>("meta", ""),
    Flattened::of::<HintScope>("meta.scope", SCOPE_PREFIX),
];

/// Which variant is meant: by its scope, or by where the caller stands.
pub(crate) const POINTER: &[Flattened] =
    &[Flattened::of::<HintScope>("scope", SCOPE_PREFIX), CONTEXT];

/// What turns the guard off for everything also turns it off for one call.
pub(crate) const GUARD: &[(&str, &str)] = &[("allow_secret", "no-secret-guard")];

const SCOPE_PREFIX: &str = "scope-";

/// The REST path of a hint.
pub(crate) const REST_PATH: &str = "/api/hints/{component}/{key}";

/// Where the caller is, in a query.
pub(crate) const REST_CONTEXT: &[RestName] = &[
    ("cwd", "context.cwd"),
    ("repo", "context.repo"),
    ("branch", "context.branch"),
    ("os", "context.os"),
];

/// Which variant is meant, in a query: by its scope, or by where the caller is.
pub(crate) const REST_POINTER: &[RestName] = &[
    ("scope", "scope"),
    ("cwd", "context.cwd"),
    ("repo", "context.repo"),
    ("branch", "context.branch"),
    ("os", "context.os"),
];
