//! The ring: samples on their way from one client to the writer, in shared memory.
//!
//! First the counter of the writer, then the samples; the counter of the client stands in its slot, so that all words that a client writes
//! at every operation share a cache line. Both count samples since the beginning and never wrap in practice; a sample's place is its
//! count modulo capacity.
//! The client writes a sample, then stores `head` with release order; the writer loads `head` with acquire order, reads,
//! and stores `tail` only after the samples are safe in the spool. A writer that is killed therefore leaves in the ring
//! what it had not finished, and the next writer goes on from there.
//!
//! The full-ring rule: a client without room waits between operations. Nothing is dropped or overwritten while it is
//! needed; but what was consumed stays readable until it is overwritten ([`RingReader::retained`]), so that a result can be
//! computed even if the store hangs.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use iolag_model::Sample;

use super::memory::SharedMemory;

/// What stands before the samples. Written by the writer; alone in two cache lines, because processors fetch lines in pairs.
#[repr(C, align(128))]
struct Tail(AtomicU64);

/// Where a ring may begin.
pub(crate) const LINE: usize = align_of::<Tail>();

const _: () = assert!(size_of::<Tail>() == LINE && LINE == 128);

/// Where a ring lies in the shared memory.
#[derive(Debug, Clone)]
pub(crate) struct RingPlace {
    pub memory: SharedMemory,
    pub offset: usize,
    pub capacity: usize,
    /// Where the counter is that the client writes.
    pub head: usize,
    /// Where the word is that calls the writer.
    pub call: usize,
}

impl RingPlace {
    pub(crate) fn bytes(capacity: usize) -> usize {
        size_of::<Tail>() + capacity * Sample::SIZE
    }

    fn head(&self) -> &AtomicU64 {
        // SAFETY: zeroed memory is a valid counter, and only atomics ever touch it.
        unsafe { self.memory.at::<AtomicU64>(self.head, 1).as_ref() }
    }

    fn tail(&self) -> &AtomicU64 {
        // SAFETY: before the samples; as above.
        &unsafe { self.memory.at::<Tail>(self.offset, 1).as_ref() }.0
    }

    /// Set to 1 by the client that finds a quarter of its ring or more waiting: a writer of thousands of rings cannot look at all
    /// of them all the time.
    fn call(&self) {
        // SAFETY: zeroed memory is a valid counter, and only atomics ever touch it.
        unsafe { self.memory.at::<AtomicU32>(self.call, 1).as_ref() }.store(1, Ordering::Release);
    }

    fn samples(&self) -> *mut Sample {
        self.memory.at::<Sample>(self.offset + size_of::<Tail>(), self.capacity).as_ptr()
    }
}

/// The client's end of a ring. There is one per ring.
#[derive(Debug)]
pub struct RingProducer {
    place: RingPlace,
    samples: *mut Sample,
    head_word: *const AtomicU64,
    index: usize,
    head: u64,
    /// No more samples than up to here may be written without looking at the tail again.
    limit: u64,
}

// SAFETY: the pointers refer to shared memory that `place` keeps mapped; a producer is used by one thread at a time.
unsafe impl Send for RingProducer {}

impl RingProducer {
    pub(crate) fn new(place: RingPlace) -> Self {
        let head = place.head().load(Ordering::Relaxed);
        let samples = place.samples();
        let index = (head % place.capacity as u64) as usize;
        let head_word = std::ptr::from_ref(place.head());
        Self { place, samples, head_word, index, head, limit: head }
    }

    /// Whether `count` samples fit.
    #[inline]
    pub fn has_room_for(&mut self, count: u64) -> bool {
        if self.head + count <= self.limit {
            return true;
        }
        self.look_at_tail(count)
    }

    fn look_at_tail(&mut self, count: u64) -> bool {
        let (tail, capacity) = (self.place.tail().load(Ordering::Acquire), self.place.capacity as u64);
        let (waiting, quarter) = (self.head - tail, capacity.div_ceil(4));
        let has_room = self.head + count <= tail + capacity;
        if waiting >= quarter || !has_room {
            self.place.call();
        }
        // It is looked at again when a quarter waits; where it does already, a quarter later.
        let unseen = if waiting < quarter { tail } else { self.head };
        self.limit = (tail + capacity).min(unseen + quarter + count);
        has_room
    }

    /// Appends a sample. The caller has asked for room; without it the sample is refused.
    #[inline]
    pub fn push(&mut self, sample: Sample) -> Result<(), RingFull> {
        if self.head >= self.limit && !self.has_room_for(1) {
            return Err(RingFull);
        }
        // SAFETY: `index < capacity`; the place is not read by the writer before `head` says so, and was released by `tail`.
        unsafe { self.samples.add(self.index).write(sample) };
        self.index += 1;
        if self.index == self.place.capacity {
            self.index = 0;
        }
        self.head += 1;
        // SAFETY: as above; zeroed memory is a valid counter, and only atomics ever touch it.
        unsafe { &*self.head_word }.store(self.head, Ordering::Release);
        Ok(())
    }
}

/// There is no room for a sample: the caller did not ask, or the run was stopped with the reserve used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingFull;

/// The writer's end of a ring. There may be a next one after the first was killed, never two at once.
#[derive(Debug, Clone)]
pub struct RingReader {
    place: RingPlace,
}

// SAFETY: the reader holds no pointer but through `place`, which keeps the memory mapped.
unsafe impl Send for RingReader {}

impl RingReader {
    pub(crate) const fn new(place: RingPlace) -> Self {
        Self { place }
    }

    /// Samples written since the beginning.
    pub fn head(&self) -> u64 {
        self.place.head().load(Ordering::Acquire)
    }

    /// Samples consumed since the beginning.
    pub fn tail(&self) -> u64 {
        self.place.tail().load(Ordering::Acquire)
    }

    /// Samples that fit.
    pub const fn capacity(&self) -> usize {
        self.place.capacity
    }

    /// The samples that wait, oldest first, as far as they lie in one piece (the rest comes with the next call).
    pub fn pending(&self) -> &[Sample] {
        let tail = self.tail();
        self.piece(tail, self.head() - tail)
    }

    /// All samples that wait, oldest first, in at most two pieces.
    pub fn all_pending(&self) -> [&[Sample]; 2] {
        let (tail, head) = (self.tail(), self.head());
        self.pieces(tail, head - tail)
    }

    /// The oldest `count` pending samples are safe; their places may be used again.
    pub fn consume(&self, count: u64) {
        let tail = self.tail();
        debug_assert!(tail + count <= self.head());
        self.place.tail().store(tail + count, Ordering::Release);
    }

    /// Everything that has not been overwritten, consumed or not, oldest first, in at most two pieces. To be called when
    /// the client no longer writes. The number says how many samples came before.
    pub fn retained(&self) -> (u64, [&[Sample]; 2]) {
        let head = self.head();
        let first = head.saturating_sub(self.place.capacity as u64);
        (first, self.pieces(first, head - first))
    }

    fn pieces(&self, from: u64, count: u64) -> [&[Sample]; 2] {
        let one = self.piece(from, count);
        let two = self.piece(from + one.len() as u64, count - one.len() as u64);
        [one, two]
    }

    /// Copies of the samples from the `from`-th on, consumed or not, at most `most` of them: for who only looks on. `None` if the
    /// client has written over the first of them already.
    pub fn look_back(&self, from: u64, most: usize) -> Option<Vec<Sample>> {
        let count = self.head().saturating_sub(from).min(most as u64);
        let copied = self.pieces(from, count).concat();
        // What was written over while it was copied is worth nothing: the client writes at `head`, before it moves it. The copy
        // comes before the look at `head`, as a reader of a sequence lock has it.
        std::sync::atomic::fence(Ordering::Acquire);
        (self.head() - from < self.place.capacity as u64).then_some(copied)
    }

    fn piece(&self, from: u64, count: u64) -> &[Sample] {
        let start = (from % self.place.capacity as u64) as usize;
        let count = (count as usize).min(self.place.capacity - start);
        // SAFETY: within the ring; these samples were written before `head` was stored, and the client does not write them again
        // before `tail` passes them. Every bit pattern is a valid `Sample`; its numbers are checked by whoever uses them.
        unsafe { std::slice::from_raw_parts(self.place.samples().add(start), count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{AttemptId, MonotonicTime, Nanoseconds, Operation};
    use proptest::prelude::*;

    fn ring(capacity: usize) -> (RingProducer, RingReader) {
        let memory = SharedMemory::new(LINE + RingPlace::bytes(capacity)).unwrap();
        let place = RingPlace { memory, offset: LINE, capacity, head: 0, call: size_of::<AtomicU64>() };
        (RingProducer::new(place.clone()), RingReader::new(place))
    }

    fn sample(number: u64) -> Sample {
        Sample::new(
            AttemptId(number),
            Operation::Stat,
            MonotonicTime(1),
            MonotonicTime(1),
            Nanoseconds(number),
        )
    }

    #[test]
    fn who_looks_on_sees_what_is_there_and_learns_what_is_not() {
        let (mut producer, reader) = ring(4);
        let mut number = 0;
        let mut write = |count: u64| {
            for _ in 0..count {
                number += 1;
                producer.push(sample(number)).unwrap();
                reader.consume(1);
            }
        };
        let seen = |from, most| {
            reader
                .look_back(from, most)
                .map(|seen| seen.iter().map(|sample| sample.attempt.0).collect::<Vec<_>>())
        };
        write(3);
        assert_eq!(seen(0, 9), Some(vec![1, 2, 3]));
        assert_eq!((seen(1, 1), seen(3, 9)), (Some(vec![2]), Some(vec![])));
        write(3);
        assert_eq!(seen(3, 9), Some(vec![4, 5, 6]));
        assert_eq!(seen(2, 9), None, "the fourth place from the head may be being written");
        assert_eq!(seen(0, 9), None);
    }

    #[test]
    fn the_writer_is_called_when_a_quarter_waits() {
        let (mut producer, reader) = ring(1000);
        let call = reader.place.memory.at::<AtomicU32>(reader.place.call, 1);
        let take_call = || {
            // SAFETY: as `ring` places it.
            unsafe { call.as_ref() }.swap(0, Ordering::Relaxed)
        };
        let mut push = |count: u64| {
            for number in 0..count {
                assert!(producer.has_room_for(1));
                producer.push(sample(number)).unwrap();
            }
        };
        push(251);
        assert_eq!(take_call(), 0);
        push(1);
        assert_eq!(take_call(), 1, "a quarter waits");
        push(249);
        reader.consume(400);
        push(100);
        assert_eq!(take_call(), 0, "the writer has come");
        push(400);
        assert_eq!(take_call(), 1);
    }

    #[test]
    fn a_full_ring_refuses_and_keeps_what_it_has() {
        let (mut producer, reader) = ring(3);
        for number in 0..3 {
            assert!(producer.has_room_for(1));
            producer.push(sample(number)).unwrap();
        }
        assert!(!producer.has_room_for(1));
        assert_eq!(producer.push(sample(3)), Err(RingFull));
        reader.consume(1);
        producer.push(sample(3)).unwrap();
        let attempts: Vec<_> = reader.pending().iter().map(|sample| sample.attempt.0).collect();
        assert_eq!(attempts, [1, 2], "up to the end of the buffer first");
        let attempts: Vec<_> = reader.all_pending().concat().iter().map(|sample| sample.attempt.0).collect();
        assert_eq!(attempts, [1, 2, 3]);
    }

    #[test]
    fn consumed_samples_stay_until_they_are_overwritten() {
        let (mut producer, reader) = ring(4);
        for number in 0..6 {
            if !producer.has_room_for(1) {
                reader.consume(2);
            }
            producer.push(sample(number)).unwrap();
        }
        reader.consume(reader.head() - reader.tail());
        let (before, pieces) = reader.retained();
        assert_eq!(before, 2);
        let attempts: Vec<_> = pieces.concat().iter().map(|sample| sample.attempt.0).collect();
        assert_eq!(attempts, [2, 3, 4, 5]);
    }

    proptest! {
        /// Against a queue: whatever the order of pushes and drains, everything arrives once and in order.
        #[test]
        fn a_ring_is_a_queue(capacity in 1_usize..20, actions in prop::collection::vec(0_u8..4, 0..200)) {
            let (mut producer, reader) = ring(capacity);
            let (mut sent, mut received) = (0_u64, 0_u64);
            for action in actions {
                if action == 0 {
                    let pending: Vec<_> = reader.pending().iter().map(|sample| sample.attempt.0).collect();
                    prop_assert_eq!(&pending, &(received..received + pending.len() as u64).collect::<Vec<_>>());
                    received += pending.len() as u64;
                    reader.consume(pending.len() as u64);
                } else if producer.push(sample(sent)).is_ok() {
                    sent += 1;
                } else {
                    prop_assert_eq!(sent - received, capacity as u64);
                }
            }
            prop_assert!(sent - received <= capacity as u64);
        }
    }

    #[test]
    fn threads_lose_nothing() {
        let (mut producer, reader) = ring(64);
        let count = 200_000;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 0..count {
                    while !producer.has_room_for(1) {
                        std::thread::yield_now();
                    }
                    producer.push(sample(number)).unwrap();
                }
            });
            let mut next = 0;
            while next < count {
                let pending = reader.pending();
                for sample in pending {
                    assert_eq!((sample.attempt.0, sample.duration.0), (next, next));
                    next += 1;
                }
                reader.consume(pending.len() as u64);
            }
        });
    }
}
