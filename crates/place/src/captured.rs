//! An agent's event with its project and its session.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use model::OpError;
use model::hook::{Happening, HookEvent, Stood};
use model::origin::Origin;
use model::project::{Project, ProjectFacts, shown_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::observations::Added;
use store::origins::KnownOrigin;
use store::sessions::{self, Seen, Sighting};
use store::{Rx, Tx, origins, pauses, projects, prompts};
use text::secrets::Redacted;

use crate::checkout::is_run_of;
use crate::gone;
use crate::places::{Place, PlaceSource};
use crate::{checkout, exclude};

/// An event that may be captured. Plugins get events in this form only.
pub struct Captured<'a> {
    /// The event, with symbolic links resolved in its paths. A tool call on an excluded file is
    /// [`Happening::Other`].
    pub event: Cow<'a, HookEvent>,
    /// The project of the agent's directory. Records of the event belong to the project of the session.
    pub project: Project,
    pub session: Seen,
    /// The top directory of the project on this machine.
    pub root: Option<String>,
    /// Branch and working tree of a tool call or an answer, as members of its metadata; none for a spooled event.
    pub checkout: Option<Redacted<Value>>,
    /// The project of the directory where a test run or a build ran; none if it is unknown. Other events have that of the
    /// agent's directory.
    pub ran_in: Option<i64>,
    /// Whether the event is a run of the project that the session's records belong to, or no run at all.
    pub ran_in_session_project: bool,
    /// Identifies the event's record; none if nothing does.
    pub origin: Option<Origin>,
    /// The record with this origin, if it was stored or purged before.
    pub known: Option<KnownOrigin>,
    /// The import that brings the event; none if a hook reported it.
    pub batch: Option<i64>,
    /// The record of the event.
    record: Cell<Option<Added>>,
}

impl<'a> Captured<'a> {
    /// Resolves the project and the session of an event and creates them if they are new. None if nothing may be
    /// captured: the project is excluded by the user (`exclude_projects`), or capture is paused.
    pub fn resolve(
        tx: &Tx<'_>,
        event: &'a HookEvent,
        places: &dyn PlaceSource,
        exclude_projects: &[String],
    ) -> Result<Option<Captured<'a>>, OpError> {
        let Some(EventSite { place, facts }) = EventSite::of(tx, event, places)? else {
            return Ok(None);
        };
        let named = NamedSession::of(event);
        let Some((project, session)) = named.resolve(tx, &facts, exclude_projects)? else {
            return Ok(None);
        };
        // A spooled tool call already has its checkout. That of a spooled answer is unknown, and that of a transcript is
        // not the present one.
        let checkout = match event.stood.is_some() || event.transcript.is_some() {
            true => None,
            false => checkout::of_event(places, &place, event),
        };
        let ran = checkout::ran_outside(places, &place, event);
        let ran_in = match &ran {
            Some(ran) => projects::known(tx, &ran.facts)?.map(|known| known.id),
            None => Some(project.id),
        };
        let ran_in_session_project = ran_in == Some(session.project)
            || !matches!(&event.what, Happening::ToolUsed(tool) if tool.metadata.get("run").is_some())
            || is_run_of(tx, session.project, ran.as_ref().map_or(&facts, |ran| &ran.facts))?;
        let event = allowed(places, &place, event);
        let root = facts.root;
        let (origin, known) = match origin(tx, &event, session)? {
            Some(origin) => {
                let (origin, known) = origins::look_up(tx, &event, origin)?;
                (Some(origin), known)
            }
            None => (None, None),
        };
        Ok(Some(Captured {
            event,
            project,
            session,
            root,
            checkout,
            ran_in,
            ran_in_session_project,
            origin,
            known,
            batch: None,
            record: Cell::new(None),
        }))
    }

    /// Notes the record that a plugin stored of the event. Other data about the event refers to it.
    pub fn note_record(&self, added: Added) {
        self.record.set(Some(added));
    }

    /// The record of the event, if one was stored.
    pub fn record(&self) -> Option<Added> {
        self.record.get()
    }

    /// Whether the event comes from a transcript. Such an event does not show that the session is alive: no counter and
    /// no mark changes.
    pub fn is_imported(&self) -> bool {
        self.batch.is_some()
    }
}

/// The event without what the user excludes, and with symbolic links resolved in its paths.
fn allowed<'a>(
    places: &dyn PlaceSource,
    place: &Place,
    event: &'a HookEvent,
) -> Cow<'a, HookEvent> {
    match exclude::hides(places, place, event) {
        true => Cow::Owned(HookEvent { what: Happening::Other, ..event.clone() }),
        false => place.resolved(event).map_or(Cow::Borrowed(event), Cow::Owned),
    }
}

/// The directory of an event, and the facts about its project.
struct EventSite {
    place: Arc<Place>,
    facts: ProjectFacts,
}

impl EventSite {
    /// None if the project was excluded when the event was spooled.
    fn of(
        rx: &Rx<'_>,
        event: &HookEvent,
        places: &dyn PlaceSource,
    ) -> Result<Option<EventSite>, OpError> {
        let place = places.at(event.cwd.as_ref().map(|cwd| cwd.as_str()));
        let recorded = match event.transcript.is_some() && place.is_gone {
            true => gone::facts(rx, &place.facts, event)?,
            false => None,
        };
        let facts = match (&event.stood, recorded) {
            (Some(Stood::KeptOut), _) => return Ok(None),
            (Some(Stood::In(facts)), _) => facts.clone(),
            (None, recorded) => recorded.unwrap_or_else(|| place.facts.clone()),
        };
        Ok(Some(EventSite { place, facts }))
    }
}

/// An event that [`Captured::resolve`] would capture. Nothing is created for it.
pub struct Capturable<'a> {
    /// As in [`Captured`].
    pub event: Cow<'a, HookEvent>,
    /// The name of the project of the agent's directory.
    pub project: String,
}

impl<'a> Capturable<'a> {
    /// `None` if [`Captured::resolve`] would return `None`.
    pub fn of(
        rx: &Rx<'_>,
        event: &'a HookEvent,
        places: &dyn PlaceSource,
        exclude_projects: &[String],
    ) -> Result<Option<Capturable<'a>>, OpError> {
        let Some(EventSite { place, facts }) = EventSite::of(rx, event, places)? else {
            return Ok(None);
        };
        let named = NamedSession::of(event);
        // Without a transaction nothing is known about pauses yet.
        if named.refusal(rx, &facts, exclude_projects, true)?.is_some() {
            return Ok(None);
        }
        let known = projects::known(rx, &facts)?.map(|project| project.name);
        let project = known.unwrap_or_else(|| shown_name(facts.name));
        Ok(Some(Capturable { event: allowed(places, &place, event), project }))
    }
}

fn origin(tx: &Tx<'_>, event: &HookEvent, session: Seen) -> Result<Option<Origin>, OpError> {
    let cause = match event.what {
        Happening::Answered(_) => {
            prompts::cause(tx, session.id, event.prompt_id.as_deref(), event.at)?
        }
        _ => None,
    };
    origins::of_event(tx, event, cause)
}

/// Why nothing is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NotCaptured {
    /// The settings exclude the project.
    Excluded,
    /// A user paused capture.
    Paused,
}

/// The name of the agent that an MCP client belongs to, by the name with which the client introduces itself.
pub fn agent_of_client(client: &str) -> Option<&'static str> {
    agents::of_client(client).map(|agent| agent.name)
}

/// A session as an event or a call names it.
#[derive(Clone, Copy)]
pub struct NamedSession<'a> {
    /// The agent's own id of the session.
    pub name: &'a str,
    pub agent: &'a str,
    pub at: i64,
    /// Whether the agent reports that the session starts or resumes.
    pub starts: bool,
    /// Whether the event or call is work, which makes an idle session active.
    pub works: bool,
}

impl<'e> NamedSession<'e> {
    fn of(event: &'e HookEvent) -> NamedSession<'e> {
        let starts = matches!(event.what, Happening::SessionStarted(_));
        let works = event.what.is_work();
        let (name, agent) = (&event.session, &event.agent);
        NamedSession { name, agent, at: event.at, starts, works }
    }
}

impl NamedSession<'_> {
    /// The project with these facts and the session, created if they are new. None if nothing may be captured:
    /// the project is excluded, or capture is paused.
    pub fn resolve(
        self,
        tx: &Tx<'_>,
        facts: &ProjectFacts,
        exclude_projects: &[String],
    ) -> Result<Option<(Project, Seen)>, OpError> {
        if self.refused(tx, facts, exclude_projects)?.is_some() {
            return Ok(None);
        }
        let NamedSession { name, agent, at, starts, works } = self;
        let project = projects::resolve(tx, facts, at)?;
        let root = facts.root.as_deref();
        let sighting = Sighting { name, agent, project: project.id, root, at, starts, works };
        let seen = sessions::touch(tx, &sighting)?;
        Ok(Some((project, seen)))
    }

    /// Why nothing may be captured, if so.
    pub fn refused(
        self,
        tx: &Tx<'_>,
        facts: &ProjectFacts,
        exclude_projects: &[String],
    ) -> Result<Option<NotCaptured>, OpError> {
        self.refusal(tx, facts, exclude_projects, pauses::any(tx)?)
    }

    /// Why nothing may be captured, if so. `may_pause` is false if there is no pause at all.
    fn refusal(
        self,
        rx: &Rx<'_>,
        facts: &ProjectFacts,
        exclude_projects: &[String],
        may_pause: bool,
    ) -> Result<Option<NotCaptured>, OpError> {
        if exclude::names(exclude_projects, facts) || began_in(rx, self.name, exclude_projects)? {
            return Ok(Some(NotCaptured::Excluded));
        }
        let is_paused = may_pause && self.is_paused(rx, facts)?;
        Ok(is_paused.then_some(NotCaptured::Paused))
    }

    /// Whether capture is paused in this project, or in the project where the session began, which the record would
    /// belong to.
    fn is_paused(self, rx: &Rx<'_>, facts: &ProjectFacts) -> Result<bool, OpError> {
        if pauses::list(rx, self.at)?.is_empty() {
            return Ok(false);
        }
        let here = projects::known(rx, facts)?.map(|project| project.id);
        let begun = sessions::project_of(rx, self.name)?;
        Ok(pauses::holds(rx, here, self.at)? || pauses::holds(rx, begun, self.at)?)
    }
}

/// Whether the session of this name began in one of these excluded projects. A call or a hook can name it from another
/// directory.
pub fn began_in(rx: &Rx<'_>, session: &str, exclude_projects: &[String]) -> Result<bool, OpError> {
    if exclude_projects.is_empty() {
        return Ok(false);
    }
    let Some(begun) = sessions::project_of(rx, session)? else { return Ok(false) };
    let begun = projects::by_id(rx, begun)?;
    Ok(begun.is_some_and(|project| exclude::names_stored(exclude_projects, &project)))
}
