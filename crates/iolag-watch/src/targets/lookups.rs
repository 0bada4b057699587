//! Looking up each target, by a child with a deadline: its circumstances and, if somebody has a reason to ask, whether it answers (the
//! canary). It may touch what hangs.
//!
//! A child is a visitor of its target's mount as a probe is one, so neither comes while the other is there, and at most one child is on
//! a mount. The exception is a suspicion: where a program is past its deadline only a canary beside it can tell whether the mount
//! answers. One that does not come back in time is ended; one that cannot be ended is handed over: from then on it counts as a probe. Its
//! target keeps the configuration that it had.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use iolag_keeper::{Awaited, Child};
use iolag_model::{MonotonicClock, MonotonicTime, Nanoseconds};

use crate::targets::target_mounts::TargetMounts;
use crate::worker::{Worker, WorkerState};
use crate::{MountKey, Stamps, WatchTarget, probe::canary};

/// How long looking up may take, and an answer of the canary at most.
const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(10);
/// When nothing begins any more.
const NEVER: MonotonicTime = MonotonicTime(u64::MAX);
/// How often it is done although the target's mount has not changed.
const EVERY: Nanoseconds = Nanoseconds::from_seconds(3600);

/// Looks up the facts of a target, in a child; none of a server that does not say what it is.
pub(crate) type Facts<'a> = dyn Fn(&WatchTarget) -> BTreeMap<String, String> + 'a;

/// The lookups of all targets.
#[derive(Debug)]
pub(crate) struct Lookups {
    targets: Vec<Lookup>,
}

#[derive(Debug)]
struct Lookup {
    worker: Option<UnderWay>,
    due: MonotonicTime,
    reason: Reason,
    /// It is due, and somebody is in its way: the end of that one is waited for.
    is_held_up: bool,
    /// The canary is given no longer than the shortest of the target's tasks.
    deadline: Nanoseconds,
}

/// Why a target is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// It is time.
    Routine,
    /// Its mount does not answer, and may again.
    Outage,
    /// Somebody there is past a deadline. The watch does not end before it knows.
    Suspicion,
}

/// What a look at the children has found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// The target has answered the canary.
    Answered { mount: MountKey, at: MonotonicTime, mount_number: Option<u64>, mount_point: Option<PathBuf> },
    /// It has not, within the canary's deadline.
    Silent { mount: MountKey },
    /// Its circumstances.
    Facts(BTreeMap<String, String>),
}

#[derive(Debug)]
struct UnderWay {
    worker: Worker,
    mount: MountKey,
    /// Where it makes sure that something is mounted.
    mount_point: Option<PathBuf>,
    start: MonotonicTime,
    reason: Reason,
    stamps: Stamps,
    verdict: Verdict,
}

/// What was told of a canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    None,
    Silent,
    Answered,
}

/// A child that has not answered and is still there.
#[derive(Debug)]
pub(crate) struct Silent {
    pub target: usize,
    pub child: Child,
    pub start: MonotonicTime,
    pub mount: MountKey,
    pub reason: Reason,
    pub stamps: Stamps,
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
    pub fn new(targets: &[WatchTarget]) -> Self {
        let deadline = |target: &WatchTarget| target.tasks.iter().map(|task| task.deadline).min();
        let lookup = |target: &WatchTarget| Lookup {
            worker: None,
            due: MonotonicTime(0),
            reason: Reason::Routine,
            is_held_up: false,
            deadline: deadline(target).map_or(DEADLINE, |deadline| deadline.min(DEADLINE)),
        };
        Self { targets: targets.iter().map(lookup).collect() }
    }

    /// The mounts of these targets have changed: they are due, unless the watch ends.
    pub fn again(&mut self, targets: &[usize], now: MonotonicTime) {
        for target in targets {
            let due = &mut self.targets[*target].due;
            *due = if *due == NEVER { NEVER } else { now };
        }
    }

    /// Whether this target answers is to be asked at `due`, or before if that is due already.
    pub fn suspect(&mut self, target: usize, reason: Reason, due: MonotonicTime) {
        let lookup = &mut self.targets[target];
        // Who asks already will tell, and probes that wait for its end come before the next.
        let is_asked = |under_way: &UnderWay| reason == Reason::Outage || under_way.is_asking();
        if lookup.due != NEVER && !lookup.worker.as_ref().is_some_and(is_asked) {
            lookup.due = lookup.due.min(due);
            lookup.reason = lookup.reason.max(reason);
        }
    }

    /// What was found since the last look. Ends what has not come back in time.
    pub fn look(&mut self, now: MonotonicTime) -> Vec<(usize, Finding)> {
        let mut found = Vec::new();
        for (target, lookup) in self.targets.iter_mut().enumerate() {
            let Some(under_way) = &mut lookup.worker else { continue };
            let state = under_way.worker.look(now);
            found.extend(under_way.verdict(now, lookup.deadline).map(|finding| (target, finding)));
            match state {
                WorkerState::UnderWay | WorkerState::Overdue => continue,
                WorkerState::Done(answer) => {
                    let facts = serde_json::from_slice(&answer).ok();
                    found.extend(facts.map(|facts| (target, Finding::Facts(facts))));
                }
                // What cannot be looked up stays as it was known.
                WorkerState::Failed(_) => {}
            }
            lookup.worker = None;
        }
        found
    }

    /// Starts what is due, unless a probe (so says `is_blocked`) or another lookup is at the target's mount.
    pub fn start(
        &mut self,
        targets: &[WatchTarget],
        facts: &Facts<'_>,
        now: MonotonicTime,
        mounts: &TargetMounts,
        is_blocked: impl Fn(&MountKey, Reason) -> bool,
    ) {
        for (target, planned) in targets.iter().enumerate() {
            if now < self.targets[target].due || self.targets[target].worker.is_some() {
                continue;
            }
            let mount = mounts.key_of(target).clone();
            let is_held_up = self.visits(&mount) || is_blocked(&mount, self.targets[target].reason);
            let lookup = &mut self.targets[target];
            lookup.is_held_up = is_held_up;
            if !is_held_up {
                lookup.due = now.after(EVERY);
                let reason = std::mem::replace(&mut lookup.reason, Reason::Routine);
                let place = (mount, mounts.required(target));
                lookup.worker = start(planned, facts, now, place, reason);
            }
        }
    }

    /// Whether one is at this mount.
    pub fn visits(&self, mount: &MountKey) -> bool {
        self.under_way().any(|under_way| under_way.mount == *mount)
    }

    /// The children that could not be ended, to be looked after by somebody else. Their targets are soon due again.
    pub fn hand_over(&mut self, now: MonotonicTime, patience: Patience) -> Vec<Silent> {
        let is_silent = |under_way: &mut UnderWay| {
            let is_given_up = under_way.worker.given_up_at().is_some_and(|at| now >= at);
            patience == Patience::None || is_given_up
        };
        let mut silent = Vec::new();
        for (target, lookup) in self.targets.iter_mut().enumerate() {
            if let Some(UnderWay { worker, mount, start, reason, stamps, .. }) =
                lookup.worker.take_if(is_silent)
            {
                lookup.due = if lookup.due == NEVER { NEVER } else { now.after(DEADLINE) };
                silent.push(Silent { target, child: worker.into_child(), start, mount, reason, stamps });
            }
        }
        silent
    }

    /// The children under way.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        self.under_way().map(|under_way| under_way.worker.process())
    }

    /// Whether nothing is under way, and nothing suspicious is about to be.
    pub fn are_idle(&self, now: MonotonicTime) -> bool {
        let is_pending =
            |lookup: &Lookup| lookup.reason == Reason::Suspicion && !lookup.is_held_up && lookup.due <= now;
        self.under_way().next().is_none() && !self.targets.iter().any(is_pending)
    }

    /// When to look although nothing has come.
    pub fn due(&self) -> Option<MonotonicTime> {
        let due = |lookup: &Lookup| match &lookup.worker {
            Some(under_way) if under_way.is_asking() => Some(under_way.start.after(lookup.deadline)),
            Some(under_way) => under_way.worker.due().or_else(|| under_way.worker.given_up_at()),
            None => (!lookup.is_held_up).then_some(lookup.due),
        };
        self.targets.iter().filter_map(due).min().filter(|due| *due != NEVER)
    }

    /// What to wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        self.under_way().flat_map(|under_way| under_way.worker.awaited())
    }

    /// Whether a child is under way whose end has to be looked for.
    pub fn have_to_be_looked_at(&self) -> bool {
        self.under_way().any(|under_way| !under_way.worker.has_descriptor())
    }

    /// Nothing more is to be asked: the watch ends.
    pub fn stop(&mut self) {
        for lookup in &mut self.targets {
            lookup.reason = Reason::Routine;
            lookup.due = NEVER;
        }
    }

    /// The watch ends and waits no longer.
    pub fn leave(&mut self) {
        for lookup in &mut self.targets {
            if let Some(under_way) = &mut lookup.worker {
                under_way.worker.kill();
            }
        }
    }

    fn under_way(&self) -> impl Iterator<Item = &UnderWay> {
        self.targets.iter().filter_map(|lookup| lookup.worker.as_ref())
    }
}

impl UnderWay {
    /// Whether its canary has not come back, and may yet.
    fn is_asking(&self) -> bool {
        self.reason != Reason::Routine && self.verdict == Verdict::None
    }

    /// What is news of the canary.
    fn verdict(&mut self, now: MonotonicTime, deadline: Nanoseconds) -> Option<Finding> {
        if self.reason == Reason::Routine {
            return None;
        }
        let mount = self.mount.clone();
        if let (Verdict::None | Verdict::Silent, Some(at)) = (self.verdict, self.stamps.prepared()) {
            self.verdict = Verdict::Answered;
            let (mount_number, mount_point) = (self.stamps.mount_number(), self.mount_point.clone());
            return Some(Finding::Answered { mount, at, mount_number, mount_point });
        }
        if self.verdict == Verdict::None && now >= self.start.after(deadline) {
            self.verdict = Verdict::Silent;
            return Some(Finding::Silent { mount });
        }
        None
    }
}

/// Without a process or memory left, the next time is soon enough.
fn start(
    target: &WatchTarget,
    facts: &Facts<'_>,
    now: MonotonicTime,
    (mount, mount_point): (MountKey, Option<&Path>),
    reason: Reason,
) -> Option<UnderWay> {
    let stamps = Stamps::new().ok()?;
    let body = || {
        // Only for who looks at the process table.
        let _ = rustix::thread::set_name(c"iolag-facts");
        let recorder = &mut stamps.recorder(MonotonicClock);
        match target.location.directory() {
            Some(directory) if reason != Reason::Routine => {
                canary::ask(directory, mount_point, recorder, now.0);
            }
            _ => {}
        }
        let found = facts(target);
        if target.location.directory().is_none() {
            // Whoever looks it up greets the server, and a refusal is an answer, too.
            recorder.prepared();
        }
        if found.is_empty() {
            return Err("nothing was found out".to_owned());
        }
        serde_json::to_vec(&found).map_err(|error| error.to_string())
    };
    let worker = Worker::start("facts", now.after(DEADLINE), body).ok()?;
    let mount_point = mount_point.map(Path::to_owned);
    Some(UnderWay { worker, mount, mount_point, start: now, reason, stamps, verdict: Verdict::None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_suspected_is_waited_for_unless_the_watch_ends() {
        let target = WatchTarget {
            location: crate::Location::Directory("/scratch".into()),
            name: "/scratch".to_owned(),
            kind: iolag_model::SeriesKind::Task,
            mounted: crate::Mounted::Required,
            tasks: Vec::new(),
        };
        let now = MonotonicTime(5);
        let mut lookups = Lookups::new(&[target]);
        assert!(lookups.are_idle(now), "what is routine is not waited for");
        lookups.suspect(0, Reason::Suspicion, now);
        assert!(!lookups.are_idle(now));
        lookups.stop();
        lookups.suspect(0, Reason::Suspicion, now);
        lookups.again(&[0], now);
        assert!(lookups.are_idle(now));
        assert_eq!(lookups.due(), None, "nobody is woken for what does not begin any more");
    }
}
