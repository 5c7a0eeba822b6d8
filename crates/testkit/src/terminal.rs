//! A pseudo-terminal as the stdout of a command.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::home::{Home, Run};

impl Home {
    /// Runs a command to its end with a terminal of this size as its stdout. Line ends are those of a file.
    pub fn on_terminal(&self, args: &[&str], columns: u16, lines: u16) -> Run {
        on_terminal(self.command(args), columns, lines)
    }
}

/// Runs a command to its end with a terminal of this size as its stdout, a pipe as its stderr, and no stdin.
pub fn on_terminal(mut command: Command, columns: u16, lines: u16) -> Run {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("the terminal can be used");
    let name = ptsname(&ours, Vec::new()).expect("the name of the terminal");
    let name = name.to_str().expect("a UTF-8 name").to_owned();
    let theirs = File::options().read(true).write(true).open(name).expect("the terminal");
    let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size).expect("the size of the terminal");
    command.stdin(Stdio::null()).stdout(theirs).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    // The command has the terminal's other end open as well: reading ends once every copy is closed.
    drop(command);
    let reader = std::thread::spawn(move || {
        let (mut screen, mut bytes) = (File::from(ours), Vec::new());
        // On Linux the end of the output is reported as an error.
        let _ = screen.read_to_end(&mut bytes);
        bytes
    });
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().expect("stderr is piped");
    pipe.read_to_string(&mut stderr).expect("stderr is text");
    let status = child.wait().expect("the binary ends");
    let bytes = reader.join().expect("the reader ends");
    let stdout = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    Run { code: status.code().unwrap_or(-1), stdout, stderr }
}
