//! Thousands of asynchronous clients with the three roles of a run: keeper, measurer, writer.
//!
//! `cargo run --release -p iolag --example asynchronous_clients [CLIENTS]`: each client asks ten times something that takes 20 ms,
//! with a pause of 80 ms in between; the writer drains the rings into a spool and encodes it. Fails if a sample is missing. What
//! its processes take of memory is for others to watch (`cargo xtask bench many-clients`). No command has such clients yet.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

mod writer;

use std::time::Duration;

use anyhow::{Result, ensure};
use iolag_backend::{AsyncExecution, AsyncOpening, AsyncSession, Completion, ObjectKey, Request};
use iolag_keeper::{Child, Ending, Exchange, HangDetection, Orphanage, Room, Sleeps};
use iolag_model::{ClientId, Clock, MonotonicClock, MonotonicTime, Nanoseconds, Operation, StageIndex};
use iolag_workload::{
    Client, ClientLoop, Done, DriveEnd, DriveOptions, IfNotOpen, Job, Step, Workers, run_async_clients,
};

const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(60);
const OPERATIONS: u64 = 10;
/// Operations, the opening of the session, the stage.
const SAMPLES: u64 = OPERATIONS + 2;

fn main() -> Result<()> {
    let clients: u32 = std::env::args().nth(1).map_or(Ok(50), |text| text.parse())?;
    let ring_bytes = Room::usual_bytes(clients);
    let exchange =
        Exchange::with_room(Room { clients, lanes: 1, ring_bytes, samples_per_client: Some(SAMPLES) })?;
    let place = tempfile::tempdir()?;
    let expected = u64::from(clients) * SAMPLES;
    let mut writer = Child::fork("writer", Orphanage::Die, || {
        i32::from(!writer::write(&exchange, place.path()).is_ok_and(|stored| stored == expected))
    })?;
    let mut measurer = Child::fork("measurer", Orphanage::Die, || i32::from(!measure(&exchange)))?;
    let sleeps = Sleeps::new(MonotonicClock.now());
    let mut hangs = HangDetection::new(&exchange, [DEADLINE; 3].map(Into::into), MonotonicClock.now());
    while measurer.wait(Nanoseconds::from_milliseconds(50)).is_none() {
        ensure!(
            hangs.look(&exchange, 0..clients, &sleeps, MonotonicClock.now()).is_empty(),
            "a client hangs"
        );
    }
    ensure!(measurer.ending() == Some(Ending::Exited(0)), "the measurer failed");
    exchange.set_measured();
    ensure!(writer.wait(DEADLINE) == Some(Ending::Exited(0)), "the writer failed, or a sample is missing");
    println!("{clients} clients, {} samples stored", exchange.samples_consumed());
    Ok(())
}

fn measure(exchange: &Exchange) -> bool {
    let jobs = (0..exchange.clients()).map(|rank| {
        exchange.prefault(rank);
        let options = DriveOptions { client: ClientId(rank), rank, deadlines: DEADLINE.into() };
        Job {
            client: ClientLoop::new(
                Asking { begun: false, left: OPERATIONS, next: None },
                exchange.recorder(rank),
                options,
            ),
            open: || -> AsyncOpening<'static> {
                Box::pin(async { Ok(Box::new(Answering) as Box<dyn AsyncSession>) })
            },
            if_not_open: IfNotOpen::StopAll,
        }
    });
    let workers = Workers { threads: 2, opening_at_once: 256 };
    run_async_clients(jobs.collect(), workers, &exchange.coordinator(), &MonotonicClock)
        .is_ok_and(|ends| ends.iter().all(|end| matches!(end, Ok(DriveEnd::Finished))))
}

/// Begins a stage, asks, pauses, ends.
struct Asking {
    begun: bool,
    left: u64,
    next: Option<MonotonicTime>,
}

impl Client for Asking {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        if !std::mem::replace(&mut self.begun, true) {
            return Step::Begin { stage: StageIndex(1), value: 0 };
        }
        if self.left == 0 {
            return Step::Finished;
        }
        self.left -= 1;
        let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
        Step::Execute { request, intended: self.next }
    }

    fn completed(&mut self, _request: &Request, done: &Done) {
        self.next = Some(done.end.after(Nanoseconds::from_milliseconds(80)));
    }
}

struct Answering;

impl AsyncSession for Answering {
    fn prepare(&mut self, _request: &Request) {}

    fn execute<'a>(&'a mut self, _request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Completion::ok(0)
        })
    }
}
