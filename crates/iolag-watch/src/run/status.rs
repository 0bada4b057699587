//! What a watch shows of itself while it runs.

use iolag_keeper::start_ticks;
use iolag_model::{
    MonotonicTime, Outage, OutageKind, Outcome, ProbePhase, ProbeStatus, SeriesKind, TargetState,
    TargetStatus, WallTime, WatchStatus,
};

use crate::STATUS_VERSION;
use crate::probe::flight::{Flight, Purpose};
use crate::run::running::Running;

impl Running<'_> {
    /// Probes that have not ended, oldest first.
    pub fn probe_statuses(&self) -> Vec<ProbeStatus> {
        let mut all: Vec<ProbeStatus> = self
            .flights
            .iter()
            .filter(|flight| flight.purpose != Purpose::Canary)
            .filter_map(|flight| Some(flight.status(self.agenda.state(flight.probe())?.phase())))
            .collect();
        all.sort_by_key(|status| status.start_ns);
        all
    }

    /// How the user's targets are.
    fn target_statuses(&self) -> Vec<TargetStatus> {
        let planned = self.plan.targets.iter().enumerate();
        let of_user = planned.filter(|(_, target)| target.kind == SeriesKind::Task);
        of_user.map(|(index, target)| self.target_status(index, &target.name)).collect()
    }

    fn target_status(&self, target: usize, name: &str) -> TargetStatus {
        let concerns = |outage: &&Outage| outage.concerns(&self.plan.host, name);
        // Where nothing is mounted nothing can answer.
        let outage = self.outages.open().filter(concerns).max_by_key(|outage| outage.kind);
        let state = match outage.map(|outage| outage.kind) {
            Some(OutageKind::NotMounted) => TargetState::NotMounted,
            Some(OutageKind::NoAnswer) => TargetState::NoAnswer,
            None => self.state_without_outage(name),
        };
        let (mount_point, kind) = self.mounts.shown(target);
        TargetStatus {
            name: name.to_owned(),
            mount_point,
            kind,
            state,
            since: outage.map(|outage| outage.begin),
        }
    }

    fn state_without_outage(&self, name: &str) -> TargetState {
        let last = self.ledger.last();
        let ends: Vec<Outcome> =
            last.iter().filter(|last| last.series.target == name).map(|last| last.outcome).collect();
        let is_past = |outcome: &Outcome| matches!(outcome, Outcome::Late | Outcome::Timeout | Outcome::Hung);
        let is_slow = |flight: &Flight| {
            let phase = self.agenda.state(flight.probe()).map(crate::ProbeState::phase);
            flight.series().target == name
                && flight.purpose != Purpose::Canary
                && phase.is_some_and(|phase| phase != ProbePhase::InFlight)
        };
        if self.flights.iter().any(is_slow) || ends.iter().any(is_past) {
            TargetState::Slow
        } else if ends.iter().any(|outcome| *outcome != Outcome::Skipped) {
            TargetState::Answers
        } else {
            TargetState::Unknown
        }
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
            targets: self.target_statuses(),
            outages: self.outages.open().cloned().collect(),
            waiting_records: self.ledger.spool.pending().len() as u64,
            history_trouble: self.trouble(),
            lag_ns: self.lag,
        }
    }
}
