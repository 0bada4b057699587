//! `iolag trace` of real programs, by the strace of this machine.

mod answers;
mod capturing;
mod faults;
mod from;
mod programs;
mod session;

use iolag_fixtures::{current_test, skip};

/// Whether strace is there and may trace; says so if not.
pub(crate) fn may_trace() -> bool {
    let tried = std::process::Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    let may = tried.is_ok_and(|status| status.success());
    if !may {
        skip(&current_test(), "strace is not installed or may not trace");
    }
    may
}
