//! Whoever looks on while a watch runs: a terminal, a test.

use iolag_model::{HistoryRecord, ProbeStatus};

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
}

/// Nobody looks on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl WatchObserver for Unobserved {}
