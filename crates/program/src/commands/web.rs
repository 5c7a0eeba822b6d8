//! `rekindle web`: prints a one-time link to the page, or opens it; `--forget` revokes all authorised browsers.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use model::OpError;
use serde_json::{Value, json};
use server::guard;
use server::lock::Lock;

use crate::road;
use crate::world::World;

/// The views of the page that a link can lead to: `VIEWS` of `web/main.js`.
const VIEWS: [&str; 9] = [
    "timeline", "sessions", "search", "hints", "learning", "receipts", "stats", "projects",
    "health",
];

/// How long a program that starts the browser may take to report an error.
const BROWSER_START: Duration = Duration::from_secs(2);

pub(super) fn command() -> Command {
    Command::new("web")
        .about("Print a link to the web page, or forget all authorised browsers")
        .long_about(
            "Print a link that opens the web page once, within ten minutes. The browser that opens it \
             stays authorised for 30 days after its last use, even if the daemon restarts.",
        )
        .arg(
            Arg::new("session")
                .long("session")
                .value_name("ID")
                .help("Open this session: its id, or the first characters of it"),
        )
        .arg(
            Arg::new("view")
                .long("view")
                .value_name("VIEW")
                .value_parser(VIEWS)
                .help("Open this view"),
        )
        .arg(
            Arg::new("open")
                .long("open")
                .action(ArgAction::SetTrue)
                .help("Also start the browser with the link"),
        )
        .arg(
            Arg::new("forget")
                .long("forget")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["session", "view", "open"])
                .help("Forget all authorised browsers and unused links; each browser then needs a new link"),
        )
        .after_help("Examples:\n  rekindle web\n  rekindle web --view stats --open\n  rekindle web --forget")
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let (done, pretty): (_, fn(&Value) -> String) = if matches.get_flag("forget") {
        (forget(world), forgotten)
    } else {
        (link(world, matches), |result| result["page"].as_str().unwrap_or_default().to_owned())
    };
    match done {
        Ok(result) => world.out.result(&result, Some(&pretty)),
        Err(error) => world.out.error(&error),
    }
}

fn gone() -> OpError {
    OpError::unavailable("the daemon stopped before it answered").hint("See `rekindle logs`.")
}

/// Gets a link from the daemon, and starts the daemon if it is not running.
fn link(world: &mut World, matches: &ArgMatches) -> Result<Value, OpError> {
    if road::reach(world)?.is_none() {
        if client::daemon::autostart_forbidden() {
            return Err(OpError::unavailable("no daemon runs, and REKINDLE_NO_AUTOSTART is set")
                .hint("Run `rekindle up`."));
        }
        let flags = ["--on-demand".into()];
        client::daemon::start_and_wait(&world.locations, world.db.as_deref(), &flags)?;
    }
    // A wrong session is refused before a link is issued.
    let session = matches.get_one::<String>("session").map(|given| whole_id(world, given));
    let session = session.transpose()?;
    let (road, hello) = road::connect(world)?.ok_or_else(gone)?;
    let link = road.link().map_err(|_| gone())??;
    if let Some(taken) = &hello.taken_port {
        world.out.note(&format!("note: {}", taken.note(hello.port)));
    }
    let mut page = page(&hello.address, &link);
    let view = matches.get_one::<String>("view").cloned();
    for (name, value) in [("session", session), ("view", view)] {
        if let Some(value) = value {
            page.push_str(&format!("&{name}={}", encoded(&value)));
        }
    }
    let mut result = json!({ "page": page });
    if matches.get_flag("open") {
        let opened = open(&page);
        if let Err(why) = &opened {
            world
                .out
                .note(&format!("note: no browser was started ({why}); open the link yourself"));
        }
        result["opened"] = opened.is_ok().into();
    }
    Ok(result)
}

/// The whole id of the session that the user names by its id or a prefix of it.
fn whole_id(world: &mut World, given: &str) -> Result<String, OpError> {
    let session = crate::calls::call(world, "get_session", json!({ "session_id": given }))?;
    let id = session["sessionId"].as_str();
    id.map(str::to_owned).ok_or_else(|| OpError::internal("a session without an id"))
}

/// Percent-encodes a value of the address.
fn encoded(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            // Writing to a text cannot fail.
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

/// Starts the user's browser, without a shell. An error says why it did not start.
fn open(page: &str) -> Result<(), String> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(program);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let until = Instant::now() + BROWSER_START;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{program} ended with {status}")),
            // The program may run for as long as the browser does.
            Ok(None) if Instant::now() >= until => return Ok(()),
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(format!("{program}: {error}")),
        }
    }
}

/// The address that opens the page.
pub(super) fn page(address: &str, link: &Value) -> String {
    format!("{address}/?link={}", link["link"].as_str().unwrap_or_default())
}

fn forget(world: &mut World) -> Result<Value, OpError> {
    if let Some((road, _)) = road::reach(world)? {
        return road.forget_browsers().map_err(|_| gone())?;
    }
    // Without a daemon we delete the file ourselves. The lock keeps a daemon from starting meanwhile.
    let Some(_lock) = Lock::try_take(&world.locations)? else {
        return Err(OpError::unavailable("a daemon is starting or stopping").hint("Try again."));
    };
    let forgotten = guard::forget_stored(&world.locations).map_err(|error| {
        let file = world.locations.browsers();
        OpError::unavailable(format!("cannot remove {}: {error}", file.display()))
    })?;
    Ok(json!({ "forgotten": forgotten }))
}

fn forgotten(result: &Value) -> String {
    match result["forgotten"].as_u64().unwrap_or_default() {
        0 => "no browser was authorised".to_owned(),
        count => format!("{} forgotten", text::counted(count, "browser")),
    }
}

#[cfg(test)]
mod tests {
    use super::VIEWS;

    #[test]
    fn the_views_of_a_link_are_those_of_the_page() {
        let page = include_str!("../../../../web/main.js");
        let listed =
            page.split_once("export const VIEWS = [").unwrap().1.split_once("];").unwrap().0;
        let ids: Vec<&str> = listed
            .lines()
            .filter_map(|line| line.split_once("id: \"")?.1.split_once('"').map(|(id, _)| id))
            .collect();
        assert_eq!(ids, VIEWS);
    }
}
