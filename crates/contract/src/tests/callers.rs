//! Tests of a caller's directory, projects, files and session.

use model::situation::Situation;
use model::{Caller, Tier};
use place::Wanted;
use store::{Write, sessions};

use super::{NOW, Shop};
use crate::caller::{EXCLUDED_PROJECTS, KnownCaller};
use crate::candidate::{BriefingForm, Moment, Occasion};
use crate::config::Config;

impl Shop {
    fn caller(&self, tier: Tier, session: Option<&str>) -> Caller {
        let situation = Situation { cwd: Some(self.work()), ..Situation::default() };
        Caller { tier, session: session.map(str::to_owned), situation, ..Caller::default() }
    }

    /// The agent of the session that a call of this caller creates; none if it creates none.
    fn agent_of(&self, caller: &Caller, config: &Config) -> Option<String> {
        let known = KnownCaller::new(caller, &self.places);
        let session = known.session_to_write(config, NOW).unwrap();
        let name = session.name.clone();
        let write = move |tx: &store::Tx<'_>| Ok(session.resolve(tx)?.map(|seen| seen.id));
        let store::Written::Done(id) = self.store.write(Write::default(), write).unwrap() else {
            return None;
        };
        self.store
            .read(|rx| {
                assert_eq!(known.session_id(rx)?, id);
                Ok(sessions::by_name(rx, &name)?.map(|session| session.agent))
            })
            .unwrap()
    }

    /// The name of the project that a question is about; none for all projects.
    fn name_of(&self, question: place::Question) -> Option<String> {
        self.store.read(|rx| Ok(question.scope(rx)?.name().map(str::to_owned))).unwrap()
    }
}

#[test]
fn the_session_of_a_writing_call_is_created_for_its_agent() {
    let shop = Shop::new();
    let config = Config::default();
    let of_agent = shop.caller(Tier::Agent, Some("s-1"));
    assert_eq!(shop.agent_of(&of_agent, &config).as_deref(), Some("claude-code"));
    let of_person = shop.caller(Tier::Person, Some("s-2"));
    assert_eq!(shop.agent_of(&of_person, &config).as_deref(), Some("unknown"));
}

#[test]
fn a_caller_that_names_no_session_has_none() {
    let shop = Shop::new();
    let caller = shop.caller(Tier::Person, None);
    let known = KnownCaller::new(&caller, &shop.places);
    assert!(known.session_to_write(&Config::default(), NOW).is_none());
    assert_eq!(shop.store.read(|rx| known.session_id(rx)).unwrap(), None);
    let unknown = shop.caller(Tier::Person, Some("s-9"));
    let known = KnownCaller::new(&unknown, &shop.places);
    assert_eq!(shop.store.read(|rx| known.session_id(rx)).unwrap(), None);
}

#[test]
fn no_session_is_created_in_an_excluded_project() {
    let shop = Shop::new();
    let mut config = Config::defaults([&EXCLUDED_PROJECTS]);
    config.set(&EXCLUDED_PROJECTS, "work").unwrap();
    assert_eq!(shop.agent_of(&shop.caller(Tier::Person, Some("s-1")), &config), None);
}

#[test]
fn a_call_is_about_the_project_of_its_directory_unless_it_names_another() {
    let shop = Shop::new();
    let config = Config::default();
    let caller = shop.caller(Tier::Person, Some("s-1"));
    shop.agent_of(&caller, &config);
    let known = KnownCaller::new(&caller, &shop.places);
    assert_eq!(known.place().facts.root, Some(shop.work()));
    assert_eq!(shop.name_of(known.projects(Wanted::Here)).as_deref(), Some("work"));
    assert_eq!(shop.name_of(known.projects(Wanted::All)), None);
    let nowhere = Caller { situation: Situation::default(), ..caller };
    let nowhere = KnownCaller::new(&nowhere, &shop.places);
    assert_eq!(shop.name_of(nowhere.projects(Wanted::Here)), None);
    let named = nowhere.projects(Wanted::Named("work".into()));
    assert_eq!(shop.name_of(named).as_deref(), Some("work"));
}

#[test]
fn a_text_is_about_the_project_of_its_situation_unless_another_is_asked_for() {
    let shop = Shop::new();
    let config = Config::default();
    let caller = shop.caller(Tier::Person, Some("s-1"));
    shop.agent_of(&caller, &config);
    let known = KnownCaller::new(&caller, &shop.places);
    let about = |project: Option<&str>, situation: &Situation| {
        let moment = Moment {
            occasion: Occasion::Prompt("x"),
            session: None,
            project,
            form: BriefingForm::Sections,
            host: text::HostLimits::NONE,
            situation,
            place: known.place(),
            ran_in: known.place(),
            now: NOW,
            config: &config,
            store: &shop.store,
        };
        shop.name_of(moment.projects())
    };
    assert_eq!(about(None, &caller.situation).as_deref(), Some("work"));
    assert_eq!(about(Some("*"), &caller.situation), None);
    assert_eq!(about(None, &Situation::default()), None);
    assert_eq!(about(Some("work"), &Situation::default()).as_deref(), Some("work"));
}

#[test]
fn a_relative_path_is_in_the_callers_directory_unless_it_may_be_anywhere() {
    let shop = Shop::new();
    let caller = shop.caller(Tier::Person, None);
    let known = KnownCaller::new(&caller, &shop.places);
    let from_here = |anywhere| known.file(&shop.store, "src/a.rs", anywhere).unwrap().from_here;
    assert_eq!(from_here(false), Some(format!("{}/src/a.rs", shop.work())));
    assert_eq!(from_here(true), None);
}
