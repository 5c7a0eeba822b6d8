//! Checks of agents: which are connected, by which program, and whether their events still arrive.

use agents::wiring::{Part, WIRINGS, Wiring};
use connect::{AgentConnection, ConnectScope, DisabledPart, Recorded, StartedProgram, last_active};
use model::limits;
use model::time::rfc3339;
use model::wire::Build;
use serde_json::{Map, Value, json};

use super::program::{ProgramCache, ProgramState};
use super::{StoreAnswers, at, check, places, since};
use crate::commands::connecting::{Here, install_line, record_dir, seen, switched_off};

/// An agent that is found or connected, and its state.
struct AgentState<'a> {
    wiring: &'static Wiring,
    look: AgentConnection,
    /// Whether `install` connected it and it was not disconnected since.
    recorded: bool,
    /// Whether it is connected for its user, or in the files of the repository.
    scope: ConnectScope,
    told: &'a StoreAnswers,
    /// Milliseconds since 1970 of its last event and of its last activity.
    last: Option<i64>,
    active: Option<i64>,
}

/// Checks every agent: appends to the checks, and returns the state of each.
pub(super) fn check_all(build: &Build, told: &StoreAnswers, checks: &mut Vec<Value>) -> Vec<Value> {
    let here = match Here::find() {
        Ok(here) => here,
        Err(error) => {
            checks.push(check("agents", "warn", &error.message, &error.hint.unwrap_or_default()));
            return Vec::new();
        }
    };
    let around = here.around();
    let now = places::time(client::clock::now_ms());
    let recorded = connect::recorded(&record_dir()).unwrap_or_else(|error| {
        checks.push(check("record", "fail", &error.message, &error.hint.unwrap_or_default()));
        Recorded::default()
    });
    for bad in &recorded.bad {
        checks.push(check("record", "fail", &bad.message, bad.hint.as_deref().unwrap_or_default()));
    }
    let (mut agents, mut unseen, mut programs) = (Vec::new(), Vec::new(), ProgramCache::default());
    for wiring in WIRINGS {
        let (look, scope) = seen(wiring, &around);
        let seen = AgentState {
            recorded: recorded.agents.iter().any(|agent| agent == wiring.agent),
            active: last_active(wiring, &around, now).and_then(places::millis),
            last: last_event(wiring, told),
            look,
            scope,
            wiring,
            told,
        };
        if !seen.is_of_interest() {
            let new = seen.look.unseen.into_iter().filter(|place| !unseen.contains(place));
            unseen.extend(new.collect::<Vec<_>>());
            continue;
        }
        checks.push(seen.connected());
        checks.extend(seen.server());
        checks.extend(seen.doubled());
        for started in &seen.look.programs {
            checks.push(seen.program(started, &programs.of(&started.path, build), build));
        }
        checks.extend(seen.capture());
        agents.push(seen.json());
    }
    if !unseen.is_empty() {
        let detail = format!(
            "cannot find out which agents are installed; not checked: {}",
            unseen.join(", ")
        );
        checks.push(check("agents", "warn", &detail, "Check the permissions of the directory."));
    }
    agents
}

/// The last event of an agent, from its sessions, which are retained, and its hook events, which are retained for a
/// month.
fn last_event(wiring: &Wiring, told: &StoreAnswers) -> Option<i64> {
    let by_hooks = at(&told.agents[wiring.agent]);
    let by_sessions =
        told.stats["agents"][wiring.agent].as_i64().map(|seconds| seconds.saturating_mul(1000));
    by_hooks.max(by_sessions)
}

/// The fix for an unusable registered program.
pub(crate) fn registers(wiring: &Wiring, scope: ConnectScope) -> String {
    format!("{} registers this program.", install_line(wiring.agent, scope))
}

impl AgentState<'_> {
    fn is_of_interest(&self) -> bool {
        self.look.found.is_some() || self.recorded || self.is_connected()
    }

    fn is_connected(&self) -> bool {
        self.look.is_connected()
    }

    /// Parts that its settings disable.
    fn off(&self) -> Vec<DisabledPart> {
        switched_off(self.wiring, &self.look)
    }

    fn connected(&self) -> Value {
        let (name, title) = (self.wiring.agent, self.wiring.title);
        let install = install_line(name, self.scope);
        let said = |status: &str, detail: &str, hint: &str| check(name, status, detail, hint);
        let state = self.look.state();
        if !self.look.trouble.is_empty() {
            let matters =
                self.recorded || self.is_connected() || self.scope == ConnectScope::Project;
            let status = if state != "yes" && matters { "fail" } else { "warn" };
            let hint = format!("Fix the file, then {install}.");
            return said(status, &self.look.trouble.join("; "), &hint);
        }
        if let Some(off) = self.off().iter().find(|off| off.hooks) {
            return said("fail", &off.detail, &off.hint);
        }
        match state {
            "yes" if self.scope == ConnectScope::Project => {
                said("ok", &format!("{title} is connected in this repository"), "")
            }
            "yes" => said("ok", &format!("{title} is connected"), ""),
            _ if self.look.plugin => said("ok", &format!("{title} is connected by its plugin"), ""),
            "partly" => {
                let status = if self.look.misses_events() { "fail" } else { "warn" };
                let detail = format!("{title} is partly connected; {}", self.look.lacking());
                let hint = format!("{install} completes it, and so does `rekindle doctor --fix`.");
                said(status, &detail, &hint)
            }
            _ if self.recorded => {
                let detail =
                    format!("{title} was connected, but our entries are gone from its files");
                let hint =
                    format!("{install} connects it again; `rekindle uninstall {name}` forgets it.");
                said("fail", &detail, &hint)
            }
            _ => {
                let hint = format!("{install} connects it.");
                said("ok", &format!("{title} is found and not connected"), &hint)
            }
        }
    }

    /// Disabled parts other than the hooks.
    fn server(&self) -> impl Iterator<Item = Value> {
        let name = format!("{} server", self.wiring.agent);
        let off = self.off().into_iter().filter(|off| !off.hooks);
        off.map(move |off| check(&name, "warn", &off.detail, &off.hint))
    }

    /// Reports that each event arrives twice.
    fn doubled(&self) -> Option<Value> {
        let doubled = self.look.plugin && !self.look.wired.is_empty();
        doubled.then(|| {
            let (name, title) = (self.wiring.agent, self.wiring.title);
            let detail = format!("{title} has our hooks twice: in its settings and in our plugin");
            let hint = format!("Keep one: `rekindle uninstall {name}`, or disable the plugin.");
            check(&format!("{name} hooks"), "warn", &detail, &hint)
        })
    }

    fn program(&self, started: &StartedProgram, program: &ProgramState, build: &Build) -> Value {
        let (name, path) = (self.wiring.agent, &started.path);
        let mends = registers(self.wiring, self.scope);
        let said = |status: &str, detail: String, hint: &str| {
            check(&format!("{name} program"), status, &detail, hint)
        };
        if let Some(fault) = program.fault(started) {
            return said("fail", fault, &mends);
        }
        match program {
            ProgramState::Older(other) => said(
                "warn",
                format!("{path} is of an older build ({other}) than this program ({build})"),
                &mends,
            ),
            ProgramState::Newer(other) => said(
                "warn",
                format!("{path} is of a newer build ({other}) than this program ({build})"),
                "Use that program for commands too, so that hooks and commands are of one build.",
            ),
            _ => said("ok", path.clone(), ""),
        }
    }

    /// Whether events arrive while the agent is active.
    fn capture(&self) -> Option<Value> {
        if !self.is_connected() {
            return None;
        }
        let title = self.wiring.title;
        let said = |status: &str, detail: &str, hint: &str| {
            check(&format!("{} capture", self.wiring.agent), status, detail, hint)
        };
        if !self.told.answered {
            return Some(said("warn", "not checked: the database could not be read", ""));
        }
        let last = self.last.map(|at| format!("its last event arrived {}", since(at)));
        if let Some(active) = self.active.filter(|active| self.is_silent(*active)) {
            let last = last.unwrap_or_else(|| "no event of it has ever arrived".to_owned());
            let detail =
                format!("capture has stopped: {title} was active {}, {last}", since(active));
            return Some(said("fail", &detail, &self.advice()));
        }
        if last.is_none() {
            let detail = format!("no event of {title} has arrived yet");
            return Some(said("warn", &detail, &self.first_steps()));
        }
        Some(said("ok", &self.heard(), ""))
    }

    /// Whether the agent was active long after the last event that may have been its own.
    fn is_silent(&self, active: i64) -> bool {
        let connected = self.look.changed.and_then(places::millis);
        // Events that arrived while capture was off have no known agent.
        let unknown = at(&self.told.agents[""]);
        let lag = i64::try_from(limits::CAPTURE_LAG.as_millis()).unwrap_or(i64::MAX);
        self.last.max(connected).max(unknown).is_none_or(|at| active.saturating_sub(at) > lag)
    }

    fn first_steps(&self) -> String {
        let own = format!("Start a new session of {}.", self.wiring.title);
        self.wiring.remark.map_or(own, str::to_owned)
    }

    fn advice(&self) -> String {
        let trust = self.wiring.remark.map(|remark| format!(" {remark}")).unwrap_or_default();
        // If everything is in place, `install` changes nothing.
        let install = match self.look.state() {
            "partly" => format!("{}, then ", install_line(self.wiring.agent, self.scope)),
            _ => String::new(),
        };
        format!(
            "A session that began before {} was connected does not have our hooks: start a new one.{trust} \
             If still no event arrives: {install}`rekindle logs --hook`.",
            self.wiring.title
        )
    }

    /// The last events of the agent and of each of its hooks.
    fn heard(&self) -> String {
        let (mut came, mut never, mut shared) = (Vec::new(), Vec::new(), false);
        for event in self.events() {
            match at(&self.told.events[event]) {
                Some(at) => {
                    shared |= self.is_shared(event);
                    came.push(format!("{event} {}", since(at)));
                }
                None => never.push(event),
            }
        }
        let last = self.last.map(since).unwrap_or_default();
        let mut text = format!("last event {last}");
        if !came.is_empty() {
            let of = if shared { "of all agents with these hooks: " } else { "" };
            text.push_str(&format!(" ({of}{})", came.join(", ")));
        }
        if !never.is_empty() {
            text.push_str(&format!(", lately no {}", never.join(", ")));
        }
        text
    }

    /// The names of the events that it should send.
    fn events(&self) -> Vec<&'static str> {
        let parts = self.wiring.files.iter().flat_map(|file| file.parts);
        let hooked = parts.filter_map(|part| match part {
            Part::Hooks(hooks) => Some(hooks.events.iter().map(|hooked| hooked.event)),
            _ => None,
        });
        let hooked: Vec<&str> = hooked.flatten().collect();
        if !hooked.is_empty() {
            return hooked;
        }
        let row = agents::agent(self.wiring.agent);
        row.iter().flat_map(|row| row.events).map(|event| event.name).collect()
    }

    /// Whether another known agent has an event of this name: only names are stored.
    fn is_shared(&self, event: &str) -> bool {
        WIRINGS.iter().filter(|other| other.agent != self.wiring.agent).any(|other| {
            last_event(other, self.told).is_some()
                && agents::agent(other.agent).is_some_and(|row| row.event(event).is_some())
        })
    }

    fn json(&self) -> Value {
        let mut events = Map::new();
        for event in self.events() {
            let last = &self.told.events[event];
            events
                .insert(event.to_owned(), json!({ "last": last, "shared": self.is_shared(event) }));
        }
        json!({
            "agent": self.wiring.agent,
            "title": self.wiring.title,
            "found": self.look.found.as_ref().map(|found| found.to_string_lossy()),
            "wired": self.look.state(),
            "scope": self.is_connected().then_some(self.scope.word()),
            "plugin": self.look.plugin,
            "missing": if self.is_connected() { self.look.missing.as_slice() } else { &[] },
            "altered": self.look.altered,
            "trouble": self.look.trouble,
            "commands": self.look.programs.iter().map(|started| &started.path).collect::<Vec<_>>(),
            "last_event": self.last.map(rfc3339),
            "last_active": self.active.map(rfc3339),
            "events": events,
        })
    }
}
