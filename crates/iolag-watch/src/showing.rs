//! What a watch shows of itself while it runs.

use iolag_keeper::start_ticks;
use iolag_model::{Anchor, ProbeStatus, WallTime, WatchStatus};

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

    /// What the watch is doing right now.
    pub fn status(&self) -> WatchStatus {
        let anchor = Anchor::take();
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
