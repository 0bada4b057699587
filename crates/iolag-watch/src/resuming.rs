//! From one watch to the next: what is kept of probes and outages, and what becomes of it.
//!
//! | left by the last watch of this boot | the next one |
//! |---|---|
//! | a probe of which a process lives | goes on with it, as if it had started it |
//! | one that has ended and stamped so | records its true end |
//! | one that was hung and is gone without a stamp | leaves it hung, with the last age that is known; its outage lasts until the mount is seen to answer |
//! | one within its deadline, gone without a stamp | records nothing: it was killed together with its watch |
//!
//! What another boot has left is gone: what hung stays hung, and outages ended with that boot.

use iolag_model::{Anchor, ProbeId, WallTime};

use crate::flight::{Flight, find_stamps, remove_unknown_stamps, stamps_name};
use crate::kept::{Kept, KeptFlight};
use crate::outages::ended_by_reboot;
use crate::run::Running;
use crate::samples::{Fate, samples};
use crate::{Outages, Stamps};

impl Running<'_> {
    /// Goes on with what the last watch left.
    pub fn resume(&mut self, kept: Kept) {
        let is_this_boot = kept.boot_id == self.identity.boot_id;
        let wall = WallTime(Anchor::take().realtime_ns as i64);
        if is_this_boot {
            self.outages = Outages::resume(kept.outages);
        } else {
            self.record_outages(kept.outages.into_iter().map(|open| ended_by_reboot(open.outage, wall)));
        }
        for kept in kept.flights.iter().filter(|kept| !kept.description.series.is_empty()) {
            if is_this_boot {
                self.resume_flight(kept);
            } else if let (Some(seen), Ok(stamps)) = (kept.hung_seen, Stamps::new()) {
                let fate = Fate::Vanished { seen };
                self.ledger.record_samples(samples(&kept.description, &stamps, fate, None, None));
            }
        }
        let known: Vec<String> = self.flights.iter().map(|flight| stamps_name(flight.probe())).collect();
        remove_unknown_stamps(self.runtime, |name| known.iter().any(|known| known == name));
        self.end_outages_of_changed_mounts();
        self.keep();
    }

    fn resume_flight(&mut self, kept: &KeptFlight) {
        let Some(stamps) = find_stamps(self.runtime, kept.description.probe) else { return };
        if let Some((flight, state)) = Flight::adopt(kept, stamps.clone()) {
            self.agenda.adopt(flight.probe(), flight.mount.clone(), state);
            self.flights.push(flight);
            return;
        }
        let has_ended = stamps.part(0).end.is_some() || stamps.preparation_failure().is_some();
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
        let kept = Kept {
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
        if let Err(error) = kept.write(self.runtime) {
            self.ledger.trouble(&error.to_string());
        }
    }
}
