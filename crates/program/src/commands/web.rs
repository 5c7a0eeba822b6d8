//! `rekindle web`: prints a one-time link to the page; `--forget` revokes all authorised browsers.

use clap::{Arg, ArgAction, ArgMatches, Command};
use model::OpError;
use serde_json::{Value, json};
use server::guard;
use server::lock::Lock;

use crate::road;
use crate::world::World;

pub(super) fn command() -> Command {
    Command::new("web")
        .about("Print a link to the web page, or forget all authorised browsers")
        .long_about(
            "Print a link that opens the web page once, within ten minutes. The browser that opens it \
             stays authorised for 30 days after its last use, even if the daemon restarts.",
        )
        .arg(
            Arg::new("forget")
                .long("forget")
                .action(ArgAction::SetTrue)
                .help("Forget all authorised browsers and unused links; each browser then needs a new link"),
        )
        .after_help("Examples:\n  rekindle web\n  rekindle web --forget")
}

pub(super) fn run(world: &mut World, _: &[String], matches: &ArgMatches) -> u8 {
    let (done, pretty): (_, fn(&Value) -> String) = if matches.get_flag("forget") {
        (forget(world), forgotten)
    } else {
        (link(world), |result| result["page"].as_str().unwrap_or_default().to_owned())
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
fn link(world: &mut World) -> Result<Value, OpError> {
    if road::reach(world)?.is_none() {
        if client::daemon::autostart_forbidden() {
            return Err(OpError::unavailable("no daemon runs, and REKINDLE_NO_AUTOSTART is set")
                .hint("Run `rekindle up`."));
        }
        let flags = ["--on-demand".into()];
        client::daemon::start_and_wait(&world.locations, world.db.as_deref(), &flags)?;
    }
    let (road, hello) = road::connect(world)?.ok_or_else(gone)?;
    let link = road.link().map_err(|_| gone())??;
    if let Some(taken) = &hello.taken_port {
        world.out.note(&format!("note: {}", taken.note(hello.port)));
    }
    Ok(json!({ "page": page(&hello.address, &link) }))
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
