//! The lines of a failed command's output that identify the failure.

use crate::telling::{behind_place, is_frame, is_report, is_telling, names_test, says_nothing};

use super::normal::normal;
use super::verdict_line::is_verdict_line;

/// Parts of lines that name an error, wherever they are in the line.
const NAMING: &[&str] = &[
    ": error: ",
    "undefined reference to",
    "multiple definition of",
    "No such file or directory",
    "command not found",
    "Permission denied",
    "No rule to make target",
    "Segmentation fault",
    "cannot find module",
];

/// Beginnings of lines that many failures of a program share, and that differ only by chance.
const BOILERPLATE: &[&str] = &[
    "[ERROR] To see the full stack trace",
    "[ERROR] Re-run Maven",
    "[ERROR] For more information",
    "[ERROR] [Help",
    "[ERROR] -> [Help",
    "[ERROR] After correcting the problems",
    "[ERROR] Tests run:",
    "[ERROR] Failures:",
    "[ERROR] Errors:",
    "[ERROR] COMPILATION ERROR",
    "[ERROR] There are test failures",
    "npm error A complete log",
    "npm ERR! A complete log",
    "collect2: error",
    "FAILED (",
    "FAIL\t",
];

/// The significant lines of an output in their normal form, in their order. They are those that name an error or a
/// failed test, with the innermost frame or the place of each; if there are none, all lines that say something. A
/// summary alone, such as the output of `cargo test | tail -1`, says nothing: every failure of the program ends with
/// it.
pub fn significant(output: &str) -> Vec<String> {
    let output = crate::without_escapes(output);
    // A progress bar overwrites its line.
    let lines = || output.lines().map(|line| line.trim_end().rsplit('\r').next().unwrap_or(line));
    let mut found = Vec::new();
    let mut before = Before::default();
    for line in lines() {
        before.read(line, &mut found);
    }
    if found.is_empty() {
        let says = |line: &&str| {
            let line = line.trim();
            let is_boilerplate = BOILERPLATE.iter().any(|it| line.starts_with(it));
            let is_noise = says_nothing(line) || is_progress(line) || is_frame(line);
            !line.is_empty() && !is_noise && !is_boilerplate && !is_verdict_line(line)
        };
        found = lines().filter(says).map(normal).collect();
    }
    found
}

/// State of the reader: expectations that earlier lines raise about the next ones.
#[derive(Default)]
struct Before<'a> {
    /// The last frame of a Python traceback.
    frame: Option<&'a str>,
    /// The next line is the message of an error whose own line only says that there is an error.
    message_follows: bool,
    /// The place of an error follows: an arrow of rustc or a frame of a stack trace.
    place_follows: bool,
}

impl<'a> Before<'a> {
    fn read(&mut self, raw: &'a str, found: &mut Vec<String>) {
        let line = raw.trim_start();
        // TAP quotes the errors of a program as comments.
        let line = line.strip_prefix("# ").map_or(line, str::trim_start);
        if line.is_empty() || is_progress(line) {
            return;
        }
        if line.starts_with("File \"") {
            self.frame = Some(line);
            return;
        }
        if std::mem::take(&mut self.message_follows) {
            found.push(normal(line));
            return;
        }
        if line.starts_with("Caused by:") {
            self.message_follows = true;
            return;
        }
        if BOILERPLATE.iter().any(|start| line.starts_with(start))
            || is_report(line)
            || is_verdict_line(line)
        {
            return;
        }
        if line.starts_with("warning") {
            self.place_follows = false;
            return;
        }
        if names_error(line) {
            found.extend(self.frame.take().map(normal));
            found.push(normal(line));
            self.message_follows = line.starts_with("thread '");
            self.place_follows = true;
        } else if self.place_follows {
            if line.starts_with("--> ") {
                found.push(normal(line));
            } else if line.starts_with("at ") {
                self.place_follows = false;
                found.push(normal(line));
            } else if let Some(label) = label(line) {
                found.push(normal(label));
            }
        }
    }
}

/// The progress of pytest: `E      [100%]`.
fn is_progress(line: &str) -> bool {
    line.ends_with("%]")
}

/// Whether a line names an error or a failed test.
fn names_error(line: &str) -> bool {
    let is_about_code = |message: &str| {
        !["warning", "note", "info", "help"].iter().any(|start| message.starts_with(start))
    };
    is_telling(line)
        || names_test(line)
        || NAMING.iter().any(|part| line.contains(part))
        || behind_place(line)
            .is_some_and(|(_, message)| !message.is_empty() && is_about_code(message))
}

/// The words below the marked code of a rustc error: `|     ^^^ expected u32, found &str`.
fn label(line: &str) -> Option<&str> {
    let behind = line.strip_prefix('|').or_else(|| line.split_once(" | ").map(|(_, rest)| rest))?;
    let words = behind.trim_start().strip_prefix('^')?.trim_start_matches(['^', '-', ' ']);
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_lines_name_the_error_with_its_place() {
        let table: [(&str, &[&str]); 14] = [
            (
                "   Compiling shop v0.1.0 (/home/u/shop)\nwarning: unused variable\n --> src/b.rs:1:1\n\
                 error[E0308]: mismatched types\n --> src/cart.rs:4:5\n  |\n4 |     total(\"1\")\n\
                 \x20 |           ^^^ expected `u32`, found `&str`\n\
                 error: could not compile `shop` (lib) due to 1 previous error",
                &[
                    "error[E0308]: mismatched types",
                    "--> cart.rs:#",
                    "expected `u32`, found `&str`",
                ],
            ),
            (
                "running 1 test\ntest cart::rounds ... FAILED\n\nthread 'cart::rounds' panicked at src/cart.rs:4:5:\n\
                 assertion `left == right` failed\n  left: 1\n right: 2\ntest result: FAILED. 0 passed; 1 failed",
                &[
                    "test cart::rounds ... FAILED",
                    "thread 'cart::rounds' panicked at cart.rs:#:",
                    "assertion `left == right` failed",
                ],
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in <module>\n    load()\n\
                 \x20 File \"/a/c.py\", line 9, in load\n    x[\"id\"]\nKeyError: 'id'",
                &["File \"c.py\", line #, in load", "KeyError: 'id'"],
            ),
            (
                "/a/b.js:3\n  throw new TypeError('no total')\n  ^\n\nTypeError: no total\n    at total (/a/b.js:3:9)\n\
                 \x20   at main (/a/b.js:9:1)\n\nNode.js v20.1.0",
                &["TypeError: no total", "at total (b.js:#)"],
            ),
            (
                "/usr/bin/ld: /tmp/ccA1.o: in function `main':\nmain.c:(.text+0x9): undefined reference to `missing'\n\
                 collect2: error: ld returned 1 exit status\nmake: *** [Makefile:3: all] Error 1",
                &["main.c:(.text+#): undefined reference to `missing'"],
            ),
            (
                "--- FAIL: TestTotal (0.01s)\n    cart_test.go:12: got 1, want 2\nFAIL\nFAIL\texample.com/cart\t0.01s",
                &["--- FAIL: TestTotal (#)", "cart_test.go:#: got #, want #"],
            ),
            (
                "> Task :app:test FAILED\n\nRouteTest > loads offline route FAILED\n    java.lang.AssertionError at RouteTest.kt:48\n\n\
                 42 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\n\
                 Execution failed for task ':app:test'.\n> There were failing tests. See the report at: file:///srv/a/index.html\n\n\
                 * Try:\n> Run with --scan to get full insights.\n\nBUILD FAILED in 38s",
                &[
                    "RouteTest > loads offline route FAILED",
                    "java.lang.AssertionError at RouteTest.kt:#",
                ],
            ),
            ("> Task :app:test FAILED\n\nBUILD FAILED in 3s", &[]),
            ("Exit code 2\nmake: *** [Makefile:3: all] Error 1", &[]),
            (
                "make: *** No rule to make target 'tset'.  Stop.",
                &["make: *** No rule to make target 'tset'. Stop."],
            ),
            ("test result: FAILED. 3 passed; 1 failed; 0 ignored; finished in 0.01s", &[]),
            ("..F.      [100%]\n1 failed, 3 passed in 0.02s", &[]),
            ("Exit code 1\n\u{1b}[31mno such service: proxy\u{1b}[0m", &["no such service: proxy"]),
            ("Exit code 1\n=====\n....F", &[]),
        ];
        for (output, expected) in table {
            assert_eq!(significant(output), expected, "{output}");
        }
    }
}
