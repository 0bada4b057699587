//! First contact: somebody goes to a target before it is probed, and tells where it lies, or does not come back.
//!
//! At a mount that does not answer one process is enough. So whoever waits there already counts as the first probe from then on, of the
//! task that is named first: it has its deadlines, blocks its mount, is shown, kept for the next watch, and recorded if it passes its
//! deadline. If it comes back before, nothing is recorded: it did not do the task, and the slots that waited for it begin.

use std::path::Path;

use iolag_keeper::Child;
use iolag_model::{MonotonicTime, Nanoseconds, OutageKind, WallTime};
use rustix::process::Signal;

use crate::agenda::Subject;
use crate::memory::shortage::RuntimeFile;
use crate::probe::flight::{Flight, Interruption, Purpose, make_stamps};
use crate::probe::process::ProbeProcess;
use crate::probe::samples::ProbeDescription;
use crate::run::running::Running;
use crate::targets::lookups::{Patience, Reason};
use crate::{AtDeadline, Deadlines, MountKey, Stamps};

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

impl Running<'_> {
    /// Learns where targets lie from the first contacts that have answered.
    pub fn learn_from_contacts(&mut self, contacts: &[FirstContact]) {
        for contact in contacts {
            if let FirstContact::Answered { target, mount_number } = contact {
                self.learn(*target, *mount_number, None);
            }
        }
    }

    /// First contacts that have not answered count as probes from now on.
    pub fn take_over_contacts(&mut self, contacts: Vec<FirstContact>) {
        for contact in contacts {
            if let FirstContact::Silent { target, child, start } = contact {
                let mount = self.mounts.key_of(target).clone();
                let waiting = Waiting { child, since: start, mount, purpose: Purpose::Contact };
                self.take_over(target, waiting, None);
            }
        }
    }

    /// A target lies on the mount with this number, so says who has made sure that something is mounted at `looked_for`.
    pub fn learn(&mut self, target: usize, mount_number: u64, looked_for: Option<&Path>) {
        // An automount appears in the table when somebody has gone there.
        if !self.mounts.has(mount_number) {
            self.look_at_mounts();
        }
        self.mounts.learn(target, mount_number, looked_for);
        self.keep_mounts();
        self.move_flights(target);
        // Where nothing was mounted it may not lie any more.
        if self.outages.open().any(|outage| outage.kind == OutageKind::NotMounted) {
            self.look_for_missing_mounts();
        }
    }

    /// Probes of a target of which nobody knew where it lies are where it lies, too.
    fn move_flights(&mut self, target: usize) {
        let (own, mount) = (self.mounts.own_key_of(target), self.mounts.key_of(target));
        for flight in self.flights.iter_mut().filter(|flight| flight.mount == own) {
            flight.mount.clone_from(mount);
            self.mounts.name_of(target).clone_into(&mut flight.mount_name);
            self.agenda.found_on(flight.description.probe, mount);
        }
    }

    /// Keeps what was learnt for the next watch; what could not be kept is tried again.
    pub fn keep_mounts(&mut self) {
        if let Some(written) = self.mounts.keep(self.runtime) {
            self.ledger.kept(RuntimeFile::Mounts, written);
        }
    }

    /// Learns from a probe that has opened its place, while it is still there: what hangs is the mount on which it truly is.
    pub fn learn_from(&mut self, position: usize) {
        let flight = &self.flights[position];
        let (Some(target), Some(number)) = (flight.target, flight.stamps.mount_number()) else { return };
        let mount_point = flight.mount_point.clone();
        self.learn(target, number, mount_point.as_deref());
        // Another one may stand in its place by now: then it stays where it was.
        let Some((mount, name)) = self.mounts.with_number(number) else { return };
        let flight = &mut self.flights[position];
        (flight.mount, flight.mount_name) = (mount, name);
        self.agenda.found_on(flight.probe(), &flight.mount);
    }

    /// Lookups that do not answer count as probes from now on.
    pub fn take_over_lookups(&mut self, now: MonotonicTime, patience: Patience) {
        for silent in self.lookups.hand_over(now, patience) {
            let purpose = if silent.reason == Reason::Routine { Purpose::Contact } else { Purpose::Canary };
            let waiting = Waiting { child: silent.child, since: silent.start, mount: silent.mount, purpose };
            self.take_over(silent.target, waiting, Some(silent.stamps));
        }
    }

    fn take_over(&mut self, target: usize, waiting: Waiting, stamps: Option<Stamps>) {
        let Waiting { child, since: started, mount, purpose } = waiting;
        let subject = Subject::Task { target, task: 0 };
        let Some(task) = self.plan.targets[target].tasks.first() else {
            child.signal_group(Signal::KILL);
            return;
        };
        // It measures nothing that others could disturb, and has been waited for already.
        let deadlines =
            Deadlines { soft: Nanoseconds::ZERO, hard: task.deadline, at_deadline: task.at_deadline };
        let probe = self.agenda.take_over(mount.clone(), deadlines, started);
        let Some(stamps) = stamps.or_else(|| make_stamps(self.runtime, probe)) else {
            self.ledger.trouble("probe", "there is no memory for a probe's stamps");
            self.agenda.ended(probe);
            child.signal_group(Signal::KILL);
            return;
        };
        let start = WallTime(self.anchor().realtime_of(started) as i64);
        let description = ProbeDescription {
            probe,
            series: self.series_of(subject).to_vec(),
            intended: start,
            start,
            start_ns: started,
            deadline: deadlines.hard,
            configuration: self.configurations.key_of(&self.plan.targets[target].name),
        };
        self.flights.push(Flight {
            description,
            process: ProbeProcess::ours(child),
            purpose,
            stamps,
            deadlines,
            mount,
            mount_point: None,
            mount_name: self.mounts.name_of(target).to_owned(),
            target: Some(target),
            surroundings: None,
            waits_in: String::new(),
            hung_seen: None,
            interruption: Interruption::None,
            skipped: 0,
            look_again: None,
        });
        self.keep();
        self.show_phase(probe);
    }
}

/// Somebody who waits at a mount.
struct Waiting {
    child: Child,
    since: MonotonicTime,
    mount: MountKey,
    purpose: Purpose,
}

/// Deadlines as the next watch is to know them: this child dies with the present one, whatever its task says.
pub(crate) const fn kept_deadlines(deadlines: Deadlines, purpose: Purpose) -> Deadlines {
    match (purpose, deadlines.at_deadline) {
        (Purpose::Contact | Purpose::Canary, AtDeadline::Wait) => {
            Deadlines { at_deadline: AtDeadline::End { grace: Nanoseconds::ZERO }, ..deadlines }
        }
        _ => deadlines,
    }
}
