//! A stored memory, for the examples of operations.

/// The call that stores it.
pub(crate) const A_MEMORY: (&str, &str) = (
    "store_memory",
    r#"{"content":"Releases are built on Tuesdays from the branch stable","category":"workflow","cwd":"/home/you/web"}"#,
);
