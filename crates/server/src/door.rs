//! The place where our own clients knock: the socket is bound at the start, and again if it is gone.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};

use model::OpError;
use model::locations::Locations;
use runtime::log::Log;
use tokio::net::UnixListener;
use tokio::sync::mpsc;

/// Keeps the socket at its place.
pub(crate) struct Door {
    locations: Locations,
    again: mpsc::Sender<UnixListener>,
    /// Whether it was logged that it cannot be bound again.
    complained: bool,
}

impl Door {
    /// Binds the socket. Whoever accepts gets the listener, and those that come after it.
    pub(crate) fn open(
        locations: &Locations,
    ) -> Result<(Door, UnixListener, mpsc::Receiver<UnixListener>), OpError> {
        let listener = bind(locations)?;
        let (again, listeners) = mpsc::channel(1);
        let door = Door { locations: locations.clone(), again, complained: false };
        Ok((door, listener, listeners))
    }

    /// Binds the socket again if none stands at its place: nobody could come in any more, and nobody else
    /// may serve while we hold the lock. Another socket is left alone: somebody put it before ours.
    pub(crate) fn keep_open(&mut self, log: &Log) {
        let stands = std::fs::symlink_metadata(self.locations.socket());
        if stands.is_ok_and(|meta| meta.file_type().is_socket()) {
            return;
        }
        match bind(&self.locations) {
            Ok(listener) => {
                self.complained = false;
                log.warn("socket", format_args!("it was gone, and is made anew"));
                // There is room unless the last one waits still, which is as good.
                let _ = self.again.try_send(listener);
            }
            Err(error) if !self.complained => {
                self.complained = true;
                log.warn("socket", format_args!("it is gone: {}", error.message));
            }
            Err(_) => {}
        }
    }
}

fn bind(locations: &Locations) -> Result<UnixListener, OpError> {
    let path = locations.socket();
    let failed =
        |why: String| OpError::unavailable(format!("cannot listen at {}: {why}", path.display()));
    if let Some(folder) = path.parent() {
        client::platform::private_dir(folder)?;
    }
    // Nobody else can be behind it: we hold the lock.
    if let Err(error) = std::fs::remove_file(&path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(failed(error.to_string()));
    }
    let listener = UnixListener::bind(&path).map_err(|error| failed(error.to_string()))?;
    // The directory keeps others out already; the mode says so to whoever looks.
    let _ = std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600));
    Ok(listener)
}
