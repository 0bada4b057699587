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

use std::path::Path;

use iolag_keeper::Awaited;
use iolag_model::{
    Clock, Configuration, HistoryRecord, MonotonicClock, MonotonicTime, Nanoseconds, Outage, OutageKind,
    ProbeId, WallTime,
};

use crate::memory::ledger::Ledger;
use crate::memory::shortage::RuntimeFile;
use crate::probe::flight::Flight;
use crate::probe::flights::Flights;
use crate::targets::known_mounts::KnownMounts;
use crate::targets::lookups::{Facts, Finding, Lookups, Patience, Reason, Silent};
use crate::targets::suspicions::{Suspicion, Suspicions};
use crate::targets::target_mounts::TargetMounts;
use crate::world::configurations::{DIRECTORY, MOUNT_POINT};
use crate::world::outages::Presence;
use crate::{
    Agenda, MountKey, MountTable, OpenOutage, Outages, RuntimeDirectory, WatchTarget, ended_by_reboot,
};

/// So long an operation may take before its mount counts as one that does not answer, once its task is past its deadline.
const SILENCE_MAX: Nanoseconds = Nanoseconds::from_seconds(10);
/// From one canary to the next as long as a mount does not answer.
const PAUSE: Nanoseconds = Nanoseconds::from_seconds(5);

/// Where the targets of a plan lie, and which of their mounts do not answer.
pub(crate) struct TargetHealth<'a> {
    runtime: &'a RuntimeDirectory,
    mounts: TargetMounts,
    /// The kernel's table of mounts may have changed.
    is_table_stale: bool,
    lookups: Lookups,
    outages: Outages,
    suspicions: Suspicions,
    /// When this process is known to have stood still last.
    stood_still: MonotonicTime,
}

impl<'a> TargetHealth<'a> {
    /// Of these targets nothing is known but what is kept in this runtime directory.
    pub fn new(runtime: &'a RuntimeDirectory, targets: &[WatchTarget]) -> Self {
        Self {
            runtime,
            mounts: TargetMounts::new(MountTable::read(), KnownMounts::read(runtime), targets),
            is_table_stale: true,
            lookups: Lookups::new(targets),
            outages: Outages::default(),
            suspicions: Suspicions::default(),
            stood_still: MonotonicTime(0),
        }
    }

    /// Where the targets lie.
    pub const fn mounts(&self) -> &TargetMounts {
        &self.mounts
    }

    /// The mounts that do not answer or are not there.
    pub const fn outages(&self) -> &Outages {
        &self.outages
    }

    /// The children that look targets up.
    pub const fn lookups(&self) -> &Lookups {
        &self.lookups
    }

    /// This process was stopped until now, and its children may have been, too.
    pub const fn stood_still(&mut self, until: MonotonicTime) {
        self.stood_still = until;
    }

    /// The kernel says that its table of mounts has changed, or says nothing at all.
    pub const fn table_may_have_changed(&mut self) {
        self.is_table_stale = true;
    }

    /// What tells of a change of the kernel's table of mounts.
    pub fn mount_changes(&self) -> Option<Awaited<'_>> {
        self.mounts.table().descriptor().map(Awaited::Changed)
    }

    /// Reads the table of mounts again if it may have changed.
    pub fn refresh_if_stale(&mut self, agenda: &mut Agenda, ledger: &mut Ledger<'_>) {
        if std::mem::take(&mut self.is_table_stale) {
            self.refresh(agenda, ledger);
        }
    }

    /// Reads the table of mounts again, and heeds what has changed.
    pub fn refresh(&mut self, agenda: &mut Agenda, ledger: &mut Ledger<'_>) {
        if let Some(targets) = self.mounts.refresh() {
            self.lookups.again(&targets, MonotonicClock.now());
            self.end_outages_of_changed_mounts(ledger);
            self.look_for_missing_mounts(agenda, ledger);
        }
    }

    /// A target lies on the mount with this number, so says who has made sure that something is mounted at `looked_for`.
    pub fn learn(
        &mut self,
        target: usize,
        mount_number: u64,
        looked_for: Option<&Path>,
        agenda: &mut Agenda,
        ledger: &mut Ledger<'_>,
    ) {
        // An automount appears in the table when somebody has gone there.
        if !self.mounts.has(mount_number) {
            self.refresh(agenda, ledger);
        }
        self.mounts.learn(target, mount_number, looked_for);
        self.keep_mounts(ledger);
        // Where nothing was mounted it may not lie any more.
        if self.outages.open().any(|outage| outage.kind == OutageKind::NotMounted) {
            self.look_for_missing_mounts(agenda, ledger);
        }
    }

    /// Something has to be mounted where these configurations of the history say that a target was.
    pub fn remember<'c>(&mut self, configurations: impl IntoIterator<Item = &'c Configuration>) {
        for configuration in configurations {
            let fact = |name: &str| configuration.facts.get(name).map(Path::new);
            if let (Some(target), Some(mount_point)) =
                (self.mounts.position(&configuration.target), fact(MOUNT_POINT))
            {
                self.mounts.remember(target, mount_point, fact(DIRECTORY));
            }
        }
    }

    /// Keeps for the next watch where targets lie; what could not be kept is tried again.
    pub fn keep_mounts(&mut self, ledger: &mut Ledger<'_>) {
        if let Some(written) = self.mounts.keep(self.runtime) {
            ledger.written(RuntimeFile::Mounts, written);
        }
    }

    /// A probe is past its deadline: finds out whether its mount answers, or has that found out.
    pub fn suspect(&mut self, flight: &mut Flight, now: MonotonicTime, ledger: &mut Ledger<'_>) {
        let site = flight.site().clone();
        // A covariate has no mount.
        let is_covariate = matches!(site.mount, MountKey::Covariate(_));
        if is_covariate
            || self.outages.is_open(&site.mount)
            || self.is_replaced(&site.mount, &site.mount_name)
        {
            return;
        }
        let (probe, since) = (flight.probe(), flight.silent_since());
        // One that an earlier watch started may be of the same target.
        let target = site.target.or_else(|| self.mounts.position(&flight.series().target));
        // While this process stood still its children may have, too.
        let heard = since.max(self.stood_still);
        let (silence, asks_itself) = (SILENCE_MAX.min(flight.deadlines().hard), flight.asks_itself());
        if asks_itself && now.since(heard) >= silence {
            let (begin, skipped) = (flight.wall(since), flight.skipped());
            self.found_silent(&site.mount, site.mount_name, probe, begin, skipped, ledger);
        } else if let Some(target) = target {
            // Not proven: a canary asks, beside a program, after the end of a task that asks its place itself.
            flight.look_again_at(asks_itself.then(|| heard.after(silence)));
            self.suspicions.suspect(site.mount, Suspicion { probe, since });
            self.lookups.suspect(target, Reason::Suspicion, now);
        }
    }

    /// The canary of a target has not come back from this mount.
    pub fn canary_is_silent(
        &mut self,
        target: usize,
        mount: &MountKey,
        flights: &Flights<'_>,
        ledger: &mut Ledger<'_>,
    ) {
        let Some(Suspicion { probe, since }) = self.suspicions.silent(mount) else { return };
        let begin = ledger.wall_of(since);
        let name = self.mounts.name_of(target).to_owned();
        let skipped = flights.get(probe).map_or(0, Flight::skipped);
        self.found_silent(mount, name, probe, begin, skipped, ledger);
    }

    /// What is known by one of these keys has answered.
    pub fn have_answered(
        &mut self,
        mounts: &[MountKey],
        at: MonotonicTime,
        agenda: &mut Agenda,
        ledger: &mut Ledger<'_>,
    ) {
        mounts.iter().for_each(|mount| self.suspicions.answered(mount, at));
        if self.outages.open().next().is_none() {
            return;
        }
        // A mount that was replaced has not recovered, and the table may not have been read since.
        self.refresh(agenda, ledger);
        // The mount may have been replaced before its outage was found.
        self.end_outages_of_changed_mounts(ledger);
        let at = ledger.wall_of(at);
        mounts.iter().for_each(|mount| self.answered(mount, at, ledger));
    }

    /// This mount has answered.
    pub fn answered(&mut self, mount: &MountKey, at: WallTime, ledger: &mut Ledger<'_>) {
        ledger.record_outages(self.outages.answered(mount, at));
    }

    /// A slot of this mount was skipped.
    pub fn count_skipped(&mut self, mount: &MountKey) {
        self.outages.skipped(mount);
    }

    /// As long as a mount does not answer, it is asked.
    pub fn ask_the_silent(&mut self, now: MonotonicTime) {
        if self.outages.open().next().is_none() {
            return;
        }
        for target in 0..self.mounts.count() {
            if self.outages.is_open(self.mounts.key_of(target)) {
                self.lookups.suspect(target, Reason::Outage, now.after(PAUSE));
            }
        }
    }

    /// What the children that look targets up have found.
    pub fn look(&mut self, now: MonotonicTime) -> Vec<(usize, Finding)> {
        self.lookups.look(now)
    }

    /// Looks up what is due, unless a probe is in the way.
    pub fn look_up(
        &mut self,
        targets: &[WatchTarget],
        facts: &Facts<'_>,
        now: MonotonicTime,
        flights: &Flights<'_>,
    ) {
        let is_blocked = |mount: &MountKey, reason: Reason| {
            flights.on(mount).any(|flight| reason == Reason::Routine || flight.asks_itself())
        };
        self.lookups.start(targets, facts, now, &self.mounts, is_blocked);
    }

    /// Children that look targets up and have not answered, to count as probes from now on.
    pub fn hand_over(&mut self, now: MonotonicTime, patience: Patience) -> Vec<Silent> {
        self.lookups.hand_over(now, patience)
    }

    /// Nothing more is looked up: the watch ends.
    pub fn stop(&mut self) {
        self.lookups.stop();
    }

    /// The watch ends and waits no longer.
    pub fn leave(&mut self) {
        self.lookups.leave();
    }

    /// Goes on with the outages that the last watch has left, or ends them with its boot.
    pub fn resume(&mut self, left: Vec<OpenOutage>, is_this_boot: bool, ledger: &mut Ledger<'_>) {
        if is_this_boot {
            self.outages = Outages::resume(left);
        } else {
            let booted = ledger.booted();
            ledger.record_outages(left.into_iter().map(|open| ended_by_reboot(open.outage, booted)));
        }
    }

    /// Ends or continues the outages that the history takes for open, but for those that the runtime directory knows.
    pub fn resume_of_history(&mut self, open: &[Outage], known: &[ProbeId], ledger: &mut Ledger<'_>) {
        let booted = ledger.booted();
        let host = ledger.host();
        let is_over = |outage: &Outage| {
            ledger.spool().pending().iter().any(|record| {
                matches!(record, HistoryRecord::Outage(later) if later.end.is_some() && (later.host.as_str(), later.probe) == (host, outage.probe))
            })
        };
        let unknown: Vec<Outage> = open
            .iter()
            .filter(|outage| outage.host == host && !known.contains(&outage.probe) && !is_over(outage))
            .cloned()
            .collect();
        for outage in unknown {
            if outage.begin < booted {
                ledger.record_outages([ended_by_reboot(outage, booted)]);
            } else if outage.kind == OutageKind::NotMounted {
                let key = MountKey::MountPoint(outage.mount.clone());
                self.outages.found(&key, outage);
            } else if let Some(key) = self.mounts.key_named(&outage.mount).cloned() {
                self.outages.found(&key, outage);
            }
        }
    }

    /// Outages whose mount is gone or has been replaced are over.
    pub fn end_outages_of_changed_mounts(&mut self, ledger: &mut Ledger<'_>) {
        let at = ledger.wall();
        ledger.record_outages(self.outages.remounted(at, |mount_point| self.mounts.device_at(mount_point)));
    }

    /// Records which mount points are missing, and which are not any more.
    pub fn look_for_missing_mounts(&mut self, agenda: &mut Agenda, ledger: &mut Ledger<'_>) {
        let (at, missing) = (ledger.wall(), self.mounts.all_missing());
        let presence = |mount_point: &Path| match missing.contains_key(mount_point) {
            true => Presence::Missing,
            false if self.mounts.table().is_missing(mount_point) => Presence::NotExpected,
            false => Presence::Mounted,
        };
        ledger.record_outages(self.outages.found_again(at, presence));
        for (mount_point, targets) in missing {
            let mount = mount_point.to_string_lossy().into_owned();
            let key = MountKey::MountPoint(mount.clone());
            if self.outages.is_open(&key) {
                continue;
            }
            let outage = Outage {
                host: ledger.host().to_owned(),
                kind: OutageKind::NotMounted,
                mount,
                targets,
                probe: agenda.unused_probe(),
                begin: at,
                end: None,
                ending: None,
                skipped: 0,
            };
            ledger.record_outages(self.outages.found(&key, outage));
        }
    }

    /// Records the outages that last, with what they have cost so far.
    pub fn record_open_outages(&self, ledger: &mut Ledger<'_>) {
        ledger.record_outages(self.outages.open().cloned());
    }

    fn found_silent(
        &mut self,
        mount: &MountKey,
        name: String,
        probe: ProbeId,
        begin: WallTime,
        skipped: u64,
        ledger: &mut Ledger<'_>,
    ) {
        let outage = Outage {
            host: ledger.host().to_owned(),
            kind: OutageKind::NoAnswer,
            mount: name,
            targets: self.mounts.targets_on(mount),
            probe,
            begin,
            end: None,
            ending: None,
            skipped,
        };
        ledger.record_outages(self.outages.found(mount, outage));
    }

    /// Whether what a probe waits for is no longer mounted where it was, so that its waiting says nothing of what is there now.
    fn is_replaced(&self, mount: &MountKey, mount_point: &str) -> bool {
        let MountKey::Device(device) = mount else { return false };
        self.mounts.device_at(mount_point).as_ref() != Some(device)
    }
}
