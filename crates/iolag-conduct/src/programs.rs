//! Programs of the user's, below a guard: waiting until nothing of them is left.

use iolag_keeper::wait_for_any;
use iolag_model::{Clock, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds};
use iolag_watch::{ProbeProcess, Stamps};
use rustix::process::Signal;

/// How often they are looked at.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);

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
