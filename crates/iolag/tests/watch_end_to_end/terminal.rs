//! The program at a terminal, where it tells every round.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{PATIENCE, end, kill, wait_until};

/// A program whose standard output is a terminal.
pub struct AtTerminal {
    child: Child,
    /// Not text yet: a letter of several bytes may come in two pieces.
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl AtTerminal {
    pub fn start(mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        tcsetwinsize(&slave, Winsize { ws_row: 50, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let child = command.stdout(slave).stderr(Stdio::null()).spawn().unwrap();
        // The command's end of the terminal must not stay open here.
        drop(command);
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut master = File::from(master);
            let mut buffer = [0; 4096];
            // Linux ends the reading with EIO when the last writer is gone.
            while let Ok(read @ 1..) = master.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..read]);
            }
        });
        Self { child, bytes, reader: Some(reader) }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).replace('\r', "")
    }

    /// Sends a signal and waits for the end; returns everything that was printed, and the exit code.
    pub fn end(mut self, signal: i32) -> (String, Option<i32>) {
        kill(self.id(), signal);
        let mut status = None;
        let has_ended = wait_until(PATIENCE, || {
            status = self.child.try_wait().unwrap();
            status.is_some() && self.reader.as_ref().is_none_or(JoinHandle::is_finished)
        });
        assert!(has_ended, "the program, or whoever holds its terminal, does not end: {}", self.text());
        (self.text(), status.and_then(|status| status.code()))
    }
}

impl Drop for AtTerminal {
    fn drop(&mut self) {
        // The guard of a test that failed; after `end` the child is gone.
        end(&mut self.child);
    }
}
