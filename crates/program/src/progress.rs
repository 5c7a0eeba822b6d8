//! A progress bar for a job, on the terminal, while the command waits for the job's end.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use model::job::{Job, JobProgress, JobState};
use serde_json::Value;

/// Interval of polling, and the delay before the bar appears, so that quick jobs show none.
const POLL: Duration = Duration::from_millis(300);

/// The bar of an import: 39 columns, and sessions and rate in the rest. A line that is wider than the terminal would
/// be drawn below itself again and again.
pub(crate) const IMPORT_BAR: &str = "{bar:8} {percent} % of {total_bytes}, {eta} left {wide_msg}";

/// The end of the bar of an import: sessions so far and the rate. A narrow terminal has no room for it.
pub(crate) fn import_message(sessions: u64, bytes_per_second: f64) -> String {
    let rate = HumanBytes(bytes_per_second.max(0.0) as u64);
    format!("{}, {rate}/s", text::counted(sessions, "session"))
}

/// Runs `work` and shows the progress of the running job meanwhile. `jobs` returns the answer of `list_jobs`. Without
/// a terminal on stderr it only runs `work`.
pub(crate) fn shown<T>(jobs: impl Fn() -> Option<Value> + Send, work: impl FnOnce() -> T) -> T {
    let bar = ProgressBar::no_length();
    if bar.is_hidden() {
        return work();
    }
    let (ended, end) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while end.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if let Some(progress) = jobs().as_ref().and_then(running) {
                    draw(&bar, &progress);
                }
            }
            bar.finish_and_clear();
        });
        let result = work();
        drop(ended);
        result
    })
}

/// The progress of the running job.
fn running(answer: &Value) -> Option<JobProgress> {
    let jobs: Vec<Job> = serde_json::from_value(answer.get("jobs")?.clone()).ok()?;
    jobs.into_iter().find(|job| job.state == JobState::Running)?.progress
}

fn draw(bar: &ProgressBar, progress: &JobProgress) {
    let template = match progress.total {
        Some(_) => "[{bar:10}] {percent} % ({elapsed}) {wide_msg}",
        None if progress.done > 0 => "{spinner} {pos} ({elapsed}) {wide_msg}",
        None => "{spinner} ({elapsed}) {wide_msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    match progress.total {
        Some(total) => bar.set_length(total),
        None => bar.unset_length(),
    }
    bar.set_position(progress.done);
    bar.set_message(progress.step.clone());
    bar.tick();
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::{ProgressDrawTarget, TermLike};
    use serde_json::json;

    use super::*;

    /// The lines that a bar draws on a terminal of this width.
    #[derive(Clone, Debug, Default)]
    struct Lines(u16, Arc<Mutex<String>>);

    impl TermLike for Lines {
        fn width(&self) -> u16 {
            self.0
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(&format!("{text}\n"))
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.1.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.write_str("\n")
        }
        fn flush(&self) -> io::Result<()> {
            self.write_str("\n")
        }
    }

    /// @terminal_width
    #[test]
    fn a_bar_fits_a_narrow_terminal() {
        for width in [40, 80] {
            let lines = Lines(width, Arc::default());
            let target = || ProgressDrawTarget::term_like_with_hz(Box::new(lines.clone()), 255);
            let step = "rebuilding the search index from all the records of the store".to_owned();
            for (done, total) in [(0, None), (7_000_000, None), (7_000_000, Some(9_000_000))] {
                let bar = ProgressBar::no_length();
                bar.set_draw_target(target());
                draw(&bar, &JobProgress { step: step.clone(), done, total });
                bar.abandon();
            }
            let style = ProgressStyle::with_template(IMPORT_BAR).unwrap();
            let bar =
                ProgressBar::with_draw_target(Some(1_073_000_000), target()).with_style(style);
            bar.set_message(import_message(1_204, 12_900_000.0));
            bar.set_position(999_000_000);
            bar.abandon();
            let drawn = lines.1.lock().unwrap().clone();
            assert!(drawn.contains("rebuilding") && drawn.contains(" % of "), "{drawn}");
            let has_rate = drawn.contains("sessions, 12.30 MiB/s");
            assert_eq!(has_rate, width == 80, "{drawn}");
            for line in drawn.split(['\n', '\r']) {
                let columns = text::table::columns(line.trim_end());
                assert!(columns <= usize::from(width), "{columns} at {width}: {line:?}");
            }
        }
    }

    #[test]
    fn the_progress_shown_is_that_of_the_running_job() {
        let job = |id: i64, state: &str, step: &str| {
            let progress = json!({ "step": step, "done": 3, "total": 9 });
            json!({ "id": id, "op": "backup", "state": state, "started_at": 0, "progress": progress })
        };
        let answer = json!({ "jobs": [job(3, "done", "a"), job(2, "running", "b")] });
        let found = running(&answer).unwrap();
        assert_eq!((found.step.as_str(), found.done, found.total), ("b", 3, Some(9)));
        assert_eq!(running(&json!({ "jobs": [job(3, "failed", "a")] })), None);
        assert_eq!(running(&json!({})), None);
    }
}
