//! The health of targets: which mount does not answer, since when, and until when.
//!
//! A task that is past its deadline proves nothing by itself: it may be long, slow, or wait for something else. Of a task that asks its
//! place itself it is known when the place answered last; if that is too long ago, the operation that has not come back is the proof,
//! and its begin that of the outage. Of a program nobody knows what it waits for: then a canary asks, beside it, and if that does not
//! come back either, the outage began with the program, or when the mount is last known to have answered, whichever is later.
//!
//! A target that was seen mounted has to be mounted: where nothing is mounted any more, that is an outage of its own kind, and nothing is
//! written to the directory beneath.
//!
//! An outage is over when an operation or a canary comes back, when another mount stands in its place, when the mount is gone, or when
//! the machine was started again. That a probe could be killed does not end it: canaries go on asking as long as it lasts.

use std::collections::BTreeMap;
use std::path::Path;

use iolag_model::{
    Configuration, HistoryRecord, MonotonicTime, Nanoseconds, Outage, OutageKind, ProbeId, WallTime,
};

use crate::probe::flight::Flight;
use crate::run::running::Running;
use crate::targets::lookups::{Finding, Reason};
use crate::world::configurations::{DIRECTORY, MOUNT_POINT};
use crate::world::outages::Presence;
use crate::{MountKey, WatchTarget};

/// So long an operation may take before its mount counts as one that does not answer, once its task is past its deadline.
const SILENCE_MAX: Nanoseconds = Nanoseconds::from_seconds(10);
/// From one canary to the next as long as a mount does not answer.
const PAUSE: Nanoseconds = Nanoseconds::from_seconds(5);

/// Mounts on which a program is past its deadline, and when each mount is known to have answered last.
#[derive(Debug, Default)]
pub(crate) struct Suspicions {
    open: BTreeMap<MountKey, Suspicion>,
    answered: BTreeMap<MountKey, MonotonicTime>,
}

/// A program that is past its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Suspicion {
    /// Whose.
    pub probe: ProbeId,
    /// When it began to wait, as far as is known.
    pub since: MonotonicTime,
}

impl Suspicions {
    /// A mount may not answer. The first suspicion stands.
    pub fn suspect(&mut self, mount: MountKey, suspicion: Suspicion) {
        self.open.entry(mount).or_insert(suspicion);
    }

    /// The mount has answered.
    pub fn answered(&mut self, mount: &MountKey, at: MonotonicTime) {
        self.open.remove(mount);
        let last = self.answered.entry(mount.clone()).or_insert(at);
        *last = at.max(*last);
    }

    /// The canary has not come back. Says what was suspected, if anything was.
    pub fn silent(&mut self, mount: &MountKey) -> Option<Suspicion> {
        let suspicion = self.open.remove(mount)?;
        let last = self.answered.get(mount).copied();
        Some(Suspicion { since: last.map_or(suspicion.since, |last| last.max(suspicion.since)), ..suspicion })
    }
}

impl Running<'_> {
    /// A probe is past its deadline: finds out whether its mount answers, or has that found out.
    pub fn suspect(&mut self, position: usize, now: MonotonicTime) {
        let flight = &self.flights[position];
        // A covariate has no mount.
        let is_covariate = matches!(flight.mount, MountKey::Covariate(_));
        if is_covariate || self.outages.is_open(&flight.mount) || self.is_replaced(flight) {
            return;
        }
        let (mount, probe) = (flight.mount.clone(), flight.probe());
        let since = flight.stamps.answered().unwrap_or(flight.description.start_ns);
        // One that an earlier watch started may be of the same target.
        let is_its = |target: &WatchTarget| target.name == flight.series().target;
        let target = flight.target.or_else(|| self.plan.targets.iter().position(is_its));
        // While this process stood still its children may have, too.
        let waited = now.since(since.max(self.stood_still));
        let (silence, asks_itself) =
            (SILENCE_MAX.min(flight.deadlines.hard), !flight.stamps.has_left_place());
        if asks_itself && waited >= silence {
            let (name, begin, skipped) = (flight.mount_name.clone(), flight.wall(since), flight.skipped);
            self.found_silent(&mount, name, probe, begin, skipped);
        } else if let Some(target) = target {
            // Not proven: a canary asks, beside a program, after the end of a task that asks its place itself.
            self.flights[position].look_again =
                asks_itself.then(|| since.max(self.stood_still).after(silence));
            self.suspicions.suspect(mount, Suspicion { probe, since });
            self.lookups.suspect(target, Reason::Suspicion, now);
        }
    }

    /// Looks again at probes that were heard of shortly before their deadline.
    pub fn look_again(&mut self, now: MonotonicTime) {
        for position in 0..self.flights.len() {
            if self.flights[position].look_again.take_if(|due| *due <= now).is_some() {
                self.suspect(position, now);
            }
        }
    }

    /// Whether what a probe waits for is no longer mounted where it was, so that its waiting says nothing of what is there now.
    fn is_replaced(&self, flight: &Flight) -> bool {
        let MountKey::Device(device) = &flight.mount else { return false };
        self.mounts.device_at(&flight.mount_name).as_ref() != Some(device)
    }

    /// Heeds what a canary has found.
    pub fn heed_canary(&mut self, target: usize, finding: &Finding) {
        match finding {
            Finding::Answered { mount, at, mount_number, mount_point } => {
                if let Some(number) = mount_number {
                    self.learn(target, *number, mount_point.as_deref());
                }
                let keys =
                    [mount.clone(), self.mounts.own_key_of(target), self.mounts.key_of(target).clone()];
                self.have_answered(&keys, *at);
            }
            Finding::Silent { mount } => {
                let Some(suspicion) = self.suspicions.silent(mount) else { return };
                let begin = WallTime(self.anchor().realtime_of(suspicion.since) as i64);
                let name = self.mounts.name_of(target).to_owned();
                let of_probe = self.flights.iter().find(|flight| flight.probe() == suspicion.probe);
                let skipped = of_probe.map_or(0, |flight| flight.skipped);
                self.found_silent(mount, name, suspicion.probe, begin, skipped);
            }
            Finding::Facts(_) => {}
        }
    }

    /// As long as a mount does not answer, it is asked.
    pub fn ask_the_silent(&mut self, now: MonotonicTime) {
        if self.outages.open().next().is_none() || self.agenda.is_over() {
            return;
        }
        for target in 0..self.plan.targets.len() {
            if self.outages.is_open(self.mounts.key_of(target)) {
                self.lookups.suspect(target, Reason::Outage, now.after(PAUSE));
            }
        }
    }

    /// What is known by one of these keys has answered.
    pub fn have_answered(&mut self, mounts: &[MountKey], at: MonotonicTime) {
        mounts.iter().for_each(|mount| self.suspicions.answered(mount, at));
        if self.outages.open().next().is_none() {
            return;
        }
        // A mount that was replaced has not recovered, and the table may not have been read since.
        self.look_at_mounts();
        // The mount may have been replaced before its outage was found.
        self.end_outages_of_changed_mounts();
        let at = WallTime(self.anchor().realtime_of(at) as i64);
        for mount in mounts {
            let ended = self.outages.answered(mount, at);
            self.record_outages(ended);
        }
    }

    /// Something has to be mounted where these configurations of the history say that a target was.
    pub fn remember_mounts<'a>(&mut self, configurations: impl IntoIterator<Item = &'a Configuration>) {
        for configuration in configurations {
            let is_its = |target: &WatchTarget| target.name == configuration.target;
            let fact = |name: &str| configuration.facts.get(name).map(Path::new);
            if let (Some(target), Some(mount_point)) =
                (self.plan.targets.iter().position(is_its), fact(MOUNT_POINT))
            {
                self.mounts.remember(target, mount_point, fact(DIRECTORY));
            }
        }
    }

    /// Records which mount points are missing, and which are not any more.
    pub fn look_for_missing_mounts(&mut self) {
        let (at, missing) = (self.wall(), self.mounts.all_missing());
        let presence = |mount_point: &Path| match missing.contains_key(mount_point) {
            true => Presence::Missing,
            false if self.mounts.table().is_missing(mount_point) => Presence::NotExpected,
            false => Presence::Mounted,
        };
        let found_again = self.outages.found_again(at, presence);
        self.record_outages(found_again);
        for (mount_point, targets) in missing {
            let mount = mount_point.to_string_lossy().into_owned();
            let key = MountKey::MountPoint(mount.clone());
            if self.outages.is_open(&key) {
                continue;
            }
            let outage = Outage {
                host: self.plan.host.clone(),
                kind: OutageKind::NotMounted,
                mount,
                targets,
                probe: self.agenda.unused_probe(),
                begin: at,
                end: None,
                ending: None,
                skipped: 0,
            };
            let found = self.outages.found(&key, outage);
            self.record_outages(found);
        }
    }

    fn found_silent(
        &mut self,
        mount: &MountKey,
        name: String,
        probe: ProbeId,
        begin: WallTime,
        skipped: u64,
    ) {
        let outage = Outage {
            host: self.plan.host.clone(),
            kind: OutageKind::NoAnswer,
            mount: name,
            targets: self.mounts.targets_on(mount),
            probe,
            begin,
            end: None,
            ending: None,
            skipped,
        };
        let found = self.outages.found(mount, outage);
        self.record_outages(found);
    }

    /// Records what was learnt of outages.
    pub fn record_outages(&mut self, outages: impl IntoIterator<Item = Outage>) {
        for outage in outages {
            self.ledger.record(HistoryRecord::Outage(outage));
            self.changed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_begins_with_what_waits_or_with_the_last_answer() {
        let (home, scratch) = (MountKey::Device("8:1".into()), MountKey::Device("0:30".into()));
        let suspicion = |since| Suspicion { probe: ProbeId(1), since: MonotonicTime(since) };
        let mut suspicions = Suspicions::default();
        assert_eq!(suspicions.silent(&home), None, "a canary that nobody sent out of suspicion");
        suspicions.suspect(home.clone(), suspicion(10));
        suspicions.suspect(home.clone(), suspicion(20));
        suspicions.answered(&scratch, MonotonicTime(30));
        assert_eq!(suspicions.silent(&home), Some(suspicion(10)));
        assert_eq!(suspicions.silent(&home), None, "it was told");

        suspicions.suspect(home.clone(), suspicion(10));
        suspicions.answered(&home, MonotonicTime(40));
        assert_eq!(suspicions.silent(&home), None, "it answered");
        // The same program still waits.
        suspicions.suspect(home.clone(), suspicion(10));
        assert_eq!(suspicions.silent(&home), Some(suspicion(40)));
    }
}
