//! The list of plugins of this build. A new capability is a line here.

use std::sync::Arc;

use model::wire::Build;
use runtime::Kit;

/// The plugins and their table of operations.
pub(crate) fn kit() -> Kit {
    // Whoever keeps what a session was told needs the session, which the observations make.
    Kit::new(vec![
        Arc::new(plugin_observations::Observations::new(client::platform::home())),
        Arc::new(plugin_hints::Hints::default()),
    ])
}

/// Which build this is.
pub(crate) fn build() -> Build {
    let number = |text: &str| text.parse().unwrap_or(0);
    Build {
        version: (
            number(env!("CARGO_PKG_VERSION_MAJOR")),
            number(env!("CARGO_PKG_VERSION_MINOR")),
            number(env!("CARGO_PKG_VERSION_PATCH")),
        ),
        built: env!("REKINDLE_BUILT").parse().unwrap_or(0),
    }
}
