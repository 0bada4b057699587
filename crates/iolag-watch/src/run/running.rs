//! Running a watch: one thread that waits for whatever comes first and does what is due, and nothing in between.
//!
//! Order of a look: what has ended, what somebody wants, what was looked up, what the agenda says, what is to be written, what is to
//! be shown. Nothing here touches a target, a home or a history; children do, and may hang.

use iolag_keeper::{Awaited, reap_strays, wait_for_any};
use iolag_model::{
    Anchor, Clock, MonotonicClock, MonotonicTime, Nanoseconds, SessionEnd, WallTime, WatchSession,
};

use crate::agenda::probe_ids::{first_probe, tag_of};
use crate::agenda::subjects::provisions;
use crate::memory::historian::Historian;
use crate::memory::ledger::Ledger;
use crate::probe::checkpoint::Checkpoint;
use crate::probe::process::LOOK;
use crate::run::outstanding::Outstanding;
use crate::run::probing::Probing;
use crate::run::status::StatusPublisher;
use crate::run::stop_requests::{StopNews, StopRequests};
use crate::run::watch::{Callbacks, Watch, WatchEnd, WatchIdentity, WatchSummary};
use crate::world::wall_clock::WallClock;
use crate::{Agenda, Schedule, WatchLimit, WatchObserver, WatchPlan};

/// How long the first round waits for the circumstances to be known.
const FIRST_LOOKUP: Nanoseconds = Nanoseconds::from_seconds(2);
/// Between SIGTERM and SIGKILL, and from there on, when the watch stops.
const STOP_GRACE: Nanoseconds = Nanoseconds::from_seconds(1);
/// How long the last writing of the history may take.
const LAST_WRITING: Nanoseconds = Nanoseconds::from_seconds(30);
/// A wait that lasts so much longer than it was to was one of the whole machine, or of this process.
const STANDSTILL: Nanoseconds = Nanoseconds::from_seconds(1);

impl Watch<'_> {
    /// Watches until `limit`, or until a signal comes. The caller has one thread and has left every directory that may hang.
    pub fn run(self, limit: WatchLimit, observer: &mut dyn WatchObserver) -> WatchSummary {
        let mut running = Running::start(self, limit, observer);
        let end = running.watch();
        running.finish(end)
    }
}

/// A watch under way.
struct Running<'a> {
    callbacks: Callbacks<'a>,
    probing: Probing<'a>,
    historian: Historian,
    status: StatusPublisher<'a>,
    stop: StopRequests<'a>,
}

impl<'a> Running<'a> {
    fn start(watch: Watch<'a>, limit: WatchLimit, observer: &'a mut dyn WatchObserver) -> Self {
        let Watch { plan, callbacks, runtime, spool, signals, identity, contacts, anchors } = watch;
        let clock = WallClock::new(anchors);
        let anchor = clock.last();
        let kept = Checkpoint::read(runtime).unwrap_or_default();
        let agenda = new_agenda(plan, identity, limit, anchor, &kept);
        let ledger = Ledger::new(spool, observer, clock, new_session(plan, identity, anchor));
        let outstanding = Outstanding::new(plan, runtime, &identity.boot_id, ledger, agenda);
        let mut running = Self {
            callbacks,
            probing: Probing::new(plan, callbacks, identity.configurations.clone(), outstanding),
            historian: Historian::new(identity.history_deadline, identity.recall),
            status: StatusPublisher::new(identity, runtime),
            stop: StopRequests::new(signals),
        };
        running.probing.take_up(kept, identity, contacts);
        running.look_up_first();
        running.probing.outstanding_mut().begin_rounds();
        running
    }

    fn watch(&mut self) -> WatchEnd {
        loop {
            self.look();
            let outstanding = self.probing.outstanding();
            // One that looks up what hangs is left to the next watch as a probe.
            let is_over = outstanding.agenda().is_over()
                && outstanding.health().lookups().are_idle(MonotonicClock.now());
            if self.stop.is_urgent() || is_over {
                return self.stop.end().unwrap_or(WatchEnd::RoundsDone);
            }
            self.wait();
        }
    }

    fn look(&mut self) {
        let now = MonotonicClock.now();
        self.probing.outstanding_mut().reap(now);
        if self.stop.listen() == StopNews::First {
            self.probing.stop(MonotonicClock.now(), STOP_GRACE);
        }
        self.look_up(now);
        self.probing.act(&mut self.historian);
        self.probing.outstanding_mut().repeat_hung(now);
        self.probing.outstanding_mut().look_again(now);
        self.write_history(now);
        self.reap_strays();
        let trouble = self.trouble();
        self.status.publish_if_due(now, &mut self.probing, trouble);
        let outstanding = self.probing.outstanding_mut();
        outstanding.ledger_mut().tell_of_shortage(now);
        self.status.tick(now, outstanding);
    }

    fn wait(&mut self) {
        let now = MonotonicClock.now();
        let outstanding = self.probing.outstanding();
        let mount_changes = outstanding.health().mount_changes();
        let mut awaited = vec![self.stop.awaited()];
        awaited.extend(mount_changes);
        awaited.extend(outstanding.awaited());
        awaited.extend(self.historian.awaited());
        let has_to_look = outstanding.has_to_be_looked_at() || self.historian.has_to_be_looked_at();
        let due = [
            outstanding.due(),
            self.historian.due(outstanding.ledger().spool()),
            self.status.due(&self.probing),
            has_to_look.then(|| now.after(LOOK)),
        ];
        let limit = due.into_iter().flatten().min().map(|due| due.since(now));
        let has_come = wait_for_any(&awaited, limit);
        let woken = MonotonicClock.now();
        // Without a descriptor the table is read at every look. The kernel tells of a change once.
        let mounts_changed = mount_changes.is_none() || has_come.get(1) == Some(&true);
        // Whoever stopped this process may have stopped its children, too.
        if limit.is_some_and(|limit| woken > now.after(limit).after(STANDSTILL)) {
            self.probing.outstanding_mut().stood_still(woken);
        }
        if mounts_changed {
            self.probing.outstanding_mut().mounts_may_have_changed();
        }
    }

    fn look_up(&mut self, now: MonotonicTime) {
        self.probing.look_up(now, self.historian.recall());
    }

    /// The circumstances of the first samples are looked up before they are taken, unless that takes too long.
    fn look_up_first(&mut self) {
        let until = MonotonicClock.now().after(FIRST_LOOKUP);
        loop {
            let now = MonotonicClock.now();
            self.look_up(now);
            let lookups = self.probing.outstanding().health().lookups();
            if lookups.are_idle(now) || now >= until {
                return;
            }
            let awaited: Vec<Awaited<'_>> = lookups.awaited().chain([self.stop.awaited()]).collect();
            let limit = if lookups.have_to_be_looked_at() { LOOK } else { until.since(now) };
            // A signal is heeded once the watch has begun; it is not waited for here.
            if wait_for_any(&awaited, Some(limit)).last() == Some(&true) {
                return;
            }
        }
    }

    /// Lets the kernel forget children that nobody looks after any more: of an earlier watch in this process, or of who was asked before.
    fn reap_strays(&self) {
        let owned: Vec<u32> = self.probing.outstanding().children().chain(self.historian.process()).collect();
        reap_strays(|process| owned.contains(&process));
    }

    /// Why the history could not be written, or the spool has no room.
    fn trouble(&self) -> Option<String> {
        match (self.historian.trouble(), self.probing.outstanding().ledger().spool().trouble()) {
            (Some(history), Some(spool)) => Some(format!("{history}; {spool}")),
            (history, spool) => history.map(str::to_owned).or(spool),
        }
    }

    /// How many records the history does not have yet.
    fn waiting_records(&self) -> usize {
        self.probing.outstanding().ledger().spool().pending().len()
    }

    fn write_history(&mut self, now: MonotonicTime) {
        let before = (self.waiting_records(), self.trouble());
        self.look_at_history(now);
        if before != (self.waiting_records(), self.trouble()) {
            self.probing.outstanding_mut().ledger_mut().changed();
        }
    }

    fn look_at_history(&mut self, now: MonotonicTime) {
        let Callbacks { recall, remember, .. } = self.callbacks;
        let spool = self.probing.outstanding_mut().ledger_mut().spool_mut();
        if let Some(recollection) = self.historian.look(spool, recall, remember, now) {
            self.probing.recalled(&recollection);
        }
    }

    fn publish(&mut self) {
        let trouble = self.trouble();
        self.status.publish(MonotonicClock.now(), &mut self.probing, trouble);
    }

    fn finish(mut self, end: WatchEnd) -> WatchSummary {
        self.probing.outstanding_mut().conclude(MonotonicClock.now());
        // Who writes the history last may tell what the status says.
        self.publish();
        let end = self.write_history_last(end);
        self.probing.outstanding_mut().leave();
        self.historian.leave();
        self.publish();
        self.probing.outstanding_mut().ledger_mut().tell_of_shortage(MonotonicClock.now());
        WatchSummary {
            end,
            rounds: self.probing.outstanding().agenda().rounds(),
            left_behind: self.probing.outstanding().statuses(),
            waiting_records: self.waiting_records(),
            history_trouble: self.trouble(),
            recall: self.historian.recall(),
            configurations: self.probing.into_configurations(),
        }
    }

    /// Writes what waits. Says how the watch ends, since it may be told to stop meanwhile.
    fn write_history_last(&mut self, mut end: WatchEnd) -> WatchEnd {
        let until = MonotonicClock.now().after(LAST_WRITING);
        self.historian.hurry();
        loop {
            let now = MonotonicClock.now();
            self.look_at_history(now);
            end = self.stop.listen_while_leaving(end);
            let spool = self.probing.outstanding().ledger().spool();
            if self.historian.has_finished(spool) || self.stop.is_urgent() || now >= until {
                return end;
            }
            let awaited: Vec<Awaited<'_>> = self.historian.awaited().chain([self.stop.awaited()]).collect();
            let due = self.historian.due(spool).unwrap_or(until).min(until);
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

fn new_session(plan: &WatchPlan, identity: &WatchIdentity, anchor: Anchor) -> WatchSession {
    let begin = WallTime(anchor.realtime_ns as i64);
    WatchSession {
        host: plan.host.clone(),
        boot_id: identity.boot_id.clone(),
        begin,
        last_seen: begin,
        end: SessionEnd::Open,
        iolag_version: identity.iolag_version.clone(),
    }
}
