//! Whoever looks on while a watch runs: a terminal, a test.

use iolag_model::{HistoryRecord, MonotonicTime, Nanoseconds, ProbeStatus};

/// Is told what happens, as it happens. It must not block: the watch waits for it.
pub trait WatchObserver {
    /// This is remembered.
    fn recorded(&mut self, record: &HistoryRecord) {
        let _ = record;
    }

    /// A probe has begun, or has come to a deadline.
    fn phase_changed(&mut self, probe: &ProbeStatus) {
        let _ = probe;
    }

    /// Every slot of a round is over, but for hung probes.
    fn round_ended(&mut self, round: u64) {
        let _ = round;
    }

    /// Something went wrong with the watch itself, in a sentence.
    fn troubled(&mut self, sentence: &str) {
        let _ = sentence;
    }

    /// How long after now [`WatchObserver::tick`] is wanted although nothing happens; asked whenever something has happened. `None`, as
    /// here, lets the watch sleep.
    fn wants_to_be_woken(&self) -> Option<Nanoseconds> {
        None
    }

    /// The time that was asked for has passed; these probes have not ended, oldest first.
    fn tick(&mut self, now: MonotonicTime, in_flight: &[ProbeStatus]) {
        let _ = (now, in_flight);
    }
}

/// Nobody looks on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl WatchObserver for Unobserved {}
