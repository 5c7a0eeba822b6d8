//! A progress bar for a job, on the terminal, while the command waits for the job's end.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use model::job::{Job, JobProgress, JobState};
use serde_json::Value;

/// Interval of polling, and the delay before the bar appears, so that quick jobs show none.
const POLL: Duration = Duration::from_millis(300);

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
        Some(_) => "{msg} [{bar:30}] {percent} % ({elapsed})",
        None if progress.done > 0 => "{spinner} {msg} {pos} ({elapsed})",
        None => "{spinner} {msg} ({elapsed})",
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
    use serde_json::json;

    use super::*;

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
