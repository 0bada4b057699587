//! Looking up the circumstances of each target, by a child with a deadline: it may touch what hangs.
//!
//! A child is a visitor of its target's mount as a probe is one, so neither comes while the other is there, and at most one child is on
//! a mount. One that does not answer in time is ended; one that cannot be ended is handed over: from then on it counts as a probe. Its
//! target keeps the configuration that it had.

use std::collections::BTreeMap;

use iolag_keeper::{Awaited, Child};
use iolag_model::{MonotonicTime, Nanoseconds};

use crate::errand::{Errand, ErrandState};
use crate::{MountKey, WatchTarget};

/// How long looking up may take.
const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(10);
/// How often it is done although the target's mount has not changed.
const EVERY: Nanoseconds = Nanoseconds::from_seconds(3600);

/// Looks up the facts of a target, in a child.
pub(crate) type Facts<'a> = dyn Fn(&WatchTarget) -> BTreeMap<String, String> + 'a;

/// The lookups of all targets.
#[derive(Debug)]
pub(crate) struct Lookups {
    targets: Vec<Lookup>,
}

#[derive(Debug)]
struct Lookup {
    errand: Option<UnderWay>,
    due: MonotonicTime,
    /// It is due, and somebody is in its way: the end of that one is waited for.
    is_held_up: bool,
}

#[derive(Debug)]
struct UnderWay {
    errand: Errand,
    mount: MountKey,
    start: MonotonicTime,
}

/// A child that has not answered and is still there.
#[derive(Debug)]
pub(crate) struct Silent {
    pub target: usize,
    pub child: Child,
    pub start: MonotonicTime,
}

/// Which children are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Those that could not be ended.
    UntilGivenUp,
    /// All: nobody waits any longer.
    None,
}

impl Lookups {
    /// Every target is due.
    pub fn new(targets: usize) -> Self {
        let lookup = |_| Lookup { errand: None, due: MonotonicTime(0), is_held_up: false };
        Self { targets: (0..targets).map(lookup).collect() }
    }

    /// The mounts of these targets have changed: they are due.
    pub fn again(&mut self, targets: &[usize], now: MonotonicTime) {
        for target in targets {
            self.targets[*target].due = now;
        }
    }

    /// What was found since the last look. Ends what has not answered in time.
    pub fn found(&mut self, now: MonotonicTime) -> Vec<(usize, BTreeMap<String, String>)> {
        let mut found = Vec::new();
        for (target, lookup) in self.targets.iter_mut().enumerate() {
            match lookup.errand.as_mut().map(|under_way| under_way.errand.look(now)) {
                None | Some(ErrandState::UnderWay | ErrandState::Overdue) => continue,
                Some(ErrandState::Done(answer)) => {
                    found.extend(serde_json::from_slice(&answer).ok().map(|facts| (target, facts)));
                }
                // What cannot be looked up stays as it was known.
                Some(ErrandState::Failed(_)) => {}
            }
            lookup.errand = None;
        }
        found
    }

    /// Starts what is due, unless a probe (so says `is_blocked`) or another lookup is at the mount, `mount_of` the target.
    pub fn start(
        &mut self,
        targets: &[WatchTarget],
        facts: &Facts<'_>,
        now: MonotonicTime,
        mount_of: impl Fn(usize) -> MountKey,
        is_blocked: impl Fn(&MountKey) -> bool,
    ) {
        for (target, planned) in targets.iter().enumerate() {
            if now < self.targets[target].due || self.targets[target].errand.is_some() {
                continue;
            }
            let mount = mount_of(target);
            let is_held_up = self.visits(&mount) || is_blocked(&mount);
            let lookup = &mut self.targets[target];
            lookup.is_held_up = is_held_up;
            if !is_held_up {
                lookup.due = now.after(EVERY);
                let errand = start(planned, facts, now);
                lookup.errand = errand.map(|errand| UnderWay { errand, mount, start: now });
            }
        }
    }

    /// Whether one is at this mount.
    pub fn visits(&self, mount: &MountKey) -> bool {
        self.under_way().any(|under_way| under_way.mount == *mount)
    }

    /// The children that have not answered, to be looked after by somebody else. Their targets are soon due again.
    pub fn hand_over(&mut self, now: MonotonicTime, patience: Patience) -> Vec<Silent> {
        let is_silent =
            |under_way: &mut UnderWay| patience == Patience::None || now >= under_way.start.after(DEADLINE);
        let mut silent = Vec::new();
        for (target, lookup) in self.targets.iter_mut().enumerate() {
            if let Some(UnderWay { errand, start, .. }) = lookup.errand.take_if(is_silent) {
                lookup.due = now.after(DEADLINE);
                silent.push(Silent { target, child: errand.into_child(), start });
            }
        }
        silent
    }

    /// The children under way.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        self.under_way().map(|under_way| under_way.errand.process())
    }

    /// Whether nothing is under way.
    pub fn are_idle(&self) -> bool {
        self.under_way().next().is_none()
    }

    /// When to look although nothing has come.
    pub fn due(&self) -> Option<MonotonicTime> {
        let due = |lookup: &Lookup| match &lookup.errand {
            Some(under_way) => under_way.errand.due().or_else(|| under_way.errand.given_up_at()),
            None => (!lookup.is_held_up).then_some(lookup.due),
        };
        self.targets.iter().filter_map(due).min()
    }

    /// What to wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        self.under_way().flat_map(|under_way| under_way.errand.awaited())
    }

    /// Whether a child is under way whose end has to be looked for.
    pub fn have_to_be_looked_at(&self) -> bool {
        self.under_way().any(|under_way| !under_way.errand.has_descriptor())
    }

    /// The watch ends and waits no longer.
    pub fn leave(&mut self) {
        for lookup in &mut self.targets {
            if let Some(under_way) = &mut lookup.errand {
                under_way.errand.kill();
            }
        }
    }

    fn under_way(&self) -> impl Iterator<Item = &UnderWay> {
        self.targets.iter().filter_map(|lookup| lookup.errand.as_ref())
    }
}

fn start(target: &WatchTarget, facts: &Facts<'_>, now: MonotonicTime) -> Option<Errand> {
    let body = || {
        // Only for who looks at the process table.
        let _ = rustix::thread::set_name(c"iolag-facts");
        serde_json::to_vec(&facts(target)).map_err(|error| error.to_string())
    };
    // Without a process left, the next time is soon enough.
    Errand::start("facts", now.after(DEADLINE), body).ok()
}
