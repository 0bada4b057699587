//! A program at a terminal of its own, as a shell starts it: it leads the foreground group, and what is typed reaches it as signals.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};

use rustix::fd::OwnedFd;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{PATIENCE, end, wait_until};

pub struct Session {
    child: Child,
    keyboard: File,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Session {
    pub fn start(mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        tcsetwinsize(&slave, Winsize { ws_row: 33, ws_col: 177, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let stream = || OwnedFd::from(slave.try_clone().unwrap());
        command.stdin(stream()).stdout(stream()).stderr(stream());
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        // Nobody but the program holds its end of the terminal.
        drop((command, slave));
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (kept, mut screen) = (Arc::clone(&shown), File::from(master.try_clone().unwrap()));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Linux ends the reading with EIO when the last writer is gone.
            while let Ok(read @ 1..) = screen.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..read]);
            }
        });
        Self { child, keyboard: File::from(master), shown }
    }

    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).replace('\r', "")
    }

    pub fn wait_for(&self, text: &str) {
        let is_there = wait_until(PATIENCE, || self.shown().contains(text));
        assert!(is_there, "{text:?} was not shown: {}", self.shown());
    }

    pub fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub fn finish(mut self) -> (String, ExitStatus) {
        let mut status = None;
        let ended = wait_until(PATIENCE, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert!(ended, "it does not end: {}", self.shown());
        // What it has shown last is read by then.
        wait_until(PATIENCE, || {
            let before = self.shown().len();
            std::thread::sleep(std::time::Duration::from_millis(20));
            before == self.shown().len()
        });
        (self.shown(), status.unwrap())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}
