//! Pacers: when the next operation of a client starts.

use iolag_model::{Arrivals, MonotonicTime, Random, Think, WhenLate};

use super::client::Done;

/// Decides when the next operation starts. Pure: it is told when the last one ran.
#[derive(Debug, Clone)]
pub struct Pacer {
    pace: Pace,
    ready: Option<MonotonicTime>,
}

#[derive(Debug, Clone)]
enum Pace {
    Closed(Think),
    Open(Box<OpenSchedule>),
}

impl Pacer {
    /// A closed loop: after every operation the client thinks, then asks again.
    pub const fn closed_loop(think: Think) -> Self {
        Self { pace: Pace::Closed(think), ready: None }
    }

    /// An open schedule from `begin` on. When operations are due depends on nothing that happens, so that no slow one hides what
    /// those after it would have felt.
    pub fn open_schedule(arrivals: Arrivals, late: WhenLate, begin: MonotonicTime, random: Random) -> Self {
        let mut schedule =
            OpenSchedule { arrivals, late, begin, random, count: 0, elapsed_ns: 0.0, free: begin };
        let ready = Some(schedule.advance());
        Self { pace: Pace::Open(Box::new(schedule)), ready }
    }

    /// When the next operation is intended to start; `None` is at once. Asking again gives the same answer.
    #[inline]
    pub const fn intended(&self) -> Option<MonotonicTime> {
        self.ready
    }

    /// An operation ended: the pause begins, or the next of the schedule is intended.
    #[inline]
    pub fn completed(&mut self, done: &Done) {
        self.ready = match &mut self.pace {
            Pace::Closed(Think::None) => None,
            Pace::Closed(Think::Fixed(pause)) => Some(done.end.after(*pause)),
            Pace::Closed(Think::Factor(factor)) => {
                let pause_ns = done.end.since(done.start).0 as f64 * *factor;
                Some(MonotonicTime(done.end.0.saturating_add(pause_ns as u64)))
            }
            Pace::Open(schedule) => Some(schedule.completed(done.end)),
        };
    }

    /// An operation that came due while the client was busy and is not to be asked: to be recorded as skipped, by a
    /// [`Note`](crate::Note), and asked for until there is none, before [`Pacer::intended`]. Who does not ask catches up.
    pub fn take_skipped(&mut self) -> Option<MonotonicTime> {
        let Pace::Open(schedule) = &mut self.pace else { return None };
        let due = self.ready.filter(|due| schedule.late == WhenLate::Skip && *due < schedule.free)?;
        self.ready = Some(schedule.advance());
        Some(due)
    }
}

/// The moments at which operations are due, and since when the client is free for them.
#[derive(Debug, Clone)]
struct OpenSchedule {
    arrivals: Arrivals,
    late: WhenLate,
    begin: MonotonicTime,
    random: Random,
    /// Moments so far, and for random ones the time from the beginning to the last.
    count: u64,
    elapsed_ns: f64,
    free: MonotonicTime,
}

impl OpenSchedule {
    #[cold]
    fn completed(&mut self, end: MonotonicTime) -> MonotonicTime {
        self.free = end;
        self.advance()
    }

    /// The next moment. Equal distances are counted from the beginning, since a sum of them would drift.
    fn advance(&mut self) -> MonotonicTime {
        const SECOND_NS: f64 = 1e9;
        self.elapsed_ns = match self.arrivals {
            Arrivals::Rate(rate) => self.count as f64 * SECOND_NS / rate,
            Arrivals::Poisson(rate) => self.elapsed_ns - (1.0 - self.random.unit()).ln() * SECOND_NS / rate,
        };
        self.count += 1;
        MonotonicTime(self.begin.0.saturating_add(self.elapsed_ns as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_backend::Completion;
    use iolag_model::Nanoseconds;
    use proptest::prelude::*;

    const BEGIN: MonotonicTime = MonotonicTime(7_000_000_000);

    fn done(start: u64, end: u64) -> Done {
        Done { completion: Completion::ok(0), start: MonotonicTime(start), end: MonotonicTime(end) }
    }

    fn schedule(arrivals: Arrivals, late: WhenLate) -> Pacer {
        Pacer::open_schedule(arrivals, late, BEGIN, Random::new(5))
    }

    /// Asks as a client does, each time busy for as long as given: what was asked, and what was skipped.
    fn ask(mut pacer: Pacer, busy_ns: &[u64]) -> (Vec<MonotonicTime>, Vec<MonotonicTime>) {
        let (mut asked, mut skipped) = (Vec::new(), Vec::new());
        let mut now = BEGIN;
        for busy_ns in busy_ns {
            skipped.extend(std::iter::from_fn(|| pacer.take_skipped()));
            let intended = pacer.intended().unwrap();
            asked.push(intended);
            let start = now.max(intended);
            now = start.after(Nanoseconds(*busy_ns));
            pacer.completed(&done(start.0, now.0));
        }
        (asked, skipped)
    }

    #[test]
    fn a_factor_is_of_the_operations_time() {
        let mut pacer = Pacer::closed_loop(Think::Factor(0.5));
        assert_eq!(pacer.intended(), None);
        pacer.completed(&done(100, 200));
        assert_eq!(pacer.intended(), Some(MonotonicTime(250)));
        assert_eq!(pacer.take_skipped(), None);
    }

    #[test]
    fn a_rate_is_equal_distances_from_the_beginning_without_drift() {
        let (asked, _) = ask(schedule(Arrivals::Rate(3.0), WhenLate::CatchUp), &[0; 300_001]);
        let since = |index: usize| asked[index].since(BEGIN).0;
        assert_eq!([since(0), since(1), since(2), since(3)], [0, 333_333_333, 666_666_666, 1_000_000_000]);
        assert_eq!(since(300_000), 100_000 * 1_000_000_000);
    }

    #[test]
    fn distances_of_poisson_have_mean_and_deviation_of_the_rate() {
        const NUMBER: usize = 100_000;
        let (asked, _) = ask(schedule(Arrivals::Poisson(200.0), WhenLate::CatchUp), &[0; NUMBER]);
        let mut before = BEGIN;
        let distances: Vec<f64> = asked
            .into_iter()
            .map(|moment| moment.since(std::mem::replace(&mut before, moment)).as_seconds() * 200.0)
            .collect();
        let mean = distances.iter().sum::<f64>() / NUMBER as f64;
        let variance =
            distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / NUMBER as f64;
        // Exponential: mean 1 and variance 1, whose standard errors are 1/√n and √(8/n).
        let error = (NUMBER as f64).sqrt().recip();
        assert!((mean - 1.0).abs() < 4.0 * error, "{mean}");
        assert!((variance - 1.0).abs() < 4.0 * 8.0_f64.sqrt() * error, "{variance}");
    }

    #[test]
    fn what_came_due_while_the_client_was_busy_is_asked_late_or_skipped() {
        let seconds = |moments: Vec<MonotonicTime>| -> Vec<u64> {
            moments.into_iter().map(|moment| moment.since(BEGIN).0 / 1_000_000_000).collect()
        };
        // Due at 0, 1, 2, …; the second is busy from 1.0 to 4.0 s: 4 is due when it is free again.
        let busy_ns = [500_000_000, 3_000_000_000, 0, 0];
        let (asked, skipped) = ask(schedule(Arrivals::Rate(1.0), WhenLate::Skip), &busy_ns);
        assert_eq!((seconds(asked), seconds(skipped)), (vec![0, 1, 4, 5], vec![2, 3]));
        let (asked, skipped) = ask(schedule(Arrivals::Rate(1.0), WhenLate::CatchUp), &busy_ns);
        assert_eq!((seconds(asked), seconds(skipped)), (vec![0, 1, 2, 3], vec![]));
    }

    fn any_arrivals() -> impl Strategy<Value = Arrivals> {
        prop_oneof![(0.1..1e6).prop_map(Arrivals::Rate), (0.1..1e6).prop_map(Arrivals::Poisson)]
    }

    proptest! {
        #[test]
        fn a_pacer_is_never_early(start in 0_u64..1 << 40, length in 0_u64..1 << 40, pause in 0_u64..1 << 40, factor in 0.0..1e3) {
            for think in [Think::Fixed(Nanoseconds(pause)), Think::Factor(factor)] {
                let mut pacer = Pacer::closed_loop(think);
                pacer.completed(&done(start, start + length));
                prop_assert!(pacer.intended().unwrap() >= MonotonicTime(start + length));
            }
        }

        #[test]
        fn when_operations_are_due_depends_on_nothing_that_happens(
            arrivals in any_arrivals(),
            busy in proptest::collection::vec(0_u64..2000, 1..50),
        ) {
            // In thousandths of the mean distance, so that few are skipped at any rate.
            let (Arrivals::Rate(rate) | Arrivals::Poisson(rate)) = arrivals;
            let busy_ns: Vec<u64> = busy.iter().map(|busy| (*busy as f64 * 1e6 / rate) as u64).collect();
            let at_once = ask(schedule(arrivals, WhenLate::CatchUp), &vec![0; 1000]).0;
            let (caught_up, none) = ask(schedule(arrivals, WhenLate::CatchUp), &busy_ns);
            prop_assert_eq!(&caught_up[..], &at_once[..busy_ns.len()]);
            prop_assert!(none.is_empty());
            let (asked, skipped) = ask(schedule(arrivals, WhenLate::Skip), &busy_ns);
            let mut due = [asked, skipped].concat();
            due.sort_unstable();
            prop_assert_eq!(&due[..], &at_once[..due.len()]);
        }
    }
}
