//! The keeper of a ping: tells each probe as it ends, the age of one that waits, and when the whole is over though it hangs.
//!
//! What is told comes from shared memory, so neither the writer nor the store is needed for it. Probes that come to be due while the
//! client hangs are recorded by the client when it comes back; if it does not, here, at the end.

use std::io::IsTerminal;
use std::path::Path;

use iolag_conduct::{Attendance, Attendant, PingFlight, Round};
use iolag_keeper::{Exchange, Hang, InFlight, RingReader, Signals};
use iolag_model::{
    Activity, Anchor, AttemptId, ClientId, Clock, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds,
    Operation, Outcome, RunRecord, Sample,
};
use iolag_workload::{Doing, Obstacle, PROBED, Pace, PingSchedule};
use rustix::process::Signal;

use super::following::{Follower, Probed, unsent_attempt};
use super::json_lines::{JsonLines, Line, line_of};
use super::outputs::Outputs;
use super::telling::Wording;

/// From this age on a probe in flight is told of: at a terminal in a line that is renewed.
const PATIENCE_AT_TERMINAL: Nanoseconds = Nanoseconds::from_seconds(1);
/// The same elsewhere: in a line, once.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(2);
const FIRST_CONTACT: &str = "the first contact";
/// How long Ctrl-Z waits for the probe in flight: one that is stopped in its middle would look slow.
const STOP_PATIENCE_LOOKS: u32 = 100;
const STOP_LOOK: std::time::Duration = std::time::Duration::from_millis(5);

/// The keeper of a ping.
pub struct Attending {
    schedule: PingSchedule,
    flight: PingFlight,
    stops: Signals,
    outputs: Outputs,
    wording: Wording,
    follower: Follower,
    contact: Contact,
    /// Since when something hangs: it has passed its deadline and has not ended.
    hung: Option<MonotonicTime>,
    /// What has just passed its deadline, to be told with the next look.
    hanging: Option<Sample>,
    /// What was in flight at the last look, and clocks from when it was first seen.
    seen: Option<(AttemptId, Anchor)>,
    anchor: Anchor,
    told: Told,
    /// Who executes what is in flight, as far as that is known.
    process: Option<u32>,
    /// When nothing more was to be due.
    over: Option<MonotonicTime>,
    /// How the user told to end.
    told_to_end: Option<String>,
    /// Whether something is known of a probe.
    has_result: bool,
    /// What the client left in flight.
    unfinished: Option<Sample>,
    records: Vec<Sample>,
}

/// The first contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contact {
    /// It has been waited for since then.
    Pending { since: MonotonicTime },
    /// It was not answered in time, and may be later: it is probe 1.
    Lost { since: MonotonicTime },
    /// It was answered in time.
    Answered,
}

/// What was told of the present wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Told {
    since: MonotonicTime,
    /// The age in the line that stands.
    seconds: u64,
    is_slow: bool,
}

/// What is being waited for.
struct Wait {
    since: MonotonicTime,
    number: u64,
    what: String,
    process: Option<u32>,
}

impl Attending {
    /// A keeper of what begins soon.
    pub fn new(schedule: PingSchedule, flight: PingFlight, stops: Signals, outputs: Outputs) -> Self {
        Self {
            schedule,
            flight,
            stops,
            outputs,
            wording: Wording::new(schedule.deadline),
            follower: Follower::new(schedule),
            contact: Contact::Pending { since: MonotonicClock.now() },
            hung: None,
            hanging: None,
            seen: None,
            anchor: Anchor::take(),
            told: Told::default(),
            process: None,
            over: None,
            told_to_end: None,
            has_result: false,
            unfinished: None,
            records: Vec::new(),
        }
    }

    /// The lines for programs, to be finished when everything else is.
    pub fn into_json(self) -> Option<JsonLines> {
        self.outputs.json
    }

    fn tell(&mut self, probed: Vec<Probed>) {
        for probed in probed {
            self.has_result |= has_result(&probed);
            for line in self.wording.lines(&probed) {
                self.line(&line);
            }
            let due_anchor = match (&probed, &self.seen) {
                (Probed::Sent { sample, .. }, Some((attempt, anchor))) if sample.attempt == *attempt => {
                    *anchor
                }
                _ => self.anchor,
            };
            self.outputs.json(|| line_of(&probed, &due_anchor));
        }
    }

    fn line(&mut self, line: &str) {
        self.outputs.line(line);
        // A line that stood is gone, and comes again with the next second.
        self.told.seconds = 0;
    }

    /// Tells what has come. Who does not read JSON lines in time gets them later: until the end the samples wait where they are.
    fn follow(&mut self, exchange: &Exchange, is_settled: bool) {
        let Some(ring) = client_ring(exchange) else { return };
        let is_last = self.over.is_some();
        while is_last || !self.outputs.is_full() {
            let probed = self.follower.follow(&ring, is_settled);
            if probed.is_empty() {
                break;
            }
            self.tell(probed);
        }
        if is_settled && let Some(line) = self.wording.settle() {
            self.line(&line);
        }
    }

    /// What is in flight, the first contact included.
    fn wait(&self, round: &Round<'_>, flight: Option<InFlight>) -> Option<Wait> {
        let exchange = round.exchange;
        let measurer = || Some(round.measurers.first()?.messenger.child().id());
        let process = self.flight.process().or_else(|| Some(exchange.thread(0)?.1)).or_else(measurer);
        if let Contact::Pending { since } | Contact::Lost { since } = self.contact {
            return Some(Wait { since, number: 1, what: FIRST_CONTACT.to_owned(), process });
        }
        let flight = flight?;
        let number = self.number_of(flight.operation, flight.intended);
        Some(Wait { since: flight.start, number, what: self.what(flight.operation), process })
    }

    /// The probe, from 1, that an operation belongs to.
    fn number_of(&self, operation: Operation, intended: MonotonicTime) -> u64 {
        match operation {
            Operation::Probe => self.follower.number_of(intended),
            _ => self.follower.known().max(1),
        }
    }

    /// What an operation in flight is for a user.
    fn what(&self, operation: Operation) -> String {
        match (operation, self.flight.operation()) {
            (Operation::Probe, Some(part)) if part != Operation::Probe => part.to_string(),
            (Operation::Probe, _) => "the task".to_owned(),
            (Operation::Delete, _) => "removing its file".to_owned(),
            (Operation::OpenSession, _) => FIRST_CONTACT.to_owned(),
            (operation, _) => operation.to_string(),
        }
    }

    /// One line that is renewed at a terminal, elsewhere one line.
    fn tell_wait(&mut self, wait: Option<&Wait>, now: MonotonicTime) {
        let Some(wait) = wait else { return };
        let age = now.since(wait.since);
        if self.told.since != wait.since {
            self.told = Told { since: wait.since, ..Told::default() };
        }
        let process = wait.process.map_or_else(String::new, |process| format!(" (process {process})"));
        let is_terminal = std::io::stdout().is_terminal();
        let seconds = age.0 / 1_000_000_000;
        if is_terminal && age >= PATIENCE_AT_TERMINAL && seconds != self.told.seconds {
            let line = format!("seq={} {seconds} s without an answer in {}{process}", wait.number, wait.what);
            self.outputs.in_place(&line);
            self.told.seconds = seconds;
        } else if !is_terminal
            && age >= PATIENCE
            && self.schedule.deadline > PATIENCE
            && !self.told.is_slow
            && self.hung.is_none()
        {
            self.told.is_slow = true;
            let line = format!("seq={} no answer for {PATIENCE}{process}, in {}", wait.number, wait.what);
            self.line(&line);
        }
    }

    fn tell_hung(&mut self, wait: &Wait, now: MonotonicTime) {
        let process = wait.process.map_or_else(String::new, |process| format!(" (process {process})"));
        let line = self.wording.hung(wait.number, &format!("hung in {}{process}", wait.what));
        self.line(&line);
        let age_ns = now.since(wait.since);
        self.outputs.json(|| Line::Waiting { seq: wait.number, age_ns, process: wait.process });
    }

    /// Tells what hangs, when everything before it has been looked at.
    fn begin_hang(&mut self, sample: &Sample) {
        if sample.operation() == Operation::Probe {
            self.follower.begin_at(sample.intended);
        }
        let wait = Wait {
            since: sample.start,
            number: self.number_of(sample.operation(), sample.intended),
            what: self.what(sample.operation()),
            process: self.process,
        };
        self.tell_hung(&wait, sample.start.after(sample.duration));
    }

    /// The first contact is lost when it has not been answered within the deadline of a probe.
    fn look_at_contact(&mut self, round: &Round<'_>, flight: Option<InFlight>) {
        let now = round.anchor.monotonic_ns;
        let Contact::Pending { since } = self.contact else { return };
        // The measurer knows better.
        let since = self.flight.contact().unwrap_or(since);
        if now.since(since) <= self.schedule.deadline || self.over.is_some() {
            return;
        }
        if let Some(wait) = self.wait(round, flight) {
            self.tell_hung(&wait, now);
        }
        self.contact = Contact::Lost { since };
        self.follower.begin_at(since);
        self.hung = Some(since);
        self.records.push(contact_sample(since, now));
    }

    /// Whether all that is wanted has come to be due, and what is in flight will not be waited for.
    fn is_over(&self, now: MonotonicTime) -> bool {
        match (self.schedule.count, self.follower.start(), self.hung) {
            (Some(count), Some(start), Some(_)) => now >= self.schedule.due(start, count - 1),
            _ => false,
        }
    }

    /// Ctrl-Z stops who probes, too. A probe in flight is waited for, unless it hangs.
    fn heed_stop(&mut self, round: &Round<'_>) {
        if self.stops.next().is_none() {
            return;
        }
        let mut looks = 0;
        while round.exchange.in_flight(0).is_some() && self.hung.is_none() && looks < STOP_PATIENCE_LOOKS {
            std::thread::sleep(STOP_LOOK);
            looks += 1;
        }
        let tell_all = |signal| {
            round.measurers.iter().for_each(|measurer| measurer.messenger.child().signal_group(signal));
        };
        tell_all(Signal::STOP);
        // Stops this process here, until it is continued.
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
        tell_all(Signal::CONT);
    }

    /// `iolag ping DIR | head`: nobody reads any more, so nobody is to be measured for; the end is that of Ctrl-C.
    fn look_at_readers(&mut self) {
        if self.outputs.are_gone() && self.over.is_none() {
            let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::INT);
        }
    }

    /// What a probe hangs in, by the number that the client would give it: it counts once, with its true duration if it ends.
    fn part_in_flight(&self, probe: &Sample) -> Option<Sample> {
        let operation = self.flight.operation()?;
        let place = PROBED.iter().position(|part| *part == operation)?;
        let since = self.flight.since();
        let is_hung = probe.operation() == Operation::Probe && probe.outcome() == Outcome::Hung;
        let attempt = AttemptId::new(ClientId(0), probe.attempt.sequence() + 1 + place as u64);
        let age = probe.start.after(probe.duration).since(since);
        (is_hung && since >= probe.start).then(|| {
            Sample::new(attempt, operation, probe.intended, since, age)
                .with_outcome(Outcome::Hung, probe.code)
                .in_stage(probe.stage)
        })
    }

    /// The probes that came to be due while something was in flight that never ended.
    fn skip_to_the_end(&mut self, obstacle: Obstacle) {
        let Some(start) = self.follower.start() else { return };
        let end = self.over.unwrap_or(obstacle.free).min(obstacle.free);
        let mut probed = Vec::new();
        let mut next = self.follower.known();
        while self.schedule.count.is_none_or(|count| next < count) {
            let due = self.schedule.due(start, next);
            if due >= end {
                break;
            }
            let mut sample = obstacle.unsent(due);
            sample.attempt = unsent_attempt(next);
            self.records.push(sample);
            self.follower.take(sample, &mut probed);
            next += 1;
        }
        self.tell(probed);
    }
}

/// A first contact that has not been answered.
fn contact_sample(since: MonotonicTime, now: MonotonicTime) -> Sample {
    Sample::new(unsent_attempt(0), Operation::Probe, since, since, now.since(since))
        .with_outcome(Outcome::Hung, FailureCode::NONE)
}

fn client_ring(exchange: &Exchange) -> Option<RingReader> {
    exchange.readers().into_iter().next().map(|(ring, _)| ring)
}

impl Attendant for Attending {
    fn announce(&mut self, record: &RunRecord, root: &Path) {
        self.outputs.announce(record, root);
    }

    fn begin(&mut self, now: MonotonicTime) {
        self.contact = Contact::Pending { since: now };
    }

    fn look(&mut self, round: &Round<'_>) -> Attendance {
        self.heed_stop(round);
        self.anchor = round.anchor;
        let now = round.anchor.monotonic_ns;
        // Read before the ring: what is in flight now, or what the client waits for, comes after everything that it has recorded.
        let flight = round.exchange.in_flight(0);
        let activity = round.exchange.activity(0);
        let is_settled = flight.is_some() || matches!(activity, Activity::Pausing | Activity::Ended);
        if let Some(flight) = flight
            && self.seen.is_none_or(|(attempt, _)| attempt != flight.attempt)
        {
            self.seen = Some((flight.attempt, round.anchor));
        }
        self.follow(round.exchange, is_settled);
        // Only now: the first probe may have ended before anybody looked.
        if let Some(flight) = flight.filter(|flight| flight.operation == Operation::Probe) {
            self.follower.begin_at(flight.intended);
        }
        if matches!(self.contact, Contact::Pending { .. }) && self.follower.start().is_some() {
            // Where nothing is made, the first probe says so.
            self.contact = Contact::Answered;
        }
        if let Some(sample) = self.hanging.take() {
            self.begin_hang(&sample);
        }
        if matches!(self.contact, Contact::Lost { .. }) && self.follower.known() > 0 {
            // It came too late, and it came: the client has said so.
            self.contact = Contact::Answered;
            self.hung = None;
        }
        self.look_at_contact(round, flight);
        let wait = self.wait(round, flight);
        self.process = wait.as_ref().and_then(|wait| wait.process);
        self.tell_wait(wait.as_ref().filter(|_| self.over.is_none()), now);
        self.look_at_readers();
        if self.over.is_none() && self.is_over(now) {
            self.over = Some(now);
            return Attendance::Over;
        }
        Attendance::GoOn
    }

    /// Why things end early is told by the result.
    fn say(&mut self, _message: &str) {}

    fn stopping(&mut self, how: &str) {
        self.told_to_end.get_or_insert_with(|| how.to_owned());
        self.over.get_or_insert(Anchor::take().monotonic_ns);
    }

    fn hang(&mut self, hang: &Hang, _name: &str) {
        match hang {
            Hang::Began { sample, .. } | Hang::Stalled { sample, .. } => {
                if sample.operation() == Operation::OpenSession && self.follower.known() == 0 {
                    // The keeper's own watch of the first contact tells it, once, and from its beginning.
                    if !matches!(self.contact, Contact::Lost { .. }) {
                        let since = self.flight.contact().unwrap_or(sample.start);
                        self.contact = Contact::Pending { since };
                    }
                    return;
                }
                self.hung = Some(sample.start);
                self.records.extend(self.part_in_flight(sample));
                self.hanging = Some(*sample);
            }
            // The first contact is over when the client has told it.
            Hang::Ended { .. } if matches!(self.contact, Contact::Lost { .. }) => {}
            Hang::Ended { .. } => self.hung = None,
        }
    }

    fn placed(&mut self) {
        if matches!(self.contact, Contact::Pending { .. }) {
            self.contact = Contact::Answered;
        }
    }

    fn unfinished(&mut self, sample: &Sample) {
        self.unfinished = Some(*sample);
    }

    fn records(&mut self, _now: MonotonicTime) -> Vec<Sample> {
        std::mem::take(&mut self.records)
    }

    fn finish(&mut self, exchange: &Exchange, now: MonotonicTime) {
        self.anchor = Anchor::take();
        self.follow(exchange, true);
        let mut probed = Vec::new();
        let mut free = now;
        if let Contact::Lost { since } = self.contact
            && self.follower.known() == 0
        {
            let sample = match self.flight.contact_end() {
                Some(end) => contact_sample(since, end).with_outcome(Outcome::Late, FailureCode::NONE),
                None => contact_sample(since, now),
            };
            free = sample.start.after(sample.duration);
            self.records.push(sample);
            self.follower.take(sample, &mut probed);
        }
        let unfinished = self.unfinished.take();
        if let Some(sample) = unfinished.filter(|sample| sample.operation() == Operation::Probe) {
            self.follower.take(sample, &mut probed);
            if let Some(part) = self.part_in_flight(&sample) {
                self.records.push(part);
                self.follower.take(part, &mut probed);
            }
        }
        probed.extend(self.follower.settle());
        self.tell(probed);
        let is_lost =
            self.hung.is_some() || unfinished.is_some_and(|sample| sample.outcome() != Outcome::Interrupted);
        if is_lost || unfinished.is_some() {
            let pace = if is_lost { Pace::Lost } else { Pace::Slow };
            let doing = unfinished.map_or(Doing::Probing, |sample| Doing::of(sample.operation()));
            self.skip_to_the_end(Obstacle { free, pace, doing });
        }
        if let Some(line) = self.wording.settle() {
            self.line(&line);
        }
        if let Some(text) = &mut self.outputs.text {
            text.finish(Nanoseconds::from_seconds(1));
        }
    }

    /// A ping that ends by Ctrl-C is as long as its user wanted it, but not if it has found out nothing.
    fn shortfall(&self) -> Option<String> {
        let how = self.told_to_end.as_deref().filter(|_| !self.has_result)?;
        // With a count to reach, being told to end is a reason by itself.
        let how = if self.schedule.count.is_some() { "ended" } else { how };
        Some(match self.follower.known() {
            0 => format!("{how} before the first probe was sent"),
            _ => format!("{how} before a probe had ended"),
        })
    }
}

/// Whether this says something of the target.
fn has_result(probed: &Probed) -> bool {
    match probed {
        Probed::Sent { sample, .. } | Probed::Unsent { sample, .. } => {
            sample.outcome() != Outcome::Interrupted
        }
        Probed::Unseen(_) => true,
    }
}
