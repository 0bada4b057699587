//! From one watch to the next: what is kept of probes and outages, and what becomes of it.
//!
//! | left by the last watch of this boot | the next one |
//! |---|---|
//! | a probe of which a process lives | goes on with it, as if it had started it |
//! | the same within its deadline, killed with its watch and not gone yet | lets it block its mount; if it goes in time, records nothing |
//! | one that has ended and stamped so | records its true end |
//! | one that was hung and is gone without a stamp | leaves it hung, with the last age that is known; its outage lasts until the mount is seen to answer |
//! | one within its deadline, gone without a stamp | records nothing: it was killed together with its watch |
//!
//! What another boot has left is gone: what hung stays hung, and outages ended with that boot. The runtime directory mostly went with
//! it, so the outages that the history takes for open are looked at too:
//!
//! | open in the history, unknown to the runtime directory | |
//! |---|---|
//! | begun before this boot | ended when this boot began |
//! | begun in this boot, on a mount that is watched (the runtime directory was lost, as at a logout) | goes on until the mount is seen to answer |
//! | begun in this boot, on another mount | is somebody else's to end |

use iolag_model::{EventSource, HistoryRecord, Outage, OutageKind, ProbeId, Rename};

use crate::memory::historian::Recollection;
use crate::memory::shortage::RuntimeFile;
use crate::probe::checkpoint::{Checkpoint, FlightCheckpoint};
use crate::probe::flight::{Flight, Purpose, find_stamps, remove_unknown_stamps, stamps_name};
use crate::probe::samples::{Fate, samples};
use crate::run::running::Running;
use crate::world::configurations::event;
use crate::world::outages::ended_by_reboot;
use crate::{MountKey, Outages, Stamps};

impl Running<'_> {
    /// Goes on with what the last watch left.
    pub fn resume(&mut self, kept: Checkpoint) {
        let is_this_boot = kept.boot_id == self.identity.boot_id;
        let booted = self.booted();
        let known: Vec<ProbeId> = kept.outages.iter().map(|open| open.outage.probe).collect();
        if is_this_boot {
            self.outages = Outages::resume(kept.outages);
        } else {
            self.record_outages(kept.outages.into_iter().map(|open| ended_by_reboot(open.outage, booted)));
        }
        for kept in kept.flights.iter().filter(|kept| !kept.description.series.is_empty()) {
            if is_this_boot {
                self.resume_flight(kept);
            } else if kept.purpose != Purpose::Canary
                && let (Some(seen), Ok(stamps)) = (kept.hung_seen, Stamps::new())
            {
                let fate = Fate::Vanished { seen };
                self.ledger.record_samples(samples(&kept.description, &stamps, fate, None, None));
            }
        }
        let identity = self.identity;
        self.resume_outages_of_history(&identity.open_outages, &known);
        let known: Vec<String> = self.flights.iter().map(|flight| stamps_name(flight.probe())).collect();
        remove_unknown_stamps(self.runtime, |name| known.iter().any(|known| known == name));
        self.end_outages_of_changed_mounts();
        self.keep();
    }

    /// The history says only now what it knows: heeds it as if it had said so before the watch began.
    pub fn recalled(&mut self, recollection: Recollection) {
        let remembered: Vec<String> =
            recollection.configurations.iter().map(|configuration| configuration.target.clone()).collect();
        self.configurations.know_names(recollection.names, recollection.former_names);
        self.remember_mounts(&recollection.configurations);
        let before = recollection.configurations.clone();
        for event in self.configurations.recalled(recollection.configurations) {
            if !self.is_missing(&event.target) {
                self.ledger.record(HistoryRecord::Event(event));
            }
        }
        for configuration in std::mem::take(&mut self.unrecorded) {
            if !self.is_missing(&configuration.target) {
                self.ledger.record(HistoryRecord::Configuration(configuration));
            } else if let Some(known) = before.iter().find(|known| known.target == configuration.target) {
                self.configurations.take_up(known.clone());
            }
        }
        let known: Vec<ProbeId> = self.outages.open().map(|outage| outage.probe).collect();
        self.resume_outages_of_history(&recollection.open_outages, &known);
        self.end_outages_of_changed_mounts();
        for target in self.plan.targets.iter().filter(|target| !remembered.contains(&target.name)) {
            self.go_on_under_new_name(&target.name);
        }
        self.look_for_missing_mounts();
        self.keep();
    }

    /// Whether nothing is mounted where this target has to be.
    fn is_missing(&self, name: &str) -> bool {
        let target = self.plan.targets.iter().position(|target| target.name == name);
        target.is_some_and(|target| self.mounts.missing(target).is_some())
    }

    /// A target of which the history knows nothing under this name may be one that it knows under another: then that is its past.
    pub fn go_on_under_new_name(&mut self, name: &str) {
        let is_watched = |other: &str| self.plan.targets.iter().any(|target| target.name == other);
        let Some(old) = self.configurations.predecessor(name, is_watched) else { return };
        let (host, at) = (self.plan.host.clone(), self.wall());
        let text = format!("{old} is called {name} from now on; what was measured before is its past");
        self.ledger.record(HistoryRecord::Event(event(&host, name, at, EventSource::Watch, "rename", text)));
        let rename = Rename { host, old, new: name.to_owned(), at, author: "iolag".to_owned() };
        self.ledger.record(HistoryRecord::Rename(rename));
    }

    /// Ends or continues the outages that the history takes for open, but for those that the runtime directory knows.
    fn resume_outages_of_history(&mut self, open: &[Outage], known: &[ProbeId]) {
        let booted = self.booted();
        let host = &self.plan.host;
        let is_over = |outage: &Outage| {
            self.ledger.spool.pending().iter().any(|record| {
                matches!(record, HistoryRecord::Outage(later) if later.end.is_some() && (&later.host, later.probe) == (host, outage.probe))
            })
        };
        let unknown: Vec<Outage> = open
            .iter()
            .filter(|outage| outage.host == *host && !known.contains(&outage.probe) && !is_over(outage))
            .cloned()
            .collect();
        for outage in unknown {
            if outage.begin < booted {
                self.record_outages([ended_by_reboot(outage, booted)]);
            } else if outage.kind == OutageKind::NotMounted {
                let key = MountKey::MountPoint(outage.mount.clone());
                self.outages.found(&key, outage);
            } else if let Some(key) = self.mounts.key_named(&outage.mount).cloned() {
                self.outages.found(&key, outage);
            }
        }
    }

    fn resume_flight(&mut self, kept: &FlightCheckpoint) {
        let Some(stamps) = find_stamps(self.runtime, kept.description.probe) else { return };
        if let Some((flight, state)) = Flight::adopt(kept, stamps.clone()) {
            self.agenda.adopt(flight.probe(), flight.mount.clone(), state);
            self.flights.push(flight);
            return;
        }
        if kept.purpose == Purpose::Canary {
            return;
        }
        let has_ended = stamps.has_ended();
        let fate = match kept.hung_seen {
            Some(seen) => Fate::Vanished { seen },
            // It was killed together with its watch, within its deadline: nothing is known of how long it would have taken.
            None if !has_ended => return,
            None => Fate::Ended { at: kept.description.start_ns },
        };
        self.ledger.record_samples(samples(&kept.description, &stamps, fate, None, None));
        if let (true, Some((end, _))) = (has_ended, stamps.part(0).end) {
            let at = kept.description.start.after(end.since(kept.description.start_ns));
            let ended = self.outages.answered(&kept.mount, at);
            self.record_outages(ended);
        }
    }

    /// Keeps what the next watch has to know.
    pub fn keep(&mut self) {
        let kept = Checkpoint {
            version: 0,
            boot_id: self.identity.boot_id.clone(),
            // One more, so that even a watch that only skipped slots leaves its second to no other.
            next_probe: ProbeId(self.agenda.next_probe().0 + 1),
            flights: self
                .flights
                .iter()
                .map(|flight| flight.to_keep(self.agenda.state(flight.probe())))
                .collect(),
            outages: self.outages.to_keep(),
        };
        self.ledger.kept(RuntimeFile::Flights, kept.write(self.runtime));
        self.keep_mounts();
    }
}
