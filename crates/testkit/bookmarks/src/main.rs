//! The program with the bookmarks plugin added, for end-to-end tests. It is not shipped.

use std::process::ExitCode;
use std::sync::Arc;

use plugin_bookmarks::BookmarksPlugin;

fn main() -> ExitCode {
    program::add_plugins(|| vec![Arc::new(BookmarksPlugin)]);
    let argv: Vec<_> = std::env::args_os().collect();
    if argv.get(1).is_some_and(|word| word == "hook") {
        program::hook::run_line(argv);
        return ExitCode::SUCCESS;
    }
    ExitCode::from(program::run(argv))
}
