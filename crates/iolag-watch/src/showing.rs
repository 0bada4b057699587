//! What a watch shows of itself while it runs.

use iolag_keeper::start_ticks;
use iolag_model::{MonotonicTime, ProbeStatus, WallTime, WatchStatus};

use crate::STATUS_VERSION;
use crate::run::Running;

impl Running<'_> {
    /// Probes that have not ended, oldest first.
    pub fn probe_statuses(&self) -> Vec<ProbeStatus> {
        let mut all: Vec<ProbeStatus> = self
            .flights
            .iter()
            .filter_map(|flight| Some(flight.status(self.agenda.state(flight.probe())?.phase())))
            .collect();
        all.sort_by_key(|status| status.start_ns);
        all
    }

    /// Wakes whoever looks on, if they want to be woken and it is time.
    pub fn tick(&mut self, now: MonotonicTime) {
        let interval = self.ledger.observer.wants_to_be_woken();
        if interval.is_some() && self.tick_due.is_some_and(|due| due <= now) {
            let in_flight = self.probe_statuses();
            self.ledger.observer.tick(now, &in_flight);
            self.tick_due = None;
        }
        self.tick_due = interval.map(|interval| self.tick_due.unwrap_or_else(|| now.after(interval)));
    }

    /// What the watch is doing right now.
    pub fn status(&self) -> WatchStatus {
        let anchor = (self.anchors)();
        let process = std::process::id();
        WatchStatus {
            version: STATUS_VERSION,
            iolag_version: self.identity.iolag_version.clone(),
            process,
            process_start_ticks: start_ticks(process).unwrap_or(0),
            host: self.plan.host.clone(),
            boot_id: self.identity.boot_id.clone(),
            history: self.identity.history.clone(),
            begin: self.session.begin,
            written: WallTime(anchor.realtime_ns as i64),
            written_ns: anchor.monotonic_ns,
            next_round_ns: self.agenda.next_round().begin,
            rounds: self.agenda.rounds(),
            in_flight: self.probe_statuses(),
            last: self.ledger.last(),
            outages: self.outages.open().cloned().collect(),
            waiting_records: self.ledger.spool.pending().len() as u64,
            history_trouble: self.trouble(),
            lag_ns: self.lag,
        }
    }
}
