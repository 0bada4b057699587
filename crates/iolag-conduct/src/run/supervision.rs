//! The keeper's watch over a run: signals, deadlines, endings. It never blocks and touches nothing but its children, the
//! shared memory and /proc.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iolag_keeper::{Ending, Exchange, Hang, HangDetection, Sleeps};
use iolag_model::{
    Activity, Anchor, AttemptId, ClientId, Clock, Coordinator, Deadlines, FailureCode, MonotonicClock,
    MonotonicTime, Nanoseconds, OnHang, Operation, Outcome, Role, RunRecord, Sample, ending::OF_MEASURER,
};
use rustix::event::{PollFd, PollFlags, poll};

use crate::messages::{FromMeasurer, ToWriter, heard};
use crate::run::generator::GeneratorWatch;
use crate::run::halting::{self, Halted};
use crate::run::interruption::{Interruption, Wish};
use crate::run::measurer::{Measurer, STOP_GRACE};
use crate::run::memory_watch::MemoryWatch;
use crate::run::policy::{AtSignal, Policy, Schedule};
use crate::run::recording::Recording;
use crate::run::telling::{Attendance, Attendant, Round, name_of_client, names_of_clients};
use crate::run::watched::Watched;
use crate::storing::writing::Writing;

/// How often clocks are read together.
const ANCHOR_EVERY: Nanoseconds = Nanoseconds::from_seconds(60);

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
    let deadlines = Role::ALL.map(|role| Deadlines::by_rules(role, policy.deadline, &record.spec.deadlines));
    let mut watch = Watch {
        record,
        exchange,
        recording: Recording::new(exchange),
        hangs: HangDetection::new(exchange, deadlines, MonotonicClock.now()),
        sleeps: Sleeps::new(MonotonicClock.now()),
        policy,
        watched: Watched { anchors: vec![Anchor::take()], ..Watched::default() },
        generator: GeneratorWatch::new(Path::new("/proc")),
        memory: MemoryWatch::new(Path::new("/proc"), MonotonicClock.now()),
        unfinished: BTreeSet::new(),
        is_over: false,
        others_are_stopped: !record.clients.iter().any(|client| client.role.is_load()),
        names: names_of_clients(record),
        targets: record.clients.iter().map(|client| (client.client.0, client.target.0)).collect(),
    };
    if let Some(name) = interruption.told() {
        watch.stop(name, attendant);
    }
    loop {
        wait_for_anything(measurers, writing, interruption, watch.hangs.pause());
        let now = MonotonicClock.now();
        if let Some(slept) = watch.sleeps.look(now) {
            attendant.say(&halting::slept_for(slept));
        }
        measurers.iter_mut().for_each(|measurer| watch.hear(measurer, writing, attendant));
        match interruption.listen() {
            Wish::GoOn => {}
            Wish::Stop(name) => watch.stop(name, attendant),
            Wish::Leave => {
                measurers.iter().for_each(Measurer::leave);
                return watch.watched;
            }
        }
        writing.look(exchange, now);
        if writing.trouble().is_some() {
            (0..exchange.clients()).for_each(|client| exchange.set_noted(client));
        }
        watch.look_at_halts(measurers, writing, now, attendant);
        measurers.iter_mut().for_each(Measurer::look_at_ending);
        watch.look_at_clients(measurers, now, attendant);
        watch.look_at_endings(measurers, writing, now, attendant);
        watch.look_at_load(measurers);
        watch.look_at_host(measurers, now);
        watch.take_anchor(now);
        watch.attend(measurers, attendant);
        if measurers.iter().all(|measurer| measurer.done) {
            break;
        }
    }
    watch.finish(measurers, attendant)
}

struct Watch<'a> {
    record: &'a RunRecord,
    exchange: &'a Exchange,
    recording: Recording<'a>,
    hangs: HangDetection,
    /// When the keeper did not run: that counts for no deadline.
    sleeps: Sleeps,
    policy: Policy,
    watched: Watched,
    generator: GeneratorWatch,
    memory: MemoryWatch,
    /// Attempts that were recorded as not ended for the last time.
    unfinished: BTreeSet<AttemptId>,
    /// Whether nothing more is to be measured.
    is_over: bool,
    /// Whether those who measure beside the load were told that it is over; where there is none, they end by themselves.
    others_are_stopped: bool,
    /// What each client is called.
    names: BTreeMap<u32, String>,
    /// Where each client works.
    targets: BTreeMap<u32, u16>,
}

fn wait_for_anything(
    measurers: &[Measurer],
    writing: &Writing,
    interruption: &Interruption<'_>,
    most: Nanoseconds,
) {
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
    let _ = poll(&mut descriptors, Some(&most.as_timespec()));
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
                FromMeasurer::Doubt(doubt) => self.watched.trust.push(doubt),
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
            self.recording.record(sample);
        }
        if attendance == Attendance::Over && !self.is_over {
            self.end_all();
        }
    }

    /// Those of a measurer that has ended are looked at a last time when that is seen: afterwards they show nothing, and hang in nothing.
    fn look_at_clients(&mut self, measurers: &[Measurer], now: MonotonicTime, attendant: &mut dyn Attendant) {
        let clients = measurers
            .iter()
            .filter(|measurer| measurer.moves())
            .flat_map(|measurer| measurer.clients.iter().copied());
        for hang in self.hangs.look(self.exchange, clients, &self.sleeps, now) {
            match hang {
                Hang::Began { client, sample } | Hang::Stalled { client, sample } => {
                    self.watched.note_hang(client, &sample, self.record);
                    self.recording.record_hung(client, sample);
                    attendant.hang(&hang, &self.name(client));
                    self.act_upon_hang(client);
                }
                Hang::Ended { client, sample, .. } => {
                    if let Some(sample) = sample {
                        self.recording.record(sample);
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

    /// The run ends with its load: who measures beside it stops before its next operation.
    fn look_at_load(&mut self, measurers: &[Measurer]) {
        if !self.others_are_stopped && measurers.iter().all(|measurer| measurer.load_is_over(self.exchange)) {
            self.others_are_stopped = true;
            let others = Role::ALL.into_iter().filter(|role| !role.is_load());
            others.for_each(|role| self.exchange.coordinator().stop_role(role));
        }
    }

    fn look_at_host(&mut self, measurers: &[Measurer], now: MonotonicTime) {
        self.memory.look(now);
        // `ping` measures with its only thread: how late that is stands in its samples.
        if self.policy.schedule != Schedule::Open {
            let moving = measurers.iter().filter(|measurer| measurer.moves());
            self.generator.look(self.exchange, moving.map(|measurer| measurer.messenger.child().id()), now);
        }
    }

    /// Who measures beside the load never ends the run.
    fn act_upon_hang(&mut self, client: u32) {
        match self.policy.on_hang {
            OnHang::Wait => {}
            OnHang::Stop if !self.exchange.role(client).is_load() => self.give_up(client),
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
        match self.exchange.role(client) {
            Role::Load => self.watched.left_behind.insert(client),
            Role::Bystander | Role::Control => self.watched.left_beside.insert(client),
        };
    }

    /// An attempt of this client is not known to have ended.
    fn count_unended(&mut self, client: u32) {
        match self.exchange.role(client) {
            Role::Load => self.watched.still_hung += 1,
            Role::Bystander | Role::Control => {
                self.watched.left_beside.insert(client);
            }
        }
    }

    fn remark_left_beside(&mut self) {
        for client in &self.watched.left_beside {
            let who =
                if self.exchange.role(*client) == Role::Control { "The control" } else { "A bystander" };
            self.watched.remarks.push(format!(
                "{who}, {}, had not come back from what it asked last; the run went on without it.",
                self.name(*client)
            ));
        }
    }

    fn name(&self, client: u32) -> String {
        name_of_client(&self.names, &self.watched.hung_in, client)
    }

    fn look_at_endings(
        &mut self,
        measurers: &mut [Measurer],
        writing: &mut Writing,
        now: MonotonicTime,
        attendant: &mut dyn Attendant,
    ) {
        for measurer in measurers.iter_mut().filter(|measurer| !measurer.done) {
            if let Some(ending) = measurer.ending {
                // What it said last came between the last hearing and its end.
                self.hear(measurer, writing, attendant);
                self.measurer_ended(measurer, ending, attendant);
            } else if measurer.is_silent(self.exchange, &self.sleeps, self.policy, self.is_over, now) {
                self.record_silence(measurer, now, attendant);
                self.end_measurer(measurer, writing, attendant);
            } else if measurer.only_given_up_are_left(self.exchange)
                || measurer.overstays(self.exchange, &self.sleeps, self.policy.schedule, now)
            {
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
            measurer.was_halted(now);
            if halted.age > limit {
                self.watched.past_deadline += 1;
                self.record_halt(measurer, halted);
                self.end_measurer(measurer, writing, attendant);
            }
        }
    }

    /// What was not measured is told with its target.
    fn record_halt(&mut self, measurer: &Measurer, halted: Halted) {
        let reason = format!("{OF_MEASURER}{} was {halted}, past its deadline, and was ended", measurer.name);
        let unended = |client: &&u32| self.exchange.activity(**client) != Activity::Ended;
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
        self.watched.abandoned.extend(measurer.end());
        self.sleeps.waited(MonotonicClock.now());
        self.hear(measurer, writing, attendant);
        self.record_unfinished(measurer, attendant);
        measurer.done = true;
    }

    /// A measurer that hangs before its clients began measures nothing: each of them is on record as hung while its session
    /// was opened. One that hangs after its clients ended has only its clean-up left.
    fn record_silence(&mut self, measurer: &Measurer, now: MonotonicTime, attendant: &mut dyn Attendant) {
        let process = measurer.messenger.child().id();
        let since = measurer.silent_since();
        let age = now.since(since);
        let waiting = measurer.unstarted(self.exchange);
        let what = if waiting.is_empty() { "cleaning up" } else { "making the working directory" };
        let reason = format!("{what} in {} has not been answered for {age}", measurer.name);
        attendant.say(&reason);
        self.watched.past_deadline += 1;
        // On an open schedule the attendant tells how long the first contact has been waited for in all.
        let is_load = |client: &u32| self.exchange.role(*client).is_load();
        if waiting.is_empty() || (self.policy.schedule == Schedule::Closed && waiting.iter().any(is_load)) {
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
            self.recording.record(sample);
            self.count_unended(client);
            self.recording.record_waiting(attempt, process, process);
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
            self.watched.reasons.push(format!("{OF_MEASURER}{} was ended {cause}", measurer.name));
        }
        self.record_unfinished(measurer, attendant);
    }

    /// Operations that were in flight when their process ended are censored at their age. The others no longer wait for
    /// these clients.
    fn record_unfinished(&mut self, measurer: &Measurer, attendant: &mut dyn Attendant) {
        let halted = measurer.halting.since();
        let now = halted.unwrap_or_else(|| MonotonicClock.now());
        for client in measurer.clients.iter().copied() {
            let role = self.exchange.role(client);
            let ends = halted.is_some()
                || self.exchange.coordinator().is_stopping()
                || (!role.is_load() && self.exchange.coordinator().is_stopped(client));
            for flight in self.exchange.all_in_flight(client).flatten() {
                // While its process stood still nobody asked the file system anything.
                let age = now.since(flight.start);
                // What is cut short by the end has not hung.
                let is_cut = ends && !self.hangs.deadlines(role).has_passed(flight.operation, age);
                let (outcome, code) = match is_cut {
                    true => (Outcome::Interrupted, FailureCode::CUT),
                    false => (Outcome::Hung, FailureCode::ABANDONED),
                };
                let sample =
                    Sample::new(flight.attempt, flight.operation, flight.intended, flight.start, age)
                        .with_outcome(outcome, code)
                        .in_stage(flight.stage);
                self.recording.record(sample);
                attendant.unfinished(&sample);
                if !is_cut {
                    self.unfinished.insert(flight.attempt);
                }
            }
            self.exchange.coordinator().give_up(client, MonotonicClock.now());
        }
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
                self.recording.record_hung(client, sample);
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
        self.recording.record_last(last);
        for attempt in std::mem::take(&mut self.unfinished) {
            self.count_unended(attempt.client().0);
        }
        if self.policy.schedule == Schedule::Open {
            // Its one client waits for one thing, whatever that is part of: opening its session is the first contact.
            self.watched.still_hung = self.watched.still_hung.min(1);
        }
        self.watched.reasons.extend(self.recording.shortfall());
        self.remark_left_beside();
        self.watched.generator = self.generator.record();
        self.watched.memory = self.memory.course(now);
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
