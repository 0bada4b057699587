//! How long to wait, as the kernel wants it.

use iolag_model::Nanoseconds;
use rustix::event::Timespec;

pub(crate) fn timespec(duration: Nanoseconds) -> Timespec {
    Timespec { tv_sec: (duration.0 / 1_000_000_000) as i64, tv_nsec: (duration.0 % 1_000_000_000) as i64 }
}
