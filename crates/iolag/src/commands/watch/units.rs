//! Units for systemd: watching as a service, or once by a timer.

use crate::args::Unit;

/// The text of a unit.
pub const fn unit(which: Unit) -> &'static str {
    match which {
        Unit::Service => include_str!("../../../../../packaging/systemd/iolag-watch.service"),
        Unit::OnceService => include_str!("../../../../../packaging/systemd/iolag-watch-once.service"),
        Unit::Timer => include_str!("../../../../../packaging/systemd/iolag-watch-once.timer"),
    }
}
