//! One connection to the daemon's socket: sends and receives lines, each with a deadline.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use model::limits;
use model::locations::Locations;

use crate::platform;

/// A connection that carries newline-delimited JSON-RPC.
pub struct Connection {
    reader: BufReader<UnixStream>,
}

impl Connection {
    /// Connects, if the socket's directory is ours: elsewhere another user may be listening. A daemon that does not
    /// accept within a hook's longest deadline counts as none.
    pub fn open(locations: &Locations) -> io::Result<Connection> {
        Connection::open_within(locations, limits::HOOK_DEADLINE)
    }

    /// Connects, and waits this long for the daemon to accept.
    pub fn open_within(locations: &Locations, patience: Duration) -> io::Result<Connection> {
        let socket = locations.socket();
        if !socket.parent().is_some_and(platform::is_private) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let stream = platform::connect(&socket, patience)?;
        Ok(Connection { reader: BufReader::new(stream) })
    }

    /// Sets the timeout of each read and write.
    pub fn set_deadline(&self, deadline: Duration) -> io::Result<()> {
        self.reader.get_ref().set_read_timeout(Some(deadline))?;
        self.reader.get_ref().set_write_timeout(Some(deadline))
    }

    /// Sends a frame that ends with a newline.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(frame)
    }

    /// The next line without its newline. The end of the stream and a line over the size limit are errors.
    pub fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let max = limits::LINE_BYTES_MAX as u64;
        (&mut self.reader).take(max).read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line)
    }

    /// A second handle, so that one thread can send while another receives.
    pub fn split(self) -> io::Result<(UnixStream, Connection)> {
        Ok((self.reader.get_ref().try_clone()?, self))
    }
}
