//! Watching clients: which operation has been in flight, or which client has been silent, for longer than its deadline. That is by
//! operation, and by what the client is there for.
//!
//! Pure over what it is shown and told: the shared memory is read by [`HangDetection::look`], decisions depend only on that and
//! on `now`.

use std::collections::BTreeMap;

use iolag_model::{
    Activity, AttemptId, ClientId, Deadlines, FailureCode, MonotonicTime, Nanoseconds, Operation, Outcome,
    Role, Sample, StageIndex,
};

use crate::{Exchange, InFlight, Sleeps};

/// What a client gets beyond its deadlines that ends its operations at them itself: else it would be given up at the moment at
/// which it goes on.
const CANCELLING: Nanoseconds = Nanoseconds::from_seconds(1);

/// A worker that has not looked at its timer for so long is blocked by something.
const SILENCE: Nanoseconds = Nanoseconds::from_seconds(1);

/// Remembers what was already reported.
#[derive(Debug)]
pub struct HangDetection {
    /// By role.
    deadlines: [Deadlines; Role::ALL.len()],
    lanes: usize,
    /// By client and lane the attempt that was reported as hung and has not ended.
    hung: Vec<Option<Sample>>,
    clients: Vec<Quiet>,
    /// Since when it is seen that something blocks a worker, by its process and thread: none of its clients does what it said it would.
    blocked: BTreeMap<(u32, u32), MonotonicTime>,
}

/// Since when a client shows nothing, and what was told of that.
#[derive(Debug, Clone, Copy, Default)]
struct Quiet {
    progress: u64,
    since: MonotonicTime,
    /// The stall that was reported and has not ended.
    stall: Option<Sample>,
    stalls: u64,
}

/// Something that the keeper has to act upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hang {
    /// This attempt has just passed its deadline.
    Began {
        /// Whose.
        client: u32,
        /// What to record: hung, with its age.
        sample: Sample,
    },
    /// The attempt that was reported has ended after all; its true duration is on its way through the ring.
    Ended {
        /// Whose.
        client: u32,
        /// The attempt.
        attempt: AttemptId,
        /// For a stall: what to record, since no client will record its end.
        sample: Option<Sample>,
    },
    /// The client has done nothing for longer than the deadline, and no operation is in flight: it hangs in what iolag itself
    /// does between operations (opening a session, preparing, inspecting).
    Stalled {
        /// Whose.
        client: u32,
        /// What to record.
        sample: Sample,
    },
}

impl HangDetection {
    /// A watch over the clients of an exchange; `deadlines` by role.
    pub fn new(exchange: &Exchange, deadlines: [Deadlines; Role::ALL.len()], now: MonotonicTime) -> Self {
        let (clients, lanes) = (exchange.clients() as usize, exchange.lanes() as usize);
        let quiet = Quiet { since: now, ..Quiet::default() };
        let (hung, clients) = (vec![None; clients * lanes], vec![quiet; clients]);
        Self { deadlines, lanes, hung, clients, blocked: BTreeMap::new() }
    }

    /// How long to pause between two looks: thousands of clients are a long one.
    pub fn pause(&self) -> Nanoseconds {
        const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(50);
        const USUAL_CLIENTS: usize = 1000;
        Nanoseconds(LOOK.0 * self.clients.len().div_ceil(USUAL_CLIENTS).clamp(1, 10) as u64)
    }

    /// The deadlines of clients of this role.
    pub const fn deadlines(&self, role: Role) -> &Deadlines {
        &self.deadlines[role as usize]
    }

    /// Looks at each of these clients once; one whose process stands still has nothing to show. What the keeper has slept counts
    /// for no deadline.
    pub fn look(
        &mut self,
        exchange: &Exchange,
        clients: impl IntoIterator<Item = u32, IntoIter: Clone>,
        sleeps: &Sleeps,
        now: MonotonicTime,
    ) -> Vec<Hang> {
        let clients = clients.into_iter();
        self.look_at_hearts(exchange, clients.clone(), now);
        let mut hangs = Vec::new();
        for client in clients {
            self.look_at(exchange, client, sleeps, now, &mut hangs);
        }
        hangs
    }

    /// Everything that was reported and has not ended, with its age at `now`: what to record last.
    pub fn still_hung(&self, now: MonotonicTime) -> Vec<(u32, Sample)> {
        let aged = |mut sample: Sample| {
            sample.duration = now.since(sample.start);
            sample
        };
        let of_client = |(client, (quiet, hung)): (u32, (&Quiet, &[Option<Sample>]))| {
            let all = hung.iter().copied().chain([quiet.stall]).flatten();
            all.map(|sample| (client, aged(sample))).collect::<Vec<_>>()
        };
        (0..).zip(self.clients.iter().zip(self.hung.chunks(self.lanes))).flat_map(of_client).collect()
    }

    fn look_at_hearts(
        &mut self,
        exchange: &Exchange,
        clients: impl Iterator<Item = u32>,
        now: MonotonicTime,
    ) {
        let is_blocked = |client: &u32| exchange.overdue(*client, now).is_some_and(|late| late > SILENCE);
        // A heart beside clients that are threads tells in the name of the first, whose thread is not its own.
        let is_shared = |thread: &(u32, u32)| {
            (0..exchange.clients())
                .filter(|client| exchange.thread(*client) == Some(*thread))
                .nth(1)
                .is_some()
        };
        let workers =
            clients.filter(is_blocked).filter_map(|client| exchange.thread(client)).filter(is_shared);
        let since = |worker| (worker, self.blocked.get(&worker).copied().unwrap_or(now));
        self.blocked = workers.map(since).collect();
    }

    /// Since when something blocks the worker of a client that waits for something else.
    fn blocked_since(&self, exchange: &Exchange, client: u32, activity: Activity) -> Option<MonotonicTime> {
        let waits = matches!(activity, Activity::Meeting | Activity::Full | Activity::Pausing);
        if !waits || self.blocked.is_empty() {
            return None;
        }
        self.blocked.get(&exchange.thread(client)?).copied()
    }

    fn look_at(
        &mut self,
        exchange: &Exchange,
        client: u32,
        sleeps: &Sleeps,
        now: MonotonicTime,
        hangs: &mut Vec<Hang>,
    ) {
        let activity = exchange.activity(client);
        let blocked_since = self.blocked_since(exchange, client, activity);
        let is_working = matches!(activity, Activity::Working | Activity::Asking) || blocked_since.is_some();
        let quiet = &mut self.clients[client as usize];
        // While its process stood still nobody looked at it.
        quiet.since = blocked_since.map_or(quiet.since, |since| quiet.since.max(since));
        if !is_working && self.lanes == 1 && self.hung[client as usize].is_none() && quiet.stall.is_none() {
            // It waits on purpose, with nothing in flight: of thousands of clients nearly all do.
            quiet.since = now;
            return;
        }
        let deadlines = &self.deadlines[exchange.role(client) as usize];
        let grace = if activity == Activity::Asking { CANCELLING } else { Nanoseconds::ZERO };
        let has_passed = |deadline: Nanoseconds, since: MonotonicTime| {
            sleeps.awake(since, now) > Nanoseconds(deadline.0.saturating_add(grace.0))
        };
        let mut shows_something = !is_working;
        let mut began = Vec::new();
        for (hung, in_flight) in
            self.hung[client as usize * self.lanes..].iter_mut().zip(exchange.all_in_flight(client))
        {
            if let Some(sample) = hung
                && in_flight.is_none_or(|flight| flight.attempt != sample.attempt)
            {
                hangs.push(Hang::Ended { client, attempt: sample.attempt, sample: None });
                *hung = None;
                // It counts as progress now, not when it was announced.
                shows_something = true;
            }
            let Some(flight) = in_flight else { continue };
            shows_something = true;
            if hung.is_none() && has_passed(deadlines.of(flight.operation), flight.start) {
                let sample = hung_sample(flight, now);
                *hung = Some(sample);
                began.push(Hang::Began { client, sample });
            }
        }
        let quiet = &mut self.clients[client as usize];
        let progress = exchange.progress(client);
        if shows_something || progress != quiet.progress {
            if let Some(stall) = quiet.stall.take() {
                let mut sample = stall.with_outcome(Outcome::Late, FailureCode::NONE);
                sample.duration = now.since(stall.start);
                hangs.push(Hang::Ended { client, attempt: stall.attempt, sample: Some(sample) });
            }
            quiet.progress = progress;
            quiet.since = now;
        } else if quiet.stall.is_none() && has_passed(deadlines.usual(), quiet.since) {
            let flight = InFlight {
                // No client comes to the last sequence numbers: each stall has one of its own, from the end.
                attempt: AttemptId::new(ClientId(client), u64::MAX - quiet.stalls),
                operation: Operation::OpenSession,
                stage: StageIndex(0),
                intended: quiet.since,
                start: quiet.since,
            };
            let sample = hung_sample(flight, now);
            quiet.stall = Some(sample);
            quiet.stalls += 1;
            began.push(Hang::Stalled { client, sample });
        }
        hangs.append(&mut began);
    }
}

fn hung_sample(flight: InFlight, now: MonotonicTime) -> Sample {
    Sample::new(flight.attempt, flight.operation, flight.intended, flight.start, now.since(flight.start))
        .with_outcome(Outcome::Hung, FailureCode::NONE)
        .in_stage(flight.stage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Room;
    use iolag_model::{Coordinator as _, DeadlineRule, Recorder};

    const DEADLINE: Nanoseconds = Nanoseconds(100);
    const AWAKE: Sleeps = Sleeps::new(MonotonicTime(0));

    fn watch_over(exchange: &Exchange) -> HangDetection {
        HangDetection::new(exchange, [DEADLINE; 3].map(Deadlines::from), MonotonicTime(1))
    }

    /// An operation that is in flight since the moment 10.
    fn begin(recorder: &mut impl Recorder, attempt: AttemptId, operation: Operation, activity: Activity) {
        recorder.set_activity(activity);
        recorder.announce(attempt, operation, StageIndex(2), MonotonicTime(0));
        recorder.begin(MonotonicTime(10));
    }

    #[test]
    fn an_operation_is_hung_once_and_its_end_is_noticed() {
        let exchange = Exchange::new(1, 1 << 20).unwrap();
        let mut recorder = exchange.recorder(0);
        let mut watch = watch_over(&exchange);
        let attempt = AttemptId(5);
        begin(&mut recorder, attempt, Operation::Stat, Activity::Working);
        assert_eq!(watch.look(&exchange, [0], &AWAKE, MonotonicTime(110)), []);
        let hangs = watch.look(&exchange, [0], &AWAKE, MonotonicTime(111));
        let [Hang::Began { client: 0, sample }] = hangs[..] else { panic!("{hangs:?}") };
        assert_eq!(
            (sample.attempt, sample.duration, sample.stage),
            (attempt, Nanoseconds(101), StageIndex(2))
        );
        assert_eq!((sample.outcome(), sample.intended), (Outcome::Hung, MonotonicTime(10)));
        assert_eq!(watch.look(&exchange, [0], &AWAKE, MonotonicTime(500)), []);
        assert_eq!(watch.still_hung(MonotonicTime(500))[0].1.duration, Nanoseconds(490));
        recorder.record(Sample::new(
            attempt,
            Operation::Stat,
            MonotonicTime(10),
            MonotonicTime(10),
            Nanoseconds(600),
        ));
        assert_eq!(
            watch.look(&exchange, [0], &AWAKE, MonotonicTime(610)),
            [Hang::Ended { client: 0, attempt, sample: None }]
        );
        assert_eq!(watch.still_hung(MonotonicTime(700)), []);
    }

    #[test]
    fn silence_between_operations_is_a_stall_unless_it_is_meant() {
        let exchange = Exchange::new(1, 1 << 20).unwrap();
        let mut recorder = exchange.recorder(0);
        let mut watch = watch_over(&exchange);
        for activity in [Activity::Meeting, Activity::Pausing, Activity::Full] {
            recorder.set_activity(activity);
            assert_eq!(watch.look(&exchange, [0], &AWAKE, MonotonicTime(1000)), [], "{activity:?}");
        }
        recorder.set_activity(Activity::Working);
        assert!(matches!(
            watch.look(&exchange, [0], &AWAKE, MonotonicTime(1101))[..],
            [Hang::Stalled { .. }]
        ));
        recorder.set_activity(Activity::Ended);
        let ended = watch.look(&exchange, [0], &AWAKE, MonotonicTime(1200));
        let [Hang::Ended { sample: Some(sample), .. }] = ended[..] else { panic!("{ended:?}") };
        assert_eq!((sample.outcome(), sample.duration), (Outcome::Late, Nanoseconds(200)));
    }

    #[test]
    fn who_pauses_is_believed_as_long_as_nothing_blocks_its_worker() {
        let exchange = Exchange::new(4, 1 << 20).unwrap();
        let (coordinator, at) = (exchange.coordinator(), |time| MonotonicTime(SILENCE.0 + time));
        // All are of this thread.
        let activities = [Activity::Working, Activity::Pausing, Activity::Meeting, Activity::Ended];
        for (client, activity) in (0..).zip(activities) {
            exchange.recorder(client).set_activity(activity);
        }
        begin(&mut exchange.recorder(0), AttemptId(5), Operation::Stat, Activity::Working);
        coordinator.beat(0, Nanoseconds::ZERO, MonotonicTime(20));
        let mut watch = watch_over(&exchange);
        assert_eq!(began(&mut watch, &exchange, 120), [0]);
        assert_eq!(began(&mut watch, &exchange, at(20).0), [], "its worker is only a little late");
        // Stopped and let go on: nobody looked meanwhile.
        assert_eq!(began(&mut watch, &exchange, at(9000).0), []);
        assert_eq!(began(&mut watch, &exchange, at(9100).0), []);
        let hangs = watch.look(&exchange, 0..4, &AWAKE, at(9101));
        let [Hang::Stalled { client: 1, sample }, Hang::Stalled { client: 2, .. }] = hangs[..] else {
            panic!("{hangs:?}")
        };
        assert_eq!((sample.start, sample.duration), (at(9000), Nanoseconds(101)));
        coordinator.beat(0, Nanoseconds(9085), at(9110));
        let ended = watch.look(&exchange, 0..4, &AWAKE, at(9105));
        assert!(
            matches!(ended[..], [Hang::Ended { client: 1, .. }, Hang::Ended { client: 2, .. }]),
            "{ended:?}"
        );
        coordinator.heart_ends(0);
        assert_eq!(began(&mut watch, &exchange, at(SILENCE.0 * 2).0), []);
    }

    #[test]
    fn who_pauses_on_a_thread_of_its_own_is_believed_when_the_heart_beside_it_is_late() {
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        let pause = |client| exchange.recorder(client).set_activity(Activity::Pausing);
        std::thread::scope(|scope| (0..2).for_each(|client| drop(scope.spawn(move || pause(client)))));
        exchange.coordinator().beat(0, Nanoseconds::ZERO, MonotonicTime(20));
        let mut watch = watch_over(&exchange);
        assert_eq!(began(&mut watch, &exchange, SILENCE.0 * 2), []);
        assert_eq!(began(&mut watch, &exchange, SILENCE.0 * 3), []);
    }

    #[test]
    fn what_the_keeper_has_slept_counts_for_no_deadline() {
        const SLEPT: Nanoseconds = Nanoseconds::from_seconds(60);
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        let mut recorder = exchange.recorder(0);
        begin(&mut recorder, AttemptId(5), Operation::Stat, Activity::Working);
        exchange.recorder(1).set_activity(Activity::Working);
        let mut watch = watch_over(&exchange);
        let mut sleeps = Sleeps::new(MonotonicTime(50));
        assert_eq!(watch.look(&exchange, 0..2, &sleeps, MonotonicTime(50)), []);
        let woken = MonotonicTime(50).after(SLEPT);
        assert_eq!(sleeps.look(woken), Some(SLEPT));
        assert_eq!(watch.look(&exchange, 0..2, &sleeps, woken.after(Nanoseconds(40))), []);
        let later = woken.after(Nanoseconds(200));
        assert!(matches!(
            watch.look(&exchange, 0..2, &sleeps, later)[..],
            [Hang::Began { .. }, Hang::Stalled { .. }]
        ));
    }

    #[test]
    fn of_two_lanes_one_may_hang_and_the_other_go_on() {
        let room = Room { clients: 2, lanes: 2, ring_bytes: 1 << 20, samples_per_client: None };
        let exchange = Exchange::with_room(room).unwrap();
        let mut watch = watch_over(&exchange);
        let mut recorder = exchange.recorder(1);
        let attempt = |number| AttemptId::new(ClientId(1), number);
        begin(&mut recorder, attempt(0), Operation::Stat, Activity::Working);
        recorder.set_lane(1);
        begin(&mut recorder, attempt(1), Operation::Read, Activity::Working);
        let both = exchange.all_in_flight(1).map(|flight| flight.map(|flight| flight.attempt));
        assert_eq!(both.collect::<Vec<_>>(), [Some(attempt(0)), Some(attempt(1))]);
        assert_eq!(exchange.all_in_flight(0).collect::<Vec<_>>(), [None, None]);
        // The second lane goes on, the first does not.
        recorder.record(hung_sample(exchange.all_in_flight(1).last().flatten().unwrap(), MonotonicTime(90)));
        recorder.announce(attempt(2), Operation::Read, StageIndex(2), MonotonicTime(0));
        recorder.begin(MonotonicTime(95));
        let hangs = watch.look(&exchange, [0, 1], &AWAKE, MonotonicTime(111));
        let [Hang::Began { client: 1, sample }] = hangs[..] else { panic!("{hangs:?}") };
        assert_eq!((sample.attempt, sample.operation()), (attempt(0), Operation::Stat));
        let hangs = watch.look(&exchange, [0, 1], &AWAKE, MonotonicTime(196));
        assert!(
            matches!(hangs[..], [Hang::Began { sample, .. }] if sample.attempt == attempt(2)),
            "{hangs:?}"
        );
        let still: Vec<_> =
            watch.still_hung(MonotonicTime(200)).iter().map(|(_, sample)| sample.attempt).collect();
        assert_eq!(still, [attempt(0), attempt(2)]);
        recorder.set_lane(0);
        recorder.record(sample);
        assert_eq!(
            watch.look(&exchange, [0, 1], &AWAKE, MonotonicTime(201)),
            [Hang::Ended { client: 1, attempt: attempt(0), sample: None }]
        );
        assert_eq!(watch.still_hung(MonotonicTime(202)).len(), 1);
    }

    /// Who has begun to hang at this moment.
    fn began(watch: &mut HangDetection, exchange: &Exchange, now: u64) -> Vec<u32> {
        let hangs = watch.look(exchange, 0..exchange.clients(), &AWAKE, MonotonicTime(now));
        let client = |hang: Hang| match hang {
            Hang::Began { client, .. } | Hang::Stalled { client, .. } => client,
            Hang::Ended { .. } => panic!("{hang:?}"),
        };
        hangs.into_iter().map(client).collect()
    }

    #[test]
    fn each_role_and_operation_has_its_deadline() {
        let rule =
            |role, operation, deadline| DeadlineRule { role, operation, deadline_ns: Nanoseconds(deadline) };
        let rules = [rule(None, Some(Operation::List), 500), rule(Some(Role::Bystander), None, 50)];
        let exchange = Exchange::new(4, 1 << 20).unwrap();
        [2, 3].into_iter().for_each(|client| exchange.set_role(client, Role::Bystander));
        let deadlines = Role::ALL.map(|role| Deadlines::by_rules(role, DEADLINE, &rules));
        let mut watch = HangDetection::new(&exchange, deadlines, MonotonicTime(1));
        let operations = [Operation::Stat, Operation::List, Operation::Stat];
        for (client, operation) in (0..).zip(operations) {
            begin(&mut exchange.recorder(client), AttemptId(5), operation, Activity::Working);
        }
        // Between two operations.
        exchange.recorder(3).set_activity(Activity::Working);
        assert_eq!(
            began(&mut watch, &exchange, 51),
            [],
            "a bystander's silence counts from the first look, at 1"
        );
        assert_eq!(began(&mut watch, &exchange, 60), [3]);
        assert_eq!(began(&mut watch, &exchange, 61), [2]);
        assert_eq!(began(&mut watch, &exchange, 110), []);
        assert_eq!(began(&mut watch, &exchange, 111), [0]);
        assert_eq!(began(&mut watch, &exchange, 510), []);
        assert_eq!(began(&mut watch, &exchange, 511), [1]);
    }

    #[test]
    fn who_ends_its_operations_at_their_deadline_itself_gets_a_little_longer() {
        let exchange = Exchange::new(3, 1 << 20).unwrap();
        let activities = [Activity::Working, Activity::Asking];
        for (client, activity) in (0..).zip(activities) {
            begin(&mut exchange.recorder(client), AttemptId(5), Operation::Stat, activity);
        }
        exchange.recorder(2).set_activity(Activity::Asking);
        let mut watch = watch_over(&exchange);
        assert_eq!(began(&mut watch, &exchange, 111), [0]);
        let later = 110 + CANCELLING.0;
        assert_eq!(began(&mut watch, &exchange, later), [2], "silent since the first look");
        assert_eq!(began(&mut watch, &exchange, later + 1), [1]);
    }
}
