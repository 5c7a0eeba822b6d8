//! The spool: events for the next process that opens the store, one file each, written atomically.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use model::hook::HookEvent;
use model::locations::Locations;

use crate::platform;

/// Writes the event into the data directory's spool, else into the runtime directory's.
pub fn leave(locations: &Locations, event: &HookEvent) -> io::Result<()> {
    let [first, second] = locations.spools();
    write(&first, event).or_else(|_| write(&second, event))
}

fn write(folder: &Path, event: &HookEvent) -> io::Result<()> {
    let text = serde_json::to_vec(event)?;
    if !platform::may_write(text.len() as u64) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // The name sorts by (at, id), the order of ingestion.
    let name = format!("{:015}-{}.json", event.at.max(0), event.id);
    let temporary = folder.join(format!(".{name}.part"));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = match options.open(&temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = folder.parent() {
                platform::data_dir(parent).map_err(|why| io::Error::other(why.to_string()))?;
            }
            platform::private_dir(folder).map_err(|why| io::Error::other(why.to_string()))?;
            options.open(&temporary)?
        }
        other => other?,
    };
    let written = file.write_all(&text).and_then(|()| fs::rename(&temporary, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
