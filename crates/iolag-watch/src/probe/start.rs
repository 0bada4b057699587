//! Starting a probe: the child that executes a task, in its place or in a directory that is open already.

use std::os::fd::{AsFd, BorrowedFd};

use iolag_directory::{Origin, mount_number};
use iolag_keeper::{Child, KeeperError, Orphanage, leave_inheritance};
use iolag_model::MonotonicClock;
use iolag_workload::ProbeTask;

use crate::probe::place::Place;
use crate::probe::process::ProbeProcess;
use crate::{AtDeadline, StampRecorder, Stamps};

/// Forks the child that executes a task in a directory that is open already. It dies with who started it.
///
/// # Errors
/// If no process can be made.
pub fn start_task(
    directory: BorrowedFd<'_>,
    task: impl FnOnce() -> Box<dyn ProbeTask>,
    stamps: &Stamps,
) -> Result<ProbeProcess, KeeperError> {
    let body = || {
        leave_inheritance(&[directory]);
        // Only for who looks at the process table.
        let _ = rustix::thread::set_name(c"iolag-probe");
        let mut recorder = stamps.recorder(MonotonicClock);
        recorder.opened(mount_number(directory), Origin::Found);
        prepare_and_perform(directory, task(), &mut recorder);
        0
    };
    Child::fork_apart("probe", Orphanage::Die, body).map(ProbeProcess::ours)
}

/// Forks the child that executes a task in its place. One that is to be ended at its deadline dies with the watch, since nobody else
/// would end it; one that is waited for goes on, and the next watch adopts it.
pub(crate) fn start_probe(
    place: &Place,
    task: impl FnOnce() -> Box<dyn ProbeTask>,
    stamps: &Stamps,
    at_deadline: AtDeadline,
) -> Result<ProbeProcess, KeeperError> {
    let orphanage = match at_deadline {
        AtDeadline::End { .. } => Orphanage::Die,
        AtDeadline::Wait => Orphanage::Survive,
    };
    let body = || {
        leave_inheritance(&[]);
        // Only for who looks at the process table.
        let _ = rustix::thread::set_name(c"iolag-probe");
        execute(place, task(), stamps);
        0
    };
    Child::fork_apart("probe", orphanage, body).map(ProbeProcess::ours)
}

fn execute(place: &Place, task: Box<dyn ProbeTask>, stamps: &Stamps) {
    let mut recorder = stamps.recorder(MonotonicClock);
    let (opened, origin) = match place.open() {
        Ok(opened) => opened,
        Err(error) => return recorder.failed(&error),
    };
    // Only what is below a target tells where that lies.
    let mount = matches!(place, Place::Below { .. }).then(|| mount_number(opened.as_fd())).flatten();
    recorder.opened(mount, origin);
    prepare_and_perform(opened.as_fd(), task, &mut recorder);
}

fn prepare_and_perform(
    place: BorrowedFd<'_>,
    mut task: Box<dyn ProbeTask>,
    recorder: &mut StampRecorder<'_, MonotonicClock>,
) {
    if let Err(error) = task.prepare(place, recorder) {
        return recorder.failed(&error);
    }
    recorder.prepared();
    task.perform(place, recorder);
}
