//! The processes of a probe: forked by this watch, or left by an earlier one.

use iolag_keeper::{Adopted, Awaited, Child, Consumption, descendants, members_of_session, start_ticks};
use iolag_model::Nanoseconds;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

/// How often a process is looked at where the kernel cannot tell of its end.
pub(crate) const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);

/// The processes of a probe: the child that executes the task, and what that started. It has ended when all of them have: a
/// program that waits in the kernel is the probe, even if the child that started it could be killed or has ended by itself.
///
/// A task that starts programs of the user's has a guard, which ends them when the child is gone and goes after the last of them.
/// It gets no signal: without it, what the programs left in the background would be nobody's.
#[derive(Debug)]
pub struct ProbeProcess {
    /// Absent if an earlier watch started it.
    child: Option<Child>,
    child_ended: Option<ProcessEnd>,
    /// Descendants as far as they matter: known at a deadline, left at the child's end, or left by an earlier watch; the guard first.
    family: Vec<Adopted>,
    /// The guard, once the child has named it.
    guard: Option<u32>,
}

/// What is learnt at the end of a probe's processes.
#[derive(Debug, Clone, Copy)]
pub struct ProcessEnd {
    /// What they used; not known of those that an earlier watch started.
    pub consumption: Option<Consumption>,
}

/// A process as it is named for a later watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number.
    pub id: u32,
    /// When it was started, in clock ticks since boot: by both it is known.
    pub start_ticks: u64,
}

impl ProbeProcess {
    /// A child that this watch has started.
    pub const fn ours(child: Child) -> Self {
        Self { child: Some(child), child_ended: None, family: Vec::new(), guard: None }
    }

    /// What an earlier watch of this boot has left of a probe; the first of the kept processes was its child. `None` if all are gone.
    pub fn adopt(kept: &[ProcessIdentity], guard: Option<ProcessIdentity>) -> Option<Self> {
        let family = kept.iter().filter_map(|kept| Adopted::open(kept.id, kept.start_ticks)).collect();
        let ended = ProcessEnd { consumption: None };
        let mut all = Self { child: None, child_ended: Some(ended), family, guard: None };
        all.guarded_by(guard);
        if let Some(child) = kept.first().filter(|child| !all.has(child.id))
            // Otherwise the number has a new owner, and the session of that number is not ours.
            && start_ticks(child.id).is_none_or(|ticks| ticks == child.start_ticks)
        {
            add(&mut all.family, members_of_session(child.id));
        }
        (!all.family.is_empty()).then_some(all)
    }

    /// The child may have named its guard meanwhile.
    pub fn guarded_by(&mut self, guard: Option<ProcessIdentity>) {
        let Some(guard) = guard.filter(|guard| self.guard != Some(guard.id)) else { return };
        self.guard = Some(guard.id);
        self.family.retain(|member| member.id() != guard.id);
        if let Some(adopted) = Adopted::open(guard.id, guard.start_ticks) {
            self.family.insert(0, adopted);
        }
    }

    /// Whether this process is one of them, apart from a child of this watch.
    pub fn has(&self, process: u32) -> bool {
        self.family.iter().any(|member| member.id() == process)
    }

    /// The child of this watch, if it has not been asked how it ended.
    pub fn child(&self) -> Option<u32> {
        self.child.as_ref().filter(|_| self.child_ended.is_none()).map(Child::id)
    }

    /// The process that stands for all of them.
    pub fn id(&self) -> u32 {
        match (&self.child, self.family.first()) {
            (Some(child), _) if self.child_ended.is_none() => child.id(),
            (_, Some(member)) => member.id(),
            (Some(child), None) => child.id(),
            (None, None) => 0,
        }
    }

    /// All of them, the child first, for a later watch.
    pub fn identities(&self) -> Vec<ProcessIdentity> {
        let child = self.child.as_ref().filter(|_| self.child_ended.is_none()).and_then(|child| {
            Some(ProcessIdentity { id: child.id(), start_ticks: start_ticks(child.id())? })
        });
        let family = self
            .family
            .iter()
            .map(|member| ProcessIdentity { id: member.id(), start_ticks: member.start_ticks() });
        child.into_iter().chain(family).collect()
    }

    /// What to wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        let child = self.child.as_ref().filter(|_| self.child_ended.is_none());
        let family = self.family.iter().filter(move |_| child.is_none());
        child
            .and_then(Child::descriptor)
            .into_iter()
            .chain(family.filter_map(Adopted::descriptor))
            .map(Awaited::Readable)
    }

    /// Whether its end has to be looked for, since the kernel does not tell.
    pub fn has_to_be_looked_at(&self) -> bool {
        self.awaited().next().is_none()
    }

    /// Whether all of them have ended. Never blocks. What the child left is killed, by its guard if it has one.
    pub fn end(&mut self) -> Option<ProcessEnd> {
        if let (None, Some(child)) = (self.child_ended, &mut self.child) {
            child.ending()?;
            self.child_ended = Some(ProcessEnd { consumption: child.consumption() });
            if child.has_left_something(Nanoseconds::ZERO) {
                add(&mut self.family, members_of_session(child.id()));
            }
            self.signal_family(Signal::KILL);
        }
        self.family.retain_mut(|member| !member.has_ended());
        self.child_ended.filter(|_| self.family.is_empty())
    }

    /// Sends a signal to the child and its group, and to what it started elsewhere: who started that may be gone in a moment, and
    /// nobody could find it then.
    pub fn signal(&mut self, signal: Signal) {
        if let Some(child) = self.child.as_ref().filter(|_| self.child_ended.is_none()) {
            add(&mut self.family, descendants(child.id()));
            child.signal_group(signal);
        } else if let Some(guard) = self.guard.filter(|guard| self.has(*guard)) {
            add(&mut self.family, descendants(guard));
        }
        self.signal_family(signal);
    }

    fn signal_family(&mut self, signal: Signal) {
        for member in self.family.iter_mut().filter(|member| self.guard != Some(member.id())) {
            member.signal_group(signal);
        }
    }
}

fn add(family: &mut Vec<Adopted>, processes: Vec<u32>) {
    for process in processes {
        if family.iter().all(|member| member.id() != process) {
            family.extend(start_ticks(process).and_then(|ticks| Adopted::open(process, ticks)));
        }
    }
}
