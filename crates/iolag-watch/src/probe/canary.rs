//! The canary: whether a directory answers, asked by what no cache can answer: the look-up of a name that never was, and the state of the
//! file system.
//!
//! `mount_point` is where something has to be mounted for the directory. Runs in a child only: all of it may hang. An error is an answer, too.
//!
//! Limits: a file system that answers these and holds back reads or writes is not told by it; tasks do that.

use std::os::fd::AsFd;
use std::path::Path;

use iolag_directory::{Origin, mount_number};
use iolag_model::Clock;
use iolag_workload::PartRecorder;
use rustix::fs::{AtFlags, CWD, Mode, StatxFlags, fstatvfs, openat, statx};

use crate::StampRecorder;
use crate::probe::place::{DIRECTORY, shows_beneath};

/// Asks, and stamps *opened* when the directory is open, *prepared* when all is answered.
pub(crate) fn ask<C: Clock>(
    directory: &Path,
    mount_point: Option<&Path>,
    recorder: &mut StampRecorder<'_, C>,
    now: u64,
) {
    if let Ok(opened) = openat(CWD, directory, DIRECTORY, Mode::empty()) {
        // What shows because nothing is mounted is not where the target lies.
        let is_beneath = mount_point.is_some_and(|mount_point| shows_beneath(opened.as_fd(), mount_point));
        recorder.opened(mount_number(opened.as_fd()).filter(|_| !is_beneath), Origin::Found);
        let name = format!(".iolag-canary-{}-{now}", std::process::id());
        let _ = statx(&opened, name.as_str(), AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
        let _ = fstatvfs(&opened);
    }
    recorder.prepared();
    // Whatever is looked up from here on may wait for others.
    recorder.left_place();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stamps;
    use iolag_model::MonotonicClock;

    #[test]
    fn a_directory_answers_with_its_mount_also_if_it_is_not_there_and_nothing_is_left_in_it() {
        let place = tempfile::tempdir().unwrap();
        for (directory, is_there) in [(place.path().to_owned(), true), (place.path().join("gone"), false)] {
            let stamps = Stamps::new().unwrap();
            ask(&directory, None, &mut stamps.recorder(MonotonicClock), 7);
            assert!(stamps.prepared().is_some() && stamps.has_left_place());
            assert_eq!(stamps.opened().is_some(), is_there);
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
