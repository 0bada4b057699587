//! What the clients of a process find open in it.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iolag_backend::{Descriptors, Session};
use iolag_keeper::Exchange;
use iolag_model::MonotonicClock;
use iolag_workload::{IfNotOpen, Job, can_unshare, run_threads};

use super::{Known, client};

#[test]
fn only_a_table_of_its_own_has_nothing_in_it_that_the_process_has_opened() {
    let opened = File::open("/dev/null").unwrap();
    for descriptors in [Descriptors::Private, Descriptors::Shared] {
        let exchange = Exchange::new(1, 1 << 20).unwrap();
        let found = AtomicBool::new(false);
        let open = || {
            found.store(opened.metadata().is_ok(), Ordering::Relaxed);
            Ok(Box::new(Known(Duration::ZERO)) as Box<dyn Session>)
        };
        let job = Job { client: client(&exchange, 0, 1), open, if_not_open: IfNotOpen::StopAll };
        run_threads(vec![job], descriptors, &exchange.coordinator(), &MonotonicClock);
        // Where the system lets no thread have one, all share that of the process.
        let is_shared = descriptors == Descriptors::Shared || !can_unshare();
        assert_eq!(found.into_inner(), is_shared, "{descriptors:?}");
    }
}
