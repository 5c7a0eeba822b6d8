//! Groups of writes: a write reuses values that an earlier one looked up, unless these have become outdated.

use model::OpError;
use model::project::Pause;
use serde::Serialize;

use super::desk::{Deed, Desk, do_it, facts, plain, touch};
use super::{NOW, answer, at_now, hold_writer};
use crate::answer::Answer;
use crate::prompts::NewPrompt;
use crate::purge::{self, PurgeFilter};
use crate::{Tx, Written, observations, paths, pauses, projects, prompts, sessions};

type Waiting<T> = Answer<Result<Written<T>, OpError>>;

impl Desk {
    /// Queues a write; it is one of the group that begins when the writer is let go.
    fn submit<T: Serialize + Send + 'static>(
        &self,
        f: impl FnMut(&Tx<'_>) -> Result<T, OpError> + Send + 'static,
    ) -> Waiting<T> {
        self.opening.store.submit(at_now(), f).unwrap()
    }

    fn submit_deed(&self, deed: Deed) -> Waiting<i64> {
        self.submit(move |tx| do_it(tx, &deed).map(observations::Added::id))
    }

    fn actions(&self, prompt: i64) -> u64 {
        self.read(|rx| prompts::by_id(rx, prompt)).unwrap().actions
    }
}

fn done<T>(waiting: &Waiting<T>) -> T {
    match answer(waiting).unwrap() {
        Written::Done(value) => value,
        Written::Repeated(_) => unreachable!("no call id was given"),
    }
}

fn refused<T>() -> Result<T, OpError> {
    Err(OpError::invalid("deed", "on purpose"))
}

/// @obs_prompt_link
#[test]
fn actions_are_counted_right_though_a_purge_counts_them_anew_in_between() {
    let desk = Desk::new();
    let prompt = desk.says("run it", None, 0);
    let deed = |command: &str, after: i64| Deed {
        prompt: Some(prompt),
        ..desk.deed_command(command, after)
    };
    let gone = desk.does(deed("make", 1)).id();
    let release = hold_writer(&desk.opening.store);
    let before = desk.submit_deed(deed("make test", 2));
    let purged = desk.submit(move |tx| {
        let filter = PurgeFilter { ids: Some(vec![gone]), ..PurgeFilter::default() };
        purge::run(tx, &filter).map(|done| done.count("observations"))
    });
    let after = desk.submit_deed(deed("make check", 3));
    drop(release);
    assert_eq!(done(&purged), 1);
    assert!(desk.get(done(&before)).is_some() && desk.get(done(&after)).is_some());
    assert_eq!(desk.actions(prompt), 2);
}

#[test]
fn values_looked_up_by_a_refused_write_are_forgotten() {
    let desk = Desk::new();
    let (session, project) = (desk.session, desk.project.id);
    let release = hold_writer(&desk.opening.store);
    let refusals = desk.submit(move |tx| {
        let place = projects::resolve(tx, &facts(None, Some("/w/new"), "new"), NOW)?;
        touch(tx, "s-new", place.id, 0)?;
        touch(tx, "s-new", place.id, 1)?;
        paths::intern(tx, &plain("/w/new/a.rs"))?;
        pauses::begin(tx, Pause { project: None, until: None })?;
        pauses::any(tx)?;
        let said = NewPrompt {
            session: session.id,
            project,
            at: NOW + 5,
            source: model::session::PromptSource::User,
            source_event: "UserPromptSubmit",
            content: &plain("never mind"),
            agent_prompt_id: None,
        };
        prompts::add(tx, &said)?;
        prompts::cause(tx, session.id, None, NOW + 6)?;
        refused::<()>()
    });
    let next = desk.submit(move |tx| {
        let place = projects::resolve(tx, &facts(None, Some("/w/new"), "new"), NOW)?;
        let seen = touch(tx, "s-new", place.id, 2)?;
        let deed = Deed {
            session: seen,
            kind: model::observation::ObsType::FileEdit,
            content: "Edit a.rs".to_owned(),
            path: Some("/w/new/a.rs".to_owned()),
            metadata: serde_json::Value::Null,
            failed: false,
            prompt: prompts::cause(tx, session.id, None, NOW + 6)?,
            after: 6,
        };
        Ok((seen.new, pauses::any(tx)?, deed.prompt, do_it(tx, &deed)?.id()))
    });
    drop(release);
    assert!(answer(&refusals).is_err());
    let (new, paused, cause, id) = done(&next);
    assert!(new && !paused, "the session and the pause were taken back");
    assert_eq!(cause, None, "so was the prompt");
    let kept = desk.get(id).unwrap();
    assert_eq!(kept.file_path.as_deref(), Some("/w/new/a.rs"));
    assert_eq!((kept.project.as_str(), kept.session_id.as_str()), ("new", "s-new"));
    assert_eq!(desk.read(sessions::count), 2);
}

#[test]
fn an_id_is_given_once_whatever_was_taken_back() {
    let desk = Desk::new();
    let release = hold_writer(&desk.opening.store);
    let first = desk.submit_deed(desk.deed_command("make a", 1));
    let deed = desk.deed_command("make b", 2);
    let taken_back = desk.submit(move |tx| {
        do_it(tx, &deed)?;
        refused::<()>()
    });
    let second = desk.submit_deed(desk.deed_command("make c", 3));
    drop(release);
    assert!(answer(&taken_back).is_err());
    let mut ids = vec![done(&first), done(&second)];
    // The next group goes on after what the last one wrote down, and so does the next process.
    ids.push(desk.runs("make d", 4));
    desk.opening.store.close();
    let again = desk.home.open();
    let deed = desk.deed_command("make e", 5);
    let last = again.store.write(at_now(), move |tx| do_it(tx, &deed).map(|added| added.id()));
    let Written::Done(last) = last.unwrap() else { unreachable!("no call id was given") };
    ids.push(last);
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    let contents: Vec<String> = again
        .store
        .read(|rx| observations::get(rx, &ids))
        .unwrap()
        .into_iter()
        .map(|kept| kept.content)
        .collect();
    assert_eq!(contents, ["make a", "make c", "make d", "make e"]);
}

/// A write that SQLite itself rolls back takes its whole group with it, and each gets a run of its own.
#[test]
fn a_group_that_was_rolled_back_as_a_whole_leaves_no_trace_in_the_next_run() {
    let desk = Desk::new();
    let prompt = desk.says("run it", None, 0);
    let release = hold_writer(&desk.opening.store);
    let deed = |command: &str, after: i64| Deed {
        prompt: Some(prompt),
        ..desk.deed_command(command, after)
    };
    let first = desk.submit_deed(deed("make a", 1));
    let fatal = desk.submit(|tx| tx.sql(|db| db.execute_batch("ROLLBACK")));
    let second = desk.submit_deed(deed("make b", 2));
    drop(release);
    assert!(answer(&fatal).is_err());
    let (first, second) = (done(&first), done(&second));
    assert_ne!(first, second);
    assert_eq!(desk.actions(prompt), 2, "each was counted in the run that was kept");
    assert_eq!((desk.count(), desk.get(first).unwrap().content.as_str()), (2, "make a"));
}
