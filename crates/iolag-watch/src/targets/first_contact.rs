//! First contact: somebody goes to a target before it is probed, and tells where it lies, or does not come back.
//!
//! At a mount that does not answer one process is enough. So whoever waits there already counts as the first probe from then on, of the
//! task that is named first: it has its deadlines, blocks its mount, is shown, kept for the next watch, and recorded if it passes its
//! deadline. If it comes back before, nothing is recorded: it did not do the task, and the slots that waited for it begin.

use iolag_keeper::Child;
use iolag_model::MonotonicTime;
use rustix::process::Signal;

/// What became of the first contact with a target.
#[derive(Debug)]
pub enum FirstContact {
    /// It answered.
    Answered {
        /// Position of the target in the plan.
        target: usize,
        /// The kernel's number of the mount on which it lies.
        mount_number: u64,
    },
    /// It has not answered yet.
    Silent {
        /// Position of the target in the plan.
        target: usize,
        /// Who waits there. A child that dies with this process if it can.
        child: Child,
        /// Since when.
        start: MonotonicTime,
    },
}

impl FirstContact {
    /// The target, if it has not answered.
    pub const fn silent_target(&self) -> Option<usize> {
        match self {
            Self::Silent { target, .. } => Some(*target),
            Self::Answered { .. } => None,
        }
    }

    /// There will be no watch: nobody waits there any longer, if that is possible.
    pub fn give_up(self) {
        if let Self::Silent { child, .. } = self {
            child.signal_group(Signal::KILL);
        }
    }
}
