//! A heart beats while clients are driven, and not for who hangs afterwards.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use iolag_backend::{Completion, Descriptors, Request, Session};
use iolag_keeper::Exchange;
use iolag_model::{Activity, MonotonicClock};
use iolag_workload::{IfNotOpen, Job, run_threads};

use crate::{client, wait_until};

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
        // One that was due meanwhile may still come; with a heart there would be one every 10 ms.
        wait_until("a silence", || {
            std::thread::sleep(Duration::from_millis(200));
            exchange.take_lag(0).is_none()
        });
        release.send(()).unwrap();
    });
}
