//! A heart beats while clients are driven, and not for who hangs afterwards.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use iolag_backend::{AsyncOpening, AsyncSession, Completion, Descriptors, Request, Session};
use iolag_keeper::{Exchange, Hang, HangDetection, Sleeps};
use iolag_model::{Activity, Clock, MonotonicClock, MonotonicTime, Nanoseconds};
use iolag_workload::{DriveEnd, IfNotOpen, Job, Workers, run_async_clients, run_threads};

use crate::{Known, client, wait_until};

/// Has something open that does not close before it is released, as a file on a server that is gone.
struct ClosesLate(Receiver<()>);

impl Session for ClosesLate {
    fn prepare(&mut self, _: &Request) {}

    fn execute(&mut self, _: &Request) -> Completion {
        std::thread::sleep(Duration::from_millis(1));
        Completion::ok(0)
    }
}

impl Drop for ClosesLate {
    fn drop(&mut self) {
        self.0.recv().expect("it is released in the end");
    }
}

#[test]
fn a_measurer_that_hangs_in_closing_has_no_heart_that_beats() {
    let (release, released) = channel();
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let coordinator = exchange.coordinator();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let open = move || Ok(Box::new(ClosesLate(released)) as Box<dyn Session>);
            let job = Job { client: client(&exchange, 0, 100), open, if_not_open: IfNotOpen::StopAll };
            run_threads(vec![job], Descriptors::Shared, &coordinator, &MonotonicClock)
        });
        wait_until("a beat", || exchange.take_lag(0).is_some());
        wait_until("the end of the client", || exchange.activity(0) == Activity::Ended);
        wait_until("the end of the heart", || exchange.overdue(0, MonotonicTime(u64::MAX)).is_none());
        // One that was due meanwhile may still come; with a heart there would be one every 10 ms.
        wait_until("a silence", || {
            std::thread::sleep(Duration::from_millis(200));
            exchange.take_lag(0).is_none()
        });
        release.send(()).unwrap();
    });
}

#[test]
fn who_waits_beside_one_that_blocks_their_worker_hangs_with_it() {
    const DEADLINE: Nanoseconds = Nanoseconds::from_milliseconds(500);
    let (release, released) = channel::<()>();
    let blocks = Arc::new(Mutex::new(released));
    let exchange = Exchange::new(2, 1 << 20).unwrap();
    let coordinator = exchange.coordinator();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let job = |rank| {
                let blocks = Arc::clone(&blocks);
                let open = move || {
                    let blocks = Arc::clone(&blocks);
                    Box::pin(async move {
                        if rank == 0 {
                            // The other is at the meeting meanwhile.
                            tokio::time::sleep(Duration::from_millis(50)).await;
                            blocks.lock().unwrap().recv().expect("it is released in the end");
                        }
                        Ok(Box::new(Known(Duration::ZERO)) as Box<dyn AsyncSession>)
                    }) as AsyncOpening<'static>
                };
                Job { client: client(&exchange, rank, 1), open, if_not_open: IfNotOpen::StopAll }
            };
            let workers = Workers { threads: 1, opening_at_once: 2 };
            run_async_clients((0..2).map(job).collect(), workers, &coordinator, &MonotonicClock)
        });
        let begin = MonotonicClock.now();
        let mut hangs = HangDetection::new(&exchange, [DEADLINE; 3].map(Into::into), begin);
        let mut hung = Vec::new();
        wait_until("both", || {
            let now = MonotonicClock.now();
            hung.extend(hangs.look(&exchange, 0..2, &Sleeps::new(begin), now));
            hung.len() == 2
        });
        assert_eq!(exchange.activity(1), Activity::Meeting);
        hung.sort_by_key(|hang| matches!(hang, Hang::Stalled { .. }));
        assert!(
            matches!(hung[..], [Hang::Began { client: 0, .. }, Hang::Stalled { client: 1, .. }]),
            "{hung:?}"
        );
        release.send(()).unwrap();
        let ends = run.join().unwrap().unwrap();
        assert!(ends.iter().all(|end| matches!(end, Ok(DriveEnd::Finished))), "{ends:?}");
    });
    assert_eq!(exchange.overdue(0, MonotonicTime(u64::MAX)), None, "its heart has ended");
}
