//! The commits of a repository as records: one session for each day, in the time zone of each commit.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use git::{Commit, Facts};
use model::limits;
use model::observation::ObsType;
use model::origin::Origin;
use model::portable::{PortableObservation, PortableProject, PortableRecord, PortableSession};
use model::time;
use serde_json::json;
use text::secrets::{Profile, redact, redact_json};

use crate::record_report::{RecordReport, RecordSink};

const DAY: i64 = 86_400;

/// Reads the commits of the repository of a directory since a time in milliseconds.
pub(crate) fn read(
    directory: &Path,
    since: i64,
    sink: &mut RecordSink<'_>,
) -> io::Result<RecordReport> {
    let unread = |why: &str| io::Error::other(format!("{}: {why}", directory.display()));
    let facts = Facts::at(directory).ok_or_else(|| unread("not in a repository"))?;
    let commits = facts
        .commits(since.div_euclid(1_000), limits::IMPORT_COMMITS_MAX)
        .ok_or_else(|| unread("the checked-out commit cannot be read"))?;
    let key = facts.main_root.to_string_lossy().into_owned();
    let name = facts.main_root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    sink(PortableRecord::Project(PortableProject {
        name: if name.is_empty() { key.clone() } else { name },
        key: key.clone(),
        ..PortableProject::default()
    }));
    let mut days: BTreeMap<i64, Vec<Commit>> = BTreeMap::new();
    for commit in commits {
        days.entry((commit.at + commit.offset).div_euclid(DAY)).or_default().push(commit);
    }
    for (day, mut commits) in days {
        commits.sort_by_key(|commit| commit.at);
        let day: String = time::rfc3339(day * DAY * 1_000).chars().take(10).collect();
        of_day(&key, &day, &commits, sink);
    }
    Ok(RecordReport::default())
}

fn of_day(key: &str, day: &str, commits: &[Commit], sink: &mut RecordSink<'_>) {
    let (Some(first), Some(last)) = (commits.first(), commits.last()) else { return };
    let repository: String = Origin::of(&["git", key]).to_string().chars().take(12).collect();
    let session = format!("git-{repository}-{day}");
    let times = (first.at * 1_000, last.at * 1_000);
    let ended = PortableSession::ended(&session, key, "git", times);
    sink(PortableRecord::Session(Box::new(ended)));
    for commit in commits {
        let subject = commit.message.lines().next().unwrap_or_default();
        let metadata = json!({
            "commit_hash": commit.hash,
            "commit_message": subject,
            "author": commit.author,
        });
        sink(PortableRecord::Observation(Box::new(PortableObservation {
            session: session.clone(),
            prompt: None,
            at: commit.at * 1_000,
            kind: ObsType::GitCommit,
            event: "import".to_owned(),
            tool: None,
            file: None,
            content: redact(&commit.message, Profile::Strict).head(limits::IMPORT_COMMIT_CHARS),
            metadata: Some(redact_json(metadata, Profile::Strict)),
            failed: false,
            pinned: false,
            agent_id: None,
            count: 1,
            last_at: None,
            origins: vec![Origin::of(&["commit", &commit.hash]).to_string()],
        })));
    }
}
