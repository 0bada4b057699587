//! Programs of the user's, below a guard: starting them, and waiting until nothing of them is left.

use std::os::fd::BorrowedFd;

use iolag_keeper::{KeeperError, Signals, wait_for_any};
use iolag_model::{Clock, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds};
use iolag_watch::{ProbeProcess, Stamps, start_task};
use iolag_workload::{TaskSpec, probe_task};
use rustix::process::Signal;

/// How often they are looked at.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);

/// Starts the task in a process that [`wait_for_end`] waits for.
///
/// # Errors
/// If no process can be made.
pub(crate) fn start_program(
    directory: BorrowedFd<'_>,
    task: &TaskSpec,
    number: u64,
    stamps: &Stamps,
) -> Result<ProbeProcess, KeeperError> {
    let make = || {
        if matches!(task, TaskSpec::Command { .. } | TaskSpec::SetUp { .. }) {
            // What asks a command to end is for the command alone: once the process that waits for it is gone, the guard kills it at once.
            drop(Signals::block());
        }
        probe_task(task, number)
    };
    start_task(directory, make, stamps)
}

/// Waits until nothing of the process is left; says why that was not by itself, if it was not. What has not ended at `end`, or once
/// `is_stopped`, is asked to, and ended after `grace`.
pub(crate) fn wait_for_end(
    process: &mut ProbeProcess,
    stamps: &Stamps,
    end: MonotonicTime,
    grace: Nanoseconds,
    mut is_stopped: impl FnMut() -> bool,
) -> Option<FailureCode> {
    let mut cut: Option<(FailureCode, MonotonicTime)> = None;
    let mut is_killed = false;
    loop {
        process.guarded_by(stamps.guard());
        if process.end().is_some() {
            return cut.map(|(code, _)| code);
        }
        let now = MonotonicClock.now();
        match cut {
            None if now >= end => cut = Some((FailureCode::DEADLINE, now)),
            None if is_stopped() => cut = Some((FailureCode::CUT, now)),
            Some((_, since)) if !is_killed && now.since(since) >= grace => {
                process.signal(Signal::KILL);
                is_killed = true;
            }
            _ => {}
        }
        if cut.is_some_and(|(_, since)| since == now) {
            process.signal(Signal::TERM);
        }
        let limit = if cut.is_none() { LOOK.min(end.since(now)) } else { LOOK };
        let awaited: Vec<_> = process.awaited().collect();
        if wait_for_any(&awaited, Some(limit)).is_empty() {
            // The kernel does not tell of its end.
            MonotonicClock.sleep_until(now.after(limit));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use iolag_workload::TaskOutput;

    use super::*;

    #[test]
    fn who_is_asked_to_end_has_time_to_put_things_in_order() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().display();
        let script = format!(
            "trap 'sleep 0.2; : > {path}/in-order; exit 0' TERM; : > {path}/ready; while :; do sleep 0.05; done"
        );
        let command: Vec<String> = ["/bin/sh", "-c", &script].map(str::to_owned).into();
        for task in [
            TaskSpec::Command { command: command.clone(), output: TaskOutput::Discard },
            TaskSpec::SetUp { command: command.clone() },
        ] {
            let stamps = Stamps::new().unwrap();
            let root = File::open(place.path()).unwrap();
            let mut process = start_program(root.as_fd(), &task, 0, &stamps).unwrap();
            let (late, ready) = (Nanoseconds::from_seconds(60), place.path().join("ready"));
            let end = MonotonicClock.now().after(late);
            let cut = wait_for_end(&mut process, &stamps, end, late, || ready.exists());
            assert_eq!(cut, Some(FailureCode::CUT));
            std::fs::remove_file(place.path().join("in-order")).unwrap();
            std::fs::remove_file(ready).unwrap();
        }
    }
}
