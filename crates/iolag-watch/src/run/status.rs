//! What a watch shows of itself while it runs: its status, as a file and as what it tells to whoever wants to be woken.

use iolag_keeper::start_ticks;
use iolag_model::{
    MonotonicTime, Nanoseconds, OutageKind, Outcome, ProbePhase, SeriesKind, TargetState, TargetStatus,
    WallTime, WatchStatus,
};

use crate::memory::shortage::RuntimeFile;
use crate::memory::status_file::publish;
use crate::probe::flight::Flight;
use crate::run::outstanding::Outstanding;
use crate::run::probing::Probing;
use crate::{ProbeState, RuntimeDirectory, STATUS_VERSION, WatchIdentity};

/// The status is written at most this often.
const PUBLISH_INTERVAL: Nanoseconds = Nanoseconds::from_milliseconds(250);

/// Shows what a watch does.
pub(crate) struct StatusPublisher<'a> {
    identity: &'a WatchIdentity,
    runtime: &'a RuntimeDirectory,
    published: MonotonicTime,
    tick_due: Option<MonotonicTime>,
}

impl<'a> StatusPublisher<'a> {
    /// Nothing has been shown yet.
    pub const fn new(identity: &'a WatchIdentity, runtime: &'a RuntimeDirectory) -> Self {
        Self { identity, runtime, published: MonotonicTime(0), tick_due: None }
    }

    /// When something is to be shown.
    pub fn due(&self, probing: &Probing<'_>) -> Option<MonotonicTime> {
        let has_news = probing.outstanding().ledger().has_news();
        let publish_due = has_news.then(|| self.published.after(PUBLISH_INTERVAL));
        publish_due.into_iter().chain(self.tick_due).min()
    }

    /// Publishes the status if it has changed and the last one is old enough.
    pub fn publish_if_due(&mut self, now: MonotonicTime, probing: &mut Probing<'_>, trouble: Option<String>) {
        if probing.outstanding().ledger().has_news() && now.since(self.published) >= PUBLISH_INTERVAL {
            self.publish(now, probing, trouble);
        }
    }

    /// Publishes the status now; `trouble` is why the history could not be written.
    pub fn publish(&mut self, now: MonotonicTime, probing: &mut Probing<'_>, trouble: Option<String>) {
        self.published = now;
        probing.outstanding_mut().ledger_mut().take_news();
        let published = publish(self.runtime, &self.status(probing, trouble));
        probing.outstanding_mut().ledger_mut().written(RuntimeFile::Status, published);
    }

    /// Wakes whoever looks on, if they want to be woken and it is time.
    pub fn tick(&mut self, now: MonotonicTime, outstanding: &mut Outstanding<'_>) {
        let interval = outstanding.ledger_mut().observer().wants_to_be_woken();
        if interval.is_some() && self.tick_due.is_some_and(|due| due <= now) {
            let in_flight = outstanding.statuses();
            outstanding.ledger_mut().observer().tick(now, &in_flight);
            self.tick_due = None;
        }
        self.tick_due = interval.map(|interval| self.tick_due.unwrap_or_else(|| now.after(interval)));
    }

    fn status(&self, probing: &Probing<'_>, history_trouble: Option<String>) -> WatchStatus {
        let outstanding = probing.outstanding();
        let (ledger, agenda) = (outstanding.ledger(), outstanding.agenda());
        let anchor = ledger.peek_at_clocks();
        let process = std::process::id();
        WatchStatus {
            version: STATUS_VERSION,
            iolag_version: self.identity.iolag_version.clone(),
            process,
            process_start_ticks: start_ticks(process).unwrap_or(0),
            host: ledger.host().to_owned(),
            boot_id: self.identity.boot_id.clone(),
            history: self.identity.history.clone(),
            begin: ledger.session().begin,
            written: WallTime(anchor.realtime_ns as i64),
            written_ns: anchor.monotonic_ns,
            next_round_ns: agenda.next_round().begin,
            rounds: agenda.rounds(),
            in_flight: outstanding.statuses(),
            last: ledger.last(),
            targets: target_statuses(probing),
            outages: outstanding.health().outages().open().cloned().collect(),
            waiting_records: ledger.spool().pending().len() as u64,
            history_trouble,
            lag_ns: probing.lag(),
        }
    }
}

/// How the user's targets are.
fn target_statuses(probing: &Probing<'_>) -> Vec<TargetStatus> {
    let planned = probing.plan().targets.iter().enumerate();
    let of_user = planned.filter(|(_, target)| target.kind == SeriesKind::Task);
    of_user.map(|(index, target)| target_status(index, &target.name, probing.outstanding())).collect()
}

fn target_status(target: usize, name: &str, outstanding: &Outstanding<'_>) -> TargetStatus {
    let (health, host) = (outstanding.health(), outstanding.ledger().host());
    // Where nothing is mounted nothing can answer.
    let concerning = health.outages().open().filter(|outage| outage.concerns(host, name));
    let outage = concerning.max_by_key(|outage| outage.kind);
    let state = match outage.map(|outage| outage.kind) {
        Some(OutageKind::NotMounted) => TargetState::NotMounted,
        Some(OutageKind::NoAnswer) => TargetState::NoAnswer,
        None => state_without_outage(name, outstanding),
    };
    let (mount_point, kind) = health.mounts().shown(target);
    TargetStatus { name: name.to_owned(), mount_point, kind, state, since: outage.map(|outage| outage.begin) }
}

fn state_without_outage(name: &str, outstanding: &Outstanding<'_>) -> TargetState {
    let last = outstanding.ledger().last();
    let ends: Vec<Outcome> =
        last.iter().filter(|last| last.series.target == name).map(|last| last.outcome).collect();
    let is_past = |outcome: &Outcome| matches!(outcome, Outcome::Late | Outcome::Timeout | Outcome::Hung);
    let is_slow = |flight: &Flight| {
        let phase = outstanding.agenda().state(flight.probe()).map(ProbeState::phase);
        flight.series().target == name
            && !flight.is_canary()
            && phase.is_some_and(|phase| phase != ProbePhase::InFlight)
    };
    if outstanding.flights().all().any(is_slow) || ends.iter().any(is_past) {
        TargetState::Slow
    } else if ends.iter().any(|outcome| *outcome != Outcome::Skipped) {
        TargetState::Answers
    } else {
        TargetState::Unknown
    }
}
