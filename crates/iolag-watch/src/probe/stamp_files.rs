//! The files of the runtime directory in which probes stamp, so that the next watch can read what was stamped.

use std::os::fd::AsFd;

use iolag_model::ProbeId;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};

use crate::{RuntimeDirectory, Stamps};

const STAMPS_PREFIX: &str = "stamps-";

/// A page of stamps that the next watch will find, or, if the runtime directory has no room, one that it will not.
pub(crate) fn make_stamps(directory: &RuntimeDirectory, probe: ProbeId) -> Option<Stamps> {
    open_stamps(directory, probe, OFlags::CREATE | OFlags::EXCL).or_else(|| Stamps::new().ok())
}

/// The page of stamps that an earlier watch made.
pub(crate) fn find_stamps(directory: &RuntimeDirectory, probe: ProbeId) -> Option<Stamps> {
    open_stamps(directory, probe, OFlags::empty()).or_else(|| Stamps::new().ok())
}

/// Removes the page of a probe that has ended.
pub(crate) fn remove_stamps(directory: &RuntimeDirectory, probe: ProbeId) {
    // One that was never there needs no removal, and one that stays is removed by the next watch.
    let _ = directory.remove_file(&stamps_name(probe));
}

/// Removes pages of probes that nobody knows: of a watch that was killed while it started or ended them.
pub(crate) fn remove_unknown_stamps(directory: &RuntimeDirectory, is_known: impl Fn(&str) -> bool) {
    let Ok(entries) = Dir::read_from(directory.descriptor()) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().to_str() else { continue };
        if name.starts_with(STAMPS_PREFIX) && !is_known(name) {
            let _ = unlinkat(directory.descriptor(), name, AtFlags::empty());
        }
    }
}

/// The name of the page of a probe.
pub(crate) fn stamps_name(probe: ProbeId) -> String {
    format!("{STAMPS_PREFIX}{:016x}", probe.0)
}

fn open_stamps(directory: &RuntimeDirectory, probe: ProbeId, how: OFlags) -> Option<Stamps> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | how;
    let file = openat(directory.descriptor(), stamps_name(probe), flags, Mode::RUSR | Mode::WUSR).ok()?;
    Stamps::in_file(file.as_fd()).ok()
}
