//! A terminal of a task's own, as a user's window has one.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// What users' windows usually have.
const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// Both sides of a terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// The side of the person: what is written here is typed, what is read here is shown.
    pub person: OwnedFd,
    /// The side of the programs.
    pub programs: OwnedFd,
}

impl Terminal {
    /// A new terminal of 80 columns and 24 rows, which does not become the calling process's own.
    ///
    /// # Errors
    /// If the kernel has none left.
    pub(crate) fn open() -> Result<Self, Errno> {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&person)?;
        unlockpt(&person)?;
        let name = ptsname(&person, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let programs = open(name, flags, Mode::empty())?;
        tcsetwinsize(&programs, SIZE)?;
        Ok(Self { person, programs })
    }
}
