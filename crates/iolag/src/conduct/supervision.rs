//! The keeper's watch over a run: signals, deadlines, endings. It never blocks and touches nothing but its children, the
//! shared memory and /proc.

use std::collections::{BTreeMap, BTreeSet};

use iolag_keeper::{
    Ending, Exchange, Halt, Hang, HangWatch, KeeperRing, Messenger, Sleeps, evidence, halt, processor_use,
};
use iolag_model::{
    Activity, Anchor, AttemptId, ClientId, ClientRecord, Clock, Coordinator, Detail, DetailKind, FailureCode,
    MonotonicClock, MonotonicTime, Nanoseconds, OnHang, Operation, Outcome, RunRecord, Sample, counted,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::attendant::{Attendance, Attendant, Round};
use super::halting::{self, Halted, Halting};
use super::interruption::{Interruption, Wish};
use super::messages::{FromMeasurer, MeasurerEnd, ToWriter, heard};
pub use super::policy::{AtSignal, Policy, Schedule};
pub use super::watched::{Placed, Watched};
use super::writing::Writing;

/// How often the keeper looks at everything.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(50);
/// How long a client may take to stop when it is told to.
const STOP_GRACE: Nanoseconds = Nanoseconds::from_seconds(5);
/// How long each signal is given to take effect.
const SIGNAL_GRACE: Nanoseconds = Nanoseconds::from_seconds(1);
/// How often clocks are read together.
const ANCHOR_EVERY: Nanoseconds = Nanoseconds::from_seconds(60);

/// A measurer and what it has said.
pub struct Measurer {
    /// The process, and the conversation with it.
    pub messenger: Messenger,
    /// The clients that it runs.
    pub clients: Vec<u32>,
    /// What to call it: its targets.
    pub name: String,
    end: Option<MeasurerEnd>,
    /// No longer waited for: ended, or abandoned.
    done: bool,
    stop_since: Option<MonotonicTime>,
    silence: Silence,
    halting: Halting,
}

/// Since when a measurer has neither run a client nor used its processor: it waits for its file system in what it does
/// before and after its clients, which is making and removing working directories.
#[derive(Debug, Clone, Copy)]
struct Silence {
    since: MonotonicTime,
    processor_use: u64,
}

impl Measurer {
    /// A measurer that has just been started.
    pub fn new(messenger: Messenger, clients: Vec<u32>, name: String) -> Self {
        let now = MonotonicClock.now();
        let silence = Silence { since: now, processor_use: 0 };
        let halting = Halting::new(now);
        Self { messenger, clients, name, end: None, done: false, stop_since: None, silence, halting }
    }
}

/// Watches until every measurer has ended or is abandoned.
pub fn watch(
    record: &RunRecord,
    exchange: &Exchange,
    measurers: &mut [Measurer],
    writing: &mut Writing,
    interruption: &mut Interruption<'_>,
    policy: Policy,
    attendant: &mut dyn Attendant,
) -> Watched {
    let mut watch = Watch {
        exchange,
        ring: exchange.keeper_ring(),
        hangs: HangWatch::new(exchange.clients(), policy.deadline, MonotonicClock.now()),
        sleeps: Sleeps::new(MonotonicClock.now()),
        policy,
        watched: Watched { anchors: vec![Anchor::take()], ..Watched::default() },
        unfinished: BTreeSet::new(),
        unrecorded: 0,
        is_over: false,
        names: names_of_clients(record),
        targets: record.clients.iter().map(|client| (client.client.0, client.target.0)).collect(),
    };
    if let Some(name) = interruption.told() {
        watch.stop(name, attendant);
    }
    loop {
        wait_for_anything(measurers, writing, interruption);
        let now = MonotonicClock.now();
        if let Some(slept) = watch.sleeps.look(now) {
            attendant.say(&halting::slept_for(slept));
        }
        measurers.iter_mut().for_each(|measurer| watch.hear(measurer, writing, attendant));
        match interruption.listen() {
            Wish::GoOn => {}
            Wish::Stop(name) => watch.stop(name, attendant),
            Wish::Leave => {
                leave_measurers(measurers);
                return watch.watched;
            }
        }
        writing.look(exchange, now);
        if writing.trouble().is_some() {
            (0..exchange.clients()).for_each(|client| exchange.set_noted(client));
        }
        watch.look_at_halts(measurers, writing, now, attendant);
        watch.look_at_clients(measurers, now, attendant);
        watch.look_at_endings(measurers, writing, now, attendant);
        watch.take_anchor(now);
        watch.attend(measurers, attendant);
        if measurers.iter().all(|measurer| measurer.done) {
            break;
        }
    }
    watch.finish(measurers, attendant)
}

struct Watch<'a> {
    exchange: &'a Exchange,
    ring: KeeperRing,
    hangs: HangWatch,
    /// When the keeper did not run: that counts for no deadline.
    sleeps: Sleeps,
    policy: Policy,
    watched: Watched,
    /// Attempts that were recorded as not ended for the last time.
    unfinished: BTreeSet<AttemptId>,
    /// Samples of the keeper that found no room in its ring.
    unrecorded: u64,
    /// Whether nothing more is to be measured.
    is_over: bool,
    /// What each client is called.
    names: BTreeMap<u32, String>,
    /// Where each client works.
    targets: BTreeMap<u32, u16>,
}

/// A number says nothing to a user: where the client works does, which is one directory of several that a measurer may have.
fn names_of_clients(record: &RunRecord) -> BTreeMap<u32, String> {
    let named = |client: &ClientRecord| {
        let target = record.targets.get(usize::from(client.target.0))?;
        Some((client.client.0, format!("client {} in {}", client.client.0, target.name)))
    };
    record.clients.iter().filter_map(named).collect()
}

/// Nobody waits for them any more. They die with the keeper; what they started (a compiler, an `ls`) would not.
fn leave_measurers(measurers: &[Measurer]) {
    for measurer in measurers.iter().filter(|measurer| !measurer.done) {
        measurer.messenger.child().signal_group(Signal::KILL);
    }
}

fn wait_for_anything(measurers: &[Measurer], writing: &Writing, interruption: &Interruption<'_>) {
    let limit = Timespec { tv_sec: 0, tv_nsec: LOOK.0 as i64 };
    let mut descriptors = vec![PollFd::from_borrowed_fd(interruption.signals().descriptor(), PollFlags::IN)];
    for measurer in measurers.iter().filter(|measurer| !measurer.done) {
        if let Some(descriptor) = measurer.messenger.child().descriptor() {
            descriptors.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        }
        // It waits until its place is noted.
        if let Some(incoming) = measurer.messenger.incoming() {
            descriptors.push(PollFd::from_borrowed_fd(incoming, PollFlags::IN));
        }
    }
    if let Some(descriptor) = writing.descriptor() {
        descriptors.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
    }
    // Interrupted or not, the loop looks at everything.
    let _ = poll(&mut descriptors, Some(&limit));
}

impl Watch<'_> {
    fn hear(&mut self, measurer: &mut Measurer, writing: &mut Writing, attendant: &mut dyn Attendant) {
        for message in heard::<FromMeasurer>(&mut measurer.messenger) {
            match message {
                FromMeasurer::Placing(placing) => self.watched.placing.push(placing),
                FromMeasurer::Placed(placed) => {
                    attendant.placed();
                    self.watched.placing.retain(|placing| placing.target != placed.target);
                    writing.order(&ToWriter::Placed(placed.clone()));
                    self.watched.places.push(placed);
                }
                FromMeasurer::SetUp { target, took, outcome } => {
                    self.watched.set_up.insert(target, (took, outcome));
                }
                FromMeasurer::Removed { target } => {
                    self.watched.removed.insert(target);
                }
                FromMeasurer::Calibrated(calibration) => {
                    self.watched.calibration.get_or_insert(calibration);
                }
                FromMeasurer::Remark(remark) => self.watched.remarks.push(remark),
                FromMeasurer::Failed { target, sentence } => {
                    self.watched.unusable.push((target, sentence));
                }
                FromMeasurer::Ended(end) => measurer.end = Some(end),
            }
        }
    }

    fn stop(&mut self, name: &str, attendant: &mut dyn Attendant) {
        attendant.stopping(name);
        if self.policy.at_signal == AtSignal::Incomplete {
            self.watched.reasons.push(name.to_owned());
        }
        self.end_all();
    }

    /// Nothing more is measured. What hangs on an open schedule has been waited for until now.
    fn end_all(&mut self) {
        self.is_over = true;
        self.exchange.coordinator().stop_all();
        if self.policy.schedule == Schedule::Open {
            let now = MonotonicClock.now();
            for (client, _) in self.hangs.still_hung(now) {
                self.exchange.coordinator().give_up(client, now);
            }
        }
    }

    fn attend(&mut self, measurers: &[Measurer], attendant: &mut dyn Attendant) {
        let anchor = Anchor::take();
        let attendance = attendant.look(&Round { exchange: self.exchange, measurers, anchor });
        for sample in attendant.records(anchor.monotonic_ns) {
            self.record(sample);
        }
        if attendance == Attendance::Over && !self.is_over {
            self.end_all();
        }
    }

    fn look_at_clients(&mut self, measurers: &[Measurer], now: MonotonicTime, attendant: &mut dyn Attendant) {
        let moving = measurers.iter().filter(|measurer| measurer.halting.since().is_none());
        let clients = moving.flat_map(|measurer| measurer.clients.iter().copied());
        for hang in self.hangs.look(self.exchange, clients, &self.sleeps, now) {
            match hang {
                Hang::Began { client, sample } | Hang::Stalled { client, sample } => {
                    self.watched.past_deadline += 1;
                    self.record_hung(client, sample);
                    attendant.hang(&hang, &self.name(client));
                    self.act_upon_hang(client);
                }
                Hang::Ended { client, sample, .. } => {
                    if let Some(sample) = sample {
                        self.record(sample);
                    }
                    attendant.hang(&hang, &self.name(client));
                }
            }
        }
        for (client, sample) in self.hangs.still_hung(now) {
            let age = self.sleeps.awake(sample.start, now);
            if age > self.policy.give_up_after && self.exchange.is_expected(client) {
                self.give_up(client);
            }
        }
    }

    fn act_upon_hang(&mut self, client: u32) {
        match self.policy.on_hang {
            OnHang::Wait => {}
            OnHang::Continue => self.give_up(client),
            OnHang::Stop => {
                self.give_up(client);
                if !self.exchange.coordinator().is_stopping() {
                    let reason = format!("stopped because {} hung", self.name(client));
                    self.watched.reasons.push(reason);
                    self.exchange.coordinator().stop_all();
                }
            }
        }
    }

    fn give_up(&mut self, client: u32) {
        self.exchange.coordinator().give_up(client, MonotonicClock.now());
        self.watched.left_behind.insert(client);
    }

    fn name(&self, client: u32) -> String {
        self.names.get(&client).cloned().unwrap_or_else(|| format!("client {client}"))
    }

    fn record(&mut self, sample: Sample) {
        self.unrecorded += u64::from(!self.ring.record(sample));
    }

    /// There may be more than the keeper's ring holds: the writer is given a moment to take them.
    fn record_last(&mut self, samples: Vec<Sample>) {
        const PAUSE: Nanoseconds = Nanoseconds::from_milliseconds(5);
        let end = MonotonicClock.now().after(STOP_GRACE);
        for sample in samples {
            while !self.ring.record(sample) {
                if MonotonicClock.now() > end {
                    self.unrecorded += 1;
                    break;
                }
                MonotonicClock.sleep_until(MonotonicClock.now().after(PAUSE));
            }
        }
    }

    fn record_hung(&mut self, client: u32, sample: Sample) {
        self.record(sample);
        if let Some((process, thread)) = self.exchange.thread(client) {
            let text = evidence(process, thread);
            self.ring.record_detail(&Detail { attempt: sample.attempt, kind: DetailKind::Waiting, text });
        }
    }

    fn look_at_endings(
        &mut self,
        measurers: &mut [Measurer],
        writing: &mut Writing,
        now: MonotonicTime,
        attendant: &mut dyn Attendant,
    ) {
        for measurer in measurers.iter_mut().filter(|measurer| !measurer.done) {
            if let Some(ending) = measurer.messenger.child_mut().ending() {
                // What it said last came between the last hearing and its end.
                self.hear(measurer, writing, attendant);
                self.measurer_ended(measurer, ending, attendant);
            } else if self.is_silent(measurer, now) {
                self.record_silence(measurer, now, attendant);
                self.end_measurer(measurer, writing, attendant);
            } else if self.only_given_up_are_left(measurer) || self.overstays(measurer, now) {
                self.end_measurer(measurer, writing, attendant);
            }
        }
    }

    /// Ends measurers that somebody stopped and did not let go on within the deadline. Looked at before the clients: what these
    /// wait for meanwhile is not the file system.
    fn look_at_halts(
        &mut self,
        measurers: &mut [Measurer],
        writing: &mut Writing,
        now: MonotonicTime,
        attendant: &mut dyn Attendant,
    ) {
        let limit = match self.exchange.coordinator().is_stopping() {
            true => self.policy.deadline.min(STOP_GRACE),
            false => self.policy.deadline,
        };
        for measurer in measurers.iter_mut().filter(|measurer| !measurer.done) {
            let process = measurer.messenger.child().id();
            let Some(halted) = measurer.halting.look(process, &self.sleeps, now) else { continue };
            // What it would do with its processor it cannot do.
            measurer.silence.since = now;
            if halted.age > limit {
                self.watched.past_deadline += 1;
                self.record_halt(measurer, halted);
                self.end_measurer(measurer, writing, attendant);
            }
        }
    }

    /// What was not measured is told with its target.
    fn record_halt(&mut self, measurer: &Measurer, halted: Halted) {
        let reason =
            format!("the measurer of {} was {halted}, past its deadline, and was ended", measurer.name);
        let unended = |client: &&u32| self.exchange.activity(**client).0 != Activity::Ended;
        let targets: BTreeSet<u16> = measurer
            .clients
            .iter()
            .filter(unended)
            .filter_map(|client| self.targets.get(client).copied())
            .collect();
        if targets.is_empty() {
            self.watched.reasons.push(reason.clone());
        }
        self.watched.halted.extend(targets.into_iter().map(|target| (target, reason.clone())));
    }

    fn end_measurer(
        &mut self,
        measurer: &mut Measurer,
        writing: &mut Writing,
        attendant: &mut dyn Attendant,
    ) {
        let why =
            measurer.halting.present().map_or_else(String::new, |halted| format!(", which was {halted}"));
        attendant.say(&format!("ending the measurer of {}{why}", measurer.name));
        let child = measurer.messenger.child_mut();
        let (process, name) = (child.id(), &measurer.name);
        let who = if child.end(SIGNAL_GRACE).is_none() {
            Some(format!("process {process}, which measured {name}"))
        } else if child.has_left_something(SIGNAL_GRACE) {
            Some(format!("a program of process group {process}, which ran in {name}"))
        } else {
            None
        };
        let why = match halt(process) {
            Some(Halt::Frozen) => {
                "is frozen with its control group and cannot be ended; it goes when that is thawed"
            }
            _ => "waits in the kernel and cannot be ended; it goes when the file system answers",
        };
        self.watched.abandoned.extend(who.map(|who| format!("{who}, {why}")));
        self.sleeps.waited(MonotonicClock.now());
        self.hear(measurer, writing, attendant);
        self.record_unfinished(measurer, attendant);
        measurer.done = true;
    }

    /// Whether the measurer runs no client and has not used its processor for longer than the deadline.
    fn is_silent(&self, measurer: &mut Measurer, now: MonotonicTime) -> bool {
        let idle = measurer
            .clients
            .iter()
            .all(|client| matches!(self.exchange.activity(*client).0, Activity::Unstarted | Activity::Ended));
        let used = if idle { processor_use(measurer.messenger.child().id()).unwrap_or(0) } else { 0 };
        if !idle || used != measurer.silence.processor_use {
            measurer.silence = Silence { since: now, processor_use: used };
        }
        let is_unstarted = |client: &u32| self.exchange.activity(*client).0 == Activity::Unstarted;
        match self.policy.schedule {
            Schedule::Closed => self.sleeps.awake(measurer.silence.since, now) > self.policy.deadline,
            // Until the end what hangs before the clients is waited for; after it only a clean-up is.
            Schedule::Open => {
                let is_making = measurer.clients.iter().any(is_unstarted) && !self.is_over;
                !is_making && self.sleeps.awake(measurer.silence.since, now) > STOP_GRACE
            }
        }
    }

    /// A measurer that hangs before its clients began measures nothing: each of them is on record as hung while its session
    /// was opened. One that hangs after its clients ended has only its clean-up left.
    fn record_silence(&mut self, measurer: &Measurer, now: MonotonicTime, attendant: &mut dyn Attendant) {
        let process = measurer.messenger.child().id();
        let since = measurer.silence.since;
        let age = now.since(since);
        let unstarted = |client: &u32| self.exchange.activity(*client).0 == Activity::Unstarted;
        let waiting: Vec<u32> = measurer.clients.iter().copied().filter(unstarted).collect();
        let what = if waiting.is_empty() { "cleaning up" } else { "making the working directory" };
        let reason = format!("{what} in {} has not been answered for {age}", measurer.name);
        attendant.say(&reason);
        self.watched.past_deadline += 1;
        // On an open schedule the attendant tells how long the first contact has been waited for in all.
        if self.policy.schedule == Schedule::Closed || waiting.is_empty() {
            self.watched.reasons.push(reason);
        }
        let placing: BTreeSet<u16> = self.watched.placing.iter().map(|place| place.target).collect();
        let targets = waiting.iter().filter_map(|client| self.targets.get(client));
        self.watched.hung.extend(targets.filter(|target| placing.contains(target)));
        for client in waiting {
            // No client comes to the last sequence number, so the record stands for itself.
            let attempt = AttemptId::new(ClientId(client), u64::MAX);
            let sample = Sample::new(attempt, Operation::OpenSession, since, since, age)
                .with_outcome(Outcome::Hung, FailureCode::ABANDONED);
            self.record(sample);
            self.watched.still_hung += 1;
            let text = evidence(process, process);
            self.ring.record_detail(&Detail { attempt, kind: DetailKind::Waiting, text });
        }
    }

    fn measurer_ended(&mut self, measurer: &mut Measurer, ending: Ending, attendant: &mut dyn Attendant) {
        measurer.done = true;
        let cause = match ending {
            Ending::Exited(0) => return,
            Ending::Exited(70) => format!("by a bug in iolag ({})", measurer.messenger.last_words()),
            // It has said why.
            Ending::Exited(_) => String::new(),
            Ending::Killed(signal) => format!("by signal {signal}"),
        };
        if !cause.is_empty() {
            self.watched.reasons.push(format!("the measurer of {} was ended {cause}", measurer.name));
        }
        self.record_unfinished(measurer, attendant);
    }

    /// Operations that were in flight when their process ended are censored at their age. The others no longer wait for
    /// these clients.
    fn record_unfinished(&mut self, measurer: &Measurer, attendant: &mut dyn Attendant) {
        let halted = measurer.halting.since();
        let now = halted.unwrap_or_else(|| MonotonicClock.now());
        let ends = halted.is_some() || self.exchange.coordinator().is_stopping();
        for client in measurer.clients.iter().copied() {
            if let Some(flight) = self.exchange.in_flight(client) {
                // While its process stood still nobody asked the file system anything.
                let age = now.since(flight.start);
                // What is cut short by the end has not hung.
                let is_cut = ends && age <= self.policy.deadline;
                let (outcome, code) = match is_cut {
                    true => (Outcome::Interrupted, FailureCode::CUT),
                    false => (Outcome::Hung, FailureCode::ABANDONED),
                };
                let sample =
                    Sample::new(flight.attempt, flight.operation, flight.intended, flight.start, age)
                        .with_outcome(outcome, code)
                        .in_stage(flight.stage);
                self.record(sample);
                attendant.unfinished(&sample);
                if !is_cut {
                    self.unfinished.insert(flight.attempt);
                }
            }
            self.exchange.coordinator().give_up(client, MonotonicClock.now());
        }
    }

    fn only_given_up_are_left(&self, measurer: &Measurer) -> bool {
        let mut given_up = false;
        for client in measurer.clients.iter().copied() {
            if self.exchange.is_expected(client) {
                if self.exchange.activity(client).0 != Activity::Ended {
                    return false;
                }
            // One that never began needs no ending: its measurer goes on with the others, or ends by itself.
            } else if !matches!(self.exchange.activity(client).0, Activity::Ended | Activity::Unstarted) {
                given_up = true;
            }
        }
        given_up
    }

    /// Whether the measurer was told to stop and takes too long over it. Its clean-up counts only as long as a client runs.
    fn overstays(&self, measurer: &mut Measurer, now: MonotonicTime) -> bool {
        if !self.exchange.coordinator().is_stopping() {
            return false;
        }
        let since = *measurer.stop_since.get_or_insert(now);
        // One that was given up before it began has nothing left but what its measurer removes.
        let runs = |client: &u32| match self.exchange.activity(*client).0 {
            Activity::Ended => false,
            Activity::Unstarted => self.exchange.is_expected(*client),
            _ => true,
        };
        let clients_run = measurer.clients.iter().any(runs);
        let grace = match self.policy.schedule {
            Schedule::Closed => STOP_GRACE,
            Schedule::Open => SIGNAL_GRACE,
        };
        clients_run && self.sleeps.awake(since, now) > grace
    }

    fn take_anchor(&mut self, now: MonotonicTime) {
        if self.watched.anchors.last().is_none_or(|last| now.since(last.monotonic_ns) > ANCHOR_EVERY) {
            self.watched.anchors.push(Anchor::take());
        }
    }

    fn finish(mut self, measurers: &mut [Measurer], attendant: &mut dyn Attendant) -> Watched {
        let now = MonotonicClock.now();
        for (client, sample) in self.hangs.still_hung(now) {
            // The same attempt again, older: the greater age counts. One whose process has ended is recorded already.
            if self.unfinished.insert(sample.attempt) {
                self.record_hung(client, sample);
                attendant.unfinished(&sample);
            }
        }
        attendant.finish(self.exchange, now);
        self.watched.reasons.extend(attendant.shortfall());
        let last = attendant.records(now);
        // What a probe hangs in is no second one that hangs.
        let is_hung =
            |sample: &&Sample| sample.outcome() == Outcome::Hung && sample.operation() == Operation::Probe;
        self.watched.still_hung += last.iter().filter(is_hung).count() as u64;
        self.record_last(last);
        self.watched.still_hung += self.unfinished.len() as u64;
        if self.policy.schedule == Schedule::Open {
            // Its one client waits for one thing, whatever that is part of: opening its session is the first contact.
            self.watched.still_hung = self.watched.still_hung.min(1);
        }
        if self.unrecorded > 0 {
            self.watched.reasons.push(format!(
                "{} found no room",
                counted(self.unrecorded, "record of a hung operation", "records of hung operations")
            ));
        }
        self.watched.trust.extend(halting::slept(&self.sleeps));
        for measurer in measurers.iter() {
            let who = format!("the measurer of {}", measurer.name);
            self.watched.trust.extend(measurer.halting.trust(&who));
        }
        self.watched.anchors.push(Anchor::take());
        self.watched.ends = measurers.iter_mut().map(|measurer| measurer.end.take()).collect();
        self.exchange.set_measured();
        self.watched
    }
}
