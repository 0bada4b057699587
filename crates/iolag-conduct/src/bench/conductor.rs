//! Who conducts a campaign: one process of a host at a time, also between two runs, when no run says so.
//!
//! A child holds a name in the kernel, of a socket that nobody talks to: it touches no storage, and goes with the process that
//! conducts, however that ends. None of the other children has it, nor what they start. Who conducts on another host, or in another
//! network namespace, is not seen.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use iolag_keeper::{Awaited, Messenger, Orphanage, wait_for_any};
use iolag_model::{Clock, MonotonicClock, Nanoseconds, RunId};

use crate::contact::start::leave_current_directory;
use crate::failure::Failure;
use crate::messages::tell;

/// How long the child may take to say whether the name is free: it waits for nothing but a processor.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(10);
/// How long it may take to end.
const GRACE: Nanoseconds = Nanoseconds::from_seconds(1);

/// The right to conduct a campaign on this host, until it is dropped or the process ends.
#[derive(Debug)]
pub struct Conductor {
    holder: Messenger,
}

impl Conductor {
    /// Takes it.
    ///
    /// # Errors
    /// If somebody has it.
    pub fn of(campaign: &RunId) -> Result<Self, Failure> {
        let name = format!("iolag-campaign-{campaign}");
        let holder = Messenger::fork("conductor", Orphanage::Die, |_, outbox| {
            leave_current_directory();
            let held = SocketAddr::from_abstract_name(&name).and_then(|name| UnixDatagram::bind_addr(&name));
            tell(&outbox, &held.as_ref().is_err_and(|error| error.kind() == ErrorKind::AddrInUse));
            // Where there are no such names nobody has one.
            while held.is_ok() {
                std::thread::park();
            }
            0
        })?;
        let mut conductor = Self { holder };
        if conductor.is_taken()? {
            return Err(Failure::usage(format!(
                "campaign {campaign} is still being measured on this host; wait for its end, or end it first (Ctrl-C)"
            )));
        }
        Ok(conductor)
    }

    /// Whether it still has it: its child may have been killed.
    pub(super) fn has_it(&mut self) -> bool {
        self.holder.child_mut().ending().is_none()
    }

    fn is_taken(&mut self) -> Result<bool, Failure> {
        let end = MonotonicClock.now().after(PATIENCE);
        loop {
            if let Some(line) = self.holder.receive().pop() {
                return serde_json::from_slice(&line).map_err(Failure::bug);
            }
            let left = end.since(MonotonicClock.now());
            let Some(incoming) = self.holder.incoming().filter(|_| left > Nanoseconds::ZERO) else {
                return Err(Failure::unusable("nobody can say whether the campaign is still being measured"));
            };
            wait_for_any(&[Awaited::Readable(incoming)], Some(left));
        }
    }
}

impl Drop for Conductor {
    fn drop(&mut self) {
        self.holder.child_mut().end(GRACE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_keeper::Child;
    use rustix::process::Signal;

    #[test]
    fn one_process_conducts_a_campaign_and_no_child_of_it_goes_on_with_that() {
        let id: RunId = serde_json::from_str("\"20261128-101112-ab12\"").unwrap();
        let first = Conductor::of(&id).unwrap();
        let mut child = Child::fork("test", Orphanage::Die, || {
            loop {
                std::thread::park();
            }
        })
        .unwrap();
        let refused = Conductor::of(&id).unwrap_err();
        assert!(refused.sentence.contains("is still being measured on this host"), "{refused:?}");
        drop(first);
        let mut second = Conductor::of(&id).unwrap();
        assert!(second.has_it());
        second.holder.child_mut().signal(Signal::KILL);
        second.holder.child_mut().wait(GRACE);
        assert!(!second.has_it());
        drop(Conductor::of(&id).unwrap());
        child.end(GRACE);
    }
}
