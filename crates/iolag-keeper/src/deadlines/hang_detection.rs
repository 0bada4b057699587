//! Watching clients: which operation has been in flight, or which client has been silent, for longer than the deadline.
//!
//! Pure over what it is shown and told: the shared memory is read by [`HangDetection::look`], decisions depend only on that and
//! on `now`.

use iolag_model::{
    Activity, AttemptId, FailureCode, MonotonicTime, Nanoseconds, Operation, Outcome, Sample, StageIndex,
};

use crate::{Exchange, InFlight, Sleeps};

/// Remembers what was already reported.
#[derive(Debug)]
pub struct HangDetection {
    deadline: Nanoseconds,
    clients: Vec<Watched>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Watched {
    /// The attempt that was reported as hung and has not ended.
    hung: Option<Sample>,
    progress: u64,
    progress_since: MonotonicTime,
    stalled: bool,
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
    /// A watch over `clients` clients.
    pub fn new(clients: u32, deadline: Nanoseconds, now: MonotonicTime) -> Self {
        let watched = Watched { progress_since: now, ..Watched::default() };
        Self { deadline, clients: vec![watched; clients as usize] }
    }

    /// Looks at each of these clients once; one whose process stands still has nothing to show. What the keeper has slept counts
    /// for no deadline.
    pub fn look(
        &mut self,
        exchange: &Exchange,
        clients: impl IntoIterator<Item = u32>,
        sleeps: &Sleeps,
        now: MonotonicTime,
    ) -> Vec<Hang> {
        let mut hangs = Vec::new();
        for client in clients {
            let (activity, progress) = exchange.activity(client);
            let in_flight = exchange.in_flight(client);
            self.look_at(client, in_flight, (activity, progress), sleeps, now, &mut hangs);
        }
        hangs
    }

    /// Everything that was reported and has not ended, with its age at `now`: what to record last.
    pub fn still_hung(&self, now: MonotonicTime) -> Vec<(u32, Sample)> {
        let aged = |mut sample: Sample| {
            sample.duration = now.since(sample.start);
            sample
        };
        self.clients
            .iter()
            .enumerate()
            .filter_map(|(client, watched)| Some((client as u32, aged(watched.hung?))))
            .collect()
    }

    fn look_at(
        &mut self,
        client: u32,
        in_flight: Option<InFlight>,
        (activity, progress): (Activity, u64),
        sleeps: &Sleeps,
        now: MonotonicTime,
        hangs: &mut Vec<Hang>,
    ) {
        let deadline = self.deadline;
        let watched = &mut self.clients[client as usize];
        if let Some(hung) = watched.hung
            && !watched.stalled
            && in_flight.is_none_or(|flight| flight.attempt != hung.attempt)
        {
            watched.hung = None;
            hangs.push(Hang::Ended { client, attempt: hung.attempt, sample: None });
        }
        // An operation that has just ended counts as progress now, not when it was announced.
        let ended = hangs
            .last()
            .is_some_and(|hang| matches!(hang, Hang::Ended { client: whose, .. } if *whose == client));
        if progress != watched.progress || activity != Activity::Working || in_flight.is_some() || ended {
            if watched.stalled
                && let Some(hung) = watched.hung.take()
            {
                watched.stalled = false;
                let mut sample = hung.with_outcome(Outcome::Late, FailureCode::NONE);
                sample.duration = now.since(hung.start);
                hangs.push(Hang::Ended { client, attempt: hung.attempt, sample: Some(sample) });
            }
            watched.progress = progress;
            watched.progress_since = now;
        }
        match in_flight {
            Some(flight) if sleeps.awake(flight.start, now) > deadline && watched.hung.is_none() => {
                let sample = hung_sample(flight, now);
                watched.hung = Some(sample);
                hangs.push(Hang::Began { client, sample });
            }
            None if activity == Activity::Working
                && watched.hung.is_none()
                && sleeps.awake(watched.progress_since, now) > deadline =>
            {
                let flight = InFlight {
                    // No client comes to the last sequence numbers: each stall has one of its own, from the end.
                    attempt: AttemptId::new(iolag_model::ClientId(client), u64::MAX - watched.stalls),
                    operation: Operation::OpenSession,
                    stage: StageIndex(0),
                    intended: watched.progress_since,
                    start: watched.progress_since,
                };
                let sample = hung_sample(flight, now);
                watched.hung = Some(sample);
                watched.stalled = true;
                watched.stalls += 1;
                hangs.push(Hang::Stalled { client, sample });
            }
            _ => {}
        }
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
    use iolag_model::Recorder;

    const DEADLINE: Nanoseconds = Nanoseconds(100);
    const AWAKE: Sleeps = Sleeps::new(MonotonicTime(0));

    #[test]
    fn an_operation_is_hung_once_and_its_end_is_noticed() {
        let exchange = Exchange::new(1, 1 << 20).unwrap();
        let mut recorder = exchange.recorder(0);
        let mut watch = HangDetection::new(1, DEADLINE, MonotonicTime(1));
        recorder.set_activity(Activity::Working);
        let attempt = AttemptId(5);
        recorder.announce(attempt, Operation::Stat, StageIndex(2), MonotonicTime(0));
        recorder.begin(MonotonicTime(10));
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
        let mut watch = HangDetection::new(1, DEADLINE, MonotonicTime(1));
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
    fn what_the_keeper_has_slept_counts_for_no_deadline() {
        const SLEPT: Nanoseconds = Nanoseconds::from_seconds(60);
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        let mut recorder = exchange.recorder(0);
        recorder.set_activity(Activity::Working);
        recorder.announce(AttemptId(5), Operation::Stat, StageIndex(0), MonotonicTime(0));
        recorder.begin(MonotonicTime(10));
        exchange.recorder(1).set_activity(Activity::Working);
        let mut watch = HangDetection::new(2, DEADLINE, MonotonicTime(1));
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
}
