//! The only code of a client that reads the wall clock.

/// Milliseconds since 1970, UTC.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
