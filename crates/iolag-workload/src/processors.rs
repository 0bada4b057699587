//! What the processors do for the clients of a stage.
//!
//! Each client counts what its own thread is given from the start of its first operation to the end of the stage, so that neither its waiting for
//! the others, which may be active, nor anybody else's is in it, and so many clients take no more than so many processors. What others do on
//! their behalf is known of all clients together only: it counts from the first start on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use iolag_model::{MonotonicTime, Nanoseconds};

use crate::Note;

/// What the processors have done until now.
pub trait ProcessorClocks: Send + Sync {
    /// For the thread that asks.
    fn of_thread(&self) -> Nanoseconds;
    /// For whoever works on behalf of clients without being one of their threads.
    fn of_others(&self) -> Nanoseconds;
}

/// What they have done in each stage, for all clients of a process.
#[derive(Debug)]
pub struct ProcessorTimes<P> {
    clocks: P,
    stages: Box<[OfStage]>,
}

#[derive(Debug, Default)]
struct OfStage {
    /// Of all clients that are done.
    threads_ns: AtomicU64,
    /// When the first operation was about to start.
    others_before: OnceLock<Nanoseconds>,
}

impl<P> ProcessorTimes<P> {
    /// Of so many stages, in none of which anything has been done.
    pub fn new(stages: usize, clocks: P) -> Arc<Self> {
        Arc::new(Self { clocks, stages: (0..stages).map(|_| OfStage::default()).collect() })
    }
}

/// What a client has of that.
#[derive(Debug)]
pub(crate) struct ProcessorMeter<P> {
    times: Arc<ProcessorTimes<P>>,
    /// When its first operation of the stage was about to start; absent before.
    thread_before: Option<Nanoseconds>,
}

impl<P: ProcessorClocks> ProcessorMeter<P> {
    pub(crate) const fn new(times: Arc<ProcessorTimes<P>>) -> Self {
        Self { times, thread_before: None }
    }

    /// The client's first operation in the stage at this place is about to start.
    pub(crate) fn start(&mut self, place: usize) {
        let Some(stage) = self.times.stages.get(place) else { return };
        stage.others_before.get_or_init(|| self.times.clocks.of_others());
        self.thread_before = Some(self.times.clocks.of_thread());
    }

    /// The client is done with the stage at this place, which began then: what is to be noted, unless it did nothing in it.
    pub(crate) fn end(&mut self, place: usize, begin: MonotonicTime) -> Option<Note> {
        let stage = self.times.stages.get(place)?;
        let thread = self.times.clocks.of_thread().0.saturating_sub(self.thread_before.take()?.0);
        let threads = thread + stage.threads_ns.fetch_add(thread, Ordering::Relaxed);
        let others = self.times.clocks.of_others().0.saturating_sub(stage.others_before.get()?.0);
        Some(Note::processor_time(begin, Nanoseconds(threads + others)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Stands in for the thread whose turn it is.
        static THREAD: Cell<u64> = const { Cell::new(0) };
        static OTHERS: Cell<u64> = const { Cell::new(0) };
    }

    struct Set;

    impl ProcessorClocks for Set {
        fn of_thread(&self) -> Nanoseconds {
            Nanoseconds(THREAD.get())
        }

        fn of_others(&self) -> Nanoseconds {
            Nanoseconds(OTHERS.get())
        }
    }

    #[test]
    fn the_last_client_says_what_all_threads_took_and_what_others_did_since_the_first_start() {
        let times = ProcessorTimes::new(2, Set);
        let mut clients = [(); 3].map(|()| ProcessorMeter::new(Arc::clone(&times)));
        let at = |thread, others| {
            THREAD.set(thread);
            OTHERS.set(others);
        };
        let taken = |client: &mut ProcessorMeter<Set>, place| {
            let note = client.end(place, MonotonicTime(5))?;
            assert_eq!(note.sample.start, MonotonicTime(5));
            Some(note.sample.duration.0)
        };
        // What was done before the first start (making caches cold, say) is not in it.
        at(100, 1000);
        clients[0].start(0);
        // The second begins late, when the first is done.
        at(130, 1007);
        assert_eq!(taken(&mut clients[0], 0), Some(30 + 7));
        at(900_000, 1007);
        clients[1].start(0);
        at(900_040, 1020);
        assert_eq!(taken(&mut clients[1], 0), Some(30 + 40 + 20));
        assert_eq!(taken(&mut clients[2], 0), None, "it asked nothing");
        // A stage that comes later has nothing of that.
        at(2_000_000, 5000);
        clients[2].start(1);
        at(2_000_001, 5000);
        assert_eq!(taken(&mut clients[2], 1), Some(1));
    }
}
