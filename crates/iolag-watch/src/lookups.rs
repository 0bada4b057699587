//! Looking up the circumstances of each target, by a child with a deadline: it may touch what hangs.
//!
//! At most one child per target; one that cannot be ended is waited for, and its target keeps the configuration it had.

use std::collections::BTreeMap;

use iolag_keeper::Awaited;
use iolag_model::{MonotonicTime, Nanoseconds};

use crate::WatchTarget;
use crate::errand::{Errand, ErrandState};

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
    errand: Option<Errand>,
    due: MonotonicTime,
}

impl Lookups {
    /// Every target is due.
    pub fn new(targets: usize) -> Self {
        Self { targets: (0..targets).map(|_| Lookup { errand: None, due: MonotonicTime(0) }).collect() }
    }

    /// The mounts of these targets have changed: they are due.
    pub fn again(&mut self, targets: &[usize], now: MonotonicTime) {
        for target in targets {
            self.targets[*target].due = now;
        }
    }

    /// Starts what is due, unless `is_blocked` says that the target hangs, and returns what was found since the last look.
    pub fn look(
        &mut self,
        targets: &[WatchTarget],
        facts: &Facts<'_>,
        now: MonotonicTime,
        is_blocked: impl Fn(usize) -> bool,
    ) -> Vec<(usize, BTreeMap<String, String>)> {
        let mut found = Vec::new();
        for (index, lookup) in self.targets.iter_mut().enumerate() {
            if let Some(errand) = &mut lookup.errand {
                match errand.look(now) {
                    ErrandState::UnderWay | ErrandState::Overdue => continue,
                    ErrandState::Done(answer) => {
                        found.extend(serde_json::from_slice(&answer).ok().map(|facts| (index, facts)));
                    }
                    // What cannot be looked up stays as it was known.
                    ErrandState::Failed(_) => {}
                }
                lookup.errand = None;
            }
            if now >= lookup.due {
                lookup.due = now.after(EVERY);
                if !is_blocked(index) {
                    lookup.errand = start(&targets[index], facts, now);
                }
            }
        }
        found
    }

    /// Whether nothing is under way.
    pub fn are_idle(&self) -> bool {
        self.targets.iter().all(|lookup| lookup.errand.is_none())
    }

    /// When to look although nothing has come.
    pub fn due(&self) -> Option<MonotonicTime> {
        self.targets
            .iter()
            .filter_map(|lookup| lookup.errand.as_ref().map_or(Some(lookup.due), Errand::due))
            .min()
    }

    /// What to wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        self.targets.iter().filter_map(|lookup| lookup.errand.as_ref()).flat_map(Errand::awaited)
    }

    /// Whether a child is under way whose end has to be looked for.
    pub fn have_to_be_looked_at(&self) -> bool {
        self.targets.iter().filter_map(|lookup| lookup.errand.as_ref()).any(|errand| !errand.has_descriptor())
    }

    /// The watch ends and waits no longer.
    pub fn leave(&mut self) {
        for errand in self.targets.iter_mut().filter_map(|lookup| lookup.errand.as_mut()) {
            errand.kill();
        }
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
