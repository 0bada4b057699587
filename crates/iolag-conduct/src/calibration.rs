//! What measuring costs here: measured before every run, printed with it.
//!
//! The cost of a sample is that of the loop itself around an operation that does nothing, both clock readings, slot and
//! ring included. The least of short batches: what else the machine does can only add to it, and is no cost of measuring.

use iolag_backend::{Completion, ObjectKey, Request, Session};
use iolag_keeper::{Exchange, KeeperError};
use iolag_model::{Calibration, ClientId, Clock, MonotonicClock, MonotonicTime, Nanoseconds, Operation};
use iolag_workload::{Client, ClientLoop, Done, DriveOptions, Step, drive_blocking};

const BATCHES: usize = 25;
const OPERATIONS: u64 = 4_000;

/// Measures clock and loop for about 10 ms.
///
/// # Errors
/// If there is no memory for a scratch ring.
pub fn calibrate() -> Result<Calibration, KeeperError> {
    Ok(Calibration {
        clock_read_ns: clock_read_ns(),
        clock_resolution_ns: clock_resolution_ns(),
        overhead_per_sample_ns: overhead_per_sample_ns()?,
    })
}

fn clock_read_ns() -> f64 {
    least((0..BATCHES).map(|_| {
        let start = MonotonicClock.now();
        for _ in 0..OPERATIONS {
            std::hint::black_box(MonotonicClock.now());
        }
        MonotonicClock.now().since(start).0 as f64 / OPERATIONS as f64
    }))
}

/// The smallest step between two readings that differ.
fn clock_resolution_ns() -> f64 {
    let mut smallest = u64::MAX;
    let mut last = MonotonicClock.now();
    for _ in 0..OPERATIONS {
        let now = MonotonicClock.now();
        let step = now.since(last).0;
        if step > 0 {
            smallest = smallest.min(step);
        }
        last = now;
    }
    smallest as f64
}

fn overhead_per_sample_ns() -> Result<f64, KeeperError> {
    let ring_bytes = 2 * (OPERATIONS * BATCHES as u64) * iolag_model::Sample::SIZE as u64;
    let exchange = Exchange::new(1, ring_bytes)?;
    exchange.prefault(0);
    let coordinator = exchange.coordinator();
    Ok(least((0..BATCHES).map(|_| {
        let options =
            DriveOptions { client: ClientId(0), rank: 0, deadlines: Nanoseconds::from_seconds(60).into() };
        let client = ClientLoop::new(Idle { left: OPERATIONS }, exchange.recorder(0), options);
        let start = MonotonicClock.now();
        drive_blocking(client, &mut Nothing, &coordinator, &MonotonicClock);
        MonotonicClock.now().since(start).0 as f64 / OPERATIONS as f64
    })))
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.reduce(f64::min).unwrap_or_default()
}

struct Idle {
    left: u64,
}

impl Client for Idle {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        if self.left == 0 {
            return Step::Finished;
        }
        self.left -= 1;
        let key = ObjectKey { rank: 0, dataset: 0, index: self.left };
        Step::Execute { request: Request::new(Operation::Stat, key, 0), intended: None }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}
}

struct Nothing;

impl Session for Nothing {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        std::hint::black_box(Completion::ok(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_costs_more_than_its_two_clock_readings() {
        let calibration = calibrate().unwrap();
        assert!(calibration.clock_read_ns > 0.0 && calibration.clock_resolution_ns >= 1.0);
        assert!(calibration.overhead_per_sample_ns > calibration.clock_read_ns);
    }
}
