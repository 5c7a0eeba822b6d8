//! The pager of a terminal, for text that is longer than the screen.

use std::io::Write as _;
use std::process::{Command, Stdio};

use text::table::columns;

/// Whether the text has more lines than this terminal, of which one is for the next prompt.
pub(crate) fn is_long(text: &str, width: usize, height: usize) -> bool {
    let rows = text.lines().map(|line| columns(line).div_ceil(width.max(1)).max(1));
    rows.sum::<usize>() >= height
}

/// Shows the text in the user's pager. Returns whether it did: if the pager cannot be started or fails, the caller
/// prints the text itself, so that none of it is lost. A user who leaves the pager early has seen enough.
pub(crate) fn shown(text: &str) -> bool {
    let var = |name: &str| std::env::var(name).ok();
    if var("TERM").as_deref() == Some("dumb") {
        return false;
    }
    let mut command = match var("PAGER") {
        None => {
            let mut less = Command::new("less");
            // Leave if one screen is enough, or at Ctrl-C; keep colours; leave the text on the screen.
            less.arg("-FRXK");
            less
        }
        Some(pager) if matches!(pager.trim(), "" | "cat") => return false,
        Some(pager) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(pager);
            shell
        }
    };
    let Ok(mut pager) = command.stdin(Stdio::piped()).spawn() else { return false };
    if let Some(mut stdin) = pager.stdin.take() {
        // A pager that was left early closes the pipe.
        let _ = stdin.write_all(text.as_bytes());
    }
    pager.wait().is_ok_and(|status| status.success() || is_interrupt(status))
}

/// Whether less was left by Ctrl-C.
fn is_interrupt(status: std::process::ExitStatus) -> bool {
    status.code() == Some(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_long_if_the_screen_has_no_line_left_for_the_prompt() {
        assert!(!is_long("one\ntwo\n", 80, 3));
        assert!(is_long("one\ntwo\nthree\n", 80, 3));
        assert!(is_long("a line of 20 columns\ntwo\n", 10, 3), "a long line takes two rows");
        assert!(!is_long("", 80, 1));
    }
}
