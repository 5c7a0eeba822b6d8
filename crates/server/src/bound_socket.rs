//! The unix socket of our own clients: bound at the start, and again if its file disappears.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};

use model::OpError;
use model::locations::Locations;
use runtime::log::Log;
use tokio::net::UnixListener;
use tokio::sync::mpsc;

/// Keeps the socket file in place.
pub(crate) struct BoundSocket {
    locations: Locations,
    again: mpsc::Sender<UnixListener>,
    /// Whether the failure to bind again was logged. It is logged once.
    complained: bool,
}

impl BoundSocket {
    /// Binds the socket. Returns its listener and the channel on which later listeners arrive.
    pub(crate) fn open(
        locations: &Locations,
    ) -> Result<(BoundSocket, UnixListener, mpsc::Receiver<UnixListener>), OpError> {
        let listener = bind(locations)?;
        let (again, listeners) = mpsc::channel(1);
        let socket = BoundSocket { locations: locations.clone(), again, complained: false };
        Ok((socket, listener, listeners))
    }

    /// Binds the socket again if its file is gone: no client could connect any more, and no other process may serve
    /// while we hold the lock. A socket file of another process at this path is left alone.
    pub(crate) fn keep_open(&mut self, log: &Log) {
        let found = std::fs::symlink_metadata(self.locations.socket());
        if found.is_ok_and(|meta| meta.file_type().is_socket()) {
            return;
        }
        match bind(&self.locations) {
            Ok(listener) => {
                self.complained = false;
                log.warn("socket", format_args!("the file was gone and was created again"));
                // The channel is full only if the previous listener was not picked up yet; then that listener serves.
                let _ = self.again.try_send(listener);
            }
            Err(error) if !self.complained => {
                self.complained = true;
                log.warn(
                    "socket",
                    format_args!("the file is gone and cannot be created again: {}", error.message),
                );
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
    // No other daemon can be listening on it: we hold the lock.
    if let Err(error) = std::fs::remove_file(&path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(failed(error.to_string()));
    }
    let listener = UnixListener::bind(&path).map_err(|error| failed(error.to_string()))?;
    // The directory already keeps other users out. The mode repeats that for tools that inspect the file.
    let _ = std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600));
    Ok(listener)
}
