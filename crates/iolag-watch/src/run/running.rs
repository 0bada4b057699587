//! Running a watch: one thread that waits for whatever comes first and does what is due, and nothing in between.
//!
//! Order of a look: what has ended, what somebody wants, what was looked up, what the agenda says, what is to be written, what is to
//! be shown. Nothing here touches a target, a home or a history; children do, and may hang.

use std::collections::BTreeMap;

use iolag_keeper::{Awaited, Signals, reap_strays, wait_for_any};
use iolag_model::{
    Anchor, Clock, Configuration, HistoryRecord, MonotonicClock, MonotonicTime, Nanoseconds, Outage,
    ProbeStatus, SeriesKey, SessionEnd, WallTime, WatchSession,
};
use iolag_workload::{ProbeTask, TaskSpec};
use rustix::process::Signal;

use crate::agenda::probe_ids::{first_probe, tag_of};
use crate::agenda::subjects::provisions;
use crate::agenda::{Agenda, Subject, WatchLimit};
use crate::memory::historian::{Historian, Recall, Recalling, Remember};
use crate::memory::ledger::Ledger;
use crate::memory::shortage::RuntimeFile;
use crate::probe::checkpoint::Checkpoint;
use crate::probe::flight::{Flight, Interruption};
use crate::probe::process::LOOK;
use crate::targets::first_contact::FirstContact;
use crate::targets::health::Suspicions;
use crate::targets::known_mounts::KnownMounts;
use crate::targets::lookups::{Facts, Finding, Lookups, Patience, Reason};
use crate::targets::target_mounts::TargetMounts;
use crate::world::clocks::ClockWatch;
use crate::world::configurations::Configurations;
use crate::{
    MountKey, MountTable, Outages, RuntimeDirectory, Schedule, Spool, SurroundingsMeter, WatchObserver,
    WatchPlan,
};

/// How long the first round waits for the circumstances to be known.
const FIRST_LOOKUP: Nanoseconds = Nanoseconds::from_seconds(2);
/// Between SIGTERM and SIGKILL, and from there on, when the watch stops.
const STOP_GRACE: Nanoseconds = Nanoseconds::from_seconds(1);
/// How long the last writing of the history may take.
const LAST_WRITING: Nanoseconds = Nanoseconds::from_seconds(30);
/// A wait that lasts so much longer than it was to was one of the whole machine, or of this process.
const STANDSTILL: Nanoseconds = Nanoseconds::from_seconds(1);
/// The status is written at most this often.
const PUBLISH_INTERVAL: Nanoseconds = Nanoseconds::from_milliseconds(250);
const SIGHUP: i32 = Signal::HUP.as_raw();

/// What children of the watch do for it: closures of the caller, which knows tasks, facts and histories.
#[derive(Clone, Copy)]
pub struct Callbacks<'a> {
    /// Makes a task; called in the watch too, to learn its parts, so it must touch nothing. The second argument is a seed.
    pub probe_task: &'a dyn Fn(&TaskSpec, u64) -> Box<dyn ProbeTask>,
    /// Looks up the configuration of a target; may hang.
    pub facts: &'a Facts<'a>,
    /// Makes the history if it is missing and says what it knows, or in a sentence why it could not; may hang.
    pub recall: &'a Recalling<'a>,
    /// Writes records into the history, or says in a sentence why it could not; may hang, and may be given the same records again.
    pub remember: &'a Remember<'a>,
}

/// Who watches.
#[derive(Debug, Clone)]
pub struct WatchIdentity {
    /// The kernel's id of this boot.
    pub boot_id: String,
    /// Version of iolag.
    pub iolag_version: String,
    /// Where the history is, secrets removed; for the status.
    pub history: String,
    /// For jitter and order.
    pub seed: u64,
    /// How long writing the history may take.
    pub history_deadline: Nanoseconds,
    /// Whether the history has said what it knows, which then stands below; else it is asked while the watch runs.
    pub recall: Recall,
    /// The configurations that held last, so that a change since then is noticed.
    pub configurations: Configurations,
    /// Outages that the history does not know to be over. Those of other hosts are left alone.
    pub open_outages: Vec<Outage>,
}

/// A watch that is ready to run.
pub struct Watch<'a> {
    /// What is watched.
    pub plan: &'a WatchPlan,
    /// What its children do.
    pub callbacks: Callbacks<'a>,
    /// Its runtime directory, held.
    pub runtime: &'a RuntimeDirectory,
    /// Its spool.
    pub spool: &'a mut Spool,
    /// The signals that end it.
    pub signals: &'a Signals,
    /// Who watches.
    pub identity: &'a WatchIdentity,
    /// What is known of the targets because somebody has gone there already.
    pub contacts: Vec<FirstContact>,
    /// Reads the clocks: [`Anchor::take`]. Only wall-clock times depend on it; whatever it says, the monotonic clock is the real one.
    pub anchors: &'a dyn Fn() -> Anchor,
}

/// Why a watch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEnd {
    /// The rounds that were asked for are over.
    RoundsDone,
    /// SIGINT or SIGTERM.
    Stopped,
    /// SIGHUP: the caller may read its configuration again and go on.
    HungUp,
}

/// How a watch went.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchSummary {
    /// Why it ended.
    pub end: WatchEnd,
    /// Rounds begun.
    pub rounds: u64,
    /// Probes that could not be ended or are waited for; the next watch goes on with them.
    pub left_behind: Vec<ProbeStatus>,
    /// Records that the history does not have yet; they are in the spool.
    pub waiting_records: usize,
    /// Why the history could not be written.
    pub history_trouble: Option<String>,
    /// Whether the history has said what it knows.
    pub recall: Recall,
    /// The configurations that hold now: for a watch that goes on with another plan.
    pub configurations: Configurations,
}

impl Watch<'_> {
    /// Watches until `limit`, or until a signal comes. The caller has one thread and has left every directory that may hang.
    pub fn run(self, limit: WatchLimit, observer: &mut dyn WatchObserver) -> WatchSummary {
        let mut running = Running::start(self, limit, observer);
        let end = running.watch();
        running.finish(end)
    }
}

/// A watch under way.
pub(crate) struct Running<'a> {
    pub plan: &'a WatchPlan,
    pub callbacks: Callbacks<'a>,
    pub runtime: &'a RuntimeDirectory,
    pub signals: &'a Signals,
    pub identity: &'a WatchIdentity,
    pub anchors: &'a dyn Fn() -> Anchor,
    pub ledger: Ledger<'a>,
    pub agenda: Agenda,
    pub flights: Vec<Flight>,
    pub outages: Outages,
    pub suspicions: Suspicions,
    /// What was looked up before the history has said what it knows.
    pub unrecorded: Vec<Configuration>,
    /// When this process is known to have stood still last.
    pub stood_still: MonotonicTime,
    pub mounts: TargetMounts,
    pub meter: SurroundingsMeter,
    pub configurations: Configurations,
    pub session: WatchSession,
    pub round_begin: MonotonicTime,
    pub round_intended: WallTime,
    pub lag: Nanoseconds,
    pub series: BTreeMap<Subject, Vec<SeriesKey>>,
    pub clocks: ClockWatch,
    pub tick_due: Option<MonotonicTime>,
    pub lookups: Lookups,
    historian: Historian,
    is_changed: bool,
    mounts_changed: bool,
    published: MonotonicTime,
    end: Option<WatchEnd>,
    is_leaving: bool,
}

impl<'a> Running<'a> {
    fn start(watch: Watch<'a>, limit: WatchLimit, observer: &'a mut dyn WatchObserver) -> Self {
        let Watch { plan, callbacks, runtime, spool, signals, identity, contacts, anchors } = watch;
        let anchor = anchors();
        let wall = WallTime(anchor.realtime_ns as i64);
        let kept = Checkpoint::read(runtime).unwrap_or_default();
        let session = WatchSession {
            host: plan.host.clone(),
            boot_id: identity.boot_id.clone(),
            begin: wall,
            last_seen: wall,
            end: SessionEnd::Open,
            iolag_version: identity.iolag_version.clone(),
        };
        let mut running = Self {
            plan,
            callbacks,
            runtime,
            signals,
            identity,
            anchors,
            ledger: Ledger::new(spool, observer),
            agenda: new_agenda(plan, identity, limit, anchor, &kept),
            flights: Vec::new(),
            outages: Outages::default(),
            suspicions: Suspicions::default(),
            unrecorded: Vec::new(),
            stood_still: MonotonicTime(0),
            mounts: TargetMounts::new(MountTable::read(), KnownMounts::read(runtime), &plan.targets),
            meter: SurroundingsMeter::open(std::path::Path::new("/proc")),
            configurations: identity.configurations.clone(),
            session,
            round_begin: anchor.monotonic_ns,
            round_intended: wall,
            lag: Nanoseconds::ZERO,
            series: BTreeMap::new(),
            clocks: ClockWatch::new(anchor),
            tick_due: None,
            historian: Historian::new(identity.history_deadline, identity.recall),
            lookups: Lookups::new(&plan.targets),
            is_changed: true,
            mounts_changed: true,
            published: MonotonicTime(0),
            end: None,
            is_leaving: false,
        };
        running.take_up_spooled();
        running.ledger.record(HistoryRecord::Session(running.session.clone()));
        running.describe_series();
        let known = running.configurations.clone();
        running.remember_mounts(known.all());
        running.learn_from_contacts(&contacts);
        running.resume(kept);
        running.look_for_missing_mounts();
        running.take_over_contacts(contacts);
        running.look_up_first();
        running.agenda.begin_at(MonotonicClock.now());
        running
    }

    /// What waits in the spool is newer than what the history knows.
    fn take_up_spooled(&mut self) {
        for record in self.ledger.spool.pending() {
            if let HistoryRecord::Configuration(known) = record
                && known.host == self.plan.host
            {
                self.configurations.take_up(known.clone());
            }
        }
    }

    fn watch(&mut self) -> WatchEnd {
        loop {
            self.look();
            // One that looks up what hangs is left to the next watch as a probe.
            if self.is_leaving || (self.agenda.is_over() && self.lookups.are_idle(MonotonicClock.now())) {
                return self.end.unwrap_or(WatchEnd::RoundsDone);
            }
            self.wait();
        }
    }

    fn look(&mut self) {
        let now = MonotonicClock.now();
        self.reap(now);
        self.listen();
        self.look_up(now);
        while let Some(action) = self.next_action() {
            self.carry_out(action);
        }
        self.repeat_hung(now);
        self.look_again(now);
        self.write_history(now);
        self.reap_strays();
        self.publish_if_due(now);
        self.ledger.tell_of_shortage(now);
        self.tick(now);
    }

    fn wait(&mut self) {
        let now = MonotonicClock.now();
        let mut awaited = vec![Awaited::Readable(self.signals.descriptor())];
        let mount_changes = self.mounts.table().descriptor().map(Awaited::Changed);
        awaited.extend(mount_changes);
        awaited.extend(self.flights.iter().flat_map(|flight| flight.process.awaited()));
        awaited.extend(self.historian.awaited());
        awaited.extend(self.lookups.awaited());
        let has_to_look = self.flights.iter().any(|flight| flight.process.has_to_be_looked_at())
            || self.historian.has_to_be_looked_at()
            || self.lookups.have_to_be_looked_at();
        let due = [
            self.next_wake(),
            self.historian.due(self.ledger.spool),
            self.lookups.due(),
            self.flights.iter().filter_map(Flight::repeat_due).min(),
            self.flights.iter().filter_map(|flight| flight.look_again).min(),
            self.is_changed.then(|| self.published.after(PUBLISH_INTERVAL)),
            self.tick_due,
            has_to_look.then(|| now.after(LOOK)),
        ];
        let limit = due.into_iter().flatten().min().map(|due| due.since(now));
        let has_come = wait_for_any(&awaited, limit);
        let woken = MonotonicClock.now();
        // Whoever stopped this process may have stopped its children, too.
        if limit.is_some_and(|limit| woken > now.after(limit).after(STANDSTILL)) {
            self.stood_still = woken;
        }
        // Without a descriptor the table is read at every look. The kernel tells of a change once.
        self.mounts_changed |= mount_changes.is_none() || has_come.get(1) == Some(&true);
    }

    fn listen(&mut self) {
        while let Some(signal) = self.signals.next() {
            let end = if signal == SIGHUP { WatchEnd::HungUp } else { WatchEnd::Stopped };
            if let Some(former) = self.end {
                // A second stop means: at once. One after a hang-up is the first, and a second hang-up says nothing new.
                self.is_leaving |= (former, end) == (WatchEnd::Stopped, WatchEnd::Stopped);
                self.end = Some(if end == WatchEnd::Stopped { end } else { former });
                continue;
            }
            self.end = Some(end);
            self.lookups.stop();
            self.take_over_lookups(MonotonicClock.now(), Patience::None);
            for (probe, step) in self.agenda.stop(MonotonicClock.now(), STOP_GRACE) {
                if let Some(flight) = self.flights.iter_mut().find(|flight| flight.probe() == probe) {
                    flight.interruption = Interruption::Stop;
                }
                self.advance(probe, step);
            }
        }
    }

    /// The circumstances of the first samples are looked up before they are taken, unless that takes too long.
    fn look_up_first(&mut self) {
        let until = MonotonicClock.now().after(FIRST_LOOKUP);
        loop {
            let now = MonotonicClock.now();
            self.look_up(now);
            if self.lookups.are_idle(now) || now >= until {
                return;
            }
            let mut awaited: Vec<_> = self.lookups.awaited().collect();
            awaited.push(Awaited::Readable(self.signals.descriptor()));
            let limit = if self.lookups.have_to_be_looked_at() { LOOK } else { until.since(now) };
            // A signal is heeded once the watch has begun; it is not waited for here.
            if wait_for_any(&awaited, Some(limit)).last() == Some(&true) {
                return;
            }
        }
    }

    fn look_up(&mut self, now: MonotonicTime) {
        if std::mem::take(&mut self.mounts_changed) {
            self.look_at_mounts();
        }
        for (target, finding) in self.lookups.look(now) {
            self.heed_canary(target, &finding);
            let Finding::Facts(facts) = finding else { continue };
            // Those of what shows beneath are not the target's.
            if self.mounts.missing(target).is_some() {
                continue;
            }
            let name = &self.plan.targets[target].name;
            let is_new = self.configurations.key_of(name).is_none();
            let wall = self.wall();
            let Some((configuration, event)) = self.configurations.found(&self.plan.host, name, facts, wall)
            else {
                continue;
            };
            if is_new && self.historian.recall() == Recall::Done {
                self.go_on_under_new_name(name);
            }
            // What shows where the history has seen something mounted is not the target's; it may say so later.
            match self.historian.recall() {
                Recall::Done => self.ledger.record(HistoryRecord::Configuration(configuration)),
                Recall::Due | Recall::DueAfter(_) => self.unrecorded.push(configuration),
            }
            if let Some(event) = event {
                self.ledger.record(HistoryRecord::Event(event));
            }
        }
        self.take_over_lookups(now, Patience::UntilGivenUp);
        self.ask_the_silent(now);
        if self.end.is_none() {
            let is_blocked = |mount: &MountKey, reason: Reason| {
                let on_it = self.flights.iter().filter(|flight| flight.mount == *mount);
                on_it.filter(|flight| reason == Reason::Routine || !flight.stamps.has_left_place()).count()
                    > 0
            };
            self.lookups.start(&self.plan.targets, self.callbacks.facts, now, &self.mounts, is_blocked);
        }
    }

    /// Lets the kernel forget children that nobody looks after any more: of an earlier watch in this process, or of who was asked before.
    fn reap_strays(&self) {
        let owned: Vec<u32> = self
            .flights
            .iter()
            .filter_map(|flight| flight.process.child())
            .chain(self.lookups.processes())
            .chain(self.historian.process())
            .collect();
        reap_strays(|process| owned.contains(&process));
    }

    /// Reads the table of mounts again, and heeds what has changed.
    pub fn look_at_mounts(&mut self) {
        if let Some(targets) = self.mounts.refresh() {
            self.lookups.again(&targets, MonotonicClock.now());
            self.end_outages_of_changed_mounts();
            self.look_for_missing_mounts();
        }
    }

    /// A round has ended.
    pub fn round_ended(&mut self, round: u64) {
        self.session.last_seen = self.wall();
        self.ledger.record(HistoryRecord::Session(self.session.clone()));
        self.historian.nudge();
        self.is_changed = true;
        self.ledger.observer.round_ended(round);
    }

    /// The series of a subject, that of the whole first.
    pub fn series_of(&self, subject: Subject) -> &[SeriesKey] {
        self.series.get(&subject).map_or(&[], Vec::as_slice)
    }

    /// Something that the status shows has changed.
    pub const fn changed(&mut self) {
        self.is_changed = true;
    }

    /// Why the history could not be written, or the spool has no room.
    pub fn trouble(&self) -> Option<String> {
        match (self.historian.trouble(), self.ledger.spool.trouble()) {
            (Some(history), Some(spool)) => Some(format!("{history}; {spool}")),
            (history, spool) => history.map(str::to_owned).or(spool),
        }
    }

    fn write_history(&mut self, now: MonotonicTime) {
        let before = (self.ledger.spool.pending().len(), self.trouble());
        self.look_at_history(now);
        self.is_changed |= before != (self.ledger.spool.pending().len(), self.trouble());
    }

    fn look_at_history(&mut self, now: MonotonicTime) {
        let Callbacks { recall, remember, .. } = self.callbacks;
        if let Some(recollection) = self.historian.look(self.ledger.spool, recall, remember, now) {
            self.recalled(recollection);
        }
    }

    fn publish_if_due(&mut self, now: MonotonicTime) {
        if self.is_changed && now.since(self.published) >= PUBLISH_INTERVAL {
            self.publish(now);
        }
    }

    fn publish(&mut self, now: MonotonicTime) {
        self.published = now;
        self.is_changed = false;
        let published = crate::memory::status_file::publish(self.runtime, &self.status());
        self.ledger.kept(RuntimeFile::Status, published);
    }

    fn finish(mut self, end: WatchEnd) -> WatchSummary {
        let now = MonotonicClock.now();
        self.record_still_hung(now);
        self.session.last_seen = self.wall();
        self.session.end = SessionEnd::Stopped;
        self.ledger.record(HistoryRecord::Session(self.session.clone()));
        self.keep();
        // Who writes the history last may tell what the status says.
        self.publish(MonotonicClock.now());
        let end = self.write_history_last(end);
        self.lookups.leave();
        self.historian.leave();
        self.publish(MonotonicClock.now());
        self.ledger.tell_of_shortage(MonotonicClock.now());
        WatchSummary {
            end,
            rounds: self.agenda.rounds(),
            left_behind: self.probe_statuses(),
            waiting_records: self.ledger.spool.pending().len(),
            history_trouble: self.trouble(),
            recall: self.historian.recall(),
            configurations: self.configurations,
        }
    }

    /// Writes what waits. Says how the watch ends, since it may be told to stop meanwhile.
    fn write_history_last(&mut self, mut end: WatchEnd) -> WatchEnd {
        let until = MonotonicClock.now().after(LAST_WRITING);
        self.historian.hurry();
        loop {
            let now = MonotonicClock.now();
            self.look_at_history(now);
            while let Some(signal) = self.signals.next() {
                match (end, signal) {
                    (WatchEnd::HungUp, SIGHUP) => {}
                    (WatchEnd::HungUp, _) => end = WatchEnd::Stopped,
                    // A second signal means: leave at once.
                    _ => self.is_leaving = true,
                }
            }
            if self.historian.has_finished(self.ledger.spool) || self.is_leaving || now >= until {
                return end;
            }
            let mut awaited: Vec<_> = self.historian.awaited().collect();
            awaited.push(Awaited::Readable(self.signals.descriptor()));
            let due = self.historian.due(self.ledger.spool).unwrap_or(until).min(until);
            let limit = if self.historian.has_to_be_looked_at() { LOOK } else { due.since(now) };
            wait_for_any(&awaited, Some(limit));
        }
    }
}

fn new_agenda(
    plan: &WatchPlan,
    identity: &WatchIdentity,
    limit: WatchLimit,
    anchor: Anchor,
    kept: &Checkpoint,
) -> Agenda {
    let schedule = Schedule::new(anchor.monotonic_ns, plan.period, plan.jitter, identity.seed);
    let tag = tag_of(std::process::id(), &plan.runtime_directory);
    let first = first_probe(anchor.realtime_ns / 1_000_000_000, kept.next_probe, tag);
    Agenda::new(schedule, provisions(plan), plan.orphans_max, limit, first)
}
