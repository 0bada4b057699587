//! What a client is there for: who hangs holds up nobody of another role, and each has deadlines of its own.

use std::sync::mpsc;

use iolag_backend::{Completion, ObjectKey, Request, Session};
use iolag_keeper::Exchange;
use iolag_model::{
    ClientId, Clock, DeadlineRule, Deadlines, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds,
    Operation, Outcome, Role, SimulatedClock, StageIndex,
};
use iolag_workload::{Client, ClientLoop, Done, DriveEnd, DriveOptions, Step, drive_blocking};

use crate::{DEADLINE, count, drain, wait_until};

#[test]
fn a_hung_bystander_delays_no_load_client_and_a_hung_load_client_no_bystander() {
    const BYSTANDER: u32 = 3;
    for hung in [BYSTANDER, 0] {
        let exchange = Exchange::new(4, 1 << 20).unwrap();
        exchange.set_role(BYSTANDER, Role::Bystander);
        std::thread::scope(|scope| {
            let (hold, held) = mpsc::channel();
            let mut held = Some(held);
            let threads: Vec<_> = (0..4)
                .map(|rank| {
                    let mut session = Held(if rank == hung { held.take() } else { None });
                    let options = DriveOptions { client: ClientId(rank), rank, deadlines: DEADLINE.into() };
                    let exchange = &exchange;
                    scope.spawn(move || {
                        let client = ClientLoop::new(Stages::default(), exchange.recorder(rank), options);
                        drive_blocking(client, &mut session, &exchange.coordinator(), &MonotonicClock)
                    })
                })
                .collect();
            wait_until("the operation that hangs", || exchange.in_flight(hung).is_some());
            let is_of_another = |rank: &u32| exchange.role(*rank) != exchange.role(hung);
            for rank in (0..4).filter(is_of_another) {
                wait_until("the other role's end", || threads[rank as usize].is_finished());
            }
            assert!(
                (0..4).filter(|rank| !is_of_another(rank)).all(|rank| !threads[rank as usize].is_finished())
            );
            drop(hold);
            assert!(threads.into_iter().all(|thread| thread.join().unwrap() == DriveEnd::Finished));
        });
        let stats = drain(&exchange);
        assert_eq!(count(&stats, Operation::Stat), 4 * usize::from(Stages::ALL));
    }
}

/// Begins stages, and asks once in each.
#[derive(Default)]
struct Stages {
    begun: u16,
    is_asking: bool,
}

impl Stages {
    const ALL: u16 = 3;
}

impl Client for Stages {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        if std::mem::take(&mut self.is_asking) {
            let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
            return Step::Execute { request, intended: None };
        }
        if self.begun == Self::ALL {
            return Step::Finished;
        }
        self.begun += 1;
        self.is_asking = true;
        Step::Begin { stage: StageIndex(self.begun), value: 0 }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

/// Does not answer as long as somebody holds the other end.
struct Held(Option<mpsc::Receiver<()>>);

impl Session for Held {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        // That nobody holds it any more is the answer.
        let _ = self.0.take().map(|held| held.recv());
        Completion::ok(0)
    }
}

#[test]
fn what_is_late_or_timed_out_is_so_by_the_deadline_of_its_operation() {
    const TOOK: Nanoseconds = Nanoseconds::from_milliseconds(5);
    const SHORT: Nanoseconds = Nanoseconds::from_milliseconds(4);
    let rules = [DeadlineRule { role: None, operation: Some(Operation::List), deadline_ns: SHORT }];
    let deadlines = Deadlines::by_rules(Role::Load, DEADLINE, &rules);
    for (code, stat, list) in [
        (FailureCode::NONE, (Outcome::Ok, TOOK), (Outcome::Late, TOOK)),
        (FailureCode::DEADLINE, (Outcome::Timeout, TOOK), (Outcome::Timeout, SHORT)),
    ] {
        let exchange = Exchange::new(1, 1 << 20).unwrap();
        let clock = SimulatedClock::starting_at(MonotonicTime(1_000));
        let options = DriveOptions { client: ClientId(0), rank: 0, deadlines: deadlines.clone() };
        let client =
            ClientLoop::new(Asks(vec![Operation::List, Operation::Stat]), exchange.recorder(0), options);
        let mut session = Takes(clock.clone(), TOOK, code);
        assert_eq!(drive_blocking(client, &mut session, &exchange.coordinator(), &clock), DriveEnd::Finished);
        let found = drain(&exchange);
        let found: Vec<_> = found.iter().map(|sample| (sample.outcome(), sample.duration)).collect();
        assert_eq!(found, [stat, list], "{code:?}");
    }
}

/// Asks for these, the last first.
struct Asks(Vec<Operation>);

impl Client for Asks {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        let request = |operation| Request::new(operation, ObjectKey::default(), 0);
        self.0
            .pop()
            .map_or(Step::Finished, |operation| Step::Execute { request: request(operation), intended: None })
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

/// Takes so long by a simulated clock, and ends in this way.
struct Takes(SimulatedClock, Nanoseconds, FailureCode);

impl Session for Takes {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        self.0.sleep_until(self.0.now().after(self.1));
        Completion::failed(self.2)
    }
}
